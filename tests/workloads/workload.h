/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * workload.h - shared by the workloads: options, checks, random numbers, contents of files.
 *
 * A workload is PROGRAM [--OPTION=NUMBER]... DIRECTORY. It does the same in every run,
 * prints its findings, which are the same in every run, too, and exits with 0 only if they are right.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An option: --NAME=NUMBER if @value is set, --NAME=TEXT if @text is, --NAME if @flag is. */
struct workload_option {
	const char *name;
	long *value;
	const char **text;
	bool *flag;
	const char *sentence;
};

__attribute__((noreturn, format(printf, 3, 4)))
static inline void workload_fail(const char *file, int line, const char *format, ...)
{
	int err = errno;
	va_list list;

	fflush(stdout);
	fprintf(stderr, "%s: line %d: ", file, line);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fprintf(stderr, " (errno %s)\n", err ? strerrorname_np(err) : "0");
	_exit(1);
}

/* A condition that must hold. */
#define CHECK(condition)                                                                   \
	do {                                                                               \
		if (!(condition))                                                          \
			workload_fail(program_invocation_short_name, __LINE__, "%s",        \
				      #condition);                                         \
	} while (0)

/* A call that must fail with a given error. */
#define CHECK_ERRNO(call, expected)                                                        \
	do {                                                                               \
		errno = 0;                                                                 \
		if ((call) != -1 || errno != (expected))                                   \
			workload_fail(program_invocation_short_name, __LINE__,              \
				      "%s: not %s", #call, #expected);                     \
	} while (0)

/* The outcome of a call that some file systems do not support. */
static inline const char *workload_outcome(long result)
{
	return result < 0 ? strerrorname_np(errno) : "done";
}

static inline void workload_help(const char *what, const struct workload_option *option)
{
	char form[64];

	printf("usage: %s [OPTION]... DIRECTORY\n\n%s\n\n", program_invocation_short_name, what);
	for (; option->name; option++) {
		snprintf(form, sizeof(form), "--%s%s", option->name,
			 option->value ? "=N" : option->text ? "=FILE" : "");
		printf("  %-18s %s", form, option->sentence);
		if (option->value)
			printf(" [%ld]", *option->value);
		putchar('\n');
	}
	printf("  %-18s print this text\n\nexit code: 0 done, 1 failed, 2 usage\n", "--help");
}

static inline bool workload_take(const char *argument, const struct workload_option *option)
{
	size_t length = strlen(option->name);
	char *end = NULL;

	if (strncmp(argument, option->name, length))
		return false;
	argument += length;
	if (option->flag && !*argument)
		return *option->flag = true;
	if (*argument++ != '=' || option->flag)
		return false;
	if (option->text)
		return *(*option->text = argument);
	*option->value = strtol(argument, &end, 10);
	return *argument && !*end && *option->value >= 0;
}

/* Return: the directory to work in. */
static inline const char *workload_options(int argc, char **argv, const char *what,
					   const struct workload_option *options)
{
	const struct workload_option *option;
	const char *directory = NULL;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help")) {
			workload_help(what, options);
			exit(0);
		}
		if (strncmp(argv[i], "--", 2)) {
			directory = argv[i];
			continue;
		}
		for (option = options; option->name; option++)
			if (workload_take(argv[i] + 2, option))
				break;
		if (!option->name) {
			fprintf(stderr, "%s: %s: unknown option, see --help\n",
				program_invocation_short_name, argv[i]);
			exit(2);
		}
	}
	if (!directory) {
		fprintf(stderr, "%s: no directory given, see --help\n", program_invocation_short_name);
		exit(2);
	}
	return directory;
}

/* Pseudo-random numbers, the same in every run (splitmix64). */
static inline uint64_t workload_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static inline long workload_below(uint64_t *state, long limit)
{
	return (long)(workload_random(state) % (uint64_t)limit);
}

/* The numbers from 0 to @count - 1 in a random order. */
static inline void workload_shuffle(uint64_t *state, long *order, long count)
{
	long i, j, other;

	for (i = 0; i < count; i++)
		order[i] = i;
	for (i = count - 1; i > 0; i--) {
		j = workload_below(state, i + 1);
		other = order[i];
		order[i] = order[j];
		order[j] = other;
	}
}

/* The data at an offset of a file: depends on the offset and on the writer. */
static inline uint64_t workload_word(long tag, int64_t offset_bytes)
{
	uint64_t state = (uint64_t)tag << 40 ^ (uint64_t)(offset_bytes >> 3);

	return workload_random(&state);
}

static inline void workload_fill(void *buffer, size_t bytes, long tag, int64_t offset_bytes)
{
	uint64_t word = workload_word(tag, offset_bytes);
	unsigned char *p = buffer;
	size_t i;

	for (i = 0; i < bytes; i++, offset_bytes++) {
		if (!(offset_bytes & 7))
			word = workload_word(tag, offset_bytes);
		p[i] = (unsigned char)(word >> (offset_bytes & 7) * 8);
	}
}

static inline bool workload_is(const void *buffer, size_t bytes, long tag, int64_t offset_bytes)
{
	uint64_t word = workload_word(tag, offset_bytes);
	const unsigned char *p = buffer;
	size_t i;

	for (i = 0; i < bytes; i++, offset_bytes++) {
		if (!(offset_bytes & 7))
			word = workload_word(tag, offset_bytes);
		if (p[i] != (unsigned char)(word >> (offset_bytes & 7) * 8))
			return false;
	}
	return true;
}

static inline bool workload_is_zero(const void *buffer, size_t bytes)
{
	const unsigned char *p = buffer;

	while (bytes && !p[bytes - 1])
		bytes--;
	return !bytes;
}

#endif
