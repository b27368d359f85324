// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_completion.c - iotape completion: scripts that complete commands, options and arguments in shells.
 */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "completion.h"

struct options {
	const char *shell;
};

static const char *const shells[] = { "bash", "zsh", "fish", NULL };

static const char *shell_at(size_t index)
{
	return shells[index];
}

static void add_shell(struct option_state *state, char *shell)
{
	struct options *options = state->options;
	size_t i;

	for (i = 0; shells[i] && strcmp(shells[i], shell);)
		i++;
	if (!shells[i])
		option_error(state, "%s: not bash, zsh or fish", shell);
	options->shell = shell;
}

static void check(struct option_state *state)
{
	if (state->operands != 1)
		option_error(state, "a shell is required: bash, zsh or fish");
}

static const struct option_row option_rows[] = { {} };

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "bash|zsh|fish",
	.operand_word_at = shell_at,
	.add = add_shell,
	.check = check,
	.about = "Print a script that completes the command line of iotape in a shell.",
	.notes = "For the running shell: eval \"$(iotape completion bash)\". `make install` installs all three.",
};

static int run(int argc, char **argv)
{
	struct options options = {};

	options_parse(&option_table, argc, argv, &options);
	if (!strcmp(options.shell, "bash"))
		completion_bash(stdout);
	else if (!strcmp(options.shell, "zsh"))
		completion_zsh(stdout);
	else
		completion_fish(stdout);
	return EXIT_DONE;
}

const struct cmd cmd_completion = {
	.name = "completion",
	.summary = "print a completion script for a shell",
	.run = run,
	.options = &option_table,
};
