// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi_links.c - matches the sides of communicators between two MPI_COMM_WORLDs, and
 * determines the relation of these worlds.
 *
 * Each side has a key of its own. Two sides match if matching calls created them at the same time,
 * with the number of ranks that the other side states, and by the same name if both know one. If several sides fit, the
 * first one is taken, and the match is marked as doubtful. From then on, the key of the first side identifies both and
 * their descendants, see mpi_link in schema.h.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/graph/graph.h"
#include "mpi.h"

#define WORLDS_DEEP 64 /* a longer row of spawns is none that happened */

static struct graph_link *side_of(const struct graph *graph, u64 comm)
{
	u32 i;

	for (i = graph->link_count; i-- > 0;)
		if (graph->links[i].comm == comm)
			return &graph->links[i];
	return NULL;
}

/**
 * graph_link_add() - one rank's record of a communicator between worlds
 * @graph: ranks of one side have one link
 * @r: the record
 * @call: index of the call in graph.mpi, GRAPH_NONE if it has none
 *
 * Return: 0 or -ENOMEM.
 */
int graph_link_add(struct graph *graph, const struct iot_record *r, u32 call)
{
	const struct iot_rec_mpi_link *side = &r->mpi_link;
	u64 end_ns = side->enter_ns + side->duration_ns;
	struct graph_link *link = side_of(graph, side->comm), *bigger;

	if (!link) {
		bigger = reallocarray(graph->links, graph->link_count + 1, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		graph->links = bigger;
		link = &bigger[graph->link_count++];
		*link = (struct graph_link){
			.comm = side->comm,
			.world = side->world,
			.how = side->call,
			.is_first = side->is_first,
			.ranks = side->ranks,
			.peers = side->peers,
			.enter_ns = side->enter_ns,
			.partner = GRAPH_NONE,
			.call = call,
		};
	}
	if (side->enter_ns < link->enter_ns)
		link->enter_ns = side->enter_ns;
	if (end_ns > link->end_ns)
		link->end_ns = end_ns;
	if (!link->name && r->tail_bytes)
		link->name = strndup((const char *)r->tail, r->tail_bytes);
	return r->tail_bytes && !link->name ? -ENOMEM : 0;
}

/* -- keys ---------------------------------------------------------------------------------------- */

/* The state of a key. */
struct descent {
	u64 comm;
	u64 origin;
};

struct descents {
	struct descent *known;
	size_t count;
};

static int compare_descents(const void *a, const void *b)
{
	const struct descent *x = a, *y = b;

	return (x->comm > y->comm) - (x->comm < y->comm);
}

static int collect_descents(const struct graph *graph, struct descents *descents)
{
	u32 i;

	descents->known = calloc(graph->rank_count + 1, sizeof(*descents->known));
	if (!descents->known)
		return -ENOMEM;
	for (i = 0; i < graph->rank_count; i++)
		if (graph->ranks[i].origin)
			descents->known[descents->count++] = (struct descent){
				.comm = graph->ranks[i].comm, .origin = graph->ranks[i].origin,
			};
	qsort(descents->known, descents->count, sizeof(*descents->known), compare_descents);
	return 0;
}

static u64 origin_of(const struct descents *descents, u64 comm)
{
	const struct descent key = { .comm = comm }, *known;

	known = bsearch(&key, descents->known, descents->count, sizeof(key), compare_descents);
	return known ? known->origin : 0;
}

/* The key that all ranks of a communicator have, as far as sides have found their partners. */
static u64 united(const struct graph *graph, const struct descents *descents, u64 comm, u32 depth)
{
	const struct graph_link *link = side_of(graph, comm);
	u64 origin;

	if (depth == WORLDS_DEEP)
		return comm;
	if (link && !link->is_first && link->partner != GRAPH_NONE)
		return united(graph, descents, graph->links[link->partner].comm, depth + 1);
	origin = origin_of(descents, comm);
	return origin ? united(graph, descents, origin, depth + 1) ^ comm ^ origin : comm;
}

static bool is_one_side(const struct graph *graph, const struct descents *descents, u32 a, u32 b)
{
	return united(graph, descents, graph->links[a].comm, 0) ==
	       united(graph, descents, graph->links[b].comm, 0);
}

/* -- sides that belong together ----------------------------------------------------------------- */

static bool is_same_way(u32 first, u32 second)
{
	return first == second || (first == IOT_CALL_comm_accept && second == IOT_CALL_comm_connect);
}

/* Could they be the two sides of one? Those with clocks of their own are not asked when it was. */
static bool fits(const struct graph_link *first, const struct graph_link *second, bool has_one_clock)
{
	bool are_named = first->name && second->name;

	return first->is_first && !second->is_first && is_same_way(first->how, second->how) &&
	       first->ranks == second->peers && first->peers == second->ranks &&
	       (!are_named || !strcmp(first->name, second->name)) &&
	       (!has_one_clock ||
		(first->enter_ns < second->end_ns && second->enter_ns < first->end_ns));
}

/* In the order in which they were done. */
static int compare_links(const void *a, const void *b)
{
	const struct graph_link *x = a, *y = b;

	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/*
 * One side may have several links itself, if it is of several worlds: these have become one before,
 * and all of them are the partner.
 */
static void pair(struct graph *graph, const struct descents *descents, u32 second, bool has_one_clock)
{
	struct graph_link *links = graph->links;
	u32 i, found = GRAPH_NONE;

	for (i = 0; i < graph->link_count; i++) {
		if (links[i].partner != GRAPH_NONE || !fits(&links[i], &links[second], has_one_clock))
			continue;
		if (found == GRAPH_NONE)
			found = i;
		if (is_one_side(graph, descents, found, i))
			links[i].partner = second;
		else
			links[second].is_doubtful = true;
	}
	links[second].partner = found;
}

static void pair_all(struct graph *graph, const struct descents *descents, bool has_one_clock)
{
	u32 i;

	qsort(graph->links, graph->link_count, sizeof(*graph->links), compare_links);
	for (i = 0; i < graph->link_count; i++)
		graph->links[i].partner = GRAPH_NONE;
	for (i = 0; i < graph->link_count; i++)
		if (!graph->links[i].is_first)
			pair(graph, descents, i, has_one_clock);
}

/**
 * graph_links_pair() - find out which sides belong together
 * @graph: with links
 * @has_one_clock: all times are of one clock
 *
 * Return: 0 or -ENOMEM.
 */
int graph_links_pair(struct graph *graph, bool has_one_clock)
{
	struct descents descents = {};
	int err;

	if (!graph->link_count)
		return 0;
	err = collect_descents(graph, &descents);
	if (!err)
		pair_all(graph, &descents, has_one_clock);
	free(descents.known);
	return err;
}

/**
 * graph_links_unite() - give both sides one key, and all that they made of it
 * @graph: ranks and calls are changed
 * @has_one_clock: all times are of one clock
 *
 * Return: 0 or -ENOMEM.
 */
int graph_links_unite(struct graph *graph, bool has_one_clock)
{
	struct descents descents = {};
	u32 i;
	int err;

	if (!graph->link_count)
		return 0;
	err = collect_descents(graph, &descents);
	if (err)
		return err;
	pair_all(graph, &descents, has_one_clock);
	for (i = 0; i < graph->rank_count; i++)
		graph->ranks[i].comm = united(graph, &descents, graph->ranks[i].comm, 0);
	for (i = 0; i < graph->mpi_count; i++)
		graph->mpi[i].comm = united(graph, &descents, graph->mpi[i].comm, 0);
	for (i = 0; i < graph->near_count; i++)
		graph->near[i].comm = united(graph, &descents, graph->near[i].comm, 0);
	free(descents.known);
	return 0;
}

/* -- worlds ------------------------------------------------------------------------------------------ */

/* The world that spawned this one, 0 if none did, or if it is unknown. */
static u64 world_above(const struct graph *graph, u64 world)
{
	const struct graph_link *link;
	u32 i;

	for (i = 0; i < graph->link_count; i++) {
		link = &graph->links[i];
		if (link->world == world && link->how == IOT_CALL_comm_spawn && !link->is_first &&
		    link->partner != GRAPH_NONE)
			return graph->links[link->partner].world;
	}
	return 0;
}

/**
 * graph_world_root() - the world that a launcher started, from which others were spawned
 * @graph: after graph_links_pair()
 * @world: its key; it may be that world itself
 */
u64 graph_world_root(const struct graph *graph, u64 world)
{
	u32 depth;
	u64 above;

	for (depth = 0; depth < WORLDS_DEEP && (above = world_above(graph, world)); depth++)
		world = above;
	return world;
}

/**
 * graph_worlds_number() - number ranks so that no two of different worlds have the same number
 * @graph: ranks in the order in which they were announced
 *
 * The ranks of the world that came first keep theirs; those of each other one follow.
 */
void graph_worlds_number(struct graph *graph)
{
	u64 world = 0;
	u32 i, j, base = 0, next;

	for (i = 0; i < graph->rank_count; i++) {
		if (graph->ranks[i].is_numbered)
			continue;
		world = graph->ranks[i].world;
		next = base;
		for (j = i; j < graph->rank_count; j++) {
			struct graph_rank *rank = &graph->ranks[j];

			if (rank->is_numbered || rank->world != world)
				continue;
			rank->is_numbered = true;
			rank->world_rank += base;
			if (rank->world_rank >= next)
				next = rank->world_rank + 1;
		}
		base = next;
	}
}
