// SPDX-License-Identifier: GPL-2.0-only
/*
 * histogram.c - buckets of a width in proportion to their value.
 */
#include "histogram.h"

/* Values below HISTOGRAM_PARTS have a bucket each. */
static u32 bucket_of(u64 value)
{
	u32 power;

	if (value < HISTOGRAM_PARTS)
		return (u32)value;
	power = 63 - (u32)__builtin_clzll(value); /* at least 6 */
	return (power - 5) * HISTOGRAM_PARTS + (u32)((value >> (power - 6)) % HISTOGRAM_PARTS);
}

static u64 largest_in(u32 bucket)
{
	u32 power = bucket / HISTOGRAM_PARTS + 5;
	u64 first;

	if (bucket < HISTOGRAM_PARTS)
		return bucket;
	first = (u64)(HISTOGRAM_PARTS + bucket % HISTOGRAM_PARTS) << (power - 6);
	return first + ((u64)1 << (power - 6)) - 1;
}

/**
 * histogram_add() - add a number
 */
void histogram_add(struct histogram *histogram, u64 value)
{
	if (!histogram->count || value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->count++;
	histogram->sum += value;
	histogram->buckets[bucket_of(value)]++;
}

/**
 * histogram_add_bucket() - add numbers of which only the power of two is known
 * @histogram: the caller sets @count, @sum and @max; @min stays as it is
 * @from: the smallest number of the bucket: 0 or a power of two
 * @count: numbers in it
 *
 * Percentiles are then upper limits, up to twice too large.
 */
void histogram_add_bucket(struct histogram *histogram, u64 from, u64 count)
{
	histogram->buckets[bucket_of(from ? from + (from - 1) : 0)] += count;
}

/**
 * histogram_percentile() - the value that this share of all values does not exceed
 * @histogram: of the numbers
 * @percent: from 0 to 100
 *
 * Return: the nearest-rank percentile, too large by 1.6 % at most; 0 if there are none.
 */
u64 histogram_percentile(const struct histogram *histogram, double percent)
{
	double exact = percent / 100 * (double)histogram->count;
	u64 rank = (u64)exact, below = 0;
	u32 i;

	rank += (double)rank < exact;
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		below += histogram->buckets[i];
		if (below && below >= rank)
			return largest_in(i) < histogram->max ? largest_in(i) : histogram->max;
	}
	return histogram->max;
}
