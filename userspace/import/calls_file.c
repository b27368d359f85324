// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_file.c - calls on descriptors that transfer no data to or from memory.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <unistd.h>

#include "core/flags.h"
#include "transfer.h"

#define WHOLE_FILE ((s64)((u64)-1 >> 1))

/* -- positions and space ------------------------------------------------------------------------------ */

static u32 our_whence(s64 whence)
{
	switch (whence) {
	case SEEK_SET:
		return IOT_WHENCE_set;
	case SEEK_CUR:
		return IOT_WHENCE_cur;
	case SEEK_END:
		return IOT_WHENCE_end;
	case SEEK_DATA:
		return IOT_WHENCE_data;
	default:
		return IOT_WHENCE_hole;
	}
}

/* Where a seek led to: _llseek(2) returns it through an address. Return: is that known? */
static bool take_found(const struct call *call, bool is_long, s64 *result)
{
	u64 found;

	*result = call->result;
	if (!is_long || call->result)
		return true;
	if (!take_offset(call, 2, &found))
		return false;
	*result = (s64)found;
	return true;
}

void call_seek(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct file *file = file_of(im, call, 0);
	bool is_long = strcmp(kind->name, "lseek"), has_found, is_known;
	struct iot_record record = { .kind = IOT_KIND_seek };
	s64 offset, whence, result;

	if (!file)
		return;
	is_known = call_number(call, 1, &offset);
	is_known &= call_number(call, is_long ? 3 : 2, &whence) && whence >= 0 && whence <= SEEK_HOLE;
	has_found = take_found(call, is_long, &result);
	if (!has_found)
		file->is_position_lost = true;
	if (!is_known || !has_found)
		call_not_understood(im, call, kind);
	if (!has_found || !is_shown(record.kind, result))
		return;
	if (result >= 0) {
		file->position_bytes = (u64)result;
		file->is_position_lost = false;
	}
	if (!is_known)
		return;
	if (whence == SEEK_END && result >= 0 && offset <= result && file->inode->type != IOT_TYPE_dir)
		inode_has_size(file->inode, (u64)(result - offset));
	if (!file->handle)
		return;
	record.seek.object = emit_object(im, file->inode);
	record.seek.handle = file->handle;
	record.seek.offset_bytes = offset;
	record.seek.whence = our_whence(whence);
	record.seek.result = result;
	emit_op(im, &record);
}

void call_fsync(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct file *file = file_inside(im, call, 0);
	struct iot_record record = { .kind = IOT_KIND_fsync };

	if (!file || call->result == -EBADF)
		return;
	record.fsync.object = emit_object(im, file->inode);
	record.fsync.handle = file->handle;
	record.fsync.end_bytes = WHOLE_FILE;
	record.fsync.flags = kind->variant == VARIANT_FD ? IOT_RW_datasync : 0;
	record.fsync.result = call->result;
	emit_op(im, &record);
}

static void resize_by_fallocate(struct inode *inode, u32 flags, u64 offset_bytes, u64 length_bytes)
{
	if (flags & IOT_FALLOC_collapse_range)
		inode_resize(inode, inode->size_bytes > length_bytes ?
					    inode->size_bytes - length_bytes : 0);
	else if (flags & IOT_FALLOC_insert_range)
		inode_resize(inode, inode->size_bytes + length_bytes);
	else if (!(flags & IOT_FALLOC_keep_size))
		inode_written(inode, offset_bytes + length_bytes);
}

/* An offset and a length, from an argument on. Return: are both known, and possible? */
static bool take_range(const struct call *call, u32 arg, u64 *offset_bytes, u64 *length_bytes)
{
	s64 offset, length;

	if (!call_number(call, arg, &offset) || !call_number(call, arg + 1, &length))
		return false;
	*offset_bytes = (u64)offset;
	*length_bytes = (u64)length;
	return *offset_bytes <= FILE_MAX_BYTES && *length_bytes <= FILE_MAX_BYTES;
}

void call_fallocate(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct file *file = file_inside(im, call, 0);
	struct iot_record record = { .kind = IOT_KIND_fallocate };
	u64 offset_bytes, length_bytes;
	s64 mode;

	if (!file || !is_shown(record.kind, call->result))
		return;
	if (call_flags(call, 1, &mode) != VALUE_KNOWN ||
	    !take_range(call, 2, &offset_bytes, &length_bytes)) {
		call_not_understood(im, call, kind);
		file->inode->has_exact_size = false;
		return;
	}
	inode_is(file->inode, IOT_TYPE_file);
	record.fallocate.object = emit_object(im, file->inode);
	record.fallocate.handle = file->handle;
	record.fallocate.offset_bytes = (s64)offset_bytes;
	record.fallocate.length_bytes = length_bytes;
	record.fallocate.flags = iot_falloc_flags_of((u64)mode);
	record.fallocate.old_size_bytes = file->inode->size_bytes;
	record.fallocate.result = call->result;
	emit_op(im, &record);
	if (!call->result)
		resize_by_fallocate(file->inode, record.fallocate.flags, offset_bytes, length_bytes);
}

static void put_fadvise(struct import *im, const struct call *call, const struct call_kind *kind,
			u32 range_arg, s64 advice)
{
	struct file *file = file_inside(im, call, 0);
	struct iot_record record = { .kind = IOT_KIND_fadvise };
	u64 offset_bytes, length_bytes;

	if (!file || call->result == -EBADF || call->result == -EINVAL)
		return;
	if (!take_range(call, range_arg, &offset_bytes, &length_bytes) || advice < 0 ||
	    advice > POSIX_FADV_NOREUSE) {
		call_not_understood(im, call, kind);
		return;
	}
	record.fadvise.object = emit_object(im, file->inode);
	record.fadvise.handle = file->handle;
	record.fadvise.offset_bytes = (s64)offset_bytes;
	record.fadvise.length_bytes = length_bytes;
	record.fadvise.advice = (u32)advice;
	record.fadvise.result = call->result;
	emit_op(im, &record);
}

/* The advice comes last, but on ARM, where it is the second. */
void call_fadvise(struct import *im, const struct call *call, const struct call_kind *kind)
{
	static const char mark[] = "POSIX_FADV_";
	bool is_second = call->arg_count > 1 && call->args[1].bytes > strlen(mark) &&
			 memmem(call->args[1].p, call->args[1].bytes, mark, strlen(mark));
	s64 advice;

	if (!call_number(call, is_second ? 1 : 3, &advice))
		advice = -1;
	put_fadvise(im, call, kind, is_second ? 2 : 1, advice);
}

void call_readahead(struct import *im, const struct call *call, const struct call_kind *kind)
{
	put_fadvise(im, call, kind, 1, POSIX_FADV_WILLNEED);
}

/* -- directories ------------------------------------------------------------------------------------ */

/* One entry, as -v shows it. Return: is its name known? */
static bool put_dirent(struct import *im, struct inode *dir, struct text item)
{
	struct iot_record record = { .kind = IOT_KIND_dirent };
	struct text value;
	u8 name[PATH_ROOM];
	size_t bytes;
	s64 type = 0;
	struct entry *entry;

	if (!value_member(item, "d_name", &value) || value_string(value, name, 256, &bytes) || !bytes)
		return false;
	value_member_number(item, "d_type", &type);
	record.dirent.task = im->task->id;
	record.dirent.op = im->task->ops + 1;
	record.dirent.type = (u32)type;
	record.tail = name;
	record.tail_bytes = (u16)bytes;
	emit_event(im, &record);
	if ((bytes == 1 && *name == '.') || (bytes == 2 && !memcmp(name, "..", 2)))
		return true;
	entry = entry_of(im, dir, name, bytes);
	if (entry && entry->state == ENTRY_UNKNOWN)
		entry_find(im, entry, (u32)type);
	return true;
}

/* One entry, to its closing bracket: old versions put blanks between them, and not commas. */
static bool take_dirent(struct text *list, struct text *item)
{
	const char *p = list->p, *end = p + list->bytes, *stop;

	while (p < end && *p != '{')
		p++;
	if (p == end)
		return false;
	for (stop = p + 1; stop < end && *stop != '}'; stop++) {
		stop = text_skip(stop, end);
		if (stop == end || *stop == '}')
			break;
	}
	stop += stop < end;
	*item = (struct text){ p, (size_t)(stop - p) };
	*list = (struct text){ stop, (size_t)(end - stop) };
	return true;
}

/* Whether their total length is the result of the call. */
static bool are_all_there(struct text list, s64 result)
{
	struct text item;
	s64 bytes;

	while (take_dirent(&list, &item)) {
		if (!value_member_number(item, "d_reclen", &bytes))
			return false;
		result -= bytes;
	}
	return !result;
}

/*
 * [{d_ino=1, d_name="."}, {...}]; {{...} {...}} before 4.11; without -v a comment that there are 2 entries, or, in logs of other
 * tools, about 2.
 * Return: is their number known?
 */
static bool put_entries(struct import *im, struct inode *dir, const struct call *call, u32 *count,
			bool *is_shown_all)
{
	static const char begin[] = "/* ", about[] = "/* about ";
	struct text list = call->args[1], item, inner;
	const char *comment = memmem(list.p, list.bytes, begin, strlen(begin));
	bool is_about;
	u64 number;

	*count = 0;
	*is_shown_all = true;
	if (value_inner(list, '[', &inner) || value_inner(list, '{', &inner)) {
		if (!are_all_there(inner, call->result))
			return false;
		for (; take_dirent(&inner, &item); ++*count)
			*is_shown_all &= put_dirent(im, dir, item);
		return true;
	}
	if (!comment)
		return false;
	is_about = list.p + list.bytes - comment > (s64)strlen(about) && !memcmp(comment, about, strlen(about));
	comment += is_about ? strlen(about) : strlen(begin);
	if (take_digits(comment, list.p + list.bytes, &number) == comment)
		return false;
	*count = number < 1000000 ? (u32)number : 1000000;
	*is_shown_all = *count <= 2 || is_about;
	if (is_about)
		gap(im, IMPORT_GAP_no_entries);
	return true;
}

void call_readdir(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct file *file = file_inside(im, call, 0);
	struct iot_record record = { .kind = IOT_KIND_readdir };
	bool is_shown_all = true;

	if (!file || !is_shown(record.kind, call->result))
		return;
	inode_is(file->inode, IOT_TYPE_dir);
	record.readdir.object = emit_object(im, file->inode);
	record.readdir.handle = file->handle;
	record.readdir.offset_bytes = (s64)file->position_bytes;
	if (call->result > 0 &&
	    !put_entries(im, file->inode, call, &record.readdir.entries, &is_shown_all)) {
		call_not_understood(im, call, kind);
		return;
	}
	if (!is_shown_all)
		gap(im, IMPORT_GAP_readdir);
	record.readdir.result = call->result < 0 ? call->result : 0;
	file->position_bytes += record.readdir.entries;
	emit_op(im, &record);
}

/* -- ioctl -------------------------------------------------------------------------------------------- */

static void leave_request_out(struct import *im, const struct call *call)
{
	if (call->result < 0)
		return;
	gap_named(im, IMPORT_GAP_call, call->name, call->arg_count > 1 ? call->args[1] : (struct text){});
	gap_moved(im, IMPORT_GAP_call, call);
}

void call_ioctl(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct file *file = file_inside(im, call, 0);
	struct iot_record record = { .kind = IOT_KIND_ioctl };
	s64 request;

	(void)kind;
	if (!file)
		return;
	if (!call_number(call, 1, &request)) {
		leave_request_out(im, call);
		return;
	}
	if ((u32)request == FICLONE || (u32)request == FICLONERANGE) {
		if (!clone_file(im, call, file))
			leave_request_out(im, call);
		return;
	}
	if (call_file_flags(im, call, file, (u32)request))
		return;
	if ((request & ~0xff) != 0x5400 || file->inode->type == IOT_TYPE_dir) {
		leave_request_out(im, call); /* other requests to the file system are unknown */
		return;
	}
	record.ioctl.object = emit_object(im, file->inode);
	record.ioctl.handle = file->handle;
	record.ioctl.request = (u32)request;
	record.ioctl.result = call->result;
	emit_op(im, &record);
}

/* -- calls that cannot be modeled ----------------------------------------------------------------------------- */

void call_io_uring(struct import *im, const struct call *call, const struct call_kind *kind)
{
	(void)kind;
	if (call->result >= 0)
		gap(im, IMPORT_GAP_io_uring);
}

/* A request: {..., aio_fildes=3, ..., aio_nbytes=4096, ...}. */
static void leave_aio_out(struct import *im, const struct call *call, struct text request)
{
	struct call by_fd = *call;
	s64 bytes;

	if (value_member(request, "aio_fildes", &by_fd.args[0]) ||
	    value_member(request, "fildes", &by_fd.args[0])) {
		if (!file_inside(im, &by_fd, 0))
			return;
	}
	gap(im, IMPORT_GAP_aio);
	if (value_member_number(request, "aio_nbytes", &bytes) ||
	    value_member_number(request, "nbytes", &bytes))
		gap_bytes(im, IMPORT_GAP_aio, (u64)bytes);
	else
		gap_bytes(im, IMPORT_GAP_aio, IOT_OMISSION_UNKNOWN);
}

/* As many requests as the call returns were taken. */
void call_aio(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct text list = call->arg_count > 2 ? call->args[2] : (struct text){}, request;
	s64 left = call->result;

	(void)kind;
	if (left <= 0)
		return;
	if (!value_inner(list, '[', &list))
		list = (struct text){};
	for (; left > 0 && take_dirent(&list, &request); left--)
		leave_aio_out(im, call, request);
	if (left > 0) {
		im->gaps[IMPORT_GAP_aio] += (u64)left;
		gap_bytes(im, IMPORT_GAP_aio, IOT_OMISSION_UNKNOWN);
	}
}

void call_unfollowed(struct import *im, const struct call *call, const struct call_kind *kind)
{
	(void)kind;
	if (!call->result)
		gap(im, IMPORT_GAP_chroot);
}
