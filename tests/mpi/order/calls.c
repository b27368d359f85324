// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls.c - the collectives of a script.
 *
 * An element consists of the number of the step and of the contributing rank, so that received data identifies its
 * source. Calls that move data without changing it are verified by this.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

static int value(const struct step *step, int from)
{
	return step->id * RANKS_MAX + from;
}

/* -- arguments ------------------------------------------------------------------------------------- */

/* The ranks that blocks are for or from: those of the local group, of the remote group, or the neighbours. */
static void partners(const struct step *step, bool is_out, struct members *members)
{
	if (step->call >= CALL_NEAR && is_out)
		script_targets(&script, step->comm, own, members);
	else if (step->call >= CALL_NEAR)
		script_sources(&script, step->comm, own, members);
	else if (step->comm == COMM_BRIDGE)
		script_members(&script, step->comm, !(own % 2), members);
	else
		script_members(&script, step->comm, step->group, members);
}

/* Does a rank contribute the same block to all receivers? */
static bool gives_all_the_same(const struct step *step)
{
	switch (step->call) {
	case CALL_ALLGATHER:
	case CALL_ALLGATHERV:
	case CALL_GATHER:
	case CALL_GATHERV:
	case CALL_NEIGHBOR_ALLGATHER:
	case CALL_NEIGHBOR_ALLGATHERV:
		return true;
	default:
		return false;
	}
}

/*
 * Calls with a datatype for each block have displacements in bytes. Some empty blocks have
 * elements of a datatype without data.
 */
static void set_type(int place, int from, int to, int *count, MPI_Datatype *type, int *place_w, MPI_Aint *bytes,
		     const struct step *step)
{
	*place_w = place * (int)sizeof(int);
	*bytes = *place_w;
	*type = MPI_INT;
	if ((step->call != CALL_ALLTOALLW && step->call != CALL_NEIGHBOR_ALLTOALLW) || *count || from < 0 || to < 0 ||
	    (from + to) % 2)
		return;
	*count = 2;
	*type = empty_type;
}

static void fill(const struct step *step, struct blocks *b, struct members *from, struct members *to)
{
	int i, k;

	partners(step, true, to);
	partners(step, false, from);
	for (i = 0; i < to->count; i++) {
		b->out_counts[i] = to->ranks[i] < 0 ? 0 : script_elements(&script, step, own, to->ranks[i]);
		b->out_places[i] = gives_all_the_same(step) ? 0 : i * COUNT_MAX;
		set_type(b->out_places[i], own, to->ranks[i], &b->out_counts[i], &b->out_types[i],
			 &b->out_places_w[i], &b->out_bytes[i], step);
	}
	for (i = 0; i < from->count; i++) {
		b->in_counts[i] = from->ranks[i] < 0 ? 0 : script_elements(&script, step, from->ranks[i], own);
		b->in_places[i] = i * COUNT_MAX;
		set_type(b->in_places[i], from->ranks[i], own, &b->in_counts[i], &b->in_types[i],
			 &b->in_places_w[i], &b->in_bytes[i], step);
	}
	for (k = 0; k < RANKS_MAX * COUNT_MAX; k++) {
		b->out[k] = value(step, own);
		b->in[k] = step->is_in_place ? value(step, own) : -1;
	}
}

/* Verify that received blocks contain the data of their sources. */
static void check(const struct step *step, const struct blocks *b, const struct members *from)
{
	int i, k;

	switch (step->call) {
	case CALL_ALLGATHERV:
	case CALL_ALLTOALLV:
	case CALL_ALLTOALLW:
	case CALL_NEIGHBOR_ALLGATHERV:
	case CALL_NEIGHBOR_ALLTOALLV:
	case CALL_NEIGHBOR_ALLTOALLW:
		break;
	default:
		return;
	}
	for (i = 0; i < from->count; i++)
		for (k = 0; k < b->in_counts[i] && b->in_types[i] == MPI_INT; k++)
			if (b->in[i * COUNT_MAX + k] != value(step, from->ranks[i]))
				fail(step, "data of another rank");
}

/* -- calls ------------------------------------------------------------------------------------------- */

#define IN_PLACE(buffer) (is_in_place ? MPI_IN_PLACE : (void *)(buffer))

/* A call with a blocking and a nonblocking variant. */
#define CALL(Name, name, ...) \
	(request ? MPI_I##name(__VA_ARGS__, comm, request) : MPI_##Name(__VA_ARGS__, comm))

/* For calls with equal blocks: the count of a received block, or of a contributed one. */
static int count_of(const struct step *step, const struct members *members, bool is_out)
{
	int i;

	if (is_out)
		return script_elements(&script, step, own, own);
	for (i = 0; i < members->count; i++)
		if (members->ranks[i] >= 0)
			return script_elements(&script, step, members->ranks[i], own);
	return 0;
}

/* The root argument of an inter-communicator, by the rules of MPI. */
static int root_of(const struct step *step, bool *is_root, int *root_rank)
{
	struct members members;
	int place;

	script_members(&script, step->comm, step->group, &members);
	place = step->root % members.count;
	*root_rank = members.ranks[place];
	*is_root = *root_rank == own;
	if (step->comm != COMM_BRIDGE || own % 2 != step->group)
		return place;
	return *is_root ? MPI_ROOT : MPI_PROC_NULL;
}

static void rooted(const struct step *step, struct blocks *b, MPI_Request *request)
{
	MPI_Comm comm = comms[step->comm];
	bool is_root, is_in_place;
	int root_rank, root = root_of(step, &is_root, &root_rank), count = script_elements(&script, step, own, own);

	is_in_place = step->is_in_place && is_root;
	switch (step->call) {
	case CALL_BCAST:
		CALL(Bcast, bcast, b->out, count, MPI_INT, root);
		break;
	case CALL_REDUCE:
		CALL(Reduce, reduce, IN_PLACE(b->out), b->in, count, MPI_INT, MPI_SUM, root);
		break;
	case CALL_GATHER:
		CALL(Gather, gather, IN_PLACE(b->out), count, MPI_INT, b->in, count, MPI_INT, root);
		break;
	case CALL_GATHERV:
		CALL(Gatherv, gatherv, IN_PLACE(b->out), count, MPI_INT, b->in, is_root ? b->in_counts : NULL,
		     is_root ? b->in_places : NULL, MPI_INT, root);
		break;
	case CALL_SCATTER:
		CALL(Scatter, scatter, b->out, count, MPI_INT, IN_PLACE(b->in), count, MPI_INT, root);
		break;
	case CALL_SCATTERV:
		CALL(Scatterv, scatterv, b->out, is_root ? b->out_counts : NULL, is_root ? b->out_places : NULL, MPI_INT,
		     IN_PLACE(b->in), script_elements(&script, step, root_rank, own), MPI_INT, root);
	}
}

static void among_all(const struct step *step, struct blocks *b, const struct members *from,
		      MPI_Request *request)
{
	MPI_Comm comm = comms[step->comm];
	bool is_in_place = step->is_in_place;
	int out = count_of(step, from, true), in = count_of(step, from, false);

	switch (step->call) {
	case CALL_BARRIER:
		request ? MPI_Ibarrier(comm, request) : MPI_Barrier(comm);
		break;
	case CALL_ALLREDUCE:
		CALL(Allreduce, allreduce, IN_PLACE(b->out), b->in, out, MPI_INT, MPI_SUM);
		break;
	case CALL_ALLGATHER:
		CALL(Allgather, allgather, IN_PLACE(b->out), out, MPI_INT, b->in, in, MPI_INT);
		break;
	case CALL_ALLGATHERV:
		CALL(Allgatherv, allgatherv, IN_PLACE(b->out), out, MPI_INT, b->in, b->in_counts, b->in_places, MPI_INT);
		break;
	case CALL_ALLTOALL:
		CALL(Alltoall, alltoall, IN_PLACE(b->out), out, MPI_INT, b->in, in, MPI_INT);
		break;
	case CALL_ALLTOALLV:
		CALL(Alltoallv, alltoallv, IN_PLACE(b->out), b->out_counts, b->out_places, MPI_INT, b->in, b->in_counts,
		     b->in_places, MPI_INT);
		break;
	}
}

static void by_rank(const struct step *step, struct blocks *b, MPI_Request *request)
{
	MPI_Comm comm = comms[step->comm];
	bool is_in_place = step->is_in_place;
	int count = script_elements(&script, step, own, own);

	switch (step->call) {
	case CALL_ALLTOALLW:
		CALL(Alltoallw, alltoallw, b->out, b->out_counts, b->out_places_w, b->out_types, b->in,
		     b->in_counts, b->in_places_w, b->in_types);
		break;
	case CALL_SCAN:
		CALL(Scan, scan, IN_PLACE(b->out), b->in, count, MPI_INT, MPI_SUM);
		break;
	case CALL_EXSCAN:
		CALL(Exscan, exscan, IN_PLACE(b->out), b->in, count, MPI_INT, MPI_SUM);
		break;
	case CALL_REDUCE_SCATTER:
		CALL(Reduce_scatter, reduce_scatter, b->out, b->in, b->out_counts, MPI_INT, MPI_SUM);
		break;
	case CALL_REDUCE_SCATTER_BLOCK:
		CALL(Reduce_scatter_block, reduce_scatter_block, b->out, b->in, count, MPI_INT, MPI_SUM);
		break;
	}
}

static void among_neighbours(const struct step *step, struct blocks *b, const struct members *from,
			     MPI_Request *request)
{
	MPI_Comm comm = comms[step->comm];
	int out = count_of(step, from, true), in = count_of(step, from, false);

	switch (step->call) {
	case CALL_NEIGHBOR_ALLGATHER:
		CALL(Neighbor_allgather, neighbor_allgather, b->out, out, MPI_INT, b->in, in, MPI_INT);
		break;
	case CALL_NEIGHBOR_ALLGATHERV:
		CALL(Neighbor_allgatherv, neighbor_allgatherv, b->out, out, MPI_INT, b->in, b->in_counts,
		     b->in_places, MPI_INT);
		break;
	case CALL_NEIGHBOR_ALLTOALL:
		CALL(Neighbor_alltoall, neighbor_alltoall, b->out, out, MPI_INT, b->in, in, MPI_INT);
		break;
	case CALL_NEIGHBOR_ALLTOALLV:
		CALL(Neighbor_alltoallv, neighbor_alltoallv, b->out, b->out_counts, b->out_places, MPI_INT,
		     b->in, b->in_counts, b->in_places, MPI_INT);
		break;
	case CALL_NEIGHBOR_ALLTOALLW:
		CALL(Neighbor_alltoallw, neighbor_alltoallw, b->out, b->out_counts, b->out_bytes, b->out_types,
		     b->in, b->in_counts, b->in_bytes, b->in_types);
		break;
	}
}

/* A call without a request has delivered its data when it returns. */
static void make_call(const struct step *step, struct blocks *b, const struct members *from,
		      MPI_Request *request)
{
	if (step->call >= CALL_NEAR)
		among_neighbours(step, b, from, request);
	else if (step->call >= CALL_ALLTOALLW)
		by_rank(step, b, request);
	else if (step->call >= CALL_ALLREDUCE || step->call == CALL_BARRIER)
		among_all(step, b, from, request);
	else
		rooted(step, b, request);
}

void perform_call(const struct step *step)
{
	struct pending what = { .letter = 'C', .number = step->id, .persistent = MPI_REQUEST_NULL };
	struct blocks *b = calloc(1, sizeof(*b));
	struct members from, to;

	if (!script_is_in(&script, step, own)) {
		free(b);
		return;
	}
	fill(step, b, &from, &to);
	what.blocks = b;
	log_add('c', step->id, -1);
	make_call(step, b, &from, step->is_request ? &what.request : NULL);
	if (step->is_request) {
		pending_add(&what);
		return;
	}
	log_add('C', step->id, -1);
	if (!step->is_in_place)
		check(step, b, &from);
	free(b);
}

/* Each rank needs the ranks of its new communicator. */
void perform_split(const struct step *step)
{
	MPI_Comm made;

	if (!script_is_in(&script, step, own))
		return;
	log_add('c', step->id, -1);
	MPI_Comm_split(comms[step->comm], (int)(step->seed % 2 + (uint64_t)own) % 2, own, &made);
	log_add('C', step->id, -1);
	MPI_Comm_free(&made);
}
