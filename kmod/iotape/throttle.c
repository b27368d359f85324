// SPDX-License-Identifier: GPL-2.0-only
/*
 * throttle.c - policy `block`: a task that got ahead of the collector waits for it.
 *
 * A task never waits where its record is made: locks may be held there, and it may
 * be in a page fault. It waits where it holds nothing,
 *
 *   - before it returns to user mode, by task work;
 *   - kernel threads, which never do, at the next operation that may sleep, and so does every
 *     task if the kernel lets no module add task work (compat/taskwork.h). So does a task that is
 *     to wait already and makes many records in one call, but not in exec.
 *
 * The wait ends when no CPU is behind any more, when the session ends, and on any
 * signal. No signal reaches a kernel thread: its wait ends, too, when the sender makes no
 * progress, as the collector may be waiting for that very thread. Records that a task makes after it was marked, and
 * before it waits, go into the half of the buffers below the low-water mark, or are lost and counted.
 */
#include <linux/freezer.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>

#include "compat/taskwork.h"
#include "session.h"
#include "task.h"

#define PATIENCE_MS 1000 /* of a kernel thread, while nothing is sent */

static atomic_t armed_tasks = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(armed_wait);

static bool throttle_is_over(struct iot_session *session)
{
	return !iot_session_is_pressed(session) || !READ_ONCE(session->is_running);
}

static void throttle_record(struct iot_session *session, struct iot_task *task, u64 begin_ns)
{
	struct iot_rec_throttled r = {
		.time_ns = begin_ns,
		.task = task->id,
	};
	struct iot_slot slot;

	iot_task_sync(task);
	r.op = task->ops;
	if (!iot_session_enter(session))
		return;
	if (iot_slot_open(session, IOT_WIRE_throttled, &slot)) {
		r.duration_ns = slot.now_ns - begin_ns;
		iot_put_throttled(slot.p, &r, NULL, 0);
		local_irq_restore(slot.flags); /* iot_slot_close() might arm again */
	}
	iot_session_leave();
}

/*
 * A kernel thread works for others: it serves a loop device, NFS or iSCSI from a recorded file. If the
 * collector writes to what is stored there, or needs memory that is to be written there first, the two would
 * wait for each other, and nobody could kill either. So the thread goes on when nothing was sent for a
 * while, and does not wait again until something is. Records that have no room then are lost, and counted.
 */
static void wait_as_kernel_thread(struct iot_session *session)
{
	u64 sent_bytes;

	do {
		sent_bytes = READ_ONCE(session->sent_bytes);
		if (READ_ONCE(session->stuck_bytes) == sent_bytes ||
		    wait_event_freezable_timeout(session->throttle_wait, throttle_is_over(session),
						 msecs_to_jiffies(PATIENCE_MS)))
			return;
	} while (READ_ONCE(session->sent_bytes) != sent_bytes);
	WRITE_ONCE(session->stuck_bytes, sent_bytes);
}

/* Sleeps; current holds no locks that the collector could need. */
static void throttle_wait(struct iot_session *session, struct iot_task *task)
{
	u64 begin_ns = ktime_get_mono_fast_ns();

	if (throttle_is_over(session) || signal_pending(current))
		return;
	atomic64_inc(&session->throttles);
	task->is_held = true;
	if (current->flags & PF_KTHREAD)
		wait_as_kernel_thread(session);
	else
		wait_event_freezable(session->throttle_wait, throttle_is_over(session));
	task->is_held = false;
	throttle_record(session, task, begin_ns);
}

/**
 * iot_throttle_mailbox() - wait until there is room in the mailbox of current
 * @session: one that the caller has a reference of; the caller holds no lock
 * @task: current's, with a mailbox
 *
 * Return: 0, also if there will never be room; -EINTR if a signal came.
 */
int iot_throttle_mailbox(struct iot_session *session, struct iot_task *task)
{
	u64 begin_ns = ktime_get_mono_fast_ns();
	int err;

	if (session->policy != IOT_POLICY_BLOCK)
		return 0;
	atomic64_inc(&session->throttles);
	task->is_held = true;
	err = wait_event_freezable(session->throttle_wait, iot_mailbox_has_room(task->mailbox) ||
					   !READ_ONCE(session->is_running));
	task->is_held = false;
	throttle_record(session, task, begin_ns);
	return err ? -EINTR : 0;
}

static void throttle_work(struct callback_head *work)
{
	struct iot_task *task = container_of(work, struct iot_task, throttle);
	struct iot_session *session = task->throttle_session;

	task->throttle_session = NULL;
	if (!(current->flags & PF_EXITING))
		throttle_wait(session, task);
	iot_session_put(session);
	if (atomic_dec_and_test(&armed_tasks))
		wake_up_all(&armed_wait);
}

/* With interrupts off: one that comes between might arm, too. */
static void throttle_arm(struct iot_session *session)
{
	struct iot_task *task = iot_task_find_current();

	if (!IOT_WAITS_AT_RETURN || !task || task->throttle_session)
		return;
	kref_get(&session->refs);
	task->throttle_session = session;
	atomic_inc(&armed_tasks);
	init_task_work(&task->throttle, throttle_work);
	if (iot_task_work_add(current, &task->throttle)) {
		/* It is past the point where tasks can wait: it exits. */
		task->throttle_session = NULL;
		atomic_dec(&armed_tasks);
		iot_session_put(session); /* never the last: the session is entered */
	}
}

/**
 * iot_throttle_arm() - let current wait before it returns to user mode
 * @session: entered; a CPU of it is behind
 */
void iot_throttle_arm(struct iot_session *session)
{
	unsigned long flags;

	if (session->policy != IOT_POLICY_BLOCK || !in_task() || (current->flags & PF_KTHREAD))
		return;
	local_irq_save(flags);
	throttle_arm(session);
	local_irq_restore(flags);
}

/**
 * iot_throttle_arm_interrupted() - the same from an interrupt, for whom it has interrupted
 * @session: that cannot go meanwhile; a CPU of it is behind
 */
void iot_throttle_arm_interrupted(struct iot_session *session)
{
	const struct iot_task *task = iot_task_find_current();

	if (session->policy != IOT_POLICY_BLOCK || (current->flags & PF_KTHREAD))
		return;
	if (task && task->epoch == session->number)
		throttle_arm(session);
}

/*
 * Where current must not wait. In exec it holds cred_guard_mutex: a debugger that attaches, and all that asks
 * for leave to look into the process, would wait for the collector, too. To reclaim memory is what others
 * wait for, the sender and the collector among them.
 */
static bool is_in_the_way(void)
{
	return mutex_is_locked(&current->signal->cred_guard_mutex) || current->flags & PF_MEMALLOC;
}

/*
 * Must current wait here, and not when it returns to user mode? A task comes here with what its system call
 * holds by then: the position of a file, for example, or, in sendfile(2), leave to write to the recorded mount.
 * Others that want it wait with the task, which a signal ends.
 */
static struct iot_task *throttle_here_task(struct iot_session *session)
{
	struct iot_task *task;

	if (likely(throttle_is_over(session)) || session->policy != IOT_POLICY_BLOCK || is_in_the_way())
		return NULL;
	task = iot_task_find_current();
	if (!task || (IOT_WAITS_AT_RETURN && !task->throttle_session && !(current->flags & PF_KTHREAD)))
		return NULL;
	return task;
}

void __iot_throttle_here(struct iot_source *source)
{
	struct iot_session *session = iot_source_enter(source);
	struct iot_task *task;

	if (!session)
		return;
	task = throttle_here_task(session);
	if (task)
		kref_get(&session->refs);
	iot_session_leave();
	if (!task)
		return;
	throttle_wait(session, task);
	iot_session_put(session);
}
EXPORT_SYMBOL_GPL(__iot_throttle_here);

/**
 * iot_session_throttle() - wait for the collector now, if it is behind
 * @session: one that the caller has a reference of; the caller holds no lock
 *
 * Return: 0; -EINTR if a signal came.
 */
int iot_session_throttle(struct iot_session *session)
{
	if (likely(!iot_session_is_pressed(session)) || session->policy != IOT_POLICY_BLOCK ||
	    throttle_is_over(session))
		return 0;
	atomic64_inc(&session->throttles);
	return wait_event_freezable(session->throttle_wait, throttle_is_over(session)) ? -EINTR : 0;
}
EXPORT_SYMBOL_GPL(iot_session_throttle);

/**
 * iot_throttle_tell() - wait for the collector, whatever the policy
 * @session: one that the caller has a reference of; the caller holds no lock
 *
 * Who tells what there was before can wait without harm to anybody.
 *
 * Return: 0; -EINTR if the caller is to go; -EPIPE if the session has ended.
 */
int iot_throttle_tell(struct iot_session *session)
{
	if (iot_session_is_pressed(session) &&
	    wait_event_killable(session->throttle_wait, throttle_is_over(session)))
		return -EINTR;
	return READ_ONCE(session->is_running) ? 0 : -EPIPE;
}

/**
 * iot_throttle_drain() - wait until no task is about to run code of this file
 *
 * A task that has counted itself out may be preempted before it has left throttle_work(): RCU alone
 * would not wait for it.
 */
void iot_throttle_drain(void)
{
	wait_event(armed_wait, !atomic_read(&armed_tasks));
	synchronize_rcu_tasks();
}
