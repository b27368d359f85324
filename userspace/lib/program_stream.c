// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * program_stream.c - programs that may be larger than memory: operations and waits stay in the file,
 * and are read and checked in blocks (core/replay/blocks.h).
 */
#include <stdlib.h>
#include <sys/random.h>

#include "core/replay/blocks.h"
#include "iotape.h"
#include "program_source.h"

#define CACHE_BYTES (16u << 20)

struct stream {
	struct iot_blocks blocks; /* first member: a program refers to it by its reader */
	struct program_source source;
	struct iot_program_head head;
	void *sections[IOT_SECTION_COUNT];
};

static struct stream *stream_of(const struct iot_program *program)
{
	return (struct stream *)program->reader;
}

static void stream_free(struct stream *stream)
{
	size_t i;

	for (i = 0; i < IOT_SECTION_COUNT; i++)
		free(stream->sections[i]);
	free(stream->blocks.digests);
	free(stream->blocks.cached);
	free(stream->blocks.cache);
	program_source_close(&stream->source);
	free(stream);
}

static int read_block(void *context, u64 offset_bytes, void *bytes, size_t count)
{
	return program_source_read(context, offset_bytes, bytes, count);
}

static int read_head(struct stream *stream, struct iot_reject *reject)
{
	struct program_source *source = &stream->source;
	s64 size;
	int err;

	if (source->byte_count < sizeof(stream->head))
		return iot_refuse(reject, IOT_REJECT_program_short, source->byte_count);
	err = program_source_read(source, 0, &stream->head, sizeof(stream->head));
	if (err)
		return program_source_refuse(source, err, reject);
	size = iot_program_size(&stream->head, reject);
	if (size < 0)
		return (int)size;
	return (u64)size > source->byte_count ?
		       iot_refuse(reject, IOT_REJECT_program_short, source->byte_count) : 0;
}

static int read_section(struct stream *stream, u32 section)
{
	const struct iot_section *s = &stream->head.sections[section];
	u64 bytes = iot_section_bytes(&stream->head, section);

	stream->sections[section] = malloc(bytes + 1);
	if (!stream->sections[section])
		return -ENOMEM;
	return program_source_read(&stream->source, le64_to_cpu(s->offset_bytes), stream->sections[section], bytes);
}

static int make_blocks(struct stream *stream)
{
	struct iot_blocks *blocks = &stream->blocks;

	blocks->read = read_block;
	blocks->context = &stream->source;
	if (getrandom(&blocks->key, sizeof(blocks->key), 0) != sizeof(blocks->key))
		return -EIO;
	iot_blocks_init(blocks, &stream->head);
	blocks->slots = CACHE_BYTES / IOT_BLOCK_BYTES;
	blocks->digests = calloc(blocks->count, sizeof(*blocks->digests));
	blocks->cached = calloc(blocks->slots, sizeof(*blocks->cached));
	blocks->cache = malloc(CACHE_BYTES);
	return blocks->digests && blocks->cached && blocks->cache ? 0 : -ENOMEM;
}

static int verify(struct stream *stream, const struct iot_program *program, struct iot_reject *reject)
{
	u32 *scratch = calloc(iot_program_scratch_count(program) + 1, sizeof(*scratch));
	int err;

	if (!scratch)
		return program_source_refuse(&stream->source, -ENOMEM, reject);
	err = iot_program_verify(program, scratch, NULL, NULL, reject);
	free(scratch);
	if (program->reader->error == -EBADMSG && !stream->source.packed.bad)
		iot_refuse(reject, IOT_REJECT_changed, 0);
	else if (program->reader->error)
		err = program_source_refuse(&stream->source, program->reader->error, reject);
	return err;
}

/**
 * iot_program_stream() - open and verify a program that may be large
 * @path: its file, which is open until iot_program_free()
 * @resident_bytes: operations and waits are in memory if they are no larger
 * @program: filled in; to be read by iot_program_op_at() and iot_program_wait_at(), by one thread at
 *	a time; they return verified contents, or zeros after an error of its reader
 * @reject: filled in if it is refused
 *
 * Return: 0 or a negative errno.
 */
int iot_program_stream(const char *path, u64 resident_bytes, struct iot_program *program,
		       struct iot_reject *reject)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	bool stays;
	u32 i;
	int err;

	if (!stream) {
		iot_refuse(reject, IOT_REJECT_memory, 0);
		return -ENOMEM;
	}
	err = program_source_open(&stream->source, path, reject);
	if (!err)
		err = read_head(stream, reject);
	if (err) {
		stream_free(stream);
		return err;
	}
	stays = iot_blocks_are_needed(&stream->head, resident_bytes);
	for (i = 0; i < IOT_SECTION_COUNT && !err; i++)
		if (!stays || (i != IOT_SECTION_OPS && i != IOT_SECTION_WAITS))
			err = read_section(stream, i);
	if (!err && stays)
		err = make_blocks(stream);
	if (err) {
		program_source_refuse(&stream->source, err, reject);
	} else {
		iot_program_place(program, &stream->head, (const void *const *)stream->sections);
		program->reader = &stream->blocks.reader;
		err = verify(stream, program, reject);
	}
	if (err) {
		stream_free(stream);
		*program = (struct iot_program){};
	}
	return err;
}

/**
 * iot_program_fd() - the file of a program that iot_program_stream() has opened
 *
 * Return: a descriptor that goes with the program.
 */
int iot_program_fd(const struct iot_program *program)
{
	return stream_of(program)->source.fd;
}

/**
 * iot_program_free() - free a program that iot_program_load() or iot_program_stream() has read
 */
void iot_program_free(struct iot_program *program)
{
	if (program->reader)
		stream_free(stream_of(program));
	else
		free((void *)program->bytes);
}
