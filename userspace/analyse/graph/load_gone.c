// SPDX-License-Identifier: GPL-2.0-only
/*
 * load_gone.c - operations by names that were removed or replaced before their record begins.
 *
 * The kernel finds a name in its cache, which is not recorded, and opens or changes the object that it
 * found; another task may remove the name in between. Then the record has no name. But the file was found
 * by the removed name, before its removal: so the operation gets that name, and its time is limited
 * to the interval in which both may have been under way, after the previous operation of its own
 * task. The rest of its original time counts as time between operations.
 *
 * A file opened in another way, such as through /proc/self/fd, has usually lost its name before.
 * Operations on a file with an open handle, possibly of another task, keep that handle.
 */
#include <stdlib.h>
#include <uthash.h>

#include "loader.h"

#define NEAR 32 /* removals of names of one object: number of examined removals before and after an operation */

/* The operation that removed a name. */
struct removal {
	const char *path;
	u32 dir;
	u32 task;
	u64 enter_ns;
	u64 end_ns;
};

/* Of the names that an object had, as they ended. */
struct removals {
	UT_hash_handle hh;
	u64 object;
	struct removal *list;
	u32 count;
	u32 room;
};

/* An operation, examined when all removals are known; @handle: of an open. */
struct nameless {
	u32 task;
	u32 index;
	u64 object;
	u64 handle;
};

static u64 lesser(u64 x, u64 y)
{
	return x < y ? x : y;
}

static u64 greater(u64 x, u64 y)
{
	return x > y ? x : y;
}

static int note_nameless(struct loader *l, u64 handle)
{
	struct gone *gone = &l->gone;
	u32 room = gone->nameless_room ? 2 * gone->nameless_room : 16;
	struct nameless *nameless = gone->nameless;

	if (is_known(l->op->path) || l->op->handle)
		return 0;
	if (gone->nameless_count == gone->nameless_room) {
		nameless = reallocarray(nameless, room, sizeof(*nameless));
		if (!nameless)
			return -ENOMEM;
		gone->nameless = nameless;
		gone->nameless_room = room;
	}
	nameless[gone->nameless_count++] = (struct nameless){
		.task = l->task,
		.index = l->graph->tasks[l->task].op_count - 1,
		.object = iot_names_identity(l->names, l->op->object),
		.handle = handle,
	};
	return 0;
}

static struct removals *removals_of(struct gone *gone, u64 object)
{
	struct removals *removals;

	HASH_FIND(hh, gone->removals, &object, sizeof(object), removals);
	return removals;
}

static struct removals *make_removals(struct gone *gone, u64 object)
{
	struct removals *removals = removals_of(gone, object);

	if (removals)
		return removals;
	removals = calloc(1, sizeof(*removals));
	if (!removals)
		return NULL;
	removals->object = object;
	HASH_ADD(hh, gone->removals, object, sizeof(removals->object), removals);
	return removals;
}

static int note_removal(struct loader *l, u64 id, const char *path, u32 dir)
{
	u64 object = iot_names_identity(l->names, id);
	struct removals *removals;

	if (!object || l->op->result < 0 || !is_known(path))
		return 0;
	removals = make_removals(&l->gone, object);
	if (!removals)
		return -ENOMEM;
	if (removals->count == removals->room) {
		u32 room = removals->room ? 2 * removals->room : 1;
		struct removal *list = reallocarray(removals->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		removals->list = list;
		removals->room = room;
	}
	removals->list[removals->count++] = (struct removal){
		.path = path,
		.dir = dir,
		.task = l->task,
		.enter_ns = l->op->enter_ns,
		.end_ns = l->op->end_ns,
	};
	return 0;
}

/**
 * load_gone() - note an operation that removes a name, or on a file that has lost its name
 * @l: with its record, and the operation, which is complete
 *
 * Return: 0 or -ENOMEM.
 */
int load_gone(struct loader *l)
{
	const struct iot_record *r = l->record;

	switch (r->kind) {
	case IOT_KIND_open:
		return r->open.handle && !(r->open.flags & IOT_OPEN_tmpfile) ?
			note_nameless(l, r->open.handle) : 0;
	case IOT_KIND_stat:
	case IOT_KIND_setattr:
	case IOT_KIND_readlink:
	case IOT_KIND_follow:
	case IOT_KIND_getxattr:
	case IOT_KIND_setxattr:
	case IOT_KIND_listxattr:
	case IOT_KIND_removexattr:
		return note_nameless(l, 0);
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

/*
 * The operations of a task are nearly in the order of their ends, so few of them are examined for each
 * lost name. The first are as they were put, when all before had their names.
 */
struct row {
	const struct graph_task *task;
	u64 *last_end_ns;    /* of all before each operation */
	u64 *first_enter_ns; /* of it, and of all behind it */
	u32 known;	     /* of last_end_ns: up to this one */
};

static int row_open(struct row *row, const struct graph_task *task)
{
	u32 i;

	*row = (struct row){
		.task = task,
		.last_end_ns = calloc(task->op_count + 1ul, sizeof(*row->last_end_ns)),
		.first_enter_ns = calloc(task->op_count + 1ul, sizeof(*row->first_enter_ns)),
	};
	if (!row->last_end_ns || !row->first_enter_ns)
		return -ENOMEM;
	row->first_enter_ns[task->op_count] = UINT64_MAX;
	for (i = task->op_count; i-- > 0;)
		row->first_enter_ns[i] = lesser(task->ops[i].enter_ns, row->first_enter_ns[i + 1]);
	return 0;
}

static void row_close(struct row *row)
{
	free(row->last_end_ns);
	free(row->first_enter_ns);
}

static void row_know(struct row *row, u32 index)
{
	for (; row->known < index; row->known++)
		row->last_end_ns[row->known + 1] = greater(row->last_end_ns[row->known],
							   row->task->ops[row->known].end_ns);
}

/* When a task was free for the operation that it began at @at_ns, as far as this operation shows. */
static u64 freed_ns(const struct graph_op *op, u64 at_ns)
{
	if (op->end_ns <= at_ns)
		return op->end_ns;
	return op->enter_ns <= at_ns ? op->enter_ns : 0;
}

/* From when on a task can have been in an operation: it had done, or begun, all else that it did before. */
static u64 free_ns(struct row *row, u32 index)
{
	const struct graph_op *ops = row->task->ops;
	u64 ns = row->task->begin_ns, at_ns = ops[index].enter_ns;
	u32 i;

	row_know(row, index);
	for (i = index; row->last_end_ns[i] > at_ns; i--)
		ns = greater(ns, freed_ns(&ops[i - 1], at_ns));
	ns = greater(ns, row->last_end_ns[i]); /* all others had ended */
	for (i = index + 1; row->first_enter_ns[i] <= at_ns; i++)
		ns = greater(ns, freed_ns(&ops[i], at_ns));
	return ns;
}

/* Removals that ended before an operation did. */
static u32 ended_before(const struct removals *removals, const struct graph_op *op)
{
	u32 low = 0, high = removals->count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (removals->list[middle].end_ns <= op->end_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Which name was it? A name removed during the operation: of several links, the last one removed before its
 * end. If there is none, the file has another name, which goes later, and is found by that as well.
 */
static const struct removal *removal_for(const struct removals *removals, const struct nameless *nameless,
					 const struct graph_op *op, u64 since_ns)
{
	u32 ended = ended_before(removals, op), end = ended + NEAR, i;
	const struct removal *found = NULL;

	if (end > removals->count)
		end = removals->count;
	for (i = ended > NEAR ? ended - NEAR : 0; i < end; i++) {
		const struct removal *r = &removals->list[i];

		if (r->task == nameless->task || r->enter_ns > op->end_ns || r->end_ns <= since_ns)
			continue;
		if (!found || i < ended)
			found = r;
	}
	return found ?: &removals->list[removals->count - 1];
}

static void give_name(struct row *row, struct graph_op *op, const struct nameless *nameless,
		      const struct removals *removals)
{
	u64 since_ns = free_ns(row, nameless->index), from_ns = op->enter_ns, by_ns;
	const struct removal *removal = removal_for(removals, nameless, op, since_ns);

	if (removal->task == nameless->task)
		return;
	by_ns = removal->end_ns - 1;
	if (from_ns > by_ns)
		from_ns = greater(since_ns, removal->enter_ns);
	by_ns = lesser(by_ns, op->end_ns);
	if (from_ns > by_ns)
		return;
	op->path = removal->path;
	op->dir = removal->dir;
	op->handle = nameless->handle;
	op->enter_ns = from_ns;
	op->end_ns = by_ns;
}

/* Those of one task. Return: 0 or -ENOMEM. */
static int give_names(struct loader *l, const struct nameless *nameless, u32 count)
{
	struct graph_task *task = &l->graph->tasks[nameless->task];
	const struct removals *removals;
	struct row row;
	u32 i;
	int err = row_open(&row, task);

	for (i = 0; i < count && !err; i++) {
		removals = removals_of(&l->gone, nameless[i].object);
		if (removals)
			give_name(&row, &task->ops[nameless[i].index], &nameless[i], removals);
	}
	row_close(&row);
	return err;
}

static int compare_nameless(const void *a, const void *b)
{
	const struct nameless *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/**
 * load_gone_finish() - the trace has ended: operations without a name get the removed name
 * @l: the loader, before operations are sorted, and before those that were early are completed
 *
 * Return: 0 or -ENOMEM.
 */
int load_gone_finish(struct loader *l)
{
	struct nameless *nameless = l->gone.nameless;
	u32 i, count;
	int err = 0;

	if (l->gone.nameless_count)
		qsort(nameless, l->gone.nameless_count, sizeof(*nameless), compare_nameless);
	for (i = 0; i < l->gone.nameless_count && !err; i += count) {
		for (count = 1; i + count < l->gone.nameless_count && nameless[i + count].task == nameless[i].task;)
			count++;
		err = give_names(l, &nameless[i], count);
	}
	return err;
}

/**
 * load_gone_close() - free the noted operations
 */
void load_gone_close(struct gone *gone)
{
	struct removals *removals, *next;

	free(gone->nameless);
	HASH_ITER (hh, gone->removals, removals, next) {
		HASH_DEL(gone->removals, removals);
		free(removals->list);
		free(removals);
	}
}
