/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * request_pairs.h - pairs the submit and the complete record of each asynchronous request.
 *
 * Either record may come first in a trace: the request can end before its submission has been written.
 */
#ifndef IOTAPE_REQUEST_PAIRS_H
#define IOTAPE_REQUEST_PAIRS_H

#include "lib/iotape.h"

/**
 * struct request_pair - a request, after one or both of its records
 * @id: of the request
 * @enter_ns, @is_write: from the submit record
 * @end_ns, @result: from the complete record
 * @is_submitted, @is_completed: which records have been seen
 * @context: data of the caller, of the size given to request_pairs_open(), zero at first
 */
struct request_pair {
	u64 id;
	u64 enter_ns;
	u64 end_ns;
	s64 result;
	bool is_submitted;
	bool is_completed;
	bool is_write;
	u64 context[];
};

struct request_pairs;

int request_pairs_open(struct request_pairs **pairs, size_t context_bytes);
void request_pairs_close(struct request_pairs *pairs);
struct request_pair *request_pairs_submit(struct request_pairs *pairs, const struct iot_rec_submit *r);
struct request_pair *request_pairs_complete(struct request_pairs *pairs, const struct iot_rec_complete *r);
void request_pairs_drop(struct request_pairs *pairs, struct request_pair *pair);

/* Both records have been seen. */
static inline bool request_pair_is_whole(const struct request_pair *pair)
{
	return pair->is_submitted && pair->is_completed;
}

/* Time from submission to completion; 0 if the clocks of the two records disagree. */
static inline u64 request_pair_latency_ns(const struct request_pair *pair)
{
	return pair->end_ns > pair->enter_ns ? pair->end_ns - pair->enter_ns : 0;
}

#endif
