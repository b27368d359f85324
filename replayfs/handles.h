/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * handles.h - slots of open files and of mappings.
 *
 * The order of a program makes sure that a handle is opened before it is used and
 * released after; but a program may be hostile, so every use takes a reference: one
 * atomic operation on a line of the slot's own.
 *
 *   users of a slot	0 empty, -1 being changed by one worker, else references: one of
 *			the slot itself and one of each use
 */
#ifndef RFS_HANDLES_H
#define RFS_HANDLES_H

#include <linux/err.h>
#include <linux/file.h>

#include "replayfs.h"

#define RFS_HOLES_MAX 16
#define RFS_LOCKERS   U32_MAX

/**
 * struct rfs_handle - an open file
 * @users: see above
 * @is_held: the slot has its reference; the task that clears it drops the reference, once
 * @locker: owner of locks taken through it, which run_vfs_locks.c releases before the file:
 *	a number of the program, RFS_LOCKERS if there are several, 0 if none
 * @file: the file
 */
struct rfs_handle {
	atomic_t users;
	unsigned long is_held;
	u32 locker;
	struct file *file;
} ____cacheline_aligned_in_smp;

/**
 * struct rfs_map - a mapping
 * @users: see above; a use may sleep in a page fault
 * @hole_count: number of @holes
 * @advice: of the last touch, IOT_TOUCH_random or IOT_TOUCH_sequential
 * @mm: the address space that it is in; only compared
 * @address: where it begins there
 * @offset_bytes: where it begins in the file
 * @length_bytes: its length
 * @left_bytes: of it, still mapped
 * @holes: ranges of the file that are not mapped any more
 */
struct rfs_map {
	atomic_t users;
	u32 hole_count;
	u32 advice;
	const struct mm_struct *mm;
	unsigned long address;
	u64 offset_bytes;
	u64 length_bytes;
	u64 left_bytes;
	struct {
		u64 offset_bytes;
		u64 length_bytes;
	} holes[RFS_HOLES_MAX];
};

/* run_vfs_locks.c */
void rfs_locks_drop(struct rfs_replay *replay, struct rfs_handle *handle);

void rfs_handle_put_last(struct rfs_replay *replay, struct rfs_handle *handle);

/* Return: true with a reference; false if the slot is empty or being changed. */
static inline bool rfs_users_get(atomic_t *users)
{
	int count = atomic_read(users);

	while (count > 0)
		if (atomic_try_cmpxchg(users, &count, count + 1))
			return true;
	return false;
}

static inline struct rfs_handle *rfs_handle_at(struct rfs_replay *replay, __le32 slot)
{
	return &replay->handles[le32_to_cpu(slot) - 1];
}

/**
 * rfs_handle_get() - use the file in a slot
 * @replay: the replay
 * @slot: from the program
 *
 * Return: the file, until rfs_handle_put(); -EBADF if the slot is empty.
 */
static inline struct file *rfs_handle_get(struct rfs_replay *replay, __le32 slot)
{
	struct rfs_handle *handle = rfs_handle_at(replay, slot);

	return rfs_users_get(&handle->users) ? handle->file : ERR_PTR(-EBADF);
}

/**
 * rfs_handle_put_unless_last() - end what rfs_handle_get() began, if that is simple
 * @replay: the replay
 * @slot: from the program; not empty
 *
 * Return: false if it is perhaps the last use: then rfs_handle_put() is due, which may sleep.
 */
static inline bool rfs_handle_put_unless_last(struct rfs_replay *replay, __le32 slot)
{
	return atomic_add_unless(&rfs_handle_at(replay, slot)->users, -1, 1);
}

/**
 * rfs_handle_put() - end what rfs_handle_get() began
 * @replay: the replay
 * @slot: from the program; not empty
 *
 * The last reference is the slot's own, unless the slot was emptied meanwhile: then the file is
 * released here, or rather when current returns to user mode; and its locks are released, so this
 * may sleep.
 */
static inline void rfs_handle_put(struct rfs_replay *replay, __le32 slot)
{
	if (!rfs_handle_put_unless_last(replay, slot))
		rfs_handle_put_last(replay, rfs_handle_at(replay, slot));
}

int rfs_handles_init(struct rfs_replay *replay);
void rfs_handles_exit(struct rfs_replay *replay);

int rfs_handle_fill(struct rfs_replay *replay, __le32 slot, struct file *file);
int rfs_handle_empty(struct rfs_replay *replay, __le32 slot);

int rfs_map_fill(struct rfs_replay *replay, __le32 slot, unsigned long address, u64 offset_bytes,
		 u64 length_bytes);
int rfs_map_advise(struct rfs_replay *replay, __le32 slot, u32 touch_flags);
int rfs_map_get(struct rfs_replay *replay, __le32 slot, u64 offset_bytes, u64 length_bytes,
		unsigned long *address);
void rfs_map_put(struct rfs_replay *replay, __le32 slot);
int rfs_map_cut(struct rfs_replay *replay, __le32 slot, u64 offset_bytes, u64 length_bytes);

#endif
