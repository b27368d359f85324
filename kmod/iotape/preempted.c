// SPDX-License-Identifier: GPL-2.0-only
/*
 * preempted.c - time for which a traced task waited for a CPU between two operations.
 *
 * A task that is runnable and waits for a CPU does not think. If a program uses all CPUs, its tasks wait for each other, which is
 * part of its behaviour: a record `cpu_wait` states that time. They also wait for the sender and the collector, which is not: a
 * record `backpressure` states that time, as for other waits for the collector.
 *
 * The scheduler states for each thread when it last got a CPU, how long it has run since, and for how long it has waited
 * for a CPU in all. So the sum of both times is exact. But only the last slice of each thread of the recorder is known, and only the
 * last wait of current can be located, if it has not slept since: earlier slices and waits between the same two operations
 * count as waits for others. Slices on other CPUs delay nothing here.
 *
 * The fields of other threads are read without a lock. While current runs, no other thread runs on its CPU, so these
 * fields do not change, unless current migrates meanwhile. Then the sum may be wrong, but it is never
 * longer than the wait.
 */
#include "preempted.h"

#include <linux/minmax.h>
#include <linux/sched/signal.h>

#include "compat/sched.h"
#include "session.h"
#include "task.h"

/* The last slice of a thread, if it ran on the CPU of current and began within a time of the scheduler's clock. */
static u64 slice_ns(const struct task_struct *thread, u64 since_ns, u64 until_ns)
{
	u64 arrived_ns = iot_thread_arrived_ns(thread), ran_ns;

	if (task_cpu(thread) != task_cpu(current) || arrived_ns < since_ns || arrived_ns >= until_ns)
		return 0;
	ran_ns = READ_ONCE(thread->se.sum_exec_runtime) - READ_ONCE(thread->se.prev_sum_exec_runtime);
	return min(ran_ns, until_ns - arrived_ns);
}

/*
 * The session is entered, which is a read side of RCU: its sender is not freed, nor is a thread of the collector that exits
 * meanwhile. The list of these threads lives as long as any of them.
 */
static u64 recorder_ns(const struct iot_session *session, u64 since_ns, u64 until_ns)
{
	u64 sum_ns = slice_ns(session->sender, since_ns, until_ns);
	struct task_struct *thread;

	for_each_thread(session->collector_thread, thread)
		sum_ns += slice_ns(thread, since_ns, until_ns);
	return min(sum_ns, until_ns - since_ns);
}

/*
 * The place of the wait between the two operations is not recorded: the record ends now, because records are in the order
 * of their ends.
 */
static void recorder_record(struct iot_session *session, struct iot_task *task, u64 duration_ns)
{
	struct iot_rec_backpressure r = {
		.duration_ns = duration_ns,
		.task = task->id,
		.op = task->ops,
	};
	struct iot_slot slot;

	if (!iot_slot_open(session, IOT_WIRE_backpressure, &slot))
		return;
	r.time_ns = slot.now_ns - r.duration_ns;
	iot_put_backpressure(slot.p, &r, NULL, 0);
	iot_slot_close(&slot);
}

static void others_record(struct iot_session *session, struct iot_task *task, u64 waited_ns)
{
	struct iot_rec_cpu_wait r = {
		.task = task->id,
		.op = task->ops,
		.waited_ns = waited_ns,
	};

	IOT_EMIT_EVENT(session, cpu_wait, &r, NULL, 0);
}

/* If current has slept since its last operation, it is not known when it waited, and so not for which threads. */
static u64 recorder_part_ns(const struct iot_session *session, const struct iot_task *task, u64 delay_ns)
{
	u64 arrived_ns = iot_thread_arrived_ns(current);

	if (READ_ONCE(task->waits) != current->nvcsw || delay_ns > arrived_ns) /* the latter by a clock that jumped */
		return 0;
	return recorder_ns(session, arrived_ns - delay_ns, arrived_ns);
}

/**
 * iot_preempted_check() - state for how long current has waited for a CPU since its last operation
 * @session: entered
 * @task: of current
 *
 * There is no record of less than IOT_PREEMPTED_MIN_NS, nor within an operation, which contains the wait.
 */
void iot_preempted_check(struct iot_session *session, struct iot_task *task)
{
	u64 delay_ns = iot_thread_delay_ns(current) - READ_ONCE(task->delayed_ns), part_ns;

	if (likely(delay_ns < IOT_PREEMPTED_MIN_NS) || task->current_op || rcu_access_pointer(session->counters))
		return;
	part_ns = recorder_part_ns(session, task, delay_ns);
	iot_task_sync(task);
	if (part_ns >= IOT_PREEMPTED_MIN_NS)
		recorder_record(session, task, part_ns);
	if (delay_ns - part_ns >= IOT_PREEMPTED_MIN_NS)
		others_record(session, task, delay_ns - part_ns);
}
