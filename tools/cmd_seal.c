// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_seal.c - iotape seal: encrypt a file to a public key.
 */
#include <limits.h>
#include <stdio.h>

#include "cmd.h"
#include "option.h"
#include "seal/seal.h"

struct options {
	const char *new_key;
	const char *to;
	const char *output;
	const char *input;
	bool is_quiet;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void add_input(struct option_state *state, char *operand)
{
	struct options *options = state->options;

	if (options->input)
		option_error(state, "%s: one file at a time", operand);
	options->input = operand;
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (options->new_key && (options->to || options->output || options->input))
		option_error(state, "--new-key excludes --to, --output and a file");
	if (options->new_key)
		return;
	if (!options->input)
		option_error(state, "no file given");
	if (!options->to)
		option_error(state, "no --to given");
	if (!options->output)
		option_error(state, "no --output given");
}

static const struct option_row option_rows[] = {
	{ "to", 0, OPTION_FILE, "KEY", .field = FIELD(to), .help = "file with the public key" },
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(output), .help = "write the sealed file to FILE; - is standard output" },
	{ "new-key", 0, OPTION_FILE, "KEY", .field = FIELD(new_key),
	  .help = "make a pair of keys: the secret key in KEY, the public key in KEY.pub" },
	{ "quiet", 'q', .field = FIELD(is_quiet), .help = "print nothing after --new-key" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "--to=KEY FILE -o SEALED\n--new-key=KEY",
	.operand_type = OPTION_FILE,
	.add = add_input,
	.check = check,
	.about = "Encrypt FILE so that only the owner of the secret key can read it. - is standard input.",
};

static int make_keys(const struct options *options)
{
	char why[PATH_MAX + 256];

	if (seal_keys_make(options->new_key, why, sizeof(why)))
		return fail("%s", why);
	if (!options->is_quiet)
		printf("%s: the secret key, for iotape unseal; %s.pub: the public key, for iotape seal and iotape record --seal\n",
		       options->new_key, options->new_key);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct options options = {};
	struct seal_files files;
	struct seal_keys keys;
	char why[PATH_MAX + 256];
	int err;

	options_parse(&option_table, argc, argv, &options);
	if (options.new_key)
		return make_keys(&options);
	if (seal_keys_read(options.to, &keys, why, sizeof(why)) ||
	    seal_files_open(options.input, options.output, &files, why, sizeof(why)))
		return fail("%s", why);
	err = seal_copy(&keys, files.in, files.in_name, files.out, files.out_name, why, sizeof(why));
	if (seal_files_close(&files, !err, why, sizeof(why)) || err)
		return fail("%s", why);
	return EXIT_DONE;
}

const struct cmd cmd_seal = {
	.name = "seal",
	.summary = "encrypt a trace to a public key",
	.run = run,
	.options = &option_table,
};
