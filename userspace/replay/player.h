/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * player.h - what engines that perform operations in this process share: threads that perform
 * tasks, order, pace, and the trace of outcomes. What it means to perform is the engine's.
 *
 * Locking: none between operations.
 *
 *   progress[], pending[]	core/replay/order.h: written by one, read by all, with barriers
 *   struct player_task		the thread that performs it; others read its counters, with atomic loads
 *   struct park		see there
 *   struct pool		a lock, taken when a task may begin, and when a thread is idle
 *   outcomes			a lock, taken once for each buffer of records: outcomes.h
 *
 * Ownership: the player is freed when all threads have ended.
 */
#ifndef IOTAPE_PLAYER_H
#define IOTAPE_PLAYER_H

#include <pthread.h>
#include <signal.h>

#include "core/replay/pool.h"
#include "core/replay/step.h"
#include "outcomes.h"
#include "replay.h"
#include "share.h"

/* Interrupts a system call of a thread, and does nothing else. */
#define PLAYER_KICK SIGUSR1

/**
 * struct park - where threads sleep until something has happened
 * @turns: futex: changes whenever sleepers are to look again
 * @sleepers: threads that are about to sleep, sleep, or have just been woken
 * @beginners: tasks that may not begin until it has happened, and have no thread: a list, under the
 *	lock of the pool
 *
 * There is one for each latch, and a table of them for operations of tasks, in which those that
 * follow each other have different ones. So a task that moves on wakes those who wait for
 * the operation that has just ended, and few others. Each task counts in `waiters` who waits for it
 * at all: while that is nobody, it does not even look at a park.
 *
 *		    who waits				who moves on
 *   1  count oneself: waiters, sleepers	store the new value
 *   2  full barrier				full barrier
 *   3  remember turns				no waiters, or no sleepers there: done
 *   4  value reached: go on			turns change
 *   5  sleep unless turns have changed		wake all, who go on at 3
 *
 * Either the one who waits sees the value in 4, or the one who moves on sees the sleeper in 3. For a
 * task without a thread it is the same, with the list in the place of sleepers: see pool.c.
 */
struct park {
	u32 turns;
	u32 sleepers;
	struct player_task *beginners;
};

struct player;
struct player_thread;

/**
 * struct player_task - a task as it is performed
 * @player: of which it is one
 * @number: its index in the program
 * @waiters: number of tasks that wait for an operation of it
 * @mark: its next operation that another node waits for: the task notifies the agent at the end of it
 * @next: in the list of a park, or of those that may begin
 * @start_next: waits of its first operation that are known to hold
 * @step: how far it is
 * @submitted: of a request queue: requests submitted to it so far; written by the task's thread
 * @request: number of the request that it submits next, 0 if the operation is no submit
 * @outcome: where its records go
 * @memory: the engine's, of the size that it asked for, whole pages; of the thread that performs it
 */
struct player_task {
	struct player *player;
	u32 number;
	u32 waiters;
	u32 mark;
	struct player_task *next;
	u32 start_next;
	struct iot_step step;
	u32 submitted;
	u64 request;
	struct outcome_stream outcome;
	void *memory;
} __attribute__((aligned(64)));

/**
 * struct performer - what an engine adds
 * @memory_bytes: memory that a task needs while it is performed, 0 for none
 * @begin: the calling thread is to perform a task: 0; 1 if it can perform no other one after that; or
 *	a negative errno; may be NULL
 * @perform: do what an operation says. A submit takes hold of what its request needs, a complete,
 *	which comes in the thread of the request queue, is the request. Called when the operation's waits
 *	hold; returns what the system call would; -EINTR if a signal came first: it is called
 *	again, unless the replay was cancelled. arrive, leave and pass do not come here
 * @look: called after the end of an operation if outcomes are written: fill in what of @found
 *	costs more than the operation should; may be NULL
 */
struct performer {
	size_t memory_bytes;
	int (*begin)(struct player_task *task);
	s64 (*perform)(struct player_task *task, const struct iot_program_op *op);
	void (*look)(struct player_task *task, const struct iot_program_op *op);
};

/**
 * struct pool - threads that perform tasks, one after the other: see pool.c
 * @lock: of all below, and of lists of beginners
 * @idlers: a task may begin, or none follows
 * @keeper_calls: it is to look again
 * @keeper: the thread that makes the others
 * @has_keeper: it was made
 * @threads: all that were made and have not been joined
 * @made: their number, and of those that have
 * @ended: of @threads, those that are to be joined
 * @numbers: of tasks here and of threads; request queues of tasks that have begun are coming
 * @first: of the unstarted, those that may begin
 * @last: the last of these
 * @roots: tasks that waited for nothing
 */
struct pool {
	pthread_mutex_t lock;
	pthread_cond_t idlers;
	pthread_cond_t keeper_calls;
	pthread_t keeper;
	bool has_keeper;
	struct player_thread *threads;
	u32 made;
	u32 ended;
	struct iot_pool numbers;
	struct player_task *first;
	struct player_task *last;
	u32 roots;
};

/**
 * struct player - a replay in this process
 * @replay: which
 * @options: of it
 * @program: of it
 * @performer: the engine's functions
 * @context: the engine's
 * @order: how far tasks and latches are
 * @tasks: one for each task of the program
 * @latches: one for each latch
 * @moved: table of parks, for those who wait for operations
 * @moved_mask: their number, a power of two, less one
 * @agent: where the agent sleeps, if there are other nodes
 * @agent_turns: what it saw there last
 * @marked: tasks that other nodes wait for
 * @marked_count: their number
 * @outcomes: NULL if they go nowhere
 * @pool: who performs them
 * @step: options of each step, from the start on
 * @go: futex: 1 when tasks may begin
 * @is_cancelled: futex: 1 when all are to end
 * @ready: tasks that wait for that
 * @failed: why a task could not begin, a negative errno; 0
 * @left: futex: tasks and request queues here that have not ended; when it is cancelled, those that have begun
 * @task_count: of those here, tasks that are no request queues
 * @finished: of them, those that were performed to their end
 * @start_ns: monotonic clock at the start, 0 before
 * @end_ns: monotonic clock at the end of the last task, 0 before
 */
struct player {
	struct replay *replay;
	const struct replay_options *options;
	const struct iot_program *program;
	const struct performer *performer;
	void *context;
	struct iot_order order;
	struct player_task *tasks;
	struct park *latches;
	struct park *moved;
	u32 moved_mask;
	struct park agent;
	u32 agent_turns;
	u32 *marked;
	u32 marked_count;
	struct outcomes *outcomes;
	struct pool pool;
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

int player_open(struct replay *replay, const struct performer *performer, void *context,
		struct player **player);
int player_set_up(struct player *player);
int player_ready(struct player *player);
int player_start(struct player *player);
int player_wait(struct player *player, int timeout_ms);
void player_status(const struct player *player, struct iot_replay_status *status);
void player_cancel(struct player *player);
int player_close(struct player *player);

static inline bool player_is_here(const struct player *player, u32 task)
{
	return !player->replay->share || share_is_here(player->replay->share, task);
}

static inline bool player_is_cancelled(const struct player *player)
{
	return __atomic_load_n(&player->is_cancelled, __ATOMIC_RELAXED);
}

static inline bool player_is_queue(const struct iot_program *program, u32 task)
{
	return le32_to_cpu(program->tasks[task].flags) & IOT_TASK_QUEUE;
}

/* The number of the n-th request of a request queue, from 1, in outcomes. */
static inline u64 player_request_number(const struct player_task *queue, u32 nth)
{
	return (u64)queue->number << 32 | nth;
}

/* The request queues of a task stand behind it. */
static inline bool player_is_queue_of(const struct player *player, u32 queue, u32 task)
{
	return queue < player->program->task_count && player_is_queue(player->program, queue) &&
	       le32_to_cpu(player->program->tasks[queue].parent) == task;
}

/* player.c */
void player_perform(struct player_task *task);
bool player_wait_for_go(struct player *player);
void player_fail(struct player *player, int err);

/* pool.c */
void pool_init(struct player *player);
int pool_open(struct player *player);
void pool_close(struct player *player);
bool pool_is_ready(struct player *player);
void pool_begin(struct player *player, struct park *park);
void pool_cancel(struct player *player);
void pool_kick(struct player *player);

/* wait.c */
u64 clock_now_ns(void);
int futex_sleep(u32 *futex, u32 value, u64 until_ns);
void futex_wake(u32 *futex);
int parks_init(struct player *player);
void parks_exit(struct player *player);
struct park *park_of(const struct player *player, const struct iot_program_wait *wait);
int park_wait(struct player_task *task, const struct iot_program_wait *wait);
void park_wake_moved(struct player_task *task);
void park_wake_opened(struct player *player, u32 latch);
void park_wake_everybody(struct player *player);
void park_wake_passed(struct player *player, u32 task, u32 from, u32 to);
void park_wake_agent(struct player_task *task);

/* shared.c */
int player_share(struct player *player);
int player_moved(struct player *player, struct iot_replay_move *moved, u32 room, u64 timeout_ns);
int player_advance(struct player *player, u32 task, u32 ended);
int player_arrive(struct player *player, u32 latch, u32 count);

/* pace.c */
int player_sleep_until(void *worker, u64 until_ns);
void player_lateness(const struct player *player, struct iot_replay_lateness *lateness);

#endif
