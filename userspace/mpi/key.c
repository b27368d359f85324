// SPDX-License-Identifier: GPL-2.0-only
/*
 * key.c - keys of communicators, which all their ranks find without a message.
 *
 * A key is made of the key of the communicator that it was made from, the number of the call
 * there, and the world ranks of its members in order. Calls that not all ranks of a
 * communicator make have a number of their own among those of the same group and tag.
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
 * iot_mpi_mix_group() - mix the world ranks of a group into a hash
 */
u64 iot_mpi_mix_group(u64 hash, MPI_Group group)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	int ranks[RANKS_AT_ONCE], world_ranks[RANKS_AT_ONCE];
	MPI_Group world_group;
	int size = 0, first, count, i;

	mpi->PMPI_Group_size(group, &size);
	mpi->PMPI_Comm_group(mpi->comm_world, &world_group);
	for (first = 0; first < size; first += count) {
		count = size - first < RANKS_AT_ONCE ? size - first : RANKS_AT_ONCE;
		for (i = 0; i < count; i++)
			ranks[i] = first + i;
		mpi->PMPI_Group_translate_ranks(group, count, ranks, world_group, world_ranks);
		for (i = 0; i < count; i++)
			hash = iot_mpi_mix(hash, (u64)world_ranks[i]);
	}
	mpi->PMPI_Group_free(&world_group);
	return hash;
}

static int first_world_rank(MPI_Group group)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	MPI_Group world_group;
	int zero = 0, rank = 0;

	mpi->PMPI_Comm_group(mpi->comm_world, &world_group);
	mpi->PMPI_Group_translate_ranks(group, 1, &zero, world_group, &rank);
	mpi->PMPI_Group_free(&world_group);
	return rank;
}

/* The group with the lower first world rank comes first, so that both sides agree. */
static void both_groups(MPI_Group own, MPI_Group other, struct iot_mpi_members *members)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	int own_size = 0, other_size = 0;

	mpi->PMPI_Group_size(own, &own_size);
	mpi->PMPI_Group_size(other, &other_size);
	members->ranks = own_size + other_size;
	if (first_world_rank(own) < first_world_rank(other)) {
		members->peer_base = own_size;
		members->hash = iot_mpi_mix_group(iot_mpi_mix_group(1, own), other);
	} else {
		members->base = other_size;
		members->hash = iot_mpi_mix_group(iot_mpi_mix_group(1, other), own);
	}
}

/**
 * iot_mpi_members() - who is in a communicator
 * @comm: any
 * @members: out
 */
void iot_mpi_members(MPI_Comm comm, struct iot_mpi_members *members)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	MPI_Group own, other;
	int is_inter = 0;

	*members = (struct iot_mpi_members){};
	mpi->PMPI_Comm_test_inter(comm, &is_inter);
	mpi->PMPI_Comm_group(comm, &own);
	if (is_inter) {
		mpi->PMPI_Comm_remote_group(comm, &other);
		both_groups(own, other, members);
		mpi->PMPI_Group_free(&other);
	} else {
		mpi->PMPI_Group_size(own, &members->ranks);
		members->hash = iot_mpi_mix_group(0, own);
	}
	mpi->PMPI_Group_free(&own);
}

static u64 mix_text(u64 hash, const char *text)
{
	while (*text)
		hash = iot_mpi_mix(hash, (u8)*text++);
	return hash;
}

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

/* Slurm tells it to those that it starts itself; below another launcher it is that of a whole shell. */
static const char *slurm_job(void)
{
	return getenv("HYDI_CONTROL_FD") ? NULL : getenv("PMI_JOBID");
}

/* MPICH's launcher tells no name, but all ranks of a node descend from one process of it. */
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
 *
 * The launcher tells all ranks of a job the same name. A job of one rank may have none, and
 * has nobody to agree with.
 */
u64 iot_mpi_world_key(int ranks)
{
	static const char *const names[] = { "IOTAPE_JOB", "PMIX_NAMESPACE", "OMPI_MCA_orte_ess_jobid",
					     "OMPI_MCA_ess_base_jobid" };
	const char *job = NULL;
	u64 hash = iot_mpi_mix(0, (u64)ranks);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names) && !job; i++)
		job = getenv(names[i]);
	if (!job)
		job = slurm_job();
	if (job)
		hash = mix_text(hash, job);
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
 * iot_mpi_nth() - how many calls of a key there were, this one included
 * @key: of the group and the tag
 *
 * All ranks of the group make them in the same order. Return: 0 if there is no memory.
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
