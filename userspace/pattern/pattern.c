// SPDX-License-Identifier: GPL-2.0-only
/*
 * pattern.c - the pattern of a trace, and what all patterns have.
 */
#include "pattern.h"

#include "assembly.h"
#include "part.h"

static int take_task(void *assembly, struct stream *stream, u32 task)
{
	return assembly_add_task(assembly, stream, task);
}

/* Takes over the part. */
static int set_part(struct pattern *pattern, const struct stream *stream, struct part *part, struct pattern_refusal *refusal)
{
	u64 *nodes;

	pattern->part = part;
	if (stream->has_worlds) {
		snprintf(refusal->text, sizeof(refusal->text), "has several MPI_COMM_WORLDs: merge the traces instead");
		return -EOPNOTSUPP;
	}
	part->world = stream->world;
	part->ranks = stream->world_ranks;
	part->omissions = stream->omissions;
	nodes = calloc(pattern->task_count + 1, sizeof(*nodes)); /* all of the only node */
	part->node_of = nodes ? series_make(nodes, pattern->task_count) : NULL;
	free(nodes);
	return part->node_of ? 0 : -ENOMEM;
}

static int make(const char *trace, struct part *part, struct pattern **pattern, struct iot_omissions *omissions,
		struct pattern_refusal *refusal, struct iot_reject *reject)
{
	struct assembly *assembly = assembly_open(0);
	struct stream *stream;
	int err = assembly ? stream_read(trace, take_task, assembly, &stream, reject) : -ENOMEM;

	if (err) {
		if (!assembly)
			iot_refuse(reject, IOT_REJECT_memory, 0);
		assembly_close(assembly);
		part_free(part);
		return err;
	}
	*omissions = stream->omissions;
	err = assembly_finish(assembly, stream, pattern);
	if (err) {
		part_free(part);
	} else if (part) {
		err = set_part(*pattern, stream, part, refusal);
		if (err)
			pattern_free(*pattern);
	}
	if (err == -ENOMEM)
		iot_refuse(reject, IOT_REJECT_memory, 0);
	stream_free(stream);
	assembly_close(assembly);
	return err;
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
	return make(trace, NULL, pattern, omissions, NULL, reject);
}

/**
 * pattern_make_part() - compute the pattern of the trace of a node, as a part of that of a job
 * @trace: its path
 * @pattern: out: to be released with pattern_free()
 * @omissions: out: omissions of the trace
 * @refusal: filled in with -EOPNOTSUPP: the trace is none of a node
 * @reject: filled in with any other error
 *
 * Return: 0 or a negative errno.
 */
int pattern_make_part(const char *trace, struct pattern **pattern, struct iot_omissions *omissions, struct pattern_refusal *refusal,
		      struct iot_reject *reject)
{
	struct part *part;
	int err;

	*reject = (struct iot_reject){};
	*refusal = (struct pattern_refusal){};
	err = part_of_trace(trace, &part, refusal, reject);
	return err ? err : make(trace, part, pattern, omissions, refusal, reject);
}

/**
 * pattern_summarize() - the main properties of a pattern
 */
void pattern_summarize(const struct pattern *pattern, struct pattern_summary *summary)
{
	u64 i, job = 0, fact, ranks = 0;

	*summary = (struct pattern_summary){ .operations = pattern->operations, .tasks = pattern->task_count,
					     .groups = pattern->group_count, .shapes = pattern->shapes.count,
					     .has_times = pattern->has_times, .is_made = pattern->is_made };
	memcpy(summary->capture, pattern->capture, sizeof(summary->capture));
	memcpy(summary->digest, pattern->digest, sizeof(summary->digest));
	for (i = 0; i < pattern->task_count; i++) {
		if (series_at(pattern->facts[TASK_FACT_what], i) != TASK_RANK)
			continue;
		summary->ranks++;
		fact = series_at(pattern->facts[TASK_FACT_job], i);
		if (fact != job) /* tasks are in the order of jobs */
			ranks += series_at(pattern->facts[TASK_FACT_size], i);
		job = fact;
	}
	summary->missing_ranks = ranks > summary->ranks ? ranks - summary->ranks : 0;
	summary->is_part = pattern->part;
	summary->nodes = pattern->part ? pattern->part->node_count : 0;
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
		free(group->sums);
		series_free(group->positions);
	}
	free(pattern->groups);
	for (i = 0; i < TASK_FACT_COUNT; i++)
		series_free(pattern->facts[i]);
	nodes_free(&pattern->nodes);
	shapes_free(&pattern->shapes);
	part_free(pattern->part);
	free(pattern);
}
