/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * failnth.h - operations whose allocations are made to fail one after the other: see failnth.c.
 */
#ifndef FAILNTH_H
#define FAILNTH_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct operation - one system call, or a few related ones
 * @name: its name in the tests; each attempt has a directory NAME.N
 * @kind: kind of the record of a success, NULL if it does not matter
 * @file: the object of the record in that directory; NULL: the directory itself
 * @prepare: without injection, through the lower path, so that nothing is cached above
 * @open: without injection, through the tested path
 * @run: with injection. Return: 0 or more, or a negative errno
 * @close: without injection: close everything that @open and @run have opened
 * @error: an error that it may return instead of ENOMEM, without asking the lower file system
 * @is_loose: do not compare the resulting state
 */
struct operation {
	const char *name;
	const char *kind;
	const char *file;
	void (*prepare)(void);
	void (*open)(void);
	long (*run)(void);
	void (*close)(void);
	int error;
	bool is_loose;
};

extern const struct operation file_operations[], map_operations[], module_operations[];

/* The place of an attempt: a directory of its own, by both paths. */
extern char upper[], lower[];
extern const char *program_path, *mount_source;

const char *in(const char *directory, const char *name);
long result_of(long returned);
void must(bool holds, const char *what);
void make_file(const char *name, size_t bytes);

/* failnth.c: let allocation N of the calling thread fail; get the remaining number */
void arm(unsigned int n);
unsigned int disarm(void);

#endif
