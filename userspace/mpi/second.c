// SPDX-License-Identifier: GPL-2.0-only
/*
 * second.c - calls by their second names, such as PMPI_Send.
 *
 * The bindings of Fortran (mpif.h, mpi, mpi_f08) are libraries of their own, which turn the arguments
 * of a call into those of C and then call MPI, in Open MPI and MPICH by its second name. A tool
 * that is linked into the program, or preloaded before the shim, intercepts the first name and
 * forwards the program's call by the second one. So the shim defines the second names, too, and
 * records a call by them if it is the outermost one of its thread, as with the first name. Below the
 * shim the call goes by its second name again: tools see the same calls as without the shim.
 *
 * MPI's own calls by these names are not recorded: below a wrapped call they are not outermost, and
 * elsewhere (below a call without a wrapper, or in a thread of MPI) they come from MPI's own code.
 */
#include "shim.h"

#include <link.h>

IOT_MPI_THREAD bool iot_mpi_is_second;

/* A loaded program or library. */
struct module {
	uintptr_t first;
	uintptr_t last;
	bool is_mpi;
};

/* The module whose call was the last one that is not MPI's own: most come from the same. */
static IOT_MPI_THREAD struct module last_caller;

static bool is_within(const struct module *module, uintptr_t address)
{
	return address >= module->first && address <= module->last;
}

/* Open MPI loads parts of itself, its copy of ROMIO for one, as libraries of their own. */
static bool is_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strncmp(slash ? slash + 1 : path, "mca_", strlen("mca_"));
}

struct search {
	uintptr_t address;
	struct module found;
};

static int look_at(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct search *search = context;
	struct module module = { .first = UINTPTR_MAX };
	size_t i;

	(void)bytes;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t first = info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD)
			continue;
		if (first < module.first)
			module.first = first;
		if (first + part->p_memsz - 1 > module.last)
			module.last = first + part->p_memsz - 1;
	}
	if (!is_within(&module, search->address))
		return 0;
	search->found = module;
	search->found.is_mpi = is_within(&module, (uintptr_t)iot_mpi_bare.MPI_Init) ||
			       is_component(info->dlpi_name);
	return 1;
}

static bool is_mpi_itself(const void *caller)
{
	struct search search = { .address = (uintptr_t)caller };

	if (is_within(&last_caller, search.address))
		return false;
	dl_iterate_phdr(look_at, &search);
	if (!search.found.is_mpi)
		last_caller = search.found;
	return search.found.is_mpi;
}

/* Is a call by its second name recorded as a call by the first name? */
static bool is_outermost(const void *caller)
{
	iot_mpi_find_once(caller);
	if (iot_mpi_depth || is_mpi_itself(caller))
		return false;
	iot_mpi_is_second = true;
	return true;
}

#define DEFINE_SECOND(name, call, root, parameters, arguments)                              \
	int PMPI_##name parameters                                                          \
	{                                                                                   \
		if (!is_outermost(__builtin_return_address(0)))                             \
			return iot_mpi_bare.MPI_##name arguments;                           \
		return MPI_##name arguments;                                                \
	}
IOT_MPI_WRAPPED(DEFINE_SECOND)
