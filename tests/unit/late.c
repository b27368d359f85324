// SPDX-License-Identifier: GPL-2.0-only
/*
 * late.c - late arrivals: which rank waits for which, how often, and how long.
 */
#include "mpi_graph.h"
#include "analyse/mpi/mpi_late.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const struct late_row *x = *(const struct late_row *const *)a, *y = *(const struct late_row *const *)b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

/* Rows are written WAITER<LATE KIND TIMES:SUM:MAX, by waiting rank. Closes the graph. */
static void late_are(struct graph *graph, const char *expected, const char *expected_last)
{
	static const char *const kinds[] = { "c", "s", "r" };
	const struct late_row *rows[16], *row;
	char text[512] = "", last[64] = "";
	struct late_arrivals late;
	u32 count = 0, i;

	for (i = 0; i < graph->rank_count; i++)
		graph->ranks[i].world_rank = graph->ranks[i].tgid - 100;
	graph_sort(graph);
	assert_int_equal(graph_late_arrivals(graph, &late), 0);
	for (row = late.rows; row; row = row->hh.next)
		rows[count++] = row;
	qsort(rows, count, sizeof(*rows), compare);
	for (i = 0; i < count; i++)
		sprintf(text + strlen(text), "%s%d<%d %s %llu:%llu:%llu", i ? ", " : "", (int)rows[i]->key.waiter,
			(int)rows[i]->key.late, kinds[rows[i]->key.kind], rows[i]->times, rows[i]->sum_ns, rows[i]->max_ns);
	for (i = 0; i < late.rank_count; i++)
		sprintf(last + strlen(last), "%s%llu", i ? " " : "", late.ranks[i].last);
	assert_string_equal(text, expected);
	assert_string_equal(last, expected_last);
	late_arrivals_free(&late);
	graph_close(graph);
}

static void all_wait_for_the_last_at_a_barrier(void **state)
{
	struct graph *graph = begin(3);

	(void)state;
	CALL(mpi_coll, 0, 10, 52, .call = IOT_CALL_barrier, .number = 1, .root = -1);
	CALL(mpi_coll, 1, 50, 51, .call = IOT_CALL_barrier, .number = 1, .root = -1);
	CALL(mpi_coll, 2, 20, 53, .call = IOT_CALL_barrier, .number = 1, .root = -1);
	CALL(mpi_coll, 0, 100, 205, .call = IOT_CALL_barrier, .number = 2, .root = -1);
	CALL(mpi_coll, 1, 200, 204, .call = IOT_CALL_barrier, .number = 2, .root = -1);
	CALL(mpi_coll, 2, 190, 203, .call = IOT_CALL_barrier, .number = 2, .root = -1);
	late_are(graph, "0<1 c 2:140:100, 2<1 c 2:40:30", "0 2 0");
}

static void broadcast_waits_for_its_root_only(void **state)
{
	struct graph *graph = begin(3);

	(void)state;
	CALL(mpi_coll, 0, 30, 31, .call = IOT_CALL_bcast, .number = 1, .root = 0);
	CALL(mpi_coll, 1, 10, 40, .call = IOT_CALL_bcast, .number = 1, .root = 0, .sources = IOT_SOURCES_all);
	CALL(mpi_coll, 2, 90, 95, .call = IOT_CALL_bcast, .number = 1, .root = 0);
	late_are(graph, "1<0 c 1:20:20", "0 0 1");
}

static void root_of_a_reduction_waits(void **state)
{
	struct graph *graph = begin(3);

	(void)state;
	CALL(mpi_coll, 0, 10, 95, .call = IOT_CALL_reduce, .number = 1, .root = 0, .sources = IOT_SOURCES_all);
	CALL(mpi_coll, 1, 20, 21, .call = IOT_CALL_reduce, .number = 1, .root = 0);
	CALL(mpi_coll, 2, 90, 92, .call = IOT_CALL_reduce, .number = 1, .root = 0);
	late_are(graph, "0<2 c 1:80:80", "0 0 1");
}

static void receive_waits_for_a_late_sender(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	CALL(mpi_send, 0, 40, 41, .call = IOT_CALL_send, .peer = 1, .tag = 5, .length_bytes = 8);
	CALL(mpi_recv, 1, 10, 50, .call = IOT_CALL_recv, .peer = 0, .tag = 5, .length_bytes = 8);
	late_are(graph, "1<0 s 1:30:30", "0 0");
}

/* A rank number is not used as an index: a damaged trace may state any. */
static void rank_number_may_be_large(void **state)
{
	struct graph *graph = begin(2);
	struct late_arrivals late;

	(void)state;
	CALL(mpi_coll, 0, 10, 52, .call = IOT_CALL_barrier, .number = 1, .root = -1);
	CALL(mpi_coll, 1, 50, 51, .call = IOT_CALL_barrier, .number = 1, .root = -1);
	graph->ranks[1].world_rank = 0xfffffff0;
	graph_sort(graph);
	assert_int_equal(graph_late_arrivals(graph, &late), 0);
	assert_int_equal(late.rank_count, 2);
	assert_int_equal(late.ranks[1].rank, 0xfffffff0);
	assert_int_equal(late.ranks[0].last + late.ranks[1].last, 1);
	late_arrivals_free(&late);
	graph_close(graph);
}

/* The wait of a nonblocking receive counts at its completion call. */
static void wait_counts_in_the_call_that_completes(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	CALL(mpi_send, 0, 40, 41, .call = IOT_CALL_send, .peer = 1, .tag = 5, .length_bytes = 8);
	CALL(mpi_recv, 1, 5, 6, .call = IOT_CALL_irecv, .peer = 0, .tag = 5, .length_bytes = 8, .request = 1);
	CALL(mpi_done, 1, 30, 50, .call = IOT_CALL_wait, .peer = 0, .tag = 5, .length_bytes = 8, .request = 1);
	late_are(graph, "1<0 s 1:10:10", "0 0");
}

static void send_waits_for_a_late_receiver_unless_buffered(void **state)
{
	static const struct {
		u64 end_ns;
		const char *rows;
	} rows[] = { { 55, "0<1 r 1:30:30" }, { 15, "" } };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct graph *graph = begin(2);

		CALL(mpi_send, 0, 10, rows[i].end_ns, .call = IOT_CALL_send, .peer = 1, .tag = 5, .length_bytes = 8);
		CALL(mpi_recv, 1, 40, 60, .call = IOT_CALL_recv, .peer = 0, .tag = 5, .length_bytes = 8);
		late_are(graph, rows[i].rows, "0 0");
	}
}

SUITE("late",
      TEST(all_wait_for_the_last_at_a_barrier)
      TEST(broadcast_waits_for_its_root_only)
      TEST(root_of_a_reduction_waits)
      TEST(receive_waits_for_a_late_sender)
      TEST(wait_counts_in_the_call_that_completes)
      TEST(send_waits_for_a_late_receiver_unless_buffered)
      TEST(rank_number_may_be_large))
