// SPDX-License-Identifier: GPL-2.0-only
/*
 * gate.c - the gate of the recorder: decides which operations are recorded, before anything is announced or numbered.
 *
 * Every operation of a source passes here, in this order:
 *
 *	iot_gate_open()		decide. A refused operation has no span: it gets no number, its task is not announced,
 *				and the traced path does not look at it again
 *	iot_span_enter()	the operation has ended, and its session still records
 *	ids			announce objects, names and handles that are new to the session
 *	IOT_EMIT_SPAN()		write; or iot_span_count(), if the session counts operations instead
 *
 * gate_admits() and iot_program_admits() are the only places that decide; filter.c has the filter expressions, and only.c the
 * tasks of restricted sessions. If an
 * expression tests what is known later, the span is pending, and iot_gate_keeps() decides in front of the ids.
 * While no session has a filter, a static key keeps all of this out of the traced path.
 *
 * Numbers of operations count admitted ones, so records of a task that were adjacent without a filter, and are both
 * admitted, have adjacent numbers with it, too.
 */
#include <linux/bitmap.h>
#include <linux/export.h>
#include <linux/jump_label.h>
#include <linux/sched.h>

#include "compat/sched.h"
#include "filter.h"
#include "preempted.h"
#include "session.h"
#include "stacks.h"
#include "task.h"
#include "timeouts.h"

DEFINE_STATIC_KEY_FALSE(iot_has_filters);
EXPORT_SYMBOL_GPL(iot_has_filters);

/**
 * iot_gate_init() - admit everything
 * @gate: of a new session
 */
void iot_gate_init(struct iot_gate *gate)
{
	bitmap_fill(gate->kinds, IOT_KIND_END);
}

/**
 * iot_gate_set() - admit only some kinds of operations
 * @gate: of a session that has not started; may be called again
 * @kinds: bit N is set if kind N is admitted, 64 kinds a word
 *
 * Context: sleeps.
 */
void iot_gate_set(struct iot_gate *gate, const u64 kinds[IOT_KIND_END / 64])
{
	bitmap_from_arr64(gate->kinds, kinds, IOT_KIND_END);
	if (!gate->is_filter)
		static_branch_inc(&iot_has_filters);
	gate->is_filter = true;
}

/**
 * iot_gate_exit() - the filter, if any, is no longer in use
 * @gate: of a session that records nothing any more
 *
 * Context: sleeps.
 */
void iot_gate_exit(struct iot_gate *gate)
{
	if (gate->is_filter)
		static_branch_dec(&iot_has_filters);
	gate->is_filter = false;
	iot_gate_pause(gate, false);
}

/**
 * iot_gate_pause() - admit nothing for a time, or end that
 * @gate: of any session; the caller excludes other changes
 * @is_paused: admit nothing
 *
 * A pause is a filter that nothing passes: names, life of tasks and MPI calls are recorded as with any filter.
 *
 * Context: sleeps. When it returns, operations may still be decided on as before until an RCU grace period has passed.
 */
void iot_gate_pause(struct iot_gate *gate, bool is_paused)
{
	if (gate->is_paused == is_paused)
		return;
	if (is_paused)
		static_branch_inc(&iot_has_filters);
	WRITE_ONCE(gate->is_paused, is_paused);
	if (!is_paused)
		static_branch_dec(&iot_has_filters);
}

static bool kind_passes(struct iot_session *session, enum iot_kind kind)
{
	if (test_bit(kind, session->gate.kinds))
		return true;
	this_cpu_inc(session->channels->refused);
	return false;
}

static bool is_left_out(struct iot_session *session)
{
	if (!READ_ONCE(session->gate.is_paused))
		return false;
	this_cpu_inc(session->channels->left_out);
	return true;
}

/*
 * The filters decide first: a pause counts only operations that would have been recorded, and those that an expression
 * would have decided on later.
 */
static bool filters_admit(struct iot_session *session, struct iot_source *source, enum iot_kind kind,
			  const struct iot_what *what, struct iot_span *span)
{
	const struct iot_gate_program *program = rcu_dereference(session->gate.program);

	if (!kind_passes(session, kind))
		return false;
	if (program && !iot_program_admits(program, session, source, kind, what, span))
		return false;
	return !is_left_out(session);
}

/*
 * The decision. The collector's own operations are never recorded. Those of others than the user of a restricted session are counted
 * before a filter sees them.
 */
static __always_inline bool gate_admits(struct iot_session *session, struct iot_source *source, enum iot_kind kind,
					const struct iot_what *what, struct iot_span *span)
{
	if (current->tgid == session->collector)
		return false;
	if (!iot_only_admits(session)) {
		this_cpu_inc(session->channels->refused);
		return false;
	}
	return !static_branch_unlikely(&iot_has_filters) || filters_admit(session, source, kind, what, span);
}

/* An operation that the kernel tries again began before it was refused: no later one may continue it. */
static void forget_kept(void)
{
	struct iot_task *task = iot_task_find_current();

	if (task)
		task->kept_key = 0;
}


static void check_timeout(struct iot_session *session, struct iot_task *task)
{
	if (unlikely(iot_timeout_is_last(&task->timeout)) && READ_ONCE(task->waits) != current->nvcsw && !task->current_op)
		iot_timeout_record(session, task);
}

static void span_begin(struct iot_session *session, struct iot_span *span, struct iot_task *task, enum iot_kind kind)
{
	span->task = task;
	span->epoch = session->number;
	span->note = 0;
	span->stack = 0;
	span->parent = task->current_op;
	iot_preempted_check(session, task);
	check_timeout(session, task);
	if (static_branch_unlikely(&iot_has_stacks))
		span->stack = iot_stack_of_current(session, task, kind);
	span->op = iot_task_op_new(task);
	iot_meter_begin(&span->meter);
}

/* An operation that is tried again: its beginning is that of the first attempt. */
static void span_continue(struct iot_span *span, const struct iot_task *task)
{
	bool is_pending = span->is_pending;

	*span = task->kept;
	span->is_pending = is_pending;
}

/**
 * __iot_gate_open() - the part of iot_gate_open() and its relatives that is not inline
 * @source: as for iot_gate_open(), like @kind
 * @kind: kind of the record
 * @span: initialized; on afterwards if the operation is recorded
 * @key: as for iot_gate_open_kept(), 0 for the others
 * @what: as for iot_gate_open_on(), NULL for the others
 */
void __iot_gate_open(struct iot_source *source, enum iot_kind kind, struct iot_span *span, u64 key,
		     const struct iot_what *what)
{
	struct iot_session *session = iot_source_enter(source);
	struct iot_task *task;

	if (!session)
		return;
	if (!gate_admits(session, source, kind, what, span)) {
		if (unlikely(key))
			forget_kept();
		goto out;
	}
	task = session->is_quiet ? iot_task_entry() : iot_task_of_current(session);
	if (unlikely(!task)) {
		iot_session_count_lost(session);
		goto out;
	}
	if (key && task->kept_key == key && task->kept.epoch == session->number) {
		span_continue(span, task);
	} else {
		span_begin(session, span, task, kind);
		if (static_branch_unlikely(&iot_has_delays))
			iot_delay_arm(session, task);
	}
	span->is_counted = rcu_access_pointer(session->counters);
	task->kept_key = 0;
	task->current_op = span->op;
out:
	iot_session_leave();
}
EXPORT_SYMBOL_GPL(__iot_gate_open);

/**
 * __iot_span_end() - iot_span_end() of a span that is on
 * @span: of current
 */
void __iot_span_end(struct iot_span *span)
{
	span->task->current_op = span->parent;
	iot_task_rest(span->task, current);
}
EXPORT_SYMBOL_GPL(__iot_span_end);

/**
 * __iot_span_cancel() - iot_span_cancel() of a span that is on
 * @span: of current, without a record
 */
void __iot_span_cancel(struct iot_span *span)
{
	iot_task_op_drop(span->task, span->op);
	__iot_span_end(span);
}
EXPORT_SYMBOL_GPL(__iot_span_cancel);

/**
 * iot_span_keep() - the operation is tried again at once: end its span for now
 * @span: one that is on
 * @key: the key that the next attempt passes to iot_gate_open_kept()
 */
void iot_span_keep(struct iot_span *span, u64 key)
{
	span->task->kept = *span;
	span->task->kept_key = key;
	__iot_span_end(span);
}
EXPORT_SYMBOL_GPL(iot_span_keep);

/**
 * iot_span_task() - id of the task that an operation belongs to
 * @span: one that is on
 */
u32 iot_span_task(const struct iot_span *span)
{
	return span->task->id;
}
EXPORT_SYMBOL_GPL(iot_span_task);

/**
 * iot_span_epoch() - the session that an operation is recorded in, see iot_session_epoch()
 * @span: any
 *
 * Return: 0 if it is not recorded.
 */
u64 iot_span_epoch(const struct iot_span *span)
{
	return iot_span_is_on(span) ? span->epoch : 0;
}
EXPORT_SYMBOL_GPL(iot_span_epoch);

/**
 * iot_source_enter() - begin to emit records about a source
 * @source: any
 *
 * Return: the session that records it, until iot_session_leave(); NULL if none does, and then there is nothing to
 * leave.
 */
struct iot_session *iot_source_enter(struct iot_source *source)
{
	struct iot_session *session;

	rcu_read_lock();
	session = rcu_dereference(source->session);
	if (!session)
		rcu_read_unlock();
	return session;
}
EXPORT_SYMBOL_GPL(iot_source_enter);

/**
 * iot_span_enter() - begin to emit the record of an operation that has ended
 * @source: of the operation
 * @span: the operation
 *
 * As iot_source_enter(), and NULL also if the session is not the one in which the operation began.
 */
struct iot_session *iot_span_enter(struct iot_source *source, const struct iot_span *span)
{
	struct iot_session *session;

	if (!iot_span_is_on(span))
		return NULL;
	session = iot_source_enter(source);
	if (session && session->number != span->epoch) {
		iot_session_leave();
		session = NULL;
	}
	return session;
}
EXPORT_SYMBOL_GPL(iot_span_enter);

/**
 * iot_session_enter() - begin to emit records into a session
 * @session: with a reference of the caller
 *
 * Return: true until iot_session_leave(); false if the session does not record, and then there is nothing to leave.
 */
bool iot_session_enter(struct iot_session *session)
{
	rcu_read_lock();
	if (READ_ONCE(session->is_running))
		return true;
	rcu_read_unlock();
	return false;
}
EXPORT_SYMBOL_GPL(iot_session_enter);

/**
 * iot_session_epoch() - a number that no other session has had since the module was loaded
 * @session: any
 */
u64 iot_session_epoch(const struct iot_session *session)
{
	return session->number;
}
EXPORT_SYMBOL_GPL(iot_session_epoch);
