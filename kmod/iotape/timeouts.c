// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeouts.c - waits that a timer ended, such as those of pthread_cond_timedwait(3) and poll(2).
 *
 * Another task can end such a wait early, and the wait may be shorter on another storage. nanosleep(2) is no such wait: only a
 * signal ends it early, so it is think time like any other.
 *
 * The tracepoints hrtimer_expire_entry and hrtimer_expire_exit state when the function of a timer runs. A wake-up in between is the
 * timer's. It cannot have a record at once, because the interrupt may have come while a record was being written on this CPU. The
 * thread writes the record when it enters its next operation, if it has not slept again meanwhile. Sleep for the lock of a directory
 * counts, too: the kernel takes it before the operation begins. The end of such a wait has no record.
 *
 * The tracepoints are in use while a session records all wake-ups (wakes.c).
 */
#include "timeouts.h"

#include <asm/syscall.h>
#include <asm/unistd.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "compat/sched.h"
#include "session.h"
#include "task.h"

static struct tracepoint *entry_point, *exit_point;
static DEFINE_PER_CPU(bool, is_expiring);

/* A timer whose function runs outside of interrupts could be interrupted by another one. */
static void timeouts_entry(void *data, void *timer, void *now)
{
	if (in_hardirq())
		__this_cpu_write(is_expiring, true);
}

static void timeouts_exit(void *data, void *timer)
{
	if (in_hardirq())
		__this_cpu_write(is_expiring, false);
}

/**
 * iot_timeout_is_under_way() - does the function of a timer run on this CPU?
 *
 * Context: preemption is off.
 */
bool iot_timeout_is_under_way(void)
{
	return in_hardirq() && __this_cpu_read(is_expiring);
}

/**
 * iot_waits_in() - the system call in which a thread waits
 * @thread: any that sleeps; the caller holds its pi_lock
 *
 * Return: its number plus 1; 0 if it is in none, or not known: 32-bit programs have other numbers.
 */
u32 iot_waits_in(struct task_struct *thread)
{
	int number;

	if (iot_thread_is_32bit(thread))
		return 0;
	number = syscall_get_nr(thread, task_pt_regs(thread));
	return number < 0 ? 0 : number + 1;
}

/**
 * iot_timeout_note() - a timer ends the wait of a thread
 * @thread: any; the caller holds its pi_lock
 *
 * Context: an interrupt.
 */
void iot_timeout_note(struct task_struct *thread)
{
	struct iot_task *task = iot_task_find(thread);
	u32 call;

	if (likely(!task) || task->current_op || task->is_held || !(READ_ONCE(thread->__state) & TASK_INTERRUPTIBLE))
		return;
	call = iot_waits_in(thread);
	if (!call || call == __NR_nanosleep + 1 || call == __NR_clock_nanosleep + 1)
		return;
	task->timeout.fired_ns = ktime_get_mono_fast_ns();
	task->timeout.waits = thread->nvcsw;
	task->timeout.call = call;
}

/**
 * iot_timeout_record() - state that a timer ended the last wait of current
 * @session: entered
 * @task: of current, which is in no operation
 */
void iot_timeout_record(struct iot_session *session, struct iot_task *task)
{
	struct iot_rec_timeout r = {
		.time_ns = task->timeout.fired_ns,
		.task = task->id,
		.call = task->timeout.call,
	};
	struct iot_slot slot;

	task->timeout.fired_ns = 0;
	if (!session->has_wakes || r.time_ns < session->start_ns || rcu_access_pointer(session->counters))
		return;
	iot_task_sync(task);
	r.op = task->ops;
	if (!iot_slot_open(session, IOT_WIRE_timeout, &slot))
		return;
	iot_put_timeout(slot.p, &r, NULL, 0);
	iot_slot_close(&slot);
}

/* -- the tracepoints ------------------------------------------------------------------------- */

static void timeouts_find(struct tracepoint *found, void *data)
{
	if (!strcmp(found->name, "hrtimer_expire_entry"))
		entry_point = found;
	else if (!strcmp(found->name, "hrtimer_expire_exit"))
		exit_point = found;
}

/**
 * iot_timeouts_init() - find the tracepoints, once
 */
void iot_timeouts_init(void)
{
	for_each_kernel_tracepoint(timeouts_find, NULL);
}

/**
 * iot_timeouts_get() - use the tracepoints until iot_timeouts_put()
 *
 * Return: 0, also if the kernel lacks them, and then no record is made; -ENOMEM.
 */
int iot_timeouts_get(void)
{
	int err;

	if (!entry_point || !exit_point)
		return 0;
	err = tracepoint_probe_register(entry_point, timeouts_entry, NULL);
	if (err)
		return err;
	err = tracepoint_probe_register(exit_point, timeouts_exit, NULL);
	if (err)
		tracepoint_probe_unregister(entry_point, timeouts_entry, NULL);
	return err;
}

/**
 * iot_timeouts_put() - undo a successful iot_timeouts_get()
 *
 * The module may be unloaded only after tracepoint_synchronize_unregister(). A CPU on which the function of a timer runs now may
 * keep its flag; the next timer there clears it.
 */
void iot_timeouts_put(void)
{
	if (!entry_point || !exit_point)
		return;
	tracepoint_probe_unregister(entry_point, timeouts_entry, NULL);
	tracepoint_probe_unregister(exit_point, timeouts_exit, NULL);
}
