// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_compile.c - iotape compile: turn a trace into a replay program.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "compile/compile.h"
#include "json.h"
#include "omissions.h"
#include "option.h"
#include "pattern_trace.h"
#include "table.h"

#define SNAPSHOT_FACT "snapshot.directory"

#define ASLEEP_MIN_NS 1000000 /* less is not printed */

struct options {
	struct compile_options compile;
	bool has_times;
	const char *snapshot;
	bool is_json;
	bool is_quiet;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static const char *cause_at(size_t index)
{
	return index < EDGE_CAUSE_COUNT ? edge_cause_names[index] : NULL;
}

static void set_causes(struct option_state *state, char *list)
{
	struct options *options = state->options;
	char *name;
	u32 i;

	while ((name = strsep(&list, ","))) {
		for (i = 0; i < EDGE_CAUSE_COUNT && strcmp(name, edge_cause_names[i]); i++)
			;
		if (i == EDGE_CAUSE_COUNT)
			option_error(state, "--without: '%s' is not a cause of order", name);
		options->compile.without |= 1u << i;
	}
}

static void set_order(struct option_state *state, char *text)
{
	struct options *options = state->options;
	const char *wrong = order_rules_parse(text, &options->compile.rules);

	if (wrong)
		option_error(state, "--order: '%.*s' is neither a rule nor a set of rules",
			     (int)strcspn(wrong, ","), wrong);
	options->compile.order = text;
}

static const char *const think_words[] = { "auto", "sleep", "cpu", NULL }; /* enum compile_think */

static void set_think(struct option_state *state, char *text)
{
	struct options *options = state->options;
	u32 i;

	for (i = 0; think_words[i] && strcmp(text, think_words[i]); i++)
		;
	if (!think_words[i])
		option_error(state, "--think: '%s' is none of auto, sleep, cpu", text);
	options->compile.think = i;
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (options->compile.takes_all && !options->snapshot)
		option_error(state, "--whole requires --snapshot");
}

static const char *const order_words[] = { "iotape", "artc", "single", "temporal", "unconstrained", NULL };

static const struct option_row option_rows[] = {
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(compile.program),
	  .help = "write the program to FILE (default: the trace's name with .irp)" },
	{ "order", 'r', OPTION_TEXT, "ORDER", .words = order_words, .set = set_order,
	  .help = "the order to keep: iotape (default), artc, single, temporal, unconstrained; or a "
		  "comma-separated list of rules of ROOT: program_seq, thread_seq, file_seq, path_stage+, fd_stage, "
		  "fd_seq, aio_stage" },
	{ "without", 'w', OPTION_TEXT, "CAUSE,...", .word_at = cause_at, .set = set_causes,
	  .help = "omit the order of these causes, to measure their cost or effect: life, mpi, wake, discovered, request, "
		  "name, entries, size, data, handle, attr, lock, or a rule" },
	{ "think", 0, OPTION_TEXT, "HOW", .words = think_words, .set = set_think,
	  .help = "for the time that tasks computed: sleep, use a CPU (cpu), or use a CPU if they waited for CPUs "
		  "(auto, the default)" },
	{ "snapshot", 0, OPTION_FILE, "FILE", .field = FIELD(snapshot),
	  .help = "complete the initial tree from a snapshot of the traced directory" },
	{ "whole", .field = FIELD(compile.takes_all),
	  .help = "with --snapshot, include all of its entries, not only those that the trace uses" },
	{ "uncompressed", .field = FIELD(compile.is_uncompressed),
	  .help = "do not compress the program, for kernels without zstd" },
	{ "times", 't', .field = FIELD(has_times), .help = "print how each process spent its time" },
	{ "json", 'j', .field = FIELD(is_json), .help = "print the summary as JSON" },
	{ "quiet", 'q', .field = FIELD(is_quiet), .help = "do not print the summary" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE\nPATTERN",
	.operand_type = OPTION_FILE,
	.operand_noun = "trace or pattern",
	.operand = FIELD(compile.trace),
	.check = check,
	.about = "Compile a trace, or a pattern, to a program for `iotape init` and `iotape replay`.",
};

static void print_duration(const char *before, u64 ns)
{
	if (ns < 10000)
		printf("%s%llu ns", before, ns);
	else if (ns < 10000000)
		printf("%s%llu us", before, ns / 1000);
	else
		printf("%s%llu ms", before, ns / 1000000);
}

static void print_edges(const struct compile_summary *s, u32 cause)
{
	const struct edge_lengths *lengths = &s->lengths[cause];
	u64 left = s->edges[cause] - s->pruned[cause];

	printf("  order by %s: %llu edges, %llu after pruning", edge_cause_names[cause],
	       s->edges[cause], left);
	if (left) {
		print_duration(", from ", lengths->min_ns);
		print_duration(" to ", lengths->max_ns);
		print_duration(" long, median ", lengths->median_ns);
	}
	printf("\n");
}

static void print_snapshot(const struct options *options, const struct compile_summary *s)
{
	static const char *const sentences[] = {
#define SENTENCE(name, sentence) [COMPILE_##name] = sentence,
		COMPILE_CONTRADICTIONS(SENTENCE)
#undef SENTENCE
	};
	const char *directory = iot_program_fact_value(options->compile.snapshot, SNAPSHOT_FACT);
	char path[4 * IOT_PROGRAM_PATH_MAX + 8];
	u64 i;

	printf("  %llu entries are completed from the snapshot\n", s->completed);
	if (directory && strcmp(directory, s->mount))
		printf("  the snapshot is of %s, the trace of %s\n", directory, s->mount);
	if (s->contradictions)
		printf("  trace and snapshot contradict each other %llu times:\n", s->contradictions);
	for (i = 0; i < s->contradictions && i < COMPILE_NOTES_MAX; i++) {
		iot_text_bytes(path, sizeof(path), s->contradiction_paths[i],
			       strlen(s->contradiction_paths[i]));
		printf("    %s: %s\n", path, sentences[s->contradiction_kinds[i]]);
	}
	if (s->contradictions > COMPILE_NOTES_MAX)
		printf("    ...\n");
}

static void print_text(const struct options *options, const struct compile_summary *s)
{
	u32 i;

	printf("%s: %llu operations of %u tasks, %llu waits, %u latches, %llu initial entries\n",
	       options->compile.program, s->operations, s->tasks, s->waits, s->latches, s->entries);
	for (i = 0; i < EDGE_CAUSE_COUNT; i++)
		if (s->edges[i])
			print_edges(s, i);
	if (s->backpressure_waits) {
		printf("  %llu waits for the collector are not think time", s->backpressure_waits);
		print_duration(": ", s->backpressure_ns);
		printf("\n");
	}
	if (s->delays) {
		printf("  %llu delays by the recorder are not think time", s->delays);
		print_duration(": ", s->delays_ns);
		printf("\n");
	}
	if (s->freed) {
		printf("  freeing the space of %llu removed files is not think time", s->freed);
		print_duration(": ", s->freed_ns);
		printf("\n");
	}
	if (s->recorder_ns) {
		printf("  the cost of recording between operations is not think time");
		print_duration(": ", s->recorder_ns);
		printf("\n");
		if (s->recorder_cut)
			printf("    %llu times between operations were shorter than this cost\n", s->recorder_cut);
	}
	if (s->computes) {
		print_duration("  tasks waited for CPUs: ", s->competition.cpu_wait_ns);
		print_duration(", of this while other tasks of the program computed: ", s->competition.own_ns);
		printf("; a replay uses CPUs, and waits for them itself\n");
	}
	if (s->asleep_ns >= ASLEEP_MIN_NS) {
		print_duration("  think time that tasks slept, for an unknown reason, during operations of others: ", s->asleep_ns);
		printf("%s\n", s->has_wakes ? "" : "; iotape record --wakes records what they waited for");
	}
	if (s->guessed)
		printf("  %llu entries are known by name and type only and are created empty\n",
		       s->guessed);
	if (options->snapshot)
		print_snapshot(options, s);
	if (s->mpi_unmatched)
		printf("  %llu MPI calls without a partner\n", s->mpi_unmatched);
	if (s->mpi_ambiguous)
		printf("  %llu MPI calls with an uncertain partner\n", s->mpi_ambiguous);
	if (s->mpi_contradicted)
		printf("  %llu MPI calls that ended before the calls that they wait for\n", s->mpi_contradicted);
	for (i = 0; i < s->mpi_note_count; i++)
		printf("    task %u, operation %u: %s\n", s->mpi_notes[i].task, s->mpi_notes[i].op,
		       s->mpi_notes[i].reason);
	if (s->mpi_note_count &&
	    s->mpi_note_count < s->mpi_unmatched + s->mpi_ambiguous + s->mpi_contradicted)
		printf("    ...\n");
	omissions_print(stdout, "  ", &s->omissions);
}

/* A part as a share of its total, which shows best which parts matter. */
static void cell_share(struct table *table, u64 ns, const struct process_times *p)
{
	table_cell(table, "%.1f%%", p->elapsed_ns ? 100.0 * (double)ns / (double)p->elapsed_ns : 0);
}

static void print_times(const struct compile_summary *s)
{
	static const char *const head[] = { "process", "pid", "rank", "threads", "time", "I/O",
					    "compute", "MPI", "waiting", "unexplained" };
	struct table table;
	u32 i;

	table_open(&table, ARRAY_SIZE(head));
	for (i = 0; i < ARRAY_SIZE(head); i++)
		table_cell(&table, "%s", head[i]);
	for (i = 0; i < s->time_count; i++) {
		const struct process_times *p = &s->times[i];
		char command[4 * sizeof(p->command)];

		iot_text_line(command, sizeof(command), p->command);
		table_cell(&table, "%s", command[0] ? command : "?");
		table_cell(&table, "%u", p->pid);
		if (p->rank < 0)
			table_cell(&table, "-");
		else
			table_cell(&table, "%d", p->rank);
		table_cell(&table, "%u", p->threads);
		table_time(&table, p->elapsed_ns);
		cell_share(&table, p->io_ns, p);
		cell_share(&table, p->compute_ns, p);
		cell_share(&table, p->mpi_ns, p);
		cell_share(&table, p->wait_ns, p);
		cell_share(&table, p->unexplained_ns, p);
	}
	printf("\n");
	table_print(&table, stdout);
	table_close(&table);
}

static void print_causes(struct json *json, const char *key, const u64 *values)
{
	u32 i;

	json_key(json, key);
	json_begin(json, '{');
	for (i = 0; i < EDGE_CAUSE_COUNT; i++) {
		json_key(json, edge_cause_names[i]);
		json_unsigned(json, values[i]);
	}
	json_end(json, '}');
}

static void print_lengths(struct json *json, const struct edge_lengths *lengths)
{
	u32 i;

	json_key(json, "lengths");
	json_begin(json, '{');
	for (i = 0; i < EDGE_CAUSE_COUNT; i++) {
		json_key(json, edge_cause_names[i]);
		json_begin(json, '{');
		json_put_unsigned(json, "min_ns", lengths[i].min_ns);
		json_put_unsigned(json, "median_ns", lengths[i].median_ns);
		json_put_unsigned(json, "max_ns", lengths[i].max_ns);
		json_end(json, '}');
	}
	json_end(json, '}');
}

static void print_json_times(struct json *json, const struct compile_summary *s)
{
	u32 i;

	json_key(json, "processes");
	json_begin(json, '[');
	for (i = 0; i < s->time_count; i++) {
		const struct process_times *p = &s->times[i];

		json_begin(json, '{');
		json_put_string(json, "command", p->command);
		json_put_unsigned(json, "pid", p->pid);
		if (p->rank >= 0)
			json_put_unsigned(json, "rank", (u64)p->rank);
		json_put_unsigned(json, "threads", p->threads);
		json_put_unsigned(json, "elapsed_ns", p->elapsed_ns);
		json_put_unsigned(json, "io_ns", p->io_ns);
		json_put_unsigned(json, "compute_ns", p->compute_ns);
		json_put_unsigned(json, "mpi_ns", p->mpi_ns);
		json_put_unsigned(json, "wait_ns", p->wait_ns);
		json_put_unsigned(json, "unexplained_ns", p->unexplained_ns);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void print_json(const struct options *options, const struct compile_summary *s)
{
	struct json json;
	u32 i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_string(&json, "order", options->compile.order ?: "iotape");
	json_put_unsigned(&json, "operations", s->operations);
	json_put_unsigned(&json, "program_operations", s->ops);
	json_put_unsigned(&json, "tasks", s->tasks);
	json_put_unsigned(&json, "waits", s->waits);
	json_put_unsigned(&json, "request_queues", s->queues);
	json_put_unsigned(&json, "latches", s->latches);
	json_put_unsigned(&json, "handles", s->handles);
	json_put_unsigned(&json, "maps", s->maps);
	print_causes(&json, "edges", s->edges);
	print_causes(&json, "pruned", s->pruned);
	print_lengths(&json, s->lengths);
	json_key(&json, "not_expressed");
	json_begin(&json, '{');
	for (i = 0; i < IOT_KIND_END; i++)
		if (s->dropped[i])
			json_put_unsigned(&json, iot_kind_info((u16)i)->name, s->dropped[i]);
	json_end(&json, '}');
	json_put_unsigned(&json, "backpressure_waits", s->backpressure_waits);
	json_put_unsigned(&json, "backpressure_ns", s->backpressure_ns);
	json_put_unsigned(&json, "delays", s->delays);
	json_put_unsigned(&json, "delays_ns", s->delays_ns);
	json_put_unsigned(&json, "freed", s->freed);
	json_put_unsigned(&json, "freed_ns", s->freed_ns);
	json_put_unsigned(&json, "recorder_ns", s->recorder_ns);
	json_put_unsigned(&json, "recorder_cut", s->recorder_cut);
	json_put_unsigned(&json, "oncpu_ns", s->competition.oncpu_ns);
	json_put_unsigned(&json, "cpu_wait_ns", s->competition.cpu_wait_ns);
	json_put_unsigned(&json, "own_cpu_wait_ns", s->competition.own_ns);
	json_put_bool(&json, "computes", s->computes);
	json_put_unsigned(&json, "asleep_ns", s->asleep_ns);
	json_put_bool(&json, "has_wakes", s->has_wakes);
	json_put_unsigned(&json, "entries", s->entries);
	json_put_unsigned(&json, "guessed_entries", s->guessed);
	if (options->snapshot) {
		json_put_unsigned(&json, "completed_entries", s->completed);
		json_put_unsigned(&json, "contradictions", s->contradictions);
	}
	json_put_unsigned(&json, "unexplained_results", s->unexplained);
	json_put_unsigned(&json, "mpi_unmatched", s->mpi_unmatched);
	json_put_unsigned(&json, "mpi_ambiguous", s->mpi_ambiguous);
	json_put_unsigned(&json, "mpi_contradicted", s->mpi_contradicted);
	json_put_unsigned(&json, "mpi_unknown", s->mpi_unknown);
	json_put_unsigned(&json, "lost", s->lost);
	print_json_times(&json, s);
	json_put_bool(&json, "is_complete", s->is_complete);
	json_put_string(&json, "partial", s->partial);
	omissions_json(&json, &s->omissions);
	json_end(&json, '}');
	json_line(&json);
}

static void print(const struct options *options, const struct compile_summary *s)
{
	if (options->is_json) {
		print_json(options, s);
		return;
	}
	if (!options->is_quiet)
		print_text(options, s);
	if (options->has_times)
		print_times(s);
}

/* Return: an exit code; if it is not EXIT_DONE, a message was printed. */
static int load_snapshot(struct options *options, struct iot_program *snapshot)
{
	struct iot_reject reject = {};
	int err;

	if (!options->snapshot)
		return EXIT_DONE;
	err = iot_program_load(options->snapshot, snapshot, &reject);
	if (err)
		return fail_reject(options->snapshot, err, &reject);
	options->compile.snapshot = snapshot;
	if (iot_program_fact_value(snapshot, SNAPSHOT_FACT))
		return EXIT_DONE;
	iot_program_free(snapshot);
	return fail("%s: is a program, not a snapshot", options->snapshot);
}

/* job.iot becomes job.irp, and so does job.ipt. */
static char *default_output(const char *trace)
{
	const char *dot = strrchr(trace, '.');
	int stem = dot && (!strcmp(dot, ".iot") || !strcmp(dot, ".ipt")) ? (int)(dot - trace) : (int)strlen(trace);
	char *output;

	return asprintf(&output, "%.*s.irp", stem, trace) < 0 ? NULL : output;
}

/* A pattern is compiled from its trace, which lies beside the program for so long. Return: an exit code. */
static int take_pattern(struct options *options, char **trace)
{
	struct pattern *pattern;
	struct iot_reject reject;
	int code, err, fd;

	*trace = NULL;
	if (!is_pattern(options->compile.trace))
		return EXIT_DONE;
	err = pattern_load(options->compile.trace, &pattern, &reject);
	if (err)
		return fail_reject(options->compile.trace, err, &reject);
	fd = asprintf(trace, "%s.XXXXXX", options->compile.program) < 0 ? -1 : mkstemp(*trace);
	if (fd < 0) {
		code = fail("%s: %s", options->compile.program, strerror(errno));
	} else {
		close(fd);
		code = write_pattern_trace(options->compile.trace, pattern, *trace, options->is_quiet || options->is_json);
	}
	pattern_free(pattern);
	return code;
}

static void drop_trace(char *trace)
{
	if (trace)
		unlink(trace);
	free(trace);
}

static int run(int argc, char **argv)
{
	struct iot_program snapshot = {};
	struct options options = {
		.compile.rules = ORDER_DEFAULT,
	};
	struct compile_summary summary;
	struct iot_reject reject;
	const char *input;
	char *made;
	int err, code;

	options_parse(&option_table, argc, argv, &options);
	if (!options.compile.program)
		options.compile.program = default_output(options.compile.trace);
	if (!options.compile.program)
		return fail("%s", strerror(ENOMEM));
	if (iot_file_is_same(options.compile.trace, options.compile.program))
		return fail("%s: is both input and output", options.compile.trace);
	if (options.snapshot && iot_file_is_same(options.snapshot, options.compile.program))
		return fail("%s: is both input and output", options.snapshot);
	code = load_snapshot(&options, &snapshot);
	if (code)
		return code;
	input = options.compile.trace;
	code = take_pattern(&options, &made);
	if (made)
		options.compile.trace = made;
	if (code) {
		drop_trace(made);
		iot_program_free(&snapshot);
		return code;
	}
	err = compile_trace(&options.compile, &summary, &reject);
	drop_trace(made);
	options.compile.trace = input;
	progress_end();
	if (!err)
		print(&options, &summary);
	compile_summary_free(&summary);
	iot_program_free(&snapshot);
	if (err && reject.reason >= IOT_REJECT_program_magic)
		return fail("%s: the compiled program is invalid: %s", options.compile.trace,
			    iot_reject_sentence(&reject));
	if (err && !reject.reason)
		return fail("%s: %s", options.compile.program, strerror(-err));
	if (err)
		return fail_reject(options.compile.trace, err, &reject);
	return EXIT_DONE;
}

const struct cmd cmd_compile = {
	.name = "compile",
	.summary = "compile a trace to a replay program",
	.run = run,
	.options = &option_table,
};
