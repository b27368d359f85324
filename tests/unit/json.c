// SPDX-License-Identifier: GPL-2.0-only
/*
 * json.c - the JSON writer: for any input bytes, the output is valid JSON.
 */
#include "tools/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#define BYTES(text) text, sizeof(text) - 1

static const struct {
	const char *bytes;
	size_t count;
	const char *json;
} texts[] = {
	{ BYTES(""), "\"\"" },
	{ BYTES("plain ~"), "\"plain ~\"" },
	{ BYTES("\"quoted\" \\ /"), "\"\\\"quoted\\\" \\\\ /\"" },
	{ BYTES("\0\t\n\37\177"), "\"\\u0000\\u0009\\u000a\\u001f\\u007f\"" },
	{ BYTES("Gr\303\266\303\237e \342\202\254 \360\237\230\200"),
	  "\"Gr\303\266\303\237e \342\202\254 \360\237\230\200\"" },
	{ BYTES("\377"), "\"\\udcff\"" },
	{ BYTES("a\351b"), "\"a\\udce9b\"" },
	{ BYTES("\303"), "\"\\udcc3\"" },
	{ BYTES("\342\202"), "\"\\udce2\\udc82\"" },
	{ BYTES("\342\202\""), "\"\\udce2\\udc82\\\"\"" },
	{ BYTES("\300\257"), "\"\\udcc0\\udcaf\"" },
	{ BYTES("\355\240\200"), "\"\\udced\\udca0\\udc80\"" },
	{ BYTES("\364\220\200\200"), "\"\\udcf4\\udc90\\udc80\\udc80\"" },
	{ BYTES("\370\210\200\200\200"), "\"\\udcf8\\udc88\\udc80\\udc80\\udc80\"" },
	{ BYTES("\302\233"), "\"\\u009b\"" },
};

struct fixture {
	struct json json;
	char *text;
	size_t bytes;
};

static void begin(struct fixture *f)
{
	json_open(&f->json, open_memstream(&f->text, &f->bytes));
}

static void check(struct fixture *f, const char *expected)
{
	fclose(f->json.out);
	assert_string_equal(f->text, expected);
	free(f->text);
}

static void arbitrary_bytes_are_valid_json(void **state)
{
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		begin(&f);
		json_text(&f.json, texts[i].bytes, texts[i].count);
		check(&f, texts[i].json);
	}
}

static void numbers_are_exact(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	json_begin(&f.json, '[');
	json_integer(&f.json, (-9223372036854775807ll - 1));
	json_unsigned(&f.json, 18446744073709551615ull);
	json_real(&f.json, 0.1);
	json_real(&f.json, 1e300);
	json_real(&f.json, (double)NAN);
	json_real(&f.json, (double)-INFINITY);
	json_bool(&f.json, true);
	json_bool(&f.json, false);
	json_end(&f.json, ']');
	check(&f, "[-9223372036854775808,18446744073709551615,0.1,1e+300,null,null,true,false]");
}

static void values_are_separated(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	json_begin(&f.json, '{');
	json_key(&f.json, "a");
	json_begin(&f.json, '[');
	json_end(&f.json, ']');
	json_key(&f.json, "b");
	json_begin(&f.json, '[');
	json_integer(&f.json, 1);
	json_begin(&f.json, '{');
	json_end(&f.json, '}');
	json_string(&f.json, "x");
	json_end(&f.json, ']');
	json_key(&f.json, "\"");
	json_begin(&f.json, '{');
	json_key(&f.json, "d");
	json_integer(&f.json, -1);
	json_end(&f.json, '}');
	json_end(&f.json, '}');
	json_line(&f.json);
	json_begin(&f.json, '{');
	json_end(&f.json, '}');
	json_line(&f.json);
	check(&f, "{\"a\":[],\"b\":[1,{},\"x\"],\"\\\"\":{\"d\":-1}}\n{}\n");
}

/* Inside of a script element of a page that is XML, too. */
static void embedded_json_does_not_end_the_script(void **state)
{
	static const char text[] = "</script><!--&\342\200\250\342\200\251\357\277\276]]>";
	struct json json;
	char *written;
	size_t count;
	FILE *out = open_memstream(&written, &count);

	(void)state;
	json_open(&json, out);
	json.is_in_html = true;
	json_string(&json, text);
	fclose(out);
	assert_string_equal(written, "\"\\u003c/script\\u003e\\u003c!--\\u0026\\u2028\\u2029\\ufffe]]\\u003e\"");
	free(written);
}

SUITE("json",
      TEST(arbitrary_bytes_are_valid_json)
      TEST(numbers_are_exact)
      TEST(values_are_separated)
      TEST(embedded_json_does_not_end_the_script))
