// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * packed.c - compressed programs, see packed.h.
 */
#include "packed.h"

#include "core/crc32c.h"

#define PROGRAM_MAX (1ull << 48) /* more than any program has, and sums with it do not overflow */

static_assert(sizeof(struct iot_packed_head) == 40, "layout of the header");

/**
 * iot_packed_count() - number of blocks
 * @head: accepted by iot_packed_check()
 */
u64 iot_packed_count(const struct iot_packed_head *head)
{
	u64 bytes = le64_to_cpu(head->program_bytes), first = le32_to_cpu(head->first_bytes);
	u32 block_bytes = le32_to_cpu(head->block_bytes);

	return bytes <= first ? 1 : 1 + (bytes - first + block_bytes - 1) / block_bytes;
}

/**
 * iot_packed_index() - where the lengths of the blocks are
 * @head: accepted by iot_packed_check()
 * @file_bytes: length of the file
 */
u64 iot_packed_index(const struct iot_packed_head *head, u64 file_bytes)
{
	return file_bytes - iot_packed_count(head) * sizeof(__le32);
}

/**
 * iot_packed_check() - check the header of a compressed program
 * @head: begins with its magic
 * @file_bytes: length of the file, at least that of the header
 * @reject: filled in if it is refused
 *
 * Return: 0 or a negative errno.
 */
int iot_packed_check(const struct iot_packed_head *head, u64 file_bytes, struct iot_reject *reject)
{
	u32 block_bytes = le32_to_cpu(head->block_bytes), first = le32_to_cpu(head->first_bytes);
	u64 bytes = le64_to_cpu(head->program_bytes);

	if (le16_to_cpu(head->major) != IOT_PACKED_MAJOR)
		return iot_refuse(reject, IOT_REJECT_program_major, offsetof(struct iot_packed_head, major));
	if (iot_crc32c(0, head, offsetof(struct iot_packed_head, head_crc)) != le32_to_cpu(head->head_crc) ||
	    le16_to_cpu(head->head_bytes) != sizeof(*head))
		return iot_refuse(reject, IOT_REJECT_packed_head, 0);
	if (le32_to_cpu(head->reserved) || le32_to_cpu(head->reserved2))
		return iot_refuse(reject, IOT_REJECT_reserved, offsetof(struct iot_packed_head, reserved));
	if (block_bytes < IOT_PACKED_BLOCK_MIN || block_bytes > IOT_PACKED_BLOCK_MAX || !first ||
	    first > block_bytes || !bytes || bytes > PROGRAM_MAX)
		return iot_refuse(reject, IOT_REJECT_packed_head, 0);
	if ((file_bytes - sizeof(*head)) / sizeof(__le32) < iot_packed_count(head))
		return iot_refuse(reject, IOT_REJECT_program_short, file_bytes);
	return 0;
}

/* Return: where a block begins in the program; the length of the program for the number after the last one. */
static u64 begin_of(const struct iot_packed *packed, u64 number)
{
	u64 bytes = le64_to_cpu(packed->head.program_bytes), begin;

	if (!number)
		return 0;
	begin = le32_to_cpu(packed->head.first_bytes) + (number - 1) * le32_to_cpu(packed->head.block_bytes);
	return begin < bytes ? begin : bytes;
}

static u64 number_at(const struct iot_packed *packed, u64 offset_bytes)
{
	u64 first = le32_to_cpu(packed->head.first_bytes);

	return offset_bytes < first ? 0 : 1 + (offset_bytes - first) / le32_to_cpu(packed->head.block_bytes);
}

/**
 * iot_packed_place() - compute from the lengths of the blocks where they are
 * @packed: @head was accepted, and @begins has its room
 * @lengths: of the blocks, from the end of the file
 * @file_bytes: length of the file
 * @reject: filled in if they are refused
 *
 * Return: 0 or a negative errno.
 */
int iot_packed_place(struct iot_packed *packed, const __le32 *lengths, u64 file_bytes, struct iot_reject *reject)
{
	u64 count = iot_packed_count(&packed->head), at = sizeof(packed->head), i;

	for (i = 0; i < count; i++) {
		u32 stored_bytes = le32_to_cpu(lengths[i]);

		if (!stored_bytes || stored_bytes > begin_of(packed, i + 1) - begin_of(packed, i))
			return iot_refuse(reject, IOT_REJECT_packed_index,
					  iot_packed_index(&packed->head, file_bytes) + i * sizeof(*lengths));
		packed->begins[i] = at;
		at += stored_bytes;
	}
	packed->begins[count] = at;
	if (at != iot_packed_index(&packed->head, file_bytes))
		return iot_refuse(reject, IOT_REJECT_packed_index, at);
	return 0;
}

static int unpack_block(struct iot_packed *packed, u64 number, void *bytes)
{
	size_t count = (size_t)(begin_of(packed, number + 1) - begin_of(packed, number));
	size_t stored_bytes = (size_t)(packed->begins[number + 1] - packed->begins[number]);
	void *stored = stored_bytes == count ? bytes : packed->stored;
	int err = packed->read(packed->context, packed->begins[number], stored, stored_bytes);

	if (err || stored == bytes)
		return err;
	err = packed->unpack(packed->context, bytes, count, stored, stored_bytes);
	if (err && !packed->bad)
		packed->bad = number + 1;
	return err;
}

static int hold_block(struct iot_packed *packed, u64 number)
{
	int err;

	if (packed->held == number + 1)
		return 0;
	packed->held = 0;
	err = unpack_block(packed, number, packed->block);
	if (!err)
		packed->held = number + 1;
	return err;
}

/**
 * iot_packed_read() - read bytes of a program
 * @packed: placed
 * @offset_bytes: in the program
 * @bytes: room for them; incomplete after an error
 * @count: their number
 *
 * Return: 0; -EBADMSG if a block cannot be decompressed, or the program is shorter; what iot_packed.read returns.
 */
int iot_packed_read(struct iot_packed *packed, u64 offset_bytes, void *bytes, size_t count)
{
	u64 program_bytes = le64_to_cpu(packed->head.program_bytes);
	u8 *to = bytes;
	int err = 0;

	if (offset_bytes > program_bytes || count > program_bytes - offset_bytes)
		return -EBADMSG;
	while (count && !err) {
		u64 number = number_at(packed, offset_bytes), begin = begin_of(packed, number);
		size_t left = (size_t)(begin_of(packed, number + 1) - offset_bytes);
		size_t taken = left < count ? left : count;

		if (offset_bytes == begin && taken == left) { /* a whole block needs no copy */
			err = unpack_block(packed, number, to);
		} else {
			err = hold_block(packed, number);
			if (!err)
				memcpy(to, packed->block + (offset_bytes - begin), taken);
		}
		to += taken;
		offset_bytes += taken;
		count -= taken;
	}
	return err;
}

/**
 * iot_packed_refuse() - the reason for which iot_packed_read() has returned -EBADMSG
 * @packed: placed
 * @file_bytes: length of the file
 * @reject: filled in
 *
 * Return: -EBADMSG.
 */
int iot_packed_refuse(const struct iot_packed *packed, u64 file_bytes, struct iot_reject *reject)
{
	if (packed->bad)
		return iot_refuse(reject, IOT_REJECT_packed_block, packed->begins[packed->bad - 1]);
	return iot_refuse(reject, IOT_REJECT_program_short, file_bytes);
}
