/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * make_trace.h - nearly valid traces, for fuzzers of trace readers.
 */
#ifndef IOTAPE_TEST_MAKE_TRACE_H
#define IOTAPE_TEST_MAKE_TRACE_H

#include "mutate.h"
#include "tests/unit/trace_bytes.h"

/* Runs a fuzzer on a trace; return: 0 or a negative errno, with its reason. */
typedef int (*feed_fn)(struct trace_bytes *input, struct rng *rng, struct iot_reject *reject);

/* The complete run, with the given options and traces; return: 0, or 1 if a trace cannot be read. */
int fuzz_traces(int argc, char **argv, struct tally *tally, feed_fn feed);

#endif
