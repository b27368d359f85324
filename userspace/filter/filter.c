// SPDX-License-Identifier: GPL-2.0-only
/*
 * filter.c - compiles an expression, and derives its properties without a record.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "tree.h"

/**
 * filter_fail() - state the error of an expression
 * @error: filled in
 * @at: offset of the first wrong character
 * @format: of the sentence
 *
 * Return: -EINVAL.
 */
int filter_fail(struct filter_error *error, size_t at, const char *format, ...)
{
	va_list arguments;

	error->at = at;
	va_start(arguments, format);
	vsnprintf(error->why, sizeof(error->why), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

/* On one line, without comments; strings stay as they are. */
static char *text_of(const char *expression)
{
	char *text = malloc(strlen(expression) + 1), *to = text;
	bool is_string = false;
	const char *p;

	for (p = expression; text && *p; p++) {
		if (*p == '"' && (p == expression || !is_string || p[-1] != '\\'))
			is_string = !is_string;
		if (!is_string && *p == '#')
			p += strcspn(p, "\n");
		if (!*p)
			break;
		if (is_string || !isspace((unsigned char)*p))
			*to++ = *p;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	}
	if (text) {
		while (to > text && to[-1] == ' ')
			to--;
		*to = 0;
	}
	return text;
}

/**
 * filter_free() - free a compiled expression
 * @filter: may be NULL
 */
void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	filter_tree_free(filter->tree);
	free(filter->text);
	free(filter->program);
	free(filter);
}

/**
 * filter_compile() - compile an expression
 * @expression: see iotape-filter(7)
 * @filter: out: for filter_free(); NULL on failure
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL if it is not an expression; -ENOMEM.
 */
int filter_compile(const char *expression, struct filter **filter, struct filter_error *error)
{
	struct filter *new = calloc(1, sizeof(*new));
	int err = -ENOMEM;

	*filter = NULL;
	*error = (struct filter_error){ .why = "not enough memory" };
	if (!new)
		return err;
	if (strlen(expression) > FILTER_TEXT_MAX)
		err = filter_fail(error, FILTER_TEXT_MAX, "the expression is too long");
	else
		err = filter_parse(expression, &new->tree, error);
	if (!err)
		err = filter_generate(new->tree, &new->program, &new->program_bytes, error);
	if (!err) {
		new->text = text_of(expression);
		err = new->text ? iot_filter_verify(new->program, new->program_bytes) : -ENOMEM;
	}
	if (err)
		filter_free(new);
	else
		*filter = new;
	return err;
}

/**
 * filter_program() - the program
 * @filter: compiled
 * @bytes: out: its length
 */
const struct iot_filter_head *filter_program(const struct filter *filter, size_t *bytes)
{
	*bytes = filter->program_bytes;
	return filter->program;
}

/**
 * filter_text() - the expression on one line
 * @filter: compiled
 */
const char *filter_text(const struct filter *filter)
{
	return filter->text;
}

static const struct node *find_field(const struct node *node, enum iot_filter_field field)
{
	const struct node *found;

	if (!node)
		return NULL;
	if (node->kind == NODE_TEST)
		return node->field == field ? node : NULL;
	found = find_field(node->left, field);
	return found ?: find_field(node->right, field);
}

/**
 * filter_check_records() - can the expression be applied to the records of a trace?
 * @filter: compiled
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL if it tests a field that records do not have.
 */
int filter_check_records(const struct filter *filter, struct filter_error *error)
{
	const struct node *node = find_field(filter->tree, IOT_FILTER_session) ?:
				  find_field(filter->tree, IOT_FILTER_cgroup);

	if (!node)
		return 0;
	return filter_fail(error, node->at, "traces do not have the field '%s'",
			   node->field == IOT_FILTER_session ? "session" : "cgroup");
}

static bool load_kind(struct iot_filter_subject *subject, const struct iot_filter_head *program,
		      enum iot_filter_field field)
{
	(void)subject;
	(void)program;
	return field == IOT_FILTER_op; /* opens and closes have neither a size nor an offset */
}

/**
 * filter_admits_metadata() - can a recording with this filter have names, opens and closes?
 * @filter: compiled
 *
 * Return: false if the expression is false for all of them, whatever their task, path, time and result are.
 */
bool filter_admits_metadata(const struct filter *filter)
{
	const u32 known = IOT_FILTER_BIT(IOT_FILTER_op) | IOT_FILTER_BIT(IOT_FILTER_size) |
			  IOT_FILTER_BIT(IOT_FILTER_offset);
	struct iot_filter_subject subject = { .load = load_kind };

	subject.later = ~known;
	subject.loaded = known;
	subject.absent = known & ~IOT_FILTER_BIT(IOT_FILTER_op);
	subject.number[IOT_FILTER_op] = IOT_KIND_open;
	return iot_filter_run(filter->program, &subject) != IOT_NO;
}
