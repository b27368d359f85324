/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * filter.h - verification and evaluation of filter programs: the same code for operations in the kernel and for
 * records in user space.
 */
#ifndef IOTAPE_CORE_FILTER_H
#define IOTAPE_CORE_FILTER_H

#include <iotape/filter.h>

#include "core/port.h"

enum iot_truth {
	IOT_NO = 0,
	IOT_LATER = 1, /* not known before the end of the operation */
	IOT_YES = 2,
};

/**
 * struct iot_filter_subject - the operation for which a program is evaluated
 * @load: fill in a field when it is first used; returns false if the operation does not have it
 * @is_in_tree: does the task, or an ancestor of it, belong to the process?
 * @loaded: bit N: field N is filled in or absent
 * @absent: bit N: the operation does not have field N
 * @later: bit N: field N is not known yet
 * @number: value of fields that are numbers; of `op` the kind; of `path` the results of the tests of the path and
 *	the extension, see iot_filter_paths()
 * @text: value of `comm` and `cgroup`
 * @bytes: of @text
 *
 * The caller initializes @load, @is_in_tree, and the three sets.
 */
struct iot_filter_subject {
	bool (*load)(struct iot_filter_subject *subject, const struct iot_filter_head *program,
		     enum iot_filter_field field);
	bool (*is_in_tree)(struct iot_filter_subject *subject, u64 pid);
	u32 loaded;
	u32 absent;
	u32 later;
	u64 number[IOT_FILTER_FIELD_END];
	const char *text;
	u32 bytes;
};

#define IOT_FILTER_BIT(field) (1u << (field))

/* Fields that are known at the end only. */
#define IOT_FILTER_AT_END (IOT_FILTER_BIT(IOT_FILTER_result) | IOT_FILTER_BIT(IOT_FILTER_duration))

static inline const struct iot_filter_step *iot_filter_steps(const struct iot_filter_head *program)
{
	return (const struct iot_filter_step *)(program + 1);
}

static inline const u8 *iot_filter_data(const struct iot_filter_head *program)
{
	return (const u8 *)(iot_filter_steps(program) + program->steps);
}

/* Return: the result of a test of a number, @is_signed or not. */
static inline bool iot_filter_compare(u8 code, bool is_signed, u64 a, u64 b)
{
	bool is_less = is_signed ? (s64)a < (s64)b : a < b;

	switch (code) {
	case IOT_FILTER_EQ:
		return a == b;
	case IOT_FILTER_NE:
		return a != b;
	case IOT_FILTER_LT:
		return is_less;
	case IOT_FILTER_LE:
		return is_less || a == b;
	case IOT_FILTER_GT:
		return !is_less && a != b;
	case IOT_FILTER_GE:
		return !is_less;
	default:
		return !(a % b);
	}
}

#define IOT_FILTER_NODES_MAX 64
#define IOT_FILTER_REFUSE    0xffff /* instead of a node: the program is false */
#define IOT_FILTER_ADMIT     0xfffe /* it is true */

/**
 * struct iot_filter_node - a test in a decision graph
 * @code: of the step
 * @field: of it
 * @at: its number
 * @next: nodes, or IOT_FILTER_*, if the test is false or true
 * @target: of the step
 * @data: of the step
 * @value: of the step
 * @stack: truth values in front of it
 */
struct iot_filter_node {
	u8 code;
	u8 field;
	u16 at;
	u16 next[2];
	u16 target;
	u32 data;
	u64 value;
	u64 stack;
};

/**
 * struct iot_filter_graph - a program as a decision graph, see iot_filter_graph_make()
 * @count: of nodes
 * @nodes: the first is that of the first test
 */
struct iot_filter_graph {
	u32 count;
	struct iot_filter_node nodes[IOT_FILTER_NODES_MAX];
};

int iot_filter_verify(const void *bytes, size_t count);
u32 iot_filter_uses(const struct iot_filter_head *program);
enum iot_truth iot_filter_run(const struct iot_filter_head *program, struct iot_filter_subject *subject);
enum iot_truth iot_filter_test(const struct iot_filter_head *program, const struct iot_filter_step *step,
			       struct iot_filter_subject *subject);
bool iot_filter_can_admit(const struct iot_filter_head *program, u32 kind);
void iot_filter_graph_make(struct iot_filter_graph *graph, const struct iot_filter_head *program);
u32 iot_filter_paths(const struct iot_filter_head *program, const char *root, u32 root_bytes, const char *path,
		     u32 path_bytes);
bool iot_glob_match(const char *pattern, u32 pattern_bytes, const char *text, u32 text_bytes);
u32 iot_filter_share(u32 task);

#endif
