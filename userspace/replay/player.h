/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * player.h - what engines that perform operations in this process share: a thread for each
 * task, order, pace, and the trace of outcomes. What it means to perform is the engine's.
 *
 * Locking: none between operations.
 *
 *   progress[], pending[]	core/order.h: written by one, read by all, with barriers
 *   struct player_task		its thread; others read its counters, with atomic loads
 *   struct park		see there
 *   outcomes			a lock, taken once for each buffer of records: outcomes.h
 *
 * Ownership: the player is freed when all threads have ended.
 */
#ifndef IOTAPE_PLAYER_H
#define IOTAPE_PLAYER_H

#include <pthread.h>

#include "core/order.h"
#include "core/outcome.h"
#include "core/pace.h"
#include "outcomes.h"
#include "replay.h"
#include "share.h"

/**
 * struct park - where threads sleep until something has happened
 * @turns: futex: changes whenever sleepers are to look again
 * @sleepers: threads that are about to sleep, sleep, or have just been woken
 *
 * There is one for each hub, and a table of them for operations of tasks, in which those that
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
 * Either the one who waits sees the value in 4, or the one who moves on sees the sleeper in 3.
 */
struct park {
	u32 turns;
	u32 sleepers;
};

struct player;

/**
 * struct player_task - a task as it is performed
 * @player: of which it is one
 * @number: its index in the program
 * @waiters: number of those who wait for an operation of it
 * @mark: the next operation of it that another node waits for: the agent is told when it has ended
 * @has_thread: not a task of another node, and @thread was started
 * @thread: performs it
 * @index: the operation that is next
 * @enter_ns: when the operation performed last was entered
 * @prev_end_ns: when it ended
 * @pace: its wake-up lateness
 * @submitted: of a lane: requests submitted to it so far; written by the task's thread
 * @result: of the operation performed last
 * @refused: what the target said, if others took the place of the operation; else 0
 * @found: what else it found, for its record
 * @stats: for its `played` record
 * @outcome: where its records go
 * @memory: the engine's, of the size that it asked for; whole pages, zero at first
 */
struct player_task {
	struct player *player;
	u32 number;
	u32 waiters;
	u32 mark;
	bool has_thread;
	pthread_t thread;
	u32 index;
	u64 enter_ns;
	u64 prev_end_ns;
	struct iot_lateness pace;
	u32 submitted;
	s64 result;
	s64 refused;
	struct iot_found found;
	struct iot_rec_played stats;
	struct outcome_stream outcome;
	void *memory;
} __attribute__((aligned(64)));

/**
 * struct performer - what an engine adds
 * @memory_bytes: memory that each task needs, 0 for none
 * @begin: of the thread of a task, before the replay starts: 0 or a negative errno; may be NULL
 * @perform: do what an operation says. A submit takes hold of what its request needs, a complete,
 *	which comes in the thread of the lane, is the request. Called when the operation's waits
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
 * struct player - a replay in this process
 * @replay: which
 * @options: of it
 * @program: of it
 * @performer: the engine's functions
 * @context: the engine's
 * @order: how far tasks and hubs are
 * @tasks: one for each task of the program
 * @hubs: one for each hub
 * @moved: table of parks, for those who wait for operations
 * @moved_mask: their number, a power of two, less one
 * @agent: where the agent sleeps, if there are other nodes
 * @agent_turns: what it saw there last
 * @marked: tasks that other nodes wait for
 * @marked_count: their number
 * @outcomes: NULL if they go nowhere
 * @here_count: tasks and lanes that are performed here
 * @thread_count: threads that were started
 * @go: futex: 1 when tasks may begin
 * @is_cancelled: futex: 1 when all are to end
 * @ready: threads that have what they need
 * @failed: the errno of a thread that could not get it, or 0
 * @left: futex: threads that have not ended
 * @task_count: of those here, tasks that are no lanes
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
	struct park *hubs;
	struct park *moved;
	u32 moved_mask;
	struct park agent;
	u32 agent_turns;
	u32 *marked;
	u32 marked_count;
	struct outcomes *outcomes;
	u32 here_count;
	u32 thread_count;
	u32 go;
	u32 is_cancelled;
	u32 ready;
	u32 failed;
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

static inline bool player_is_lane(const struct iot_program *program, u32 task)
{
	return le32_to_cpu(program->tasks[task].flags) & IOT_TASK_LANE;
}

/* The number of the n-th request of a lane, from 1, in outcomes. */
static inline u64 player_request_number(const struct player_task *lane, u32 nth)
{
	return (u64)lane->number << 32 | nth;
}

/* wait.c */
u64 clock_now_ns(void);
int futex_sleep(u32 *futex, u32 value, u64 until_ns);
void futex_wake(u32 *futex);
int parks_init(struct player *player);
void parks_exit(struct player *player);
int park_wait(struct player_task *task, const struct iot_program_wait *wait);
void park_wake_moved(struct player_task *task);
void park_wake_opened(struct player *player, u32 hub);
void park_wake_everybody(struct player *player);
void park_wake_passed(struct player *player, u32 task, u32 from, u32 to);
void park_wake_agent(struct player_task *task);

/* shared.c */
int player_share(struct player *player);
int player_moved(struct player *player, struct iot_replay_move *moved, u32 room, u64 timeout_ns);
int player_advance(struct player *player, u32 task, u32 ended);
int player_arrive(struct player *player, u32 hub, u32 count);

/* pace.c */
int player_pace(struct player_task *task, const struct iot_program_op *op);
void player_lateness(const struct player *player, struct iot_replay_lateness *lateness);

#endif
