// SPDX-License-Identifier: GPL-2.0-only
/*
 * counter.c - another tool between program and MPI, which counts calls independently.
 *
 * It is preloaded after the shim, which must pass on every call once. The arguments
 * do not matter, so each function is a jump to the PMPI name of the call. It shares
 * nothing with the shim, not even declarations of the calls.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef __x86_64__
#error "the jumps are for x86-64"
#endif

#define BOTH(C, Name, name) C(Name) C(I##name)
#define RW(C, suffix) C(File_read##suffix) C(File_write##suffix)
#define IRW(C, suffix) C(File_iread##suffix) C(File_iwrite##suffix)
#define CALLS(C)                                                                            \
	C(Send) C(Ssend) C(Rsend) C(Bsend) C(Recv)                                          \
	C(Isend) C(Issend) C(Irecv)                                                         \
	BOTH(C, Barrier, barrier) BOTH(C, Bcast, bcast) BOTH(C, Reduce, reduce)             \
	BOTH(C, Allreduce, allreduce) BOTH(C, Gather, gather) BOTH(C, Gatherv, gatherv)     \
	BOTH(C, Scatter, scatter) BOTH(C, Scatterv, scatterv)                               \
	BOTH(C, Allgather, allgather) BOTH(C, Allgatherv, allgatherv)                       \
	BOTH(C, Alltoall, alltoall) BOTH(C, Alltoallv, alltoallv)                           \
	BOTH(C, Alltoallw, alltoallw) BOTH(C, Scan, scan) BOTH(C, Exscan, exscan)           \
	BOTH(C, Reduce_scatter, reduce_scatter)                                             \
	BOTH(C, Reduce_scatter_block, reduce_scatter_block)                                 \
	C(Comm_dup) C(Comm_split) C(Comm_create) C(Comm_free)                               \
	C(File_close) C(File_set_view) C(File_set_size) C(File_preallocate) C(File_sync)    \
	C(File_set_atomicity) C(File_seek) C(File_seek_shared)                              \
	RW(C, ) RW(C, _at) RW(C, _all) RW(C, _at_all) RW(C, _shared) RW(C, _ordered)        \
	IRW(C, ) IRW(C, _at) IRW(C, _all) IRW(C, _at_all) IRW(C, _shared)                   \
	RW(C, _all_begin) RW(C, _all_end) RW(C, _at_all_begin) RW(C, _at_all_end)           \
	RW(C, _ordered_begin) RW(C, _ordered_end)                                           \
	C(Win_create) C(Win_allocate) C(Win_allocate_shared) C(Win_create_dynamic)          \
	C(Win_fence) C(Win_post) C(Win_start) C(Win_complete) C(Win_free)       \
	C(Win_lock) C(Win_lock_all) C(Win_unlock) C(Win_unlock_all)        \
	C(Put) C(Get) C(Accumulate) C(Get_accumulate) C(Fetch_and_op) C(Compare_and_swap)   \
	C(Rput) C(Rget) C(Raccumulate) C(Rget_accumulate)

#define DEFINE(name)                                                                        \
	extern int counted_##name __attribute__((visibility("hidden")));                    \
	int counted_##name;                                                                 \
	asm(".globl MPI_" #name "\n.type MPI_" #name ", @function\n"                        \
	    "MPI_" #name ": lock incl counted_" #name "(%rip)\n"                            \
	    "jmp PMPI_" #name "@PLT\n");
CALLS(DEFINE)

static const struct {
	const char *name;
	const int *count;
} table[] = {
#define ROW(name) { #name, &counted_##name },
	CALLS(ROW)
};

int MPI_Finalize(void)
{
	char path[4096];
	FILE *out;
	size_t i;
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(path, sizeof(path), "%s/counted.%d", getenv("COUNTER_DIR"), rank);
	out = fopen(path, "a");
	for (i = 0; out && i < sizeof(table) / sizeof(table[0]); i++)
		if (*table[i].count)
			fprintf(out, "%d %s %d\n", rank, table[i].name, *table[i].count);
	if (out)
		fclose(out);
	return PMPI_Finalize();
}
