// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi_messages.c - which send a receive has received, and who waited for whom there.
 *
 * Of one communicator, source, destination and tag, the k-th send pairs with the k-th receive in
 * the order of posting whose status named that source and tag.
 */
#include <stdlib.h>

#include "mpi_match.h"

/* A standard send of more than this may wait for the receiver (rendezvous). */
#define EAGER_MAX_BYTES 4096

/* One end of a message. */
struct endpoint {
	u64 comm;
	u32 source;
	u32 destination;
	s32 tag;
	u64 posted_ns;
	u32 call;  /* in graph.mpi: where it was posted */
	u32 ended; /* in graph.mpi: where it was complete; GRAPH_NONE if that was not seen */
};

struct endpoints {
	struct endpoint *ends;
	size_t count;
};

static int compare_endpoints(const void *a, const void *b)
{
	const struct endpoint *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->destination != y->destination)
		return x->destination < y->destination ? -1 : 1;
	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	return x->posted_ns < y->posted_ns ? -1 : x->posted_ns > y->posted_ns;
}

/* Are they ends of the same stream of messages? */
static int compare_streams(const struct endpoint *x, const struct endpoint *y)
{
	struct endpoint other = *y;

	other.posted_ns = x->posted_ns;
	return compare_endpoints(x, &other);
}

static void add_send(const struct graph *graph, const struct mpi_dones *dones, u32 call,
		     struct endpoints *sends)
{
	const struct graph_mpi *mpi = &graph->mpi[call];

	sends->ends[sends->count++] = (struct endpoint){
		.comm = mpi->comm,
		.source = mpi_rank_of(graph, mpi->comm, mpi->task),
		.destination = (u32)mpi->peer,
		.tag = mpi->tag,
		.posted_ns = mpi->enter_ns,
		.call = call,
		.ended = mpi_ended_by(graph, dones, call),
	};
}

/* A probe found the message that the next receive of the stream takes. */
static bool is_probe(const struct graph *graph, u32 call)
{
	return graph->mpi[call].kind == IOT_KIND_mpi_probe;
}

/* Source and tag are those of the status: of the call itself, or of what completed it. */
static void add_receive(struct graph *graph, const struct mpi_dones *dones, u32 call,
			struct endpoints *receives)
{
	u32 ended = mpi_ended_by(graph, dones, call);
	const struct graph_mpi *mpi = &graph->mpi[call], *status;

	if (ended == GRAPH_NONE) {
		mpi_unmatched(graph, call, "a receive whose end was not seen; later ones may be mismatched");
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
		.call = call,
		.ended = ended,
	};
}

static bool is_synchronous(const struct graph *graph, const struct endpoint *send,
			   const struct endpoint *receive)
{
	const struct graph_mpi *mpi = &graph->mpi[send->call];

	switch (mpi->call) {
	case IOT_CALL_ssend:
	case IOT_CALL_issend:
	case IOT_CALL_ssend_init:
		return true;
	case IOT_CALL_bsend:
	case IOT_CALL_ibsend:
	case IOT_CALL_bsend_init:
		return false;
	}
	return mpi->length_bytes > EAGER_MAX_BYTES &&
	       graph->mpi[receive->call].enter_ns < graph->mpi[send->ended].end_ns;
}

static int connect_message(struct graph *graph, const struct endpoint *send,
			   const struct endpoint *receive)
{
	int err = mpi_wait_for(graph, &graph->mpi[send->call], receive->ended);

	/* A matched probe has waited for the message where it was posted; start may have. */
	if (!err && (graph->mpi[receive->call].call == IOT_CALL_mprobe ||
		     graph->mpi[receive->call].call == IOT_CALL_win_start))
		err = mpi_wait_for(graph, &graph->mpi[send->call], receive->call);
	if (err || send->ended == GRAPH_NONE || !is_synchronous(graph, send, receive))
		return err;
	return mpi_wait_for(graph, &graph->mpi[receive->call], send->ended);
}

#define NOT_RECEIVED "a message that nobody received"
#define NOT_SENT     "a receive whose message nobody sent"

/* Threads that post at the same time leave it open which of them MPI heard first. */
static void find_ambiguous(struct graph *graph, const struct endpoints *ends)
{
	const struct graph_mpi *before, *mpi;
	size_t i;

	for (i = 1; i < ends->count; i++) {
		before = &graph->mpi[ends->ends[i - 1].call];
		mpi = &graph->mpi[ends->ends[i].call];
		if (compare_streams(&ends->ends[i - 1], &ends->ends[i]) ||
		    before->task == mpi->task || before->end_ns <= mpi->enter_ns)
			continue;
		graph->mpi_ambiguous++;
		mpi_note(graph, ends->ends[i].call,
		     "a message of a stream that another thread used at the same time");
	}
}

static int paired(struct graph *graph, const struct graph_mpi_listener *listener,
		  const struct endpoint *send, const struct endpoint *receive)
{
	if (!listener)
		return connect_message(graph, send, receive);
	return listener->message(listener->context,
				 &(struct graph_mpi_part){ .call = send->call, .ended = send->ended },
				 &(struct graph_mpi_part){ .call = receive->call,
							   .ended = receive->ended });
}

/* Is the call one end of a message? A listener learns of pairs only, and a probe is no half of one. */
static bool is_receive(const struct graph *graph, u32 call, const struct graph_mpi_listener *listener)
{
	return graph->mpi[call].kind == IOT_KIND_mpi_recv || (is_probe(graph, call) && !listener);
}

/* Both arrays in the order of streams, and in each stream of posting. */
static int pair_messages(struct graph *graph, const struct graph_mpi_listener *listener,
			 const struct endpoints *sends, const struct endpoints *receives)
{
	size_t s = 0, r = 0;
	int err = 0;

	while (s < sends->count && r < receives->count && !err) {
		int order = compare_streams(&sends->ends[s], &receives->ends[r]);

		if (order < 0) {
			mpi_unmatched(graph, sends->ends[s++].call, NOT_RECEIVED);
		} else if (order > 0) {
			mpi_unmatched(graph, receives->ends[r++].call, NOT_SENT);
		} else if (is_probe(graph, receives->ends[r].call)) {
			err = mpi_wait_for(graph, &graph->mpi[sends->ends[s].call],
				       receives->ends[r++].call);
		} else {
			err = paired(graph, listener, &sends->ends[s++], &receives->ends[r++]);
		}
	}
	while (s < sends->count)
		mpi_unmatched(graph, sends->ends[s++].call, NOT_RECEIVED);
	while (r < receives->count)
		mpi_unmatched(graph, receives->ends[r++].call, NOT_SENT);
	return err;
}

/**
 * mpi_match_messages() - edges of messages, or a listener that is told of them
 */
int mpi_match_messages(struct graph *graph, const struct mpi_dones *dones,
		       const struct graph_mpi_listener *listener)
{
	struct endpoints sends = {}, receives = {};
	u32 i;
	int err = -ENOMEM;

	sends.ends = calloc(graph->mpi_count + 1, sizeof(*sends.ends));
	receives.ends = calloc(graph->mpi_count + 1, sizeof(*receives.ends));
	if (sends.ends && receives.ends) {
		for (i = 0; i < graph->mpi_count; i++) {
			if (graph->mpi[i].kind == IOT_KIND_mpi_send)
				add_send(graph, dones, i, &sends);
			else if (is_receive(graph, i, listener))
				add_receive(graph, dones, i, &receives);
		}
		qsort(sends.ends, sends.count, sizeof(*sends.ends), compare_endpoints);
		qsort(receives.ends, receives.count, sizeof(*receives.ends), compare_endpoints);
		find_ambiguous(graph, &sends);
		find_ambiguous(graph, &receives);
		err = pair_messages(graph, listener, &sends, &receives);
	}
	free(sends.ends);
	free(receives.ends);
	return err;
}
