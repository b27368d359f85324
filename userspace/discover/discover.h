/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * discover.h - which operations wait for which, found by comparing runs with delays: I/O throttling and I/O sampling of
 * //TRACE (Mesnier et al., FAST 2007).
 *
 *	discovery_open(&discovery);
 *	discovery_add(discovery, "run0.iot", &reject, ...);	the run without delays comes first
 *	discovery_note_waiting(discovery, task, op, ns);	for each wait in it without a known reason
 *	while (!discovery_plan(discovery, false, &plan)) {	the thread to delay next
 *		discovery_add(discovery, "run1.iot", &reject, ...);
 *		discovery_set_delayed(discovery, plan.thread.number);
 *		discovery_find(discovery, &result);
 *	}
 *	discovery_write(discovery, "merged.iot", &reject);
 *	discovery_close(discovery);
 *
 * A *place* is an operation that each run has at the same position of its task. Look-ups, first accesses to pages and
 * completions of requests are no places, because caches decide whether and when they happen, and neither are nested operations.
 */
#ifndef IOTAPE_DISCOVER_H
#define IOTAPE_DISCOVER_H

#include "lib/iotape.h"

#define DISCOVERY_WHY_BYTES 512

struct discovery;

/**
 * struct discovery_thread - a thread of the run without delays
 * @number: from 1, in the order of the nodes and then of the creation
 * @node: name of its node, NULL if there is one only
 * @node_number: its number on the node, as in struct iot_delay, if one command runs there
 * @command_number: if it began as a command: its number among those of the node, as in struct iot_delay if they began together; else 0
 * @command: its last command name
 * @places: operations after which it can be delayed
 * @gap_ns: 95 % of the times between them were not longer
 * @longest_gap_ns: none was longer
 */
struct discovery_thread {
	u32 number;
	const char *node;
	u32 node_number;
	u32 command_number;
	const char *command;
	u32 places;
	u64 gap_ns;
	u64 longest_gap_ns;
};

/**
 * struct discovery_plan - the next run
 * @thread: to be delayed
 * @gain_ns: waits of other threads that it may explain
 * @left_ns: waits that are not explained, but may be by threads that were not delayed yet
 * @waiting_ns: the same before the first run with delays
 */
struct discovery_plan {
	struct discovery_thread thread;
	u64 gain_ns;
	u64 left_ns;
	u64 waiting_ns;
};

/**
 * struct discovery_known - an order that is known from elsewhere
 * @task, @op: operation that ends first
 * @waiter, @waiter_op: the operations of the task @waiter after this one wait
 * @is_wait: the task waits for the other one, so that a delay can show it; else only the results of operations have the order
 */
struct discovery_known {
	u32 task;
	u32 op;
	u32 waiter;
	u32 waiter_op;
	bool is_wait;
};

/**
 * struct discovery_result - what the runs show so far
 * @runs: with delays
 * @delays: delays in them
 * @edges: orders that are left
 * @redundant: orders that followed from others
 * @contradicted: orders that another run did not keep
 * @abandoned: delays that ended because a connection between nodes was lost; they show nothing
 * @doubtful: places where a task stopped, but not for much longer than in the run without delays
 * @once: orders that are left and that a single delay showed
 * @confirmed: orders that are left and that follow from known ones
 * @known: known waits between places of different threads
 * @known_found: of these, those that follow from the orders found
 * @known_contradicted: of these, those that a run did not keep
 */
struct discovery_result {
	u32 runs;
	u32 delays;
	u32 edges;
	u32 redundant;
	u32 contradicted;
	u32 abandoned;
	u32 doubtful;
	u32 once;
	u32 confirmed;
	u32 known;
	u32 known_found;
	u32 known_contradicted;
};

/**
 * struct discovery_compute - the compute time of a thread between two operations
 * @gaps: pairs of operations, with a delay after the first one
 * @delayed_ns: the sum of the times between them in the runs with these delays, without the delays
 * @cpu_ns: the sum of the times on a CPU between them in the run without delays
 */
struct discovery_compute {
	u32 gaps;
	u64 delayed_ns;
	u64 cpu_ns;
};

int discovery_open(struct discovery **discovery);
int discovery_add(struct discovery *discovery, const char *path, struct iot_reject *reject, char why[DISCOVERY_WHY_BYTES]);
int discovery_thread(const struct discovery *discovery, u32 index, struct discovery_thread *thread);
const char *discovery_node(const struct discovery *discovery, u32 index);
u32 discovery_node_commands(const struct discovery *discovery, u32 index);
u64 discovery_duration_ns(const struct discovery *discovery);
void discovery_note_waiting(struct discovery *discovery, u32 task, u32 op, u64 ns);
void discovery_set_delayed(struct discovery *discovery, u32 number);
int discovery_plan(struct discovery *discovery, bool is_every, struct discovery_plan *plan);
int discovery_find(struct discovery *discovery, struct discovery_result *result);
int discovery_note_known(struct discovery *discovery, const struct discovery_known *known);
int discovery_compare(struct discovery *discovery, struct discovery_result *result);
void discovery_compute(const struct discovery *discovery, u32 number, struct discovery_compute *compute);
int discovery_write(const struct discovery *discovery, const char *output, struct iot_reject *reject);
void discovery_close(struct discovery *discovery);

#endif
