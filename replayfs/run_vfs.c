// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_vfs.c - from the kind of an operation to the function that runs it.
 */
#include <linux/fs.h>
#include <linux/sched/signal.h>

#include "core/replay/harmless.h"
#include "core/replay/substitute.h"
#include "handles.h"
#include "run_vfs.h"

#define FUNCTION(kind, ...) [IOT_KIND_##kind] = rfs_do_##kind,

static const rfs_run_fn functions[] = {
	IOT_WORKER_OPERATIONS(FUNCTION)
};

/* -- what would give rights: core/replay/harmless.h ----------------------------------------------- */

static bool is_privileged(const struct rfs_worker *worker)
{
	return worker->replay->setup.flags & IOT_REPLAY_PRIVILEGED;
}

/**
 * rfs_mode() - the mode with which an operation creates or changes an object
 * @worker: runs the operation
 * @mode: of the program, with the type of the object
 */
umode_t rfs_mode(struct rfs_worker *worker, umode_t mode)
{
	umode_t harmless = iot_harmless_mode(mode);

	if (likely(mode == harmless) || is_privileged(worker))
		return mode;
	worker->task->step.observed.is_harmless = true;
	return harmless;
}

/**
 * rfs_rdev() - the device number with which an operation creates a node
 * @worker: runs the operation
 * @mode: with the type of the node
 * @rdev: of the program
 */
u64 rfs_rdev(struct rfs_worker *worker, umode_t mode, u64 rdev)
{
	u64 harmless = iot_harmless_rdev(mode, rdev);

	if (rdev == harmless || is_privileged(worker))
		return rdev;
	worker->task->step.observed.is_harmless = true;
	return harmless;
}

/**
 * rfs_value() - change the value of an attribute to the one that an operation sets
 * @worker: runs the operation
 * @name: of the attribute
 * @value: of the program, a copy
 * @value_bytes: its length
 */
void rfs_value(struct rfs_worker *worker, const char *name, u8 *value, size_t value_bytes)
{
	if (!is_privileged(worker) && iot_harmless_value(name, value, value_bytes))
		worker->task->step.observed.is_harmless = true;
}

/* ---------------------------------------------------------------------------------------- */

/* The target may be exported by NFS: like its system call, an operation waits for clients without holding locks. */
static bool is_given_back(struct rfs_worker *worker, s64 *result)
{
	if (likely(!is_delegated(&worker->delegated)))
		return false;
	*result = break_deleg_wait(&worker->delegated);
	return !*result;
}

static s64 run_step(struct rfs_worker *worker, const struct iot_program_op *step)
{
	u16 kind = le16_to_cpu(step->kind);
	s64 result;

	if (kind >= ARRAY_SIZE(functions) || !functions[kind])
		return 0; /* signal, wait, nop */
	do {
		result = functions[kind](worker, step);
	} while (is_given_back(worker, &result));
	return result;
}

static u64 size_of(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct file *file;
	u64 size_bytes;

	if (le16_to_cpu(op->kind) != IOT_KIND_fallocate)
		return 0;
	file = rfs_handle_get(worker->replay, op->handle);
	if (IS_ERR(file))
		return 0;
	size_bytes = i_size_read(file_inode(file));
	rfs_handle_put(worker->replay, op->handle);
	return size_bytes;
}

/* The target does not support the operation: run its emulation. */
static noinline s64 emulate(struct rfs_worker *worker, const struct iot_program_op *op, s64 refused)
{
	u64 size_bytes = size_of(worker, op);
	struct iot_program_op step;
	s64 result = refused;
	u32 n;

	for (n = 0; iot_substitute(op, size_bytes, n, &step); n++) {
		if (unlikely(rfs_is_cancelled(worker->replay) || fatal_signal_pending(current)))
			return -EINTR; /* the steps may take hours */
		result = run_step(worker, &step);
		if (result >= 0 && !iot_substitute_is_retry(op, &step) &&
		    result != (s64)le64_to_cpu(step.result))
			result = -EIO;
		if (result < 0)
			return result;
	}
	if (!n)
		return refused;
	worker->task->step.refused = refused;
	return iot_substitute_is_retry(op, &step) ? result : (s64)le64_to_cpu(op->result);
}

/**
 * rfs_run_op() - run an operation
 * @worker: runs it
 * @op: verified; its waits hold
 *
 * Return: the same as the system call.
 */
s64 rfs_run_op(struct rfs_worker *worker, const struct iot_program_op *op)
{
	s64 result;

	if (worker->replay->session)
		worker->task->step.observed = (struct iot_observed){};
	worker->task->step.observed.is_harmless = false;
	result = run_step(worker, op);
	if (unlikely(result < 0) && (worker->replay->setup.flags & IOT_REPLAY_EMULATE) &&
	    iot_is_unsupported(op, result))
		result = emulate(worker, op, result);
	return result;
}
