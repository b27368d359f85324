/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * place.h - on which node a task of a program is run.
 */
#ifndef IOTAPE_PLACE_H
#define IOTAPE_PLACE_H

#include "lib/iotape.h"

#define PLACE_NODES_MAX 4096

enum place_rule {
	PLACE_AUTO,   /* as in the trace, if it has as many nodes; else in blocks */
	PLACE_BLOCK,  /* ranks that follow each other share a node */
	PLACE_CYCLIC, /* ranks that follow each other are on different nodes */
	PLACE_TRACE,  /* as in the trace; its nodes in blocks, if there are more of them */
};

/**
 * struct placement - what became of it
 * @rule: not PLACE_AUTO
 * @ranks: of the program
 * @tied: ranks that are on another node than the rule says, because they share something that cannot
 *	be on two
 * @used: nodes that have a task
 */
struct placement {
	enum place_rule rule;
	u32 ranks;
	u32 tied;
	u32 used;
};

int place_tasks(const struct iot_program *program, u32 nodes, enum place_rule rule, u32 *node_of,
		struct placement *place);
void place_list_ranks(const struct iot_program *program, const u32 *node_of, u32 node, char *text,
		      size_t room);

#endif
