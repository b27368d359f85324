// SPDX-License-Identifier: GPL-2.0-only
/*
 * html.c - text, tables and templates in HTML: whatever bytes go in, none of them is markup.
 */
#include "tools/html.h"

#include <stdlib.h>
#include <string.h>

#include "core/port.h"
#include "suite.h"

static char *text_of(const char *bytes)
{
	char *text;
	size_t count;
	FILE *out = open_memstream(&text, &count);

	assert_non_null(out);
	html_text(out, bytes);
	fclose(out);
	return text;
}

static const struct {
	const char *bytes;
	const char *html;
} texts[] = {
	{ "", "" },
	{ "plain", "plain" },
	{ "<script>alert('1')</script>", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;" },
	{ "\" onload=\"x", "&quot; onload=&quot;x" },
	{ "a&lt;b", "a&amp;lt;b" },
	{ "Gr\303\266\303\237e \360\237\230\200", "Gr\303\266\303\237e \360\237\230\200" },
	{ "a\351b", "a\\351b" },
	{ "\303", "\\303" },
	{ "\1\t\n\r\033\177", "\\001\\011\\012\\015\\033\\177" },
	{ "\302\205\302\237", "\\302\\205\\302\\237" },
	{ "\357\277\276\357\277\277", "\\357\\277\\276\\357\\277\\277" },
};

static void text_is_never_markup(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		char *html = text_of(texts[i].bytes);

		assert_string_equal(html, texts[i].html);
		free(html);
	}
}

/* All pairs of bytes. */
static void arbitrary_bytes_are_never_markup(void **state)
{
	char bytes[3] = {}, *html;
	unsigned int first, second;
	const char *at;

	(void)state;
	for (first = 1; first < 256; first++)
		for (second = 1; second < 256; second++) {
			bytes[0] = (char)first;
			bytes[1] = (char)second;
			html = text_of(bytes);
			assert_null(strpbrk(html, "<>\"'"));
			for (at = html; *at; at++)
				assert_true((unsigned char)*at >= ' ' && *at != 0x7f);
			for (at = html; (at = strchr(at, '&')); at++)
				assert_non_null(strchr(at, ';'));
			free(html);
		}
}

/* The beginning and the end are shown, and no character is cut. */
static void long_text_is_shortened_in_the_middle(void **state)
{
	char bytes[4001], *html;
	size_t i;

	(void)state;
	for (i = 0; i < 2000; i++)
		memcpy(bytes + 2 * i, "\303\266", 2);
	bytes[0] = 'a'; /* so that limits fall into characters */
	memmove(bytes + 1, bytes + 2, 3998);
	strcpy(bytes + 3999, "z");
	html = text_of(bytes);
	assert_true(strlen(html) <= HTML_TEXT_MAX + 8);
	assert_int_equal(html[0], 'a');
	assert_int_equal(html[strlen(html) - 1], 'z');
	assert_non_null(strstr(html, " ... "));
	assert_null(strchr(html, '\\'));
	free(html);
}

static void put_word(FILE *out, const void *context)
{
	fputs(context, out);
}

static bool is_long(const void *context)
{
	return strlen(context) > 3;
}

static void templates_are_filled(void **state)
{
	static const struct html_slot slots[] = { { "word", put_word, is_long }, {} };
	static const struct {
		const char *word;
		const char *filled;
	} rows[] = { { "abc", "1 abc 2  3 abc" }, { "abcd", "1 abcd 2 x abcd y 3 abcd" } };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text;
		size_t count;
		FILE *out = open_memstream(&text, &count);

		html_template(out, "1 {{word}} 2 {{if word}}x {{word}} y{{end}} 3 {{word}}", slots, rows[i].word);
		fclose(out);
		assert_string_equal(text, rows[i].filled);
		free(text);
	}
}

SUITE("html",
      TEST(text_is_never_markup)
      TEST(arbitrary_bytes_are_never_markup)
      TEST(long_text_is_shortened_in_the_middle)
      TEST(templates_are_filled))
