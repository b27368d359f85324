// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * reader.c - read a trace: the records of all its streams, merged in the order of
 * their ends.
 *
 * One chunk of each stream is in memory at a time, so that memory does not grow with
 * the length of a trace.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chunk.h"
#include "iotape.h"
#include "schema.h"
#include "skip.h"
#include "trace_head.h"

/**
 * struct stream - the records of one CPU, or of the collector
 * @entries: its chunks, in order
 * @next_entry: the one to be read next
 * @raw: records of the present chunk
 * @record: the next record to be returned, decoded
 * @end_ns: its end
 * @has_record: there is one
 * @sequence: number of the next record, if none is missing
 */
struct stream {
	u32 number;
	struct iot_index_entry *entries;
	size_t entry_count;
	size_t next_entry;
	u8 *raw;
	size_t raw_bytes;
	size_t raw_at;
	u32 left;
	u64 chunk_bytes;
	struct iot_record record;
	u64 end_ns;
	bool has_record;
	u64 sequence;
	u64 lost;
};

/**
 * struct iot_reader - a trace being read
 * @summaries_bytes, @index_bytes: place of the summaries, 0 if there are none
 * @is_skipped: the entries that are not read; NULL: all are
 * @heap: streams that have a record, the one with the earliest record on top
 * @is_top_read: that record was returned
 * @end_lost: records that the kernel dropped, from the record at the end; 0 before that was read
 * @watched: records that were read
 * @watched_total: records that are in the total of iot_readers_watch()
 * @end_bytes: end of the last whole chunk, if the trace has no trailer
 */
struct iot_reader {
	int fd;
	u64 file_bytes;
	struct iot_schema *schema;
	struct iot_trace_info info;
	struct iot_index_entry *entries;
	u64 summaries_bytes;
	u64 index_bytes;
	bool *is_skipped;
	struct stream *streams;
	size_t stream_count;
	struct stream **heap;
	size_t heap_count;
	bool is_top_read;
	u64 end_lost;
	u64 watched;
	u64 watched_total;
	u64 end_bytes;
	struct unpacker unpacker;
};

#define WATCH_RECORDS 64

static struct {
	iot_watch_fn fn;
	u64 done;
	u64 total;
} watch;

/**
 * iot_readers_watch() - call a function while traces are read
 * @fn: called in the thread that reads, after each few records, and with 0, 0 when
 *	the last trace was closed; it should be quick. NULL: none
 *
 * For the progress of a program, which is to set it before the first trace is opened.
 */
void iot_readers_watch(iot_watch_fn fn)
{
	watch.fn = fn;
}

static void watch_open(struct iot_reader *reader)
{
	reader->watched_total = reader->info.records;
	__atomic_add_fetch(&watch.total, reader->watched_total, __ATOMIC_RELAXED);
}

static void watch_records(struct iot_reader *reader, u32 count)
{
	u64 before = reader->watched, done;

	reader->watched += count;
	done = reader->watched - reader->watched % WATCH_RECORDS - (before - before % WATCH_RECORDS);
	if (!done || !watch.fn)
		return;
	done = __atomic_add_fetch(&watch.done, done, __ATOMIC_RELAXED);
	watch.fn(done, __atomic_load_n(&watch.total, __ATOMIC_RELAXED));
}

static void watch_close(const struct iot_reader *reader)
{
	u64 total = __atomic_sub_fetch(&watch.total, reader->watched_total, __ATOMIC_RELAXED);

	if (!watch.fn)
		return;
	__atomic_sub_fetch(&watch.done, reader->watched - reader->watched % WATCH_RECORDS, __ATOMIC_RELAXED);
	if (reader->watched_total && !total)
		watch.fn(0, 0);
}

static int refuse_errno(struct iot_reject *reject, int err)
{
	iot_refuse(reject, err == -ENOMEM ? IOT_REJECT_memory : IOT_REJECT_io, 0);
	return err;
}

/* Return: where the first chunk begins, or a negative errno. */
static s64 read_begin(struct iot_reader *reader, struct iot_reject *reject)
{
	struct trace_begin begin;
	int err = trace_begin_read(reader->fd, &begin, reject);

	if (err)
		return err;
	err = iot_schema_parse(begin.schema, le32_to_cpu(begin.head.schema_bytes), &reader->schema);
	free(begin.schema);
	if (err == -EBADMSG)
		return iot_refuse(reject, IOT_REJECT_trace_schema, sizeof(begin.head));
	if (err)
		return refuse_errno(reject, err);
	memcpy(reader->info.capture, begin.head.capture, sizeof(begin.head.capture));
	reader->info.real_ns = le64_to_cpu(begin.head.real_ns);
	reader->info.mono_ns = le64_to_cpu(begin.head.mono_ns);
	reader->file_bytes = begin.file_bytes;
	reader->info.bytes = reader->file_bytes;
	reader->info.states_omissions = le32_to_cpu(begin.head.features_compat) & IOT_TRACE_STATES;
	return (s64)begin.chunk_bytes;
}

/* By stream, and within a stream as they were. */
static int compare_entries(const void *a, const void *b)
{
	const struct iot_index_entry *x = a, *y = b;
	u32 stream_x = le32_to_cpu(x->stream), stream_y = le32_to_cpu(y->stream);
	u64 offset_x = le64_to_cpu(x->offset_bytes), offset_y = le64_to_cpu(y->offset_bytes);

	if (stream_x != stream_y)
		return stream_x < stream_y ? -1 : 1;
	return offset_x < offset_y ? -1 : offset_x > offset_y;
}

static int make_streams(struct iot_reader *reader, const struct chunk_list *list)
{
	size_t i, streams = 0;

	if (list->count)
		qsort(list->entries, list->count, sizeof(*list->entries), compare_entries);
	for (i = 0; i < list->count; i++)
		streams += !i || list->entries[i].stream != list->entries[i - 1].stream;
	reader->streams = calloc(streams ? streams : 1, sizeof(*reader->streams));
	reader->heap = calloc(streams ? streams : 1, sizeof(*reader->heap));
	if (!reader->streams || !reader->heap)
		return -ENOMEM;
	for (i = 0; i < list->count; i++) {
		struct stream *stream;

		if (!i || list->entries[i].stream != list->entries[i - 1].stream) {
			stream = &reader->streams[reader->stream_count++];
			stream->number = le32_to_cpu(list->entries[i].stream);
			stream->entries = &list->entries[i];
		}
		stream = &reader->streams[reader->stream_count - 1];
		stream->entry_count++;
		reader->info.records += le32_to_cpu(list->entries[i].count);
	}
	reader->entries = list->entries;
	reader->summaries_bytes = list->summaries_bytes;
	reader->index_bytes = list->index_bytes;
	reader->info.chunks = list->count;
	reader->info.is_complete = list->is_complete;
	reader->info.is_torn = list->is_torn;
	reader->end_bytes = list->end_bytes;
	return 0;
}

static int read_head(const struct iot_reader *reader, const struct stream *stream, u64 offset_bytes,
		     struct iot_chunk_head *head, struct iot_reject *reject)
{
	int err = chunk_head_read(reader->fd, offset_bytes, reader->file_bytes, head, reject);

	if (err == -ENODATA ||
	    (!err && ((head->type != IOT_CHUNK_RECORDS && head->type != IOT_CHUNK_OPEN) ||
		      le32_to_cpu(head->stream) != stream->number)))
		return iot_refuse(reject, IOT_REJECT_index, offset_bytes);
	return err;
}

/* Records of the stream that are in no chunk. */
static void note_gaps(struct iot_reader *reader, struct stream *stream, const struct iot_chunk_head *head)
{
	if (le64_to_cpu(head->sequence) > stream->sequence)
		reader->info.missing += le64_to_cpu(head->sequence) - stream->sequence;
	stream->sequence = le64_to_cpu(head->sequence) + le32_to_cpu(head->count);
	if (le64_to_cpu(head->lost) > stream->lost) {
		reader->info.lost += le64_to_cpu(head->lost) - stream->lost;
		stream->lost = le64_to_cpu(head->lost);
	}
}

/* Go on behind a chunk of which no record is needed. */
static int skip_chunk(struct iot_reader *reader, struct stream *stream, struct iot_reject *reject)
{
	struct iot_chunk_head head;
	int err = read_head(reader, stream, le64_to_cpu(stream->entries[stream->next_entry++].offset_bytes), &head, reject);

	if (err)
		return err;
	note_gaps(reader, stream, &head);
	watch_records(reader, le32_to_cpu(head.count));
	return 0;
}

static int load_chunk(struct iot_reader *reader, struct stream *stream, struct iot_reject *reject)
{
	u64 offset_bytes = le64_to_cpu(stream->entries[stream->next_entry++].offset_bytes);
	struct iot_chunk_head head;
	u8 *raw;
	int err = read_head(reader, stream, offset_bytes, &head, reject);

	if (err)
		return err;
	raw = realloc(stream->raw, le32_to_cpu(head.raw_bytes) + 1);
	if (!raw)
		return refuse_errno(reject, -ENOMEM);
	stream->raw = raw;
	err = chunk_unpack(&reader->unpacker, reader->fd, offset_bytes, &head, raw, reject);
	if (err)
		return err;
	chunk_settle(&head, raw);
	stream->raw_bytes = le32_to_cpu(head.raw_bytes);
	stream->raw_at = 0;
	stream->left = le32_to_cpu(head.count);
	stream->chunk_bytes = offset_bytes;
	if (!stream->left && stream->raw_bytes)
		return iot_refuse(reject, IOT_REJECT_chunk_count, offset_bytes);
	note_gaps(reader, stream, &head);
	return 0;
}

static bool is_next_skipped(const struct iot_reader *reader, const struct stream *stream)
{
	return reader->is_skipped && reader->is_skipped[&stream->entries[stream->next_entry] - reader->entries];
}

static int next_in_chunk(struct iot_reader *reader, struct stream *stream,
			 struct iot_reject *reject)
{
	const u8 *p = stream->raw + stream->raw_at;
	int bytes = iot_record_decode(p, stream->raw_bytes - stream->raw_at, &stream->record);

	if (bytes < 0)
		return iot_refuse(reject, IOT_REJECT_record, stream->chunk_bytes);
	stream->raw_at += (size_t)bytes;
	stream->left--;
	if (!stream->left && stream->raw_at != stream->raw_bytes)
		return iot_refuse(reject, IOT_REJECT_chunk_count, stream->chunk_bytes);
	if (!iot_kind_info(stream->record.kind)) {
		reader->info.unknown++;
		return 0;
	}
	iot_schema_translate(reader->schema, p, &stream->record);
	if (stream->record.kind == IOT_KIND_end)
		reader->end_lost = stream->record.end.lost;
	stream->end_ns = iot_record_end_ns(&stream->record);
	stream->has_record = true;
	return 0;
}

/* The next record of a stream that we know, if there is one. */
static int advance(struct iot_reader *reader, struct stream *stream, struct iot_reject *reject)
{
	int err = 0;

	stream->has_record = false;
	while (!stream->has_record && !err) {
		if (stream->left)
			err = next_in_chunk(reader, stream, reject);
		else if (stream->next_entry == stream->entry_count)
			break;
		else if (is_next_skipped(reader, stream))
			err = skip_chunk(reader, stream, reject);
		else
			err = load_chunk(reader, stream, reject);
	}
	return err;
}

/* Among those that end at the same time, streams keep their order. */
static bool is_before(const struct stream *a, const struct stream *b)
{
	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a < b;
}

static void heap_sink(struct iot_reader *reader, size_t at)
{
	struct stream **heap = reader->heap, *stream = heap[at];
	size_t child;

	while ((child = 2 * at + 1) < reader->heap_count) {
		if (child + 1 < reader->heap_count && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], stream))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = stream;
}

/* The first record of each stream, and their order. */
static int heap_fill(struct iot_reader *reader, struct iot_reject *reject)
{
	size_t i;
	int err = 0;

	for (i = 0; i < reader->stream_count && !err; i++) {
		err = advance(reader, &reader->streams[i], reject);
		if (reader->streams[i].has_record)
			reader->heap[reader->heap_count++] = &reader->streams[i];
	}
	for (i = reader->heap_count / 2; i > 0; i--)
		heap_sink(reader, i - 1);
	return err;
}

/* Replace the record on top, which was returned, by the next of its stream. */
static int heap_advance(struct iot_reader *reader, struct iot_reject *reject)
{
	int err = advance(reader, reader->heap[0], reject);

	reader->is_top_read = false;
	if (!reader->heap[0]->has_record)
		reader->heap[0] = reader->heap[--reader->heap_count];
	if (reader->heap_count)
		heap_sink(reader, 0);
	return err;
}

/**
 * iot_reader_open() - open a trace
 * @path: its file
 * @reader: out: the reader, to be freed by iot_reader_close()
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int iot_reader_open(const char *path, struct iot_reader **reader, struct iot_reject *reject)
{
	struct iot_reader *r = calloc(1, sizeof(*r));
	struct chunk_list list;
	s64 begin_bytes;
	int err;

	if (!r)
		return refuse_errno(reject, -ENOMEM);
	r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is refused, not waited for */
	if (r->fd < 0) {
		err = refuse_errno(reject, -errno);
		goto err_open;
	}
	begin_bytes = read_begin(r, reject);
	err = begin_bytes < 0 ? (int)begin_bytes :
				chunk_list_read(r->fd, (u64)begin_bytes, r->file_bytes, &list, reject);
	if (err)
		goto err_open;
	err = make_streams(r, &list);
	if (err) {
		free(list.entries);
		refuse_errno(reject, err);
	}
	if (!err)
		err = heap_fill(r, reject);
	if (err)
		goto err_open;
	watch_open(r);
	*reader = r;
	return 0;

err_open:
	iot_reader_close(r);
	return err;
}

/* Entries whose chunks are not read yet. */
static void mark_unread(const struct iot_reader *reader, bool *is_unread)
{
	size_t i, j;

	for (i = 0; i < reader->stream_count; i++)
		for (j = reader->streams[i].next_entry; j < reader->streams[i].entry_count; j++)
			is_unread[&reader->streams[i].entries[j] - reader->entries] = true;
}

/**
 * iot_reader_need() - skip chunks without records that the caller needs
 * @reader: of which no record was read
 * @need: those records; used in this call only
 *
 * iot_reader_next() then returns all records that the caller needs, in the same order as otherwise, and others. The first
 * and the last record of the trace are always among them. Without intact summaries all chunks are read.
 * A damaged chunk that is skipped is not noticed.
 */
void iot_reader_need(struct iot_reader *reader, const struct iot_need *need)
{
	bool *is_skipped;

	if (!reader->summaries_bytes || reader->is_skipped)
		return;
	is_skipped = calloc(reader->info.chunks + 1, sizeof(*is_skipped));
	if (!is_skipped)
		return; /* slower, and nothing else */
	mark_unread(reader, is_skipped);
	if (skip_plan(reader->fd, reader->summaries_bytes, reader->index_bytes, reader->entries, need, is_skipped, &reader->info))
		free(is_skipped);
	else
		reader->is_skipped = is_skipped;
}

/**
 * iot_reader_next() - the next record
 * @reader: the trace
 * @record: out: valid until the next call
 * @reject: filled in if the trace is damaged
 *
 * Records are in the order of their ends. Those of unknown kinds are
 * skipped, and counted.
 *
 * Return: 1; 0 at the end; or a negative errno.
 */
int iot_reader_next(struct iot_reader *reader, struct iot_record *record,
		    struct iot_reject *reject)
{
	int err = reader->is_top_read ? heap_advance(reader, reject) : 0;

	if (err)
		return err;
	if (!reader->heap_count)
		return 0; /* also if it is called again */
	*record = reader->heap[0]->record;
	reader->is_top_read = true;
	watch_records(reader, 1);
	return 1;
}

static struct stream *stream_of(struct iot_reader *reader, u32 number)
{
	struct stream *streams, **heap;
	size_t i;

	for (i = 0; i < reader->stream_count; i++)
		if (reader->streams[i].number == number)
			return &reader->streams[i];
	heap = reallocarray(reader->heap, reader->stream_count + 1, sizeof(*heap));
	if (!heap)
		return NULL;
	reader->heap = heap;
	streams = reallocarray(reader->streams, reader->stream_count + 1, sizeof(*streams));
	if (!streams)
		return NULL;
	reader->streams = streams;
	streams[reader->stream_count] = (struct stream){ .number = number };
	return &streams[reader->stream_count++];
}

/* All chunks known so far have been read: the streams continue with new ones. */
static int continue_streams(struct iot_reader *reader, const struct chunk_list *list)
{
	struct stream *stream = NULL;
	size_t i;

	if (list->count)
		qsort(list->entries, list->count, sizeof(*list->entries), compare_entries);
	for (i = 0; i < reader->stream_count; i++)
		reader->streams[i].entry_count = reader->streams[i].next_entry = 0;
	free(reader->entries);
	reader->entries = list->entries;
	for (i = 0; i < list->count; i++) {
		if (!i || list->entries[i].stream != list->entries[i - 1].stream) {
			stream = stream_of(reader, le32_to_cpu(list->entries[i].stream));
			if (!stream)
				return -ENOMEM;
			stream->entries = &list->entries[i];
		}
		stream->entry_count++;
		reader->info.records += le32_to_cpu(list->entries[i].count);
	}
	reader->info.chunks += list->count;
	reader->info.is_complete = list->is_complete;
	reader->info.is_torn = list->is_torn;
	reader->end_bytes = list->end_bytes;
	return 0;
}

/**
 * iot_reader_more() - look for records that the writer has added to a trace that is being written
 * @reader: of which iot_reader_next() returned 0
 * @reject: filled in if the trace is damaged
 *
 * If there are any, iot_reader_next() returns them. The new records are in the order of their ends, which may be
 * before those of records that were returned before: chunks of CPUs are written one after the other.
 *
 * Return: 1 if there are new records; 0 if not, or the trace is complete; or a negative errno.
 */
int iot_reader_more(struct iot_reader *reader, struct iot_reject *reject)
{
	struct chunk_list list;
	struct stat stat;
	int err;

	if (reader->info.is_complete)
		return 0;
	if (fstat(reader->fd, &stat))
		return refuse_errno(reject, -errno);
	if ((u64)stat.st_size <= reader->end_bytes)
		return 0;
	reader->file_bytes = (u64)stat.st_size;
	reader->info.bytes = reader->file_bytes;
	err = chunk_list_more(reader->fd, reader->end_bytes, reader->file_bytes, &list, reject);
	if (err)
		return err;
	err = continue_streams(reader, &list);
	if (err)
		return refuse_errno(reject, err);
	err = heap_fill(reader, reject);
	return err ? err : list.count > 0;
}

/**
 * iot_reader_absent() - fields that a record of the trace lacks
 * @reader: the trace
 * @record: as iot_reader_next() returned it
 *
 * Return: a bit for each field by its index in the kind.
 */
u64 iot_reader_absent(const struct iot_reader *reader, const struct iot_record *record)
{
	return iot_schema_absent(reader->schema, record);
}

/**
 * iot_reader_info() - facts about the trace; losses are known as far as it was read
 */
void iot_reader_info(const struct iot_reader *reader, struct iot_trace_info *info)
{
	*info = reader->info;
	if (reader->end_lost > info->lost)
		info->lost = reader->end_lost;
}

/**
 * iot_reader_close() - free a reader; NULL is allowed
 */
void iot_reader_close(struct iot_reader *reader)
{
	size_t i;

	if (!reader)
		return;
	watch_close(reader);
	for (i = 0; i < reader->stream_count; i++)
		free(reader->streams[i].raw);
	free(reader->streams);
	free(reader->heap);
	free(reader->entries);
	free(reader->is_skipped);
	unpacker_free(&reader->unpacker);
	iot_schema_free(reader->schema);
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader);
}
