/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * strace_line.h - private to the format strace: writes one call, argument by argument.
 *
 * Functions return 0, or -ENOMEM; line_begin_object() also 1, if the operation is lost.
 */
#ifndef IOTAPE_EXPORT_STRACE_LINE_H
#define IOTAPE_EXPORT_STRACE_LINE_H

#include "strace.h"

#define UNKNOWN_ADDRESS "0x7ffd00000000"

/* The call that is written. */
struct line {
	struct export *x;
	struct strace_fds *fds;
	const struct export_event *event;
	const struct iot_record *record;
	FILE *out;
};

struct word {
	u32 bits;
	const char *text;
};

/* strace_line.c */
void line_path(const struct line *l, const char *path);
void line_words(const struct line *l, const struct word *words, size_t count, u32 bits, const char *none);
void line_begin(const struct line *l, const char *call);
int line_finish(const struct line *l);
int line_lose(const struct line *l, const char *reason);
int line_begin_fd(const struct line *l, const char *call, u64 handle);
int line_fd(const struct line *l, u64 handle);
int line_begin_object(const struct line *l, const char *by_name, const char *by_fd, u64 handle);

/* strace_names.c, strace_attributes.c, strace_data.c: a call each */
int strace_put_found(const struct line *l, const char *flags);
int strace_put_lookup(const struct line *l);
int strace_put_mode(const struct line *l, const char *call, u32 mode);
int strace_put_mknod(const struct line *l);
int strace_put_name(const struct line *l, const char *call);
int strace_put_rename(const struct line *l);
int strace_put_link(const struct line *l);
int strace_put_symlink(const struct line *l);
int strace_put_readlink(const struct line *l);
int strace_put_open(const struct line *l);
int strace_put_close(const struct line *l);
int strace_put_stat(const struct line *l);
int strace_put_setattr(const struct line *l);
int strace_put_statfs(const struct line *l);
int strace_put_xattr(const struct line *l, const char *by_name, const char *by_fd, u64 handle, bool has_name);
int strace_put_fileattr(const struct line *l);
int strace_put_transfer(const struct line *l, bool is_write, u64 handle, s64 offset_bytes, u64 length_bytes, u32 flags);
int strace_put_seek(const struct line *l);
int strace_put_fsync(const struct line *l);
int strace_put_readdir(const struct line *l, const char *dirents);
int strace_put_fallocate(const struct line *l);
int strace_put_fadvise(const struct line *l);
int strace_put_copy(const struct line *l);
int strace_put_remap(const struct line *l);
int strace_put_ioctl(const struct line *l);
int strace_put_lock(const struct line *l);
int strace_put_map(const struct line *l);
int strace_put_unmap(const struct line *l);
int strace_put_msync(const struct line *l);

#endif
