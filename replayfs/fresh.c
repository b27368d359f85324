// SPDX-License-Identifier: GPL-2.0-only
/*
 * fresh.c - memory that reads fill: as much of it is new to the worker as was new to the traced program. See
 * core/replay/fresh.h.
 */
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/pagemap.h>

#include "core/replay/fresh.h"
#include "replayfs.h"

#define MEMORY_PROT  (PROT_READ | PROT_WRITE)
#define MEMORY_FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

/* Return: the address, or a negative errno. @flags: MAP_FIXED replaces the pages at @address; or 0. */
static long map_fresh(unsigned long address, u64 bytes, unsigned long flags)
{
	return (long)vm_mmap(NULL, address, bytes, MEMORY_PROT, MEMORY_FLAGS | flags, 0);
}

/**
 * rfs_room_grow() - memory for a direct read
 * @room: of the read; its address changes if it is too small
 * @bytes: length of the read
 *
 * A file system with checksums of data compares them with the memory that the device has written to. In memory that two reads
 * share, or two parts of one, the data of the other one would look like damage.
 *
 * Return: 0; -ENOMEM; -EINTR if the caller is being killed.
 */
int rfs_room_grow(struct rfs_room *room, u64 bytes)
{
	long address;

	if (likely(bytes <= room->bytes))
		return 0;
	rfs_room_drop(room);
	bytes = PAGE_ALIGN(bytes);
	address = map_fresh(0, bytes, 0);
	if (IS_ERR_VALUE(address))
		return (int)address;
	room->address = (unsigned long)address;
	room->bytes = bytes;
	return 0;
}

/**
 * rfs_room_drop() - free the memory of direct reads
 * @room: its reads have ended; the caller is in its address space
 */
void rfs_room_drop(struct rfs_room *room)
{
	if (room->bytes)
		vm_munmap(room->address, room->bytes);
	room->bytes = 0;
}

static void drop_own(struct rfs_memory *memory)
{
	if (memory->own_bytes)
		vm_munmap(memory->own, memory->own_bytes);
	memory->own_bytes = 0;
}

static int make_own(struct rfs_memory *memory, u64 bytes)
{
	long address = map_fresh(0, bytes, 0);

	if (IS_ERR_VALUE(address))
		return (int)address;
	memory->own = (unsigned long)address;
	memory->own_bytes = bytes;
	return 0;
}

/* Pages that are in memory cost a few instructions each. */
static int touch(struct rfs_worker *worker, u64 bytes)
{
	struct rfs_memory *memory = worker->task->memory;

	if (bytes <= memory->touched_bytes)
		return 0;
	if (fault_in_writeable(worker->sink + memory->touched_bytes, bytes - memory->touched_bytes))
		return -EFAULT;
	memory->touched_bytes = bytes;
	return 0;
}

static int give_back(struct rfs_worker *worker, u64 bytes)
{
	long address = map_fresh((unsigned long)worker->sink, bytes, MAP_FIXED);

	return IS_ERR_VALUE(address) ? (int)address : 0;
}

/**
 * rfs_fresh_prepare() - memory for the read that follows
 * @worker: runs it, in the address space of its sink
 * @op: a read
 *
 * May sleep. Reads that were given pages back touch them again, so that the sink is in memory afterwards.
 *
 * Return: 0; -ENOMEM; -EFAULT, -EINVAL if the sink is no memory, or does not begin with a page.
 */
int rfs_fresh_prepare(struct rfs_worker *worker, const struct iot_program_op *op)
{
	bool is_direct = le32_to_cpu(op->flags) & IOT_RW_direct;
	struct iot_fresh fresh = iot_fresh_of(op, PAGE_SIZE);
	int err;

	drop_own(worker->task->memory);
	if (worker->replay->setup.data == IOT_DATA_DISCARD && !is_direct)
		return 0;
	if (fresh.own_bytes)
		return make_own(worker->task->memory, fresh.own_bytes);
	err = touch(worker, fresh.touched_bytes);
	return !err && fresh.fresh_bytes ? give_back(worker, fresh.fresh_bytes) : err;
}

/**
 * rfs_fresh_end() - the task has ended
 * @worker: that ran it, in its address space
 */
void rfs_fresh_end(struct rfs_worker *worker)
{
	drop_own(worker->task->memory);
	rfs_room_drop(&worker->task->memory->room);
}
