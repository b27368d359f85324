// SPDX-License-Identifier: GPL-2.0-only
/*
 * launcher.c - does a command start an MPI job, and which MPI is it?
 */
#include "launcher.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/**
 * launcher_is() - is it a program that starts MPI jobs?
 * @command: as it was typed
 *
 * Return: true for mpirun, mpiexec and their likes.
 */
bool launcher_is(const char *command)
{
	static const char *const launchers[] = { "mpirun", "mpiexec", "orterun", "mpiexec.hydra",
						 "mpirun.openmpi", "mpiexec.openmpi",
						 "mpirun.mpich", "mpiexec.mpich" };
	const char *slash = strrchr(command, '/');
	size_t i;

	for (i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (!strcmp(slash ? slash + 1 : command, launchers[i]))
			return true;
	return false;
}

/* A command as the shell finds it, without symbolic links. Return: is it there? */
static bool find_command(const char *command, char full[PATH_MAX])
{
	const char *path = getenv("PATH"), *end;
	char found[PATH_MAX];

	if (strchr(command, '/'))
		return realpath(command, full);
	for (; path && *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		snprintf(found, sizeof(found), "%.*s/%s", (int)(end - path), path, command);
		if (!access(found, X_OK) && realpath(found, full))
			return true;
	}
	return false;
}

/**
 * launcher_mpi() - the MPI that a command uses
 * @command: as typed; if it starts no MPI jobs, mpirun decides
 *
 * Return: "openmpi" or "mpich", by the target of the launcher's link.
 */
const char *launcher_mpi(const char *command)
{
	char full[PATH_MAX];

	if (find_command(launcher_is(command) ? command : "mpirun", full) &&
	    (strstr(full, "hydra") || strstr(full, "mpich")))
		return "mpich";
	return "openmpi";
}
