/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * selection.h - which records of a trace are looked at: by time, task, rank, path and operation.
 */
#ifndef IOTAPE_SELECTION_H
#define IOTAPE_SELECTION_H

#include "actors.h"

/**
 * struct selection - conditions, all of which a record must meet; all zero selects everything
 * @since_ns, @until_ns: time since the start of the trace; @until_ns is excluded, 0: no limit
 * @task: id, 0: any
 * @rank: used if @has_rank
 * @pattern: shell pattern that the path of an operation matches, NULL: any
 * @is_op: operations by kind, used if @has_ops
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
};

bool selection_is_all(const struct selection *selection);
bool selection_needs_actors(const struct selection *selection);
bool selection_match(const struct selection *selection, const struct actors *actors, struct iot_names *names,
		     const struct iot_record *record);

#endif
