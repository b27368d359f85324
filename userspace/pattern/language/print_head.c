// SPDX-License-Identifier: GPL-2.0-only
/*
 * print_head.c - the tasks of a pattern as text, and words that printing and reading share.
 */
#include <inttypes.h>

#include "expression.h"
#include "language.h"

const char *const language_roles[EVENT_ROLES] = { "generation", "handle", "comm", "request", "map", "to_handle" };

const char *const language_facts[TASK_FACT_COUNT] = {
#define FACT_NAME(name, sentence) #name,
	TASK_FACTS(FACT_NAME)
#undef FACT_NAME
};

/**
 * language_result_is_length() - is the result of an operation its length unless something else is written?
 */
bool language_result_is_length(u16 kind)
{
	return kind == IOT_KIND_read || kind == IOT_KIND_write;
}

/**
 * language_usual_fact() - a fact of a task that the text does not have
 * @is_ranks: the text is that of the ranks of one job
 * @fact: which
 * @position: of the task
 * @tasks: number of tasks
 */
u64 language_usual_fact(bool is_ranks, enum task_fact fact, u64 position, u64 tasks)
{
	switch (fact) {
	case TASK_FACT_what:
		return is_ranks ? TASK_RANK : TASK_OTHER;
	case TASK_FACT_job:
		return is_ranks;
	case TASK_FACT_rank:
		return is_ranks ? position : 0;
	case TASK_FACT_size:
		return is_ranks ? tasks : 0;
	case TASK_FACT_process:
		return position;
	case TASK_FACT_why:
		return IOT_REASON_seen;
	default:
		return 0;
	}
}

/**
 * pattern_has_rank() - is a task a rank of the first job?
 */
bool pattern_has_rank(const struct pattern *pattern, u64 position)
{
	return series_at(pattern->facts[TASK_FACT_what], position) == TASK_RANK &&
	       series_at(pattern->facts[TASK_FACT_job], position) <= 1;
}

static int compare_numbers(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int find_unique_ranks(const struct pattern *p, struct head *head)
{
	u64 *ranks = calloc(p->task_count + 1, sizeof(*ranks)), count = 0, i;

	if (!ranks)
		return -ENOMEM;
	for (i = 0; i < p->task_count; i++)
		if (pattern_has_rank(p, i))
			ranks[count++] = series_at(p->facts[TASK_FACT_rank], i);
	qsort(ranks, count, sizeof(*ranks), compare_numbers);
	for (i = 1; i < count && ranks[i] != ranks[i - 1]; i++)
		;
	head->has_unique_ranks = i >= count;
	free(ranks);
	return 0;
}

static bool has_found(const struct pattern *p)
{
	u32 fact;

	if (!p->task_count || series_at(p->facts[TASK_FACT_what], p->task_count - 1) != TASK_FOUND)
		return false;
	for (fact = 1; fact < TASK_FACT_COUNT; fact++)
		if (series_at(p->facts[fact], p->task_count - 1))
			return false;
	return true;
}

static bool is_usual(const struct pattern *p, bool is_ranks, enum task_fact fact, u64 tasks)
{
	u64 i;

	for (i = 0; i < tasks; i++)
		if (series_at(p->facts[fact], i) != language_usual_fact(is_ranks, fact, i, tasks))
			return false;
	return true;
}

/* The process is printed as the number of its first task, and tasks have numbers from 1. */
static int print_fact(const struct pattern *p, enum task_fact fact, u64 tasks, FILE *out)
{
	struct ranks all = { .name = "task", .count = tasks, .values = calloc(tasks + 1, sizeof(u64)) };
	u64 *values = calloc(tasks + 1, sizeof(*values)), i;

	for (i = 0; i < tasks && values && all.values; i++) {
		all.values[i] = i + 1;
		values[i] = series_at(p->facts[fact], i) + (fact == TASK_FACT_process);
	}
	if (values && all.values) {
		fprintf(out, " %s=", language_facts[fact]);
		expression_print_ranks(out, &all, values);
	}
	free(values);
	free(all.values);
	return values && all.values ? 0 : -ENOMEM;
}

/**
 * print_head() - the tasks of a pattern
 * @pattern: the pattern
 * @head: out
 * @out: where
 *
 * Return: 0 or -ENOMEM.
 */
int print_head(const struct pattern *pattern, struct head *head, FILE *out)
{
	bool is_ranks = true;
	u64 tasks;
	u32 fact;
	int err = find_unique_ranks(pattern, head);

	head->has_found = has_found(pattern);
	tasks = pattern->task_count - head->has_found;
	for (fact = 0; fact < TASK_FACT_COUNT && is_ranks; fact++)
		is_ranks = is_usual(pattern, true, (enum task_fact)fact, tasks);
	fprintf(out, "%s %" PRIu64, is_ranks && tasks ? "size" : "tasks", (uint64_t)tasks);
	for (fact = 0; fact < TASK_FACT_COUNT && !err && !(is_ranks && tasks); fact++)
		if (!is_usual(pattern, false, (enum task_fact)fact, tasks))
			err = print_fact(pattern, (enum task_fact)fact, tasks, out);
	fputc('\n', out);
	return err;
}
