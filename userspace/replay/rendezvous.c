// SPDX-License-Identifier: GPL-2.0-only
/*
 * rendezvous.c - the nodes of a replay wait for each other, at its start and at its end.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "nodes.h"

/* Launchers kill the remaining processes a second after the signal: the message must come earlier. */
#define ANSWER_MS 500
#define LATER_MS  800 /* another node reports that node 0 is missing */
#define GIVE_UP_MS 10000

/* -- rendezvous -------------------------------------------------------------------------------------- */

static u32 count_met(const struct nodes *nodes)
{
	u32 met = 1, i;

	for (i = 1; i < nodes->count; i++)
		met += nodes->peers[i].met == nodes->rendezvous;
	return met;
}

/* The first node that has failed; @count if none has. */
static u32 first_failed(const struct nodes *nodes)
{
	u32 i;

	for (i = 1; i < nodes->count; i++)
		if (nodes->peers[i].err)
			return i;
	return nodes->count;
}

/* Return: true if the replay is cancelled and the time for an answer has passed. */
static bool is_hopeless(struct nodes *nodes, u64 *since_ms)
{
	if (!nodes->is_cancelled && nodes->is_interrupted && nodes->is_interrupted()) {
		nodes->is_cancelled = true;
		nodes_queue_for_all(nodes, NODES_CANCEL, 0, 0);
	}
	if (nodes->is_cancelled && !*since_ms)
		*since_ms = nodes_now_ms();
	return *since_ms && nodes_now_ms() - *since_ms > (nodes->node ? LATER_MS : ANSWER_MS);
}

/* The action of the others that each rendezvous waits for. */
static const char *const aims[] = {
	"connect", "read the program", "examine its target", "get ready",
};

/* Before the first operation: the first facts of the outcomes. */
static int introduce(struct nodes *nodes)
{
	int err;

	if (nodes->rendezvous != 1)
		return 0;
	if (getrandom(&nodes->run, sizeof(nodes->run), GRND_NONBLOCK) != sizeof(nodes->run))
		nodes->run = nodes_now_ns();
	err = nodes_queue_for_all(nodes, NODES_RUN, 0, nodes->run);
	return err ? err : nodes_ask_clocks(nodes, 0);
}

static int queue_host(struct nodes *nodes)
{
	char host[NODES_HOST_BYTES] = "";

	if (nodes->rendezvous != 1 || gethostname(host, sizeof(host) - 1))
		return 0;
	return nodes_queue_text(nodes, NODES_HOST, host, sizeof(host));
}

static int host(struct nodes *nodes, int err, char *why, size_t room)
{
	u64 since_ms = 0;
	int state = 0;
	u32 failed;

	nodes->awaited = aims[nodes->rendezvous < ARRAY_SIZE(aims) ? nodes->rendezvous : 0];
	while (!err && state >= 0 && count_met(nodes) < nodes->count &&
	       first_failed(nodes) == nodes->count && !nodes->is_cancelled) {
		state = nodes_turn(nodes);
		is_hopeless(nodes, &since_ms);
	}
	if (!err && state >= 0 && first_failed(nodes) == nodes->count && !nodes->is_cancelled)
		state = introduce(nodes);
	failed = first_failed(nodes);
	if (!err && failed < nodes->count) {
		err = nodes->peers[failed].err;
		snprintf(why, room, "node %u: %s", failed,
			 nodes->peers[failed].why[0] ? nodes->peers[failed].why : strerror(-err));
	} else if (!err && nodes->is_cancelled) {
		err = -ECANCELED;
		snprintf(why, room, "interrupted before it began");
	} else if (!err && state < 0) {
		err = state;
		snprintf(why, room, "the other nodes cannot be reached: %s", strerror(-err));
	}
	if (err)
		nodes_queue_for_all(nodes, NODES_STOP, 0, 0);
	else
		nodes_queue_for_all(nodes, NODES_GO, nodes->rendezvous, 0);
	nodes_send(nodes);
	return err;
}

static int visit(struct nodes *nodes, int err, char *why, size_t room)
{
	u64 since_ms = 0;
	int state = err ? nodes_queue_text(nodes, NODES_TEXT, why, NODES_WHY_BYTES) : queue_host(nodes);

	nodes->awaited = aims[nodes->rendezvous < ARRAY_SIZE(aims) ? nodes->rendezvous : 0];
	if (!state)
		state = nodes_queue_note(nodes, 0, NODES_RENDEZVOUS, nodes->rendezvous,
				   (u64)nodes->identity << 32 | (u32)err);
	while (state >= 0 && nodes->gone < nodes->rendezvous && !nodes->is_stopped && !nodes->is_lost &&
	       !is_hopeless(nodes, &since_ms))
		state = nodes_turn(nodes);
	if (nodes->gone >= nodes->rendezvous)
		return 0;
	if (room)
		why[0] = 0; /* node 0 speaks for all */
	if (nodes->is_lost && nodes->node == 1) /* one is enough */
		snprintf(why, room, "node 0: %s", nodes->peers[0].why);
	else if (state < 0 && !nodes->is_stopped)
		snprintf(why, room, "node 0 cannot be reached: %s", strerror(-state));
	return err ? err : -ECANCELED;
}

/**
 * nodes_rendezvous() - wait until all nodes have come here
 * @nodes: open
 * @err: the error of this node, or 0
 * @why: in and out: a sentence about it; out: empty if another node prints it
 * @room: room for it
 *
 * Return: 0 if all are well; else a negative errno, and so for all of them.
 */
int nodes_rendezvous(struct nodes *nodes, int err, char *why, size_t room)
{
	nodes->rendezvous++;
	err = nodes->node ? visit(nodes, err, why, room) : host(nodes, err, why, room);
	nodes->is_stopped |= err < 0;
	return err;
}

/* -- the end ------------------------------------------------------------------------------------- */

static u32 count_done(const struct nodes *nodes)
{
	u32 done = 1, i;

	for (i = 1; i < nodes->count; i++)
		done += nodes->peers[i].is_done || nodes->peers[i].is_lost;
	return done;
}

static u32 first_missing(const struct nodes *nodes)
{
	u32 i;

	for (i = 1; i < nodes->count; i++)
		if (!nodes->peers[i].is_done)
			break;
	return i;
}

static u64 count_ops(const struct nodes *nodes, const struct replay_result *mine)
{
	u64 ops = mine->ops;
	u32 i;

	for (i = 1; i < nodes->count; i++)
		ops += nodes->peers[i].result.ops;
	return ops;
}

/*
 * Nodes that do not answer may be dead; the wait for them is limited. Return: whether it has been
 * too long.
 */
static bool miss(struct nodes *nodes, u64 since_ms, const struct replay_result *mine,
		 void (*say)(const char *sentence), bool *is_said)
{
	char sentence[128];

	if (!nodes->is_interrupted || !nodes->is_interrupted())
		return nodes_now_ms() - since_ms > GIVE_UP_MS; /* no launcher is waiting */
	if (!*is_said && nodes->node) {
		if (nodes->node == 1) /* one is enough */
			say("interrupted, and node 0 does not answer");
	} else if (!*is_said) {
		snprintf(sentence, sizeof(sentence),
			 "interrupted after %llu operations, and node %u does not answer",
			 (unsigned long long)count_ops(nodes, mine), first_missing(nodes));
		say(sentence);
		nodes_queue_for_all(nodes, NODES_END, 0, 1); /* those that are there need not wait */
	}
	*is_said = true;
	return nodes_now_ms() - since_ms > GIVE_UP_MS;
}

/* Return: 0 when all have ended; -ETIMEDOUT if one does not; -EPROTO and other errors of messages. */
static int wait_for_end(struct nodes *nodes, const struct replay_result *mine,
			void (*say)(const char *sentence), bool *is_said)
{
	u64 since_ms = 0;
	int state = 0;

	if (!nodes->is_cancelled) /* otherwise the tasks were cancelled, and the reason of their wait matters */
		nodes->awaited = "end its tasks";
	while (state >= 0 && (nodes->node ? !nodes->is_ended : count_done(nodes) < nodes->count)) {
		state = nodes_turn(nodes);
		if (nodes->node && nodes->is_lost)
			return -ETIMEDOUT;
		if (is_hopeless(nodes, &since_ms) && miss(nodes, since_ms, mine, say, is_said))
			return -ETIMEDOUT;
	}
	return state < 0 ? state : 0;
}

static int put_together(struct nodes *nodes, struct replay_result *result, char *why, size_t room)
{
	u32 failed = first_failed(nodes), i;

	for (i = 1; i < nodes->count; i++)
		nodes_add_result(result, &nodes->peers[i].result);
	if (failed == nodes->count)
		return 0;
	snprintf(why, room, "node %u: %s", failed,
		 nodes->peers[failed].why[0] ? nodes->peers[failed].why :
					       strerror(-nodes->peers[failed].err));
	return nodes->peers[failed].err;
}

static int give_up(const struct nodes *nodes, int state, char *why, size_t room, bool is_said)
{
	why[0] = 0;
	if (nodes->node && nodes->peers[0].is_lost) {
		if (nodes->node == 1)
			snprintf(why, room, "node 0: %s", nodes->peers[0].why);
	} else if (!is_said)
		snprintf(why, room, "the connection between the nodes failed: %s", strerror(-state));
	return state;
}

/**
 * nodes_finish() - exchange results after the tasks of this node have ended
 * @nodes: open
 * @result: of this node; out, on node 0: of all
 * @err: error of this node, or 0
 * @why: in and out: a sentence about the error; out: empty if another node prints it, or it has been printed
 * @room: room for it
 * @say: called for a sentence that cannot wait, at most once
 *
 * The other nodes end when node 0 has called nodes_end(), and answer its requests until then.
 *
 * Return: 0; a negative errno if a node has failed, or does not answer: -ETIMEDOUT.
 */
int nodes_finish(struct nodes *nodes, struct replay_result *result, int err, char *why, size_t room,
		 void (*say)(const char *sentence))
{
	bool is_said = false;
	int state = 0, code;

	if (nodes->is_stopped)
		return err; /* it did not begin, and a message was printed */
	if (err && !nodes->is_cancelled) {
		nodes->is_cancelled = true;
		state = nodes_queue_for_all(nodes, NODES_CANCEL, 0, 0);
	}
	if (nodes->node && !state)
		state = err ? nodes_queue_text(nodes, NODES_TEXT, why, NODES_WHY_BYTES) : 0;
	if (nodes->node && !state)
		state = nodes_queue_result(nodes, result);
	if (nodes->node && !state)
		state = nodes_queue_note(nodes, 0, NODES_DONE, 0, (u64)(s64)err);
	if (!state)
		state = wait_for_end(nodes, result, say, &is_said);
	nodes->is_lost |= state < 0;
	if (state < 0)
		return give_up(nodes, state, why, room, is_said);
	if (nodes->node) {
		why[0] = 0;
		return err;
	}
	nodes->is_finished = true;
	code = put_together(nodes, result, err ? (char[NODES_WHY_BYTES]){} : why,
			    err ? NODES_WHY_BYTES : room);
	err = err ? err : code;
	if (is_said)
		why[0] = 0;
	nodes->code = err || result->is_cancelled ? 1 : result->diverged ? 3 : 0;
	return err;
}

/**
 * nodes_end() - let the others go. For node 0, after nodes_finish()
 * @nodes: open
 * @code: for all to exit with
 * @is_gathered: this node has the outcomes of the others, which they may remove
 *
 * Return: 0 or a negative errno.
 */
int nodes_end(struct nodes *nodes, int code, bool is_gathered)
{
	int err = nodes_queue_for_all(nodes, NODES_END, is_gathered, (u64)code);

	nodes->code = code;
	return err ? err : nodes_send(nodes);
}
