// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_tasks.c - calls that make tasks, and change what they share or run.
 */
#include <fcntl.h>
#include <sched.h>

#include "model.h"

static u64 clone_flags(const struct call *call)
{
	struct text value;
	s64 flags;
	u32 i;

	if (text_is(call->name, "vfork"))
		return CLONE_VM | CLONE_VFORK;
	for (i = 0; i < call->arg_count; i++)
		if (value_member(call->args[i], "flags", &value) && value_number(value, &flags))
			return (u64)flags;
	return 0;
}

void call_clone(struct import *im, const struct call *call, const struct call_kind *kind)
{
	size_t i;

	(void)kind;
	if (call->result <= 0 || call->result > 0x7fffffff)
		return;
	if (!im->slash) { /* the first pass: only who makes whom is wanted */
		if (birth_add(im, call->pid, (u32)call->result, clone_flags(call)))
			im->err = -ENOMEM;
		return;
	}
	for (i = 0; i < im->birth_count; i++) {
		struct birth *birth = &im->births[i];

		if (birth->is_used || birth->child != call->result || birth->parent != call->pid)
			continue;
		birth->is_used = true;
		task_fork(im, im->task, birth->child, birth->flags, im->begin_ns);
		return;
	}
}

void call_unshare(struct import *im, const struct call *call, const struct call_kind *kind)
{
	(void)kind;
	if (!call->result)
		task_unshare(im, im->task, (u64)call_number(call, 0));
}

void call_umask(struct import *im, const struct call *call, const struct call_kind *kind)
{
	(void)kind;
	im->task->fs->umask = (u32)call_number(call, 0) & 0777;
}

/* -- exec ---------------------------------------------------------------------------------------- */

/* A program that could not be executed: opening it is what failed. */
static void exec_failed(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_open };
	struct place place;

	place_of(im, call, kind->dir, kind->arg, PLACE_NEW, IOT_INTENT_open, &place);
	if (call->result != -ENOENT || place.err || !place.entry || !place.is_end ||
	    place.entry->state == ENTRY_PRESENT || !entry_is_inside(im, place.entry)) {
		place_failed(im, call, &place, IOT_INTENT_open);
		return;
	}
	place.entry->state = ENTRY_ABSENT;
	record.open.name = emit_name(im, place.entry);
	record.open.flags = IOT_OPEN_read | IOT_OPEN_exec;
	record.open.result = -ENOENT;
	emit_op(im, &record);
}

void call_exec(struct import *im, const struct call *call, const struct call_kind *kind)
{
	u8 given[PATH_ROOM], path[2 * PATH_ROOM + 1]; /* a slash between */
	struct inode *base = im->task->fs->cwd;
	size_t bytes, at = 0;

	if (call->result) {
		exec_failed(im, call, kind);
		return;
	}
	if (kind->arg >= call->arg_count ||
	    value_string(call->args[kind->arg], given, sizeof(given), &bytes) < 0)
		bytes = 0;
	if (kind->variant == VARIANT_AT && call->arg_count) {
		struct text cwd;
		s64 fd;
		struct file *file = file_of(im, call, 0);

		if (file)
			base = file->inode;
		else if (!value_fd(call->args[0], &fd, &cwd) || fd != FD_CWD)
			base = NULL;
	}
	if ((!bytes || *given != '/') && base && (base == im->slash || base->entry)) {
		at = base->entry ? entry_path(base->entry, path, PATH_ROOM) : 0;
		if (bytes)
			path[at++] = '/';
	}
	memcpy(path + at, given, bytes);
	bytes += at;
	task_exec(im, im->task, path, bytes < IOT_TAIL_MAX_BYTES ? bytes : IOT_TAIL_MAX_BYTES);
}
