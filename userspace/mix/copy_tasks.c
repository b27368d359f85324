// SPDX-License-Identifier: GPL-2.0-only
/*
 * copy_tasks.c - tasks, operations, waits and latches of a program, numbered as in the mix.
 */
#include "copy.h"
#include "core/replay/operation.h"

static __le32 move(__le32 slot, u64 base)
{
	return slot ? cpu_to_le32((u32)(le32_to_cpu(slot) + base)) : 0;
}

static __le64 scale(const struct copy *copy, __le64 think_ns)
{
	__extension__ unsigned __int128 scaled = (unsigned __int128)le64_to_cpu(think_ns) * copy->think_scale / MIX_SCALE_ONE;

	return cpu_to_le64(scaled < IOT_PROGRAM_THINK_MAX_NS ? (u64)scaled : IOT_PROGRAM_THINK_MAX_NS);
}

static void move_slots(const struct copy *copy, u32 uses, struct iot_program_op *op)
{
	op->object = move(op->object, copy->base.object);
	if (uses & IOT_USE_BIT(latch))
		op->latch = move(op->latch, copy->base.latch);
	else
		op->handle = move(op->handle, copy->base.handle);
	if (uses & IOT_USE_BIT(to_handle))
		op->to_handle = move(op->to_handle, copy->base.handle);
	if (uses & (IOT_USE_BIT(map) | IOT_USE_BIT(new_map)))
		op->map = move(op->map, copy->base.map);
	if (uses & IOT_USE_BIT(queue))
		op->queue = move(op->queue, copy->base.task);
	if (uses & IOT_USE_BIT(owner)) /* no program has more owners than tasks */
		op->owner = move(op->owner, copy->base.task);
}

/* The value of an attribute follows its name. */
static int copy_value(struct copy *copy, const struct iot_program_op *from, __le32 *to)
{
	const char *name = iot_program_string(copy->program, from->xattr);

	return iot_builder_bytes(copy->builder, name, strlen(name) + 1 + le64_to_cpu(from->length_bytes), to);
}

static int copy_strings(struct copy *copy, u32 uses, struct iot_program_op *op)
{
	int err = copy_path(copy, op->path, &op->path);

	if (err)
		return err;
	if (uses & IOT_USE_BIT(new_path))
		return copy_path(copy, op->new_path, &op->new_path);
	if (uses & IOT_USE_BIT(value) && op->has_value)
		return copy_value(copy, op, &op->xattr);
	return copy_text(copy, op->path2, &op->path2);
}

/* @is_first: of a task that is not a request queue: think time before it begins when the replay starts. */
static int copy_op(struct copy *copy, u64 index, bool is_first)
{
	struct iot_program_op op = copy->program->ops[index];
	u32 uses = iot_operation(le16_to_cpu(op.kind))->uses;
	int err;

	op.compute_ns = scale(copy, op.compute_ns);
	op.pause_ns = scale(copy, op.pause_ns);
	if (is_first)
		op.pause_ns = cpu_to_le64(le64_to_cpu(op.pause_ns) + copy->start_ns);
	if (le64_to_cpu(op.pause_ns) > IOT_PROGRAM_THINK_MAX_NS)
		op.pause_ns = cpu_to_le64(IOT_PROGRAM_THINK_MAX_NS);
	move_slots(copy, uses, &op);
	err = copy_strings(copy, uses, &op);
	return err ? err : iot_builder_add(copy->builder, IOT_SECTION_OPS, &op) < 0 ? -ENOMEM : 0;
}

static int copy_waits(struct copy *copy, const struct iot_program_task *task)
{
	u64 first = le64_to_cpu(task->first_wait);
	struct iot_program_wait wait;
	u32 i;

	for (i = 0; i < le32_to_cpu(task->wait_count); i++) {
		wait = copy->program->waits[first + i];
		if (le32_to_cpu(wait.task) == IOT_WAIT_LATCH)
			wait.index = cpu_to_le32((u32)(le32_to_cpu(wait.index) + copy->base.latch));
		else
			wait.task = cpu_to_le32((u32)(le32_to_cpu(wait.task) + copy->base.task));
		if (iot_builder_add(copy->builder, IOT_SECTION_WAITS, &wait) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Ranks place tasks on nodes: in a mix they are numbered through all programs, and a program without ranks is one. */
static u32 rank_of(const struct copy *copy, const struct iot_program_task *task, bool has_ranks)
{
	if (task->rank)
		return (u32)(le32_to_cpu(task->rank) + copy->base.rank);
	return has_ranks ? 0 : (u32)copy->base.rank + 1;
}

static int copy_task(struct copy *copy, u32 index, bool has_ranks)
{
	const struct iot_program_task *from = &copy->program->tasks[index];
	struct iot_program_task task = *from;
	bool is_queue = le32_to_cpu(from->flags) & IOT_TASK_QUEUE;
	u64 first = le64_to_cpu(from->first_op);
	u32 i;
	int err;

	task.first_op = cpu_to_le64(iot_builder_count(copy->builder, IOT_SECTION_OPS));
	task.first_wait = cpu_to_le64(iot_builder_count(copy->builder, IOT_SECTION_WAITS));
	task.origin = cpu_to_le32((u32)(le32_to_cpu(from->origin) + copy->base.origin));
	task.parent = cpu_to_le32((u32)(le32_to_cpu(from->parent) + copy->base.task));
	task.space = cpu_to_le32((u32)(le32_to_cpu(from->space) + copy->base.space));
	task.rank = cpu_to_le32(rank_of(copy, from, has_ranks));
	err = copy_text(copy, from->command, &task.command);
	for (i = 0; i < le32_to_cpu(from->op_count) && !err; i++)
		err = copy_op(copy, first + i, !i && !is_queue);
	if (!err)
		err = copy_waits(copy, from);
	return err ? err : iot_builder_add(copy->builder, IOT_SECTION_TASKS, &task) < 0 ? -ENOMEM : 0;
}

static bool is_any_rank(const struct iot_program *program)
{
	u32 i;

	for (i = 0; i < program->task_count; i++)
		if (program->tasks[i].rank)
			return true;
	return false;
}

/**
 * copy_tasks() - add the tasks of a program, with operations, waits and latches
 *
 * Return: as copy_path().
 */
int copy_tasks(struct copy *copy)
{
	bool has_ranks = is_any_rank(copy->program);
	u32 i;
	int err = 0;

	for (i = 0; i < copy->program->task_count && !err; i++)
		err = copy_task(copy, i, has_ranks);
	for (i = 0; i < copy->program->latch_count && !err; i++)
		if (iot_builder_add(copy->builder, IOT_SECTION_LATCHES, &copy->program->latches[i]) < 0)
			err = -ENOMEM;
	return err;
}
