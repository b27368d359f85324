// SPDX-License-Identifier: GPL-2.0-only
/*
 * connect.c - find and load the library for the MPI that started this process.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connect.h"

/* Variables that launchers set for their processes. */
static const struct {
	const char *variable; /* how many there are */
	const char *mpi;
} launchers[] = {
	{ "OMPI_COMM_WORLD_SIZE", "openmpi" },
	{ "PMI_SIZE", "mpich" }, /* Hydra, and srun --mpi=pmi2 */
	{ "SLURM_NTASKS", NULL },
};

static bool find_library(const char *mpi, char path[PATH_MAX])
{
	char name[64];

	return snprintf(name, sizeof(name), "libiotape_agent_%s.so", mpi) < (int)sizeof(name) &&
	       iot_companion_find(name, path);
}

static bool choose_library(const char *mpi, char path[PATH_MAX])
{
	size_t i;

	if (mpi && strchr(mpi, '/'))
		return snprintf(path, PATH_MAX, "%s", mpi) < PATH_MAX;
	if (mpi)
		return find_library(mpi, path);
	for (i = 0; i < ARRAY_SIZE(launchers); i++)
		if (launchers[i].mpi && getenv(launchers[i].variable))
			return find_library(launchers[i].mpi, path);
	return find_library("openmpi", path) || find_library("mpich", path);
}

/**
 * connect_load() - load the library of a transport
 * @mpi: openmpi, mpich, or the path of a library; NULL for that of the launcher
 * @library: out: of dlopen()
 * @transport: out
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno.
 */
int connect_load(const char *mpi, void **library, const struct transport **transport, char *why,
		 size_t room)
{
	char path[PATH_MAX];

	if (!choose_library(mpi, path)) {
		snprintf(why, room, "libiotape_agent_%s.so was not found",
			 mpi ? mpi : "MPI");
		return -ENOENT;
	}
	/* Parts of an MPI that it loads itself look for its symbols among all. */
	*library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!*library) {
		snprintf(why, room, "%s", dlerror());
		return -ELIBACC;
	}
	*transport = dlsym(*library, TRANSPORT_SYMBOL);
	if (!*transport || (*transport)->version != TRANSPORT_VERSION) {
		snprintf(why, room, "%s: not a transport library of this version of iotape", path);
		return -ELIBBAD;
	}
	return 0;
}

/**
 * connect_check() - is each process for itself, though a launcher started several?
 * @nodes: as many as the transport knows
 * @name: of its MPI
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or -EINVAL.
 */
int connect_check(u32 nodes, const char *name, char *why, size_t room)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(launchers); i++) {
		const char *count = getenv(launchers[i].variable);

		if (!count)
			continue;
		if (nodes != 1 || atoi(count) <= 1)
			return 0; /* the closest launcher counts, not one that it was started by */
		snprintf(why, room, "the launcher started %s processes, but %s reports one: the launcher is of another MPI (see --agent)",
			 count, name);
		return -EINVAL;
	}
	return 0;
}
