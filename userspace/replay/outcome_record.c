// SPDX-License-Identifier: GPL-2.0-only
/*
 * outcome_record.c - what became of an operation, as a record of the same kind as in the trace.
 *
 * The records are those of replayfs/outcome.c: tasks and objects have the ids of the trace, the
 * id of a name is where its path stands in the program's strings, handles and mappings are
 * slots. The time on a CPU and the switches of an operation are not measured here, which would
 * take two more system calls: they are 0.
 */
#include <unistd.h>

#include "player.h"

/* Of the operation in the traced task, so that the two can be paired. */
static u32 number_of(const struct player_task *task, const struct iot_program_op *op)
{
	return op->origin_op ? le32_to_cpu(op->origin_op) : task->index + 1;
}

static u64 origin_of(const struct player_task *task, __le32 object)
{
	u32 slot = le32_to_cpu(object);

	return slot ? le64_to_cpu(task->player->program->objects[slot - 1].origin) : 0;
}

static u64 page_bytes(void)
{
	return (u64)sysconf(_SC_PAGESIZE);
}

static void fill_named(struct iot_record *r, const struct player_task *task,
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
		r->read.offset_bytes = (s64)le64_to_cpu(op->offset_bytes);
		r->read.length_bytes = le64_to_cpu(op->length_bytes);
		r->read.flags = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_seek:
		r->seek.offset_bytes = (s64)le64_to_cpu(op->offset_bytes);
		r->seek.whence = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_fsync:
		r->fsync.offset_bytes = (s64)le64_to_cpu(op->offset_bytes);
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
		r->copy_range.offset_bytes = (s64)le64_to_cpu(op->offset_bytes);
		r->copy_range.to_handle = le32_to_cpu(op->other);
		r->copy_range.to_offset_bytes = le64_to_cpu(op->extra);
		r->copy_range.length_bytes = le64_to_cpu(op->length_bytes);
		if (r->kind == IOT_KIND_remap_range)
			r->remap_range.flags = le32_to_cpu(op->flags);
		break;
	}
}

static void fill_submit(struct iot_record *r, const struct player_task *task,
			const struct iot_program_op *op, u64 object)
{
	r->submit.request = task->found.request;
	r->submit.object = object;
	r->submit.handle = le32_to_cpu(op->handle);
	r->submit.offset_bytes = (s64)le64_to_cpu(op->offset_bytes);
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
		r->map.offset_bytes = (s64)le64_to_cpu(op->offset_bytes);
		r->map.length_bytes = le64_to_cpu(op->length_bytes);
		r->map.prot = le32_to_cpu(op->mode);
		r->map.flags = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_unmap:
		r->unmap.object = object;
		r->unmap.map = le32_to_cpu(op->other);
		r->unmap.offset_bytes = (s64)le64_to_cpu(op->offset_bytes);
		r->unmap.length_bytes = le64_to_cpu(op->length_bytes);
		break;
	case IOT_KIND_touch:
		r->touch.object = object;
		r->touch.map = le32_to_cpu(op->other);
		r->touch.offset_bytes = (s64)le64_to_cpu(op->offset_bytes);
		r->touch.length_bytes = page_bytes();
		r->touch.flags = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_msync:
		r->msync.object = object;
		r->msync.offset_bytes = (s64)le64_to_cpu(op->offset_bytes);
		r->msync.end_bytes = le64_to_cpu(op->extra);
		r->msync.flags = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_madvise:
		r->madvise.object = object;
		r->madvise.offset_bytes = (s64)le64_to_cpu(op->offset_bytes);
		r->madvise.length_bytes = le64_to_cpu(op->length_bytes);
		r->madvise.advice = le32_to_cpu(op->flags);
		break;
	}
}

/* The text of a record that has one: a target or the name of an attribute. */
static void fill_tail(struct iot_record *r, const struct player_task *task,
		      const struct iot_program_op *op)
{
	size_t bytes = 0;

	switch (r->kind) {
	case IOT_KIND_readlink:
	case IOT_KIND_follow:
		r->tail = (const u8 *)task->found.target;
		bytes = task->found.target_bytes;
		break;
	case IOT_KIND_symlink:
	case IOT_KIND_getxattr:
	case IOT_KIND_setxattr:
	case IOT_KIND_removexattr:
		r->tail = (const u8 *)iot_program_string(task->player->program, op->path2);
		bytes = strlen((const char *)r->tail);
		break;
	}
	r->tail_bytes = (u16)(bytes < IOT_TAIL_MAX_BYTES ? bytes : IOT_TAIL_MAX_BYTES);
}

static void put_op(struct player_task *task, const struct iot_program_op *op)
{
	u64 object = origin_of(task, op->object);
	struct iot_record r = { .kind = le16_to_cpu(op->kind) };

	r.op.task = task->stats.task;
	r.op.op = number_of(task, op);
	r.op.result = task->result;
	r.op.enter_ns = task->enter_ns;
	r.op.duration_ns = task->prev_end_ns - task->enter_ns;
	if (r.kind == IOT_KIND_submit)
		fill_submit(&r, task, op, object);
	else if (r.kind >= IOT_KIND_map)
		fill_mapped(&r, op, object);
	else if (r.kind >= IOT_KIND_flush)
		fill_opened(&r, op, object);
	else
		fill_named(&r, task, op, object);
	fill_tail(&r, task, op);
	outcome_put(task, &r, task->prev_end_ns);
}

static void put_divergence(struct player_task *task, const struct iot_program_op *op)
{
	const struct iot_record r = {
		.kind = IOT_KIND_divergence,
		.divergence = {
			.time_ns = task->prev_end_ns,
			.task = task->stats.task,
			.op = number_of(task, op),
			.kind = le16_to_cpu(op->kind),
			.expected = (s64)le64_to_cpu(op->result),
			.got = task->result,
		},
	};

	outcome_put(task, &r, task->prev_end_ns);
}

/* The lane has not got on yet. */
static void put_complete(struct player_task *lane, const struct iot_program_op *op)
{
	const struct iot_record r = {
		.kind = IOT_KIND_complete,
		.complete = {
			.time_ns = lane->prev_end_ns,
			.task = lane->stats.task,
			.op = le32_to_cpu(op->origin_op),
			.request = player_request_number(lane, lane->index + 1),
			.result = lane->result,
		},
	};

	outcome_put(lane, &r, lane->prev_end_ns);
}

/**
 * outcome_op() - write the record of an operation that has ended, and of its divergence
 * @task: which has performed it
 * @op: the operation
 */
void outcome_op(struct player_task *task, const struct iot_program_op *op)
{
	if (!task->player->outcomes)
		return;
	if (le16_to_cpu(op->kind) == IOT_KIND_complete)
		put_complete(task, op);
	else
		put_op(task, op);
	if (task->result != (s64)le64_to_cpu(op->result))
		put_divergence(task, op);
}

/**
 * outcome_dirent() - write the record of an entry that the present operation has read
 * @task: which performs it
 * @op: the operation: a readdir
 * @name: of the entry
 * @type: DT_*, which have the numbers of IOT_TYPES
 */
void outcome_dirent(struct player_task *task, const struct iot_program_op *op, const char *name,
		    unsigned int type)
{
	struct iot_record r = {
		.kind = IOT_KIND_dirent,
		.tail = (const u8 *)name,
		.tail_bytes = (u16)strlen(name),
		.dirent = {
			.time_ns = task->enter_ns,
			.task = task->stats.task,
			.op = number_of(task, op),
			.type = type,
		},
	};

	if (task->player->outcomes)
		outcome_put(task, &r, task->enter_ns);
}

/**
 * outcome_played() - write what there is to say of a task that has ended
 * @task: which has performed its last operation
 * @stats: what there is; the time is filled in
 */
void outcome_played(struct player_task *task, const struct iot_rec_played *stats)
{
	struct iot_record r = { .kind = IOT_KIND_played, .played = *stats };

	r.played.time_ns = clock_now_ns();
	if (task->player->outcomes)
		outcome_put(task, &r, r.played.time_ns);
}
