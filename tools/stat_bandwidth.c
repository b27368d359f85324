// SPDX-License-Identifier: GPL-2.0-only
/*
 * stat_bandwidth.c - iotape stat --bandwidth: bandwidth of reads and writes, of all, of processes or ranks and by request size;
 * creates and unlinks.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/stats/bandwidth.h"
#include "cmd.h"
#include "json.h"
#include "omissions.h"
#include "stat.h"
#include "table.h"
#include "terminal.h"

#define JSON_VERSION 1

static const char *const direction_names[] = { "reads", "writes" };
static const char *const change_names[] = { "creates", "unlinks" };

static bool is_mpi_only(const struct bandwidth *b)
{
	return !b->clients && b->omissions.of[IOT_OMISSION_mpi_only].count;
}

/* -- order ------------------------------------------------------------------------------------------------- */

static u64 bytes_of(const struct bandwidth_client *client)
{
	return client->flows[BANDWIDTH_READ].span.bytes + client->flows[BANDWIDTH_WRITE].span.bytes;
}

/* The most bytes first, then by name. */
static int compare_clients(const void *a, const void *b)
{
	const struct bandwidth_client *x = *(const struct bandwidth_client *const *)a, *y = *(const struct bandwidth_client *const *)b;

	if (bytes_of(x) != bytes_of(y))
		return bytes_of(x) < bytes_of(y) ? 1 : -1;
	return strverscmp(x->name, y->name);
}

static int compare_sizes(const void *a, const void *b)
{
	const struct bandwidth_size *x = *(const struct bandwidth_size *const *)a, *y = *(const struct bandwidth_size *const *)b;

	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* The most bytes first, then the largest requests. */
static int compare_moved(const void *a, const void *b)
{
	const struct bandwidth_size *x = *(const struct bandwidth_size *const *)a, *y = *(const struct bandwidth_size *const *)b;
	u64 of_x = x->spans[BANDWIDTH_READ].bytes + x->spans[BANDWIDTH_WRITE].bytes;
	u64 of_y = y->spans[BANDWIDTH_READ].bytes + y->spans[BANDWIDTH_WRITE].bytes;

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return compare_sizes(b, a);
}

struct rows {
	const struct bandwidth_client **clients;
	const struct bandwidth_size **sizes;
	u32 client_count;
	u32 size_count;
	u32 clients_shown;
	u32 sizes_shown;
};

static void rows_free(struct rows *rows)
{
	free(rows->clients);
	free(rows->sizes);
}

/* @top: of each table, 0: all. The sizes with the most bytes are shown, in order of size. */
static int rows_make(struct rows *rows, const struct bandwidth *b, u32 top)
{
	struct bandwidth_client *client;
	struct bandwidth_size *size;

	*rows = (struct rows){
		.clients = calloc(HASH_COUNT(b->clients) + 1ul, sizeof(*rows->clients)),
		.sizes = calloc(HASH_COUNT(b->sizes) + 1ul, sizeof(*rows->sizes)),
	};
	if (!rows->clients || !rows->sizes) {
		rows_free(rows);
		return -ENOMEM;
	}
	for (client = b->clients; client; client = client->hh.next)
		rows->clients[rows->client_count++] = client;
	for (size = b->sizes; size; size = size->hh.next)
		rows->sizes[rows->size_count++] = size;
	rows->clients_shown = top && top < rows->client_count ? top : rows->client_count;
	rows->sizes_shown = top && top < rows->size_count ? top : rows->size_count;
	qsort(rows->clients, rows->client_count, sizeof(*rows->clients), compare_clients);
	qsort(rows->sizes, rows->size_count, sizeof(*rows->sizes), compare_moved);
	qsort(rows->sizes, rows->sizes_shown, sizeof(*rows->sizes), compare_sizes);
	return 0;
}

/* -- text --------------------------------------------------------------------------------------------------- */

static void head(struct table *table, const char *const *names, u32 count)
{
	u32 i;

	table_open(table, (int)count);
	for (i = 0; i < count; i++)
		table_cell(table, "%s", names[i]);
}

static void finish(struct table *table, u64 shown, u64 all, const char *what)
{
	putchar('\n');
	table_print(table, stdout);
	table_close(table);
	if (shown < all)
		printf("... and %llu more %s\n", all - shown, what);
}

/* "-" without operations, "?" if it is not known. */
static void rate_cell(struct table *table, u64 count, double bytes_per_s)
{
	char text[32];

	if (isnan(bytes_per_s))
		table_cell(table, count ? "?" : "-");
	else
		table_cell(table, "%s", quantity_bandwidth(text, bytes_per_s));
}

static void time_cell(struct table *table, u64 count, bool is_known, u64 ns)
{
	if (is_known)
		table_time(table, ns);
	else
		table_cell(table, count ? "?" : "-");
}

static void all_text(const struct bandwidth *b)
{
	static const char *const names[] = { "requests", "count", "failed", "bytes", "elapsed", "bandwidth", "clients", "client mean", "min",
					     "max" };
	struct table table;
	u32 i;

	head(&table, names, ARRAY_SIZE(names));
	for (i = 0; i < BANDWIDTH_DIRECTIONS; i++) {
		const struct bandwidth_span *span = &b->spans[i];
		const struct bandwidth_clients *clients = &b->of_clients[i];
		u64 elapsed_ns = bandwidth_elapsed_ns(span);

		table_cell(&table, "%s", direction_names[i]);
		table_cell(&table, "%llu", span->count);
		table_cell(&table, "%llu", span->failed);
		table_bytes(&table, span->bytes);
		time_cell(&table, span->count, elapsed_ns, elapsed_ns);
		rate_cell(&table, span->count, bandwidth_of_all(span));
		if (clients->known < clients->count)
			table_cell(&table, "%llu of %llu", clients->known, clients->count);
		else
			table_cell(&table, "%llu", clients->count);
		rate_cell(&table, span->count, clients->mean);
		rate_cell(&table, span->count, clients->min);
		rate_cell(&table, span->count, clients->max);
	}
	finish(&table, 0, 0, "");
}

static void clients_text(const struct rows *rows)
{
	static const char *const names[] = { "client", "read", "time reading", "bandwidth", "written", "time writing", "bandwidth" };
	char line[4 * IOT_PROGRAM_PATH_MAX + 1];
	struct table table;
	u32 i, k;

	head(&table, names, ARRAY_SIZE(names));
	for (i = 0; i < rows->clients_shown; i++) {
		const struct bandwidth_client *client = rows->clients[i];

		iot_text_line(line, sizeof(line), client->name);
		table_cell(&table, "%s", line);
		for (k = 0; k < BANDWIDTH_DIRECTIONS; k++) {
			const struct bandwidth_flow *flow = &client->flows[k];

			table_bytes(&table, flow->span.bytes);
			time_cell(&table, flow->span.count, flow->span.count && !flow->span.untimed, flow->busy_ns);
			rate_cell(&table, flow->span.count, bandwidth_of_client(flow));
		}
	}
	finish(&table, rows->clients_shown, rows->client_count, "clients");
}

static void sizes_text(const struct rows *rows)
{
	static const char *const names[] = { "request size", "reads", "read", "bandwidth", "writes", "written", "bandwidth" };
	struct table table;
	u32 i, k;

	head(&table, names, ARRAY_SIZE(names));
	for (i = 0; i < rows->sizes_shown; i++) {
		const struct bandwidth_size *size = rows->sizes[i];

		table_cell(&table, "%llu", size->bytes);
		for (k = 0; k < BANDWIDTH_DIRECTIONS; k++) {
			table_cell(&table, "%llu", size->spans[k].count);
			table_bytes(&table, size->spans[k].bytes);
			rate_cell(&table, size->spans[k].count, bandwidth_of_requests(&size->spans[k]));
		}
	}
	finish(&table, rows->sizes_shown, rows->size_count, "sizes");
}

static void changes_text(const struct bandwidth *b)
{
	static const char *const names[] = { "files", "count", "elapsed", "per second", "mean", "min", "max" };
	struct table table;
	u32 i;

	head(&table, names, ARRAY_SIZE(names));
	for (i = 0; i < BANDWIDTH_CHANGES; i++) {
		const struct bandwidth_span *span = &b->changes[i];
		bool is_timed = span->count && !span->untimed;
		u64 elapsed_ns = bandwidth_elapsed_ns(span);

		table_cell(&table, "%s", change_names[i]);
		table_cell(&table, "%llu", span->count);
		time_cell(&table, span->count, elapsed_ns, elapsed_ns);
		if (elapsed_ns)
			table_cell(&table, "%.1f", bandwidth_per_s(span));
		else
			table_cell(&table, span->count ? "?" : "-");
		time_cell(&table, span->count, is_timed, is_timed ? span->time_ns / span->count : 0);
		time_cell(&table, span->count, is_timed, span->min_ns);
		time_cell(&table, span->count, is_timed, span->max_ns);
	}
	finish(&table, 0, 0, "");
}

static void put_text(const struct bandwidth *b, const struct rows *rows, const char *name)
{
	if (is_mpi_only(b)) {
		printf("%s: operations on files were not recorded\n", name);
		omissions_print(stdout, "", &b->omissions);
		return;
	}
	printf("%s: bandwidth of %u client%s\n", name, rows->client_count, rows->client_count == 1 ? "" : "s");
	omissions_print(stdout, "", &b->omissions);
	if (b->copies || b->touches)
		printf("not part of this: %llu copies within the kernel, %llu accesses to mapped pages\n", b->copies, b->touches);
	if (b->unfinished)
		printf("not part of this: %llu asynchronous requests whose end is not in the trace\n", b->unfinished);
	all_text(b);
	if (rows->client_count) {
		clients_text(rows);
		sizes_text(rows);
	}
	changes_text(b);
}

/* -- JSON --------------------------------------------------------------------------------------------------- */

static void put_if(struct json *json, const char *key, bool is_known, u64 value)
{
	if (is_known)
		json_put_unsigned(json, key, value);
	else
		json_put_null(json, key);
}

static void all_json(struct json *json, const struct bandwidth *b, u32 direction)
{
	const struct bandwidth_span *span = &b->spans[direction];
	const struct bandwidth_clients *clients = &b->of_clients[direction];
	u64 elapsed_ns = bandwidth_elapsed_ns(span);
	bool is_known = !is_mpi_only(b);

	json_key(json, direction_names[direction]);
	json_begin(json, '{');
	put_if(json, "requests", is_known, span->count);
	put_if(json, "failed", is_known, span->failed);
	put_if(json, "bytes", is_known, span->bytes);
	put_if(json, "elapsed_ns", elapsed_ns, elapsed_ns);
	json_put_real(json, "bytes_per_s", bandwidth_of_all(span));
	put_if(json, "clients", is_known, clients->count);
	put_if(json, "clients_known", is_known, clients->known);
	json_put_real(json, "client_mean_bytes_per_s", clients->mean);
	json_put_real(json, "client_min_bytes_per_s", clients->min);
	json_put_real(json, "client_max_bytes_per_s", clients->max);
	json_end(json, '}');
}

static void flow_json(struct json *json, const char *key, const struct bandwidth_flow *flow)
{
	json_key(json, key);
	json_begin(json, '{');
	json_put_unsigned(json, "requests", flow->span.count);
	json_put_unsigned(json, "failed", flow->span.failed);
	json_put_unsigned(json, "bytes", flow->span.bytes);
	put_if(json, "busy_ns", flow->span.count && !flow->span.untimed, flow->busy_ns);
	json_put_real(json, "bytes_per_s", bandwidth_of_client(flow));
	json_end(json, '}');
}

static void clients_json(struct json *json, const struct rows *rows)
{
	u32 i, k;

	json_key(json, "clients");
	json_begin(json, '[');
	for (i = 0; i < rows->clients_shown; i++) {
		json_begin(json, '{');
		json_put_string(json, "name", rows->clients[i]->name);
		for (k = 0; k < BANDWIDTH_DIRECTIONS; k++)
			flow_json(json, direction_names[k], &rows->clients[i]->flows[k]);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void size_json(struct json *json, const char *key, const struct bandwidth_span *span)
{
	json_key(json, key);
	json_begin(json, '{');
	json_put_unsigned(json, "requests", span->count);
	json_put_unsigned(json, "failed", span->failed);
	json_put_unsigned(json, "bytes", span->bytes);
	put_if(json, "time_ns", span->count && !span->untimed, span->time_ns);
	json_put_real(json, "bytes_per_s", bandwidth_of_requests(span));
	json_end(json, '}');
}

static void sizes_json(struct json *json, const struct rows *rows)
{
	u32 i, k;

	json_key(json, "sizes");
	json_begin(json, '[');
	for (i = 0; i < rows->sizes_shown; i++) {
		json_begin(json, '{');
		json_put_unsigned(json, "request_bytes", rows->sizes[i]->bytes);
		for (k = 0; k < BANDWIDTH_DIRECTIONS; k++)
			size_json(json, direction_names[k], &rows->sizes[i]->spans[k]);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void change_json(struct json *json, const struct bandwidth *b, u32 change)
{
	const struct bandwidth_span *span = &b->changes[change];
	u64 elapsed_ns = bandwidth_elapsed_ns(span);
	bool is_timed = span->count && !span->untimed;

	json_key(json, change_names[change]);
	json_begin(json, '{');
	put_if(json, "count", !is_mpi_only(b), span->count);
	put_if(json, "elapsed_ns", elapsed_ns, elapsed_ns);
	json_put_real(json, "per_s", bandwidth_per_s(span));
	put_if(json, "mean_ns", is_timed, is_timed ? span->time_ns / span->count : 0);
	put_if(json, "min_ns", is_timed, span->min_ns);
	put_if(json, "max_ns", is_timed, span->max_ns);
	json_end(json, '}');
}

static void put_json(const struct bandwidth *b, const struct rows *rows)
{
	struct json json;
	u32 i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_unsigned(&json, "version", JSON_VERSION);
	omissions_json(&json, &b->omissions);
	put_if(&json, "copies", !is_mpi_only(b), b->copies);
	put_if(&json, "mapped_accesses", !is_mpi_only(b), b->touches);
	put_if(&json, "unfinished_requests", !is_mpi_only(b), b->unfinished);
	for (i = 0; i < BANDWIDTH_DIRECTIONS; i++)
		all_json(&json, b, i);
	clients_json(&json, rows);
	sizes_json(&json, rows);
	for (i = 0; i < BANDWIDTH_CHANGES; i++)
		change_json(&json, b, i);
	json_end(&json, '}');
	json_line(&json);
}

/**
 * stat_bandwidth() - print the bandwidths of a trace
 * @path: of the trace
 * @name: of it, in messages
 * @selection: of operations
 * @top: number of rows, 0: all
 * @is_json: print JSON
 *
 * Return: the exit code.
 */
int stat_bandwidth(const char *path, const char *name, const struct selection *selection, u32 top, bool is_json)
{
	struct bandwidth b = { .selection = *selection };
	struct iot_reject reject = {};
	int err = selection_open(&b.selection) ?: bandwidth_read(path, &b, &reject), code = EXIT_DONE;
	struct rows rows = {};

	if (err)
		code = fail_reject(name, err, &reject);
	else if (rows_make(&rows, &b, top))
		code = fail("%s: %s", name, strerror(ENOMEM));
	if (!code) {
		terminal_output_begin();
		if (is_json)
			put_json(&b, &rows);
		else
			put_text(&b, &rows, name);
		rows_free(&rows);
	}
	selection_close(&b.selection);
	bandwidth_free(&b);
	return code;
}
