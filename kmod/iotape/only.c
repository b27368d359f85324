// SPDX-License-Identifier: GPL-2.0-only
/*
 * only.c - sessions that are restricted to the processes of one user.
 *
 * An administrator lets a user record. The session then contains what the user could observe without it, by ptrace(2): so the
 * conditions are those of ptrace for a process of that user and group without capabilities.
 *
 *	users	real, effective, saved and file system user are the user; the groups likewise. Set-user-ID and
 *		set-group-ID programs, and daemons that act for the user for a while, differ in one of them
 *	rights	none in the initial user namespace. Rights in a user namespace that the user has made count for nothing
 *		outside of it, and all of its tasks belong to the user
 *	memory	the process is dumpable: it has not executed a program that the user may not read, and has not changed its users
 *		since its last exec
 *	thread	not one of the kernel, which may work for any user
 *
 * All decisions are here: the gate asks for each operation, and task.c, state.c, alive.c and those that let tasks join ask
 * for tasks. Both the own and the overridden credentials of a task must meet the conditions: the kernel overrides them when it
 * acts in the name of another, in overlayfs, NFS servers and io_uring for example.
 *
 * A process gives its memory up before it closes its last descriptors. What was known of it until then stays in force: it is
 * the same program.
 */
#include "only.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/user_namespace.h>

#include "compat/sched.h"
#include "debug.h"
#include "session.h"
#include "task.h"

static bool has_ids(const struct iot_only *only, const struct cred *cred)
{
	return uid_eq(cred->uid, only->user) && uid_eq(cred->euid, only->user) && uid_eq(cred->suid, only->user) &&
	       uid_eq(cred->fsuid, only->user) && gid_eq(cred->gid, only->group) && gid_eq(cred->egid, only->group) &&
	       gid_eq(cred->sgid, only->group) && gid_eq(cred->fsgid, only->group);
}

/* Did the user make the namespace, or one around it? The others around it are those of the machine. */
static bool is_in_own_namespace(const struct iot_only *only, const struct cred *cred)
{
	const struct user_namespace *ns = cred->user_ns;

	while (ns->parent && ns->parent != &init_user_ns)
		ns = ns->parent;
	return ns->parent && uid_eq(ns->owner, only->user);
}

static bool has_rights(const struct iot_only *only, const struct cred *cred)
{
	if (cred->user_ns == &init_user_ns)
		return !cap_isclear(cred->cap_permitted) || !cap_isclear(cred->cap_effective);
	return !is_in_own_namespace(only, cred);
}

static bool acts_for(const struct iot_only *only, const struct cred *cred)
{
	return has_ids(only, cred) && !has_rights(only, cred);
}

/**
 * iot_only_owns() - does a thread belong to the user, whether its program is readable or not?
 * @only: of a restricted session
 * @thread: any that is not freed meanwhile
 */
bool iot_only_owns(const struct iot_only *only, const struct task_struct *thread)
{
	bool is_owned;

	if (thread->flags & PF_KTHREAD)
		return false;
	rcu_read_lock();
	is_owned = acts_for(only, __task_cred(thread));
	rcu_read_unlock();
	return is_owned;
}

/* Return: false also of a process that has given its memory up. */
static bool is_readable(struct task_struct *thread)
{
	bool is_it;

	task_lock(thread);
	is_it = thread->mm && iot_thread_is_dumpable(thread, thread->mm);
	task_unlock(thread);
	return is_it;
}

/**
 * iot_only_shows() - may a thread appear in a session?
 * @session: any
 * @thread: any that is not freed meanwhile; the caller holds no lock
 */
bool iot_only_shows(const struct iot_session *session, struct task_struct *thread)
{
	return !session->only.is_on || (iot_only_owns(&session->only, thread) && is_readable(thread));
}

/* It is not announced any more, until it is announced again. */
static void forget_current(const struct iot_session *session)
{
	struct iot_task *task = iot_task_find_current();

	if (!task || task->epoch != session->number)
		return;
	task->epoch = 0;
	task->has_left = true;
}

/* Its last operations, without memory: of a task that has been in the session since its last exec. */
static bool was_admitted(const struct iot_session *session)
{
	const struct iot_task *task = iot_task_find_current();

	return (current->flags & PF_EXITING) && task && task->epoch == session->number;
}

/**
 * __iot_only_admits() - may current appear in a session?
 * @session: restricted
 */
bool __iot_only_admits(const struct iot_session *session)
{
	const struct iot_only *only = &session->only;
	const struct mm_struct *mm = current->mm; /* which only current itself can replace */
	bool is_own = !(current->flags & PF_KTHREAD) && acts_for(only, current_real_cred());

	if (is_own && !mm)
		is_own = was_admitted(session);
	else if (is_own)
		is_own = iot_thread_is_dumpable(current, mm);
	if (!is_own)
		forget_current(session);
	return is_own && acts_for(only, current_cred());
}

/**
 * iot_only_is_of_current() - is current a process of the user that a session is restricted to?
 * @only: of any session
 */
bool iot_only_is_of_current(const struct iot_only *only)
{
	return only->is_on && !(current->flags & PF_KTHREAD) && acts_for(only, current_real_cred()) &&
	       acts_for(only, current_cred());
}

/* -- the restriction --------------------------------------------------------------------------- */

/* Return: the reason why a session cannot be restricted; NULL if it can. */
static const char *only_fault(const struct iot_session *session)
{
	struct iot_status status;

	iot_session_counts(session, &status);
	if (session->only.is_on)
		return "the session is restricted";
	if (session->state != IOT_STATE_NEW || status.mounts)
		return "the session has a collector or a mount";
	if (session->has_wakes)
		return "wake-ups are by tasks of all users";
	if (session->buffers > IOT_ONLY_BUFFERS_MAX)
		return "too many buffers";
	if (session->admission.count || session->delays.how.period)
		return "the session has admitted others, or delays threads";
	return NULL;
}

/**
 * iot_only_set() - IOT_IOC_ONLY: restrict a session to one user
 * @session: new; the caller excludes other requests of its descriptor
 * @request: the user
 *
 * Return: 0; -EPERM without the right to make sessions; -EINVAL if there is no such user, it is root, or the session cannot be
 * restricted; -EUSERS if the user has too many sessions.
 */
int iot_only_set(struct iot_session *session, const struct iot_only_user *request)
{
	struct iot_only only = {
		.is_on = true,
		.user = make_kuid(current_user_ns(), request->uid),
		.group = make_kgid(current_user_ns(), request->gid),
	};
	const char *fault;
	u32 count;

	if (!iot_ctl_is_permitted(NULL))
		return iot_refuse(-EPERM, "only: without CAP_SYS_ADMIN");
	if (!uid_valid(only.user) || !gid_valid(only.group) || uid_eq(only.user, GLOBAL_ROOT_UID))
		return iot_refuse(-EINVAL, "only: no such user or group, or root");
	mutex_lock(&iot_control_lock);
	count = iot_session_count_only(only.user);
	fault = only_fault(session);
	if (!fault && count < IOT_ONLY_SESSIONS_MAX)
		session->only = only;
	mutex_unlock(&iot_control_lock);
	if (fault)
		return iot_refuse(-EINVAL, "only: %s", fault);
	return count < IOT_ONLY_SESSIONS_MAX ? 0 : iot_refuse(-EUSERS, "only: the user has %u sessions", count);
}

/**
 * iot_cached_pages() - pages of a file in the page cache, as far as a session may state them
 * @session: entered
 * @lower: inode of the file
 *
 * Return: 0 in a restricted session if the user does not own the file: mincore(2) and cachestat(2) do not state them to that user either.
 */
u64 iot_cached_pages(const struct iot_session *session, const struct inode *lower)
{
	if (unlikely(session->only.is_on) && !uid_eq(lower->i_uid, session->only.user))
		return 0;
	return lower->i_mapping->nrpages;
}
EXPORT_SYMBOL_GPL(iot_cached_pages);
