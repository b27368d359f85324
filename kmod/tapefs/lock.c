// SPDX-License-Identifier: GPL-2.0-only
/*
 * lock.c - locks of files: fcntl(2) and flock(2).
 *
 * They are taken on the lower file. The VFS gives them up at close(2) through flush and
 * release, which have records of their own.
 */
#include <linux/fs.h>

#include "emit.h"
#include "lower.h"

static u32 type_of(const struct file_lock *lock)
{
	switch (iot_lock_type(lock)) {
	case F_RDLCK:
		return IOT_LOCK_shared;
	case F_WRLCK:
		return IOT_LOCK_exclusive;
	default:
		return 0;
	}
}

/* What is asked for. */
static struct iot_rec_lock request_of(int command, const struct file_lock *lock)
{
	unsigned int flags = iot_lock_flags(lock);
	struct iot_rec_lock r = {
		.offset_bytes = lock->fl_start,
		.end_bytes = lock->fl_end,
		.flags = type_of(lock),
	};

	if (command == F_GETLK)
		r.flags |= IOT_LOCK_test;
	else if (r.flags && (flags & FL_SLEEP))
		r.flags |= IOT_LOCK_wait;
	if (flags & FL_OFDLCK)
		r.flags |= IOT_LOCK_ofd;
	if (flags & FL_FLOCK)
		r.flags |= IOT_LOCK_flock;
	return r;
}

int tfs_lock(struct file *file, int command, struct file_lock *lock)
{
	struct iot_rec_lock r = request_of(command, lock);
	struct iot_span span;
	int err;

	tfs_begin(file_inode(file)->i_sb, &span);
	err = tfs_do_lock(file, command, lock);
	if (!err && command == F_GETLK)
		r.found = type_of(lock);
	tfs_emit_lock(&span, file, &r, err);
	return err;
}

int tfs_flock(struct file *file, int command, struct file_lock *lock)
{
	struct iot_rec_lock r = request_of(command, lock);
	struct iot_span span;
	int err;

	tfs_begin(file_inode(file)->i_sb, &span);
	err = tfs_do_flock(file, command, lock);
	tfs_emit_lock(&span, file, &r, err);
	return err;
}
