// SPDX-License-Identifier: GPL-2.0-only
/*
 * packed.c - a compressed program gives back the bytes that were compressed, from any place; damage is
 * refused with its reason.
 */
#include "core/replay/packed.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder.h"
#include "core/crc32c.h"
#include "core/trace/record.h"
#include "lib/iotape.h"
#include "lib/packer.h"
#include "lib/program_source.h"
#include "suite.h"

#define PATH_BYTES 64

/* -- files ----------------------------------------------------------------------------------------- */

struct packed_file {
	char path[PATH_BYTES];
	u8 *bytes;
	size_t count;
};

static void file_write(struct packed_file *file, const void *bytes, size_t count)
{
	int fd;

	strcpy(file->path, "/tmp/iotape-packed.XXXXXX");
	fd = mkstemp(file->path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), count);
	close(fd);
}

/* The packer has the bytes in pieces of @piece bytes. */
static void file_pack(struct packed_file *file, const u8 *bytes, size_t count, u64 ops_bytes, size_t piece)
{
	struct iot_part part;
	struct packer *packer;
	struct stat stat;
	size_t at;

	file_write(file, "", 0);
	assert_int_equal(iot_part_open(&part, file->path), 0);
	assert_int_equal(packer_open(&part, count, ops_bytes, &packer), 0);
	for (at = 0; at < count; at += piece)
		assert_int_equal(packer_add(packer, bytes + at, count - at < piece ? count - at : piece), 0);
	assert_int_equal(packer_end(packer), 0);
	packer_close(packer);
	assert_int_equal(fstat(part.fd, &stat), 0);
	file->count = (size_t)stat.st_size;
	file->bytes = malloc(file->count);
	assert_int_equal(pread(part.fd, file->bytes, file->count, 0), file->count);
	assert_int_equal(iot_part_commit(&part), 0);
}

static void file_close(struct packed_file *file)
{
	unlink(file->path);
	free(file->bytes);
}

/* -- what goes in comes out ------------------------------------------------------------------------- */

static u32 next_random(u32 *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Some blocks cannot be compressed, some are zeros. */
static u8 *make_bytes(size_t count)
{
	u8 *bytes = calloc(1, count + 1);
	u32 state = (u32)count;
	size_t i;

	for (i = 0; i < count; i++)
		if (i / 20000 % 3)
			bytes[i] = (u8)next_random(&state) & (i / 20000 % 3 == 1 ? 0xff : 3);
	return bytes;
}

static void any_range_equals_the_program(void **state)
{
	static const struct {
		const char *name;
		size_t count;
		u64 ops_bytes;
		size_t piece;
	} rows[] = {
		{ "a byte", 1, 0, 1 },
		{ "less than the first block", 100, 200, 7 },
		{ "the first block", 296, 296, 296 },
		{ "one byte more", 297, 296, 296 },
		{ "a block", IOT_BLOCK_BYTES, 0, 1000 },
		{ "two blocks", 2 * IOT_BLOCK_BYTES, IOT_BLOCK_BYTES, 5000 },
		{ "two blocks and a byte", 2 * IOT_BLOCK_BYTES + 1, 2 * IOT_BLOCK_BYTES, 1 << 20 },
		{ "many blocks", 300001, 12345, 777 },
		{ "operations behind the end", 70000, 1 << 20, 70000 },
	};
	struct program_source source;
	struct packed_file file;
	struct iot_reject reject;
	u32 random = 1;
	size_t i, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u8 *bytes = make_bytes(rows[i].count), *read = malloc(rows[i].count);

		file_pack(&file, bytes, rows[i].count, rows[i].ops_bytes, rows[i].piece);
		assert_row(rows[i].name, !program_source_open(&source, file.path, &reject));
		assert_row(rows[i].name, source.is_packed && source.byte_count == rows[i].count);
		for (n = 0; n < 300; n++) {
			size_t from = n ? next_random(&random) % rows[i].count : 0;
			size_t count = n ? next_random(&random) % (rows[i].count - from + 1) : rows[i].count;

			assert_row(rows[i].name, !program_source_read(&source, from, read, count));
			assert_row(rows[i].name, !memcmp(read, bytes + from, count));
		}
		assert_row(rows[i].name, program_source_read(&source, rows[i].count, read, 1) == -EBADMSG);
		assert_row(rows[i].name, program_source_read(&source, ~0ull, read, 1) == -EBADMSG);
		program_source_close(&source);
		file_close(&file);
		free(read);
		free(bytes);
	}
}

static void blocks_begin_at_the_first_operation(void **state)
{
	struct packed_file file;
	u8 *bytes = make_bytes(100000);
	const struct iot_packed_head *head;

	(void)state;
	file_pack(&file, bytes, 100000, 5 * IOT_BLOCK_BYTES + 296, 100000);
	head = (const struct iot_packed_head *)file.bytes;
	assert_int_equal(le32_to_cpu(head->first_bytes), 296);
	assert_int_equal(iot_packed_count(head), 1 + (100000 - 296 + IOT_BLOCK_BYTES - 1) / IOT_BLOCK_BYTES);
	file_close(&file);
	free(bytes);
}

static void compressed_program_is_the_same_program(void **state)
{
	struct iot_program plain, packed, streamed;
	struct packed_file files[2];
	struct iot_reject reject;
	struct iot_program_op op;
	struct builder b;
	size_t count;
	u8 *bytes;
	u64 i;

	(void)state;
	builder_fill(&b);
	bytes = builder_bytes(&b, &count);
	file_write(&files[0], bytes, count);
	file_pack(&files[1], bytes, count, le64_to_cpu(b.head.sections[IOT_SECTION_OPS].offset_bytes), count);
	assert_int_equal(iot_program_load(files[0].path, &plain, &reject), 0);
	assert_int_equal(iot_program_load(files[1].path, &packed, &reject), 0);
	assert_int_equal(packed.byte_count, plain.byte_count);
	assert_memory_equal(packed.bytes, plain.bytes, plain.byte_count);
	assert_int_equal(iot_program_stream(files[1].path, 0, &streamed, &reject), 0);
	assert_null(streamed.ops);
	for (i = 0; i < plain.op_count; i++)
		assert_memory_equal(iot_program_op_at(&streamed, i, &op), &plain.ops[i], sizeof(op));
	iot_program_free(&plain);
	iot_program_free(&packed);
	iot_program_free(&streamed);
	unlink(files[0].path);
	file_close(&files[1]);
	free(bytes);
	builder_close(&b);
}

/* -- damage ------------------------------------------------------------------------------------------ */

static void change_major(struct iot_packed_head *head)
{
	head->major = cpu_to_le16(2);
}

static void change_head_bytes(struct iot_packed_head *head)
{
	head->head_bytes = cpu_to_le16(48);
}

static void change_block_bytes(struct iot_packed_head *head)
{
	head->block_bytes = cpu_to_le32(IOT_PACKED_BLOCK_MIN - 1);
}

static void change_block_bytes_up(struct iot_packed_head *head)
{
	head->block_bytes = cpu_to_le32(IOT_PACKED_BLOCK_MAX + 1);
}

static void change_first_bytes(struct iot_packed_head *head)
{
	head->first_bytes = 0;
}

static void change_first_bytes_up(struct iot_packed_head *head)
{
	head->first_bytes = cpu_to_le32(IOT_BLOCK_BYTES + 1);
}

static void change_program_bytes(struct iot_packed_head *head)
{
	head->program_bytes = 0;
}

static void change_program_bytes_up(struct iot_packed_head *head)
{
	head->program_bytes = cpu_to_le64(1ull << 49);
}

static void change_program_bytes_beyond_the_file(struct iot_packed_head *head)
{
	head->program_bytes = cpu_to_le64(1ull << 47);
}

static void change_program_bytes_by_a_block(struct iot_packed_head *head)
{
	head->program_bytes = cpu_to_le64(le64_to_cpu(head->program_bytes) + IOT_BLOCK_BYTES);
}

static void change_reserved(struct iot_packed_head *head)
{
	head->reserved = 1;
}

static void change_reserved2(struct iot_packed_head *head)
{
	head->reserved2 = 1;
}

static void every_field_of_the_header_is_checked(void **state)
{
	static const struct {
		const char *name;
		void (*change)(struct iot_packed_head *head);
		u32 reason;
	} rows[] = {
#define ROW(name, reason) { #name, change_##name, IOT_REJECT_##reason }
		ROW(major, program_major),
		ROW(head_bytes, packed_head),
		ROW(block_bytes, packed_head),
		ROW(block_bytes_up, packed_head),
		ROW(first_bytes, packed_head),
		ROW(first_bytes_up, packed_head),
		ROW(program_bytes, packed_head),
		ROW(program_bytes_up, packed_head),
		ROW(program_bytes_beyond_the_file, program_short),
		ROW(program_bytes_by_a_block, packed_index),
		ROW(reserved, reserved),
		ROW(reserved2, reserved),
#undef ROW
	};
	u8 *bytes = make_bytes(100000);
	struct packed_file good, bad;
	struct program_source source;
	struct iot_reject reject;
	size_t i;

	(void)state;
	file_pack(&good, bytes, 100000, 296, 100000);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u8 *changed = malloc(good.count);
		struct iot_packed_head *head = (struct iot_packed_head *)changed;

		memcpy(changed, good.bytes, good.count);
		rows[i].change(head);
		head->head_crc = cpu_to_le32(iot_crc32c(0, head, offsetof(struct iot_packed_head, head_crc)));
		file_write(&bad, changed, good.count);
		reject = (struct iot_reject){};
		assert_row(rows[i].name, program_source_open(&source, bad.path, &reject) < 0);
		assert_row(rows[i].name, reject.reason == rows[i].reason);
		unlink(bad.path);
		free(changed);
	}
	file_close(&good);
	free(bytes);
}

/* Each byte of the header, but those of the magic, and the lengths of all blocks. */
static void damaged_header_or_index_is_refused(void **state)
{
	u8 *bytes = make_bytes(100000);
	struct program_source source;
	struct packed_file good, bad;
	struct iot_reject reject;
	size_t at;

	(void)state;
	file_pack(&good, bytes, 100000, 296, 100000);
	for (at = IOT_PROGRAM_MAGIC_BYTES; at < good.count; at++) {
		if (at == sizeof(struct iot_packed_head))
			at = (size_t)iot_packed_index((struct iot_packed_head *)good.bytes, good.count);
		good.bytes[at] ^= 1;
		file_write(&bad, good.bytes, good.count);
		reject = (struct iot_reject){};
		assert_true(program_source_open(&source, bad.path, &reject) < 0);
		assert_true(reject.reason);
		good.bytes[at] ^= 1;
		unlink(bad.path);
	}
	file_close(&good);
	free(bytes);
}

/* Their sum stays that of the file: a block would be read beyond the room for it. */
static void length_of_more_than_a_block_is_refused(void **state)
{
	u8 *bytes = make_bytes(100000);
	struct program_source source;
	struct packed_file good, bad;
	struct iot_reject reject = {};
	u32 first, second;
	u64 index;

	(void)state;
	file_pack(&good, bytes, 100000, 296, 100000);
	index = iot_packed_index((struct iot_packed_head *)good.bytes, good.count);
	first = iot_get_u32(good.bytes + index + 4);
	second = iot_get_u32(good.bytes + index + 8);
	iot_put_u32(good.bytes + index + 4, IOT_BLOCK_BYTES + 1);
	iot_put_u32(good.bytes + index + 8, first + second - IOT_BLOCK_BYTES - 1);
	file_write(&bad, good.bytes, good.count);
	assert_int_equal(program_source_open(&source, bad.path, &reject), -EBADMSG);
	assert_int_equal(reject.reason, IOT_REJECT_packed_index);
	assert_int_equal(reject.offset_bytes, index + 4);
	unlink(bad.path);
	file_close(&good);
	free(bytes);
}

static void truncated_file_is_refused(void **state)
{
	u8 *bytes = make_bytes(100000);
	struct program_source source;
	struct packed_file good, bad;
	struct iot_reject reject;
	size_t count;

	(void)state;
	file_pack(&good, bytes, 100000, 296, 100000);
	for (count = IOT_PROGRAM_MAGIC_BYTES; count < good.count; count += 1 + count / 100) {
		file_write(&bad, good.bytes, count);
		reject = (struct iot_reject){};
		assert_true(program_source_open(&source, bad.path, &reject) < 0);
		assert_true(reject.reason == IOT_REJECT_program_short || reject.reason == IOT_REJECT_packed_index);
		unlink(bad.path);
	}
	file_close(&good);
	free(bytes);
}

/* Zeros are no frame of zstd. */
static void damaged_block_is_named_by_its_place(void **state)
{
	u8 *bytes = calloc(1, 100000), *read = malloc(100000);
	struct packed_file good, bad;
	struct program_source source;
	struct iot_reject reject = {};
	u64 begin;

	(void)state;
	file_pack(&good, bytes, 100000, 296, 100000);
	assert_int_equal(program_source_open(&source, good.path, &reject), 0);
	begin = source.packed.begins[3];
	memset(good.bytes + begin, 0, (size_t)(source.packed.begins[4] - begin));
	program_source_close(&source);
	file_write(&bad, good.bytes, good.count);
	assert_int_equal(program_source_open(&source, bad.path, &reject), 0);
	assert_int_equal(program_source_read(&source, 0, read, 296 + 2 * IOT_BLOCK_BYTES), 0);
	assert_int_equal(program_source_read(&source, 0, read, 296 + 2 * IOT_BLOCK_BYTES + 1), -EBADMSG);
	assert_int_equal(program_source_refuse(&source, -EBADMSG, &reject), -EBADMSG);
	assert_int_equal(reject.reason, IOT_REJECT_packed_block);
	assert_int_equal(reject.offset_bytes, begin);
	program_source_close(&source);
	unlink(bad.path);
	file_close(&good);
	free(bytes);
	free(read);
}

/* A frame that is longer or shorter than its block would move all bytes after it. */
static void block_of_another_length_is_refused(void **state)
{
	u8 *bytes = calloc(1, 100000), *read = malloc(100000);
	struct packed_file file;
	struct program_source source;
	struct iot_reject reject;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		file_pack(&file, bytes, 100000, 296, 100000);
		assert_int_equal(program_source_open(&source, file.path, &reject), 0);
		source.packed.head.first_bytes = cpu_to_le32(i ? 295 : 297); /* as if the header had changed since */
		assert_int_equal(program_source_read(&source, 0, read, 200), -EBADMSG);
		program_source_close(&source);
		file_close(&file);
	}
	free(bytes);
	free(read);
}

SUITE("packed",
      TEST(any_range_equals_the_program)
      TEST(blocks_begin_at_the_first_operation)
      TEST(compressed_program_is_the_same_program)
      TEST(every_field_of_the_header_is_checked)
      TEST(damaged_header_or_index_is_refused)
      TEST(length_of_more_than_a_block_is_refused)
      TEST(truncated_file_is_refused)
      TEST(damaged_block_is_named_by_its_place)
      TEST(block_of_another_length_is_refused))
