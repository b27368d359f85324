// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * unpack.c - the payload of a chunk: read, checked, decompressed, and columns made records. Nothing in it is trusted.
 */
#include "unpack.h"

#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "columns.h"
#include "core/crc32c.h"
#include "core/replay/program.h"
#include "core/trace/record.h"

/**
 * read_exactly() - read this number of bytes or fail
 *
 * Return: 0; -ENODATA at the end of the file; or another negative errno.
 */
int read_exactly(int fd, u64 offset_bytes, void *data, size_t bytes)
{
	u8 *p = data;
	ssize_t n;

	while (bytes) {
		n = pread(fd, p, bytes, (off_t)offset_bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		p += n;
		bytes -= (size_t)n;
		offset_bytes += (u64)n;
	}
	return 0;
}

/**
 * refuse_io() - note that a place could not be read
 *
 * Return: @err.
 */
int refuse_io(struct iot_reject *reject, u64 offset_bytes, int err)
{
	iot_refuse(reject, err == -ENOMEM ? IOT_REJECT_memory : IOT_REJECT_io, offset_bytes);
	return err;
}

/**
 * unpacker_free() - free the memory of an unpacker, which may be used again
 */
void unpacker_free(struct unpacker *unpacker)
{
	free(unpacker->stored);
	free(unpacker->columns);
	columns_decoder_close(unpacker->decoder);
	*unpacker = (struct unpacker){};
}

static int reserve(u8 **bytes, size_t *room, size_t count)
{
	if (count <= *room)
		return 0;
	free(*bytes);
	*bytes = malloc(count);
	*room = *bytes ? count : 0;
	return *bytes ? 0 : -ENOMEM;
}

static int decompress(const u8 *stored, size_t stored_bytes, void *raw, size_t raw_bytes)
{
	size_t n = ZSTD_decompress(raw, raw_bytes, stored, stored_bytes);

	return ZSTD_isError(n) || n != raw_bytes ? -EBADMSG : 0;
}

static int unpack_columns(struct unpacker *unpacker, const struct iot_chunk_head *head, void *raw)
{
	size_t stored_bytes = le32_to_cpu(head->stored_bytes), bytes;
	int err;

	if (stored_bytes < IOT_COLUMNS_HEAD_BYTES)
		return -EBADMSG;
	bytes = iot_get_u32(unpacker->stored);
	if (bytes > IOT_COLUMNS_MAX_BYTES)
		return -EBADMSG;
	if (reserve(&unpacker->columns, &unpacker->column_room, bytes + 1) ||
	    (!unpacker->decoder && columns_decoder_open(&unpacker->decoder)))
		return -ENOMEM;
	err = decompress(unpacker->stored + IOT_COLUMNS_HEAD_BYTES, stored_bytes - IOT_COLUMNS_HEAD_BYTES,
			 unpacker->columns, bytes);
	if (err)
		return err;
	return columns_decode(unpacker->decoder, unpacker->columns, bytes, raw, le32_to_cpu(head->raw_bytes),
			      le32_to_cpu(head->count));
}

static int unpack(struct unpacker *unpacker, const struct iot_chunk_head *head, void *raw)
{
	if (head->codec == IOT_CODEC_COLUMNS)
		return unpack_columns(unpacker, head, raw);
	return decompress(unpacker->stored, le32_to_cpu(head->stored_bytes), raw, le32_to_cpu(head->raw_bytes));
}

/**
 * chunk_unpack() - read the payload of a chunk
 * @unpacker: what it needs
 * @fd: the trace
 * @offset_bytes: where the chunk begins
 * @head: its head, checked
 * @raw: out: room for raw_bytes
 * @reject: filled in if it is refused
 *
 * Return: 0 or a negative errno.
 */
int chunk_unpack(struct unpacker *unpacker, int fd, u64 offset_bytes, const struct iot_chunk_head *head, void *raw,
		 struct iot_reject *reject)
{
	size_t stored_bytes = le32_to_cpu(head->stored_bytes);
	bool is_packed = head->codec != IOT_CODEC_NONE;
	u8 *stored = raw;
	int err;

	if (!is_packed && head->stored_bytes != head->raw_bytes)
		return iot_refuse(reject, IOT_REJECT_chunk_size, offset_bytes);
	if (is_packed) {
		if (reserve(&unpacker->stored, &unpacker->stored_room, stored_bytes + 1))
			return refuse_io(reject, offset_bytes, -ENOMEM);
		stored = unpacker->stored;
	}
	err = read_exactly(fd, offset_bytes + sizeof(*head), stored, stored_bytes);
	if (err)
		return refuse_io(reject, offset_bytes, err);
	if (head->type != IOT_CHUNK_OPEN && iot_crc32c(0, stored, stored_bytes) != le32_to_cpu(head->payload_crc))
		return iot_refuse(reject, IOT_REJECT_chunk_crc, offset_bytes);
	err = is_packed ? unpack(unpacker, head, raw) : 0;
	if (err == -ENOMEM)
		return refuse_io(reject, offset_bytes, err);
	return err ? iot_refuse(reject, IOT_REJECT_chunk_data, offset_bytes) : 0;
}
