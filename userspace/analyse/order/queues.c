// SPDX-License-Identifier: GPL-2.0-only
/*
 * queues.c - asynchronous requests: one request queue for each request that a task had in flight concurrently.
 *
 * A request queue is a series of requests of a task, none of which began before the one before it
 * had ended. It is a task of the graph of its own, with an operation `complete` for each
 * request, which ends when the request has. The way in which the program learned of an end is not
 * recorded, so these operations wait for ends:
 *
 *	submit		the end before it in its request queue
 *	other		operations of the task: all ends before it
 *	wait		for an end for which the task waited (life.c knows): think time
 *			begins there
 *
 * How many requests a program has under way at once is its own limit, which a fast storage hides: each
 * request has ended there before the next one is submitted. But a program reuses a buffer only
 * after it has learned of the end of the previous request with it. So a task that reuses the same
 * buffers gets as many request queues as buffers, and a submit waits for the oldest request. For
 * other tasks the trace shows only the maximum number of requests under way: a submit takes the
 * request queue with the newest end.
 *
 * Operations of other tasks on the same file wait for it by order_rules.c, as for any operation.
 */
#include <stdlib.h>
#include <uthash.h>

#include "analyse/graph/graph.h"
#include "order_passes.h"

/* An id that is known: of a request, with its place in graph.requests, or of a handle. */
struct known {
	UT_hash_handle hh;
	u64 id;
	u32 index;
};

/**
 * struct queue - a request queue of the current task
 * @task: its index
 * @end_ns: of its last request
 * @waited: requests of it that the task has waited for
 * @submitted: place of its last request among all of the task
 */
struct queue {
	u32 task;
	u32 waited;
	u32 submitted;
	u64 end_ns;
};

struct queuer {
	struct graph *graph;
	struct known *requests;
	struct known *handles;
	struct known *memory; /* that the task has used so far */
	u32 memory_count;
	bool uses_memory_again;
	u32 submitted;
	u32 task;
	struct queue *queues;
	u32 queue_count;
	u32 queue_room;
};

static int known_add(struct known **table, u64 id, u32 index)
{
	struct known *known;

	HASH_FIND(hh, *table, &id, sizeof(id), known);
	if (known)
		return 0;
	known = calloc(1, sizeof(*known));
	if (!known)
		return -ENOMEM;
	known->id = id;
	known->index = index;
	HASH_ADD(hh, *table, id, sizeof(known->id), known);
	return 0;
}

static const struct known *known_find(const struct known *table, u64 id)
{
	struct known *known;

	HASH_FIND(hh, table, &id, sizeof(id), known);
	return known;
}

static void known_free(struct known **table)
{
	struct known *known, *next;

	HASH_ITER (hh, *table, known, next) {
		HASH_DEL(*table, known);
		free(known);
	}
}

/* Which requests ended, and which handles there are: without both a request is left out. */
static int learn(struct queuer *l)
{
	const struct graph *graph = l->graph;
	u32 i, j;
	int err = 0;

	for (i = 0; i < graph->request_count && !err; i++)
		err = known_add(&l->requests, graph->requests[i].id, i);
	for (i = 0; i < graph->task_count && !err; i++)
		for (j = 0; j < graph->tasks[i].op_count && !err; j++)
			if (graph->tasks[i].ops[j].kind == IOT_KIND_open &&
			    graph->tasks[i].ops[j].result >= 0)
				err = known_add(&l->handles, graph->tasks[i].ops[j].handle, 0);
	return err;
}

static struct graph_op *op_at(const struct queuer *l, u32 index)
{
	return &l->graph->tasks[l->task].ops[index];
}

/* Minimum average uses of a buffer for the number of buffers to show the maximum number of requests. */
#define USES_MIN 4

static int memory_learn(struct queuer *l, u32 memory)
{
	if (!memory || known_find(l->memory, memory))
		return 0;
	l->memory_count++;
	return known_add(&l->memory, memory, 0);
}

static void memory_forget(struct queuer *l)
{
	known_free(&l->memory);
	l->memory_count = 0;
}

/* Does the task use few pieces of memory for many requests? */
static int memory_survey(struct queuer *l)
{
	const struct graph_task *t = &l->graph->tasks[l->task];
	u32 j, submits = 0;
	bool is_known = true;
	int err = 0;

	for (j = 0; j < t->op_count && !err; j++) {
		if (t->ops[j].kind != IOT_KIND_submit)
			continue;
		submits++;
		is_known &= t->ops[j].mode != 0;
		err = memory_learn(l, t->ops[j].mode);
	}
	l->uses_memory_again = is_known && l->memory_count <= submits / USES_MIN;
	memory_forget(l);
	return err;
}

/* May a request begin although all that were submitted before it are still under way? */
static bool has_memory_left(const struct queuer *l)
{
	return l->uses_memory_again && l->queue_count < l->memory_count;
}

static bool is_better(const struct queuer *l, const struct queue *queue, const struct queue *than)
{
	if (!than)
		return true;
	return l->uses_memory_again ? queue->submitted < than->submitted : queue->end_ns > than->end_ns;
}

/* The request queue to wait for before an operation, of those that were free in the trace; NULL if there is none. */
static struct queue *free_queue(const struct queuer *l, u64 by_ns)
{
	struct queue *best = NULL;
	u32 i;

	for (i = 0; i < l->queue_count && !has_memory_left(l); i++)
		if (l->queues[i].end_ns <= by_ns && is_better(l, &l->queues[i], best))
			best = &l->queues[i];
	return best;
}

static struct queue *queue_add(struct queuer *l)
{
	struct queue *queue;

	if (l->queue_count == l->queue_room) {
		u32 room = l->queue_room ? 2 * l->queue_room : 16;
		struct queue *queues = reallocarray(l->queues, room, sizeof(*queues));

		if (!queues)
			return NULL;
		l->queues = queues;
		l->queue_room = room;
	}
	queue = &l->queues[l->queue_count];
	*queue = (struct queue){};
	if (graph_queue_make(l->graph, l->task, &queue->task))
		return NULL;
	l->queue_count++;
	return queue;
}

/* The operation waits for the end of the last request of a request queue, if its task has not. */
static int wait_for_last(struct queuer *l, struct queue *queue, struct graph_op *op)
{
	u32 count = l->graph->tasks[queue->task].op_count;

	if (queue->waited == count)
		return 0;
	queue->waited = count;
	return graph_edge_add(l->graph, queue->task, count - 1, op, EDGE_request);
}

static void count_bytes(struct graph *graph, const struct graph_op *op, s64 result)
{
	if (result > 0)
		*(op->flags & IOT_RW_write ? &graph->write_bytes : &graph->read_bytes) += (u64)result;
}

/* The end of a request, as an operation of its request queue. */
static int put_complete(struct queuer *l, const struct queue *queue, u32 index,
			struct graph_request *request)
{
	struct graph_op *complete = graph_op_add(l->graph, queue->task);
	struct graph_op *submit = op_at(l, index);

	if (!complete)
		return -ENOMEM;
	request->queue = queue->task;
	request->index = l->graph->tasks[queue->task].op_count - 1;
	submit->event = queue->task;
	submit->extra = (u64)request->result;
	complete->kind = IOT_KIND_complete;
	complete->enter_ns = request->end_ns;
	complete->end_ns = request->end_ns;
	complete->object = submit->object;
	complete->file = submit->file;
	complete->handle = submit->handle;
	complete->offset_bytes = submit->offset_bytes;
	complete->length_bytes = submit->length_bytes;
	complete->old_size_bytes = submit->old_size_bytes;
	complete->flags = submit->flags;
	complete->number = submit->number;
	complete->result = request->result;
	count_bytes(l->graph, submit, request->result);
	return graph_edge_add(l->graph, l->task, index, complete, EDGE_request);
}

static int put_submit(struct queuer *l, u32 index)
{
	struct graph_op *op = op_at(l, index);
	const struct known *known = known_find(l->requests, op->other);
	struct queue *queue;
	int err = memory_learn(l, op->mode);

	op->mode = 0;
	op->event = GRAPH_NONE;
	if (err)
		return err;
	if (!known || !known_find(l->handles, op->handle))
		return 0; /* it will be counted as not expressed */
	queue = free_queue(l, op->enter_ns);
	if (queue)
		err = wait_for_last(l, queue, op);
	else
		queue = queue_add(l);
	if (!queue)
		return -ENOMEM;
	queue->end_ns = l->graph->requests[known->index].end_ns;
	queue->submitted = l->submitted++;
	return err ? err : put_complete(l, queue, index, &l->graph->requests[known->index]);
}

/* Nothing of this waits for a request that has no request queue. */
static int put_wait(struct queuer *l, struct graph_op *op)
{
	const struct graph_request *request = &l->graph->requests[op->event];
	u32 i;

	if (request->queue == GRAPH_NONE)
		return 0;
	for (i = 0; i < l->queue_count; i++)
		if (l->queues[i].task == request->queue && l->queues[i].waited <= request->index)
			l->queues[i].waited = request->index + 1;
	return graph_edge_add(l->graph, request->queue, request->index, op, EDGE_request);
}

static int put_other(struct queuer *l, struct graph_op *op)
{
	u32 i;
	int err = 0;

	for (i = 0; i < l->queue_count && !err; i++)
		if (l->queues[i].end_ns <= op->enter_ns)
			err = wait_for_last(l, &l->queues[i], op);
	return err;
}

static int look_at_task(struct queuer *l)
{
	u32 j;
	int err = memory_survey(l);

	l->queue_count = 0;
	l->submitted = 0;
	for (j = 0; j < l->graph->tasks[l->task].op_count && !err; j++) {
		struct graph_op *op = op_at(l, j);

		if (op->kind == IOT_KIND_submit)
			err = put_submit(l, j);
		else if (op->kind == IOT_PLAY_wait && op->flags == WAIT_DONE)
			err = put_wait(l, op);
		else if (op->kind < IOT_PLAY_signal)
			err = put_other(l, op);
	}
	memory_forget(l);
	return err;
}

/**
 * graph_pass_queues() - request queues of asynchronous requests, and waits for their ends
 * @graph: after life.c, which removes operations; before all passes that use request queues
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_queues(struct graph *graph)
{
	struct queuer l = { .graph = graph };
	u32 tasks = graph->task_count;
	int err = graph->request_count ? learn(&l) : 0;

	for (; l.task < tasks && graph->request_count && !err; l.task++)
		if (graph->tasks[l.task].has_io)
			err = look_at_task(&l);
	known_free(&l.requests);
	known_free(&l.handles);
	free(l.queues);
	return err;
}
