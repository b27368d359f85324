// SPDX-License-Identifier: GPL-2.0-only
/*
 * input.c - traces from standard input and pipes.
 *
 * The reader of traces seeks, so a pipe is copied to an unnamed temporary file first.
 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"

static int copy_all(int from, int to)
{
	static char block[1 << 16];
	ssize_t bytes, done, at;

	while ((bytes = read(from, block, sizeof(block)))) {
		if (bytes < 0 && errno == EINTR)
			continue;
		if (bytes < 0)
			return -errno;
		for (at = 0; at < bytes; at += done) {
			done = write(to, block + at, (size_t)(bytes - at));
			if (done < 0)
				return -errno;
		}
	}
	return 0;
}

static int temporary_open(void)
{
	const char *directory = getenv("TMPDIR");

	return open(directory && *directory ? directory : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/**
 * input_open() - make a trace seekable
 * @path: in: as given, "-" is standard input; out: a file with the same contents
 * @copy: room for its path
 *
 * The file exists until the process ends. A file that is not a pipe is not copied.
 *
 * Return: EXIT_DONE, or EXIT_FAILED after a message.
 */
int input_open(const char **path, char copy[INPUT_PATH_BYTES])
{
	bool is_standard = !strcmp(*path, "-");
	const char *name = is_standard ? "standard input" : *path;
	struct stat stat_of;
	int from, to, err;

	if (is_standard ? fstat(STDIN_FILENO, &stat_of) : stat(*path, &stat_of))
		return is_standard ? fail("%s: %s", name, strerror(errno)) : EXIT_DONE; /* the reader reports it */
	if (!is_standard && !S_ISFIFO(stat_of.st_mode) && !S_ISSOCK(stat_of.st_mode))
		return EXIT_DONE;
	from = is_standard ? STDIN_FILENO : open(*path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return fail("%s: %s", name, strerror(errno));
	to = temporary_open();
	err = to < 0 ? -errno : copy_all(from, to);
	if (from != STDIN_FILENO)
		close(from);
	if (err)
		return fail("%s: %s", name, strerror(-err));
	snprintf(copy, INPUT_PATH_BYTES, "/proc/self/fd/%d", to);
	*path = copy;
	return EXIT_DONE;
}
