// SPDX-License-Identifier: GPL-2.0-only
/*
 * player.c - threads perform tasks, an operation at a time.
 */
#include "core/replay/substitute.h"
#include "player.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- one operation: core/replay/step.h -------------------------------------------------------- */

static int wait_at(void *worker, const struct iot_program_op *op, u32 nth, const struct iot_program_wait **wait)
{
	const struct player_task *task = worker;
	const struct iot_program *program = task->player->program;

	*wait = program->waits + le64_to_cpu(program->tasks[task->number].first_wait) +
		le32_to_cpu(op->first_wait) + nth;
	return 0;
}

static int wait_for(void *worker, const struct iot_program_wait *wait)
{
	return park_wait(worker, wait);
}

static void signal_latch(void *worker, u32 latch)
{
	const struct player_task *task = worker;
	struct player *player = task->player;

	if (!__atomic_sub_fetch(&player->order.pending[latch], 1, __ATOMIC_ACQ_REL))
		park_wake_opened(player, latch);
}

static void publish(void *worker)
{
	struct player_task *task = worker;

	iot_store_release(iot_order_progress(&task->player->order, task->number), task->step.index);
	park_wake_moved(task);
	park_wake_agent(task);
}

/* The request before it in the request queue must have ended, whatever the program's waits say. */
static int wait_for_queue(struct player_task *task, const struct player_task *queue, u32 requests)
{
	const struct iot_program_wait wait = {
		.task = cpu_to_le32(queue->number),
		.index = cpu_to_le32(requests - 1),
	};

	return requests ? park_wait(task, &wait) : 0;
}

static int prepare_request(struct player_task *task, const struct iot_program_op *op, u64 *number)
{
	struct player_task *queue;
	int err;

	*number = 0;
	if (le16_to_cpu(op->kind) != IOT_KIND_submit)
		return 0;
	queue = &task->player->tasks[le32_to_cpu(op->queue) - 1];
	err = wait_for_queue(task, queue, queue->submitted);
	if (!err)
		*number = player_request_number(queue, ++queue->submitted);
	return err;
}

static int admit(void *worker, const struct iot_program_op *op)
{
	struct player_task *task = worker;

	return prepare_request(task, op, &task->request) ? -ECANCELED : 0;
}

static int run_op(void *worker, const struct iot_program_op *op)
{
	struct player_task *task = worker;
	struct iot_step *step = &task->step;

	do { /* a system call that a signal interrupted is repeated; some locks have this result in the trace */
		if (player_is_cancelled(task->player))
			return -ECANCELED;
		step->found = (struct iot_found){ .request = task->request };
		step->refused = 0;
		step->enter_ns = clock_now_ns();
		step->result = task->player->performer->perform(task, op);
	} while (step->result == -EINTR && !iot_is_lock_in_vain(op));
	step->prev_end_ns = clock_now_ns();
	return 0;
}

static u64 record_op(void *worker, const struct iot_program_op *op)
{
	struct player_task *task = worker;
	const struct performer *performer = task->player->performer;

	if (task->player->outcomes) {
		if (performer->look)
			performer->look(task, op);
		outcome_op(task, op);
	}
	return task->step.prev_end_ns;
}

static const struct iot_step_calls calls = {
	.now_ns = clock_now_ns,
	.sleep_until = player_sleep_until,
	.wait_at = wait_at,
	.wait_for = wait_for,
	.admit = admit,
	.run = run_op,
	.record = record_op,
	.signal = signal_latch,
	.publish = publish,
};

/* -- one task --------------------------------------------------------------------------------- */

static int run_ops(struct player_task *task)
{
	struct player *player = task->player;
	const struct iot_program_task *traced = &player->program->tasks[task->number];
	const struct iot_program_op *ops = player->program->ops + le64_to_cpu(traced->first_op), *op;
	u32 count = le32_to_cpu(traced->op_count);
	int err = 0;

	while (!err && task->step.index < count) {
		op = &ops[task->step.index];
		err = player_is_cancelled(player) ? -ECANCELED :
						    iot_step_begin(task, &task->step, &player->step, &calls, op);
		if (!err)
			iot_step_end(task, &task->step, &player->step, &calls, op);
	}
	return err;
}

/* A task that ends waits for its requests, as at exit(2). */
static int wait_for_queues(struct player_task *task)
{
	struct player *player = task->player;
	u32 i;
	int err = 0;

	for (i = task->number + 1; player_is_queue_of(player, i, task->number) && !err; i++)
		err = wait_for_queue(task, &player->tasks[i],
				    le32_to_cpu(player->program->tasks[i].op_count));
	return err;
}

static void add_queue(struct iot_rec_played *stats, const struct iot_rec_played *queue)
{
	stats->diverged += __atomic_load_n(&queue->diverged, __ATOMIC_RELAXED);
	stats->unable += __atomic_load_n(&queue->unable, __ATOMIC_RELAXED);
	stats->emulated += __atomic_load_n(&queue->emulated, __ATOMIC_RELAXED);
}

static void finish(struct player_task *task)
{
	struct player *player = task->player;
	struct iot_rec_played stats = task->step.stats;
	u32 i;

	for (i = task->number + 1; player_is_queue_of(player, i, task->number); i++)
		add_queue(&stats, &player->tasks[i].step.stats);
	outcome_played(task, &stats);
	if (__atomic_add_fetch(&player->finished, 1, __ATOMIC_RELAXED) == player->task_count)
		__atomic_store_n(&player->end_ns, clock_now_ns(), __ATOMIC_RELAXED);
}

/**
 * player_wait_for_go() - all tasks that wait for nothing have a thread before the first of them goes
 *
 * Return: do they go?
 */
bool player_wait_for_go(struct player *player)
{
	__atomic_add_fetch(&player->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&player->go, __ATOMIC_ACQUIRE))
		futex_sleep(&player->go, 0, 0);
	return !player_is_cancelled(player);
}

/**
 * player_perform() - perform a task, unless the replay is cancelled
 * @task: which has its memory; the replay has started
 */
void player_perform(struct player_task *task)
{
	struct player *player = task->player;

	if (!run_ops(task) && !player_is_queue(player->program, task->number) && !wait_for_queues(task))
		finish(task);
	outcome_flush(task);
}

/**
 * player_fail() - a task cannot begin: the replay is to end
 * @err: why, a negative errno
 */
void player_fail(struct player *player, int err)
{
	int none = 0;

	__atomic_compare_exchange_n(&player->failed, &none, err, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	futex_wake(&player->left);
}

/* -- all of them ------------------------------------------------------------------------------ */

static int make_order(struct player *player)
{
	const struct iot_program *program = player->program;
	u32 *progress = aligned_alloc(IOT_ORDER_STEP * sizeof(*progress),
				      (program->task_count + 1ul) * IOT_ORDER_STEP * sizeof(*progress));
	u32 *pending = calloc(program->latch_count + 1ul, sizeof(*pending)), i;

	player->tasks = aligned_alloc(64, (program->task_count + 1ul) * sizeof(*player->tasks));
	player->order.progress = progress; /* freed with the player, whatever happens */
	player->order.pending = pending;
	if (parks_init(player) || !progress || !pending || !player->tasks)
		return -ENOMEM;
	iot_order_init(&player->order, program, progress, IOT_ORDER_STEP, pending);
	for (i = 0; i < program->task_count; i++) {
		player->tasks[i] = (struct player_task){ .player = player, .number = i };
		player->tasks[i].step.stats.task = le32_to_cpu(program->tasks[i].origin);
		player->task_count += player_is_here(player, i) && !player_is_queue(program, i);
	}
	return player_share(player);
}

/**
 * player_open() - make what is needed to play a program
 * @replay: which
 * @performer: functions of the engine
 * @context: of the engine, for them
 * @player: out: to be given to player_close(), also after an error
 *
 * Return: 0 or a negative errno.
 */
int player_open(struct replay *replay, const struct performer *performer, void *context,
		struct player **player)
{
	struct player *p = calloc(1, sizeof(*p));
	int err;

	*player = p;
	if (!p)
		return replay_refuse(replay, "the tasks", -ENOMEM);
	p->replay = replay;
	p->options = replay->options;
	p->program = replay->options->program;
	p->performer = performer;
	p->context = context;
	pool_init(p);
	err = make_order(p);
	return err ? replay_refuse(replay, "the tasks", err) : 0;
}

static void take_kick(int signal)
{
	(void)signal; /* it is enough that a system call was interrupted */
}

/* What a task does may raise these; it is to be a result, not the end of the replay. */
static void take_signals(void)
{
	struct sigaction kick = { .sa_handler = take_kick };

	sigaction(PLAYER_KICK, &kick, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/**
 * player_set_up() - begin the trace of outcomes, start threads for tasks that wait for nothing
 *
 * Return: 0 or a negative errno.
 */
int player_set_up(struct player *player)
{
	int err = 0;

	if (player->options->output)
		err = outcomes_open(player->options, player->replay->last_fact, &player->outcomes);
	if (err)
		return replay_refuse(player->replay, player->options->output, err);
	take_signals();
	umask(0); /* the modes of a program have had the traced task's umask applied */
	return pool_open(player);
}

static int get_failed(const struct player *player)
{
	return __atomic_load_n(&player->failed, __ATOMIC_ACQUIRE);
}

static int refuse(struct player *player)
{
	return replay_refuse(player->replay, "a task cannot begin", get_failed(player));
}

/**
 * player_ready() - can all tasks go that wait for nothing?
 *
 * Return: 0 if so, or if one of them never can; 1 if not all of them are ready.
 */
int player_ready(struct player *player)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	if (get_failed(player) || pool_is_ready(player))
		return 0;
	nanosleep(&pause, NULL);
	return 1;
}

/**
 * player_start() - let all tasks go
 *
 * Return: 0; 1 if not all of them are ready; a negative errno.
 */
int player_start(struct player *player)
{
	if (player_ready(player))
		return 1;
	if (get_failed(player))
		return refuse(player);
	player->start_ns = clock_now_ns();
	player->step = (struct iot_step_options){
		.program = player->program,
		.order = &player->order,
		.start_ns = player->start_ns,
		.compute_scale = player->options->compute_scale,
		.pause_scale = player->options->pause_scale,
		.is_paced = player->options->pace != IOT_PACE_FULL,
		.is_timed = true,
	};
	__atomic_store_n(&player->go, 1, __ATOMIC_RELEASE);
	futex_wake(&player->go);
	return 0;
}

/**
 * player_wait() - wait until all tasks have ended
 * @player: started
 * @timeout_ms: how long
 *
 * Return: number of tasks that are left; a negative errno if one of them cannot begin.
 */
int player_wait(struct player *player, int timeout_ms)
{
	u64 until_ns = clock_now_ns() + (u64)timeout_ms * 1000000;
	u32 left;

	/* A task may sleep in a system call that ends on signals only, as the open of a pipe. */
	if (player_is_cancelled(player))
		pool_kick(player);
	while ((left = __atomic_load_n(&player->left, __ATOMIC_ACQUIRE)))
		if (get_failed(player) || clock_now_ns() >= until_ns ||
		    futex_sleep(&player->left, left, until_ns) == -EINTR)
			break;
	return get_failed(player) ? refuse(player) : (int)left;
}

/**
 * player_status() - how far it is
 */
void player_status(const struct player *player, struct iot_replay_status *status)
{
	u32 i;

	*status = (struct iot_replay_status){
		.waiting = __atomic_load_n(&player->ready, __ATOMIC_RELAXED),
		.finished = __atomic_load_n(&player->finished, __ATOMIC_RELAXED),
		.start_ns = player->start_ns,
		.end_ns = __atomic_load_n(&player->end_ns, __ATOMIC_RELAXED),
		.workers = __atomic_load_n(&player->pool.made, __ATOMIC_RELAXED),
	};
	for (i = 0; i < player->program->task_count; i++) {
		const struct iot_rec_played *stats = &player->tasks[i].step.stats;

		status->ops += __atomic_load_n(&stats->ops, __ATOMIC_RELAXED);
		status->diverged += __atomic_load_n(&stats->diverged, __ATOMIC_RELAXED);
		status->unable += __atomic_load_n(&stats->unable, __ATOMIC_RELAXED);
		status->emulated += __atomic_load_n(&stats->emulated, __ATOMIC_RELAXED);
		status->harmless += __atomic_load_n(&stats->harmless, __ATOMIC_RELAXED);
	}
}

/**
 * player_cancel() - all tasks end as soon as their operation has
 */
void player_cancel(struct player *player)
{
	__atomic_store_n(&player->is_cancelled, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&player->go, 1, __ATOMIC_RELEASE);
	futex_wake(&player->go);
	futex_wake(&player->is_cancelled);
	park_wake_everybody(player);
	pool_cancel(player);
}

static void end_tasks(struct player *player)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	if (__atomic_load_n(&player->left, __ATOMIC_ACQUIRE))
		player_cancel(player);
	while (__atomic_load_n(&player->left, __ATOMIC_ACQUIRE)) {
		pool_kick(player);
		nanosleep(&pause, NULL);
	}
}

/**
 * player_close() - end what is left, finish the outcomes, free; NULL is allowed
 *
 * Return: 0; a negative errno if the outcomes are not complete.
 */
int player_close(struct player *player)
{
	int err = 0;

	if (!player)
		return 0;
	end_tasks(player);
	pool_close(player);
	if (player->outcomes)
		err = outcomes_close(player->outcomes, &player->replay->result->lost);
	if (err)
		replay_refuse(player->replay, player->options->output, err);
	free(player->order.progress);
	free(player->order.pending);
	free(player->tasks);
	free(player->marked);
	parks_exit(player);
	free(player);
	return err;
}
