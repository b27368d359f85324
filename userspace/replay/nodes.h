/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nodes.h - the nodes of one replay: they meet, report the progress of tasks to each other, and their results to node 0.
 *
 * A message is a row of notes. Node 0 is the one that the others meet at, and that speaks for all.
 *
 *   note      what        value     from, to        says
 *   passed    task        count     any, any        that many of its operations have ended
 *   signaled  latch         count     any, any        that many of its signals have happened
 *   rendezvous number     errno     others, 0       I have reached that rendezvous, with or without an error, and
 *                                                   (the upper half of the value) for that replay
 *   go        number      -         0, others all have reached that rendezvous without an error
 *   stop      -           -         0, others       a node has an error: the replay ends
 *   cancel    -           -         any, others     a signal came, or I have failed: end your tasks
 *   text      place       8 bytes   others, 0       a piece of a sentence about my failure
 *   result    number      value     others, 0       a field of my result
 *   done      -           errno     others, 0       that was all of it; my tasks have ended
 *   end       is gathered code      0, others       all have: exit with that code; node 0 has my outcomes
 *   alive     -           -         others, 0; 0, others  nothing but that
 *   host      place       8 bytes   others, 0       a piece of the name of my host
 *   run       -           number    0, others       which replay this is
 *   ask       number      -         0, others       what time is it?
 *   time      number      ns        others, 0       that, when it was asked
 *   sample    0, 1, 2     ns        0, others       sent, seen and back, of the best answer of yours
 *   fetch     bytes       offset    0, others       I want that piece of your outcomes
 *   file      bytes       offset    others, 0       that piece, which follows, up to a multiple of notes
 *
 * One thread at a time uses it, besides that of failure_detector.c, which only sends.
 */
#ifndef IOTAPE_NODES_H
#define IOTAPE_NODES_H

#include <pthread.h>

#include "replay.h"
#include "partition.h"
#include "transport/transport.h"

enum nodes_news {
	NODES_PASSED = PARTITION_PASSED,
	NODES_SIGNALED = PARTITION_SIGNALED,
	NODES_RENDEZVOUS,
	NODES_GO,
	NODES_STOP,
	NODES_CANCEL,
	NODES_TEXT,
	NODES_RESULT,
	NODES_DONE,
	NODES_END,
	NODES_ALIVE,
	NODES_HOST,
	NODES_RUN,
	NODES_ASK,
	NODES_TIME,
	NODES_SAMPLE,
	NODES_FETCH,
	NODES_FILE,
};

struct nodes_note {
	__le32 news;
	__le32 what;
	__le64 value;
};

#define NODES_WHY_BYTES	 1024
#define NODES_HOST_BYTES 64

/**
 * struct nodes_sample - a reading by node 0 of the clock of another one
 * @sent_ns: time of the query, by node 0
 * @seen_ns: reading of the other clock
 * @back_ns: time of the answer, by node 0
 */
struct nodes_sample {
	u64 sent_ns;
	u64 seen_ns;
	u64 back_ns;
};

/**
 * struct nodes_peer - another node
 * @notes: for it, not sent yet
 * @note_count: their number
 * @met: rendezvous that it has come to
 * @is_done: its tasks have ended, and its result is known
 * @err: its errno, 0 without an error
 * @why: a sentence about that
 * @result: of its part
 * @host: its name
 * @is_heard: something has come from it
 * @silent_ms: for so long nothing has
 * @is_lost: it was given up
 * @answered: the last question that it has answered
 * @answer_ns: the answer
 * @samples: of its clock, before and after the replay
 * @has_sample: are there any?
 */
struct nodes_peer {
	struct nodes_note *notes;
	u32 note_count;
	u32 met;
	bool is_done;
	int err;
	char why[NODES_WHY_BYTES];
	struct replay_result result;
	char host[NODES_HOST_BYTES];
	bool is_heard;
	u64 silent_ms;
	bool is_lost;
	u32 answered;
	u64 answer_ns;
	struct nodes_sample samples[2];
	bool has_sample[2];
};

/**
 * struct nodes_gathering - outcomes that node 0 has sent to it
 * @fd: where they go, -1 if there are none to come
 * @at_bytes: number of bytes received
 * @is_whole: that was all
 * @err: they cannot be written, or could not be read
 */
struct nodes_gathering {
	int fd;
	u64 at_bytes;
	bool is_whole;
	int err;
};

/**
 * struct nodes - all nodes of a replay
 * @transport: carries messages
 * @node: number of this node
 * @count: number of nodes
 * @peers: one per node; of that of this node, only the result is used
 * @inbox: buffer of TRANSPORT_MESSAGE_BYTES
 * @identity: identifies program and placement, which must be the same on all nodes
 * @rendezvous: the rendezvous that this node has reached
 * @gone: the last rendezvous that all nodes have reached
 * @is_stopped: node 0 has stopped the replay
 * @is_cancelled: this node or another one was cancelled
 * @is_ended: node 0 has ended the replay
 * @is_lost: some nodes do not respond
 * @is_finished: the results of all responding nodes have arrived
 * @code: exit code, when all have ended
 * @take: called for reports of tasks and latches; an error ends the replay
 * @context: for @take
 * @is_interrupted: has a signal come?
 * @wire: held where the transport is used
 * @pulse: the thread of failure_detector.c, if @has_pulse
 * @is_pulse_over: it is to end
 * @limit_ms: after so long a silence a node is given up; 0: never
 * @judged_ms: time of the last check
 * @awaited: the action of the others that is waited for
 * @run: number of this replay
 * @questions: that node 0 has asked
 * @asked_ms: when this node was, last
 * @sample: of the clock of this node, before the replay
 * @part: path of the outcomes of this node, NULL if it has none
 * @is_gathered: node 0 has them
 * @gathering: those of others, on their way
 */
struct nodes {
	const struct transport *transport;
	u32 node;
	u32 count;
	struct nodes_peer *peers;
	void *inbox;
	u32 identity;
	u32 rendezvous;
	u32 gone;
	bool is_stopped;
	bool is_cancelled;
	bool is_ended;
	bool is_lost;
	bool is_finished;
	int code;
	int (*take)(void *context, u32 from, const struct partition_note *note);
	void *context;
	bool (*is_interrupted)(void);
	pthread_mutex_t wire;
	pthread_t pulse;
	bool has_pulse;
	bool is_pulse_over;
	u64 limit_ms;
	u64 judged_ms;
	const char *awaited;
	u64 run;
	u32 questions;
	u64 asked_ms;
	struct nodes_sample sample;
	const char *part;
	bool is_gathered;
	struct nodes_gathering gathering;
};

int nodes_open(struct nodes *nodes, const struct transport *transport);
void nodes_close(struct nodes *nodes);

int nodes_queue_note(struct nodes *nodes, u32 node, enum nodes_news news, u32 what, u64 value);
int nodes_queue_for_all(struct nodes *nodes, enum nodes_news news, u32 what, u64 value);
int nodes_send(struct nodes *nodes);
int nodes_receive(struct nodes *nodes);

int nodes_turn(struct nodes *nodes);
int nodes_carry(struct nodes *nodes, u32 node, const void *bytes, size_t count);
u64 nodes_now_ns(void);

static inline u64 nodes_now_ms(void)
{
	return nodes_now_ns() / 1000000;
}

/* The size of the data of a piece in a message. */
static inline size_t nodes_file_bytes(u32 bytes)
{
	return (bytes + sizeof(struct nodes_note) - 1) / sizeof(struct nodes_note) *
	       sizeof(struct nodes_note);
}

/* failure_detector.c */
int nodes_detector_start(struct nodes *nodes, u32 limit_s);
void nodes_detector_stop(struct nodes *nodes);
void nodes_detect_failures(struct nodes *nodes);

/* gather.c */
int nodes_ask_clocks(struct nodes *nodes, u32 when);
int nodes_give_piece(struct nodes *nodes, u32 bytes, u64 offset_bytes);
int nodes_take_piece(struct nodes *nodes, u32 bytes, u64 value, const void *data);
int nodes_gather(struct nodes *nodes, const char *output, bool *is_here, char *why, size_t room);

/* rendezvous.c */
int nodes_rendezvous(struct nodes *nodes, int err, char *why, size_t room);
int nodes_finish(struct nodes *nodes, struct replay_result *result, int err, char *why, size_t room,
		 void (*say)(const char *sentence));
int nodes_end(struct nodes *nodes, int code, bool is_gathered);

/* nodes.c: pieces of a text for node 0 */
int nodes_queue_text(struct nodes *nodes, enum nodes_news news, const char *text, size_t room);
int nodes_queue_result(struct nodes *nodes, const struct replay_result *result);
void nodes_add_result(struct replay_result *sum, const struct replay_result *part);

#endif
