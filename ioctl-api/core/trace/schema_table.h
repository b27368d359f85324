/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * schema_table.h - the record tables of schema.h as data, for code that walks them:
 * printers, comparison, documentation, tests. Not in the modules, which only encode.
 */
#ifndef IOTAPE_SCHEMA_TABLE_H
#define IOTAPE_SCHEMA_TABLE_H

#include <iotape/schema.h>

#include "core/port.h"
#include "record.h"

enum iot_wire_type {
	IOT_WIRE_TYPE_u32,
	IOT_WIRE_TYPE_s32,
	IOT_WIRE_TYPE_u64,
	IOT_WIRE_TYPE_s64,
};

/**
 * struct iot_field - one field of a kind of record
 * @name: as in schema.h
 * @sentence: its meaning
 * @type: its form on the wire
 * @class: an enum iot_class
 * @offset_bytes: of it in struct iot_rec_KIND, and so in the members of struct iot_record
 */
struct iot_field {
	const char *name;
	const char *sentence;
	enum iot_wire_type type;
	enum iot_class class;
	size_t offset_bytes;
};

/**
 * struct iot_kind_info - one kind of record
 * @name: as in schema.h
 * @sentence: its meaning
 * @kind: its id
 * @group: an enum iot_group
 * @wire_bytes: of head and fields
 * @field_count: number of fields
 * @fields: the fields, in wire order
 */
struct iot_kind_info {
	const char *name;
	const char *sentence;
	u16 kind;
	enum iot_group group;
	u32 wire_bytes;
	u32 field_count;
	const struct iot_field *fields;
};

/* A name for a value or a bit of a field. */
struct iot_symbol {
	u64 value;
	const char *name;
	const char *sentence;
};

/**
 * struct iot_class_info - common properties of the fields of a class
 * @name: as in schema.h
 * @sentence: its meaning
 * @is_compared: must two runs of the same program agree?
 * @is_bits: @symbols are bits rather than values
 * @symbols: names of values or bits, ended by one without a name; or NULL
 */
struct iot_class_info {
	const char *name;
	const char *sentence;
	bool is_compared;
	bool is_bits;
	const struct iot_symbol *symbols;
};

const struct iot_kind_info *iot_kind_at(size_t index);
const struct iot_kind_info *iot_kind_info(u16 kind);
const struct iot_kind_info *iot_kind_by_name(const char *name);
const char *iot_kind_tail(u16 kind);
bool iot_kind_is_span(const struct iot_kind_info *info);
struct iot_class_info iot_class_info(enum iot_class class);
const char *iot_group_name(enum iot_group group);
const char *iot_wire_type_name(enum iot_wire_type type);
u32 iot_wire_type_bytes(enum iot_wire_type type);

u64 iot_field_get(const struct iot_record *record, const struct iot_field *field);
void iot_field_set(struct iot_record *record, const struct iot_field *field, u64 value);
u64 iot_record_end_ns(const struct iot_record *record);
u32 iot_record_task(const struct iot_record *record);

#endif
