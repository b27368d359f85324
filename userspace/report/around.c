// SPDX-License-Identifier: GPL-2.0-only
/*
 * around.c - selects the operations of the dependency view, and finds their predecessors and successors.
 *
 * Preselected are the longest waits, and the operations of the critical path that took longest. From these on, neighbours are
 * added until the limit is reached.
 */
#include "around.h"

#include <stdlib.h>
#include <string.h>

#include "around_edges.h"

/* An operation and the value by which it is preselected. */
struct ranked {
	u32 op;
	u64 ns;
};

/* The best of many, the least at the end: lists are short. */
struct best {
	struct ranked *list;
	u32 count;
	u32 max;
};

/**
 * struct selector - the selection of operations
 * @node_of: of each operation, 1 more than the index of its node, or 0
 * @links: room for all links of one side of an operation
 */
struct selector {
	struct around *around;
	struct around_edges *edges;
	u32 *node_of;
	u32 nodes_max;
	struct around_edge_list links;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static void best_add(struct best *best, u32 op, u64 ns)
{
	const struct ranked new = { op, ns };
	u32 i;

	if (!best->max || (best->count == best->max && compare_ranked(&new, &best->list[best->count - 1]) > 0))
		return;
	best->count += best->count < best->max;
	for (i = best->count - 1; i && compare_ranked(&new, &best->list[i - 1]) < 0; i--)
		best->list[i] = best->list[i - 1];
	best->list[i] = new;
}

/* -- nodes ---------------------------------------------------------------------------------------------- */

static struct around_node *node_add(struct selector *s, u32 op)
{
	struct around *around = s->around;
	struct around_node *node = &around->nodes[around->node_count];
	const struct around_edges *edges = s->edges;
	const struct graph_op *graph_op = around_edges_op(edges, op);

	if (s->node_of[op])
		return &around->nodes[s->node_of[op] - 1];
	node->task = around_edges_task(edges, op);
	node->index = op - edges->first[node->task];
	node->begin_ns = graph_op->enter_ns;
	if (graph_op->kind == IOT_PLAY_wait && edges->waits[op].begin_ns < graph_op->end_ns)
		node->begin_ns = edges->waits[op].begin_ns;
	node->duration_ns = graph_op->end_ns > node->begin_ns ? graph_op->end_ns - node->begin_ns : 0;
	node->waited_ns = edges->waits[op].end_ns - edges->waits[op].begin_ns;
	s->node_of[op] = ++around->node_count;
	return node;
}

static u32 count_missing(const struct selector *s, const struct around_edge_list *list)
{
	u32 i, missing = 0;

	for (i = 0; i < list->count && i < AROUND_LINKS_MAX; i++)
		missing += !s->node_of[list->edges[i].op];
	return missing;
}

static u32 put_links(struct selector *s, struct around_link *links, const struct around_edge_list *list)
{
	u32 i;

	for (i = 0; i < list->count && i < AROUND_LINKS_MAX; i++) {
		const struct around_edge *edge = &list->edges[i];

		node_add(s, edge->op);
		links[i] = (struct around_link){ s->node_of[edge->op] - 1, edge->cause, edge->waited_ns };
	}
	return i;
}

/* The predecessors and successors of a node, or neither of them. Return: 0 or -ENOMEM. */
static int node_open(struct selector *s, u32 index)
{
	struct around_node *node = &s->around->nodes[index];
	u32 op = s->edges->first[node->task] + node->index;
	int err;

	if (node->is_open)
		return 0;
	err = around_edges_before(s->edges, op, &s->links);
	if (err || s->around->node_count + count_missing(s, &s->links) + AROUND_LINKS_MAX > s->nodes_max)
		return err;
	node->before_all = s->links.count;
	node->before_count = put_links(s, node->before, &s->links);
	err = around_edges_after(s->edges, op, &s->links);
	if (err)
		return err;
	node->after_all = s->links.count;
	node->after_count = put_links(s, node->after, &s->links);
	node->is_open = true;
	s->around->open++;
	return 0;
}

/* -- the critical path ------------------------------------------------------------------------------------ */

static u32 last_op(const struct around_edges *edges)
{
	u32 op, last = 0;

	for (op = 1; op < edges->count; op++)
		if (around_edges_op(edges, op)->end_ns > around_edges_op(edges, last)->end_ns)
			last = op;
	return last;
}

/* Time from the end of @before to the end of @op. */
static u64 path_step(struct around *around, const struct around_edges *edges, u32 op, u32 before, bool is_crossed)
{
	const struct graph_op *here = around_edges_op(edges, op);
	u64 from_ns = before == AROUND_NONE ? here->enter_ns : around_edges_op(edges, before)->end_ns;
	u64 all_ns = here->end_ns > from_ns ? here->end_ns - from_ns : 0;
	u64 gap_ns = here->enter_ns > from_ns ? here->enter_ns - from_ns : 0;

	if (here->kind == IOT_KIND_complete) /* the time of the request */
		gap_ns = 0;
	if (gap_ns > all_ns)
		gap_ns = all_ns;
	if (is_crossed)
		around->path_cross_ns += gap_ns;
	else
		around->path_gap_ns += gap_ns;
	around->path_op_ns += all_ns - gap_ns;
	return all_ns;
}

/*
 * Back from the operation that ended last: to the operation that it waited for longest, else to the one before it in its task.
 * A graph with a cycle is no program, but the path ends there, too.
 */
static void walk_path(struct selector *s, struct best *best, u64 *path_ns)
{
	const struct around_edges *edges = s->edges;
	struct around *around = s->around;
	u32 op, before;
	bool is_crossed;

	for (op = last_op(edges); op != AROUND_NONE && !path_ns[op]; op = before) {
		before = around_edges_binding(edges, op, &is_crossed);
		around->path_operations++;
		around->path_changes += is_crossed;
		path_ns[op] = path_step(around, edges, op, before, is_crossed) + 1;
		best_add(best, op, path_ns[op]);
	}
}

/* -- selection -------------------------------------------------------------------------------------------- */

static void find_waits(struct selector *s, struct best *best)
{
	u32 op;

	for (op = 0; op < s->edges->count; op++) {
		u64 ns = s->edges->waits[op].end_ns - s->edges->waits[op].begin_ns;

		s->around->waiting += ns != 0;
		if (ns)
			best_add(best, op, ns);
	}
}

static int compare_end(const void *a, const void *b, void *context)
{
	const struct around_node *nodes = context;
	const struct around_node *x = &nodes[*(const u32 *)a], *y = &nodes[*(const u32 *)b];
	u64 x_ns = x->begin_ns + x->duration_ns, y_ns = y->begin_ns + y->duration_ns;

	if (x_ns != y_ns)
		return x_ns < y_ns ? -1 : 1;
	return x->task != y->task ? (x->task < y->task ? -1 : 1) : (x->index > y->index) - (x->index < y->index);
}

/* Both lists share the room, so that each has its first ones. */
static int add_preselected(struct selector *s, const struct best *waits, const struct best *path)
{
	struct around *around = s->around;
	u32 i;
	int err = 0;

	for (i = 0; (i < waits->count || i < path->count) && !err; i++) {
		if (i < waits->count && around->node_count < s->nodes_max) {
			node_add(s, waits->list[i].op);
			around->waits[around->wait_count++] = s->node_of[waits->list[i].op] - 1;
			err = node_open(s, s->node_of[waits->list[i].op] - 1);
		}
		if (i < path->count && around->node_count < s->nodes_max && !err) {
			node_add(s, path->list[i].op);
			around->path[around->path_count++] = s->node_of[path->list[i].op] - 1;
			err = node_open(s, s->node_of[path->list[i].op] - 1);
		}
	}
	qsort_r(around->path, around->path_count, sizeof(*around->path), compare_end, around->nodes);
	return err;
}

/* Neighbours of neighbours, and then, in a small graph, all the rest. */
static int add_neighbours(struct selector *s)
{
	struct around *around = s->around;
	u32 i = 0, op = 0;
	int err = 0;

	while (!err) {
		for (; i < around->node_count && !err; i++)
			err = node_open(s, i);
		while (op < s->edges->count && s->node_of[op])
			op++;
		if (err || op == s->edges->count || around->node_count + 2 * AROUND_LINKS_MAX >= s->nodes_max)
			break;
		node_add(s, op);
	}
	return err;
}

static int select_all(struct selector *s)
{
	struct ranked wait_list[AROUND_WAITS_MAX], path_list[AROUND_PATH_MAX];
	struct best waits = { wait_list, 0, AROUND_WAITS_MAX }, path = { path_list, 0, AROUND_PATH_MAX };
	u64 *path_ns = calloc(s->edges->count, sizeof(*path_ns));
	int err;
	u32 i;

	if (!path_ns)
		return -ENOMEM;
	find_waits(s, &waits);
	walk_path(s, &path, path_ns);
	err = add_preselected(s, &waits, &path);
	if (!err)
		err = add_neighbours(s);
	for (i = 0; i < s->around->node_count; i++) {
		struct around_node *node = &s->around->nodes[i];
		u64 ns = path_ns[s->edges->first[node->task] + node->index];

		node->is_path = ns;
		node->path_ns = ns ? ns - 1 : 0;
	}
	free(path_ns);
	return err;
}

/**
 * around_make() - the dependency view of a trace
 * @around: filled in; to be freed by around_free(), also after an error
 * @graph: after all passes; must live as long as @around
 * @nodes_max: operations to keep at most, from 4 * AROUND_LINKS_MAX to AROUND_NODES_MAX
 *
 * Return: 0 or -ENOMEM.
 */
int around_make(struct around *around, const struct graph *graph, u32 nodes_max)
{
	struct around_edges edges = {};
	struct selector s = { .around = around, .edges = &edges, .nodes_max = nodes_max };
	int err = around_edges_open(&edges, graph);

	*around = (struct around){ .graph = graph, .operations = edges.count };
	if (!err && edges.count) {
		around->nodes = calloc(nodes_max, sizeof(*around->nodes));
		s.node_of = calloc(edges.count, sizeof(*s.node_of));
		err = around->nodes && s.node_of ? select_all(&s) : -ENOMEM;
	}
	free(s.node_of);
	free(s.links.edges);
	around_edges_close(&edges);
	return err;
}

/**
 * around_free() - free the result of around_make()
 */
void around_free(struct around *around)
{
	free(around->nodes);
}
