// SPDX-License-Identifier: GPL-2.0-only
/*
 * compile_ops.c - an operation of the graph as one of a program: slots, texts, numbers, waits.
 */
#include "compiler.h"
#include "initial.h"

/* -- slots ------------------------------------------------------------------------------- */

static int object_slot(struct compiler *c, u64 id, __le32 *slot)
{
	struct iot_program_object object = { .origin = cpu_to_le64(id) };
	const char *path;
	u32 number;
	int made;

	*slot = 0;
	if (!id)
		return 0;
	made = slots_make(c->objects, id, &number);
	if (made < 0)
		return made;
	*slot = cpu_to_le32(number);
	if (!made)
		return 0;
	object.type = cpu_to_le32(graph_object_type(c->graph, id, &path));
	made = iot_builder_text(c->builder, path, &object.path);
	if (!made && iot_builder_add(c->builder, IOT_SECTION_OBJECTS, &object) < 0)
		made = -ENOMEM;
	return made;
}

/* The slot of a handle; an open makes it. Return: 1 if there is none. */
static int handle_slot(struct compiler *c, u64 id, bool is_open, __le32 *slot)
{
	u32 number = 0;
	int err = 0;

	if (is_open && id)
		err = slots_make(c->handles, id, &number);
	else
		number = slots_find(c->handles, id);
	*slot = cpu_to_le32(number);
	return err < 0 ? err : !number && !is_open;
}

/* The slot of a mapping, or of a piece of one; a map makes it. Return: 1 if there is none. */
static int map_slot(struct compiler *c, bool is_map, __le32 *slot)
{
	u32 number = 0;
	int err = 0;

	if (is_map)
		err = slots_make(c->maps, c->op->other, &number);
	else
		number = slots_find(c->maps, c->op->other);
	*slot = cpu_to_le32(number);
	return err < 0 ? err : !number;
}

/* Of locks that the task's process takes, and gives up when it closes the file; 0 if it takes none. */
static u32 owner_of(const struct compiler *c)
{
	return slots_find(c->owners, c->task->tgid);
}

/* Of what an operation makes, if it is of this kind: a mapping only of a handle that has a slot. */
static int make_slot(struct compiler *c, u16 kind)
{
	__le32 slot;

	if (c->op->kind != kind || c->op->result < 0)
		return 0;
	if (kind == IOT_KIND_open)
		return handle_slot(c, c->op->handle, true, &slot);
	return slots_find(c->handles, c->op->handle) ? map_slot(c, true, &slot) : 0;
}

static int make_slots(struct compiler *c, u16 kind)
{
	u32 i, j;
	int err = 0;

	for (i = 0; i < c->graph->task_count && err >= 0; i++) {
		c->task = &c->graph->tasks[i];
		for (j = 0; j < c->task->op_count && err >= 0; j++) {
			c->op = &c->task->ops[j];
			err = make_slot(c, kind);
		}
	}
	return err < 0 ? err : 0;
}

static int make_owners(struct compiler *c)
{
	u32 i, owner;
	int err = 0;

	for (i = 0; i < c->graph->task_count && err >= 0; i++)
		if (c->graph->tasks[i].has_locks)
			err = slots_make(c->owners, c->graph->tasks[i].tgid, &owner);
	return err < 0 ? err : 0;
}

/**
 * compiler_make_slots() - slots of handles, mappings and owners of locks
 * @c: with the graph
 *
 * Handles and mappings have slots before the operations that use them, in whatever task. What an
 * operation that is not expressed would make has none, so what uses that is not expressed either.
 *
 * Return: 0 or a negative errno.
 */
int compiler_make_slots(struct compiler *c)
{
	int err = make_slots(c, IOT_KIND_open);

	if (!err)
		err = make_slots(c, IOT_KIND_map);
	return err ? err : make_owners(c);
}

/* -- operations --------------------------------------------------------------------------- */

/* Zeros would not do as the value of such an attribute. */
static bool has_meaning(const char *xattr)
{
	return !strncmp(xattr, "system.", 7) || !strncmp(xattr, "security.", 9);
}

/* What system calls refuse before the file system is asked has no place in a program. */
static bool is_text(const char *text, size_t most_bytes)
{
	return text && text[0] && strlen(text) <= most_bytes;
}

static bool has_path2(const struct graph_op *op)
{
	switch (op->kind) {
	case IOT_KIND_rename:
	case IOT_KIND_link:
		return is_known(op->path2);
	case IOT_KIND_symlink:
		return is_text(op->path2, IOT_PROGRAM_TARGET_MAX - 1);
	case IOT_KIND_getxattr:
	case IOT_KIND_setxattr:
	case IOT_KIND_removexattr:
		return is_text(op->path2, IOT_PROGRAM_NAME_MAX);
	default:
		return true;
	}
}

static int put_paths(struct compiler *c, struct iot_program_op *op)
{
	int err;

	if (!is_known(c->op->path) || !has_path2(c->op))
		return 1;
	err = iot_builder_text(c->builder, c->op->path, &op->path);
	if (!err && c->op->path2)
		err = iot_builder_text(c->builder, c->op->path2, &op->path2);
	return err;
}

/* By path if there is one, else through a handle. */
static int put_place(struct compiler *c, struct iot_program_op *op)
{
	int err;

	if (c->op->path)
		return put_paths(c, op);
	if (!has_path2(c->op))
		return 1;
	err = handle_slot(c, c->op->handle, false, &op->handle);
	if (!err && c->op->path2)
		err = iot_builder_text(c->builder, c->op->path2, &op->path2);
	return err;
}

/* Its value, if there is one, stands behind the name. */
static int put_attribute(struct compiler *c, struct iot_program_op *op)
{
	const char *name = c->op->path2;
	int err;

	if (name && !c->op->extra && has_meaning(name))
		return 1;
	err = put_place(c, op);
	if (!err && c->op->extra)
		err = iot_builder_bytes(c->builder, name, strlen(name) + 1 + c->op->length_bytes,
					&op->path2);
	return err;
}

/* Return: 0; 1 if the operation cannot be expressed; a negative errno. */
static int put_operands(struct compiler *c, struct iot_program_op *op)
{
	int err;

	switch (c->op->kind) {
	case IOT_KIND_open:
		err = put_paths(c, op);
		return err ? err : handle_slot(c, c->op->handle, true, &op->handle);
	case IOT_KIND_setxattr:
		return put_attribute(c, op);
	case IOT_KIND_stat:
	case IOT_KIND_setattr:
	case IOT_KIND_getxattr:
	case IOT_KIND_removexattr:
	case IOT_KIND_listxattr:
	case IOT_KIND_getfileattr:
	case IOT_KIND_setfileattr:
	case IOT_KIND_link:
	case IOT_KIND_denied:
		return put_place(c, op);
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		err = handle_slot(c, c->op->handle, false, &op->handle);
		return err ? err : handle_slot(c, c->op->other, false, &op->other);
	case IOT_KIND_map:
		err = handle_slot(c, c->op->handle, false, &op->handle);
		return err ? err : map_slot(c, true, &op->other);
	case IOT_KIND_submit:
		if (c->op->event == GRAPH_NONE)
			return 1;
		op->other = cpu_to_le32(c->program_task[c->op->event] + 1);
		op->extra = 0;
		return handle_slot(c, c->op->handle, false, &op->handle);
	case IOT_KIND_unmap:
	case IOT_KIND_touch:
	case IOT_KIND_msync:
	case IOT_KIND_madvise:
		return map_slot(c, false, &op->other);
	case IOT_KIND_flush:
		op->mode = cpu_to_le32(owner_of(c));
		return handle_slot(c, c->op->handle, false, &op->handle);
	case IOT_KIND_lock:
		if (graph_is_process_lock(c->op->flags))
			op->mode = cpu_to_le32(owner_of(c));
		return handle_slot(c, c->op->handle, false, &op->handle);
	case IOT_KIND_release:
	case IOT_KIND_read:
	case IOT_KIND_write:
	case IOT_KIND_seek:
	case IOT_KIND_fsync:
	case IOT_KIND_readdir:
	case IOT_KIND_fallocate:
	case IOT_KIND_fadvise:
	case IOT_KIND_ioctl:
	case IOT_KIND_complete:
		return handle_slot(c, c->op->handle, false, &op->handle);
	default:
		return put_paths(c, op);
	}
}

static void put_numbers(const struct graph_op *from, struct iot_program_op *op)
{
	op->flags = cpu_to_le32(from->flags);
	op->mode = cpu_to_le32(from->mode);
	op->uid = cpu_to_le32(from->uid);
	op->gid = cpu_to_le32(from->gid);
	op->offset_bytes = cpu_to_le64(from->offset_bytes);
	op->length_bytes = cpu_to_le64(from->length_bytes);
	op->extra = cpu_to_le64(from->extra);
	op->result = cpu_to_le64((u64)from->result);
}

/* What is left of an operation that cannot be expressed: its place, and its think time. */
static void make_pass(struct iot_program_op *op)
{
	*op = (struct iot_program_op){
		.kind = cpu_to_le16(IOT_PLAY_pass),
		.compute_ns = op->compute_ns,
		.pause_ns = op->pause_ns,
		.origin_op = op->origin_op,
	};
}

/* As iot_record_moved_bytes() has it; of a request, what it moved when it ended. */
static u64 moved_bytes(const struct graph_op *op)
{
	u64 result = op->result > 0 ? (u64)op->result : 0;

	switch (op->kind) {
	case IOT_KIND_read:
	case IOT_KIND_write:
		return result;
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		return 2 * result;
	case IOT_KIND_touch:
		return op->result < 0 ? 0 : op->length_bytes;
	case IOT_KIND_submit: /* else it has not ended in the trace */
		return op->event != GRAPH_NONE && (s64)op->extra > 0 ? op->extra : 0;
	default:
		return 0;
	}
}

static bool is_event(u16 kind)
{
	return kind == IOT_KIND_fork || kind == IOT_KIND_exec || kind == IOT_KIND_exit;
}

static int make_op(struct compiler *c, struct iot_program_op *op)
{
	int err;

	op->kind = cpu_to_le16(c->op->kind);
	op->origin_op = cpu_to_le32(c->op->number);
	op->compute_ns = cpu_to_le64(c->op->compute_ns);
	op->pause_ns = cpu_to_le64(c->op->pause_ns);
	if (is_event(c->op->kind)) {
		make_pass(op);
		return 0;
	}
	if (c->op->kind >= IOT_PLAY_arrive) {
		op->handle = cpu_to_le32((u32)c->op->handle); /* the hub */
		return 0;
	}
	put_numbers(c->op, op);
	err = put_operands(c, op);
	if (!err)
		err = object_slot(c, c->op->object, &op->object);
	if (err > 0) {
		/* the end of a request goes with its submission, which is counted */
		c->summary->dropped[c->op->kind] += c->op->kind != IOT_KIND_complete;
		c->summary->dropped_bytes += moved_bytes(c->op);
		make_pass(op);
		err = 0;
	}
	return err;
}

/* -- waits ----------------------------------------------------------------------------------- */

/* Return: number of waits written, or a negative errno. */
static int put_waits(struct compiler *c)
{
	const struct graph_edge *edge;
	u32 e, count = 0;

	for (e = c->op->edges; e != GRAPH_NONE; e = edge->next) {
		struct iot_program_wait wait;

		edge = &c->graph->edges[e];
		wait.task = cpu_to_le32(edge->task == GRAPH_NONE ? IOT_WAIT_HUB :
								   c->program_task[edge->task]);
		wait.index = cpu_to_le32(edge->index);
		if (edge->task != GRAPH_NONE && c->program_task[edge->task] == GRAPH_NONE)
			continue; /* a task that does nothing */
		if (iot_builder_add(c->builder, IOT_SECTION_WAITS, &wait) < 0)
			return -ENOMEM;
		count++;
	}
	return count > 0xffff ? -E2BIG : (int)count;
}

/**
 * compiler_put_op() - an operation and what it waits for
 * @c: @op is the one, of @task
 * @first_wait: in and out: number of waits of the task before it
 *
 * What cannot be expressed becomes a pass, and is counted.
 *
 * Return: 0 or a negative errno.
 */
int compiler_put_op(struct compiler *c, u32 *first_wait)
{
	struct iot_program_op op = {};
	int err = make_op(c, &op), waits;

	if (err)
		return err;
	waits = put_waits(c);
	if (waits < 0)
		return waits;
	op.first_wait = cpu_to_le32(*first_wait);
	op.wait_count = cpu_to_le16((u16)waits);
	*first_wait += (u32)waits;
	return iot_builder_add(c->builder, IOT_SECTION_OPS, &op) < 0 ? -ENOMEM : 0;
}
