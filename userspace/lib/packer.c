// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * packer.c - compresses a program in blocks, each of which can be read by itself.
 */
#include "packer.h"

#include <iotape/program.h>
#include <stdlib.h>
#include <zstd.h>

#include "core/crc32c.h"
#include "core/replay/packed.h"

/*
 * The unit in which an engine reads operations: so no byte is decompressed in vain. Larger blocks
 * would be a tenth smaller, a faster level as well as a slower one makes no difference.
 */
#define BLOCK_BYTES IOT_BLOCK_BYTES
#define ZSTD_LEVEL  1

#define OUT_BYTES   (256u << 10) /* so much is written at once */

/**
 * struct packer - the blocks so far
 * @part: the output
 * @zstd: compresses
 * @head: of the output
 * @block: the block that is being filled
 * @used_bytes: bytes in it
 * @wanted_bytes: bytes of the program in this block when it is full
 * @added_bytes: bytes of the program so far
 * @out: end of the output, not written yet
 * @out_bytes: bytes in it
 * @written_bytes: bytes of the output before it
 * @lengths: stored length of each block; room for all
 * @count: blocks so far
 */
struct packer {
	const struct iot_part *part;
	ZSTD_CCtx *zstd;
	struct iot_packed_head head;
	u8 block[BLOCK_BYTES];
	size_t used_bytes;
	size_t wanted_bytes;
	u64 added_bytes;
	u8 out[OUT_BYTES];
	size_t out_bytes;
	u64 written_bytes;
	__le32 *lengths;
	u64 count;
};

/**
 * packer_open() - begin to compress a program
 * @part: the output, empty
 * @program_bytes: length of the program
 * @ops_bytes: where its operations begin: blocks begin there, too
 * @packer: out: to be freed by packer_close()
 *
 * Return: 0 or -ENOMEM.
 */
int packer_open(const struct iot_part *part, u64 program_bytes, u64 ops_bytes, struct packer **packer)
{
	struct packer *p = calloc(1, sizeof(*p));
	u32 first_bytes = (u32)(ops_bytes % BLOCK_BYTES);

	if (!p)
		return -ENOMEM;
	if (!first_bytes)
		first_bytes = BLOCK_BYTES;
	p->part = part;
	p->head = (struct iot_packed_head){
		.magic = IOT_PACKED_MAGIC,
		.major = cpu_to_le16(IOT_PACKED_MAJOR),
		.head_bytes = cpu_to_le16(sizeof(p->head)),
		.block_bytes = cpu_to_le32(BLOCK_BYTES),
		.first_bytes = cpu_to_le32(first_bytes),
		.program_bytes = cpu_to_le64(program_bytes),
	};
	p->head.head_crc = cpu_to_le32(iot_crc32c(0, &p->head, offsetof(struct iot_packed_head, head_crc)));
	p->wanted_bytes = first_bytes;
	p->out_bytes = sizeof(p->head);
	memcpy(p->out, &p->head, sizeof(p->head));
	p->lengths = malloc(iot_packed_count(&p->head) * sizeof(*p->lengths));
	p->zstd = ZSTD_createCCtx();
	if (!p->lengths || !p->zstd) {
		packer_close(p);
		return -ENOMEM;
	}
	*packer = p;
	return 0;
}

static int write_out(struct packer *packer)
{
	int err = iot_part_write(packer->part, packer->written_bytes, packer->out, packer->out_bytes);

	packer->written_bytes += packer->out_bytes;
	packer->out_bytes = 0;
	return err;
}

static int end_block(struct packer *packer)
{
	size_t count = packer->used_bytes, stored;
	int err = 0;

	if (sizeof(packer->out) - packer->out_bytes < ZSTD_COMPRESSBOUND(BLOCK_BYTES))
		err = write_out(packer);
	if (err)
		return err;
	stored = ZSTD_compressCCtx(packer->zstd, packer->out + packer->out_bytes,
				   sizeof(packer->out) - packer->out_bytes, packer->block, count, ZSTD_LEVEL);
	if (ZSTD_isError(stored))
		return -ENOMEM;
	if (stored >= count) {
		memcpy(packer->out + packer->out_bytes, packer->block, count);
		stored = count;
	}
	packer->out_bytes += stored;
	packer->lengths[packer->count++] = cpu_to_le32((u32)stored);
	packer->used_bytes = 0;
	packer->wanted_bytes = BLOCK_BYTES;
	return 0;
}

/**
 * packer_add() - compress the next bytes of the program
 * @packer: has had fewer bytes than packer_open() was given
 * @bytes: of the program
 * @count: their number
 *
 * Return: 0 or a negative errno.
 */
int packer_add(struct packer *packer, const void *bytes, size_t count)
{
	const u8 *from = bytes;
	int err = 0;

	packer->added_bytes += count;
	assert(packer->added_bytes <= le64_to_cpu(packer->head.program_bytes));
	while (count && !err) {
		size_t left = packer->wanted_bytes - packer->used_bytes, taken = left < count ? left : count;

		memcpy(packer->block + packer->used_bytes, from, taken);
		packer->used_bytes += taken;
		from += taken;
		count -= taken;
		if (taken == left)
			err = end_block(packer);
	}
	return err;
}

/**
 * packer_end() - write the end of the output
 * @packer: has had all bytes of the program
 *
 * Return: 0 or a negative errno.
 */
int packer_end(struct packer *packer)
{
	int err = packer->used_bytes ? end_block(packer) : 0;

	assert(packer->added_bytes == le64_to_cpu(packer->head.program_bytes));
	if (!err)
		err = write_out(packer);
	return err ? err : iot_part_write(packer->part, packer->written_bytes, packer->lengths,
					  packer->count * sizeof(*packer->lengths));
}

/**
 * packer_close() - free a packer; NULL is allowed
 */
void packer_close(struct packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->zstd);
	free(packer->lengths);
	free(packer);
}
