// SPDX-License-Identifier: GPL-2.0-only
/*
 * xml_import.c - a workload in XML becomes the program that its text would become. Each value is read as in the text.
 */
#include "language_statement.h"

#ifdef IOTAPE_HAS_LIBXML2
#include <stdarg.h>

#include "xml.h"

/* -- values ------------------------------------------------------------------------------------------------ */

/* Return: the index of the source, from 1. */
static u32 add_source(struct xml_import *x, const xmlNode *node, const char *attribute)
{
	struct xml_source *sources;
	u32 room = x->source_room ? 2 * x->source_room : 64;

	if (x->source_count == x->source_room) {
		sources = reallocarray(x->sources, room, sizeof(*sources));
		if (!sources) {
			x->r->is_failed = x->r->is_out_of_memory = true;
			return 1;
		}
		x->sources = sources;
		x->source_room = room;
	}
	x->sources[x->source_count++] = (struct xml_source){ (const char *)node->name, attribute, xmlGetLineNo(node) };
	return x->source_count;
}

/**
 * xml_fail() - state an error in an element; only the first one counts
 * @attribute: or NULL
 */
void xml_fail(struct xml_import *x, xmlNode *node, const char *attribute, const char *format, ...)
{
	struct language_place place = { add_source(x, node, attribute), 0 };
	va_list arguments;
	char text[400];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	reader_fail(x->r, place, "%s", text);
}

/**
 * xml_attribute() - the value of an attribute
 *
 * Return: a copy that lives as long as the program; NULL if there is none, or memory is exhausted: then the reader has failed.
 */
const char *xml_attribute(struct xml_import *x, xmlNode *node, const char *name)
{
	xmlChar *value = xmlGetNoNsProp(node, (const xmlChar *)name);
	size_t bytes = value ? strlen((char *)value) + 1 : 0;
	char *copy = value ? reader_allocate(x->r, bytes) : NULL;

	if (copy)
		memcpy(copy, value, bytes);
	xmlFree(value);
	return copy;
}

/**
 * xml_open() - begin to read a value
 * @node: its element
 * @attribute: its attribute, or NULL
 * @text: lives as long as the program
 */
void xml_open(struct xml_import *x, xmlNode *node, const char *attribute, const char *text)
{
	if (strpbrk(text, "#\n;"))
		xml_fail(x, node, attribute, "the value has a comment or more than one line");
	if (!x->r->is_failed)
		reader_open_at(x->r, text, strlen(text), add_source(x, node, attribute));
}

/**
 * xml_open_text() - begin to read a value that is a text in quotes in the language
 */
void xml_open_text(struct xml_import *x, xmlNode *node, const char *attribute, const char *text)
{
	struct reader *r = x->r;

	if (strchr(text, '\n'))
		xml_fail(x, node, attribute, "the text has more than one line; in a name, write \\012");
	if (r->is_failed)
		return;
	r->line = add_source(x, node, attribute);
	r->line_begin = text;
	r->token = (struct token){ TOKEN_TEXT, text, strlen(text), { r->line, 0 } };
	r->at = r->end = text + r->token.bytes;
}

/**
 * xml_close() - check that a value was read to its end
 */
void xml_close(struct xml_import *x)
{
	if (!x->r->is_failed && x->r->token.type != TOKEN_END)
		reader_fail_at_token(x->r, "the end of the value");
}

static struct language_expression *read_expression(struct xml_import *x, xmlNode *node, const char *attribute)
{
	const char *text = xml_attribute(x, node, attribute);
	struct language_expression *e;

	if (!text)
		return NULL;
	xml_open(x, node, attribute, text);
	e = x->r->is_failed ? NULL : language_read_expression(x->r);
	xml_close(x);
	return e;
}

/**
 * xml_constant() - an attribute that is a number, or a variable
 * @otherwise: without the attribute
 */
u64 xml_constant(struct xml_import *x, xmlNode *node, const char *attribute, u64 otherwise)
{
	struct language_expression *e = read_expression(x, node, attribute);

	if (e && e->term != TERM_NUMBER)
		xml_fail(x, node, attribute, "expected a number or the name of a variable");
	return e && e->term == TERM_NUMBER ? e->number : otherwise;
}

/* -- operations -------------------------------------------------------------------------------------------- */

/* Attributes of an element that are not those of its operation in the text. Return: false if it is another one. */
static bool read_own_attribute(struct xml_import *x, xmlNode *node, struct language_operation *o, const char *name)
{
	static const char *const own[] = { "pool", "index", "position", "synchronization", "coordination", "datatype", "count" };
	bool is_mpi = iot_kind_info(o->kind)->group == IOT_GROUP_mpi;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(own); i++)
		if (!strcmp(name, own[i]))
			return true;
	if (!strcmp(name, "implied") || !strcmp(name, "nameless")) {
		o->flags |= *name == 'i' ? EVENT_IMPLIED : EVENT_NAMELESS;
		return true;
	}
	if (strcmp(name, "path") && strcmp(name, "path2"))
		return false;
	xml_open_text(x, node, name, xml_attribute(x, node, name) ?: "");
	if (!x->r->is_failed)
		language_read_name(x->r, o, name[4] || (is_mpi && !xmlHasProp(node, (const xmlChar *)"path2")));
	return true;
}

static void read_attribute(struct xml_import *x, xmlNode *node, struct language_operation *o, const char *name)
{
	const char *value;

	if (read_own_attribute(x, node, o, name))
		return;
	value = xml_attribute(x, node, name);
	if (!value)
		return;
	if (!strcmp(name, "value") || !strcmp(name, "site"))
		xml_open_text(x, node, name, value);
	else
		xml_open(x, node, name, value);
	if (x->r->is_failed)
		return;
	if (!strcmp(name, "result"))
		language_read_result(x->r, o);
	else if (!language_read_value(x->r, o, name))
		xml_fail(x, node, name, "%s has no such attribute", iot_kind_info(o->kind)->name);
	xml_close(x);
}

static struct language_operation *read_operation(struct xml_import *x, xmlNode *node)
{
	struct language_operation *o;
	xmlAttr *attribute;

	if (!strcmp((const char *)node->name, "mpi_read") || !strcmp((const char *)node->name, "mpi_write")) {
		o = xml_read_transfer(x, node);
	} else {
		xml_open(x, node, NULL, (const char *)node->name);
		o = x->r->is_failed ? NULL : language_begin_operation(x->r, 0);
	}
	for (attribute = node->properties; attribute && o && !x->r->is_failed; attribute = attribute->next)
		read_attribute(x, node, o, (const char *)attribute->name);
	if (o && !x->r->is_failed)
		xml_use_pool(x, node, o);
	return o;
}

/* -- structure ---------------------------------------------------------------------------------------------- */

static struct language_statement *read_body(struct xml_import *x, xmlNode *node);

/* Without attributes, a series runs once. */
static void read_series(struct xml_import *x, xmlNode *node, struct language_statement *s)
{
	const char *variable = xml_attribute(x, node, "variable");
	bool is_repeated = xmlHasProp(node, (const xmlChar *)"repeat"), has_first = xmlHasProp(node, (const xmlChar *)"first"),
	     has_last = xmlHasProp(node, (const xmlChar *)"last");
	struct token token = { TOKEN_WORD, variable ? variable : "", variable ? strlen(variable) : 0, s->place };

	if (has_first != has_last || (variable && !has_first) || (is_repeated && has_first))
		xml_fail(x, node, NULL, "a series has 'repeat', or 'first', 'last' and perhaps 'variable', or none of them");
	s->first = has_first ? read_expression(x, node, "first") : language_number(x->r, 1);
	s->last = has_last ? read_expression(x, node, "last") : is_repeated ? read_expression(x, node, "repeat") : language_number(x->r, 1);
	if (!language_push_loop(x->r, s, &token))
		return;
	s->body = read_body(x, node);
	x->r->loop_count--;
}

static void read_sleep(struct xml_import *x, xmlNode *node, struct language_statement *s)
{
	xml_open(x, node, "time", xml_attribute(x, node, "time") ?: "");
	if (!x->r->is_failed)
		s->sleep_ns = reader_duration_ns(x->r);
	xml_close(x);
	x->r->program->has_times = true;
}

static struct language_statement *read_statement(struct xml_import *x, xmlNode *node)
{
	struct language_statement *s = reader_allocate(x->r, sizeof(*s));

	if (!s)
		return NULL;
	s->place = (struct language_place){ add_source(x, node, NULL), 0 };
	if (!strcmp((const char *)node->name, "series"))
		read_series(x, node, s);
	else if (!strcmp((const char *)node->name, "sleep"))
		read_sleep(x, node, s);
	else
		s->operation = read_operation(x, node);
	return s;
}

static struct language_statement *read_body(struct xml_import *x, xmlNode *node)
{
	struct language_statement *first = NULL, **next = &first;
	xmlNode *child;

	for (child = node->children; child && !x->r->is_failed; child = child->next) {
		if (child->type != XML_ELEMENT_NODE)
			continue;
		*next = read_statement(x, child);
		if (*next)
			next = &(*next)->next;
	}
	return first;
}

static void read_task(struct xml_import *x, xmlNode *node)
{
	struct language_block *block = reader_allocate(x->r, sizeof(*block));
	const char *ranks = xml_attribute(x, node, "ranks"), *tasks = xml_attribute(x, node, "tasks");

	if (!block)
		return;
	block->place = (struct language_place){ add_source(x, node, NULL), 0 };
	block->is_found = !strcmp((const char *)node->name, "found");
	x->r->program->has_found |= block->is_found;
	block->is_ranks = ranks;
	if (!block->is_found && !ranks == !tasks)
		xml_fail(x, node, NULL, "a task has either 'ranks' or 'tasks'");
	if (!block->is_found && !x->r->is_failed) {
		xml_open(x, node, ranks ? "ranks" : "tasks", ranks ? ranks : tasks);
		language_read_ranges(x->r, block);
		xml_close(x);
	}
	block->body = read_body(x, node);
	*x->next = block;
	x->next = &block->next;
}

static void read_fact(struct xml_import *x, xmlNode *root, u32 fact)
{
	if (x->r->program->is_ranks && xmlHasProp(root, (const xmlChar *)language_facts[fact]))
		xml_fail(x, root, language_facts[fact], "only tasks have properties, see 'tasks'; ranks are those of one job");
	else
		x->r->program->facts[fact] = read_expression(x, root, language_facts[fact]);
}

static void read_root(struct xml_import *x, xmlNode *root, u64 ranks)
{
	const char *size = xml_attribute(x, root, "ranks"), *tasks = xml_attribute(x, root, "tasks");
	struct language_program *program = x->r->program;
	u32 fact;

	if (!size == !tasks)
		xml_fail(x, root, NULL, "a workload has either 'ranks' or 'tasks'");
	if (x->r->is_failed)
		return;
	program->is_ranks = size;
	xml_open(x, root, size ? "ranks" : "tasks", size ? size : tasks);
	program->tasks_place = x->r->token.place;
	language_set_tasks(x->r, ranks);
	xml_close(x);
	for (fact = 0; fact < TASK_FACT_COUNT; fact++)
		read_fact(x, root, fact);
}

static void add_usual_variable(struct xml_import *x, const char *name, enum language_term term)
{
	struct language_variable *variable = reader_allocate(x->r, sizeof(*variable));

	if (!variable)
		return;
	*variable = (struct language_variable){ name, language_variable_term(x->r, term), x->r->program->variables };
	x->r->program->variables = variable;
}

static void read_part(struct xml_import *x, xmlNode *node)
{
	const char *name = (const char *)node->name;

	if (!strcmp(name, "variable"))
		xml_read_variable(x, node);
	else if (!strcmp(name, "datatype"))
		xml_read_datatype(x, node);
	else if (!strcmp(name, "pool"))
		xml_read_pool(x, node);
	else
		read_task(x, node);
}

static void read_document(struct xml_import *x, xmlDoc *document, u64 ranks)
{
	xmlNode *root = xmlDocGetRootElement(document), *node;

	x->next = &x->r->program->blocks;
	add_usual_variable(x, "RANK", TERM_RANK);
	add_usual_variable(x, "SIZE", TERM_SIZE);
	read_root(x, root, ranks);
	for (node = root->children; node && !x->r->is_failed; node = node->next)
		if (node->type == XML_ELEMENT_NODE)
			read_part(x, node);
	language_end_program(x->r);
}

/* SOURCE:COLUMN: SENTENCE becomes LINE: <ELEMENT ATTRIBUTE>: SENTENCE. */
static void locate(const struct xml_import *x, struct pattern_refusal *refusal)
{
	static const char value[] = "the end of the value", text[] = "the end of the text";
	const struct xml_source *source;
	char sentence[400], *end;
	unsigned int line, column;
	int at = 0;

	if (sscanf(refusal->text, "%u:%u: %n", &line, &column, &at) != 2 || !at || !line || line > x->source_count)
		return;
	snprintf(sentence, sizeof(sentence), "%s", refusal->text + at);
	end = strstr(sentence, text);
	source = &x->sources[line - 1];
	snprintf(refusal->text, sizeof(refusal->text), "%ld: <%.40s%s%.40s>: %.*s%s", source->line, source->element,
		 source->attribute ? " " : "", source->attribute ? source->attribute : "",
		 end ? (int)(end - sentence) : (int)strlen(sentence), sentence, end ? value : "");
}

static int read_program(struct xml_import *x, xmlDoc *document, u64 ranks, u64 operations_max, struct pattern **pattern)
{
	int err;

	read_document(x, document, ranks);
	if (x->r->is_failed)
		err = x->r->is_out_of_memory ? -ENOMEM : -EOPNOTSUPP;
	else
		err = language_run(x->r->program, x->r, operations_max, pattern);
	if (err == -EOPNOTSUPP)
		locate(x, x->r->refusal);
	return err;
}

/**
 * pattern_parse_xml() - the pattern of a workload in XML
 * @text, @bytes: as from pattern_print_xml(), or written by hand; nothing in it is trusted
 * @ranks, @operations_max, @pattern: as for pattern_parse()
 * @refusal: out: LINE: and a sentence, if the error is -EOPNOTSUPP
 *
 * Return: 0, -EOPNOTSUPP if the document is wrong, -EFBIG if it is longer than 32 MiB, -ENOMEM.
 */
int pattern_parse_xml(const char *text, size_t bytes, u64 ranks, u64 operations_max, struct pattern **pattern,
		      struct pattern_refusal *refusal)
{
	struct xml_import x = {};
	struct language_program *program = NULL;
	bool is_out_of_memory;
	xmlDoc *document;
	int err = -ENOMEM;

	if (bytes > PATTERN_TEXT_MAX)
		return -EFBIG;
	document = xml_read_document(text, bytes, refusal, &is_out_of_memory);
	if (!document)
		return is_out_of_memory ? -ENOMEM : -EOPNOTSUPP;
	program = calloc(1, sizeof(*program));
	x.r = calloc(1, sizeof(*x.r));
	if (program && x.r) {
		x.r->program = program;
		x.r->refusal = refusal;
		err = read_program(&x, document, ranks, operations_max, pattern);
	}
	language_free_program(program);
	free(x.r);
	free(x.sources);
	xmlFreeDoc(document);
	return err;
}
#else
int pattern_parse_xml(const char *text, size_t bytes, u64 ranks, u64 operations_max, struct pattern **pattern,
		      struct pattern_refusal *refusal)
{
	(void)text, (void)bytes, (void)ranks, (void)operations_max, (void)pattern;
	snprintf(refusal->text, sizeof(refusal->text), " XML cannot be read: iotape was built without libxml2 (Debian: libxml2-dev)");
	return -EOPNOTSUPP;
}
#endif
