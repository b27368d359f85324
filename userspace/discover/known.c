// SPDX-License-Identifier: GPL-2.0-only
/*
 * known.c - orders that are known from elsewhere, such as MPI calls and wake-ups, compared with those that the runs show.
 */
#include <errno.h>
#include <stdlib.h>

#include "state.h"

/* The first place of a task after an operation, RUN_NONE if there is none. */
static u32 place_after(const struct run_task *task, u32 op)
{
	u32 before = run_place_until(task, op), place = before == RUN_NONE ? 0 : before + 1;

	return place < task->count ? place : RUN_NONE;
}

/**
 * discovery_note_known() - note an order that is known from elsewhere
 * @discovery: with the run without delays
 * @known: tasks and operations of the trace of that run; ignored if one of the tasks has no place there, or if the order
 *	is between two tasks of one thread
 *
 * Return: 0 or -ENOMEM.
 */
int discovery_note_known(struct discovery *discovery, const struct discovery_known *known)
{
	const struct run *base = &discovery->base;
	struct order order = { .task = run_task_find(base, known->task), .waiter = run_task_find(base, known->waiter), .delays = 1 };

	if (order.task == RUN_NONE || order.waiter == RUN_NONE || discovery->threads[order.task] == discovery->threads[order.waiter])
		return 0;
	order.place = run_place_until(&base->tasks[order.task], known->op);
	order.waiter_place = place_after(&base->tasks[order.waiter], known->waiter_op);
	if (order.place == RUN_NONE || order.waiter_place == RUN_NONE)
		return 0;
	return orders_add(&discovery->known, &order) ?: (known->is_wait ? orders_add(&discovery->known_waits, &order) : 0);
}

static bool is_kept(const struct discovery *discovery, const struct order *order)
{
	u32 i;

	for (i = 0; i < discovery->count; i++)
		if (!order_is_kept(order, &discovery->runs[i]))
			return false;
	return order_is_kept(order, &discovery->base);
}

/* How many of the orders found follow from known ones? */
static int count_confirmed(const struct discovery *discovery, struct discovery_result *result)
{
	const struct orders *found = &discovery->orders;
	bool *is_implied = calloc(found->count + 1u, sizeof(*is_implied));
	u32 i;
	int err = is_implied ? orders_imply(&discovery->known, &discovery->base, found->list, found->count, is_implied) : -ENOMEM;

	for (i = 0; i < found->count && !err; i++)
		result->confirmed += is_implied[i];
	free(is_implied);
	return err;
}

/* How many of the known waits did the runs show, and how many contradict them? */
static int count_found(const struct discovery *discovery, struct discovery_result *result)
{
	const struct orders *known = &discovery->known_waits;
	bool *is_implied = calloc(known->count + 1u, sizeof(*is_implied));
	u32 i;
	int err = is_implied ? orders_imply(&discovery->orders, &discovery->base, known->list, known->count, is_implied) : -ENOMEM;

	for (i = 0; i < known->count && !err; i++) {
		result->known++;
		if (!is_kept(discovery, &known->list[i]))
			result->known_contradicted++;
		else if (is_implied[i])
			result->known_found++;
	}
	free(is_implied);
	return err;
}

/**
 * discovery_compare() - compare the known orders with those that were found
 * @discovery: after discovery_find(), and all calls of discovery_note_known()
 * @result: out: its members about known orders
 *
 * Return: 0 or -ENOMEM.
 */
int discovery_compare(struct discovery *discovery, struct discovery_result *result)
{
	int err;

	orders_sort(&discovery->known);
	orders_sort(&discovery->known_waits);
	err = count_confirmed(discovery, result);
	return err ? err : count_found(discovery, result);
}
