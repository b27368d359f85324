/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * program.h - a program in memory: where its sections are, and whether it can be trusted.
 */
#ifndef IOTAPE_CORE_PROGRAM_H
#define IOTAPE_CORE_PROGRAM_H

#include <iotape/program.h>
#include <iotape/reject.h>

#include "core/port.h"

/**
 * struct iot_program_reader - reads operations and waits that are not in memory, see blocks.h
 * @read: copies an element of IOT_SECTION_OPS or IOT_SECTION_WAITS, or after an error zeros
 * @error: the first error, 0 before
 */
struct iot_program_reader {
	void (*read)(struct iot_program_reader *reader, u32 section, u64 index, void *unit);
	int error;
};

/**
 * struct iot_program - a program in memory, or all of it but its operations and waits
 * @bytes: all of them, NULL if each section has memory of its own
 * @byte_count: their number
 * @reader: reads operations and waits; NULL if they are in memory
 * @head: where they begin
 * @tasks: section
 * @ops: section, NULL if it is not in memory
 * @waits: section, NULL if it is not in memory
 * @latches: section
 * @objects: section
 * @tree: section
 * @strings: section
 * @facts: section
 * @extents: section
 * @xattrs: section
 * @task_count: number of tasks
 * @op_count: number of operations, of all tasks
 * @wait_count: number of waits, of all tasks
 * @latch_count: number of latches
 * @object_count: number of objects
 * @entry_count: number of entries of the tree
 * @string_bytes: length of the strings
 * @fact_count: number of facts
 * @extent_count: number of extents
 * @xattr_count: number of extended attributes
 * @handle_count: number of handle slots
 * @map_count: number of mapping slots
 *
 * The sections are used in place; numbers are little-endian and read through
 * le32_to_cpu() and its like.
 */
struct iot_program {
	const u8 *bytes;
	u64 byte_count;
	struct iot_program_reader *reader;
	const struct iot_program_head *head;
	const struct iot_program_task *tasks;
	const struct iot_program_op *ops;
	const struct iot_program_wait *waits;
	const struct iot_program_latch *latches;
	const struct iot_program_object *objects;
	const struct iot_program_entry *tree;
	const char *strings;
	const struct iot_program_fact *facts;
	const struct iot_program_extent *extents;
	const struct iot_program_xattr *xattrs;
	u32 task_count;
	u64 op_count;
	u64 wait_count;
	u32 latch_count;
	u32 object_count;
	u32 entry_count;
	u64 string_bytes;
	u32 fact_count;
	u32 extent_count;
	u32 xattr_count;
	u32 handle_count;
	u32 map_count;
};

/* Called periodically during long work: may yield the CPU; a result other than 0 ends the work with it. */
typedef int (*iot_pause_fn)(void *context);

int iot_refuse(struct iot_reject *reject, u32 reason, u64 offset_bytes);
u64 iot_section_bytes(const struct iot_program_head *head, u32 section);
s64 iot_program_size(const struct iot_program_head *head, struct iot_reject *reject);
int iot_program_open(struct iot_program *program, const void *bytes, u64 byte_count,
		     struct iot_reject *reject);
void iot_program_place(struct iot_program *program, const struct iot_program_head *head,
		       const void *const sections[IOT_SECTION_COUNT]);
int iot_program_verify(const struct iot_program *program, u32 *scratch, iot_pause_fn pause,
		       void *context, struct iot_reject *reject);
u64 iot_program_scratch_count(const struct iot_program *program);
#define IOT_LOOKUP_MAX 4096 /* bytes of a path that a look-up takes, with its zero byte: PATH_MAX of Linux */

bool iot_path_is_valid(const char *text);
size_t iot_path_piece(const char *path, size_t bytes);

static inline const char *iot_program_string(const struct iot_program *program, __le32 at_bytes)
{
	return program->strings + le32_to_cpu(at_bytes);
}

/* Do its tasks use a CPU for their `compute_ns`? Else they sleep. */
static inline bool iot_program_computes(const struct iot_program *program)
{
	return le32_to_cpu(program->head->features_incompat) & IOT_PROGRAM_COMPUTES;
}

/* The value that a setxattr sets, length_bytes long; NULL if the trace does not have it. */
static inline const void *iot_program_value(const struct iot_program *program,
					    const struct iot_program_op *op)
{
	const char *name = iot_program_string(program, op->xattr);

	return op->has_value ? name + strlen(name) + 1 : NULL;
}

/* An operation, wherever it is; @room: for one that is not in memory. */
static inline const struct iot_program_op *iot_program_op_at(const struct iot_program *program,
							     u64 index, struct iot_program_op *room)
{
	if (program->ops)
		return &program->ops[index];
	program->reader->read(program->reader, IOT_SECTION_OPS, index, room);
	return room;
}

/* The same of a wait. */
static inline const struct iot_program_wait *
iot_program_wait_at(const struct iot_program *program, u64 index, struct iot_program_wait *room)
{
	if (program->waits)
		return &program->waits[index];
	program->reader->read(program->reader, IOT_SECTION_WAITS, index, room);
	return room;
}

#endif
