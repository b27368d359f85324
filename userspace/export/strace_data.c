// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_data.c - operations on data, locks and mappings as system calls.
 */
#include "strace_line.h"

/* -- data ------------------------------------------------------------------------------------------------- */

/**
 * strace_put_transfer() - pread64, pwrite64 or, at the end of a file, write
 */
int strace_put_transfer(const struct line *l, bool is_write, u64 handle, s64 offset_bytes, u64 length_bytes, u32 flags)
{
	bool is_append = is_write && flags & IOT_RW_append;
	int err;

	if (flags & IOT_RW_splice)
		return line_lose(l, "data went to a pipe or a socket");
	err = line_begin_fd(l, is_append ? "write" : is_write ? "pwrite64" : "pread64", handle);
	if (err)
		return err;
	fprintf(l->out, ", " UNKNOWN_ADDRESS ", %llu", length_bytes);
	if (!is_append)
		fprintf(l->out, ", %lld", offset_bytes);
	return line_finish(l);
}

/**
 * strace_put_seek() - lseek
 */
int strace_put_seek(const struct line *l)
{
	static const char *const words[] = { "SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA", "SEEK_HOLE" };
	int err = line_begin_fd(l, "lseek", l->record->seek.handle);

	if (err)
		return err;
	fprintf(l->out, ", %lld, %s", l->record->seek.offset_bytes, words[l->record->seek.whence % ARRAY_SIZE(words)]);
	return line_finish(l);
}

/**
 * strace_put_fsync() - fsync or fdatasync
 */
int strace_put_fsync(const struct line *l)
{
	int err = line_begin_fd(l, l->record->fsync.flags & IOT_RW_datasync ? "fdatasync" : "fsync", l->record->fsync.handle);

	return err ? err : line_finish(l);
}

/**
 * strace_put_readdir() - getdents64
 */
int strace_put_readdir(const struct line *l, const char *dirents)
{
	const struct iot_rec_readdir *r = &l->record->readdir;
	int err = line_begin_fd(l, "getdents64", r->handle);

	if (err)
		return err;
	if (dirents || !r->entries)
		fprintf(l->out, ", [%s], 32768", dirents ?: "");
	else
		fprintf(l->out, ", " UNKNOWN_ADDRESS " /* %u entries */, 32768", r->entries);
	strace_end_line(l->x, l->event, l->event->result < 0 ? l->event->result : 24ll * r->entries);
	return 0;
}

/**
 * strace_put_fallocate() - fallocate
 */
int strace_put_fallocate(const struct line *l)
{
	static const struct word words[] = {
		{ IOT_FALLOC_keep_size, "FALLOC_FL_KEEP_SIZE" }, { IOT_FALLOC_punch_hole, "FALLOC_FL_PUNCH_HOLE" },
		{ IOT_FALLOC_collapse_range, "FALLOC_FL_COLLAPSE_RANGE" }, { IOT_FALLOC_zero_range, "FALLOC_FL_ZERO_RANGE" },
		{ IOT_FALLOC_insert_range, "FALLOC_FL_INSERT_RANGE" }, { IOT_FALLOC_unshare_range, "FALLOC_FL_UNSHARE_RANGE" },
	};
	const struct iot_rec_fallocate *r = &l->record->fallocate;
	int err = line_begin_fd(l, "fallocate", r->handle);

	if (err)
		return err;
	fputs(", ", l->out);
	line_words(l, words, ARRAY_SIZE(words), r->flags, "0");
	fprintf(l->out, ", %lld, %llu", r->offset_bytes, r->length_bytes);
	return line_finish(l);
}

/**
 * strace_put_fadvise() - fadvise64
 */
int strace_put_fadvise(const struct line *l)
{
	static const char *const words[] = { "NORMAL", "RANDOM", "SEQUENTIAL", "WILLNEED", "DONTNEED", "NOREUSE" };
	const struct iot_rec_fadvise *r = &l->record->fadvise;
	int err = line_begin_fd(l, "fadvise64", r->handle);

	if (err)
		return err;
	fprintf(l->out, ", %lld, %llu, POSIX_FADV_%s", r->offset_bytes, r->length_bytes, words[r->advice % ARRAY_SIZE(words)]);
	return line_finish(l);
}

/**
 * strace_put_copy() - copy_file_range
 */
int strace_put_copy(const struct line *l)
{
	const struct iot_rec_copy_range *r = &l->record->copy_range;
	int err = line_begin_fd(l, "copy_file_range", r->handle);

	if (err)
		return err;
	fprintf(l->out, ", [%lld], ", r->offset_bytes);
	err = line_fd(l, r->to_handle);
	if (err)
		return err;
	fprintf(l->out, ", [%lld], %llu, 0", r->to_offset_bytes, r->length_bytes);
	return line_finish(l);
}

/**
 * strace_put_remap() - ioctl with FICLONERANGE
 */
int strace_put_remap(const struct line *l)
{
	const struct iot_rec_remap_range *r = &l->record->remap_range;
	int err;

	if (r->flags)
		return line_lose(l, EXPORT_NO_FORM);
	err = line_begin_fd(l, "ioctl", r->to_handle);
	if (err)
		return err;
	fputs(", FICLONERANGE, {src_fd=", l->out);
	err = line_fd(l, r->handle);
	if (err)
		return err;
	fprintf(l->out, ", src_offset=%lld, src_length=%llu, dest_offset=%lld}", r->offset_bytes, r->length_bytes,
		r->to_offset_bytes);
	strace_end_line(l->x, l->event, l->event->result > 0 ? 0 : l->event->result);
	return 0;
}

/**
 * strace_put_ioctl() - ioctl
 */
int strace_put_ioctl(const struct line *l)
{
	int err = line_begin_fd(l, "ioctl", l->record->ioctl.handle);

	if (err)
		return err;
	fprintf(l->out, ", %#x, " UNKNOWN_ADDRESS, l->record->ioctl.request);
	return line_finish(l);
}

/**
 * strace_put_lock() - flock or fcntl
 */
int strace_put_lock(const struct line *l)
{
	const struct iot_rec_lock *r = &l->record->lock;
	u32 mode = r->flags & (IOT_LOCK_shared | IOT_LOCK_exclusive);
	bool is_test = r->flags & IOT_LOCK_test;
	int err;

	if (is_test && r->found)
		return line_lose(l, "strace shows the conflicting lock, not the requested one");
	err = line_begin_fd(l, r->flags & IOT_LOCK_flock ? "flock" : "fcntl", r->handle);
	if (err)
		return err;
	if (r->flags & IOT_LOCK_flock) {
		fprintf(l->out, ", %s%s", mode == IOT_LOCK_shared ? "LOCK_SH" : mode ? "LOCK_EX" : "LOCK_UN",
			r->flags & IOT_LOCK_wait || !mode ? "" : "|LOCK_NB");
		return line_finish(l);
	}
	fprintf(l->out, ", F_%s%s, {l_type=%s, l_whence=SEEK_SET, l_start=%lld, l_len=%lld", r->flags & IOT_LOCK_ofd ? "OFD_" : "",
		is_test ? "GETLK" : r->flags & IOT_LOCK_wait ? "SETLKW" : "SETLK",
		is_test || !mode ? "F_UNLCK" : mode == IOT_LOCK_shared ? "F_RDLCK" : "F_WRLCK", r->offset_bytes,
		r->end_bytes == INT64_MAX ? 0 : r->end_bytes - r->offset_bytes + 1);
	fputc('}', l->out);
	return line_finish(l);
}

/* -- mappings --------------------------------------------------------------------------------------------- */

/**
 * strace_put_map() - mmap
 */
int strace_put_map(const struct line *l)
{
	static const struct word words[] = { { IOT_PROT_read, "PROT_READ" }, { IOT_PROT_write, "PROT_WRITE" },
					     { IOT_PROT_exec, "PROT_EXEC" } };
	const struct iot_rec_map *r = &l->record->map;
	u64 address = 0;
	int err;

	if (l->event->result >= 0)
		address = strace_map_make(l->fds, l->event, strace_process(l->event));
	if (r->flags & IOT_MAP_inherited)
		return address ? 0 : line_lose(l, "the mapping of the parent is not in the trace");
	if (r->flags & IOT_MAP_moved)
		return line_lose(l, "the previous address of the mapping is unknown");
	line_begin(l, "mmap");
	fprintf(l->out, "NULL, %llu, ", r->length_bytes);
	line_words(l, words, ARRAY_SIZE(words), r->prot, "PROT_NONE");
	fprintf(l->out, ", %s%s, ", r->flags & IOT_MAP_sync ? "MAP_SHARED_VALIDATE|MAP_SYNC" :
		r->flags & IOT_MAP_shared ? "MAP_SHARED" : "MAP_PRIVATE", r->flags & IOT_MAP_locked ? "|MAP_LOCKED" : "");
	err = line_fd(l, r->handle);
	if (err)
		return err;
	fprintf(l->out, ", %#llx", (u64)r->offset_bytes);
	if (l->event->result < 0)
		return line_finish(l);
	fprintf(l->out, ") = %#llx <%llu.%09llu>\n", address, l->event->duration_ns / 1000000000,
		l->event->duration_ns % 1000000000);
	return 0;
}

/**
 * strace_put_unmap() - munmap
 */
int strace_put_unmap(const struct line *l)
{
	u64 base = strace_map_at(l->fds, l->record->unmap.map);

	if (!base)
		return line_lose(l, "their mapping is not in the trace");
	line_begin(l, "munmap");
	fprintf(l->out, "%#llx, %llu", base + (u64)l->record->unmap.offset_bytes, l->record->unmap.length_bytes);
	return line_finish(l);
}

/**
 * strace_put_msync() - msync
 */
int strace_put_msync(const struct line *l)
{
	const struct iot_rec_msync *r = &l->record->msync;
	u64 base = strace_map_find(l->fds, strace_process(l->event), r->handle, (u64)r->offset_bytes);

	if (!base)
		return line_lose(l, "their mapping is not in the trace");
	line_begin(l, "msync");
	fprintf(l->out, "%#llx, %lld, MS_SYNC", base + (u64)r->offset_bytes, r->end_bytes - r->offset_bytes + 1);
	return line_finish(l);
}
