// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * writer.c - write a trace, chunk by chunk, so that written records stay readable
 * whenever the writer dies.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "columns.h"
#include "core/crc32c.h"
#include "iotape.h"
#include "schema.h"
#include "summary.h"

#define OWN_CHUNK_BYTES (256 << 10)
#define ZSTD_LEVEL	3
#define EVICT_BYTES	(8 << 20)
#define SMALL_BYTES	(16 << 10) /* of records that may be smaller without columns, whose description takes some bytes */

static_assert(sizeof(struct iot_trace_head) == 64, "layout of the file header");
static_assert(sizeof(struct iot_chunk_head) == 64, "layout of the head of a chunk");
static_assert(sizeof(struct iot_index_entry) == 32, "layout of an index entry");

/**
 * struct iot_writer - a trace being written
 * @fd: its file; -1 after iot_writer_finish()
 * @path: of the file
 * @is_stream: a pipe or a socket: written bytes cannot be changed
 * @is_file: a regular one, known by @dev and @inode; not a pipe, or /dev/null
 * @evicts: see iot_writer_evict()
 * @syncs: see iot_writer_sync_at_end()
 * @has_columns: its header permits columns
 * @offset_bytes: position of the next chunk
 * @evicted_bytes: @offset_bytes when pages left memory last
 * @summaries: one for each entry of the index
 * @own: records of iot_writer_record() that are not written yet
 * @own_head: their chunk head
 */
struct iot_writer {
	int fd;
	char path[PATH_MAX];
	bool is_stream;
	bool is_file;
	bool evicts;
	bool syncs;
	bool has_columns;
	dev_t dev;
	ino_t inode;
	u64 offset_bytes;
	u64 evicted_bytes;
	ZSTD_CCtx *zstd;
	struct columns *columns;
	u8 *packed;
	size_t packed_room;
	struct iot_index_entry *index;
	size_t index_count;
	size_t index_room;
	size_t index_max_bytes;
	struct summary_list summaries;
	u8 own[OWN_CHUNK_BYTES];
	size_t own_bytes;
	u32 own_count;
	u64 own_sequence;
	u64 own_first_ns;
	u64 own_last_ns;
};

static ssize_t write_some(struct iot_writer *writer, const void *data, size_t bytes)
{
	struct pollfd room = { .fd = writer->fd, .events = POLLOUT };
	ssize_t n;

	if (!writer->is_stream)
		return pwrite(writer->fd, data, bytes, (off_t)writer->offset_bytes);
	n = write(writer->fd, data, bytes);
	if (n < 0 && errno == EAGAIN) { /* another process has made the pipe non-blocking */
		poll(&room, 1, -1);
		errno = EINTR;
	}
	return n;
}

/* Pages that are not on the disk yet are written, and leave memory the next time. */
static void evict(struct iot_writer *writer)
{
	if (!writer->evicts || writer->offset_bytes - writer->evicted_bytes < EVICT_BYTES)
		return;
	writer->evicted_bytes = writer->offset_bytes;
	(void)posix_fadvise(writer->fd, 0, 0, POSIX_FADV_DONTNEED); /* without it the pages stay, which does no harm */
}

static int write_all(struct iot_writer *writer, const void *data, size_t bytes)
{
	const u8 *p = data;
	ssize_t n;

	while (bytes) {
		n = write_some(writer, p, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		bytes -= (size_t)n;
		writer->offset_bytes += (u64)n;
	}
	evict(writer);
	return 0;
}

/* The header of a trace whose schema is ours. */
static struct iot_trace_head head_of(const unsigned char capture[16], u64 real_ns, u64 mono_ns)
{
	struct iot_trace_head head = {
		.magic = IOT_TRACE_MAGIC,
		.major = cpu_to_le16(IOT_TRACE_MAJOR),
		.head_bytes = cpu_to_le16(sizeof(head)),
		.features_compat = cpu_to_le32(IOT_TRACE_STATES),
		.features_incompat = cpu_to_le32(IOT_TRACE_COLUMNS),
		.real_ns = cpu_to_le64(real_ns),
		.mono_ns = cpu_to_le64(mono_ns),
	};

	memcpy(head.capture, capture, sizeof(head.capture));
	return head;
}

static int write_head(struct iot_writer *writer, struct iot_trace_head *head)
{
	char *schema;
	size_t bytes;
	int err = iot_schema_print(&schema, &bytes);

	if (err)
		return err;
	head->schema_bytes = cpu_to_le32((u32)bytes);
	head->schema_crc = cpu_to_le32(iot_crc32c(0, schema, bytes));
	head->head_crc = cpu_to_le32(iot_crc32c(0, head, offsetof(struct iot_trace_head, head_crc)));
	err = write_all(writer, head, sizeof(*head));
	if (!err)
		err = write_all(writer, schema, bytes);
	free(schema);
	return err;
}

static int open_file(struct iot_writer *writer, const char *path)
{
	struct stat stat;

	writer->fd = iot_output_open(path, writer->path);
	if (writer->fd < 0)
		return writer->fd;
	if (fstat(writer->fd, &stat))
		return -errno;
	writer->is_file = S_ISREG(stat.st_mode);
	writer->is_stream = S_ISFIFO(stat.st_mode);
	writer->dev = stat.st_dev;
	writer->inode = stat.st_ino;
	return 0;
}

/* Devices and pipes have no length. Return: 0 or a negative errno. */
static int cut(struct iot_writer *writer, u64 bytes)
{
	return writer->is_file && ftruncate(writer->fd, (off_t)bytes) ? -errno : 0;
}

/* @fd: a stream, or -1 to open the path; @schema: that of the header; NULL: ours, and the header is completed */
static int open_writer(int fd, const char *path, struct iot_trace_head *head, const char *schema,
		       struct iot_writer **writer)
{
	struct iot_writer *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	if (!w)
		return -ENOMEM;
	w->fd = fd;
	w->is_stream = fd >= 0;
	w->index_max_bytes = IOT_INDEX_MAX_BYTES;
	w->zstd = ZSTD_createCCtx();
	if (!w->zstd || columns_open(&w->columns))
		goto err_writer;
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	err = fd >= 0 ? 0 : open_file(w, path);
	if (!err)
		err = schema ? write_all(w, head, sizeof(*head)) : write_head(w, head);
	if (!err && schema)
		err = write_all(w, schema, le32_to_cpu(head->schema_bytes));
	if (err)
		goto err_writer;
	w->has_columns = le32_to_cpu(head->features_incompat) & IOT_TRACE_COLUMNS;
	*writer = w;
	return 0;

err_writer:
	iot_writer_discard(w); /* no head, no trace */
	iot_writer_close(w);
	return err;
}

/**
 * iot_writer_open_stream() - begin a trace that goes to a pipe or a socket
 * @fd: descriptor of it, which becomes the writer's
 * @capture: random id of the capture
 * @writer: out: the writer, to be freed by iot_writer_close()
 *
 * After an error of this or a later function, the stream cannot be used any more: -EPIPE or -ECONNRESET if its
 * reader has disconnected. SIGPIPE is ignored by the caller.
 *
 * Return: 0 or a negative errno.
 */
int iot_writer_open_stream(int fd, const unsigned char capture[16], struct iot_writer **writer)
{
	struct iot_trace_head head = head_of(capture, iot_clock_ns(CLOCK_REALTIME), iot_clock_ns(CLOCK_MONOTONIC));

	return open_writer(fd, "", &head, NULL, writer);
}

/**
 * iot_writer_open_at() - begin a trace with an earlier start time
 * @path: file to make, or to replace; only its owner can read it, see output.c
 * @capture: random id of the capture
 * @real_ns: wall clock when it began
 * @mono_ns: monotonic clock at the same moment
 * @writer: out: the writer, to be freed by iot_writer_close()
 *
 * Return: 0 or a negative errno.
 */
int iot_writer_open_at(const char *path, const unsigned char capture[16], u64 real_ns, u64 mono_ns,
		       struct iot_writer **writer)
{
	struct iot_trace_head head = head_of(capture, real_ns, mono_ns);

	return open_writer(-1, path, &head, NULL, writer);
}

/**
 * iot_writer_open_copy() - begin a trace with the header and the schema of another one
 * @path: file to make, or to replace; only its owner can read it, see output.c
 * @head: the header
 * @schema: the schema
 * @writer: out: the writer, to be freed by iot_writer_close()
 *
 * Chunks of the other trace are added by iot_writer_copy().
 *
 * Return: 0 or a negative errno.
 */
int iot_writer_open_copy(const char *path, const struct iot_trace_head *head, const char *schema,
			 struct iot_writer **writer)
{
	struct iot_trace_head copy = *head;

	return open_writer(-1, path, &copy, schema, writer);
}

/**
 * iot_writer_open() - begin a trace that starts now
 * @path: file to make, or to replace; only its owner can read it, see output.c
 * @capture: random id of the capture
 * @writer: out: the writer, to be freed by iot_writer_close()
 *
 * Return: 0 or a negative errno.
 */
int iot_writer_open(const char *path, const unsigned char capture[16], struct iot_writer **writer)
{
	return iot_writer_open_at(path, capture, iot_clock_ns(CLOCK_REALTIME),
				  iot_clock_ns(CLOCK_MONOTONIC), writer);
}

/**
 * iot_writer_limit_index() - leave out an index that is longer than this
 * @writer: the trace
 * @bytes: at most IOT_INDEX_MAX_BYTES, which is the limit if this is not called
 */
void iot_writer_limit_index(struct iot_writer *writer, size_t bytes)
{
	if (bytes < writer->index_max_bytes)
		writer->index_max_bytes = bytes;
}

static int index_add(struct iot_writer *writer, const struct iot_chunk_head *head, const struct iot_summary *summary)
{
	if (writer->index_count == writer->index_room) {
		size_t room = writer->index_room ? 2 * writer->index_room : 256;
		struct iot_index_entry *index = realloc(writer->index, room * sizeof(*index));

		if (!index)
			return -ENOMEM;
		writer->index = index;
		writer->index_room = room;
	}
	/* Without an index there are no summaries. */
	if ((writer->index_count + 1) * sizeof(*writer->index) <= writer->index_max_bytes &&
	    summary_list_add(&writer->summaries, summary))
		return -ENOMEM;
	writer->index[writer->index_count++] = (struct iot_index_entry){
		.offset_bytes = cpu_to_le64(writer->offset_bytes),
		.first_ns = head->first_ns,
		.last_ns = head->last_ns,
		.stream = head->stream,
		.count = head->count,
	};
	return 0;
}

static int reserve_packed(struct iot_writer *writer, size_t bytes)
{
	u8 *packed;

	if (bytes <= writer->packed_room)
		return 0;
	packed = realloc(writer->packed, bytes);
	if (!packed)
		return -ENOMEM;
	writer->packed = packed;
	writer->packed_room = bytes;
	return 0;
}

/* Compress behind what is packed already. Return: length of all that is packed, 0 if it cannot be; -ENOMEM. */
static s64 compress(struct iot_writer *writer, size_t at, const void *bytes, size_t count)
{
	size_t room = at + ZSTD_compressBound(count), n;

	if (reserve_packed(writer, room))
		return -ENOMEM;
	n = ZSTD_compress2(writer->zstd, writer->packed + at, room - at, bytes, count);
	return ZSTD_isError(n) ? 0 : (s64)(at + n);
}

/* Return: as compress(); 0 also if the chunk does not consist of records. */
static s64 pack_columns(struct iot_writer *writer, const struct iot_chunk_head *head, const void *raw)
{
	const u8 *bytes;
	size_t count;
	int err = columns_encode(writer->columns, raw, le32_to_cpu(head->raw_bytes), le32_to_cpu(head->count), &bytes, &count);

	if (err == -EINVAL || (!err && count > IOT_COLUMNS_MAX_BYTES))
		return 0;
	if (err || reserve_packed(writer, IOT_COLUMNS_HEAD_BYTES))
		return -ENOMEM;
	iot_put_u32(writer->packed, (u32)count);
	return compress(writer, IOT_COLUMNS_HEAD_BYTES, bytes, count);
}

static void choose(struct iot_chunk_head *head, u8 codec, s64 bytes)
{
	if (bytes <= 0 || bytes >= le32_to_cpu(head->stored_bytes))
		return;
	head->codec = codec;
	head->stored_bytes = cpu_to_le32((u32)bytes);
}

/*
 * The smallest form of a payload; @head is updated to it. Records are columns, and compressed as they are only if
 * they are few, or damaged: then both forms are made, one behind the other.
 */
static int pack(struct iot_writer *writer, struct iot_chunk_head *head, const void *raw,
		const void **stored)
{
	size_t raw_bytes = le32_to_cpu(head->raw_bytes);
	bool is_columns = head->type == IOT_CHUNK_RECORDS && writer->has_columns;
	s64 columns = is_columns ? pack_columns(writer, head, raw) : 0, end;

	if (columns < 0)
		return (int)columns;
	head->codec = IOT_CODEC_NONE;
	head->stored_bytes = head->raw_bytes;
	choose(head, IOT_CODEC_COLUMNS, columns);
	if (!columns || raw_bytes < SMALL_BYTES) {
		end = compress(writer, (size_t)columns, raw, raw_bytes);
		if (end < 0)
			return (int)end;
		choose(head, IOT_CODEC_ZSTD, end - columns);
	}
	*stored = head->codec == IOT_CODEC_NONE	   ? raw :
		  head->codec == IOT_CODEC_COLUMNS ? writer->packed :
						     writer->packed + columns;
	return 0;
}

static int write_chunk(struct iot_writer *writer, struct iot_chunk_head *head, const void *raw)
{
	const void *stored = raw;
	u64 begin_bytes = writer->offset_bytes;
	int err = pack(writer, head, raw, &stored);

	if (err)
		return err;
	head->magic = cpu_to_le32(IOT_CHUNK_MAGIC);
	head->zero = 0;
	head->payload_crc = cpu_to_le32(iot_crc32c(0, stored, le32_to_cpu(head->stored_bytes)));
	head->head_crc = cpu_to_le32(iot_crc32c(0, head, offsetof(struct iot_chunk_head, head_crc)));
	err = write_all(writer, head, sizeof(*head));
	if (!err)
		err = write_all(writer, stored, le32_to_cpu(head->stored_bytes));
	if (err) /* a full disk may have stored a part: the next chunk overwrites it */
		writer->offset_bytes = begin_bytes;
	return err;
}

/**
 * iot_writer_chunk() - write a chunk of records of one stream
 * @writer: the trace
 * @what: raw_bytes, stream, count, sequence, lost, first_ns and last_ns are used
 * @records: the records on the wire
 *
 * Return: 0 or a negative errno; after an error the trace is as it was before.
 */
int iot_writer_chunk(struct iot_writer *writer, const struct iot_chunk_head *what,
		     const void *records)
{
	const struct summary_list before = writer->summaries;
	struct iot_chunk_head head = *what;
	struct iot_summary summary;
	u64 begin_bytes = writer->offset_bytes;
	int err;

	if (le32_to_cpu(what->raw_bytes) > IOT_CHUNK_MAX_BYTES)
		return -EINVAL;
	head.type = IOT_CHUNK_RECORDS;
	summary_make(&summary, NULL, records, le32_to_cpu(what->raw_bytes));
	err = index_add(writer, &head, &summary);
	if (!err) {
		err = write_chunk(writer, &head, records);
		if (err) {
			writer->index_count--;
			writer->summaries.count = before.count;
			writer->summaries.used_bytes = before.used_bytes;
		}
	}
	if (err)
		cut(writer, begin_bytes); /* or a torn chunk is at the end, as readers expect of a full disk */
	return err;
}

/**
 * iot_writer_copy() - add a chunk of records as another trace has it
 * @writer: from iot_writer_open_copy()
 * @head: head of the chunk, intact
 * @stored: its payload as stored
 * @summary: of its records
 *
 * Records of the writer's own follow those of the collector.
 *
 * Return: 0 or a negative errno.
 */
int iot_writer_copy(struct iot_writer *writer, const struct iot_chunk_head *head, const void *stored,
		    const struct iot_summary *summary)
{
	int err = index_add(writer, head, summary);

	if (!err)
		err = write_all(writer, head, sizeof(*head));
	if (!err)
		err = write_all(writer, stored, le32_to_cpu(head->stored_bytes));
	if (le32_to_cpu(head->stream) == IOT_STREAM_COLLECTOR)
		writer->own_sequence = le64_to_cpu(head->sequence) + le32_to_cpu(head->count);
	return err;
}

/**
 * iot_writer_flush() - write the records gathered by iot_writer_record()
 *
 * Return: 0 or a negative errno.
 */
int iot_writer_flush(struct iot_writer *writer)
{
	struct iot_chunk_head what = {
		.raw_bytes = cpu_to_le32((u32)writer->own_bytes),
		.stream = cpu_to_le32(IOT_STREAM_COLLECTOR),
		.count = cpu_to_le32(writer->own_count),
		.sequence = cpu_to_le64(writer->own_sequence),
		.first_ns = cpu_to_le64(writer->own_first_ns),
		.last_ns = cpu_to_le64(writer->own_last_ns),
	};
	int err;

	if (!writer->own_count)
		return 0;
	err = iot_writer_chunk(writer, &what, writer->own);
	if (err)
		return err;
	writer->own_sequence += writer->own_count;
	writer->own_count = 0;
	writer->own_bytes = 0;
	return 0;
}

/**
 * iot_writer_evict() - let written pages leave memory, which the recorded programs need for their own files
 * @writer: the trace; streams and devices are ignored
 */
void iot_writer_evict(struct iot_writer *writer)
{
	writer->evicts = writer->is_file;
}

/**
 * iot_writer_sync() - flush the file to the disk
 *
 * Return: 0 or a negative errno.
 */
int iot_writer_sync(struct iot_writer *writer)
{
	return writer->is_file && fdatasync(writer->fd) ? -errno : 0;
}

/**
 * iot_writer_sync_at_end() - the file, and its name, are on the disk when iot_writer_finish() returns
 * @writer: the trace; streams and devices are ignored
 */
void iot_writer_sync_at_end(struct iot_writer *writer)
{
	writer->syncs = writer->is_file;
}

/* Return: 0 or a negative errno. */
static int sync_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	int fd, err = 0;

	snprintf(dir, sizeof(dir), "%.*s.", slash ? (int)(slash + 1 - path) : 0, path);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fsync(fd))
		err = -errno;
	close(fd);
	return err;
}

/**
 * iot_writer_record() - add a record of the writer's own
 * @writer: the trace
 * @record: the record; such records must be in the order of their ends
 *
 * Return: 0 or a negative errno.
 */
int iot_writer_record(struct iot_writer *writer, const struct iot_record *record)
{
	int n = iot_record_encode(writer->own + writer->own_bytes,
				  sizeof(writer->own) - writer->own_bytes, record);
	int err;

	if (n == -ENOSPC && writer->own_count) {
		err = iot_writer_flush(writer);
		return err ? err : iot_writer_record(writer, record);
	}
	if (n < 0)
		return n;
	writer->own_last_ns = iot_record_end_ns(record);
	if (!writer->own_count++)
		writer->own_first_ns = writer->own_last_ns;
	writer->own_bytes += (size_t)n;
	return 0;
}

/**
 * iot_writer_fact() - add a fact about the run
 * @writer: the trace
 * @time_ns: of the record
 * @fact: text of the form key=value, the first IOT_TAIL_MAX_BYTES of which are written; an empty one is none
 *
 * Return: 0 or a negative errno.
 */
int iot_writer_fact(struct iot_writer *writer, u64 time_ns, const char *fact)
{
	size_t bytes = strlen(fact);
	const struct iot_record record = {
		.kind = IOT_KIND_fact,
		.tail = (const u8 *)fact,
		.tail_bytes = (u16)(bytes < IOT_TAIL_MAX_BYTES ? bytes : IOT_TAIL_MAX_BYTES),
		.fact.time_ns = time_ns,
	};

	return bytes ? iot_writer_record(writer, &record) : 0;
}

static int write_summaries(struct iot_writer *writer)
{
	const struct summary_list *list = &writer->summaries;
	size_t at_bytes, part_bytes;
	u32 first = 0, count;
	int err = 0;

	for (at_bytes = 0; !err && (count = summary_list_part(list, at_bytes, &part_bytes)); at_bytes += part_bytes) {
		struct iot_chunk_head head = {
			.type = IOT_CHUNK_SUMMARIES,
			.raw_bytes = cpu_to_le32((u32)part_bytes),
			.count = cpu_to_le32(count),
			.sequence = cpu_to_le64(first),
		};

		err = write_chunk(writer, &head, list->bytes + at_bytes);
		first += count;
	}
	return err;
}

/* Return: 0 or a negative errno. The places are put into @trailer; 0 if there are too many chunks for an index. */
static int write_index(struct iot_writer *writer, struct iot_chunk_head *trailer)
{
	size_t bytes = writer->index_count * sizeof(*writer->index);
	struct iot_chunk_head head = { .type = IOT_CHUNK_INDEX };
	u64 begin_bytes = writer->offset_bytes;
	int err;

	if (bytes > writer->index_max_bytes)
		return 0;
	err = write_summaries(writer);
	if (writer->index_count)
		trailer->lost = cpu_to_le64(begin_bytes);
	trailer->sequence = cpu_to_le64(writer->offset_bytes);
	head.raw_bytes = cpu_to_le32((u32)bytes);
	head.count = cpu_to_le32((u32)writer->index_count);
	if (!err)
		err = write_chunk(writer, &head, writer->index);
	if (err) /* the next attempt begins here */
		writer->offset_bytes = begin_bytes;
	return err;
}

/* Some file systems report only here that a disk or a quota is full. */
static int close_file(struct iot_writer *writer)
{
	int fd = writer->fd;

	writer->fd = -1; /* it is closed, regardless of the result of close() */
	return close(fd) ? -errno : 0;
}

/**
 * iot_writer_finish() - write summaries, index and trailer, and close the file: the trace is complete
 *
 * Return: 0 or a negative errno; after 0 nothing more can be written.
 */
int iot_writer_finish(struct iot_writer *writer)
{
	struct iot_chunk_head trailer = { .type = IOT_CHUNK_TRAILER };
	int err = iot_writer_flush(writer);

	if (!err)
		err = write_index(writer, &trailer);
	if (err)
		return err;
	err = write_chunk(writer, &trailer, "");
	if (!err)
		err = cut(writer, writer->offset_bytes);
	if (!err && writer->syncs)
		err = fsync(writer->fd) ? -errno : sync_name(writer->path);
	return err ? err : close_file(writer);
}

/**
 * iot_writer_close() - free the writer; without iot_writer_finish() the trace is incomplete
 */
void iot_writer_close(struct iot_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0)
		close(writer->fd);
	ZSTD_freeCCtx(writer->zstd);
	columns_close(writer->columns);
	free(writer->packed);
	free(writer->index);
	free(writer->summaries.bytes);
	free(writer);
}

/**
 * iot_writer_discard() - remove an unfinished trace
 * @writer: the trace, which must still be closed; a file that is not regular, or has been replaced, stays
 */
void iot_writer_discard(const struct iot_writer *writer)
{
	struct stat stat;

	if (writer->is_file && !lstat(writer->path, &stat) && stat.st_dev == writer->dev &&
	    stat.st_ino == writer->inode)
		unlink(writer->path);
}

/**
 * iot_writer_bytes() - length of the trace so far
 */
u64 iot_writer_bytes(const struct iot_writer *writer)
{
	return writer->offset_bytes;
}
