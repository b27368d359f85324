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
 * times_count() - add a length of time, without mean and deviation
 */
void times_count(struct times *times, u64 ns)
{
	if (!times->count || ns < times->min_ns)
		times->min_ns = ns;
	if (ns > times->max_ns)
		times->max_ns = ns;
	times->count++;
	times->bins[bin_of(ns)]++;
}

/**
 * times_join_counts() - add the lengths of time of another histogram, without mean and deviation
 */
void times_join_counts(struct times *times, const struct times *others)
{
	u32 i;

	if (!others->count)
		return;
	if (!times->count || others->min_ns < times->min_ns)
		times->min_ns = others->min_ns;
	if (others->max_ns > times->max_ns)
		times->max_ns = others->max_ns;
	times->count += others->count;
	for (i = 0; i < TIMES_BINS; i++)
		times->bins[i] += others->bins[i];
}

/**
 * times_add() - add a length of time
 */
void times_add(struct times *times, u64 ns)
{
	double difference = (double)ns - times->mean_ns;

	times_count(times, ns);
	times->mean_ns += difference / (double)times->count;
	times->squares += difference * ((double)ns - times->mean_ns);
}

static u64 divisor(u64 a, u64 b)
{
	while (b) {
		u64 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/**
 * distribution_open() - prepare a distribution whose histogram is set
 *
 * Lengths of time are taken in steps of about the golden ratio, so that any number of them has about the same proportions.
 */
void distribution_open(struct distribution *distribution)
{
	u64 count = distribution->times.count;

	distribution->next = 0;
	distribution->step = (u64)((double)count * 0.6180339887) + 1;
	while (divisor(distribution->step, count) != 1)
		distribution->step++;
}

/**
 * times_add_part() - add a length of time that is known by the histogram of several ones
 * @times: to which
 * @distribution: those that are left, all again after the last one
 *
 * The lengths have together the minimum, maximum, mean, deviation and bins of the histogram.
 */
void times_add_part(struct times *times, struct distribution *distribution)
{
	const struct times *all = &distribution->times;
	double difference = all->mean_ns - times->mean_ns;
	u64 before = 0;
	u32 bin = 0;

	while (before + all->bins[bin] <= distribution->next)
		before += all->bins[bin++];
	distribution->next = (distribution->next + distribution->step) % all->count;
	if (!times->count || all->min_ns < times->min_ns)
		times->min_ns = all->min_ns;
	if (all->max_ns > times->max_ns)
		times->max_ns = all->max_ns;
	times->count++;
	times->mean_ns += difference / (double)times->count;
	times->squares += difference * (all->mean_ns - times->mean_ns) + all->squares / (double)all->count;
	times->bins[bin]++;
}

/**
 * times_is_sound() - does a histogram agree with itself?
 *
 * Return: false if the bins have another number of times, the mean is not between minimum and maximum, the deviation exceeds
 * their difference, or the maximum is 2^62 ns or more.
 */
bool times_is_sound(const struct times *times)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < TIMES_BINS; i++)
		if (__builtin_add_overflow(sum, times->bins[i], &sum))
			return false;
	return times->count && sum == times->count && !(times->max_ns >> 62) && times->mean_ns >= (double)times->min_ns &&
	       times->mean_ns <= (double)times->max_ns &&
	       times_deviation_ns(times) <= (double)(times->max_ns - times->min_ns);
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
