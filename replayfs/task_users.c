// SPDX-License-Identifier: GPL-2.0-only
/*
 * task_users.c - a task runs with the user and group that it had in the trace.
 *
 * The credentials are created when a task begins, and the worker has them while it is in the kernel for that task:
 * a single operation needs no change of credentials. A trace has no supplementary groups, so the task has none.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/user_namespace.h>

#include "replayfs.h"

static bool is_current(kuid_t uid, kgid_t gid)
{
	return uid_eq(uid, current_fsuid()) && gid_eq(gid, current_fsgid());
}

static void set_ids(struct cred *cred, kuid_t uid, kgid_t gid)
{
	cred->uid = cred->euid = cred->suid = cred->fsuid = uid;
	cred->gid = cred->egid = cred->sgid = cred->fsgid = gid;
}

static void drop_capabilities(struct cred *cred)
{
	cap_clear(cred->cap_inheritable);
	cap_clear(cred->cap_permitted);
	cap_clear(cred->cap_effective);
	cap_clear(cred->cap_ambient);
}

/**
 * rfs_task_user_get() - the credentials with which a task of a program runs
 * @task: of the program
 * @cred: out: NULL if the task runs with those of current; else for put_cred()
 *
 * Return: 0; -EPERM if current may not take those of others; -EINVAL if there is no such user;
 * -ENOMEM.
 */
int rfs_task_user_get(const struct iot_program_task *task, const struct cred **cred)
{
	kuid_t uid = make_kuid(&init_user_ns, le32_to_cpu(task->uid));
	kgid_t gid = make_kgid(&init_user_ns, le32_to_cpu(task->gid));
	struct group_info *no_groups;
	struct cred *new;

	*cred = NULL;
	if (le32_to_cpu(task->uid) == IOT_ID_UNKNOWN || is_current(uid, gid))
		return 0;
	if (!uid_valid(uid) || !gid_valid(gid))
		return -EINVAL;
	if (!capable(CAP_SETUID) || !capable(CAP_SETGID))
		return -EPERM;
	new = prepare_creds();
	no_groups = groups_alloc(0);
	if (!new || !no_groups) {
		if (new)
			abort_creds(new);
		if (no_groups)
			put_group_info(no_groups);
		return -ENOMEM;
	}
	set_groups(new, no_groups);
	put_group_info(no_groups);
	set_ids(new, uid, gid);
	if (!uid_eq(uid, GLOBAL_ROOT_UID))
		drop_capabilities(new);
	*cred = new;
	return 0;
}
