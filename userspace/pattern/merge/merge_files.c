// SPDX-License-Identifier: GPL-2.0-only
/*
 * merge_files.c - files that several nodes use: are their generations those of the merged trace?
 *
 * An object is labelled by its path and its index among the objects that had this path. A part counts those that its node has seen. If all
 * nodes of a path see one object each, and it is the same one, these are equal; else the order between the nodes counts, which only the
 * merged trace has. Names that are removed, renamed or used again are few, and only these are kept.
 */
#include "merge.h"

#include <uthash.h>

/**
 * struct changed - a path that has another object, or none, at some time
 * @node, @has_others: that use it
 * @creator, @creations: node that created an object under it, and how many were
 * @remover, @removers: node that removed or renamed one, and whether others did
 * @generations: the highest one
 * @is_moved: it was renamed, or something was renamed to it
 */
struct changed {
	UT_hash_handle hh;
	u32 node;
	bool is_used;
	bool has_others;
	u32 creator;
	u64 creations;
	u32 remover;
	bool is_removed;
	bool has_removers;
	u64 generations;
	bool is_moved;
	char path[];
};

struct check {
	struct merge *m;
	struct changed *changes;
	u32 node;
	bool has_shared;
	bool is_second; /* pass: the uses of the paths that the first one has found */
};

static struct changed *find(const struct check *c, const char *path, size_t bytes)
{
	struct changed *changed;

	HASH_FIND(hh, c->changes, path, bytes, changed);
	return changed;
}

static struct changed *get(struct check *c, const char *path)
{
	size_t bytes = strlen(path);
	struct changed *changed = find(c, path, bytes);

	if (changed)
		return changed;
	changed = calloc(1, sizeof(*changed) + bytes + 1);
	if (!changed)
		return NULL;
	memcpy(changed->path, path, bytes + 1);
	HASH_ADD(hh, c->changes, path, bytes, changed);
	return changed;
}

/* -- first pass: paths that change ------------------------------------------------------------------------------------------- */

static int see_removal(struct check *c, const char *path, bool is_move)
{
	struct changed *changed = get(c, path);

	if (!changed)
		return -ENOMEM;
	changed->has_removers |= changed->is_removed && changed->remover != c->node;
	changed->is_removed = true;
	changed->remover = c->node;
	changed->is_moved |= is_move;
	return 0;
}

static int see_change(struct check *c, const struct event *event)
{
	bool is_done = (s64)event->fields[0] >= 0;
	int err = 0;

	if (event->roles[EVENT_GENERATION] > 1 && !get(c, event->path))
		return -ENOMEM;
	if (!is_done)
		return 0;
	switch (event->kind) {
	case IOT_KIND_unlink:
	case IOT_KIND_rmdir:
		return see_removal(c, event->path, false);
	case IOT_KIND_rename:
		err = see_removal(c, event->path, true);
		return err ? err : see_removal(c, event->path2, true);
	default:
		return 0;
	}
}

/* -- second pass: uses ------------------------------------------------------------------------------------------------------- */

static u64 flags_of(const struct event *event)
{
	const struct iot_field *field;
	u32 i;

	for (i = 0; i < event->field_count && (field = event_field(event->kind, i)); i++)
		if (event_field_is(field, "flags"))
			return event->fields[i];
	return 0;
}

static bool creates(const struct event *event)
{
	if ((s64)event->fields[0] < 0)
		return false;
	return event->kind == IOT_KIND_mkdir || event->kind == IOT_KIND_mknod || event->kind == IOT_KIND_symlink ||
	       (event->kind == IOT_KIND_open && flags_of(event) & IOT_OPEN_created);
}

static void use(struct check *c, const char *path, size_t bytes, u64 generation, bool is_creation)
{
	struct changed *changed = find(c, path, bytes);

	if (!changed)
		return;
	changed->has_others |= changed->is_used && changed->node != c->node;
	changed->is_used = true;
	changed->node = c->node;
	if (generation > changed->generations)
		changed->generations = generation;
	if (!is_creation)
		return;
	changed->creations++;
	changed->creator = c->node;
}

/* A path, and the directories that it is in if these move. */
static void use_path(struct check *c, const char *path, u64 generation, bool is_creation)
{
	const struct changed *above;
	const char *slash;

	use(c, path, strlen(path), generation, is_creation);
	for (slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		above = find(c, path, (size_t)(slash - path));
		if (above && above->is_moved)
			use(c, path, (size_t)(slash - path), 0, false);
	}
}

static void see_uses(struct check *c, const struct event *event)
{
	bool is_done = (s64)event->fields[0] >= 0, is_target = event->kind == IOT_KIND_rename || event->kind == IOT_KIND_link;

	if (*event->path)
		use_path(c, event->path, event->roles[EVENT_GENERATION], creates(event));
	if (is_target && *event->path2)
		use_path(c, event->path2, 0, is_done);
}

/* -- all operations ------------------------------------------------------------------------------------------------------------ */

/* Files that had lost their names, or have no known directory, have names that are made up in the order of the trace. */
static int check_name(struct check *c, const struct event *event)
{
	if (!strncmp(event->path, ".iotape-unlinked-", 17) || !strncmp(event->path, "?/", 2) || strstr(event->path, "/.iotape-unlinked-") ||
	    strstr(event->path, "/?/"))
		return merge_refuse(c->m, "%s: a name that is not known: merge the traces instead", event->path);
	return 0;
}

/* The root is not the same directory then. */
static int check_root(struct check *c, const struct event *event)
{
	const struct part_node *node = &c->m->part->nodes[c->node];

	if (!c->has_shared || node->names != PART_NAMES_own || !*event->path)
		return 0;
	return merge_refuse(c->m, "%s: has files of its own, and other nodes have shared ones: merge the traces instead", node->name);
}

static int check_event(struct check *c, const struct event *event)
{
	int err = check_root(c, event);

	if (err)
		return err;
	if (c->is_second) {
		see_uses(c, event);
		return 0;
	}
	err = check_name(c, event);
	return err ? err : see_change(c, event);
}

static int check_task(struct check *c, const struct group *group, u64 task)
{
	struct events *events;
	struct event event;
	int err = events_open(c->m->pattern, group, task, &events);

	if (err)
		return err;
	while ((err = events_next(events, &event, NULL)) > 0) {
		err = check_event(c, &event);
		if (err)
			break;
	}
	events_close(events);
	return err;
}

static int check_tasks(struct check *c)
{
	const struct pattern *p = c->m->pattern;
	u64 *tasks, i;
	int err = events_find_tasks(p, &tasks);

	for (i = 0; i < c->m->task_count && !err; i++) {
		c->node = c->m->tasks[i].node;
		err = check_task(c, &p->groups[tasks[2 * i]], tasks[2 * i + 1]);
	}
	free(tasks);
	return err;
}

/* One object, whatever the order: it existed and may be removed by anyone, or a node created it, and no other one removed it. */
static bool has_one_object(const struct changed *changed)
{
	if (changed->generations > 1 || changed->creations > 1)
		return false;
	return !changed->creations || !changed->is_removed || (!changed->has_removers && changed->remover == changed->creator);
}

static int check_changes(const struct check *c)
{
	const struct changed *changed;

	for (changed = c->changes; changed; changed = changed->hh.next)
		if (changed->has_others && (changed->is_moved || !has_one_object(changed)))
			return merge_refuse(c->m, "%s: is removed, renamed or created again while several nodes use it: merge the traces instead",
					    changed->path);
	return 0;
}

/**
 * merge_check_files() - are the generations of files those of the merged trace?
 *
 * Takes memory in proportion to the number of names that are removed, renamed, or used again for another object.
 */
int merge_check_files(struct merge *m)
{
	struct check c = { .m = m };
	struct changed *changed, *next;
	u32 i;
	int err;

	for (i = 0; i < m->part->node_count; i++)
		c.has_shared |= m->part->nodes[i].names == PART_NAMES_shared;
	err = m->is_cluster ? check_tasks(&c) : 0;
	if (!err && c.changes) {
		c.is_second = true;
		err = check_tasks(&c);
	}
	if (!err)
		err = check_changes(&c);
	HASH_ITER (hh, c.changes, changed, next) {
		HASH_DEL(c.changes, changed);
		free(changed);
	}
	return err;
}
