// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_compile.c - iotape compile: turn a trace into a replay program.
 */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "compile/compile.h"
#include "json.h"

struct options {
	struct compile_options compile;
	bool is_json;
	bool is_quiet;
};

static const struct argp_option option_table[] = {
	{ "output", 'o', "FILE", 0, "write the program to FILE (default: the trace's name with .irp)", 0 },
	{ "order", 'r', "ORDER", 0,
	  "what keeps its order: iotape (default), artc, single, temporal, unconstrained; or rules "
	  "of ROOT with commas: program_seq, thread_seq, file_seq, path_stage+, fd_stage, fd_seq, "
	  "aio_stage", 0 },
	{ "without", 'w', "CAUSE,...", 0,
	  "leave out an order, to see what it costs or keeps right: life, mpi, request, name, "
	  "entries, size, handle, attr, or a rule", 0 },
	{ "json", 'j', NULL, 0, "print the summary as JSON", 0 },
	{ "quiet", 'q', NULL, 0, "do not print the summary", 0 },
	{}
};

static error_t parse_causes(char *list, u32 *causes, struct argp_state *state)
{
	char *name;
	u32 i;

	while ((name = strsep(&list, ","))) {
		for (i = 0; i < EDGE_CAUSE_COUNT && strcmp(name, edge_cause_names[i]); i++)
			;
		if (i == EDGE_CAUSE_COUNT)
			argp_error(state, "--without: '%s' is no cause of order", name);
		*causes |= 1u << i;
	}
	return 0;
}

static error_t parse_order(const char *text, struct compile_options *options,
			   struct argp_state *state)
{
	const char *wrong = order_rules_parse(text, &options->rules);

	if (wrong)
		argp_error(state, "--order: '%.*s' is no rule and no set of rules",
			   (int)strcspn(wrong, ","), wrong);
	options->order = text;
	return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'r':
		return parse_order(argument, &options->compile, state);
	case 'o':
		options->compile.program = argument;
		return 0;
	case 'w':
		return parse_causes(argument, &options->compile.without, state);
	case 'j':
		options->is_json = true;
		return 0;
	case 'q':
		options->is_quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->compile.trace)
			argp_error(state, "%s: one trace at a time", argument);
		options->compile.trace = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no trace given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse,
	.args_doc = "TRACE",
	.doc = "Turn a trace into a program that `iotape init` and `iotape replay` take.",
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

static void print_text(const struct options *options, const struct compile_summary *s)
{
	u32 i;

	printf("%s: %llu operations of %u tasks, %llu waits, %u hubs, %llu entries to begin with\n",
	       options->compile.program, s->operations, s->tasks, s->waits, s->hubs, s->entries);
	for (i = 0; i < EDGE_CAUSE_COUNT; i++)
		if (s->edges[i])
			print_edges(s, i);
	for (i = 0; i < IOT_KIND_END; i++)
		if (s->dropped[i])
			printf("  not expressed: %llu %s\n", s->dropped[i], iot_kind_info((u16)i)->name);
	if (s->guessed)
		printf("  %llu entries are known by name and type only: empty files stand for them\n",
		       s->guessed);
	if (s->mpi_unmatched)
		printf("  %llu MPI calls without a partner\n", s->mpi_unmatched);
	if (s->mpi_ambiguous)
		printf("  %llu MPI calls whose partner may be another one\n", s->mpi_ambiguous);
	for (i = 0; i < s->mpi_note_count; i++)
		printf("    task %u, operation %u: %s\n", s->mpi_notes[i].task, s->mpi_notes[i].op,
		       s->mpi_notes[i].reason);
	if (s->mpi_note_count && s->mpi_note_count < s->mpi_unmatched + s->mpi_ambiguous)
		printf("    ...\n");
	if (s->lost)
		printf("  the trace lost %llu records: the program lacks them\n", s->lost);
	if (!s->is_complete)
		printf("  the trace was not finished: the program may lack its end\n");
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

static void print_number(struct json *json, const char *key, u64 value)
{
	json_key(json, key);
	json_unsigned(json, value);
}

static void print_lengths(struct json *json, const struct edge_lengths *lengths)
{
	u32 i;

	json_key(json, "lengths");
	json_begin(json, '{');
	for (i = 0; i < EDGE_CAUSE_COUNT; i++) {
		json_key(json, edge_cause_names[i]);
		json_begin(json, '{');
		print_number(json, "min_ns", lengths[i].min_ns);
		print_number(json, "median_ns", lengths[i].median_ns);
		print_number(json, "max_ns", lengths[i].max_ns);
		json_end(json, '}');
	}
	json_end(json, '}');
}

static void print_json(const struct options *options, const struct compile_summary *s)
{
	struct json json;
	u32 i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_key(&json, "order");
	json_string(&json, options->compile.order ?: "iotape");
	print_number(&json, "operations", s->operations);
	print_number(&json, "program_operations", s->ops);
	print_number(&json, "tasks", s->tasks);
	print_number(&json, "waits", s->waits);
	print_number(&json, "lanes", s->lanes);
	print_number(&json, "hubs", s->hubs);
	print_number(&json, "handles", s->handles);
	print_number(&json, "maps", s->maps);
	print_causes(&json, "edges", s->edges);
	print_causes(&json, "pruned", s->pruned);
	print_lengths(&json, s->lengths);
	json_key(&json, "not_expressed");
	json_begin(&json, '{');
	for (i = 0; i < IOT_KIND_END; i++)
		if (s->dropped[i])
			print_number(&json, iot_kind_info((u16)i)->name, s->dropped[i]);
	json_end(&json, '}');
	print_number(&json, "entries", s->entries);
	print_number(&json, "guessed_entries", s->guessed);
	print_number(&json, "mpi_unmatched", s->mpi_unmatched);
	print_number(&json, "mpi_ambiguous", s->mpi_ambiguous);
	print_number(&json, "lost", s->lost);
	json_put_bool(&json, "is_complete", s->is_complete);
	json_end(&json, '}');
	json_line(&json);
}

static void show_progress(u64 records)
{
	progress("%llu records read", records);
}

/* job.iot becomes job.irp. */
static char *default_output(const char *trace)
{
	const char *dot = strrchr(trace, '.');
	int stem = dot && !strcmp(dot, ".iot") ? (int)(dot - trace) : (int)strlen(trace);
	char *output;

	return asprintf(&output, "%.*s.irp", stem, trace) < 0 ? NULL : output;
}

static int run(int argc, char **argv)
{
	struct options options = {
		.compile.progress = show_progress,
		.compile.rules = ORDER_DEFAULT,
	};
	struct compile_summary summary;
	struct iot_reject reject;
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (!options.compile.program)
		options.compile.program = default_output(options.compile.trace);
	if (!options.compile.program)
		return fail("%s", strerror(ENOMEM));
	err = compile_trace(&options.compile, &summary, &reject);
	progress_end();
	if (err && reject.reason >= IOT_REJECT_program_magic)
		return fail("%s: the program that came of it is not sound: %s", options.compile.trace,
			    iot_reject_sentence(&reject));
	if (err && !reject.reason)
		return fail("%s: %s", options.compile.program, strerror(-err));
	if (err)
		return fail_reject(options.compile.trace, err, &reject);
	if (options.is_json)
		print_json(&options, &summary);
	else if (!options.is_quiet)
		print_text(&options, &summary);
	return EXIT_DONE;
}

const struct cmd cmd_compile = {
	.name = "compile",
	.summary = "turn a trace into a replay program",
	.run = run,
	.argp = &argp,
};
