// SPDX-License-Identifier: GPL-2.0-only
/*
 * compile.c - write the graph of a trace as a program.
 */
#include "compile.h"

#include <stdlib.h>

#include "compiler.h"
#include "initial.h"
#include "filter/filter.h"

/* -- tasks ------------------------------------------------------------------------------------- */

static u32 program_parent(const struct compiler *c, u32 index)
{
	const struct graph_task *task = &c->graph->tasks[index];
	u32 parent = graph_task_find(c->graph, task->parent);

	if (task->queue_of != GRAPH_NONE)
		return c->program_task[task->queue_of];
	if (parent == GRAPH_NONE || c->program_task[parent] == GRAPH_NONE)
		return c->program_task[index];
	return c->program_task[parent];
}

static int compare_processes(const void *a, const void *b)
{
	const struct graph_rank *x = a, *y = b;

	return (x->tgid > y->tgid) - (x->tgid < y->tgid);
}

static int sort_ranks(struct compiler *c)
{
	size_t bytes = c->graph->rank_count * sizeof(*c->ranks);

	c->ranks = malloc(bytes + 1);
	if (!c->ranks)
		return -ENOMEM;
	if (bytes) {
		memcpy(c->ranks, c->graph->ranks, bytes);
		qsort(c->ranks, c->graph->rank_count, sizeof(*c->ranks), compare_processes);
	}
	return 0;
}

/* In the world, plus 1; 0 if the task's process has none. */
static u32 rank_of(const struct compiler *c, const struct graph_task *task)
{
	const struct graph_rank key = { .tgid = task->tgid };
	const struct graph_rank *rank = bsearch(&key, c->ranks, c->graph->rank_count,
						sizeof(key), compare_processes);

	return rank ? rank->world_rank + 1 : 0;
}

static int put_task(struct compiler *c, u32 index, u32 space)
{
	const struct graph_task *from = &c->graph->tasks[index];
	const struct graph_task *user = from->queue_of == GRAPH_NONE ? from : &c->graph->tasks[from->queue_of];
	struct iot_program_task task = {
		.first_op = cpu_to_le64(iot_builder_count(c->builder, IOT_SECTION_OPS)),
		.first_wait = cpu_to_le64(iot_builder_count(c->builder, IOT_SECTION_WAITS)),
		.origin = cpu_to_le32(c->graph->tasks[index].id),
		.parent = cpu_to_le32(program_parent(c, index)),
		.space = cpu_to_le32(space),
		.flags = cpu_to_le32(
			(c->graph->tasks[index].has_maps ? IOT_TASK_MAPS : 0) |
			(c->graph->tasks[index].queue_of != GRAPH_NONE ? IOT_TASK_QUEUE : 0)),
		.rank = cpu_to_le32(rank_of(c, from)),
		.uid = cpu_to_le32(user->uid),
		.gid = cpu_to_le32(user->gid),
	};
	u32 waits = 0, j;
	int err = iot_builder_text(c->builder, c->graph->tasks[index].command ?: "", &task.command);

	c->task = &c->graph->tasks[index];
	for (j = 0; j < c->task->op_count && !err; j++) {
		c->op = &c->task->ops[j];
		err = compiler_put_op(c, &waits);
	}
	task.op_count = cpu_to_le32(c->task->op_count);
	task.wait_count = cpu_to_le32(waits);
	if (!err && iot_builder_add(c->builder, IOT_SECTION_TASKS, &task) < 0)
		err = -ENOMEM;
	if (c->own)
		analysis_drop_ops(c->own, index);
	return err;
}

static int put_queues(struct compiler *c, u32 index, u32 space)
{
	const struct graph_task *task = &c->graph->tasks[index];
	u32 i;
	int err = 0;

	for (i = 0; i < task->queue_count && !err; i++)
		err = put_task(c, task->first_queue + i, space);
	return err;
}

/* Address spaces of tasks that are in the program, numbered without gaps. */
static int put_tasks(struct compiler *c)
{
	u32 *spaces = malloc((c->graph->space_count + 1) * sizeof(*spaces)), count = 0, i;
	int err = spaces ? 0 : -ENOMEM;

	for (i = 0; i < c->graph->space_count && !err; i++)
		spaces[i] = GRAPH_NONE;
	for (i = 0; i < c->graph->task_count && !err; i++) {
		u32 space = c->graph->tasks[i].space;

		if (c->program_task[i] == GRAPH_NONE || c->graph->tasks[i].queue_of != GRAPH_NONE)
			continue;
		if (spaces[space] == GRAPH_NONE)
			spaces[space] = count++;
		err = put_task(c, i, spaces[space]);
		if (!err)
			err = put_queues(c, i, spaces[space]);
	}
	free(spaces);
	return err;
}

/* The request queues of a task follow it. @number: out: of all */
static int number_tasks(struct compiler *c, u32 *number)
{
	const struct graph_task *tasks = c->graph->tasks;
	u32 count = 0, i, j;

	c->program_task = malloc((c->graph->task_count + 1) * sizeof(*c->program_task));
	if (!c->program_task)
		return -ENOMEM;
	for (i = 0; i < c->graph->task_count; i++) {
		if (tasks[i].queue_of != GRAPH_NONE)
			continue;
		c->program_task[i] = tasks[i].has_io ? count++ : GRAPH_NONE;
		for (j = 0; j < tasks[i].queue_count; j++)
			c->program_task[tasks[i].first_queue + j] = count++;
	}
	*number = count;
	return count > IOT_PROGRAM_TASKS_MAX ? -E2BIG : 0;
}

static int put_latches(struct compiler *c)
{
	u32 i;

	for (i = 0; i < c->graph->latch_count; i++) {
		struct iot_program_latch latch = { .signals = cpu_to_le32(c->graph->latches[i]) };

		if (iot_builder_add(c->builder, IOT_SECTION_LATCHES, &latch) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* -- facts ------------------------------------------------------------------------------ */

static int put_number(struct compiler *c, const char *key, u64 value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", value);
	return iot_builder_fact(c->builder, key, text);
}

static int put_facts(struct compiler *c)
{
	int err = iot_builder_omissions(c->builder, &c->summary->omissions);
	u32 i;

	for (i = 0; i < c->graph->fact_count && !err; i++) {
		char *equals = strchr(c->graph->facts[i], '=');
		char key[128];

		if (!equals || !strncmp(c->graph->facts[i], "omission.", strlen("omission.")))
			continue;
		snprintf(key, sizeof(key), "trace.%.*s", (int)(equals - c->graph->facts[i]),
			 c->graph->facts[i]);
		err = iot_builder_fact(c->builder, key, equals + 1);
	}
	if (!err)
		err = put_number(c, "trace.duration_ns", c->graph->end_ns - c->graph->begin_ns);
	if (!err)
		err = put_number(c, "trace.operations", c->graph->operations);
	if (!err)
		err = put_number(c, "trace.read_bytes", c->graph->read_bytes);
	if (!err)
		err = put_number(c, "trace.write_bytes", c->graph->write_bytes);
	if (!err)
		err = iot_builder_fact(c->builder, "compile.order", c->options->order ?: "iotape");
	for (i = 0; i < EDGE_CAUSE_COUNT && !err; i++)
		if (analysis_options(c->analysis)->without & (1u << i))
			err = iot_builder_fact(c->builder, "compile.without", edge_cause_names[i]);
	return err;
}

/* -- all of it ------------------------------------------------------------------------------------- */

/* Names of commands are the graph's, which does not live as long as the summary. */
static int summarize_times(struct compiler *c)
{
	struct compile_summary *s = c->summary;
	int err = graph_times(c->graph, &s->times, &s->time_count);
	u32 i;

	for (i = 0; i < s->time_count; i++) {
		s->times[i].command = strdup(s->times[i].command);
		if (!s->times[i].command)
			err = -ENOMEM;
	}
	return err;
}

/* -- omissions ---------------------------------------------------------------------------- */

/* By kind, as "ioctl 3, lock 2". Return: their number. */
static u64 list_dropped(const struct compile_summary *s, char *text, size_t room)
{
	u64 count = 0;
	size_t at = 0;
	u32 i;

	text[0] = 0;
	for (i = 0; i < IOT_KIND_END; i++) {
		count += s->dropped[i];
		if (s->dropped[i] && at < room)
			at += (size_t)snprintf(text + at, room - at, "%s%s %llu", at ? ", " : "",
					       iot_kind_info((u16)i)->name, s->dropped[i]);
	}
	return count;
}

/* To be called when all operations are in the program. */
static void sum_omissions(struct compiler *c)
{
	struct compile_summary *s = c->summary;
	const struct graph *graph = c->graph;
	char detail[IOT_OMISSION_DETAIL_BYTES];
	u64 dropped;
	u32 i;

	for (i = 0; i < IOT_KIND_END; i++)
		s->dropped[i] += graph->dropped[i];
	s->dropped_bytes += graph->dropped_bytes;
	dropped = list_dropped(s, detail, sizeof(detail));
	s->omissions = graph->omissions;
	s->omissions.operations -= dropped;
	s->omissions.bytes -= s->dropped_bytes;
	iot_omissions_add(&s->omissions, IOT_OMISSION_not_expressed, dropped, dropped, s->dropped_bytes,
			  detail);
	iot_omissions_add(&s->omissions, IOT_OMISSION_unexplained, graph->unexplained, 0, 0, NULL);
	iot_omissions_add(&s->omissions, IOT_OMISSION_unmatched,
			  graph->mpi_unmatched + graph->mpi_ambiguous, 0, 0, NULL);
	iot_omissions_add(&s->omissions, IOT_OMISSION_contradicted, graph->mpi_contradicted, 0, 0, NULL);
	iot_omissions_add(&s->omissions, IOT_OMISSION_sources, graph->mpi_unknown, 0, 0, NULL);
}

/* The share of the time on CPUs that waits for the program's own tasks must have before they matter: 1 / COMPETITION. */
#define COMPETITION 10

/* Not if tasks may have polled in MPI calls: then it is an estimate for how long they ran before and after a call. */
static bool has_competition(const struct compiler *c)
{
	const struct competition *sum = &c->summary->competition;

	return !c->graph->mpi_count && sum->own_ns && sum->own_ns >= sum->oncpu_ns / COMPETITION;
}

static int choose_think(struct compiler *c)
{
	struct compile_summary *s = c->summary;
	int err = competition_sum(c->graph, &s->competition);

	s->computes = c->options->think == COMPILE_THINK_CPU ||
		      (c->options->think == COMPILE_THINK_AUTO && has_competition(c));
	if (s->computes)
		iot_builder_compute(c->builder);
	return err;
}

static int build(struct compiler *c)
{
	u32 tasks;
	int err = number_tasks(c, &tasks);

	if (!err)
		err = iot_builder_stream(c->builder, c->options->program, tasks);
	if (!err)
		err = choose_think(c);
	if (!err)
		err = compiler_make_slots(c);
	if (!err)
		err = put_tasks(c);
	if (!err)
		err = put_latches(c);
	if (!err)
		err = initial_put(c->builder, c->analysis, c->options, c->summary);
	if (!err) {
		sum_omissions(c);
		err = put_facts(c);
	}
	iot_builder_slots(c->builder, slots_count(c->handles), slots_count(c->maps));
	return err;
}

static void summarize(struct compiler *c)
{
	struct compile_summary *s = c->summary;
	const struct graph *graph = c->graph;
	u32 i;

	s->operations = graph->operations;
	s->ops = iot_builder_count(c->builder, IOT_SECTION_OPS);
	s->waits = iot_builder_count(c->builder, IOT_SECTION_WAITS);
	for (i = 0; i < graph->task_count; i++)
		s->queues += graph->tasks[i].queue_count;
	s->tasks = (u32)iot_builder_count(c->builder, IOT_SECTION_TASKS) - s->queues;
	s->latches = graph->latch_count;
	s->handles = slots_count(c->handles);
	s->maps = slots_count(c->maps);
	memcpy(s->edges, graph->edges_by_cause, sizeof(s->edges));
	memcpy(s->pruned, graph->pruned_by_cause, sizeof(s->pruned));
	memcpy(s->lengths, graph->lengths, sizeof(s->lengths));
	s->backpressure_waits = graph->backpressure_waits;
	s->backpressure_ns = graph->backpressure_ns;
	s->delays = graph->delays;
	s->delays_ns = graph->delays_ns;
	s->freed = graph->freed;
	s->freed_ns = graph->freed_ns;
	s->recorder_ns = graph->recorder_ns;
	s->recorder_cut = graph->recorder_cut;
	s->asleep_ns = graph->asleep_ns;
	s->has_wakes = !strcmp(graph_fact(graph, "wakes"), "on");
	s->unexplained = graph->unexplained;
	s->mpi_unmatched = graph->mpi_unmatched;
	s->mpi_ambiguous = graph->mpi_ambiguous;
	s->mpi_contradicted = graph->mpi_contradicted;
	s->mpi_unknown = graph->mpi_unknown;
	s->mpi_note_count = graph->mpi_note_count;
	memcpy(s->mpi_notes, graph->mpi_notes, sizeof(s->mpi_notes));
	s->lost = graph->info.lost + graph->info.missing;
	s->is_complete = graph->info.is_complete;
	snprintf(s->partial, sizeof(s->partial), "%s", graph_fact(graph, "partial"));
}

static int write_program(const struct analysis *analysis, struct analysis *own,
			 const struct compile_options *options, struct compile_summary *summary,
			 struct iot_reject *reject)
{
	const struct graph *graph = analysis_graph(analysis);
	struct compiler c = {
		.options = options, .analysis = analysis, .graph = graph, .own = own, .summary = summary,
	};
	int err = iot_builder_open(graph->info.capture, &c.builder);

	if (!err)
		err = slots_open(&c.handles);
	if (!err)
		err = slots_open(&c.maps);
	if (!err)
		err = slots_open(&c.objects);
	if (!err)
		err = slots_open(&c.owners);
	if (!err)
		err = summarize_times(&c);
	if (!err)
		err = sort_ranks(&c);
	if (!err)
		err = build(&c);
	if (!err) {
		summarize(&c);
		if (options->is_uncompressed)
			iot_builder_uncompress(c.builder);
		err = iot_builder_save(c.builder, options->program, reject);
	}
	free(c.program_task);
	free(c.ranks);
	slots_close(c.handles);
	slots_close(c.maps);
	slots_close(c.objects);
	slots_close(c.owners);
	iot_builder_close(c.builder);
	return err;
}

/* The value of a fact, of the whole trace or, in a merged one, of a node; NULL if it is another fact. */
static const char *value_of(const char *fact, const char *key)
{
	const char *equals = strchr(fact, '='), *at = equals ? equals - strlen(key) : NULL;

	if (!at || at < fact || strncmp(at, key, strlen(key)))
		return NULL;
	return at == fact || (at[-1] == '.' && !strncmp(fact, "node.", 5)) ? equals + 1 : NULL;
}

/* Does a fact allow that names, opens and closes were recorded? A filter that this version cannot compile may. */
static bool has_metadata(const char *fact)
{
	const char *ops = value_of(fact, IOT_FACT_OPS), *expression = value_of(fact, IOT_FACT_FILTER);
	struct filter_error error;
	struct filter *filter;
	bool has = true;
	size_t place;

	if (ops)
		return iot_op_classes_of(ops, &place) & 1 << IOT_OP_CLASS_metadata;
	if (expression && !filter_compile(expression, &filter, &error)) {
		has = filter_admits_metadata(filter);
		filter_free(filter);
	}
	return has;
}

/* Without names, opens and closes nothing is known of the files that the other operations are on. */
static int refuse_filtered(const struct graph *graph, struct iot_reject *reject)
{
	u32 i;

	for (i = 0; i < graph->fact_count; i++)
		if (!has_metadata(graph->facts[i])) {
			*reject = (struct iot_reject){ .reason = IOT_REJECT_filtered };
			return -EOPNOTSUPP;
		}
	return 0;
}

/**
 * compile_analysis() - write a program from an analysed trace
 * @analysis: only read, so that the caller may compile again or read on
 * @options: the program; @trace, @rules, @without, @fan_in_min and @progress of the analysis count instead
 * @summary: filled in; for compile_summary_free(), also on failure
 * @reject: filled in if the trace is refused, or the program would be
 *
 * Return: 0; -EINVAL if a pass has not run; or another negative errno. After an error no program was written.
 */
int compile_analysis(const struct analysis *analysis, const struct compile_options *options,
		     struct compile_summary *summary, struct iot_reject *reject)
{
	int err;

	*summary = (struct compile_summary){};
	*reject = (struct iot_reject){};
	err = refuse_filtered(analysis_graph(analysis), reject);
	if (!err && analysis_passes(analysis) != PASSES_ALL)
		err = -EINVAL;
	return err ? err : write_program(analysis, NULL, options, summary, reject);
}

/**
 * compile_trace() - load a trace, run all passes, and write a program
 * @options: the trace, the program and the rules
 * @summary: filled in; for compile_summary_free(), also on failure
 * @reject: filled in if the trace is refused, or the program would be
 *
 * The graph is freed while the program grows, so the peak of memory is lower than with compile_analysis().
 *
 * Return: 0 or a negative errno; then no program was written.
 */
int compile_trace(const struct compile_options *options, struct compile_summary *summary,
		  struct iot_reject *reject)
{
	const struct analysis_options rules = {
		.rules = options->rules,
		.without = options->without,
		.fan_in_min = options->fan_in_min,
		.spill = options->program,
		.progress = options->progress,
	};
	struct analysis *analysis;
	int err;

	*summary = (struct compile_summary){};
	*reject = (struct iot_reject){};
	err = analysis_load(&analysis, options->trace, &rules, reject);
	if (!err)
		err = refuse_filtered(analysis_graph(analysis), reject);
	if (!err)
		err = analysis_run(analysis, PASSES_ALL);
	if (!err)
		err = write_program(analysis, analysis, options, summary, reject);
	analysis_close(analysis);
	return err;
}

/**
 * compile_summary_free() - free the contents of a summary
 */
void compile_summary_free(struct compile_summary *summary)
{
	u32 i;

	for (i = 0; i < summary->time_count; i++)
		free((char *)summary->times[i].command);
	free(summary->times);
	summary->times = NULL;
	summary->time_count = 0;
}
