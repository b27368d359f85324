/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * builder.h - programs built by hand: task after task, operation after operation.
 *
 *	struct builder b = {};
 *	builder_open(&b);
 *	builder_task(&b);
 *	builder_op(&b, IOT_KIND_mkdir)->path = builder_string(&b, "d");
 *	builder_wait(&b, 0, 7);			the previous operation waits
 *	u8 *bytes = builder_bytes(&b, &byte_count);
 *
 * Calls abort() if memory is exhausted: these are tests.
 */
#ifndef IOTAPE_TEST_BUILDER_H
#define IOTAPE_TEST_BUILDER_H

#include "core/replay/program.h"

struct builder {
	struct iot_program_head head;
	struct {
		u8 *bytes;
		size_t count;
		size_t room;
	} sections[IOT_SECTION_COUNT];
};

void builder_open(struct builder *b);
void builder_close(struct builder *b);

/* Each returns the new entry, valid until the next call for the same section. */
struct iot_program_task *builder_task(struct builder *b);
struct iot_program_op *builder_op(struct builder *b, u16 kind);
struct iot_program_wait *builder_wait(struct builder *b, u32 task, u32 index);
/* With one path, or two, and the result in the trace. */
struct iot_program_op *op_on_path(struct builder *b, u16 kind, const char *path, s64 result);
struct iot_program_op *op_on_paths(struct builder *b, u16 kind, const char *path, const char *path2, s64 result);
struct iot_program_latch *builder_latch(struct builder *b, u32 signals);
struct iot_program_object *builder_object(struct builder *b, u64 origin, const char *path);
struct iot_program_entry *builder_entry(struct builder *b, const char *path, u32 mode);
struct iot_program_extent *builder_extent(struct builder *b, u32 entry, u64 offset, u64 length);
struct iot_program_xattr *builder_xattr(struct builder *b, u32 entry, const char *name,
					const char *value);
struct iot_program_fact *builder_fact(struct builder *b, const char *key, const char *value);
__le32 builder_string(struct builder *b, const char *text);

/* The bytes of an .irp file, to be freed by the caller. */
u8 *builder_bytes(const struct builder *b, size_t *byte_count);

/* After a change: correct all checksums of sections that are in the file. */
void program_seal(u8 *bytes, size_t byte_count);

/* A program with an operation of every kind, all sections, request queues, latches and waits. */
void builder_fill(struct builder *b);

#endif
