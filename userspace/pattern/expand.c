// SPDX-License-Identifier: GPL-2.0-only
/*
 * expand.c - the canonical stream of a pattern. Memory does not depend on the number of operations.
 */
#include "state.h"

struct expansion {
	const struct pattern *pattern;
	FILE *out;
	u64 limit;
	u64 operations;
	struct digest *digest;
	struct series **series; /* of the columns of the task at hand */
	struct cursor **cursors;
	struct bytes texts[2];
};

static int expand_event(struct expansion *x, const struct shape *shape, u32 column)
{
	u64 operands[EVENT_OPERANDS_MAX];
	struct event event;
	u32 i;

	for (i = 0; i < shape->operand_count; i++) {
		if (cursor_is_at_end(x->cursors[column + i]))
			return -EBADMSG;
		operands[i] = cursor_next(x->cursors[column + i]);
	}
	shape_make_event(shape, operands, x->texts, &event);
	if (x->texts[0].is_failed || x->texts[1].is_failed)
		return -ENOMEM;
	digest_event(x->digest, &event);
	x->operations++;
	if (!x->out)
		return 0;
	event_print(x->out, &event);
	fputc('\n', x->out);
	return 0;
}

/* Return: 0; 1 if the limit is reached; a negative errno. */
static int expand_node(struct expansion *x, u32 index, u32 column)
{
	const struct node *node = nodes_at(&x->pattern->nodes, index);
	u64 count = 1, i;
	u32 j, part;
	int err = 0;

	if (node->type != NODE_LIST) {
		count = cursor_is_at_end(x->cursors[column]) ? 0 : cursor_next(x->cursors[column]);
		column++;
		if (!count || count > x->pattern->operations - x->operations)
			return -EBADMSG;
	}
	for (i = 0; i < count && !err; i++) {
		if (x->operations == x->limit)
			return 1;
		if (node->type == NODE_RUN)
			err = expand_event(x, shapes_at(&x->pattern->shapes, node->shape), column);
		for (j = 0, part = column; j < node->body_count && !err; j++) {
			err = expand_node(x, node->body[j], part);
			part += nodes_at(&x->pattern->nodes, node->body[j])->columns;
		}
	}
	return err;
}

static void close_columns(struct expansion *x, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (x->cursors)
			cursor_close(x->cursors[i]);
		if (x->series)
			series_free(x->series[i]);
	}
	free(x->cursors);
	free(x->series);
	x->cursors = NULL;
	x->series = NULL;
}

static int open_columns(struct expansion *x, const struct group *group, u64 task)
{
	u32 count = nodes_at(&x->pattern->nodes, group->root)->columns, i;

	x->series = calloc(count + 1, sizeof(struct series *));
	x->cursors = calloc(count + 1, sizeof(struct cursor *));
	if (!x->series || !x->cursors)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		x->series[i] = column_series(&group->columns[i], task);
		if (!x->series[i])
			return -EBADMSG;
		x->cursors[i] = cursor_open(x->series[i]);
		if (!x->cursors[i])
			return -ENOMEM;
	}
	return 0;
}

static int expand_task(struct expansion *x, const struct group *group, u64 task)
{
	u32 count = nodes_at(&x->pattern->nodes, group->root)->columns, i;
	int err = open_columns(x, group, task);

	if (!err)
		err = expand_node(x, group->root, 0);
	for (i = 0; i < count && !err; i++)
		if (!cursor_is_at_end(x->cursors[i]))
			err = -EBADMSG;
	close_columns(x, count);
	return err;
}

static void print_task(FILE *out, const u64 facts[TASK_FACT_COUNT], u64 position)
{
	if (facts[TASK_FACT_what] == TASK_RANK)
		fprintf(out, "rank %llu:\n", (unsigned long long)facts[TASK_FACT_rank]);
	else if (facts[TASK_FACT_what] == TASK_FOUND)
		fputs("found by look-ups:\n", out);
	else
		fprintf(out, "task %llu:\n", (unsigned long long)position + 1);
}

/* Of each position, the group and which of its tasks is there: two numbers. NULL if they are not all different. */
static u64 *find_tasks(const struct pattern *p)
{
	u64 *tasks = malloc((p->task_count + 1) * 2 * sizeof(*tasks)), i, position;
	u32 group;

	if (!tasks)
		return NULL;
	memset(tasks, 0xff, (p->task_count + 1) * 2 * sizeof(*tasks));
	for (group = 0; group < p->group_count; group++)
		for (i = 0; i < p->groups[group].task_count; i++) {
			position = series_at(p->groups[group].positions, i);
			if (position >= p->task_count || tasks[2 * position] != UINT64_MAX) {
				free(tasks);
				return NULL;
			}
			tasks[2 * position] = group;
			tasks[2 * position + 1] = i;
		}
	return tasks;
}

static int expand_all(struct expansion *x)
{
	const struct pattern *p = x->pattern;
	u64 *tasks = find_tasks(p), i, facts[TASK_FACT_COUNT];
	u32 fact;
	int err = tasks ? 0 : -EBADMSG;

	for (i = 0; i < p->task_count && !err; i++) {
		for (fact = 0; fact < TASK_FACT_COUNT; fact++)
			facts[fact] = series_at(p->facts[fact], i);
		digest_task(x->digest, facts);
		if (x->out)
			print_task(x->out, facts, i);
		err = expand_task(x, &p->groups[tasks[2 * i]], tasks[2 * i + 1]);
	}
	free(tasks);
	if (!err && x->operations != p->operations)
		err = -EBADMSG;
	return err < 0 ? err : 0;
}

/**
 * pattern_expand() - the operations of a pattern, one by one
 * @pattern: the pattern
 * @out: where each is printed as a line, or NULL
 * @limit: so many are made
 * @digest: out: their hash, equal to that of the trace if they are the same
 * @operations: out: their number
 *
 * Return: 0, -EBADMSG if the loops do not make the operations that the pattern says, -ENOMEM.
 */
int pattern_expand(const struct pattern *pattern, FILE *out, u64 limit, u8 digest[32], u64 *operations)
{
	struct expansion x = { .pattern = pattern, .out = out, .limit = limit, .digest = digest_open() };
	int err;

	if (!x.digest)
		return -ENOMEM;
	err = expand_all(&x);
	digest_close(x.digest, digest);
	*operations = x.operations;
	bytes_free(&x.texts[0]);
	bytes_free(&x.texts[1]);
	return err;
}
