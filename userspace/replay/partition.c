// SPDX-License-Identifier: GPL-2.0-only
/*
 * partition.c - finds the progress that nodes must report to each other, and when.
 */
#include "partition.h"

#include <errno.h>
#include <stdlib.h>

/* -- marks of waits of other nodes ------------------------------------------------------------------------ */

static void *grow(void *array, size_t count, size_t *room, size_t element_bytes)
{
	if (count < *room)
		return array;
	*room = *room ? 2 * *room : 64;
	return reallocarray(array, *room, element_bytes);
}

static int add_mark(struct partition *partition, const struct partition_mark *mark)
{
	struct partition_mark *marks = grow(partition->marks, partition->mark_count, &partition->mark_room,
					sizeof(*marks));

	if (!marks)
		return -ENOMEM;
	partition->marks = marks;
	marks[partition->mark_count++] = *mark;
	return 0;
}

static int add_latch_wait(struct partition *partition, u32 latch, u32 node)
{
	struct partition_latch_wait *latch_waits = grow(partition->latch_waits, partition->latch_wait_count, &partition->latch_wait_room,
					  sizeof(*latch_waits));

	if (!latch_waits)
		return -ENOMEM;
	partition->latch_waits = latch_waits;
	latch_waits[partition->latch_wait_count++] = (struct partition_latch_wait){ .latch = latch, .node = node };
	return 0;
}

/* A task on another node waits. */
static int add_wait(struct partition *partition, const struct iot_program_wait *wait, u32 node)
{
	struct partition_mark mark = {
		.task = le32_to_cpu(wait->task),
		.index = le32_to_cpu(wait->index),
		.latch = IOT_WAIT_LATCH,
		.node = node,
	};

	if (mark.task == IOT_WAIT_LATCH)
		return partition->here[mark.index] ? add_latch_wait(partition, mark.index, node) : 0;
	return partition_has_task(partition, mark.task) ? add_mark(partition, &mark) : 0;
}

static u32 latch_of(const struct iot_program_op *op)
{
	return le16_to_cpu(op->kind) == IOT_PLAY_signal && op->latch ? le32_to_cpu(op->latch) - 1 :
									IOT_WAIT_LATCH;
}

static void count_signals(struct partition *partition)
{
	const struct iot_program *program = partition->program;
	u32 i, j, latch;

	for (i = 0; i < program->task_count; i++) {
		const struct iot_program_op *ops = program->ops + le64_to_cpu(program->tasks[i].first_op);
		u32 *count = partition_has_task(partition, i) ? partition->signals : partition->elsewhere;

		for (j = 0; j < le32_to_cpu(program->tasks[i].op_count); j++)
			if ((latch = latch_of(&ops[j])) != IOT_WAIT_LATCH)
				count[latch]++;
	}
}

static int find_waits(struct partition *partition)
{
	const struct iot_program *program = partition->program;
	u32 i, j;
	int err = 0;

	for (i = 0; i < program->task_count; i++) {
		const struct iot_program_wait *waits =
			program->waits + le64_to_cpu(program->tasks[i].first_wait);

		if (partition_has_task(partition, i))
			continue;
		for (j = 0; j < le32_to_cpu(program->tasks[i].wait_count) && !err; j++)
			err = add_wait(partition, &waits[j], partition->node_of[i]);
	}
	return err;
}

static int compare_latch_waits(const void *a, const void *b)
{
	const struct partition_latch_wait *x = a, *y = b;

	if (x->latch != y->latch)
		return x->latch < y->latch ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static int compare_marks(const void *a, const void *b)
{
	const struct partition_mark *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	if (x->latch != y->latch)
		return x->latch < y->latch ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Sort, and remove duplicates. Return: the number of elements that remain. */
static size_t unique(void *array, size_t count, size_t element_bytes,
		     int (*compare)(const void *a, const void *b))
{
	char *bytes = array;
	size_t left = 0, i;

	if (!count)
		return 0;
	qsort(array, count, element_bytes, compare);
	for (i = 1; i < count; i++)
		if (compare(bytes + left * element_bytes, bytes + i * element_bytes))
			memmove(bytes + ++left * element_bytes, bytes + i * element_bytes, element_bytes);
	return left + 1;
}

/* The first wait for a latch; the array is sorted. */
static size_t first_latch_wait(const struct partition *partition, u32 latch)
{
	size_t low = 0, high = partition->latch_wait_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (partition->latch_waits[middle].latch < latch)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_latch_waits(const struct partition *partition, u32 latch)
{
	size_t first = first_latch_wait(partition, latch);

	return first < partition->latch_wait_count && partition->latch_waits[first].latch == latch;
}

/* Signals of latches that other nodes wait for are marks, too. */
static int find_signals(struct partition *partition)
{
	const struct iot_program *program = partition->program;
	u32 i, j;
	int err = 0;

	for (i = 0; i < program->task_count; i++) {
		const struct iot_program_op *ops = program->ops + le64_to_cpu(program->tasks[i].first_op);

		if (!partition_has_task(partition, i))
			continue;
		for (j = 0; j < le32_to_cpu(program->tasks[i].op_count) && !err; j++) {
			struct partition_mark mark = { .task = i, .index = j, .latch = latch_of(&ops[j]) };

			if (mark.latch != IOT_WAIT_LATCH && has_latch_waits(partition, mark.latch))
				err = add_mark(partition, &mark);
		}
	}
	return err;
}

/* Without any, the end of the marks: partition_next_mark() sees that it is another task's. */
static void find_first_marks(struct partition *partition)
{
	size_t at = 0;
	u32 i;

	for (i = 0; i < partition->program->task_count; i++) {
		while (at < partition->mark_count && partition->marks[at].task < i)
			at++;
		partition->next_mark[i] = at;
	}
}

/**
 * partition_open() - find the progress that the nodes must report to each other
 * @partition: filled in; to be freed by partition_close(), also after an error
 * @program: verified
 * @node_of: of each task; must stay
 * @node: this one
 * @nodes: their number
 *
 * Return: 0 or -ENOMEM.
 */
int partition_open(struct partition *partition, const struct iot_program *program, const u32 *node_of, u32 node,
	       u32 nodes)
{
	int err;

	*partition = (struct partition){
		.program = program,
		.node_of = node_of,
		.node = node,
		.nodes = nodes,
		.next_mark = calloc(program->task_count + 1ul, sizeof(*partition->next_mark)),
		.signals = calloc(program->latch_count + 1ul, sizeof(*partition->signals)),
		.here = calloc(program->latch_count + 1ul, sizeof(*partition->here)),
		.elsewhere = calloc(program->latch_count + 1ul, sizeof(*partition->elsewhere)),
		.ended = calloc(program->task_count + 1ul, sizeof(*partition->ended)),
	};
	if (!partition->next_mark || !partition->signals || !partition->here ||
	    !partition->elsewhere || !partition->ended)
		return -ENOMEM;
	count_signals(partition);
	memcpy(partition->here, partition->signals, program->latch_count * sizeof(*partition->here));
	err = find_waits(partition);
	partition->latch_wait_count = unique(partition->latch_waits, partition->latch_wait_count, sizeof(*partition->latch_waits),
				    compare_latch_waits);
	if (!err)
		err = find_signals(partition);
	partition->mark_count = unique(partition->marks, partition->mark_count, sizeof(*partition->marks),
				   compare_marks);
	find_first_marks(partition);
	return err;
}

void partition_close(struct partition *partition)
{
	free(partition->marks);
	free(partition->next_mark);
	free(partition->latch_waits);
	free(partition->signals);
	free(partition->here);
	free(partition->elsewhere);
	free(partition->ended);
	*partition = (struct partition){};
}

/* -- during the replay ------------------------------------------------------------------------------ */

/* Nodes that wait for the latch get a note when all tasks of this node have signaled it. */
static int report_signals(struct partition *partition, u32 latch, partition_send_fn send, void *context)
{
	const struct partition_note note = {
		.news = PARTITION_SIGNALED,
		.what = latch,
		.value = partition->signals[latch],
	};
	size_t at;
	int err = 0;

	if (--partition->here[latch])
		return 0;
	for (at = first_latch_wait(partition, latch); at < partition->latch_wait_count && !err; at++) {
		if (partition->latch_waits[at].latch != latch)
			break;
		err = send(context, partition->latch_waits[at].node, &note);
	}
	return err;
}

/**
 * partition_report() - report the progress of a local task to the nodes that wait for it
 * @partition: of the node
 * @task: the task
 * @ended: number of its operations that have ended
 * @send: called for each node that must know, until it returns an error
 * @context: for @send
 *
 * Return: 0 or the error of @send.
 */
int partition_report(struct partition *partition, u32 task, u32 ended, partition_send_fn send, void *context)
{
	int err = 0;

	while (!err && partition_next_mark(partition, task) < ended) {
		const struct partition_mark *mark = &partition->marks[partition->next_mark[task]++];
		const struct partition_note note = {
			.news = PARTITION_PASSED,
			.what = task,
			.value = mark->index + 1,
		};

		err = mark->latch == IOT_WAIT_LATCH ? send(context, mark->node, &note) :
						  report_signals(partition, mark->latch, send, context);
	}
	return err;
}

/**
 * partition_receive() - account for a report of another node
 * @partition: of this node
 * @from: the other node
 * @note: its report
 *
 * Return: true if the report is possible; then the caller passes it to the engine.
 */
bool partition_receive(struct partition *partition, u32 from, const struct partition_note *note)
{
	const struct iot_program *program = partition->program;

	switch (note->news) {
	case PARTITION_PASSED:
		if (note->what >= program->task_count || partition->node_of[note->what] != from ||
		    from == partition->node || note->value <= partition->ended[note->what] ||
		    note->value > le32_to_cpu(program->tasks[note->what].op_count))
			return false;
		partition->ended[note->what] = note->value;
		return true;
	case PARTITION_SIGNALED:
		if (note->what >= program->latch_count || !note->value ||
		    note->value > partition->elsewhere[note->what])
			return false;
		partition->elsewhere[note->what] -= note->value;
		return true;
	default:
		return false;
	}
}

/* True if all progress that other nodes wait for was reported; so it is when all local tasks have ended. */
bool partition_is_reported(const struct partition *partition)
{
	u32 i;

	for (i = 0; i < partition->program->task_count; i++)
		if (partition_next_mark(partition, i) != IOT_WAIT_LATCH)
			return false;
	return true;
}
