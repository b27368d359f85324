// SPDX-License-Identifier: GPL-2.0-only
/*
 * life.c - the order of tasks that follows from fork, exec and exit.
 *
 * The resulting graph is written as text: for each task its id and, after a colon, its operations
 * in order. After an operation that waits, "<" is followed by the id of the other task and its operation.
 */
#include <sys/stat.h>

#include "analyse/graph/graph_load.h"
#include "scratch.h"
#include "suite.h"
#include "analyse/order/order_passes.h"

#define BEGIN_NS 1000000
#define MS	 1000000
#define ROOT	 1
#define FILE_A	 2 /* and its name */
#define TASKS	 4

static struct iot_writer *writer;
static u32 op_counts[TASKS + 1];

/* -- a trace ------------------------------------------------------------------------------------ */

static void put(struct iot_record record, const char *tail)
{
	record.tail = (const u8 *)tail;
	record.tail_bytes = (u16)(tail ? strlen(tail) : 0);
	assert_int_equal(iot_writer_record(writer, &record), 0);
}

#define EVENT(kind_, at_ns, ...)                                   \
	put((struct iot_record){ .kind = IOT_KIND_##kind_,         \
				 .kind_ = { .time_ns = BEGIN_NS + (at_ns), __VA_ARGS__ } }, NULL)

#define OP(kind_, task_, from_ns, to_ns, ...)                                                  \
	put((struct iot_record){ .kind = IOT_KIND_##kind_,                                     \
				 .kind_ = { .enter_ns = BEGIN_NS + (from_ns),                  \
					    .duration_ns = (to_ns) - (from_ns), .task = (task_), \
					    .op = ++op_counts[task_], __VA_ARGS__ } }, NULL)

static void put_task(u32 task, u32 parent, u32 why, u64 at_ns)
{
	EVENT(task, at_ns, .task = task, .parent = parent, .pid = task, .tgid = task, .why = why);
}

/* @why: reason for the existence of task 1. */
static void begin(u32 why)
{
	static const unsigned char capture[16] = "life";

	memset(op_counts, 0, sizeof(op_counts));
	assert_int_equal(iot_writer_open(scratch_trace, capture, &writer), 0);
	EVENT(name, 0, .name = ROOT);
	EVENT(object, 0, .object = ROOT, .name = ROOT, .type = IOT_TYPE_dir, .mode = S_IFDIR | 0755,
	      .ino = 99);
	EVENT(mount, 0, .object = ROOT);
	put((struct iot_record){ .kind = IOT_KIND_name,
				 .name = { .time_ns = BEGIN_NS, .name = FILE_A, .dir = ROOT } }, "a");
	EVENT(object, 0, .object = FILE_A, .name = FILE_A, .type = IOT_TYPE_file,
	      .mode = S_IFREG | 0644, .ino = 100, .nlink = 1, .size_bytes = 8192);
	put_task(1, 0, why, 10);
}

static void put_fork(u32 task, u32 child, u64 at_ns)
{
	put_task(child, task, IOT_REASON_fork, at_ns);
	EVENT(fork, at_ns + 10, .task = task, .op = op_counts[task], .child = child);
}

static void put_open(u32 task, u64 from_ns, u64 to_ns, u64 runtime_ns)
{
	OP(open, task, from_ns, to_ns, .object = FILE_A, .name = FILE_A, .handle = 10 + task,
	   .flags = IOT_OPEN_read, .runtime_ns = runtime_ns);
}

static void put_map(u32 task, u64 at_ns, u32 flags)
{
	OP(map, task, at_ns, at_ns + 100, .object = FILE_A, .handle = 10 + task, .map = 1,
	   .length_bytes = 4096, .prot = IOT_PROT_read, .flags = flags);
}

static void put_exit(u32 task, u64 at_ns)
{
	EVENT(exit, at_ns, .task = task, .op = op_counts[task]);
}

/* -- from a graph to a text --------------------------------------------------------------------- */

static const char *name_of(const struct graph_op *op)
{
	static const char *const leaves[] = { [WAIT_MPI] = "mpi", [WAIT_MADE] = "made",
					      [WAIT_ENDED] = "ended", [WAIT_DONE] = "done",
					      [WAIT_WOKEN] = "woken" };

	if (op->kind == IOT_PLAY_wait)
		return leaves[op->flags];
	return op->kind < IOT_KIND_END ? iot_kind_info(op->kind)->name : "?";
}

static void describe(char *text, size_t room, const struct graph *graph)
{
	size_t at = 0;
	u32 i, j, e;

	for (i = 0; i < graph->task_count; i++) {
		at += (size_t)snprintf(text + at, room - at, "%s%u:", i ? "; " : "", graph->tasks[i].id);
		for (j = 0; j < graph->tasks[i].op_count; j++) {
			const struct graph_op *op = &graph->tasks[i].ops[j];

			at += (size_t)snprintf(text + at, room - at, " %s", name_of(op));
			for (e = op->edges; e != GRAPH_NONE; e = graph->edges[e].next) {
				const struct graph_task *t = &graph->tasks[graph->edges[e].task];

				at += (size_t)snprintf(text + at, room - at, "<%u.%s", t->id,
						       name_of(&t->ops[graph->edges[e].index]));
			}
		}
	}
}

/* Ends the trace. The caller closes both. */
static void analyse(struct graph **graph, struct tree **tree)
{
	struct iot_reject reject;

	EVENT(end, 1000 * MS, .records = 1);
	assert_int_equal(iot_writer_finish(writer), 0);
	iot_writer_close(writer);
	assert_int_equal(graph_open(graph), 0);
	assert_int_equal(tree_open(tree), 0);
	assert_int_equal(load_trace(scratch_trace, *graph, *tree, NULL, &reject), 0);
	assert_int_equal(graph_pass_life(*graph), 0);
}

/* Ends the trace. */
static void gives(const char *expected)
{
	struct graph *graph;
	struct tree *tree;
	char text[512];

	analyse(&graph, &tree);
	describe(text, sizeof(text), graph);
	assert_string_equal(text, expected);
	tree_close(tree);
	graph_close(graph);
}

/* -- the tests ---------------------------------------------------------------------------------- */

/* The exit record precedes the closes by the kernel: the parent waits for these as for all others. */
static void parent_waits_for_a_child_that_closes_files_at_exit(void **state)
{
	(void)state;
	begin(IOT_REASON_adopt);
	put_fork(1, 2, 1000);
	put_open(2, 5000, 6000, 0);
	put_exit(2, 100 * MS);
	OP(flush, 2, 100 * MS + 1000, 100 * MS + 2000, .object = FILE_A, .handle = 12);
	OP(release, 2, 100 * MS + 3000, 100 * MS + 4000, .object = FILE_A, .handle = 12);
	put_open(1, 101 * MS, 102 * MS, 5000);
	gives("1: fork ended<2.exit open; 2: made<1.fork open exit flush release");
}

/* In a log with coarse times, a wait can precede the creation of the task that it waits for. */
static void parent_does_not_wait_for_a_child_that_ends_at_its_creation(void **state)
{
	(void)state;
	begin(IOT_REASON_adopt);
	put_fork(1, 2, 1000);
	put_exit(2, 1000);
	OP(flush, 2, 1000, 1000, .object = FILE_A, .handle = 12);
	put_open(1, 101 * MS, 102 * MS, 0);
	gives("1: ended fork open; 2: made<1.fork exit flush");
}

/* No task waits for the orphan; its operations after the exit of its parent are not those of its parent. */
static void parent_waits_for_a_child_that_leaves_an_orphan(void **state)
{
	(void)state;
	begin(IOT_REASON_adopt);
	put_fork(1, 2, 1000);
	put_fork(2, 3, 2000);
	put_open(2, 5000, 6000, 0);
	put_exit(2, 100 * MS);
	put_open(1, 101 * MS, 102 * MS, 5000);
	put_open(3, 200 * MS, 201 * MS, 0);
	put_exit(3, 300 * MS);
	gives("1: fork ended<2.exit open; 2: made<1.fork fork open exit; 3: made<2.fork open exit");
}

/* The child is announced before the record of its fork: inherited handles are not older than the child. */
static void a_child_waits_for_its_fork_before_it_inherits(void **state)
{
	(void)state;
	begin(IOT_REASON_adopt);
	put_open(1, 1000, 2000, 0);
	put_map(1, 3000, 0);
	put_map(1, 10 * MS, IOT_MAP_inherited);
	put_fork(1, 2, 11 * MS);
	put_open(2, 12 * MS, 13 * MS, 0);
	gives("1: open map fork; 2: made<1.fork map open");
}

static void child_announced_at_the_same_time_waits_for_its_fork(void **state)
{
	(void)state;
	begin(IOT_REASON_adopt);
	put_open(1, 1000, 2000, 0);
	put_map(1, 3000, 0);
	put_map(1, 10 * MS, IOT_MAP_inherited);
	put_task(2, 1, IOT_REASON_fork, 11 * MS);
	EVENT(fork, 11 * MS, .task = 1, .op = op_counts[1], .child = 2);
	put_open(2, 12 * MS, 13 * MS, 0);
	gives("1: open map fork; 2: made<1.fork map open");
}

/* Objects that existed at the start are created before all recorded operations. */
static void child_seen_before_the_fork_record_waits_for_its_fork(void **state)
{
	(void)state;
	begin(IOT_REASON_adopt);
	put_task(2, 1, IOT_REASON_seen, 20);
	EVENT(opened, 30, .task = 2, .object = FILE_A, .handle = 9, .fd = 3, .name = FILE_A,
	      .flags = IOT_OPEN_read);
	EVENT(fork, 40, .task = 1, .op = 0, .child = 2);
	put_open(2, 12 * MS, 13 * MS, 0);
	gives("1: fork; 2: open made<1.fork open");
}

static void put_child_that_is_waited_for(u32 maker)
{
	put_fork(maker, 3, 1000);
	put_open(3, 5000, 500 * MS, 0);
	put_exit(3, 900 * MS);
	put_open(maker, 901 * MS, 902 * MS, 5000ull * MS);
}

/* A task that existed at the start has used CPU time before, which says nothing about the wait. */
static void task_from_before_the_recording_waits(void **state)
{
	(void)state;
	begin(IOT_REASON_seen);
	put_child_that_is_waited_for(1);
	gives("1: fork ended<3.exit open; 3: made<1.fork open exit");
}

/* The handles that it had open then are not operations of its own. */
static void task_with_files_open_before_the_recording_waits(void **state)
{
	(void)state;
	begin(IOT_REASON_seen);
	EVENT(opened, 20, .task = 1, .object = FILE_A, .handle = 9, .fd = 3, .name = FILE_A,
	      .flags = IOT_OPEN_read);
	put_child_that_is_waited_for(1);
	gives("1: open fork ended<3.exit open; 3: made<1.fork open exit");
}

static void task_that_ran_before_its_exec_waits(void **state)
{
	(void)state;
	begin(IOT_REASON_adopt);
	EVENT(exec, 20, .task = 1, .into = 2);
	put_task(2, 1, IOT_REASON_exec, 30);
	put_child_that_is_waited_for(2);
	gives("1: exec; 2: made<1.exec fork ended<3.exit open; 3: made<2.fork open exit");
}

/* A new task has run since its start: if it ran for all the time until its next operation, it has not waited. */
static void task_that_ran_all_the_time_does_not_wait(void **state)
{
	(void)state;
	begin(IOT_REASON_adopt);
	put_fork(1, 2, 500);
	put_child_that_is_waited_for(2);
	gives("1: fork; 2: made<1.fork fork open; 3: made<2.fork open exit");
}

/* The same for a task that ran whenever the collector let it continue. */
static void task_that_only_waited_for_the_collector_does_not_wait(void **state)
{
	(void)state;
	begin(IOT_REASON_adopt);
	put_fork(1, 2, 500);
	put_fork(2, 3, 1000);
	put_open(3, 5000, 6000, 0);
	EVENT(backpressure, 10000, .duration_ns = 800 * MS, .task = 2, .op = 0);
	put_exit(3, 900 * MS);
	put_open(2, 901 * MS, 902 * MS, 101 * MS);
	gives("1: fork; 2: made<1.fork fork open; 3: made<2.fork open exit");
}

/* Ends the trace, whose task 1 becomes the command: the think time of all operations, and the start of the run. */
static void thinks(u64 expected_ns, u64 begin_ns)
{
	struct graph *graph;
	struct tree *tree;
	u64 ns = 0;
	u32 i, j;

	analyse(&graph, &tree);
	assert_int_equal(graph_pass_think(graph), 0);
	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++)
			ns += graph->tasks[i].ops[j].compute_ns + graph->tasks[i].ops[j].pause_ns;
	assert_int_equal(ns, expected_ns);
	assert_int_equal(graph->tasks[0].begin_ns, BEGIN_NS + begin_ns);
	tree_close(tree);
	graph_close(graph);
}

static void the_run_begins_with_the_exec_of_the_command(void **state)
{
	(void)state;
	begin(IOT_REASON_adopt);
	EVENT(exec, 7 * MS, .task = 1, .into = 2);
	put_task(2, 1, IOT_REASON_exec, 7 * MS);
	put_open(2, 9 * MS, 10 * MS, 0);
	thinks(2 * MS, 7 * MS);
}

/* The exec reads a recorded file for 1 ms, then works for 3 ms. */
static void the_run_begins_with_the_needs_of_the_exec(void **state)
{
	(void)state;
	begin(IOT_REASON_adopt);
	EVENT(opened, 20, .task = 1, .object = FILE_A, .handle = 9, .fd = 3, .name = FILE_A,
	      .flags = IOT_OPEN_read);
	put_open(1, 3 * MS, 4 * MS, 0);
	EVENT(exec, 7 * MS, .task = 1, .into = 2);
	put_task(2, 1, IOT_REASON_exec, 7 * MS);
	put_open(2, 9 * MS, 10 * MS, 0);
	thinks(5 * MS, 3 * MS);
}

/* A log of a program that was already running has no exec: the time before its first operation is its own. */
static void the_log_of_a_running_program_begins_the_run(void **state)
{
	(void)state;
	begin(IOT_REASON_adopt);
	put_open(1, 3 * MS, 4 * MS, 0);
	thinks(3 * MS - 10, 10);
}

SUITE("life",
      WITH_SCRATCH(parent_waits_for_a_child_that_closes_files_at_exit)
      WITH_SCRATCH(parent_does_not_wait_for_a_child_that_ends_at_its_creation)
      WITH_SCRATCH(parent_waits_for_a_child_that_leaves_an_orphan)
      WITH_SCRATCH(a_child_waits_for_its_fork_before_it_inherits)
      WITH_SCRATCH(child_announced_at_the_same_time_waits_for_its_fork)
      WITH_SCRATCH(child_seen_before_the_fork_record_waits_for_its_fork)
      WITH_SCRATCH(task_from_before_the_recording_waits)
      WITH_SCRATCH(task_with_files_open_before_the_recording_waits)
      WITH_SCRATCH(task_that_ran_before_its_exec_waits)
      WITH_SCRATCH(task_that_ran_all_the_time_does_not_wait)
      WITH_SCRATCH(task_that_only_waited_for_the_collector_does_not_wait)
      WITH_SCRATCH(the_run_begins_with_the_exec_of_the_command)
      WITH_SCRATCH(the_run_begins_with_the_needs_of_the_exec)
      WITH_SCRATCH(the_log_of_a_running_program_begins_the_run))
