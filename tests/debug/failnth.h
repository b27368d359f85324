/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * failnth.h - operations whose allocations fail, one after the other: see failnth.c.
 */
#ifndef FAILNTH_H
#define FAILNTH_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct operation - one system call, or a few that belong together
 * @name: its name in the tests; each attempt has a directory NAME.N
 * @kind: of the record that a success makes, NULL if it does not matter
 * @file: the object of the record, in that directory; NULL: the directory itself
 * @prepare: without injection, through the lower path, so that nothing is cached above
 * @open: without injection, through the path that is tested
 * @run: with injection. Return: 0 or more, or a negative errno
 * @close: without injection: close everything that @open and @run have left open
 * @error: one that it may return instead of ENOMEM, without asking the lower file system
 * @is_loose: do not compare the state that it leaves
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

/* Where an attempt works: in a directory of its own, seen through both paths. */
extern char upper[], lower[];
extern const char *program_path, *mount_source;

const char *in(const char *directory, const char *name);
long result_of(long returned);
void must(bool holds, const char *what);
void make_file(const char *name, size_t bytes);

/* failnth.c: allocation N of the calling thread fails from now on; what is left of N */
void arm(unsigned int n);
unsigned int disarm(void);

#endif
