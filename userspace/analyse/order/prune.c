// SPDX-License-Identifier: GPL-2.0-only
/*
 * prune.c - removes edges that follow from others.
 *
 * Operations are visited in an order that the edges allow. Each task has a vector clock: for every
 * other task, the last operation that this one has waited for, directly or through others. An edge
 * from an operation that the clock has passed is redundant. After a wait the clock merges the other
 * task's clock at that operation. The waits of one operation are visited from the latest to the
 * earliest, so the remaining edges are the smallest equivalent set.
 *
 * A clock has a number for each task. A task has one from its first wait to its end, and one more
 * for each moment that a later wait still needs. Beyond CLOCK_BYTES_MAX no more are kept: then
 * redundant edges stay, which only costs time at replay.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/graph/causal.h"
#include "analyse/graph/spill.h"
#include "order_passes.h"

#define CLOCK_BYTES_MAX (512ull << 20)

/* The clock of a task from one of its operations to another, the last one excluded. */
struct snapshot {
	u32 first;
	u32 end;
	u32 edges; /* from these operations that have not been examined yet */
	u32 *clock;
};

/**
 * struct pruned_task - the waits of a task
 * @clock: of each task, operations that it knows to have ended; NULL: none
 * @since: since which of its operations
 * @edges: of each operation, edges from it that have not been examined yet; a part of those of all tasks
 * @snapshots: earlier values of @clock that later waits still need
 * @freed: of them, those without a clock
 */
struct pruned_task {
	u32 *clock;
	u32 *edges;
	struct snapshot *snapshots;
	u32 since;
	u32 count;
	u32 room;
	u32 freed;
};

struct pruned_latch {
	u32 *clock; /* operations that those before the latch had waited for */
	u32 edges;
};

/* An edge that waits for its examination. */
struct candidate {
	u32 edge;
	u64 enter_ns;
};

struct pruner {
	struct graph *graph;
	struct pruned_task *tasks;
	struct pruned_latch *latches;
	struct candidate *candidates;
	u32 candidate_room;
	u64 clock_bytes;
	u32 *edges; /* of all tasks */
	size_t edges_bytes;
};

/* -- clocks ------------------------------------------------------------------------------------ */

static size_t clock_size(const struct pruner *p)
{
	return p->graph->task_count * sizeof(u32);
}

/* Return: a clock of zeros; NULL if there is no room for more. */
static u32 *clock_make(struct pruner *p)
{
	u32 *clock;

	if (p->clock_bytes + clock_size(p) > CLOCK_BYTES_MAX)
		return NULL;
	clock = calloc(1, clock_size(p));
	if (clock)
		p->clock_bytes += clock_size(p);
	return clock;
}

static void clock_free(struct pruner *p, u32 **clock)
{
	if (!*clock)
		return;
	free(*clock);
	*clock = NULL;
	p->clock_bytes -= clock_size(p);
}

static void merge(const struct pruner *p, u32 *clock, const u32 *other)
{
	u32 i;

	for (i = 0; i < p->graph->task_count; i++)
		clock[i] = other[i] > clock[i] ? other[i] : clock[i];
}

/* -- clocks of former times ------------------------------------------------------------------------ */

static struct snapshot *snapshot_at(struct pruned_task *t, u32 index)
{
	u32 low = 0, high = t->count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (t->snapshots[middle].first <= index)
			low = middle + 1;
		else
			high = middle;
	}
	return low && index < t->snapshots[low - 1].end ? &t->snapshots[low - 1] : NULL;
}

/* Return: room for one more, or NULL. */
static struct snapshot *snapshot_add(struct pruned_task *t)
{
	u32 i, kept = 0;

	if (t->count == t->room && 2 * t->freed >= t->count) {
		for (i = 0; i < t->count; i++)
			if (t->snapshots[i].clock)
				t->snapshots[kept++] = t->snapshots[i];
		t->count = kept;
		t->freed = 0;
	}
	if (t->count == t->room) {
		u32 room = t->room ? 2 * t->room : 16;
		struct snapshot *snapshots = reallocarray(t->snapshots, room, sizeof(*snapshots));

		if (!snapshots)
			return NULL;
		t->snapshots = snapshots;
		t->room = room;
	}
	return &t->snapshots[t->count];
}

/* Retain the clock before a change if it will be needed. */
static int keep(struct pruner *p, struct pruned_task *t, u32 index, bool is_last)
{
	struct snapshot *snapshot;
	u32 edges = 0, i;

	for (i = t->since; t->clock && i < index; i++)
		edges += t->edges[i];
	if (edges) {
		snapshot = snapshot_add(t);
		if (!snapshot)
			return -ENOMEM;
		*snapshot = (struct snapshot){ t->since, index, edges, t->clock };
		if (!is_last) {
			snapshot->clock = clock_make(p);
			if (snapshot->clock)
				memcpy(snapshot->clock, t->clock, clock_size(p));
		}
		t->count += snapshot->clock != NULL;
		if (is_last)
			t->clock = NULL;
	}
	t->since = index;
	return 0;
}

/* An edge has been examined; the last edge of a clock frees it. */
static void asked(struct pruner *p, struct pruned_task *t, u32 index)
{
	struct snapshot *snapshot = index < t->since ? snapshot_at(t, index) : NULL;

	t->edges[index]--;
	if (snapshot && snapshot->clock && !--snapshot->edges) {
		clock_free(p, &snapshot->clock);
		t->freed++;
	}
}

/* The clock of a task at an operation; NULL if it had not waited, or if it is unknown. */
static const u32 *clock_at(struct pruned_task *t, u32 index)
{
	const struct snapshot *snapshot;

	if (index >= t->since)
		return t->clock;
	snapshot = snapshot_at(t, index);
	return snapshot ? snapshot->clock : NULL;
}

/* -- edges ------------------------------------------------------------------------------------------- */

/* Does the task know already? If not, it does from now on. */
static bool is_implied(struct pruner *p, u32 task, const struct graph_edge *edge)
{
	struct pruned_task *t = &p->tasks[task];
	const u32 *other;

	if (edge->task == task)
		return true;
	if (t->clock && t->clock[edge->task] > edge->index)
		return true;
	if (!t->clock)
		t->clock = clock_make(p);
	if (!t->clock)
		return false;
	other = clock_at(&p->tasks[edge->task], edge->index);
	if (other)
		merge(p, t->clock, other);
	t->clock[edge->task] = edge->index + 1;
	return false;
}

static void ask_latch(struct pruner *p, u32 latch)
{
	if (!--p->latches[latch].edges)
		clock_free(p, &p->latches[latch].clock);
}

static void wait_for_latch(struct pruner *p, u32 task, u32 latch)
{
	struct pruned_task *t = &p->tasks[task];

	if (!t->clock)
		t->clock = clock_make(p);
	if (t->clock && p->latches[latch].clock)
		merge(p, t->clock, p->latches[latch].clock);
	ask_latch(p, latch);
}

static bool has_latch(const struct graph *graph, const struct graph_op *op)
{
	u32 e;

	for (e = op->edges; e != GRAPH_NONE; e = graph->edges[e].next)
		if (graph->edges[e].task == GRAPH_NONE)
			return true;
	return false;
}

/* The clock of a task after all edges of an operation except those from latches. */
static u32 *clock_without_latches(struct pruner *p, u32 task, u32 index)
{
	const struct graph *graph = p->graph;
	const struct graph_op *op = &graph->tasks[task].ops[index];
	u32 *clock = clock_make(p), e;

	if (clock && p->tasks[task].clock)
		merge(p, clock, p->tasks[task].clock);
	if (clock)
		clock[task] = index;
	for (e = op->edges; clock && e != GRAPH_NONE; e = graph->edges[e].next) {
		const struct graph_edge *edge = &graph->edges[e];
		const u32 *other;

		if (edge->task == GRAPH_NONE)
			continue;
		other = clock_at(&p->tasks[edge->task], edge->index);
		if (other)
			merge(p, clock, other);
		if (clock[edge->task] <= edge->index)
			clock[edge->task] = edge->index + 1;
	}
	return clock;
}

static bool knows(const struct pruner *p, const u32 *clock, const u32 *other)
{
	u32 i;

	for (i = 0; i < p->graph->task_count; i++)
		if (other[i] > clock[i])
			return false;
	return true;
}

/*
 * Edges from latches that say nothing new beside the others go; but not those of MPI calls, which are where a task
 * waits, whatever it knows.
 */
static void drop_latches(struct pruner *p, u32 task, u32 index)
{
	struct graph *graph = p->graph;
	struct graph_op *op = &graph->tasks[task].ops[index];
	u32 *clock, *link = &op->edges;

	if (op->kind == IOT_PLAY_wait || !has_latch(graph, op))
		return;
	clock = clock_without_latches(p, task, index);
	while (clock && *link != GRAPH_NONE) {
		struct graph_edge *edge = &graph->edges[*link];
		const u32 *other = edge->task == GRAPH_NONE ? p->latches[edge->index].clock : NULL;

		if (!other || !knows(p, clock, other)) {
			link = &edge->next;
			continue;
		}
		graph->pruned_by_cause[edge->cause]++;
		*link = edge->next;
		ask_latch(p, edge->index);
	}
	clock_free(p, &clock);
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->enter_ns != y->enter_ns)
		return x->enter_ns > y->enter_ns ? -1 : 1;
	return x->edge > y->edge ? -1 : x->edge < y->edge;
}

/* Latches first, then the latest. Return: their number, or -ENOMEM. */
static s64 gather(struct pruner *p, const struct graph_op *op)
{
	const struct graph *graph = p->graph;
	u32 count = 0, e;

	for (e = op->edges; e != GRAPH_NONE; e = graph->edges[e].next) {
		const struct graph_edge *edge = &graph->edges[e];

		if (count == p->candidate_room) {
			u32 room = count ? 2 * count : 64;
			struct candidate *more =
				reallocarray(p->candidates, room, sizeof(*more));

			if (!more)
				return -ENOMEM;
			p->candidates = more;
			p->candidate_room = room;
		}
		p->candidates[count].edge = e;
		p->candidates[count++].enter_ns =
			edge->task == GRAPH_NONE ?
				(u64)-1 : graph->tasks[edge->task].ops[edge->index].enter_ns;
	}
	if (count > 1)
		qsort(p->candidates, count, sizeof(*p->candidates), compare_candidates);
	return count;
}

/* The edges of one operation: those that say something new stay. */
static int prune_edges(struct pruner *p, u32 task, u32 index)
{
	struct graph_op *op = &p->graph->tasks[task].ops[index];
	s64 count, i;
	int err;

	drop_latches(p, task, index);
	count = gather(p, op);
	err = count < 0 ? (int)count : keep(p, &p->tasks[task], index, false);
	op->edges = err ? op->edges : GRAPH_NONE;
	for (i = 0; i < count && !err; i++) {
		struct graph_edge *edge = &p->graph->edges[p->candidates[i].edge];
		bool is_latch = edge->task == GRAPH_NONE, is_old = false;

		if (is_latch) {
			wait_for_latch(p, task, edge->index);
		} else {
			is_old = is_implied(p, task, edge);
			asked(p, &p->tasks[edge->task], edge->index);
		}
		if (is_old) {
			p->graph->pruned_by_cause[edge->cause]++;
			continue;
		}
		edge->next = op->edges;
		op->edges = p->candidates[i].edge;
	}
	return err;
}

/* A signal of a latch passes on the clock of its task, including its own operations so far. */
static void signal_latch(struct pruner *p, u32 task, u32 index)
{
	const struct graph_op *op = &p->graph->tasks[task].ops[index];
	struct pruned_latch *latch;

	if (op->kind != IOT_PLAY_signal || !op->handle)
		return;
	latch = &p->latches[op->handle - 1];
	if (!latch->clock && latch->edges)
		latch->clock = clock_make(p);
	if (!latch->clock)
		return;
	if (p->tasks[task].clock)
		merge(p, latch->clock, p->tasks[task].clock);
	if (latch->clock[task] < index + 1)
		latch->clock[task] = index + 1;
}

static int visit(void *context, u32 task, u32 index)
{
	struct pruner *p = context;
	const struct graph_task *t = &p->graph->tasks[task];
	int err = t->ops[index].edges == GRAPH_NONE ? 0 : prune_edges(p, task, index);

	if (err)
		return err;
	signal_latch(p, task, index);
	if (index + 1 < t->op_count)
		return 0;
	err = keep(p, &p->tasks[task], index + 1, true);
	clock_free(p, &p->tasks[task].clock);
	return err;
}

/* -- the pass ----------------------------------------------------------------------------------------- */

/* The number of future queries of each operation and latch. */
static void count_edges(struct pruner *p)
{
	const struct graph *graph = p->graph;
	u32 i, j, e;

	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++)
			for (e = graph->tasks[i].ops[j].edges; e != GRAPH_NONE;
			     e = graph->edges[e].next) {
				const struct graph_edge *edge = &graph->edges[e];

				if (edge->task == GRAPH_NONE)
					p->latches[edge->index].edges++;
				else
					p->tasks[edge->task].edges[edge->index]++;
			}
}

static int allocate(struct pruner *p)
{
	u32 tasks = p->graph->task_count, *edges, i;

	p->tasks = calloc(tasks + 1, sizeof(*p->tasks));
	p->latches = calloc(p->graph->latch_count + 1ull, sizeof(*p->latches));
	p->edges_bytes = sizeof(u32);
	for (i = 0; i < tasks; i++)
		p->edges_bytes += p->graph->tasks[i].op_count * sizeof(u32);
	p->edges = spill_resize(p->graph->spill, NULL, 0, p->edges_bytes);
	if (!p->tasks || !p->latches || !p->edges)
		return -ENOMEM;
	memset(p->edges, 0, p->edges_bytes);
	for (edges = p->edges, i = 0; i < tasks; edges += p->graph->tasks[i++].op_count)
		p->tasks[i].edges = edges;
	return 0;
}

static void release(struct pruner *p)
{
	u32 i, j;

	for (i = 0; p->tasks && i < p->graph->task_count; i++) {
		for (j = 0; j < p->tasks[i].count; j++)
			free(p->tasks[i].snapshots[j].clock);
		free(p->tasks[i].snapshots);
		free(p->tasks[i].clock);
	}
	for (i = 0; p->latches && i < p->graph->latch_count; i++)
		free(p->latches[i].clock);
	spill_free(p->graph->spill, p->edges, p->edges_bytes);
	free(p->tasks);
	free(p->latches);
	free(p->candidates);
}

/**
 * graph_pass_prune() - remove edges that follow from others
 * @graph: with all edges
 *
 * Return: 0 or -ENOMEM. If the edges form a circle, those in it stay; the verifier of the
 * program reports it.
 */
int graph_pass_prune(struct graph *graph)
{
	struct pruner p = { .graph = graph };
	int err = allocate(&p);

	if (!err) {
		count_edges(&p);
		err = causal_traverse(graph, visit, &p);
	}
	release(&p);
	return err;
}
