// SPDX-License-Identifier: GPL-2.0-only
/*
 * thread_pool.c - assigns tasks to workers that are threads; replayfs/worker_pool.c does so in the kernel.
 *
 * The number of workers follows from core/replay/pool.h. Until a task needs a worker, it stands in the park of
 * the operation or latch that it waits for. The task that wakes the park checks whether the waiting task may begin, and
 * adds it to the list of those; an idle worker takes it. A keeper creates the workers.
 *
 * A worker ends when no unstarted task is left, or when it cannot run another task; then the keeper joins it.
 *
 * A task leaves two things in its thread: its memory, which no operation reads before it has written it; and its
 * user, see struct op_runner. All other state that system calls change belongs to the process.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "local_replay.h"

#define THREAD_STACK_BYTES (256 << 10)

/* A thread that runs tasks. */
struct worker {
	struct worker *next;
	struct local_replay *local;
	pthread_t thread;
	void *memory;
	bool has_ended;
};

/* -- tasks that have not begun, with the lock --------------------------------------------------- */

static const struct iot_program_op *first_op(const struct worker_task *task)
{
	const struct iot_program *program = task->local->program;

	return program->ops + le64_to_cpu(program->tasks[task->number].first_op);
}

static const struct iot_program_wait *blocker(struct worker_task *task)
{
	const struct local_replay *local = task->local;

	if (!local->program->tasks[task->number].op_count)
		return NULL;
	return iot_order_blocker(&local->order, task->number, first_op(task), &task->start_next);
}

/* The wait for which it stands in a park. */
static const struct iot_program_wait *wait_of(const struct worker_task *task)
{
	const struct iot_program *program = task->local->program;

	return program->waits + le64_to_cpu(program->tasks[task->number].first_wait) +
	       le32_to_cpu(first_op(task)->first_wait) + task->start_next;
}

static void count_waiter(struct worker_task *task, u32 change)
{
	u32 other = le32_to_cpu(wait_of(task)->task);

	if (other != IOT_WAIT_LATCH)
		__atomic_fetch_add(&task->local->tasks[other].waiters, change, __ATOMIC_SEQ_CST);
}

static void stand(struct worker_task *task, struct park *park)
{
	count_waiter(task, 1);
	task->next = park->beginners;
	__atomic_store_n(&park->beginners, task, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* see struct park */
}

/* Return: true if the task may begin; if not, it stands in the park of its first wait that does not hold. */
static bool may_begin(struct worker_task *task)
{
	const struct iot_program_wait *wait;
	struct park *park;

	while ((wait = blocker(task))) {
		park = park_of(task->local, wait);
		stand(task, park);
		if (!iot_order_holds(&task->local->order, wait))
			return false;
		__atomic_store_n(&park->beginners, task->next, __ATOMIC_RELAXED); /* it was the first */
		count_waiter(task, (u32)-1);
	}
	return true;
}

static void add_ready(struct worker_task *task)
{
	struct thread_pool *pool = &task->local->pool;

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

static u32 count_queues(const struct local_replay *local, u32 task)
{
	u32 count = 0;

	while (task_is_queue_of(local, task + 1 + count, task))
		count++;
	return count;
}

static struct worker_task *take_ready(struct local_replay *local)
{
	struct thread_pool *pool = &local->pool;
	struct worker_task *task = pool->first;

	pool->first = task->next;
	pool->numbers.ready--;
	pool->numbers.unstarted--;
	if (task_is_queue(local->program, task->number))
		pool->numbers.coming--;
	else
		pool->numbers.coming += count_queues(local, task->number);
	return task;
}

/**
 * thread_pool_begin() - let the tasks of a park begin whose waits hold
 * @local: set up
 * @park: of an operation that has ended, or a latch that has opened
 */
void thread_pool_begin(struct local_replay *local, struct park *park)
{
	struct worker_task *task, *next;

	pthread_mutex_lock(&local->pool.lock);
	task = park->beginners;
	__atomic_store_n(&park->beginners, NULL, __ATOMIC_RELAXED);
	for (; task; task = next) {
		next = task->next;
		count_waiter(task, (u32)-1);
		if (may_begin(task))
			add_ready(task);
	}
	pthread_mutex_unlock(&local->pool.lock);
}

/* -- a thread ----------------------------------------------------------------------------------- */

/* Return: a task that may begin; NULL if no task will. */
static struct worker_task *worker_take_task(struct local_replay *local, bool is_new)
{
	struct thread_pool *pool = &local->pool;
	struct worker_task *task = NULL;

	pthread_mutex_lock(&pool->lock);
	pool->numbers.called -= is_new;
	pool->numbers.idle++;
	while (!pool->first && pool->numbers.unstarted)
		pthread_cond_wait(&pool->idlers, &pool->lock);
	pool->numbers.idle--;
	if (pool->numbers.unstarted)
		task = take_ready(local);
	if (!pool->numbers.unstarted)
		pthread_cond_broadcast(&pool->idlers);
	if (!pool->numbers.unstarted || iot_pool_is_short(&pool->numbers))
		pthread_cond_signal(&pool->keeper_calls);
	pthread_mutex_unlock(&pool->lock);
	return task;
}

/* Return: true if the thread can run another task. */
static bool worker_run(struct worker *thread, struct worker_task *task)
{
	struct local_replay *local = thread->local;
	int state = 0;

	task->memory = thread->memory;
	if (local->runner->begin)
		state = local->runner->begin(task);
	if (state < 0)
		local_replay_fail(local, state);
	else if (worker_wait_for_start(local))
		worker_run_task(task);
	if (local->runner->end)
		local->runner->end(task);
	task->memory = NULL;
	if (!__atomic_sub_fetch(&local->left, 1, __ATOMIC_RELEASE))
		futex_wake(&local->left);
	return !state;
}

static void *worker_main(void *argument)
{
	struct worker *thread = argument;
	struct local_replay *local = thread->local;
	struct worker_task *task;
	bool is_new = true;

	prctl(PR_SET_TIMERSLACK, 1UL); /* think time is to end when it ends */
	do {
		task = worker_take_task(local, is_new);
		is_new = false;
	} while (task && worker_run(thread, task));
	pthread_mutex_lock(&local->pool.lock);
	thread->has_ended = true;
	local->pool.ended++;
	pthread_cond_signal(&local->pool.keeper_calls);
	pthread_mutex_unlock(&local->pool.lock);
	return NULL;
}

/* -- the keeper ----------------------------------------------------------------------------------- */

static void worker_free(struct worker *thread)
{
	if (thread->memory)
		munmap(thread->memory, thread->local->runner->memory_bytes);
	free(thread);
}

static int get_memory(struct worker *thread)
{
	size_t bytes = thread->local->runner->memory_bytes;
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

static int worker_create(struct local_replay *local, struct worker **made)
{
	struct worker *thread = calloc(1, sizeof(*thread));
	pthread_attr_t attr;
	int err;

	if (!thread)
		return -ENOMEM;
	thread->local = local;
	err = get_memory(thread);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
	if (!err)
		err = -pthread_create(&thread->thread, &attr, worker_main, thread);
	pthread_attr_destroy(&attr);
	if (err)
		worker_free(thread);
	else
		*made = thread;
	return err;
}

/* With the lock, which is given up meanwhile. Return: 0 or a negative errno. */
static int add_worker(struct local_replay *local)
{
	struct thread_pool *pool = &local->pool;
	struct worker *thread;
	int err;

	pool->numbers.called++;
	/* Before the thread exists: it may end the replay before the lock is free again. */
	__atomic_store_n(&pool->created, pool->created + 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&pool->lock);
	err = worker_create(local, &thread);
	pthread_mutex_lock(&pool->lock);
	if (err) {
		pool->numbers.called--;
		__atomic_store_n(&pool->created, pool->created - 1, __ATOMIC_RELAXED);
		return err;
	}
	thread->next = pool->threads;
	pool->threads = thread;
	return 0;
}

/* With the lock, which a thread does not take after it has ended. */
static void join_ended(struct thread_pool *pool)
{
	struct worker **link = &pool->threads, *thread;

	while ((thread = *link)) {
		if (!thread->has_ended) {
			link = &thread->next;
			continue;
		}
		*link = thread->next;
		pool->ended--;
		pthread_join(thread->thread, NULL);
		worker_free(thread);
	}
}

static void *keeper_main(void *argument)
{
	struct local_replay *local = argument;
	struct thread_pool *pool = &local->pool;
	int err = 0;

	pthread_mutex_lock(&pool->lock);
	while (pool->numbers.unstarted) {
		if (pool->ended) {
			join_ended(pool);
		} else if (!err && iot_pool_is_short(&pool->numbers)) {
			err = add_worker(local);
			if (err)
				local_replay_fail(local, err);
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
	sigdelset(&all, WORKER_KICK);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGSEGV);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

static int start_keeper(struct local_replay *local)
{
	sigset_t before;
	int err;

	block_signals(&before); /* of the threads that it makes, too */
	err = -pthread_create(&local->pool.keeper, NULL, keeper_main, local);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	local->pool.has_keeper = !err;
	return err;
}

/**
 * thread_pool_init() - initialize a pool without threads
 */
void thread_pool_init(struct local_replay *local)
{
	pthread_mutex_init(&local->pool.lock, NULL);
	pthread_cond_init(&local->pool.idlers, NULL);
	pthread_cond_init(&local->pool.keeper_calls, NULL);
}

/**
 * thread_pool_open() - put each task into the park where it waits, and create workers for the others
 * @local: set up, with outcomes and signals
 *
 * Return: 0 or a negative errno.
 */
int thread_pool_open(struct local_replay *local)
{
	struct thread_pool *pool = &local->pool;
	u32 i;
	int err = 0;

	pool->numbers.spares = IOT_POOL_SPARES_BEFORE;
	for (i = 0; i < local->program->task_count; i++) {
		if (!local_replay_has_task(local, i))
			continue;
		pool->numbers.unstarted++;
		if (may_begin(&local->tasks[i])) {
			pool->roots++;
			add_ready(&local->tasks[i]);
		}
	}
	local->left = pool->numbers.unstarted;
	if (pool->numbers.unstarted)
		err = start_keeper(local);
	if (err)
		thread_pool_cancel(local);
	return err ? replay_refuse(local->replay, "threads", err) : 0;
}

/**
 * thread_pool_is_ready() - check that each task that waits for nothing has a worker, and that spares exist
 * @local: set up
 */
bool thread_pool_is_ready(struct local_replay *local)
{
	bool is_ready;

	pthread_mutex_lock(&local->pool.lock);
	is_ready = __atomic_load_n(&local->ready, __ATOMIC_ACQUIRE) >= local->pool.roots &&
		   !iot_pool_is_short(&local->pool.numbers) && !local->pool.numbers.called;
	pthread_mutex_unlock(&local->pool.lock);
	return is_ready;
}

/**
 * thread_pool_start() - the replay starts: from now on, the pool has few spare workers
 * @local: ready
 */
void thread_pool_start(struct local_replay *local)
{
	pthread_mutex_lock(&local->pool.lock);
	local->pool.numbers.spares = IOT_POOL_SPARES;
	pthread_mutex_unlock(&local->pool.lock);
}

/**
 * thread_pool_cancel() - no task begins from now on
 * @local: set up, and cancelled
 */
void thread_pool_cancel(struct local_replay *local)
{
	struct thread_pool *pool = &local->pool;
	u32 dropped;

	pthread_mutex_lock(&pool->lock);
	dropped = pool->numbers.unstarted;
	pool->numbers.unstarted = 0;
	pthread_cond_broadcast(&pool->idlers);
	pthread_cond_signal(&pool->keeper_calls);
	pthread_mutex_unlock(&pool->lock);
	if (dropped && !__atomic_sub_fetch(&local->left, dropped, __ATOMIC_RELEASE))
		futex_wake(&local->left);
}

/**
 * thread_pool_kick() - interrupt the system calls of all workers
 * @local: set up, and cancelled
 */
void thread_pool_kick(struct local_replay *local)
{
	struct worker *thread;

	pthread_mutex_lock(&local->pool.lock);
	for (thread = local->pool.threads; thread; thread = thread->next)
		if (!thread->has_ended)
			pthread_kill(thread->thread, WORKER_KICK);
	pthread_mutex_unlock(&local->pool.lock);
}

/**
 * thread_pool_close() - wait for all threads
 * @local: no task of it is left
 */
void thread_pool_close(struct local_replay *local)
{
	struct thread_pool *pool = &local->pool;
	struct worker *thread;

	if (pool->has_keeper)
		pthread_join(pool->keeper, NULL);
	while ((thread = pool->threads)) {
		pool->threads = thread->next;
		pthread_join(thread->thread, NULL);
		worker_free(thread);
	}
	pthread_cond_destroy(&pool->keeper_calls);
	pthread_cond_destroy(&pool->idlers);
	pthread_mutex_destroy(&pool->lock);
}
