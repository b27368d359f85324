// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * chunk.c - chunks of a trace file, none of which is trusted.
 */
#include "chunk.h"

#include <stdlib.h>

#include "core/crc32c.h"
#include "core/replay/program.h"
#include "core/trace/record.h"

static bool is_larger(const struct iot_chunk_head *head, u32 max_bytes)
{
	return le32_to_cpu(head->stored_bytes) > max_bytes ||
	       le32_to_cpu(head->raw_bytes) > max_bytes;
}

/**
 * chunk_head_read() - read and check the head of a chunk
 * @fd: the trace
 * @offset_bytes: where the chunk begins
 * @file_bytes: length of the file
 * @head: out
 * @reject: filled in if it is refused
 *
 * An index may be of any size here.
 *
 * Return: 0; -ENODATA if the file ends before the chunk does; another negative errno.
 */
int chunk_head_read(int fd, u64 offset_bytes, u64 file_bytes, struct iot_chunk_head *head,
		    struct iot_reject *reject)
{
	int err;

	if (offset_bytes + sizeof(*head) > file_bytes)
		return -ENODATA;
	err = read_exactly(fd, offset_bytes, head, sizeof(*head));
	if (err)
		return refuse_io(reject, offset_bytes, err);
	if (le32_to_cpu(head->magic) != IOT_CHUNK_MAGIC || head->zero ||
	    iot_crc32c(0, head, offsetof(struct iot_chunk_head, head_crc)) !=
		    le32_to_cpu(head->head_crc))
		return iot_refuse(reject, IOT_REJECT_chunk_head, offset_bytes);
	if (head->type != IOT_CHUNK_INDEX && is_larger(head, IOT_CHUNK_MAX_BYTES))
		return iot_refuse(reject, IOT_REJECT_chunk_size, offset_bytes);
	if (head->codec > (head->type == IOT_CHUNK_RECORDS ? IOT_CODEC_COLUMNS : IOT_CODEC_ZSTD))
		return iot_refuse(reject, IOT_REJECT_chunk_codec, offset_bytes);
	if (offset_bytes + sizeof(*head) + le32_to_cpu(head->stored_bytes) > file_bytes)
		return -ENODATA;
	return 0;
}

/**
 * chunk_settle() - determine the number of records in an open chunk
 * @head: of a chunk that was read, in which that is put down; others stay as they are
 * @raw: its payload
 */
void chunk_settle(struct iot_chunk_head *head, const u8 *raw)
{
	u32 at = 0, count = 0, room = le32_to_cpu(head->raw_bytes);

	if (head->type != IOT_CHUNK_OPEN)
		return;
	while (room - at >= IOT_RECORD_HEAD_BYTES && iot_get_u16(raw + at) &&
	       iot_get_u16(raw + at) <= room - at) {
		at += iot_get_u16(raw + at);
		count++;
	}
	head->raw_bytes = cpu_to_le32(at);
	head->count = cpu_to_le32(count);
}

/* Chunks between the schema and the index, each of which has room for its head. */
static bool are_places_right(const struct chunk_list *list, u64 begin_bytes, u64 index_bytes)
{
	u64 least = begin_bytes, at;
	size_t i;

	for (i = 0; i < list->count; i++) {
		at = le64_to_cpu(list->entries[i].offset_bytes);
		if (at < least || at >= index_bytes)
			return false;
		least = at + sizeof(struct iot_chunk_head);
	}
	return true;
}

/**
 * chunk_list_add() - add a chunk to a list
 * @list: whose @entries are to be freed by the caller
 * @room: number of entries that there is room for, 0 at first
 * @offset_bytes: where the chunk begins
 * @head: its head
 *
 * Return: 0 or -ENOMEM.
 */
int chunk_list_add(struct chunk_list *list, size_t *room, u64 offset_bytes, const struct iot_chunk_head *head)
{
	if (list->count == *room) {
		struct iot_index_entry *entries;

		*room = *room ? 2 * *room : 256;
		entries = realloc(list->entries, *room * sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		list->entries = entries;
	}
	list->entries[list->count++] = (struct iot_index_entry){
		.offset_bytes = cpu_to_le64(offset_bytes),
		.first_ns = head->first_ns,
		.last_ns = head->last_ns,
		.stream = head->stream,
		.count = head->count,
	};
	return 0;
}

/* Of an open chunk the number of records is not in the head. */
static int settle(int fd, u64 offset_bytes, struct iot_chunk_head *head, struct iot_reject *reject)
{
	struct unpacker unpacker = {};
	u8 *raw;
	int err;

	if (head->type != IOT_CHUNK_OPEN)
		return 0;
	raw = malloc(le32_to_cpu(head->raw_bytes) + 1);
	if (!raw)
		return refuse_io(reject, offset_bytes, -ENOMEM);
	err = chunk_unpack(&unpacker, fd, offset_bytes, head, raw, reject);
	if (!err)
		chunk_settle(head, raw);
	unpacker_free(&unpacker);
	free(raw);
	return err;
}

/* Walk from chunk to chunk: the way through a trace that has no index. */
static int list_from_heads(int fd, u64 begin_bytes, u64 end_bytes, struct chunk_list *list,
			   struct iot_reject *reject)
{
	struct iot_chunk_head head;
	u64 offset_bytes = begin_bytes;
	size_t room = 0;
	int err = 0;

	while (!err && offset_bytes < end_bytes) {
		err = chunk_head_read(fd, offset_bytes, end_bytes, &head, reject);
		if (err)
			break;
		list->has_trailer |= head.type == IOT_CHUNK_TRAILER;
		err = settle(fd, offset_bytes, &head, reject);
		if (!err && (head.type == IOT_CHUNK_RECORDS || head.type == IOT_CHUNK_OPEN) &&
		    chunk_list_add(list, &room, offset_bytes, &head))
			err = refuse_io(reject, offset_bytes, -ENOMEM);
		offset_bytes += sizeof(head) + le32_to_cpu(head.stored_bytes);
	}
	if (err == -ENODATA) {
		list->is_torn = true;
		err = 0;
	}
	list->end_bytes = offset_bytes;
	return err;
}

/**
 * chunk_list_more() - find the chunks of records that a writer has added
 * @fd: the trace
 * @begin_bytes: end of the last chunk that is known
 * @file_bytes: length of the file
 * @list: out: only the added entries; the caller frees @entries
 * @reject: filled in if it is refused
 *
 * Return: 0 or a negative errno.
 */
int chunk_list_more(int fd, u64 begin_bytes, u64 file_bytes, struct chunk_list *list,
		    struct iot_reject *reject)
{
	int err;

	*list = (struct chunk_list){};
	err = list_from_heads(fd, begin_bytes, file_bytes, list, reject);
	list->is_complete = !err && list->has_trailer;
	if (err) {
		free(list->entries);
		list->entries = NULL;
	}
	return err;
}

/* A complete trace that has too many chunks for an index: they end at @end_bytes. */
static int list_without_index(int fd, u64 begin_bytes, u64 end_bytes, struct chunk_list *list,
			      struct iot_reject *reject)
{
	int err = list_from_heads(fd, begin_bytes, end_bytes, list, reject);

	if (!err && list->is_torn)
		err = iot_refuse(reject, IOT_REJECT_index, end_bytes);
	list->is_complete = !err;
	return err;
}

/* The chunks of a complete trace. Return: 0, -ENODATA if it is not complete, or a refusal. */
static int list_from_index(int fd, u64 begin_bytes, u64 file_bytes, struct chunk_list *list,
			   struct iot_reject *reject)
{
	struct iot_chunk_head trailer, head;
	u64 trailer_bytes = file_bytes - sizeof(trailer), index_bytes;
	struct unpacker unpacker = {};
	int err;

	if (file_bytes < begin_bytes + sizeof(trailer))
		return -ENODATA;
	if (chunk_head_read(fd, trailer_bytes, file_bytes, &trailer, reject) ||
	    trailer.type != IOT_CHUNK_TRAILER)
		return -ENODATA;
	index_bytes = le64_to_cpu(trailer.sequence);
	if (!index_bytes)
		return list_without_index(fd, begin_bytes, trailer_bytes, list, reject);
	err = index_bytes < begin_bytes || index_bytes > file_bytes ?
		      -ENODATA : chunk_head_read(fd, index_bytes, file_bytes, &head, reject);
	if (!err && head.type == IOT_CHUNK_INDEX && is_larger(&head, IOT_INDEX_MAX_BYTES))
		return list_without_index(fd, begin_bytes, index_bytes, list, reject);
	if (err == -ENODATA || (!err && (head.type != IOT_CHUNK_INDEX ||
					 le32_to_cpu(head.raw_bytes) !=
						 (u64)le32_to_cpu(head.count) *
							 sizeof(struct iot_index_entry))))
		return iot_refuse(reject, IOT_REJECT_index, index_bytes);
	if (err)
		return err;
	list->count = le32_to_cpu(head.count);
	if (list->count > file_bytes / sizeof(head))
		return iot_refuse(reject, IOT_REJECT_index, index_bytes);
	list->entries = calloc(list->count + 1, sizeof(*list->entries));
	if (!list->entries)
		return refuse_io(reject, index_bytes, -ENOMEM);
	err = chunk_unpack(&unpacker, fd, index_bytes, &head, list->entries, reject);
	unpacker_free(&unpacker);
	if (!err && !are_places_right(list, begin_bytes, index_bytes))
		err = iot_refuse(reject, IOT_REJECT_index, index_bytes);
	list->is_complete = !err;
	list->summaries_bytes = le64_to_cpu(trailer.lost);
	list->index_bytes = index_bytes;
	return err;
}

/**
 * chunk_list_read() - find all chunks of records
 * @fd: the trace
 * @begin_bytes: where the first chunk begins
 * @file_bytes: length of the file
 * @list: out: @entries is to be freed by the caller
 * @reject: filled in if it is refused
 *
 * Return: 0 or a negative errno.
 */
int chunk_list_read(int fd, u64 begin_bytes, u64 file_bytes, struct chunk_list *list,
		    struct iot_reject *reject)
{
	int err;

	*list = (struct chunk_list){};
	err = list_from_index(fd, begin_bytes, file_bytes, list, reject);
	if (err == -ENODATA)
		err = list_from_heads(fd, begin_bytes, file_bytes, list, reject);
	if (err) {
		free(list->entries);
		list->entries = NULL;
	}
	return err;
}
