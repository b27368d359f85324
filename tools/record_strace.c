// SPDX-License-Identifier: GPL-2.0-only
/*
 * record_strace.c - iotape record --engine=strace: run a command under strace, and import the log.
 */
#include "record_strace.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "import/import.h"
#include "import_text.h"
#include "launcher.h"

#define NOT_FOUND 127

/* Names that this machine does not have are ignored: ?name. Return: to be freed; NULL without memory. */
static char *list_calls(void)
{
	const char *name, *before = "trace=";
	char *text = NULL;
	size_t bytes, i;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (i = 0; (name = import_call_at(i)); i++) {
		fprintf(out, "%s?%s", before, name);
		before = ",";
	}
	return fclose(out) ? NULL : text;
}

/* As a shell finds it, so that the exit code can tell a missing command from a failure of strace. */
static bool is_found(const char *command)
{
	const char *path = getenv("PATH") ?: "/usr/bin:/bin", *end;
	char name[PATH_MAX];

	if (strchr(command, '/'))
		return !access(command, F_OK);
	for (; path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		snprintf(name, sizeof(name), "%.*s/%s", (int)(end - path), path, command);
		if (!access(name, X_OK))
			return true;
	}
	return false;
}

static bool is_empty(const char *path)
{
	struct stat stat_of;

	return !stat(path, &stat_of) && !stat_of.st_size;
}

/* The command has inherited it. */
static u32 umask_now(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return mask;
}

static int import(const struct record_options *options, const char *const *facts, char *log, const char *calibration, bool is_quiet)
{
	struct import_options import = {
		.has_umask = true,
		.umask = umask_now(),
		.facts = facts,
		.format = "strace",
		.logs = &log,
		.log_count = 1,
		.trace = options->output,
		.calibration = calibration,
		.roots = (char **)options->mounts,
		.root_count = (size_t)options->mount_count,
	};
	struct import_summary summary;
	int err = import_logs(&import, &summary);

	if (err)
		say("%s; the log of strace is %s", summary.message, log);
	else if (!is_quiet)
		say("%s: %llu operations of %llu tasks, from %llu system calls", options->output, summary.operations, summary.tasks,
		    summary.calls);
	if (!err && !is_quiet)
		import_say_gaps(&summary);
	import_summary_free(&summary);
	return err;
}

/*
 * The log is private, as a trace is. strace opens it by the descriptor of this process, not by its name, at which another
 * user may have put something else. Return: 0, or an exit code if the command did not run.
 */
static int run_command(char **command, const char *log, int *status)
{
	char why[PATH_MAX + 256], real[PATH_MAX], opened[64], *calls = list_calls();
	int fd = iot_output_open(log, real), err;

	if (fd < 0 || !calls) {
		free(calls);
		if (fd >= 0)
			close(fd);
		return fail("%s: %s", log, strerror(fd < 0 ? -fd : ENOMEM));
	}
	snprintf(opened, sizeof(opened), "/proc/%d/fd/%d", getpid(), fd);
	err = strace_run(command, opened, calls, status, why, sizeof(why));
	close(fd);
	free(calls);
	if (err)
		return fail("%s", why);
	if (!is_empty(log))
		return 0;
	*status = 0; /* of strace, which has printed the reason */
	return EXIT_FAILED;
}

/* A log of a program that makes only short calls shows the time that strace takes. Return: it worked. */
static bool measure_strace(const char *log)
{
	char *command[] = { "dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=2000", "status=none", NULL };
	int status;

	return is_found(command[0]) && !run_command(command, log, &status) && !status;
}

static int record_to(const struct record_options *options, const char *const *facts, char *log, const char *calibration, bool is_quiet,
		     int *status)
{
	bool is_calibrated = calibration && measure_strace(calibration);
	int code = run_command(options->command, log, status);

	if (code) {
		unlink(log);
	} else if (import(options, facts, log, is_calibrated ? calibration : NULL, is_quiet)) {
		code = EXIT_FAILED;
	} else {
		unlink(log);
	}
	if (calibration)
		unlink(calibration);
	return code;
}

/**
 * record_with_strace() - run a command under strace and write a trace of its system calls
 * @options: command, directories and output count; others apply to recordings in the kernel
 * @facts: about the run, with its creator, and NULL behind the last
 * @is_calibrated: measure the time that strace takes first; otherwise the log shows a lower bound
 * @is_quiet: print no summary
 *
 * The log exists, beside the output, until it is imported; and after an error, so that nothing is lost.
 *
 * Return: the exit code of the command; if it is 0, or the command did not run, that of the recording.
 */
int record_with_strace(const struct record_options *options, const char *const *facts, bool is_calibrated, bool is_quiet)
{
	char *log, *calibration;
	int status = 0, code;

	if (!is_found(options->command[0])) {
		say("%s: %s", options->command[0], strerror(ENOENT));
		return NOT_FOUND;
	}
	if (launcher_is(options->command[0]))
		say("warning: MPI calls are not recorded by strace: iotape record --mpi-only records them");
	if (asprintf(&log, "%s.strace", options->output) < 0 || asprintf(&calibration, "%s.zero", log) < 0)
		return fail("%s", strerror(ENOMEM));
	code = record_to(options, facts, log, is_calibrated ? calibration : NULL, is_quiet, &status);
	free(log);
	free(calibration);
	return status ? exit_as(status) : code;
}
