// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * trace_head.c - the beginning of a trace file, which is not trusted.
 */
#include "trace_head.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "core/crc32c.h"
#include "core/replay/program.h"
#include "unpack.h"

static int check_head(const struct iot_trace_head *head, struct iot_reject *reject)
{
	if (memcmp(head->magic, IOT_TRACE_MAGIC, IOT_TRACE_MAGIC_BYTES))
		return iot_refuse(reject, IOT_REJECT_trace_magic, 0);
	if (le16_to_cpu(head->major) != IOT_TRACE_MAJOR)
		return iot_refuse(reject, IOT_REJECT_trace_major, 8);
	if (le16_to_cpu(head->head_bytes) != sizeof(*head) ||
	    iot_crc32c(0, head, offsetof(struct iot_trace_head, head_crc)) !=
		    le32_to_cpu(head->head_crc))
		return iot_refuse(reject, IOT_REJECT_trace_head, 0);
	if (le32_to_cpu(head->features_incompat) & ~IOT_TRACE_COLUMNS)
		return iot_refuse(reject, IOT_REJECT_trace_feature, 16);
	if (le32_to_cpu(head->schema_bytes) > IOT_TRACE_SCHEMA_MAX_BYTES)
		return iot_refuse(reject, IOT_REJECT_trace_schema, 20);
	return 0;
}

static int read_head(int fd, struct trace_begin *begin, struct iot_reject *reject)
{
	struct stat stat;
	int err;

	if (fstat(fd, &stat))
		return refuse_io(reject, 0, -errno);
	if (!S_ISREG(stat.st_mode))
		return iot_refuse(reject, IOT_REJECT_trace_magic, 0);
	begin->file_bytes = (u64)stat.st_size;
	err = read_exactly(fd, 0, &begin->head, sizeof(begin->head));
	if (err == -ENODATA)
		return iot_refuse(reject, IOT_REJECT_trace_short, 0);
	return err ? refuse_io(reject, 0, err) : check_head(&begin->head, reject);
}

static int read_schema(int fd, struct trace_begin *begin, struct iot_reject *reject)
{
	size_t bytes = le32_to_cpu(begin->head.schema_bytes);
	int err;

	begin->schema = malloc(bytes + 1);
	if (!begin->schema)
		return refuse_io(reject, 0, -ENOMEM);
	err = read_exactly(fd, sizeof(begin->head), begin->schema, bytes);
	if (err == -ENODATA)
		return iot_refuse(reject, IOT_REJECT_trace_short, sizeof(begin->head));
	if (err)
		return refuse_io(reject, 0, err);
	if (iot_crc32c(0, begin->schema, bytes) != le32_to_cpu(begin->head.schema_crc))
		return iot_refuse(reject, IOT_REJECT_trace_schema, sizeof(begin->head));
	begin->chunk_bytes = sizeof(begin->head) + bytes;
	return 0;
}

/**
 * trace_begin_read() - read and check header and schema of a trace
 * @fd: the trace
 * @begin: out
 * @reject: filled in if it is refused
 *
 * Return: 0; or a negative errno, and then there is nothing to free.
 */
int trace_begin_read(int fd, struct trace_begin *begin, struct iot_reject *reject)
{
	int err;

	*begin = (struct trace_begin){};
	err = read_head(fd, begin, reject);
	if (!err)
		err = read_schema(fd, begin, reject);
	if (err) {
		free(begin->schema);
		begin->schema = NULL;
	}
	return err;
}
