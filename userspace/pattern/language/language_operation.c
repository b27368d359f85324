// SPDX-License-Identifier: GPL-2.0-only
/*
 * language_operation.c - operations in the text of a pattern: a kind, names, and attributes.
 */
#include "language.h"
#include "language_statement.h"
#include "pattern/sites.h"

/* -- texts ------------------------------------------------------------------------------------------------ */

/* The byte that a sequence behind a backslash stands for: three octal digits, or a sign. Return: its length, or 0. */
static size_t unescape(const char *text, size_t bytes, u8 *byte)
{
	size_t i;

	*byte = 0;
	for (i = 0; i < 3 && i < bytes && text[i] >= '0' && text[i] <= '7'; i++)
		*byte = (u8)(*byte << 3 | (text[i] - '0'));
	if (i == 3)
		return *text <= '3' ? 3 : 0;
	*byte = bytes ? (u8)*text : 0;
	return bytes && strchr("\"\\{}", *text) && *text ? 1 : 0;
}

static struct language_place place_of(const struct token *token, size_t at)
{
	return (struct language_place){ token->place.line, token->place.column + 1 + (u32)at };
}

/* Bytes up to the next number in braces, or to the end. Return: how much of the text they take. */
static size_t read_bytes(struct reader *r, const struct token *token, size_t from, bool is_name, u8 *bytes, size_t *count)
{
	size_t at, used;

	*count = 0;
	for (at = from; at < token->bytes && !(is_name && token->text[at] == '{'); at++) {
		u8 *byte = &bytes[(*count)++];

		*byte = (u8)token->text[at];
		if (*byte == '}' && is_name)
			reader_fail(r, place_of(token, at), "a '}' without a '{': in a name, write \\}");
		if (*byte != '\\')
			continue;
		used = unescape(token->text + at + 1, token->bytes - at - 1, byte);
		if (!used)
			reader_fail(r, place_of(token, at), "after a backslash, a name has three octal digits, or one of \"\\{}");
		if (!*byte && is_name)
			reader_fail(r, place_of(token, at), "a name has no zero bytes");
		if (r->is_failed)
			break;
		at += used;
	}
	return at;
}

/* {EXPRESSION} or {EXPRESSION:0WIDTH}. Return: how much of the text it takes. */
static size_t read_hole(struct reader *r, const struct token *token, size_t at, struct language_name *part)
{
	struct reader inner = *r;
	u64 width;

	inner.at = token->text + at + 1;
	inner.end = token->text + token->bytes;
	inner.line = token->place.line;
	inner.line_begin = token->text - token->place.column; /* before the quote are the others of its line */
	reader_next(&inner);
	part->number = language_read_expression(&inner);
	if (reader_accept(&inner, ":")) {
		struct language_place place = inner.token.place;
		bool has_zero = inner.token.bytes > 1 && *inner.token.text == '0';

		inner.token.text += has_zero;
		inner.token.bytes -= has_zero;
		if (reader_number(&inner, &width) && (!width || width > 18))
			reader_fail(&inner, place, "a number in a name has 1 to 18 digits at least");
		part->width = (u32)width;
	}
	if (!inner.is_failed && !reader_is_sign(&inner, "}"))
		reader_fail_at_token(&inner, "'}'");
	r->is_failed = inner.is_failed;
	r->is_out_of_memory = inner.is_out_of_memory;
	r->token.type = inner.is_failed ? TOKEN_END : r->token.type;
	return inner.is_failed ? token->bytes : (size_t)(inner.token.text + 1 - token->text);
}

static struct language_name *read_name(struct reader *r)
{
	struct token token = r->token;
	struct language_name *first = NULL, **next = &first, *part;
	size_t at = 0;

	if (token.bytes > LANGUAGE_NAME_MAX)
		reader_fail(r, token.place, "a name of more than %d bytes", LANGUAGE_NAME_MAX);
	do {
		u8 *bytes = reader_allocate(r, token.bytes - at + 1);

		part = reader_allocate(r, sizeof(*part));
		if (!bytes || !part || r->is_failed)
			return NULL;
		if (at < token.bytes && token.text[at] == '{') {
			at = read_hole(r, &token, at, part);
		} else {
			at = read_bytes(r, &token, at, true, bytes, &part->bytes);
			part->text = (const char *)bytes;
		}
		*next = part;
		next = &part->next;
	} while (at < token.bytes && !r->is_failed);
	reader_next(r);
	return first;
}

/* -- fields ----------------------------------------------------------------------------------------------- */

static bool symbol_of(const struct reader *r, const struct iot_field *field, u64 *value)
{
	const struct iot_symbol *symbol = iot_class_info(field->class).symbols;

	for (; symbol && symbol->name; symbol++)
		if (reader_is_word(r, symbol->name)) {
			*value = symbol->value;
			return true;
		}
	return false;
}

/* Digits of base 8, behind a zero. */
static u64 read_mode(struct reader *r)
{
	u64 mode = 0;
	size_t i;

	for (i = 0; i < r->token.bytes; i++) {
		if (r->token.text[i] < '0' || r->token.text[i] > '7' || *r->token.text != '0' || mode >> 29) {
			reader_fail_at_token(r, "an octal number such as 0644");
			return 0;
		}
		mode = mode << 3 | (u64)(r->token.text[i] - '0');
	}
	reader_next(r);
	return mode;
}

static bool fits(const struct iot_field *field, u64 value)
{
	return iot_wire_type_bytes(field->type) == 8 || value <= UINT32_MAX ||
	       (field->type == IOT_WIRE_TYPE_s32 && (s64)value == (s32)value);
}

static void fail_value(struct reader *r, const struct iot_field *field)
{
	char expected[64];

	snprintf(expected, sizeof(expected), "a value of %s", field->name);
	reader_fail_at_token(r, expected);
}

/* Names of flags or of a value, or a number. */
static u64 read_words(struct reader *r, const struct iot_field *field)
{
	struct language_place place = r->token.place;
	u64 all = 0, value;
	bool is_negative;

	do {
		is_negative = reader_accept(r, "-");
		if (r->token.type == TOKEN_WORD && symbol_of(r, field, &value))
			reader_next(r);
		else if (r->token.type == TOKEN_NUMBER)
			value = field->class == IOT_CLASS_mode ? read_mode(r) : reader_number(r, &value) ? value : 0;
		else
			fail_value(r, field);
		if (r->is_failed)
			return 0;
		all |= is_negative ? 0 - value : value;
	} while (iot_class_info(field->class).is_bits && reader_accept(r, "|"));
	if (!fits(field, all))
		reader_fail(r, place, "the value of %s does not fit in 32 bits", field->name);
	return all;
}

static struct language_expression *read_value(struct reader *r, const struct iot_field *field)
{
	if (event_field_is_operand(field))
		return language_read_expression(r);
	return language_number(r, read_words(r, field));
}

static s64 errno_of(const struct reader *r)
{
	const char *name;
	int number;

	for (number = 1; number < 200 && r->token.type == TOKEN_WORD; number++) {
		name = iot_text_errno(-number);
		if (name && reader_is_word(r, name))
			return -number;
	}
	return 0;
}

static struct language_expression *read_result(struct reader *r)
{
	s64 error = errno_of(r);

	if (!error)
		return language_read_expression(r);
	reader_next(r);
	return language_number(r, (u64)error);
}

static bool read_call(struct reader *r, struct language_operation *o)
{
	const struct iot_field *field;
	u64 value;
	u32 i;

	for (i = 0; (field = event_field(o->kind, i)); i++) {
		if (field->class != IOT_CLASS_call || o->fields[i])
			continue;
		if (r->token.type == TOKEN_NUMBER || symbol_of(r, field, &value)) {
			o->fields[i] = language_number(r, read_words(r, field));
			return true;
		}
	}
	return false;
}

/* -- attributes ------------------------------------------------------------------------------------------- */

static void read_from(struct reader *r, struct language_operation *o)
{
	reader_expect(r, "[");
	o->from = reader_allocate(r, EVENT_LIST_MAX * sizeof(struct language_expression *));
	while (!r->is_failed && o->from) {
		reader_skip_lines(r);
		if (o->from_count == EVENT_LIST_MAX) {
			reader_fail(r, r->token.place, "a list of more than %d ranks", EVENT_LIST_MAX);
			return;
		}
		o->from[o->from_count++] = language_read_expression(r);
		reader_skip_lines(r);
		if (!reader_accept(r, ","))
			break;
	}
	reader_expect(r, "]");
}

/* Return: the bytes of a text in quotes; NULL if the reader has failed. */
static const u8 *read_quoted(struct reader *r, u32 *bytes_count)
{
	struct token token = r->token;
	u8 *bytes = reader_allocate(r, token.bytes + 1);
	size_t count = 0;

	if (token.type != TOKEN_TEXT)
		reader_fail_at_token(r, "a text in quotes");
	if (token.bytes > 4 * LANGUAGE_NAME_MAX)
		reader_fail(r, token.place, "a value of more than %d bytes", LANGUAGE_NAME_MAX);
	if (!bytes || r->is_failed)
		return NULL;
	read_bytes(r, &token, 0, false, bytes, &count);
	*bytes_count = (u32)count;
	reader_next(r);
	return bytes;
}

static void read_site(struct reader *r, struct language_operation *o)
{
	struct language_place place = r->token.place;
	const char *flaw;

	o->site = read_quoted(r, &o->site_bytes);
	flaw = r->is_failed ? NULL : site_flaw(o->site, o->site_bytes);
	if (flaw)
		reader_fail(r, place, "the call site %s", flaw);
}

/* Return: false if there is no other attribute of this name. */
static bool read_other(struct reader *r, struct language_operation *o, const char *name)
{
	u64 depth;

	if (!strcmp(name, "depth")) {
		if (reader_number(r, &depth) && depth <= UINT32_MAX)
			o->depth = (u32)depth;
	} else if (!strcmp(name, "value")) {
		o->value = read_quoted(r, &o->value_bytes);
		o->flags |= o->value ? EVENT_VALUE : 0;
	} else if (!strcmp(name, "site")) {
		read_site(r, o);
	} else if (!strcmp(name, "from")) {
		read_from(r, o);
	} else if (!strcmp(name, "think") || !strcmp(name, "takes")) {
		language_read_time(r, o, *name == 't' && name[1] == 'h');
	} else {
		return false;
	}
	return true;
}

static bool read_flag(struct reader *r, struct language_operation *o)
{
	static const char *const others[] = { "depth", "value", "from", "think", "takes", "site" };
	size_t i;

	if (reader_accept(r, "implied")) {
		o->flags |= EVENT_IMPLIED;
		return true;
	}
	if (reader_accept(r, "nameless")) {
		o->flags |= EVENT_NAMELESS;
		return true;
	}
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (reader_accept(r, others[i])) {
			reader_expect(r, "=");
			return read_other(r, o, others[i]);
		}
	return false;
}

static bool is_name(const char *name, const char *text, size_t bytes)
{
	return strlen(name) == bytes && !memcmp(name, text, bytes);
}

/* An attribute with the value of a field or role. */
static struct language_expression **find_field(struct language_operation *o, const char *name, size_t bytes,
					       const struct iot_field **field)
{
	u32 i;

	for (i = 0; (*field = event_field(o->kind, i)); i++)
		if ((*field)->class != IOT_CLASS_result && is_name((*field)->name, name, bytes))
			return &o->fields[i];
	for (i = 0; i < EVENT_ROLES; i++)
		if (is_name(language_roles[i], name, bytes))
			return &o->roles[i];
	return NULL;
}

/**
 * language_read_value() - read the value of an attribute of an operation
 * @r: at the value
 * @o: the operation
 * @name: of the attribute
 *
 * Return: false if the operation has no such attribute.
 */
bool language_read_value(struct reader *r, struct language_operation *o, const char *name)
{
	const struct iot_field *field;
	struct language_expression **value = find_field(o, name, strlen(name), &field);

	if (!value)
		return read_other(r, o, name);
	*value = field ? read_value(r, field) : language_read_expression(r);
	return true;
}

/**
 * language_read_result() - read the result of an operation
 */
void language_read_result(struct reader *r, struct language_operation *o)
{
	o->result = read_result(r);
}

/**
 * language_read_name() - read a name of an operation
 * @r: at a text
 * @o: the operation
 * @index: 0 or 1
 */
void language_read_name(struct reader *r, struct language_operation *o, u32 index)
{
	o->names[index] = read_name(r);
}

static void read_attribute(struct reader *r, struct language_operation *o)
{
	const struct iot_field *field;
	struct language_expression **value;
	struct token token = r->token;

	if (token.type == TOKEN_NUMBER && read_call(r, o))
		return;
	if (token.type != TOKEN_WORD) {
		reader_fail_at_token(r, "an attribute or the end of the line");
		return;
	}
	value = find_field(o, token.text, token.bytes, &field);
	if (!value && (read_call(r, o) || read_flag(r, o)))
		return;
	if (!value) {
		reader_fail(r, token.place, "'%.*s': %s has no such attribute", (int)(token.bytes > 40 ? 40 : token.bytes), token.text,
			    iot_kind_info(o->kind)->name);
		return;
	}
	if (*value)
		reader_fail(r, token.place, "'%.*s' is there twice", (int)token.bytes, token.text);
	reader_next(r);
	reader_expect(r, "=");
	if (!r->is_failed)
		*value = field ? read_value(r, field) : language_read_expression(r);
}

/**
 * language_read_attributes() - read the rest of an operation: names, attributes, and the result
 * @o: the operation, with its kind
 */
void language_read_attributes(struct reader *r, struct language_operation *o)
{
	bool is_mpi = iot_kind_info(o->kind)->group == IOT_GROUP_mpi;

	if (r->token.type == TOKEN_TEXT)
		o->names[is_mpi] = read_name(r);
	if (r->token.type == TOKEN_TEXT) {
		o->names[0] = is_mpi ? o->names[1] : o->names[0];
		o->names[1] = read_name(r);
	}
	while (!r->is_failed && r->token.type != TOKEN_LINE && r->token.type != TOKEN_END && !reader_is_sign(r, "}")) {
		if (!reader_accept(r, "->")) {
			read_attribute(r, o);
			continue;
		}
		if (o->result)
			reader_fail(r, r->token.place, "the operation has two results");
		else
			o->result = read_result(r);
	}
}
