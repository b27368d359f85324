/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * agent.h - the agent of a node: it stands between the engine of the node and the other nodes.
 *
 * Locking: a separate thread runs from agent_start() to agent_stop(); between them no other
 * thread uses the nodes. The two flags are the requests of other threads to it, and its answer.
 */
#ifndef IOTAPE_AGENT_H
#define IOTAPE_AGENT_H

#include <pthread.h>

#include "nodes.h"

/**
 * struct agent - see above
 * @library: of the transport
 * @nodes: of the replay
 * @node_of: of each task of the program
 * @placement: the rule of their placement
 * @partition: the part of this node
 * @replay: that the engine runs; NULL when it takes no reports
 * @thread: while it runs
 * @is_to_stop: set by others: all tasks here have ended
 * @is_to_cancel: set by others: cancel the other nodes
 * @is_cancelled: set by the thread: another node requests the end, or cannot be reached
 * @err: of the thread
 */
struct agent {
	void *library;
	struct nodes nodes;
	u32 *node_of;
	struct placement placement;
	struct partition partition;
	struct replay *replay;
	pthread_t thread;
	u32 is_to_stop;
	u32 is_to_cancel;
	u32 is_cancelled;
	int err;
};

void agent_attach(struct agent *agent, struct replay *replay);
void agent_detach(struct agent *agent);
int agent_start(struct agent *agent);
int agent_stop(struct agent *agent);

static inline bool agent_is_cancelled(const struct agent *agent)
{
	return __atomic_load_n(&agent->is_cancelled, __ATOMIC_RELAXED);
}

static inline void agent_cancel(struct agent *agent)
{
	__atomic_store_n(&agent->is_to_cancel, 1, __ATOMIC_RELAXED);
}

#endif
