/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dump.h - a trace in the format of `iotape dump --all --json`.
 */
#ifndef TRUTH_DUMP_H
#define TRUTH_DUMP_H

#include <stdbool.h>

#define FIELDS_MAX 32

struct field {
	const char *key;
	char *text; /* unescaped; digits for a number */
};

/* One line. */
struct record {
	const char *kind;
	long line;
	struct field fields[FIELDS_MAX];
	int field_count;
	int pid;       /* thread of the operation, 0 if the record does not belong to a task */
	long task;     /* id of the task in the trace */
	long op;       /* number of the operation in its task, 0 for an event */
	long parent;   /* enclosing operation, or 0 */
	bool is_taken; /* already compared */
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
