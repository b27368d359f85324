/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * language.h - words of the text of patterns, for printing and reading. Private to print*.c and language*.c.
 */
#ifndef IOTAPE_PATTERN_LANGUAGE_H
#define IOTAPE_PATTERN_LANGUAGE_H

#include <stdio.h>

#include "pattern/state.h"

#define LANGUAGE_BARS_MAX 16 /* operations that one is nested in, each printed as a bar */

extern const char *const language_roles[EVENT_ROLES];

bool language_result_is_length(u16 kind);
u64 language_usual_fact(bool is_ranks, enum task_fact fact, u64 position, u64 tasks);
extern const char *const language_facts[TASK_FACT_COUNT];

/**
 * struct head - how the tasks of a pattern are printed
 * @has_found: the last one is the list of names that look-ups found
 * @has_unique_ranks: a rank of the first job is one task
 */
struct head {
	bool has_found;
	bool has_unique_ranks;
};

/* print_head.c */
int print_head(const struct pattern *pattern, struct head *head, FILE *out);
bool pattern_has_rank(const struct pattern *pattern, u64 position);

#define LANGUAGE_LOOPS_MAX 128	       /* nested */
#define LANGUAGE_DEPTH_MAX 500	       /* terms in each other */

struct language_program;

/* -- tokens ---------------------------------------------------------------------------------------------- */

enum token_type { TOKEN_END, TOKEN_LINE, TOKEN_WORD, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_SIGN };

/**
 * struct language_place - where something is in a text
 */
struct language_place {
	u32 line;
	u32 column;
};

/**
 * struct token - a word of the text
 * @text, @bytes: it; of a TOKEN_TEXT without the quotes
 */
struct token {
	enum token_type type;
	const char *text;
	size_t bytes;
	struct language_place place;
};

/**
 * struct reader - a text that is read
 * @at, @end: what is left of it
 * @line_begin: begin of the line of @at
 * @token: the next token
 * @is_failed: there was an error, which @refusal states; all other tokens are TOKEN_END
 * @loops, @loop_count: variables of the loops around the next token
 * @depth: of expressions and lists around it
 */
struct reader {
	const char *at;
	const char *end;
	const char *line_begin;
	u32 line;
	struct token token;
	bool is_failed;
	bool is_out_of_memory;
	struct pattern_refusal *refusal;
	struct language_program *program;
	struct token loops[LANGUAGE_LOOPS_MAX];
	u32 loop_count;
	u32 depth;
};

/* language_tokens.c */
void reader_open_at(struct reader *r, const char *text, size_t bytes, u32 line);
void reader_open(struct reader *r, const char *text, size_t bytes);
void reader_next(struct reader *r);
void reader_fail(struct reader *r, struct language_place place, const char *format, ...) __attribute__((format(printf, 3, 4)));
void reader_fail_at_token(struct reader *r, const char *expected);
bool reader_is_sign(const struct reader *r, const char *sign);
bool reader_is_word(const struct reader *r, const char *word);
bool reader_accept(struct reader *r, const char *sign);
void reader_expect(struct reader *r, const char *sign);
void reader_skip_lines(struct reader *r);
bool reader_number(struct reader *r, u64 *value);
u64 reader_duration_ns(struct reader *r);
void *reader_allocate(struct reader *r, size_t bytes);

/* -- programs --------------------------------------------------------------------------------------------- */

__extension__ typedef __int128 wide;

enum language_term {
	TERM_NUMBER,
	TERM_RANK,
	TERM_TASK,
	TERM_SIZE,
	TERM_LOOP,
	TERM_ADD,
	TERM_SUBTRACT,
	TERM_MULTIPLY,
	TERM_DIVIDE,
	TERM_MODULO,
	TERM_EACH,
	TERM_BY,
};

/**
 * struct language_item - a part of a list of numbers
 * @end: numbers of the list up to its end
 * @base, @step: of a line
 * @repeated: a list that is repeated, with @step added each time, or NULL
 */
struct language_item {
	u64 end;
	s64 base;
	s64 step;
	struct language_list *repeated;
	struct language_item *next;
};

/**
 * struct language_list - numbers
 * @items: while it is read, by @next; then also an array
 * @count: of the numbers
 */
struct language_list {
	struct language_item *first;
	struct language_item **items;
	u64 item_count;
	u64 count;
};

/**
 * struct language_expression - a number of an operation
 * @depth: of terms in it
 * @number: of TERM_NUMBER; of TERM_LOOP, which loop, from the outermost
 * @left, @right: operands
 * @list: of TERM_EACH and TERM_BY
 * @choices, @choice_count: of TERM_BY without a list
 * @task, @used: of TERM_EACH: how many numbers this task has used; 0: none has
 */
struct language_expression {
	enum language_term term;
	struct language_place place;
	u32 depth;
	u64 number;
	struct language_expression *left;
	struct language_expression *right;
	struct language_list *list;
	struct language_expression **choices;
	u64 choice_count;
	u64 task;
	u64 used;
};

/**
 * struct language_name - a part of a name: a text, or a number
 */
struct language_name {
	const char *text;
	size_t bytes;
	struct language_expression *number;
	u32 width;
	struct language_name *next;
};

/**
 * struct language_operation - an operation
 * @fields: by index, EVENT_FIELDS_MAX; NULL: 0
 * @result: NULL if it is not in the text
 * @from, @from_count: ranks whose data it brings
 * @think, @takes: numbers of the distributions of the times, from 1; 0: none
 */
struct language_operation {
	u16 kind;
	u8 flags;
	u32 depth;
	struct language_expression **fields;
	struct language_expression *result;
	struct language_expression *roles[EVENT_ROLES];
	struct language_name *names[2];
	const u8 *value;
	u32 value_bytes;
	const u8 *site;
	u32 site_bytes;
	struct language_expression **from;
	u32 from_count;
	u64 think_ns;
	u64 takes_ns;
	u32 think;
	u32 takes;
};

/**
 * struct language_statement - a loop, an operation, or a pause
 * @loop: number of the loop, from the outermost
 * @first, @last, @body: of a loop
 * @operation: NULL if it is none
 * @sleep_ns: of a pause
 */
struct language_statement {
	struct language_place place;
	u32 loop;
	struct language_expression *first;
	struct language_expression *last;
	struct language_statement *body;
	struct language_operation *operation;
	u64 sleep_ns;
	struct language_statement *next;
};

/* Ranks, or tasks: first to last, every step-th. */
struct language_range {
	u64 first;
	u64 last;
	u64 step;
	struct language_range *next;
};

/**
 * struct language_block - the statements of some tasks
 * @is_found: names that look-ups found
 * @is_ranks: @ranges are ranks, not numbers of tasks
 * @is_all: of all
 * @count: of tasks in @ranges
 * @matched: of these, those that exist
 */
struct language_block {
	struct language_place place;
	bool is_found;
	bool is_ranks;
	bool is_all;
	struct language_range *ranges;
	u64 count;
	u64 matched;
	struct language_statement *body;
	struct language_block *next;
};

/**
 * struct language_variable - a name of an expression
 * @value: without a list, because all uses share it
 */
struct language_variable {
	const char *name;
	struct language_expression *value;
	struct language_variable *next;
};

/**
 * struct language_program - a text that was read
 * @memory: of all its parts
 * @is_ranks: each task is a rank of one job
 * @facts: of tasks, by enum task_fact; NULL: usual
 * @variables: names that are not of loops
 * @distributions: of times, in the order of the text; an array of its own
 * @world: the first statement of a rank that has no communicator
 */
struct language_program {
	void *memory;
	bool is_ranks;
	bool has_times;
	bool has_found;
	u64 tasks;
	struct language_place tasks_place;
	struct language_expression *facts[TASK_FACT_COUNT];
	struct language_block *blocks;
	struct language_statement *world;
	struct language_variable *variables;
	struct distribution **distributions;
	u32 distribution_count;
	u32 distribution_room;
};

/* language_times.c */
void language_read_time(struct reader *r, struct language_operation *o, bool is_think);

/* language_list.c */
struct language_list *language_read_list(struct reader *r);
s64 language_list_at(const struct language_list *list, u64 index);

/* language_expression.c */
struct language_expression *language_read_expression(struct reader *r);
struct language_expression *language_number(struct reader *r, u64 value);
struct language_expression *language_variable_term(struct reader *r, enum language_term term);

/* language_program.c */
void language_read_program(struct reader *r, u64 ranks);
void language_free_program(struct language_program *program);

/* language_run.c */
int language_run(struct language_program *program, struct reader *r, u64 operations_max, struct pattern **pattern);

#endif
