// SPDX-License-Identifier: GPL-2.0-only
/*
 * waits.c - the time of the processes of a job by part, and the waits of ranks for each other.
 *
 * Edges and late arrivals come from graphs of their own: matching for one changes the keys of communicators.
 */
#include "waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/trace/schema_table.h"

static const char *const late_names[] = {
#define LATE_NAME(kind, name, sentence) name,
	LATE_KINDS(LATE_NAME)
#undef LATE_NAME
};

static int compare_rows(const void *a, const void *b)
{
	const struct late_row *x = *(const struct late_row *const *)a, *y = *(const struct late_row *const *)b;

	if (x->sum_ns != y->sum_ns)
		return x->sum_ns < y->sum_ns ? 1 : -1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

/**
 * waits_late_rows() - late arrivals, longest waits first
 *
 * Return: an array with an element for each row, to be freed; NULL without memory.
 */
const struct late_row **waits_late_rows(const struct late_arrivals *late)
{
	const struct late_row **rows = calloc(HASH_COUNT(late->rows) + 1ul, sizeof(struct late_row *));
	const struct late_row *row;
	size_t count = 0;

	if (!rows)
		return NULL;
	for (row = late->rows; row; row = row->hh.next)
		rows[count++] = row;
	qsort(rows, count, sizeof(*rows), compare_rows);
	return rows;
}

/**
 * waits_late_sum() - the waits of others for a rank, and its own
 */
struct waits_late_sum waits_late_sum(const struct late_arrivals *late, u32 rank)
{
	struct waits_late_sum sum = {};
	const struct late_row *row;

	for (row = late->rows; row; row = row->hh.next) {
		if (row->key.late == rank) {
			sum.times += row->times;
			sum.caused_ns += row->sum_ns;
		}
		if (row->key.waiter == rank)
			sum.waited_ns += row->sum_ns;
	}
	return sum;
}

/**
 * waits_call_name() - the name of a call of MPI
 * @call: an enum iot_call, or any other number: then "?"
 */
const char *waits_call_name(u32 call)
{
	const struct iot_symbol *symbol = iot_class_info(IOT_CLASS_call).symbols;

	while (symbol->name && symbol->value != call)
		symbol++;
	return symbol->name ?: "?";
}

/**
 * waits_late_name() - the name of a kind of late arrivals
 * @kind: an enum late_kind
 */
const char *waits_late_name(u32 kind)
{
	return late_names[kind];
}

/**
 * waits_is_known() - does the trace have the data from which a part of the time is computed?
 * @w: of the trace
 * @member: offset of the part in struct process_times
 */
bool waits_is_known(const struct waits *w, size_t member)
{
	if (member == offsetof(struct process_times, io_ns))
		return w->is_storage_known;
	return member != offsetof(struct process_times, compute_ns) || w->is_compute_known;
}

static int late_read(const char *path, struct late_arrivals *late, struct iot_reject *reject)
{
	struct graph *graph = NULL;
	struct tree *tree = NULL;
	int err = graph_open(&graph);

	if (!err)
		err = tree_open(&tree);
	if (!err)
		err = load_trace(path, graph, tree, NULL, reject);
	if (!err)
		err = graph_late_arrivals(graph, late);
	tree_close(tree);
	graph_close(graph);
	return err;
}

/**
 * waits_read() - times and late arrivals of a trace
 * @w: filled in; to be freed by waits_close(), also after an error
 * @path: of the trace
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int waits_read(struct waits *w, const char *path, struct iot_reject *reject)
{
	const struct analysis_options options = { .rules = ORDER_DEFAULT };
	int err;

	*w = (struct waits){ .bytes.key = BREAKDOWN_rank };
	err = breakdown_read(path, &w->bytes, reject);
	if (!err)
		err = analysis_load(&w->analysis, path, &options, reject);
	if (!err) {
		w->has_mpi = analysis_graph(w->analysis)->mpi_count;
		w->is_storage_known = w->bytes.sum.ops || !w->bytes.omissions.of[IOT_OMISSION_mpi_only].count;
		w->is_compute_known = w->is_storage_known && !w->bytes.actors.is_imported;
		err = analysis_run(w->analysis, PASSES_ALL);
	}
	if (!err)
		err = graph_times(analysis_graph(w->analysis), &w->times, &w->count);
	if (!err && w->has_mpi)
		err = late_read(path, &w->late, reject);
	return err;
}

/**
 * waits_close() - free the result of waits_read()
 */
void waits_close(struct waits *w)
{
	free(w->times);
	late_arrivals_free(&w->late);
	breakdown_free(&w->bytes);
	analysis_close(w->analysis);
}

/**
 * waits_put_rank() - a cell with a rank, or ? if it is not known
 * @table: the cell is added to
 * @rank: GRAPH_NONE if it is not known
 */
void waits_put_rank(struct table *table, u32 rank)
{
	if (rank == GRAPH_NONE)
		table_cell(table, "?");
	else
		table_cell(table, "%u", rank);
}

/**
 * waits_put_late_rows() - a table of late arrivals
 * @table: opened and closed by the caller, with WAITS_LATE_COLUMNS columns
 * @rows: of waits_late_rows()
 * @count: rows to show
 */
void waits_put_late_rows(struct table *table, const struct late_row *const *rows, u32 count)
{
	static const char *const head[WAITS_LATE_COLUMNS] = { "late arrival", "call",	"waiting rank", "late rank",
							      "times",	      "waited", "mean",		"max" };
	u32 i;

	for (i = 0; i < WAITS_LATE_COLUMNS; i++)
		table_cell(table, "%s", head[i]);
	for (i = 0; i < count; i++) {
		table_cell(table, "%s", waits_late_name(rows[i]->key.kind));
		table_cell(table, "%s", waits_call_name(rows[i]->key.call));
		waits_put_rank(table, rows[i]->key.waiter);
		waits_put_rank(table, rows[i]->key.late);
		table_cell(table, "%llu", (unsigned long long)rows[i]->times);
		table_time(table, rows[i]->sum_ns);
		table_time(table, rows[i]->sum_ns / rows[i]->times);
		table_time(table, rows[i]->max_ns);
	}
}
