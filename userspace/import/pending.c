// SPDX-License-Identifier: GPL-2.0-only
/*
 * pending.c - calls that run at the same time, and return in another order than they took effect.
 *
 * The model takes a call for done when it returns. If a call that returns earlier shows that
 * a name was already created or removed, a call that is still under way must have done it: that call is processed first.
 */
#include <stdlib.h>

#include "model.h"

/* Which argument is the name that a call makes, or removes; -1: none. */
static int name_arg(const struct call_kind *kind, bool is_made)
{
	bool is_at = kind->dir >= 0;

	if (kind->leave == call_rename)
		return is_made ? (is_at ? 3 : 1) : (int)kind->arg;
	if (kind->leave == call_link)
		return is_made ? (is_at ? 3 : 1) : -1;
	if (kind->leave == call_unlink)
		return is_made ? -1 : (int)kind->arg;
	if (kind->leave == call_mkdir || kind->leave == call_symlink || kind->leave == call_mknod)
		return is_made ? (int)kind->arg : -1;
	return -1;
}

/* Does the name end in this component? */
static bool is_about(const struct call *call, int arg, const struct entry *entry)
{
	u8 path[PATH_ROOM];
	size_t bytes, at;

	if (arg < 0 || (u32)arg >= call->arg_count ||
	    value_string(call->args[arg], path, sizeof(path), &bytes))
		return false;
	while (bytes && path[bytes - 1] == '/')
		bytes--;
	if (bytes < entry->bytes)
		return false;
	at = bytes - entry->bytes;
	return !memcmp(path + at, entry->component, entry->bytes) && (!at || path[at - 1] == '/');
}

static struct failure *failure_of(const struct import *im, const struct call *call)
{
	const struct failure_key key = { call->begin_ns, call->pid };
	struct failure *failure;

	HASH_FIND(hh, im->failures, &key, sizeof(key), failure);
	return failure;
}

/**
 * pending_failed() - the first pass found a call that failed
 *
 * Return: 0 or -ENOMEM.
 */
int pending_failed(struct import *im, const struct call *call)
{
	const struct call_kind *kind = call_kind(im, call->name);
	struct failure *failure;

	if (!kind || (name_arg(kind, true) < 0 && name_arg(kind, false) < 0) || failure_of(im, call))
		return 0;
	failure = import_allocate(im, sizeof(*failure));
	if (!failure)
		return -ENOMEM;
	failure->key = (struct failure_key){ call->begin_ns, call->pid };
	HASH_ADD(hh, im->failures, key, sizeof(failure->key), failure);
	return 0;
}

/**
 * pending_exit() - forget the calls that failed
 */
void pending_exit(struct import *im)
{
	struct failure *failure, *next;

	HASH_ITER (hh, im->failures, failure, next) {
		HASH_DEL(im->failures, failure);
		free(failure);
	}
}

static bool can_be(const struct import *im, const struct task *task, const struct entry *entry,
		   bool is_made)
{
	const struct call *call = task->call;

	if (task == im->task || !call || task->is_done || !call_kind(im, call->name) ||
	    (call->has_result && call->result))
		return false;
	return is_about(call, name_arg(call_kind(im, call->name), is_made), entry) &&
	       !failure_of(im, call);
}

/* Process the call as if it returned now; the current call of im continues afterwards. */
static void finish(struct import *im, struct task *task)
{
	struct task *before = im->task;
	u64 end_ns = im->end_ns, now_ns = im->begin_ns;
	struct call call = *task->call;

	if (now_ns < call.begin_ns)
		now_ns = call.begin_ns;
	if (now_ns < im->last_ns)
		now_ns = im->last_ns;
	call.has_result = true;
	call.result = 0;
	task->is_done = true;
	im->task = task;
	im->begin_ns = call.begin_ns;
	im->end_ns = now_ns;
	call_kind(im, call.name)->leave(im, &call, call_kind(im, call.name));
	im->task = before;
	im->begin_ns = now_ns; /* the call that shows it follows */
	im->end_ns = end_ns > now_ns ? end_ns : now_ns;
}

/**
 * pending_settle() - resolve a contradiction between a call and the model about a name's existence
 * @is_made: the call shows that the name exists
 *
 * That call may imply that another one was done before, and so on; beyond PENDING_DEPTH_MAX levels
 * the log contradicts itself.
 *
 * Return: whether a call under way explains it.
 */
bool pending_settle(struct import *im, struct entry *entry, bool is_made)
{
	struct task *task, *next;

	if (!im->task || im->pending_depth == PENDING_DEPTH_MAX)
		return false;
	HASH_ITER (hh, im->tasks, task, next) {
		if (!can_be(im, task, entry, is_made))
			continue;
		im->pending_depth++;
		finish(im, task);
		im->pending_depth--;
		if ((entry->state == ENTRY_PRESENT) == is_made)
			return true;
	}
	return false;
}
