// SPDX-License-Identifier: GPL-2.0-only
/*
 * nodes.c - what the nodes of a replay say to each other, and when they wait for it.
 */
#include "nodes.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOTES_MAX (TRANSPORT_MESSAGE_BYTES / sizeof(struct nodes_note))
#define POLL_NS	  200000
#define NS_PER_MS 1000000ull

/* Launchers kill what has not ended a second after the signal: the sentence comes before that. */
#define ANSWER_MS 500
#define LATER_MS  800 /* that node 0 is not there, somebody else must say */
#define GIVE_UP_MS 10000

static u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / NS_PER_MS;
}

/**
 * nodes_open() - join the others
 * @nodes: zero but for @is_interrupted; filled in; to be given to nodes_close(), also after an error
 * @transport: that carries messages
 *
 * Return: 0 or a negative errno.
 */
int nodes_open(struct nodes *nodes, const struct transport *transport)
{
	u32 i;
	int err;

	*nodes = (struct nodes){ .transport = transport, .is_interrupted = nodes->is_interrupted };
	err = transport->open(&nodes->node, &nodes->count);
	if (err) {
		nodes->transport = NULL;
		return err;
	}
	nodes->inbox = malloc(TRANSPORT_MESSAGE_BYTES);
	nodes->peers = calloc(nodes->count, sizeof(*nodes->peers));
	if (!nodes->inbox || !nodes->peers)
		return -ENOMEM;
	for (i = 0; i < nodes->count; i++) {
		nodes->peers[i].notes = malloc(TRANSPORT_MESSAGE_BYTES);
		if (!nodes->peers[i].notes)
			return -ENOMEM;
	}
	return 0;
}

/**
 * nodes_close() - leave the others, and free
 */
void nodes_close(struct nodes *nodes)
{
	u32 i;

	if (nodes->transport)
		nodes->transport->close();
	for (i = 0; nodes->peers && i < nodes->count; i++)
		free(nodes->peers[i].notes);
	free(nodes->peers);
	free(nodes->inbox);
	*nodes = (struct nodes){};
}

/* -- out --------------------------------------------------------------------------------------- */

static int send_to(struct nodes *nodes, u32 node)
{
	struct nodes_peer *peer = &nodes->peers[node];
	u32 count = peer->note_count;

	peer->note_count = 0;
	return count ? nodes->transport->send(node, peer->notes, count * sizeof(*peer->notes)) : 0;
}

/**
 * nodes_tell() - have a note for a node, which nodes_send() sends
 * @nodes: open
 * @node: another one
 * @news: see above, as what is next
 * @what: see above
 * @value: see above
 *
 * Return: 0 or a negative errno.
 */
int nodes_tell(struct nodes *nodes, u32 node, enum nodes_news news, u32 what, u64 value)
{
	struct nodes_peer *peer = &nodes->peers[node];

	peer->notes[peer->note_count++] = (struct nodes_note){
		.news = cpu_to_le32(news),
		.what = cpu_to_le32(what),
		.value = cpu_to_le64(value),
	};
	return peer->note_count < NOTES_MAX ? 0 : send_to(nodes, node);
}

/**
 * nodes_tell_all() - have a note for all others
 */
int nodes_tell_all(struct nodes *nodes, enum nodes_news news, u32 what, u64 value)
{
	u32 i;
	int err = 0;

	for (i = 0; i < nodes->count && !err; i++)
		if (i != nodes->node)
			err = nodes_tell(nodes, i, news, what, value);
	return err;
}

/**
 * nodes_send() - send all notes
 */
int nodes_send(struct nodes *nodes)
{
	u32 i;
	int err = 0;

	for (i = 0; i < nodes->count && !err; i++)
		err = send_to(nodes, i);
	return err;
}

/* -- results, as numbers ------------------------------------------------------------------------- */

#define RESULT_FIELDS(F) F(elapsed_ns) F(ops) F(diverged) F(stalls) F(lost) F(carriers) F(tasks) F(finished) \
	F(is_cancelled)

enum result_number {
#define RESULT_NUMBER(name) RESULT_##name,
	RESULT_FIELDS(RESULT_NUMBER)
#undef RESULT_NUMBER
	RESULT_lateness_sum,
	RESULT_lateness_max,
	RESULT_lateness, /* and further on: its buckets */
};

static void take_field(struct replay_result *result, u32 number, u64 value)
{
	switch (number) {
#define RESULT_CASE(name)                                         \
	case RESULT_##name:                                       \
		result->name = (__typeof__(result->name))value;   \
		break;
		RESULT_FIELDS(RESULT_CASE)
#undef RESULT_CASE
	case RESULT_lateness_sum:
		result->lateness.sum_ns = value;
		break;
	case RESULT_lateness_max:
		result->lateness.max_ns = value;
		break;
	default:
		if (number - RESULT_lateness < ARRAY_SIZE(result->lateness.wakeups))
			result->lateness.wakeups[number - RESULT_lateness] = value;
	}
}

static int tell_result(struct nodes *nodes, const struct replay_result *result)
{
	u32 i;
	int err = 0;

#define RESULT_TELL(name)                                                                  \
	if (!err)                                                                          \
		err = nodes_tell(nodes, 0, NODES_RESULT, RESULT_##name, (u64)result->name);
	RESULT_FIELDS(RESULT_TELL)
#undef RESULT_TELL
	if (!err)
		err = nodes_tell(nodes, 0, NODES_RESULT, RESULT_lateness_sum, result->lateness.sum_ns);
	if (!err)
		err = nodes_tell(nodes, 0, NODES_RESULT, RESULT_lateness_max, result->lateness.max_ns);
	for (i = 0; i < ARRAY_SIZE(result->lateness.wakeups) && !err; i++)
		if (result->lateness.wakeups[i])
			err = nodes_tell(nodes, 0, NODES_RESULT, RESULT_lateness + i,
					 result->lateness.wakeups[i]);
	return err;
}

/* All nodes start at the same time: what took longest is what it took. */
static void add_result(struct replay_result *sum, const struct replay_result *part)
{
	u32 i;

	if (part->elapsed_ns > sum->elapsed_ns)
		sum->elapsed_ns = part->elapsed_ns;
	sum->ops += part->ops;
	sum->diverged += part->diverged;
	sum->stalls += part->stalls;
	sum->lost += part->lost;
	sum->carriers += part->carriers;
	sum->tasks += part->tasks;
	sum->finished += part->finished;
	sum->is_cancelled |= part->is_cancelled;
	for (i = 0; i < ARRAY_SIZE(sum->lateness.wakeups); i++)
		sum->lateness.wakeups[i] += part->lateness.wakeups[i];
	sum->lateness.sum_ns += part->lateness.sum_ns;
	if (part->lateness.max_ns > sum->lateness.max_ns)
		sum->lateness.max_ns = part->lateness.max_ns;
}

/* -- in ------------------------------------------------------------------------------------------ */

static int tell_why(struct nodes *nodes, const char *why)
{
	size_t bytes = strnlen(why, NODES_WHY_BYTES - 1), at;
	int err = 0;

	for (at = 0; at < bytes && !err; at += sizeof(u64)) {
		u64 piece = 0;

		memcpy(&piece, why + at, bytes - at < sizeof(piece) ? bytes - at : sizeof(piece));
		err = nodes_tell(nodes, 0, NODES_TEXT, (u32)at, piece);
	}
	return err;
}

static void take_text(struct nodes_peer *peer, u32 at, u64 piece)
{
	if (at > NODES_WHY_BYTES - 1 - sizeof(piece))
		return;
	memcpy(peer->why + at, &piece, sizeof(piece));
}

static int take_progress(struct nodes *nodes, u32 from, const struct nodes_note *note)
{
	const struct share_note told = {
		.news = le32_to_cpu(note->news),
		.what = le32_to_cpu(note->what),
		.value = (u32)le64_to_cpu(note->value),
	};

	return nodes->take ? nodes->take(nodes->context, from, &told) : 0;
}

static void take_meeting(const struct nodes *nodes, struct nodes_peer *peer, u32 number, u64 value)
{
	peer->met = number;
	peer->err = (int)(u32)value;
	if (peer->err || value >> 32 == nodes->identity)
		return;
	peer->err = -EINVAL;
	snprintf(peer->why, sizeof(peer->why), "it has another program than node 0, or is to place tasks otherwise");
}

static int take_note(struct nodes *nodes, u32 from, const struct nodes_note *note)
{
	struct nodes_peer *peer = &nodes->peers[from];
	u32 what = le32_to_cpu(note->what);
	u64 value = le64_to_cpu(note->value);

	switch ((enum nodes_news)le32_to_cpu(note->news)) {
	case NODES_PASSED:
	case NODES_ARRIVED:
		return take_progress(nodes, from, note);
	case NODES_MEET:
		take_meeting(nodes, peer, what, value);
		return 0;
	case NODES_GO:
		nodes->gone = what;
		return 0;
	case NODES_STOP:
		nodes->is_stopped = true;
		return 0;
	case NODES_CANCEL:
		nodes->is_cancelled = true;
		return 0;
	case NODES_TEXT:
		take_text(peer, what, value);
		return 0;
	case NODES_RESULT:
		take_field(&peer->result, what, value);
		return 0;
	case NODES_DONE:
		peer->is_done = true;
		peer->err = (int)value;
		return 0;
	case NODES_END:
		nodes->is_ended = true;
		nodes->code = (int)value;
		return 0;
	}
	return -EPROTO;
}

/**
 * nodes_receive() - take one message, if there is one
 *
 * Return: 1 if there was; 0; a negative errno, -EPROTO for one that no node sends.
 */
int nodes_receive(struct nodes *nodes)
{
	const struct nodes_note *notes = nodes->inbox;
	u32 from = 0;
	int bytes = nodes->transport->receive(&from, nodes->inbox, TRANSPORT_MESSAGE_BYTES), err = 0;
	size_t i;

	if (bytes <= 0)
		return bytes;
	if ((size_t)bytes % sizeof(*notes) || from >= nodes->count || from == nodes->node)
		return -EPROTO;
	for (i = 0; i < (size_t)bytes / sizeof(*notes) && !err; i++)
		err = take_note(nodes, from, &notes[i]);
	return err ? err : 1;
}

/* Send what is to be sent, and wait a moment for something to come. Return: as nodes_receive(). */
static int turn(struct nodes *nodes)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	int state = nodes_send(nodes);

	if (!state)
		state = nodes_receive(nodes);
	if (!state)
		nanosleep(&pause, NULL);
	return state;
}

/* -- meetings -------------------------------------------------------------------------------------- */

static u32 count_met(const struct nodes *nodes)
{
	u32 met = 1, i;

	for (i = 1; i < nodes->count; i++)
		met += nodes->peers[i].met == nodes->meetings;
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

/* Return: is it over? */
static bool is_hopeless(struct nodes *nodes, u64 *since_ms)
{
	if (!nodes->is_cancelled && nodes->is_interrupted && nodes->is_interrupted()) {
		nodes->is_cancelled = true;
		nodes_tell_all(nodes, NODES_CANCEL, 0, 0);
	}
	if (nodes->is_cancelled && !*since_ms)
		*since_ms = now_ms();
	return *since_ms && now_ms() - *since_ms > (nodes->node ? LATER_MS : ANSWER_MS);
}

static int host(struct nodes *nodes, int err, char *why, size_t room)
{
	u64 since_ms = 0;
	int state = 0;
	u32 failed;

	while (!err && state >= 0 && count_met(nodes) < nodes->count &&
	       first_failed(nodes) == nodes->count && !nodes->is_cancelled) {
		state = turn(nodes);
		is_hopeless(nodes, &since_ms);
	}
	failed = first_failed(nodes);
	if (!err && failed < nodes->count) {
		err = nodes->peers[failed].err;
		snprintf(why, room, "node %u: %s", failed,
			 nodes->peers[failed].why[0] ? nodes->peers[failed].why : strerror(-err));
	} else if (!err && state < 0) {
		err = state;
		snprintf(why, room, "the other nodes cannot be reached: %s", strerror(-err));
	} else if (!err && nodes->is_cancelled) {
		err = -ECANCELED;
		snprintf(why, room, "interrupted before it began");
	}
	if (err)
		nodes_tell_all(nodes, NODES_STOP, 0, 0);
	else
		nodes_tell_all(nodes, NODES_GO, nodes->meetings, 0);
	nodes_send(nodes);
	return err;
}

static int visit(struct nodes *nodes, int err, char *why, size_t room)
{
	u64 since_ms = 0;
	int state = err ? tell_why(nodes, why) : 0;

	if (!state)
		state = nodes_tell(nodes, 0, NODES_MEET, nodes->meetings,
				   (u64)nodes->identity << 32 | (u32)err);
	while (state >= 0 && nodes->gone < nodes->meetings && !nodes->is_stopped &&
	       !is_hopeless(nodes, &since_ms))
		state = turn(nodes);
	if (nodes->gone >= nodes->meetings)
		return 0;
	if (room)
		why[0] = 0; /* node 0 speaks for all */
	if (state < 0 && !nodes->is_stopped)
		snprintf(why, room, "node 0 cannot be reached: %s", strerror(-state));
	return err ? err : -ECANCELED;
}

/**
 * nodes_meet() - wait until all nodes have come here
 * @nodes: open
 * @err: what this one has failed with, or 0
 * @why: in and out: a sentence about it; out: empty if another node says it
 * @room: room for it
 *
 * Return: 0 if all are well; else a negative errno, and so for all of them.
 */
int nodes_meet(struct nodes *nodes, int err, char *why, size_t room)
{
	nodes->meetings++;
	err = nodes->node ? visit(nodes, err, why, room) : host(nodes, err, why, room);
	nodes->is_stopped |= err < 0;
	return err;
}

/* -- the end ------------------------------------------------------------------------------------- */

static u32 count_done(const struct nodes *nodes)
{
	u32 done = 1, i;

	for (i = 1; i < nodes->count; i++)
		done += nodes->peers[i].is_done;
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

/* Nodes that do not answer may be dead; nobody waits for them for long. Return: has it been too long? */
static bool miss(struct nodes *nodes, u64 since_ms, const struct replay_result *mine,
		 void (*say)(const char *sentence), bool *is_said)
{
	char sentence[128];

	if (!nodes->is_interrupted || !nodes->is_interrupted())
		return now_ms() - since_ms > GIVE_UP_MS; /* no launcher is waiting */
	if (!*is_said && nodes->node) {
		if (nodes->node == 1) /* one is enough */
			say("interrupted, and node 0 does not answer");
	} else if (!*is_said) {
		snprintf(sentence, sizeof(sentence),
			 "interrupted after %llu operations, and node %u does not answer",
			 (unsigned long long)count_ops(nodes, mine), first_missing(nodes));
		say(sentence);
		nodes_tell_all(nodes, NODES_END, 0, 1); /* those that are there need not wait */
	}
	*is_said = true;
	return now_ms() - since_ms > GIVE_UP_MS;
}

/* Return: 0 when all have ended; -ETIMEDOUT if one does not; -EPROTO and the like. */
static int wait_for_end(struct nodes *nodes, const struct replay_result *mine,
			void (*say)(const char *sentence), bool *is_said)
{
	u64 since_ms = 0;
	int state = 0;

	while (state >= 0 && (nodes->node ? !nodes->is_ended : count_done(nodes) < nodes->count)) {
		state = turn(nodes);
		if (is_hopeless(nodes, &since_ms) && miss(nodes, since_ms, mine, say, is_said))
			return -ETIMEDOUT;
	}
	return state < 0 ? state : 0;
}

static int put_together(struct nodes *nodes, struct replay_result *result, char *why, size_t room)
{
	u32 failed = first_failed(nodes), i;

	for (i = 1; i < nodes->count; i++)
		add_result(result, &nodes->peers[i].result);
	if (failed == nodes->count)
		return 0;
	snprintf(why, room, "node %u: %s", failed,
		 nodes->peers[failed].why[0] ? nodes->peers[failed].why :
					       strerror(-nodes->peers[failed].err));
	return nodes->peers[failed].err;
}

static int give_up(int state, char *why, size_t room, bool is_said)
{
	why[0] = 0;
	if (!is_said)
		snprintf(why, room, "the nodes lost each other: %s", strerror(-state));
	return state;
}

/**
 * nodes_finish() - the tasks of this node have ended: what came of all of them
 * @nodes: open
 * @result: of this node; out, on node 0: of all
 * @err: what this one has failed with, or 0
 * @why: in and out: a sentence about it; out: empty if it is said by another node, or has been
 * @room: room for it
 * @say: called for a sentence that cannot wait, at most once
 *
 * Return: 0; a negative errno if a node has failed, or does not answer: -ETIMEDOUT.
 */
int nodes_finish(struct nodes *nodes, struct replay_result *result, int err, char *why, size_t room,
		 void (*say)(const char *sentence))
{
	bool is_said = false;
	int state = 0, code;

	if (nodes->is_stopped)
		return err; /* it did not begin, and that was said */
	if (err && !nodes->is_cancelled) {
		nodes->is_cancelled = true;
		state = nodes_tell_all(nodes, NODES_CANCEL, 0, 0);
	}
	if (nodes->node && !state)
		state = err ? tell_why(nodes, why) : 0;
	if (nodes->node && !state)
		state = tell_result(nodes, result);
	if (nodes->node && !state)
		state = nodes_tell(nodes, 0, NODES_DONE, 0, (u64)(s64)err);
	if (!state)
		state = wait_for_end(nodes, result, say, &is_said);
	nodes->is_lost = state < 0;
	if (state < 0)
		return give_up(state, why, room, is_said);
	if (nodes->node) {
		why[0] = 0;
		return err;
	}
	code = put_together(nodes, result, err ? (char[NODES_WHY_BYTES]){} : why,
			    err ? NODES_WHY_BYTES : room);
	err = err ? err : code;
	if (is_said)
		why[0] = 0;
	nodes->code = err || result->is_cancelled ? 1 : result->diverged ? 3 : 0;
	nodes_tell_all(nodes, NODES_END, 0, (u64)nodes->code);
	state = nodes_send(nodes);
	return err ? err : state;
}
