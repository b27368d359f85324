// SPDX-License-Identifier: GPL-2.0-only
/*
 * load_gone.c - opens of names that were removed or replaced before the record of the open begins.
 *
 * The kernel finds a name in its cache, which is not recorded, and opens what it has found; another
 * task may take the name away in between. Then the record of the open has none. But it was found by
 * the name that went, and before that had gone: so the open gets that name, and lies in the time
 * when both may have been under way, which is after whatever its own task did before. What it does
 * not take any more of the time is between operations.
 *
 * What was opened in another way, as through /proc/self/fd, had mostly lost its name before that.
 */
#include <stdlib.h>
#include <uthash.h>

#include "loader.h"

/* What took the name away that an object had last. */
struct removal {
	UT_hash_handle hh;
	u64 object;
	const char *path;
	u32 dir;
	u32 task;
	u64 enter_ns;
	u64 end_ns;
};

/* An open, to be looked at when all removals are known. */
struct nameless {
	u32 task;
	u32 index;
	u64 object;
	u64 handle;
};

static int note_open(struct loader *l, const struct iot_rec_open *r)
{
	struct gone *gone = &l->gone;
	u32 room = gone->open_room ? 2 * gone->open_room : 16;
	struct nameless *opens = gone->opens;

	if (!r->handle || is_known(l->op->path) || r->flags & IOT_OPEN_tmpfile)
		return 0;
	if (gone->open_count == gone->open_room) {
		opens = reallocarray(opens, room, sizeof(*opens));
		if (!opens)
			return -ENOMEM;
		gone->opens = opens;
		gone->open_room = room;
	}
	opens[gone->open_count++] = (struct nameless){
		.task = l->task,
		.index = l->graph->tasks[l->task].op_count - 1,
		.object = iot_names_identity(l->names, r->object),
		.handle = r->handle,
	};
	return 0;
}

static int note_removal(struct loader *l, u64 id, const char *path, u32 dir)
{
	u64 object = iot_names_identity(l->names, id);
	struct removal *removal;

	if (!object || l->op->result < 0 || !is_known(path))
		return 0;
	HASH_FIND(hh, l->gone.removals, &object, sizeof(object), removal);
	if (!removal) {
		removal = calloc(1, sizeof(*removal));
		if (!removal)
			return -ENOMEM;
		removal->object = object;
		HASH_ADD(hh, l->gone.removals, object, sizeof(removal->object), removal);
	}
	removal->path = path;
	removal->dir = dir;
	removal->task = l->task;
	removal->enter_ns = l->op->enter_ns;
	removal->end_ns = l->op->end_ns;
	return 0;
}

/**
 * load_gone() - does an operation open what has no name, or take a name away?
 * @l: with its record, and the operation, which is complete
 *
 * Return: 0 or -ENOMEM.
 */
int load_gone(struct loader *l)
{
	const struct iot_record *r = l->record;

	switch (r->kind) {
	case IOT_KIND_open:
		return note_open(l, &r->open);
	case IOT_KIND_unlink:
		return note_removal(l, r->unlink.object, l->op->path, l->op->dir);
	case IOT_KIND_rmdir:
		return note_removal(l, r->rmdir.object, l->op->path, l->op->dir);
	case IOT_KIND_rename:
		return r->rename.flags & IOT_RENAME_exchange ? 0 :
			note_removal(l, r->rename.replaced, l->op->path2, l->op->dir2);
	default:
		return 0;
	}
}

/* From when on a task can have been in an operation: it had done, or begun, all else that it did before. */
static u64 free_ns(const struct graph_task *task, const struct graph_op *op)
{
	u64 ns = task->begin_ns;
	u32 i;

	for (i = 0; i < task->op_count; i++) {
		const struct graph_op *other = &task->ops[i];
		u64 other_ns = other->end_ns <= op->enter_ns ? other->end_ns : other->enter_ns;

		if (other != op && other_ns <= op->enter_ns && other_ns > ns)
			ns = other_ns;
	}
	return ns;
}

static void give_name(struct graph *graph, const struct nameless *open, const struct removal *removal)
{
	struct graph_task *task = &graph->tasks[open->task];
	struct graph_op *op = &task->ops[open->index];
	u64 from_ns = op->enter_ns, by_ns = removal->end_ns - 1;

	if (removal->task == open->task)
		return;
	if (from_ns > by_ns) {
		from_ns = free_ns(task, op);
		if (from_ns < removal->enter_ns)
			from_ns = removal->enter_ns;
	}
	if (by_ns > op->end_ns)
		by_ns = op->end_ns;
	if (from_ns > by_ns)
		return;
	op->path = removal->path;
	op->dir = removal->dir;
	op->handle = open->handle;
	op->enter_ns = from_ns;
	op->end_ns = by_ns;
}

/**
 * load_gone_finish() - the trace has ended: opens without a name get the one that went
 * @l: the loader, before operations are sorted
 */
void load_gone_finish(struct loader *l)
{
	const struct removal *removal;
	u32 i;

	for (i = 0; i < l->gone.open_count; i++) {
		const struct nameless *open = &l->gone.opens[i];

		HASH_FIND(hh, l->gone.removals, &open->object, sizeof(open->object), removal);
		if (removal)
			give_name(l->graph, open, removal);
	}
}

/**
 * load_gone_close() - free what was noted
 */
void load_gone_close(struct gone *gone)
{
	struct removal *removal, *next;

	free(gone->opens);
	HASH_ITER (hh, gone->removals, removal, next) {
		HASH_DEL(gone->removals, removal);
		free(removal);
	}
}
