// SPDX-License-Identifier: GPL-2.0-only
/*
 * time_sums.c - mean and deviation from exact sums, so that those of parts of a job are added up to those of the job, whatever the order.
 */
#include "time_sums.h"

#include <math.h>

#define LIMBS 3

/* -- arithmetic modulo 2^192 --------------------------------------------------------------------------------- */

static struct wide wide_of(u64 value)
{
	return (struct wide){ { value } };
}

static struct wide add(struct wide a, struct wide b)
{
	u64 carry = 0;
	u32 i;

	for (i = 0; i < LIMBS; i++) {
		unsigned __int128 sum = (unsigned __int128)a.limbs[i] + b.limbs[i] + carry;

		a.limbs[i] = (u64)sum;
		carry = (u64)(sum >> 64);
	}
	return a;
}

static struct wide subtract(struct wide a, struct wide b)
{
	u32 i;

	for (i = 0; i < LIMBS; i++)
		b.limbs[i] = ~b.limbs[i];
	return add(add(a, b), wide_of(1));
}

static struct wide multiply(struct wide a, u64 factor)
{
	u64 carry = 0;
	u32 i;

	for (i = 0; i < LIMBS; i++) {
		unsigned __int128 product = (unsigned __int128)a.limbs[i] * factor + carry;

		a.limbs[i] = (u64)product;
		carry = (u64)(product >> 64);
	}
	return a;
}

static bool is_more(struct wide a, struct wide b)
{
	u32 i;

	for (i = LIMBS; i-- > 0;)
		if (a.limbs[i] != b.limbs[i])
			return a.limbs[i] > b.limbs[i];
	return false;
}

static double to_double(struct wide a)
{
	return ((double)a.limbs[2] * 0x1p64 + (double)a.limbs[1]) * 0x1p64 + (double)a.limbs[0];
}

/* -- sums -------------------------------------------------------------------------------------------------------- */

/**
 * time_sums_add() - add a length of time
 */
void time_sums_add(struct time_sums *sums, u64 ns)
{
	sums->sum = add(sums->sum, wide_of(ns));
	sums->squares = add(sums->squares, multiply(wide_of(ns), ns));
}

/**
 * time_sums_join() - add the sums of other lengths of time
 */
void time_sums_join(struct time_sums *sums, const struct time_sums *others)
{
	sums->sum = add(sums->sum, others->sum);
	sums->squares = add(sums->squares, others->squares);
}

/* The mean without its fraction, and the numerator of that. Return: false if it has more than 64 bits. */
static bool divide(const struct time_sums *sums, u64 count, u64 *mean_ns, u64 *rest)
{
	unsigned __int128 sum = (unsigned __int128)sums->sum.limbs[1] << 64 | sums->sum.limbs[0];

	*rest = (u64)(sum % count);
	*mean_ns = (u64)(sum / count);
	return !sums->sum.limbs[2] && sum / count <= UINT64_MAX;
}

/* The sum of the squares of differences from the mean without its fraction. */
static struct wide differences(const struct time_sums *sums, u64 count, u64 mean_ns)
{
	struct wide twice = multiply(multiply(sums->sum, mean_ns), 2);

	return add(subtract(sums->squares, twice), multiply(multiply(wide_of(count), mean_ns), mean_ns));
}

/**
 * time_sums_set() - mean and deviation of a histogram from sums
 * @sums: of all its lengths of time
 * @times: has their number
 */
void time_sums_set(const struct time_sums *sums, struct times *times)
{
	u64 mean_ns, rest;

	if (!times->count)
		return;
	divide(sums, times->count, &mean_ns, &rest);
	times->mean_ns = (double)mean_ns + (double)rest / (double)times->count;
	times->squares = to_double(differences(sums, times->count, mean_ns)) - (double)rest * (double)rest / (double)times->count;
}

/* A file has whole ns. */
static bool is_near(double exact_ns, double rounded_ns)
{
	return fabs(exact_ns - rounded_ns) <= 1 + exact_ns * 1e-9;
}

/**
 * time_sums_fit() - are sums those of a histogram that was read from a file?
 * @sums: nothing in them is trusted
 * @times: likewise
 */
bool time_sums_fit(const struct time_sums *sums, const struct times *times)
{
	struct times own = *times;
	u64 mean_ns, rest, range_ns = times->max_ns - times->min_ns;

	if (!times->count)
		return !is_more(sums->sum, wide_of(0)) && !is_more(sums->squares, wide_of(0));
	if (times->max_ns >> 62 || times->count >> 60 || !divide(sums, times->count, &mean_ns, &rest) || mean_ns < times->min_ns ||
	    mean_ns > times->max_ns)
		return false;
	if (is_more(differences(sums, times->count, mean_ns), multiply(multiply(wide_of(times->count), range_ns + 1), range_ns + 1)))
		return false;
	time_sums_set(sums, &own);
	return is_near(own.mean_ns, times->mean_ns) && is_near(times_deviation_ns(&own), times_deviation_ns(times));
}

static void put_wide(struct bytes *bytes, const struct wide *wide)
{
	u32 i;

	for (i = 0; i < LIMBS; i++)
		bytes_put(bytes, wide->limbs[i]);
}

/**
 * time_sums_put() - sums as bytes
 */
void time_sums_put(struct bytes *bytes, const struct time_sums *sums)
{
	put_wide(bytes, &sums->sum);
	put_wide(bytes, &sums->squares);
}

/**
 * time_sums_get() - read sums; see time_sums_fit()
 */
void time_sums_get(struct input *in, struct time_sums *sums)
{
	u32 i;

	for (i = 0; i < LIMBS; i++)
		sums->sum.limbs[i] = input_get(in);
	for (i = 0; i < LIMBS; i++)
		sums->squares.limbs[i] = input_get(in);
}
