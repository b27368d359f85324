/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pattern.h - the operations of a trace as loops, the same for many ranks.
 */
#ifndef IOTAPE_PATTERN_H
#define IOTAPE_PATTERN_H

#include "lib/iotape.h"

#define PATTERN_MAGIC "IOTAPTRN" /* the first bytes of a file */

struct iotape_model;
struct pattern;

/**
 * struct pattern_summary - main properties of a pattern
 * @capture: id of its trace
 * @operations: number of operations of all tasks
 * @tasks: number of tasks
 * @ranks: number of tasks that are MPI ranks
 * @missing_ranks: other ranks of their MPI_COMM_WORLDs
 * @nodes: of a part of a job
 * @groups: number of groups of tasks with the same structure
 * @shapes: number of distinct operations, apart from operands
 * @has_times: it has histograms of think times and durations
 * @is_made: extrapolated or changed, not the description of a trace
 * @is_part: of a job, to be merged
 * @digest: hash of the canonical stream
 */
struct pattern_summary {
	unsigned char capture[16];
	u64 operations;
	u64 tasks;
	u64 ranks;
	u64 missing_ranks;
	u64 nodes;
	u64 groups;
	u64 shapes;
	bool has_times;
	bool is_made;
	bool is_part;
	u8 digest[32];
};

/**
 * struct pattern_refusal - the reason for refusing an operation on a pattern
 */
struct pattern_refusal {
	char text[512];
};

/* Classes of times that are extrapolated. */
enum extrapolation_class {
	EXTRAPOLATION_thinks,
	EXTRAPOLATION_files,
	EXTRAPOLATION_messages,
	EXTRAPOLATION_reductions,
	EXTRAPOLATION_collectives,
	EXTRAPOLATION_CLASSES
};

/**
 * enum extrapolation_forms - forms of functions of the number of ranks: constant, linear, inverse, inverse plus
 *	constant, polynomial, that of a loaded model
 */
enum extrapolation_forms { EXTRAPOLATION_FORMS = 6 };

/**
 * struct extrapolation_fit - how times of a class were extrapolated
 * @positions: operations of loop bodies
 * @forms: of them, those with a function of each form
 * @explained: sum of the coefficients of determination
 * @sum_ns: of all tasks, of the functions of single operations
 * @compensated_ns: of all tasks, of the functions of whole tasks
 * @total_explained: coefficient of determination of the latter, weighted by time
 */
struct extrapolation_fit {
	u64 positions;
	u64 forms[EXTRAPOLATION_FORMS];
	double explained;
	double sum_ns;
	double compensated_ns;
	double total_explained;
};

/**
 * enum extrapolation_sites - the use of call sites in an extrapolation
 * @EXTRAPOLATION_sites_kept: the result has those of the runs, if they have any
 * @EXTRAPOLATION_sites_missing: they were left out, because not all runs have them
 * @EXTRAPOLATION_sites_differ: they were left out, because the runs do not match with them
 */
enum extrapolation_sites { EXTRAPOLATION_sites_kept, EXTRAPOLATION_sites_missing, EXTRAPOLATION_sites_differ };

/**
 * struct extrapolation_summary - the quality of an extrapolation
 * @fits: how well times fit
 * @sites: the use of call sites
 * @is_ordered: files that several ranks create at the same time are created by the lowest one, because in the runs, other ranks did
 */
struct extrapolation_summary {
	struct extrapolation_fit fits[EXTRAPOLATION_CLASSES];
	enum extrapolation_sites sites;
	bool is_ordered;
};

int pattern_change(const struct pattern *pattern, const char *name, const char *value, struct pattern **made, u64 *changed,
		   struct pattern_refusal *refusal);

/**
 * struct pattern_time_error - times of all tasks
 * @share: sum of the differences at each operation of a loop body, without sign, by the measured time
 */
struct pattern_time_error {
	double made_ns;
	double measured_ns;
	double share;
};

/**
 * struct pattern_comparison - of two patterns
 * @is_same: the operations are the same
 * @is_ordered: they are the same if files that several ranks create at the same time are created by the lowest one in both
 */
struct pattern_comparison {
	bool is_same;
	bool is_ordered;
	struct pattern_time_error think;
	struct pattern_time_error duration;
};

int pattern_compare(const struct pattern *made, const struct pattern *measured, struct pattern_comparison *comparison);
const char *extrapolation_form_name(u32 form);
/**
 * struct extrapolation_options - how times are extrapolated
 * @is_compensated: the times of whole tasks have functions, too, and those of operations are stretched to them
 * @loaded: one more form of functions, or NULL
 */
struct extrapolation_options {
	bool is_compensated;
	const struct iotape_model *loaded;
};

int pattern_extrapolate(const struct pattern **runs, u32 count, u64 ranks, const struct extrapolation_options *options,
			struct pattern **pattern, struct extrapolation_summary *summary, struct pattern_refusal *refusal);

int pattern_drop_sites(const struct pattern *pattern, struct pattern **made);
int pattern_order_creators(const struct pattern *pattern, struct pattern **made);

int pattern_make(const char *trace, struct pattern **pattern, struct iot_omissions *omissions, struct iot_reject *reject);
int pattern_make_part(const char *trace, struct pattern **pattern, struct iot_omissions *omissions, struct pattern_refusal *refusal,
		      struct iot_reject *reject);

/**
 * struct pattern_merge_options - how parts of a job are merged
 * @shared: recorded directories that are the same on all nodes, ended by NULL
 * @is_shared_guessed: so are directories on file systems of a shared type
 * @is_part: the result is a part, too
 */
struct pattern_merge_options {
	const char *const *shared;
	bool is_shared_guessed;
	bool is_part;
};

int pattern_merge(const struct pattern *const *parts, const char *const *names, u32 count, const struct pattern_merge_options *options,
		  struct pattern **pattern, struct iot_omissions *omissions, struct pattern_refusal *refusal);
int pattern_load(const char *path, struct pattern **pattern, struct iot_reject *reject);
int pattern_load_bytes(const void *bytes, size_t count, struct pattern **pattern, struct iot_reject *reject);
int pattern_image(const struct pattern *pattern, void **bytes, size_t *count);
void pattern_summarize(const struct pattern *pattern, struct pattern_summary *summary);
int pattern_expand(const struct pattern *pattern, FILE *out, u64 limit, u8 digest[32], u64 *operations);
int pattern_run(const struct pattern *pattern, u64 *broken, struct pattern_refusal *refusal);
int pattern_trace(const struct pattern *pattern, const char *path, u64 *broken, struct pattern_refusal *refusal);
#define PATTERN_TEXT_MAX (32u << 20) /* bytes of a text */

int pattern_print(const struct pattern *pattern, bool has_histograms, FILE *out);
int pattern_parse(const char *text, size_t bytes, u64 ranks, u64 operations_max, struct pattern **pattern,
		  struct pattern_refusal *refusal);
int pattern_print_xml(const struct pattern *pattern, bool has_histograms, FILE *out, struct pattern_refusal *refusal);
int pattern_parse_xml(const char *text, size_t bytes, u64 ranks, u64 operations_max, struct pattern **pattern,
		      struct pattern_refusal *refusal);
void pattern_free(struct pattern *pattern);

#endif
