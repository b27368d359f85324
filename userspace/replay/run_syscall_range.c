// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_syscall_range.c - operations on open files for which libc has no function, or less than is
 * needed: reading a directory entry by entry, copying and sharing ranges.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_syscall.h"

/* -- directories -------------------------------------------------------------------------------------- */

#define ENTRY_BYTES	40   /* of an entry, more or less */
#define ENTRY_ROOM_MIN	1024 /* more than the longest one */

/* An entry as filled in by getdents64(2). */
struct entry {
	u64 ino;
	s64 next; /* position after it */
	u16 entry_bytes;
	u8 type;
	char name[];
};

/* Take entries until there are enough. Return: the position after them, -1 if none was too much. */
static off_t take_entries(struct worker_task *task, const struct iot_program_op *op, size_t bytes,
			  u32 *left)
{
	const u8 *p = memory_of(task)->sink, *stop = p + bytes;
	off_t position = -1;

	while (p < stop && *left) {
		const struct entry *entry = (const struct entry *)p;

		outcome_dirent(task, op, entry->name, entry->type);
		position = (off_t)entry->next;
		p += entry->entry_bytes;
		--*left;
	}
	return p < stop ? position : -1;
}

/*
 * As many entries as the traced call took. Entries read beyond them are read again next time: the
 * position goes back to where they end.
 */
static s64 read_entries(struct worker_task *task, const struct iot_program_op *op, int fd)
{
	u32 left = le32_to_cpu(op->entries);
	off_t position = left ? -1 : lseek(fd, 0, SEEK_CUR), after = -1;
	size_t room;
	s64 bytes;

	do {
		room = left < IOT_WORKER_BUFFER_BYTES / ENTRY_BYTES ? left * ENTRY_BYTES :
								     IOT_WORKER_BUFFER_BYTES;
		if (room < ENTRY_ROOM_MIN)
			room = ENTRY_ROOM_MIN;
		bytes = RESULT(getdents64(fd, memory_of(task)->sink, room));
		if (bytes > 0)
			after = take_entries(task, op, (size_t)bytes, &left);
	} while (bytes > 0 && left);
	if (bytes > 0 && position >= 0) /* the traced call was at the end, and found none */
		after = position;
	if (bytes > 0 && after >= 0 && lseek(fd, after, SEEK_SET) < 0)
		return -errno;
	return bytes < 0 ? bytes : 0;
}

s64 run_readdir(struct worker_task *task, const struct iot_program_op *op)
{
	struct handle *handle;
	int fd = handle_get(task, op->handle, &handle);
	s64 result;

	if (fd < 0)
		return fd;
	result = read_entries(task, op, fd);
	handle_put(handle);
	return result;
}

/* -- ranges ------------------------------------------------------------------------------------------- */

/* Two handles at once; @do_it gets both files. */
static s64 with_two_files(struct worker_task *task, const struct iot_program_op *op,
			  s64 (*do_it)(int in, int out, const struct iot_program_op *op))
{
	struct handle *from, *to;
	int in = handle_get(task, op->handle, &from), out;
	s64 result;

	if (in < 0)
		return in;
	out = handle_get(task, op->to_handle, &to);
	if (out < 0) {
		result = out;
	} else {
		result = do_it(in, out, op);
		handle_put(to);
	}
	handle_put(from);
	return result;
}

static s64 copy_range(int in, int out, const struct iot_program_op *op)
{
	off_t from = (off_t)le64_to_cpu(op->offset_bytes), to = (off_t)le64_to_cpu(op->to_offset_bytes);

	return RESULT(copy_file_range(in, &from, out, &to, le64_to_cpu(op->length_bytes), 0));
}

s64 run_copy_range(struct worker_task *task, const struct iot_program_op *op)
{
	return with_two_files(task, op, copy_range);
}

static s64 dedupe_range(int in, int out, const struct iot_program_op *op)
{
	struct {
		struct file_dedupe_range range;
		struct file_dedupe_range_info info;
	} request = {
		.range = {
			.src_offset = le64_to_cpu(op->offset_bytes),
			.src_length = le64_to_cpu(op->length_bytes),
			.dest_count = 1,
		},
		.info = { .dest_fd = out, .dest_offset = le64_to_cpu(op->to_offset_bytes) },
	};

	if (ioctl(in, FIDEDUPERANGE, &request))
		return -errno;
	if (request.info.status == FILE_DEDUPE_RANGE_DIFFERS)
		return -EBADE;
	return request.info.status < 0 ? request.info.status : (s64)request.info.bytes_deduped;
}

/* The ioctl returns only success; the result of the operation is the number of bytes. */
static s64 clone_range(int in, int out, const struct iot_program_op *op)
{
	struct file_clone_range range = {
		.src_fd = in,
		.src_offset = le64_to_cpu(op->offset_bytes),
		.src_length = le64_to_cpu(op->length_bytes),
		.dest_offset = le64_to_cpu(op->to_offset_bytes),
	};
	struct stat stat;

	if (ioctl(out, FICLONERANGE, &range))
		return -errno;
	if (range.src_length)
		return (s64)range.src_length;
	return fstat(in, &stat) ? -errno : (s64)stat.st_size - (s64)range.src_offset;
}

static s64 remap_range(int in, int out, const struct iot_program_op *op)
{
	u32 flags = le32_to_cpu(op->flags); /* 1 deduplicate, 2 may be shortened */

	if (flags & 1)
		return dedupe_range(in, out, op);
	return flags & 2 ? copy_range(in, out, op) : clone_range(in, out, op);
}

s64 run_remap_range(struct worker_task *task, const struct iot_program_op *op)
{
	return with_two_files(task, op, remap_range);
}
