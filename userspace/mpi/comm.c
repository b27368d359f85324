// SPDX-License-Identifier: GPL-2.0-only
/*
 * comm.c - communicators: their keys, what is counted for each, and the calls that make them.
 *
 * All ranks of a communicator find the same key without a message: it is made of the key of
 * the communicator it was made from, the number of the call there, and the world ranks of
 * its members in order. One made by a call that is not wrapped has no key, and what is done
 * on it is not recorded.
 *
 * Ownership: the state of a communicator is an attribute of it and goes with it, however
 * that happens. Those of MPI_COMM_WORLD and MPI_COMM_SELF are here.
 */
#include "shim.h"

#include <stdlib.h>
#include <unistd.h>

#define RANKS_AT_ONCE 256

static struct iot_mpi_comm world, self;
static int world_rank;
static int keyval;

/* The last step of SplitMix64: every bit of both decides about every bit of the sum. */
static u64 mix(u64 hash, u64 value)
{
	hash = (hash + 0x9e3779b97f4a7c15ull) ^ value;
	hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ull;
	hash = (hash ^ hash >> 27) * 0x94d049bb133111ebull;
	return hash ^ hash >> 31;
}

static u64 mix_text(u64 hash, const char *text)
{
	while (*text)
		hash = mix(hash, (u8)*text++);
	return hash;
}

static u64 mix_ranks(u64 hash, MPI_Comm comm, int size)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	int ranks[RANKS_AT_ONCE], world_ranks[RANKS_AT_ONCE];
	MPI_Group group, world_group;
	int first, count, i;

	mpi->PMPI_Comm_group(comm, &group);
	mpi->PMPI_Comm_group(mpi->comm_world, &world_group);
	for (first = 0; first < size; first += count) {
		count = size - first < RANKS_AT_ONCE ? size - first : RANKS_AT_ONCE;
		for (i = 0; i < count; i++)
			ranks[i] = first + i;
		mpi->PMPI_Group_translate_ranks(group, count, ranks, world_group, world_ranks);
		for (i = 0; i < count; i++)
			hash = mix(hash, (u64)world_ranks[i]);
	}
	mpi->PMPI_Group_free(&world_group);
	mpi->PMPI_Group_free(&group);
	return hash;
}

/*
 * The launcher tells all ranks of a job the same name. A job of one rank may have none, and
 * has nobody to agree with.
 */
static u64 world_key(int size)
{
	static const char *const names[] = { "PMIX_NAMESPACE", "OMPI_MCA_orte_ess_jobid",
					     "OMPI_MCA_ess_base_jobid" };
	const char *job = NULL;
	u64 key = mix(0, (u64)size);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names) && !job; i++)
		job = getenv(names[i]);
	if (job)
		key = mix_text(key, job);
	if (size == 1)
		key = mix(mix(key, (u64)getpid()), iot_mpi_now_ns());
	return key;
}

static void announce(const struct iot_mpi_comm *state, MPI_Comm comm)
{
	int rank, size;

	iot_mpi_found.PMPI_Comm_rank(comm, &rank);
	iot_mpi_found.PMPI_Comm_size(comm, &size);
	IOT_MPI_EMIT(mpi_comm, .comm = state->key, .rank = (u32)rank, .size = (u32)size,
		     .world_rank = (u32)world_rank);
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
	world.key = world_key(size);
	self.key = mix(mix_text(world.key, "self"), (u64)world_rank);
	announce(&world, mpi->comm_world);
	announce(&self, mpi->comm_self);
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

/* -- calls that make communicators, and the one that frees them -------------------------- */

struct creation {
	struct iot_mpi_collective call;
	u64 key; /* of the new one, still without its ranks */
};

static bool creation_begin(struct creation *creation, MPI_Comm comm)
{
	u64 enter_ns = iot_mpi_now_ns();
	struct iot_mpi_comm *parent = iot_mpi_comm_find(comm);

	if (!parent)
		return false;
	iot_mpi_collective_begin(&creation->call, enter_ns, parent);
	creation->key = mix(parent->key, __atomic_add_fetch(&parent->children, 1, __ATOMIC_RELAXED));
	return true;
}

static void creation_end(const struct creation *creation, u32 name, const MPI_Comm *made, int rc)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	struct iot_mpi_comm *state;
	int size, saved = errno;

	iot_mpi_collective_end(&creation->call, name, -1, 0, rc);
	if (rc || *made == mpi->comm_null)
		return;
	state = calloc(1, sizeof(*state));
	if (state) {
		mpi->PMPI_Comm_size(*made, &size);
		state->key = mix_ranks(creation->key, *made, size);
		if (mpi->PMPI_Comm_set_attr(*made, keyval, state))
			free(state);
		else
			announce(state, *made);
	}
	errno = saved;
}

#define DEFINE_CREATOR(name, call, parameters, arguments)                  \
	int MPI_##name parameters                                          \
	{                                                                  \
		const struct iot_mpi_library *mpi = iot_mpi_library();     \
		struct creation creation;                                  \
		int rc;                                                    \
                                                                           \
		if (!creation_begin(&creation, comm))                      \
			return mpi->MPI_##name arguments;                  \
		rc = mpi->MPI_##name arguments;                            \
		creation_end(&creation, IOT_CALL_##call, made, rc);        \
		return rc;                                                 \
	}
IOT_MPI_CREATORS(DEFINE_CREATOR)

int MPI_Comm_free(MPI_Comm *comm)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	u64 enter_ns = iot_mpi_now_ns();
	struct iot_mpi_collective call;
	struct iot_mpi_comm *state = comm ? iot_mpi_comm_find(*comm) : NULL;
	int rc;

	if (!state)
		return mpi->MPI_Comm_free(comm);
	iot_mpi_collective_begin(&call, enter_ns, state);
	rc = mpi->MPI_Comm_free(comm);
	iot_mpi_collective_end(&call, IOT_CALL_comm_free, -1, 0, rc);
	return rc;
}
