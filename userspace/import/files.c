// SPDX-License-Identifier: GPL-2.0-only
/*
 * files.c - open file descriptions, and the tables of descriptors that lead to them.
 */
#include <stdlib.h>

#include "model.h"

#define FD_MAX (1 << 30)

/* -- open file descriptions --------------------------------------------------------------- */

/**
 * file_make() - an open file description, with one reference
 * @entry: the name it is opened by, or NULL
 * @flags: IOT_OPEN_*
 *
 * Return: it; NULL if out of memory.
 */
struct file *file_make(struct import *im, struct inode *inode, struct entry *entry, u32 flags)
{
	struct file *file = import_allocate(im, sizeof(*file));

	if (!file)
		return NULL;
	file->references = 1;
	file->inode = inode;
	file->entry = entry;
	file->flags = flags;
	return file;
}

void file_get(struct file *file)
{
	file->references++;
}

/**
 * file_put() - drop a reference; the last one frees the handle
 */
void file_put(struct import *im, struct file *file)
{
	struct iot_record record = { .kind = IOT_KIND_release };

	if (--file->references)
		return;
	if (file->handle) {
		record.release.object = emit_object(im, file->inode);
		record.release.handle = file->handle;
		emit_op(im, &record);
	}
	free(file);
}

static void flush(struct import *im, const struct file *file)
{
	struct iot_record record = { .kind = IOT_KIND_flush };

	if (!file->handle)
		return;
	record.flush.object = emit_object(im, file->inode);
	record.flush.handle = file->handle;
	emit_op(im, &record);
}

/* -- tables ----------------------------------------------------------------------------------- */

struct fd_table *fd_table_make(struct import *im)
{
	struct fd_table *table = import_allocate(im, sizeof(*table));

	if (table)
		table->references = 1;
	return table;
}

struct descriptor *fd_find(const struct fd_table *table, s64 fd)
{
	struct descriptor *descriptor;
	s32 key = (s32)fd;

	HASH_FIND(hh, table->descriptors, &key, sizeof(key), descriptor);
	return descriptor;
}

static void install(struct import *im, struct fd_table *table, s64 fd, struct file *file,
		    bool is_cloexec)
{
	struct descriptor *descriptor = import_allocate(im, sizeof(*descriptor));

	if (!descriptor) {
		file_put(im, file);
		return;
	}
	descriptor->fd = (s32)fd;
	descriptor->file = file;
	descriptor->is_cloexec = is_cloexec;
	HASH_ADD(hh, table->descriptors, fd, sizeof(descriptor->fd), descriptor);
}

/* A descriptor goes; its closing may be one that the log does not show. */
static void drop(struct import *im, struct fd_table *table, struct descriptor *descriptor)
{
	struct file *file = descriptor->file;

	HASH_DEL(table->descriptors, descriptor);
	free(descriptor);
	flush(im, file);
	file_put(im, file);
}

/**
 * fd_install() - give a descriptor to the task
 * @file: its reference goes with it
 */
void fd_install(struct import *im, s64 fd, struct file *file, bool is_cloexec)
{
	struct fd_table *table = im->task->fds;
	struct descriptor *old = fd >= 0 && fd < FD_MAX ? fd_find(table, fd) : NULL;

	if (fd < 0 || fd >= FD_MAX) {
		file_put(im, file);
		return;
	}
	if (old)
		drop(im, table, old);
	install(im, table, fd, file, is_cloexec);
}

/**
 * fd_close() - the task closes a descriptor; nothing if it is not known
 */
void fd_close(struct import *im, s64 fd)
{
	struct descriptor *descriptor = fd_find(im->task->fds, fd);

	if (descriptor)
		drop(im, im->task->fds, descriptor);
}

/**
 * fd_forget() - note that a call returned a descriptor of an unknown file
 *
 * The previous file of this descriptor was closed without a trace in the log.
 */
void fd_forget(struct import *im, s64 fd)
{
	im->begin_ns = im->end_ns; /* the call itself takes the time */
	fd_close(im, fd);
}

static int compare_fds(const void *a, const void *b)
{
	const struct descriptor *x = *(struct descriptor *const *)a;
	const struct descriptor *y = *(struct descriptor *const *)b;

	return x->fd < y->fd ? -1 : x->fd > y->fd;
}

/* Close the descriptors that fulfil a condition, in ascending order, like the kernel. */
static void close_those(struct import *im, struct fd_table *table, u64 first, u64 last,
			bool is_cloexec_only)
{
	size_t count = HASH_COUNT(table->descriptors), i, n = 0;
	struct descriptor **those, *descriptor, *next;

	if (!count)
		return;
	those = import_allocate(im, count * sizeof(struct descriptor *));
	if (!those)
		return;
	HASH_ITER (hh, table->descriptors, descriptor, next)
		if ((u64)descriptor->fd >= first && (u64)descriptor->fd <= last &&
		    (!is_cloexec_only || descriptor->is_cloexec))
			those[n++] = descriptor;
	qsort(those, n, sizeof(struct descriptor *), compare_fds);
	for (i = 0; i < n; i++)
		drop(im, table, those[i]);
	free(those);
}

struct fd_table *fd_table_copy(struct import *im, struct fd_table *from)
{
	struct fd_table *table = fd_table_make(im);
	struct descriptor *descriptor, *next;

	if (!table)
		return NULL;
	HASH_ITER (hh, from->descriptors, descriptor, next) {
		file_get(descriptor->file);
		install(im, table, descriptor->fd, descriptor->file, descriptor->is_cloexec);
	}
	return table;
}

/**
 * fd_table_put() - drop a reference; with the last one all its descriptors are closed
 */
void fd_table_put(struct import *im, struct fd_table *table)
{
	if (--table->references)
		return;
	close_those(im, table, 0, (u64)-1, false);
	free(table);
}

/* A table of the task's own. */
static struct fd_table *own_table(struct import *im)
{
	struct fd_table *table = im->task->fds;

	if (table->references == 1)
		return table;
	table = fd_table_copy(im, table);
	if (!table)
		return NULL;
	im->task->fds->references--;
	im->task->fds = table;
	return table;
}

/**
 * fd_table_exec() - close the descriptors that an exec closes
 */
void fd_table_exec(struct import *im, struct fd_table *table)
{
	close_those(im, table, 0, (u64)-1, true);
}

/**
 * fd_close_range() - close_range(2)
 */
void fd_close_range(struct import *im, u64 first, u64 last, u64 flags)
{
	struct fd_table *table = flags & 2 ? own_table(im) : im->task->fds;
	struct descriptor *descriptor, *next;

	if (!table)
		return;
	if (!(flags & 4)) {
		close_those(im, table, first, last, false);
		return;
	}
	HASH_ITER (hh, table->descriptors, descriptor, next)
		if ((u64)descriptor->fd >= first && (u64)descriptor->fd <= last)
			descriptor->is_cloexec = true;
}

/* -- descriptors in calls ------------------------------------------------------------------------ */

/**
 * fd_install_nothing() - a descriptor of the task is a pipe, a socket or the like
 */
void fd_install_nothing(struct import *im, s64 fd)
{
	struct file *file = file_make(im, im->nothing, NULL, 0);

	if (file)
		fd_install(im, fd, file, false);
}

/* One that was open before the log began, or came in a message: it is opened now. */
static struct file *open_late(struct import *im, s64 fd, const u8 *path, size_t bytes)
{
	struct iot_record record = { .kind = IOT_KIND_open };
	struct place place;
	struct file *file;
	u32 flags;

	if (fd >= FD_MAX || !place_from_path(im, path, bytes, &place))
		return NULL;
	flags = place.inode->type == IOT_TYPE_dir ? IOT_OPEN_read | IOT_OPEN_directory :
						    IOT_OPEN_read | IOT_OPEN_write;
	file = file_make(im, place.inode, place.entry, flags);
	if (!file)
		return NULL;
	if (inode_is_inside(im, place.inode)) {
		gap(im, IMPORT_GAP_opened_before);
		file->handle = ++im->last_handle;
		record.open.object = emit_object(im, place.inode);
		record.open.name = emit_name_of(im, place.inode, place.entry);
		record.open.handle = file->handle;
		record.open.flags = flags;
		record.open.size_bytes = place.inode->size_bytes;
		emit_before(im, &record);
	}
	fd_install(im, fd, file, false);
	return file;
}

/* /dev/null<char 1:3>, as -yy and --decode-fds=dev have it: without the device. */
static size_t without_device(const u8 *path, size_t bytes)
{
	const u8 *mark;

	if (!bytes || path[bytes - 1] != '>')
		return bytes;
	mark = memmem(path, bytes, "<char ", 6);
	if (!mark)
		mark = memmem(path, bytes, "<block ", 7);
	return mark ? (size_t)(mark - path) : bytes;
}

/*
 * Does -y say that a descriptor is something else than the model has? A path inside at which the model has
 * nothing does not: names change while calls are under way.
 */
static bool is_other(struct import *im, const struct file *file, const u8 *path, size_t bytes)
{
	struct inode *inode;

	if (!bytes)
		return false;
	if (*path != '/')
		return file->inode != im->nothing;
	inode = inode_at(im, path, bytes);
	if (inode)
		return inode != file->inode && (file->handle || inode_is_inside(im, inode));
	return path_is_inside(im, path, bytes) != inode_is_inside(im, file->inode);
}

/* Whether -y shows that the file of a descriptor has lost its name. */
static bool is_deleted(struct text arg)
{
	return memmem(arg.p, arg.bytes, "(deleted)", 9);
}

/**
 * file_of() - the open file description of an argument
 *
 * Return: it; NULL if there is none that is known.
 */
struct file *file_of(struct import *im, const struct call *call, u32 index)
{
	struct descriptor *descriptor;
	u8 path[PATH_ROOM];
	struct text quoted;
	size_t bytes = 0;
	s64 fd;

	if (index >= call->arg_count || !value_fd(call->args[index], &fd, &quoted)) {
		call_object_lost(im, call);
		return NULL;
	}
	if (fd < 0)
		return NULL;
	value_path(quoted, path, sizeof(path), &bytes);
	bytes = without_device(path, bytes);
	descriptor = fd_find(im->task->fds, fd);
	if (descriptor && !is_deleted(call->args[index]) && is_other(im, descriptor->file, path, bytes)) {
		gap(im, IMPORT_GAP_contradiction); /* it was closed where the log does not show it */
		fd_close(im, fd);
		descriptor = NULL;
	}
	if (descriptor)
		return descriptor->file;
	if (!bytes && call->result >= 0 && call->has_result) {
		gap(im, IMPORT_GAP_no_fd);
		gap_moved(im, IMPORT_GAP_no_fd, call);
	}
	if (!bytes || *path != '/' || call->result == -EBADF || is_deleted(call->args[index]))
		return NULL;
	return open_late(im, fd, path, bytes);
}

/**
 * file_inside() - the same, if it is a handle of the trace
 */
struct file *file_inside(struct import *im, const struct call *call, u32 index)
{
	struct file *file = file_of(im, call, index);

	return file && file->handle ? file : NULL;
}
