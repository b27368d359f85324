// SPDX-License-Identifier: GPL-2.0-only
/*
 * xml_export.c - a pattern as XML. Its text is read, and each statement becomes an element with the same words.
 */
#include "language_statement.h"

#define XML_ATTRIBUTE_MAX 9000000 /* bytes: libxml2 reads less than 10,000,000 */

struct writing {
	struct reader *r;
	FILE *out;
	u32 depth;
};

static void begin_element(struct writing *w)
{
	fprintf(w->out, "%*s<", 2 * (int)w->depth, "");
}

/* U+FFFE and U+FFFF are no characters of XML. They are only in texts in quotes, where each byte may be octal. */
static void put(FILE *out, const char *text, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++) {
		if (text[i] == '&' || text[i] == '<' || text[i] == '>' || text[i] == '"')
			fputs(text[i] == '&' ? "&amp;" : text[i] == '<' ? "&lt;" : text[i] == '>' ? "&gt;" : "&quot;", out);
		else if (i + 2 < bytes && !memcmp(text + i, "\xef\xbf", 2) && (u8)text[i + 2] >= 0xbe)
			fprintf(out, "\\357\\277\\%03o", (u8)text[(i += 2)]);
		else
			fputc(text[i], out);
	}
}

static void put_attribute(struct writing *w, const char *name, size_t name_bytes, const char *text, size_t bytes)
{
	if (bytes > XML_ATTRIBUTE_MAX)
		reader_fail(w->r, w->r->token.place, "the value of '%.*s' is too long for XML", (int)name_bytes, name);
	fprintf(w->out, " %.*s=\"", (int)name_bytes, name);
	put(w->out, text, bytes);
	fputc('"', w->out);
}

/* The text that was read since @from, without blanks at its end. */
static void put_read(struct writing *w, const char *name, size_t name_bytes, const char *from)
{
	const char *end = w->r->token.text;

	while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (!w->r->is_failed)
		put_attribute(w, name, name_bytes, from, (size_t)(end - from));
}

static void write_expression(struct writing *w, const char *name)
{
	const char *from = w->r->token.text;

	language_read_expression(w->r);
	put_read(w, name, strlen(name), from);
}

/* -- operations -------------------------------------------------------------------------------------------- */

static const char *call_field(const struct language_operation *o)
{
	const struct iot_field *field;
	u32 i;

	for (i = 0; (field = event_field(o->kind, i)); i++)
		if (field->class == IOT_CLASS_call)
			return field->name;
	return NULL;
}

/* NAME=VALUE, the name of a call, or a word that stands for itself. */
static void write_attribute(struct writing *w, struct language_operation *o)
{
	struct token name = w->r->token;
	const char *from, *call = call_field(o);
	char copy[64];

	reader_next(w->r);
	if (!reader_is_sign(w->r, "=")) {
		if (name.bytes == 7 && !memcmp(name.text, "implied", 7))
			put_attribute(w, "implied", 7, "yes", 3);
		else if (name.bytes == 8 && !memcmp(name.text, "nameless", 8))
			put_attribute(w, "nameless", 8, "yes", 3);
		else if (call)
			put_attribute(w, call, strlen(call), name.text, name.bytes);
		else
			reader_fail_at_token(w->r, "'='");
		return;
	}
	reader_next(w->r);
	from = w->r->token.text;
	snprintf(copy, sizeof(copy), "%.*s", (int)name.bytes, name.text);
	if (w->r->token.type == TOKEN_TEXT) {
		put_attribute(w, name.text, name.bytes, w->r->token.text, w->r->token.bytes);
		reader_next(w->r);
	} else if (!language_read_value(w->r, o, copy)) {
		reader_fail_at_token(w->r, "an attribute");
	} else {
		put_read(w, name.text, name.bytes, from);
	}
}

static void write_operation(struct writing *w, u32 depth)
{
	struct token word = w->r->token;
	struct language_operation *o = language_begin_operation(w->r, depth);
	const char *from;
	u32 names = 0;

	if (!o)
		return;
	begin_element(w);
	fprintf(w->out, "%.*s", (int)word.bytes, word.text);
	for (; w->r->token.type == TOKEN_TEXT; reader_next(w->r), names++)
		put_attribute(w, names ? "path2" : "path", names ? 5 : 4, w->r->token.text, w->r->token.bytes);
	if (depth)
		fprintf(w->out, " depth=\"%u\"", depth);
	while (!w->r->is_failed && w->r->token.type != TOKEN_LINE && w->r->token.type != TOKEN_END) {
		if (!reader_accept(w->r, "->")) {
			write_attribute(w, o);
			continue;
		}
		from = w->r->token.text;
		language_read_result(w->r, o);
		put_read(w, "result", 6, from);
	}
	fputs("/>\n", w->out);
}

/* -- structure ---------------------------------------------------------------------------------------------- */

/* Ends with the brace. */
static void end_element(struct writing *w, const char *name)
{
	reader_expect(w->r, "}");
	w->depth--;
	begin_element(w);
	fprintf(w->out, "/%s>\n", name);
}

static void write_statements(struct writing *w);

static void write_loop(struct writing *w)
{
	struct token variable = w->r->token;
	struct language_statement unused;

	reader_next(w->r);
	begin_element(w);
	fputs("series", w->out);
	put_attribute(w, "variable", 8, variable.text, variable.bytes);
	reader_expect(w->r, "in");
	write_expression(w, "first");
	reader_expect(w->r, "..");
	write_expression(w, "last");
	fputs(">\n", w->out);
	reader_expect(w->r, "{");
	if (!language_push_loop(w->r, &unused, &variable))
		return;
	w->depth++;
	write_statements(w);
	w->r->loop_count--;
	end_element(w, "series");
}

/* Up to a brace. */
static void write_statements(struct writing *w)
{
	u32 depth;

	for (reader_skip_lines(w->r); !w->r->is_failed && !reader_is_sign(w->r, "}"); reader_skip_lines(w->r)) {
		reader_accept(w->r, "==");
		for (depth = 0; reader_accept(w->r, "|"); depth++)
			;
		if (!depth && reader_accept(w->r, "for"))
			write_loop(w);
		else
			write_operation(w, depth);
	}
}

/* ranks LIST, tasks LIST or found */
static void write_block(struct writing *w)
{
	struct language_block unused = {};
	bool is_found = reader_is_word(w->r, "found"), is_ranks = reader_is_word(w->r, "ranks");
	const char *from;

	w->depth = 1;
	reader_next(w->r);
	begin_element(w);
	fputs(is_found ? "found" : "task", w->out);
	if (!is_found) {
		from = w->r->token.text;
		language_read_ranges(w->r, &unused);
		put_read(w, is_ranks ? "ranks" : "tasks", 5, from);
	}
	fputs(">\n", w->out);
	reader_expect(w->r, "{");
	w->depth++;
	write_statements(w);
	end_element(w, is_found ? "found" : "task");
	reader_skip_lines(w->r);
}

static void write_head(struct writing *w)
{
	bool is_ranks = reader_is_word(w->r, "size");
	struct token name;
	const char *from;

	reader_next(w->r);
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<workload", w->out);
	put_attribute(w, is_ranks ? "ranks" : "tasks", 5, w->r->token.text, w->r->token.bytes);
	reader_next(w->r);
	while (!w->r->is_failed && w->r->token.type == TOKEN_WORD) {
		name = w->r->token;
		reader_next(w->r);
		reader_expect(w->r, "=");
		from = w->r->token.text;
		language_read_expression(w->r);
		put_read(w, name.text, name.bytes, from);
	}
	fputs(">\n", w->out);
	reader_skip_lines(w->r);
}

static int write_text(const char *text, size_t bytes, FILE *out, struct pattern_refusal *refusal)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct writing w = { .r = r, .out = out };
	int err = -ENOMEM;

	if (r)
		r->program = calloc(1, sizeof(*r->program));
	if (r && r->program) {
		r->refusal = refusal;
		reader_open(r, text, bytes);
		reader_skip_lines(r);
		write_head(&w);
		while (!r->is_failed && r->token.type != TOKEN_END)
			write_block(&w);
		fputs("</workload>\n", out);
		err = !r->is_failed ? 0 : r->is_out_of_memory ? -ENOMEM : -EOPNOTSUPP;
	}
	if (r)
		language_free_program(r->program);
	free(r);
	return err;
}

/**
 * pattern_print_xml() - a pattern as XML
 * @pattern: the pattern
 * @has_histograms: print the histograms of times, not only their means
 * @out: where; not complete after an error
 * @refusal: out: a sentence, if the error is -EOPNOTSUPP
 *
 * Return: 0, -EOPNOTSUPP if a list is too long, -EBADMSG if the pattern is not sound, -ENOMEM.
 */
int pattern_print_xml(const struct pattern *pattern, bool has_histograms, FILE *out, struct pattern_refusal *refusal)
{
	char *text = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);
	int err = memory ? pattern_print(pattern, has_histograms, memory) : -ENOMEM;

	if (memory && fclose(memory))
		err = -ENOMEM;
	if (!err)
		err = write_text(text, bytes, out, refusal);
	free(text);
	return err;
}
