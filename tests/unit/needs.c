// SPDX-License-Identifier: GPL-2.0-only
/*
 * needs.c - the waits between ranks in collectives: waits that follow from moved data exist whatever
 * the times are, and waits that MPI leaves open exist if the times are consistent with them.
 */
#include "mpi_graph.h"
#include "analyse/mpi/mpi.h"

#include <stdlib.h>

#define NONE  .sources = IOT_SOURCES_none
#define ALL   .sources = IOT_SOURCES_all
#define BITS(bits) .sources = IOT_SOURCES_bits, .list = (bits), .list_bytes = sizeof(bits) - 1
#define RUNS(runs) .sources = IOT_SOURCES_runs, .list = (runs), .list_bytes = sizeof(runs) - 1

/* A part of the first collective on COMM. */
#define PART(call_, task_, enter, end, ...) \
	CALL(mpi_coll, task_, enter, end, .call = IOT_CALL_##call_, .number = 1, .root = -1, __VA_ARGS__)

static void counts(struct graph *graph, const char *expected, u64 contradicted, u64 unknown)
{
	graph_sort(graph);
	assert_int_equal(graph_pass_mpi(graph), 0);
	assert_int_equal(graph->mpi_contradicted, contradicted);
	assert_int_equal(graph->mpi_unknown, unknown);
	ends_as(graph, expected, 0);
}

/* Rank 1 gets data of rank 0, and rank 2 enters when they have left. */
static void late_ranks_do_not_hide_needs(void **state)
{
	struct graph *graph = begin(3);

	(void)state;
	PART(alltoallv, 0, 10, 11, NONE);
	PART(alltoallv, 1, 5, 20, BITS("\x01"));
	PART(alltoallv, 2, 50, 60, NONE);
	counts(graph, "1.1<0.0", 0, 0);
}

/* The same for a request that completes later. */
static void late_ranks_do_not_hide_needs_of_requests(void **state)
{
	struct graph *graph = begin(3);

	(void)state;
	PART(ialltoallv, 0, 10, 11, NONE, .request = 1);
	PART(ialltoallv, 1, 5, 6, BITS("\x01"), .request = 1);
	CALL(mpi_done, 1, 15, 20, .call = IOT_CALL_wait, .request = 1);
	PART(ialltoallv, 2, 50, 60, NONE, .request = 1);
	counts(graph, "1.3<0.0", 0, 0);
}

static void lists_of_both_kinds_mean_ranks(void **state)
{
	static const u64 times_ns[4][2] = { { 10, 20 }, { 11, 20 }, { 12, 20 }, { 30, 40 } };
	struct graph *graph = begin(4);
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		PART(allgatherv, i, times_ns[i][0], times_ns[i][1], RUNS("\0\0\0\0\2\0\0\0"));
	PART(allgatherv, 3, 30, 40, BITS("\x3"));
	counts(graph, "0.1<h0 1.1<h0 2.1<h0 3.1<h0", 0, 0);
}

/*
 * An optional wait of the library is in the program if no rank left before the last one with data
 * arrived.
 */
static void ranks_wait_for_all_data_if_no_rank_left_early(void **state)
{
	struct graph *graph = begin(3);

	(void)state;
	PART(alltoallv, 0, 10, 20, NONE);
	PART(alltoallv, 1, 11, 20, BITS("\x01"));
	PART(alltoallv, 2, 12, 20, BITS("\x02"));
	counts(graph, "0.1<h0 1.1<h0 2.1<h0", 0, 0);
}

static void calls_without_data_have_no_waits(void **state)
{
	static const u32 calls[] = {
		IOT_CALL_allreduce, IOT_CALL_bcast, IOT_CALL_reduce, IOT_CALL_alltoall, IOT_CALL_scan,
		IOT_CALL_neighbor_alltoall, IOT_CALL_reduce_scatter,
	};
	size_t i;
	u32 rank;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		struct graph *graph = begin(3);

		for (rank = 0; rank < 3; rank++)
			CALL(mpi_coll, rank, 10 + rank, 50, .call = calls[i], .number = 1, .root = 0, NONE);
		counts(graph, "", 0, 0);
	}
}

/* In a barrier, or if data of all ranks is needed, the times cannot be right: this is reported. */
static void contradictions_are_counted(void **state)
{
	static const struct {
		u32 call, sources, number;
		const char *edges;
		u64 contradicted;
	} rows[] = {
		{ IOT_CALL_barrier, IOT_SOURCES_unknown, 1, "0.1<1.0 1.1<h0 2.1<h0", 1 },
		{ IOT_CALL_allreduce, IOT_SOURCES_all, 1, "0.1<1.0 1.1<h0 2.1<h0", 1 },
		{ IOT_CALL_comm_split, IOT_SOURCES_unknown, 1, "0.1<1.0 1.1<h0 2.1<h0", 1 },
		{ IOT_CALL_win_fence, IOT_SOURCES_all, 2, "0.1<1.0 1.1<h0 2.1<h0", 1 },
		{ IOT_CALL_win_fence, IOT_SOURCES_all, 1, "1.1<h0 2.1<h0", 0 },
		{ IOT_CALL_win_fence, IOT_SOURCES_none, 2, "1.1<h0 2.1<h0", 0 },
		{ IOT_CALL_comm_create, IOT_SOURCES_unknown, 1, "1.1<h0 2.1<h0", 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct graph *graph = begin(3);

		CALL(mpi_coll, 0, 10, 13, .call = rows[i].call, .number = rows[i].number, .root = -1,
		     .sources = rows[i].sources);
		CALL(mpi_coll, 1, 12, 20, .call = rows[i].call, .number = rows[i].number, .root = -1,
		     .sources = rows[i].sources);
		CALL(mpi_coll, 2, 14, 20, .call = rows[i].call, .number = rows[i].number, .root = -1,
		     .sources = rows[i].sources);
		counts(graph, rows[i].edges, rows[i].contradicted, 0);
	}
}

/* An older trace: any rank that entered before may have contributed data. */
static void unknown_needs_are_kept_and_counted(void **state)
{
	struct graph *graph = begin(3);

	(void)state;
	PART(alltoallv, 0, 10, 11);
	PART(alltoallv, 1, 5, 20);
	PART(alltoallv, 2, 50, 60);
	counts(graph, "0.1<1.0 1.1<0.0 2.1<h0", 0, 2);
}

static void failed_calls_prove_nothing(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	PART(allreduce, 0, 10, 11, ALL, .result = -EIO);
	PART(allreduce, 1, 20, 30, ALL);
	counts(graph, "1.1<h0", 0, 0);
}

/* Ranks 0 and 1 are one group, 2 and 3 the other. Rank 3 gets data only of rank 1, and rank 0 is late. */
static void groups_need_data_of_the_other_group(void **state)
{
	struct graph *graph = begin(4);
	u32 i;

	(void)state;
	for (i = 0; i < graph->rank_count; i++)
		graph->ranks[i].first = 2;
	PART(alltoallv, 1, 12, 13, NONE);
	PART(alltoallv, 3, 5, 20, BITS("\x02"));
	PART(alltoallv, 2, 30, 60, ALL);
	PART(alltoallv, 0, 50, 51, NONE);
	counts(graph, "2.1<h0 3.1<1.0", 0, 0);
}

static void only_neighbours_with_data_are_needed(void **state)
{
	static const struct graph_near line[] = { { COMM, 1, 0 }, { COMM, 1, 2 }, { COMM, 0, 1 }, { COMM, 2, 1 } };
	struct graph *graph = begin(3);
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(line); i++)
		assert_int_equal(graph_near_add(graph, &line[i]), 0);
	PART(neighbor_alltoallv, 0, 10, 20, ALL);
	PART(neighbor_alltoallv, 1, 11, 15, BITS("\x01"));
	PART(neighbor_alltoallv, 2, 30, 31, NONE);
	counts(graph, "0.1<1.0 1.1<0.0", 0, 0);
}

/* A rank waits for the rank below, which has waited for the others; and for those in between that left later. */
static void scans_are_chains(void **state)
{
	static const u64 times_ns[6][2] = { { 10, 30 }, { 11, 31 }, { 12, 32 }, { 13, 40 }, { 14, 34 }, { 15, 41 } };
	struct graph *graph = begin(6);
	u32 i;

	(void)state;
	for (i = 0; i < 6; i++)
		PART(scan, i, times_ns[i][0], times_ns[i][1], ALL);
	counts(graph, "1.1<0.0 2.1<1.1 3.1<2.1 4.1<2.1 4.1<3.0 5.1<4.1", 0, 0);
}

/* The completion of a request says nothing about the other ranks. */
static void nonblocking_scans_are_not_chains(void **state)
{
	struct graph *graph = begin(3);
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		PART(iscan, i, 10 + i, 20 + i, ALL, .request = 1);
		CALL(mpi_done, i, 30 + i, 40 + i, .call = IOT_CALL_wait, .request = 1);
	}
	counts(graph, "1.3<0.0 2.3<0.0 2.3<1.0", 0, 0);
}

/* For many ranks, there are far fewer edges than pairs; each rank waits for all below it, and for no other. */
static void long_scans_have_few_edges(void **state)
{
	struct graph *graph = begin(50);
	u32 i, j, e;

	(void)state;
	for (i = 0; i < 50; i++) {
		PART(iexscan, i, 10 + i, 100 + i, ALL, .request = 1);
		CALL(mpi_done, i, 300 + i, 400 + i, .call = IOT_CALL_wait, .request = 1);
	}
	graph_sort(graph);
	assert_int_equal(graph_pass_mpi(graph), 0);
	assert_int_equal(graph->mpi_contradicted, 0);
	assert_true(graph->edge_count < 50 * 15);
	for (i = 0; i < 50; i++) {
		bool is_waited_for[50] = {};

		for (e = graph->tasks[i].ops[3].edges; e != GRAPH_NONE; e = graph->edges[e].next) {
			const struct graph_edge *edge = &graph->edges[e];

			for (j = 0; j < 50; j++)
				if (edge->task == GRAPH_NONE ? graph->tasks[j].ops[0].handle == edge->index + 1 :
							       edge->task == j && !edge->index)
					is_waited_for[j] = true;
		}
		for (j = 0; j < 50; j++)
			assert_int_equal(is_waited_for[j], j < i);
	}
	graph_close(graph);
}

/* There are as many edges as ranks, not as pairs, although each rank gets data of nearly all others. */
static void dense_calls_have_few_edges(void **state)
{
	static char sets[64][8];
	struct graph *graph = begin(64);
	u32 i;

	(void)state;
	for (i = 0; i < 64; i++) {
		memset(sets[i], 0xff, sizeof(sets[i]));
		sets[i][(i + 9) % 64 / 8] = 0x55;
		CALL(mpi_coll, i, 10 + i, i == 20 ? 60 : 200 + i, .call = IOT_CALL_alltoallv, .number = 1,
		     .root = -1, .sources = IOT_SOURCES_bits, .list = sets[i], .list_bytes = 8);
	}
	graph_sort(graph);
	assert_int_equal(graph_pass_mpi(graph), 0);
	assert_int_equal(graph->latch_count, 1);
	assert_true(graph->edge_count < 2 * 64);
	assert_int_equal(graph->mpi_contradicted, 1);
	graph_close(graph);
}

/* Random lists, which no shim would write. */
static void invalid_lists_are_survived(void **state)
{
	static const u32 calls[] = {
		IOT_CALL_alltoallv, IOT_CALL_gatherv, IOT_CALL_neighbor_alltoallw, IOT_CALL_bcast, IOT_CALL_scan,
		IOT_CALL_comm_create,
	};
	static char bytes[512];
	struct graph *graph;
	u32 round, i, first;

	(void)state;
	srand(1);
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(rand() % 3 ? 0 : rand());
	for (round = 0; round < 300; round++) {
		graph = begin(5);
		first = rand() % 2 ? 0 : (u32)rand() % 9;
		for (i = 0; i < graph->rank_count; i++)
			graph->ranks[i].first = first;
		for (i = 0; i < 40; i++) {
			u32 at = (u32)rand() % 256, sources = (u32)rand() % 7;

			CALL(mpi_coll, (u32)rand() % 5, 10 + i, 20 + i + (u32)rand() % 40,
			     .call = calls[rand() % ARRAY_SIZE(calls)], .number = 1 + (u32)rand() % 4,
			     .root = rand() % 8 - 2, .sources = sources, .list = bytes + at,
			     .list_bytes = (u32)rand() % 256);
		}
		graph_sort(graph);
		assert_int_equal(graph_pass_mpi(graph), 0);
		graph_close(graph);
	}
}

SUITE("needs",
      TEST(late_ranks_do_not_hide_needs)
      TEST(late_ranks_do_not_hide_needs_of_requests)
      TEST(lists_of_both_kinds_mean_ranks)
      TEST(ranks_wait_for_all_data_if_no_rank_left_early)
      TEST(calls_without_data_have_no_waits)
      TEST(contradictions_are_counted)
      TEST(unknown_needs_are_kept_and_counted)
      TEST(failed_calls_prove_nothing)
      TEST(groups_need_data_of_the_other_group)
      TEST(only_neighbours_with_data_are_needed)
      TEST(scans_are_chains)
      TEST(nonblocking_scans_are_not_chains)
      TEST(long_scans_have_few_edges)
      TEST(dense_calls_have_few_edges)
      TEST(invalid_lists_are_survived))
