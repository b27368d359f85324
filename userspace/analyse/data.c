// SPDX-License-Identifier: GPL-2.0-only
/*
 * data.c - edges that keep what was written before what reads or overwrites it.
 */
#include "data.h"

#include <stdlib.h>

#define PIECES_MAX 65536 /* of one file, then those used long ago are forgotten */

/* The first piece that ends after a position. */
static u32 first_after(const struct data *data, u64 position)
{
	u32 low = 0, high = data->count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (data->pieces[middle].end <= position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Room for a piece at a place. */
static int insert(struct data *data, u32 at, const struct piece *piece)
{
	if (data->count == data->room) {
		u32 room = data->room ? 2 * data->room : 4;
		struct piece *pieces = reallocarray(data->pieces, room, sizeof(*pieces));

		if (!pieces)
			return -ENOMEM;
		data->pieces = pieces;
		data->room = room;
	}
	memmove(&data->pieces[at + 1], &data->pieces[at], (data->count++ - at) * sizeof(*piece));
	data->pieces[at] = *piece;
	return 0;
}

/* Two pieces of one, the second from a position inside it. */
static int split(struct data *data, u32 at, u64 position)
{
	struct piece second = { .begin = position, .end = data->pieces[at].end };
	int err = resource_copy(&second.resource, &data->pieces[at].resource);

	if (!err)
		err = insert(data, at + 1, &second);
	if (err)
		resource_exit(&second.resource);
	else
		data->pieces[at].end = position;
	return err;
}

/* Pieces begin and end where the range does, and there is no gap in it. Return: the first of it. */
static int cut(struct data *data, u64 begin, u64 end, u32 *first)
{
	u32 at = first_after(data, begin);
	u64 position = begin;
	int err = 0;

	if (at < data->count && data->pieces[at].begin < begin)
		err = split(data, at++, begin);
	*first = at;
	while (!err && position < end) {
		struct piece gap = { .begin = position, .end = end };

		if (at == data->count || data->pieces[at].begin > position) {
			if (at < data->count && data->pieces[at].begin < end)
				gap.end = data->pieces[at].begin;
			err = insert(data, at, &gap);
		} else if (data->pieces[at].end > end) {
			err = split(data, at, end);
		}
		if (!err)
			position = data->pieces[at++].end;
	}
	return err;
}

/* Who used it last ended then. */
static u64 last_ns(const struct piece *piece)
{
	return resource_last_ns(&piece->resource);
}

static void forget_old(struct data *data)
{
	u64 sum_ns = 0;
	u32 i, kept = 0;

	for (i = 0; i < data->count; i++)
		sum_ns += last_ns(&data->pieces[i]) / data->count;
	for (i = 0; i < data->count; i++)
		if (last_ns(&data->pieces[i]) > sum_ns)
			data->pieces[kept++] = data->pieces[i];
		else
			resource_exit(&data->pieces[i].resource);
	data->count = kept;
}

/* Neighbours that nobody will tell apart become one: from before @first to the end of the range. */
static void merge(struct data *data, u32 first, u64 end)
{
	u32 at = first ? first - 1 : 0, kept = at;

	if (!data->count)
		return;
	while (at + 1 < data->count && data->pieces[kept].begin < end) {
		struct piece *piece = &data->pieces[kept], *next = &data->pieces[++at];

		if (piece->end == next->begin && resource_absorb(&piece->resource, &next->resource)) {
			piece->end = next->end;
			resource_exit(&next->resource);
		} else if (++kept != at) {
			data->pieces[kept] = *next;
		}
	}
	if (kept == at)
		return;
	memmove(&data->pieces[kept + 1], &data->pieces[at + 1],
		(data->count - at - 1) * sizeof(*data->pieces));
	data->count -= at - kept;
}

/**
 * data_use() - an operation reads or writes bytes of a file
 * @waiter: the operation; they come in the order of a walk
 * @data: of the file
 * @begin: the first byte
 * @end: the first that it does not use
 * @is_write: it writes
 *
 * Return: 0 or -ENOMEM.
 */
int data_use(struct waiter *waiter, struct data *data, u64 begin, u64 end, bool is_write)
{
	u32 first, i;
	int err;

	if (begin >= end)
		return 0;
	if (data->count >= PIECES_MAX)
		forget_old(data);
	err = cut(data, begin, end, &first);
	for (i = first; !err && i < data->count && data->pieces[i].begin < end; i++)
		err = resource_use(waiter, &data->pieces[i].resource,
				   is_write ? USE_EXCLUSIVE : USE_LOOK, EDGE_data);
	if (!err)
		merge(data, first, end);
	return err;
}

/**
 * data_exit() - forget all
 */
void data_exit(struct data *data)
{
	u32 i;

	for (i = 0; i < data->count; i++)
		resource_exit(&data->pieces[i].resource);
	free(data->pieces);
}
