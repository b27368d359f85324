// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakes.c - wake-ups: the relevant tasks, the waits, and think times.
 *
 * Edges are written TASK.OP<TASK.OP, where the first waits for the second.
 */
#include "analyse/graph/graph.h"

#include "suite.h"
#include "analyse/order/order_passes.h"

#define IO IOT_KIND_read

static struct graph *begin(u32 tasks)
{
	struct graph *graph;
	u32 i, task;

	assert_int_equal(graph_open(&graph), 0);
	for (i = 0; i < tasks; i++) {
		assert_int_equal(graph_task_make(graph, 100 + i, &task), 0);
		graph->tasks[task].tgid = 100 + i;
		graph->tasks[task].why = IOT_REASON_fork; /* no CPU time before its start */
	}
	return graph;
}

static struct graph_op *add(struct graph *graph, u32 task, u16 kind, u64 enter_ns, u64 end_ns)
{
	struct graph_op *op = graph_op_add(graph, task);

	assert_non_null(op);
	op->kind = kind;
	op->enter_ns = enter_ns;
	op->end_ns = end_ns;
	return op;
}

/* Task @task wakes @woken, which ran for @runtime_ns before it slept. */
static void wake(struct graph *graph, u32 task, u32 woken, u64 time_ns, u64 runtime_ns)
{
	struct graph_op *op = add(graph, task, IOT_PLAY_nop, time_ns, time_ns);

	op->flags = NOP_WAKE;
	op->event = graph->wake_count;
	op = add(graph, woken, IOT_PLAY_wait, time_ns, time_ns);
	op->flags = WAIT_WOKEN;
	op->event = graph->wake_count;
	op->runtime_ns = runtime_ns;
	assert_int_equal(graph_wake_add(graph, task, woken, EDGE_wake), 0);
}

static void timeout(struct graph *graph, u32 task, u64 time_ns, u32 call)
{
	struct graph_op *op = add(graph, task, IOT_PLAY_wait, time_ns, time_ns);

	op->flags = WAIT_TIMED;
	op->event = GRAPH_NONE;
	op->call = call;
	graph->timeout_count++;
}

static void exit_at(struct graph *graph, u32 task, u64 time_ns, u64 runtime_ns)
{
	struct graph_op *op = add(graph, task, IOT_KIND_exit, time_ns, time_ns);

	op->runtime_ns = runtime_ns;
}

static void analyse(struct graph *graph)
{
	graph_sort(graph);
	assert_int_equal(graph_pass_life(graph), 0);
	assert_int_equal(graph_pass_wakes(graph), 0);
	assert_int_equal(graph_pass_prune(graph), 0);
	assert_int_equal(graph_pass_think(graph), 0);
}

/* Ends the graph. */
static void gives(struct graph *graph, const char *expected)
{
	char text[512] = "";
	u32 task, op, e;
	size_t used = 0;

	for (task = 0; task < graph->task_count; task++)
		for (op = 0; op < graph->tasks[task].op_count; op++)
			for (e = graph->tasks[task].ops[op].edges; e != GRAPH_NONE;
			     e = graph->edges[e].next)
				used += (size_t)snprintf(text + used, sizeof(text) - used,
							 "%s%u.%u<%u.%u", used ? " " : "", task, op,
							 graph->edges[e].task, graph->edges[e].index);
	assert_string_equal(text, expected);
	graph_close(graph);
}

static void woken_task_waits_for_preceding_operations(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	add(graph, 0, IO, 10, 20);
	wake(graph, 0, 1, 25, 0);
	add(graph, 0, IO, 30, 40);
	add(graph, 1, IO, 50, 60);
	analyse(graph);
	gives(graph, "1.0<0.1");
}

static void order_passes_through_tasks_without_files(void **state)
{
	struct graph *graph = begin(3);

	(void)state;
	add(graph, 0, IO, 10, 20);
	wake(graph, 0, 1, 25, 0);
	wake(graph, 1, 2, 27, 0);
	add(graph, 2, IO, 50, 60);
	analyse(graph);
	assert_true(graph->tasks[1].has_io);
	gives(graph, "1.0<0.1 2.0<1.1");
}

static void wake_ups_without_successors_are_removed(void **state)
{
	struct graph *graph = begin(3);

	(void)state;
	add(graph, 0, IO, 10, 20);
	wake(graph, 0, 1, 25, 0);
	wake(graph, 2, 1, 26, 0);
	analyse(graph);
	assert_false(graph->tasks[1].has_io);
	assert_false(graph->tasks[2].has_io);
	assert_int_equal(graph->tasks[0].op_count, 1);
	gives(graph, "");
}

/* A kernel would not record this, but a trace might contain it: the waiting task continued before the operation had ended. */
static void no_task_waits_for_an_operation_in_progress(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	add(graph, 0, IO, 10, 30);
	wake(graph, 0, 1, 25, 0);
	add(graph, 1, IO, 26, 27);
	analyse(graph);
	gives(graph, "");
}

/* The task ran for 7, slept from 17 to 40, and ran for 5 before the next operation; then it was off the CPU. */
static void wait_is_not_think_time(void **state)
{
	struct graph *graph = begin(2);
	struct graph_op *op;

	(void)state;
	add(graph, 0, IO, 10, 20);
	add(graph, 1, IO, 0, 10);
	wake(graph, 0, 1, 40, 7);
	op = add(graph, 1, IO, 48, 50);
	op->runtime_ns = 12;
	analyse(graph);
	op = graph->tasks[1].ops;
	assert_int_equal(op[1].compute_ns, 7);
	assert_int_equal(op[1].pause_ns, 0);
	assert_int_equal(op[2].compute_ns, 5);
	assert_int_equal(op[2].pause_ns, 3);
	gives(graph, "1.1<0.1");
}

/*
 * The task ran for 4 and then waited for a CPU for 3: when it slept, at 17, 23 were left. Time that it waited for a CPU
 * before an earlier wake-up is not counted twice.
 */
static void wait_for_a_processor_is_not_a_wait_for_a_task(void **state)
{
	struct graph *graph = begin(2);
	struct graph_op *op;

	(void)state;
	add(graph, 0, IO, 10, 20);
	add(graph, 1, IO, 0, 10);
	wake(graph, 0, 1, 40, 4);
	graph->tasks[1].ops[1].delay_ns = 3;
	wake(graph, 0, 1, 50, 4);
	graph->tasks[1].ops[2].delay_ns = 5;
	add(graph, 1, IO, 60, 70)->runtime_ns = 4;
	analyse(graph);
	op = graph->tasks[1].ops;
	assert_int_equal(op[1].compute_ns, 4);
	assert_int_equal(op[1].pause_ns, 3);
	assert_int_equal(op[2].compute_ns, 0);
	assert_int_equal(op[2].pause_ns, 2);
	assert_int_equal(op[3].pause_ns, 10);
	graph_close(graph);
}

/* The thread that exits may have slept from 10 on; the other one slept only from 17 on, after it had got a CPU. */
static void pause_before_an_exit_begins_when_the_other_task_sleeps(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	add(graph, 0, IO, 5, 10);
	add(graph, 1, IO, 0, 10);
	wake(graph, 0, 1, 40, 4);
	graph->tasks[1].ops[1].delay_ns = 3;
	exit_at(graph, 0, 41, 0);
	add(graph, 1, IO, 48, 50);
	analyse(graph);
	assert_int_equal(graph->tasks[0].ops[1].pause_ns, 23);
	graph_close(graph);
}

static void wait_without_order_is_think_time(void **state)
{
	struct graph *graph = begin(2);
	struct graph_op *op;

	(void)state;
	graph->causes_left_out = 1u << EDGE_wake;
	add(graph, 0, IO, 10, 20);
	add(graph, 1, IO, 0, 10);
	wake(graph, 0, 1, 40, 7);
	op = add(graph, 1, IO, 48, 50);
	op->runtime_ns = 12;
	analyse(graph);
	assert_int_equal(graph->tasks[1].op_count, 2);
	op = &graph->tasks[1].ops[1];
	assert_int_equal(op->compute_ns, 12);
	assert_int_equal(op->pause_ns, 26);
	gives(graph, "");
}

/* The task slept until a request ended, which leaves no record: the other task waited for 4 of those 80. */
static void pause_before_an_exit_is_limited_by_its_wait(void **state)
{
	struct graph *graph = begin(2);
	struct graph_op *op;

	(void)state;
	add(graph, 0, IO, 10, 20);
	wake(graph, 0, 1, 106, 82);
	exit_at(graph, 0, 107, 6);
	add(graph, 1, IO, 20, 100)->oncpu_ns = 80; /* the task ran for 2 before it waited */
	add(graph, 1, IO, 110, 120)->runtime_ns = 86;
	analyse(graph);
	op = graph->tasks[0].ops;
	assert_int_equal(op[1].compute_ns, 6);
	assert_int_equal(op[1].pause_ns, 4);
	assert_int_equal(graph->tasks[1].ops[1].compute_ns, 2);
	assert_int_equal(graph->tasks[1].ops[1].pause_ns, 0);
	gives(graph, "1.1<0.1");
}

/* Its compute time, and its sleep while the other task waits, are its own. */
static void a_wait_for_a_thread_lasts_as_long_as_its_work(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	add(graph, 0, IO, 10, 20);
	wake(graph, 0, 1, 106, 5);
	exit_at(graph, 0, 107, 50);
	add(graph, 1, IO, 20, 25)->oncpu_ns = 5;
	add(graph, 1, IO, 110, 120)->runtime_ns = 10;
	analyse(graph);
	assert_int_equal(graph->tasks[0].ops[1].compute_ns, 50);
	assert_int_equal(graph->tasks[0].ops[1].pause_ns, 36);
	gives(graph, "1.1<0.1");
}

/* Half of an MPI call, the only one of its task. */
static void half(struct graph *graph, u32 task, u16 kind, u64 time_ns)
{
	struct graph_mpi *mpi = kind == IOT_PLAY_signal ? graph_mpi_add(graph) : &graph->mpi[graph->mpi_count - 1];
	struct graph_op *op = add(graph, task, kind, time_ns, time_ns);

	assert_non_null(mpi);
	op->event = graph->mpi_count;
	if (kind == IOT_PLAY_signal)
		mpi->enter_ns = time_ns;
	mpi->end_ns = time_ns;
}

/*
 * Rank 0 enters MPI_Finalize at 12, rank 1 at 50. Then rank 0 ends its thread, which is task 2, joins it until 60, and
 * returns at 80. In the 48 from 12 to 60 it polled until 50, ran for 4, and slept for 6 in the call.
 */
static void ranks_that_have_arrived_are_waited_for_before_a_wake_up_in_the_call(void **state)
{
	struct graph *graph = begin(3);
	const struct graph_op *ops;

	(void)state;
	add(graph, 1, IO, 0, 10);
	half(graph, 1, IOT_PLAY_signal, 50);
	add(graph, 0, IO, 0, 10)->oncpu_ns = 10;
	half(graph, 0, IOT_PLAY_signal, 12);
	wake(graph, 2, 0, 60, 54);
	exit_at(graph, 2, 61, 0);
	half(graph, 0, IOT_PLAY_wait, 80);
	graph_sort(graph);
	assert_int_equal(graph_pass_life(graph), 0);
	ops = graph->tasks[0].ops;
	assert_int_equal(ops[3].flags, WAIT_MPI);
	assert_int_equal(graph_edge_add(graph, 1, 1, &graph->tasks[0].ops[3], EDGE_mpi), 0);
	assert_int_equal(graph_pass_wakes(graph), 0);
	assert_int_equal(graph_pass_prune(graph), 0);
	assert_int_equal(graph_pass_think(graph), 0);
	assert_int_equal(ops[2].flags, WAIT_MPI);
	assert_int_equal(graph->mpi[1].wait, 2);
	assert_int_equal(ops[3].flags, WAIT_WOKEN);
	assert_int_equal(ops[3].compute_ns, 4);
	assert_int_equal(ops[3].pause_ns, 6);
	assert_int_equal(graph->tasks[2].ops[0].pause_ns, 0);
	gives(graph, "0.2<1.1 0.3<2.0");
}

/*
 * As above, but the call returns at @return_ns, and task 2 has operations, and need not end. Return: how long rank 0 pauses before
 * the wake-up at 60.
 */
static u64 pause_before_wake_up(u64 return_ns, bool is_join)
{
	struct graph *graph = begin(3);
	struct graph_op *ops;
	u64 pause_ns = 0;
	u32 i;

	add(graph, 1, IO, 0, 10);
	half(graph, 1, IOT_PLAY_signal, 50);
	add(graph, 2, IO, 0, 10);
	add(graph, 0, IO, 0, 10)->oncpu_ns = 10;
	half(graph, 0, IOT_PLAY_signal, 12);
	wake(graph, 2, 0, 60, 54);
	if (is_join)
		exit_at(graph, 2, 61, 0);
	half(graph, 0, IOT_PLAY_wait, return_ns);
	add(graph, 0, IO, 90, 95)->runtime_ns = 60;
	graph_sort(graph);
	assert_int_equal(graph_pass_life(graph), 0);
	ops = graph->tasks[0].ops;
	for (i = 0; i < graph->tasks[0].op_count; i++)
		if (ops[i].kind == IOT_PLAY_wait && ops[i].flags == WAIT_MPI)
			assert_int_equal(graph_edge_add(graph, 1, 1, &ops[i], EDGE_mpi), 0);
	assert_int_equal(graph_pass_wakes(graph), 0);
	assert_int_equal(graph_pass_think(graph), 0);
	for (i = 0; i < graph->tasks[0].op_count; i++)
		if (ops[i].flags == WAIT_WOKEN)
			pause_ns = ops[i].pause_ns;
	graph_close(graph);
	return pause_ns;
}

static void sleep_before_a_join_in_a_call_is_a_pause(void **state)
{
	(void)state;
	assert_int_equal(pause_before_wake_up(80, true), 6);
	assert_int_equal(pause_before_wake_up(55, true), 0);
	assert_int_equal(pause_before_wake_up(80, false), 0);
}

/*
 * In the 100 until the last rank entered at 112, and the 20 until its wake-up, it ran for 9 and waited for a CPU for 6. It
 * slept for the other 5 in the call.
 */
static void a_library_that_sleeps_in_a_wait_does_not_poll(void **state)
{
	struct graph *graph = begin(3);
	const struct graph_op *ops;

	(void)state;
	add(graph, 1, IO, 0, 10);
	half(graph, 1, IOT_PLAY_signal, 112);
	add(graph, 0, IO, 0, 12)->oncpu_ns = 12;
	half(graph, 0, IOT_PLAY_signal, 12);
	wake(graph, 2, 0, 132, 21);
	graph->tasks[0].ops[graph->tasks[0].op_count - 1].delay_ns = 6;
	exit_at(graph, 2, 133, 0);
	half(graph, 0, IOT_PLAY_wait, 140);
	graph_sort(graph);
	assert_int_equal(graph_pass_life(graph), 0);
	ops = graph->tasks[0].ops;
	assert_int_equal(graph_edge_add(graph, 1, 1, &graph->tasks[0].ops[3], EDGE_mpi), 0);
	assert_int_equal(graph_pass_wakes(graph), 0);
	assert_int_equal(graph_pass_think(graph), 0);
	assert_int_equal(ops[3].compute_ns, 9);
	assert_int_equal(ops[3].pause_ns, 11);
	assert_int_equal(graph->tasks[2].ops[0].pause_ns, 0);
	graph_close(graph);
}

/*
 * In the 2 before a call, the 100 until the last rank entered it, and the 20 after it, rank 0 ran for 72 and waited for a CPU for 48. Three fifths of
 * the time in the call it polled, and for the rest of it, 40, it waited for a CPU.
 */
static void a_library_that_polls_shares_the_cpu(void **state)
{
	struct graph *graph = begin(2);
	struct graph_op *op;

	(void)state;
	add(graph, 1, IO, 0, 10);
	half(graph, 1, IOT_PLAY_signal, 112);
	add(graph, 0, IO, 0, 10)->oncpu_ns = 10;
	half(graph, 0, IOT_PLAY_signal, 12);
	half(graph, 0, IOT_PLAY_wait, 112);
	op = add(graph, 0, IO, 132, 140);
	op->runtime_ns = 10 + 72;
	op->cpu_wait_ns = 48;
	graph_sort(graph);
	op = graph->tasks[0].ops;
	assert_int_equal(graph_edge_add(graph, 1, 1, &op[2], EDGE_mpi), 0);
	op[2].flags = WAIT_MPI;
	assert_int_equal(graph_pass_think(graph), 0);
	assert_int_equal(op[1].compute_ns, 2);
	assert_int_equal(op[3].compute_ns, 10);
	assert_int_equal(op[3].pause_ns, 10);
	assert_int_equal(op[3].cpu_wait_ns, 8);
	graph_close(graph);
}

/* Task 1 wakes task 0 out of @call. Before that, a timer ended a wait of task 0 in call 7 at 50. */
static struct graph *with_timeout(u32 call)
{
	struct graph *graph = begin(2);

	add(graph, 0, IO, 0, 10)->oncpu_ns = 10;
	timeout(graph, 0, 50, 7);
	add(graph, 0, IO, 60, 70)->runtime_ns = 14;
	add(graph, 1, IO, 0, 80);
	wake(graph, 1, 0, 90, 25);
	graph->tasks[0].ops[graph->tasks[0].op_count - 1].call = call;
	add(graph, 0, IO, 95, 99)->runtime_ns = 30;
	analyse(graph);
	return graph;
}

static void next_wake_up_from_the_same_call_can_end_a_timed_wait(void **state)
{
	struct graph *graph = with_timeout(7);
	const struct graph_op *ops = graph->tasks[0].ops;

	(void)state;
	assert_true(graph_is_timed(&ops[1]));
	assert_int_equal(graph->wakes[ops[1].event].task, 1);
	assert_int_equal(graph->wakes[ops[1].event].nop, 1);
	assert_int_equal(ops[1].compute_ns, 4);
	assert_int_equal(ops[1].pause_ns, 36);
	assert_int_equal(ops[2].compute_ns, 0);
	assert_int_equal(ops[2].pause_ns, 10);
	gives(graph, "0.3<1.1"); /* a timed wait has no edge: it delays nothing */
}

static void timed_wait_without_a_later_wake_up_is_think_time(void **state)
{
	const u32 calls[] = { 0, 8 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		struct graph *graph = with_timeout(calls[i]);

		assert_int_equal(graph->tasks[0].ops[1].kind, IO);
		assert_int_equal(graph->tasks[0].ops[1].compute_ns, 4);
		assert_int_equal(graph->tasks[0].ops[1].pause_ns, 46);
		gives(graph, "0.2<1.1");
	}
}

SUITE("wakes",
      TEST(next_wake_up_from_the_same_call_can_end_a_timed_wait)
      TEST(timed_wait_without_a_later_wake_up_is_think_time)
      TEST(woken_task_waits_for_preceding_operations)
      TEST(order_passes_through_tasks_without_files)
      TEST(wake_ups_without_successors_are_removed)
      TEST(no_task_waits_for_an_operation_in_progress)
      TEST(wait_is_not_think_time)
      TEST(wait_for_a_processor_is_not_a_wait_for_a_task)
      TEST(pause_before_an_exit_begins_when_the_other_task_sleeps)
      TEST(ranks_that_have_arrived_are_waited_for_before_a_wake_up_in_the_call)
      TEST(sleep_before_a_join_in_a_call_is_a_pause)
      TEST(a_library_that_sleeps_in_a_wait_does_not_poll)
      TEST(a_library_that_polls_shares_the_cpu)
      TEST(wait_without_order_is_think_time)
      TEST(pause_before_an_exit_is_limited_by_its_wait)
      TEST(a_wait_for_a_thread_lasts_as_long_as_its_work))
