// SPDX-License-Identifier: GPL-2.0-only
/*
 * window.c - operations and waits of a program that is larger than memory should hold.
 *
 * Each task that runs, or soon may, has a window of two streams: its operations, and its waits. A
 * stream is a ring of blocks of the program's file. A thread of the user, the feeder, reads blocks
 * into it; the worker of the task goes through them, and returns each when it asks for the next
 * one. It wakes the feeder when half of a ring is free, and waits only if it finds a ring empty,
 * which is counted: a stall.
 *
 * A block whose content is not the verified one is refused (core/replay/blocks.h), and the replay ends.
 *
 *		    worker				feeder
 *   stream.given   writes, release			reads, acquire
 *   stream.fed     reads, acquire			writes, release
 *   stream.bytes   reads the blocks			makes it, and frees it after `is_over`
 *   hungry	    adds the task, if it is not there	takes all
 *
 * The window of a request queue is used by the worker of its task.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#include "window.h"

#define RING_MIN   2
#define RING_MAX   2048
#define TURN_BLOCKS 16 /* blocks that are read for one task before the next one has its turn */
#define TASKS_AHEAD 64 /* tasks that have not begun and have a window */

/**
 * struct rfs_stream - operations or waits of a task, as blocks
 * @first: its first one, in the section
 * @blocks: number of blocks that they are in
 * @ring: blocks in memory at most
 * @fed: blocks that have been read so far
 * @given: blocks that have been released so far
 * @bytes: the ring
 */
struct rfs_stream {
	u64 first;
	u32 blocks;
	u32 ring;
	u32 fed;
	u32 given;
	u8 *bytes;
};

enum window_flag {
	WINDOW_HUNGRY, /* it is in the list of those */
	WINDOW_AHEAD,  /* it was fed before its task has begun, and is counted */
	WINDOW_BEGUN,  /* its task has begun */
};

/**
 * struct rfs_window - of a task
 * @node: in the list of those that are hungry
 * @flags: enum window_flag
 * @is_over: the worker no longer needs it
 * @ops: stream of operations
 * @waits: stream of waits
 */
struct rfs_window {
	struct llist_node node;
	unsigned long flags;
	bool is_over;
	struct rfs_stream ops;
	struct rfs_stream waits;
};

static u32 units_of(u32 section)
{
	return section == IOT_SECTION_OPS ? IOT_BLOCK_OPS : IOT_BLOCK_WAITS;
}

static void stream_init(struct rfs_stream *stream, u32 section, u64 first, u32 count, u32 ring)
{
	u32 units = units_of(section);

	stream->first = first;
	if (count)
		stream->blocks = (first + count - 1) / units - first / units + 1;
	stream->ring = min(ring, stream->blocks);
}

/* -- the feeder -------------------------------------------------------------------------------- */

static void wake_worker(struct rfs_replay *replay, u32 task)
{
	wait_queue_head_t *queue = rfs_queue_of_task(replay, task);

	smp_mb(); /* store the data before the check for waiters */
	if (waitqueue_active(queue))
		wake_up_all(queue);
}

/* Return: the number of blocks that remain to be read and for which there is room. */
static u32 room_of(const struct rfs_stream *stream)
{
	u32 held = stream->fed - smp_load_acquire(&stream->given);

	return min(stream->ring - held, stream->blocks - stream->fed);
}

static int publish_block(struct rfs_replay *replay, u32 task, struct rfs_stream *stream)
{
	smp_store_release(&stream->fed, stream->fed + 1);
	wake_worker(replay, task);
	cond_resched();
	if (rfs_is_cancelled(replay))
		return -ECANCELED;
	return signal_pending(current) ? -EINTR : 0;
}

/* Reads consecutive blocks of the ring at once, and passes them on one by one. */
static int feed_row(struct rfs_replay *replay, u32 task, u32 section, struct rfs_stream *stream,
		    u32 count)
{
	const struct iot_blocks *blocks = &replay->source.blocks;
	u64 number = iot_blocks_number(blocks, section, stream->first) + stream->fed;
	u8 *block = stream->bytes + (size_t)(stream->fed % stream->ring) * IOT_BLOCK_BYTES;
	int err = iot_blocks_read(blocks, number, count, block);

	for (; count && !err; count--, number++, block += IOT_BLOCK_BYTES)
		err = iot_blocks_check(blocks, number, block) ?: publish_block(replay, task, stream);
	return err;
}

/* One turn of a stream. */
static int feed_stream(struct rfs_replay *replay, u32 task, u32 section, struct rfs_stream *stream)
{
	u32 left = TURN_BLOCKS, count;
	int err = 0;

	if (!stream->bytes && stream->ring) {
		stream->bytes = kvmalloc_array(stream->ring, IOT_BLOCK_BYTES, GFP_KERNEL);
		if (!stream->bytes)
			return -ENOMEM;
	}
	for (; left && room_of(stream) && !err; left -= count) {
		count = min3(left, room_of(stream), stream->ring - stream->fed % stream->ring);
		err = feed_row(replay, task, section, stream, count);
	}
	return err;
}

static void window_free(struct rfs_window *window)
{
	kvfree(window->ops.bytes);
	kvfree(window->waits.bytes);
	window->ops.bytes = NULL;
	window->waits.bytes = NULL;
}

static void call_feeder(struct rfs_replay *replay, u32 task)
{
	struct rfs_window *window = &replay->windows[task];

	if (test_and_set_bit(WINDOW_HUNGRY, &window->flags))
		return;
	llist_add(&window->node, &replay->hungry); /* a full barrier */
	if (waitqueue_active(&replay->feeders))
		wake_up(&replay->feeders);
}

/* The rest of a window is fed after all other hungry windows had a turn. */
static int feed_window(struct rfs_replay *replay, u32 task)
{
	struct rfs_window *window = &replay->windows[task];
	int err;

	if (smp_load_acquire(&window->is_over)) {
		window_free(window);
		return 0;
	}
	err = feed_stream(replay, task, IOT_SECTION_OPS, &window->ops);
	/* The waits of a request queue follow from its definition: they are not used again. */
	if (!err && !replay->tasks[task].request)
		err = feed_stream(replay, task, IOT_SECTION_WAITS, &window->waits);
	if (!err && (room_of(&window->ops) ||
		     (!replay->tasks[task].request && room_of(&window->waits))))
		call_feeder(replay, task);
	return err;
}

static int feed_hungry(struct rfs_replay *replay)
{
	struct llist_node *node = llist_reverse_order(llist_del_all(&replay->hungry));
	struct rfs_window *window, *next;
	int err = 0;

	llist_for_each_entry_safe(window, next, node, node) {
		u32 task = window - replay->windows;

		clear_bit(WINDOW_HUNGRY, &window->flags);
		smp_mb__after_atomic(); /* a window that becomes hungry from here on is in the list again */
		if (!err)
			err = feed_window(replay, task);
		if (err == -EINTR)
			call_feeder(replay, task); /* the next call continues with it */
	}
	return err;
}

static void count_begun(struct rfs_replay *replay, struct rfs_window *window)
{
	smp_mb(); /* one flag was set, the other is looked at: one of the two sees both */
	if (test_bit(WINDOW_BEGUN, &window->flags) && test_and_clear_bit(WINDOW_AHEAD, &window->flags))
		atomic_dec(&replay->ahead);
}

/*
 * Tasks begin roughly in the order of the program, so windows are filled ahead for the next ones. Windows of
 * request queues are filled when their tasks begin.
 */
static bool is_ahead(const struct rfs_replay *replay)
{
	return replay->primed < replay->program.task_count &&
	       atomic_read(&replay->ahead) < TASKS_AHEAD;
}

static int feed_ahead(struct rfs_replay *replay)
{
	struct rfs_window *window;
	int err = 0;

	while (is_ahead(replay) && llist_empty(&replay->hungry) && !err) {
		window = &replay->windows[replay->primed];
		if (!replay->tasks[replay->primed].request &&
		    !test_bit(WINDOW_BEGUN, &window->flags)) {
			if (!test_and_set_bit(WINDOW_AHEAD, &window->flags))
				atomic_inc(&replay->ahead);
			err = feed_window(replay, replay->primed);
			if (err == -EINTR) /* its task may begin before the next call, which resumes it */
				call_feeder(replay, replay->primed);
			count_begun(replay, window);
		}
		replay->primed++;
		cond_resched();
	}
	return err;
}

static bool is_at_end(const struct rfs_replay *replay)
{
	return atomic_read(&replay->finished) >= replay->carried;
}

static bool has_work(const struct rfs_replay *replay)
{
	return !llist_empty(&replay->hungry) || is_ahead(replay) || is_at_end(replay) ||
	       rfs_is_cancelled(replay);
}

static int feed(struct rfs_replay *replay)
{
	int err = 0;

	while (!err && !is_at_end(replay)) {
		if (rfs_is_cancelled(replay))
			return -ECANCELED;
		err = feed_hungry(replay);
		if (!err)
			err = feed_ahead(replay);
		if (!err && wait_event_interruptible(replay->feeders, has_work(replay)))
			err = -EINTR;
	}
	return err;
}

/**
 * rfs_windows_feed() - be the feeder, until no task needs more
 * @replay: ready or started
 *
 * Return: 0; -EINTR; -ECANCELED; -EBUSY if there is one; -EINVAL if the program is in memory; and if
 * the program cannot be read any more, -EBADMSG if its file has changed, or another errno: then
 * the replay is cancelled.
 */
int rfs_windows_feed(struct rfs_replay *replay)
{
	int err;

	if (!replay->windows)
		return -EINVAL;
	if (test_and_set_bit_lock(0, &replay->is_fed))
		return -EBUSY;
	err = feed(replay);
	clear_bit_unlock(0, &replay->is_fed);
	if (err && err != -EINTR && err != -ECANCELED)
		rfs_cancel(replay);
	return err;
}

/* -- workers ---------------------------------------------------------------------------------- */

/* Wait until the block of a unit is fed. */
static int wait_for_block(struct rfs_replay *replay, u32 task, const struct rfs_stream *stream,
			  u32 block, struct iot_rec_played *stats)
{
	int err;

	if (READ_ONCE(replay->is_started))
		stats->stalls++;
	call_feeder(replay, task);
	err = wait_event_interruptible(*rfs_queue_of_task(replay, task),
				       smp_load_acquire(&stream->fed) > block ||
					       rfs_is_cancelled(replay));
	if (rfs_is_cancelled(replay))
		return -ECANCELED;
	return err ? -EINTR : 0;
}

static int go_to_block(struct rfs_replay *replay, u32 task, struct rfs_stream *stream, u32 block,
		       struct iot_rec_played *stats)
{
	if (block > stream->given) {
		smp_store_release(&stream->given, block);
		if (READ_ONCE(stream->fed) < stream->blocks &&
		    READ_ONCE(stream->fed) - block <= stream->ring / 2)
			call_feeder(replay, task);
	}
	if (likely(smp_load_acquire(&stream->fed) > block))
		return 0;
	return wait_for_block(replay, task, stream, block, stats);
}

/**
 * rfs_window_unit() - the part of rfs_op() and rfs_wait() for a program that is not in memory
 * @replay: ready or started
 * @task: index of the task
 * @section: IOT_SECTION_OPS or IOT_SECTION_WAITS
 * @index: of the operation or wait in its task; does not decrease
 * @stats: of the worker; waits for the feeder are counted there
 *
 * Return: the operation or wait, valid until the next call for the task; an ERR_PTR of -ECANCELED or -EINTR.
 * Context: sleeps until the feeder has read that part of the program.
 */
const void *rfs_window_unit(struct rfs_replay *replay, u32 task, u32 section, u32 index,
			    struct iot_rec_played *stats)
{
	struct rfs_window *window = &replay->windows[task];
	bool is_op = section == IOT_SECTION_OPS;
	struct rfs_stream *stream = is_op ? &window->ops : &window->waits;
	u32 units = units_of(section), block = (stream->first + index) / units - stream->first / units;
	int err = go_to_block(replay, task, stream, block, stats);
	const u8 *bytes;

	if (unlikely(err))
		return ERR_PTR(err);
	bytes = stream->bytes + (size_t)(block % stream->ring) * IOT_BLOCK_BYTES;
	return bytes + (stream->first + index) % units *
			       (is_op ? sizeof(struct iot_program_op) : sizeof(struct iot_program_wait));
}

/* Nothing is measured before the start: a worker that waits for it has a full window. */
static int wait_until_full(struct rfs_replay *replay, u32 task, const struct rfs_stream *stream)
{
	int err = wait_event_interruptible(*rfs_queue_of_task(replay, task),
					   smp_load_acquire(&stream->fed) >= stream->ring ||
						   rfs_is_cancelled(replay));

	if (rfs_is_cancelled(replay))
		return -ECANCELED;
	return err ? -EINTR : 0;
}

/**
 * rfs_window_begin() - a worker has taken a task: wait until its first blocks are in memory
 * @replay: ready or started
 * @task: index of the task
 * @stats: where stalls are counted
 *
 * Return: 0; -EINTR; -ECANCELED.
 */
int rfs_window_begin(struct rfs_replay *replay, u32 task, struct iot_rec_played *stats)
{
	struct rfs_window *window = &replay->windows[task];
	u32 queue;
	int err = 0;

	set_bit(WINDOW_BEGUN, &window->flags);
	count_begun(replay, window);
	rfs_windows_wake(replay);
	for (queue = task + 1; queue < replay->program.task_count && replay->tasks[queue].request; queue++)
		call_feeder(replay, queue);
	if (window->ops.blocks)
		err = go_to_block(replay, task, &window->ops, 0, stats);
	if (!err && window->waits.blocks)
		err = go_to_block(replay, task, &window->waits, 0, stats);
	if (!err && !READ_ONCE(replay->is_started))
		err = wait_until_full(replay, task, &window->ops) ?:
		      wait_until_full(replay, task, &window->waits);
	return err;
}

/**
 * rfs_window_end() - a task has ended, or for a request queue, the task that has it
 * @replay: started
 * @task: index of the task
 */
void rfs_window_end(struct rfs_replay *replay, u32 task)
{
	smp_store_release(&replay->windows[task].is_over, true);
	call_feeder(replay, task);
}

/**
 * rfs_windows_wake() - let the feeder look whether there is anything to do
 * @replay: loaded; the caller has stored what the feeder is to see
 */
void rfs_windows_wake(struct rfs_replay *replay)
{
	smp_mb(); /* store the state before the check for a sleeper */
	if (waitqueue_active(&replay->feeders))
		wake_up(&replay->feeders);
}

/* -- the whole ----------------------------------------------------------------------------------- */

static u32 count_starts(const struct iot_program *program, const struct iot_program_task *task)
{
	struct iot_program_op room;

	if (!le32_to_cpu(task->op_count))
		return 0;
	return le16_to_cpu(iot_program_op_at(program, le64_to_cpu(task->first_op), &room)->wait_count);
}

/*
 * Waits of first operations, which are the first of their tasks, stay in memory: a task that waits
 * for them has no worker yet.
 */
static int starts_init(struct rfs_replay *replay)
{
	const struct iot_program *program = &replay->program;
	struct iot_program_wait *start;
	u64 count = 0;
	u32 i, n;

	for (i = 0; i < program->task_count; i++) {
		replay->tasks[i].start_count = count_starts(program, &program->tasks[i]);
		count += replay->tasks[i].start_count;
		if (program->waits)
			replay->tasks[i].starts =
				program->waits + le64_to_cpu(program->tasks[i].first_wait);
		cond_resched();
	}
	if (program->waits)
		return 0;
	if (rfs_source_check(&replay->source, count))
		return -EFBIG;
	replay->starts = vmalloc(array_size(count + 1, sizeof(*start)));
	if (!replay->starts)
		return -ENOMEM;
	start = replay->starts;
	for (i = 0; i < program->task_count; i++) {
		replay->tasks[i].starts = start;
		for (n = 0; n < replay->tasks[i].start_count; n++, start++)
			*start = *iot_program_wait_at(
				program, le64_to_cpu(program->tasks[i].first_wait) + n, start);
		cond_resched();
	}
	return program->reader->error;
}

/* Number of blocks that each stream may have if all tasks run at once. */
static u32 ring_of(const struct rfs_replay *replay, u64 room_bytes)
{
	u64 blocks = room_bytes / IOT_BLOCK_BYTES / max(replay->program.task_count, 1u);

	return clamp_t(u64, blocks, RING_MIN, RING_MAX);
}

/**
 * rfs_windows_init() - make the waits of first operations and, for a streamed program, the empty windows
 * @replay: its tasks are there; the program is verified, and its reader can still be used
 * @room_bytes: memory for all windows, if that is enough for two blocks of each stream
 *
 * Return: 0; -ENOMEM; -EFBIG; what reading the program returns.
 */
int rfs_windows_init(struct rfs_replay *replay, u64 room_bytes)
{
	const struct iot_program *program = &replay->program;
	int err = starts_init(replay);
	u32 ops_ring = ring_of(replay, room_bytes / 4 * 3), waits_ring = ring_of(replay, room_bytes / 4), i;

	if (err || program->ops)
		return err;
	replay->windows = vzalloc(array_size(program->task_count + 1, sizeof(*replay->windows)));
	if (!replay->windows)
		return -ENOMEM;
	for (i = 0; i < program->task_count; i++) {
		const struct iot_program_task *task = &program->tasks[i];

		stream_init(&replay->windows[i].ops, IOT_SECTION_OPS, le64_to_cpu(task->first_op),
			    le32_to_cpu(task->op_count), ops_ring);
		stream_init(&replay->windows[i].waits, IOT_SECTION_WAITS,
			    le64_to_cpu(task->first_wait), le32_to_cpu(task->wait_count), waits_ring);
	}
	return 0;
}

/**
 * rfs_windows_exit() - free the memory of rfs_windows_init(), also after it failed
 * @replay: no longer in use
 */
void rfs_windows_exit(struct rfs_replay *replay)
{
	u32 i;

	for (i = 0; replay->windows && i < replay->program.task_count; i++)
		window_free(&replay->windows[i]);
	vfree(replay->windows);
	vfree(replay->starts);
	replay->windows = NULL;
	replay->starts = NULL;
}
