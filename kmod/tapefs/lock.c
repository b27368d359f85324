// SPDX-License-Identifier: GPL-2.0-only
/*
 * lock.c - locks of files: fcntl(2) and flock(2).
 *
 * They are taken on the lower file. The VFS gives them up at close(2) through flush and
 * release, which have records of their own.
 */
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>

#include <asm/syscall.h>

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

/* The request of the caller, as a record. */
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

/* Is it a lock that fcntl(2) has just taken, and that goes with any descriptor of the process? */
static bool is_taken_by_process(int command, const struct file_lock *lock)
{
	return command != F_GETLK && iot_lock_type(lock) != F_UNLCK &&
	       iot_lock_owner(lock) == (fl_owner_t)current->files;
}

/* Does the descriptor that fcntl(2) was called with not stand for the file any more? */
static bool is_closed(const struct file *file)
{
	struct files_struct *files = current->files;
	unsigned long arguments[6];
	bool is_closed;

	syscall_get_arguments(current, current_pt_regs(), arguments);
	spin_lock(&files->file_lock);
	is_closed = files_lookup_fd_locked(files, arguments[0]) != file;
	spin_unlock(&files->file_lock);
	return is_closed;
}

/*
 * Another thread may close the descriptor during the wait for the lock, when there is no lock to release yet. The VFS
 * checks for that after it has taken the lock, and releases it, but only on the upper inode, which has none: so it is
 * released here (fcntl_setlk(), since "filelock: Remove locks reliably when fcntl/close race is detected"). A later
 * close finds the lock.
 */
static int lock_unless_closed(struct file *file, int command, struct file_lock *lock)
{
	int err = tfs_do_lock(file, command, lock);

	if (err || !is_taken_by_process(command, lock) || likely(!is_closed(file)))
		return err;
	tfs_do_unlock_process(file);
	return -EBADF;
}

int tfs_lock(struct file *file, int command, struct file_lock *lock)
{
	struct iot_rec_lock r = request_of(command, lock);
	struct iot_span span;
	int err;

	tfs_gate_open(file_inode(file)->i_sb, IOT_KIND_lock, &span);
	err = lock_unless_closed(file, command, lock);
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

	tfs_gate_open(file_inode(file)->i_sb, IOT_KIND_lock, &span);
	err = tfs_do_flock(file, command, lock);
	tfs_emit_lock(&span, file, &r, err);
	return err;
}
