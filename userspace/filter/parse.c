// SPDX-License-Identifier: GPL-2.0-only
/*
 * parse.c - words to a tree.
 *
 *	or	= and { "||" and }
 *	and	= not { "&&" not }
 *	not	= "!" not | "(" or ")" | test
 *	test	= field ("==" | "!=" | "<" | "<=" | ">" | ">=" | "~") value
 *		| field "in" "{" value { "," value } "}"
 *		| "every" "(" number ")" | "share" "(" number "%" ")"
 */
#include <errno.h>
#include <stdlib.h>

#include "words.h"

#define DEPTH_MAX 100

struct parser {
	struct words words;
	struct filter_error *error;
	int depth;
};

static const struct {
	const char *name;
	enum iot_filter_field field;
	bool is_text;
} fields[] = {
#define ROW(id, name, type, end, sentence) { #name, IOT_FILTER_##name, TEXT_##type },
#define TEXT_number false
#define TEXT_sign   false
#define TEXT_kind   false
#define TEXT_text   true
#define TEXT_path   true
	IOT_FILTER_FIELDS(ROW)
#undef ROW
};

static const struct {
	const char *sign;
	enum iot_filter_code code;
} comparisons[] = {
	{ "==", IOT_FILTER_EQ }, { "!=", IOT_FILTER_NE }, { "<", IOT_FILTER_LT },   { "<=", IOT_FILTER_LE },
	{ ">", IOT_FILTER_GT },	 { ">=", IOT_FILTER_GE }, { "~", IOT_FILTER_GLOB },
};

static struct node *or_parse(struct parser *parser);

/**
 * filter_tree_free() - free a tree
 * @tree: may be NULL
 */
void filter_tree_free(struct node *tree)
{
	if (!tree)
		return;
	filter_tree_free(tree->left);
	filter_tree_free(tree->right);
	free(tree);
}

static struct node *node_new(struct parser *parser, enum node_kind kind, struct node *left, struct node *right)
{
	struct node *node = calloc(1, sizeof(*node));

	if (!node) {
		filter_fail(parser->error, parser->words.at, "not enough memory");
		filter_tree_free(left);
		filter_tree_free(right);
		return NULL;
	}
	node->kind = kind;
	node->left = left;
	node->right = right;
	node->at = parser->words.at;
	return node;
}

static struct node *fail_at_word(struct parser *parser, const char *wanted)
{
	const struct words *words = &parser->words;

	if (words->kind == WORD_END)
		filter_fail(parser->error, words->at, "%s is missing at the end", wanted);
	else if (words->kind == WORD_BAD && words->text[words->at] == '"')
		filter_fail(parser->error, words->at, "a string has no end, or is too long");
	else
		filter_fail(parser->error, words->at, "%s expected before '%s'", wanted, words->value);
	return NULL;
}

static bool expect(struct parser *parser, const char *sign)
{
	char wanted[8];

	if (words_is(&parser->words, sign)) {
		words_next(&parser->words);
		return true;
	}
	snprintf(wanted, sizeof(wanted), "'%s'", sign);
	fail_at_word(parser, wanted);
	return false;
}

/* every(N) and share(P%) */
static struct node *sample_parse(struct parser *parser, bool is_share)
{
	struct words *words = &parser->words;
	struct node *test = node_new(parser, NODE_TEST, NULL, NULL);
	size_t last;

	if (!test)
		return NULL;
	test->field = is_share ? IOT_FILTER_share : IOT_FILTER_nth;
	test->code = is_share ? IOT_FILTER_LT : IOT_FILTER_MULTIPLE;
	words_next(words);
	if (!expect(parser, "("))
		goto bad;
	last = words->bytes ? words->bytes - 1 : 0;
	if (is_share && words->kind == WORD_NAME && words->value[last] != '%') {
		filter_fail(parser->error, words->at, "a share in percent, such as 5%%, expected before '%s'", words->value);
		goto bad;
	}
	if (is_share && words->kind == WORD_NAME)
		words->value[last] = 0;
	if (value_read(words, test, parser->error))
		goto bad;
	if (!test->value || (is_share && test->value > 100)) {
		filter_fail(parser->error, words->at, is_share ? "a share is from 1%% to 100%%" : "every(0) selects nothing");
		goto bad;
	}
	if (is_share)
		test->value *= IOT_FILTER_SHARES / 100;
	words_next(words);
	if (expect(parser, ")"))
		return test;
bad:
	filter_tree_free(test);
	return NULL;
}

static bool is_text(enum iot_filter_field field)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].field == field)
			return fields[i].is_text;
	return false;
}

/* The operator of a test. */
static bool code_parse(struct parser *parser, struct node *test, bool *is_set)
{
	struct words *words = &parser->words;
	bool is_equality;
	size_t i;

	*is_set = words->kind == WORD_NAME && !strcmp(words->value, "in");
	if (*is_set) {
		test->code = is_text(test->field) ? IOT_FILTER_TEXT : IOT_FILTER_EQ;
		return true;
	}
	for (i = 0; i < ARRAY_SIZE(comparisons); i++) {
		if (!words_is(words, comparisons[i].sign))
			continue;
		test->code = comparisons[i].code;
		is_equality = test->code == IOT_FILTER_EQ || test->code == IOT_FILTER_NE;
		if (is_text(test->field) ? is_equality || test->code == IOT_FILTER_GLOB :
		    test->field == IOT_FILTER_op || test->field == IOT_FILTER_tree ? is_equality :
		    test->code != IOT_FILTER_GLOB)
			return true;
		filter_fail(parser->error, words->at, "'%s' does not fit this field", words->value);
		return false;
	}
	fail_at_word(parser, "an operator");
	return false;
}

/* A test with one value. @is_class: the field is class. */
static struct node *value_parse(struct parser *parser, const struct node *like, bool is_class)
{
	struct node *test = node_new(parser, NODE_TEST, NULL, NULL);

	if (!test)
		return NULL;
	test->field = like->field;
	test->at = like->at;
	test->code = is_class ? IOT_FILTER_TEXT : like->code;
	if (value_read(&parser->words, test, parser->error)) {
		filter_tree_free(test);
		return NULL;
	}
	words_next(&parser->words);
	test->code = like->field == IOT_FILTER_op ? IOT_FILTER_IN : like->code;
	return test;
}

/* Values are combined to one set where that is possible, and else by OR. */
static struct node *add_value(struct parser *parser, struct node *tests, struct node *test)
{
	size_t i;

	if (!tests)
		return test;
	if (test->field != IOT_FILTER_op)
		return node_new(parser, NODE_OR, tests, test);
	for (i = 0; i < IOT_FILTER_SET_BYTES; i++)
		tests->set[i] |= test->set[i];
	filter_tree_free(test);
	return tests;
}

static struct node *set_parse(struct parser *parser, const struct node *like, bool is_class)
{
	struct node *tests = NULL, *test;

	words_next(&parser->words);
	if (!expect(parser, "{"))
		return NULL;
	for (;;) {
		test = value_parse(parser, like, is_class);
		if (!test)
			break;
		tests = add_value(parser, tests, test);
		if (!tests)
			return NULL;
		if (words_is(&parser->words, ",")) {
			words_next(&parser->words);
			continue;
		}
		if (words_is(&parser->words, "}")) {
			words_next(&parser->words);
			return tests;
		}
		fail_at_word(parser, "',' or '}'");
		break;
	}
	filter_tree_free(tests);
	return NULL;
}

/*
 * Of a text and of an operation "not equal" is the opposite of "equal"; an operation without the field is not equal
 * to anything, and "!=" is false for it as for numbers. So a text must be there: it matches "**".
 */
static struct node *unequal(struct parser *parser, struct node *test)
{
	struct node *node = node_new(parser, NODE_NOT, test, NULL), *any;

	if (!node || test->field == IOT_FILTER_op || test->field == IOT_FILTER_tree)
		return node;
	any = node_new(parser, NODE_TEST, NULL, NULL);
	if (!any) {
		filter_tree_free(node);
		return NULL;
	}
	any->field = test->field;
	any->code = IOT_FILTER_GLOB;
	any->bytes = (size_t)snprintf(any->text, sizeof(any->text), "%s", "**");
	return node_new(parser, NODE_AND, any, node);
}

static struct node *comparison_parse(struct parser *parser, enum iot_filter_field field, bool is_class)
{
	struct node like = { .field = field, .at = parser->words.at }, *test;
	bool is_set, is_unequal;

	words_next(&parser->words);
	if (!code_parse(parser, &like, &is_set))
		return NULL;
	if (is_set)
		return set_parse(parser, &like, is_class);
	is_unequal = like.code == IOT_FILTER_NE && (is_text(field) || field == IOT_FILTER_op || field == IOT_FILTER_tree);
	if (is_text(field) && like.code != IOT_FILTER_GLOB)
		like.code = IOT_FILTER_TEXT;
	else if (is_unequal)
		like.code = IOT_FILTER_EQ;
	words_next(&parser->words);
	test = value_parse(parser, &like, is_class);
	return test && is_unequal ? unequal(parser, test) : test;
}

static struct node *test_parse(struct parser *parser)
{
	const struct words *words = &parser->words;
	size_t i;

	if (words->kind != WORD_NAME)
		return fail_at_word(parser, "a field");
	if (!strcmp(words->value, "every") || !strcmp(words->value, "share"))
		return sample_parse(parser, words->value[0] == 's');
	if (!strcmp(words->value, "class"))
		return comparison_parse(parser, IOT_FILTER_op, true);
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (!strcmp(words->value, fields[i].name) && fields[i].field != IOT_FILTER_nth)
			return comparison_parse(parser, fields[i].field, false);
	filter_fail(parser->error, words->at, "unknown field '%s'", words->value);
	return NULL;
}

static struct node *not_parse(struct parser *parser)
{
	struct node *node = NULL;

	if (parser->depth == DEPTH_MAX) {
		filter_fail(parser->error, parser->words.at, "nested too deeply");
		return NULL;
	}
	parser->depth++;
	if (words_is(&parser->words, "!")) {
		words_next(&parser->words);
		node = not_parse(parser);
		node = node ? node_new(parser, NODE_NOT, node, NULL) : NULL;
	} else if (words_is(&parser->words, "(")) {
		words_next(&parser->words);
		node = or_parse(parser);
		if (node && !expect(parser, ")")) {
			filter_tree_free(node);
			node = NULL;
		}
	} else {
		node = test_parse(parser);
	}
	parser->depth--;
	return node;
}

static struct node *chain_parse(struct parser *parser, enum node_kind kind)
{
	const char *sign = kind == NODE_AND ? "&&" : "||";
	struct node *left = kind == NODE_AND ? not_parse(parser) : chain_parse(parser, NODE_AND), *right;

	while (left && words_is(&parser->words, sign)) {
		words_next(&parser->words);
		right = kind == NODE_AND ? not_parse(parser) : chain_parse(parser, NODE_AND);
		if (!right) {
			filter_tree_free(left);
			return NULL;
		}
		left = node_new(parser, kind, left, right);
	}
	return left;
}

static struct node *or_parse(struct parser *parser)
{
	return chain_parse(parser, NODE_OR);
}

/**
 * filter_parse() - parse an expression
 * @expression: text
 * @tree: out: for filter_tree_free()
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int filter_parse(const char *expression, struct node **tree, struct filter_error *error)
{
	struct parser parser = { .error = error };

	words_open(&parser.words, expression);
	*tree = or_parse(&parser);
	if (!*tree)
		return -EINVAL;
	if (parser.words.kind == WORD_END)
		return 0;
	fail_at_word(&parser, "'&&' or '||'");
	filter_tree_free(*tree);
	*tree = NULL;
	return -EINVAL;
}
