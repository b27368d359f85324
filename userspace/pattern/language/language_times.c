// SPDX-License-Identifier: GPL-2.0-only
/*
 * language_times.c - read the times of an operation: think=1.5ms, or with a histogram behind it.
 */
#include "language.h"
#include "language_statement.h"

/* NAME=NUMBER and a comma. */
static u64 read_member(struct reader *r, const char *name)
{
	u64 value = 0;

	reader_expect(r, name);
	reader_expect(r, "=");
	reader_number(r, &value);
	reader_expect(r, ",");
	return value;
}

static void read_bins(struct reader *r, struct times *times)
{
	u64 bin = 0;

	reader_expect(r, "bins");
	reader_expect(r, "=");
	reader_number(r, &bin);
	reader_expect(r, ":");
	do {
		if (bin >= TIMES_BINS) {
			reader_fail(r, r->token.place, "a histogram has at most %d bins", TIMES_BINS);
			return;
		}
		reader_number(r, &times->bins[bin++]);
	} while (reader_accept(r, ","));
}

static struct distribution *add_distribution(struct reader *r)
{
	struct language_program *program = r->program;
	struct distribution **distributions, *made;
	u32 room = program->distribution_room ? 2 * program->distribution_room : 16;

	if (program->distribution_count == program->distribution_room) {
		distributions = reallocarray(program->distributions, room, sizeof(struct distribution *));
		if (!distributions) {
			r->is_failed = r->is_out_of_memory = true;
			return NULL;
		}
		program->distributions = distributions;
		program->distribution_room = room;
	}
	made = reader_allocate(r, sizeof(*made));
	if (made)
		program->distributions[program->distribution_count++] = made;
	return made;
}

/* {count=4, min_ns=1, max_ns=9, mean_ns=5, deviation_ns=2, bins=1: 1, 0, 2, 1}. Return: its number, 0 if there is none. */
static u32 read_distribution(struct reader *r)
{
	struct language_place place = r->token.place;
	struct distribution *distribution;
	double deviation_ns;

	if (!reader_accept(r, "{"))
		return 0;
	distribution = add_distribution(r);
	if (!distribution)
		return 0;
	distribution->times.count = read_member(r, "count");
	distribution->times.min_ns = read_member(r, "min_ns");
	distribution->times.max_ns = read_member(r, "max_ns");
	distribution->times.mean_ns = (double)read_member(r, "mean_ns");
	deviation_ns = (double)read_member(r, "deviation_ns");
	distribution->times.squares = deviation_ns * deviation_ns * (double)distribution->times.count;
	read_bins(r, &distribution->times);
	reader_expect(r, "}");
	if (r->is_failed)
		return 0;
	if (!times_is_sound(&distribution->times)) {
		reader_fail(r, place, "a histogram whose bins, mean or deviation contradict its count, minimum or maximum");
		return 0;
	}
	distribution_open(distribution);
	return r->program->distribution_count;
}

/**
 * language_read_time() - read a time of an operation
 * @r: at its value
 * @o: the operation
 * @is_think: the time before it, not its duration
 */
void language_read_time(struct reader *r, struct language_operation *o, bool is_think)
{
	*(is_think ? &o->think_ns : &o->takes_ns) = reader_duration_ns(r);
	*(is_think ? &o->think : &o->takes) = read_distribution(r);
	r->program->has_times = true;
}
