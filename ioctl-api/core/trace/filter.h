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
 * struct iot_filter_subject - the operation that a program is evaluated for
 * @load: fill in a field when it is first used; returns false if the operation does not have it
 * @is_in_tree: is the task, or an ancestor of it, the process?
 * @loaded: bit N: field N is filled in or absent
 * @absent: bit N: the operation does not have field N
 * @later: bit N: field N is not known yet
 * @number: value of fields that are numbers; of `op` the kind; of `path` the results of the tests of the path and
 *	the extension, see iot_filter_paths()
 * @text: value of `comm` and `cgroup`
 * @bytes: of @text
 *
 * Set at first: @load, @is_in_tree, and the three sets.
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

int iot_filter_verify(const void *bytes, size_t count);
u32 iot_filter_uses(const struct iot_filter_head *program);
enum iot_truth iot_filter_run(const struct iot_filter_head *program, struct iot_filter_subject *subject);
u32 iot_filter_paths(const struct iot_filter_head *program, const char *root, u32 root_bytes, const char *path,
		     u32 path_bytes);
bool iot_glob_match(const char *pattern, u32 pattern_bytes, const char *text, u32 text_bytes);
u32 iot_filter_share(u32 task);

#endif
