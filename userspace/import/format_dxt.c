// SPDX-License-Identifier: GPL-2.0-only
/*
 * format_dxt.c - text of darshan-dxt-parser: tables of reads and writes, one for each file and rank.
 *
 * Source of the format: the section on DXT of Darshan's darshan-util.rst. It has the bytes that calls
 * transferred, not those that they requested, and no other operations. Times are relative to the start
 * of the job, in whole seconds.
 */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "foreign.h"

/* A file of a process, which is given a descriptor. */
struct dxt_file {
	UT_hash_handle hh;
	u32 fd;
	char key[];
};

/**
 * struct dxt - the current log
 * @start_ns: when the job began
 * @path: of the current table; "" before the first one
 */
struct dxt {
	u64 start_ns;
	bool has_start;
	char path[FOREIGN_PATH_BYTES];
	struct dxt_file *files;
};

static const char start_mark[] = "# start_time: ", file_mark[] = "file_name: ", warning_mark[] = "# *WARNING*";

static bool begins(const char *line, const char *mark)
{
	return !strncmp(line, mark, strlen(mark));
}

static bool recognise(const char *line)
{
	return begins(line, "# darshan log version:") || begins(line, "# DXT, ") || begins(line, " X_POSIX ");
}

static int begin(struct foreign *f)
{
	f->context = calloc(1, sizeof(struct dxt));
	return f->context ? 0 : -ENOMEM;
}

static int begin_file(struct foreign *f, const char *path, u32 pass)
{
	struct dxt *d = f->context;

	(void)path;
	(void)pass;
	d->start_ns = FOREIGN_NS_PER_S;
	d->has_start = false;
	d->path[0] = 0;
	f->gaps[IMPORT_GAP_only_data]++;
	f->gaps[IMPORT_GAP_no_wall_clock]++;
	return 0;
}

/* Times of the trace are later than 1970, and no run is longer than a century. */
static void take_start(struct foreign *f, const char *word)
{
	struct dxt *d = f->context;
	u64 seconds;

	if (d->has_start || !foreign_number(word, &seconds) || !seconds || seconds >> 32)
		return;
	d->start_ns = seconds * FOREIGN_NS_PER_S;
	d->has_start = true;
	f->gaps[IMPORT_GAP_no_wall_clock]--;
}

static int take_comment(struct foreign *f, const char *line)
{
	struct dxt *d = f->context;
	const char *file = strstr(line, file_mark);

	if (begins(line, start_mark))
		take_start(f, line + strlen(start_mark));
	else if (begins(line, "# DXT, file_id:") && file)
		snprintf(d->path, sizeof(d->path), "%s", file + strlen(file_mark));
	else if (begins(line, warning_mark) && strstr(line, "incomplete"))
		f->gaps[IMPORT_GAP_incomplete]++;
	return 0;
}

static struct dxt_file *file_get(struct foreign *f, const char *rank)
{
	struct dxt *d = f->context;
	char key[FOREIGN_PATH_BYTES + 32];
	size_t bytes = (size_t)snprintf(key, sizeof(key), "%.20s %s", rank, d->path);
	struct dxt_file *file;

	HASH_FIND(hh, d->files, key, bytes, file);
	if (file)
		return file;
	file = calloc(1, sizeof(*file) + bytes + 1);
	if (!file)
		return NULL;
	memcpy(file->key, key, bytes + 1);
	file->fd = 3 + HASH_COUNT(d->files);
	HASH_ADD_KEYPTR(hh, d->files, file->key, bytes, file);
	return file;
}

/* X_POSIX RANK write SEGMENT OFFSET LENGTH START END, and perhaps more: threads, targets of Lustre. */
static int take_segment(struct foreign *f, char **words, size_t count)
{
	struct dxt *d = f->context;
	struct posix_call call = POSIX_CALL_UNKNOWN;
	struct dxt_file *file;
	char label[64];
	u64 rank;

	if (count < 8 || !d->path[0] || !foreign_number(words[1], &rank) || rank >= INT32_MAX - 1 ||
	    (strcmp(words[2], "read") && strcmp(words[2], "write")) || !foreign_number(words[4], &call.offset_bytes) ||
	    !foreign_number(words[5], &call.count) || !foreign_time(words[6], &call.begin_ns) ||
	    !foreign_time(words[7], &call.end_ns)) {
		f->gaps[IMPORT_GAP_damaged]++;
		return 0;
	}
	f->is_any = true;
	if (*d->path != '/') /* <STDIN> and the like */
		return 0;
	file = file_get(f, words[1]);
	if (!file)
		return -ENOMEM;
	snprintf(label, sizeof(label), "rank %llu", rank);
	call.name = *words[2] == 'r' ? "pread" : "pwrite";
	call.path = d->path;
	call.fd = file->fd;
	call.has_result = true;
	call.result = (s64)call.count;
	call.begin_ns += d->start_ns;
	call.end_ns += d->start_ns;
	foreign_lack(f, IMPORT_GAP_no_request, d->path);
	return posix_put(f, foreign_thread(f, label, rank + 1, 0), &call);
}

static int take_line(struct foreign *f, char *line, u32 pass)
{
	char *words[FOREIGN_WORDS_MAX], *copy;
	size_t count;
	int err;

	(void)pass;
	if (*line == '#')
		return take_comment(f, line);
	copy = strdup(line); /* to be counted, if it is not a table */
	if (!copy)
		return -ENOMEM;
	count = foreign_words(line, words);
	if (count && !strcmp(words[0], "X_POSIX"))
		err = take_segment(f, words, count);
	else if (count && !strcmp(words[0], "X_MPIIO")) /* its accesses to files are in tables of X_POSIX */
		err = foreign_named(f, IMPORT_GAP_upper, words[0]);
	else
		err = foreign_skip(f, copy);
	free(copy);
	return err;
}

static void end(struct foreign *f)
{
	struct dxt *d = f->context;
	struct dxt_file *file, *next;

	if (!d)
		return;
	HASH_ITER (hh, d->files, file, next) {
		HASH_DEL(d->files, file);
		free(file);
	}
	free(d);
	f->context = NULL;
}

const struct foreign_format foreign_format_dxt = {
	.name = "dxt",
	.recognise = recognise,
	.begin = begin,
	.file = begin_file,
	.line = take_line,
	.end = end,
	.passes = 1,
};
