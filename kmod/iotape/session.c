// SPDX-License-Identifier: GPL-2.0-only
/*
 * session.c - sessions and sources: starts and stops the recording of sources.
 */
#include "session.h"

#include <linux/capability.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "debug.h"
#include "filter.h"
#include "task.h"
#include "wakes.h"

DEFINE_MUTEX(iot_control_lock);

static LIST_HEAD(sessions);
static LIST_HEAD(sources);
static u64 last_number;
static u64 last_source;

/* The session has no writers and no sender any more. */
static void free_buffers(struct iot_session *session)
{
	int cpu;

	if (session->channels)
		for_each_possible_cpu(cpu)
			iot_channel_exit(per_cpu_ptr(session->channels, cpu));
	free_percpu(session->channels);
	session->channels = NULL;
	iot_counters_free(rcu_dereference_protected(session->counters, true)); /* see above */
	RCU_INIT_POINTER(session->counters, NULL);
	iot_counters_free(session->counters_aside);
	session->counters_aside = NULL;
	iot_stacks_free(session->stacks);
	session->stacks = NULL;
	iot_mailboxes_exit(&session->mailboxes);
}

static void session_free(struct kref *refs)
{
	struct iot_session *session = container_of(refs, struct iot_session, refs);

	free_buffers(session);
	iot_delivery_exit(&session->delivery);
	iot_ctl_exit(session);
	if (session->collector_thread)
		put_task_struct(session->collector_thread);
	kfree(session);
}

/**
 * iot_session_put() - drop a reference
 * @session: freed with the last one
 */
void iot_session_put(struct iot_session *session)
{
	kref_put(&session->refs, session_free);
}
EXPORT_SYMBOL_GPL(iot_session_put);

/**
 * iot_session_new() - create a session, with all the memory it will ever need
 * @create: the request of user space, already checked
 *
 * Return: the session with one reference; -ENOMEM; -EOPNOTSUPP if it asks for wake-ups, and this
 * kernel does not report them.
 */
struct iot_session *iot_session_new(const struct iot_create *create)
{
	struct iot_session *session = kzalloc(sizeof(*session), GFP_KERNEL);
	int cpu, err = -ENOMEM;

	if (!session)
		return ERR_PTR(-ENOMEM);
	kref_init(&session->refs);
	INIT_LIST_HEAD(&session->list);
	iot_gate_init(&session->gate);
	iot_delays_init(&session->delays);
	iot_backpressure_init(&session->backpressure, create->buffers);
	iot_ctl_init(session);
	session->created_ns = ktime_get_mono_fast_ns();
	session->user = current_uid();
	session->buffers = create->buffers;
	init_waitqueue_head(&session->sender_wait);
	session->policy = create->policy;
	session->flush_ms = create->flush_ms;
	session->channels = alloc_percpu(struct iot_channel);
	if (iot_mailboxes_init(&session->mailboxes) || !session->channels)
		goto err_session;
	err = iot_delivery_init(&session->delivery);
	if (err)
		goto err_session;
	err = -ENOMEM;
	for_each_possible_cpu(cpu)
		if (iot_channel_init(per_cpu_ptr(session->channels, cpu), session, cpu,
				     create->buffers))
			goto err_session;
	session->has_wakes = create->flags & IOT_CREATE_WAKES;
	err = iot_wakes_get(session->has_wakes);
	session->uses_wakes = !err;
	if (err && (session->has_wakes || err != -EOPNOTSUPP)) {
		iot_refuse(err, "create: wake-ups cannot be recorded on this kernel");
		goto err_session;
	}

	mutex_lock(&iot_control_lock);
	session->number = ++last_number;
	list_add_tail_rcu(&session->list, &sessions);
	mutex_unlock(&iot_control_lock);
	return session;

err_session:
	iot_session_put(session);
	return ERR_PTR(err);
}

/* On return no CPU writes to the session any more. */
static void session_quiesce(struct iot_session *session)
{
	struct iot_source *source;

	lockdep_assert_held(&iot_control_lock);
	if (!session->is_running)
		return;
	WRITE_ONCE(session->is_running, false);
	list_for_each_entry(source, &sources, list)
		if (source->owner == session)
			rcu_assign_pointer(source->session, NULL);
	synchronize_rcu();
	session->end_ns = ktime_get_mono_fast_ns();
	iot_ctl_wake(session);
	iot_mailboxes_close(&session->mailboxes);
	iot_backpressure_wake(session);
	iot_delays_wake(&session->delays);
}

static void source_disown(struct iot_source *source)
{
	lockdep_assert_held(&iot_control_lock);
	source->owner = NULL;
	kfree(source->path);
	source->path = NULL;
}

/**
 * iot_session_close() - the descriptor was closed: end the session
 * @session: the caller's reference is consumed
 */
void iot_session_close(struct iot_session *session)
{
	struct iot_source *source;
	int cpu;

	mutex_lock(&iot_control_lock);
	session_quiesce(session);
	session->state = IOT_STATE_FAILED;
	list_for_each_entry(source, &sources, list)
		if (source->owner == session)
			source_disown(source);
	list_del_rcu(&session->list);
	mutex_unlock(&iot_control_lock);

	if (session->uses_wakes)
		iot_wakes_put(session->has_wakes);
	iot_gate_exit(&session->gate);
	iot_delays_exit(&session->delays);
	iot_program_drop(session);
	iot_sender_stop(session);
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(session->channels, cpu)->late);
	synchronize_rcu(); /* iot_session_find() */
	/* A process that has joined may keep the rest of the session for any time. */
	free_buffers(session);
	iot_session_put(session);
}

/**
 * iot_session_fail() - stop recording and resume all waiting tasks, because the collector has exited
 * @session: any
 */
void iot_session_fail(struct iot_session *session)
{
	mutex_lock(&iot_control_lock);
	session_quiesce(session);
	if (session->state != IOT_STATE_ENDED)
		session->state = IOT_STATE_FAILED;
	mutex_unlock(&iot_control_lock);
}

/**
 * iot_sessions_wake_orphans() - a netlink socket was closed, whose owner may be any process of the machine
 *
 * Wakes the senders of sessions that have lost their collector, and these end the sessions. The caller takes no
 * lock and does not wait, because its task may belong to any process.
 */
void iot_sessions_wake_orphans(void)
{
	struct iot_session *session;

	rcu_read_lock();
	list_for_each_entry_rcu(session, &sessions, list)
		if (iot_delivery_has_ended(&session->delivery)) {
			iot_delivery_wake(&session->delivery);
			iot_session_kick(session);
		}
	rcu_read_unlock();
}

/* The sender may not have noticed yet that the collector has exited. */
static enum iot_state session_state(const struct iot_session *session)
{
	if (session->state != IOT_STATE_ENDED && iot_delivery_has_ended(&session->delivery))
		return IOT_STATE_FAILED;
	return session->state;
}

/**
 * iot_session_bind() - a socket becomes the receiver of a session
 * @session: without a receiver yet
 * @collector: the netlink socket of the request, which cannot be closed before the answer
 *
 * The calling process is the collector: its own operations are not recorded.
 *
 * Return: 0; -EBUSY if the session has, or had, a receiver; -ENOMEM.
 */
int iot_session_bind(struct iot_session *session, struct sock *collector)
{
	int err;

	mutex_lock(&iot_control_lock);
	err = -EBUSY;
	if (session->state != IOT_STATE_NEW) {
		iot_refuse(err, "bind: session %llu has, or had, a collector", session->number);
		goto out;
	}
	session->collector = current->tgid;
	iot_delivery_open(&session->delivery, collector);
	err = iot_sender_start(session);
	if (err) {
		iot_delivery_close(&session->delivery);
		goto out;
	}
	session->collector_thread = get_task_struct(current);
	session->state = IOT_STATE_READY;
out:
	mutex_unlock(&iot_control_lock);
	return err;
}

/* Begin to record a source. */
static void source_start(struct iot_source *source, struct iot_session *session)
{
	lockdep_assert_held(&iot_control_lock);
	source->is_dump_due = !session->is_quiet;
	rcu_assign_pointer(source->session, session);
	source->ops->announce(source);
}

/*
 * Return: a source whose state has not been dumped yet, with a reference of its super block. The dump takes time
 * and waits for the collector, so it runs without the lock, which the end of the collector takes.
 */
static struct iot_source *source_to_dump(struct iot_session *session)
{
	struct iot_source *source, *found = NULL;

	mutex_lock(&iot_control_lock);
	list_for_each_entry(source, &sources, list) {
		if (source->owner != session || !session->is_running || !source->is_dump_due ||
		    source->is_dumping || !atomic_inc_not_zero(&source->sb->s_active))
			continue;
		source->is_dumping = true;
		found = source;
		break;
	}
	mutex_unlock(&iot_control_lock);
	return found;
}

/* The sources are recorded already; the caller holds no lock. */
static void dump_sources(struct iot_session *session)
{
	struct iot_source *source;
	struct super_block *sb;

	while ((source = source_to_dump(session))) {
		iot_state_dump(session, source);
		sb = source->sb;
		mutex_lock(&iot_control_lock);
		source->is_dumping = false;
		source->is_dump_due = false;
		mutex_unlock(&iot_control_lock);
		deactivate_super(sb);
	}
}

/*
 * Return: the path in the mount namespace of the caller, or in that of the mount if it is another one; NULL without
 * memory.
 */
static const char *mount_path(struct vfsmount *mount)
{
	const struct path root = { .mnt = mount, .dentry = mount->mnt_root };
	char *room = kmalloc(PATH_MAX, GFP_KERNEL), *path, *copy = NULL;

	if (!room)
		return NULL;
	path = d_path(&root, room, PATH_MAX);
	if (!IS_ERR(path))
		copy = kstrdup(path, GFP_KERNEL);
	kfree(room);
	return copy;
}

/**
 * iot_session_attach() - record a mount in a session
 * @session: not ended
 * @mount: the mount
 *
 * Which mounts a restricted session has is up to the administrator, not to its user: others might want to record them.
 *
 * Return: 0; -ENOTTY if that is no source; -EBUSY if another session has it; -EPERM if it is restricted, and current may make no
 * sessions; -EINVAL if the session has ended.
 */
int iot_session_attach(struct iot_session *session, struct vfsmount *mount)
{
	struct iot_source *source;
	int err = -ENOTTY;

	if (session->only.is_on && !iot_ctl_is_permitted(NULL))
		return iot_refuse(-EPERM, "attach: the session is restricted to a user, who may not add mounts");
	mutex_lock(&iot_control_lock);
	list_for_each_entry(source, &sources, list) {
		if (source->sb != mount->mnt_sb)
			continue;
		err = -EINVAL;
		if (session->state > IOT_STATE_RUNNING)
			break;
		err = -EBUSY;
		if (source->owner)
			break;
		err = 0;
		source->owner = session;
		source->path = mount_path(mount);
		if (session->is_running)
			source_start(source, session);
		break;
	}
	mutex_unlock(&iot_control_lock);
	if (!err)
		dump_sources(session);
	else if (err == -ENOTTY)
		iot_refuse(err, "attach: the directory is not on a tapefs mount");
	else
		iot_refuse(err, "attach: %s", err == -EBUSY ? "another session records the mount" :
							      "the session has ended");
	return err;
}

/**
 * iot_session_start() - begin to record, and dump the state: handles and mappings that exist already
 * @session: with a collector
 *
 * If a signal ends the dump, the recording continues without the rest of it, and without the record that states that
 * it is complete.
 *
 * Return: 0; -EINVAL if there is no collector, or the session has run already.
 */
int iot_session_start(struct iot_session *session)
{
	struct iot_source *source;
	int err = -EINVAL;

	mutex_lock(&iot_control_lock);
	if (session_state(session) == IOT_STATE_READY) {
		session->state = IOT_STATE_RUNNING;
		session->start_ns = ktime_get_mono_fast_ns();
		WRITE_ONCE(session->is_running, true);
		list_for_each_entry(source, &sources, list)
			if (source->owner == session)
				source_start(source, session);
		err = 0;
	}
	mutex_unlock(&iot_control_lock);
	if (err)
		return iot_refuse(err, "start: session %llu has no collector, or was started before", session->number);
	dump_sources(session);
	return 0;
}

/**
 * iot_session_stop() - end recording; the sender hands over the remaining records
 * @session: with a collector; if it has not started, it cannot start any more
 *
 * Return: 0; -EINVAL if it has no collector yet, or was stopped; -EPIPE if its collector
 * has exited.
 */
int iot_session_stop(struct iot_session *session)
{
	enum iot_state state;
	int err = 0;

	mutex_lock(&iot_control_lock);
	state = session_state(session);
	if (state == IOT_STATE_FAILED) {
		err = -EPIPE;
	} else if (state != IOT_STATE_READY && state != IOT_STATE_RUNNING) {
		err = -EINVAL;
	} else {
		iot_ctl_ends(session);
		session_quiesce(session);
		session->state = IOT_STATE_DRAINING;
		iot_session_kick(session);
	}
	mutex_unlock(&iot_control_lock);
	if (err)
		iot_refuse(err, "stop: session %llu %s", session->number,
			   err == -EPIPE ? "has lost its collector" : "has no collector, or was stopped before");
	return err;
}

/**
 * iot_session_adopt() - make current the root of the tasks that a session records
 * @session: recording
 *
 * Return: 0; -EPERM if it is restricted, and current may not appear in it; -EINVAL if it does not record; -ENOMEM.
 */
int iot_session_adopt(struct iot_session *session)
{
	int err = -EINVAL;

	if (!iot_only_admits(session))
		return iot_refuse(-EPERM, "adopt: session %llu is restricted to another user", session->number);
	if (iot_session_enter(session)) {
		err = iot_task_adopt(session);
		iot_session_leave();
	} else {
		iot_refuse(err, "adopt: session %llu does not record", session->number);
	}
	return err;
}

/**
 * iot_session_counts() - counters of a session so far
 * @session: any; iot_control_lock is held
 * @status: filled in
 */
void iot_session_counts(const struct iot_session *session, struct iot_status *status)
{
	struct iot_source *source;
	int cpu;

	*status = (struct iot_status){
		.session = session->number,
		.state = session_state(session),
		.policy = session->policy,
		.collector = session->collector,
		.waits = atomic64_read(&session->backpressure.waits),
		.sent_bytes = READ_ONCE(session->sent_bytes),
		.records = READ_ONCE(session->mailboxes.records),
		.lost = READ_ONCE(session->mailboxes.lost),
	};
	list_for_each_entry(source, &sources, list)
		status->mounts += source->owner == session;
	for_each_possible_cpu(cpu) {
		const struct iot_channel *channel = per_cpu_ptr(session->channels, cpu);

		status->records += READ_ONCE(channel->records);
		status->lost += READ_ONCE(channel->lost);
	}
}

/**
 * iot_session_status() - walk all sessions
 * @status: in: @session, the last number seen; out: the next session
 *
 * Return: 0; -ENOENT if there is none; -EPERM if current may see none at all.
 */
int iot_session_status(struct iot_status *status)
{
	struct iot_session *session;
	int err = iot_ctl_is_permitted(NULL) ? -ENOENT : -EPERM;

	mutex_lock(&iot_control_lock);
	list_for_each_entry(session, &sessions, list) {
		if (!iot_ctl_is_permitted(session))
			continue;
		err = -ENOENT;
		if (session->number <= status->session)
			continue;
		iot_session_counts(session, status);
		err = 0;
		break;
	}
	mutex_unlock(&iot_control_lock);
	return err;
}

/**
 * iot_session_each() - call a function for all sessions
 * @show: called for each, with iot_control_lock held
 * @context: for @show
 */
void iot_session_each(void (*show)(const struct iot_session *session, const struct iot_status *status, void *context),
		      void *context)
{
	struct iot_session *session;
	struct iot_status status;

	mutex_lock(&iot_control_lock);
	list_for_each_entry(session, &sessions, list) {
		iot_session_counts(session, &status);
		show(session, &status, context);
	}
	mutex_unlock(&iot_control_lock);
}

/**
 * iot_session_find() - the running session of a number
 * @number: of the session
 *
 * Return: the session, valid under the caller's rcu_read_lock(); NULL if there is none.
 */
struct iot_session *iot_session_find(u64 number)
{
	struct iot_session *session;

	list_for_each_entry_rcu(session, &sessions, list)
		if (session->number == number)
			return READ_ONCE(session->is_running) ? session : NULL;
	return NULL;
}

/**
 * iot_session_find_locked() - a session by its number
 * @number: of the session; iot_control_lock is held
 *
 * Return: the session, which keeps its buffers until the lock is released; NULL if there is none.
 */
struct iot_session *iot_session_find_locked(u64 number)
{
	struct iot_session *session;

	lockdep_assert_held(&iot_control_lock);
	list_for_each_entry(session, &sessions, list)
		if (session->number == number)
			return session;
	return NULL;
}

/**
 * iot_session_count_only() - number of sessions that are restricted to a user
 * @user: the user; iot_control_lock is held
 */
u32 iot_session_count_only(kuid_t user)
{
	const struct iot_session *session;
	u32 count = 0;

	lockdep_assert_held(&iot_control_lock);
	list_for_each_entry(session, &sessions, list)
		count += session->only.is_on && uid_eq(session->only.user, user);
	return count;
}

/**
 * iot_session_get() - a session by its number
 * @number: of the session
 *
 * Return: the session with a reference; NULL if there is none.
 */
struct iot_session *iot_session_get(u64 number)
{
	struct iot_session *session;

	mutex_lock(&iot_control_lock);
	session = iot_session_find_locked(number);
	if (session)
		kref_get(&session->refs);
	mutex_unlock(&iot_control_lock);
	return session;
}

/**
 * iot_session_set_mmap() - set the granularity at which accesses to new mappings are recorded
 * @session: any
 * @mmap: how
 *
 * Return: 0; -EOPNOTSUPP if it records nothing that can be mapped.
 */
int iot_session_set_mmap(struct iot_session *session, enum iot_mmap mmap)
{
	struct iot_source *source;
	int err = -EOPNOTSUPP;

	mutex_lock(&iot_control_lock);
	list_for_each_entry(source, &sources, list) {
		if (source->owner != session || !source->ops->set_mmap)
			continue;
		source->ops->set_mmap(source, mmap);
		err = 0;
	}
	mutex_unlock(&iot_control_lock);
	return err;
}

/**
 * iot_session_paths() - the paths of the mounts of a session, each ended by a zero byte
 * @session: any; iot_control_lock is held
 * @text: where to
 * @room: bytes there
 *
 * Return: length of the paths; paths that do not fit are left out.
 */
size_t iot_session_paths(const struct iot_session *session, char *text, size_t room)
{
	struct iot_source *source;
	size_t at = 0, bytes;

	list_for_each_entry(source, &sources, list) {
		if (source->owner != session)
			continue;
		bytes = source->path ? strlen(source->path) + 1 : 1;
		if (at + bytes > room)
			break;
		memcpy(text + at, source->path ?: "", bytes);
		at += bytes;
	}
	return at;
}

/**
 * iot_session_admit() - let a user or a group join
 * @session: any
 * @admit: the processes that may join
 *
 * Return: 0; -EPERM if the session is restricted to one user; -EINVAL if there is none; -ENOSPC if too many are admitted.
 */
int iot_session_admit(struct iot_session *session, const struct iot_admit *admit)
{
	int err;

	if (session->only.is_on)
		return -EPERM;
	mutex_lock(&iot_control_lock);
	err = iot_admission_add(&session->admission, admit);
	mutex_unlock(&iot_control_lock);
	return err;
}

/**
 * iot_session_filter() - record only some kinds of operations
 * @session: not started; the caller prevents a start meanwhile
 * @filter: the kinds
 *
 * Context: sleeps. Return: 0; -EINVAL if the session has started.
 */
int iot_session_filter(struct iot_session *session, const struct iot_filter *filter)
{
	if (session_state(session) > IOT_STATE_READY)
		return iot_refuse(-EINVAL, "filter: session %llu was started before", session->number);
	iot_gate_set(&session->gate, filter->kinds);
	return 0;
}

/**
 * iot_session_count() - count operations instead of recording them
 * @session: not started; the caller prevents a start meanwhile
 * @count: valid
 *
 * Context: sleeps. Return: 0; -EINVAL if the session has started, or records call sites; -EPERM if it is restricted to a user who may
 * not have so many rows; -EBUSY if it counts already; -ENOMEM.
 */
int iot_session_count(struct iot_session *session, const struct iot_count *count)
{
	struct iot_counter_table *table;

	if (session_state(session) > IOT_STATE_READY)
		return iot_refuse(-EINVAL, "count: session %llu was started before", session->number);
	if (session->stacks)
		return iot_refuse(-EINVAL, "count: session %llu records call sites", session->number);
	if (session->only.is_on && count->rows > IOT_ONLY_ROWS_MAX)
		return iot_refuse(-EPERM, "count: more than %u rows in a session of a user", IOT_ONLY_ROWS_MAX);
	if (rcu_access_pointer(session->counters))
		return iot_refuse(-EBUSY, "count: session %llu has counters", session->number);
	table = iot_counters_new(count->rows, count->keys);
	if (!table)
		return -ENOMEM;
	mutex_lock(&iot_control_lock); /* iot_counters_read() by others */
	rcu_assign_pointer(session->counters, table);
	session->is_quiet = iot_counters_are_quiet(table);
	mutex_unlock(&iot_control_lock);
	return 0;
}

/**
 * iot_session_stacks() - record from which function calls operations are made
 * @session: not started; the caller prevents a start meanwhile
 * @request: the kinds of operations
 *
 * Context: sleeps. Return: 0; -EINVAL if the session has started, or counts; -EBUSY if it was requested before; -ENOMEM.
 */
int iot_session_stacks(struct iot_session *session, const struct iot_stacks *request)
{
	if (session_state(session) > IOT_STATE_READY || rcu_access_pointer(session->counters))
		return iot_refuse(-EINVAL, "stacks: session %llu was started before, or counts operations", session->number);
	if (session->stacks)
		return iot_refuse(-EBUSY, "stacks: session %llu has them", session->number);
	session->stacks = iot_stacks_new(request);
	return session->stacks ? 0 : -ENOMEM;
}

/**
 * iot_session_delay() - delay threads after some of their operations
 * @session: not started; the caller prevents a start meanwhile
 * @delay: in range
 *
 * Context: sleeps. Return: 0; -EPERM if it is restricted to one user; -EINVAL if it has started; -EBUSY if it has delays
 * already; -EOPNOTSUPP if the kernel lets no module add task work.
 */
int iot_session_delay(struct iot_session *session, const struct iot_delay *delay)
{
	if (session->only.is_on)
		return iot_refuse(-EPERM, "delay: session %llu is restricted to a user", session->number);
	if (session_state(session) > IOT_STATE_READY)
		return iot_refuse(-EINVAL, "delay: session %llu was started before", session->number);
	return iot_delays_set(&session->delays, delay);
}

/*
 * A process that can name a mount does not have the consent of its recorder: any descriptor that it received would
 * be enough to name it.
 */
static bool may_join(const struct iot_session *session)
{
	if (!iot_only_admits(session))
		return false;
	return iot_task_is_member(session) || iot_admission_has_current(&session->admission) ||
	       ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}

/**
 * iot_session_join() - the session that records a mount, if current may join it
 * @sb: super block of the mount
 *
 * Return: the session with a reference; -ENOTTY if none records it; -EACCES.
 */
struct iot_session *iot_session_join(struct super_block *sb)
{
	struct iot_session *session = ERR_PTR(-ENOTTY);
	struct iot_source *source;

	mutex_lock(&iot_control_lock);
	list_for_each_entry(source, &sources, list) {
		if (source->sb != sb || !source->owner)
			continue;
		session = may_join(source->owner) ? source->owner : ERR_PTR(-EACCES);
		if (!IS_ERR(session))
			kref_get(&session->refs);
		break;
	}
	mutex_unlock(&iot_control_lock);
	if (IS_ERR(session))
		iot_refuse(PTR_ERR(session), "join: %s",
			   session == ERR_PTR(-EACCES) ? "neither started nor admitted by the recorder" :
							 "no session records the mount of the directory");
	return session;
}

/**
 * iot_session_get_fd() - the session that a descriptor of the caller is
 * @fd: the descriptor
 *
 * Return: the session with a reference; -EBADF, or -ENOTTY if it is something else; -EPERM if it is restricted to another
 * user, root included.
 */
struct iot_session *iot_session_get_fd(int fd)
{
	struct iot_session *session;
	struct file *file = fget(fd);

	if (!file)
		return ERR_PTR(-EBADF);
	session = iot_control_session(file) ?: ERR_PTR(-ENOTTY);
	if (!IS_ERR(session) && session->only.is_on && !iot_only_is_of_current(&session->only))
		session = ERR_PTR(iot_refuse(-EPERM, "session %llu is restricted to another user", session->number));
	if (!IS_ERR(session))
		kref_get(&session->refs);
	fput(file);
	return session;
}
EXPORT_SYMBOL_GPL(iot_session_get_fd);

/**
 * iot_source_add() - register a source
 * @source: @sb and @ops are set, the rest is zero
 */
void iot_source_add(struct iot_source *source)
{
	mutex_lock(&iot_control_lock);
	source->number = ++last_source;
	list_add_tail(&source->list, &sources);
	mutex_unlock(&iot_control_lock);
}
EXPORT_SYMBOL_GPL(iot_source_add);

/**
 * iot_source_remove() - remove a source; it is no longer in use when this returns
 * @source: added before
 */
void iot_source_remove(struct iot_source *source)
{
	mutex_lock(&iot_control_lock);
	rcu_assign_pointer(source->session, NULL);
	source_disown(source);
	list_del(&source->list);
	mutex_unlock(&iot_control_lock);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(iot_source_remove);
