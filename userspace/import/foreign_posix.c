// SPDX-License-Identifier: GPL-2.0-only
/*
 * foreign_posix.c - calls of POSIX functions, as libraries that are loaded before the C library record them,
 * in the notation of strace.
 *
 * Arguments that are not known are left out, so that the model counts the call as not understood.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#include "foreign.h"

/**
 * struct posix_form - how strace shows a function
 * @name: without 64 at its end, and without the marks of __xstat
 * @shown: the system call; NULL: it has none of its own, and is counted by name
 * @arguments: p, q: path, path2; F: descriptor; b: buffer; c: count; o: offset; l: length; w: whence;
 *	f: flags; m: permissions; M: those, if a file is made; n: mode of access; z: a structure that is not
 *	known; d: the working directory; r: O_DIRECTORY
 * @result: the result of a success: 0: nothing; c: the count; o: descriptor or position, which must be known
 */
struct posix_form {
	const char *name;
	const char *shown;
	const char *arguments;
	char result;
};

static const struct posix_form forms[] = {
	{ "open", "openat", "dpfM", 'o' },
	{ "openat", "openat", "dpfM", 'o' },
	{ "creat", "creat", "pm", 'o' },
	{ "close", "close", "F", 0 },
	{ "read", "read", "Fbc", 'c' },
	{ "write", "write", "Fbc", 'c' },
	{ "pread", "pread64", "Fbco", 'c' },
	{ "pwrite", "pwrite64", "Fbco", 'c' },
	{ "readv", "read", "Fbc", 'c' }, /* the count is that of all buffers */
	{ "writev", "write", "Fbc", 'c' },
	{ "lseek", "lseek", "Fow", 'o' },
	{ "fsync", "fsync", "F", 0 },
	{ "fdatasync", "fdatasync", "F", 0 },
	{ "truncate", "truncate", "pl", 0 },
	{ "ftruncate", "ftruncate", "Fl", 0 },
	{ "mkdir", "mkdir", "pm", 0 },
	{ "rmdir", "rmdir", "p", 0 },
	{ "unlink", "unlink", "p", 0 },
	{ "rename", "rename", "pq", 0 },
	{ "link", "link", "pq", 0 },
	{ "symlink", "symlink", "pq", 0 },
	{ "chmod", "chmod", "pm", 0 },
	{ "access", "access", "pn", 0 },
	{ "stat", "stat", "pz", 0 },
	{ "lstat", "lstat", "pz", 0 },
	{ "fstat", "fstat", "Fz", 0 },
	/* of POSIX, and there is not enough in logs to make operations of them */
	{ "opendir" }, { "readdir" }, { "closedir" }, { "rewinddir" }, { "remove" }, { "mkfifo" }, { "mknod" },
	{ "mknodat" }, { "linkat" }, { "symlinkat" }, { "readlink" }, { "readlinkat" }, { "chown" }, { "lchown" },
	{ "utime" }, { "faccessat" }, { "dup" }, { "dup2" }, { "fcntl" }, { "chdir" }, { "tmpfile" }, { "fdopen" },
	{ "fopen" }, { "fclose" }, { "fread" }, { "fwrite" }, { "fseek" }, { "fseeko" }, { "fprintf" }, { "fflush" },
	{ "msync" }, { "preadv" }, { "pwritev" }, { "unlinkat" }, { "renameat" }, { "fallocate" },
	/* no operation on a file */
	{ "ftell", "" }, { "ftello", "" }, { "fileno", "" }, { "getcwd", "" }, { "umask", "" }, { "pipe", "" },
};

/* open64, __xstat64, __open_2 are open, stat, open. */
static const struct posix_form *find_form(const char *name)
{
	char plain[32];
	size_t bytes, i;

	if (!strncmp(name, "__", 2))
		name += 2;
	bytes = strlen(name);
	if (bytes >= sizeof(plain))
		return NULL;
	memcpy(plain, name, bytes + 1);
	if (bytes > 2 && !strcmp(plain + bytes - 2, "64"))
		plain[bytes -= 2] = 0;
	if (!strcmp(plain, "xstat") || !strcmp(plain, "lxstat") || !strcmp(plain, "fxstat"))
		memmove(strchr(plain, 'x'), strchr(plain, 'x') + 1, strlen(strchr(plain, 'x')));
	for (i = 0; i < ARRAY_SIZE(forms); i++)
		if (!strcmp(plain, forms[i].name))
			return &forms[i];
	return NULL;
}

/**
 * posix_is_known() - is a function one of POSIX?
 */
bool posix_is_known(const char *name)
{
	return find_form(name) || !strcmp(name, "mmap") || !strcmp(name, "mmap64");
}

/* -- arguments -------------------------------------------------------------------------------------- */

struct text_builder {
	char bytes[4 * FOREIGN_PATH_BYTES];
	size_t at;
	bool is_known;
	u32 arguments;
};

static void add(struct text_builder *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text_builder *text, const char *format, ...)
{
	size_t room = sizeof(text->bytes) - text->at;
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(text->bytes + text->at, room, format, arguments);
	va_end(arguments);
	if (n < 0 || (size_t)n >= room)
		text->is_known = false;
	else
		text->at += (size_t)n;
}

static void add_path(struct text_builder *text, const char *path)
{
	char quoted[FOREIGN_PATH_BYTES];

	if (path && foreign_quote(path, quoted, sizeof(quoted)))
		add(text, "\"%s\"", quoted);
	else
		text->is_known = false;
}

static void add_fd(struct text_builder *text, const struct posix_call *call)
{
	char quoted[FOREIGN_PATH_BYTES];

	if (call->fd == FOREIGN_UNKNOWN)
		text->is_known = false;
	else if (call->path && foreign_quote(call->path, quoted, sizeof(quoted)))
		add(text, "%llu<%s>", call->fd, quoted);
	else
		add(text, "%llu", call->fd);
}

static void add_number(struct text_builder *text, const char *format, u64 number)
{
	if (number == FOREIGN_UNKNOWN)
		text->is_known = false;
	else if (*format == 'x')
		add(text, "0x%llx", number);
	else if (*format == 'o')
		add(text, "0%llo", number);
	else
		add(text, "%lld", (s64)number);
}

static void add_argument(struct text_builder *text, const struct posix_call *call, char kind)
{
	if (kind == 'M' && (call->flags == FOREIGN_UNKNOWN || !(call->flags & (O_CREAT | __O_TMPFILE))))
		return;
	if (text->arguments++)
		add(text, ", ");
	switch (kind) {
	case 'p':
		add_path(text, call->path);
		break;
	case 'q':
		add_path(text, call->path2);
		break;
	case 'F':
		add_fd(text, call);
		break;
	case 'd':
		add(text, "AT_FDCWD");
		break;
	case 'b':
		add(text, "\"\"...");
		break;
	case 'z':
		add(text, "0x1000");
		break;
	case 'c':
		add_number(text, "d", call->count);
		break;
	case 'o':
		add_number(text, "d", call->offset_bytes);
		break;
	case 'l':
		add_number(text, "d", call->length_bytes);
		break;
	case 'w':
		add_number(text, "d", call->whence);
		break;
	case 'f':
		add_number(text, "x", call->flags);
		break;
	default:
		add_number(text, kind == 'n' ? "d" : "o", call->mode);
	}
}

/* -- results ------------------------------------------------------------------------------------------ */

/* Return: is there one? A missing result is assumed to be a success, and counted. */
static bool find_result(struct foreign *f, const struct posix_form *form, const struct posix_call *call, s64 *result)
{
	*result = call->result;
	if (call->has_result)
		return true;
	*result = form->result == 'c' ? (s64)call->count : 0;
	if (form->result == 'o' || (form->result == 'c' && call->count > INT64_MAX))
		return false;
	foreign_lack(f, IMPORT_GAP_no_result, call->path);
	return true;
}

/* There is a call, and not all of it is known: the model counts it, and knows positions no more. */
static int put_short(struct foreign *f, struct foreign_thread *thread, const struct posix_form *form,
		     const struct posix_call *call)
{
	char text[64];

	if (!foreign_concerns(f, call->path))
		return 0;
	snprintf(text, sizeof(text), "%s() = 0", form->shown);
	return foreign_put(f, thread, call->begin_ns, call->end_ns, text);
}

/**
 * posix_put() - add a call of a POSIX function
 *
 * Functions of the C library that make other calls, such as fread, and those of which logs do not say
 * enough are counted by their names.
 *
 * Return: 0 or a negative errno.
 */
int posix_put(struct foreign *f, struct foreign_thread *thread, const struct posix_call *call)
{
	const struct posix_form *form = find_form(call->name);
	struct text_builder text = { .is_known = true };
	const char *kind;
	s64 result;

	if (!thread)
		return -ENOMEM;
	if (!strcmp(call->name, "mmap") || !strcmp(call->name, "mmap64")) {
		foreign_lack(f, IMPORT_GAP_map, call->path);
		return 0;
	}
	if (!form || !form->shown)
		return foreign_concerns(f, call->path) ? foreign_named(f, IMPORT_GAP_call, call->name) : 0;
	if (!*form->shown)
		return 0;
	if (call->has_result && call->result < 0) {
		foreign_lack(f, IMPORT_GAP_no_errno, call->path);
		return 0;
	}
	add(&text, "%s(", form->shown);
	for (kind = form->arguments; *kind; kind++)
		add_argument(&text, call, *kind);
	if (!text.is_known || !find_result(f, form, call, &result))
		return put_short(f, thread, form, call);
	add(&text, ") = %lld", result);
	if (!text.is_known)
		return put_short(f, thread, form, call);
	return foreign_put(f, thread, call->begin_ns, call->end_ns, text.bytes);
}
