// SPDX-License-Identifier: GPL-2.0-only
/*
 * joined.c - records from user space: which kinds are accepted, and which of their fields are trusted.
 */
#include "joined.h"

#include <linux/minmax.h>
#include <linux/time_namespace.h>

#include "session.h"
#include "task.h"

/**
 * iot_joined_clock_ns() - offset of the clock of current from that of the kernel
 *
 * Not 0 in a time namespace.
 */
u64 iot_joined_clock_ns(void)
{
	struct timespec64 zero = {};

	timens_add_monotonic(&zero);
	return timespec64_to_ns(&zero);
}

/**
 * iot_joined_emit() - emit a record of the current thread, of an operation that ends now
 * @session: entered
 * @record: valid; only the kind's own fields and the start time are used as given
 */
void iot_joined_emit(struct iot_session *session, struct iot_record *record)
{
	struct iot_slot slot;
	struct iot_task *task = iot_task_of_current(session);

	if (!task) {
		iot_session_count_lost(session);
		return;
	}
	if (!iot_slot_open(session, record->length_bytes, &slot))
		return;
	if (iot_kind_is_mpi_known(record->kind)) {
		iot_task_sync(task);
		record->mpi_known.time_ns = slot.now_ns;
		record->mpi_known.task = task->id;
		record->mpi_known.op = task->ops;
	} else {
		record->op.task = task->id;
		record->op.op = iot_task_op_new(task);
		record->op.parent = task->current_op;
		record->op.enter_ns = min(record->op.enter_ns - iot_joined_clock_ns(), slot.now_ns);
		record->op.duration_ns = slot.now_ns - record->op.enter_ns;
		record->op.oncpu_ns = min(record->op.oncpu_ns, record->op.duration_ns);
	}
	iot_record_encode(slot.p, record->length_bytes, record);
	iot_slot_close(&slot);
}

/**
 * iot_joined_is_valid() - does a record have exactly the form that this kernel knows?
 * @record: decoded; the kinds that may have a tail are those of IOT_TAILS
 */
bool iot_joined_is_valid(const struct iot_record *record)
{
	switch (record->kind) {
	case IOT_KIND_mpi_comm:
		return record->length_bytes == IOT_WIRE_mpi_comm && !record->tail_bytes;
	case IOT_KIND_mpi_near:
		return record->length_bytes == IOT_WIRE_mpi_near && !record->tail_bytes;
	case IOT_KIND_mpi_view:
		return record->length_bytes == IOT_WIRE_mpi_view && !record->tail_bytes;
	case IOT_KIND_mpi_send:
		return record->length_bytes == IOT_WIRE_mpi_send && !record->tail_bytes;
	case IOT_KIND_mpi_recv:
		return record->length_bytes == IOT_WIRE_mpi_recv && !record->tail_bytes;
	case IOT_KIND_mpi_done:
		return record->length_bytes == IOT_WIRE_mpi_done && !record->tail_bytes;
	case IOT_KIND_mpi_coll:
		return record->length_bytes == IOT_WIRE_mpi_coll + record->tail_bytes;
	case IOT_KIND_mpi_probe:
		return record->length_bytes == IOT_WIRE_mpi_probe && !record->tail_bytes;
	case IOT_KIND_mpi_part:
		return record->length_bytes == IOT_WIRE_mpi_part && !record->tail_bytes;
	case IOT_KIND_mpi_win:
		return record->length_bytes == IOT_WIRE_mpi_win && !record->tail_bytes;
	case IOT_KIND_mpi_file:
		return record->length_bytes == IOT_WIRE_mpi_file + record->tail_bytes;
	case IOT_KIND_mpi_link:
		return record->length_bytes == IOT_WIRE_mpi_link + record->tail_bytes;
	default:
		return false;
	}
}
