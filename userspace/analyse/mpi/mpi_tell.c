// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi_tell.c - tell a listener of collectives, rather than make edges of them: who took part, and who must
 * have waited for whom.
 */
#include <stdlib.h>

#include "mpi_match.h"

static int telling_begin(struct mpi_telling *telling, const struct mpi_member *members, u32 count)
{
	u32 i;

	if (count > telling->room) {
		free(telling->parts);
		telling->parts = calloc(3ull * count, sizeof(*telling->parts));
		telling->room = telling->parts ? count : 0;
		if (!telling->parts)
			return -ENOMEM;
		telling->from = telling->parts + count;
		telling->to = telling->from + count;
	}
	for (i = 0; i < count; i++)
		telling->parts[i] = (struct graph_mpi_part){
			.rank = members[i].rank,
			.call = members[i].call,
			.ended = members[i].ended,
		};
	return 0;
}

static bool is_same_range(const struct mpi_need *a, const struct mpi_need *b)
{
	return !a->is_list && !b->is_list && a->first == b->first && a->stop == b->stop;
}

/* One member that is certain, and those behind it that wait for the same. */
static int tell_need(const struct mpi_telling *telling, const struct mpi_needs *needs, u32 *own)
{
	const struct mpi_need *need = &needs->needs[*own], *next;
	u32 count = 0, i;

	for (i = need->first; i < need->stop && need->is_list; i++)
		telling->from[i - need->first] = telling->parts[needs->list[i]];
	telling->to[count++] = telling->parts[*own];
	for (next = need + 1; *own + 1 < needs->count && is_same_range(need, next) &&
			      next->certainty == MPI_NEEDS_SURELY; next++)
		telling->to[count++] = telling->parts[++*own];
	return telling->listener->waits(telling->listener->context,
					need->is_list ? telling->from : telling->parts + need->first,
					need->stop - need->first, telling->to, count);
}

static int tell_needs(const struct mpi_telling *telling, const struct mpi_needs *needs)
{
	u32 i;
	int err = 0;

	for (i = 0; i < needs->count && !err; i++)
		if (needs->needs[i].certainty == MPI_NEEDS_SURELY &&
		    needs->needs[i].first < needs->needs[i].stop)
			err = tell_need(telling, needs, &i);
	return err;
}

/**
 * mpi_tell() - tell a listener of a collective
 * @graph: with its neighbours sorted
 * @telling: its listener, and room that is made here
 * @members: of the collective, in the order of ranks
 * @count: their number
 * @needs: room for what they wait for
 *
 * Return: 0, -ENOMEM, or what the listener returned.
 */
int mpi_tell(struct graph *graph, struct mpi_telling *telling, const struct mpi_member *members, u32 count,
		struct mpi_needs *needs)
{
	const struct graph_mpi_listener *listener = telling->listener;
	int err = telling_begin(telling, members, count);

	if (!err && listener->collective)
		err = listener->collective(listener->context, telling->parts, count);
	if (!err && listener->waits && count > 1)
		err = mpi_needs_find(graph, members, count, needs);
	if (!err && listener->waits && count > 1)
		err = tell_needs(telling, needs);
	return err;
}

/**
 * mpi_telling_close() - free the room
 */
void mpi_telling_close(struct mpi_telling *telling)
{
	free(telling->parts);
}
