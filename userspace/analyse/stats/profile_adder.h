/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profile_adder.h - parts of profile.c: the state while a trace is added up.
 */
#ifndef IOTAPE_PROFILE_ADDER_H
#define IOTAPE_PROFILE_ADDER_H

#include <uthash.h>

#include "profile.h"

#define NO_NODE	   (~0u)

struct file {
	UT_hash_handle hh;
	u32 index;
	char path[];
};

struct task {
	UT_hash_handle hh;
	u32 id;
	u32 process; /* index */
	u32 node;    /* index, NO_NODE if that is not known */
	bool has_acted;
};

/* Tasks of a node. */
struct range {
	u32 first;
	u32 last;
	u32 node;
};

/* An object that was opened. */
struct opened {
	UT_hash_handle hh;
	u64 id;
};

/* A handle from before that only operations have shown so far. */
struct flying {
	UT_hash_handle hh;
	u64 handle;
};

/* An operation of a task. */
struct actor {
	u32 task;
	u32 op;
};

/* Of a file: the last operation on it, and the last one of another task. */
struct touches {
	struct actor last;
	struct actor other;
};

#define RECENT_COUNT 1024 /* operations that may end between the end of one and the record that it diverged */

/* An operation that has just ended. */
struct recent {
	struct actor who;
	struct actor other;
	u32 file;
};

/* Where an asynchronous request is added up: indices. */
struct request_groups {
	u32 file;
	u32 process;
	u32 node;
};

/**
 * struct adder - a profile as it grows
 * @first_task_ns: when the first task was seen
 * @first_mount_ns: when the first directory was announced
 * @page_bytes: of the recorded machine; 0 if it is not known
 * @mpi_begin_ns, @mpi_end_ns: of the first MPI call, and of the last
 * @has_mount: a directory was recorded
 * @flying: handles without an announcement, known only from operations
 * @ranges: of tasks, by node; @is_sorted
 * @touches: by file
 * @recent: a ring; @recent_at is the next place
 */
struct adder {
	struct profile *profile;
	u64 first_task_ns;
	u64 first_mount_ns;
	u64 mpi_begin_ns;
	u64 mpi_end_ns;
	u64 page_bytes;
	bool has_mount;
	struct file *files;
	struct task *tasks;
	struct opened *opened;
	struct request_pairs *requests;
	struct flying *flying;
	struct range *ranges;
	u32 range_count;
	u32 range_room;
	bool is_sorted;
	u32 node_room;
	u32 fact_room;
	u32 file_room;
	u32 process_room;
	struct touches *touches;
	u32 touch_count;
	u32 touch_room;
	struct recent recent[RECENT_COUNT];
	u32 recent_at;
};

/* diverged.c */
int adder_touch(struct adder *a, const struct iot_rec_op *op, u32 file);
int adder_diverged(struct adder *a, const struct iot_rec_divergence *r);

/* profile_groups.c */
int adder_grow(void *items, u32 count, u32 *room, size_t item_bytes);
int adder_file(struct adder *a, const char *path, u32 *index);
u32 adder_node(struct adder *a, u32 task);
int adder_take_node_fact(struct adder *a, const char *fact);
struct profile_node *adder_profile_node(struct adder *a, u32 id);
int adder_take_task(struct adder *a, const struct iot_record *r);
int adder_process(struct adder *a, u32 id, u32 *index);

#endif
