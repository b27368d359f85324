// SPDX-License-Identifier: GPL-2.0-only
/*
 * passes.c - the table of passes: what is found out about a graph, and in which order.
 */
#include "passes.h"

#include "analyse/mpi/mpi.h"
#include "analyse/order/order.h"

#define PASS(name) { graph_pass_##name, NULL }
#define TREE_PASS(name) { NULL, graph_pass_##name }

static const struct {
	int (*run)(struct graph *graph);
	int (*run_with_tree)(struct graph *graph, struct tree *tree);
} passes[] = {
	PASS(life),	   /* a task begins when it was made, a parent goes on when a child ended */
	PASS(queues),	   /* asynchronous requests */
	PASS(mpi),	   /* messages and collectives */
	PASS(wakes),	   /* which task woke which out of a wait */
	TREE_PASS(effects), /* what overlapped, and must keep an order by what it returned; file locks */
	PASS(starts),	   /* marks where operations start, if others are to start after that */
	PASS(resources),   /* names, files, handles, mappings: what must not change its order */
	PASS(fan_in),	   /* what many others wait for */
	PASS(prune),	   /* edges that follow from others go */
	PASS(lengths),	   /* how long edges are */
	PASS(think),	   /* time between operations, compute and pause */
};

/**
 * graph_passes_run() - run all passes
 * @graph: just loaded
 * @tree: what the operations found, gathered while it was loaded
 *
 * A new pass gets a row in the table, at the place where what it needs is in the graph.
 *
 * Return: 0 or a negative errno.
 */
int graph_passes_run(struct graph *graph, struct tree *tree)
{
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(passes) / sizeof(passes[0]) && !err; i++)
		err = passes[i].run ? passes[i].run(graph) : passes[i].run_with_tree(graph, tree);
	return err;
}
