// SPDX-License-Identifier: GPL-2.0-only
/*
 * top_model.c - sums over the records of an interval: by operation, by file and by process.
 *
 * Memory grows with the number of files and processes, as that for their names does, not with that of operations.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"

/**
 * top_open() - open a trace
 * @top: filled in; to be freed by top_close(), also after an error
 * @path: of the trace, which may be growing
 * @reject: filled in if it is refused
 *
 * Return: 0 or a negative errno.
 */
int top_open(struct top *top, const char *path, struct iot_reject *reject)
{
	int err;

	*top = (struct top){};
	err = iot_reader_open(path, &top->reader, reject);
	if (err)
		return err;
	err = iot_names_open(&top->names);
	if (err)
		iot_refuse(reject, IOT_REJECT_memory, 0);
	return err;
}

static void free_rows(struct top_row *rows)
{
	struct top_row *row, *next;

	HASH_ITER (hh, rows, row, next) {
		HASH_DEL(rows, row);
		free(row);
	}
}

/**
 * top_close() - free
 */
void top_close(struct top *top)
{
	struct top_task *task, *next;

	HASH_ITER (hh, top->tasks, task, next) {
		HASH_DEL(top->tasks, task);
		free(task);
	}
	free_rows(top->kinds);
	free_rows(top->files);
	free_rows(top->processes);
	iot_names_close(top->names);
	iot_reader_close(top->reader);
	*top = (struct top){};
}

static void clear(struct top_row *row)
{
	row->ops = row->errors = row->bytes = row->time_ns = row->max_ns = 0;
}

static void clear_rows(struct top_row *rows)
{
	struct top_row *row;

	for (row = rows; row; row = row->hh.next)
		clear(row);
}

/**
 * top_begin() - begin an interval
 * @top: sums of the last one are forgotten
 */
void top_begin(struct top *top)
{
	clear_rows(top->kinds);
	clear_rows(top->files);
	clear_rows(top->processes);
	clear(&top->all);
	memset(&top->latency_ns, 0, sizeof(top->latency_ns));
	top->begin_ns = top->end_ns;
	top->waits = 0;
	top->waited_ns = 0;
}

static struct top_row *row_of(struct top_row **rows, const char *key)
{
	size_t bytes = strlen(key);
	struct top_row *row;

	HASH_FIND(hh, *rows, key, bytes, row);
	if (row)
		return row;
	row = calloc(1, sizeof(*row) + bytes + 1);
	if (!row)
		return NULL;
	memcpy(row->key, key, bytes + 1);
	HASH_ADD_KEYPTR(hh, *rows, row->key, bytes, row);
	return row;
}

static struct top_task *task_of(struct top *top, u32 id)
{
	struct top_task *task;

	HASH_FIND(hh, top->tasks, &id, sizeof(id), task);
	if (task)
		return task;
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->task = id;
	HASH_ADD(hh, top->tasks, task, sizeof(task->task), task);
	return task;
}

/* The threads of a process go by the command and the number of the process. */
static int take_task(struct top *top, const struct iot_record *record)
{
	struct top_task *task = task_of(top, record->task.task);
	u32 process = record->task.tgid ? record->task.tgid : record->task.pid;
	char key[IOT_TAIL_MAX_BYTES + 32];

	snprintf(key, sizeof(key), "%u:%.*s", process, record->tail_bytes, record->tail);
	if (task)
		task->row = row_of(&top->processes, key);
	return task && task->row ? 0 : -ENOMEM;
}

static void add(struct top_row *row, const struct iot_record *record)
{
	u64 duration_ns = record->op.duration_ns;

	row->ops++;
	row->all_ops++;
	row->errors += record->op.result < 0;
	row->bytes += iot_record_moved_bytes(record);
	row->time_ns += duration_ns;
	if (duration_ns > row->max_ns)
		row->max_ns = duration_ns;
}

/* The bytes of an asynchronous request are known at its end. */
static int take_complete(struct top *top, const struct iot_record *record)
{
	struct top_task *task = task_of(top, record->complete.task);
	u64 bytes = iot_record_moved_bytes(record);

	if (!task)
		return -ENOMEM;
	top->all.bytes += bytes;
	if (task->row)
		task->row->bytes += bytes;
	return 0;
}

static int take_op(struct top *top, const struct iot_record *record)
{
	const char *path = iot_names_of_record(top->names, record).path;
	struct top_row *kind = row_of(&top->kinds, iot_kind_info(record->kind)->name);
	struct top_row *file = row_of(&top->files, path && *path ? path : "?");
	struct top_task *task = task_of(top, record->op.task);

	if (!kind || !file || !task)
		return -ENOMEM;
	add(kind, record);
	add(file, record);
	add(&top->all, record);
	if (task->row)
		add(task->row, record);
	histogram_add(&top->latency_ns, record->op.duration_ns);
	return 0;
}

static int take(struct top *top, const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	int err = iot_names_before(top->names, record);

	if (iot_record_end_ns(record) > top->end_ns)
		top->end_ns = iot_record_end_ns(record);
	if (!top->begin_ns)
		top->begin_ns = top->end_ns;
	if (record->kind == IOT_KIND_backpressure) {
		top->waits++;
		top->waited_ns += record->backpressure.duration_ns;
	}
	if (!err && record->kind == IOT_KIND_task)
		err = take_task(top, record);
	else if (!err && record->kind == IOT_KIND_complete)
		err = take_complete(top, record);
	else if (!err && info->group == IOT_GROUP_op)
		err = take_op(top, record);
	return err ? err : iot_names_after(top->names, record);
}

/**
 * top_take() - take all records that the trace has now
 * @top: the sums
 * @reject: filled in if the trace is damaged
 *
 * Return: 0 or a negative errno.
 */
int top_take(struct top *top, struct iot_reject *reject)
{
	struct iot_record record;
	int err;

	do {
		while ((err = iot_reader_next(top->reader, &record, reject)) > 0) {
			err = take(top, &record);
			if (err) {
				iot_refuse(reject, IOT_REJECT_memory, 0);
				return err;
			}
		}
	} while (!err && (err = iot_reader_more(top->reader, reject)) > 0);
	return err;
}
