// SPDX-License-Identifier: GPL-2.0-only
/*
 * clocks.c - wrong clocks of nodes are fitted to each other, and no event comes before its cause.
 *
 * Each test generates messages at known times, and reads these times off clocks with an offset
 * and a drift. The required order is kept here, and verified without the code under test.
 */
#include "analyse/clocks/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

#define NODES_MAX 8
#define PAIRS_MAX 200000

/* The clock of a node: its reading at a time, which starts at 0. */
struct clock {
	u64 start_ns;
	double drift;
	u64 step_at_ns;
	u64 step_ns;
};

struct pair {
	u32 from_node;
	u32 to_node;
	u64 from_ns;
	u64 to_ns;
};

static struct {
	struct clocks *clocks;
	struct clock nodes[NODES_MAX];
	u32 node_count;
	struct pair pairs[PAIRS_MAX];
	u32 pair_count;
} world;

static u64 reading(u32 node, u64 time_ns)
{
	const struct clock *clock = &world.nodes[node];

	return clock->start_ns + time_ns + (u64)(s64)(clock->drift * (double)time_ns) +
	       (clock->step_at_ns && time_ns >= clock->step_at_ns ? clock->step_ns : 0);
}

/* Wall clocks are wrong by some ms, which differ between nodes. */
static void begin(const struct clock *nodes, u32 count)
{
	u32 i;

	srand(7);
	world.pair_count = 0;
	world.node_count = count;
	memcpy(world.nodes, nodes, count * sizeof(*nodes));
	assert_int_equal(clocks_open(count, &world.clocks), 0);
	for (i = 0; i < count; i++)
		clocks_guess(world.clocks, i, reading(i, 0), 1000000000000000ull + i * 3000000);
}

static void message(u32 from, u32 to, u64 sent_ns, u64 got_ns)
{
	const struct pair pair = { from, to, reading(from, sent_ns), reading(to, got_ns) };
	u32 meeting;

	assert_int_equal(clocks_meeting(world.clocks, &meeting), 0);
	assert_int_equal(clocks_arrive(world.clocks, meeting, from, pair.from_ns), 0);
	assert_int_equal(clocks_leave(world.clocks, meeting, to, pair.to_ns), 0);
	assert_true(world.pair_count < PAIRS_MAX);
	world.pairs[world.pair_count++] = pair;
}

static u64 jitter(u64 most_ns)
{
	u64 r = (u64)rand() % 1000;

	return most_ns * r * r / 1000000; /* most messages are fast */
}

/* All-to-all messages, now and then: 20 us in one direction, 35 in the other. */
static void traffic(u64 from_ns, u64 to_ns, u64 every_ns)
{
	u64 now_ns;
	u32 from, to;

	for (now_ns = from_ns; now_ns < to_ns; now_ns += every_ns)
		for (from = 0; from < world.node_count; from++)
			for (to = 0; to < world.node_count; to++) {
				u64 sent_ns = now_ns + jitter(every_ns / 2);
				u64 latency_ns = from < to ? 20000 : 35000;

				if (from != to)
					message(from, to, sent_ns,
						sent_ns + latency_ns + jitter(300000));
			}
}

static u32 inverted(void)
{
	u32 i, count = 0;

	for (i = 0; i < world.pair_count; i++) {
		const struct pair *p = &world.pairs[i];

		count += clocks_map(world.clocks, p->from_node, p->from_ns) >=
			 clocks_map(world.clocks, p->to_node, p->to_ns);
	}
	return count;
}

/* Return: the error of the time of a node at a time. */
static s64 error_ns(u32 node, u64 time_ns)
{
	return (s64)(clocks_map(world.clocks, node, reading(node, time_ns)) - reading(0, time_ns));
}

static bool is_near(s64 value, s64 expected, s64 most)
{
	return value >= expected - most && value <= expected + most;
}

static void runs_forward(u32 node, u64 from_ns, u64 to_ns, u64 step_ns)
{
	u64 last_ns = 0, now_ns, time_ns;

	for (now_ns = reading(node, from_ns); now_ns < reading(node, to_ns); now_ns += step_ns) {
		time_ns = clocks_map(world.clocks, node, now_ns);
		assert_true(time_ns >= last_ns);
		last_ns = time_ns;
	}
}

static void offset_and_drift_are_determined(void **state)
{
	static const struct clock nodes[] = {
		{ .start_ns = 5000000000 },
		{ .start_ns = 8000000000, .drift = 50e-6 },
		{ .start_ns = 900000000000000, .drift = -30e-6 },
		{ .start_ns = 1, .drift = 2e-6 },
	};
	const struct clock_fit *fit;
	u64 at_ns;
	u32 i;

	(void)state;
	begin(nodes, 4);
	traffic(0, 100000000000, 100000000);
	assert_int_equal(clocks_fit(world.clocks, 0), 0);
	assert_int_equal(inverted(), 0);
	for (i = 1; i < 4; i++) {
		fit = clocks_result(world.clocks, i);
		assert_int_equal(fit->source, CLOCK_SOURCE_messages);
		assert_true(is_near(fit->drift_ppb, (s64)(-nodes[i].drift * 1e9), 600));
		assert_true(is_near(fit->offset_ns, (s64)(nodes[0].start_ns - nodes[i].start_ns), 40000));
		assert_true(fit->margin_ns > 3000 && fit->margin_ns < 60000);
		assert_int_equal(fit->corrected, 0);
		for (at_ns = 0; at_ns < 100000000000; at_ns += 10000000000)
			assert_true(is_near(error_ns(i, at_ns), 0, 40000));
		runs_forward(i, 1000000000, 1000100000, 7);
	}
	assert_int_equal(clocks_result(world.clocks, 0)->offset_ns, 0);
	clocks_close(world.clocks);
}

/* A short run does not determine a drift: none is the best assumption. */
static void drift_is_not_invented(void **state)
{
	static const struct clock nodes[] = { { .start_ns = 1000 }, { .start_ns = 777777 } };

	(void)state;
	begin(nodes, 2);
	traffic(0, 20000000, 1000000);
	assert_int_equal(clocks_fit(world.clocks, 0), 0);
	assert_int_equal(clocks_result(world.clocks, 1)->drift_ppb, 0);
	assert_int_equal(inverted(), 0);
	clocks_close(world.clocks);
}

/*
 * Messages were fast in one direction at one end of the trace, and in the other direction at the other end: the
 * bounds permit a drift of 0.5 ms per second, and no drift.
 */
static void drift_is_not_the_largest_possible_one(void **state)
{
	static const struct clock nodes[] = { { .start_ns = 1000 }, { .start_ns = 777777 } };
	u64 at_ns;

	(void)state;
	begin(nodes, 2);
	for (at_ns = 0; at_ns < 10000000; at_ns += 1000000) {
		message(0, 1, at_ns, at_ns + 1000 + jitter(3000));
		message(1, 0, at_ns, at_ns + 500000 + jitter(300000));
		message(0, 1, 1000000000 + at_ns, 1000500000 + at_ns + jitter(300000));
		message(1, 0, 1000000000 + at_ns, 1000001000 + at_ns + jitter(3000));
	}
	assert_int_equal(clocks_fit(world.clocks, 0), 0);
	assert_int_equal(clocks_result(world.clocks, 1)->drift_ppb, 0);
	assert_int_equal(inverted(), 0);
	for (at_ns = 0; at_ns < 20000000000; at_ns += 1000000000)
		assert_true(is_near(error_ns(1, at_ns), 0, 5000));
	clocks_close(world.clocks);
}

/* There is a drift, and the bounds permit ten times as much: a typical one is more likely. */
static void usual_drifts_are_more_likely(void **state)
{
	static const struct clock nodes[] = { { .start_ns = 1000 }, { .start_ns = 777777, .drift = 30e-6 } };
	u64 at_ns;

	(void)state;
	begin(nodes, 2);
	for (at_ns = 0; at_ns < 10000000; at_ns += 1000000) {
		message(0, 1, at_ns, at_ns + 1000 + jitter(3000));
		message(1, 0, at_ns, at_ns + 1000 + jitter(3000));
		message(0, 1, 1000000000 + at_ns, 1000300000 + at_ns + jitter(300000));
		message(1, 0, 1000000000 + at_ns, 1000001000 + at_ns + jitter(3000));
	}
	assert_int_equal(clocks_fit(world.clocks, 0), 0);
	assert_int_equal(inverted(), 0);
	assert_true(is_near(clocks_result(world.clocks, 1)->drift_ppb, -30000, 45000));
	for (at_ns = 0; at_ns < 1000000000; at_ns += 100000000)
		assert_true(is_near(error_ns(1, at_ns), 0, 45000));
	clocks_close(world.clocks);
}

/* Each pair alone permits a wide range, all together a narrow one: the fitted lines preserve all orders. */
static void clocks_of_nodes_are_fitted(void **state)
{
	static const struct clock nodes[] = {
		{ .start_ns = 5000 }, { .start_ns = 8000000 }, { .start_ns = 70000 }, { .start_ns = 90000000 },
	};
	u64 at_ns;
	u32 i;

	(void)state;
	begin(nodes, 4);
	for (at_ns = 0; at_ns < 1000000000; at_ns += 10000000) {
		for (i = 1; i < 4; i++) { /* loose bounds, more so in one direction */
			message(0, i, at_ns, at_ns + (i % 2 ? 1000 : 400000));
			message(i, 0, at_ns, at_ns + (i % 2 ? 400000 : 1000));
			message(i, i % 3 + 1, at_ns, at_ns + 2000 + jitter(1000));
			message(i % 3 + 1, i, at_ns, at_ns + 2000 + jitter(1000));
		}
	}
	assert_int_equal(clocks_fit(world.clocks, 0), 0);
	assert_int_equal(inverted(), 0);
	for (i = 1; i < 4; i++) {
		assert_true(clocks_result(world.clocks, i)->margin_ns >= 0);
		assert_int_equal(clocks_result(world.clocks, i)->corrected, 0);
		assert_true(is_near(error_ns(i, 500000000), 0, 5000));
	}
	clocks_close(world.clocks);
}

/* A clock that stops for two seconds, or jumps, is not a line. */
static void violations_of_the_line_are_corrected(void **state)
{
	static const s64 steps_ns[] = { 2000000000, -2000000000 };
	const struct clock_fit *fit;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		const struct clock nodes[] = {
			{ .start_ns = 5000000000 },
			{ .start_ns = 60000000000, .drift = 20e-6,
			  .step_at_ns = 30000000000, .step_ns = (u64)steps_ns[i] },
		};

		begin(nodes, 2);
		traffic(0, 29000000000, 50000000);
		traffic(33000000000, 60000000000, 50000000);
		assert_int_equal(clocks_fit(world.clocks, 0), 0);
		assert_int_equal(inverted(), 0);
		fit = clocks_result(world.clocks, 1);
		assert_true(clocks_result(world.clocks, 1)->margin_ns < 0);
		assert_true(fit->corrected + clocks_result(world.clocks, 0)->corrected > 0);
		assert_int_equal(fit->contradicted, 0);
		runs_forward(1, 33000000000, 33020000000, 991);
		clocks_close(world.clocks);
	}
}

static void messages_in_one_direction_keep_the_order(void **state)
{
	static const struct clock nodes[] = { { .start_ns = 100 }, { .start_ns = 50000000000 } };
	u64 at_ns;

	(void)state;
	begin(nodes, 2); /* the wall clock of the second node is 3 ms ahead */
	for (at_ns = 0; at_ns < 1000000000; at_ns += 10000000)
		message(1, 0, at_ns, at_ns + 20000);
	assert_int_equal(clocks_fit(world.clocks, 0), 0);
	assert_int_equal(clocks_result(world.clocks, 1)->source, CLOCK_SOURCE_one_way);
	assert_int_equal(inverted(), 0);
	assert_true(is_near(error_ns(1, 500000000), 0, 25000));
	clocks_close(world.clocks);
}

static void wall_clocks_are_used_without_messages(void **state)
{
	static const struct clock nodes[] = { { .start_ns = 100 }, { .start_ns = 50000000000 } };

	(void)state;
	begin(nodes, 2);
	assert_int_equal(clocks_fit(world.clocks, 0), 0);
	assert_int_equal(clocks_result(world.clocks, 1)->source, CLOCK_SOURCE_wall);
	assert_int_equal(error_ns(1, 500000000), 3000000);
	clocks_close(world.clocks);
}

/* All ranks leave a barrier after the last has entered. */
static void barriers_bound_all_clocks(void **state)
{
	static const struct clock nodes[] = {
		{ .start_ns = 5000000000 },
		{ .start_ns = 8000000000, .drift = 50e-6 },
		{ .start_ns = 70000, .drift = -10e-6 },
	};
	u64 at_ns, arrived_ns[3], last_ns;
	u32 meeting, i, round;

	(void)state;
	begin(nodes, 3);
	for (round = 0; round < 500; round++) {
		at_ns = round * 100000000ull;
		last_ns = 0;
		assert_int_equal(clocks_meeting(world.clocks, &meeting), 0);
		for (i = 0; i < 3; i++) {
			arrived_ns[i] = at_ns + jitter(2000000);
			last_ns = arrived_ns[i] > last_ns ? arrived_ns[i] : last_ns;
			assert_int_equal(clocks_arrive(world.clocks, meeting, i,
						       reading(i, arrived_ns[i])), 0);
		}
		for (i = 0; i < 3; i++) {
			u64 left_ns = last_ns + 5000 + jitter(20000);
			u32 other;

			assert_int_equal(clocks_leave(world.clocks, meeting, i, reading(i, left_ns)), 0);
			for (other = 0; other < 3; other++)
				world.pairs[world.pair_count++] = (struct pair){
					other, i, reading(other, arrived_ns[other]), reading(i, left_ns)
				};
		}
	}
	assert_int_equal(clocks_fit(world.clocks, 0), 0);
	assert_int_equal(inverted(), 0);
	assert_true(is_near(error_ns(1, 25000000000), 0, 30000));
	assert_true(is_near(error_ns(2, 25000000000), 0, 30000));
	assert_true(is_near(clocks_result(world.clocks, 1)->drift_ppb, -50000, 1500));
	clocks_close(world.clocks);
}

/* Each node received a message before it sent one that the other received before its send. */
static void cycle_of_bounds_is_counted(void **state)
{
	static const struct clock nodes[] = { { .start_ns = 1000 }, { .start_ns = 1000 } };

	(void)state;
	begin(nodes, 2);
	message(0, 1, 2000, 1000);
	message(1, 0, 2000, 1000);
	assert_int_equal(clocks_fit(world.clocks, 0), 0);
	assert_int_equal(clocks_result(world.clocks, 0)->contradicted +
			 clocks_result(world.clocks, 1)->contradicted, 1);
	assert_int_equal(inverted(), 1);
	clocks_close(world.clocks);
}

/* Random records at random times: whatever clocks are stated, order holds or violations are counted. */
static void contradictory_times_are_ordered(void **state)
{
	static const struct clock nodes[] = { { .start_ns = 1000 }, { .start_ns = 5 }, { .start_ns = 9 } };
	u64 contradicted = 0;
	u32 i;

	(void)state;
	begin(nodes, 3);
	for (i = 0; i < 3000; i++)
		message((u32)rand() % 3, (u32)rand() % 3, (u64)rand(), (u64)rand());
	assert_int_equal(clocks_fit(world.clocks, 0), 0);
	for (i = 0; i < 3; i++) {
		contradicted += clocks_result(world.clocks, i)->contradicted;
		runs_forward(i, 0, 2000000000, 1000003);
	}
	assert_true(inverted() <= contradicted);
	clocks_close(world.clocks);
}

SUITE("clocks",
      TEST(offset_and_drift_are_determined)
      TEST(drift_is_not_invented)
      TEST(drift_is_not_the_largest_possible_one)
      TEST(usual_drifts_are_more_likely)
      TEST(clocks_of_nodes_are_fitted)
      TEST(violations_of_the_line_are_corrected)
      TEST(messages_in_one_direction_keep_the_order)
      TEST(wall_clocks_are_used_without_messages)
      TEST(barriers_bound_all_clocks)
      TEST(cycle_of_bounds_is_counted)
      TEST(contradictory_times_are_ordered))
