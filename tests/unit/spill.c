// SPDX-License-Identifier: GPL-2.0-only
/*
 * spill.c - arrays that may be larger than memory: their contents, and where they are.
 */
#include "analyse/graph/spill.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "suite.h"

#define BESIDE	   "build/spilled" /* a file system in memory would have no file for arrays */
#define ARRAYS	   3
#define DOUBLINGS  18
#define LAST_BYTES (150u << DOUBLINGS) /* the last but one is not a multiple of a page */

/* Each byte depends on its array and its place. */
static unsigned char byte_of(u32 array, size_t at)
{
	return (unsigned char)(at * 31 + at / 4096 + array);
}

static void fill(unsigned char *bytes, u32 array, size_t from, size_t to)
{
	for (; from < to; from++)
		bytes[from] = byte_of(array, from);
}

static void assert_filled(const unsigned char *bytes, u32 array, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (bytes[i] != byte_of(array, i))
			fail_msg("array %u differs at %zu", array, i);
}

/* Arrays grow in turn, as operations of tasks do. */
static void grow(struct spill *spill, unsigned char *arrays[ARRAYS])
{
	size_t bytes, before = 0;
	u32 i;

	for (bytes = LAST_BYTES >> DOUBLINGS; bytes <= LAST_BYTES; before = bytes, bytes *= 2)
		for (i = 0; i < ARRAYS; i++) {
			arrays[i] = spill_resize(spill, arrays[i], before, bytes);
			assert_non_null(arrays[i]);
			assert_filled(arrays[i], i, before);
			fill(arrays[i], i, before, bytes);
		}
}

static void arrays_keep_their_contents(struct spill *spill)
{
	unsigned char *arrays[ARRAYS] = {};
	u32 i;

	grow(spill, arrays);
	for (i = 0; i < ARRAYS; i++)
		assert_filled(arrays[i], i, LAST_BYTES);
	arrays[0] = spill_resize(spill, arrays[0], LAST_BYTES, 1000);
	assert_non_null(arrays[0]);
	assert_filled(arrays[0], 0, 1000);
	spill_free(spill, arrays[0], 1000);
	for (i = 1; i < ARRAYS; i++) {
		assert_filled(arrays[i], i, LAST_BYTES);
		spill_free(spill, arrays[i], LAST_BYTES);
	}
}

static void large_arrays_are_in_a_file(void **state)
{
	unsigned char *arrays[ARRAYS] = {};
	struct spill *spill;
	u32 i;

	(void)state;
	assert_int_equal(spill_open(&spill, BESIDE), 0);
	assert_int_equal(access(BESIDE, F_OK), -1);
	grow(spill, arrays);
	assert_true(spill_file_bytes(spill) >= ARRAYS * (size_t)LAST_BYTES - SPILL_MEMORY_BYTES);
	for (i = 0; i < ARRAYS; i++)
		spill_free(spill, arrays[i], LAST_BYTES);
	assert_int_equal(spill_file_bytes(spill), 0);
	arrays_keep_their_contents(spill);
	spill_close(spill);
}

static void small_arrays_are_in_memory(void **state)
{
	struct spill *spill;
	void *arrays[1000];
	u32 i;

	(void)state;
	assert_int_equal(spill_open(&spill, BESIDE), 0);
	for (i = 0; i < ARRAY_SIZE(arrays); i++)
		arrays[i] = spill_resize(spill, NULL, 0, SPILL_ARRAY_BYTES);
	assert_int_equal(spill_file_bytes(spill), 0);
	for (i = 0; i < ARRAY_SIZE(arrays); i++)
		spill_free(spill, arrays[i], SPILL_ARRAY_BYTES);
	spill_close(spill);
}

/* The signal for a file that is too large would end the test. */
static void arrays_are_in_memory_if_the_file_may_not_grow(void **state)
{
	struct rlimit before, limit;
	struct spill *spill;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 64u << 20;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(spill_open(&spill, BESIDE), 0);
	arrays_keep_their_contents(spill);
	spill_close(spill);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

static void arrays_are_in_memory_without_a_file(void **state)
{
	struct spill *spill;

	(void)state;
	assert_int_equal(spill_open(&spill, "/nonexistent/spilled"), 0);
	arrays_keep_their_contents(spill);
	assert_int_equal(spill_file_bytes(spill), 0);
	spill_close(spill);
	arrays_keep_their_contents(NULL);
}

SUITE("spill",
      TEST(large_arrays_are_in_a_file)
      TEST(small_arrays_are_in_memory)
      TEST(arrays_are_in_memory_if_the_file_may_not_grow)
      TEST(arrays_are_in_memory_without_a_file))
