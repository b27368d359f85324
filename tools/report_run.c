// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_run.c - the section of one run in a report: the slots of run.html.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_page.h"

static const struct report_run *run_of(const void *context)
{
	return context;
}

static const struct profile *profile_of(const void *context)
{
	return run_of(context)->run->profile;
}

static void put_index(FILE *out, const void *context)
{
	fprintf(out, "%u", run_of(context)->index);
}

static void put_name(FILE *out, const void *context)
{
	html_text(out, run_of(context)->run->path);
}

/* -- the sentence ----------------------------------------------------------------------------------------- */

/* Different commands among the processes, of which the first has the most time. */
static u32 commands_of(const struct profile *p)
{
	u32 i, count = 0, most = p->process_count < REPORT_ROWS_MAX ? p->process_count : REPORT_ROWS_MAX;

	for (i = 1; i < most; i++) {
		u32 k = 0;

		while (k < i && strcmp(p->processes[k].command, p->processes[i].command))
			k++;
		count += k == i;
	}
	return count;
}

static void put_command(FILE *out, const struct profile *p)
{
	const char *command = profile_fact(p, "command");
	u32 others = command ? 0 : commands_of(p);

	if (!command && p->process_count && p->processes[0].command[0])
		command = p->processes[0].command;
	if (!command) {
		fputs("The recorded tasks", out);
		return;
	}
	fputs("<code>", out);
	html_text(out, command);
	fputs("</code>", out);
	if (others)
		fprintf(out, " and %u other program%s", others, others == 1 ? "" : "s");
}

static void put_where(FILE *out, const struct profile *p)
{
	const char *host = profile_fact(p, "host");

	if (p->ranks)
		fprintf(out, " on %u ranks", p->ranks);
	if (p->node_count > 1)
		fprintf(out, " of %u nodes", p->node_count);
	else if (host) {
		fputs(" on host ", out);
		html_text(out, host);
	}
}

/* The operations with the most time. */
static void put_most(FILE *out, const struct profile *p)
{
	u16 kind, most = 0;

	for (kind = 0; kind < IOT_KIND_END; kind++)
		if (iot_kind_info(kind) && iot_kind_info(kind)->group == IOT_GROUP_op && kind != IOT_KIND_complete &&
		    p->kinds[kind].sum.time_ns > p->kinds[most].sum.time_ns)
			most = kind;
	if (most && p->sum.time_ns)
		fprintf(out, ", %.0f %% of it in %s", 100 * (double)p->kinds[most].sum.time_ns / (double)p->sum.time_ns,
			iot_kind_info(most)->name);
}

static void put_moved(FILE *out, const struct profile *p)
{
	char read[32], written[32], touched[32];

	fprintf(out, " %s%s were read and %s%s written", quantity_bytes(read, p->sum.read_bytes),
		p->sum.read_bytes < 1024 ? " bytes" : "", quantity_bytes(written, p->sum.written_bytes),
		p->sum.written_bytes < 1024 ? " bytes" : "");
	if (p->sum.touched_bytes)
		fprintf(out, ", %s were accessed in mappings", quantity_bytes(touched, p->sum.touched_bytes));
	fputs(".", out);
}

static u32 hints_found(const struct report_run *run)
{
	u32 i, count = 0;

	for (i = 0; i < ADVISE_HINT_COUNT; i++)
		count += run->advise.findings[i].verdict == ADVISE_FOUND;
	return count;
}

static void put_summary(FILE *out, const void *context)
{
	const struct report_run *run = context;
	const struct profile *p = profile_of(run);
	char time[32], spent[32];

	if (run->run->is_replay)
		fputs("A replay: ", out);
	put_command(out, p);
	put_where(out, p);
	fprintf(out, " ran for %s:", quantity_time(time, (u64)(run->run->seconds * 1e9)));
	if (p->is_mpi_only) {
		fprintf(out, " %llu MPI calls took %s, added up over all tasks. Operations on files were not recorded.", p->mpi.ops,
			quantity_time(spent, p->mpi.time_ns));
		return;
	}
	fprintf(out, " %llu operations on %u files took %s, added up over all tasks", p->sum.ops, p->file_count,
		quantity_time(spent, p->sum.time_ns));
	put_most(out, p);
	fputs(".", out);
	put_moved(out, p);
	if (run->has_advise && hints_found(run))
		fprintf(out, " <a href=\"#hints-%u\">%u hint%s apply.</a>", run->index, hints_found(run),
			hints_found(run) == 1 ? " may" : "s");
}

/* -- tiles ------------------------------------------------------------------------------------------------ */

static void put_tile(FILE *out, const char *name, const char *value)
{
	fputs("<div><dt>", out);
	html_text(out, name);
	fputs("</dt><dd>", out);
	html_text(out, value);
	fputs("</dd></div>\n", out);
}

static void put_tiles(FILE *out, const void *context)
{
	const struct profile *p = profile_of(context);
	char text[64], amount[32];

	fputs("<dl class=\"tiles\">\n", out);
	put_tile(out, "duration", quantity_time(text, (u64)(run_of(context)->run->seconds * 1e9)));
	snprintf(text, sizeof(text), "%u", p->task_count);
	put_tile(out, "tasks", text);
	if (p->ranks) {
		snprintf(text, sizeof(text), "%llu", p->mpi.ops);
		put_tile(out, "MPI calls", text);
	}
	if (!p->is_mpi_only) {
		snprintf(text, sizeof(text), "%llu", p->sum.ops);
		put_tile(out, "operations", text);
		snprintf(text, sizeof(text), "%llu", p->sum.errors);
		put_tile(out, "failed", text);
		put_tile(out, "read", quantity_bytes(text, p->sum.read_bytes));
		put_tile(out, "written", quantity_bytes(text, p->sum.written_bytes));
		put_tile(out, "read bandwidth", quantity_bandwidth(text, profile_bandwidth(p, p->sum.read_bytes)));
		put_tile(out, "write bandwidth", quantity_bandwidth(text, profile_bandwidth(p, p->sum.written_bytes)));
		if (!isnan(profile_cached_share(p))) {
			snprintf(text, sizeof(text), "%.0f %% of %s", 100 * profile_cached_share(p),
				 quantity_bytes(amount, p->opened_bytes));
			put_tile(out, "in page cache when opened", text);
		}
	}
	fputs("</dl>\n", out);
}

/* -- tables ----------------------------------------------------------------------------------------------- */

static void put_head(struct table *table, const char *const *head, u32 count)
{
	u32 i;

	table_open(table, (int)count);
	for (i = 0; i < count; i++)
		table_cell(table, "%s", head[i]);
}

static void put_table(FILE *out, struct table *table, u64 shown, u64 all)
{
	html_table(out, table, "sortable");
	table_close(table);
	if (shown < all)
		fprintf(out, "<p class=\"small\">... and %llu more, see <code>iotape stat</code></p>\n", all - shown);
}

static void latency_cells(struct table *table, const struct histogram *h)
{
	static const double percents[] = { 50, 99, 100 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(percents); i++)
		if (h)
			table_time(table, histogram_percentile(h, percents[i]));
		else
			table_cell(table, "-");
}

/* Without latencies, the durations are not known. */
static void time_cells(struct table *table, const struct profile_sum *sum, u64 whole_ns, const struct histogram *h)
{
	if (h)
		table_time(table, sum->time_ns);
	else
		table_cell(table, "-");
	if (h && whole_ns)
		table_cell(table, "%.1f %%", 100 * (double)sum->time_ns / (double)whole_ns);
	else
		table_cell(table, "-");
	if (h)
		table_time(table, sum->time_ns / sum->ops);
	else
		table_cell(table, "-");
}

static void put_operations(FILE *out, const void *context)
{
	static const char *const head[] = { "operation", "count", "failed", "time", "share", "mean", "p50", "p99", "max" };
	const struct profile *p = profile_of(context);
	struct table table;
	u16 kind;

	put_head(&table, head, ARRAY_SIZE(head));
	for (kind = 0; kind < IOT_KIND_END; kind++) {
		const struct profile_sum *sum = &p->kinds[kind].sum;
		u64 whole = kind == IOT_KIND_complete ? 0 :
			    iot_kind_info(kind) && iot_kind_info(kind)->group == IOT_GROUP_mpi ? p->mpi.time_ns :
												p->sum.time_ns;

		if (!sum->ops)
			continue;
		table_cell(&table, "%s", iot_kind_info(kind)->name);
		table_cell(&table, "%llu", sum->ops);
		table_cell(&table, "%llu", sum->errors);
		time_cells(&table, sum, whole, p->kinds[kind].latency_ns);
		latency_cells(&table, p->kinds[kind].latency_ns);
	}
	put_table(out, &table, 1, 1);
}

static void sum_cells(struct table *table, const struct profile_sum *sum)
{
	table_cell(table, "%llu", sum->ops);
	table_cell(table, "%llu", sum->errors);
	table_time(table, sum->time_ns);
	table_bytes(table, sum->read_bytes);
	table_bytes(table, sum->written_bytes);
	table_bytes(table, sum->touched_bytes);
}

static void put_files(FILE *out, const void *context)
{
	static const char *const head[] = { "file", "operations", "failed", "time", "read", "written", "touched" };
	const struct profile *p = profile_of(context);
	u32 i, count = p->file_count < REPORT_ROWS_MAX ? p->file_count : REPORT_ROWS_MAX;
	struct table table;

	put_head(&table, head, ARRAY_SIZE(head));
	for (i = 0; i < count; i++) {
		table_cell(&table, "%s", p->files[i].path[0] ? p->files[i].path : "?");
		sum_cells(&table, &p->files[i].sum);
	}
	put_table(out, &table, count, p->file_count);
}

static void put_processes(FILE *out, const void *context)
{
	static const char *const head[] = { "process", "threads", "operations", "failed", "time", "read", "written", "touched" };
	const struct profile *p = profile_of(context);
	u32 i, count = p->process_count < REPORT_ROWS_MAX ? p->process_count : REPORT_ROWS_MAX;
	struct table table;

	put_head(&table, head, ARRAY_SIZE(head));
	for (i = 0; i < count; i++) {
		const struct profile_process *process = &p->processes[i];

		if (process->pid)
			table_cell(&table, "%s %u", process->command[0] ? process->command : "?", process->pid);
		else
			table_cell(&table, "task %u", process->task);
		table_cell(&table, "%u", process->threads);
		sum_cells(&table, &process->sum);
	}
	put_table(out, &table, count, p->process_count);
}

/* -- the rest ---------------------------------------------------------------------------------------------- */

static void put_facts(FILE *out, const void *context)
{
	const struct profile *p = profile_of(context);
	u32 i, count = p->fact_count < REPORT_FACTS_MAX ? p->fact_count : REPORT_FACTS_MAX;

	for (i = 0; i < count; i++)
		html_element(out, "li", p->facts[i]);
	if (count < p->fact_count)
		fprintf(out, "<li>... and %u more</li>\n", p->fact_count - count);
}

static void put_hints(FILE *out, const void *context)
{
	report_hints_put(out, &run_of(context)->advise);
}

static void put_times(FILE *out, const void *context)
{
	report_times_put(out, &run_of(context)->waits);
}

static void put_sites(FILE *out, const void *context)
{
	report_sites_put(out, run_of(context));
}

static void put_late(FILE *out, const void *context)
{
	report_late_put(out, &run_of(context)->waits.late);
}

static void put_around(FILE *out, const void *context)
{
	report_around_put(out, run_of(context));
}

static void put_around_caption(FILE *out, const void *context)
{
	report_around_caption_put(out, run_of(context));
}

static void put_accuracy(FILE *out, const void *context)
{
	report_accuracy_put(out, run_of(context));
}

static void put_why(FILE *out, const void *context)
{
	html_text(out, run_of(context)->why);
}

static void put_lanes(FILE *out, const void *context)
{
	fputs(run_of(context)->charts.lanes_are_ranks ? "rank" : "task", out);
}

static void put_drawn(FILE *out, const void *context)
{
	const struct report *charts = &run_of(context)->charts;

	if (charts->op_count + charts->nested < charts->operations)
		fprintf(out, "The %u longest of %llu operations are drawn one by one; of all, a pale bar shows the share of time and "
			"the class with the most time in each of %u intervals.", charts->op_count, charts->operations, REPORT_BINS);
	else
		fprintf(out, "Every operation is drawn.");
	if (charts->nested)
		fprintf(out, " %llu operations inside of others are not drawn.", charts->nested);
}

static void put_mapped(FILE *out, const void *context)
{
	const struct report *charts = &run_of(context)->charts;

	fprintf(out, "%u of %llu files with data, those with the most bytes.", charts->map_count, charts->files);
}

static bool has_hints(const void *context)
{
	return run_of(context)->has_advise;
}

static bool has_waits(const void *context)
{
	return run_of(context)->has_waits;
}

static bool has_why(const void *context)
{
	return run_of(context)->why[0];
}

static bool has_sites(const void *context)
{
	return run_of(context)->sites.groups;
}

static bool has_late(const void *context)
{
	return run_of(context)->has_waits && run_of(context)->waits.has_mpi;
}

static bool has_around(const void *context)
{
	return run_of(context)->has_waits && run_of(context)->around.node_count;
}

static bool has_maps(const void *context)
{
	return run_of(context)->charts.map_count;
}

static bool has_operations(const void *context)
{
	return run_of(context)->charts.operations;
}

static bool has_lanes(const void *context)
{
	return run_of(context)->charts.lane_count > 1;
}

/**
 * report_run_put() - write the section of a run
 */
void report_run_put(FILE *out, const struct report_run *run)
{
	static const struct html_slot slots[] = {
		{ "index", put_index },
		{ "name", put_name },
		{ "summary", put_summary },
		{ "tiles", put_tiles },
		{ "hints", put_hints, has_hints },
		{ "times", put_times, has_waits },
		{ "accuracy", put_accuracy, has_waits },
		{ "why", put_why, has_why },
		{ "late", put_late, has_late },
		{ "around", put_around, has_around },
		{ "kept", put_around_caption },
		{ "lanes", put_lanes, has_lanes },
		{ "drawn", put_drawn, has_operations },
		{ "mapped", put_mapped, has_maps },
		{ "operations", put_operations },
		{ "sites", put_sites, has_sites },
		{ "files", put_files },
		{ "processes", put_processes },
		{ "facts", put_facts },
		{},
	};

	html_template(out, report_run, slots, run);
}
