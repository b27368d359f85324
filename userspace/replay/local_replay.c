// SPDX-License-Identifier: GPL-2.0-only
/*
 * local_replay.c - opens, starts, cancels and closes a replay whose workers are threads of this process.
 */
#include "local_replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/**
 * local_replay_fail() - a task cannot begin: the replay is to end
 * @err: why, a negative errno
 */
void local_replay_fail(struct local_replay *local, int err)
{
	int none = 0;

	__atomic_compare_exchange_n(&local->failed, &none, err, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	futex_wake(&local->left);
}

static int make_order(struct local_replay *local)
{
	const struct iot_program *program = local->program;
	u32 *progress = aligned_alloc(IOT_ORDER_STEP * sizeof(*progress),
				      (program->task_count + 1ul) * IOT_ORDER_STEP * sizeof(*progress));
	u32 *pending = calloc(program->latch_count + 1ul, sizeof(*pending)), i;

	local->tasks = aligned_alloc(64, (program->task_count + 1ul) * sizeof(*local->tasks));
	local->order.progress = progress; /* freed with the local, whatever happens */
	local->order.pending = pending;
	if (parks_init(local) || !progress || !pending || !local->tasks)
		return -ENOMEM;
	iot_order_init(&local->order, program, progress, IOT_ORDER_STEP, pending);
	for (i = 0; i < program->task_count; i++) {
		local->tasks[i] = (struct worker_task){ .local = local, .number = i };
		local->tasks[i].step.stats.task = le32_to_cpu(program->tasks[i].origin);
		local->task_count += local_replay_has_task(local, i) && !task_is_queue(program, i);
	}
	return local_replay_find_marks(local);
}

/**
 * local_replay_open() - allocate a replay by threads
 * @replay: which
 * @runner: functions of the engine
 * @context: of the engine, for them
 * @local: out: to be freed by local_replay_close(), also after an error
 *
 * Return: 0 or a negative errno.
 */
int local_replay_open(struct replay *replay, const struct op_runner *runner, void *context,
		struct local_replay **local)
{
	struct local_replay *p = calloc(1, sizeof(*p));
	int err;

	*local = p;
	if (!p)
		return replay_refuse(replay, "the tasks", -ENOMEM);
	p->replay = replay;
	p->options = replay->options;
	p->program = replay->options->program;
	p->runner = runner;
	p->context = context;
	thread_pool_init(p);
	err = make_order(p);
	return err ? replay_refuse(replay, "the tasks", err) : 0;
}

static void take_kick(int signal)
{
	(void)signal; /* it is enough that a system call was interrupted */
}

/* Operations of a task may raise these signals, which must become a result, not end the replay. */
static void take_signals(void)
{
	struct sigaction kick = { .sa_handler = take_kick };

	sigaction(WORKER_KICK, &kick, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/**
 * local_replay_set_up() - begin the trace of outcomes, start threads for tasks that wait for nothing
 *
 * Return: 0 or a negative errno.
 */
int local_replay_set_up(struct local_replay *local)
{
	int err = 0;

	if (local->options->output)
		err = outcomes_open(local->options, local->replay->last_fact, &local->outcomes);
	if (err)
		return replay_refuse(local->replay, local->options->output, err);
	take_signals();
	umask(0); /* the modes of a program have had the traced task's umask applied */
	return thread_pool_open(local);
}

static int get_failed(const struct local_replay *local)
{
	return __atomic_load_n(&local->failed, __ATOMIC_ACQUIRE);
}

static int refuse(struct local_replay *local)
{
	return replay_refuse(local->replay, "a task cannot begin", get_failed(local));
}

/**
 * local_replay_ready() - can all tasks go that wait for nothing?
 *
 * Return: 0 if so, or if one of them never can; 1 if not all of them are ready.
 */
int local_replay_ready(struct local_replay *local)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	if (get_failed(local) || thread_pool_is_ready(local))
		return 0;
	nanosleep(&pause, NULL);
	return 1;
}

/**
 * local_replay_start() - let all tasks go
 *
 * Return: 0; 1 if not all of them are ready; a negative errno.
 */
int local_replay_start(struct local_replay *local)
{
	if (local_replay_ready(local))
		return 1;
	if (get_failed(local))
		return refuse(local);
	thread_pool_start(local);
	local->start_ns = clock_now_ns();
	local->step = (struct iot_step_options){
		.program = local->program,
		.order = &local->order,
		.start_ns = local->start_ns,
		.compute_scale = local->options->compute_scale,
		.pause_scale = local->options->pause_scale,
		.is_paced = local->options->pace != IOT_PACE_FULL,
		.computes = iot_program_computes(local->program),
		.is_timed = true,
	};
	__atomic_store_n(&local->go, 1, __ATOMIC_RELEASE);
	futex_wake(&local->go);
	return 0;
}

/**
 * local_replay_wait() - wait until all tasks have ended
 * @local: started
 * @timeout_ms: how long
 *
 * Return: number of tasks that are left; a negative errno if one of them cannot begin.
 */
int local_replay_wait(struct local_replay *local, int timeout_ms)
{
	u64 until_ns = clock_now_ns() + (u64)timeout_ms * 1000000;
	u32 left;

	/* A task may sleep in a system call that ends on signals only, as the open of a pipe. */
	if (local_replay_is_cancelled(local))
		thread_pool_kick(local);
	while ((left = __atomic_load_n(&local->left, __ATOMIC_ACQUIRE)))
		if (get_failed(local) || clock_now_ns() >= until_ns ||
		    futex_sleep(&local->left, left, until_ns) == -EINTR)
			break;
	return get_failed(local) ? refuse(local) : (int)left;
}

/**
 * local_replay_status() - how far it is
 */
void local_replay_status(const struct local_replay *local, struct iot_replay_status *status)
{
	u32 i;

	*status = (struct iot_replay_status){
		.waiting = __atomic_load_n(&local->ready, __ATOMIC_RELAXED),
		.finished = __atomic_load_n(&local->finished, __ATOMIC_RELAXED),
		.start_ns = local->start_ns,
		.end_ns = __atomic_load_n(&local->end_ns, __ATOMIC_RELAXED),
		.workers = __atomic_load_n(&local->pool.created, __ATOMIC_RELAXED),
	};
	for (i = 0; i < local->program->task_count; i++) {
		const struct iot_rec_played *stats = &local->tasks[i].step.stats;

		status->ops += __atomic_load_n(&stats->ops, __ATOMIC_RELAXED);
		status->diverged += __atomic_load_n(&stats->diverged, __ATOMIC_RELAXED);
		status->unsupported += __atomic_load_n(&stats->unable, __ATOMIC_RELAXED);
		status->emulated += __atomic_load_n(&stats->emulated, __ATOMIC_RELAXED);
		status->harmless += __atomic_load_n(&stats->harmless, __ATOMIC_RELAXED);
	}
}

/**
 * local_replay_cancel() - all tasks end as soon as their operation has
 */
void local_replay_cancel(struct local_replay *local)
{
	__atomic_store_n(&local->is_cancelled, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&local->go, 1, __ATOMIC_RELEASE);
	futex_wake(&local->go);
	futex_wake(&local->is_cancelled);
	park_wake_all(local);
	thread_pool_cancel(local);
}

static void end_tasks(struct local_replay *local)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	if (__atomic_load_n(&local->left, __ATOMIC_ACQUIRE))
		local_replay_cancel(local);
	while (__atomic_load_n(&local->left, __ATOMIC_ACQUIRE)) {
		thread_pool_kick(local);
		nanosleep(&pause, NULL);
	}
}

/**
 * local_replay_close() - end the remaining tasks, finish the outcomes, free; NULL is allowed
 *
 * Return: 0; a negative errno if the outcomes are not complete.
 */
int local_replay_close(struct local_replay *local)
{
	int err = 0;

	if (!local)
		return 0;
	end_tasks(local);
	thread_pool_close(local);
	if (local->outcomes)
		err = outcomes_close(local->outcomes, &local->replay->result->lost);
	if (err)
		replay_refuse(local->replay, local->options->output, err);
	free(local->order.progress);
	free(local->order.pending);
	free(local->tasks);
	free(local->marked);
	parks_exit(local);
	free(local);
	return err;
}
