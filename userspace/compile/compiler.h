/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compiler.h - parts of compile.c: from a graph to the sections of a program.
 */
#ifndef IOTAPE_COMPILER_H
#define IOTAPE_COMPILER_H

#include "compile.h"
#include "compile_slots.h"

/**
 * struct compiler - state of the compilation of a program
 * @analysis, @graph: of the trace; only read
 * @own: the same analysis if it is not needed afterwards, so that operations are freed as soon as they are
 *	written; otherwise NULL
 * @owners: processes that own locks; their number is never larger than that of tasks
 * @program_task: of each task of the graph, its number in the program, or GRAPH_NONE
 * @ranks: those of the graph, by process
 * @task: whose operations are put
 * @op: the one that is
 */
struct compiler {
	const struct compile_options *options;
	const struct analysis *analysis;
	const struct graph *graph;
	struct analysis *own;
	struct iot_builder *builder;
	struct slots *handles;
	struct slots *maps;
	struct slots *objects;
	struct slots *owners;
	u32 *program_task;
	struct graph_rank *ranks;
	struct compile_summary *summary;
	const struct graph_task *task;
	const struct graph_op *op;
};

int compiler_make_slots(struct compiler *c);
int compiler_put_op(struct compiler *c, u32 *first_wait);

#endif
