/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bandwidth.h - bandwidth of reads and writes: of all, of each process or rank, and by request size; creates and unlinks.
 *
 * Only requests that succeeded count, and only measured times: a bandwidth without one is not a number.
 */
#ifndef IOTAPE_BANDWIDTH_H
#define IOTAPE_BANDWIDTH_H

#include "selection.h"

enum bandwidth_direction {
	BANDWIDTH_READ,
	BANDWIDTH_WRITE,
	BANDWIDTH_DIRECTIONS,
};

enum bandwidth_change {
	BANDWIDTH_CREATE,
	BANDWIDTH_UNLINK,
	BANDWIDTH_CHANGES,
};

/**
 * struct bandwidth_span - operations, and the time from the beginning of the first to the end of the last
 * @count: of those that succeeded
 * @failed: others
 * @bytes: moved, of requests
 * @begin_ns: of the first
 * @end_ns: of the last one that was timed
 * @time_ns: their durations, added up
 * @min_ns, @max_ns: of their durations
 * @untimed: of @count, those without a known duration
 * @untimed_ns: when the last of these began
 */
struct bandwidth_span {
	u64 count;
	u64 failed;
	u64 bytes;
	u64 begin_ns;
	u64 end_ns;
	u64 time_ns;
	u64 min_ns;
	u64 max_ns;
	u64 untimed;
	u64 untimed_ns;
};

struct bandwidth_interval;

/**
 * struct bandwidth_flow - the requests of a process or rank in one direction
 * @span: of them
 * @busy_ns: time in which at least one was in progress, valid if all were timed
 */
struct bandwidth_flow {
	struct bandwidth_span span;
	u64 busy_ns;
	struct bandwidth_interval *intervals;
	size_t interval_count;
	size_t interval_room;
};

/**
 * struct bandwidth_client - a rank, or a process that is of none
 * @name: of it; bytes of a trace
 */
struct bandwidth_client {
	UT_hash_handle hh;
	u64 id;
	char *name;
	bool is_rank;
	struct bandwidth_flow flows[BANDWIDTH_DIRECTIONS];
};

/**
 * struct bandwidth_size - requests of one length
 */
struct bandwidth_size {
	UT_hash_handle hh;
	u64 bytes;
	struct bandwidth_span spans[BANDWIDTH_DIRECTIONS];
};

/**
 * struct bandwidth_clients - bandwidths of the clients in one direction, bytes per second
 * @count: clients with a request
 * @known: of them, those whose bandwidth is known
 * @mean, @min, @max: of these; NAN without one
 */
struct bandwidth_clients {
	u64 count;
	u64 known;
	double mean;
	double min;
	double max;
};

/**
 * struct bandwidth - bandwidths of the selected operations of a trace
 * @spans: all reads, all writes
 * @clients: hash by id
 * @of_clients: by direction
 * @sizes: hash by length
 * @changes: opens and mknods that created a file; unlinks
 * @copies, @touches: copies, and accesses to mappings, which are not part of the other numbers
 * @unfinished: asynchronous requests without an end in the trace, neither
 */
struct bandwidth {
	struct selection selection;
	struct bandwidth_span spans[BANDWIDTH_DIRECTIONS];
	struct bandwidth_client *clients;
	struct bandwidth_clients of_clients[BANDWIDTH_DIRECTIONS];
	struct bandwidth_size *sizes;
	struct bandwidth_span changes[BANDWIDTH_CHANGES];
	u64 copies;
	u64 touches;
	u64 unfinished;
	struct actors actors;
	struct iot_omissions omissions;
	struct request_pairs *requests;
};

int bandwidth_read(const char *path, struct bandwidth *bandwidth, struct iot_reject *reject);
void bandwidth_free(struct bandwidth *bandwidth);
u64 bandwidth_elapsed_ns(const struct bandwidth_span *span);
double bandwidth_of_all(const struct bandwidth_span *span);
double bandwidth_of_requests(const struct bandwidth_span *span);
double bandwidth_of_client(const struct bandwidth_flow *flow);
double bandwidth_per_s(const struct bandwidth_span *span);

#endif
