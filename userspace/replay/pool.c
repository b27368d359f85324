// SPDX-License-Identifier: GPL-2.0-only
/*
 * pool.c - which thread performs which task, as replayfs/pool.c has it for workers.
 *
 * How many threads there are is decided by core/replay/pool.h. Until a task needs one, it stands in the park of what
 * it waits for. The task that moves on there checks whether it may begin now, and puts it into the list of those; an
 * idle thread takes it. A keeper creates the threads.
 *
 * A thread leaves when no task is left that has not begun, or when it cannot be another task any more; then the
 * keeper joins it.
 *
 * What a task leaves behind in its thread: its memory, which no operation reads before it has
 * written it; and its user, for which see struct performer. All else that system calls change here
 * belongs to the process.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "player.h"

#define THREAD_STACK_BYTES (256 << 10)
struct player_thread {
	struct player_thread *next;
	struct player *player;
	pthread_t thread;
	void *memory;
	bool has_ended;
};

/* -- tasks that have not begun, with the lock --------------------------------------------------- */

static const struct iot_program_op *first_op(const struct player_task *task)
{
	const struct iot_program *program = task->player->program;

	return program->ops + le64_to_cpu(program->tasks[task->number].first_op);
}

static const struct iot_program_wait *blocker(struct player_task *task)
{
	const struct player *player = task->player;

	if (!player->program->tasks[task->number].op_count)
		return NULL;
	return iot_order_blocker(&player->order, task->number, first_op(task), &task->start_next);
}

/* What it waits for in a park. */
static const struct iot_program_wait *wait_of(const struct player_task *task)
{
	const struct iot_program *program = task->player->program;

	return program->waits + le64_to_cpu(program->tasks[task->number].first_wait) +
	       le32_to_cpu(first_op(task)->first_wait) + task->start_next;
}

static void count_waiter(struct player_task *task, u32 change)
{
	u32 other = le32_to_cpu(wait_of(task)->task);

	if (other != IOT_WAIT_LATCH)
		__atomic_fetch_add(&task->player->tasks[other].waiters, change, __ATOMIC_SEQ_CST);
}

static void stand(struct player_task *task, struct park *park)
{
	count_waiter(task, 1);
	task->next = park->beginners;
	__atomic_store_n(&park->beginners, task, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* see struct park */
}

/* Return: may it begin? If not, it stands in the park of what it waits for. */
static bool may_begin(struct player_task *task)
{
	const struct iot_program_wait *wait;
	struct park *park;

	while ((wait = blocker(task))) {
		park = park_of(task->player, wait);
		stand(task, park);
		if (!iot_order_holds(&task->player->order, wait))
			return false;
		__atomic_store_n(&park->beginners, task->next, __ATOMIC_RELAXED); /* it was the first */
		count_waiter(task, (u32)-1);
	}
	return true;
}

static void add_ready(struct player_task *task)
{
	struct pool *pool = &task->player->pool;

	task->step.prev_end_ns = clock_now_ns();
	task->next = NULL;
	if (pool->first)
		pool->last->next = task;
	else
		pool->first = task;
	pool->last = task;
	pool->numbers.ready++;
	pthread_cond_signal(&pool->idlers);
	if (iot_pool_is_short(&pool->numbers))
		pthread_cond_signal(&pool->keeper_calls);
}

static u32 count_queues(const struct player *player, u32 task)
{
	u32 count = 0;

	while (player_is_queue_of(player, task + 1 + count, task))
		count++;
	return count;
}

static struct player_task *take_ready(struct player *player)
{
	struct pool *pool = &player->pool;
	struct player_task *task = pool->first;

	pool->first = task->next;
	pool->numbers.ready--;
	pool->numbers.unstarted--;
	if (player_is_queue(player->program, task->number))
		pool->numbers.coming--;
	else
		pool->numbers.coming += count_queues(player, task->number);
	return task;
}

/**
 * pool_begin() - something has happened that tasks may have waited for to begin
 * @player: set up
 * @park: where they would stand
 */
void pool_begin(struct player *player, struct park *park)
{
	struct player_task *task, *next;

	pthread_mutex_lock(&player->pool.lock);
	task = park->beginners;
	__atomic_store_n(&park->beginners, NULL, __ATOMIC_RELAXED);
	for (; task; task = next) {
		next = task->next;
		count_waiter(task, (u32)-1);
		if (may_begin(task))
			add_ready(task);
	}
	pthread_mutex_unlock(&player->pool.lock);
}

/* -- a thread ----------------------------------------------------------------------------------- */

/* Return: a task that may begin; NULL if none is going to come. */
static struct player_task *take(struct player *player, bool is_new)
{
	struct pool *pool = &player->pool;
	struct player_task *task = NULL;

	pthread_mutex_lock(&pool->lock);
	pool->numbers.called -= is_new;
	pool->numbers.idle++;
	while (!pool->first && pool->numbers.unstarted)
		pthread_cond_wait(&pool->idlers, &pool->lock);
	pool->numbers.idle--;
	if (pool->numbers.unstarted)
		task = take_ready(player);
	if (!pool->numbers.unstarted)
		pthread_cond_broadcast(&pool->idlers);
	if (!pool->numbers.unstarted || iot_pool_is_short(&pool->numbers))
		pthread_cond_signal(&pool->keeper_calls);
	pthread_mutex_unlock(&pool->lock);
	return task;
}

/* Return: can the thread perform another one? */
static bool perform(struct player_thread *thread, struct player_task *task)
{
	struct player *player = thread->player;
	int state = 0;

	task->memory = thread->memory;
	if (player->performer->begin)
		state = player->performer->begin(task);
	if (state < 0)
		player_fail(player, state);
	else if (player_wait_for_go(player))
		player_perform(task);
	task->memory = NULL;
	if (!__atomic_sub_fetch(&player->left, 1, __ATOMIC_RELEASE))
		futex_wake(&player->left);
	return !state;
}

static void *run_thread(void *argument)
{
	struct player_thread *thread = argument;
	struct player *player = thread->player;
	struct player_task *task;
	bool is_new = true;

	prctl(PR_SET_TIMERSLACK, 1UL); /* think time is to end when it ends */
	do {
		task = take(player, is_new);
		is_new = false;
	} while (task && perform(thread, task));
	pthread_mutex_lock(&player->pool.lock);
	thread->has_ended = true;
	player->pool.ended++;
	pthread_cond_signal(&player->pool.keeper_calls);
	pthread_mutex_unlock(&player->pool.lock);
	return NULL;
}

/* -- the keeper ----------------------------------------------------------------------------------- */

static void thread_free(struct player_thread *thread)
{
	if (thread->memory)
		munmap(thread->memory, thread->player->performer->memory_bytes);
	free(thread);
}

static int get_memory(struct player_thread *thread)
{
	size_t bytes = thread->player->performer->memory_bytes;
	void *memory;

	if (!bytes)
		return 0;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		      -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	thread->memory = memory;
	return 0;
}

static int make_thread(struct player *player, struct player_thread **made)
{
	struct player_thread *thread = calloc(1, sizeof(*thread));
	pthread_attr_t attr;
	int err;

	if (!thread)
		return -ENOMEM;
	thread->player = player;
	err = get_memory(thread);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
	if (!err)
		err = -pthread_create(&thread->thread, &attr, run_thread, thread);
	pthread_attr_destroy(&attr);
	if (err)
		thread_free(thread);
	else
		*made = thread;
	return err;
}

/* With the lock, which is given up meanwhile. Return: 0 or a negative errno. */
static int add_thread(struct player *player)
{
	struct pool *pool = &player->pool;
	struct player_thread *thread;
	int err;

	pool->numbers.called++;
	pthread_mutex_unlock(&pool->lock);
	err = make_thread(player, &thread);
	pthread_mutex_lock(&pool->lock);
	if (err) {
		pool->numbers.called--;
		return err;
	}
	thread->next = pool->threads;
	pool->threads = thread;
	__atomic_store_n(&pool->made, pool->made + 1, __ATOMIC_RELAXED);
	return 0;
}

/* With the lock, which a thread does not take any more when it has ended. */
static void join_ended(struct pool *pool)
{
	struct player_thread **link = &pool->threads, *thread;

	while ((thread = *link)) {
		if (!thread->has_ended) {
			link = &thread->next;
			continue;
		}
		*link = thread->next;
		pool->ended--;
		pthread_join(thread->thread, NULL);
		thread_free(thread);
	}
}

static void *keep(void *argument)
{
	struct player *player = argument;
	struct pool *pool = &player->pool;
	int err = 0;

	pthread_mutex_lock(&pool->lock);
	while (pool->numbers.unstarted) {
		if (pool->ended) {
			join_ended(pool);
		} else if (!err && iot_pool_is_short(&pool->numbers)) {
			err = add_thread(player);
			if (err)
				player_fail(player, err);
		} else {
			pthread_cond_wait(&pool->keeper_calls, &pool->lock);
		}
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* -- all of them ---------------------------------------------------------------------------------- */

/* Signals that end a replay are for the thread that started the others. */
static void block_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, PLAYER_KICK);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGSEGV);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

static int start_keeper(struct player *player)
{
	sigset_t before;
	int err;

	block_signals(&before); /* of the threads that it makes, too */
	err = -pthread_create(&player->pool.keeper, NULL, keep, player);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	player->pool.has_keeper = !err;
	return err;
}

/**
 * pool_init() - there are no threads
 */
void pool_init(struct player *player)
{
	pthread_mutex_init(&player->pool.lock, NULL);
	pthread_cond_init(&player->pool.idlers, NULL);
	pthread_cond_init(&player->pool.keeper_calls, NULL);
}

/**
 * pool_open() - let each task stand where it waits, and make threads for those that do not wait
 * @player: otherwise set up; outcomes and signals, too
 *
 * Return: 0 or a negative errno.
 */
int pool_open(struct player *player)
{
	struct pool *pool = &player->pool;
	u32 i;
	int err = 0;

	for (i = 0; i < player->program->task_count; i++) {
		if (!player_is_here(player, i))
			continue;
		pool->numbers.unstarted++;
		if (may_begin(&player->tasks[i])) {
			pool->roots++;
			add_ready(&player->tasks[i]);
		}
	}
	player->left = pool->numbers.unstarted;
	if (pool->numbers.unstarted)
		err = start_keeper(player);
	if (err)
		pool_cancel(player);
	return err ? replay_refuse(player->replay, "threads", err) : 0;
}

/**
 * pool_is_ready() - have all tasks that wait for nothing a thread, and are there some more?
 * @player: set up
 */
bool pool_is_ready(struct player *player)
{
	bool is_ready;

	pthread_mutex_lock(&player->pool.lock);
	is_ready = __atomic_load_n(&player->ready, __ATOMIC_ACQUIRE) >= player->pool.roots &&
		   !iot_pool_is_short(&player->pool.numbers);
	pthread_mutex_unlock(&player->pool.lock);
	return is_ready;
}

/**
 * pool_cancel() - no task begins from now on
 * @player: set up, and cancelled
 */
void pool_cancel(struct player *player)
{
	struct pool *pool = &player->pool;
	u32 dropped;

	pthread_mutex_lock(&pool->lock);
	dropped = pool->numbers.unstarted;
	pool->numbers.unstarted = 0;
	pthread_cond_broadcast(&pool->idlers);
	pthread_cond_signal(&pool->keeper_calls);
	pthread_mutex_unlock(&pool->lock);
	if (dropped && !__atomic_sub_fetch(&player->left, dropped, __ATOMIC_RELEASE))
		futex_wake(&player->left);
}

/**
 * pool_kick() - interrupt the system calls that tasks are in
 * @player: set up, and cancelled
 */
void pool_kick(struct player *player)
{
	struct player_thread *thread;

	pthread_mutex_lock(&player->pool.lock);
	for (thread = player->pool.threads; thread; thread = thread->next)
		if (!thread->has_ended)
			pthread_kill(thread->thread, PLAYER_KICK);
	pthread_mutex_unlock(&player->pool.lock);
}

/**
 * pool_close() - wait for all threads
 * @player: no task of it is left
 */
void pool_close(struct player *player)
{
	struct pool *pool = &player->pool;
	struct player_thread *thread;

	if (pool->has_keeper)
		pthread_join(pool->keeper, NULL);
	while ((thread = pool->threads)) {
		pool->threads = thread->next;
		pthread_join(thread->thread, NULL);
		thread_free(thread);
	}
	pthread_cond_destroy(&pool->keeper_calls);
	pthread_cond_destroy(&pool->idlers);
	pthread_mutex_destroy(&pool->lock);
}
