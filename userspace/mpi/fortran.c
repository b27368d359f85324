// SPDX-License-Identifier: GPL-2.0-only
/*
 * fortran.c - calls of Fortran programs, whatever their bindings: mpif.h, mpi, or mpi_f08.
 *
 * The bindings are libraries of their own. They turn the arguments of a call into those of C
 * and then call MPI, in Open MPI and MPICH by its second name: PMPI_Send. So the shim has the
 * second names, too, and takes such a call for one of the program's if it comes from the code
 * of the bindings. All others, of which those of tools are the most, are passed on. Below the
 * shim a call goes by its second name again: no tool sees what it would not see without us.
 */
#include "shim.h"

#include <link.h>

#define RANGES_MAX 16

IOT_MPI_THREAD bool iot_mpi_is_fortran;

/* Code of the bindings. */
static struct {
	uintptr_t first;
	uintptr_t last;
} ranges[RANGES_MAX];
static unsigned int range_count;

static int add_library(struct dl_phdr_info *info, size_t bytes, void *context)
{
	static const char *const names[] = { "libmpi_mpifh.", "libmpi_usempi", "libmpichfort.",
					     "libmpifort." };
	const ElfW(Phdr) * part;
	bool is_binding = false;
	size_t i;

	(void)bytes, (void)context;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		is_binding |= strstr(info->dlpi_name, names[i]) != NULL;
	for (i = 0; is_binding && i < info->dlpi_phnum; i++) {
		part = &info->dlpi_phdr[i];
		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || range_count == RANGES_MAX)
			continue;
		ranges[range_count].first = info->dlpi_addr + part->p_vaddr;
		ranges[range_count].last = ranges[range_count].first + part->p_memsz - 1;
		range_count++;
	}
	return 0;
}

/**
 * iot_mpi_fortran_find() - find out where the bindings are, if there are any
 */
void iot_mpi_fortran_find(void)
{
	dl_iterate_phdr(add_library, NULL);
}

static bool is_bindings(const void *caller)
{
	uintptr_t address = (uintptr_t)caller;
	unsigned int i;

	for (i = 0; i < range_count; i++)
		if (address >= ranges[i].first && address <= ranges[i].last)
			return true;
	return false;
}

#define DEFINE_SECOND(name, call, root, parameters, arguments)                              \
	int PMPI_##name parameters                                                          \
	{                                                                                   \
		bool was_fortran = iot_mpi_is_fortran;                                      \
		int rc;                                                                     \
                                                                                            \
		iot_mpi_library();                                                          \
		if (!is_bindings(__builtin_return_address(0)))                              \
			return iot_mpi_bare.MPI_##name arguments;                           \
		iot_mpi_is_fortran = true;                                                  \
		rc = MPI_##name arguments;                                                  \
		iot_mpi_is_fortran = was_fortran;                                           \
		return rc;                                                                  \
	}
IOT_MPI_WRAPPED(DEFINE_SECOND)
