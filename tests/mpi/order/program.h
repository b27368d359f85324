/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program.h - shared by the files of the program that runs a script.
 *
 * It keeps a log in its own order: operations on its file with their times; the start and end of messages
 * and collectives; and for each receive the message that it got, which the message contains.
 */
#ifndef TESTS_MPI_ORDER_PROGRAM_H
#define TESTS_MPI_ORDER_PROGRAM_H

#include <mpi.h>

#include "script.h"

/*
 * A line of the log is a letter, two numbers, and the times in ns of the start and end of an operation:
 *
 *	i	an operation on the file	0	its number, from 0
 *	s S	a send begins, ends		message	-
 *	p g	a receive begins, ends		receive	-, message
 *	m	a message was matched		receive	message
 *	f	a probe found a message		receive that follows	message
 *	c C	a collective begins, ends	step	-
 *
 * The number of a message is that of its step, times RANKS_MAX, plus its sender; that of a receive is that of
 * its step, times RANKS_MAX, plus its position in the step.
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
 * struct pending - an operation that has begun
 * @persistent: request, or MPI_REQUEST_NULL
 * @letter, @number: log entry of its end
 * @matched: line of the match if @is_matched
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

/* Arguments of a collective, which MPI may access until the collective has ended. */
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
