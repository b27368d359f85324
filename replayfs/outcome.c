// SPDX-License-Identifier: GPL-2.0-only
/*
 * outcome.c - what became of an operation, as a record of the same kind as in the trace.
 *
 * Tasks and objects have the ids of the trace, so that a replay can be compared with it;
 * the id of a name is where its path stands in the program's strings, handles and
 * mappings are slots. User space writes the names of them to the same trace.
 */
#include "replayfs.h"

/* Of the operation in the traced task, so that the two can be paired. */
static u32 number_of(const struct rfs_carrier *carrier, const struct iot_program_op *op)
{
	return op->origin_op ? le32_to_cpu(op->origin_op) : carrier->task->index + 1;
}

static u64 origin_of(const struct rfs_carrier *carrier, __le32 object)
{
	u32 slot = le32_to_cpu(object);

	return slot ? le64_to_cpu(carrier->replay->program.objects[slot - 1].origin) : 0;
}

static void fill_named(struct iot_record *r, const struct rfs_task *task,
		       const struct iot_program_op *op, u64 object)
{
	u64 name = le32_to_cpu(op->path);

	switch (r->kind) {
	case IOT_KIND_lookup:
		r->lookup.name = name;
		r->lookup.object = object;
		r->lookup.intents = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_open:
		r->open.name = name;
		r->open.object = object;
		r->open.handle = le32_to_cpu(op->handle);
		r->open.flags = le32_to_cpu(op->flags);
		r->open.mode = le32_to_cpu(op->mode);
		r->open.size_bytes = task->found.size_bytes;
		r->open.cached_pages = task->found.cached_pages;
		break;
	case IOT_KIND_stat:
		r->stat.name = name;
		r->stat.object = object;
		r->stat.size_bytes = task->found.size_bytes;
		break;
	case IOT_KIND_setattr:
		r->setattr.name = name;
		r->setattr.object = object;
		r->setattr.handle = le32_to_cpu(op->handle);
		r->setattr.attrs = le32_to_cpu(op->flags);
		r->setattr.mode = le32_to_cpu(op->mode);
		r->setattr.uid = le32_to_cpu(op->uid);
		r->setattr.gid = le32_to_cpu(op->gid);
		r->setattr.size_bytes = le64_to_cpu(op->length_bytes);
		r->setattr.atime_ns = le64_to_cpu(op->offset_bytes);
		r->setattr.mtime_ns = le64_to_cpu(op->extra);
		break;
	case IOT_KIND_mkdir:
		r->mkdir.name = name;
		r->mkdir.object = object;
		r->mkdir.mode = le32_to_cpu(op->mode);
		break;
	case IOT_KIND_mknod:
		r->mknod.name = name;
		r->mknod.object = object;
		r->mknod.mode = le32_to_cpu(op->mode);
		r->mknod.rdev = le64_to_cpu(op->extra);
		break;
	case IOT_KIND_denied:
		r->denied.object = object;
		r->denied.prot = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_rename:
		r->rename.name = name;
		r->rename.new_name = le32_to_cpu(op->path2);
		r->rename.object = object;
		r->rename.flags = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_link:
		r->link.old_name = name;
		r->link.name = le32_to_cpu(op->path2);
		r->link.object = object;
		break;
	case IOT_KIND_setxattr:
		r->setxattr.name = name;
		r->setxattr.object = object;
		r->setxattr.length_bytes = le64_to_cpu(op->length_bytes);
		r->setxattr.flags = le32_to_cpu(op->flags);
		break;
	default: /* rmdir unlink symlink readlink follow statfs, and extended attributes */
		r->rmdir.name = name;
		r->rmdir.object = object;
		if (r->kind == IOT_KIND_readlink)
			r->readlink.length_bytes = le64_to_cpu(op->length_bytes);
		else if (r->kind == IOT_KIND_statfs)
			r->statfs.object = object;
		else if (r->kind == IOT_KIND_getxattr || r->kind == IOT_KIND_listxattr)
			r->getxattr.length_bytes = le64_to_cpu(op->length_bytes);
	}
}

static void fill_opened(struct iot_record *r, const struct iot_program_op *op, u64 object)
{
	u64 handle = le32_to_cpu(op->handle);

	/* All of these begin with object and handle. */
	r->flush.object = object;
	r->flush.handle = handle;
	switch (r->kind) {
	case IOT_KIND_read:
	case IOT_KIND_write:
	case IOT_KIND_fallocate:
	case IOT_KIND_fadvise:
		r->read.offset_bytes = le64_to_cpu(op->offset_bytes);
		r->read.length_bytes = le64_to_cpu(op->length_bytes);
		r->read.flags = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_seek:
		r->seek.offset_bytes = le64_to_cpu(op->offset_bytes);
		r->seek.whence = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_fsync:
		r->fsync.offset_bytes = le64_to_cpu(op->offset_bytes);
		r->fsync.end_bytes = le64_to_cpu(op->extra);
		r->fsync.flags = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_ioctl:
		r->ioctl.request = IOT_PROGRAM_IOCTLS | le32_to_cpu(op->flags);
		break;
	case IOT_KIND_readdir:
		r->readdir.entries = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		r->copy_range.offset_bytes = le64_to_cpu(op->offset_bytes);
		r->copy_range.to_handle = le32_to_cpu(op->other);
		r->copy_range.to_offset_bytes = le64_to_cpu(op->extra);
		r->copy_range.length_bytes = le64_to_cpu(op->length_bytes);
		if (r->kind == IOT_KIND_remap_range)
			r->remap_range.flags = le32_to_cpu(op->flags);
		break;
	}
}

static void fill_submit(struct iot_record *r, const struct rfs_task *task,
			const struct iot_program_op *op, u64 object)
{
	r->submit.request = task->found.request;
	r->submit.object = object;
	r->submit.handle = le32_to_cpu(op->handle);
	r->submit.offset_bytes = le64_to_cpu(op->offset_bytes);
	r->submit.length_bytes = le64_to_cpu(op->length_bytes);
	r->submit.flags = le32_to_cpu(op->flags);
}

static void fill_mapped(struct iot_record *r, const struct iot_program_op *op, u64 object)
{
	switch (r->kind) {
	case IOT_KIND_map:
		r->map.object = object;
		r->map.handle = le32_to_cpu(op->handle);
		r->map.map = le32_to_cpu(op->other);
		r->map.offset_bytes = le64_to_cpu(op->offset_bytes);
		r->map.length_bytes = le64_to_cpu(op->length_bytes);
		r->map.prot = le32_to_cpu(op->mode);
		r->map.flags = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_unmap:
		r->unmap.object = object;
		r->unmap.map = le32_to_cpu(op->other);
		r->unmap.offset_bytes = le64_to_cpu(op->offset_bytes);
		r->unmap.length_bytes = le64_to_cpu(op->length_bytes);
		break;
	case IOT_KIND_touch:
		r->touch.object = object;
		r->touch.map = le32_to_cpu(op->other);
		r->touch.offset_bytes = le64_to_cpu(op->offset_bytes);
		r->touch.length_bytes = PAGE_SIZE;
		r->touch.flags = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_msync:
		r->msync.object = object;
		r->msync.offset_bytes = le64_to_cpu(op->offset_bytes);
		r->msync.end_bytes = le64_to_cpu(op->extra);
		r->msync.flags = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_madvise:
		r->madvise.object = object;
		r->madvise.offset_bytes = le64_to_cpu(op->offset_bytes);
		r->madvise.length_bytes = le64_to_cpu(op->length_bytes);
		r->madvise.advice = le32_to_cpu(op->flags);
		break;
	}
}

static u32 wire_bytes_of(u16 kind)
{
	switch (kind) {
#define WIRE_CASE(id, name, group, sentence) \
	case id:                             \
		return IOT_WIRE_##name;
		IOT_RECORDS(WIRE_CASE)
#undef WIRE_CASE
	default:
		return 0;
	}
}

/* The text of a record that has one: a target or the name of an attribute. */
static void fill_tail(struct iot_record *r, const struct rfs_carrier *carrier,
		      const struct iot_program_op *op)
{
	switch (r->kind) {
	case IOT_KIND_readlink:
	case IOT_KIND_follow:
		r->tail = (const u8 *)carrier->task->found.target;
		r->tail_bytes = carrier->task->found.target_bytes;
		break;
	case IOT_KIND_symlink:
	case IOT_KIND_getxattr:
	case IOT_KIND_setxattr:
	case IOT_KIND_removexattr:
		r->tail = (const u8 *)rfs_string(carrier, op->path2);
		r->tail_bytes = strlen((const char *)r->tail);
		break;
	}
	r->tail_bytes = min_t(u32, r->tail_bytes, IOT_TAIL_MAX_BYTES);
}

static void emit_op(struct rfs_carrier *carrier, const struct iot_program_op *op, s64 result)
{
	u64 object = origin_of(carrier, op->object);
	struct iot_record r = { .kind = le16_to_cpu(op->kind) };
	struct iot_slot slot;

	r.op.task = carrier->task->stats.task;
	r.op.op = number_of(carrier, op);
	r.op.result = result;
	if (r.kind == IOT_KIND_submit)
		fill_submit(&r, carrier->task, op, object);
	else if (r.kind >= IOT_KIND_map)
		fill_mapped(&r, op, object);
	else if (r.kind >= IOT_KIND_flush)
		fill_opened(&r, op, object);
	else
		fill_named(&r, carrier->task, op, object);
	fill_tail(&r, carrier, op);
	if (!iot_slot_open(carrier->replay->session, wire_bytes_of(r.kind) + r.tail_bytes, &slot))
		return;
	iot_meter_fill(&carrier->task->meter, slot.now_ns, &r.op);
	iot_record_encode(slot.p, IOT_RECORD_MAX_BYTES, &r);
	iot_slot_close(&slot);
}

static void emit_divergence(struct iot_session *session, const struct iot_program_op *op,
			    u32 task, u32 number, s64 result)
{
	struct iot_rec_divergence r = {
		.task = task,
		.op = number,
		.kind = le16_to_cpu(op->kind),
		.expected = (s64)le64_to_cpu(op->result),
		.got = result,
	};

	IOT_EMIT_EVENT(session, divergence, &r, NULL, 0);
}

/**
 * rfs_outcome() - write the record of an operation that was performed
 * @carrier: who performed it
 * @op: the operation
 * @result: what it returned
 */
void rfs_outcome(struct rfs_carrier *carrier, const struct iot_program_op *op, s64 result)
{
	struct iot_session *session = carrier->replay->session;

	if (!session || !iot_session_enter(session))
		return;
	emit_op(carrier, op, result);
	if (result != (s64)le64_to_cpu(op->result))
		emit_divergence(session, op, carrier->task->stats.task, number_of(carrier, op),
				result);
	iot_session_leave();
}

/**
 * rfs_outcome_complete() - write the record of a request that has ended
 * @replay: the replay
 * @lane: index of the lane, which has not got on yet
 * @op: its operation
 * @result: of the request
 *
 * Callable in any context.
 */
void rfs_outcome_complete(struct rfs_replay *replay, u32 lane, const struct iot_program_op *op,
			  s64 result)
{
	const struct rfs_task *task = &replay->tasks[lane];
	struct iot_rec_complete r = {
		.task = task->stats.task,
		.op = le32_to_cpu(op->origin_op),
		.request = rfs_request_number(lane, task->index + 1),
		.result = result,
	};

	if (!replay->session || !iot_session_enter(replay->session))
		return;
	IOT_EMIT_EVENT(replay->session, complete, &r, NULL, 0);
	if (result != (s64)le64_to_cpu(op->result))
		emit_divergence(replay->session, op, r.task, r.op, result);
	iot_session_leave();
}

/**
 * rfs_outcome_dirent() - write the record of an entry that the present operation has read
 * @carrier: the carrier
 * @op: the operation: a readdir
 * @name: the entry's, not terminated; a name too long for a record is cut
 * @length: of @name in bytes
 * @type: DT_*
 *
 * If outcomes go nowhere, does nothing; if there is no room, the record is counted as lost.
 */
void rfs_outcome_dirent(struct rfs_carrier *carrier, const struct iot_program_op *op,
			const char *name, int length, unsigned int type)
{
	struct iot_session *session = carrier->replay->session;
	struct iot_rec_dirent r = {
		.task = carrier->task->stats.task,
		.op = number_of(carrier, op),
		.type = type, /* DT_* have the numbers of IOT_TYPES */
	};

	if (!session || !iot_session_enter(session))
		return;
	IOT_EMIT_EVENT(session, dirent, &r, name, min(length, IOT_TAIL_MAX_BYTES));
	iot_session_leave();
}

/**
 * rfs_outcome_end() - write what there is to say of a task that has ended
 * @replay: the replay
 * @stats: what there is; its time is filled in
 */
void rfs_outcome_end(struct rfs_replay *replay, struct iot_rec_played *stats)
{
	struct iot_session *session = replay->session;

	if (!session || !iot_session_enter(session))
		return;
	IOT_EMIT_EVENT(session, played, stats, NULL, 0);
	iot_session_leave();
}
