// SPDX-License-Identifier: GPL-2.0-only
/*
 * key.c - keys of communicators, which all their ranks find without a message.
 *
 * A key is made of the key of the communicator that it was made from, the number of the call
 * there, and the rank there of its own rank 0: the communicators that one call creates have no rank in common. Calls
 * that not all ranks of a communicator make have a number of their own among those of the same
 * group and tag.
 */
#include "shim.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RANKS_AT_ONCE 256

/**
 * iot_mpi_mix() - the last step of SplitMix64: every bit of both decides about every bit
 */
u64 iot_mpi_mix(u64 hash, u64 value)
{
	hash = (hash + 0x9e3779b97f4a7c15ull) ^ value;
	hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ull;
	hash = (hash ^ hash >> 27) * 0x94d049bb133111ebull;
	return hash ^ hash >> 31;
}

/**
 * iot_mpi_mix_text() - mix each character of a text into a hash
 */
u64 iot_mpi_mix_text(u64 hash, const char *text)
{
	while (*text)
		hash = iot_mpi_mix(hash, (u8)*text++);
	return hash;
}

/* -- members of a communicator ---------------------------------------------------------------- */

/* Return: false if one of @group is none of @all. */
static bool mix_ranks(u64 *hash, MPI_Group group, MPI_Group all)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	int ranks[RANKS_AT_ONCE], there[RANKS_AT_ONCE];
	int size = 0, first, count, i;
	bool are_known = true;

	mpi->PMPI_Group_size(group, &size);
	for (first = 0; first < size; first += count) {
		count = size - first < RANKS_AT_ONCE ? size - first : RANKS_AT_ONCE;
		for (i = 0; i < count; i++)
			ranks[i] = first + i;
		mpi->PMPI_Group_translate_ranks(group, count, ranks, all, there);
		for (i = 0; i < count; i++) {
			are_known &= there[i] != MPI_UNDEFINED;
			*hash = iot_mpi_mix(*hash, (u64)there[i]);
		}
	}
	return are_known;
}

/**
 * iot_mpi_mix_group() - mix the ranks of a group into a hash
 * @hash: in and out
 * @group: of ranks
 * @comm: within one group: they are mixed in as its ranks
 *
 * Return: false if one of them is none of @comm's.
 */
bool iot_mpi_mix_group(u64 *hash, MPI_Group group, MPI_Comm comm)
{
	bool are_known;
	MPI_Group all;

	iot_mpi_found.PMPI_Comm_group(comm, &all);
	are_known = mix_ranks(hash, group, all);
	iot_mpi_found.PMPI_Group_free(&all);
	return are_known;
}

/**
 * iot_mpi_mix_world() - as iot_mpi_mix_group(), by the ranks of the world
 */
bool iot_mpi_mix_world(u64 *hash, MPI_Group group)
{
	MPI_Group world;
	bool are_known;

	if (!iot_mpi_world_group(&world))
		return false;
	are_known = mix_ranks(hash, group, world);
	iot_mpi_found.PMPI_Group_free(&world);
	return are_known;
}

/* The rank in @all of the process with rank 0 in @group; MPI_UNDEFINED if it is absent. */
static int first_in(MPI_Group group, MPI_Group all)
{
	int zero = 0, rank = MPI_UNDEFINED;

	iot_mpi_found.PMPI_Group_translate_ranks(group, 1, &zero, all, &rank);
	return rank;
}

/* The same in a communicator, which may have two groups: in the sequence of both. */
static int first_of(MPI_Group group, MPI_Comm comm, const struct iot_mpi_comm *state)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	int is_inter = 0, own = 0, rank;
	MPI_Group all;

	mpi->PMPI_Comm_group(comm, &all);
	mpi->PMPI_Comm_rank(comm, &own);
	rank = first_in(group, all);
	mpi->PMPI_Group_free(&all);
	if (rank != MPI_UNDEFINED)
		return state->own - own + rank;
	mpi->PMPI_Comm_test_inter(comm, &is_inter);
	if (!is_inter)
		return MPI_UNDEFINED;
	mpi->PMPI_Comm_remote_group(comm, &all);
	rank = first_in(group, all);
	mpi->PMPI_Group_free(&all);
	return rank == MPI_UNDEFINED ? rank : state->peer_base + rank;
}

/* Two groups in one sequence, so that both agree: first the one whose first rank is lower. */
static void put_in_order(struct iot_mpi_sides *sides, int own, int peers, int first, int peer_first)
{
	sides->ranks = own + peers;
	if (first < peer_first)
		sides->peer_base = own;
	else
		sides->base = peers;
	sides->first = first < peer_first ? first : peer_first;
}

/**
 * iot_mpi_sides() - the ranks of a communicator that all ranks of another one created
 * @comm: it
 * @parent: the other one
 * @parent_state: of that
 * @sides: out
 */
void iot_mpi_sides(MPI_Comm comm, MPI_Comm parent, const struct iot_mpi_comm *parent_state,
		   struct iot_mpi_sides *sides)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	MPI_Group own, other;
	int is_inter = 0, peers = 0;

	*sides = (struct iot_mpi_sides){};
	mpi->PMPI_Comm_test_inter(comm, &is_inter);
	mpi->PMPI_Comm_size(comm, &sides->ranks);
	mpi->PMPI_Comm_group(comm, &own);
	sides->first = first_of(own, parent, parent_state);
	if (is_inter) {
		mpi->PMPI_Comm_remote_size(comm, &peers);
		mpi->PMPI_Comm_remote_group(comm, &other);
		put_in_order(sides, sides->ranks, peers, sides->first,
			     first_of(other, parent, parent_state));
		mpi->PMPI_Group_free(&other);
	}
	mpi->PMPI_Group_free(&own);
}

/**
 * iot_mpi_world_hash() - a hash of an intercommunicator's members, by their ranks in the world
 * @inter: it
 * @hash: out: equal on both sides
 * @sides: out
 *
 * Return: false if a member belongs to another world.
 */
bool iot_mpi_world_hash(MPI_Comm inter, u64 *hash, struct iot_mpi_sides *sides)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	MPI_Group world, own, other;
	int ranks = 0, peers = 0;
	bool are_known;

	*sides = (struct iot_mpi_sides){};
	if (!iot_mpi_world_group(&world))
		return false;
	mpi->PMPI_Comm_size(inter, &ranks);
	mpi->PMPI_Comm_remote_size(inter, &peers);
	mpi->PMPI_Comm_group(inter, &own);
	mpi->PMPI_Comm_remote_group(inter, &other);
	put_in_order(sides, ranks, peers, first_in(own, world), first_in(other, world));
	are_known = mix_ranks(hash, sides->base ? other : own, world);
	are_known &= mix_ranks(hash, sides->base ? own : other, world);
	mpi->PMPI_Group_free(&own);
	mpi->PMPI_Group_free(&other);
	mpi->PMPI_Group_free(&world);
	return are_known;
}

/* -- the world ------------------------------------------------------------------------------- */

struct process {
	char name[17];
	int parent;
	u64 start; /* clock ticks since the boot */
};

static bool read_process(int pid, struct process *process)
{
	char path[64], text[1024] = "", *name, *rest;
	int fd, got;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = (int)read(fd, text, sizeof(text) - 1);
	close(fd);
	name = strchr(text, '(');
	rest = strrchr(text, ')');
	if (got <= 0 || !name || !rest)
		return false;
	snprintf(process->name, sizeof(process->name), "%.*s", (int)(rest - name - 1), name + 1);
	return sscanf(rest + 1,
		      " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
		      "%llu", &process->parent, (unsigned long long *)&process->start) == 2;
}

/*
 * Slurm sets it for the processes that it starts itself; below another launcher it is that of a
 * whole shell.
 */
static const char *slurm_job(void)
{
	return getenv("HYDI_CONTROL_FD") ? NULL : getenv("PMI_JOBID");
}

/* MPICH's launcher passes no name, but all ranks of a node descend from one of its processes. */
static u64 mix_launcher(u64 hash)
{
	struct process process = { .parent = getpid() };
	int pid = getppid(), depth;

	for (depth = 0; depth < 32 && pid > 1; depth++) {
		if (!read_process(pid, &process))
			break;
		if (!strncmp(process.name, "hydra_pmi", strlen("hydra_pmi")))
			return iot_mpi_mix(iot_mpi_mix(hash, (u64)pid), process.start);
		pid = process.parent;
	}
	return iot_mpi_mix(hash, (u64)getppid());
}

/**
 * iot_mpi_world_key() - the key of MPI_COMM_WORLD
 * @ranks: in it
 * @is_spawned: it has a name of its own, regardless of that of the job
 *
 * The launcher passes the same name to all ranks of a job. A job of one rank may have none, and
 * needs no agreement.
 */
u64 iot_mpi_world_key(int ranks, bool is_spawned)
{
	static const char *const names[] = { "IOTAPE_JOB", "PMIX_NAMESPACE", "OMPI_MCA_orte_ess_jobid",
					     "OMPI_MCA_ess_base_jobid" };
	const char *job = NULL;
	u64 hash = iot_mpi_mix(0, (u64)ranks);
	size_t i;

	for (i = is_spawned; i < ARRAY_SIZE(names) && !job; i++)
		job = getenv(names[i]);
	if (!job && !is_spawned)
		job = slurm_job();
	if (job)
		hash = iot_mpi_mix_text(hash, job);
	if (ranks == 1)
		return iot_mpi_mix(iot_mpi_mix(hash, (u64)getpid()), iot_mpi_now_ns());
	return job ? hash : mix_launcher(hash);
}

/* -- calls that only a group makes ----------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct count {
	u64 key;
	u64 count;
} *counts;
static size_t count_count;

/**
 * iot_mpi_nth() - the number of calls of a key, including this one
 * @key: of the group and the tag
 *
 * All ranks of the group make them in the same order. Return: 0 if out of memory.
 */
u64 iot_mpi_nth(u64 key)
{
	struct count *bigger;
	u64 n = 0;
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < count_count && counts[i].key != key; i++)
		;
	if (i == count_count) {
		bigger = realloc(counts, (count_count + 1) * sizeof(*counts));
		if (bigger) {
			counts = bigger;
			counts[count_count++] = (struct count){ .key = key };
		}
	}
	if (i < count_count)
		n = ++counts[i].count;
	pthread_mutex_unlock(&lock);
	return n;
}
