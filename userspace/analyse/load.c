// SPDX-License-Identifier: GPL-2.0-only
/*
 * load.c - records become operations of a graph.
 *
 * What an operation needs to be performed is taken from its record; what it refers to by
 * id is resolved to paths while the names of that moment are known.
 */
#include "load.h"

#include <stdlib.h>
#include <uthash.h>

#include "implied.h"
#include "live.h"

#define PROGRESS_RECORDS 65536

/* A mapping that a fork copied, before it is known for which child. */
struct inherited_map {
	u32 task;
	struct graph_op op;
};

struct loader {
	struct graph *graph;
	struct tree *tree;
	load_progress_fn progress;
	u64 count; /* of records */
	struct iot_names *names;
	struct live live;
	struct inherited_map *inherited;
	size_t inherited_count;
	u32 task; /* index of the record's */
	const struct iot_record *record;
	struct graph_op *op;
};

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
	if (r->handle && live_opened(&l->live, r->object, r->handle))
		return -ENOMEM;
	return set_path(l, r->name, &l->op->path);
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

static void load_copy(struct loader *l, const struct iot_rec_copy_range *r, u32 flags)
{
	on_handle(l, r->object, r->handle);
	range(l, r->offset_bytes, r->length_bytes, flags);
	l->op->other = r->to_handle;
	l->op->extra = (u64)r->to_offset_bytes;
	l->op->old_size_bytes = r->old_size_bytes;
}

static u32 tgid_of(const struct loader *l)
{
	return l->graph->tasks[l->task].tgid;
}

static int file_of(struct loader *l, u64 object, u32 *number)
{
	return graph_file(l->graph, iot_names_identity(l->names, object), number);
}

/* Return: 1 if the mapping is a child's, whose operation it becomes when the child is known. */
static int load_map(struct loader *l, const struct iot_rec_map *r)
{
	struct inherited_map *inherited;

	on_handle(l, r->object, r->handle);
	range(l, r->offset_bytes, r->length_bytes, r->flags & ~(u32)IOT_MAP_inherited);
	l->op->other = r->map;
	l->op->mode = r->prot;
	if (!(r->flags & IOT_MAP_inherited))
		return r->result ? 0 : live_mapped(&l->live, tgid_of(l), l->op);
	inherited = reallocarray(l->inherited, l->inherited_count + 1, sizeof(*inherited));
	if (!inherited)
		return -ENOMEM;
	l->inherited = inherited;
	if (file_of(l, r->object, &l->op->file))
		return -ENOMEM;
	inherited[l->inherited_count++] = (struct inherited_map){ l->task, *l->op };
	return 1;
}

/* The fork is complete: the copies of the parent's mappings are the child's first operations. */
static int load_inherited(struct loader *l, u32 parent, u32 child, u64 time_ns)
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
		op->enter_ns = time_ns;
		op->end_ns = time_ns;
		op->number = 0;
		if (live_mapped(&l->live, l->graph->tasks[child].tgid, op))
			return -ENOMEM;
	}
	l->inherited_count = kept;
	return 0;
}

static void on_map(struct loader *l, u64 object, u64 map)
{
	l->op->object = object;
	l->op->other = map;
}

/* Return: 0; 1 if the record cannot be expressed; -ENOMEM. */
static int load_named(struct loader *l)
{
	const struct iot_record *r = l->record;

	switch (r->kind) {
	case IOT_KIND_lookup:
		return load_lookup(l, &r->lookup);
	case IOT_KIND_open:
		return load_open(l, &r->open);
	case IOT_KIND_stat:
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
		return load_xattr(l, r->setxattr.name, r->setxattr.object,
				  r->setxattr.length_bytes, r->setxattr.flags);
	case IOT_KIND_removexattr:
		return load_xattr(l, r->removexattr.name, r->removexattr.object, 0, 0);
	case IOT_KIND_listxattr:
		return load_xattr(l, r->listxattr.name, r->listxattr.object,
				  r->listxattr.length_bytes, 0);
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
		on_map(l, r->unmap.object, r->unmap.map);
		range(l, r->unmap.offset_bytes, r->unmap.length_bytes, 0);
		live_unmapped(&l->live, tgid_of(l), &r->unmap);
		return 0;
	case IOT_KIND_touch:
		on_map(l, r->touch.object, r->touch.map);
		range(l, r->touch.offset_bytes, r->touch.length_bytes, r->touch.flags);
		return 0;
	case IOT_KIND_msync:
		on_map(l, r->msync.object,
		       live_map(&l->live, tgid_of(l), r->msync.handle, (u64)r->msync.offset_bytes));
		range(l, r->msync.offset_bytes, 0, r->msync.flags);
		l->op->extra = (u64)r->msync.end_bytes;
		return 0;
	case IOT_KIND_madvise:
		on_map(l, r->madvise.object,
		       live_map(&l->live, tgid_of(l), r->madvise.handle, (u64)r->madvise.offset_bytes));
		range(l, r->madvise.offset_bytes, r->madvise.length_bytes, r->madvise.advice);
		return 0;
	case IOT_KIND_submit:
		on_handle(l, r->submit.object, r->submit.handle);
		range(l, r->submit.offset_bytes, r->submit.length_bytes, r->submit.flags);
		l->op->other = r->submit.request;
		l->op->old_size_bytes = r->submit.old_size_bytes;
		return 0;
	default:
		return 1;
	}
}

static int load_fields(struct loader *l)
{
	if (l->record->kind >= IOT_KIND_map)
		return load_mapped(l);
	return l->record->kind >= IOT_KIND_flush ? load_opened(l) : load_named(l);
}

/* -- what operations are on --------------------------------------------------------------- */

static int directory_of(struct loader *l, u64 name, u32 *number)
{
	return graph_file(l->graph, iot_names_directory(l->names, name), number);
}

/* Of what has two names or two objects. */
static int set_second(struct loader *l)
{
	const struct iot_record *r = l->record;
	int err;

	switch (r->kind) {
	case IOT_KIND_rename:
		err = file_of(l, r->rename.replaced, &l->op->file2);
		return err ? err : directory_of(l, r->rename.new_name, &l->op->dir2);
	case IOT_KIND_link:
		return directory_of(l, r->link.name, &l->op->dir2);
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range: /* its fields begin with those of copy_range */
		return file_of(l, r->copy_range.to_object, &l->op->file2);
	default:
		return 0;
	}
}

/* The first name of a record that has one. */
static u64 first_name(const struct iot_record *r)
{
	switch (r->kind) {
	case IOT_KIND_rename:
		return r->rename.name;
	case IOT_KIND_link:
		return r->link.old_name;
	case IOT_KIND_denied:
	case IOT_KIND_statfs:
		return 0;
	default:
		return r->kind < IOT_KIND_flush ? r->stat.name : 0; /* all begin with it */
	}
}

static int set_files(struct loader *l)
{
	int err = file_of(l, l->op->object, &l->op->file);

	if (!err && l->op->path)
		err = directory_of(l, first_name(l->record), &l->op->dir);
	return err ? err : set_second(l);
}

/* What the kernel asked before, it will in the replay, too. */
static void drop_question(struct loader *l, u32 task)
{
	struct graph_task *t = &l->graph->tasks[task];
	const struct iot_rec_setattr *r = &l->record->setattr;
	const struct graph_op *last = t->op_count ? &t->ops[t->op_count - 1] : NULL;

	if (has_question(l->record) && last && is_question(last->kind, last->path2) &&
	    last->number + 1 == r->op && last->object == r->object)
		t->op_count--;
}

static int load_op(struct loader *l)
{
	const struct iot_rec_op *r = &l->record->op;
	u32 task;
	int err = graph_task_make(l->graph, r->task, &task);

	if (err)
		return err;
	l->task = task;
	l->graph->operations++;
	if (l->record->kind == IOT_KIND_read && r->result > 0)
		l->graph->read_bytes += (u64)r->result;
	if (l->record->kind == IOT_KIND_write && r->result > 0)
		l->graph->write_bytes += (u64)r->result;
	drop_question(l, task);
	if (is_implied(l->record))
		return 0;
	l->op = graph_op_add(l->graph, task);
	if (!l->op)
		return -ENOMEM;
	l->op->kind = l->record->kind;
	l->op->enter_ns = r->enter_ns;
	l->op->end_ns = r->enter_ns + r->duration_ns;
	l->op->runtime_ns = r->runtime_ns;
	l->op->oncpu_ns = r->oncpu_ns;
	l->op->number = r->op;
	l->op->result = r->result;
	err = load_fields(l);
	if (!err)
		err = set_files(l);
	if (err > 0) {
		l->graph->tasks[task].op_count--;
		if (l->record->kind != IOT_KIND_map)
			l->graph->dropped[l->record->kind]++;
		err = 0;
	}
	return err;
}

/* -- tasks and their lives ---------------------------------------------------------------- */

static int load_task(struct loader *l, const struct iot_rec_task *r)
{
	struct graph_task *task;
	u32 index;
	int err = graph_task_make(l->graph, r->task, &index);

	if (err)
		return err;
	task = &l->graph->tasks[index];
	if (task->command)
		return 0; /* announced twice */
	task->tgid = r->tgid;
	task->parent = r->parent < r->task ? r->parent : 0; /* or the record lies: no circles */
	task->why = r->why;
	task->begin_ns = r->time_ns;
	task->command = strndup((const char *)l->record->tail, l->record->tail_bytes);
	return task->command ? 0 : -ENOMEM;
}

/* An event has a place in its task's order, but does nothing. */
static int load_event(struct loader *l, u64 time_ns, u32 id, u32 number, u32 event)
{
	struct graph_op *op;
	u32 task;
	int err = graph_task_make(l->graph, id, &task);

	if (err)
		return err;
	op = graph_op_add(l->graph, task);
	if (!op)
		return -ENOMEM;
	op->kind = l->record->kind;
	op->enter_ns = time_ns;
	op->end_ns = time_ns;
	op->number = number;
	op->event = event;
	return 0;
}

static int load_leave(struct loader *l, u32 task, u64 time_ns, enum graph_leave why, u32 event)
{
	struct graph_op *op = graph_op_add(l->graph, task);

	if (!op)
		return -ENOMEM;
	op->kind = IOT_PLAY_leave;
	op->flags = why;
	op->enter_ns = time_ns;
	op->end_ns = time_ns;
	op->event = event;
	return 0;
}

/* A task begins by waiting for what made it. */
static int load_begin(struct loader *l, u32 task, u64 time_ns)
{
	return load_leave(l, task, time_ns, LEAVE_MADE, 0);
}

static int load_fork(struct loader *l, const struct iot_rec_fork *r)
{
	u32 parent, child;
	int err = load_event(l, r->time_ns, r->task, r->op, r->child);

	if (!err)
		err = graph_task_make(l->graph, r->task, &parent);
	if (!err)
		err = graph_task_make(l->graph, r->child, &child);
	if (!err)
		err = load_begin(l, child, r->time_ns);
	return err ? err : load_inherited(l, parent, child, r->time_ns);
}

static int load_exec(struct loader *l, const struct iot_rec_exec *r)
{
	u32 from, into;
	int err = load_event(l, r->time_ns, r->task, r->op, r->into);

	if (!err)
		err = graph_task_make(l->graph, r->task, &from);
	if (!err)
		err = graph_task_make(l->graph, r->into, &into);
	if (err)
		return err;
	if (r->into > r->task) /* or the record lies: no circles */
		l->graph->tasks[from].exec_into = r->into;
	return load_begin(l, into, r->time_ns);
}

/* The task that made this one, as it is now; GRAPH_NONE if it is not known. */
static u32 maker_of(const struct loader *l, u32 task)
{
	const struct graph_task *tasks = l->graph->tasks;

	while (task != GRAPH_NONE && tasks[task].why == IOT_REASON_exec)
		task = graph_task_find(l->graph, tasks[task].parent);
	if (task == GRAPH_NONE || tasks[task].why != IOT_REASON_fork)
		return GRAPH_NONE;
	task = graph_task_find(l->graph, tasks[task].parent);
	while (task != GRAPH_NONE && tasks[task].exec_into)
		task = graph_task_find(l->graph, tasks[task].exec_into);
	return task;
}

/* Perhaps its maker waits for that; life.c decides. */
static int load_exit(struct loader *l, const struct iot_rec_exit *r)
{
	int err = load_event(l, r->time_ns, r->task, r->op, 0);
	u32 maker = maker_of(l, graph_task_find(l->graph, r->task));

	if (err || maker == GRAPH_NONE)
		return err;
	return load_leave(l, maker, r->time_ns, LEAVE_ENDED, r->task);
}

/* Perhaps who submitted it waits for that; life.c decides. */
static int load_complete(struct loader *l, const struct iot_rec_complete *r)
{
	const struct graph_request request = {
		.id = r->request,
		.end_ns = r->time_ns,
		.result = r->result,
		.lane = GRAPH_NONE,
	};
	u32 task;
	int err = graph_task_make(l->graph, r->task, &task);

	if (!err)
		err = load_leave(l, task, r->time_ns, LEAVE_DONE, l->graph->request_count);
	return err ? err : graph_request_add(l->graph, &request);
}

/* -- MPI ------------------------------------------------------------------------------------- */

static int mpi_half(struct loader *l, u32 task, u64 time_ns, u16 kind, u32 number)
{
	struct graph_op *op = graph_op_add(l->graph, task);

	if (!op)
		return -ENOMEM;
	op->kind = kind;
	op->enter_ns = time_ns;
	op->end_ns = time_ns;
	op->number = number;
	op->event = l->graph->mpi_count; /* + 1: 0 is none */
	return 0;
}

static void mpi_fields(struct graph_mpi *mpi, const struct iot_record *r)
{
	switch (r->kind) {
	case IOT_KIND_mpi_send:
	case IOT_KIND_mpi_recv: /* the same fields */
		mpi->call = r->mpi_send.call;
		mpi->comm = r->mpi_send.comm;
		mpi->peer = r->mpi_send.peer;
		mpi->tag = r->mpi_send.tag;
		mpi->length_bytes = r->mpi_send.length_bytes;
		mpi->request = r->mpi_send.request;
		break;
	case IOT_KIND_mpi_done:
		mpi->call = r->mpi_done.call;
		mpi->request = r->mpi_done.request;
		mpi->peer = r->mpi_done.peer;
		mpi->tag = r->mpi_done.tag;
		mpi->length_bytes = r->mpi_done.length_bytes;
		break;
	case IOT_KIND_mpi_file: /* on a file as on a communicator */
		mpi->kind = IOT_KIND_mpi_coll;
		mpi->call = r->mpi_file.call;
		mpi->comm = r->mpi_file.file;
		mpi->number = r->mpi_file.number;
		mpi->root = -1;
		mpi->request = r->mpi_file.request;
		break;
	default:
		mpi->call = r->mpi_coll.call;
		mpi->comm = r->mpi_coll.comm;
		mpi->number = r->mpi_coll.number;
		mpi->root = r->mpi_coll.root;
		mpi->request = r->mpi_coll.request;
	}
}

static int load_comm(struct loader *l, const struct iot_rec_mpi_comm *r)
{
	u32 task = graph_task_find(l->graph, r->task);
	struct graph_rank rank = {
		.comm = r->comm,
		.rank = r->rank,
		.size = r->size,
		.tgid = task == GRAPH_NONE ? 0 : l->graph->tasks[task].tgid,
	};

	return graph_rank_add(l->graph, &rank);
}

static int load_mpi(struct loader *l)
{
	const struct iot_rec_op *r = &l->record->op;
	struct graph_mpi *mpi;
	u32 task;
	int err;

	if (l->record->kind == IOT_KIND_mpi_comm)
		return load_comm(l, &l->record->mpi_comm);
	if (l->record->kind == IOT_KIND_mpi_file && !l->record->mpi_file.number)
		return 0; /* nobody waits for it */
	err = graph_task_make(l->graph, r->task, &task);
	mpi = err ? NULL : graph_mpi_add(l->graph);
	if (!mpi)
		return -ENOMEM;
	mpi->kind = l->record->kind;
	mpi->task = task;
	mpi->enter_ns = r->enter_ns;
	mpi->end_ns = r->enter_ns + r->duration_ns;
	mpi_fields(mpi, l->record);
	err = mpi_half(l, task, mpi->enter_ns, IOT_PLAY_arrive, r->op);
	return err ? err : mpi_half(l, task, mpi->end_ns, IOT_PLAY_leave, r->op);
}

/* -- the trace ----------------------------------------------------------------------------------- */

static int load_record(struct loader *l)
{
	const struct iot_record *r = l->record;
	const struct iot_kind_info *info = iot_kind_info(r->kind);

	switch (r->kind) {
	case IOT_KIND_task:
		return load_task(l, &r->task);
	case IOT_KIND_object:
		return graph_object_add(l->graph, r->object.object, r->object.type,
					iot_names_object(l->names, r->object.object).path);
	case IOT_KIND_fact:
		return graph_fact_add(l->graph, r->tail, r->tail_bytes);
	case IOT_KIND_fork:
		return load_fork(l, &r->fork);
	case IOT_KIND_exec:
		return load_exec(l, &r->exec);
	case IOT_KIND_exit:
		return load_exit(l, &r->exit);
	case IOT_KIND_complete:
		return load_complete(l, &r->complete);
	}
	if (info->group == IOT_GROUP_op)
		return load_op(l);
	if (info->group == IOT_GROUP_mpi)
		return load_mpi(l);
	return 0;
}

static int load_next(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct loader *l = context;
	struct graph *graph = l->graph;
	int err;

	l->names = names;
	l->record = record;
	graph->end_ns = iot_record_end_ns(record);
	if (!graph->begin_ns)
		graph->begin_ns = graph->end_ns;
	err = tree_observe(l->tree, record);
	if (!err)
		err = load_record(l);
	if (l->progress && ++l->count % PROGRESS_RECORDS == 0)
		l->progress(l->count);
	return err;
}

/**
 * load_trace() - read a trace into a graph
 * @path: of the trace
 * @graph: empty
 * @tree: empty; learns what was there before
 * @progress: called now and then, may be NULL
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int load_trace(const char *path, struct graph *graph, struct tree *tree, load_progress_fn progress,
	       struct iot_reject *reject)
{
	struct loader l = { .graph = graph, .tree = tree, .progress = progress };
	int err = iot_trace_walk(path, load_next, &l, &graph->info, reject);

	graph_sort(graph);
	live_close(&l.live);
	free(l.inherited);
	return err;
}
