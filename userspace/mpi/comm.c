// SPDX-License-Identifier: GPL-2.0-only
/*
 * comm.c - communicators: their counters, and the calls that create and free them.
 *
 * A communicator that was created by a call without a wrapper has no key, and calls on it are not
 * recorded.
 *
 * Ownership: the state of a communicator is an attribute of it and is freed with it; it is found by
 * the handle. This file holds the states of MPI_COMM_WORLD and MPI_COMM_SELF.
 */
#include "shim.h"

#include <stdlib.h>

static struct iot_mpi_comm world, self;
static struct iot_mpi_handles known = { .lock = PTHREAD_MUTEX_INITIALIZER };
static int world_rank;
static int keyval;

/**
 * iot_mpi_comm_world() - the key of MPI_COMM_WORLD
 */
u64 iot_mpi_comm_world(void)
{
	return world.key;
}

/**
 * iot_mpi_comm_announce() - announce the rank of this process in a communicator, or in an object
 * with its ranks
 * @state: its @origin: see schema.h
 */
void iot_mpi_comm_announce(const struct iot_mpi_comm *state, u64 origin)
{
	IOT_MPI_EMIT(mpi_comm, .comm = state->key, .rank = (u32)state->own, .size = state->ranks,
		     .world_rank = (u32)world_rank, .world = world.key, .origin = origin,
		     .first = state->first);
}

/* Communicators derived on both sides of a link get keys with the same difference to the origin of the link. */
static u64 derive(const struct iot_mpi_comm *parent, u64 key, u64 value)
{
	return parent->origin ^ iot_mpi_mix(key ^ parent->origin, value);
}

/**
 * iot_mpi_comm_child() - the key of the object that a collective call on a communicator creates
 * @parent: the communicator
 */
u64 iot_mpi_comm_child(struct iot_mpi_comm *parent)
{
	return derive(parent, parent->key,
		      __atomic_add_fetch(&parent->children, 1, __ATOMIC_RELAXED));
}

/**
 * iot_mpi_comm_like() - something else that has the ranks of a communicator
 * @parent: the communicator
 * @key: of the other thing
 */
struct iot_mpi_comm iot_mpi_comm_like(const struct iot_mpi_comm *parent, u64 key)
{
	return (struct iot_mpi_comm){
		.key = key,
		.origin = parent->origin,
		.ranks = parent->ranks,
		.own = parent->own,
		.peer_base = parent->peer_base,
		.first = parent->first,
	};
}

static int attribute_copy(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
	(void)comm, (void)key, (void)extra, (void)value, (void)copy;
	*flag = 0; /* a duplicate is a communicator of its own */
	return MPI_SUCCESS;
}

static int attribute_delete(MPI_Comm comm, int key, void *value, void *extra)
{
	struct iot_mpi_comm *state = value;

	(void)comm, (void)key, (void)extra;
	iot_mpi_handle_remove(&known, &state->handle);
	free(state->near);
	free(state);
	return MPI_SUCCESS;
}

static int rank_in(MPI_Comm comm)
{
	int rank = 0;

	iot_mpi_found.PMPI_Comm_rank(comm, &rank);
	return rank;
}

/**
 * iot_mpi_comm_start() - announce the communicators that every process has
 * @rank: of the process in the world: MPI_COMM_WORLD, or the set of processes of the same name
 * @ranks: there
 * @is_spawned: by another world
 *
 * A session has been joined.
 *
 * Return: 0, or -ENOMEM if MPI has no room for the state of communicators.
 */
int iot_mpi_comm_start(int rank, int ranks, bool is_spawned)
{
	if (iot_mpi_found.PMPI_Comm_create_keyval(attribute_copy, attribute_delete, &keyval, NULL))
		return -ENOMEM;
	world_rank = rank;
	world.own = rank;
	world.ranks = (u32)ranks;
	world.key = iot_mpi_world_key(ranks, is_spawned);
	self.ranks = 1;
	self.key = iot_mpi_mix(iot_mpi_mix(world.key, ~0ull), (u64)world_rank);
	iot_mpi_comm_announce(&world, 0);
	iot_mpi_comm_announce(&self, 0);
	return 0;
}

/**
 * iot_mpi_comm_self() - the state of MPI_COMM_SELF
 */
struct iot_mpi_comm *iot_mpi_comm_self(void)
{
	return &self;
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

	if (!iot_mpi_is_on() || comm == mpi->comm_null)
		return NULL;
	if (comm == mpi->comm_world)
		return &world;
	if (comm == mpi->comm_self)
		return &self;
	return (struct iot_mpi_comm *)iot_mpi_handle_find(&known, (uintptr_t)comm);
}

/**
 * iot_mpi_comm_remember() - keep the state of a communicator with it
 * @state: becomes the communicator's, or is freed
 *
 * Return: false if it could not be kept.
 */
bool iot_mpi_comm_remember(struct iot_mpi_comm *state, MPI_Comm comm)
{
	if (!iot_mpi_found.PMPI_Comm_set_attr(comm, keyval, state)) {
		iot_mpi_handle_add(&known, &state->handle, (uintptr_t)comm);
		return true;
	}
	free(state);
	return false;
}

static struct iot_mpi_comm *state_new(const struct iot_mpi_comm *from)
{
	int saved = errno;
	struct iot_mpi_comm *state = malloc(sizeof(*state));

	if (state)
		*state = *from;
	errno = saved;
	return state;
}

/* As iot_mpi_comm_remember(), and say that it is there. */
static bool introduce(struct iot_mpi_comm *state, MPI_Comm comm)
{
	if (!iot_mpi_comm_remember(state, comm))
		return false;
	iot_mpi_comm_announce(state, state->origin);
	iot_mpi_topology_announce(state, comm);
	return true;
}

/* Return: the state of a communicator that is there; NULL if it could not be kept. */
static struct iot_mpi_comm *made(const struct iot_mpi_comm *from, MPI_Comm comm)
{
	int saved = errno;
	struct iot_mpi_comm *state = state_new(from);

	if (state && !introduce(state, comm))
		state = NULL;
	errno = saved;
	return state;
}

/* -- calls of all ranks of a communicator ---------------------------------------------------- */

struct creation {
	struct iot_mpi_collective call;
	struct iot_mpi_comm *parent;
	u64 key; /* of the new communicator, without its ranks yet */
};

static bool creation_begin(struct creation *creation, MPI_Comm comm)
{
	u64 enter_ns = iot_mpi_now_ns();

	creation->parent = iot_mpi_comm_find(comm);
	if (!creation->parent)
		return false;
	iot_mpi_collective_begin(&creation->call, enter_ns, creation->parent);
	creation->key = iot_mpi_comm_child(creation->parent);
	return true;
}

static void creation_end(const struct creation *creation, u32 name, MPI_Comm parent,
			 const MPI_Comm *comm, int rc)
{
	struct iot_mpi_sides sides;

	iot_mpi_collective_end(&creation->call, name, -1, 0, rc);
	if (rc || *comm == iot_mpi_found.comm_null)
		return;
	iot_mpi_sides(*comm, parent, creation->parent, &sides);
	made(&(struct iot_mpi_comm){
		.key = derive(creation->parent, creation->key, (u64)sides.first),
		.origin = creation->parent->origin,
		.ranks = (u32)sides.ranks,
		.own = sides.base + rank_in(*comm),
		.peer_base = sides.peer_base,
		.first = (u32)(sides.base + sides.peer_base),
	}, *comm);
}

#define DEFINE_CREATOR(name, call_name, root, parameters, arguments)            \
	int MPI_##name parameters                                          \
	{                                                                  \
		const struct iot_mpi_library *mpi = iot_mpi_library();     \
		struct creation creation;                                  \
		int rc;                                                    \
                                                                           \
		if (!creation_begin(&creation, comm))                      \
			return IOT_MPI_BELOW(mpi->MPI_##name arguments);                  \
		rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);             \
		creation_end(&creation, IOT_CALL_##call_name, comm, made, rc); \
		return rc;                                                 \
	}
IOT_MPI_CREATORS(DEFINE_CREATOR)

/* The request of a duplicate. */
static void duplicating(const struct creation *creation, u32 name, MPI_Comm *comm,
			const MPI_Request *handle, int rc)
{
	struct iot_mpi_comm copy = iot_mpi_comm_like(creation->parent, creation->key);
	struct iot_mpi_request request = { .id = rc ? 0 : iot_mpi_request_new(), .made = comm };

	iot_mpi_collective_end(&creation->call, name, -1, request.id, rc);
	if (rc)
		return;
	request.state = state_new(&copy);
	if (!request.state)
		request.made = NULL;
	iot_mpi_request_add(*handle, &request);
}

/* The new communicator is there when the request has ended, and has the ranks of the old one. */
#define DEFINE_IDUP(name, call_name, root, parameters, arguments)                    \
	int MPI_##name parameters                                                    \
	{                                                                            \
		const struct iot_mpi_library *mpi = iot_mpi_library();               \
		struct creation creation;                                            \
		bool is_known = creation_begin(&creation, comm);                     \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                   \
                                                                                     \
		if (is_known)                                                        \
			duplicating(&creation, IOT_CALL_##call_name, made, request, rc); \
		else if (!rc)                                                        \
			iot_mpi_request_skip(*request);                              \
		return rc;                                                           \
	}
IOT_MPI_IDUPS(DEFINE_IDUP)

/**
 * iot_mpi_comm_idup_done() - the request of MPI_Comm_idup() has ended
 * @state: of the communicator, which takes ownership
 * @comm: it
 */
void iot_mpi_comm_idup_done(struct iot_mpi_comm *state, MPI_Comm comm)
{
	int saved = errno;

	introduce(state, comm);
	errno = saved;
}

/* -- calls of a group ------------------------------------------------------------------------ */

/*
 * Such a call is the first collective on the communicator that it creates: no other communicator
 * consists of exactly the ranks that make the call.
 */
static void group_made(u64 enter_ns, u32 name, const struct iot_mpi_comm *from, MPI_Comm comm)
{
	struct iot_mpi_comm *state = made(from, comm);
	struct iot_mpi_collective call;

	if (!state)
		return;
	iot_mpi_collective_begin(&call, enter_ns, state);
	iot_mpi_collective_end(&call, name, -1, 0, MPI_SUCCESS);
}

/* Between origins, too, the same groups may call with the same tag: the count is of the key. */
static u64 nth_key(const struct iot_mpi_comm *parent, u64 hash)
{
	return derive(parent, hash ^ parent->origin, iot_mpi_nth(hash ^ parent->origin));
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct iot_mpi_comm *parent = iot_mpi_comm_find(comm);
	u64 enter_ns = iot_mpi_now_ns(), hash;
	int rc, size = 0;

	if (!parent)
		return IOT_MPI_BELOW(mpi->MPI_Comm_create_group(comm, group, tag, made));
	rc = IOT_MPI_BELOW(mpi->MPI_Comm_create_group(comm, group, tag, made));
	if (!rc && *made != mpi->comm_null) {
		hash = iot_mpi_mix(parent->key ^ parent->origin, (u64)tag);
		iot_mpi_mix_group(&hash, group, comm);
		mpi->PMPI_Comm_size(*made, &size);
		group_made(enter_ns, IOT_CALL_comm_create_group, &(struct iot_mpi_comm){
			.key = nth_key(parent, hash),
			.origin = parent->origin,
			.ranks = (u32)size,
			.own = rank_in(*made),
		}, *made);
	}
	return rc;
}

/*
 * The only other communicator with all of its ranks is the world, if all of them belong to it:
 * communicators with ranks of another world are not recorded.
 */
static void inter_made(u64 enter_ns, u32 name, u64 hash, MPI_Comm comm)
{
	struct iot_mpi_sides sides;

	if (iot_mpi_world_hash(comm, &hash, &sides))
		group_made(enter_ns, name, &(struct iot_mpi_comm){
			.key = nth_key(&world, hash),
			.ranks = (u32)sides.ranks,
			.own = sides.base + rank_in(comm),
			.peer_base = sides.peer_base,
			.first = (u32)(sides.base + sides.peer_base),
		}, comm);
}

int MPI_Intercomm_create(MPI_Comm comm, int leader, MPI_Comm peer_comm, int remote_leader, int tag,
			 MPI_Comm *made)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct iot_mpi_comm *local = iot_mpi_comm_find(comm);
	u64 enter_ns = iot_mpi_now_ns();
	int rc;

	if (!local)
		return IOT_MPI_BELOW(mpi->MPI_Intercomm_create(comm, leader, peer_comm, remote_leader, tag, made));
	rc = IOT_MPI_BELOW(
		mpi->MPI_Intercomm_create(comm, leader, peer_comm, remote_leader, tag, made));
	if (!rc && *made != mpi->comm_null)
		inter_made(enter_ns, IOT_CALL_intercomm_create,
			   iot_mpi_mix(iot_mpi_mix(world.key, (u64)tag), 1), *made);
	return rc;
}

/* -- calls of groups that need no communicator ------------------------------------------------- */

#if IOT_HAS_Comm_create_from_group
int MPI_Comm_create_from_group(MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler handler,
			       MPI_Comm *made)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	bool is_on = iot_mpi_is_on();
	u64 enter_ns = is_on ? iot_mpi_now_ns() : 0, hash;
	int size = 0, rc = IOT_MPI_BELOW(mpi->MPI_Comm_create_from_group(group, tag, info, handler, made));

	if (!is_on || rc || *made == mpi->comm_null)
		return rc;
	hash = iot_mpi_mix_text(iot_mpi_mix(world.key, 2), tag);
	if (!iot_mpi_mix_world(&hash, group))
		return rc;
	mpi->PMPI_Comm_size(*made, &size);
	group_made(enter_ns, IOT_CALL_comm_create_from_group, &(struct iot_mpi_comm){
		.key = nth_key(&world, hash),
		.ranks = (u32)size,
		.own = rank_in(*made),
	}, *made);
	return rc;
}

int MPI_Intercomm_create_from_groups(MPI_Group own, int leader, MPI_Group other, int remote_leader,
				     const char *tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm *made)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	bool is_on = iot_mpi_is_on();
	u64 enter_ns = is_on ? iot_mpi_now_ns() : 0;
	int rc = IOT_MPI_BELOW(mpi->MPI_Intercomm_create_from_groups(own, leader, other, remote_leader, tag,
								     info, handler, made));

	if (is_on && !rc && *made != mpi->comm_null)
		inter_made(enter_ns, IOT_CALL_intercomm_create_from_groups,
			   iot_mpi_mix_text(iot_mpi_mix(world.key, 3), tag), *made);
	return rc;
}
#endif

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
			return IOT_MPI_BELOW(mpi->MPI_##name(comm));                                    \
		iot_mpi_collective_begin(&call, enter_ns, state);                        \
		rc = IOT_MPI_BELOW(mpi->MPI_##name(comm));                               \
		iot_mpi_collective_end(&call, IOT_CALL_##call_name, -1, 0, rc);          \
		return rc;                                                               \
	}
DEFINE_FREE(Comm_free, comm_free)
DEFINE_FREE(Comm_disconnect, comm_disconnect)
