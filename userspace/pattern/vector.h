/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vector.h - growing arrays of numbers and of bytes. A failed allocation is remembered, so that a sequence of
 * additions needs one check at its end.
 */
#ifndef IOTAPE_PATTERN_VECTOR_H
#define IOTAPE_PATTERN_VECTOR_H

#include <stdlib.h>
#include <string.h>

#include "core/port.h"

/**
 * struct numbers - an array of numbers; all zero is an empty one
 * @values: the numbers
 * @count: their number
 * @room: how many there is memory for
 * @is_failed: memory ran out, and numbers are missing
 */
struct numbers {
	u64 *values;
	size_t count;
	size_t room;
	bool is_failed;
};

static inline void numbers_add(struct numbers *n, u64 value)
{
	if (n->count == n->room) {
		size_t room = n->room ? 2 * n->room : 8;
		u64 *values = reallocarray(n->values, room, sizeof(*values));

		if (!values) {
			n->is_failed = true;
			return;
		}
		n->values = values;
		n->room = room;
	}
	n->values[n->count++] = value;
}

static inline void numbers_add_all(struct numbers *n, const struct numbers *other)
{
	size_t i;

	for (i = 0; i < other->count; i++)
		numbers_add(n, other->values[i]);
	n->is_failed |= other->is_failed;
}

static inline void numbers_free(struct numbers *n)
{
	free(n->values);
	*n = (struct numbers){};
}

/**
 * struct bytes - an array of bytes; all zero is an empty one. Members as in struct numbers.
 */
struct bytes {
	u8 *data;
	size_t count;
	size_t room;
	bool is_failed;
};

static inline void bytes_add(struct bytes *b, const void *data, size_t count)
{
	if (b->room - b->count < count) {
		size_t room = 2 * b->room + count + 64;
		u8 *grown = realloc(b->data, room);

		if (!grown) {
			b->is_failed = true;
			return;
		}
		b->data = grown;
		b->room = room;
	}
	if (count)
		memcpy(b->data + b->count, data, count);
	b->count += count;
}

/* Digits, with zeros before them if there are fewer than the width. */
static inline void bytes_add_decimal(struct bytes *b, u64 value, u32 width)
{
	char digits[32];
	u32 at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (at && (value || sizeof(digits) - at < width));
	bytes_add(b, digits + at, sizeof(digits) - at);
}

static inline void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){};
}

/* Seven bits per byte, the lowest first; the highest bit means that another byte follows. */
static inline void bytes_put(struct bytes *b, u64 value)
{
	u8 data[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		data[n++] = (u8)(value | 0x80);
	data[n++] = (u8)value;
	bytes_add(b, data, n);
}

/* Numbers that are small in either direction are short. */
static inline u64 zigzag(u64 value)
{
	return value << 1 ^ (0 - (value >> 63));
}

static inline u64 unzigzag(u64 value)
{
	return value >> 1 ^ (0 - (value & 1));
}

static inline void bytes_put_signed(struct bytes *b, u64 value)
{
	bytes_put(b, zigzag(value));
}

/**
 * struct input - bytes that are read; after a failure all reads return 0
 * @work: steps of checks so far, so that a small file cannot cause many steps
 * @is_out_of_memory: the reason of a failure that the bytes are not to blame for
 */
struct input {
	const u8 *data;
	size_t count;
	size_t at;
	u64 work;
	bool is_failed;
	bool is_out_of_memory;
};

/* @memory: that was allocated for what is read; NULL is a failure. */
static inline void *input_allocated(struct input *in, void *memory)
{
	in->is_failed |= !memory;
	in->is_out_of_memory |= !memory;
	return memory;
}

static inline u64 input_get(struct input *in)
{
	u64 value = 0;
	u32 shift;

	for (shift = 0; shift < 64 && in->at < in->count && !in->is_failed; shift += 7) {
		u8 byte = in->data[in->at++];

		value |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	in->is_failed = true;
	return 0;
}

static inline u64 input_get_signed(struct input *in)
{
	return unzigzag(input_get(in));
}

/* A number of things that take a byte each at least. */
static inline u64 input_get_count(struct input *in)
{
	u64 count = input_get(in);

	if (count > in->count - in->at)
		in->is_failed = true;
	return in->is_failed ? 0 : count;
}

static inline const u8 *input_get_bytes(struct input *in, size_t count)
{
	const u8 *data = in->data + in->at;

	if (in->is_failed || count > in->count - in->at) {
		in->is_failed = true;
		return NULL;
	}
	in->at += count;
	return data;
}

#endif
