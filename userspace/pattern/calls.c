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

static int take_record(void *context, struct iot_names *names, const struct iot_record *r)
{
	struct caller **callers = context, *caller;
	struct call *call;

	(void)names;
	if (!call_is_made_of(r))
		return 0;
	caller = caller_get(callers, iot_record_task(r));
	call = caller ? call_add(caller) : NULL;
	if (!call)
		return -ENOMEM;
	if (r->kind == IOT_KIND_mpi_comm)
		call_take_comm(&caller->rank, &r->mpi_comm);
	return call_make(call, r);
}

/* -- nesting and roles -------------------------------------------------------------------------------- */

static int set_roles(struct caller *caller)
{
	struct call_walk walk = {};
	const struct call *parent;
	u32 i;
	int err = 0;

	for (i = 0; i < caller->count && !err; i++) {
		struct call *call = &caller->calls[i];

		parent = call->parent && call->parent < call->op ? call_find(caller, call->parent) : NULL;
		err = call_walk_next(&walk, call, parent ? parent->depth + 1 : 0);
	}
	call_walk_end(&walk);
	return err;
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
		qsort(caller->calls, caller->count, sizeof(*caller->calls), calls_compare);
		err = set_roles(caller);
		if (err)
			iot_refuse(reject, IOT_REJECT_memory, 0);
	}
	if (err) {
		calls_free(*callers);
		*callers = NULL;
	}
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
			call_free(&caller->calls[i]);
		free(caller->calls);
		free(caller);
	}
}
