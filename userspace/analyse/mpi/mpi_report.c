// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi_report.c - report collectives to a listener instead of adding edges: their parts, and which part waited for
 * which.
 */
#include <stdlib.h>

#include "mpi_match.h"

static int report_begin(struct mpi_report *report, const struct mpi_member *members, u32 count)
{
	u32 i;

	if (count > report->room) {
		free(report->parts);
		report->parts = calloc(3ull * count, sizeof(*report->parts));
		report->room = report->parts ? count : 0;
		if (!report->parts)
			return -ENOMEM;
		report->from = report->parts + count;
		report->to = report->from + count;
	}
	for (i = 0; i < count; i++)
		report->parts[i] = (struct graph_mpi_part){
			.rank = members[i].rank,
			.call = members[i].call,
			.ended = members[i].ended,
		};
	return 0;
}

static bool is_same_range(const struct mpi_need *a, const struct mpi_need *b)
{
	return !a->is_list && !b->is_list && a->first == b->first && a->stop == b->stop;
}

/* One member that is certain, and those behind it that wait for the same. */
static int report_need(const struct mpi_report *report, const struct mpi_needs *needs, u32 *own)
{
	const struct mpi_need *need = &needs->needs[*own], *next;
	u32 count = 0, i;

	for (i = need->first; i < need->stop && need->is_list; i++)
		report->from[i - need->first] = report->parts[needs->list[i]];
	report->to[count++] = report->parts[*own];
	for (next = need + 1; *own + 1 < needs->count && is_same_range(need, next) &&
			      next->certainty == MPI_NEEDS_SURELY; next++)
		report->to[count++] = report->parts[++*own];
	return report->listener->waits(report->listener->context,
					need->is_list ? report->from : report->parts + need->first,
					need->stop - need->first, report->to, count);
}

static int report_needs(const struct mpi_report *report, const struct mpi_needs *needs)
{
	u32 i;
	int err = 0;

	for (i = 0; i < needs->count && !err; i++)
		if (needs->needs[i].certainty == MPI_NEEDS_SURELY &&
		    needs->needs[i].first < needs->needs[i].stop)
			err = report_need(report, needs, &i);
	return err;
}

/**
 * mpi_report() - report a collective to a listener
 * @graph: with its neighbours sorted
 * @report: its listener, and memory that is allocated here
 * @members: of the collective, in the order of ranks
 * @count: their number
 * @needs: buffer for their needs
 *
 * Return: 0, -ENOMEM, or the listener's result.
 */
int mpi_report(struct graph *graph, struct mpi_report *report, const struct mpi_member *members, u32 count,
		struct mpi_needs *needs)
{
	const struct graph_mpi_listener *listener = report->listener;
	int err = report_begin(report, members, count);

	if (!err && listener->collective)
		err = listener->collective(listener->context, report->parts, count);
	if (!err && listener->waits && count > 1)
		err = mpi_needs_find(graph, members, count, needs);
	if (!err && listener->waits && count > 1)
		err = report_needs(report, needs);
	return err;
}

/**
 * mpi_report_close() - free the memory of a report
 */
void mpi_report_close(struct mpi_report *report)
{
	free(report->parts);
}
