// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * column_code.c - the numbers of one column as bytes, in the form that zstd will make smallest.
 *
 * Numbers are differences from predictions, with the sign in the lowest bit. One pass counts what the forms would
 * need; the estimate is the entropy of the bytes that zstd codes one by one, plus the bits that it cannot shorten.
 */
#include <stdlib.h>

#include "columns.h"
#include "core/trace/record.h"

#define CLASSES	    65 /* of numbers: by their length in bits */
#define DISTINCT_MAX 255
#define HASH_SLOTS  1024
#define RUN_BITS    4 /* of the length of a run, roughly */
#define SAMPLE_RUNS 256 /* after so many runs, more than SAMPLE_DISTINCT different numbers are too many */
#define SAMPLE_DISTINCT 192
#define FEW	    16 /* numbers for which a choice is not worth a count */

/**
 * struct column_coder - counts of one column
 * @classes: numbers of each length
 * @rest_bits: of the numbers, all bits but the highest
 * @runs: of equal numbers
 * @run_bits: of the bytes for them
 * @distinct: different numbers; DISTINCT_MAX + 1 if there are more
 * @distinct_bits: of the bytes that list them
 * @values: they, in the order of their first appearance
 * @counts: how often each of them appears
 * @keys, @indexes: hash table of them, valid where @stamps has @stamp
 */
struct column_coder {
	u32 classes[CLASSES];
	u64 rest_bits;
	u32 runs;
	u64 run_bits;
	u32 distinct;
	u64 distinct_bits;
	u64 values[DISTINCT_MAX];
	u32 counts[DISTINCT_MAX];
	u64 keys[HASH_SLOTS];
	u8 indexes[HASH_SLOTS];
	u32 stamps[HASH_SLOTS];
	u32 stamp;
};

/**
 * column_coder_open() - make what column_encode() needs
 * @coder: out: to be freed by column_coder_close()
 *
 * Return: 0 or -ENOMEM.
 */
int column_coder_open(struct column_coder **coder)
{
	*coder = calloc(1, sizeof(**coder));
	return *coder ? 0 : -ENOMEM;
}

/**
 * column_coder_close() - free it; NULL is allowed
 */
void column_coder_close(struct column_coder *coder)
{
	free(coder);
}

/* -- the choice ----------------------------------------------------------------------------------- */

static inline u32 class_of(u64 number)
{
	return number ? 64 - (u32)__builtin_clzll(number) : 0;
}

/* Of a number of this class. */
static inline u32 varint_bits(u32 class)
{
	return class ? (class + 6) / 7 * 8 : 8;
}

/* The slot of a number in the hash table, which has more slots than numbers. */
static inline u32 slot_of(const struct column_coder *coder, u64 number)
{
	u32 slot = (u32)(number * 0x9e3779b97f4a7c15ull >> 54);

	while (coder->stamps[slot] == coder->stamp && coder->keys[slot] != number)
		slot = (slot + 1) % HASH_SLOTS;
	return slot;
}

static void count_distinct(struct column_coder *coder, u64 number, u32 times)
{
	u32 slot = slot_of(coder, number);

	if (coder->stamps[slot] == coder->stamp) {
		coder->counts[coder->indexes[slot]] += times;
		return;
	}
	if (coder->distinct < DISTINCT_MAX) {
		coder->stamps[slot] = coder->stamp;
		coder->keys[slot] = number;
		coder->indexes[slot] = (u8)coder->distinct;
		coder->values[coder->distinct] = number;
		coder->counts[coder->distinct] = times;
		coder->distinct_bits += varint_bits(class_of(number));
	}
	coder->distinct++;
}

static void survey_run(struct column_coder *coder, u64 number, u32 times)
{
	u32 class = class_of(number);

	coder->runs++;
	coder->run_bits += varint_bits(class) + RUN_BITS;
	coder->classes[class] += times;
	if (class)
		coder->rest_bits += (u64)(class - 1) * times;
	if (coder->distinct <= DISTINCT_MAX)
		count_distinct(coder, number, times);
	if (coder->runs == SAMPLE_RUNS && coder->distinct > SAMPLE_DISTINCT)
		coder->distinct = DISTINCT_MAX + 1;
}

static void survey(struct column_coder *coder, const u64 *numbers, u32 count)
{
	u32 i, begin = 0;

	memset(coder->classes, 0, sizeof(coder->classes));
	coder->rest_bits = 0;
	coder->runs = 0;
	coder->run_bits = 0;
	coder->distinct = 0;
	coder->distinct_bits = 0;
	if (!++coder->stamp) {
		memset(coder->stamps, 0, sizeof(coder->stamps));
		coder->stamp = 1;
	}
	for (i = 1; i <= count; i++) {
		if (i < count && numbers[i] == numbers[begin])
			continue;
		survey_run(coder, numbers[begin], i - begin);
		begin = i;
	}
}

/* 256 times the binary logarithm, with a straight line between powers of two. */
static u64 log2_256(u32 value)
{
	u32 whole = 31 - (u32)__builtin_clz(value);

	return (whole << 8) + (u32)(((u64)value << 8 >> whole) & 255);
}

/* Bits of @count symbols that appear so often, if each has the length that its frequency permits. */
static u64 entropy_bits(const u32 *counts, u32 symbols, u32 count)
{
	u64 sum = count * log2_256(count);
	u32 i;

	for (i = 0; i < symbols; i++)
		if (counts[i])
			sum -= counts[i] * log2_256(counts[i]);
	return sum >> 8;
}

static u8 choose(const struct column_coder *coder, u32 count)
{
	u64 runs = coder->run_bits, classes, distinct;

	if (coder->runs == 1)
		return IOT_CODING_RUNS;
	if (count < FEW)
		return IOT_CODING_VARINTS;
	classes = entropy_bits(coder->classes, CLASSES, count) + coder->rest_bits;
	if (coder->distinct > DISTINCT_MAX)
		return runs < classes ? IOT_CODING_RUNS : IOT_CODING_CLASSES;
	distinct = entropy_bits(coder->counts, coder->distinct, count) + coder->distinct_bits;
	if (runs < classes && runs < distinct)
		return IOT_CODING_RUNS;
	return distinct < classes ? IOT_CODING_DISTINCT : IOT_CODING_CLASSES;
}

/* -- to bytes -------------------------------------------------------------------------------------- */

static u8 *put_varints(const u64 *numbers, u32 count, u8 *p)
{
	u32 i;

	for (i = 0; i < count; i++)
		p = varint_put(p, numbers[i]);
	return p;
}

static u8 *put_runs(const u64 *numbers, u32 count, u8 *p)
{
	u32 i, begin = 0;

	for (i = 1; i <= count; i++) {
		if (i < count && numbers[i] == numbers[begin])
			continue;
		p = varint_put(p, numbers[begin]);
		p = varint_put(p, i < count ? i - begin : 0);
		begin = i;
	}
	return p;
}

static u8 *put_distinct(const struct column_coder *coder, const u64 *numbers, u32 count, u8 *p)
{
	u8 index = 0;
	u32 i;

	p = varint_put(p, coder->distinct);
	p = put_varints(coder->values, coder->distinct, p);
	for (i = 0; i < count; i++) {
		if (numbers[i] != coder->values[index])
			index = coder->indexes[slot_of(coder, numbers[i])];
		*p++ = index;
	}
	return p;
}

/* Bits on their way to bytes, the lowest first. */
struct bits {
	u64 bits;
	u32 count;
};

/* @count: at most 32 */
static inline u8 *bits_put(struct bits *bits, u8 *p, u64 value, u32 count)
{
	bits->bits |= value << bits->count;
	bits->count += count;
	if (bits->count >= 32) {
		p = iot_put_u32(p, (u32)bits->bits);
		bits->bits >>= 32;
		bits->count -= 32;
	}
	return p;
}

static u8 *put_classes(const u64 *numbers, u32 count, u8 *p)
{
	struct bits bits = {};
	u8 *classes = p;
	u32 i, class;
	u64 rest;

	p += count;
	for (i = 0; i < count; i++) {
		class = class_of(numbers[i]);
		*classes++ = (u8)class;
		if (class < 2)
			continue;
		rest = numbers[i] & ~(1ull << (class - 1));
		if (--class > 32) {
			p = bits_put(&bits, p, rest & 0xffffffff, 32);
			rest >>= 32;
			class -= 32;
		}
		p = bits_put(&bits, p, rest, class);
	}
	for (; bits.count; bits.count = bits.count > 8 ? bits.count - 8 : 0) {
		*p++ = (u8)bits.bits;
		bits.bits >>= 8;
	}
	return p;
}

/**
 * column_encode() - the numbers of a column as bytes
 * @coder: what it needs
 * @numbers: zigzag() of the differences
 * @count: at least 1
 * @p: room for COLUMN_ROOM_BYTES(@count)
 *
 * Return: the byte after the last one.
 */
u8 *column_encode(struct column_coder *coder, const u64 *numbers, u32 count, u8 *p)
{
	survey(coder, numbers, count);
	*p = choose(coder, count);
	switch (*p++) {
	case IOT_CODING_RUNS:
		return put_runs(numbers, count, p);
	case IOT_CODING_DISTINCT:
		return put_distinct(coder, numbers, count, p);
	case IOT_CODING_CLASSES:
		return put_classes(numbers, count, p);
	default:
		return put_varints(numbers, count, p);
	}
}

/* -- and back ---------------------------------------------------------------------------------------- */

/* Return: the byte after the numbers, or NULL. */
static const u8 *get_varints(const u8 *p, const u8 *stop, u64 *numbers, u32 count)
{
	u32 i;

	for (i = 0; i < count && p; i++)
		p = varint_get(p, stop, &numbers[i]);
	return p;
}

static const u8 *get_runs(const u8 *p, const u8 *stop, u64 *numbers, u32 count)
{
	u64 number, length;

	while (count) {
		p = varint_get(p, stop, &number);
		p = p ? varint_get(p, stop, &length) : NULL;
		if (!p || length > count)
			return NULL;
		length = length ? length : count;
		count -= (u32)length;
		while (length--)
			*numbers++ = number;
	}
	return p;
}

static const u8 *get_distinct(const u8 *p, const u8 *stop, u64 *numbers, u32 count)
{
	u64 values[256], distinct;
	u32 i;

	p = varint_get(p, stop, &distinct);
	if (!p || distinct > 256)
		return NULL;
	p = get_varints(p, stop, values, (u32)distinct);
	if (!p || (size_t)(stop - p) < count)
		return NULL;
	for (i = 0; i < count; i++) {
		if (p[i] >= distinct)
			return NULL;
		numbers[i] = values[p[i]];
	}
	return p + count;
}

/* Bits of bytes, as they are used up. */
struct bit_reader {
	const u8 *p;
	const u8 *stop;
	u64 bits;
	u32 count;
};

/* @count: at most 32, and not more than there are */
static inline u64 bits_get(struct bit_reader *reader, u32 count)
{
	u64 value;

	if (reader->count < count && reader->stop - reader->p >= 4) {
		reader->bits |= (u64)iot_get_u32(reader->p) << reader->count;
		reader->p += 4;
		reader->count += 32;
	}
	for (; reader->count < count; reader->count += 8)
		reader->bits |= (u64)*reader->p++ << reader->count;
	value = reader->bits & ((1ull << count) - 1);
	reader->bits >>= count;
	reader->count -= count;
	return value;
}

/* Bytes of the bits behind the classes. Return: false if a class is impossible. */
static bool rest_bytes(const u8 *classes, u32 count, size_t *bytes)
{
	u64 bits = 0;
	u8 largest = 0;
	u32 i;

	for (i = 0; i < count; i++) {
		bits += classes[i] - (classes[i] > 0);
		largest = classes[i] > largest ? classes[i] : largest;
	}
	*bytes = (bits + 7) / 8;
	return largest < CLASSES;
}

static const u8 *get_classes(const u8 *p, const u8 *stop, u64 *numbers, u32 count)
{
	struct bit_reader reader = {};
	u32 i, class;
	size_t bytes;
	u64 rest;

	if ((size_t)(stop - p) < count || !rest_bytes(p, count, &bytes) || bytes > (size_t)(stop - p) - count)
		return NULL;
	reader.p = p + count;
	reader.stop = reader.p + bytes;
	for (i = 0; i < count; i++) {
		class = p[i];
		if (class < 2) {
			numbers[i] = class;
			continue;
		}
		rest = bits_get(&reader, --class > 32 ? 32 : class);
		if (class > 32)
			rest |= bits_get(&reader, class - 32) << 32;
		numbers[i] = 1ull << class | rest;
	}
	return reader.stop;
}

/**
 * column_decode() - the numbers of a column from bytes
 * @p: the bytes, not trusted
 * @stop: end of what may be read
 * @numbers: out: as they were given to column_encode()
 * @count: how many
 *
 * Return: the byte after the column, NULL if it is damaged.
 */
const u8 *column_decode(const u8 *p, const u8 *stop, u64 *numbers, u32 count)
{
	if (p == stop)
		return NULL;
	switch (*p++) {
	case IOT_CODING_VARINTS:
		return get_varints(p, stop, numbers, count);
	case IOT_CODING_RUNS:
		return get_runs(p, stop, numbers, count);
	case IOT_CODING_DISTINCT:
		return get_distinct(p, stop, numbers, count);
	case IOT_CODING_CLASSES:
		return get_classes(p, stop, numbers, count);
	default:
		return NULL;
	}
}
