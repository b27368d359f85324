// SPDX-License-Identifier: GPL-2.0-only
/*
 * plan.c - which thread to delay next, and whether another run is worthwhile.
 *
 * The trace of the run without delays shows how long each task waited before each of its places, for a reason that
 * the trace does not state. Another thread may be the reason only if it ended an operation during that time: else the wait
 * does not depend on the storage. The expected gain of a run that delays a thread is the sum of all these waits. An order
 * that was found explains a wait until the end of the operation that the place waits for.
 */
#include <errno.h>
#include <stdlib.h>

#include "state.h"

#define SHARE 100 /* waits of less than 1 in SHARE are none */

/**
 * discovery_note_waiting() - note a wait without a known reason
 * @discovery: with the run without delays
 * @task: id of a task in the trace of that run; ignored if the trace has no such task
 * @op: number of an operation of the task; the wait was before this operation
 * @ns: its duration; added to other waits before the same place
 */
void discovery_note_waiting(struct discovery *discovery, u32 task, u32 op, u64 ns)
{
	u32 index = run_task_find(&discovery->base, task), low = 0, high;
	const struct run_task *t;

	if (index == RUN_NONE)
		return;
	t = &discovery->base.tasks[index];
	high = t->count;
	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (t->places[middle].op < op)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < t->count)
		discovery->waits[index][low].waiting_ns += ns;
}

/* The part of the wait before a place that no order explains; it begins at @begin_ns. */
static u64 unexplained_ns(const struct run_task *task, const struct wait *wait, u32 place, u64 *begin_ns)
{
	u64 free_ns = place ? task->places[place - 1].end_ns : task->begin_ns, enter_ns = task->places[place].enter_ns, left_ns;

	*begin_ns = wait->explained_ns > free_ns ? wait->explained_ns : free_ns;
	left_ns = enter_ns > *begin_ns ? enter_ns - *begin_ns : 0;
	return wait->waiting_ns < left_ns ? wait->waiting_ns : left_ns;
}

/**
 * struct gains - the waits that runs may explain
 * @of_thread: by a run that delays this thread, by its number
 * @all_ns: by all of these runs
 */
struct gains {
	u64 *of_thread;
	u64 all_ns;
};

/* The waits of task @waiter during which task @other ended an operation. Both have their places in the order of time. */
static void add_pair(const struct discovery *discovery, struct gains *gains, u32 waiter, u32 other)
{
	const struct run_task *w = &discovery->base.tasks[waiter], *o = &discovery->base.tasks[other];
	u32 i, next = 0, thread = discovery->threads[other];
	u64 margin_ns = run_margin_ns(&discovery->base, waiter, other);

	for (i = 0; i < w->count; i++) {
		struct wait *wait = &discovery->waits[waiter][i];
		u64 begin_ns, ns = unexplained_ns(w, wait, i, &begin_ns);

		while (next < o->count && o->places[next].end_ns + margin_ns <= begin_ns)
			next++;
		if (!ns || wait->counted == thread || next == o->count || o->places[next].end_ns > w->places[i].enter_ns + margin_ns)
			continue;
		if (!wait->counted)
			gains->all_ns += ns;
		wait->counted = thread;
		gains->of_thread[thread] += ns;
	}
}

/* The waits of a task count only if they are a significant part of its time. */
static bool is_waiter(const struct run_task *task, struct wait *waits)
{
	u64 sum_ns = 0;
	u32 i;

	for (i = 0; i < task->count; i++) {
		sum_ns += waits[i].waiting_ns;
		waits[i].counted = 0;
	}
	return sum_ns && sum_ns >= (task->places[task->count - 1].end_ns - task->begin_ns) / SHARE;
}

static void add_waits(const struct discovery *discovery, struct gains *gains)
{
	const struct run *base = &discovery->base;
	u32 i, j;

	for (i = 0; i < base->task_count; i++) {
		if (!is_waiter(&base->tasks[i], discovery->waits[i]))
			continue;
		for (j = 0; j < base->task_count; j++)
			if (discovery->threads[j] != discovery->threads[i] && !discovery->is_delayed[discovery->threads[j]])
				add_pair(discovery, gains, i, j);
	}
}

/* The thread with the greatest gain, and of these the one with the most operations. Return: false if all were delayed. */
static bool choose(const struct discovery *discovery, const struct gains *gains, struct discovery_plan *plan)
{
	struct discovery_thread thread;
	u32 i, places = 0;

	for (i = 0; !discovery_thread(discovery, i, &thread); i++) {
		u64 gain_ns = gains->of_thread[thread.number];

		if (!thread.places || discovery->is_delayed[thread.number])
			continue;
		if (places && (gain_ns < plan->gain_ns || (gain_ns == plan->gain_ns && thread.places <= places)))
			continue;
		places = thread.places;
		plan->thread = thread;
		plan->gain_ns = gain_ns;
	}
	return places;
}

/**
 * discovery_plan() - choose the thread that the next run delays
 * @discovery: with the run without delays, and all waits of it noted; after discovery_find() if there are other runs
 * @is_every: delay every thread, as //TRACE does
 * @plan: out
 *
 * Without @is_every, another run is worthwhile if waits are unexplained, or if the last run has changed the orders. The
 * second is for barriers: all tasks wait for the last one only, which explains all waits, but a replay needs all orders.
 *
 * Return: 0; -ENOENT if no other run is worthwhile; -ENOMEM.
 */
int discovery_plan(struct discovery *discovery, bool is_every, struct discovery_plan *plan)
{
	struct gains gains = { .of_thread = calloc(discovery->base.task_count + 1u, sizeof(*gains.of_thread)) };
	bool is_worthwhile, has_thread;

	*plan = (struct discovery_plan){};
	if (!gains.of_thread)
		return -ENOMEM;
	add_waits(discovery, &gains);
	if (!discovery->count)
		discovery->waiting_ns = gains.all_ns;
	plan->waiting_ns = discovery->waiting_ns;
	plan->left_ns = gains.all_ns;
	is_worthwhile = is_every || discovery->has_changed || gains.all_ns > discovery->waiting_ns / SHARE;
	has_thread = choose(discovery, &gains, plan);
	free(gains.of_thread);
	return has_thread && is_worthwhile ? 0 : -ENOENT;
}

/**
 * discovery_set_delayed() - note that a run was made that delays a thread
 * @discovery: with the run without delays
 * @number: of the thread; ignored if there is no such thread
 */
void discovery_set_delayed(struct discovery *discovery, u32 number)
{
	if (number && number <= discovery->base.task_count)
		discovery->is_delayed[number] = true;
}
