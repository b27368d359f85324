/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * names.h - a model of the names below a mount: what system calls that succeeded made of a
 * directory, and what was there before. It says where a path leads and what walking it takes.
 */
#ifndef TRUTH_NAMES_H
#define TRUTH_NAMES_H

#include <limits.h>
#include <stdbool.h>

enum type { TYPE_FILE, TYPE_DIR, TYPE_SYMLINK, TYPE_OTHER };

/* An object; every name of it, and every handle, points to it. */
struct object {
	enum type type;
	char *target; /* of a symbolic link */
	long links;
	long long id; /* in the trace, 0 until a record told */
};

struct node {
	char name[256 + 1];
	struct node *parent; /* NULL of the root, and when the name has gone */
	struct node *children;
	struct node *next;
	struct object *object;
	bool is_known; /* has been looked up, or made: the file system is not asked again */
};

/* A place: inside of the mount, or a path that leads elsewhere. */
struct place {
	struct node *node;
	char path[PATH_MAX];
};

enum step_kind {
	STEP_LOOKUP, /* a name that is there is looked up for the first time */
	STEP_ABSENT, /* a name that is not there is looked up; the walk ends */
	STEP_FOLLOW, /* a symbolic link is followed */
};

struct step {
	enum step_kind kind;
	struct node *node; /* NULL of an absent name */
	char *path;
};

#define STEPS_MAX 200

struct walk {
	struct step steps[STEPS_MAX];
	int step_count;
	bool is_outside; /* it ends elsewhere */
	int err;	 /* why it failed before its last component */
	struct node *dir; /* where the last component is */
	char last[PATH_MAX];
	bool is_last_special; /* it is . or .. or there is none */
	struct node *node;    /* what it means, NULL if nothing */
};

struct tree {
	struct node *root;
	char mount[PATH_MAX];
};

void tree_open(struct tree *tree, const char *mount);
int tree_read(struct tree *tree, const char *list);
char *node_path(const struct node *node);
char *child_path(const struct node *dir, const char *name);
struct node *node_child(const struct node *dir, const char *name);
struct node *node_add(struct node *dir, const char *name, struct object *object);
void node_remove(struct node *node);
void node_move(struct node *node, struct node *dir, const char *name);
struct object *object_new(enum type type, const char *target);
void place_enter(struct tree *tree, struct place *place, const char *path);
void walk_path(struct tree *tree, const struct place *from, const char *path, bool does_follow,
	       struct walk *walk);

#endif
