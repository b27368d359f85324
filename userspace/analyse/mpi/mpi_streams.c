// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi_streams.c - matches the sends and receives of a stream.
 *
 * MPI keeps the order of messages in a stream (MPI 4.0, 3.5): the k-th send pairs with the k-th receive, in
 * the order in which they were posted. If several threads post at the same time, that order is not
 * known; and if a send or the end of a receive was not seen, the places of those behind it do not agree. Both
 * ends of a message have its length, so the k-th send of a length pairs with the k-th receive of that
 * length, if both numbers are equal: this is more precise. Remaining doubts are marked.
 */
#include "mpi_streams.h"

#include <stdlib.h>

#define LOOK_AHEAD 4096 /* sends, for a receive whose place is not known */

/* Indices of ends, by length and then in the order of posting. */
struct group {
	u32 *sends;
	u32 *receives;
	u32 send_count;
	u32 receive_count;
};

static bool is_in_time(const struct graph *graph, const struct stream *stream, u32 send, u32 receive)
{
	return !stream->has_one_clock ||
	       mpi_looks_back(graph, stream->sends[send].call, stream->receives[receive].ended);
}

static bool is_same_length(const struct endpoint *a, const struct endpoint *b)
{
	return a->has_no_length || b->has_no_length || a->length_bytes == b->length_bytes;
}

static bool agrees(const struct graph *graph, const struct stream *stream, u32 send, u32 receive)
{
	return is_same_length(&stream->sends[send], &stream->receives[receive]) &&
	       is_in_time(graph, stream, send, receive);
}

static void pair(struct stream *stream, u32 send, u32 receive)
{
	stream->sends[send].partner = receive;
	stream->receives[receive].partner = send;
}

/* -- threads that post at the same time ---------------------------------------------------------- */

/* The latest end of a call, and the latest one of another thread. */
struct latest {
	u32 task;
	u64 end_ns;
	u64 other_end_ns;
};

static void take_latest(struct latest *latest, const struct graph_mpi *mpi)
{
	if (mpi->task != latest->task) {
		if (mpi->end_ns <= latest->end_ns) {
			if (mpi->end_ns > latest->other_end_ns)
				latest->other_end_ns = mpi->end_ns;
			return;
		}
		latest->other_end_ns = latest->end_ns;
		latest->task = mpi->task;
	}
	if (mpi->end_ns > latest->end_ns)
		latest->end_ns = mpi->end_ns;
}

/* Ends of one length: those that were posted while another thread did leave the order open. */
static void mark_beside(const struct graph *graph, struct endpoint *ends, const u32 *indices, u32 count)
{
	struct latest latest = { .task = GRAPH_NONE };
	u32 i;

	for (i = 0; i < count; i++) {
		struct endpoint *end = &ends[indices[i]];
		const struct graph_mpi *mpi = &graph->mpi[end->call];
		u64 before_ns = mpi->task == latest.task ? latest.other_end_ns : latest.end_ns;

		if (before_ns > mpi->enter_ns)
			end->is_doubtful = END_BESIDE;
		take_latest(&latest, mpi);
	}
}

/* -- by length --------------------------------------------------------------------------------------- */

static int compare_lengths(const void *a, const void *b, void *context)
{
	const struct endpoint *ends = context;
	u32 i = *(const u32 *)a, j = *(const u32 *)b;

	if (ends[i].has_no_length != ends[j].has_no_length)
		return ends[i].has_no_length ? 1 : -1;
	if (ends[i].length_bytes != ends[j].length_bytes && !ends[i].has_no_length)
		return ends[i].length_bytes < ends[j].length_bytes ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Of both ends, those that follow and have the shortest length; all that have none are a group. */
static struct group next_group(const struct stream *stream, const struct group *left)
{
	const struct endpoint *first = left->send_count ? &stream->sends[left->sends[0]] : NULL;
	struct group group = { .sends = left->sends, .receives = left->receives };
	const struct endpoint *other = left->receive_count ? &stream->receives[left->receives[0]] : NULL;
	bool has_no_length;

	if (!first || (other && !other->has_no_length && other->length_bytes < first->length_bytes))
		first = other;
	has_no_length = first->has_no_length;
	while (group.send_count < left->send_count && !has_no_length &&
	       stream->sends[group.sends[group.send_count]].length_bytes == first->length_bytes)
		group.send_count++;
	while (group.receive_count < left->receive_count &&
	       stream->receives[group.receives[group.receive_count]].has_no_length == has_no_length &&
	       (has_no_length ||
		stream->receives[group.receives[group.receive_count]].length_bytes == first->length_bytes))
		group.receive_count++;
	return group;
}

/* Is the order of this position and the previous one undetermined? */
static bool is_open(const struct stream *stream, const struct group *group, u32 k)
{
	return stream->receives[group->receives[k]].is_doubtful || stream->sends[group->sends[k]].is_doubtful;
}

/* Let two receives change places, if both are in time then. */
static bool exchange(const struct graph *graph, const struct stream *stream, const struct group *group, u32 j,
		     u32 k)
{
	u32 receive = group->receives[k];

	if (!is_in_time(graph, stream, group->sends[k], group->receives[j]) ||
	    !is_in_time(graph, stream, group->sends[j], receive))
		return false;
	group->receives[k] = group->receives[j];
	group->receives[j] = receive;
	return true;
}

/* A receive that ended before its send began may change places with another one, as far as that is open. */
static bool settle(const struct graph *graph, const struct stream *stream, const struct group *group, u32 k)
{
	u32 j;

	if (is_in_time(graph, stream, group->sends[k], group->receives[k]))
		return true;
	for (j = k + 1; j < group->send_count && is_open(stream, group, j); j++)
		if (exchange(graph, stream, group, j, k))
			return true;
	for (j = k; j > 0 && is_open(stream, group, j); j--)
		if (exchange(graph, stream, group, j - 1, k))
			return true;
	return false;
}

/* As many sends as receives of a length: all were seen. */
static void pair_group(const struct graph *graph, struct stream *stream, const struct group *group)
{
	u32 k;

	for (k = 0; k < group->send_count; k++)
		if (!settle(graph, stream, group, k))
			return;
	for (k = 0; k < group->send_count; k++)
		pair(stream, group->sends[k], group->receives[k]);
}

static void for_each_group(const struct graph *graph, struct stream *stream, const struct group *all,
			   void (*fn)(const struct graph *, struct stream *, const struct group *))
{
	struct group left = *all, group;

	while (left.send_count || left.receive_count) {
		group = next_group(stream, &left);
		fn(graph, stream, &group);
		left.sends += group.send_count;
		left.send_count -= group.send_count;
		left.receives += group.receive_count;
		left.receive_count -= group.receive_count;
	}
}

static void mark_group(const struct graph *graph, struct stream *stream, const struct group *group)
{
	mark_beside(graph, stream->sends, group->sends, group->send_count);
	mark_beside(graph, stream->receives, group->receives, group->receive_count);
}

static void pair_equal_group(const struct graph *graph, struct stream *stream, const struct group *group)
{
	if (group->send_count == group->receive_count)
		pair_group(graph, stream, group);
}

/* A send of this length was not seen: any of the receives may be its own. */
static void doubt_group(const struct graph *graph, struct stream *stream, const struct group *group)
{
	u32 k;

	(void)graph;
	if (group->receive_count <= group->send_count || stream->receives[group->receives[0]].has_no_length)
		return;
	for (k = 0; k < group->receive_count; k++)
		if (stream->receives[group->receives[k]].partner != GRAPH_NONE)
			stream->receives[group->receives[k]].is_doubtful = END_GAP;
}

/* -- remaining sends and receives -------------------------------------------------------------- */

/* Return: the next receive that has a partner. */
static u32 next_paired(const struct stream *stream, const u32 *order, u32 count, u32 at)
{
	while (at < count && stream->receives[order[at]].partner == GRAPH_NONE)
		at++;
	return at;
}

/* Return: the first send from @send on, and before @stop, that can be that of a receive; else @stop. */
static u32 find_send(const struct graph *graph, const struct stream *stream, u32 send, u32 stop, u32 receive)
{
	if (send < stop && stop - send > LOOK_AHEAD)
		stop = send + LOOK_AHEAD;
	for (; send < stop; send++)
		if (stream->sends[send].partner == GRAPH_NONE && agrees(graph, stream, send, receive))
			return send;
	return GRAPH_NONE;
}

/*
 * Lengths do not decide: the first possible send between the partners of the receives around it.
 * @order: the receives in the order of posting
 */
static void pair_rest(const struct graph *graph, struct stream *stream, const u32 *order, u32 count)
{
	u32 at, send, first = 0, paired = 0;

	for (at = 0; at < count; at++) {
		struct endpoint *receive = &stream->receives[order[at]];

		if (receive->partner == GRAPH_NONE) {
			paired = paired > at ? paired : next_paired(stream, order, count, at);
			send = find_send(graph, stream, first,
					 paired < count ? stream->receives[order[paired]].partner :
							  (u32)stream->send_count,
					 order[at]);
			if (send == GRAPH_NONE)
				continue;
			pair(stream, send, order[at]);
			receive->is_doubtful = END_GAP;
		}
		first = receive->partner + 1;
	}
}

/* -- a stream ------------------------------------------------------------------------------------------ */

/* Whether each has the partner of its position. Sends without a receive may be left. */
static bool pair_by_place(const struct graph *graph, struct stream *stream, const u32 *order, u32 count)
{
	u32 pairs = count < stream->send_count ? count : (u32)stream->send_count, i;

	for (i = 0; i < pairs; i++)
		if (!agrees(graph, stream, i, order[i]))
			return false;
	for (i = 0; i < pairs; i++)
		pair(stream, i, order[i]);
	return true;
}

/*
 * Return: the send that the first receive after a probe takes, among those that the probe may have
 * found.
 */
static u32 find_probed(const struct graph *graph, const struct stream *stream, u32 probe)
{
	u32 i, send;

	for (i = probe + 1; i < stream->receive_count && i - probe < LOOK_AHEAD; i++) {
		send = stream->receives[i].is_probe ? GRAPH_NONE : stream->receives[i].partner;
		if (send != GRAPH_NONE && agrees(graph, stream, send, probe))
			return send;
	}
	return find_send(graph, stream, 0, (u32)stream->send_count, probe); /* no receive has taken it */
}

static void pair_probes(const struct graph *graph, struct stream *stream)
{
	u32 i;

	for (i = 0; i < stream->receive_count; i++)
		if (stream->receives[i].is_probe)
			stream->receives[i].partner = find_probed(graph, stream, i);
}

static void pair_all(const struct graph *graph, struct stream *stream, const u32 *order, const struct group *all)
{
	for_each_group(graph, stream, all, mark_group);
	if (!pair_by_place(graph, stream, order, all->receive_count)) {
		for_each_group(graph, stream, all, pair_equal_group);
		pair_rest(graph, stream, order, all->receive_count);
	}
	for_each_group(graph, stream, all, doubt_group);
	pair_probes(graph, stream);
}

/**
 * mpi_stream_pair() - find the partners in a stream
 * @graph: with the calls of the ends
 * @stream: its ends in the order of posting, without partners; they get partners and marks
 *
 * Return: 0 or -ENOMEM.
 */
int mpi_stream_pair(const struct graph *graph, struct stream *stream)
{
	struct group all = {
		.sends = malloc((stream->send_count + 1) * sizeof(u32)),
		.receives = malloc((stream->receive_count + 1) * sizeof(u32)),
	};
	u32 *order = malloc((stream->receive_count + 1) * sizeof(u32)), i;
	int err = -ENOMEM;

	if (all.sends && all.receives && order) {
		for (i = 0; i < stream->send_count; i++)
			all.sends[all.send_count++] = i;
		for (i = 0; i < stream->receive_count; i++)
			if (!stream->receives[i].is_probe)
				order[all.receive_count++] = i;
		memcpy(all.receives, order, all.receive_count * sizeof(u32));
		qsort_r(all.sends, all.send_count, sizeof(u32), compare_lengths, stream->sends);
		qsort_r(all.receives, all.receive_count, sizeof(u32), compare_lengths, stream->receives);
		pair_all(graph, stream, order, &all);
		err = 0;
	}
	free(all.sends);
	free(all.receives);
	free(order);
	return err;
}
