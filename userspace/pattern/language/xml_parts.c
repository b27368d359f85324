// SPDX-License-Identifier: GPL-2.0-only
/*
 * xml_parts.c - the parts that only a workload in XML has, not the text: variables of the environment, pools of files, sizes
 * of datatypes, and transfers of MPI files by their properties. All become operations and expressions of the text.
 */
#ifdef IOTAPE_HAS_LIBXML2
#include <stdarg.h>

#include "xml.h"

/* A text that lives as long as the program. */
static const char *make_text(struct xml_import *x, const char *format, ...) __attribute__((format(printf, 2, 3)));

static const char *make_text(struct xml_import *x, const char *format, ...)
{
	va_list arguments, again;
	char *text;
	int bytes;

	va_start(arguments, format);
	va_copy(again, arguments);
	bytes = vsnprintf(NULL, 0, format, arguments);
	text = bytes < 0 ? NULL : reader_allocate(x->r, (size_t)bytes + 1);
	if (text)
		vsnprintf(text, (size_t)bytes + 1, format, again);
	va_end(again);
	va_end(arguments);
	return text ? text : "";
}

/* An expression that becomes a part of another text. */
static const char *checked_expression(struct xml_import *x, xmlNode *node, const char *attribute)
{
	const char *text = xml_attribute(x, node, attribute);

	if (!text) {
		xml_fail(x, node, NULL, "'%s' is missing", attribute);
		return "";
	}
	xml_open(x, node, attribute, text);
	if (!x->r->is_failed)
		language_read_expression(x->r);
	xml_close(x);
	return text;
}

/* -- variables ---------------------------------------------------------------------------------------------- */

/* The value in the environment must be a number. */
static bool read_environment(struct xml_import *x, xmlNode *node, const char *name, u64 *value)
{
	const char *text = getenv(name);
	struct pattern_refusal unused;
	struct reader inner = { .program = x->r->program, .refusal = &unused };

	if (!text)
		return false;
	reader_open(&inner, text, strlen(text));
	if (!reader_number(&inner, value) || inner.token.type != TOKEN_END)
		xml_fail(x, node, "name", "the environment variable %.100s is not a number below 2^64", name);
	return true;
}

/**
 * xml_read_variable() - a variable of the environment
 */
void xml_read_variable(struct xml_import *x, xmlNode *node)
{
	const char *name = xml_attribute(x, node, "name");
	struct language_variable *variable = reader_allocate(x->r, sizeof(*variable));
	u64 value = 0;

	if (!name || !variable)
		return;
	if (!read_environment(x, node, name, &value)) {
		if (!xmlHasProp(node, (const xmlChar *)"default"))
			xml_fail(x, node, "name", "the environment has no variable %.100s, and it has no default", name);
		value = xml_constant(x, node, "default", 0);
	}
	*variable = (struct language_variable){ name, language_number(x->r, value), x->r->program->variables };
	x->r->program->variables = variable;
}

/* -- datatypes ---------------------------------------------------------------------------------------------- */

static const struct xml_datatype *find_datatype(const struct xml_import *x, const char *name)
{
	const struct xml_datatype *type;

	for (type = x->datatypes; type && strcmp(type->name, name); type = type->next)
		;
	return type;
}

/**
 * xml_read_datatype() - the number of bytes of a derived datatype
 */
void xml_read_datatype(struct xml_import *x, xmlNode *node)
{
	struct xml_datatype *type = reader_allocate(x->r, sizeof(*type));
	const char *of = xml_attribute(x, node, "of");
	const struct xml_datatype *element = of ? find_datatype(x, of) : NULL;
	u64 count = xml_constant(x, node, "count", 1), block = xml_constant(x, node, "block", 1), bytes;

	if (!type || x->r->is_failed)
		return;
	bytes = element ? element->bytes : xml_constant(x, node, "of", 1);
	if (xml_constant(x, node, "stride", block) < block)
		xml_fail(x, node, "stride", "the blocks of a datatype overlap");
	if (__builtin_mul_overflow(count, block, &count) || __builtin_mul_overflow(count, bytes, &bytes) || bytes >> 62)
		xml_fail(x, node, NULL, "the datatype has more than 2^62 bytes");
	*type = (struct xml_datatype){ xml_attribute(x, node, "name"), bytes, x->datatypes };
	x->datatypes = type;
}

/* -- transfers of MPI files ---------------------------------------------------------------------------------- */

static bool has_value(xmlNode *node, const char *attribute, const char *value)
{
	xmlChar *got = xmlGetNoNsProp(node, (const xmlChar *)attribute);
	bool is_same = got && !strcmp((char *)got, value);

	xmlFree(got);
	return is_same;
}

/* The name of the call of MPI. */
static const char *call_of(struct xml_import *x, xmlNode *node)
{
	bool is_collective = has_value(node, "coordination", "collective"), is_shared = has_value(node, "position", "shared"),
	     is_individual = has_value(node, "position", "individual"), is_nonblocking = has_value(node, "synchronization", "nonblocking"),
	     is_begin = has_value(node, "synchronization", "begin"), is_end = has_value(node, "synchronization", "end");

	if ((is_begin || is_end) && !is_collective)
		xml_fail(x, node, "synchronization", "only collective calls of MPI have a begin and an end");
	if (is_nonblocking && is_shared && is_collective)
		xml_fail(x, node, "synchronization", "MPI has no collective call with the shared position that does not block");
	return make_text(x, "file_%s%s%s%s%s", is_nonblocking ? "i" : "", (const char *)node->name + strlen("mpi_"),
			 is_shared || is_individual ? "" : "_at", is_shared ? is_collective ? "_ordered" : "_shared" : is_collective ? "_all" : "",
			 is_begin ? "_begin" : is_end ? "_end" : "");
}

static void set(struct xml_import *x, xmlNode *node, struct language_operation *o, const char *attribute, const char *name, const char *value)
{
	xml_open(x, node, attribute, value);
	if (!x->r->is_failed)
		language_read_value(x->r, o, name);
	xml_close(x);
}

static void set_length(struct xml_import *x, xmlNode *node, struct language_operation *o)
{
	const char *name = xml_attribute(x, node, "datatype"), *count;
	const struct xml_datatype *type = name ? find_datatype(x, name) : NULL;

	if (!name) {
		if (xmlHasProp(node, (const xmlChar *)"count"))
			xml_fail(x, node, "count", "a count requires a datatype");
		return;
	}
	if (!type)
		xml_fail(x, node, "datatype", "no datatype before has this name");
	if (xmlHasProp(node, (const xmlChar *)"length_bytes"))
		xml_fail(x, node, "length_bytes", "the length is that of the datatype");
	count = xmlHasProp(node, (const xmlChar *)"count") ? checked_expression(x, node, "count") : "1";
	if (type && !x->r->is_failed)
		set(x, node, o, "count", "length_bytes", make_text(x, "(%s) * %llu", count, (unsigned long long)type->bytes));
}

/**
 * xml_read_transfer() - a read or write of an MPI file: <mpi_read>, <mpi_write>
 *
 * Return: the operation, without the attributes that other operations have, too; NULL if the reader has failed.
 */
struct language_operation *xml_read_transfer(struct xml_import *x, xmlNode *node)
{
	struct language_operation *o;
	bool has_position = !has_value(node, "position", "shared") && !has_value(node, "position", "individual") &&
			    !has_value(node, "synchronization", "end");
	const char *call = call_of(x, node);

	xml_open(x, node, NULL, "mpi_file");
	o = x->r->is_failed ? NULL : language_begin_operation(x->r, 0);
	if (!o)
		return NULL;
	set(x, node, o, NULL, "call", call);
	if (has_position != !!xmlHasProp(node, (const xmlChar *)"place"))
		xml_fail(x, node, "position", has_position ? "a call with an explicit position requires 'place'" :
							      "the call has no explicit position, so 'place' is not allowed");
	if (!has_position)
		set(x, node, o, "position", "place", "-1");
	set_length(x, node, o);
	return x->r->is_failed ? NULL : o;
}

/* -- pools of files -------------------------------------------------------------------------------------------- */

/* The name of a file, as in the text. */
static const char *name_of_file(struct xml_import *x, const struct xml_pool *pool, const char *index)
{
	unsigned long long count = pool->count, directories = pool->directories;

	if (!directories)
		return make_text(x, "%s/{(%s) mod %llu:08}", pool->path, index, count);
	return make_text(x, "%s/{(%s) mod %llu mod %llu:05}/{(%s) mod %llu:08}", pool->path, index, count, directories, index, count);
}

/* The sizes are pseudo-random, but the same in each run. */
static const char *size_of_file(struct xml_import *x, xmlNode *node)
{
	u64 minimum = xml_constant(x, node, "minimum_bytes", 0), maximum = xml_constant(x, node, "maximum_bytes", minimum),
	    seed = xml_constant(x, node, "seed", 0);

	if (maximum < minimum || maximum >> 40 || seed >> 32)
		xml_fail(x, node, NULL, "the sizes of a pool are at most 2^40 bytes, the minimum is not above the maximum, and the seed is below 2^32");
	return maximum ? make_text(x, "%llu + (file * 2654435761 + %llu) mod 4294967291 mod %llu", (unsigned long long)minimum,
				   (unsigned long long)seed, (unsigned long long)(maximum - minimum + 1)) : NULL;
}

static const char *creation(struct xml_import *x, xmlNode *node, const struct xml_pool *pool)
{
	const char *name = name_of_file(x, pool, "file"), *size = size_of_file(x, node), *data;

	if (!has_value(node, "create", "yes")) {
		if (size)
			xml_fail(x, node, "create", "files that the pool does not create have no sizes");
		return "";
	}
	data = size ? make_text(x, "write \"%s\" length_bytes=%s handle=1;", name, size) : "";
	return make_text(x, "for file in 0 .. %llu { open \"%s\" flags=write|create|created mode=0644 handle=1; %s flush \"%s\" handle=1;"
			    "release \"%s\" handle=1; }",
			 (unsigned long long)pool->count - 1, name, data, name, name);
}

/*
 * Directories, and files, that the first task creates before all others begin. Their barriers are in MPI_COMM_WORLD, which
 * each task must have before.
 */
static void add_blocks(struct xml_import *x, xmlNode *node, const struct xml_pool *pool)
{
	static const char world[] = "ranks all { mpi_comm rank=rank size=size world_rank=rank comm=1; };";
	bool is_ranks = x->r->program->is_ranks, is_first = !pool->next;
	const char *files = creation(x, node, pool), *directories = "", *text;

	if (pool->directories)
		directories = make_text(x, "for part in 0 .. %llu { mkdir \"%s/{part:05}\" mode=0755; };",
					(unsigned long long)pool->directories - 1, pool->path);
	text = make_text(x, "%s %s { mkdir \"%s\" mode=0755; %s %s };%s", is_ranks && is_first ? world : "",
			 is_ranks ? "rank 0" : "task 1", pool->path, directories, files, is_ranks ? "ranks all { barrier; }" : "");
	if (x->r->is_failed)
		return;
	xml_open_text(x, node, NULL, text); /* an error is that of the element */
	reader_open_at(x->r, text, strlen(text), x->r->line);
	x->next = language_read_blocks(x->r, x->next);
}

/**
 * xml_read_pool() - a pool of files
 */
void xml_read_pool(struct xml_import *x, xmlNode *node)
{
	struct xml_pool *pool = reader_allocate(x->r, sizeof(*pool));
	const char *path = xml_attribute(x, node, "path");

	if (!pool || !path)
		return;
	if (strpbrk(path, "\"\\{}\n") || !*path)
		xml_fail(x, node, "path", "the path of a pool is a constant without quotes, braces and backslashes");
	*pool = (struct xml_pool){ xml_attribute(x, node, "name"), path, xml_constant(x, node, "count", 0),
				   xml_constant(x, node, "directories", 0), x->pools };
	if (!pool->count || pool->count >> 32 || pool->directories >> 32)
		xml_fail(x, node, "count", "a pool has 1 to 2^32 - 1 files, and less than 2^32 directories");
	x->pools = pool;
	if (!x->r->is_failed)
		add_blocks(x, node, pool);
}

/**
 * xml_use_pool() - name a file of a pool in an operation, if it has one
 */
void xml_use_pool(struct xml_import *x, xmlNode *node, struct language_operation *o)
{
	const char *name = xml_attribute(x, node, "pool"), *index;
	const struct xml_pool *pool;

	if (!name && !xmlHasProp(node, (const xmlChar *)"index"))
		return;
	for (pool = x->pools; pool && name && strcmp(pool->name, name); pool = pool->next)
		;
	if (!pool || !name)
		xml_fail(x, node, "pool", "no pool before has this name");
	if (o->names[0])
		xml_fail(x, node, "pool", "the operation has a path, too");
	index = checked_expression(x, node, "index");
	if (x->r->is_failed)
		return;
	xml_open_text(x, node, "index", name_of_file(x, pool, index));
	language_read_name(x->r, o, 0);
}
#endif
