// SPDX-License-Identifier: GPL-2.0-only
/*
 * discover.c - the runs of a discovery, and what they show together.
 */
#include "discover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

static u64 greater(u64 x, u64 y)
{
	return x > y ? x : y;
}

/**
 * discovery_open() - begin a discovery
 * @discovery: out
 *
 * Return: 0 or a negative errno.
 */
int discovery_open(struct discovery **discovery)
{
	int err;

	*discovery = calloc(1, sizeof(**discovery));
	if (!*discovery)
		return -ENOMEM;
	err = run_paths_open(&(*discovery)->paths);
	if (err) {
		free(*discovery);
		*discovery = NULL;
	}
	return err;
}

/**
 * discovery_close() - end a discovery
 * @discovery: may be NULL
 */
void discovery_close(struct discovery *discovery)
{
	u32 i;

	if (!discovery)
		return;
	for (i = 0; discovery->waits && i < discovery->base.task_count; i++)
		free(discovery->waits[i]);
	free(discovery->waits);
	free(discovery->threads);
	free(discovery->is_delayed);
	run_free(&discovery->base);
	for (i = 0; i < discovery->count; i++)
		run_free(&discovery->runs[i]);
	free(discovery->runs);
	free(discovery->orders.list);
	free(discovery->known.list);
	free(discovery->known_waits.list);
	run_paths_close(discovery->paths);
	free(discovery);
}

/* Did an exec make the task? Then its thread has the number of the task before. */
static bool is_thread(const struct run_task *task)
{
	return task->why != IOT_REASON_exec;
}

static void number_threads(struct discovery *discovery)
{
	const struct run *base = &discovery->base;
	u32 i, number = 0, before;

	for (i = 0; i < base->task_count; i++) {
		before = is_thread(&base->tasks[i]) ? RUN_NONE : run_task_find(base, base->tasks[i].parent);
		if (is_thread(&base->tasks[i]))
			number++;
		discovery->threads[i] = before < i ? discovery->threads[before] : number;
	}
}

static int add_base(struct discovery *discovery, const char *path, struct iot_reject *reject)
{
	struct run *base = &discovery->base;
	int err = run_load(base, path, discovery->paths, reject);
	u32 i;

	discovery->waits = calloc(base->task_count + 1u, sizeof(*discovery->waits));
	discovery->threads = calloc(base->task_count + 1u, sizeof(*discovery->threads));
	discovery->is_delayed = calloc(base->task_count + 1u, sizeof(*discovery->is_delayed));
	if (!discovery->waits || !discovery->threads || !discovery->is_delayed)
		return -ENOMEM;
	for (i = 0; i < base->task_count; i++) {
		base->tasks[i].twin = i;
		discovery->waits[i] = calloc(base->tasks[i].count + 1u, sizeof(**discovery->waits));
		if (!discovery->waits[i])
			return -ENOMEM;
	}
	number_threads(discovery);
	discovery->has_base = !err;
	return err;
}

/**
 * discovery_add() - add a run
 * @discovery: the discovery
 * @path: of its trace; the first one has no delays
 * @reject: filled in if the trace is refused
 * @why: out, if the program did not do the same as in the first run: the first difference
 *
 * Return: 0; -EXDEV if the program did something else; or another negative errno.
 */
int discovery_add(struct discovery *discovery, const char *path, struct iot_reject *reject, char why[DISCOVERY_WHY_BYTES])
{
	struct run *grown, *run;
	int err;

	if (!discovery->has_base)
		return add_base(discovery, path, reject);
	grown = realloc(discovery->runs, (discovery->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	discovery->runs = grown;
	run = &grown[discovery->count++];
	*run = (struct run){};
	err = run_load(run, path, discovery->paths, reject);
	if (!err)
		err = run_match(run, &discovery->base, why, DISCOVERY_WHY_BYTES);
	if (err)
		run_free(&discovery->runs[--discovery->count]); /* its places have no twins */
	return err;
}

static int compare_u64(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static u64 longer(u64 a_ns, u64 b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/* Times between the places of a task. Of few places, the usual one is the longest. */
static void add_gaps(const struct run_task *task, struct discovery_thread *thread)
{
	u64 *gaps;
	u32 i;

	if (task->count < 2)
		return;
	gaps = calloc(task->count, sizeof(*gaps));
	if (!gaps)
		return;
	for (i = 1; i < task->count; i++)
		if (task->places[i].enter_ns > task->places[i - 1].end_ns)
			gaps[i] = task->places[i].enter_ns - task->places[i - 1].end_ns;
	qsort(gaps, task->count, sizeof(*gaps), compare_u64);
	thread->gap_ns = longer(thread->gap_ns, gaps[task->count - 1 - task->count / 20]);
	thread->longest_gap_ns = longer(thread->longest_gap_ns, gaps[task->count - 1]);
	free(gaps);
}

/* Add what the task of a thread did, and the tasks that it became. */
static void add_task(const struct run *run, u32 index, struct discovery_thread *thread)
{
	const struct run_task *task = &run->tasks[index];
	u32 i;

	thread->command = task->command;
	thread->places += task->count;
	add_gaps(task, thread);
	for (i = index + 1; i < run->task_count; i++)
		if (run->tasks[i].parent == task->id && !is_thread(&run->tasks[i]))
			add_task(run, i, thread);
}

/**
 * discovery_thread() - a thread of the run without delays
 * @discovery: with that run
 * @index: from 0, in the order of creation
 * @thread: out; lives as long as the discovery
 *
 * Return: 0; -ENOENT if there are no more.
 */
int discovery_thread(const struct discovery *discovery, u32 index, struct discovery_thread *thread)
{
	const struct run *base = &discovery->base;
	u32 i, number = 0, node_number = 0, command_number = 0;

	for (i = 0; i < base->task_count; i++) {
		const struct run_task *task = &base->tasks[i];

		if (i && task->node != base->tasks[i - 1].node) /* ids are sorted by nodes */
			node_number = command_number = 0;
		if (!is_thread(task))
			continue;
		node_number++;
		command_number += task->why == IOT_REASON_adopt;
		if (number++ < index)
			continue;
		*thread = (struct discovery_thread){
			.number = number,
			.node = discovery_node(discovery, task->node),
			.node_number = node_number,
			.command_number = task->why == IOT_REASON_adopt ? command_number : 0,
		};
		add_task(base, i, thread);
		return 0;
	}
	return -ENOENT;
}

/**
 * discovery_node() - a node of the run without delays
 * @discovery: with that run
 * @index: from 0
 *
 * Return: its name; NULL if there are no more, or if the job ran on one node.
 */
const char *discovery_node(const struct discovery *discovery, u32 index)
{
	return index < discovery->base.node_count ? discovery->base.nodes[index].name : NULL;
}

/**
 * discovery_node_commands() - how many commands were recorded on a node together
 * @discovery: with the run without delays
 * @index: of the node
 */
u32 discovery_node_commands(const struct discovery *discovery, u32 index)
{
	const struct run *base = &discovery->base;
	u32 i, count = 0;

	for (i = 0; i < base->task_count; i++)
		count += base->tasks[i].node == index && base->tasks[i].why == IOT_REASON_adopt;
	return count;
}

/**
 * discovery_duration_ns() - how long the run without delays took
 * @discovery: with that run
 */
u64 discovery_duration_ns(const struct discovery *discovery)
{
	return discovery->base.end_ns - discovery->base.begin_ns;
}

/* Has a run added an order, or contradicted one? */
static bool differ(const struct orders *x, const struct orders *y)
{
	u32 i;

	for (i = 0; i < x->count && i < y->count; i++) {
		const struct order *a = &x->list[i], *b = &y->list[i];

		if (a->task != b->task || a->place != b->place || a->waiter != b->waiter || a->waiter_place != b->waiter_place)
			return true;
	}
	return x->count != y->count;
}

static void explain_waits(struct discovery *discovery)
{
	const struct run *base = &discovery->base;
	u32 i, j;

	for (i = 0; i < base->task_count; i++)
		for (j = 0; j < base->tasks[i].count; j++)
			discovery->waits[i][j].explained_ns = 0;
	for (i = 0; i < discovery->orders.count; i++) {
		const struct order *o = &discovery->orders.list[i];
		u64 *explained_ns = &discovery->waits[o->waiter][o->waiter_place].explained_ns;

		*explained_ns = greater(*explained_ns, base->tasks[o->task].places[o->place].end_ns);
	}
}

static u32 count_abandoned(const struct run *run)
{
	u32 i, count = 0;

	for (i = 0; i < run->delay_count; i++)
		count += run->delays[i].ending == IOT_ENDING_abandoned;
	return count;
}

/**
 * discovery_find() - compare all runs
 * @discovery: with the run without delays; may be called again after another run
 * @result: out
 *
 * Return: 0 or -ENOMEM.
 */
int discovery_find(struct discovery *discovery, struct discovery_result *result)
{
	struct orders *orders = &discovery->orders, before = *orders;
	u32 i;
	int err = 0;

	*orders = (struct orders){};
	*result = (struct discovery_result){ .runs = discovery->count };
	for (i = 0; i < discovery->count && !err; i++) {
		result->delays += discovery->runs[i].delay_count;
		result->abandoned += count_abandoned(&discovery->runs[i]);
		err = orders_of_run(orders, &discovery->base, &discovery->runs[i], &result->doubtful);
	}
	orders_sort(orders);
	result->contradicted = orders_contradict(orders, &discovery->base);
	for (i = 0; i < discovery->count; i++)
		result->contradicted += orders_contradict(orders, &discovery->runs[i]);
	explain_waits(discovery);
	if (!err)
		err = orders_reduce(orders, &discovery->base, &result->redundant);
	discovery->has_changed = differ(&before, orders);
	free(before.list);
	result->edges = orders->count;
	for (i = 0; i < orders->count; i++)
		result->once += orders->list[i].delays == 1;
	return err;
}

/* -- the trace of the run without delays, with the orders ----------------------------------------- */

/*
 * CPU time of the waiting task before it waited. As much of the time on a CPU between its two operations as possible is
 * after the wait. A task that spins runs for nearly all of the time, of which nothing was before the wait.
 */
static u64 runtime_before_ns(const struct run_task *waiter, u32 place, u64 wait_ns)
{
	const struct place *to = &waiter->places[place], *before = place ? to - 1 : NULL;
	u64 free_ns = before ? before->end_ns : waiter->begin_ns;
	u64 ran_ns = before ? before->runtime_ns + before->oncpu_ns : 0;
	u64 run_ns = to->runtime_ns > ran_ns ? to->runtime_ns - ran_ns : 0;
	u64 after_ns = to->enter_ns > wait_ns ? to->enter_ns - wait_ns : 0;
	u64 gap_ns = to->enter_ns > free_ns ? to->enter_ns - free_ns : 0;

	if (run_ns >= gap_ns / 10 * 9 || run_ns <= after_ns)
		return ran_ns;
	return ran_ns + run_ns - after_ns;
}

static void make_record(const struct discovery *discovery, const struct order *order, struct iot_record *record)
{
	const struct run_task *task = &discovery->base.tasks[order->task];
	const struct run_task *waiter = &discovery->base.tasks[order->waiter];
	const struct place *from = &task->places[order->place], *to = &waiter->places[order->waiter_place];
	u64 free_ns = order->waiter_place ? to[-1].end_ns : waiter->begin_ns, wait_ns = greater(from->end_ns, free_ns);

	if (wait_ns > to->enter_ns) /* by the clocks of two nodes */
		wait_ns = to->enter_ns;
	*record = (struct iot_record){
		.kind = IOT_KIND_discovered,
		.discovered = {
			.time_ns = wait_ns,
			.ended_ns = from->end_ns,
			.task = task->id,
			.op = from->op,
			.waiter = waiter->id,
			.waiter_op = to->op - 1,
			.waiter_runtime_ns = runtime_before_ns(waiter, order->waiter_place, wait_ns),
			.delays = order->delays,
		},
	};
}

static int put_fact(const struct discovery *discovery, struct iot_writer *writer, u64 time_ns)
{
	char text[64];

	snprintf(text, sizeof(text), IOT_FACT_DISCOVERED "=%u runs", discovery->count);
	return iot_writer_fact(writer, time_ns, text);
}

static int compare_records(const void *a, const void *b)
{
	const struct iot_record *x = a, *y = b;

	return x->discovered.time_ns < y->discovered.time_ns ? -1 : x->discovered.time_ns > y->discovered.time_ns;
}

/* Copies the trace; the new records are where their times are. */
static int merge(const struct discovery *discovery, struct iot_reader *reader, struct iot_writer *writer,
		 const struct iot_record *orders, struct iot_reject *reject)
{
	struct iot_record record;
	bool is_first = true;
	u32 next = 0;
	int n = 0, err = 0;

	while (!err && (n = iot_reader_next(reader, &record, reject)) > 0) {
		u64 end_ns = iot_record_end_ns(&record);

		if (is_first)
			err = put_fact(discovery, writer, end_ns);
		is_first = false;
		while (!err && next < discovery->orders.count && orders[next].discovered.time_ns < end_ns)
			err = iot_writer_record(writer, &orders[next++]);
		if (!err)
			err = iot_writer_record(writer, &record);
	}
	while (!err && !n && next < discovery->orders.count)
		err = iot_writer_record(writer, &orders[next++]);
	return err ? err : n;
}

static int copy(const struct discovery *discovery, struct iot_reader *reader, struct iot_writer *writer, struct iot_reject *reject)
{
	struct iot_record *orders = calloc(discovery->orders.count + 1, sizeof(*orders));
	u32 i;
	int err;

	if (!orders)
		return -ENOMEM;
	for (i = 0; i < discovery->orders.count; i++)
		make_record(discovery, &discovery->orders.list[i], &orders[i]);
	qsort(orders, discovery->orders.count, sizeof(*orders), compare_records);
	err = merge(discovery, reader, writer, orders, reject);
	free(orders);
	return err;
}

/**
 * discovery_write() - write the trace of the run without delays, with the orders that were found
 * @discovery: after discovery_find()
 * @output: path of the new trace; removed after an error
 * @reject: filled in if the trace of the run cannot be read any more
 *
 * Return: 0 or a negative errno.
 */
int discovery_write(const struct discovery *discovery, const char *output, struct iot_reject *reject)
{
	struct iot_trace_info info;
	struct iot_reader *reader;
	struct iot_writer *writer;
	int err = iot_reader_open(discovery->base.path, &reader, reject);

	if (err)
		return err;
	iot_reader_info(reader, &info);
	err = iot_writer_open_at(output, info.capture, info.real_ns, info.mono_ns, &writer);
	if (!err) {
		err = copy(discovery, reader, writer, reject);
		if (!err)
			err = iot_writer_finish(writer);
		if (err)
			iot_writer_discard(writer);
		iot_writer_close(writer);
	}
	iot_reader_close(reader);
	return err;
}
