// SPDX-License-Identifier: GPL-2.0-only
/*
 * thread_users.c - a thread takes the recorded user of its task.
 *
 * The system calls change one thread; the functions of the C library with the same names change
 * the process. A trace has no supplementary groups, nor has the thread.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "thread_users.h"

static int check_known(const struct iot_program *program, char *why, size_t room)
{
	u32 i, unknown = 0;

	for (i = 0; i < program->task_count; i++)
		unknown += le32_to_cpu(program->tasks[i].uid) == IOT_ID_UNKNOWN;
	if (!unknown)
		return 0;
	snprintf(why, room, "--as=recorded: the program lacks the users of %u of %u tasks",
		 unknown, program->task_count);
	return -EINVAL;
}

/* With another owner or mode, other operations would be refused than in the trace. */
static int check_target(const struct iot_program *program, const char *target, char *why,
			size_t room)
{
	const struct iot_program_entry *root = iot_tree_root(program);
	struct stat stat_of;
	u32 mode = root ? le32_to_cpu(root->mode) & 07777 : 0;

	if (!root)
		return 0;
	if (stat(target, &stat_of)) {
		snprintf(why, room, "%s: %s", target, strerror(errno));
		return -errno;
	}
	if (stat_of.st_uid == le32_to_cpu(root->uid) && stat_of.st_gid == le32_to_cpu(root->gid) &&
	    (stat_of.st_mode & 07777) == mode)
		return 0;
	snprintf(why, room,
		 "%s: --as=recorded needs a target of owner %u:%u and mode %o, as in the trace, not %u:%u and %o (see iotape init --owner)",
		 target, le32_to_cpu(root->uid), le32_to_cpu(root->gid), mode, stat_of.st_uid,
		 stat_of.st_gid, stat_of.st_mode & 07777u);
	return -EINVAL;
}

/**
 * users_check() - check that tasks can run as their recorded users
 * @program: verified
 * @target: directory
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0; -EPERM if the caller is not root; -EINVAL if the program lacks users, or the target
 * differs from the traced directory in owner or mode; or another errno.
 */
int users_check(const struct iot_program *program, const char *target, char *why, size_t room)
{
	int err = check_known(program, why, room);

	if (!err && geteuid()) {
		snprintf(why, room, "--as=recorded: only root can run operations as other users");
		err = -EPERM;
	}
	return err ? err : check_target(program, target, why, room);
}

/**
 * users_become() - the calling thread is the user of a task from now on
 * @task: of the program
 *
 * Return: 0 if it is that already; 1 if it has become another one than the process is; a negative errno.
 */
int users_become(const struct iot_program_task *task)
{
	u32 uid = le32_to_cpu(task->uid), gid = le32_to_cpu(task->gid);

	if (uid == geteuid() && gid == getegid())
		return 0;
	if (syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setresgid, -1, gid, -1) ||
	    syscall(SYS_setresuid, -1, uid, -1))
		return -errno;
	return 1;
}
