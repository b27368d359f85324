// SPDX-License-Identifier: GPL-2.0-only
/*
 * outcomes.c - buffers of records on their way to the trace.
 */
#include "outcomes.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "collectord/collectord.h"
#include "local_replay.h"

#define BUFFER_BYTES  (32 << 10)
#define BUFFERS_EXTRA 64 /* besides one for each task: 2 MiB that may wait to be written */

struct outcome_buffer {
	struct outcome_buffer *next;
	u32 stream;
	u32 count;
	u64 sequence;
	u64 first_ns;
	u64 last_ns;
	size_t used_bytes;
	u8 records[BUFFER_BYTES - 48];
};

static_assert(sizeof(struct outcome_buffer) == BUFFER_BYTES, "buffers are whole pages");

/**
 * struct outcomes - a trace of outcomes being written
 * @collection: the trace
 * @buffers: all of them; memory that was never used takes no place
 * @buffer_bytes: length of @buffers
 * @lock: of the following members
 * @filled: a buffer was put into the queue, or nothing follows
 * @emptied: a buffer became free
 * @first: the queue
 * @last: its end
 * @free: buffers that are empty again, the one used last first
 * @fresh: the first of those that were never used
 * @is_ending: nothing follows
 * @writer: the thread that writes
 * @lost: records that could not be written
 * @err: why
 */
struct outcomes {
	struct collection *collection;
	struct outcome_buffer *buffers;
	size_t buffer_bytes;
	pthread_mutex_t lock;
	pthread_cond_t filled;
	pthread_cond_t emptied;
	struct outcome_buffer *first;
	struct outcome_buffer *last;
	struct outcome_buffer *free;
	struct outcome_buffer *fresh;
	bool is_ending;
	pthread_t writer;
	u64 lost;
	int err;
};

/* -- the thread that writes ------------------------------------------------------------------- */

/* Return: the next buffer, the caller's from now on; NULL if nothing follows. */
static struct outcome_buffer *next_filled(struct outcomes *outcomes)
{
	struct outcome_buffer *buffer;

	pthread_mutex_lock(&outcomes->lock);
	while (!outcomes->first && !outcomes->is_ending)
		pthread_cond_wait(&outcomes->filled, &outcomes->lock);
	buffer = outcomes->first;
	if (buffer)
		outcomes->first = buffer->next;
	pthread_mutex_unlock(&outcomes->lock);
	return buffer;
}

static void give_back(struct outcomes *outcomes, struct outcome_buffer *buffer)
{
	pthread_mutex_lock(&outcomes->lock);
	buffer->next = outcomes->free;
	outcomes->free = buffer;
	pthread_cond_signal(&outcomes->emptied);
	pthread_mutex_unlock(&outcomes->lock);
}

/*
 * Buffers that cannot be written are lost; but tasks continue, as they would without a trace of
 * outcomes.
 */
static void write_buffer(struct outcomes *outcomes, const struct outcome_buffer *buffer)
{
	const struct iot_chunk_head what = {
		.raw_bytes = cpu_to_le32((u32)buffer->used_bytes),
		.stream = cpu_to_le32(buffer->stream),
		.count = cpu_to_le32(buffer->count),
		.sequence = cpu_to_le64(buffer->sequence),
		.first_ns = cpu_to_le64(buffer->first_ns),
		.last_ns = cpu_to_le64(buffer->last_ns),
	};

	if (!outcomes->err)
		outcomes->err = collection_add(outcomes->collection, &what, buffer->records);
	if (outcomes->err)
		outcomes->lost += buffer->count;
}

static void *write_buffers(void *argument)
{
	struct outcomes *outcomes = argument;
	struct outcome_buffer *buffer;

	while ((buffer = next_filled(outcomes))) {
		write_buffer(outcomes, buffer);
		give_back(outcomes, buffer);
	}
	return NULL;
}

/* -- tasks ------------------------------------------------------------------------------------ */

/* With the lock. Return: NULL if there is none. */
static struct outcome_buffer *pop_free(struct outcomes *outcomes)
{
	struct outcome_buffer *buffer = outcomes->free;

	if (buffer)
		outcomes->free = buffer->next;
	else if ((u8 *)outcomes->fresh < (u8 *)outcomes->buffers + outcomes->buffer_bytes)
		buffer = outcomes->fresh++;
	return buffer;
}

static struct outcome_buffer *take_free(struct worker_task *task)
{
	struct outcomes *outcomes = task->local->outcomes;
	struct outcome_buffer *buffer;

	pthread_mutex_lock(&outcomes->lock);
	buffer = pop_free(outcomes);
	if (!buffer)
		task->step.stats.stalls++;
	while (!buffer) {
		pthread_cond_wait(&outcomes->emptied, &outcomes->lock);
		buffer = pop_free(outcomes);
	}
	pthread_mutex_unlock(&outcomes->lock);
	buffer->stream = task->number;
	buffer->sequence = task->outcome.sequence;
	buffer->count = 0;
	buffer->used_bytes = 0;
	return buffer;
}

/**
 * outcome_flush() - pass the records of a task to the writer
 */
void outcome_flush(struct worker_task *task)
{
	struct outcome_buffer *buffer = task->outcome.buffer;
	struct outcomes *outcomes = task->local->outcomes;

	if (!buffer)
		return;
	task->outcome.buffer = NULL;
	buffer->next = NULL;
	pthread_mutex_lock(&outcomes->lock);
	if (outcomes->first)
		outcomes->last->next = buffer;
	else
		outcomes->first = buffer;
	outcomes->last = buffer;
	pthread_cond_signal(&outcomes->filled);
	pthread_mutex_unlock(&outcomes->lock);
}

void outcome_put(struct worker_task *task, const struct iot_record *record, u64 end_ns)
{
	struct outcome_buffer *buffer = task->outcome.buffer;
	s32 bytes = -ENOSPC;

	if (buffer && end_ns - buffer->first_ns < OUTCOME_AGE_MAX_NS)
		bytes = iot_record_encode(buffer->records + buffer->used_bytes,
					  sizeof(buffer->records) - buffer->used_bytes, record);
	if (bytes == -ENOSPC) {
		outcome_flush(task);
		buffer = take_free(task);
		task->outcome.buffer = buffer;
		buffer->first_ns = end_ns;
		bytes = iot_record_encode(buffer->records, sizeof(buffer->records), record);
	}
	if (bytes < 0) /* it would be larger than a record may be: there are none */
		return;
	buffer->used_bytes += (size_t)bytes;
	buffer->last_ns = end_ns;
	buffer->count++;
	task->outcome.sequence++;
}

/* -- the trace -------------------------------------------------------------------------------- */

static int make_buffers(struct outcomes *outcomes, u32 tasks)
{
	outcomes->buffer_bytes = (tasks + (size_t)BUFFERS_EXTRA) * sizeof(*outcomes->buffers);
	outcomes->buffers = mmap(NULL, outcomes->buffer_bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (outcomes->buffers == MAP_FAILED) {
		outcomes->buffers = NULL;
		return -errno;
	}
	outcomes->fresh = outcomes->buffers;
	return 0;
}

static void outcomes_free(struct outcomes *outcomes)
{
	if (outcomes->buffers)
		munmap(outcomes->buffers, outcomes->buffer_bytes);
	pthread_cond_destroy(&outcomes->emptied);
	pthread_cond_destroy(&outcomes->filled);
	pthread_mutex_destroy(&outcomes->lock);
	free(outcomes);
}

/**
 * outcomes_open() - begin a trace of outcomes
 * @options: of the replay: its output, program and facts
 * @last_fact: the last fact, at the end of the trace; see struct collector_options
 * @outcomes: out: to be freed by outcomes_close()
 *
 * Return: 0 or a negative errno.
 */
int outcomes_open(const struct replay_options *options, const char *last_fact,
		  struct outcomes **outcomes)
{
	const struct collector_options about = {
		.path = options->output,
		.facts = options->facts,
		.last_fact = last_fact,
		.program = options->program,
	};
	struct outcomes *o = calloc(1, sizeof(*o));
	int err;

	if (!o)
		return -ENOMEM;
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->filled, NULL);
	pthread_cond_init(&o->emptied, NULL);
	err = make_buffers(o, options->program->task_count);
	if (!err)
		err = collection_open(&about, &o->collection);
	if (!err) {
		err = -pthread_create(&o->writer, NULL, write_buffers, o);
		if (err)
			collection_close(o->collection, 0);
	}
	if (err)
		outcomes_free(o);
	else
		*outcomes = o;
	return err;
}

/**
 * outcomes_close() - all tasks have ended: finish the trace
 * @outcomes: freed
 * @lost: out: records that were not written
 *
 * Return: 0; a negative errno if the trace could not be written as a whole.
 */
int outcomes_close(struct outcomes *outcomes, u64 *lost)
{
	int err, closed;

	pthread_mutex_lock(&outcomes->lock);
	outcomes->is_ending = true;
	pthread_cond_signal(&outcomes->filled);
	pthread_mutex_unlock(&outcomes->lock);
	pthread_join(outcomes->writer, NULL);
	err = outcomes->err;
	*lost = outcomes->lost;
	closed = collection_close(outcomes->collection, *lost);
	outcomes_free(outcomes);
	return err ? err : closed;
}
