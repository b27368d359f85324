// SPDX-License-Identifier: GPL-2.0-only
/*
 * language_expression.c - expressions in the text of a pattern.
 *
 *	sum	[-] product { + product | - product }
 *	product	factor { * factor | div factor | mod factor }
 *	factor	number | variable | ( sum ) | - factor | each LIST | by rank LIST | by rank { each LIST, ... }
 */
#include "language.h"

static struct language_expression *make(struct reader *r, enum language_term term, struct language_place place)
{
	struct language_expression *x = reader_allocate(r, sizeof(*x));

	if (!x)
		return NULL;
	x->term = term;
	x->place = place;
	x->depth = 1;
	return x;
}

/**
 * language_number() - a number as an expression
 *
 * Return: NULL if out of memory.
 */
struct language_expression *language_number(struct reader *r, u64 value)
{
	struct language_expression *x = make(r, TERM_NUMBER, r->token.place);

	if (x)
		x->number = value;
	return x;
}

/**
 * language_variable_term() - the rank, task or size as an expression
 *
 * Return: NULL if out of memory.
 */
struct language_expression *language_variable_term(struct reader *r, enum language_term term)
{
	return make(r, term, r->token.place);
}

static struct language_expression *combine(struct reader *r, enum language_term term, struct language_place place,
					   struct language_expression *left, struct language_expression *right)
{
	struct language_expression *x = left && right ? make(r, term, place) : NULL;

	if (!x)
		return NULL;
	x->left = left;
	x->right = right;
	x->depth = 1 + (left->depth > right->depth ? left->depth : right->depth);
	if (x->depth > LANGUAGE_DEPTH_MAX)
		reader_fail(r, place, "an expression of more than %d terms", LANGUAGE_DEPTH_MAX);
	return x;
}

static struct language_expression *read_variable(struct reader *r)
{
	static const struct {
		const char *name;
		enum language_term term;
	} variables[] = { { "rank", TERM_RANK }, { "task", TERM_TASK }, { "size", TERM_SIZE } };
	struct language_expression *x = make(r, TERM_LOOP, r->token.place);
	const struct language_variable *variable;
	size_t i;

	for (i = r->loop_count; i-- > 0 && x;) /* the innermost loop with this variable */
		if (r->loops[i].bytes == r->token.bytes && !memcmp(r->loops[i].text, r->token.text, r->token.bytes)) {
			x->number = i;
			reader_next(r);
			return x;
		}
	for (variable = r->program->variables; variable && x; variable = variable->next)
		if (reader_is_word(r, variable->name)) {
			reader_next(r);
			return variable->value;
		}
	for (i = 0; i < ARRAY_SIZE(variables) && x; i++)
		if (reader_accept(r, variables[i].name)) {
			x->term = variables[i].term;
			return x;
		}
	reader_fail_at_token(r, "a number or a variable");
	return NULL;
}

static struct language_expression *read_each(struct reader *r, struct language_place place)
{
	struct language_expression *x = make(r, TERM_EACH, place);

	reader_expect(r, "{");
	if (x && !r->is_failed)
		x->list = language_read_list(r);
	return r->is_failed ? NULL : x;
}

/* Expressions, one for each task of the block. */
static void read_choices(struct reader *r, struct language_expression *x)
{
	u64 room = 0, i;

	while (!r->is_failed) {
		struct language_place place = r->token.place;
		struct language_expression **choices = x->choices;

		reader_expect(r, "each");
		if (x->choice_count == room) {
			room = room ? 2 * room : 8;
			choices = reader_allocate(r, room * sizeof(struct language_expression *));
			for (i = 0; choices && i < x->choice_count; i++)
				choices[i] = x->choices[i];
			x->choices = choices;
		}
		if (!choices)
			return;
		choices[x->choice_count++] = read_each(r, place);
		reader_skip_lines(r);
		if (!reader_accept(r, ","))
			break;
		reader_skip_lines(r);
	}
	reader_expect(r, "}");
}

static struct language_expression *read_by(struct reader *r, struct language_place place)
{
	struct language_expression *x = make(r, TERM_BY, place);

	if (!reader_accept(r, "rank"))
		reader_expect(r, "task");
	reader_expect(r, "{");
	reader_skip_lines(r);
	if (!x || r->is_failed)
		return NULL;
	if (reader_is_word(r, "each"))
		read_choices(r, x);
	else
		x->list = language_read_list(r);
	return r->is_failed ? NULL : x;
}

static struct language_expression *read_sum(struct reader *r);

static struct language_expression *read_factor(struct reader *r)
{
	struct language_place place = r->token.place;
	struct language_expression *x;
	u64 number;

	if (r->token.type == TOKEN_NUMBER)
		return reader_number(r, &number) ? language_number(r, number) : NULL;
	if (reader_accept(r, "each"))
		return read_each(r, place);
	if (reader_accept(r, "by"))
		return read_by(r, place);
	if (r->token.type == TOKEN_WORD)
		return read_variable(r);
	if (reader_is_sign(r, "(") || reader_is_sign(r, "-")) {
		if (r->depth == LANGUAGE_DEPTH_MAX) {
			reader_fail(r, place, "more than %d lists or terms in each other", LANGUAGE_DEPTH_MAX);
			return NULL;
		}
		r->depth++;
		if (reader_accept(r, "-")) {
			x = combine(r, TERM_SUBTRACT, place, language_number(r, 0), read_factor(r));
		} else {
			reader_next(r);
			x = read_sum(r);
			reader_expect(r, ")");
		}
		r->depth--;
		return x;
	}
	reader_fail_at_token(r, "a number or a variable");
	return NULL;
}

static struct language_expression *read_product(struct reader *r)
{
	struct language_expression *x = read_factor(r);

	while (!r->is_failed) {
		struct language_place place = r->token.place;
		enum language_term term;

		if (reader_accept(r, "*"))
			term = TERM_MULTIPLY;
		else if (reader_accept(r, "div"))
			term = TERM_DIVIDE;
		else if (reader_accept(r, "mod"))
			term = TERM_MODULO;
		else
			break;
		x = combine(r, term, place, x, read_factor(r));
	}
	return x;
}

static struct language_expression *read_sum(struct reader *r)
{
	struct language_expression *x = read_product(r);

	while (!r->is_failed && (reader_is_sign(r, "+") || reader_is_sign(r, "-"))) {
		struct language_place place = r->token.place;
		enum language_term term = reader_is_sign(r, "+") ? TERM_ADD : TERM_SUBTRACT;

		reader_next(r);
		x = combine(r, term, place, x, read_product(r));
	}
	return x;
}

/**
 * language_read_expression() - read an expression
 *
 * Return: the expression; NULL if the reader has failed.
 */
struct language_expression *language_read_expression(struct reader *r)
{
	struct language_expression *x = read_sum(r);

	return r->is_failed ? NULL : x;
}
