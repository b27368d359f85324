// SPDX-License-Identifier: GPL-2.0-only
/*
 * thread_worker.c - a thread runs the operations of a task, one after the other.
 */
#include "local_replay.h"

/* -- one operation: core/replay/step.h -------------------------------------------------------- */

static int wait_at(void *worker, const struct iot_program_op *op, u32 nth, const struct iot_program_wait **wait)
{
	const struct worker_task *task = worker;
	const struct iot_program *program = task->local->program;

	*wait = program->waits + le64_to_cpu(program->tasks[task->number].first_wait) +
		le32_to_cpu(op->first_wait) + nth;
	return 0;
}

static int wait_for(void *worker, const struct iot_program_wait *wait, u64 until_ns)
{
	return park_wait(worker, wait, until_ns);
}

static void signal_latch(void *worker, u32 latch)
{
	const struct worker_task *task = worker;
	struct local_replay *local = task->local;

	if (!__atomic_sub_fetch(&local->order.pending[latch], 1, __ATOMIC_ACQ_REL))
		park_wake_opened(local, latch);
}

static void publish(void *worker)
{
	struct worker_task *task = worker;

	iot_store_release(iot_order_progress(&task->local->order, task->number), task->step.index);
	park_wake_moved(task);
	park_wake_agent(task);
}

/* The request before it in the request queue must have ended, whatever the program's waits say. */
static int wait_for_queue(struct worker_task *task, const struct worker_task *queue, u32 requests)
{
	const struct iot_program_wait wait = {
		.task = cpu_to_le32(queue->number),
		.index = cpu_to_le32(requests - 1),
	};

	return requests ? park_wait(task, &wait, 0) : 0;
}

static int prepare_request(struct worker_task *task, const struct iot_program_op *op, u64 *number)
{
	struct worker_task *queue;
	int err;

	*number = 0;
	if (le16_to_cpu(op->kind) != IOT_KIND_submit)
		return 0;
	queue = &task->local->tasks[le32_to_cpu(op->queue) - 1];
	err = wait_for_queue(task, queue, queue->submitted);
	if (!err)
		*number = queue_request_number(queue, ++queue->submitted);
	return err;
}

static int prepare(void *worker, const struct iot_program_op *op)
{
	struct worker_task *task = worker;
	const struct op_runner *runner = task->local->runner;

	return runner->prepare ? runner->prepare(task, op) : 0;
}

static int admit(void *worker, const struct iot_program_op *op)
{
	struct worker_task *task = worker;

	return prepare_request(task, op, &task->request) ? -ECANCELED : 0;
}

static int run_op(void *worker, const struct iot_program_op *op)
{
	struct worker_task *task = worker;
	struct iot_step *step = &task->step;

	do { /* a system call that a signal interrupted is repeated; some locks have this result in the trace */
		if (local_replay_is_cancelled(task->local))
			return -ECANCELED;
		step->observed = (struct iot_observed){ .request = task->request };
		step->refused = 0;
		step->enter_ns = clock_now_ns();
		step->result = task->local->runner->run(task, op);
	} while (step->result == -EINTR && !iot_is_lock_in_vain(op));
	step->prev_end_ns = clock_now_ns();
	return 0;
}

static u64 record_op(void *worker, const struct iot_program_op *op)
{
	struct worker_task *task = worker;
	const struct op_runner *runner = task->local->runner;

	if (task->local->outcomes) {
		if (runner->observe)
			runner->observe(task, op);
		outcome_op(task, op);
	}
	return task->step.prev_end_ns;
}

static const struct iot_step_calls calls = {
	.now_ns = clock_now_ns,
	.prepare = prepare,
	.sleep_until = worker_sleep_until,
	.cpu_ns = worker_cpu_ns,
	.spin_until = worker_spin_until,
	.wait_at = wait_at,
	.wait_for = wait_for,
	.admit = admit,
	.run = run_op,
	.record = record_op,
	.signal = signal_latch,
	.publish = publish,
};

/* -- one task --------------------------------------------------------------------------------- */

static int run_ops(struct worker_task *task)
{
	struct local_replay *local = task->local;
	const struct iot_program_task *traced = &local->program->tasks[task->number];
	const struct iot_program_op *ops = local->program->ops + le64_to_cpu(traced->first_op), *op;
	u32 count = le32_to_cpu(traced->op_count);
	int err = 0;

	while (!err && task->step.index < count) {
		op = &ops[task->step.index];
		err = local_replay_is_cancelled(local) ? -ECANCELED :
						    iot_step_begin(task, &task->step, &local->step, &calls, op);
		if (!err)
			iot_step_end(task, &task->step, &local->step, &calls, op);
	}
	return err;
}

/* A task that ends waits for its requests, as at exit(2). */
static int wait_for_queues(struct worker_task *task)
{
	struct local_replay *local = task->local;
	u32 i;
	int err = 0;

	for (i = task->number + 1; task_is_queue_of(local, i, task->number) && !err; i++)
		err = wait_for_queue(task, &local->tasks[i],
				    le32_to_cpu(local->program->tasks[i].op_count));
	return err;
}

static void add_queue(struct iot_rec_played *stats, const struct iot_rec_played *queue)
{
	stats->diverged += __atomic_load_n(&queue->diverged, __ATOMIC_RELAXED);
	stats->unable += __atomic_load_n(&queue->unable, __ATOMIC_RELAXED);
	stats->emulated += __atomic_load_n(&queue->emulated, __ATOMIC_RELAXED);
}

static void finish(struct worker_task *task)
{
	struct local_replay *local = task->local;
	struct iot_rec_played stats = task->step.stats;
	u32 i;

	for (i = task->number + 1; task_is_queue_of(local, i, task->number); i++)
		add_queue(&stats, &local->tasks[i].step.stats);
	outcome_played(task, &stats);
	if (__atomic_add_fetch(&local->finished, 1, __ATOMIC_RELAXED) == local->task_count)
		__atomic_store_n(&local->end_ns, clock_now_ns(), __ATOMIC_RELAXED);
}

/**
 * worker_wait_for_start() - all tasks without waits have a thread before the first of them runs
 *
 * Return: do they go?
 */
bool worker_wait_for_start(struct local_replay *local)
{
	__atomic_add_fetch(&local->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&local->go, __ATOMIC_ACQUIRE))
		futex_sleep(&local->go, 0, 0);
	return !local_replay_is_cancelled(local);
}

/**
 * worker_run_task() - run a task, unless the replay is cancelled
 * @task: which has its memory; the replay has started
 */
void worker_run_task(struct worker_task *task)
{
	struct local_replay *local = task->local;

	if (!run_ops(task) && !task_is_queue(local->program, task->number) && !wait_for_queues(task))
		finish(task);
	outcome_flush(task);
}
