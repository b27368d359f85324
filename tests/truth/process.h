/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process.h - the state of processes: descriptors, mappings, working directory; and the
 * threads that share it.
 */
#ifndef TRUTH_PROCESS_H
#define TRUTH_PROCESS_H

#include <stdbool.h>

#include "dump.h"
#include "names.h"

#define FDS_MAX 1024

/* An open file description of a file in the mount. */
struct file {
	struct object *object;
	struct node *node; /* if it is a directory */
	char *path;	  /* path of the open */
	long long handle; /* in the trace */
	int refs;	  /* descriptors */
	int maps;	  /* mappings, and pieces of them */
	bool is_write, is_append, is_direct, is_sync, is_dsync;
	bool is_path;	  /* O_PATH: unknown to the file system */
	bool is_released;
	bool is_position_known;
	long long position;
};

struct descriptor {
	struct file *file; /* NULL: closed, or not on the mount */
	bool is_cloexec;
};

struct files {
	int refs;
	struct descriptor fd[FDS_MAX];
};

/* A piece of a mapping of a file on the mount. */
struct area {
	unsigned long long start, end;
	long long offset;
	struct file *file;
	bool is_shared;
	struct area *next; /* by address */
};

struct memory {
	int refs;
	struct area *areas;
};

struct process { /* a thread */
	int pid;
	struct files *files;
	struct memory *memory;
	struct place cwd;
	struct record **records; /* of the trace, in the order of the entry of their operations */
	long record_count;
	long next;
	bool has_ended;
	bool is_counted; /* the log has it */
};

struct process *process_of(int pid);
struct process *process_at(int index); /* NULL after the last */
struct process *process_new(int pid);
void process_clone(struct process *child, const struct process *parent, bool shares_files,
		   bool shares_memory);
struct file *file_of(const struct process *process, int fd);
void areas_add(struct memory *memory, struct area area);
void areas_split(struct memory *memory, unsigned long long address);

#endif
