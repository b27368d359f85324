// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * schema_table.c - the tables of schema.h as data.
 */
#include "schema_table.h"

/* -- kinds and their fields ------------------------------------------------ */

#define FIELD_ROW(type_, field, class_, sentence_)     \
	{ .name = #field,                              \
	  .sentence = sentence_,                       \
	  .type = IOT_WIRE_TYPE_##type_,               \
	  .class = IOT_CLASS_##class_,                 \
	  .offset_bytes = offsetof(this_record, field) },

/* A function for each kind, because only there the struct can have a name known to FIELD_ROW. */
#define KIND_INFO(id, name_, group_, sentence_)                                          \
	static const struct iot_kind_info *info_##name_(void)                            \
	{                                                                                \
		typedef struct iot_rec_##name_ this_record;                              \
		static const struct iot_field fields[] = { IOT_FIELDS_##name_(FIELD_ROW) }; \
		static const struct iot_kind_info info = {                               \
			.name = #name_,                                                  \
			.sentence = sentence_,                                           \
			.kind = id,                                                      \
			.group = IOT_GROUP_##group_,                                     \
			.wire_bytes = IOT_WIRE_##name_,                                  \
			.field_count = ARRAY_SIZE(fields),                               \
			.fields = fields,                                                \
		};                                                                       \
		return &info;                                                            \
	}
IOT_RECORDS(KIND_INFO)

static const struct iot_kind_info *(*const infos[])(void) = {
#define INFO_POINTER(id, name, group, sentence) info_##name,
	IOT_RECORDS(INFO_POINTER)
#undef INFO_POINTER
};

/**
 * iot_kind_at() - walk all kinds
 * @index: from 0
 *
 * Return: the kind, in the order of the table; NULL past the last.
 */
const struct iot_kind_info *iot_kind_at(size_t index)
{
	return index < ARRAY_SIZE(infos) ? infos[index]() : NULL;
}

/**
 * iot_kind_info() - a kind by its id
 * @kind: any number
 *
 * Return: the kind, or NULL if there is none.
 */
const struct iot_kind_info *iot_kind_info(u16 kind)
{
	switch (kind) {
#define INFO_CASE(id, name, group, sentence) \
	case id:                             \
		return info_##name();
		IOT_RECORDS(INFO_CASE)
#undef INFO_CASE
	default:
		return NULL;
	}
}

/**
 * iot_kind_by_name() - a kind by its name
 * @name: any text
 *
 * Return: the kind, or NULL if there is none.
 */
const struct iot_kind_info *iot_kind_by_name(const char *name)
{
	const struct iot_kind_info *info;
	size_t i;

	for (i = 0; (info = iot_kind_at(i)); i++)
		if (!strcmp(info->name, name))
			return info;
	return NULL;
}

/**
 * iot_kind_tail() - contents of the tail of a kind of record
 * @kind: any number
 *
 * Return: a sentence, or NULL if such a record has no tail.
 */
const char *iot_kind_tail(u16 kind)
{
	switch (kind) {
#define TAIL_CASE(name, sentence) \
	case IOT_KIND_##name:     \
		return sentence;
		IOT_TAILS(TAIL_CASE)
#undef TAIL_CASE
	default:
		return NULL;
	}
}

/**
 * iot_group_name() - a group as text
 * @group: the group
 */
const char *iot_group_name(enum iot_group group)
{
	static const char *const names[] = { "run", "who", "life", "op", "mpi", "replay" };

	return names[group];
}

/* -- wire types ------------------------------------------------------------- */

/**
 * iot_wire_type_name() - a wire type as text
 * @type: the type
 */
const char *iot_wire_type_name(enum iot_wire_type type)
{
	static const char *const names[] = { "u32", "s32", "u64", "s64" };

	return names[type];
}

/**
 * iot_wire_type_bytes() - size of a wire type
 * @type: the type
 */
u32 iot_wire_type_bytes(enum iot_wire_type type)
{
	return type == IOT_WIRE_TYPE_u32 || type == IOT_WIRE_TYPE_s32 ? 4 : 8;
}

/**
 * iot_field_get() - value of a field
 * @record: of the kind that the field is of
 * @field: the field
 *
 * Return: the value; a signed one is extended to 64 bits.
 */
u64 iot_field_get(const struct iot_record *record, const struct iot_field *field)
{
	const u8 *p = (const u8 *)&record->op + field->offset_bytes;
	u32 narrow;
	u64 wide;

	if (iot_wire_type_bytes(field->type) == 8) {
		memcpy(&wide, p, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, p, sizeof(narrow));
	return field->type == IOT_WIRE_TYPE_s32 ? (u64)(s64)(s32)narrow : narrow;
}

/**
 * iot_field_set() - change a field
 * @record: of the kind that the field is of
 * @field: the field
 * @value: its new value, of which a narrow field takes the low half
 */
void iot_field_set(struct iot_record *record, const struct iot_field *field, u64 value)
{
	u8 *p = (u8 *)&record->op + field->offset_bytes;
	u32 narrow = (u32)value;

	if (iot_wire_type_bytes(field->type) == 8)
		memcpy(p, &value, sizeof(value));
	else
		memcpy(p, &narrow, sizeof(narrow));
}

/* -- questions that many ask ------------------------------------------------ */

/**
 * iot_kind_is_span() - has a record of this kind a length of time?
 * @info: the kind
 *
 * Such a record is written when that time has passed.
 */
bool iot_kind_is_span(const struct iot_kind_info *info)
{
	return info->field_count > 1 && info->fields[1].class == IOT_CLASS_span;
}

/**
 * iot_record_end_ns() - when the record was written: the order of the records of a stream
 * @record: of a known kind
 */
u64 iot_record_end_ns(const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	u64 begin_ns = iot_field_get(record, &info->fields[0]);

	return iot_kind_is_span(info) ? begin_ns + iot_field_get(record, &info->fields[1]) :
					begin_ns;
}

/**
 * iot_record_task() - the task that a record is about
 * @record: of any kind
 *
 * Return: its id, 0 if the kind has none.
 */
u32 iot_record_task(const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	u32 i;

	for (i = 0; info && i < info->field_count; i++)
		if (info->fields[i].class == IOT_CLASS_task)
			return (u32)iot_field_get(record, &info->fields[i]);
	return 0;
}

/* -- classes and their symbols ---------------------------------------------- */

#define VALUE_ROW(value_, name_, sentence_) { .value = value_, .name = #name_, .sentence = sentence_ },
#define BIT_ROW(bit_, name_, sentence_) \
	{ .value = 1ULL << bit_, .name = #name_, .sentence = sentence_ },

static const struct iot_symbol reasons[] = { IOT_REASONS(VALUE_ROW) {} };
static const struct iot_symbol verdicts[] = { IOT_VERDICTS(VALUE_ROW) {} };
static const struct iot_symbol verbs[] = { IOT_VERBS(VALUE_ROW) {} };
static const struct iot_symbol measures[] = { IOT_MEASURES(VALUE_ROW) {} };
static const struct iot_symbol endings[] = { IOT_ENDINGS(VALUE_ROW) {} };
static const struct iot_symbol sources[] = { IOT_SOURCES(VALUE_ROW) {} };
static const struct iot_symbol mpi_whences[] = { IOT_MPI_WHENCES(VALUE_ROW) {} };
static const struct iot_symbol whences[] = { IOT_WHENCES(VALUE_ROW) {} };
static const struct iot_symbol types[] = { IOT_TYPES(VALUE_ROW) {} };
static const struct iot_symbol calls[] = { IOT_CALLS(VALUE_ROW) {} };
static const struct iot_symbol open_flags[] = { IOT_OPEN_FLAGS(BIT_ROW) {} };
static const struct iot_symbol rw_flags[] = { IOT_RW_FLAGS(BIT_ROW) {} };
static const struct iot_symbol attrs[] = { IOT_ATTRS(BIT_ROW) {} };
static const struct iot_symbol intents[] = { IOT_INTENTS(BIT_ROW) {} };
static const struct iot_symbol rename_flags[] = { IOT_RENAME_FLAGS(BIT_ROW) {} };
static const struct iot_symbol prots[] = { IOT_PROTS(BIT_ROW) {} };
static const struct iot_symbol map_flags[] = { IOT_MAP_FLAGS(BIT_ROW) {} };
static const struct iot_symbol touch_flags[] = { IOT_TOUCH_FLAGS(BIT_ROW) {} };
static const struct iot_symbol falloc_flags[] = { IOT_FALLOC_FLAGS(BIT_ROW) {} };
static const struct iot_symbol lock_flags[] = { IOT_LOCK_FLAGS(BIT_ROW) {} };
static const struct iot_symbol fileattrs[] = { IOT_FILEATTRS(BIT_ROW) {} };

/* Which symbols a class has, for those that have any. */
static const struct {
	const struct iot_symbol *symbols;
	bool is_bits;
} class_symbols[IOT_CLASS_END] = {
	[IOT_CLASS_reason] = { reasons, false },
	[IOT_CLASS_whence] = { whences, false },
	[IOT_CLASS_type] = { types, false },
	[IOT_CLASS_call] = { calls, false },
	[IOT_CLASS_open_flags] = { open_flags, true },
	[IOT_CLASS_rw_flags] = { rw_flags, true },
	[IOT_CLASS_attrs] = { attrs, true },
	[IOT_CLASS_intents] = { intents, true },
	[IOT_CLASS_rename_flags] = { rename_flags, true },
	[IOT_CLASS_prot] = { prots, true },
	[IOT_CLASS_map_flags] = { map_flags, true },
	[IOT_CLASS_touch_flags] = { touch_flags, true },
	[IOT_CLASS_falloc_flags] = { falloc_flags, true },
	[IOT_CLASS_lock_flags] = { lock_flags, true },
	[IOT_CLASS_fileattrs] = { fileattrs, true },
	[IOT_CLASS_verdict] = { verdicts, false },
	[IOT_CLASS_sources] = { sources, false },
	[IOT_CLASS_mpi_whence] = { mpi_whences, false },
	[IOT_CLASS_verb] = { verbs, false },
	[IOT_CLASS_measure] = { measures, false },
	[IOT_CLASS_ending] = { endings, false },
};

static const struct {
	const char *name;
	const char *sentence;
	bool is_compared;
} classes[IOT_CLASS_END] = {
#define CLASS_ROW(class, compared, sentence) { #class, sentence, compared },
	IOT_CLASSES(CLASS_ROW)
#undef CLASS_ROW
};

/**
 * iot_class_info() - common properties of the fields of a class
 * @class: the class
 */
struct iot_class_info iot_class_info(enum iot_class class)
{
	return (struct iot_class_info){
		.name = classes[class].name,
		.sentence = classes[class].sentence,
		.is_compared = classes[class].is_compared,
		.is_bits = class_symbols[class].is_bits,
		.symbols = class_symbols[class].symbols,
	};
}
