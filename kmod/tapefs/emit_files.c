// SPDX-License-Identifier: GPL-2.0-only
/*
 * emit_files.c - records of operations on open files.
 */
#include <linux/fs.h>

#include "core/flags.h"
#include "emit.h"

static u64 object_of(struct iot_session *session, const struct file *file)
{
	return tfs_object_id(session, file_inode(file), file_dentry(file));
}

void tfs_emit_flush(struct iot_span *span, const struct file *file, s64 result)
{
	struct iot_session *session;
	struct iot_rec_flush r;

	session = tfs_enter_on(span, file_inode(file)->i_sb, IOT_KIND_flush, tfs_what_file(file, result));
	if (!session)
		return;
	r.object = object_of(session, file);
	r.handle = tfs_handle_id(session, span, file);
	r.result = result;
	IOT_EMIT_SPAN(session, span, flush, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_release(struct iot_span *span, const struct file *file)
{
	struct iot_session *session;
	struct iot_rec_release r;

	session = tfs_enter_on(span, file_inode(file)->i_sb, IOT_KIND_release, tfs_what_file(file, 0));
	if (!session)
		return;
	r.object = object_of(session, file);
	r.handle = tfs_handle_id(session, span, file);
	r.result = 0;
	IOT_EMIT_SPAN(session, span, release, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_read(struct iot_span *span, const struct file *file, loff_t offset, size_t length,
		   u32 flags, u32 faults, s64 result)
{
	struct iot_session *session;
	struct iot_rec_read r;

	session = tfs_enter_on(span, file_inode(file)->i_sb, IOT_KIND_read,
			       tfs_what_range(tfs_what_file(file, result), offset, length));
	if (!session)
		return;
	r.object = object_of(session, file);
	r.handle = tfs_handle_id(session, span, file);
	r.offset_bytes = offset;
	r.length_bytes = length;
	r.flags = flags;
	r.faults = faults;
	r.result = result;
	IOT_EMIT_SPAN(session, span, read, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_write(struct iot_span *span, const struct file *file, loff_t offset, size_t length,
		    u32 flags, u64 old_size_bytes, s64 result)
{
	struct iot_session *session;
	struct iot_rec_write r;

	session = tfs_enter_on(span, file_inode(file)->i_sb, IOT_KIND_write,
			       tfs_what_range(tfs_what_file(file, result), offset, length));
	if (!session)
		return;
	r.object = object_of(session, file);
	r.handle = tfs_handle_id(session, span, file);
	r.offset_bytes = offset;
	r.length_bytes = length;
	r.flags = flags;
	r.old_size_bytes = old_size_bytes;
	r.result = result;
	IOT_EMIT_SPAN(session, span, write, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_seek(struct iot_span *span, const struct file *file, loff_t offset, int whence,
		   s64 result)
{
	struct iot_session *session;
	struct iot_rec_seek r;

	session = tfs_enter_on(span, file_inode(file)->i_sb, IOT_KIND_seek,
			       tfs_what_at(tfs_what_file(file, result), offset));
	if (!session)
		return;
	r.object = object_of(session, file);
	r.handle = tfs_handle_id(session, span, file);
	r.offset_bytes = offset;
	r.whence = whence; /* SEEK_* have the numbers of IOT_WHENCES */
	r.result = result;
	IOT_EMIT_SPAN(session, span, seek, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_fsync(struct iot_span *span, const struct file *file, loff_t start, loff_t end,
		    int datasync, s64 result)
{
	struct iot_session *session;
	struct iot_rec_fsync r;

	session = tfs_enter_on(span, file_inode(file)->i_sb, IOT_KIND_fsync,
			       tfs_what_at(tfs_what_file(file, result), start));
	if (!session)
		return;
	r.object = object_of(session, file);
	r.handle = tfs_handle_id(session, span, file);
	r.offset_bytes = start;
	r.end_bytes = end;
	r.flags = datasync ? IOT_RW_datasync : 0;
	r.result = result;
	IOT_EMIT_SPAN(session, span, fsync, &r, NULL, 0);
	tfs_leave(span);
}

/* Records one entry of a readdir, and does not end the span of the readdir. */
void tfs_emit_dirent(struct iot_span *span, const struct super_block *sb, const char *name,
		     int length, unsigned int type)
{
	struct iot_session *session = NULL;
	struct iot_rec_dirent r;

	if (iot_span_is_recorded(span))
		session = iot_span_enter(&TFS_SB(sb)->source, span);
	if (!session)
		return;
	r.task = iot_span_task(span);
	r.op = span->op;
	r.type = type; /* DT_* have the numbers of IOT_TYPES */
	IOT_EMIT_EVENT(session, dirent, &r, name, min(length, IOT_TAIL_MAX_BYTES));
	iot_session_leave();
}

void tfs_emit_readdir(struct iot_span *span, const struct file *file, loff_t offset, u32 entries,
		      s64 result)
{
	struct iot_session *session;
	struct iot_rec_readdir r;

	session = tfs_enter_on(span, file_inode(file)->i_sb, IOT_KIND_readdir, tfs_what_file(file, result));
	if (!session)
		return;
	r.object = object_of(session, file);
	r.handle = tfs_handle_id(session, span, file);
	r.offset_bytes = offset;
	r.entries = entries;
	r.result = result;
	IOT_EMIT_SPAN(session, span, readdir, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_fallocate(struct iot_span *span, const struct file *file, int mode, loff_t offset,
			loff_t length, u64 old_size_bytes, s64 result)
{
	struct iot_session *session;
	struct iot_rec_fallocate r;

	session = tfs_enter_on(span, file_inode(file)->i_sb, IOT_KIND_fallocate,
			       tfs_what_range(tfs_what_file(file, result), offset, length));
	if (!session)
		return;
	r.object = object_of(session, file);
	r.handle = tfs_handle_id(session, span, file);
	r.offset_bytes = offset;
	r.length_bytes = length;
	r.flags = iot_falloc_flags_of(mode);
	r.old_size_bytes = old_size_bytes;
	r.result = result;
	IOT_EMIT_SPAN(session, span, fallocate, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_fadvise(struct iot_span *span, const struct file *file, loff_t offset, loff_t length,
		      int advice, s64 result)
{
	struct iot_session *session;
	struct iot_rec_fadvise r;

	session = tfs_enter_on(span, file_inode(file)->i_sb, IOT_KIND_fadvise,
			       tfs_what_range(tfs_what_file(file, result), offset, length));
	if (!session)
		return;
	r.object = object_of(session, file);
	r.handle = tfs_handle_id(session, span, file);
	r.offset_bytes = offset;
	r.length_bytes = length;
	r.advice = advice;
	r.result = result;
	IOT_EMIT_SPAN(session, span, fadvise, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_copy_range(struct iot_span *span, const struct file *in, loff_t offset_in,
			 const struct file *out, loff_t offset_out, size_t length,
			 u64 old_size_bytes, s64 result)
{
	struct iot_session *session;
	struct iot_rec_copy_range r;

	session = tfs_enter_on(span, file_inode(out)->i_sb, IOT_KIND_copy_range,
			       tfs_what_copy(tfs_what_range(tfs_what_file(in, result), offset_in, length), out));
	if (!session)
		return;
	r.object = object_of(session, in);
	r.handle = tfs_handle_id(session, span, in);
	r.offset_bytes = offset_in;
	r.to_object = object_of(session, out);
	r.to_handle = tfs_handle_id(session, span, out);
	r.to_offset_bytes = offset_out;
	r.length_bytes = length;
	r.old_size_bytes = old_size_bytes;
	r.result = result;
	IOT_EMIT_SPAN(session, span, copy_range, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_remap_range(struct iot_span *span, const struct file *in, loff_t offset_in,
			  const struct file *out, loff_t offset_out, loff_t length,
			  unsigned int flags, u64 old_size_bytes, s64 result)
{
	struct iot_session *session;
	struct iot_rec_remap_range r;

	session = tfs_enter_on(span, file_inode(out)->i_sb, IOT_KIND_remap_range,
			       tfs_what_copy(tfs_what_range(tfs_what_file(in, result), offset_in, length), out));
	if (!session)
		return;
	r.object = object_of(session, in);
	r.handle = tfs_handle_id(session, span, in);
	r.offset_bytes = offset_in;
	r.to_object = object_of(session, out);
	r.to_handle = tfs_handle_id(session, span, out);
	r.to_offset_bytes = offset_out;
	r.length_bytes = length;
	r.old_size_bytes = old_size_bytes;
	r.flags = (flags & REMAP_FILE_DEDUP ? 1 : 0) | (flags & REMAP_FILE_CAN_SHORTEN ? 2 : 0);
	r.result = result;
	IOT_EMIT_SPAN(session, span, remap_range, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_ioctl(struct iot_span *span, const struct file *file, unsigned int command,
		    s64 result)
{
	struct iot_session *session;
	struct iot_rec_ioctl r;

	session = tfs_enter_on(span, file_inode(file)->i_sb, IOT_KIND_ioctl, tfs_what_file(file, result));
	if (!session)
		return;
	r.object = object_of(session, file);
	r.handle = tfs_handle_id(session, span, file);
	r.request = command;
	r.result = result;
	IOT_EMIT_SPAN(session, span, ioctl, &r, NULL, 0);
	tfs_leave(span);
}

/* @r: the request, and the lock found, are filled in. */
void tfs_emit_lock(struct iot_span *span, const struct file *file, struct iot_rec_lock *r,
		   s64 result)
{
	struct iot_session *session;

	session = tfs_enter_on(span, file_inode(file)->i_sb, IOT_KIND_lock,
			       tfs_what_at(tfs_what_file(file, result), r->offset_bytes));
	if (!session)
		return;
	r->object = object_of(session, file);
	r->handle = tfs_handle_id(session, span, file);
	r->result = result;
	IOT_EMIT_SPAN(session, span, lock, r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_submit(struct iot_span *span, const struct file *file, u64 request, loff_t offset,
		     size_t length, u32 flags, u64 old_size_bytes, u64 memory)
{
	struct iot_session *session;
	struct iot_rec_submit r;

	session = tfs_enter_on(span, file_inode(file)->i_sb, flags & IOT_RW_write ? IOT_KIND_write : IOT_KIND_read,
			       tfs_what_submit(tfs_what_range(tfs_what_file(file, 0), offset, length)));
	if (!session)
		return;
	r.request = request;
	r.object = object_of(session, file);
	r.handle = tfs_handle_id(session, span, file);
	r.offset_bytes = offset;
	r.length_bytes = length;
	r.flags = flags;
	r.old_size_bytes = old_size_bytes;
	r.memory = memory;
	r.result = 0;
	IOT_EMIT_SPAN(session, span, submit, &r, NULL, 0);
	tfs_leave(span);
}

/* Called at the end of the request: perhaps in an interrupt, and hardly ever in the task of the request. */
void tfs_emit_complete(struct iot_source *source, u64 epoch, u32 task, u32 op, u64 request,
		       s64 result)
{
	struct iot_session *session = iot_source_enter(source);
	struct iot_rec_complete r = {
		.task = task,
		.op = op,
		.request = request,
		.result = result,
	};

	if (!session)
		return;
	if (iot_session_epoch(session) == epoch)
		IOT_EMIT_EVENT(session, complete, &r, NULL, 0);
	iot_session_leave();
}

/**
 * tfs_count_request() - find the row in which the end of a request will count
 * @span: of the submission, with a session that counts
 * @file: of the request
 * @counted: @is_write is set; the rest is filled in, valid in the session of @span. If that has ended, the end does not count
 */
void tfs_count_request(const struct iot_span *span, const struct file *file, struct tfs_counted *counted)
{
	struct iot_source *source = &TFS_SB(file_inode(file)->i_sb)->source;
	struct iot_session *session = iot_span_enter(source, span);

	if (!session)
		return;
	counted->enter_ns = span->meter.enter_ns;
	counted->row = iot_row_find(session, source, span, IOT_KIND_complete, TFS_I(file_inode(file))->object,
				    counted->is_write);
	counted->turn = iot_row_turn(counted->row);
	iot_session_leave();
}

/**
 * tfs_count_complete() - count the end of a request
 * @source: of the request
 * @epoch: of the session in which it was submitted; nothing is counted in another one, to which the row does not belong
 * @counted: from tfs_count_request(), with a row
 * @result: bytes, or a negative errno
 *
 * Context: any, perhaps an interrupt.
 */
void tfs_count_complete(struct iot_source *source, u64 epoch, const struct tfs_counted *counted, s64 result)
{
	struct iot_session *session = iot_source_enter(source);
	const struct iot_what what = { .result = result };

	if (!session)
		return;
	if (iot_session_epoch(session) == epoch)
		iot_row_count_late(session, counted->row, counted->turn, counted->is_write,
				   ktime_get_mono_fast_ns() - counted->enter_ns, &what);
	iot_session_leave();
}
