/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls.h - makes each system call once, with a label before it.
 *
 * A label is a lookup of an absent name, which separates the records of two calls in the
 * trace. tests/truth/table turns the trace into a table and compares it with that in
 * Documentation/visibility.md. The label "-" precedes preparations.
 *
 *	CALL("label", statement whose records follow the label);
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

/* The working directory. Its subdirectory `old` has files that have never been looked up. */
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

/* Creates a file with contents, and closes it. */
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

/* Runs code in a child that ends with _exit(), and waits for it. */
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
