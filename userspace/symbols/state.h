/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the parts of a struct symbols: stacks, mappings, objects and perf maps.
 */
#ifndef IOTAPE_SYMBOLS_STATE_H
#define IOTAPE_SYMBOLS_STATE_H

#include <uthash.h>

#include "core/trace/build_id.h"
#include "core/trace/stack.h"
#include "symbols.h"

#define FRAMES_MAX (1 + IOT_STACK_NEAR_MAX + IOT_STACK_CALLERS_MAX)

/* A stack, and its frames once they were requested. */
struct stack {
	UT_hash_handle hh;
	u64 id;
	u32 process;
	u32 near;
	u32 count;
	u64 words[IOT_STACK_WORDS_MAX];
	bool is_resolved;
	u32 frame_count;
	struct symbols_frame *frames;
};

/**
 * struct object - a program or library
 * @path: as recorded
 * @build: build id as digits, "" if not known
 * @ino, @dev: of the file
 * @elf: it is open, see objects.c; NULL if it is not the same file here
 * @is_tried: @elf was looked for
 */
struct object {
	struct object *next;
	char *path;
	char build[2 * IOT_BUILD_ID_MAX_BYTES + 1];
	u64 ino;
	u64 dev;
	struct elf *elf;
	bool is_tried;
};

/* A part of an object in the memory of a process. */
struct code {
	u64 address;
	u64 length_bytes;
	u64 offset_bytes;
	struct object *object;
};

struct process {
	UT_hash_handle hh;
	u32 task;
	u32 pid; /* 0 if not known */
	struct code *codes;
	u32 code_count;
	struct perf_map *map; /* NULL if there is none */
	bool is_map_tried;
};

/* The stack of the next operation of a task. */
struct pending {
	UT_hash_handle hh;
	u32 task;
	u32 op;
	u64 stack;
};

/* How a function finds its frame. */
enum frame_rule {
	FRAME_UNKNOWN,
	FRAME_BY_STACK,	  /* by the stack pointer */
	FRAME_BY_POINTER, /* by the frame pointer */
	FRAME_IN_LINK,	  /* it has none: the return address is in the link register */
};

struct symbols {
	struct stack *stacks;
	struct process *processes;
	struct object *objects;
	struct pending *pending;
	u64 real_ns; /* wall clock at the start of the trace */
};

/* objects.c */
void object_find(struct object *object, u64 offset_bytes, bool is_return, struct symbols_frame *frame);
enum frame_rule object_frame(struct object *object, u64 offset_bytes, bool is_return, u64 *bytes);
void object_close(struct object *object);

/* perf_map.c */
struct perf_map *perf_map_read(u32 pid, u64 since_ns);
const char *perf_map_find(const struct perf_map *map, u64 address);
void perf_map_close(struct perf_map *map);

#endif
