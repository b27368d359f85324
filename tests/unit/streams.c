// SPDX-License-Identifier: GPL-2.0-only
/*
 * streams.c - matches sends with receives where their positions are not sufficient: threads post concurrently,
 * a send was not seen, or one was cancelled.
 */
#include "mpi_graph.h"
#include "analyse/mpi/mpi.h"

#include <stdlib.h>

/* Messages from rank 0, whose thread is @task, to the last task. */
#define SEND(task_, enter, end, bytes, ...) \
	CALL(mpi_send, task_, enter, end, .call = IOT_CALL_send, .peer = (s32)graph->task_count - 1, \
	     .length_bytes = (bytes), __VA_ARGS__)
#define RECV(enter, end, bytes, ...) \
	CALL(mpi_recv, graph->task_count - 1, enter, end, .call = IOT_CALL_recv, .peer = 0, \
	     .length_bytes = (bytes), __VA_ARGS__)

/* Closes the graph. */
static void counts(struct graph *graph, const char *expected, u32 unmatched, u64 doubtful)
{
	graph_sort(graph);
	assert_int_equal(graph_pass_mpi(graph), 0);
	assert_int_equal(graph->mpi_ambiguous, doubtful);
	ends_as(graph, expected, unmatched);
}

/* Tasks 0 and 1 are threads of rank 0; task 2 is rank 2. */
static struct graph *begin_threads(void)
{
	struct graph *graph = begin(3);

	graph->tasks[1].tgid = graph->tasks[0].tgid;
	return graph;
}

static void lengths_distinguish_threads(void **state)
{
	struct graph *graph = begin_threads();

	(void)state;
	SEND(0, 10, 20, 8);
	SEND(1, 15, 30, 16);
	RECV(40, 41, 16);
	RECV(42, 43, 8);
	counts(graph, "2.1<1.0 2.3<0.0", 0, 0);
}

static void equal_lengths_do_not_distinguish_threads(void **state)
{
	struct graph *graph = begin_threads();

	(void)state;
	SEND(0, 10, 20, 8);
	SEND(1, 15, 30, 8);
	RECV(40, 41, 8);
	RECV(42, 43, 8);
	counts(graph, "2.1<0.0 2.3<1.0", 0, 1);
}

/* A long call of one thread permits several positions of the other thread's calls. */
static void calls_concurrent_with_a_long_call_are_doubtful(void **state)
{
	struct graph *graph = begin_threads();
	u32 i;

	(void)state;
	SEND(0, 10, 50, 8);
	for (i = 0; i < 3; i++)
		SEND(1, 15 + 10 * i, 16 + 10 * i, 8);
	SEND(1, 60, 61, 8);
	for (i = 0; i < 5; i++)
		RECV(70 + 2 * i, 71 + 2 * i, 8);
	counts(graph, "2.1<0.0 2.3<1.0 2.5<1.2 2.7<1.4 2.9<1.6", 0, 3);
}

/* The first receive ended before the second send began: their positions suggest another match. */
static void times_resolve_some_doubts(void **state)
{
	struct graph *graph = begin_threads();

	(void)state;
	CALL(mpi_recv, 0, 10, 12, .call = IOT_CALL_irecv, .peer = 2, .request = 1, .length_bytes = 100);
	CALL(mpi_recv, 1, 11, 13, .call = IOT_CALL_irecv, .peer = 2, .request = 2, .length_bytes = 100);
	CALL(mpi_send, 2, 20, 21, .call = IOT_CALL_send, .peer = 0, .length_bytes = 8);
	CALL(mpi_done, 1, 25, 30, .call = IOT_CALL_wait, .peer = 2, .request = 2, .length_bytes = 8);
	CALL(mpi_send, 2, 40, 41, .call = IOT_CALL_send, .peer = 0, .length_bytes = 8);
	CALL(mpi_done, 0, 45, 50, .call = IOT_CALL_wait, .peer = 2, .request = 1, .length_bytes = 8);
	counts(graph, "0.3<2.2 1.3<2.0", 0, 1);
}

/* The first of three sends was made by a call that the shim does not wrap. */
static void lengths_reveal_an_unrecorded_send(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	SEND(0, 20, 21, 16);
	SEND(0, 30, 31, 24);
	RECV(40, 41, 8);
	RECV(42, 43, 16);
	RECV(44, 45, 24);
	counts(graph, "1.3<0.0 1.5<0.2", 1, 0);
}

/* Its length is also that of another one: the send of any of these may be missing. */
static void equal_lengths_do_not_identify_the_unrecorded_send(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	SEND(0, 20, 21, 16);
	SEND(0, 30, 31, 8);
	RECV(40, 41, 8);
	RECV(42, 43, 16);
	RECV(44, 45, 8);
	counts(graph, "1.3<0.0 1.5<0.2", 1, 1);
}

/* It cannot be determined which send is missing: the first receive is matched with an existing send. */
static void missing_send_makes_all_of_its_length_doubtful(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	SEND(0, 10, 11, 8);
	SEND(0, 12, 13, 16);
	RECV(20, 21, 8);
	RECV(22, 23, 16);
	RECV(24, 25, 8);
	counts(graph, "1.1<0.0 1.3<0.2", 1, 1);
}

/* All lengths are the same, but a receive cannot end before its send begins. */
static void times_reveal_an_unrecorded_send(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	SEND(0, 20, 21, 8);
	RECV(10, 11, 8);
	RECV(22, 23, 8);
	counts(graph, "1.3<0.0", 1, 1);
}

static void unreceived_sends_have_no_effect(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	SEND(0, 10, 11, 8);
	SEND(0, 12, 13, 8);
	SEND(0, 14, 15, 8);
	RECV(20, 21, 8);
	RECV(22, 23, 8);
	counts(graph, "1.1<0.0 1.3<0.2", 1, 0);
}

static void cancelled_sends_are_ignored(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	CALL(mpi_send, 0, 10, 11, .call = IOT_CALL_isend, .peer = 1, .request = 1, .length_bytes = 8);
	CALL(mpi_done, 0, 12, 13, .call = IOT_CALL_wait, .peer = -1, .request = 1, .result = -ECANCELED);
	SEND(0, 20, 21, 8);
	RECV(30, 31, 8);
	counts(graph, "1.1<0.4", 1, 0);
}

/* The message was truncated. */
static void truncated_message_is_received(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	SEND(0, 10, 11, 100);
	SEND(0, 12, 13, 8);
	RECV(20, 21, 64, .result = -EMSGSIZE);
	RECV(22, 23, 8);
	counts(graph, "1.1<0.0 1.3<0.2", 0, 0);
}

/* A probe found the message of the next receive; another probe a message that is not received. */
static void probes_find_the_next_received_message(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	SEND(0, 10, 11, 8);
	SEND(0, 12, 13, 16);
	CALL(mpi_probe, 1, 15, 16, .call = IOT_CALL_probe, .peer = 0, .length_bytes = 8);
	RECV(20, 21, 8);
	CALL(mpi_probe, 1, 25, 26, .call = IOT_CALL_probe, .peer = 0, .length_bytes = 16);
	counts(graph, "1.1<0.0 1.3<0.0 1.5<0.2", 1, 0);
}

/* Sends that were started together are in the order of their records. */
static void simultaneous_sends_keep_their_order(void **state)
{
	struct graph *graph = begin(2);
	char expected[256] = "";
	u32 i;

	(void)state;
	for (i = 0; i < 20; i++)
		CALL(mpi_send, 0, 10, 20 + i, .call = IOT_CALL_send_init, .peer = 1, .request = 1 + i);
	for (i = 0; i < 20; i++)
		RECV(50 + 2 * i, 51 + 2 * i, 0);
	for (i = 0; i < 20; i++)
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "%s1.%u<0.%u",
			 i ? " " : "", 2 * i + 1, i);
	counts(graph, expected, 0, 0);
}

/* In a merged trace with contradictory clocks, a receive may seem to end before its send; this is reported. */
static void times_of_several_nodes_have_no_effect(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	assert_int_equal(graph_fact_add(graph, "nodes=2", 7), 0);
	SEND(0, 20, 21, 8);
	SEND(0, 30, 31, 8);
	RECV(10, 11, 8);
	RECV(42, 43, 8);
	graph_sort(graph);
	assert_int_equal(graph_pass_mpi(graph), 0);
	assert_int_equal(graph->mpi_contradicted, 1);
	ends_as(graph, "1.3<0.2", 0);
}

#define RANDOM 24 /* messages */

/* Two threads send; MPI gets their messages in the order of @sends, in the middle of their calls. */
static void send_at_random(struct graph *graph, u32 *sends, u32 *lengths)
{
	u64 sent_ns[2] = { 10, 10 };
	u32 ops[2] = {}, i;

	for (i = 0; i < RANDOM; i++) {
		u32 thread = (u32)rand() % 2;
		u64 heard_ns = 20 + 10 * i, from_ns = heard_ns - (u32)rand() % 15;

		if (from_ns <= sent_ns[thread])
			from_ns = sent_ns[thread] + 1;
		if (from_ns > heard_ns)
			from_ns = heard_ns;
		sent_ns[thread] = heard_ns + (u32)rand() % 9;
		lengths[i] = 1 + (u32)rand() % 4;
		sends[i] = thread * 1000 + 2 * ops[thread]++;
		SEND(thread, from_ns, sent_ns[thread], lengths[i]);
	}
}

/* Random streams whose matches are known: matches that are not marked as ambiguous are right. */
static void certain_pairs_are_correct(void **state)
{
	u32 round, i, doubtful = 0;

	(void)state;
	srand(5);
	for (round = 0; round < 300; round++) {
		struct graph *graph = begin_threads();
		u32 sends[RANDOM], lengths[RANDOM], wrong = 0;

		send_at_random(graph, sends, lengths);
		for (i = 0; i < RANDOM; i++)
			RECV(5000 + 10 * i, 5005 + 10 * i, lengths[i]);
		graph_sort(graph);
		assert_int_equal(graph_pass_mpi(graph), 0);
		assert_int_equal(graph->mpi_unmatched, 0);
		for (i = 0; i < RANDOM; i++) {
			const struct graph_edge *edge = &graph->edges[graph->tasks[2].ops[2 * i + 1].edges];

			wrong += edge->task * 1000 + edge->index != sends[i];
		}
		assert_true(wrong <= 2 * graph->mpi_ambiguous);
		doubtful += graph->mpi_ambiguous;
		graph_close(graph);
	}
	assert_true(doubtful < 300 * RANDOM / 5);
}

SUITE("streams",
      TEST(lengths_distinguish_threads)
      TEST(equal_lengths_do_not_distinguish_threads)
      TEST(calls_concurrent_with_a_long_call_are_doubtful)
      TEST(times_resolve_some_doubts)
      TEST(lengths_reveal_an_unrecorded_send)
      TEST(equal_lengths_do_not_identify_the_unrecorded_send)
      TEST(missing_send_makes_all_of_its_length_doubtful)
      TEST(times_reveal_an_unrecorded_send)
      TEST(unreceived_sends_have_no_effect)
      TEST(cancelled_sends_are_ignored)
      TEST(truncated_message_is_received)
      TEST(probes_find_the_next_received_message)
      TEST(simultaneous_sends_keep_their_order)
      TEST(times_of_several_nodes_have_no_effect)
      TEST(certain_pairs_are_correct))
