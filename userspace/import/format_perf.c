// SPDX-License-Identifier: GPL-2.0-only
/*
 * format_perf.c - output of `perf trace`, of one process or of several.
 *
 * Source of the format: tools/perf/builtin-trace.c of Linux: trace__fprintf_entry_head(), trace__sys_exit(). Times are
 * milliseconds since the first event, or since the start of the machine. Arguments that are zero are left out. A file name is
 * shown if perf reads it: in quotes by BPF (Linux 6.6), without them by a probe on getname_flags, which misses some; else its
 * address is shown. perf keeps the path of a descriptor until it is closed, so a path is wrong after dup2.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "foreign.h"
#include "perf_text.h"

#define NS_PER_MS 1000000ull

/* A thread, and the arguments of a call that the events of other threads interrupted. */
struct perf_thread {
	UT_hash_handle hh;
	u64 tid;
	struct foreign_thread *thread;
	char *interrupted;
};

#define FDS_MAX 1024

/**
 * struct perf_log - all logs
 * @is_nameless: one has one thread
 * @is_known: the log has a call that opened this descriptor with its name, so paths of it are not needed
 */
struct perf_log {
	struct perf_thread *threads;
	bool is_nameless;
	bool is_known[FDS_MAX];
};

/**
 * struct perf_line - a line, taken apart
 * @comm, @tid: of the thread; 0 if the log is of one thread
 * @call: name and arguments, as NAME(ARGUMENTS
 * @result: behind the equals sign; NULL if the call was interrupted
 * @is_continued: it has the result of an interrupted call
 * @has_time: unless the call began before the log
 */
struct perf_line {
	u64 begin_ns;
	u64 duration_ns;
	char *comm;
	u64 tid;
	char *call;
	char *result;
	bool is_continued;
	bool has_time;
};

/* -- parts of a line ------------------------------------------------------------------------------------- */

/* Milliseconds with three digits, or fewer. Return: the text behind them; NULL if there are none. */
static char *take_ms(char *p, u64 *ns)
{
	char *end, *point;
	u64 unit = NS_PER_MS;

	p += strspn(p, " ");
	if (!isdigit((unsigned char)*p))
		return NULL;
	*ns = strtoull(p, &end, 10);
	if (*ns > (1ull << 53) / NS_PER_MS) {
		*ns = 0;
		return NULL;
	}
	*ns *= NS_PER_MS;
	for (point = end; *end == '.' || isdigit((unsigned char)*end); end++)
		if (end > point && *end != '.') {
			unit /= 10;
			*ns += unit * (u64)(*end - '0');
		}
	return end;
}

/* TIME (DURATION ms): Return: the text behind it; NULL if the line does not begin so. */
static char *take_head(char *p, struct perf_line *line)
{
	char *end = take_ms(p, &line->begin_ns), *close;

	line->has_time = end;
	if (!end) {
		end = p + strspn(p, " ");
		if (*end++ != '?')
			return NULL;
	}
	end += strspn(end, " ");
	close = *end == '(' ? strstr(end, "): ") : NULL;
	if (!close || close - end > 40)
		return NULL;
	line->duration_ns = 0;
	take_ms(end + 1, &line->duration_ns); /* unless it is unknown, or below zero, as that of clone in the child */
	return close + 3;
}

/* Is this the beginning of a call, or of the result of one? */
static bool is_call(const char *p)
{
	size_t bytes;

	p += strspn(p, " ");
	if (!strncmp(p, "... [continued]: ", 17))
		return true;
	bytes = perf_word_bytes(p);
	return bytes && p[bytes] == '(';
}

/* COMM/TID, TID, or nothing. A name of a thread may contain blanks, slashes and brackets. Return: the text behind it. */
static char *take_thread(char *p, struct perf_line *line)
{
	char *slash, *end;

	line->comm = NULL;
	line->tid = 0;
	for (slash = strchr(p, '/'); slash; slash = strchr(slash + 1, '/')) {
		if (!isdigit((unsigned char)slash[1]))
			continue;
		line->tid = strtoull(slash + 1, &end, 10);
		if (*end != ' ' || !is_call(end))
			continue;
		*slash = 0;
		line->comm = p;
		return end;
	}
	line->tid = strtoull(p, &end, 10);
	if (end != p && *end == ' ' && is_call(end))
		return end;
	line->tid = 0;
	return p;
}

/* Separates the arguments from the result. Return: is it a call? */
static bool take_call(char *p, struct perf_line *line)
{
	char *end = p + strlen(p), *equals;

	p += strspn(p, " ");
	line->is_continued = !strncmp(p, "... [continued]: ", 17);
	if (line->is_continued)
		p += 17;
	line->call = p;
	line->result = NULL;
	if (!is_call(p))
		return false;
	while (end > p && end[-1] == ' ')
		*--end = 0;
	if (end - p > 3 && !strcmp(end - 3, "...")) {
		for (end -= 3; end > p && strchr(" )", end[-1]); end--)
			;
		*end = 0;
		return true;
	}
	for (equals = end - 1; equals > p && (*equals != '=' || equals[-1] != ' ' || (equals[1] && equals[1] != ' ')); equals--)
		;
	if (equals == p)
		return false;
	line->result = equals + 1;
	while (equals > p && equals[-1] == ' ')
		equals--;
	if (equals == p || equals[-1] != ')')
		return false;
	equals[-1] = 0;
	return true;
}

static bool parts_parse(char *text, struct perf_line *line)
{
	char *p = take_head(text, line);

	return p && take_call(take_thread(p, line), line);
}

static bool recognise(const char *line)
{
	struct perf_line parts;
	char *copy = strdup(line);
	bool is_one = copy && parts_parse(copy, &parts);

	free(copy);
	return is_one;
}

/* -- threads ---------------------------------------------------------------------------------------------- */

static int begin(struct foreign *f)
{
	f->context = calloc(1, sizeof(struct perf_log));
	return f->context ? 0 : -ENOMEM;
}

static int begin_file(struct foreign *f, const char *path, u32 pass)
{
	(void)path;
	(void)pass;
	f->gaps[IMPORT_GAP_no_wall_clock]++;
	return 0;
}

static struct perf_thread *thread_get(struct foreign *f, const struct perf_line *line)
{
	struct perf_log *log = f->context;
	struct perf_thread *thread;
	char label[FOREIGN_PATH_BYTES];

	HASH_FIND(hh, log->threads, &line->tid, sizeof(line->tid), thread);
	if (thread)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = line->tid;
	snprintf(label, sizeof(label), "%.64s/%llu", line->comm ?: "perf", line->tid);
	thread->thread = foreign_thread(f, label, line->tid, 0);
	HASH_ADD(hh, log->threads, tid, sizeof(thread->tid), thread);
	f->gaps[IMPORT_GAP_one_task] += !line->tid && !log->is_nameless;
	log->is_nameless |= !line->tid;
	return thread;
}

/* -- calls ------------------------------------------------------------------------------------------------- */

/* Is it a name? Addresses, and names that perf did not read, are not; an empty name may be meant. */
static bool is_path(const char *name, const char *value, const char *rest)
{
	if (!perf_is_file_name(name) || !strncmp(value, "0x", 2))
		return false;
	return *value || strstr(rest, "flag: 4096") || strstr(rest, "EMPTY_PATH"); /* AT_EMPTY_PATH */
}

/* NAME: VALUE, NAME: VALUE, in place. */
static void take_arguments(char *p, struct syscall_call *call)
{
	while (*p) {
		size_t bytes = perf_word_bytes(p), length;
		char *name = p, *value, *end;
		bool is_last;

		if (!bytes || strncmp(p + bytes, ": ", 2))
			return;
		value = p + bytes + 2;
		end = perf_value_end(value, *value == '"');
		is_last = !*end;
		p[bytes] = 0;
		*end = 0;
		p = is_last ? end : end + 2;
		length = strlen(value);
		if (*value != '"') {
			syscall_add(call, name, value, is_path(name, value, p));
		} else if (length > 1 && value[length - 1] == '"') { /* else it is truncated */
			value[length - 1] = 0;
			syscall_add(call, name, value + 1, true);
		}
	}
}

static s64 errno_of(const char *name)
{
	size_t bytes = perf_word_bytes(name);
	int number;

	for (number = 1; number < 534; number++) {
		const char *known = strerrorname_np(number);

		if (known && strlen(known) == bytes && !memcmp(known, name, bytes))
			return -number;
	}
	return -EIO;
}

/* 3, 0x7f0000001000, -1 ENOENT (No such file or directory), ?, or nothing for 0 as a process */
static void take_result(const char *text, struct syscall_call *call)
{
	char *end;

	text += strspn(text, " ");
	call->result = (s64)strtoull(text, &end, 0);
	call->has_result = end != text || !*text;
	if (call->has_result && call->result == -1 && *end == ' ')
		call->result = errno_of(end + 1);
}

/* Paths of descriptors that the model knows are cut off: they may be wrong. */
static void cut_paths(const struct perf_log *log, struct syscall_call *call)
{
	size_t i;

	for (i = 0; i < call->count; i++) {
		char *open = strchr(call->values[i].text, '<');
		u64 fd;

		if (!open || call->values[i].is_string || !isdigit((unsigned char)*call->values[i].text))
			continue;
		fd = strtoull(call->values[i].text, NULL, 10);
		if (fd < FDS_MAX && log->is_known[fd])
			*open = 0;
	}
}

/* A call that opened a descriptor: is its name in the log? */
static void see_descriptor(struct perf_log *log, const struct syscall_call *call)
{
	bool is_open = !strncmp(call->name, "open", 4) || !strcmp(call->name, "creat"), is_known = !is_open;
	size_t i;

	if (!is_open && strncmp(call->name, "dup", 3) && strcmp(call->name, "fcntl"))
		return;
	for (i = 0; i < call->count; i++)
		is_known |= call->values[i].is_string;
	if (call->has_result && call->result > 0 && call->result < FDS_MAX)
		log->is_known[call->result] = is_known;
}

static int take_whole(struct foreign *f, struct perf_thread *thread, const struct perf_line *line, char *text)
{
	size_t bytes = perf_word_bytes(text);
	struct syscall_call call = {
		.name = text,
		.begin_ns = FOREIGN_NS_PER_S + line->begin_ns,
		.end_ns = FOREIGN_NS_PER_S + line->begin_ns + line->duration_ns,
	};

	text[bytes] = 0;
	take_arguments(text + bytes + 1, &call);
	take_result(line->result, &call);
	cut_paths(f->context, &call);
	see_descriptor(f->context, &call);
	return syscall_put(f, thread->thread, &call);
}

static int take_line_parts(struct foreign *f, const struct perf_line *line)
{
	struct perf_thread *thread = thread_get(f, line);
	char *interrupted;
	int err;

	if (!thread || !thread->thread)
		return -ENOMEM;
	interrupted = thread->interrupted;
	if (!line->result) {
		free(interrupted);
		thread->interrupted = strdup(line->call);
		return thread->interrupted ? 0 : -ENOMEM;
	}
	if (!line->is_continued)
		return take_whole(f, thread, line, line->call);
	if (!interrupted) /* it began before the log, or is the return of a new thread */
		return 0;
	thread->interrupted = NULL;
	err = take_whole(f, thread, line, interrupted);
	free(interrupted);
	return err;
}

static int take_line(struct foreign *f, char *text, u32 pass)
{
	struct perf_line line;
	char *lost = text + strspn(text, " ");
	u64 count;

	(void)pass;
	if (!strncmp(lost, "LOST ", 5)) {
		count = strtoull(lost + 5, NULL, 10);
		f->gaps[IMPORT_GAP_lost] += count ?: 1;
		return 0;
	}
	if (!parts_parse(text, &line))
		return foreign_skip(f, text);
	return take_line_parts(f, &line);
}

/* Calls that the end of the log interrupts. */
static void end(struct foreign *f)
{
	struct perf_log *log = f->context;
	struct perf_thread *thread, *next;

	if (!log)
		return;
	HASH_ITER (hh, log->threads, thread, next) {
		HASH_DEL(log->threads, thread);
		f->gaps[IMPORT_GAP_unfinished] += thread->interrupted != NULL;
		free(thread->interrupted);
		free(thread);
	}
	free(log);
	f->context = NULL;
}

const struct foreign_format foreign_format_perf = {
	.name = "perf",
	.recognise = recognise,
	.begin = begin,
	.file = begin_file,
	.line = take_line,
	.end = end,
	.passes = 1,
	.has_births = true,
};
