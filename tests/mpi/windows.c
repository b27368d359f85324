// SPDX-License-Identifier: GPL-2.0-only
/*
 * windows.c - one-sided calls: every way to create a window, to synchronize, to lock,
 * and to access memory. All accessed data is verified.
 */
#include "exercise.h"

#include <stdlib.h>
#include <string.h>

static void coll(const char *call)
{
	did("mpi_coll", call);
}

static void win(const char *call)
{
	did("mpi_win", call);
}

static MPI_Win make(int how, int **memory)
{
	MPI_Aint bytes = 4096; /* room for one int of each rank, and one more */
	MPI_Win window;

	switch (how) {
	case 0:
		*memory = calloc(1, (size_t)bytes);
		MPI_Win_create(*memory, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
		coll("win_create");
		break;
	case 1:
		MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, memory, &window);
		coll("win_allocate");
		break;
	default:
		MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, memory,
					&window);
		coll("win_allocate_shared");
	}
	did("mpi_comm", "-");
	memset(*memory, 0, (size_t)bytes);
	barrier(MPI_COMM_WORLD);
	return window;
}

static void fences(MPI_Win window, const int *memory)
{
	int value = rank + 100, got = -1;

	MPI_Win_fence(0, window);
	coll("win_fence");
	MPI_Put(&value, 1, MPI_INT, next, rank, 1, MPI_INT, window);
	win("put");
	MPI_Win_fence(0, window);
	coll("win_fence");
	expect(memory[previous] == previous + 100);
	MPI_Get(&got, 1, MPI_INT, previous, rank == 0 ? size - 2 : (rank - 2 + size) % size, 1, MPI_INT,
		window);
	win("get");
	MPI_Win_fence(0, window);
	coll("win_fence");
	expect(got == (rank - 2 + size) % size + 100);
	saw(&got, 1);
}

/* Each rank exposes its memory to the rank before it, and accesses that of the rank after it. */
static void groups_of_two(MPI_Win window, const int *memory, bool is_test)
{
	int value = rank + 200, is_done = 0;
	MPI_Group all, before, behind;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &previous, &before);
	MPI_Group_incl(all, 1, &next, &behind);
	MPI_Win_post(before, 0, window);
	did("mpi_send", "win_post");
	MPI_Win_start(behind, 0, window);
	did("mpi_recv", "win_start");
	MPI_Put(&value, 1, MPI_INT, next, rank, 1, MPI_INT, window);
	win("put");
	MPI_Win_complete(window);
	did("mpi_done", "win_complete");
	did("mpi_send", "win_complete");
	if (is_test)
		while (!is_done)
			MPI_Win_test(window, &is_done);
	else
		MPI_Win_wait(window);
	did("mpi_recv", "win_wait");
	expect(memory[previous] == previous + 200);
	saw(&memory[previous], 1);
	MPI_Group_free(&before);
	MPI_Group_free(&behind);
	MPI_Group_free(&all);
}

static void locks(MPI_Win window)
{
	int one = 1, got = -1, same = 0;

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
	win("win_lock");
	MPI_Accumulate(&one, 1, MPI_INT, 0, size, 1, MPI_INT, MPI_SUM, window);
	win("accumulate");
	MPI_Win_unlock(0, window);
	win("win_unlock");
	barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, window);
	win("win_lock_all");
	MPI_Fetch_and_op(&one, &got, MPI_INT, 0, size, MPI_NO_OP, window);
	win("fetch_and_op");
	MPI_Win_flush(0, window);
	win("win_flush");
	expect(got == size);
	MPI_Get_accumulate(NULL, 0, MPI_INT, &got, 1, MPI_INT, 0, size, 1, MPI_INT, MPI_NO_OP, window);
	win("get_accumulate");
	MPI_Win_flush_local(0, window);
	win("win_flush");
	MPI_Compare_and_swap(&same, &one, &got, MPI_INT, next, size, window);
	win("compare_and_swap");
	MPI_Win_flush_all(window);
	win("win_flush_all");
	MPI_Win_flush_local_all(window);
	win("win_flush_all");
	MPI_Win_unlock_all(window);
	win("win_unlock_all");
	expect(got == (next ? 0 : size));
	barrier(MPI_COMM_WORLD);
}

static void with_requests(MPI_Win window)
{
	int value = rank + 300, got = -1, zero = 0;
	struct request_list list = {};

	MPI_Win_lock_all(0, window);
	win("win_lock_all");
	MPI_Rput(&value, 1, MPI_INT, next, rank, 1, MPI_INT, window, list_add(&list, true));
	win("rput");
	MPI_Raccumulate(&zero, 1, MPI_INT, next, size, 1, MPI_INT, MPI_SUM, window,
			list_add(&list, true));
	win("raccumulate");
	list_finish(&list, 0, false);
	MPI_Win_flush_all(window);
	win("win_flush_all");
	MPI_Rget(&got, 1, MPI_INT, next, rank, 1, MPI_INT, window, list_add(&list, true));
	win("rget");
	list_finish(&list, 1, false);
	expect(got == value);
	MPI_Rget_accumulate(NULL, 0, MPI_INT, &got, 1, MPI_INT, next, rank, 1, MPI_INT, MPI_NO_OP, window,
			    list_add(&list, true));
	win("rget_accumulate");
	list_finish(&list, 2, true);
	expect(got == value);
	MPI_Win_unlock_all(window);
	win("win_unlock_all");
	barrier(MPI_COMM_WORLD);
}

/* Memory is attached to the window, and accessed by address. */
static void dynamic(void)
{
	MPI_Aint *places = calloc((size_t)size, sizeof(*places)), own;
	int memory = -1, value = rank + 400;
	MPI_Win window;

	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	coll("win_create_dynamic");
	did("mpi_comm", "-");
	MPI_Win_attach(window, &memory, sizeof(memory));
	MPI_Get_address(&memory, &own);
	MPI_Allgather(&own, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD);
	coll("allgather");
	MPI_Win_fence(0, window);
	coll("win_fence");
	MPI_Put(&value, 1, MPI_INT, next, places[next], 1, MPI_INT, window);
	win("put");
	MPI_Win_fence(0, window);
	coll("win_fence");
	expect(memory == previous + 400);
	MPI_Win_detach(window, &memory);
	MPI_Win_free(&window);
	coll("win_free");
	free(places);
}

void windows(void)
{
	MPI_Win window;
	int how, *memory;

	for (how = 0; how < 3; how++) {
		window = make(how, &memory);
		fences(window, memory);
		groups_of_two(window, memory, how & 1);
		locks(window);
		with_requests(window);
		MPI_Win_free(&window);
		coll("win_free");
		if (how == 0)
			free(memory);
	}
	dynamic();
}
