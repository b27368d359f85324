/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scan.h - the contents of a directory, in memory.
 */
#ifndef IOTAPE_SNAPSHOT_SCAN_H
#define IOTAPE_SNAPSHOT_SCAN_H

#include "snapshot.h"

struct extent {
	u64 offset_bytes;
	u64 length_bytes;
};

struct xattr {
	char *name;
	u8 *value;
	u32 value_bytes;
};

/**
 * struct found - a name and its object
 * @path: from the directory
 * @target: of a symbolic link, else NULL
 * @dev, @inode: identity: two names of one file have the same
 * @flags: IOT_ENTRY_*
 */
struct found {
	char *path;
	char *target;
	u64 dev;
	u64 inode;
	u64 links;
	u64 rdev;
	u64 size_bytes;
	u32 mode;
	u32 uid;
	u32 gid;
	u32 flags;
	struct extent *extents;
	struct xattr *xattrs;
	u32 extent_count;
	u32 xattr_count;
};

/**
 * struct scan - a directory that is being walked
 * @found: names, in the order of the walk
 * @next_dir: index of the next that may be a directory to be read
 */
struct scan {
	const struct snapshot_options *options;
	struct snapshot_result *result;
	snapshot_progress_fn progress;
	int root_fd;
	u64 root_dev;
	struct found *found;
	size_t count;
	size_t room;
	size_t next_dir;
};

int scan_directory(struct scan *scan);
void scan_free(struct scan *scan);
int scan_gap(struct scan *scan, enum snapshot_gap gap, const char *path);

/* contents.c: of one object */
int contents_extents(struct scan *scan, int dir, const char *name, struct found *found);
int contents_xattrs(struct scan *scan, int dir, const char *name, struct found *found);

#endif
