// SPDX-License-Identifier: GPL-2.0-only
/*
 * discover_runs.c - runs of a discovery, read from their traces.
 *
 * A run has the tasks 1 and 2, and in tests of the plan 3, each of which is a thread; they read a file with the path a.
 */
#include "discover/discover.h"
#include "discover/run.h"

#include <errno.h>

#include <string.h>

#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define READS 50
#define MS    1000000ull

/* Each read runs for 5 ms, after 15 ms on a CPU since the one before. */
static void read_file(struct scribe *s, u32 task)
{
	s->task = task;
	PUT(read, .object = SCRIBE_FILE, .length_bytes = 10, .result = 10, .runtime_ns = s->op * 20 * MS, .oncpu_ns = 5 * MS);
}

static void write_run(void)
{
	struct scribe scribe, *s = &scribe;
	u32 i;

	scribe_begin(s);
	for (i = 0; i < READS; i++)
		read_file(s, 1 + i % 2);
	scribe_finish(s);
}

static void runs_share_one_copy_of_a_path(void **state)
{
	struct run runs[2] = {};
	struct iot_reject reject;
	struct run_paths *paths;
	u32 i, j, k;

	(void)state;
	write_run();
	assert_int_equal(run_paths_open(&paths), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(run_load(&runs[i], scratch_trace, paths, &reject), 0);
		assert_int_equal(runs[i].task_count, 2);
		for (j = 0; j < 2; j++)
			for (k = 0; k < READS / 2; k++)
				assert_ptr_equal(runs[i].tasks[j].places[k].path, runs[0].tasks[0].places[0].path);
	}
	assert_string_equal(runs[0].tasks[0].places[0].path, "a");
	assert_int_equal(run_paths_count(paths), 1);
	run_free(&runs[0]);
	run_free(&runs[1]);
	run_paths_close(paths);
}

static void different_paths_have_different_copies(void **state)
{
	struct run_paths *paths;
	char text[16];
	const char *copy;
	u32 i;

	(void)state;
	assert_int_equal(run_paths_open(&paths), 0);
	for (i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), "/%u", i % 1000);
		copy = run_paths_intern(paths, text);
		assert_ptr_not_equal(copy, text);
		assert_string_equal(copy, text);
	}
	assert_int_equal(run_paths_count(paths), 1000);
	run_paths_close(paths);
}

/* -- the plan -------------------------------------------------------------------------------- */

/* Reads of 1 ms. Times are in ms, and end the list by 0. */
static const u64 reads_of_1[] = { 10, 20, 60, 0 }, reads_of_2[] = { 30, 100, 0 }, reads_of_3[] = { 40, 42, 44, 46, 101, 0 };

struct next {
	const u64 *ms;
	u32 op;
};

/* The next task, by the time of its read. */
static u32 earliest(const struct next next[3])
{
	u32 i, first = 3;

	for (i = 0; i < 3; i++)
		if (*next[i].ms && (first == 3 || *next[i].ms < *next[first].ms))
			first = i;
	return first;
}

/* Writes a run. In one with a delay, task 1 is delayed for 1 s after its second read, for which all later reads wait. */
static void write_three(bool has_delay)
{
	struct next next[3] = { { reads_of_1 }, { reads_of_2 }, { reads_of_3 } };
	struct scribe scribe, *s = &scribe;
	u64 late_ms = 0;
	u32 i;

	scribe_begin(s);
	PUT(task, .task = 3, .pid = 3, .tgid = 3, .why = IOT_REASON_seen);
	s->span_ns = MS;
	while ((i = earliest(next)) < 3) {
		s->now_ns = (*next[i].ms + 1 + late_ms) * MS - 1000;
		s->op = next[i].op++;
		read_file(s, i + 1);
		next[i].ms++;
		if (has_delay && !i && next[i].op == 2) {
			late_ms = 1000;
			s->now_ns += late_ms * MS;
			PUT(delayed, .duration_ns = late_ms * MS, .task = 1, .op = 2);
		}
	}
	scribe_finish(s);
}

static struct discovery *open_three(void)
{
	char why[DISCOVERY_WHY_BYTES];
	struct discovery *discovery;
	struct iot_reject reject;

	write_three(false);
	assert_int_equal(discovery_open(&discovery), 0);
	assert_int_equal(discovery_add(discovery, scratch_trace, &reject, why), 0);
	return discovery;
}

static void thread_that_may_explain_most_is_delayed_first(void **state)
{
	struct discovery *discovery = open_three();
	struct discovery_plan plan;

	(void)state;
	discovery_note_waiting(discovery, 2, 1, 25 * MS);
	discovery_note_waiting(discovery, 2, 2, 3 * MS);
	assert_int_equal(discovery_plan(discovery, false, &plan), 0);
	assert_int_equal(plan.thread.number, 1);
	assert_int_equal(plan.gain_ns, 28 * MS);
	assert_int_equal(plan.left_ns, 28 * MS);
	assert_int_equal(plan.waiting_ns, 28 * MS);
	discovery_set_delayed(discovery, 1);
	assert_int_equal(discovery_plan(discovery, false, &plan), 0);
	assert_int_equal(plan.thread.number, 3);
	assert_int_equal(plan.gain_ns, 3 * MS);
	discovery_close(discovery);
}

static void run_without_waits_is_the_only_one(void **state)
{
	struct discovery *discovery = open_three();
	struct discovery_plan plan;

	(void)state;
	assert_int_equal(discovery_plan(discovery, false, &plan), -ENOENT);
	discovery_note_waiting(discovery, 2, 1, MS / 2); /* of 100 ms */
	assert_int_equal(discovery_plan(discovery, false, &plan), -ENOENT);
	assert_int_equal(discovery_plan(discovery, true, &plan), 0);
	assert_int_equal(plan.thread.number, 3); /* has the most operations */
	discovery_close(discovery);
}

static void wait_during_which_no_other_thread_ends_an_operation_is_none(void **state)
{
	struct discovery *discovery = open_three();
	struct discovery_plan plan;

	(void)state;
	discovery_note_waiting(discovery, 1, 2, 9 * MS);
	assert_int_equal(discovery_plan(discovery, false, &plan), -ENOENT);
	discovery_close(discovery);
}

/* Task 2 waits for the second read of task 1, so 9 ms remain, which no other read could explain. */
static void order_explains_the_wait_until_its_operation_ended(void **state)
{
	struct discovery *discovery = open_three();
	char why[DISCOVERY_WHY_BYTES];
	struct discovery_result result;
	struct discovery_plan plan;
	struct iot_reject reject;

	(void)state;
	discovery_note_waiting(discovery, 2, 1, 28 * MS);
	write_three(true);
	assert_int_equal(discovery_add(discovery, scratch_trace, &reject, why), 0);
	discovery_set_delayed(discovery, 3);
	assert_int_equal(discovery_plan(discovery, false, &plan), 0);
	assert_int_equal(plan.gain_ns, 28 * MS);
	assert_int_equal(discovery_find(discovery, &result), 0);
	assert_true(result.edges > 0);
	assert_int_equal(discovery_plan(discovery, false, &plan), 0); /* the orders have changed */
	assert_int_equal(plan.gain_ns, 0);
	assert_int_equal(plan.left_ns, 0);
	assert_int_equal(discovery_find(discovery, &result), 0);
	assert_int_equal(discovery_plan(discovery, false, &plan), -ENOENT);
	discovery_close(discovery);
}

/* -- known orders -------------------------------------------------------------------------------- */

static void note(struct discovery *discovery, u32 task, u32 op, u32 waiter, u32 waiter_op, bool is_wait)
{
	const struct discovery_known known = { task, op, waiter, waiter_op, is_wait };

	assert_int_equal(discovery_note_known(discovery, &known), 0);
}

/* The run with a delay shows that the reads of tasks 2 and 3 wait for the second read of task 1. */
static void known_waits_are_compared_with_those_found(void **state)
{
	struct discovery *discovery = open_three();
	char why[DISCOVERY_WHY_BYTES];
	struct discovery_result result;
	struct iot_reject reject;

	(void)state;
	write_three(true);
	assert_int_equal(discovery_add(discovery, scratch_trace, &reject, why), 0);
	assert_int_equal(discovery_find(discovery, &result), 0);
	assert_int_equal(result.edges, 2);
	assert_int_equal(result.once, 2);
	note(discovery, 1, 1, 2, 1, true);  /* is weaker than one that was found: the second read of task 2 */
	note(discovery, 1, 2, 2, 0, true);  /* was found */
	note(discovery, 2, 1, 3, 0, true);  /* was not found */
	note(discovery, 3, 5, 1, 1, true);  /* was kept by no run */
	note(discovery, 1, 2, 1, 0, true);  /* is of one thread */
	note(discovery, 1, 2, 2, 2, true);  /* no place follows */
	note(discovery, 1, 2, 3, 0, false); /* is no wait */
	assert_int_equal(discovery_compare(discovery, &result), 0);
	assert_int_equal(result.known, 4);
	assert_int_equal(result.known_found, 2);
	assert_int_equal(result.known_contradicted, 1);
	assert_int_equal(result.confirmed, 2);
	discovery_close(discovery);
}

/* Task 1 reads at 60 ms, 39 ms after its second read, of which it runs for 15 ms; the delay ends 1 us late. */
static void compute_time_is_that_after_delays_and_that_on_a_cpu(void **state)
{
	struct discovery *discovery = open_three();
	char why[DISCOVERY_WHY_BYTES];
	struct discovery_compute compute;
	struct iot_reject reject;

	(void)state;
	write_three(true);
	assert_int_equal(discovery_add(discovery, scratch_trace, &reject, why), 0);
	discovery_compute(discovery, 1, &compute);
	assert_int_equal(compute.gaps, 1);
	assert_in_range(compute.delayed_ns, 38 * MS, 39 * MS);
	assert_int_equal(compute.cpu_ns, 15 * MS);
	discovery_compute(discovery, 2, &compute);
	assert_int_equal(compute.gaps, 0);
	discovery_close(discovery);
}

static void put_fact(struct scribe *s, const char *text)
{
	struct iot_record fact = { .kind = IOT_KIND_fact, .fact.time_ns = s->now_ns, .tail = (const u8 *)text, .tail_bytes = (u16)strlen(text) };

	assert_int_equal(iot_writer_record(s->writer, &fact), 0);
}

/* The facts of a merge; tasks 1 and 2 are on a node with dots in its name. */
static void threads_are_numbered_on_each_node(void **state)
{
	static const struct {
		const char *node;
		u32 number;
	} rows[] = { { "a.example", 1 }, { "a.example", 2 }, { "b", 1 } };
	struct scribe scribe, *s = &scribe;
	char why[DISCOVERY_WHY_BYTES];
	struct discovery_thread thread;
	struct discovery *discovery;
	struct iot_reject reject;
	u32 i;

	(void)state;
	scribe_begin(s);
	put_fact(s, "node.a.example.tasks=1-2");
	put_fact(s, "node.b.tasks=3-3");
	PUT(task, .task = 3, .pid = 3, .tgid = 3, .why = IOT_REASON_seen);
	for (i = 0; i < 3; i++)
		read_file(s, 1 + i);
	scribe_finish(s);
	assert_int_equal(discovery_open(&discovery), 0);
	assert_int_equal(discovery_add(discovery, scratch_trace, &reject, why), 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(discovery_thread(discovery, i, &thread), 0);
		assert_int_equal(thread.number, i + 1);
		assert_string_equal(thread.node, rows[i].node);
		assert_int_equal(thread.node_number, rows[i].number);
	}
	assert_string_equal(discovery_node(discovery, 1), "b");
	assert_null(discovery_node(discovery, 2));
	discovery_close(discovery);
}

/* 19 gaps of 20 ms and one of 500 ms: the usual gap is not that one. */
static void longest_gap_is_not_the_usual_one(void **state)
{
	char why[DISCOVERY_WHY_BYTES] = "";
	struct scribe scribe, *s = &scribe;
	struct discovery_thread thread;
	struct discovery *discovery;
	struct iot_reject reject;
	u32 i;

	(void)state;
	scribe_begin(s);
	for (i = 0; i < 21; i++) {
		s->now_ns += i == 10 ? 500 * MS : 20 * MS;
		read_file(s, 1);
	}
	scribe_finish(s);
	assert_int_equal(discovery_open(&discovery), 0);
	assert_int_equal(discovery_add(discovery, scratch_trace, &reject, why), 0);
	assert_int_equal(discovery_thread(discovery, 0, &thread), 0);
	assert_int_equal(thread.places, 21);
	assert_in_range(thread.gap_ns, 20 * MS, 21 * MS);
	assert_in_range(thread.longest_gap_ns, 500 * MS, 501 * MS);
	discovery_close(discovery);
}

SUITE("discover_runs",
      WITH_SCRATCH(longest_gap_is_not_the_usual_one)
      WITH_SCRATCH(threads_are_numbered_on_each_node)
      WITH_SCRATCH(runs_share_one_copy_of_a_path)
      TEST(different_paths_have_different_copies)
      WITH_SCRATCH(thread_that_may_explain_most_is_delayed_first)
      WITH_SCRATCH(run_without_waits_is_the_only_one)
      WITH_SCRATCH(wait_during_which_no_other_thread_ends_an_operation_is_none)
      WITH_SCRATCH(order_explains_the_wait_until_its_operation_ended)
      WITH_SCRATCH(known_waits_are_compared_with_those_found)
      WITH_SCRATCH(compute_time_is_that_after_delays_and_that_on_a_cpu))
