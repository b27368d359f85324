// SPDX-License-Identifier: GPL-2.0-only
/*
 * freed.c - time for which a task frees the space of a removed file after the operation that removed it.
 *
 * The kernel frees it with the last reference to the inode, after the file system has returned from the removal and
 * before the system call ends. On large files this takes longer than the removal itself. Without a record, it would be think
 * time of the task, and a replay would repeat it in addition to the work of its own removal.
 */
#include "iotape.h"

#include <linux/sched.h>

#include "session.h"
#include "task.h"

#define FREED_MIN_NS 5000 /* a shorter time is not worth a record */

/* Return: the entry of current, if it is a task of the session and in no operation, which would contain the time. */
static struct iot_task *task_outside(const struct iot_session *session)
{
	struct iot_task *task = iot_task_find(current);

	return task && task->epoch == session->number && !task->current_op ? task : NULL;
}

/* The session is entered. */
static void freed_record(struct iot_session *session, struct iot_task *task, u64 begin_ns)
{
	struct iot_rec_freed r = {
		.time_ns = begin_ns,
		.task = task->id,
	};
	struct iot_slot slot;

	iot_task_sync(task);
	r.op = task->ops;
	if (!iot_slot_open(session, IOT_WIRE_freed, &slot))
		return;
	r.duration_ns = slot.now_ns - begin_ns;
	iot_put_freed(slot.p, &r, NULL, 0);
	iot_slot_close(&slot);
}

/**
 * iot_freed_record() - current has freed the space of a removed file
 * @source: the file system above that of the file
 * @begin_ns: when this began, by ktime_get_mono_fast_ns()
 *
 * There is no record if it took less than 5 us, or in an operation.
 *
 * Context: any, without locks of the recorder.
 */
void iot_freed_record(struct iot_source *source, u64 begin_ns)
{
	struct iot_session *session;
	struct iot_task *task;

	if (ktime_get_mono_fast_ns() - begin_ns < FREED_MIN_NS)
		return;
	session = iot_source_enter(source);
	if (!session)
		return;
	task = task_outside(session);
	if (task && iot_only_admits(session) && !rcu_access_pointer(session->counters) && !READ_ONCE(session->gate.is_paused))
		freed_record(session, task, begin_ns);
	iot_session_leave();
}
EXPORT_SYMBOL_GPL(iot_freed_record);
