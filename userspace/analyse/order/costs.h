/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * costs.h - the cost of recording between two operations, as the recorder measured it.
 */
#ifndef IOTAPE_ORDER_COSTS_H
#define IOTAPE_ORDER_COSTS_H

#include "analyse/graph/graph.h"

/**
 * struct costs - of operations of each kind, in ns; 0 where nothing is known
 * @before: from the entry into the kernel, or from the walk to the file, to the beginning of the record
 * @after: from the end of the record to the return to the program
 */
struct costs {
	u32 before[IOT_KIND_END];
	u32 after[IOT_KIND_END];
};

void costs_read(struct costs *costs, const char *fact);
u32 costs_before_ns(const struct costs *costs, const struct graph_op *op);
u32 costs_after_ns(const struct costs *costs, const struct graph_op *op);

#endif
