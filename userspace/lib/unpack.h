/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * unpack.h - the payload of a chunk: decompressed, and columns as records.
 */
#ifndef IOTAPE_LIB_UNPACK_H
#define IOTAPE_LIB_UNPACK_H

#include <iotape/reject.h>
#include <iotape/trace_file.h>

#include "core/port.h"

struct columns_decoder;

/**
 * struct unpacker - what chunk_unpack() needs; begins as zeros, and keeps its memory for the next chunk
 * @stored: payload as stored
 * @columns: columns after decompression
 */
struct unpacker {
	u8 *stored;
	size_t stored_room;
	u8 *columns;
	size_t column_room;
	struct columns_decoder *decoder;
};

void unpacker_free(struct unpacker *unpacker);
int chunk_unpack(struct unpacker *unpacker, int fd, u64 offset_bytes, const struct iot_chunk_head *head, void *raw,
		 struct iot_reject *reject);
int refuse_io(struct iot_reject *reject, u64 offset_bytes, int err);
int read_exactly(int fd, u64 offset_bytes, void *data, size_t bytes);

#endif
