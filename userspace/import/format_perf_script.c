// SPDX-License-Identifier: GPL-2.0-only
/*
 * format_perf_script.c - the events syscalls:sys_enter_* and sys_exit_* that perf recorded, as `perf script` prints them.
 *
 * Source of the format: tools/perf/builtin-script.c: perf_sample__fprintf_start(), and the print formats in
 * kernel/trace/trace_syscalls.c of Linux: COMM TID [CPU] SECONDS.FRACTION: EVENT: FIELDS. Arguments are numbers, as NAME: 0x5.
 * Behind the address of the first name of a call, Linux 6.19 and later print the name in quotes, without escapes. Before, names
 * come from a probe on getname_flags, whose events are between the entry and the exit of the call.
 */
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "foreign.h"
#include "perf_text.h"

#define NAMES_MAX 2
#define STRING_BYTES 508 /* the kernel may have truncated longer ones, which end in dots then */
#define EMPTY_PATH 0x1000 /* AT_EMPTY_PATH */

/**
 * struct script_thread - a thread, and the call that it is in
 * @entry: fields of the event at its beginning; NULL between two calls
 * @names: which the kernel read from memory since then
 */
struct script_thread {
	UT_hash_handle hh;
	u64 tid;
	struct foreign_thread *thread;
	char *entry;
	char *name;
	u64 begin_ns;
	char *names[NAMES_MAX];
	u32 name_count;
};

/**
 * struct script_log - all logs
 * @is_one_task: an event does not state its thread
 * @has_names: names of files are recorded
 * @unnamed: so many names are not
 */
struct script_log {
	struct script_thread *threads;
	bool is_one_task;
	bool has_names;
	u64 unnamed;
};

enum script_kind { SCRIPT_ENTRY, SCRIPT_EXIT, SCRIPT_NAME };

/**
 * struct script_event - a line, taken apart
 * @time: as text; NULL if there is none
 * @tid: 0 if it is not stated
 * @name: of the call or of the probe
 * @fields: behind it
 */
struct script_event {
	enum script_kind kind;
	char *time;
	char *comm;
	u64 tid;
	char *name;
	char *fields;
};

/* Arguments that are names of files; one of them may be unknown. */
struct script_names {
	size_t at[NAMES_MAX];
	u32 count;
	u32 missing;
	u32 missing_at;
};

/* -- lines --------------------------------------------------------------------------------------------------- */

static char *trim(char *begin)
{
	char *end = begin + strlen(begin);

	while (end > begin && end[-1] == ' ')
		*--end = 0;
	return end;
}

/* The last word, cut off. Return: it; NULL if there is none. */
static char *take_last(char *begin)
{
	char *end = trim(begin), *p = end;

	while (p > begin && p[-1] != ' ')
		p--;
	if (p == end)
		return NULL;
	if (p > begin)
		p[-1] = 0;
	return p;
}

static bool is_time(const char *word)
{
	size_t bytes = strspn(word, "0123456789.");

	return bytes && word[bytes] == ':' && !word[bytes + 1];
}

/* COMM TID [CPU] TIME:, or some of these; a number behind the time is a period. */
static void take_head(char *head, struct script_event *event)
{
	char *word = take_last(head), *end;

	if (word && word != head && !is_time(word) && word[strspn(word, "0123456789")] == 0)
		word = take_last(head);
	event->time = word && is_time(word) ? word : NULL;
	event->comm = NULL;
	event->tid = 0;
	if (!event->time)
		return;
	event->time[strlen(event->time) - 1] = 0;
	word = word != head ? take_last(head) : NULL;
	if (word && word != head && *word == '[')
		word = take_last(head);
	if (!word || *word == '[')
		return;
	end = strchr(word, '/');
	event->tid = strtoull(end ? end + 1 : word, &end, 10);
	if (*end)
		event->tid = 0;
	if (word == head)
		return;
	trim(head);
	event->comm = head + strspn(head, " ");
}

/* Return: is the line an event of a system call, or of a name that the kernel read for one? */
static bool event_parse(char *line, struct script_event *event)
{
	static const char *const kinds[] = { "syscalls:sys_enter_", "syscalls:sys_exit_", "probe:" };
	char *begin = NULL, *p;
	size_t i, bytes;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		p = strstr(line, kinds[i]);
		if (!p || (begin && p > begin) || (p > line && p[-1] != ' '))
			continue;
		begin = p;
		event->kind = (enum script_kind)i;
	}
	if (!begin)
		return false;
	event->name = begin + strlen(kinds[event->kind]);
	bytes = perf_word_bytes(event->name);
	if (!bytes || event->name[bytes] != ':')
		return false;
	event->name[bytes] = 0;
	event->fields = event->name + bytes + 1;
	event->fields += strspn(event->fields, " ");
	if (event->kind == SCRIPT_NAME && (!strstr(event->name, "getname") || !strstr(event->fields, "pathname=\"")))
		return false;
	*begin = 0;
	take_head(line, event);
	return true;
}

static bool recognise(const char *line)
{
	struct script_event event;
	char *copy = strdup(line);
	bool is_one = copy && event_parse(copy, &event) && event.kind != SCRIPT_NAME;

	free(copy);
	return is_one;
}

/* -- threads --------------------------------------------------------------------------------------------------- */

static int begin(struct foreign *f)
{
	f->context = calloc(1, sizeof(struct script_log));
	return f->context ? 0 : -ENOMEM;
}

static int begin_file(struct foreign *f, const char *path, u32 pass)
{
	(void)path;
	(void)pass;
	f->gaps[IMPORT_GAP_no_wall_clock]++;
	return 0;
}

static struct script_thread *thread_get(struct foreign *f, const struct script_event *event)
{
	struct script_log *log = f->context;
	struct script_thread *thread;
	char label[FOREIGN_PATH_BYTES];

	HASH_FIND(hh, log->threads, &event->tid, sizeof(event->tid), thread);
	if (thread)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = event->tid;
	snprintf(label, sizeof(label), "%.64s/%llu", event->comm ?: "perf", event->tid);
	thread->thread = foreign_thread(f, label, event->tid, 0);
	HASH_ADD(hh, log->threads, tid, sizeof(thread->tid), thread);
	f->gaps[IMPORT_GAP_one_task] += !event->tid && !log->is_one_task;
	log->is_one_task |= !event->tid;
	return thread;
}

static void forget_call(struct script_thread *thread)
{
	while (thread->name_count)
		free(thread->names[--thread->name_count]);
	free(thread->entry);
	free(thread->name);
	thread->entry = thread->name = NULL;
}

/* -- arguments --------------------------------------------------------------------------------------------------- */

/* A number below zero has all upper bits; its decimal form is no longer than the hexadecimal one, so it fits there. */
static void make_signed(char *value)
{
	s64 number = (s64)strtoull(value, NULL, 0);

	if (strlen(value) == strlen("0xffffffffffffffff") && number < 0 && number > -(1ll << 32))
		snprintf(value, strlen(value) + 1, "%lld", number);
}

static bool has_string(const char *value)
{
	return !strncmp(value + strcspn(value, " ,"), " \"", 2);
}

/* A string behind an address, without the quotes. Return: it; NULL if there is none, or if the kernel truncated it. */
static char *string_of(char *value)
{
	size_t number = strcspn(value, " "), bytes;
	char *string = value + number;

	if (strncmp(string, " \"", 2))
		return NULL;
	string += 2;
	bytes = strlen(string);
	if (!bytes || string[bytes - 1] != '"')
		return NULL;
	string[--bytes] = 0;
	return bytes >= STRING_BYTES && !strcmp(string + bytes - 3, "...") ? NULL : string;
}

/* NAME: VALUE, NAME: VALUE, in place. */
static void take_arguments(char *p, struct syscall_call *call, struct script_names *names)
{
	while (*p) {
		size_t bytes = perf_word_bytes(p);
		char *name = p, *value = p + bytes + 2, *end, *string;

		if (!bytes || strncmp(p + bytes, ": ", 2))
			return;
		end = perf_value_end(value, has_string(value));
		p = *end ? end + 2 : end;
		name[bytes] = 0;
		*end = 0;
		string = string_of(value);
		value[strcspn(value, " ")] = 0;
		make_signed(value);
		if (perf_is_file_name(name) && names->count < NAMES_MAX && call->count < SYSCALL_VALUES_MAX) {
			if (!string) {
				names->missing++;
				names->missing_at = names->count;
			}
			names->at[names->count++] = call->count;
		}
		syscall_add(call, name, string ?: value, string);
	}
}

/* Does the call take an empty name for its descriptor? The kernel does not read the name then. */
static bool may_be_empty(const struct syscall_call *call)
{
	size_t i;

	for (i = 0; i < call->count; i++)
		if (!strncmp(call->values[i].name, "flag", 4) && strtoull(call->values[i].text, NULL, 0) & EMPTY_PATH)
			return true;
	return false;
}

/*
 * A name that the line of the call lacks, from the names that the kernel read. It reads two of a call in any order, so a name is
 * known only if the line has the other one.
 */
static const char *find_name(const struct script_log *log, const struct script_thread *thread, const struct syscall_call *call,
			     const struct script_names *names)
{
	const char *other;

	if (names->missing != 1)
		return NULL;
	if (names->count == 1 && thread->name_count)
		return thread->names[0];
	if (names->count == 1)
		return log->has_names && may_be_empty(call) ? "" : NULL;
	if (thread->name_count < 2)
		return NULL;
	other = call->values[names->at[!names->missing_at]].text;
	return strcmp(thread->names[0], other) ? thread->names[0] : thread->names[1];
}

/* -- calls --------------------------------------------------------------------------------------------------- */

/* Gives a call to the model. @result: NULL: it did not return. */
static int put_call(struct foreign *f, struct script_thread *thread, const char *result, u64 end_ns)
{
	struct syscall_call call = { .name = thread->name, .begin_ns = thread->begin_ns, .end_ns = end_ns };
	struct script_log *log = f->context;
	struct script_names names = {};
	const char *name;
	char *rest;
	int err;

	take_arguments(thread->entry, &call, &names);
	log->has_names |= thread->name_count || names.missing < names.count;
	name = find_name(log, thread, &call, &names);
	if (name) {
		struct syscall_value *value = &call.values[names.at[names.missing_at]];

		value->text = name;
		value->is_string = true;
	} else {
		log->unnamed += names.missing;
	}
	if (result) {
		call.result = (s64)strtoull(result, &rest, 0);
		call.has_result = rest != result;
	}
	err = syscall_put(f, thread->thread, &call);
	forget_call(thread);
	return err;
}

static int take_name(struct script_thread *thread, const char *fields)
{
	const char *begin = strstr(fields, "pathname=\"") + strlen("pathname=\""), *end = strrchr(begin, '"');

	if (!thread->entry || !end || thread->name_count == NAMES_MAX)
		return 0;
	thread->names[thread->name_count] = strndup(begin, (size_t)(end - begin));
	return thread->names[thread->name_count++] ? 0 : -ENOMEM;
}

static int take_entry(struct foreign *f, struct script_thread *thread, const struct script_event *event, u64 time_ns)
{
	int err = thread->entry ? put_call(f, thread, NULL, time_ns) : 0; /* the event of its exit was lost */

	thread->entry = strdup(event->fields);
	thread->name = strdup(event->name);
	thread->begin_ns = time_ns;
	if (!thread->entry || !thread->name)
		return -ENOMEM;
	if (!err && (!strcmp(event->name, "exit") || !strcmp(event->name, "exit_group")))
		err = put_call(f, thread, NULL, time_ns);
	return err;
}

static int take_event(struct foreign *f, const struct script_event *event)
{
	struct script_thread *thread;
	u64 time_ns;

	if (!event->time) {
		snprintf(f->message, sizeof(f->message), "%s:%llu: the event does not state its time: print it with "
			 "`perf script -F comm,tid,time,event,trace`", f->path, f->line);
		return -EPROTO;
	}
	if (!foreign_time(event->time, &time_ns)) {
		f->gaps[IMPORT_GAP_damaged]++;
		return 0;
	}
	time_ns += FOREIGN_NS_PER_S;
	thread = thread_get(f, event);
	if (!thread || !thread->thread)
		return -ENOMEM;
	switch (event->kind) {
	case SCRIPT_NAME:
		return take_name(thread, event->fields);
	case SCRIPT_ENTRY:
		return take_entry(f, thread, event, time_ns);
	default: /* without an entry: it began before the log, or is the return of a new thread */
		return thread->entry && !strcmp(thread->name, event->name) ? put_call(f, thread, event->fields, time_ns) : 0;
	}
}

/* PERF_RECORD_LOST lost 12, or the warning of `perf record` that it lost 12 chunks. */
static bool take_loss(struct foreign *f, const char *line)
{
	const char *lost = strstr(line, "lost ");
	u64 count;

	if (!lost || (!strstr(line, "PERF_RECORD_LOST") && !strstr(lost, " chunks")))
		return false;
	count = strtoull(lost + strlen("lost "), NULL, 10);
	f->gaps[IMPORT_GAP_lost] += count ?: 1;
	return true;
}

/* An event of another kind, the call chain of one, or a comment. */
static bool is_other(char *line)
{
	char *word, *save = NULL;

	if (!*line || *line == '#' || *line == '\t')
		return true;
	for (word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		if (is_time(word))
			return true;
	return false;
}

static int take_line(struct foreign *f, char *line, u32 pass)
{
	struct script_event event;

	(void)pass;
	if (event_parse(line, &event))
		return take_event(f, &event);
	if (take_loss(f, line))
		return 0;
	line += strspn(line, " ");
	return is_other(line) ? 0 : foreign_skip(f, line);
}

/* Without any name of a file, no call can be imported: the log is refused. */
static void end(struct foreign *f)
{
	struct script_log *log = f->context;
	struct script_thread *thread, *next;

	if (!log)
		return;
	HASH_ITER (hh, log->threads, thread, next) {
		HASH_DEL(log->threads, thread);
		f->gaps[IMPORT_GAP_unfinished] += thread->entry != NULL;
		forget_call(thread);
		free(thread);
	}
	if (log->unnamed && !log->has_names && !f->message[0]) {
		f->is_any = false;
		snprintf(f->message, sizeof(f->message), "%s: no call has the name of its file: Linux 6.19 and later record names; "
			 "before, record a probe on getname_flags, too", f->path);
	}
	free(log);
	f->context = NULL;
}

const struct foreign_format foreign_format_perf_script = {
	.name = "perf-script",
	.recognise = recognise,
	.begin = begin,
	.file = begin_file,
	.line = take_line,
	.end = end,
	.passes = 1,
	.has_births = true,
};
