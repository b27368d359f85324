// SPDX-License-Identifier: GPL-2.0-only
/*
 * gather.c - node 0 of a replay reads the clocks of the other nodes, and collects their outcomes.
 *
 * The others only answer, wherever they wait for messages.
 *
 * Clocks: node 0 queries the time several times, and keeps the query with the fastest answer: the
 * other clock was read between the two readings of its own. It does so before the first operation
 * and after the last one, to detect drift.
 *
 * Files: outcomes that node 0 finds under their final name are on shared storage. It requests the
 * others piece by piece, so that no node has more than a piece in memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "nodes.h"

#define ROUNDS	    24
#define PIECE_BYTES (1u << 20)
#define DATA_MAX    (TRANSPORT_MESSAGE_BYTES - 2 * sizeof(struct nodes_note))
#define FACTS_WITHIN 64

/* -- clocks ------------------------------------------------------------------------------------------ */

static int ask_once(struct nodes *nodes, u32 node, u32 round, struct nodes_sample *sample)
{
	struct nodes_peer *peer = &nodes->peers[node];
	int state;

	sample->sent_ns = nodes_now_ns();
	state = nodes_queue_note(nodes, node, NODES_ASK, round, 0);
	if (!state)
		state = nodes_send(nodes);
	while (state >= 0 && peer->answered != round && !nodes->is_cancelled) {
		state = nodes_receive(nodes);
		if (!state) {
			nodes_detect_failures(nodes);
			sched_yield();
		}
	}
	sample->back_ns = nodes_now_ns();
	sample->seen_ns = peer->answer_ns;
	return state < 0 ? state : nodes->is_cancelled ? -ECANCELED : 0;
}

static int ask(struct nodes *nodes, u32 node, struct nodes_sample *best)
{
	struct nodes_sample sample;
	u32 round;
	int err = 0;

	for (round = 0; round < ROUNDS && !err; round++) {
		err = ask_once(nodes, node, ++nodes->questions, &sample);
		if (!round || sample.back_ns - sample.sent_ns < best->back_ns - best->sent_ns)
			*best = sample;
	}
	return err;
}

/**
 * nodes_ask_clocks() - request the times of the other nodes For node 0
 * @nodes: all others listen
 * @when: 0 before the first operation, 1 after the last
 *
 * Return: 0 or a negative errno.
 */
int nodes_ask_clocks(struct nodes *nodes, u32 when)
{
	u32 i;
	int err = 0;

	for (i = 1; i < nodes->count && !err; i++) {
		struct nodes_peer *peer = &nodes->peers[i];
		const struct nodes_sample *sample = &peer->samples[when];

		if (peer->is_lost)
			continue;
		err = ask(nodes, i, &peer->samples[when]);
		if (!err)
			err = nodes_queue_note(nodes, i, NODES_SAMPLE, 0, sample->sent_ns);
		if (!err)
			err = nodes_queue_note(nodes, i, NODES_SAMPLE, 1, sample->seen_ns);
		if (!err)
			err = nodes_queue_note(nodes, i, NODES_SAMPLE, 2, sample->back_ns);
		peer->has_sample[when] = !err;
	}
	return err;
}

/* -- the node that has the file ------------------------------------------------------------------------------- */

/**
 * nodes_give_piece() - node 0 requests a piece of the outcomes of this node
 * @nodes: has its path
 * @bytes: this number, or the remaining bytes
 * @offset_bytes: from here on
 *
 * Return: 0 or a negative errno of the transport.
 */
int nodes_give_piece(struct nodes *nodes, u32 bytes, u64 offset_bytes)
{
	static char message[TRANSPORT_MESSAGE_BYTES];
	struct nodes_note *note = (struct nodes_note *)message;
	int fd = nodes->part ? open(nodes->part, O_RDONLY | O_CLOEXEC) : -1, err = 0;
	u64 end_bytes = offset_bytes + bytes;
	ssize_t got;

	do {
		size_t wanted = end_bytes - offset_bytes < DATA_MAX ? end_bytes - offset_bytes : DATA_MAX;

		got = fd < 0 ? -1 : pread(fd, note + 1, wanted, (off_t)offset_bytes);
		*note = (struct nodes_note){
			.news = cpu_to_le32(NODES_FILE),
			.what = cpu_to_le32(got > 0 ? (u32)got : 0),
			.value = cpu_to_le64(got < 0 ? (u64)-1 : offset_bytes),
		};
		err = nodes_carry(nodes, 0, message, sizeof(*note) + nodes_file_bytes(got > 0 ? (u32)got : 0));
		offset_bytes += got > 0 ? (u64)got : 0;
	} while (!err && got > 0 && offset_bytes < end_bytes);
	if (fd >= 0)
		close(fd);
	return err;
}

/* -- the node that fetches it ----------------------------------------------------------------------------- */

/**
 * nodes_take_piece() - a piece of outcomes has come
 * @nodes: waits for it
 * @bytes: of it; 0: there is no more
 * @value: its position; all ones: it could not be read
 * @data: the piece
 *
 * Return: 0; -EPROTO if it was not requested.
 */
int nodes_take_piece(struct nodes *nodes, u32 bytes, u64 value, const void *data)
{
	struct nodes_gathering *gathering = &nodes->gathering;

	if (gathering->fd < 0 || (bytes && value != gathering->at_bytes))
		return -EPROTO;
	if (value == (u64)-1)
		gathering->err = -EIO;
	gathering->is_whole = !bytes;
	if (bytes && !gathering->err && pwrite(gathering->fd, data, bytes, (off_t)value) != (ssize_t)bytes)
		gathering->err = -errno ? -errno : -EIO;
	gathering->at_bytes += bytes;
	return 0;
}

static int fetch_piece(struct nodes *nodes, u32 node)
{
	struct nodes_gathering *gathering = &nodes->gathering;
	u64 end_bytes = gathering->at_bytes + PIECE_BYTES;
	int state = nodes_queue_note(nodes, node, NODES_FETCH, PIECE_BYTES, gathering->at_bytes);

	while (state >= 0 && !gathering->is_whole && gathering->at_bytes < end_bytes &&
	       !nodes->peers[node].is_lost)
		state = nodes_turn(nodes);
	if (nodes->peers[node].is_lost)
		return -ETIMEDOUT;
	return state < 0 ? state : 0;
}

static int fetch(struct nodes *nodes, u32 node, const char *path)
{
	struct nodes_gathering *gathering = &nodes->gathering;
	char real[PATH_MAX];
	int err = 0;

	*gathering = (struct nodes_gathering){ .fd = iot_output_open(path, real) };
	if (gathering->fd < 0)
		return gathering->fd;
	while (!err && !gathering->is_whole)
		err = fetch_piece(nodes, node);
	err = err ? err : gathering->err;
	if (close(gathering->fd) && !err)
		err = -errno;
	gathering->fd = -1;
	if (err)
		unlink(real);
	return err;
}

static bool is_text(const struct iot_record *record, const char *text)
{
	return record->kind == IOT_KIND_fact && record->tail_bytes == strlen(text) &&
	       !memcmp(record->tail, text, record->tail_bytes);
}

/* Outcomes of that node in this replay, not those of an earlier replay. */
static bool is_there(const struct nodes *nodes, u32 node, const char *path)
{
	char which[32], run[32];
	struct iot_reject reject;
	struct iot_record record;
	struct iot_reader *reader;
	u32 found = 0, i;

	snprintf(which, sizeof(which), "node=%u of %u", node, nodes->count);
	snprintf(run, sizeof(run), "run=%016llx", (unsigned long long)nodes->run);
	if (iot_reader_open(path, &reader, &reject))
		return false;
	for (i = 0; i < FACTS_WITHIN && iot_reader_next(reader, &record, &reject) > 0; i++)
		found += is_text(&record, which) + is_text(&record, run);
	iot_reader_close(reader);
	return found == 2;
}

/**
 * nodes_gather() - have the outcomes of all nodes here, as far as they can be had. For node 0
 * @nodes: all others have ended their tasks, and listen
 * @output: they are @output.0, @output.1 and so on, here or there
 * @is_here: out: of each node, are they here now?
 * @why: out, after an error: a sentence
 * @room: for it
 *
 * Outcomes of a node that was lost are taken if they can be seen.
 *
 * Return: 0; a negative errno if some cannot be had of a node that is there.
 */
int nodes_gather(struct nodes *nodes, const char *output, bool *is_here, char *why, size_t room)
{
	char path[PATH_MAX];
	int err = 0, state;
	u32 i;

	nodes->awaited = "send its outcomes";
	for (i = 0; i < nodes->count; i++) {
		snprintf(path, sizeof(path), "%s.%u", output, i);
		is_here[i] = is_there(nodes, i, path);
		if (is_here[i] || nodes->peers[i].is_lost || !i)
			continue;
		state = fetch(nodes, i, path);
		is_here[i] = !state;
		if (state && state != -ETIMEDOUT && !err) {
			err = state;
			snprintf(why, room, "the outcomes of node %u: %s", i, strerror(-state));
		}
	}
	return err;
}
