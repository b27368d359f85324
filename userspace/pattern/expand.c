// SPDX-License-Identifier: GPL-2.0-only
/*
 * expand.c - the canonical stream of a pattern. Memory does not depend on the number of operations.
 */
#include "task_walk.h"

struct expansion {
	const struct pattern *pattern;
	FILE *out;
	u64 limit;
	u64 operations;
	struct digest *digest;
};

/* Return: 0; a negative errno. */
static int expand_task(struct expansion *x, const struct group *group, u64 task)
{
	struct events *events;
	struct event event;
	int err = events_open(x->pattern, group, task, &events);

	if (err)
		return err;
	while (x->operations < x->limit && (err = events_next(events, &event, NULL)) > 0) {
		if (x->operations == x->pattern->operations) {
			err = -EBADMSG;
			break;
		}
		digest_event(x->digest, &event);
		x->operations++;
		if (!x->out)
			continue;
		event_print(x->out, &event);
		fputc('\n', x->out);
	}
	events_close(events);
	return err < 0 ? err : 0;
}

static void print_task(FILE *out, const u64 facts[TASK_FACT_COUNT], u64 position)
{
	if (facts[TASK_FACT_what] == TASK_RANK)
		fprintf(out, "rank %llu:\n", (unsigned long long)facts[TASK_FACT_rank]);
	else if (facts[TASK_FACT_what] == TASK_FOUND)
		fputs("found by look-ups:\n", out);
	else
		fprintf(out, "task %llu:\n", (unsigned long long)position + 1);
}

static int expand_all(struct expansion *x)
{
	const struct pattern *p = x->pattern;
	u64 *tasks, i, facts[TASK_FACT_COUNT];
	u32 fact;
	int err = events_find_tasks(p, &tasks);

	for (i = 0; i < p->task_count && !err && x->operations < x->limit; i++) {
		for (fact = 0; fact < TASK_FACT_COUNT; fact++)
			facts[fact] = series_at(p->facts[fact], i);
		digest_task(x->digest, facts);
		if (x->out)
			print_task(x->out, facts, i);
		err = expand_task(x, &p->groups[tasks[2 * i]], tasks[2 * i + 1]);
	}
	free(tasks);
	if (!err && x->operations != p->operations && x->operations != x->limit)
		err = -EBADMSG;
	return err;
}

/**
 * pattern_expand() - the operations of a pattern, one by one
 * @pattern: the pattern
 * @out: where each is printed as a line, or NULL
 * @limit: maximum number of operations
 * @digest: out: their hash, equal to that of the trace if they are the same
 * @operations: out: their number
 *
 * Return: 0, -EBADMSG if the loops do not make the operations that the pattern states, -ENOMEM.
 */
int pattern_expand(const struct pattern *pattern, FILE *out, u64 limit, u8 digest[32], u64 *operations)
{
	struct expansion x = { .pattern = pattern, .out = out, .limit = limit, .digest = digest_open() };
	int err;

	if (!x.digest)
		return -ENOMEM;
	err = expand_all(&x);
	digest_close(x.digest, digest);
	*operations = x.operations;
	return err;
}
