// SPDX-License-Identifier: GPL-2.0-only
/*
 * report.c - the numbers behind the charts of a report, compared with counts that are made in another way.
 */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/stats/profile.h"
#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define HANDLE 7
#define COMM   77

static const struct report_limits largest = { REPORT_LANES_MAX, REPORT_OPS_MAX, REPORT_FILES };

static void finish(struct scribe *s, const struct report_limits *limits, struct report *report)
{
	struct iot_reject reject;

	scribe_finish(s);
	assert_int_equal(report_read(scratch_trace, limits, report, &reject), 0);
}

static u32 random_below(u32 *state, u32 limit)
{
	*state = *state * 1664525u + 1013904223u;
	return (u32)((u64)(*state >> 8) * limit >> 24);
}

static u64 sum_of(const u64 *bins, u32 count)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < count; i++)
		sum += bins[i];
	return sum;
}

/* -- axes ---------------------------------------------------------------------------------------------- */

/* One unit for each nanosecond, so each bin gets as many as it has nanoseconds of the span. */
static void an_amount_is_spread_evenly(void **state)
{
	struct report_axis axis;
	u32 random = 1, round, i;
	u64 ns;

	(void)state;
	report_axis_set(&axis, 1000, 1999, 10);
	assert_int_equal(axis.width_ns, 100);
	for (round = 0; round < 200; round++) {
		u64 begin = 1000 + random_below(&random, 1000), end = begin + random_below(&random, (u32)(2000 - begin));
		u64 bins[10] = {}, expected[10] = {};

		for (ns = begin; ns < end; ns++)
			expected[(ns - 1000) / 100]++;
		report_axis_spread(&axis, begin, end, end - begin, bins);
		for (i = 0; i < 10; i++)
			assert_int_equal(bins[i], expected[i]);
	}
}

/* Numbers of a damaged trace: the sum is kept, and no bin is beyond the last. */
static void axis_accepts_all_numbers(void **state)
{
	static const u64 numbers[] = { 0, 1, 511, 512, 1ull << 32, INT64_MAX, UINT64_MAX - 1, UINT64_MAX };
	struct report_axis axis;
	size_t a, b, c, d;

	(void)state;
	for (a = 0; a < ARRAY_SIZE(numbers); a++)
		for (b = 0; b < ARRAY_SIZE(numbers); b++)
			for (c = 0; c < ARRAY_SIZE(numbers); c++)
				for (d = c; d < ARRAY_SIZE(numbers); d++) {
					u64 *bins = calloc(REPORT_BINS, sizeof(*bins)); /* of which the sanitizer knows the end */

					report_axis_set(&axis, numbers[a], numbers[b], REPORT_BINS);
					report_axis_spread(&axis, numbers[c], numbers[d], numbers[b], bins);
					assert_true(sum_of(bins, REPORT_BINS) == numbers[b]);
					free(bins);
				}
}

/* -- sums ---------------------------------------------------------------------------------------------- */

#define OPERATIONS 3000

/* Of any kind that moves bytes, and one that moves none. */
static void put_any(struct scribe *s, u32 *random)
{
	s64 offset = random_below(random, 1 << 20);
	u64 length = 1 + random_below(random, 5000);
	s64 result = random_below(random, 10) ? (s64)length : -EIO;

	s->span_ns = random_below(random, 50) ? random_below(random, 900) : random_below(random, 500000);
	s->task = 1 + random_below(random, 2);
	switch (random_below(random, 6)) {
	case 0:
		PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = offset, .length_bytes = length, .result = result);
		break;
	case 1:
		PUT(write, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = offset, .length_bytes = length, .result = result);
		break;
	case 2:
		PUT(touch, .object = SCRIBE_FILE, .map = 3, .offset_bytes = offset & ~4095ll, .length_bytes = 4096);
		break;
	case 3:
		PUT(copy_range, .object = SCRIBE_FILE, .handle = HANDLE, .to_object = SCRIBE_FILE, .to_handle = HANDLE,
		    .offset_bytes = offset, .to_offset_bytes = offset / 2, .length_bytes = length, .result = result);
		break;
	case 4:
		PUT(submit, .request = 1000 + s->op, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = offset,
		    .length_bytes = length, .flags = length % 2 ? IOT_RW_write : 0);
		PUT(complete, .task = s->task, .op = s->op, .request = 1000 + s->op - 1, .result = result);
		break;
	default:
		PUT(stat, .object = SCRIBE_FILE, .name = SCRIBE_NAME);
	}
}

static void sums_of_bins_are_those_of_the_profile(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct profile *profile;
	struct iot_reject reject;
	struct report report;
	u64 started = 0, time_ns = 0, lane_bytes = 0, lane_operations = 0;
	u32 random = 7, i, class;

	(void)state;
	scribe_begin(s);
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME);
	for (i = 0; i < OPERATIONS; i++)
		put_any(s, &random);
	finish(s, &largest, &report);
	assert_int_equal(profile_read(scratch_trace, &profile, &reject), 0);
	for (class = 0; class < REPORT_CLASS_COUNT; class++)
		started += sum_of(report.started[class], REPORT_BINS);
	for (i = 0; i < report.lane_count; i++) {
		lane_operations += report.lanes[i].operations;
		lane_bytes += sum_of(report.lanes[i].bytes, REPORT_BINS);
		for (class = 0; class < REPORT_CLASS_COUNT; class++)
			time_ns += sum_of(report.lanes[i].time_ns[class], REPORT_BINS);
	}
	assert_int_equal(report.lane_count, 2);
	assert_true(profile->sum.read_bytes && profile->sum.written_bytes && profile->sum.touched_bytes);
	assert_int_equal(sum_of(report.read_bytes, REPORT_BINS), profile->sum.read_bytes);
	assert_int_equal(sum_of(report.written_bytes, REPORT_BINS), profile->sum.written_bytes);
	assert_int_equal(sum_of(report.touched_bytes, REPORT_BINS), profile->sum.touched_bytes);
	assert_int_equal(lane_bytes, profile->sum.read_bytes + profile->sum.written_bytes + profile->sum.touched_bytes);
	assert_int_equal(started, profile->sum.ops);
	assert_int_equal(lane_operations, profile->sum.ops);
	assert_int_equal(report.operations, profile->sum.ops);
	assert_int_equal(time_ns, profile->sum.time_ns);
	assert_int_equal(report.axis.begin_ns, profile->begin_ns);
	assert_int_equal(report.axis.end_ns, profile->end_ns);
	profile_free(profile);
	report_free(&report);
}

/* 1000 bytes in each microsecond of the first half of a run, and none in the second. */
static void bandwidth_is_in_the_interval_of_the_bytes(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct report report;
	u32 i;

	(void)state;
	scribe_begin(s);
	s->span_ns = 1000;
	for (i = 0; i < 5120; i++)
		PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = 1000 * i, .length_bytes = 1000, .result = 1000);
	s->now_ns += 5119 * 1000;
	PUT(stat, .object = SCRIBE_FILE, .name = SCRIBE_NAME);
	finish(s, &largest, &report);
	assert_int_equal(report.axis.width_ns, 20001);
	for (i = 0; i < 255; i++)
		assert_true(report.read_bytes[i] >= 20000 && report.read_bytes[i] <= 20002);
	for (i = 256; i < REPORT_BINS; i++)
		assert_int_equal(report.read_bytes[i], 0);
	report_free(&report);
}

/* -- rows ---------------------------------------------------------------------------------------------- */

static void put_tasks(struct scribe *s, u32 count, u32 ranks)
{
	u32 i;

	for (i = 0; i < count; i++) {
		PUT(task, .task = 10 + i, .pid = 100 + i, .tgid = 100 + i, .why = IOT_REASON_seen);
		if (i < ranks)
			PUT(mpi_comm, .task = 10 + i, .comm = COMM, .rank = i, .size = ranks, .world_rank = i, .world = COMM);
	}
	for (i = 0; i < count; i++) {
		s->task = 10 + i;
		s->span_ns = 500 + i;
		PUT(stat, .object = SCRIBE_FILE, .name = SCRIBE_NAME);
	}
}

static void many_ranks_share_rows(void **state)
{
	const struct report_limits few = { 16, 100, 1 };
	struct scribe scribe, *s = &scribe;
	struct report report;

	(void)state;
	scribe_begin(s);
	put_tasks(s, 43, 41);
	finish(s, &few, &report);
	assert_true(report.lanes_are_ranks);
	assert_int_equal(report.lane_count, 7 + 2); /* 41 ranks in groups of 6, and 2 tasks without one */
	assert_string_equal(report.lanes[0].name, "rank 0-5");
	assert_string_equal(report.lanes[6].name, "rank 36-40");
	assert_int_equal(report.lanes[0].ranks, 6);
	assert_int_equal(report.lanes[6].ranks, 5);
	assert_int_equal(report.lanes[6].operations, 5);
	assert_string_equal(report.lanes[8].name, "? 142");
	assert_false(report.has_shared_lane);
	report_free(&report);
}

static void rank_groups_use_all_rows(void **state)
{
	const struct report_limits few = { 16, 100, 1 };
	struct scribe scribe, *s = &scribe;
	struct report report;

	(void)state;
	scribe_begin(s);
	put_tasks(s, 16, 16);
	finish(s, &few, &report);
	assert_int_equal(report.lane_count, 8);
	assert_string_equal(report.lanes[7].name, "rank 14-15");
	report_free(&report);
}

static void few_ranks_have_separate_rows(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct report report;

	(void)state;
	scribe_begin(s);
	put_tasks(s, 5, 5);
	finish(s, &largest, &report);
	assert_int_equal(report.lane_count, 5);
	assert_string_equal(report.lanes[4].name, "rank 4");
	report_free(&report);
}

/* Tasks with the least time, which are the first here. */
static void the_least_busy_tasks_share_a_row(void **state)
{
	const struct report_limits few = { 4, 100, 1 };
	struct scribe scribe, *s = &scribe;
	struct report report;

	(void)state;
	scribe_begin(s);
	put_tasks(s, 10, 0);
	finish(s, &few, &report);
	assert_false(report.lanes_are_ranks);
	assert_int_equal(report.lane_count, 4);
	assert_true(report.has_shared_lane);
	assert_string_equal(report.lanes[0].name, "? 107");
	assert_string_equal(report.lanes[2].name, "? 109");
	assert_string_equal(report.lanes[3].name, "7 other tasks");
	assert_int_equal(report.lanes[3].operations, 7);
	report_free(&report);
}

/* -- single operations ----------------------------------------------------------------------------------- */

static int compare_descending(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? 1 : *x > *y ? -1 : 0;
}

static void the_longest_operations_are_kept(void **state)
{
	const struct report_limits few = { 4, 100, 1 };
	u64 durations[1000], kept[100];
	struct scribe scribe, *s = &scribe;
	struct report report;
	u32 random = 3, i;

	(void)state;
	scribe_begin(s);
	for (i = 0; i < 1000; i++) {
		s->span_ns = durations[i] = random_below(&random, 700);
		PUT(stat, .object = SCRIBE_FILE, .name = SCRIBE_NAME);
	}
	finish(s, &few, &report);
	qsort(durations, 1000, sizeof(*durations), compare_descending);
	assert_int_equal(report.op_count, 100);
	for (i = 0; i < 100; i++) {
		kept[i] = report.ops[i].duration_ns;
		assert_string_equal(report.ops[i].path, "a");
	}
	qsort(kept, 100, sizeof(*kept), compare_descending);
	for (i = 0; i < 100; i++)
		assert_int_equal(kept[i], durations[i]);
	report_free(&report);
}

/* It would be drawn twice, and count twice in the time of its row. */
static void a_nested_operation_is_part_of_the_outer_one(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct iot_record record = { .kind = IOT_KIND_fsync, .fsync = { .object = SCRIBE_FILE, .handle = HANDLE } };
	struct report report;

	(void)state;
	scribe_begin(s);
	PUT(stat, .object = SCRIBE_FILE, .name = SCRIBE_NAME);
	record.op.parent = 1;
	scribe_put(s, record, NULL);
	finish(s, &largest, &report);
	assert_int_equal(report.operations, 2);
	assert_int_equal(report.nested, 1);
	assert_int_equal(report.op_count, 1);
	assert_int_equal(sum_of(report.lanes[0].time_ns[REPORT_sync], REPORT_BINS), 0);
	assert_int_equal(sum_of(report.started[REPORT_sync], REPORT_BINS), 1);
	report_free(&report);
}

/* -- maps of offsets ------------------------------------------------------------------------------------- */

static void map_has_bytes_at_their_offsets(void **state)
{
	struct scribe scribe, *s = &scribe;
	const struct report_map *map;
	struct report report;
	u32 i, bin;

	(void)state;
	scribe_begin(s);
	for (i = 0; i < 64; i++) /* from the end to the beginning, half of it written */
		if (i % 2)
			PUT(write, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = (63 - i) * 1000, .length_bytes = 1000,
			    .result = 1000);
		else
			PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = (63 - i) * 1000, .length_bytes = 1000,
			    .result = 1000);
	finish(s, &largest, &report);
	assert_int_equal(report.map_count, 1);
	map = &report.maps[0];
	assert_string_equal(map->path, "a");
	assert_int_equal(map->begin_bytes, 0);
	assert_int_equal(map->end_bytes, 64000);
	assert_int_equal(map->bytes, 64000);
	for (i = 0; i < REPORT_MAP_ROWS; i++) {
		bin = report_axis_bin(&report.map_axis, report.map_axis.begin_ns + (63 - i) * 1000);
		assert_int_equal(sum_of(map->read_bytes[i], REPORT_MAP_BINS), i % 2 ? 1000 : 0);
		assert_int_equal(sum_of(map->written_bytes[i], REPORT_MAP_BINS), i % 2 ? 0 : 1000);
		assert_int_equal((i % 2 ? map->read_bytes : map->written_bytes)[i][bin], 1000);
	}
	report_free(&report);
}

static void map_has_no_oversized_offset(void **state)
{
	static const s64 offsets[] = { -1, 0, 1, 4095, INT64_MAX - 1, INT64_MAX, INT64_MIN };
	struct scribe scribe, *s = &scribe;
	const struct report_map *map;
	struct report report;
	size_t i;
	u64 bytes = 0;
	u32 row;

	(void)state;
	scribe_begin(s);
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = offsets[i], .length_bytes = 1, .result = 1);
		PUT(touch, .object = SCRIBE_FILE, .map = 3, .offset_bytes = offsets[i], .length_bytes = 3);
	}
	finish(s, &largest, &report);
	map = &report.maps[0];
	for (row = 0; row < REPORT_MAP_ROWS; row++)
		bytes += sum_of(map->read_bytes[row], REPORT_MAP_BINS);
	assert_int_equal(bytes, 5 * 4);
	assert_int_equal(map->bytes, 5 * 4);
	report_free(&report);
}

static void the_files_with_the_most_bytes_have_maps(void **state)
{
	const struct report_limits few = { 4, 100, 2 };
	struct scribe scribe, *s = &scribe;
	struct report report;
	char name[2] = "b";
	u32 i;

	(void)state;
	scribe_begin(s);
	for (i = 0; i < 5; i++, name[0]++) {
		scribe_put(s, (struct iot_record){ .kind = IOT_KIND_name, .name = { .name = 50 + i, .dir = SCRIBE_DIR } }, name);
		PUT(object, .object = 50 + i, .name = 50 + i, .type = IOT_TYPE_file, .ino = 200 + i, .nlink = 1);
		PUT(write, .object = 50 + i, .length_bytes = 100 + i, .result = 100 + i);
	}
	finish(s, &few, &report);
	assert_int_equal(report.files, 5);
	assert_int_equal(report.map_count, 2);
	assert_string_equal(report.maps[0].path, "f");
	assert_string_equal(report.maps[1].path, "e");
	report_free(&report);
}

/* -- the rest -------------------------------------------------------------------------------------------- */

static void a_trace_without_operations_has_empty_charts(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct report report;

	(void)state;
	scribe_begin(s);
	finish(s, &largest, &report);
	assert_int_equal(report.operations, 0);
	assert_int_equal(report.lane_count, 0);
	assert_int_equal(report.op_count, 0);
	assert_int_equal(report.map_count, 0);
	report_free(&report);
}

/* Each class has a kind, and each operation a class. */
static void all_classes_are_used(void **state)
{
	bool is_used[REPORT_CLASS_COUNT] = {};
	u32 kind, class;

	(void)state;
	for (kind = 0; kind < IOT_KIND_END; kind++) {
		const struct iot_kind_info *info = iot_kind_info((u16)kind);
		const struct iot_record record = { .kind = (u16)kind };

		if (!info || (info->group != IOT_GROUP_op && info->group != IOT_GROUP_mpi))
			continue;
		assert_row(info->name, (report_class_of(&record) == REPORT_mpi) == (info->group == IOT_GROUP_mpi));
		is_used[report_class_of(&record)] = true;
	}
	for (class = 0; class < REPORT_CLASS_COUNT; class++)
		assert_row(report_class_name(class), is_used[class]);
}

SUITE("report",
      TEST(an_amount_is_spread_evenly)
      TEST(axis_accepts_all_numbers)
      WITH_SCRATCH(sums_of_bins_are_those_of_the_profile)
      WITH_SCRATCH(bandwidth_is_in_the_interval_of_the_bytes)
      WITH_SCRATCH(many_ranks_share_rows)
      WITH_SCRATCH(rank_groups_use_all_rows)
      WITH_SCRATCH(few_ranks_have_separate_rows)
      WITH_SCRATCH(the_least_busy_tasks_share_a_row)
      WITH_SCRATCH(the_longest_operations_are_kept)
      WITH_SCRATCH(a_nested_operation_is_part_of_the_outer_one)
      WITH_SCRATCH(map_has_bytes_at_their_offsets)
      WITH_SCRATCH(map_has_no_oversized_offset)
      WITH_SCRATCH(the_files_with_the_most_bytes_have_maps)
      WITH_SCRATCH(a_trace_without_operations_has_empty_charts)
      TEST(all_classes_are_used))
