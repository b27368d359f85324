/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * local_replay.h - a replay by threads of this process: workers, order, pace, and the trace of outcomes.
 *
 * The engines thread and null share it. Each adds a struct op_runner, which runs an operation.
 *
 * Locking: none between operations.
 *
 *   progress[], pending[]	core/replay/order.h: written by one, read by all, with barriers
 *   struct worker_task		the thread that runs it; others read its counters, with atomic loads
 *   struct park			see there
 *   struct thread_pool		a lock, taken when a task may begin, and when a thread is idle
 *   outcomes			a lock, taken once for each buffer of records: outcomes.h
 *
 * Ownership: the replay is freed when all threads have ended.
 */
#ifndef IOTAPE_LOCAL_REPLAY_H
#define IOTAPE_LOCAL_REPLAY_H

#include <pthread.h>
#include <signal.h>

#include "core/replay/pool.h"
#include "core/replay/step.h"
#include "outcomes.h"
#include "replay.h"
#include "partition.h"

/* Interrupts a system call of a thread, and does nothing else. */
#define WORKER_KICK SIGUSR1

/**
 * struct park - where threads sleep until something has happened
 * @turns: futex: changes whenever sleepers must check again
 * @sleepers: threads that are about to sleep, sleep, or have just been woken
 * @beginners: tasks that may not begin until it has happened, and have no thread: a list, under the
 *	lock of the pool
 *
 * There is one for each latch, and a table of them for operations of tasks, in which those that
 * follow each other have different ones. A task that ends an operation therefore wakes the waiters for
 * that operation, and few others. Each task counts its waiters; without waiters, it does not examine a park.
 *
 *		    waiter				task that ends an operation
 *   1  count oneself: waiters, sleepers	store the new value
 *   2  full barrier				full barrier
 *   3  remember turns				no waiters, or no sleepers there: done
 *   4  value reached: continue			change turns
 *   5  sleep unless turns have changed		wake all, which continue at 3
 *
 * Either the waiter sees the value in 4, or the other task sees the sleeper in 3. For a task without a
 * thread it is the same, with the list in the place of sleepers: see thread_pool.c.
 */
struct park {
	u32 turns;
	u32 sleepers;
	struct worker_task *beginners;
};

struct local_replay;
struct worker;

/**
 * struct worker_task - a task in a replay by threads
 * @local: its replay
 * @number: its index in the program
 * @waiters: number of tasks that wait for an operation of it
 * @mark: its next operation that another node waits for: the task notifies the agent at the end of it
 * @next: in the list of a park, or of those that may begin
 * @start_next: waits of its first operation that are known to hold
 * @step: progress of the task
 * @submitted: of a request queue: requests submitted to it so far; written by the task's thread
 * @request: number of the request that it submits next, 0 if the operation is not a submit
 * @outcome: where its records go
 * @memory: the engine's, of the requested size, whole pages; of the thread that runs it
 */
struct worker_task {
	struct local_replay *local;
	u32 number;
	u32 waiters;
	u32 mark;
	struct worker_task *next;
	u32 start_next;
	struct iot_step step;
	u32 submitted;
	u64 request;
	struct outcome_stream outcome;
	void *memory;
} __attribute__((aligned(64)));

/**
 * struct op_runner - callbacks of an engine
 * @memory_bytes: memory that a task needs while it runs, 0 for none
 * @begin: prepare the calling thread for a task. Return: 0; 1 if the thread can run no other task after
 *	this one; a negative errno. May be NULL
 * @prepare: before the think time of a read, see struct iot_step_calls; may be NULL
 * @run: run an operation whose waits hold. A submit takes a reference to the objects of its request; a complete, in
 *	the thread of the request queue, is the request. Return: the result of the system call. After -EINTR
 *	it is called again, unless the replay was cancelled. Not called for signal, wait and nop
 * @observe: if outcomes are written, called after the end of an operation to fill in the parts of @observed that
 *	would prolong the operation; may be NULL
 * @end: after the last operation of a task, in its thread; may be NULL
 */
struct op_runner {
	size_t memory_bytes;
	int (*begin)(struct worker_task *task);
	int (*prepare)(struct worker_task *task, const struct iot_program_op *op);
	s64 (*run)(struct worker_task *task, const struct iot_program_op *op);
	void (*observe)(struct worker_task *task, const struct iot_program_op *op);
	void (*end)(struct worker_task *task);
};

/**
 * struct thread_pool - threads that run tasks, one after the other: see thread_pool.c
 * @lock: of all below, and of lists of beginners
 * @idlers: a task may begin, or none follows
 * @keeper_calls: the keeper must check again
 * @keeper: the thread that creates the others
 * @has_keeper: it was created
 * @threads: all that were created and have not been joined
 * @created: number of threads created so far
 * @ended: of @threads, those that have ended and were not joined
 * @numbers: of tasks here and of threads; request queues of tasks that have begun are coming
 * @first: of the unstarted, those that may begin
 * @last: the last of these
 * @roots: tasks that waited for nothing
 */
struct thread_pool {
	pthread_mutex_t lock;
	pthread_cond_t idlers;
	pthread_cond_t keeper_calls;
	pthread_t keeper;
	bool has_keeper;
	struct worker *threads;
	u32 created;
	u32 ended;
	struct iot_pool numbers;
	struct worker_task *first;
	struct worker_task *last;
	u32 roots;
};

/**
 * struct local_replay - a replay by threads of this process
 * @replay: the replay, as its engine sees it
 * @options: its options
 * @program: its program
 * @runner: functions of the engine
 * @context: of the engine
 * @order: progress of tasks and latches
 * @tasks: one for each task of the program
 * @latches: one for each latch
 * @moved: table of parks, for tasks that wait for operations
 * @moved_mask: their number, a power of two, less one
 * @agent: where the agent sleeps, if there are other nodes
 * @agent_turns: turns of that park when the agent looked last
 * @marked: tasks that other nodes wait for
 * @marked_count: their number
 * @outcomes: NULL if none are written
 * @pool: the workers
 * @step: options of each step, from the start on
 * @go: futex: 1 when tasks may begin
 * @is_cancelled: futex: 1 when all must end
 * @ready: tasks that wait for the start
 * @failed: negative errno of a task that could not begin; 0
 * @left: futex: tasks and request queues here that have not ended; when it is cancelled, those that have begun
 * @task_count: of those here, tasks that are not request queues
 * @finished: of them, those that have ended
 * @start_ns: monotonic clock at the start, 0 before
 * @end_ns: monotonic clock at the end of the last task, 0 before
 */
struct local_replay {
	struct replay *replay;
	const struct replay_options *options;
	const struct iot_program *program;
	const struct op_runner *runner;
	void *context;
	struct iot_order order;
	struct worker_task *tasks;
	struct park *latches;
	struct park *moved;
	u32 moved_mask;
	struct park agent;
	u32 agent_turns;
	u32 *marked;
	u32 marked_count;
	struct outcomes *outcomes;
	struct thread_pool pool;
	struct iot_step_options step;
	u32 go;
	u32 is_cancelled;
	u32 ready;
	int failed;
	u32 left;
	u32 task_count;
	u32 finished;
	u64 start_ns;
	u64 end_ns;
};

int local_replay_open(struct replay *replay, const struct op_runner *runner, void *context,
		struct local_replay **local);
int local_replay_set_up(struct local_replay *local);
int local_replay_ready(struct local_replay *local);
int local_replay_start(struct local_replay *local);
int local_replay_wait(struct local_replay *local, int timeout_ms);
void local_replay_status(const struct local_replay *local, struct iot_replay_status *status);
void local_replay_cancel(struct local_replay *local);
int local_replay_close(struct local_replay *local);

static inline bool local_replay_has_task(const struct local_replay *local, u32 task)
{
	return !local->replay->partition || partition_has_task(local->replay->partition, task);
}

static inline bool local_replay_is_cancelled(const struct local_replay *local)
{
	return __atomic_load_n(&local->is_cancelled, __ATOMIC_RELAXED);
}

static inline bool task_is_queue(const struct iot_program *program, u32 task)
{
	return le32_to_cpu(program->tasks[task].flags) & IOT_TASK_QUEUE;
}

/* The number of the n-th request of a request queue, from 1, in outcomes. */
static inline u64 queue_request_number(const struct worker_task *queue, u32 nth)
{
	return (u64)queue->number << 32 | nth;
}

/* The request queues of a task stand behind it. */
static inline bool task_is_queue_of(const struct local_replay *local, u32 queue, u32 task)
{
	return queue < local->program->task_count && task_is_queue(local->program, queue) &&
	       le32_to_cpu(local->program->tasks[queue].parent) == task;
}

/* thread_worker.c */
void worker_run_task(struct worker_task *task);
bool worker_wait_for_start(struct local_replay *local);

/* local_replay.c */
void local_replay_fail(struct local_replay *local, int err);

/* thread_pool.c */
void thread_pool_init(struct local_replay *local);
int thread_pool_open(struct local_replay *local);
void thread_pool_close(struct local_replay *local);
bool thread_pool_is_ready(struct local_replay *local);
void thread_pool_start(struct local_replay *local);
void thread_pool_begin(struct local_replay *local, struct park *park);
void thread_pool_cancel(struct local_replay *local);
void thread_pool_kick(struct local_replay *local);

/* thread_wait.c */
u64 clock_now_ns(void);
int futex_sleep(u32 *futex, u32 value, u64 until_ns);
void futex_wake(u32 *futex);
int parks_init(struct local_replay *local);
void parks_exit(struct local_replay *local);
struct park *park_of(const struct local_replay *local, const struct iot_program_wait *wait);
int park_wait(struct worker_task *task, const struct iot_program_wait *wait, u64 until_ns);
void park_wake_moved(struct worker_task *task);
void park_wake_opened(struct local_replay *local, u32 latch);
void park_wake_all(struct local_replay *local);
void park_wake_passed(struct local_replay *local, u32 task, u32 from, u32 to);
void park_wake_agent(struct worker_task *task);

/* local_marks.c */
int local_replay_find_marks(struct local_replay *local);
int local_replay_moved(struct local_replay *local, struct iot_replay_move *moved, u32 room, u64 timeout_ns);
int local_replay_advance(struct local_replay *local, u32 task, u32 ended);
int local_replay_signal(struct local_replay *local, u32 latch, u32 count);

/* thread_pace.c */
u64 worker_cpu_ns(void);
int worker_spin_until(void *worker, u64 until_ns);
int worker_sleep_until(void *worker, u64 until_ns);
void local_replay_lateness(const struct local_replay *local, struct iot_replay_lateness *lateness);

#endif
