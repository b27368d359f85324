// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_unseal.c - iotape unseal: decrypt a file that iotape seal or iotape record --seal wrote.
 */
#include <limits.h>
#include <stdio.h>

#include "cmd.h"
#include "option.h"
#include "seal/seal.h"

struct options {
	const char *key;
	const char *output;
	const char *input;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (!options->key)
		option_error(state, "no --key given");
	if (!options->output)
		option_error(state, "no --output given");
}

static const struct option_row option_rows[] = {
	{ "key", 0, OPTION_FILE, "KEY", .field = FIELD(key), .help = "file with the secret key" },
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(output), .help = "write the contents to FILE; - is standard output" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "--key=KEY SEALED -o FILE",
	.operand_type = OPTION_FILE,
	.operand_noun = "sealed file",
	.operand = FIELD(input),
	.check = check,
	.about = "Decrypt a sealed file. - is standard input.",
};

static int run(int argc, char **argv)
{
	struct options options = {};
	struct seal_files files;
	struct seal_keys keys;
	char why[PATH_MAX + 256];
	bool is_cut;
	int err;

	options_parse(&option_table, argc, argv, &options);
	if (seal_keys_read(options.key, &keys, why, sizeof(why)))
		return fail("%s", why);
	if (!keys.has_secret)
		return fail("%s: is a public key; the secret key is needed", options.key);
	if (seal_files_open(options.input, options.output, &files, why, sizeof(why)))
		return fail("%s", why);
	err = seal_open_copy(&keys, files.in, files.in_name, files.out, files.out_name, &is_cut, why, sizeof(why));
	sodium_memzero(&keys, sizeof(keys));
	if (seal_files_close(&files, !err, why, sizeof(why)) || err)
		return fail("%s", why);
	if (is_cut)
		say("%s: the end is missing: the contents up to there were written", files.in_name);
	return is_cut ? EXIT_DIFFERS : EXIT_DONE;
}

const struct cmd cmd_unseal = {
	.name = "unseal",
	.summary = "decrypt a sealed trace",
	.run = run,
	.options = &option_table,
};
