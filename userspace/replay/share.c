// SPDX-License-Identifier: GPL-2.0-only
/*
 * share.c - what nodes have to tell each other, found in the program, and when.
 */
#include "share.h"

#include <errno.h>
#include <stdlib.h>

/* -- what others wait for --------------------------------------------------------------------- */

static void *grow(void *array, size_t count, size_t *room, size_t element_bytes)
{
	if (count < *room)
		return array;
	*room = *room ? 2 * *room : 64;
	return reallocarray(array, *room, element_bytes);
}

static int add_mark(struct share *share, const struct share_mark *mark)
{
	struct share_mark *marks = grow(share->marks, share->mark_count, &share->mark_room,
					sizeof(*marks));

	if (!marks)
		return -ENOMEM;
	share->marks = marks;
	marks[share->mark_count++] = *mark;
	return 0;
}

static int add_leave(struct share *share, u32 latch, u32 node)
{
	struct share_leave *leaves = grow(share->leaves, share->leave_count, &share->leave_room,
					  sizeof(*leaves));

	if (!leaves)
		return -ENOMEM;
	share->leaves = leaves;
	leaves[share->leave_count++] = (struct share_leave){ .latch = latch, .node = node };
	return 0;
}

/* A task elsewhere waits. */
static int add_wait(struct share *share, const struct iot_program_wait *wait, u32 node)
{
	struct share_mark mark = {
		.task = le32_to_cpu(wait->task),
		.index = le32_to_cpu(wait->index),
		.latch = IOT_WAIT_LATCH,
		.node = node,
	};

	if (mark.task == IOT_WAIT_LATCH)
		return share->here[mark.index] ? add_leave(share, mark.index, node) : 0;
	return share_is_here(share, mark.task) ? add_mark(share, &mark) : 0;
}

static u32 latch_of(const struct iot_program_op *op)
{
	return le16_to_cpu(op->kind) == IOT_PLAY_arrive && op->latch ? le32_to_cpu(op->latch) - 1 :
									IOT_WAIT_LATCH;
}

static void count_arrivals(struct share *share)
{
	const struct iot_program *program = share->program;
	u32 i, j, latch;

	for (i = 0; i < program->task_count; i++) {
		const struct iot_program_op *ops = program->ops + le64_to_cpu(program->tasks[i].first_op);
		u32 *count = share_is_here(share, i) ? share->arrivals : share->elsewhere;

		for (j = 0; j < le32_to_cpu(program->tasks[i].op_count); j++)
			if ((latch = latch_of(&ops[j])) != IOT_WAIT_LATCH)
				count[latch]++;
	}
}

static int find_waits(struct share *share)
{
	const struct iot_program *program = share->program;
	u32 i, j;
	int err = 0;

	for (i = 0; i < program->task_count; i++) {
		const struct iot_program_wait *waits =
			program->waits + le64_to_cpu(program->tasks[i].first_wait);

		if (share_is_here(share, i))
			continue;
		for (j = 0; j < le32_to_cpu(program->tasks[i].wait_count) && !err; j++)
			err = add_wait(share, &waits[j], share->node_of[i]);
	}
	return err;
}

static int compare_leaves(const void *a, const void *b)
{
	const struct share_leave *x = a, *y = b;

	if (x->latch != y->latch)
		return x->latch < y->latch ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static int compare_marks(const void *a, const void *b)
{
	const struct share_mark *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	if (x->latch != y->latch)
		return x->latch < y->latch ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Sort, and leave each once. Return: how many are left. */
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

/* The first of a latch; leaves are sorted. */
static size_t first_leave(const struct share *share, u32 latch)
{
	size_t low = 0, high = share->leave_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (share->leaves[middle].latch < latch)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_leaves(const struct share *share, u32 latch)
{
	size_t first = first_leave(share, latch);

	return first < share->leave_count && share->leaves[first].latch == latch;
}

/* Arrivals here at latches that others wait for are marks, too. */
static int find_arrivals(struct share *share)
{
	const struct iot_program *program = share->program;
	u32 i, j;
	int err = 0;

	for (i = 0; i < program->task_count; i++) {
		const struct iot_program_op *ops = program->ops + le64_to_cpu(program->tasks[i].first_op);

		if (!share_is_here(share, i))
			continue;
		for (j = 0; j < le32_to_cpu(program->tasks[i].op_count) && !err; j++) {
			struct share_mark mark = { .task = i, .index = j, .latch = latch_of(&ops[j]) };

			if (mark.latch != IOT_WAIT_LATCH && has_leaves(share, mark.latch))
				err = add_mark(share, &mark);
		}
	}
	return err;
}

/* Without any, the end of the marks: share_next() sees that it is another task's. */
static void find_first_marks(struct share *share)
{
	size_t at = 0;
	u32 i;

	for (i = 0; i < share->program->task_count; i++) {
		while (at < share->mark_count && share->marks[at].task < i)
			at++;
		share->next_mark[i] = at;
	}
}

/**
 * share_open() - find what the nodes have to tell each other
 * @share: filled in; to be given to share_close(), also after an error
 * @program: verified
 * @node_of: of each task; must stay
 * @node: this one
 * @nodes: their number
 *
 * Return: 0 or -ENOMEM.
 */
int share_open(struct share *share, const struct iot_program *program, const u32 *node_of, u32 node,
	       u32 nodes)
{
	int err;

	*share = (struct share){
		.program = program,
		.node_of = node_of,
		.node = node,
		.nodes = nodes,
		.next_mark = calloc(program->task_count + 1ul, sizeof(*share->next_mark)),
		.arrivals = calloc(program->latch_count + 1ul, sizeof(*share->arrivals)),
		.here = calloc(program->latch_count + 1ul, sizeof(*share->here)),
		.elsewhere = calloc(program->latch_count + 1ul, sizeof(*share->elsewhere)),
		.ended = calloc(program->task_count + 1ul, sizeof(*share->ended)),
	};
	if (!share->next_mark || !share->arrivals || !share->here ||
	    !share->elsewhere || !share->ended)
		return -ENOMEM;
	count_arrivals(share);
	memcpy(share->here, share->arrivals, program->latch_count * sizeof(*share->here));
	err = find_waits(share);
	share->leave_count = unique(share->leaves, share->leave_count, sizeof(*share->leaves),
				    compare_leaves);
	if (!err)
		err = find_arrivals(share);
	share->mark_count = unique(share->marks, share->mark_count, sizeof(*share->marks),
				   compare_marks);
	find_first_marks(share);
	return err;
}

void share_close(struct share *share)
{
	free(share->marks);
	free(share->next_mark);
	free(share->leaves);
	free(share->arrivals);
	free(share->here);
	free(share->elsewhere);
	free(share->ended);
	*share = (struct share){};
}

/* -- while they run ------------------------------------------------------------------------------ */

/* Nodes that wait for the latch get a note when all tasks of this node have arrived. */
static int arrived(struct share *share, u32 latch, share_tell_fn tell, void *context)
{
	const struct share_note note = {
		.news = SHARE_ARRIVED,
		.what = latch,
		.value = share->arrivals[latch],
	};
	size_t at;
	int err = 0;

	if (--share->here[latch])
		return 0;
	for (at = first_leave(share, latch); at < share->leave_count && !err; at++) {
		if (share->leaves[at].latch != latch)
			break;
		err = tell(context, share->leaves[at].node, &note);
	}
	return err;
}

/**
 * share_moved() - a task of this node has got on
 * @share: of the node
 * @task: which
 * @ended: how many of its operations have ended
 * @tell: called for each other node that is to know, until it returns not 0
 * @context: for @tell
 *
 * Return: 0; what @tell returned.
 */
int share_moved(struct share *share, u32 task, u32 ended, share_tell_fn tell, void *context)
{
	int err = 0;

	while (!err && share_next(share, task) < ended) {
		const struct share_mark *mark = &share->marks[share->next_mark[task]++];
		const struct share_note note = {
			.news = SHARE_PASSED,
			.what = task,
			.value = mark->index + 1,
		};

		err = mark->latch == IOT_WAIT_LATCH ? tell(context, mark->node, &note) :
						  arrived(share, mark->latch, tell, context);
	}
	return err;
}

/**
 * share_take() - another node has told something
 * @share: of this node
 * @from: who told it
 * @note: what
 *
 * Return: can it be? If so, the engine is to be told, too.
 */
bool share_take(struct share *share, u32 from, const struct share_note *note)
{
	const struct iot_program *program = share->program;

	switch (note->news) {
	case SHARE_PASSED:
		if (note->what >= program->task_count || share->node_of[note->what] != from ||
		    from == share->node || note->value <= share->ended[note->what] ||
		    note->value > le32_to_cpu(program->tasks[note->what].op_count))
			return false;
		share->ended[note->what] = note->value;
		return true;
	case SHARE_ARRIVED:
		if (note->what >= program->latch_count || !note->value ||
		    note->value > share->elsewhere[note->what])
			return false;
		share->elsewhere[note->what] -= note->value;
		return true;
	default:
		return false;
	}
}

/* Has everything been told that others wait for? So it is when all tasks here have ended. */
bool share_is_told(const struct share *share)
{
	u32 i;

	for (i = 0; i < share->program->task_count; i++)
		if (share_next(share, i) != IOT_WAIT_LATCH)
			return false;
	return true;
}
