/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * read_buffer.h - the memory that the reads of a worker fill, in every engine.
 */
#ifndef IOTAPE_READ_BUFFER_H
#define IOTAPE_READ_BUFFER_H

#include "core/replay/program.h"

u64 read_buffer_touched_bytes(const struct iot_program *program);
void read_buffer_touch(void *buffer, u64 bytes);

#endif
