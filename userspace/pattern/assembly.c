// SPDX-License-Identifier: GPL-2.0-only
/*
 * assembly.c - make a pattern: the loops of each task, and the group of tasks with the same loops.
 *
 * When a task is complete, its structure is found, and it is walked along that, which distributes counts and operands to the
 * columns of its group. Then its operations are not needed any more: memory is in proportion to those of one task, and to the
 * columns of all.
 */
#include "assembly.h"

#include "waiting_times.h"

/* What a group has until all tasks have been added. */
struct rest {
	struct numbers positions;
	struct waiting_times times;
};

/**
 * struct assembly - a pattern that is made
 * @rests: by group, @rest_count of them
 * @uses: of the distributions that times are parts of, @use_count of them
 */
struct assembly {
	struct pattern *pattern;
	struct rest *rests;
	u32 rest_count;
	u32 room;
	struct last_use *uses;
	u32 use_count;
};

/* -- walking along a structure ----------------------------------------------------------------------------- */

/* Backwards, as counts are in the order of the ends. */
struct walk {
	const struct nodes *nodes;
	const struct stream *stream;
	const struct stream_task *task;
	struct assembly *assembly;
	struct group *group;
	struct rest *rest;
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
		column += nodes_at(w->nodes, node->body[i])->columns;
		run += nodes_at(w->nodes, node->body[i])->runs;
	}
	for (i = node->body_count; i-- > 0 && !err;) {
		column -= nodes_at(w->nodes, node->body[i])->columns;
		run -= nodes_at(w->nodes, node->body[i])->runs;
		err = walk_node(w, node->body[i], column, run);
	}
	return err;
}

/* Times that are parts of distributions must be added in the order of the groups. */
static int add_times(struct walk *w, u32 run, u64 think_ns, u64 duration_ns)
{
	u32 runs = nodes_at(w->nodes, w->group->root)->runs;
	int err;

	if (!w->assembly->use_count) {
		times_count(&w->group->times[run].think, think_ns);
		times_count(&w->group->times[run].duration, duration_ns);
		time_sums_add(&w->group->sums[run].think, think_ns);
		time_sums_add(&w->group->sums[run].duration, duration_ns);
		return 0;
	}
	err = waiting_times_add(&w->rest->times, w->assembly->uses, runs, run, false, think_ns);
	return err ? err : waiting_times_add(&w->rest->times, w->assembly->uses, runs, run, true, duration_ns);
}

static int walk_run(struct walk *w, const struct node *node, u32 column, u32 run, u64 count)
{
	const struct shape *shape = shapes_at(&w->stream->shapes, node->shape);
	u32 i;
	int err = 0;

	for (; count && !err; count--) {
		if (!w->operation || w->task->shapes.values[w->operation - 1] != node->shape)
			return -EINVAL;
		w->operation--;
		w->operand -= shape->operand_count;
		for (i = 0; i < shape->operand_count; i++)
			numbers_add(&w->columns[column + 1 + i], w->task->operands.values[w->operand + i]);
		if (w->operation < w->task->think_ns.count)
			err = add_times(w, run, w->task->think_ns.values[w->operation], w->task->duration_ns.values[w->operation]);
	}
	return err;
}

static int walk_node(struct walk *w, u32 index, u32 column, u32 run)
{
	const struct node *node = nodes_at(w->nodes, index);
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

/* Distribute the operations of a task to the columns of its group. */
static int walk_task(struct assembly *a, struct group *group, const struct stream *stream, const struct stream_task *task,
		     const struct numbers *counts)
{
	const struct node *root = nodes_at(&a->pattern->nodes, group->root);
	struct walk w = { .nodes = &a->pattern->nodes, .stream = stream, .task = task, .assembly = a, .group = group,
			  .rest = &a->rests[group - a->pattern->groups], .counts = counts, .count = counts->count,
			  .operation = task->shapes.count, .operand = task->operands.count };
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

static int make_room(struct assembly *a)
{
	u32 room = a->room ? 2 * a->room : 16;
	struct group *groups = reallocarray(a->pattern->groups, room, sizeof(*groups));
	struct rest *rests;

	if (!groups)
		return -ENOMEM;
	a->pattern->groups = groups;
	rests = reallocarray(a->rests, room, sizeof(*rests));
	if (!rests)
		return -ENOMEM;
	a->rests = rests;
	a->room = room;
	return 0;
}

static struct group *add_group(struct assembly *a, u32 root)
{
	const struct node *node = nodes_at(&a->pattern->nodes, root);
	u32 index = a->pattern->group_count;
	struct group *group;

	if (index == a->room && make_room(a))
		return NULL;
	group = &a->pattern->groups[a->pattern->group_count++];
	*group = (struct group){ .root = root };
	a->rests[a->rest_count++] = (struct rest){ .times.group = index };
	group->columns = calloc(node->columns + 1, sizeof(*group->columns));
	group->times = calloc(node->runs + 1, sizeof(*group->times));
	if (!a->use_count)
		group->sums = calloc(node->runs + 1, sizeof(*group->sums));
	return group->columns && group->times && (group->sums || a->use_count) ? group : NULL;
}

/* The tasks with a structure. The node of a new structure is the last one, so groups are in the order of their nodes. */
static struct group *group_get(struct assembly *a, u32 root)
{
	u32 low = 0, high = a->pattern->group_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (a->pattern->groups[middle].root < root)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < a->pattern->group_count && a->pattern->groups[low].root == root)
		return &a->pattern->groups[low];
	return add_group(a, root);
}

static void free_rest(struct rest *rest)
{
	numbers_free(&rest->positions);
	waiting_times_free(&rest->times);
}

/**
 * group_set_means() - mean and deviation of the times of a group from their sums
 */
void group_set_means(const struct nodes *nodes, struct group *group)
{
	u32 runs = nodes_at(nodes, group->root)->runs, run;

	for (run = 0; run < runs; run++) {
		time_sums_set(&group->sums[run].think, &group->times[run].think);
		time_sums_set(&group->sums[run].duration, &group->times[run].duration);
	}
}

static int finish_group(struct assembly *a, const struct stream *stream, u32 index)
{
	struct group *group = &a->pattern->groups[index];
	struct rest *rest = &a->rests[index];
	u32 columns = nodes_at(&a->pattern->nodes, group->root)->columns, i;
	int err = 0;

	if (a->use_count)
		waiting_times_finish(&rest->times, stream, group->times);
	else
		group_set_means(&a->pattern->nodes, group);
	group->positions = series_make(rest->positions.values, rest->positions.count);
	free_rest(rest);
	if (!group->positions)
		return -ENOMEM;
	for (i = 0; i < columns && !err; i++)
		err = column_finish(&group->columns[i]);
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

/**
 * assembly_open() - begin a pattern
 * @distribution_count: of the stream whose tasks are added
 *
 * Return: to be freed by assembly_close(); NULL if out of memory.
 */
struct assembly *assembly_open(u32 distribution_count)
{
	struct assembly *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->pattern = calloc(1, sizeof(*a->pattern));
	a->uses = calloc(distribution_count + 1ul, sizeof(*a->uses));
	a->use_count = distribution_count;
	if (a->pattern && a->uses)
		return a;
	assembly_close(a);
	return NULL;
}

/**
 * assembly_add_task() - add a task, all of whose operations are there
 * @a: the assembly
 * @stream: of the task
 * @task: its index; tasks are added in order; its operations are freed
 *
 * Return: 0; -EINVAL if the task has too many operations that are not loops; -ENOMEM.
 */
int assembly_add_task(struct assembly *a, struct stream *stream, u32 task)
{
	struct numbers counts;
	struct group *group = NULL;
	u32 root;
	int err = fold(&a->pattern->nodes, &stream->shapes, &stream->tasks[task].shapes, &root, &counts);

	if (!err) {
		group = group_get(a, root);
		err = group ? walk_task(a, group, stream, &stream->tasks[task], &counts) : -ENOMEM;
	}
	if (!err) {
		numbers_add(&a->rests[group - a->pattern->groups].positions, task);
		group->task_count++;
		err = a->rests[group - a->pattern->groups].positions.is_failed ? -ENOMEM : 0;
	}
	numbers_free(&counts);
	stream_forget_task(stream, task);
	return err;
}

/**
 * assembly_finish() - the pattern of all tasks
 * @a: the assembly
 * @stream: all of whose tasks were added; its shapes are taken over
 * @pattern: out: to be freed by pattern_free()
 *
 * Return: 0 or -ENOMEM.
 */
int assembly_finish(struct assembly *a, struct stream *stream, struct pattern **pattern)
{
	struct pattern *p = a->pattern;
	u32 i;
	int err;

	memcpy(p->capture, stream->info.capture, sizeof(p->capture));
	memcpy(p->digest, stream->digest, sizeof(p->digest));
	p->operations = stream->operations;
	p->task_count = stream->task_count;
	p->has_times = true;
	err = make_facts(p, stream);
	for (i = 0; i < p->group_count && !err; i++)
		err = finish_group(a, stream, i);
	if (err)
		return err;
	p->shapes = stream->shapes;
	stream->shapes = (struct shapes){};
	*pattern = p;
	a->pattern = NULL;
	return 0;
}

/**
 * assembly_close() - free an assembly; NULL is allowed
 */
void assembly_close(struct assembly *a)
{
	u32 i;

	if (!a)
		return;
	for (i = 0; i < a->rest_count; i++)
		free_rest(&a->rests[i]);
	free(a->rests);
	free(a->uses);
	pattern_free(a->pattern);
	free(a);
}
