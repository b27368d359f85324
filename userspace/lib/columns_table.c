// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * columns_table.c - the columns that the writer makes of a kind, and how it predicts them.
 *
 * Every field of the record tables is a column. The rules concern the size of a trace only: a column without a rule
 * is stored as it is.
 */
#include "columns.h"
#include "core/trace/schema_table.h"

/**
 * struct rule - the prediction of a field
 * @name: of the field
 * @kinds: for these kinds only; none: for all
 * @key: name of a field: each value of it has a value of its own; the rule is for kinds that have it. None: the
 *	preceding value
 * @plus: name of a field that is added to the remembered value
 * @memory: number of the memory; COLUMN_UNUSED: the field is mostly 0, and not predicted
 * @also: name of a field: under its value, the next memory remembers the value, too
 *
 * The first rule for a field counts.
 */
static const struct rule {
	const char *name;
	u16 kinds[2];
	const char *key;
	const char *plus;
	u8 memory;
	const char *also;
} rules[] = {
	{ "task", .memory = 0 },
	{ "runtime_ns", .key = "task", .memory = 1 },
	{ "op", .key = "task", .memory = 2 },
	{ "name", .memory = 4 },
	/* A new handle is one more than the last, and the next operation of the task is on it. */
	{ "handle", { IOT_KIND_open }, .memory = 5, .also = "task" },
	{ "handle", { IOT_KIND_stat, IOT_KIND_setattr }, .memory = COLUMN_UNUSED },
	{ "handle", .key = "task", .memory = 6 },
	/* The object of a name, of a handle, and of a mapping. */
	{ "object", { IOT_KIND_object }, .memory = 16, .also = "name" },
	{ "object", .key = "name", .memory = 17, .also = "handle" },
	{ "object", .key = "handle", .memory = 18, .also = "map" },
	{ "object", .key = "map", .memory = 19 },
	{ "object", .memory = 16 },
	/* Where the preceding access through the handle ended. */
	{ "offset_bytes", { IOT_KIND_read, IOT_KIND_write }, "handle", "result", .memory = 10 },
	{ "offset_bytes", { IOT_KIND_touch }, "object", "length_bytes", .memory = 11 },
	{ "size_bytes", .key = "object", .memory = 12 },
	{ "old_size_bytes", .key = "object", .memory = 13 },
	{ "cached_pages", .key = "object", .memory = 14 },
	{ "nlink", .key = "object", .memory = 15 },
	{ "map", .memory = 36 },
	{ "request", .memory = 7 },
	{ "dir", .memory = 8 },
	{ "ino", .memory = 9 },
	{ "pid", .memory = 20 },
	{ "tgid", .memory = 21 },
	{ "child", .memory = 22 },
	{ "into", .memory = 23 },
	{ "woken", .memory = 24 },
	{ "woken_op", .key = "woken", .memory = 25 },
	{ "woken_runtime_ns", .key = "woken", .memory = 26 },
	{ "real_ns", .memory = 27 },
	{ "old_name", .memory = 28 },
	{ "new_name", .memory = 29 },
	{ "replaced", .memory = 30 },
	{ "to_object", .memory = 31 },
	{ "to_handle", .memory = 32 },
	{ "to_offset_bytes", .key = "to_handle", .plus = "result", .memory = 33 },
	{ "last_op", .key = "task", .memory = 34 },
	{ "comm", .memory = 35 },
};

/* The first columns: their places are those that the forms require, or keys of others. */
static const char *const firsts[] = { "oncpu_ns", "task", "runtime_ns", "op", "name", "handle", "to_handle", "map",
				      "woken", "object" };

/* A table that is being made. */
struct making {
	const struct iot_kind_info *info;
	struct column_table *table;
	u8 column_of[COLUMNS_MAX]; /* by field, COLUMN_NONE before it is made */
};

static u8 field_named(const struct iot_kind_info *info, const char *name)
{
	u32 i;

	for (i = 0; i < info->field_count; i++)
		if (!strcmp(info->fields[i].name, name))
			return (u8)i;
	return COLUMN_NONE;
}

static u8 column_named(const struct making *making, const char *name)
{
	u8 field = name ? field_named(making->info, name) : COLUMN_NONE;

	return field == COLUMN_NONE ? COLUMN_NONE : making->column_of[field];
}

static bool is_rule_for(const struct rule *rule, const struct iot_kind_info *info, const char *name)
{
	return !strcmp(rule->name, name) && (!rule->key || field_named(info, rule->key) != COLUMN_NONE) &&
	       (!rule->kinds[0] || rule->kinds[0] == info->kind || rule->kinds[1] == info->kind);
}

static const struct rule *rule_of(const struct iot_kind_info *info, const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (is_rule_for(&rules[i], info, name))
			return &rules[i];
	return NULL;
}

/* 0 is no id, and the operation that lacks one does not change what follows. */
static bool is_id(const struct iot_kind_info *info, const char *name)
{
	switch (info->fields[field_named(info, name)].class) {
	case IOT_CLASS_object:
	case IOT_CLASS_handle:
	case IOT_CLASS_name:
	case IOT_CLASS_map:
		return true;
	default:
		return false;
	}
}

static void predict_by_rule(const struct making *making, const char *name, struct column *column)
{
	const struct rule *rule = rule_of(making->info, name);

	if (!rule || rule->memory == COLUMN_UNUSED)
		return;
	column->predictor = is_id(making->info, name) ? IOT_PREDICT_ID : IOT_PREDICT_MEMORY;
	column->memory = rule->memory;
	column->key = column_named(making, rule->key);
}

static void predict(const struct making *making, u32 field, struct column *column)
{
	const char *name = making->info->fields[field].name;
	bool is_op = making->table->form == IOT_COLUMNS_OPERATION;

	if (!field) {
		column->predictor = IOT_PREDICT_END;
	} else if (is_op && !strcmp(name, "oncpu_ns")) {
		column->predictor = IOT_PREDICT_OTHER;
		column->key = 1;
	} else {
		predict_by_rule(making, name, column);
		if (is_op && !strcmp(name, "runtime_ns"))
			column->predictor = IOT_PREDICT_RUNTIME;
	}
}

static void add_column(struct making *making, u32 field)
{
	struct column *column = &making->table->columns[making->table->column_count];
	u32 at = 0, i;

	if (field == COLUMN_NONE || making->column_of[field] != COLUMN_NONE)
		return;
	for (i = 0; i < field; i++)
		at += iot_wire_type_bytes(making->info->fields[i].type);
	*column = (struct column){
		.at = (u8)(at / COLUMN_UNIT_BYTES),
		.is_wide = iot_wire_type_bytes(making->info->fields[field].type) == 8,
		.key = COLUMN_NONE,
		.plus = COLUMN_UNUSED,
		.also = COLUMN_UNUSED,
	};
	predict(making, field, column);
	making->column_of[field] = (u8)making->table->column_count++;
}

/* References to columns that may be later ones. */
static void complete(const struct making *making)
{
	const struct rule *rule;
	struct column *column;
	u32 i;

	for (i = 0; i < making->info->field_count; i++) {
		rule = rule_of(making->info, making->info->fields[i].name);
		column = &making->table->columns[making->column_of[i]];
		if (!rule)
			continue;
		if (column_named(making, rule->plus) != COLUMN_NONE)
			column->plus = column_named(making, rule->plus);
		if (rule->also && column_named(making, rule->also) != COLUMN_NONE)
			column->also = column_named(making, rule->also);
	}
}

/**
 * column_table_of() - the columns of a kind
 * @kind: of records
 * @table: out
 *
 * Return: false if the kind is not known here.
 */
bool column_table_of(u16 kind, struct column_table *table)
{
	struct making making = { .info = iot_kind_info(kind), .table = table };
	u32 i;

	if (!making.info)
		return false;
	*table = (struct column_table){
		.kind = kind,
		.form = making.info->group == IOT_GROUP_op ? IOT_COLUMNS_OPERATION :
			iot_kind_is_span(making.info)	   ? IOT_COLUMNS_SPAN :
							     IOT_COLUMNS_EVENT,
		.fields_bytes = making.info->wire_bytes - IOT_RECORD_HEAD_BYTES,
	};
	memset(making.column_of, COLUMN_NONE, sizeof(making.column_of));
	add_column(&making, 0);
	if (table->form != IOT_COLUMNS_EVENT)
		add_column(&making, 1);
	for (i = 0; i < ARRAY_SIZE(firsts); i++)
		add_column(&making, field_named(making.info, firsts[i]));
	for (i = 0; i < making.info->field_count; i++)
		add_column(&making, i);
	complete(&making);
	return true;
}
