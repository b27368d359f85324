// SPDX-License-Identifier: GPL-2.0-only
/*
 * read_buffer.c - the pages of a worker's buffer are in memory before its first read, as those of a program that has used
 * its buffer before; see core/replay/fresh.h for memory that is new.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <iotape/schema.h>

#include "core/replay/fresh.h"
#include "read_buffer.h"

/**
 * read_buffer_touched_bytes() - the part of a buffer that reads of a program expect in memory
 * @program: verified
 *
 * Return: bytes from the beginning of the buffer, at most IOT_WORKER_BUFFER_BYTES.
 */
u64 read_buffer_touched_bytes(const struct iot_program *program)
{
	u64 page_bytes = (u64)sysconf(_SC_PAGESIZE), most_bytes = 0, i;
	const struct iot_program_op *op;
	struct iot_program_op room;
	struct iot_fresh fresh;

	for (i = 0; i < program->op_count; i++) {
		op = iot_program_op_at(program, i, &room);
		if (le16_to_cpu(op->kind) != IOT_KIND_read)
			continue;
		fresh = iot_fresh_of(op, page_bytes);
		if (fresh.touched_bytes > most_bytes)
			most_bytes = fresh.touched_bytes;
	}
	return most_bytes;
}

/**
 * read_buffer_touch() - bring the beginning of a buffer into memory
 * @buffer: a mapping of its own that begins with a page, IOT_WORKER_BUFFER_BYTES
 * @bytes: from read_buffer_touched_bytes()
 *
 * Small reads get small pages: a huge page would be cleared as a whole. If this fails, the first reads take page faults.
 */
void read_buffer_touch(void *buffer, u64 bytes)
{
	if (bytes < IOT_FRESH_HUGE_BYTES)
		madvise(buffer, IOT_WORKER_BUFFER_BYTES, MADV_NOHUGEPAGE);
	if (bytes)
		madvise(buffer, bytes, MADV_POPULATE_WRITE);
}
