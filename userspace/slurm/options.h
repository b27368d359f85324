/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.h - permissions by the administrator in plugstack.conf, and requests of a user by --iotape.
 */
#ifndef IOTAPE_SLURM_OPTIONS_H
#define IOTAPE_SLURM_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define SPANK_MAX_MOUNTS 16

struct spank_policy {
	const char *iotape; /* the program */
	const char *plugins; /* directory of the libraries for each MPI */
	char mounts[SPANK_MAX_MOUNTS][PATH_MAX]; /* directories that may be recorded */
	size_t mount_count;
};

struct spank_request {
	bool is_asked;
	bool is_mpi_only;
	const char *mpi; /* openmpi, mpich, or NULL: no MPI calls */
	bool is_mount_wanted[SPANK_MAX_MOUNTS]; /* none: all that the policy has */
	char output[PATH_MAX]; /* directory of traces */
};

int spank_policy_parse(struct spank_policy *policy, int argc, char **argv, char *why, size_t room);
int spank_request_parse(struct spank_request *request, const struct spank_policy *policy, const char *text,
			char *why, size_t room);

#endif
