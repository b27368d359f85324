// SPDX-License-Identifier: GPL-2.0-only
/*
 * site_runs.c - extrapolation from runs with call sites: those of other builds, and runs without them.
 */
#include <stdlib.h>
#include <string.h>

#include "pattern/sites.h"
#include "pattern/state.h"
#include "pattern_text.h"

#define RUNS  3
#define RANKS 16 /* of the result */

static u32 strange_ranks; /* the run with this number of ranks has another operation */

/*
 * Each rank writes twice in a loop; with sites, from two loops. @line: of the second one; 0: without sites. The times of the first loop
 * are 1 ms or 3 ms, those of the second one 9 ms.
 */
static struct pattern *run(u32 ranks, u32 line)
{
	struct pattern_refusal refusal = {};
	struct pattern *pattern;
	char text[2000], first[50] = "", second[50] = "";

	if (line)
		sprintf(first, "site=\"phase@a.c:3 < main@a.c:20\"");
	if (line)
		sprintf(second, "site=\"phase@a.c:%u < main@a.c:21\"", line);
	sprintf(text,
		"size %u\n"
		"ranks all {\n"
		"  for i in 0 .. 3 {\n"
		"    write \"f\" offset_bytes=1K*(4*rank + i) length_bytes=1K handle=1 takes=2ms{count=2, min_ns=1000000, max_ns=3000000, "
		"mean_ns=2000000, deviation_ns=1000000, bins=20: 1, 0, 1} %s\n"
		"  }\n"
		"  for i in 0 .. 3 {\n"
		"    write \"f\" offset_bytes=1K*(4*rank + i) length_bytes=1K handle=1 takes=9ms %s\n"
		"  }\n"
		"  %s \"f\"\n"
		"}\n", ranks, first, second, ranks == strange_ranks ? "stat" : "fsync");
	if (pattern_parse(text, strlen(text), 0, 1000, &pattern, &refusal))
		fail_msg("%s", refusal.text);
	return pattern;
}

/* From runs with 4, 6 and 8 ranks. Return: 0 or a negative errno. */
static int extrapolate(const u32 lines[RUNS], struct pattern **made, enum extrapolation_sites *sites, struct pattern_refusal *refusal)
{
	struct extrapolation_summary summary;
	const struct pattern *runs[RUNS];
	u32 i;
	int err;

	for (i = 0; i < RUNS; i++)
		runs[i] = run(4 + 2 * i, lines[i]);
	err = pattern_extrapolate(runs, RUNS, RANKS, &(struct extrapolation_options){}, made, &summary, refusal);
	*sites = summary.sites;
	for (i = 0; i < RUNS; i++) {
		assert_int_equal(shapes_have_sites(&runs[i]->shapes), lines[i] != 0); /* runs are the caller's: none has changed */
		pattern_free((struct pattern *)runs[i]);
	}
	return err;
}

/* The operations and times are those of a run, with call sites or not. */
static void is_as_run(const struct pattern *made, u32 line)
{
	struct pattern *measured = run(RANKS, line);
	struct pattern_comparison comparison;

	assert_int_equal(pattern_compare(made, measured, &comparison), 0);
	assert_true(comparison.is_same);
	assert_true(comparison.duration.measured_ns > 1e6 * RANKS * 40); /* 4 times 2 ms and 4 times 9 ms */
	assert_true(comparison.duration.share < 1e-9);
	pattern_free(measured);
}

/* Return: the number of writes in the text. */
static u32 count_writes(const struct pattern *pattern)
{
	char *text = text_of(pattern), *at;
	u32 count = 0;

	for (at = text; (at = strstr(at, " write ")); at++)
		count++;
	free(text);
	return count;
}

static void equal_sites_are_kept(void **state)
{
	enum extrapolation_sites sites;
	struct pattern_refusal refusal;
	struct pattern *made;

	(void)state;
	assert_int_equal(extrapolate((const u32[]){ 5, 5, 5 }, &made, &sites, &refusal), 0);
	assert_int_equal(sites, EXTRAPOLATION_sites_kept);
	assert_true(shapes_have_sites(&made->shapes));
	assert_int_equal(count_writes(made), 2);
	is_as_run(made, 5);
	is_as_run(made, 6);
	is_as_run(made, 0);
	pattern_free(made);
}

/* @expected: the reason that is stated */
static void leave_out(const u32 lines[RUNS], enum extrapolation_sites expected)
{
	enum extrapolation_sites sites;
	struct pattern_refusal refusal;
	struct pattern *made;

	if (extrapolate(lines, &made, &sites, &refusal))
		fail_msg("%s", refusal.text);
	assert_int_equal(sites, expected);
	assert_false(shapes_have_sites(&made->shapes));
	assert_int_equal(count_writes(made), 1);
	is_as_run(made, 0);
	is_as_run(made, 5);
	pattern_free(made);
}

static void sites_that_not_all_runs_have_are_left_out(void **state)
{
	(void)state;
	leave_out((const u32[]){ 0, 5, 5 }, EXTRAPOLATION_sites_missing);
	leave_out((const u32[]){ 5, 5, 0 }, EXTRAPOLATION_sites_missing);
	leave_out((const u32[]){ 5, 0, 6 }, EXTRAPOLATION_sites_missing);
}

/* The smallest run does not have the ranks that operations with sites are from, so that it matches with sites, too. */
static void one_run_without_sites_suffices(void **state)
{
	struct extrapolation_summary summary;
	struct pattern_refusal refusal = {};
	const struct pattern *runs[RUNS];
	struct pattern *made;
	char text[300];
	u32 i, ranks;

	(void)state;
	for (i = 0; i < RUNS; i++) {
		ranks = 4 + 2 * i;
		sprintf(text, "size %u\nranks 0-3 { fsync \"f\" }\n", ranks);
		if (i)
			sprintf(text + strlen(text), "ranks 4-%u { stat \"f\" site=\"main@a.c:3\" }\n", ranks - 1);
		if (pattern_parse(text, strlen(text), 0, 1000, (struct pattern **)&runs[i], &refusal))
			fail_msg("%s", refusal.text);
	}
	if (pattern_extrapolate(runs, RUNS, RANKS, &(struct extrapolation_options){}, &made, &summary, &refusal))
		fail_msg("%s", refusal.text);
	assert_int_equal(summary.sites, EXTRAPOLATION_sites_missing);
	assert_false(shapes_have_sites(&made->shapes));
	pattern_free(made);
	for (i = 0; i < RUNS; i++)
		pattern_free((struct pattern *)runs[i]);
}

static void other_builds_match_without_sites(void **state)
{
	(void)state;
	leave_out((const u32[]){ 5, 5, 6 }, EXTRAPOLATION_sites_differ);
	leave_out((const u32[]){ 6, 5, 5 }, EXTRAPOLATION_sites_differ);
	leave_out((const u32[]){ 5, 6, 7 }, EXTRAPOLATION_sites_differ);
}

static void other_operations_do_not_match(void **state)
{
	enum extrapolation_sites sites;
	struct pattern_refusal refusal;
	struct pattern *made;

	(void)state;
	strange_ranks = 6;
	assert_int_equal(extrapolate((const u32[]){ 5, 5, 5 }, &made, &sites, &refusal), -EOPNOTSUPP);
	assert_string_equal(refusal.text, "the operations of rank 0 of 6 do not match any rank of 8: the first difference is at stat f");
	assert_int_equal(extrapolate((const u32[]){ 5, 0, 5 }, &made, &sites, &refusal), -EOPNOTSUPP);
	assert_string_equal(refusal.text, "the operations of rank 0 of 6 do not match any rank of 8: the first difference is at stat f");
	strange_ranks = 0;
}

/* Not only the mean: the times of both loops, of which the first one has two, are one histogram. */
static void times_keep_their_distribution(void **state)
{
	struct pattern *pattern = run(4, 5), *bare;
	const struct times *times = NULL;
	u32 i;

	(void)state;
	pattern->is_made = false;
	assert_int_equal(pattern_drop_sites(pattern, &bare), 0);
	assert_false(bare->is_made);
	assert_true(bare->has_times);
	assert_memory_equal(bare->digest, pattern->digest, sizeof(bare->digest));
	assert_int_equal(bare->operations, pattern->operations);
	assert_int_equal(bare->group_count, 1);
	for (i = 0; i < nodes_at(&bare->nodes, bare->groups[0].root)->runs; i++)
		if (bare->groups[0].times[i].duration.max_ns)
			times = &bare->groups[0].times[i].duration;
	assert_non_null(times);
	assert_int_equal(times->count, 4 * 8);
	assert_int_equal(times->min_ns, 1000000);
	assert_int_equal(times->max_ns, 9000000);
	assert_true(times->mean_ns == 5.5e6);
	assert_int_equal(times->bins[20], 8);
	assert_int_equal(times->bins[22], 8);
	assert_int_equal(times->bins[24], 16);
	pattern_free(bare);
	pattern_free(pattern);
}

/* No file of iotape has such a time, but one that is changed by hand may have it. */
static void hostile_times_are_no_distributions(void **state)
{
	struct pattern *pattern = run(1, 5), *loaded, *made;
	struct pattern_refusal refusal;
	struct iot_reject reject;
	u64 changed;
	size_t bytes;
	void *image;
	u32 i;

	(void)state;
	for (i = 0; i < nodes_at(&pattern->nodes, pattern->groups[0].root)->runs; i++)
		pattern->groups[0].times[i].think.mean_ns = pattern->groups[0].times[i].duration.mean_ns = 9.3e18; /* above 2^63 */
	pattern->groups[0].times[1] = (struct run_times){};
	assert_int_equal(pattern_image(pattern, &image, &bytes), 0);
	assert_int_equal(pattern_load_bytes(image, bytes, &loaded, &reject), 0);
	assert_int_equal(pattern_change(loaded, "fsync", "no", &made, &changed, &refusal), 0);
	pattern_free(made);
	assert_int_equal(pattern_drop_sites(loaded, &made), 0);
	pattern_free(made);
	pattern_free(loaded);
	pattern_free(pattern);
	free(image);
}

SUITE("site_runs",
      TEST(equal_sites_are_kept)
      TEST(sites_that_not_all_runs_have_are_left_out)
      TEST(one_run_without_sites_suffices)
      TEST(other_builds_match_without_sites)
      TEST(other_operations_do_not_match)
      TEST(times_keep_their_distribution)
      TEST(hostile_times_are_no_distributions))
