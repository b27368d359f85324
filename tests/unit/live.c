// SPDX-License-Identifier: GPL-2.0-only
/*
 * live.c - the mapping, or piece of one, that contains an offset of a handle, when parts were removed or moved.
 */
#include "analyse/graph/live.h"
#include "suite.h"

#define PROCESS 7
#define HANDLE	3
#define OLDER	1 /* pages 0 to 9 */
#define NEWER	2 /* pages 2 to 7 */
#define PAGE	4096ull

static void map(struct live *live, u64 number, u64 first, u64 pages)
{
	struct graph_op op = { .kind = IOT_KIND_map, .handle = HANDLE, .other = number,
			       .offset_bytes = first * PAGE, .length_bytes = pages * PAGE };

	assert_int_equal(live_mapped(live, PROCESS, &op), 0);
}

/* Return: the piece that was removed or shortened. */
static u64 unmap(struct live *live, u64 number, u64 first, u64 pages)
{
	const struct iot_rec_unmap r = { .map = number, .offset_bytes = (s64)(first * PAGE),
					 .length_bytes = pages * PAGE };
	struct graph_op op;

	assert_int_equal(live_unmapped(live, PROCESS, &r, &op), 0);
	assert_int_equal(op.handle, op.map ? HANDLE : 0);
	return op.map;
}

static u64 asked(struct live *live, u64 page, u64 enter_ns, bool is_shared)
{
	const struct live_asked asked = { PROCESS, HANDLE, page * PAGE, enter_ns, is_shared };

	return live_map(live, &asked);
}

/* For each of the ten pages, its mapping. */
static void pages_are(struct live *live, const char *what, const char *wanted)
{
	char is[11] = "";
	u32 i;

	for (i = 0; i < 10; i++)
		is[i] = (char)('0' + asked(live, i, 0, false));
	assert_row(what, !strcmp(is, wanted));
}

static void unmapped_range_is_in_no_mapping(void **state)
{
	static const struct {
		const char *what;
		u64 first, pages; /* to be removed from the newer mapping */
		u64 first2, pages2;
		const char *wanted;
	} rows[] = {
		{ "nothing", 0, 0, 0, 0, "1122222211" },
		{ "all of it", 2, 6, 0, 0, "1111111111" },
		{ "more than it has", 0, 9, 0, 0, "1111111111" },
		{ "the beginning", 2, 2, 0, 0, "1111222211" },
		{ "the end", 6, 2, 0, 0, "1122221111" },
		{ "the middle", 4, 1, 0, 0, "1122122211" },
		{ "end, then beginning", 6, 2, 2, 4, "1111111111" },
		{ "middle, then the pages after it", 4, 1, 5, 3, "1122111111" },
		{ "middle, then more on both sides", 4, 1, 3, 3, "1121112211" },
		{ "pages outside of it", 8, 2, 0, 2, "1122222211" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct live live = {};

		map(&live, OLDER, 0, 10);
		map(&live, NEWER, 2, 6);
		unmap(&live, NEWER, rows[i].first, rows[i].pages);
		unmap(&live, NEWER, rows[i].first2, rows[i].pages2);
		pages_are(&live, rows[i].what, rows[i].wanted);
		unmap(&live, OLDER, 0, 10);
		unmap(&live, NEWER, 0, 10);
		pages_are(&live, rows[i].what, "0000000000");
		live_close(&live);
	}
}

/* A length that no file has: all pages from there on. */
static void lengths_are_arbitrary(void **state)
{
	struct live live = {};
	struct iot_rec_unmap r = { .map = OLDER, .offset_bytes = PAGE, .length_bytes = ~0ull };
	struct graph_op op;

	(void)state;
	map(&live, OLDER, 0, 10);
	assert_int_equal(live_unmapped(&live, PROCESS, &r, &op), 0);
	assert_int_equal(op.map, 1);
	pages_are(&live, "the rest", "1000000000");
	live_close(&live);
}

static void map_at(struct live *live, u64 number, u64 enter_ns, u32 flags)
{
	struct graph_op op = { .kind = IOT_KIND_map, .handle = HANDLE, .other = number,
			       .enter_ns = enter_ns, .flags = flags, .length_bytes = PAGE };

	assert_int_equal(live_mapped(live, PROCESS, &op), 0);
}

/* The record of a query may follow that of a mapping that began later. */
static void queried_mapping_existed(void **state)
{
	struct live live = {};

	(void)state;
	map_at(&live, 1, 10, IOT_MAP_shared);
	map_at(&live, 2, 20, 0);
	map_at(&live, 3, 30, IOT_MAP_shared);
	assert_int_equal(asked(&live, 0, 5, false), 0);
	assert_int_equal(asked(&live, 0, 15, false), 1);
	assert_int_equal(asked(&live, 0, 25, false), 2);
	assert_int_equal(asked(&live, 0, 25, true), 1);
	assert_int_equal(asked(&live, 0, 35, true), 3);
	live_close(&live);
}

static u64 touched(struct live *live, u64 number, u64 page, u64 enter_ns)
{
	const struct iot_rec_touch r = { .map = number, .offset_bytes = (s64)(page * PAGE) };
	u64 piece;

	assert_int_equal(live_touched(live, PROCESS, enter_ns, &r, &piece), 0);
	return piece;
}

/* mremap(2) of a part: the same pages are mapped twice until the old part is removed. */
static void part_of_a_mapping_is_moved(void **state)
{
	struct live live = {};

	(void)state;
	map(&live, 5, 0, 10);
	assert_int_equal(touched(&live, 5, 4, 0), 1);
	map(&live, 5, 4, 2);
	assert_int_equal(unmap(&live, 5, 4, 2), 1);
	assert_int_equal(touched(&live, 5, 3, 0), 1);
	assert_int_equal(touched(&live, 5, 4, 0), 2);
	assert_int_equal(touched(&live, 5, 6, 0), 1);
	assert_int_equal(unmap(&live, 5, 5, 1), 2);
	assert_int_equal(touched(&live, 5, 4, 0), 2);
	assert_int_equal(unmap(&live, 5, 0, 4), 1);
	assert_int_equal(unmap(&live, 5, 6, 4), 1);
	assert_int_equal(unmap(&live, 5, 4, 1), 2);
	assert_int_equal(unmap(&live, 5, 4, 1), 0);
	live_close(&live);
}

/* A mapping moves as a whole, and then grows in place, which is not recorded. */
static void whole_mapping_is_moved(void **state)
{
	struct live live = {};

	(void)state;
	map(&live, 5, 0, 2);
	map(&live, 5, 0, 4);
	assert_int_equal(unmap(&live, 5, 0, 2), 1);
	assert_int_equal(touched(&live, 5, 1, 0), 2);
	assert_int_equal(touched(&live, 5, 7, 0), 2);
	assert_int_equal(unmap(&live, 5, 0, 8), 2);
	assert_int_equal(touched(&live, 5, 1, 0), 3);
	live_close(&live);
}

/* A fork copied the mapping in its current state: without the gaps between pieces. */
static void fork_copies_pieces(void **state)
{
	struct live live = {};

	(void)state;
	map(&live, 5, 0, 3);
	map(&live, 5, 4, 6);
	assert_int_equal(touched(&live, 5, 1, 0), 1);
	assert_int_equal(touched(&live, 5, 5, 0), 2);
	assert_int_equal(unmap(&live, 5, 4, 6), 2);
	assert_int_equal(unmap(&live, 5, 0, 3), 1);
	live_close(&live);
}

/* A failed mmap has a unique number as well. */
static void failed_mapping_does_not_exist(void **state)
{
	struct graph_op op = { .kind = IOT_KIND_map, .handle = HANDLE, .other = 5, .length_bytes = PAGE,
			       .result = -ENOMEM };
	struct live live = {};

	(void)state;
	assert_int_equal(live_mapped(&live, PROCESS, &op), 0);
	assert_int_equal(op.other, 1);
	assert_int_equal(unmap(&live, 5, 0, 1), 0);
	map(&live, 5, 0, 1);
	assert_int_equal(touched(&live, 5, 0, 0), 2);
	live_close(&live);
}

/* The state dump at the start of a recording is taken while programs run. */
static void touched_mapping_is_announced_later(void **state)
{
	struct live live = {};

	(void)state;
	map(&live, 4, 0, 1);
	assert_int_equal(touched(&live, 5, 0, 0), 2);
	assert_int_equal(touched(&live, 5, 1, 0), 2);
	assert_int_equal(unmap(&live, 5, 0, 1), 0);
	map(&live, 5, 0, 2);
	map(&live, 5, 4, 2);
	assert_int_equal(touched(&live, 5, 1, 0), 2);
	assert_int_equal(touched(&live, 5, 4, 0), 3);
	assert_int_equal(unmap(&live, 5, 0, 2), 2);
	live_close(&live);
}

SUITE("live",
      TEST(part_of_a_mapping_is_moved)
      TEST(whole_mapping_is_moved)
      TEST(fork_copies_pieces)
      TEST(failed_mapping_does_not_exist)
      TEST(touched_mapping_is_announced_later)
      TEST(unmapped_range_is_in_no_mapping)
      TEST(queried_mapping_existed)
      TEST(lengths_are_arbitrary))
