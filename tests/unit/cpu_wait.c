// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpu_wait.c - the time for which tasks waited for a CPU: a part of pauses, and no part of a program that computes on CPUs.
 */
#include "analyse/graph/graph_load.h"
#include "analyse/order/order_passes.h"
#include "compile/compile.h"
#include "core/replay/program.h"
#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define HANDLE 7
#define RAN_NS 200 /* CPU time between two operations, which are 500 ns apart */

static void put_cpu_wait(struct scribe *s, u64 waited_ns)
{
	struct iot_record r = { .kind = IOT_KIND_cpu_wait };

	r.cpu_wait = (struct iot_rec_cpu_wait){ .time_ns = s->now_ns, .task = s->task, .op = s->op, .waited_ns = waited_ns };
	assert_int_equal(iot_writer_record(s->writer, &r), 0);
}

static void put_open(struct scribe *s)
{
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
}

static void put_read(struct scribe *s, u64 runtime_ns)
{
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 10, .result = 10, .runtime_ns = runtime_ns);
}

static void put_exec(struct scribe *s, u64 oncpu_ns)
{
	struct iot_record r = { .kind = IOT_KIND_exec };

	s->now_ns += 1000;
	r.exec = (struct iot_rec_exec){ .time_ns = s->now_ns, .task = s->task, .op = s->op, .into = s->task + 1, .oncpu_ns = oncpu_ns };
	assert_int_equal(iot_writer_record(s->writer, &r), 0);
	s->task++;
}

static void put_exit(struct scribe *s, u64 oncpu_ns)
{
	struct iot_record r = { .kind = IOT_KIND_exit };

	s->now_ns += 1000;
	r.exit = (struct iot_rec_exit){ .time_ns = s->now_ns, .task = s->task, .op = s->op, .oncpu_ns = oncpu_ns };
	assert_int_equal(iot_writer_record(s->writer, &r), 0);
}

/* A file is opened, and read after waits for a CPU of 250 ns in all, of which there may be two records. */
static void write_trace(u64 first_ns)
{
	struct scribe scribe, *s = &scribe;

	scribe_begin(s);
	put_open(s);
	put_cpu_wait(s, first_ns);
	if (first_ns < 250)
		put_cpu_wait(s, 250 - first_ns);
	put_read(s, RAN_NS);
	put_read(s, 2 * RAN_NS);
	scribe_finish(s);
}

static struct graph *load(struct tree **tree)
{
	struct iot_reject reject;
	struct graph *graph;

	assert_int_equal(graph_open(&graph), 0);
	assert_int_equal(tree_open(tree), 0);
	assert_int_equal(load_trace(scratch_trace, graph, *tree, NULL, &reject), 0);
	assert_int_equal(graph_pass_life(graph), 0);
	assert_int_equal(graph_pass_think(graph), 0);
	return graph;
}

static void gives(u32 task, u32 from_end, u64 compute_ns, u64 pause_ns, u64 cpu_wait_ns)
{
	struct tree *tree;
	struct graph *graph = load(&tree);
	const struct graph_task *t = &graph->tasks[task];
	const struct graph_op *op = &t->ops[t->op_count - 1 - from_end];

	assert_int_equal(op->compute_ns, compute_ns);
	assert_int_equal(op->pause_ns, pause_ns);
	assert_int_equal(op->cpu_wait_ns, cpu_wait_ns);
	tree_close(tree);
	graph_close(graph);
}

static void a_wait_is_part_of_the_pause(void **state)
{
	(void)state;
	write_trace(250);
	gives(0, 1, RAN_NS, 300, 250);
	gives(0, 0, RAN_NS, 300, 0);
}

static void waits_add_up(void **state)
{
	(void)state;
	write_trace(100);
	gives(0, 1, RAN_NS, 300, 250);
}

static void a_wait_is_no_longer_than_the_pause(void **state)
{
	(void)state;
	write_trace(1000);
	gives(0, 1, RAN_NS, 300, 300);
	gives(0, 0, RAN_NS, 300, 0);
}

static void cpu_time_continues_over_an_exec(void **state)
{
	struct scribe scribe, *s = &scribe;

	(void)state;
	scribe_begin(s);
	put_open(s);
	put_exec(s, 700);
	put_cpu_wait(s, 100);
	put_exit(s, 900);
	scribe_finish(s);
	gives(0, 0, 700, 300, 0);
	gives(1, 0, 200, 800, 100);
}

static void an_exec_of_older_traces_states_no_cpu_time(void **state)
{
	struct scribe scribe, *s = &scribe;

	(void)state;
	scribe_begin(s);
	put_open(s);
	put_exec(s, 0);
	put_exit(s, 900);
	scribe_finish(s);
	gives(1, 0, 0, 1000, 0);
}

/* The pause of the first read in the program of a trace, and whether the program computes. */
static u64 compile(enum compile_think think, bool *computes)
{
	struct compile_options options = { .trace = scratch_trace, .program = scratch_program, .rules = ORDER_DEFAULT,
					   .think = think };
	struct compile_summary summary;
	struct iot_program program;
	struct iot_reject reject;
	u64 pause_ns = 0, i;

	assert_int_equal(compile_trace(&options, &summary, &reject), 0);
	assert_int_equal(iot_program_load(scratch_program, &program, &reject), 0);
	*computes = iot_program_computes(&program);
	assert_int_equal(*computes, summary.computes);
	for (i = program.op_count; i-- > 0;)
		if (le16_to_cpu(program.ops[i].kind) == IOT_KIND_read)
			pause_ns = le64_to_cpu(program.ops[i].pause_ns);
	iot_program_free(&program);
	compile_summary_free(&summary);
	return pause_ns;
}

static void a_program_that_computes_has_no_waits_for_cpus(void **state)
{
	bool computes;

	(void)state;
	write_trace(250);
	assert_int_equal(compile(COMPILE_THINK_CPU, &computes), 50);
	assert_true(computes);
	assert_int_equal(compile(COMPILE_THINK_SLEEP, &computes), 300);
	assert_false(computes);
}

/* One task computes and waits for a CPU. Meanwhile, another one computes, or does not. */
static void write_competition(struct scribe *s, u64 runtime_ns, u64 other_runtime_ns)
{
	put_open(s);
	s->task = 2;
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE + 1, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
	s->task = 1;
	s->now_ns += 100000;
	put_cpu_wait(s, 50000);
	put_read(s, runtime_ns);
	s->task = 2;
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE + 1, .length_bytes = 10, .result = 10,
	    .runtime_ns = other_runtime_ns);
}

static void write_two(u64 runtime_ns, u64 other_runtime_ns)
{
	struct scribe scribe;

	scribe_begin(&scribe);
	write_competition(&scribe, runtime_ns, other_runtime_ns);
	scribe_finish(&scribe);
}

static void waits_for_own_tasks_make_a_program_compute(void **state)
{
	bool computes;

	(void)state;
	write_two(RAN_NS, 80000);
	compile(COMPILE_THINK_AUTO, &computes);
	assert_true(computes);
	write_two(RAN_NS, 0);
	compile(COMPILE_THINK_AUTO, &computes);
	assert_false(computes);
}

static void waits_for_others_are_pauses(void **state)
{
	bool computes;

	(void)state;
	write_trace(250);
	assert_int_equal(compile(COMPILE_THINK_AUTO, &computes), 300);
	assert_false(computes);
	write_two(40000, 0);
	compile(COMPILE_THINK_AUTO, &computes);
	assert_false(computes);
}

/* A task waits for a CPU while one that it has made computes, and does nothing else but perhaps a read. */
static void write_child(bool reads)
{
	struct scribe scribe, *s = &scribe;

	scribe_begin(s);
	put_open(s);
	PUT(fork, .task = 1, .op = s->op, .child = 3);
	PUT(task, .task = 3, .pid = 3, .tgid = 3, .parent = 1, .why = IOT_REASON_fork);
	s->task = 3;
	s->now_ns += 100000;
	if (reads)
		put_read(s, 80000);
	s->task = 1;
	put_cpu_wait(s, 50000);
	put_read(s, RAN_NS);
	s->task = 3;
	put_exit(s, 90000);
	scribe_finish(s);
}

static void tasks_that_are_not_played_do_not_compete(void **state)
{
	bool computes;

	(void)state;
	write_child(true);
	compile(COMPILE_THINK_AUTO, &computes);
	assert_true(computes);
	write_child(false);
	compile(COMPILE_THINK_AUTO, &computes);
	assert_false(computes);
}

static void a_program_with_mpi_calls_sleeps(void **state)
{
	struct scribe scribe, *s = &scribe;
	bool computes;

	(void)state;
	scribe_begin(s);
	write_competition(s, RAN_NS, 80000);
	PUT(mpi_coll, .call = IOT_CALL_barrier, .comm = 11, .number = 1, .root = -1, .sources = IOT_SOURCES_all);
	scribe_finish(s);
	compile(COMPILE_THINK_AUTO, &computes);
	assert_false(computes);
	compile(COMPILE_THINK_CPU, &computes);
	assert_true(computes);
}

static void without_waits_a_program_sleeps(void **state)
{
	struct scribe scribe, *s = &scribe;
	bool computes;

	(void)state;
	scribe_begin(s);
	put_open(s);
	put_read(s, RAN_NS);
	scribe_finish(s);
	assert_int_equal(compile(COMPILE_THINK_AUTO, &computes), 300);
	assert_false(computes);
	assert_int_equal(compile(COMPILE_THINK_CPU, &computes), 300);
	assert_true(computes);
}

SUITE("cpu_wait",
      WITH_SCRATCH(a_wait_is_part_of_the_pause)
      WITH_SCRATCH(waits_add_up)
      WITH_SCRATCH(a_wait_is_no_longer_than_the_pause)
      WITH_SCRATCH(cpu_time_continues_over_an_exec)
      WITH_SCRATCH(an_exec_of_older_traces_states_no_cpu_time)
      WITH_SCRATCH(a_program_that_computes_has_no_waits_for_cpus)
      WITH_SCRATCH(waits_for_own_tasks_make_a_program_compute)
      WITH_SCRATCH(waits_for_others_are_pauses)
      WITH_SCRATCH(tasks_that_are_not_played_do_not_compete)
      WITH_SCRATCH(a_program_with_mpi_calls_sleeps)
      WITH_SCRATCH(without_waits_a_program_sleeps))
