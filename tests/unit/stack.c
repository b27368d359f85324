// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack.c - stacks of user programs, also of hostile ones, and build ids, also of files that are none.
 */
#include "core/trace/stack.h"

#include <stdlib.h>

#include "core/trace/build_id.h"
#include "suite.h"

#define BASE  0x7ffe00000000ull /* of the stack */
#define CODE  0x555500000000ull
#define WORDS 512
#define LIMIT 0x7ffffffff000ull

static u64 stack_words[WORDS];
static u8 code[4096];
static u32 reads;

/* Two ranges of memory, as a program has them. */
static bool read_fake(void *to, u64 address, size_t bytes)
{
	reads++;
	assert_true(bytes <= IOT_STACK_READ_MAX_BYTES);
	assert_true(address < LIMIT); /* of the kernel, nothing is read */
	if (address >= BASE && address - BASE < sizeof(stack_words) && sizeof(stack_words) - (address - BASE) >= bytes) {
		memcpy(to, (const u8 *)stack_words + (address - BASE), bytes);
		return true;
	}
	if (address >= CODE && address - CODE < sizeof(code) && sizeof(code) - (address - CODE) >= bytes) {
		memcpy(to, code + (address - CODE), bytes);
		return true;
	}
	return false;
}

/* A call that ends before CODE + at. */
static u64 call_at(u32 at)
{
	code[at - 5] = 0xe8;
	return CODE + at;
}

static struct iot_stack walk(u64 sp, u64 fp)
{
	const struct iot_stack_at at = { IOT_STACK_x86_64, CODE + 16, sp, fp, LIMIT, read_fake, NULL, 0 };
	struct iot_stack stack;

	memset(stack_words + WORDS - 1, 0, sizeof(u64));
	reads = 0;
	iot_stack_walk(&at, &stack);
	assert_true(stack.count >= 1 && stack.count <= IOT_STACK_WORDS_MAX && stack.near <= IOT_STACK_NEAR_MAX);
	assert_int_equal(stack.words[0], CODE + 16);
	assert_true(reads < 100);
	return stack;
}

static void clear(void)
{
	memset(stack_words, 0, sizeof(stack_words));
	memset(code, 0x90, sizeof(code));
}

static u64 word(u32 index)
{
	return BASE + 8 * index;
}

static void frames_are_followed(void **state)
{
	struct iot_stack stack;

	(void)state;
	clear();
	stack_words[0] = call_at(100); /* of a function without a frame */
	stack_words[4] = word(10);
	stack_words[5] = call_at(200);
	stack_words[10] = 0; /* the outermost one */
	stack_words[11] = call_at(300);
	stack = walk(word(0), word(4));
	assert_int_equal(stack.near, 1);
	assert_int_equal(stack.count, 5);
	assert_int_equal(stack.words[1], 0);
	assert_int_equal(stack.words[2], CODE + 100);
	assert_int_equal(stack.words[3], CODE + 200);
	assert_int_equal(stack.words[4], CODE + 300);
}

static void words_that_are_no_return_addresses_are_left_out(void **state)
{
	struct iot_stack stack;

	(void)state;
	clear();
	stack_words[0] = CODE + 700; /* no call is before it */
	stack_words[1] = 0xffffffff81000000; /* of the kernel */
	stack_words[2] = word(9);
	stack_words[3] = 3;
	stack_words[4] = call_at(100);
	stack = walk(word(0), 0);
	assert_int_equal(stack.near, 1);
	assert_int_equal(stack.words[1], 32);
	assert_int_equal(stack.words[2], CODE + 100);
	assert_int_equal(stack.count, 3);
}

/* The second walk reads no code, and that of another process does. */
static void results_are_kept_for_each_process(void **state)
{
	static u64 verdicts[IOT_STACK_VERDICTS];
	struct iot_stack_at at = { IOT_STACK_x86_64, CODE + 16, BASE, 0, LIMIT, read_fake, verdicts, 7 };
	struct iot_stack first, second;
	u32 all;

	(void)state;
	clear();
	stack_words[0] = call_at(100);
	stack_words[1] = CODE + 700;
	reads = 0;
	iot_stack_walk(&at, &first);
	all = reads;
	reads = 0;
	iot_stack_walk(&at, &second);
	assert_int_equal(reads, all - 2);
	assert_int_equal(first.near, 1);
	assert_int_equal(second.count, first.count);
	assert_memory_equal(second.words, first.words, first.count * sizeof(u64));
	memset(code, 0x90, sizeof(code));
	iot_stack_walk(&at, &second);
	assert_int_equal(second.near, 1);
	at.process = 8; /* its code is other code at the same place */
	iot_stack_walk(&at, &second);
	assert_int_equal(second.near, 0);
}

static void all_forms_of_calls_are_known(void **state)
{
	static const struct {
		const char *name;
		u8 bytes[7];
		u32 count;
		bool is_call;
	} rows[] = {
		{ "call rel32", { 0xe8, 1, 2, 3, 4 }, 5, true },
		{ "call *%rax", { 0xff, 0xd0 }, 2, true },
		{ "call *%r11", { 0x41, 0xff, 0xd3 }, 3, true },
		{ "call *8(%rax)", { 0xff, 0x50, 8 }, 3, true },
		{ "call *8(%rsp)", { 0xff, 0x54, 0x24, 8 }, 4, true },
		{ "call *x(%rip)", { 0xff, 0x15, 1, 2, 3, 4 }, 6, true },
		{ "call *x(%rsp)", { 0xff, 0x94, 0x24, 1, 2, 3, 4 }, 7, true },
		{ "jmp *%rax", { 0xff, 0xe0 }, 2, false },
		{ "push %rax", { 0x50 }, 1, false },
		{ "jmp rel32", { 0xe9, 1, 2, 3, 4 }, 5, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		clear();
		memcpy(code + 100 - rows[i].count, rows[i].bytes, rows[i].count);
		stack_words[0] = CODE + 100;
		assert_row(rows[i].name, walk(word(0), 0).near == rows[i].is_call);
	}
}

static void hostile_frame_pointers_end_the_walk(void **state)
{
	static const u64 values[] = {
		0, 1, 8, UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 15, 0xffff888000000000, 0x800000000000, LIMIT, LIMIT - 8, LIMIT - 16,
		BASE + 3, BASE - 16, BASE + sizeof(stack_words) - 8, BASE + sizeof(stack_words),
	};
	size_t i;

	(void)state;
	clear();
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		assert_row("of the innermost function", walk(word(0), values[i]).count == 1);
		stack_words[4] = values[i];
		stack_words[5] = call_at(200);
		assert_row("of its caller", walk(word(4), word(4)).count == 2);
		clear();
	}
	for (i = 0; i < ARRAY_SIZE(values); i++)
		walk(values[i], word(4));
	stack_words[5] = 0xffffffff81000000; /* a return address in the kernel */
	assert_int_equal(walk(word(4), word(4)).count, 1);
}

static void a_frame_that_is_not_aligned_ends_the_walk(void **state)
{
	const u64 frame[] = { 0, call_at(200) };

	(void)state;
	clear();
	call_at(200);
	memcpy((u8 *)&stack_words[4] + 4, frame, sizeof(frame));
	assert_int_equal(walk(word(0), word(4) + 4).count, 1);
}

/* Code is looked at for a limited number of words; pointers into the stack do not count. */
static void a_return_address_is_found_behind_pointers(void **state)
{
	struct iot_stack stack;
	u32 i;

	(void)state;
	clear();
	for (i = 0; i < 50; i++)
		stack_words[i] = word(i + 100);
	stack_words[50] = call_at(100);
	stack = walk(word(0), 0);
	assert_int_equal(stack.near, 1);
	assert_int_equal(stack.words[1], 400);
	for (i = 0; i < 50; i++)
		stack_words[i] = CODE + 700;
	assert_int_equal(walk(word(0), 0).near, 0);
}

static void cycles_and_long_chains_end(void **state)
{
	u32 i;

	(void)state;
	clear();
	stack_words[0] = word(0);
	stack_words[1] = call_at(200);
	assert_int_equal(walk(word(0), word(0)).count, 2);
	stack_words[4] = word(0); /* to a lower frame */
	stack_words[5] = call_at(200);
	assert_int_equal(walk(word(4), word(4)).count, 2);
	for (i = 0; i + 2 < WORDS; i += 2) {
		stack_words[i] = word(i + 2);
		stack_words[i + 1] = call_at(200);
	}
	assert_int_equal(walk(word(0), word(0)).count, 1 + IOT_STACK_CALLERS_MAX);
	assert_int_equal(walk(word(0), 0).near, IOT_STACK_NEAR_MAX);
}

static void random_memory_is_bounded(void **state)
{
	u32 i, j;

	(void)state;
	srandom(1);
	for (j = 0; j < 2000; j++) {
		clear();
		for (i = 0; i < sizeof(code); i++)
			code[i] = random() % 4 ? (u8)random() : 0xe8;
		for (i = 0; i < WORDS; i++)
			stack_words[i] = random() % 2 ? word((u32)random() % WORDS) : CODE + (u32)random() % sizeof(code);
		walk(word((u32)random() % WORDS) + (random() % 8 ? 0 : (u32)random() % 8), word((u32)random() % WORDS));
	}
}

static void calls_of_aarch64_are_known(void **state)
{
	struct iot_stack_at at = { IOT_STACK_aarch64, CODE + 16, BASE, BASE, LIMIT, read_fake, NULL, 0 };
	static const u8 branch[] = { 1, 0, 0, 0x94 }, by_register[] = { 0, 2, 0x3f, 0xd6 }, jump[] = { 0, 0, 0, 0x14 };
	struct iot_stack stack;

	(void)state;
	clear();
	memcpy(code + 96, branch, 4);
	memcpy(code + 196, by_register, 4);
	memcpy(code + 296, jump, 4);
	stack_words[0] = word(2);
	stack_words[1] = CODE + 100;
	stack_words[2] = word(4);
	stack_words[3] = CODE + 200;
	stack_words[4] = word(6);
	stack_words[5] = CODE + 300;
	iot_stack_walk(&at, &stack);
	assert_int_equal(stack.count, 3);
	assert_int_equal(stack.near, 0);
	stack_words[3] |= 0x2aull << 48; /* a signature */
	at.link = CODE + 200 + (0x15ull << 48);
	iot_stack_walk(&at, &stack);
	assert_int_equal(stack.count, 5);
	assert_int_equal(stack.near, 1);
	assert_int_equal(stack.words[1], IOT_STACK_LINK);
	assert_int_equal(stack.words[2], CODE + 200);
	assert_int_equal(stack.words[3], CODE + 100);
	assert_int_equal(stack.words[4], CODE + 200);
	at.link = CODE + 300; /* behind no call */
	iot_stack_walk(&at, &stack);
	assert_int_equal(stack.count, 3);
	at.machine = IOT_STACK_unknown;
	iot_stack_walk(&at, &stack);
	assert_int_equal(stack.count, 1);
}

/* A file with one note, which the linker of this program made. */
static void build_ids_are_found(void **state)
{
	static u8 image[4096];
	u8 id[IOT_BUILD_ID_MAX_BYTES];
	FILE *in = fopen("/proc/self/exe", "re");
	size_t bytes, i;
	u32 found;

	(void)state;
	bytes = fread(image, 1, sizeof(image), in);
	fclose(in);
	found = iot_build_id_find(image, bytes, id);
	assert_true(found == 20 || found == 16);
	assert_non_null(memmem(image, bytes, id, found));
	for (i = 0; i < bytes; i++) /* of a file that is shorter */
		assert_true(iot_build_id_find(image, i, id) <= found);
	assert_int_equal(iot_build_id_find(image, 64, id), 0);
	image[0] = 0;
	assert_int_equal(iot_build_id_find(image, bytes, id), 0);
}

static void set(u8 *p, u64 value, u32 bytes)
{
	for (; bytes; bytes--, value >>= 8)
		*p++ = (u8)value;
}

/* A file with a segment of notes, @at to the end of the file, which begins with one of this length. Return: bytes of its build id. */
static u32 id_of(size_t at, size_t bytes, u32 name_bytes, u32 id_bytes)
{
	u8 *image = calloc(1, bytes), id[IOT_BUILD_ID_MAX_BYTES], note[16]; /* exact, so that the sanitizer notices reads behind it */
	u32 found;

	memcpy(image, "\177ELF\2\1", 6);
	set(image + 32, 64, 8);
	set(image + 54, 56, 2);
	set(image + 56, 1, 2);
	set(image + 64, 4, 4);
	set(image + 64 + 8, at, 8);
	set(image + 64 + 32, 1000, 8);
	set(note, name_bytes, 4);
	set(note + 4, id_bytes, 4);
	set(note + 8, 3, 4);
	memcpy(note + 12, "GNU", 4);
	if (at < bytes)
		memcpy(image + at, note, bytes - at < 16 ? bytes - at : 16);
	found = iot_build_id_find(image, bytes, id);
	free(image);
	return found;
}

static void a_note_must_fit_into_the_file(void **state)
{
	u32 i;

	(void)state;
	assert_int_equal(id_of(120, 156, 4, 20), 20);
	assert_int_equal(id_of(120, 155, 4, 20), 0);
	assert_int_equal(id_of(120, 200, 4, 8), 8);
	assert_int_equal(id_of(120, 200, 4, 21), 0);
	assert_int_equal(id_of(120, 200, 4, 0), 0);
	assert_int_equal(id_of(120, 200, 5, 20), 0);
	assert_int_equal(id_of(120, 200, 0xffffffff, 20), 0);
	assert_int_equal(id_of(120, 200, 4, 0xffffffff), 0);
	for (i = 120; i < 156; i++)
		assert_int_equal(id_of(120, i, 4, 20), 0);
	assert_int_equal(id_of(UINT64_MAX - 4, 200, 4, 20), 0);
}

static void damaged_files_have_no_build_id_or_a_short_one(void **state)
{
	static u8 image[4096], copy[4096];
	u8 id[IOT_BUILD_ID_MAX_BYTES];
	FILE *in = fopen("/proc/self/exe", "re");
	size_t bytes;
	u32 i, j;

	(void)state;
	bytes = fread(image, 1, sizeof(image), in);
	fclose(in);
	srandom(2);
	for (i = 0; i < 20000; i++) {
		u8 *exact;

		memcpy(copy, image, sizeof(copy));
		for (j = 0; j < 8; j++)
			copy[(u32)random() % (j % 2 ? 1024 : 64)] = (u8)random();
		memcpy(copy, image, 6);
		exact = malloc(bytes); /* so that the sanitizer notices reads behind it */
		memcpy(exact, copy, bytes);
		assert_true(iot_build_id_find(exact, bytes, id) <= IOT_BUILD_ID_MAX_BYTES);
		free(exact);
	}
}

SUITE("stack",
      TEST(frames_are_followed)
      TEST(words_that_are_no_return_addresses_are_left_out)
      TEST(results_are_kept_for_each_process)
      TEST(all_forms_of_calls_are_known)
      TEST(hostile_frame_pointers_end_the_walk)
      TEST(a_frame_that_is_not_aligned_ends_the_walk)
      TEST(a_return_address_is_found_behind_pointers)
      TEST(cycles_and_long_chains_end)
      TEST(random_memory_is_bounded)
      TEST(calls_of_aarch64_are_known)
      TEST(build_ids_are_found)
      TEST(a_note_must_fit_into_the_file)
      TEST(damaged_files_have_no_build_id_or_a_short_one))
