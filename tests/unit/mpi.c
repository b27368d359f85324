// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi.c - edges of messages and collectives: the waits are right, and all point back in time.
 *
 * A call of a task is two operations, its halves. Edges are written TASK.OP<TASK.OP, where
 * the first waits for the second, or TASK.OP<hN for latch N.
 */
#include "mpi_graph.h"
#include "analyse/order/order_passes.h"
#include "analyse/mpi/mpi.h"

#include <stdlib.h>

static void receive_waits_for_the_send(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	CALL(mpi_send, 0, 10, 20, .call = IOT_CALL_send, .peer = 1, .tag = 5, .length_bytes = 8);
	CALL(mpi_recv, 1, 5, 30, .call = IOT_CALL_recv, .peer = 0, .tag = 5, .length_bytes = 8);
	gives(graph, "1.1<0.0", 0);
}

static void send_waits_for_the_receive_if_it_is_synchronous(void **state)
{
	static const struct {
		u32 call, length_bytes, posted_ns;
		const char *edges;
	} rows[] = {
		{ IOT_CALL_ssend, 8, 5, "0.1<1.0 1.1<0.0" },
		{ IOT_CALL_send, 8, 5, "1.1<0.0" },
		{ IOT_CALL_send, 100000, 5, "0.1<1.0 1.1<0.0" },
		{ IOT_CALL_send, 100000, 25, "1.1<0.0" }, /* the send had ended by then */
		{ IOT_CALL_bsend, 100000, 5, "1.1<0.0" },
		{ IOT_CALL_ssend_init, 8, 5, "0.1<1.0 1.1<0.0" },
		{ IOT_CALL_bsend_init, 100000, 5, "1.1<0.0" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct graph *graph = begin(2);

		CALL(mpi_send, 0, 10, 20, .call = rows[i].call, .peer = 1,
		     .length_bytes = rows[i].length_bytes);
		CALL(mpi_recv, 1, rows[i].posted_ns, 30, .call = IOT_CALL_recv, .peer = 0,
		     .length_bytes = rows[i].length_bytes);
		gives(graph, rows[i].edges, 0);
	}
}

/* A message of 16 bytes in four partitions of the sender and two of the receiver. */
static void partitions_wait_for_what_they_overlap(void **state)
{
	static const u32 lengths_bytes[] = { 4, 0 };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lengths_bytes); i++) {
		struct graph *graph = begin(2);
		u32 bytes = lengths_bytes[i], part;

		for (part = 0; part < 4; part++)
			CALL(mpi_part, 0, 10 + 10 * part, 11 + 10 * part, .call = IOT_CALL_pready, .request = 1,
			     .offset_bytes = bytes * part, .length_bytes = bytes);
		CALL(mpi_send, 0, 50, 51, .call = IOT_CALL_psend_init, .peer = 1, .tag = -2, .request = 1);
		CALL(mpi_recv, 1, 5, 6, .call = IOT_CALL_precv_init, .peer = 0, .tag = -2, .request = 1);
		CALL(mpi_part, 1, 60, 61, .call = IOT_CALL_parrived, .request = 1, .offset_bytes = 2 * bytes,
		     .length_bytes = 2 * bytes);
		CALL(mpi_done, 1, 70, 71, .call = IOT_CALL_wait, .peer = 0, .tag = -2, .request = 1);
		gives(graph, bytes ? "1.3<0.6 1.3<0.4 1.5<0.8" : "1.3<0.6 1.3<0.4 1.3<0.2 1.3<0.0 1.5<0.8", 0);
	}
}

/* Some partitions arrive before the whole message has been sent; those of another message are independent. */
static void partitions_may_arrive_one_by_one(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	CALL(mpi_recv, 1, 5, 6, .call = IOT_CALL_precv_init, .peer = 0, .tag = -2, .request = 1);
	CALL(mpi_part, 0, 10, 11, .call = IOT_CALL_pready, .request = 1, .offset_bytes = 8, .length_bytes = 8);
	CALL(mpi_part, 0, 12, 13, .call = IOT_CALL_pready, .request = 2, .offset_bytes = 8, .length_bytes = 8);
	CALL(mpi_part, 1, 20, 21, .call = IOT_CALL_parrived, .request = 1, .offset_bytes = 8, .length_bytes = 8);
	CALL(mpi_part, 0, 30, 31, .call = IOT_CALL_pready, .request = 1, .length_bytes = 8);
	CALL(mpi_send, 0, 30, 32, .call = IOT_CALL_psend_init, .peer = 1, .tag = -2, .request = 1);
	CALL(mpi_done, 1, 40, 41, .call = IOT_CALL_wait, .peer = 0, .tag = -2, .request = 1);
	gives(graph, "1.3<0.0 1.5<0.5", 0);
}

static void messages_pair_in_order_of_their_stream(void **state)
{
	struct graph *graph = begin(3);

	(void)state;
	CALL(mpi_send, 0, 10, 11, .call = IOT_CALL_send, .peer = 2, .tag = 1);
	CALL(mpi_send, 0, 12, 13, .call = IOT_CALL_send, .peer = 2, .tag = 2);
	CALL(mpi_send, 0, 14, 15, .call = IOT_CALL_send, .peer = 2, .tag = 1);
	CALL(mpi_send, 1, 16, 17, .call = IOT_CALL_send, .peer = 2, .tag = 1);
	CALL(mpi_send, 1, 18, 19, .call = IOT_CALL_send, .peer = 2, .tag = 1, .comm = OTHER);
	CALL(mpi_recv, 2, 20, 21, .call = IOT_CALL_recv, .peer = 1, .tag = 1, .comm = OTHER);
	CALL(mpi_recv, 2, 22, 23, .call = IOT_CALL_recv, .peer = 0, .tag = 2);
	CALL(mpi_recv, 2, 24, 25, .call = IOT_CALL_recv, .peer = 0, .tag = 1);
	CALL(mpi_recv, 2, 26, 27, .call = IOT_CALL_recv, .peer = 1, .tag = 1);
	CALL(mpi_recv, 2, 28, 29, .call = IOT_CALL_recv, .peer = 0, .tag = 1);
	gives(graph, "2.1<1.2 2.3<0.2 2.5<0.0 2.7<1.0 2.9<0.4", 0);
}

/* A receive with MPI_ANY_SOURCE that was posted first and completes last gets the first message. */
static void receives_count_where_they_were_posted(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	CALL(mpi_recv, 1, 1, 2, .call = IOT_CALL_irecv, .peer = ANY, .tag = ANY, .request = 1);
	CALL(mpi_recv, 1, 3, 4, .call = IOT_CALL_irecv, .peer = 0, .tag = 7, .request = 2);
	CALL(mpi_send, 0, 10, 11, .call = IOT_CALL_isend, .peer = 1, .tag = 7, .request = 1);
	CALL(mpi_send, 0, 12, 13, .call = IOT_CALL_isend, .peer = 1, .tag = 7, .request = 2);
	CALL(mpi_done, 1, 14, 20, .call = IOT_CALL_wait, .peer = 0, .tag = 7, .request = 2);
	CALL(mpi_done, 1, 21, 22, .call = IOT_CALL_wait, .peer = 0, .tag = 7, .request = 1);
	gives(graph, "1.5<0.2 1.7<0.0", 0);
}

static void synchronous_send_waits_in_its_wait_call(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	CALL(mpi_send, 0, 10, 11, .call = IOT_CALL_issend, .peer = 1, .request = 9);
	CALL(mpi_done, 0, 12, 40, .call = IOT_CALL_wait, .request = 9);
	CALL(mpi_recv, 1, 20, 30, .call = IOT_CALL_recv, .peer = 0);
	gives(graph, "0.3<1.0 1.1<0.0", 0);
}

static void calls_without_a_partner_are_counted(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	CALL(mpi_recv, 1, 1, 2, .call = IOT_CALL_irecv, .peer = 0, .tag = 1, .request = 1);
	CALL(mpi_recv, 1, 3, 9, .call = IOT_CALL_recv, .peer = 0, .tag = 2);
	CALL(mpi_send, 0, 10, 11, .call = IOT_CALL_send, .peer = 1, .tag = 3);
	CALL(mpi_coll, 0, 12, 13, .call = IOT_CALL_barrier, .number = 1, .root = -1);
	gives(graph, "", 4);
}

static void collective(struct graph *graph, u32 name, s32 root, const u64 (*times_ns)[2])
{
	u32 i;

	for (i = 0; i < 3; i++)
		CALL(mpi_coll, i, times_ns[i][0], times_ns[i][1], .call = name, .number = 1,
		     .root = root);
}

static void ranks_of_collectives_wait_for_needed_data(void **state)
{
	static const u64 times_ns[3][2] = { { 10, 20 }, { 12, 20 }, { 14, 20 } };
	static const struct {
		u32 call;
		s32 root;
		const char *edges;
	} rows[] = {
		{ IOT_CALL_barrier, -1, "0.1<h0 1.1<h0 2.1<h0" },
		{ IOT_CALL_allreduce, -1, "0.1<h0 1.1<h0 2.1<h0" },
		{ IOT_CALL_alltoallw, -1, "0.1<h0 1.1<h0 2.1<h0" },
		{ IOT_CALL_comm_dup, -1, "0.1<h0 1.1<h0 2.1<h0" },
		{ IOT_CALL_bcast, 1, "0.1<1.0 2.1<1.0" },
		{ IOT_CALL_scatterv, 0, "1.1<0.0 2.1<0.0" },
		{ IOT_CALL_reduce, 2, "2.1<h0" },
		{ IOT_CALL_gather, 0, "0.1<h0" },
		{ IOT_CALL_scan, -1, "1.1<0.0 2.1<0.0 2.1<1.0" },
		{ IOT_CALL_cart_create, -1, "0.1<h0 1.1<h0 2.1<h0" },
		{ IOT_CALL_file_write_all, -1, "0.1<h0 1.1<h0 2.1<h0" },
		{ IOT_CALL_neighbor_alltoall, -1, "" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct graph *graph = begin(3);

		collective(graph, rows[i].call, rows[i].root, times_ns);
		gives(graph, rows[i].edges, 0);
	}
}

static void neighbours_wait_for_neighbours(void **state)
{
	static const u64 times_ns[3][2] = { { 10, 13 }, { 12, 20 }, { 14, 20 } };
	static const struct graph_near line[] = {
		{ COMM, 2, 1 }, { COMM, 1, 2 }, { COMM, 0, 1 },
		{ COMM, 1, 0 }, { OTHER, 0, 2 }, { COMM, 2, 9 },
	};
	struct graph *graph = begin(3);
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(line); i++)
		assert_int_equal(graph_near_add(graph, &line[i]), 0);
	collective(graph, IOT_CALL_neighbor_alltoallw, -1, times_ns);
	gives(graph, "0.1<1.0 1.1<0.0 1.1<2.0 2.1<1.0", 0);
}

/* Tasks 0 and 1 are threads of one rank, which send concurrently, or one after the other. */
static void messages_of_threads_at_the_same_time_are_doubtful(void **state)
{
	static const struct {
		u32 second_ns, doubtful;
	} rows[] = { { 15, 1 }, { 20, 0 } };
	struct graph *graph;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		graph = begin(3);
		graph->tasks[1].tgid = graph->tasks[0].tgid;
		CALL(mpi_send, 0, 10, 20, .call = IOT_CALL_send, .peer = 2, .tag = 1);
		CALL(mpi_send, 1, rows[i].second_ns, 30, .call = IOT_CALL_send, .peer = 2, .tag = 1);
		CALL(mpi_recv, 2, 40, 41, .call = IOT_CALL_recv, .peer = 0, .tag = 1);
		CALL(mpi_recv, 2, 42, 43, .call = IOT_CALL_recv, .peer = 0, .tag = 1);
		CALL(mpi_recv, 2, 44, 45, .call = IOT_CALL_recv, .peer = 0, .tag = 9);
		graph_sort(graph);
		assert_int_equal(graph_pass_mpi(graph), 0);
		assert_int_equal(graph->mpi_ambiguous, rows[i].doubtful);
		assert_int_equal(graph->mpi_unmatched, 1);
		assert_int_equal(graph->mpi_note_count, 1 + rows[i].doubtful);
		if (rows[i].doubtful) {
			assert_int_equal(graph->mpi_notes[0].task, 101);
			assert_int_equal(graph->mpi_notes[0].op, 2);
		}
		assert_string_equal(graph->mpi_notes[rows[i].doubtful].reason,
				    "a receive without a send");
		graph_close(graph);
	}
}

/* In an inter-communicator, only the root and the remote group name the root, and only these wait. */
static void root_is_found_by_its_argument(void **state)
{
	struct graph *graph = begin(3);

	(void)state;
	CALL(mpi_coll, 0, 10, 20, .call = IOT_CALL_bcast, .number = 1, .root = -1);
	CALL(mpi_coll, 1, 12, 20, .call = IOT_CALL_bcast, .number = 1, .root = 1);
	CALL(mpi_coll, 2, 14, 20, .call = IOT_CALL_bcast, .number = 1, .root = 1);
	gives(graph, "2.1<1.0", 0);
}

/* Ranks 0 and 1 are one group, 2 and 3 the other: each waits only for the other group. */
static void groups_wait_for_each_other(void **state)
{
	static const struct {
		u32 call;
		s32 roots[4];
		const char *edges;
	} rows[] = {
		{ IOT_CALL_barrier, { -1, -1, -1, -1 }, "0.1<h0 1.1<h0 2.1<h1 3.1<h1" },
		{ IOT_CALL_ialltoall, { -1, -1, -1, -1 }, "0.1<h0 1.1<h0 2.1<h1 3.1<h1" },
		{ IOT_CALL_comm_dup, { -1, -1, -1, -1 }, "0.1<h0 1.1<h0 2.1<h0 3.1<h0" },
		{ IOT_CALL_bcast, { -1, 1, 1, 1 }, "2.1<1.0 3.1<1.0" },
		{ IOT_CALL_bcast, { 3, 3, -1, 3 }, "0.1<3.0 1.1<3.0" },
		{ IOT_CALL_reduce, { -1, 1, 1, 1 }, "1.1<h0" },
		{ IOT_CALL_gather, { 3, 3, -1, 3 }, "3.1<h0" },
	};
	size_t i;
	u32 task;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct graph *graph = begin(4);

		for (task = 0; task < graph->rank_count; task++)
			graph->ranks[task].first = 2;
		for (task = 0; task < 4; task++)
			CALL(mpi_coll, task, 10 + task, 50, .call = rows[i].call, .number = 1,
			     .root = rows[i].roots[task]);
		gives(graph, rows[i].edges, 0);
	}
}

/* The root does not wait for the rest of its own group, which called later. */
static void root_waits_for_the_other_group(void **state)
{
	struct graph *graph = begin(4);
	u32 task;

	(void)state;
	for (task = 0; task < graph->rank_count; task++)
		graph->ranks[task].first = 2;
	CALL(mpi_coll, 0, 90, 95, .call = IOT_CALL_reduce, .number = 1, .root = -1);
	CALL(mpi_coll, 1, 10, 50, .call = IOT_CALL_reduce, .number = 1, .root = 1);
	CALL(mpi_coll, 2, 20, 30, .call = IOT_CALL_reduce, .number = 1, .root = 1);
	CALL(mpi_coll, 3, 20, 30, .call = IOT_CALL_reduce, .number = 1, .root = 1);
	gives(graph, "1.1<h0", 0);
}

/* The first of two messages is matched by the probe, although it is received last. */
static void matched_probe_receives_at_its_own_position(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	CALL(mpi_send, 0, 10, 11, .call = IOT_CALL_send, .peer = 1, .tag = 1);
	CALL(mpi_send, 0, 20, 21, .call = IOT_CALL_send, .peer = 1, .tag = 1);
	CALL(mpi_recv, 1, 5, 15, .call = IOT_CALL_mprobe, .peer = 0, .tag = 1, .request = 1);
	CALL(mpi_recv, 1, 16, 25, .call = IOT_CALL_recv, .peer = 0, .tag = 1);
	CALL(mpi_done, 1, 30, 31, .call = IOT_CALL_mrecv, .peer = 0, .tag = 1, .request = 1);
	gives(graph, "1.1<0.0 1.3<0.2 1.5<0.0", 0);
}

/* Except the root, which needs no data of itself. */
static void all_arrive_at_the_latch(void **state)
{
	static const u64 times_ns[3][2] = { { 10, 20 }, { 12, 20 }, { 14, 20 } };
	struct graph *graph = begin(3);
	u32 i;

	(void)state;
	collective(graph, IOT_CALL_reduce, 0, times_ns);
	assert_int_equal(graph_pass_mpi(graph), 0);
	assert_int_equal(graph->latch_count, 1);
	assert_int_equal(graph->latches[0], 2);
	for (i = 0; i < 3; i++)
		assert_int_equal(graph->tasks[i].ops[0].handle, i > 0);
	graph_close(graph);
}

static void rank_that_left_early_did_not_wait(void **state)
{
	static const u64 times_ns[3][2] = { { 10, 13 }, { 12, 20 }, { 14, 20 } };
	static const struct {
		u32 call;
		s32 root;
		const char *edges;
	} rows[] = {
		{ IOT_CALL_comm_free, -1, "1.1<h0 2.1<h0" },
		{ IOT_CALL_bcast, 2, "1.1<2.0" },
		{ IOT_CALL_reduce, 0, "0.1<1.0" }, /* the source of its data is unknown */
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct graph *graph = begin(3);

		collective(graph, rows[i].call, rows[i].root, times_ns);
		gives(graph, rows[i].edges, 0);
	}
}

static void nonblocking_collective_waits_in_its_wait_call(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	CALL(mpi_coll, 0, 10, 11, .call = IOT_CALL_ibarrier, .number = 1, .root = -1, .request = 4);
	CALL(mpi_coll, 0, 12, 30, .call = IOT_CALL_allreduce, .number = 2, .root = -1);
	CALL(mpi_done, 0, 31, 32, .call = IOT_CALL_wait, .request = 4);
	CALL(mpi_coll, 1, 20, 21, .call = IOT_CALL_ibarrier, .number = 1, .root = -1, .request = 7);
	CALL(mpi_coll, 1, 22, 30, .call = IOT_CALL_allreduce, .number = 2, .root = -1);
	gives(graph, "0.3<h0 0.5<1.0 1.3<h0", 0); /* rank 1 did not wait for its own request */
}

/* Random records at random times, which no MPI would cause. */
static void all_edges_look_back(void **state)
{
	struct graph *graph = begin(4);
	u64 now_ns[4] = {}, latch_ns[1024] = {}, from_ns;
	u32 task, op, e, i;

	(void)state;
	srand(1);
	for (i = 0; i < 2000; i++) {
		u32 length_bytes = rand() % 2 * 100000;

		task = rand() % 4;
		now_ns[task] += 1 + rand() % 50;
		if (rand() % 2)
			CALL(mpi_coll, task, now_ns[task], now_ns[task] + rand() % 50,
			     .call = rand() % 2 ? IOT_CALL_bcast : IOT_CALL_barrier,
			     .number = 1 + rand() % 300, .root = rand() % 4);
		else if (rand() % 2)
			CALL(mpi_send, task, now_ns[task], now_ns[task] + rand() % 50,
			     .call = IOT_CALL_send, .peer = rand() % 4, .length_bytes = length_bytes);
		else
			CALL(mpi_recv, task, now_ns[task], now_ns[task] + rand() % 50,
			     .call = IOT_CALL_recv, .peer = rand() % 4);
		now_ns[task] = graph->mpi[i].end_ns;
	}
	graph_sort(graph);
	assert_int_equal(graph_pass_mpi(graph), 0);
	assert_true(graph->edge_count > 100 && graph->latch_count > 100);
	assert_true(graph->latch_count <= ARRAY_SIZE(latch_ns));
	for (task = 0; task < 4; task++)
		for (op = 0; op < graph->tasks[task].op_count; op++) {
			const struct graph_op *half = &graph->tasks[task].ops[op];

			if (half->handle && latch_ns[half->handle - 1] < half->enter_ns)
				latch_ns[half->handle - 1] = half->enter_ns;
		}
	for (task = 0; task < 4; task++)
		for (op = 0; op < graph->tasks[task].op_count; op++)
			for (e = graph->tasks[task].ops[op].edges; e != GRAPH_NONE;
			     e = graph->edges[e].next) {
				const struct graph_edge *edge = &graph->edges[e];

				from_ns = edge->task == GRAPH_NONE ?
						  latch_ns[edge->index] :
						  graph->tasks[edge->task].ops[edge->index].enter_ns;
				assert_true(from_ns < graph->tasks[task].ops[op].enter_ns);
			}
	graph_close(graph);
}

/* Two ranks meet when the second enters, at 40; the time of the barrier from then to 100 is their own. */
static void call_waits_until_the_last_rank_arrives(void **state)
{
	static const u64 think_ns[2][3] = { { 10, 0, 70 }, { 40, 0, 70 } };
	struct graph *graph = begin(2);
	u32 task, op;

	(void)state;
	CALL(mpi_coll, 0, 10, 100, .call = IOT_CALL_barrier, .number = 1, .root = -1);
	CALL(mpi_coll, 1, 40, 100, .call = IOT_CALL_barrier, .number = 1, .root = -1);
	for (task = 0; task < 2; task++)
		half(graph, task, IOT_KIND_read, 110);
	graph_sort(graph);
	assert_int_equal(graph_pass_mpi(graph), 0);
	assert_int_equal(graph->latch_count, 1);
	assert_int_equal(graph_pass_think(graph), 0);
	for (task = 0; task < 2; task++)
		for (op = 0; op < 3; op++)
			assert_int_equal(graph->tasks[task].ops[op].compute_ns +
						 graph->tasks[task].ops[op].pause_ns,
					 think_ns[task][op]);
	graph_close(graph);
}

SUITE("mpi",
      TEST(receive_waits_for_the_send)
      TEST(send_waits_for_the_receive_if_it_is_synchronous)
      TEST(partitions_wait_for_what_they_overlap)
      TEST(partitions_may_arrive_one_by_one)
      TEST(messages_pair_in_order_of_their_stream)
      TEST(receives_count_where_they_were_posted)
      TEST(synchronous_send_waits_in_its_wait_call)
      TEST(calls_without_a_partner_are_counted)
      TEST(ranks_of_collectives_wait_for_needed_data)
      TEST(neighbours_wait_for_neighbours)
      TEST(messages_of_threads_at_the_same_time_are_doubtful)
      TEST(root_is_found_by_its_argument)
      TEST(groups_wait_for_each_other)
      TEST(root_waits_for_the_other_group)
      TEST(matched_probe_receives_at_its_own_position)
      TEST(all_arrive_at_the_latch)
      TEST(rank_that_left_early_did_not_wait)
      TEST(nonblocking_collective_waits_in_its_wait_call)
      TEST(all_edges_look_back)
      TEST(call_waits_until_the_last_rank_arrives))
