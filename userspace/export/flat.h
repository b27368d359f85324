/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flat.h - writes FlatBuffers, from front to back. Private to this directory.
 *
 * Source of the format: "FlatBuffers internals" of flatbuffers.dev. A buffer is an offset to its root and objects, all numbers
 * little-endian and aligned to their sizes. A table is a signed distance back to its list of fields, and the fields. The list
 * is its own length in bytes, that of the table, and the place of each field in the table, 0 for one that it lacks: 16 bits
 * each. A field that is a text, a vector or another table is a distance to it, forwards: here it is written after the table.
 *
 * Positions are from the beginning of the buffer. Without memory nothing is written any more.
 */
#ifndef IOTAPE_EXPORT_FLAT_H
#define IOTAPE_EXPORT_FLAT_H

#include "core/port.h"

#define FLAT_FIELDS_MAX 8

/**
 * struct flat - a buffer
 * @bytes: its contents, @count, in memory of @room
 * @is_lost: there was no memory for all of them
 */
struct flat {
	u8 *bytes;
	size_t count;
	size_t room;
	bool is_lost;
};

/**
 * struct flat_table - a table that was written
 * @at: position of each of its fields
 */
struct flat_table {
	size_t at[FLAT_FIELDS_MAX];
};

void flat_begin(struct flat *f);
struct flat_table flat_table(struct flat *f, size_t reference, const u8 *widths, size_t count);
void flat_text(struct flat *f, size_t reference, const char *text);
size_t flat_vector(struct flat *f, size_t reference, u32 count, size_t element_bytes);
void flat_set(struct flat *f, size_t at, u64 value, size_t bytes);
void flat_end(struct flat *f);

#endif
