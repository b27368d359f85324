/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * names.h - a model of the names below a mount: its initial contents, changed by the system
 * calls that succeeded. It resolves a path and lists the requests of the path walk.
 */
#ifndef TRUTH_NAMES_H
#define TRUTH_NAMES_H

#include <limits.h>
#include <stdbool.h>

enum type { TYPE_FILE, TYPE_DIR, TYPE_SYMLINK, TYPE_OTHER };

/* An object, which all its names and handles point to. */
struct object {
	enum type type;
	char *target; /* of a symbolic link */
	long links;
	long long id; /* in the trace, 0 until a record states it */
};

struct node {
	char name[256 + 1];
	struct node *parent; /* NULL for the root and for removed names */
	struct node *children;
	struct node *next;
	struct object *object;
	bool is_known; /* looked up or created: the file system is not asked again */
};

/* A place: inside of the mount, or a path outside. */
struct place {
	struct node *node;
	char path[PATH_MAX];
};

enum step_kind {
	STEP_LOOKUP, /* first lookup of an existing name */
	STEP_ABSENT, /* lookup of an absent name; the walk ends */
	STEP_FOLLOW, /* a symbolic link is followed */
};

struct step {
	enum step_kind kind;
	struct node *node; /* NULL for an absent name */
	char *path;
};

#define STEPS_MAX 200

struct walk {
	struct step steps[STEPS_MAX];
	int step_count;
	bool is_outside; /* ends outside of the mount */
	int err;	 /* error before the last component */
	struct node *dir; /* directory of the last component */
	char last[PATH_MAX];
	bool is_last_special; /* the last component is . or .., or missing */
	struct node *node;    /* the result, NULL if absent */
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
