/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * change_files.h - the files of ranks. Private to change_files.c and change_directories.c.
 */
#ifndef IOTAPE_PATTERN_CHANGE_FILES_H
#define IOTAPE_PATTERN_CHANGE_FILES_H

#include <uthash.h>

#include "change.h"

/**
 * struct file - a path, and whose it is
 * @actor: the first that opens it
 * @nth: of its own files
 * @end_bytes: of its data
 * @base_bytes: where these begin in a shared file
 * @mode: with which it is created
 * @is_common: several actors open it
 * @is_created: by one of them
 * @is_other: it is not only opened by ranks, or was created again
 * @new_path: NULL if it keeps its own
 */
struct file {
	UT_hash_handle hh;
	const char *path;
	u64 actor;
	u64 nth;
	u64 end_bytes;
	u64 base_bytes;
	u32 mode;
	bool is_common;
	bool is_created;
	bool is_other;
	const char *new_path;
};

struct files {
	struct change *c;
	struct file *table;
};

struct file *change_file_at(const struct files *files, const char *path);
int change_files(struct change *c, int (*change)(struct files *files, const u64 *ranks, u64 count));

#endif
