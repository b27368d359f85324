// SPDX-License-Identifier: GPL-2.0-only
/*
 * foreign.c - formats of other tools than strace: which one a log has, and its lines.
 *
 * Logs may be compressed by gzip. They are read line by line, so that memory is needed for calls alone.
 */
#include "foreign.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define RECOGNISE_LINES 64

static const struct foreign_format *const formats[] = {
	&foreign_format_dxt,
	&foreign_format_fio,
	&foreign_format_dftracer,
	&foreign_format_recorder,
	&foreign_format_perf,
	&foreign_format_perf_script,
	&foreign_format_lttng,
};

/**
 * import_format_at() - names of all formats, for options
 *
 * Return: the name; NULL behind the last one.
 */
const char *import_format_at(size_t index)
{
	if (!index)
		return "strace";
	return index <= ARRAY_SIZE(formats) ? formats[index - 1]->name : NULL;
}

/**
 * foreign_format_find() - a format by its name
 *
 * Return: NULL if it is strace, or there is none.
 */
const struct foreign_format *foreign_format_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

/* -- lines ------------------------------------------------------------------------------------ */

struct lines {
	gzFile in;
	char *line;
	bool is_cut;
};

static int lines_open(struct lines *lines, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;
	struct stat stat;

	*lines = (struct lines){};
	if (fd < 0 || fstat(fd, &stat))
		err = -errno;
	else if (S_ISDIR(stat.st_mode))
		err = -EISDIR;
	else if (!S_ISREG(stat.st_mode))
		err = -ESPIPE; /* it is read more than once */
	if (!err) {
		lines->in = gzdopen(fd, "r");
		lines->line = malloc(FOREIGN_LINE_BYTES);
		if (!lines->in || !lines->line)
			err = -ENOMEM;
	}
	if (fd >= 0 && !lines->in)
		close(fd);
	return err;
}

static void lines_close(struct lines *lines)
{
	if (lines->in)
		gzclose_r(lines->in);
	free(lines->line);
}

/*
 * The next line, without its end. Zero bytes end it early. @is_long: it was longer than the buffer, and is cut.
 * Return: whether there is one.
 */
static bool lines_next(struct lines *lines, bool *is_long)
{
	size_t bytes;
	char more[4096];

	*is_long = false;
	if (!gzgets(lines->in, lines->line, FOREIGN_LINE_BYTES)) {
		int error;

		gzerror(lines->in, &error);
		lines->is_cut = error != Z_OK && error != Z_STREAM_END;
		return false;
	}
	bytes = strlen(lines->line);
	if (bytes == FOREIGN_LINE_BYTES - 1 && lines->line[bytes - 1] != '\n') {
		*is_long = true;
		while (gzgets(lines->in, more, sizeof(more)) && !strchr(more, '\n'))
			;
	}
	while (bytes && strchr("\r\n", lines->line[bytes - 1]))
		lines->line[--bytes] = 0;
	return true;
}

/**
 * foreign_recognise() - which format a log has
 * @path: of the log
 * @format: out; NULL: the format of strace is assumed
 *
 * Return: 0 or a negative errno.
 */
int foreign_recognise(const char *path, const struct foreign_format **format)
{
	struct lines lines;
	int err = lines_open(&lines, path), n = 0;
	bool is_long;
	size_t i;

	*format = NULL;
	while (!err && !*format && n++ < RECOGNISE_LINES && lines_next(&lines, &is_long))
		for (i = 0; i < ARRAY_SIZE(formats) && !*format; i++)
			if (formats[i]->recognise(lines.line))
				*format = formats[i];
	lines_close(&lines);
	return err;
}

static int read_log(struct foreign *f, const char *path, u32 pass)
{
	struct lines lines;
	int err = lines_open(&lines, path);
	bool is_long;

	f->path = path;
	f->line = 0;
	if (!err && f->format->file)
		err = f->format->file(f, path, pass);
	while (!err && lines_next(&lines, &is_long)) {
		f->line++;
		if (!is_long)
			err = f->format->line(f, lines.line, pass);
		else if (pass + 1 == f->format->passes)
			f->gaps[IMPORT_GAP_damaged]++;
	}
	if (lines.is_cut && pass + 1 == f->format->passes)
		f->gaps[IMPORT_GAP_damaged]++; /* the compressed data is truncated or damaged */
	lines_close(&lines);
	if (err && !f->message[0])
		snprintf(f->message, sizeof(f->message), "%s: %s", path, strerror(-err));
	return err;
}

/**
 * foreign_read() - read all logs
 *
 * Return: 0 or a negative errno; the message has the reason.
 */
int foreign_read(struct foreign *f, char **logs, size_t count)
{
	int err = f->format->begin ? f->format->begin(f) : 0;
	size_t i;
	u32 pass;

	for (pass = 0; pass < f->format->passes; pass++)
		for (i = 0; i < count && !err; i++)
			err = read_log(f, logs[i], pass);
	if (f->format->end)
		f->format->end(f);
	if (!err && !f->is_any) {
		err = -ENODATA;
		if (f->message[0]) /* the format knows why */
			return err;
		snprintf(f->message, sizeof(f->message), "%s%s: no line is a file operation of the format %s", logs[0],
			 count > 1 ? " and the others" : "", f->format->name);
	}
	return err;
}

/* -- parts of lines ---------------------------------------------------------------------------- */

/**
 * foreign_words() - split a line at blanks, in place
 * @words: out: room for FOREIGN_WORDS_MAX; words behind them are ignored
 *
 * Return: their number.
 */
size_t foreign_words(char *line, char **words)
{
	size_t count = 0;
	char *save = NULL, *word;

	for (word = strtok_r(line, " \t", &save); word && count < FOREIGN_WORDS_MAX; word = strtok_r(NULL, " \t", &save))
		words[count++] = word;
	return count;
}

/**
 * foreign_signed() - a word that is a decimal number
 *
 * Return: is it one, and not too large?
 */
bool foreign_signed(const char *word, s64 *number)
{
	char *end;

	if (!isdigit((unsigned char)word[*word == '-']))
		return false;
	errno = 0;
	*number = strtoll(word, &end, 10);
	return !*end && !errno;
}

/**
 * foreign_number() - a word that is a decimal number below 2^63
 *
 * Return: is it one?
 */
bool foreign_number(const char *word, u64 *number)
{
	s64 value;

	if (!foreign_signed(word, &value) || value < 0)
		return false;
	*number = (u64)value;
	return true;
}

/**
 * foreign_time() - seconds with a fraction
 * @time_ns: out
 *
 * Return: is it one, and less than three centuries?
 */
bool foreign_time(const char *word, u64 *time_ns)
{
	u64 seconds = 0, unit = FOREIGN_NS_PER_S;
	const char *p = word;

	for (; isdigit((unsigned char)*p); p++) {
		seconds = seconds * 10 + (u64)(*p - '0');
		if (seconds >> 33)
			return false;
	}
	if (p == word)
		return false;
	*time_ns = seconds * FOREIGN_NS_PER_S;
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p); p++) {
			unit /= 10;
			*time_ns += unit * (u64)(*p - '0');
		}
	return !*p;
}

/**
 * foreign_quote() - escape a path as strace does, for use in quotes and in brackets
 * @quoted: out
 *
 * Return: false if there is no room.
 */
bool foreign_quote(const char *path, char *quoted, size_t room)
{
	size_t at = 0;

	for (; *path; path++) {
		u8 c = (u8)*path;

		if (at + 5 > room)
			return false;
		if (c < ' ' || c > '~' || strchr("\"\\<>", c))
			at += (size_t)snprintf(quoted + at, room - at, "\\%03o", c);
		else
			quoted[at++] = (char)c;
	}
	quoted[at] = 0;
	return true;
}
