// SPDX-License-Identifier: GPL-2.0-only
/*
 * schema.c - records of a writer with other tables are read by field names.
 */
#include <stdlib.h>

#include "lib/iotape.h"
#include "lib/schema.h"
#include "suite.h"
#include "trace_bytes.h"

/* A field in the tables of a writer. */
struct column {
	const char *type;
	const char *name;
	s64 value;
};

/*
 * The kind `exit` in the tables of some writers. This version has time_ns u64, task u32, op u32, code s32
 * and oncpu_ns u64.
 */
static const struct {
	const char *name;
	struct column columns[8];
	s64 time_ns, task, op, code, oncpu_ns; /* expected values */
} writers[] = {
	{ "the same",
	  { { "u64", "time_ns", 1 }, { "u32", "task", 2 }, { "u32", "op", 3 }, { "s32", "code", -4 },
	    { "u64", "oncpu_ns", 5 } },
	  1, 2, 3, -4, 5 },
	{ "older: one field less",
	  { { "u64", "time_ns", 1 }, { "u32", "task", 2 }, { "u32", "op", 3 }, { "s32", "code", -4 } },
	  1, 2, 3, -4, 0 },
	{ "newer: one field more",
	  { { "u64", "time_ns", 1 }, { "u32", "task", 2 }, { "u32", "op", 3 }, { "s32", "code", -4 },
	    { "u64", "oncpu_ns", 5 }, { "u64", "mood", 6 } },
	  1, 2, 3, -4, 5 },
	{ "reordered",
	  { { "u64", "oncpu_ns", 5 }, { "s32", "code", -4 }, { "u64", "time_ns", 1 },
	    { "u32", "op", 3 }, { "u32", "task", 2 } },
	  1, 2, 3, -4, 5 },
	{ "one inserted",
	  { { "u64", "time_ns", 1 }, { "u32", "cpu", 9 }, { "u32", "task", 2 }, { "u32", "op", 3 },
	    { "s32", "code", -4 }, { "u64", "oncpu_ns", 5 } },
	  1, 2, 3, -4, 5 },
	{ "one renamed",
	  { { "u64", "time_ns", 1 }, { "u32", "task", 2 }, { "u32", "number", 3 },
	    { "s32", "code", -4 }, { "u64", "oncpu_ns", 5 } },
	  1, 2, 0, -4, 5 },
	{ "one removed",
	  { { "u64", "time_ns", 1 }, { "u32", "op", 3 }, { "s32", "code", -4 }, { "u64", "oncpu_ns", 5 } },
	  1, 0, 3, -4, 5 },
	{ "narrower",
	  { { "u32", "time_ns", 1 }, { "u32", "task", 2 }, { "u32", "op", 3 }, { "s32", "code", -4 },
	    { "u32", "oncpu_ns", 0xffffffff } },
	  1, 2, 3, -4, 0xffffffff },
	{ "wider",
	  { { "u64", "time_ns", 1 }, { "u64", "task", 2 }, { "u64", "op", 3 }, { "s64", "code", -4 },
	    { "u64", "oncpu_ns", 5 } },
	  1, 2, 3, -4, 5 },
	{ "signed for unsigned",
	  { { "u64", "time_ns", 1 }, { "u32", "task", 2 }, { "u32", "op", 3 }, { "s32", "code", -4 },
	    { "s32", "oncpu_ns", -5 } },
	  1, 2, 3, -4, -5 },
	{ "nothing in common", { { "u64", "a", 1 }, { "s32", "b", 2 } }, 0, 0, 0, 0, 0 },
	{ "no fields", { {} }, 0, 0, 0, 0, 0 },
};

static u8 *put_column(u8 *p, const struct column *column)
{
	return strstr(column->type, "64") ? iot_put_s64(p, column->value) :
					    iot_put_s32(p, (s32)column->value);
}

/* A trace of one record, "bye" its tail, of which the last @cut_bytes of fields are missing. */
static void make(struct trace_bytes *trace, const struct column *columns, const char *more,
		 size_t cut_bytes)
{
	struct iot_chunk_head what = { .count = cpu_to_le32(1) };
	u8 wire[256], *p = wire + IOT_RECORD_HEAD_BYTES;
	char *schema;
	size_t bytes;
	FILE *out = open_memstream(&schema, &bytes);

	fprintf(out, "%srecord %u exit life\n", more, IOT_KIND_exit);
	for (; columns->name; columns++) {
		fprintf(out, "field %s %s num\n", columns->type, columns->name);
		p = put_column(p, columns);
	}
	fclose(out);
	p -= cut_bytes;
	iot_put_head(wire, IOT_KIND_exit, (u32)(p - wire), 3);
	memcpy(p, "bye", 3);
	trace_open(trace, schema);
	trace_chunk(trace, &what, wire, (size_t)(p + 3 - wire));
	free(schema);
}

static void read_one(const struct trace_bytes *trace, const char *name, struct iot_rec_exit *exit)
{
	struct iot_reader *reader;
	struct iot_reject reject;
	struct iot_record record;

	assert_row(name, !iot_reader_open(trace_path(trace->bytes, trace->count), &reader, &reject));
	assert_row(name, iot_reader_next(reader, &record, &reject) == 1);
	assert_row(name, record.kind == IOT_KIND_exit);
	assert_row(name, record.tail_bytes == 3 && !memcmp(record.tail, "bye", 3));
	*exit = record.exit;
	assert_row(name, iot_reader_next(reader, &record, &reject) == 0);
	iot_reader_close(reader);
}

static void record_of_another_writer_is_read_by_names(void **state)
{
	struct trace_bytes trace;
	struct iot_rec_exit exit;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(writers); i++) {
		make(&trace, writers[i].columns, "", 0);
		read_one(&trace, writers[i].name, &exit);
		assert_row(writers[i].name, exit.time_ns == (u64)writers[i].time_ns);
		assert_row(writers[i].name, exit.task == (u32)writers[i].task);
		assert_row(writers[i].name, exit.op == (u32)writers[i].op);
		assert_row(writers[i].name, exit.code == (s32)writers[i].code);
		assert_row(writers[i].name, exit.oncpu_ns == (u64)writers[i].oncpu_ns);
		trace_close(&trace);
	}
}

static void record_shorter_than_its_schema_has_zeros(void **state)
{
	static const struct column columns[] = {
		{ "u64", "oncpu_ns", 5 }, { "s32", "code", -4 }, { "u64", "time_ns", 1 }, {}
	};
	struct trace_bytes trace;
	struct iot_rec_exit exit;
	size_t cut;

	(void)state;
	for (cut = 0; cut <= 20; cut++) {
		make(&trace, columns, "", cut);
		read_one(&trace, "cut", &exit);
		assert_int_equal(exit.time_ns, cut > 0 ? 0 : 1);
		assert_int_equal(exit.code, cut > 8 ? 0 : -4);
		assert_int_equal(exit.oncpu_ns, cut > 12 ? 0 : 5);
		trace_close(&trace);
	}
}

static void lines_with_other_words_are_ignored(void **state)
{
	static const char *const lines[] = {
		"", "\n\n", "# by hand\n", "class num 1\n", "tail 34 a name\n", "records 7\n",
		"record 250 novelty op\nfield u64 time_ns instant\nfield u32 mood num\n",
		"record 251 nothing op\n", "field\n", "record\n",
	};
	static const struct column columns[] = { { "u64", "oncpu_ns", 5 }, { "u64", "time_ns", 1 }, {} };
	struct trace_bytes trace;
	struct iot_rec_exit exit;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		make(&trace, columns, lines[i], 0);
		read_one(&trace, lines[i], &exit);
		assert_row(lines[i], exit.time_ns == 1 && exit.oncpu_ns == 5);
		trace_close(&trace);
	}
}

static void kind_missing_in_the_schema_has_our_layout(void **state)
{
	struct iot_reader *reader;
	struct iot_reject reject;
	struct iot_record record;
	struct trace_bytes trace;

	(void)state;
	trace_open(&trace, "record 34 exit life\nfield u64 time_ns instant\n");
	trace_clocks(&trace, 3, 0, (u64[]){ 10 }, 1);
	assert_int_equal(iot_reader_open(trace_path(trace.bytes, trace.count), &reader, &reject), 0);
	assert_int_equal(iot_reader_next(reader, &record, &reject), 1);
	assert_int_equal(record.clock.time_ns, 10);
	assert_int_equal(record.clock.real_ns, 3);
	iot_reader_close(reader);
	trace_close(&trace);
}

/* Fields that were renamed, each as the only one in a trace of an older writer. */
static void renamed_field_is_read_by_its_old_name(void **state)
{
	static const struct {
		u16 kind;
		const char *before, *now;
	} fields[] = {
#define RENAMED(record, before, now) { IOT_KIND_##record, #before, #now },
		IOT_RENAMED_FIELDS(RENAMED)
#undef RENAMED
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct iot_kind_info *info = iot_kind_info(fields[i].kind);
		struct iot_chunk_head what = { .count = cpu_to_le32(1) };
		u8 wire[64];
		char schema[200];
		struct trace_bytes trace;
		struct iot_reader *reader;
		struct iot_reject reject;
		struct iot_record record;
		u32 f, present = 0;

		snprintf(schema, sizeof(schema), "record %u %s run\nfield u64 %s num\nfield u64 time_ns instant\n",
			 info->kind, info->name, fields[i].before);
		trace_open(&trace, schema);
		iot_put_head(wire, info->kind, IOT_RECORD_HEAD_BYTES + 16, 0);
		iot_put_u64(iot_put_u64(wire + IOT_RECORD_HEAD_BYTES, 77), 10);
		trace_chunk(&trace, &what, wire, IOT_RECORD_HEAD_BYTES + 16);
		assert_row(fields[i].before,
			   !iot_reader_open(trace_path(trace.bytes, trace.count), &reader, &reject));
		assert_row(fields[i].before, iot_reader_next(reader, &record, &reject) == 1);
		for (f = 0; f < info->field_count; f++) {
			assert_row(info->name, strcmp(info->fields[f].name, fields[i].before));
			if (strcmp(info->fields[f].name, fields[i].now))
				continue;
			assert_row(fields[i].before, iot_field_get(&record, &info->fields[f]) == 77);
			present++;
		}
		assert_row(fields[i].now, present == 1);
		iot_reader_close(reader);
		trace_close(&trace);
	}
}

static char many_fields[65 * 16 + 32];

static const struct {
	const char *text;
	int err;
} texts[] = {
	{ "", 0 },
	{ "record 1 a run\nfield u32 x num", 0 },
	{ "record 65535 a run\n", 0 },
	{ "record 65536 a run\n", -EBADMSG },
	{ "record -1 a run\n", -EBADMSG },
	{ "record one a run\n", -EBADMSG },
	{ "record 1\n", -EBADMSG },
	{ "record 1 a run\nrecord 1 b run\n", -EBADMSG },
	{ "field u32 x num\n", -EBADMSG },
	{ "record 1 a run\nfield u16 x num\n", -EBADMSG },
	{ "record 1 a run\nfield u128 x num\n", -EBADMSG },
	{ "record 1 a run\nfield u32\n", -EBADMSG },
	{ "record 1 a run\nfield  \n", -EBADMSG },
	{ many_fields, -EBADMSG },
};

static void invalid_schema_is_refused(void **state)
{
	struct iot_schema *schema;
	size_t i, at;
	int err;

	(void)state;
	at = (size_t)snprintf(many_fields, sizeof(many_fields), "record 1 a run\n");
	for (i = 0; i < 65; i++)
		at += (size_t)snprintf(many_fields + at, sizeof(many_fields) - at, "field u32 f%zu\n", i);
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		err = iot_schema_parse(texts[i].text, strlen(texts[i].text), &schema);
		assert_row(texts[i].text, err == texts[i].err);
		if (!err)
			iot_schema_free(schema);
	}
	iot_schema_free(NULL);
}

static void own_schema_is_understood(void **state)
{
	const struct iot_kind_info *info;
	struct iot_schema *schema;
	char *text;
	size_t bytes, k;

	(void)state;
	assert_int_equal(iot_schema_print(&text, &bytes), 0);
	assert_int_equal(bytes, strlen(text));
	assert_int_equal(strncmp(text, "record 1 fact run\nfield u64 time_ns instant\nrecord 2 ", 53), 0);
	assert_int_equal(iot_schema_parse(text, bytes, &schema), 0);
	for (k = 0; (info = iot_kind_at(k)); k++)
		assert_string_equal(iot_schema_kind_name(schema, info->kind), info->name);
	assert_null(iot_schema_kind_name(schema, 250));
	iot_schema_free(schema);
	free(text);
}

SUITE("schema",
      TEST(record_of_another_writer_is_read_by_names)
      TEST(record_shorter_than_its_schema_has_zeros)
      TEST(lines_with_other_words_are_ignored)
      TEST(kind_missing_in_the_schema_has_our_layout)
      TEST(renamed_field_is_read_by_its_old_name)
      TEST(invalid_schema_is_refused)
      TEST(own_schema_is_understood))
