// SPDX-License-Identifier: GPL-2.0-only
/*
 * handles.c - slots of open files and of mappings.
 */
#include "handles.h"

#include <linux/file.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#include "compat/vfs.h"

/**
 * rfs_handles_init() - make the empty slots of handles and mappings
 * @replay: has its program
 *
 * Return: 0 or -ENOMEM; rfs_handles_exit() is right in both cases.
 */
int rfs_handles_init(struct rfs_replay *replay)
{
	const struct iot_program *program = &replay->program;

	replay->handles = vzalloc(array_size(program->handle_count + 1, sizeof(struct rfs_handle)));
	replay->maps = vzalloc(array_size(program->map_count + 1, sizeof(struct rfs_map)));
	return replay->handles && replay->maps ? 0 : -ENOMEM;
}

/* The handle has no other user, and its file is about to be released. */
static void put_locks(struct rfs_replay *replay, struct rfs_handle *handle)
{
	if (handle->locker)
		rfs_locks_drop(replay, handle);
}

/**
 * rfs_handles_exit() - close all files, and free the slots
 * @replay: no longer in use. Its mappings were freed with their address spaces
 */
void rfs_handles_exit(struct rfs_replay *replay)
{
	u32 i;

	for (i = 0; replay->handles && i <= replay->program.handle_count; i++) {
		if (atomic_read(&replay->handles[i].users) <= 0)
			continue;
		put_locks(replay, &replay->handles[i]);
		fput(replay->handles[i].file);
	}
	vfree(replay->handles);
	vfree(replay->maps);
	replay->handles = NULL;
	replay->maps = NULL;
}

/**
 * rfs_handle_fill() - put a file into an empty slot
 * @replay: the replay
 * @slot: from the program
 * @file: its reference is consumed, also on failure
 *
 * Return: 0; -EBUSY if the slot is not empty.
 */
int rfs_handle_fill(struct rfs_replay *replay, __le32 slot, struct file *file)
{
	struct rfs_handle *handle = rfs_handle_at(replay, slot);

	if (atomic_cmpxchg(&handle->users, 0, -1) != 0) {
		fput(file);
		return -EBUSY;
	}
	handle->file = file;
	handle->locker = 0;
	handle->is_held = 1;
	atomic_set_release(&handle->users, 1);
	return 0;
}

/* Return: the file, if that was the last reference: the caller's, to be released. */
static struct file *put_last(struct rfs_replay *replay, struct rfs_handle *handle)
{
	struct file *file = handle->file;

	while (!atomic_add_unless(&handle->users, -1, 1)) {
		if (atomic_cmpxchg(&handle->users, 1, -1) != 1)
			continue; /* the handle got a new user */
		put_locks(replay, handle);
		atomic_set_release(&handle->users, 0);
		return file;
	}
	return NULL;
}

/**
 * rfs_handle_put_last() - the part of rfs_handle_put() that is not inline
 * @replay: the replay
 * @handle: has perhaps no other user, and its slot was perhaps emptied: then its file is released
 */
void rfs_handle_put_last(struct rfs_replay *replay, struct rfs_handle *handle)
{
	struct file *file = put_last(replay, handle);

	if (file)
		fput(file);
}

/**
 * rfs_handle_empty() - drop the reference of a slot
 * @replay: the replay
 * @slot: from the program
 *
 * If the file is no longer in use, it is released: here, if IOT_RELEASES_AT_ONCE, else when current
 * returns to user mode.
 *
 * Return: 0; -EBADF if the slot is empty.
 */
int rfs_handle_empty(struct rfs_replay *replay, __le32 slot)
{
	struct file *file = rfs_handle_get(replay, slot);
	int err = -EBADF;

	if (IS_ERR(file))
		return PTR_ERR(file);
	if (test_and_clear_bit(0, &rfs_handle_at(replay, slot)->is_held)) {
		rfs_handle_put(replay, slot); /* the slot's */
		err = 0;
	}
	file = put_last(replay, rfs_handle_at(replay, slot)); /* ours */
	if (file)
		iot_fput_at_once(file);
	return err;
}

static struct rfs_map *map_at(struct rfs_replay *replay, __le32 slot)
{
	return &replay->maps[le32_to_cpu(slot) - 1];
}

/**
 * rfs_map_fill() - a mapping was made in the address space of current
 * @replay: the replay
 * @slot: from the program
 * @address: where the mapping begins
 * @offset_bytes: where it begins in the file
 * @length_bytes: its length; rounded up to pages
 *
 * Return: 0; -EBUSY if the slot is not empty.
 */
int rfs_map_fill(struct rfs_replay *replay, __le32 slot, unsigned long address, u64 offset_bytes,
		 u64 length_bytes)
{
	struct rfs_map *map = map_at(replay, slot);

	if (atomic_cmpxchg(&map->users, 0, -1) != 0)
		return -EBUSY;
	map->mm = current->mm;
	map->address = address;
	map->offset_bytes = offset_bytes;
	map->length_bytes = PAGE_ALIGN(length_bytes);
	map->left_bytes = map->length_bytes;
	map->hole_count = 0;
	map->advice = 0;
	atomic_set_release(&map->users, 1);
	return 0;
}

static bool is_in_hole(const struct rfs_map *map, u64 offset_bytes, u64 length_bytes)
{
	u32 i;

	for (i = 0; i < map->hole_count; i++)
		if (offset_bytes < map->holes[i].offset_bytes + map->holes[i].length_bytes &&
		    map->holes[i].offset_bytes < offset_bytes + length_bytes)
			return true;
	return false;
}

static int check_range(const struct rfs_map *map, u64 offset_bytes, u64 length_bytes)
{
	if (map->mm != current->mm || offset_bytes < map->offset_bytes ||
	    length_bytes > map->length_bytes ||
	    offset_bytes - map->offset_bytes > map->length_bytes - length_bytes ||
	    is_in_hole(map, offset_bytes, length_bytes))
		return -EFAULT;
	return 0;
}

/**
 * rfs_map_get() - use a range of a mapping
 * @replay: the replay
 * @slot: from the program
 * @offset_bytes: where the range begins in the file
 * @length_bytes: its length
 * @address: out: where it is in the address space of current
 *
 * Return: 0, and the range stays mapped until rfs_map_put(); -EFAULT if it is not
 * mapped here; -EINTR.
 */
int rfs_map_get(struct rfs_replay *replay, __le32 slot, u64 offset_bytes, u64 length_bytes,
		unsigned long *address)
{
	struct rfs_map *map = map_at(replay, slot);
	int err;

	while (!rfs_users_get(&map->users)) {
		if (atomic_read(&map->users) == 0)
			return -EFAULT;
		if (signal_pending(current))
			return -EINTR;
		cond_resched(); /* a piece of it is being unmapped at the moment */
	}
	err = check_range(map, offset_bytes, length_bytes);
	if (err)
		rfs_map_put(replay, slot);
	else
		*address = map->address + (offset_bytes - map->offset_bytes);
	return err;
}

/**
 * rfs_map_advise() - how much the kernel reads ahead in a mapping, as set by madvise(2)
 * @replay: the replay
 * @slot: from the program; the caller uses it
 * @touch_flags: IOT_TOUCH_random, IOT_TOUCH_sequential, or neither
 *
 * A mapping of which pieces are unmapped stays as it is: other mappings may be in their place.
 *
 * Return: 0 or -EINTR.
 */
int rfs_map_advise(struct rfs_replay *replay, __le32 slot, u32 touch_flags)
{
	u32 advice = touch_flags & (IOT_TOUCH_random | IOT_TOUCH_sequential);
	struct rfs_map *map = map_at(replay, slot);
	struct vm_area_struct *vma;

	if (likely(READ_ONCE(map->advice) == advice) || map->hole_count)
		return 0;
	if (mmap_write_lock_killable(current->mm))
		return -EINTR;
	vma = find_vma(current->mm, map->address);
	if (vma && vma->vm_start <= map->address) {
		vm_flags_clear(vma, VM_RAND_READ | VM_SEQ_READ);
		vm_flags_set(vma, (advice & IOT_TOUCH_random ? VM_RAND_READ : 0) |
					  (advice & IOT_TOUCH_sequential ? VM_SEQ_READ : 0));
	}
	WRITE_ONCE(map->advice, advice);
	mmap_write_unlock(current->mm);
	return 0;
}

/**
 * rfs_map_put() - end what rfs_map_get() began
 * @replay: the replay
 * @slot: from the program; not empty
 */
void rfs_map_put(struct rfs_replay *replay, __le32 slot)
{
	atomic_dec(&map_at(replay, slot)->users);
}

/*
 * The caller is the only user of the slot. The last page is unmapped as a whole, so the range is rounded up to
 * pages.
 */
static int cut(struct rfs_map *map, u64 offset_bytes, u64 length_bytes)
{
	int err;

	if (length_bytes > map->length_bytes)
		return -EFAULT;
	length_bytes = PAGE_ALIGN(length_bytes);
	err = check_range(map, offset_bytes, length_bytes);
	if (!err && map->hole_count == RFS_HOLES_MAX && map->left_bytes != length_bytes)
		err = -ENOSPC;
	if (!err)
		err = vm_munmap(map->address + (offset_bytes - map->offset_bytes), length_bytes);
	if (err)
		return err;
	map->left_bytes -= length_bytes;
	if (map->left_bytes) {
		map->holes[map->hole_count].offset_bytes = offset_bytes;
		map->holes[map->hole_count].length_bytes = length_bytes;
		map->hole_count++;
	}
	return 0;
}

/**
 * rfs_map_cut() - unmap a mapping, or a piece of it
 * @replay: the replay
 * @slot: from the program; empty when no piece of the mapping is left
 * @offset_bytes: where the piece begins in the file
 * @length_bytes: its length
 *
 * Waits until no part of the mapping is in use: an address that is freed may be reused at
 * once.
 *
 * Return: 0; -EFAULT if the piece is not mapped here; -ENOSPC if there are too many
 * pieces; -EINTR; what munmap(2) returns.
 */
int rfs_map_cut(struct rfs_replay *replay, __le32 slot, u64 offset_bytes, u64 length_bytes)
{
	struct rfs_map *map = map_at(replay, slot);
	int users, err;

	while ((users = atomic_cmpxchg(&map->users, 1, -1)) != 1) {
		if (!users)
			return -EFAULT;
		if (signal_pending(current))
			return -EINTR;
		schedule_timeout_interruptible(1);
	}
	err = cut(map, offset_bytes, length_bytes);
	atomic_set_release(&map->users, map->left_bytes ? 1 : 0);
	return err;
}
