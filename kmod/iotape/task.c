// SPDX-License-Identifier: GPL-2.0-only
/*
 * task.c - the table of traced threads, and their lives: fork, exec, exit.
 */
#include "task.h"

#include <linux/binfmts.h>
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>

#include "compat/sched.h"
#include "preempted.h"
#include "session.h"

#define TASK_HASH_BITS 10

struct bucket {
	struct hlist_head head;
	spinlock_t lock;
};

static struct bucket table[1 << TASK_HASH_BITS];
static struct kmem_cache *cache;
static atomic_t last_id = ATOMIC_INIT(0);

static struct bucket *bucket_of(const struct task_struct *thread)
{
	return &table[hash_ptr(thread, TASK_HASH_BITS)];
}

static struct iot_task *task_find(const struct task_struct *thread)
{
	struct iot_task *task;

	hlist_for_each_entry_rcu(task, &bucket_of(thread)->head, node)
		if (task->thread == thread)
			return task;
	return NULL;
}

/*
 * A number for the process of a new thread: that of its leader. If the leader is not known, the thread stands for a
 * process of its own, and readers tell from the process id that it is not.
 */
static u32 process_of(const struct task_struct *thread, u32 id)
{
	const struct iot_task *leader;

	if (thread_group_leader((struct task_struct *)thread))
		return id;
	leader = task_find(READ_ONCE(thread->group_leader));
	return leader ? leader->process : id;
}

/*
 * A thread is added by itself, by its parent before it runs, or by a state dump: so it may be there already.
 * GFP_NOWAIT: the thread may be in a page fault, and a record must not make it wait for memory.
 */
static struct iot_task *task_add(const struct task_struct *thread, u32 parent, u32 why)
{
	struct iot_task *task = kmem_cache_zalloc(cache, GFP_NOWAIT | __GFP_NOWARN), *other;
	struct bucket *bucket = bucket_of(thread);
	unsigned long flags;

	if (!task)
		return NULL;
	task->thread = thread;
	task->id = atomic_inc_return(&last_id);
	task->process = process_of(thread, task->id);
	task->parent = parent;
	task->why = why;
	spin_lock_irqsave(&bucket->lock, flags);
	other = task_find(thread);
	if (likely(!other))
		hlist_add_head_rcu(&task->node, &bucket->head);
	spin_unlock_irqrestore(&bucket->lock, flags);
	if (likely(!other))
		return task;
	kmem_cache_free(cache, task);
	return other;
}

static void task_free(struct rcu_head *rcu)
{
	struct iot_task *task = container_of(rcu, struct iot_task, rcu);

	iot_mailbox_put(task->mailbox);
	kmem_cache_free(cache, task);
}

static void task_remove(const struct task_struct *thread)
{
	struct bucket *bucket = bucket_of(thread);
	struct iot_task *task;
	unsigned long flags;

	spin_lock_irqsave(&bucket->lock, flags);
	hlist_for_each_entry(task, &bucket->head, node) {
		if (task->thread != thread)
			continue;
		hlist_del_rcu(&task->node);
		call_rcu(&task->rcu, task_free);
		break;
	}
	spin_unlock_irqrestore(&bucket->lock, flags);
}

/* True if this session has the record of the fork or exec that created the task, or if the task has no such origin. */
static bool is_made_in(const struct iot_task *task, const struct iot_session *session)
{
	switch (task->why) {
	case IOT_REASON_fork:
		return task->made == session->number;
	case IOT_REASON_exec:
		return task->renewed == session->number;
	default:
		return true;
	}
}

/**
 * iot_task_represent() - announce current as the first task of a row, which stands for all with its command
 * @session: entered; it is quiet
 * @task: current's
 *
 * The process ids are 0, and the task has no further records. Once in each session, and again if the record was lost.
 */
void iot_task_represent(struct iot_session *session, struct iot_task *task)
{
	struct iot_rec_task r = {
		.task = task->id,
		.uid = from_kuid_munged(&init_user_ns, current_euid()),
		.gid = from_kgid_munged(&init_user_ns, current_egid()),
		.why = IOT_REASON_seen,
	};

	if (task->represents != session->number &&
	    IOT_ANNOUNCE(session, task, &r, current->comm, strnlen(current->comm, TASK_COMM_LEN)))
		task->represents = session->number;
}

/* Announces a task once in each session, and again if the record was lost. */
static void task_announce(struct iot_session *session, struct iot_task *task,
			  struct task_struct *thread)
{
	struct iot_rec_task r = {
		.task = task->id,
		.pid = task_pid_nr(thread),
		.tgid = task_tgid_nr(thread),
		.why = IOT_REASON_seen,
		.plays = task->plays,
	};
	const struct cred *cred;

	if (is_made_in(task, session)) {
		r.parent = task->parent;
		r.why = task->why;
	}
	rcu_read_lock(); /* the thread may be another one, and may change its credentials */
	cred = __task_cred(thread);
	r.uid = from_kuid_munged(&init_user_ns, cred->euid);
	r.gid = from_kgid_munged(&init_user_ns, cred->egid);
	rcu_read_unlock();
	if (IOT_ANNOUNCE(session, task, &r, thread->comm, strnlen(thread->comm, TASK_COMM_LEN)))
		task->epoch = session->number;
}

/**
 * iot_task_find() - the entry of a thread, NULL if it has none
 * @thread: any; the caller is in RCU, or has interrupts off
 */
struct iot_task *iot_task_find(const struct task_struct *thread)
{
	return task_find(thread);
}

/**
 * iot_task_find_current() - the entry of current, NULL if it has none
 *
 * The entry lives as long as current does.
 */
struct iot_task *iot_task_find_current(void)
{
	struct iot_task *task;

	rcu_read_lock();
	task = task_find(current);
	rcu_read_unlock();
	return task;
}

/**
 * iot_task_entry() - the entry of current, which may be unknown to all sessions
 *
 * Context: RCU. Return: the entry, or NULL if there was no memory to make it.
 */
struct iot_task *iot_task_entry(void)
{
	return task_find(current) ?: task_add(current, 0, IOT_REASON_seen);
}

/**
 * iot_task_of_current() - the entry of current, known to a session
 * @session: entered
 *
 * Return: the entry, or NULL if there was no memory to make it.
 */
struct iot_task *iot_task_of_current(struct iot_session *session)
{
	struct iot_task *task = task_find(current);

	if (unlikely(!task)) {
		task = task_add(current, 0, IOT_REASON_seen);
		if (!task)
			return NULL;
	}
	if (unlikely(task->epoch != session->number)) {
		iot_task_rest(task, current);
		task_announce(session, task, current);
	}
	return task;
}

/* Current becomes another task. The lock keeps iot_task_announce() from taking it for the old one. */
static void task_renew(struct iot_task *task, u32 why)
{
	struct bucket *bucket = bucket_of(task->thread);
	struct iot_mailbox *mailbox;
	unsigned long flags;

	spin_lock_irqsave(&bucket->lock, flags);
	task->parent = task->id;
	task->id = atomic_inc_return(&last_id);
	task->process = task->id;
	task->why = why;
	task->plays = 0;
	task->epoch = 0;
	task->has_left = false;
	task->represents = 0;
	task->ops = 0;
	task->delayable = 0;
	task->current_op = 0;
	iot_task_rest(task, current);
	task->wakes = (struct iot_wakes){};
	mailbox = task->mailbox;
	WRITE_ONCE(task->mailbox, NULL);
	spin_unlock_irqrestore(&bucket->lock, flags);
	iot_mailbox_put(mailbox);
}

/**
 * iot_task_announce() - announce another thread to a session
 * @session: entered
 * @thread: any that is not new, with a reference of the caller
 *
 * The thread may announce itself at the same time: the records are equal, and readers accept that. But the task that it
 * becomes meanwhile, by an exec, must not be marked as announced.
 *
 * Return: id of its task; 0 if it is about to be freed, or there is no memory.
 */
u32 iot_task_announce(struct iot_session *session, struct task_struct *thread)
{
	struct bucket *bucket = bucket_of(thread);
	struct iot_task *task, as_found;
	unsigned long flags;

	if (!pid_alive(thread)) /* RCU delays life_free() as long as the session is entered */
		return 0;
	task = task_find(thread) ?: task_add(thread, 0, IOT_REASON_seen);
	if (!task)
		return 0;
	spin_lock_irqsave(&bucket->lock, flags);
	as_found = *task;
	spin_unlock_irqrestore(&bucket->lock, flags);
	if (as_found.epoch == session->number)
		return as_found.id;
	task_announce(session, &as_found, thread);
	spin_lock_irqsave(&bucket->lock, flags);
	if (task->id == as_found.id) {
		task->epoch = as_found.epoch;
		iot_task_rest(task, thread);
	}
	spin_unlock_irqrestore(&bucket->lock, flags);
	return as_found.id;
}

/**
 * iot_task_is_made() - was the creation of a thread recorded in a session?
 * @session: entered
 * @thread: any
 */
bool iot_task_is_made(struct iot_session *session, const struct task_struct *thread)
{
	const struct iot_task *task = task_find(thread);

	return task && READ_ONCE(task->made) == session->number;
}

/**
 * iot_task_each() - call a function for all threads that have an entry
 * @see: called for each, with the lock of its bucket and interrupts off: the thread is not freed
 *	meanwhile, because its entry is removed first
 * @context: for @see
 *
 * Threads that start or exit meanwhile may or may not be visited.
 */
void iot_task_each(void (*see)(struct iot_task *task, void *context), void *context)
{
	struct iot_task *task;
	unsigned long flags;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		if (hlist_empty(&table[i].head))
			continue;
		rcu_read_lock();
		spin_lock_irqsave(&table[i].lock, flags);
		hlist_for_each_entry(task, &table[i].head, node)
			see(task, context);
		spin_unlock_irqrestore(&table[i].lock, flags);
		rcu_read_unlock();
		cond_resched();
	}
}

/**
 * iot_task_nth() - the number of a thread in a session, from 1
 * @task: current's, or that of a thread that does not run yet
 * @session: entered
 *
 * A thread has its number from the first call for it on, also after exec.
 */
u32 iot_task_nth(struct iot_task *task, struct iot_session *session)
{
	if (task->numbered != session->number) {
		task->nth = atomic_inc_return(&session->delays.threads);
		task->numbered = session->number;
		task->delayable = 0;
	}
	return task->nth;
}

/**
 * iot_task_adopt() - announce current as the root of the recorded tasks
 * @session: entered
 *
 * Return: 0 or -ENOMEM.
 */
int iot_task_adopt(struct iot_session *session)
{
	struct iot_task *task = task_find(current);

	if (task)
		task_renew(task, IOT_REASON_adopt);
	else
		task = task_add(current, 0, IOT_REASON_adopt);
	if (!task)
		return -ENOMEM;
	task->member = session->number;
	iot_task_nth(task, session);
	if (!session->is_quiet)
		task_announce(session, task, current);
	return 0;
}

/**
 * iot_task_is_member() - is current a task that the recorder adopted, or a descendant of one?
 * @session: any
 */
bool iot_task_is_member(const struct iot_session *session)
{
	const struct iot_task *task = iot_task_find_current();

	return task && task->member == session->number;
}

/**
 * iot_task_play() - from now on current performs a task of a program
 * @plays: its id in the traced run
 *
 * Current is announced again at its next record, so that a recording of a replay states which task of the program
 * it runs.
 *
 * Return: 0 or -ENOMEM.
 */
int iot_task_play(u32 plays)
{
	struct iot_task *task;

	rcu_read_lock();
	task = task_find(current);
	if (task)
		task_renew(task, IOT_REASON_play);
	else
		task = task_add(current, 0, IOT_REASON_play);
	if (task)
		task->plays = plays;
	rcu_read_unlock();
	return task ? 0 : -ENOMEM;
}
EXPORT_SYMBOL_GPL(iot_task_play);

/* -- lives: the scheduler's tracepoints ------------------------------------------------ */

/* Linux 6.12 calls these with preemption off, which RCU waits for, too; 7.3 does not. */

/* The parent is not announced: a child is a member as well, if that matters at all. */
static void inherit(const struct iot_task *maker, const struct task_struct *child)
{
	struct iot_task *made;

	if (!maker->member || !iot_session_find(maker->member))
		return;
	made = task_add(child, maker->id, IOT_REASON_fork);
	if (made)
		made->member = maker->member;
}

static void note_fork(struct task_struct *parent, struct task_struct *child)
{
	struct iot_task *maker = task_find(parent), *made;
	struct iot_session *session;
	struct iot_rec_fork r;

	if (likely(!maker))
		return;
	session = iot_session_find(maker->epoch);
	if (!session) {
		inherit(maker, child);
		return;
	}
	if (!iot_only_admits(session))
		return;
	iot_task_sync(maker);
	made = task_add(child, maker->id, IOT_REASON_fork);
	if (!made) {
		iot_session_count_lost(session);
		return;
	}
	made->made = session->number;
	made->member = maker->member;
	iot_task_nth(made, session);
	task_announce(session, made, child);
	r.task = maker->id;
	r.op = maker->ops;
	r.child = made->id;
	IOT_EMIT_EVENT(session, fork, &r, NULL, 0);
}

static void life_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	rcu_read_lock();
	note_fork(parent, child);
	rcu_read_unlock();
}

/*
 * The program that a task has executed may not appear in a restricted session: for its readers the task ends here. The
 * task is a new one if it can be seen again.
 */
static void note_departure(struct iot_session *session, struct iot_task *task, const struct task_struct *thread)
{
	struct iot_rec_exit r;

	iot_task_sync(task);
	r.task = task->id;
	r.op = task->ops;
	r.code = 0;
	r.oncpu_ns = thread->se.sum_exec_runtime;
	IOT_EMIT_EVENT(session, exit, &r, NULL, 0);
	task_renew(task, IOT_REASON_seen);
}

static void note_exec(struct task_struct *thread, const struct linux_binprm *bprm)
{
	struct iot_task *task = task_find(thread);
	struct iot_session *session;
	struct iot_rec_exec r;
	size_t name_bytes;

	if (likely(!task))
		return;
	session = iot_session_find(task->epoch);
	if (!session) {
		if (task->has_left) /* the next program is not the one that was announced */
			task_renew(task, IOT_REASON_seen);
		return;
	}
	if (!iot_only_admits(session)) {
		note_departure(session, task, thread);
		return;
	}
	iot_preempted_check(session, task);
	iot_task_rest(task, thread);
	iot_task_sync(task);
	r.task = task->id;
	r.op = task->ops;
	r.oncpu_ns = iot_current_cpu_ns();
	task_renew(task, IOT_REASON_exec);
	task->renewed = session->number;
	r.into = task->id;
	name_bytes = min_t(size_t, strlen(bprm->filename), IOT_TAIL_MAX_BYTES);
	IOT_EMIT_EVENT(session, exec, &r, bprm->filename, name_bytes);
	task_announce(session, task, thread);
}

static void life_exec(void *data, struct task_struct *thread, pid_t old_pid,
		      struct linux_binprm *bprm)
{
	rcu_read_lock();
	note_exec(thread, bprm);
	rcu_read_unlock();
}

static void note_exit(const struct task_struct *thread)
{
	struct iot_task *task = task_find(thread);
	struct iot_session *session;
	struct iot_rec_exit r;

	if (likely(!task))
		return;
	session = iot_session_find(task->epoch);
	if (!session || !iot_only_admits(session))
		return;
	iot_preempted_check(session, task);
	iot_task_sync(task);
	r.task = task->id;
	r.op = task->ops;
	r.code = thread->exit_code;
	r.oncpu_ns = iot_current_cpu_ns();
	IOT_EMIT_EVENT(session, exit, &r, NULL, 0);
}

static void life_exit(void *data, struct task_struct *thread)
{
	rcu_read_lock();
	note_exit(thread);
	rcu_read_unlock();
}

static void life_free(void *data, struct task_struct *thread)
{
	task_remove(thread);
}

static struct probe {
	const char *name;
	void *function;
	struct tracepoint *tracepoint;
} probes[] = {
	{ "sched_process_fork", life_fork },
	{ "sched_process_exec", life_exec },
	{ "sched_process_exit", life_exit },
	{ "sched_process_free", life_free },
};

static void probe_find(struct tracepoint *tracepoint, void *data)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tracepoint->name, probes[i].name))
			probes[i].tracepoint = tracepoint;
}

static void probes_unregister(size_t count)
{
	while (count--)
		tracepoint_probe_unregister(probes[count].tracepoint, probes[count].function, NULL);
	tracepoint_synchronize_unregister();
}

static int probes_register(void)
{
	size_t i;
	int err;

	for_each_kernel_tracepoint(probe_find, NULL);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		err = -ENOENT;
		if (probes[i].tracepoint)
			err = tracepoint_probe_register(probes[i].tracepoint, probes[i].function,
							NULL);
		if (err) {
			pr_err("no tracepoint %s in this kernel\n", probes[i].name);
			probes_unregister(i);
			return err;
		}
	}
	return 0;
}

/**
 * iot_task_init() - make the empty table of tasks, and attach to the tracepoints of the scheduler
 *
 * Return: 0 or a negative errno.
 */
int iot_task_init(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		spin_lock_init(&table[i].lock);
	cache = KMEM_CACHE(iot_task, 0);
	if (!cache)
		return -ENOMEM;
	err = probes_register();
	if (err)
		kmem_cache_destroy(cache);
	return err;
}

/**
 * iot_task_exit() - detach from the tracepoints, and free all entries
 *
 * Context: sleeps until no task runs code of this module. No session and no source exists.
 */
void iot_task_exit(void)
{
	struct hlist_node *next;
	struct iot_task *task;
	size_t i;

	probes_unregister(ARRAY_SIZE(probes));
	iot_delay_drain();
	iot_backpressure_drain();
	for (i = 0; i < ARRAY_SIZE(table); i++)
		hlist_for_each_entry_safe(task, next, &table[i].head, node)
			task_free(&task->rcu);
	rcu_barrier(); /* waits for task_free(); it would not wait for kfree_rcu() */
	rcu_barrier(); /* what task_free() has left to RCU: mailboxes */
	kmem_cache_destroy(cache);
}
