// SPDX-License-Identifier: GPL-2.0-only
/*
 * names.c - the model of names, and path walks through it that work like those of the kernel.
 */
#include "names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINKS_MAX 40 /* limit of the kernel */

void tree_open(struct tree *tree, const char *mount)
{
	snprintf(tree->mount, sizeof(tree->mount), "%s", mount);
	tree->root = calloc(1, sizeof(*tree->root));
	tree->root->object = object_new(TYPE_DIR, NULL);
	tree->root->is_known = true;
}

struct object *object_new(enum type type, const char *target)
{
	struct object *object = calloc(1, sizeof(*object));

	object->type = type;
	object->target = target ? strdup(target) : NULL;
	return object;
}

/**
 * node_path() - the path of a name in the format of traces, "." for the root
 */
char *node_path(const struct node *node)
{
	char *path, *longer;

	if (!node->parent)
		return strdup(*node->name ? node->name : ".");
	path = strdup(node->name);
	while ((node = node->parent)->parent) {
		if (asprintf(&longer, "%s/%s", node->name, path) < 0)
			abort();
		free(path);
		path = longer;
	}
	return path;
}

struct node *node_child(const struct node *dir, const char *name)
{
	struct node *child;

	for (child = dir->children; child; child = child->next)
		if (!strcmp(child->name, name))
			return child;
	return NULL;
}

struct node *node_add(struct node *dir, const char *name, struct object *object)
{
	struct node *node = calloc(1, sizeof(*node));

	snprintf(node->name, sizeof(node->name), "%s", name);
	node->parent = dir;
	node->object = object;
	node->next = dir->children;
	node->is_known = true;
	dir->children = node;
	object->links++;
	return node;
}

/* "d dir/sub", "l dir/link" TAB "target": a name that has not been looked up yet. */
static bool take_old(struct tree *tree, char *line)
{
	char *path = line + 2, *target = strchr(path, '\t'), *slash;
	struct node *dir = tree->root;

	if (!target)
		return false;
	*target++ = 0;
	while (dir && (slash = strchr(path, '/'))) {
		*slash = 0;
		dir = node_child(dir, path);
		path = slash + 1;
	}
	if (!dir)
		return false;
	node_add(dir, path, object_new(*line == 'd' ? TYPE_DIR : *line == 'l' ? TYPE_SYMLINK :
				       *line == 'f' ? TYPE_FILE : TYPE_OTHER, target))
		->is_known = false;
	return true;
}

/**
 * tree_read() - add the initial contents of a directory to the model
 * @tree: the names
 * @list: a file of lines "TYPE PATH<tab>TARGET", a directory before its entries
 *
 * Return: 0, or a negative errno.
 */
int tree_read(struct tree *tree, const char *list)
{
	FILE *in = fopen(list, "re");
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	if (!in)
		return -errno;
	while (!err && getline(&line, &room, in) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (strlen(line) < 3 || !take_old(tree, line))
			err = -EINVAL;
	}
	free(line);
	fclose(in);
	return err;
}

static void unchain(struct node *node)
{
	struct node **at;

	for (at = &node->parent->children; *at != node; at = &(*at)->next)
		;
	*at = node->next;
	node->next = NULL;
}

/* The node remains for tasks that have it open or as working directory, but has no name. */
void node_remove(struct node *node)
{
	unchain(node);
	node->parent = NULL;
	node->object->links--;
}

void node_move(struct node *node, struct node *dir, const char *name)
{
	unchain(node);
	snprintf(node->name, sizeof(node->name), "%s", name);
	node->parent = dir;
	node->next = dir->children;
	dir->children = node;
}

/* -- walking ------------------------------------------------------------------------- */

/* "/a/b" and "c" become "/a/b/c"; ".." removes a component. */
static void outside_step(char *path, const char *component)
{
	size_t length;
	char *slash;

	if (!strcmp(component, "..")) {
		slash = strrchr(path, '/');
		if (slash)
			*slash = 0;
		return;
	}
	if (!strcmp(component, "."))
		return;
	length = strlen(path);
	if (length + strlen(component) + 2 > PATH_MAX)
		abort();
	path[length] = '/';
	strcpy(path + length + 1, component);
}

static void step_into(struct tree *tree, struct place *place, const char *component)
{
	if (place->node) {
		if (strcmp(component, "..")) /* "." */
			return;
		if (place->node->parent) {
			place->node = place->node->parent;
			return;
		}
		snprintf(place->path, sizeof(place->path), "%s", tree->mount);
		place->node = NULL;
	}
	outside_step(place->path, component);
	if (!strcmp(place->path, tree->mount))
		place->node = tree->root;
}

static bool is_special(const char *component)
{
	return !strcmp(component, ".") || !strcmp(component, "..");
}

static void add_step(struct walk *walk, enum step_kind kind, struct node *node, char *path)
{
	if (walk->step_count < STEPS_MAX)
		walk->steps[walk->step_count++] = (struct step){ kind, node, path };
}

/**
 * child_path() - the path of a name in a directory, whether or not it exists
 */
char *child_path(const struct node *dir, const char *name)
{
	char *path = node_path(dir), *all;
	bool is_root = !strcmp(path, ".");

	if (asprintf(&all, "%s%s%s", is_root ? "" : path, is_root ? "" : "/", name) < 0)
		abort();
	free(path);
	return all;
}

/* Looks a name up, and notes the requests that reach the file system. */
static struct node *look_up(struct walk *walk, struct node *dir, const char *name)
{
	struct node *node = node_child(dir, name);

	if (node && !node->is_known) {
		add_step(walk, STEP_LOOKUP, node, node_path(node));
		node->is_known = true;
	}
	return node;
}

/**
 * place_enter() - the place of a path without symbolic links, like those that strace prints
 */
void place_enter(struct tree *tree, struct place *place, const char *path)
{
	struct place top = {};
	struct walk walk;

	walk_path(tree, &top, path, true, &walk);
	*place = top;
	place->node = walk.is_outside ? NULL : walk.node;
	snprintf(place->path, sizeof(place->path), "%s", path);
}

/* The next component of @rest, which advances past it. Return: false if there is none. */
static bool next_component(const char **rest, char *component, bool *is_last)
{
	size_t length;

	*rest += strspn(*rest, "/");
	length = strcspn(*rest, "/");
	if (!length)
		return false;
	snprintf(component, PATH_MAX, "%.*s", (int)length, *rest);
	*rest += length;
	*is_last = !(*rest)[strspn(*rest, "/")];
	return true;
}

/**
 * walk_path() - walk a path in the way of the kernel
 * @tree: the names
 * @from: where a relative path begins
 * @path: the path
 * @does_follow: whether to follow a symbolic link in the last component
 * @walk: the result
 *
 * The lookup of the last component is left to the caller unless it is followed, because its
 * result depends on the system call.
 * comes of it depends on the system call.
 */
void walk_path(struct tree *tree, const struct place *from, const char *path, bool does_follow,
	       struct walk *walk)
{
	char left[3 * PATH_MAX], again[3 * PATH_MAX], component[PATH_MAX];
	struct place at = *from;
	const char *rest = left;
	bool is_last = false;
	struct node *node;
	int links = 0;

	*walk = (struct walk){};
	snprintf(left, sizeof(left), "%s", path);
	if (*path == '/')
		at = (struct place){};
	if (!*path) {
		walk->err = ENOENT;
		walk->is_outside = !at.node;
		return;
	}
	walk->is_last_special = true;
	while (next_component(&rest, component, &is_last)) {
		walk->is_last_special = is_special(component);
		snprintf(walk->last, sizeof(walk->last), "%s", component);
		if (!at.node || is_special(component)) {
			step_into(tree, &at, component);
			walk->is_last_special = at.node; /* also: the mount itself */
			continue;
		}
		if (at.node->object->type != TYPE_DIR) {
			walk->err = ENOTDIR;
			return;
		}
		walk->dir = at.node;
		if (is_last && !does_follow) {
			walk->node = node_child(at.node, component);
			return;
		}
		node = node_child(at.node, component);
		if (is_last && !node)
			return;
		if (!node) {
			add_step(walk, STEP_ABSENT, NULL, child_path(at.node, component));
			walk->err = ENOENT;
			return;
		}
		look_up(walk, at.node, component);
		if (node->object->type != TYPE_SYMLINK) {
			at.node = node;
			continue;
		}
		if (++links > LINKS_MAX) {
			walk->err = ELOOP;
			return;
		}
		add_step(walk, STEP_FOLLOW, node, node_path(node));
		snprintf(again, sizeof(again), "%s/%s", node->object->target, rest);
		if (!*rest)
			again[strlen(again) - 1] = 0;
		strcpy(left, again);
		rest = left;
		if (*left == '/')
			at = (struct place){};
	}
	walk->is_outside = !at.node;
	walk->node = at.node;
	if (!walk->dir || walk->is_last_special)
		walk->dir = at.node;
}
