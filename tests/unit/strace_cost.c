// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_cost.c - the time that strace takes is not part of the think time of an imported log.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/graph/graph_load.h"
#include "analyse/order/order_passes.h"
#include "import/import.h"
#include "scratch.h"
#include "suite.h"

#define GAP_US	   40  /* between two calls, all of it strace's */
#define CALL_US	   12  /* of a call that takes no time */
#define COMPUTE_US 700 /* of the program, in some gaps */
#define SLEEP_US   5000

/* A log of one task. @at_us: end of its last call */
struct log_writer {
	FILE *out;
	u64 at_us;
};

static void call(struct log_writer *w, u32 gap_us, u32 call_us, const char *text)
{
	w->at_us += gap_us;
	fprintf(w->out, "7 %llu.%06llu %s <0.%06u>\n", 1700000000 + w->at_us / 1000000, w->at_us % 1000000, text, call_us);
	w->at_us += call_us;
}

/*
 * Writes of a file, with two other calls before each, the second of which may sleep. The program computes before every second
 * write.
 */
static void write_log(const char *path, u32 writes, u32 compute_us, u32 sleep_us)
{
	struct log_writer w = { .out = fopen(path, "we") };
	u32 i;

	assert_non_null(w.out);
	call(&w, GAP_US, CALL_US, "open(\"/r/f\", O_WRONLY) = 3");
	for (i = 0; i < writes; i++) {
		call(&w, GAP_US, CALL_US, "getpid() = 7");
		call(&w, GAP_US, CALL_US + sleep_us, "nanosleep({tv_sec=0, tv_nsec=1}, NULL) = 0");
		call(&w, GAP_US + (i % 2 ? compute_us : 0), CALL_US, "write(3, \"a\", 1) = 1");
	}
	fclose(w.out);
}

static int import(struct import_options *options, struct import_summary *summary)
{
	static char *logs[] = { scratch_program }, *roots[] = { "/r" };
	int err;

	options->logs = logs;
	options->log_count = 1;
	options->roots = roots;
	options->root_count = 1;
	options->trace = scratch_trace;
	err = import_logs(options, summary);
	import_summary_free(summary);
	return err;
}

/* Think times of the writes but the first. @compute_us: of every second one */
static void thinks(u64 compute_us, u64 other_us, u64 pause_us)
{
	struct iot_reject reject;
	struct graph *graph;
	struct tree *tree;
	u32 i, writes = 0;

	assert_int_equal(graph_open(&graph), 0);
	assert_int_equal(tree_open(&tree), 0);
	assert_int_equal(load_trace(scratch_trace, graph, tree, NULL, &reject), 0);
	assert_int_equal(graph_pass_life(graph), 0);
	assert_int_equal(graph_pass_think(graph), 0);
	for (i = 0; i < graph->tasks[0].op_count; i++) {
		const struct graph_op *op = &graph->tasks[0].ops[i];

		if (op->kind != IOT_KIND_write || !writes++)
			continue;
		assert_int_equal(op->compute_ns, 1000 * (writes % 2 ? other_us : compute_us));
		assert_int_equal(op->pause_ns, 1000 * pause_us);
	}
	assert_true(writes > 1);
	tree_close(tree);
	graph_close(graph);
}

static void estimate_of_a_log_is_subtracted(void **state)
{
	struct import_summary summary;

	(void)state;
	write_log(scratch_program, 100, COMPUTE_US, SLEEP_US);
	assert_int_equal(import(&(struct import_options){}, &summary), 0);
	assert_int_equal(summary.cost.gap_ns, 1000 * GAP_US);
	assert_int_equal(summary.cost.call_ns, 1000 * CALL_US);
	assert_int_equal(summary.held_ns, 1000 * 100 * (3 * GAP_US + 2 * CALL_US));
	assert_false(summary.is_calibrated);
	thinks(COMPUTE_US, 0, SLEEP_US);
}

static void records_remain_in_the_order_of_their_ends(void **state)
{
	struct import_summary summary;
	struct iot_reader *reader;
	struct iot_reject reject;
	struct iot_record record;
	u64 last_ns = 0, waits = 0;
	int n;

	(void)state;
	write_log(scratch_program, 100, COMPUTE_US, SLEEP_US);
	assert_int_equal(import(&(struct import_options){}, &summary), 0);
	assert_int_equal(iot_reader_open(scratch_trace, &reader, &reject), 0);
	while ((n = iot_reader_next(reader, &record, &reject)) > 0) {
		assert_true(iot_record_end_ns(&record) >= last_ns);
		last_ns = iot_record_end_ns(&record);
		waits += record.kind == IOT_KIND_backpressure;
		if (record.kind == IOT_KIND_end)
			assert_int_equal(record.end.backpressure_waits, waits);
	}
	assert_int_equal(n, 0);
	assert_int_equal(waits, 100);
	iot_reader_close(reader);
}

static void few_calls_give_no_estimate(void **state)
{
	struct import_summary summary;

	(void)state;
	write_log(scratch_program, 10, COMPUTE_US, SLEEP_US);
	assert_int_equal(import(&(struct import_options){}, &summary), 0);
	assert_int_equal(summary.cost.gap_ns, 0);
	assert_int_equal(summary.held_ns, 0);
	thinks(3 * GAP_US + COMPUTE_US, 3 * GAP_US, SLEEP_US + 2 * CALL_US);
}

static void long_gaps_give_no_estimate(void **state)
{
	struct import_summary summary;
	struct log_writer w = { .out = fopen(scratch_program, "we") };
	u32 i;

	(void)state;
	assert_non_null(w.out);
	call(&w, GAP_US, CALL_US, "open(\"/r/f\", O_WRONLY) = 3");
	for (i = 0; i < 200; i++)
		call(&w, SLEEP_US, CALL_US, "write(3, \"a\", 1) = 1");
	fclose(w.out);
	assert_int_equal(import(&(struct import_options){}, &summary), 0);
	assert_int_equal(summary.cost.gap_ns, 0);
	assert_int_equal(summary.held_ns, 0);
}

static void cost_is_kept_on_request(void **state)
{
	struct import_summary summary;

	(void)state;
	write_log(scratch_program, 100, COMPUTE_US, SLEEP_US);
	assert_int_equal(import(&(struct import_options){ .keeps_cost = true }, &summary), 0);
	assert_int_equal(summary.held_ns, 0);
	thinks(3 * GAP_US + COMPUTE_US, 3 * GAP_US, SLEEP_US + 2 * CALL_US);
}

/* Imports a log of 3 * @writes + 1 calls with a calibration of 3 * @calibration_writes + 1 calls. */
static int import_calibrated(u32 calibration_writes, u32 writes, struct import_summary *summary)
{
	char calibration[] = "/tmp/iotape-calibration-XXXXXX";
	int err, fd = mkstemp(calibration);

	assert_true(fd >= 0);
	close(fd);
	write_log(calibration, calibration_writes, 0, 0);
	write_log(scratch_program, writes, COMPUTE_US, SLEEP_US);
	err = import(&(struct import_options){ .calibration = calibration }, summary);
	unlink(calibration);
	return err;
}

/* Its medians are subtracted, also from a log that gives no estimate. */
static void cost_of_a_calibration_is_subtracted(void **state)
{
	struct import_summary summary;

	(void)state;
	assert_int_equal(import_calibrated(100, 10, &summary), 0);
	assert_true(summary.is_calibrated);
	thinks(COMPUTE_US, 0, SLEEP_US);
}

static void calibration_of_few_calls_is_refused(void **state)
{
	struct import_summary summary;

	(void)state;
	assert_int_equal(import_calibrated(10, 100, &summary), -ENODATA);
	assert_non_null(strstr(summary.message, "at least 101 system calls"));
}

SUITE("strace_cost",
      WITH_SCRATCH(estimate_of_a_log_is_subtracted)
      WITH_SCRATCH(records_remain_in_the_order_of_their_ends)
      WITH_SCRATCH(few_calls_give_no_estimate)
      WITH_SCRATCH(long_gaps_give_no_estimate)
      WITH_SCRATCH(cost_is_kept_on_request)
      WITH_SCRATCH(cost_of_a_calibration_is_subtracted)
      WITH_SCRATCH(calibration_of_few_calls_is_refused))
