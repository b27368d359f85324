// SPDX-License-Identifier: GPL-2.0-only
/*
 * lanes.c - rows of the timeline: ranks, in groups of neighbours if there are many, and tasks, the busiest ones.
 */
#include "state.h"

#include <stdlib.h>

/* Rows of tasks that belong to no rank, in a job that has ranks. */
#define OTHERS_MAX 8
/* Rows of tasks in a job without ranks, which are mostly short-lived. */
#define TASKS_MAX  40

/* -- survey ------------------------------------------------------------------------------------------- */

/**
 * lanes_survey() - take a task into account
 * @r: an operation or call of it
 *
 * Return: 0 or -ENOMEM.
 */
int lanes_survey(struct report_state *s, const struct iot_record *r)
{
	u32 id = r->op.task;
	struct report_task *task;

	HASH_FIND(hh, s->tasks, &id, sizeof(id), task);
	if (!task) {
		task = calloc(1, sizeof(*task));
		if (!task)
			return -ENOMEM;
		task->task = id;
		task->lane = LANE_NONE;
		HASH_ADD(hh, s->tasks, task, sizeof(task->task), task);
	}
	task->operations++;
	task->time_ns += r->op.parent ? 0 : r->op.duration_ns;
	return 0;
}

/* -- choice --------------------------------------------------------------------------------------------- */

static u32 rank_of(const struct report_state *s, const struct report_task *task)
{
	const struct actor *actor = actors_find(&s->actors, task->task);

	return actor ? actor->rank : ACTOR_UNKNOWN;
}

struct ranked {
	struct report_task *task;
	u32 rank;
};

/* Ranks in their order, then the tasks that are in none, the busiest first. */
static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1; /* ACTOR_UNKNOWN is the largest */
	if (x->rank == ACTOR_UNKNOWN && x->task->time_ns != y->task->time_ns)
		return x->task->time_ns < y->task->time_ns ? 1 : -1;
	return x->task->task < y->task->task ? -1 : x->task->task > y->task->task;
}

static int compare_tasks(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return x->task->task < y->task->task ? -1 : x->task->task > y->task->task;
}

static void lane_put(struct report *report, u32 lane, struct report_task *task)
{
	task->lane = lane;
	report->lanes[lane].tasks++;
	report->lanes[lane].operations += task->operations;
}

static void name_task(const struct report_state *s, const struct report_task *task, char name[REPORT_NAME_BYTES])
{
	const struct actor *actor = actors_find(&s->actors, task->task);
	size_t at;

	if (!actor || !actor->pid) {
		snprintf(name, REPORT_NAME_BYTES, "task %u", task->task);
		return;
	}
	at = (size_t)snprintf(name, REPORT_NAME_BYTES, "%s %u", actor->command[0] ? actor->command : "?", actor->pid);
	if (s->actors.node_count > 1 && actor->node != ACTOR_UNKNOWN)
		snprintf(name + at, REPORT_NAME_BYTES - at, " on %s", s->actors.nodes[actor->node]);
}

/* Return: the number of lanes of the tasks from @list on that have ranks, @count tasks, @ranks different ones. */
static u32 lanes_of_ranks(struct report *report, const struct ranked *list, u32 count, u32 ranks, u32 lanes_max)
{
	u32 each = (ranks + lanes_max - 1) / lanes_max, i, index = 0;

	for (i = 0; i < count; i++) {
		struct report_lane *lane;

		index += i && list[i].rank != list[i - 1].rank;
		lane = &report->lanes[index / each];
		lane->ranks += !i || list[i].rank != list[i - 1].rank;
		if (!lane->name[0] || each == 1)
			snprintf(lane->name, sizeof(lane->name), "rank %u", list[i].rank);
		lane_put(report, index / each, list[i].task);
	}
	if (each > 1) /* names with the first and the last rank */
		for (i = 0, index = 0; i < count; i++) {
			index += i && list[i].rank != list[i - 1].rank;
			if (i + 1 == count || (list[i + 1].rank != list[i].rank && (index + 1) % each == 0)) {
				struct report_lane *lane = &report->lanes[index / each];
				size_t at = strlen(lane->name);

				if (index % each) /* else there is one rank */
					snprintf(lane->name + at, sizeof(lane->name) - at, "-%u", list[i].rank);
			}
		}
	return index / each + 1;
}

/* Tasks of no rank: a row each, in the order of their ids, and the rest in one. */
static u32 lanes_of_tasks(struct report_state *s, struct ranked *list, u32 count, u32 first, u32 lanes_max)
{
	struct report *report = s->report;
	u32 i, own = count <= lanes_max ? count : lanes_max - 1;

	if (own)
		qsort(list, own, sizeof(*list), compare_tasks);
	for (i = 0; i < count; i++)
		lane_put(report, first + (i < own ? i : own), list[i].task);
	for (i = 0; i < own + (own < count); i++)
		report->lanes[first + i].ranks = 1;
	for (i = 0; i < own; i++)
		name_task(s, list[i].task, report->lanes[first + i].name);
	if (own == count)
		return first + own;
	snprintf(report->lanes[first + own].name, REPORT_NAME_BYTES, "%u other tasks", count - own);
	report->has_shared_lane = true;
	return first + own + 1;
}

static void lanes_fill(struct report_state *s, struct ranked *list, u32 count)
{
	struct report *report = s->report;
	u32 i, ranked = 0, ranks = 0, others_max = s->limits->lanes < TASKS_MAX ? s->limits->lanes : TASKS_MAX;

	for (i = 0; i < count && list[i].rank != ACTOR_UNKNOWN; i++) {
		ranks += !i || list[i].rank != list[i - 1].rank;
		ranked++;
	}
	if (ranked) {
		report->lanes_are_ranks = true;
		others_max = s->limits->lanes / 2 < OTHERS_MAX ? s->limits->lanes / 2 : OTHERS_MAX;
		report->lane_count = lanes_of_ranks(report, list, ranked, ranks, s->limits->lanes - others_max);
	}
	if (ranked < count)
		report->lane_count = lanes_of_tasks(s, list + ranked, count - ranked, report->lane_count, others_max);
}

/**
 * lanes_choose() - after the survey: the rows
 *
 * Return: 0 or -ENOMEM.
 */
int lanes_choose(struct report_state *s)
{
	struct report *report = s->report;
	struct report_task *task;
	struct ranked *list;
	u32 count = 0;

	report->tasks = HASH_COUNT(s->tasks);
	list = calloc(report->tasks + 1, sizeof(*list));
	report->lanes = calloc(s->limits->lanes, sizeof(*report->lanes));
	if (!list || !report->lanes) {
		free(list);
		return -ENOMEM;
	}
	for (task = s->tasks; task; task = task->hh.next)
		list[count++] = (struct ranked){ task, rank_of(s, task) };
	qsort(list, count, sizeof(*list), compare_ranked);
	lanes_fill(s, list, count);
	free(list);
	return 0;
}

/**
 * lanes_of() - the row of a task
 * @index: out: of the row
 *
 * Return: the row; NULL for a task without any operation.
 */
struct report_lane *lanes_of(struct report_state *s, u32 id, u32 *index)
{
	struct report_task *task;

	HASH_FIND(hh, s->tasks, &id, sizeof(id), task);
	if (!task)
		return NULL;
	*index = task->lane;
	return &s->report->lanes[task->lane];
}

/**
 * lanes_free() - free the survey
 */
void lanes_free(struct report_state *s)
{
	struct report_task *task, *next;

	HASH_ITER (hh, s->tasks, task, next) {
		HASH_DEL(s->tasks, task);
		free(task);
	}
}
