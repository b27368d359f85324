// SPDX-License-Identifier: GPL-2.0-only
/*
 * costs.c - reads the costs of recording from the fact that states them.
 *
 * A trace without the fact, such as one of strace, has no known costs. An operation through a handle walks no path:
 * it costs as much as a seek, the cheapest operation through a handle.
 */
#include "costs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COST_MAX_NS 1000000 /* larger values are due to other load, not to the recorder */

/**
 * costs_read() - costs by kind of operation
 * @costs: filled in
 * @fact: value of IOT_FACT_COSTS: KIND:BEFORE:AFTER ...; invalid entries are ignored
 */
void costs_read(struct costs *costs, const char *fact)
{
	unsigned int before_ns, after_ns;
	char name[32];
	int length;

	memset(costs, 0, sizeof(*costs));
	while (sscanf(fact, " %31[a-z_]:%7u:%7u%n", name, &before_ns, &after_ns, &length) == 3) {
		const struct iot_kind_info *info = iot_kind_by_name(name);

		fact += length;
		if (!info || before_ns > COST_MAX_NS || after_ns > COST_MAX_NS)
			continue;
		costs->before[info->kind] = before_ns;
		costs->after[info->kind] = after_ns;
	}
}

/* The kind of operation that costs as much. */
static u16 kind_of(const struct graph_op *op)
{
	if (op->kind >= IOT_KIND_END)
		return 0;
	return op->handle && !op->path && op->kind < IOT_KIND_flush ? IOT_KIND_seek : op->kind;
}

/**
 * costs_before_ns() - time between the program and the record of its operation
 * @costs: of the trace
 * @op: any operation of a graph
 */
u32 costs_before_ns(const struct costs *costs, const struct graph_op *op)
{
	return costs->before[kind_of(op)];
}

/**
 * costs_after_ns() - time between the record of an operation and the program
 * @costs: of the trace
 * @op: any operation of a graph
 */
u32 costs_after_ns(const struct costs *costs, const struct graph_op *op)
{
	return costs->after[kind_of(op)];
}
