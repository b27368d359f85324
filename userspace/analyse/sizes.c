// SPDX-License-Identifier: GPL-2.0-only
/*
 * sizes.c - edges that keep the sizes of files what they were.
 */
#include "sizes.h"

#include <stdlib.h>

static struct graph_op *op_at(struct graph *graph, u32 task, u32 index)
{
	return &graph->tasks[task].ops[index];
}

/* The last extension of a task that began below a position, and had ended by then. */
static const struct extension *extension_below(const struct extender *extender, u64 up_to_bytes,
					       u64 by_ns)
{
	u32 low = 0, high = extender->count;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (extender->extensions[middle].old_size_bytes < up_to_bytes)
			low = middle + 1;
		else
			high = middle;
	}
	while (low && extender->extensions[low - 1].end_ns >= by_ns)
		low--;
	return low ? &extender->extensions[low - 1] : NULL;
}

static int wait_for_extensions(struct graph *graph, const struct size *size, u32 task,
			       struct graph_op *op, u64 up_to_bytes)
{
	u32 i;
	int err = 0;

	for (i = 0; i < size->extender_count && !err; i++) {
		const struct extender *extender = &size->extenders[i];
		const struct extension *last;

		if (extender->task == task)
			continue;
		last = extension_below(extender, up_to_bytes, op->enter_ns);
		if (last)
			err = graph_edge_add(graph, extender->task, last->index, op, EDGE_size);
	}
	return err;
}

static int wait_for_ends(struct graph *graph, const struct size *size, u32 task,
			 struct graph_op *op)
{
	u32 i;
	int err = 0;

	for (i = 0; i < size->ends.count && !err; i++)
		if (size->ends.users[i].task != task && size->ends.users[i].end_ns < op->enter_ns)
			err = graph_edge_add(graph, size->ends.users[i].task,
					     size->ends.users[i].index, op, EDGE_size);
	return err;
}

static int ends_add(struct size *size, const struct user *user)
{
	struct user *users;
	u32 i;

	for (i = 0; i < size->ends.count; i++) {
		if (size->ends.users[i].task != user->task)
			continue;
		size->ends.users[i] = *user;
		return 0;
	}
	users = reallocarray(size->ends.users, size->ends.count + 1, sizeof(*users));
	if (!users)
		return -ENOMEM;
	size->ends.users = users;
	users[size->ends.count++] = *user;
	return 0;
}

static struct extender *extender_of(struct size *size, u32 task)
{
	struct extender *extenders;
	u32 i;

	for (i = 0; i < size->extender_count; i++)
		if (size->extenders[i].task == task)
			return &size->extenders[i];
	extenders = reallocarray(size->extenders, size->extender_count + 1, sizeof(*extenders));
	if (!extenders)
		return NULL;
	size->extenders = extenders;
	extenders[size->extender_count] = (struct extender){ .task = task };
	return &extenders[size->extender_count++];
}

static int extension_add(struct size *size, u32 task, const struct extension *extension)
{
	struct extender *extender = extender_of(size, task);

	if (!extender)
		return -ENOMEM;
	if (extender->count == extender->room) {
		u32 room = extender->room ? 2 * extender->room : 8;
		struct extension *extensions =
			reallocarray(extender->extensions, room, sizeof(*extensions));

		if (!extensions)
			return -ENOMEM;
		extender->extensions = extensions;
		extender->room = room;
	}
	extender->extensions[extender->count++] = *extension;
	return 0;
}

/**
 * size_set() - an operation sets the size, or uses it to know where to write
 * @graph: gets the edges that follow
 * @size: of which object
 * @task: index of the task
 * @index: of the operation in it; operations come in the order in which they began
 *
 * Return: 0 or -ENOMEM.
 */
int size_set(struct graph *graph, struct size *size, u32 task, u32 index)
{
	u32 i;
	int err = resource_use(graph, &size->all, USE_EXCLUSIVE, task, index, EDGE_size);

	for (i = 0; i < size->extender_count; i++)
		size->extenders[i].count = 0; /* who waits for this waits for them */
	size->ends.count = 0;
	return err;
}

/**
 * size_extend() - a write moves the end of the file on
 * @old_size_bytes: where it was before
 *
 * Return: 0 or -ENOMEM.
 */
int size_extend(struct graph *graph, struct size *size, u32 task, u32 index, u64 old_size_bytes)
{
	struct graph_op *op = op_at(graph, task, index);
	const struct extension extension = { old_size_bytes, op->end_ns, index };
	int err = resource_use(graph, &size->all, USE_LOOK, task, index, EDGE_size);

	if (!err)
		err = wait_for_ends(graph, size, task, op);
	return err ? err : extension_add(size, task, &extension);
}

/**
 * size_look() - an operation depends on the size up to a position
 * @up_to_bytes: the first position that it does not use
 * @has_found_end: it found the end of the file, so the file must not be longer
 *
 * Return: 0 or -ENOMEM.
 */
int size_look(struct graph *graph, struct size *size, u32 task, u32 index, u64 up_to_bytes,
	      bool has_found_end)
{
	struct graph_op *op = op_at(graph, task, index);
	const struct user user = { task, index, op->end_ns };
	int err = resource_use(graph, &size->all, USE_LOOK, task, index, EDGE_size);

	if (!err)
		err = wait_for_extensions(graph, size, task, op, up_to_bytes);
	return err || !has_found_end ? err : ends_add(size, &user);
}

/**
 * size_exit() - forget all
 */
void size_exit(struct size *size)
{
	u32 i;

	for (i = 0; i < size->extender_count; i++)
		free(size->extenders[i].extensions);
	free(size->extenders);
	free(size->ends.users);
	resource_exit(&size->all);
}
