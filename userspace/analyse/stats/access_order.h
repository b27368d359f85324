/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * access_order.h - how files are accessed: sizes and order of requests, alignment, sharing.
 */
#ifndef IOTAPE_ACCESS_ORDER_H
#define IOTAPE_ACCESS_ORDER_H

#include <stdbool.h>
#include <uthash.h>

#include "lib/iotape.h"

#define PATTERN_SIZES	    11
#define PATTERN_ALIGN_BYTES 4096

enum pattern_direction {
	PATTERN_READ,
	PATTERN_WRITE,
	PATTERN_DIRECTIONS,
};

/**
 * struct pattern_requests - the reads, or the writes, of the selected operations
 * @count: requests that did not fail
 * @first: of them, the first of their handle
 * @consecutive: began where the request before of the same handle had ended
 * @strided: were as far from the request before as that one from its predecessor, if that is not consecutive
 * @sequential: began behind the end of the request before, otherwise
 * @random: all others
 * @aligned_offsets, @aligned_lengths: multiples of PATTERN_ALIGN_BYTES
 * @sizes: requests by length; see pattern_size_limit()
 */
struct pattern_requests {
	u64 count;
	u64 first;
	u64 consecutive;
	u64 strided;
	u64 sequential;
	u64 random;
	u64 aligned_offsets;
	u64 aligned_lengths;
	u64 sizes[PATTERN_SIZES];
};

struct pattern_stream;
struct pattern_file;

/**
 * struct patterns - access patterns of files
 * @requests: by enum pattern_direction
 * @read_only, @write_only, @read_write: files by the accesses to their data
 * @shared: of these files, those that several processes accessed
 * @unknown: accesses to files without a known path
 * @touches: first accesses to pages of mappings
 * @major: of them, those that read storage
 */
struct patterns {
	struct pattern_requests requests[PATTERN_DIRECTIONS];
	u64 read_only;
	u64 write_only;
	u64 read_write;
	u64 shared;
	u64 unknown;
	u64 touches;
	u64 major;
	struct pattern_stream *streams;
	struct pattern_file *files;
};

u64 pattern_size_limit(u32 index);
int patterns_add(struct patterns *patterns, struct iot_names *names, const struct iot_record *record, u64 process);
void patterns_finish(struct patterns *patterns);

#endif
