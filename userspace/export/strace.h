/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * strace.h - private to the format strace: processes with their descriptors and mappings, and lines of calls.
 */
#ifndef IOTAPE_EXPORT_STRACE_H
#define IOTAPE_EXPORT_STRACE_H

#include "format.h"

struct strace_process;

/* strace_fds.c */
struct strace_fds;

int strace_fds_open(struct strace_fds **fds, const struct export *x);
void strace_fds_close(struct strace_fds *fds);
void strace_fds_take(struct strace_fds *fds, const struct export_event *event);
int strace_fds_fork(struct strace_fds *fds, u64 parent, u64 child);
int strace_fd_make(struct strace_fds *fds, u64 process, u64 handle);
int strace_fd_use(struct strace_fds *fds, u64 process, u64 handle, bool *is_new);
int strace_fd_close(struct strace_fds *fds, u64 process, u64 handle, int *copy);
u64 strace_map_make(struct strace_fds *fds, const struct export_event *event, u64 process);
u64 strace_map_at(const struct strace_fds *fds, u64 map);
u64 strace_map_find(const struct strace_fds *fds, u64 process, u64 handle, u64 offset_bytes);
u64 strace_process(const struct export_event *event);

/* strace_calls.c */
int strace_call(struct export *x, struct strace_fds *fds, const struct export_event *event, const char *dirents);
void strace_begin_line(const struct export *x, const struct export_event *event);
void strace_end_line(const struct export *x, const struct export_event *event, s64 result);
void strace_string(FILE *out, const void *bytes, size_t count);

#endif
