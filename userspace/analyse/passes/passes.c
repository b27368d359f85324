// SPDX-License-Identifier: GPL-2.0-only
/*
 * passes.c - runs passes in the order of their table.
 */
#include "passes.h"

#include "analyse/mpi/mpi.h"
#include "analyse/order/order_passes.h"

static const u32 needs[] = {
#define GRAPH_PASS_NEEDS(name, needed, sentence) needed,
	GRAPH_PASSES(GRAPH_PASS_NEEDS)
#undef GRAPH_PASS_NEEDS
};

/**
 * graph_passes_needed() - passes, and all passes that they need, directly or through others
 * @passes: bits of enum graph_pass
 *
 * Return: bits of enum graph_pass.
 */
u32 graph_passes_needed(u32 passes)
{
	u32 i;

	for (i = PASS_COUNT; i-- > 0;) /* a pass needs only passes above it in the table */
		if (passes & (1u << i))
			passes |= needs[i];
	return passes;
}

static int run(struct graph *graph, struct tree *tree, enum graph_pass pass)
{
	switch (pass) {
	case PASS_life:
		return graph_pass_life(graph);
	case PASS_queues:
		return graph_pass_queues(graph);
	case PASS_mpi:
		return graph_pass_mpi(graph);
	case PASS_wakes:
		return graph_pass_wakes(graph);
	case PASS_linear:
		return graph_pass_linear(graph, tree);
	case PASS_starts:
		return graph_pass_starts(graph);
	case PASS_rules:
		return graph_pass_rules(graph);
	case PASS_fan_in:
		return graph_pass_fan_in(graph);
	case PASS_prune:
		return graph_pass_prune(graph);
	case PASS_lengths:
		return graph_pass_lengths(graph);
	case PASS_think:
		return graph_pass_think(graph);
	case PASS_COUNT:
		break;
	}
	return -EINVAL;
}

/**
 * graph_passes_run() - run passes, in the order of the table
 * @graph: all other passes that these need have run
 * @tree: gathered while the graph was loaded
 * @passes: bits of enum graph_pass
 *
 * Return: 0 or a negative errno.
 */
int graph_passes_run(struct graph *graph, struct tree *tree, u32 passes)
{
	u32 i;
	int err = 0;

	for (i = 0; i < PASS_COUNT && !err; i++)
		if (passes & (1u << i))
			err = run(graph, tree, (enum graph_pass)i);
	return err;
}
