/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flight_ring.h - the last records of a session, in memory of a fixed size.
 *
 * The memory is divided into blocks, each with records of one stream in the order of their ends. Records leave in the
 * order of their ends over all streams, so the remaining ones are those after one moment. The caller makes room before
 * it adds, because it has a use for records that leave.
 */
#ifndef IOTAPE_FLIGHT_RING_H
#define IOTAPE_FLIGHT_RING_H

#include "lib/iotape.h"

#define FLIGHT_BLOCK_BYTES (16 << 10)

/**
 * struct flight_block - consecutive records of a stream
 * @next: newer one of the same stream; or the next free one
 * @at: where the first remaining record begins
 * @bytes: end of the last one
 * @sequence: number of the first remaining record in its stream
 * @lost: records of the stream that the kernel dropped until the last record here
 */
struct flight_block {
	struct flight_block *next;
	u32 at;
	u32 bytes;
	u64 sequence;
	u64 lost;
	u8 records[];
};

#define FLIGHT_BLOCK_ROOM (FLIGHT_BLOCK_BYTES - sizeof(struct flight_block))

/**
 * struct flight_stream - records of one CPU or mailbox, or of the collector
 * @first, @last: NULL if there are none
 * @head_ns: end of the first record
 * @next_sequence: number of the next record to arrive
 * @base_sequence: number after that of the last record that left
 * @lost_before: records that the kernel dropped until that one
 */
struct flight_stream {
	struct flight_block *first;
	struct flight_block *last;
	u64 head_ns;
	u64 next_sequence;
	u64 base_sequence;
	u64 lost_before;
};

/**
 * struct flight_ring - see above
 * @memory: of all blocks
 * @block_count: their number
 * @free: blocks without records
 * @streams: by number; that of the collector is the first, that of CPU n is n + 1
 * @heap: numbers of streams that have records, the one whose first record ends first on top
 */
struct flight_ring {
	u8 *memory;
	size_t block_count;
	struct flight_block *free;
	struct flight_stream *streams;
	u32 stream_count;
	u32 *heap;
	u32 heap_count;
};

/**
 * struct flight_batch - records to be added
 * @stream: their stream, see struct flight_ring
 * @sequence: number of the first one
 * @lost: records that the kernel dropped until the last one
 * @records: whole records
 * @bytes: of them
 */
struct flight_batch {
	u32 stream;
	u64 sequence;
	u64 lost;
	const u8 *records;
	size_t bytes;
};

int flight_ring_open(struct flight_ring *ring, u64 bytes);
void flight_ring_close(struct flight_ring *ring);
int flight_ring_reserve(struct flight_ring *ring, u32 stream);
bool flight_ring_has_room(const struct flight_ring *ring, const struct flight_batch *batch);
u64 flight_ring_add(struct flight_ring *ring, const struct flight_batch *batch);
bool flight_is_called_from(const struct iot_record *op, const struct iot_record *site);
bool flight_ring_oldest(const struct flight_ring *ring, u64 *end_ns, struct iot_record *record);
void flight_ring_drop(struct flight_ring *ring, bool is_next_oldest);

/* A record of a known kind, and the stream that it is of. */
typedef int (*flight_walk_fn)(void *context, u32 stream, const struct iot_record *record);

int flight_ring_walk(const struct flight_ring *ring, u32 stream, flight_walk_fn fn, void *context);
u32 flight_block_count(const struct flight_block *block);

#endif
