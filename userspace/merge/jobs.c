// SPDX-License-Identifier: GPL-2.0-only
/*
 * jobs.c - do the traces belong together, and is there one of everybody?
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"
#include "analyse/mpi/mpi.h"

/* -- one job ----------------------------------------------------------------------------------- */

/*
 * The name of a job: the one given to its recorder, else the key of its MPI_COMM_WORLD, or of the
 * world that spawned it, written to @room; "" if neither.
 */
static const char *label_of(const struct merge *merge, u32 number, char room[17])
{
	const struct merge_input *input = &merge->inputs[number];

	if (input->job)
		return input->job;
	room[0] = 0;
	if (input->world)
		snprintf(room, 17, "%016llx",
			 (unsigned long long)graph_world_root(merge->calls, input->world));
	return room;
}

static int check_shims(const struct merge *merge)
{
	const struct merge_input *first = NULL;
	bool is_said = false;
	u32 i;

	for (i = 0; i < merge->input_count; i++) {
		const struct merge_input *input = &merge->inputs[i];

		if (!input->shim)
			continue;
		if (!first)
			first = input;
		if (strcmp(first->shim, input->shim)) {
			merge->options.say("%s: was written by %s, and %s by %s: they are not of one job",
					   input->path, input->shim, first->path, first->shim);
			return -EINVAL;
		}
		if (strcmp(first->version ?: "", input->version ?: "") && !is_said) {
			merge->options.say("%s: was written by version %s of %s, and %s by version %s: "
					   "calls that one version does not support are missing",
					   input->path, input->version ?: "0.1", input->shim,
					   first->path, first->version ?: "0.1");
			is_said = true;
		}
	}
	return 0;
}

/* Print the number of traces of each job, so that the user can choose one. */
static void say_jobs(const struct merge *merge, u32 jobs)
{
	char room[17], other_room[17];
	const char *label;
	u32 i, j, traces;

	merge->options.say("the traces are of %u jobs: choose one with --job=JOB, or merge all "
			   "with --job=all", jobs);
	for (i = 0; i < merge->input_count; i++) {
		label = label_of(merge, i, room);
		traces = 0;
		for (j = 0; j < merge->input_count; j++) {
			if (strcmp(label, label_of(merge, j, other_room)))
				continue;
			if (j < i)
				break; /* printed with the first of its traces */
			traces++;
		}
		if (label[0] && j == merge->input_count)
			merge->options.say("job %s: %u traces, the first is %s", label, traces,
					   merge->inputs[i].path);
	}
}

static u32 count_jobs(const struct merge *merge)
{
	char room[17], other_room[17];
	const char *label;
	u32 i, j, jobs = 0;

	for (i = 0; i < merge->input_count; i++) {
		label = label_of(merge, i, room);
		for (j = 0; j < i && label[0]; j++)
			if (!strcmp(label, label_of(merge, j, other_room)))
				break;
		jobs += label[0] && j == i;
	}
	return jobs;
}

static int choose_job(struct merge *merge)
{
	char room[17];
	u32 i, left = 0;
	int err;

	for (i = 0; i < merge->input_count; i++) {
		merge->inputs[i].is_left_out = strcmp(label_of(merge, i, room), merge->options.job);
		left += !merge->inputs[i].is_left_out;
	}
	if (!left) {
		merge->options.say("no trace belongs to the job %s", merge->options.job);
		return -ENOENT;
	}
	if (left == merge->input_count)
		return 0;
	err = merge_leave_out(merge);
	return err ? err : merge_survey(merge);
}

/**
 * merge_check_jobs() - the traces are of one job, or of the requested ones
 */
int merge_check_jobs(struct merge *merge)
{
	int err = graph_links_pair(merge->calls, !merge_is_cluster(merge));

	if (err)
		return merge_fail(merge, merge->options.output, err);
	if (merge->options.job && strcmp(merge->options.job, "all"))
		err = choose_job(merge);
	if (!err)
		err = check_shims(merge);
	if (err)
		return err;
	merge->result.jobs = count_jobs(merge);
	if (merge->result.jobs > 1 && !merge->options.job) {
		say_jobs(merge, (u32)merge->result.jobs);
		return -EINVAL;
	}
	return 0;
}

/* -- all of it ---------------------------------------------------------------------------------- */

/* Numbers as "0-3,6": those that are @present, or those that are not. */
static char *list_numbers(const bool *present, u32 count, bool which)
{
	char *text = strdup(""), *longer;
	u32 i, last;

	for (i = 0; i < count && text; i = last + 1) {
		last = i;
		if (present[i] != which)
			continue;
		while (last + 1 < count && present[last + 1] == which)
			last++;
		if (asprintf(&longer, last > i ? "%s%s%u-%u" : "%s%s%u", text, text[0] ? "," : "", i,
			     last) < 0)
			longer = NULL;
		free(text);
		text = longer;
	}
	return text;
}

/* Ranks lie about their number at most as far as there are ranks that could be missing. */
#define RANKS_MAX (1u << 24)

struct world {
	u64 world;
	u64 begin_ns; /* by the clock of some rank */
	u32 ranks;
	u32 base;
};

static int compare_worlds(const void *a, const void *b)
{
	const struct world *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static struct world *find_world(struct world *worlds, u32 count, u64 world)
{
	u32 i;

	for (i = 0; i < count && worlds[i].world != world; i++)
		;
	return &worlds[i];
}

/* As graph_worlds_number(): the ranks of each world follow those of the ones that began before. */
static int number_ranks(struct merge *merge)
{
	struct world *worlds = calloc(merge->rank_count + 1, sizeof(*worlds)), *world;
	u32 i, count = 0, base = 0;

	if (!worlds)
		return -ENOMEM;
	for (i = 0; i < merge->rank_count; i++) {
		const struct merge_rank *rank = &merge->ranks[i];

		world = find_world(worlds, count, rank->world);
		if (world == &worlds[count])
			worlds[count++] = (struct world){ rank->world, rank->begin_ns, rank->ranks, 0 };
		else if (rank->begin_ns < world->begin_ns)
			world->begin_ns = rank->begin_ns;
	}
	qsort(worlds, count, sizeof(*worlds), compare_worlds);
	for (i = 0; i < count; i++) {
		worlds[i].base = base;
		base += worlds[i].ranks < RANKS_MAX ? worlds[i].ranks : 0;
	}
	for (i = 0; i < merge->rank_count; i++)
		merge->ranks[i].number = find_world(worlds, count, merge->ranks[i].world)->base +
					 merge->ranks[i].rank;
	free(worlds);
	return 0;
}

static int list_node_ranks(struct merge *merge, u32 node)
{
	bool *present = NULL;
	u32 i, most = 0;

	if (merge->is_of_replay) {
		merge->nodes[node].result.ranks = strdup(merge->inputs[merge->nodes[node].first].ranks ?: "");
		return merge->nodes[node].result.ranks ? 0 : -ENOMEM;
	}
	for (i = 0; i < merge->rank_count; i++)
		if (merge->inputs[merge->ranks[i].input].node == node && merge->ranks[i].number >= most &&
		    merge->ranks[i].number < RANKS_MAX)
			most = merge->ranks[i].number + 1;
	present = calloc(most + 1, sizeof(*present));
	if (!present)
		return -ENOMEM;
	for (i = 0; i < merge->rank_count; i++)
		if (merge->inputs[merge->ranks[i].input].node == node && merge->ranks[i].number < most)
			present[merge->ranks[i].number] = true;
	merge->nodes[node].result.ranks = list_numbers(present, most, true);
	free(present);
	return merge->nodes[node].result.ranks ? 0 : -ENOMEM;
}

/* For each world, once: its present and missing ranks. */
static int count_world(struct merge *merge, u32 first)
{
	const struct merge_rank *rank = &merge->ranks[first];
	u32 i, size = rank->ranks < RANKS_MAX ? rank->ranks : RANKS_MAX, there = 0;
	bool *present;
	char *missing;

	for (i = 0; i < first; i++)
		if (merge->ranks[i].world == rank->world)
			return 0;
	present = calloc(size + 1, sizeof(*present));
	if (!present)
		return -ENOMEM;
	for (i = first; i < merge->rank_count; i++) {
		if (merge->ranks[i].world != rank->world || merge->ranks[i].rank >= size)
			continue;
		there += !present[merge->ranks[i].rank];
		present[merge->ranks[i].rank] = true;
	}
	missing = list_numbers(present, size, false);
	free(present);
	if (!missing)
		return -ENOMEM;
	if (there < size)
		merge->options.say("%s: %u of the %u ranks of its job have a trace; missing: %s",
				   merge->inputs[rank->input].path, there, size, missing);
	free(missing);
	merge->result.missing_ranks += size - there;
	merge->result.ranks += there;
	return 0;
}

/* A process that wrote its own trace finished that with MPI; a node's has many ranks. */
static void check_end(struct merge *merge, const struct merge_input *input)
{
	struct iot_trace_info info;
	u32 i, number = (u32)(input - merge->inputs);

	iot_reader_info(input->reader, &info);
	merge->result.lost += info.lost + info.missing;
	merge->result.unfinished += info.is_complete && input->is_partial;
	if (!info.is_complete) {
		merge->result.unfinished++;
		merge->options.say(input->shim ? "%s: its process exited without MPI_Finalize; earlier calls are included" :
				   merge->is_of_replay ? "%s: the replay did not end regularly; earlier records are included" :
				   info.is_torn ? "%s: is torn: the file ends inside its last chunk" :
						  "%s: the recording did not end regularly; earlier records are included",
				   input->path);
	}
	/* A launcher that ends a job may kill recorders, too: their ranks did not end either. */
	for (i = 0; i < merge->rank_count && !input->shim && !merge->is_of_replay; i++) {
		if (merge->ranks[i].input != number || merge->ranks[i].has_finalized)
			continue;
		merge->result.unfinished++;
		merge->options.say("%s: rank %u exited without MPI_Finalize; earlier calls are included",
				   input->path, merge->ranks[i].rank);
	}
}

/* The launcher may have set the number of nodes. */
static void check_nodes(const struct merge *merge)
{
	unsigned long nodes;
	u32 i;

	for (i = 0; i < merge->input_count; i++) {
		nodes = merge->inputs[i].job_nodes ? strtoul(merge->inputs[i].job_nodes, NULL, 10) : 0;
		if (nodes <= merge->node_count)
			continue;
		merge->options.say("%s: %u of the %lu nodes of its job have a trace",
				   merge->inputs[i].path, merge->node_count, nodes);
		return;
	}
}

/**
 * merge_list_ranks() - the ranks of each node, by numbers that no two of different worlds share
 */
int merge_list_ranks(struct merge *merge)
{
	u32 i;
	int err = number_ranks(merge);

	for (i = 0; i < merge->node_count && !err; i++)
		err = list_node_ranks(merge, i);
	return err ? merge_fail(merge, merge->options.output, err) : 0;
}

/**
 * merge_take_stock() - report missing ranks and nodes, after all traces are read
 */
int merge_take_stock(struct merge *merge)
{
	u32 i;
	int err = 0;

	if (merge->is_of_replay)
		parts_take_stock(merge);
	check_nodes(merge);
	for (i = 0; i < merge->rank_count && !err; i++)
		err = count_world(merge, i);
	for (i = 0; i < merge->input_count && !err; i++)
		check_end(merge, &merge->inputs[i]);
	return err ? merge_fail(merge, merge->options.output, err) : 0;
}

/**
 * merge_run() - make the trace
 * @merge: opened
 * @result: out
 *
 * Return: 0 or a negative errno after a message; no trace is written then.
 */
int merge_run(struct merge *merge, struct merge_result *result)
{
	struct merge_node_result *nodes;
	u32 i;
	int err;

	iot_file_limit_raise(); /* all traces are read at once in the end */
	err = merge_survey(merge);
	if (!err)
		err = merge_check_jobs(merge);
	if (!err)
		err = merge_list_ranks(merge);
	if (!err)
		err = merge_fit(merge);
	if (!err)
		err = merge_identities(merge);
	if (!err && !merge->is_of_replay)
		err = shared_open(merge);
	if (!err)
		err = merge_write(merge);
	if (err)
		return err;
	nodes = calloc(merge->node_count, sizeof(*nodes));
	if (!nodes)
		return merge_fail(merge, merge->options.output, -ENOMEM);
	for (i = 0; i < merge->node_count; i++) {
		nodes[i] = merge->nodes[i].result;
		nodes[i].name = merge->nodes[i].name;
		nodes[i].traces = merge->nodes[i].traces;
	}
	merge->result.nodes = nodes;
	merge->result.node_count = merge->node_count;
	merge->result.traces = merge->input_count;
	*result = merge->result;
	return 0;
}
