// SPDX-License-Identifier: GPL-2.0-only
/*
 * reach.c - the records of the path walk to the name that a system call acts on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

struct place base_of(struct comparison *c, int dir)
{
	const struct argument *argument = dir >= 0 ? &c->call->args[dir] : NULL;
	struct place place = {};
	struct file *file;

	if (!argument || !strncmp(argument->text, "AT_FDCWD", 8))
		return c->self->cwd;
	file = file_of(c->self, atoi(argument->text));
	if (file && file->node)
		place.node = file->node;
	else if (argument->path)
		place_enter(&c->tree, &place, argument->path);
	return place;
}

/* A removed directory: the kernel creates and looks up no names in it. */
bool is_dead(const struct comparison *c, const struct node *dir)
{
	return dir != c->tree.root && !dir->parent;
}

void take_steps(struct comparison *c, const struct walk *walk)
{
	int i;

	for (i = 0; i < walk->step_count; i++) {
		const struct step *step = &walk->steps[i];
		struct want want = { .kind = "lookup", .path = step->path, .has_result = true };

		if (step->kind == STEP_FOLLOW) {
			want.kind = "follow";
			want.tail = step->node->object->target;
			apply(c, RULE_FOLLOW);
		} else if (step->kind == STEP_LOOKUP) {
			apply(c, RULE_FIRST_LOOKUP);
		} else {
			want.result = -ENOENT;
			apply(c, RULE_ABSENT);
		}
		want.object = step->node ? step->node->object : NULL;
		expect(c, &want);
	}
}

/*
 * Walks the path of a call and takes the records of the walk. Return: false if the call has no further records:
 * the walk failed, or it leads out of the mount.
 */
bool walk(struct comparison *c, int dir, int path, bool does_follow, struct walk *w)
{
	const struct call *call = c->call;
	struct place from = base_of(c, dir);

	walk_path(&c->tree, &from, argument_text(call, path), does_follow, w);
	take_steps(c, w);
	if (w->err) {
		if (w->err != call->err)
			difference(c, "by the model the path ends with %s", strerrorname_np(w->err));
		if (!w->step_count || w->steps[w->step_count - 1].kind != STEP_ABSENT)
			vfs_error(c, "lookup");
		return false;
	}
	if (w->is_outside || !w->dir) {
		apply(c, RULE_OUTSIDE);
		return false;
	}
	return true;
}

/**
 * refused() - take the record of a permission that was refused to the caller
 *
 * Return: true if the call failed for this reason. Then it has no further records.
 */
bool refused(struct comparison *c, const struct walk *w)
{
	const struct record *record = peek_kind(c, "denied");
	const struct node *node;

	if (c->call->err != EACCES || !record)
		return false;
	for (node = w->node ? w->node : w->dir; node; node = node->parent)
		if (!strcmp(record_text(record, "path"), node_path(node)))
			break;
	if (!node)
		return false;
	apply(c, RULE_DENIED);
	expect_simple(c, "denied", NULL, -EACCES);
	return true;
}

char *last_path(const struct walk *w)
{
	return w->node ? node_path(w->node) : child_path(w->dir, w->last);
}

/* The lookup of a last component that is not followed. Return: does the name exist? */
bool look_up_last(struct comparison *c, const struct walk *w)
{
	char *path = last_path(w);

	if (!w->node) {
		apply(c, RULE_ABSENT);
		expect_simple(c, "lookup", path, -ENOENT);
		return false;
	}
	if (!w->node->is_known) {
		apply(c, RULE_FIRST_LOOKUP);
		expect_simple(c, "lookup", path, 0);
		w->node->is_known = true;
	}
	return true;
}

/* A call on one existing name: walks to it. Return: false if there are no further records. */
bool reach(struct comparison *c, int dir, int path, bool does_follow, struct walk *w)
{
	if (!walk(c, dir, path, does_follow, w))
		return false;
	if (is_dead(c, w->dir) && !w->is_last_special) {
		vfs_error(c, "lookup");
		return false;
	}
	if (c->call->err == ENAMETOOLONG) {
		expect_simple(c, "lookup", last_path(w), -ENAMETOOLONG);
		return false;
	}
	return !refused(c, w) && look_up_last(c, w) && !refused(c, w);
}

/* /proc/self/fd/N: the file itself, without a walk in the mount. */
struct file *magic_file(const struct comparison *c, const char *path)
{
	int fd, length = 0;

	if (sscanf(path, "/proc/self/fd/%d%n", &fd, &length) != 1 || path[length])
		return NULL;
	return file_of(c->self, fd);
}
