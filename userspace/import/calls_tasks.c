// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_tasks.c - calls that create and end tasks, and change their shared state or their program.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>

#include "model.h"

/* -- making ---------------------------------------------------------------------------------------- */

/* Where the flags of clone(2) and clone3(2) are; empty if they are not there. */
static struct text flags_of(const struct call *call)
{
	struct text value = {};
	u32 i;

	for (i = 0; i < call->arg_count; i++) {
		if (text_is(call->names[i], "flags"))
			return call->args[i];
		if (value_member(call->args[i], "flags", &value))
			return value;
	}
	if (text_is(call->name, "clone") && call->arg_count > 1 && !call->names[0].bytes) /* -e raw, on x86-64 and arm64 */
		value = call->args[0];
	return value;
}

/*
 * The resources that a new task shares. If the flags are unknown, nothing is assumed shared, and
 * the gap is counted.
 */
static u64 clone_flags(struct import *im, const struct call *call)
{
	struct text text;
	s64 flags;

	if (text_is(call->name, "vfork"))
		return CLONE_VM | CLONE_VFORK;
	if (text_is(call->name, "fork"))
		return 0;
	text = flags_of(call);
	if (!text.bytes || value_flags(text, &flags) == VALUE_UNKNOWN) {
		gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
		return 0;
	}
	return (u64)flags;
}

void call_clone(struct import *im, const struct call *call, const struct call_kind *kind)
{
	u64 flags;
	size_t i;

	(void)kind;
	if (call->result <= 0 || call->result > 0x7fffffff)
		return;
	if (!im->slash) { /* the first pass: needs only the parents of tasks */
		if (birth_add(im, call, clone_flags(im, call)))
			im->err = -ENOMEM;
		return;
	}
	flags = clone_flags(im, call);
	for (i = 0; i < im->birth_count; i++) {
		struct birth *birth = &im->births[i];

		if (birth->is_used || birth->result != call->result || birth->parent != call->pid)
			continue;
		task_born(im, im->task, birth, im->begin_ns);
		break;
	}
	if (flags & CLONE_VFORK)
		task_vforked(im, im->task);
}

void call_unshare(struct import *im, const struct call *call, const struct call_kind *kind)
{
	s64 flags;

	(void)kind;
	if (call->result)
		return;
	if (call_flags(call, 0, &flags) == VALUE_UNKNOWN)
		gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
	else
		task_unshare(im, im->task, (u64)flags);
}

/* -- ending ------------------------------------------------------------------------------------------ */

/* Where the log has no lines that say how threads end, as with strace -qq. */
void call_exit(struct import *im, const struct call *call, const struct call_kind *kind)
{
	u64 time_ns = im->begin_ns;
	s64 code;

	(void)kind;
	if (log_has_exits(im->log))
		return;
	call_number(call, 0, &code);
	im->task->call = NULL;
	if (text_is(call->name, "exit_group"))
		group_exit(im, im->task->tgid, ((u32)code & 0xff) << 8, time_ns);
	else
		task_exit(im, im->task, ((u32)code & 0xff) << 8, time_ns);
}

/* The number in WEXITSTATUS(s) == 0, and the like. */
static u32 status_number(struct text text, const char *word)
{
	const char *p = memmem(text.p, text.bytes, word, strlen(word)), *end = text.p + text.bytes;
	s64 value = 0;

	p = p ? memmem(p, (size_t)(end - p), "== ", 3) : NULL;
	if (p) {
		struct text number = { p + 3, 0 };

		while (number.p + number.bytes < end && is_word(number.p[number.bytes]))
			number.bytes++;
		value_number(number, &value);
	}
	return (u32)value;
}

static bool has_word(struct text text, const char *word)
{
	return memmem(text.p, text.bytes, word, strlen(word));
}

/* A child was found to have ended: it was killed, if its own lines do not say so. */
void call_wait(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct text status = kind->arg < call->arg_count ? call->args[kind->arg] : (struct text){};
	struct task *child = NULL;
	s64 pid = call->result;
	u32 code = 0;

	if (log_has_exits(im->log) || !call->has_result || call->result < 0)
		return;
	if (kind->variant == VARIANT_AT && !value_member_number(status, "si_pid", &pid))
		return;
	if (pid > 0 && pid <= 0x7fffffff)
		child = task_named(im, im->task, (u32)pid);
	if (!child || child == im->task || has_word(status, "WIFSTOPPED") ||
	    has_word(status, "WIFCONTINUED") || has_word(status, "CLD_STOPPED") ||
	    has_word(status, "CLD_CONTINUED"))
		return;
	if (has_word(status, "WIFSIGNALED"))
		code = status_number(status, "WTERMSIG");
	else
		code = status_number(status, "WEXITSTATUS") << 8;
	group_exit(im, child->tgid, code, im->end_ns);
}

/* -- state ------------------------------------------------------------------------------------------- */

void call_umask(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct fs_place *fs = im->task->fs;
	s64 mask;

	(void)kind;
	if (!fs->has_umask && !im->has_initial_umask && call->has_result && call->result >= 0) {
		im->has_initial_umask = true; /* of the command of strace, for the next pass */
		im->initial_umask = (u32)call->result & 0777;
	}
	fs->has_umask = call_number(call, 0, &mask);
	if (fs->has_umask)
		fs->umask = (u32)mask & 0777;
	else
		gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
}

/* -- exec ---------------------------------------------------------------------------------------- */

/* A program that could not be executed: its open failed. */
static void exec_failed(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_open };
	struct place place;

	place_of(im, call, kind->dir, kind->arg, PLACE_NEW, IOT_INTENT_open, &place);
	if (call->result != -ENOENT || place.err || !place.entry || !place.is_end || place.is_magic ||
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

static bool may_be_magic(const u8 *path, size_t bytes)
{
	return !bytes || (bytes > 6 && (!memcmp(path, "/proc/", 6) || !memcmp(path, "/dev/f", 6)));
}

/* /proc/self/exe and the like: the path of the target. Return: its length; 0 if there is none. */
static size_t magic_path(struct import *im, const struct call *call, const struct call_kind *kind,
			 u8 *path, size_t room)
{
	struct place place;

	place_of(im, call, kind->dir, kind->arg, PLACE_EMPTY | PLACE_MAY_LOSE, 0, &place);
	if (place.err || (!place.is_magic && !place.file) || !place.inode || !place.inode->entry)
		return 0;
	return entry_path(place.inode->entry, path, room);
}

void call_exec(struct import *im, const struct call *call, const struct call_kind *kind)
{
	u8 given[PATH_ROOM], path[2 * PATH_ROOM + 1], file[PATH_ROOM]; /* a slash between */
	struct inode *base = im->task->fs->cwd;
	size_t bytes, at = 0, file_bytes = 0;

	if (call->result) {
		exec_failed(im, call, kind);
		return;
	}
	if (kind->arg >= call->arg_count ||
	    value_string(call->args[kind->arg], given, sizeof(given), &bytes) < 0)
		bytes = 0;
	if (may_be_magic(given, bytes))
		file_bytes = magic_path(im, call, kind, file, sizeof(file));
	if (kind->variant == VARIANT_AT && call->arg_count)
		base = place_base(im, call, 0);
	if ((!bytes || *given != '/') && base && (base == im->slash || base->entry)) {
		at = base->entry ? entry_path(base->entry, path, PATH_ROOM) : 0;
		if (bytes)
			path[at++] = '/';
	}
	memcpy(path + at, given, bytes);
	bytes += at;
	if (bytes > IOT_TAIL_MAX_BYTES)
		bytes = IOT_TAIL_MAX_BYTES;
	task_exec(im, im->task, (struct text){ (char *)path, bytes },
		  file_bytes ? (struct text){ (char *)file, file_bytes } :
			       (struct text){ (char *)path, bytes });
}
