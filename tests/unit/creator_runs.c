// SPDX-License-Identifier: GPL-2.0-only
/*
 * creator_runs.c - extrapolation from runs in which another rank was the first to create a file that several ranks create.
 */
#include <stdlib.h>
#include <string.h>

#include "pattern/state.h"
#include "pattern_text.h"

#define RUNS  3
#define RANKS 16 /* of the result */
#define OPENS "mode=0 handle=1 takes=1ms"
#define MAKES "mode=0644 handle=1 takes=8ms"

enum order { AT_ONCE, WAIT_FOR_CREATOR, USE_IT_FIRST };

/* All ranks open a file so that it is created, and @creator is the first of them. */
static struct pattern *run(u32 ranks, u32 creator, enum order order)
{
	struct pattern_refusal refusal = {};
	struct pattern *pattern;
	char text[4000];
	u32 rank;

	sprintf(text, "size %u\n", ranks);
	for (rank = 0; rank < ranks; rank++) {
		sprintf(text + strlen(text), "ranks %u {\n", rank);
		if (order == USE_IT_FIRST && rank != creator)
			strcat(text, "  stat \"f\" generation=1\n");
		if (order == WAIT_FOR_CREATOR && rank != creator)
			strcat(text, "== mpi_coll barrier number=1 root=-1 sources=all comm=1\n");
		sprintf(text + strlen(text), "  open \"f\" flags=read|write|create%s generation=1\n",
			rank == creator ? "|created " MAKES : " " OPENS);
		if (order == WAIT_FOR_CREATOR && rank == creator)
			strcat(text, "== mpi_coll barrier number=1 root=-1 sources=all comm=1\n");
		strcat(text, "  write \"f\" offset_bytes=1K*rank length_bytes=1K handle=1\n  release \"f\" handle=1\n}\n");
	}
	if (pattern_parse(text, strlen(text), 0, 1000, &pattern, &refusal))
		fail_msg("%s\n%s", refusal.text, text);
	return pattern;
}

/* From runs with 4, 6 and 8 ranks. Return: 0 or a negative errno. */
static int extrapolate(const u32 creators[RUNS], enum order order, struct pattern **made, bool *is_ordered)
{
	struct extrapolation_summary summary;
	struct pattern_refusal refusal;
	const struct pattern *runs[RUNS];
	u32 i;
	int err;

	for (i = 0; i < RUNS; i++)
		runs[i] = run(4 + 2 * i, creators[i], order);
	err = pattern_extrapolate(runs, RUNS, RANKS, &(struct extrapolation_options){}, made, &summary, &refusal);
	*is_ordered = summary.is_ordered;
	for (i = 0; i < RUNS; i++)
		pattern_free((struct pattern *)runs[i]);
	return err;
}

/* Its operations are those of a run with @creator, @is_ordered if the creator may be another rank. */
static void is_as_run(const struct pattern *made, u32 creator, bool is_ordered)
{
	struct pattern *measured = run(RANKS, creator, AT_ONCE);
	struct pattern_comparison comparison;

	assert_int_equal(pattern_compare(made, measured, &comparison), 0);
	assert_true(comparison.is_same);
	assert_int_equal(comparison.is_ordered, is_ordered);
	assert_true(comparison.duration.made_ns == 8e6 + (RANKS - 1) * 1e6); /* the creation takes its time with it */
	assert_true(comparison.duration.share < 1e-9);
	pattern_free(measured);
}

static void the_lowest_rank_creates(void **state)
{
	struct pattern *made;
	bool is_ordered;

	(void)state;
	assert_int_equal(extrapolate((const u32[]){ 1, 0, 5 }, AT_ONCE, &made, &is_ordered), 0);
	assert_true(is_ordered);
	is_as_run(made, 0, false);
	is_as_run(made, 9, true);
	pattern_free(made);
}

/* If a function fits, the runs stay as they are. */
static void a_rule_of_creators_is_kept(void **state)
{
	struct pattern *made;
	bool is_ordered;

	(void)state;
	assert_int_equal(extrapolate((const u32[]){ 3, 3, 3 }, AT_ONCE, &made, &is_ordered), 0);
	assert_false(is_ordered);
	is_as_run(made, 3, false);
	pattern_free(made);
}

/* No other rank can be the first. */
static void known_creators_stay(void **state)
{
	struct pattern *waiting = run(4, 1, WAIT_FOR_CREATOR), *made;
	bool is_ordered;

	(void)state;
	assert_int_equal(pattern_order_creators(waiting, &made), 0);
	assert_null(made);
	pattern_free(waiting);
	assert_int_equal(extrapolate((const u32[]){ 1, 0, 5 }, WAIT_FOR_CREATOR, &made, &is_ordered), -EOPNOTSUPP);
	assert_false(is_ordered);
	assert_int_equal(extrapolate((const u32[]){ 1, 0, 5 }, USE_IT_FIRST, &made, &is_ordered), -EOPNOTSUPP);
	assert_false(is_ordered);
}

/* Rank 0 has seen one file before it opens it, the other one not. */
static void files_are_independent(void **state)
{
	static const char text[] = "size 2\n"
				   "ranks 0 { stat \"g\" generation=1\n"
				   "open \"f\" flags=read|create generation=1 handle=1\n"
				   "open \"g\" flags=read|create generation=1 handle=2 }\n"
				   "ranks 1 { open \"g\" flags=read|create|created generation=1 handle=1\n"
				   "open \"f\" flags=read|create|created generation=1 handle=2 }\n";
	struct pattern_refusal refusal = {};
	struct pattern *pattern, *made;
	char *printed, *first;

	(void)state;
	if (pattern_parse(text, strlen(text), 0, 1000, &pattern, &refusal))
		fail_msg("%s", refusal.text);
	assert_int_equal(pattern_order_creators(pattern, &made), 0);
	assert_non_null(made);
	printed = text_of(made);
	first = strstr(printed, "created");
	assert_non_null(first);
	assert_memory_equal(strstr(printed, "open \"f\" flags=read|create|created"), first - strlen("open \"f\" flags=read|create|"), 20);
	assert_non_null(strstr(first, "open \"g\" flags=read|create|created"));
	free(printed);
	pattern_free(made);
	pattern_free(pattern);
}

static void other_operations_differ(void **state)
{
	struct pattern *made = run(4, 1, AT_ONCE), *measured = run(4, 1, USE_IT_FIRST);
	struct pattern_comparison comparison;

	(void)state;
	assert_int_equal(pattern_compare(made, measured, &comparison), 0);
	assert_false(comparison.is_same);
	assert_false(comparison.is_ordered);
	pattern_free(made);
	pattern_free(measured);
}

SUITE("creator_runs",
      TEST(the_lowest_rank_creates)
      TEST(a_rule_of_creators_is_kept)
      TEST(known_creators_stay)
      TEST(files_are_independent)
      TEST(other_operations_differ))
