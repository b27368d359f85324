// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * program_source.c - the bytes of a program, from a file that may be compressed.
 */
#include "program_source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "unpack.h"

static int read_file(void *context, u64 offset_bytes, void *bytes, size_t count)
{
	const struct program_source *source = context;
	int err = read_exactly(source->fd, offset_bytes, bytes, count);

	return err == -ENODATA ? -EBADMSG : err;
}

static int unpack(void *context, void *bytes, size_t count, const void *stored, size_t stored_bytes)
{
	const struct program_source *source = context;
	size_t n = ZSTD_decompressDCtx(source->unpacker, bytes, count, stored, stored_bytes);

	return ZSTD_isError(n) || n != count ? -EBADMSG : 0;
}

static int read_index(struct program_source *source, struct iot_reject *reject)
{
	const struct iot_packed_head *head = &source->packed.head;
	u64 count = iot_packed_count(head);
	__le32 *lengths = malloc(count * sizeof(*lengths));
	int err;

	source->packed.begins = malloc((count + 1) * sizeof(*source->packed.begins));
	if (lengths && source->packed.begins)
		err = read_file(source, iot_packed_index(head, source->file_bytes), lengths, count * sizeof(*lengths));
	else
		err = -ENOMEM;
	if (err)
		program_source_refuse(source, err, reject);
	else
		err = iot_packed_place(&source->packed, lengths, source->file_bytes, reject);
	free(lengths);
	return err;
}

static int open_packed(struct program_source *source, struct iot_reject *reject)
{
	struct iot_packed *packed = &source->packed;
	int err;

	if (source->file_bytes < sizeof(packed->head))
		return iot_refuse(reject, IOT_REJECT_program_short, source->file_bytes);
	err = read_file(source, 0, &packed->head, sizeof(packed->head));
	if (err)
		return program_source_refuse(source, err, reject);
	err = iot_packed_check(&packed->head, source->file_bytes, reject);
	if (err)
		return err;
	packed->read = read_file;
	packed->unpack = unpack;
	packed->context = source;
	packed->stored = malloc(le32_to_cpu(packed->head.block_bytes));
	packed->block = malloc(le32_to_cpu(packed->head.block_bytes));
	source->unpacker = ZSTD_createDCtx();
	if (!packed->stored || !packed->block || !source->unpacker)
		return program_source_refuse(source, -ENOMEM, reject);
	source->is_packed = true;
	source->byte_count = le64_to_cpu(packed->head.program_bytes);
	return read_index(source, reject);
}

/**
 * program_source_open() - open the file of a program
 * @source: initialized; after an error it is closed
 * @path: of the file
 * @reject: filled in if it is refused
 *
 * Return: 0 or a negative errno.
 */
int program_source_open(struct program_source *source, const char *path, struct iot_reject *reject)
{
	u8 magic[IOT_PROGRAM_MAGIC_BYTES] = {};
	struct stat stat;
	int err = 0;

	*source = (struct program_source){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (source->fd < 0 || fstat(source->fd, &stat))
		err = program_source_refuse(source, -errno, reject);
	else if (!S_ISREG(stat.st_mode))
		err = iot_refuse(reject, IOT_REJECT_program_magic, 0);
	if (!err) {
		source->file_bytes = source->byte_count = (u64)stat.st_size;
		if (source->file_bytes >= sizeof(magic))
			err = read_file(source, 0, magic, sizeof(magic));
		if (err)
			program_source_refuse(source, err, reject);
		else if (iot_is_packed(magic))
			err = open_packed(source, reject);
	}
	if (err)
		program_source_close(source);
	return err;
}

/**
 * program_source_read() - read bytes of the program
 * @source: open
 * @offset_bytes: in the program
 * @bytes: room for them
 * @count: their number
 *
 * Return: 0; -EBADMSG if the program is shorter, or cannot be decompressed there; or another negative errno.
 */
int program_source_read(struct program_source *source, u64 offset_bytes, void *bytes, size_t count)
{
	return source->is_packed ? iot_packed_read(&source->packed, offset_bytes, bytes, count) :
				   read_file(source, offset_bytes, bytes, count);
}

/**
 * program_source_refuse() - note for which reason a program cannot be read
 * @source: open, or not
 * @err: of program_source_read(), or another negative errno
 * @reject: filled in
 *
 * Return: @err.
 */
int program_source_refuse(const struct program_source *source, int err, struct iot_reject *reject)
{
	if (err == -EBADMSG && source->is_packed)
		return iot_packed_refuse(&source->packed, source->file_bytes, reject);
	if (err == -EBADMSG)
		return iot_refuse(reject, IOT_REJECT_program_short, source->file_bytes);
	iot_refuse(reject, err == -ENOMEM ? IOT_REJECT_memory : IOT_REJECT_io, 0);
	return err;
}

/**
 * program_source_close() - close the file, free the memory
 * @source: open, or closed before
 */
void program_source_close(struct program_source *source)
{
	free(source->packed.begins);
	free(source->packed.stored);
	free(source->packed.block);
	ZSTD_freeDCtx(source->unpacker);
	if (source->fd >= 0)
		close(source->fd);
	*source = (struct program_source){ .fd = -1 };
}
