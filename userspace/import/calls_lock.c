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
	{ F_OFD_SETLK, IOT_LOCK_ofd },
	{ F_OFD_SETLKW, IOT_LOCK_ofd | IOT_LOCK_wait },
	{ F_OFD_GETLK, IOT_LOCK_ofd | IOT_LOCK_test },
};

static u32 type_of(s64 type)
{
	return type == F_RDLCK ? IOT_LOCK_shared : type == F_WRLCK ? IOT_LOCK_exclusive : 0;
}

static s64 member(struct text text, const char *name)
{
	struct text value;
	s64 number = 0;

	if (value_member(text, name, &value))
		value_number(value, &number);
	return number;
}

/*
 * From begin to end as the kernel counts: what it is relative to, and lengths of 0 or less.
 *
 * Return: is there such a range?
 */
static bool set_range(struct iot_rec_lock *r, const struct file *file, struct text range)
{
	s64 whence = member(range, "l_whence"), length = member(range, "l_len");
	s64 begin = member(range, "l_start");
	s64 base = whence == SEEK_CUR ? (s64)file->position_bytes :
		   whence == SEEK_END ? (s64)file->inode->size_bytes :
					0;

	if (__builtin_add_overflow(base, begin, &begin))
		return false;
	r->offset_bytes = begin;
	r->end_bytes = INT64_MAX;
	if (length > 0 && __builtin_add_overflow(begin, length - 1, &r->end_bytes))
		return false;
	if (length < 0) { /* what lies before */
		if (begin < 1 || length < -begin)
			return false;
		r->end_bytes = begin - 1;
		r->offset_bytes = begin + length;
	}
	return r->offset_bytes >= 0 && r->end_bytes >= r->offset_bytes;
}

/* What the system call refuses by itself does not come to the file system. */
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
	s64 how = call_number(call, 1);

	(void)kind;
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
 * Of a test, strace tells what was found and not what was asked for: most ask about exclusive
 * locks.
 *
 * Return: false if it is no such command.
 */
bool call_lock(struct import *im, const struct call *call, s64 command)
{
	struct iot_rec_lock lock = {};
	struct file *file;
	u32 type, i;

	for (i = 0; i < ARRAY_SIZE(commands) && commands[i].command != command; i++)
		;
	if (i == ARRAY_SIZE(commands))
		return false;
	file = file_inside(im, call, 0);
	if (!file || call->arg_count < 3 || !set_range(&lock, file, call->args[2]))
		return true;
	type = type_of(member(call->args[2], "l_type"));
	lock.flags = commands[i].flags;
	if (lock.flags & IOT_LOCK_test) {
		lock.flags |= IOT_LOCK_exclusive;
		lock.found = type;
	} else {
		lock.flags |= type;
	}
	put_lock(im, call, file, lock);
	return true;
}
