// SPDX-License-Identifier: GPL-2.0-only
/*
 * meter.c - what an operation costs its thread, and the common fields of its record.
 */
#include <linux/export.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/timekeeping.h>

#include "iotape.h"
#include "task.h"

/**
 * iot_meter_begin() - current enters an operation now
 * @meter: filled in
 */
void iot_meter_begin(struct iot_meter *meter)
{
	meter->waits = current->nvcsw;
	meter->switches = current->nvcsw + current->nivcsw;
	meter->runtime_ns = current->se.sum_exec_runtime;
	meter->exec_start_ns = current->se.exec_start;
	meter->enter_ns = ktime_get_mono_fast_ns();
}
EXPORT_SYMBOL_GPL(iot_meter_begin);

/*
 * CPU time of a thread. The scheduler updates sum_exec_runtime only at ticks and switches,
 * and notes the time of the update in exec_start, on the scheduler's clock: the CPU time so
 * far is the former plus the time since the latter.
 */
static u64 runtime_ns(u64 sum_ns, u64 exec_start_ns, u64 clock_ns)
{
	return sum_ns + (clock_ns > exec_start_ns ? clock_ns - exec_start_ns : 0);
}

/**
 * iot_meter_fill() - fill in the cost of an operation that ends now
 * @meter: as filled in at the start of the operation, by the same thread
 * @now_ns: end of the operation
 * @op: times and switches are set
 */
void iot_meter_fill(const struct iot_meter *meter, u64 now_ns, struct iot_rec_op *op)
{
	u64 clock_ns = local_clock(), run_ns;

	op->enter_ns = meter->enter_ns;
	op->duration_ns = now_ns - meter->enter_ns;
	/* The scheduler's clock at the beginning: the monotonic one runs at the same speed. */
	op->runtime_ns = runtime_ns(meter->runtime_ns, meter->exec_start_ns,
				    clock_ns - op->duration_ns);
	op->switches = current->nvcsw - meter->waits;
	if (current->nvcsw + current->nivcsw == meter->switches) {
		op->oncpu_ns = op->duration_ns; /* never off the CPU */
		return;
	}
	run_ns = runtime_ns(current->se.sum_exec_runtime, current->se.exec_start, clock_ns) -
		 op->runtime_ns;
	op->oncpu_ns = min(run_ns, op->duration_ns); /* a clock that jumped makes it huge */
}
EXPORT_SYMBOL_GPL(iot_meter_fill);

/**
 * iot_span_fill() - set the common fields of an operation's record
 * @span: the operation
 * @now_ns: its end
 * @op: the record, which has the result
 *
 * To the program a wait that a signal ended returned EINTR, or was begun again.
 */
void iot_span_fill(const struct iot_span *span, u64 now_ns, struct iot_rec_op *op)
{
	if (unlikely(op->result == -ERESTARTSYS))
		op->result = -EINTR;
	iot_meter_fill(&span->meter, now_ns, op);
	op->task = span->task->id;
	op->op = span->op;
	op->parent = span->parent;
}
EXPORT_SYMBOL_GPL(iot_span_fill);
