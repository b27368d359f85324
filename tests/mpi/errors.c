// SPDX-License-Identifier: GPL-2.0-only
/*
 * errors.c - makes calls that MPI refuses, and continues.
 *
 *	errors FILE	prints the result of each call, and how often the program's error handler was called
 *
 * The output must be the same with and without the shim: if MPI refused a query of the shim, the
 * program would end, or the handler would be called once more than without it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int handled;

static void count_error(MPI_Comm *comm, int *code, ...)
{
	(void)comm, (void)code;
	handled++;
}

static void count_win_error(MPI_Win *win, int *code, ...)
{
	(void)win, (void)code;
	handled++;
}

static void report(const char *call, int rc)
{
	int class = MPI_SUCCESS;

	if (rc)
		MPI_Error_class(rc, &class);
	printf("%s: class %d, handled %d\n", call, class, handled);
	fflush(stdout);
	handled = 0;
}
#define REPORT(call) report(#call, MPI_##call)

/* The error handlers of files and of `comm` return; all others are the initial ones. */
static void with_fatal_world(const char *path, MPI_Comm comm)
{
	static char buffer[8], other[8];
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Status status;
	MPI_File file;
	MPI_Comm made;

	report("File_open", MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
	REPORT(File_write(file, buffer, 1, MPI_DATATYPE_NULL, &status));
	REPORT(File_read_at_all(file, 0, buffer, 1, MPI_DATATYPE_NULL, &status));
	REPORT(File_write_at(file, 0, buffer, -1, MPI_BYTE, &status));
	REPORT(File_iwrite(file, buffer, 1, MPI_DATATYPE_NULL, &request));
	REPORT(File_iread_at(file, 0, buffer, 1, MPI_DATATYPE_NULL, &request));
	REPORT(File_write_all_begin(file, buffer, 1, MPI_DATATYPE_NULL));
#ifdef OPEN_MPI /* MPICH does not check */
	report("File_iwrite without a request", MPI_File_iwrite(file, buffer, 1, MPI_BYTE, NULL));
#endif
	report("File_close", MPI_File_close(&file));
	REPORT(Send(buffer, 1, MPI_DATATYPE_NULL, 0, 0, comm));
	REPORT(Irecv(buffer, 1, MPI_DATATYPE_NULL, 0, 0, comm, &request));
	REPORT(Sendrecv(buffer, 1, MPI_DATATYPE_NULL, 0, 0, other, 1, MPI_BYTE, 0, 0, comm, &status));
	REPORT(Sendrecv_replace(buffer, 1, MPI_DATATYPE_NULL, 0, 0, 0, 0, comm, &status));
	REPORT(Bcast(buffer, 1, MPI_DATATYPE_NULL, 0, comm));
	REPORT(Ibcast(buffer, 1, MPI_DATATYPE_NULL, 0, comm, &request));
	REPORT(Comm_split(comm, -7, 0, &made));
}

/* A null pointer for each result of a call. */
static void without_results(MPI_Comm comm)
{
	static char buffer[8];
	MPI_Request request;
	MPI_Status status;
	int i;

	for (i = 0; i < 3; i++) {
		MPI_Irecv(buffer, 1, MPI_BYTE, 0, i, comm, &request);
		if (i == 0)
			report("Waitany without an index", MPI_Waitany(1, &request, NULL, &status));
		else if (i == 1)
			report("Test without a flag", MPI_Test(&request, NULL, &status));
		else
			report("Waitsome without a number", MPI_Waitsome(1, &request, NULL, &i, &status));
		MPI_Cancel(&request);
		MPI_Wait(&request, &status);
	}
#ifdef MPICH_VERSION /* Open MPI does not check */
	report("Ibarrier without a request", MPI_Ibarrier(comm, NULL));
#endif
}

/* Invalid handles: each is an error of MPI_COMM_WORLD, or of MPI_COMM_SELF. */
static void without_handles(MPI_Comm comm)
{
	MPI_Comm none = (MPI_Comm)0, made;
	MPI_Win no_window = (MPI_Win)0;
	static char buffer[8];
	MPI_Request request;

	REPORT(Send(buffer, 1, MPI_BYTE, 0, 0, none));
	REPORT(Irecv(buffer, 1, MPI_BYTE, 0, 0, none, &request));
	REPORT(Barrier(none));
	REPORT(Ibarrier(none, &request));
	REPORT(Comm_dup(none, &made));
	REPORT(Comm_free(&none));
	REPORT(Comm_create_group(comm, MPI_GROUP_NULL, 0, &made));
	REPORT(Win_fence(0, no_window));
	REPORT(Win_lock(MPI_LOCK_SHARED, 0, 0, no_window));
	REPORT(Put(buffer, 1, MPI_BYTE, 0, 0, 1, MPI_BYTE, no_window));
}

static void with_window(void)
{
	static char memory[8], buffer[8];
	MPI_Errhandler handler;
	MPI_Win win;

	MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
	MPI_Win_create_errhandler(count_win_error, &handler);
	MPI_Win_set_errhandler(win, handler);
	MPI_Win_fence(0, win);
	REPORT(Put(buffer, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_BYTE, win));
	MPI_Win_fence(0, win);
	REPORT(Win_post(MPI_GROUP_NULL, 0, win));
	MPI_Win_free(&win);
	MPI_Errhandler_free(&handler);
}

int main(int argc, char **argv)
{
	MPI_Errhandler handler;
	MPI_Comm comm;

	if (argc != 2)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	with_fatal_world(argv[1], comm);
	MPI_Comm_create_errhandler(count_error, &handler);
	MPI_Comm_set_errhandler(comm, handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	without_handles(comm);
	without_results(comm);
	with_window();
	MPI_Finalize();
	return 0;
}
