// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * api_columns.c - many records at once as columns of numbers, for users of libiotape.
 */
#include <search.h>
#include <stdlib.h>

#include "api.h"

enum source {
	SOURCE_FIELD,
	SOURCE_KIND,
	SOURCE_BEGIN,
	SOURCE_END,
	SOURCE_TASK,
	SOURCE_MOVED,
	SOURCE_PATH,
};

static const char *const source_names[] = {
	[SOURCE_KIND] = "kind",	      [SOURCE_BEGIN] = "begin_ns",    [SOURCE_END] = "end_ns",
	[SOURCE_TASK] = "task",	      [SOURCE_MOVED] = "moved_bytes", [SOURCE_PATH] = "path",
};

/**
 * struct part - the field of one kind that a column shows
 * @field: NULL if the kind has none
 * @index: of the field in its kind
 * @unknown: value that means "not known"
 */
struct part {
	const struct iot_field *field;
	u32 index;
	struct api_unknown unknown;
};

/**
 * struct plan - the contents of a column
 * @column: of the caller
 * @source: of its values
 * @parts: by kind, of SOURCE_FIELD
 */
struct plan {
	const struct iotape_column *column;
	enum source source;
	struct part parts[IOT_KIND_END];
};

/**
 * struct batch - a call of iotape_reader_columns()
 * @plans: of the columns
 * @count: number of them
 * @is_wanted: by kind
 * @indices: by kind: index for iot_kind_at()
 */
struct batch {
	struct plan *plans;
	size_t count;
	bool is_wanted[IOT_KIND_END];
	u32 indices[IOT_KIND_END];
};

/* -- paths ----------------------------------------------------------------------------------------- */

static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct api_path *)a)->path, ((const struct api_path *)b)->path);
}

static int list_path(struct api_paths *paths, struct api_path *path)
{
	if (paths->count == paths->room) {
		u64 room = paths->room ? 2 * paths->room : 64;
		struct api_path **list = reallocarray(paths->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		paths->list = list;
		paths->room = room;
	}
	path->number = paths->count;
	paths->list[paths->count++] = path;
	return 0;
}

/* Paths come from the trace: a tree takes no longer for chosen ones. Return: its number, or -ENOMEM. */
static s64 path_number(struct api_paths *paths, const char *text)
{
	size_t bytes = strlen(text) + 1;
	struct api_path *path, **found;

	if (paths->last && !strcmp(paths->last->path, text))
		return (s64)paths->last->number;
	path = malloc(sizeof(*path) + bytes);
	if (!path)
		return -ENOMEM;
	memcpy(path->path, text, bytes);
	found = tsearch(path, &paths->tree, compare_paths);
	if (found && *found == path && list_path(paths, path)) {
		tdelete(path, &paths->tree, compare_paths);
		found = NULL;
	}
	if (!found || *found != path)
		free(path);
	if (!found)
		return -ENOMEM;
	paths->last = *found;
	return (s64)paths->last->number;
}

static void keep(void *path)
{
	(void)path; /* the list frees it */
}

/**
 * api_paths_close() - free the paths of columns
 */
void api_paths_close(struct api_paths *paths)
{
	u64 i;

	tdestroy(paths->tree, keep);
	for (i = 0; i < paths->count; i++)
		free(paths->list[i]);
	free(paths->list);
}

const char *iotape_reader_path_at(const struct iotape_reader *reader, uint64_t number)
{
	return number < reader->paths.count ? reader->paths.list[number]->path : NULL;
}

/* -- plans ------------------------------------------------------------------------------------------ */

static void plan_part(struct plan *plan, const struct iot_kind_info *info, const char *name)
{
	struct part *part = &plan->parts[info->kind];
	u32 i;

	for (i = 0; i < info->field_count; i++) {
		if (strcmp(info->fields[i].name, name))
			continue;
		part->field = &info->fields[i];
		part->index = i;
		part->unknown = api_unknown_of(part->field);
	}
}

/* Return: whether the column exists. */
static bool plan_column(struct plan *plan, const struct iotape_column *column)
{
	const char *name = strcmp(column->name, "op_kind") ? column->name : "kind";
	const struct iot_kind_info *info;
	bool is_field = false;
	size_t i;

	plan->column = column;
	for (i = SOURCE_KIND; i <= SOURCE_PATH; i++) {
		if (!strcmp(column->name, source_names[i])) {
			plan->source = (enum source)i;
			return true;
		}
	}
	for (i = 0; (info = iot_kind_at(i)); i++) {
		plan_part(plan, info, name);
		is_field |= plan->parts[info->kind].field != NULL;
	}
	return is_field;
}

static int plan_columns(struct batch *batch, const struct iotape_reader *reader, const struct iotape_column *columns,
			struct iotape_error *error)
{
	char why[160];
	size_t i;

	for (i = 0; i < batch->count; i++) {
		if (!plan_column(&batch->plans[i], &columns[i])) {
			snprintf(why, sizeof(why), "unknown column '%.80s'", columns[i].name);
			return api_fail_because(error, -EINVAL, reader->path, why);
		}
		if (batch->plans[i].source == SOURCE_PATH && !reader->names)
			return api_fail_because(error, -EINVAL, reader->path, "paths were not requested when it was opened");
	}
	return 0;
}

static void plan_kinds(struct batch *batch, const struct iotape_kind *const *kinds, size_t count)
{
	const struct iot_kind_info *info;
	size_t i;

	for (i = 0; (info = iot_kind_at(i)); i++) {
		batch->indices[info->kind] = (u32)i;
		batch->is_wanted[info->kind] = !count;
	}
	for (i = 0; i < count; i++)
		batch->is_wanted[api_kind(kinds[i])->kind] = true;
}

/* -- rows -------------------------------------------------------------------------------------------- */

static bool field_value(const struct part *part, const struct iotape_record *record, u64 *value)
{
	if (!part->field || record->absent >> part->index & 1)
		return false;
	*value = iot_field_get(&record->record, part->field);
	return !part->unknown.exists || *value != part->unknown.value;
}

/* Return: 1; 0 if the value is not known; or -ENOMEM. */
static int path_value(struct iotape_reader *reader, u64 *value)
{
	const struct iot_kind_info *info = iot_kind_info(reader->record.record.kind);
	const char *path = info->group == IOT_GROUP_op ? iotape_reader_path(reader, NULL) : NULL;
	s64 number = path ? path_number(&reader->paths, path) : 0;

	if (number < 0)
		return (int)number;
	*value = (u64)number;
	return path != NULL;
}

static int column_value(const struct batch *batch, const struct plan *plan, struct iotape_reader *reader, u64 *value)
{
	const struct iotape_record *record = &reader->record;
	u16 kind = record->record.kind;

	switch (plan->source) {
	case SOURCE_KIND:
		*value = batch->indices[kind];
		return 1;
	case SOURCE_BEGIN:
		*value = iotape_record_begin_ns(record);
		return 1;
	case SOURCE_END:
		*value = iotape_record_end_ns(record);
		return 1;
	case SOURCE_TASK:
		*value = iotape_record_task(record);
		return *value != 0;
	case SOURCE_MOVED:
		*value = iotape_record_moved_bytes(record);
		return iot_kind_info(kind)->group == IOT_GROUP_op;
	case SOURCE_PATH:
		return path_value(reader, value);
	case SOURCE_FIELD:
		return field_value(&plan->parts[kind], record, value);
	}
	return 0;
}

static int put_row(const struct batch *batch, struct iotape_reader *reader, size_t row)
{
	size_t i;

	for (i = 0; i < batch->count; i++) {
		const struct plan *plan = &batch->plans[i];
		u64 value = 0;
		int known = column_value(batch, plan, reader, &value);

		if (known < 0)
			return api_fail(&reader->failure, known, reader->path);
		plan->column->values[row] = known ? value : 0;
		plan->column->known[row] = (unsigned char)known;
	}
	return 0;
}

static int put_rows(const struct batch *batch, struct iotape_reader *reader, size_t row_count, struct iotape_error *error)
{
	const struct iotape_record *record;
	size_t row = 0;
	int result = 0;

	while (row < row_count && (result = iotape_reader_next(reader, &record, error)) > 0) {
		if (!batch->is_wanted[record->record.kind])
			continue;
		result = put_row(batch, reader, row);
		if (result)
			break;
		row++;
	}
	if (row || !result)
		return (int)row; /* a failure is that of the next call */
	if (error)
		*error = reader->failure;
	return result;
}

int iotape_reader_columns(struct iotape_reader *reader, const struct iotape_kind *const *kinds, size_t kind_count,
			  const struct iotape_column *columns, size_t column_count, size_t row_count,
			  struct iotape_error *error)
{
	struct batch batch = { .count = column_count };
	int result;

	if (row_count > INT_MAX)
		return api_fail_because(error, -EINVAL, reader->path, "too many rows at once");
	batch.plans = calloc(column_count ? column_count : 1, sizeof(*batch.plans));
	if (!batch.plans)
		return api_fail(error, -ENOMEM, reader->path);
	plan_kinds(&batch, kinds, kind_count);
	result = plan_columns(&batch, reader, columns, error);
	if (!result)
		result = put_rows(&batch, reader, row_count, error);
	free(batch.plans);
	return result;
}
