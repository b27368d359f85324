// SPDX-License-Identifier: GPL-2.0-only
/*
 * nodes.c - messages between the nodes of a replay.
 */
#include "nodes.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOTES_MAX (TRANSPORT_MESSAGE_BYTES / sizeof(struct nodes_note))
#define POLL_NS	  200000

/* Polls would be part of the answer: after one question comes the next. */
#define ASKED_MS 5

u64 nodes_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
}

/**
 * nodes_open() - join the others
 * @nodes: zero but for @is_interrupted; filled in; to be freed by nodes_close(), also after an error
 * @transport: that carries messages
 *
 * Return: 0 or a negative errno.
 */
int nodes_open(struct nodes *nodes, const struct transport *transport)
{
	u32 i;
	int err;

	*nodes = (struct nodes){
		.transport = transport,
		.is_interrupted = nodes->is_interrupted,
		.wire = PTHREAD_MUTEX_INITIALIZER,
		.gathering.fd = -1,
	};
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

	nodes_detector_stop(nodes);
	if (nodes->transport)
		nodes->transport->close();
	for (i = 0; nodes->peers && i < nodes->count; i++)
		free(nodes->peers[i].notes);
	free(nodes->peers);
	free(nodes->inbox);
	*nodes = (struct nodes){};
}

/* -- out --------------------------------------------------------------------------------------- */

/**
 * nodes_carry() - send the next message
 *
 * Return: 0 or a negative errno.
 */
int nodes_carry(struct nodes *nodes, u32 node, const void *bytes, size_t count)
{
	int err;

	pthread_mutex_lock(&nodes->wire);
	err = nodes->transport->send(node, bytes, count);
	pthread_mutex_unlock(&nodes->wire);
	return err;
}

static int send_to(struct nodes *nodes, u32 node)
{
	struct nodes_peer *peer = &nodes->peers[node];
	u32 count = peer->note_count;

	peer->note_count = 0;
	return count && !peer->is_lost ? nodes_carry(nodes, node, peer->notes, count * sizeof(*peer->notes)) : 0;
}

/**
 * nodes_queue_note() - queue a note for a node, which nodes_send() sends
 * @nodes: open
 * @node: another node
 * @news: see above
 * @what: see above
 * @value: see above
 *
 * Return: 0 or a negative errno.
 */
int nodes_queue_note(struct nodes *nodes, u32 node, enum nodes_news news, u32 what, u64 value)
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
 * nodes_queue_for_all() - have a note for all others
 */
int nodes_queue_for_all(struct nodes *nodes, enum nodes_news news, u32 what, u64 value)
{
	u32 i;
	int err = 0;

	for (i = 0; i < nodes->count && !err; i++)
		if (i != nodes->node)
			err = nodes_queue_note(nodes, i, news, what, value);
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

#define RESULT_FIELDS(F) F(elapsed_ns) F(ops) F(diverged) F(unsupported) F(emulated) F(harmless) F(stalls) F(lost) \
	F(workers) F(tasks) F(finished) F(is_cancelled)

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

int nodes_queue_result(struct nodes *nodes, const struct replay_result *result)
{
	u32 i;
	int err = 0;

#define RESULT_TELL(name)                                                                  \
	if (!err)                                                                          \
		err = nodes_queue_note(nodes, 0, NODES_RESULT, RESULT_##name, (u64)result->name);
	RESULT_FIELDS(RESULT_TELL)
#undef RESULT_TELL
	if (!err)
		err = nodes_queue_note(nodes, 0, NODES_RESULT, RESULT_lateness_sum, result->lateness.sum_ns);
	if (!err)
		err = nodes_queue_note(nodes, 0, NODES_RESULT, RESULT_lateness_max, result->lateness.max_ns);
	for (i = 0; i < ARRAY_SIZE(result->lateness.wakeups) && !err; i++)
		if (result->lateness.wakeups[i])
			err = nodes_queue_note(nodes, 0, NODES_RESULT, RESULT_lateness + i,
					 result->lateness.wakeups[i]);
	return err;
}

/* All nodes start at the same time: the longest time is the time of the replay. */
void nodes_add_result(struct replay_result *sum, const struct replay_result *part)
{
	u32 i;

	if (part->elapsed_ns > sum->elapsed_ns)
		sum->elapsed_ns = part->elapsed_ns;
	sum->ops += part->ops;
	sum->diverged += part->diverged;
	sum->unsupported += part->unsupported;
	sum->emulated += part->emulated;
	sum->harmless += part->harmless;
	sum->stalls += part->stalls;
	sum->lost += part->lost;
	sum->workers += part->workers;
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

int nodes_queue_text(struct nodes *nodes, enum nodes_news news, const char *text, size_t room)
{
	size_t bytes = strnlen(text, room - 1), at;
	int err = 0;

	for (at = 0; at < bytes && !err; at += sizeof(u64)) {
		u64 piece = 0;

		memcpy(&piece, text + at, bytes - at < sizeof(piece) ? bytes - at : sizeof(piece));
		err = nodes_queue_note(nodes, 0, news, (u32)at, piece);
	}
	return err;
}

static void take_text(char *text, size_t room, u32 at, u64 piece)
{
	if (at > room - 1 - sizeof(piece))
		return;
	memcpy(text + at, &piece, sizeof(piece));
}

static int take_progress(struct nodes *nodes, u32 from, const struct nodes_note *note)
{
	const struct partition_note received = {
		.news = le32_to_cpu(note->news),
		.what = le32_to_cpu(note->what),
		.value = (u32)le64_to_cpu(note->value),
	};

	return nodes->take ? nodes->take(nodes->context, from, &received) : 0;
}

static void take_meeting(const struct nodes *nodes, struct nodes_peer *peer, u32 number, u64 value)
{
	peer->met = number;
	peer->err = (int)(u32)value;
	if (peer->err || value >> 32 == nodes->identity)
		return;
	peer->err = -EINVAL;
	snprintf(peer->why, sizeof(peer->why), "it has another program than node 0, or places tasks differently");
}

static int answer(struct nodes *nodes, u32 node, u32 number)
{
	int err = nodes_queue_note(nodes, node, NODES_TIME, number, nodes_now_ns());

	nodes->asked_ms = nodes_now_ms();
	return err ? err : nodes_send(nodes);
}

static void take_sample(struct nodes *nodes, u32 which, u64 value)
{
	struct nodes_sample *sample = &nodes->sample;

	if (which < 3)
		*(u64 *[]){ &sample->sent_ns, &sample->seen_ns, &sample->back_ns }[which] = value;
}

/* Return: the notes that a piece of a file takes, with the one about it; a negative errno. */
static int take_file(struct nodes *nodes, const struct nodes_note *note, size_t notes)
{
	u32 bytes = le32_to_cpu(note->what);
	size_t taken = 1 + nodes_file_bytes(bytes) / sizeof(*note);
	int err;

	if (bytes > TRANSPORT_MESSAGE_BYTES || taken > notes)
		return -EPROTO;
	err = nodes_take_piece(nodes, bytes, le64_to_cpu(note->value), note + 1);
	return err ? err : (int)taken;
}

static int take_note(struct nodes *nodes, u32 from, const struct nodes_note *note)
{
	struct nodes_peer *peer = &nodes->peers[from];
	u32 what = le32_to_cpu(note->what);
	u64 value = le64_to_cpu(note->value);

	switch ((enum nodes_news)le32_to_cpu(note->news)) {
	case NODES_PASSED:
	case NODES_SIGNALED:
		return take_progress(nodes, from, note);
	case NODES_RENDEZVOUS:
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
		take_text(peer->why, sizeof(peer->why), what, value);
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
		nodes->is_gathered = what;
		nodes->code = (int)value;
		return 0;
	case NODES_ALIVE:
		return 0;
	case NODES_HOST:
		take_text(peer->host, sizeof(peer->host), what, value);
		return 0;
	case NODES_RUN:
		nodes->run = value;
		return 0;
	case NODES_ASK:
		return answer(nodes, from, what);
	case NODES_TIME:
		peer->answered = what;
		peer->answer_ns = value;
		return 0;
	case NODES_SAMPLE:
		take_sample(nodes, what, value);
		return 0;
	case NODES_FETCH:
		return nodes_give_piece(nodes, what, value);
	case NODES_FILE: /* it is not alone: see nodes_receive() */
		break;
	}
	return -EPROTO;
}

static int take_notes(struct nodes *nodes, u32 from, const struct nodes_note *notes, size_t count)
{
	size_t i = 0;
	int state = 0;

	for (i = 0; i < count && state >= 0; i += (size_t)state) {
		if (le32_to_cpu(notes[i].news) == NODES_FILE) {
			state = take_file(nodes, &notes[i], count - i);
			continue;
		}
		state = take_note(nodes, from, &notes[i]);
		state = state ? state : 1;
	}
	return state < 0 ? state : 0;
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
	int bytes, err;

	pthread_mutex_lock(&nodes->wire);
	bytes = nodes->transport->receive(&from, nodes->inbox, TRANSPORT_MESSAGE_BYTES);
	pthread_mutex_unlock(&nodes->wire);
	if (bytes <= 0)
		return bytes;
	if ((size_t)bytes % sizeof(*notes) || from >= nodes->count || from == nodes->node)
		return -EPROTO;
	nodes->peers[from].is_heard = true;
	err = take_notes(nodes, from, notes, (size_t)bytes / sizeof(*notes));
	return err ? err : 1;
}

/**
 * nodes_turn() - send pending messages, and wait briefly for incoming ones
 *
 * Return: as nodes_receive().
 */
int nodes_turn(struct nodes *nodes)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	int state = nodes_send(nodes);

	if (!state)
		state = nodes_receive(nodes);
	if (state)
		return state;
	nodes_detect_failures(nodes);
	if (nodes->asked_ms && nodes_now_ms() - nodes->asked_ms < ASKED_MS)
		sched_yield();
	else
		nanosleep(&pause, NULL);
	return 0;
}
