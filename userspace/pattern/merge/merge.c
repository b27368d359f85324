// SPDX-License-Identifier: GPL-2.0-only
/*
 * merge.c - the patterns of the parts of a job become one.
 */
#include "merge.h"

#include <stdarg.h>

/**
 * merge_refuse() - state why parts are not merged
 *
 * Return: -EOPNOTSUPP.
 */
int merge_refuse(struct merge *m, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(m->refusal->text, sizeof(m->refusal->text), format, arguments);
	va_end(arguments);
	return -EOPNOTSUPP;
}

/* The facts of the merged tasks: positions are others. */
static u64 fact_of(const struct merge *m, const struct merge_task *task, u32 fact)
{
	const struct merge_source *source = &m->sources[task->source];
	u64 value = source->facts[fact][task->position];

	if (fact == TASK_FACT_process)
		return source->positions[value];
	return fact == TASK_FACT_parent && value ? source->positions[value - 1] + 1 : value;
}

static int make_facts(struct merge *m)
{
	struct pattern *p = m->pattern;
	u64 *values = calloc(p->task_count + 1, sizeof(*values)), i;
	u32 fact;

	for (fact = 0; values && fact < TASK_FACT_COUNT; fact++) {
		for (i = 0; i < m->task_count; i++)
			values[i] = fact_of(m, &m->tasks[i], fact);
		if (m->has_found)
			values[i] = fact == TASK_FACT_what ? TASK_FOUND : 0;
		p->facts[fact] = series_make(values, p->task_count);
		if (!p->facts[fact])
			break;
	}
	for (i = 0; values && i < m->task_count; i++)
		values[i] = m->tasks[i].node;
	if (values && m->has_found)
		values[i] = 0;
	m->part->node_of = values ? series_make(values, p->task_count) : NULL;
	free(values);
	return fact == TASK_FACT_COUNT && m->part->node_of ? 0 : -ENOMEM;
}

/* The trace of the node with rank 0 is the one that the merged trace has its id from. */
static void set_capture(struct merge *m)
{
	u32 node = m->task_count && !m->tasks[0].rank ? m->tasks[0].node : 0;

	memcpy(m->pattern->capture, m->part->nodes[node].capture, sizeof(m->pattern->capture));
}

static int make(struct merge *m)
{
	struct pattern *p = m->pattern;
	u64 operations;
	u32 i;
	int err = merge_order_tasks(m);

	if (!err)
		err = merge_learn_names(m);
	if (!err)
		err = merge_rename(m);
	if (!err)
		err = merge_found(m);
	if (err)
		return err;
	p->task_count = m->task_count + m->has_found;
	p->has_times = true;
	err = make_facts(m);
	if (!err)
		err = merge_groups(m);
	if (err)
		return err;
	set_capture(m);
	for (i = 0; i < p->group_count; i++)
		group_set_means(&p->nodes, &p->groups[i]);
	err = merge_check_files(m);
	return err ? err : pattern_expand(p, NULL, UINT64_MAX, p->digest, &operations);
}

static int open_sources(struct merge *m, const struct pattern *const *parts, const char *const *names, u32 count)
{
	u32 i;
	int err = 0;

	m->sources = calloc(count + 1ul, sizeof(*m->sources)); /* and one for names that look-ups found */
	m->pattern = calloc(1, sizeof(*m->pattern));
	if (!m->sources || !m->pattern)
		return -ENOMEM;
	for (i = 0; i < count && !err; i++) {
		m->source_count++;
		err = merge_open_source(m, i, parts[i], names[i]);
	}
	return err;
}

static void close(struct merge *m)
{
	u32 i;

	for (i = 0; m->sources && i < m->source_count + m->has_found; i++)
		merge_close_source(&m->sources[i]);
	free(m->sources);
	free(m->tasks);
	template_free(&m->widths);
	pattern_free(m->found);
	pattern_free(m->pattern);
	part_free(m->part);
}

/* The ranks that are in none of the parts: of the result, this is an omission. */
static void add_missing(struct iot_omissions *omissions, const struct pattern *pattern)
{
	struct pattern_summary summary;
	char text[64];

	pattern_summarize(pattern, &summary);
	snprintf(text, sizeof(text), "ranks without a part: %llu", (unsigned long long)summary.missing_ranks);
	if (summary.missing_ranks)
		iot_omissions_add(omissions, IOT_OMISSION_partial, 1, IOT_OMISSION_UNKNOWN, IOT_OMISSION_UNKNOWN, text);
}

/**
 * pattern_merge() - the pattern of a job from those of its parts
 * @parts: the patterns, in any order
 * @names: of them, for refusals
 * @count: their number
 * @options: how
 * @pattern: out: to be freed by pattern_free()
 * @omissions: out: of the traces, and missing ranks
 * @refusal: filled in with -EOPNOTSUPP
 *
 * Takes memory in proportion to the patterns, and to the irregular numbers of one column of all of them.
 *
 * Return: 0, -EOPNOTSUPP, or -ENOMEM.
 */
int pattern_merge(const struct pattern *const *parts, const char *const *names, u32 count, const struct pattern_merge_options *options,
		  struct pattern **pattern, struct iot_omissions *omissions, struct pattern_refusal *refusal)
{
	struct merge m = { .options = options, .refusal = refusal };
	int err = open_sources(&m, parts, names, count);

	if (!err)
		err = merge_part(&m);
	if (!err)
		err = make(&m);
	if (err == -EBADMSG || err == -EINVAL)
		err = merge_refuse(&m, "the loops of a part do not make its operations");
	if (!err) {
		*omissions = m.part->omissions;
		if (options->is_part) {
			m.pattern->part = m.part;
			m.part = NULL;
		} else {
			add_missing(omissions, m.pattern);
		}
		*pattern = m.pattern;
		m.pattern = NULL;
	}
	close(&m);
	return err;
}
