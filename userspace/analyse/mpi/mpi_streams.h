/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mpi_streams.h - messages of one communicator, source, destination and tag; for the files that match MPI
 * calls alone.
 */
#ifndef IOTAPE_ANALYSE_MPI_STREAMS_H
#define IOTAPE_ANALYSE_MPI_STREAMS_H

#include "mpi_match.h"

/* Why an end may be that of another message. */
enum end_doubt {
	END_CERTAIN,
	END_BESIDE, /* another thread posted one of the same length at the same time */
	END_GAP,    /* another end of the stream was not seen */
};

/**
 * struct endpoint - one end of a message
 * @posted_ns: when
 * @length_bytes: of the message
 * @has_no_length: that is not known
 * @is_probe: it found the message, which another one receives
 * @is_doubtful: an enum end_doubt
 * @partner: of a receive, its send among those of the stream, and the other way round; GRAPH_NONE if there
 *	is none
 * @call: in graph.mpi: where it was posted
 * @ended: in graph.mpi: where it was complete; GRAPH_NONE if that was not seen
 */
struct endpoint {
	u64 comm;
	u32 source;
	u32 destination;
	s32 tag;
	u64 posted_ns;
	u64 length_bytes;
	bool has_no_length;
	bool is_probe;
	enum end_doubt is_doubtful;
	u32 partner;
	u32 call;
	u32 ended;
};

/**
 * struct stream - all ends of a stream, in the order of posting
 * @has_one_clock: a receive that ended before a send began is not its partner
 */
struct stream {
	struct endpoint *sends;
	struct endpoint *receives;
	size_t send_count;
	size_t receive_count;
	bool has_one_clock;
};

int mpi_stream_pair(const struct graph *graph, struct stream *stream);

#endif
