// SPDX-License-Identifier: GPL-2.0-only
/*
 * change_view.c - views of MPI files: which bytes of the file are the data of a rank.
 *
 * Numbers come from a file, so sums wrap around instead of overflowing; a place that is not one in a file ends the walk.
 */
#include "change_view.h"

#define BLOCKS_MAX (1u << 20) /* of one call */

/* The bytes of a part. Return: false if they are none, or more than a number can be. */
static bool count_bytes(struct view_part *part)
{
	u64 bytes = part->block_bytes;
	u32 i;

	for (i = 0; i < VIEW_LEVELS; i++)
		if (__builtin_mul_overflow(bytes, part->counts[i], &bytes))
			return false;
	part->bytes = bytes;
	return bytes && bytes < 1ull << 62;
}

static int begin_view(struct change *c, struct view **view, struct event *event)
{
	u64 parts = *change_field(event, "parts");

	*view = parts && parts <= VIEW_PARTS_MAX ? change_memory(c, sizeof(**view) + parts * sizeof(struct view_part)) : NULL;
	if (!*view)
		return parts && parts <= VIEW_PARTS_MAX ? -ENOMEM : 0;
	**view = (struct view){ .begin = *change_field(event, "begin_bytes"), .unit_bytes = *change_field(event, "unit_bytes"),
				.extent = *change_field(event, "extent_bytes"), .part_count = (u32)parts };
	return 0;
}

/**
 * view_take_part() - the next part of a view
 * @c: the change, which owns the memory
 * @view: the view so far; NULL before the first part
 * @event: the part
 *
 * Return: 0 or -ENOMEM.
 */
int view_take_part(struct change *c, struct view **view, const struct event *event)
{
	struct event copy = *event;
	struct view_part *part;
	int err = 0;

	if (!*change_field(&copy, "part"))
		err = begin_view(c, view, &copy);
	if (err || !*view)
		return err;
	if (*change_field(&copy, "part") != (*view)->taken || *change_field(&copy, "parts") != (*view)->part_count ||
	    (*view)->taken == (*view)->part_count) {
		(*view)->is_bad = true;
		return 0;
	}
	part = &(*view)->parts[(*view)->taken++];
	*part = (struct view_part){
		.first = *change_field(&copy, "first_bytes"),
		.block_bytes = *change_field(&copy, "block_bytes"),
		.counts = { *change_field(&copy, "inner_count"), *change_field(&copy, "middle_count"), *change_field(&copy, "outer_count") },
		.strides = { *change_field(&copy, "inner_bytes"), *change_field(&copy, "middle_bytes"), *change_field(&copy, "outer_bytes") },
	};
	(*view)->is_bad |= !count_bytes(part) || __builtin_add_overflow((*view)->bytes, part->bytes, &(*view)->bytes);
	return 0;
}

/**
 * view_is_known() - are all parts of a view known?
 * @view: or NULL
 */
bool view_is_known(const struct view *view)
{
	return view && !view->is_bad && view->taken == view->part_count && view->unit_bytes;
}

struct walk {
	view_take_range take;
	void *context;
	u64 left;
	u32 blocks;
	u64 begin; /* of the range that may grow */
	u64 bytes;
};

/* Blocks that follow each other are one range. */
static int add_block(struct walk *w, u64 begin, u64 bytes)
{
	int err = 0;

	if ((s64)begin < 0 || (s64)(begin + bytes) < 0 || w->blocks++ > BLOCKS_MAX)
		return -ERANGE;
	if (w->bytes && w->begin + w->bytes == begin) {
		w->bytes += bytes;
		return 0;
	}
	if (w->bytes)
		err = w->take(w->context, w->begin, w->bytes);
	w->begin = begin;
	w->bytes = bytes;
	return err;
}

/* From the byte @at of a part on. */
static int walk_part(struct walk *w, const struct view_part *part, u64 base, u64 at)
{
	u64 block = at / part->block_bytes, within = at % part->block_bytes, place, bytes, index;
	u32 i;
	int err = 0;

	for (; at < part->bytes && w->left && !err; at += bytes, within = 0, block++) {
		place = base + part->first + within;
		for (i = 0, index = block; i < VIEW_LEVELS; index /= part->counts[i++])
			place += index % part->counts[i] * part->strides[i];
		bytes = part->block_bytes - within < w->left ? part->block_bytes - within : w->left;
		w->left -= bytes;
		err = add_block(w, place, bytes);
	}
	return err;
}

/* Such as a view of integers without gaps, which would have very many blocks. */
static bool is_dense(const struct view *view)
{
	return view->part_count == 1 && view->parts[0].bytes == view->parts[0].block_bytes && view->extent == view->bytes;
}

/**
 * view_walk() - the ranges of the file that are a part of the data of a view
 * @view: known
 * @place: of the part in the data
 * @bytes: of the part
 * @take: gets each range, in the order of the data
 * @context: of @take
 *
 * Return: 0; -ERANGE if a range is no place in a file, or if there are too many blocks; what @take returns.
 */
int view_walk(const struct view *view, u64 place, u64 bytes, view_take_range take, void *context)
{
	struct walk w = { .take = take, .context = context, .left = bytes };
	u64 base = view->begin + place / view->bytes * view->extent, at = place % view->bytes;
	u32 i;
	int err = 0;

	if (is_dense(view))
		err = add_block(&w, view->begin + view->parts[0].first + place, bytes);
	for (; w.left && !err && !is_dense(view); base += view->extent)
		for (i = 0; i < view->part_count && w.left && !err; i++) {
			if (at < view->parts[i].bytes)
				err = walk_part(&w, &view->parts[i], base, at);
			at = at < view->parts[i].bytes ? 0 : at - view->parts[i].bytes;
		}
	return err || !w.bytes ? err : take(context, w.begin, w.bytes);
}

/* -- the end of the file --------------------------------------------------------------------------------------------- */

/* The last place in the first repetition of the datatype. Return: false if it is none in a file. */
static bool find_end(const struct view *view, u64 *end)
{
	const struct view_part *part;
	u64 last, distance;
	u32 i;

	*end = 0;
	for (part = view->parts; part < view->parts + view->part_count; part++) {
		if (__builtin_add_overflow(view->begin, part->first, &last) || __builtin_add_overflow(last, part->block_bytes, &last))
			return false;
		for (i = 0; i < VIEW_LEVELS; i++)
			if (__builtin_mul_overflow(part->counts[i] - 1, part->strides[i], &distance) ||
			    __builtin_add_overflow(last, distance, &last))
				return false;
		*end = last > *end ? last : *end;
	}
	return (s64)*end >= 0;
}

struct search {
	u64 size_bytes;
	u64 place; /* of the next range in the data */
};

static int find_place(void *context, u64 begin, u64 bytes)
{
	struct search *search = context;
	u64 before = search->size_bytes > begin ? search->size_bytes - begin : 0;

	search->place += before < bytes ? before : bytes;
	return before < bytes;
}

/**
 * view_end_of_file() - where the data of a view end with a file
 * @view: known
 * @size_bytes: size of the file
 *
 * As MPI defines it: the first whole unit of the view behind the end of the file. MPI permits no views whose places go down.
 *
 * Return: the place in the data of the view; -1 if there is none.
 */
s64 view_end_of_file(const struct view *view, u64 size_bytes)
{
	struct search search = { .size_bytes = size_bytes };
	u64 end, repetitions = 0;

	if (!find_end(view, &end) || (s64)view->extent <= 0 || (s64)size_bytes < 0)
		return -1;
	if (size_bytes > end)
		repetitions = (size_bytes - end) / view->extent;
	if (__builtin_mul_overflow(repetitions, view->bytes, &search.place) || (s64)search.place < 0)
		return -1;
	if (view_walk(view, search.place, 3 * view->bytes, find_place, &search) != 1)
		return -1;
	return (s64)((search.place + view->unit_bytes - 1) / view->unit_bytes * view->unit_bytes);
}
