// SPDX-License-Identifier: GPL-2.0-only
/*
 * html.c - text, tables and templates in HTML.
 */
#include "html.h"

#include <stdlib.h>
#include <string.h>

#include "lib/iotape.h"

/* Control characters, and two code points that are not characters, are not allowed in XML. */
static bool is_printable(u32 character)
{
	return character >= ' ' && (character < 0x7f || character > 0x9f) && character != 0xfffe && character != 0xffff;
}

static void put_character(FILE *out, const char *text, size_t bytes)
{
	switch (*text) {
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '&':
		fputs("&amp;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	case '\'':
		fputs("&#39;", out);
		break;
	default:
		fwrite(text, bytes, 1, out);
	}
}

/* Bytes that are not UTF-8 or not printable, such as in the name of a file, become \ooo, as in iot_text_bytes(). */
static void put_bytes(FILE *out, const char *text, const char *end)
{
	size_t bytes, i;
	u32 character;

	for (; text < end; text += bytes) {
		bytes = iot_text_utf8(text, (size_t)(end - text), &character);
		if (bytes && is_printable(character)) {
			put_character(out, text, bytes);
			continue;
		}
		bytes += !bytes;
		for (i = 0; i < bytes; i++)
			fprintf(out, "\\%03o", (unsigned char)text[i]);
	}
}

static bool is_inside_character(const char *text)
{
	return (*text & 0xc0) == 0x80;
}

/**
 * html_text() - write text, escaped
 * @out: where to
 * @text: any bytes
 */
void html_text(FILE *out, const char *text)
{
	size_t bytes = strlen(text);
	const char *head = text + HTML_TEXT_MAX / 2, *tail = text + bytes - HTML_TEXT_MAX / 2;

	if (bytes <= HTML_TEXT_MAX) {
		put_bytes(out, text, text + bytes);
		return;
	}
	while (head > text && is_inside_character(head))
		head--;
	while (is_inside_character(tail))
		tail++;
	put_bytes(out, text, head);
	fputs(" ... ", out);
	put_bytes(out, tail, text + bytes);
}

/**
 * html_element() - write an element on a line of its own
 * @element: its name
 * @text: in it, escaped
 */
void html_element(FILE *out, const char *element, const char *text)
{
	fprintf(out, "<%s>", element);
	html_text(out, text);
	fprintf(out, "</%s>\n", element);
}

static void put_cell(FILE *out, const char *text, bool is_head, bool is_column)
{
	fputs(!is_head ? "<td>" : is_column ? "<th scope=\"col\">" : "<th scope=\"row\">", out);
	html_text(out, text);
	fputs(is_head ? "</th>" : "</td>", out);
}

/**
 * html_row() - write a row of a table
 * @is_head: its cells are headings of columns; the first cell of any row is the heading of the row
 */
void html_row(FILE *out, const struct table *table, size_t row, bool is_head)
{
	size_t columns = (size_t)table->columns, i;

	fputs("<tr>", out);
	for (i = row * columns; i < (row + 1) * columns && i < table->count; i++)
		put_cell(out, table->cells[i], is_head || i == row * columns, is_head);
	fputs("</tr>\n", out);
}

/**
 * html_table() - write a table, of which the first row is the head, or a sentence if there is no other row
 * @class: of the element, for example "sortable"
 */
void html_table(FILE *out, const struct table *table, const char *class)
{
	size_t rows = table->count / (size_t)table->columns, row;

	if (rows < 2) {
		fputs("<p class=\"small\">The trace has none.</p>\n", out);
		return;
	}
	fprintf(out, "<div class=\"scroll\"><table class=\"%s\">\n<thead>\n", class);
	html_row(out, table, 0, true);
	fputs("</thead><tbody>\n", out);
	for (row = 1; row < rows; row++)
		html_row(out, table, row, false);
	fputs("</tbody></table></div>\n", out);
}

/* -- templates ------------------------------------------------------------------------------------------ */

static const struct html_slot *slot_find(const struct html_slot *slots, const char *name, size_t bytes)
{
	for (; slots->name; slots++)
		if (strlen(slots->name) == bytes && !memcmp(slots->name, name, bytes))
			return slots;
	abort(); /* of a template that is part of the program */
}

/**
 * html_template() - write a template with its slots filled
 * @template: text with {{name}}, and {{if name}} ... {{end}}
 * @slots: ended by one without a name; each name in the template is there
 * @context: for the functions of @slots
 */
void html_template(FILE *out, const char *template, const struct html_slot *slots, const void *context)
{
	const char *at, *end;

	for (; (at = strstr(template, "{{")); template = end + 2) {
		fwrite(template, (size_t)(at - template), 1, out);
		at += 2;
		end = strstr(at, "}}");
		if (!end)
			abort();
		if (!strncmp(at, "if ", 3)) {
			if (!slot_find(slots, at + 3, (size_t)(end - at - 3))->is_shown(context))
				end = strstr(end, "{{end") + strlen("{{end");
		} else if (strncmp(at, "end}}", 5)) {
			slot_find(slots, at, (size_t)(end - at))->put(out, context);
		}
	}
	fputs(template, out);
}
