/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * competition.h - waits of tasks for CPUs that other tasks of the program had, see competition.c.
 */
#ifndef IOTAPE_COMPETITION_H
#define IOTAPE_COMPETITION_H

#include "analyse/graph/graph.h"

/**
 * struct competition - of all tasks of a trace
 * @oncpu_ns: time on CPUs, in operations and between them
 * @cpu_wait_ns: think time in which tasks waited for a CPU
 * @own_ns: of these waits, an estimate of the part in which other tasks of the trace computed
 */
struct competition {
	u64 oncpu_ns;
	u64 cpu_wait_ns;
	u64 own_ns;
};

int competition_sum(const struct graph *graph, struct competition *sum);

#endif
