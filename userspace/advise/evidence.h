/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * evidence.h - numbers behind the hints, while a trace is read. Private to this directory.
 *
 * Memory grows with the number of files, of pairs of a file and a process, of written MiB, of pages read by major
 * faults, and of collective calls on MPI files.
 */
#ifndef IOTAPE_ADVISE_EVIDENCE_H
#define IOTAPE_ADVISE_EVIDENCE_H

#include <stdbool.h>
#include <uthash.h>

#include "advise.h"
#include "analyse/stats/actors.h"
#include "analyse/stats/access_order.h"

/**
 * struct subject - a file or directory, by path
 * @hits: counted operations, by enum advise_hint
 * @first_process: that accessed its data, if @has_data
 * @is_written, @is_shared: its data, by several processes
 * @version: changes of its attributes or data so far
 * @births: how often its name was removed or replaced so far
 * @processes: of a directory: those that have a private file in it
 */
struct subject {
	UT_hash_handle hh;
	u64 hits[ADVISE_HINT_COUNT];
	u64 first_process;
	u64 version;
	u64 births;
	u64 processes;
	bool has_data;
	bool is_written;
	bool is_shared;
	char path[];
};

struct pair_key {
	const struct subject *subject;
	u64 number; /* a process, or an offset */
};

/**
 * struct pair - a subject and a process
 * @opened, @queried: 1 more than births, or version, of the subject when the process opened or queried it last; or 0
 * @unsynced: writes since its last fsync
 * @is_owner: of a directory: the process has a private file in it
 */
struct pair {
	UT_hash_handle hh;
	struct pair_key key;
	u64 opened;
	u64 queried;
	u64 unsynced;
	bool is_owner;
};

/**
 * struct block - a piece of a file
 * @process: that wrote to it last; not used for pages
 */
struct block {
	UT_hash_handle hh;
	struct pair_key key;
	u64 process;
};

/* A handle with advice: POSIX_FADV_* as in records. */
struct advised {
	UT_hash_handle hh;
	u64 handle;
	u32 advice;
};

/* A process that is a rank. */
struct rank {
	UT_hash_handle hh;
	u64 process;
	u32 rank;
	u64 bytes;
	u64 time_ns;
};

/* A file of MPI, by its key. */
struct mpi_file {
	UT_hash_handle hh;
	u64 key;
	struct subject *subject; /* NULL if its name is not known */
	u64 first_process;
	bool is_shared;
	u64 calls;
	u64 independent;
};

/* Operations of a task inside of collective calls on MPI files: numbers behind @first, up to @last, ascending. */
struct collective {
	u32 first;
	u32 last;
};

struct collectives {
	UT_hash_handle hh;
	u32 task;
	struct collective *spans;
	u32 count;
};

struct tally {
	u64 count;
	u64 whole;
};

struct evidence {
	struct advise *advise;
	struct tally tallies[ADVISE_HINT_COUNT];
	struct actors actors;
	struct patterns patterns;
	struct subject *subjects;
	struct pair *pairs;
	struct block *blocks;
	struct block *pages;
	struct advised *advised;
	struct rank *ranks;
	struct mpi_file *mpi_files;
	struct collectives *collectives;
	u64 rank_time_ns;
	u64 fsyncs; /* that made a single write durable */
	u32 classes; /* that were recorded: bits */
	bool has_filter;
};

/**
 * struct operation - an operation on a file, and the meaning of its ids
 * @subject: NULL if its path is not known
 */
struct operation {
	const struct iot_record *record;
	struct subject *subject;
	u64 process;
};

/* evidence.c */
int evidence_subject(struct evidence *e, const char *path, size_t bytes, struct subject **subject);
int evidence_directory(struct evidence *e, const char *path, struct subject **subject);
struct pair *evidence_pair(struct evidence *e, const struct subject *subject, u64 process);
struct block *evidence_block(struct block **table, const struct subject *subject, u64 index, bool *is_new);
void evidence_count(struct evidence *e, enum advise_hint hint, struct subject *subject, bool is_counted);
u64 evidence_process(const struct evidence *e, u32 task);
void evidence_free(struct evidence *e);

/* requests.c */
int requests_take(struct evidence *e, struct iot_names *names, const struct operation *o);

/* files.c */
int files_take(struct evidence *e, struct iot_names *names, const struct operation *o);
int files_finish(struct evidence *e);

/* ranks.c */
int ranks_open(struct evidence *e);
int ranks_take_span(struct evidence *e, const struct iot_record *record);
int ranks_take_call(struct evidence *e, const struct iot_record *record);
void ranks_take(struct evidence *e, const struct iot_record *record);
void ranks_finish(struct evidence *e);

/* verdicts.c */
int verdicts_make(struct evidence *e);

#endif
