// SPDX-License-Identifier: GPL-2.0-only
/*
 * browser.c - a page as PDF, by an installed browser of the Chromium family, without a window.
 *
 * The browser gets a directory of its own for the page, its profile and its messages: a browser that runs already would
 * take over the page otherwise. A signal that ends this process is held back until the browser has ended and the
 * directory is removed.
 */
#include "browser.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"

#define BROWSER_MAX_MS 180000
#define PDF_MAX_BYTES  (1ul << 30)
#define ADDRESS_BYTES  (3 * PATH_MAX + 8)

/* Of wait_for(). */
#define TOO_LONG    -1
#define INTERRUPTED -2

extern char **environ;

static const char *const browsers[] = { "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome" };

/* Paths of one call. */
struct print {
	char directory[PATH_MAX - 32];
	char page[PATH_MAX];
	char pdf[PATH_MAX];
	char log[PATH_MAX];
};

/* -- the directory ---------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *stat, int type, struct FTW *at)
{
	(void)stat;
	(void)type;
	(void)at;
	return remove(path);
}

static int print_open(struct print *print, const char *page, size_t bytes)
{
	const char *in = getenv("TMPDIR");
	int err;

	if (!in || *in != '/')
		in = "/tmp";
	if (snprintf(print->directory, sizeof(print->directory), "%s/iotape-report.XXXXXX", in) >= (int)sizeof(print->directory)) {
		print->directory[0] = 0;
		return fail("%s: %s", in, strerror(ENAMETOOLONG));
	}
	if (!mkdtemp(print->directory)) {
		print->directory[0] = 0;
		return fail("%s: no directory can be created in it: %s", in, strerror(errno));
	}
	snprintf(print->page, sizeof(print->page), "%s/report.html", print->directory);
	snprintf(print->pdf, sizeof(print->pdf), "%s/report.pdf", print->directory);
	snprintf(print->log, sizeof(print->log), "%s/log", print->directory);
	err = iot_file_save(print->page, page, bytes);
	return err ? fail("%s: %s", print->page, strerror(-err)) : EXIT_DONE;
}

/* -- signals ---------------------------------------------------------------------------------------- */

/* Those that the caller ignores remain ignored. */
static void hold_signals(sigset_t *held, sigset_t *before)
{
	static const int endings[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	struct sigaction action;
	size_t i;

	sigemptyset(held);
	for (i = 0; i < ARRAY_SIZE(endings); i++)
		if (!sigaction(endings[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(held, endings[i]);
	sigprocmask(SIG_BLOCK, held, before);
}

/* -- the browser ------------------------------------------------------------------------------------ */

/* The address of a file. Characters such as # have a meaning in addresses. */
static void make_address(const char *path, char address[ADDRESS_BYTES])
{
	size_t at = (size_t)sprintf(address, "file://");

	for (; *path; path++)
		if (isalnum((unsigned char)*path) || strchr("/-._~", *path))
			address[at++] = *path;
		else
			at += (size_t)sprintf(address + at, "%%%02X", (unsigned char)*path);
	address[at] = 0;
}

/* @signals: blocked in the browser. Return: 0 or a positive errno; ENOENT if none of the browsers is installed. */
static int start(const struct print *print, const sigset_t *signals, pid_t *pid)
{
	char profile[PATH_MAX + 32], output[PATH_MAX + 32], address[ADDRESS_BYTES];
	const char *arguments[] = {
		NULL, "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--window-size=800,1400", "--virtual-time-budget=20000",
		"--no-pdf-header-footer", profile, output, geteuid() ? address : "--no-sandbox", geteuid() ? NULL : address, NULL,
	};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int err = ENOENT;
	size_t i;

	snprintf(profile, sizeof(profile), "--user-data-dir=%s/profile", print->directory);
	snprintf(output, sizeof(output), "--print-to-pdf=%s", print->pdf);
	make_address(print->page, address);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, print->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, signals);
	for (i = 0; i < ARRAY_SIZE(browsers) && err == ENOENT; i++) {
		arguments[0] = browsers[i];
		err = posix_spawnp(pid, browsers[i], &actions, &attributes, (char *const *)arguments, environ);
	}
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

/* Return: its wait status; TOO_LONG, or INTERRUPTED by a signal of @held. Its processes are gone in all cases. */
static int wait_for(pid_t pid, const sigset_t *held)
{
	struct pollfd fds[] = {
		{ .fd = pidfd_open(pid, 0), .events = POLLIN },
		{ .fd = signalfd(-1, held, SFD_CLOEXEC), .events = POLLIN },
	};
	int ready = fds[0].fd < 0 ? 1 : poll(fds, ARRAY_SIZE(fds), BROWSER_MAX_MS), status = ready > 0 ? INTERRUPTED : TOO_LONG;
	bool has_ended = fds[0].fd < 0 || fds[0].revents;
	size_t i;

	if (has_ended)
		waitpid(pid, &status, 0);
	kill(-pid, SIGKILL);
	if (!has_ended)
		waitpid(pid, NULL, 0);
	for (i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i].fd >= 0)
			close(fds[i].fd);
	return status;
}

/* The whole file. Return: its contents, to be freed; NULL if there are none. */
static char *read_file(const char *path, size_t most, size_t *bytes)
{
	FILE *in = fopen(path, "re");
	struct stat stat;
	char *text = NULL;

	*bytes = 0;
	if (in && !fstat(fileno(in), &stat) && stat.st_size > 0 && (size_t)stat.st_size <= most)
		text = malloc((size_t)stat.st_size + 1);
	if (text) {
		*bytes = fread(text, 1, (size_t)stat.st_size, in);
		text[*bytes] = 0;
	}
	if (in)
		fclose(in);
	return text;
}

/* The last line of its messages has the reason. */
static int fail_browser(const struct print *print, const char *output, int status)
{
	size_t bytes;
	char *log = read_file(print->log, 1 << 20, &bytes), *line;
	int code;

	while (log && bytes && strchr("\n ", log[bytes - 1]))
		log[--bytes] = 0;
	line = log ? strrchr(log, '\n') : NULL;
	line = line ? line + 1 : log;
	if (status == TOO_LONG)
		code = fail("%s: the browser did not write it within %d s", output, BROWSER_MAX_MS / 1000);
	else
		code = fail("%s: the browser did not write it (%s %d)%s%s", output, WIFSIGNALED(status) ? "signal" : "exit code",
			    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), line ? ": " : "", line ?: "");
	free(log);
	return code;
}

static int save(const struct print *print, const char *output, int status)
{
	size_t bytes;
	char *pdf = read_file(print->pdf, PDF_MAX_BYTES, &bytes);
	int err, code = EXIT_DONE;

	if (status == INTERRUPTED) {
		code = EXIT_FAILED;
	} else if (status || !pdf || bytes < 5 || memcmp(pdf, "%PDF-", 5)) {
		code = fail_browser(print, output, status);
	} else {
		err = iot_file_save(output, pdf, bytes);
		if (err)
			code = fail("%s: %s", output, strerror(-err));
	}
	free(pdf);
	return code;
}

/**
 * browser_print() - write a page as PDF
 * @page: its HTML
 * @output: the file to write, which is replaced as a whole
 *
 * Return: an exit code; a failure was printed.
 */
int browser_print(const char *page, size_t bytes, const char *output)
{
	struct print print = {};
	sigset_t held, before;
	int code, err;
	pid_t pid;

	hold_signals(&held, &before);
	code = print_open(&print, page, bytes);
	if (!code) {
		err = start(&print, &before, &pid);
		if (err == ENOENT)
			code = fail("%s: no browser is installed that can write PDF: install chromium, or print the HTML report in another browser",
				    output);
		else if (err)
			code = fail("%s: the browser cannot be started: %s", output, strerror(err));
		else
			code = save(&print, output, wait_for(pid, &held));
	}
	if (print.directory[0])
		nftw(print.directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return code;
}
