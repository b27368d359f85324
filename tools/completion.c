// SPDX-License-Identifier: GPL-2.0-only
/*
 * completion.c - completion scripts for bash, zsh and fish, from the tables of all commands.
 *
 * A script contains the words of all commands, so that completion does not run the program.
 */
#include "completion.h"

#include <string.h>

#include "cmd.h"

static const char *word_at(const struct option_table *table, const struct option_row *row, size_t index)
{
	if (row)
		return option_word_at(row, index);
	return table->operand_word_at ? table->operand_word_at(index) : NULL;
}

/* @row: NULL for the operands of the table. */
static void put_words(FILE *out, const struct option_table *table, const struct option_row *row)
{
	const char *word;
	size_t i;

	for (i = 0; (word = word_at(table, row, i)); i++)
		fprintf(out, "%s%s", i ? " " : "", word);
}

static enum option_type type_of(const struct option_table *table, const struct option_row *row)
{
	return row ? row->type : table->operand_type;
}

static bool has_words(const struct option_table *table, const struct option_row *row)
{
	return word_at(table, row, 0);
}

/* In single quotes; @special: characters to be escaped for the shell's own syntax of descriptions. */
static void put_quoted(FILE *out, const char *text, const char *special, const char *quote)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs(quote, out);
		else if (*special && strchr(special, *text))
			fprintf(out, "\\%c", *text);
		else
			putc(*text, out);
	}
}

/* -- bash ----------------------------------------------------------------------------------------- */

static const char *bash_kind(const struct option_table *table, const struct option_row *row)
{
	switch (type_of(table, row)) {
	case OPTION_FILE:
		return "@file";
	case OPTION_DIRECTORY:
		return "@directory";
	case OPTION_COMMAND:
		return "@command";
	default:
		return "";
	}
}

static void bash_value(FILE *out, const char *command, const char *option, const struct option_table *table,
		       const struct option_row *row)
{
	const char *kind = bash_kind(table, row);

	if (!*kind && !has_words(table, row))
		return;
	fprintf(out, "\t%s:%s) echo '%s%s", command, option, kind, *kind && has_words(table, row) ? " " : "");
	put_words(out, table, row);
	fputs("' ;;\n", out);
}

static void bash_options(FILE *out, const struct cmd *cmd)
{
	const struct option_row *row;
	size_t i;

	fprintf(out, "\t%s) echo '", cmd->name);
	for (i = 0; (row = option_row_at(cmd->options, i)); i++)
		fprintf(out, "%s--%s%s", i ? " " : "", row->name, row->type != OPTION_FLAG && !row->is_optional ? "=" : "");
	fputs("' ;;\n", out);
}

static void bash_values(FILE *out, const struct cmd *cmd)
{
	const struct option_row *row;
	char letter[3] = "-", name[64];

	for (row = cmd->options->rows; row->name; row++) {
		if (row->type == OPTION_FLAG)
			continue;
		snprintf(name, sizeof(name), "--%s", row->name);
		bash_value(out, cmd->name, name, cmd->options, row);
		letter[1] = row->letter;
		if (row->letter)
			bash_value(out, cmd->name, letter, cmd->options, row);
	}
	bash_value(out, cmd->name, "", cmd->options, NULL);
}

/* Options with an argument, which the next word is. */
static void bash_with_argument(FILE *out, const struct cmd *cmd)
{
	const struct option_row *row;
	const char *before = "";

	for (row = cmd->options->rows; row->name; row++) {
		if (row->type == OPTION_FLAG || row->is_optional)
			continue;
		fprintf(out, "%s%s:--%s", before, cmd->name, row->name);
		before = "|";
		if (row->letter)
			fprintf(out, "|%s:-%c", cmd->name, row->letter);
	}
	if (*before)
		fputs(") return 0 ;;\n", out);
}

/**
 * completion_bash() - the script for bash
 *
 * bash splits words at "=", so an argument may be two words behind its option.
 */
void completion_bash(FILE *out)
{
	const struct cmd *cmd;
	size_t i;

	fputs("# bash completion of iotape; printed by `iotape completion bash`\n\n_iotape_options() {\n\tcase $1 in\n", out);
	for (i = 0; (cmd = cmd_at(i)); i++)
		bash_options(out, cmd);
	fputs("\tesac\n}\n\n_iotape_values() {\n\tcase $1 in\n", out);
	for (i = 0; (cmd = cmd_at(i)); i++)
		bash_values(out, cmd);
	fputs("\tesac\n}\n\n_iotape_has_argument() {\n\tcase $1 in\n", out);
	for (i = 0; (cmd = cmd_at(i)); i++)
		bash_with_argument(out, cmd);
	fputs("\tesac\n\treturn 1\n}\n\n_iotape() {\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} option= values\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\tmapfile -t COMPREPLY < <(compgen -W '", out);
	for (i = 0; (cmd = cmd_at(i)); i++)
		fprintf(out, "%s ", cmd->name);
	fputs("--help --no-pager --version' -- \"$word\")\n\t\treturn\n\tfi\n"
	      "\tif [ \"$word\" = = ]; then\n\t\toption=$before word=\n"
	      "\telif [ \"$before\" = = ]; then\n\t\toption=${COMP_WORDS[COMP_CWORD-2]}\n"
	      "\telif _iotape_has_argument \"$command:$before\"; then\n\t\toption=$before\n"
	      "\telif [[ $word == -* ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$(_iotape_options \"$command\")\" -- \"$word\")\n"
	      "\t\t[[ ${COMPREPLY[0]} != *= || ${#COMPREPLY[@]} != 1 ]] || compopt -o nospace 2>/dev/null\n"
	      "\t\treturn\n\tfi\n"
	      "\tvalues=$(_iotape_values \"$command:$option\")\n"
	      "\tcase $values in\n"
	      "\t@file*) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
	      "\t@directory*) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
	      "\t@command*) mapfile -t COMPREPLY < <(compgen -c -f -- \"$word\") ;;\n"
	      "\t*) mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\") ;;\n"
	      "\tesac\n}\n\ncomplete -F _iotape iotape\n", out);
}

/* -- zsh ------------------------------------------------------------------------------------------ */

static void zsh_action(FILE *out, const struct option_table *table, const struct option_row *row)
{
	switch (type_of(table, row)) {
	case OPTION_FILE:
		fputs("_files", out);
		return;
	case OPTION_DIRECTORY:
		fputs("_directories", out);
		return;
	case OPTION_COMMAND:
		fputs("_normal", out);
		return;
	default:
		if (!has_words(table, row))
			return;
		putc('(', out);
		put_words(out, table, row);
		putc(')', out);
	}
}

static void zsh_row(FILE *out, const struct option_table *table, const struct option_row *row)
{
	bool has_argument = row->type != OPTION_FLAG;
	char argument[128];

	fputs(" \\\n\t\t\t", out);
	if (row->letter)
		fprintf(out, "{-%c%s,--%s%s}'[", row->letter, has_argument ? "+" : "", row->name, has_argument ? "=" : "");
	else
		fprintf(out, "--%s%s'[", row->name, has_argument ? row->is_optional ? "=-" : "=" : "");
	put_quoted(out, row->help, "[]\\:", "'\\''");
	putc(']', out);
	if (has_argument) {
		fputs(row->is_optional ? "::" : ":", out);
		put_quoted(out, option_argument(row, argument), "[]\\:", "'\\''");
		putc(':', out);
		zsh_action(out, table, row);
	}
	putc('\'', out);
}

static void zsh_command(FILE *out, const struct cmd *cmd)
{
	const struct option_table *table = cmd->options;
	const struct option_row *row;
	size_t i;

	fprintf(out, "\t%s)\n\t\t_arguments -s -S", cmd->name);
	for (i = 0; (row = option_row_at(table, i)); i++)
		zsh_row(out, table, row);
	if (table->operand_type == OPTION_COMMAND) {
		fputs(" \\\n\t\t\t'(-)*::command:_normal'", out);
	} else if (table->operand_type != OPTION_FLAG || has_words(table, NULL)) {
		fputs(" \\\n\t\t\t'*:argument:", out);
		zsh_action(out, table, NULL);
		putc('\'', out);
	}
	fputs("\n\t\t;;\n", out);
}

/**
 * completion_zsh() - the script for zsh
 */
void completion_zsh(FILE *out)
{
	const struct cmd *cmd;
	size_t i;

	fputs("#compdef iotape\n# zsh completion of iotape; printed by `iotape completion zsh`\n\n_iotape() {\n"
	      "\tlocal -a commands=(\n", out);
	for (i = 0; (cmd = cmd_at(i)); i++) {
		fprintf(out, "\t\t'%s:", cmd->name);
		put_quoted(out, cmd->summary, ":", "'\\''");
		fputs("'\n", out);
	}
	fputs("\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
	      "\tlocal command=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $command in\n", out);
	for (i = 0; (cmd = cmd_at(i)); i++)
		zsh_command(out, cmd);
	fputs("\tesac\n}\n\nif [ \"$funcstack[1]\" = _iotape ]; then\n\t_iotape \"$@\"\nelse\n\tcompdef _iotape iotape\nfi\n", out);
}

/* -- fish ----------------------------------------------------------------------------------------- */

static void fish_arguments(FILE *out, const struct option_table *table, const struct option_row *row)
{
	switch (type_of(table, row)) {
	case OPTION_FILE:
		fputs(" -F", out);
		return;
	case OPTION_DIRECTORY:
		fputs(" -a '(__fish_complete_directories)'", out);
		return;
	case OPTION_COMMAND:
		fputs(" -a '(__fish_complete_subcommand)'", out);
		return;
	default:
		if (!has_words(table, row))
			return;
		fputs(" -a '", out);
		put_words(out, table, row);
		putc('\'', out);
	}
}

static void fish_command(FILE *out, const struct cmd *cmd)
{
	const struct option_table *table = cmd->options;
	const struct option_row *row;
	size_t i;

	for (i = 0; (row = option_row_at(table, i)); i++) {
		fprintf(out, "complete -c iotape -n '__fish_seen_subcommand_from %s' -l %s", cmd->name, row->name);
		if (row->letter)
			fprintf(out, " -s %c", row->letter);
		if (row->type != OPTION_FLAG && !row->is_optional)
			fputs(row->type == OPTION_FILE ? " -r" : " -x", out);
		if (row->type != OPTION_FLAG)
			fish_arguments(out, table, row);
		fputs(" -d '", out);
		put_quoted(out, row->help, "\\", "\\'");
		fputs("'\n", out);
	}
	if (table->operand_type == OPTION_FLAG && !has_words(table, NULL))
		return;
	fprintf(out, "complete -c iotape -n '__fish_seen_subcommand_from %s'", cmd->name);
	fish_arguments(out, table, NULL);
	putc('\n', out);
}

/**
 * completion_fish() - the script for fish
 */
void completion_fish(FILE *out)
{
	const struct cmd *cmd;
	size_t i;

	fputs("# fish completion of iotape; printed by `iotape completion fish`\ncomplete -c iotape -f\n", out);
	for (i = 0; (cmd = cmd_at(i)); i++) {
		fprintf(out, "complete -c iotape -n __fish_use_subcommand -a %s -d '", cmd->name);
		put_quoted(out, cmd->summary, "\\", "\\'");
		fputs("'\n", out);
	}
	for (i = 0; (cmd = cmd_at(i)); i++)
		fish_command(out, cmd);
}
