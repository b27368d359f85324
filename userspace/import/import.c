// SPDX-License-Identifier: GPL-2.0-only
/*
 * import.c - go through a log three times, see model.h; the last time with a trace to write.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "model.h"

const char *const import_gap_names[IMPORT_GAP_COUNT] = {
#define IMPORT_GAP(name, omission, operations, sentence) #name,
	IMPORT_GAPS(IMPORT_GAP)
#undef IMPORT_GAP
};

const char *const import_gap_sentences[IMPORT_GAP_COUNT] = {
#define IMPORT_GAP(name, omission, operations, sentence) sentence,
	IMPORT_GAPS(IMPORT_GAP)
#undef IMPORT_GAP
};

static int refuse(struct import *im, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(struct import *im, int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(im->summary->message, sizeof(im->summary->message), format, arguments);
	va_end(arguments);
	return err;
}

static int log_failed(struct import *im, int err)
{
	const char *message = log_message(im->log);

	return refuse(im, err, "%s", message[0] ? message : strerror(-err));
}

/* -- a call ------------------------------------------------------------------------------------- */

static bool is_last_call(struct text name)
{
	return text_is(name, "exit") || text_is(name, "exit_group");
}

static void enter(struct import *im, const struct event *event)
{
	const struct call_kind *kind = call_kind(event->call->name);
	struct task *task = im->task;

	if (event->time_ns > task->idle_since_ns)
		task->runtime_ns += event->time_ns - task->idle_since_ns;
	task->idle_since_ns = event->time_ns;
	task->call = event->call;
	task->is_done = false;
	im->begin_ns = event->time_ns;
	im->end_ns = event->call->end_ns > event->time_ns ? event->call->end_ns : event->time_ns;
	if (kind && kind->enter)
		kind->enter(im, event->call, kind);
}

static void leave(struct import *im, const struct event *event)
{
	const struct call_kind *kind = call_kind(event->call->name);

	im->calls++;
	im->task->call = NULL;
	if (event->time_ns > im->task->idle_since_ns)
		im->task->idle_since_ns = event->time_ns;
	im->begin_ns = event->call->begin_ns;
	im->end_ns = event->time_ns;
	if (kind && kind->leave && event->call->has_result && !im->task->is_done)
		kind->leave(im, event->call, kind);
}

static void take_event(struct import *im, const struct event *event)
{
	switch (event->kind) {
	case EVENT_EXIT:
		im->task = task_find(im, event->pid);
		if (im->task)
			task_exit(im, im->task, event->code, event->time_ns);
		return;
	case EVENT_SUPERSEDED:
		task_supersede(im, event->code, event->pid, event->time_ns);
		return;
	case EVENT_UNFINISHED:
		if (!is_last_call(event->call->name))
			gap(im, IMPORT_GAP_unfinished);
		return;
	default:
		break;
	}
	im->task = task_of(im, event->pid, event->time_ns);
	if (!im->task)
		return;
	if (event->kind == EVENT_ENTER)
		enter(im, event);
	else
		leave(im, event);
}

/* -- passes ---------------------------------------------------------------------------------------- */

/* Who makes whom: a child is often seen before the call that makes it returns. */
static int find_births(struct import *im)
{
	const struct call_kind *kind;
	struct event event;
	int n;

	while ((n = log_next(im->log, &event)) > 0 && !im->err) {
		if (!im->zero_ns)
			im->zero_ns = event.time_ns;
		if (event.kind != EVENT_LEAVE)
			continue;
		im->calls++;
		if (event.call->has_result && event.call->result < 0)
			pending_failed(im, event.call);
		kind = call_kind(event.call->name);
		if (kind && kind->leave == call_clone && event.call->has_result)
			call_clone(im, event.call, kind);
	}
	if (n < 0)
		return log_failed(im, n);
	return im->err;
}

static int go_through(struct import *im)
{
	struct event event;
	size_t i;
	int n = 0;

	log_rewind(im->log);
	memset(im->gaps, 0, sizeof(im->gaps));
	im->calls = 0;
	im->operations = 0;
	im->last_task = 0;
	for (i = 0; i < im->birth_count; i++)
		im->births[i].is_used = false;
	while (!im->err && (n = log_next(im->log, &event)) > 0)
		take_event(im, &event);
	if (!im->err && n < 0)
		return log_failed(im, n);
	im->gaps[IMPORT_GAP_foreign] = log_foreign(im->log);
	return im->err;
}

static int begin_pass(struct import *im)
{
	im->last_object = 0;
	im->last_name = 0;
	im->last_handle = 0;
	im->last_map = 0;
	im->last_ns = im->zero_ns;
	return inodes_init(im);
}

static void forget(struct import *im)
{
	tasks_exit(im);
	inodes_exit(im);
}

static int last_pass(struct import *im, const char *trace)
{
	int err = begin_pass(im);

	if (!err)
		err = emit_open(im, trace);
	if (err)
		return emit_close(im, refuse(im, err, "%s: %s", trace, strerror(-err)));
	err = go_through(im);
	if (im->err && !im->summary->message[0])
		refuse(im, im->err, "%s: %s", trace, strerror(-im->err));
	return emit_close(im, err);
}

static void import_exit(struct import *im)
{
	struct known *known, *next;

	forget(im);
	HASH_ITER (hh, im->known, known, next) {
		HASH_DEL(im->known, known);
		free(known->target);
		free(known);
	}
	pending_exit(im);
	free(im->births);
	log_close(im->log);
}

/* The path without slashes at its end, and double ones. Return: NULL if it is not absolute. */
static char *clean_root(const char *root)
{
	char *clean = strdup(root), *to = clean;
	const char *p;

	if (!clean || *root != '/') {
		free(clean);
		return NULL;
	}
	for (p = root; *p; p++)
		if (*p != '/' || (p[1] != '/' && p[1]))
			*to++ = *p;
	if (to == clean)
		*to++ = '/';
	*to = 0;
	return clean;
}

/* What two passes have not found is not there, so that nothing needs to be written. */
static int check_found(struct import *im)
{
	if (im->leads_away && !im->last_handle)
		return refuse(im, -ENODATA, "%s: names in the log that begin with it lead elsewhere: it is a symbolic link, or below one; name the directory that it leads to",
			      im->root_path);
	if (im->operations)
		return 0;
	return refuse(im, -ENODATA, "%s: nothing in the log is below this directory, which is to be named as there, without symbolic links",
		      im->root_path);
}

static int refuse_lines(struct import *im, const struct import_options *options)
{
	return refuse(im, -ENODATA, "%s%s: no line is of the form " LOG_LINE_FORM ", as strace -f -ttt -T writes it without -i and -n",
		      options->logs[0], options->log_count > 1 ? " and the others" : "");
}

static int run(struct import *im, const struct import_options *options)
{
	const char *root = options->root;
	char *clean = clean_root(root);
	int err;

	if (!clean || strlen(clean) >= PATH_ROOM) {
		free(clean);
		return refuse(im, -EINVAL, "%s: the root must be an absolute path", root);
	}
	im->root_path = clean;
	err = find_births(im);
	if (!err && !im->calls)
		err = refuse_lines(im, options);
	if (!err)
		err = begin_pass(im);
	if (!err)
		err = go_through(im);
	if (!err)
		err = check_found(im);
	forget(im);
	im->is_last_pass = true;
	if (!err)
		err = last_pass(im, options->trace);
	im->summary->calls = im->calls;
	im->summary->operations = im->operations;
	im->summary->tasks = im->last_task;
	memcpy(im->summary->gaps, im->gaps, sizeof(im->gaps));
	if (err && !im->summary->message[0])
		refuse(im, err, "%s", strerror(-err));
	import_exit(im);
	free(clean);
	return err;
}

/* A log is mapped while the trace is written. */
static int add_log(struct import *im, const char *path, const char *trace)
{
	if (iot_file_is_same(path, trace))
		return refuse(im, -EINVAL, "%s: is the output, too", path);
	return log_add_file(im->log, path);
}

/**
 * import_strace() - make a trace of what strace wrote
 * @options: which files, and where to
 * @summary: filled in
 *
 * Return: 0 or a negative errno; then the summary's message says why.
 */
int import_strace(const struct import_options *options, struct import_summary *summary)
{
	struct import im = { .summary = summary };
	size_t i;
	int err = log_open(&im.log);

	*summary = (struct import_summary){};
	for (i = 0; i < options->log_count && !err; i++)
		err = add_log(&im, options->logs[i], options->trace);
	if (err) {
		if (im.log && !summary->message[0])
			log_failed(&im, err);
		import_exit(&im);
		return err;
	}
	return run(&im, options);
}
