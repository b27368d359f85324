// SPDX-License-Identifier: GPL-2.0-only
/*
 * delay.c - delays a thread after an operation until all other threads of its session are blocked, to find out which of
 * them wait for it: the I/O throttling of //TRACE (Mesnier et al., FAST 2007), without a list of calls that block.
 *
 * The delay is task work: it begins when the thread returns to user mode, and holds no lock of the kernel. A delay in
 * front of the next operation would be inside a system call, where the thread may hold the position lock of a file that
 * others share; they would block on that lock, and seem to wait for the program's own order. What the thread does for
 * others after the operation, it does after the delay.
 *
 * Meanwhile it looks at the others, at intervals of LOOK_NS. One of them is blocked if it has slept for a given time
 * without a context switch, or has begun and ended no operation for another given time: it spins, or sleeps and looks
 * again and again. A thread in an uninterruptible sleep usually waits for the storage, so only the second time counts for it.
 *
 * Only one thread of a session is delayed at a time, so no two delayed threads wait for each other. A delay has a limit,
 * and ends on any signal and with the session.
 *
 * A session may be a part of a job on several nodes. With IOT_DELAY_HOLD, a delay lasts until the recorder releases it, which
 * looks at the threads here by iot_delays_look(), and asks the recorders of the other nodes. The limits and a signal apply anyway,
 * so a recorder that does nothing only makes delays longer.
 *
 * Locking: the delayed thread owns @spent_ns and @number of the session; the recorder, one call at a time, owns @watch and @released.
 * Both write what they saw of another thread under the lock of that one's bucket (task.h), with the same number of the delay.
 */
#include "delay.h"

#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "compat/taskwork.h"
#include "debug.h"
#include "session.h"
#include "task.h"

#define LOOK_NS NSEC_PER_MSEC

DEFINE_STATIC_KEY_FALSE(iot_has_delays);

static atomic_t armed_tasks = ATOMIC_INIT(0);
static atomic64_t last_delay = ATOMIC64_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(armed_wait);

/**
 * iot_delays_can() - does this kernel let a module delay threads?
 */
bool iot_delays_can(void)
{
	return IOT_WAITS_AT_RETURN;
}

/**
 * iot_delays_init() - delay nothing
 * @delays: zeroed
 */
void iot_delays_init(struct iot_delays *delays)
{
	init_waitqueue_head(&delays->wait);
}

/**
 * iot_delays_set() - delay threads
 * @delays: of a session that has not started; the caller prevents a start meanwhile
 * @how: in range
 *
 * Context: sleeps. Return: 0; -EBUSY if there are delays already; -EOPNOTSUPP.
 */
int iot_delays_set(struct iot_delays *delays, const struct iot_delay *how)
{
	if (!IOT_WAITS_AT_RETURN)
		return iot_refuse(-EOPNOTSUPP, "delay: the kernel lets no module add task work");
	if (iot_delays_are_on(delays))
		return iot_refuse(-EBUSY, "delay: the session has delays");
	delays->how = *how;
	static_branch_inc(&iot_has_delays);
	return 0;
}

/**
 * iot_delays_exit() - delay nothing any more
 * @delays: of a session that records nothing any more
 *
 * Context: sleeps.
 */
void iot_delays_exit(struct iot_delays *delays)
{
	if (!iot_delays_are_on(delays))
		return;
	static_branch_dec(&iot_has_delays);
	WRITE_ONCE(delays->how.period, 0);
}

/**
 * iot_delays_wake() - the session has ended: release the thread that is delayed
 * @delays: of any session
 */
void iot_delays_wake(struct iot_delays *delays)
{
	wake_up_all(&delays->wait);
}

/* -- what the other threads do ---------------------------------------------------------------- */

/**
 * struct view - all other threads of the session, at one moment
 * @delay: number of the delay
 * @session: number of the session
 * @how: of the session
 * @delayed: the thread that is delayed, which does not count; only compared
 * @now_ns: the moment
 * @blocked_ns: since when the threads that have been looked at are blocked, if none is busy
 * @asleep: others that are blocked because they sleep
 * @idle: others that are blocked because they make no operation
 * @busy: others that are not blocked
 */
struct view {
	u64 delay;
	u64 session;
	const struct iot_delay *how;
	const struct iot_task *delayed;
	u64 now_ns;
	u64 blocked_ns;
	u32 asleep;
	u32 idle;
	u32 busy;
};

/* Note what has changed since the last look. */
static void look_again(struct iot_look *look, const struct view *view, const struct iot_task *task,
		       const struct task_struct *thread)
{
	const struct iot_look now = {
		.delay = view->delay,
		.moved_ns = view->now_ns,
		.switched_ns = view->now_ns,
		.switches = READ_ONCE(thread->nvcsw) + READ_ONCE(thread->nivcsw),
		.ops = iot_task_ops_asleep(task),
		.current_op = READ_ONCE(task->current_op),
	};
	const struct iot_look before = *look;

	*look = now;
	if (before.delay != now.delay)
		return;
	if (before.ops == now.ops && before.current_op == now.current_op)
		look->moved_ns = before.moved_ns;
	if (before.switches == now.switches)
		look->switched_ns = before.switched_ns;
}

/* In an interruptible sleep, or stopped. */
static bool is_asleep(const struct task_struct *thread)
{
	return READ_ONCE(thread->__state) & (TASK_INTERRUPTIBLE | __TASK_STOPPED | __TASK_TRACED);
}

/* The entry is locked, so its thread exists. */
static void look_at(struct iot_task *task, void *context)
{
	const struct task_struct *thread = task->thread;
	struct view *view = context;
	struct iot_look *look = &task->look;
	u64 asleep_ns, idle_ns;

	if (task == view->delayed || !iot_task_is_known(task, view->session) || READ_ONCE(thread->exit_state) ||
	    READ_ONCE(thread->flags) & (PF_KTHREAD | PF_IO_WORKER))
		return;
	look_again(look, view, task, thread);
	asleep_ns = is_asleep(thread) ? max(look->moved_ns, look->switched_ns) + view->how->asleep_ns : U64_MAX;
	idle_ns = look->moved_ns + view->how->idle_ns;
	if (READ_ONCE(task->is_held) || min(asleep_ns, idle_ns) > view->now_ns)
		view->busy++;
	else if (asleep_ns <= view->now_ns)
		view->asleep++;
	else
		view->idle++;
	view->blocked_ns = max(view->blocked_ns, min(asleep_ns, idle_ns));
}

static bool are_all_blocked(struct view *view)
{
	view->now_ns = ktime_get_mono_fast_ns();
	view->blocked_ns = 1;
	view->asleep = 0;
	view->idle = 0;
	view->busy = 0;
	iot_task_each(look_at, view);
	return !view->busy;
}

/**
 * iot_delays_look() - are all threads of a session blocked?
 * @session: any; the caller makes one call at a time for it
 * @look: in: flags; out: the others
 *
 * Return: 0; -EINVAL if the session has no delays, or has ended.
 */
int iot_delays_look(struct iot_session *session, struct iot_look_all *look)
{
	struct iot_delays *delays = &session->delays;
	struct view view = { .session = session->number, .how = &delays->how };

	if (!iot_delays_are_on(delays) || !READ_ONCE(session->is_running))
		return iot_refuse(-EINVAL, "look: the session has no delays, or does not run");
	if (!delays->watch || look->flags & IOT_LOOK_ANEW)
		delays->watch = atomic64_inc_return(&last_delay);
	look->number = READ_ONCE(delays->number);
	view.delay = look->number ?: delays->watch;
	view.delayed = READ_ONCE(delays->delayed);
	look->blocked_ns = are_all_blocked(&view) ? view.blocked_ns : 0;
	look->asleep = view.asleep;
	look->idle = view.idle;
	look->busy = view.busy;
	return 0;
}

/* -- delays ----------------------------------------------------------------------------------- */

/**
 * iot_delays_release() - end a delay, or all
 * @delays: of any session; the caller makes one call at a time for it
 * @release: the request
 *
 * Return: 0; -EINVAL if the session has no delays that can be released; -ESRCH if the delay has ended.
 */
int iot_delays_release(struct iot_delays *delays, const struct iot_release *release)
{
	bool is_all = release->flags & IOT_RELEASE_ALL;

	if (!iot_delays_are_on(delays) || !(delays->how.flags & IOT_DELAY_HOLD))
		return iot_refuse(-EINVAL, "release: the session has no delays that last until they are released");
	if (!is_all && (!release->number || release->number != READ_ONCE(delays->number)))
		return -ESRCH;
	if (is_all)
		WRITE_ONCE(delays->is_abandoned, true);
	else
		WRITE_ONCE(delays->released, release->number);
	wake_up_all(&delays->wait);
	return 0;
}

static void delay_record(struct iot_session *session, struct iot_task *task, u64 begin_ns, enum iot_ending ending,
			 const struct view *view)
{
	struct iot_rec_delayed r = {
		.time_ns = begin_ns,
		.task = task->id,
		.ending = ending,
		.asleep = view->asleep,
		.idle = view->idle,
		.busy = view->busy,
	};
	struct iot_slot slot;

	iot_task_sync(task);
	r.op = task->ops;
	if (!iot_session_enter(session))
		return;
	if (iot_slot_open(session, IOT_WIRE_delayed, &slot)) {
		r.duration_ns = slot.now_ns - begin_ns;
		iot_put_delayed(slot.p, &r, NULL, 0);
		iot_slot_close(&slot);
	}
	iot_session_leave();
}

static bool has_to_end(const struct iot_session *session, u64 number)
{
	const struct iot_delays *delays = &session->delays;

	return !READ_ONCE(session->is_running) || READ_ONCE(delays->is_abandoned) || READ_ONCE(delays->released) == number;
}

/* Return: why the delay ended. If the session has ended, no record will state it. */
static enum iot_ending delay_sleep(struct iot_session *session, struct view *view, u64 end_ns)
{
	bool is_blocked, is_held = view->how->flags & IOT_DELAY_HOLD;
	int err;

	do {
		is_blocked = are_all_blocked(view);
		if (is_blocked && !is_held)
			return IOT_ENDING_blocked;
		if (view->now_ns >= end_ns)
			return IOT_ENDING_limit;
		err = wait_event_interruptible_hrtimeout(session->delays.wait, has_to_end(session, view->delay),
							 ns_to_ktime(min_t(u64, LOOK_NS, end_ns - view->now_ns)));
		if (err && err != -ETIME)
			return IOT_ENDING_signal;
	} while (!has_to_end(session, view->delay));
	return READ_ONCE(session->delays.is_abandoned) ? IOT_ENDING_abandoned : IOT_ENDING_blocked;
}

static void delay_owned(struct iot_session *session, struct iot_task *task)
{
	struct iot_delays *delays = &session->delays;
	u64 begin_ns = ktime_get_mono_fast_ns(), left_ns = delays->how.total_ns - delays->spent_ns;
	struct view view = {
		.delay = atomic64_inc_return(&last_delay),
		.session = session->number,
		.how = &delays->how,
		.delayed = task,
	};
	enum iot_ending ending;

	WRITE_ONCE(delays->number, view.delay);
	WRITE_ONCE(task->is_held, true);
	ending = delay_sleep(session, &view, begin_ns + min(left_ns, delays->how.limit_ns));
	WRITE_ONCE(task->is_held, false);
	WRITE_ONCE(delays->number, 0);
	delay_record(session, task, begin_ns, ending, &view);
	delays->spent_ns += min(left_ns, ktime_get_mono_fast_ns() - begin_ns);
}

/* Current returns to user mode, and holds nothing. */
static void delay_now(struct iot_session *session, struct iot_task *task)
{
	struct iot_delays *delays = &session->delays;

	if (signal_pending(current) || cmpxchg_acquire(&delays->delayed, NULL, task))
		return;
	if (delays->spent_ns < delays->how.total_ns && !READ_ONCE(delays->is_abandoned))
		delay_owned(session, task);
	smp_store_release(&delays->delayed, NULL);
}

static void delay_work(struct callback_head *work)
{
	struct iot_task *task = container_of(work, struct iot_task, delay);
	struct iot_session *session = task->delay_session;

	task->delay_session = NULL;
	if (!(current->flags & PF_EXITING))
		delay_now(session, task);
	iot_session_put(session);
	if (atomic_dec_and_test(&armed_tasks))
		wake_up_all(&armed_wait);
}

/* Counts this operation of current. MPI calls are never delayed, and in a loop each n-th operation might be one: they do not count. */
static bool is_chosen(struct iot_session *session, struct iot_task *task)
{
	const struct iot_delay *how = &session->delays.how;
	const u32 period = READ_ONCE(how->period); /* it becomes 0 when the session ends */

	if (!period || READ_ONCE(session->delays.is_abandoned) || (iot_task_nth(task, session) != how->thread && how->thread) ||
	    current->flags & (PF_KTHREAD | PF_IO_WORKER | PF_EXITING))
		return false;
	return ++task->delayable % period == how->phase && !READ_ONCE(session->delays.delayed);
}

/**
 * iot_delay_arm() - delay current when it returns to user mode, if its operation is to be followed by a delay
 * @session: entered
 * @task: current's
 */
void iot_delay_arm(struct iot_session *session, struct iot_task *task)
{
	if (!is_chosen(session, task) || task->delay_session)
		return;
	kref_get(&session->refs);
	task->delay_session = session;
	atomic_inc(&armed_tasks);
	init_task_work(&task->delay, delay_work);
	if (!iot_task_work_add(current, &task->delay))
		return;
	/* The task exits, and is past the point where it could wait. */
	task->delay_session = NULL;
	atomic_dec(&armed_tasks);
	iot_session_put(session); /* not the last reference: the session is entered */
}

/**
 * iot_delay_drain() - wait until no task is about to run code of this file, but for its last instructions
 *
 * iot_backpressure_drain(), called afterwards, waits for those.
 */
void iot_delay_drain(void)
{
	wait_event(armed_wait, !atomic_read(&armed_tasks));
}
