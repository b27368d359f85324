// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_export.c - iotape export: a trace becomes a file of another tool.
 */
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "export/export.h"
#include "input.h"
#include "omissions.h"
#include "option.h"
#include "option_selection.h"

struct options {
	const char *path;
	const char *name; /* of it in messages */
	const char *output;
	bool is_quiet;
	struct export_options export;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

#define MAX_BLOCK_BYTES (1ull << 62)

static void set_format(struct option_state *state, char *argument)
{
	struct options *options = state->options;
	const char *name;
	size_t i;

	for (i = 0; (name = export_format_at(i)); i++)
		if (!strcmp(name, argument))
			options->export.format = name;
	if (!options->export.format && export_format_lacks(argument))
		option_error(state, "--format=%s: iotape was built without %s", argument, export_format_lacks(argument));
	if (!options->export.format)
		option_error(state, "--format=%s: unknown format%s", argument, option_hint(state->row, argument));
}

static void set_root(struct option_state *state, char *path)
{
	struct options *options = state->options;

	if (*path != '/')
		option_error(state, "--root: %s is not an absolute path", path);
	options->export.root = strcmp(path, "/") ? path : "";
}

static void check(struct option_state *state)
{
	struct options *options = state->options;

	if (options->output && !strcmp(options->output, "-"))
		options->output = NULL;
	if (!options->export.format)
		option_error(state, "no --format given");
	if (options->export.max_block_bytes && strcmp(options->export.format, "codes"))
		option_error(state, "--max-block requires --format=codes");
	if (!options->output && export_is_directory(options->export.format))
		option_error(state, "--format=%s needs --output: it is a directory", options->export.format);
}

static const struct option_row option_rows[] = {
	{ "format", 'f', OPTION_TEXT, "FORMAT", .word_at = export_format_at, .set = set_format,
	  .help = "arrow, csv, chrome (JSON, also for Perfetto), codes (logs for the simulator), ctf (a directory for babeltrace2), dxt (text of darshan-dxt-parser), fio (I/O log), otf2 (a directory for Vampir), perfetto, prometheus or strace "
		  "(required)" },
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(output), .help = "write to FILE (default: standard output)" },
	OPTION_ROWS_SELECTION(struct options, export.selection),
	{ "max-block", 0, OPTION_SIZE, "SIZE", .min = 1, .max = MAX_BLOCK_BYTES, .unit = 1, .field = FIELD(export.max_block_bytes),
	  .help = "divide larger reads and writes; format codes only" },
	{ "root", 'r', OPTION_DIRECTORY, "DIR", .set = set_root,
	  .help = "path of the recorded directory in the output (default: that of the mount)" },
	{ "quiet", 'q', .field = FIELD(is_quiet), .help = "do not print what the format cannot express" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE",
	.operand_type = OPTION_FILE,
	.operand_noun = "trace",
	.operand = FIELD(path),
	.check = check,
	.about = "Convert a trace to a file of another tool.",
	.notes = "TRACE may be a pipe, or - for standard input. Operations that the format cannot express are counted, and "
		 "printed on standard error.",
};

static void print_loss(const struct options *options, const struct export_loss *loss)
{
	char text[1024];
	size_t at = 0;
	u32 i;

	for (i = 0; i < IOT_KIND_END; i++)
		if (loss->kinds[i] && at < sizeof(text))
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %llu", at ? ", " : "",
					       iot_kind_info((u16)i)->name, loss->kinds[i]);
	say("%s: %llu operations are not in the output, because %s: %s", options->name, loss->count, loss->reason, text);
}

static void print_losses(const struct options *options, const struct export_summary *summary)
{
	u32 i;

	for (i = 0; i < summary->loss_count; i++)
		print_loss(options, &summary->losses[i]);
	omissions_print(stderr, "", &summary->omissions);
}

/* Return: an exit code. */
static int write_output(struct options *options)
{
	struct export_summary *summary = calloc(1, sizeof(*summary));
	struct iot_reject reject = {};
	int err = summary ? export_trace(&options->export, summary, &reject) : -ENOMEM;
	int code = EXIT_DONE;

	if (err)
		code = fail_reject(options->name, err, &reject);
	else if (!options->is_quiet)
		print_losses(options, summary);
	if (!err && !summary->exported)
		say("%s: no operation is in the output", options->name);
	free(summary);
	return code;
}

static int write_file(struct options *options)
{
	char real[PATH_MAX];
	int fd = iot_output_open(options->output, real), code;

	if (fd < 0)
		return fail("%s: %s", options->output, strerror(-fd));
	options->export.out = fdopen(fd, "w");
	if (!options->export.out) {
		close(fd);
		return fail("%s: %s", options->output, strerror(errno));
	}
	code = write_output(options);
	if (fflush(options->export.out) || ferror(options->export.out))
		code = fail("%s: %s", options->output, strerror(errno));
	fclose(options->export.out);
	if (code)
		unlink(real);
	return code;
}

static int remove_entry(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
	(void)stat;
	(void)type;
	(void)walk;
	return remove(path);
}

/* A new directory, which only its owner can read. */
static int write_directory(struct options *options)
{
	int code;

	if (mkdir(options->output, 0700))
		return fail("%s: %s", options->output, strerror(errno));
	options->export.directory = options->output;
	code = write_output(options);
	if (code) /* it was created here, and has only files created here */
		nftw(options->output, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return code;
}

static int run(int argc, char **argv)
{
	struct options options = {};
	char copy[INPUT_PATH_BYTES];
	int code;

	options_parse(&option_table, argc, argv, &options);
	options.name = strcmp(options.path, "-") ? options.path : "standard input";
	code = input_open(&options.path, copy);
	if (code)
		return code;
	options.export.trace = options.path;
	options.export.out = stdout;
	if (!options.output)
		code = write_output(&options);
	else if (iot_file_is_same(options.path, options.output))
		code = fail("%s: is both input and output", options.name);
	else if (export_is_directory(options.export.format))
		code = write_directory(&options);
	else
		code = write_file(&options);
	filter_free((struct filter *)options.export.selection.filter);
	return code;
}

const struct cmd cmd_export = {
	.name = "export",
	.summary = "convert a trace to a file of another tool",
	.run = run,
	.options = &option_table,
};
