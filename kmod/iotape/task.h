/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task.h - the table of threads: the id of each, and the number of operations that it has entered.
 *
 * A task is a thread between two execs. The table is keyed by task_struct. An entry is created at the
 * first operation of a thread, or when a traced thread forks it, and is removed when the kernel frees
 * the task_struct: files closed by an exiting thread are still closed by a known task.
 *
 * Locking: look-up is lock-free (RCU); a bucket's lock is taken to add and remove entries. Only the
 * thread itself writes the fields of its entry, without a lock. The exceptions are @epoch, @id, @delayed_ns and @waits, written
 * under the bucket's lock when another thread announces this one, or when this one becomes another task;
 * @made, @nth and @numbered, written by the parent; @look, written by a delayed thread under the bucket's lock; and the
 * fields about wake-ups, written by the waking thread under the pi_lock of this thread.
 */
#ifndef IOT_TASK_H
#define IOT_TASK_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "compat/sched.h"
#include "delay.h"
#include "iotape.h"
#include "mailbox.h"
#include "timeouts.h"
#include "wakes.h"

struct iot_session;

/**
 * struct iot_task - a thread that is traced
 * @node: member of the list of its bucket
 * @thread: the thread that it describes; only compared, never dereferenced
 * @id: of its current task; a new one after each exec
 * @process: the same number for all tasks of a process between two execs, as far as its threads are known: see task.c
 * @parent: id of the task that created it, or of its task before exec; 0 if not known
 * @why: an enum iot_reason
 * @plays: task of a program that it runs, 0 if none
 * @epoch: session in which the task was announced last
 * @has_left: it was announced in a restricted session, and may not appear there any more, see only.c
 * @represents: session in which it was announced as the first task of a row, see iot_task_represent()
 * @made: session in which its fork was recorded, 0 if none
 * @member: session that it may join: the recorder adopted it, or one of its ancestors; 0 if none
 * @renewed: session in which its last exec was recorded, 0 if none
 * @ops: operations that the task has entered; if it has a mailbox, see iot_task_sync()
 * @seen: operations that a filter with every() has looked at
 * @current_op: number of the innermost operation under way, 0 if none
 * @delayed_ns: iot_thread_delay_ns() when its last operation ended, or when it began if it has entered none
 * @waits: times that it had slept by then
 * @mailbox: for its MPI records, NULL if it has none
 * @kept: span of an operation that will be retried, see iot_span_keep()
 * @kept_key: of that span, 0 if there is none
 * @wakes: recent wake-ups of it, see wakes.c
 * @timeout: the last wait of it that a timer ended, see timeouts.c
 * @is_held: it waits for the collector, or is delayed
 * @nth: its number among the threads of session @numbered, 0 if none, see iot_task_nth()
 * @delayable: operations on files that it has entered since then or since its exec, if the session delays it
 * @numbered: that session
 * @delay: task work for its delay, see delay.c
 * @delay_session: the session that will delay it, NULL if none
 * @look: what another thread saw of it that is delayed, see delay.c
 * @backpressure: task work for its wait for the collector, see backpressure.c
 * @backpressure_session: the session whose collector it will wait for, NULL if none
 * @rcu: frees it
 */
struct iot_task {
	struct hlist_node node;
	const struct task_struct *thread;
	u32 id;
	u32 process;
	u32 parent;
	u32 why;
	u32 plays;
	u64 epoch;
	u64 represents;
	u64 made;
	u64 member;
	u64 renewed;
	u32 ops;
	u32 seen;
	u32 current_op;
	u64 delayed_ns;
	u64 waits;
	struct iot_mailbox *mailbox;
	struct iot_span kept;
	u64 kept_key;
	struct iot_wakes wakes;
	struct iot_timeout timeout;
	bool is_held;
	bool has_left;
	u32 nth;
	u32 delayable;
	u64 numbered;
	struct callback_head delay;
	struct iot_session *delay_session;
	struct iot_look look;
	struct callback_head backpressure;
	struct iot_session *backpressure_session;
	struct rcu_head rcu;
};

/* Between two operations of a thread, or before its first one, its delays and sleeps count from here. */
static inline void iot_task_rest(struct iot_task *task, const struct task_struct *thread)
{
	WRITE_ONCE(task->delayed_ns, iot_thread_delay_ns(thread));
	WRITE_ONCE(task->waits, thread->nvcsw);
}

/* For current: count operations that it has entered without the kernel. */
static inline void iot_task_sync(struct iot_task *task)
{
	if (unlikely(task->mailbox))
		task->ops = iot_mailbox_op(task->mailbox, task->ops);
}

static inline void iot_task_ops_set(struct iot_task *task, u32 ops)
{
	task->ops = ops;
	if (unlikely(task->mailbox))
		iot_mailbox_op_set(task->mailbox, ops);
}

/*
 * For another task, which sleeps and enters no operation meanwhile. If it has not fallen asleep yet, it may drop
 * its mailbox; the caller has interrupts off, so the mailbox is not freed meanwhile.
 */
static inline u32 iot_task_ops_asleep(const struct iot_task *task)
{
	const struct iot_mailbox *mailbox = READ_ONCE(task->mailbox);
	u32 ops = READ_ONCE(task->ops);

	return mailbox ? iot_mailbox_op(mailbox, ops) : ops;
}

/* Was the task announced or created in the session? A lost announcement does not count. */
static inline bool iot_task_is_known(const struct iot_task *task, u64 session)
{
	return READ_ONCE(task->epoch) == session || READ_ONCE(task->made) == session ||
	       READ_ONCE(task->renewed) == session;
}

/* For current: the number of an operation that it enters. */
static inline u32 iot_task_op_new(struct iot_task *task)
{
	iot_task_sync(task);
	iot_task_ops_set(task, task->ops + 1);
	return task->ops;
}

/* For current: use the number of an operation without a record again, if it is the last one. */
static inline void iot_task_op_drop(struct iot_task *task, u32 op)
{
	iot_task_sync(task);
	if (task->ops == op)
		iot_task_ops_set(task, op - 1);
}

int iot_task_init(void);
void iot_task_exit(void);

struct iot_task *iot_task_find(const struct task_struct *thread);
struct iot_task *iot_task_find_current(void);
struct iot_task *iot_task_entry(void);
struct iot_task *iot_task_of_current(struct iot_session *session);
void iot_task_represent(struct iot_session *session, struct iot_task *task);
int iot_task_adopt(struct iot_session *session);
bool iot_task_is_member(const struct iot_session *session);
u32 iot_task_announce(struct iot_session *session, struct task_struct *thread);
void iot_task_each(void (*see)(struct iot_task *task, void *context), void *context);
u32 iot_task_nth(struct iot_task *task, struct iot_session *session);
bool iot_task_is_made(struct iot_session *session, const struct task_struct *thread);

#endif
