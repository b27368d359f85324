// SPDX-License-Identifier: GPL-2.0-only
/*
 * language_program.c - the text of a pattern: its tasks, and blocks of statements.
 */
#include "language_statement.h"

static void end_line(struct reader *r)
{
	if (r->token.type != TOKEN_LINE && r->token.type != TOKEN_END && !reader_is_sign(r, "}"))
		reader_fail_at_token(r, "the end of the line");
	reader_skip_lines(r);
}

/* -- statements ------------------------------------------------------------------------------------------- */

static struct language_operation *make_operation(struct reader *r, u16 kind)
{
	struct language_operation *o = reader_allocate(r, sizeof(*o));

	if (!o)
		return NULL;
	o->kind = kind;
	o->fields = reader_allocate(r, EVENT_FIELDS_MAX * sizeof(struct language_expression *));
	return o->fields ? o : NULL;
}

static void set_field(struct reader *r, struct language_operation *o, const char *name, u64 value)
{
	const struct iot_field *field;
	u32 i;

	for (i = 0; (field = event_field(o->kind, i)); i++)
		if (!strcmp(field->name, name))
			o->fields[i] = language_number(r, value);
}

/* A collective of all ranks, which is numbered when it runs. It ends after the last rank has entered it. */
static struct language_operation *make_barrier(struct reader *r)
{
	struct language_operation *o = make_operation(r, IOT_KIND_mpi_coll);

	if (!o)
		return NULL;
	set_field(r, o, "call", IOT_CALL_barrier);
	set_field(r, o, "root", UINT64_MAX);
	set_field(r, o, "sources", IOT_SOURCES_all);
	o->roles[EVENT_COMM] = language_number(r, 1);
	o->takes_ns = 1000;
	r->program->has_times = true;
	return o;
}

static const struct iot_kind_info *find_kind(const struct reader *r)
{
	const struct iot_kind_info *info;
	size_t i;

	for (i = 0; (info = iot_kind_at(i)); i++)
		if ((info->group == IOT_GROUP_op || info->group == IOT_GROUP_mpi) && reader_is_word(r, info->name))
			return info;
	return NULL;
}

/**
 * language_begin_operation() - read the word that begins an operation
 * @r: at the word
 * @depth: of the operation
 *
 * Return: the operation without attributes; NULL if the reader has failed.
 */
struct language_operation *language_begin_operation(struct reader *r, u32 depth)
{
	const struct iot_kind_info *info = find_kind(r);
	struct language_operation *o;

	if (r->token.type != TOKEN_WORD) {
		reader_fail_at_token(r, "a statement");
		return NULL;
	}
	if (!info && !reader_is_word(r, "barrier")) {
		reader_fail(r, r->token.place, "'%.*s': unknown statement", (int)(r->token.bytes > 40 ? 40 : r->token.bytes), r->token.text);
		return NULL;
	}
	reader_next(r);
	o = info ? make_operation(r, info->kind) : make_barrier(r);
	if (o)
		o->depth = depth;
	return o;
}

static struct language_operation *read_operation(struct reader *r, u32 depth)
{
	struct language_operation *o = language_begin_operation(r, depth);

	if (o)
		language_read_attributes(r, o);
	return o;
}

static struct language_statement *read_body(struct reader *r);

/**
 * language_push_loop() - enter the body of a loop; after it, decrement @r->loop_count
 * @s: the loop
 * @variable: its variable
 *
 * Return: false if the reader has failed.
 */
bool language_push_loop(struct reader *r, struct language_statement *s, const struct token *variable)
{
	s->loop = r->loop_count;
	if (r->loop_count == LANGUAGE_LOOPS_MAX)
		reader_fail(r, variable->place, "more than %d loops in each other", LANGUAGE_LOOPS_MAX);
	if (r->is_failed)
		return false;
	r->loops[r->loop_count++] = *variable;
	return true;
}

/* for VARIABLE in FIRST .. LAST { BODY } */
static void read_loop(struct reader *r, struct language_statement *s)
{
	struct token variable = r->token;

	if (variable.type != TOKEN_WORD)
		reader_fail_at_token(r, "the variable of a loop");
	reader_next(r);
	reader_expect(r, "in");
	s->first = language_read_expression(r);
	reader_expect(r, "..");
	s->last = language_read_expression(r);
	if (!language_push_loop(r, s, &variable))
		return;
	s->body = read_body(r);
	r->loop_count--;
}

static struct language_statement *read_statement(struct reader *r)
{
	struct language_statement *s = reader_allocate(r, sizeof(*s));
	u32 depth = 0;

	if (!s)
		return NULL;
	reader_accept(r, "=="); /* marks a serialization point for human readers */
	while (reader_accept(r, "|"))
		depth++;
	s->place = r->token.place;
	if (!depth && reader_accept(r, "for")) {
		read_loop(r, s);
	} else if (!depth && reader_accept(r, "sleep")) {
		s->sleep_ns = reader_duration_ns(r);
		r->program->has_times = true;
	} else {
		s->operation = read_operation(r, depth);
	}
	end_line(r);
	return s;
}

/* { STATEMENTS } */
static struct language_statement *read_body(struct reader *r)
{
	struct language_statement *first = NULL, **next = &first;

	reader_skip_lines(r);
	reader_expect(r, "{");
	reader_skip_lines(r);
	while (!r->is_failed && !reader_is_sign(r, "}")) {
		if (r->token.type == TOKEN_END) {
			reader_fail_at_token(r, "'}'");
			break;
		}
		*next = read_statement(r);
		if (*next)
			next = &(*next)->next;
	}
	reader_expect(r, "}");
	return first;
}

/* -- blocks ----------------------------------------------------------------------------------------------- */

/* 0-12/4 */
static struct language_range *read_range(struct reader *r)
{
	struct language_range *range = reader_allocate(r, sizeof(*range));
	struct language_place place = r->token.place;

	if (!range || !reader_number(r, &range->first))
		return NULL;
	range->last = range->first;
	range->step = 1;
	if (!reader_accept(r, "-"))
		return range;
	reader_number(r, &range->last);
	if (reader_accept(r, "/"))
		reader_number(r, &range->step);
	if (!range->step || range->last < range->first || range->last >> 62)
		reader_fail(r, place, "the list has no first number, or no end");
	return range;
}

/**
 * language_read_ranges() - read the list of the ranks or tasks of a block
 */
void language_read_ranges(struct reader *r, struct language_block *block)
{
	struct language_range **next = &block->ranges;

	if (reader_accept(r, "all")) {
		block->is_all = true;
		return;
	}
	while (!r->is_failed) {
		*next = read_range(r);
		if (!*next || r->is_failed)
			return;
		block->count += ((*next)->last - (*next)->first) / (*next)->step + 1;
		next = &(*next)->next;
		if (!reader_accept(r, ","))
			return;
	}
}

static struct language_block *read_block(struct reader *r)
{
	struct language_block *block = reader_allocate(r, sizeof(*block));

	if (!block)
		return NULL;
	block->place = r->token.place;
	if (reader_accept(r, "found")) {
		block->is_found = true;
		r->program->has_found = true;
	} else if (reader_accept(r, "ranks") || reader_accept(r, "rank")) {
		block->is_ranks = true;
		language_read_ranges(r, block);
	} else if (reader_accept(r, "tasks") || reader_accept(r, "task")) {
		language_read_ranges(r, block);
	} else {
		reader_fail_at_token(r, "'ranks', 'tasks' or 'found'");
	}
	block->body = read_body(r);
	end_line(r);
	return block;
}

/* -- the whole -------------------------------------------------------------------------------------------- */

static void read_fact(struct reader *r)
{
	u32 fact;

	for (fact = 0; fact < TASK_FACT_COUNT; fact++) {
		if (r->program->facts[fact] || !reader_accept(r, language_facts[fact]))
			continue;
		reader_expect(r, "=");
		r->program->facts[fact] = language_read_expression(r);
		return;
	}
	reader_fail_at_token(r, "a property of tasks");
}

/**
 * language_set_tasks() - read the number of tasks
 * @r: at the number; whether they are ranks is known
 * @ranks: as for language_read_program()
 */
void language_set_tasks(struct reader *r, u64 ranks)
{
	struct language_program *program = r->program;

	reader_number(r, &program->tasks);
	if (ranks && !program->is_ranks)
		reader_fail(r, program->tasks_place, "the number of tasks cannot be changed: the workload has tasks with properties, not only ranks");
	if (ranks)
		program->tasks = ranks;
}

/* "size N", which are ranks, or "tasks N" with properties. */
static void read_tasks(struct reader *r, u64 ranks)
{
	struct language_program *program = r->program;

	program->tasks_place = r->token.place;
	program->is_ranks = reader_accept(r, "size");
	if (!program->is_ranks && !reader_accept(r, "tasks"))
		reader_fail_at_token(r, "'size' or 'tasks' and their number");
	language_set_tasks(r, ranks);
	while (!program->is_ranks && r->token.type == TOKEN_WORD)
		read_fact(r);
	end_line(r);
}

/* What a rank does first if its text has no communicator. */
static void make_world(struct reader *r)
{
	static const char text[] = "mpi_comm rank=rank size=size world_rank=rank comm=1";
	struct pattern_refusal refusal;
	struct reader inner = { .program = r->program, .refusal = &refusal };

	reader_open(&inner, text, sizeof(text) - 1);
	r->program->world = read_statement(&inner);
	if (inner.is_failed)
		r->is_failed = r->is_out_of_memory = true;
}

/**
 * language_read_blocks() - read blocks up to the end of the text
 * @next: where the first one is to be stored
 *
 * Return: where the next one is to be stored.
 */
struct language_block **language_read_blocks(struct reader *r, struct language_block **next)
{
	while (!r->is_failed && r->token.type != TOKEN_END) {
		*next = read_block(r);
		if (*next)
			next = &(*next)->next;
	}
	return next;
}

/**
 * language_end_program() - complete a program after its last block
 */
void language_end_program(struct reader *r)
{
	if (!r->is_failed)
		make_world(r);
}

/**
 * language_read_program() - read a text
 * @r: opened, with an empty program
 * @ranks: instead of the number that the text has; 0: that of the text
 *
 * The program is complete unless the reader has failed.
 */
void language_read_program(struct reader *r, u64 ranks)
{
	reader_skip_lines(r);
	read_tasks(r, ranks);
	language_read_blocks(r, &r->program->blocks);
	language_end_program(r);
}
