// SPDX-License-Identifier: GPL-2.0-only
/*
 * files.c - every call on MPI files: each rank has its own ints of a shared file.
 */
#include "exercise.h"

#include <stdio.h>

#define COUNT 4

static int own[COUNT], in[COUNT];

static void done(const char *call)
{
	did("mpi_file", call);
}

static void came(void)
{
	int i;

	for (i = 0; i < COUNT; i++) {
		expect(in[i] == own[i]);
		in[i] = -1;
	}
}

/* Through a view in which each rank sees only its own part. */
static void alone(MPI_File file)
{
	MPI_Request request;
	int i;

	for (i = 0; i < COUNT; i++)
		own[i] = 1000 * rank + i;
	MPI_File_write(file, own, COUNT, MPI_INT, MPI_STATUS_IGNORE);
	done("file_write");
	MPI_File_seek(file, 0, MPI_SEEK_END);
	done("file_seek.end");
	MPI_File_seek(file, COUNT, MPI_SEEK_SET);
	done("file_seek.set");
	MPI_File_seek(file, -COUNT, MPI_SEEK_CUR);
	done("file_seek.cur");
	MPI_File_read(file, in, COUNT, MPI_INT, MPI_STATUS_IGNORE);
	done("file_read");
	came();
	MPI_File_write_at(file, COUNT, own, COUNT, MPI_INT, MPI_STATUS_IGNORE);
	done("file_write_at");
	MPI_File_read_at(file, COUNT, in, COUNT, MPI_INT, MPI_STATUS_IGNORE);
	done("file_read_at");
	came();
	MPI_File_iwrite_at(file, 0, own, COUNT, MPI_INT, &request);
	done("file_iwrite_at");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	MPI_File_iread_at(file, 0, in, COUNT, MPI_INT, &request);
	done("file_iread_at");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	came();
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	done("file_seek.set");
	MPI_File_iwrite(file, own, COUNT, MPI_INT, &request);
	done("file_iwrite");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	done("file_seek.set");
	MPI_File_iread(file, in, COUNT, MPI_INT, &request);
	done("file_iread");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	came();
}

static void together(MPI_File file)
{
	MPI_File_write_at_all(file, 0, own, COUNT, MPI_INT, MPI_STATUS_IGNORE);
	done("file_write_at_all");
	MPI_File_read_at_all(file, 0, in, COUNT, MPI_INT, MPI_STATUS_IGNORE);
	done("file_read_at_all");
	came();
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	done("file_seek.set");
	MPI_File_write_all(file, own, COUNT, MPI_INT, MPI_STATUS_IGNORE);
	done("file_write_all");
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	done("file_seek.set");
	MPI_File_read_all(file, in, COUNT, MPI_INT, MPI_STATUS_IGNORE);
	done("file_read_all");
	came();
}

/* Open MPI does not set all of the status of the second and later requests. */
static void several_later(MPI_File file)
{
	MPI_Request requests[4];
	MPI_Status statuses[4];
	int i;

	for (i = 0; i < 4; i++) {
		MPI_File_iwrite_at(file, 0, own, COUNT, MPI_INT, &requests[i]);
		done("file_iwrite_at");
	}
	MPI_Waitall(4, requests, statuses);
	for (i = 0; i < 4; i++)
		did("mpi_done", "wait");
}

static void together_later(MPI_File file)
{
	MPI_Request request;

	MPI_File_iwrite_at_all(file, 0, own, COUNT, MPI_INT, &request);
	done("file_iwrite_at_all");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	MPI_File_iread_at_all(file, 0, in, COUNT, MPI_INT, &request);
	done("file_iread_at_all");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	came();
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	done("file_seek.set");
	MPI_File_iwrite_all(file, own, COUNT, MPI_INT, &request);
	done("file_iwrite_all");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	done("file_seek.set");
	MPI_File_iread_all(file, in, COUNT, MPI_INT, &request);
	done("file_iread_all");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	came();
}

static void in_two_steps(MPI_File file)
{
	MPI_File_write_at_all_begin(file, 0, own, COUNT, MPI_INT);
	MPI_File_write_at_all_end(file, own, MPI_STATUS_IGNORE);
	MPI_File_read_at_all_begin(file, 0, in, COUNT, MPI_INT);
	MPI_File_read_at_all_end(file, in, MPI_STATUS_IGNORE);
	came();
	done("file_write_at_all_begin");
	done("file_write_at_all_end");
	done("file_read_at_all_begin");
	done("file_read_at_all_end");
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	MPI_File_write_all_begin(file, own, COUNT, MPI_INT);
	MPI_File_write_all_end(file, own, MPI_STATUS_IGNORE);
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	MPI_File_read_all_begin(file, in, COUNT, MPI_INT);
	MPI_File_read_all_end(file, in, MPI_STATUS_IGNORE);
	came();
	done("file_seek.set");
	done("file_write_all_begin");
	done("file_write_all_end");
	done("file_seek.set");
	done("file_read_all_begin");
	done("file_read_all_end");
}

/* A shared file pointer: ranks write in the order of arrival, or ordered by rank. */
static void one_position(MPI_File file)
{
	MPI_Request request;

	MPI_File_seek_shared(file, 0, MPI_SEEK_END);
	done("file_seek_shared.end");
	MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
	done("file_seek_shared.set");
	MPI_File_seek_shared(file, 0, MPI_SEEK_CUR);
	done("file_seek_shared.cur");
	MPI_File_write_ordered(file, own, COUNT, MPI_INT, MPI_STATUS_IGNORE);
	done("file_write_ordered");
	MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
	done("file_seek_shared.set");
	MPI_File_read_ordered(file, in, COUNT, MPI_INT, MPI_STATUS_IGNORE);
	done("file_read_ordered");
	came();
	MPI_File_write_shared(file, own, COUNT, MPI_INT, MPI_STATUS_IGNORE);
	done("file_write_shared");
	barrier(MPI_COMM_WORLD);
	MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
	done("file_seek_shared.set");
	MPI_File_read_shared(file, in, COUNT, MPI_INT, MPI_STATUS_IGNORE);
	done("file_read_shared");
	barrier(MPI_COMM_WORLD);
	MPI_File_iwrite_shared(file, own, COUNT, MPI_INT, &request);
	done("file_iwrite_shared");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	barrier(MPI_COMM_WORLD);
	MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
	done("file_seek_shared.set");
	MPI_File_iread_shared(file, in, COUNT, MPI_INT, &request);
	done("file_iread_shared");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	barrier(MPI_COMM_WORLD);
	MPI_File_write_ordered_begin(file, own, COUNT, MPI_INT);
	MPI_File_write_ordered_end(file, own, MPI_STATUS_IGNORE);
	MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
	done("file_seek_shared.set");
	MPI_File_read_ordered_begin(file, in, COUNT, MPI_INT);
	MPI_File_read_ordered_end(file, in, MPI_STATUS_IGNORE);
	done("file_write_ordered_begin");
	done("file_write_ordered_end");
	done("file_read_ordered_begin");
	done("file_read_ordered_end");
}

void files(const char *dir, bool has_requests)
{
	MPI_Datatype part;
	char path[4096];
	MPI_File file;
	int rc;

	snprintf(path, sizeof(path), "%s/shared", dir);
	rc = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	expect(rc != MPI_SUCCESS); /* the file does not exist: a record without a file */
	done("file_open");
	barrier(MPI_COMM_WORLD);
	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
	done("file_open");
	did("mpi_comm", "-");
	MPI_File_set_size(file, 0);
	done("file_set_size");
	MPI_File_preallocate(file, 4096);
	done("file_preallocate");
	MPI_Type_vector(8, COUNT, COUNT * size, MPI_INT, &part);
	MPI_Type_commit(&part);
	MPI_File_set_view(file, (MPI_Offset)(rank * COUNT * (int)sizeof(int)), MPI_INT, part, "native",
			  MPI_INFO_NULL);
	done("file_set_view");
	did("mpi_view", "-");
	alone(file);
	together(file);
	if (has_requests)
		together_later(file);
	several_later(file);
	in_two_steps(file);
	MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	done("file_set_view");
	did("mpi_view", "-");
	one_position(file);
	MPI_File_sync(file);
	done("file_sync");
	MPI_File_set_atomicity(file, 0);
	done("file_set_atomicity");
	MPI_File_close(&file);
	done("file_close");
	MPI_Type_free(&part);
}
