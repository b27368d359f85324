/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shape.h - the common part of the operations of a loop: everything except their operands.
 *
 * Bytes of a shape: kind, flags, depth, a mask of its roles, for each field whether it is an operand, otherwise its
 * value, template of the path and of the second path with their lengths, value with its length, numbers in the list; and, if
 * it is known, the call site with its length.
 * Operands, in order: fields, roles, numbers of the path, numbers of the second path, list.
 */
#ifndef IOTAPE_PATTERN_SHAPE_H
#define IOTAPE_PATTERN_SHAPE_H

#include "event.h"
#include "template.h"

/**
 * struct shape - a shape that was read from its bytes, which it points into
 * @roles: mask of enum event_role
 * @operand_fields: mask of the fields that are operands
 * @fields: values of the others
 * @has_late_fields: one of the fields of event_count_late_fields() is not 0
 * @operand_count: of all
 */
struct shape {
	u16 kind;
	u8 flags;
	u32 depth;
	u32 roles;
	u32 operand_fields;
	u32 field_count;
	u64 fields[EVENT_FIELDS_MAX];
	bool has_late_fields;
	const u8 *path;
	size_t path_bytes;
	const u8 *path2;
	size_t path2_bytes;
	const u8 *value;
	size_t value_bytes;
	u32 list_count;
	u32 operand_count;
	const u8 *site;
	size_t site_bytes;
};

void shape_put(struct bytes *bytes, const struct event *event, struct widths *widths, struct numbers *operands);
void shape_put_renamed(struct bytes *bytes, const u8 *raw, size_t count, const struct shape *shape, const struct bytes *path,
		       const struct bytes *path2);
bool shape_get(const u8 *bytes, size_t count, struct shape *shape);
void shape_make_event(const struct shape *shape, const u64 *operands, struct bytes texts[2], struct event *event);
s64 shape_operand_of_field(const struct shape *shape, u32 field);

/* Shapes by number; equal ones have one number. */
struct shape_entry;

/**
 * struct shapes - a set of shapes; all zero is an empty one
 */
struct shapes {
	struct shape_entry *table;
	struct shape_entry **entries;
	u32 count;
	u32 room;
};

int shapes_add(struct shapes *shapes, const u8 *bytes, size_t count, u32 *index);
const struct shape *shapes_at(const struct shapes *shapes, u32 index);
const u8 *shapes_bytes(const struct shapes *shapes, u32 index, size_t *count);
bool shapes_have_sites(const struct shapes *shapes);
bool shapes_have_more_roles(const struct shapes *shapes);
bool shapes_have_late_fields(const struct shapes *shapes);
void shapes_free(struct shapes *shapes);

#endif
