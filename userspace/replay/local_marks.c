// SPDX-License-Identifier: GPL-2.0-only
/*
 * local_marks.c - tasks of a local replay that other nodes wait for, and tasks of other nodes.
 *
 * The agent is woken by a task that has passed its mark. It wakes up, looks how far those tasks are,
 * and moves their marks on:
 *
 *		    agent				task
 *   1  store the new mark			store the new progress
 *   2  full barrier				full barrier
 *   3  look at the progress again		look at the mark
 *
 * So either the agent sees the progress, or the task sees the mark.
 */
#include "local_replay.h"

#include <errno.h>
#include <stdlib.h>

/**
 * local_replay_find_marks() - find the tasks that other nodes wait for
 * @local: whose tasks are there
 *
 * Return: 0 or -ENOMEM.
 */
int local_replay_find_marks(struct local_replay *local)
{
	const struct partition *partition = local->replay->partition;
	u32 i;

	for (i = 0; i < local->program->task_count; i++)
		local->tasks[i].mark = IOT_WAIT_LATCH;
	if (!partition)
		return 0;
	local->marked = malloc((local->program->task_count + 1ul) * sizeof(*local->marked));
	if (!local->marked)
		return -ENOMEM;
	for (i = 0; i < local->program->task_count; i++) {
		local->tasks[i].mark = partition_next_mark(partition, i);
		if (local->tasks[i].mark != IOT_WAIT_LATCH)
			local->marked[local->marked_count++] = i;
	}
	local->agent_turns = ~local->agent.turns; /* so that it looks at once */
	return 0;
}

/* The mark after the last operation that has ended. */
static u32 next_mark(const struct partition *partition, u32 task, u32 ended)
{
	size_t at = partition->next_mark[task];

	while (at < partition->mark_count && partition->marks[at].task == task && partition->marks[at].index < ended)
		at++;
	return at < partition->mark_count && partition->marks[at].task == task ? partition->marks[at].index :
									 IOT_WAIT_LATCH;
}

/* Return: has the task passed its mark? */
static bool look(struct local_replay *local, u32 number, struct iot_replay_move *moved)
{
	struct worker_task *task = &local->tasks[number];
	u32 *progress = iot_order_progress(&local->order, number);
	u32 ended = iot_load_acquire(progress);
	bool is_moved = false;

	while (ended > task->mark) {
		is_moved = true;
		*moved = (struct iot_replay_move){ .task = number, .ended = ended };
		__atomic_store_n(&task->mark, next_mark(local->replay->partition, number, ended),
				 __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		ended = iot_load_acquire(progress);
	}
	return is_moved;
}

static u32 look_at_all(struct local_replay *local, struct iot_replay_move *moved, u32 room)
{
	u32 turns = __atomic_load_n(&local->agent.turns, __ATOMIC_SEQ_CST), count = 0, i;

	if (turns == local->agent_turns)
		return 0;
	for (i = 0; i < local->marked_count && count < room; i++)
		count += look(local, local->marked[i], &moved[count]);
	if (count < room)
		local->agent_turns = turns; /* else it comes back for the rest */
	return count;
}

/**
 * local_replay_moved() - tasks that others wait for have got on
 * @local: set up
 * @moved: out: which, and how far
 * @room: for so many
 * @timeout_ns: how long to wait until there is one
 *
 * Return: their number.
 */
int local_replay_moved(struct local_replay *local, struct iot_replay_move *moved, u32 room, u64 timeout_ns)
{
	u32 count;

	__atomic_store_n(&local->agent.sleepers, 1, __ATOMIC_SEQ_CST);
	count = look_at_all(local, moved, room);
	if (!count && timeout_ns) {
		futex_sleep(&local->agent.turns, local->agent_turns, clock_now_ns() + timeout_ns);
		count = look_at_all(local, moved, room);
	}
	return (int)count;
}

/**
 * local_replay_advance() - a task of another node has got on
 * @local: set up
 * @task: which
 * @ended: operations of it that have ended
 *
 * Return: 0.
 */
int local_replay_advance(struct local_replay *local, u32 task, u32 ended)
{
	u32 *progress = iot_order_progress(&local->order, task);
	u32 before = *progress;

	iot_store_release(progress, ended);
	park_wake_passed(local, task, before, ended);
	return 0;
}

/**
 * local_replay_signal() - tasks of another node have arrived at a latch
 * @local: set up
 * @latch: which
 * @count: their number
 *
 * Return: 0.
 */
int local_replay_signal(struct local_replay *local, u32 latch, u32 count)
{
	if (!__atomic_sub_fetch(&local->order.pending[latch], count, __ATOMIC_ACQ_REL))
		park_wake_opened(local, latch);
	return 0;
}
