// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi_parts.c - messages in partitions: a partition that the receiver has found was made ready before.
 *
 * Sender and receiver may have divided the message differently. A partition of the receiver comes
 * after all partitions of the sender that have a byte of it.
 */
#include <stdlib.h>

#include "mpi_match.h"

static int compare_parts(const void *a, const void *b)
{
	const struct mpi_part *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	if (x->request != y->request)
		return x->request < y->request ? -1 : 1;
	return x->offset_bytes < y->offset_bytes ? -1 : x->offset_bytes > y->offset_bytes;
}

/**
 * mpi_parts_collect() - all partitions of a graph
 * @parts: out: in the order of processes, requests and places; to be freed by the caller
 *
 * Return: 0 or -ENOMEM.
 */
int mpi_parts_collect(const struct graph *graph, struct mpi_parts *parts)
{
	u32 i;

	parts->count = 0;
	parts->parts = calloc(graph->mpi_count + 1, sizeof(*parts->parts));
	if (!parts->parts)
		return -ENOMEM;
	for (i = 0; i < graph->mpi_count; i++)
		if (graph->mpi[i].kind == IOT_KIND_mpi_part)
			parts->parts[parts->count++] = (struct mpi_part){
				.tgid = graph->tasks[graph->mpi[i].task].tgid,
				.request = graph->mpi[i].request,
				.offset_bytes = graph->mpi[i].offset_bytes,
				.call = i,
			};
	qsort(parts->parts, parts->count, sizeof(*parts->parts), compare_parts);
	return 0;
}

/* The first part of the request of a call; the others follow. */
static size_t first_of(const struct graph *graph, const struct mpi_parts *parts, u32 call)
{
	const struct mpi_part key = {
		.tgid = graph->tasks[graph->mpi[call].task].tgid,
		.request = graph->mpi[call].request,
	};
	size_t low = 0, high = parts->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_parts(&parts->parts[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_of(const struct graph *graph, const struct mpi_parts *parts, size_t at, u32 call)
{
	const struct graph_mpi *mpi = &graph->mpi[call];

	return at < parts->count && parts->parts[at].request == mpi->request &&
	       parts->parts[at].tgid == graph->tasks[mpi->task].tgid;
}

/* Partitions have no length if the type of their elements has none: then the place counts. */
static bool ends_before(const struct graph_mpi *part, u64 offset_bytes)
{
	return part->offset_bytes + part->length_bytes <= offset_bytes && part->offset_bytes < offset_bytes;
}

/**
 * mpi_parts_connect() - edges between the partitions of a message
 * @send, @receive: its ends, in graph.mpi
 *
 * Return: 0 or -ENOMEM.
 */
int mpi_parts_connect(struct graph *graph, const struct mpi_parts *parts, u32 send, u32 receive)
{
	size_t ready = first_of(graph, parts, send), found = first_of(graph, parts, receive), at;
	int err = 0;

	for (; is_of(graph, parts, found, receive) && !err; found++) {
		u32 call = parts->parts[found].call;
		const struct graph_mpi *arrived = &graph->mpi[call];
		u64 stop_bytes = arrived->offset_bytes + arrived->length_bytes;

		while (is_of(graph, parts, ready, send) &&
		       ends_before(&graph->mpi[parts->parts[ready].call], arrived->offset_bytes))
			ready++;
		for (at = ready; is_of(graph, parts, at, send) && !err; at++) {
			const struct graph_mpi *piece = &graph->mpi[parts->parts[at].call];

			if (piece->offset_bytes >= stop_bytes && piece->offset_bytes > arrived->offset_bytes)
				break;
			if (!mpi_looks_back(graph, parts->parts[at].call, call))
				mpi_contradicted(graph, call);
			err = mpi_wait_for(graph, parts->parts[at].call, call);
		}
	}
	return err;
}
