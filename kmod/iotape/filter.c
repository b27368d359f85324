// SPDX-License-Identifier: GPL-2.0-only
/*
 * filter.c - filter programs at the gate.
 *
 * A program is evaluated at the gate with the fields that are known there. If the answer depends on fields that are known later,
 * the span is pending: tfs_emit_*() asks iot_gate_keeps() before it announces anything.
 *
 * Most operations should cost little if they are not recorded. So iot_gate_refuses() decides first, by the kind of the
 * operation and by the decision graph of the program, and leaves only undecided operations to the rest of the gate.
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

/*
 * With CONFIG_INIT_STACK_ALL_ZERO, the kernel clears all variables on the stack, which would cost more than most
 * programs do.
 */
#if __has_attribute(uninitialized)
#define FILLED_BY_HAND __attribute__((uninitialized))
#else
#define FILLED_BY_HAND
#endif

/* Fields that are cheap to read, and those of them that belong to the object or the range. */
#define QUICK_FIELDS                                                                                   \
	(IOT_FILTER_BIT(IOT_FILTER_uid) | IOT_FILTER_BIT(IOT_FILTER_gid) | IOT_FILTER_BIT(IOT_FILTER_pid) | WHAT_FIELDS)
#define WHAT_FIELDS                                                                                    \
	(IOT_FILTER_BIT(IOT_FILTER_path) | IOT_FILTER_BIT(IOT_FILTER_ext) | IOT_FILTER_BIT(IOT_FILTER_object) | \
	 IOT_FILTER_BIT(IOT_FILTER_size) | IOT_FILTER_BIT(IOT_FILTER_offset))

/* The path of the control group that an operation on this CPU was in last. Groups of version 2 are never renamed. */
struct cgroup_text {
	u64 id;
	u32 bytes;
	char text[CGROUP_BYTES];
};

static DEFINE_PER_CPU(struct cgroup_text, cgroup_text);

/* The core exports nothing itself. */
EXPORT_SYMBOL_GPL(iot_filter_paths);

static atomic_t last_number;

/**
 * iot_program_new() - verify a filter program
 * @bytes: the program, not trusted; may be freed afterwards
 * @count: its bytes
 *
 * Context: sleeps. Return: the program, for iot_gate_set_program() or iot_program_free(); -EINVAL if it is not a
 * program; -ENOMEM.
 */
struct iot_gate_program *iot_program_new(const void *bytes, size_t count)
{
	struct iot_gate_program *program;
	u32 kind;

	if (count > IOT_FILTER_BYTES_MAX)
		return ERR_PTR(-EINVAL);
	program = kvzalloc(sizeof(*program) + count, GFP_KERNEL_ACCOUNT);
	if (!program)
		return ERR_PTR(-ENOMEM);
	memcpy(program->head, bytes, count);
	if (iot_filter_verify(program->head, count)) {
		kvfree(program);
		return ERR_PTR(-EINVAL);
	}
	program->number = atomic_inc_return(&last_number);
	program->uses = iot_filter_uses(program->head);
	if (program->uses & IOT_FILTER_BIT(IOT_FILTER_nth)) { /* each operation is counted */
		bitmap_fill(program->kinds, IOT_KIND_END);
		return program;
	}
	for (kind = 0; kind < IOT_KIND_END; kind++)
		if (iot_filter_can_admit(program->head, kind))
			__set_bit(kind, program->kinds);
	iot_filter_graph_make(&program->graph, program->head);
	return program;
}

/**
 * iot_program_free() - free a program that no session has
 * @program: from iot_program_new(); NULL is allowed
 */
void iot_program_free(struct iot_gate_program *program)
{
	kvfree(program);
}

/**
 * iot_gate_set_program() - let a session record only operations for which a program is true
 * @session: any that is not closed
 * @program: now of the session; NULL: record all operations again
 *
 * Until an RCU grace period has passed, operations may still be decided by the previous program.
 *
 * Context: may sleep; the caller holds iot_control_lock.
 */
void iot_gate_set_program(struct iot_session *session, struct iot_gate_program *program)
{
	struct iot_gate_program *old;

	lockdep_assert_held(&iot_control_lock);
	if (program) {
		session->gate.had_program = true;
		static_branch_inc(&iot_has_filters);
	}
	old = rcu_replace_pointer(session->gate.program, program, lockdep_is_held(&iot_control_lock));
	if (old) {
		static_branch_dec(&iot_has_filters);
		kvfree_rcu(old, rcu); /* iot_control_lock is not held for a grace period: others take it, too */
	}
}

/**
 * iot_program_drop() - free the program of a session that is no longer used
 * @session: without sources
 */
void iot_program_drop(struct iot_session *session)
{
	mutex_lock(&iot_control_lock);
	iot_gate_set_program(session, NULL);
	mutex_unlock(&iot_control_lock);
}

/**
 * struct situation - the operation of current that the filter decides on
 * @subject: for the evaluator
 * @source: of the operation
 * @what: object of the operation
 * @span: its span
 */
struct situation {
	struct iot_filter_subject subject;
	const struct iot_source *source;
	const struct iot_what *what;
	const struct iot_span *span;
};

static struct situation *situation_of(struct iot_filter_subject *subject)
{
	return container_of(subject, struct situation, subject);
}

/* A path that was cut equals no text. The caller has disabled preemption. */
static bool load_cgroup(struct iot_filter_subject *subject)
{
#ifdef CONFIG_CGROUPS
	struct cgroup_text *last = this_cpu_ptr(&cgroup_text);
	struct cgroup *cgroup = task_dfl_cgroup(current);

	if (last->id != cgroup_id(cgroup)) {
		last->text[0] = 0;
		cgroup_path(cgroup, last->text, sizeof(last->text));
		last->bytes = strnlen(last->text, sizeof(last->text));
		last->id = cgroup_id(cgroup);
	}
	subject->text = last->text;
	subject->bytes = last->bytes;
	return last->bytes && last->bytes < sizeof(last->text) - 1;
#else
	return false;
#endif
}

static bool load_task(struct iot_filter_subject *subject, enum iot_filter_field field)
{
	u64 *number = &subject->number[field];
	const struct iot_task *task;

	switch (field) {
	case IOT_FILTER_session:
		*number = pid_nr(task_session(current));
		return true;
	case IOT_FILTER_comm:
		subject->text = current->comm;
		subject->bytes = strnlen(current->comm, TASK_COMM_LEN);
		return true;
	case IOT_FILTER_share:
		task = iot_task_entry();
		*number = task ? iot_filter_share(task->id) : IOT_FILTER_SHARES;
		return task;
	default:
		return load_cgroup(subject);
	}
}

static u64 real_ns_of(const struct situation *s)
{
	u64 now_ns = ktime_get_real_fast_ns();

	return s->what->is_end ? now_ns - (ktime_get_mono_fast_ns() - s->span->meter.enter_ns) : now_ns;
}

/* Fields of QUICK_FIELDS; of the path and the extension the results of all tests. */
static __always_inline bool load_quick(const struct iot_source *source, const struct iot_gate_program *program,
				       const struct iot_what *what, enum iot_filter_field field, u64 *number)
{
	s64 bits;

	switch (field) {
	case IOT_FILTER_uid:
		*number = __kuid_val(current_euid());
		return true;
	case IOT_FILTER_gid:
		*number = __kgid_val(current_egid());
		return true;
	case IOT_FILTER_pid:
		*number = current->tgid;
		return true;
	case IOT_FILTER_size:
		*number = what->length_bytes;
		return what->has_length;
	case IOT_FILTER_offset:
		*number = what->offset_bytes;
		return what->has_offset;
	case IOT_FILTER_object:
		*number = what->inode ? source->ops->ino(what->inode) : 0;
		return what->inode;
	default:
		bits = what->dentry ? source->ops->paths(source, what->dentry, program->head, program->number) : -1;
		*number = bits;
		return bits >= 0;
	}
}

static bool load(struct iot_filter_subject *subject, const struct iot_filter_head *head, enum iot_filter_field field)
{
	const struct iot_gate_program *program = container_of(head, struct iot_gate_program, head[0]);
	struct situation *s = situation_of(subject);
	const struct iot_what *what = s->what;
	u64 *number = &subject->number[field];

	switch (field) {
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
		if (QUICK_FIELDS & IOT_FILTER_BIT(field))
			return load_quick(s->source, program, what, field, number);
		return load_task(subject, field);
	}
}

/*
 * The chain of parents ends at the initial process of the machine; it may change meanwhile, so the walk has a
 * limit.
 */
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

static __always_inline void situation_fill(struct situation *s, const struct iot_source *source, enum iot_kind kind,
					   const struct iot_what *what, const struct iot_span *span, u32 later)
{
	s->subject.load = load;
	s->subject.is_in_tree = is_in_tree;
	s->subject.loaded = IOT_FILTER_BIT(IOT_FILTER_op);
	s->subject.absent = 0;
	s->subject.later = later;
	s->subject.number[IOT_FILTER_op] = kind;
	s->source = source;
	s->what = what;
	s->span = span;
}

/* Preemption is disabled for texts of this CPU. */
static enum iot_truth evaluate(const struct iot_gate_program *program, struct iot_source *source, enum iot_kind kind,
			       const struct iot_what *what, struct iot_span *span, u32 later)
{
	struct situation s FILLED_BY_HAND;
	enum iot_truth truth;

	situation_fill(&s, source, kind, what, span, later);
	preempt_disable();
	truth = iot_filter_run(program->head, &s.subject);
	preempt_enable();
	return truth;
}

static void count_refused(struct iot_session *session, enum iot_kind kind)
{
	this_cpu_inc(session->channels->refused);
	if (kind >= IOT_REFUSED_FIRST && kind < IOT_REFUSED_FIRST + IOT_REFUSED_KINDS)
		this_cpu_inc(session->channels->refused_of[kind - IOT_REFUSED_FIRST]);
}

/* Tests of fields that are not quick to read. */
static noinline bool test_slowly(const struct iot_gate_program *program, const struct iot_source *source,
				 const struct iot_what *what, const struct iot_filter_node *node)
{
	struct situation s FILLED_BY_HAND;

	situation_fill(&s, source, 0, what, NULL, 0);
	return iot_filter_test(program->head, &iot_filter_steps(program->head)[node->at], &s.subject) == IOT_YES;
}

static __always_inline bool test_quickly(const struct iot_gate_program *program, const struct iot_source *source,
					 enum iot_kind kind, const struct iot_what *what,
					 const struct iot_filter_node *node)
{
	u64 number;

	if (node->field == IOT_FILTER_op)
		return iot_filter_data(program->head)[node->data + kind / 8] >> kind % 8 & 1;
	if (!(QUICK_FIELDS & IOT_FILTER_BIT(node->field)))
		return test_slowly(program, source, what, node);
	if (!load_quick(source, program, what, node->field, &number))
		return false;
	if (node->field == IOT_FILTER_path || node->field == IOT_FILTER_ext)
		return number >> node->target & 1;
	return iot_filter_compare(node->code, node->field == IOT_FILTER_offset, number, node->value);
}

static noinline bool graph_refuses(const struct iot_gate_program *program, const struct iot_source *source,
				   enum iot_kind kind, const struct iot_what *what)
{
	const struct iot_filter_node *node;
	u32 at = program->graph.count ? 0 : IOT_FILTER_ADMIT;

	while (at < IOT_FILTER_NODES_MAX) {
		node = &program->graph.nodes[at];
		if (IOT_FILTER_AT_END & IOT_FILTER_BIT(node->field))
			return false;
		at = node->next[test_quickly(program, source, kind, what, node)];
	}
	return at == IOT_FILTER_REFUSE;
}

/**
 * iot_gate_refuses() - does a filter certainly exclude an operation?
 * @source: of the operation
 * @kind: kind of its record, which is certain
 * @what: the object and the range
 *
 * To be called before iot_gate_open_on(), which decides on all other operations.
 *
 * Return: true if the operation is not recorded; it has been counted.
 */
bool iot_gate_refuses(const struct iot_source *source, enum iot_kind kind, const struct iot_what *what)
{
	const struct iot_gate_program *program;
	struct iot_session *session;
	bool is_refused = false;

	preempt_disable(); /* instead of rcu_read_lock(), which costs more; and for texts of this CPU */
	session = rcu_dereference_sched(source->session);
	if (!session || current->tgid == session->collector || !iot_only_admits(session))
		goto out; /* the gate counts it */
	program = rcu_dereference_sched(session->gate.program);
	if (!program)
		goto out;
	is_refused = !test_bit(kind, program->kinds) || graph_refuses(program, source, kind, what);
	if (is_refused)
		count_refused(session, kind);
out:
	preempt_enable();
	return is_refused;
}
EXPORT_SYMBOL_GPL(iot_gate_refuses);

/**
 * iot_program_admits() - decide at the gate
 * @program: of the session
 * @session: entered
 * @source: of the operation
 * @kind: kind of the operation
 * @what: object of the operation; NULL if it is not known yet
 * @span: out: whether it is pending, and its index in the task
 *
 * Return: false if the operation is not recorded; it has been counted.
 */
bool iot_program_admits(const struct iot_gate_program *program, struct iot_session *session, struct iot_source *source,
			enum iot_kind kind, const struct iot_what *what, struct iot_span *span)
{
	static const struct iot_what unknown = {};
	u32 later = IOT_FILTER_AT_END;
	bool is_unsure = !what && kind == IOT_KIND_open; /* its record may become that of a lookup */
	struct iot_task *task;
	enum iot_truth truth;

	span->nth = 0;
	if (program->uses & IOT_FILTER_BIT(IOT_FILTER_nth)) {
		task = iot_task_entry();
		span->nth = task ? ++task->seen : 0;
	}
	if (!what)
		later |= WHAT_FIELDS;
	if (is_unsure)
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
 * @span: pending; decided afterwards
 * @kind: kind of its record; of an asynchronous request that of a read or a write
 * @what: all that is known of it
 *
 * Return: false if the operation is not recorded: then nothing may be announced for it; it has been counted.
 */
bool iot_gate_keeps(struct iot_session *session, struct iot_source *source, struct iot_span *span, enum iot_kind kind,
		    const struct iot_what *what)
{
	const struct iot_gate_program *program = rcu_dereference(session->gate.program);

	span->is_pending = false;
	if (!program || evaluate(program, source, kind, what, span, 0) == IOT_YES)
		return true;
	count_refused(session, kind);
	return false;
}
EXPORT_SYMBOL_GPL(iot_gate_keeps);
