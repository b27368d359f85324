// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_log.c - merge the files of a log by time.
 */
#include "strace_log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "strace_source.h"

int log_open(struct log **log)
{
	*log = calloc(1, sizeof(**log));
	return *log ? 0 : -ENOMEM;
}

/**
 * log_add_text() - add a log that is in memory
 * @name: name for messages
 * @text: owned by the caller; must outlive the log
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
 * Return: 0 or a negative errno; log_message() then returns the reason.
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

void log_close(struct log *log)
{
	size_t i;

	if (!log)
		return;
	threads_free(log);
	for (i = 0; i < log->source_count; i++)
		source_close(&log->sources[i]);
	free(log->sources);
	free(log->heap);
	free(log);
}

/**
 * log_message() - position and reason of a failure of log_next() or log_add_file(); "" without a failure
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
	for (i = 0; i < log->source_count; i++)
		source_rewind(&log->sources[i]);
	log->heap_count = 0;
	log->first_pid = 0;
	log->foreign = 0;
	log->damaged = 0;
	log->lost = 0;
	log->first_ns = 0;
	log->is_started = false;
}

/**
 * log_damaged() - lines of calls that were cut, or are not as strace writes them
 */
u64 log_damaged(const struct log *log)
{
	return log->damaged;
}

/**
 * log_lost() - calls whose beginning is there, and not their end
 */
u64 log_lost(const struct log *log)
{
	return log->lost;
}

/**
 * log_clock_steps() - times the clock was set back
 */
u64 log_clock_steps(const struct log *log)
{
	return log->clock_steps;
}

/**
 * log_position() - how much of all files was read since log_rewind()
 */
void log_position(const struct log *log, u64 *done_bytes, u64 *total_bytes)
{
	size_t i;

	*done_bytes = *total_bytes = 0;
	for (i = 0; i < log->source_count; i++) {
		*done_bytes += log->sources[i].at;
		*total_bytes += log->sources[i].bytes;
	}
}

/**
 * log_has_exits() - do lines say how threads end? Not with strace -qq
 */
bool log_has_exits(const struct log *log)
{
	return log->has_exits;
}

/* -- files by time ------------------------------------------------------------------------ */

/* Ends come before beginnings of the same time. */
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

static bool has_exit_lines(const struct log *log)
{
	static const char *const marks[] = { "+++ exited with ", "+++ killed by " };
	size_t i, j;

	for (i = 0; i < log->source_count; i++)
		for (j = 0; j < ARRAY_SIZE(marks); j++)
			if (log->sources[i].bytes &&
			    memmem(log->sources[i].text, log->sources[i].bytes, marks[j], strlen(marks[j])))
				return true;
	return false;
}

/* Gather the information about all files that the first line needs. */
static int survey(struct log *log)
{
	if (log->is_surveyed)
		return 0;
	log->is_surveyed = true;
	log->has_exits = has_exit_lines(log);
	return clock_survey(log);
}

static int start(struct log *log)
{
	size_t i;
	int n;

	log->is_started = true;
	n = survey(log);
	if (n)
		return n;
	free(log->heap);
	log->heap = calloc(log->source_count + 1, sizeof(*log->heap));
	if (!log->heap)
		return -ENOMEM;
	for (i = 0; i < log->source_count; i++) {
		n = source_line(log, &log->sources[i]);
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
		if (!log->has_exits)
			log_exit_seen(log, call);
		n = 1;
		more = source_line(log, source);
	} else {
		n = log_deliver(log, source, event);
		if (n >= 0 && !source->leaving && !source->is_repeated)
			more = source_line(log, source);
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
 * log_next() - the next event
 *
 * Return: 1; 0 at the end; or a negative errno, then log_message() returns position and reason.
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
