/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compare.h - one comparison of a strace log with a trace of the same execution.
 *
 * compare.c reads the log and keeps the records of each thread, in the order of
 * their operations; expect.c knows the records that a system call must have, and takes
 * them; rules.h has the rules by which log and trace may differ.
 */
#ifndef TRUTH_COMPARE_H
#define TRUTH_COMPARE_H

#include <stdbool.h>

#include "dump.h"
#include "names.h"
#include "process.h"
#include "rules.h"
#include "strace.h"

struct total {
	int pid;
	const char *what; /* a kind of record, or a path */
	long long strace, trace;
};

struct totals {
	struct total *items;
	long count;
};

struct comparison {
	struct log log;
	struct dump dump;
	struct tree tree;
	long applied[RULE_END];
	long differences;
	long calls;	      /* on files of the mount */
	struct call *call;    /* current */
	struct process *self; /* its caller */
	struct file **files;  /* all open file descriptions so far */
	long file_count;
	struct totals operations; /* by pid and kind */
	struct totals bytes;	  /* by path */
};

/* Expected contents of a record. NULL texts, and numbers without `has_`, match anything. */
struct want {
	const char *kind;
	const char *path;
	const struct file *file;
	struct object *object;
	bool has_result, has_offset, has_length;
	long long result, offset, length;
	const char *flags;
	const char *tail;
};

/* compare.c */
void difference(struct comparison *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void apply(struct comparison *c, enum rule rule);
struct record *peek(struct comparison *c, struct process *process);
struct record *take(struct comparison *c, struct process *process);
struct record *expect(struct comparison *c, const struct want *want);
void count_bytes(struct comparison *c, const struct file *file, bool is_write, long long bytes);
void count_record_bytes(struct comparison *c, const struct record *record);
void count_call(struct comparison *c, const char *kind);
struct file *file_open(struct comparison *c, struct object *object, const char *path);

/* expect.c, expect_process.c */
void vfs_errors_print(void);
void calls_print(void);
void call_enter(struct comparison *c);
void call_leave(struct comparison *c);
void process_begin_exit(struct comparison *c);
void process_end(struct comparison *c);

#endif
