// SPDX-License-Identifier: GPL-2.0-only
/*
 * load_state.c - turns the handles and mappings from before the recording into the first operations.
 *
 * Of each handle the first record counts, wherever it is in the trace: the handle is opened at the
 * beginning, by a task that existed then, and moved to its position; a mapping is made. So these
 * end before any other operation begins, even if operations ran during the state dump, or since before the trace began.
 *
 * Paths are those of the beginning; they may have changed by the time of the handle's record. A
 * file that had lost its name gets one (names.c) that is removed when everything is open.
 */
#include <stdlib.h>
#include <uthash.h>

#include "loader.h"

/* An operation that waits for the end of the trace: its position and, if its path is known only then, its object. */
struct early_op {
	u32 task;
	u32 index;
	bool is_opened;
	u64 object;
};

/* A file without a name, and the task that opens it first. */
struct unnamed {
	UT_hash_handle hh;
	u32 task;
	u32 file;
	u64 object;
	const char *path;
};

/* The parent of a task, by a recorded fork or exec; or GRAPH_NONE. */
static u32 parent_of(const struct graph *graph, u32 task)
{
	const struct graph_task *t = &graph->tasks[task];

	return t->why == IOT_REASON_fork || t->why == IOT_REASON_exec ?
		       graph_task_find(graph, t->parent) : GRAPH_NONE;
}

/* The ancestor of a task at the beginning. */
static u32 elder_of(const struct graph *graph, u32 task)
{
	u32 parent;

	while ((parent = parent_of(graph, task)) != GRAPH_NONE)
		task = parent;
	return task;
}

/* The first task of its process that the trace has; *@is_forked: that one was forked in it. */
static u32 first_of_process(const struct graph *graph, u32 task, bool *is_forked)
{
	u32 parent;

	*is_forked = false;
	while ((parent = parent_of(graph, task)) != GRAPH_NONE && !*is_forked) {
		if (graph->tasks[parent].tgid == graph->tasks[task].tgid)
			task = parent;
		else
			*is_forked = true;
	}
	return task;
}

static int note_early(struct loader *l, u32 task)
{
	struct early *early = &l->early;
	u32 room = early->op_room ? 2 * early->op_room : 64;
	struct early_op *ops = early->ops;

	if (early->op_count == early->op_room) {
		ops = reallocarray(ops, room, sizeof(*ops));
		if (!ops)
			return -ENOMEM;
		early->ops = ops;
		early->op_room = room;
	}
	ops[early->op_count++] = (struct early_op){ .task = task, .index = l->graph->tasks[task].op_count - 1 };
	return 0;
}

/* One nanosecond after the other: the collector's first record was there long before the recording. */
static struct graph_op *add_early(struct loader *l, u32 task, u16 kind, u64 object, u32 file)
{
	struct graph_op *op = graph_op_add(l->graph, task);

	if (!op || note_early(l, task))
		return NULL;
	op->kind = kind;
	op->object = object;
	op->file = file;
	op->enter_ns = l->graph->begin_ns + l->early.ns++;
	op->end_ns = op->enter_ns;
	return op;
}

/* The path of the last operation is known at the end. */
static void expect_path(struct loader *l, u64 object)
{
	struct early_op *early = &l->early.ops[l->early.op_count - 1];

	early->is_opened = true;
	early->object = iot_names_identity(l->names, object);
}

static int note_unnamed(struct loader *l, u32 task, u64 object, u32 file, const char *path)
{
	struct early *early = &l->early;
	struct unnamed *unnamed;

	HASH_FIND(hh, early->unnamed, &object, sizeof(object), unnamed);
	if (unnamed)
		return 0;
	unnamed = calloc(1, sizeof(*unnamed));
	if (!unnamed)
		return -ENOMEM;
	unnamed->task = task;
	unnamed->file = file;
	unnamed->object = object;
	unnamed->path = path;
	HASH_ADD(hh, early->unnamed, object, sizeof(unnamed->object), unnamed);
	return tree_place(l->tree, iot_names_identity(l->names, object), path);
}

static int seek_early(struct loader *l, u32 task, u32 file, const struct iot_rec_opened *r)
{
	struct graph_op *op = add_early(l, task, IOT_KIND_seek, r->object, file);

	if (!op)
		return -ENOMEM;
	op->handle = r->handle;
	op->offset_bytes = (u64)r->offset_bytes;
	op->flags = IOT_WHENCE_set;
	op->result = r->offset_bytes;
	return 0;
}

static int open_early(struct loader *l, u32 task, u32 file, const struct iot_rec_opened *r)
{
	struct graph_op *op = add_early(l, task, IOT_KIND_open, r->object, file);
	const char *unnamed = iot_names_unnamed(l->names, r->object);

	if (!op)
		return -ENOMEM;
	op->handle = r->handle;
	op->flags = r->flags;
	op->old_size_bytes = r->size_bytes;
	op->path = graph_text(l->graph, iot_names_object(l->names, r->object).path);
	if (!op->path)
		return -ENOMEM;
	expect_path(l, r->object);
	return unnamed ? note_unnamed(l, task, r->object, file, op->path) : 0;
}

/**
 * load_opened_before() - a handle that was open before the recording
 * @l: with its record
 *
 * Return: 0 or -ENOMEM.
 */
int load_opened_before(struct loader *l)
{
	const struct iot_rec_opened *r = &l->record->opened;
	const char *path;
	u32 type = graph_object_type(l->graph, r->object, &path), task, file;
	int err;

	if (!iot_names_is_first(l->names))
		return 0;
	if (!is_opened_early(type)) {
		l->graph->dropped[IOT_KIND_opened]++;
		return 0;
	}
	err = graph_task_make(l->graph, r->task, &task);
	if (!err)
		err = live_opened(&l->live, r->object, r->handle, true);
	if (!err)
		err = loader_file(l, r->object, &file);
	if (err)
		return err;
	task = elder_of(l->graph, task);
	err = open_early(l, task, file, r);
	if (!err && has_position_early(type, r))
		err = seek_early(l, task, file, r);
	return err;
}

/* Mappings that a fork copied before it was recorded: like load_inherited(). */
static struct graph_op *add_copied(struct loader *l, u32 child, u64 object, u32 file)
{
	struct graph_op *op = graph_op_add(l->graph, child);

	if (!op)
		return NULL;
	op->kind = IOT_KIND_map;
	op->object = object;
	op->file = file;
	op->enter_ns = l->graph->tasks[child].begin_ns;
	op->end_ns = op->enter_ns;
	return op;
}

/**
 * load_mapped_before() - a mapping that was there before the recording
 * @l: with its record
 *
 * A child may have it of a fork that was under way when the recording began, and copied it before; or
 * the copy was recorded, and is known.
 *
 * Return: 0 or -ENOMEM.
 */
int load_mapped_before(struct loader *l)
{
	const struct iot_rec_mapped *r = &l->record->mapped;
	struct graph_op *op;
	u32 task, tgid, file;
	bool is_forked;
	int err = graph_task_make(l->graph, r->task, &task);

	if (!err)
		err = loader_file(l, r->object, &file);
	if (err)
		return err;
	task = first_of_process(l->graph, task, &is_forked);
	tgid = l->graph->tasks[task].tgid;
	if (live_has_map(&l->live, tgid, r))
		return 0;
	op = is_forked ? add_copied(l, task, r->object, file) :
			 add_early(l, task, IOT_KIND_map, r->object, file);
	if (!op)
		return -ENOMEM;
	op->handle = r->handle;
	op->other = r->map;
	op->offset_bytes = (u64)r->offset_bytes;
	op->length_bytes = r->length_bytes;
	op->flags = r->flags;
	op->mode = r->prot;
	return live_mapped(&l->live, tgid, op);
}

static int unlink_early(struct loader *l, const struct unnamed *unnamed)
{
	struct graph_op *op = add_early(l, unnamed->task, IOT_KIND_unlink, unnamed->object,
					unnamed->file);

	if (!op)
		return -ENOMEM;
	op->path = unnamed->path;
	op->dir = l->early.root;
	return 0;
}

/*
 * An operation may have been entered before the trace began: the first file of a recording has none, the others have those that
 * ended in them.
 */
static void move_before_all(struct loader *l)
{
	struct early *early = &l->early;
	u64 begin_ns = l->graph->begin_ns, to_ns;
	u32 i;

	if (!early->ns || !early->first_ns || early->first_ns >= begin_ns + early->ns)
		return;
	to_ns = early->first_ns > early->ns ? early->first_ns - early->ns : 0;
	for (i = 0; i < early->op_count; i++) {
		struct graph_op *op = &l->graph->tasks[early->ops[i].task].ops[early->ops[i].index];

		op->enter_ns -= begin_ns - to_ns;
		op->end_ns = op->enter_ns;
	}
	l->graph->begin_ns = to_ns;
}

/**
 * load_early_finish() - complete the initial handles and mappings at the end of the trace
 * @l: the loader, before operations are sorted
 *
 * Return: 0 or -ENOMEM.
 */
int load_early_finish(struct loader *l)
{
	const struct unnamed *unnamed;
	u32 i;
	int err = 0;

	for (i = 0; i < l->early.op_count && !err; i++) {
		const struct early_op *early = &l->early.ops[i];
		struct graph_op *op = &l->graph->tasks[early->task].ops[early->index];
		const char *path = early->is_opened ? tree_path(l->tree, early->object) : NULL;

		if (!early->is_opened)
			continue;
		if (path)
			op->path = graph_text(l->graph, path);
		err = op->path ? 0 : -ENOMEM;
		if (!err && !is_known(op->path))
			op->handle = 0; /* as in load_open() */
	}
	for (unnamed = l->early.unnamed; unnamed && !err; unnamed = unnamed->hh.next)
		err = unlink_early(l, unnamed);
	move_before_all(l);
	return err;
}

/**
 * load_early_close() - free the noted state
 */
void load_early_close(struct early *early)
{
	struct unnamed *unnamed, *next;

	free(early->ops);
	HASH_ITER (hh, early->unnamed, unnamed, next) {
		HASH_DEL(early->unnamed, unnamed);
		free(unnamed);
	}
}
