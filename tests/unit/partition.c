// SPDX-License-Identifier: GPL-2.0-only
/*
 * partition.c - nodes that exchange the messages of partition.c preserve the order of the program, reach its
 * end, and send nothing else: random programs on several nodes; messages between two nodes arrive in order,
 * everything else in any order.
 */
#include "replay/partition.h"

#include <stdlib.h>

#include "builder.h"
#include "core/replay/order.h"
#include "suite.h"

#define TASKS	  12
#define OPS_MAX	  20
#define LATCHES	  6
#define NODES_MAX 4
#define NOTES_MAX 4096
#define PROGRAMS  400

struct queue {
	struct partition_note notes[NOTES_MAX];
	u32 taken;
	u32 count;
};

struct simulation {
	u8 *bytes;
	struct iot_program program;
	u32 nodes;
	u32 node_of[TASKS];
	struct partition partitions[NODES_MAX];
	u32 progress[NODES_MAX + 1][TASKS]; /* as known to each node; the last row is the truth */
	u32 pending[NODES_MAX + 1][LATCHES];
	struct iot_order orders[NODES_MAX + 1];
	struct queue queues[NODES_MAX][NODES_MAX];
	u32 teller;
	u32 told;
};

static u32 below(u32 limit)
{
	return (u32)rand() % limit;
}

/*
 * Operations are generated in an order in which they could run, each for a random task: so waits have no
 * cycle. Some operations signal a latch, and later ones wait for it.
 */
static void make_program(struct builder *b, bool has_edges)
{
	u16 kinds[TASKS][OPS_MAX] = {};
	u32 latches[TASKS][OPS_MAX] = {}, counts[TASKS] = {}, signals[LATCHES] = {}, task, i, latch = 0;
	struct iot_program_wait waits[TASKS][OPS_MAX][3];
	u32 wait_counts[TASKS][OPS_MAX] = {};

	for (i = 0; i < TASKS * OPS_MAX / 2; i++) {
		u32 other = below(TASKS), at;

		task = below(TASKS);
		at = counts[task];
		if (at == OPS_MAX)
			continue;
		counts[task]++;
		kinds[task][at] = IOT_PLAY_wait;
		if (latch < LATCHES && !below(4)) { /* signals the current latch */
			kinds[task][at] = IOT_PLAY_signal;
			latches[task][at] = latch;
			signals[latch]++;
			continue;
		}
		if (latch < LATCHES && signals[latch] && !below(10))
			latch++;
		if (has_edges && other != task && counts[other])
			waits[task][at][wait_counts[task][at]++] = (struct iot_program_wait){
				cpu_to_le32(other), cpu_to_le32(below(counts[other])) };
		if (has_edges && latch && !below(2))
			waits[task][at][wait_counts[task][at]++] = (struct iot_program_wait){
				cpu_to_le32(IOT_WAIT_LATCH), cpu_to_le32(below(latch)) };
	}
	for (i = 0; i < LATCHES; i++)
		builder_latch(b, signals[i]);
	for (task = 0; task < TASKS; task++) {
		builder_task(b);
		for (i = 0; i < counts[task]; i++) {
			u32 w;

			builder_op(b, kinds[task][i])->handle =
				cpu_to_le32(kinds[task][i] == IOT_PLAY_signal ? latches[task][i] + 1 : 0);
			for (w = 0; w < wait_counts[task][i]; w++)
				builder_wait(b, le32_to_cpu(waits[task][i][w].task),
					     le32_to_cpu(waits[task][i][w].index));
		}
	}
}

static void simulation_open(struct simulation *s, bool has_edges)
{
	struct iot_reject reject;
	struct builder b;
	size_t byte_count;
	u32 i;

	builder_open(&b);
	make_program(&b, has_edges);
	s->bytes = builder_bytes(&b, &byte_count);
	builder_close(&b);
	assert_int_equal(iot_program_open(&s->program, s->bytes, byte_count, &reject), 0);
	s->nodes = 1 + below(NODES_MAX);
	for (i = 0; i < TASKS; i++)
		s->node_of[i] = below(s->nodes);
	for (i = 0; i <= s->nodes; i++)
		iot_order_init(&s->orders[i], &s->program, s->progress[i], 1, s->pending[i]);
	for (i = 0; i < s->nodes; i++)
		assert_int_equal(partition_open(&s->partitions[i], &s->program, s->node_of, i, s->nodes), 0);
}

static void simulation_close(struct simulation *s)
{
	u32 i;

	for (i = 0; i < s->nodes; i++)
		partition_close(&s->partitions[i]);
	free(s->bytes);
}

static int tell(void *context, u32 node, const struct partition_note *note)
{
	struct simulation *s = context;
	struct queue *queue = &s->queues[s->teller][node];

	assert_int_not_equal(node, s->teller);
	assert_true(queue->count < NOTES_MAX);
	queue->notes[queue->count++] = *note;
	s->told++;
	return 0;
}

static const struct iot_program_op *next_op(const struct simulation *s, u32 task)
{
	return s->program.ops + le64_to_cpu(s->program.tasks[task].first_op) +
	       s->progress[s->nodes][task];
}

/* Run the next operation of a task, if its node believes that it may start. Return: did it run? */
static bool perform(struct simulation *s, u32 task)
{
	const struct iot_program_op *op = next_op(s, task);
	u32 node = s->node_of[task], next = 0, true_next = 0, latch;

	if (s->progress[s->nodes][task] == le32_to_cpu(s->program.tasks[task].op_count) ||
	    iot_order_blocker(&s->orders[node], task, op, &next))
		return false;
	assert_null(iot_order_blocker(&s->orders[s->nodes], task, op, &true_next));
	if (le16_to_cpu(op->kind) == IOT_PLAY_signal) {
		latch = le32_to_cpu(op->handle) - 1;
		s->pending[node][latch]--;
		s->pending[s->nodes][latch]--;
	}
	s->progress[node][task]++;
	s->progress[s->nodes][task]++;
	return true;
}

/* The agent of a node checks a task, perhaps late. */
static void look(struct simulation *s, u32 task)
{
	s->teller = s->node_of[task];
	partition_report(&s->partitions[s->teller], task, s->progress[s->teller][task], tell, s);
}

static bool deliver(struct simulation *s, u32 from, u32 to)
{
	struct queue *queue = &s->queues[from][to];
	const struct partition_note *note;

	if (queue->taken == queue->count)
		return false;
	note = &queue->notes[queue->taken++];
	assert_true(partition_receive(&s->partitions[to], from, note));
	if (note->news == PARTITION_PASSED)
		s->progress[to][note->what] = note->value;
	else
		s->pending[to][note->what] -= note->value;
	return true;
}

/* One random step; at the end, one of each kind. Return: was there progress? */
static bool step(struct simulation *s, bool is_thorough)
{
	u32 i, j;
	bool is_moved = false;

	for (i = 0; i < TASKS; i++)
		if (is_thorough || !below(TASKS))
			is_moved |= perform(s, i);
	for (i = 0; i < TASKS; i++)
		if (is_thorough || !below(2 * TASKS))
			look(s, i);
	for (i = 0; i < s->nodes; i++)
		for (j = 0; j < s->nodes; j++)
			if (is_thorough || !below(s->nodes))
				is_moved |= deliver(s, i, j);
	return is_moved;
}

static void run(struct simulation *s)
{
	u32 i;

	for (i = 0; i < 500; i++)
		step(s, false);
	while (step(s, true))
		;
	for (i = 0; i < TASKS; i++)
		assert_int_equal(s->progress[s->nodes][i], le32_to_cpu(s->program.tasks[i].op_count));
	for (i = 0; i < s->nodes; i++)
		assert_true(partition_is_reported(&s->partitions[i]));
}

static void nodes_keep_the_order_and_finish(void **state)
{
	struct simulation *s = calloc(1, sizeof(*s));
	u32 told = 0, i;

	(void)state;
	for (i = 0; i < PROGRAMS; i++) {
		srand(i);
		memset(s, 0, sizeof(*s));
		simulation_open(s, true);
		run(s);
		told += s->told;
		simulation_close(s);
	}
	assert_true(told > PROGRAMS);
	free(s);
}

static void progress_without_waiters_is_not_sent(void **state)
{
	struct simulation *s = calloc(1, sizeof(*s));

	(void)state;
	srand(1);
	simulation_open(s, false);
	run(s);
	assert_int_equal(s->told, 0);
	simulation_close(s);
	free(s);
}

/* Task 0 here; task 1 of node 1 with three operations; both signal a latch. */
static void impossible_progress_is_refused(void **state)
{
	static const struct {
		const char *name;
		u32 from;
		struct partition_note note;
		bool is_right;
	} rows[] = {
		{ "an unknown kind", 1, { 0, 1, 1 }, false },
		{ "an unknown task", 1, { PARTITION_PASSED, 2, 1 }, false },
		{ "a local task", 1, { PARTITION_PASSED, 0, 1 }, false },
		{ "a task of another node", 2, { PARTITION_PASSED, 1, 1 }, false },
		{ "no progress", 1, { PARTITION_PASSED, 1, 0 }, false },
		{ "progress", 1, { PARTITION_PASSED, 1, 2 }, true },
		{ "the same again", 1, { PARTITION_PASSED, 1, 2 }, false },
		{ "back", 1, { PARTITION_PASSED, 1, 1 }, false },
		{ "beyond the end", 1, { PARTITION_PASSED, 1, 4 }, false },
		{ "to the end", 1, { PARTITION_PASSED, 1, 3 }, true },
		{ "an unknown latch", 1, { PARTITION_SIGNALED, 1, 1 }, false },
		{ "no signal", 1, { PARTITION_SIGNALED, 0, 0 }, false },
		{ "too many", 1, { PARTITION_SIGNALED, 0, 2 }, false },
		{ "the missing signal", 1, { PARTITION_SIGNALED, 0, 1 }, true },
		{ "the same again, at the latch", 1, { PARTITION_SIGNALED, 0, 1 }, false },
	};
	const u32 node_of[] = { 0, 1 };
	struct iot_program program;
	struct iot_reject reject;
	struct partition partition;
	struct builder b;
	size_t byte_count, i;
	u8 *bytes;

	(void)state;
	builder_open(&b);
	builder_latch(&b, 2);
	builder_task(&b);
	builder_op(&b, IOT_PLAY_signal)->handle = cpu_to_le32(1);
	builder_task(&b);
	builder_op(&b, IOT_PLAY_signal)->handle = cpu_to_le32(1);
	builder_op(&b, IOT_PLAY_wait);
	builder_op(&b, IOT_PLAY_wait);
	bytes = builder_bytes(&b, &byte_count);
	builder_close(&b);
	assert_int_equal(iot_program_open(&program, bytes, byte_count, &reject), 0);
	assert_int_equal(partition_open(&partition, &program, node_of, 0, 3), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_row(rows[i].name,
			   partition_receive(&partition, rows[i].from, &rows[i].note) == rows[i].is_right);
	partition_close(&partition);
	free(bytes);
}

SUITE("partition",
      TEST(nodes_keep_the_order_and_finish)
      TEST(progress_without_waiters_is_not_sent)
      TEST(impossible_progress_is_refused))
