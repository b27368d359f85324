// SPDX-License-Identifier: GPL-2.0-only
/*
 * pace.c - think time: lateness is credited, and counted at the right place.
 */
#include "core/replay/pace.h"

#include "suite.h"

static void think_time_is_scaled(void **state)
{
	static const struct {
		const char *name;
		u64 ns;
		u32 scale;
		u64 scaled_ns;
	} rows[] = {
		{ "nothing", 0, 65536, 0 },
		{ "one to one", 123456789012345ull, 65536, 123456789012345ull },
		{ "half", 1000001, 32768, 500000 },
		{ "none", 1ull << 50, 0, 0 },
		{ "maximum", 1000000000, 0xffff0000u, 65535000000000ull },
		{ "the longest that fits", 1ull << 46, 0xffff0000u, 65535ull << 46 },
		{ "longer than that", 1ull << 47, 0xffff0000u, IOT_PACE_MAX_NS },
		{ "longer than the clock", 1ull << 50, 0xffff0000u, IOT_PACE_MAX_NS },
		{ "a little longer than the clock", (1ull << 50) + 65536, 1u << 30, IOT_PACE_MAX_NS },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_row(rows[i].name,
			   iot_pace_scaled(rows[i].ns, rows[i].scale) == rows[i].scaled_ns);
}

/* The loop of an engine whose wake-ups are @late_ns late each; storage takes some time. */
static u64 run(struct iot_lateness *pace, u32 rounds, u64 think_ns, u64 late_ns, u64 io_ns)
{
	u64 now_ns = 1000, until_ns;
	u32 i;

	for (i = 0; i < rounds; i++) {
		until_ns = iot_pace_until(pace, now_ns, think_ns);
		now_ns = (until_ns > now_ns ? until_ns : now_ns) + late_ns;
		iot_pace_owe(pace, until_ns, think_ns, now_ns);
		now_ns += io_ns;
	}
	return now_ns - 1000;
}

/* The think time before a task's first operation overlaps its wait. */
static void the_first_think_time_begins_at_the_start(void **state)
{
	static const struct {
		const char *name;
		u64 ready_ns;
		u64 think_ns;
		u64 until_ns;
	} rows[] = {
		{ "no wait", 1000, 0, 1000 },
		{ "ready before the start", 900, 0, 1000 },
		{ "think time starts at the start", 900, 50, 1050 },
		{ "the wait ends first", 1030, 50, 1050 },
		{ "the wait ends last", 1070, 50, 1070 },
		{ "no think time", 5000, 0, 5000 },
		{ "more think time than the clock has run", 1070, 1ull << 50, 1000 + (1ull << 50) },
	};
	const struct iot_lateness pace = {};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 since_ns = iot_pace_begin(1000, rows[i].ready_ns, rows[i].think_ns);

		assert_row(rows[i].name,
			   iot_pace_until(&pace, since_ns, rows[i].think_ns) == rows[i].until_ns);
	}
}

static void lateness_does_not_accumulate(void **state)
{
	struct iot_lateness pace = {};
	u64 took_ns = run(&pace, 1000, 10000000, 70000, 0);

	(void)state;
	assert_int_equal(took_ns, 1000 * 10000000ull + 70000);
	assert_int_equal(pace.owed_ns, 70000);
}

static void time_in_operations_is_never_compensated(void **state)
{
	struct iot_lateness pace = {};

	(void)state;
	assert_int_equal(run(&pace, 1000, 10000000, 0, 5000000), 1000 * 15000000ull);
	assert_int_equal(pace.owed_ns, 0);
}

/* The part of the lateness that exceeds one think time is deducted from the next ones. */
static void excess_lateness_is_carried_over(void **state)
{
	struct iot_lateness pace = {};
	u64 until_ns;

	(void)state;
	until_ns = iot_pace_until(&pace, 0, 100);
	assert_int_equal(until_ns, 100);
	iot_pace_owe(&pace, until_ns, 100, 350);
	assert_int_equal(pace.owed_ns, 250);
	until_ns = iot_pace_until(&pace, 350, 100);
	assert_int_equal(until_ns, 350);
	iot_pace_owe(&pace, until_ns, 100, 350);
	assert_int_equal(pace.owed_ns, 150);
	until_ns = iot_pace_until(&pace, 350, 0);
	assert_int_equal(until_ns, 350);
	iot_pace_owe(&pace, until_ns, 0, 350);
	assert_int_equal(pace.owed_ns, 150);
	assert_int_equal(iot_pace_until(&pace, 350, 1000), 1200);
}

static void buckets_are_contiguous(void **state)
{
	u32 bucket;

	(void)state;
	assert_int_equal(iot_lateness_bucket(0), 0);
	for (bucket = 0; bucket < IOT_LATENESS_BUCKETS - 1; bucket++) {
		assert_int_equal(iot_lateness_bucket(iot_lateness_limit(bucket) - 1), bucket);
		assert_int_equal(iot_lateness_bucket(iot_lateness_limit(bucket)), bucket + 1);
	}
	assert_int_equal(iot_lateness_bucket(~(u64)0), IOT_LATENESS_BUCKETS - 1);
}

SUITE("pace",
      TEST(think_time_is_scaled)
      TEST(the_first_think_time_begins_at_the_start)
      TEST(lateness_does_not_accumulate)
      TEST(time_in_operations_is_never_compensated)
      TEST(excess_lateness_is_carried_over)
      TEST(buckets_are_contiguous))
