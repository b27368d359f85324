// SPDX-License-Identifier: GPL-2.0-only
/*
 * links.c - the two sides of communicators between jobs are matched, and the consequences.
 *
 * Rank i of a case is task i, process 100 + i. Keys of worlds are A, B and C.
 */
#include "analyse/graph/graph.h"

#include <stdlib.h>

#include "suite.h"
#include "analyse/mpi/mpi.h"

enum { A = 1000, B = 2000, C = 3000 };
#define MADE 0x5a00 /* common to the keys of communicators that both sides derive from a link */

static struct graph *begin(u32 tasks)
{
	struct graph *graph;
	u32 i, task;

	assert_int_equal(graph_open(&graph), 0);
	for (i = 0; i < tasks; i++) {
		assert_int_equal(graph_task_make(graph, 100 + i, &task), 0);
		graph->tasks[task].tgid = 100 + i;
	}
	return graph;
}

static void rank(struct graph *graph, u32 task, u64 comm, u32 number, u32 size, u64 world, u64 origin)
{
	const struct graph_rank rank = {
		.comm = comm, .rank = number, .size = size, .tgid = 100 + task, .world = world,
		.world_rank = comm == world ? number : 0, .origin = origin,
	};

	assert_int_equal(graph_rank_add(graph, &rank), 0);
}

/* LINK(name, key, from, until, fields...): a record of one side, by one or several ranks. */
#define LINK(name, key, from_ns, until_ns, ...)                                                  \
	add(graph, (struct iot_rec_mpi_link){ .comm = (key), .enter_ns = (from_ns),              \
					      .duration_ns = (until_ns) - (from_ns), .number = 1, \
					      __VA_ARGS__ }, name)

static void add(struct graph *graph, struct iot_rec_mpi_link fields, const char *name)
{
	const struct iot_record record = {
		.kind = IOT_KIND_mpi_link, .mpi_link = fields, .tail = (const u8 *)name,
		.tail_bytes = name ? (u16)strlen(name) : 0,
	};

	assert_int_equal(graph_link_add(graph, &record, GRAPH_NONE), 0);
}

static u64 partner_of(const struct graph *graph, u64 comm)
{
	u32 i;

	for (i = 0; i < graph->link_count; i++)
		if (graph->links[i].comm == comm)
			return graph->links[i].partner == GRAPH_NONE ?
				       0 :
				       graph->links[graph->links[i].partner].comm;
	return 0;
}

static u32 doubtful(const struct graph *graph)
{
	u32 i, count = 0;

	for (i = 0; i < graph->link_count; i++)
		count += graph->links[i].is_doubtful;
	return count;
}

static void both_sides_and_their_communicators_get_one_key(void **state)
{
	struct graph *graph = begin(2);

	(void)state;
	rank(graph, 0, A, 0, 1, A, 0);
	rank(graph, 1, B, 0, 1, B, 0);
	rank(graph, 0, 11, 0, 2, A, 0);
	rank(graph, 1, 22, 1, 2, B, 0);
	rank(graph, 0, 11 ^ MADE, 0, 2, A, 11);
	rank(graph, 1, 22 ^ MADE, 1, 2, B, 22);
	LINK(NULL, 11, 10, 50, .call = IOT_CALL_comm_spawn, .world = A, .is_first = 1, .ranks = 1, .peers = 1);
	LINK(NULL, 22, 20, 60, .call = IOT_CALL_comm_spawn, .world = B, .ranks = 1, .peers = 1);
	assert_int_equal(graph_links_unite(graph, true), 0);
	assert_int_equal(graph->ranks[2].comm, 11);
	assert_int_equal(graph->ranks[3].comm, 11);
	assert_int_equal(graph->ranks[4].comm, 11 ^ MADE);
	assert_int_equal(graph->ranks[5].comm, 11 ^ MADE);
	assert_int_equal(graph->ranks[1].comm, B);
	assert_int_equal(graph_world_root(graph, B), A);
	graph_close(graph);
}

/* A communicator of spawning and spawned ranks has one key if the worlds are linked. */
static void a_side_may_have_ranks_of_two_worlds(void **state)
{
	struct graph *graph = begin(3);

	(void)state;
	rank(graph, 0, 11, 0, 2, A, 0);
	rank(graph, 1, 22, 1, 2, B, 0);
	rank(graph, 0, 11 ^ MADE, 0, 3, A, 11); /* the links of the second spawn */
	rank(graph, 1, 22 ^ MADE, 1, 3, B, 22);
	rank(graph, 2, 33, 2, 3, C, 0);
	LINK(NULL, 11, 10, 50, .call = IOT_CALL_comm_spawn, .world = A, .is_first = 1, .ranks = 1, .peers = 1);
	LINK(NULL, 22, 20, 60, .call = IOT_CALL_comm_spawn, .world = B, .ranks = 1, .peers = 1);
	LINK(NULL, 11 ^ MADE, 70, 90, .call = IOT_CALL_comm_spawn, .world = A, .is_first = 1, .ranks = 2, .peers = 1);
	LINK(NULL, 22 ^ MADE, 70, 90, .call = IOT_CALL_comm_spawn, .world = B, .is_first = 1, .ranks = 2, .peers = 1);
	LINK(NULL, 33, 75, 90, .call = IOT_CALL_comm_spawn, .world = C, .peers = 2, .ranks = 1);
	assert_int_equal(graph_links_unite(graph, true), 0);
	assert_int_equal(doubtful(graph), 0);
	assert_int_equal(graph->ranks[2].comm, 11 ^ MADE);
	assert_int_equal(graph->ranks[3].comm, 11 ^ MADE);
	assert_int_equal(graph->ranks[4].comm, 11 ^ MADE);
	assert_int_equal(graph_world_root(graph, C), A);
	graph_close(graph);
}

static void names_sizes_and_times_identify_the_link(void **state)
{
	struct graph *graph = begin(0);

	(void)state;
	LINK("x", 1, 10, 50, .call = IOT_CALL_comm_accept, .is_first = 1, .ranks = 1, .peers = 1);
	LINK("y", 2, 10, 50, .call = IOT_CALL_comm_accept, .is_first = 1, .ranks = 1, .peers = 1);
	LINK("y", 3, 10, 50, .call = IOT_CALL_comm_connect, .ranks = 1, .peers = 1);
	LINK("x", 4, 10, 50, .call = IOT_CALL_comm_connect, .ranks = 1, .peers = 1);
	LINK("x", 5, 60, 80, .call = IOT_CALL_comm_accept, .is_first = 1, .ranks = 1, .peers = 1);
	LINK("x", 6, 60, 80, .call = IOT_CALL_comm_connect, .ranks = 1, .peers = 1);
	LINK(NULL, 7, 10, 50, .call = IOT_CALL_comm_spawn, .is_first = 1, .peers = 4, .ranks = 1);
	LINK(NULL, 8, 10, 50, .call = IOT_CALL_comm_spawn, .is_first = 1, .peers = 3, .ranks = 1);
	LINK(NULL, 9, 10, 50, .call = IOT_CALL_comm_spawn, .ranks = 3, .peers = 1);
	assert_int_equal(graph_links_pair(graph, true), 0);
	assert_int_equal(partner_of(graph, 3), 2);
	assert_int_equal(partner_of(graph, 4), 1);
	assert_int_equal(partner_of(graph, 6), 5);
	assert_int_equal(partner_of(graph, 9), 8);
	assert_int_equal(partner_of(graph, 7), 0);
	assert_int_equal(doubtful(graph), 0);
	graph_close(graph);
}

static void ambiguous_links_are_doubtful(void **state)
{
	struct graph *graph = begin(0);

	(void)state;
	LINK(NULL, 1, 10, 50, .call = IOT_CALL_comm_spawn, .is_first = 1, .ranks = 1, .peers = 1);
	LINK(NULL, 2, 10, 55, .call = IOT_CALL_comm_spawn, .is_first = 1, .ranks = 1, .peers = 1);
	LINK(NULL, 3, 20, 52, .call = IOT_CALL_comm_spawn, .ranks = 1, .peers = 1);
	LINK(NULL, 4, 60, 90, .call = IOT_CALL_comm_spawn, .is_first = 1, .ranks = 1, .peers = 1); /* later */
	assert_int_equal(graph_links_pair(graph, true), 0);
	assert_int_equal(partner_of(graph, 3), 1);
	assert_int_equal(doubtful(graph), 1);
	graph_close(graph);
}

static void clocks_of_nodes_do_not_identify_the_link(void **state)
{
	struct graph *graph = begin(0);

	(void)state;
	LINK("p", 1, 10, 50, .call = IOT_CALL_comm_spawn, .is_first = 1, .ranks = 1, .peers = 1);
	LINK("p", 2, 5000, 5060, .call = IOT_CALL_comm_spawn, .ranks = 1, .peers = 1);
	assert_int_equal(graph_links_pair(graph, true), 0);
	assert_int_equal(partner_of(graph, 2), 0);
	assert_int_equal(graph_links_pair(graph, false), 0);
	assert_int_equal(partner_of(graph, 2), 1);
	graph_close(graph);
}

static void cycle_of_origins_terminates(void **state)
{
	struct graph *graph = begin(1);

	(void)state;
	rank(graph, 0, 1, 0, 2, A, 2);
	rank(graph, 0, 2, 0, 2, A, 1);
	LINK(NULL, 1, 10, 50, .call = IOT_CALL_comm_spawn, .world = A, .is_first = 1, .ranks = 1, .peers = 1);
	LINK(NULL, 2, 10, 50, .call = IOT_CALL_comm_spawn, .world = A, .ranks = 1, .peers = 1);
	assert_int_equal(graph_links_unite(graph, true), 0);
	assert_int_equal(graph_world_root(graph, A), A);
	graph_close(graph);
}

static void ranks_of_worlds_are_consecutive(void **state)
{
	static const u32 expected[] = { 0, 1, 1, 2, 3 };
	struct graph *graph = begin(4);
	u32 i;

	(void)state;
	rank(graph, 0, A, 0, 2, A, 0);
	rank(graph, 1, A, 1, 2, A, 0);
	rank(graph, 1, 7, 0, 1, A, 0); /* another communicator of the same rank */
	graph->ranks[2].world_rank = 1;
	rank(graph, 2, B, 0, 2, B, 0);
	rank(graph, 3, B, 1, 2, B, 0);
	graph_worlds_number(graph);
	for (i = 0; i < 5; i++)
		assert_int_equal(graph->ranks[i].world_rank, expected[i]);
	graph_worlds_number(graph); /* the second call must have no effect */
	assert_int_equal(graph->ranks[4].world_rank, 3);
	graph_close(graph);
}

SUITE("links",
      TEST(both_sides_and_their_communicators_get_one_key)
      TEST(a_side_may_have_ranks_of_two_worlds)
      TEST(names_sizes_and_times_identify_the_link)
      TEST(ambiguous_links_are_doubtful)
      TEST(clocks_of_nodes_do_not_identify_the_link)
      TEST(cycle_of_origins_terminates)
      TEST(ranks_of_worlds_are_consecutive))
