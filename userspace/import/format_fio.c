// SPDX-License-Identifier: GPL-2.0-only
/*
 * format_fio.c - I/O logs of fio, versions 2 and 3.
 *
 * Source of the format: "Trace file format" v2 and v3 of fio's HOWTO. A log is of one job, which is assumed
 * to be one process. It has no results and no durations; version 2 has no times but those of waits.
 */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "foreign.h"

struct fio_file {
	UT_hash_handle hh;
	u32 fd;
	bool is_open;
	char *path; /* absolute, if there is a root */
	char name[];
};

/**
 * struct fio_log - the current log
 * @version: 0 before its first line
 * @now_ns: end of the waits so far
 * @label: of its process
 */
struct fio_log {
	u64 version;
	u64 now_ns;
	struct fio_file *files;
	char label[FOREIGN_PATH_BYTES];
};

static bool recognise(const char *line)
{
	return !strcmp(line, "fio version 2 iolog") || !strcmp(line, "fio version 3 iolog");
}

static int begin(struct foreign *f)
{
	f->context = calloc(1, sizeof(struct fio_log));
	return f->context ? 0 : -ENOMEM;
}

static void forget_files(struct fio_log *log)
{
	struct fio_file *file, *next;

	HASH_ITER (hh, log->files, file, next) {
		HASH_DEL(log->files, file);
		free(file->path);
		free(file);
	}
}

static int begin_file(struct foreign *f, const char *path, u32 pass)
{
	struct fio_log *log = f->context;
	const char *slash = strrchr(path, '/');

	(void)pass;
	forget_files(log);
	log->version = 0;
	log->now_ns = FOREIGN_NS_PER_S;
	/* Two logs may have one name in different directories: the label is the whole path. */
	snprintf(log->label, sizeof(log->label), "%s (%s)", slash ? slash + 1 : path, path);
	f->gaps[IMPORT_GAP_no_wall_clock]++;
	f->gaps[IMPORT_GAP_one_task]++;
	return 0;
}

/* A relative name is below the first root. */
static struct fio_file *file_get(struct foreign *f, const char *name)
{
	struct fio_log *log = f->context;
	size_t bytes = strlen(name);
	struct fio_file *file;
	int n;

	HASH_FIND(hh, log->files, name, bytes, file);
	if (file)
		return file;
	file = calloc(1, sizeof(*file) + bytes + 1);
	if (!file)
		return NULL;
	memcpy(file->name, name, bytes + 1);
	if (*name == '/' || !f->root_count)
		n = (file->path = strdup(name)) ? 0 : -1;
	else
		n = asprintf(&file->path, "%s/%s", f->roots[0], name);
	if (n < 0) {
		free(file);
		return NULL;
	}
	file->fd = 3 + HASH_COUNT(log->files);
	HASH_ADD_KEYPTR(hh, log->files, file->name, bytes, file);
	return file;
}

static int put(struct foreign *f, const struct posix_call *call)
{
	struct fio_log *log = f->context;

	foreign_lack(f, log->version == 2 ? IMPORT_GAP_no_time : IMPORT_GAP_no_duration, call->path);
	return posix_put(f, foreign_thread(f, log->label, 0, 0), call);
}

/* Opened for reading and writing, because a log does not state the access mode. */
static int file_open(struct foreign *f, struct fio_file *file)
{
	struct fio_log *log = f->context;
	struct posix_call call = POSIX_CALL_UNKNOWN;

	if (file->is_open)
		return 0;
	file->is_open = true;
	call.name = "open";
	call.path = file->path;
	call.flags = 2; /* O_RDWR */
	call.has_result = true;
	call.result = (s64)file->fd;
	call.begin_ns = call.end_ns = log->now_ns;
	foreign_lack(f, IMPORT_GAP_no_flags, file->path);
	foreign_lack(f, IMPORT_GAP_no_result, file->path);
	return put(f, &call);
}

static int file_close(struct foreign *f, struct fio_file *file)
{
	struct fio_log *log = f->context;
	struct posix_call call = POSIX_CALL_UNKNOWN;

	if (!file->is_open)
		return 0;
	file->is_open = false;
	call.name = "close";
	call.path = file->path;
	call.fd = file->fd;
	call.begin_ns = call.end_ns = log->now_ns;
	return put(f, &call);
}

static int take_range(struct foreign *f, struct fio_file *file, const char *action, const char *offset,
		      const char *length)
{
	static const struct {
		const char *action;
		const char *name;
	} names[] = { { "read", "pread" }, { "write", "pwrite" }, { "sync", "fsync" }, { "datasync", "fdatasync" } };
	struct fio_log *log = f->context;
	struct posix_call call = POSIX_CALL_UNKNOWN;
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(names) && strcmp(action, names[i].action); i++)
		;
	if (!foreign_number(offset, &call.offset_bytes) || !foreign_number(length, &call.count)) {
		f->gaps[IMPORT_GAP_damaged]++;
		return 0;
	}
	if (i == ARRAY_SIZE(names)) /* trim, or new */
		return foreign_concerns(f, file->path) ? foreign_named(f, IMPORT_GAP_call, action) : 0;
	err = file_open(f, file);
	if (err)
		return err;
	call.name = names[i].name;
	call.path = file->path;
	call.fd = file->fd;
	call.begin_ns = call.end_ns = log->now_ns;
	return put(f, &call);
}

/* NAME ACTION [OFFSET LENGTH] */
static int take_action(struct foreign *f, char **words, size_t count)
{
	struct fio_log *log = f->context;
	struct fio_file *file;
	u64 us;

	if (count >= 3 && !strcmp(words[1], "wait") && log->version == 2) {
		if (!foreign_number(words[2], &us) || us > FOREIGN_NS_PER_S * 1000 || (log->now_ns + us * 1000) >> 62)
			f->gaps[IMPORT_GAP_damaged]++;
		else
			log->now_ns += us * 1000;
		return 0;
	}
	file = file_get(f, words[0]);
	if (!file)
		return -ENOMEM;
	if (count == 2 && !strcmp(words[1], "add"))
		return 0;
	if (count == 2 && !strcmp(words[1], "open"))
		return file_open(f, file);
	if (count == 2 && !strcmp(words[1], "close"))
		return file_close(f, file);
	if (count == 4)
		return take_range(f, file, words[1], words[2], words[3]);
	return foreign_skip(f, words[1]);
}

static int take_line(struct foreign *f, char *line, u32 pass)
{
	struct fio_log *log = f->context;
	char *words[FOREIGN_WORDS_MAX];
	size_t count, first;
	u64 us;

	(void)pass;
	if (!log->version && recognise(line)) {
		log->version = (u64)(line[strlen("fio version ")] - '0');
		return 0;
	}
	if (!log->version) {
		snprintf(f->message, sizeof(f->message), "%s:%llu: neither `fio version 2 iolog` nor `fio version 3 iolog`",
			 f->path, f->line);
		return -EPROTO;
	}
	count = foreign_words(line, words);
	first = log->version == 3;
	if (!count)
		return 0;
	if (count < first + 2)
		return foreign_skip(f, words[0]);
	if (first) {
		if (!foreign_number(words[0], &us) || us >> 52) {
			f->gaps[IMPORT_GAP_damaged]++;
			return 0;
		}
		log->now_ns = FOREIGN_NS_PER_S + us * 1000;
	}
	return take_action(f, words + first, count - first);
}

static void end(struct foreign *f)
{
	struct fio_log *log = f->context;

	if (!log)
		return;
	forget_files(log);
	free(log);
	f->context = NULL;
}

const struct foreign_format foreign_format_fio = {
	.name = "fio",
	.recognise = recognise,
	.begin = begin,
	.file = begin_file,
	.line = take_line,
	.end = end,
	.passes = 1,
};
