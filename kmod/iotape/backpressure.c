// SPDX-License-Identifier: GPL-2.0-only
/*
 * backpressure.c - policy `block`: a task that got ahead of the collector waits for it.
 *
 * A task never waits where its record is written: it may hold locks there, or be in a page fault. It waits where it
 * holds nothing,
 *
 *   - before it returns to user mode, by task work;
 *   - kernel threads, which never return, at the next operation that may sleep; so does every task if the kernel lets
 *     no module add task work (compat/taskwork.h), and a task that is due to wait and writes many records in one
 *     call, but not in exec.
 *
 * The wait ends when no CPU is behind, when the session ends, and on any signal. No signal reaches a kernel thread: its
 * wait also ends when the sender makes no progress, as the collector may be waiting for that very thread. Records that a
 * task writes after it was marked, and before it waits, go into the half of the buffers below the low-water mark, or
 * are lost and counted.
 */
#include "backpressure.h"

#include <linux/freezer.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>

#include "compat/taskwork.h"
#include "session.h"
#include "task.h"

#define PATIENCE_MS 1000 /* of a kernel thread, while nothing is sent */

static atomic_t armed_tasks = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(armed_wait);

/* -- whether a CPU is behind ---------------------------------------------------------------- */

/**
 * iot_backpressure_init() - no CPU is behind
 * @backpressure: zeroed
 * @buffers: of each CPU
 */
void iot_backpressure_init(struct iot_backpressure *backpressure, u32 buffers)
{
	init_waitqueue_head(&backpressure->wait);
	backpressure->low_water = buffers / 2;
	backpressure->stuck_bytes = U64_MAX;
}

static bool channel_is_short(const struct iot_session *session, const struct iot_channel *channel)
{
	return iot_ring_count(&channel->empty) < READ_ONCE(session->backpressure.low_water);
}

static void channel_clear(struct iot_session *session, struct iot_channel *channel)
{
	if (xchg(&channel->is_behind, false) && atomic_dec_and_test(&session->backpressure.behind))
		iot_backpressure_wake(session);
}

/**
 * iot_backpressure_check() - note that a CPU is behind, if it is
 * @session: that the channel belongs to
 * @channel: this CPU's, with interrupts off
 */
void iot_backpressure_check(struct iot_session *session, struct iot_channel *channel)
{
	if (READ_ONCE(channel->is_behind) || !channel_is_short(session, channel))
		return;
	if (xchg(&channel->is_behind, true))
		return;
	atomic_inc(&session->backpressure.behind);
	/* The sender may have returned the last buffer just before it could see the mark. */
	if (!channel_is_short(session, channel))
		channel_clear(session, channel);
}

/**
 * iot_backpressure_relax() - the sender has returned a buffer: note that the CPU is no longer behind, if so
 * @session: that the channel belongs to
 * @channel: of any CPU
 */
void iot_backpressure_relax(struct iot_session *session, struct iot_channel *channel)
{
	smp_mb(); /* pairs with xchg() in iot_backpressure_check() */
	if (!channel_is_short(session, channel))
		channel_clear(session, channel);
}

/**
 * iot_backpressure_resize() - each CPU has another number of buffers, or will have
 * @backpressure: of a session
 * @buffers: of each CPU
 */
void iot_backpressure_resize(struct iot_backpressure *backpressure, u32 buffers)
{
	WRITE_ONCE(backpressure->low_water, buffers / 2);
}

/**
 * iot_backpressure_wake() - let all tasks that wait look again
 * @session: any; callable with interrupts off
 */
void iot_backpressure_wake(struct iot_session *session)
{
	wake_up_all(&session->backpressure.wait);
}

/* -- waits ----------------------------------------------------------------------------------- */

static bool shortage_is_over(struct iot_session *session)
{
	return !iot_backpressure_is_on(&session->backpressure) || !READ_ONCE(session->is_running);
}

static bool is_blocking(const struct iot_session *session)
{
	return READ_ONCE(session->policy) == IOT_POLICY_BLOCK;
}

static bool wait_is_over(struct iot_session *session)
{
	return shortage_is_over(session) || !is_blocking(session);
}

static void wait_record(struct iot_session *session, struct iot_task *task, u64 begin_ns)
{
	struct iot_rec_backpressure r = {
		.time_ns = begin_ns,
		.task = task->id,
	};
	struct iot_slot slot;

	iot_task_sync(task);
	r.op = task->ops;
	if (!iot_session_enter(session))
		return;
	if (iot_slot_open(session, IOT_WIRE_backpressure, &slot)) {
		r.duration_ns = slot.now_ns - begin_ns;
		iot_put_backpressure(slot.p, &r, NULL, 0);
		local_irq_restore(slot.flags); /* iot_slot_close() might arm again */
	}
	iot_session_leave();
}

/*
 * A kernel thread works for others: it serves a loop device, NFS or iSCSI from a recorded file. If the collector
 * writes to that device or export, or needs memory that must be written there first, the two would wait for each other,
 * and no signal could end it. So the thread continues when nothing was sent for a while, and does not wait again
 * until something is. Records without room are then lost, and counted.
 */
static void wait_as_kernel_thread(struct iot_session *session)
{
	u64 sent_bytes;

	do {
		sent_bytes = READ_ONCE(session->sent_bytes);
		if (READ_ONCE(session->backpressure.stuck_bytes) == sent_bytes ||
		    wait_event_freezable_timeout(session->backpressure.wait, wait_is_over(session),
						 msecs_to_jiffies(PATIENCE_MS)))
			return;
	} while (READ_ONCE(session->sent_bytes) != sent_bytes);
	WRITE_ONCE(session->backpressure.stuck_bytes, sent_bytes);
}

/* Sleeps; current holds no locks that the collector could need. */
static void backpressure_wait(struct iot_session *session, struct iot_task *task)
{
	u64 begin_ns = ktime_get_mono_fast_ns();

	if (wait_is_over(session) || signal_pending(current))
		return;
	atomic64_inc(&session->backpressure.waits);
	task->is_held = true;
	if (current->flags & PF_KTHREAD)
		wait_as_kernel_thread(session);
	else
		wait_event_freezable(session->backpressure.wait, wait_is_over(session));
	task->is_held = false;
	wait_record(session, task, begin_ns);
}

/**
 * iot_backpressure_wait_mailbox() - wait until there is room in the mailbox of current
 * @session: one that the caller has a reference of; the caller holds no lock
 * @task: current's, with a mailbox
 *
 * Return: 0, also if there will never be room; -EINTR if a signal came.
 */
int iot_backpressure_wait_mailbox(struct iot_session *session, struct iot_task *task)
{
	u64 begin_ns = ktime_get_mono_fast_ns();
	int err;

	if (!is_blocking(session))
		return 0;
	atomic64_inc(&session->backpressure.waits);
	task->is_held = true;
	err = wait_event_freezable(session->backpressure.wait, iot_mailbox_has_room(task->mailbox) ||
					   !READ_ONCE(session->is_running) || !is_blocking(session));
	task->is_held = false;
	wait_record(session, task, begin_ns);
	return err ? -EINTR : 0;
}

static void backpressure_work(struct callback_head *work)
{
	struct iot_task *task = container_of(work, struct iot_task, backpressure);
	struct iot_session *session = task->backpressure_session;

	task->backpressure_session = NULL;
	if (!(current->flags & PF_EXITING))
		backpressure_wait(session, task);
	iot_session_put(session);
	if (atomic_dec_and_test(&armed_tasks))
		wake_up_all(&armed_wait);
}

/* With interrupts off: an interrupt might arm the task, too. */
static void backpressure_arm(struct iot_session *session)
{
	struct iot_task *task = iot_task_find_current();

	if (!IOT_WAITS_AT_RETURN || !task || task->backpressure_session)
		return;
	kref_get(&session->refs);
	task->backpressure_session = session;
	atomic_inc(&armed_tasks);
	init_task_work(&task->backpressure, backpressure_work);
	if (iot_task_work_add(current, &task->backpressure)) {
		/* The task exits, and is past the point where it could wait. */
		task->backpressure_session = NULL;
		atomic_dec(&armed_tasks);
		iot_session_put(session); /* not the last reference: the session is entered */
	}
}

/**
 * iot_backpressure_arm() - let current wait before it returns to user mode
 * @session: entered; a CPU of it is behind
 */
void iot_backpressure_arm(struct iot_session *session)
{
	unsigned long flags;

	if (!is_blocking(session) || !in_task() || (current->flags & PF_KTHREAD))
		return;
	local_irq_save(flags);
	backpressure_arm(session);
	local_irq_restore(flags);
}

/**
 * iot_backpressure_arm_interrupted() - the same from an interrupt, for the task that it has interrupted
 * @session: that is not freed meanwhile; a CPU of it is behind
 */
void iot_backpressure_arm_interrupted(struct iot_session *session)
{
	const struct iot_task *task = iot_task_find_current();

	if (!is_blocking(session) || (current->flags & PF_KTHREAD))
		return;
	if (task && task->epoch == session->number)
		backpressure_arm(session);
}

/*
 * Is current at a place where it must not wait? In exec it holds cred_guard_mutex, for which debuggers and readers
 * of the process in /proc wait. For a task that reclaims memory, others wait, among them the sender and the
 * collector.
 */
static bool is_in_the_way(void)
{
	return mutex_is_locked(&current->signal->cred_guard_mutex) || current->flags & PF_MEMALLOC;
}

/*
 * Must current wait here, and not when it returns to user mode? Its system call may hold the position lock of a file,
 * for example, or, in sendfile(2), write access to the recorded mount. Tasks that need these wait as well; a signal to
 * the task ends the wait.
 */
static struct iot_task *task_that_waits_here(struct iot_session *session)
{
	struct iot_task *task;

	if (likely(wait_is_over(session)) || is_in_the_way())
		return NULL;
	task = iot_task_find_current();
	if (!task || (IOT_WAITS_AT_RETURN && !task->backpressure_session && !(current->flags & PF_KTHREAD)))
		return NULL;
	return task;
}

/**
 * __iot_backpressure_here() - the part of iot_backpressure_here() that is not inline
 * @source: as there; a session records it, or did a moment ago
 */
void __iot_backpressure_here(struct iot_source *source)
{
	struct iot_session *session = iot_source_enter(source);
	struct iot_task *task;

	if (!session)
		return;
	task = iot_only_admits(session) ? task_that_waits_here(session) : NULL;
	if (task)
		kref_get(&session->refs);
	iot_session_leave();
	if (!task)
		return;
	backpressure_wait(session, task);
	iot_session_put(session);
}
EXPORT_SYMBOL_GPL(__iot_backpressure_here);

/**
 * iot_session_backpressure() - wait for the collector now, if it is behind
 * @session: one that the caller has a reference of; the caller holds no lock
 *
 * Return: 0; -EINTR if a signal came.
 */
int iot_session_backpressure(struct iot_session *session)
{
	if (likely(wait_is_over(session)))
		return 0;
	atomic64_inc(&session->backpressure.waits);
	return wait_event_freezable(session->backpressure.wait, wait_is_over(session)) ? -EINTR : 0;
}
EXPORT_SYMBOL_GPL(iot_session_backpressure);

/**
 * iot_backpressure_wait_dump() - wait for the collector, whatever the policy
 * @session: one that the caller has a reference of; the caller holds no lock
 *
 * For the state dump, which holds nothing that another task could need.
 *
 * Return: 0; -EINTR if the caller was killed; -EPIPE if the session has ended.
 */
int iot_backpressure_wait_dump(struct iot_session *session)
{
	if (iot_backpressure_is_on(&session->backpressure) &&
	    wait_event_killable(session->backpressure.wait, shortage_is_over(session)))
		return -EINTR;
	return READ_ONCE(session->is_running) ? 0 : -EPIPE;
}

/**
 * iot_backpressure_drain() - wait until no task is about to run code of this file
 *
 * A task that has counted itself out may be preempted before it has left backpressure_work(): RCU alone
 * would not wait for it.
 */
void iot_backpressure_drain(void)
{
	wait_event(armed_wait, !atomic_read(&armed_tasks));
	synchronize_rcu_tasks();
}
