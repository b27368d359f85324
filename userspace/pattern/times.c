// SPDX-License-Identifier: GPL-2.0-only
/*
 * times.c - histograms of times. Mean and variance as by Welford.
 */
#include "times.h"

#include <math.h>

static u32 bin_of(u64 ns)
{
	return ns ? 64 - (u32)__builtin_clzll(ns) : 0;
}

/**
 * times_add() - add a length of time
 */
void times_add(struct times *times, u64 ns)
{
	double difference = (double)ns - times->mean_ns;

	if (!times->count || ns < times->min_ns)
		times->min_ns = ns;
	if (ns > times->max_ns)
		times->max_ns = ns;
	times->count++;
	times->mean_ns += difference / (double)times->count;
	times->squares += difference * ((double)ns - times->mean_ns);
	times->bins[bin_of(ns)]++;
}

/**
 * times_deviation_ns() - the standard deviation
 */
double times_deviation_ns(const struct times *times)
{
	return times->count && times->squares > 0 ? sqrt(times->squares / (double)times->count) : 0;
}

/**
 * times_put() - a histogram as bytes: mean and deviation are rounded to ns
 */
void times_put(struct bytes *bytes, const struct times *times)
{
	u32 first = 0, last = TIMES_BINS, i;

	bytes_put(bytes, times->count);
	if (!times->count)
		return;
	bytes_put(bytes, times->min_ns);
	bytes_put(bytes, times->max_ns - times->min_ns);
	bytes_put(bytes, (u64)(times->mean_ns + 0.5));
	bytes_put(bytes, (u64)(times_deviation_ns(times) + 0.5));
	while (!times->bins[first])
		first++;
	while (!times->bins[last - 1])
		last--;
	bytes_put(bytes, first);
	bytes_put(bytes, last - first);
	for (i = first; i < last; i++)
		bytes_put(bytes, times->bins[i]);
}

/**
 * times_get() - read a histogram
 * @in: from where; nothing in it is trusted
 * @times: out
 *
 * Return: whether it is sound.
 */
bool times_get(struct input *in, struct times *times)
{
	u64 first, bins, sum = 0, i;
	double deviation;

	*times = (struct times){ .count = input_get(in) };
	if (!times->count)
		return !in->is_failed;
	times->min_ns = input_get(in);
	times->max_ns = times->min_ns + input_get(in);
	times->mean_ns = (double)input_get(in);
	deviation = (double)input_get(in);
	times->squares = deviation * deviation * (double)times->count;
	first = input_get(in);
	bins = input_get(in);
	if (first >= TIMES_BINS || bins > TIMES_BINS - first || times->max_ns < times->min_ns)
		return false;
	for (i = 0; i < bins; i++) {
		times->bins[first + i] = input_get(in);
		sum += times->bins[first + i];
	}
	return sum == times->count && !in->is_failed;
}
