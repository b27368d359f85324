// SPDX-License-Identifier: GPL-2.0-only
/*
 * failure_detector.c - finds nodes that no longer answer.
 *
 * A thread of each node sends a heartbeat to node 0, and that of node 0 to all others, whether the
 * node is busy or not. A node that waits for another one adds up the time without a message from
 * it. A node that is silent for longer than the limit is given up, and the replay is cancelled.
 * Time in which this node itself was stopped does not count.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "nodes.h"

#define PULSE_MS	1000
#define JUDGE_MS	100
#define STEP_MS		500 /* a longer time between two checks: this node was stopped meanwhile */
#define STACK_BYTES	(64 << 10)
#define MS_PER_S	1000

/* -- heartbeats ----------------------------------------------------------------------------------- */

static void send_heartbeat(struct nodes *nodes, u32 node)
{
	const struct nodes_note note = { .news = cpu_to_le32(NODES_ALIVE) };

	nodes_carry(nodes, node, &note, sizeof(note)); /* a failure shows when the other node receives */
}

static void *heartbeat_main(void *argument)
{
	struct nodes *nodes = argument;
	u64 next_ms = 0;
	u32 i;

	while (!__atomic_load_n(&nodes->is_pulse_over, __ATOMIC_RELAXED)) {
		const struct timespec pause = { .tv_nsec = 20000000 };

		nanosleep(&pause, NULL);
		if (nodes_now_ms() < next_ms)
			continue;
		next_ms = nodes_now_ms() + (nodes->limit_ms / 8 < PULSE_MS ? nodes->limit_ms / 8 : PULSE_MS);
		for (i = nodes->node ? 0 : 1; i < (nodes->node ? 1 : nodes->count); i++)
			send_heartbeat(nodes, i);
	}
	return NULL;
}

/**
 * nodes_detector_start() - give up nodes that are silent for too long, from now on
 * @nodes: open
 * @limit_s: maximum silence; 0 for no limit
 *
 * Return: 0 or a negative errno.
 */
int nodes_detector_start(struct nodes *nodes, u32 limit_s)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int err;

	if (!limit_s || nodes->count == 1)
		return 0;
	nodes->limit_ms = (u64)limit_s * MS_PER_S;
	nodes->judged_ms = nodes_now_ms();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&nodes->pulse, &attr, heartbeat_main, nodes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	nodes->has_pulse = !err;
	return -err;
}

/**
 * nodes_detector_stop() - undo nodes_detector_start(), if it was called
 */
void nodes_detector_stop(struct nodes *nodes)
{
	if (!nodes->has_pulse)
		return;
	__atomic_store_n(&nodes->is_pulse_over, true, __ATOMIC_RELAXED);
	pthread_join(nodes->pulse, NULL);
	nodes->has_pulse = false;
}

/* -- detection --------------------------------------------------------------------------------------- */

static void node_give_up(struct nodes *nodes, u32 node)
{
	struct nodes_peer *peer = &nodes->peers[node];

	peer->is_lost = true;
	nodes->is_lost = true;
	peer->err = -ETIMEDOUT;
	snprintf(peer->why, sizeof(peer->why), "%s%sno response for %llu s, while %s waited for it to %s",
		 peer->host, peer->host[0] ? ": " : "", (unsigned long long)nodes->limit_ms / MS_PER_S,
		 nodes->node ? "this node" : "the others",
		 nodes->awaited ? nodes->awaited : "begin");
	if (!nodes->is_cancelled)
		nodes_queue_for_all(nodes, NODES_CANCEL, 0, 0);
	nodes->is_cancelled = true;
}

/**
 * nodes_detect_failures() - give up nodes that were silent for too long; call after all messages were received
 * @nodes: open
 *
 * Node 0 checks all others; these check node 0.
 */
void nodes_detect_failures(struct nodes *nodes)
{
	u64 now_ms, passed_ms;
	u32 i;

	if (!nodes->limit_ms)
		return;
	now_ms = nodes_now_ms();
	passed_ms = now_ms - nodes->judged_ms;
	if (passed_ms < JUDGE_MS)
		return;
	nodes->judged_ms = now_ms;
	for (i = nodes->node ? 0 : 1; i < (nodes->node ? 1 : nodes->count); i++) {
		struct nodes_peer *peer = &nodes->peers[i];

		peer->silent_ms = peer->is_heard ? 0 :
				  peer->silent_ms + (passed_ms < STEP_MS ? passed_ms : STEP_MS);
		peer->is_heard = false;
		if (peer->silent_ms > nodes->limit_ms && !peer->is_lost)
			node_give_up(nodes, i);
	}
}
