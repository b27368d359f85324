// SPDX-License-Identifier: GPL-2.0-only
/*
 * compile_ops.c - an operation of the graph as one of a program: slots, texts, numbers, waits.
 */
#include "compiler.h"
#include "core/replay/operation.h"
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

/* The slot that an operation of this kind creates; a mapping has one only if its handle has one. */
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
 * Handles and mappings have slots before the operations that use them, in whatever task. The
 * result of an operation that is not expressed has no slot, so its users are not expressed either.
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

/* Zeros are not a valid value of such an attribute. */
static bool has_meaning(const char *xattr)
{
	return !strncmp(xattr, "system.", 7) || !strncmp(xattr, "security.", 9);
}

/* Calls that the system refuses before the file system is called are not part of a program. */
static bool is_text(const char *text, size_t most_bytes)
{
	return text && text[0] && strlen(text) <= most_bytes;
}

/* A path, or a handle in its place. */
static int put_place(struct compiler *c, struct iot_program_op *op)
{
	if (c->op->path)
		return iot_builder_text(c->builder, c->op->path, &op->path);
	return handle_slot(c, c->op->handle, false, &op->handle);
}

static int put_text(struct compiler *c, const char *text, __le32 *at)
{
	return text ? iot_builder_text(c->builder, text, at) : 0;
}

/* The value, if there is one, stands behind the name. */
static int put_value(struct compiler *c, struct iot_program_op *op)
{
	const char *name = c->op->xattr;

	op->has_value = cpu_to_le64(c->op->has_value);
	return c->op->has_value ? iot_builder_bytes(c->builder, name, strlen(name) + 1 + c->op->length_bytes,
						    &op->xattr) : 0;
}

/* Of a lock that an open file description owns, and of a process without locks, none. */
static int put_owner(struct compiler *c, struct iot_program_op *op)
{
	if (c->op->kind != IOT_KIND_lock || graph_is_process_lock(c->op->flags))
		op->owner = cpu_to_le32(owner_of(c));
	return 0;
}

static int put_queue(struct compiler *c, struct iot_program_op *op)
{
	op->queue = cpu_to_le32(c->program_task[c->op->event] + 1);
	return 0;
}

/* Can an operand be expressed? For each use of IOT_OPERAND_USES that may not be. */
#define CAN_path(from)	   is_known((from)->path)
#define CAN_place(from)	   (!(from)->path || is_known((from)->path))
#define CAN_new_path(from) is_known((from)->new_path)
#define CAN_target(from)   is_text((from)->target, IOT_PROGRAM_TARGET_MAX - 1)
#define CAN_xattr(from)	   is_text((from)->xattr, IOT_PROGRAM_NAME_MAX)
#define CAN_value(from)	   ((from)->has_value || !has_meaning((from)->xattr))
#define CAN_queue(from)	   ((from)->event != GRAPH_NONE)

#define CAN_object(from)       true
#define CAN_place_handle(from) true
#define CAN_handle(from)       true
#define CAN_new_handle(from)   true
#define CAN_to_handle(from)    true
#define CAN_map(from)	       true
#define CAN_new_map(from)      true
#define CAN_latch(from)	       true
#define CAN_owner(from)	       true
#define CAN_bits(from)	       true
#define CAN_mask(from)	       true
#define CAN_request(from)      true
#define CAN_yes_no(from)       true
#define CAN_position(from)     true
#define CAN_transfer(from)     true
#define CAN_range_end(from)    true
#define CAN_page(from)	       true
#define CAN_small(from)	       true
#define CAN_new_mode(from)     true
#define CAN_rdev(from)	       true
#define CAN_u32(from)	       true
#define CAN_u64(from)	       true
#define CAN_s64(from)	       true

/* The member of a program's operation from that of the graph's. */
#define PUT_32(member)		 (op->member = cpu_to_le32((u32)from->member), 0)
#define PUT_64(member)		 (op->member = cpu_to_le64(from->member), 0)
#define PUT_object(member)	 0 /* when all others can be expressed */
#define PUT_path(member)	 put_text(c, from->member, &op->member)
#define PUT_place(member)	 put_place(c, op)
#define PUT_place_handle(member) 0 /* part of the place */
#define PUT_new_path(member)	 put_text(c, from->member, &op->member)
#define PUT_target(member)	 put_text(c, from->member, &op->member)
#define PUT_xattr(member)	 put_text(c, from->member, &op->member)
#define PUT_value(member)	 put_value(c, op)
#define PUT_handle(member)	 handle_slot(c, from->member, false, &op->member)
#define PUT_new_handle(member)	 handle_slot(c, from->member, true, &op->member)
#define PUT_to_handle(member)	 handle_slot(c, from->member, false, &op->member)
#define PUT_map(member)		 map_slot(c, false, &op->member)
#define PUT_new_map(member)	 map_slot(c, true, &op->member)
#define PUT_queue(member)	 put_queue(c, op)
#define PUT_latch(member)	 PUT_32(member)
#define PUT_owner(member)	 put_owner(c, op)
#define PUT_bits(member)	 PUT_32(member)
#define PUT_mask(member)	 PUT_32(member)
#define PUT_request(member)	 PUT_32(member)
#define PUT_yes_no(member)	 PUT_32(member)
#define PUT_new_mode(member)	 PUT_32(member)
#define PUT_u32(member)		 PUT_32(member)
#define PUT_position(member)	 PUT_64(member)
#define PUT_transfer(member)	 PUT_64(member)
#define PUT_range_end(member)	 PUT_64(member)
#define PUT_page(member)	 PUT_64(member)
#define PUT_small(member)	 PUT_64(member)
#define PUT_rdev(member)	 PUT_64(member)
#define PUT_u64(member)		 PUT_64(member)
#define PUT_s64(member)		 PUT_64(member)

#define CAN_OPERAND(k, use, ...) && CAN_##use(from)
#define CAN_KIND(k)	  (true IOT_OPERANDS_##k(CAN_OPERAND, CAN_OPERAND, IOT_OPERAND_SKIP, k))
#define PUT_OPERAND(k, use, member, ...) err = err ?: PUT_##use(member);
#define PUT_KIND(number, k)                                                            \
	case number:                                                                   \
		err = !CAN_KIND(k);                                                    \
		IOT_OPERANDS_##k(PUT_OPERAND, PUT_OPERAND, IOT_OPERAND_SKIP, k)        \
		break;
#define PUT_RECORDED(k, ...) PUT_KIND(IOT_KIND_##k, k)
#define PUT_UNRECORDED(number, k, sentence) PUT_KIND(number, k)

/* Return: 0; 1 if the operation cannot be expressed; a negative errno. */
static int put_operands(struct compiler *c, struct iot_program_op *op)
{
	const struct graph_op *from = c->op;
	int err = 1;

	switch (from->kind) {
		IOT_OPERATIONS(PUT_RECORDED)
		IOT_SYNC_OPERATIONS(PUT_UNRECORDED)
	}
	return err;
}

/* The rest of an operation that cannot be expressed: its place and its think time. */
static void make_nop(struct iot_program_op *op)
{
	*op = (struct iot_program_op){
		.kind = cpu_to_le16(IOT_PLAY_nop),
		.compute_ns = op->compute_ns,
		.pause_ns = op->pause_ns,
		.origin_op = op->origin_op,
	};
}

/* As iot_record_moved_bytes() has it; of a request, the bytes at its completion. */
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

/* The wake-up that ends a wait before its timer does. Return: false if it is not part of the program. */
static bool has_waker(const struct compiler *c, const struct graph_op *op)
{
	const struct graph_wake *wake = &c->graph->wakes[op->event];

	return wake->nop != GRAPH_NONE && c->program_task[wake->task] != GRAPH_NONE;
}

static u16 play_kind(const struct compiler *c)
{
	if (!graph_is_timed(c->op))
		return c->op->kind;
	return has_waker(c, c->op) ? IOT_PLAY_timed : IOT_PLAY_nop;
}

/* Tasks that compute on CPUs wait for them in a replay, too. */
static u64 pause_ns(const struct compiler *c)
{
	return c->op->pause_ns - (c->summary->computes ? c->op->cpu_wait_ns : 0);
}

static int make_op(struct compiler *c, struct iot_program_op *op)
{
	int err;

	op->kind = cpu_to_le16(play_kind(c));
	op->origin_op = cpu_to_le32(c->op->number);
	op->compute_ns = cpu_to_le64(c->op->compute_ns);
	op->pause_ns = cpu_to_le64(pause_ns(c));
	if (is_event(c->op->kind)) {
		make_nop(op);
		return 0;
	}
	err = put_operands(c, op);
	if (c->op->kind >= IOT_PLAY_signal)
		return err;
	op->result = cpu_to_le64((u64)c->op->result);
	if (!err)
		err = object_slot(c, c->op->object, &op->object);
	if (err > 0) {
		/* the end of a request goes with its submission, which is counted */
		c->summary->dropped[c->op->kind] += c->op->kind != IOT_KIND_complete;
		c->summary->dropped_bytes += moved_bytes(c->op);
		make_nop(op);
		err = 0;
	}
	return err;
}

/* -- waits ----------------------------------------------------------------------------------- */

/* Return: number of waits written, or a negative errno. */
static int put_timed(struct compiler *c)
{
	const struct graph_wake *wake = &c->graph->wakes[c->op->event];
	struct iot_program_wait wait = {
		.task = cpu_to_le32(c->program_task[wake->task]),
		.index = cpu_to_le32(wake->nop),
	};

	if (!has_waker(c, c->op))
		return 0;
	return iot_builder_add(c->builder, IOT_SECTION_WAITS, &wait) < 0 ? -ENOMEM : 1;
}

/* Return: number of waits written, or a negative errno. */
static int put_waits(struct compiler *c)
{
	const struct graph_edge *edge;
	u32 e, count = 0;

	if (graph_is_timed(c->op))
		return put_timed(c);
	for (e = c->op->edges; e != GRAPH_NONE; e = edge->next) {
		struct iot_program_wait wait;

		edge = &c->graph->edges[e];
		wait.task = cpu_to_le32(edge->task == GRAPH_NONE ? IOT_WAIT_LATCH :
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
 * compiler_put_op() - write an operation and its waits
 * @c: @op is the one, of @task
 * @first_wait: in and out: number of waits of the task before it
 *
 * An operation that cannot be expressed becomes a nop, and is counted.
 *
 * Return: 0 or a negative errno.
 */
int compiler_put_op(struct compiler *c, u32 *first_wait)
{
	struct iot_program_op op = {};
	int err = make_op(c, &op), waits;
	s64 added;

	if (err)
		return err;
	waits = put_waits(c);
	if (waits < 0)
		return waits;
	op.first_wait = cpu_to_le32(*first_wait);
	op.wait_count = cpu_to_le16((u16)waits);
	*first_wait += (u32)waits;
	added = iot_builder_add(c->builder, IOT_SECTION_OPS, &op);
	return added < 0 ? (int)added : 0;
}
