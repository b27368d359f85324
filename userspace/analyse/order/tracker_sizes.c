// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracker_sizes.c - edges that preserve the observed sizes of files.
 */
#include "tracker_sizes.h"

#include <stdlib.h>

#define EXTENSIONS_MAX	 65536 /* of one file; some older ones are forgotten beyond */
#define EXTENSIONS_ASKED 16    /* checked for one read, at most */

/* -- extensions --------------------------------------------------------------------------------- */

/* The first that moved the end to a position, or past it. */
static u32 first_past(const struct size_tracker *size, u64 position_bytes)
{
	u32 low = 0, high = size->count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (size->extensions[middle].max_bytes < position_bytes)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool moved_the_end(const struct extension *e)
{
	return e->new_size_bytes == e->stretch_bytes;
}

static int wait_for(struct waiter *waiter, const struct extension *e)
{
	return waiter_wait(waiter, e->task, e->index, EDGE_size);
}

/* It had ended then, and no truncation after it; @is_last: none that was under way, either. */
static bool is_in_force(const struct extension *e, u64 now_ns, bool is_last)
{
	return e->end_ns < now_ns && (!e->cut_ns || (!is_last && e->cut_ns >= now_ns));
}

/*
 * One that had ended, and after which the file was long enough; if there is none, the one
 * after which it was longest.
 */
static int wait_for_length(struct waiter *waiter, const struct size_tracker *size, u64 up_to_bytes,
			   bool is_last)
{
	u64 now_ns = waiter->enter_ns;
	u32 first = first_past(size, up_to_bytes), i;

	for (i = first; i < size->count && i - first < EXTENSIONS_ASKED; i++)
		if (is_in_force(&size->extensions[i], now_ns, is_last) &&
		    size->extensions[i].new_size_bytes >= up_to_bytes)
			return wait_for(waiter, &size->extensions[i]);
	for (i = first; i > 0; i--)
		if (is_in_force(&size->extensions[i - 1], now_ns, is_last) &&
		    moved_the_end(&size->extensions[i - 1]))
			return wait_for(waiter, &size->extensions[i - 1]);
	return 0;
}

static u64 larger(u64 a, u64 b)
{
	return a > b ? a : b;
}

static void find_maximum(struct size_tracker *size, u32 at)
{
	struct extension *e = &size->extensions[at];
	const struct extension *before = at ? e - 1 : NULL;

	e->max_bytes = e->new_size_bytes;
	e->stretch_bytes = e->new_size_bytes;
	if (before)
		e->max_bytes = larger(e->max_bytes, before->max_bytes);
	if (before && before->cut_ns == e->cut_ns)
		e->stretch_bytes = larger(e->stretch_bytes, before->stretch_bytes);
}

static void find_maxima(struct size_tracker *size)
{
	u32 i;

	for (i = 0; i < size->count; i++)
		find_maximum(size, i);
}

/*
 * Of the older half, every second one is dropped: a look-up finds the next one that moved the
 * end, which is later, but had ended as well.
 */
static void thin(struct size_tracker *size)
{
	u32 half = size->count / 2, kept = 0, i;

	for (i = 0; i < size->count; i++)
		if (i >= half || i % 2)
			size->extensions[kept++] = size->extensions[i];
	size->count = kept;
	find_maxima(size);
}

static int extension_add(struct size_tracker *size, const struct waiter *waiter, u64 end_bytes)
{
	if (size->count == EXTENSIONS_MAX)
		thin(size);
	if (size->count == size->room) {
		u32 room = size->room ? 2 * size->room : 2;
		struct extension *extensions =
			reallocarray(size->extensions, room, sizeof(*extensions));

		if (!extensions)
			return -ENOMEM;
		size->extensions = extensions;
		size->room = room;
	}
	size->extensions[size->count++] = (struct extension){
		.new_size_bytes = end_bytes,
		.end_ns = waiter_op(waiter)->end_ns,
		.task = waiter->task,
		.index = waiter->index,
	};
	find_maximum(size, size->count - 1);
	return 0;
}

/* -- the size ------------------------------------------------------------------------------------ */

/* Uses that an exclusive use waited for: an operation that waits for the latter waits for them, too. */
static void forget(struct size_tracker *size, u64 before_ns)
{
	u32 i, kept = 0;

	use_list_forget(&size->ends, before_ns);
	use_list_forget(&size->writers, before_ns);
	for (i = 0; i < size->count; i++)
		if (size->extensions[i].end_ns >= before_ns)
			size->extensions[kept++] = size->extensions[i];
	size->count = kept;
	find_maxima(size);
}

static int use(struct waiter *waiter, struct size_tracker *size, enum use how)
{
	u64 settled_ns = size->all.settled_ns;
	int err = tracker_use(waiter, &size->all, how, EDGE_size);

	if (size->all.settled_ns != settled_ns)
		forget(size, size->all.settled_ns);
	return err;
}

/**
 * size_tracker_set() - an operation sets the size, or uses it to know where to write
 * @waiter: the operation
 * @size: of which object
 *
 * Return: 0 or -ENOMEM.
 */
int size_tracker_set(struct waiter *waiter, struct size_tracker *size)
{
	size->set_end_ns = larger(size->set_end_ns, waiter_op(waiter)->end_ns);
	return use(waiter, size, USE_EXCLUSIVE);
}

/**
 * size_tracker_cut() - an operation sets the size, independent of the old one
 * @waiter: the operation
 * @size: of which object
 *
 * For later operations, earlier extensions of the file no longer count. Extensions that overlapped
 * this operation have come before it, too: linear.c has ordered them, and the traversal follows
 * that order.
 *
 * Return: 0 or -ENOMEM.
 */
int size_tracker_cut(struct waiter *waiter, struct size_tracker *size)
{
	int err = size_tracker_set(waiter, size);
	u32 i;

	for (i = 0; i < size->count; i++)
		if (!size->extensions[i].cut_ns)
			size->extensions[i].cut_ns = waiter_op(waiter)->end_ns;
	return err;
}

/**
 * size_tracker_write() - a write, which may move the end of the file on
 * @waiter: the operation
 * @size: of which object
 * @end_bytes: where it ended
 * @old_size_bytes: where the end of the file was when it began; it may have waited for a truncation since then
 *
 * Return: 0 or -ENOMEM.
 */
int size_tracker_write(struct waiter *waiter, struct size_tracker *size, u64 end_bytes, u64 old_size_bytes)
{
	bool is_extension = end_bytes > old_size_bytes || size->set_end_ns >= waiter_begun_ns(waiter);
	u32 seen = use_list_seen(&size->writers, waiter->task);
	int err = use(waiter, size, USE_LOOK);

	if (!err)
		err = use_list_wait(&size->ends, waiter, &seen, EDGE_size, NULL);
	if (!err && seen)
		err = use_list_add(&size->writers, waiter, seen);
	if (!err && is_extension)
		err = extension_add(size, waiter, end_bytes);
	return err;
}

static bool was_cut(const struct size_tracker *size)
{
	return size->count && size->extensions[0].cut_ns; /* the oldest are those that were */
}

/**
 * size_tracker_look() - an operation depends on the size up to a position
 * @waiter: the operation
 * @size: of which object
 * @up_to_bytes: the first position that it does not use
 * @has_found_end: it found the end of the file, so the file must not be longer
 *
 * Return: 0 or -ENOMEM.
 */
int size_tracker_look(struct waiter *waiter, struct size_tracker *size, u64 up_to_bytes, bool has_found_end)
{
	int err = use(waiter, size, USE_LOOK);

	/* Before or after a truncation that is under way: long enough in both cases. */
	if (!err && size->count)
		err = wait_for_length(waiter, size, up_to_bytes, false);
	if (!err && was_cut(size))
		err = wait_for_length(waiter, size, up_to_bytes, true);
	return err || !has_found_end ? err : use_list_add(&size->ends, waiter, 0);
}

/**
 * size_tracker_exit() - forget all
 */
void size_tracker_exit(struct size_tracker *size)
{
	free(size->extensions);
	free(size->ends.uses);
	free(size->writers.uses);
	tracker_exit(&size->all);
}
