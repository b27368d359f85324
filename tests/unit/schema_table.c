// SPDX-License-Identifier: GPL-2.0-only
/*
 * schema_table.c - the record tables are consistent, and agree with the structs.
 */
#include "core/trace/schema_table.h"

#include <ctype.h>
#include <iotape/op_classes.h>
#include <stdio.h>
#include <stdlib.h>

#include "suite.h"

static bool is_identifier(const char *name)
{
	if (!name || !islower((unsigned char)*name))
		return false;
	for (; *name; name++)
		if (!islower((unsigned char)*name) && !isdigit((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

/* A sentence for users: text without a line end, and no full stop at its end. */
static bool is_sentence(const char *text)
{
	size_t bytes = text ? strlen(text) : 0, i;

	for (i = 0; i < bytes; i++)
		if (!isprint((unsigned char)text[i]))
			return false;
	return bytes > 1 && (text[bytes - 1] != '.' || text[bytes - 2] == '.');
}

static void kinds_have_ascending_ids(void **state)
{
	const struct iot_kind_info *info, *before = NULL;
	size_t k;

	(void)state;
	for (k = 0; (info = iot_kind_at(k)); k++) {
		assert_row(info->name, info->kind > 0 && info->kind < IOT_KIND_END);
		assert_row(info->name, !before || info->kind > before->kind);
		assert_row(info->name, !before || info->group >= before->group);
		assert_row(info->name, is_identifier(info->name) && is_sentence(info->sentence));
		assert_row(info->name, iot_kind_info(info->kind) == info);
		assert_row(info->name, iot_kind_by_name(info->name) == info);
		before = info;
	}
	assert_true(k > 50);
	assert_null(iot_kind_at(k));
	assert_null(iot_kind_at((size_t)-1));
	assert_null(iot_kind_info(0));
	assert_null(iot_kind_by_name("frobnicate"));
}

static void groups_have_names(void **state)
{
	enum iot_group group, other;

	(void)state;
	for (group = IOT_GROUP_run; group <= IOT_GROUP_replay; group++) {
		assert_true(is_identifier(iot_group_name(group)));
		assert_null(iot_kind_by_name(iot_group_name(group))); /* dump accepts both */
		for (other = IOT_GROUP_run; other < group; other++)
			assert_string_not_equal(iot_group_name(group), iot_group_name(other));
	}
	assert_string_equal(iot_group_name(IOT_GROUP_run), "run");
	assert_string_equal(iot_group_name(IOT_GROUP_op), "op");
	assert_string_equal(iot_group_name(IOT_GROUP_replay), "replay");
}

static void fields_are_where_the_struct_has_them(void **state)
{
	const struct iot_kind_info *info;
	struct iot_record record;
	u8 wire[IOT_RECORD_MAX_BYTES];
	size_t k, at;
	u32 f, i, bytes;

	(void)state;
	for (k = 0; (info = iot_kind_at(k)); k++) {
		for (f = 0, at = IOT_RECORD_HEAD_BYTES; f < info->field_count; f++) {
			const struct iot_field *field = &info->fields[f];

			assert_row(field->name, is_identifier(field->name) && is_sentence(field->sentence));
			for (i = 0; i < f; i++)
				assert_row(info->name, strcmp(field->name, info->fields[i].name));
			/* one field of ones: exactly its bytes of the wire form are ones */
			memset(&record, 0, sizeof(record));
			record.kind = info->kind;
			iot_field_set(&record, field, ~0ull);
			assert_row(info->name, iot_record_encode(wire, sizeof(wire), &record) ==
						       (s32)info->wire_bytes);
			bytes = iot_wire_type_bytes(field->type);
			for (i = IOT_RECORD_HEAD_BYTES; i < info->wire_bytes; i++)
				assert_row(field->name, wire[i] == (i >= at && i < at + bytes ? 0xff : 0));
			at += bytes;
		}
		assert_row(info->name, at == info->wire_bytes);
		assert_row(info->name, info->wire_bytes + IOT_TAIL_MAX_BYTES <= IOT_RECORD_MAX_BYTES);
	}
}

static const struct iot_field *field_of(u16 kind, const char *name)
{
	const struct iot_kind_info *info = iot_kind_info(kind);
	u32 i;

	for (i = 0; i < info->field_count; i++)
		if (!strcmp(info->fields[i].name, name))
			return &info->fields[i];
	fail_msg("%s has no %s", info->name, name);
	return NULL;
}

static void fields_keep_their_sign(void **state)
{
	static const struct {
		u64 set, u32_value, s32_value;
	} rows[] = {
		{ 0, 0, 0 },
		{ 0x7fffffff, 0x7fffffff, 0x7fffffff },
		{ 0x80000000, 0x80000000, 0xffffffff80000000 },
		{ ~0ull, 0xffffffff, ~0ull },
		{ 0x123456789, 0x23456789, 0x23456789 },
	};
	const struct iot_field *call = field_of(IOT_KIND_mpi_send, "call");
	const struct iot_field *peer = field_of(IOT_KIND_mpi_send, "peer");
	const struct iot_field *result = field_of(IOT_KIND_mpi_send, "result");
	struct iot_record record = { .kind = IOT_KIND_mpi_send };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		iot_field_set(&record, call, rows[i].set);
		iot_field_set(&record, peer, rows[i].set);
		iot_field_set(&record, result, rows[i].set);
		assert_int_equal(iot_field_get(&record, call), rows[i].u32_value);
		assert_int_equal(record.mpi_send.call, rows[i].u32_value);
		assert_int_equal(iot_field_get(&record, peer), rows[i].s32_value);
		assert_int_equal(record.mpi_send.peer, (s32)rows[i].s32_value);
		assert_int_equal(iot_field_get(&record, result), rows[i].set);
		assert_int_equal(record.mpi_send.result, (s64)rows[i].set);
	}
}

/* Fields by which a recording is filtered. */
static void operations_have_one_class(void **state)
{
	static const u16 kinds[] = {
#define KIND(class, kind) IOT_KIND_##kind,
		IOT_OP_KINDS(KIND)
#undef KIND
	};
	const struct iot_kind_info *info;
	size_t k, i;

	(void)state;
	for (k = 0; (info = iot_kind_at(k)); k++) {
		size_t count = 0;

		for (i = 0; i < ARRAY_SIZE(kinds); i++)
			count += kinds[i] == info->kind;
		assert_row(info->name, count == (info->group == IOT_GROUP_op));
	}
}

static void wire_types_have_names_and_sizes(void **state)
{
	static const struct {
		enum iot_wire_type type;
		const char *name;
		u32 bytes;
	} rows[] = {
		{ IOT_WIRE_TYPE_u32, "u32", 4 },
		{ IOT_WIRE_TYPE_s32, "s32", 4 },
		{ IOT_WIRE_TYPE_u64, "u64", 8 },
		{ IOT_WIRE_TYPE_s64, "s64", 8 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_string_equal(iot_wire_type_name(rows[i].type), rows[i].name);
		assert_int_equal(iot_wire_type_bytes(rows[i].type), rows[i].bytes);
	}
}

static void check_symbols(const struct iot_class_info *class)
{
	const struct iot_symbol *a, *b;

	for (a = class->symbols; a->name; a++) {
		assert_row(class->name, is_identifier(a->name) && is_sentence(a->sentence));
		assert_row(a->name, !class->is_bits || __builtin_popcountll(a->value) == 1);
		for (b = class->symbols; b < a; b++) {
			assert_row(a->name, a->value > b->value);
			assert_row(a->name, strcmp(a->name, b->name));
		}
	}
	assert_row(class->name, a > class->symbols);
}

static void classes_have_names_and_symbols(void **state)
{
	enum iot_class class;

	(void)state;
	for (class = 0; class < IOT_CLASS_END; class++) {
		struct iot_class_info info = iot_class_info(class);

		assert_true(is_identifier(info.name));
		assert_row(info.name, is_sentence(info.sentence));
		/* "see IOT_..." promises symbols, and only that does */
		assert_row(info.name, !strncmp(info.sentence, "see IOT_", 8) == !!info.symbols);
		if (info.symbols)
			check_symbols(&info);
	}
	assert_true(iot_class_info(IOT_CLASS_open_flags).is_bits);
	assert_false(iot_class_info(IOT_CLASS_type).is_bits);
	assert_true(iot_class_info(IOT_CLASS_offset).is_compared);
	assert_false(iot_class_info(IOT_CLASS_instant).is_compared);
}

static void tails_are_described_for_kinds_with_tails(void **state)
{
	static const u16 with[] = { IOT_KIND_fact, IOT_KIND_name, IOT_KIND_symlink, IOT_KIND_setxattr };
	static const u16 without[] = { 0, IOT_KIND_clock, IOT_KIND_read, IOT_KIND_touch, 0xffff };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(with); i++)
		assert_true(is_sentence(iot_kind_tail(with[i])));
	for (i = 0; i < ARRAY_SIZE(without); i++)
		assert_null(iot_kind_tail(without[i]));
}

/* Readers of all kinds rely on the positions of time, span, task and result. */
static void every_record_begins_with_a_time(void **state)
{
	const struct iot_kind_info *info;
	size_t k;

	(void)state;
	for (k = 0; (info = iot_kind_at(k)); k++) {
		assert_row(info->name, info->field_count > 0);
		assert_row(info->name, info->fields[0].class == IOT_CLASS_instant &&
					       info->fields[0].type == IOT_WIRE_TYPE_u64);
	}
}

static void end_is_begin_plus_span(void **state)
{
	static const struct {
		u16 kind;
		bool is_span;
	} rows[] = {
		{ IOT_KIND_read, true },	{ IOT_KIND_mpi_coll, true },
		{ IOT_KIND_backpressure, true },	{ IOT_KIND_touch, true },
		{ IOT_KIND_delayed, true },		{ IOT_KIND_freed, true },
		{ IOT_KIND_complete, false },	{ IOT_KIND_clock, false },
		{ IOT_KIND_exit, false },	{ IOT_KIND_played, false },
	};
	struct iot_record record;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct iot_kind_info *info = iot_kind_info(rows[i].kind);

		assert_row(info->name, iot_kind_is_span(info) == rows[i].is_span);
		memset(&record, 0, sizeof(record));
		record.kind = rows[i].kind;
		iot_field_set(&record, &info->fields[0], 1000);
		iot_field_set(&record, &info->fields[1], 7);
		assert_row(info->name, iot_record_end_ns(&record) == (rows[i].is_span ? 1007 : 1000));
	}
}

static void task_of_a_record_is_found(void **state)
{
	struct iot_record read = { .kind = IOT_KIND_read, .read.task = 5, .read.op = 6 };
	struct iot_record fork = { .kind = IOT_KIND_fork, .fork.task = 7, .fork.child = 8 };
	struct iot_record clock = { .kind = IOT_KIND_clock, .clock.time_ns = ~0ull };
	struct iot_record unknown = { .kind = 0x7fff };

	(void)state;
	assert_int_equal(iot_record_task(&read), 5);
	assert_int_equal(iot_record_task(&fork), 7);
	assert_int_equal(iot_record_task(&clock), 0);
	assert_int_equal(iot_record_task(&unknown), 0);
}

SUITE("schema_table",
      TEST(kinds_have_ascending_ids)
      TEST(groups_have_names)
      TEST(fields_are_where_the_struct_has_them)
      TEST(fields_keep_their_sign)
      TEST(operations_have_one_class)
      TEST(wire_types_have_names_and_sizes)
      TEST(classes_have_names_and_symbols)
      TEST(tails_are_described_for_kinds_with_tails)
      TEST(every_record_begins_with_a_time)
      TEST(end_is_begin_plus_span)
      TEST(task_of_a_record_is_found))
