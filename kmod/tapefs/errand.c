// SPDX-License-Identifier: GPL-2.0-only
/*
 * errand.c - work that the current task does before it returns to user mode, where it holds no locks.
 */
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "compat/taskwork.h"
#include "errand.h"

static atomic_t errands = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(errands_wait);

static void count_out(void)
{
	if (atomic_dec_and_test(&errands))
		wake_up_all(&errands_wait);
}

static void run(struct tfs_errand *errand)
{
	errand->run(errand);
	count_out();
}

static void run_by_task(struct callback_head *task)
{
	run(container_of(task, struct tfs_errand, task));
}

static void run_by_thread(struct work_struct *queued)
{
	run(container_of(queued, struct tfs_errand, queued));
}

/**
 * tfs_try_at_return() - do something before the current system call ends, if the current task can do it
 * @errand: with its function set; belongs to it from now on, if it will be run
 *
 * It is run after the work that the task adds later, such as the release of files.
 *
 * Return: whether it will be run.
 *
 * Context: that of a task; does not sleep.
 */
bool tfs_try_at_return(struct tfs_errand *errand)
{
	if (current->flags & PF_KTHREAD)
		return false;
	atomic_inc(&errands);
	init_task_work(&errand->task, run_by_task);
	if (!iot_task_work_add(current, &errand->task))
		return true;
	count_out();
	return false;
}

/**
 * tfs_run_at_return() - do something before the current system call ends
 * @errand: with its function set; belongs to it from now on
 *
 * A kernel thread never returns to user mode, a task that exits may be past that point, and some kernels let no
 * module add such work: then a thread of the system does it soon.
 *
 * Context: that of a task; does not sleep.
 */
void tfs_run_at_return(struct tfs_errand *errand)
{
	if (tfs_try_at_return(errand))
		return;
	atomic_inc(&errands);
	INIT_WORK(&errand->queued, run_by_thread);
	schedule_work(&errand->queued);
}

/**
 * tfs_errands_drain() - wait until no task is about to run code of this file
 *
 * Called when the module is unloaded. A task that has counted its errand out may be preempted before it has
 * left run().
 */
void tfs_errands_drain(void)
{
	wait_event(errands_wait, !atomic_read(&errands));
	synchronize_rcu_tasks();
}
