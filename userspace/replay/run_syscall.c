// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_syscall.c - from the kind of an operation to the function that runs it.
 */
#include "core/replay/harmless.h"
#include "core/replay/substitute.h"
#include "run_syscall.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FUNCTION(kind, ...) [IOT_KIND_##kind] = run_##kind,

static const run_fn functions[] = {
	IOT_OPERATIONS(FUNCTION)
};

/* -- privileged files: core/replay/harmless.h ------------------------------------------------------------ */

/**
 * mode_to_make() - the mode that an operation is to make
 * @task: runs the operation
 * @mode: of the program, with the type of the object
 */
u32 mode_to_make(struct worker_task *task, u32 mode)
{
	u32 harmless = iot_harmless_mode(mode);

	if (mode == harmless || task->local->options->is_privileged)
		return mode;
	task->step.observed.is_harmless = true;
	return harmless;
}

/**
 * rdev_to_make() - the number that an operation is to give to a node
 * @task: runs the operation
 * @mode: with the type of the node
 * @rdev: of the program
 */
u64 rdev_to_make(struct worker_task *task, u32 mode, u64 rdev)
{
	u64 harmless = iot_harmless_rdev(mode, rdev);

	if (rdev == harmless || task->local->options->is_privileged)
		return rdev;
	task->step.observed.is_harmless = true;
	return harmless;
}

/**
 * value_to_set() - make the value of an attribute the one that an operation is to set
 * @task: runs the operation
 * @name: of the attribute
 * @value: of the program, a copy
 * @value_bytes: its length
 */
void value_to_set(struct worker_task *task, const char *name, u8 *value, size_t value_bytes)
{
	if (!task->local->options->is_privileged && iot_harmless_value(name, value, value_bytes))
		task->step.observed.is_harmless = true;
}

/* -- operations that the target does not have -------------------------------------------------------- */

static u64 size_of(struct worker_task *task, const struct iot_program_op *op)
{
	struct handle *handle;
	struct stat stat = {};
	int fd;

	if (le16_to_cpu(op->kind) != IOT_KIND_fallocate)
		return 0;
	fd = handle_get(task, op->handle, &handle);
	if (fd < 0)
		return 0;
	if (fstat(fd, &stat))
		stat.st_size = 0;
	handle_put(handle);
	return (u64)stat.st_size;
}

static s64 run_step(struct worker_task *task, const struct iot_program_op *step)
{
	u16 kind = le16_to_cpu(step->kind);

	return kind < ARRAY_SIZE(functions) ? functions[kind](task, step) : 0;
}

/* The target does not support the operation: run its substitutes. */
static s64 emulate(struct worker_task *task, const struct iot_program_op *op, s64 refused)
{
	u64 size_bytes = size_of(task, op);
	struct iot_program_op step;
	s64 result = refused;
	u32 n;

	for (n = 0; iot_substitute(op, size_bytes, n, &step); n++) {
		if (local_replay_is_cancelled(task->local)) /* there may be steps for hours */
			return -EINTR;
		result = run_step(task, &step);
		if (result >= 0 && !iot_substitute_is_retry(op, &step) &&
		    result != (s64)le64_to_cpu(step.result)) /* a signal that cancels shortens it, too */
			result = local_replay_is_cancelled(task->local) ? -EINTR : -EIO;
		if (result < 0)
			return result;
	}
	if (!n)
		return refused;
	task->step.refused = refused;
	return iot_substitute_is_retry(op, &step) ? result : (s64)le64_to_cpu(op->result);
}

/**
 * run_operation() - run an operation
 * @task: which does it
 * @op: verified, neither signal nor wait nor nop; its waits hold
 *
 * Return: the result of the system call; -ENOSYS if the operation is unknown.
 */
s64 run_operation(struct worker_task *task, const struct iot_program_op *op)
{
	u16 kind = le16_to_cpu(op->kind);
	s64 result = kind < ARRAY_SIZE(functions) && functions[kind] ? functions[kind](task, op) : -ENOSYS;

	/* A request keeps its handle only until it has ended: see run_complete(). */
	if (result < 0 && task->local->options->is_emulated && kind != IOT_KIND_complete &&
	    iot_is_unsupported(op, result))
		result = emulate(task, op, result);
	return result;
}

/* -- cached pages of an opened file ------------------------------------------- */

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

/* As the kernel has it, from 6.5 on. */
struct cache_range {
	u64 offset_bytes;
	u64 length_bytes; /* 0: to the end */
};

struct cache_counts {
	u64 cached_pages;
	u64 dirty_pages;
	u64 writeback_pages;
	u64 evicted_pages;
	u64 recently_evicted_pages;
};

/* The older way: map the file and ask, a piece at a time, with an answer in the task's memory. */
static u64 count_resident(struct worker_task *task, int fd, u64 size_bytes)
{
	u64 page_bytes = (u64)sysconf(_SC_PAGESIZE), at, count = 0, part, i;
	u8 *answer = memory_of(task)->sink;
	void *piece;

	for (at = 0; at < size_bytes; at += part) {
		part = size_bytes - at;
		if (part > IOT_WORKER_BUFFER_BYTES * page_bytes)
			part = IOT_WORKER_BUFFER_BYTES * page_bytes;
		piece = mmap(NULL, part, PROT_READ, MAP_SHARED, fd, (off_t)at);
		if (piece == MAP_FAILED)
			break;
		if (!mincore(piece, part, answer))
			for (i = 0; i * page_bytes < part; i++)
				count += answer[i] & 1;
		munmap(piece, part);
	}
	return count;
}

static u64 count_cached(struct worker_task *task, int fd, u64 size_bytes)
{
	struct cache_range all = {};
	struct cache_counts counts;

	if (!syscall(SYS_cachestat, fd, &all, &counts, 0))
		return counts.cached_pages;
	return errno == ENOSYS ? count_resident(task, fd, size_bytes) : 0;
}

/**
 * run_observe() - size and cached pages of an opened file, for its record
 * @task: which opened it
 * @op: the operation
 */
void run_observe(struct worker_task *task, const struct iot_program_op *op)
{
	struct handle *handle;
	struct stat stat;
	int fd;

	if (le16_to_cpu(op->kind) != IOT_KIND_open || task->step.result < 0 || !op->handle)
		return;
	fd = handle_get(task, op->handle, &handle);
	if (fd < 0)
		return;
	if (!fstat(fd, &stat)) {
		task->step.observed.size_bytes = (u64)stat.st_size;
		if (S_ISREG(stat.st_mode))
			task->step.observed.cached_pages = count_cached(task, fd, (u64)stat.st_size);
	}
	handle_put(handle);
}
