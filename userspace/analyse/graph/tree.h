/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tree.h - the initial tree of a trace, as far as the trace shows it.
 *
 * An object that an operation finds, and that no earlier operation created, existed at the
 * beginning: by the name of its first use, with the attributes of its first appearance. Renaming
 * a directory changes the paths of its contents, so a name is kept as a component in a directory
 * object, and becomes a path at the end.
 */
#ifndef IOTAPE_TREE_H
#define IOTAPE_TREE_H

#include "lib/iotape.h"

struct tree;

/**
 * struct tree_entry - something that existed
 * @path: from the root of the mount
 * @target: target of a symbolic link; of a further name of a file, its first path; or NULL
 * @mode: type and permissions; 0 for a further name
 * @is_guess: only its name and type are known
 */
struct tree_entry {
	char *path;
	const char *target;
	u32 mode;
	u32 uid;
	u32 gid;
	u64 rdev;
	u64 size_bytes;
	u64 cached_pages;
	bool is_guess;
};

int tree_open(struct tree **tree);
void tree_close(struct tree *tree);
int tree_observe(struct tree *tree, struct iot_names *names, const struct iot_record *record);
int tree_place(struct tree *tree, u64 id, const char *component);
const char *tree_path(struct tree *tree, u64 id);
int tree_judge(struct tree *tree);
bool tree_is_disputed(const struct tree *tree);
void tree_happened(struct tree *tree, u32 task, u32 op);
void tree_begin_anew(struct tree *tree);
void tree_settle(struct tree *tree);

/* A name at the beginning: ids of its object, 0 if absent, and of its directory. */
struct tree_first {
	const char *path;
	u64 object;
	u64 dir;
	bool is_disputed;
};

typedef int (*tree_first_fn)(void *context, const struct tree_first *first);
int tree_each_first(struct tree *tree, tree_first_fn fn, void *context);

/* The size that a file had when it was made, or at the beginning. */
struct tree_size {
	u64 object;
	u64 bytes;
};

typedef int (*tree_size_fn)(void *context, const struct tree_size *size);
int tree_each_size(struct tree *tree, tree_size_fn fn, void *context);

/* Called with each path; returns 0 or a negative errno, which ends it. */
typedef int (*tree_path_fn)(void *context, const char *path);

int tree_finish(struct tree *tree, const struct tree_entry **entries, size_t *count);
int tree_absent(struct tree *tree, tree_path_fn fn, void *context);

#endif
