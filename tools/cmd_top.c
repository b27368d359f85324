// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_top.c - iotape top: rates, latencies, and the hottest files and processes of a recording that runs.
 *
 * The session gives its counters, and the output of the recorder, read as it grows, everything else.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "option.h"
#include "sessions.h"
#include "top.h"

struct options {
	struct session_choice choice;
	const char *trace;
	struct top_view view;
	bool has_rows;
	bool is_once;
	bool is_batch;
	uint64_t delay_ms;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void set_mount(struct option_state *state, char *dir)
{
	struct options *options = state->options;

	options->choice.mount = option_real_path(state, dir);
}

static void add_operand(struct option_state *state, char *operand)
{
	struct options *options = state->options;

	if (options->trace)
		option_error(state, "%s: one trace at a time", operand);
	options->trace = operand;
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (options->trace && (options->choice.number || options->choice.mount || options->choice.job))
		option_error(state, "%s: --session, --mount and --job cannot be combined with a trace", options->trace);
	if (options->is_once && options->is_batch)
		option_error(state, "--once cannot be combined with --batch");
}

static const struct option_row option_rows[] = {
	{ "session", 's', OPTION_COUNT, "N", .min = 1, .max = UINT64_MAX, .field = FIELD(choice.number),
	  .help = "watch the recording with this number, see iotape status" },
	{ "mount", 'm', OPTION_DIRECTORY, "DIR", .set = set_mount, .help = "watch the recording of the mount that DIR is in" },
	{ "job", 0, OPTION_TEXT, "NAME", .field = FIELD(choice.job),
	  .help = "watch the recording of this job, or of a command that contains this text" },
	{ "once", .field = FIELD(is_once), .help = "print everything so far, and exit" },
	{ "batch", 'b', .field = FIELD(is_batch), .help = "print text, interval by interval, until the recording ends" },
	{ "delay", 'd', OPTION_DURATION, "SECONDS", .min = 100 * OPTION_MS, .max = 86400 * OPTION_S, .unit = OPTION_S,
	  .stored_unit = OPTION_MS, .field = FIELD(delay_ms), .help = "length of an interval (default: 2 s)" },
	{ "sort", 0, OPTION_CHOICE, .words = top_sort_words, .field = FIELD(view.sort),
	  .help = "the order of rows (default: time)" },
	{ "top", 'n', OPTION_COUNT, "N", .max = UINT32_MAX, .field = FIELD(view.rows), .given = FIELD(has_rows),
	  .help = "rows of each list; 0: all (default: 10, or as many as fit on the screen)" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "[TRACE]",
	.operand_type = OPTION_FILE,
	.add = add_operand,
	.check = check,
	.about = "Watch a recording while it runs.",
	.notes = "Keys: q quit; t, o, b, e, n sort by time, operations, bytes, errors, name. With TRACE, a growing or "
		 "complete trace is read instead of a session.",
};

/**
 * struct watch - the watched recording
 * @fd: of sessions; -1 if a trace was given
 * @session: number of the one that is watched
 * @path: of the trace, "" if the session has none that could be read
 * @top: of the trace
 */
struct watch {
	const struct options *options;
	int fd;
	uint64_t session;
	char path[PATH_MAX];
	struct top top;
};

static bool is_meant(const struct session *session, const struct session_choice *choice)
{
	return session_is_chosen(session, choice) && (choice->number || session->info.state == IOT_STATE_RUNNING);
}

static bool is_file(const char *path)
{
	struct stat stat_of;

	return !stat(path, &stat_of) && S_ISREG(stat_of.st_mode);
}

static int choose(struct watch *watch, const struct sessions *sessions)
{
	int i, chosen = 0;

	for (i = 0; i < sessions->count; i++) {
		const struct session *s = &sessions->list[i];

		if (!is_meant(s, &watch->options->choice))
			continue;
		chosen++;
		watch->session = s->info.session;
		snprintf(watch->path, sizeof(watch->path), "%s", *s->flight || s->info.flags & IOT_INFO_COUNTERS || !is_file(s->output) ? "" : s->output);
	}
	if (!chosen)
		return fail("no recording matches");
	return chosen > 1 ? fail("several recordings match: choose one with --session") : EXIT_DONE;
}

static int choose_session(struct watch *watch)
{
	struct sessions sessions;
	char why[512];
	int code, err;

	watch->fd = sessions_open(why, sizeof(why));
	if (watch->fd < 0)
		return fail("%s", why);
	err = sessions_load(watch->fd, &sessions);
	code = err ? sessions_fail(err, "do this") : choose(watch, &sessions);
	sessions_free(&sessions);
	return code;
}

static int open_watch(struct watch *watch)
{
	struct iot_reject reject = {};
	int err;

	watch->fd = -1;
	if (watch->options->trace)
		snprintf(watch->path, sizeof(watch->path), "%s", watch->options->trace);
	else if (choose_session(watch))
		return EXIT_FAILED;
	if (!watch->path[0])
		return EXIT_DONE;
	err = top_open(&watch->top, watch->path, &reject);
	return err ? fail_reject(watch->path, err, &reject) : EXIT_DONE;
}

static void close_watch(struct watch *watch)
{
	top_close(&watch->top);
	if (watch->fd >= 0)
		close(watch->fd);
}

static const struct session *find_session(const struct watch *watch, struct sessions *sessions)
{
	int i;

	*sessions = (struct sessions){};
	if (watch->fd < 0 || sessions_load(watch->fd, sessions))
		return NULL;
	for (i = 0; i < sessions->count; i++)
		if (sessions->list[i].info.session == watch->session)
			return &sessions->list[i];
	return NULL;
}

/* Read the available records, and format them as text. Return: an exit code; *@continues: there may be more. */
static int make_text(struct watch *watch, const struct top_view *view, char **text, bool *continues)
{
	bool has_trace = watch->path[0];
	struct iot_reject reject = {};
	struct sessions sessions;
	const struct session *session = find_session(watch, &sessions);
	struct iot_trace_info info = {};
	size_t bytes;
	FILE *out;
	int err = 0;

	if (has_trace) {
		err = top_take(&watch->top, &reject);
		iot_reader_info(watch->top.reader, &info);
	}
	*continues = has_trace ? !info.is_complete && (watch->fd < 0 || session) :
			       session && session->info.state <= IOT_STATE_RUNNING;
	out = err ? NULL : open_memstream(text, &bytes);
	if (out) {
		err = top_text(out, has_trace ? &watch->top : NULL, session, view);
		if (!has_trace)
			fputs("\nthe output of this recording cannot be read: operations are unknown\n", out);
		fclose(out);
	}
	sessions_free(&sessions);
	if (reject.reason)
		return fail_reject(watch->path, err, &reject);
	return err || !out ? fail("%s", strerror(ENOMEM)) : EXIT_DONE;
}

static int print_intervals(struct watch *watch)
{
	const struct options *options = watch->options;
	const struct timespec delay = {
		.tv_sec = (time_t)(options->delay_ms / 1000),
		.tv_nsec = (long)(options->delay_ms % 1000 * 1000000),
	};
	bool continues = true;
	char *text = NULL;
	int code;

	while (!(code = make_text(watch, &options->view, &text, &continues))) {
		fputs(text, stdout);
		free(text);
		if (fflush(stdout) || options->is_once || !continues)
			break;
		putchar('\n');
		top_begin(&watch->top);
		nanosleep(&delay, NULL);
	}
	return code;
}

static int show_intervals(struct watch *watch)
{
	struct top_view view = watch->options->view;
	bool continues = true;
	char *text = NULL;
	int code;

	if (top_screen_open())
		return fail("the terminal is not supported: use --batch or --once");
	do {
		if (!watch->options->has_rows)
			view.rows = top_screen_rows();
		code = make_text(watch, &view, &text, &continues);
		if (code)
			break;
		top_screen_show(text, &view);
		free(text);
		top_begin(&watch->top);
	} while (top_screen_wait(&view, (int)watch->options->delay_ms));
	top_screen_close();
	return code;
}

static int run(int argc, char **argv)
{
	struct options options = { .delay_ms = 2000, .view.rows = 10 };
	struct watch watch = { .options = &options };
	bool is_text;
	int code;

	options_parse(&option_table, argc, argv, &options);
	is_text = options.is_once || options.is_batch;
	iot_readers_watch(NULL); /* a screen has no line for the progress of reading */
	if (!is_text && !top_screen_is_there())
		return fail("this program was built without ncurses: use --batch or --once");
	code = open_watch(&watch);
	if (!code)
		code = is_text ? print_intervals(&watch) : show_intervals(&watch);
	close_watch(&watch);
	return code;
}

const struct cmd cmd_top = {
	.name = "top",
	.summary = "watch a recording while it runs",
	.run = run,
	.options = &option_table,
};
