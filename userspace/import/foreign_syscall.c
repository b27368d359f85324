// SPDX-License-Identifier: GPL-2.0-only
/*
 * foreign_syscall.c - system calls whose arguments have names, as tracers in the kernel record them, in the notation of
 * strace.
 *
 * The names are those of the kernel's functions (SYSCALL_DEFINE). Tracers leave out arguments: perf trace those that are
 * zero, LTTng those that the kernel only fills in.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "foreign.h"

#define ERRNO_MAX 4095
#define ENTRY_BYTES 32 /* of a directory, as the kernel returns it: 24 and a name of 8 to 12 bytes, or less */

/*
 * The arguments of a call, as words KIND:NAME[|NAME][:PREFIX] with all names that an argument has. Kinds:
 *	d  descriptor of a directory
 *	f  descriptor
 *	s  name of a file; the call is not understood without it
 *	u  name of a file, or NULL, which LTTng shows as an empty name
 *	n  number; 0 if it is missing. Words that are no numbers get the prefix, as names of flags have it in strace
 *	m  permissions
 *	a  mode of access(2)
 *	p  address of a structure, which logs do not show
 *	o  address of an offset, or NULL
 *	b  address of a buffer
 *	e  address of entries of a directory, whose number follows from the bytes of the result
 *	r  result of the call, for the bytes of vectors, which logs do not show
 *	c  flags of clone(2)
 *	t  times: the present, if the address is NULL
 *	v  two descriptors that the call returns, as [3, 4]
 */
static const struct syscall_form {
	const char *name;
	const char *shown; /* NULL: the same */
	const char *arguments;
} forms[] = {
	{ "open", NULL, "s:filename n:flags:O_ m:mode" },
	{ "creat", NULL, "s:pathname|filename m:mode" },
	{ "openat", NULL, "d:dfd s:filename n:flags:O_ m:mode" },
	{ "close", NULL, "f:fd" },
	{ "close_range", NULL, "n:fd n:max_fd n:flags" },
	{ "dup", NULL, "f:fildes" },
	{ "dup2", NULL, "f:oldfd f:newfd" },
	{ "dup3", NULL, "f:oldfd f:newfd n:flags:O_" },
	{ "fcntl", NULL, "f:fd n:cmd:F_ n:arg" },
	{ "read", NULL, "f:fd b:buf n:count" },
	{ "write", NULL, "f:fd b:buf n:count" },
	{ "pread64", NULL, "f:fd b:buf n:count n:pos" },
	{ "pwrite64", NULL, "f:fd b:buf n:count n:pos" },
	{ "readv", "read", "f:fd b:vec r:" },
	{ "writev", "write", "f:fd b:vec r:" },
	{ "preadv", "pread64", "f:fd b:vec r: n:pos_l" },
	{ "pwritev", "pwrite64", "f:fd b:vec r: n:pos_l" },
	{ "lseek", NULL, "f:fd n:offset n:whence:SEEK_" },
	{ "fsync", NULL, "f:fd" },
	{ "fdatasync", NULL, "f:fd" },
	{ "fallocate", NULL, "f:fd n:mode:FALLOC_FL_ n:offset n:len" },
	{ "fadvise64", NULL, "f:fd n:offset n:len n:advice:POSIX_FADV_" },
	{ "readahead", NULL, "f:fd n:offset n:count" },
	{ "copy_file_range", NULL, "f:fd_in o:off_in f:fd_out o:off_out n:len n:flags" },
	{ "sendfile", NULL, "f:out_fd f:in_fd o:offset n:count" },
	{ "sendfile64", "sendfile", "f:out_fd f:in_fd o:offset n:count" },
	{ "ioctl", NULL, "f:fd n:cmd n:arg" },
	{ "flock", NULL, "f:fd n:cmd:LOCK_" },
	{ "getdents", NULL, "f:fd e:dirent n:count" },
	{ "getdents64", NULL, "f:fd e:dirent n:count" },
	{ "truncate", NULL, "s:path n:length" },
	{ "ftruncate", NULL, "f:fd n:length" },
	{ "stat", NULL, "s:filename p:statbuf" },
	{ "lstat", NULL, "s:filename p:statbuf" },
	{ "fstat", NULL, "f:fd p:statbuf" },
	{ "newstat", "stat", "s:filename p:statbuf" },
	{ "newlstat", "lstat", "s:filename p:statbuf" },
	{ "newfstat", "fstat", "f:fd p:statbuf" },
	{ "newfstatat", NULL, "d:dfd s:filename p:statbuf n:flag|flags:AT_" },
	{ "statx", NULL, "d:dfd s:filename n:flags:AT_ n:mask:STATX_ p:buffer" },
	{ "access", NULL, "s:filename a:mode" },
	{ "faccessat", NULL, "d:dfd s:filename a:mode" },
	{ "faccessat2", NULL, "d:dfd s:filename a:mode n:flags:AT_" },
	{ "statfs", NULL, "s:pathname p:buf" },
	{ "fstatfs", NULL, "f:fd p:buf" },
	{ "mkdir", NULL, "s:pathname m:mode" },
	{ "mkdirat", NULL, "d:dfd s:pathname m:mode" },
	{ "rmdir", NULL, "s:pathname" },
	{ "unlink", NULL, "s:pathname" },
	{ "unlinkat", NULL, "d:dfd s:pathname n:flag|flags:AT_" },
	{ "rename", NULL, "s:oldname s:newname" },
	{ "renameat", NULL, "d:olddfd s:oldname d:newdfd s:newname" },
	{ "renameat2", NULL, "d:olddfd s:oldname d:newdfd s:newname n:flags:RENAME_" },
	{ "link", NULL, "s:oldname s:newname" },
	{ "linkat", NULL, "d:olddfd s:oldname d:newdfd s:newname n:flags:AT_" },
	{ "symlink", NULL, "s:oldname s:newname" },
	{ "symlinkat", NULL, "s:oldname d:newdfd s:newname" },
	{ "readlink", NULL, "s:path p:buf n:bufsiz" },
	{ "readlinkat", NULL, "d:dfd s:pathname p:buf n:bufsiz" },
	{ "chmod", NULL, "s:filename m:mode" },
	{ "fchmod", NULL, "f:fd m:mode" },
	{ "fchmodat", NULL, "d:dfd s:filename m:mode" },
	{ "chown", NULL, "s:filename n:user n:group" },
	{ "lchown", NULL, "s:filename n:user n:group" },
	{ "fchown", NULL, "f:fd n:user n:group" },
	{ "fchownat", NULL, "d:dfd s:filename n:user n:group n:flag|flags:AT_" },
	{ "utimensat", NULL, "d:dfd u:filename t:utimes n:flags:AT_" },
	{ "getxattr", NULL, "s:pathname|path s:name b:value n:size" },
	{ "lgetxattr", NULL, "s:pathname|path s:name b:value n:size" },
	{ "fgetxattr", NULL, "f:fd s:name b:value n:size" },
	{ "setxattr", NULL, "s:pathname|path s:name b:value n:size n:flags:XATTR_" },
	{ "lsetxattr", NULL, "s:pathname|path s:name b:value n:size n:flags:XATTR_" },
	{ "fsetxattr", NULL, "f:fd s:name b:value n:size n:flags:XATTR_" },
	{ "listxattr", NULL, "s:pathname|path b:list n:size" },
	{ "llistxattr", NULL, "s:pathname|path b:list n:size" },
	{ "flistxattr", NULL, "f:fd b:list n:size" },
	{ "removexattr", NULL, "s:pathname|path s:name" },
	{ "lremovexattr", NULL, "s:pathname|path s:name" },
	{ "fremovexattr", NULL, "f:fd s:name" },
	{ "mmap", NULL, "n:addr n:len n:prot:PROT_ n:flags:MAP_ f:fd n:off|offset" },
	{ "munmap", NULL, "n:addr n:len" },
	{ "mprotect", NULL, "n:start n:len n:prot:PROT_" },
	{ "msync", NULL, "n:start n:len n:flags:MS_" },
	{ "madvise", NULL, "n:start n:len_in n:behavior:MADV_" },
	{ "chdir", NULL, "s:filename" },
	{ "fchdir", NULL, "f:fd" },
	{ "umask", NULL, "n:mask" },
	{ "execve", NULL, "s:filename p:argv p:envp" },
	{ "wait4", NULL, "n:upid p:stat_addr n:options p:ru" },
	{ "waitid", NULL, "n:which n:upid p:infop n:options p:ru" },
	{ "clone", NULL, "c:clone_flags|flags" },
	{ "clone3", NULL, "c:flags" },
	{ "fork", NULL, "" },
	{ "vfork", NULL, "" },
	{ "exit", NULL, "n:error_code" },
	{ "exit_group", NULL, "n:error_code" },
	/* descriptors of something else than files */
	{ "pipe", NULL, "v:fildes" },
	{ "pipe2", NULL, "v:fildes n:flags:O_" },
	{ "accept", NULL, "f:fd p:upeer_sockaddr p:upeer_addrlen" },
	{ "accept4", NULL, "f:fd p:upeer_sockaddr p:upeer_addrlen n:flags" },
	{ "socket", NULL, "n:family n:type n:protocol" },
	{ "eventfd2", NULL, "n:count n:flags" },
	{ "epoll_create1", NULL, "n:flags" },
	{ "memfd_create", NULL, "p:uname n:flags" },
	{ "timerfd_create", NULL, "n:clockid n:flags" },
	{ "inotify_init1", NULL, "n:flags" },
};

static const struct syscall_form *find_form(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(forms); i++)
		if (!strcmp(forms[i].name, name))
			return &forms[i];
	return NULL;
}

/* An argument that has one of these names, separated by bars; NULL if there is none. */
static const struct syscall_value *find_value(const struct syscall_call *call, const char *names, size_t bytes)
{
	size_t i, length;

	for (i = 0; i < call->count; i++) {
		const char *p = names, *end = names + bytes;

		for (; p < end; p += length + 1) {
			const char *bar = memchr(p, '|', (size_t)(end - p));

			length = (size_t)((bar ? bar : end) - p);
			if (strlen(call->values[i].name) == length && !memcmp(call->values[i].name, p, length))
				return &call->values[i];
		}
	}
	return NULL;
}

/* -- values -------------------------------------------------------------------------------------------- */

static bool is_number(const char *text)
{
	char *end;

	strtoll(text, &end, 0);
	return end != text && !*end;
}

/* Names of flags, with a prefix before each that strace has and the log does not. Return: is the text one? */
static bool put_flags(FILE *out, const char *text, const char *prefix, size_t prefix_bytes)
{
	size_t bytes;

	if (is_number(text)) {
		fputs(text, out);
		return true;
	}
	for (;; text += bytes + 1) {
		bytes = strcspn(text, "|");
		if (!bytes || strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_abcdefx") < bytes)
			return false;
		if (!isdigit((unsigned char)*text) && (bytes < prefix_bytes || memcmp(text, prefix, prefix_bytes)))
			fwrite(prefix, 1, prefix_bytes, out);
		fwrite(text, 1, bytes, out);
		if (!text[bytes])
			return true;
		fputc('|', out);
	}
}

/* Words such as IRUGO|IWUSR and R|W, as numbers: the kernel's names of permissions without S_, and of access(2) without _OK. */
static bool put_words(FILE *out, const char *text)
{
	static const struct {
		const char *word;
		unsigned int bits;
	} words[] = {
		{ "IALLUGO", 07777 }, { "IRWXUGO", 0777 }, { "IRUGO", 0444 }, { "IWUGO", 0222 }, { "IXUGO", 0111 },
		{ "IRWXU", 0700 }, { "IRUSR", 0400 }, { "IWUSR", 0200 }, { "IXUSR", 0100 }, { "IRWXG", 070 }, { "IRGRP", 040 },
		{ "IWGRP", 020 }, { "IXGRP", 010 }, { "IRWXO", 07 }, { "IROTH", 04 }, { "IWOTH", 02 }, { "IXOTH", 01 },
		{ "ISUID", 04000 }, { "ISGID", 02000 }, { "ISVTX", 01000 }, { "F", 0 }, { "R", 4 }, { "W", 2 }, { "X", 1 },
	};
	unsigned int bits = 0;
	size_t bytes, i;

	if (is_number(text)) {
		fprintf(out, "0%llo", (u64)strtoll(text, NULL, 0));
		return true;
	}
	for (;; text += bytes + 1) {
		bytes = strcspn(text, "|");
		for (i = 0; i < ARRAY_SIZE(words) && (strlen(words[i].word) != bytes || memcmp(words[i].word, text, bytes)); i++)
			;
		if (i == ARRAY_SIZE(words))
			return false;
		bits |= words[i].bits;
		if (!text[bytes])
			break;
	}
	fprintf(out, "0%o", bits);
	return true;
}

/* 3, 3</a/b>, 3<pipe:[7]>, CWD, -100 or AT_FDCWD. */
static bool put_fd(FILE *out, const char *text, bool is_directory)
{
	char quoted[FOREIGN_PATH_BYTES], path[FOREIGN_PATH_BYTES];
	char *end;
	size_t bytes;
	int fd;

	if (is_directory && (!strcmp(text, "CWD") || !strcmp(text, "AT_FDCWD") || (int)strtoull(text, NULL, 0) == AT_FDCWD)) {
		fputs("AT_FDCWD", out);
		return true;
	}
	fd = (int)strtoull(text, &end, 0); /* tracers may print 32 or 64 bits of a number below zero */
	if (end == text)
		return false;
	fprintf(out, "%d", fd);
	bytes = strlen(end);
	if (bytes > 2 && *end == '<' && end[bytes - 1] == '>' && bytes < sizeof(path)) {
		memcpy(path, end + 1, bytes - 2);
		path[bytes - 2] = 0;
		if (foreign_quote(path, quoted, sizeof(quoted)))
			fprintf(out, "<%s>", quoted);
	}
	return true;
}

static bool put_name(FILE *out, const struct syscall_value *value)
{
	char quoted[FOREIGN_PATH_BYTES];

	if (!value || !value->is_string || !foreign_quote(value->text, quoted, sizeof(quoted)))
		return false;
	fprintf(out, "\"%s\"", quoted);
	return true;
}

/* Return: is the argument known? */
static bool put_argument(FILE *out, const struct syscall_call *call, char kind, const struct syscall_value *value,
			 const char *prefix, size_t prefix_bytes)
{
	const char *text = value ? value->text : NULL;

	switch (kind) {
	case 'd':
	case 'f':
		return put_fd(out, text ?: "0", kind == 'd');
	case 's':
		return put_name(out, value);
	case 'u':
		if (value && *text)
			return put_name(out, value);
		fputs("NULL", out);
		return true;
	case 'm':
	case 'a':
		return put_words(out, text ?: "0");
	case 'p':
		fputs("0x1000", out);
		return true;
	case 'b':
		fputs("\"\"...", out);
		return true;
	case 'e':
		fprintf(out, "0x1000 /* about %lld entries */", call->result > 0 ? (call->result + ENTRY_BYTES - 1) / ENTRY_BYTES : 0);
		return true;
	case 'r':
		fprintf(out, "%lld", call->result > 0 ? call->result : 0);
		return true;
	case 'o':
	case 't':
		fputs(text && strtoull(text, NULL, 0) ? "0x1000" : "NULL", out);
		return true;
	case 'v':
		fputs(text ?: "", out);
		return text;
	case 'c':
		fputs("child_stack=NULL, flags=", out);
		return put_flags(out, text ?: "0", "CLONE_", strlen("CLONE_"));
	default:
		return put_flags(out, text ?: "0", prefix, prefix_bytes);
	}
}

/* Return: are all arguments known? */
static bool put_arguments(FILE *out, const struct syscall_call *call, const char *arguments)
{
	bool is_first = true;

	while (*arguments) {
		size_t bytes = strcspn(arguments, " "), names = strcspn(arguments + 2, ": ");
		const char *prefix = arguments + 2 + names, *end = arguments + bytes;

		prefix += prefix < end; /* the colon before it */
		if (!is_first)
			fputs(", ", out);
		is_first = false;
		if (!put_argument(out, call, *arguments, find_value(call, arguments + 2, names), prefix, (size_t)(end - prefix)))
			return false;
		arguments = end + (*end == ' ');
	}
	return true;
}

static void put_result(FILE *out, const struct syscall_call *call)
{
	const char *name = call->result < 0 && call->result >= -ERRNO_MAX ? strerrorname_np((int)-call->result) : NULL;

	if (!call->has_result)
		fputs(") = ?", out);
	else if (name)
		fprintf(out, ") = -1 %s (-)", name);
	else
		fprintf(out, ") = %lld", call->result);
}

/* Return: the name of the call for the model; NULL if the call does nothing to files, as getcwd(2) whose result is not shown. */
static const char *shown_name(const struct syscall_form *form, const struct syscall_call *call)
{
	const char *name = form && form->shown ? form->shown : call->name, *class = import_call_class(name);

	if (!strcmp(name, "getcwd"))
		return NULL;
	return !class || !strcmp(class, "record") || !strcmp(class, "gap") ? name : NULL;
}

/* The call without its arguments, but for a descriptor, which shows whether it concerns a root. */
static void put_unknown(FILE *out, const struct syscall_call *call, const char *name)
{
	static const char *const descriptors[] = { "fd", "fildes", "oldfd", "fd_in" };
	const struct syscall_value *value = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(descriptors) && !value; i++)
		value = find_value(call, descriptors[i], strlen(descriptors[i]));
	fprintf(out, "%s(", name);
	if (value)
		put_fd(out, value->text, false);
	put_result(out, call);
}

/* Its text; only the name if the arguments are not known: the model counts the call then. Return: 0 or -ENOMEM. */
static int text_of(struct foreign *f, const struct syscall_call *call, const char *name, char **text)
{
	const struct syscall_form *form = find_form(call->name);
	size_t bytes = 0;
	FILE *out = open_memstream(text, &bytes);
	bool is_known;

	if (!out)
		return -ENOMEM;
	fprintf(out, "%s(", name);
	is_known = form && put_arguments(out, call, form->arguments);
	if (is_known && strstr(form->arguments, "r:"))
		foreign_lack(f, IMPORT_GAP_no_request, NULL);
	if (is_known)
		put_result(out, call);
	else if (!fflush(out) && !fseeko(out, 0, SEEK_SET))
		put_unknown(out, call, name);
	return fclose(out) ? -ENOMEM : 0;
}

/**
 * syscall_add() - an argument of a call; those beyond the room are ignored
 * @text: outlives the call
 */
void syscall_add(struct syscall_call *call, const char *name, const char *text, bool is_string)
{
	if (call->count < SYSCALL_VALUES_MAX)
		call->values[call->count++] = (struct syscall_value){ name, text, is_string };
}

/* The directory in which the first thread works, as a change to it. */
static int put_first_directory(struct foreign *f, struct foreign_thread *thread, u64 time_ns)
{
	char quoted[FOREIGN_PATH_BYTES], text[FOREIGN_PATH_BYTES + 32];

	if (!f->directory || !foreign_quote(f->directory, quoted, sizeof(quoted)))
		return 0;
	snprintf(text, sizeof(text), "chdir(\"%s\") = 0", quoted);
	return foreign_put(f, thread, time_ns, time_ns, text);
}

/*
 * fstat(2) of the C library is newfstatat(2) with an empty name. LTTng shows a wrong one if the page of the empty one was not
 * in memory.
 */
static void clear_name(struct syscall_call *call)
{
	const struct syscall_value *flags = find_value(call, "flag|flags", strlen("flag|flags"));
	size_t i;

	if (strcmp(call->name, "newfstatat") || !flags || !is_number(flags->text) || !(strtoull(flags->text, NULL, 0) & AT_EMPTY_PATH))
		return;
	for (i = 0; i < call->count; i++)
		if (!strcmp(call->values[i].name, "filename"))
			call->values[i].text = "";
}

/* Logs show the address of the flags of clone3(2). A child of posix_spawn(3) executes a program, or ends, before the call returns. */
static void add_birth(struct foreign *f, struct syscall_call *call)
{
	if (strcmp(call->name, "clone3") || find_value(call, "flags", strlen("flags")) || call->result <= 0)
		return;
	foreign_lack(f, IMPORT_GAP_no_birth, NULL);
	syscall_add(call, "flags", foreign_is_process(f, (u64)call->result) ? "CLONE_VM|CLONE_VFORK" :
		    "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD", false);
}

static bool is_of_process(const struct syscall_call *call)
{
	return (!strncmp(call->name, "execve", strlen("execve")) && call->has_result && !call->result) || !strcmp(call->name, "exit_group");
}

/**
 * syscall_put() - add a system call
 *
 * The calls of a thread are added in their order; those of the first thread come first.
 *
 * Return: 0 or a negative errno.
 */
int syscall_put(struct foreign *f, struct foreign_thread *thread, const struct syscall_call *call)
{
	const char *name = shown_name(find_form(call->name), call);
	struct syscall_call full = *call;
	char *text = NULL;
	int err;

	if (is_of_process(call))
		foreign_set_process(thread);
	err = f->is_any ? 0 : put_first_directory(f, thread, call->begin_ns);
	f->is_any = true;
	if (err || !name)
		return err;
	add_birth(f, &full);
	clear_name(&full);
	err = text_of(f, &full, name, &text);
	if (!err)
		err = foreign_put(f, thread, call->begin_ns, call->end_ns, text);
	free(text);
	return err;
}
