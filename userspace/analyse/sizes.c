// SPDX-License-Identifier: GPL-2.0-only
/*
 * sizes.c - edges that keep the sizes of files what they were.
 */
#include "sizes.h"

#include <stdlib.h>

/* Of a task that extends a file more often than that, some extensions stand for two. */
#define EXTENSIONS_MAX 4096

/* The last extension of a task that began below a position, and had ended by then. */
static const struct extension *extension_below(const struct extender *extender, u64 up_to_bytes,
					       u64 by_ns)
{
	u32 low = 0, high = extender->count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (extender->extensions[middle].old_size_bytes < up_to_bytes)
			low = middle + 1;
		else
			high = middle;
	}
	while (low && extender->extensions[low - 1].end_ns >= by_ns)
		low--;
	return low ? &extender->extensions[low - 1] : NULL;
}

static int wait_for_extensions(struct waiter *waiter, const struct size *size, u64 up_to_bytes)
{
	u64 now_ns = waiter_op(waiter)->enter_ns;
	u32 i;
	int err = 0;

	for (i = 0; i < size->extender_count && !err; i++) {
		const struct extender *extender = &size->extenders[i];
		const struct extension *last = extension_below(extender, up_to_bytes, now_ns);

		if (last)
			err = waiter_wait(waiter, extender->task, last->index, EDGE_size);
	}
	return err;
}

static struct extender *extender_of(struct size *size, u32 task)
{
	u32 low = 0, high = size->extender_count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (size->extenders[middle].task < task)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < size->extender_count && size->extenders[low].task == task)
		return &size->extenders[low];
	if (size->extender_count == size->extender_room) {
		u32 room = size->extender_room ? 2 * size->extender_room : 1;
		struct extender *extenders = reallocarray(size->extenders, room, sizeof(*extenders));

		if (!extenders)
			return NULL;
		size->extenders = extenders;
		size->extender_room = room;
	}
	memmove(&size->extenders[low + 1], &size->extenders[low],
		(size->extender_count++ - low) * sizeof(*size->extenders));
	size->extenders[low] = (struct extender){ .task = task };
	return &size->extenders[low];
}

/*
 * Of the older half, every second one goes, and the one after it stands for it: who waits
 * for that one waits for both.
 */
static void thin(struct extender *extender)
{
	struct extension *extensions = extender->extensions;
	u32 half = extender->count / 2 & ~1u, i;

	for (i = 0; i < half; i += 2) {
		extensions[i / 2] = extensions[i + 1];
		extensions[i / 2].old_size_bytes = extensions[i].old_size_bytes;
	}
	memmove(&extensions[half / 2], &extensions[half],
		(extender->count - half) * sizeof(*extensions));
	extender->count -= half / 2;
}

static int extension_add(struct size *size, u32 task, const struct extension *extension)
{
	struct extender *extender = extender_of(size, task);

	if (!extender)
		return -ENOMEM;
	if (extender->count == EXTENSIONS_MAX)
		thin(extender);
	if (extender->count == extender->room) {
		u32 room = extender->room ? 2 * extender->room : 2;
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

/* Uses that a truncation and the like waited for: who waits for that waits for them. */
static void forget(struct size *size, u64 before_ns)
{
	u32 i, first;

	user_list_forget(&size->ends, before_ns);
	for (i = 0; i < size->extender_count; i++) {
		struct extender *extender = &size->extenders[i];

		for (first = 0; first < extender->count &&
				extender->extensions[first].end_ns < before_ns;)
			first++;
		if (!first)
			continue;
		extender->count -= first;
		memmove(extender->extensions, extender->extensions + first,
			extender->count * sizeof(*extender->extensions));
	}
}

static int use(struct waiter *waiter, struct size *size, enum use how)
{
	u64 settled_ns = size->all.settled_ns;
	int err = resource_use(waiter, &size->all, how, EDGE_size);

	if (size->all.settled_ns != settled_ns)
		forget(size, size->all.settled_ns);
	return err;
}

/**
 * size_set() - an operation sets the size, or uses it to know where to write
 * @waiter: the operation
 * @size: of which object
 *
 * Return: 0 or -ENOMEM.
 */
int size_set(struct waiter *waiter, struct size *size)
{
	return use(waiter, size, USE_EXCLUSIVE);
}

/**
 * size_write() - a write, which may move the end of the file on
 * @waiter: the operation
 * @size: of which object
 * @end_bytes: where it ended
 * @old_size_bytes: where the end of the file was before
 *
 * Return: 0 or -ENOMEM.
 */
int size_write(struct waiter *waiter, struct size *size, u64 end_bytes, u64 old_size_bytes)
{
	const struct graph_op *op = waiter_op(waiter);
	const struct extension extension = { old_size_bytes, op->end_ns, waiter->index };
	int err = use(waiter, size, USE_LOOK);

	if (!err)
		err = user_list_wait(&size->ends, waiter, EDGE_size);
	return err || end_bytes <= old_size_bytes ? err :
						    extension_add(size, waiter->task, &extension);
}

/**
 * size_look() - an operation depends on the size up to a position
 * @waiter: the operation
 * @size: of which object
 * @up_to_bytes: the first position that it does not use
 * @has_found_end: it found the end of the file, so the file must not be longer
 *
 * Return: 0 or -ENOMEM.
 */
int size_look(struct waiter *waiter, struct size *size, u64 up_to_bytes, bool has_found_end)
{
	int err = use(waiter, size, USE_LOOK);

	if (!err)
		err = wait_for_extensions(waiter, size, up_to_bytes);
	return err || !has_found_end ? err : user_list_add(&size->ends, waiter);
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
