/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * change_files.h - the files of ranks. Private to change_files.c and change_directories.c.
 */
#ifndef IOTAPE_PATTERN_CHANGE_FILES_H
#define IOTAPE_PATTERN_CHANGE_FILES_H

#include <uthash.h>

#include "change_mpi.h"

/**
 * struct file - a path, and whose it is
 * @actor: the first that opens it
 * @nth: of its own files
 * @end_bytes: of its data
 * @base_bytes: where these begin in a shared file
 * @mode: with which it is created
 * @given: the name in the call of MPI that opens it, NULL if none does
 * @is_common: several actors open it
 * @is_created: by one of them
 * @is_other: it is not only opened by ranks, or was created again
 * @is_mpi: operations in calls on MPI files open it
 * @new_path: NULL if it keeps its own; then @new_given is the name in the call of MPI, if it was opened by one
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
	bool is_mpi;
	const char *new_path;
	const char *given;
	const char *new_given;
};

struct files {
	struct change *c;
	struct file *table;
};

struct file *change_file_at(const struct files *files, const char *path);
u64 change_place(const struct extents *extents, const struct file *file, u64 actor, u64 at);
int change_rank_path(struct change *c, const char **path, u64 rank);
int change_files(struct change *c, int (*change)(struct files *files, const u64 *ranks, u64 count));

/* change_files_mpi.c */
int change_files_of_mpi(struct files *files, const u64 *ranks, u64 count, const struct extents *extents, bool is_joined);

#endif
