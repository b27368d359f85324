// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_syscall_fresh.c - memory that reads fill: as much of it is new to the thread as was new to the traced program. See
 * core/replay/fresh.h.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/replay/fresh.h"
#include "run_syscall.h"

static void drop_own(struct task_memory *memory)
{
	if (memory->own_bytes)
		munmap(memory->own, memory->own_bytes);
	memory->own_bytes = 0;
}

static void *map_fresh(u64 bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void drop_room(struct task_memory *memory)
{
	if (memory->room_bytes)
		munmap(memory->room, memory->room_bytes);
	memory->room_bytes = 0;
}

/**
 * run_room_grow() - memory for a long direct read
 * @memory: of its thread
 * @bytes: length of the read
 *
 * A file system with checksums of data compares them with the memory that the device has written to. In memory that two parts of a
 * read share, the data of the other one would look like damage.
 *
 * Return: the length of memory->room, at least @bytes; 0 if there is no memory.
 */
u64 run_room_grow(struct task_memory *memory, u64 bytes)
{
	if (bytes <= memory->room_bytes)
		return memory->room_bytes;
	drop_room(memory);
	memory->room = map_fresh(bytes);
	memory->room_bytes = memory->room == MAP_FAILED ? 0 : bytes;
	return memory->room_bytes;
}

static int make_own(struct task_memory *memory, u64 bytes)
{
	void *own = map_fresh(bytes);

	if (own == MAP_FAILED)
		return -errno;
	memory->own = own;
	memory->own_bytes = bytes;
	return 0;
}

static void touch(struct task_memory *memory, u64 bytes, u64 page_bytes)
{
	for (; memory->touched_bytes < bytes; memory->touched_bytes += page_bytes)
		*(volatile u8 *)(memory->sink + memory->touched_bytes) = 0;
}

/**
 * run_prepare() - memory for the read that follows
 * @task: of the read, in its thread
 * @op: a read
 *
 * Return: 0; -ENOMEM.
 */
int run_prepare(struct worker_task *task, const struct iot_program_op *op)
{
	u64 page_bytes = (u64)sysconf(_SC_PAGESIZE);
	struct iot_fresh fresh = iot_fresh_of(op, page_bytes);
	struct task_memory *memory = memory_of(task);

	drop_own(memory);
	if (fresh.own_bytes)
		return make_own(memory, fresh.own_bytes);
	touch(memory, fresh.touched_bytes, page_bytes);
	return fresh.fresh_bytes && madvise(memory->sink, fresh.fresh_bytes, MADV_DONTNEED) ? -errno : 0;
}

/**
 * run_end() - free the memory that only some reads of a task use
 * @task: has ended, in its thread
 */
void run_end(struct worker_task *task)
{
	drop_own(memory_of(task));
	drop_room(memory_of(task));
}
