// SPDX-License-Identifier: GPL-2.0-only
/*
 * request_pairs.c - submit and complete records of a request are paired, whichever comes first.
 */
#include "suite.h"

#include "analyse/graph/request_pairs.h"

static struct request_pair *submit(struct request_pairs *pairs, u64 id)
{
	const struct iot_rec_submit r = { .request = id, .enter_ns = 100, .flags = IOT_RW_write };

	return request_pairs_submit(pairs, &r);
}

static struct request_pair *complete(struct request_pairs *pairs, u64 id, u64 time_ns)
{
	const struct iot_rec_complete r = { .request = id, .time_ns = time_ns, .result = 4096 };

	return request_pairs_complete(pairs, &r);
}

static void assert_whole(const struct request_pair *pair, u64 latency_ns)
{
	assert_non_null(pair);
	assert_true(request_pair_is_whole(pair));
	assert_true(pair->is_write);
	assert_int_equal(pair->result, 4096);
	assert_int_equal(request_pair_latency_ns(pair), latency_ns);
}

static void either_record_may_come_first(void **state)
{
	struct request_pairs *pairs;
	struct request_pair *first, *second;

	(void)state;
	assert_int_equal(request_pairs_open(&pairs, sizeof(u64)), 0);
	first = submit(pairs, 1);
	second = complete(pairs, 2, 250);
	assert_int_equal(first->context[0], 0);
	first->context[0] = 7;
	assert_false(request_pair_is_whole(first));
	assert_false(request_pair_is_whole(second));
	assert_ptr_equal(submit(pairs, 2), second);
	assert_ptr_equal(complete(pairs, 1, 130), first);
	assert_whole(first, 30);
	assert_whole(second, 150);
	assert_int_equal(first->context[0], 7);
	request_pairs_close(pairs);
}

/* An id that is reused after its request was dropped belongs to another request. */
static void a_dropped_request_is_forgotten(void **state)
{
	struct request_pairs *pairs;

	(void)state;
	assert_int_equal(request_pairs_open(&pairs, 0), 0);
	submit(pairs, 1);
	request_pairs_drop(pairs, complete(pairs, 1, 90));
	assert_false(request_pair_is_whole(submit(pairs, 1)));
	assert_whole(complete(pairs, 1, 90), 0); /* earlier than its submission, by the clocks of two CPUs */
	request_pairs_close(pairs);
}

SUITE("request_pairs", TEST(either_record_may_come_first) TEST(a_dropped_request_is_forgotten))
