// SPDX-License-Identifier: GPL-2.0-only
/*
 * limits.c - limits of the length of texts of a program, and of the sums of its numbers.
 */
#include "core/replay/verify.h"

#include <iotape/schema.h>
#include <stdlib.h>

#include "builder.h"
#include "suite.h"

/* -- texts of any length ------------------------------------------------------------------------ */

/* A program of one operation. Return: why it is refused, or 0. */
static u32 reason_of_text(u16 kind, size_t bytes)
{
	char *text = malloc(bytes + 1);
	struct iot_reject reject = {};
	struct iot_program program;
	struct iot_program_op *op;
	__le32 path, path2;
	struct builder b;
	size_t byte_count;
	u32 scratch[64];
	u8 *file;

	memset(text, 'a', bytes);
	text[bytes] = 0;
	builder_open(&b);
	path = builder_string(&b, "f");
	path2 = builder_string(&b, text);
	builder_task(&b);
	op = builder_op(&b, kind);
	op->path = path;
	op->path2 = path2;
	file = builder_bytes(&b, &byte_count);
	builder_close(&b);
	free(text);
	assert_int_equal(iot_program_open(&program, file, byte_count, &reject), 0);
	assert_in_range(iot_program_scratch_count(&program), 1, ARRAY_SIZE(scratch));
	iot_program_verify(&program, scratch, NULL, NULL, &reject);
	free(file);
	return reject.reason;
}

static void texts_have_the_maximum_length_of_linux(void **state)
{
	static const struct {
		const char *name;
		u16 kind;
		size_t most_bytes;
	} rows[] = {
		{ "getxattr", IOT_KIND_getxattr, 255 },
		{ "setxattr", IOT_KIND_setxattr, 255 },
		{ "removexattr", IOT_KIND_removexattr, 255 },
		{ "symlink", IOT_KIND_symlink, IOT_PROGRAM_TARGET_MAX - 1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u16 kind = rows[i].kind;
		size_t most = rows[i].most_bytes;

		assert_row(rows[i].name, reason_of_text(kind, 0) == IOT_REJECT_text);
		assert_row(rows[i].name, reason_of_text(kind, 1) == 0);
		assert_row(rows[i].name, reason_of_text(kind, most) == 0);
		assert_row(rows[i].name, reason_of_text(kind, most + 1) == IOT_REJECT_text);
	}
}

/* -- sums that exceed 32 bits ------------------------------------------------------------------ */

#define MOST_WAITS 65537 /* operations with 65535 waits each have 2^32 - 1 waits, the limit of a task */

/* The same number of waits again, plus one: the sum is the same modulo 2^32. */
static void read_waiting(struct iot_program_reader *reader, u32 section, u64 index, void *unit)
{
	(void)reader;
	if (section == IOT_SECTION_OPS)
		*(struct iot_program_op *)unit = (struct iot_program_op){
			.kind = cpu_to_le16(IOT_PLAY_nop),
			.wait_count = cpu_to_le16(index < 2 * MOST_WAITS ? 0xffff : 1),
			.first_wait = cpu_to_le32((u32)(index * 0xffff)),
		};
}

static void waits_of_a_task_are_counted_beyond_32_bits(void **state)
{
	struct iot_program_reader reader = { .read = read_waiting };
	struct iot_program_task task = {
		.op_count = cpu_to_le32(2 * MOST_WAITS + 1),
		.wait_count = cpu_to_le32(0xffffffff),
	};
	struct iot_program_head head = {};
	struct iot_program program = {
		.head = &head, .reader = &reader, .tasks = &task, .task_count = 1, .strings = "",
		.string_bytes = 1, .op_count = 2 * MOST_WAITS + 1, .wait_count = 0xffffffff,
	};
	struct iot_reject reject = {};
	const struct verifier v = { .program = &program, .reject = &reject };

	(void)state;
	head.sections[IOT_SECTION_OPS].count = cpu_to_le64(program.op_count);
	assert_int_equal(iot_verify_tasks(&v), -EBADMSG);
	assert_int_equal(reject.reason, IOT_REJECT_op_wait);
	assert_int_equal(reject.offset_bytes, MOST_WAITS * sizeof(struct iot_program_op));
}

/* 2^32 signals would overflow to none. */
static void read_arriving(struct iot_program_reader *reader, u32 section, u64 index, void *unit)
{
	(void)section;
	(void)index;
	++*(u64 *)(reader + 1);
	*(struct iot_program_op *)unit = (struct iot_program_op){
		.kind = cpu_to_le16(IOT_PLAY_signal),
		.handle = cpu_to_le32(1),
	};
}

static void latch_with_too_many_arrivals_is_refused(void **state)
{
	struct {
		struct iot_program_reader reader;
		u64 reads;
	} counted = { .reader = { .read = read_arriving } };
	const struct iot_program_latch latch = { .signals = cpu_to_le32(1000) };
	const struct iot_program_head head = {};
	const struct iot_program program = {
		.head = &head, .reader = &counted.reader, .latches = &latch,
		.latch_count = 1, .op_count = (1ull << 32) + 1000,
	};
	struct iot_reject reject = {};
	const struct verifier v = { .program = &program, .reject = &reject };
	u32 scratch[16];

	(void)state;
	assert_int_equal(iot_verify_order(&v, scratch), -EBADMSG);
	assert_int_equal(reject.reason, IOT_REJECT_latch);
	assert_int_equal(counted.reads, 1001);
}

SUITE("limits",
      TEST(texts_have_the_maximum_length_of_linux)
      TEST(waits_of_a_task_are_counted_beyond_32_bits)
      TEST(latch_with_too_many_arrivals_is_refused))
