// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_fds.c - calls that close and copy descriptors, and make those that stand for no file.
 */
#include <fcntl.h>

#include "core/flags.h"
#include "model.h"

/* -- closing ----------------------------------------------------------------------------------------- */

void call_close(struct import *im, const struct call *call, const struct call_kind *kind)
{
	s64 fd;
	struct text path;

	(void)kind;
	if (call->arg_count && value_fd(call->args[0], &fd, &path))
		fd_close(im, fd);
	else if (im->task->fds->descriptors)
		gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
}

void call_close_range(struct import *im, const struct call *call, const struct call_kind *kind)
{
	s64 first, last, flags;

	(void)kind;
	if (call->has_result && call->result < 0)
		return;
	if (call_number(call, 0, &first) && call_number(call, 1, &last) &&
	    call_flags(call, 2, &flags) == VALUE_KNOWN)
		fd_close_range(im, (u32)first, (u32)last, (u64)flags);
	else if (im->task->fds->descriptors)
		gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
}

/* -- copying ----------------------------------------------------------------------------------------- */

static void copy_fd(struct import *im, const struct call *call, s64 to, bool is_cloexec)
{
	struct file *file = file_of(im, call, 0);
	struct descriptor *same = fd_find(im->task->fds, to);
	struct text path;
	s64 from;

	if (to < 0 || (same && file && same->file == file && value_fd(call->args[0], &from, &path) && from == to))
		return;
	if (!file) { /* the previous file is closed all the same */
		fd_forget(im, to);
		return;
	}
	file_get(file);
	fd_install(im, to, file, is_cloexec);
}

void call_dup(struct import *im, const struct call *call, const struct call_kind *kind)
{
	s64 flags = 0;

	if (call->result < 0)
		return;
	if (!strcmp(kind->name, "dup3") && call_flags(call, 2, &flags) != VALUE_KNOWN)
		gap_named(im, IMPORT_GAP_flag, call->name, (struct text){});
	copy_fd(im, call, call->result, flags & O_CLOEXEC);
}

/* -- fcntl ------------------------------------------------------------------------------------------- */

/* Those that change nothing of a file, and nothing that the model has. */
static bool is_question(s64 command)
{
	switch (command) {
	case F_GETFD:
	case F_GETFL:
	case F_GETOWN:
	case F_GETOWN_EX:
	case F_GETSIG:
	case F_SETOWN:
	case F_SETOWN_EX:
	case F_SETSIG:
	case F_GETPIPE_SZ:
	case F_SETPIPE_SZ:
	case F_GET_SEALS:
	case F_GETLEASE:
	case 1027: /* F_DUPFD_QUERY */
	case 1028: /* F_CREATED_QUERY */
	case 1035: /* F_GET_RW_HINT */
	case 1037: /* F_GET_FILE_RW_HINT */
	case 1039: /* F_GETDELEG */
		return true;
	default:
		return false;
	}
}

/* With these alone, something is missing: a raw number may be another argument. */
static bool has_argument(s64 command)
{
	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
	case F_SETFD:
	case F_SETFL:
	case F_SETOWN:
	case F_SETOWN_EX:
	case F_SETSIG:
	case F_SETPIPE_SZ:
		return true;
	default:
		return false;
	}
}

static bool is_incomplete(const struct call *call, s64 command)
{
	bool is_copy = command == F_DUPFD || command == F_DUPFD_CLOEXEC;

	return (call->arg_count < 3 && has_argument(command)) ||
	       (!is_copy && call->result_path.bytes && *call->result_path.p == '/');
}

static void set_flags(struct import *im, const struct call *call, struct file *file)
{
	const u32 can = IOT_OPEN_append | IOT_OPEN_direct | IOT_OPEN_nonblock | IOT_OPEN_noatime;
	enum value_known known;
	s64 flags;

	if (!file)
		return;
	known = call_flags(call, 2, &flags);
	if (known != VALUE_KNOWN && file->handle)
		gap_named(im, IMPORT_GAP_flag, call->name, call->arg_count > 2 ? call->args[2] : (struct text){});
	if (known != VALUE_UNKNOWN)
		file->flags = (file->flags & ~can) | (iot_open_flags_of((u64)flags) & can);
}

static void set_descriptor_flags(struct import *im, const struct call *call, struct descriptor *descriptor)
{
	s64 flags;

	if (!descriptor)
		return;
	if (call_number(call, 2, &flags))
		descriptor->is_cloexec = flags & FD_CLOEXEC;
	else if (descriptor->file->handle)
		gap_named(im, IMPORT_GAP_call, call->name, call->args[1]);
}

static void other_command(struct import *im, const struct call *call)
{
	struct text command = call->arg_count > 1 ? call->args[1] : (struct text){};

	if (!call_concerns_root(im, call, 1))
		return;
	gap_named(im, IMPORT_GAP_call, call->name, command);
	gap_moved(im, IMPORT_GAP_call, call);
}

void call_fcntl(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct file *file = file_of(im, call, 0);
	struct descriptor *descriptor = NULL;
	struct text path;
	s64 command, fd;

	(void)kind;
	if (call->arg_count && !value_fd(call->args[0], &fd, &path)) { /* it may have been copied */
		if (call->result >= 0)
			fd_forget(im, call->result);
		return;
	}
	if (!call_number(call, 1, &command) || is_incomplete(call, command)) {
		if (call->result < 0)
			return;
		other_command(im, call);
		if (call->result_path.bytes || call->arg_count < 3) /* it may be a copy */
			fd_forget(im, call->result);
		return;
	}
	if (call_lock(im, call, command) || call->result < 0)
		return;
	descriptor = fd_find(im->task->fds, fd);
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		copy_fd(im, call, call->result, command == F_DUPFD_CLOEXEC);
	else if (command == F_SETFD)
		set_descriptor_flags(im, call, descriptor);
	else if (command == F_SETFL)
		set_flags(im, call, file);
	else if (!is_question(command))
		other_command(im, call);
}

/* -- descriptors that are not files ------------------------------------------------------------ */

void call_no_file(struct import *im, const struct call *call, const struct call_kind *kind)
{
	(void)kind;
	if (call->result >= 0)
		fd_install_nothing(im, call->result);
}

/* [3, 4], as of pipe(2) and socketpair(2). */
void call_no_files(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct text list, item, path;
	s64 fd;

	if (call->result < 0 || kind->arg >= call->arg_count ||
	    !value_inner(call->args[kind->arg], '[', &list))
		return;
	while (value_first(list, &item, &list))
		if (value_fd(item, &fd, &path))
			fd_install_nothing(im, fd);
}

/* A descriptor of another process: its file is shown at its first use, if at all. */
void call_any_file(struct import *im, const struct call *call, const struct call_kind *kind)
{
	(void)kind;
	if (call->result >= 0)
		fd_forget(im, call->result);
}

/* Descriptors that come in a message, as in cmsg_type=SCM_RIGHTS, cmsg_data=[5]: likewise. */
void call_messages(struct import *im, const struct call *call, const struct call_kind *kind)
{
	static const char mark[] = "SCM_RIGHTS, cmsg_data=[";
	struct text list, item, path;
	const char *p, *end;
	s64 fd;

	(void)kind;
	if (call->result < 0 || call->arg_count < 2)
		return;
	p = call->args[1].p;
	end = p + call->args[1].bytes;
	while ((p = memmem(p, (size_t)(end - p), mark, strlen(mark)))) {
		p += strlen(mark);
		list = (struct text){ p, (size_t)(end - p) };
		while (value_first(list, &item, &list))
			if (value_fd(item, &fd, &path))
				fd_close(im, fd);
	}
}
