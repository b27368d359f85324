/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * placement.h - the node that runs each task of a program.
 */
#ifndef IOTAPE_PLACEMENT_H
#define IOTAPE_PLACEMENT_H

#include "lib/iotape.h"

#define PLACEMENT_NODES_MAX 4096

enum placement_rule {
	PLACEMENT_AUTO,   /* as in the trace, if it has as many nodes; else in blocks */
	PLACEMENT_BLOCK,  /* ranks that follow each other share a node */
	PLACEMENT_CYCLIC, /* ranks that follow each other are on different nodes */
	PLACEMENT_TRACE,  /* as in the trace; its nodes in blocks, if there are more of them */
};

/**
 * struct placement - the result of a placement
 * @rule: not PLACEMENT_AUTO
 * @ranks: of the program
 * @tied: ranks that are not on the node of the rule, because they share state that cannot be on two
 *	nodes
 * @used: nodes that have a task
 */
struct placement {
	enum placement_rule rule;
	u32 ranks;
	u32 tied;
	u32 used;
};

int placement_compute(const struct iot_program *program, u32 nodes, enum placement_rule rule, u32 *node_of,
		struct placement *placement);
void placement_list_ranks(const struct iot_program *program, const u32 *node_of, u32 node, char *text,
		      size_t room);

#endif
