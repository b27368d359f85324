/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * times.h - the time of each process of a trace, by part.
 */
#ifndef IOTAPE_TIMES_H
#define IOTAPE_TIMES_H

#include "analyse/graph/graph.h"

/**
 * struct process_times - a process, and the time of its threads, added up
 * @pid: the process
 * @rank: in MPI_COMM_WORLD, -1 if it is in none
 * @threads: its threads with any record
 * @command: the command of its last exec, "" if unknown; lives as long as the graph
 * @elapsed_ns: from the first to the last record of each thread
 * @io_ns: in operations on files; of locks that were waited for, not the wait
 * @compute_ns: between them, on a CPU
 * @mpi_ns: waiting for messages, and in collectives for the last to come, on a CPU or not
 * @wait_ns: waiting for a child, a request or a lock
 * @unexplained_ns: between operations, or in MPI calls after their waits, not on a CPU: waiting for one, or for an
 *	unknown reason
 *
 * The parts add up to @elapsed_ns.
 */
struct process_times {
	u32 pid;
	int rank;
	u32 threads;
	const char *command;
	u64 elapsed_ns;
	u64 io_ns;
	u64 compute_ns;
	u64 mpi_ns;
	u64 wait_ns;
	u64 unexplained_ns;
};

/**
 * struct op_wait - the time that an operation waited for others
 * @begin_ns, @end_ns: in the trace; equal if it did not wait
 */
struct op_wait {
	u64 begin_ns;
	u64 end_ns;
};

struct op_wait graph_op_wait(const struct graph *graph, const struct graph_op *op, u64 since_ns, const u64 *opened_ns);
int graph_times(const struct graph *graph, struct process_times **times, u32 *count);

#endif
