/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flight_dump.h - the records of a flight recorder as a trace.
 */
#ifndef IOTAPE_FLIGHT_DUMP_H
#define IOTAPE_FLIGHT_DUMP_H

#include "flight_ring.h"
#include "flight_state.h"

/**
 * struct flight_dump - a trace to be written
 * @ring: its records
 * @state: the objects that these refer to
 * @facts: as for a trace of all records, ended by NULL
 * @cause: the event that caused it, a phrase
 * @number: of the dump
 * @begin_ns, @begin_real_ns: when the recording began, on both clocks
 * @evicted: records that have left, their operations and bytes
 * @last_fact: for its end, "" for none
 * @reason: why the recording ended, "" if as planned or not yet
 * @records: out: of the trace
 * @window_ns: out: from its first record to its last
 */
struct flight_dump {
	const struct flight_ring *ring;
	struct flight_state *state;
	const char *const *facts;
	const char *cause;
	u64 number;
	u64 begin_ns;
	u64 begin_real_ns;
	struct iot_omission evicted;
	const char *last_fact;
	const char *reason;
	u64 records;
	u64 window_ns;
};

int flight_dump_write(struct flight_dump *dump, const char *path);

#endif
