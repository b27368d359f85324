// SPDX-License-Identifier: GPL-2.0-only
/*
 * axis.c - equal bins of time, and amounts spread over them.
 *
 * Times come from the trace and may be any numbers: products and sums of them are computed with 128 bits.
 */
#include "report.h"

typedef unsigned __int128 u128;

/**
 * report_axis_set() - divide a span of time into bins
 * @axis: filled in
 * @begin_ns, @end_ns: of the span
 * @bins: number of bins, at least 1
 */
void report_axis_set(struct report_axis *axis, u64 begin_ns, u64 end_ns, u32 bins)
{
	if (end_ns < begin_ns)
		end_ns = begin_ns;
	*axis = (struct report_axis){ begin_ns, end_ns, (end_ns - begin_ns) / bins + 1, bins };
}

/**
 * report_axis_bin() - the bin of an instant
 *
 * Return: an index; times before the axis are in the first bin, times after it in the last.
 */
u32 report_axis_bin(const struct report_axis *axis, u64 ns)
{
	u64 bin = ns > axis->begin_ns ? (ns - axis->begin_ns) / axis->width_ns : 0;

	return bin < axis->bins ? (u32)bin : axis->bins - 1;
}

/**
 * report_axis_spread() - add an amount evenly over a span of time
 * @axis: of the bins
 * @begin_ns, @end_ns: of the span
 * @amount: the sum of the parts that are added, exactly
 * @bins: array with an element for each bin
 */
void report_axis_spread(const struct report_axis *axis, u64 begin_ns, u64 end_ns, u64 amount, u64 *bins)
{
	u32 i, first = report_axis_bin(axis, begin_ns), last = report_axis_bin(axis, end_ns);
	u64 done = 0;

	for (i = first; i < last; i++) {
		u128 edge_ns = axis->begin_ns + (u128)axis->width_ns * (i + 1);
		u64 until = (u64)(amount * (edge_ns - begin_ns) / (end_ns - begin_ns));

		bins[i] += until - done;
		done = until;
	}
	bins[last] += amount - done;
}
