/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exercise.h - shared by the parts of exercise.c.
 *
 * The program uses every call that the shim wraps, and some others. It keeps its
 * own account in the terms of the trace: a count for each kind of record and
 * call. It verifies all received data, and adds up checksums.
 */
#ifndef TESTS_MPI_EXERCISE_H
#define TESTS_MPI_EXERCISE_H

#include <mpi.h>
#include <stdbool.h>

extern int rank, size, next, previous;

/* account.c; thread-safe */
void did(const char *kind, const char *call);
void saw(const int *values, int count);
void expect_at(bool is_so, const char *file, int line);
void account_write(const char *dir);
void *hidden(const char *name);
#define expect(is_so) expect_at(is_so, __FILE__, __LINE__)

/* finish.c */
struct request_list {
	MPI_Request handles[64];
	bool is_recorded[64];
	int count;
};

#define WAYS 8
MPI_Request *list_add(struct request_list *list, bool is_recorded);
void list_finish(struct request_list *list, int way, bool is_ignoring);

/* messages.c, persistent.c, collectives.c, communicators.c, groups.c, files.c, modern.c, passing.c, probes.c,
 * windows.c */
void messages(MPI_Comm comm);
void exchange(bool is_ignoring, MPI_Comm comm);
void collectives(MPI_Comm comm);
void communicators(void);
void persistent(MPI_Comm comm);
void groups(void);
void files(const char *dir, bool has_requests);
void passing(void);
void probes(MPI_Comm comm);
void windows(void);
void modern(MPI_Comm comm);
void barrier(MPI_Comm comm);

#endif
