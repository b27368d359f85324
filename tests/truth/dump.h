/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dump.h - a trace, as `iotape dump --all --json` prints it.
 */
#ifndef TRUTH_DUMP_H
#define TRUTH_DUMP_H

#include <stdbool.h>

#define FIELDS_MAX 32

struct field {
	const char *key;
	char *text; /* unescaped; a number as its digits */
};

/* One line. */
struct record {
	const char *kind;
	long line;
	struct field fields[FIELDS_MAX];
	int field_count;
	int pid;       /* thread that did it, 0 if the record is not one of a task */
	long task;     /* its id in the trace */
	long op;       /* number of the operation in the task, 0 if it is no operation */
	long parent;   /* the operation it is nested in, or 0 */
	bool is_taken; /* the comparison is through with it */
};

struct dump {
	struct record *records;
	long count;
	char error[200];
};

int dump_read(const char *path, struct dump *dump);
const char *record_text(const struct record *record, const char *key);
long long record_number(const struct record *record, const char *key);

#endif
