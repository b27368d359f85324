// SPDX-License-Identifier: GPL-2.0-only
/*
 * prune.c - edges that follow from others go.
 *
 * Operations are walked in an order that the edges allow. Of each task it is known, for
 * every other task, up to which of its operations this one has waited for, directly or
 * through others: its clock. An edge from an operation that the clock has passed says
 * nothing new. After a wait the clock takes in what the other task's clock was at that
 * operation; it is kept wherever it changed.
 *
 * Memory is (tasks) numbers for each edge that stays. Beyond CLOCK_BYTES_MAX no more
 * clocks are kept: then edges stay that could have gone, which costs time at replay, and
 * nothing else.
 */
#include <stdlib.h>

#include "graph.h"

#define CLOCK_BYTES_MAX (256ull << 20)

/* The clock of a task as of one of its operations. */
struct snapshot {
	u32 index;
	u32 *clock;
};

struct pruned_task {
	u32 *clock; /* operations of each task that have ended, as far as is known here */
	struct snapshot *snapshots;
	u32 snapshot_count;
	u32 snapshot_room;
	u32 next; /* operation to be looked at next */
	bool is_queued;
};

struct pruner {
	struct graph *graph;
	struct pruned_task *tasks;
	u32 *hub_clocks; /* of each hub, what all have waited for that arrived */
	u32 *hub_left;
	u64 clock_bytes;
};

static size_t clock_size(const struct pruner *p)
{
	return p->graph->task_count * sizeof(u32);
}

static bool merge(const struct pruner *p, u32 *clock, const u32 *other)
{
	bool has_changed = false;
	u32 i;

	for (i = 0; i < p->graph->task_count; i++) {
		if (other[i] <= clock[i])
			continue;
		clock[i] = other[i];
		has_changed = true;
	}
	return has_changed;
}

static int keep_snapshot(struct pruner *p, struct pruned_task *t, u32 index)
{
	struct snapshot *snapshot;

	if (p->clock_bytes + clock_size(p) > CLOCK_BYTES_MAX)
		return 0;
	if (t->snapshot_count == t->snapshot_room) {
		u32 room = t->snapshot_room ? 2 * t->snapshot_room : 16;
		struct snapshot *snapshots = reallocarray(t->snapshots, room, sizeof(*snapshots));

		if (!snapshots)
			return -ENOMEM;
		t->snapshots = snapshots;
		t->snapshot_room = room;
	}
	snapshot = &t->snapshots[t->snapshot_count];
	snapshot->index = index;
	snapshot->clock = malloc(clock_size(p));
	if (!snapshot->clock)
		return -ENOMEM;
	memcpy(snapshot->clock, t->clock, clock_size(p));
	t->snapshot_count++;
	p->clock_bytes += clock_size(p);
	return 0;
}

/* What a task had waited for when it performed an operation; NULL if nothing. */
static const u32 *clock_at(const struct pruned_task *t, u32 index)
{
	u32 low = 0, high = t->snapshot_count;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (t->snapshots[middle].index <= index)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? t->snapshots[low - 1].clock : NULL;
}

static bool holds(const struct pruner *p, const struct graph_edge *edge)
{
	if (edge->task == GRAPH_NONE)
		return p->hub_left[edge->index] == 0;
	return p->tasks[edge->task].next > edge->index;
}

static bool is_blocked(const struct pruner *p, const struct graph_op *op)
{
	u32 e;

	for (e = op->edges; e != GRAPH_NONE; e = p->graph->edges[e].next)
		if (!holds(p, &p->graph->edges[e]))
			return true;
	return false;
}

/* The edges of one operation: those that say something new stay. */
static int prune_op(struct pruner *p, u32 task, u32 index)
{
	struct graph_op *op = &p->graph->tasks[task].ops[index];
	struct pruned_task *t = &p->tasks[task];
	u32 *link = &op->edges;
	bool has_changed = false;

	while (*link != GRAPH_NONE) {
		struct graph_edge *edge = &p->graph->edges[*link];
		const u32 *other;

		if (edge->task == GRAPH_NONE) {
			has_changed |= merge(p, t->clock,
					     &p->hub_clocks[(size_t)edge->index * p->graph->task_count]);
			link = &edge->next;
			continue;
		}
		if (edge->task == task || t->clock[edge->task] > edge->index) {
			p->graph->pruned_by_cause[edge->cause]++;
			*link = edge->next;
			continue;
		}
		other = clock_at(&p->tasks[edge->task], edge->index);
		if (other)
			merge(p, t->clock, other);
		t->clock[edge->task] = edge->index + 1;
		has_changed = true;
		link = &edge->next;
	}
	return has_changed ? keep_snapshot(p, t, index) : 0;
}

/* Who arrives at a hub brings along what it has waited for, and its own operations so far. */
static void arrive(struct pruner *p, u32 task, const struct graph_op *op)
{
	u32 *clock;

	if (op->kind != IOT_PLAY_arrive || !op->handle)
		return;
	clock = &p->hub_clocks[(op->handle - 1) * p->graph->task_count];
	merge(p, clock, p->tasks[task].clock);
	if (clock[task] < p->tasks[task].next + 1)
		clock[task] = p->tasks[task].next + 1;
	p->hub_left[op->handle - 1]--;
}

/* As far as the task gets before it must wait for one that comes later in the walk. */
static int prune_task(struct pruner *p, u32 task, bool *has_moved)
{
	struct graph_task *t = &p->graph->tasks[task];
	struct pruned_task *state = &p->tasks[task];
	int err = 0;

	while (state->next < t->op_count && !is_blocked(p, &t->ops[state->next]) && !err) {
		err = prune_op(p, task, state->next);
		arrive(p, task, &t->ops[state->next]);
		state->next++;
		*has_moved = true;
	}
	return err;
}

static int prune_all(struct pruner *p)
{
	bool has_moved = true;
	u32 i;
	int err = 0;

	while (has_moved && !err) {
		has_moved = false;
		for (i = 0; i < p->graph->task_count && !err; i++)
			err = prune_task(p, i, &has_moved);
	}
	return err;
}

static int allocate(struct pruner *p)
{
	u32 tasks = p->graph->task_count, hubs = p->graph->hub_count, i;

	p->tasks = calloc(tasks + 1, sizeof(*p->tasks));
	p->hub_clocks = calloc((size_t)hubs * tasks + 1, sizeof(*p->hub_clocks));
	p->hub_left = calloc(hubs + 1, sizeof(*p->hub_left));
	if (!p->tasks || !p->hub_clocks || !p->hub_left)
		return -ENOMEM;
	for (i = 0; i < hubs; i++)
		p->hub_left[i] = p->graph->hubs[i];
	for (i = 0; i < tasks; i++) {
		p->tasks[i].clock = calloc(tasks, sizeof(u32));
		if (!p->tasks[i].clock)
			return -ENOMEM;
	}
	return 0;
}

static void release(struct pruner *p)
{
	u32 i, j;

	for (i = 0; p->tasks && i < p->graph->task_count; i++) {
		for (j = 0; j < p->tasks[i].snapshot_count; j++)
			free(p->tasks[i].snapshots[j].clock);
		free(p->tasks[i].snapshots);
		free(p->tasks[i].clock);
	}
	free(p->tasks);
	free(p->hub_clocks);
	free(p->hub_left);
}

/**
 * graph_pass_prune() - remove edges that follow from others
 * @graph: with all edges
 *
 * Return: 0 or -ENOMEM. If the edges form a circle, those in it stay; who verifies the
 * program says where it is.
 */
int graph_pass_prune(struct graph *graph)
{
	struct pruner p = { .graph = graph };
	int err = allocate(&p);

	if (!err)
		err = prune_all(&p);
	release(&p);
	return err;
}
