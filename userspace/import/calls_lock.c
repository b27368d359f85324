// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_lock.c - locks of files: flock(2), and the commands of fcntl(2) that are about them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>

#include "model.h"

static const struct lock_command {
	s64 command;
	u32 flags;
} commands[] = {
	{ F_SETLK, 0 },
	{ F_SETLKW, IOT_LOCK_wait },
	{ F_GETLK, IOT_LOCK_test },
	{ 13, 0 }, /* F_SETLK64, F_SETLKW64, F_GETLK64 of 32 bits */
	{ 14, IOT_LOCK_wait },
	{ 12, IOT_LOCK_test },
	{ F_OFD_SETLK, IOT_LOCK_ofd },
	{ F_OFD_SETLKW, IOT_LOCK_ofd | IOT_LOCK_wait },
	{ F_OFD_GETLK, IOT_LOCK_ofd | IOT_LOCK_test },
};

/* The contents of a structure: every member is present, or nothing is known. */
struct range {
	s64 type;
	s64 whence;
	s64 start;
	s64 length;
};

/* Versions before 4.11 call the members type, whence, start and len. */
static bool take_member(struct text text, const char *name, s64 *number)
{
	return value_member_number(text, name, number) ||
	       value_member_number(text, name + strlen("l_"), number);
}

static bool take_range(struct text text, struct range *range)
{
	return take_member(text, "l_type", &range->type) &&
	       take_member(text, "l_whence", &range->whence) &&
	       take_member(text, "l_start", &range->start) && take_member(text, "l_len", &range->length);
}

static u32 type_of(s64 type)
{
	return type == F_RDLCK ? IOT_LOCK_shared : type == F_WRLCK ? IOT_LOCK_exclusive : 0;
}

/* The base of a range. Return: whether it is known. */
static bool take_base(const struct file *file, s64 whence, s64 *base)
{
	switch (whence) {
	case SEEK_SET:
		*base = 0;
		return true;
	case SEEK_CUR:
		*base = (s64)file->position_bytes;
		return !file->is_position_lost;
	case SEEK_END:
		*base = (s64)file->inode->size_bytes;
		return file->inode->has_exact_size;
	default:
		return false;
	}
}

/*
 * The range as the kernel computes it, from the base and lengths that may be 0 or negative.
 *
 * Return: whether the range is valid.
 */
static bool set_range(struct iot_rec_lock *r, s64 base, const struct range *range)
{
	s64 length = range->length, begin;

	if (__builtin_add_overflow(base, range->start, &begin))
		return false;
	r->offset_bytes = begin;
	r->end_bytes = INT64_MAX;
	if (length > 0 && __builtin_add_overflow(begin, length - 1, &r->end_bytes))
		return false;
	if (length < 0) { /* the part before */
		if (begin < 1 || length < -begin)
			return false;
		r->end_bytes = begin - 1;
		r->offset_bytes = begin + length;
	}
	return r->offset_bytes >= 0 && r->end_bytes >= r->offset_bytes;
}

/* Calls that the system call layer rejects do not reach the file system. */
static void put_lock(struct import *im, const struct call *call, struct file *file,
		     struct iot_rec_lock lock)
{
	struct iot_record record = { .kind = IOT_KIND_lock };

	if (call->result == -EBADF || call->result == -EINVAL)
		return;
	if (!(lock.flags & (IOT_LOCK_shared | IOT_LOCK_exclusive)))
		lock.flags &= ~(u32)IOT_LOCK_wait;
	record.lock = lock;
	record.lock.object = emit_object(im, file->inode);
	record.lock.handle = file->handle;
	record.lock.result = call->result;
	emit_op(im, &record);
}

void call_flock(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct file *file = file_inside(im, call, 0);
	struct iot_rec_lock lock = { .end_bytes = INT64_MAX, .flags = IOT_LOCK_flock };
	s64 how;

	if (!call_number(call, 1, &how)) {
		call_not_understood(im, call, kind);
		return;
	}
	if (!file)
		return;
	lock.flags |= how & LOCK_SH ? IOT_LOCK_shared : how & LOCK_EX ? IOT_LOCK_exclusive : 0;
	lock.flags |= how & LOCK_NB ? 0 : IOT_LOCK_wait;
	put_lock(im, call, file, lock);
}

/**
 * call_lock() - fcntl(2) with a command of locks
 * @im: the import
 * @call: the call
 * @command: its command
 *
 * For a test, strace prints the result and not the request: without a conflict, most requests are for
 * exclusive locks; with a conflict, even the range is unknown.
 *
 * Return: false if it is another command.
 */
bool call_lock(struct import *im, const struct call *call, s64 command)
{
	struct iot_rec_lock lock = {};
	struct range range;
	struct file *file;
	s64 base;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(commands) && commands[i].command != command; i++)
		;
	if (i == ARRAY_SIZE(commands))
		return false;
	file = file_inside(im, call, 0);
	if (!file)
		return true;
	lock.flags = commands[i].flags;
	if (call->arg_count < 3 || !take_range(call->args[2], &range) ||
	    !take_base(file, range.whence, &base) ||
	    (lock.flags & IOT_LOCK_test && !call->result && type_of(range.type))) {
		if (call->result >= 0) {
			gap_named(im, IMPORT_GAP_call, call->name, call->args[1]);
			gap_moved(im, IMPORT_GAP_call, call);
		}
		return true;
	}
	if (!set_range(&lock, base, &range))
		return true;
	lock.flags |= lock.flags & IOT_LOCK_test ? IOT_LOCK_exclusive : type_of(range.type);
	put_lock(im, call, file, lock);
	return true;
}
