// SPDX-License-Identifier: GPL-2.0-only
/*
 * stat_access.c - access patterns, as text and JSON.
 */
#include <stdio.h>

#include "stat.h"
#include "table.h"

static const char *const direction_names[] = { "reads", "writes" };

/* "-" without a whole: no share is known. */
static void cell_share(struct table *table, u64 part, u64 whole)
{
	if (whole)
		table_cell(table, "%.1f%%", 100.0 * (double)part / (double)whole);
	else
		table_cell(table, "-");
}

static void order_row(struct table *table, const char *name, const struct pattern_requests *r)
{
	u64 following = r->count - r->first;

	table_cell(table, "%s", name);
	table_cell(table, "%llu", r->count);
	cell_share(table, r->consecutive, following);
	cell_share(table, r->strided, following);
	cell_share(table, r->sequential, following);
	cell_share(table, r->random, following);
	cell_share(table, r->aligned_offsets, r->count);
	cell_share(table, r->aligned_lengths, r->count);
}

static void put_order(const struct patterns *p)
{
	static const char *const head[] = { "requests", "count", "consecutive", "strided", "sequential", "random",
					    "offset 4 KiB", "length 4 KiB" };
	struct table table;
	u32 i;

	table_open(&table, ARRAY_SIZE(head));
	for (i = 0; i < ARRAY_SIZE(head); i++)
		table_cell(&table, "%s", head[i]);
	for (i = 0; i < PATTERN_DIRECTIONS; i++)
		order_row(&table, direction_names[i], &p->requests[i]);
	putchar('\n');
	table_print(&table, stdout);
	table_close(&table);
}

static void put_sizes(const struct patterns *p)
{
	struct table table;
	char text[32];
	u32 i;

	table_open(&table, 3);
	table_cell(&table, "request size");
	table_cell(&table, "reads");
	table_cell(&table, "writes");
	for (i = 0; i < PATTERN_SIZES; i++) {
		if (!p->requests[PATTERN_READ].sizes[i] && !p->requests[PATTERN_WRITE].sizes[i])
			continue;
		table_cell(&table, "%s%s", i ? "from " : "", quantity_bytes(text, i ? pattern_size_limit(i - 1) : 0));
		table_cell(&table, "%llu", p->requests[PATTERN_READ].sizes[i]);
		table_cell(&table, "%llu", p->requests[PATTERN_WRITE].sizes[i]);
	}
	putchar('\n');
	table_print(&table, stdout);
	table_close(&table);
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_shares(const struct breakdown *b, const char *what, u64 ops, u64 time_ns)
{
	printf("operations on %s: %llu (%.1f%% of operations", what, ops, percent(ops, b->sum.ops));
	if (!b->actors.is_imported)
		printf(", %.1f%% of time", percent(time_ns, b->sum.time_ns));
	printf(")\n");
}

/**
 * stat_access_text() - print how files were accessed
 */
void stat_access_text(const struct breakdown *b)
{
	const struct patterns *p = &b->patterns;
	u64 metadata = b->sum.ops - b->data.ops, files = p->read_only + p->write_only + p->read_write;

	if (!b->sum.ops)
		return;
	if (p->requests[PATTERN_READ].count || p->requests[PATTERN_WRITE].count) {
		put_order(p);
		put_sizes(p);
	}
	printf("\nfiles with data access: %llu: %llu only read, %llu only written, %llu both; %llu by several processes\n",
	       files, p->read_only, p->write_only, p->read_write, p->shared);
	if (p->unknown)
		printf("accesses to files without a known path: %llu\n", p->unknown);
	put_shares(b, "metadata", metadata, b->sum.time_ns - b->data.time_ns);
	put_shares(b, "mappings", b->mapping.ops, b->mapping.time_ns);
	if (p->touches)
		printf("accesses to mapped pages: %llu, of which %llu read storage\n", p->touches, p->major);
}

static void requests_json(struct json *json, const char *key, const struct pattern_requests *r)
{
	u32 i;

	json_key(json, key);
	json_begin(json, '{');
	json_put_unsigned(json, "requests", r->count);
	json_put_unsigned(json, "first", r->first);
	json_put_unsigned(json, "consecutive", r->consecutive);
	json_put_unsigned(json, "strided", r->strided);
	json_put_unsigned(json, "sequential", r->sequential);
	json_put_unsigned(json, "random", r->random);
	json_put_unsigned(json, "aligned_offsets", r->aligned_offsets);
	json_put_unsigned(json, "aligned_lengths", r->aligned_lengths);
	json_key(json, "sizes");
	json_begin(json, '[');
	for (i = 0; i < PATTERN_SIZES; i++) {
		json_begin(json, '{');
		if (pattern_size_limit(i))
			json_put_unsigned(json, "below_bytes", pattern_size_limit(i));
		else
			json_put_null(json, "below_bytes");
		json_put_unsigned(json, "requests", r->sizes[i]);
		json_end(json, '}');
	}
	json_end(json, ']');
	json_end(json, '}');
}

/**
 * stat_access_json() - write the member "access"
 * @json: in an object
 * @b: the operations
 */
void stat_access_json(struct json *json, const struct breakdown *b)
{
	const struct patterns *p = &b->patterns;

	json_key(json, "access");
	json_begin(json, '{');
	requests_json(json, "reads", &p->requests[PATTERN_READ]);
	requests_json(json, "writes", &p->requests[PATTERN_WRITE]);
	json_put_unsigned(json, "files_only_read", p->read_only);
	json_put_unsigned(json, "files_only_written", p->write_only);
	json_put_unsigned(json, "files_read_and_written", p->read_write);
	json_put_unsigned(json, "files_shared", p->shared);
	json_put_unsigned(json, "accesses_without_path", p->unknown);
	json_put_unsigned(json, "metadata_operations", b->sum.ops - b->data.ops);
	if (b->actors.is_imported)
		json_put_null(json, "metadata_time_ns");
	else
		json_put_unsigned(json, "metadata_time_ns", b->sum.time_ns - b->data.time_ns);
	json_put_unsigned(json, "mapping_operations", b->mapping.ops);
	if (b->actors.is_imported)
		json_put_null(json, "mapping_time_ns");
	else
		json_put_unsigned(json, "mapping_time_ns", b->mapping.time_ns);
	json_put_unsigned(json, "mapped_accesses", p->touches);
	json_put_unsigned(json, "mapped_accesses_major", p->major);
	json_end(json, '}');
}
