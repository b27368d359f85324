// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * sources.c - the list of ranks in the tail of a collective call, see IOT_SOURCES.
 */
#include "iotape.h"

/**
 * iot_sources_open() - begin to read the list of a record
 * @list: filled in; refers to the record's tail
 * @sources: an enum iot_sources
 * @tail: of the record
 * @bytes: its length
 *
 * A record whose `sources` is neither runs nor bits has an empty list.
 */
void iot_sources_open(struct iot_sources_list *list, u32 sources, const void *tail, size_t bytes)
{
	*list = (struct iot_sources_list){ .sources = sources, .tail = tail, .bytes = bytes };
}

static bool next_run(struct iot_sources_list *list, u32 *first, u32 *count)
{
	const u8 *run = list->tail + list->at;

	if (list->bytes - list->at < 8)
		return false;
	*first = iot_get_u32(run);
	*count = iot_get_u32(run + 4);
	list->at += 8;
	return true;
}

static bool is_set(const struct iot_sources_list *list, size_t bit)
{
	return list->tail[bit / 8] >> bit % 8 & 1;
}

static bool next_bits(struct iot_sources_list *list, u32 *first, u32 *count)
{
	size_t bits = 8 * list->bytes, at = list->at;

	while (at < bits && !is_set(list, at))
		at++;
	*first = (u32)at;
	while (at < bits && is_set(list, at))
		at++;
	*count = (u32)at - *first;
	list->at = at;
	return *count;
}

/**
 * iot_sources_next() - the next ranks of a list
 * @list: opened
 * @first: out: the first of them
 * @count: out: their number; a list of runs may have any numbers in any order
 *
 * Return: false at the end of the list.
 */
bool iot_sources_next(struct iot_sources_list *list, u32 *first, u32 *count)
{
	switch (list->sources) {
	case IOT_SOURCES_runs:
		return next_run(list, first, count);
	case IOT_SOURCES_bits:
		return next_bits(list, first, count);
	}
	return false;
}
