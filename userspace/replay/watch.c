// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - nodes that do not answer any more, though nobody has ended them.
 *
 * A thread of each node tells node 0 again and again that it is alive, and that of node 0 all others,
 * whatever else they do. Who waits for somebody counts how long nothing has come from there. A node that
 * is silent for longer than the limit is given up, and then all is over. Time in which this node itself
 * stood still does not count.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "nodes.h"

#define PULSE_MS	1000
#define JUDGE_MS	100
#define STEP_MS		500 /* longer between two judgements: this node did not listen meanwhile */
#define STACK_BYTES	(64 << 10)
#define MS_PER_S	1000

/* -- to be heard ----------------------------------------------------------------------------------- */

static void tell_alive(struct nodes *nodes, u32 node)
{
	const struct nodes_note note = { .news = cpu_to_le32(NODES_ALIVE) };

	nodes_carry(nodes, node, &note, sizeof(note)); /* what is wrong, who listens will notice */
}

static void *pulse(void *argument)
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
			tell_alive(nodes, i);
	}
	return NULL;
}

/**
 * nodes_watch() - from now on, a node that is not heard of for too long is given up
 * @nodes: open
 * @limit_s: how long that is; 0: it is waited for
 *
 * Return: 0 or a negative errno.
 */
int nodes_watch(struct nodes *nodes, u32 limit_s)
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
	err = pthread_create(&nodes->pulse, &attr, pulse, nodes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	nodes->has_pulse = !err;
	return -err;
}

/**
 * nodes_unwatch() - the opposite of nodes_watch(), also if that was not called
 */
void nodes_unwatch(struct nodes *nodes)
{
	if (!nodes->has_pulse)
		return;
	__atomic_store_n(&nodes->is_pulse_over, true, __ATOMIC_RELAXED);
	pthread_join(nodes->pulse, NULL);
	nodes->has_pulse = false;
}

/* -- to listen --------------------------------------------------------------------------------------- */

static void give_up(struct nodes *nodes, u32 node)
{
	struct nodes_peer *peer = &nodes->peers[node];

	peer->is_lost = true;
	nodes->is_lost = true;
	peer->err = -ETIMEDOUT;
	snprintf(peer->why, sizeof(peer->why), "%s%sit was not heard of for %llu s, while %s waited for it to %s",
		 peer->host, peer->host[0] ? ": " : "", (unsigned long long)nodes->limit_ms / MS_PER_S,
		 nodes->node ? "this node" : "the others",
		 nodes->awaited ? nodes->awaited : "begin");
	if (!nodes->is_cancelled)
		nodes_tell_all(nodes, NODES_CANCEL, 0, 0);
	nodes->is_cancelled = true;
}

/**
 * nodes_judge() - has anybody been silent for too long? To be called when nothing more has come
 * @nodes: open
 *
 * Node 0 looks at all others, they look at node 0.
 */
void nodes_judge(struct nodes *nodes)
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
			give_up(nodes, i);
	}
}
