// SPDX-License-Identifier: GPL-2.0-only
/*
 * flight_ring.c - blocks of records, and the order in which records leave.
 */
#include "flight_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STREAMS_MAX (1u << 20)

/**
 * flight_ring_open() - take the memory
 * @ring: filled in; to be freed by flight_ring_close(), also after an error
 * @bytes: of all blocks, at least one
 *
 * Return: 0 or -ENOMEM.
 */
int flight_ring_open(struct flight_ring *ring, u64 bytes)
{
	size_t i;

	*ring = (struct flight_ring){ .block_count = bytes / FLIGHT_BLOCK_BYTES };
	if (!ring->block_count)
		ring->block_count = 1;
	/* All pages are there from the beginning: a machine that is short of memory later does not matter. */
	ring->memory = mmap(NULL, ring->block_count * FLIGHT_BLOCK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (ring->memory == MAP_FAILED) {
		ring->memory = NULL;
		return -ENOMEM;
	}
	for (i = ring->block_count; i > 0; i--) {
		struct flight_block *block = (void *)(ring->memory + (i - 1) * FLIGHT_BLOCK_BYTES);

		block->next = ring->free;
		ring->free = block;
	}
	return 0;
}

/**
 * flight_ring_close() - give the memory back
 */
void flight_ring_close(struct flight_ring *ring)
{
	if (ring->memory)
		munmap(ring->memory, ring->block_count * FLIGHT_BLOCK_BYTES);
	free(ring->streams);
	free(ring->heap);
	*ring = (struct flight_ring){};
}

/**
 * flight_ring_reserve() - make sure that there is a place for a stream
 * @ring: the records
 * @stream: its number
 *
 * The kernel numbers CPUs and mailboxes from 0 without gaps, and mailboxes are limited.
 *
 * Return: 0; -EINVAL if the number is too large; -ENOMEM.
 */
int flight_ring_reserve(struct flight_ring *ring, u32 stream)
{
	struct flight_stream *streams;
	u32 count = stream + 1, *heap;

	if (stream < ring->stream_count)
		return 0;
	if (stream >= STREAMS_MAX)
		return -EINVAL;
	heap = reallocarray(ring->heap, count, sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	ring->heap = heap;
	streams = reallocarray(ring->streams, count, sizeof(*streams));
	if (!streams)
		return -ENOMEM;
	memset(streams + ring->stream_count, 0, (count - ring->stream_count) * sizeof(*streams));
	ring->streams = streams;
	ring->stream_count = count;
	return 0;
}

/* -- the order of streams --------------------------------------------------------------------- */

static bool is_before(const struct flight_ring *ring, u32 a, u32 b)
{
	const struct flight_stream *s = ring->streams;

	return s[a].head_ns != s[b].head_ns ? s[a].head_ns < s[b].head_ns : a < b;
}

static void heap_push(struct flight_ring *ring, u32 stream)
{
	u32 at = ring->heap_count++, above;

	while (at && is_before(ring, stream, ring->heap[above = (at - 1) / 2])) {
		ring->heap[at] = ring->heap[above];
		at = above;
	}
	ring->heap[at] = stream;
}

static void heap_sink(struct flight_ring *ring)
{
	u32 *heap = ring->heap, stream = heap[0], at = 0, child;

	while ((child = 2 * at + 1) < ring->heap_count) {
		if (child + 1 < ring->heap_count && is_before(ring, heap[child + 1], heap[child]))
			child++;
		if (!is_before(ring, heap[child], stream))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = stream;
}

/* -- records come ------------------------------------------------------------------------------ */

static size_t record_bytes(const u8 *p, size_t available)
{
	size_t bytes = available < IOT_RECORD_HEAD_BYTES ? 0 : iot_get_u16(p);

	return bytes < IOT_RECORD_HEAD_BYTES || bytes > available ? 0 : bytes;
}

/* A gap in the numbers, or a record that was dropped, begins a block: then each block has no gap. */
static bool may_append(const struct flight_stream *stream, const struct flight_batch *batch)
{
	return stream->last && batch->sequence == stream->next_sequence && batch->lost == stream->last->lost;
}

/* Bytes of the records that fit. */
static size_t fitting(const u8 *records, size_t bytes, size_t room, u32 *count)
{
	size_t at = 0, n;

	*count = 0;
	while ((n = record_bytes(records + at, bytes - at)) && at + n <= room) {
		at += n;
		++*count;
	}
	return at;
}

/**
 * flight_ring_has_room() - may a batch be added?
 * @ring: the records
 * @batch: of a stream that has a place
 */
bool flight_ring_has_room(const struct flight_ring *ring, const struct flight_batch *batch)
{
	const struct flight_stream *stream = &ring->streams[batch->stream];
	const struct flight_block *block = ring->free;
	size_t at = 0, n;
	u32 count;

	if (may_append(stream, batch))
		at = fitting(batch->records, batch->bytes, FLIGHT_BLOCK_ROOM - stream->last->bytes, &count);
	for (; at < batch->bytes; block = block->next) {
		n = fitting(batch->records + at, batch->bytes - at, FLIGHT_BLOCK_ROOM, &count);
		if (!n)
			return true; /* other messages take no room */
		if (!block)
			return false;
		at += n;
	}
	return true;
}

static u64 head_end_ns(const struct flight_stream *stream)
{
	const struct flight_block *block = stream->first;
	struct iot_record record;

	if (iot_record_decode(block->records + block->at, block->bytes - block->at, &record) < 0 ||
	    !iot_kind_info(record.kind))
		return stream->head_ns; /* its contents are unknown: it leaves together with the previous record */
	return iot_record_end_ns(&record);
}

static struct flight_block *block_begin(struct flight_ring *ring, struct flight_stream *stream, u64 sequence, u64 lost)
{
	struct flight_block *block = ring->free;

	ring->free = block->next;
	*block = (struct flight_block){ .sequence = sequence, .lost = lost };
	if (stream->last)
		stream->last->next = block;
	else
		stream->first = block;
	stream->last = block;
	return block;
}

/**
 * flight_ring_add() - add records
 * @ring: has room for them
 * @batch: stays the caller's
 *
 * Return: the number of records.
 */
u64 flight_ring_add(struct flight_ring *ring, const struct flight_batch *batch)
{
	struct flight_stream *stream = &ring->streams[batch->stream];
	struct flight_block *block = may_append(stream, batch) ? stream->last : NULL;
	bool is_first = !stream->first;
	u64 sequence = batch->sequence;
	size_t at = 0, n;
	u32 count;

	while (at < batch->bytes) {
		n = fitting(batch->records + at, batch->bytes - at, FLIGHT_BLOCK_ROOM - (block ? block->bytes : 0), &count);
		if (!n && block && block->bytes) {
			block = NULL;
			continue;
		}
		if (!n)
			break;
		if (!block)
			block = block_begin(ring, stream, sequence, batch->lost);
		memcpy(block->records + block->bytes, batch->records + at, n);
		block->bytes += (u32)n;
		sequence += count;
		at += n;
	}
	stream->next_sequence = sequence;
	if (is_first && stream->first) {
		stream->head_ns = head_end_ns(stream);
		heap_push(ring, batch->stream);
	}
	return sequence - batch->sequence;
}

/**
 * flight_is_called_from() - is a record the operation whose call site another one is?
 * @op: any record of a known kind
 * @site: of the kind called_from; it precedes its operation
 */
bool flight_is_called_from(const struct iot_record *op, const struct iot_record *site)
{
	const struct iot_kind_info *info = iot_kind_info(op->kind);

	return info && info->group == IOT_GROUP_op && op->op.task == site->called_from.task && op->op.op == site->called_from.op;
}

/* -- records leave ----------------------------------------------------------------------------- */

/**
 * flight_ring_oldest() - the record that leaves next
 * @ring: the records
 * @end_ns: out: its end
 * @record: out: valid until it is dropped; its kind is 0 if it is not known
 *
 * Return: false if there is none.
 */
bool flight_ring_oldest(const struct flight_ring *ring, u64 *end_ns, struct iot_record *record)
{
	const struct flight_stream *stream;
	const struct flight_block *block;

	if (!ring->heap_count)
		return false;
	stream = &ring->streams[ring->heap[0]];
	block = stream->first;
	*end_ns = stream->head_ns;
	if (iot_record_decode(block->records + block->at, block->bytes - block->at, record) < 0 ||
	    !iot_kind_info(record->kind))
		*record = (struct iot_record){};
	return true;
}

/* The first block has no records left. */
static void block_end(struct flight_ring *ring, struct flight_stream *stream)
{
	struct flight_block *block = stream->first;

	stream->first = block->next;
	if (!stream->first)
		stream->last = NULL;
	block->next = ring->free;
	ring->free = block;
}

/**
 * flight_ring_drop() - the oldest record leaves
 * @ring: has one
 * @is_next_oldest: the record behind it in its stream is the oldest then, though it ended a little later
 */
void flight_ring_drop(struct flight_ring *ring, bool is_next_oldest)
{
	struct flight_stream *stream = &ring->streams[ring->heap[0]];
	struct flight_block *block = stream->first;
	u64 end_ns = stream->head_ns;

	block->at += (u32)record_bytes(block->records + block->at, block->bytes - block->at);
	stream->base_sequence = ++block->sequence;
	stream->lost_before = block->lost;
	if (block->at >= block->bytes)
		block_end(ring, stream);
	if (stream->first)
		stream->head_ns = is_next_oldest ? end_ns : head_end_ns(stream);
	else
		ring->heap[0] = ring->heap[--ring->heap_count];
	if (ring->heap_count)
		heap_sink(ring);
}

/* -- all of them ------------------------------------------------------------------------------- */

static int walk_block(const struct flight_block *block, u32 stream, flight_walk_fn fn, void *context)
{
	struct iot_record record;
	size_t at = block->at, n;
	int err = 0;

	for (; !err && (n = record_bytes(block->records + at, block->bytes - at)); at += n)
		if (iot_record_decode(block->records + at, n, &record) > 0 && iot_kind_info(record.kind))
			err = fn(context, stream, &record);
	return err;
}

/**
 * flight_ring_walk() - call a function for each record of a stream, in their order
 * @ring: the records
 * @stream: that has a place
 * @fn: called; an error of it, a negative errno, ends the walk
 * @context: for @fn
 *
 * Return: 0 or the error.
 */
int flight_ring_walk(const struct flight_ring *ring, u32 stream, flight_walk_fn fn, void *context)
{
	const struct flight_block *block;
	int err = 0;

	for (block = ring->streams[stream].first; block && !err; block = block->next)
		err = walk_block(block, stream, fn, context);
	return err;
}

/**
 * flight_block_count() - the number of records in a block
 */
u32 flight_block_count(const struct flight_block *block)
{
	u32 count;

	fitting(block->records + block->at, block->bytes - block->at, FLIGHT_BLOCK_ROOM, &count);
	return count;
}
