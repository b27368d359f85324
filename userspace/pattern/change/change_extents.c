// SPDX-License-Identifier: GPL-2.0-only
/*
 * change_extents.c - which data of which files tasks read and write.
 */
#include "change.h"

/**
 * extent_of() - the data that an operation moved
 * @event: the operation
 * @actor: index of its task
 * @extent: out
 *
 * Return: false if it moved none.
 */
bool extent_of(const struct event *event, u64 actor, struct extent *extent)
{
	s64 result = (s64)event->fields[0];
	struct event copy = *event;
	const u64 *offset;

	if ((event->kind != IOT_KIND_write && event->kind != IOT_KIND_read) || result <= 0)
		return false;
	offset = change_field(&copy, "offset_bytes");
	*extent = (struct extent){ .path = event->path, .generation = event->roles[EVENT_GENERATION], .actor = actor,
				   .begin = *offset, .end = *offset + (u64)result, .is_write = event->kind == IOT_KIND_write };
	return true;
}

/**
 * extents_of() - all data that tasks moved
 * @c: the change
 * @extents: out: items to be freed by the caller
 *
 * Return: 0 or -ENOMEM.
 */
int extents_of(const struct change *c, struct extents *extents)
{
	struct extent extent;
	u64 actor, i;

	*extents = (struct extents){};
	for (actor = 0; actor < c->actor_count; actor++)
		for (i = 0; i < c->actors[actor].count; i++) {
			const struct step *step = &c->actors[actor].steps[i];

			if (step->is_dropped || !extent_of(&step->event, actor, &extent))
				continue;
			if (extents->count == extents->room) {
				size_t room = extents->room ? 2 * extents->room : 64;
				struct extent *items = reallocarray(extents->items, room, sizeof(*items));

				if (!items)
					return -ENOMEM;
				extents->items = items;
				extents->room = room;
			}
			extents->items[extents->count++] = extent;
		}
	return 0;
}

static int compare_extents(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;
	int by_path = strcmp(x->path, y->path);

	if (by_path)
		return by_path;
	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->actor < y->actor ? -1 : x->actor > y->actor;
}

/**
 * extents_sort() - by file, then by place in it
 */
void extents_sort(struct extents *extents)
{
	if (extents->count)
		qsort(extents->items, extents->count, sizeof(*extents->items), compare_extents);
}

/**
 * extents_overlap() - bytes that a task writes and another one reads or writes
 * @extents: are sorted
 */
u64 extents_overlap(struct extents *extents)
{
	const struct extent *furthest = NULL, *extent;
	u64 bytes = 0, end;

	extents_sort(extents);
	for (extent = extents->items; extent < extents->items + extents->count; extent++) {
		bool is_same_file = furthest && !strcmp(furthest->path, extent->path) &&
				    furthest->generation == extent->generation;

		if (is_same_file && extent->begin < furthest->end && extent->actor != furthest->actor &&
		    (extent->is_write || furthest->is_write)) {
			end = extent->end < furthest->end ? extent->end : furthest->end;
			bytes += end - extent->begin;
		}
		if (!is_same_file || extent->end > furthest->end)
			furthest = extent;
	}
	return bytes;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;
	int by_path = strcmp(x->path, y->path);

	if (by_path)
		return by_path;
	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	if (x->is_write != y->is_write)
		return x->is_write ? 1 : -1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static bool is_same_kind(const struct extent *a, const struct extent *b)
{
	return !strcmp(a->path, b->path) && a->generation == b->generation && a->is_write == b->is_write;
}

/**
 * extents_merge() - the ranges of each file that were read, and those that were written, by any task
 */
void extents_merge(struct extents *extents)
{
	struct extent *last = NULL;
	size_t i, count = 0;

	if (extents->count)
		qsort(extents->items, extents->count, sizeof(*extents->items), compare_ranges);
	for (i = 0; i < extents->count; i++) {
		const struct extent *next = &extents->items[i];

		if (last && is_same_kind(last, next) && next->begin <= last->end) {
			last->end = next->end > last->end ? next->end : last->end;
			continue;
		}
		last = &extents->items[count++];
		*last = *next;
	}
	extents->count = count;
}

/**
 * extents_are_same() - are these the same ranges of the same files?
 * @a, @b: are merged
 */
bool extents_are_same(const struct extents *a, const struct extents *b)
{
	size_t i;

	for (i = 0; i < a->count && i < b->count; i++)
		if (!is_same_kind(&a->items[i], &b->items[i]) || a->items[i].begin != b->items[i].begin ||
		    a->items[i].end != b->items[i].end)
			return false;
	return a->count == b->count;
}
