// SPDX-License-Identifier: GPL-2.0-only
/*
 * flat.c - FlatBuffers.
 */
#include "flat.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 8 /* of the largest number */

/* Return: position of these bytes, which are zero. */
static size_t append(struct flat *f, size_t bytes)
{
	size_t at = f->count, room = f->room;
	u8 *larger;

	if (at + bytes > room) {
		room = 2 * (at + bytes);
		larger = f->is_lost ? NULL : realloc(f->bytes, room);
		if (!larger) {
			f->is_lost = true;
			return 0;
		}
		f->bytes = larger;
		f->room = room;
	}
	if (bytes)
		memset(f->bytes + at, 0, bytes);
	f->count += bytes;
	return at;
}

static void align(struct flat *f, size_t bytes)
{
	append(f, -f->count % bytes);
}

/**
 * flat_set() - set a number
 * @f: the buffer
 * @at: its position
 * @value: of it
 * @bytes: 1, 2, 4 or 8
 */
void flat_set(struct flat *f, size_t at, u64 value, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes && !f->is_lost; i++)
		f->bytes[at + i] = (u8)(value >> 8 * i);
}

/* The next object is the one that a field refers to. */
static void refer(struct flat *f, size_t reference)
{
	flat_set(f, reference, f->count - reference, 4);
}

/**
 * flat_begin() - begin a buffer
 * @f: the buffer, which may have the memory of another
 *
 * The field that refers to its root is at position 0.
 */
void flat_begin(struct flat *f)
{
	f->count = 0;
	append(f, 4);
}

/**
 * flat_table() - write a table
 * @f: the buffer
 * @reference: position of the field that refers to it
 * @widths: bytes of each field, 4 for a reference; 0: the table lacks it
 * @count: of fields, at most FLAT_FIELDS_MAX
 *
 * Return: positions of its fields, which are 0.
 */
struct flat_table flat_table(struct flat *f, size_t reference, const u8 *widths, size_t count)
{
	struct flat_table table = {};
	size_t list, begin, i;

	align(f, 2);
	list = append(f, 4 + 2 * count);
	align(f, ALIGNMENT);
	refer(f, reference);
	begin = append(f, 4);
	flat_set(f, begin, begin - list, 4);
	for (i = 0; i < count; i++) {
		if (!widths[i])
			continue;
		align(f, widths[i]);
		table.at[i] = append(f, widths[i]);
		flat_set(f, list + 4 + 2 * i, table.at[i] - begin, 2);
	}
	flat_set(f, list, 4 + 2 * count, 2);
	flat_set(f, list + 2, f->count - begin, 2);
	return table;
}

/**
 * flat_text() - write a text
 * @f: the buffer
 * @reference: position of the field that refers to it
 * @text: in UTF-8
 */
void flat_text(struct flat *f, size_t reference, const char *text)
{
	size_t bytes = strlen(text), at;

	align(f, 4);
	refer(f, reference);
	flat_set(f, append(f, 4), bytes, 4);
	at = append(f, bytes + 1);
	if (!f->is_lost)
		memcpy(f->bytes + at, text, bytes);
}

/**
 * flat_vector() - write a vector
 * @f: the buffer
 * @reference: position of the field that refers to it
 * @count: of elements
 * @element_bytes: of each: 4 of references, and a multiple of 8 of structures
 *
 * Return: position of the first element; all are 0.
 */
size_t flat_vector(struct flat *f, size_t reference, u32 count, size_t element_bytes)
{
	align(f, 4);
	if (element_bytes % ALIGNMENT == 0 && f->count % ALIGNMENT == 0)
		append(f, 4);
	refer(f, reference);
	flat_set(f, append(f, 4), count, 4);
	return append(f, count * element_bytes);
}

/**
 * flat_end() - pad a buffer, so that 8 divides its length
 */
void flat_end(struct flat *f)
{
	align(f, ALIGNMENT);
}
