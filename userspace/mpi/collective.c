// SPDX-License-Identifier: GPL-2.0-only
/*
 * collective.c - collective calls, blocking and nonblocking, numbered in one sequence.
 */
#include "shim.h"

/**
 * iot_mpi_collective_begin() - count a collective call
 * @call: filled in
 * @enter_ns: when it was entered
 * @comm: its communicator
 */
void iot_mpi_collective_begin(struct iot_mpi_collective *call, u64 enter_ns,
			      struct iot_mpi_comm *comm)
{
	call->enter_ns = enter_ns;
	call->comm = comm->key;
	call->number = __atomic_add_fetch(&comm->collectives, 1, __ATOMIC_RELAXED);
	call->peer_base = comm->peer_base;
	call->own = comm->own;
}

/*
 * Between two groups the root names itself MPI_ROOT, its own group has nothing to do with it,
 * and the other group names it by its rank. Who names nobody leaves that to the others.
 */
static s32 root_of(const struct iot_mpi_collective *call, int root)
{
	if (root == MPI_ROOT)
		return call->own;
	return root < 0 ? -1 : call->peer_base + root;
}

/**
 * iot_mpi_collective_end() - record it
 * @call: the one that ends
 * @name: an enum iot_call
 * @root: rank, -1 if the call has none
 * @request: that it made, 0 if none
 * @rc: what MPI returned; a call that failed has used up its number, too
 */
void iot_mpi_collective_end(const struct iot_mpi_collective *call, u32 name, int root, u64 request,
			    int rc)
{
	IOT_MPI_EMIT(mpi_coll, .enter_ns = call->enter_ns, .result = iot_mpi_result(rc),
		     .call = name, .comm = call->comm, .number = call->number,
		     .root = root_of(call, root), .request = request);
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

#define DEFINE_BLOCKING(name, call_name, root, parameters, arguments)                     \
	int MPI_##name parameters                                                         \
	{                                                                                 \
		const struct iot_mpi_library *mpi = iot_mpi_library();                    \
		struct iot_mpi_collective call;                                           \
		int rc;                                                                   \
                                                                                          \
		if (!begin(&call, comm))                                                  \
			return mpi->MPI_##name arguments;                                 \
		rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                            \
		iot_mpi_collective_end(&call, IOT_CALL_##call_name, root, 0, rc);         \
		return rc;                                                                \
	}

static void posted(const struct iot_mpi_collective *call, u32 name, int root,
		   const MPI_Request *handle, int rc)
{
	struct iot_mpi_request request = { .id = rc ? 0 : iot_mpi_request_new() };

	iot_mpi_collective_end(call, name, root, request.id, rc);
	if (!rc)
		iot_mpi_request_add(*handle, &request);
}

#define DEFINE_NONBLOCKING(name, call_name, root, parameters, arguments)                  \
	int MPI_##name parameters                                                         \
	{                                                                                 \
		const struct iot_mpi_library *mpi = iot_mpi_library();                    \
		struct iot_mpi_collective call;                                           \
		bool is_known = begin(&call, comm);                                       \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                        \
                                                                                          \
		if (is_known)                                                             \
			posted(&call, IOT_CALL_##call_name, root, request, rc);           \
		else if (!rc)                                                             \
			iot_mpi_request_skip(*request);                                   \
		return rc;                                                                \
	}

IOT_MPI_COLLECTIVES(DEFINE_BLOCKING, DEFINE_NONBLOCKING)
