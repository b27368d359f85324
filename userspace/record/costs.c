// SPDX-License-Identifier: GPL-2.0-only
/*
 * costs.c - the costs that calibrate() measured, kept for the recordings of the next minutes.
 *
 * A file below /run has them, so that they end with this boot of the machine. They are for one load of the modules:
 * the file has the inode numbers of their directories in sysfs, which are new after each load. Without a file that can
 * be trusted, the costs are measured again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/iotape.h"
#include "record.h"

#define COSTS_DIRECTORY	  "/run/iotape"
#define COSTS_MAX_AGE_S	  600 /* clock rates of processors change */
#define COSTS_KEY_BYTES	  96
#define COSTS_PATH_BYTES  64

static int key_make(const char *mmap_mode, char *key)
{
	struct stat iotape, tapefs;

	if (stat("/sys/module/iotape", &iotape) || stat("/sys/module/tapefs", &tapefs))
		return -errno;
	snprintf(key, COSTS_KEY_BYTES, "%.16s %llu %llu\n", mmap_mode, (unsigned long long)iotape.st_ino,
		 (unsigned long long)tapefs.st_ino);
	return 0;
}

static void path_make(const char *mmap_mode, char *path)
{
	snprintf(path, COSTS_PATH_BYTES, COSTS_DIRECTORY "/costs.%.16s", mmap_mode);
}

/* Another user must not decide what is subtracted from a trace of root. */
static bool is_private(const struct stat *stat)
{
	return stat->st_uid == geteuid() && !(stat->st_mode & (S_IWGRP | S_IWOTH));
}

static bool is_usable(int fd)
{
	struct stat file, directory;
	time_t now_s = time(NULL);

	return !fstat(fd, &file) && !lstat(COSTS_DIRECTORY, &directory) && S_ISDIR(directory.st_mode) && is_private(&directory) &&
	       file.st_mtime <= now_s && now_s - file.st_mtime < COSTS_MAX_AGE_S;
}

/**
 * costs_load() - the costs that an earlier recording has stored
 * @mmap_mode: as in struct record_options
 * @costs: out: as from calibrate(); "" after an error
 * @room: room for it
 *
 * Return: 0; -ENOENT if there are none for the loaded modules, or they are too old, or another user could have
 * written them.
 */
int costs_load(const char *mmap_mode, char *costs, size_t room)
{
	char path[COSTS_PATH_BYTES], key[COSTS_KEY_BYTES], stored_key[COSTS_KEY_BYTES];
	const char *why;
	bool is_stored = false;
	FILE *in;
	int fd;

	costs[0] = 0;
	path_make(mmap_mode, path);
	fd = iot_file_open_own(path, &why);
	in = fd < 0 ? NULL : fdopen(fd, "r");
	if (in && is_usable(fd) && !key_make(mmap_mode, key))
		is_stored = fgets(stored_key, sizeof(stored_key), in) && !strcmp(key, stored_key) &&
			    fgets(costs, (int)room, in) && strchr(costs, '\n');
	if (in)
		fclose(in);
	else if (fd >= 0)
		close(fd);
	costs[is_stored ? strcspn(costs, "\n") : 0] = 0;
	return costs[0] ? 0 : -ENOENT;
}

/**
 * costs_store() - keep costs for later recordings
 * @mmap_mode: as in struct record_options
 * @costs: from calibrate()
 *
 * An error is no error of the recording: the next one measures again.
 */
void costs_store(const char *mmap_mode, const char *costs)
{
	char path[COSTS_PATH_BYTES], other[COSTS_PATH_BYTES + 16], key[COSTS_KEY_BYTES];
	bool is_written;
	FILE *out;

	if (key_make(mmap_mode, key) || (mkdir(COSTS_DIRECTORY, 0755) && errno != EEXIST))
		return;
	path_make(mmap_mode, path);
	snprintf(other, sizeof(other), "%s.%d", path, getpid());
	unlink(other);
	out = fopen(other, "wxe");
	if (!out)
		return;
	is_written = !fchmod(fileno(out), 0600) && fprintf(out, "%s%s\n", key, costs) > 0;
	if (fclose(out) || !is_written || rename(other, path))
		unlink(other);
}
