// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_stat.c - iotape stat: sums of a trace, per operation, file and process.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/stats/profile.h"
#include "cmd.h"
#include "input.h"
#include "json.h"
#include "omissions.h"
#include "option.h"
#include "option_selection.h"
#include "stat.h"
#include "table.h"
#include "terminal.h"

#define TOP	     10
#define JSON_VERSION 1 /* of groups */

struct options {
	const char *path;
	const char *name; /* of it in messages */
	u32 top;
	bool has_top;
	enum stat_sort sort;
	bool has_sort;
	bool has_by;
	enum breakdown_key by;
	struct selection selection;
	bool has_waits;
	bool has_bandwidth;
	bool is_json;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static const struct option_row option_rows[] = {
	{ "by", 'b', OPTION_CHOICE, .words = stat_by_words, .field = FIELD(by), .given = FIELD(has_by),
	  .help = "print one table: operations grouped by this" },
	{ "sort", 's', OPTION_CHOICE, .words = stat_sort_words, .field = FIELD(sort), .given = FIELD(has_sort),
	  .help = "order of the groups (default: time)" },
	OPTION_ROWS_SELECTION(struct options, selection),
	{ "waits", 'w', .field = FIELD(has_waits),
	  .help = "print the time of each process in storage, computation and waits, imbalance between ranks, and late "
		  "arrivals at MPI calls" },
	{ "bandwidth", 0, .field = FIELD(has_bandwidth),
	  .help = "print the bandwidth of reads and writes, of all, of each process or rank, and by request size; creates and "
		  "unlinks per second" },
	{ "top", 'n', OPTION_COUNT, "N", .max = UINT32_MAX, .field = FIELD(top), .given = FIELD(has_top),
	  .help = "print the first N rows of a table, 0 for all (default: 10)" },
	{ "json", 'j', .field = FIELD(is_json), .help = "print JSON, with all files and processes, or all groups without --top" },
	{},
};

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (options->has_bandwidth && (options->has_by || options->has_sort || options->has_waits))
		option_error(state, "--bandwidth can be combined with --top, --json and selections only");
	if (options->has_waits && (options->has_by || options->has_sort || !selection_is_all(&options->selection)))
		option_error(state, "--waits can be combined with --top and --json only");
}

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE",
	.operand_type = OPTION_FILE,
	.operand_noun = "trace",
	.operand = FIELD(path),
	.check = check,
	.is_paged = true,
	.about = "Summarize a trace: operations with latency percentiles, files and processes with their bytes.",
	.notes = "With --by, --sort or a selection, the groups of the selected operations are printed instead. TRACE may "
		 "be a pipe, or - for standard input. Times of concurrent operations are added up. Touched are bytes of mapped pages that became "
		 "accessible. Percentiles are exact to 1.6 %.",
};

/* -- text -------------------------------------------------------------------------------------- */

static void sum_cells(struct table *table, const struct profile_sum *sum)
{
	table_cell(table, "%llu", sum->ops);
	table_cell(table, "%llu", sum->errors);
	table_time(table, sum->time_ns);
	table_bytes(table, sum->read_bytes);
	table_bytes(table, sum->written_bytes);
	table_bytes(table, sum->touched_bytes);
}

static void heading(struct table *table, const char *names)
{
	char *copy = strdup(names), *rest = copy, *name;

	while (copy && (name = strsep(&rest, " ")))
		table_cell(table, "%s", name);
	free(copy);
}

static void finish(struct table *table)
{
	putchar('\n');
	table_print(table, stdout);
	table_close(table);
}

/* Printable, and with its blanks. */
static void print_command(const char *text)
{
	char escaped[4 * IOT_TAIL_MAX_BYTES + 1];

	printf("command: ");
	for (;; text++) {
		size_t bytes = strcspn(text, " ");

		iot_text_bytes(escaped, sizeof(escaped), text, bytes);
		fputs(escaped, stdout);
		text += bytes;
		putchar(*text ? ' ' : '\n');
		if (!*text)
			return;
	}
}

/* The state at the beginning of the recording. */
static void print_before(const struct profile *p)
{
	if (p->opened || p->mapped || p->in_no_table)
		printf("state dump: %llu descriptors, %llu mappings, %llu handles without a descriptor\n",
		       p->opened, p->mapped, p->in_no_table);
}

static void print_sum(const char *path, const struct profile *p)
{
	char read[32], written[32], touched[32], read_rate[32], written_rate[32];

	printf("%s: %.3f s, %u %s, %u files, %llu operations, %llu failed\n", path,
	       profile_seconds(p), p->process_count, p->is_by_command ? "commands" : profile_fact(p, "replay") ? "tasks" : "processes",
	       p->file_count, p->sum.ops, p->sum.errors);
	printf("%s read (%s), %s written (%s), %s touched\n", quantity_bytes(read, p->sum.read_bytes),
	       quantity_bandwidth(read_rate, profile_bandwidth(p, p->sum.read_bytes)),
	       quantity_bytes(written, p->sum.written_bytes),
	       quantity_bandwidth(written_rate, profile_bandwidth(p, p->sum.written_bytes)),
	       quantity_bytes(touched, p->sum.touched_bytes));
}

static void print_mpi(const struct profile *p)
{
	char text[32];

	printf("MPI: %llu calls of %u ranks, %s in them\n", p->mpi.ops, p->ranks,
	       quantity_time(text, p->mpi.time_ns));
}

static void print_summary(const char *path, const struct profile *p)
{
	const char *command = profile_fact(p, "command"), *replay = profile_fact(p, "replay");

	if (p->is_mpi_only)
		printf("%s: %.3f s, operations on files were not recorded\n", path, profile_seconds(p));
	else
		print_sum(path, p);
	if (p->mpi.ops)
		print_mpi(p);
	if (replay)
		printf("replay of %s, %llu operations diverged from the trace\n", replay,
		       p->diverged);
	else if (command)
		print_command(command);
	if (p->unable)
		printf("the target does not support %llu other operations\n", p->unable);
	if (p->emulated)
		printf("%llu unsupported operations were emulated\n", p->emulated);
	if (p->harmless)
		printf("%llu operations created files without their privileges\n", p->harmless);
	print_before(p);
	omissions_print(stdout, "", &p->omissions);
	if (p->is_counted)
		puts(STAT_COUNTED_NOTE);
}

/* @latency_ns: NULL if none was measured. */
static void latency_cells(struct table *table, const struct histogram *latency_ns)
{
	int i;

	for (i = 0; !latency_ns && i < 5; i++)
		table_cell(table, "-");
	if (!latency_ns)
		return;
	table_time(table, latency_ns->sum);
	table_time(table, histogram_percentile(latency_ns, 50));
	table_time(table, histogram_percentile(latency_ns, 90));
	table_time(table, histogram_percentile(latency_ns, 99));
	table_time(table, latency_ns->max);
}

/* Those of messages are not counted. */
static void bytes_cell(struct table *table, const struct iot_kind_info *info, const struct profile_sum *sum)
{
	u64 into_file_bytes = sum->written_bytes + sum->touched_bytes;

	if (info->group == IOT_GROUP_mpi)
		table_cell(table, "-");
	else
		table_bytes(table, sum->read_bytes > into_file_bytes ? sum->read_bytes : into_file_bytes);
}

static void print_kinds(const struct profile *p)
{
	struct table table;
	u32 i;

	table_open(&table, 9);
	heading(&table, "operation count failed time p50 p90 p99 max bytes");
	for (i = 0; i < IOT_KIND_END; i++) {
		const struct profile_sum *sum = &p->kinds[i].sum;

		if (!sum->ops)
			continue;
		table_cell(&table, "%s", iot_kind_info((u16)i)->name);
		table_cell(&table, "%llu", sum->ops);
		table_cell(&table, "%llu", sum->errors);
		latency_cells(&table, p->kinds[i].latency_ns);
		bytes_cell(&table, iot_kind_info((u16)i), sum);
	}
	finish(&table);
}

static u32 at_most(const struct options *options, u32 count)
{
	return options->top && options->top < count ? options->top : count;
}

static void print_files(const struct options *options, const struct profile *p)
{
	u32 i, count = at_most(options, p->file_count);
	struct table table;

	table_open(&table, 8);
	heading(&table, "file opens operations failed time read written touched");
	for (i = 0; i < count; i++) {
		char escaped[4 * IOT_PROGRAM_PATH_MAX + 1];

		iot_text_bytes(escaped, sizeof(escaped), p->files[i].path, strlen(p->files[i].path));
		table_cell(&table, "%s", escaped[0] ? escaped : "?");
		table_cell(&table, "%llu", p->files[i].opens);
		sum_cells(&table, &p->files[i].sum);
	}
	finish(&table);
	if (count < p->file_count)
		printf("... and %u more files\n", p->file_count - count);
}

static void process_cells(struct table *table, const struct profile_process *process)
{
	char escaped[4 * sizeof(process->command)];

	iot_text_bytes(escaped, sizeof(escaped), process->command, strlen(process->command));
	table_cell(table, "%s", escaped[0] ? escaped : "?");
	if (process->pid)
		table_cell(table, "%u", process->pid);
	else
		table_cell(table, "-");
	table_cell(table, "%u", process->threads);
	sum_cells(table, &process->sum);
}

static void print_processes(const struct options *options, const struct profile *p)
{
	u32 i, count = at_most(options, p->process_count);
	bool is_replay = profile_fact(p, "replay");
	struct table table;

	table_open(&table, 9);
	table_cell(&table, is_replay ? "task" : "process");
	heading(&table, "pid threads operations failed time read written touched");
	for (i = 0; i < count; i++)
		process_cells(&table, &p->processes[i]);
	finish(&table);
	if (count < p->process_count)
		printf("... and %u more %s\n", p->process_count - count, is_replay ? "tasks" : "processes");
}

/* -- JSON ----------------------------------------------------------------------------------------- */

static void put_if(struct json *json, const char *key, bool is_known, u64 value)
{
	if (is_known)
		json_put_unsigned(json, key, value);
	else
		json_put_null(json, key);
}

static void sum_json(struct json *json, const struct profile_sum *sum, bool is_known, bool is_timed)
{
	put_if(json, "operations", is_known, sum->ops);
	put_if(json, "failed", is_known, sum->errors);
	put_if(json, "time_ns", is_timed, sum->time_ns);
	put_if(json, "read_bytes", is_known, sum->read_bytes);
	put_if(json, "written_bytes", is_known, sum->written_bytes);
	put_if(json, "touched_bytes", is_known, sum->touched_bytes);
}

static void kind_json(struct json *json, const struct profile_kind *kind, bool is_counted)
{
	static const struct histogram none;
	const struct histogram *latency_ns = kind->latency_ns ?: &none;
	bool is_timed = kind->latency_ns;

	sum_json(json, &kind->sum, true, is_timed);
	put_if(json, "min_ns", is_timed && !is_counted, latency_ns->min);
	put_if(json, "p50_ns", is_timed, histogram_percentile(latency_ns, 50));
	put_if(json, "p90_ns", is_timed, histogram_percentile(latency_ns, 90));
	put_if(json, "p99_ns", is_timed, histogram_percentile(latency_ns, 99));
	put_if(json, "max_ns", is_timed, latency_ns->max);
}

static void kinds_json(struct json *json, const struct profile *p)
{
	u32 i;

	json_key(json, "kinds");
	json_begin(json, '{');
	for (i = 0; i < IOT_KIND_END; i++) {
		if (!p->kinds[i].sum.ops)
			continue;
		json_key(json, iot_kind_info((u16)i)->name);
		json_begin(json, '{');
		kind_json(json, &p->kinds[i], p->is_counted);
		json_end(json, '}');
	}
	json_end(json, '}');
}

static void files_json(struct json *json, const struct profile *p)
{
	u32 i;

	json_key(json, "files");
	json_begin(json, '[');
	for (i = 0; i < p->file_count; i++) {
		json_begin(json, '{');
		json_put_string(json, "path", p->files[i].path);
		json_put_unsigned(json, "opens", p->files[i].opens);
		sum_json(json, &p->files[i].sum, true, true);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void processes_json(struct json *json, const struct profile *p)
{
	u32 i;

	json_key(json, "processes");
	json_begin(json, '[');
	for (i = 0; i < p->process_count; i++) {
		json_begin(json, '{');
		json_put_string(json, "command", p->processes[i].command);
		put_if(json, "pid", p->processes[i].pid, p->processes[i].pid);
		json_put_unsigned(json, "task", p->processes[i].task);
		json_put_unsigned(json, "threads", p->processes[i].threads);
		sum_json(json, &p->processes[i].sum, true, true);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void facts_json(struct json *json, const struct profile *p)
{
	u32 i;

	json_key(json, "facts");
	json_begin(json, '[');
	for (i = 0; i < p->fact_count; i++)
		json_string(json, p->facts[i]);
	json_end(json, ']');
}

static void print_json(const struct profile *p)
{
	struct json json;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_real(&json, "seconds", profile_seconds(p));
	sum_json(&json, &p->sum, !p->is_mpi_only, !p->is_mpi_only);
	json_put_real(&json, "read_bytes_per_s", profile_bandwidth(p, p->sum.read_bytes));
	json_put_real(&json, "written_bytes_per_s", profile_bandwidth(p, p->sum.written_bytes));
	json_put_unsigned(&json, "mpi_calls", p->mpi.ops);
	json_put_unsigned(&json, "mpi_ranks", p->ranks);
	json_put_unsigned(&json, "mpi_time_ns", p->mpi.time_ns);
	json_put_unsigned(&json, "diverged", p->diverged);
	json_put_unsigned(&json, "unsupported", p->unable);
	json_put_unsigned(&json, "emulated", p->emulated);
	json_put_unsigned(&json, "harmless", p->harmless);
	json_put_unsigned(&json, "lost", p->info.lost + p->info.missing);
	json_put_bool(&json, "is_complete", p->info.is_complete);
	omissions_json(&json, &p->omissions);
	json_put_bool(&json, "are_percentiles_limits", p->is_counted);
	put_if(&json, "opened_bytes", !p->is_mpi_only && !p->is_counted, p->opened_bytes);
	put_if(&json, "cached_bytes", !p->is_mpi_only && !p->is_imported && !p->is_counted, p->cached_bytes);
	json_put_unsigned(&json, "opened", p->opened);
	json_put_unsigned(&json, "mapped", p->mapped);
	json_put_unsigned(&json, "in_no_table", p->in_no_table);
	json_put_unsigned(&json, "unseen_files", p->unseen_files);
	json_put_unsigned(&json, "unseen_maps", p->unseen_maps);
	json_put_unsigned(&json, "unseen_tasks", p->unseen_tasks);
	facts_json(&json, p);
	kinds_json(&json, p);
	files_json(&json, p);
	processes_json(&json, p);
	json_end(&json, '}');
	json_line(&json);
}

static bool is_mpi_only(const struct breakdown *b)
{
	return !b->sum.ops && b->omissions.of[IOT_OMISSION_mpi_only].count;
}

static int print_groups_json(const struct options *options, const struct breakdown *b)
{
	struct json json;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_unsigned(&json, "version", JSON_VERSION);
	json_put_string(&json, "by", stat_by_words[options->by]);
	sum_json(&json, &b->sum, !is_mpi_only(b), !is_mpi_only(b));
	json_put_unsigned(&json, "mpi_calls", b->mpi.ops);
	omissions_json(&json, &b->omissions);
	if (stat_groups_json(&json, b, options->sort, options->has_top ? options->top : 0))
		return fail("%s: %s", options->name, strerror(ENOMEM));
	json_put_bool(&json, "are_percentiles_limits", b->is_counted);
	if (!b->is_counted)
		stat_access_json(&json, b);
	json_end(&json, '}');
	json_line(&json);
	return EXIT_DONE;
}

static int print_groups(const struct options *options, const struct breakdown *b)
{
	char read[32], written[32], touched[32];

	if (options->by == BREAKDOWN_interval && !b->is_counted)
		return fail("%s: operations were recorded, not counted: there are no intervals (--by=interval)", options->name);
	if (options->by == BREAKDOWN_site && !symbols_has_stacks(b->symbols))
		return fail("%s: call sites were not recorded (record --stacks)", options->name);
	terminal_output_begin();
	if (options->is_json)
		return print_groups_json(options, b);
	if (is_mpi_only(b))
		printf("%s: operations on files were not recorded, %llu MPI calls selected\n", options->name, b->mpi.ops);
	else
		printf("%s: selected: %llu operations, %llu failed, %s read, %s written, %s touched\n", options->name,
		       b->sum.ops, b->sum.errors, quantity_bytes(read, b->sum.read_bytes),
		       quantity_bytes(written, b->sum.written_bytes), quantity_bytes(touched, b->sum.touched_bytes));
	omissions_print(stdout, "", &b->omissions);
	if (b->is_counted)
		puts(STAT_COUNTED_NOTE);
	if (!b->groups) {
		say("%s: no operation matches", options->name);
		return EXIT_DONE;
	}
	if (stat_groups_text(b, options->sort, options->top))
		return fail("%s: %s", options->name, strerror(ENOMEM));
	stat_errors_text(b, options->top);
	if (!b->is_counted)
		stat_access_text(b);
	return EXIT_DONE;
}

static int stat_groups(const struct options *options)
{
	struct breakdown b = { .key = options->by, .selection = options->selection };
	struct iot_reject reject = {};
	int err = selection_open(&b.selection) ?: breakdown_read(options->path, &b, &reject);
	int code = err ? fail_reject(options->name, err, &reject) : print_groups(options, &b);

	selection_close(&b.selection);
	breakdown_free(&b);
	return code;
}

static int stat_all(const struct options *options)
{
	struct iot_reject reject = {};
	struct profile *profile;
	int err = profile_read(options->path, &profile, &reject);

	if (err)
		return fail_reject(options->name, err, &reject);
	terminal_output_begin();
	if (options->is_json) {
		print_json(profile);
	} else {
		print_summary(options->name, profile);
		print_kinds(profile);
	}
	if (!options->is_json && !profile->is_mpi_only) {
		print_files(options, profile);
		print_processes(options, profile);
	}
	profile_free(profile);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct options options = { .top = TOP };
	char copy[INPUT_PATH_BYTES];
	int code;

	options_parse(&option_table, argc, argv, &options);
	options.name = strcmp(options.path, "-") ? options.path : "standard input";
	code = input_open(&options.path, copy);
	if (code)
		return code;
	if (options.by == BREAKDOWN_interval && !options.has_sort)
		options.sort = STAT_SORT_NAME;
	if (options.has_waits)
		return stat_waits(options.path, options.name, options.top, options.is_json);
	if (options.has_bandwidth)
		return stat_bandwidth(options.path, options.name, &options.selection,
				      options.is_json && !options.has_top ? 0 : options.top, options.is_json);
	if (options.has_by || options.has_sort || !selection_is_all(&options.selection))
		return stat_groups(&options);
	return stat_all(&options);
}

const struct cmd cmd_stat = {
	.name = "stat",
	.summary = "summarize a trace by operation, file and process",
	.run = run,
	.options = &option_table,
};
