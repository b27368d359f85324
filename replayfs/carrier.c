// SPDX-License-Identifier: GPL-2.0-only
/*
 * carrier.c - a thread of the user performs a task: wait, think, do, tell, and again.
 *
 * The last reference of a file is dropped on the way back to user mode, so a carrier
 * goes there after an operation that may drop one, and comes back at once. Such an
 * operation ends, for those who wait for it, when the carrier is back.
 *
 * Wake-ups: who waits for a task sleeps on its `moved`, who waits for a hub on its
 * `opened`. A carrier that ends an operation looks whether anybody sleeps there; the
 * barrier between its store of the progress and that look pairs with the one in
 * prepare_to_wait(), between the sleeper's going to the queue and its look at the
 * progress.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "handles.h"
#include "replayfs.h"

static bool is_cancelled(const struct rfs_replay *replay)
{
	return READ_ONCE(replay->is_cancelled);
}

static u64 now_ns(void)
{
	return ktime_get_mono_fast_ns();
}

static wait_queue_head_t *queue_of(struct rfs_replay *replay, const struct iot_program_wait *wait)
{
	u32 task = le32_to_cpu(wait->task);

	if (task == IOT_WAIT_HUB)
		return &replay->hubs[le32_to_cpu(wait->index)].opened;
	return &replay->tasks[task].moved;
}

/* A carrier that waits: it is woken when its wait holds, not whenever a task moves on. */
struct waiter {
	struct wait_queue_entry entry;
	struct rfs_replay *replay;
	const struct iot_program_wait *wait;
};

static bool is_over(const struct waiter *waiter)
{
	return iot_order_holds(&waiter->replay->order, waiter->wait) ||
	       is_cancelled(waiter->replay);
}

static int wake_if_over(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	if (!is_over(container_of(entry, struct waiter, entry)))
		return 0;
	return autoremove_wake_function(entry, mode, flags, key);
}

/**
 * rfs_wait_for() - sleep until a wait holds
 * @replay: started
 * @wait: one of its program's, or one that could be
 *
 * Return: 0 when it holds; -EINTR; -ECANCELED.
 */
int rfs_wait_for(struct rfs_replay *replay, const struct iot_program_wait *wait)
{
	struct waiter waiter = { .replay = replay, .wait = wait };
	wait_queue_head_t *queue = queue_of(replay, wait);
	int err = 0;

	init_wait(&waiter.entry);
	waiter.entry.func = wake_if_over;
	for (;;) {
		prepare_to_wait(queue, &waiter.entry, TASK_INTERRUPTIBLE);
		if (is_over(&waiter))
			break;
		if (signal_pending(current)) {
			err = -EINTR;
			break;
		}
		schedule();
	}
	finish_wait(queue, &waiter.entry);
	return is_cancelled(replay) ? -ECANCELED : err;
}

/* Return: 0 when all waits of the operation hold; -EINTR; -ECANCELED. */
static int wait_for_order(struct rfs_carrier *carrier, const struct iot_program_op *op)
{
	struct rfs_replay *replay = carrier->replay;
	const struct iot_program_wait *wait;
	u32 next = 0;
	u64 begin_ns;
	int err = 0;

	wait = iot_order_blocker(&replay->order, carrier->task_index, op, &next);
	if (likely(!wait))
		return 0;
	begin_ns = now_ns();
	do {
		err = rfs_wait_for(replay, wait);
		if (!err)
			wait = iot_order_blocker(&replay->order, carrier->task_index, op, &next);
	} while (wait && !err);
	carrier->task->stats.order_ns += now_ns() - begin_ns;
	return err;
}

static void wake(wait_queue_head_t *queue)
{
	smp_mb(); /* see above */
	if (waitqueue_active(queue))
		wake_up_all(queue);
}

/* Tell those who wait that a task has got on. */
static void move_on(struct rfs_replay *replay, u32 index)
{
	struct rfs_task *task = &replay->tasks[index];

	iot_store_release(&replay->order.progress[index], task->index);
	wake(&task->moved);
}

static void arrive(struct rfs_replay *replay, const struct iot_program_op *op)
{
	u32 hub = le32_to_cpu(op->handle);
	atomic_t *pending;

	if (le16_to_cpu(op->kind) != IOT_PLAY_arrive || !hub)
		return;
	pending = (atomic_t *)&replay->order.pending[hub - 1];
	if (atomic_dec_and_test(pending))
		wake(&replay->hubs[hub - 1].opened);
}

/* The operation has ended: tell the trace, then those who wait. */
static void end_op(struct rfs_carrier *carrier, const struct iot_program_op *op)
{
	struct rfs_task *task = carrier->task;
	bool is_io = le16_to_cpu(op->kind) < IOT_PLAY_arrive;

	task->prev_end_ns = now_ns();
	if (is_io) {
		task->stats.io_ns += task->prev_end_ns - task->meter.enter_ns;
		task->stats.diverged += task->result != (s64)le64_to_cpu(op->result);
		task->stats.ops++;
		rfs_outcome(carrier, op, task->result);
	}
	task->is_pending = false;
	task->has_thought = false;
	task->index++;
	arrive(carrier->replay, op);
	move_on(carrier->replay, carrier->task_index);
}

/**
 * rfs_lane_end() - the request of a lane has ended
 * @replay: the replay
 * @lane: index of the lane, which has a request under way
 * @result: of the request
 *
 * Callable in any context. The lane may be given its next request before this returns.
 */
void rfs_lane_end(struct rfs_replay *replay, u32 lane, s64 result)
{
	const struct iot_program_op *op = rfs_task_op(replay, lane);
	struct rfs_task *task = &replay->tasks[lane];

	task->stats.diverged += result != (s64)le64_to_cpu(op->result);
	rfs_outcome_complete(replay, lane, op, result);
	task->index++;
	move_on(replay, lane);
}

/* Does it drop references that only a return to user mode really drops? */
static bool needs_return(const struct iot_program_op *op)
{
	return le16_to_cpu(op->kind) == IOT_KIND_release;
}

static bool is_interrupted(s64 result)
{
	return result == -EINTR || result == -ERESTARTSYS || result == -ERESTARTNOINTR ||
	       result == -ERESTARTNOHAND || result == -ERESTART_RESTARTBLOCK;
}

/* Return: 0 to go on; 1 to come back from user mode; -EINTR; -ECANCELED. */
static int do_op(struct rfs_carrier *carrier, const struct iot_program_op *op)
{
	struct rfs_replay *replay = carrier->replay;
	struct rfs_task *task = carrier->task;
	int err = rfs_pace(carrier, op);

	if (!err)
		err = wait_for_order(carrier, op);
	if (!err && replay->session)
		err = iot_session_throttle(replay->session);
	if (err)
		return err;
	iot_meter_begin(&task->meter);
	task->result = rfs_perform(carrier, op);
	if (unlikely(is_interrupted(task->result) && signal_pending(current)))
		return -EINTR; /* not done: it is tried again, as a system call would be */
	if (needs_return(op)) {
		task->is_pending = true;
		return 1;
	}
	end_op(carrier, op);
	return 0;
}

static int run_ops(struct rfs_carrier *carrier)
{
	struct rfs_replay *replay = carrier->replay;
	const struct iot_program_task *traced = &replay->program.tasks[carrier->task_index];
	struct rfs_task *task = carrier->task;
	int state = 0;

	if (task->is_pending)
		end_op(carrier, rfs_task_op(replay, carrier->task_index));
	while (!state && task->index < le32_to_cpu(traced->op_count)) {
		if (is_cancelled(replay))
			return -ECANCELED;
		if (signal_pending(current))
			return -EINTR;
		state = do_op(carrier, rfs_task_op(replay, carrier->task_index));
		cond_resched();
	}
	return state;
}

/* The lanes of a task stand behind it. */
static bool is_lane_of(const struct rfs_replay *replay, u32 lane, u32 task)
{
	const struct iot_program *program = &replay->program;

	return lane < program->task_count &&
	       (le32_to_cpu(program->tasks[lane].flags) & IOT_TASK_LANE) &&
	       le32_to_cpu(program->tasks[lane].parent) == task;
}

/* A thread that ends waits for its requests, as at exit(2). */
static int wait_for_lanes(struct rfs_carrier *carrier)
{
	struct rfs_replay *replay = carrier->replay;
	u32 lane;
	int err = 0;

	for (lane = carrier->task_index + 1; is_lane_of(replay, lane, carrier->task_index) && !err;
	     lane++) {
		const struct iot_program_wait wait = {
			.task = cpu_to_le32(lane),
			.index = cpu_to_le32(le32_to_cpu(replay->program.tasks[lane].op_count) - 1),
		};

		err = rfs_wait_for(replay, &wait);
	}
	return err;
}

/* The first time in: become the task, and wait for the start with all others. */
static int begin(struct rfs_carrier *carrier)
{
	struct rfs_replay *replay = carrier->replay;
	struct rfs_task *task = carrier->task;
	int err;

	if (!task->has_begun) {
		task->memory = kvmalloc(sizeof(*task->memory), GFP_KERNEL);
		if (!task->memory)
			return -ENOMEM;
		err = iot_task_play(le32_to_cpu(
			replay->program.tasks[carrier->task_index].origin));
		if (err) {
			kvfree(task->memory);
			task->memory = NULL;
			return err;
		}
		task->has_begun = true;
		task->stats.task = le32_to_cpu(replay->program.tasks[carrier->task_index].origin);
		atomic_inc(&replay->waiting);
	}
	err = wait_event_interruptible(replay->go,
				       READ_ONCE(replay->is_started) || is_cancelled(replay));
	if (is_cancelled(replay))
		return -ECANCELED;
	if (err)
		return -EINTR;
	if (!task->prev_end_ns)
		task->prev_end_ns = replay->start_ns;
	return 0;
}

static void finish(struct rfs_carrier *carrier)
{
	struct rfs_replay *replay = carrier->replay;
	struct iot_rec_played stats = carrier->task->stats;
	u32 lane;

	for (lane = carrier->task_index + 1; is_lane_of(replay, lane, carrier->task_index); lane++)
		stats.diverged += replay->tasks[lane].stats.diverged;
	rfs_outcome_end(replay, &stats);
	kvfree(carrier->task->memory);
	carrier->task->memory = NULL;
	if (atomic_inc_return(&replay->finished) == replay->carriers)
		WRITE_ONCE(replay->end_ns, now_ns());
}

static int carrier_run(struct rfs_carrier *carrier)
{
	int state = begin(carrier);

	if (!state)
		state = run_ops(carrier);
	if (!state)
		state = wait_for_lanes(carrier);
	if (!state)
		finish(carrier);
	return state;
}

static int check_run(struct rfs_replay *replay, const struct iot_replay_run *run)
{
	if (smp_load_acquire(&replay->state) < RFS_READY)
		return -EINVAL;
	if (run->task >= replay->program.task_count || replay->tasks[run->task].request ||
	    run->reserved)
		return -EINVAL;
	if (!access_ok((void __user *)run->sink, IOT_CARRIER_BUFFER_BYTES) ||
	    !access_ok((void __user *)run->source, IOT_CARRIER_BUFFER_BYTES))
		return -EFAULT;
	return 0;
}

/**
 * rfs_carrier_run() - current performs a task until it ends, or must go to user mode
 * @replay: ready or started
 * @run: from user space
 *
 * Return: 0 when the task has ended; 1 to come back; -EINTR, and it may come back;
 * -ECANCELED; -EBUSY if another thread performs the task; -EINVAL, -EFAULT, -ENOMEM.
 */
int rfs_carrier_run(struct rfs_replay *replay, const struct iot_replay_run *run)
{
	struct rfs_carrier carrier = {
		.replay = replay,
		.task_index = run->task,
		.sink = (void __user *)run->sink,
		.source = (void __user *)run->source,
	};
	int state = check_run(replay, run);

	if (state)
		return state;
	carrier.task = &replay->tasks[run->task];
	if (test_and_set_bit_lock(0, &carrier.task->is_claimed))
		return -EBUSY;
	state = carrier_run(&carrier);
	clear_bit_unlock(0, &carrier.task->is_claimed);
	return state;
}

/**
 * rfs_start() - let all carriers go
 * @replay: ready
 *
 * Return: 0; -EAGAIN while not every task has its carrier; -EINVAL.
 */
int rfs_start(struct rfs_replay *replay)
{
	if (replay->state != RFS_READY)
		return -EINVAL;
	if (atomic_read(&replay->waiting) < replay->carriers)
		return -EAGAIN;
	replay->state = RFS_STARTED;
	replay->start_ns = now_ns();
	WRITE_ONCE(replay->is_started, true);
	wake_up_all(&replay->go);
	return 0;
}

/**
 * rfs_cancel() - all carriers leave as soon as their operation has ended
 * @replay: in any state; it stays cancelled
 *
 * Takes no lock and does not wait for the carriers.
 */
void rfs_cancel(struct rfs_replay *replay)
{
	u32 i;

	WRITE_ONCE(replay->is_cancelled, true);
	wake_up_all(&replay->go);
	if (smp_load_acquire(&replay->state) < RFS_LOADED)
		return;
	for (i = 0; i < replay->program.task_count; i++)
		wake_up_all(&replay->tasks[i].moved);
	for (i = 0; i < replay->program.hub_count; i++)
		wake_up_all(&replay->hubs[i].opened);
}

/**
 * rfs_status() - how far it is
 * @replay: in any state
 * @status: out: the numbers are those of slightly different moments, because the carriers are
 *	not stopped for them
 */
void rfs_status(struct rfs_replay *replay, struct iot_replay_status *status)
{
	u32 i;

	*status = (struct iot_replay_status){
		.waiting = atomic_read(&replay->waiting),
		.finished = atomic_read(&replay->finished),
		.start_ns = READ_ONCE(replay->start_ns),
		.end_ns = READ_ONCE(replay->end_ns),
	};
	if (smp_load_acquire(&replay->state) < RFS_LOADED)
		return;
	for (i = 0; i < replay->program.task_count; i++) {
		status->ops += READ_ONCE(replay->tasks[i].stats.ops);
		status->diverged += READ_ONCE(replay->tasks[i].stats.diverged);
		status->stalls += READ_ONCE(replay->tasks[i].stats.stalls);
	}
}
