/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slots.h - slots of open files and of mappings, of the thread engine.
 *
 * The order of a program makes sure that a handle is opened before it is used and released
 * after. But a program may be wrong, and the number of a descriptor that was closed under
 * a user may be another file's a moment later: so every use takes a reference, one atomic
 * operation on a line of the slot's own.
 *
 *   users of a slot	0 empty, SLOT_BUSY being changed by one task, else references: one of
 *			the slot itself and one of each use
 */
#ifndef IOTAPE_SLOTS_H
#define IOTAPE_SLOTS_H

#include "local_replay.h"

#define HOLES_MAX 16
#define SLOT_BUSY 0xffffffffu

/**
 * struct handle - an open file
 * @users: see above
 * @is_held: the slot has its reference; the task that clears it drops the reference, once
 * @fd: the descriptor
 * @flags: O_APPEND and O_DIRECT as they are set
 */
struct handle {
	u32 users;
	u32 is_held;
	int fd;
	int flags;
} __attribute__((aligned(64)));

/**
 * struct map - a mapping
 * @users: see above
 * @hole_count: number of @holes
 * @advice: of the last touch, IOT_TOUCH_random or IOT_TOUCH_sequential
 * @address: where it begins
 * @offset_bytes: where it begins in the file
 * @length_bytes: its length, whole pages
 * @left_bytes: length of the part that is still mapped
 * @holes: ranges of the file, whole pages, that are not mapped any more
 */
struct map {
	u32 users;
	u32 hole_count;
	u32 advice;
	char *address;
	u64 offset_bytes;
	u64 length_bytes;
	u64 left_bytes;
	struct {
		u64 offset_bytes;
		u64 length_bytes;
	} holes[HOLES_MAX];
} __attribute__((aligned(64)));

int handle_fill(struct worker_task *task, __le32 slot, int fd, int flags);
int handle_get(struct worker_task *task, __le32 slot, struct handle **handle);
void handle_put(struct handle *handle);
int handle_empty(struct worker_task *task, __le32 slot);

int map_fill(struct worker_task *task, __le32 slot, char *address, u64 offset_bytes,
	     u64 length_bytes);
int map_get(struct worker_task *task, __le32 slot, u64 offset_bytes, u64 length_bytes,
	    struct map **map, char **address);
void map_put(struct map *map);
int map_cut(struct worker_task *task, __le32 slot, u64 offset_bytes, u64 length_bytes);

#endif
