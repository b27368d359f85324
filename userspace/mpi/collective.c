// SPDX-License-Identifier: GPL-2.0-only
/*
 * collective.c - collective calls, blocking and nonblocking, numbered in one sequence; and persistent
 * requests of them.
 */
#include "shim.h"

#include <stdlib.h>

/* A call that is not one of those that are counted, or not yet. */
static struct iot_mpi_collective call_on(const struct iot_mpi_comm *comm)
{
	return (struct iot_mpi_collective){
		.comm = comm->key,
		.peer_base = comm->peer_base,
		.own = comm->own,
		.ranks = comm->ranks,
		.first = comm->first,
		.near = comm->near,
		.near_count = comm->near_count,
	};
}

/**
 * iot_mpi_collective_begin() - count a collective call
 * @call: filled in
 * @enter_ns: when it was entered
 * @comm: its communicator
 */
void iot_mpi_collective_begin(struct iot_mpi_collective *call, u64 enter_ns,
			      struct iot_mpi_comm *comm)
{
	*call = call_on(comm);
	call->enter_ns = enter_ns;
	call->number = __atomic_add_fetch(&comm->collectives, 1, __ATOMIC_RELAXED);
}

/*
 * Between two groups the root passes MPI_ROOT, the rest of its group takes no part and passes
 * MPI_PROC_NULL, and the other group passes the root's rank. A rank without a root in its arguments
 * leaves the root to the others.
 */
static s32 root_of(const struct iot_mpi_collective *call, int root)
{
	if (root == MPI_ROOT)
		return call->own;
	return root < 0 ? -1 : call->peer_base + root;
}

static struct iot_rec_mpi_coll record_of(const struct iot_mpi_collective *call, u32 name, int root,
					 u64 request, int rc)
{
	return (struct iot_rec_mpi_coll){
		.enter_ns = call->enter_ns,
		.result = iot_mpi_result(rc),
		.call = name,
		.comm = call->comm,
		.number = call->number,
		.root = root_of(call, root),
		.request = request,
	};
}

/* The tail is there already. */
static void write_record(u8 *wire, const struct iot_rec_mpi_coll *record, u16 tail_bytes)
{
	iot_put_mpi_coll(wire, record, NULL, 0);
	iot_put_head(wire, IOT_KIND_mpi_coll, IOT_WIRE_mpi_coll, tail_bytes);
	iot_mpi_session_write(wire, (size_t)(IOT_WIRE_mpi_coll + tail_bytes));
}

/**
 * iot_mpi_collective_end() - record a call of which nothing is known about the data that it moves
 * @call: the one that ends
 * @name: an enum iot_call
 * @root: rank, -1 if the call has none
 * @request: that it made, 0 if none
 * @rc: the result of MPI; a failed call has used up its number, too
 */
void iot_mpi_collective_end(const struct iot_mpi_collective *call, u32 name, int root, u64 request,
			    int rc)
{
	const struct iot_rec_mpi_coll record = record_of(call, name, root, request, rc);
	u8 wire[IOT_WIRE_mpi_coll];

	iot_put_mpi_coll(wire, &record, NULL, 0);
	iot_mpi_session_write(wire, sizeof(wire));
}

/**
 * iot_mpi_collective_emit() - record a call and the ranks whose data it brings
 * @blocks: the data that the call brings; ignored if the call failed
 *
 * Otherwise as iot_mpi_collective_end().
 */
void iot_mpi_collective_emit(const struct iot_mpi_collective *call, u32 name, int root, u64 request,
			     int rc, const struct iot_mpi_blocks *blocks)
{
	struct iot_rec_mpi_coll record = record_of(call, name, root, request, rc);
	u8 wire[IOT_WIRE_mpi_coll + IOT_SOURCES_MAX_BYTES];
	u16 bytes = 0;

	if (!rc)
		record.sources = iot_mpi_sources(call, blocks, wire + IOT_WIRE_mpi_coll, &bytes);
	write_record(wire, &record, bytes);
}

static bool begin(struct iot_mpi_collective *call, MPI_Comm comm)
{
	struct iot_mpi_comm *state;
	u64 enter_ns;

	if (!iot_mpi_is_on())
		return false;
	enter_ns = iot_mpi_now_ns();
	state = iot_mpi_comm_find(comm);
	if (state)
		iot_mpi_collective_begin(call, enter_ns, state);
	return state != NULL;
}

/*
 * The data that the caller receives, by the names of the parameters in calls.h. Evaluated only
 * after MPI has accepted the call; arguments that are significant only at the root are ignored
 * elsewhere.
 */
#define NO_BLOCKS   ((struct iot_mpi_blocks){ .sources = IOT_SOURCES_none })
#define ALL_BLOCKS  ((struct iot_mpi_blocks){ .sources = IOT_SOURCES_all })
#define BLOCKS(...) ((struct iot_mpi_blocks){ .sources = IOT_SOURCES_runs, __VA_ARGS__ })
#define COUNTS(of)  .counts = (of), .width = sizeof(*(of))
#define AT_ROOT(blocks)	  (iot_mpi_is_root(&call, root) ? (blocks) : NO_BLOCKS)
#define FROM_ROOT(blocks) (root >= 0 && !iot_mpi_is_root(&call, root) ? (blocks) : NO_BLOCKS)

#define BLOCKS_barrier	   ALL_BLOCKS
#define BLOCKS_bcast	   FROM_ROOT(iot_mpi_block(count, type))
#define BLOCKS_reduce	   AT_ROOT(iot_mpi_block(count, type))
#define BLOCKS_gather	   AT_ROOT(iot_mpi_block(to_count, to_type))
#define BLOCKS_gatherv	   AT_ROOT(BLOCKS(COUNTS(to_counts), .type = to_type))
#define BLOCKS_scatter	   FROM_ROOT(iot_mpi_block(to_count, to_type))
#define BLOCKS_scatterv	   FROM_ROOT(iot_mpi_block(to_count, to_type))
#define BLOCKS_allreduce   iot_mpi_block(count, type)
#define BLOCKS_scan	   iot_mpi_block(count, type)
#define BLOCKS_exscan	   iot_mpi_block(count, type)
#define BLOCKS_allgather   iot_mpi_block(to_count, to_type)
#define BLOCKS_allgatherv  BLOCKS(COUNTS(to_counts), .type = to_type)
#define BLOCKS_alltoall	   iot_mpi_block(to_count, to_type)
#define BLOCKS_alltoallv   BLOCKS(COUNTS(to_counts), .type = to_type)
#define BLOCKS_alltoallw   BLOCKS(COUNTS(to_counts), .types = to_types)
#define BLOCKS_reduce_scatter_block iot_mpi_block(count, type)
#define BLOCKS_reduce_scatter \
	iot_mpi_block(iot_mpi_own_count(&call, counts, sizeof(*counts)), type)
#define BLOCKS_neighbor_allgather  iot_mpi_block(to_count, to_type)
#define BLOCKS_neighbor_allgatherv BLOCKS(COUNTS(to_counts), .type = to_type, .is_near = true)
#define BLOCKS_neighbor_alltoall   iot_mpi_block(to_count, to_type)
#define BLOCKS_neighbor_alltoallv  BLOCKS(COUNTS(to_counts), .type = to_type, .is_near = true)
#define BLOCKS_neighbor_alltoallw  BLOCKS(COUNTS(to_counts), .types = to_types, .is_near = true)

#define BLOCKS_ibarrier		    BLOCKS_barrier
#define BLOCKS_ibcast		    BLOCKS_bcast
#define BLOCKS_ireduce		    BLOCKS_reduce
#define BLOCKS_igather		    BLOCKS_gather
#define BLOCKS_igatherv		    BLOCKS_gatherv
#define BLOCKS_iscatter		    BLOCKS_scatter
#define BLOCKS_iscatterv	    BLOCKS_scatterv
#define BLOCKS_iallreduce	    BLOCKS_allreduce
#define BLOCKS_iscan		    BLOCKS_scan
#define BLOCKS_iexscan		    BLOCKS_exscan
#define BLOCKS_iallgather	    BLOCKS_allgather
#define BLOCKS_iallgatherv	    BLOCKS_allgatherv
#define BLOCKS_ialltoall	    BLOCKS_alltoall
#define BLOCKS_ialltoallv	    BLOCKS_alltoallv
#define BLOCKS_ialltoallw	    BLOCKS_alltoallw
#define BLOCKS_ireduce_scatter_block BLOCKS_reduce_scatter_block
#define BLOCKS_ireduce_scatter	    BLOCKS_reduce_scatter
#define BLOCKS_ineighbor_allgather  BLOCKS_neighbor_allgather
#define BLOCKS_ineighbor_allgatherv BLOCKS_neighbor_allgatherv
#define BLOCKS_ineighbor_alltoall   BLOCKS_neighbor_alltoall
#define BLOCKS_ineighbor_alltoallv  BLOCKS_neighbor_alltoallv
#define BLOCKS_ineighbor_alltoallw  BLOCKS_neighbor_alltoallw

#define DEFINE_BLOCKING(name, call_name, root, parameters, arguments)                     \
	int MPI_##name parameters                                                         \
	{                                                                                 \
		const struct iot_mpi_library *mpi = iot_mpi_library();                    \
		struct iot_mpi_collective call;                                           \
		struct iot_mpi_blocks blocks = {};                                        \
		int rc;                                                                   \
                                                                                          \
		if (!begin(&call, comm))                                                  \
			return IOT_MPI_BELOW(mpi->MPI_##name arguments);                                 \
		rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                            \
		if (!rc)                                                                  \
			blocks = BLOCKS_##call_name;                                      \
		iot_mpi_collective_emit(&call, IOT_CALL_##call_name, root, 0, rc, &blocks); \
		return rc;                                                                \
	}

static void posted(const struct iot_mpi_collective *call, u32 name, int root,
		   const MPI_Request *handle, int rc, const struct iot_mpi_blocks *blocks)
{
	struct iot_mpi_request request = { .id = rc ? 0 : iot_mpi_request_new() };

	iot_mpi_collective_emit(call, name, root, request.id, rc, blocks);
	if (!rc)
		iot_mpi_request_add(*handle, &request);
}

#define DEFINE_NONBLOCKING(name, call_name, root, parameters, arguments)                  \
	int MPI_##name parameters                                                         \
	{                                                                                 \
		const struct iot_mpi_library *mpi = iot_mpi_library();                    \
		struct iot_mpi_collective call;                                           \
		struct iot_mpi_blocks blocks = {};                                        \
		bool is_known = begin(&call, comm);                                       \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                        \
                                                                                          \
		if (is_known && !rc)                                                      \
			blocks = BLOCKS_##call_name;                                      \
		if (is_known)                                                             \
			posted(&call, IOT_CALL_##call_name, root, request, rc, &blocks);  \
		else if (!rc)                                                             \
			iot_mpi_request_skip(*request);                                   \
		return rc;                                                                \
	}

/* -- persistent requests of collectives -------------------------------------------------------- */

/*
 * A start begins the n-th round of the collective that the call created: MPI matches the rounds of
 * one request with those of the requests that the other ranks created by the same call. So the
 * request has a key of its own, like a window. The ranks whose data it brings follow from the
 * arguments of the call, which the program may change once the request is freed.
 */
IOT_MPI_OPTIONAL static void made(const struct iot_mpi_comm *parent, u64 key, MPI_Comm comm, u32 name,
				  const struct iot_mpi_collective *call, int root,
				  const struct iot_mpi_blocks *blocks, MPI_Request handle)
{
	struct iot_mpi_comm state = iot_mpi_comm_like(parent, key);
	struct iot_mpi_round *round = malloc(sizeof(*round));
	struct iot_mpi_persistent what = { .call = name, .round = round };

	if (!round) {
		iot_mpi_request_skip(handle);
		return;
	}
	round->call = *call;
	round->call.comm = key;
	round->root = root;
	round->sources = iot_mpi_sources(call, blocks, round->list, &round->list_bytes);
	iot_mpi_comm_announce(&state, state.origin);
	iot_mpi_topology_announce(&state, comm);
	free(state.near);
	round->call.near = NULL;
	round->call.near_count = 0;
	iot_mpi_request_add(handle, &(struct iot_mpi_request){ .persistent = &what });
}

/**
 * iot_mpi_collective_start() - a persistent request of a collective has been started
 * @enter_ns: when the call began that started it
 * @name: an enum iot_call
 * @round: the collective
 * @number: number of starts, including this one
 * @request: id of this start
 */
void iot_mpi_collective_start(u64 enter_ns, u32 name, const struct iot_mpi_round *round, u32 number,
			      u64 request)
{
	struct iot_mpi_collective call = round->call;
	struct iot_rec_mpi_coll record;
	u8 wire[IOT_WIRE_mpi_coll + IOT_SOURCES_MAX_BYTES];

	call.enter_ns = enter_ns;
	call.number = number;
	record = record_of(&call, name, round->root, request, MPI_SUCCESS);
	record.sources = round->sources;
	memcpy(wire + IOT_WIRE_mpi_coll, round->list, round->list_bytes);
	write_record(wire, &record, round->list_bytes);
}

#define DEFINE_PERSISTENT(name, call_name, root, parameters, arguments)                   \
	int MPI_##name parameters                                                         \
	{                                                                                 \
		const struct iot_mpi_library *mpi = iot_mpi_library();                    \
		struct iot_mpi_comm *state = iot_mpi_comm_find(comm);                     \
		u64 key = state ? iot_mpi_comm_child(state) : 0;                          \
		struct iot_mpi_collective call;                                           \
		struct iot_mpi_blocks blocks;                                             \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                        \
                                                                                          \
		if (rc)                                                                   \
			return rc;                                                        \
		if (!state) {                                                             \
			iot_mpi_request_skip(*request);                                   \
			return rc;                                                        \
		}                                                                         \
		call = call_on(state);                                                    \
		blocks = BLOCKS_##call_name;                                              \
		made(state, key, comm, IOT_CALL_##call_name, &call, root, &blocks, *request); \
		return rc;                                                                \
	}

IOT_MPI_COLLECTIVES(DEFINE_BLOCKING, DEFINE_NONBLOCKING, DEFINE_PERSISTENT)
