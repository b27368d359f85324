// SPDX-License-Identifier: GPL-2.0-only
/*
 * omissions.c - omissions of a result, as text, as JSON, as facts and as an exit code.
 */
#include "omissions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "terminal.h"

static void print_line(FILE *out, const char *before, const char *text)
{
	fprintf(out, "%s%s%s%s\n", terminal_style(out, STYLE_WARNING), before, text, terminal_style(out, STYLE_PLAIN));
}

/**
 * omissions_list() - print a line for each reason for which something is missing
 * @out: where to
 * @before: each line begins with it
 * @omissions: gathered
 */
void omissions_list(FILE *out, const char *before, const struct iot_omissions *omissions)
{
	char text[IOT_OMISSION_TEXT_BYTES];
	u32 i;

	for (i = 1; i < IOT_OMISSION_END; i++)
		if (iot_omission_text(omissions, i, text))
			print_line(out, before, text);
}

/**
 * omissions_print() - print the amount and reasons of omissions; nothing if there are none
 * @out: where to
 * @before: each line begins with it
 * @omissions: gathered, with the recorded operations and bytes
 */
void omissions_print(FILE *out, const char *before, const struct iot_omissions *omissions)
{
	char text[IOT_OMISSION_TEXT_BYTES];

	if (!iot_omissions_text(omissions, text))
		return;
	print_line(out, before, text);
	omissions_list(out, before, omissions);
}

static void put_number(struct json *json, const char *key, u64 number)
{
	if (number == IOT_OMISSION_UNKNOWN)
		json_put_null(json, key);
	else
		json_put_unsigned(json, key, number);
}

/* Of operations or of bytes: those that are known to be missing, if any are, and whether there are more. */
static void put_share(struct json *json, const char *what, u64 there, u64 missing, bool is_more)
{
	bool is_unknown = is_more && !missing;
	u64 all = there + missing;
	char key[64];

	put_number(json, what, is_unknown ? IOT_OMISSION_UNKNOWN : missing);
	snprintf(key, sizeof(key), "%s_share", what);
	json_put_real(json, key, is_unknown ? NAN : all ? (double)missing / (double)all : 0);
	snprintf(key, sizeof(key), "are_%s_more", what);
	json_put_bool(json, key, is_more);
}

static void put_reason(struct json *json, enum iot_omission_reason reason, const struct iot_omission *o)
{
	json_begin(json, '{');
	json_put_string(json, "reason", iot_omission_name(reason));
	put_number(json, "count", o->count);
	put_number(json, "operations", o->operations);
	put_number(json, "bytes", o->bytes);
	json_put_string(json, "detail", o->detail);
	json_end(json, '}');
}

/**
 * omissions_json() - the same as a member of an object that is being written
 * @json: inside of an object
 * @omissions: gathered, with the recorded operations and bytes
 */
void omissions_json(struct json *json, const struct iot_omissions *omissions)
{
	bool is_more;
	u64 missing;
	u32 i;

	json_key(json, "omissions");
	json_begin(json, '{');
	missing = iot_omissions_operations(omissions, &is_more);
	put_share(json, "operations", omissions->operations, missing, is_more);
	missing = iot_omissions_bytes(omissions, &is_more);
	put_share(json, "bytes", omissions->bytes, missing, is_more);
	json_key(json, "reasons");
	json_begin(json, '[');
	for (i = 1; i < IOT_OMISSION_END; i++)
		if (omissions->of[i].count)
			put_reason(json, i, &omissions->of[i]);
	json_end(json, ']');
	json_end(json, '}');
}

/**
 * omissions_add_facts() - state the omissions of a trace in its facts
 * @facts: to these
 * @omissions: gathered
 */
void omissions_add_facts(struct facts *facts, const struct iot_omissions *omissions)
{
	char text[IOT_OMISSION_TEXT_BYTES], *equals;
	u32 i;

	for (i = 1; i < IOT_OMISSION_END; i++) {
		if (!iot_omission_fact(omissions, i, text))
			continue;
		equals = strchr(text, '=');
		*equals = 0;
		facts_add(facts, text, "%s", equals + 1);
	}
}

/**
 * omissions_verdict() - the exit code of a comparison
 * @has_differences: something differs
 * @omissions: of the compared traces
 *
 * If operations or bytes are missing, a result without differences is not exact. If only the order
 * or details of operations are unknown, that is printed, and their results are the verdict.
 *
 * Return: EXIT_DONE or EXIT_DIFFERS.
 */
int omissions_verdict(bool has_differences, const struct iot_omissions *omissions)
{
	return has_differences || !iot_omissions_is_whole(omissions) ? EXIT_DIFFERS : EXIT_DONE;
}

/**
 * omissions_print_verdict() - print the reason if a result without differences is not exact
 * @before: the line begins with it
 * @has_differences: something differs, and was printed
 * @omissions: of the compared traces
 */
void omissions_print_verdict(const char *before, bool has_differences, const struct iot_omissions *omissions)
{
	if (!has_differences && !iot_omissions_is_whole(omissions))
		printf("%snot exact: nothing differs, but part of the traced run is missing\n", before);
}
