// SPDX-License-Identifier: GPL-2.0-only
/*
 * format_lttng.c - system calls that LTTng recorded in the kernel, as `babeltrace2 --clock-seconds` prints them.
 *
 * Source of the format: the text output of babeltrace2 (sink.text.pretty), and instrumentation/syscalls of lttng-modules: an
 * event syscall_entry_NAME has the arguments that the kernel reads, and an event syscall_exit_NAME the result in the field
 * `ret`. The context fields `tid` (or `vtid`) state the thread, and `procname` its name.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "foreign.h"
#include "lttng_unknown.h"

#define NS_PER_DAY (86400 * FOREIGN_NS_PER_S)
#define FIELDS_MAX 64

/**
 * struct lttng_thread - a thread, and the call that it is in
 * @entry: payload of the event at its beginning; NULL between two calls
 * @unknown: the call, if LTTng does not know it
 */
struct lttng_thread {
	UT_hash_handle hh;
	u64 tid;
	struct foreign_thread *thread;
	char *entry;
	char *name;
	const struct lttng_unknown *unknown;
	u64 begin_ns;
};

struct lttng_log {
	struct lttng_thread *threads;
	u64 day_ns; /* of a log that has only the time of day */
	u64 last_ns;
	bool is_by_day;
};

/* A field, and those of all its groups without their names: NAME = VALUE. */
struct field {
	char *name;
	char *text;
	bool is_string;
};

struct fields {
	struct field fields[FIELDS_MAX];
	size_t count;
};

/**
 * struct lttng_event - an event of a system call
 * @name: of the call
 * @fields: text of the fields of the stream, the context and the payload
 */
struct lttng_event {
	u64 time_ns;
	bool is_entry;
	char *name;
	char *fields;
};

/* -- fields ------------------------------------------------------------------------------------------------- */

/* A string in quotes, with escapes as in C, in place. Return: the text behind it; NULL if it is truncated. */
static char *take_string(char *p, char **string)
{
	static const char escapes[] = "abfnrtv", bytes[] = "\a\b\f\n\r\t\v";
	char *to = p + 1;
	const char *known;

	*string = to;
	for (p++; *p && *p != '"'; p++) {
		if (*p != '\\' || !p[1]) {
			*to++ = *p;
			continue;
		}
		p++;
		known = strchr(escapes, *p);
		if (*p == 'x' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2])) {
			char digits[3] = { p[1], p[2], 0 };

			*to++ = (char)strtoul(digits, NULL, 16);
			p += 2;
		} else {
			*to++ = known ? bytes[known - escapes] : *p;
		}
	}
	if (!*p)
		return NULL;
	*to = 0;
	return p + 1;
}

/* ( "O_RDONLY" : container = 0 ), or with several names. Return: the text behind it; NULL if it is truncated. */
static char *take_enumeration(char *p, char **number)
{
	char *close;

	*number = strstr(p, ": container = ");
	if (!*number)
		return NULL;
	*number += strlen(": container = ");
	close = strstr(*number, " )");
	if (!close)
		return NULL;
	*close = 0;
	return close + 2;
}

/* All fields, in place; groups and arrays are opened. Return: is the text as expected? */
static bool fields_parse(char *p, struct fields *fields)
{
	struct field *field;
	char *equals;

	fields->count = 0;
	while (*(p += strspn(p, " ,{}"))) {
		if (fields->count == FIELDS_MAX)
			return true;
		field = &fields->fields[fields->count];
		equals = strstr(p, " = ");
		if (!equals)
			return false;
		field->name = p;
		*equals = 0;
		p = equals + 3;
		field->is_string = *p == '"';
		if (*p == '{')
			continue;
		if (*p == '[') {
			p = strchr(p, ']');
			if (!p)
				return false;
			while (*p && strncmp(p, " ], ", 4) && strncmp(p, " ] }", 4)) /* of elements, not of [0] */
				p++;
			p += *p ? 2 : 0;
			continue;
		}
		if (*p == '"') {
			p = take_string(p, &field->text);
		} else if (*p == '(') {
			p = take_enumeration(p, &field->text);
		} else {
			field->text = p;
			p += strcspn(p, " ,}");
			if (*p)
				*p++ = 0;
		}
		if (!p)
			return false;
		fields->count++;
	}
	return true;
}

static const struct field *field_find(const struct fields *fields, const char *name)
{
	size_t i;

	for (i = fields->count; i; i--) /* the payload comes last */
		if (!strcmp(fields->fields[i - 1].name, name))
			return &fields->fields[i - 1];
	return NULL;
}

/* -- lines --------------------------------------------------------------------------------------------------- */

/* [SECONDS.FRACTION] or [HH:MM:SS.FRACTION] */
static bool event_time(struct lttng_log *log, char *text, u64 *time_ns)
{
	unsigned int hours, minutes;
	char *close = *text == '[' ? strchr(text, ']') : NULL;
	bool is_known;
	int bytes = 0;

	if (!close)
		return false;
	*close = 0;
	if (sscanf(text + 1, "%2u:%2u:%n", &hours, &minutes, &bytes) != 2 || !bytes) {
		is_known = foreign_time(text + 1, time_ns);
	} else {
		is_known = foreign_time(text + 1 + bytes, time_ns);
		*time_ns += (hours * 3600 + minutes * 60) * FOREIGN_NS_PER_S + NS_PER_DAY;
		if (log && is_known && *time_ns + log->day_ns + NS_PER_DAY / 2 < log->last_ns)
			log->day_ns += NS_PER_DAY;
		if (log) {
			*time_ns += log->day_ns;
			log->is_by_day = true;
		}
	}
	*close = ']';
	if (log && is_known)
		log->last_ns = *time_ns;
	return is_known && *time_ns >= FOREIGN_NS_PER_S;
}

/* Return: is it an event of a system call? */
static bool event_parse(struct lttng_log *log, char *line, struct lttng_event *event)
{
	static const char entry[] = "syscall_entry_", exit[] = "syscall_exit_";
	char *colon = strstr(line, ": {"), *name;

	if (!colon || !event_time(log, line, &event->time_ns))
		return false;
	for (name = colon; name > line && name[-1] != ' '; name--)
		;
	if (!strncmp(name, "compat_", 7))
		name += 7;
	event->is_entry = !strncmp(name, entry, strlen(entry));
	if (!event->is_entry && strncmp(name, exit, strlen(exit)))
		return false;
	event->name = name + (event->is_entry ? strlen(entry) : strlen(exit));
	event->fields = colon + 2;
	*colon = 0;
	return true;
}

static bool recognise(const char *line)
{
	struct lttng_event event;
	char *copy = strdup(line);
	bool is_one = copy && event_parse(NULL, copy, &event);

	free(copy);
	return is_one;
}

/* -- calls --------------------------------------------------------------------------------------------------- */

static int begin(struct foreign *f)
{
	f->context = calloc(1, sizeof(struct lttng_log));
	return f->context ? 0 : -ENOMEM;
}

static struct lttng_thread *thread_get(struct foreign *f, const struct fields *fields)
{
	const struct field *tid = field_find(fields, "tid") ?: field_find(fields, "vtid");
	const struct field *comm = field_find(fields, "procname");
	struct lttng_log *log = f->context;
	struct lttng_thread *thread;
	char label[FOREIGN_PATH_BYTES];
	u64 number = 0;

	if (tid && !foreign_number(tid->text, &number))
		return NULL;
	HASH_FIND(hh, log->threads, &number, sizeof(number), thread);
	if (thread)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = number;
	snprintf(label, sizeof(label), "%.64s/%llu", comm ? comm->text : "lttng", number);
	thread->thread = foreign_thread(f, label, number, 0);
	HASH_ADD(hh, log->threads, tid, sizeof(thread->tid), thread);
	return thread;
}

static void add_arguments(struct foreign *f, struct lttng_thread *thread, struct fields *fields, struct syscall_call *call)
{
	size_t i;

	if (thread->unknown) {
		lttng_unknown_add(thread->unknown, thread->entry, call);
		return;
	}
	if (!fields_parse(thread->entry, fields))
		f->gaps[IMPORT_GAP_damaged]++;
	for (i = 0; i < fields->count; i++)
		syscall_add(call, fields->fields[i].name, fields->fields[i].text, fields->fields[i].is_string);
}

/* The descriptors of a new pipe: fildes = [ [0] = 3, [1] = 4 ], as strace shows them. */
static void add_pipe(struct syscall_call *call, const char *payload, char *text, size_t room)
{
	const char *array = payload ? strstr(payload, "fildes = [ [0] = ") : NULL;
	int reader, writer;

	if (!array || sscanf(array, "fildes = [ [0] = %d, [1] = %d", &reader, &writer) != 2)
		return;
	snprintf(text, room, "[%d, %d]", reader, writer);
	syscall_add(call, "fildes", text, false);
}

/* Gives a call to the model. @result: NULL: it did not return. @payload: of its end, or NULL. */
static int put_call(struct foreign *f, struct lttng_thread *thread, const struct field *result, const char *payload, u64 end_ns)
{
	struct syscall_call call = { .name = thread->name, .begin_ns = thread->begin_ns, .end_ns = end_ns };
	struct fields arguments;
	char *rest, pipe[32];
	int err;

	add_arguments(f, thread, &arguments, &call);
	add_pipe(&call, payload, pipe, sizeof(pipe));
	if (result) { /* addresses are hexadecimal */
		call.result = *result->text == '-' ? strtoll(result->text, &rest, 0) : (s64)strtoull(result->text, &rest, 0);
		call.has_result = rest != result->text && !*rest;
	}
	err = syscall_put(f, thread->thread, &call);
	free(thread->entry);
	free(thread->name);
	thread->entry = thread->name = NULL;
	return err;
}

/* The last group of fields: the payload. */
static char *payload_of(char *fields)
{
	char *last = fields, *p;
	bool is_quoted = false;

	for (p = fields; *p; p++) {
		if (*p == '\\' && is_quoted && p[1])
			p++;
		else if (*p == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && !strncmp(p, "}, {", 4))
			last = p + 3;
	}
	return last;
}

/* Is the call the last one of its thread? */
static bool is_last_call(const char *name)
{
	return !strcmp(name, "exit") || !strcmp(name, "exit_group");
}

static int take_entry(struct foreign *f, struct lttng_thread *thread, u64 time_ns, const char *name, const char *payload,
		      const struct lttng_unknown *unknown)
{
	int err = 0;

	if (thread->entry)
		err = put_call(f, thread, NULL, NULL, time_ns);
	thread->entry = strdup(payload);
	thread->name = strdup(name);
	thread->unknown = unknown;
	thread->begin_ns = time_ns;
	if (!thread->entry || !thread->name)
		return -ENOMEM;
	return err || !is_last_call(name) ? err : put_call(f, thread, NULL, NULL, time_ns);
}

/* @payload: before its fields were parsed. */
static int take_fields(struct foreign *f, const struct lttng_event *event, const struct fields *fields, const char *payload)
{
	const struct lttng_unknown *unknown = NULL;
	const char *name = event->name;
	struct lttng_thread *thread;
	const struct field *id;
	u64 number;

	if (!field_find(fields, "tid") && !field_find(fields, "vtid")) {
		snprintf(f->message, sizeof(f->message), "%s:%llu: the event does not state its thread: record it with "
			 "`lttng add-context --kernel --type=tid`", f->path, f->line);
		return -EPROTO;
	}
	thread = thread_get(f, fields);
	if (!thread || !thread->thread)
		return -ENOMEM;
	if (!strcmp(name, "unknown")) {
		id = field_find(fields, "id");
		unknown = id && foreign_number(id->text, &number) ? lttng_unknown_find(number) : NULL;
		if (!unknown)
			return 0;
		name = unknown->name;
	}
	if (event->is_entry)
		return take_entry(f, thread, event->time_ns, name, payload, unknown);
	if (thread->entry && !strcmp(thread->name, name))
		return put_call(f, thread, field_find(fields, "ret"), payload, event->time_ns);
	return 0; /* without an entry: it began before the log, or is the return of a new thread */
}

static int take_event(struct foreign *f, const struct lttng_event *event)
{
	char *payload = strdup(payload_of(event->fields));
	struct fields fields;
	int err = 0;

	if (!payload)
		return -ENOMEM;
	if (fields_parse(event->fields, &fields))
		err = take_fields(f, event, &fields, payload);
	else
		f->gaps[IMPORT_GAP_damaged]++;
	free(payload);
	return err;
}

/* ... discarded 33 events between ..., which babeltrace2 prints on standard error. */
static bool take_loss(struct foreign *f, const char *line)
{
	const char *p = strstr(line, "iscarded ");
	u64 count;

	if (!p || !strstr(p, " event"))
		return false;
	count = strtoull(p + strlen("iscarded "), NULL, 10);
	f->gaps[IMPORT_GAP_lost] += count ?: 1;
	return true;
}

static int take_line(struct foreign *f, char *line, u32 pass)
{
	struct lttng_event event;

	(void)pass;
	if (event_parse(f->context, line, &event))
		return take_event(f, &event);
	if (take_loss(f, line) || (*line == '[' && strstr(line, ": {"))) /* an event of another kind */
		return 0;
	return foreign_skip(f, line);
}

static void end(struct foreign *f)
{
	struct lttng_log *log = f->context;
	struct lttng_thread *thread, *next;

	if (!log)
		return;
	f->gaps[IMPORT_GAP_no_wall_clock] += log->is_by_day;
	HASH_ITER (hh, log->threads, thread, next) {
		HASH_DEL(log->threads, thread);
		f->gaps[IMPORT_GAP_unfinished] += thread->entry != NULL;
		free(thread->entry);
		free(thread->name);
		free(thread);
	}
	free(log);
	f->context = NULL;
}

const struct foreign_format foreign_format_lttng = {
	.name = "lttng",
	.recognise = recognise,
	.begin = begin,
	.line = take_line,
	.end = end,
	.passes = 1,
	.has_births = true,
};
