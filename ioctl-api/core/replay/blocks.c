// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * blocks.c - blocks of a program's file, see blocks.h.
 */
#include "blocks.h"

static_assert(IOT_BLOCK_BYTES % sizeof(struct iot_program_op) == 0, "whole operations in a block");
static_assert(IOT_BLOCK_BYTES % sizeof(struct iot_program_wait) == 0, "whole waits in a block");

static u64 section_blocks(const struct iot_program_head *head, u32 section)
{
	return (iot_section_bytes(head, section) + IOT_BLOCK_BYTES - 1) / IOT_BLOCK_BYTES;
}

/* Return: bytes in some blocks of a section, of which all but the last one are full; and where they are. */
static size_t place_of(const struct iot_blocks *blocks, u64 number, u32 count, u64 *offset_bytes)
{
	u32 section = number < blocks->op_blocks ? IOT_SECTION_OPS : IOT_SECTION_WAITS;
	u64 at = (section == IOT_SECTION_OPS ? number : number - blocks->op_blocks) *
		 IOT_BLOCK_BYTES;
	u64 left = iot_section_bytes(blocks->head, section) - at, wanted = (u64)count * IOT_BLOCK_BYTES;

	*offset_bytes = le64_to_cpu(blocks->head->sections[section].offset_bytes) + at;
	return (size_t)(left < wanted ? left : wanted);
}

/**
 * iot_blocks_read() - read blocks that are to be checked
 * @blocks: initialized
 * @number: of the first block
 * @count: how many, all in one section
 * @bytes: room for @count times IOT_BLOCK_BYTES
 *
 * Return: 0; what iot_blocks.read returns.
 */
int iot_blocks_read(const struct iot_blocks *blocks, u64 number, u32 count, void *bytes)
{
	u64 offset_bytes;
	size_t byte_count = place_of(blocks, number, count, &offset_bytes);

	return blocks->read(blocks->context, offset_bytes, bytes, byte_count);
}

/**
 * iot_blocks_check() - check that a block is the same as at its verification
 * @blocks: initialized
 * @number: of the block
 * @bytes: of it, as they were read; not shared
 *
 * Return: 0; -EBADMSG, also if there is no such block.
 */
int iot_blocks_check(const struct iot_blocks *blocks, u64 number, const void *bytes)
{
	u64 offset_bytes, digest;
	size_t byte_count;

	if (number >= blocks->count)
		return -EBADMSG;
	byte_count = place_of(blocks, number, 1, &offset_bytes);
	digest = iot_siphash(&blocks->key, bytes, byte_count);
	if (!digest)
		digest = 1; /* 0 stands for none */
	if (!blocks->digests[number])
		blocks->digests[number] = digest;
	return blocks->digests[number] == digest ? 0 : -EBADMSG;
}

/**
 * iot_blocks_get() - read a block, and check it
 * @blocks: initialized
 * @number: of the block
 * @bytes: room for IOT_BLOCK_BYTES
 *
 * Return: as iot_blocks_read() and iot_blocks_check().
 */
int iot_blocks_get(const struct iot_blocks *blocks, u64 number, void *bytes)
{
	int err = number < blocks->count ? iot_blocks_read(blocks, number, 1, bytes) : -EBADMSG;

	return err ? err : iot_blocks_check(blocks, number, bytes);
}

static u32 slot_of(const struct iot_blocks *blocks, u64 number)
{
	return (u32)((number * 0x9e3779b97f4a7c15ull >> 32) % blocks->slots);
}

static void read_unit(struct iot_program_reader *reader, u32 section, u64 index, void *unit)
{
	struct iot_blocks *blocks = (struct iot_blocks *)reader; /* its first member */
	u64 number = iot_blocks_number(blocks, section, index);
	u32 slot = slot_of(blocks, number);
	u8 *block = blocks->cache + (size_t)slot * IOT_BLOCK_BYTES;
	size_t size = section == IOT_SECTION_OPS ? sizeof(struct iot_program_op) :
						   sizeof(struct iot_program_wait);

	if (blocks->cached[slot] != number + 1 && !reader->error) {
		blocks->cached[slot] = 0;
		reader->error = iot_blocks_get(blocks, number, block);
		blocks->cached[slot] = number + 1;
	}
	if (reader->error)
		memset(unit, 0, size);
	else
		memcpy(unit, block + index * size % IOT_BLOCK_BYTES, size);
}

/**
 * iot_blocks_init() - nothing has been read
 * @blocks: @read, @context, and @key are set; memory is to follow, as much as its numbers say
 * @head: of the program, accepted by iot_program_size(); it stays where it is
 */
void iot_blocks_init(struct iot_blocks *blocks, const struct iot_program_head *head)
{
	blocks->reader = (struct iot_program_reader){ .read = read_unit };
	blocks->head = head;
	blocks->op_blocks = section_blocks(head, IOT_SECTION_OPS);
	blocks->count = blocks->op_blocks + section_blocks(head, IOT_SECTION_WAITS);
}
