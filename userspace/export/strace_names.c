// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_names.c - operations on names, and opening and closing, as system calls.
 */
#include <errno.h>

#include "strace_line.h"

/* -- names -------------------------------------------------------------------------------------------- */

/**
 * strace_put_found() - faccessat2, which looks a name up, or follows a link, without a record of its own
 */
int strace_put_found(const struct line *l, const char *flags)
{
	if (!*l->event->name_path)
		return line_lose(l, EXPORT_NO_PATH);
	line_begin(l, "faccessat2");
	fputs("AT_FDCWD, ", l->out);
	line_path(l, l->event->name_path);
	fprintf(l->out, ", F_OK, %s", flags);
	return line_finish(l);
}

/**
 * strace_put_lookup() - a look-up, unless another call repeats it in the reader
 */
int strace_put_lookup(const struct line *l)
{
	u32 intents = l->record->lookup.intents;

	if (l->event->result >= 0 && intents)
		return 0;
	if (intents & IOT_INTENT_rename_target)
		return 0;
	if (!*l->event->name_path)
		return line_lose(l, EXPORT_NO_PATH);
	if (l->event->result == -EEXIST && intents & IOT_INTENT_open) {
		line_begin(l, "openat");
		fputs("AT_FDCWD, ", l->out);
		line_path(l, l->event->name_path);
		fputs(", O_RDWR|O_CREAT|O_EXCL, 0666", l->out);
		return line_finish(l);
	}
	if (l->event->result == -EEXIST) {
		line_begin(l, "mkdir");
		line_path(l, l->event->name_path);
		fputs(", 0777", l->out);
		return line_finish(l);
	}
	return strace_put_found(l, "AT_SYMLINK_NOFOLLOW");
}

/**
 * strace_put_mode() - a call with a name and permissions
 */
int strace_put_mode(const struct line *l, const char *call, u32 mode)
{
	if (!*l->event->name_path)
		return line_lose(l, EXPORT_NO_PATH);
	line_begin(l, call);
	line_path(l, l->event->name_path);
	fprintf(l->out, ", 0%o", mode & 07777);
	return line_finish(l);
}

/**
 * strace_put_mknod() - mknod
 */
int strace_put_mknod(const struct line *l)
{
	static const char *const types[] = { [1] = "S_IFIFO", [2] = "S_IFCHR", [6] = "S_IFBLK", [8] = "S_IFREG", [12] = "S_IFSOCK" };
	u32 type = l->record->mknod.mode >> 12 & 15;
	u64 rdev = l->record->mknod.rdev;

	if (!*l->event->name_path)
		return line_lose(l, EXPORT_NO_PATH);
	line_begin(l, "mknod");
	line_path(l, l->event->name_path);
	fprintf(l->out, ", %s|0%o", type < ARRAY_SIZE(types) && types[type] ? types[type] : "S_IFREG",
		l->record->mknod.mode & 07777);
	if (type == IOT_TYPE_chr || type == IOT_TYPE_blk)
		fprintf(l->out, ", makedev(%#llx, %#llx)", rdev >> 8 & 0xfff, (rdev & 0xff) | (rdev >> 12 & 0xfff00));
	return line_finish(l);
}

/**
 * strace_put_name() - a call with a name
 */
int strace_put_name(const struct line *l, const char *call)
{
	if (!*l->event->name_path)
		return line_lose(l, EXPORT_NO_PATH);
	line_begin(l, call);
	line_path(l, l->event->name_path);
	return line_finish(l);
}

/**
 * strace_put_rename() - renameat2
 */
int strace_put_rename(const struct line *l)
{
	static const struct word words[] = {
		{ IOT_RENAME_noreplace, "RENAME_NOREPLACE" }, { IOT_RENAME_exchange, "RENAME_EXCHANGE" },
		{ IOT_RENAME_whiteout, "RENAME_WHITEOUT" },
	};

	if (!*l->event->name_path || !*l->event->path2)
		return line_lose(l, EXPORT_NO_PATH);
	line_begin(l, "renameat2");
	fputs("AT_FDCWD, ", l->out);
	line_path(l, l->event->name_path);
	fputs(", AT_FDCWD, ", l->out);
	line_path(l, l->event->path2);
	fputs(", ", l->out);
	line_words(l, words, ARRAY_SIZE(words), l->record->rename.flags, "0");
	return line_finish(l);
}

/**
 * strace_put_link() - linkat
 */
int strace_put_link(const struct line *l)
{
	if (!*l->event->name_path || !*l->event->path2)
		return line_lose(l, "the file has no name for a link");
	line_begin(l, "linkat");
	fputs("AT_FDCWD, ", l->out);
	line_path(l, l->event->path2);
	fputs(", AT_FDCWD, ", l->out);
	line_path(l, l->event->name_path);
	fputs(", 0", l->out);
	return line_finish(l);
}

/**
 * strace_put_symlink() - symlink
 */
int strace_put_symlink(const struct line *l)
{
	if (!*l->event->name_path)
		return line_lose(l, EXPORT_NO_PATH);
	line_begin(l, "symlink");
	strace_string(l->out, l->record->tail, l->record->tail_bytes);
	fputs(", ", l->out);
	line_path(l, l->event->name_path);
	return line_finish(l);
}

/**
 * strace_put_readlink() - readlink
 */
int strace_put_readlink(const struct line *l)
{
	if (!*l->event->name_path)
		return line_lose(l, EXPORT_NO_PATH);
	line_begin(l, "readlink");
	line_path(l, l->event->name_path);
	fputs(", ", l->out);
	if (l->event->result < 0)
		fputs(UNKNOWN_ADDRESS, l->out);
	else
		strace_string(l->out, l->record->tail, l->record->tail_bytes);
	fprintf(l->out, ", %llu", l->record->readlink.length_bytes);
	return line_finish(l);
}

/* -- opening and closing ---------------------------------------------------------------------------------- */

static void put_open_flags(const struct line *l, u32 flags)
{
	static const struct word words[] = {
		{ IOT_OPEN_append, "O_APPEND" }, { IOT_OPEN_create, "O_CREAT" }, { IOT_OPEN_excl, "O_EXCL" },
		{ IOT_OPEN_trunc, "O_TRUNC" }, { IOT_OPEN_direct, "O_DIRECT" }, { IOT_OPEN_sync, "O_SYNC" },
		{ IOT_OPEN_dsync, "O_DSYNC" }, { IOT_OPEN_directory, "O_DIRECTORY" }, { IOT_OPEN_nofollow, "O_NOFOLLOW" },
		{ IOT_OPEN_noatime, "O_NOATIME" }, { IOT_OPEN_nonblock, "O_NONBLOCK" }, { IOT_OPEN_tmpfile, "O_TMPFILE" },
	};
	u32 access = flags & (IOT_OPEN_read | IOT_OPEN_write);

	fputs(access == IOT_OPEN_read ? "O_RDONLY" : access == IOT_OPEN_write ? "O_WRONLY" : "O_RDWR", l->out);
	if (flags & ~(u32)(IOT_OPEN_read | IOT_OPEN_write | IOT_OPEN_exec | IOT_OPEN_created)) {
		fputc('|', l->out);
		line_words(l, words, ARRAY_SIZE(words), flags, "0");
	}
}

/**
 * strace_put_open() - openat, or execve of a program that could not be opened
 */
int strace_put_open(const struct line *l)
{
	const struct iot_rec_open *r = &l->record->open;
	s64 result = l->event->result;

	if (r->flags & IOT_OPEN_exec && result >= 0)
		return 0; /* the exec does it */
	if (!*l->event->name_path)
		return line_lose(l, EXPORT_NO_PATH);
	if (r->flags & IOT_OPEN_exec) {
		line_begin(l, "execve");
		line_path(l, l->event->name_path);
		fputs(", [\"\"], 0x7ffc00000000 /* 0 vars */", l->out);
		return line_finish(l);
	}
	line_begin(l, "openat");
	fputs("AT_FDCWD, ", l->out);
	line_path(l, l->event->name_path);
	fputs(", ", l->out);
	put_open_flags(l, r->flags);
	if (r->flags & (IOT_OPEN_create | IOT_OPEN_tmpfile))
		fprintf(l->out, ", 0%o", r->mode & 07777);
	if (result >= 0)
		result = strace_fd_make(l->fds, strace_process(l->event), r->handle);
	if (result == -ENOMEM && l->event->result >= 0)
		return -ENOMEM;
	strace_end_line(l->x, l->event, result);
	return 0;
}

/**
 * strace_put_close() - close, after dup if the process uses the handle later
 */
int strace_put_close(const struct line *l)
{
	int copy, fd = strace_fd_close(l->fds, strace_process(l->event), l->record->flush.handle, &copy);

	if (fd <= 0)
		return fd; /* of a program that is run: the exec has it */
	if (copy) {
		line_begin(l, "dup");
		fprintf(l->out, "%d", fd);
		fprintf(l->out, ") = %d <0.000000000>\n", copy);
	}
	line_begin(l, "close");
	fprintf(l->out, "%d", fd);
	return line_finish(l);
}
