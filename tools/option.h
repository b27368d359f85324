/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * option.h - the options of commands, declared in tables.
 *
 * A command has one struct option_table. Parsing, --help, errors, suggestions, completion in shells and the
 * comparison with the manual pages derive from it. To add an option, add a row, and an entry in the manual page.
 */
#ifndef IOTAPE_OPTION_H
#define IOTAPE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * enum option_type - the type of an option's argument
 * @OPTION_FLAG: no argument; stores true in a bool
 * @OPTION_TEXT, @OPTION_FILE, @OPTION_DIRECTORY: stores a const char *; shells complete paths
 * @OPTION_COMMAND: of operands only: a command and its arguments
 * @OPTION_CHOICE: one of the words of the row; stores its value in an integer
 * @OPTION_WORD: one of the words of the row; stores the word in a const char *
 * @OPTION_COUNT: decimal digits, from @min to @max; stores an integer
 * @OPTION_SIZE: bytes, "64K" or "64KiB"; @min and @max are in bytes
 * @OPTION_DURATION: "200ms", "1.5s", "2min"; @min and @max are in ns
 * @OPTION_FACTOR: a decimal number from 0 to @max; for rows with @set
 */
enum option_type {
	OPTION_FLAG,
	OPTION_TEXT,
	OPTION_FILE,
	OPTION_DIRECTORY,
	OPTION_COMMAND,
	OPTION_CHOICE,
	OPTION_WORD,
	OPTION_COUNT,
	OPTION_SIZE,
	OPTION_DURATION,
	OPTION_FACTOR,
};

#define OPTION_NS  1ull
#define OPTION_MS  1000000ull
#define OPTION_S   1000000000ull
#define OPTION_MIB (1ull << 20)

/**
 * struct option_field - a member of a command's struct of options
 * @offset: in the struct
 * @bytes: its size; 0: no member
 */
struct option_field {
	size_t offset;
	size_t bytes;
};

#define OPTION_FIELD(type, member) { offsetof(type, member), sizeof(((type *)NULL)->member) }

struct option_state;

/**
 * struct option_row - an option
 * @name: without dashes; NULL ends a table
 * @letter: of the short form, or 0
 * @type: of the argument
 * @argument: its name in the help; NULL: the words
 * @is_optional: the argument may be left out; then @absent is stored
 * @words: that the argument may be, then NULL
 * @word_at: the same as a function of an index, which returns NULL after the last
 * @values: of the words; NULL: their indices
 * @min, @max: limits of the argument
 * @unit: of a size or duration without a unit, in bytes or ns; 0: 1
 * @stored_unit: in which a size or duration is stored; 0: 1
 * @absent: value without an argument, as stored
 * @field: member that gets the value
 * @given: bool member that becomes true if the option is given
 * @set: function that handles the argument instead, NULL without an argument
 * @help: a phrase
 */
struct option_row {
	const char *name;
	char letter;
	enum option_type type;
	const char *argument;
	bool is_optional;
	const char *const *words;
	const char *(*word_at)(size_t index);
	const int *values;
	uint64_t min;
	uint64_t max;
	uint64_t unit;
	uint64_t stored_unit;
	uint64_t absent;
	struct option_field field;
	struct option_field given;
	void (*set)(struct option_state *state, char *argument);
	const char *help;
};

/**
 * struct option_table - the command line of a command
 * @rows: its options
 * @operands: as in the usage line; a line for each form
 * @operand_type: OPTION_FLAG if there is none
 * @operand_word_at: words that an operand may be, for completion, as in struct option_row
 * @operand_noun: of a command with one operand: "trace"; it is required
 * @operand: member of the struct of options that gets the operand
 * @add: function that handles operands instead
 * @check: function that is called after the last argument
 * @about: description above the options
 * @notes: below the options, or NULL
 * @is_paged: its output may be long: there is --no-pager, and terminal_output_begin() is called before it
 */
struct option_table {
	const struct option_row *rows;
	const char *operands;
	enum option_type operand_type;
	const char *(*operand_word_at)(size_t index);
	const char *operand_noun;
	struct option_field operand;
	void (*add)(struct option_state *state, char *operand);
	void (*check)(struct option_state *state);
	const char *about;
	const char *notes;
	bool is_paged;
};

/**
 * struct option_state - a command line that is being parsed, for functions of tables
 * @table: of the command
 * @row: whose argument is handled
 * @options: the command's struct
 * @argc, @argv: the command line
 * @next: index of the next argument; a function may skip arguments
 * @operands: number of operands so far
 */
struct option_state {
	const struct option_table *table;
	const struct option_row *row;
	void *options;
	int argc;
	char **argv;
	int next;
	unsigned int operands;
};

/* option.c */
void options_parse(const struct option_table *table, int argc, char **argv, void *options);
void option_error(const struct option_state *state, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));
char *option_real_path(const struct option_state *state, const char *path);
void option_failure(const struct option_state *state, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4), noreturn));
const struct option_row *option_row_at(const struct option_table *table, size_t index);
const char *option_hint(const struct option_row *row, const char *word);
const char *option_word_at(const struct option_row *row, size_t index);

/* option_value.c */
uint64_t option_number(const struct option_state *state, const char *argument, uint64_t min, uint64_t max);
double option_factor(const struct option_state *state, const char *argument, double max);
uint64_t option_quantity(const struct option_state *state, const char *argument);
size_t option_choice(const struct option_state *state, const char *argument);

/* option_help.c */
void options_help(const struct option_table *table, const char *command);
const char *option_argument(const struct option_row *row, char text[128]);

#endif
