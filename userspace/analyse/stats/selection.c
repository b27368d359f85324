// SPDX-License-Identifier: GPL-2.0-only
/*
 * selection.c - the selection of records of a trace.
 */
#include "selection.h"

#include <fnmatch.h>

#include "symbols/symbols.h"

/**
 * selection_is_all() - does the selection have no condition?
 */
bool selection_is_all(const struct selection *selection)
{
	return !selection->since_ns && !selection->until_ns && !selection->task && !selection->has_rank &&
	       !selection->pattern && !selection->has_ops && !selection->filter;
}

/**
 * selection_needs_actors() - do the conditions need the ranks of tasks?
 */
bool selection_needs_actors(const struct selection *selection)
{
	return selection->has_rank;
}

/**
 * selection_open() - begin with a trace
 * @selection: the conditions
 *
 * Return: 0 or -ENOMEM.
 */
int selection_open(struct selection *selection)
{
	return selection->filter ? filter_view_open(selection->filter, &selection->view) : 0;
}

/**
 * selection_take() - collect the information for the conditions from a record
 * @selection: open
 * @record: the next one of the trace
 *
 * Return: 0 or -ENOMEM.
 */
int selection_take(struct selection *selection, const struct iot_record *record)
{
	return selection->view ? filter_view_take(selection->view, record) : 0;
}

/**
 * selection_close() - free the collected information
 * @selection: open, or not
 */
void selection_close(struct selection *selection)
{
	filter_view_close(selection->view);
	selection->view = NULL;
}

static bool is_of_rank(const struct selection *selection, const struct actors *actors, u32 task)
{
	const struct actor *actor = actors_find(actors, task);

	return actor && actor->rank == selection->rank;
}

/**
 * selection_kinds() - the records that the conditions of other records depend on
 * @selection: the conditions
 * @kinds: they are added, those for the names of objects included
 */
void selection_kinds(const struct selection *selection, u64 kinds[IOT_KIND_WORDS])
{
	static const u16 of_filter[] = { IOT_KIND_task, IOT_KIND_object, IOT_KIND_mount, IOT_KIND_clock, IOT_KIND_submit };
	u32 i;

	iot_names_kinds(kinds);
	for (i = 0; selection->filter && i < sizeof(of_filter) / sizeof(of_filter[0]); i++)
		iot_kinds_add(kinds, of_filter[i]);
}

/* All times of the chunk are between its earliest and its latest one, unless these wrap around. */
static bool may_be_in_time(const struct selection *selection, u64 origin_ns, const struct iot_summary *summary)
{
	s64 first_ns = (s64)(summary->earliest_ns - origin_ns), last_ns = (s64)(summary->latest_ns - origin_ns);

	if (summary->earliest_ns > summary->latest_ns || first_ns > last_ns)
		return true;
	return (!selection->since_ns || last_ns >= (s64)selection->since_ns) &&
	       (!selection->until_ns || first_ns < (s64)selection->until_ns);
}

static bool may_be_of_task(const struct selection *selection, const struct actors *actors, const struct iot_summary *summary)
{
	u32 i;

	if (summary->has_more_tasks)
		return true;
	for (i = 0; i < summary->task_count; i++)
		if ((!selection->task || summary->tasks[i] == selection->task) &&
		    (!selection->has_rank || is_of_rank(selection, actors, summary->tasks[i])))
			return true;
	return false;
}

static bool may_be_of_kind(const struct selection *selection, const struct iot_summary *summary)
{
	const struct iot_kind_info *info;
	u32 i;

	for (i = 0; (info = iot_kind_at(i)); i++)
		if (summary->kinds[info->kind / 64] >> info->kind % 64 & 1 &&
		    (!selection->has_ops || selection->is_op[info->kind]) &&
		    (!selection->pattern || info->group == IOT_GROUP_op))
			return true;
	return false;
}

/**
 * selection_may_match() - can a chunk have a record for which selection_match() is true?
 * @selection: the conditions
 * @actors: of the trace; without ranks only @origin_ns is used
 * @summary: of the chunk
 *
 * Return: false only if it has none.
 */
bool selection_may_match(const struct selection *selection, const struct actors *actors, const struct iot_summary *summary)
{
	return may_be_in_time(selection, actors->origin_ns, summary) && may_be_of_kind(selection, summary) &&
	       may_be_of_task(selection, actors, summary);
}

/* What a chunk is examined for. */
struct wanted {
	const struct selection *selection;
	const struct actors *actors;
};

static bool may_match(const void *context, const struct iot_summary *summary)
{
	const struct wanted *wanted = context;

	return selection_may_match(wanted->selection, wanted->actors, summary);
}

/**
 * selection_walk() - call a function for the records of a trace, without chunks that have no selected one
 * @selection: the conditions, open
 * @actors: of the trace; without ranks only @origin_ns is used
 * @path, @fn, @context, @info, @reject: as of iot_trace_walk()
 *
 * @fn still gets records that are not selected: of a chunk with a selected one; ends of requests; counters; and those that
 * omissions or the meaning of selected ones depend on.
 *
 * Return: as iot_trace_walk().
 */
int selection_walk(const struct selection *selection, const struct actors *actors, const char *path, iot_walk_fn fn, void *context,
		   struct iot_trace_info *info, struct iot_reject *reject)
{
	const struct wanted wanted = { selection, actors };
	struct iot_need need = { .may_match = may_match, .context = &wanted };

	iot_omissions_kinds(need.always);
	iot_kinds_add(need.always, IOT_KIND_complete);
	iot_kinds_add(need.always, IOT_KIND_counted);
	iot_kinds_add(need.always, IOT_KIND_bucket);
	selection_kinds(selection, need.state);
	symbols_kinds(need.state);
	return iot_trace_walk_need(path, &need, fn, context, info, reject);
}

/**
 * selection_match() - does a record meet all conditions?
 * @selection: the conditions, open
 * @actors: of the trace; without ranks only @origin_ns is used
 * @names: as of the record
 * @record: the record
 */
bool selection_match(const struct selection *selection, const struct actors *actors, struct iot_names *names,
		     const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	s64 since_ns = (s64)(iot_field_get(record, &info->fields[0]) - actors->origin_ns);

	if (selection->since_ns && since_ns < (s64)selection->since_ns)
		return false;
	if (selection->until_ns && since_ns >= (s64)selection->until_ns)
		return false;
	if (selection->has_ops && !selection->is_op[record->kind])
		return false;
	if (selection->view && !filter_view_match(selection->view, names, record))
		return false;
	if (selection->task && iot_record_task(record) != selection->task)
		return false;
	if (selection->has_rank && !is_of_rank(selection, actors, iot_record_task(record)))
		return false;
	return !selection->pattern || (info->group == IOT_GROUP_op &&
				       !fnmatch(selection->pattern, iot_names_of_record(names, record).path, 0));
}
