/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replayfs.h - a replay in the kernel: its program, its workers, and their shared state.
 *
 * A replay is a descriptor of /dev/replayfs. User space hands it the file of a program, to be verified (load), sets
 * the target and the options (setup), and calls with one of its threads for each task that runs (run): this worker
 * runs the operations of the task one after the other without leaving the kernel.
 *
 * Locking: `lock` serializes load, setup and start. From start on the program and the
 * options do not change, and workers take no lock between operations:
 *
 *   progress[], pending[]	core/replay/order.h: written by one, read by all, with barriers
 *   waits of tasks		wait_queues.c
 *   which worker is next	worker_pool.c: a lock, taken when a task begins
 *   windows of the program	window.c: rings with one producer and one consumer
 *   struct rfs_task		the worker that has claimed it
 *   handle and mapping slots	handles.h: a reference count each
 *   progress of other nodes	partition.c: a lock of its own, for their agent
 *
 * Ownership: the replay lives as long as its descriptor, which each worker in the
 * kernel holds; whatever is still open at its end is closed with it.
 */
#ifndef RFS_REPLAYFS_H
#define RFS_REPLAYFS_H

#include <linux/fs.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/path.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include <iotape/control.h>

#include "compat/vfs.h"
#include "core/replay/blocks.h"
#include "core/replay/packed.h"
#include "core/replay/pool.h"
#include "core/replay/program.h"
#include "core/replay/step.h"
#include "iotape/iotape.h"

enum rfs_state {
	RFS_EMPTY,   /* there is no program */
	RFS_LOADED,  /* there is one, verified */
	RFS_READY,   /* target and options are set: workers may come */
	RFS_STARTED, /* they run */
};

struct rfs_pool;
struct rfs_replay;
struct rfs_partition;
struct rfs_window;

/**
 * struct rfs_source - the file of a program, and what of it is in memory, see program_source.c
 * @file: NULL once all of it is
 * @file_bytes: its length
 * @program_bytes: length of the program, as far as the file states it
 * @is_packed: the program is compressed
 * @packed: if so
 * @workspace: for zstd, if so
 * @is_streamed: operations and waits are not
 * @head: the program's header
 * @sections: each that is in memory
 * @blocks: for those that are not
 */
struct rfs_source {
	struct file *file;
	u64 file_bytes;
	u64 program_bytes;
	bool is_packed;
	struct iot_packed packed;
	void *workspace;
	bool is_streamed;
	struct iot_program_head head;
	void *sections[IOT_SECTION_COUNT];
	struct iot_blocks blocks;
};

/**
 * struct rfs_waiter - something that waits for a task or a latch, see wait_queues.c
 * @entry: in the queue of its task or latch
 * @replay: the replay that it belongs to
 * @wait: the condition that it waits for
 * @is_over: for rfs_call_when(): the function to call
 */
struct rfs_waiter {
	struct wait_queue_entry entry;
	struct rfs_replay *replay;
	const struct iot_program_wait *wait;
	void (*is_over)(struct rfs_waiter *waiter);
};

/**
 * struct rfs_task - a task during a replay
 * @waiters: number of tasks that wait for an operation of it
 * @start: the task itself, while its first operation waits
 * @starts: the waits of its first operation
 * @start_count: their number
 * @ready: member of the list of its pool
 * @pool: its workers may run the task; NULL for a request queue, and for tasks of other nodes
 * @is_claimed: a worker runs it at present
 * @is_taken: it was assigned to a worker, and has not ended
 * @has_begun: a worker has run it before
 * @meter: cost of the pending operation
 * @step: its progress; pending while a worker returns to user mode and comes back
 * @memory: the worker's, from its first entry until the task has ended
 * @cred: credentials, likewise; NULL for those of the worker
 * @request: of a request queue, see requests.c
 */
struct rfs_task {
	/* Written by other tasks. */
	atomic_t waiters;
	struct rfs_waiter start;
	const struct iot_program_wait *starts;
	u32 start_count;
	struct list_head ready;
	struct rfs_pool *pool;
	/* Written by the worker. */
	unsigned long is_claimed ____cacheline_aligned_in_smp;
	bool is_taken;
	bool has_begun;
	struct iot_meter meter;
	struct iot_step step;
	struct rfs_memory *memory;
	const struct cred *cred;
	struct rfs_request *request;
};

/* A transfer larger than the worker's buffer goes to the same memory several times. */
#define RFS_VECTORS_MAX (IOT_PROGRAM_LENGTH_MAX / IOT_WORKER_BUFFER_BYTES + 1)

/**
 * struct rfs_room - memory of one direct read at a time, in the address space of a task
 * @address: in user space
 * @bytes: its length; 0: there is none
 */
struct rfs_room {
	unsigned long address;
	u64 bytes;
};

/**
 * struct rfs_memory - kernel memory that a worker needs
 * @path: for a part of a path in the program, as much as one look-up takes, or the target of a link
 * @touched_bytes: pages of the worker's sink that are in memory, from its beginning
 * @own: address in user space of the memory of the present read, if that does not use the sink
 * @own_bytes: its length; 0: the read uses the sink
 * @room: of direct reads that are longer than the sink
 * @vectors: for transfers
 */
struct rfs_memory {
	char path[IOT_LOOKUP_MAX];
	u64 touched_bytes;
	unsigned long own;
	u64 own_bytes;
	struct rfs_room room;
	struct iovec vectors[RFS_VECTORS_MAX];
};

/**
 * struct rfs_pool - tasks that any of the same workers can run, see worker_pool.c
 * @space: their address space, IOT_SPACE_COMMON if they need none of their own
 * @numbers: of tasks and workers
 * @workers: workers that have entered so far
 * @lock: of the numbers and of @ready
 * @ready: tasks that may start, or could when they were added
 * @idlers: idle workers
 * @keepers: the keeper
 */
struct rfs_pool {
	u32 space;
	struct iot_pool numbers;
	u32 workers;
	spinlock_t lock;
	struct list_head ready;
	wait_queue_head_t idlers;
	wait_queue_head_t keepers;
};

struct rfs_latch {
	wait_queue_head_t opened;
};

struct rfs_handle;
struct rfs_map;
struct rfs_request;

/**
 * struct rfs_replay - a replay
 * @lock: serializes load, setup and start
 * @state: moves down the list of states under @lock
 * @source: where the program comes from
 * @program: addresses of its sections; from RFS_LOADED on
 * @order: progress of tasks and latches
 * @tasks: one for each task of the program
 * @latches: one for each latch
 * @moved: queues of tasks that wait for operations, see wait_queues.c
 * @moved_mask: their number, a power of two, less one
 * @handles: slots of open files, see handles.h
 * @maps: slots of mappings, see handles.h
 * @pools: of workers
 * @pool_count: their number
 * @roots: tasks that may start at once
 * @requests: of the request queues, one each
 * @under_way: requests that have been submitted and have not ended
 * @carried: tasks that are no request queues, and are not another node's
 * @partition: which part of the program is run here; NULL for all of it
 * @windows: one for each task, if the program is streamed, else NULL
 * @starts: waits of first operations, if the program is streamed
 * @hungry: windows that the feeder should look at
 * @feeders: queue of the feeder
 * @is_fed: there is a feeder
 * @primed: tasks that the feeder has looked at, to fill their windows ahead of them
 * @ahead: of them, those that have not begun
 * @root: the target, as a mount of its own: mounts in it cannot be reached
 * @session: where outcomes go, NULL if nowhere
 * @setup: options; from RFS_READY on
 * @go: workers that wait for the start
 * @options: parameters of every step; valid from RFS_STARTED on
 * @is_timed: durations or end times of operations are needed
 * @waiting: tasks that have a worker, or had one
 * @finished: tasks that have ended, their request queues before them
 * @is_started: the condition that workers on @go wait for
 * @is_cancelled: checked by all waiters, too
 * @start_ns: monotonic clock at the start, 0 before
 * @end_ns: monotonic clock at the end of the last task, 0 before
 */
struct rfs_replay {
	struct mutex lock;
	enum rfs_state state;
	struct rfs_source source;
	struct iot_program program;
	struct iot_order order;
	struct rfs_task *tasks;
	struct rfs_latch *latches;
	wait_queue_head_t *moved;
	u32 moved_mask;
	struct rfs_handle *handles;
	struct rfs_map *maps;
	struct rfs_pool *pools;
	u32 pool_count;
	u32 roots;
	struct rfs_request *requests;
	atomic_t under_way;
	u32 carried;
	struct rfs_partition *partition;
	struct rfs_window *windows;
	struct iot_program_wait *starts;
	struct llist_head hungry;
	wait_queue_head_t feeders;
	unsigned long is_fed;
	u32 primed;
	atomic_t ahead;
	struct path root;
	struct iot_session *session;
	struct iot_replay_setup setup;
	struct iot_step_options options;
	bool is_timed;
	wait_queue_head_t go;
	atomic_t waiting;
	atomic_t finished;
	bool is_started;
	bool is_cancelled;
	u64 start_ns;
	u64 end_ns;
};

/**
 * struct rfs_worker - a thread of the user that runs a task, while it is in the kernel
 * @replay: the replay; the descriptor that the thread came through keeps it
 * @task_index: index of the task
 * @task: the same, claimed by this worker
 * @sink: its memory that reads go to
 * @source: its memory that writes come from
 * @ioprio: of its reads and writes, refreshed periodically
 * @delegated: inode whose delegation an NFS client has to return before the operation can be run
 */
struct rfs_worker {
	struct rfs_replay *replay;
	u32 task_index;
	struct rfs_task *task;
	void __user *sink;
	void __user *source;
	u16 ioprio;
	struct delegated_inode delegated;
};

static inline bool rfs_is_cancelled(const struct rfs_replay *replay)
{
	return READ_ONCE(replay->is_cancelled);
}

static inline const char *rfs_string(const struct rfs_worker *worker, __le32 offset)
{
	return iot_program_string(&worker->replay->program, offset);
}

/* program_load.c */
int rfs_load(struct rfs_replay *replay, struct iot_replay_load *load);
int rfs_setup(struct rfs_replay *replay, const struct iot_replay_setup *setup);
void rfs_unload(struct rfs_replay *replay);

/* program_source.c */
int rfs_source_open(struct rfs_source *source, const struct iot_replay_load *load,
		    struct iot_program *program, struct iot_reject *reject);
int rfs_source_refuse(const struct rfs_source *source, int err, struct iot_reject *reject);
int rfs_source_check(const struct rfs_source *source, u64 starts);
void rfs_source_settle(struct rfs_source *source, struct iot_program *program);
void rfs_source_close(struct rfs_source *source);

/* task_users.c */
int rfs_task_user_get(const struct iot_program_task *task, const struct cred **cred);

/* fresh.c */
int rfs_room_grow(struct rfs_room *room, u64 bytes);
void rfs_room_drop(struct rfs_room *room);
int rfs_fresh_prepare(struct rfs_worker *worker, const struct iot_program_op *op);
void rfs_fresh_end(struct rfs_worker *worker);

/* worker.c */
void rfs_task_forget(struct rfs_task *task);
int rfs_worker_run(struct rfs_replay *replay, struct iot_replay_run *run);
int rfs_start(struct rfs_replay *replay);
void rfs_cancel(struct rfs_replay *replay);
void rfs_queue_end(struct rfs_replay *replay, u32 queue, const struct iot_program_op *op, s64 result);
void rfs_status(struct rfs_replay *replay, struct iot_replay_status *status);

/* wait_queues.c */
int rfs_waits_init(struct rfs_replay *replay);
void rfs_waits_exit(struct rfs_replay *replay);
int rfs_wait_for(struct rfs_replay *replay, const struct iot_program_wait *wait, u64 until_ns);
bool rfs_call_when(struct rfs_waiter *waiter);
void rfs_wake_passed(struct rfs_replay *replay, u32 task, u32 from, u32 to);
void rfs_wake_moved(struct rfs_replay *replay, u32 task, u32 index);
void rfs_latch_signal(struct rfs_replay *replay, u32 latch, u32 count);
void rfs_wake_all(struct rfs_replay *replay);
wait_queue_head_t *rfs_queue_of_task(struct rfs_replay *replay, u32 task);

/**
 * rfs_move_on() - wake the tasks that wait for the progress of a task
 * @replay: started
 * @index: index of the task, which has ended the operation before its present index
 *
 * Callable in any context.
 */
static inline void rfs_move_on(struct rfs_replay *replay, u32 index)
{
	const struct rfs_task *task = &replay->tasks[index];
	u32 ended = task->step.index; /* a request queue may go on as soon as this is known */

	iot_store_release(iot_order_progress(&replay->order, index), ended);
	smp_mb(); /* see wait_queues.c */
	if (unlikely(atomic_read(&task->waiters)))
		rfs_wake_moved(replay, index, ended - 1);
}

/* worker_pool.c */
int rfs_pools_init(struct rfs_replay *replay);
void rfs_pools_fill(struct rfs_replay *replay);
bool rfs_pools_are_short(struct rfs_replay *replay);
void rfs_pools_start(struct rfs_replay *replay);
void rfs_pools_wake(struct rfs_replay *replay);
u32 rfs_pools_workers(const struct rfs_replay *replay);
struct rfs_pool *rfs_pool_of(struct rfs_replay *replay, u32 space);
void rfs_pool_leave(struct rfs_replay *replay, u32 number);
int rfs_pool_take(struct rfs_replay *replay, struct rfs_pool *pool, bool is_new, u32 *number);
int rfs_pool_keep(struct rfs_replay *replay, u32 space);

/* partition.c */
int rfs_partition_set(struct rfs_replay *replay, const struct iot_replay_partition *from);
void rfs_partition_exit(struct rfs_replay *replay);
int rfs_moved(struct rfs_replay *replay, const struct iot_replay_moved *from);
int rfs_advance(struct rfs_replay *replay, const struct iot_replay_move *to);
int rfs_latch_signal_remote(struct rfs_replay *replay, const struct iot_replay_signal *at);

/* pace_sleep.c */
int rfs_spin_until(const struct rfs_replay *replay, u64 until_ns);
int rfs_sleep_until(const struct rfs_replay *replay, u64 until_ns);
void rfs_lateness(struct rfs_replay *replay, struct iot_replay_lateness *lateness);

/* The number of the n-th request of a request queue, from 1, in outcomes. */
static inline u64 rfs_request_number(u32 queue, u32 nth)
{
	return (u64)queue << 32 | nth;
}

/* requests.c */
int rfs_requests_init(struct rfs_replay *replay);
void rfs_requests_exit(struct rfs_replay *replay);
void rfs_request_forget(struct rfs_replay *replay, u32 queue);

/* run_vfs.c */
s64 rfs_run_op(struct rfs_worker *worker, const struct iot_program_op *op);

/* outcome_emit.c */
u64 rfs_outcome(struct rfs_worker *worker, const struct iot_program_op *op, s64 result);
void rfs_outcome_dirent(struct rfs_worker *worker, const struct iot_program_op *op,
			const char *name, int length, unsigned int type);
void rfs_outcome_complete(struct rfs_replay *replay, u32 queue, const struct iot_program_op *op,
			  s64 result);
void rfs_outcome_end(struct rfs_replay *replay, struct iot_rec_played *stats);

/* replay_control.c */
int rfs_control_init(void);
void rfs_control_exit(void);

#endif
