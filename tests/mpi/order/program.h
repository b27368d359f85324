/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program.h - what the files of the program that performs a script know of each other.
 *
 * It keeps a log of what it does, in its own order: operations on its file with their times; where messages
 * and collectives begin and end; and of each receive, which message came, because that is in it.
 */
#ifndef TESTS_MPI_ORDER_PROGRAM_H
#define TESTS_MPI_ORDER_PROGRAM_H

#include <mpi.h>

#include "script.h"

/*
 * A line of the log is a letter, two numbers, and the ns in which an operation began and ended:
 *
 *	i	an operation on the file	0	its number, from 0
 *	s S	a send begins, ends		message	-
 *	p g	a receive begins, ends		receive	-, message
 *	m	one was matched to be received	receive	message
 *	f	a probe found one		receive that follows	message
 *	c C	a collective begins, ends	step	-
 *
 * The number of a message is that of its step, times RANKS_MAX, plus its sender; of a receive it is that of
 * its step, times RANKS_MAX, plus its place in it.
 */
void log_io(void);
int log_add(char letter, int number, int message);
void log_message(int line, int message);
void log_write(const char *dir);

extern struct script script;
extern int own;
extern MPI_Comm comms[COMM_COUNT];
extern MPI_Datatype empty_type; /* its elements have no data */

/**
 * struct pending - something that was begun
 * @persistent: or MPI_REQUEST_NULL
 * @letter, @number: of its end in the log
 * @matched: if it @is_matched, the line where it was
 * @buffer: of a message
 * @blocks: of a collective
 */
struct pending {
	MPI_Request request;
	MPI_Request persistent;
	char letter;
	int number;
	bool is_receive;
	bool is_matched;
	int matched;
	void *buffer;
	struct blocks *blocks;
};

/* Arguments of a collective, which MPI may look at until it has ended. */
struct blocks {
	int out[RANKS_MAX * COUNT_MAX * 2];
	int in[RANKS_MAX * COUNT_MAX * 2];
	int out_counts[RANKS_MAX];
	int out_places[RANKS_MAX];
	int out_places_w[RANKS_MAX];
	MPI_Aint out_bytes[RANKS_MAX];
	MPI_Datatype out_types[RANKS_MAX];
	int in_counts[RANKS_MAX];
	int in_places[RANKS_MAX];
	int in_places_w[RANKS_MAX];
	MPI_Aint in_bytes[RANKS_MAX];
	MPI_Datatype in_types[RANKS_MAX];
};

void pending_add(const struct pending *pending);
void pending_wait(enum waiting how);

void perform_message(const struct step *step);
void perform_any(const struct step *step);
void perform_call(const struct step *step);
void perform_split(const struct step *step);
void fail(const struct step *step, const char *what);

#endif
