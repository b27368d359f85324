// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - iotape: find the sub-command and run it.
 */
#include <errno.h>
#include <iotape/iotape.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "suggest.h"
#include "terminal.h"

static const struct cmd *const cmds[] = {
#define CMD_POINTER(name) &cmd_##name,
	CMDS(CMD_POINTER)
#undef CMD_POINTER
};

/**
 * cmd_at() - a command by its index
 *
 * Return: the command; NULL after the last.
 */
const struct cmd *cmd_at(size_t index)
{
	return index < sizeof(cmds) / sizeof(cmds[0]) ? cmds[index] : NULL;
}

/**
 * cmds_help() - print the list of commands
 */
void cmds_help(FILE *out)
{
	size_t i;

	fputs("Usage: iotape COMMAND [OPTION...] [ARGUMENT...]\n"
	      "Record the file I/O of programs in the kernel and replay it on any storage.\n\n",
	      out);
	for (i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++)
		fprintf(out, "  %-10s %s\n", cmds[i]->name, cmds[i]->summary);
	fputs("\n`iotape help COMMAND` lists the options of a command; the manual is `man iotape-COMMAND`.\n"
	      "Exit codes: 0 done, 1 failed, 2 usage, 3 finished but differs.\n",
	      out);
}

/**
 * cmd_find() - a command by its name
 *
 * Return: the command; NULL if there is none.
 */
const struct cmd *cmd_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++)
		if (!strcmp(cmds[i]->name, name))
			return cmds[i];
	return NULL;
}

/**
 * cmd_unknown() - report a command that does not exist, and suggest a similar one
 *
 * Return: EXIT_USAGE.
 */
int cmd_unknown(const char *name)
{
	struct suggestion suggestion;
	size_t i;

	suggest_open(&suggestion, name);
	for (i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++)
		suggest_candidate(&suggestion, cmds[i]->name);
	if (suggestion.nearest)
		say("unknown command %s; did you mean %s?", name, suggestion.nearest);
	else
		say("unknown command %s; `iotape --help` lists the commands", name);
	return EXIT_USAGE;
}

/* Output that cannot be written is a failure, and the last writes happen here. */
static int finish_output(int code)
{
	if (fflush(stdout) || ferror(stdout))
		return fail("standard output: %s", strerror(errno));
	return code;
}

int main(int argc, char **argv)
{
	const struct cmd *cmd;
	static char name[64];

	setlocale(LC_CTYPE, "");
	program_invocation_name = "iotape";
	progress_begin();
	if (argc > 1 && !strcmp(argv[1], "--no-pager")) {
		terminal_without_pager();
		argc--;
		argv++;
	}
	if (argc < 2) {
		cmds_help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		cmds_help(stdout);
		return finish_output(EXIT_DONE);
	}
	if (!strcmp(argv[1], "--version")) {
		printf("iotape %s\n", iotape_version());
		return finish_output(EXIT_DONE);
	}
	cmd = cmd_find(argv[1]);
	if (!cmd)
		return cmd_unknown(argv[1]);
	snprintf(name, sizeof(name), "iotape %s", cmd->name);
	argv[1] = name;
	program_invocation_name = name;
	program_invocation_short_name = name;
	return finish_output(cmd->run(argc - 1, argv + 1));
}
