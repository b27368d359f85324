// SPDX-License-Identifier: GPL-2.0-only
/*
 * profile.c - totals of a trace: the start of the run, and the owners of bytes, times and threads.
 */
#include "analyse/stats/comparison.h"
#include "analyse/stats/breakdown.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define HANDLE	  7
#define SECOND_NS 1000000000ull

static struct profile *finish(struct scribe *s)
{
	struct iot_reject reject;
	struct profile *profile;

	scribe_finish(s);
	assert_int_equal(profile_read(scratch_trace, &profile, &reject), 0);
	return profile;
}

/* -- the start of the run --------------------------------------------------------------------------- */

enum before { NOTHING, OPENED, MAPPED, SHOWN, PIPE };

static const struct {
	const char *what;
	enum before before;
	bool is_from_first_task;
} beginnings[] = {
	{ "no earlier handle", NOTHING, false },
	{ "a descriptor that a replay opens at the beginning", OPENED, true },
	{ "a mapping", MAPPED, true },
	{ "a handle announced by a later operation", SHOWN, true },
	{ "a pipe, which a replay does not open", PIPE, false },
};

static void put_before(struct scribe *s, enum before before)
{
	if (before == PIPE)
		PUT(object, .object = SCRIBE_FILE + 1, .type = IOT_TYPE_fifo, .ino = 101, .nlink = 1);
	if (before == MAPPED)
		PUT(mapped, .task = 1, .object = SCRIBE_FILE, .handle = HANDLE, .map = 3, .length_bytes = 4096);
	else if (before != NOTHING)
		PUT(opened, .task = 1, .object = before == PIPE ? SCRIBE_FILE + 1 : SCRIBE_FILE,
		    .handle = HANDLE, .fd = before == SHOWN ? -1 : 3, .name = before == PIPE ? 0 : SCRIBE_NAME);
}

static void run_begins_with_the_first_operation_of_its_replay(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct profile *profile;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		bool is_shown = beginnings[i].before == SHOWN;

		scribe_begin(s);
		if (!is_shown)
			put_before(s, beginnings[i].before);
		s->now_ns += SECOND_NS;
		if (is_shown)
			put_before(s, SHOWN);
		PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 1, .result = 1);
		profile = finish(s);
		assert_row(beginnings[i].what,
			   (profile_seconds(profile) >= 1) == beginnings[i].is_from_first_task);
		profile_free(profile);
	}
}

/* -- bytes of directories ---------------------------------------------------------------------------- */

static const struct profile_file *file_at(const struct profile *profile, const char *path)
{
	u32 i;

	for (i = 0; i < profile->file_count; i++)
		if (!strcmp(profile->files[i].path, path))
			return &profile->files[i];
	fail_msg("no file %s", path);
	return NULL;
}

/* From "a" to "b"; the second time, only the object of "b" is known. */
static void record_copies(struct scribe *s)
{
	scribe_begin(s);
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_name, .name = { .name = 6, .dir = SCRIBE_DIR } }, "b");
	PUT(object, .object = SCRIBE_FILE + 1, .name = 6, .type = IOT_TYPE_file, .mode = S_IFREG | 0644,
	    .ino = 101, .nlink = 1);
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME);
	PUT(open, .object = SCRIBE_FILE + 1, .handle = HANDLE + 1, .name = 6);
	PUT(copy_range, .object = SCRIBE_FILE, .handle = HANDLE, .to_object = SCRIBE_FILE + 1,
	    .to_handle = HANDLE + 1, .length_bytes = 4096, .result = 4096);
	PUT(remap_range, .object = SCRIBE_FILE, .handle = HANDLE, .to_object = SCRIBE_FILE + 1,
	    .length_bytes = 8192, .result = 8192);
	PUT(copy_range, .object = SCRIBE_FILE, .handle = HANDLE, .to_object = SCRIBE_FILE,
	    .to_handle = HANDLE, .length_bytes = 10, .result = 10);
	PUT(copy_range, .object = SCRIBE_FILE, .handle = HANDLE, .to_object = SCRIBE_FILE + 1,
	    .to_handle = HANDLE + 1, .length_bytes = 1, .result = -ENOSPC);
}

static void a_copy_is_read_from_one_file_and_written_to_another(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct profile *profile;
	const struct profile_sum *a, *b;

	(void)state;
	record_copies(s);
	profile = finish(s);
	a = &file_at(profile, "a")->sum;
	b = &file_at(profile, "b")->sum;
	assert_int_equal(a->read_bytes, 12298);
	assert_int_equal(a->written_bytes, 10);
	assert_int_equal(a->ops, 5);
	assert_int_equal(b->read_bytes, 0);
	assert_int_equal(b->written_bytes, 12288);
	assert_int_equal(b->ops, 1);
	assert_int_equal(profile->sum.read_bytes, 12298);
	assert_int_equal(profile->sum.written_bytes, 12298);
	assert_int_equal(profile->processes[0].sum.written_bytes, 12298);
	profile_free(profile);
}

/* A read of 1000 bytes that takes one microsecond, in a run of two seconds. */
static void bandwidth_is_that_of_the_run(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct profile *profile;

	(void)state;
	scribe_begin(s);
	s->span_ns = 1000;
	PUT(stat, .object = SCRIBE_FILE, .name = SCRIBE_NAME);
	s->now_ns += 2 * SECOND_NS - 2000;
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 4096, .result = 1000);
	profile = finish(s);
	assert_true(profile_bandwidth(profile, profile->sum.read_bytes) == 500);
	assert_true(profile_bandwidth(profile, profile->sum.written_bytes) == 0);
	profile_free(profile);

	scribe_begin(s);
	s->span_ns = 0;
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 4096, .result = 1000);
	profile = finish(s);
	assert_true(isnan(profile_bandwidth(profile, profile->sum.read_bytes)));
	profile_free(profile);
}

/* -- information that an imported trace lacks -------------------------------------------------------- */

static const struct {
	const char *what, *source;
	u64 size_bytes, cached_pages; /* of the original; the replay finds two pages of two */
	const char *warning;
} caches[] = {
	{ "the same share was cached", "mmap=page", 8192, 2, NULL },
	{ "less was cached", "mmap=page", 8192, 0, "t.irp, 0 %" },
	{ "no opened file has data", "mmap=page", 0, 0, NULL },
	{ "the cache was not examined", "source=strace", 8192, 0, "is unknown for /tmp" },
};

static void write_opened(const char *fact, u64 size_bytes, u64 cached_pages)
{
	struct scribe scribe, *s = &scribe;

	scribe_begin(s);
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_fact }, fact);
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME, .size_bytes = size_bytes,
	    .cached_pages = cached_pages);
	scribe_finish(s);
}

static void cached_shares_are_compared_if_known(void **state)
{
	const char *const paths[] = { scratch_program, scratch_trace };
	struct comparison c;
	struct iot_reject reject;
	u32 refused;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
		write_opened(caches[i].source, caches[i].size_bytes, caches[i].cached_pages);
		assert_int_equal(rename(scratch_trace, scratch_program), 0);
		write_opened("replay=original", 8192, 2);
		assert_int_equal(comparison_read(paths, 2, &c, &refused, &reject), 0);
		assert_row(caches[i].what, c.warning_count == (caches[i].warning ? 1 : 0));
		assert_row(caches[i].what, !caches[i].warning || strstr(c.warnings[0].text, caches[i].warning));
		comparison_free(&c);
	}
}

/* In a recording by the kernel, 0 is a reading of its clock. */
static void untimed_operations_have_no_latency(void **state)
{
	static const char *const facts[] = { "mmap=page", "source=strace" };
	struct scribe scribe, *s = &scribe;
	struct profile *profile;
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		bool is_timed = !i;

		scribe_begin(s);
		scribe_put(s, (struct iot_record){ .kind = IOT_KIND_fact }, facts[i]);
		PUT(lookup, .object = SCRIBE_FILE, .name = SCRIBE_NAME);
		s->span_ns = 0;
		PUT(lookup, .object = SCRIBE_FILE, .name = SCRIBE_NAME);
		PUT(release, .object = SCRIBE_FILE, .handle = HANDLE);
		profile = finish(s);
		assert_row(facts[i], profile->kinds[IOT_KIND_lookup].sum.ops == 2);
		assert_row(facts[i], profile->kinds[IOT_KIND_lookup].latency_ns->count == (is_timed ? 2 : 1));
		assert_row(facts[i], profile->kinds[IOT_KIND_release].sum.ops == 1);
		assert_row(facts[i], !!profile->kinds[IOT_KIND_release].latency_ns == is_timed);
		profile_free(profile);
	}
}

/* -- threads and processes ------------------------------------------------------------------------ */

static void put_task(struct scribe *s, u32 task, u32 tgid, u32 why, const char *command)
{
	struct iot_record record = {
		.kind = IOT_KIND_task, .task = { .task = task, .pid = tgid, .tgid = tgid, .why = why },
	};

	scribe_put(s, record, command);
	s->task = task;
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 1, .result = 1);
}

/* Return: number of threads of the process of an id, or, if that is 0, of the process of a task. */
static u32 threads_of(const struct profile *profile, u32 pid, u32 task)
{
	u32 i;

	for (i = 0; i < profile->process_count; i++)
		if (profile->processes[i].pid == pid && profile->processes[i].task == task)
			return profile->processes[i].threads;
	fail_msg("no process %u, task %u", pid, task);
	return 0;
}

/* A shell that executed another shell twice, and created two more threads; then another program. */
static void exec_does_not_create_a_thread(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct profile *profile;

	(void)state;
	scribe_begin(s);
	put_task(s, 10, 500, IOT_REASON_fork, "sh");
	put_task(s, 11, 500, IOT_REASON_exec, "sh");
	put_task(s, 12, 500, IOT_REASON_exec, "sh");
	put_task(s, 13, 500, IOT_REASON_fork, "sh");
	put_task(s, 14, 500, IOT_REASON_fork, "sh");
	put_task(s, 15, 500, IOT_REASON_exec, "cp");
	profile = finish(s);
	assert_int_equal(profile->process_count, 2);
	assert_int_equal(threads_of(profile, 500, 10), 3);
	assert_int_equal(threads_of(profile, 500, 15), 1);
	profile_free(profile);
}

/* Task ids are not process ids. The record of task 500 was lost. */
static void tasks_of_a_replay_are_not_processes(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct profile *profile;

	(void)state;
	scribe_begin(s);
	put_task(s, 10, 500, IOT_REASON_fork, "");
	put_task(s, 11, 0, IOT_REASON_play, "");
	put_task(s, 12, 0, IOT_REASON_play, "");
	s->task = 500;
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 1, .result = 1);
	profile = finish(s);
	assert_int_equal(profile->process_count, 4);
	assert_int_equal(threads_of(profile, 500, 10), 1);
	assert_int_equal(threads_of(profile, 0, 11), 1);
	assert_int_equal(threads_of(profile, 0, 12), 1);
	assert_int_equal(threads_of(profile, 0, 500), 1);
	profile_free(profile);
}

/* -- MPI ------------------------------------------------------------------------------------------ */

static const struct {
	const char *what;
	bool has_mount, has_op, is_mpi_only;
	u64 run_ns;
} with_mpi[] = {
	{ "only MPI calls were recorded", false, false, true, 2 * SECOND_NS },
	{ "no operation in the directory", true, false, false, 2 * SECOND_NS },
	{ "a file was read between two calls", true, true, false, 500 },
};

/* Ranks 1 and 2 make two calls, one after the other, of a second each. */
static void record_mpi(struct scribe *s, bool has_mount, bool has_op)
{
	scribe_begin(s);
	if (has_mount)
		PUT(mount, .object = SCRIBE_DIR);
	s->now_ns += SECOND_NS;
	s->span_ns = SECOND_NS;
	PUT(mpi_coll, .number = 1);
	s->span_ns = 500;
	if (has_op)
		PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 1, .result = 1);
	s->task = 2;
	s->span_ns = SECOND_NS;
	s->now_ns += SECOND_NS - 1000 * (1 + has_op);
	PUT(mpi_coll, .number = 1);
	PUT(mpi_coll, .number = 2);
}

static void trace_of_mpi_calls_has_no_file_operations(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct profile *p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(with_mpi) / sizeof(with_mpi[0]); i++) {
		record_mpi(s, with_mpi[i].has_mount, with_mpi[i].has_op);
		p = finish(s);
		assert_row(with_mpi[i].what, p->mpi.ops == 3 && p->ranks == 2);
		assert_row(with_mpi[i].what, p->mpi.time_ns == 3 * SECOND_NS);
		assert_row(with_mpi[i].what, p->is_mpi_only == with_mpi[i].is_mpi_only);
		assert_row(with_mpi[i].what, p->end_ns - p->begin_ns - with_mpi[i].run_ns < 10000);
		assert_row(with_mpi[i].what, p->process_count == with_mpi[i].has_op);
		profile_free(p);
	}
}

/* -- divergences -------------------------------------------------------------------------------------- */

static void put_diverged(struct scribe *s)
{
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 10, .result = 0);
	PUT(divergence, .task = s->task, .op = s->op, .kind = IOT_KIND_read, .expected = 10, .got = 0);
}

static void divergences_name_the_preceding_operation(void **state)
{
	struct scribe scribe, *s = &scribe;
	const struct profile_divergence *d;
	struct profile *profile;
	u32 i;

	(void)state;
	scribe_begin(s);
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
	put_diverged(s);
	s->task = 2;
	put_diverged(s);
	for (i = 0; i < PROFILE_DIVERGENCES_MAX; i++)
		put_diverged(s);
	PUT(divergence, .task = 2, .op = 99, .kind = IOT_KIND_read, .expected = 1, .got = -2, .verdict = IOT_VERDICT_unable);
	profile = finish(s);
	assert_int_equal(profile->diverged, PROFILE_DIVERGENCES_MAX + 2);
	assert_int_equal(profile->divergence_count, PROFILE_DIVERGENCES_MAX);
	d = profile->divergences;
	assert_string_equal(d[0].path, "a");
	assert_int_equal(d[0].expected, 10);
	assert_int_equal(d[0].got, 0);
	assert_int_equal(d[0].other_task, 0);
	assert_int_equal(d[1].task, 2);
	assert_int_equal(d[1].op, d[0].op + 1);
	assert_int_equal(d[1].other_task, 1);
	assert_int_equal(d[1].other_op, d[0].op);
	assert_int_equal(d[2].other_op, d[0].op);
	profile_free(profile);
}

/* As if its record had been lost. */
static void a_divergence_without_its_operation_has_no_path(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct profile *profile;

	(void)state;
	scribe_begin(s);
	PUT(divergence, .task = 1, .op = 9, .kind = IOT_KIND_read, .expected = 10, .got = 0);
	profile = finish(s);
	assert_int_equal(profile->divergence_count, 1);
	assert_null(profile->divergences[0].path);
	profile_free(profile);
}

/* -- counted operations ------------------------------------------------------------------------------- */

#define COUNTED(kind_, ...) PUT(counted, .kind = IOT_KIND_##kind_, .task = 1, .object = SCRIBE_FILE, __VA_ARGS__)
#define BUCKET(kind_, measure_, from_, operations_)                                                        \
	PUT(bucket, .kind = IOT_KIND_##kind_, .task = 1, .object = SCRIBE_FILE, .measure = IOT_MEASURE_##measure_, \
	    .from = from_, .operations = operations_)

/* 3 reads in the bucket from 512 to 1023 ns, and a failed one of 5000 ns; a copy; and reads that found no row. */
static void put_counters(struct scribe *s)
{
	scribe_begin(s);
	COUNTED(read, .operations = 4, .errors = 1, .total_bytes = 300, .duration_ns = 7000, .nested_ns = 500, .longest_ns = 5000);
	BUCKET(read, latency, 512, 3);
	BUCKET(read, latency, 4096, 1);
	BUCKET(read, error, EIO, 1);
	COUNTED(copy_range, .operations = 1, .total_bytes = 10);
	COUNTED(copy_range, .is_write = 1, .total_bytes = 10);
	COUNTED(complete, .is_write = 1, .operations = 2, .total_bytes = 20, .duration_ns = 9000, .nested_ns = 9000);
	COUNTED(open, .operations = 3, .errors = 1);
	PUT(counted, .kind = IOT_KIND_read, .uid = ~0u, .operations = 5);
	PUT(counted, .kind = IOT_KIND_END, .operations = 7);
	PUT(counted, .kind = IOT_KIND_task, .operations = 7);
	PUT(bucket, .kind = ~0u, .operations = 7);
}

static void counters_stand_for_their_operations(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct profile *profile;
	const struct profile_file *a;

	(void)state;
	put_counters(s);
	profile = finish(s);
	assert_true(profile->is_counted);
	assert_int_equal(profile->sum.ops, 13);
	assert_int_equal(profile->sum.errors, 2);
	assert_int_equal(profile->sum.read_bytes, 310);
	assert_int_equal(profile->sum.written_bytes, 30);
	a = file_at(profile, "a");
	assert_int_equal(a->opens, 2);
	assert_int_equal(a->sum.ops, 8);
	assert_int_equal(a->sum.time_ns, 6500);
	assert_int_equal(file_at(profile, "")->sum.ops, 5);
	assert_int_equal(profile->kinds[IOT_KIND_complete].sum.ops, 2);
	assert_int_equal(profile->kinds[IOT_KIND_complete].sum.time_ns, 9000);
	profile_free(profile);
}

/* An upper limit, and never more than the longest. */
static void percentiles_of_counters_are_limits(void **state)
{
	struct scribe scribe, *s = &scribe;
	const struct histogram *latency_ns;
	struct profile *profile;

	(void)state;
	put_counters(s);
	profile = finish(s);
	latency_ns = profile->kinds[IOT_KIND_copy_range].latency_ns;
	assert_int_equal(latency_ns->count, 1);
	latency_ns = profile->kinds[IOT_KIND_read].latency_ns;
	assert_int_equal(latency_ns->count, 9);
	assert_int_equal(latency_ns->max, 5000);
	assert_int_equal(histogram_percentile(latency_ns, 30), 1023);
	assert_int_equal(histogram_percentile(latency_ns, 99), 5000);
	profile_free(profile);
}

static void counters_are_grouped(void **state)
{
	struct breakdown by_user = { .key = BREAKDOWN_user }, by_kind = { .key = BREAKDOWN_operation };
	struct breakdown selected = { .selection = { .since_ns = 1 } };
	struct scribe scribe, *s = &scribe;
	struct iot_reject reject = {};
	struct breakdown_group *group;

	(void)state;
	put_counters(s);
	scribe_finish(s);
	assert_int_equal(breakdown_read(scratch_trace, &by_user, &reject), 0);
	HASH_FIND_STR(by_user.groups, "?", group);
	assert_int_equal(group->sum.ops, 5);
	HASH_FIND_STR(by_user.groups, "0", group);
	assert_int_equal(group->sum.ops, 8);
	assert_int_equal(breakdown_read(scratch_trace, &by_kind, &reject), 0);
	HASH_FIND_STR(by_kind.groups, "read", group);
	assert_int_equal(group->error_count, 1);
	assert_int_equal(group->errors[0].errno_value, EIO);
	assert_int_equal(breakdown_read(scratch_trace, &selected, &reject), -EOPNOTSUPP);
	assert_int_equal(reject.reason, IOT_REJECT_counted);
	breakdown_free(&by_user);
	breakdown_free(&by_kind);
	breakdown_free(&selected);
}

/* Each reading has rows of its own; commands of different tasks are one process without an id. */
static void counters_are_read_in_intervals(void **state)
{
	struct breakdown by_interval = { .key = BREAKDOWN_interval }, by_process = { .key = BREAKDOWN_process };
	struct scribe scribe, *s = &scribe;
	struct breakdown_group *group;
	struct iot_reject reject = {};
	struct profile *profile;

	(void)state;
	scribe_begin(s);
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_fact }, "counters.by=user,command");
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_task, .task = { .task = 7 } }, "dd");
	s->now_ns = 1002000000;
	PUT(counted, .kind = IOT_KIND_read, .task = 7, .operations = 4);
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_task, .task = { .task = 8 } }, "dd");
	s->now_ns = 2502000000;
	PUT(counted, .kind = IOT_KIND_read, .task = 8, .operations = 5);
	PUT(counted, .kind = IOT_KIND_write, .task = 8, .operations = 6);
	scribe_finish(s);
	assert_int_equal(breakdown_read(scratch_trace, &by_interval, &reject), 0);
	assert_int_equal(HASH_COUNT(by_interval.groups), 2);
	group = by_interval.groups->hh.next;
	assert_int_equal(group->sum.ops, 11);
	assert_int_equal(breakdown_read(scratch_trace, &by_process, &reject), 0);
	HASH_FIND_STR(by_process.groups, "dd", group);
	assert_non_null(group);
	assert_int_equal(group->sum.ops, 15);
	assert_int_equal(profile_read(scratch_trace, &profile, &reject), 0);
	assert_int_equal(profile->process_count, 1);
	assert_int_equal(profile->processes[0].sum.ops, 15);
	profile_free(profile);
	breakdown_free(&by_interval);
	breakdown_free(&by_process);
}

SUITE("profile",
      WITH_SCRATCH(counters_are_read_in_intervals)
      WITH_SCRATCH(counters_stand_for_their_operations)
      WITH_SCRATCH(percentiles_of_counters_are_limits)
      WITH_SCRATCH(counters_are_grouped)
      WITH_SCRATCH(divergences_name_the_preceding_operation)
      WITH_SCRATCH(a_divergence_without_its_operation_has_no_path)
      WITH_SCRATCH(run_begins_with_the_first_operation_of_its_replay)
      WITH_SCRATCH(a_copy_is_read_from_one_file_and_written_to_another)
      WITH_SCRATCH(bandwidth_is_that_of_the_run)
      WITH_SCRATCH(cached_shares_are_compared_if_known)
      WITH_SCRATCH(untimed_operations_have_no_latency)
      WITH_SCRATCH(exec_does_not_create_a_thread)
      WITH_SCRATCH(tasks_of_a_replay_are_not_processes)
      WITH_SCRATCH(trace_of_mpi_calls_has_no_file_operations))
