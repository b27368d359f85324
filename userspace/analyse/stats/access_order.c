// SPDX-License-Identifier: GPL-2.0-only
/*
 * access_order.c - how files are accessed.
 *
 * Consecutive and sequential are defined as in P. Carns et al., "Understanding and improving computational science
 * storage access through continuous characterization", 2011 (Darshan), here for each handle; a strided request is one of
 * at least three with the same distance. Requests count in the order in which they ended.
 */
#include "access_order.h"

#include <stdlib.h>
#include <string.h>

/* The last request of a handle in one direction. */
struct position {
	bool is_known;
	bool has_distance;
	s64 begin;
	s64 end;
	s64 distance;
};

struct pattern_stream {
	UT_hash_handle hh;
	u64 handle;
	struct position positions[PATTERN_DIRECTIONS];
};

struct pattern_file {
	UT_hash_handle hh;
	bool is_accessed[PATTERN_DIRECTIONS];
	bool is_shared;
	u64 process;
	char path[];
};

/**
 * pattern_size_limit() - the requests of a class of sizes are shorter than this
 *
 * Return: the limit in bytes; 0 for the last class, which has none.
 */
u64 pattern_size_limit(u32 index)
{
	static const u64 limits[PATTERN_SIZES - 1] = {
		1, 512, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864,
	};

	return index < PATTERN_SIZES - 1 ? limits[index] : 0;
}

static u32 size_class(u64 bytes)
{
	u32 i = 0;

	while (pattern_size_limit(i) && bytes >= pattern_size_limit(i))
		i++;
	return i;
}

static void classify(struct pattern_requests *requests, struct position *before, s64 begin, s64 end)
{
	s64 distance = (s64)((u64)begin - (u64)before->begin); /* offsets of a damaged trace may be any numbers */

	if (!before->is_known)
		requests->first++;
	else if (begin == before->end)
		requests->consecutive++;
	else if (before->has_distance && distance == before->distance)
		requests->strided++;
	else if (begin > before->end)
		requests->sequential++;
	else
		requests->random++;
	*before = (struct position){
		.is_known = true, .has_distance = before->is_known, .begin = begin, .end = end, .distance = distance,
	};
}

static int request_add(struct patterns *patterns, u64 handle, enum pattern_direction direction, s64 begin, u64 length,
		       u64 moved)
{
	struct pattern_requests *requests = &patterns->requests[direction];
	struct pattern_stream *stream;

	HASH_FIND(hh, patterns->streams, &handle, sizeof(handle), stream);
	if (!stream) {
		stream = calloc(1, sizeof(*stream));
		if (!stream)
			return -ENOMEM;
		stream->handle = handle;
		HASH_ADD(hh, patterns->streams, handle, sizeof(stream->handle), stream);
	}
	requests->count++;
	requests->aligned_offsets += !(begin % PATTERN_ALIGN_BYTES);
	requests->aligned_lengths += !(length % PATTERN_ALIGN_BYTES);
	requests->sizes[size_class(length)]++;
	classify(requests, &stream->positions[direction], begin, (s64)((u64)begin + moved));
	return 0;
}

static int file_use(struct patterns *patterns, const char *path, enum pattern_direction direction, u64 process)
{
	size_t bytes = strlen(path);
	struct pattern_file *file;

	if (!bytes) {
		patterns->unknown++;
		return 0;
	}
	HASH_FIND(hh, patterns->files, path, bytes, file);
	if (!file) {
		file = calloc(1, sizeof(*file) + bytes + 1);
		if (!file)
			return -ENOMEM;
		memcpy(file->path, path, bytes + 1);
		file->process = process;
		HASH_ADD(hh, patterns->files, path, bytes, file);
	}
	file->is_accessed[direction] = true;
	file->is_shared |= file->process != process;
	return 0;
}

/**
 * patterns_add() - take an operation into account
 * @patterns: all zero at first
 * @names: as of the record
 * @record: any record; other than accesses to data are ignored
 * @process: a number for the process of its task
 *
 * Return: 0 or -ENOMEM.
 */
int patterns_add(struct patterns *patterns, struct iot_names *names, const struct iot_record *record, u64 process)
{
	const char *path = iot_names_of_record(names, record).path;
	enum pattern_direction direction = PATTERN_READ;
	int err = 0;

	switch (record->kind) {
	case IOT_KIND_read:
		if (record->op.result >= 0)
			err = request_add(patterns, record->read.handle, PATTERN_READ, record->read.offset_bytes,
					  record->read.length_bytes, (u64)record->op.result);
		break;
	case IOT_KIND_write:
		direction = PATTERN_WRITE;
		if (record->op.result >= 0)
			err = request_add(patterns, record->write.handle, PATTERN_WRITE, record->write.offset_bytes,
					  record->write.length_bytes, (u64)record->op.result);
		break;
	case IOT_KIND_submit:
		direction = record->submit.flags & IOT_RW_write ? PATTERN_WRITE : PATTERN_READ;
		if (record->op.result >= 0) /* the bytes it moves are not known yet */
			err = request_add(patterns, record->submit.handle, direction, record->submit.offset_bytes,
					  record->submit.length_bytes, record->submit.length_bytes);
		break;
	case IOT_KIND_touch:
		direction = record->touch.flags & IOT_TOUCH_write ? PATTERN_WRITE : PATTERN_READ;
		patterns->touches++;
		patterns->major += record->touch.major;
		break;
	default:
		return 0;
	}
	return err || record->op.result < 0 ? err : file_use(patterns, path, direction, process);
}

/**
 * patterns_finish() - count the files, and free the data for that
 */
void patterns_finish(struct patterns *patterns)
{
	struct pattern_stream *stream, *next_stream;
	struct pattern_file *file, *next_file;

	HASH_ITER (hh, patterns->files, file, next_file) {
		if (file->is_accessed[PATTERN_READ] && file->is_accessed[PATTERN_WRITE])
			patterns->read_write++;
		else if (file->is_accessed[PATTERN_READ])
			patterns->read_only++;
		else
			patterns->write_only++;
		patterns->shared += file->is_shared;
		HASH_DEL(patterns->files, file);
		free(file);
	}
	HASH_ITER (hh, patterns->streams, stream, next_stream) {
		HASH_DEL(patterns->streams, stream);
		free(stream);
	}
}
