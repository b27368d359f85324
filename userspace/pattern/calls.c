// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls.c - read the parts of a trace that its canonical operations lack.
 */
#include "calls.h"

/* -- records ------------------------------------------------------------------------------------------ */

static struct caller *caller_get(struct caller **callers, u32 task)
{
	struct caller *caller = calls_of(*callers, task);

	if (caller)
		return caller;
	caller = calloc(1, sizeof(*caller));
	if (!caller)
		return NULL;
	caller->task = task;
	HASH_ADD(hh, *callers, task, sizeof(caller->task), caller);
	return caller;
}

static struct call *call_add(struct caller *caller)
{
	if (caller->count == caller->room) {
		u32 room = caller->room ? 2 * caller->room : 64;
		struct call *calls = reallocarray(caller->calls, room, sizeof(*calls));

		if (!calls)
			return NULL;
		caller->calls = calls;
		caller->room = room;
	}
	caller->calls[caller->count] = (struct call){ .nth = caller->count };
	return &caller->calls[caller->count++];
}

/* Ids that a role stands for. */
static void take_ids(struct call *call, const struct iot_record *r)
{
	const struct iot_kind_info *info = iot_kind_info(r->kind);
	u32 i;

	for (i = 0; i < info->field_count; i++) {
		const struct iot_field *field = &info->fields[i];
		u64 value = iot_field_get(r, field);

		if (field->class == IOT_CLASS_handle && !call->ids[EVENT_HANDLE])
			call->ids[EVENT_HANDLE] = value;
		else if (field->class == IOT_CLASS_handle)
			call->ids[EVENT_TO_HANDLE] = value;
		else if (field->class == IOT_CLASS_map)
			call->ids[EVENT_MAP] = value;
		else if (event_field_is(field, "comm") || event_field_is(field, "file"))
			call->ids[EVENT_COMM] = value;
		else if (field->class == IOT_CLASS_request && event_field_is(field, "request"))
			call->ids[EVENT_REQUEST] = value;
	}
	if (r->kind == IOT_KIND_submit)
		call->ids[EVENT_REQUEST] = 0; /* canonical operations are those of calls that are not asynchronous */
}

/* Numbers in the list of ranks at the end of a record. */
static void take_list(struct event *event, const struct iot_record *r)
{
	bool is_runs = r->mpi_coll.sources == IOT_SOURCES_runs;
	u32 width = is_runs ? 4 : 1, count = r->tail_bytes / width, i;
	u64 *list;

	if (count > EVENT_LIST_MAX)
		count = EVENT_LIST_MAX; /* no record has a longer one */
	list = calloc(count + 1, sizeof(*list));
	for (i = 0; list && i < count; i++)
		list[i] = is_runs ? iot_get_u32(r->tail + i * width) : r->tail[i];
	event->list = list;
	event->list_count = list ? count : 0;
}

static void event_free(struct event *event)
{
	if (!event)
		return;
	free((void *)event->path2);
	free((void *)event->list);
	free(event);
}

static struct event *event_of_record(const struct iot_record *r)
{
	bool has_list = r->kind == IOT_KIND_mpi_coll;
	struct event *event = calloc(1, sizeof(*event));
	const struct iot_field *fields[EVENT_FIELDS_MAX];
	u32 i;

	if (!event)
		return NULL;
	event->kind = r->kind;
	event->path = "";
	event->path2 = strndup(has_list || !r->tail_bytes ? "" : (const char *)r->tail, has_list ? 0 : r->tail_bytes);
	event->field_count = event_fields(r->kind, fields);
	for (i = 0; i < event->field_count; i++)
		event->fields[i] = iot_field_get(r, fields[i]);
	if (has_list)
		take_list(event, r);
	if (event->path2 && (event->list || !has_list))
		return event;
	event_free(event);
	return NULL;
}

/* The first communicator that a rank learns of is that of all. */
static void take_comm(struct caller *caller, const struct iot_rec_mpi_comm *r)
{
	if (caller->job)
		return;
	caller->job = r->world ? r->world : r->comm;
	caller->rank = r->world_rank;
	caller->ranks = r->size;
}

static int take_record(void *context, struct iot_names *names, const struct iot_record *r)
{
	const struct iot_kind_info *info = iot_kind_info(r->kind);
	struct caller **callers = context, *caller;
	struct call *call;

	(void)names;
	if ((info->group != IOT_GROUP_op && info->group != IOT_GROUP_mpi) || r->kind == IOT_KIND_complete)
		return 0;
	caller = caller_get(callers, iot_record_task(r));
	call = caller ? call_add(caller) : NULL;
	if (!call)
		return -ENOMEM;
	call->is_fact = iot_kind_is_mpi_known(r->kind);
	call->op = call->is_fact ? r->mpi_known.op : r->op.op;
	call->enter_ns = r->op.enter_ns; /* where facts have their time */
	if (!call->is_fact) {
		call->duration_ns = r->op.duration_ns;
		call->parent = r->op.parent;
	}
	if (r->kind == IOT_KIND_map && !r->op.result)
		call->mapped_bytes = (s64)r->map.length_bytes;
	else if (r->kind == IOT_KIND_unmap)
		call->mapped_bytes = -(s64)r->unmap.length_bytes;
	call->is_release = r->kind == IOT_KIND_release;
	if (r->kind == IOT_KIND_mpi_file)
		call->last_op = r->mpi_file.last_op;
	call->is_done = r->kind == IOT_KIND_mpi_done && r->mpi_done.call != IOT_CALL_status;
	take_ids(call, r);
	if (r->kind == IOT_KIND_mpi_comm)
		take_comm(caller, &r->mpi_comm);
	if (info->group != IOT_GROUP_mpi)
		return 0;
	call->event = event_of_record(r);
	return call->event ? 0 : -ENOMEM;
}

/* -- order, nesting and roles ------------------------------------------------------------------------- */

static int compare_calls(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->op != y->op)
		return x->op < y->op ? -1 : 1;
	if (x->is_fact != y->is_fact)
		return x->is_fact ? 1 : -1;
	return x->nth < y->nth ? -1 : x->nth > y->nth;
}

#define SPANS_MAX 16

/* Calls on MPI files that have not ended, the innermost last. */
struct spans {
	u32 last_op[SPANS_MAX];
	u32 depth[SPANS_MAX];
	u32 count;
};

/* The kernel records which operation implies another one; a call on an MPI file has the number of its last operation. */
static u32 depth_of(struct caller *caller, const struct call *call, struct spans *spans)
{
	const struct call *parent = call->parent && call->parent < call->op ? call_find(caller, call->parent) : NULL;

	while (spans->count && spans->last_op[spans->count - 1] < call->op)
		spans->count--;
	if (parent)
		return parent->depth + 1;
	return spans->count ? spans->depth[spans->count - 1] + 1 : 0;
}

static void set_depths(struct caller *caller)
{
	struct spans spans = {};
	u32 i;

	for (i = 0; i < caller->count; i++) {
		struct call *call = &caller->calls[i];

		if (call->is_fact)
			continue;
		call->depth = depth_of(caller, call, &spans);
		if (call->last_op <= call->op || spans.count == SPANS_MAX)
			continue;
		spans.last_op[spans.count] = call->last_op;
		spans.depth[spans.count++] = call->depth;
	}
}

/* The number of an id: its place; the lowest free one if it is new. 0 if out of memory. */
static u64 number_of(struct numbers *used, u64 id)
{
	size_t i, empty = used->count;

	for (i = used->count; i-- > 0;) {
		if (used->values[i] == id)
			return i + 1;
		if (!used->values[i])
			empty = i;
	}
	if (empty < used->count)
		used->values[empty] = id;
	else
		numbers_add(used, id);
	return used->is_failed ? 0 : empty + 1;
}

/* Is a mapping removed completely? @left is the length of each by its number. */
static bool ends_mapping(const struct call *call, struct numbers *left)
{
	u64 number = call->ids[EVENT_MAP];

	while (left->count < number && !left->is_failed)
		numbers_add(left, 0);
	if (left->is_failed)
		return false;
	left->values[number - 1] += (u64)call->mapped_bytes;
	return call->mapped_bytes < 0 && (s64)left->values[number - 1] <= 0;
}

static int set_roles(struct caller *caller)
{
	struct numbers used[EVENT_ROLES] = {};
	struct numbers left = {};
	bool is_failed = false;
	u32 i, role;

	for (i = 0; i < caller->count; i++) {
		struct call *call = &caller->calls[i];

		for (role = 0; role < EVENT_ROLES; role++) {
			struct numbers *table = &used[role == EVENT_TO_HANDLE ? EVENT_HANDLE : role];

			if (!call->ids[role])
				continue;
			call->ids[role] = number_of(table, call->ids[role]);
			if (call->ids[role] && ((role == EVENT_HANDLE && call->is_release) || (role == EVENT_REQUEST && call->is_done) ||
						(role == EVENT_MAP && ends_mapping(call, &left)))) {
				table->values[call->ids[role] - 1] = 0;
				if (role == EVENT_MAP)
					left.values[call->ids[role] - 1] = 0;
			}
		}
	}
	for (role = 0; role < EVENT_ROLES; role++) {
		is_failed |= used[role].is_failed;
		numbers_free(&used[role]);
	}
	is_failed |= left.is_failed;
	numbers_free(&left);
	return is_failed ? -ENOMEM : 0;
}

/**
 * calls_read() - read the calls of all tasks of a trace
 * @path: of the trace
 * @callers: out: a table; to be freed by calls_free()
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int calls_read(const char *path, struct caller **callers, struct iot_reject *reject)
{
	struct iot_trace_info info;
	struct caller *caller;
	int err;

	*callers = NULL;
	err = iot_trace_walk(path, take_record, callers, &info, reject);
	for (caller = *callers; caller && !err; caller = caller->hh.next) {
		qsort(caller->calls, caller->count, sizeof(*caller->calls), compare_calls);
		set_depths(caller);
		err = set_roles(caller);
		if (err)
			iot_refuse(reject, IOT_REJECT_memory, 0);
	}
	if (err)
		calls_free(*callers);
	return err;
}

/**
 * calls_of() - the calls of a task
 *
 * Return: NULL if there are none.
 */
struct caller *calls_of(struct caller *callers, u32 task)
{
	struct caller *caller;

	HASH_FIND(hh, callers, &task, sizeof(task), caller);
	return caller;
}

/**
 * call_find() - a call by its number
 * @caller: the task, or NULL
 * @op: number of the operation
 *
 * Return: NULL if there is none.
 */
const struct call *call_find(const struct caller *caller, u32 op)
{
	u32 low = 0, high = caller ? caller->count : 0, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (caller->calls[middle].op < op)
			low = middle + 1;
		else
			high = middle;
	}
	return caller && low < caller->count && caller->calls[low].op == op && !caller->calls[low].is_fact ?
		       &caller->calls[low] : NULL;
}

/**
 * calls_free() - free the result of calls_read(); NULL is allowed
 */
void calls_free(struct caller *callers)
{
	struct caller *caller, *next;
	u32 i;

	HASH_ITER (hh, callers, caller, next) {
		HASH_DEL(callers, caller);
		for (i = 0; i < caller->count; i++)
			event_free(caller->calls[i].event);
		free(caller->calls);
		free(caller);
	}
}
