// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * repair.c - verify a trace, and write a new one of its intact chunks.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "schema.h"
#include "survey.h"

/* A repair that is under way. */
struct repair {
	int fd;
	struct iot_writer *writer;
	int write_err;
	u8 *stored;
	size_t room;
	u64 end_ns; /* of the last record */
};

static int ignore(void *context, const struct iot_chunk_head *head, u64 offset_bytes, const struct iot_summary *summary)
{
	(void)context;
	(void)head;
	(void)offset_bytes;
	(void)summary;
	return 0;
}

static int check_schema(const struct trace_begin *begin, struct iot_reject *reject)
{
	struct iot_schema *schema;
	int err = iot_schema_parse(begin->schema, le32_to_cpu(begin->head.schema_bytes), &schema);

	if (err == -EBADMSG)
		return iot_refuse(reject, IOT_REJECT_trace_schema, sizeof(begin->head));
	if (err)
		return refuse_io(reject, 0, err);
	iot_schema_free(schema);
	return 0;
}

/* Return: a descriptor, or a negative errno. */
static int open_trace(const char *path, struct trace_begin *begin, struct iot_reject *reject)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err; /* a pipe is refused, not waited for */

	if (fd < 0)
		return refuse_io(reject, 0, -errno);
	err = trace_begin_read(fd, begin, reject);
	if (!err) {
		err = check_schema(begin, reject);
		if (!err)
			return fd;
		free(begin->schema);
	}
	close(fd);
	return err;
}

/**
 * iot_trace_verify() - check all chunks of a trace
 * @path: its file
 * @condition: out: what was found
 * @reject: filled in if it is not a trace, or cannot be read
 *
 * Return: 0, also for a damaged trace; or a negative errno.
 */
int iot_trace_verify(const char *path, struct iot_condition *condition, struct iot_reject *reject)
{
	struct trace_begin begin;
	int fd = open_trace(path, &begin, reject), err;

	if (fd < 0)
		return fd;
	err = survey(fd, &begin, ignore, NULL, condition);
	free(begin.schema);
	close(fd);
	return err ? refuse_io(reject, 0, err) : 0;
}

static int copy(void *context, const struct iot_chunk_head *head, u64 offset_bytes, const struct iot_summary *summary)
{
	struct repair *repair = context;
	size_t bytes = le32_to_cpu(head->stored_bytes);
	u8 *stored;
	int err;

	if (bytes > repair->room) {
		stored = realloc(repair->stored, bytes);
		if (!stored)
			return -ENOMEM;
		repair->stored = stored;
		repair->room = bytes;
	}
	err = read_exactly(repair->fd, offset_bytes + sizeof(*head), repair->stored, bytes);
	if (err)
		return err;
	if (le64_to_cpu(head->last_ns) > repair->end_ns)
		repair->end_ns = le64_to_cpu(head->last_ns);
	repair->write_err = iot_writer_copy(repair->writer, head, repair->stored, summary);
	return repair->write_err;
}

/* What the new trace lacks, and does not show by itself. */
static int put_loss(struct repair *repair, const struct iot_condition *condition)
{
	char text[256] = "partial=repaired:";
	size_t at = strlen(text);

	if (condition->damaged_chunks)
		at += (size_t)snprintf(text + at, sizeof(text) - at, " %" PRIu64 " damaged chunks with %" PRIu64 " records were removed",
				       (uint64_t)condition->damaged_chunks, (uint64_t)condition->damaged_records);
	if (condition->lost_bytes)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %" PRIu64 " bytes without a chunk were removed",
				       condition->damaged_chunks ? "," : "", (uint64_t)condition->lost_bytes);
	if (!condition->is_complete)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s the trace was not finished",
				       condition->damaged_chunks || condition->lost_bytes ? "," : "");
	return text[at - 1] == ':' ? 0 : iot_writer_fact(repair->writer, repair->end_ns, text);
}

static int write_repaired(struct repair *repair, const struct trace_begin *begin, const char *output,
			  struct iot_condition *condition)
{
	int err;

	repair->write_err = iot_writer_open_copy(output, &begin->head, begin->schema, &repair->writer);
	if (repair->write_err)
		return repair->write_err;
	err = survey(repair->fd, begin, copy, repair, condition);
	if (!err)
		err = repair->write_err = put_loss(repair, condition);
	if (!err)
		err = repair->write_err = iot_writer_finish(repair->writer);
	if (err)
		iot_writer_discard(repair->writer);
	iot_writer_close(repair->writer);
	free(repair->stored);
	return err;
}

/**
 * iot_trace_repair() - write a trace of all intact chunks of another one
 * @path: the trace
 * @output: file to make, or to replace; not the trace itself
 * @condition: out: what was found in the trace
 * @reject: filled in if that is not a trace, or cannot be read
 * @is_output: out: an error is that of the output, and @reject is not filled in
 *
 * Chunks are copied as they are, and summarized again. The new trace is finished, and a fact `partial` states what was removed.
 *
 * Return: 0 or a negative errno.
 */
int iot_trace_repair(const char *path, const char *output, struct iot_condition *condition, struct iot_reject *reject,
		     bool *is_output)
{
	struct trace_begin begin;
	struct repair repair = { .fd = open_trace(path, &begin, reject) };
	int err;

	*is_output = false;
	if (repair.fd < 0)
		return repair.fd;
	err = write_repaired(&repair, &begin, output, condition);
	*is_output = repair.write_err;
	free(begin.schema);
	close(repair.fd);
	return err && !*is_output ? refuse_io(reject, 0, err) : err;
}
