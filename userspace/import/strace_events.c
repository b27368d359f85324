// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_events.c - the lines of an strace log become events: whose they are, and halves of calls are put together.
 */
#include <stdlib.h>

#include "strace_source.h"

/* No call takes so long. */
#define CALL_MAX_NS (1ull << 53)

/* -- threads ---------------------------------------------------------------------------------- */

/**
 * threads_free() - forget all threads
 */
void threads_free(struct log *log)
{
	struct thread *thread, *next;

	HASH_ITER (hh, log->threads, thread, next) {
		HASH_DEL(log->threads, thread);
		free(thread->text);
		free(thread);
	}
	log->alive = 0;
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

/*
 * Can a line with a name be of the thread whose lines had none so far? While that is in a call, only the end
 * of the call is.
 */
static bool may_be_nameless(struct log *log, const struct line *line)
{
	struct thread *thread;
	u32 pid = 0;

	HASH_FIND(hh, log->threads, &pid, sizeof(pid), thread);
	return thread && thread->is_alive && thread->is_in_call == (line->kind == LINE_RESUMED);
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
		if (!thread && !log->first_pid && log->alive && may_be_nameless(log, line))
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
	if (call->duration_ns > CALL_MAX_NS)
		call->duration_ns = 0;
	if (call->has_result && !call->has_duration)
		return source_refuse(log, source, -EPROTO,
				     "no duration at the end of a call: strace was run without -T");
	return 0;
}

/* The thread that a line of a call belongs to; processes that were attached on it are alive. */
static struct thread *enter_thread(struct log *log, const struct source *source, u32 pid)
{
	const struct line *line = &source->next;
	struct thread *thread = thread_of(log, pid);
	size_t i;

	if (!thread || (line->code && !thread_of(log, line->code)))
		return NULL;
	for (i = 0; i < source->attached_count; i++)
		if (!thread_of(log, source->attached[i]))
			return NULL;
	log->lost += thread->is_in_call; /* the line with its end is missing */
	thread->is_in_call = false;
	thread->call = (struct call){ .pid = pid, .name = line->name, .begin_ns = line->time_ns,
				      .attached_pid = line->code };
	return thread;
}

/* A thread that a call returned is alive, also where strace does not say that it attached it. */
static int see_child(struct log *log, const struct call *call)
{
	static const char *const names[] = { "clone", "clone3", "fork", "vfork" };
	u32 pid = call->outer_pid ? call->outer_pid : (u32)call->result;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!call->pid && call->has_result && call->result > 0 && call->result <= 0x7fffffff &&
		    text_is(call->name, names[i]))
			return thread_of(log, pid) ? 0 : -ENOMEM;
	return 0;
}

/* Return: 1 for an event; 0 for none; or a negative errno. */
static int enter_whole(struct log *log, struct source *source, u32 pid, struct event *event)
{
	const struct line *line = &source->next;
	struct thread *thread = enter_thread(log, source, pid);
	int err;

	if (!thread)
		return -ENOMEM;
	if (call_parse(line->body, &thread->call)) {
		log->damaged++;
		return 0;
	}
	err = check_call(log, source, &thread->call) ?: see_child(log, &thread->call);
	if (err)
		return err;
	take_span(&thread->call, line->time_ns);
	source->leaving = thread;
	source->due_ns = thread->call.end_ns;
	*event = (struct event){ EVENT_ENTER, pid, line->time_ns, 0, &thread->call };
	return 1;
}

static int enter_half(struct log *log, const struct source *source, u32 pid, struct event *event)
{
	const struct line *line = &source->next;
	struct thread *thread = enter_thread(log, source, pid);
	static const char end[] = ") = ?";
	struct text whole;

	if (!thread)
		return -ENOMEM;
	free(thread->text);
	thread->text = malloc(line->body.bytes + sizeof(end));
	if (!thread->text)
		return -ENOMEM;
	memcpy(thread->text, line->body.p, line->body.bytes);
	memcpy(thread->text + line->body.bytes, end, sizeof(end));
	thread->bytes = line->body.bytes;
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
		log->damaged++;
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
		log->damaged++;
	}
	err = check_call(log, source, &thread->call) ?: see_child(log, &thread->call);
	if (err)
		return err;
	take_span(&thread->call, line->time_ns);
	*event = (struct event){ EVENT_LEAVE, pid, thread->call.end_ns, 0, &thread->call };
	return 1;
}

/* -- ends ---------------------------------------------------------------------------------- */

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

static bool is_exit(const struct call *call)
{
	return text_is(call->name, "exit") || text_is(call->name, "_exit") ||
	       text_is(call->name, "exit_group");
}

/**
 * log_exit_seen() - in a log without exit lines, a call shows the end of a thread
 */
void log_exit_seen(struct log *log, const struct call *call)
{
	if (is_exit(call))
		thread_ended(log, call->pid);
}

/* A thread ends, perhaps in the middle of a call, which is the first event of two. */
static int end_thread(struct log *log, struct source *source, u32 pid, struct event *event)
{
	const struct line *line = &source->next;
	struct thread *thread;

	HASH_FIND(hh, log->threads, &pid, sizeof(pid), thread);
	source->is_repeated = thread && thread->is_in_call && !is_exit(&thread->call);
	if (source->is_repeated) {
		thread->is_in_call = false;
		thread->call.end_ns = line->time_ns;
		*event = (struct event){ EVENT_UNFINISHED, pid, line->time_ns, 0, &thread->call };
		return 1;
	}
	thread_ended(log, pid);
	*event = (struct event){ EVENT_EXIT, pid, line->time_ns, line->code, NULL };
	return 1;
}

/* The call to execve continues in the thread whose id is that of the process. */
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

/**
 * log_deliver() - the event of the current line of a file
 *
 * Return: 1 for an event; 0 for none; or a negative errno.
 */
int log_deliver(struct log *log, struct source *source, struct event *event)
{
	const struct line *line = &source->next;
	u32 pid = pid_of(log, source, line);

	source->is_repeated = false;
	switch (line->kind) {
	case LINE_CALL:
		return enter_whole(log, source, pid, event);
	case LINE_BEGIN:
		return enter_half(log, source, pid, event);
	case LINE_RESUMED:
		return leave_half(log, source, pid, event);
	case LINE_EXITED:
		return end_thread(log, source, pid, event);
	case LINE_SUPERSEDED:
		return supersede(log, line, pid, event);
	case LINE_ATTACHED:
		return thread_of(log, line->code) ? 0 : -ENOMEM;
	default:
		return 0;
	}
}
