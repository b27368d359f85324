/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream.h - the canonical stream of a trace, task by task.
 */
#ifndef IOTAPE_PATTERN_STREAM_H
#define IOTAPE_PATTERN_STREAM_H

#include "shape.h"
#include "times.h"

/* A think time or duration that is not a number of ns, but a part of the distribution with this index. */
#define STREAM_DISTRIBUTION (1ull << 63)

/**
 * struct stream_task - a task and its operations
 * @facts: by enum task_fact
 * @shapes: of its operations, by number
 * @operands: of all of them, one operation after the other
 * @think_ns: for each, the time since the end of the one before
 * @duration_ns: for each, how long it took
 */
struct stream_task {
	u64 facts[TASK_FACT_COUNT];
	struct numbers shapes;
	struct numbers operands;
	struct numbers think_ns;
	struct numbers duration_ns;
};

/**
 * struct stream - the canonical stream of a trace
 * @info: of the trace
 * @omissions: omissions of the trace, and of the pattern
 * @shapes: of all operations
 * @tasks: in the order of their ranks
 * @operations: number of operations of all tasks so far
 * @world, @world_ranks: key of the first MPI_COMM_WORLD, 0 if there are no ranks, and its number of ranks
 * @has_worlds: there is another one
 * @digest: hash of the operations
 * @distributions, @distribution_count: of times; the caller's
 */
struct stream {
	struct iot_trace_info info;
	struct iot_omissions omissions;
	struct shapes shapes;
	struct stream_task *tasks;
	u32 task_count;
	u64 operations;
	u64 world;
	u64 world_ranks;
	bool has_worlds;
	u8 digest[32];
	struct distribution *const *distributions;
	u32 distribution_count;
};

/* A task is complete. Return: 0 or a negative errno, which ends the reading. */
typedef int (*stream_take_task)(void *context, struct stream *stream, u32 task);

int stream_read(const char *path, stream_take_task take, void *context, struct stream **stream, struct iot_reject *reject);
void stream_forget_task(struct stream *stream, u32 task);
void stream_clear(struct stream *stream);
void stream_free(struct stream *stream);

/* For streams that are made otherwise than from a trace. */
int stream_add_event(struct stream *stream, struct stream_task *task, const struct event *event, struct widths *widths);

#endif
