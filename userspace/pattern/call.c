// SPDX-License-Identifier: GPL-2.0-only
/*
 * call.c - operations and MPI calls of a task: from records, and their nesting and roles.
 */
#include "call.h"

/* -- from records -------------------------------------------------------------------------------------------- */

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

/**
 * call_free() - free what belongs to a call
 */
void call_free(struct call *call)
{
	struct event *event = call->event;

	call->event = NULL;
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
	call_free(&(struct call){ .event = event });
	return NULL;
}

/**
 * call_is_made_of() - is a record an operation or MPI call of a task, or a fact that a rank got?
 */
bool call_is_made_of(const struct iot_record *r)
{
	const struct iot_kind_info *info = iot_kind_info(r->kind);

	return (info->group == IOT_GROUP_op || info->group == IOT_GROUP_mpi) && r->kind != IOT_KIND_complete;
}

/**
 * call_make() - a call, without nesting and roles
 * @call: out: to be freed by call_free()
 * @r: a record that it call_is_made_of()
 *
 * Return: 0 or -ENOMEM.
 */
int call_make(struct call *call, const struct iot_record *r)
{
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
	if (iot_kind_info(r->kind)->group != IOT_GROUP_mpi)
		return 0;
	call->event = event_of_record(r);
	return call->event ? 0 : -ENOMEM;
}

/**
 * call_take_comm() - what a task learns of a communicator; the first one that a rank learns of is that of all
 * @rank: of the task
 * @r: the record
 */
void call_take_comm(struct task_rank *rank, const struct iot_rec_mpi_comm *r)
{
	if (rank->job)
		return;
	rank->job = r->world ? r->world : r->comm;
	rank->rank = r->world_rank;
	rank->ranks = r->size;
}

/**
 * call_event() - a canonical operation as an event, without nesting and roles
 * @op: the operation
 * @event: out: valid as long as @op
 */
void call_event(const struct canon_op *op, struct event *event)
{
	*event = (struct event){
		.kind = op->kind,
		.flags = (u8)((op->is_implied ? EVENT_IMPLIED : 0) | (op->is_nameless ? EVENT_NAMELESS : 0) |
			      (op->has_value ? EVENT_VALUE : 0)),
		.field_count = event_count_fields(op->kind),
		.roles = { [EVENT_GENERATION] = op->generation },
		.path = op->path,
		.path2 = op->path2,
	};
	memcpy(event->fields, op->fields, (event->field_count < op->field_count ? event->field_count : op->field_count) * sizeof(u64));
	if (op->has_value) {
		event->value = (const u8 *)op->path2 + strlen(op->path2) + 1;
		event->value_bytes = op->value_bytes;
	}
}

/* -- nesting and roles --------------------------------------------------------------------------------------- */

/**
 * calls_compare() - the order of the calls of a task, for qsort()
 */
int calls_compare(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->op != y->op)
		return x->op < y->op ? -1 : 1;
	if (x->is_fact != y->is_fact)
		return x->is_fact ? 1 : -1;
	return x->nth < y->nth ? -1 : x->nth > y->nth;
}

/* The kernel records which operation implies another one; a call on an MPI file has the number of its last operation. */
static u32 depth_of(const struct call *call, u32 nested_depth, struct call_spans *spans)
{
	while (spans->count && spans->last_op[spans->count - 1] < call->op)
		spans->count--;
	if (nested_depth)
		return nested_depth;
	return spans->count ? spans->depth[spans->count - 1] + 1 : 0;
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

static void set_depth(struct call_walk *walk, struct call *call, u32 nested_depth)
{
	struct call_spans *spans = &walk->spans;

	call->depth = depth_of(call, nested_depth, spans);
	if (call->last_op <= call->op || spans->count == CALL_SPANS_MAX)
		return;
	spans->last_op[spans->count] = call->last_op;
	spans->depth[spans->count++] = call->depth;
}

static bool ends_role(struct call_walk *walk, const struct call *call, u32 role)
{
	return (role == EVENT_HANDLE && call->is_release) || (role == EVENT_REQUEST && call->is_done) ||
	       (role == EVENT_MAP && ends_mapping(call, &walk->left));
}

static int set_roles(struct call_walk *walk, struct call *call)
{
	bool is_failed = false;
	u32 role;

	for (role = 0; role < EVENT_ROLES; role++) {
		struct numbers *table = &walk->used[role == EVENT_TO_HANDLE ? EVENT_HANDLE : role];

		if (!call->ids[role])
			continue;
		call->ids[role] = number_of(table, call->ids[role]);
		if (call->ids[role] && ends_role(walk, call, role)) {
			table->values[call->ids[role] - 1] = 0;
			if (role == EVENT_MAP)
				walk->left.values[call->ids[role] - 1] = 0;
		}
		is_failed |= table->is_failed;
	}
	return is_failed || walk->left.is_failed ? -ENOMEM : 0;
}

/**
 * call_walk_next() - nesting and roles of the next call of a task
 * @walk: with all calls before it, in the order of calls_compare()
 * @call: the call; its ids become numbers by role
 * @nested_depth: depth of the operation that implies it, plus 1; 0: none does
 *
 * Return: 0 or -ENOMEM.
 */
int call_walk_next(struct call_walk *walk, struct call *call, u32 nested_depth)
{
	if (!call->is_fact)
		set_depth(walk, call, nested_depth);
	return set_roles(walk, call);
}

/**
 * call_walk_end() - free what belongs to a walk
 */
void call_walk_end(struct call_walk *walk)
{
	u32 role;

	for (role = 0; role < EVENT_ROLES; role++)
		numbers_free(&walk->used[role]);
	numbers_free(&walk->left);
}
