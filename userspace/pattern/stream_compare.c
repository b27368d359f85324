// SPDX-License-Identifier: GPL-2.0-only
/*
 * stream_compare.c - is the canonical stream of a trace that of a pattern? Memory does not depend on the number of operations.
 *
 * The trace is read once. Each record is compared with the next operation of its task in the pattern. Records that come before
 * others with lower numbers wait for these: a call on an MPI file comes after the operations that are nested in it. So
 * memory depends on the number of tasks and names, and on the number of operations that are nested in a call.
 */
#include "stream_compare.h"

#include "call.h"
#include "task_places.h"
#include "task_walk.h"

#define NESTING_MAX 32

/* A record that waits for those with lower numbers. */
struct entry {
	struct call call;
	struct event event;
	bool has_event;
	bool is_open; /* its operation may still change */
};

/**
 * struct compared - a task
 * @events: its operations in the pattern; NULL: it has had no record
 * @walk: of the calls before the next one
 * @nesting: the last operation of each depth
 * @next_op: number of the next one
 * @calls: records so far
 * @entries: that wait, from @first to @end, in the order of calls_compare()
 */
struct compared {
	struct events *events;
	struct call_walk walk;
	struct task_rank rank;
	u32 nesting[NESTING_MAX];
	u32 next_op;
	u32 calls;
	struct entry *entries;
	size_t first;
	size_t end;
	size_t room;
};

/* @positions: of tasks, by id; @tasks: by position; @places: where the pattern has them. */
struct comparison {
	const struct pattern *pattern;
	const u32 *positions;
	u32 count;
	u64 *places;
	struct compared *tasks;
	struct canon *canon;
};

/* The trace and the pattern differ; as canon_walk() has it. */
#define DIFFERENT (-EOPNOTSUPP)

/* -- events ------------------------------------------------------------------------------------------------- */

/* All that digest_event() takes. */
static bool is_equal(const struct event *a, const struct event *b)
{
	return a->kind == b->kind && a->flags == b->flags && a->depth == b->depth && a->field_count == b->field_count &&
	       a->list_count == b->list_count && a->value_bytes == b->value_bytes &&
	       !memcmp(a->fields, b->fields, a->field_count * sizeof(*a->fields)) && !memcmp(a->roles, b->roles, sizeof(a->roles)) &&
	       (!a->list_count || !memcmp(a->list, b->list, a->list_count * sizeof(*a->list))) && !strcmp(a->path, b->path) &&
	       !strcmp(a->path2, b->path2) && (!a->value_bytes || !memcmp(a->value, b->value, a->value_bytes));
}

static int open_task(struct comparison *c, u32 position)
{
	const u64 *place = &c->places[2 * position];

	return events_open(c->pattern, &c->pattern->groups[place[0]], place[1], &c->tasks[position].events);
}

static int compare_event(struct events *events, const struct event *event)
{
	struct event expected;
	int got = events_next(events, &expected, NULL);

	if (got < 0)
		return got;
	return got && is_equal(&expected, event) ? 0 : DIFFERENT;
}

/* -- records in the order of their numbers ------------------------------------------------------------------ */

static int make_room(struct compared *task)
{
	struct entry *entries;
	size_t room;

	if (task->end < task->room)
		return 0;
	if (task->first) {
		memmove(task->entries, task->entries + task->first, (task->end - task->first) * sizeof(*entries));
		task->end -= task->first;
		task->first = 0;
		return 0;
	}
	room = task->room ? 2 * task->room : 4;
	entries = reallocarray(task->entries, room, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	task->entries = entries;
	task->room = room;
	return 0;
}

static int add_entry(struct compared *task, const struct iot_record *r, struct entry **added)
{
	struct call call = { .nth = task->calls++ };
	size_t at;
	int err = call_make(&call, r);

	if (!err)
		err = make_room(task);
	if (err) {
		call_free(&call);
		return err;
	}
	for (at = task->end; at > task->first && calls_compare(&task->entries[at - 1].call, &call) > 0; at--)
		;
	memmove(task->entries + at + 1, task->entries + at, (task->end - at) * sizeof(*task->entries));
	task->end++;
	*added = &task->entries[at];
	(*added)->call = call;
	(*added)->has_event = call.event;
	(*added)->is_open = false;
	if (call.event)
		(*added)->event = *call.event;
	return 0;
}

/* Return: depth of the operation that implies a call, plus 1; 0: none. */
static u32 find_nested_depth(const struct compared *task, const struct call *call)
{
	u32 depth;

	for (depth = 0; depth < NESTING_MAX && call->parent; depth++)
		if (task->nesting[depth] == call->parent && call->parent < call->op)
			return depth + 1;
	return 0;
}

static void set_numbers(struct event *event, const struct call *call)
{
	u32 role;

	event->depth = call->depth;
	for (role = EVENT_HANDLE; role < EVENT_ROLES; role++)
		event->roles[role] = call->ids[role];
}

static int compare_entry(struct compared *task, struct entry *entry)
{
	struct call *call = &entry->call;
	int err = call_walk_next(&task->walk, call, find_nested_depth(task, call));

	if (err)
		return err;
	if (!call->is_fact && call->depth < NESTING_MAX)
		task->nesting[call->depth] = call->op;
	if (!entry->has_event)
		return 0;
	set_numbers(&entry->event, call);
	return compare_event(task->events, &entry->event);
}

/* Facts come after the operation of their number. */
static int compare_entries(struct compared *task)
{
	struct entry *entry;
	u64 next;
	int err = 0;

	while (task->first < task->end && !err) {
		entry = &task->entries[task->first];
		next = (u64)task->next_op + !entry->call.is_fact;
		if (entry->is_open || entry->call.op > next)
			break;
		if (entry->call.op < next)
			return DIFFERENT;
		err = compare_entry(task, entry);
		task->next_op = entry->call.op;
		call_free(&entry->call);
		task->first++;
	}
	if (task->first == task->end)
		task->first = task->end = 0;
	return err;
}

/* -- canonical operations ------------------------------------------------------------------------------------- */

/* The operation of a record that waits, or of the last one. */
static int take_op(struct compared *task, const struct canon_op *op, bool is_open)
{
	struct entry *entry;

	for (entry = task->entries + task->end; entry-- > task->entries + task->first;)
		if (!entry->call.is_fact && entry->call.op == op->order)
			break;
	if (entry < task->entries + task->first || (entry->has_event && !entry->is_open))
		return DIFFERENT;
	call_event(op, &entry->event);
	entry->has_event = true;
	entry->is_open = is_open;
	return 0;
}

static int take_ops(struct compared *task, const struct canon_task *from)
{
	u32 i;
	int err = 0;

	for (i = 0; i < from->count && !err; i++)
		err = take_op(task, &from->ops[i], i == from->count - 1 && canon_op_is_open(&from->ops[i]));
	return err;
}

static int find_task(struct comparison *c, u32 id, struct compared **task)
{
	u32 position;

	if (!id || id > c->count)
		return DIFFERENT;
	position = c->positions[id];
	if (position >= c->pattern->task_count)
		return DIFFERENT;
	*task = &c->tasks[position];
	return (*task)->events ? 0 : open_task(c, position);
}

static int take_record(void *context, const struct iot_record *r, const struct canon_task *from)
{
	struct comparison *c = context;
	struct compared *task;
	struct entry *entry;
	int err;

	if (!call_is_made_of(r))
		return 0;
	err = find_task(c, iot_record_task(r), &task);
	if (!err && r->kind == IOT_KIND_mpi_comm)
		call_take_comm(&task->rank, &r->mpi_comm);
	if (!err)
		err = add_entry(task, r, &entry);
	if (!err && from)
		err = take_ops(task, from);
	return err ? err : compare_entries(task);
}

/* -- the end -------------------------------------------------------------------------------------------------- */

static int close_canon_task(struct comparison *c, const struct canon_task *from)
{
	struct compared *task;
	u32 i;
	int err = find_task(c, from->id, &task);

	for (i = 0; i < from->count && !err; i++)
		err = take_op(task, &from->ops[i], false);
	return err ? err : compare_entries(task);
}

/* No operation is left, neither of the trace nor of the pattern. */
static int check_end(struct comparison *c, u32 position)
{
	struct compared *task = &c->tasks[position];
	struct event event;
	int got = task->events ? 0 : open_task(c, position);

	if (!got)
		got = events_next(task->events, &event, NULL);
	if (got < 0)
		return got;
	return got || task->first < task->end ? DIFFERENT : 0;
}

static int compare_facts(const struct comparison *c, const struct task_places *places, u32 position)
{
	u64 facts[TASK_FACT_COUNT];
	u32 fact;

	if (c->positions[c->canon->tasks[places->tasks[position].index].id] != position)
		return DIFFERENT;
	task_places_facts(places, position, facts);
	for (fact = 0; fact < TASK_FACT_COUNT; fact++)
		if (facts[fact] != series_at(c->pattern->facts[fact], position))
			return DIFFERENT;
	return 0;
}

/* The tasks of the trace are in the order of the pattern. */
static int compare_tasks(struct comparison *c)
{
	struct task_rank *ranks = calloc(c->canon->task_count + 1, sizeof(*ranks));
	struct task_places places = {};
	u32 i;
	int err = 0;

	if (!ranks)
		return -ENOMEM;
	for (i = 0; i < c->canon->task_count; i++)
		ranks[i] = c->tasks[c->positions[c->canon->tasks[i].id]].rank;
	err = task_places_find(&places, c->canon, ranks);
	for (i = 0; i < places.count && !err; i++)
		err = compare_facts(c, &places, i);
	task_places_free(&places);
	free(ranks);
	return err;
}

static int compare_found_event(void *context, struct event *event)
{
	return compare_event(context, event);
}

static int compare_found(struct comparison *c, u32 position)
{
	int err = 0;

	if (series_at(c->pattern->facts[TASK_FACT_what], position) != TASK_FOUND)
		return DIFFERENT;
	if (!c->tasks[position].events)
		err = open_task(c, position);
	return err ? err : found_walk(c->canon, compare_found_event, c->tasks[position].events);
}

static int compare_rest(struct comparison *c)
{
	bool has_found = canon_next_found(c->canon, NULL);
	u32 i;
	int err = c->canon->task_count + has_found == c->pattern->task_count ? 0 : DIFFERENT;

	for (i = 0; i < c->canon->task_count && !err; i++)
		err = close_canon_task(c, &c->canon->tasks[i]);
	if (!err && has_found)
		err = compare_found(c, c->canon->task_count);
	for (i = 0; i < c->pattern->task_count && !err; i++)
		err = check_end(c, i);
	return err ? err : compare_tasks(c);
}

static void free_tasks(struct comparison *c)
{
	struct compared *task;

	for (task = c->tasks; task && task < c->tasks + c->pattern->task_count; task++) {
		events_close(task->events);
		call_walk_end(&task->walk);
		for (; task->first < task->end; task->first++)
			call_free(&task->entries[task->first].call);
		free(task->entries);
	}
	free(c->tasks);
}

/**
 * stream_compare() - compare the canonical stream of a trace with that of a pattern
 * @path: of the trace
 * @pattern: the pattern; the comparison is with its operations, not with its hash
 * @positions: of the tasks of the trace in the pattern, by id, as the caller expects them: others make the streams different
 * @count: the highest id
 * @is_same: out: they are the same
 * @reject: filled in if the trace cannot be read
 *
 * Return: 0, -EBADMSG if the pattern is not sound, or another negative errno.
 */
int stream_compare(const char *path, const struct pattern *pattern, const u32 *positions, u32 count, bool *is_same,
		   struct iot_reject *reject)
{
	struct comparison c = { .pattern = pattern, .positions = positions, .count = count };
	int err = events_find_tasks(pattern, &c.places);

	c.tasks = calloc(pattern->task_count + 1, sizeof(*c.tasks));
	if (!c.tasks)
		err = -ENOMEM;
	if (!err)
		err = canon_walk(path, take_record, &c, &c.canon, reject);
	if (!err) {
		err = compare_rest(&c);
		canon_free(c.canon);
	}
	*is_same = !err;
	free_tasks(&c);
	free(c.places);
	return err == DIFFERENT ? 0 : err;
}
