// SPDX-License-Identifier: GPL-2.0-only
/*
 * language_list.c - lists of numbers in the text of a pattern: {7, 12, 0 x 31, 8..24/8, (1, 2) x 5 + 100}.
 */
#include "language.h"

#define COUNT_MAX (1ull << 62)

static bool read_signed(struct reader *r, s64 *value)
{
	struct language_place place = r->token.place;
	bool is_negative = reader_accept(r, "-");
	u64 number;

	if (!reader_number(r, &number))
		return false;
	if (is_negative ? number > 1ull << 63 : number >> 63)
		reader_fail(r, place, "the number is not between -2^63 and 2^63 - 1");
	*value = (s64)(is_negative ? 0 - number : number);
	return !r->is_failed;
}

/* How often an item is repeated. */
static u64 read_count(struct reader *r)
{
	struct language_place place = r->token.place;
	u64 count;

	if (reader_number(r, &count) && !count)
		reader_fail(r, place, "a part of a list is repeated 0 times");
	return count;
}

static u64 read_line(struct reader *r, struct language_item *item)
{
	struct language_place place = r->token.place;
	wide apart;
	s64 last;

	item->step = 1;
	if (!read_signed(r, &last) || (reader_accept(r, "/") && !read_signed(r, &item->step)))
		return 0;
	apart = (wide)last - item->base;
	if (!item->step || apart % item->step || apart / item->step < 0) {
		reader_fail(r, place, "the numbers do not end with %lld", (long long)last);
		return 0;
	}
	return (u64)(apart / item->step) + 1;
}

static struct language_list *read_items(struct reader *r, const char *end);

/* Return: how many numbers it has. */
static u64 read_item(struct reader *r, struct language_item *item)
{
	u64 count;

	if (reader_accept(r, "(")) {
		item->repeated = read_items(r, ")");
		reader_expect(r, "x");
		count = read_count(r);
		if (reader_is_sign(r, "+")) {
			reader_next(r);
			read_signed(r, &item->step);
		}
		if (r->is_failed || __builtin_mul_overflow(count, item->repeated->count, &count))
			return COUNT_MAX + 1;
		return count;
	}
	if (reader_is_sign(r, "...")) {
		reader_fail(r, r->token.place, "the list is not complete: it was too long to be printed");
		return 0;
	}
	if (!read_signed(r, &item->base))
		return 0;
	if (reader_accept(r, "x"))
		return read_count(r);
	return reader_accept(r, "..") ? read_line(r, item) : 1;
}

static void index_items(struct reader *r, struct language_list *list)
{
	struct language_item *item;
	u64 i = 0;

	list->items = reader_allocate(r, (list->item_count + 1) * sizeof(struct language_item *));
	for (item = list->first; item && list->items; item = item->next)
		list->items[i++] = item;
}

static struct language_list *read_items(struct reader *r, const char *end)
{
	struct language_list *list = reader_allocate(r, sizeof(*list));
	struct language_item **next = list ? &list->first : NULL, *item;
	struct language_place place = r->token.place;

	if (r->depth++ == LANGUAGE_DEPTH_MAX)
		reader_fail(r, place, "more than %d lists or terms in each other", LANGUAGE_DEPTH_MAX);
	while (!r->is_failed) {
		reader_skip_lines(r);
		item = reader_allocate(r, sizeof(*item));
		if (!item || __builtin_add_overflow(list->count, read_item(r, item), &list->count) || list->count > COUNT_MAX)
			reader_fail(r, place, "a list of more than 2^62 numbers");
		if (r->is_failed)
			break;
		item->end = list->count;
		list->item_count++;
		*next = item;
		next = &item->next;
		reader_skip_lines(r);
		if (!reader_accept(r, ","))
			break;
	}
	reader_expect(r, end);
	r->depth--;
	if (!r->is_failed)
		index_items(r, list);
	return list;
}

/**
 * language_read_list() - read a list, behind its '{'
 *
 * Return: the list; not complete if the reader has failed.
 */
struct language_list *language_read_list(struct reader *r)
{
	return read_items(r, "}");
}

/**
 * language_list_at() - a number of a list
 * @list: the list
 * @index: below its count
 */
s64 language_list_at(const struct language_list *list, u64 index)
{
	u64 low = 0, high = list->item_count - 1, middle, before;
	const struct language_item *item;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (list->items[middle]->end <= index)
			low = middle + 1;
		else
			high = middle;
	}
	item = list->items[low];
	before = low ? list->items[low - 1]->end : 0;
	index -= before;
	if (!item->repeated)
		return (s64)((u64)item->base + (u64)item->step * index);
	return (s64)((u64)language_list_at(item->repeated, index % item->repeated->count) +
		     (u64)item->step * (index / item->repeated->count));
}
