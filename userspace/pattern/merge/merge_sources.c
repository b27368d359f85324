// SPDX-License-Identifier: GPL-2.0-only
/*
 * merge_sources.c - the patterns that are merged, and the order of their tasks. Nothing in them is trusted.
 */
#include "merge.h"

/* -- facts ------------------------------------------------------------------------------------------------------------ */

static u64 *values_of(const struct series *series, u64 count)
{
	u64 *values = calloc(count + 1, sizeof(*values)), i;
	struct cursor *cursor = cursor_open(series);

	for (i = 0; values && cursor && i < count; i++)
		values[i] = cursor_next(cursor);
	cursor_close(cursor);
	if (cursor)
		return values;
	free(values);
	return NULL;
}

static u64 rank_of(const struct merge_source *s, u64 position)
{
	return s->facts[TASK_FACT_job][position] ? s->facts[TASK_FACT_rank][position] : UINT64_MAX;
}

/* As in the canonical stream of a trace with one MPI_COMM_WORLD. */
static bool is_task_sound(const struct merge_source *s, u64 position)
{
	const struct part *part = s->pattern->part;
	u64 rank = rank_of(s, position), what = s->facts[TASK_FACT_what][position];

	if (what > TASK_OTHER || s->node_of[position] >= part->node_count || s->facts[TASK_FACT_job][position] > 1)
		return false;
	if (rank == UINT64_MAX && what == TASK_RANK)
		return false;
	if (rank != UINT64_MAX && (rank >= part->ranks || s->facts[TASK_FACT_size][position] != part->ranks))
		return false;
	if (position && rank_of(s, position - 1) > rank)
		return false;
	if (position && rank == UINT64_MAX && rank_of(s, position - 1) == rank && s->node_of[position - 1] > s->node_of[position])
		return false;
	return s->facts[TASK_FACT_process][position] < s->task_count && s->facts[TASK_FACT_parent][position] <= s->task_count;
}

/* Tasks of a group are in the order of their positions, as they are read. */
static bool are_places_sound(const struct merge_source *s)
{
	u64 *next = calloc(s->pattern->group_count + 1ul, sizeof(*next)), i;
	bool is_sound = next;

	for (i = 0; i < s->pattern->task_count && is_sound; i++)
		is_sound = s->places[2 * i + 1] == next[s->places[2 * i]]++;
	free(next);
	return is_sound;
}

static int check_source(struct merge *m, struct merge_source *s)
{
	u64 operations, i;
	u8 digest[32];
	int err;

	for (i = 0; i < s->task_count; i++) {
		if (!is_task_sound(s, i))
			return merge_refuse(m, "%s: its tasks are not in the order of ranks", s->name);
		s->has_rests |= rank_of(s, i) == UINT64_MAX;
	}
	if (!are_places_sound(s))
		return merge_refuse(m, "%s: its tasks are not in the order of ranks", s->name);
	err = pattern_expand(s->pattern, NULL, UINT64_MAX, digest, &operations);
	if (err == -EBADMSG || (!err && memcmp(digest, s->pattern->digest, sizeof(digest))))
		return merge_refuse(m, "%s: its operations are not those of the trace", s->name);
	return err;
}

/**
 * merge_open_source() - take a pattern
 * @m: the merge
 * @index: of the source
 * @pattern: lives as long as the merge
 * @name: likewise
 */
int merge_open_source(struct merge *m, u32 index, const struct pattern *pattern, const char *name)
{
	struct merge_source *s = &m->sources[index];
	u32 fact;
	int err;

	s->pattern = pattern;
	s->name = name;
	if (!pattern->part)
		return merge_refuse(m, pattern->is_made ? "%s: was extrapolated or changed, and is no part of a job" :
							   "%s: is not a part of a job: make it with --part", name);
	s->task_count = pattern->task_count;
	for (fact = 0; fact < TASK_FACT_COUNT; fact++) {
		s->facts[fact] = values_of(pattern->facts[fact], pattern->task_count);
		if (!s->facts[fact])
			return -ENOMEM;
	}
	s->task_count -= s->task_count && s->facts[TASK_FACT_what][s->task_count - 1] == TASK_FOUND;
	s->node_of = values_of(pattern->part->node_of, pattern->task_count);
	s->nodes = calloc(pattern->part->node_count, sizeof(*s->nodes));
	s->positions = calloc(pattern->task_count + 1, sizeof(*s->positions));
	s->shapes = calloc(pattern->shapes.count + 1ul, sizeof(*s->shapes));
	s->node_map = calloc(pattern->nodes.count + 1ul, sizeof(*s->node_map));
	if (!s->node_of || !s->nodes || !s->positions || !s->shapes || !s->node_map)
		return -ENOMEM;
	err = events_find_tasks(pattern, &s->places);
	return err ? err : check_source(m, s);
}

/**
 * merge_close_source() - free the memory of a source
 */
void merge_close_source(struct merge_source *s)
{
	u32 i;

	for (i = 0; i < TASK_FACT_COUNT; i++)
		free(s->facts[i]);
	for (i = 0; s->shapes && i < s->pattern->shapes.count; i++) {
		bytes_free(&s->shapes[i].bytes);
		numbers_free(&s->shapes[i].numbers[0]);
		numbers_free(&s->shapes[i].numbers[1]);
	}
	free(s->shapes);
	free(s->places);
	free(s->nodes);
	free(s->node_of);
	free(s->positions);
	free(s->node_map);
}

/* -- order ------------------------------------------------------------------------------------------------------------- */

static int compare_tasks(const void *a, const void *b)
{
	const struct merge_task *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->rank == UINT64_MAX && x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

static int check_ranks(struct merge *m)
{
	const struct merge_task *task, *before;
	u64 i;

	for (i = 1; i < m->task_count; i++) {
		task = &m->tasks[i];
		before = &m->tasks[i - 1];
		if (task->source == before->source)
			continue;
		if (task->rank == before->rank && task->rank != UINT64_MAX)
			return merge_refuse(m, "%s and %s: both have rank %llu", m->sources[before->source].name,
					    m->sources[task->source].name, (unsigned long long)task->rank);
		if (task->rank == before->rank && task->node == before->node)
			return merge_refuse(m, "%s and %s: both have processes of %s that are no ranks", m->sources[before->source].name,
					    m->sources[task->source].name, m->part->nodes[task->node].name);
	}
	return 0;
}

/**
 * merge_order_tasks() - the tasks of all sources in the order of a merged trace
 */
int merge_order_tasks(struct merge *m)
{
	u64 count = 0, position;
	u32 i;
	int err;

	for (i = 0; i < m->source_count; i++)
		count += m->sources[i].task_count;
	m->tasks = calloc(count + 1, sizeof(*m->tasks));
	if (!m->tasks)
		return -ENOMEM;
	for (i = 0; i < m->source_count; i++)
		for (position = 0; position < m->sources[i].task_count; position++)
			m->tasks[m->task_count++] = (struct merge_task){ i, m->sources[i].nodes[m->sources[i].node_of[position]], position,
									rank_of(&m->sources[i], position) };
	qsort(m->tasks, m->task_count, sizeof(*m->tasks), compare_tasks);
	err = check_ranks(m);
	for (count = 0; count < m->task_count && !err; count++)
		m->sources[m->tasks[count].source].positions[m->tasks[count].position] = count;
	return err;
}
