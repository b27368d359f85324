/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * change_mpi.h - the files of MPI that a task has open, call by call. Private to change*.c.
 */
#ifndef IOTAPE_PATTERN_CHANGE_MPI_H
#define IOTAPE_PATTERN_CHANGE_MPI_H

#include "change_view.h"

/**
 * struct data_call - a call that reads or writes an MPI file without the shared file pointer
 * @call: an enum iot_call
 * @other: the same call, collective instead of independent, or the other way round
 * @blocking: the same call without a request
 * @is_at: it has an offset as an argument; otherwise it uses the file pointer of the rank
 */
struct data_call {
	u32 call;
	u32 other;
	u32 blocking;
	bool is_write;
	bool is_all;
	bool is_at;
	bool is_nonblocking;
};

/**
 * struct mpi_file - a file that a task has opened by MPI
 * @path: NULL if the pattern does not contain the operations of the call that opened it
 * @given: the name that the program has opened
 * @generation: of the path
 * @opening: how many times the task has opened the path before, with as many ranks
 * @handle: role of the descriptor that is left open; 0 if the task has none
 * @ranks: of its communicator; 0 if not known
 * @has_view: offsets are those in the data of a view
 * @view: the view, NULL if there is none, or none of its parts is known
 * @pointer: the file pointer of the rank in bytes of these data, if @has_pointer
 * @pointer_flaw: otherwise why it is not known; NULL if because the view is not
 * @data_place: where the last call moves data: in those of the view, if it has one, otherwise in the file; -1 if that is not known
 * @number: of the last collective call
 * @shift: what a change adds to the numbers of collective calls; the caller's
 */
struct mpi_file {
	const char *path;
	const char *given;
	u64 generation;
	u64 opening;
	u64 handle;
	u64 ranks;
	bool has_view;
	struct view *view;
	s64 data_place;
	bool has_pointer;
	u64 pointer;
	const char *pointer_flaw;
	u64 number;
	s64 shift;
};

/**
 * struct mpi_file_call - a collective call on an MPI file, as one rank makes it
 * @path, @generation, @ranks, @opening: the file, as in struct mpi_file
 * @number: of the call
 * @actor: index of the rank
 */
struct mpi_file_call {
	const char *path;
	u64 generation;
	u64 ranks;
	u64 opening;
	u64 number;
	u64 actor;
};

struct mpi_files;

u32 mpi_call_of(const struct event *event);
const struct data_call *mpi_data_call(u32 call);
u64 mpi_end_of_call(const struct actor *actor, u64 at);
int mpi_files_open(struct change *c, struct mpi_files **files);
int mpi_files_take(struct mpi_files *files, const struct actor *actor, u64 at, struct mpi_file **file, s64 *place);
void mpi_files_close(struct mpi_files *files);
bool mpi_is_same_file(const struct mpi_file_call *a, const struct mpi_file_call *b);
int mpi_compare_calls(const void *a, const void *b);

#endif
