// SPDX-License-Identifier: GPL-2.0-only
/*
 * grids.c - views of grids of ranks at another number of ranks: right, or refused if the runs do not determine the grid.
 */
#include <stdlib.h>
#include <string.h>

#include "pattern/pattern.h"
#include "suite.h"

#define RUNS_MAX 5

struct sides {
	u32 side[3];
};

/* The most balanced grid, as of MPI_Dims_create. */
static struct sides balanced(u32 ranks, u32 dimensions)
{
	struct sides sides = { { 1, 1, 1 } };
	u32 i, side, power;

	for (i = dimensions; i-- > 1; ranks /= sides.side[i])
		for (side = 1; side <= ranks; side++) {
			power = i == 2 ? side * side * side : side * side;
			if (power <= ranks && !(ranks % side))
				sides.side[i] = side;
		}
	sides.side[0] = ranks;
	return sides;
}

static struct sides plane(u32 ranks)
{
	return balanced(ranks, 2);
}

static struct sides space(u32 ranks)
{
	return balanced(ranks, 3);
}

static struct sides two_columns(u32 ranks)
{
	return (struct sides){ { ranks / 2, 2, 1 } };
}

static struct sides one_row(u32 ranks)
{
	return (struct sides){ { 1, ranks, 1 } };
}

/* Each rank has a part of 2 x 3 x 4 blocks of 512 bytes. */
static void print_view(FILE *out, struct sides sides, u32 rank)
{
	u32 row_bytes = 2048 * sides.side[2], plane_bytes = 3 * sides.side[1] * row_bytes;
	u32 x = rank / (sides.side[1] * sides.side[2]), y = rank / sides.side[2] % sides.side[1], z = rank % sides.side[2];

	fprintf(out, "rank %u { mpi_view part=0 parts=1 begin_bytes=0 unit_bytes=512 extent_bytes=%u first_bytes=%u block_bytes=2048 "
		"inner_count=3 inner_bytes=%u middle_count=2 middle_bytes=%u outer_count=1 comm=2 }\n", rank, 2 * sides.side[0] * plane_bytes,
		2 * x * plane_bytes + 3 * y * row_bytes + z * 2048, row_bytes, plane_bytes);
}

static struct pattern *run(struct sides (*grid)(u32 ranks), u32 ranks)
{
	struct pattern_refusal refusal = {};
	struct pattern *pattern;
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);
	u32 rank;

	fprintf(out, "size %u\nranks all {\n  mpi_comm rank=rank size=size world_rank=rank comm=1\n"
		"  mpi_file \"/mnt/out\" file_open number=1 place=-1 comm=2\n  mpi_comm rank=rank size=size world_rank=rank comm=2\n"
		"  mpi_file file_set_view number=2 place=-1 comm=2\n}\n", ranks);
	for (rank = 0; rank < ranks; rank++)
		print_view(out, grid(ranks), rank);
	fprintf(out, "ranks all { mpi_file file_close number=3 place=-1 comm=2 }\n");
	fclose(out);
	if (pattern_parse(text, bytes, 0, 10000, &pattern, &refusal))
		fail_msg("%s\n%s", refusal.text, text);
	free(text);
	return pattern;
}

static bool are_same(const struct pattern *a, const struct pattern *b)
{
	u64 operations;
	u8 digests[2][32];

	assert_int_equal(pattern_expand(a, NULL, UINT64_MAX, digests[0], &operations), 0);
	assert_int_equal(pattern_expand(b, NULL, UINT64_MAX, digests[1], &operations), 0);
	return !memcmp(digests[0], digests[1], sizeof(digests[0]));
}

/* Of three runs, or more: 0 ends the list. */
static const struct row {
	const char *name;
	struct sides (*grid)(u32 ranks);
	u32 ranks[RUNS_MAX];
	u32 target;
	bool is_refused;
} rows[] = {
	{ "the runs have two columns", plane, { 4, 6, 8 }, 12, true },
	{ "the grids of the target are the same", plane, { 4, 6, 8 }, 10, false },
	{ "a run with three columns", plane, { 4, 6, 8, 9 }, 12, false },
	{ "three runs with two and three columns", plane, { 6, 8, 9 }, 12, false },
	{ "a length of rows that is a quarter of the ranks, or a side", plane, { 8, 12, 16 }, 18, true },
	{ "always two columns", two_columns, { 4, 6, 8 }, 12, true },
	{ "two columns, and a run with another balanced grid", two_columns, { 4, 6, 8, 12 }, 20, false },
	{ "no grid", one_row, { 4, 6, 8 }, 12, false },
	{ "no grid, by numbers of ranks with other sides", one_row, { 6, 8, 10 }, 12, false },
	{ "three sides", space, { 8, 12, 16 }, 20, false },
	{ "three sides, of which the runs do not show one", space, { 12, 16, 20 }, 24, true },
};

static void extrapolate_row(const struct row *row)
{
	struct extrapolation_summary summary;
	struct pattern_refusal refusal = {};
	struct pattern *runs[RUNS_MAX], *made = NULL, *measured = run(row->grid, row->target);
	u32 count, i;
	int err;

	for (count = 0; count < RUNS_MAX && row->ranks[count]; count++)
		runs[count] = run(row->grid, row->ranks[count]);
	err = pattern_extrapolate((const struct pattern **)runs, count, row->target, &(struct extrapolation_options){}, &made, &summary, &refusal);
	if (row->is_refused) {
		assert_row(row->name, err == -EOPNOTSUPP);
		assert_row(row->name, strstr(refusal.text, "mpi_view: ") && strstr(refusal.text, "form the grid of MPI_Dims_create"));
	} else if (err) {
		fail_msg("%s: %s", row->name, refusal.text);
	} else {
		assert_row(row->name, are_same(made, measured));
	}
	pattern_free(made);
	pattern_free(measured);
	for (i = 0; i < count; i++)
		pattern_free(runs[i]);
}

static void views_of_grids(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		extrapolate_row(&rows[i]);
}

SUITE("grids",
      TEST(views_of_grids))
