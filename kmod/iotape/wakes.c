// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakes.c - wake-ups out of voluntary waits: the scheduler's tracepoint sched_waking.
 *
 * The tracepoint is in use while there is a session. It is called by the waking thread, with
 * interrupts off, and with the pi_lock of the thread that is woken. So nothing here may wake, wait,
 * or allocate: a record goes into the buffer of this CPU, as all do, and an irq_work (channel.c) wakes
 * the sender a moment later.
 *
 * A session records all wake-ups if it asks for them. Every session records the wake-ups that a thread makes when
 * it releases its address space at its exit: a thread that joins it sleeps on a futex, and may do its next
 * operation before the kernel reports the exit. Without the record that wait would be think time. So would the wait of
 * the parent of a child of vfork(2), which every session records, too: it ends when the child releases the memory that
 * both use, by exec or exit.
 *
 * Conditions for a record: both are tasks of the session, and in no operation on files (waits and
 * wake-ups there are internal to the file system, and file locks are recorded as such); the waking
 * task makes the wake-up itself, not an interrupt or a kernel thread that happens to run; the woken
 * task sleeps interruptibly, as in waits for pipes, sockets, futexes, semaphores, children, poll
 * and signals, or waits for a child of vfork(2). Waits for the collector belong to the recorder, and do not count.
 *
 * Redundant wake-ups have no record: a wake-up passes on the knowledge of the waking task, that is, its
 * own operations and those that it learnt of. If it has learnt nothing since it last woke the same task,
 * and that task has entered no operation since, there is no record. Knowledge that came from the woken
 * task itself does not count: two tasks that pass a message back and forth make one record each.
 * Forgetting is safe: it costs a redundant record.
 */
#include "wakes.h"

#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "compat/sched.h"
#include "session.h"
#include "task.h"
#include "timeouts.h"

static struct tracepoint *tracepoint;
static DEFINE_MUTEX(users_lock);
static unsigned int users;     /* sessions */
static unsigned int all_users; /* of them, those that ask for all wake-ups; read without the lock */

/* -- memory of earlier wake-ups -------------------------------------------------------------------- */

static struct iot_wake_note *note_of(struct iot_wakes *wakes, u32 waker)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wakes->notes); i++)
		if (wakes->notes[i].waker == waker)
			return &wakes->notes[i];
	return NULL;
}

/* Has the waker learnt nothing since then, except from the thread that it wakes? */
static bool is_known(const struct iot_wake_note *note, const struct iot_wake_note *now,
		     const struct iot_wakes *waker, u32 wakee)
{
	if (note->waker_ops != now->waker_ops || note->own_ops != now->own_ops)
		return false;
	return note->waker_news == now->waker_news ||
	       (waker->news_from == wakee && (s32)(waker->news_since - note->waker_news) <= 0);
}

static void note_down(struct iot_wakes *wakes, struct iot_wake_note *note,
		      const struct iot_wake_note *now)
{
	if (!note)
		note = &wakes->notes[wakes->next++ % ARRAY_SIZE(wakes->notes)];
	*note = *now;
	if (wakes->news_from != now->waker) {
		wakes->news_from = now->waker;
		wakes->news_since = wakes->news;
	}
	smp_store_release(&wakes->news, wakes->news + 1); /* pairs with wake_record() */
}

/* The memory of another session does not count. */
static struct iot_wakes *wakes_begin(struct iot_task *task, const struct iot_session *session)
{
	if (task->wakes.epoch != session->number)
		task->wakes = (struct iot_wakes){ .epoch = session->number };
	return &task->wakes;
}

/* The memory of current, which other threads may be changing: a stale read costs a redundant record. */
static const struct iot_wakes *wakes_of(const struct iot_task *task, const struct iot_session *session)
{
	static const struct iot_wakes none;

	return task->wakes.epoch == session->number ? &task->wakes : &none;
}

/* -- the record ------------------------------------------------------------------------------ */

/* Return: true if there was room for it; interrupts are off. */
static bool wake_emit(struct iot_session *session, struct iot_rec_wake *r)
{
	struct iot_channel *channel = this_cpu_ptr(session->channels);
	u8 *p;

	r->time_ns = ktime_get_mono_fast_ns();
	channel->is_quiet = true;
	p = iot_channel_reserve(channel, IOT_WIRE_wake, r->time_ns);
	channel->is_quiet = false;
	if (p)
		iot_put_wake(p, r, NULL, 0);
	if (!p || unlikely(iot_backpressure_is_on(&session->backpressure)))
		irq_work_queue(&channel->late);
	return p;
}

/* Return: 0 if the kernel does not know the delay, else the delay plus 1, because the field is 0 in older traces. */
static u64 delay_ns(const struct iot_task *task, const struct task_struct *thread)
{
	u64 all_ns = iot_thread_delay_ns(thread);

	return all_ns == U64_MAX ? 0 : all_ns - READ_ONCE(task->delayed_ns) + 1;
}

static void wake_record(struct iot_session *session, struct iot_task *waker,
			struct iot_task *wakee, struct task_struct *thread)
{
	const struct iot_wakes *from = wakes_of(waker, session);
	struct iot_wakes *to = wakes_begin(wakee, session);
	struct iot_wake_note *note = note_of(to, waker->id);
	struct iot_wake_note now = {
		.waker = waker->id,
		.waker_news = smp_load_acquire(&from->news), /* pairs with note_down() */
		.own_ops = iot_task_ops_asleep(wakee),
	};
	struct iot_rec_wake r = {
		.task = waker->id,
		.woken = wakee->id,
		.woken_op = now.own_ops,
		.woken_runtime_ns = thread->se.sum_exec_runtime,
		.woken_delay_ns = delay_ns(wakee, thread),
		.woken_call = iot_waits_in(thread),
	};

	iot_task_sync(waker);
	now.waker_ops = waker->ops;
	r.op = waker->ops;
	if (note && is_known(note, &now, from, wakee->id))
		return;
	if (wake_emit(session, &r))
		note_down(to, note, &now);
}

/* Does current exit, and still has its memory? Later it wakes its parent, which the record `exit` stands for. */
static bool is_exiting(void)
{
	return (current->flags & PF_EXITING) && current->mm;
}

/*
 * Does current release the memory that it shares with its parent since vfork(2)? The parent is in no other wait meanwhile, and
 * a thread of a process is not the parent of another one.
 */
static bool is_end_of_vfork(const struct task_struct *thread)
{
	return in_task() && thread == rcu_access_pointer(current->real_parent) && current->mm &&
	       current->mm == READ_ONCE(thread->mm) && (READ_ONCE(thread->__state) & TASK_KILLABLE) == TASK_KILLABLE;
}

/*
 * May the wake-up of this thread by current have a record? Called at each wake-up on the machine, also for threads
 * that are not traced.
 */
static bool is_by_current(const struct task_struct *thread)
{
	return (is_exiting() || READ_ONCE(all_users)) && READ_ONCE(thread->__state) & TASK_INTERRUPTIBLE &&
	       in_task() && !(current->flags & PF_KTHREAD);
}

static void wakes_waking(void *data, struct task_struct *thread)
{
	struct iot_task *waker, *wakee;
	bool is_vfork = is_end_of_vfork(thread);
	struct iot_session *session;

	if (unlikely(iot_timeout_is_under_way())) {
		iot_timeout_note(thread);
		return;
	}
	if (thread == current || (!is_vfork && !is_by_current(thread)))
		return;
	waker = iot_task_find(current);
	if (likely(!waker) || waker->current_op)
		return;
	wakee = iot_task_find(thread);
	if (!wakee || wakee->epoch != waker->epoch || wakee->current_op || wakee->is_held)
		return;
	session = iot_session_find(waker->epoch);
	if (session && iot_only_admits(session) && (session->has_wakes || is_vfork || is_exiting()))
		wake_record(session, waker, wakee, thread);
}

/* -- the tracepoint -------------------------------------------------------------------------- */

static void wakes_find(struct tracepoint *found, void *data)
{
	if (!strcmp(found->name, "sched_waking"))
		tracepoint = found;
}

/**
 * iot_wakes_init() - find the tracepoint, once
 */
void iot_wakes_init(void)
{
	iot_timeouts_init();
	for_each_kernel_tracepoint(wakes_find, NULL);
}

/**
 * iot_wakes_can() - does this kernel have the tracepoint?
 */
bool iot_wakes_can(void)
{
	return tracepoint;
}

/* The caller holds users_lock. */
static int users_add(bool needs_all)
{
	int err = needs_all && !all_users ? iot_timeouts_get() : 0;

	if (err)
		return err;
	if (!users)
		err = tracepoint_probe_register(tracepoint, wakes_waking, NULL);
	if (err) {
		if (needs_all && !all_users)
			iot_timeouts_put();
		return err;
	}
	users++;
	WRITE_ONCE(all_users, all_users + needs_all);
	return 0;
}

/**
 * iot_wakes_get() - a session begins to need wake-ups
 * @needs_all: not only those by threads that exit
 *
 * Return: 0, until iot_wakes_put(); -EOPNOTSUPP if iot_wakes_can() is false; -ENOMEM.
 */
int iot_wakes_get(bool needs_all)
{
	int err;

	if (!tracepoint)
		return -EOPNOTSUPP;
	mutex_lock(&users_lock);
	err = users_add(needs_all);
	mutex_unlock(&users_lock);
	return err;
}

/**
 * iot_wakes_put() - a session no longer needs wake-ups
 * @needs_all: as for iot_wakes_get()
 *
 * The module may be unloaded only after tracepoint_synchronize_unregister(), which iot_task_exit() calls.
 */
void iot_wakes_put(bool needs_all)
{
	mutex_lock(&users_lock);
	WRITE_ONCE(all_users, all_users - needs_all);
	if (needs_all && !all_users)
		iot_timeouts_put();
	if (!--users)
		tracepoint_probe_unregister(tracepoint, wakes_waking, NULL);
	mutex_unlock(&users_lock);
}
