// SPDX-License-Identifier: GPL-2.0-only
/*
 * ordering.c - a random application has the same results in any order that its
 * program permits.
 *
 * The trace of a run is compiled, and the program runs on a new file system many
 * times: repeatedly, a random task whose next operation may start runs it. Every
 * operation must have the result of the trace, and find the same object, size and
 * entries. Without its order, a program must fail this test.
 *
 * IOTAPE_TEST_PROGRAMS=N tests N applications instead of a few; IOTAPE_TEST_VERBOSE prints
 * the failures of each.
 */
#include <stdlib.h>
#include <unistd.h>

#include "analyse/graph/graph.h"
#include "application.h"
#include "compile/compile.h"
#include "core/replay/order.h"
#include "scratch.h"
#include "suite.h"

#define PROGRAMS  40 /* unless IOTAPE_TEST_PROGRAMS is set */
#define SCHEDULES 10
#define STEPS	  160
#define TASKS_MAX 128 /* including request queues */

static const char *const trace = scratch_trace, *const program = scratch_program;
static u64 overlaps; /* pairs of operations in all traces */

struct run {
	const struct iot_program *program;
	const struct app_truth *truth;
	struct iot_order order;
	struct fs fs;
	u64 random;
	u64 step;
	u64 marks[TASKS_MAX];	   /* step of the mark that a task has passed, 0 if none */
	s64 done[APP_TASKS + 1][APP_OPS_MAX]; /* result of a request that has moved its data, or -1 */
	u64 started[APP_TASKS + 1][APP_OPS_MAX]; /* step of each operation, or of its mark */
	u32 wrong;
	char first[256]; /* first failure */
};

static u32 below(struct run *run, u32 limit)
{
	run->random ^= run->random << 13;
	run->random ^= run->random >> 7;
	run->random ^= run->random << 17;
	return (u32)((run->random >> 20) % limit);
}

/* -- the initial tree ------------------------------------------------------------------------------ */

static void build(struct run *run)
{
	const struct iot_program *p = run->program;
	u32 i;

	fs_init(&run->fs);
	run->fs.nodes[FS_ROOT].tag = app_tag_of_path(".");
	for (i = 0; i < p->entry_count; i++) {
		const char *path = iot_program_string(p, p->tree[i].path);
		int node;

		if (!strcmp(path, "."))
			continue;
		node = fs_make(&run->fs, path, le32_to_cpu(p->tree[i].mode) >> 12,
			       app_tag_of_path(path));
		assert_true(node >= 0);
		run->fs.nodes[node].size = le64_to_cpu(p->tree[i].size_bytes);
		snprintf(run->fs.nodes[node].target, FS_NAME, "%s",
			 iot_program_string(p, p->tree[i].target));
	}
}

/* -- a replay ---------------------------------------------------------------------------------------- */

static const char *path_or_null(const struct iot_program *p, __le32 string)
{
	return string ? iot_program_string(p, string) : NULL;
}

/* A request moves its data when it is submitted, or when it ends. Return: its result. */
static s64 perform_request(struct run *run, u32 origin, u32 number, const struct fs_op *request)
{
	struct fs_op data = *request;
	s64 *done = &run->done[origin][number];
	bool is_end = request->kind == IOT_KIND_complete;
	u64 seen;

	if (!is_end)
		*done = -1;
	data.kind = request->flags & IOT_RW_write ? IOT_KIND_write : IOT_KIND_read;
	if (*done < 0 && (is_end || below(run, 2)))
		*done = fs_perform(&run->fs, &data, &seen);
	return is_end ? *done : 0;
}

static void perform(struct run *run, u32 origin, const struct iot_program_op *from)
{
	const struct iot_program *p = run->program;
	const u32 number = le32_to_cpu(from->origin_op);
	const struct fs_op op = {
		.kind = le16_to_cpu(from->kind),
		.flags = le32_to_cpu(from->flags),
		.tag = app_tag_of_op(origin, number),
		.path = path_or_null(p, from->path),
		.path2 = path_or_null(p, from->path2),
		.handle = le32_to_cpu(from->handle),
		.other = le32_to_cpu(from->other),
		.offset_bytes = le64_to_cpu(from->offset_bytes),
		.length_bytes = le64_to_cpu(from->length_bytes),
		.extra = le64_to_cpu(from->extra),
		.result = (s64)le64_to_cpu(from->result),
	};
	u64 seen = 0;
	s64 result = op.kind == IOT_KIND_submit || op.kind == IOT_KIND_complete ?
			     perform_request(run, origin, number, &op) :
			     fs_perform(&run->fs, &op, &seen);

	if (result == op.result && seen == run->truth->seen[origin][number])
		return;
	if (!run->wrong++)
		snprintf(run->first, sizeof(run->first),
			 "task %u, operation %u, %s %s %s: %lld, not %lld; saw %llx, not %llx",
			 origin, number, iot_kind_info(op.kind)->name, op.path ?: "-",
			 op.path2 ?: "-", result, op.result, seen,
			 run->truth->seen[origin][number]);
}

/* Run the task's next operation, if it may start. */
static bool step(struct run *run, u32 index)
{
	const struct iot_program_task *task = &run->program->tasks[index];
	const struct iot_program_op *op =
		run->program->ops + le64_to_cpu(task->first_op) + run->order.progress[index];
	u32 next = 0;

	if (run->order.progress[index] == le32_to_cpu(task->op_count) ||
	    iot_order_blocker(&run->order, index, op, &next))
		return false;
	run->step++;
	if (le16_to_cpu(op->kind) == IOT_KIND_complete) {
		perform(run, le32_to_cpu(task->origin), op);
	} else if (le16_to_cpu(op->kind) < IOT_PLAY_signal) {
		run->started[le32_to_cpu(task->origin)][le32_to_cpu(op->origin_op)] =
			run->marks[index] ?: run->step;
		run->marks[index] = 0;
		perform(run, le32_to_cpu(task->origin), op);
	} else if (le16_to_cpu(op->kind) == IOT_PLAY_nop && !op->origin_op) {
		run->marks[index] = run->step;
	}
	run->order.progress[index]++;
	return true;
}

/* A task continues for a while, so that some tasks get far ahead. Return: number of wrong operations. */
static u32 replay(struct run *run)
{
	u32 tasks = run->program->task_count, task, i;
	u64 left = run->program->op_count, tries = 0;

	build(run);
	iot_order_init(&run->order, run->program, run->order.progress, 1, run->order.pending);
	while (left) {
		task = below(run, tasks);
		for (i = 1 + below(run, 40); i && step(run, task); i--)
			left--;
		assert_true(++tries < 1000000);
	}
	return run->wrong;
}

struct start {
	u64 enter_ns;
	u64 step;
};

static int compare_starts(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	return x->enter_ns < y->enter_ns ? -1 : x->enter_ns > y->enter_ns;
}

/* Did operations start in the order in which they began in the trace? */
static bool is_in_order(const struct run *run)
{
	struct start starts[APP_TASKS * APP_OPS_MAX];
	u32 task, op, count = 0, i;

	for (task = 1; task <= APP_TASKS; task++)
		for (op = 1; op < APP_OPS_MAX; op++)
			if (run->truth->enter_ns[task][op])
				starts[count++] = (struct start){ run->truth->enter_ns[task][op],
								  run->started[task][op] };
	qsort(starts, count, sizeof(*starts), compare_starts);
	for (i = 1; i < count; i++)
		if (starts[i].step <= starts[i - 1].step)
			return false;
	return true;
}

/* The parts of the time of a process add up to its total. */
static void check_times(struct compile_summary *summary)
{
	u32 i;

	assert_true(summary->time_count > 0);
	for (i = 0; i < summary->time_count; i++) {
		const struct process_times *p = &summary->times[i];

		assert_int_equal(p->io_ns + p->compute_ns + p->mpi_ns + p->wait_ns + p->unexplained_ns,
				 p->elapsed_ns);
	}
	compile_summary_free(summary);
}

/* Return: number of replays of one program with a failure. */
static u32 replays(u64 seed, const char *order, u32 without)
{
	bool is_ordered = !strcmp(order, "single") || !strcmp(order, "temporal");
	struct compile_options options = {
		.trace = trace, .program = program, .order = order, .without = without,
	};
	struct app_truth *truth = calloc(1, sizeof(*truth));
	struct compile_summary summary;
	struct iot_program loaded;
	struct iot_reject reject;
	struct run *run;
	u32 failed = 0, i;

	assert_non_null(truth);
	app_record(seed, STEPS, trace, truth);
	overlaps += truth->overlaps;
	assert_null(order_rules_parse(order, &options.rules));
	assert_int_equal(compile_trace(&options, &summary, &reject), 0);
	for (i = 0; i < IOT_KIND_END; i++)
		assert_int_equal(summary.dropped[i], 0);
	check_times(&summary);
	assert_int_equal(iot_program_load(program, &loaded, &reject), 0);
	run = calloc(1, sizeof(*run));
	assert_non_null(run);
	run->order.progress = calloc(loaded.task_count + 1, sizeof(u32));
	run->order.pending = calloc(loaded.latch_count + 1, sizeof(u32));
	assert_true(loaded.task_count <= TASKS_MAX);
	for (i = 0; i < SCHEDULES; i++) {
		run->program = &loaded;
		run->truth = truth;
		run->random = seed * 1000 + i + 1;
		if (replay(run) && !failed++ && getenv("IOTAPE_TEST_VERBOSE"))
			print_message("seed %llu, %s: %s\n", seed, order, run->first);
		assert_true(!is_ordered || is_in_order(run));
		run->wrong = 0;
	}
	free(run->order.progress);
	free(run->order.pending);
	free(run);
	iot_program_free(&loaded);
	free(truth);
	return failed;
}

static u32 program_count(void)
{
	const char *text = getenv("IOTAPE_TEST_PROGRAMS");

	return text ? (u32)atoi(text) : PROGRAMS;
}

static u32 programs_that_fail(const char *order, u32 without)
{
	u32 failed = 0;
	u64 seed;

	for (seed = 1; seed <= program_count(); seed++)
		failed += replays(seed, order, without) > 0;
	return failed;
}

static bool some_program_fails(const char *order, u32 without)
{
	u64 seed;

	for (seed = 1; seed <= program_count(); seed++)
		if (replays(seed, order, without))
			return true;
	return false;
}

static void default_rules_reproduce_results(void **state)
{
	(void)state;
	overlaps = 0;
	assert_int_equal(programs_that_fail("iotape", 0), 0);
	assert_true(overlaps > program_count() * 10); /* otherwise the test would be too easy */
}

static void rules_of_artc_reproduce_results(void **state)
{
	(void)state;
	assert_int_equal(programs_that_fail("artc", 0), 0);
}

static void single_and_temporal_reproduce_results(void **state)
{
	(void)state;
	assert_int_equal(programs_that_fail("single", 0), 0);
	assert_int_equal(programs_that_fail("temporal", 0), 0);
}

/* The negative control. */
static void unconstrained_does_not_reproduce_results(void **state)
{
	(void)state;
	assert_true(programs_that_fail("unconstrained", 0) > program_count() * 9 / 10);
}

static void every_cause_is_necessary(void **state)
{
	(void)state;
	static const enum edge_cause causes[] = { EDGE_name, EDGE_entries, EDGE_size, EDGE_data,
						  EDGE_handle, EDGE_attr };
	size_t i;

	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		assert_row(edge_cause_names[causes[i]],
			   some_program_fails("iotape", 1u << causes[i]));
}

/* With file_seq, order by handles is not needed: open and close are operations on the file. */
static void every_rule_is_necessary(void **state)
{
	(void)state;
	static const char *const rules[] = {
		"path_stage+,fd_stage,fd_seq",
		"path_stage+,fd_seq",
		"file_seq,fd_stage,fd_seq",
	};
	size_t i;

	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		assert_row(rules[i], some_program_fails(rules[i], 0));
}

SUITE("ordering",
      WITH_SCRATCH(default_rules_reproduce_results)
      WITH_SCRATCH(rules_of_artc_reproduce_results)
      WITH_SCRATCH(single_and_temporal_reproduce_results)
      WITH_SCRATCH(unconstrained_does_not_reproduce_results)
      WITH_SCRATCH(every_cause_is_necessary)
      WITH_SCRATCH(every_rule_is_necessary))
