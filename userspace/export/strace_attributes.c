// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_attributes.c - operations on attributes as system calls.
 */
#include <string.h>

#include "strace_line.h"

/* -- attributes ------------------------------------------------------------------------------------------- */

/**
 * strace_put_stat() - lstat or fstat
 */
int strace_put_stat(const struct line *l)
{
	static const char *const types[] = { [0] = "S_IFREG", [1] = "S_IFIFO", [2] = "S_IFCHR", [4] = "S_IFDIR", [6] = "S_IFBLK",
					     [8] = "S_IFREG", [10] = "S_IFLNK", [12] = "S_IFSOCK" };
	u32 type = l->event->type;
	int err = line_begin_object(l, "lstat", "fstat", l->record->stat.handle);

	if (err)
		return err < 0 ? err : 0;
	fprintf(l->out, ", {st_mode=%s|0644, st_size=%llu, ...}",
		type < ARRAY_SIZE(types) && types[type] ? types[type] : "S_IFREG", l->record->stat.size_bytes);
	return line_finish(l);
}

static void put_stamp(const struct line *l, u32 attrs, u32 attr, u32 attr_set, u64 ns)
{
	if (!(attrs & attr))
		fputs("UTIME_OMIT", l->out);
	else if (attrs & attr_set)
		fprintf(l->out, "{tv_sec=%lld, tv_nsec=%llu}", (s64)(ns / 1000000000), ns % 1000000000);
	else
		fputs("UTIME_NOW", l->out);
}

static int put_utimes(const struct line *l, u64 handle)
{
	const struct iot_rec_setattr *r = &l->record->setattr;
	int err = handle ? line_begin_fd(l, "utimensat", handle) : 0;

	if (err)
		return err;
	if (handle) {
		fputs(", NULL, [", l->out);
	} else {
		line_begin(l, "utimensat");
		fputs("AT_FDCWD, ", l->out);
		line_path(l, *l->event->name_path ? l->event->name_path : l->event->path);
		fputs(", [", l->out);
	}
	put_stamp(l, r->attrs, IOT_ATTR_atime, IOT_ATTR_atime_set, r->atime_ns);
	fputs(", ", l->out);
	put_stamp(l, r->attrs, IOT_ATTR_mtime, IOT_ATTR_mtime_set, r->mtime_ns);
	fputs(handle ? "], 0" : "], AT_SYMLINK_NOFOLLOW", l->out);
	return line_finish(l);
}

/**
 * strace_put_setattr() - the call that changes the attributes, if one does
 */
int strace_put_setattr(const struct line *l)
{
	const struct iot_rec_setattr *r = &l->record->setattr;
	u64 handle = r->attrs & IOT_ATTR_by_handle ? r->handle : 0;
	int err;

	if (r->attrs & IOT_ATTR_by_open || !(r->attrs & ~(u32)(IOT_ATTR_kill_priv | IOT_ATTR_by_handle)))
		return 0; /* another call does it */
	if (!handle && !*l->event->name_path && !*l->event->path)
		return line_lose(l, EXPORT_NO_PATH);
	if (!!(r->attrs & IOT_ATTR_size) + !!(r->attrs & IOT_ATTR_mode) + !!(r->attrs & (IOT_ATTR_uid | IOT_ATTR_gid)) > 1)
		return line_lose(l, "no system call changes these attributes at once");
	if (!(r->attrs & (IOT_ATTR_size | IOT_ATTR_mode | IOT_ATTR_uid | IOT_ATTR_gid)))
		return put_utimes(l, handle);
	if (r->attrs & IOT_ATTR_size)
		err = line_begin_object(l, "truncate", "ftruncate", handle);
	else if (r->attrs & IOT_ATTR_mode)
		err = line_begin_object(l, "chmod", "fchmod", handle);
	else
		err = line_begin_object(l, "lchown", "fchown", handle);
	if (err)
		return err;
	if (r->attrs & IOT_ATTR_size)
		fprintf(l->out, ", %llu", r->size_bytes);
	else if (r->attrs & IOT_ATTR_mode)
		fprintf(l->out, ", 0%o", r->mode & 07777);
	else
		fprintf(l->out, ", %d, %d", r->attrs & IOT_ATTR_uid ? (s32)r->uid : -1, r->attrs & IOT_ATTR_gid ? (s32)r->gid : -1);
	return line_finish(l);
}

/**
 * strace_put_statfs() - statfs or fstatfs
 */
int strace_put_statfs(const struct line *l)
{
	int err = line_begin_object(l, "statfs", "fstatfs", l->record->statfs.handle);

	if (err)
		return err < 0 ? err : 0;
	fputs(", " UNKNOWN_ADDRESS, l->out);
	return line_finish(l);
}

/**
 * strace_put_xattr() - a call on extended attributes
 */
int strace_put_xattr(const struct line *l, const char *by_name, const char *by_fd, u64 handle, bool has_name)
{
	const void *zero = l->record->tail_bytes ? memchr(l->record->tail, 0, l->record->tail_bytes) : NULL;
	size_t bytes = zero ? (size_t)((const u8 *)zero - l->record->tail) : l->record->tail_bytes, value_bytes = 0;
	const u8 *value = iot_record_value(l->record, &value_bytes);
	int err = line_begin_object(l, by_name, by_fd, handle);

	if (err)
		return err < 0 ? err : 0;
	if (has_name) {
		fputs(", ", l->out);
		strace_string(l->out, l->record->tail, bytes);
	}
	switch (l->record->kind) {
	case IOT_KIND_getxattr:
		fprintf(l->out, ", " UNKNOWN_ADDRESS ", %llu", l->record->getxattr.length_bytes);
		break;
	case IOT_KIND_listxattr:
		fprintf(l->out, ", " UNKNOWN_ADDRESS ", %llu", l->record->listxattr.length_bytes);
		break;
	case IOT_KIND_setxattr:
		fputs(", ", l->out);
		if (value)
			strace_string(l->out, value, value_bytes);
		else
			fputs(UNKNOWN_ADDRESS, l->out);
		fprintf(l->out, ", %llu, %s", l->record->setxattr.length_bytes, l->record->setxattr.flags == 1 ? "XATTR_CREATE" :
			l->record->setxattr.flags == 2 ? "XATTR_REPLACE" : "0");
		break;
	default:
		break;
	}
	return line_finish(l);
}

/**
 * strace_put_fileattr() - ioctl with FS_IOC_GETFLAGS or FS_IOC_SETFLAGS
 */
int strace_put_fileattr(const struct line *l)
{
	static const struct word words[] = {
		{ IOT_FILEATTR_secrm, "FS_SECRM_FL" }, { IOT_FILEATTR_unrm, "FS_UNRM_FL" }, { IOT_FILEATTR_compr, "FS_COMPR_FL" },
		{ IOT_FILEATTR_sync, "FS_SYNC_FL" }, { IOT_FILEATTR_immutable, "FS_IMMUTABLE_FL" },
		{ IOT_FILEATTR_append, "FS_APPEND_FL" }, { IOT_FILEATTR_nodump, "FS_NODUMP_FL" },
		{ IOT_FILEATTR_noatime, "FS_NOATIME_FL" }, { IOT_FILEATTR_nocompr, "FS_NOCOMP_FL" },
		{ IOT_FILEATTR_journal_data, "FS_JOURNAL_DATA_FL" }, { IOT_FILEATTR_notail, "FS_NOTAIL_FL" },
		{ IOT_FILEATTR_dirsync, "FS_DIRSYNC_FL" }, { IOT_FILEATTR_topdir, "FS_TOPDIR_FL" },
		{ IOT_FILEATTR_nocow, "FS_NOCOW_FL" }, { IOT_FILEATTR_dax, "FS_DAX_FL" },
		{ IOT_FILEATTR_projinherit, "FS_PROJINHERIT_FL" }, { IOT_FILEATTR_casefold, "FS_CASEFOLD_FL" },
	};
	const struct iot_rec_setfileattr *r = &l->record->setfileattr;
	bool is_set = l->record->kind == IOT_KIND_setfileattr;
	u64 handle = is_set ? r->handle : l->record->getfileattr.handle;
	u32 known = 0;
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		known |= words[i].bits;
	if (!handle || (is_set && (r->has_numbers || r->flags & ~known)))
		return line_lose(l, EXPORT_NO_FORM);
	err = line_begin_fd(l, "ioctl", handle);
	if (err)
		return err;
	fprintf(l->out, ", %s, [", is_set ? "FS_IOC_SETFLAGS" : "FS_IOC_GETFLAGS");
	line_words(l, words, ARRAY_SIZE(words), is_set ? r->flags : 0, "0");
	fputc(']', l->out);
	return line_finish(l);
}
