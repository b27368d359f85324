// SPDX-License-Identifier: GPL-2.0-only
/*
 * longest.c - the longest operations of a trace, in a heap with the shortest of them at its top.
 */
#include "state.h"

#include <stdlib.h>

static void swap(struct report_op *ops, u32 a, u32 b)
{
	struct report_op op = ops[a];

	ops[a] = ops[b];
	ops[b] = op;
}

static void rise(struct report_op *ops, u32 at)
{
	for (; at && ops[at].duration_ns < ops[(at - 1) / 2].duration_ns; at = (at - 1) / 2)
		swap(ops, at, (at - 1) / 2);
}

static void sink(struct report_op *ops, u32 count)
{
	u32 at = 0, child;

	for (; (child = 2 * at + 1) < count; at = child) {
		child += child + 1 < count && ops[child + 1].duration_ns < ops[child].duration_ns;
		if (ops[at].duration_ns <= ops[child].duration_ns)
			return;
		swap(ops, at, child);
	}
}

/* The end of a long path, which distinguishes more than its beginning, from the beginning of a character on. */
static const char *path_end(const char *path)
{
	size_t bytes = strlen(path);
	const char *at = path;

	if (bytes >= REPORT_PATH_BYTES)
		at = path + bytes - REPORT_PATH_BYTES + 1;
	while ((*at & 0xc0) == 0x80)
		at++;
	return at;
}

/**
 * longest_take() - keep an operation if it is among the longest
 * @report: that keeps it
 * @max: number of operations that are kept, at most REPORT_OPS_MAX
 * @op: the operation, without @path
 * @path: of its object, "" if not known; copied
 *
 * Return: 0 or -ENOMEM.
 */
int longest_take(struct report *report, u32 max, const struct report_op *op, const char *path)
{
	struct report_op kept = *op;

	if (!max || (report->op_count == max && op->duration_ns <= report->ops[0].duration_ns))
		return 0;
	if (!report->ops)
		report->ops = calloc(max, sizeof(*report->ops));
	if (!report->ops)
		return -ENOMEM;
	kept.path = NULL;
	if (*path) {
		kept.path = strdup(path_end(path));
		if (!kept.path)
			return -ENOMEM;
	}
	if (report->op_count == max) {
		free(report->ops[0].path);
		report->ops[0] = kept;
		sink(report->ops, max);
	} else {
		report->ops[report->op_count] = kept;
		rise(report->ops, report->op_count++);
	}
	return 0;
}
