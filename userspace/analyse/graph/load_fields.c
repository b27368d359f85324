// SPDX-License-Identifier: GPL-2.0-only
/*
 * load_fields.c - from the fields of a record to an operation of a graph, kind by kind.
 *
 * The arguments of an operation come from its record; ids are resolved to paths while the names of
 * that moment are known.
 */
#include <stdlib.h>

#include "core/replay/operation.h"
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

/* -- operations, by common fields ------------------------------------------------------ */

/* By name; or, if the object has none any more, through a handle that is open on it. */
static int on_object(struct loader *l, u64 name, u64 object, u64 handle)
{
	int err = set_path(l, name, &l->op->path);

	l->op->object = object;
	if (!l->op->path)
		l->op->handle = handle ? handle : live_handle(&l->live, object);
	return err;
}

/* By name, as operations do that may find nothing under it. */
static bool is_by_name(u16 kind)
{
	return kind == IOT_KIND_lookup || kind == IOT_KIND_open || kind == IOT_KIND_rename;
}

static int load_path(struct loader *l, u64 name)
{
	return is_by_name(l->record->kind) ? set_path(l, name, &l->op->path) :
					     on_object(l, name, l->op->object, 0);
}

/* By handle if the program did it so, and a replay can: else the object has a name, or another handle. */
static int load_place_handle(struct loader *l, u64 handle)
{
	bool has_place = l->op->path || l->op->handle;

	if (handle && (!has_place || live_is_named(&l->live, handle))) {
		l->op->path = NULL;
		l->op->handle = handle;
	}
	return 0;
}

static int load_xattr(struct loader *l, const char **name)
{
	return l->record->tail_bytes ? set_tail(l, name) : 0;
}

/* -- operands ------------------------------------------------------------------------------- */

/* The member of an operation from the field of a record, for each use of IOT_OPERAND_USES that records have. */
#define LOAD_number(member, field)	 (l->op->member = field, 0)
#define LOAD_signed(member, field)	 (l->op->member = (u64)field, 0)
#define LOAD_object(member, field)	 LOAD_number(member, r->field)
#define LOAD_handle(member, field)	 LOAD_number(member, r->field)
#define LOAD_new_handle(member, field)	 LOAD_number(member, r->field)
#define LOAD_to_handle(member, field)	 LOAD_number(member, r->field)
#define LOAD_new_map(member, field)	 LOAD_number(member, r->field)
#define LOAD_map(member, field)		 0 /* a piece of a mapping, see live.h */
#define LOAD_bits(member, field)	 LOAD_number(member, r->field)
#define LOAD_mask(member, field)	 LOAD_number(member, r->field)
#define LOAD_yes_no(member, field)	 LOAD_number(member, r->field)
#define LOAD_request(member, field)	 LOAD_number(member, r->field & 0xff)
#define LOAD_transfer(member, field)	 LOAD_number(member, r->field)
#define LOAD_page(member, field)	 LOAD_number(member, r->field)
#define LOAD_small(member, field)	 LOAD_number(member, r->field)
#define LOAD_new_mode(member, field)	 LOAD_number(member, r->field)
#define LOAD_rdev(member, field)	 LOAD_number(member, r->field)
#define LOAD_u32(member, field)		 LOAD_number(member, r->field)
#define LOAD_u64(member, field)		 LOAD_number(member, r->field)
#define LOAD_s64(member, field)		 LOAD_signed(member, r->field)
#define LOAD_position(member, field)	 LOAD_signed(member, r->field)
#define LOAD_range_end(member, field)	 LOAD_signed(member, r->field)
#define LOAD_path(member, field)	 load_path(l, r->field)
#define LOAD_place(member, field)	 load_path(l, r->field)
#define LOAD_place_handle(member, field) load_place_handle(l, r->field)
#define LOAD_new_path(member, field)	 set_path(l, r->field, &l->op->member)
#define LOAD_target(member, field)	 set_tail(l, &l->op->member)
#define LOAD_xattr(member, field)	 load_xattr(l, &l->op->member)

#define LOAD_OPERAND(k, use, member, field, ...) err = err ?: LOAD_##use(member, k.field);
#define LOAD_KIND(k, ...)                                                               \
	case IOT_KIND_##k:                                                              \
		IOT_OPERANDS_##k(LOAD_OPERAND, IOT_OPERAND_SKIP, IOT_OPERAND_SKIP, k)   \
		return err;

/* Return: 0; 1 if programs do not have the operation; -ENOMEM. */
static int load_operands(struct loader *l)
{
	const struct iot_record *r = l->record;
	int err = 0;

	switch (r->kind) {
		IOT_WORKER_OPERATIONS(LOAD_KIND)
	default:
		return 1;
	}
}

/* -- other fields of a kind: each function returns the same as load_fields() ----------------------- */

/* An open that failed is known by its look-up. */
static int finish_lookup(struct loader *l, const struct iot_rec_lookup *r)
{
	if (is_failed_open(r)) {
		l->op->kind = IOT_KIND_open;
		l->op->flags = failed_open_flags(r);
	}
	return 0;
}

static int finish_open(struct loader *l, const struct iot_rec_open *r)
{
	l->op->old_size_bytes = r->size_bytes;
	if (!is_known(l->op->path))
		l->op->handle = 0; /* nothing in a replay would open it, but see load_gone.c */
	return r->handle ? live_opened(&l->live, r->object, r->handle, l->op->handle != 0) : 0;
}

/* The object that permission was refused for, by a name that it has. */
static int finish_denied(struct loader *l, const struct iot_rec_denied *r)
{
	const char *path = iot_names_object(l->names, r->object).path;

	l->op->path = path[0] ? graph_text(l->graph, path) : NULL;
	return l->op->path ? 0 : path[0] ? -ENOMEM : 1;
}

static int finish_statfs(struct loader *l, const struct iot_rec_statfs *r)
{
	if (live_is_named(&l->live, r->handle))
		return 0;
	l->op->handle = 0;
	l->op->path = graph_text(l->graph, iot_names_object(l->names, r->object).path);
	return l->op->path ? 0 : -ENOMEM;
}

/* The tail is the name, and perhaps a zero byte and the value. */
static int finish_setxattr(struct loader *l, const struct iot_rec_setxattr *r)
{
	const u8 *tail = l->record->tail, *end = memchr(tail, 0, l->record->tail_bytes);

	if (!end || (u64)(tail + l->record->tail_bytes - end - 1) != r->length_bytes)
		return 0;
	l->op->xattr = graph_bytes(l->graph, tail, l->record->tail_bytes);
	l->op->has_value = 1;
	return l->op->xattr ? 0 : -ENOMEM;
}

/* Return: 0; 1 for a wait without a lock, other than by a signal or EDEADLK: a replay would not wait, and may get it. */
static int finish_lock(struct loader *l, const struct iot_rec_lock *r)
{
	l->op->found = r->found;
	if (r->flags & IOT_LOCK_wait && r->result && !iot_is_wait_in_vain(r->flags, r->result))
		return 1;
	l->graph->tasks[l->task].has_locks |= graph_is_process_lock(r->flags);
	return 0;
}

static int finish_readdir(struct loader *l)
{
	l->op->path = graph_text(l->graph, iot_names_of_record(l->names, l->record).path);
	return l->op->path ? 0 : -ENOMEM;
}

static u32 tgid_of(const struct loader *l)
{
	return l->graph->tasks[l->task].tgid;
}

/* Return: 1 if the mapping is a child's, whose operation it becomes when the child is known. */
static int finish_map(struct loader *l, const struct iot_rec_map *r)
{
	struct inherited_map *inherited = l->inherited;
	size_t room = l->inherited_room ? 2 * l->inherited_room : 64;

	l->op->flags &= ~(u32)IOT_MAP_inherited;
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
 * load_inherited() - make copies of the parent's mappings the first operations of the child, after
 * its wait for the fork
 * @l: the loader
 * @parent, @child: indices of the tasks
 *
 * They are created when the child begins, like those of load_mapped_before(): then all of them are
 * in the order of the trace.
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

/* The kernel writes back only shared mappings. */
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

static int finish_submit(struct loader *l, const struct iot_rec_submit *r)
{
	l->op->other = r->request;
	l->op->old_size_bytes = r->old_size_bytes;
	l->op->memory = (u32)(r->memory ^ r->memory >> 32);
	return 0;
}

/* Kinds by a name. */
static int finish_named(struct loader *l)
{
	const struct iot_record *r = l->record;

	switch (r->kind) {
	case IOT_KIND_lookup:
		return finish_lookup(l, &r->lookup);
	case IOT_KIND_open:
		return finish_open(l, &r->open);
	case IOT_KIND_stat:
		l->op->old_size_bytes = r->stat.size_bytes;
		return 0;
	case IOT_KIND_setattr:
		l->op->old_size_bytes = r->setattr.old_size_bytes;
		return 0;
	case IOT_KIND_rename:
		l->op->other = r->rename.replaced;
		return 0;
	case IOT_KIND_denied:
		return finish_denied(l, &r->denied);
	case IOT_KIND_statfs:
		return finish_statfs(l, &r->statfs);
	case IOT_KIND_setxattr:
		return finish_setxattr(l, &r->setxattr);
	case IOT_KIND_setfileattr:
		l->graph->has_fileattrs = true;
		return 0;
	default:
		return 0;
	}
}

/* Kinds by a handle. */
static int finish_opened(struct loader *l)
{
	const struct iot_record *r = l->record;

	switch (r->kind) {
	case IOT_KIND_release:
		live_released(&l->live, r->release.handle);
		return 0;
	case IOT_KIND_write:
		l->op->old_size_bytes = r->write.old_size_bytes;
		return 0;
	case IOT_KIND_readdir:
		return finish_readdir(l);
	case IOT_KIND_fallocate:
		l->op->old_size_bytes = r->fallocate.old_size_bytes;
		return 0;
	case IOT_KIND_ioctl:
		return (r->ioctl.request & ~0xffu) != IOT_PROGRAM_IOCTLS;
	case IOT_KIND_lock:
		return finish_lock(l, &r->lock);
	case IOT_KIND_copy_range:
		l->op->old_size_bytes = r->copy_range.old_size_bytes;
		return 0;
	case IOT_KIND_remap_range:
		l->op->old_size_bytes = r->remap_range.old_size_bytes;
		return 0;
	default:
		return 0;
	}
}

/* Kinds by a mapping, and requests. */
static int finish_mapped(struct loader *l)
{
	const struct iot_record *r = l->record;

	switch (r->kind) {
	case IOT_KIND_map:
		return finish_map(l, &r->map);
	case IOT_KIND_unmap:
		return live_unmapped(&l->live, tgid_of(l), &r->unmap, l->op);
	case IOT_KIND_touch:
		return live_touched(&l->live, tgid_of(l), l->op->enter_ns, &r->touch, &l->op->map);
	case IOT_KIND_msync:
		l->op->map = asked_map(l, r->msync.handle, (u64)r->msync.offset_bytes, true);
		return 0;
	case IOT_KIND_madvise:
		l->op->map = asked_map(l, r->madvise.handle, (u64)r->madvise.offset_bytes, false);
		return 0;
	case IOT_KIND_submit:
		return finish_submit(l, &r->submit);
	default:
		return 0;
	}
}

/**
 * load_fields() - take the arguments of an operation from its record
 * @l: with the record, and an operation whose common members are set
 *
 * Return: 0; 1 if the record cannot be expressed; -ENOMEM.
 */
int load_fields(struct loader *l)
{
	int err = load_operands(l);

	if (err)
		return err;
	if (l->record->kind >= IOT_KIND_map)
		return finish_mapped(l);
	return l->record->kind >= IOT_KIND_flush ? finish_opened(l) : finish_named(l);
}
