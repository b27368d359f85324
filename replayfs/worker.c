// SPDX-License-Identifier: GPL-2.0-only
/*
 * worker.c - a thread of the user runs tasks, an operation at a time.
 *
 * Before Linux 6.6 the last reference of a file is dropped on the way back to user mode, so a
 * worker goes there after an operation that may drop one, and returns at once. Such an
 * operation ends, for tasks that wait for it, when the worker is back.
 *
 * A replay at full pace without outcomes needs no times of operations, and does not read the clock.
 */
#include <linux/cred.h>
#include <linux/ioprio.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>

#include "compat/vfs.h"
#include "handles.h"
#include "run_vfs.h"
#include "compat/sched.h"
#include "core/replay/substitute.h"
#include "replayfs.h"
#include "window.h"

#define RESCHED_OPS 64

static u64 now_ns(void)
{
	return ktime_get_mono_fast_ns();
}

/* -- one operation: core/replay/step.h ------------------------------------------------------------- */

static u64 cpu_ns(void)
{
	return iot_current_cpu_ns();
}

static int spin_until(void *self, u64 until_ns)
{
	struct rfs_worker *worker = self;

	return rfs_spin_until(worker->replay, until_ns);
}

static int sleep_until(void *self, u64 until_ns)
{
	struct rfs_worker *worker = self;

	return rfs_sleep_until(worker->replay, until_ns);
}

static int prepare_memory(void *self, const struct iot_program_op *op)
{
	return rfs_fresh_prepare(self, op);
}

static int wait_at(void *self, const struct iot_program_op *op, u32 nth, const struct iot_program_wait **wait)
{
	struct rfs_worker *worker = self;

	*wait = rfs_wait(worker->replay, worker->task_index, le32_to_cpu(op->first_wait) + nth,
			 &worker->task->step.stats);
	return PTR_ERR_OR_ZERO(*wait);
}

static int wait_for(void *self, const struct iot_program_wait *wait, u64 until_ns)
{
	struct rfs_worker *worker = self;

	return rfs_wait_for(worker->replay, wait, until_ns);
}

static u64 record_op(void *self, const struct iot_program_op *op)
{
	struct rfs_worker *worker = self;

	return rfs_outcome(worker, op, worker->task->step.result);
}

static void signal_latch(void *self, u32 latch)
{
	struct rfs_worker *worker = self;

	rfs_latch_signal(worker->replay, latch, 1);
}

static void publish(void *self)
{
	struct rfs_worker *worker = self;

	rfs_move_on(worker->replay, worker->task_index);
}

/**
 * rfs_queue_end() - the request of a request queue has ended
 * @replay: the replay
 * @queue: index of the request queue, which has a request under way
 * @op: the request queue's operation
 * @result: of the request
 *
 * Callable in any context. The request queue may be given its next request before this returns.
 */
void rfs_queue_end(struct rfs_replay *replay, u32 queue, const struct iot_program_op *op, s64 result)
{
	struct rfs_task *task = &replay->tasks[queue];

	if (result < 0) /* the emulation failed, too */
		task->step.refused = 0;
	iot_step_count(&task->step, &replay->program, op, result);
	rfs_outcome_complete(replay, queue, op, result);
	task->step.refused = 0;
	task->step.index++;
	rfs_move_on(replay, queue);
}

/*
 * May the operation have dropped references whose release waits for the return to user mode? A stacked file system
 * drops references of lower files in its own release.
 */
static bool needs_return(const struct iot_program_op *op)
{
	return le16_to_cpu(op->kind) == IOT_KIND_release &&
	       (!IOT_RELEASES_AT_ONCE || task_work_pending(current));
}

/* Was the operation interrupted by a signal or by the end of the replay? It is tried again, like a system call. */
static bool is_interrupted(const struct rfs_replay *replay, s64 result)
{
	if (likely(result >= 0))
		return false;
	return (result == -EINTR || result == -ERESTARTSYS || result == -ERESTARTNOINTR ||
		result == -ERESTARTNOHAND || result == -ERESTART_RESTARTBLOCK) &&
	       (signal_pending(current) || rfs_is_cancelled(replay));
}

static int admit(void *self, const struct iot_program_op *op)
{
	struct rfs_worker *worker = self;
	struct iot_session *session = worker->replay->session;
	int err = 0;

	if (le16_to_cpu(op->kind) == IOT_KIND_submit)
		err = rfs_submit_wait(worker, op);
	return !err && session ? iot_session_backpressure(session) : err;
}

static int run_op(void *self, const struct iot_program_op *op)
{
	struct rfs_worker *worker = self;
	struct rfs_task *task = worker->task;

	if (worker->replay->is_timed) {
		iot_meter_begin(&task->meter);
		task->step.enter_ns = task->meter.enter_ns;
	}
	task->step.result = rfs_run_op(worker, op);
	if (is_interrupted(worker->replay, task->step.result))
		return -EINTR;
	return needs_return(op);
}

static const struct iot_step_calls calls = {
	.now_ns = now_ns,
	.prepare = prepare_memory,
	.sleep_until = sleep_until,
	.cpu_ns = cpu_ns,
	.spin_until = spin_until,
	.wait_at = wait_at,
	.wait_for = wait_for,
	.admit = admit,
	.run = run_op,
	.record = record_op,
	.signal = signal_latch,
	.publish = publish,
};

/* Return: 0; -EINTR; -ECANCELED. */
static int may_go_on(const struct rfs_replay *replay)
{
	if (rfs_is_cancelled(replay))
		return -ECANCELED;
	return signal_pending(current) ? -EINTR : 0;
}

/*
 * Called periodically: RCU needs a quiescent state of the thread even if no other task needs its CPU, and
 * its priority may have changed.
 */
static void pause_for_others(struct rfs_worker *worker)
{
	cond_resched();
	worker->ioprio = get_current_ioprio();
}

/* Operations that stand in memory one behind the other. Return: as iot_step_begin(). */
static int run_row(struct rfs_worker *worker, const struct iot_program_op *op, u32 count)
{
	const struct iot_step_options *options = &worker->replay->options;
	const struct iot_program_op *end = op + count;
	struct iot_step *step = &worker->task->step;
	int state;

	for (; op < end; op++) {
		if (!step->is_pending) {
			state = may_go_on(worker->replay) ?: iot_step_begin(worker, step, options, &calls, op);
			if (state)
				return state;
		}
		iot_step_end(worker, step, options, &calls, op);
		if (need_resched() || step->index % RESCHED_OPS == 0)
			pause_for_others(worker);
	}
	return 0;
}

static int run_ops(struct rfs_worker *worker)
{
	struct rfs_replay *replay = worker->replay;
	u32 count = le32_to_cpu(replay->program.tasks[worker->task_index].op_count);
	struct rfs_task *task = worker->task;
	const struct iot_program_op *op;
	int state = 0;

	worker->ioprio = get_current_ioprio();
	while (!state && task->step.index < count) {
		op = rfs_op(replay, worker->task_index, task->step.index, &task->step.stats);
		if (IS_ERR(op))
			return PTR_ERR(op);
		state = run_row(worker, op,
				rfs_ops_in_row(replay, worker->task_index, task->step.index));
	}
	return state;
}

/* The request queues of a task stand behind it. */
static bool is_queue_of(const struct rfs_replay *replay, u32 queue, u32 task)
{
	const struct iot_program *program = &replay->program;

	return queue < program->task_count &&
	       (le32_to_cpu(program->tasks[queue].flags) & IOT_TASK_QUEUE) &&
	       le32_to_cpu(program->tasks[queue].parent) == task;
}

/* A thread that ends waits for its requests, as at exit(2). */
static int wait_for_queues(struct rfs_worker *worker)
{
	struct rfs_replay *replay = worker->replay;
	u32 queue;
	int err = 0;

	for (queue = worker->task_index + 1; is_queue_of(replay, queue, worker->task_index) && !err;
	     queue++) {
		const struct iot_program_wait wait = {
			.task = cpu_to_le32(queue),
			.index = cpu_to_le32(le32_to_cpu(replay->program.tasks[queue].op_count) - 1),
		};

		err = rfs_wait_for(replay, &wait, 0);
	}
	return err;
}

/* Take the resources that a task needs as long as it runs. */
static int prepare(struct rfs_replay *replay, struct rfs_task *task,
		   const struct iot_program_task *from)
{
	int err = 0;

	task->memory = kvmalloc(sizeof(*task->memory), GFP_KERNEL);
	if (!task->memory)
		return -ENOMEM;
	task->memory->touched_bytes = 0;
	task->memory->own_bytes = 0;
	task->memory->room.bytes = 0;
	if (replay->setup.users == IOT_USERS_RECORDED)
		err = rfs_task_user_get(from, &task->cred);
	return err ? err : iot_task_play(le32_to_cpu(from->origin));
}

/**
 * rfs_task_forget() - free the resources of a task
 * @task: not being run; it may have no resources
 */
void rfs_task_forget(struct rfs_task *task)
{
	kvfree(task->memory);
	task->memory = NULL;
	if (task->cred)
		put_cred(task->cred);
	task->cred = NULL;
}

/* Run by a worker when it takes a task: become the task, and wait for the start. */
static int begin(struct rfs_worker *worker)
{
	struct rfs_replay *replay = worker->replay;
	struct rfs_task *task = worker->task;
	int err;

	if (!task->has_begun) {
		err = replay->windows ? rfs_window_begin(replay, worker->task_index, &task->step.stats) : 0;
		if (err)
			return err;
		err = prepare(replay, task, &replay->program.tasks[worker->task_index]);
		if (err) {
			rfs_task_forget(task);
			return err;
		}
		task->has_begun = true;
		task->step.stats.task = le32_to_cpu(replay->program.tasks[worker->task_index].origin);
		atomic_inc(&replay->waiting);
	}
	err = wait_event_interruptible(replay->go,
				       smp_load_acquire(&replay->is_started) || rfs_is_cancelled(replay));
	if (rfs_is_cancelled(replay))
		return -ECANCELED;
	if (err)
		return -EINTR;
	return 0;
}

static void finish(struct rfs_worker *worker)
{
	struct rfs_replay *replay = worker->replay;
	struct iot_rec_played stats = worker->task->step.stats;
	u32 queue;

	for (queue = worker->task_index + 1; is_queue_of(replay, queue, worker->task_index); queue++) {
		stats.diverged += replay->tasks[queue].step.stats.diverged;
		stats.unable += replay->tasks[queue].step.stats.unable;
		stats.emulated += replay->tasks[queue].step.stats.emulated;
		rfs_request_forget(replay, queue);
		if (replay->windows)
			rfs_window_end(replay, queue);
	}
	if (replay->windows)
		rfs_window_end(replay, worker->task_index);
	rfs_outcome_end(replay, &stats);
	rfs_fresh_end(worker);
	rfs_task_forget(worker->task);
	WRITE_ONCE(worker->task->is_taken, false);
	if (atomic_inc_return(&replay->finished) == replay->carried) {
		WRITE_ONCE(replay->end_ns, now_ns());
		rfs_windows_wake(replay);
	}
}

/* Return: 0 when the task has ended; 1 to call again; -EINTR; and errors that end a worker. */
static int worker_run_task(struct rfs_worker *worker)
{
	const struct cred *own = NULL;
	int state = begin(worker);

	if (state)
		return state;
	if (worker->task->cred)
		own = override_creds(worker->task->cred);
	state = run_ops(worker);
	if (!state)
		state = wait_for_queues(worker);
	if (own)
		revert_creds(own);
	if (!state)
		finish(worker);
	return state;
}

static int worker_run_claimed(struct rfs_worker *worker)
{
	int state = -EINVAL;

	if (test_and_set_bit_lock(0, &worker->task->is_claimed))
		return -EBUSY;
	if (READ_ONCE(worker->task->is_taken))
		state = worker_run_task(worker);
	clear_bit_unlock(0, &worker->task->is_claimed);
	return state;
}

static int check_run(struct rfs_replay *replay, const struct iot_replay_run *run)
{
	if (smp_load_acquire(&replay->state) < RFS_READY)
		return -EINVAL;
	if (run->task < IOT_WORKER_IDLE &&
	    (run->task >= replay->program.task_count || replay->tasks[run->task].request))
		return -EINVAL;
	if (!access_ok((void __user *)run->sink, IOT_WORKER_BUFFER_BYTES) ||
	    !access_ok((void __user *)run->source, IOT_WORKER_BUFFER_BYTES))
		return -EFAULT;
	return 0;
}

/**
 * rfs_worker_run() - current runs tasks until none is left, or it must go to user mode
 * @replay: ready or started
 * @run: from user space; out: the task with which to call again
 *
 * Return: 0 when there is no task left for it; 1 to call again; -EINTR, and it may call again;
 * -ECANCELED; -EBUSY if another thread runs the task; -EINVAL, -EFAULT, -ENOMEM.
 */
int rfs_worker_run(struct rfs_replay *replay, struct iot_replay_run *run)
{
	struct rfs_worker worker = {
		.replay = replay,
		.sink = (void __user *)run->sink,
		.source = (void __user *)run->source,
	};
	struct rfs_pool *pool;
	bool is_new;
	int state = check_run(replay, run);

	if (state)
		return state;
	pool = rfs_pool_of(replay, run->space);
	if (!pool)
		return -EINVAL;
	for (;;) {
		is_new = run->task == IOT_WORKER_NEW;
		if (run->task >= IOT_WORKER_IDLE) {
			run->task = IOT_WORKER_IDLE;
			state = rfs_pool_take(replay, pool, is_new, &run->task);
			if (state <= 0)
				return state;
		}
		worker.task_index = run->task;
		worker.task = &replay->tasks[run->task];
		state = worker.task->pool == pool ? worker_run_claimed(&worker) : -EINVAL;
		if (state)
			return state;
		run->task = IOT_WORKER_IDLE;
	}
}

/**
 * rfs_start() - let all workers go
 * @replay: ready
 *
 * Return: 0; -EAGAIN while a task that may start at once has no worker, or a pool has too few; -EINVAL.
 */
int rfs_start(struct rfs_replay *replay)
{
	if (replay->state != RFS_READY)
		return -EINVAL;
	if (atomic_read(&replay->waiting) < replay->roots || rfs_pools_are_short(replay))
		return -EAGAIN;
	rfs_pools_start(replay);
	replay->state = RFS_STARTED;
	replay->start_ns = now_ns();
	replay->options = (struct iot_step_options){
		.program = &replay->program,
		.order = &replay->order,
		.start_ns = replay->start_ns,
		.compute_scale = replay->setup.compute_scale,
		.pause_scale = replay->setup.pause_scale,
		.is_paced = replay->setup.pace != IOT_PACE_FULL,
		.computes = iot_program_computes(&replay->program),
		.is_timed = replay->is_timed,
	};
	smp_store_release(&replay->is_started, true);
	wake_up_all(&replay->go);
	return 0;
}

/**
 * rfs_cancel() - all workers leave as soon as their operation has ended
 * @replay: in any state; it stays cancelled
 *
 * Takes no lock and does not wait for the workers.
 */
void rfs_cancel(struct rfs_replay *replay)
{
	WRITE_ONCE(replay->is_cancelled, true);
	wake_up_all(&replay->go);
	wake_up_all(&replay->feeders);
	if (smp_load_acquire(&replay->state) < RFS_LOADED)
		return;
	rfs_wake_all(replay);
	rfs_pools_wake(replay);
}

/**
 * rfs_status() - the progress of a replay
 * @replay: in any state
 * @status: out: the numbers are of slightly different moments, because the workers continue meanwhile
 */
void rfs_status(struct rfs_replay *replay, struct iot_replay_status *status)
{
	u32 i;

	*status = (struct iot_replay_status){
		.waiting = atomic_read(&replay->waiting),
		.finished = atomic_read(&replay->finished),
		.start_ns = READ_ONCE(replay->start_ns),
		.end_ns = READ_ONCE(replay->end_ns),
		.roots = READ_ONCE(replay->roots),
	};
	if (smp_load_acquire(&replay->state) < RFS_LOADED)
		return;
	status->workers = rfs_pools_workers(replay);
	for (i = 0; i < replay->program.task_count; i++) {
		status->ops += READ_ONCE(replay->tasks[i].step.stats.ops);
		status->diverged += READ_ONCE(replay->tasks[i].step.stats.diverged);
		status->unsupported += READ_ONCE(replay->tasks[i].step.stats.unable);
		status->emulated += READ_ONCE(replay->tasks[i].step.stats.emulated);
		status->harmless += READ_ONCE(replay->tasks[i].step.stats.harmless);
		status->stalls += READ_ONCE(replay->tasks[i].step.stats.stalls);
	}
}
