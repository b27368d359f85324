/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * program_source.h - the bytes of a program, from a file that may be compressed.
 */
#ifndef IOTAPE_LIB_PROGRAM_SOURCE_H
#define IOTAPE_LIB_PROGRAM_SOURCE_H

#include "core/replay/packed.h"

struct ZSTD_DCtx_s;

/**
 * struct program_source - an open file of a program
 * @fd: of the file, -1 if it is not open
 * @file_bytes: length of the file
 * @byte_count: length of the program, as far as the file states it
 * @is_packed: it is compressed
 * @packed: if so
 * @unpacker: if so
 */
struct program_source {
	int fd;
	u64 file_bytes;
	u64 byte_count;
	bool is_packed;
	struct iot_packed packed;
	struct ZSTD_DCtx_s *unpacker;
};

int program_source_open(struct program_source *source, const char *path, struct iot_reject *reject);
int program_source_read(struct program_source *source, u64 offset_bytes, void *bytes, size_t count);
int program_source_refuse(const struct program_source *source, int err, struct iot_reject *reject);
void program_source_close(struct program_source *source);

#endif
