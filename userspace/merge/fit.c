// SPDX-License-Identifier: GPL-2.0-only
/*
 * fit.c - from MPI calls that belong together to one time for all nodes.
 *
 * Only what is certain is taken: a message is received after it was sent, a synchronous send ends
 * after its receive was posted, and who leaves a barrier, or has a communicator that was split or
 * duplicated, does so after all have come. Collectives that may move no data, or that need not make
 * anybody wait, tell nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

/*
 * Does it certainly make everybody wait for everybody, if all are of one group? Others do so only if
 * they move data, which nothing in a record says: MPI returns from them at once if their count is 0.
 */
static bool brings_all_together(u32 call)
{
	switch (call) {
	case IOT_CALL_barrier:
	case IOT_CALL_ibarrier:
	case IOT_CALL_comm_dup:
	case IOT_CALL_comm_dup_with_info:
	case IOT_CALL_comm_split:
		return true;
	default:
		return false;
	}
}

/* What was done by call @from, and what call @to found done. */
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
	int err = follows(merge, send->call, receive->ended);

	if (!err && (call == IOT_CALL_ssend || call == IOT_CALL_issend || call == IOT_CALL_ssend_init))
		err = follows(merge, receive->call, send->ended);
	return err;
}

/* A node's part in a collective: who came last and who left first. */
struct part {
	u64 came_ns;
	u64 left_ns; /* 0: nobody was seen to */
	bool has_come;
};

/* Return: false if it made nobody wait, as far as one node can tell. */
static bool gather_parts(const struct merge *merge, const struct graph_mpi_part *members, u32 count,
			 struct part *parts)
{
	u32 i;

	for (i = 0; i < count; i++) {
		const struct graph_mpi *mpi = &merge->calls->mpi[members[i].call];
		struct part *part = &parts[merge->call_nodes[members[i].call]];

		if (!part->has_come || mpi->enter_ns > part->came_ns) {
			part->has_come = true;
			part->came_ns = mpi->enter_ns;
		}
		if (members[i].ended == GRAPH_NONE)
			continue;
		mpi = &merge->calls->mpi[members[i].ended];
		if (!part->left_ns || mpi->end_ns < part->left_ns)
			part->left_ns = mpi->end_ns;
	}
	for (i = 0; i < merge->node_count; i++)
		if (parts[i].has_come && parts[i].left_ns && parts[i].left_ns <= parts[i].came_ns)
			return false;
	return true;
}

static int meet(struct merge *merge, const struct part *parts)
{
	u32 meeting, i, nodes = 0;
	int err = 0;

	for (i = 0; i < merge->node_count; i++)
		nodes += parts[i].has_come || parts[i].left_ns;
	if (nodes < 2)
		return 0;
	err = clocks_meeting(merge->clocks, &meeting);
	for (i = 0; i < merge->node_count && !err; i++)
		if (parts[i].has_come)
			err = clocks_arrive(merge->clocks, meeting, i, parts[i].came_ns);
	for (i = 0; i < merge->node_count && !err; i++)
		if (parts[i].left_ns)
			err = clocks_leave(merge->clocks, meeting, i, parts[i].left_ns);
	return err;
}

/* Of two groups, none waits for its own ranks. */
static int on_collective(void *context, const struct graph_mpi_part *members, u32 count)
{
	struct merge *merge = context;
	const struct graph_mpi *mpi = &merge->calls->mpi[members[0].call];
	struct part *parts;
	int err = 0;

	if (!brings_all_together(mpi->call) || graph_comm_first(merge->calls, mpi->comm))
		return 0;
	parts = calloc(merge->node_count, sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	if (gather_parts(merge, members, count, parts))
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
	if (fit->contradicted)
		merge->options.say("%s: %llu MPI calls ended before what they must have waited for, "
				   "whatever the clocks say", name,
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
		.context = merge, .message = on_message, .collective = on_collective,
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
