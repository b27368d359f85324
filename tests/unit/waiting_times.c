// SPDX-License-Identifier: GPL-2.0-only
/*
 * waiting_times.c - times of groups of tasks that come mixed: the histograms are those of one group after the other.
 */
#include <stdlib.h>

#include "pattern/waiting_times.h"
#include "random.h"
#include "suite.h"

#define GROUPS	      3
#define RUNS	      4
#define DISTRIBUTIONS 3
#define TIMES	      400 /* of a group */
#define ROUNDS	      200

static u64 state = 0x9e3779b97f4a7c15ull;

static u64 below(u64 limit)
{
	return random_below(&state, limit);
}

struct given {
	u64 time_ns;
	u32 run;
	bool is_duration;
};

struct round {
	struct given times[GROUPS][TIMES];
	struct distribution distributions[DISTRIBUTIONS];
	struct distribution *pointers[DISTRIBUTIONS];
	struct stream stream;
	struct run_times expected[GROUPS][RUNS];
	struct run_times made[GROUPS][RUNS];
};

static void reset_distributions(struct round *r)
{
	u32 i, j;

	for (i = 0; i < DISTRIBUTIONS; i++) {
		r->distributions[i] = (struct distribution){};
		for (j = 0; j < 5 + 2 * i; j++)
			times_add(&r->distributions[i].times, 1ull << 3 * j);
		distribution_open(&r->distributions[i]);
		r->pointers[i] = &r->distributions[i];
	}
	r->stream.distributions = r->pointers;
	r->stream.distribution_count = DISTRIBUTIONS;
}

/* Few different times, so that equal ones follow each other. */
static void choose_times(struct round *r)
{
	u32 group, i;

	for (group = 0; group < GROUPS; group++)
		for (i = 0; i < TIMES; i++) {
			struct given *given = &r->times[group][i];

			given->time_ns = below(3) ? STREAM_DISTRIBUTION | below(DISTRIBUTIONS) : 10 * below(3);
			given->run = (u32)below(RUNS);
			given->is_duration = below(2);
			if (i && below(3))
				*given = given[-1];
		}
}

static void add_in_order(struct round *r)
{
	u32 group, i;

	for (group = 0; group < GROUPS; group++)
		for (i = 0; i < TIMES; i++) {
			const struct given *given = &r->times[group][i];
			struct run_times *times = &r->expected[group][given->run];

			times_add_of_stream(given->is_duration ? &times->duration : &times->think, &r->stream, given->time_ns);
		}
}

/* Return: items that were made. */
static u32 add_mixed(struct round *r)
{
	struct waiting_times waiting[GROUPS] = {};
	struct last_use uses[DISTRIBUTIONS] = {};
	u32 next[GROUPS] = {}, group, left, items = 0;

	for (group = 0; group < GROUPS; group++)
		waiting[group].group = group;
	for (left = GROUPS * TIMES; left;) {
		const struct given *given;

		group = (u32)below(GROUPS);
		if (next[group] == TIMES)
			continue;
		given = &r->times[group][next[group]++];
		assert_int_equal(waiting_times_add(&waiting[group], uses, RUNS, given->run, given->is_duration, given->time_ns), 0);
		left--;
	}
	for (group = 0; group < GROUPS; group++) {
		items += waiting[group].count;
		waiting_times_finish(&waiting[group], &r->stream, r->made[group]);
		waiting_times_free(&waiting[group]);
	}
	return items;
}

static void mixed_groups_have_the_times_of_their_order(void **unused)
{
	struct round *r = calloc(1, sizeof(*r));
	u32 round, items = 0;

	(void)unused;
	assert_non_null(r);
	for (round = 0; round < ROUNDS; round++) {
		memset(r->expected, 0, sizeof(r->expected));
		memset(r->made, 0, sizeof(r->made));
		choose_times(r);
		reset_distributions(r);
		add_in_order(r);
		reset_distributions(r);
		items += add_mixed(r);
		assert_memory_equal(r->made, r->expected, sizeof(r->made));
	}
	assert_true(items < ROUNDS * GROUPS * TIMES); /* some times joined others */
	free(r);
}

static void equal_times_are_one_item(void **unused)
{
	struct waiting_times waiting = {};
	struct last_use use = {};
	u32 i;

	(void)unused;
	for (i = 0; i < 1000; i++) {
		assert_int_equal(waiting_times_add(&waiting, &use, 2, 0, false, 7), 0);
		assert_int_equal(waiting_times_add(&waiting, &use, 2, 1, true, STREAM_DISTRIBUTION), 0);
	}
	assert_int_equal(waiting.count, 2);
	assert_int_equal(waiting.items[0].count, 1000);
	assert_int_equal(waiting.items[1].count, 1000);
	waiting_times_free(&waiting);
}

SUITE("waiting_times", TEST(mixed_groups_have_the_times_of_their_order) TEST(equal_times_are_one_item))
