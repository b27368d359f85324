// SPDX-License-Identifier: GPL-2.0-only
/*
 * job.c - information about the job that a launcher passes to its processes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

/* The first of some variables that is set, NULL if none is. */
static const char *first_of(const char *const *names)
{
	const char *value = NULL;

	for (; *names && !value; names++) {
		value = getenv(*names);
		if (value && !value[0])
			value = NULL;
	}
	return value;
}

static unsigned int number_of(const char *const *names, unsigned int otherwise)
{
	const char *value = first_of(names);
	char *end;
	unsigned long number = value ? strtoul(value, &end, 10) : 0;

	return value && !*end && number < 1u << 20 ? (unsigned int)number : otherwise;
}

/* "4(x2),3": four on each of the first two nodes of a step of Slurm, three on the next. 0: not known. */
static unsigned int slurm_tasks(void)
{
	static const char *const numbers[] = { "SLURM_NODEID", NULL };
	const char *text = getenv("SLURM_STEP_TASKS_PER_NODE");
	unsigned int node = number_of(numbers, 0), tasks, nodes;
	int bytes;

	while (text && sscanf(text, "%u%n", &tasks, &bytes) == 1) {
		text += bytes;
		nodes = 1;
		if (sscanf(text, "(x%u)%n", &nodes, &bytes) == 1)
			text += bytes;
		if (node < nodes)
			return tasks;
		node -= nodes;
		text += *text == ',';
	}
	return 0;
}

/* A launcher that runs in a job of a scheduler's is closer to the processes, and named first. */
static void find_name(struct record_job *job)
{
	static const char *const names[] = { "IOTAPE_JOB", "PMIX_NAMESPACE", "OMPI_MCA_orte_ess_jobid",
					     "OMPI_MCA_ess_base_jobid", NULL };
	const char *name = first_of(names), *slurm = getenv("SLURM_JOB_ID");
	const char *step = getenv("SLURM_STEP_ID");

	if (name)
		snprintf(job->name, sizeof(job->name), "%s", name);
	else if (slurm)
		snprintf(job->name, sizeof(job->name), "%s.%s", slurm, step ? step : "0");
}

/**
 * record_job_find() - find information about the job in the environment
 * @job: out: without information from a launcher: an empty name, 0 processes and rank 0
 */
void record_job_find(struct record_job *job)
{
	static const char *const sizes[] = { "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
					     "PALS_LOCAL_SIZE", NULL };
	static const char *const ranks[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
					     "PALS_LOCAL_RANKID", "SLURM_LOCALID", NULL };
	static const char *const nodes[] = { "SLURM_STEP_NUM_NODES", NULL };

	*job = (struct record_job){
		.local_processes = number_of(sizes, slurm_tasks()),
		.local_rank = number_of(ranks, 0),
		.nodes = number_of(nodes, 0),
	};
	find_name(job);
	if (getenv("OMPI_COMM_WORLD_SIZE"))
		job->mpi = "openmpi";
	else if (getenv("HYDI_CONTROL_FD") || getenv("MPI_LOCALNRANKS") || getenv("PMI_RANK"))
		job->mpi = "mpich"; /* srun --mpi=pmi2, too */
	else if (getenv("PMIX_RANK"))
		job->mpi = "openmpi"; /* srun --mpi=pmix */
}
