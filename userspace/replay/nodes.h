/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nodes.h - the nodes of one replay: they meet, tell each other how far tasks are, and what came of it.
 *
 * A message is a row of notes. Node 0 is the one that the others meet at, and that speaks for all.
 *
 *   note      what        value     from, to        says
 *   passed    task        count     any, any        that many of its operations have ended
 *   arrived   hub         count     any, any        that many of its arrivals have happened
 *   meet      number      errno     others, 0       I have come to that meeting, well or not, and
 *                                                   (the upper half of the value) for that replay
 *   go        number      -         0, others       all have come to that meeting, and are well
 *   stop      -           -         0, others       somebody is not: it is over
 *   cancel    -           -         any, others     a signal came, or I have failed: end your tasks
 *   text      place       8 bytes   others, 0       a piece of a sentence about my failure
 *   result    number      value     others, 0       a field of my result
 *   done      -           errno     others, 0       that was all of it; my tasks have ended
 *   end       -           code      0, others       all have: exit with that code
 *
 * One thread at a time uses it.
 */
#ifndef IOTAPE_NODES_H
#define IOTAPE_NODES_H

#include "replay.h"
#include "share.h"
#include "transport/transport.h"

enum nodes_news {
	NODES_PASSED = SHARE_PASSED,
	NODES_ARRIVED = SHARE_ARRIVED,
	NODES_MEET,
	NODES_GO,
	NODES_STOP,
	NODES_CANCEL,
	NODES_TEXT,
	NODES_RESULT,
	NODES_DONE,
	NODES_END,
};

struct nodes_note {
	__le32 news;
	__le32 what;
	__le64 value;
};

#define NODES_WHY_BYTES 1024

/**
 * struct nodes_peer - another node
 * @notes: for it, not sent yet
 * @note_count: their number
 * @met: meetings that it has come to
 * @is_done: its tasks have ended, and its result is known
 * @err: what it failed with, 0 if it has not
 * @why: a sentence about that
 * @result: of its part
 */
struct nodes_peer {
	struct nodes_note *notes;
	u32 note_count;
	u32 met;
	bool is_done;
	int err;
	char why[NODES_WHY_BYTES];
	struct replay_result result;
};

/**
 * struct nodes - all of them
 * @transport: that carries messages
 * @node: this one
 * @count: their number
 * @peers: one each; that of this node is not used but for its result
 * @inbox: of TRANSPORT_MESSAGE_BYTES
 * @identity: of what they are to do, the same for all of them
 * @meetings: that this node has come to
 * @gone: meetings after which all went on
 * @is_stopped: node 0 said so
 * @is_cancelled: a node was, this one or another
 * @is_ended: node 0 said so
 * @is_lost: some do not answer
 * @code: to exit with, when all have ended
 * @take: called for what others tell of tasks and hubs; not 0 ends it with that errno
 * @context: for @take
 * @is_interrupted: has a signal come?
 */
struct nodes {
	const struct transport *transport;
	u32 node;
	u32 count;
	struct nodes_peer *peers;
	void *inbox;
	u32 identity;
	u32 meetings;
	u32 gone;
	bool is_stopped;
	bool is_cancelled;
	bool is_ended;
	bool is_lost;
	int code;
	int (*take)(void *context, u32 from, const struct share_note *note);
	void *context;
	bool (*is_interrupted)(void);
};

int nodes_open(struct nodes *nodes, const struct transport *transport);
void nodes_close(struct nodes *nodes);

int nodes_tell(struct nodes *nodes, u32 node, enum nodes_news news, u32 what, u64 value);
int nodes_tell_all(struct nodes *nodes, enum nodes_news news, u32 what, u64 value);
int nodes_send(struct nodes *nodes);
int nodes_receive(struct nodes *nodes);

int nodes_meet(struct nodes *nodes, int err, char *why, size_t room);
int nodes_finish(struct nodes *nodes, struct replay_result *result, int err, char *why, size_t room,
		 void (*say)(const char *sentence));

#endif
