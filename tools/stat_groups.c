// SPDX-License-Identifier: GPL-2.0-only
/*
 * stat_groups.c - groups of operations, sorted, as text and JSON.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"
#include "table.h"

const char *const stat_by_words[] = {
#define WORD(key) #key,
	BREAKDOWN_KEYS(WORD)
#undef WORD
	NULL,
};

const char *const stat_sort_words[] = { "time", "operations", "bytes", "failed", "mean", "p99", "max", "name", NULL };

static u64 group_value(const struct breakdown_group *group, enum stat_sort sort)
{
	const struct histogram *latency_ns = group->latency_ns;

	switch (sort) {
	case STAT_SORT_OPERATIONS:
		return group->sum.ops;
	case STAT_SORT_BYTES:
		return group->sum.read_bytes + group->sum.written_bytes + group->sum.touched_bytes;
	case STAT_SORT_FAILED:
		return group->sum.errors;
	case STAT_SORT_MEAN:
		return latency_ns ? latency_ns->sum / latency_ns->count : 0;
	case STAT_SORT_P99:
		return latency_ns ? histogram_percentile(latency_ns, 99) : 0;
	case STAT_SORT_MAX:
		return latency_ns ? latency_ns->max : 0;
	default:
		return group->sum.time_ns;
	}
}

/* Numbers, such as ranks, in order of their values. */
static int compare_names(const char *x, const char *y)
{
	return strverscmp(x, y);
}

static int compare(const void *a, const void *b, void *context)
{
	const struct breakdown_group *x = *(const struct breakdown_group *const *)a;
	const struct breakdown_group *y = *(const struct breakdown_group *const *)b;
	enum stat_sort sort = *(const enum stat_sort *)context;
	u64 of_x = group_value(x, sort), of_y = group_value(y, sort);

	if (sort == STAT_SORT_NAME || of_x == of_y)
		return compare_names(x->name, y->name);
	return of_x < of_y ? 1 : -1;
}

/**
 * stat_groups_sort() - the groups in order
 * @b: the groups
 * @sort: their order
 *
 * Return: as many pointers as groups, to be freed; NULL without memory.
 */
const struct breakdown_group **stat_groups_sort(const struct breakdown *b, enum stat_sort sort)
{
	const struct breakdown_group **groups = calloc(HASH_COUNT(b->groups) + 1ul, sizeof(struct breakdown_group *));
	struct breakdown_group *group;
	size_t count = 0;

	if (!groups)
		return NULL;
	for (group = b->groups; group; group = group->hh.next)
		groups[count++] = group;
	qsort_r(groups, count, sizeof(*groups), compare, &sort);
	return groups;
}

/**
 * stat_groups_time_ns() - time in the operations of all groups, added up
 */
u64 stat_groups_time_ns(const struct breakdown *b)
{
	const struct breakdown_group *group;
	u64 sum_ns = 0;

	for (group = b->groups; group; group = group->hh.next)
		sum_ns += group->sum.time_ns;
	return sum_ns;
}

/* -- text --------------------------------------------------------------------------------------------- */

static void group_row(struct table *table, const struct breakdown_group *group, u64 all_ns)
{
	const struct histogram *latency_ns = group->latency_ns;
	char escaped[4 * IOT_PROGRAM_PATH_MAX + 1];
	int i;

	iot_text_bytes(escaped, sizeof(escaped), group->name, strlen(group->name));
	table_cell(table, "%s", escaped);
	table_cell(table, "%llu", group->sum.ops);
	table_cell(table, "%llu", group->sum.errors);
	if (latency_ns) {
		table_time(table, group->sum.time_ns);
		table_cell(table, "%.1f%%", all_ns ? 100.0 * (double)group->sum.time_ns / (double)all_ns : 0);
		table_time(table, latency_ns->sum / latency_ns->count);
		table_time(table, histogram_percentile(latency_ns, 50));
		table_time(table, histogram_percentile(latency_ns, 90));
		table_time(table, histogram_percentile(latency_ns, 99));
		table_time(table, latency_ns->max);
	}
	for (i = 0; !latency_ns && i < 7; i++)
		table_cell(table, "-");
	table_bytes(table, group->sum.read_bytes);
	table_bytes(table, group->sum.written_bytes);
	table_bytes(table, group->sum.touched_bytes);
}

/**
 * stat_groups_text() - print a table of the groups
 * @b: the groups
 * @sort: their order
 * @top: number of rows, 0: all
 *
 * Return: 0 or -ENOMEM.
 */
int stat_groups_text(const struct breakdown *b, enum stat_sort sort, u32 top)
{
	static const char *const head[] = { "operations", "failed", "time", "share", "mean", "p50", "p90", "p99", "max",
					    "read", "written", "touched" };
	const struct breakdown_group **groups = stat_groups_sort(b, sort);
	u32 i, count = HASH_COUNT(b->groups), shown = top && top < count ? top : count;
	u64 all_ns = stat_groups_time_ns(b);
	struct table table;

	if (!groups)
		return -ENOMEM;
	table_open(&table, ARRAY_SIZE(head) + 1);
	table_cell(&table, "%s", stat_by_words[b->key]);
	for (i = 0; i < ARRAY_SIZE(head); i++)
		table_cell(&table, "%s", head[i]);
	for (i = 0; i < shown; i++)
		group_row(&table, groups[i], all_ns);
	putchar('\n');
	table_print(&table, stdout);
	table_close(&table);
	if (shown < count)
		printf("... and %u more\n", count - shown);
	free(groups);
	return 0;
}

/**
 * stat_errors_text() - print a line for each group with failed operations
 * @b: the groups
 * @top: number of lines, 0: all
 */
void stat_errors_text(const struct breakdown *b, u32 top)
{
	const struct breakdown_group *group;
	char escaped[4 * IOT_PROGRAM_PATH_MAX + 1];
	const char *name;
	u32 i, count = 0;

	for (group = b->groups; group; group = group->hh.next) {
		if (!group->error_count || (count++ >= top && top))
			continue;
		iot_text_bytes(escaped, sizeof(escaped), group->name, strlen(group->name));
		printf("%s%s:", count == 1 ? "\nerrors\n  " : "  ", escaped);
		for (i = 0; i < group->error_count; i++) {
			name = iot_text_errno(-group->errors[i].errno_value);
			if (name)
				printf("%s %llu %s", i ? "," : "", group->errors[i].count, name);
			else
				printf("%s %llu errno %d", i ? "," : "", group->errors[i].count,
				       group->errors[i].errno_value);
		}
		putchar('\n');
	}
	if (top && count > top)
		printf("  ... and %u more\n", count - top);
}

/* -- JSON --------------------------------------------------------------------------------------------- */

static void put_if(struct json *json, const char *key, bool is_known, u64 value)
{
	if (is_known)
		json_put_unsigned(json, key, value);
	else
		json_put_null(json, key);
}

static void errors_json(struct json *json, const struct breakdown_group *group)
{
	char number[16];
	const char *name;
	u32 i;

	json_key(json, "errors");
	json_begin(json, '{');
	for (i = 0; i < group->error_count; i++) {
		name = iot_text_errno(-group->errors[i].errno_value);
		snprintf(number, sizeof(number), "%d", group->errors[i].errno_value);
		json_put_unsigned(json, name ?: number, group->errors[i].count);
	}
	json_end(json, '}');
}

static void group_json(struct json *json, const struct breakdown_group *group, bool is_counted)
{
	static const struct histogram none;
	const struct histogram *latency_ns = group->latency_ns ?: &none;
	bool is_timed = group->latency_ns;

	json_begin(json, '{');
	json_put_string(json, "name", group->name);
	json_put_unsigned(json, "operations", group->sum.ops);
	json_put_unsigned(json, "failed", group->sum.errors);
	errors_json(json, group);
	put_if(json, "time_ns", is_timed, group->sum.time_ns);
	put_if(json, "mean_ns", is_timed, is_timed ? latency_ns->sum / latency_ns->count : 0);
	put_if(json, "min_ns", is_timed && !is_counted, latency_ns->min);
	put_if(json, "p50_ns", is_timed, histogram_percentile(latency_ns, 50));
	put_if(json, "p90_ns", is_timed, histogram_percentile(latency_ns, 90));
	put_if(json, "p99_ns", is_timed, histogram_percentile(latency_ns, 99));
	put_if(json, "max_ns", is_timed, latency_ns->max);
	json_put_unsigned(json, "read_bytes", group->sum.read_bytes);
	json_put_unsigned(json, "written_bytes", group->sum.written_bytes);
	json_put_unsigned(json, "touched_bytes", group->sum.touched_bytes);
	json_end(json, '}');
}

/**
 * stat_groups_json() - write the member "groups"
 * @json: in an object
 * @b, @sort, @top: as of stat_groups_text()
 *
 * Return: 0 or -ENOMEM.
 */
int stat_groups_json(struct json *json, const struct breakdown *b, enum stat_sort sort, u32 top)
{
	const struct breakdown_group **groups = stat_groups_sort(b, sort);
	u32 i, count = HASH_COUNT(b->groups);

	if (!groups)
		return -ENOMEM;
	json_key(json, "groups");
	json_begin(json, '[');
	for (i = 0; i < count && (!top || i < top); i++)
		group_json(json, groups[i], b->is_counted);
	json_end(json, ']');
	free(groups);
	return 0;
}
