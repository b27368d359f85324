// SPDX-License-Identifier: GPL-2.0-only
/*
 * compute.c - how long tasks compute between their operations, by both approaches of //TRACE (section 3.2).
 *
 * Approach 1: after a delay, nothing that the task could wait for is left to do, so the time until its next operation is
 * compute time, also if the task sleeps. Approach 2: the time on a CPU between the same operations of the run without
 * delays. If approach 1 shows more, the task sleeps without a reason that others could delay, such as a timer; if
 * approach 2 does, it spins while it waits.
 */
#include "state.h"

static u64 after(u64 ns, u64 since_ns)
{
	return ns > since_ns ? ns - since_ns : 0;
}

static void add_delay(const struct discovery *discovery, const struct run *run, const struct delay *delay,
		      struct discovery_compute *compute)
{
	const struct run_task *task = &run->tasks[delay->task], *twin = &discovery->base.tasks[task->twin];
	u32 before = run_place_until(task, delay->op), next = before + 1;

	if (before == RUN_NONE || next == task->count || next >= twin->count)
		return;
	compute->gaps++;
	compute->delayed_ns += after(task->places[next].enter_ns, delay->end_ns);
	compute->cpu_ns += after(twin->places[next].runtime_ns, twin->places[before].runtime_ns + twin->places[before].oncpu_ns);
}

/**
 * discovery_compute() - the compute time of a thread after its delays, by both approaches
 * @discovery: with all runs
 * @number: of the thread
 * @compute: out
 */
void discovery_compute(const struct discovery *discovery, u32 number, struct discovery_compute *compute)
{
	u32 i, j;

	*compute = (struct discovery_compute){};
	for (i = 0; i < discovery->count; i++) {
		const struct run *run = &discovery->runs[i];

		for (j = 0; j < run->delay_count; j++) {
			u32 task = run->delays[j].task;

			if (task != RUN_NONE && run->tasks[task].twin != RUN_NONE &&
			    discovery->threads[run->tasks[task].twin] == number)
				add_delay(discovery, run, &run->delays[j], compute);
		}
	}
}
