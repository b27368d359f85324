/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * blocks.h - operations and waits of a program that stay in its file: read in blocks, each of which
 * must have the same contents each time it is read.
 *
 * A program is verified once and run later, and its file may change in between. So the
 * checksum of a block, with a secret key, is noted when the block is first read; if it differs
 * in a later read, the block is refused. iot_program_verify() reads all blocks, one after the
 * other, before it checks any: so all blocks that it checks, and all that are read after it,
 * belong to the same program.
 *
 * Locking: iot_blocks_check() does not change a checksum once noted, so several threads may read
 * known blocks concurrently. The cache behind iot_blocks.reader is for one thread at a time.
 */
#ifndef IOTAPE_BLOCKS_H
#define IOTAPE_BLOCKS_H

#include "program.h"
#include "core/siphash.h"

#define IOT_BLOCK_BYTES 6144 /* a multiple of the sizes of operations and waits */
#define IOT_BLOCK_OPS	(IOT_BLOCK_BYTES / sizeof(struct iot_program_op))
#define IOT_BLOCK_WAITS (IOT_BLOCK_BYTES / sizeof(struct iot_program_wait))

/* Read bytes of the program's file. Return: 0; -EBADMSG if it has become too short; an errno. */
typedef int (*iot_read_fn)(void *context, u64 offset_bytes, void *bytes, size_t count);

/**
 * struct iot_blocks - the blocks of a program, and their checksums
 * @reader: for iot_program: one unit at a time, by the cache
 * @read: reads the file
 * @context: for @read
 * @key: random
 * @head: of the program, as it was read first
 * @op_blocks: number of blocks of operations; those of waits come after
 * @count: number of all
 * @digests: of each block, 0 before it was read; room for @count
 * @slots: number of blocks in the cache
 * @cached: number of the block in each slot, plus 1; room for @slots, zero at first
 * @cache: room for @slots blocks
 */
struct iot_blocks {
	struct iot_program_reader reader;
	iot_read_fn read;
	void *context;
	struct iot_siphash_key key;
	const struct iot_program_head *head;
	u64 op_blocks;
	u64 count;
	u64 *digests;
	u32 slots;
	u64 *cached;
	u8 *cache;
};

void iot_blocks_init(struct iot_blocks *blocks, const struct iot_program_head *head);
int iot_blocks_read(const struct iot_blocks *blocks, u64 number, u32 count, void *bytes);
int iot_blocks_check(const struct iot_blocks *blocks, u64 number, const void *bytes);
int iot_blocks_get(const struct iot_blocks *blocks, u64 number, void *bytes);

/* Do operations and waits stay in the file, if memory may have @resident_bytes of them? */
static inline bool iot_blocks_are_needed(const struct iot_program_head *head, u64 resident_bytes)
{
	return iot_section_bytes(head, IOT_SECTION_OPS) + iot_section_bytes(head, IOT_SECTION_WAITS) >
	       resident_bytes;
}

/* The block that an element of IOT_SECTION_OPS or IOT_SECTION_WAITS is in. */
static inline u64 iot_blocks_number(const struct iot_blocks *blocks, u32 section, u64 index)
{
	return section == IOT_SECTION_OPS ? index / IOT_BLOCK_OPS :
					    blocks->op_blocks + index / IOT_BLOCK_WAITS;
}

#endif
