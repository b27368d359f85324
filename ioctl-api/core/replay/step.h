/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * step.h - how a worker of any engine runs an operation of a task.
 *
 *   iot_step_begin()	let the think time pass, wait for the order, wait for the engine's arguments, run
 *   iot_step_end()	count and record the outcome, then publish that the operation has ended
 *
 * An engine offers a table of functions, which is constant where these are called: all of it is inlined, and a
 * call through the table is a direct one. Between the two, an engine may leave the task and come back (`is_pending`);
 * after an error in the first it may call it again, and waits that hold are not repeated.
 */
#ifndef IOTAPE_CORE_STEP_H
#define IOTAPE_CORE_STEP_H

#include "order.h"
#include "outcome.h"
#include "pace.h"

/**
 * struct iot_step - progress of a task; written by its worker only, the counters of @stats read by others, too
 * @is_pending: operation @index was run and has not ended, see iot_step_end()
 * @has_thought: the think time before operation @index has passed
 * @index: the operation that is next, or pending
 * @holding: waits of it that are known to hold
 * @enter_ns: when the last operation was entered
 * @prev_end_ns: when the operation before @index ended; of the first, when it could start
 * @prev_cpu_ns: CPU time of its worker then, if the program computes
 * @computed_ns: when it had computed before operation @index; 0 if it has not
 * @pace: wake-up lateness
 * @result: of the last operation
 * @refused: the target's own result, if an emulation took the place of the operation; else 0
 * @observed: observations of the operation besides its result, for its record
 * @stats: for the `played` record of the task
 */
struct iot_step {
	bool is_pending;
	bool has_thought;
	u32 index;
	u32 holding;
	u64 enter_ns;
	u64 prev_end_ns;
	u64 prev_cpu_ns;
	u64 computed_ns;
	struct iot_lateness pace;
	s64 result;
	s64 refused;
	struct iot_observed observed;
	struct iot_rec_played stats;
};

/**
 * struct iot_step_options - of a replay
 * @program: the program
 * @order: how far its tasks and latches are
 * @start_ns: when the replay started
 * @compute_scale: of think time on a CPU, see iot_pace_scaled()
 * @pause_scale: of other think time, likewise
 * @is_paced: think time passes at all
 * @computes: tasks use a CPU for `compute_ns`, see IOT_PROGRAM_COMPUTES
 * @is_timed: durations or end times of operations are needed
 */
struct iot_step_options {
	const struct iot_program *program;
	const struct iot_order *order;
	u64 start_ns;
	u32 compute_scale;
	u32 pause_scale;
	bool is_paced;
	bool computes;
	bool is_timed;
};

/**
 * struct iot_step_calls - an engine; @worker is its own, errors are negative errnos that end the step
 * @now_ns: the clock
 * @prepare: make the memory of the operation as it was in the traced program; called before the think time, which hides
 *	its costs, and not at full pace. It may be called again for the same operation
 * @sleep_until: sleep, or spin
 * @cpu_ns: CPU time of the calling thread
 * @spin_until: use the CPU until a time
 * @wait_at: the @nth wait of an operation
 * @wait_for: sleep until a wait holds, or until a time; 0 is never. Return: -ETIMEDOUT at that time
 * @admit: wait for what else the engine needs before the operation: a free request queue, the collector
 * @run: run the operation, which has a record; sets `enter_ns`, `result`, `refused` and `observed` of the step.
 *	Return: 0; 1 if the operation ends later
 * @record: write the record of the operation. Return: when it ended
 * @signal: count down a latch
 * @publish: let others know that the task has ended operation `index` - 1
 */
struct iot_step_calls {
	u64 (*now_ns)(void);
	int (*prepare)(void *worker, const struct iot_program_op *op);
	int (*sleep_until)(void *worker, u64 until_ns);
	u64 (*cpu_ns)(void);
	int (*spin_until)(void *worker, u64 until_ns);
	int (*wait_at)(void *worker, const struct iot_program_op *op, u32 nth,
		       const struct iot_program_wait **wait);
	int (*wait_for)(void *worker, const struct iot_program_wait *wait, u64 until_ns);
	int (*admit)(void *worker, const struct iot_program_op *op);
	int (*run)(void *worker, const struct iot_program_op *op);
	u64 (*record)(void *worker, const struct iot_program_op *op);
	void (*signal)(void *worker, u32 latch);
	void (*publish)(void *worker);
};

#define IOT_STEP_INLINE static inline __attribute__((__always_inline__))

/* Does an operation stand for a record, and do something? */
static inline bool iot_step_is_io(const struct iot_program_op *op)
{
	return le16_to_cpu(op->kind) < IOT_PLAY_signal;
}

/* @wait: out: the first wait of the operation that does not hold, or NULL. */
IOT_STEP_INLINE int iot_step_blocker(void *worker, struct iot_step *step, const struct iot_step_options *options,
				     const struct iot_step_calls *calls, const struct iot_program_op *op,
				     const struct iot_program_wait **wait)
{
	int err;

	for (; step->holding < le16_to_cpu(op->wait_count); step->holding++) {
		err = calls->wait_at(worker, op, step->holding, wait);
		if (err || !iot_order_holds(options->order, *wait))
			return err;
	}
	*wait = NULL;
	return 0;
}

/* Sleep until a time; an operation `timed` sleeps no longer than until its waits hold. */
IOT_STEP_INLINE int iot_step_sleep(void *worker, struct iot_step *step, const struct iot_step_options *options,
				   const struct iot_step_calls *calls, const struct iot_program_op *op, u64 until_ns)
{
	const struct iot_program_wait *wait;
	int err;

	if (__builtin_expect(iot_order_is_strict(op), 1))
		return calls->sleep_until(worker, until_ns);
	do {
		err = iot_step_blocker(worker, step, options, calls, op, &wait);
		if (!err && wait)
			err = calls->wait_for(worker, wait, until_ns);
	} while (!err && wait);
	return err == -ETIMEDOUT ? 0 : err;
}

/* Count think time that has passed, or that a wait ended early. */
IOT_STEP_INLINE void iot_step_count_late(struct iot_step *step, u64 until_ns, u64 think_ns, u64 now_ns)
{
	u64 late_ns;

	if (now_ns < until_ns) {
		step->stats.think_ns += think_ns - (until_ns - now_ns < think_ns ? until_ns - now_ns : think_ns);
		return;
	}
	if (!think_ns) /* the time between two operations, in which no task has slept */
		return;
	late_ns = now_ns - until_ns;
	step->pace.wakeups[iot_lateness_bucket(late_ns)]++;
	step->stats.think_ns += think_ns;
	step->stats.late_ns += late_ns;
	if (late_ns > step->stats.late_max_ns)
		step->stats.late_max_ns = late_ns;
}

/* While a spinning worker waits for a CPU, it does not compute. */
IOT_STEP_INLINE int iot_step_spin(void *worker, const struct iot_step_calls *calls, u64 until_cpu_ns)
{
	u64 cpu_ns;
	int err = 0;

	while (!err && (cpu_ns = calls->cpu_ns()) < until_cpu_ns)
		err = calls->spin_until(worker, calls->now_ns() + until_cpu_ns - cpu_ns);
	return err;
}

/* Use a CPU as long as the traced task. The engine's work since the operation before is part of that. */
IOT_STEP_INLINE int iot_step_compute(void *worker, struct iot_step *step, const struct iot_step_calls *calls,
				     u64 compute_ns)
{
	u64 until_cpu_ns;
	int err;

	if (step->computed_ns)
		return 0;
	if (!step->prev_cpu_ns) /* the task has just begun */
		step->prev_cpu_ns = calls->cpu_ns();
	until_cpu_ns = iot_pace_until(&step->pace, step->prev_cpu_ns, compute_ns);
	err = iot_step_spin(worker, calls, until_cpu_ns);
	if (err)
		return err;
	iot_pace_owe(&step->pace, until_cpu_ns, compute_ns, calls->cpu_ns());
	step->computed_ns = calls->now_ns();
	step->stats.think_ns += compute_ns;
	return 0;
}

/*
 * First compute, then pause. A wake-up after the pause may be late because other tasks have the CPUs, as in the traced program: later
 * think time is not shortened for it. Before the first operation of a task, think time overlaps with the wait for its beginning.
 */
IOT_STEP_INLINE int iot_step_think_on_cpu(void *worker, struct iot_step *step, const struct iot_step_options *options,
					  const struct iot_step_calls *calls, const struct iot_program_op *op,
					  u64 compute_ns, u64 pause_ns)
{
	u64 before_ns = 0, computed_ns, until_ns;
	int err;

	if (!step->index && step->prev_end_ns > options->start_ns)
		before_ns = step->prev_end_ns - options->start_ns;
	computed_ns = before_ns < compute_ns ? before_ns : compute_ns;
	before_ns -= computed_ns;
	err = iot_step_compute(worker, step, calls, compute_ns - computed_ns);
	if (err || pause_ns <= before_ns)
		return err;
	pause_ns -= before_ns;
	until_ns = step->computed_ns + pause_ns;
	err = iot_step_sleep(worker, step, options, calls, op, until_ns);
	if (!err)
		iot_step_count_late(step, until_ns, pause_ns, calls->now_ns());
	return err;
}

IOT_STEP_INLINE int iot_step_think_asleep(void *worker, struct iot_step *step, const struct iot_step_options *options,
					  const struct iot_step_calls *calls, const struct iot_program_op *op, u64 think_ns)
{
	u64 since_ns = step->prev_end_ns, until_ns, now_ns;
	int err = 0;

	if (!step->index)
		since_ns = iot_pace_begin(options->start_ns, since_ns, think_ns);
	until_ns = iot_pace_until(&step->pace, since_ns, think_ns);
	if (calls->now_ns() < until_ns)
		err = iot_step_sleep(worker, step, options, calls, op, until_ns);
	if (err)
		return err;
	now_ns = calls->now_ns();
	if (now_ns >= until_ns)
		iot_pace_owe(&step->pace, until_ns, think_ns, now_ns);
	iot_step_count_late(step, until_ns, think_ns, now_ns);
	return 0;
}

/* Let the think time before an operation pass. */
IOT_STEP_INLINE int iot_step_think(void *worker, struct iot_step *step, const struct iot_step_options *options,
				   const struct iot_step_calls *calls, const struct iot_program_op *op)
{
	u64 compute_ns = iot_pace_scaled(le64_to_cpu(op->compute_ns), options->compute_scale);
	u64 pause_ns = iot_pace_scaled(le64_to_cpu(op->pause_ns), options->pause_scale);
	int err = 0;

	if (step->has_thought)
		return 0;
	if (le16_to_cpu(op->kind) == IOT_KIND_read)
		err = calls->prepare(worker, op);
	if (err)
		return err;
	if (options->computes)
		err = iot_step_think_on_cpu(worker, step, options, calls, op, compute_ns, pause_ns);
	else
		err = iot_step_think_asleep(worker, step, options, calls, op, compute_ns + pause_ns);
	step->has_thought = !err;
	return err;
}

/* Wait until all waits of an operation hold. */
IOT_STEP_INLINE int iot_step_wait(void *worker, struct iot_step *step, const struct iot_step_options *options,
				  const struct iot_step_calls *calls, const struct iot_program_op *op)
{
	const struct iot_program_wait *wait;
	int err = iot_step_blocker(worker, step, options, calls, op, &wait);
	u64 begin_ns;

	if (err || __builtin_expect(!wait, 1))
		return err;
	begin_ns = calls->now_ns();
	while (wait && !err) {
		err = calls->wait_for(worker, wait, 0);
		if (!err)
			err = iot_step_blocker(worker, step, options, calls, op, &wait);
	}
	step->stats.order_ns += calls->now_ns() - begin_ns;
	return err;
}

/**
 * iot_step_begin() - all of an operation but its end
 * @worker: of the engine
 * @step: of the task
 * @options: of the replay
 * @calls: of the engine, a constant
 * @op: operation `index` of the task
 *
 * Return: 0 when the operation is to end, by iot_step_end(); 1 if it ends later: it is pending; a negative errno if
 * it was not run.
 */
IOT_STEP_INLINE int iot_step_begin(void *worker, struct iot_step *step, const struct iot_step_options *options,
				   const struct iot_step_calls *calls, const struct iot_program_op *op)
{
	int err = 0;

	if (options->is_paced)
		err = iot_step_think(worker, step, options, calls, op);
	if (!err && op->wait_count && iot_order_is_strict(op))
		err = iot_step_wait(worker, step, options, calls, op);
	if (!err)
		err = calls->admit(worker, op);
	if (!err && iot_step_is_io(op)) {
		err = calls->run(worker, op);
		step->is_pending = err > 0;
	}
	return err;
}

/**
 * iot_step_count() - count the result of an operation
 * @step: of the task, or of the request queue; in any context, by one caller at a time
 * @program: of the operation
 * @op: the operation
 * @result: of it
 */
static inline void iot_step_count(struct iot_step *step, const struct iot_program *program,
				  const struct iot_program_op *op, s64 result)
{
	if (__builtin_expect(!iot_outcome_is_expected(program, op, result), 0)) {
		iot_count(&step->stats.diverged, 1);
		iot_count(&step->stats.unable, iot_is_unsupported(op, result));
	}
	if (step->refused)
		iot_count(&step->stats.emulated, 1);
	if (step->observed.is_harmless && result >= 0)
		iot_count(&step->stats.harmless, 1);
}

/**
 * iot_step_end() - an operation that iot_step_begin() has run has ended
 * @worker: of the engine
 * @step: of the task
 * @options: of the replay
 * @calls: of the engine, a constant
 * @op: the operation
 *
 * The record is written before waiting tasks continue.
 */
IOT_STEP_INLINE void iot_step_end(void *worker, struct iot_step *step, const struct iot_step_options *options,
				  const struct iot_step_calls *calls, const struct iot_program_op *op)
{
	if (options->computes) /* before the record, whose costs are hidden by think time */
		step->prev_cpu_ns = calls->cpu_ns();
	if (!iot_step_is_io(op)) {
		if (options->is_timed)
			step->prev_end_ns = calls->now_ns();
	} else {
		iot_step_count(step, options->program, op, step->result);
		if (le16_to_cpu(op->kind) != IOT_KIND_complete) /* a request counts by its submit */
			iot_count(&step->stats.ops, 1);
		if (options->is_timed) {
			step->prev_end_ns = calls->record(worker, op);
			step->stats.io_ns += step->prev_end_ns - step->enter_ns;
		}
	}
	step->computed_ns = 0;
	step->is_pending = false;
	step->refused = 0;
	step->has_thought = false;
	step->holding = 0;
	step->index++;
	if (le16_to_cpu(op->kind) == IOT_PLAY_signal && op->latch)
		calls->signal(worker, le32_to_cpu(op->latch) - 1);
	calls->publish(worker);
}

#endif
