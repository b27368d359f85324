// SPDX-License-Identifier: GPL-2.0-only
/*
 * discover_resume.c - the traces of an interrupted search, which a later one continues.
 *
 * Traces of runs are in OUTPUT.run0, OUTPUT.run1 and so on. A trace that is not complete is that of the run that was
 * interrupted. All others must be of the same command in the same directories.
 *
 * Another user that can write to the directory could put a file there, which would decide the result. Therefore a trace
 * that another user may have written is refused, and is read by one descriptor.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "discover_search.h"

#define NS_PER_S 1000000000ull

/**
 * struct kept - a trace of an earlier search
 * @what: its facts that must be those of this search, a line each
 * @has_delay, @thread: whether it was made with delays, and of which thread
 */
struct kept {
	char what[16384];
	size_t bytes;
	bool has_delay;
	u32 thread;
};

static bool begins_with(const char *text, const char *beginning)
{
	return !strncmp(text, beginning, strlen(beginning));
}

static void add_line(struct kept *kept, const char *key, const char *value)
{
	size_t room = sizeof(kept->what) - kept->bytes;
	int bytes = snprintf(kept->what + kept->bytes, room, "%s%s\n", key, value);

	kept->bytes += bytes < 0 || (size_t)bytes >= room ? room - 1 : (size_t)bytes;
}

static int take(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct kept *kept = context;
	char fact[4096];

	(void)names;
	if (record->kind != IOT_KIND_fact)
		return 0;
	snprintf(fact, sizeof(fact), "%.*s", (int)record->tail_bytes, (const char *)record->tail);
	if (begins_with(fact, "command=") || begins_with(fact, "directory=") || begins_with(fact, "mount="))
		add_line(kept, "", fact);
	if (begins_with(fact, IOT_FACT_DELAY "=")) {
		kept->has_delay = true;
		sscanf(fact, IOT_FACT_DELAY "=thread=%u", &kept->thread);
	}
	return 0;
}

/* The facts that iotape record adds for this search. */
static void expect(const struct discover_options *options, struct kept *kept)
{
	char command[2048] = "", path[PATH_MAX];
	size_t at = 0;
	unsigned int i;

	for (i = 0; options->command[i] && at < sizeof(command) - 1; i++)
		at += (size_t)snprintf(command + at, sizeof(command) - at, "%s%s", i ? " " : "", options->command[i]);
	*kept = (struct kept){};
	add_line(kept, "command=", command);
	add_line(kept, "directory=", getcwd(path, sizeof(path)) ? path : "?");
	for (i = 0; i < options->mount_count; i++)
		add_line(kept, "mount=", realpath(options->mounts[i], path) ? path : options->mounts[i]);
	if (!options->mount_count)
		add_line(kept, "mount=", getcwd(path, sizeof(path)) ? path : "?");
}

/* The file of the command, found as execvp() does. Return: false if there is none. */
static bool find_program(const char *command, struct stat *st)
{
	const char *list = getenv("PATH"), *end;
	char path[PATH_MAX];

	if (strchr(command, '/'))
		return !stat(command, st);
	for (; list; list = *end ? end + 1 : NULL) {
		end = strchrnul(list, ':');
		snprintf(path, sizeof(path), "%.*s/%s", (int)(end - list), list, command);
		if (!access(path, X_OK))
			return !stat(path, st);
	}
	return false;
}

static bool is_older_than_program(const struct discover_options *options, u64 real_ns)
{
	struct stat st;

	return find_program(options->command[0], &st) && (u64)st.st_mtim.tv_sec * NS_PER_S + (u64)st.st_mtim.tv_nsec > real_ns;
}

/* Is the trace one of this search? */
static int check_kept(const struct search *search, const struct kept *kept, const struct iot_trace_info *info)
{
	static struct kept expected;

	expect(search->options, &expected);
	if (strcmp(kept->what, expected.what))
		return fail("%s: the trace of another command, or of other directories; without --resume, the search begins again",
			    search->trace);
	if (kept->has_delay != (search->run > 0))
		return fail("%s: a trace %s delays: it is not of this search", search->trace, kept->has_delay ? "with" : "without");
	if (is_older_than_program(search->options, info->real_ns))
		return fail("%s: older than %s; without --resume, the search begins again", search->trace, search->options->command[0]);
	return EXIT_DONE;
}

/* Return: a descriptor of the trace; a negative errno: -ENOENT if it does not exist, and other errors after a message. */
static int open_kept(struct search *search)
{
	const char *why;
	int fd = iot_file_open_own(search->trace, &why);

	if (fd >= 0)
		snprintf(search->source, sizeof(search->source), "/proc/self/fd/%d", fd);
	else if (why)
		fail("%s: %s: --resume reads only regular files of the caller to which no other user can write", search->trace, why);
	else if (fd != -ENOENT)
		fail("%s: %s", search->trace, strerror(-fd));
	return fd;
}

/* @search: with an opened trace. Return: as take_kept(). */
static int take_opened(struct search *search, bool *is_end)
{
	static struct kept kept;
	struct iot_reject reject = {};
	struct iot_trace_info info = {};
	int code;

	kept = (struct kept){};
	if (iot_trace_walk(search->source, take, &kept, &info, &reject) || !info.is_complete) {
		if (!search->options->is_quiet)
			say("%s: not complete: the run is repeated", search->trace);
		return EXIT_DONE;
	}
	*is_end = false;
	code = check_kept(search, &kept, &info);
	return code ? code : search_compare(search, kept.thread);
}

/* Return: an exit code; sets @is_end if the trace does not exist, or is not complete, and must be made. */
static int take_kept(struct search *search, bool *is_end)
{
	bool is_first = !search->run;
	int fd, code;

	search_name_trace(search);
	*is_end = true;
	fd = open_kept(search);
	if (fd < 0)
		return fd == -ENOENT ? EXIT_DONE : EXIT_FAILED;
	code = take_opened(search, is_end);
	if (!is_first || *is_end) /* the trace of the first run is read again */
		close(fd);
	return code;
}

/**
 * search_resume() - take the runs of an interrupted search
 * @search: new; afterwards at the first run that is missing
 *
 * Return: an exit code; a failure if a trace is not one of this search.
 */
int search_resume(struct search *search)
{
	bool is_end;
	int code;

	do {
		code = take_kept(search, &is_end);
	} while (!code && !is_end);
	if (!code && search->run && !search->options->is_quiet)
		say("runs taken from the interrupted search: %u", search->run);
	return code;
}
