/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * breakdown.h - selected operations of a trace by operation, file, process and so on.
 */
#ifndef IOTAPE_BREAKDOWN_H
#define IOTAPE_BREAKDOWN_H

#include "access_order.h"
#include "profile.h"
#include "selection.h"
#include "symbols/symbols.h"

/* Keys of groups of operations: B(key) */
#define BREAKDOWN_KEYS(B) B(operation) B(file) B(directory) B(process) B(thread) B(rank) B(node) B(user) B(interval) B(site)

enum breakdown_key {
#define BREAKDOWN_ENUM(key) BREAKDOWN_##key,
	BREAKDOWN_KEYS(BREAKDOWN_ENUM)
#undef BREAKDOWN_ENUM
};

/**
 * struct breakdown_error - failed operations of a group with one errno
 * @errno_value: positive
 */
struct breakdown_error {
	int errno_value;
	u64 count;
};

/**
 * struct breakdown_group - operations that have the key in common
 * @name: path, command and process id, rank and so on; "?" if not known
 * @sum: of the operations; bytes of asynchronous requests count where they were submitted
 * @latency_ns: of the operations that were timed; NULL if none was
 * @errors: by errno
 */
struct breakdown_group {
	UT_hash_handle hh;
	char *name;
	struct profile_sum sum;
	struct histogram *latency_ns;
	struct breakdown_error *errors;
	u32 error_count;
};


/**
 * struct breakdown - selected operations of a trace
 * @groups: hash by name
 * @sum: of all operations
 * @data: of them, those that move data: reads, writes, copies, submits and accesses to mappings
 * @mapping: of @sum, mappings, accesses to them, and advice on them
 * @mpi: calls among the groups, which are not part of @sum
 * @actors: of the trace
 * @symbols: its call sites, if they are the key; NULL if not
 * @is_counted: operations were counted and not recorded: as in struct profile; @patterns is empty
 */
struct breakdown {
	enum breakdown_key key;
	struct selection selection;
	struct breakdown_group *groups;
	struct profile_sum sum;
	struct profile_sum data;
	struct profile_sum mapping;
	struct profile_sum mpi;
	struct patterns patterns;
	struct actors actors;
	struct symbols *symbols;
	bool is_counted;
	struct iot_omissions omissions;
	struct request_pairs *requests;
};

int breakdown_read(const char *path, struct breakdown *breakdown, struct iot_reject *reject);
void breakdown_free(struct breakdown *breakdown);

#endif
