// SPDX-License-Identifier: GPL-2.0-only
/*
 * file_numbers.c - finds, names and removes the numbered files of an output.
 *
 * The directory says which there are, so that a recorder that is started again goes on behind those of an earlier one.
 */
#include "file_numbers.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".iot"

/* Length of an output without its suffix. */
static size_t stem_bytes(const char *output)
{
	size_t bytes = strlen(output), suffix = strlen(SUFFIX);

	return bytes > suffix && !strcmp(output + bytes - suffix, SUFFIX) ? bytes - suffix : bytes;
}

/**
 * file_number_path() - the path of a file
 * @path: out
 * @output: of all files
 * @number: of the file, which stands before the suffix .iot, if @output has that
 */
void file_number_path(char path[PATH_MAX], const char *output, uint64_t number)
{
	size_t stem = stem_bytes(output);

	snprintf(path, PATH_MAX, "%.*s.%llu%s", (int)stem, output, (unsigned long long)number, output + stem);
}

/* Return: the number in a name; 0 if it is not one of the files of @output, which has no directory. */
static u64 number_of(const char *output, const char *name)
{
	char path[PATH_MAX];
	size_t stem = stem_bytes(output);
	u64 number;

	if (strncmp(name, output, stem) || name[stem] != '.')
		return 0;
	number = strtoull(name + stem + 1, NULL, 10);
	file_number_path(path, output, number);
	return strcmp(path, name) ? 0 : number; /* no sign, blank or zero before it */
}

/* A regular file of the caller's. */
static bool is_ours(int dir_fd, const char *name)
{
	struct stat stat;

	return !fstatat(dir_fd, name, &stat, AT_SYMLINK_NOFOLLOW) && S_ISREG(stat.st_mode) && stat.st_uid == geteuid();
}

static const char *base_of(const char *output)
{
	const char *slash = strrchr(output, '/');

	return slash ? slash + 1 : output;
}

static DIR *dir_of(const char *output)
{
	size_t bytes = (size_t)(base_of(output) - output);
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.*s.", (int)bytes, output);
	return opendir(path);
}

/* Return: how many files of the caller there are; or a negative errno. @first, @last: the lowest and the highest number. */
static s64 survey(const char *output, u64 *first, u64 *last)
{
	DIR *dir = dir_of(output);
	const struct dirent *entry;
	s64 count = 0;
	u64 number;

	*first = UINT64_MAX;
	*last = 0;
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		number = number_of(base_of(output), entry->d_name);
		if (!number || !is_ours(dirfd(dir), entry->d_name))
			continue;
		count++;
		*first = number < *first ? number : *first;
		*last = number > *last ? number : *last;
	}
	closedir(dir);
	return count;
}

/**
 * file_number_last() - the highest number of a regular file of the caller
 * @output: of all files
 * @last: out: 0 if there is none
 *
 * Return: 0 or a negative errno.
 */
int file_number_last(const char *output, u64 *last)
{
	u64 first;
	s64 count = survey(output, &first, last);

	return count < 0 ? (int)count : 0;
}

/**
 * file_number_keep() - remove the files with the lowest numbers
 * @output: of all files
 * @keep: as many stay; only regular files of the caller count
 * @path: out, after an error: the file that could not be removed
 *
 * Return: 0 or a negative errno.
 */
int file_number_keep(const char *output, u64 keep, char path[PATH_MAX])
{
	u64 first, last;
	s64 count;

	snprintf(path, PATH_MAX, "%s", output);
	while ((count = survey(output, &first, &last)) > 0 && (u64)count > keep) {
		file_number_path(path, output, first);
		if (unlink(path) && errno != ENOENT)
			return -errno;
	}
	return count < 0 ? (int)count : 0;
}
