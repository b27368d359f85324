// SPDX-License-Identifier: GPL-2.0-only
/*
 * foreign_calls.c - calls from readers of formats, their threads, and the gaps of the logs.
 *
 * The calls of a thread do not overlap. If those of a process do, and the log does not state their threads,
 * or states them incorrectly, they are distributed to as few threads as possible.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "foreign.h"

#define NAMES_MAX 64 /* of each log, so that a hostile one does not fill the trace with names */
#define NAME_BYTES 64
#define LANES_MAX 1024
#define PID_MAX_VALUE 0x7ffffffe
#define ROUNDING_NS 2000 /* ends and beginnings of consecutive calls may be rounded by a microsecond each */

/**
 * struct foreign_thread - a thread, or the first one of a process
 * @key: "PROCESS" of a first thread, "PROCESS/TID" of others
 * @number: its pid in the log that the model reads
 * @process: the first thread
 * @first_ns: beginning of the first call of the process
 */
struct foreign_thread {
	UT_hash_handle hh;
	UT_hash_handle by_number;
	struct foreign_thread *process;
	u32 number;
	bool is_process;
	u64 first_ns;
	char key[];
};

struct foreign_call {
	const struct foreign_thread *thread;
	u64 begin_ns;
	u64 end_ns;
	size_t order;
	size_t text;
	u32 lane;
};

/**
 * foreign_open() - begin
 * @roots: absolute paths that are imported; must outlive it
 *
 * Return: 0 or -ENOMEM.
 */
int foreign_open(struct foreign **f, const struct foreign_format *format, char **roots, size_t root_count)
{
	*f = calloc(1, sizeof(**f));
	if (!*f)
		return -ENOMEM;
	(*f)->format = format;
	(*f)->roots = roots;
	(*f)->root_count = root_count;
	return 0;
}

void foreign_close(struct foreign *f)
{
	struct foreign_thread *thread, *next;
	size_t i;

	if (!f)
		return;
	HASH_CLEAR(by_number, f->numbers);
	HASH_ITER (hh, f->processes, thread, next) {
		HASH_DEL(f->processes, thread);
		free(thread);
	}
	for (i = 0; i < f->named_count; i++)
		free(f->named[i].name);
	for (i = 0; i < f->source_count; i++)
		free(f->sources[i]);
	free(f->named);
	free(f->sources);
	free(f->calls);
	free(f->texts);
	free(f);
}

/* -- gaps of the logs --------------------------------------------------------------------------- */

/**
 * foreign_concerns() - could a path be below a root?
 * @path: NULL if not known
 */
bool foreign_concerns(const struct foreign *f, const char *path)
{
	size_t i, bytes;

	if (!path || *path != '/')
		return true;
	for (i = 0; i < f->root_count; i++) {
		bytes = strlen(f->roots[i]);
		while (bytes && f->roots[i][bytes - 1] == '/')
			bytes--;
		if (!strncmp(path, f->roots[i], bytes) && (!path[bytes] || path[bytes] == '/'))
			return true;
	}
	return false;
}

/**
 * foreign_lack() - count that the log does not say something of a call on a file
 */
void foreign_lack(struct foreign *f, enum import_gap kind, const char *path)
{
	f->gaps[kind] += foreign_concerns(f, path);
}

/**
 * foreign_named() - count something that has a name
 *
 * Return: 0 or -ENOMEM.
 */
int foreign_named(struct foreign *f, enum import_gap kind, const char *name)
{
	struct import_named *named;
	char copy[NAME_BYTES];
	size_t i;

	for (i = 0; i + 1 < sizeof(copy) && (isalnum((unsigned char)name[i]) || name[i] == '_'); i++)
		copy[i] = name[i];
	copy[i] = 0;
	f->gaps[kind]++;
	if (!i)
		return 0;
	for (i = 0; i < f->named_count; i++)
		if (f->named[i].kind == kind && !strcmp(f->named[i].name, copy)) {
			f->named[i].count++;
			return 0;
		}
	if (f->named_count == NAMES_MAX)
		return 0;
	named = reallocarray(f->named, f->named_count + 1, sizeof(*named));
	if (!named)
		return -ENOMEM;
	f->named = named;
	named += f->named_count;
	*named = (struct import_named){ kind, 1, strdup(copy) };
	if (!named->name)
		return -ENOMEM;
	f->named_count++;
	return 0;
}

/**
 * foreign_skip() - a line that is not of the format: counted, by its first word
 *
 * Return: 0 or -ENOMEM.
 */
int foreign_skip(struct foreign *f, const char *line)
{
	while (*line == ' ' || *line == '\t')
		line++;
	return *line ? foreign_named(f, IMPORT_GAP_foreign, line) : 0;
}

/* -- threads -------------------------------------------------------------------------------------- */

static struct foreign_thread *number_find(const struct foreign *f, u32 number)
{
	struct foreign_thread *thread;

	HASH_FIND(by_number, f->numbers, &number, sizeof(number), thread);
	return thread;
}

/* The number that the log has, if no other thread has it; else one that is free. */
static u32 number_choose(const struct foreign *f, u64 wanted)
{
	u32 number = (u32)HASH_CNT(by_number, f->numbers) + 1;

	if (wanted && wanted <= PID_MAX_VALUE && !number_find(f, (u32)wanted))
		return (u32)wanted;
	while (number_find(f, number))
		number = number < PID_MAX_VALUE ? number + 1 : 1;
	return number;
}

static struct foreign_thread *thread_get(struct foreign *f, const char *key, u64 wanted,
					 struct foreign_thread *process)
{
	size_t bytes = strlen(key);
	struct foreign_thread *thread;

	HASH_FIND(hh, f->processes, key, bytes, thread);
	if (thread)
		return thread;
	thread = calloc(1, sizeof(*thread) + bytes + 1);
	if (!thread)
		return NULL;
	memcpy(thread->key, key, bytes + 1);
	thread->process = process ? process : thread;
	thread->number = number_choose(f, wanted);
	thread->first_ns = FOREIGN_UNKNOWN;
	HASH_ADD_KEYPTR(hh, f->processes, thread->key, bytes, thread);
	HASH_ADD(by_number, f->numbers, number, sizeof(thread->number), thread);
	return thread;
}

/**
 * foreign_thread() - a thread, made if it is new
 * @process: identifies its process, and is its label
 * @pid: number of the process, if no other one has it; 0: any
 * @tid: number of the thread; 0 if the log does not say, or if it is the first one of the process
 *
 * Return: it; NULL if out of memory.
 */
struct foreign_thread *foreign_thread(struct foreign *f, const char *process, u64 pid, u64 tid)
{
	struct foreign_thread *first = thread_get(f, process, pid, NULL);
	char key[FOREIGN_PATH_BYTES];

	if (!first || !tid)
		return first;
	snprintf(key, sizeof(key), "%s/%llu", process, tid);
	return thread_get(f, key, tid, first);
}

/**
 * foreign_label() - name of a process
 *
 * Return: NULL if there is none of this number.
 */
const char *foreign_label(const struct foreign *f, u32 pid)
{
	const struct foreign_thread *thread = number_find(f, pid);

	return thread ? thread->process->key : NULL;
}

/**
 * foreign_set_process() - a thread is the first one of a process: it has executed a program, or ended its process
 */
void foreign_set_process(struct foreign_thread *thread)
{
	thread->is_process = true;
}

/**
 * foreign_is_process() - is a thread known to be the first one of a process by now?
 * @number: of the thread, in the log
 */
bool foreign_is_process(const struct foreign *f, u64 number)
{
	const struct foreign_thread *thread = number <= PID_MAX_VALUE ? number_find(f, (u32)number) : NULL;

	return thread && thread->is_process;
}

/* -- calls ---------------------------------------------------------------------------------------- */

static int texts_add(struct foreign *f, const char *text)
{
	size_t bytes = strlen(text) + 1, room = f->text_room ? f->text_room : 65536;
	char *texts;

	while (f->text_bytes + bytes > room)
		room *= 2;
	if (room != f->text_room) {
		texts = realloc(f->texts, room);
		if (!texts)
			return -ENOMEM;
		f->texts = texts;
		f->text_room = room;
	}
	memcpy(f->texts + f->text_bytes, text, bytes);
	f->text_bytes += bytes;
	return 0;
}

/**
 * foreign_put() - add a call
 * @begin_ns, @end_ns: since 1970, at least a second
 * @text: as strace shows it, without the duration
 *
 * Return: 0 or -ENOMEM.
 */
int foreign_put(struct foreign *f, struct foreign_thread *thread, u64 begin_ns, u64 end_ns, const char *text)
{
	struct foreign_call *calls = f->calls;
	struct foreign_thread *process;

	if (!thread)
		return -ENOMEM;
	process = thread->process;
	if (f->call_count == f->call_room) {
		size_t room = f->call_room ? 2 * f->call_room : 1024;

		calls = reallocarray(calls, room, sizeof(*calls));
		if (!calls)
			return -ENOMEM;
		f->calls = calls;
		f->call_room = room;
	}
	if (end_ns < begin_ns)
		end_ns = begin_ns;
	calls[f->call_count] = (struct foreign_call){ thread, begin_ns, end_ns, f->call_count, f->text_bytes, 0 };
	f->call_count++;
	f->is_any = true;
	if (begin_ns < process->first_ns)
		process->first_ns = begin_ns;
	return texts_add(f, text);
}

static int compare_calls(const void *a, const void *b)
{
	const struct foreign_call *p = a, *q = b;

	if (p->thread != q->thread)
		return p->thread->process->number != q->thread->process->number ?
			       (p->thread->process->number < q->thread->process->number ? -1 : 1) :
			       (p->thread->number < q->thread->number ? -1 : 1);
	if (p->begin_ns != q->begin_ns)
		return p->begin_ns < q->begin_ns ? -1 : 1;
	return p->order < q->order ? -1 : 1;
}

/* Calls of one thread, sorted, get lanes without overlaps. Return: their number. */
static u32 find_lanes(struct foreign *f, struct foreign_call *calls, size_t count)
{
	struct foreign_call *last[LANES_MAX];
	u32 lanes = 0, lane;
	size_t i;

	for (i = 0; i < count; i++) {
		for (lane = 0; lane < lanes && calls[i].begin_ns + ROUNDING_NS < last[lane]->end_ns; lane++)
			;
		if (lane == LANES_MAX) {
			f->gaps[IMPORT_GAP_damaged]++;
			calls[i].lane = LANES_MAX;
			continue;
		}
		if (lane == lanes)
			lanes++;
		else if (last[lane]->end_ns > calls[i].begin_ns)
			last[lane]->end_ns = calls[i].begin_ns;
		last[lane] = &calls[i];
		calls[i].lane = lane;
	}
	return lanes;
}

/* Calls of one thread, sorted, that do not overlap but for rounding. Return: the number of their lanes. */
static u32 cut_ends(struct foreign_call *calls, size_t count)
{
	size_t i;

	for (i = 0; i + 1 < count; i++)
		if (calls[i].end_ns > calls[i + 1].begin_ns)
			calls[i].end_ns = calls[i + 1].begin_ns;
	return 1;
}

/* -- the log that the model reads ----------------------------------------------------------------- */

static void put_time(FILE *out, u64 time_ns)
{
	fprintf(out, "%llu.%09llu", time_ns / FOREIGN_NS_PER_S, time_ns % FOREIGN_NS_PER_S);
}

static void put_line(FILE *out, u64 begin_ns, const char *text, u64 duration_ns)
{
	put_time(out, begin_ns);
	fprintf(out, " %s <", text);
	put_time(out, duration_ns);
	fputs(">\n", out);
}

static int add_source(struct foreign *f, struct log *log, u32 number, char *text, size_t bytes)
{
	char **sources = reallocarray(f->sources, f->source_count + 1, sizeof(*sources));
	char name[64];

	if (!sources) {
		free(text);
		return -ENOMEM;
	}
	f->sources = sources;
	sources[f->source_count++] = text;
	snprintf(name, sizeof(name), "%s.%u", f->format->name, number);
	return log_add_text(log, name, text, bytes);
}

static int add_lane(struct foreign *f, struct log *log, const struct foreign_call *calls, size_t count, u32 lane,
		    u32 number, const char *births)
{
	char *text = NULL;
	size_t bytes = 0, i;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return -ENOMEM;
	fputs(births, out);
	for (i = 0; i < count; i++)
		if (calls[i].lane == lane)
			put_line(out, calls[i].begin_ns, f->texts + calls[i].text, calls[i].end_ns - calls[i].begin_ns);
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	return add_source(f, log, number, text, bytes);
}

/* A thread of a process shares its descriptors: it is made before the first call of the process. */
static void put_birth(FILE *births, const struct foreign_thread *process, u32 number)
{
	char text[160];

	snprintf(text, sizeof(text), "clone(child_stack=0x1000, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = %u",
		 number);
	put_line(births, process->first_ns, text, 0);
}

/* All calls of a process: its threads come first, so that their numbers are known to its first line. */
static int add_process(struct foreign *f, struct log *log, struct foreign_call *calls, size_t count)
{
	const struct foreign_thread *process = calls->thread->process;
	struct lane {
		struct foreign_call *calls;
		size_t count;
		u32 lane;
		u32 number;
	} *lanes = NULL, *larger;
	size_t lane_count = 0, i, n, first = (size_t)-1;
	char *births = NULL;
	size_t birth_bytes = 0;
	FILE *out = open_memstream(&births, &birth_bytes);
	int err = out ? 0 : -ENOMEM;

	for (i = 0; i < count && !err; i += n) {
		u32 lane, many;

		for (n = 1; i + n < count && calls[i + n].thread == calls[i].thread; n++)
			;
		many = f->format->has_births ? cut_ends(calls + i, n) : find_lanes(f, calls + i, n);
		f->gaps[IMPORT_GAP_no_task] += many - 1;
		larger = reallocarray(lanes, lane_count + many, sizeof(*lanes));
		if (!larger) {
			err = -ENOMEM;
			break;
		}
		lanes = larger;
		for (lane = 0; lane < many && !err; lane++) {
			const struct foreign_thread *thread = calls[i].thread;
			char key[FOREIGN_PATH_BYTES + 16];

			snprintf(key, sizeof(key), "%s+%u", thread->key, lane);
			if (lane)
				thread = thread_get(f, key, 0, thread->process);
			if (!thread) {
				err = -ENOMEM;
				break;
			}
			if (thread == process)
				first = lane_count;
			else
				put_birth(out, process, thread->number);
			lanes[lane_count++] = (struct lane){ calls + i, n, lane, thread->number };
		}
	}
	if (out && fclose(out))
		err = -ENOMEM;
	if (!err && first == (size_t)-1) /* its first thread made no call */
		err = add_lane(f, log, calls, 0, 0, process->number, births);
	if (!err && first != (size_t)-1)
		err = add_lane(f, log, lanes[first].calls, lanes[first].count, lanes[first].lane, process->number, births);
	for (i = 0; i < lane_count && !err; i++)
		if (i != first)
			err = add_lane(f, log, lanes[i].calls, lanes[i].count, lanes[i].lane, lanes[i].number, "");
	free(lanes);
	free(births);
	return err;
}

/**
 * foreign_finish() - give all calls to a log
 * @log: empty; refers to texts of @f from now on
 *
 * Return: 0 or -ENOMEM.
 */
int foreign_finish(struct foreign *f, struct log *log)
{
	size_t i, n;
	int err = 0;

	if (f->call_count)
		qsort(f->calls, f->call_count, sizeof(*f->calls), compare_calls);
	for (i = 0; i < f->call_count && !err; i += n) {
		for (n = 1; i + n < f->call_count && f->calls[i + n].thread->process == f->calls[i].thread->process; n++)
			;
		err = add_process(f, log, f->calls + i, n);
	}
	free(f->calls);
	free(f->texts);
	f->calls = NULL;
	f->texts = NULL;
	f->call_count = 0;
	return err;
}
