// SPDX-License-Identifier: GPL-2.0-only
/*
 * import.c - go through a log three times, see model.h; the last time with a trace to write.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "model.h"

#define PROGRESS_EVENTS 64

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

/* The next event, and now and then progress. Return: as log_next(). */
static int next_event(struct import *im, struct event *event)
{
	u64 done_bytes, total_bytes;

	if (im->progress && ++im->events % PROGRESS_EVENTS == 0) {
		log_position(im->log, &done_bytes, &total_bytes);
		im->progress(im->pass * total_bytes + done_bytes, IMPORT_PASSES * total_bytes);
	}
	return log_next(im->log, event);
}

static bool is_last_call(struct text name)
{
	return text_is(name, "exit") || text_is(name, "_exit") || text_is(name, "exit_group");
}

static void enter(struct import *im, const struct event *event)
{
	const struct call_kind *kind = call_kind(im, event->call->name);
	struct task *task = im->task;

	task->runtime_ns += cost_enter(im, event->time_ns > task->idle_since_ns ? event->time_ns - task->idle_since_ns : 0);
	task->idle_since_ns = event->time_ns;
	task->call = event->call;
	task->is_done = false;
	im->begin_ns = event->time_ns;
	im->end_ns = event->call->end_ns > event->time_ns ? event->call->end_ns : event->time_ns;
	if (kind) /* records may follow */
		emit_held(im);
	if (kind && kind->enter)
		kind->enter(im, event->call, kind);
}

static void leave(struct import *im, const struct event *event)
{
	const struct call_kind *kind;
	bool is_known = call_is_known(im, event->call->name, &kind);

	im->task->call = NULL;
	if (event->time_ns > im->task->idle_since_ns)
		im->task->idle_since_ns = event->time_ns;
	im->begin_ns = event->call->begin_ns;
	im->end_ns = event->time_ns;
	if (!is_known)
		call_unknown(im, event->call);
	if (!kind || !kind->leave || !event->call->has_result || im->task->is_done)
		return;
	if (event->call->arg_count < kind->args)
		call_short(im, event->call, kind);
	else
		kind->leave(im, event->call, kind);
}

/* A call that does not return: its effects, if any, are unknown. */
static void abandon(struct import *im, const struct event *event)
{
	const struct call_kind *kind;
	bool is_known = call_is_known(im, event->call->name, &kind);

	im->task = task_find(im, event->pid);
	if (!im->task)
		return;
	im->task->call = NULL;
	if ((kind || !is_known) && call_concerns_root(im, event->call, 1))
		gap(im, IMPORT_GAP_unfinished);
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
		abandon(im, event);
		return;
	case EVENT_LEAVE:
		im->calls++;
		if (is_last_call(event->call->name)) /* the task may have ended */
			return;
		break;
	default:
		break;
	}
	im->task = task_of(im, event->pid, event->time_ns);
	if (!im->task)
		return;
	if (event->kind == EVENT_ENTER) {
		enter(im, event);
		return;
	}
	leave(im, event);
	cost_leave(im, event->call);
}

/* -- passes ---------------------------------------------------------------------------------------- */

/*
 * The offset of mmap2(2) is shown in bytes, but for versions before 4.8, which show pages: then some of
 * them are not a multiple of a page.
 */
static void look_at_offset(struct import *im, const struct call *call)
{
	s64 offset;

	if (text_is(call->name, "mmap2") && call_number(call, 5, &offset) && offset % PAGE_BYTES)
		im->is_mmap2_by_page = true;
}

static void look_at_call(struct import *im, const struct call *call)
{
	const struct call_kind *kind = call_kind(im, call->name);

	im->calls++;
	if (!call->has_result)
		return;
	if (call->result < 0)
		pending_failed(im, call);
	if (kind && kind->leave == call_clone)
		call_clone(im, call, kind);
	if (kind && kind->leave == call_mmap)
		look_at_offset(im, call);
}

/* Record the parent of each task: a child often appears before the call that creates it returns. */
static int find_births(struct import *im)
{
	struct event event;
	int n;

	while ((n = next_event(im, &event)) > 0 && !im->err) {
		if (!im->zero_ns)
			im->zero_ns = event.time_ns;
		if (sighting_add(im, event.pid, event.time_ns))
			break;
		cost_look(im, &event);
		if (event.kind == EVENT_LEAVE)
			look_at_call(im, event.call);
	}
	if (n < 0)
		return log_failed(im, n);
	return im->err ? im->err : births_match(im);
}

/* Counts of the reader of a format, for lines that do not reach the model. */
static void add_foreign_gaps(struct import *im)
{
	const struct foreign *f = im->foreign;
	size_t i;

	for (i = 0; f && i < IMPORT_GAP_COUNT; i++)
		im->gaps[i] += f->gaps[i];
	for (i = 0; f && i < f->named_count; i++)
		gap_named_more(im, f->named[i].kind, f->named[i].name, f->named[i].count);
	if (f && f->gaps[IMPORT_GAP_call])
		gap_bytes(im, IMPORT_GAP_call, IOT_OMISSION_UNKNOWN);
}

static int go_through(struct import *im)
{
	struct event event;
	size_t i;
	int n = 0;

	log_rewind(im->log);
	im->pass++;
	memset(im->gaps, 0, sizeof(im->gaps));
	named_gaps_forget(im);
	memset(im->gap_bytes, 0, sizeof(im->gap_bytes));
	im->are_names_lost = false;
	im->calls = 0;
	im->operations = 0;
	im->waits = 0;
	im->held_ns = 0;
	im->last_task = 0;
	for (i = 0; i < im->birth_count; i++)
		im->births[i].is_used = false;
	while (!im->err && (n = next_event(im, &event)) > 0)
		take_event(im, &event);
	if (!im->err && n < 0)
		return log_failed(im, n);
	im->gaps[IMPORT_GAP_foreign] = log_foreign(im->log);
	im->gaps[IMPORT_GAP_damaged] = log_damaged(im->log);
	im->gaps[IMPORT_GAP_unfinished] += log_lost(im->log);
	gap_bytes(im, IMPORT_GAP_unfinished, IOT_OMISSION_UNKNOWN);
	im->gaps[IMPORT_GAP_clock] = log_clock_steps(im->log);
	im->gaps[IMPORT_GAP_by_order] = im->by_order;
	add_foreign_gaps(im);
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
	births_exit(im);
	named_gaps_forget(im);
	calls_exit(im);
	while (im->root_count)
		free(im->roots[--im->root_count].path);
	free(im->roots);
	log_close(im->log);
	foreign_close(im->foreign); /* the log refers to its texts */
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

/* -- roots --------------------------------------------------------------------------------------- */

static int add_root(struct import *im, const char *path)
{
	struct root *roots = reallocarray(im->roots, im->root_count + 1, sizeof(*roots));
	char *clean = clean_root(path);
	size_t i;

	if (roots)
		im->roots = roots;
	if (!roots || !clean || strlen(clean) >= PATH_ROOM) {
		free(clean);
		return refuse(im, -EINVAL, "%s: the root must be an absolute path", path);
	}
	for (i = 0; i < im->root_count; i++) {
		if (strcmp(roots[i].path, clean))
			continue;
		free(clean); /* given twice, it is the same */
		return 0;
	}
	roots[im->root_count++] = (struct root){ .path = clean, .path_bytes = strlen(clean) };
	return 0;
}

/* A directory that two passes have not found does not exist, so nothing needs to be written. */
static int check_found(struct import *im)
{
	const char *others = im->root_count > 1 ? " and the others" : "", *path = im->roots[0].path;

	if (im->leads_away && !im->last_handle)
		return refuse(im, -ENODATA, "%s%s: is a symbolic link, or below one: the files in the log are elsewhere; give the target of the link",
			      path, others);
	if (im->operations)
		return 0;
	return refuse(im, -ENODATA, "%s%s: no operation in the log is below this directory; give the path in the log, without symbolic links",
		      path, others);
}

static int refuse_lines(struct import *im, const struct import_options *options)
{
	return refuse(im, -ENODATA, "%s%s: no line is of the form " LOG_LINE_FORM ", as strace -f -ttt -T writes it",
		      options->logs[0], options->log_count > 1 ? " and the others" : "");
}

/* -- all of it ------------------------------------------------------------------------------------- */

static int compare_named(const void *a, const void *b)
{
	const struct import_named *x = a, *y = b;

	return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->name, y->name);
}

static void summarize(struct import *im)
{
	struct import_summary *summary = im->summary;
	const struct named_gap *named;

	summary->calls = im->calls;
	summary->operations = im->operations;
	summary->tasks = im->last_task;
	summary->cost = im->cost;
	summary->is_calibrated = im->is_calibrated;
	summary->held_ns = im->held_ns;
	memcpy(summary->gaps, im->gaps, sizeof(im->gaps));
	summary->named = calloc(HASH_COUNT(im->named_gaps) + 1, sizeof(*summary->named));
	for (named = im->named_gaps; named && summary->named; named = named->hh.next) {
		char *name = strdup(named->name);

		if (name)
			summary->named[summary->named_count++] =
				(struct import_named){ named->kind, named->count, name };
	}
	if (summary->named_count)
		qsort(summary->named, summary->named_count, sizeof(*summary->named), compare_named);
}

/**
 * import_summary_free() - free the contents of a summary
 */
void import_summary_free(struct import_summary *summary)
{
	while (summary->named_count)
		free(summary->named[--summary->named_count].name);
	free(summary->named);
	summary->named = NULL;
}

/* Logs of other tools have no such time: those tools run in the program. */
static int find_cost(struct import *im, const struct import_options *options)
{
	int err;

	if (im->foreign && options->calibration)
		return refuse(im, -EINVAL, "%s: a calibration is for logs of strace only", options->calibration);
	if (im->foreign || options->keeps_cost)
		return 0;
	if (!options->calibration) {
		cost_estimate(im);
		return 0;
	}
	err = cost_calibrate(options->calibration, &im->cost, im->summary->message, sizeof(im->summary->message));
	im->is_calibrated = !err;
	return err;
}

static int run(struct import *im, const struct import_options *options)
{
	size_t i;
	int err = calls_init(im);

	for (i = 0; i < options->root_count && !err; i++)
		err = add_root(im, options->roots[i]);
	if (!err)
		err = find_births(im);
	if (!err && !im->calls)
		err = refuse_lines(im, options);
	if (!err)
		err = find_cost(im, options);
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
	summarize(im);
	if (err && !im->summary->message[0])
		refuse(im, err, "%s", strerror(-err));
	import_exit(im);
	return err;
}

/* A log is mapped while the trace is written. */
static int add_log(struct import *im, const char *path, const char *trace)
{
	if (iot_file_is_same(path, trace))
		return refuse(im, -EINVAL, "%s: is both input and output", path);
	return log_add_file(im->log, path);
}

/* All logs have the same format. @format: out; NULL: strace's */
static int find_format(struct import *im, const struct import_options *options, const struct foreign_format **format)
{
	const struct foreign_format *other;
	size_t i;
	int err = 0;

	*format = options->format ? foreign_format_find(options->format) : NULL;
	for (i = 0; i < options->log_count && !options->format && !err; i++) {
		err = foreign_recognise(options->logs[i], &other);
		if (err)
			return refuse(im, err, "%s: %s", options->logs[i], strerror(-err));
		if (!i)
			*format = other;
		else if (*format != other)
			err = refuse(im, -EINVAL, "%s: has the format %s, but %s has %s", options->logs[i],
				     other ? other->name : "strace", options->logs[0], *format ? (*format)->name : "strace");
	}
	return err;
}

/* A log of another tool is rewritten in memory. */
static int add_foreign(struct import *im, const struct import_options *options, const struct foreign_format *format)
{
	size_t i;
	int err = 0;

	for (i = 0; i < options->log_count; i++)
		if (iot_file_is_same(options->logs[i], options->trace))
			return refuse(im, -EINVAL, "%s: is both input and output", options->logs[i]);
	err = foreign_open(&im->foreign, format, options->roots, options->root_count);
	if (!err)
		im->foreign->directory = options->directory;
	if (!err)
		err = foreign_read(im->foreign, options->logs, options->log_count);
	if (!err)
		err = foreign_finish(im->foreign, im->log);
	if (err && im->foreign && im->foreign->message[0])
		refuse(im, err, "%s", im->foreign->message);
	return err;
}

static int add_logs(struct import *im, const struct import_options *options)
{
	const struct foreign_format *format;
	int err = find_format(im, options, &format);
	size_t i;

	if (!err && options->directory && !(format && format->has_births))
		return refuse(im, -EINVAL, "%s: a working directory is for logs of the formats perf, perf-script and lttng only", options->directory);
	if (!err && format)
		return add_foreign(im, options, format);
	for (i = 0; i < options->log_count && !err; i++)
		err = add_log(im, options->logs[i], options->trace);
	return err;
}

/**
 * import_logs() - make a trace of logs of strace or another tool
 * @options: which files, and where to
 * @summary: filled in; to be freed by import_summary_free()
 *
 * Return: 0 or a negative errno; the message of the summary has the reason.
 */
int import_logs(const struct import_options *options, struct import_summary *summary)
{
	struct import im = {
		.summary = summary,
		.progress = options->progress,
		.has_initial_umask = options->has_umask,
		.initial_umask = options->umask,
		.facts = options->facts,
	};
	int err = log_open(&im.log);

	*summary = (struct import_summary){};
	if (!err)
		err = add_logs(&im, options);
	if (err) {
		if (im.log && !summary->message[0])
			log_failed(&im, err);
		import_exit(&im);
		return err;
	}
	return run(&im, options);
}
