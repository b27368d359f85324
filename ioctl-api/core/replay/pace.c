// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * pace.c - think time and lateness: the arithmetic, for every engine.
 */
#include "pace.h"

/* From here on there are two buckets for each power of two; one bucket has everything below. */
#define SMALLEST_POWER 9

static u64 lesser(u64 x, u64 y)
{
	return x < y ? x : y;
}

/**
 * iot_pace_begin() - when the think time before the first operation of a task began
 * @start_ns: when the replay started
 * @ready_ns: when all waits of the operation held
 * @think_ns: think time, scaled
 *
 * Think time and waits overlap. A wait that is longer than in the trace is not lateness, and later think times are
 * not shortened for it.
 *
 * Return: a substitute for the end of an operation before it, on the same clock.
 */
u64 iot_pace_begin(u64 start_ns, u64 ready_ns, u64 think_ns)
{
	u64 begin_ns = ready_ns - lesser(ready_ns, think_ns);

	return begin_ns < start_ns ? start_ns : begin_ns;
}

/**
 * iot_pace_until() - when the think time before an operation has passed
 * @pace: of the task
 * @prev_end_ns: when the operation before it ended
 * @think_ns: think time, scaled
 *
 * Return: a time on the same clock.
 */
u64 iot_pace_until(const struct iot_lateness *pace, u64 prev_end_ns, u64 think_ns)
{
	return prev_end_ns + think_ns - lesser(think_ns, pace->owed_ns);
}

/**
 * iot_pace_owe() - a think time has passed
 * @pace: of the task
 * @until_ns: when it should have, by iot_pace_until()
 * @think_ns: as given there
 * @now_ns: when it had, on the same clock, not before @until_ns
 *
 * The debt decreases by the amount by which the think time was shortened, and increases by the lateness.
 */
void iot_pace_owe(struct iot_lateness *pace, u64 until_ns, u64 think_ns, u64 now_ns)
{
	pace->owed_ns += now_ns - until_ns - lesser(think_ns, pace->owed_ns);
}

static u32 power_of(u64 value)
{
	u32 power = 0;

	while (value >>= 1)
		power++;
	return power;
}

/**
 * iot_lateness_bucket() - the bucket that a lateness belongs to
 * @late_ns: how late
 */
u32 iot_lateness_bucket(u64 late_ns)
{
	u32 power = power_of(late_ns), bucket;

	if (power < SMALLEST_POWER)
		return 0;
	bucket = 1 + 2 * (power - SMALLEST_POWER) + (u32)(late_ns >> (power - 1) & 1);
	return bucket < IOT_LATENESS_BUCKETS ? bucket : IOT_LATENESS_BUCKETS - 1;
}

/**
 * iot_lateness_limit() - upper bound of the lateness in a bucket, exclusive
 * @bucket: the bucket
 *
 * Return: ns; of the last bucket, U64_MAX.
 */
u64 iot_lateness_limit(u32 bucket)
{
	u32 power = SMALLEST_POWER + bucket / 2;

	if (bucket >= IOT_LATENESS_BUCKETS - 1)
		return ~(u64)0;
	return bucket % 2 ? 3ull << (power - 1) : 1ull << power;
}
