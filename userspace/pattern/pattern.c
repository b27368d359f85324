// SPDX-License-Identifier: GPL-2.0-only
/*
 * pattern.c - the pattern of a stream: loops of each task, then tasks with the same loops.
 *
 * Structures are found first, so that tasks with the same one are known; then each task is walked along its structure,
 * which distributes counts and operands to columns.
 */
#include "pattern.h"

#include "state.h"

/* The structure of a task. */
struct folded {
	u32 root;
	u32 task;
	struct numbers counts;
};

/* -- walking along a structure ----------------------------------------------------------------------------- */

/* Backwards, as counts are in the order of the ends. */
struct walk {
	const struct pattern *pattern;
	const struct stream *stream;
	const struct stream_task *task;
	struct group *group;
	struct numbers *columns;
	const struct numbers *counts;
	size_t count;	  /* counts that are left */
	size_t operation; /* operations that are left */
	size_t operand;
};

static int walk_node(struct walk *w, u32 index, u32 column, u32 run);

static int walk_body(struct walk *w, const struct node *node, u32 column, u32 run)
{
	u32 i;
	int err = 0;

	for (i = 0; i < node->body_count; i++) {
		column += nodes_at(&w->pattern->nodes, node->body[i])->columns;
		run += nodes_at(&w->pattern->nodes, node->body[i])->runs;
	}
	for (i = node->body_count; i-- > 0 && !err;) {
		column -= nodes_at(&w->pattern->nodes, node->body[i])->columns;
		run -= nodes_at(&w->pattern->nodes, node->body[i])->runs;
		err = walk_node(w, node->body[i], column, run);
	}
	return err;
}

static void add_time(const struct walk *w, struct times *times, u64 time)
{
	if (time & STREAM_DISTRIBUTION)
		times_add_part(times, w->stream->distributions[time & ~STREAM_DISTRIBUTION]);
	else
		times_add(times, time);
}

static int walk_run(struct walk *w, const struct node *node, u32 column, u32 run, u64 count)
{
	const struct shape *shape = shapes_at(&w->pattern->shapes, node->shape);
	struct run_times *times = &w->group->times[run];
	u32 i;

	for (; count; count--) {
		if (!w->operation || w->task->shapes.values[w->operation - 1] != node->shape)
			return -EINVAL;
		w->operation--;
		w->operand -= shape->operand_count;
		for (i = 0; i < shape->operand_count; i++)
			numbers_add(&w->columns[column + 1 + i], w->task->operands.values[w->operand + i]);
		if (w->operation < w->task->think_ns.count) {
			add_time(w, &times->think, w->task->think_ns.values[w->operation]);
			add_time(w, &times->duration, w->task->duration_ns.values[w->operation]);
		}
	}
	return 0;
}

static int walk_node(struct walk *w, u32 index, u32 column, u32 run)
{
	const struct node *node = nodes_at(&w->pattern->nodes, index);
	u64 count, i;
	int err = 0;

	if (!w->count)
		return -EINVAL;
	count = w->counts->values[--w->count];
	numbers_add(&w->columns[column], count);
	if (node->type == NODE_RUN)
		return walk_run(w, node, column, run, count);
	for (i = 0; i < count && !err; i++)
		err = walk_body(w, node, column + 1, run);
	return err;
}

static void reverse(struct numbers *numbers)
{
	size_t i, j;

	for (i = 0, j = numbers->count; i + 1 < j; i++) {
		u64 value = numbers->values[i];

		numbers->values[i] = numbers->values[--j];
		numbers->values[j] = value;
	}
}

static int add_to_columns(struct group *group, struct numbers *columns, u32 count)
{
	u32 i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		reverse(&columns[i]);
		err = column_add(&group->columns[i], &columns[i]);
	}
	return err;
}

static int add_task(struct pattern *pattern, struct group *group, const struct stream *stream, const struct folded *folded)
{
	const struct node *root = nodes_at(&pattern->nodes, folded->root);
	const struct stream_task *task = &stream->tasks[folded->task];
	struct walk w = { .pattern = pattern, .stream = stream, .task = task, .group = group, .counts = &folded->counts,
			  .count = folded->counts.count, .operation = task->shapes.count, .operand = task->operands.count };
	u32 i;
	int err;

	w.columns = calloc(root->columns + 1, sizeof(*w.columns));
	if (!w.columns)
		return -ENOMEM;
	err = walk_body(&w, root, 0, 0);
	if (!err && (w.count || w.operation))
		err = -EINVAL;
	if (!err)
		err = add_to_columns(group, w.columns, root->columns);
	for (i = 0; i < root->columns; i++)
		numbers_free(&w.columns[i]);
	free(w.columns);
	return err;
}

/* -- groups -------------------------------------------------------------------------------------------------- */

static int compare_folded(const void *a, const void *b)
{
	const struct folded *x = a, *y = b;

	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

static int finish_group(struct pattern *pattern, struct group *group, const struct folded *folded)
{
	u64 *positions = calloc(group->task_count, sizeof(*positions)), i;
	int err = 0;

	if (!positions)
		return -ENOMEM;
	for (i = 0; i < group->task_count; i++)
		positions[i] = folded[i].task;
	group->positions = series_make(positions, group->task_count);
	free(positions);
	if (!group->positions)
		return -ENOMEM;
	for (i = 0; i < nodes_at(&pattern->nodes, group->root)->columns && !err; i++)
		err = column_finish(&group->columns[i]);
	return err;
}

/* Of tasks that all have the same root. */
static int make_group(struct pattern *pattern, const struct stream *stream, const struct folded *folded, u64 count)
{
	struct group *groups = reallocarray(pattern->groups, pattern->group_count + 1, sizeof(*groups)), *group;
	u32 root = folded->root, runs = nodes_at(&pattern->nodes, root)->runs;
	u64 i;
	int err = 0;

	if (!groups)
		return -ENOMEM;
	pattern->groups = groups;
	group = &groups[pattern->group_count++];
	*group = (struct group){ .root = root, .task_count = count };
	group->columns = calloc(nodes_at(&pattern->nodes, root)->columns + 1, sizeof(*group->columns));
	group->times = calloc(runs + 1, sizeof(*group->times));
	if (!group->columns || !group->times)
		return -ENOMEM;
	for (i = 0; i < count && !err; i++)
		err = add_task(pattern, group, stream, &folded[i]);
	return err ? err : finish_group(pattern, group, folded);
}

static int make_groups(struct pattern *pattern, const struct stream *stream, struct folded *folded)
{
	u32 first, next;
	int err = 0;

	qsort(folded, stream->task_count, sizeof(*folded), compare_folded);
	for (first = 0; first < stream->task_count && !err; first = next) {
		for (next = first + 1; next < stream->task_count && folded[next].root == folded[first].root; next++)
			;
		err = make_group(pattern, stream, &folded[first], next - first);
	}
	return err;
}

/* -- the whole ------------------------------------------------------------------------------------------------ */

static int make_facts(struct pattern *pattern, const struct stream *stream)
{
	u64 *values = calloc(stream->task_count + 1, sizeof(*values));
	u32 fact, i;

	if (!values)
		return -ENOMEM;
	for (fact = 0; fact < TASK_FACT_COUNT; fact++) {
		for (i = 0; i < stream->task_count; i++)
			values[i] = stream->tasks[i].facts[fact];
		pattern->facts[fact] = series_make(values, stream->task_count);
		if (!pattern->facts[fact])
			break;
	}
	free(values);
	return fact < TASK_FACT_COUNT ? -ENOMEM : 0;
}

static int fold_tasks(struct pattern *pattern, const struct stream *stream, struct folded *folded)
{
	u32 i;
	int err = 0;

	for (i = 0; i < stream->task_count && !err; i++) {
		folded[i].task = i;
		err = fold(&pattern->nodes, &pattern->shapes, &stream->tasks[i].shapes, &folded[i].root, &folded[i].counts);
	}
	return err;
}

/**
 * pattern_of_stream() - make a pattern
 * @stream: its shapes are taken over
 * @pattern: out: to be freed by pattern_free()
 *
 * Return: 0; -EINVAL if a task has too many operations that are not loops; -ENOMEM.
 */
int pattern_of_stream(struct stream *stream, struct pattern **pattern)
{
	struct folded *folded = calloc(stream->task_count + 1, sizeof(*folded));
	struct pattern *p = calloc(1, sizeof(*p));
	u32 i;
	int err;

	if (!folded || !p) {
		free(folded);
		free(p);
		return -ENOMEM;
	}
	memcpy(p->capture, stream->info.capture, sizeof(p->capture));
	memcpy(p->digest, stream->digest, sizeof(p->digest));
	p->operations = stream->operations;
	p->task_count = stream->task_count;
	p->has_times = true;
	p->shapes = stream->shapes;
	stream->shapes = (struct shapes){};
	err = make_facts(p, stream);
	if (!err)
		err = fold_tasks(p, stream, folded);
	if (!err)
		err = make_groups(p, stream, folded);
	for (i = 0; i < stream->task_count; i++)
		numbers_free(&folded[i].counts);
	free(folded);
	if (err)
		pattern_free(p);
	else
		*pattern = p;
	return err;
}

/**
 * pattern_make() - compute the pattern of a trace
 * @trace: its path
 * @pattern: out: to be released with pattern_free()
 * @omissions: out: omissions of the trace
 * @reject: filled in if it is refused
 *
 * Return: 0 or a negative errno.
 */
int pattern_make(const char *trace, struct pattern **pattern, struct iot_omissions *omissions, struct iot_reject *reject)
{
	struct stream *stream;
	int err = stream_read(trace, &stream, reject);

	if (err)
		return err;
	*omissions = stream->omissions;
	err = pattern_of_stream(stream, pattern);
	stream_free(stream);
	if (err)
		iot_refuse(reject, err == -ENOMEM ? IOT_REJECT_memory : IOT_REJECT_pattern_irregular, 0);
	return err;
}

/**
 * pattern_summarize() - the main properties of a pattern
 */
void pattern_summarize(const struct pattern *pattern, struct pattern_summary *summary)
{
	u64 i;

	*summary = (struct pattern_summary){ .operations = pattern->operations, .tasks = pattern->task_count,
					     .groups = pattern->group_count, .shapes = pattern->shapes.count,
					     .has_times = pattern->has_times, .is_made = pattern->is_made };
	memcpy(summary->capture, pattern->capture, sizeof(summary->capture));
	memcpy(summary->digest, pattern->digest, sizeof(summary->digest));
	for (i = 0; i < pattern->task_count; i++)
		summary->ranks += series_at(pattern->facts[TASK_FACT_what], i) == TASK_RANK;
}

/**
 * pattern_free() - free a pattern; NULL is allowed
 */
void pattern_free(struct pattern *pattern)
{
	u32 i, j;

	if (!pattern)
		return;
	for (i = 0; i < pattern->group_count; i++) {
		struct group *group = &pattern->groups[i];

		for (j = 0; group->columns && j < nodes_at(&pattern->nodes, group->root)->columns; j++)
			column_free(&group->columns[j]);
		free(group->columns);
		free(group->times);
		series_free(group->positions);
	}
	free(pattern->groups);
	for (i = 0; i < TASK_FACT_COUNT; i++)
		series_free(pattern->facts[i]);
	nodes_free(&pattern->nodes);
	shapes_free(&pattern->shapes);
	free(pattern);
}
