// SPDX-License-Identifier: GPL-2.0-only
/*
 * job_runs.c - extrapolation of jobs as they are recorded: with threads of ranks and the processes that start the job, with
 * neighbours on a ring that a loop alternates between, and with data that a buffer cuts into pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "pattern/state.h"
#include "pattern_text.h"

#define TEXT_MAX (1u << 20)
#define RUNS_MAX 4
#define THREADS	 2 /* of a rank, besides its first task */

/* Numbers of each task of all ranks, then those of the others. */
static void put_fact(FILE *out, const char *name, u32 ranks, u32 others, u32 first, u32 step, u32 thread, u32 other)
{
	u32 rank, i;

	fprintf(out, " %s=by task {", name);
	for (rank = 0; rank < ranks; rank++)
		for (i = 0; i <= THREADS; i++)
			fprintf(out, "%s%u", rank || i ? ", " : "", first + rank * step + (i ? thread : 0));
	for (i = 0; i < others; i++)
		fprintf(out, ", %u", other);
	fprintf(out, "}");
}

/* The neighbours of a rank that is not the first: @is_sorted: the lower one comes first. */
static void put_neighbours(FILE *out, u32 ranks, bool is_sorted)
{
	u32 rank, left, right;

	fprintf(out, "by rank {");
	for (rank = 1; rank < ranks; rank++) {
		left = rank - 1;
		right = (rank + 1) % ranks;
		fprintf(out, "%seach {(%u, %u) x 3}", rank > 1 ? ", " : "", is_sorted && right < left ? right : left,
			is_sorted && right < left ? left : right);
	}
	fprintf(out, "}");
}

/* @others: tasks that start the job. */
static struct pattern *run(u32 ranks, u32 others, bool is_sorted)
{
	char *text = calloc(1, TEXT_MAX);
	FILE *out = fmemopen(text, TEXT_MAX, "w");
	struct pattern_refusal refusal = {};
	struct pattern *pattern;

	assert_non_null(out);
	fprintf(out, "tasks %u", ranks * (THREADS + 1) + others);
	put_fact(out, "what", ranks, others, 0, 0, 1, 1);
	put_fact(out, "job", ranks, others, 1, 0, 0, 0);
	put_fact(out, "rank", ranks, others, 0, 1, 0, 0);
	put_fact(out, "size", ranks, others, ranks, 0, 0, 0);
	put_fact(out, "process", ranks, others, 1, THREADS + 1, 0, ranks * (THREADS + 1) + 1);
	put_fact(out, "parent", ranks, others, ranks * (THREADS + 1) + 1, 0, 0, 0);
	put_fact(out, "nth", ranks, others, 1, 1, 2, 0);
	fprintf(out, "\nranks 0 {\n"
		"  mpi_comm rank=0 size=%u world_rank=0 first=0 comm=1\n"
		"  open \"index\" flags=write|create|created mode=0644 handle=1\n"
		"  release \"index\" handle=1\n"
		"}\n"
		"ranks 1-%u {\n"
		"  mpi_comm rank=rank size=%u world_rank=rank first=0 comm=1\n"
		"  open \"data.{rank}\" flags=write|create|created mode=0644 handle=1\n"
		"  for i in 0 .. 5 {\n"
		"    mpi_send send peer=", ranks, ranks - 1, ranks);
	put_neighbours(out, ranks, is_sorted);
	fprintf(out, " tag=0 length_bytes=64 comm=1\n"
		"  }\n"
		"  release \"data.{rank}\" handle=1\n"
		"}\n");
	fclose(out);
	if (pattern_parse(text, strlen(text), 0, UINT32_MAX, &pattern, &refusal))
		fail_msg("%s", refusal.text);
	free(text);
	return pattern;
}

/* Each rank writes four files of @bytes each through a buffer of 4096 bytes. */
static struct pattern *run_pieces(u32 ranks, u32 bytes)
{
	u32 pieces = (bytes + 4095) / 4096;
	struct pattern_refusal refusal = {};
	struct pattern *pattern;
	char text[2000], lengths[100];

	sprintf(lengths, pieces > 1 ? "each {(4096 x %u, %u) x 4}" : "%u + %u", pieces > 1 ? pieces - 1 : 0, bytes - (pieces - 1) * 4096);
	sprintf(text,
		"size %u\n"
		"ranks all {\n"
		"  for i in 0 .. 3 {\n"
		"    open \"step{i}.{rank}\" flags=write|create|created mode=0644 handle=1\n"
		"    for j in 0 .. %u {\n"
		"      write \"step{i}.{rank}\" offset_bytes=100*rank + 4096*j length_bytes=%s handle=1\n"
		"    }\n"
		"    release \"step{i}.{rank}\" handle=1\n"
		"  }\n"
		"}\n", ranks, pieces - 1, lengths);
	if (pattern_parse(text, strlen(text), 0, UINT32_MAX, &pattern, &refusal))
		fail_msg("%s", refusal.text);
	return pattern;
}

static int extrapolate(const u32 counts[RUNS_MAX], const u32 others[RUNS_MAX], bool is_sorted, u32 ranks, struct pattern **made,
		       struct pattern_refusal *refusal)
{
	struct extrapolation_summary summary;
	const struct pattern *runs[RUNS_MAX];
	u32 count;
	int err;

	for (count = 0; count < RUNS_MAX && counts[count]; count++)
		runs[count] = run(counts[count], others[count], is_sorted);
	err = pattern_extrapolate(runs, count, ranks, &(struct extrapolation_options){}, made, &summary, refusal);
	while (count)
		pattern_free((struct pattern *)runs[--count]);
	return err;
}

/* The tasks, and the neighbours of all ranks, are those of a run with as many ranks. */
static void jobs_are_extrapolated(void **unused)
{
	static const struct {
		const char *name;
		u32 runs[RUNS_MAX], others[RUNS_MAX];
		bool is_sorted;
	} cases[] = {
		{ "three runs", { 3, 4, 5 }, { 4, 4, 4 }, false },
		{ "four runs", { 3, 4, 6, 8 }, { 4, 4, 4, 4 }, false },
		{ "larger runs", { 5, 9, 12 }, { 4, 4, 4 }, false },
		{ "the lower neighbour first", { 3, 4, 5, 6 }, { 4, 4, 4, 4 }, true },
		{ "only ranks and their threads", { 3, 4, 5 }, {}, false },
	};
	static const u32 held_out[] = { 7, 8, 24 };
	struct pattern_comparison comparison;
	struct pattern_refusal refusal = {};
	struct pattern *made, *measured;
	u32 i, j;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		for (j = 0; j < ARRAY_SIZE(held_out); j++) {
			int err = extrapolate(cases[i].runs, cases[i].others, cases[i].is_sorted, held_out[j], &made, &refusal);

			if (err)
				printf("# %s, %u ranks: %s\n", cases[i].name, held_out[j], refusal.text);
			assert_row(cases[i].name, !err);
			if (err)
				break;
			measured = run(held_out[j], cases[i].others[0], cases[i].is_sorted);
			assert_int_equal(pattern_compare(made, measured, &comparison), 0);
			assert_row(cases[i].name, comparison.is_same && made->task_count == measured->task_count);
			assert_row(cases[i].name, !memcmp(made->digest, measured->digest, sizeof(made->digest)));
			pattern_free(made);
			pattern_free(measured);
		}
}

static void other_jobs_are_refused(void **unused)
{
	static const struct {
		u32 runs[RUNS_MAX], others[RUNS_MAX];
		bool is_sorted;
		const char *sentence;
	} cases[] = {
		/* the step to the other neighbour is the same for all of 4 ranks, and one of two is the last of 3 */
		{ { 3, 4, 6 }, { 4, 4, 4 }, true, "mpi_send: peer: has its form in the largest run only: use runs with more ranks" },
		{ { 4, 5, 6 }, { 4, 3, 5 }, false, "the what of tasks: no known function of the number of ranks fits and is an integer at 8: "
						   "4 at 4, 3 at 5, 5 at 6" },
	};
	struct pattern_refusal refusal;
	struct pattern *made;
	u32 i;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		refusal = (struct pattern_refusal){};
		assert_int_equal(extrapolate(cases[i].runs, cases[i].others, cases[i].is_sorted, 8, &made, &refusal), -EOPNOTSUPP);
		assert_string_equal(refusal.text, cases[i].sentence);
	}
}

static int extrapolate_pieces_of(const u32 counts[4], const u32 bytes[4], u32 ranks, struct pattern **made, struct pattern_refusal *refusal)
{
	struct extrapolation_summary summary;
	const struct pattern *runs[4];
	u32 i;
	int err;

	for (i = 0; i < 4; i++)
		runs[i] = run_pieces(counts[i], bytes[i]);
	err = pattern_extrapolate(runs, 4, ranks, &(struct extrapolation_options){}, made, &summary, refusal);
	for (i = 0; i < 4; i++)
		pattern_free((struct pattern *)runs[i]);
	return err;
}

#define SHARE(ranks) (100 + 98304 / (ranks))

/* The bytes of a rank are a function of the number of ranks; the number of pieces, and the length of the last one, are not. */
static void pieces_are_extrapolated(void **unused)
{
	static const struct {
		u32 runs[4], bytes[4];
	} cases[] = {
		{ { 3, 4, 6, 8 }, { SHARE(3), SHARE(4), SHARE(6), SHARE(8) } }, /* 9, 7, 5 and 4 pieces */
		{ { 8, 12, 24, 32 }, { SHARE(8), SHARE(12), SHARE(24), SHARE(32) } }, /* 4, 3, 2 and 1 */
	};
	static const u32 held_out[] = { 2, 16, 48, 96 };
	struct pattern_refusal refusal = {};
	struct pattern_comparison comparison;
	struct pattern *made, *measured;
	u32 i, j;

	(void)unused;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		for (j = 0; j < ARRAY_SIZE(held_out); j++) {
			int err = extrapolate_pieces_of(cases[i].runs, cases[i].bytes, held_out[j], &made, &refusal);

			if (err)
				fail_msg("case %u, %u ranks: %s", i, held_out[j], refusal.text);
			measured = run_pieces(held_out[j], SHARE(held_out[j]));
			assert_int_equal(pattern_compare(made, measured, &comparison), 0);
			assert_true(comparison.is_same && !memcmp(made->digest, measured->digest, sizeof(made->digest)));
			pattern_free(made);
			pattern_free(measured);
		}
}

static void irregular_pieces_are_refused(void **unused)
{
	static const u32 counts[4] = { 3, 4, 6, 8 }, bytes[4] = { 20000, 30001, 9000, 14000 };
	struct pattern_refusal refusal = {};
	struct pattern *made;

	(void)unused;
	assert_int_equal(extrapolate_pieces_of(counts, bytes, 12, &made, &refusal), -EOPNOTSUPP);
	assert_string_equal(refusal.text, "number of iterations of write step#.#: no known function of the number of ranks fits and is an "
					  "integer at 12: 5 at 3, 8 at 4, 3 at 6, 4 at 8");
}

/* Each rank reads positions without order, of which one depends on the number of ranks, and one on the rank. */
static struct pattern *run_positions(u32 ranks)
{
	struct pattern_refusal refusal = {};
	struct pattern *pattern;
	char text[8000];
	size_t at;
	u32 rank;

	at = (size_t)sprintf(text, "size %u\nranks all {\n  for i in 0 .. 4 {\n    read \"h\" length_bytes=512 handle=1 offset_bytes=by rank {", ranks);
	for (rank = 0; rank < ranks; rank++)
		at += (size_t)sprintf(text + at, "%seach {680, 136, %u, 800, %u}", rank ? ", " : "", 4096 * ranks, 9000 + 512 * ((rank + 1) % ranks));
	sprintf(text + at, "}\n  }\n}\n");
	if (pattern_parse(text, strlen(text), 0, UINT32_MAX, &pattern, &refusal))
		fail_msg("%s", refusal.text);
	return pattern;
}

static void irregular_positions_are_extrapolated(void **unused)
{
	static const u32 counts[3] = { 4, 6, 8 }, held_out[] = { 3, 12, 64 };
	struct extrapolation_summary summary;
	struct pattern_refusal refusal = {};
	const struct pattern *runs[3];
	struct pattern *made, *measured;
	u32 i;

	(void)unused;
	for (i = 0; i < 3; i++)
		runs[i] = run_positions(counts[i]);
	for (i = 0; i < ARRAY_SIZE(held_out); i++) {
		if (pattern_extrapolate(runs, 3, held_out[i], &(struct extrapolation_options){}, &made, &summary, &refusal))
			fail_msg("%u ranks: %s", held_out[i], refusal.text);
		measured = run_positions(held_out[i]);
		assert_memory_equal(made->digest, measured->digest, sizeof(made->digest));
		pattern_free(made);
		pattern_free(measured);
	}
	for (i = 0; i < 3; i++)
		pattern_free((struct pattern *)runs[i]);
}

SUITE("job_runs",
      TEST(jobs_are_extrapolated)
      TEST(other_jobs_are_refused)
      TEST(pieces_are_extrapolated)
      TEST(irregular_pieces_are_refused)
      TEST(irregular_positions_are_extrapolated))
