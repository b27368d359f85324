// SPDX-License-Identifier: GPL-2.0-only
/*
 * columns.c - records are the same after they were columns; damaged columns are refused.
 */
#include "lib/columns.h"

#include <stdlib.h>

#include "core/trace/record.h"
#include "core/trace/schema_table.h"
#include "suite.h"

#define ROOM_BYTES (1 << 20)
#define MANY	   1000

/* The same numbers in every run. */
static u64 random_u64(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static u64 random_below(u64 *state, u64 limit)
{
	return random_u64(state) % limit;
}

/* Records, and what becomes of them. */
struct bench {
	struct columns *columns;
	struct columns_decoder *decoder;
	u8 *records;
	u8 *again;
	size_t bytes;
	u32 count;
};

static void bench_open(struct bench *bench)
{
	*bench = (struct bench){ .records = malloc(ROOM_BYTES), .again = malloc(ROOM_BYTES) };
	assert_non_null(bench->records);
	assert_non_null(bench->again);
	assert_int_equal(columns_open(&bench->columns), 0);
	assert_int_equal(columns_decoder_open(&bench->decoder), 0);
}

static void bench_close(struct bench *bench)
{
	columns_close(bench->columns);
	columns_decoder_close(bench->decoder);
	free(bench->records);
	free(bench->again);
}

/* A number as they are in records: mostly small or near others, sometimes any. */
static u64 likely_value(u64 *state)
{
	switch (random_below(state, 5)) {
	case 0:
		return 0;
	case 1:
		return random_below(state, 10);
	case 2:
		return 1000000 + random_below(state, 1000);
	case 3:
		return random_u64(state) >> random_below(state, 64);
	default:
		return ~random_below(state, 100);
	}
}

static void add_record(struct bench *bench, const struct iot_kind_info *info, u64 *state)
{
	static const u16 tails[] = { 0, 0, 0, 1, 7, 255, IOT_TAIL_MAX_BYTES };
	struct iot_record record = { .kind = info->kind };
	u8 tail[IOT_TAIL_MAX_BYTES];
	s32 n;
	u32 i;

	for (i = 0; i < info->field_count; i++)
		iot_field_set(&record, &info->fields[i], likely_value(state));
	record.tail_bytes = tails[random_below(state, ARRAY_SIZE(tails))];
	memset(tail, (int)random_below(state, 256), record.tail_bytes);
	record.tail = tail;
	n = iot_record_encode(bench->records + bench->bytes, ROOM_BYTES - bench->bytes, &record);
	if (n == -ENOSPC)
		return;
	assert_true(n > 0);
	bench->bytes += (size_t)n;
	bench->count++;
}

static void add_random_records(struct bench *bench, u32 count, u64 *state)
{
	size_t kinds = 0;

	while (iot_kind_at(kinds))
		kinds++;
	bench->bytes = bench->count = 0;
	while (count--)
		add_record(bench, iot_kind_at(random_below(state, kinds)), state);
}

static void assert_same_again(struct bench *bench)
{
	const u8 *bytes;
	size_t count;

	assert_int_equal(columns_encode(bench->columns, bench->records, bench->bytes, bench->count, &bytes, &count), 0);
	memset(bench->again, 0xee, bench->bytes);
	assert_int_equal(columns_decode(bench->decoder, bytes, count, bench->again, bench->bytes, bench->count), 0);
	assert_memory_equal(bench->again, bench->records, bench->bytes);
}

static void records_of_each_kind_are_restored(void **state)
{
	const struct iot_kind_info *info;
	struct bench bench;
	u64 seed = 7;
	size_t k;
	u32 n;

	(void)state;
	bench_open(&bench);
	for (k = 0; (info = iot_kind_at(k)); k++) {
		for (n = 1; n < 100; n += 1 + n / 2) {
			bench.bytes = bench.count = 0;
			while (bench.count < n)
				add_record(&bench, info, &seed);
			assert_same_again(&bench);
		}
	}
	bench_close(&bench);
}

static void random_records_are_restored_in_their_order(void **state)
{
	struct bench bench;
	u64 seed = 88172645463325252ull;
	u32 n;

	(void)state;
	bench_open(&bench);
	for (n = 0; n < 60; n++) {
		add_random_records(&bench, 1 + (u32)random_below(&seed, MANY), &seed);
		assert_same_again(&bench);
	}
	bench_close(&bench);
}

/* A newer kind, a shorter and a longer record of a known one, and one with a reserved byte in use. */
static void records_without_a_table_are_kept_as_they_are(void **state)
{
	static const struct {
		u16 kind;
		u16 bytes;
		u16 tail_bytes;
		u16 zero;
	} heads[] = {
		{ 4000, 100, 0, 0 },
		{ 65535, 8, 0, 0 },
		{ IOT_KIND_clock, IOT_WIRE_clock, 0, 0 },
		{ IOT_KIND_clock, IOT_WIRE_clock - 8, 0, 0 },
		{ IOT_KIND_clock, IOT_WIRE_clock + 8, 4, 0 },
		{ IOT_KIND_clock, IOT_WIRE_clock, 0, 1 },
		{ IOT_KIND_clock, IOT_WIRE_clock, 65535, 0 },
		{ 0, 65535, 9, 0 },
	};
	struct bench bench;
	u8 *p;
	size_t i;

	(void)state;
	bench_open(&bench);
	p = bench.records;
	for (i = 0; i < 3 * ARRAY_SIZE(heads); i++) {
		memset(p, (int)i, heads[i / 3].bytes);
		iot_put_u16(iot_put_u16(iot_put_u16(iot_put_u16(p, heads[i / 3].bytes), heads[i / 3].kind),
					heads[i / 3].tail_bytes), heads[i / 3].zero);
		p += heads[i / 3].bytes;
		bench.bytes = (size_t)(p - bench.records);
		bench.count++;
		assert_same_again(&bench);
	}
	bench_close(&bench);
}

/* More kinds than there can be tables. */
static void records_of_many_unknown_kinds_are_restored(void **state)
{
	struct bench bench;
	u32 kind;

	(void)state;
	bench_open(&bench);
	for (kind = 0; kind < 2000; kind++) {
		iot_put_head(bench.records + bench.bytes, (u16)(kind * 31), IOT_RECORD_HEAD_BYTES, 0);
		bench.bytes += IOT_RECORD_HEAD_BYTES;
		bench.count++;
	}
	assert_same_again(&bench);
	bench_close(&bench);
}

static void wrong_number_of_records_is_refused(void **state)
{
	struct bench bench;
	const u8 *bytes;
	size_t count;
	u64 seed = 3;

	(void)state;
	bench_open(&bench);
	add_random_records(&bench, 10, &seed);
	assert_int_equal(columns_encode(bench.columns, bench.records, bench.bytes, 9, &bytes, &count), -EINVAL);
	assert_int_equal(columns_encode(bench.columns, bench.records, bench.bytes, 11, &bytes, &count), -EINVAL);
	assert_int_equal(columns_encode(bench.columns, bench.records, bench.bytes, ~0u, &bytes, &count), -EINVAL);
	assert_int_equal(columns_encode(bench.columns, bench.records, bench.bytes - 1, 10, &bytes, &count), -EINVAL);
	assert_int_equal(columns_encode(bench.columns, bench.records, 0, 0, &bytes, &count), -EINVAL);
	assert_int_equal(columns_encode(bench.columns, (const u8 *)"\0\0\0\0\0\0\0\0", 8, 1, &bytes, &count), -EINVAL);
	assert_same_again(&bench); /* and nothing of that is left */
	bench_close(&bench);
}

/* -- one column ------------------------------------------------------------------------------------ */

static u64 none_of(u64 *state)
{
	(void)state;
	return 0;
}

static u64 few_of(u64 *state)
{
	return 1ull << 40 | random_below(state, 200);
}

static u64 steps_of(u64 *state)
{
	static u32 number;

	(void)state;
	return number++ / 90;
}

static u64 any_of(u64 *state)
{
	return random_u64(state);
}

static u64 of_any_length(u64 *state)
{
	return random_u64(state) >> random_below(state, 64);
}

static void numbers_are_restored_from_each_coding(void **state)
{
	static const struct {
		const char *name;
		u64 (*number)(u64 *state);
		u32 count;
		u8 coding;
	} rows[] = {
		{ "none", none_of, 1, IOT_CODING_RUNS },
		{ "none", none_of, MANY, IOT_CODING_RUNS },
		{ "steps", steps_of, MANY, IOT_CODING_RUNS },
		{ "few", few_of, MANY, IOT_CODING_DISTINCT },
		{ "any", any_of, 9, IOT_CODING_VARINTS },
		{ "any", any_of, MANY, IOT_CODING_CLASSES },
		{ "of any length", of_any_length, 2, IOT_CODING_VARINTS },
		{ "of any length", of_any_length, MANY - 1, IOT_CODING_CLASSES },
	};
	static u64 numbers[MANY], again[MANY];
	static u8 bytes[COLUMN_ROOM_BYTES(MANY)];
	struct column_coder *coder;
	const u8 *stop, *cut;
	u64 seed = 11;
	size_t i;
	u32 n;

	(void)state;
	assert_int_equal(column_coder_open(&coder), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (n = 0; n < rows[i].count; n++)
			numbers[n] = rows[i].number(&seed);
		stop = column_encode(coder, numbers, rows[i].count, bytes);
		assert_row(rows[i].name, bytes[0] == rows[i].coding);
		assert_row(rows[i].name, stop <= bytes + COLUMN_ROOM_BYTES(rows[i].count));
		memset(again, 0xee, sizeof(again));
		assert_row(rows[i].name, column_decode(bytes, stop, again, rows[i].count) == stop);
		assert_row(rows[i].name, !memcmp(numbers, again, rows[i].count * sizeof(u64)));
		for (cut = bytes; cut < stop; cut++)
			assert_row(rows[i].name, !column_decode(bytes, cut, again, rows[i].count));
	}
	column_coder_close(coder);
}

static void numbers_of_every_length_are_restored(void **state)
{
	u64 numbers[4 * 65], again[4 * 65];
	u8 bytes[COLUMN_ROOM_BYTES(4 * 65)];
	struct column_coder *coder;
	const u8 *stop;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		numbers[i] = (i / 4 ? 1ull << (i / 4 - 1) : 0) - i % 4;
	assert_int_equal(column_coder_open(&coder), 0);
	stop = column_encode(coder, numbers, ARRAY_SIZE(numbers), bytes);
	assert_ptr_equal(column_decode(bytes, stop, again, ARRAY_SIZE(again)), stop);
	assert_memory_equal(numbers, again, sizeof(numbers));
	column_coder_close(coder);
}

static void differences_survive_the_sign(void **state)
{
	static const u64 values[] = { 0, 1, 2, ~0ull, ~1ull, 1ull << 63, (1ull << 63) - 1, 1234567890123 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(values); i++)
		assert_true(unzigzag(zigzag(values[i])) == values[i]);
	assert_int_equal(zigzag((u64)-1), 1);
	assert_int_equal(zigzag(1), 2);
}

/* -- the bytes --------------------------------------------------------------------------------------- */

/* The example of Documentation/trace-format.md: two records `clock`. */
static const u8 documented[] = {
	1,					       /* tables */
	2, 0, 1, 4, 2,				       /* clock: an event, 16 bytes, 2 columns */
	0x80, 1, 255, 0, 254, 254,		       /* time: the end of the preceding record */
	0x82, 3, 255, 27, 254, 254,		       /* wall clock: the preceding one */
	1, 0, 0,				       /* all records are of table 0 */
	0, 0xc8, 1, 20,				       /* 100, then 10 more */
	0, 0xd0, 0x0f, 0x13,			       /* 1000, then 10 less */
	0, 2, 0,				       /* tails of 2 and 0 bytes */
	'h', 'i',
};

static void bytes_are_the_documented_ones(void **state)
{
	const struct iot_rec_clock first = { 100, 1000 }, second = { 110, 990 };
	struct bench bench;
	const u8 *bytes;
	size_t count;
	u8 *p;

	(void)state;
	bench_open(&bench);
	p = iot_put_clock(bench.records, &first, "hi", 2);
	p = iot_put_clock(p, &second, NULL, 0);
	bench.bytes = (size_t)(p - bench.records);
	bench.count = 2;
	assert_int_equal(columns_encode(bench.columns, bench.records, bench.bytes, 2, &bytes, &count), 0);
	assert_int_equal(count, sizeof(documented));
	assert_memory_equal(bytes, documented, count);
	assert_same_again(&bench);
	bench_close(&bench);
}

#define EXAMPLE_BYTES 50 /* of its two records */

/* Decodes into memory of just that length, so that an overrun is detected. */
static int decode(const u8 *bytes, size_t byte_count, size_t record_bytes, u32 count)
{
	struct columns_decoder *decoder;
	u8 *records = malloc(record_bytes);
	int err;

	assert_non_null(records);
	assert_int_equal(columns_decoder_open(&decoder), 0);
	err = columns_decode(decoder, bytes, byte_count, records, record_bytes, count);
	columns_decoder_close(decoder);
	free(records);
	return err;
}

static int decode_changed(size_t at, u8 byte)
{
	u8 bytes[sizeof(documented)];

	memcpy(bytes, documented, sizeof(bytes));
	bytes[at] = byte;
	return decode(bytes, sizeof(bytes), EXAMPLE_BYTES, 2);
}

static void each_rule_of_the_tables_is_checked(void **state)
{
	static const struct {
		u8 at;
		u8 byte;
	} wrong[] = {
		{ 0, 2 },     /* a second table, which has no record */
		{ 3, 4 },     /* no form */
		{ 3, 0 },     /* whole records, with columns */
		{ 3, 3 },     /* an operation with two columns */
		{ 4, 5 },     /* four bytes without a column */
		{ 4, 3 },     /* a column behind the fields */
		{ 6, 0x81 },  /* columns that overlap */
		{ 12, 0x81 }, /* the same, at the end of the first */
		{ 7, 6 },     /* no predictor */
		{ 7, 5 },     /* the CPU time as the first column */
		{ 7, 2 },     /* another column that does not precede it */
		{ 14, 1 },    /* a key that is the column itself */
		{ 15, 48 },   /* no memory */
		{ 16, 2 },    /* no column to add */
		{ 17, 2 },    /* no column as the second key */
	};
	size_t i;

	(void)state;
	assert_int_equal(decode_changed(0, 1), 0);
	assert_int_equal(decode_changed(14, 0), 0); /* the first column as the key */
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (decode_changed(wrong[i].at, wrong[i].byte) != -EBADMSG)
			fail_msg("byte %u as %u is accepted", wrong[i].at, wrong[i].byte);
}

static void each_byte_of_the_columns_is_used(void **state)
{
	u8 bytes[sizeof(documented) + 1] = {};

	(void)state;
	memcpy(bytes, documented, sizeof(documented));
	assert_int_equal(decode(bytes, sizeof(bytes), EXAMPLE_BYTES, 2), -EBADMSG);
}

static void records_longer_than_their_room_are_refused(void **state)
{
	static const u8 whole[] = { 1, 7, 0, 0, 0, 0, 1, 0, 0, 0, 12, 12, 0, 7, 0, 0, 0, 0, 0, 1, 2, 3, 4 };
	static const u8 endless[] = { 1, 7, 0, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 2 };

	(void)state;
	assert_int_equal(decode(whole, sizeof(whole), 12, 1), 0);
	assert_int_equal(decode(whole, sizeof(whole), 8, 1), -EBADMSG);
	assert_int_equal(decode(whole, sizeof(whole), 11, 1), -EBADMSG);
	assert_int_equal(decode(endless, sizeof(endless), 12, 1), -EBADMSG);
}

static void cut_columns_are_refused(void **state)
{
	struct bench bench;
	const u8 *bytes;
	size_t count, cut;
	u64 seed = 5;
	u8 *copy;

	(void)state;
	bench_open(&bench);
	add_random_records(&bench, 40, &seed);
	assert_int_equal(columns_encode(bench.columns, bench.records, bench.bytes, bench.count, &bytes, &count), 0);
	for (cut = 0; cut < count; cut++) {
		copy = malloc(cut + 1); /* so that an overrun is detected */
		memcpy(copy, bytes, cut);
		assert_int_equal(columns_decode(bench.decoder, copy, cut, bench.again, bench.bytes, bench.count), -EBADMSG);
		free(copy);
	}
	assert_int_equal(columns_decode(bench.decoder, bytes, count, bench.again, bench.bytes - 1, bench.count), -EBADMSG);
	assert_int_equal(columns_decode(bench.decoder, bytes, count, bench.again, bench.bytes + 1, bench.count), -EBADMSG);
	assert_int_equal(columns_decode(bench.decoder, bytes, count, bench.again, bench.bytes, bench.count - 1), -EBADMSG);
	assert_int_equal(columns_decode(bench.decoder, bytes, count, bench.again, bench.bytes, bench.count + 1), -EBADMSG);
	assert_int_equal(columns_decode(bench.decoder, bytes, count, bench.again, bench.bytes, 0), -EBADMSG);
	assert_int_equal(columns_decode(bench.decoder, bytes, count, bench.again, bench.bytes, ~0u), -EBADMSG);
	bench_close(&bench);
}

static void changed_columns_are_refused_or_decoded(void **state)
{
	static u8 copy[ROOM_BYTES];
	struct bench bench;
	const u8 *bytes;
	size_t count, head;
	u64 seed = 99;
	u32 n, refused = 0;
	u8 *again;
	int err;

	(void)state;
	bench_open(&bench);
	for (n = 0; n < 4000; n++) {
		if (n % 100 == 0)
			add_random_records(&bench, 1 + (u32)random_below(&seed, 30), &seed);
		assert_int_equal(columns_encode(bench.columns, bench.records, bench.bytes, bench.count, &bytes, &count), 0);
		memcpy(copy, bytes, count);
		head = count < 400 ? count : 400;
		copy[random_below(&seed, n % 2 ? head : count)] = (u8)random_u64(&seed);
		copy[random_below(&seed, head)] ^= (u8)(1u << random_below(&seed, 8));
		again = malloc(bench.bytes); /* so that an overrun is detected */
		err = columns_decode(bench.decoder, copy, count, again, bench.bytes, bench.count);
		assert_true(!err || err == -EBADMSG);
		refused += err != 0;
		free(again);
	}
	assert_in_range(refused, 1000, 3999);
	bench_close(&bench);
}

SUITE("columns",
      TEST(records_of_each_kind_are_restored)
      TEST(random_records_are_restored_in_their_order)
      TEST(records_without_a_table_are_kept_as_they_are)
      TEST(records_of_many_unknown_kinds_are_restored)
      TEST(wrong_number_of_records_is_refused)
      TEST(numbers_are_restored_from_each_coding)
      TEST(numbers_of_every_length_are_restored)
      TEST(differences_survive_the_sign)
      TEST(bytes_are_the_documented_ones)
      TEST(each_rule_of_the_tables_is_checked)
      TEST(each_byte_of_the_columns_is_used)
      TEST(records_longer_than_their_room_are_refused)
      TEST(cut_columns_are_refused)
      TEST(changed_columns_are_refused_or_decoded))
