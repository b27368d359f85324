// SPDX-License-Identifier: GPL-2.0-only
/*
 * filter.c - filter programs at the gate.
 *
 * A program is evaluated at the gate with what is known there. If the answer depends on fields that are known later,
 * the span is pending: tfs_emit_*() asks iot_gate_keeps() before it announces anything.
 *
 * Locking: the program of a session is replaced under iot_control_lock and read under RCU. An operation that is pending
 * when the program is replaced is decided by the new one.
 */
#include "filter.h"

#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/export.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "session.h"
#include "task.h"

#define ANCESTORS_MAX 1024
#define DAY_NS	      (86400ull * NSEC_PER_SEC)
#define CGROUP_BYTES  256

/* The core exports nothing itself. */
EXPORT_SYMBOL_GPL(iot_filter_paths);

static u32 last_number;

/**
 * iot_gate_set_filter() - let a session record only operations for which a program is true
 * @session: any that is not closed
 * @bytes: the program, not trusted; may be freed afterwards
 * @count: its bytes; 0: record all operations again
 *
 * Operations that are decided on before an RCU grace period has passed may be decided by the program before.
 *
 * Context: sleeps; the caller holds iot_control_lock. Return: 0; -EINVAL if it is not a program; -ENOMEM.
 */
int iot_gate_set_filter(struct iot_session *session, const void *bytes, size_t count)
{
	struct iot_program *program = NULL, *old;

	lockdep_assert_held(&iot_control_lock);
	if (count > IOT_FILTER_BYTES_MAX)
		return -EINVAL;
	if (count) {
		program = kvmalloc(sizeof(*program) + count, GFP_KERNEL_ACCOUNT);
		if (!program)
			return -ENOMEM;
		memcpy(program->head, bytes, count);
		if (iot_filter_verify(program->head, count)) {
			kvfree(program);
			return -EINVAL;
		}
		program->number = ++last_number;
		program->uses = iot_filter_uses(program->head);
		session->gate.had_program = true;
	}
	old = rcu_replace_pointer(session->gate.program, program, lockdep_is_held(&iot_control_lock));
	if (old) {
		synchronize_rcu();
		kvfree(old);
	}
	return 0;
}

/**
 * iot_program_drop() - the session is not used any more
 * @session: without sources
 */
void iot_program_drop(struct iot_session *session)
{
	mutex_lock(&iot_control_lock);
	iot_gate_set_filter(session, NULL, 0);
	mutex_unlock(&iot_control_lock);
}

/**
 * struct situation - an operation of current that is decided on
 * @subject: for the evaluator
 * @source: of the operation
 * @what: what it is on
 * @span: its span
 * @number: of the program
 * @text: a text that is looked at
 */
struct situation {
	struct iot_filter_subject subject;
	const struct iot_source *source;
	const struct iot_what *what;
	struct iot_span *span;
	u32 number;
	char text[CGROUP_BYTES];
};

static struct situation *situation_of(struct iot_filter_subject *subject)
{
	return container_of(subject, struct situation, subject);
}

/* Control groups of version 2. A path that is cut equals nothing. */
static bool load_cgroup(struct situation *s)
{
#ifdef CONFIG_CGROUPS
	s->text[0] = 0;
	cgroup_path(task_dfl_cgroup(current), s->text, sizeof(s->text));
	s->subject.text = s->text;
	s->subject.bytes = strnlen(s->text, sizeof(s->text));
	return s->subject.bytes && s->subject.bytes < sizeof(s->text) - 1;
#else
	return false;
#endif
}

static bool load_task(struct situation *s, enum iot_filter_field field)
{
	u64 *number = &s->subject.number[field];
	const struct iot_task *task;

	switch (field) {
	case IOT_FILTER_uid:
		*number = from_kuid_munged(&init_user_ns, current_euid());
		return true;
	case IOT_FILTER_gid:
		*number = from_kgid_munged(&init_user_ns, current_egid());
		return true;
	case IOT_FILTER_pid:
		*number = current->tgid;
		return true;
	case IOT_FILTER_session:
		*number = pid_nr(task_session(current));
		return true;
	case IOT_FILTER_comm:
		memcpy(s->text, current->comm, TASK_COMM_LEN);
		s->subject.text = s->text;
		s->subject.bytes = strnlen(s->text, TASK_COMM_LEN);
		return true;
	case IOT_FILTER_share:
		task = iot_task_entry();
		*number = task ? iot_filter_share(task->id) : IOT_FILTER_SHARES;
		return task;
	default:
		return load_cgroup(s);
	}
}

static u64 real_ns_of(const struct situation *s)
{
	u64 now_ns = ktime_get_real_fast_ns();

	return s->what->is_end ? now_ns - (ktime_get_mono_fast_ns() - s->span->meter.enter_ns) : now_ns;
}

static bool load(struct iot_filter_subject *subject, const struct iot_filter_head *program, enum iot_filter_field field)
{
	struct situation *s = situation_of(subject);
	const struct iot_what *what = s->what;
	u64 *number = &subject->number[field];

	switch (field) {
	case IOT_FILTER_path:
		return what->dentry && s->source->ops->paths(s->source, what->dentry, program, s->number, number);
	case IOT_FILTER_object:
		return what->inode && s->source->ops->ino(what->inode, number);
	case IOT_FILTER_size:
		*number = what->length_bytes;
		return what->has_length;
	case IOT_FILTER_offset:
		*number = what->offset_bytes;
		return what->has_offset;
	case IOT_FILTER_result:
		*number = what->result == -ERESTARTSYS ? -EINTR : what->result;
		return true;
	case IOT_FILTER_duration:
		*number = what->is_submit ? 0 : ktime_get_mono_fast_ns() - s->span->meter.enter_ns;
		return true;
	case IOT_FILTER_time:
		*number = real_ns_of(s) % DAY_NS;
		return true;
	case IOT_FILTER_second:
		*number = real_ns_of(s) / NSEC_PER_SEC % 60;
		return true;
	case IOT_FILTER_nth:
		*number = s->span->nth;
		return true;
	default:
		return load_task(s, field);
	}
}

/* Ancestors beyond the initial process of the machine there are none; the limit is for a chain that changes meanwhile. */
static bool is_in_tree(struct iot_filter_subject *subject, u64 pid)
{
	const struct task_struct *task = current;
	bool is_in = false;
	int i;

	rcu_read_lock();
	for (i = 0; i < ANCESTORS_MAX && !is_in && task->tgid; i++) {
		is_in = task->tgid == pid;
		task = rcu_dereference(task->real_parent);
	}
	rcu_read_unlock();
	return is_in;
}

static enum iot_truth evaluate(const struct iot_program *program, struct iot_source *source, enum iot_kind kind,
			       const struct iot_what *what, struct iot_span *span, u32 later)
{
	struct situation s;

	s.subject.load = load;
	s.subject.is_in_tree = is_in_tree;
	s.subject.loaded = IOT_FILTER_BIT(IOT_FILTER_op);
	s.subject.absent = 0;
	s.subject.later = later;
	s.subject.number[IOT_FILTER_op] = kind;
	s.source = source;
	s.what = what;
	s.span = span;
	s.number = program->number;
	return iot_filter_run(program->head, &s.subject);
}

static void count_refused(struct iot_session *session, enum iot_kind kind)
{
	this_cpu_inc(session->channels->refused);
	if (kind >= IOT_REFUSED_FIRST && kind < IOT_REFUSED_FIRST + IOT_REFUSED_KINDS)
		this_cpu_inc(session->channels->refused_of[kind - IOT_REFUSED_FIRST]);
}

/**
 * iot_program_admits() - decide at the gate
 * @program: of the session
 * @session: entered
 * @source: of the operation
 * @kind: kind of the operation
 * @what: what the operation is on; NULL if that is not known yet
 * @span: out: whether it is pending, and its index in the task
 *
 * Return: false if the operation is not recorded; it has been counted.
 */
bool iot_program_admits(const struct iot_program *program, struct iot_session *session, struct iot_source *source,
			enum iot_kind kind, const struct iot_what *what, struct iot_span *span)
{
	static const struct iot_what unknown = {};
	u32 later = IOT_FILTER_AT_END;
	struct iot_task *task;
	enum iot_truth truth;

	span->nth = 0;
	if (program->uses & IOT_FILTER_BIT(IOT_FILTER_nth)) {
		task = iot_task_entry();
		span->nth = task ? ++task->seen : 0;
	}
	if (!what)
		later |= IOT_FILTER_BIT(IOT_FILTER_path) | IOT_FILTER_BIT(IOT_FILTER_object) |
			 IOT_FILTER_BIT(IOT_FILTER_size) | IOT_FILTER_BIT(IOT_FILTER_offset);
	if (!what && kind == IOT_KIND_open) /* it may turn out to be a lookup */
		later |= IOT_FILTER_BIT(IOT_FILTER_op);
	truth = evaluate(program, source, kind, what ?: &unknown, span, later);
	span->is_pending = truth == IOT_LATER;
	if (truth == IOT_NO)
		count_refused(session, kind);
	return truth != IOT_NO;
}

/**
 * iot_gate_keeps() - decide on an operation that is pending
 * @session: entered
 * @source: of the operation
 * @span: pending; not any more afterwards
 * @kind: kind of its record; of an asynchronous request that of a read or a write
 * @what: all that is known of it
 *
 * Return: false if the operation is not recorded: then nothing may be announced for it; it has been counted.
 */
bool iot_gate_keeps(struct iot_session *session, struct iot_source *source, struct iot_span *span, enum iot_kind kind,
		    const struct iot_what *what)
{
	const struct iot_program *program = rcu_dereference(session->gate.program);

	span->is_pending = false;
	if (!program || evaluate(program, source, kind, what, span, 0) == IOT_YES)
		return true;
	count_refused(session, kind);
	return false;
}
EXPORT_SYMBOL_GPL(iot_gate_keeps);
