// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_syscall_maps.c - operations on mappings, all in the address space of this process.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run_syscall.h"

static int prot_of(u32 our)
{
	return (our & IOT_PROT_read ? PROT_READ : 0) | (our & IOT_PROT_write ? PROT_WRITE : 0) |
	       (our & IOT_PROT_exec ? PROT_EXEC : 0);
}

static int map_flags_of(u32 our)
{
	int sync = our & IOT_MAP_sync ? MAP_SYNC : 0;

	if (!(our & IOT_MAP_shared))
		return MAP_PRIVATE | sync;
	return sync ? MAP_SHARED_VALIDATE | sync : MAP_SHARED;
}

s64 run_map(struct worker_task *task, const struct iot_program_op *op)
{
	u64 offset_bytes = le64_to_cpu(op->offset_bytes), length_bytes = le64_to_cpu(op->length_bytes);
	struct handle *handle;
	int fd = handle_get(task, op->handle, &handle);
	void *address;
	s64 result;

	if (fd < 0)
		return fd;
	address = mmap(NULL, length_bytes, prot_of(le32_to_cpu(op->prot)),
		       map_flags_of(le32_to_cpu(op->flags)), fd, (off_t)offset_bytes);
	result = address == MAP_FAILED ? -errno : 0;
	handle_put(handle);
	if (result)
		return result;
	result = map_fill(task, op->map, address, offset_bytes, length_bytes);
	if (result)
		munmap(address, length_bytes);
	return result;
}

s64 run_unmap(struct worker_task *task, const struct iot_program_op *op)
{
	return map_cut(task, op->map, le64_to_cpu(op->offset_bytes), le64_to_cpu(op->length_bytes));
}

/* -- touches ------------------------------------------------------------------------------------------ */

/* Where a touch of this thread continues if it may not be; NULL while there is none. */
static __thread sigjmp_buf *way_out;

/* A page beyond the end of the file, or an access that the mapping does not allow. */
static void take_fault(int signal_number)
{
	if (way_out)
		siglongjmp(*way_out, 1);
	signal(signal_number, SIG_DFL); /* no touch: it happens again, and ends the process */
}

/**
 * take_faults() - a touch that is not possible is to be a result
 */
void take_faults(void)
{
	struct sigaction action = { .sa_handler = take_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
}

/* One byte is enough for the page to be there, and dirty if it is a write. */
static int touch(volatile char *address, bool is_write)
{
	sigjmp_buf here;

	if (sigsetjmp(here, 0)) {
		way_out = NULL;
		return -EFAULT;
	}
	way_out = &here;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (is_write)
		*address = 0;
	else
		(void)*address;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	way_out = NULL;
	return 0;
}

/*
 * The read-ahead that the program had set by advice. Nothing changes in a mapping with unmapped pieces:
 * others may be in their place.
 */
static void advise(struct map *map, u32 touch_flags)
{
	u32 advice = touch_flags & (IOT_TOUCH_random | IOT_TOUCH_sequential);

	if (__atomic_load_n(&map->advice, __ATOMIC_RELAXED) == advice || map->hole_count)
		return;
	__atomic_store_n(&map->advice, advice, __ATOMIC_RELAXED);
	madvise(map->address, map->length_bytes,
		advice & IOT_TOUCH_random     ? MADV_RANDOM :
		advice & IOT_TOUCH_sequential ? MADV_SEQUENTIAL :
						MADV_NORMAL);
}

s64 run_touch(struct worker_task *task, const struct iot_program_op *op)
{
	struct map *map;
	char *address;
	int err = map_get(task, op->map, le64_to_cpu(op->offset_bytes), 1, &map, &address);

	if (err)
		return err;
	advise(map, le32_to_cpu(op->flags));
	err = touch(address, le32_to_cpu(op->flags) & IOT_TOUCH_write);
	map_put(map);
	return err;
}

/* -- ranges ------------------------------------------------------------------------------------------- */

/* As much of a range as the mapping has; it is found by the page that the range begins in. */
static int range_get(struct worker_task *task, const struct iot_program_op *op, u64 *length_bytes,
		     struct map **map, char **address)
{
	u64 page_bytes = (u64)sysconf(_SC_PAGESIZE), offset_bytes = le64_to_cpu(op->offset_bytes);
	u64 begin_bytes = offset_bytes - offset_bytes % page_bytes, most;
	int err = map_get(task, op->map, begin_bytes, 1, map, address);

	if (err)
		return err;
	*length_bytes += offset_bytes - begin_bytes;
	most = (*map)->length_bytes - (begin_bytes - (*map)->offset_bytes);
	if (*length_bytes > most)
		*length_bytes = most;
	return 0;
}

s64 run_msync(struct worker_task *task, const struct iot_program_op *op)
{
	u64 length_bytes = le64_to_cpu(op->end_bytes) - le64_to_cpu(op->offset_bytes) + 1;
	struct map *map;
	char *address;
	s64 result = range_get(task, op, &length_bytes, &map, &address);

	if (result)
		return result;
	result = RESULT(msync(address, length_bytes, MS_SYNC));
	map_put(map);
	return result;
}

/* The record has POSIX_FADV_*, whose first four are in the order of these. */
s64 run_madvise(struct worker_task *task, const struct iot_program_op *op)
{
	static const int advices[] = { MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED };
	u64 length_bytes = le64_to_cpu(op->length_bytes);
	u32 advice = le32_to_cpu(op->advice);
	struct map *map;
	char *address;
	s64 result;

	if (advice >= ARRAY_SIZE(advices)) /* those that no madvise() leads to */
		return -EINVAL;
	result = range_get(task, op, &length_bytes, &map, &address);
	if (result)
		return result;
	result = RESULT(madvise(address, length_bytes, advices[advice]));
	map_put(map);
	return result;
}
