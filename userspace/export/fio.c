// SPDX-License-Identifier: GPL-2.0-only
/*
 * fio.c - an I/O log, version 3, for fio --read_iolog.
 *
 * Source of the format: "Trace file format v3" of fio's HOWTO. fio names files, not handles, and runs the log with one
 * thread: a file is open while any handle of it is, and all tasks become one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

#define NAME_MAX_BYTES 255 /* fio reads no longer ones */

struct fio_file {
	UT_hash_handle hh;
	u32 handles;
	bool is_open;
	char path[];
};

struct fio_log {
	struct fio_file *files;
};

static int begin(struct export *x)
{
	x->context = calloc(1, sizeof(struct fio_log));
	fputs("fio version 3 iolog\n", x->out);
	return x->context ? 0 : -ENOMEM;
}

static bool is_known_to_fio(struct export *x, const struct export_event *e)
{
	if (!*e->path)
		export_lose(x, e, EXPORT_NO_PATH);
	else if (strpbrk(e->path, " \t\n\r\v\f:") || strlen(e->path) > NAME_MAX_BYTES)
		export_lose(x, e, "the name of their file has blanks or colons, or more than 255 bytes");
	else
		return true;
	return false;
}

static void put_line(struct export *x, const struct export_event *e, const char *action)
{
	fprintf(x->out, "%llu %s %s", e->begin_ns / 1000, e->path, action);
}

static struct fio_file *file_get(struct export *x, const struct export_event *e)
{
	struct fio_log *log = x->context;
	size_t bytes = strlen(e->path);
	struct fio_file *file;

	HASH_FIND(hh, log->files, e->path, bytes, file);
	if (file)
		return file;
	file = calloc(1, sizeof(*file) + bytes + 1);
	if (!file)
		return NULL;
	memcpy(file->path, e->path, bytes + 1);
	HASH_ADD_KEYPTR(hh, log->files, file->path, bytes, file);
	put_line(x, e, "add\n");
	return file;
}

static void file_open(struct export *x, const struct export_event *e, struct fio_file *file)
{
	if (!file->is_open)
		put_line(x, e, "open\n");
	file->is_open = true;
}

/* An open of a directory, or one that another handle has done already, does nothing. */
static int take_open(struct export *x, const struct export_event *e)
{
	struct fio_file *file;

	if (e->record->open.flags & IOT_OPEN_directory) {
		export_lose(x, e, EXPORT_NO_FORM);
		return 0;
	}
	file = file_get(x, e);
	if (!file)
		return -ENOMEM;
	if (file->is_open)
		export_lose(x, e, "the file is already open in fio");
	file_open(x, e, file);
	file->handles++;
	return 0;
}

static int take_release(struct export *x, const struct export_event *e)
{
	struct fio_log *log = x->context;
	struct fio_file *file;

	HASH_FIND(hh, log->files, e->path, strlen(e->path), file);
	if (file && file->handles)
		file->handles--;
	if (!file || !file->is_open || file->handles) {
		export_lose(x, e, file && file->is_open ? "another handle has the file open" : EXPORT_NO_FORM);
		return 0;
	}
	put_line(x, e, "close\n");
	file->is_open = false;
	return 0;
}

static int put_range(struct export *x, const struct export_event *e, const char *action, s64 offset, u64 length)
{
	struct fio_file *file = file_get(x, e);

	if (!file)
		return -ENOMEM;
	file_open(x, e, file);
	put_line(x, e, action);
	fprintf(x->out, " %lld %llu\n", offset, length);
	return 0;
}

static int put_data(struct export *x, const struct export_event *e, const char *action, s64 offset, u64 length)
{
	if (length)
		return put_range(x, e, action, offset, length);
	export_lose(x, e, "they request no bytes");
	return 0;
}

static int take(struct export *x, const struct export_event *e)
{
	const struct iot_record *r = e->record;

	if (e->info->group != IOT_GROUP_op) {
		export_lose(x, e, EXPORT_NO_FORM);
		return 0;
	}
	if (e->result < 0) {
		export_lose(x, e, EXPORT_FAILED);
		return 0;
	}
	switch (r->kind) {
	case IOT_KIND_open:
		return is_known_to_fio(x, e) ? take_open(x, e) : 0;
	case IOT_KIND_release:
		return is_known_to_fio(x, e) ? take_release(x, e) : 0;
	case IOT_KIND_read:
		return is_known_to_fio(x, e) ? put_data(x, e, "read", r->read.offset_bytes, r->read.length_bytes) : 0;
	case IOT_KIND_write:
		return is_known_to_fio(x, e) ? put_data(x, e, "write", r->write.offset_bytes, r->write.length_bytes) : 0;
	case IOT_KIND_submit:
		return is_known_to_fio(x, e) ? put_data(x, e, r->submit.flags & IOT_RW_write ? "write" : "read",
							r->submit.offset_bytes, r->submit.length_bytes) : 0;
	case IOT_KIND_fsync:
		return is_known_to_fio(x, e) ?
			       put_range(x, e, r->fsync.flags & IOT_RW_datasync ? "datasync" : "sync", 0, 0) : 0;
	default:
		export_lose(x, e, EXPORT_NO_FORM);
		return 0;
	}
}

static void fio_free(struct export *x)
{
	struct fio_log *log = x->context;
	struct fio_file *file, *next;

	if (!log)
		return;
	HASH_ITER (hh, log->files, file, next) {
		HASH_DEL(log->files, file);
		free(file);
	}
	free(log);
}

const struct export_format export_format_fio = {
	.name = "fio",
	.sentence = "an I/O log for fio --read_iolog",
	.is_ordered = true,
	.has_requests = true,
	.begin = begin,
	.take = take,
	.free = fio_free,
};
