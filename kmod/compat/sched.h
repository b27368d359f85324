/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sched.h - scheduler statistics of a thread, if the kernel is configured to have them, and the kind of its program.
 */
#ifndef IOT_COMPAT_SCHED_H
#define IOT_COMPAT_SCHED_H

#include <linux/limits.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/coredump.h>
#ifdef IOT_HAVE_EXEC_STATE
#include <linux/rcupdate.h>
#include <linux/sched/exec_state.h>
#endif

/*
 * CONFIG_SCHED_INFO, which distributions have: time that a thread was runnable and waited for a CPU, in ns, as of when
 * it got one last. U64_MAX in kernels without it.
 */
static inline u64 iot_thread_delay_ns(const struct task_struct *thread)
{
#ifdef CONFIG_SCHED_INFO
	return thread->sched_info.run_delay;
#else
	return U64_MAX;
#endif
}

/* When a thread got a CPU last, on the scheduler's clock; 0 in kernels without CONFIG_SCHED_INFO. */
static inline u64 iot_thread_arrived_ns(const struct task_struct *thread)
{
#ifdef CONFIG_SCHED_INFO
	return READ_ONCE(thread->sched_info.last_arrival);
#else
	return 0;
#endif
}

/*
 * May the user whose thread it is read its memory, by ptrace(2) for example? @mm is that memory, and stays during the call.
 * The state belongs to the thread, not to its memory, in kernels with a struct task_exec_state.
 */
static inline bool iot_thread_is_dumpable(const struct task_struct *thread, const struct mm_struct *mm)
{
#ifdef IOT_HAVE_EXEC_STATE
	const struct task_exec_state *state;
	bool is_dumpable;

	rcu_read_lock();
	state = rcu_dereference(thread->exec_state);
	is_dumpable = state && READ_ONCE(state->dumpable) == TASK_DUMPABLE_OWNER;
	rcu_read_unlock();
	return is_dumpable;
#else
	return get_dumpable((struct mm_struct *)mm) == SUID_DUMP_USER;
#endif
}

/*
 * CPU time of current. The scheduler updates sum_exec_runtime only at ticks and switches, and notes the time of the update
 * in exec_start, on its own clock. Another CPU may do that, which is not noticed in a moment between the two: then the
 * result is too small by the time since the update before.
 */
static inline u64 iot_current_cpu_ns(void)
{
	u64 sum_ns, begin_ns, ns;

	do {
		sum_ns = READ_ONCE(current->se.sum_exec_runtime);
		begin_ns = READ_ONCE(current->se.exec_start);
		ns = local_clock();
	} while (sum_ns != READ_ONCE(current->se.sum_exec_runtime));
	return sum_ns + (ns > begin_ns ? ns - begin_ns : 0);
}

/* Is the program of a thread a 32-bit one? Each architecture has a flag of its own. */
static inline bool iot_thread_is_32bit(struct task_struct *thread)
{
#if defined(TIF_ADDR32)
	return test_tsk_thread_flag(thread, TIF_ADDR32);
#elif defined(TIF_32BIT)
	return test_tsk_thread_flag(thread, TIF_32BIT);
#else
	return false;
#endif
}

#endif
