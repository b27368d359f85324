// SPDX-License-Identifier: GPL-2.0-only
/*
 * order.c - was the order of a program preserved, by the times in the outcomes of its replay?
 *
 *	order PROGRAM OUTCOMES...
 *
 * No operation may start before the end of each operation that it waits for, and of the previous one in its
 * task. The nodes of a replay have outcomes each, with one clock. Operations that only keep order (signal, wait, nop)
 * have no record: they end when the operations that they wait for have ended, which are found recursively. The waits of a `timed`
 * need not hold.
 *
 * exit code: 0 preserved, 1 violated, or operations are missing
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/iotape.h"

struct times {
	u64 enter_ns;
	u64 end_ns;
	bool is_there;
};

struct checker {
	struct iot_program program;
	struct times *times; /* of each operation */
	u64 violations;
	u64 edges;
};

static int take(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct checker *c = context;
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	u32 i;

	(void)names;
	if (!info || info->group != IOT_GROUP_op)
		return 0;
	for (i = 0; i < c->program.task_count; i++) {
		const struct iot_program_task *task = &c->program.tasks[i];
		struct times *times = c->times + le64_to_cpu(task->first_op) + record->op.op - 1;

		if (le32_to_cpu(task->origin) != record->op.task)
			continue;
		times->enter_ns = record->op.enter_ns;
		times->end_ns = record->op.enter_ns + record->op.duration_ns;
		times->is_there = true;
	}
	return 0;
}

static bool has_record(const struct iot_program_op *op)
{
	return le16_to_cpu(op->kind) < IOT_PLAY_signal;
}

static void check_edge(struct checker *c, u64 before, u64 after)
{
	c->edges++;
	if (c->times[before].end_ns <= c->times[after].enter_ns)
		return;
	if (!c->violations++)
		printf("# operation %llu was entered %llu ns before %llu had ended\n",
		       (unsigned long long)after,
		       (unsigned long long)(c->times[before].end_ns - c->times[after].enter_ns),
		       (unsigned long long)before);
}

static void check_from(struct checker *c, u32 task, u32 index, u64 after);

/* Each operation that signals the latch; programs of this test are small. */
static void check_latch(struct checker *c, u32 latch, u64 after)
{
	u32 task, index;

	for (task = 0; task < c->program.task_count; task++) {
		const struct iot_program_task *t = &c->program.tasks[task];
		const struct iot_program_op *ops = c->program.ops + le64_to_cpu(t->first_op);

		for (index = 0; index < le32_to_cpu(t->op_count); index++)
			if (le16_to_cpu(ops[index].kind) == IOT_PLAY_signal &&
			    le32_to_cpu(ops[index].handle) == latch + 1)
				check_from(c, task, index, after);
	}
}

static void check_waits(struct checker *c, u32 task, u32 index, u64 after)
{
	const struct iot_program_task *t = &c->program.tasks[task];
	const struct iot_program_op *op = c->program.ops + le64_to_cpu(t->first_op) + index;
	const struct iot_program_wait *wait =
		c->program.waits + le64_to_cpu(t->first_wait) + le32_to_cpu(op->first_wait);
	u32 i;

	for (i = 0; i < le16_to_cpu(op->wait_count) && le16_to_cpu(op->kind) != IOT_PLAY_timed; i++, wait++) {
		if (le32_to_cpu(wait->task) == IOT_WAIT_LATCH)
			check_latch(c, le32_to_cpu(wait->index), after);
		else
			check_from(c, le32_to_cpu(wait->task), le32_to_cpu(wait->index), after);
	}
	if (index)
		check_from(c, task, index - 1, after);
}

/* The operation must have ended before @after started. */
static void check_from(struct checker *c, u32 task, u32 index, u64 after)
{
	u64 at = le64_to_cpu(c->program.tasks[task].first_op) + index;

	if (has_record(&c->program.ops[at]))
		check_edge(c, at, after);
	else
		check_waits(c, task, index, after);
}

static void check(struct checker *c)
{
	u32 task, index;

	for (task = 0; task < c->program.task_count; task++) {
		u64 first = le64_to_cpu(c->program.tasks[task].first_op);

		for (index = 0; index < le32_to_cpu(c->program.tasks[task].op_count); index++) {
			if (!has_record(&c->program.ops[first + index]))
				continue;
			if (!c->times[first + index].is_there) {
				c->violations++;
				printf("# operation %llu was not performed\n",
				       (unsigned long long)(first + index));
			}
			check_waits(c, task, index, first + index);
		}
	}
}

int main(int argc, char **argv)
{
	struct iot_reject reject = {};
	struct checker c = {};
	int i;

	if (argc < 3) {
		fprintf(stderr, "usage: order PROGRAM OUTCOMES...\n");
		return 2;
	}
	if (iot_program_load(argv[1], &c.program, &reject)) {
		printf("# %s: %s\n", argv[1], iot_reject_sentence(&reject));
		return 1;
	}
	c.times = calloc(c.program.op_count + 1, sizeof(*c.times));
	for (i = 2; i < argc; i++) {
		if (c.times && !iot_trace_walk(argv[i], take, &c, NULL, &reject))
			continue;
		printf("# %s: %s\n", argv[i], iot_reject_sentence(&reject));
		return 1;
	}
	check(&c);
	printf("# %llu edges, %llu violations\n", (unsigned long long)c.edges,
	       (unsigned long long)c.violations);
	free(c.times);
	iot_program_free(&c.program);
	return c.violations || !c.edges;
}
