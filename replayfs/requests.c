// SPDX-License-Identifier: GPL-2.0-only
/*
 * requests.c - asynchronous reads and writes: a worker submits them, and the file system's
 * completion ends them.
 *
 * A request queue has no worker. Its task submits a request and goes on; the lower file system
 * calls back when it has ended, in whatever context, and that is the end of the request queue's
 * operation. A request queue has one request under way at most, so its control block is the request queue's.
 * The file system has taken hold of the pages of its memory by the time that the submission returns, as with io_submit(2). Reads that
 * bypass the page cache have memory of the request queue, because several of them may be under way; other requests have the worker's.
 */
#include <linux/fs.h>
#include <linux/uio.h>
#include <linux/vmalloc.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include "compat/vfs.h"
#include "handles.h"
#include "core/replay/substitute.h"
#include "run_vfs.h"
#include "transfer.h"
#include "window.h"

/**
 * struct rfs_request - the request of a request queue
 * @kiocb: the control block
 * @replay: the replay
 * @queue: index of the request queue
 * @submitted: requests submitted to the request queue so far; written by the worker of its task
 * @has_handle: it uses the handle of @op
 * @room: memory of its direct reads
 * @op: the request queue's operation for the request, copied because nothing can be read where the request ends
 * @result: of the request, for @work
 * @work: its end, if that may sleep
 */
struct rfs_request {
	struct kiocb kiocb;
	struct rfs_replay *replay;
	u32 queue;
	u32 submitted;
	bool has_handle;
	struct rfs_room room;
	struct iot_program_op op;
	s64 result;
	struct work_struct work;
};

static void request_publish(struct rfs_request *request, s64 result)
{
	struct rfs_replay *replay = request->replay;

	rfs_queue_end(replay, request->queue, &request->op, result);
	if (atomic_dec_and_test(&replay->under_way))
		wake_up_var(&replay->under_way);
}

static void request_put_and_publish(struct work_struct *work)
{
	struct rfs_request *request = container_of(work, struct rfs_request, work);

	rfs_handle_put(request->replay, request->op.handle);
	request_publish(request, request->result);
}

/*
 * Called by the worker if the request ended at once, else by its completion, which may not sleep.
 * A handle that was released while its request was under way is freed with it. Its locks are
 * released then, which may take a while and so happens in a context that may sleep.
 */
static void request_end(struct rfs_request *request, s64 result)
{
	bool has_handle = request->has_handle;

	request->has_handle = false;
	if (!has_handle || rfs_handle_put_unless_last(request->replay, request->op.handle)) {
		request_publish(request, result);
		return;
	}
	request->result = result;
	schedule_work(&request->work);
}

static bool is_queue(const struct iot_program *program, u32 task)
{
	return le32_to_cpu(program->tasks[task].flags) & IOT_TASK_QUEUE;
}

/**
 * rfs_requests_init() - room for the request of each request queue
 * @replay: its tasks are there
 *
 * Return: 0 or -ENOMEM.
 */
int rfs_requests_init(struct rfs_replay *replay)
{
	const struct iot_program *program = &replay->program;
	u32 queues = 0, i;

	for (i = 0; i < program->task_count; i++)
		queues += is_queue(program, i);
	replay->carried = program->task_count - queues;
	replay->requests = vzalloc(array_size(queues + 1, sizeof(*replay->requests)));
	if (!replay->requests)
		return -ENOMEM;
	for (i = 0, queues = 0; i < program->task_count; i++) {
		if (!is_queue(program, i))
			continue;
		replay->tasks[i].request = &replay->requests[queues++];
		replay->tasks[i].request->replay = replay;
		replay->tasks[i].request->queue = i;
		INIT_WORK(&replay->tasks[i].request->work, request_put_and_publish);
		replay->tasks[i].step.stats.task = le32_to_cpu(program->tasks[i].origin);
	}
	return 0;
}

/**
 * rfs_requests_exit() - wait for all requests under way
 * @replay: no more requests are submitted
 *
 * Not interruptible: the storage writes to memory of the replay until they have ended.
 */
void rfs_requests_exit(struct rfs_replay *replay)
{
	wait_var_event(&replay->under_way, !atomic_read(&replay->under_way));
	vfree(replay->requests);
	replay->requests = NULL;
}

static void request_complete(struct kiocb *kiocb, long result)
{
	if (kiocb->ki_flags & IOCB_WRITE)
		kiocb_end_write(kiocb);
	request_end(container_of(kiocb, struct rfs_request, kiocb), result);
}

static ssize_t request_begin_read(struct rfs_worker *worker, struct rfs_request *request, size_t length_bytes)
{
	struct kiocb *kiocb = &request->kiocb;
	struct file *file = kiocb->ki_filp;
	struct iov_iter iter;
	ssize_t err;

	if (!(file->f_mode & FMODE_READ))
		return -EBADF;
	if (!file->f_op->read_iter)
		return -EINVAL;
	err = rw_verify_area(READ, file, &kiocb->ki_pos, length_bytes);
	if (!err && kiocb->ki_flags & IOCB_DIRECT)
		err = rfs_iter_room(&request->room, &iter, length_bytes);
	else if (!err)
		rfs_iter_init(worker, &iter, kiocb, length_bytes);
	return err ?: file->f_op->read_iter(kiocb, &iter);
}

static ssize_t request_begin_write(struct rfs_worker *worker, struct kiocb *kiocb, size_t length_bytes)
{
	struct file *file = kiocb->ki_filp;
	struct iov_iter iter;
	ssize_t result;

	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (!file->f_op->write_iter)
		return -EINVAL;
	result = rw_verify_area(WRITE, file, &kiocb->ki_pos, length_bytes);
	if (result)
		return result;
	kiocb->ki_flags |= IOCB_WRITE;
	rfs_iter_init(worker, &iter, kiocb, length_bytes);
	kiocb_start_write(kiocb);
	result = file->f_op->write_iter(kiocb, &iter);
	if (result != -EIOCBQUEUED)
		kiocb_end_write(kiocb);
	return result;
}

/*
 * The request was queued in the trace, perhaps with IOCB_NOWAIT; here it is queued in any case. Its end is not
 * polled for.
 */
#define DROPPED_IOCB_FLAGS (IOCB_NOWAIT | IOCB_HIPRI)

static ssize_t request_try(struct rfs_worker *worker, struct rfs_request *request,
		   const struct iot_program_op *op, struct file *file)
{
	ssize_t result;

	request->kiocb = rfs_iocb(worker, op, file);
	result = rfs_iocb_check(&request->kiocb);
	if (result)
		return result;
	request->kiocb.ki_flags &= ~DROPPED_IOCB_FLAGS;
	request->kiocb.ki_complete = request_complete;
	get_file(file); /* the file system uses the file even after the request has ended */
	if (le32_to_cpu(op->flags) & IOT_RW_write)
		result = request_begin_write(worker, &request->kiocb, le64_to_cpu(op->length_bytes));
	else
		result = request_begin_read(worker, request, le64_to_cpu(op->length_bytes));
	fput(file);
	return result;
}

/* Refusals precede queueing. */
static ssize_t request_begin(struct rfs_worker *worker, struct rfs_request *request,
		     const struct iot_program_op *op)
{
	struct file *file = rfs_handle_get(worker->replay, op->handle);
	struct iot_program_op plain;
	ssize_t result;

	request->has_handle = !IS_ERR(file); /* which request_end() releases, also after an error */
	if (IS_ERR(file))
		return PTR_ERR(file);
	result = request_try(worker, request, op, file);
	if (likely(result >= 0 || result == -EIOCBQUEUED) ||
	    !(worker->replay->setup.flags & IOT_REPLAY_EMULATE) || !iot_is_unsupported(&request->op, result) ||
	    !iot_substitute(&request->op, 0, 0, &plain))
		return result;
	worker->replay->tasks[request->queue].step.refused = result;
	return request_try(worker, request, &plain, file);
}

static struct rfs_request *request_of(const struct rfs_replay *replay,
				      const struct iot_program_op *op)
{
	return replay->tasks[le32_to_cpu(op->queue) - 1].request;
}

/**
 * rfs_request_forget() - free the memory of a request queue
 * @replay: the replay
 * @queue: index of the request queue; its last request has ended, and the caller is in the address space of its task
 */
void rfs_request_forget(struct rfs_replay *replay, u32 queue)
{
	rfs_room_drop(&replay->tasks[queue].request->room);
}

/**
 * rfs_submit_wait() - wait until the request queue of a submit is free
 * @worker: submits
 * @op: the submit
 *
 * The previous request of the request queue must have ended, even if the program lacks a wait for it.
 *
 * Return: 0; -EINTR; -ECANCELED.
 */
int rfs_submit_wait(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct rfs_request *request = request_of(worker->replay, op);
	const struct iot_program_wait wait = {
		.task = cpu_to_le32(request->queue),
		.index = cpu_to_le32(request->submitted - 1),
	};
	const struct iot_program_op *complete;
	int err = request->submitted ? rfs_wait_for(worker->replay, &wait, 0) : 0;

	if (err)
		return err;
	complete = rfs_op(worker->replay, request->queue, request->submitted, &worker->task->step.stats);
	if (IS_ERR(complete))
		return PTR_ERR(complete);
	request->op = *complete;
	return 0;
}

s64 rfs_do_submit(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct rfs_replay *replay = worker->replay;
	struct rfs_request *request = request_of(replay, op);
	ssize_t result;

	request->submitted++;
	worker->task->step.observed.request = rfs_request_number(request->queue, request->submitted);
	atomic_inc(&replay->under_way);
	result = request_begin(worker, request, op);
	if (result != -EIOCBQUEUED)
		request_end(request, result);
	return 0;
}
