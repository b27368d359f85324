// SPDX-License-Identifier: GPL-2.0-only
/*
 * prepare_fill.c - contents of files: data where there is to be data, holes elsewhere.
 *
 * Data is one block of 1 MiB, repeated from the beginning of a file, so the data at an offset
 * follows from the seed: a file that was changed is compared, and written where it differs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "prepare.h"

#define BLOCK_BYTES (1 << 20)
#define PIECE_BYTES 4096 /* that are compared and written at once */

/* A file in work. */
struct fill {
	struct preparer *p;
	int fd;
	u64 size_bytes;
	u64 unit_bytes; /* of storage: a smaller range cannot be a hole */
	u64 written_bytes;
	bool is_repair;
	bool has_punched;
};

/**
 * fill_open() - make the block of data
 * @p: the work
 * @seed: of random data, not 0
 *
 * Return: 0 or -ENOMEM.
 */
int fill_open(struct preparer *p, u64 seed)
{
	size_t i;

	p->block = calloc(1, BLOCK_BYTES);
	p->scratch = malloc(BLOCK_BYTES);
	if (!p->block || !p->scratch)
		return -ENOMEM;
	if (p->data != PREPARE_RANDOM)
		return 0;
	for (i = 0; i < BLOCK_BYTES; i += sizeof(seed)) { /* xorshift64 */
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		memcpy(p->block + i, &seed, sizeof(seed));
	}
	return 0;
}

/* -- data ---------------------------------------------------------------------------- */

/* The wanted data at an offset, up to the end of the block. */
static const u8 *data_at(const struct fill *fill, u64 at, u64 end, size_t *bytes)
{
	size_t into = (size_t)(at % BLOCK_BYTES);

	*bytes = end - at < BLOCK_BYTES - into ? (size_t)(end - at) : BLOCK_BYTES - into;
	return fill->p->block + into;
}

static int write_data(struct fill *fill, const u8 *data, u64 at, size_t bytes)
{
	ssize_t n;

	while (bytes) {
		n = pwrite(fill->fd, data, bytes, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		data += n;
		at += (u64)n;
		bytes -= (size_t)n;
		fill->written_bytes += (u64)n;
	}
	return 0;
}

static bool has_hole(const struct fill *fill, u64 at, u64 end)
{
	off_t hole = lseek(fill->fd, (off_t)at, SEEK_HOLE);

	return hole >= 0 && (u64)hole < end;
}

/* Write those pieces of a block that differ, neighbours at once. */
static int write_differences(struct fill *fill, const u8 *data, u64 at, size_t bytes)
{
	const u8 *is = fill->p->scratch;
	size_t begin = 0, i, piece;
	ssize_t n = pread(fill->fd, fill->p->scratch, bytes, (off_t)at);
	int err = 0;

	if (n < 0)
		return -errno;
	for (i = 0; i < bytes && !err; i += piece) {
		piece = bytes - i < PIECE_BYTES ? bytes - i : PIECE_BYTES;
		if ((size_t)n >= i + piece && !memcmp(is + i, data + i, piece)) {
			err = write_data(fill, data + begin, at + begin, i - begin);
			begin = i + piece;
		}
	}
	return err ? err : write_data(fill, data + begin, at + begin, bytes - begin);
}

static int put_data(struct fill *fill, u64 at, u64 end)
{
	const u8 *data;
	size_t bytes;
	int err = 0;

	for (; at < end && !err; at += bytes) {
		data = data_at(fill, at, end, &bytes);
		if (fill->is_repair && !has_hole(fill, at, at + bytes))
			err = write_differences(fill, data, at, bytes);
		else
			err = write_data(fill, data, at, bytes);
		if (fill->p->progress)
			fill->p->progress(fill->p->result->entries,
					  fill->p->result->bytes + fill->written_bytes);
	}
	return err;
}

/* -- holes --------------------------------------------------------------------------- */

/* Return: 0; -EOPNOTSUPP if the file system cannot make holes; another negative errno. */
static int put_hole(struct fill *fill, u64 at, u64 end)
{
	u64 unit = fill->unit_bytes;
	off_t data;

	if (!fill->is_repair)
		return 0;
	at = (at + unit - 1) / unit * unit;
	if (end < fill->size_bytes)
		end = end / unit * unit;
	if (at >= end)
		return 0;
	data = lseek(fill->fd, (off_t)at, SEEK_DATA);
	if (data < 0 || (u64)data >= end)
		return 0;
	if (fallocate(fill->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
		      (off_t)((end + unit - 1) / unit * unit - at)))
		return -errno;
	fill->has_punched = true;
	return 0;
}

/* -- a file -------------------------------------------------------------------------- */

static int put_extents(struct fill *fill, u32 index)
{
	const struct iot_program_extent *extents;
	u64 end = 0;
	u32 count, i;
	int err = 0;

	extents = iot_tree_extents(fill->p->program, index, &count);
	for (i = 0; i < count && !err; i++) {
		u64 at = le64_to_cpu(extents[i].offset_bytes);

		err = put_hole(fill, end, at);
		end = at + le64_to_cpu(extents[i].length_bytes);
		if (!err)
			err = put_data(fill, at, end);
	}
	return err ? err : put_hole(fill, end, fill->size_bytes);
}

static int put_contents(struct fill *fill, const struct wanted *wanted)
{
	if (fill->p->data == PREPARE_SPARSE)
		return put_hole(fill, 0, fill->size_bytes);
	if (le32_to_cpu(entry_of(fill->p, wanted)->flags) & IOT_ENTRY_EXTENTS)
		return put_extents(fill, wanted->index);
	return put_data(fill, 0, fill->size_bytes);
}

/**
 * fill_new() - write the contents of an empty file
 * @p: the preparation
 * @wanted: the expected file
 * @fd: the file, open for reading and writing
 *
 * Return: 0 or a negative errno.
 */
int fill_new(struct preparer *p, const struct wanted *wanted, int fd)
{
	struct fill fill = { .p = p, .fd = fd };
	int err;

	fill.size_bytes = le64_to_cpu(entry_of(p, wanted)->size_bytes);
	err = put_contents(&fill, wanted);
	if (!err && ftruncate(fd, (off_t)fill.size_bytes)) /* it may end with a hole */
		err = -errno;
	p->result->bytes += fill.written_bytes;
	return err;
}

/* Where holes cannot be made, they can be left when a file is written from the beginning. */
static int repair_contents(struct fill *fill, const struct wanted *wanted)
{
	int err = put_contents(fill, wanted);

	if (err != -EOPNOTSUPP)
		return err;
	fill->is_repair = false;
	if (ftruncate(fill->fd, 0) || ftruncate(fill->fd, (off_t)fill->size_bytes))
		return -errno;
	fill->has_punched = true;
	return put_contents(fill, wanted);
}

static int repair_file(struct preparer *p, const struct wanted *wanted, int fd,
		       const struct stat *stat)
{
	struct fill fill = { .p = p, .fd = fd, .is_repair = true };
	bool is_resized;
	int err = 0;

	fill.size_bytes = le64_to_cpu(entry_of(p, wanted)->size_bytes);
	fill.unit_bytes = stat->st_blksize > 0 ? (u64)stat->st_blksize : PIECE_BYTES;
	is_resized = fill.size_bytes != (u64)stat->st_size;
	if (is_resized && ftruncate(fd, (off_t)fill.size_bytes))
		return -errno;
	err = repair_contents(&fill, wanted);
	p->result->bytes += fill.written_bytes;
	if (is_resized)
		prepare_changed(p, wanted->path, PREPARE_resized);
	else if (fill.written_bytes || fill.has_punched)
		prepare_changed(p, wanted->path, PREPARE_refilled);
	return err;
}

/* Without root, the mode could prevent the owner from opening the file; it is set last. */
static int open_pinned(int pin, const struct stat *stat)
{
	char path[PIN_PATH_BYTES];
	int fd = place_reopen(pin, O_RDWR);

	if (fd != -EACCES)
		return fd;
	place_pin_path(pin, path);
	if (chmod(path, (stat->st_mode & 07777) | S_IRUSR | S_IWUSR))
		return -errno;
	return place_reopen(pin, O_RDWR);
}

/**
 * fill_repair() - restore the contents of an existing file, if they may have changed
 * @p: the preparation
 * @wanted: the expected file
 *
 * Return: 0 or a negative errno.
 */
int fill_repair(struct preparer *p, struct wanted *wanted)
{
	struct stat stat;
	int pin, fd, err;

	if (!wanted->is_there || is_further_name(wanted) || !S_ISREG(mode_of(p, wanted)))
		return 0;
	if (!wanted->is_suspect &&
	    wanted->was.size_bytes == le64_to_cpu(entry_of(p, wanted)->size_bytes))
		return 0;
	wanted->is_suspect = true; /* its mode is examined again, too */
	pin = place_pin(p, wanted, &stat);
	if (pin < 0)
		return pin;
	fd = open_pinned(pin, &stat);
	close(pin);
	if (fd < 0)
		return fd;
	err = repair_file(p, wanted, fd, &stat);
	if (close(fd) && !err)
		err = -errno;
	return err;
}
