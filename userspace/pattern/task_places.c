// SPDX-License-Identifier: GPL-2.0-only
/*
 * task_places.c - the order of the tasks of a trace in its canonical stream, and the numbers that describe them.
 */
#include "task_places.h"

static u32 index_of(const struct canon *canon, u32 id)
{
	u32 i;

	for (i = 0; i < canon->task_count; i++)
		if (canon->tasks[i].id == id)
			return i;
	return UINT32_MAX;
}

static u32 first_of_process(const struct canon *canon, u32 index)
{
	u32 steps, parent;

	for (steps = 0; steps < canon->task_count; steps++) {
		parent = canon->tasks[index].parent ? index_of(canon, canon->tasks[index].parent) : UINT32_MAX;
		if (parent == UINT32_MAX || canon->tasks[parent].tgid != canon->tasks[index].tgid)
			break;
		index = parent;
	}
	return index;
}

static int compare_places(const void *a, const void *b)
{
	const struct task_place *x = a, *y = b;

	if (!x->job != !y->job)
		return x->job ? -1 : 1;
	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->is_rank != y->is_rank)
		return x->is_rank ? -1 : 1;
	if (x->node != y->node) /* the order between nodes depends on their fitted clocks */
		return x->node < y->node ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Jobs have the numbers in which they begin, not their keys. */
static void take_ranks(struct task_places *places, const struct task_rank *ranks)
{
	struct numbers jobs = {};
	u32 i, j;

	for (i = 0; i < places->count; i++) {
		struct task_place *place = &places->tasks[i];

		place->index = i;
		place->node = canon_node_of(places->canon, places->canon->tasks[i].id);
		place->first = first_of_process(places->canon, i);
		if (!ranks[i].job)
			continue;
		place->is_rank = true;
		place->rank = ranks[i].rank;
		place->ranks = ranks[i].ranks;
		for (j = 0; j < jobs.count && jobs.values[j] != ranks[i].job; j++)
			;
		if (j == jobs.count)
			numbers_add(&jobs, ranks[i].job);
		place->job = j + 1;
	}
	numbers_free(&jobs);
}

static void copy_rank(struct task_place *to, const struct task_place *from)
{
	to->job = from->job;
	to->rank = from->rank;
	to->ranks = from->ranks;
}

/* Those of tasks of a rank's process are the rank's. */
static void share_ranks(struct task_places *places)
{
	struct task_place *place, *first, *end = places->tasks + places->count;

	for (place = places->tasks; place < end; place++) {
		first = &places->tasks[place->first];
		if (place->is_rank && first != place && !first->is_rank)
			copy_rank(first, place);
	}
	for (place = places->tasks; place < end; place++) {
		first = &places->tasks[place->first];
		if (!place->is_rank && first != place)
			copy_rank(place, first);
	}
}

/**
 * task_places_find() - the order of the tasks of a trace
 * @places: out: to be freed by task_places_free(), also after an error
 * @canon: of the trace; lives as long as @places
 * @ranks: of each of its tasks
 *
 * Return: 0 or -ENOMEM.
 */
int task_places_find(struct task_places *places, const struct canon *canon, const struct task_rank *ranks)
{
	u32 count = canon->task_count, i;

	*places = (struct task_places){
		.canon = canon,
		.count = count,
		.tasks = calloc(count + 1, sizeof(*places->tasks)),
		.positions = calloc(count + 1, sizeof(*places->positions)),
	};
	if (!places->tasks || !places->positions)
		return -ENOMEM;
	take_ranks(places, ranks);
	share_ranks(places);
	qsort(places->tasks, count, sizeof(*places->tasks), compare_places);
	for (i = 0; i < count; i++)
		places->positions[places->tasks[i].index] = i;
	return 0;
}

/**
 * task_places_facts() - the numbers that describe a task
 * @position: of the task
 * @facts: out
 */
void task_places_facts(const struct task_places *places, u32 position, u64 facts[TASK_FACT_COUNT])
{
	const struct task_place *place = &places->tasks[position];
	const struct canon_task *task = &places->canon->tasks[place->index];
	u32 parent = task->parent ? index_of(places->canon, task->parent) : UINT32_MAX;

	facts[TASK_FACT_what] = place->is_rank ? TASK_RANK : TASK_OTHER;
	facts[TASK_FACT_job] = place->job;
	facts[TASK_FACT_rank] = place->rank;
	facts[TASK_FACT_size] = place->ranks;
	facts[TASK_FACT_process] = places->positions[place->first];
	facts[TASK_FACT_parent] = parent == UINT32_MAX ? 0 : (u64)places->positions[parent] + 1;
	facts[TASK_FACT_nth] = task->nth;
	facts[TASK_FACT_why] = task->why;
}

/**
 * task_places_free() - free the result of task_places_find()
 */
void task_places_free(struct task_places *places)
{
	free(places->tasks);
	free(places->positions);
}

/* -- names that look-ups found ---------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/**
 * found_walk() - the names that look-ups of all tasks found, as operations of a task after all others
 * @canon: of the trace
 * @take: gets each; an error of it ends the walk
 * @context: for @take
 *
 * Return: 0 or a negative errno.
 */
int found_walk(const struct canon *canon, found_take_event take, void *context)
{
	const char *text, **texts;
	size_t count = 0, i;
	int err = 0;

	for (text = canon_next_found(canon, NULL); text; text = canon_next_found(canon, text))
		count++;
	texts = calloc(count + 1, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	for (text = canon_next_found(canon, NULL), i = 0; text; text = canon_next_found(canon, text))
		texts[i++] = text;
	qsort(texts, count, sizeof(*texts), compare_texts);
	for (i = 0; i < count && !err; i++) {
		struct event event = { .kind = IOT_KIND_lookup, .path = texts[i], .path2 = "",
				       .field_count = event_count_fields(IOT_KIND_lookup) };

		err = take(context, &event);
	}
	free(texts);
	return err;
}
