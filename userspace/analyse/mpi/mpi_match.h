/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mpi_match.h - private declarations of the files that match MPI calls.
 */
#ifndef IOTAPE_ANALYSE_MPI_MATCH_H
#define IOTAPE_ANALYSE_MPI_MATCH_H

#include "analyse/graph/graph.h"

/* A request of a process, and the call that found it complete. */
struct mpi_done {
	u32 tgid;
	u64 request;
	u32 call;
};

/* In the order of processes and requests. */
struct mpi_dones {
	struct mpi_done *dones;
	size_t count;
};

/* A partition of a message of a process: where it begins, and the call that is about it. */
struct mpi_part {
	u32 tgid;
	u64 request;
	u64 offset_bytes;
	u32 call;
};

struct mpi_parts {
	struct mpi_part *parts;
	size_t count;
};

u32 mpi_rank_of(const struct graph *graph, u64 comm, u32 task);
u32 mpi_ended_by(const struct graph *graph, const struct mpi_dones *dones, u32 call);
void mpi_note(struct graph *graph, u32 call, const char *reason);
void mpi_unmatched(struct graph *graph, u32 call, const char *reason);
struct graph_op *mpi_wait_of(struct graph *graph, u32 call);
bool mpi_looks_back(const struct graph *graph, u32 from, u32 ended);
int mpi_wait_for(struct graph *graph, u32 from, u32 ended);
void mpi_contradicted(struct graph *graph, u32 call);

/**
 * struct mpi_member - the part of one rank in a collective
 * @comm, @number: which collective
 * @call: in graph.mpi
 * @ended: the call that found it complete, GRAPH_NONE if that was not seen
 */
struct mpi_member {
	u64 comm;
	u32 number;
	u32 rank;
	u32 call;
	u32 ended;
};

/* How certain it is that a member waited for others. */
enum mpi_certainty {
	MPI_NEEDS_NOTHING,
	MPI_NEEDS_SURELY,  /* it gets their data, or the call is a barrier */
	MPI_NEEDS_SOME,	   /* it may get data of any of them, which the trace does not say */
	MPI_NEEDS_PERHAPS, /* MPI does not say whether it waits: for all of them, or for none */
};

/**
 * struct mpi_need - the waits of one member
 * @is_list: @first and @stop are places in the list of struct mpi_needs; else they are members
 * @first, @stop: the first, and the one behind the last; a range may have the member itself in it
 */
struct mpi_need {
	enum mpi_certainty certainty;
	bool is_list;
	u32 first;
	u32 stop;
};

/**
 * struct mpi_needs - the waits of all members of a collective
 * @list: indices of members, in which those of one member differ
 * @seen: of each member, the last one that has it in its list, counted from 1
 * @split: with two groups, the first member of the second one
 * @is_scan: each member needs those below it
 * @is_each: all members take data from all, or from all of the other group
 * @room, @list_count, @list_room: of the arrays
 */
struct mpi_needs {
	const struct mpi_member *members;
	u32 count;
	struct mpi_need *needs;
	u32 *list;
	u32 *seen;
	u32 split;
	s32 root;
	bool is_split;
	bool is_scan;
	bool is_each;
	u32 room;
	u32 list_count;
	u32 list_room;
};

/* The n-th member that a need names, from need->first. */
static inline u32 mpi_need_member(const struct mpi_needs *needs, const struct mpi_need *need, u32 n)
{
	return need->is_list ? needs->list[n] : n;
}

int mpi_needs_find(const struct graph *graph, const struct mpi_member *members, u32 count,
		   struct mpi_needs *needs);
void mpi_needs_close(struct mpi_needs *needs);
void mpi_near_sort(struct graph *graph);

/**
 * struct mpi_report - the arguments of a listener's functions
 * @parts: the members of a collective
 * @from, @to: room for some of them each
 * @room: for so many
 */
struct mpi_report {
	const struct graph_mpi_listener *listener;
	struct graph_mpi_part *parts;
	struct graph_mpi_part *from;
	struct graph_mpi_part *to;
	u32 room;
};

int mpi_report(struct graph *graph, struct mpi_report *report, const struct mpi_member *members, u32 count,
	     struct mpi_needs *needs);
void mpi_report_close(struct mpi_report *report);

int mpi_parts_collect(const struct graph *graph, struct mpi_parts *parts);
int mpi_parts_connect(struct graph *graph, const struct mpi_parts *parts, u32 send, u32 receive);

int mpi_match_messages(struct graph *graph, const struct mpi_dones *dones,
		       const struct graph_mpi_listener *listener);
int mpi_match_collectives(struct graph *graph, const struct mpi_dones *dones,
			  const struct graph_mpi_listener *listener);

#endif
