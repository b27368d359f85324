// SPDX-License-Identifier: GPL-2.0-only
/*
 * edges.c - from delays to orders.
 *
 * A task that stopped while another one was delayed after its place k, and whose next place is j, waits at j for something
 * that the other one does after k: so j begins after k has ended. The task has stopped if it was without an operation for
 * much longer than before the same place in the run without delays. The delay after the last k for which this holds is
 * the exact order; those of earlier ones follow from it, as the places of a task have an order.
 *
 * Each run is evidence against an order, too: where j began before k had ended, it is none.
 *
 * The clocks of two nodes differ a little. All threads were blocked for longer than that before a delay ended, so a delay
 * seems to end a little earlier to other nodes; and an order counts as kept if it is violated by less than that.
 */
#include "edges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN_NS 5000000 /* longer than usual delays of the scheduler */

/* The first place of a task that begins at a time or later; the number of its places if there is none. */
static u32 first_place(const struct run_task *task, u64 ns)
{
	u32 i = 0;

	while (i < task->count && task->places[i].enter_ns < ns)
		i++;
	return i;
}

/* When a task was free to continue to a place: its own delays are not its own time. */
static u64 free_since_ns(const struct run *run, u32 task, u32 place, u64 until_ns)
{
	const struct run_task *t = &run->tasks[task];
	u64 ns = place ? t->places[place - 1].end_ns : t->begin_ns;
	u32 i;

	for (i = 0; i < run->delay_count; i++)
		if (run->delays[i].task == task && run->delays[i].end_ns > ns && run->delays[i].end_ns <= until_ns)
			ns = run->delays[i].end_ns;
	return ns;
}

/**
 * orders_add() - add an order to a set
 * @orders: the set; the same order may be in it several times, see orders_sort()
 * @order: copied
 *
 * Return: 0 or -ENOMEM.
 */
int orders_add(struct orders *orders, const struct order *order)
{
	struct order *grown;

	if (orders->count == orders->room) {
		grown = realloc(orders->list, (2 * (size_t)orders->room + 16) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		orders->list = grown;
		orders->room = 2 * orders->room + 16;
	}
	orders->list[orders->count++] = *order;
	return 0;
}

/* Did the task stop until the end of a delay? Sets @doubtful if it may have computed instead. */
static bool has_stopped(const struct run *base, const struct run *run, const struct delay *delay, u32 task, u32 place,
			u32 *doubtful)
{
	const struct run_task *t = &run->tasks[task], *twin = &base->tasks[t->twin];
	u64 since_ns = free_since_ns(run, task, place, delay->end_ns), stopped_ns, usual_ns;

	if (place && t->places[place - 1].end_ns > delay->end_ns)
		return false; /* it was in an operation, which has reasons of its own to wait */
	if (since_ns >= delay->end_ns)
		return false;
	stopped_ns = delay->end_ns - since_ns;
	usual_ns = twin->places[place].enter_ns - free_since_ns(base, t->twin, place, 0);
	if (stopped_ns > 2 * usual_ns + MARGIN_NS)
		return true;
	if (stopped_ns > MARGIN_NS)
		++*doubtful;
	return false;
}

/* The delay as a task of another node can see it. */
static struct delay delay_seen_by(const struct run *run, const struct delay *delay, u32 task)
{
	struct delay seen = *delay;
	u64 margin_ns = run_margin_ns(run, delay->task, task);

	seen.end_ns = delay->end_ns > delay->begin_ns + margin_ns ? delay->end_ns - margin_ns : delay->begin_ns;
	return seen;
}

static int orders_of_delay(struct orders *orders, const struct run *base, const struct run *run, const struct delay *delay,
			   u32 *doubtful)
{
	struct order order = { .delays = 1 };
	u32 i;
	int err = 0;

	if (delay->ending == IOT_ENDING_signal || delay->ending == IOT_ENDING_abandoned || delay->task == RUN_NONE || run->tasks[delay->task].twin == RUN_NONE)
		return 0;
	order.task = run->tasks[delay->task].twin;
	order.place = run_place_until(&run->tasks[delay->task], delay->op);
	for (i = 0; i < run->task_count && order.place != RUN_NONE && !err; i++) {
		const struct run_task *task = &run->tasks[i];
		const struct delay seen = delay_seen_by(run, delay, i);
		u32 place = first_place(task, seen.end_ns);

		if (i == delay->task || task->twin == RUN_NONE || place == task->count ||
		    !has_stopped(base, run, &seen, i, place, doubtful))
			continue;
		order.waiter = task->twin;
		order.waiter_place = place;
		err = orders_add(orders, &order);
	}
	return err;
}

/**
 * orders_of_run() - the orders that the delays of a run show
 * @orders: they are added here, each as often as a delay shows it
 * @base: the run without delays
 * @run: the run; run_match() found no difference
 * @doubtful: out: added: places where a task stopped, but not for much longer than usual
 *
 * Return: 0 or -ENOMEM.
 */
int orders_of_run(struct orders *orders, const struct run *base, const struct run *run, u32 *doubtful)
{
	u32 i;
	int err = 0;

	for (i = 0; i < run->delay_count && !err; i++)
		err = orders_of_delay(orders, base, run, &run->delays[i], doubtful);
	return err;
}

static int compare(u32 x, u32 y)
{
	return (x > y) - (x < y);
}

static int compare_orders(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	return compare(x->task, y->task) ?: compare(x->place, y->place) ?: compare(x->waiter, y->waiter) ?:
	       compare(x->waiter_place, y->waiter_place);
}

/**
 * orders_sort() - sort the orders, and let equal ones be one
 * @orders: of any number of runs
 */
void orders_sort(struct orders *orders)
{
	u32 i, left = 0;

	if (orders->count)
		qsort(orders->list, orders->count, sizeof(*orders->list), compare_orders);
	for (i = 0; i < orders->count; i++)
		if (left && !compare_orders(&orders->list[left - 1], &orders->list[i]))
			orders->list[left - 1].delays += orders->list[i].delays;
		else
			orders->list[left++] = orders->list[i];
	orders->count = left;
}

static u32 task_in(const struct run *run, u32 twin)
{
	u32 i;

	for (i = 0; i < run->task_count; i++)
		if (run->tasks[i].twin == twin)
			return i;
	return RUN_NONE;
}

/**
 * order_is_kept() - did a run keep an order?
 * @order: between places that each run has
 * @run: any
 */
bool order_is_kept(const struct order *order, const struct run *run)
{
	u32 task = task_in(run, order->task), waiter = task_in(run, order->waiter);

	return task == RUN_NONE || waiter == RUN_NONE ||
	       run->tasks[task].places[order->place].end_ns <=
		       run->tasks[waiter].places[order->waiter_place].enter_ns + run_margin_ns(run, task, waiter);
}

/**
 * orders_contradict() - remove orders that a run did not keep
 * @orders: the orders
 * @run: any
 *
 * Return: the number of orders that were removed.
 */
u32 orders_contradict(struct orders *orders, const struct run *run)
{
	u32 i, left = 0, removed;

	for (i = 0; i < orders->count; i++) {
		if (order_is_kept(&orders->list[i], run))
			orders->list[left++] = orders->list[i];
	}
	removed = orders->count - left;
	orders->count = left;
	return removed;
}

/**
 * struct search - which places cannot begin before a given one has ended
 * @orders: sorted
 * @begin: for each task, the index of its first order; one more at the end
 * @is_redundant: for each order
 * @first: for each task, its first place that cannot begin before; RUN_NONE if there is none
 * @searched: for each task, the place from which on its orders have been followed
 * @open: tasks whose orders are to be followed
 */
struct search {
	const struct orders *orders;
	u32 *begin;
	bool *is_redundant;
	u32 *first;
	u32 *searched;
	u32 *open;
	u32 open_count;
};

static void note_place(struct search *s, u32 task, u32 place)
{
	if (place >= s->first[task])
		return;
	s->first[task] = place;
	s->open[s->open_count++] = task;
}

/* Follow the orders of a task from its first place on, up to those that have been followed. */
static void follow(struct search *s, u32 task, u32 without)
{
	u32 low = s->begin[task], high = s->begin[task + 1], stop = s->searched[task];

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (s->orders->list[middle].place < s->first[task])
			low = middle + 1;
		else
			high = middle;
	}
	s->searched[task] = s->first[task];
	for (; low < s->begin[task + 1] && s->orders->list[low].place < stop; low++)
		if (low != without && !s->is_redundant[low])
			note_place(s, s->orders->list[low].waiter, s->orders->list[low].waiter_place);
}

/* @without: index of an order that is not used, RUN_NONE if all are. */
static bool follows(struct search *s, u32 task_count, const struct order *o, u32 without)
{
	memset(s->first, 0xff, task_count * sizeof(*s->first));
	memset(s->searched, 0xff, task_count * sizeof(*s->searched));
	s->open_count = 0;
	note_place(s, o->task, o->place);
	while (s->open_count && s->first[o->waiter] > o->waiter_place) {
		u32 task = s->open[--s->open_count];

		if (s->first[task] < s->searched[task])
			follow(s, task, without);
	}
	return s->first[o->waiter] <= o->waiter_place;
}

static int search_begin(struct search *s, const struct orders *orders, u32 task_count)
{
	u32 task, i = 0;

	*s = (struct search){
		.orders = orders,
		.begin = calloc(task_count + 1u, sizeof(*s->begin)),
		.is_redundant = calloc(orders->count + 1u, sizeof(*s->is_redundant)),
		.first = calloc(task_count + 1u, sizeof(*s->first)),
		.searched = calloc(task_count + 1u, sizeof(*s->searched)),
		.open = calloc(orders->count + 1u, sizeof(*s->open)),
	};
	if (!s->begin || !s->is_redundant || !s->first || !s->searched || !s->open)
		return -ENOMEM;
	for (task = 0; task <= task_count; task++) {
		while (i < orders->count && orders->list[i].task < task)
			i++;
		s->begin[task] = i;
	}
	return 0;
}

static void search_end(struct search *s)
{
	free(s->begin);
	free(s->is_redundant);
	free(s->first);
	free(s->searched);
	free(s->open);
}

/**
 * orders_reduce() - remove orders that follow from others
 * @orders: sorted
 * @base: the run without delays
 * @redundant: out: added: the number of orders that were removed
 *
 * Takes time in proportion to the square of the number of orders at most.
 *
 * Return: 0 or -ENOMEM.
 */
int orders_reduce(struct orders *orders, const struct run *base, u32 *redundant)
{
	struct search search;
	u32 i, left = 0;
	int err = search_begin(&search, orders, base->task_count);

	for (i = 0; i < orders->count && !err; i++)
		search.is_redundant[i] = follows(&search, base->task_count, &orders->list[i], i);
	for (i = 0; i < orders->count && !err; i++)
		if (!search.is_redundant[i])
			orders->list[left++] = orders->list[i];
	if (!err) {
		*redundant += orders->count - left;
		orders->count = left;
	}
	search_end(&search);
	return err;
}

/**
 * orders_imply() - find out which other orders follow from a set
 * @orders: the set, sorted
 * @base: the run without delays
 * @asked: other orders
 * @count: of these
 * @is_implied: out: for each of them
 *
 * Return: 0 or -ENOMEM.
 */
int orders_imply(const struct orders *orders, const struct run *base, const struct order *asked, u32 count, bool *is_implied)
{
	struct search search;
	u32 i;
	int err = search_begin(&search, orders, base->task_count);

	for (i = 0; i < count && !err; i++)
		is_implied[i] = follows(&search, base->task_count, &asked[i], RUN_NONE);
	search_end(&search);
	return err;
}
