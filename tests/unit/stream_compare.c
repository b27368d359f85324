// SPDX-License-Identifier: GPL-2.0-only
/*
 * stream_compare.c - a trace is compared with a pattern, operation by operation: it has those of the pattern that it is made of, and not those of
 * a pattern with any one difference.
 */
#include "pattern/stream_compare.h"

#include <stdlib.h>
#include <string.h>

#include "pattern/pattern.h"
#include "scratch.h"
#include "suite.h"

#define TASKS_MAX 8

static const char job[] = "size 3\n"
			  "rank 0 {\n"
			  "   mkdir \"d\" mode=0755\n"
			  "}\n"
			  "ranks all {\n"
			  "   barrier\n"
			  "   open \"d/f.{rank}\" flags=read|write|create|created mode=0644 handle=1\n"
			  "   for i in 0 .. 9 {\n"
			  "     write \"d/f.{rank}\" offset_bytes=64*i length_bytes=64 handle=1\n"
			  "   }\n"
			  "   fsync \"d/f.{rank}\" end_bytes=0x7fffffffffffffff handle=1\n"
			  "   read \"d/f.{rank}\" length_bytes=64 handle=1\n"
			  "   | stat \"d/f.{rank}\" implied\n"
			  "   flush \"d/f.{rank}\" handle=1\n"
			  "   release \"d/f.{rank}\" handle=1\n"
			  "}\n"
			  "rank 1 {\n"
			  "   stat \"d\"\n"
			  "}\n";

/* The operations in a call on an MPI file have records before it. */
static const char collective[] = "size 2\n"
				 "ranks all {\n"
				 "   mpi_comm rank=rank size=size world_rank=rank comm=1\n"
				 "   mpi_file \"/mnt/out\" file_open number=1 place=-1 comm=2 takes=3ms\n"
				 "   | open \"out.{rank}\" flags=read|write|create|created mode=0644 handle=1\n"
				 "   mpi_comm rank=rank size=size world_rank=rank comm=2\n"
				 "   for i in 0 .. 3 {\n"
				 "     mpi_file file_write_at_all number=2 + i place=256K*i length_bytes=64K comm=2 takes=10ms\n"
				 "     for j in 0 .. 1 {\n"
				 "       | write \"out.{rank}\" offset_bytes=256K*i + 128K*j length_bytes=128K handle=1\n"
				 "     }\n"
				 "   }\n"
				 "   mpi_file file_close number=6 place=-1 comm=2\n"
				 "   | flush \"out.{rank}\" handle=1\n"
				 "   | release \"out.{rank}\" handle=1\n"
				 "}\n";

/* @to replaces the first @from of a text. */
struct change {
	const char *name;
	const char *from;
	const char *to;
};

static const struct change job_changes[] = {
	{ "an operation is lost", "   flush \"d/f.{rank}\" handle=1\n", "" },
	{ "the last operation is lost", "   stat \"d\"\n", "" },
	{ "one more operation at the end", "   stat \"d\"\n", "   stat \"d\"\n   stat \"d\"\n" },
	{ "an operation of a loop is lost", "0 .. 9", "0 .. 8" },
	{ "one more operation", "   fsync", "   barrier\n   fsync" },
	{ "another operand", "64*i length_bytes=64", "64*i + 1 length_bytes=64" },
	{ "another flag", "flags=read|write|create|created", "flags=read|write|create|created|trunc" },
	{ "another name", "mkdir \"d\"", "mkdir \"e\"" },
	{ "another handle", "handle=1\n", "handle=2\n" },
	{ "another kind", "   fsync \"d/f.{rank}\" end_bytes=0x7fffffffffffffff handle=1\n", "   flush \"d/f.{rank}\" handle=1\n" },
	{ "another depth", "   | stat", "   stat" },
	{ "another task", "rank 0 {", "rank 1 {" },
	{ "another last task", "rank 1 {", "rank 0 {" },
	{ "one more task", "size 3", "size 4" },
	{ "a task is missing", "size 3", "size 2" },
	{ "two operations are exchanged", "   flush \"d/f.{rank}\" handle=1\n   release \"d/f.{rank}\" handle=1\n",
	  "   release \"d/f.{rank}\" handle=1\n   flush \"d/f.{rank}\" handle=1\n" },
};

static const struct change collective_changes[] = {
	{ "another depth", "   | flush", "   flush" },
	{ "a nested operation is lost", "0 .. 1 {", "0 .. 0 {" },
	{ "another place in an MPI file", "place=256K*i", "place=256K*i + 1" },
	{ "another MPI file", "/mnt/out", "/mnt/other" },
	{ "another communicator", "place=-1 comm=2\n", "place=-1 comm=1\n" },
	{ "another rank", "world_rank=rank comm=2", "world_rank=1-rank comm=2" },
	{ "a call is lost", "   mpi_file file_close number=6 place=-1 comm=2\n", "" },
};

static struct pattern *parse(const char *text)
{
	struct pattern_refusal refusal;
	struct pattern *pattern = NULL;

	if (pattern_parse(text, strlen(text), 0, UINT32_MAX, &pattern, &refusal))
		fail_msg("%s: %s", text, refusal.text);
	return pattern;
}

static struct pattern *parse_changed(const char *text, const struct change *change)
{
	const char *at = strstr(text, change->from);
	struct pattern *pattern;
	char *changed;

	assert_row(change->name, at);
	assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, change->to, at + strlen(change->from)) > 0);
	pattern = parse(changed);
	free(changed);
	return pattern;
}

static bool is_same(const struct pattern *pattern, const u32 *positions, u32 count)
{
	struct iot_reject reject;
	bool is_same;

	assert_int_equal(stream_compare(scratch_trace, pattern, positions, count, &is_same, &reject), 0);
	return is_same;
}

static void write_trace(const struct pattern *pattern)
{
	struct pattern_refusal refusal;
	u64 broken;

	if (pattern_trace(pattern, scratch_trace, &broken, &refusal))
		fail_msg("%s", refusal.text);
}

static void find_changes(const char *text, const struct change *changes, size_t count, u32 tasks)
{
	static const u32 positions[TASKS_MAX + 1] = { 0, 0, 1, 2, 3, 4, 5, 6, 7 };
	struct pattern *pattern = parse(text), *changed;
	size_t i;

	write_trace(pattern);
	assert_true(is_same(pattern, positions, tasks));
	pattern_free(pattern);
	for (i = 0; i < count; i++) {
		changed = parse_changed(text, &changes[i]);
		assert_row(changes[i].name, !is_same(changed, positions, tasks));
		pattern_free(changed);
	}
}

static void each_difference_is_found(void **state)
{
	(void)state;
	find_changes(job, job_changes, ARRAY_SIZE(job_changes), 3);
	find_changes(collective, collective_changes, ARRAY_SIZE(collective_changes), 2);
}

/* Tasks that do the same are still different ones. */
static void tasks_are_in_their_order(void **state)
{
	static const u32 right[] = { 0, 0, 1, 2 }, wrong[] = { 0, 0, 2, 1 };
	static const char same[] = "tasks 3 why=5\ntasks 1 {\n}\ntasks 2-3 {\n   stat \".\"\n}\n";
	static const struct change reason = { "another reason of a task", "why=5", "why=4" };
	static const struct change more = { "one more task, without operations", "tasks 3", "tasks 4" };
	struct pattern *pattern = parse(same), *changed = parse_changed(same, &reason), *longer = parse_changed(same, &more);

	(void)state;
	write_trace(pattern);
	assert_true(is_same(pattern, right, 3));
	assert_false(is_same(pattern, wrong, 3));
	assert_false(is_same(changed, right, 3));
	assert_false(is_same(longer, right, 3));
	pattern_free(longer);
	pattern_free(pattern);
	pattern_free(changed);
}

/* More tasks than the caller expects. */
static void tasks_that_are_not_expected_are_a_difference(void **state)
{
	static const u32 positions[] = { 0, 0, 1 };
	struct pattern *pattern = parse(job);

	(void)state;
	write_trace(pattern);
	assert_false(is_same(pattern, positions, 2));
	pattern_free(pattern);
}

SUITE("stream_compare",
      WITH_SCRATCH(each_difference_is_found)
      WITH_SCRATCH(tasks_are_in_their_order)
      WITH_SCRATCH(tasks_that_are_not_expected_are_a_difference))
