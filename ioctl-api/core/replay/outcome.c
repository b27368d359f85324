// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * outcome.c - what became of an operation, as a record of the same kind as in the trace.
 *
 * Tasks and objects have the ids of the trace, so that a replay can be compared with it;
 * the id of a name is where its path stands in the program's strings, handles and
 * mappings are slots. User space writes the names of them to the same trace.
 */
#include "harmless.h"
#include "outcome.h"

static u64 origin_of(const struct iot_program *program, __le32 object)
{
	u32 slot = le32_to_cpu(object);

	return slot ? le64_to_cpu(program->objects[slot - 1].origin) : 0;
}

/* As it was performed. */
static u32 mode_of(const struct iot_program_op *op, const struct iot_found *found)
{
	u32 mode = le32_to_cpu(op->mode);

	return found->is_harmless ? iot_harmless_mode(mode) : mode;
}

static void fill_named(struct iot_record *r, const struct iot_program_op *op,
		       const struct iot_found *found, u64 object)
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
		r->open.mode = mode_of(op, found);
		r->open.size_bytes = found->size_bytes;
		r->open.cached_pages = found->cached_pages;
		break;
	case IOT_KIND_stat:
		r->stat.name = name;
		r->stat.object = object;
		r->stat.size_bytes = found->size_bytes;
		break;
	case IOT_KIND_setattr:
		r->setattr.name = name;
		r->setattr.object = object;
		r->setattr.handle = le32_to_cpu(op->handle);
		r->setattr.attrs = le32_to_cpu(op->flags);
		r->setattr.mode = mode_of(op, found);
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
		r->mknod.mode = mode_of(op, found);
		r->mknod.rdev = le64_to_cpu(op->extra);
		if (found->is_harmless)
			r->mknod.rdev = iot_harmless_rdev(r->mknod.mode, r->mknod.rdev);
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
	case IOT_KIND_setfileattr:
		r->setfileattr.name = name;
		r->setfileattr.object = object;
		r->setfileattr.flags = le32_to_cpu(op->flags);
		r->setfileattr.has_numbers = le32_to_cpu(op->mode);
		r->setfileattr.project = le32_to_cpu(op->uid);
		r->setfileattr.extsize_bytes = le64_to_cpu(op->length_bytes);
		r->setfileattr.cowextsize_bytes = le64_to_cpu(op->extra);
		break;
	default: /* rmdir unlink symlink readlink follow statfs getfileattr, and extended attributes */
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

static void fill_opened(struct iot_record *r, const struct iot_program_op *op,
			const struct iot_found *found, u64 object)
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
		r->fsync.end_bytes = (s64)le64_to_cpu(op->extra);
		r->fsync.flags = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_ioctl:
		r->ioctl.request = IOT_PROGRAM_IOCTLS | le32_to_cpu(op->flags);
		break;
	case IOT_KIND_lock:
		r->lock.offset_bytes = (s64)le64_to_cpu(op->offset_bytes);
		r->lock.end_bytes = (s64)le64_to_cpu(op->extra);
		r->lock.flags = le32_to_cpu(op->flags);
		r->lock.found = found->lock;
		break;
	case IOT_KIND_readdir:
		r->readdir.entries = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		r->copy_range.offset_bytes = (s64)le64_to_cpu(op->offset_bytes);
		r->copy_range.to_handle = le32_to_cpu(op->other);
		r->copy_range.to_offset_bytes = (s64)le64_to_cpu(op->extra);
		r->copy_range.length_bytes = le64_to_cpu(op->length_bytes);
		if (r->kind == IOT_KIND_remap_range)
			r->remap_range.flags = le32_to_cpu(op->flags);
		break;
	}
}

static void fill_submit(struct iot_record *r, const struct iot_program_op *op,
			const struct iot_found *found, u64 object)
{
	r->submit.request = found->request;
	r->submit.object = object;
	r->submit.handle = le32_to_cpu(op->handle);
	r->submit.offset_bytes = (s64)le64_to_cpu(op->offset_bytes);
	r->submit.length_bytes = le64_to_cpu(op->length_bytes);
	r->submit.flags = le32_to_cpu(op->flags);
}

static void fill_mapped(struct iot_record *r, const struct iot_program_op *op, u64 object,
			u64 page_bytes)
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
		r->touch.length_bytes = page_bytes;
		r->touch.flags = le32_to_cpu(op->flags);
		break;
	case IOT_KIND_msync:
		r->msync.object = object;
		r->msync.offset_bytes = (s64)le64_to_cpu(op->offset_bytes);
		r->msync.end_bytes = (s64)le64_to_cpu(op->extra);
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

/* The text of a record that has one: a target, or the name of an attribute and its value. */
static void fill_tail(struct iot_record *r, const struct iot_program *program,
		      const struct iot_program_op *op, const struct iot_found *found)
{
	size_t bytes = 0;

	switch (r->kind) {
	case IOT_KIND_readlink:
	case IOT_KIND_follow:
		r->tail = (const u8 *)found->target;
		bytes = found->target_bytes;
		break;
	case IOT_KIND_symlink:
	case IOT_KIND_getxattr:
	case IOT_KIND_removexattr:
		r->tail = (const u8 *)iot_program_string(program, op->path2);
		bytes = strlen((const char *)r->tail);
		break;
	case IOT_KIND_setxattr:
		r->tail = (const u8 *)iot_program_string(program, op->path2);
		bytes = strlen((const char *)r->tail);
		if (op->extra && !found->is_harmless) /* else it was another one */
			bytes += 1 + le64_to_cpu(op->length_bytes);
		break;
	}
	r->tail_bytes = (u16)(bytes < IOT_TAIL_MAX_BYTES ? bytes : IOT_TAIL_MAX_BYTES);
}

/**
 * iot_outcome_fill() - what the record of an operation says of it
 * @r: kind, arguments and tail are filled in; who, when and with which result is the caller's
 * @program: of the operation
 * @op: that stands for a record, and for no end of a request
 * @found: what it found; its target, or the program, must live as long as @r is used
 * @page_bytes: of this machine: what a touch makes accessible
 */
void iot_outcome_fill(struct iot_record *r, const struct iot_program *program,
		      const struct iot_program_op *op, const struct iot_found *found, u64 page_bytes)
{
	u64 object = origin_of(program, op->object);

	r->kind = le16_to_cpu(op->kind);
	if (r->kind == IOT_KIND_submit)
		fill_submit(r, op, found, object);
	else if (r->kind >= IOT_KIND_map)
		fill_mapped(r, op, object, page_bytes);
	else if (r->kind >= IOT_KIND_flush)
		fill_opened(r, op, found, object);
	else
		fill_named(r, op, found, object);
	fill_tail(r, program, op, found);
}
