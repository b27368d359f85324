// SPDX-License-Identifier: GPL-2.0-only
/*
 * exec.c - programs: the user that they run as, and write denial while they run.
 *
 * While a program runs, or the kernel loads a file of its own (kernel_read_file()), the i_writecount of its inode
 * is negative, and opening it for writing or truncating it fails with ETXTBSY; and exec fails if it is positive.
 * The kernel counts on the upper inode, without a call of the file system. The lower inode must be counted, too:
 *
 *	begin	An open for exec, or the first read of a kernel_read_file(), denies writing to the lower inode.
 *	end	The upper inode is not denied any more. tapefs checks this when the task that called exec returns
 *		to user mode - only the program itself is still denied then, its interpreters are not -, when a
 *		thread exits (a tracepoint of the scheduler), and when a handle of the file is released.
 *
 * So an interpreter is denied until exec returns rather than until it is loaded. One denial of the lower inode is
 * enough for all of the upper one.
 */
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>

#include "errand.h"
#include "exec.h"
#include "lower.h"
#include "compat/vfs.h"

/**
 * struct exec - a task that has opened a file for exec, or loads it, and has not returned to user mode
 * @errand: runs at the return to user mode
 * @file: upper file, with a reference
 * @is_opened: opened for exec, not read: the VFS denies writing to the upper inode after the open
 */
struct exec {
	struct tfs_errand errand;
	struct file *file;
	bool is_opened;
};

/* Inodes whose lower ones deny writes: one for each running program of all mounts. */
static LIST_HEAD(denied);
static DEFINE_SPINLOCK(denied_lock);

static bool is_denied_above(const struct inode *inode)
{
	return atomic_read(&inode->i_writecount) < 0;
}

/*
 * Since 6.16, the tracepoint of an exit comes before the task drops its program. The task drops it next, unless
 * another task shares its memory. If several threads exit at the same time, the release of the program's file ends
 * the denial.
 *
 * Return: the inode of that program, or NULL.
 */
static const struct inode *program_given_up(void)
{
	struct mm_struct *mm = current->mm;
	const struct inode *inode = NULL;
	const struct file *file;

	if (!mm || atomic_read(&mm->mm_users) != 1)
		return NULL;
	rcu_read_lock();
	file = rcu_dereference(mm->exe_file);
	if (file)
		inode = file_inode(file);
	rcu_read_unlock();
	return inode;
}

static int deny(struct file *file, bool is_opened)
{
	struct tfs_inode *tfs = TFS_I(file_inode(file));
	int err = 0;

	spin_lock(&denied_lock);
	if (list_empty(&tfs->denied)) {
		err = deny_write_access(tfs_lower_file(file));
		if (!err)
			list_add(&tfs->denied, &denied);
	}
	if (!err)
		tfs->execs += is_opened;
	spin_unlock(&denied_lock);
	return err;
}

/* @ending: how many of the denials above are about to end */
static void allow_unless_used(struct tfs_inode *tfs, int ending)
{
	if (list_empty(&tfs->denied) || tfs->execs || atomic_read(&tfs->vfs_inode.i_writecount) < -ending)
		return;
	iot_allow_write_access(tfs->lower);
	list_del_init(&tfs->denied);
}

static void exec_end(struct tfs_errand *errand)
{
	struct exec *exec = container_of(errand, struct exec, errand);

	spin_lock(&denied_lock);
	TFS_I(file_inode(exec->file))->execs -= exec->is_opened;
	allow_unless_used(TFS_I(file_inode(exec->file)), 0);
	spin_unlock(&denied_lock);
	fput(exec->file);
	kfree(exec);
}

static int exec_begin(struct file *file, bool is_opened)
{
	struct exec *exec = kmalloc(sizeof(*exec), GFP_KERNEL);
	int err;

	if (!exec)
		return -ENOMEM;
	err = deny(file, is_opened);
	if (err) {
		kfree(exec);
		return err;
	}
	exec->errand.run = exec_end;
	exec->file = get_file(file);
	exec->is_opened = is_opened;
	tfs_run_at_return(&exec->errand);
	return 0;
}

/**
 * tfs_exec_open() - a file is being opened for exec, or by overlayfs for the exec of a file of its own
 * @file: upper file; its lower file is open
 *
 * overlayfs does not deny writing to the file below.
 *
 * Return: 0; -ETXTBSY if the lower inode is open for writing; -ENOMEM.
 */
int tfs_exec_open(struct file *file)
{
	struct inode *inode = file_inode(file);

	if (iot_is_backing(file))
		return 0;
	/* execveat(2) with a descriptor walks no path. */
	if (!tfs_refresh(inode))
		tfs_refresh_setid(inode);
	return exec_begin(file, true);
}

/**
 * __tfs_exec_read() - the kernel reads a file for itself
 * @file: upper file
 *
 * Return: 0; -ETXTBSY if writing must be denied meanwhile, but the lower inode is open for writing;
 * -ENOMEM.
 */
int __tfs_exec_read(struct file *file)
{
	struct inode *inode = file_inode(file);

	if (!is_denied_above(inode) || tfs_is_denied(inode))
		return 0;
	return exec_begin(file, false);
}

/**
 * __tfs_exec_release() - a handle of an inode with denied writing is released
 * @inode: upper; was in the list of tfs_is_denied() a moment ago
 */
void __tfs_exec_release(struct inode *inode)
{
	spin_lock(&denied_lock);
	allow_unless_used(TFS_I(inode), 0);
	spin_unlock(&denied_lock);
}

/*
 * A task that exits drops its program before it closes its descriptors. Other tasks may learn of the exit from a
 * closed descriptor, and then open the program for writing; the file of the program is released later still.
 */
static void task_exits(void *data, struct task_struct *task)
{
	const struct inode *given_up;
	struct tfs_inode *tfs, *next;

	if (list_empty_careful(&denied))
		return;
	given_up = program_given_up();
	spin_lock(&denied_lock);
	list_for_each_entry_safe(tfs, next, &denied, denied)
		allow_unless_used(tfs, &tfs->vfs_inode == given_up);
	spin_unlock(&denied_lock);
}

static void find_exit(struct tracepoint *tracepoint, void *found)
{
	if (!strcmp(tracepoint->name, "sched_process_exit"))
		*(struct tracepoint **)found = tracepoint;
}

static struct tracepoint *exit_tracepoint;

/**
 * tfs_exec_init() - register for the exit of tasks
 *
 * Return: 0 or a negative errno.
 */
int tfs_exec_init(void)
{
	for_each_kernel_tracepoint(find_exit, &exit_tracepoint);
	return exit_tracepoint ? tracepoint_probe_register(exit_tracepoint, task_exits, NULL) : -EOPNOTSUPP;
}

/**
 * tfs_exec_exit() - undo tfs_exec_init()
 *
 * Context: sleeps until no task runs the probe.
 */
void tfs_exec_exit(void)
{
	tracepoint_probe_unregister(exit_tracepoint, task_exits, NULL);
	tracepoint_synchronize_unregister();
}

/**
 * tfs_exec_permission() - may current execute a set-user-ID program?
 * @inode: upper inode
 * @mask: MAY_EXEC
 *
 * exec asks in bprm_fill_uid(), where it holds the upper i_rwsem and has read owner and mode of the upper inode.
 * These were copied at the open of the file, or later. If they have changed below since, the permission is refused,
 * and the program does not run as the owner of the file. Otherwise the lower i_rwsem keeps them as they are during
 * the check, as without tapefs.
 *
 * Return: 0 or a negative errno. Context: may sleep.
 */
int tfs_exec_permission(struct inode *inode, int mask)
{
	struct inode *lower = tfs_lower_inode(inode);
	int err;

	if (!inode_is_locked(inode)) /* overlayfs asks for a file of its own */
		return tfs_do_permission(inode, mask);
	inode_lock_shared(lower);
	err = tfs_is_as_set(inode) ? tfs_do_permission(inode, mask) : -EACCES;
	inode_unlock_shared(lower);
	return err;
}
