// SPDX-License-Identifier: GPL-2.0-only
/*
 * job.c - variables that launchers set for their processes are understood, including nested jobs.
 */
#include <stdlib.h>
#include <string.h>

#include "core/port.h"
#include "record/record.h"
#include "suite.h"

#define VARIABLES 12

static const struct {
	const char *name;
	const char *set[VARIABLES];
	const char *job, *mpi;
	unsigned int local_processes, local_rank, nodes;
} rows[] = {
	{ "no launcher", { NULL }, "", NULL, 0, 0, 0 },
	{ "mpirun of Open MPI",
	  { "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_SIZE=2", "OMPI_COMM_WORLD_LOCAL_RANK=1",
	    "PMIX_NAMESPACE=1204027393", "PMIX_RANK=3" },
	  "1204027393", "openmpi", 2, 1, 0 },
	{ "mpirun of MPICH",
	  { "PMI_RANK=2", "PMI_SIZE=4", "MPI_LOCALNRANKS=4", "MPI_LOCALRANKID=2", "HYDI_CONTROL_FD=3" },
	  "", "mpich", 4, 2, 0 },
	{ "srun --mpi=pmi2",
	  { "PMI_RANK=5", "PMI_SIZE=6", "PMI_JOBID=17.2", "SLURM_JOB_ID=17", "SLURM_STEP_ID=2",
	    "SLURM_LOCALID=1", "SLURM_NODEID=2", "SLURM_STEP_NUM_NODES=3",
	    "SLURM_STEP_TASKS_PER_NODE=2(x3)" },
	  "17.2", "mpich", 2, 1, 3 },
	{ "srun --mpi=pmix, with different numbers on the nodes",
	  { "PMIX_RANK=7", "PMIX_NAMESPACE=slurm.pmix.17.3", "SLURM_JOB_ID=17", "SLURM_STEP_ID=3",
	    "SLURM_LOCALID=0", "SLURM_NODEID=2", "SLURM_STEP_NUM_NODES=3",
	    "SLURM_STEP_TASKS_PER_NODE=3(x2),1" },
	  "slurm.pmix.17.3", "openmpi", 1, 0, 3 },
	{ "srun without an MPI",
	  { "SLURM_JOB_ID=17", "SLURM_STEP_ID=4", "SLURM_LOCALID=0", "SLURM_NODEID=0",
	    "SLURM_STEP_NUM_NODES=1", "SLURM_STEP_TASKS_PER_NODE=2" },
	  "17.4", NULL, 2, 0, 1 },
	{ "mpirun of Open MPI in a batch job",
	  { "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_LOCAL_SIZE=2", "OMPI_COMM_WORLD_LOCAL_RANK=0",
	    "PMIX_NAMESPACE=77", "SLURM_JOB_ID=17", "SLURM_NODEID=0", "SLURM_LOCALID=0",
	    "SLURM_STEP_TASKS_PER_NODE=1" },
	  "77", "openmpi", 2, 0, 0 },
	{ "an invalid list of tasks",
	  { "SLURM_JOB_ID=17", "SLURM_NODEID=4", "SLURM_STEP_TASKS_PER_NODE=2(x" }, "17.0", NULL, 0, 0, 0 },
};

static void launchers_are_recognized(void **state)
{
	size_t i, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct record_job job;

		clearenv();
		for (j = 0; j < VARIABLES && rows[i].set[j]; j++)
			putenv((char *)rows[i].set[j]);
		record_job_find(&job);
		assert_row(rows[i].name, !strcmp(job.name, rows[i].job));
		assert_row(rows[i].name, !job.mpi == !rows[i].mpi);
		assert_row(rows[i].name, !job.mpi || !strcmp(job.mpi, rows[i].mpi));
		assert_row(rows[i].name, job.local_processes == rows[i].local_processes);
		assert_row(rows[i].name, job.local_rank == rows[i].local_rank);
		assert_row(rows[i].name, job.nodes == rows[i].nodes);
	}
}

SUITE("job", TEST(launchers_are_recognized))
