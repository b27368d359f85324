// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_pattern.c - iotape pattern: the operations of a trace as loops, the same for many ranks.
 */
#include <errno.h>
#include <iotape/model.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "omissions.h"
#include "option.h"
#include "pattern/pattern.h"
#include "pattern_model.h"
#include "pattern_trace.h"

#define INPUTS_MAX  65536
#define SHARED_MAX  16
#define CHANGES_MAX 8
#define TEXT_OPERATIONS_MAX (1u << 24) /* that a text may describe: about 2 GB of memory */

struct options {
	const char **inputs;
	unsigned int input_count;
	bool is_merge;
	bool is_part;
	const char *shared[SHARED_MAX + 1];
	unsigned int shared_count;
	bool has_shared;
	const char *input;
	uint64_t ranks;
	uint64_t text_ranks;
	const char *measured;
	const char *model;
	bool is_compensated;
	char *changes[CHANGES_MAX];
	unsigned int change_count;
	const char *output;
	bool is_expand;
	bool is_print;
	bool has_histograms;
	bool is_parse;
	const char *format;
	bool is_quiet;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void add_change(struct option_state *state, char *text)
{
	struct options *options = state->options;

	if (!strchr(text, '='))
		option_error(state, "--set=%s: not NAME=VALUE", text);
	if (options->change_count == CHANGES_MAX)
		option_error(state, "more than %d times --set", CHANGES_MAX);
	options->changes[options->change_count++] = text;
}

static void add_shared(struct option_state *state, char *directory)
{
	struct options *options = state->options;

	options->has_shared = true;
	if (!strcmp(directory, "none"))
		return;
	if (options->shared_count == SHARED_MAX)
		option_error(state, "more than %d times --shared", SHARED_MAX);
	options->shared[options->shared_count++] = directory;
}

static const char *const formats[] = { "text", "xml", NULL };

static const struct option_row option_rows[] = {
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(output), .help = "write the pattern of the trace to FILE; with --expand, the trace of the pattern" },
	{ "expand", 'e', .field = FIELD(is_expand),
	  .help = "print all operations of a pattern, one per line, and check that they are those of the trace" },
	{ "print", 'p', .field = FIELD(is_print), .help = "print a pattern as loops with expressions as operands" },
	{ "histograms", 0, .field = FIELD(has_histograms), .help = "with --print, print the histogram of each time, not only its mean" },
	{ "parse", 0, .field = FIELD(is_parse), .help = "create a pattern from a text or XML as printed by --print" },
	{ "format", 0, OPTION_WORD, NULL, .words = formats, .field = FIELD(format),
	  .help = "with --print or --parse, the format of the workload; --print prints text by default, and --parse reads XML if the first character is '<'" },
	{ "ranks", 0, OPTION_COUNT, "N", .field = FIELD(text_ranks), .min = 1, .max = 1 << 20,
	  .help = "with --parse, the number of ranks instead of that in the text" },
	{ "part", 0, .field = FIELD(is_part), .help = "create the pattern as a part of a job, for --merge" },
	{ "merge", 0, .field = FIELD(is_merge), .help = "merge the patterns of the parts of a job, as the pattern of the merged trace" },
	{ "shared", 0, OPTION_DIRECTORY, "DIR|none", .set = add_shared,
	  .help = "with --merge, treat DIR as the same directory on all nodes; may be repeated. Default: directories on shared file systems; none: "
		  "no directory" },
	{ "extrapolate", 0, OPTION_COUNT, "RANKS", .field = FIELD(ranks), .min = 1, .max = 1 << 24,
	  .help = "create the pattern of a run with RANKS ranks from the patterns of three or more runs" },
	{ "model", 0, OPTION_FILE, "FILE", .field = FIELD(model), .help = "with --extrapolate, times may also be functions of the model in the shared object FILE" },
	{ "compensate", 0, .field = FIELD(is_compensated),
	  .help = "with --extrapolate, stretch the times of operations to functions for those of whole tasks" },
	{ "measured", 0, OPTION_FILE, "PATTERN", .field = FIELD(measured),
	  .help = "with --extrapolate, compare the result with the pattern of a run with the same number of ranks" },
	{ "set", 0, OPTION_TEXT, "NAME=VALUE", .set = add_change,
	  .help = "change operations: fsync=no, transfer=SIZE, files=shared, files=process, directories=rank, collective=yes, collective=no, collective=no/SIZE, "
		  "aggregators=NUMBER, nonblocking=no; may be repeated" },
	{ "quiet", 'q', .field = FIELD(is_quiet),
	  .help = "do not print the summary; with --expand, only check the operations" },
	{}
};

static void add_input(struct option_state *state, char *path)
{
	struct options *options = state->options;
	const char **inputs = NULL;

	if (options->input_count < INPUTS_MAX)
		inputs = reallocarray(options->inputs, options->input_count + 1ul, sizeof(*inputs));
	if (!inputs)
		option_failure(state, 0, "%s: too many patterns", path);
	options->inputs = inputs;
	options->inputs[options->input_count++] = path;
	options->input = options->inputs[0];
}

static void check_parse(struct option_state *state)
{
	const struct options *options = state->options;
	const char *other = options->is_print ? "print" : options->is_expand ? "expand" : options->ranks ? "extrapolate" :
			    options->change_count ? "set" : NULL;

	if (options->text_ranks && !options->is_parse)
		option_error(state, "--ranks requires --parse");
	if (options->is_parse && other)
		option_error(state, "--parse and --%s exclude each other", other);
	if (options->is_parse && !options->output)
		option_error(state, "no --output given");
}

static void check_merge(struct option_state *state)
{
	const struct options *options = state->options;
	const char *other = options->is_print ? "print" : options->is_expand ? "expand" : options->ranks ? "extrapolate" :
			    options->change_count ? "set" : options->is_parse ? "parse" : NULL;

	if (options->is_merge && other)
		option_error(state, "--merge and --%s exclude each other", other);
	if (options->is_part && other)
		option_error(state, "--part and --%s exclude each other", other);
	if (options->has_shared && !options->is_merge)
		option_error(state, "--shared requires --merge");
	if ((options->is_merge || options->is_part) && !options->output)
		option_error(state, "no --output given");
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (!options->input_count)
		option_error(state, "no trace or pattern given");
	check_merge(state);
	if (options->ranks && (options->is_expand || options->is_print))
		option_error(state, "--extrapolate and %s exclude each other", options->is_expand ? "--expand" : "--print");
	if (options->change_count && (options->ranks || options->is_expand || options->is_print))
		option_error(state, "--set and %s exclude each other", options->ranks ? "--extrapolate" :
										    options->is_expand ? "--expand" : "--print");
	if (options->change_count && !options->output)
		option_error(state, "no --output given");
	check_parse(state);
	if ((options->measured || options->model || options->is_compensated) && !options->ranks)
		option_error(state, "--%s requires --extrapolate", options->measured ? "measured" : options->model ? "model" : "compensate");
	if (options->ranks && !options->output)
		option_error(state, "no --output given");
	if (options->ranks && options->input_count < 3)
		option_error(state, "--extrapolate: at least three patterns are required");
	if (!options->ranks && !options->is_merge && options->input_count > 1)
		option_error(state, "%s: one trace or pattern at a time", options->inputs[1]);
	if (options->is_expand && options->is_print)
		option_error(state, "--expand and --print exclude each other");
	if (options->format && !options->is_print && !options->is_parse)
		option_error(state, "--format requires --print or --parse");
	if (options->has_histograms && !options->is_print)
		option_error(state, "--histograms requires --print");
	if (options->output && options->is_print)
		option_error(state, "--output and --print exclude each other");
	if (!options->output && !options->is_expand && !options->is_print)
		option_error(state, "no --output, --expand or --print given");
}

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE [--part] -o FILE\n--merge [--part] PATTERN... -o FILE\nPATTERN --print\nPATTERN --expand\nPATTERN --expand -o FILE\n--parse TEXT -o FILE\n--extrapolate=RANKS PATTERN PATTERN PATTERN... -o FILE\n--set=NAME=VALUE PATTERN -o FILE",
	.operand_type = OPTION_FILE,
	.add = add_input,
	.check = check,
	.about = "Describe the operations of a trace by nested loops and by groups of ranks, without loss: a small file that "
		 "can be printed, expanded again, and extrapolated to other numbers of ranks.",
	.notes = "The exit code is 3 if the operations of a pattern differ from those of its trace, or of the measured run.",
};

/* The pattern is expanded before it is written: a file that exists is right. */
static int verify(const char *path, const struct pattern *pattern, FILE *out)
{
	struct pattern_summary summary;
	u8 digest[32];
	u64 operations;
	int err = pattern_expand(pattern, out, UINT64_MAX, digest, &operations);

	if (err == -ENOMEM)
		return fail("%s: %s", path, strerror(ENOMEM));
	pattern_summarize(pattern, &summary);
	if (!err && !memcmp(digest, summary.digest, sizeof(digest)))
		return EXIT_DONE;
	say("%s: its operations are not those of the trace", path);
	return EXIT_DIFFERS;
}

static int save(const struct options *options, const struct pattern *pattern, size_t *bytes)
{
	void *image;
	int err = pattern_image(pattern, &image, bytes);

	if (err)
		return fail("%s: %s", options->output, strerror(-err));
	err = iot_file_save(options->output, image, *bytes);
	free(image);
	return err ? fail("%s: %s", options->output, strerror(-err)) : EXIT_DONE;
}

/* Ranks that are missing are missing in the file, too. */
static void print_made(const struct options *options, const struct pattern *pattern, size_t bytes, const struct iot_omissions *omissions)
{
	struct pattern_summary summary;

	pattern_summarize(pattern, &summary);
	printf("%s: %llu operations of %llu tasks in %zu bytes; %llu ", options->output, (unsigned long long)summary.operations,
	       (unsigned long long)summary.tasks, bytes, (unsigned long long)summary.ranks);
	if (summary.missing_ranks)
		printf("of %llu ", (unsigned long long)(summary.ranks + summary.missing_ranks));
	printf("ranks, %llu groups\n", (unsigned long long)summary.groups);
	if (summary.is_part)
		printf("  part of a job, for --merge: %llu node%s\n", (unsigned long long)summary.nodes, summary.nodes > 1 ? "s" : "");
	omissions_print(stdout, "", omissions);
}

static int make(const struct options *options)
{
	struct pattern_refusal refusal = {};
	struct iot_omissions omissions;
	struct pattern *pattern;
	struct iot_reject reject;
	size_t bytes = 0;
	int code, err;

	if (iot_file_is_same(options->input, options->output))
		return fail("%s: is both trace and output", options->output);
	if (options->is_part)
		err = pattern_make_part(options->input, &pattern, &omissions, &refusal, &reject);
	else
		err = pattern_make(options->input, &pattern, &omissions, &reject);
	if (err && *refusal.text)
		return fail("%s: %s", options->input, refusal.text);
	if (err)
		return fail_reject(options->input, err, &reject);
	code = verify(options->input, pattern, NULL);
	if (!code)
		code = save(options, pattern, &bytes);
	if (!code && !options->is_quiet)
		print_made(options, pattern, bytes, &omissions);
	pattern_free(pattern);
	return code;
}

/* Return: an exit code. */
static int load_part(const struct options *options, const char *input, struct pattern **part)
{
	struct iot_reject reject;
	int err;

	if (iot_file_is_same(input, options->output))
		return fail("%s: is both input and output", input);
	err = pattern_load(input, part, &reject);
	return err ? fail_reject(input, err, &reject) : EXIT_DONE;
}

static int merge_parts(const struct options *options, const struct pattern *const *parts)
{
	const struct pattern_merge_options how = { .shared = options->shared, .is_shared_guessed = !options->has_shared,
						   .is_part = options->is_part };
	struct pattern_refusal refusal;
	struct iot_omissions omissions;
	struct pattern *pattern;
	size_t bytes = 0;
	int code, err = pattern_merge(parts, options->inputs, options->input_count, &how, &pattern, &omissions, &refusal);

	if (err)
		return fail("%s", err == -EOPNOTSUPP ? refusal.text : strerror(-err));
	code = save(options, pattern, &bytes);
	if (!code && !options->is_quiet)
		print_made(options, pattern, bytes, &omissions);
	pattern_free(pattern);
	return code;
}

static int merge(const struct options *options)
{
	const struct pattern **parts = calloc(options->input_count, sizeof(struct pattern *));
	int code = parts ? EXIT_DONE : fail("%s", strerror(ENOMEM));
	u32 i;

	for (i = 0; i < options->input_count && !code; i++)
		code = load_part(options, options->inputs[i], (struct pattern **)&parts[i]);
	if (!code)
		code = merge_parts(options, parts);
	for (i = 0; parts && i < options->input_count; i++)
		pattern_free((struct pattern *)parts[i]);
	free(parts);
	return code;
}

/* How far the sums of the functions of operations were from the functions of whole tasks. */
static void print_compensation(const char *class, const struct extrapolation_fit *fit)
{
	if (fit->sum_ns > 0)
		printf("  %s of whole tasks: R2 %.3f; times of operations stretched by %.3f\n", class,
		       fit->total_explained / fit->compensated_ns, fit->compensated_ns / fit->sum_ns);
}

static void print_fits(const struct extrapolation_summary *summary, const struct iotape_model *model)
{
	static const char *const classes[] = { "think times", "file operations", "messages", "reductions", "collectives" };
	const struct extrapolation_fit *fit;
	u32 i, form;

	for (i = 0; i < EXTRAPOLATION_CLASSES; i++) {
		fit = &summary->fits[i];
		if (!fit->positions)
			continue;
		printf("  %s: R2 %.3f", classes[i], fit->explained / (double)fit->positions);
		for (form = 0; form < EXTRAPOLATION_FORMS; form++)
			if (fit->forms[form])
				printf(", %llu %s", (unsigned long long)fit->forms[form],
				       model && form == EXTRAPOLATION_FORMS - 1 ? model->name : extrapolation_form_name(form));
		printf("\n");
		print_compensation(classes[i], fit);
	}
}

static void print_extrapolated(const struct options *options, const struct pattern *pattern, size_t bytes,
			       const struct extrapolation_summary *fits, const struct iotape_model *model)
{
	struct pattern_summary summary;

	pattern_summarize(pattern, &summary);
	printf("%s: %llu operations of %llu tasks in %zu bytes; %llu ranks, %llu groups\n", options->output,
	       (unsigned long long)summary.operations, (unsigned long long)summary.tasks, bytes,
	       (unsigned long long)summary.ranks, (unsigned long long)summary.groups);
	printf("  operations: exact functions, which reproduce those of all %u runs\n", options->input_count);
	if (fits->sites == EXTRAPOLATION_sites_missing)
		printf("  call sites: left out, because not all runs have them\n");
	if (fits->sites == EXTRAPOLATION_sites_differ)
		printf("  call sites: left out, because the runs match only without them\n");
	if (fits->is_ordered)
		printf("  creations: of the ranks that create a file at the same time, the lowest creates it; in the runs, other ranks did\n");
	if (summary.has_times)
		print_fits(fits, model);
	else
		printf("  times: unknown\n");
}

static void print_error(const char *what, const struct pattern_time_error *error)
{
	printf("  %s: %.3g s in total, %.3g s measured; differences %.1f %%\n", what, error->made_ns / 1e9, error->measured_ns / 1e9,
	       100 * error->share);
}

/* A run that was held out. */
static int compare(const struct options *options, const struct pattern *made)
{
	struct pattern_comparison comparison;
	struct iot_reject reject;
	struct pattern *measured;
	int err = pattern_load(options->measured, &measured, &reject);

	if (err)
		return fail_reject(options->measured, err, &reject);
	err = pattern_compare(made, measured, &comparison);
	pattern_free(measured);
	if (err)
		return fail("%s: %s", options->measured, strerror(-err));
	if (!options->is_quiet) {
		printf("%s: the operations are %s%s\n", options->measured, comparison.is_same ? "the same" : "others",
		       comparison.is_ordered ? ", except for the first of the ranks that create a file at the same time" : "");
		print_error("think times", &comparison.think);
		print_error("durations", &comparison.duration);
	}
	return comparison.is_same ? EXIT_DONE : EXIT_DIFFERS;
}

/* Return: an exit code. */
static int load_run(const struct options *options, const char *input, struct pattern **run)
{
	struct pattern_summary summary;
	struct iot_reject reject;
	int err, code;

	if (iot_file_is_same(input, options->output))
		return fail("%s: is both input and output", input);
	err = pattern_load(input, run, &reject);
	if (err)
		return fail_reject(input, err, &reject);
	code = verify(input, *run, NULL);
	if (code)
		return code;
	pattern_summarize(*run, &summary);
	return summary.ranks ? EXIT_DONE : fail("%s: has no MPI ranks", input);
}

static int extrapolate_runs(const struct options *options, const struct pattern **runs)
{
	struct extrapolation_options how = { .is_compensated = options->is_compensated };
	struct extrapolation_summary summary;
	struct pattern_refusal refusal;
	struct pattern *pattern = NULL;
	size_t bytes = 0;
	int code = options->model ? load_model(options->model, &how.loaded) : EXIT_DONE, err;

	if (code)
		return code;
	err = pattern_extrapolate(runs, options->input_count, options->ranks, &how, &pattern, &summary, &refusal);
	if (err)
		return fail("%s", err == -EOPNOTSUPP ? refusal.text : strerror(-err));
	code = save(options, pattern, &bytes);
	if (!code && !options->is_quiet)
		print_extrapolated(options, pattern, bytes, &summary, how.loaded);
	if (!code && options->measured)
		code = compare(options, pattern);
	pattern_free(pattern);
	return code;
}

static int extrapolate(const struct options *options)
{
	const struct pattern **runs = calloc(options->input_count, sizeof(struct pattern *));
	int code = runs ? EXIT_DONE : fail("%s", strerror(ENOMEM));
	u32 i;

	for (i = 0; i < options->input_count && !code; i++)
		code = load_run(options, options->inputs[i], (struct pattern **)&runs[i]);
	if (!code)
		code = extrapolate_runs(options, runs);
	for (i = 0; runs && i < options->input_count; i++)
		pattern_free((struct pattern *)runs[i]);
	free(runs);
	return code;
}

static int change_one(const struct options *options, char *change, struct pattern **pattern)
{
	char *equals = strchr(change, '=');
	struct pattern_refusal refusal;
	struct pattern *changed;
	u64 count;
	int err;

	*equals = 0;
	err = pattern_change(*pattern, change, equals + 1, &changed, &count, &refusal);
	*equals = '=';
	if (err)
		return fail("%s: --set=%s: %s", options->input, change, err == -EOPNOTSUPP ? refusal.text : strerror(-err));
	if (!options->is_quiet)
		printf("%s: %llu operations or sequences changed\n", change, (unsigned long long)count);
	pattern_free(*pattern);
	*pattern = changed;
	return EXIT_DONE;
}

static int change(const struct options *options)
{
	struct pattern_summary summary;
	struct iot_reject reject;
	struct pattern *pattern;
	int code = EXIT_DONE, err;
	size_t bytes = 0;
	u32 i;

	if (iot_file_is_same(options->input, options->output))
		return fail("%s: is both input and output", options->input);
	err = pattern_load(options->input, &pattern, &reject);
	if (err)
		return fail_reject(options->input, err, &reject);
	code = verify(options->input, pattern, NULL);
	for (i = 0; i < options->change_count && !code; i++)
		code = change_one(options, options->changes[i], &pattern);
	if (!code)
		code = save(options, pattern, &bytes);
	pattern_summarize(pattern, &summary);
	if (!code && !options->is_quiet)
		printf("%s: %llu operations of %llu tasks in %zu bytes; the same amount of data, no new overlap\n",
		       options->output, (unsigned long long)summary.operations, (unsigned long long)summary.tasks, bytes);
	pattern_free(pattern);
	return code;
}

/* A whole file, or standard input. Return: NULL if it cannot be read: then errno is set. */
static char *read_text(const char *path, size_t *bytes)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
	size_t room = 1 << 16, got;
	char *text = in ? malloc(room) : NULL, *grown;
	int err = text ? 0 : errno;

	for (*bytes = 0; text && (got = fread(text + *bytes, 1, room - *bytes, in)); *bytes += got) {
		if (*bytes + got < room)
			continue;
		grown = *bytes + got > PATTERN_TEXT_MAX ? NULL : realloc(text, room *= 2);
		if (!grown) {
			err = *bytes + got > PATTERN_TEXT_MAX ? EFBIG : ENOMEM;
			break;
		}
		text = grown;
	}
	if (!err && in && ferror(in))
		err = errno;
	if (in && in != stdin)
		fclose(in);
	if (!err)
		return text;
	free(text);
	errno = err;
	return NULL;
}

static bool is_xml(const struct options *options, const char *text, size_t bytes)
{
	size_t i = bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;

	if (options->format)
		return !strcmp(options->format, "xml");
	while (i < bytes && strchr(" \t\r\n", text[i]) && text[i])
		i++;
	return i < bytes && text[i] == '<';
}

static int parse(const struct options *options)
{
	const char *name = strcmp(options->input, "-") ? options->input : "standard input";
	struct pattern_refusal refusal;
	struct pattern_summary summary;
	struct pattern *pattern;
	size_t bytes = 0;
	char *text;
	int err, code;

	if (iot_file_is_same(options->input, options->output))
		return fail("%s: is both text and output", options->output);
	text = read_text(options->input, &bytes);
	if (!text)
		return fail("%s: %s", name, strerror(errno));
	err = (is_xml(options, text, bytes) ? pattern_parse_xml : pattern_parse)(text, bytes, options->text_ranks, TEXT_OPERATIONS_MAX,
										 &pattern, &refusal);
	free(text);
	if (err)
		return err == -EOPNOTSUPP ? fail("%s:%s", name, refusal.text) : fail("%s: %s", name, strerror(-err));
	code = verify(name, pattern, NULL);
	if (!code)
		code = save(options, pattern, &bytes);
	pattern_summarize(pattern, &summary);
	if (!code && !options->is_quiet)
		printf("%s: %llu operations of %llu tasks in %zu bytes; %llu ranks, %llu groups\n", options->output,
		       (unsigned long long)summary.operations, (unsigned long long)summary.tasks, bytes,
		       (unsigned long long)summary.ranks, (unsigned long long)summary.groups);
	pattern_free(pattern);
	return code;
}

/* The operations of a pattern as a trace. */
static int expand_to_trace(const struct options *options, const struct pattern *pattern)
{
	if (iot_file_is_same(options->input, options->output))
		return fail("%s: is both pattern and output", options->output);
	return write_pattern_trace(options->input, pattern, options->output, options->is_quiet);
}

static int print(const struct options *options, const struct pattern *pattern)
{
	struct pattern_refusal refusal;
	int err;

	if (options->format && !strcmp(options->format, "xml"))
		err = pattern_print_xml(pattern, options->has_histograms, stdout, &refusal);
	else
		err = pattern_print(pattern, options->has_histograms, stdout);
	return err ? fail("%s: %s", options->input, err == -EOPNOTSUPP ? refusal.text : strerror(-err)) : EXIT_DONE;
}

static int show(const struct options *options)
{
	struct iot_reject reject;
	struct pattern *pattern;
	int code = EXIT_DONE, err = pattern_load(options->input, &pattern, &reject);

	if (err)
		return fail_reject(options->input, err, &reject);
	if (options->is_expand && options->output) {
		code = expand_to_trace(options, pattern);
	} else if (options->is_expand) {
		code = verify(options->input, pattern, options->is_quiet ? NULL : stdout);
	} else {
		code = print(options, pattern);
	}
	pattern_free(pattern);
	return code;
}

static int perform(const struct options *options)
{
	if (options->is_merge)
		return merge(options);
	if (options->is_parse)
		return parse(options);
	if (options->change_count)
		return change(options);
	if (options->ranks)
		return extrapolate(options);
	return options->output && !options->is_expand ? make(options) : show(options);
}

static int run(int argc, char **argv)
{
	struct options options = {};
	int code;

	options_parse(&option_table, argc, argv, &options);
	code = perform(&options);
	free(options.inputs);
	return code;
}

const struct cmd cmd_pattern = {
	.name = "pattern",
	.summary = "describe the operations of a trace by loops and groups of ranks",
	.run = run,
	.options = &option_table,
};
