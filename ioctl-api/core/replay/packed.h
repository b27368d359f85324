/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * packed.h - a compressed program: any bytes of it, from the blocks that have them.
 *
 * Nothing in the file is trusted. The bytes that come out of it are a program as it may be in a file by
 * itself, and are not trusted either.
 */
#ifndef IOTAPE_PACKED_H
#define IOTAPE_PACKED_H

#include "blocks.h"

/* Decompress a block to exactly @count bytes. Return: 0; -EBADMSG if it is no such block. */
typedef int (*iot_unpack_fn)(void *context, void *bytes, size_t count, const void *stored, size_t stored_bytes);

/**
 * struct iot_packed - a compressed program that is read
 * @head: accepted by iot_packed_check()
 * @begins: where each block begins in the file, and the end of the last one; iot_packed_count() + 1
 * @read: reads the file
 * @unpack: decompresses a block
 * @context: for both
 * @stored: room for a block as it is stored, block_bytes
 * @block: room for a block of which a part was asked for, block_bytes
 * @held: number of the block in @block, plus 1; 0 for none
 * @bad: number of the first block that could not be decompressed, plus 1; 0 for none
 *
 * Locking: one thread at a time.
 */
struct iot_packed {
	struct iot_packed_head head;
	u64 *begins;
	iot_read_fn read;
	iot_unpack_fn unpack;
	void *context;
	u8 *stored;
	u8 *block;
	u64 held;
	u64 bad;
};

/* Does a file begin like a compressed program? @magic: its first IOT_PROGRAM_MAGIC_BYTES. */
static inline bool iot_is_packed(const void *magic)
{
	return !memcmp(magic, IOT_PACKED_MAGIC, IOT_PROGRAM_MAGIC_BYTES);
}

int iot_packed_check(const struct iot_packed_head *head, u64 file_bytes, struct iot_reject *reject);
u64 iot_packed_count(const struct iot_packed_head *head);
u64 iot_packed_index(const struct iot_packed_head *head, u64 file_bytes);
int iot_packed_place(struct iot_packed *packed, const __le32 *lengths, u64 file_bytes, struct iot_reject *reject);
int iot_packed_refuse(const struct iot_packed *packed, u64 file_bytes, struct iot_reject *reject);
int iot_packed_read(struct iot_packed *packed, u64 offset_bytes, void *bytes, size_t count);

#endif
