/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * change.h - the operations of a pattern while they are changed. Private to change*.c.
 */
#ifndef IOTAPE_PATTERN_CHANGE_H
#define IOTAPE_PATTERN_CHANGE_H

#include "pattern/task_walk.h"

/**
 * struct step - an operation
 * @event: its texts belong to the change
 * @think_ns, @duration_ns: the means of its times
 * @times: in the pattern that it was read from; NULL without times
 * @is_dropped: it is left out
 * @is_taken: it belongs to a call that it is not nested in, see change_requests.h
 */
struct step {
	struct event event;
	u64 think_ns;
	u64 duration_ns;
	const struct run_times *times;
	bool is_dropped;
	bool is_taken;
};

/**
 * struct actor - a task
 */
struct actor {
	u64 facts[TASK_FACT_COUNT];
	struct step *steps;
	u64 count;
	u64 room;
};

/**
 * struct change - a change of a pattern
 * @changed: operations, or sequences of them, that are other ones
 * @is_moved: data get other places or files
 * @has_more_waits: ranks wait for each other in calls in which they did not before
 * @is_regrouped: other ranks move the data of collective calls; it is allowed that tasks access data that others wrote in one
 * @distributions, @distribution_count: of the times of steps that are not numbers of ns, see STREAM_DISTRIBUTION; the caller's
 */
struct change {
	struct actor *actors;
	u64 actor_count;
	void **texts;
	size_t text_count;
	size_t text_room;
	u64 changed;
	bool is_moved;
	bool has_more_waits;
	bool is_regrouped;
	struct distribution **distributions;
	u32 distribution_count;
	struct pattern_refusal *refusal;
};

/* Data of a file that a task accesses. */
struct extent {
	const char *path;
	u64 generation;
	u64 actor;
	u64 begin;
	u64 end;
	bool is_write;
};

struct extents {
	struct extent *items;
	size_t count;
	size_t room;
};

/* change.c */
int change_refuse(struct change *c, const struct event *event, const char *why);
void *change_memory(struct change *c, size_t bytes);
const char *change_text(struct change *c, const char *text);
u64 *change_field(struct event *event, const char *name);
int change_add_step(struct actor *actor, const struct step *step);
int change_read_pattern(struct change *c, const struct pattern *p);
int change_write_pattern(const struct change *c, const struct pattern *from, struct pattern **made);
void change_close(struct change *c);

/* change_rebuild.c */
int change_rebuild(const struct pattern *pattern, int (*edit)(struct change *c), struct pattern **made);

/* change_extents.c */
bool extent_of(const struct event *event, u64 actor, struct extent *extent);
int extents_of(const struct change *c, struct extents *extents);
void extents_sort(struct extents *extents);
u64 extents_overlap(struct extents *extents);
void extents_merge(struct extents *extents);
bool extents_are_same(const struct extents *a, const struct extents *b);

/* change_files.c */
int change_to_shared(struct change *c);
int change_to_private(struct change *c);

/* change_collective.c */
int change_to_independent(struct change *c, u64 block_bytes);
int change_aggregators(struct change *c, const char *value);

/* change_coordination.c */
int change_to_collective(struct change *c);
int change_check_calls(struct change *c);

/* change_nonblocking.c */
int change_to_blocking(struct change *c);

/* change_directories.c */
int change_directories(struct change *c);

#endif
