/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filesystem.h - a small file system in memory: the results and findings of operations.
 *
 * It runs operations like a replay engine: on paths without symbolic links,
 * with explicit offsets. Small and slow, with low limits.
 */
#ifndef IOTAPE_TEST_FILESYSTEM_H
#define IOTAPE_TEST_FILESYSTEM_H

#include "lib/iotape.h"

#define FS_NODES   256
#define FS_ENTRIES 32
#define FS_HANDLES 256
#define FS_EXTENTS 48
#define FS_NAME    24
#define FS_ROOT    0
#define FS_NONE    (-1)

struct fs_entry {
	char name[FS_NAME];
	int node;
};

/* A range of bytes of a file, and its writer. */
struct fs_extent {
	u64 begin;
	u64 end;
	u32 tag;
};

/**
 * struct fs_node - a file, directory or symbolic link
 * @tag: its identity, independent of its names
 */
struct fs_node {
	u32 type;
	u32 tag;
	u64 size;
	u32 attrs;
	u32 links;
	char target[FS_NAME];
	struct fs_entry entries[FS_ENTRIES];
	u32 entry_count;
	struct fs_extent extents[FS_EXTENTS];
	u32 extent_count;
};

struct fs_handle {
	int node; /* FS_NONE: not open */
	bool is_at_end;
};

struct fs {
	struct fs_node nodes[FS_NODES];
	u32 node_count;
	struct fs_handle handles[FS_HANDLES];
	int maps[FS_HANDLES];
};

/**
 * struct fs_op - an operation, with the fields of a program
 * @tag: tag of a created object
 */
struct fs_op {
	u16 kind;
	u32 flags;
	u32 tag;
	const char *path;
	const char *path2;
	u32 handle;
	u32 other;
	u64 offset_bytes;
	u64 length_bytes;
	u64 extra;
	s64 result; /* in the trace, if there is one; used by a seek */
};

void fs_init(struct fs *fs);
int fs_make(struct fs *fs, const char *path, u32 type, u32 tag);
int fs_find(const struct fs *fs, const char *path);
s64 fs_perform(struct fs *fs, const struct fs_op *op, u64 *seen);

#endif
