// SPDX-License-Identifier: GPL-2.0-only
/*
 * blocks.c - a program that is partly left in its file is read like one in memory; changes of
 * the file are detected.
 */
#include "core/replay/blocks.h"

#include <iotape/schema.h>
#include <stdlib.h>
#include <unistd.h>

#include "builder.h"
#include "lib/iotape.h"
#include "suite.h"

#define TASKS 40
#define OPS   30

/* The example of the SipHash-2-4 paper, and others from its authors' reference program. */
static void siphash_equals_the_vectors_of_the_paper(void **state)
{
	static const struct {
		const char *name;
		size_t bytes;
		u64 wanted;
	} rows[] = {
		{ "nothing", 0, 0x726fdb47dd0e0e31ull },
		{ "a byte", 1, 0x74f839c593dc67fdull },
		{ "a word", 8, 0x93f5f5799a932462ull },
		{ "the example", 15, 0xa129ca6149be45e5ull },
	};
	struct iot_siphash_key key;
	u8 bytes[16];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (u8)i;
	memcpy(&key, bytes, sizeof(key));
	for (i = 0; i < 2; i++)
		key.words[i] = le64_to_cpu(key.words[i]);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_row(rows[i].name, iot_siphash(&key, bytes, rows[i].bytes) == rows[i].wanted);
}

/* A program in a memfd. */
struct file {
	u8 *bytes;
	size_t count;
	u64 reads;
	struct iot_program whole;
	struct iot_program program;
	struct iot_blocks blocks;
};

static int read_memory(void *context, u64 offset_bytes, void *bytes, size_t count)
{
	struct file *file = context;

	file->reads++;
	if (offset_bytes + count > file->count)
		return -EBADMSG;
	memcpy(bytes, file->bytes + offset_bytes, count);
	return 0;
}

/* Tasks that wait for each other: the dry run alternates between them. */
static void fill(struct builder *b)
{
	u32 task, i;

	for (task = 0; task < TASKS; task++) {
		builder_task(b);
		for (i = 0; i < OPS; i++) {
			builder_op(b, IOT_PLAY_wait)->pause_ns = cpu_to_le64(task * OPS + i);
			if (task)
				builder_wait(b, task - 1, i);
			else if (i)
				builder_wait(b, TASKS - 1, i - 1);
		}
	}
}

static void file_open(struct file *file, u32 slots)
{
	const void *sections[IOT_SECTION_COUNT];
	struct iot_reject reject;
	struct builder b;
	size_t i;

	*file = (struct file){};
	builder_open(&b);
	fill(&b);
	file->bytes = builder_bytes(&b, &file->count);
	builder_close(&b);
	assert_int_equal(iot_program_open(&file->whole, file->bytes, file->count, &reject), 0);
	for (i = 0; i < IOT_SECTION_COUNT; i++)
		sections[i] = i == IOT_SECTION_OPS || i == IOT_SECTION_WAITS ? NULL :
			file->bytes + le64_to_cpu(file->whole.head->sections[i].offset_bytes);
	iot_program_place(&file->program, file->whole.head, sections);
	file->blocks = (struct iot_blocks){ .read = read_memory, .context = file, .slots = slots };
	iot_blocks_init(&file->blocks, file->whole.head);
	file->blocks.digests = calloc(file->blocks.count, sizeof(u64));
	file->blocks.cached = calloc(slots, sizeof(u64));
	file->blocks.cache = malloc((size_t)slots * IOT_BLOCK_BYTES);
	file->program.reader = &file->blocks.reader;
}

static void file_close(struct file *file)
{
	free(file->blocks.digests);
	free(file->blocks.cached);
	free(file->blocks.cache);
	free(file->bytes);
}

static int verify(struct file *file, struct iot_reject *reject)
{
	u32 *scratch = calloc(iot_program_scratch_count(&file->program) + 1, sizeof(*scratch));
	int err = iot_program_verify(&file->program, scratch, NULL, NULL, reject);

	free(scratch);
	return err;
}

static void program_in_a_file_equals_program_in_memory(void **state)
{
	static const u32 slots[] = { 1, 2, 1000 };
	struct iot_reject reject = {};
	struct iot_program_wait wait;
	struct iot_program_op op;
	struct file file;
	size_t s;
	u64 i;

	(void)state;
	for (s = 0; s < ARRAY_SIZE(slots); s++) {
		file_open(&file, slots[s]);
		assert_true(file.blocks.op_blocks > 5 && file.blocks.count > file.blocks.op_blocks + 1);
		assert_int_equal(verify(&file, &reject), 0);
		assert_true(slots[s] < 1000 || file.reads == file.blocks.count);
		for (i = 0; i < file.program.op_count; i++)
			assert_memory_equal(iot_program_op_at(&file.program, i, &op),
					    &file.whole.ops[i], sizeof(op));
		for (i = 0; i < file.program.wait_count; i++)
			assert_memory_equal(iot_program_wait_at(&file.program, i, &wait),
					    &file.whole.waits[i], sizeof(wait));
		file_close(&file);
	}
}

static void invalid_program_in_a_file_is_refused_at_the_same_offset(void **state)
{
	struct iot_reject reject = {};
	struct iot_program_op *op;
	struct file file;

	(void)state;
	file_open(&file, 2);
	op = (struct iot_program_op *)&file.whole.ops[777];
	op->kind = cpu_to_le16(0x7777);
	program_seal(file.bytes, file.count);
	assert_int_equal(verify(&file, &reject), -EBADMSG);
	assert_int_equal(reject.reason, IOT_REJECT_op_kind);
	assert_int_equal(reject.offset_bytes, (u64)((u8 *)op - file.bytes));
	file_close(&file);
}

/* Changes each byte of one operation in turn; checksums are corrected, as after a deliberate change. */
static void change_of_the_file_is_detected(void **state)
{
	struct iot_reject reject = {};
	u8 block[IOT_BLOCK_BYTES];
	struct file file;
	size_t i;
	u8 *op;

	(void)state;
	file_open(&file, 2);
	assert_int_equal(verify(&file, &reject), 0);
	op = (u8 *)&file.whole.ops[IOT_BLOCK_OPS + 5];
	for (i = 0; i < sizeof(struct iot_program_op); i++) {
		op[i] ^= 0x10;
		assert_int_equal(iot_blocks_get(&file.blocks, 0, block), 0);
		assert_int_equal(iot_blocks_get(&file.blocks, 1, block), -EBADMSG);
		op[i] ^= 0x10;
		assert_int_equal(iot_blocks_get(&file.blocks, 1, block), 0);
	}
	file.count = 1000;
	assert_int_equal(iot_blocks_get(&file.blocks, 1, block), -EBADMSG);
	file_close(&file);
}

/* Reads all blocks of operations at once, the last of which is partial: the changed one is detected. */
static void blocks_are_read_in_rows(void **state)
{
	const u32 changed = 7;
	struct iot_reject reject = {};
	struct file file;
	u32 count, i;
	u8 *row;

	(void)state;
	file_open(&file, 2);
	assert_int_equal(verify(&file, &reject), 0);
	count = (u32)file.blocks.op_blocks;
	assert_true(count > changed + 1 && file.whole.op_count % IOT_BLOCK_OPS);
	row = malloc((size_t)count * IOT_BLOCK_BYTES);
	((u8 *)&file.whole.ops[changed * IOT_BLOCK_OPS])[0] ^= 1;
	file.reads = 0;
	assert_int_equal(iot_blocks_read(&file.blocks, 0, count, row), 0);
	assert_int_equal(file.reads, 1);
	assert_memory_equal(row, file.whole.ops, file.whole.op_count * sizeof(*file.whole.ops));
	for (i = 0; i < count; i++)
		assert_int_equal(iot_blocks_check(&file.blocks, i, row + (size_t)i * IOT_BLOCK_BYTES),
				 i == changed ? -EBADMSG : 0);
	free(row);
	file_close(&file);
}

/* An index outside of the digests, which are followed by memory that must not be accessed. */
static void block_after_the_last_is_refused(void **state)
{
	u8 block[IOT_BLOCK_BYTES];
	struct file file;
	u64 last;

	(void)state;
	file_open(&file, 2);
	last = --file.blocks.count;
	assert_int_equal(iot_blocks_get(&file.blocks, last - 1, block), 0);
	assert_int_equal(iot_blocks_get(&file.blocks, last, block), -EBADMSG);
	assert_int_equal(iot_blocks_check(&file.blocks, last, block), -EBADMSG);
	assert_int_equal(file.blocks.digests[last], 0);
	assert_int_equal(iot_blocks_get(&file.blocks, ~0ull / IOT_BLOCK_BYTES, block), -EBADMSG);
	file_close(&file);
}

/* The file changes after the checksums of its sections have been verified. */
static int change(void *context)
{
	struct file *file = context;
	struct iot_program_wait *wait = (struct iot_program_wait *)&file->whole.waits[0];

	if (file->reads == file->blocks.count)
		wait->task = cpu_to_le32(0x12345678);
	return 0;
}

static void change_during_verification_is_detected(void **state)
{
	struct iot_reject reject = {};
	struct file file;
	u32 *scratch;

	(void)state;
	file_open(&file, 1);
	scratch = calloc(iot_program_scratch_count(&file.program) + 1, sizeof(*scratch));
	assert_int_equal(iot_program_verify(&file.program, scratch, change, &file, &reject), -EBADMSG);
	assert_int_equal(file.program.reader->error, -EBADMSG);
	free(scratch);
	file_close(&file);
}

static void library_reads_a_file_in_blocks(void **state)
{
	char path[] = "/tmp/iotape-blocks.XXXXXX";
	int fd = mkstemp(path);
	struct iot_program program;
	struct iot_reject reject;
	struct iot_program_op op;
	struct file file;
	u64 i;

	(void)state;
	file_open(&file, 1);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, file.bytes, file.count), file.count);
	assert_int_equal(iot_program_stream(path, 0, &program, &reject), 0);
	assert_null(program.ops);
	for (i = 0; i < program.op_count; i++)
		assert_memory_equal(iot_program_op_at(&program, i, &op), &file.whole.ops[i], sizeof(op));
	iot_program_free(&program);
	assert_int_equal(iot_program_stream(path, file.count, &program, &reject), 0);
	assert_memory_equal(program.ops, file.whole.ops, program.op_count * sizeof(op));
	iot_program_free(&program);
	assert_int_equal(ftruncate(fd, (off_t)file.count / 2), 0);
	assert_int_equal(iot_program_stream(path, 0, &program, &reject), -EBADMSG);
	assert_int_equal(reject.reason, IOT_REJECT_program_short);
	close(fd);
	unlink(path);
	file_close(&file);
}

SUITE("blocks",
      TEST(siphash_equals_the_vectors_of_the_paper)
      TEST(program_in_a_file_equals_program_in_memory)
      TEST(invalid_program_in_a_file_is_refused_at_the_same_offset)
      TEST(change_of_the_file_is_detected)
      TEST(blocks_are_read_in_rows)
      TEST(block_after_the_last_is_refused)
      TEST(change_during_verification_is_detected)
      TEST(library_reads_a_file_in_blocks))
