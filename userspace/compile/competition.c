// SPDX-License-Identifier: GPL-2.0-only
/*
 * competition.c - do the tasks of a program compete for CPUs with each other?
 *
 * A task that waits for a CPU may wait for another task of the program, which is part of its behaviour, or for the recorder or
 * another program, which is not. A trace does not state for whom. It states for how long each task computed between two
 * operations, though not when. So the time is divided into slots, and the computed time is spread evenly over the slots between the two
 * operations. A wait is for tasks of the program as far as others of them have computed in the slots of the waiting task. Tasks that have no
 * operations, nor made tasks that have any, are not part of the program, and take no CPU from a replay.
 */
#include <errno.h>
#include <stdlib.h>

#include "competition.h"

#define SLOTS (1u << 18)

/**
 * struct profile - time that tasks have computed, by slot
 * @begin_ns: beginning of the trace
 * @slot_ns: length of a slot
 * @all_ns: by all tasks
 * @own_ns: by one task, while its waits are added up
 */
struct profile {
	u64 begin_ns;
	u64 slot_ns;
	double all_ns[SLOTS];
	double own_ns[SLOTS];
};

static u32 slot_at(const struct profile *profile, u64 ns)
{
	u64 slot = ns > profile->begin_ns ? (ns - profile->begin_ns) / profile->slot_ns : 0;

	return slot < SLOTS ? (u32)slot : SLOTS - 1;
}

/* The first slot of the think time before an operation; the last one has its entry. */
static u32 first_slot(const struct profile *profile, const struct graph_op *op)
{
	u64 think_ns = op->compute_ns + op->pause_ns;

	return slot_at(profile, op->enter_ns > think_ns ? op->enter_ns - think_ns : 0);
}

static void spread(const struct profile *profile, double *slots_ns, const struct graph_op *op)
{
	u32 first = first_slot(profile, op), last = slot_at(profile, op->enter_ns), i;

	for (i = first; i <= last && op->compute_ns; i++)
		slots_ns[i] += (double)op->compute_ns / (last - first + 1);
}

static void spread_task(const struct profile *profile, double *slots_ns, const struct graph_task *t)
{
	u32 i;

	for (i = 0; i < t->op_count; i++)
		spread(profile, slots_ns, &t->ops[i]);
}

static void clear_own(struct profile *profile, const struct graph_task *t)
{
	u32 i, slot;

	for (i = 0; i < t->op_count; i++)
		for (slot = first_slot(profile, &t->ops[i]); slot <= slot_at(profile, t->ops[i].enter_ns); slot++)
			profile->own_ns[slot] = 0;
}

static u64 own_wait_ns(const struct profile *profile, const struct graph_op *op)
{
	u32 last = slot_at(profile, op->enter_ns), i;
	double others_ns = 0;

	for (i = first_slot(profile, op); i <= last; i++)
		others_ns += profile->all_ns[i] - profile->own_ns[i];
	if (others_ns >= (double)op->cpu_wait_ns)
		return op->cpu_wait_ns;
	return others_ns > 0 ? (u64)others_ns : 0;
}

static bool is_played(const struct graph_task *t)
{
	return t->has_io || t->queue_of != GRAPH_NONE;
}

static u64 sum_waits(const struct graph_task *t)
{
	u64 sum_ns = 0;
	u32 i;

	for (i = 0; i < t->op_count; i++)
		sum_ns += t->ops[i].cpu_wait_ns;
	return sum_ns;
}

static u64 sum_oncpu(const struct graph_task *t)
{
	u64 sum_ns = 0;
	u32 i;

	for (i = 0; i < t->op_count; i++)
		sum_ns += t->ops[i].compute_ns + t->ops[i].oncpu_ns;
	return sum_ns;
}

static u64 sum_own_waits(struct profile *profile, const struct graph_task *t)
{
	u64 sum_ns = 0;
	u32 i;

	spread_task(profile, profile->own_ns, t);
	for (i = 0; i < t->op_count; i++)
		if (t->ops[i].cpu_wait_ns)
			sum_ns += own_wait_ns(profile, &t->ops[i]);
	clear_own(profile, t);
	return sum_ns;
}

/**
 * competition_sum() - how far tasks waited for CPUs that other tasks of the program had
 * @graph: with think times
 * @sum: out
 *
 * Return: 0 or -ENOMEM.
 */
int competition_sum(const struct graph *graph, struct competition *sum)
{
	struct profile *profile;
	u32 i;

	*sum = (struct competition){};
	for (i = 0; i < graph->task_count; i++) {
		sum->oncpu_ns += sum_oncpu(&graph->tasks[i]);
		sum->cpu_wait_ns += sum_waits(&graph->tasks[i]);
	}
	if (!sum->cpu_wait_ns)
		return 0;
	profile = calloc(1, sizeof(*profile));
	if (!profile)
		return -ENOMEM;
	profile->begin_ns = graph->begin_ns;
	profile->slot_ns = (graph->end_ns - graph->begin_ns) / SLOTS + 1;
	for (i = 0; i < graph->task_count; i++)
		if (is_played(&graph->tasks[i]))
			spread_task(profile, profile->all_ns, &graph->tasks[i]);
	for (i = 0; i < graph->task_count; i++)
		if (is_played(&graph->tasks[i]) && sum_waits(&graph->tasks[i]))
			sum->own_ns += sum_own_waits(profile, &graph->tasks[i]);
	free(profile);
	return 0;
}
