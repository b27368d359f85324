// SPDX-License-Identifier: GPL-2.0-only
/*
 * import.c - unusual strace logs that a kernel could have produced: the importer processes
 * them without invalid memory accesses, and with the right result.
 */
#include <stdlib.h>
#include <string.h>

#include "import/import.h"
#include "lib/iotape.h"
#include "scratch.h"
#include "suite.h"

#define NAME_BYTES 4096 /* the longest that the importer takes */

static char name[NAME_BYTES + 1];
static unsigned int line;

/* The times of calls increase, and no task waits. */
static void put(FILE *log, unsigned int pid, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void put(FILE *log, unsigned int pid, const char *format, ...)
{
	va_list arguments;

	fprintf(log, "%u 1700000000.%06u ", pid, ++line);
	va_start(arguments, format);
	vfprintf(log, format, arguments);
	va_end(arguments);
	fputs("\n", log);
}

#define DURATION " <0.000001>"

static FILE *begin(void)
{
	FILE *log = fopen(scratch_program, "we");

	assert_non_null(log);
	line = 0;
	memset(name, 'n', NAME_BYTES);
	return log;
}

/* The result of a log: number of records of a kind, and the tail of the last one. */
struct outcome {
	struct import_summary summary;
	u64 records;
	char tail[IOT_TAIL_MAX_BYTES + 1];
	size_t tail_bytes;
};

static void import(FILE *log, u16 kind, struct outcome *o)
{
	char *logs[] = { scratch_program }, *roots[] = { "/r" };
	const struct import_options options = { .logs = logs, .log_count = 1, .trace = scratch_trace,
						.roots = roots, .root_count = 1 };
	struct iot_reader *reader;
	struct iot_reject reject;
	struct iot_record record;
	int n;

	fclose(log);
	*o = (struct outcome){};
	assert_int_equal(import_logs(&options, &o->summary), 0);
	import_summary_free(&o->summary);
	assert_int_equal(iot_reader_open(scratch_trace, &reader, &reject), 0);
	while ((n = iot_reader_next(reader, &record, &reject)) > 0) {
		if (record.kind != kind)
			continue;
		o->records++;
		o->tail_bytes = record.tail_bytes;
		memcpy(o->tail, record.tail, record.tail_bytes);
		o->tail[record.tail_bytes] = 0;
	}
	assert_int_equal(n, 0);
	iot_reader_close(reader);
}

static void longest_name_is_executed_in_the_longest_directory(void **state)
{
	FILE *log = begin();
	struct outcome o;

	(void)state;
	put(log, 1, "mkdir(\"/r/d\", 0777) = 0" DURATION); /* a log without the root is refused */
	put(log, 1, "chdir(\"/%s\") = 0" DURATION, name + 1);
	put(log, 1, "execve(\"%s\", [], 0x7f0) = 0" DURATION, name);
	import(log, IOT_KIND_exec, &o);
	assert_int_equal(o.records, 1);
}

static void longest_name_of_an_attribute_has_no_value(void **state)
{
	FILE *log = begin();
	struct outcome o;

	(void)state;
	put(log, 1, "setxattr(\"/r/f\", \"%s\", \"v\", 1, 0) = 0" DURATION, name);
	import(log, IOT_KIND_setxattr, &o);
	assert_int_equal(o.records, 1);
	assert_string_equal(o.tail, name);
}

/* A name and the target of a link may have any number of common components. */
static void link_before_many_components_is_found(void **state)
{
	u32 components, i;

	(void)state;
	for (components = 61; components <= 66; components++) {
		FILE *log = begin();
		char *below = name;
		struct outcome o;

		for (i = 0; i < components; i++)
			below = stpcpy(below, "/c");
		put(log, 1, "openat(AT_FDCWD</r>, \"/r/link%s\", O_RDONLY) = 3</r/real%s>" DURATION,
		    name, name);
		put(log, 1, "close(3</r/real%s>) = 0" DURATION, name);
		import(log, IOT_KIND_follow, &o);
		assert_int_equal(o.records, 1);
		assert_memory_equal(o.tail, "/r/real", 7);
	}
}

/* Each call depends on the one before, and none has returned. */
static void cyclic_waits_of_calls_are_a_contradiction(void **state)
{
	FILE *log = begin();
	const u32 calls = 3000;
	struct outcome o;
	u32 i;

	(void)state;
	put(log, 1, "mkdir(\"/r/d\", 0777) = 0" DURATION);
	for (i = 1; i <= calls; i++)
		put(log, 10 + i, "rename(\"/r/d/%u\", \"/r/d/%u\" <unfinished ...>", i, i + 1);
	put(log, 1, "open(\"/r/d/%u\", O_RDONLY) = 3" DURATION, i);
	import(log, IOT_KIND_open, &o);
	assert_int_equal(o.records, 1);
	assert_true(o.summary.gaps[IMPORT_GAP_contradiction] > 0);
}

static void few_calls_with_cyclic_waits_are_resolved(void **state)
{
	FILE *log = begin();
	const u32 calls = 20;
	struct outcome o;
	u32 i;

	(void)state;
	put(log, 1, "mkdir(\"/r/d\", 0777) = 0" DURATION);
	put(log, 1, "creat(\"/r/d/1\", 0666) = 3" DURATION);
	for (i = 1; i <= calls; i++)
		put(log, 10 + i, "rename(\"/r/d/%u\", \"/r/d/%u\" <unfinished ...>", i, i + 1);
	put(log, 1, "open(\"/r/d/%u\", O_RDONLY) = 4" DURATION, i);
	import(log, IOT_KIND_rename, &o);
	assert_int_equal(o.records, calls);
	assert_int_equal(o.summary.gaps[IMPORT_GAP_contradiction], 0);
}

/* They are announced one by one when the first of them is used. */
static void directory_of_any_depth_is_moved_into_the_root(void **state)
{
	FILE *log = begin();
	const u32 depth = 15000;
	struct outcome o;
	u32 i;

	(void)state;
	put(log, 1, "chdir(\"/\") = 0" DURATION);
	for (i = 0; i < depth; i++) {
		put(log, 1, "mkdir(\"d\", 0777) = 0" DURATION);
		put(log, 1, "chdir(\"d\") = 0" DURATION);
	}
	put(log, 1, "rename(\"/d\", \"/r/d\") = 0" DURATION);
	put(log, 1, "creat(\"f\", 0666) = 3" DURATION);
	import(log, IOT_KIND_object, &o);
	assert_int_equal(o.records, 1 + depth + 1);
}

static void call_after_weeks_belongs_to_the_log(void **state)
{
	FILE *log = begin();
	struct outcome o;

	(void)state;
	put(log, 1, "mkdir(\"/r/d\", 0777) = 0" DURATION);
	fputs("1 1708000000.000000 mkdir(\"/r/e\", 0777) = 0" DURATION "\n", log); /* three months */
	fputs("1 2000000000.000000 mkdir(\"/r/f\", 0777) = 0" DURATION "\n", log); /* nine years */
	import(log, IOT_KIND_mkdir, &o);
	assert_int_equal(o.records, 2);
	assert_int_equal(o.summary.gaps[IMPORT_GAP_foreign], 1);
}

/* The kinds of calls on files and descriptors that have no record and are not counted are limited to these. */
static bool is_idle(const char *class)
{
	static const char *const classes[] = { "wait", "memory", "user", "signal", "time", "ipc", "network",
					       "pipe", "system", "requests", "gone" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(classes); i++)
		if (!strcmp(classes[i], class))
			return true;
	return false;
}

/* The list has the names of all calls, with their strace classes: f names, d descriptors, m memory. */
static void every_call_has_a_class(void **state)
{
	FILE *in = fopen("tests/import/syscalls.list", "re");
	char text[256], call[64], machines[8], kinds[8];
	u32 calls = 0;

	(void)state;
	assert_non_null(in);
	while (fgets(text, sizeof(text), in)) {
		const char *class;

		if (*text == '#')
			continue;
		assert_int_equal(sscanf(text, "%63s %7s %7s", call, machines, kinds), 3);
		class = import_call_class(call);
		assert_row(call, class);
		if (strpbrk(kinds, "fd"))
			assert_row(call, !strcmp(class, "record") || !strcmp(class, "gap") || is_idle(class));
		if (strchr(kinds, 'f'))
			assert_row(call, !strcmp(class, "record") || !strcmp(class, "gap"));
		calls++;
	}
	fclose(in);
	assert_true(calls > 500);
	assert_null(import_call_class("brandnew"));
}

#undef TEST
#define TEST(function) WITH_SCRATCH(function)

SUITE("import",
      TEST(longest_name_is_executed_in_the_longest_directory)
      TEST(longest_name_of_an_attribute_has_no_value)
      TEST(link_before_many_components_is_found)
      TEST(cyclic_waits_of_calls_are_a_contradiction)
      TEST(few_calls_with_cyclic_waits_are_resolved)
      TEST(directory_of_any_depth_is_moved_into_the_root)
      TEST(call_after_weeks_belongs_to_the_log)
      TEST(every_call_has_a_class))
