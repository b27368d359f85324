// SPDX-License-Identifier: GPL-2.0-only
/*
 * messages.c - the messages of a script, and operations that complete later.
 *
 * A message begins with its number, unless it is empty: then its number is that of the step in which it is
 * received, which follows from the message order of MPI.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PENDING_MAX 512
#define BYTES_MAX   70000

/* -- operations that complete later --------------------------------------------------------------- */

static struct pending pending[PENDING_MAX];
static int pending_count;

void pending_add(const struct pending *what)
{
	if (pending_count == PENDING_MAX)
		pending_wait(WAIT_ALL);
	pending[pending_count++] = *what;
}

/* Return: the number of the message that a receive got. */
static int received(int step, const void *buffer, const MPI_Status *status)
{
	int message = step * RANKS_MAX + status->MPI_SOURCE, bytes;

	MPI_Get_count(status, MPI_BYTE, &bytes);
	if (bytes >= (int)sizeof(message))
		memcpy(&message, buffer, sizeof(message));
	return message;
}

static void ended(struct pending *what, const MPI_Status *status)
{
	log_add(what->letter, what->number,
		what->is_receive ? received(what->number / RANKS_MAX, what->buffer, status) : -1);
	if (what->is_matched)
		log_message(what->matched, received(what->number / RANKS_MAX, what->buffer, status));
	if (what->persistent != MPI_REQUEST_NULL)
		MPI_Request_free(&what->persistent);
	free(what->buffer);
	free(what->blocks);
}

static void gather_requests(MPI_Request *requests)
{
	int i;

	for (i = 0; i < pending_count; i++)
		requests[i] = pending[i].persistent != MPI_REQUEST_NULL ? pending[i].persistent :
									  pending[i].request;
}

static void wait_each(MPI_Request *requests, bool is_test)
{
	MPI_Status status;
	int i, is_done;

	for (i = 0; i < pending_count; i++) {
		is_done = !is_test;
		if (!is_test)
			MPI_Wait(&requests[i], &status);
		while (!is_done) {
			MPI_Test(&requests[i], &is_done, &status);
			if (!is_done)
				usleep(200);
		}
		ended(&pending[i], &status);
	}
}

static void wait_all(MPI_Request *requests, bool is_test)
{
	static MPI_Status statuses[PENDING_MAX];
	int i, is_done = !is_test;

	if (!is_test)
		MPI_Waitall(pending_count, requests, statuses);
	while (!is_done) {
		MPI_Testall(pending_count, requests, &is_done, statuses);
		if (!is_done)
			usleep(200);
	}
	for (i = 0; i < pending_count; i++)
		ended(&pending[i], &statuses[i]);
}

static void wait_any(MPI_Request *requests)
{
	MPI_Status status;
	int i, index;

	for (i = 0; i < pending_count; i++) {
		MPI_Waitany(pending_count, requests, &index, &status);
		ended(&pending[index], &status);
		requests[index] = MPI_REQUEST_NULL; /* a persistent request would remain */
		log_io();
	}
}

static void wait_some(MPI_Request *requests)
{
	static MPI_Status statuses[PENDING_MAX];
	int indices[PENDING_MAX], done = 0, count, i;

	while (done < pending_count) {
		MPI_Waitsome(pending_count, requests, &count, indices, statuses);
		for (i = 0; i < count; i++) {
			ended(&pending[indices[i]], &statuses[i]);
			requests[indices[i]] = MPI_REQUEST_NULL;
		}
		done += count;
		log_io();
	}
}

void pending_wait(enum waiting how)
{
	static MPI_Request requests[PENDING_MAX];

	gather_requests(requests);
	switch (how) {
	case WAIT_EACH:
	case WAIT_TEST:
		wait_each(requests, how == WAIT_TEST);
		break;
	case WAIT_ANY:
		wait_any(requests);
		break;
	case WAIT_SOME:
		wait_some(requests);
		break;
	default:
		wait_all(requests, how == WAIT_TEST_ALL);
	}
	pending_count = 0;
}

/* -- sends ---------------------------------------------------------------------------------------- */

static void send(const struct step *step, int tag)
{
	const MPI_Comm comm = comms[step->comm];
	struct pending what = { .letter = 'S', .number = step->id * RANKS_MAX + own,
				.persistent = MPI_REQUEST_NULL };
	int *buffer = calloc(1, BYTES_MAX);

	buffer[0] = what.number;
	what.buffer = buffer;
	log_add('s', what.number, -1);
	switch (step->call) {
	case SEND_PLAIN:
		MPI_Send(buffer, step->bytes, MPI_BYTE, step->to, tag, comm);
		break;
	case SEND_BUFFERED:
		MPI_Bsend(buffer, step->bytes, MPI_BYTE, step->to, tag, comm);
		break;
	case SEND_SYNCHRONOUS:
		MPI_Ssend(buffer, step->bytes, MPI_BYTE, step->to, tag, comm);
		break;
	case SEND_REQUEST:
		MPI_Isend(buffer, step->bytes, MPI_BYTE, step->to, tag, comm, &what.request);
		break;
	case SEND_SYNCHRONOUS_REQUEST:
		MPI_Issend(buffer, step->bytes, MPI_BYTE, step->to, tag, comm, &what.request);
		break;
	case SEND_PERSISTENT:
		MPI_Send_init(buffer, step->bytes, MPI_BYTE, step->to, tag, comm, &what.persistent);
		MPI_Start(&what.persistent);
	}
	if (step->call >= SEND_REQUEST) {
		pending_add(&what);
		return;
	}
	log_add('S', what.number, -1);
	free(buffer);
}

/* -- receives ------------------------------------------------------------------------------------ */

/* The message has arrived and is matched. */
static void receive_found(const struct step *step, int number, MPI_Comm comm)
{
	char *buffer = calloc(1, BYTES_MAX);
	MPI_Status status;
	int from = step->what == STEP_ANY ? MPI_ANY_SOURCE : step->from;
	int tag = step->is_any_tag ? MPI_ANY_TAG : step->tag, is_there = 0, found;

	if (step->how == RECV_PROBED)
		MPI_Probe(from, tag, comm, &status);
	while (step->how == RECV_LOOKED_FOR && !is_there) {
		MPI_Iprobe(from, tag, comm, &is_there, &status);
		if (!is_there)
			usleep(200);
	}
	found = log_add('f', number, -1);
	log_add('p', number, -1);
	MPI_Recv(buffer, BYTES_MAX, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
	log_add('g', number, received(step->id, buffer, &status));
	log_message(found, received(step->id, buffer, &status));
	free(buffer);
}

static void receive_matched(const struct step *step, int number, MPI_Comm comm)
{
	struct pending what = { .letter = 'g', .number = number, .persistent = MPI_REQUEST_NULL,
				.is_receive = true };
	int from = step->what == STEP_ANY ? MPI_ANY_SOURCE : step->from;
	int tag = step->is_any_tag ? MPI_ANY_TAG : step->tag;
	char *buffer = calloc(1, BYTES_MAX);
	MPI_Message message;
	MPI_Status status;

	log_add('p', number, -1);
	MPI_Mprobe(from, tag, comm, &message, &status);
	what.matched = log_add('m', number, -1);
	if (step->how == RECV_MATCHED) {
		MPI_Mrecv(buffer, BYTES_MAX, MPI_BYTE, &message, &status);
		log_add('g', number, received(step->id, buffer, &status));
		log_message(what.matched, received(step->id, buffer, &status));
		free(buffer);
		return;
	}
	what.buffer = buffer;
	what.is_matched = true;
	MPI_Imrecv(buffer, BYTES_MAX, MPI_BYTE, &message, &what.request);
	pending_add(&what);
}

static void receive_posted(const struct step *step, int number, MPI_Comm comm)
{
	struct pending what = { .letter = 'g', .number = number, .persistent = MPI_REQUEST_NULL,
				.is_receive = true };
	int from = step->what == STEP_ANY ? MPI_ANY_SOURCE : step->from;
	int tag = step->is_any_tag ? MPI_ANY_TAG : step->tag;
	char *buffer = calloc(1, BYTES_MAX);
	MPI_Status status;

	log_add('p', number, -1);
	what.buffer = buffer;
	switch (step->how) {
	case RECV_REQUEST:
		MPI_Irecv(buffer, BYTES_MAX, MPI_BYTE, from, tag, comm, &what.request);
		break;
	case RECV_PERSISTENT:
		MPI_Recv_init(buffer, BYTES_MAX, MPI_BYTE, from, tag, comm, &what.persistent);
		MPI_Start(&what.persistent);
		break;
	default:
		MPI_Recv(buffer, BYTES_MAX, MPI_BYTE, from, tag, comm, &status);
		log_add('g', number, received(step->id, buffer, &status));
		free(buffer);
		return;
	}
	pending_add(&what);
}

static void receive(const struct step *step, int number)
{
	MPI_Comm comm = comms[step->comm];

	if (step->how == RECV_PROBED || step->how == RECV_LOOKED_FOR)
		receive_found(step, number, comm);
	else if (step->how == RECV_MATCHED || step->how == RECV_MATCHED_REQUEST)
		receive_matched(step, number, comm);
	else
		receive_posted(step, number, comm);
}

void perform_message(const struct step *step)
{
	if (step->from == own)
		send(step, step->tag);
	if (step->to == own)
		receive(step, step->id * RANKS_MAX);
}

void perform_any(const struct step *step)
{
	int i;

	if (script_sends(&script, step, own))
		send(step, step->tag);
	for (i = 0; step->to == own && i < script.ranks; i++)
		if (script_sends(&script, step, i))
			receive(step, step->id * RANKS_MAX + i);
}
