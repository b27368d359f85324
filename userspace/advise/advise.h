/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * advise.h - hints on changes that would make the I/O of a recorded job cheaper.
 *
 * A hint is a rule, in the table of hints.c, and its evidence in a trace: the number of operations or bytes, or
 * the time, with the problem, and the files, directories or ranks concerned.
 */
#ifndef IOTAPE_ADVISE_H
#define IOTAPE_ADVISE_H

#include "lib/iotape.h"

enum advise_hint {
	ADVISE_small_reads,
	ADVISE_small_writes,
	ADVISE_unaligned_requests,
	ADVISE_random_reads,
	ADVISE_random_writes,
	ADVISE_wrong_advice,
	ADVISE_durable_writes,
	ADVISE_mapped_updates,
	ADVISE_redundant_opens,
	ADVISE_redundant_stats,
	ADVISE_metadata_storm,
	ADVISE_file_per_process,
	ADVISE_interleaved_writes,
	ADVISE_one_rank,
	ADVISE_independent_io,
	ADVISE_unbalanced_bytes,
	ADVISE_unbalanced_time,
	ADVISE_HINT_COUNT,
};

enum advise_unit {
	ADVISE_COUNT,
	ADVISE_BYTES,
	ADVISE_NS,
};

/* Information that a rule needs from the trace; the bits below are classes of operations, 1 << IOT_OP_CLASS_*. */
#define ADVISE_NEEDS_ACCESSES (1 << 16) /* accesses to mapped pages */
#define ADVISE_NEEDS_RANKS    (1 << 17) /* two ranks or more */
#define ADVISE_NEEDS_WHOLE    (1 << 18) /* all operations: ranks are compared with each other */
#define ADVISE_NEEDS_TIMES    (1 << 19) /* durations */

/**
 * struct advise_rule - a hint, apart from any trace
 * @name: of the hint, a stable word
 * @title: the problem
 * @unit: of the numbers
 * @least, @percent: thresholds, both of which must be reached: of the number, and of its share
 * @needs: bits
 * @share: words behind "N of M", up to the share
 * @subjects: the kind of items, in the plural
 * @reason: for the cost
 * @remedy: changes to try
 * @change: argument of `iotape pattern --set` that makes a program without the problem, or NULL
 */
struct advise_rule {
	const char *name;
	const char *title;
	enum advise_unit unit;
	u64 least;
	u32 percent;
	u32 needs;
	const char *share;
	const char *subjects;
	const char *reason;
	const char *remedy;
	const char *change;
};

extern const struct advise_rule advise_rules[ADVISE_HINT_COUNT];

/**
 * enum advise_verdict - whether a hint applies
 * @ADVISE_ABSENT: the trace shows that the thresholds are not reached
 * @ADVISE_FOUND: they are reached
 * @ADVISE_UNKNOWN: the trace lacks information
 * @ADVISE_INAPPLICABLE: the job has no operations of this type
 */
enum advise_verdict {
	ADVISE_ABSENT,
	ADVISE_FOUND,
	ADVISE_UNKNOWN,
	ADVISE_INAPPLICABLE,
};

/**
 * struct advise_item - a file, directory or rank that a hint concerns
 * @count: its part of the number of the hint; of ranks, their bytes or time
 */
struct advise_item {
	char *name;
	u64 count;
};

/**
 * struct advise_finding - a hint in a trace
 * @count, @whole: affected and all, in the unit of the rule
 * @why: of a verdict that is unknown or inapplicable: the reason
 * @change: of a hint that was found: the change of its rule, if the job has such operations; or NULL
 * @no_change: of a hint that was found: why @change is NULL; or NULL
 * @items: of a hint that was found: largest first
 */
struct advise_finding {
	enum advise_verdict verdict;
	u64 count;
	u64 whole;
	const char *why;
	const char *change;
	const char *no_change;
	struct advise_item *items;
	u32 item_count;
};

/**
 * struct advise - the hints of a trace
 * @findings: by enum advise_hint
 * @operations: on files
 * @omissions: of the trace
 */
struct advise {
	struct advise_finding findings[ADVISE_HINT_COUNT];
	u64 operations;
	struct iot_omissions omissions;
};

int advise_read(const char *path, struct advise *advise, struct iot_reject *reject);
void advise_free(struct advise *advise);

#endif
