/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * script.h - the actions of the ranks of a random MPI program, derived from a seed: the program runs them,
 * and truth.c derives the waits between ranks from them.
 *
 * A script is a list of steps in an order in which all of them could be done one after the other: ranks that
 * do their own steps in this order cannot deadlock. Operations that begin in a step and end later
 * are completed by a step of their own.
 */
#ifndef TESTS_MPI_ORDER_SCRIPT_H
#define TESTS_MPI_ORDER_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#define RANKS_MAX 16
#define GROUPS	  3
#define COUNT_MAX 3 /* elements of a block */

/* Communicators: the groups of each are disjoint, and each rank is in one of them. */
enum comm {
	COMM_WORLD,
	COMM_TWIN,   /* a duplicate */
	COMM_HALVES, /* even and odd ranks, the highest first */
	COMM_PARTS,  /* three arbitrary groups */
	COMM_BRIDGE, /* between the two halves */
	COMM_GRAPH,  /* arbitrary neighbours */
	COMM_LINE,   /* neighbours on a line */
	COMM_COUNT
};

enum what {
	STEP_IO,      /* @rank runs @count operations on its file */
	STEP_PAUSE,   /* @rank sleeps for @count us */
	STEP_MESSAGE, /* from @from to @to */
	STEP_ANY,     /* from all senders of a set to @to, which receives from MPI_ANY_SOURCE */
	STEP_CALL,    /* a collective of group @group of @comm */
	STEP_SPLIT,   /* a communicator is created from @comm, and freed */
	STEP_WAIT,    /* @rank completes pending operations */
};

/* The way in which a message is sent. */
enum sending {
	SEND_PLAIN,
	SEND_BUFFERED,
	SEND_SYNCHRONOUS,
	SEND_REQUEST, /* this and the following ones have a request to be completed */
	SEND_SYNCHRONOUS_REQUEST,
	SEND_PERSISTENT,
	SENDINGS
};

/* The way in which a message is received. */
enum receiving {
	RECV_PLAIN,
	RECV_PROBED,	      /* by MPI_Probe */
	RECV_LOOKED_FOR,      /* after a loop of MPI_Iprobe */
	RECV_MATCHED,	      /* by MPI_Mprobe */
	RECV_MATCHED_REQUEST, /* by MPI_Mprobe and MPI_Imrecv */
	RECV_REQUEST,
	RECV_PERSISTENT,
	RECEIVINGS
};

enum collective {
	CALL_BARRIER,
	CALL_BCAST,
	CALL_REDUCE,
	CALL_GATHER,
	CALL_GATHERV,
	CALL_SCATTER,
	CALL_SCATTERV,
	CALL_ALLREDUCE,
	CALL_ALLGATHER,
	CALL_ALLGATHERV,
	CALL_ALLTOALL,
	CALL_ALLTOALLV,
	CALL_BETWEEN, /* the preceding calls are possible on an inter-communicator */
	CALL_ALLTOALLW = CALL_BETWEEN,
	CALL_SCAN,
	CALL_EXSCAN,
	CALL_REDUCE_SCATTER,
	CALL_REDUCE_SCATTER_BLOCK,
	CALL_NEAR, /* this and the following ones are neighbourhood collectives */
	CALL_NEIGHBOR_ALLGATHER = CALL_NEAR,
	CALL_NEIGHBOR_ALLGATHERV,
	CALL_NEIGHBOR_ALLTOALL,
	CALL_NEIGHBOR_ALLTOALLV,
	CALL_NEIGHBOR_ALLTOALLW,
	CALLS
};

enum waiting {
	WAIT_EACH,
	WAIT_ALL,
	WAIT_ANY,  /* one after the other, with an operation on the file after each */
	WAIT_SOME,
	WAIT_TEST, /* each by MPI_Test */
	WAIT_TEST_ALL,
	WAITINGS
};

/**
 * struct step - an action of one rank, or of several together
 * @id: its number, from 1
 * @call: an enum sending or enum collective
 * @how: an enum receiving or enum waiting
 * @tag, @bytes: of a message
 * @is_any_tag: it is received with MPI_ANY_TAG
 * @root: position in the group
 * @seed: for the counts
 * @zeros: number of blocks in 16 with count 0
 */
struct step {
	enum what what;
	int id;
	int rank;
	int count;
	enum comm comm;
	int group;
	int call;
	int how;
	int from;
	int to;
	int tag;
	int bytes;
	bool is_any_tag;
	int root;
	bool is_in_place;
	bool is_request;
	uint64_t seed;
	int zeros;
};

struct script {
	uint64_t seed;
	int ranks;
	struct step *steps;
	int count;
};

/* The ranks of a group, in the order of its communicator. */
struct members {
	int count;
	int ranks[RANKS_MAX];
};

int script_make(struct script *script, uint64_t seed, int ranks, int count);
void script_free(struct script *script);
int script_group_of(const struct script *script, enum comm comm, int rank);
void script_members(const struct script *script, enum comm comm, int group, struct members *members);
bool script_is_in(const struct script *script, const struct step *step, int rank);
bool script_sends(const struct script *script, const struct step *step, int rank);
void script_sources(const struct script *script, enum comm comm, int rank, struct members *near);
void script_targets(const struct script *script, enum comm comm, int rank, struct members *near);
int script_elements(const struct script *script, const struct step *step, int from, int to);
bool script_gives(const struct script *script, const struct step *step, int from, int to);

#endif
