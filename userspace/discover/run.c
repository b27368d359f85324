// SPDX-License-Identifier: GPL-2.0-only
/*
 * run.c - reads a run, and compares its operations with those of the run without delays.
 */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLOCKS_NS 5000000 /* clocks of nodes may differ so much, after the merge of their traces */

static int reserve(void *array, u32 count, u32 *room, size_t bytes)
{
	void **p = array, *grown;
	u32 wanted = *room ? 2 * *room : 16;

	if (count < *room)
		return 0;
	grown = realloc(*p, wanted * bytes);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	*room = wanted;
	return 0;
}

/* -- reading ---------------------------------------------------------------------------------- */

/* A task may be used before it is announced. */
static int task_get(struct run *run, u32 id, u32 *index)
{
	if (run->last < run->task_count && run->tasks[run->last].id == id) {
		*index = run->last;
		return 0;
	}
	*index = run_task_find(run, id);
	if (*index != RUN_NONE) {
		run->last = *index;
		return 0;
	}
	if (reserve(&run->tasks, run->task_count, &run->task_room, sizeof(*run->tasks)))
		return -ENOMEM;
	*index = run->task_count++;
	run->tasks[*index] = (struct run_task){ .id = id, .twin = RUN_NONE };
	return 0;
}

static int take_task(struct run *run, const struct iot_record *record)
{
	const struct iot_rec_task *r = &record->task;
	struct run_task *task;
	u32 index;
	int err = task_get(run, r->task, &index);

	if (err)
		return err;
	task = &run->tasks[index];
	task->parent = r->parent;
	task->why = r->why;
	if (!task->begin_ns)
		task->begin_ns = r->time_ns;
	snprintf(task->command, sizeof(task->command), "%.*s", (int)record->tail_bytes, (const char *)record->tail);
	return 0;
}

/* Caches decide whether, or when, the others happen. */
static bool is_place(const struct iot_record *record)
{
	if (iot_kind_info(record->kind)->group != IOT_GROUP_op || record->op.parent)
		return false;
	return record->kind != IOT_KIND_lookup && record->kind != IOT_KIND_follow && record->kind != IOT_KIND_touch &&
	       record->kind != IOT_KIND_complete;
}

static int take_place(struct run *run, struct iot_names *names, const struct iot_record *record)
{
	struct iot_label label = iot_names_of_record(names, record);
	struct run_task *task;
	struct place *place;
	u32 index;
	int err = task_get(run, record->op.task, &index);

	if (err)
		return err;
	task = &run->tasks[index];
	if (reserve(&task->places, task->count, &task->room, sizeof(*task->places)))
		return -ENOMEM;
	place = &task->places[task->count];
	*place = (struct place){
		.enter_ns = record->op.enter_ns,
		.end_ns = record->op.enter_ns + record->op.duration_ns,
		.runtime_ns = record->op.runtime_ns,
		.oncpu_ns = record->op.oncpu_ns,
		.op = record->op.op,
		.kind = record->kind,
		.path = run_paths_intern(run->paths, label.path ? label.path : ""),
	};
	if (!place->path)
		return -ENOMEM;
	task->count++;
	return 0;
}

static int take_delay(struct run *run, const struct iot_rec_delayed *r)
{
	u32 task;
	int err = task_get(run, r->task, &task);

	if (err)
		return err;
	if (reserve(&run->delays, run->delay_count, &run->delay_room, sizeof(*run->delays)))
		return -ENOMEM;
	run->delays[run->delay_count++] = (struct delay){
		.begin_ns = r->time_ns,
		.end_ns = r->time_ns + r->duration_ns,
		.task = r->task, /* an index after the sort */
		.op = r->op,
		.ending = r->ending,
	};
	return 0;
}

/* Of a job on several nodes: node.NAME.tasks=FIRST-LAST. A name may have dots. */
static int take_fact(struct run *run, const struct iot_record *record)
{
	struct run_node node;
	char text[128], *tasks;

	snprintf(text, sizeof(text), "%.*s", (int)record->tail_bytes, (const char *)record->tail);
	tasks = strstr(text, ".tasks=");
	if (strncmp(text, "node.", 5) || !tasks || tasks < text + 5 || sscanf(tasks, ".tasks=%u-%u", &node.first, &node.last) != 2)
		return 0;
	if (reserve(&run->nodes, run->node_count, &run->node_room, sizeof(*run->nodes)))
		return -ENOMEM;
	snprintf(node.name, sizeof(node.name), "%.*s", (int)(tasks - text - 5), text + 5);
	run->nodes[run->node_count++] = node;
	return 0;
}

static int take(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct run *run = context;

	run->end_ns = iot_record_end_ns(record);
	if (!run->begin_ns)
		run->begin_ns = run->end_ns;
	if (iot_record_is_counted(record))
		return -EOPNOTSUPP;
	if (record->kind == IOT_KIND_fact)
		return take_fact(run, record);
	if (record->kind == IOT_KIND_task)
		return take_task(run, record);
	if (record->kind == IOT_KIND_delayed)
		return take_delay(run, &record->delayed);
	return is_place(record) ? take_place(run, names, record) : 0;
}

static int compare_tasks(const void *a, const void *b)
{
	const struct run_task *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->op < y->op ? -1 : x->op > y->op;
}

static u32 node_of(const struct run *run, u32 task)
{
	u32 i;

	for (i = run->node_count; i-- > 0;)
		if (run->nodes[i].first <= task && task <= run->nodes[i].last)
			return i;
	return 0;
}

/* Ids grow in the order of creation. */
static void sort(struct run *run)
{
	u32 i, j;

	if (run->task_count)
		qsort(run->tasks, run->task_count, sizeof(*run->tasks), compare_tasks);
	for (i = 0; i < run->task_count; i++) {
		struct run_task *task = &run->tasks[i];

		task->node = node_of(run, task->id);
		if (task->count)
			qsort(task->places, task->count, sizeof(*task->places), compare_places);
		for (j = 0, task->nth = 1; j < i; j++)
			task->nth += run->tasks[j].parent == task->parent && run->tasks[j].why == task->why;
	}
	for (i = 0; i < run->delay_count; i++)
		run->delays[i].task = run_task_find(run, run->delays[i].task);
}

/**
 * run_load() - read the trace of a run
 * @run: zeroed; run_free() frees it, also after an error
 * @path: of the trace
 * @paths: of all runs that are compared with this one; must outlive it
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int run_load(struct run *run, const char *path, struct run_paths *paths, struct iot_reject *reject)
{
	int err;

	run->paths = paths;
	run->path = strdup(path);
	if (!run->path)
		return -ENOMEM;
	err = iot_trace_walk(path, take, run, NULL, reject);
	if (!err)
		sort(run);
	return err;
}

/**
 * run_free() - free a run
 * @run: of run_load()
 */
void run_free(struct run *run)
{
	u32 i;

	for (i = 0; i < run->task_count; i++)
		free(run->tasks[i].places);
	free(run->tasks);
	free(run->delays);
	free(run->nodes);
	free(run->path);
}

/**
 * run_task_find() - the task with an id
 * @run: of the task
 * @id: of the task
 *
 * Return: its index, RUN_NONE if there is none.
 */
u32 run_task_find(const struct run *run, u32 id)
{
	u32 i;

	for (i = run->task_count; i-- > 0;)
		if (run->tasks[i].id == id)
			return i;
	return RUN_NONE;
}

/**
 * run_margin_ns() - how much times of two tasks may differ without one being earlier
 * @run: of the tasks
 * @task, @other: their indices
 *
 * Return: 0 on the same node.
 */
u64 run_margin_ns(const struct run *run, u32 task, u32 other)
{
	return run->tasks[task].node == run->tasks[other].node ? 0 : CLOCKS_NS;
}

/**
 * run_place_until() - the last place of a task up to an operation
 * @task: of a run
 * @op: number of an operation of the task
 *
 * Return: its index, RUN_NONE if there is none.
 */
u32 run_place_until(const struct run_task *task, u32 op)
{
	u32 low = 0, high = task->count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (task->places[middle].op <= op)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : RUN_NONE;
}

/* -- comparing -------------------------------------------------------------------------------- */

/* The n-th task that the twin of the parent created in the same way. */
static u32 twin_of(const struct run *run, const struct run *base, const struct run_task *task)
{
	u32 parent = run_task_find(run, task->parent), parent_id = 0, i;

	if (parent != RUN_NONE) {
		if (run->tasks[parent].twin == RUN_NONE)
			return RUN_NONE;
		parent_id = base->tasks[run->tasks[parent].twin].id;
	}
	for (i = 0; i < base->task_count; i++) {
		const struct run_task *other = &base->tasks[i];

		if ((parent != RUN_NONE ? other->parent == parent_id : run_task_find(base, other->parent) == RUN_NONE) &&
		    other->why == task->why && other->nth == task->nth)
			return i;
	}
	return RUN_NONE;
}

static bool is_same_place(const struct place *x, const struct place *y)
{
	return x->kind == y->kind && x->path == y->path;
}

static int differ(const struct run_task *task, u32 nth, const struct place *here, const struct place *there, char *why,
		  size_t room)
{
	char texts[2][200] = { "the end", "the end" };
	const struct place *places[] = { here, there };
	u32 i;

	for (i = 0; i < 2; i++)
		if (places[i])
			snprintf(texts[i], sizeof(texts[i]), "%s %.150s", iot_kind_info((u16)places[i]->kind)->name, places[i]->path);
	snprintf(why, room, "task %u (%s), operation %u: %s in one run, %s in another", task->id, task->command, nth + 1, texts[0],
		 texts[1]);
	return -EXDEV;
}

/* Return: 0, or -EXDEV with the first place that differs. */
static int compare_task(const struct run_task *base, const struct run_task *task, char *why, size_t room)
{
	u32 i;

	for (i = 0; i < base->count || i < task->count; i++) {
		const struct place *here = i < base->count ? &base->places[i] : NULL;
		const struct place *there = i < task->count ? &task->places[i] : NULL;

		if (!here || !there || !is_same_place(here, there))
			return differ(base, i, here, there, why, room);
	}
	return 0;
}

/**
 * run_match() - find the twins of all tasks of a run, and compare their operations
 * @run: a run with delays
 * @base: the run without
 * @why: out, if they differ: the first difference
 * @room: bytes there
 *
 * Return: 0, or -EXDEV if the program did something else.
 */
int run_match(struct run *run, const struct run *base, char *why, size_t room)
{
	bool *has_twin = calloc(base->task_count + 1, sizeof(*has_twin));
	int err = has_twin ? 0 : -ENOMEM;
	u32 i;

	for (i = 0; i < run->task_count && !err; i++) {
		struct run_task *task = &run->tasks[i];

		task->twin = twin_of(run, base, task);
		if (task->twin != RUN_NONE) {
			has_twin[task->twin] = true;
			err = compare_task(&base->tasks[task->twin], task, why, room);
		} else if (task->count) {
			snprintf(why, room, "only one run has task %u (%s)", task->id, task->command);
			err = -EXDEV;
		}
	}
	for (i = 0; i < base->task_count && !err; i++)
		if (!has_twin[i] && base->tasks[i].count) {
			snprintf(why, room, "only one run has task %u (%s)", base->tasks[i].id, base->tasks[i].command);
			err = -EXDEV;
		}
	free(has_twin);
	return err;
}
