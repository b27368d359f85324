/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * selection.h - the selection of records of a trace: by time, task, rank, path and operation.
 */
#ifndef IOTAPE_SELECTION_H
#define IOTAPE_SELECTION_H

#include "actors.h"
#include "filter/filter.h"

/**
 * struct selection - conditions, all of which a record must meet; all zero selects everything
 * @since_ns, @until_ns: time since the start of the trace; @until_ns is excluded, 0: no limit
 * @task: id, 0: any
 * @rank: used if @has_rank
 * @pattern: shell pattern that the path of an operation matches, NULL: any
 * @is_op: operations by kind, used if @has_ops
 * @filter: an expression, iotape-filter(7); NULL: any
 * @view: of @filter, between selection_open() and selection_close()
 */
struct selection {
	u64 since_ns;
	u64 until_ns;
	u32 task;
	u32 rank;
	bool has_rank;
	const char *pattern;
	bool has_ops;
	bool is_op[IOT_KIND_END];
	const struct filter *filter;
	struct filter_view *view;
};

bool selection_is_all(const struct selection *selection);
bool selection_needs_actors(const struct selection *selection);
int selection_open(struct selection *selection);
int selection_take(struct selection *selection, const struct iot_record *record);
void selection_close(struct selection *selection);
void selection_kinds(const struct selection *selection, u64 kinds[IOT_KIND_WORDS]);
bool selection_may_match(const struct selection *selection, const struct actors *actors, const struct iot_summary *summary);
int selection_walk(const struct selection *selection, const struct actors *actors, const char *path, iot_walk_fn fn, void *context,
		   struct iot_trace_info *info, struct iot_reject *reject);
bool selection_match(const struct selection *selection, const struct actors *actors, struct iot_names *names,
		     const struct iot_record *record);

#endif
