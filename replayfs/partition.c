// SPDX-License-Identifier: GPL-2.0-only
/*
 * partition.c - a replay that runs one partition of a program; other nodes run the others.
 *
 * An agent in user space transports progress between nodes whose tasks wait for each other. Before the set-up it
 * passes the tasks that run here, and their marks: the operations at which other nodes need a report. Then it calls
 * to wait until tasks have passed marks, and to report the progress of tasks on other nodes.
 *
 * A marker waits for each task with marks, at its next mark. For the task the marker is a waiter like any
 * other, so the agent costs the task no extra work. The agent moves the marker on when it has taken the mark.
 *
 * Input of the agent is checked as far as it could harm more than this replay: it can only increase counters, and
 * only those of tasks on other nodes.
 *
 * Locking: @lock, for the agent, one thread at a time. @reached_lock, which nests inside that of a
 * wait queue, for the list of markers that have been reached.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "replayfs.h"

/* Limits of one call of the agent: moves that it gets, and its sleep. */
#define MOVED_MAX      256
#define TIMEOUT_NS_MAX NSEC_PER_SEC

struct marker {
	struct rfs_waiter waiter;
	struct list_head reached;
	struct rfs_partition *partition;
	u32 task;
	u32 next;
	u32 end;
};

struct rfs_partition {
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

static u32 mark_task(const struct rfs_partition *partition, u32 mark)
{
	return le32_to_cpu(partition->marks[mark].task);
}

static u32 mark_index(const struct rfs_partition *partition, u32 mark)
{
	return le32_to_cpu(partition->marks[mark].index);
}

/* Marks are of tasks here, and in order. */
static int check_marks(const struct rfs_partition *partition)
{
	const struct iot_program *program = &partition->replay->program;
	u32 i;

	for (i = 0; i < partition->mark_count; i++) {
		u32 task = mark_task(partition, i), index = mark_index(partition, i);

		if (task >= program->task_count || !partition->is_here[task] ||
		    index >= le32_to_cpu(program->tasks[task].op_count))
			return -EINVAL;
		if (i && (mark_task(partition, i - 1) > task ||
			  (mark_task(partition, i - 1) == task && mark_index(partition, i - 1) >= index)))
			return -EINVAL;
		cond_resched();
	}
	return 0;
}

/* Other nodes cannot send more signals than a latch has; a request queue is on the node of its task. */
static int partition_check(const struct rfs_partition *partition)
{
	const struct iot_program *program = &partition->replay->program;
	u32 i;

	for (i = 0; i < program->latch_count; i++)
		if (partition->elsewhere[i] > le32_to_cpu(program->latches[i].signals))
			return -EINVAL;
	for (i = 0; i < program->task_count; i++) {
		if (partition->is_here[i] > 1)
			return -EINVAL;
		if (le32_to_cpu(program->tasks[i].flags) & IOT_TASK_QUEUE &&
		    partition->is_here[i] != partition->is_here[le32_to_cpu(program->tasks[i].parent)])
			return -EINVAL;
	}
	return check_marks(partition);
}

static void *copy_array(u64 address, u64 count, size_t element_bytes)
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
static void marker_reach(struct rfs_waiter *waiter)
{
	struct marker *marker = container_of(waiter, struct marker, waiter);
	struct rfs_partition *partition = marker->partition;
	unsigned long flags;

	spin_lock_irqsave(&partition->reached_lock, flags);
	list_add_tail(&marker->reached, &partition->reached);
	spin_unlock_irqrestore(&partition->reached_lock, flags);
	wake_up(&partition->agent);
}

static void marker_set(struct marker *marker)
{
	if (marker->next == marker->end)
		return;
	marker->waiter.wait = &marker->partition->marks[marker->next];
	if (!rfs_call_when(&marker->waiter))
		marker_reach(&marker->waiter);
}

static u32 count_marked(const struct rfs_partition *partition)
{
	u32 count = 0, i;

	for (i = 0; i < partition->mark_count; i++)
		count += !i || mark_task(partition, i) != mark_task(partition, i - 1);
	return count;
}

static int make_markers(struct rfs_partition *partition)
{
	struct marker *marker;
	u32 i;

	partition->markers = vzalloc(array_size(count_marked(partition) + 1, sizeof(*partition->markers)));
	if (!partition->markers)
		return -ENOMEM;
	for (i = 0; i < partition->mark_count; i++) {
		if (i && mark_task(partition, i) == mark_task(partition, i - 1))
			continue;
		marker = &partition->markers[partition->marker_count++];
		marker->partition = partition;
		marker->task = mark_task(partition, i);
		marker->next = i;
		marker->waiter.replay = partition->replay;
		marker->waiter.is_over = marker_reach;
		if (marker != partition->markers)
			marker[-1].end = i;
	}
	if (partition->marker_count)
		partition->markers[partition->marker_count - 1].end = partition->mark_count;
	return 0;
}

static void partition_free(struct rfs_partition *partition)
{
	vfree(partition->is_here);
	vfree(partition->marks);
	vfree(partition->elsewhere);
	vfree(partition->markers);
	kvfree(partition);
}

static int partition_fill(struct rfs_partition *partition, const struct iot_replay_partition *from)
{
	const struct iot_program *program = &partition->replay->program;
	void *array;
	int err;

	array = copy_array(from->is_here, program->task_count, sizeof(*partition->is_here));
	if (IS_ERR(array))
		return PTR_ERR(array);
	partition->is_here = array;
	array = copy_array(from->elsewhere, program->latch_count, sizeof(*partition->elsewhere));
	if (IS_ERR(array))
		return PTR_ERR(array);
	partition->elsewhere = array;
	array = copy_array(from->marks, from->mark_count, sizeof(*partition->marks));
	if (IS_ERR(array))
		return PTR_ERR(array);
	partition->marks = array;
	partition->mark_count = from->mark_count;
	err = partition_check(partition);
	return err ? err : make_markers(partition);
}

/**
 * rfs_partition_set() - limit a replay to a partition of its program
 * @replay: loaded, and serialized by its lock
 * @from: from user space: which part
 *
 * Return: 0; -EINVAL, also if the program is streamed; -EBUSY if it has one, or is set up already; -EFAULT; -ENOMEM.
 */
int rfs_partition_set(struct rfs_replay *replay, const struct iot_replay_partition *from)
{
	struct rfs_partition *partition;
	u32 i;
	int err;

	if (replay->state != RFS_LOADED || replay->partition)
		return replay->state == RFS_EMPTY ? -EINVAL : -EBUSY;
	if (replay->windows || from->reserved || from->mark_count > replay->program.op_count)
		return -EINVAL;
	partition = kvzalloc(sizeof(*partition), GFP_KERNEL);
	if (!partition)
		return -ENOMEM;
	partition->replay = replay;
	mutex_init(&partition->lock);
	spin_lock_init(&partition->reached_lock);
	INIT_LIST_HEAD(&partition->reached);
	init_waitqueue_head(&partition->agent);
	err = partition_fill(partition, from);
	if (err) {
		partition_free(partition);
		return err;
	}
	for (i = 0; i < partition->marker_count; i++)
		marker_set(&partition->markers[i]);
	for (i = 0; i < replay->program.task_count; i++)
		if (!partition->is_here[i])
			rfs_pool_leave(replay, i);
	replay->partition = partition;
	return 0;
}

/**
 * rfs_partition_exit() - free the partition of an unused replay
 * @replay: whose tasks, and the queues that they wait in, are going to be freed
 */
void rfs_partition_exit(struct rfs_replay *replay)
{
	if (replay->partition)
		partition_free(replay->partition);
	replay->partition = NULL;
}

/* -- while it runs ------------------------------------------------------------------------------- */

/* Return: the partition, locked, of a replay that is ready; -EINVAL, -EINTR. */
static struct rfs_partition *partition_lock(struct rfs_replay *replay)
{
	if (smp_load_acquire(&replay->state) < RFS_READY || !replay->partition)
		return ERR_PTR(-EINVAL);
	if (mutex_lock_interruptible(&replay->partition->lock))
		return ERR_PTR(-EINTR);
	return replay->partition;
}

static struct marker *next_reached(struct rfs_partition *partition)
{
	struct marker *marker;

	spin_lock_irq(&partition->reached_lock);
	marker = list_first_entry_or_null(&partition->reached, struct marker, reached);
	if (marker)
		list_del(&marker->reached);
	spin_unlock_irq(&partition->reached_lock);
	return marker;
}

/* Return: true if the task has passed a mark; false if the marker was called for the end of the replay, and is done. */
static bool marker_take(struct marker *marker, struct iot_replay_move *moved)
{
	struct rfs_partition *partition = marker->partition;
	u32 ended = iot_load_acquire(iot_order_progress(&partition->replay->order, marker->task));
	u32 before = marker->next;

	while (marker->next < marker->end && mark_index(partition, marker->next) < ended)
		marker->next++;
	if (marker->next == before)
		return false;
	*moved = (struct iot_replay_move){ .task = marker->task, .ended = ended };
	marker_set(marker);
	return true;
}

static int markers_take(struct rfs_partition *partition, u32 room)
{
	struct marker *marker;
	u32 count = 0;

	while (count < room && (marker = next_reached(partition)))
		count += marker_take(marker, &partition->moved[count]);
	return count;
}

/**
 * rfs_moved() - wait until tasks have passed marks
 * @replay: ready or started
 * @from: from user space: room for the result, and a timeout
 *
 * Return: the number of tasks that have, 0 after a timeout; -EINVAL, -EINTR, -EFAULT.
 */
int rfs_moved(struct rfs_replay *replay, const struct iot_replay_moved *from)
{
	struct rfs_partition *partition;
	int count;

	if (from->room > MOVED_MAX || from->timeout_ns > TIMEOUT_NS_MAX)
		return -EINVAL;
	partition = partition_lock(replay);
	if (IS_ERR(partition))
		return PTR_ERR(partition);
	count = markers_take(partition, from->room);
	if (!count && from->timeout_ns) {
		count = wait_event_interruptible_hrtimeout(partition->agent,
				!list_empty_careful(&partition->reached), ns_to_ktime(from->timeout_ns));
		count = count == -ERESTARTSYS ? -EINTR : markers_take(partition, from->room);
	}
	if (count > 0 && copy_to_user(u64_to_user_ptr(from->moved), partition->moved,
				      count * sizeof(partition->moved[0])))
		count = -EFAULT;
	mutex_unlock(&partition->lock);
	return count;
}

/**
 * rfs_advance() - publish the progress of a task on another node
 * @replay: ready or started
 * @to: from user space: the task, and its progress
 *
 * Return: 0; -EINVAL if the task is local, or the progress impossible; -EINTR.
 */
int rfs_advance(struct rfs_replay *replay, const struct iot_replay_move *to)
{
	const struct iot_program *program = &replay->program;
	struct rfs_partition *partition = partition_lock(replay);
	int err = -EINVAL;
	u32 *progress, before;

	if (IS_ERR(partition))
		return PTR_ERR(partition);
	if (to->task < program->task_count && !partition->is_here[to->task] &&
	    to->ended <= le32_to_cpu(program->tasks[to->task].op_count)) {
		progress = iot_order_progress(&replay->order, to->task);
		before = *progress;
		if (to->ended > before) {
			iot_store_release(progress, to->ended);
			rfs_wake_passed(replay, to->task, before, to->ended);
			err = 0;
		}
	}
	mutex_unlock(&partition->lock);
	return err;
}

/**
 * rfs_latch_signal_remote() - signal a latch for tasks on other nodes
 * @replay: ready or started
 * @at: from user space: the latch, and the number of signals
 *
 * Return: 0; -EINVAL if other nodes do not send so many signals; -EINTR.
 */
int rfs_latch_signal_remote(struct rfs_replay *replay, const struct iot_replay_signal *at)
{
	struct rfs_partition *partition = partition_lock(replay);
	int err = -EINVAL;

	if (IS_ERR(partition))
		return PTR_ERR(partition);
	if (at->latch < replay->program.latch_count && at->count &&
	    at->count <= partition->elsewhere[at->latch]) {
		partition->elsewhere[at->latch] -= at->count;
		rfs_latch_signal(replay, at->latch, at->count);
		err = 0;
	}
	mutex_unlock(&partition->lock);
	return err;
}
