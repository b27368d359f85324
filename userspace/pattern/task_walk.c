// SPDX-License-Identifier: GPL-2.0-only
/*
 * task_walk.c - walk along the structure of a task, and read its columns on the way.
 */
#include "task_walk.h"

/* A node that has begun. */
struct frame {
	const struct node *node;
	u32 column; /* of its body, or of its operands */
	u32 run;
	u64 left; /* iterations, or operations */
	u32 part;
	u32 part_column;
	u32 part_run;
};

struct events {
	const struct pattern *pattern;
	u32 column_count;
	struct series **series;
	struct cursor **cursors;
	struct frame frames[NODE_DEPTH_MAX + 2];
	u32 depth;
	u64 operations;
	struct bytes texts[2];
	u64 operands[EVENT_OPERANDS_MAX];
};

/* -- structure ---------------------------------------------------------------------------------------------- */

static int push(struct events *e, u32 index, u32 column, u32 run)
{
	const struct node *node = nodes_at(&e->pattern->nodes, index);
	u64 left = 1;

	if (node->type != NODE_LIST) {
		left = cursor_is_at_end(e->cursors[column]) ? 0 : cursor_next(e->cursors[column]);
		column++;
		if (!left || left > e->pattern->operations - e->operations)
			return -EBADMSG;
	}
	if (e->depth == ARRAY_SIZE(e->frames))
		return -EBADMSG;
	e->frames[e->depth++] = (struct frame){ .node = node, .column = column, .run = run, .left = left,
						.part_column = column, .part_run = run };
	return 0;
}

/* The next part of a loop or list. */
static int push_part(struct events *e, struct frame *frame)
{
	u32 index, column = frame->part_column, run = frame->part_run;
	const struct node *part;

	if (frame->part == frame->node->body_count) {
		frame->part = 0;
		frame->part_column = frame->column;
		frame->part_run = frame->run;
		if (!--frame->left)
			e->depth--;
		return 0;
	}
	index = frame->node->body[frame->part++];
	part = nodes_at(&e->pattern->nodes, index);
	frame->part_column += part->columns;
	frame->part_run += part->runs;
	return push(e, index, column, run);
}

static int make_event(struct events *e, const struct frame *frame, struct event *event)
{
	const struct shape *shape = shapes_at(&e->pattern->shapes, frame->node->shape);
	u32 i;

	for (i = 0; i < shape->operand_count; i++) {
		if (cursor_is_at_end(e->cursors[frame->column + i]))
			return -EBADMSG;
		e->operands[i] = cursor_next(e->cursors[frame->column + i]);
	}
	shape_make_event(shape, e->operands, e->texts, event);
	return e->texts[0].is_failed || e->texts[1].is_failed ? -ENOMEM : 0;
}

/* All numbers have been used. */
static int check_end(const struct events *e)
{
	u32 i;

	for (i = 0; i < e->column_count; i++)
		if (!cursor_is_at_end(e->cursors[i]))
			return -EBADMSG;
	return 0;
}

/* -- the whole ---------------------------------------------------------------------------------------------- */

/**
 * events_open() - begin to read the operations of a task
 * @pattern: the pattern
 * @group: of the task
 * @task: index in the group
 * @events: out: to be freed by events_close(), before the pattern is freed
 *
 * Return: 0, -EBADMSG if the numbers of the task are not sound, -ENOMEM.
 */
int events_open(const struct pattern *pattern, const struct group *group, u64 task, struct events **events)
{
	struct events *e = calloc(1, sizeof(*e));
	int err = 0;
	u32 i;

	if (!e)
		return -ENOMEM;
	e->pattern = pattern;
	e->column_count = nodes_at(&pattern->nodes, group->root)->columns;
	e->series = calloc(e->column_count + 1, sizeof(struct series *));
	e->cursors = calloc(e->column_count + 1, sizeof(struct cursor *));
	if (!e->series || !e->cursors)
		err = -ENOMEM;
	for (i = 0; i < e->column_count && !err; i++) {
		err = column_series(&group->columns[i], task, &e->series[i]);
		e->cursors[i] = err ? NULL : cursor_open(e->series[i]);
		if (!err && !e->cursors[i])
			err = -ENOMEM;
	}
	if (!err)
		err = push(e, group->root, 0, 0);
	if (err)
		events_close(e);
	else
		*events = e;
	return err;
}

/**
 * events_next() - the next operation
 * @e: from events_open()
 * @event: out; its texts and its list are valid until the next call with @e
 * @run: out: index of its run in the structure; may be NULL
 *
 * Return: 1; 0 after the last; -EBADMSG if the loops do not fit the numbers; -ENOMEM.
 */
int events_next(struct events *e, struct event *event, u32 *run)
{
	int err;

	while (e->depth) {
		struct frame *frame = &e->frames[e->depth - 1];

		if (frame->node->type != NODE_RUN) {
			err = push_part(e, frame);
			if (err)
				return err;
			continue;
		}
		if (!frame->left--) {
			e->depth--;
			continue;
		}
		if (run)
			*run = frame->run;
		if (e->operations++ == e->pattern->operations)
			return -EBADMSG;
		err = make_event(e, frame, event);
		return err ? err : 1;
	}
	return check_end(e);
}

/**
 * events_close() - end reading; NULL is allowed
 */
void events_close(struct events *e)
{
	u32 i;

	if (!e)
		return;
	for (i = 0; i < e->column_count; i++) {
		if (e->cursors)
			cursor_close(e->cursors[i]);
		if (e->series)
			series_free(e->series[i]);
	}
	free(e->cursors);
	free(e->series);
	bytes_free(&e->texts[0]);
	bytes_free(&e->texts[1]);
	free(e);
}

/**
 * events_find_tasks() - where the tasks of a pattern are
 * @pattern: the pattern
 * @tasks: out: for each position two numbers: the group, and the index in it; to be freed by the caller, NULL after an error
 *
 * Return: 0, -EBADMSG if a position is missing or occurs twice, -ENOMEM.
 */
int events_find_tasks(const struct pattern *pattern, u64 **tasks)
{
	u64 *found = malloc((pattern->task_count + 1) * 2 * sizeof(*found)), i, position;
	u32 group;

	*tasks = NULL;
	if (!found)
		return -ENOMEM;
	memset(found, 0xff, (pattern->task_count + 1) * 2 * sizeof(*found));
	for (group = 0; group < pattern->group_count; group++)
		for (i = 0; i < pattern->groups[group].task_count; i++) {
			position = series_at(pattern->groups[group].positions, i);
			if (position >= pattern->task_count || found[2 * position] != UINT64_MAX) {
				free(found);
				return -EBADMSG;
			}
			found[2 * position] = group;
			found[2 * position + 1] = i;
		}
	*tasks = found;
	return 0;
}
