// SPDX-License-Identifier: GPL-2.0-only
/*
 * canon_walk.c - the canonical operations of a trace, without keeping them.
 */
#include "canon.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#include "canon_reading.h"
#include "analyse/graph/implied.h"

struct walk {
	struct reading_state reading;
	canon_walk_fn fn;
	void *context;
};

/* Does a record change an operation that is not the last one of its task, or add one that is not its own? */
static bool is_out_of_place(const struct iot_record *r)
{
	switch (r->kind) {
	case IOT_KIND_opened:
	case IOT_KIND_mapped:
	case IOT_KIND_submit:
	case IOT_KIND_complete:
		return true;
	case IOT_KIND_map:
		return r->map.flags & IOT_MAP_inherited;
	default:
		return false;
	}
}

/* Operations of a task that no later record changes are not kept. */
static int forget(struct canon_task *task)
{
	struct canon_op *last = task->count ? &task->ops[task->count - 1] : NULL;

	if (!last || !canon_op_is_open(last)) {
		task->count = 0;
		return 0;
	}
	if (!task->open_fields)
		task->open_fields = calloc(CANON_FIELDS_MAX, sizeof(*task->open_fields));
	if (!task->open_fields)
		return -ENOMEM;
	memmove(task->open_fields, last->fields, last->field_count * sizeof(*last->fields));
	task->ops[0] = *last;
	task->ops[0].fields = task->open_fields;
	task->count = 1;
	return 0;
}

static int walk_record(void *context, struct iot_names *names, const struct iot_record *r)
{
	struct walk *walk = context;
	struct canon *canon = walk->reading.canon;
	struct canon_task *task = NULL;
	u32 index;
	int err = is_out_of_place(r) ? -EOPNOTSUPP : canon_take_record(&walk->reading, names, r);

	if (!err && iot_kind_info(r->kind)->group == IOT_GROUP_op) {
		err = canon_task_get(canon, r->op.task, &index);
		task = err ? NULL : &canon->tasks[index];
	}
	if (!err)
		err = walk->fn(walk->context, r, task);
	return err || !task ? err : forget(task);
}

/**
 * canon_op_is_open() - may the next operation of its task change an operation of a walk?
 */
bool canon_op_is_open(const struct canon_op *op)
{
	return is_question(op->kind, op->path2);
}

/**
 * canon_walk() - the canonical operations of a trace, record by record; memory does not depend on their number
 * @path: of the trace
 * @fn: called for each record
 * @context: for @fn
 * @canon: out: tasks, each with its last operation if that canon_op_is_open(), and the results of look-ups; to be freed by canon_free()
 * @reject: filled in if the trace is refused, or @fn returned -ENOMEM or -EOPNOTSUPP
 *
 * Operations are in the order of their records. Asynchronous requests, readdirs that are merged, and handles and mappings that were
 * not made by an operation of the task need operations that are not kept: a trace that has them is refused.
 *
 * Return: 0, -EOPNOTSUPP for such a trace, or another negative errno.
 */
int canon_walk(const char *path, canon_walk_fn fn, void *context, struct canon **canon, struct iot_reject *reject)
{
	struct walk walk = { .reading.canon = calloc(1, sizeof(**canon)), .fn = fn, .context = context };
	int err;

	if (!walk.reading.canon)
		return iot_refuse(reject, IOT_REJECT_memory, 0), -ENOMEM;
	walk.reading.canon->is_walk = true;
	err = canon_read_trace(&walk.reading, path, walk_record, &walk, reject);
	if (err)
		canon_free(walk.reading.canon);
	else
		*canon = walk.reading.canon;
	return err;
}
