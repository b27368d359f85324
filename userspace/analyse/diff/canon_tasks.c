// SPDX-License-Identifier: GPL-2.0-only
/*
 * canon_tasks.c - the memory of canonical operations: tasks by id, and the fields of operations, as many as each has.
 */
#include "canon.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#include "canon_reading.h"

#define FIELDS_ROOM 8192

struct canon_index {
	UT_hash_handle hh;
	u32 id;
	u32 at;
};

struct canon_fields {
	struct canon_fields *next;
	u32 used;
	u64 values[FIELDS_ROOM];
};

static int task_add(struct canon *canon, u32 id)
{
	struct canon_index *index;

	if (canon->task_count == canon->task_room) {
		u32 room = canon->task_room ? 2 * canon->task_room : 64;
		struct canon_task *tasks = reallocarray(canon->tasks, room, sizeof(*tasks));

		if (!tasks)
			return -ENOMEM;
		canon->tasks = tasks;
		canon->task_room = room;
	}
	index = malloc(sizeof(*index));
	if (!index)
		return -ENOMEM;
	index->id = id;
	index->at = canon->task_count;
	HASH_ADD(hh, canon->index, id, sizeof(index->id), index);
	canon->tasks[canon->task_count++] = (struct canon_task){ .id = id };
	return 0;
}

/**
 * canon_task_get() - a task, created if it does not exist
 * @canon: to look in
 * @id: of the task
 * @index: out: its index
 *
 * Return: 0 or -ENOMEM.
 */
int canon_task_get(struct canon *canon, u32 id, u32 *index)
{
	struct canon_index *found;

	HASH_FIND(hh, canon->index, &id, sizeof(id), found);
	if (found) {
		*index = found->at;
		return 0;
	}
	*index = canon->task_count;
	return task_add(canon, id);
}

/**
 * canon_op_keep() - move the fields of an operation into the memory of all
 * @canon: that they live as long as
 * @op: the operation
 *
 * Return: 0 or -ENOMEM.
 */
int canon_op_keep(struct canon *canon, struct canon_op *op)
{
	struct canon_fields *fields = canon->fields;

	if (!fields || fields->used + op->field_count > FIELDS_ROOM) {
		fields = malloc(sizeof(*fields));
		if (!fields)
			return -ENOMEM;
		fields->next = canon->fields;
		fields->used = 0;
		canon->fields = fields;
	}
	op->fields = memcpy(fields->values + fields->used, op->fields, op->field_count * sizeof(*op->fields));
	fields->used += op->field_count;
	return 0;
}

/**
 * canon_op_add() - add an operation to a task
 * @canon: all operations
 * @task: index of the task
 * @op: is copied
 *
 * In a walk, fields of the copy are those of @op.
 *
 * Return: the copy, until the next is added; NULL if out of memory.
 */
struct canon_op *canon_op_add(struct canon *canon, u32 task, const struct canon_op *op)
{
	struct canon_task *to = &canon->tasks[task];
	struct canon_op *copy;

	if (to->count == to->room) {
		u32 room = to->room ? to->room + to->room / 2 : 16;
		struct canon_op *ops = reallocarray(to->ops, room, sizeof(*ops));

		if (!ops)
			return NULL;
		to->ops = ops;
		to->room = room;
	}
	copy = &to->ops[to->count];
	*copy = *op;
	copy->nth = to->count;
	if (!canon->is_walk && canon_op_keep(canon, copy))
		return NULL;
	to->count++;
	return copy;
}

/**
 * canon_forget_task() - free the operations of a task, which are not used any more
 * @canon: with the task
 * @task: its index
 */
void canon_forget_task(struct canon *canon, u32 task)
{
	free(canon->tasks[task].ops);
	canon->tasks[task].ops = NULL;
	canon->tasks[task].count = canon->tasks[task].room = 0;
}

/**
 * canon_free_tasks() - free the memory of this file
 */
void canon_free_tasks(struct canon *canon)
{
	struct canon_index *index, *next_index;
	struct canon_fields *fields;
	u32 i;

	for (i = 0; i < canon->task_count; i++) {
		free(canon->tasks[i].ops);
		free(canon->tasks[i].open_fields);
	}
	free(canon->tasks);
	HASH_ITER (hh, canon->index, index, next_index) {
		HASH_DEL(canon->index, index);
		free(index);
	}
	while ((fields = canon->fields)) {
		canon->fields = fields->next;
		free(fields);
	}
}
