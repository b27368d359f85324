// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_log.c - merge the files of a log by time, and put halves of calls together.
 */
#include "strace_log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

/* Lines that are not strace's are skipped; a file that begins with so many is not a log. */
#define FOREIGN_MAX 1000

/* No run that is traced, and no call in it, takes so long: 104 days. */
#define TIME_MAX_NS (1ull << 53)

/* A thread, and the call that it is in: of one printed in halves the text so far. */
struct thread {
	UT_hash_handle hh;
	u32 pid;
	bool is_alive;
	bool is_in_call;
	char *text;
	size_t bytes;
	struct call call;
};

/**
 * struct source - one file
 * @pid: of -ff, from its name; else 0
 * @at: the next line
 * @due_ns: when its next event is
 * @leaving: the thread whose whole line was entered, and must be left next
 */
struct source {
	char *name;
	const char *text;
	size_t bytes;
	bool is_mapped;
	u32 pid;
	size_t at;
	u64 line;
	struct line next;
	bool has_next;
	u64 due_ns;
	struct thread *leaving;
	u64 calls;
	u64 foreign;
};

struct log {
	struct source *sources;
	size_t source_count;
	struct source **heap;
	size_t heap_count;
	struct thread *threads;
	u32 alive;
	u32 first_pid; /* how lines call the thread that was nameless at first */
	u64 first_ns;
	bool is_started;
	u64 foreign;
	char message[512];
};

int log_open(struct log **log)
{
	*log = calloc(1, sizeof(**log));
	return *log ? 0 : -ENOMEM;
}

/**
 * log_add_text() - add a log that is in memory
 * @name: what it is called in messages
 * @text: stays the caller's, and must stay
 *
 * Return: 0 or -ENOMEM.
 */
int log_add_text(struct log *log, const char *name, const char *text, size_t bytes)
{
	struct source *sources =
		reallocarray(log->sources, log->source_count + 1, sizeof(*sources));
	const char *dot = strrchr(name, '.');
	char *end;
	unsigned long pid;

	if (!sources)
		return -ENOMEM;
	log->sources = sources;
	sources += log->source_count;
	*sources = (struct source){ .name = strdup(name), .text = text, .bytes = bytes };
	if (!sources->name)
		return -ENOMEM;
	pid = dot ? strtoul(dot + 1, &end, 10) : 0;
	if (pid && !*end && pid < 0x7fffffff)
		sources->pid = (u32)pid;
	log->source_count++;
	return 0;
}

/**
 * log_add_file() - add a file
 *
 * Return: 0 or a negative errno; then log_message() says why.
 */
int log_add_file(struct log *log, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;
	void *text = NULL;
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat))
		err = -errno;
	else if (S_ISDIR(stat.st_mode))
		err = -EISDIR;
	else if (!S_ISREG(stat.st_mode))
		err = -ESPIPE; /* it is read more than once */
	if (!err && stat.st_size) {
		text = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (text == MAP_FAILED)
			err = -errno;
	}
	if (fd >= 0)
		close(fd);
	if (!err)
		err = log_add_text(log, path, text, text ? (size_t)stat.st_size : 0);
	if (!err)
		log->sources[log->source_count - 1].is_mapped = text;
	if (err)
		snprintf(log->message, sizeof(log->message), "%s: %s", path, strerror(-err));
	return err;
}

static void threads_free(struct log *log)
{
	struct thread *thread, *next;

	HASH_ITER (hh, log->threads, thread, next) {
		HASH_DEL(log->threads, thread);
		free(thread->text);
		free(thread);
	}
	log->alive = 0;
}

void log_close(struct log *log)
{
	size_t i;

	if (!log)
		return;
	threads_free(log);
	for (i = 0; i < log->source_count; i++) {
		if (log->sources[i].is_mapped)
			munmap((void *)log->sources[i].text, log->sources[i].bytes);
		free(log->sources[i].name);
	}
	free(log->sources);
	free(log->heap);
	free(log);
}

/**
 * log_message() - why log_next() or log_add_file() failed: where and what; "" if they did not
 */
const char *log_message(const struct log *log)
{
	return log->message;
}

/**
 * log_foreign() - lines that were skipped
 */
u64 log_foreign(const struct log *log)
{
	return log->foreign;
}

/**
 * log_rewind() - begin again
 */
void log_rewind(struct log *log)
{
	size_t i;

	threads_free(log);
	for (i = 0; i < log->source_count; i++) {
		struct source *s = &log->sources[i];

		s->at = 0;
		s->line = 0;
		s->has_next = false;
		s->leaving = NULL;
		s->calls = 0;
		s->foreign = 0;
	}
	log->heap_count = 0;
	log->first_pid = 0;
	log->foreign = 0;
	log->first_ns = 0;
	log->is_started = false;
}

static int refuse(struct log *log, const struct source *source, int err, const char *why)
{
	snprintf(log->message, sizeof(log->message), "%s:%llu: %s", source->name, source->line, why);
	return err;
}

/* -- lines ------------------------------------------------------------------------------ */

static bool take_text(struct source *source, struct text *text)
{
	const char *begin = source->text + source->at, *newline;
	size_t left = source->bytes - source->at;

	if (!left)
		return false;
	newline = memchr(begin, '\n', left);
	text->p = begin;
	text->bytes = newline ? (size_t)(newline - begin) : left;
	source->at += text->bytes + (newline ? 1 : 0);
	source->line++;
	return true;
}

/* A line whose time is days from the first one's was damaged. */
static bool is_near(struct log *log, const struct line *line)
{
	u64 away_ns;

	if (line->time_ns && !log->first_ns)
		log->first_ns = line->time_ns;
	away_ns = line->time_ns > log->first_ns ? line->time_ns - log->first_ns :
						  log->first_ns - line->time_ns;
	return !line->time_ns || away_ns < TIME_MAX_NS;
}

/* Return: 1; 0 at the end of the file; or a negative errno. */
static int take_line(struct log *log, struct source *source)
{
	struct text text;

	source->has_next = false;
	while (take_text(source, &text)) {
		line_parse(text, &source->next);
		if (!is_near(log, &source->next))
			source->next.kind = LINE_FOREIGN;
		switch (source->next.kind) {
		case LINE_UNTIMED:
			return refuse(log, source, -EPROTO,
				      "no time of the form SECONDS.MICROSECONDS: strace was run "
				      "without -ttt");
		case LINE_FOREIGN:
			log->foreign++;
			if (text.bytes && !source->calls && ++source->foreign > FOREIGN_MAX)
				return refuse(log, source, -EPROTO, "no line so far is of the form " LOG_LINE_FORM);
			continue;
		case LINE_SIGNAL:
			continue;
		case LINE_ATTACHED:
			source->next.time_ns = source->due_ns;
			break;
		default:
			break;
		}
		source->has_next = true;
		source->due_ns = source->next.time_ns;
		return 1;
	}
	return 0;
}

static struct thread *thread_of(struct log *log, u32 pid)
{
	struct thread *thread;

	HASH_FIND(hh, log->threads, &pid, sizeof(pid), thread);
	if (!thread) {
		thread = calloc(1, sizeof(*thread));
		if (!thread)
			return NULL;
		thread->pid = pid;
		HASH_ADD(hh, log->threads, pid, sizeof(thread->pid), thread);
	}
	if (!thread->is_alive) {
		thread->is_alive = true;
		log->alive++;
	}
	return thread;
}

/* Is the thread alive whose lines had no name so far? */
static bool has_nameless(struct log *log)
{
	struct thread *thread;
	u32 pid = 0;

	HASH_FIND(hh, log->threads, &pid, sizeof(pid), thread);
	return thread && thread->is_alive;
}

/*
 * On a terminal strace names the thread only while there are several: a line without a name
 * belongs to the one that is left, and at first to the one that it was started with.
 */
static u32 pid_of(struct log *log, const struct source *source, const struct line *line)
{
	struct thread *thread;

	if (line->pid) {
		HASH_FIND(hh, log->threads, &line->pid, sizeof(line->pid), thread);
		if (!thread && !log->first_pid && log->alive && has_nameless(log))
			log->first_pid = line->pid;
		return line->pid == log->first_pid ? 0 : line->pid;
	}
	if (source->pid)
		return source->pid;
	if (log->alive == 1)
		for (thread = log->threads; thread; thread = thread->hh.next)
			if (thread->is_alive)
				return thread->pid;
	return 0;
}

/* -- calls ------------------------------------------------------------------------------- */

static void take_span(struct call *call, u64 end_ns)
{
	call->end_ns = end_ns;
	if (call->has_duration)
		call->end_ns = call->begin_ns + call->duration_ns;
}

static int check_call(struct log *log, struct source *source, struct call *call)
{
	source->calls++;
	if (call->duration_ns > TIME_MAX_NS)
		call->duration_ns = 0;
	if (call->has_result && !call->has_duration)
		return refuse(log, source, -EPROTO,
			      "no duration at the end of a call: strace was run without -T");
	return 0;
}

/* Return: 1 for an event; 0 for none; or a negative errno. */
static int enter_whole(struct log *log, struct source *source, u32 pid, struct event *event)
{
	const struct line *line = &source->next;
	struct thread *thread = thread_of(log, pid);
	int err;

	if (!thread)
		return -ENOMEM;
	thread->call = (struct call){ .pid = pid, .name = line->name, .begin_ns = line->time_ns };
	if (call_parse(line->body, &thread->call)) {
		log->foreign++;
		return 0;
	}
	err = check_call(log, source, &thread->call);
	if (err)
		return err;
	take_span(&thread->call, line->time_ns);
	thread->is_in_call = false;
	source->leaving = thread;
	source->due_ns = thread->call.end_ns;
	*event = (struct event){ EVENT_ENTER, pid, line->time_ns, 0, &thread->call };
	return 1;
}

static int enter_half(struct log *log, const struct line *line, u32 pid, struct event *event)
{
	struct thread *thread = thread_of(log, pid);
	static const char end[] = ") = ?";
	struct text whole;

	if (!thread || (line->code && !thread_of(log, line->code)))
		return -ENOMEM;
	free(thread->text);
	thread->text = malloc(line->body.bytes + sizeof(end));
	if (!thread->text)
		return -ENOMEM;
	memcpy(thread->text, line->body.p, line->body.bytes);
	memcpy(thread->text + line->body.bytes, end, sizeof(end));
	thread->bytes = line->body.bytes;
	thread->call = (struct call){ .pid = pid, .name = line->name, .begin_ns = line->time_ns };
	whole = (struct text){ thread->text, thread->bytes + sizeof(end) - 1 };
	if (call_parse(whole, &thread->call))
		thread->call.arg_count = 0;
	thread->is_in_call = true;
	*event = (struct event){ EVENT_ENTER, pid, line->time_ns, 0, &thread->call };
	return 1;
}

static int leave_half(struct log *log, struct source *source, u32 pid, struct event *event)
{
	const struct line *line = &source->next;
	struct thread *thread = thread_of(log, pid);
	char *text;
	int err;

	if (!thread)
		return -ENOMEM;
	if (!thread->is_in_call) {
		log->foreign++;
		return 0;
	}
	text = realloc(thread->text, thread->bytes + line->body.bytes + 1);
	if (!text)
		return -ENOMEM;
	thread->text = text;
	memcpy(text + thread->bytes, line->body.p, line->body.bytes);
	thread->bytes += line->body.bytes;
	thread->is_in_call = false;
	if (call_parse((struct text){ text, thread->bytes }, &thread->call)) {
		thread->call.has_result = false;
		log->foreign++;
	}
	err = check_call(log, source, &thread->call);
	if (err)
		return err;
	take_span(&thread->call, line->time_ns);
	*event = (struct event){ EVENT_LEAVE, pid, thread->call.end_ns, 0, &thread->call };
	return 1;
}

static void thread_ended(struct log *log, u32 pid)
{
	struct thread *thread;

	HASH_FIND(hh, log->threads, &pid, sizeof(pid), thread);
	if (!thread)
		return;
	if (thread->is_alive)
		log->alive--;
	thread->is_alive = false;
	thread->is_in_call = false;
}

/* The call to execve goes on in the thread that has the process's own number. */
static int supersede(struct log *log, const struct line *line, u32 pid, struct event *event)
{
	struct thread *from = thread_of(log, line->code), *to = thread_of(log, pid);

	if (!from || !to)
		return -ENOMEM;
	if (from != to) {
		free(to->text);
		to->text = from->text;
		to->bytes = from->bytes;
		to->call = from->call;
		to->call.pid = pid;
		to->is_in_call = from->is_in_call;
		from->text = NULL;
		from->call = (struct call){ .pid = line->code, .name = to->call.name };
		thread_ended(log, line->code);
	}
	*event = (struct event){ EVENT_SUPERSEDED, pid, line->time_ns, line->code, NULL };
	return 1;
}

static int deliver(struct log *log, struct source *source, struct event *event)
{
	const struct line *line = &source->next;
	u32 pid = pid_of(log, source, line);

	switch (line->kind) {
	case LINE_CALL:
		return enter_whole(log, source, pid, event);
	case LINE_BEGIN:
		return enter_half(log, line, pid, event);
	case LINE_RESUMED:
		return leave_half(log, source, pid, event);
	case LINE_EXITED:
		thread_ended(log, pid);
		*event = (struct event){ EVENT_EXIT, pid, line->time_ns, line->code, NULL };
		return 1;
	case LINE_SUPERSEDED:
		return supersede(log, line, pid, event);
	case LINE_ATTACHED:
		return thread_of(log, line->code) ? 0 : -ENOMEM;
	default:
		return 0;
	}
}

/* -- files by time ------------------------------------------------------------------------ */

/* What is left comes before what begins at the same time. */
static bool is_before(const struct source *a, const struct source *b)
{
	if (a->due_ns != b->due_ns)
		return a->due_ns < b->due_ns;
	if (!a->leaving != !b->leaving)
		return a->leaving;
	return a < b;
}

static void sink(struct log *log, size_t at)
{
	struct source **heap = log->heap, *source = heap[at];
	size_t child;

	while ((child = 2 * at + 1) < log->heap_count) {
		if (child + 1 < log->heap_count && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], source))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = source;
}

static int start(struct log *log)
{
	size_t i;
	int n;

	log->is_started = true;
	free(log->heap);
	log->heap = calloc(log->source_count + 1, sizeof(*log->heap));
	if (!log->heap)
		return -ENOMEM;
	for (i = 0; i < log->source_count; i++) {
		n = take_line(log, &log->sources[i]);
		if (n < 0)
			return n;
		if (n)
			log->heap[log->heap_count++] = &log->sources[i];
	}
	for (i = log->heap_count / 2; i-- > 0;)
		sink(log, i);
	return 0;
}

/* Return: 1 for an event; 0 if there was none in this line; or a negative errno. */
static int step(struct log *log, struct event *event)
{
	struct source *source = log->heap[0];
	int n, more = 1;

	if (source->leaving) {
		const struct call *call = &source->leaving->call;

		*event = (struct event){ EVENT_LEAVE, call->pid, call->end_ns, 0, call };
		source->leaving = NULL;
		n = 1;
		more = take_line(log, source);
	} else {
		n = deliver(log, source, event);
		if (n >= 0 && !source->leaving)
			more = take_line(log, source);
	}
	if (n < 0 || more < 0)
		return n < 0 ? n : more;
	if (!more)
		log->heap[0] = log->heap[--log->heap_count];
	if (log->heap_count)
		sink(log, 0);
	return n;
}

/**
 * log_next() - what happened next
 *
 * Return: 1; 0 at the end; or a negative errno, then log_message() says where and why.
 */
int log_next(struct log *log, struct event *event)
{
	struct thread *thread;
	int n = log->is_started ? 0 : start(log);

	while (!n && log->heap_count) {
		n = step(log, event);
		if (n == -ENOMEM)
			snprintf(log->message, sizeof(log->message), "%s", strerror(ENOMEM));
		if (n)
			return n;
	}
	if (n)
		return n;
	for (thread = log->threads; thread; thread = thread->hh.next) {
		if (!thread->is_in_call)
			continue;
		thread->is_in_call = false;
		thread->call.end_ns = thread->call.begin_ns;
		*event = (struct event){ EVENT_UNFINISHED, thread->pid, thread->call.begin_ns, 0,
					 &thread->call };
		return 1;
	}
	return 0;
}
