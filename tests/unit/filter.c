// SPDX-License-Identifier: GPL-2.0-only
/*
 * filter.c - filter expressions: refusals and their position, patterns, and programs against evaluation of the tree.
 */
#include "filter/filter.h"

#include <stdlib.h>

#include "filter/tree.h"
#include "suite.h"

static u64 random_u64(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* -- refusals ------------------------------------------------------------------------------------ */

static const struct {
	const char *expression;
	size_t at;
	const char *why;
} refusals[] = {
	{ "", 0, "a field is missing at the end" },
	{ "uidd == 3", 0, "unknown field 'uidd'" },
	{ "nth == 3", 0, "unknown field 'nth'" },
	{ "uid = 3", 4, "an operator expected before '='" },
	{ "uid ~ 3", 4, "'~' does not fit this field" },
	{ "tree < 3", 5, "'<' does not fit this field" },
	{ "path < 3", 5, "'<' does not fit this field" },
	{ "size >= 4q", 9, "unknown unit 'q'" },
	{ "size >= 99999999999999999999", 8, "'99999999999999999999' is too large" },
	{ "size >= 17179869184g", 8, "'17179869184g' is too large" },
	{ "size >= -1", 8, "'-1' is not a number" },
	{ "duration > 5", 12, "a unit is required" },
	{ "op == raed", 6, "unknown operation 'raed'" },
	{ "op == submit", 6, "unknown operation 'submit'" },
	{ "op in {read, write", 18, "',' or '}' is missing at the end" },
	{ "op in read", 6, "'{' expected before 'read'" },
	{ "class == data,sync", 13, "'&&' or '||' expected before ','" },
	{ "class in {data, dta}", 16, "unknown class 'dta': metadata, data, mapping, sync or lock" },
	{ "uid == 3 &&", 11, "a field is missing at the end" },
	{ "uid == 3 uid == 4", 9, "'&&' or '||' expected before 'uid'" },
	{ "(uid == 3", 9, "')' is missing at the end" },
	{ "uid == nobody-of-that-name", 7, "unknown user 'nobody-of-that-name'" },
	{ "path ~ \"abc", 7, "a string has no end, or is too long" },
	{ "time < 25:00", 7, "'25:00' is not a time of day such as 07:30" },
	{ "every(0)", 6, "every(0) selects nothing" },
	{ "share(5)", 6, "a share in percent, such as 5%, expected before '5'" },
	{ "share(101%)", 6, "a share is from 1% to 100%" },
	{ "uid == 1 $", 9, "'&&' or '||' expected before '$'" },
};

static void invalid_expression_is_refused_at_its_position(void **state)
{
	struct filter_error error;
	struct filter *filter;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		int err = filter_compile(refusals[i].expression, &filter, &error);

		assert_row(refusals[i].expression, err == -EINVAL && !filter);
		assert_string_equal(error.why, refusals[i].why);
		if (error.at != refusals[i].at)
			fail_msg("%s: at %zu", refusals[i].expression, error.at);
	}
}

static void deep_or_long_expressions_are_refused(void **state)
{
	struct filter_error error;
	struct filter *filter;
	char text[4096] = "";
	int i;

	(void)state;
	for (i = 0; i < 40; i++)
		strcat(text, "uid == 1 && (");
	strcat(text, "uid == 1");
	for (i = 0; i < 40; i++)
		strcat(text, ")");
	assert_int_equal(filter_compile(text, &filter, &error), -EINVAL);
	assert_string_equal(error.why, "nested too deeply");
	memset(text, '(', 200);
	text[200] = 0;
	assert_int_equal(filter_compile(text, &filter, &error), -EINVAL);
	assert_string_equal(error.why, "nested too deeply");
	strcpy(text, "uid == 1");
	for (i = 0; i < 100; i++)
		strcat(text, " || uid == 1");
	assert_int_equal(filter_compile(text, &filter, &error), -EINVAL);
	assert_string_equal(error.why, "the expression is too long");
	strcpy(text, "path == 1");
	for (i = 0; i < IOT_FILTER_PATHS_MAX; i++)
		strcat(text, " || ext == 1");
	assert_int_equal(filter_compile(text, &filter, &error), -EINVAL);
	assert_string_equal(error.why, "more than 16 tests of paths");
}

/* -- patterns ------------------------------------------------------------------------------------ */

static const struct {
	const char *pattern;
	const char *text;
	bool is_match;
} globs[] = {
	{ "", "", true },
	{ "", "a", false },
	{ "*", "", true },
	{ "*", "abc", true },
	{ "*", "a/b", false },
	{ "**", "a/b/", true },
	{ "a*c", "abbbc", true },
	{ "a*c", "abbbcd", false },
	{ "a?c", "abc", true },
	{ "a?c", "a/c", false },
	{ "/scratch/run*/**", "/scratch/run1/a/b", true },
	{ "/scratch/run*/**", "/scratch/run1/", true },
	{ "/scratch/run*/**", "/scratch/run1", false },
	{ "/scratch/run*/**", "/scratch/a/run1/b", false },
	{ "**/b", "b", true },
	{ "**/b", "a/x/b", true },
	{ "**/b", "ab", false },
	{ "a/**/b", "a/b", true },
	{ "a/**/b", "a/x/y/b", true },
	{ "a/**/b", "ab", false },
	{ "a**/b", "axx/b", true },
	{ "[a-c]x", "bx", true },
	{ "[!a-c]x", "bx", false },
	{ "[!a-c]x", "dx", true },
	{ "[!a]b", "/b", false },
	{ "[]]", "]", true },
	{ "[a", "[a", true },
	{ "\\*", "*", true },
	{ "\\*", "a", false },
	{ "a\\", "a\\", true },
	{ "***", "a/b", true },
	{ "*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },
};

static void patterns_match(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(globs); i++)
		if (iot_glob_match(globs[i].pattern, (u32)strlen(globs[i].pattern), globs[i].text,
				   (u32)strlen(globs[i].text)) != globs[i].is_match)
			fail_msg("%s: %s", globs[i].pattern, globs[i].text);
}

/* A reference by recursion, without sets and escapes. */
static bool glob_by_recursion(const char *begin, const char *p, const char *start, const char *text)
{
	if (!*p)
		return !*text;
	if (p[0] == '*' && p[1] == '*') {
		if (p[2] == '/' && (p == begin || p[-1] == '/') &&
		    (text == start || text[-1] == '/') && glob_by_recursion(begin, p + 3, start, text))
			return true;
		return glob_by_recursion(begin, p + 2, start, text) || (*text && glob_by_recursion(begin, p, start, text + 1));
	}
	if (*p == '*')
		return glob_by_recursion(begin, p + 1, start, text) || (*text && *text != '/' && glob_by_recursion(begin, p, start, text + 1));
	if (!*text || (*p == '?' ? *text == '/' : *p != *text))
		return false;
	return glob_by_recursion(begin, p + 1, start, text + 1);
}

static bool glob_reference(const char *pattern, const char *text)
{
	return glob_by_recursion(pattern, pattern, text, text);
}

static void patterns_match_like_the_recursive_matcher(void **state)
{
	static const char letters[] = "ab/*?";
	u64 seed = 1;
	int i, j;

	(void)state;
	for (i = 0; i < 100000; i++) {
		char pattern[8] = "", text[8] = "";

		for (j = (int)(random_u64(&seed) % sizeof(pattern)) - 1; j >= 0; j--)
			pattern[j] = letters[random_u64(&seed) % 5];
		if (strstr(pattern, "***"))
			continue;
		for (j = (int)(random_u64(&seed) % sizeof(text)) - 1; j >= 0; j--)
			text[j] = letters[random_u64(&seed) % 3];
		if (iot_glob_match(pattern, (u32)strlen(pattern), text, (u32)strlen(text)) !=
		    glob_reference(pattern, text))
			fail_msg("'%s' '%s'", pattern, text);
	}
}

/* -- programs ------------------------------------------------------------------------------------ */

static const struct {
	u64 number[IOT_FILTER_FIELD_END];
	const char *path;
	const char *comm;
} values[] = {
	{ { [IOT_FILTER_uid] = 1000, [IOT_FILTER_size] = 4096, [IOT_FILTER_op] = IOT_KIND_read,
	    [IOT_FILTER_result] = 4096, [IOT_FILTER_duration] = 5000 }, "run1/a.h5", "app" },
	{ { [IOT_FILTER_uid] = 0, [IOT_FILTER_size] = 1, [IOT_FILTER_op] = IOT_KIND_write,
	    [IOT_FILTER_result] = (u64)-5, [IOT_FILTER_duration] = 1, [IOT_FILTER_nth] = 3 }, "x/.hidden", "sh" },
	{ { [IOT_FILTER_uid] = 7, [IOT_FILTER_offset] = (u64)-1, [IOT_FILTER_op] = IOT_KIND_open,
	    [IOT_FILTER_nth] = 20, [IOT_FILTER_share] = 5000 }, "", "a" },
};

/* The operation under test: one of the rows, with some fields absent and some not yet known. */
struct situation {
	struct iot_filter_subject subject;
	size_t row;
	u32 without;
};

static bool load(struct iot_filter_subject *subject, const struct iot_filter_head *program, enum iot_filter_field field)
{
	struct situation *s = (void *)subject;
	char path[64];
	int bytes;

	if (s->without & IOT_FILTER_BIT(field))
		return false;
	subject->number[field] = values[s->row].number[field];
	bytes = snprintf(path, sizeof(path), "/scratch/%s", values[s->row].path);
	if (field == IOT_FILTER_path)
		subject->number[field] = iot_filter_paths(program, path, 9, path + 9, (u32)bytes - 9);
	subject->text = field == IOT_FILTER_comm ? values[s->row].comm : "/slurm/job_7";
	subject->bytes = (u32)strlen(subject->text);
	return true;
}

static bool is_in_tree(struct iot_filter_subject *subject, u64 pid)
{
	(void)subject;
	return pid % 2;
}

static bool text_reference(const struct node *node, const char *text)
{
	if (node->code == IOT_FILTER_TEXT)
		return !strcmp(node->text, text);
	return glob_reference(node->text, text);
}

static bool path_reference(const struct node *node, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
	char whole[64];

	if (node->field == IOT_FILTER_ext)
		return dot && dot != name && text_reference(node, dot + 1);
	snprintf(whole, sizeof(whole), "/scratch%s%s", *path ? "/" : "", path);
	return text_reference(node, node->text[0] == '/' ? whole : path);
}

static bool number_reference(const struct node *node, u64 value)
{
	bool is_signed = node->field == IOT_FILTER_offset || node->field == IOT_FILTER_result;
	__int128 is = is_signed ? (__int128)(s64)value : (__int128)value;
	__int128 than = is_signed ? (__int128)(s64)node->value : (__int128)node->value;

	switch (node->code) {
	case IOT_FILTER_EQ: return is == than;
	case IOT_FILTER_NE: return is != than;
	case IOT_FILTER_LT: return is < than;
	case IOT_FILTER_LE: return is <= than;
	case IOT_FILTER_GT: return is > than;
	case IOT_FILTER_GE: return is >= than;
	case IOT_FILTER_MULTIPLE: return is % than == 0;
	default: return node->set[value / 8] >> value % 8 & 1;
	}
}

/* Evaluates the tree with Kleene's three-valued logic. */
static int reference(const struct node *node, const struct situation *s)
{
	enum iot_filter_field field = node->field == IOT_FILTER_ext ? IOT_FILTER_path : node->field;
	int left, right;

	if (node->kind == NODE_TEST) {
		if (s->subject.later & IOT_FILTER_BIT(field))
			return IOT_LATER;
		if (field == IOT_FILTER_tree)
			return node->value % 2 ? IOT_YES : IOT_NO;
		if (s->without & IOT_FILTER_BIT(field))
			return IOT_NO;
		if (field == IOT_FILTER_path)
			return path_reference(node, values[s->row].path) ? IOT_YES : IOT_NO;
		if (field == IOT_FILTER_comm)
			return text_reference(node, values[s->row].comm) ? IOT_YES : IOT_NO;
		if (field == IOT_FILTER_cgroup)
			return text_reference(node, "/slurm/job_7") ? IOT_YES : IOT_NO;
		return number_reference(node, values[s->row].number[field]) ? IOT_YES : IOT_NO;
	}
	left = reference(node->left, s);
	if (node->kind == NODE_NOT)
		return IOT_YES - left;
	right = reference(node->right, s);
	return (left < right) == (node->kind == NODE_AND) ? left : right;
}

/* Like the decision of the recorder at the gate. */
static enum iot_truth follow(const struct iot_filter_graph *graph, const struct iot_filter_head *program,
			     struct situation *s)
{
	const struct iot_filter_step *steps = iot_filter_steps(program);
	u32 at = 0, visited = 0;

	while (at < IOT_FILTER_NODES_MAX) {
		const struct iot_filter_node *node = &graph->nodes[at];

		assert_true(at < graph->count && visited++ < IOT_FILTER_NODES_MAX);
		assert_true(node->code == steps[node->at].code && node->field == steps[node->at].field);
		at = node->next[iot_filter_test(program, &steps[node->at], &s->subject) == IOT_YES];
	}
	return at == IOT_FILTER_ADMIT ? IOT_YES : IOT_NO;
}

static const char *const tests[] = {
	"uid == 1000", "uid != 1000", "uid in {0, 7, 9}", "size >= 4k", "size < 4k", "size != 1", "offset < 0",
	"offset >= 0", "op in {read, write}", "op != open", "class == metadata", "class in {data, sync}", "result < 0",
	"result == -EIO", "result <= 4096", "duration > 1us", "duration <= 5us", "path ~ \"/scratch/run*/**\"",
	"path == \"run1/a.h5\"", "path != \"run1/a.h5\"", "ext == h5", "ext != \"hidden\"", "comm in {app, sh}",
	"comm ~ \"*p\"", "cgroup == \"/slurm/job_7\"", "cgroup ~ \"/slurm/**\"", "tree == 3", "tree != 3", "every(10)",
	"share(50%)", "share(51%)", "path ~ \"**\"", "path == \"/scratch\"",
};

static void expression_random(char *text, int depth, u64 *seed)
{
	u64 what = depth ? random_u64(seed) % 5 : 0;

	if (what < 2) {
		strcat(text, tests[random_u64(seed) % ARRAY_SIZE(tests)]);
		return;
	}
	strcat(text, what == 2 ? "!(" : "(");
	expression_random(text, depth - 1, seed);
	if (what > 2) {
		strcat(text, what == 3 ? ") && (" : ") || (");
		expression_random(text, depth - 1, seed);
	}
	strcat(text, ")");
}

static void filter_programs_evaluate_like_the_tree(void **state)
{
	u64 seed = 1;
	int i, j, compiled = 0;

	(void)state;
	for (i = 0; i < 20000; i++) {
		struct iot_filter_graph graph;
		struct filter_error error;
		struct filter *filter;
		char text[4096] = "";

		expression_random(text, 4, &seed);
		if (filter_compile(text, &filter, &error)) {
			assert_string_equal(error.why, "more than 16 tests of paths");
			continue;
		}
		compiled++;
		iot_filter_graph_make(&graph, filter->program);
		assert_row(text, graph.count);
		for (j = 0; j < 8; j++) {
			struct situation s = { .subject.load = load, .subject.is_in_tree = is_in_tree };

			s.row = random_u64(&seed) % ARRAY_SIZE(values);
			s.without = (u32)(random_u64(&seed) & random_u64(&seed));
			s.subject.later = (u32)(random_u64(&seed) & random_u64(&seed) & random_u64(&seed));
			if ((int)iot_filter_run(filter->program, &s.subject) != reference(filter->tree, &s))
				fail_msg("%s: row %zu without %x later %x", text, s.row, s.without, s.subject.later);
			if (s.subject.later)
				continue;
			s.subject.loaded = s.subject.absent = 0;
			if ((int)follow(&graph, filter->program, &s) != reference(filter->tree, &s))
				fail_msg("%s: row %zu without %x: the graph", text, s.row, s.without);
		}
		filter_free(filter);
	}
	assert_true(compiled > 15000);
}

static void filters_without_opens_are_detected(void **state)
{
	static const struct {
		const char *expression;
		bool is_admitted;
	} rows[] = {
		{ "op == read", false },
		{ "class == data", false },
		{ "class in {metadata, data}", true },
		{ "uid == 1000", true },
		{ "uid == 1000 && size >= 4k", false },
		{ "size >= 4k || path ~ \"**\"", true },
		{ "path ~ \"/scratch/**\"", true },
		{ "!(op == read)", true },
		{ "duration > 1ms", true },
	};
	struct filter_error error;
	struct filter *filter;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(filter_compile(rows[i].expression, &filter, &error), 0);
		assert_row(rows[i].expression, filter_admits_metadata(filter) == rows[i].is_admitted);
		filter_free(filter);
	}
}

static void expression_is_stored_as_one_line(void **state)
{
	struct filter_error error;
	struct filter *filter;

	(void)state;
	assert_int_equal(filter_compile("# who\nuid == 3 # me\n\t&& path ~ \"a # \\\" b\"\n", &filter, &error), 0);
	assert_string_equal(filter_text(filter), "uid == 3 && path ~ \"a # \\\" b\"");
	filter_free(filter);
}

SUITE("filter",
      TEST(invalid_expression_is_refused_at_its_position)
      TEST(deep_or_long_expressions_are_refused)
      TEST(patterns_match)
      TEST(patterns_match_like_the_recursive_matcher)
      TEST(filter_programs_evaluate_like_the_tree)
      TEST(filters_without_opens_are_detected)
      TEST(expression_is_stored_as_one_line))
