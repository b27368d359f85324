// SPDX-License-Identifier: GPL-2.0-only
/*
 * record.c - encoding and decoding of every kind, by the field table.
 */
#include "core/trace/record.h"

#include <stdlib.h>

#include "core/trace/schema_table.h"
#include "suite.h"

static u8 tail_bytes[IOT_TAIL_MAX_BYTES];
static const u16 tail_sizes[] = { 0, 1, 255, IOT_TAIL_MAX_BYTES };

/* The same numbers in every run. */
static u64 random_u64(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

enum pattern {
	PATTERN_ZERO,
	PATTERN_ONES, /* -1, and the largest unsigned value */
	PATTERN_MIN,  /* the smallest signed value */
	PATTERN_MAX,  /* the largest signed value */
	PATTERN_RANDOM,
	PATTERN_COUNT = PATTERN_RANDOM + 16
};

static u64 pattern_value(unsigned int pattern, const struct iot_field *field, u64 *state)
{
	bool is_wide = iot_wire_type_bytes(field->type) == 8;

	switch (pattern) {
	case PATTERN_ZERO:
		return 0;
	case PATTERN_ONES:
		return ~0ull;
	case PATTERN_MIN:
		return is_wide ? 1ull << 63 : 1ull << 31;
	case PATTERN_MAX:
		return is_wide ? ~0ull >> 1 : ~0u >> 1;
	default:
		return random_u64(state);
	}
}

static void fill(struct iot_record *record, const struct iot_kind_info *info, unsigned int pattern,
		 u64 *state)
{
	u32 i;

	memset(record, 0, sizeof(*record));
	record->kind = info->kind;
	for (i = 0; i < info->field_count; i++)
		iot_field_set(record, &info->fields[i],
			      pattern_value(pattern, &info->fields[i], state));
}

static bool are_fields_equal(const struct iot_kind_info *info, const struct iot_record *a,
			     const struct iot_record *b)
{
	u32 i;

	for (i = 0; i < info->field_count; i++)
		if (iot_field_get(a, &info->fields[i]) != iot_field_get(b, &info->fields[i]))
			return false;
	return true;
}

static void record_is_decoded_as_encoded(void **state)
{
	const struct iot_kind_info *info;
	u8 wire[IOT_RECORD_MAX_BYTES];
	struct iot_record before, after;
	u64 seed = 88172645463325252ull;
	unsigned int pattern;
	size_t k, t;

	(void)state;
	for (t = 0; t < sizeof(tail_bytes); t++)
		tail_bytes[t] = (u8)random_u64(&seed);
	for (k = 0; (info = iot_kind_at(k)); k++) {
		for (pattern = 0; pattern < PATTERN_COUNT; pattern++) {
			for (t = 0; t < ARRAY_SIZE(tail_sizes); t++) {
				s32 bytes = (s32)info->wire_bytes + tail_sizes[t];

				fill(&before, info, pattern, &seed);
				before.tail = tail_bytes;
				before.tail_bytes = tail_sizes[t];
				memset(wire, 0xee, sizeof(wire));
				assert_row(info->name,
					   iot_record_encode(wire, sizeof(wire), &before) == bytes);
				assert_row(info->name, wire[bytes] == 0xee);
				memset(&after, 0xee, sizeof(after));
				assert_row(info->name, iot_record_decode(wire, (size_t)bytes,
									 &after) == bytes);
				assert_row(info->name, after.kind == info->kind);
				assert_row(info->name, after.length_bytes == bytes);
				assert_row(info->name, after.tail_bytes == tail_sizes[t]);
				assert_row(info->name, !memcmp(after.tail, tail_bytes,
							       after.tail_bytes));
				assert_row(info->name, are_fields_equal(info, &before, &after));
			}
		}
	}
}

static void record_on_the_wire_is_little_endian(void **state)
{
	const struct iot_rec_clock clock = {
		.time_ns = 0x0102030405060708,
		.real_ns = 0x1112131415161718,
	};
	static const u8 expected[] = {
		0x1a, 0, 0x02, 0, 0x02, 0, 0, 0,
		0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
		0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 'h', 'i',
	};
	u8 wire[sizeof(expected)];

	(void)state;
	assert_ptr_equal(iot_put_clock(wire, &clock, "hi", 2), wire + sizeof(wire));
	assert_memory_equal(wire, expected, sizeof(wire));
}

static void record_encode_needs_room(void **state)
{
	const struct iot_kind_info *info;
	struct iot_record record;
	size_t k, room;
	u64 seed = 1;
	u8 *wire;

	(void)state;
	for (k = 0; (info = iot_kind_at(k)); k++) {
		fill(&record, info, PATTERN_ONES, &seed);
		record.tail = tail_bytes;
		record.tail_bytes = 3;
		for (room = 0; room < info->wire_bytes + 3; room++) {
			wire = malloc(room + 1); /* so that an overrun is detected */
			assert_row(info->name, iot_record_encode(wire, room, &record) == -ENOSPC);
			free(wire);
		}
	}
}

static void record_encode_refuses_unknown_kinds(void **state)
{
	struct iot_record record = { .kind = IOT_KIND_name, .tail = tail_bytes };
	u8 wire[2 * IOT_RECORD_MAX_BYTES];
	unsigned int kind;

	(void)state;
	record.tail_bytes = IOT_TAIL_MAX_BYTES + 1;
	assert_int_equal(iot_record_encode(wire, sizeof(wire), &record), -EINVAL);
	record.tail_bytes = 0;
	for (kind = 0; kind < 65536; kind++) {
		record.kind = (u16)kind;
		assert_int_equal(iot_record_encode(wire, sizeof(wire), &record) > 0,
				 iot_kind_info((u16)kind) != NULL);
	}
}

static void record_decode_refuses_every_prefix(void **state)
{
	const struct iot_kind_info *info;
	struct iot_record record;
	u8 wire[IOT_RECORD_MAX_BYTES], *prefix;
	u64 seed = 1;
	s32 bytes;
	size_t k, room;

	(void)state;
	for (k = 0; (info = iot_kind_at(k)); k++) {
		fill(&record, info, PATTERN_ONES, &seed);
		record.tail = tail_bytes;
		record.tail_bytes = 5;
		bytes = iot_record_encode(wire, sizeof(wire), &record);
		for (room = 0; room < (size_t)bytes; room++) {
			prefix = malloc(room + 1);
			memcpy(prefix, wire, room);
			assert_row(info->name,
				   iot_record_decode(prefix, room, &record) == -EBADMSG);
			free(prefix);
		}
	}
}

/* A record truncated at any byte after its head, with a corrected length, as from an older writer. */
static void record_of_an_older_writer_has_zeros(void **state)
{
	const struct iot_kind_info *info;
	struct iot_record before, after;
	u8 wire[IOT_RECORD_MAX_BYTES];
	u64 seed = 1;
	size_t k;
	u32 bytes, i;

	(void)state;
	for (k = 0; (info = iot_kind_at(k)); k++) {
		for (bytes = IOT_RECORD_HEAD_BYTES; bytes <= info->wire_bytes; bytes++) {
			fill(&before, info, PATTERN_RANDOM, &seed);
			iot_record_encode(wire, sizeof(wire), &before);
			iot_put_u16(wire, (u16)(bytes + 2));
			iot_put_u16(wire + 4, 2);
			memcpy(wire + bytes, "ok", 2);
			assert_row(info->name, iot_record_decode(wire, bytes + 2, &after) ==
						       (s32)bytes + 2);
			assert_row(info->name, after.tail_bytes == 2 && !memcmp(after.tail, "ok", 2));
			for (i = 0; i < info->field_count; i++) {
				const struct iot_field *field = &info->fields[i];
				u32 stop = IOT_RECORD_HEAD_BYTES, f;

				for (f = 0; f <= i; f++)
					stop += iot_wire_type_bytes(info->fields[f].type);
				assert_row(field->name, iot_field_get(&after, field) ==
						(stop <= bytes ? iot_field_get(&before, field) : 0));
			}
		}
	}
}

static void record_of_a_newer_writer_is_read(void **state)
{
	const struct iot_kind_info *info;
	struct iot_record before, after;
	u8 wire[IOT_RECORD_MAX_BYTES];
	u64 seed = 1;
	size_t k;
	u32 more;

	(void)state;
	for (k = 0; (info = iot_kind_at(k)); k++) {
		for (more = 1; more <= 64; more++) {
			u32 bytes = info->wire_bytes + more;

			fill(&before, info, PATTERN_RANDOM, &seed);
			memset(wire, 0xee, sizeof(wire));
			iot_record_encode(wire, sizeof(wire), &before);
			iot_put_u16(wire, (u16)(bytes + 3));
			iot_put_u16(wire + 4, 3);
			memcpy(wire + bytes, "end", 3);
			assert_row(info->name, iot_record_decode(wire, bytes + 3, &after) ==
						       (s32)bytes + 3);
			assert_row(info->name, are_fields_equal(info, &before, &after));
			assert_row(info->name, after.tail_bytes == 3 && !memcmp(after.tail, "end", 3));
		}
	}
}

static void record_of_an_unknown_kind_is_skipped(void **state)
{
	static const u8 wire[] = { 20, 0, 0xff, 0x7f, 2, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 'h', 'i' };
	struct iot_record record;

	(void)state;
	assert_null(iot_kind_info(0x7fff));
	assert_int_equal(iot_record_decode(wire, sizeof(wire), &record), sizeof(wire));
	assert_int_equal(record.kind, 0x7fff);
	assert_int_equal(record.length_bytes, sizeof(wire));
	assert_int_equal(record.tail_bytes, 2);
	assert_memory_equal(record.tail, "hi", 2);
}

static void record_decode_refuses_bad_heads(void **state)
{
	static const struct {
		const char *name;
		u16 length, tail, zero;
		s32 result;
	} heads[] = {
		{ "correct", IOT_WIRE_clock, 0, 0, IOT_WIRE_clock },
		{ "only a head", IOT_RECORD_HEAD_BYTES, 0, 0, IOT_RECORD_HEAD_BYTES },
		{ "no length", 0, 0, 0, -EBADMSG },
		{ "shorter than a head", IOT_RECORD_HEAD_BYTES - 1, 0, 0, -EBADMSG },
		{ "shorter than its tail", IOT_WIRE_clock, IOT_WIRE_clock - 7, 0, -EBADMSG },
		{ "all tail", IOT_WIRE_clock, IOT_WIRE_clock - 8, 0, IOT_WIRE_clock },
		{ "reserved bytes used", IOT_WIRE_clock, 0, 1, -EBADMSG },
		{ "largest", IOT_RECORD_MAX_BYTES, IOT_TAIL_MAX_BYTES, 0, IOT_RECORD_MAX_BYTES },
		{ "too large", IOT_RECORD_MAX_BYTES + 1, 0, 0, -EBADMSG },
		{ "tail too large", IOT_RECORD_MAX_BYTES, IOT_TAIL_MAX_BYTES + 1, 0, -EBADMSG },
		{ "longest length", 0xffff, 0, 0, -EBADMSG },
		{ "longest tail", 0xffff, 0xffff, 0, -EBADMSG },
	};
	static u8 wire[65536];
	struct iot_record record;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		iot_put_u16(iot_put_u16(iot_put_u16(iot_put_u16(wire, heads[i].length), IOT_KIND_clock),
					heads[i].tail), heads[i].zero);
		assert_row(heads[i].name,
			   iot_record_decode(wire, sizeof(wire), &record) == heads[i].result);
	}
}

SUITE("record",
      TEST(record_is_decoded_as_encoded)
      TEST(record_on_the_wire_is_little_endian)
      TEST(record_encode_needs_room)
      TEST(record_encode_refuses_unknown_kinds)
      TEST(record_decode_refuses_every_prefix)
      TEST(record_of_an_older_writer_has_zeros)
      TEST(record_of_a_newer_writer_is_read)
      TEST(record_of_an_unknown_kind_is_skipped)
      TEST(record_decode_refuses_bad_heads))
