// SPDX-License-Identifier: GPL-2.0-only
/*
 * pattern.c - the pattern of a trace, and what all patterns have.
 */
#include "pattern.h"

#include "assembly.h"

static int take_task(void *assembly, struct stream *stream, u32 task)
{
	return assembly_add_task(assembly, stream, task);
}

/**
 * pattern_make() - compute the pattern of a trace
 * @trace: its path
 * @pattern: out: to be released with pattern_free()
 * @omissions: out: omissions of the trace
 * @reject: filled in if it is refused
 *
 * Return: 0 or a negative errno.
 */
int pattern_make(const char *trace, struct pattern **pattern, struct iot_omissions *omissions, struct iot_reject *reject)
{
	struct assembly *assembly = assembly_open(0);
	struct stream *stream;
	int err;

	if (!assembly)
		return iot_refuse(reject, IOT_REJECT_memory, 0), -ENOMEM;
	err = stream_read(trace, take_task, assembly, &stream, reject);
	if (!err) {
		*omissions = stream->omissions;
		err = assembly_finish(assembly, stream, pattern);
		stream_free(stream);
		if (err)
			iot_refuse(reject, IOT_REJECT_memory, 0);
	}
	assembly_close(assembly);
	return err;
}

/**
 * pattern_summarize() - the main properties of a pattern
 */
void pattern_summarize(const struct pattern *pattern, struct pattern_summary *summary)
{
	u64 i;

	*summary = (struct pattern_summary){ .operations = pattern->operations, .tasks = pattern->task_count,
					     .groups = pattern->group_count, .shapes = pattern->shapes.count,
					     .has_times = pattern->has_times, .is_made = pattern->is_made };
	memcpy(summary->capture, pattern->capture, sizeof(summary->capture));
	memcpy(summary->digest, pattern->digest, sizeof(summary->digest));
	for (i = 0; i < pattern->task_count; i++)
		summary->ranks += series_at(pattern->facts[TASK_FACT_what], i) == TASK_RANK;
}

/**
 * pattern_free() - free a pattern; NULL is allowed
 */
void pattern_free(struct pattern *pattern)
{
	u32 i, j;

	if (!pattern)
		return;
	for (i = 0; i < pattern->group_count; i++) {
		struct group *group = &pattern->groups[i];

		for (j = 0; group->columns && j < nodes_at(&pattern->nodes, group->root)->columns; j++)
			column_free(&group->columns[j]);
		free(group->columns);
		free(group->times);
		series_free(group->positions);
	}
	free(pattern->groups);
	for (i = 0; i < TASK_FACT_COUNT; i++)
		series_free(pattern->facts[i]);
	nodes_free(&pattern->nodes);
	shapes_free(&pattern->shapes);
	free(pattern);
}
