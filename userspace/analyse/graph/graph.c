// SPDX-License-Identifier: GPL-2.0-only
/*
 * graph.c - the containers of a graph.
 */
#include "graph.h"

#include <stdlib.h>
#include <uthash.h>

#include "spill.h"

/* Where a task of the trace is in the array. */
struct task_slot {
	UT_hash_handle hh;
	u32 id;
	u32 index;
};

/* A text that several operations use, once. */
struct text {
	UT_hash_handle hh;
	char bytes[];
};

struct graph_object {
	UT_hash_handle hh;
	u64 id;
	u32 type;
	u32 number;	  /* as a file, from 1; 0 if not requested */
	const char *path; /* NULL if it was not announced */
};

#define ROOM_MIN 4 /* there may be 100,000 short tasks */

/* Make room for one more element; @array is a pointer to the array's pointer. */
static int reserve(void *array, u32 count, u32 *room, size_t bytes)
{
	void **elements = array, *larger;
	u32 more;

	if (count < *room)
		return 0;
	more = *room ? *room * 2 : ROOM_MIN;
	larger = reallocarray(*elements, more, bytes);
	if (!larger)
		return -ENOMEM;
	*elements = larger;
	*room = more;
	return 0;
}

const char *const edge_cause_names[] = {
#define EDGE_CAUSE_NAME(name, text, sentence) text,
	EDGE_CAUSES(EDGE_CAUSE_NAME)
#undef EDGE_CAUSE_NAME
};

/**
 * graph_open() - an empty graph
 * @graph: out: to be freed by graph_close()
 *
 * Return: 0 or -ENOMEM.
 */
int graph_open(struct graph **graph)
{
	*graph = calloc(1, sizeof(**graph));
	if (!*graph)
		return -ENOMEM;
	(*graph)->fan_in_min = GRAPH_FAN_IN_MIN;
	return 0;
}

/**
 * graph_spill() - let a graph have its operations in a file without a name, so that they may be larger than memory
 * @graph: empty
 * @beside: path of a file that need not exist, see spill_open()
 *
 * Return: 0 or -ENOMEM.
 */
int graph_spill(struct graph *graph, const char *beside)
{
	return spill_open(&graph->spill, beside);
}

/**
 * graph_close() - free a graph; NULL is allowed
 */
void graph_close(struct graph *graph)
{
	struct task_slot *slot, *next_slot;
	struct graph_object *object, *next_object;
	struct text *text, *next_text;
	u32 i;

	if (!graph)
		return;
	for (i = 0; i < graph->task_count; i++) {
		graph_ops_drop(graph, &graph->tasks[i]);
		free(graph->tasks[i].backpressure_waits);
		free(graph->tasks[i].command);
	}
	HASH_ITER (hh, graph->task_slots, slot, next_slot) {
		HASH_DEL(graph->task_slots, slot);
		free(slot);
	}
	HASH_ITER (hh, graph->texts, text, next_text) {
		HASH_DEL(graph->texts, text);
		free(text);
	}
	HASH_ITER (hh, graph->objects, object, next_object) {
		HASH_DEL(graph->objects, object);
		free(object);
	}
	for (i = 0; i < graph->fact_count; i++)
		free(graph->facts[i]);
	free(graph->facts);
	free(graph->tasks);
	spill_free(graph->spill, graph->edges, graph->edge_room * sizeof(*graph->edges));
	free(graph->latches);
	free(graph->signals);
	free(graph->mpi);
	free(graph->requests);
	free(graph->wakes);
	free(graph->ranks);
	free(graph->near);
	for (i = 0; i < graph->link_count; i++)
		free(graph->links[i].name);
	free(graph->links);
	spill_close(graph->spill);
	free(graph);
}

/**
 * graph_task_find() - index of a task by its id, GRAPH_NONE if it is not known
 */
u32 graph_task_find(const struct graph *graph, u32 id)
{
	struct task_slot *slot;

	HASH_FIND(hh, graph->task_slots, &id, sizeof(id), slot);
	return slot ? slot->index : GRAPH_NONE;
}

/**
 * graph_task_make() - index of a task by its id; it is made if it is not known
 *
 * Return: 0 or -ENOMEM.
 */
int graph_task_make(struct graph *graph, u32 id, u32 *index)
{
	struct task_slot *slot;

	*index = graph_task_find(graph, id);
	if (*index != GRAPH_NONE)
		return 0;
	slot = calloc(1, sizeof(*slot));
	if (!slot || reserve(&graph->tasks, graph->task_count, &graph->task_room,
			     sizeof(*graph->tasks))) {
		free(slot);
		return -ENOMEM;
	}
	*index = graph->task_count++;
	graph->tasks[*index] = (struct graph_task){ .id = id, .queue_of = GRAPH_NONE };
	slot->id = id;
	slot->index = *index;
	HASH_ADD(hh, graph->task_slots, id, sizeof(slot->id), slot);
	return 0;
}

/**
 * graph_queue_make() - one more request queue of a task
 * @graph: the graph
 * @task: index of the task; the request queue made last, if any, was one of the same
 * @index: out: index of the request queue
 *
 * Return: 0 or -ENOMEM.
 */
int graph_queue_make(struct graph *graph, u32 task, u32 *index)
{
	struct graph_task *parent;

	if (reserve(&graph->tasks, graph->task_count, &graph->task_room, sizeof(*graph->tasks)))
		return -ENOMEM;
	parent = &graph->tasks[task];
	*index = graph->task_count++;
	if (!parent->queue_count++)
		parent->first_queue = *index;
	graph->tasks[*index] = (struct graph_task){
		.id = parent->id,
		.tgid = parent->tgid,
		.space = parent->space,
		.begin_ns = parent->begin_ns,
		.has_io = true,
		.queue_of = task,
	};
	return 0;
}

/**
 * graph_request_add() - an asynchronous request has ended
 *
 * Return: 0 or -ENOMEM.
 */
int graph_request_add(struct graph *graph, const struct graph_request *request)
{
	if (reserve(&graph->requests, graph->request_count, &graph->request_room,
		    sizeof(*graph->requests)))
		return -ENOMEM;
	graph->requests[graph->request_count++] = *request;
	return 0;
}

/**
 * graph_ops_resize() - make room for operations of a task
 * @graph: of the task
 * @t: the task; its operations move
 * @room: number of operations, at least as many as it has, and not 0
 *
 * Return: 0 or -ENOMEM.
 */
int graph_ops_resize(struct graph *graph, struct graph_task *t, u32 room)
{
	struct graph_op *ops = spill_resize(graph->spill, t->ops, t->op_room * sizeof(*ops), room * sizeof(*ops));

	if (!ops)
		return -ENOMEM;
	t->ops = ops;
	t->op_room = room;
	return 0;
}

/**
 * graph_ops_drop() - free the operations of a task
 */
void graph_ops_drop(struct graph *graph, struct graph_task *t)
{
	spill_free(graph->spill, t->ops, t->op_room * sizeof(*t->ops));
	t->ops = NULL;
	t->op_count = 0;
	t->op_room = 0;
}

/**
 * graph_op_add() - one more operation of a task
 * @graph: the graph
 * @task: index of the task
 *
 * Return: the operation, zeroed and without waits; valid until the next is added. NULL
 * if out of memory.
 */
struct graph_op *graph_op_add(struct graph *graph, u32 task)
{
	struct graph_task *t = &graph->tasks[task];
	struct graph_op *op;

	if (t->op_count == t->op_room && graph_ops_resize(graph, t, t->op_room ? 2 * t->op_room : ROOM_MIN))
		return NULL;
	op = &t->ops[t->op_count++];
	*op = (struct graph_op){ .edges = GRAPH_NONE };
	return op;
}

static int grow_edges(struct graph *graph)
{
	u32 room = graph->edge_room ? 2 * graph->edge_room : ROOM_MIN;
	struct graph_edge *edges = spill_resize(graph->spill, graph->edges, graph->edge_room * sizeof(*edges),
						room * sizeof(*edges));

	if (!edges)
		return -ENOMEM;
	graph->edges = edges;
	graph->edge_room = room;
	return 0;
}

/**
 * graph_edge_add() - an operation waits for another one
 * @graph: the graph
 * @task: index of the other's task, or GRAPH_NONE for a latch
 * @index: of the other in its task, or of the latch
 * @to: the operation that waits
 * @cause: why
 *
 * The end of a request always waits for its submission, and for nothing else.
 *
 * Return: 0 or -ENOMEM.
 */
int graph_edge_add(struct graph *graph, u32 task, u32 index, struct graph_op *to,
		   enum edge_cause cause)
{
	if (to->kind == IOT_KIND_complete ? cause != EDGE_request :
					    graph->causes_left_out & (1u << cause))
		return 0;
	if (graph->edge_count == graph->edge_room && grow_edges(graph))
		return -ENOMEM;
	graph->edges[graph->edge_count] = (struct graph_edge){
		.task = task,
		.index = index,
		.cause = cause,
		.next = to->edges,
	};
	to->edges = graph->edge_count++;
	graph->edges_by_cause[cause]++;
	return 0;
}

/**
 * graph_latch_add() - a new latch
 * @graph: the graph
 * @arrivals: that open it
 * @latch: out: its number, from 0
 *
 * Return: 0 or -ENOMEM.
 */
int graph_latch_add(struct graph *graph, u32 arrivals, u32 *latch)
{
	if (reserve(&graph->latches, graph->latch_count, &graph->latch_room, sizeof(*graph->latches)))
		return -ENOMEM;
	*latch = graph->latch_count++;
	graph->latches[*latch] = arrivals;
	return 0;
}

/**
 * graph_signal_add() - the end of an operation is to open a latch
 * @graph: before graph_pass_fan_in()
 * @task, @index: the operation
 * @latch: that counts it
 *
 * Return: 0 or -ENOMEM.
 */
int graph_signal_add(struct graph *graph, u32 task, u32 index, u32 latch)
{
	if (reserve(&graph->signals, graph->signal_count, &graph->signal_room,
		    sizeof(*graph->signals)))
		return -ENOMEM;
	graph->signals[graph->signal_count++] = (struct graph_signal){ task, index, latch };
	return 0;
}

/**
 * graph_mpi_add() - one more MPI call
 *
 * Return: the call, zeroed; valid until the next is added. NULL if out of memory.
 */
struct graph_mpi *graph_mpi_add(struct graph *graph)
{
	if (reserve(&graph->mpi, graph->mpi_count, &graph->mpi_room, sizeof(*graph->mpi)))
		return NULL;
	graph->mpi[graph->mpi_count] = (struct graph_mpi){ .signal = GRAPH_NONE, .wait = GRAPH_NONE };
	return &graph->mpi[graph->mpi_count++];
}

/**
 * graph_wake_add() - a task woke another one, or delays showed that it waits
 * @graph: the graph
 * @task, @woken: indices of the two
 * @cause: EDGE_wake or EDGE_discovered
 *
 * Return: 0 or -ENOMEM.
 */
int graph_wake_add(struct graph *graph, u32 task, u32 woken, enum edge_cause cause)
{
	if (reserve(&graph->wakes, graph->wake_count, &graph->wake_room, sizeof(*graph->wakes)))
		return -ENOMEM;
	graph->wakes[graph->wake_count++] = (struct graph_wake){
		.cause = cause,
		.task = task,
		.woken = woken,
		.nop = GRAPH_NONE,
		.wait = GRAPH_NONE,
	};
	return 0;
}

/**
 * graph_backpressure_add() - a task waited for the collector
 * @task: its index
 *
 * Return: 0 or -ENOMEM.
 */
int graph_backpressure_add(struct graph *graph, u32 task, u64 begin_ns, u64 end_ns)
{
	struct graph_task *t = &graph->tasks[task];

	if (reserve(&t->backpressure_waits, t->backpressure_count, &t->backpressure_room, sizeof(*t->backpressure_waits)))
		return -ENOMEM;
	t->backpressure_waits[t->backpressure_count++] = (struct graph_backpressure){ begin_ns, end_ns };
	return 0;
}

/* The first of its waits for the collector that ended after a moment. */
static u32 first_backpressure(const struct graph_task *t, u64 ns)
{
	u32 low = 0, high = t->backpressure_count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (t->backpressure_waits[middle].end_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/**
 * graph_backpressure_ns() - the part of an interval in which a task waited for the collector
 * @t: the task
 * @since_ns, @until_ns: from when to when
 */
u64 graph_backpressure_ns(const struct graph_task *t, u64 since_ns, u64 until_ns)
{
	u64 sum_ns = 0;
	u32 i;

	for (i = first_backpressure(t, since_ns); i < t->backpressure_count; i++) {
		u64 begin_ns = t->backpressure_waits[i].begin_ns, end_ns = t->backpressure_waits[i].end_ns;

		if (begin_ns >= until_ns)
			break;
		if (begin_ns < since_ns)
			begin_ns = since_ns; /* an earlier one lasted until then according to the trace */
		if (end_ns > until_ns)
			end_ns = until_ns;
		if (begin_ns >= end_ns)
			continue;
		sum_ns += end_ns - begin_ns;
		since_ns = end_ns;
	}
	return sum_ns;
}

/**
 * graph_rank_add() - a process is a rank of a communicator
 *
 * Return: 0 or -ENOMEM.
 */
int graph_rank_add(struct graph *graph, const struct graph_rank *rank)
{
	if (reserve(&graph->ranks, graph->rank_count, &graph->rank_room, sizeof(*graph->ranks)))
		return -ENOMEM;
	graph->ranks[graph->rank_count++] = *rank;
	return 0;
}

/**
 * graph_near_add() - a rank of a communicator has a neighbour
 *
 * Return: 0 or -ENOMEM.
 */
int graph_near_add(struct graph *graph, const struct graph_near *near)
{
	if (reserve(&graph->near, graph->near_count, &graph->near_room, sizeof(*graph->near)))
		return -ENOMEM;
	graph->near[graph->near_count++] = *near;
	return 0;
}

/**
 * graph_fact_add() - remember a fact of the trace
 *
 * Return: 0 or -ENOMEM.
 */
int graph_fact_add(struct graph *graph, const void *bytes, size_t count)
{
	if (reserve(&graph->facts, graph->fact_count, &graph->fact_room, sizeof(*graph->facts)))
		return -ENOMEM;
	graph->facts[graph->fact_count] = strndup(bytes, count);
	return graph->facts[graph->fact_count++] ? 0 : -ENOMEM;
}

/**
 * graph_fact() - a fact of the trace
 * @graph: loaded
 * @key: its key
 *
 * Return: its value; "" without this fact.
 */
const char *graph_fact(const struct graph *graph, const char *key)
{
	size_t bytes = strlen(key);
	u32 i;

	for (i = 0; i < graph->fact_count; i++)
		if (!strncmp(graph->facts[i], key, bytes) && graph->facts[i][bytes] == '=')
			return graph->facts[i] + bytes + 1;
	return "";
}

static struct graph_object *object_make(struct graph *graph, u64 id)
{
	struct graph_object *object;

	HASH_FIND(hh, graph->objects, &id, sizeof(id), object);
	if (object)
		return object;
	object = calloc(1, sizeof(*object));
	if (!object)
		return NULL;
	object->id = id;
	HASH_ADD(hh, graph->objects, id, sizeof(object->id), object);
	return object;
}

/**
 * graph_object_add() - an object was seen; only the first time counts
 *
 * Return: 0 or -ENOMEM.
 */
int graph_object_add(struct graph *graph, u64 id, u32 type, const char *path)
{
	struct graph_object *object = object_make(graph, id);

	if (!object)
		return -ENOMEM;
	if (object->path)
		return 0;
	object->type = type;
	object->path = graph_text(graph, path);
	return object->path ? 0 : -ENOMEM;
}

/**
 * graph_file() - number of a file by its identity
 * @graph: the graph
 * @id: its identity, 0 if it is nothing
 * @number: out: from 1, the same for the same identity; 0 for nothing
 *
 * Return: 0 or -ENOMEM.
 */
int graph_file(struct graph *graph, u64 id, u32 *number)
{
	struct graph_object *object;

	*number = 0;
	if (!id)
		return 0;
	object = object_make(graph, id);
	if (!object)
		return -ENOMEM;
	if (!object->number)
		object->number = ++graph->file_count;
	*number = object->number;
	return 0;
}

/**
 * graph_object_type() - the type of an object
 * @path: out: the path under which it was seen first
 *
 * Return: an enum iot_type.
 */
u32 graph_object_type(const struct graph *graph, u64 id, const char **path)
{
	struct graph_object *object;

	HASH_FIND(hh, graph->objects, &id, sizeof(id), object);
	*path = object && object->path ? object->path : "";
	return object ? object->type : IOT_TYPE_unknown;
}

/**
 * graph_bytes() - a copy of bytes that lives as long as the graph; equal ones are one
 *
 * Return: the copy, with a zero byte behind it, or NULL if out of memory.
 */
const char *graph_bytes(struct graph *graph, const void *value, size_t bytes)
{
	struct text *copy;

	HASH_FIND(hh, graph->texts, value, bytes, copy);
	if (copy)
		return copy->bytes;
	copy = malloc(sizeof(*copy) + bytes + 1);
	if (!copy)
		return NULL;
	memcpy(copy->bytes, value, bytes);
	copy->bytes[bytes] = 0;
	HASH_ADD(hh, graph->texts, bytes, bytes, copy);
	return copy->bytes;
}

/**
 * graph_text() - a copy of a text that lives as long as the graph; equal texts are one
 *
 * Return: the copy, or NULL if out of memory.
 */
const char *graph_text(struct graph *graph, const char *text)
{
	return graph_bytes(graph, text, strlen(text));
}

/*
 * In the order in which the task entered them; halves of a call and events between them. Nothing
 * comes before the beginning of the task by being as old.
 */
static int compare_ops(const void *a, const void *b)
{
	const struct graph_op *x = a, *y = b;

	if (x->enter_ns != y->enter_ns)
		return x->enter_ns < y->enter_ns ? -1 : 1;
	if (graph_is_begin(x) != graph_is_begin(y))
		return graph_is_begin(x) ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static bool is_sorted(const struct graph_task *t)
{
	u32 i;

	for (i = 1; i < t->op_count; i++)
		if (compare_ops(&t->ops[i - 1], &t->ops[i]) > 0)
			return false;
	return true;
}

/**
 * graph_sort() - bring the operations of each task into order; indices are valid from now on
 */
void graph_sort(struct graph *graph)
{
	u32 i;

	for (i = 0; i < graph->task_count; i++)
		if (!is_sorted(&graph->tasks[i]))
			qsort(graph->tasks[i].ops, graph->tasks[i].op_count,
			      sizeof(*graph->tasks[i].ops), compare_ops);
}
