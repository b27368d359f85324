// SPDX-License-Identifier: GPL-2.0-only
/*
 * alive.c - lists the live threads of a recording, for a recorder whose command has ended while
 * some of its descendants still run.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "alive.h"
#include "ctl.h"
#include "session.h"
#include "task.h"

/**
 * struct alive_list - threads found so far
 * @session: number of the session that knows them
 * @only: the user that it is restricted to, if it is: others are not listed
 * @threads: room for them
 * @room: size of @threads
 * @count: threads found, also without room
 */
struct alive_list {
	u64 session;
	struct iot_only only;
	struct iot_alive_thread *threads;
	u32 room;
	u32 count;
};

/* The entry is locked, so its thread exists. */
static void see_task(struct iot_task *task, void *context)
{
	struct task_struct *thread = (struct task_struct *)task->thread;
	struct alive_list *list = context;
	struct iot_alive_thread *found;

	if (!iot_task_is_known(task, list->session) || READ_ONCE(thread->flags) & (PF_EXITING | PF_KTHREAD))
		return;
	if (list->only.is_on && !iot_only_owns(&list->only, thread))
		return;
	if (list->count++ >= list->room)
		return;
	found = &list->threads[list->count - 1];
	found->pid = task_pid_vnr(thread);
	found->tgid = task_tgid_vnr(thread);
	memcpy(found->command, thread->comm, sizeof(found->command)); /* another task may be changing it */
	found->command[sizeof(found->command) - 1] = 0;
}

static int find_session(struct alive_list *list, u64 number)
{
	struct iot_session *session;
	bool is_permitted;

	mutex_lock(&iot_control_lock);
	session = iot_session_find_locked(number);
	is_permitted = iot_ctl_is_permitted(session);
	if (session)
		list->only = session->only;
	mutex_unlock(&iot_control_lock);
	list->session = number;
	return is_permitted ? 0 : -EPERM;
}

/**
 * iot_alive_list() - IOT_IOC_ALIVE
 * @arg: of the ioctl
 *
 * Return: 0 or a negative errno.
 */
int iot_alive_list(struct iot_alive __user *arg)
{
	struct alive_list list = {};
	struct iot_alive alive;
	int err;

	if (copy_from_user(&alive, arg, sizeof(alive)))
		return -EFAULT;
	err = find_session(&list, alive.session);
	if (err)
		return err;
	if (alive.room > IOT_ALIVE_MAX || alive.count || !alive.session)
		return -EINVAL;
	list.room = alive.room;
	list.threads = kvcalloc(alive.room, sizeof(*list.threads), GFP_KERNEL_ACCOUNT);
	if (alive.room && !list.threads)
		return -ENOMEM;
	iot_task_each(see_task, &list);
	alive.count = list.count;
	if (copy_to_user(u64_to_user_ptr(alive.threads), list.threads,
			 min(list.count, list.room) * sizeof(*list.threads)) ||
	    copy_to_user(arg, &alive, sizeof(alive)))
		err = -EFAULT;
	kvfree(list.threads);
	return err;
}
