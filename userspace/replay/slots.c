// SPDX-License-Identifier: GPL-2.0-only
/*
 * slots.c - slots of open files and of mappings, of the thread engine.
 */
#include "slots.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run_syscall.h"

/* Return: true with a reference; false if the slot is empty or being changed. */
static bool users_get(u32 *users)
{
	u32 count = __atomic_load_n(users, __ATOMIC_RELAXED);

	while (count && count != SLOT_BUSY)
		if (__atomic_compare_exchange_n(users, &count, count + 1, true, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

static bool users_claim(u32 *users)
{
	u32 nobody = 0;

	return __atomic_compare_exchange_n(users, &nobody, SLOT_BUSY, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static struct handle *handle_at(const struct worker_task *task, __le32 slot)
{
	return &stage_of(task)->handles[le32_to_cpu(slot) - 1];
}

/**
 * handle_fill() - put a file into an empty slot
 * @task: which has opened it
 * @slot: from the program
 * @fd: the slot's from now on; closed on failure
 * @flags: O_APPEND and O_DIRECT as it was opened
 *
 * Return: 0; -EBUSY if the slot is not empty.
 */
int handle_fill(struct worker_task *task, __le32 slot, int fd, int flags)
{
	struct handle *handle = handle_at(task, slot);

	if (!users_claim(&handle->users)) {
		close(fd);
		return -EBUSY;
	}
	handle->fd = fd;
	handle->flags = flags;
	__atomic_store_n(&handle->is_held, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&handle->users, 1, __ATOMIC_RELEASE);
	return 0;
}

/**
 * handle_get() - use the file in a slot
 * @task: which uses it
 * @slot: from the program
 * @handle: out: until handle_put()
 *
 * Return: its descriptor; -EBADF if the slot is empty.
 */
int handle_get(struct worker_task *task, __le32 slot, struct handle **handle)
{
	*handle = handle_at(task, slot);
	return users_get(&(*handle)->users) ? (*handle)->fd : -EBADF;
}

/**
 * handle_put() - end the use begun by handle_get()
 *
 * The last reference is the slot's own, unless the slot was emptied meanwhile: then the file is
 * closed here.
 */
void handle_put(struct handle *handle)
{
	int fd = handle->fd;

	if (!__atomic_sub_fetch(&handle->users, 1, __ATOMIC_ACQ_REL))
		close(fd);
}

/**
 * handle_empty() - the slot gives up its reference
 * @task: which releases it
 * @slot: from the program
 *
 * The file is closed if it has no other user.
 *
 * Return: 0; -EBADF if the slot is empty.
 */
int handle_empty(struct worker_task *task, __le32 slot)
{
	struct handle *handle;
	int fd = handle_get(task, slot, &handle), err = -EBADF;

	if (fd < 0)
		return fd;
	if (__atomic_exchange_n(&handle->is_held, 0, __ATOMIC_ACQ_REL)) {
		handle_put(handle); /* the slot's */
		err = 0;
	}
	handle_put(handle); /* ours */
	return err;
}

static struct map *map_at(const struct worker_task *task, __le32 slot)
{
	return &stage_of(task)->maps[le32_to_cpu(slot) - 1];
}

/* Mappings are created and cut in whole pages, regardless of the requested length. */
static u64 whole_pages(u64 length_bytes)
{
	u64 page_bytes = (u64)sysconf(_SC_PAGESIZE);

	return (length_bytes + page_bytes - 1) / page_bytes * page_bytes;
}

/**
 * map_fill() - a mapping was made
 * @task: which made it
 * @slot: from the program
 * @address: where the mapping begins
 * @offset_bytes: where it begins in the file
 * @length_bytes: the requested length; its pages are mapped
 *
 * Return: 0; -EBUSY if the slot is not empty.
 */
int map_fill(struct worker_task *task, __le32 slot, char *address, u64 offset_bytes,
	     u64 length_bytes)
{
	struct map *map = map_at(task, slot);

	if (!users_claim(&map->users))
		return -EBUSY;
	map->address = address;
	map->offset_bytes = offset_bytes;
	map->length_bytes = whole_pages(length_bytes);
	map->left_bytes = map->length_bytes;
	map->hole_count = 0;
	map->advice = 0;
	__atomic_store_n(&map->users, 1, __ATOMIC_RELEASE);
	return 0;
}

static bool is_in_hole(const struct map *map, u64 offset_bytes, u64 length_bytes)
{
	u32 i;

	for (i = 0; i < map->hole_count; i++)
		if (offset_bytes < map->holes[i].offset_bytes + map->holes[i].length_bytes &&
		    map->holes[i].offset_bytes < offset_bytes + length_bytes)
			return true;
	return false;
}

static int check_range(const struct map *map, u64 offset_bytes, u64 length_bytes)
{
	if (offset_bytes < map->offset_bytes || length_bytes > map->length_bytes ||
	    offset_bytes - map->offset_bytes > map->length_bytes - length_bytes ||
	    is_in_hole(map, offset_bytes, length_bytes))
		return -EFAULT;
	return 0;
}

/**
 * map_get() - use a range of a mapping
 * @task: which uses it
 * @slot: from the program
 * @offset_bytes: where the range begins in the file
 * @length_bytes: its length
 * @map: out: the range stays mapped until map_put()
 * @address: out: where the range is
 *
 * Return: 0; -EFAULT if it is not mapped; -EINTR if the replay was cancelled.
 */
int map_get(struct worker_task *task, __le32 slot, u64 offset_bytes, u64 length_bytes,
	    struct map **map, char **address)
{
	struct map *m = map_at(task, slot);
	int err;

	while (!users_get(&m->users)) {
		if (!__atomic_load_n(&m->users, __ATOMIC_RELAXED))
			return -EFAULT;
		if (local_replay_is_cancelled(task->local))
			return -EINTR;
		sched_yield(); /* a piece of it is just being unmapped */
	}
	err = check_range(m, offset_bytes, length_bytes);
	if (err) {
		map_put(m);
		return err;
	}
	*map = m;
	*address = m->address + (offset_bytes - m->offset_bytes);
	return 0;
}

/**
 * map_put() - end the use begun by map_get()
 */
void map_put(struct map *map)
{
	__atomic_sub_fetch(&map->users, 1, __ATOMIC_RELEASE);
}

/* Alone in the slot. munmap(2) wants pages to begin with: so none is counted that it does not take. */
static int cut(struct map *map, u64 offset_bytes, u64 length_bytes)
{
	int err;

	if (length_bytes <= map->length_bytes) /* else it may be too large for that */
		length_bytes = whole_pages(length_bytes);
	err = check_range(map, offset_bytes, length_bytes);
	if (!err && map->hole_count == HOLES_MAX && map->left_bytes != length_bytes)
		err = -ENOSPC;
	if (!err && munmap(map->address + (offset_bytes - map->offset_bytes), length_bytes))
		err = -errno;
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
 * map_cut() - unmap a mapping, or a piece of it
 * @task: which does it
 * @slot: from the program; empty when no piece of the mapping is left
 * @offset_bytes: where the piece begins in the file
 * @length_bytes: its length; the last page of it goes as a whole
 *
 * Waits until no task uses any part of the mapping: an address that is free may be given to
 * something else at once.
 *
 * Return: 0; -EFAULT if the piece is not mapped; -ENOSPC if there are too many pieces; -EINTR if
 * the replay was cancelled; the result of munmap(2).
 */
int map_cut(struct worker_task *task, __le32 slot, u64 offset_bytes, u64 length_bytes)
{
	struct map *map = map_at(task, slot);
	u32 users = 1;
	int err;

	while (!__atomic_compare_exchange_n(&map->users, &users, SLOT_BUSY, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if (!users)
			return -EFAULT;
		if (local_replay_is_cancelled(task->local))
			return -EINTR;
		usleep(100);
		users = 1;
	}
	err = cut(map, offset_bytes, length_bytes);
	__atomic_store_n(&map->users, map->left_bytes ? 1 : 0, __ATOMIC_RELEASE);
	return err;
}
