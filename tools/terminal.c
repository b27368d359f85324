// SPDX-License-Identifier: GPL-2.0-only
/*
 * terminal.c - output on a terminal: its width, colour, and the pager.
 */
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"

#define COLUMNS_MIN 40

static bool has_no_pager;
static pid_t pager; /* 0: none */

/* Standard output, or that of the pager, is a terminal. */
static bool is_terminal(FILE *out)
{
	int fd = fileno(out); /* -1 of memory */

	return (fd >= 0 && isatty(fd)) || (pager && (out == stdout || out == stderr));
}

/**
 * terminal_columns() - width of the terminal that standard output goes to
 *
 * Return: columns, at least 40; 0 if it is not a terminal.
 */
int terminal_columns(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = {};
	int result = columns ? atoi(columns) : 0;

	if (!is_terminal(stdout))
		return 0;
	if (result <= 0 && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		result = size.ws_col;
	if (result <= 0 && !ioctl(STDIN_FILENO, TIOCGWINSZ, &size)) /* standard output is the pager's */
		result = size.ws_col;
	if (result <= 0)
		return 0;
	return result < COLUMNS_MIN ? COLUMNS_MIN : result;
}

/**
 * terminal_style() - the characters that begin text of a style
 * @out: stdout or stderr
 * @style: STYLE_PLAIN ends a style
 *
 * Return: the characters; "" if @out is not a terminal, with NO_COLOR, and on terminals without colour.
 */
const char *terminal_style(FILE *out, enum terminal_style style)
{
	static const char *const begin[] = { "\033[m", "\033[1m", "\033[33m" };
	const char *no_color = getenv("NO_COLOR"), *type = getenv("TERM");

	if (!is_terminal(out) || (no_color && *no_color) || !type || !*type || !strcmp(type, "dumb"))
		return "";
	return begin[style];
}

/* -- pager ----------------------------------------------------------------------------------------- */

/**
 * terminal_without_pager() - print long output directly
 */
void terminal_without_pager(void)
{
	has_no_pager = true;
}

static bool is_in_path(const char *program)
{
	const char *path = getenv("PATH") ?: "/usr/bin:/bin";
	char name[4096];

	while (*path) {
		int length = (int)strcspn(path, ":");

		if ((size_t)snprintf(name, sizeof(name), "%.*s/%s", length, path, program) < sizeof(name) && !access(name, X_OK))
			return true;
		path += length;
		path += *path == ':';
	}
	return false;
}

/* Return: a command for the shell; NULL if output is printed directly. */
static const char *pager_command(void)
{
	const char *command = getenv("PAGER");

	if (!command)
		return is_in_path("less") ? "less" : NULL;
	return *command && strcmp(command, "cat") ? command : NULL;
}

/* Its user may read on after the last line was written. */
static void pager_wait(void)
{
	int status;

	if (!pager)
		return;
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (waitpid(pager, &status, 0) < 0)
		if (errno != EINTR)
			break;
	pager = 0;
}

static void end_of_output(void)
{
	fflush(stdout);
	pager_wait();
}

/* A command that is interrupted leaves the terminal to the pager until that has ended. */
static void on_signal(int number)
{
	pager_wait();
	signal(number, SIG_DFL);
	raise(number);
}

static void run_pager(const char *command, const int fds[2])
{
	if (dup2(fds[0], STDIN_FILENO) < 0)
		_exit(127);
	close(fds[0]);
	close(fds[1]);
	setenv("LESS", "FRX", false); /* ends if all fits, shows colour, leaves the text on the screen */
	execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(127);
}

static void redirect(const int fds[2])
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	size_t i;

	dup2(fds[1], STDOUT_FILENO);
	if (isatty(STDERR_FILENO))
		dup2(fds[1], STDERR_FILENO); /* a message stands where it belongs in the text */
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], on_signal);
	atexit(end_of_output);
}

/**
 * terminal_output_begin() - before the first line of output that may be long
 *
 * Ends the line of progress, and starts the pager if standard output is a terminal.
 */
void terminal_output_begin(void)
{
	const char *command;
	int fds[2];

	progress_end();
	if (pager || !isatty(STDOUT_FILENO))
		return;
	progress_off();
	command = has_no_pager ? NULL : pager_command();
	if (!command || pipe2(fds, O_CLOEXEC))
		return;
	fflush(stdout);
	pager = fork();
	if (!pager)
		run_pager(command, fds);
	if (pager > 0)
		redirect(fds);
	else
		pager = 0; /* printed directly */
	close(fds[0]);
	close(fds[1]);
}
