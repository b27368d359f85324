// SPDX-License-Identifier: GPL-2.0-only
/*
 * fit.c - derives one time for all nodes from matching MPI calls.
 *
 * Uses only certain relations: a message is received, or found by a probe, after it was sent; a synchronous send ends
 * after its receive was posted; and a collective ends after the ranks have entered whose data it delivers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"
#include "analyse/mpi/mpi.h"

/* The effect of call @from, which call @to observed. */
static int follows(struct merge *merge, u32 from, u32 to)
{
	const struct graph *calls = merge->calls;
	u32 meeting;
	int err;

	if (to == GRAPH_NONE || merge->call_nodes[from] == merge->call_nodes[to])
		return 0;
	err = clocks_meeting(merge->clocks, &meeting);
	if (!err)
		err = clocks_arrive(merge->clocks, meeting, merge->call_nodes[from],
				    calls->mpi[from].enter_ns);
	return err ? err : clocks_leave(merge->clocks, meeting, merge->call_nodes[to],
					calls->mpi[to].end_ns);
}

static int on_message(void *context, const struct graph_mpi_part *send,
		      const struct graph_mpi_part *receive)
{
	struct merge *merge = context;
	u32 call = merge->calls->mpi[send->call].call;
	int err;

	if (receive->is_doubtful)
		return 0;
	err = follows(merge, send->call, receive->ended);
	if (!err && merge->calls->mpi[receive->call].call == IOT_CALL_mprobe)
		err = follows(merge, send->call, receive->call);

	if (!err && (call == IOT_CALL_ssend || call == IOT_CALL_issend || call == IOT_CALL_ssend_init))
		err = follows(merge, receive->call, send->ended);
	return err;
}

static int on_probe(void *context, const struct graph_mpi_part *send, const struct graph_mpi_part *probe)
{
	return probe->is_doubtful ? 0 : follows(context, send->call, probe->call);
}

/* A node's part in a collective: the arrival of its last rank and the departure of its first one. */
struct part {
	u64 arrived_ns;
	u64 left_ns; /* 0: none was seen to leave */
	bool has_arrived;
};

static void take_arrivals(const struct merge *merge, struct part *parts, const struct graph_mpi_part *from,
			  u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		u64 arrived_ns = merge->calls->mpi[from[i].call].enter_ns;
		struct part *part = &parts[merge->call_nodes[from[i].call]];

		if (!part->has_arrived || arrived_ns > part->arrived_ns)
			part->arrived_ns = arrived_ns;
		part->has_arrived = true;
	}
}

static void take_leaves(const struct merge *merge, struct part *parts, const struct graph_mpi_part *to, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		u64 left_ns = merge->calls->mpi[to[i].ended].end_ns;
		struct part *part = &parts[merge->call_nodes[to[i].call]];

		if (!part->left_ns || left_ns < part->left_ns)
			part->left_ns = left_ns;
	}
}

/* Return: false if the clock of one node contradicts it: the records are wrong. */
static bool is_possible(const struct merge *merge, const struct part *parts)
{
	u32 i;

	for (i = 0; i < merge->node_count; i++)
		if (parts[i].has_arrived && parts[i].left_ns && parts[i].left_ns <= parts[i].arrived_ns)
			return false;
	return true;
}

static int meet(struct merge *merge, const struct part *parts)
{
	u32 meeting, i, arrived = 0, left = 0, both = 0;
	int err = 0;

	for (i = 0; i < merge->node_count; i++) {
		arrived += parts[i].has_arrived;
		left += parts[i].left_ns != 0;
		both += parts[i].has_arrived && parts[i].left_ns;
	}
	if (!arrived || !left || (arrived == 1 && left == 1 && both == 1))
		return 0; /* no other node has to do with it */
	err = clocks_meeting(merge->clocks, &meeting);
	for (i = 0; i < merge->node_count && !err; i++)
		if (parts[i].has_arrived)
			err = clocks_arrive(merge->clocks, meeting, i, parts[i].arrived_ns);
	for (i = 0; i < merge->node_count && !err; i++)
		if (parts[i].left_ns)
			err = clocks_leave(merge->clocks, meeting, i, parts[i].left_ns);
	return err;
}

static int on_wait(void *context, const struct graph_mpi_part *from, u32 from_count,
		   const struct graph_mpi_part *to, u32 to_count)
{
	struct merge *merge = context;
	struct part *parts = calloc(merge->node_count, sizeof(*parts));
	int err = 0;

	if (!parts)
		return -ENOMEM;
	take_arrivals(merge, parts, from, from_count);
	take_leaves(merge, parts, to, to_count);
	if (is_possible(merge, parts))
		err = meet(merge, parts);
	free(parts);
	return err;
}

/* The node of the first rank, or else the first. */
static u32 reference_of(const struct merge *merge)
{
	u32 i;

	for (i = 0; i < merge->rank_count; i++)
		if (!merge->ranks[i].number)
			return merge->inputs[merge->ranks[i].input].node;
	return 0;
}

static void say_fit(const struct merge *merge, u32 node, const struct clock_fit *fit)
{
	const char *name = merge->nodes[node].name;

	if (fit->source == CLOCK_SOURCE_wall || fit->source == CLOCK_SOURCE_one_way)
		merge->options.say("%s: its clock was fitted by %s", name,
				   clock_source_sentence(fit->source));
	if (fit->corrected)
		merge->options.say("%s: no linear clock fits all MPI calls: %llu ends of calls were "
				   "corrected by at most %llu us", name, (unsigned long long)fit->corrected,
				   (unsigned long long)(fit->corrected_max_ns + 999) / 1000);
	if (fit->contradicted)
		merge->options.say("%s: %llu MPI calls ended before the calls that they wait for, "
				   "regardless of the clocks", name,
				   (unsigned long long)fit->contradicted);
}

/**
 * merge_fit() - fit the clocks of all nodes to that of the first rank's
 *
 * With one node there is nothing to fit.
 */
int merge_fit(struct merge *merge)
{
	const struct graph_mpi_listener listener = {
		.context = merge,
		.has_many_clocks = true,
		.message = on_message,
		.probe = on_probe,
		.waits = on_wait,
	};
	u32 i;
	int err;

	if (!merge_is_cluster(merge))
		return 0;
	merge->reference = merge->is_of_replay ? parts_reference(merge) : reference_of(merge);
	err = clocks_open(merge->node_count, &merge->clocks);
	for (i = 0; i < merge->node_count && !err; i++) {
		const struct iot_trace_info *info = &merge->inputs[merge->nodes[i].first].info;

		clocks_guess(merge->clocks, i, info->mono_ns, info->real_ns);
	}
	if (!err)
		err = merge->is_of_replay ? parts_bound(merge) : graph_mpi_match(merge->calls, &listener);
	if (!err)
		err = clocks_fit(merge->clocks, merge->reference);
	if (err)
		return merge_fail(merge, merge->options.output, err);
	for (i = 0; i < merge->node_count; i++) {
		merge->nodes[i].result.clock = *clocks_result(merge->clocks, i);
		if (merge->nodes[i].has_same_clock)
			merge->nodes[i].result.clock = (struct clock_fit){
				.source = CLOCK_SOURCE_reference,
			};
		say_fit(merge, i, &merge->nodes[i].result.clock);
	}
	return 0;
}
