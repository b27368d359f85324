// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi.c - edges between MPI calls, of messages and collectives.
 *
 * Matching is by MPI's own rules. Of one communicator, source, destination and tag, the
 * k-th send pairs with the k-th receive in the order of posting whose status named that
 * source and tag. The n-th collective of a communicator is the same on all its ranks.
 *
 * The edges follow from MPI, too, and not from times: a rank has waited for the data that it has received.
 * Where MPI leaves the wait to the library, the trace decides: a rank that left before another one
 * arrived has not waited for it.
 *
 * Every wait points back in time, so that it cannot close a cycle with other edges. In true time
 * all waits do. Clocks of several nodes are corrected by the same rules when traces are merged, so
 * that waits point back in the time of the merged trace, too; exceptions are counted.
 */
#include <stdlib.h>

#include "mpi_match.h"
#include "mpi.h"

/* -- small look-ups, over sorted arrays ------------------------------------------------- */

static int compare_ranks(const void *a, const void *b)
{
	const struct graph_rank *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	return x->tgid < y->tgid ? -1 : x->tgid > y->tgid;
}

/**
 * mpi_rank_of() - the rank of a task's process in a communicator, GRAPH_NONE if it is not known
 */
u32 mpi_rank_of(const struct graph *graph, u64 comm, u32 task)
{
	const struct graph_rank key = { .comm = comm, .tgid = graph->tasks[task].tgid };
	const struct graph_rank *rank = NULL;

	if (graph->rank_count)
		rank = bsearch(&key, graph->ranks, graph->rank_count, sizeof(*graph->ranks),
			       compare_ranks);
	return rank ? rank->rank : GRAPH_NONE;
}

static int compare_dones(const void *a, const void *b)
{
	const struct mpi_done *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return x->request < y->request ? -1 : x->request > y->request;
}

static int dones_collect(const struct graph *graph, struct mpi_dones *dones)
{
	u32 i;

	dones->dones = calloc(graph->mpi_count + 1, sizeof(*dones->dones));
	if (!dones->dones)
		return -ENOMEM;
	for (i = 0; i < graph->mpi_count; i++)
		if (graph->mpi[i].kind == IOT_KIND_mpi_done)
			dones->dones[dones->count++] = (struct mpi_done){
				.tgid = graph->tasks[graph->mpi[i].task].tgid,
				.request = graph->mpi[i].request,
				.call = i,
			};
	qsort(dones->dones, dones->count, sizeof(*dones->dones), compare_dones);
	return 0;
}

/**
 * mpi_ended_by() - where a call was complete: in itself, or where its request was found complete
 *
 * Return: GRAPH_NONE if that was not seen.
 */
u32 mpi_ended_by(const struct graph *graph, const struct mpi_dones *dones, u32 call)
{
	const struct graph_mpi *mpi = &graph->mpi[call];
	const struct mpi_done key = { .tgid = graph->tasks[mpi->task].tgid, .request = mpi->request };
	const struct mpi_done *done;

	if (!mpi->request)
		return call;
	done = bsearch(&key, dones->dones, dones->count, sizeof(*dones->dones), compare_dones);
	return done ? done->call : GRAPH_NONE;
}

/* -- uncertain matches ---------------------------------------------------------------- */

/**
 * mpi_note() - store one of the first uncertain calls with the reason
 */
void mpi_note(struct graph *graph, u32 call, const char *reason)
{
	const struct graph_mpi *mpi = &graph->mpi[call];
	const struct graph_task *task = &graph->tasks[mpi->task];

	if (graph->mpi_note_count == GRAPH_NOTES_MAX)
		return;
	graph->mpi_notes[graph->mpi_note_count++] = (struct graph_note){
		.task = task->id,
		.op = mpi->signal == GRAPH_NONE ? 0 : task->ops[mpi->signal].number,
		.reason = reason,
	};
}

/**
 * mpi_unmatched() - count a call without a partner
 */
void mpi_unmatched(struct graph *graph, u32 call, const char *reason)
{
	graph->mpi_unmatched++;
	mpi_note(graph, call, reason);
}

/**
 * mpi_contradicted() - count a call that, by its times, ended before the operation that it must
 * have waited for
 *
 * No edge is added then: it could close a cycle with others.
 */
void mpi_contradicted(struct graph *graph, u32 call)
{
	graph->mpi_contradicted++;
	mpi_note(graph, call, "it ended before the calls that it waits for: the clocks or the partners are wrong");
}

static void note_links(struct graph *graph)
{
	u32 i;

	for (i = 0; i < graph->link_count; i++) {
		if (!graph->links[i].is_doubtful || graph->links[i].call == GRAPH_NONE)
			continue;
		graph->mpi_ambiguous++;
		mpi_note(graph, graph->links[i].call,
		     "a communicator between two jobs, created at the same time as an equal one");
	}
}

/* -- edges ----------------------------------------------------------------------------------- */

/**
 * mpi_wait_of() - the second half of a call
 */
struct graph_op *mpi_wait_of(struct graph *graph, u32 call)
{
	const struct graph_mpi *mpi = &graph->mpi[call];

	return &graph->tasks[mpi->task].ops[mpi->wait];
}

/**
 * mpi_looks_back() - had a call been entered when another one ended?
 */
bool mpi_looks_back(const struct graph *graph, u32 from, u32 ended)
{
	return graph->mpi[from].enter_ns < graph->mpi[ended].end_ns;
}

/**
 * mpi_wait_for() - the end of a call waits for the arrival of another one, if the arrival was earlier
 * @from: in graph.mpi: the one that arrives
 * @ended: in graph.mpi: the one that leaves; GRAPH_NONE if that was not seen
 *
 * Return: 0 or -ENOMEM.
 */
int mpi_wait_for(struct graph *graph, u32 from, u32 ended)
{
	const struct graph_mpi *mpi = &graph->mpi[from];

	if (ended == GRAPH_NONE || !mpi_looks_back(graph, from, ended))
		return 0;
	return graph_edge_add(graph, mpi->task, mpi->signal, mpi_wait_of(graph, ended), EDGE_mpi);
}

/* -- locks of windows ------------------------------------------------------------------------------ */

/* By window and rank whose memory it is, and then by time. */
static int compare_locks(const void *a, const void *b)
{
	const struct graph_mpi *x = *(const struct graph_mpi *const *)a;
	const struct graph_mpi *y = *(const struct graph_mpi *const *)b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	if (x->peer != y->peer)
		return x->peer < y->peer ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

/*
 * The order of two exclusive locks is accidental, and a replay may reverse it: no edge, but a
 * report.
 */
static int locks(struct graph *graph)
{
	const struct graph_mpi **taken = calloc(graph->mpi_count + 1, sizeof(*taken));
	size_t count = 0, i;

	if (!taken)
		return -ENOMEM;
	for (i = 0; i < graph->mpi_count; i++)
		if (graph->mpi[i].kind == IOT_KIND_mpi_win && graph->mpi[i].number)
			taken[count++] = &graph->mpi[i];
	if (count)
		qsort(taken, count, sizeof(*taken), compare_locks);
	for (i = 1; i < count; i++) {
		if (taken[i]->comm != taken[i - 1]->comm || taken[i]->peer != taken[i - 1]->peer ||
		    graph->tasks[taken[i]->task].tgid == graph->tasks[taken[i - 1]->task].tgid)
			continue;
		graph->mpi_ambiguous++;
		mpi_note(graph, (u32)(taken[i] - graph->mpi),
		     "an exclusive lock of a window after that of another rank: their order may differ");
	}
	free(taken);
	return 0;
}

/* -- the pass ---------------------------------------------------------------------------------------- */

/* Where the halves of each call are, now that operations do not move any more. */
static void find_halves(struct graph *graph)
{
	u32 i, j;

	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++) {
			const struct graph_op *op = &graph->tasks[i].ops[j];

			if (op->kind == IOT_PLAY_signal)
				graph->mpi[op->event - 1].signal = j;
			else if (op->kind == IOT_PLAY_wait && op->flags == WAIT_MPI)
				graph->mpi[op->event - 1].wait = j;
		}
}

static int match(struct graph *graph, const struct graph_mpi_listener *listener)
{
	struct mpi_dones dones = {};
	int err = graph_links_unite(graph, !listener || !listener->has_many_clocks);

	if (err)
		return err;
	note_links(graph);
	if (graph->rank_count)
		qsort(graph->ranks, graph->rank_count, sizeof(*graph->ranks), compare_ranks);
	err = dones_collect(graph, &dones);
	if (!err)
		err = mpi_match_messages(graph, &dones, listener);
	if (!err)
		err = mpi_match_collectives(graph, &dones, listener);
	if (!err)
		err = locks(graph);
	free(dones.dones);
	return err;
}

/**
 * graph_pass_mpi() - edges of messages and collectives
 * @graph: after graph_pass_life()
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_mpi(struct graph *graph)
{
	if (!graph->mpi_count)
		return 0;
	graph_worlds_number(graph);
	find_halves(graph);
	return match(graph, NULL);
}

/**
 * graph_mpi_match() - matches MPI calls that belong together
 * @graph: tasks with their process, ranks and MPI calls; operations are not needed
 * @listener: receives the matches; an error that it returns, a negative errno, ends the matching
 *
 * Of each task the calls are in the order in which they were made; clocks of tasks may differ.
 *
 * Return: 0 or a negative errno.
 */
int graph_mpi_match(struct graph *graph, const struct graph_mpi_listener *listener)
{
	return graph->mpi_count ? match(graph, listener) : 0;
}
