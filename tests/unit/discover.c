// SPDX-License-Identifier: GPL-2.0-only
/*
 * discover.c - from delays to orders: which operation of a task waits for which of another one.
 *
 * Runs have three tasks, 0 to 2, with three places each. In the run without delays, each place is 1 ms long and begins
 * 10 ms after the previous one. Orders are written TASK.PLACE<TASK.PLACE: the second waits for the first.
 */
#include "discover/edges.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/graph/graph_load.h"
#include "analyse/order/order_passes.h"
#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define TASKS  3
#define PLACES 3
#define MS     1000000ull

static struct run_task tasks_of_base[TASKS], tasks_of_run[TASKS];
static struct place places_of_base[TASKS][PLACES], places_of_run[TASKS][PLACES];
static struct delay delays[4];
static struct run base, run;
static struct orders orders;

static void fill(struct run *r, struct run_task *tasks, struct place places[TASKS][PLACES])
{
	u32 i, j;

	*r = (struct run){ .tasks = tasks, .task_count = TASKS };
	for (i = 0; i < TASKS; i++) {
		tasks[i] = (struct run_task){ .id = 10 + i, .twin = i, .places = places[i], .count = PLACES, .begin_ns = 1 };
		for (j = 0; j < PLACES; j++)
			places[i][j] = (struct place){ .enter_ns = (10 * j + 10) * MS, .end_ns = (10 * j + 11) * MS, .op = j + 1,
						       .path = "" };
	}
}

static void begin(void)
{
	fill(&base, tasks_of_base, places_of_base);
	fill(&run, tasks_of_run, places_of_run);
	run.delays = delays;
	orders = (struct orders){};
}

/* From place @from on, a task of the run with delays is later. */
static void shift(u32 task, u32 from, u64 ms)
{
	for (; from < PLACES; from++) {
		places_of_run[task][from].enter_ns += ms * MS;
		places_of_run[task][from].end_ns += ms * MS;
	}
}

/* The task is delayed for 100 ms behind a place. */
static void delay(u32 task, u32 place, enum iot_ending ending)
{
	u64 begin_ns = places_of_run[task][place].end_ns;

	delays[run.delay_count++] = (struct delay){ .begin_ns = begin_ns, .end_ns = begin_ns + 100 * MS, .task = task,
						    .op = place + 1, .ending = ending };
	shift(task, place + 1, 100);
}

static u32 find(u32 *doubtful)
{
	*doubtful = 0;
	assert_int_equal(orders_of_run(&orders, &base, &run, doubtful), 0);
	return orders.count;
}

static bool has(u32 task, u32 place, u32 waiter, u32 waiter_place)
{
	u32 i;

	for (i = 0; i < orders.count; i++) {
		const struct order *o = &orders.list[i];

		if (o->task == task && o->place == place && o->waiter == waiter && o->waiter_place == waiter_place)
			return true;
	}
	return false;
}

static void add(u32 task, u32 place, u32 waiter, u32 waiter_place)
{
	orders.list = realloc(orders.list, (orders.count + 1) * sizeof(*orders.list));
	assert_non_null(orders.list);
	orders.list[orders.count++] = (struct order){ task, place, waiter, waiter_place, 1 };
	orders.room = orders.count;
}

static void end(void)
{
	free(orders.list);
}

static void task_that_stops_waits_for_the_delayed_place(void **state)
{
	u32 doubtful;

	(void)state;
	begin();
	delay(0, 1, IOT_ENDING_blocked);
	shift(1, 2, 100);
	assert_int_equal(find(&doubtful), 1);
	assert_true(has(0, 1, 1, 2));
	assert_int_equal(doubtful, 0);
	end();
}

static void task_that_continues_does_not_wait(void **state)
{
	u32 doubtful;

	(void)state;
	begin();
	delay(0, 0, IOT_ENDING_blocked);
	assert_int_equal(find(&doubtful), 0);
	assert_int_equal(doubtful, 0);
	end();
}

static void spread(void)
{
	u32 i;

	for (i = 0; i < TASKS; i++)
		tasks_of_base[i].node = tasks_of_run[i].node = i;
}

/* By its clock, the task continues 4 ms before the delay ends. */
static void clocks_of_nodes_may_differ_a_little(void **state)
{
	const struct order order = { .task = 0, .place = 1, .waiter = 1, .waiter_place = 2, .delays = 1 };
	u32 doubtful;

	(void)state;
	begin();
	spread();
	delay(0, 1, IOT_ENDING_blocked);
	shift(1, 2, 87);
	assert_int_equal(places_of_run[1][2].enter_ns + 4 * MS, delays[0].end_ns);
	assert_int_equal(find(&doubtful), 1);
	assert_true(has(0, 1, 1, 2));
	places_of_run[1][2].enter_ns = places_of_run[0][1].end_ns - 4 * MS;
	assert_true(order_is_kept(&order, &run));
	places_of_run[1][2].enter_ns -= 2 * MS;
	assert_false(order_is_kept(&order, &run));
	end();
}

static void clocks_of_a_node_do_not_differ(void **state)
{
	const struct order order = { .task = 0, .place = 1, .waiter = 1, .waiter_place = 2, .delays = 1 };
	u32 doubtful;

	(void)state;
	begin();
	delay(0, 1, IOT_ENDING_blocked);
	shift(1, 2, 87);
	assert_int_equal(find(&doubtful), 0);
	places_of_run[1][2].enter_ns = places_of_run[0][1].end_ns - 1;
	assert_false(order_is_kept(&order, &run));
	end();
}

static void abandoned_delay_shows_nothing(void **state)
{
	u32 doubtful;

	(void)state;
	begin();
	delay(0, 1, IOT_ENDING_abandoned);
	shift(1, 2, 100);
	assert_int_equal(find(&doubtful), 0);
	end();
}

/* The third place of task 1 begins 150 ms after the second in both runs. */
static void task_that_stops_as_long_without_delays_is_doubtful(void **state)
{
	u32 doubtful;

	(void)state;
	begin();
	places_of_base[1][2].enter_ns += 140 * MS;
	shift(1, 2, 140);
	delay(0, 1, IOT_ENDING_blocked);
	assert_int_equal(find(&doubtful), 0);
	assert_int_equal(doubtful, 1);
	end();
}

static void delay_that_a_signal_ended_shows_nothing(void **state)
{
	u32 doubtful;

	(void)state;
	begin();
	delay(0, 1, IOT_ENDING_signal);
	shift(1, 2, 100);
	assert_int_equal(find(&doubtful), 0);
	end();
}

static void own_delay_is_not_a_stop(void **state)
{
	u32 doubtful;

	(void)state;
	begin();
	delay(1, 1, IOT_ENDING_blocked);
	delay(0, 1, IOT_ENDING_blocked);
	shift(0, 2, 1);
	assert_int_equal(find(&doubtful), 0);
	end();
}

static void run_in_another_order_contradicts(void **state)
{
	(void)state;
	begin();
	add(0, 0, 1, 1);
	add(0, 1, 1, 2);
	shift(0, 1, 10); /* now it overlaps 1.2 */
	assert_int_equal(orders_contradict(&orders, &run), 1);
	assert_int_equal(orders.count, 1);
	assert_true(has(0, 0, 1, 1));
	end();
}

static void weaker_orders_are_redundant(void **state)
{
	u32 redundant = 0;

	(void)state;
	begin();
	add(0, 0, 1, 2); /* follows from the next one */
	add(0, 1, 1, 1);
	orders_sort(&orders);
	assert_int_equal(orders_reduce(&orders, &base, &redundant), 0);
	assert_int_equal(redundant, 1);
	assert_true(has(0, 1, 1, 1));
	end();
}

static void transitive_orders_are_redundant(void **state)
{
	u32 redundant = 0;

	(void)state;
	begin();
	add(0, 0, 1, 1);
	add(0, 0, 2, 2); /* through task 1 */
	add(1, 1, 2, 2);
	add(0, 2, 2, 2); /* later than through task 1 */
	orders_sort(&orders);
	assert_int_equal(orders_reduce(&orders, &base, &redundant), 0);
	assert_int_equal(redundant, 1);
	assert_int_equal(orders.count, 3);
	assert_false(has(0, 0, 2, 2));
	end();
}

/* Operations that take no time may be in a circle. */
static void one_of_two_orders_that_follow_from_each_other_stays(void **state)
{
	u32 redundant = 0;

	(void)state;
	begin();
	add(0, 0, 1, 1);
	add(0, 0, 2, 1);
	add(1, 1, 2, 1);
	add(2, 1, 1, 1);
	orders_sort(&orders);
	assert_int_equal(orders_reduce(&orders, &base, &redundant), 0);
	assert_int_equal(redundant, 1);
	assert_true(has(0, 0, 1, 1) != has(0, 0, 2, 1));
	end();
}

static void equal_orders_leave_one(void **state)
{
	u32 doubtful;

	(void)state;
	begin();
	delay(0, 1, IOT_ENDING_blocked);
	shift(1, 2, 100);
	find(&doubtful);
	assert_int_equal(find(&doubtful), 2);
	orders_sort(&orders);
	assert_int_equal(orders.count, 1);
	assert_int_equal(orders.list[0].delays, 2);
	end();
}

/* An order follows from others if a place cannot begin otherwise: simply relaxed until nothing changes. */
static bool follows_simply(const struct orders *all, const bool *is_gone, u32 without, u32 task_count)
{
	const struct order *o = &all->list[without];
	u32 *first = malloc(task_count * sizeof(*first)), i;
	bool is_more = true, follows;

	assert_non_null(first);
	memset(first, 0xff, task_count * sizeof(*first));
	first[o->task] = o->place;
	while (is_more) {
		is_more = false;
		for (i = 0; i < all->count; i++) {
			const struct order *x = &all->list[i];

			if (i == without || is_gone[i] || x->place < first[x->task] || first[x->task] == RUN_NONE ||
			    x->waiter_place >= first[x->waiter])
				continue;
			first[x->waiter] = x->waiter_place;
			is_more = true;
		}
	}
	follows = first[o->waiter] <= o->waiter_place;
	free(first);
	return follows;
}

/* Each order leads forward in time, as those that no run contradicts do. */
static void add_random(u32 task_count, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		u32 task = (u32)random() % task_count, waiter = (task + 1 + (u32)random() % (task_count - 1)) % task_count;
		u32 place = (u32)random() % 12;

		add(task, place, waiter, place + 1 + (u32)random() % 4);
	}
	orders_sort(&orders);
}

static void random_orders_are_reduced_as_by_a_simple_search(void **state)
{
	struct run of_tasks = { .task_count = 6 };
	u32 round;

	(void)state;
	srandom(1);
	for (round = 0; round < 3000; round++) {
		bool is_gone[100] = {};
		u32 i, gone = 0, redundant = 0;
		struct orders all;

		orders = (struct orders){};
		add_random(of_tasks.task_count, 1 + (u32)random() % 100);
		all = orders;
		for (i = 0; i < all.count; i++)
			gone += is_gone[i] = follows_simply(&all, is_gone, i, of_tasks.task_count);
		assert_int_equal(orders_reduce(&orders, &of_tasks, &redundant), 0);
		assert_int_equal(redundant, gone);
		end();
	}
}

/* Takes minutes if it takes more than the square of the number. */
static void many_orders_are_reduced(void **state)
{
	struct run of_tasks = { .task_count = 16 };
	u32 i, redundant = 0;

	(void)state;
	orders = (struct orders){};
	for (i = 0; i < 20000; i++)
		add(i % 16, i / 16, (i + 1) % 16, i / 16 + 1);
	orders_sort(&orders);
	assert_int_equal(orders_reduce(&orders, &of_tasks, &redundant), 0);
	assert_int_equal(redundant, 0);
	end();
}

/* -- in a trace --------------------------------------------------------------------------------- */

#define HANDLE 7

/* Task 2 waits for the read of task 1, which ended @early_ns before it could continue. */
static void has_edge(s64 early_ns)
{
	struct scribe scribe, *s = &scribe;
	struct iot_reject reject;
	struct graph *graph;
	struct tree *tree;
	u32 i, nops = 0;
	u64 wait_ns;

	scribe_begin(s);
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 10, .result = 10);
	wait_ns = s->now_ns + 1000;
	PUT(discovered, .ended_ns = wait_ns - (u64)early_ns, .task = 1, .op = 2, .waiter = 2, .delays = 1);
	s->task = 2;
	s->op = 0;
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 10, .result = 10);
	scribe_finish(s);
	assert_int_equal(graph_open(&graph), 0);
	assert_int_equal(tree_open(&tree), 0);
	assert_int_equal(load_trace(scratch_trace, graph, tree, NULL, &reject), 0);
	assert_int_equal(graph_pass_life(graph), 0);
	assert_int_equal(graph_pass_wakes(graph), 0);
	assert_int_equal(graph->edges_by_cause[EDGE_discovered], 1);
	assert_int_equal(graph->edges_by_cause[EDGE_wake], 0);
	for (i = 0; i < graph->tasks[0].op_count; i++)
		if (graph->tasks[0].ops[i].kind == IOT_PLAY_nop) {
			nops++;
			assert_true(graph->tasks[0].ops[i].enter_ns <= wait_ns);
		}
	assert_int_equal(nops, 1);
	tree_close(tree);
	graph_close(graph);
}

static void discovered_order_is_an_edge(void **state)
{
	(void)state;
	has_edge(1000);
}

static void order_that_leads_back_in_time_does_not(void **state)
{
	(void)state;
	has_edge(-1000000);
}

SUITE("discover",
      TEST(task_that_stops_waits_for_the_delayed_place)
      TEST(task_that_continues_does_not_wait)
      TEST(task_that_stops_as_long_without_delays_is_doubtful)
      TEST(delay_that_a_signal_ended_shows_nothing)
      TEST(own_delay_is_not_a_stop)
      TEST(clocks_of_nodes_may_differ_a_little)
      TEST(clocks_of_a_node_do_not_differ)
      TEST(abandoned_delay_shows_nothing)
      TEST(run_in_another_order_contradicts)
      TEST(weaker_orders_are_redundant)
      TEST(transitive_orders_are_redundant)
      TEST(one_of_two_orders_that_follow_from_each_other_stays)
      TEST(equal_orders_leave_one)
      TEST(random_orders_are_reduced_as_by_a_simple_search)
      TEST(many_orders_are_reduced)
      WITH_SCRATCH(discovered_order_is_an_edge)
      WITH_SCRATCH(order_that_leads_back_in_time_does_not))
