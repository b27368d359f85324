// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_help.c - iotape help: the commands, or the options of one.
 */
#include <stdio.h>

#include "cmd.h"

struct options {
	const char *command;
};

static const char *name_at(size_t index)
{
	const struct cmd *cmd = cmd_at(index);

	return cmd ? cmd->name : NULL;
}

static void add_command(struct option_state *state, char *name)
{
	struct options *options = state->options;

	if (options->command)
		option_error(state, "%s: one command at a time", name);
	options->command = name;
}

static const struct option_row option_rows[] = { {} };

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "[COMMAND]",
	.operand_word_at = name_at,
	.add = add_command,
	.about = "List the commands, or the options of COMMAND.",
};

static int run(int argc, char **argv)
{
	struct options options = {};
	const struct cmd *cmd;
	char name[64];

	options_parse(&option_table, argc, argv, &options);
	if (!options.command) {
		cmds_help(stdout);
		return EXIT_DONE;
	}
	cmd = cmd_find(options.command);
	if (!cmd)
		return cmd_unknown(options.command);
	snprintf(name, sizeof(name), "iotape %s", cmd->name);
	options_help(cmd->options, name);
	return EXIT_DONE;
}

const struct cmd cmd_help = {
	.name = "help",
	.summary = "list the commands, or the options of one",
	.run = run,
	.options = &option_table,
};
