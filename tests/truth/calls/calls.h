/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls.h - one of each system call, with a label before each.
 *
 * A label is an absent name that is looked up, so that it stands in the trace between the
 * records; tests/truth/table makes a table of that, and compares it with the one in
 * Documentation/visibility.md. What only prepares a call comes after a label "-".
 *
 *	CALL("label", what is recorded under it);
 */
#ifndef TRUTH_CALLS_H
#define TRUTH_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The directory is the working directory; `old` is in it, with files never looked at. */
extern char directory[];
extern int directory_fd;

static inline void label(const char *text)
{
	char name[256];
	struct stat stat;

	snprintf(name, sizeof(name), "case:%s", text);
	fstatat(directory_fd, name, &stat, AT_SYMLINK_NOFOLLOW);
}

#define CALL(text, ...)      \
	do {                 \
		label(text); \
		__VA_ARGS__; \
		label("-");  \
	} while (0)

static inline void must(int line, const char *what, int is_true)
{
	if (is_true)
		return;
	fprintf(stderr, "calls: line %d: %s: %s\n", line, what, strerror(errno));
	exit(1);
}
#define MUST(condition) must(__LINE__, #condition, !!(condition))

/* A file with contents, that is not open. */
static inline void make(const char *name)
{
	static char block[8192];
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);

	MUST(fd >= 0 && write(fd, block, sizeof(block)) == sizeof(block) && !close(fd));
}

static inline int make_open(const char *name)
{
	int fd;

	make(name);
	fd = open(name, O_RDWR);
	MUST(fd >= 0);
	return fd;
}

/* Runs code in a child that leaves by _exit(), and waits. */
#define IN_CHILD(...)                             \
	do {                                      \
		pid_t child__ = fork();           \
		if (!child__) {                   \
			__VA_ARGS__;              \
			_exit(0);                 \
		}                                 \
		waitpid(child__, NULL, 0);        \
	} while (0)

void calls_of_names(void);
void calls_of_attributes(void);
void calls_of_files(void);
void calls_of_requests(void);
void calls_of_maps(void);
void calls_of_processes(void);

#endif
