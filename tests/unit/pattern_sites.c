// SPDX-License-Identifier: GPL-2.0-only
/*
 * pattern_sites.c - patterns of traces with call sites: operations from different sites are different loops, and the canonical stream is the
 * same as without them.
 */
#include "pattern/sites.h"

#include <stdlib.h>
#include <string.h>

#include "pattern_text.h"
#include "scratch.h"
#include "scribe.h"

#define HANDLE 7
#define BASE   0x555500000000ull
#define OTHER  0x666600000000ull

static void put_event(struct scribe *s, struct iot_record r)
{
	assert_int_equal(iot_writer_record(s->writer, &r), 0);
}

static const char *program = "/nonexistent/program";

/* A program that is not here, at an address of each process. */
static void put_code(struct scribe *s, u32 process, u64 address)
{
	struct iot_record r = { .kind = IOT_KIND_code, .tail = (const u8 *)program, .tail_bytes = (u32)strlen(program) + 1 };

	r.code = (struct iot_rec_code){ .time_ns = 20, .process = process, .task = process, .address = address, .length_bytes = 1 << 20,
					.ino = 1, .dev = 1 };
	put_event(s, r);
}

static void put_stack(struct scribe *s, u64 id, u32 process, u64 inner, u64 outer)
{
	u64 words[] = { inner, outer };
	struct iot_record r = { .kind = IOT_KIND_stack, .tail = (const u8 *)words, .tail_bytes = sizeof(words) };

	r.stack = (struct iot_rec_stack){ .time_ns = 30, .stack = id, .process = process, .task = process };
	put_event(s, r);
}

/* @count reads, called from a stack if @stack is not 0. */
static void put_reads(struct scribe *s, u32 count, u64 stack)
{
	struct iot_record r = { .kind = IOT_KIND_called_from };

	for (; count; count--) {
		r.called_from = (struct iot_rec_called_from){ .time_ns = s->now_ns, .stack = stack, .task = s->task, .op = s->op + 1 };
		if (stack)
			put_event(s, r);
		PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 10, .result = 10);
	}
}

/* Two tasks read seven times, at addresses of their own. */
static void write_trace(bool has_sites)
{
	struct scribe scribe, *s = &scribe;
	u32 task;

	scribe_begin(s);
	put_code(s, 1, BASE);
	put_code(s, 2, OTHER);
	for (task = 1; task <= 2; task++) {
		u64 base = task == 1 ? BASE : OTHER;

		s->task = task;
		put_stack(s, 10 * task + 1, task, base + 0x10, 0x7f0000001000ull * task); /* the outer one is in no object */
		put_stack(s, 10 * task + 2, task, base + 0x10, base + 0x200); /* the same function, of another caller */
		PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
		put_reads(s, 3, has_sites ? 10 * task + 1 : 0);
		put_reads(s, 4, has_sites ? 10 * task + 2 : 0);
	}
	scribe_finish(s);
}

static struct pattern *make(bool has_sites)
{
	struct iot_omissions omissions = {};
	struct iot_reject reject;
	struct pattern *pattern;

	write_trace(has_sites);
	assert_int_equal(pattern_make(scratch_trace, &pattern, &omissions, &reject), 0);
	return pattern;
}

static u32 count_of(const char *text, const char *what)
{
	u32 count = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		count++;
	return count;
}

static void sites_tell_loops_apart(void **state)
{
	struct pattern *with = make(true), *without = make(false);
	char *text = text_of(with), *plain = text_of(without);
	struct pattern_summary a, b;

	(void)state;
	assert_int_equal(count_of(plain, "site="), 0);
	assert_int_equal(count_of(plain, " read \"a\""), 1);
	assert_int_equal(count_of(text, " read \"a\""), 2); /* the tasks are one group */
	assert_int_equal(count_of(text, "site=\"program+0x10[?] < ? < ?\""), 1);
	assert_int_equal(count_of(text, "site=\"program+0x10[?] < ? < program+0x200[?]\""), 1);
	pattern_summarize(with, &a);
	pattern_summarize(without, &b);
	assert_memory_equal(a.digest, b.digest, sizeof(a.digest));
	assert_int_equal(a.operations, b.operations);
	free(text);
	free(plain);
	pattern_free(with);
	pattern_free(without);
}

static void files_and_texts_keep_them(void **state)
{
	struct pattern *pattern = make(true), *loaded, *parsed;
	char *text = text_of(pattern), *again;
	struct pattern_refusal refusal;
	struct iot_reject reject;
	size_t bytes;
	void *image;

	(void)state;
	assert_int_equal(pattern_image(pattern, &image, &bytes), 0);
	assert_int_equal(pattern_load_bytes(image, bytes, &loaded, &reject), 0);
	again = text_of(loaded);
	assert_string_equal(again, text);
	free(again);
	assert_int_equal(pattern_parse(text, strlen(text), 0, 1000, &parsed, &refusal), 0);
	again = text_of(parsed);
	assert_string_equal(again, text);
	free(again);
	free(text);
	free(image);
	pattern_free(pattern);
	pattern_free(loaded);
	pattern_free(parsed);
}

static void workloads_in_xml_keep_them(void **state)
{
	struct pattern *pattern = make(true), *parsed;
	struct pattern_refusal refusal;
	char *text = text_of(pattern), *again, *xml;
	size_t bytes;
	FILE *out = open_memstream(&xml, &bytes);

	(void)state;
	assert_non_null(out);
	assert_int_equal(pattern_print_xml(pattern, false, out, &refusal), 0);
	fclose(out);
	assert_int_equal(pattern_parse_xml(xml, bytes, 0, 1000, &parsed, &refusal), 0);
	again = text_of(parsed);
	assert_string_equal(again, text);
	free(again);
	free(text);
	free(xml);
	pattern_free(pattern);
	pattern_free(parsed);
}

/* The name of a program has any bytes, a call site has not. */
static void names_of_programs_may_be_hostile(void **state)
{
	struct pattern *pattern;
	char *text;

	(void)state;
	program = "/nonexistent/a\033[31m\n\377\302\205 \303\274";
	pattern = make(true);
	text = text_of(pattern);
	assert_int_equal(count_of(text, "site=\"a?[31m???? \303\274+0x10[?] < ? < ?\""), 1);
	free(text);
	pattern_free(pattern);
	program = "/nonexistent/program";
}

static void operations_have_their_own_sites(void **state)
{
	struct iot_reject reject;
	struct sites *sites;
	u32 bytes;

	(void)state;
	write_trace(true);
	assert_int_equal(sites_read(scratch_trace, &sites, &reject), 0);
	assert_null(sites_find(sites, 1, 1, &bytes)); /* the open */
	assert_int_equal(bytes, 0);
	assert_non_null(sites_find(sites, 1, 2, &bytes));
	assert_ptr_equal(sites_find(sites, 1, 2, &bytes), sites_find(sites, 2, 10, &bytes));
	assert_ptr_not_equal(sites_find(sites, 1, 2, &bytes), sites_find(sites, 1, 5, &bytes));
	assert_null(sites_find(sites, 3, 2, &bytes));
	sites_free(sites);
	write_trace(false);
	assert_int_equal(sites_read(scratch_trace, &sites, &reject), 0);
	sites_free(sites);
}

SUITE("pattern_sites",
      WITH_SCRATCH(sites_tell_loops_apart)
      WITH_SCRATCH(files_and_texts_keep_them)
      WITH_SCRATCH(workloads_in_xml_keep_them)
      WITH_SCRATCH(names_of_programs_may_be_hostile)
      WITH_SCRATCH(operations_have_their_own_sites))
