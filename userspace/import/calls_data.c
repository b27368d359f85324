// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_data.c - calls that move data, and what else is done through descriptors.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/flags.h"
#include "model.h"

#define WHOLE_FILE ((s64)((u64)-1 >> 1))
#define RW_MAX_BYTES 0x7ffff000ull /* the kernel moves no more at once */

/* -- reads and writes ------------------------------------------------------------------------ */

/* The length of all buffers of a vector; what was moved, if strace does not show all of them. */
static u64 vector_bytes(const struct call *call, u32 arg)
{
	struct text list = arg < call->arg_count ? call->args[arg] : (struct text){}, item, value;
	u64 bytes = 0;
	s64 number;

	if (list.bytes < 2 || *list.p != '[')
		return call->result > 0 ? (u64)call->result : 0;
	list = (struct text){ list.p + 1, list.bytes - 2 };
	while (value_first(list, &item, &list))
		if (value_member(item, "iov_len", &value) && value_number(value, &number))
			bytes += (u64)number;
	return call->result > 0 && (u64)call->result > bytes ? (u64)call->result : bytes;
}

static u32 rw_flags(const struct file *file, s64 flags)
{
	u32 ours = 0;

	if (file->flags & IOT_OPEN_direct)
		ours |= IOT_RW_direct;
	if ((file->flags & IOT_OPEN_sync) || flags & RWF_SYNC)
		ours |= IOT_RW_sync;
	else if ((file->flags & IOT_OPEN_dsync) || flags & RWF_DSYNC)
		ours |= IOT_RW_dsync;
	if (flags & RWF_NOWAIT)
		ours |= IOT_RW_nowait;
	if (flags & RWF_HIPRI)
		ours |= IOT_RW_hipri;
	return ours;
}

/* A transfer: which file, where, how much. */
struct transfer {
	struct file *file;
	u64 offset_bytes;
	u64 length_bytes;
	u32 flags;
	bool has_offset;
};

static void take_transfer(struct import *im, const struct call *call, const struct call_kind *kind,
			  struct transfer *t)
{
	u32 variant = kind->variant % VARIANT_WRITE;
	bool is_vector = variant == VARIANT_VECTOR || variant == VARIANT_POSITION_VECTOR;
	bool is_placed = variant == VARIANT_POSITION || variant == VARIANT_POSITION_VECTOR;
	s64 offset = call_number(call, 3); /* -1 in preadv2 and pwritev2: where the file is */

	*t = (struct transfer){ .file = file_inside(im, call, 0) };
	if (!t->file)
		return;
	t->length_bytes = is_vector ? vector_bytes(call, 1) : (u64)call_number(call, 2);
	if (t->length_bytes > RW_MAX_BYTES)
		t->length_bytes = RW_MAX_BYTES;
	t->flags = rw_flags(t->file,
			    variant == VARIANT_POSITION_VECTOR ? call_number(call, 4) : 0);
	t->has_offset = is_placed && offset >= 0;
	t->offset_bytes = t->has_offset ? (u64)offset : t->file->position_bytes;
}

/* Could a kernel have moved that? A log that was damaged may say anything. */
static bool is_possible(const struct transfer *t, s64 result)
{
	return t->offset_bytes <= FILE_MAX_BYTES && result <= (s64)t->length_bytes;
}

static void put_read(struct import *im, const struct transfer *t, s64 result)
{
	struct iot_record record = { .kind = IOT_KIND_read };
	struct inode *inode = t->file->inode;
	u64 end_bytes = t->offset_bytes + (result > 0 ? (u64)result : 0);

	if (!is_shown(IOT_KIND_read, result) || !is_possible(t, result))
		return;
	inode_is(inode, IOT_TYPE_file);
	record.read.object = emit_object(im, inode);
	record.read.handle = t->file->handle;
	record.read.offset_bytes = (s64)t->offset_bytes;
	record.read.length_bytes = t->length_bytes;
	record.read.flags = t->flags;
	record.read.result = result;
	emit_op(im, &record);
	if (result < 0)
		return;
	if (result > 0)
		inode_reaches(inode, end_bytes);
	if ((u64)result < t->length_bytes && end_bytes == inode->size_bytes &&
	    !(t->flags & IOT_RW_splice))
		inode_has_size(inode, end_bytes);
	if (!t->has_offset)
		t->file->position_bytes = end_bytes;
}

void call_read(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct transfer t;

	take_transfer(im, call, kind, &t);
	if (t.file)
		put_read(im, &t, call->result);
}

static void put_write(struct import *im, struct transfer *t, s64 result)
{
	struct iot_record record = { .kind = IOT_KIND_write };
	struct inode *inode = t->file->inode;
	u64 end_bytes;

	if (t->flags & IOT_RW_append)
		t->offset_bytes = inode->size_bytes;
	if (!is_shown(IOT_KIND_write, result) || !is_possible(t, result))
		return;
	inode_is(inode, IOT_TYPE_file);
	end_bytes = t->offset_bytes + (result > 0 ? (u64)result : 0);
	record.write.object = emit_object(im, inode);
	record.write.handle = t->file->handle;
	record.write.offset_bytes = (s64)t->offset_bytes;
	record.write.length_bytes = t->length_bytes;
	record.write.flags = t->flags;
	record.write.old_size_bytes = inode->size_bytes;
	record.write.result = result;
	emit_op(im, &record);
	if (result < 0)
		return;
	if (result > 0)
		inode_written(inode, end_bytes);
	if (!t->has_offset)
		t->file->position_bytes = end_bytes;
}

void call_write(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct transfer t;

	take_transfer(im, call, kind, &t);
	if (!t.file)
		return;
	if ((t.file->flags & IOT_OPEN_append) ||
	    (kind->variant == VARIANT_POSITION_VECTOR + VARIANT_WRITE &&
	     call_number(call, 4) & RWF_APPEND))
		t.flags |= IOT_RW_append;
	put_write(im, &t, call->result);
}

/* -- from one file to another --------------------------------------------------------------------- */

/* NULL, or [1] and what it became. Return: is it one? */
static bool take_offset(const struct call *call, u32 arg, u64 *offset)
{
	struct text text = arg < call->arg_count ? call->args[arg] : (struct text){};
	s64 number;

	if (text.bytes < 3 || *text.p != '[')
		return false;
	text = (struct text){ text.p + 1, (size_t)(text_skip(text.p + 1, text.p + text.bytes) -
						   text.p - 1) };
	if (!value_number(text, &number))
		return false;
	*offset = (u64)number;
	return true;
}

static struct transfer one_side(struct import *im, const struct call *call, u32 fd_arg,
				int offset_arg, u64 length_bytes)
{
	struct transfer t = { .file = file_inside(im, call, fd_arg),
			      .length_bytes = length_bytes < RW_MAX_BYTES ? length_bytes :
									    RW_MAX_BYTES };

	if (!t.file)
		return t;
	t.offset_bytes = t.file->position_bytes;
	t.flags = rw_flags(t.file, 0);
	if (offset_arg >= 0)
		t.has_offset = take_offset(call, (u32)offset_arg, &t.offset_bytes);
	return t;
}

/* What the kernel does with a pipe of its own, as if in one piece. */
static void move_data(struct import *im, struct transfer *from, struct transfer *to, s64 result)
{
	if (from->file) {
		from->flags |= IOT_RW_splice;
		put_read(im, from, result);
	}
	if (to->file && result > 0) {
		to->length_bytes = (u64)result;
		if (to->file->flags & IOT_OPEN_append)
			to->flags |= IOT_RW_append;
		put_write(im, to, result);
	}
}

void call_sendfile(struct import *im, const struct call *call, const struct call_kind *kind)
{
	u64 length_bytes = (u64)call_number(call, 3);
	struct transfer from = one_side(im, call, 1, 2, length_bytes);
	struct transfer to = one_side(im, call, 0, -1, length_bytes);

	(void)kind;
	move_data(im, &from, &to, call->result);
}

void call_splice(struct import *im, const struct call *call, const struct call_kind *kind)
{
	u64 length_bytes = (u64)call_number(call, 4);
	struct transfer from = one_side(im, call, 0, 1, length_bytes);
	struct transfer to = one_side(im, call, 2, 3, length_bytes);

	(void)kind;
	move_data(im, &from, &to, call->result);
}

static void copy_done(struct transfer *from, struct transfer *to, s64 result)
{
	if (result <= 0)
		return;
	inode_reaches(from->file->inode, from->offset_bytes + (u64)result);
	inode_written(to->file->inode, to->offset_bytes + (u64)result);
	if (!from->has_offset)
		from->file->position_bytes = from->offset_bytes + (u64)result;
	if (!to->has_offset)
		to->file->position_bytes = to->offset_bytes + (u64)result;
}

/* The kernel asks for what is left of the source. */
static u64 copy_length(const struct transfer *from, u64 copied_bytes, u64 length_bytes)
{
	u64 left_bytes = from->file->inode->size_bytes > from->offset_bytes ?
				 from->file->inode->size_bytes - from->offset_bytes :
				 0;

	if (left_bytes < copied_bytes)
		left_bytes = copied_bytes;
	return left_bytes < length_bytes ? left_bytes : length_bytes;
}

void call_copy_range(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_copy_range };
	u64 length_bytes = (u64)call_number(call, 4);
	struct transfer from = one_side(im, call, 0, 1, length_bytes);
	struct transfer to = one_side(im, call, 2, 3, length_bytes);

	(void)kind;
	if (!from.file || !to.file) { /* between file systems it is a splice */
		if (call->result >= 0)
			move_data(im, &from, &to, call->result);
		return;
	}
	if (!is_possible(&from, call->result) || !is_possible(&to, call->result))
		return;
	inode_is(from.file->inode, IOT_TYPE_file);
	inode_is(to.file->inode, IOT_TYPE_file);
	if (!call->result && length_bytes)
		inode_has_size(from.file->inode, from.offset_bytes);
	if (!call->result || !is_shown(record.kind, call->result))
		return; /* of nothing, the file system is not asked */
	if (call->result > 0 && (u64)call->result < length_bytes)
		length_bytes = copy_length(&from, (u64)call->result, length_bytes);
	record.copy_range.object = emit_object(im, from.file->inode);
	record.copy_range.handle = from.file->handle;
	record.copy_range.offset_bytes = (s64)from.offset_bytes;
	record.copy_range.to_object = emit_object(im, to.file->inode);
	record.copy_range.to_handle = to.file->handle;
	record.copy_range.to_offset_bytes = (s64)to.offset_bytes;
	record.copy_range.length_bytes =
		length_bytes < from.length_bytes ? length_bytes : from.length_bytes;
	record.copy_range.old_size_bytes = to.file->inode->size_bytes;
	record.copy_range.result = call->result;
	emit_op(im, &record);
	copy_done(&from, &to, call->result);
}

/* -- positions and space ------------------------------------------------------------------------------ */

void call_seek(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct file *file = file_of(im, call, 0);
	bool is_long = !strcmp(kind->name, "_llseek");
	s64 offset = call_number(call, 1), result = call->result;
	s64 whence = call_number(call, is_long ? 3 : 2);
	struct iot_record record = { .kind = IOT_KIND_seek };
	u64 found;

	if (!file || !is_shown(record.kind, result) || whence < 0 || whence > SEEK_HOLE)
		return;
	if (is_long && !result && take_offset(call, 2, &found))
		result = (s64)found;
	if (result >= 0)
		file->position_bytes = (u64)result;
	if (whence == SEEK_END && result >= 0 && offset <= result && file->inode->type != IOT_TYPE_dir)
		inode_has_size(file->inode, (u64)(result - offset));
	if (!file->handle)
		return;
	record.seek.object = emit_object(im, file->inode);
	record.seek.handle = file->handle;
	record.seek.offset_bytes = offset;
	switch (whence) {
	case SEEK_SET:
		record.seek.whence = IOT_WHENCE_set;
		break;
	case SEEK_CUR:
		record.seek.whence = IOT_WHENCE_cur;
		break;
	case SEEK_END:
		record.seek.whence = IOT_WHENCE_end;
		break;
	case SEEK_DATA:
		record.seek.whence = IOT_WHENCE_data;
		break;
	default:
		record.seek.whence = IOT_WHENCE_hole;
	}
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

void call_fallocate(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct file *file = file_inside(im, call, 0);
	struct iot_record record = { .kind = IOT_KIND_fallocate };

	(void)kind;
	if (!file || !is_shown(record.kind, call->result) ||
	    (u64)call_number(call, 2) > FILE_MAX_BYTES || (u64)call_number(call, 3) > FILE_MAX_BYTES)
		return;
	inode_is(file->inode, IOT_TYPE_file);
	record.fallocate.object = emit_object(im, file->inode);
	record.fallocate.handle = file->handle;
	record.fallocate.offset_bytes = call_number(call, 2);
	record.fallocate.length_bytes = (u64)call_number(call, 3);
	record.fallocate.flags = iot_falloc_flags_of((u64)call_number(call, 1));
	record.fallocate.old_size_bytes = file->inode->size_bytes;
	record.fallocate.result = call->result;
	emit_op(im, &record);
	if (!call->result)
		resize_by_fallocate(file->inode, record.fallocate.flags,
				    (u64)call_number(call, 2), (u64)call_number(call, 3));
}

static void put_fadvise(struct import *im, const struct call *call, u64 length_bytes, u32 advice)
{
	struct file *file = file_inside(im, call, 0);
	struct iot_record record = { .kind = IOT_KIND_fadvise };

	if (!file || call->result == -EBADF || call->result == -EINVAL ||
	    (u64)call_number(call, 1) > FILE_MAX_BYTES || length_bytes > FILE_MAX_BYTES ||
	    advice > POSIX_FADV_NOREUSE)
		return;
	record.fadvise.object = emit_object(im, file->inode);
	record.fadvise.handle = file->handle;
	record.fadvise.offset_bytes = call_number(call, 1);
	record.fadvise.length_bytes = length_bytes;
	record.fadvise.advice = advice;
	record.fadvise.result = call->result;
	emit_op(im, &record);
}

void call_fadvise(struct import *im, const struct call *call, const struct call_kind *kind)
{
	(void)kind;
	put_fadvise(im, call, (u64)call_number(call, 2), (u32)call_number(call, 3));
}

void call_readahead(struct import *im, const struct call *call, const struct call_kind *kind)
{
	(void)kind;
	put_fadvise(im, call, (u64)call_number(call, 2), POSIX_FADV_WILLNEED);
}

/* -- directories ------------------------------------------------------------------------------------ */

/* One entry, as -v shows it. */
static void put_dirent(struct import *im, struct inode *dir, struct text item)
{
	struct iot_record record = { .kind = IOT_KIND_dirent };
	struct text value;
	u8 name[PATH_ROOM];
	size_t bytes;
	s64 type = 0;
	struct entry *entry;

	if (!value_member(item, "d_name", &value) || value_string(value, name, 256, &bytes) || !bytes)
		return;
	if (value_member(item, "d_type", &value))
		value_number(value, &type);
	record.dirent.task = im->task->id;
	record.dirent.op = im->task->ops + 1;
	record.dirent.type = (u32)type;
	record.tail = name;
	record.tail_bytes = (u16)bytes;
	emit_event(im, &record);
	if ((bytes == 1 && *name == '.') || (bytes == 2 && !memcmp(name, "..", 2)))
		return;
	entry = entry_of(im, dir, name, bytes);
	if (entry && entry->state == ENTRY_UNKNOWN)
		entry_find(im, entry, (u32)type);
}

/* Return: how many entries. */
static u32 put_entries(struct import *im, struct inode *dir, struct text list, bool *is_shown_all)
{
	static const char begin[] = "/* ";
	const char *comment = memmem(list.p, list.bytes, begin, strlen(begin));
	struct text item;
	u32 count = 0;

	*is_shown_all = true;
	if (list.bytes > 1 && *list.p == '[') {
		list = (struct text){ list.p + 1, list.bytes - 2 };
		while (value_first(list, &item, &list)) {
			put_dirent(im, dir, item);
			count++;
		}
		return count;
	}
	if (comment)
		for (comment += strlen(begin);
		     comment < list.p + list.bytes && *comment >= '0' && *comment <= '9' &&
		     count < 1000000;
		     comment++)
			count = count * 10 + (u32)(*comment - '0');
	*is_shown_all = count <= 2;
	return count;
}

void call_readdir(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct file *file = file_inside(im, call, 0);
	struct iot_record record = { .kind = IOT_KIND_readdir };
	bool is_shown_all = true;

	(void)kind;
	if (!file || !is_shown(record.kind, call->result))
		return;
	inode_is(file->inode, IOT_TYPE_dir);
	record.readdir.object = emit_object(im, file->inode);
	record.readdir.handle = file->handle;
	record.readdir.offset_bytes = (s64)file->position_bytes;
	if (call->result > 0 && call->arg_count > 1)
		record.readdir.entries =
			put_entries(im, file->inode, call->args[1], &is_shown_all);
	if (!is_shown_all)
		gap(im, IMPORT_GAP_readdir);
	record.readdir.result = call->result < 0 ? call->result : 0;
	file->position_bytes += record.readdir.entries;
	emit_op(im, &record);
}

/* -- ioctl -------------------------------------------------------------------------------------------- */

static void clone_file(struct import *im, const struct call *call)
{
	struct transfer to = one_side(im, call, 0, -1, 0), from = one_side(im, call, 2, -1, 0);
	struct iot_record record = { .kind = IOT_KIND_remap_range };

	if (!from.file || !to.file || !is_shown(IOT_KIND_copy_range, call->result))
		return;
	record.remap_range.object = emit_object(im, from.file->inode);
	record.remap_range.handle = from.file->handle;
	record.remap_range.to_object = emit_object(im, to.file->inode);
	record.remap_range.to_handle = to.file->handle;
	record.remap_range.old_size_bytes = to.file->inode->size_bytes;
	record.remap_range.result = call->result;
	emit_op(im, &record);
	if (call->result >= 0)
		inode_written(to.file->inode, from.file->inode->size_bytes);
}

void call_ioctl(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct file *file = file_inside(im, call, 0);
	struct iot_record record = { .kind = IOT_KIND_ioctl };
	s64 request = call_number(call, 1);

	(void)kind;
	if (!file)
		return;
	if ((u32)request == FICLONE) {
		clone_file(im, call);
		return;
	}
	if (call_flags(im, call, file, (u32)request))
		return;
	if ((request & ~0xff) != 0x5400 || file->inode->type == IOT_TYPE_dir)
		return; /* which others the file system is asked for is not known */
	record.ioctl.object = emit_object(im, file->inode);
	record.ioctl.handle = file->handle;
	record.ioctl.request = (u32)request;
	record.ioctl.result = call->result;
	emit_op(im, &record);
}

/* -- what cannot be followed ----------------------------------------------------------------------------- */

void call_io_uring(struct import *im, const struct call *call, const struct call_kind *kind)
{
	(void)kind;
	if (call->result >= 0)
		gap(im, IMPORT_GAP_io_uring);
}

void call_aio(struct import *im, const struct call *call, const struct call_kind *kind)
{
	(void)kind;
	if (call->result > 0)
		gap(im, IMPORT_GAP_aio);
}

void call_unfollowed(struct import *im, const struct call *call, const struct call_kind *kind)
{
	(void)kind;
	if (!call->result)
		gap(im, IMPORT_GAP_chroot);
}
