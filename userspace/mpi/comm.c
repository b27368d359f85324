// SPDX-License-Identifier: GPL-2.0-only
/*
 * comm.c - communicators: what is counted for each, and the calls that make and free them.
 *
 * A communicator that was made by a call that is not wrapped has no key, and what is done
 * on it is not recorded.
 *
 * Ownership: the state of a communicator is an attribute of it and goes with it, however
 * that happens. Those of MPI_COMM_WORLD and MPI_COMM_SELF are here.
 */
#include "shim.h"

#include <stdlib.h>

static struct iot_mpi_comm world, self;
static int world_rank;
static int keyval;

static void announce(struct iot_mpi_comm *state, MPI_Comm comm, int size, int base)
{
	int rank;

	iot_mpi_found.PMPI_Comm_rank(comm, &rank);
	state->own = base + rank;
	IOT_MPI_EMIT(mpi_comm, .comm = state->key, .rank = (u32)state->own,
		     .size = (u32)size, .world_rank = (u32)world_rank);
}

/**
 * iot_mpi_comm_child() - the key of what a collective call on a communicator makes
 * @parent: the communicator
 */
u64 iot_mpi_comm_child(struct iot_mpi_comm *parent)
{
	return iot_mpi_mix(parent->key,
			   __atomic_add_fetch(&parent->children, 1, __ATOMIC_RELAXED));
}

/**
 * iot_mpi_comm_announce() - announce something else that has the ranks of a communicator
 * @state: its key is set
 * @comm: within one group
 */
void iot_mpi_comm_announce(struct iot_mpi_comm *state, MPI_Comm comm)
{
	int size;

	iot_mpi_found.PMPI_Comm_size(comm, &size);
	announce(state, comm, size, 0);
}

static int attribute_copy(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
	(void)comm, (void)key, (void)extra, (void)value, (void)copy;
	*flag = 0; /* a duplicate is a communicator of its own */
	return MPI_SUCCESS;
}

static int attribute_delete(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm, (void)key, (void)extra;
	free(value);
	return MPI_SUCCESS;
}

/**
 * iot_mpi_comm_start() - announce the communicators that every process has
 *
 * MPI is initialised and the session joined.
 *
 * Return: 0, or -ENOMEM if MPI has no room for the state of communicators.
 */
int iot_mpi_comm_start(void)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	int size;

	if (mpi->PMPI_Comm_create_keyval(attribute_copy, attribute_delete, &keyval, NULL))
		return -ENOMEM;
	mpi->PMPI_Comm_size(mpi->comm_world, &size);
	mpi->PMPI_Comm_rank(mpi->comm_world, &world_rank);
	world.key = iot_mpi_world_key(size);
	self.key = iot_mpi_mix(iot_mpi_mix(world.key, ~0ull), (u64)world_rank);
	announce(&world, mpi->comm_world, size, 0);
	announce(&self, mpi->comm_self, 1, 0);
	return 0;
}

/**
 * iot_mpi_comm_find() - the state of a communicator
 * @comm: any
 *
 * Return: NULL if it is not known, or nothing is recorded.
 */
struct iot_mpi_comm *iot_mpi_comm_find(MPI_Comm comm)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	void *state;
	int is_known;

	if (!iot_mpi_is_on() || comm == mpi->comm_null)
		return NULL;
	if (comm == mpi->comm_world)
		return &world;
	if (comm == mpi->comm_self)
		return &self;
	if (mpi->PMPI_Comm_get_attr(comm, keyval, &state, &is_known) || !is_known)
		return NULL;
	return state;
}

/**
 * iot_mpi_comm_made() - a communicator is there: announce it
 * @made: what is known of it
 *
 * Return: its state; NULL if the rank is not in it, or there is no memory.
 */
struct iot_mpi_comm *iot_mpi_comm_made(const struct iot_mpi_made *made)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	struct iot_mpi_members members;
	struct iot_mpi_comm *state;
	int saved = errno;

	if (*made->comm == mpi->comm_null)
		return NULL;
	state = calloc(1, sizeof(*state));
	if (state) {
		iot_mpi_members(*made->comm, &members);
		state->key = iot_mpi_mix(made->key, members.hash);
		state->peer_base = members.peer_base;
		if (mpi->PMPI_Comm_set_attr(*made->comm, keyval, state)) {
			free(state);
			state = NULL;
		} else {
			announce(state, *made->comm, members.ranks, members.base);
			iot_mpi_topology_announce(state, *made->comm);
		}
	}
	errno = saved;
	return state;
}

/* -- calls of all ranks of a communicator ---------------------------------------------------- */

struct creation {
	struct iot_mpi_collective call;
	struct iot_mpi_made made;
};

static bool creation_begin(struct creation *creation, MPI_Comm comm, MPI_Comm *made)
{
	u64 enter_ns = iot_mpi_now_ns();
	struct iot_mpi_comm *parent = iot_mpi_comm_find(comm);

	if (!parent)
		return false;
	iot_mpi_collective_begin(&creation->call, enter_ns, parent);
	creation->made.comm = made;
	creation->made.key = iot_mpi_comm_child(parent);
	return true;
}

#define DEFINE_CREATOR(name, call_name, root, parameters, arguments)            \
	int MPI_##name parameters                                          \
	{                                                                  \
		const struct iot_mpi_library *mpi = iot_mpi_library();     \
		struct creation creation;                                  \
		int rc;                                                    \
                                                                           \
		if (!creation_begin(&creation, comm, made))                \
			return mpi->MPI_##name arguments;                  \
		rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);             \
		iot_mpi_collective_end(&creation.call, IOT_CALL_##call_name, -1, 0, rc); \
		if (!rc)                                                   \
			iot_mpi_comm_made(&creation.made);                 \
		return rc;                                                 \
	}
IOT_MPI_CREATORS(DEFINE_CREATOR)

/* The new communicator is there when the request has ended. */
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct iot_mpi_request state = {};
	struct creation creation;
	int rc;

	if (!creation_begin(&creation, comm, made)) {
		rc = mpi->MPI_Comm_idup(comm, made, request);
		if (!rc)
			iot_mpi_request_skip(*request);
		return rc;
	}
	rc = IOT_MPI_BELOW(mpi->MPI_Comm_idup(comm, made, request));
	state.id = rc ? 0 : iot_mpi_request_new();
	state.made = creation.made;
	iot_mpi_collective_end(&creation.call, IOT_CALL_comm_idup, -1, state.id, rc);
	if (!rc)
		iot_mpi_request_add(*request, &state);
	return rc;
}

/* -- calls of a group ------------------------------------------------------------------------ */

/*
 * Such a call is the first collective on what it makes: there is no other communicator of
 * which all ranks, and no others, make it.
 */
static void group_made(u64 enter_ns, u32 name, const struct iot_mpi_made *made)
{
	struct iot_mpi_comm *state = iot_mpi_comm_made(made);
	struct iot_mpi_collective call;

	if (!state)
		return;
	iot_mpi_collective_begin(&call, enter_ns, state);
	iot_mpi_collective_end(&call, name, -1, 0, MPI_SUCCESS);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct iot_mpi_comm *parent = iot_mpi_comm_find(comm);
	struct iot_mpi_made state = { .comm = made };
	u64 enter_ns = iot_mpi_now_ns();
	int rc;

	if (!parent)
		return mpi->MPI_Comm_create_group(comm, group, tag, made);
	state.key = iot_mpi_mix_group(iot_mpi_mix(parent->key, (u64)tag), group);
	rc = IOT_MPI_BELOW(mpi->MPI_Comm_create_group(comm, group, tag, made));
	if (!rc) {
		state.key = iot_mpi_mix(state.key, iot_mpi_nth(state.key));
		group_made(enter_ns, IOT_CALL_comm_create_group, &state);
	}
	return rc;
}

int MPI_Intercomm_create(MPI_Comm comm, int leader, MPI_Comm peer_comm, int remote_leader, int tag,
			 MPI_Comm *made)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct iot_mpi_comm *local = iot_mpi_comm_find(comm);
	struct iot_mpi_made state = { .comm = made };
	struct iot_mpi_members members;
	u64 enter_ns = iot_mpi_now_ns();
	int rc;

	if (!local)
		return mpi->MPI_Intercomm_create(comm, leader, peer_comm, remote_leader, tag, made);
	rc = IOT_MPI_BELOW(
		mpi->MPI_Intercomm_create(comm, leader, peer_comm, remote_leader, tag, made));
	if (!rc && *made != mpi->comm_null) {
		iot_mpi_members(*made, &members);
		state.key = iot_mpi_mix(iot_mpi_mix(world.key, (u64)tag), members.hash);
		state.key = iot_mpi_mix(state.key, iot_mpi_nth(state.key));
		group_made(enter_ns, IOT_CALL_intercomm_create, &state);
	}
	return rc;
}

/* -- calls that free ------------------------------------------------------------------------- */

#define DEFINE_FREE(name, call_name)                                                     \
	int MPI_##name(MPI_Comm *comm)                                                   \
	{                                                                                \
		const struct iot_mpi_library *mpi = iot_mpi_library();                   \
		u64 enter_ns = iot_mpi_now_ns();                                         \
		struct iot_mpi_collective call;                                          \
		struct iot_mpi_comm *state;                                              \
		int rc;                                                                  \
                                                                                         \
		state = iot_mpi_is_on() && comm ? iot_mpi_comm_find(*comm) : NULL;       \
		if (!state)                                                              \
			return mpi->MPI_##name(comm);                                    \
		iot_mpi_collective_begin(&call, enter_ns, state);                        \
		rc = IOT_MPI_BELOW(mpi->MPI_##name(comm));                               \
		iot_mpi_collective_end(&call, IOT_CALL_##call_name, -1, 0, rc);          \
		return rc;                                                               \
	}
DEFINE_FREE(Comm_free, comm_free)
DEFINE_FREE(Comm_disconnect, comm_disconnect)
