// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_vfs_locks.c - file locks, and their release by close(2).
 *
 * Locks are requested without waiting: the waits of the trace are edges of the program, so a
 * replay cannot deadlock here. Locks of the trace's processes belong to owners that only this
 * replay knows. The VFS releases such locks only when their owner closes the file; if a program
 * releases the file without a close, this file releases them.
 */
#include <linux/fs.h>
#include <linux/sched.h>

#include "compat/vfs.h"
#include "handles.h"
#include "run_vfs.h"

/* An address that no other owner of locks has; the verifier knows that there are as many tasks. */
static fl_owner_t owner_at(const struct rfs_replay *replay, u32 number)
{
	return (fl_owner_t)&replay->program.tasks[number - 1];
}

static void note_locker(struct rfs_handle *handle, u32 owner)
{
	u32 before = cmpxchg(&handle->locker, 0, owner);

	if (before && before != owner)
		WRITE_ONCE(handle->locker, RFS_LOCKERS);
}

static int type_of(u32 our)
{
	if (our & IOT_LOCK_exclusive)
		return F_WRLCK;
	return our & IOT_LOCK_shared ? F_RDLCK : F_UNLCK;
}

static void lock_fill(struct file_lock *lock, const struct rfs_replay *replay,
		 const struct iot_program_op *op, struct file *file)
{
	u32 our = le32_to_cpu(op->flags), owner = le32_to_cpu(op->owner);

	locks_init_lock(lock);
	iot_lock_type(lock) = type_of(our);
	iot_lock_file(lock) = file;
	iot_lock_owner(lock) = owner ? owner_at(replay, owner) : (fl_owner_t)file;
	iot_lock_pid(lock) = current->tgid;
	iot_lock_flags(lock) = our & IOT_LOCK_flock ? FL_FLOCK :
			       owner		    ? FL_POSIX :
						      FL_POSIX | FL_OFDLCK;
	lock->fl_start = le64_to_cpu(op->offset_bytes);
	lock->fl_end = le64_to_cpu(op->end_bytes);
}

/* As the system calls do. */
static bool may_lock(const struct file *file, u32 our)
{
	if (our & IOT_LOCK_test || !(our & (IOT_LOCK_shared | IOT_LOCK_exclusive)))
		return true;
	if (our & IOT_LOCK_flock)
		return file->f_mode & (FMODE_READ | FMODE_WRITE);
	return file->f_mode & (our & IOT_LOCK_exclusive ? FMODE_WRITE : FMODE_READ);
}

static u32 found_in(const struct file_lock *lock)
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

static int set_lock(struct file *file, struct file_lock *lock, u32 our)
{
	if (our & IOT_LOCK_flock)
		return file->f_op->flock ? file->f_op->flock(file, F_SETLK, lock) :
					   locks_lock_file_wait(file, lock);
	return vfs_lock_file(file, F_SETLK, lock, NULL);
}

/* A lock for which the trace waited in vain, see iot_is_lock_in_vain(). */
static s64 request_in_vain(struct file *file, struct file_lock *lock, const struct iot_program_op *op)
{
	u32 our = le32_to_cpu(op->flags);
	int err = set_lock(file, lock, our);

	if (err == -EAGAIN || err == -EACCES)
		return (s64)le64_to_cpu(op->result);
	if (!err) {
		iot_lock_type(lock) = F_UNLCK;
		set_lock(file, lock, our);
	}
	return err;
}

static s64 lock_file(struct rfs_worker *worker, struct file *file, struct file_lock *lock,
		     const struct iot_program_op *op)
{
	u32 our = le32_to_cpu(op->flags);
	int err;

	if (unlikely(iot_is_lock_in_vain(op)))
		return request_in_vain(file, lock, op);
	if ((our & IOT_LOCK_flock) || !(our & IOT_LOCK_test))
		return set_lock(file, lock, our);
	err = vfs_test_lock(file, lock);
	worker->task->step.observed.lock = err ? 0 : found_in(lock);
	return err;
}

s64 rfs_do_lock(struct rfs_worker *worker, const struct iot_program_op *op)
{
	u32 our = le32_to_cpu(op->flags), owner = le32_to_cpu(op->owner);
	struct file *file = rfs_handle_get(worker->replay, op->handle);
	struct file_lock lock;
	s64 result = -EBADF;

	if (IS_ERR(file))
		return PTR_ERR(file);
	if (may_lock(file, our)) {
		if (owner && !(our & (IOT_LOCK_test | IOT_LOCK_flock)))
			note_locker(rfs_handle_at(worker->replay, op->handle), owner);
		lock_fill(&lock, worker->replay, op, file);
		result = lock_file(worker, file, &lock, op);
		locks_release_private(&lock);
	}
	rfs_handle_put(worker->replay, op->handle);
	return result;
}

s64 rfs_do_flush(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct file *file = rfs_handle_get(worker->replay, op->handle);
	u32 number = le32_to_cpu(op->owner);
	fl_owner_t owner = current->files;
	int err = 0;

	if (IS_ERR(file))
		return PTR_ERR(file);
	if (number)
		owner = owner_at(worker->replay, number);
	if (file->f_op->flush)
		err = file->f_op->flush(file, owner);
	if (number) {
		locks_remove_posix(file, owner);
		cmpxchg(&rfs_handle_at(worker->replay, op->handle)->locker, number, 0);
	}
	rfs_handle_put(worker->replay, op->handle);
	return err;
}

static void drop(const struct rfs_replay *replay, struct file *file, u32 owner)
{
	const struct iot_program_op all = {
		.mode = cpu_to_le32(owner),
		.extra = cpu_to_le64(OFFSET_MAX),
	};
	struct file_lock lock;

	lock_fill(&lock, replay, &all, file);
	vfs_lock_file(file, F_SETLK, &lock, NULL);
	locks_release_private(&lock);
}

static u32 owner_number(const struct rfs_replay *replay, fl_owner_t owner)
{
	const struct iot_program_task *task = (const void *)owner, *tasks = replay->program.tasks;

	return task >= tasks && task < tasks + replay->program.task_count ? task - tasks + 1 : 0;
}

/* Return: an owner in this replay that holds process locks on a file; 0 if there is none. */
static u32 find_owner(const struct rfs_replay *replay, const struct file *file)
{
	struct file_lock_context *context = smp_load_acquire(&file_inode(file)->i_flctx);
	struct iot_lock_entry *lock;
	u32 owner = 0;

	if (!context || list_empty_careful(&context->flc_posix))
		return 0;
	spin_lock(&context->flc_lock);
	list_for_each_entry(lock, &context->flc_posix, iot_lock_entry_list) {
		owner = owner_number(replay, lock->iot_lock_entry_owner);
		if (owner)
			break;
	}
	spin_unlock(&context->flc_lock);
	return owner;
}

/**
 * rfs_locks_drop() - release locks of processes through a handle whose file is about to be released
 * @replay: the replay
 * @handle: has a locker, and no user
 *
 * May sleep. No lock is left if all its owners have closed the file. If there are several, each owner
 * is taken from its lock, as the VFS does when a file is closed: there may be a million tasks.
 */
void rfs_locks_drop(struct rfs_replay *replay, struct rfs_handle *handle)
{
	u32 owner, left;

	if (handle->locker != RFS_LOCKERS) {
		drop(replay, handle->file, handle->locker);
		return;
	}
	for (left = replay->program.task_count; left; left--) {
		owner = find_owner(replay, handle->file);
		if (!owner)
			break;
		drop(replay, handle->file, owner);
		cond_resched();
	}
}
