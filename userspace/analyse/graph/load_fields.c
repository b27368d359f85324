// SPDX-License-Identifier: GPL-2.0-only
/*
 * load_fields.c - from the fields of a record to an operation of a graph, kind by kind.
 *
 * What an operation needs to be performed is taken from its record; what it refers to by
 * id is resolved to paths while the names of that moment are known.
 */
#include <stdlib.h>

#include "implied.h"
#include "loader.h"

/* -- texts ------------------------------------------------------------------------ */

static int set_path(struct loader *l, u64 name, const char **path)
{
	const char *text = iot_names_path(l->names, name);

	*path = text[0] ? graph_text(l->graph, text) : NULL;
	return *path || !text[0] ? 0 : -ENOMEM;
}

static int set_tail(struct loader *l, const char **text)
{
	char copy[IOT_TAIL_MAX_BYTES + 1];

	memcpy(copy, l->record->tail, l->record->tail_bytes);
	copy[l->record->tail_bytes] = 0;
	*text = graph_text(l->graph, copy);
	return *text ? 0 : -ENOMEM;
}

/* -- operations, by what they have in common ------------------------------------------- */

/* By name; or, if the object has none any more, through a handle that is open on it. */
static int on_object(struct loader *l, u64 name, u64 object, u64 handle)
{
	int err = set_path(l, name, &l->op->path);

	l->op->object = object;
	if (!l->op->path)
		l->op->handle = handle ? handle : live_handle(&l->live, object);
	return err;
}

static void on_handle(struct loader *l, u64 object, u64 handle)
{
	l->op->object = object;
	l->op->handle = handle;
}

static void range(struct loader *l, s64 offset_bytes, u64 length_bytes, u32 flags)
{
	l->op->offset_bytes = (u64)offset_bytes;
	l->op->length_bytes = length_bytes;
	l->op->flags = flags;
}

static int load_lookup(struct loader *l, const struct iot_rec_lookup *r)
{
	l->op->flags = r->intents;
	l->op->object = r->object;
	if (is_failed_open(r)) {
		l->op->kind = IOT_KIND_open;
		l->op->flags = failed_open_flags(r);
	}
	return set_path(l, r->name, &l->op->path);
}

static int load_open(struct loader *l, const struct iot_rec_open *r)
{
	l->op->object = r->object;
	l->op->handle = r->handle;
	l->op->flags = r->flags;
	l->op->mode = r->mode;
	l->op->old_size_bytes = r->size_bytes;
	if (set_path(l, r->name, &l->op->path))
		return -ENOMEM;
	if (!is_known(l->op->path))
		l->op->handle = 0; /* nothing in a replay would open it, but see load_gone.c */
	return r->handle ? live_opened(&l->live, r->object, r->handle, l->op->handle != 0) : 0;
}

static int load_setattr(struct loader *l, const struct iot_rec_setattr *r)
{
	l->op->flags = r->attrs;
	l->op->mode = r->mode;
	l->op->uid = r->uid;
	l->op->gid = r->gid;
	l->op->length_bytes = r->size_bytes;
	l->op->offset_bytes = r->atime_ns;
	l->op->extra = r->mtime_ns;
	l->op->old_size_bytes = r->old_size_bytes;
	if (r->handle) { /* by handle if the program did it so */
		on_handle(l, r->object, r->handle);
		return 0;
	}
	return on_object(l, r->name, r->object, 0);
}

static int load_rename(struct loader *l, const struct iot_rec_rename *r)
{
	int err = set_path(l, r->name, &l->op->path);

	l->op->object = r->object;
	l->op->other = r->replaced;
	l->op->flags = r->flags;
	return err ? err : set_path(l, r->new_name, &l->op->path2);
}

static int load_link(struct loader *l, const struct iot_rec_link *r)
{
	int err = on_object(l, r->old_name, r->object, 0);

	return err ? err : set_path(l, r->name, &l->op->path2);
}

/* Which object permission was refused for: by a name that it has. */
static int load_denied(struct loader *l, const struct iot_rec_denied *r)
{
	const char *path = iot_names_object(l->names, r->object).path;

	l->op->object = r->object;
	l->op->flags = r->prot;
	l->op->path = path[0] ? graph_text(l->graph, path) : NULL;
	return l->op->path ? 0 : path[0] ? -ENOMEM : 1;
}

static int load_xattr(struct loader *l, u64 name, u64 object, u64 length_bytes, u32 flags)
{
	int err = on_object(l, name, object, 0);

	l->op->length_bytes = length_bytes;
	l->op->flags = flags;
	return err || !l->record->tail_bytes ? err : set_tail(l, &l->op->path2);
}

/* Its tail is the name, and perhaps a zero byte and the value. */
static int load_setxattr(struct loader *l, const struct iot_rec_setxattr *r)
{
	const u8 *tail = l->record->tail, *end = memchr(tail, 0, l->record->tail_bytes);
	int err = load_xattr(l, r->name, r->object, r->length_bytes, r->flags);

	if (err || !end || (u64)(tail + l->record->tail_bytes - end - 1) != r->length_bytes)
		return err;
	l->op->path2 = graph_bytes(l->graph, tail, l->record->tail_bytes);
	l->op->extra = 1;
	return l->op->path2 ? 0 : -ENOMEM;
}

static int load_setfileattr(struct loader *l, const struct iot_rec_setfileattr *r)
{
	l->op->flags = r->flags;
	l->op->mode = r->has_numbers;
	l->op->uid = r->project;
	l->op->length_bytes = r->extsize_bytes;
	l->op->extra = r->cowextsize_bytes;
	l->graph->has_fileattrs = true;
	return on_object(l, r->name, r->object, 0);
}

static void load_copy(struct loader *l, const struct iot_rec_copy_range *r, u32 flags)
{
	on_handle(l, r->object, r->handle);
	range(l, r->offset_bytes, r->length_bytes, flags);
	l->op->other = r->to_handle;
	l->op->extra = (u64)r->to_offset_bytes;
	l->op->old_size_bytes = r->old_size_bytes;
}

/* Return: 0; 1 for a wait without a lock, other than by a signal or EDEADLK: a replay would not wait, and may get it. */
static int load_lock(struct loader *l, const struct iot_rec_lock *r)
{
	on_handle(l, r->object, r->handle);
	range(l, r->offset_bytes, 0, r->flags);
	l->op->extra = (u64)r->end_bytes;
	l->op->mode = r->found;
	if (r->flags & IOT_LOCK_wait && r->result && !iot_is_wait_in_vain(r->flags, r->result))
		return 1;
	l->graph->tasks[l->task].has_locks |= graph_is_process_lock(r->flags);
	return 0;
}

static u32 tgid_of(const struct loader *l)
{
	return l->graph->tasks[l->task].tgid;
}

/* Return: 1 if the mapping is a child's, whose operation it becomes when the child is known. */
static int load_map(struct loader *l, const struct iot_rec_map *r)
{
	struct inherited_map *inherited = l->inherited;
	size_t room = l->inherited_room ? 2 * l->inherited_room : 64;

	on_handle(l, r->object, r->handle);
	range(l, r->offset_bytes, r->length_bytes, r->flags & ~(u32)IOT_MAP_inherited);
	l->op->other = r->map;
	l->op->mode = r->prot;
	if (!(r->flags & IOT_MAP_inherited))
		return live_mapped(&l->live, tgid_of(l), l->op);
	if (l->inherited_count == l->inherited_room) {
		inherited = reallocarray(inherited, room, sizeof(*inherited));
		if (!inherited)
			return -ENOMEM;
		l->inherited = inherited;
		l->inherited_room = room;
	}
	if (loader_file(l, r->object, &l->op->file))
		return -ENOMEM;
	inherited[l->inherited_count++] = (struct inherited_map){ l->task, *l->op };
	return 1;
}

/**
 * load_inherited() - a fork is complete: the copies of the parent's mappings are what the child does
 * first, when it has waited for the fork
 * @l: the loader
 * @parent, @child: indices of the tasks
 *
 * They are made when the child begins, as those that load_mapped_before() makes: all of them are in the
 * order of the trace then.
 *
 * Return: 0 or -ENOMEM.
 */
int load_inherited(struct loader *l, u32 parent, u32 child)
{
	size_t i, kept = 0;

	for (i = 0; i < l->inherited_count; i++) {
		struct graph_op *op;

		if (l->inherited[i].task != parent) {
			l->inherited[kept++] = l->inherited[i];
			continue;
		}
		op = graph_op_add(l->graph, child);
		if (!op)
			return -ENOMEM;
		*op = l->inherited[i].op;
		op->enter_ns = l->graph->tasks[child].begin_ns;
		op->end_ns = op->enter_ns;
		op->number = 0;
		if (live_mapped(&l->live, l->graph->tasks[child].tgid, op))
			return -ENOMEM;
	}
	l->inherited_count = kept;
	return 0;
}

/* The kernel writes back what is shared, and only that. */
static u64 asked_map(struct loader *l, u64 handle, u64 offset_bytes, bool is_shared)
{
	const struct live_asked asked = {
		.tgid = tgid_of(l),
		.handle = handle,
		.offset_bytes = offset_bytes,
		.enter_ns = l->op->enter_ns,
		.is_shared = is_shared,
	};

	return live_map(&l->live, &asked);
}

static void on_map(struct loader *l, u64 object, u64 piece)
{
	l->op->object = object;
	l->op->other = piece;
}

/* These return what load_fields() does. */
static int load_named(struct loader *l)
{
	const struct iot_record *r = l->record;

	switch (r->kind) {
	case IOT_KIND_lookup:
		return load_lookup(l, &r->lookup);
	case IOT_KIND_open:
		return load_open(l, &r->open);
	case IOT_KIND_stat:
		l->op->old_size_bytes = r->stat.size_bytes;
		return on_object(l, r->stat.name, r->stat.object, 0);
	case IOT_KIND_setattr:
		return load_setattr(l, &r->setattr);
	case IOT_KIND_mkdir:
		l->op->mode = r->mkdir.mode;
		return on_object(l, r->mkdir.name, r->mkdir.object, 0);
	case IOT_KIND_mknod:
		l->op->mode = r->mknod.mode;
		l->op->extra = r->mknod.rdev;
		return on_object(l, r->mknod.name, r->mknod.object, 0);
	case IOT_KIND_rmdir:
		return on_object(l, r->rmdir.name, r->rmdir.object, 0);
	case IOT_KIND_unlink:
		return on_object(l, r->unlink.name, r->unlink.object, 0);
	case IOT_KIND_rename:
		return load_rename(l, &r->rename);
	case IOT_KIND_link:
		return load_link(l, &r->link);
	case IOT_KIND_symlink:
		return on_object(l, r->symlink.name, r->symlink.object, 0) ?: set_tail(l, &l->op->path2);
	case IOT_KIND_readlink:
		l->op->length_bytes = r->readlink.length_bytes;
		return on_object(l, r->readlink.name, r->readlink.object, 0);
	case IOT_KIND_follow:
		return on_object(l, r->follow.name, r->follow.object, 0);
	case IOT_KIND_denied:
		return load_denied(l, &r->denied);
	case IOT_KIND_statfs:
		l->op->object = r->statfs.object;
		l->op->path = graph_text(l->graph, iot_names_object(l->names, r->statfs.object).path);
		return l->op->path ? 0 : -ENOMEM;
	case IOT_KIND_getxattr:
		return load_xattr(l, r->getxattr.name, r->getxattr.object,
				  r->getxattr.length_bytes, 0);
	case IOT_KIND_setxattr:
		return load_setxattr(l, &r->setxattr);
	case IOT_KIND_removexattr:
		return load_xattr(l, r->removexattr.name, r->removexattr.object, 0, 0);
	case IOT_KIND_listxattr:
		return load_xattr(l, r->listxattr.name, r->listxattr.object,
				  r->listxattr.length_bytes, 0);
	case IOT_KIND_getfileattr:
		return on_object(l, r->getfileattr.name, r->getfileattr.object, 0);
	case IOT_KIND_setfileattr:
		return load_setfileattr(l, &r->setfileattr);
	default:
		return 1;
	}
}

static int load_opened(struct loader *l)
{
	const struct iot_record *r = l->record;

	switch (r->kind) {
	case IOT_KIND_release:
		live_released(&l->live, r->release.handle);
		on_handle(l, r->release.object, r->release.handle);
		return 0;
	case IOT_KIND_flush:
		on_handle(l, r->flush.object, r->flush.handle);
		return 0;
	case IOT_KIND_read:
		on_handle(l, r->read.object, r->read.handle);
		range(l, r->read.offset_bytes, r->read.length_bytes, r->read.flags);
		return 0;
	case IOT_KIND_write:
		on_handle(l, r->write.object, r->write.handle);
		range(l, r->write.offset_bytes, r->write.length_bytes, r->write.flags);
		l->op->old_size_bytes = r->write.old_size_bytes;
		return 0;
	case IOT_KIND_seek:
		on_handle(l, r->seek.object, r->seek.handle);
		range(l, r->seek.offset_bytes, 0, r->seek.whence);
		return 0;
	case IOT_KIND_fsync:
		on_handle(l, r->fsync.object, r->fsync.handle);
		range(l, r->fsync.offset_bytes, 0, r->fsync.flags);
		l->op->extra = (u64)r->fsync.end_bytes;
		return 0;
	case IOT_KIND_readdir:
		on_handle(l, r->readdir.object, r->readdir.handle);
		range(l, 0, 0, r->readdir.entries);
		l->op->path = graph_text(l->graph, iot_names_of_record(l->names, r).path);
		return l->op->path ? 0 : -ENOMEM;
	case IOT_KIND_fallocate:
		on_handle(l, r->fallocate.object, r->fallocate.handle);
		range(l, r->fallocate.offset_bytes, r->fallocate.length_bytes, r->fallocate.flags);
		l->op->old_size_bytes = r->fallocate.old_size_bytes;
		return 0;
	case IOT_KIND_fadvise:
		on_handle(l, r->fadvise.object, r->fadvise.handle);
		range(l, r->fadvise.offset_bytes, r->fadvise.length_bytes, r->fadvise.advice);
		return 0;
	case IOT_KIND_ioctl:
		on_handle(l, r->ioctl.object, r->ioctl.handle);
		range(l, 0, 0, r->ioctl.request & 0xff);
		return (r->ioctl.request & ~0xffu) != IOT_PROGRAM_IOCTLS;
	case IOT_KIND_lock:
		return load_lock(l, &r->lock);
	case IOT_KIND_copy_range:
		load_copy(l, &r->copy_range, 0);
		return 0;
	case IOT_KIND_remap_range:
		/* its fields begin with those of copy_range */
		load_copy(l, &r->copy_range, r->remap_range.flags);
		return 0;
	default:
		return 1;
	}
}

static int load_mapped(struct loader *l)
{
	const struct iot_record *r = l->record;

	switch (r->kind) {
	case IOT_KIND_map:
		return load_map(l, &r->map);
	case IOT_KIND_unmap:
		on_map(l, r->unmap.object, 0);
		range(l, r->unmap.offset_bytes, r->unmap.length_bytes, 0);
		return live_unmapped(&l->live, tgid_of(l), &r->unmap, &l->op->other);
	case IOT_KIND_touch:
		on_map(l, r->touch.object, 0);
		range(l, r->touch.offset_bytes, r->touch.length_bytes, r->touch.flags);
		return live_touched(&l->live, tgid_of(l), l->op->enter_ns, &r->touch, &l->op->other);
	case IOT_KIND_msync:
		on_map(l, r->msync.object,
		       asked_map(l, r->msync.handle, (u64)r->msync.offset_bytes, true));
		range(l, r->msync.offset_bytes, 0, r->msync.flags);
		l->op->extra = (u64)r->msync.end_bytes;
		return 0;
	case IOT_KIND_madvise:
		on_map(l, r->madvise.object,
		       asked_map(l, r->madvise.handle, (u64)r->madvise.offset_bytes, false));
		range(l, r->madvise.offset_bytes, r->madvise.length_bytes, r->madvise.advice);
		return 0;
	case IOT_KIND_submit:
		on_handle(l, r->submit.object, r->submit.handle);
		range(l, r->submit.offset_bytes, r->submit.length_bytes, r->submit.flags);
		l->op->other = r->submit.request;
		l->op->old_size_bytes = r->submit.old_size_bytes;
		l->op->mode = (u32)(r->submit.memory ^ r->submit.memory >> 32);
		return 0;
	default:
		return 1;
	}
}

/**
 * load_fields() - take from a record of an operation what it needs to be performed
 * @l: with the record, and an operation that has what all of them have
 *
 * Return: 0; 1 if the record cannot be expressed; -ENOMEM.
 */
int load_fields(struct loader *l)
{
	if (l->record->kind >= IOT_KIND_map)
		return load_mapped(l);
	return l->record->kind >= IOT_KIND_flush ? load_opened(l) : load_named(l);
}
