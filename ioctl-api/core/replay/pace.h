/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * pace.h - think time: until when an operation waits, and how late wake-ups are.
 *
 * Closed loop: the think time of an operation begins when the one before it has ended in this
 * replay, not when it did in the trace. The lateness of a wake-up is subtracted from the next
 * think time, so lateness does not add up. Delays of the storage are never subtracted: they are
 * the measurement.
 */
#ifndef IOTAPE_PACE_H
#define IOTAPE_PACE_H

#include "program.h"

#define IOT_LATENESS_BUCKETS 64

/**
 * struct iot_lateness - of the wake-ups of a task; all zero at first
 * @owed_ns: wake-up lateness that has not been taken off a think time
 * @wakeups: for each bucket of lateness, how often it was that
 */
struct iot_lateness {
	u64 owed_ns;
	u32 wakeups[IOT_LATENESS_BUCKETS];
};

#define IOT_PACE_MAX_NS (1ull << 62) /* twice that, and the time of a clock, is no overflow */

/* @ns times a fixed-point number with 16 bits after the point; IOT_PACE_MAX_NS if it is more. */
static inline u64 iot_pace_scaled(u64 ns, u32 scale)
{
	u64 scaled_ns;

	if (__builtin_mul_overflow(ns >> 16, (u64)scale, &scaled_ns) || scaled_ns >= IOT_PACE_MAX_NS)
		return IOT_PACE_MAX_NS;
	scaled_ns += ((ns & 0xffff) * scale) >> 16;
	return scaled_ns < IOT_PACE_MAX_NS ? scaled_ns : IOT_PACE_MAX_NS;
}

u64 iot_pace_begin(u64 start_ns, u64 ready_ns, u64 think_ns);
u64 iot_pace_until(const struct iot_lateness *pace, u64 prev_end_ns, u64 think_ns);
void iot_pace_owe(struct iot_lateness *pace, u64 until_ns, u64 think_ns, u64 now_ns);
u32 iot_lateness_bucket(u64 late_ns);
u64 iot_lateness_limit(u32 bucket);

#endif
