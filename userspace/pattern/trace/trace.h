/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - a trace that is made from a pattern. Private to trace*.c.
 *
 * A pattern has neither identifiers nor the order between tasks. Both are made up: tasks run in simulated time, which advances by
 * the mean of think times and durations; collective calls and messages of MPI make them wait, and so does a name that
 * another task has yet to create.
 */
#ifndef IOTAPE_PATTERN_TRACE_H
#define IOTAPE_PATTERN_TRACE_H

#include <uthash.h>

#include "pattern/task_walk.h"

#define TRACE_DEPTH_MAX 16

struct life_key {
	struct place *place;
	u64 generation;
};

/**
 * struct life - an object, by path and generation
 * @is_created: an operation of some task creates it
 * @is_found: a look-up finds it
 * @uses: operations by this name that are still to come, without those that remove the name
 * @absences: operations to come that do not find the next object of the path, which is not there yet
 * @borrowed: operations to come on handles that other tasks opened
 * @borrowed_maps: likewise on mappings
 * @size_bytes: of a file that exists at the beginning: the minimum that reads and queries require
 * @written_bytes: end of the data that have been written
 * @writes: operations to come that write
 * @is_sized: its size does not only follow from its data
 */
struct life {
	UT_hash_handle hh;
	bool is_created;
	bool is_found;
	bool is_written;
	bool has_size;
	bool is_sized;
	u64 uses;
	u64 absences;
	u64 borrowed;
	u64 borrowed_maps;
	u64 size_bytes;
	u64 written_bytes;
	u64 writes;
	struct life_key key;
};

/**
 * struct place - a path
 * @name: id, 0 if it has not been announced
 * @dir: object that the name is in
 * @object: that is there now, 0 if there is none
 * @generation: of it, or of the last one
 * @type: an enum iot_type
 * @is_target: a rename or link puts an object there
 */
struct place {
	UT_hash_handle hh;
	u64 name;
	u64 dir;
	u64 object;
	u32 generation;
	u32 type;
	bool is_target;
	char path[];
};

/**
 * struct open_handle - an open file description
 * @task: that opened it
 * @process: its process
 * @opened_ns: when the operation that opened it ended
 */
struct open_handle {
	UT_hash_handle hh;
	u64 id;
	u64 object;
	u32 generation;
	bool is_released;
	u32 task;
	u64 process;
	u64 opened_ns;
	struct place *place;
};

/**
 * struct mapping - a file in the memory of a process
 * @task: that mapped it
 * @process: its process
 * @begin_bytes, @end_bytes: of the file; @left_bytes of them have not been removed
 * @mapped_ns: when the operation that mapped it ended
 * @life: the object as the pattern names it
 */
struct mapping {
	UT_hash_handle hh;
	u64 id;
	u32 task;
	u64 process;
	u64 begin_bytes;
	u64 end_bytes;
	s64 left_bytes;
	u64 mapped_ns;
	u64 object;
	struct life *life;
};

/* A process that opens an object. */
struct opener_key {
	struct life *life;
	u64 process;
};

struct opener {
	UT_hash_handle hh;
	struct opener_key key;
};

/* A collective call, by communicator and number; or messages by communicator, ranks and tag. */
struct meeting_key {
	u64 comm;
	u64 number; /* of a collective, or the tag */
	u64 from;   /* rank plus 1, of messages */
	u64 to;
};

struct meeting {
	UT_hash_handle hh;
	struct meeting_key key;
	u64 count; /* arrivals, or messages that have not been received */
	u64 last_ns;
	struct player *waiters;
};

/* A communicator as a task knows it. */
struct membership {
	u64 key;
	u64 rank;
	u64 ranks;
};

/* A request that has begun. */
struct pending {
	u64 id;
	u64 comm; /* of a receive, else 0 */
	u64 rank;
};

/**
 * struct player - a task that runs
 * @position: in the pattern
 * @now_ns: when its last operation ended
 * @next_ns: when the next one begins
 * @is_waiting: for an object that another task creates, or still uses, since it was last in front
 * @waiters: the list of waiting tasks that it is in; NULL: in none
 * @next_waiter: in that list
 * @op: number of its last operation
 * @nesting: numbers of the operations that the next one may be nested in, by depth
 * @handles: ids by role, 0 if the role is free; likewise @maps,
 *	whose lengths are @mapped_bytes
 * @comms: communicators by role; found before the run
 * @requests: by role
 * @life: object of its last operation by a path
 * @held: calls on MPI files whose nested operations have not all come, by depth
 */
struct player {
	struct events *events;
	const struct group *group;
	u32 id;
	u32 position;
	u64 facts[TASK_FACT_COUNT];
	struct event event;
	u32 run;
	bool has_event;
	bool has_arrived;
	bool is_waiting;
	struct player **waiters;
	struct player *next_waiter;
	u64 now_ns;
	u64 next_ns;
	u32 op;
	u32 nesting[TRACE_DEPTH_MAX];
	struct numbers handles;
	struct numbers maps;
	struct numbers mapped_bytes;
	struct membership *comms;
	u32 comm_count;
	struct pending *requests;
	u32 request_count;
	struct life *life;
	struct iot_record held[TRACE_DEPTH_MAX];
	char *held_tail[TRACE_DEPTH_MAX];
	bool is_held[TRACE_DEPTH_MAX];
};

/**
 * struct synthesis - a trace that is being made
 * @players: by position
 * @heap: of tasks that may run, @heap_count of them
 * @name_waiters: tasks that wait for an operation on a name
 * @last_ns: the latest beginning of an operation so far
 * @end_ns: when the operation that runs ends
 * @done_ns: when the operation that ran last ended
 * @is_copied: ranges of files are copied, which write files that their operations do not name
 * @broken: waits that were given up, because all tasks waited
 * @writer: of the trace; NULL if only the waits are of interest
 */
struct synthesis {
	const struct pattern *pattern;
	struct iot_writer *writer;
	struct player *players;
	u32 player_count;
	struct player **heap;
	u32 heap_count;
	struct player *name_waiters;
	struct life *lives;
	struct place *places;
	struct open_handle *handles;
	struct opener *openers;
	struct mapping *mappings;
	struct meeting *meetings;
	u64 next_id;
	u64 last_ns;
	u64 end_ns;
	u64 done_ns;
	bool is_copied;
	u64 broken;
	struct pattern_refusal *refusal;
};

/* trace_world.c: names, objects and handles */
int world_learn(struct synthesis *s, struct player *player, const struct event *event);
bool world_is_ready(struct synthesis *s, struct player *player);
u64 world_since_ns(struct synthesis *s, struct player *player);
int world_fill(struct synthesis *s, struct player *player, struct iot_record *record);
int world_finish(struct synthesis *s);
void world_free(struct synthesis *s);

/* trace_ranks.c: communicators and waits */
int ranks_learn(struct synthesis *s);
bool ranks_is_ready(struct synthesis *s, struct player *player, u64 *ready_ns, struct player ***waiters);
int ranks_fill(struct synthesis *s, struct player *player, struct iot_record *record);
void ranks_free(struct synthesis *s);

/* trace_queue.c: the order in which tasks run */
int queue_open(struct synthesis *s);
void queue_add(struct synthesis *s, struct player *player);
struct player *queue_take(struct synthesis *s);
void queue_wait(struct player *player, struct player **waiters);
void queue_release(struct synthesis *s, struct player **waiters);
struct player *queue_give_up(struct synthesis *s);

/* trace.c */
u64 trace_field(const struct event *event, const char *name);
void trace_set(struct iot_record *record, const char *name, u64 value);
int trace_put(struct synthesis *s, const struct iot_record *record);
int trace_put_op(struct synthesis *s, struct player *player, struct iot_record *record, u32 depth);
int trace_refuse(struct synthesis *s, const struct player *player, const struct event *event, const char *why);

#endif
