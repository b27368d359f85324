// SPDX-License-Identifier: GPL-2.0-only
/*
 * share.c - a replay that runs a part of a program, because other nodes run the rest.
 *
 * An agent in user space transports progress between nodes whose tasks wait for each other. Before the
 * set-up it passes the tasks that run here, and their marks: the operations at which other nodes need a
 * report. Then it calls in to sleep until tasks have passed marks, and to pass the progress of tasks elsewhere.
 *
 * A marker waits for each task with marks, at its next mark. For the task the marker is a waiter like any
 * other, so the agent costs the task no extra work. The agent moves the marker on when it has taken the mark.
 *
 * Input of the agent is checked as far as it could harm more than this replay: counters only grow, and
 * only those of tasks elsewhere.
 *
 * Locking: @lock, for the agent, one thread at a time. @reached_lock, which nests inside that of a
 * queue that somebody waits on, for the list of markers that have been reached.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "replayfs.h"

/* What the agent gets at once, and how long it sleeps at most. */
#define MOVED_MAX      256
#define TIMEOUT_NS_MAX NSEC_PER_SEC

struct marker {
	struct rfs_waiter waiter;
	struct list_head reached;
	struct rfs_share *share;
	u32 task;
	u32 next;
	u32 end;
};

struct rfs_share {
	struct rfs_replay *replay;
	struct mutex lock;
	u8 *is_here;
	struct iot_program_wait *marks;
	u32 mark_count;
	u32 *elsewhere;
	struct marker *markers;
	u32 marker_count;
	spinlock_t reached_lock;
	struct list_head reached;
	wait_queue_head_t agent;
	struct iot_replay_move moved[MOVED_MAX];
};

/* -- before the set-up ------------------------------------------------------------------------- */

static u32 mark_task(const struct rfs_share *share, u32 mark)
{
	return le32_to_cpu(share->marks[mark].task);
}

static u32 mark_index(const struct rfs_share *share, u32 mark)
{
	return le32_to_cpu(share->marks[mark].index);
}

/* Marks are of tasks here, and in order. */
static int check_marks(const struct rfs_share *share)
{
	const struct iot_program *program = &share->replay->program;
	u32 i;

	for (i = 0; i < share->mark_count; i++) {
		u32 task = mark_task(share, i), index = mark_index(share, i);

		if (task >= program->task_count || !share->is_here[task] ||
		    index >= le32_to_cpu(program->tasks[task].op_count))
			return -EINVAL;
		if (i && (mark_task(share, i - 1) > task ||
			  (mark_task(share, i - 1) == task && mark_index(share, i - 1) >= index)))
			return -EINVAL;
		cond_resched();
	}
	return 0;
}

/* No more can arrive elsewhere than arrive; and a request queue is where its task is. */
static int check_share(const struct rfs_share *share)
{
	const struct iot_program *program = &share->replay->program;
	u32 i;

	for (i = 0; i < program->latch_count; i++)
		if (share->elsewhere[i] > le32_to_cpu(program->latches[i].arrivals))
			return -EINVAL;
	for (i = 0; i < program->task_count; i++) {
		if (share->is_here[i] > 1)
			return -EINVAL;
		if (le32_to_cpu(program->tasks[i].flags) & IOT_TASK_QUEUE &&
		    share->is_here[i] != share->is_here[le32_to_cpu(program->tasks[i].parent)])
			return -EINVAL;
	}
	return check_marks(share);
}

static void *take_array(u64 address, u64 count, size_t element_bytes)
{
	void *array = vmalloc(array_size(count + 1, element_bytes));

	if (!array)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(array, u64_to_user_ptr(address), count * element_bytes)) {
		vfree(array);
		return ERR_PTR(-EFAULT);
	}
	return array;
}

/* Called with the lock of a queue. */
static void reach(struct rfs_waiter *waiter)
{
	struct marker *marker = container_of(waiter, struct marker, waiter);
	struct rfs_share *share = marker->share;
	unsigned long flags;

	spin_lock_irqsave(&share->reached_lock, flags);
	list_add_tail(&marker->reached, &share->reached);
	spin_unlock_irqrestore(&share->reached_lock, flags);
	wake_up(&share->agent);
}

static void set_marker(struct marker *marker)
{
	if (marker->next == marker->end)
		return;
	marker->waiter.wait = &marker->share->marks[marker->next];
	if (!rfs_call_when(&marker->waiter))
		reach(&marker->waiter);
}

static u32 count_marked(const struct rfs_share *share)
{
	u32 count = 0, i;

	for (i = 0; i < share->mark_count; i++)
		count += !i || mark_task(share, i) != mark_task(share, i - 1);
	return count;
}

static int make_markers(struct rfs_share *share)
{
	struct marker *marker;
	u32 i;

	share->markers = vzalloc(array_size(count_marked(share) + 1, sizeof(*share->markers)));
	if (!share->markers)
		return -ENOMEM;
	for (i = 0; i < share->mark_count; i++) {
		if (i && mark_task(share, i) == mark_task(share, i - 1))
			continue;
		marker = &share->markers[share->marker_count++];
		marker->share = share;
		marker->task = mark_task(share, i);
		marker->next = i;
		marker->waiter.replay = share->replay;
		marker->waiter.is_over = reach;
		if (marker != share->markers)
			marker[-1].end = i;
	}
	if (share->marker_count)
		share->markers[share->marker_count - 1].end = share->mark_count;
	return 0;
}

static void free_share(struct rfs_share *share)
{
	vfree(share->is_here);
	vfree(share->marks);
	vfree(share->elsewhere);
	vfree(share->markers);
	kvfree(share);
}

static int fill_share(struct rfs_share *share, const struct iot_replay_share *from)
{
	const struct iot_program *program = &share->replay->program;
	void *array;
	int err;

	array = take_array(from->is_here, program->task_count, sizeof(*share->is_here));
	if (IS_ERR(array))
		return PTR_ERR(array);
	share->is_here = array;
	array = take_array(from->elsewhere, program->latch_count, sizeof(*share->elsewhere));
	if (IS_ERR(array))
		return PTR_ERR(array);
	share->elsewhere = array;
	array = take_array(from->marks, from->mark_count, sizeof(*share->marks));
	if (IS_ERR(array))
		return PTR_ERR(array);
	share->marks = array;
	share->mark_count = from->mark_count;
	err = check_share(share);
	return err ? err : make_markers(share);
}

/**
 * rfs_share() - this replay runs a part of its program
 * @replay: loaded, and serialized by its lock
 * @from: from user space: which part
 *
 * Return: 0; -EINVAL, also if the program is streamed; -EBUSY if it has been said, or it is set up already; -EFAULT; -ENOMEM.
 */
int rfs_share(struct rfs_replay *replay, const struct iot_replay_share *from)
{
	struct rfs_share *share;
	u32 i;
	int err;

	if (replay->state != RFS_LOADED || replay->share)
		return replay->state == RFS_EMPTY ? -EINVAL : -EBUSY;
	if (replay->windows || from->reserved || from->mark_count > replay->program.op_count)
		return -EINVAL;
	share = kvzalloc(sizeof(*share), GFP_KERNEL);
	if (!share)
		return -ENOMEM;
	share->replay = replay;
	mutex_init(&share->lock);
	spin_lock_init(&share->reached_lock);
	INIT_LIST_HEAD(&share->reached);
	init_waitqueue_head(&share->agent);
	err = fill_share(share, from);
	if (err) {
		free_share(share);
		return err;
	}
	for (i = 0; i < share->marker_count; i++)
		set_marker(&share->markers[i]);
	for (i = 0; i < replay->program.task_count; i++)
		if (!share->is_here[i])
			rfs_pool_leave(replay, i);
	replay->share = share;
	return 0;
}

/**
 * rfs_share_exit() - nobody uses the replay any more
 * @replay: whose tasks, and the queues that they wait in, are going to be freed
 */
void rfs_share_exit(struct rfs_replay *replay)
{
	if (replay->share)
		free_share(replay->share);
	replay->share = NULL;
}

/* -- while it runs ------------------------------------------------------------------------------- */

/* Return: the share, locked, of a replay that is ready; -EINVAL, -EINTR. */
static struct rfs_share *lock_share(struct rfs_replay *replay)
{
	if (smp_load_acquire(&replay->state) < RFS_READY || !replay->share)
		return ERR_PTR(-EINVAL);
	if (mutex_lock_interruptible(&replay->share->lock))
		return ERR_PTR(-EINTR);
	return replay->share;
}

static struct marker *next_reached(struct rfs_share *share)
{
	struct marker *marker;

	spin_lock_irq(&share->reached_lock);
	marker = list_first_entry_or_null(&share->reached, struct marker, reached);
	if (marker)
		list_del(&marker->reached);
	spin_unlock_irq(&share->reached_lock);
	return marker;
}

/* Return: has it passed any? Not if it was called because the replay was cancelled: it stays so. */
static bool take_marker(struct marker *marker, struct iot_replay_move *moved)
{
	struct rfs_share *share = marker->share;
	u32 ended = iot_load_acquire(iot_order_progress(&share->replay->order, marker->task));
	u32 before = marker->next;

	while (marker->next < marker->end && mark_index(share, marker->next) < ended)
		marker->next++;
	if (marker->next == before)
		return false;
	*moved = (struct iot_replay_move){ .task = marker->task, .ended = ended };
	set_marker(marker);
	return true;
}

static int take_markers(struct rfs_share *share, u32 room)
{
	struct marker *marker;
	u32 count = 0;

	while (count < room && (marker = next_reached(share)))
		count += take_marker(marker, &share->moved[count]);
	return count;
}

/**
 * rfs_moved() - wait until tasks have passed marks
 * @replay: ready or started
 * @from: from user space: where to say which, and how long to wait
 *
 * Return: how many have, 0 when the time has passed; -EINVAL, -EINTR, -EFAULT.
 */
int rfs_moved(struct rfs_replay *replay, const struct iot_replay_moved *from)
{
	struct rfs_share *share;
	int count;

	if (from->room > MOVED_MAX || from->timeout_ns > TIMEOUT_NS_MAX)
		return -EINVAL;
	share = lock_share(replay);
	if (IS_ERR(share))
		return PTR_ERR(share);
	count = take_markers(share, from->room);
	if (!count && from->timeout_ns) {
		count = wait_event_interruptible_hrtimeout(share->agent,
				!list_empty_careful(&share->reached), ns_to_ktime(from->timeout_ns));
		count = count == -ERESTARTSYS ? -EINTR : take_markers(share, from->room);
	}
	if (count > 0 && copy_to_user(u64_to_user_ptr(from->moved), share->moved,
				      count * sizeof(share->moved[0])))
		count = -EFAULT;
	mutex_unlock(&share->lock);
	return count;
}

/**
 * rfs_advance() - a task elsewhere has got on
 * @replay: ready or started
 * @to: from user space: which, and how far
 *
 * Return: 0; -EINVAL if it is not elsewhere, or cannot have got there; -EINTR.
 */
int rfs_advance(struct rfs_replay *replay, const struct iot_replay_move *to)
{
	const struct iot_program *program = &replay->program;
	struct rfs_share *share = lock_share(replay);
	int err = -EINVAL;
	u32 *progress, before;

	if (IS_ERR(share))
		return PTR_ERR(share);
	if (to->task < program->task_count && !share->is_here[to->task] &&
	    to->ended <= le32_to_cpu(program->tasks[to->task].op_count)) {
		progress = iot_order_progress(&replay->order, to->task);
		before = *progress;
		if (to->ended > before) {
			iot_store_release(progress, to->ended);
			rfs_wake_passed(replay, to->task, before, to->ended);
			err = 0;
		}
	}
	mutex_unlock(&share->lock);
	return err;
}

/**
 * rfs_arrive_elsewhere() - tasks elsewhere have arrived at a latch
 * @replay: ready or started
 * @at: from user space: which, and how many
 *
 * Return: 0; -EINVAL if so many do not arrive elsewhere; -EINTR.
 */
int rfs_arrive_elsewhere(struct rfs_replay *replay, const struct iot_replay_arrive *at)
{
	struct rfs_share *share = lock_share(replay);
	int err = -EINVAL;

	if (IS_ERR(share))
		return PTR_ERR(share);
	if (at->latch < replay->program.latch_count && at->count &&
	    at->count <= share->elsewhere[at->latch]) {
		share->elsewhere[at->latch] -= at->count;
		rfs_arrive(replay, at->latch, at->count);
		err = 0;
	}
	mutex_unlock(&share->lock);
	return err;
}
