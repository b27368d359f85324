// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi_messages.c - the ends of messages, the streams that they form, and the edges between them.
 *
 * Messages of one communicator, source, destination and tag are a stream, in which MPI keeps their
 * order; mpi_streams.c pairs its sends with its receives.
 */
#include <stdlib.h>

#include "mpi_streams.h"

/* A standard send of more than this may wait for the receiver (rendezvous). */
#define EAGER_MAX_BYTES 4096

struct endpoints {
	struct endpoint *ends;
	size_t count;
};

/* Are they ends of the same stream of messages? */
static int compare_streams(const struct endpoint *x, const struct endpoint *y)
{
	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->destination != y->destination)
		return x->destination < y->destination ? -1 : 1;
	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	return 0;
}

/* Receives posted at the same time are in the order of their records. */
static int compare_endpoints(const void *a, const void *b)
{
	const struct endpoint *x = a, *y = b;
	int order = compare_streams(x, y);

	if (order)
		return order;
	if (x->posted_ns != y->posted_ns)
		return x->posted_ns < y->posted_ns ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

static void add_send(struct graph *graph, const struct mpi_dones *dones, u32 call, struct endpoints *sends)
{
	const struct graph_mpi *mpi = &graph->mpi[call];
	u32 ended = mpi_ended_by(graph, dones, call);

	if (mpi->request && ended != GRAPH_NONE && graph->mpi[ended].result == -ECANCELED) {
		mpi_unmatched(graph, call, "a send that was cancelled");
		return;
	}
	sends->ends[sends->count++] = (struct endpoint){
		.comm = mpi->comm,
		.source = mpi_rank_of(graph, mpi->comm, mpi->task),
		.destination = (u32)mpi->peer,
		.tag = mpi->tag,
		.posted_ns = mpi->enter_ns,
		.length_bytes = mpi->length_bytes,
		.call = call,
		.ended = ended,
		.partner = GRAPH_NONE,
	};
}

/* A probe found the message that the next receive of the stream takes. */
static bool is_probe(const struct graph *graph, u32 call)
{
	return graph->mpi[call].kind == IOT_KIND_mpi_probe;
}

/*
 * Whether the record of a receive lacks the length of the message: the buffer was too short, MPICH
 * 4.0 did not set the status, or the message has partitions, for which MPI gives no length.
 */
static bool has_no_length(const struct graph_mpi *posted, const struct graph_mpi *status)
{
	return status->result < 0 || posted->call == IOT_CALL_precv_init ||
	       (posted->call == IOT_CALL_isendrecv && !status->length_bytes);
}

/* Source and tag are those of the status: of the call itself, or of the call that completed it. */
static void add_receive(struct graph *graph, const struct mpi_dones *dones, u32 call,
			struct endpoints *receives)
{
	u32 ended = mpi_ended_by(graph, dones, call);
	const struct graph_mpi *mpi = &graph->mpi[call], *status;

	if (ended == GRAPH_NONE) {
		mpi_unmatched(graph, call, "a receive without a recorded end; later receives may be mismatched");
		return;
	}
	status = &graph->mpi[ended];
	if (mpi->request && status->peer < 0) {
		mpi_unmatched(graph, call, "a receive that was cancelled");
		return;
	}
	receives->ends[receives->count++] = (struct endpoint){
		.comm = mpi->comm,
		.source = (u32)status->peer,
		.destination = mpi_rank_of(graph, mpi->comm, mpi->task),
		.tag = status->tag,
		.posted_ns = mpi->enter_ns,
		.length_bytes = status->length_bytes,
		.has_no_length = has_no_length(mpi, status),
		.is_probe = is_probe(graph, call),
		.call = call,
		.ended = ended,
		.partner = GRAPH_NONE,
	};
}

/* -- edges ----------------------------------------------------------------------------------------- */

static bool is_synchronous(const struct graph *graph, const struct endpoint *send)
{
	switch (graph->mpi[send->call].call) {
	case IOT_CALL_ssend:
	case IOT_CALL_issend:
	case IOT_CALL_ssend_init:
		return true;
	default:
		return false;
	}
}

/* So long that it may have waited for the receive, which was there before it ended. */
static bool is_rendezvous(const struct graph *graph, const struct endpoint *send, const struct endpoint *receive)
{
	switch (graph->mpi[send->call].call) {
	case IOT_CALL_bsend:
	case IOT_CALL_ibsend:
	case IOT_CALL_bsend_init:
		return false;
	}
	return graph->mpi[send->call].length_bytes > EAGER_MAX_BYTES &&
	       mpi_looks_back(graph, receive->call, send->ended);
}

/* The end of a call waits for the arrival of another one, for certain if the two are partners. */
static int follow(struct graph *graph, u32 from, u32 ended, bool is_doubtful)
{
	if (ended == GRAPH_NONE)
		return 0;
	if (!is_doubtful && !mpi_looks_back(graph, from, ended))
		mpi_contradicted(graph, ended);
	return mpi_wait_for(graph, from, ended);
}

static int connect_message(struct graph *graph, const struct endpoint *send,
			   const struct endpoint *receive, bool is_doubtful)
{
	u32 call = graph->mpi[receive->call].call;
	int err = follow(graph, send->call, receive->ended, is_doubtful);

	/* A matched probe has waited for the message where it was posted; start may have. */
	if (!err && call == IOT_CALL_mprobe)
		err = follow(graph, send->call, receive->call, is_doubtful);
	if (!err && call == IOT_CALL_win_start)
		err = mpi_wait_for(graph, send->call, receive->call);
	if (err || send->ended == GRAPH_NONE)
		return err;
	if (is_synchronous(graph, send))
		return follow(graph, receive->call, send->ended, is_doubtful);
	return is_rendezvous(graph, send, receive) ? mpi_wait_for(graph, receive->call, send->ended) : 0;
}

static int paired(struct graph *graph, const struct graph_mpi_listener *listener, const struct mpi_parts *parts,
		  const struct endpoint *send, const struct endpoint *receive)
{
	const struct graph_mpi_part sent = { .call = send->call, .ended = send->ended };
	const struct graph_mpi_part received = {
		.call = receive->call,
		.ended = receive->ended,
		.is_doubtful = send->is_doubtful || receive->is_doubtful,
	};

	int err;

	if (!listener && receive->is_probe)
		return follow(graph, send->call, receive->call, received.is_doubtful);
	if (!listener) {
		err = connect_message(graph, send, receive, received.is_doubtful);
		return err ? err : mpi_parts_connect(graph, parts, send->call, receive->call);
	}
	if (receive->is_probe)
		return listener->probe(listener->context, &sent, &received);
	return listener->message ? listener->message(listener->context, &sent, &received) : 0;
}

/* -- streams --------------------------------------------------------------------------------------- */

static void note_ends(struct graph *graph, const struct endpoint *ends, size_t count, const char *alone)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (ends[i].is_doubtful) {
			graph->mpi_ambiguous++;
			mpi_note(graph, ends[i].call, ends[i].is_doubtful == END_BESIDE ?
				 "a message of a stream that another thread used at the same time" :
				 "a message of a stream with an unrecorded message");
		}
		if (ends[i].partner == GRAPH_NONE)
			mpi_unmatched(graph, ends[i].call, alone);
	}
}

static int pair_stream(struct graph *graph, const struct graph_mpi_listener *listener,
		       const struct mpi_parts *parts, struct stream *stream)
{
	size_t i;
	int err = mpi_stream_pair(graph, stream);

	note_ends(graph, stream->sends, stream->send_count, "a message without a receive");
	note_ends(graph, stream->receives, stream->receive_count, "a receive without a send");
	for (i = 0; i < stream->receive_count && !err; i++)
		if (stream->receives[i].partner != GRAPH_NONE)
			err = paired(graph, listener, parts, &stream->sends[stream->receives[i].partner],
				     &stream->receives[i]);
	return err;
}

static size_t same_stream(const struct endpoints *ends, size_t first, const struct endpoint *end)
{
	size_t last = first;

	while (last < ends->count && !compare_streams(&ends->ends[last], end))
		last++;
	return last - first;
}

/* Both arrays in the order of streams, and in each stream of posting. */
static int pair_messages(struct graph *graph, const struct graph_mpi_listener *listener,
			 const struct mpi_parts *parts, struct endpoints *sends, struct endpoints *receives)
{
	bool has_one_clock = (!listener || !listener->has_many_clocks) && !*graph_fact(graph, "nodes");
	size_t s = 0, r = 0;
	int err = 0;

	while ((s < sends->count || r < receives->count) && !err) {
		struct stream stream = {
			.sends = sends->ends + s,
			.receives = receives->ends + r,
			.has_one_clock = has_one_clock,
		};
		const struct endpoint *end = stream.sends;

		if (s == sends->count ||
		    (r < receives->count && compare_streams(stream.receives, stream.sends) < 0))
			end = stream.receives;
		stream.send_count = same_stream(sends, s, end);
		stream.receive_count = same_stream(receives, r, end);
		err = pair_stream(graph, listener, parts, &stream);
		s += stream.send_count;
		r += stream.receive_count;
	}
	return err;
}

/* Is the call one end of a message? A probe is not a half of one, but finds one. */
static bool is_receive(const struct graph *graph, u32 call, const struct graph_mpi_listener *listener)
{
	return graph->mpi[call].kind == IOT_KIND_mpi_recv ||
	       (is_probe(graph, call) && (!listener || listener->probe));
}

/**
 * mpi_match_messages() - edges of messages, or calls of a listener instead
 */
int mpi_match_messages(struct graph *graph, const struct mpi_dones *dones,
		       const struct graph_mpi_listener *listener)
{
	struct endpoints sends = {}, receives = {};
	struct mpi_parts parts = {};
	u32 i;
	int err = -ENOMEM;

	sends.ends = calloc(graph->mpi_count + 1, sizeof(*sends.ends));
	receives.ends = calloc(graph->mpi_count + 1, sizeof(*receives.ends));
	if (sends.ends && receives.ends && !mpi_parts_collect(graph, &parts)) {
		for (i = 0; i < graph->mpi_count; i++) {
			if (graph->mpi[i].kind == IOT_KIND_mpi_send)
				add_send(graph, dones, i, &sends);
			else if (is_receive(graph, i, listener))
				add_receive(graph, dones, i, &receives);
		}
		qsort(sends.ends, sends.count, sizeof(*sends.ends), compare_endpoints);
		qsort(receives.ends, receives.count, sizeof(*receives.ends), compare_endpoints);
		err = pair_messages(graph, listener, &parts, &sends, &receives);
	}
	free(sends.ends);
	free(receives.ends);
	free(parts.parts);
	return err;
}
