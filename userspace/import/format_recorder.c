// SPDX-License-Identifier: GPL-2.0-only
/*
 * format_recorder.c - text of recorder2text: the functions that each rank called, in a file RANK.txt each.
 *
 *	BEGIN END FUNCTION [LEVEL [TYPE]] ( ARGUMENT ... )
 *
 * There is no description of the format but the tool. Times are seconds. Descriptors are replaced by the names of
 * their files, and results are missing: a name stands for the file of this name that the rank opened last.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#include "foreign.h"

#define WALL_CLOCK_S 100000000ull /* times beyond this are no times since the start */

/**
 * struct recorder_file - a file that a rank has open
 * @below: opened before, of the same name
 * @position: of the descriptor; FOREIGN_UNKNOWN behind a seek to somewhere that is not known
 */
struct recorder_file {
	struct recorder_file *below;
	u32 fd;
	u64 position;
};

struct recorder_name {
	UT_hash_handle hh;
	struct recorder_file *open;
	char path[];
};

struct recorder {
	u64 rank;
	char label[64];
	struct recorder_name *names;
	u32 last_fd;
	u64 start_ns;
};

/**
 * struct recorder_form - where arguments are
 * @arguments: p, q: path; F: name of an open file; c: count; o: offset; w: whence; l: length; f: flags; m: permissions;
 *	-: of no interest
 */
struct recorder_form {
	const char *name;
	const char *arguments;
};

static const struct recorder_form forms[] = {
	{ "creat", "pm" }, { "creat64", "pm" }, { "open", "pf" }, { "open64", "pf" }, { "close", "F" }, { "read", "F-c" },
	{ "write", "F-c" }, { "pread", "F-co" }, { "pread64", "F-co" }, { "pwrite", "F-co" }, { "pwrite64", "F-co" },
	{ "readv", "Fc-" }, { "writev", "Fc-" }, { "lseek", "Fow" }, { "lseek64", "Fow" }, { "fsync", "F" },
	{ "fdatasync", "F" }, { "ftruncate", "Fl" }, { "ftruncate64", "Fl" }, { "truncate", "pl" }, { "truncate64", "pl" },
	{ "mkdir", "pm" }, { "rmdir", "p" }, { "unlink", "p" }, { "rename", "pq" }, { "link", "pq" }, { "symlink", "pq" },
	{ "chmod", "pm" }, { "access", "pm" }, { "__xstat", "-p-" }, { "__xstat64", "-p-" }, { "__lxstat", "-p-" },
	{ "__lxstat64", "-p-" }, { "stat", "p-" }, { "lstat", "p-" }, { "__fxstat", "-F-" }, { "__fxstat64", "-F-" },
	{ "fstat", "F-" }, { "mmap", "----p-" }, { "mmap64", "----p-" }, { "fopen", "p-" }, { "fopen64", "p-" },
	{ "fread", "---p" }, { "fwrite", "---p" }, { "fseek", "p--" }, { "fclose", "p" }, { "fprintf", "p-" },
	{ "remove", "p" }, { "opendir", "p" },
};

static const struct recorder_form *find_form(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(forms); i++)
		if (!strcmp(forms[i].name, name))
			return &forms[i];
	return NULL;
}

/* Return: length of the word; 0 if it is not a time. */
static size_t time_bytes(const char *p)
{
	size_t bytes = strspn(p, "0123456789"), fraction;

	if (!bytes || p[bytes] != '.')
		return 0;
	fraction = strspn(p + bytes + 1, "0123456789");
	return fraction && p[bytes + 1 + fraction] == ' ' ? bytes + 1 + fraction : 0;
}

static bool recognise(const char *line)
{
	size_t bytes = time_bytes(line), more = bytes ? time_bytes(line + bytes + 1) : 0, length = strlen(line);
	const char *name = line + bytes + more + 2;

	if (!bytes || !more || length < 3 || strcmp(line + length - 2, " )") || !strstr(name, " ( "))
		return false;
	return isalpha((unsigned char)*name) || *name == '_';
}

/* -- files ------------------------------------------------------------------------------------------------- */

static int begin(struct foreign *f)
{
	f->context = calloc(1, sizeof(struct recorder));
	return f->context ? 0 : -ENOMEM;
}

static void forget_names(struct recorder *r)
{
	struct recorder_name *name, *next;

	HASH_ITER (hh, r->names, name, next) {
		while (name->open) {
			struct recorder_file *file = name->open;

			name->open = file->below;
			free(file);
		}
		HASH_DEL(r->names, name);
		free(name);
	}
}

/* The rank is in the name of the file; logs of other names are numbered. */
static int begin_file(struct foreign *f, const char *path, u32 pass)
{
	struct recorder *r = f->context;
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	char *end;

	(void)pass;
	forget_names(r);
	r->last_fd = 2;
	r->start_ns = 0;
	errno = 0;
	r->rank = strtoull(base, &end, 10);
	if (end != base && !strcmp(end, ".txt") && !errno && r->rank < INT32_MAX - 1)
		snprintf(r->label, sizeof(r->label), "rank %llu", r->rank);
	else
		snprintf(r->label, sizeof(r->label), "%.60s", base);
	return 0;
}

static struct recorder_name *name_get(struct recorder *r, const char *path)
{
	size_t bytes = strlen(path);
	struct recorder_name *name;

	HASH_FIND(hh, r->names, path, bytes, name);
	if (name)
		return name;
	name = calloc(1, sizeof(*name) + bytes + 1);
	if (!name)
		return NULL;
	memcpy(name->path, path, bytes + 1);
	HASH_ADD_KEYPTR(hh, r->names, name->path, bytes, name);
	return name;
}

static struct recorder_file *file_open(struct recorder *r, struct recorder_name *name)
{
	struct recorder_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	*file = (struct recorder_file){ .below = name->open, .fd = ++r->last_fd };
	name->open = file;
	return file;
}

/* -- calls ------------------------------------------------------------------------------------------------------ */

/* Positions follow from the calls, as far as these are known to have moved everything. */
static void move(struct recorder_file *file, struct posix_call *call)
{
	bool is_seek = !strncmp(call->name, "lseek", 5);
	u64 from = call->whence == SEEK_SET ? 0 : call->whence == SEEK_CUR ? file->position : FOREIGN_UNKNOWN;

	if (is_seek && (from == FOREIGN_UNKNOWN || call->offset_bytes == FOREIGN_UNKNOWN || (s64)(from + call->offset_bytes) < 0)) {
		file->position = FOREIGN_UNKNOWN;
	} else if (is_seek) {
		file->position = from + call->offset_bytes;
		call->has_result = true;
		call->result = (s64)file->position;
	} else if (*call->name != 'p' && call->count <= INT32_MAX && file->position != FOREIGN_UNKNOWN) {
		file->position += call->count; /* read, write, readv, writev */
	}
}

/* A call on an open file. */
static int put_on_file(struct foreign *f, struct foreign_thread *thread, struct posix_call *call)
{
	struct recorder *r = f->context;
	struct recorder_name *name = name_get(r, call->path);
	struct recorder_file *file = name ? name->open : NULL;
	int err;

	if (!name)
		return -ENOMEM;
	if (file && file->below)
		foreign_lack(f, IMPORT_GAP_no_handle, call->path);
	if (!file)
		file = file_open(r, name); /* it was open when the log began; the model opens it */
	if (!file)
		return -ENOMEM;
	call->fd = file->fd;
	move(file, call);
	err = posix_put(f, thread, call);
	if (!strcmp(call->name, "close")) {
		name->open = file->below;
		free(file);
	}
	return err;
}

static int put_open(struct foreign *f, struct foreign_thread *thread, struct posix_call *call)
{
	struct recorder *r = f->context;
	struct recorder_name *name = name_get(r, call->path);
	struct recorder_file *file = name ? file_open(r, name) : NULL;

	if (!file)
		return -ENOMEM;
	foreign_lack(f, IMPORT_GAP_no_result, call->path);
	call->has_result = true;
	call->result = file->fd;
	return posix_put(f, thread, call);
}

static bool take_argument(struct posix_call *call, char kind, char *word)
{
	s64 offset;

	switch (kind) {
	case 'p':
	case 'F':
		call->path = word;
		return true;
	case 'q':
		call->path2 = word;
		return true;
	case 'c':
		return foreign_number(word, &call->count);
	case 'o':
		if (!foreign_signed(word, &offset))
			return false;
		call->offset_bytes = (u64)offset;
		return true;
	case 'w':
		return foreign_number(word, &call->whence);
	case 'l':
		return foreign_number(word, &call->length_bytes);
	case 'f':
		return foreign_number(word, &call->flags);
	case 'm':
		return foreign_number(word, &call->mode);
	default:
		return true;
	}
}

/* Names may have blanks: excess words belong to the first name. open has permissions only with O_CREAT. */
static bool take_arguments(const struct recorder_form *form, char *text, struct posix_call *call)
{
	char *words[FOREIGN_WORDS_MAX];
	size_t count, wanted = strlen(form->arguments), first = strcspn(form->arguments, "pF"), more, i;
	bool is_open = !strncmp(form->name, "open", 4) && form->arguments[1] == 'f';
	u64 number;

	count = foreign_words(text, words);
	if (is_open && count > wanted && foreign_number(words[count - 2], &number) && number & O_CREAT &&
	    foreign_number(words[count - 1], &call->mode))
		count--;
	if (count < wanted || count == FOREIGN_WORDS_MAX || first == wanted)
		return false;
	more = count - wanted;
	for (i = first; i < first + more; i++) /* undo the changes of foreign_words() */
		words[i][strlen(words[i])] = ' ';
	for (i = 0; i < wanted; i++)
		if (!take_argument(call, form->arguments[i], words[i <= first ? i : i + more]))
			return false;
	return true;
}

static int put_call(struct foreign *f, struct posix_call *call, char *arguments)
{
	struct recorder *r = f->context;
	const struct recorder_form *form = find_form(call->name);
	struct foreign_thread *thread;

	if (!form && posix_is_known(call->name))
		return foreign_named(f, IMPORT_GAP_call, call->name);
	if (!form) /* MPI, HDF5 and so on: their accesses to files are in the log, too */
		return foreign_named(f, IMPORT_GAP_upper, call->name);
	if (!take_arguments(form, arguments, call)) {
		f->gaps[IMPORT_GAP_damaged]++;
		return 0;
	}
	thread = foreign_thread(f, r->label, r->label[0] == 'r' ? r->rank + 1 : 0, 0);
	if (!thread)
		return -ENOMEM;
	if (strchr(form->arguments, 'F'))
		return put_on_file(f, thread, call);
	if (!strncmp(call->name, "open", 4) || !strncmp(call->name, "creat", 5))
		return *form->arguments == 'p' && form->arguments[1] && form->arguments[1] != '-' ?
			       put_open(f, thread, call) : posix_put(f, thread, call);
	return posix_put(f, thread, call);
}

static int take_line(struct foreign *f, char *line, u32 pass)
{
	struct recorder *r = f->context;
	struct posix_call call = POSIX_CALL_UNKNOWN;
	char *begin_word = line, *end_word, *name, *open, *close;

	(void)pass;
	if (!*line)
		return 0;
	if (!recognise(line))
		return foreign_skip(f, line);
	f->is_any = true;
	open = strstr(line, " ( ");
	close = line + strlen(line) - 2;
	*open = 0;
	*close = 0;
	end_word = strchr(begin_word, ' ');
	*end_word++ = 0;
	name = strchr(end_word, ' ');
	*name++ = 0;
	name[strcspn(name, " ")] = 0;
	if (!foreign_time(begin_word, &call.begin_ns) || !foreign_time(end_word, &call.end_ns)) {
		f->gaps[IMPORT_GAP_damaged]++;
		return 0;
	}
	if (!r->start_ns && call.begin_ns < WALL_CLOCK_S * FOREIGN_NS_PER_S)
		f->gaps[IMPORT_GAP_no_wall_clock]++;
	if (!r->start_ns)
		r->start_ns = call.begin_ns < WALL_CLOCK_S * FOREIGN_NS_PER_S ? FOREIGN_NS_PER_S : 1;
	if (r->start_ns > 1) {
		call.begin_ns += r->start_ns;
		call.end_ns += r->start_ns;
	}
	call.name = name;
	return put_call(f, &call, open + 3 <= close ? open + 3 : close);
}

static void end(struct foreign *f)
{
	struct recorder *r = f->context;

	if (!r)
		return;
	forget_names(r);
	free(r);
	f->context = NULL;
}

const struct foreign_format foreign_format_recorder = {
	.name = "recorder",
	.recognise = recognise,
	.begin = begin,
	.file = begin_file,
	.line = take_line,
	.end = end,
	.passes = 1,
};
