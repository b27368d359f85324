/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * script.h - what the ranks of a random MPI program do, all of it from a number: the program performs it,
 * and truth.c knows by it who must have waited for whom.
 *
 * A script is a list of steps in an order in which all of them could be done one after the other: so ranks that
 * do their own in this order cannot wait for each other in a circle. What begins in a step and ends later
 * is ended by a step of its own.
 */
#ifndef TESTS_MPI_ORDER_SCRIPT_H
#define TESTS_MPI_ORDER_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#define RANKS_MAX 16
#define GROUPS	  3
#define COUNT_MAX 3 /* elements of a block */

/* Communicators: their groups are disjoint, and each rank is in one of them. */
enum comm {
	COMM_WORLD,
	COMM_TWIN,   /* a duplicate */
	COMM_HALVES, /* even and odd ranks, the highest first */
	COMM_PARTS,  /* any three groups */
	COMM_BRIDGE, /* between the two halves */
	COMM_GRAPH,  /* any neighbours */
	COMM_LINE,   /* neighbours in a row */
	COMM_COUNT
};

enum what {
	STEP_IO,      /* @rank performs @count operations on its file */
	STEP_PAUSE,   /* @rank does nothing for @count us */
	STEP_MESSAGE, /* from @from to @to */
	STEP_ANY,     /* all senders of a set to @to, which receives from anybody */
	STEP_CALL,    /* a collective of group @group of @comm */
	STEP_SPLIT,   /* a communicator is made of @comm, and freed */
	STEP_WAIT,    /* @rank completes what it has begun */
};

/* How a message is sent. */
enum sending {
	SEND_PLAIN,
	SEND_BUFFERED,
	SEND_SYNCHRONOUS,
	SEND_REQUEST, /* from here on complete when it is waited for */
	SEND_SYNCHRONOUS_REQUEST,
	SEND_PERSISTENT,
	SENDINGS
};

/* How it is received. */
enum receiving {
	RECV_PLAIN,
	RECV_PROBED,	      /* by MPI_Probe */
	RECV_LOOKED_FOR,      /* by MPI_Iprobe, until it is there */
	RECV_MATCHED,	      /* by MPI_Mprobe */
	RECV_MATCHED_REQUEST, /* and MPI_Imrecv */
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
	CALL_BETWEEN, /* those before can be made between two groups */
	CALL_ALLTOALLW = CALL_BETWEEN,
	CALL_SCAN,
	CALL_EXSCAN,
	CALL_REDUCE_SCATTER,
	CALL_REDUCE_SCATTER_BLOCK,
	CALL_NEAR, /* from here on those of neighbours */
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
	WAIT_TEST, /* each, by MPI_Test */
	WAIT_TEST_ALL,
	WAITINGS
};

/**
 * struct step - something that one rank does, or some do together
 * @id: its number, from 1
 * @call: an enum sending or enum collective
 * @how: an enum receiving or enum waiting
 * @tag, @bytes: of a message
 * @is_any_tag: it is received by MPI_ANY_TAG
 * @root: place in the group
 * @seed: of the counts
 * @zeros: of so many blocks in 16 the count is 0
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
