// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracker_data.c - edges from writes to later reads and writes of the same bytes.
 */
#include "tracker_data.h"

#include <search.h>
#include <stdlib.h>
#include <utlist.h>

#define PIECES_MAX 65536 /* of one file, then those used long ago are forgotten */

/* -- pieces ------------------------------------------------------------------------------------ */

static int by_begin(const void *a, const void *b)
{
	const struct piece *one = a, *other = b;

	return one->begin < other->begin ? -1 : one->begin > other->begin;
}

struct seek {
	u64 position;
	struct piece *found;
};

/* It goes down to a leaf, so the last one that was too far is the nearest. */
static int seek(const void *key, const void *place)
{
	struct seek *const *sought = key;
	const struct piece *piece = place;

	if (piece->end <= (*sought)->position)
		return 1;
	(*sought)->found = (struct piece *)place;
	return -1;
}

/* The first piece that ends after a position, NULL if there is none. */
static struct piece *first_after(const struct data_tracker *data, u64 position)
{
	struct seek sought = { .position = position }, *key = &sought;

	tfind(&key, &data->tree, seek);
	return sought.found;
}

/* A piece before another one, or the last if that is NULL. Return: NULL if out of memory. */
static struct piece *insert(struct data_tracker *data, struct piece *next, u64 begin, u64 end)
{
	struct piece *piece = calloc(1, sizeof(*piece));

	if (!piece)
		return NULL;
	piece->begin = begin;
	piece->end = end;
	if (!tsearch(piece, &data->tree, by_begin)) {
		free(piece);
		return NULL;
	}
	if (next)
		DL_PREPEND_ELEM(data->pieces, next, piece);
	else
		DL_APPEND(data->pieces, piece);
	data->count++;
	return piece;
}

static void drop(struct data_tracker *data, struct piece *piece)
{
	tdelete(piece, &data->tree, by_begin);
	DL_DELETE(data->pieces, piece);
	data->count--;
	tracker_exit(&piece->tracker);
	free(piece);
}

/* -- ranges ------------------------------------------------------------------------------------ */

/* Two pieces of one, the second from a position inside it. */
static int split(struct data_tracker *data, struct piece *piece, u64 position)
{
	struct piece *second = insert(data, piece->next, position, piece->end);
	int err = second ? tracker_copy(&second->tracker, &piece->tracker) : -ENOMEM;

	if (!err)
		piece->end = position;
	else if (second)
		drop(data, second);
	return err;
}

/* Pieces begin and end where the range does, and there is no gap in it. Return: the first of it. */
static int cut(struct data_tracker *data, u64 begin, u64 end, struct piece **first)
{
	struct piece *at = first_after(data, begin);
	u64 position = begin;
	int err = 0;

	*first = NULL;
	if (at && at->begin < begin) {
		err = split(data, at, begin);
		at = at->next;
	}
	while (!err && position < end) {
		if (!at || at->begin > position) {
			at = insert(data, at, position, at && at->begin < end ? at->begin : end);
			err = at ? 0 : -ENOMEM;
		} else if (at->end > end) {
			err = split(data, at, end);
		}
		if (err)
			break;
		*first = *first ? *first : at;
		position = at->end;
		at = at->next;
	}
	return err;
}

/* End of the last use. */
static u64 last_ns(const struct piece *piece)
{
	return tracker_last_ns(&piece->tracker);
}

static void forget_old(struct data_tracker *data)
{
	struct piece *piece, *next;
	u64 sum_ns = 0;

	DL_FOREACH (data->pieces, piece)
		sum_ns += last_ns(piece) / data->count;
	DL_FOREACH_SAFE (data->pieces, piece, next)
		if (last_ns(piece) <= sum_ns)
			drop(data, piece);
}

/* Merge neighbours with equal uses, from before @first to the end of the range. */
static void merge(struct data_tracker *data, struct piece *first, u64 end)
{
	struct piece *piece = first == data->pieces ? first : first->prev, *next;

	while ((next = piece->next) && piece->begin < end) {
		if (piece->end == next->begin && tracker_absorb(&piece->tracker, &next->tracker)) {
			piece->end = next->end;
			drop(data, next);
		} else {
			piece = next;
		}
	}
}

/**
 * data_tracker_use() - an operation reads or writes bytes of a file
 * @waiter: the operation; they come in the order of a walk
 * @data: of the file
 * @begin: the first byte
 * @end: the first that it does not use
 * @is_write: it writes
 *
 * Return: 0 or -ENOMEM.
 */
int data_tracker_use(struct waiter *waiter, struct data_tracker *data, u64 begin, u64 end, bool is_write)
{
	struct piece *first, *piece;
	int err;

	if (begin >= end)
		return 0;
	if (data->count >= PIECES_MAX)
		forget_old(data);
	err = cut(data, begin, end, &first);
	for (piece = first; !err && piece && piece->begin < end; piece = piece->next)
		err = tracker_use(waiter, &piece->tracker, is_write ? USE_EXCLUSIVE : USE_LOOK, EDGE_data);
	if (!err)
		merge(data, first, end);
	return err;
}

/**
 * data_tracker_exit() - forget all
 */
void data_tracker_exit(struct data_tracker *data)
{
	while (data->pieces)
		drop(data, data->pieces);
}
