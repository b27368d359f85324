/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * outcomes.h - the trace of outcomes of a local replay.
 *
 * Each task has a stream of its own in the trace and fills a buffer of its own. Full buffers, and
 * buffers older than a limit, go through a queue to the writer thread, and come
 * back empty; before a long sleep, a task hands over its buffer, too. So if the process is killed,
 * little is missing in the file. A task waits if there is no empty buffer: outcomes are lost only if the
 * trace cannot be written, and are counted then.
 *
 * Locking: `lock` for the two lists of buffers; a buffer belongs to the task that fills it, to
 * a list, or to the writer thread.
 */
#ifndef IOTAPE_OUTCOMES_H
#define IOTAPE_OUTCOMES_H

#include "lib/iotape.h"

struct outcomes;
struct outcome_buffer;
struct worker_task;
struct replay_options;

/**
 * struct outcome_stream - where the records of a task go
 * @buffer: being filled, NULL if none is
 * @sequence: number of the record that is next
 */
struct outcome_stream {
	struct outcome_buffer *buffer;
	u64 sequence;
};

#define OUTCOME_AGE_MAX_NS 1000000000ull

int outcomes_open(const struct replay_options *options, const char *last_fact,
		  struct outcomes **outcomes);
int outcomes_close(struct outcomes *outcomes, u64 *lost);

/* outcomes.c: put a record into the stream of a task; @end_ns is never less than the one before */
void outcome_put(struct worker_task *task, const struct iot_record *record, u64 end_ns);
void outcome_flush(struct worker_task *task);

/* outcome_record.c: the records. Without outcomes each function does nothing. */
void outcome_op(struct worker_task *task, const struct iot_program_op *op);
void outcome_dirent(struct worker_task *task, const struct iot_program_op *op, const char *name,
		    unsigned int type);
void outcome_played(struct worker_task *task, const struct iot_rec_played *stats);

#endif
