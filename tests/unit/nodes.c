// SPDX-License-Identifier: GPL-2.0-only
/*
 * nodes.c - the rendezvous and the end of nodes: three threads are the nodes, and queues between
 * them the transport.
 */
#include "replay/nodes.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "suite.h"

#define NODES	  3
#define QUEUE_MAX 64

struct message {
	size_t count;
	char bytes[8192];
};

static struct {
	pthread_mutex_t lock;
	struct message messages[NODES][QUEUE_MAX]; /* for each node */
	u32 from[NODES][QUEUE_MAX];
	u32 taken[NODES];
	u32 put[NODES];
} wire = { .lock = PTHREAD_MUTEX_INITIALIZER };

static __thread u32 self;

static int wire_open(u32 *node, u32 *nodes)
{
	*node = self;
	*nodes = NODES;
	return 0;
}

static int wire_send(u32 to, const void *bytes, size_t count)
{
	struct message *message;

	pthread_mutex_lock(&wire.lock);
	assert_true(wire.put[to] < QUEUE_MAX && count <= sizeof(message->bytes));
	message = &wire.messages[to][wire.put[to]];
	memcpy(message->bytes, bytes, count);
	message->count = count;
	wire.from[to][wire.put[to]++] = self;
	pthread_mutex_unlock(&wire.lock);
	return 0;
}

static int wire_receive(u32 *from, void *bytes, size_t room)
{
	int count = 0;

	pthread_mutex_lock(&wire.lock);
	if (wire.taken[self] < wire.put[self]) {
		const struct message *message = &wire.messages[self][wire.taken[self]];

		assert_true(message->count <= room);
		memcpy(bytes, message->bytes, message->count);
		count = (int)message->count;
		*from = wire.from[self][wire.taken[self]++];
	}
	pthread_mutex_unlock(&wire.lock);
	return count;
}

static void wire_close(void)
{
}

static void wire_abort(int code)
{
	(void)code;
	abort();
}

static const struct transport transport = {
	.version = TRANSPORT_VERSION,
	.name = "queues",
	.open = wire_open,
	.send = wire_send,
	.receive = wire_receive,
	.close = wire_close,
	.abort = wire_abort,
};

/* The behaviour and the outcome of each node. */
struct part {
	u32 node;
	u32 identity;
	int first_err, second_err, last_err;
	u64 diverged;
	bool is_interrupted;
	int met, finished, code;
	char why[256];
	struct replay_result result;
};

static bool is_interrupted(void)
{
	return true;
}

static void say(const char *sentence)
{
	fail_msg("%s", sentence);
}

static void *play(void *argument)
{
	struct part *part = argument;
	struct nodes nodes = { .is_interrupted = part->is_interrupted ? is_interrupted : NULL };

	self = part->node;
	assert_int_equal(nodes_open(&nodes, &transport), 0);
	nodes.identity = part->identity;
	snprintf(part->why, sizeof(part->why), "node %u's own sentence, a long one", part->node);
	part->met = nodes_rendezvous(&nodes, part->first_err, part->why, sizeof(part->why));
	if (!part->met)
		part->met = nodes_rendezvous(&nodes, part->second_err, part->why, sizeof(part->why));
	part->result = (struct replay_result){
		.ops = 100 + part->node, .diverged = part->diverged, .elapsed_ns = 7 - part->node,
		.tasks = 1,
	};
	part->result.lateness.wakeups[part->node] = 5;
	part->finished = nodes_finish(&nodes, &part->result, part->met ? part->met : part->last_err,
				      part->why, sizeof(part->why), say);
	if (!part->node && !part->met)
		assert_int_equal(nodes_end(&nodes, nodes.code, false), 0);
	part->code = nodes.code;
	nodes_close(&nodes);
	return NULL;
}

static void play_all(struct part parts[NODES])
{
	pthread_t threads[NODES];
	u32 i;

	memset(wire.taken, 0, sizeof(wire.taken));
	memset(wire.put, 0, sizeof(wire.put));
	for (i = 0; i < NODES; i++) {
		parts[i].node = i;
		pthread_create(&threads[i], NULL, play, &parts[i]);
	}
	for (i = 0; i < NODES; i++)
		pthread_join(threads[i], NULL);
}

static void results_of_nodes_are_combined(void **state)
{
	struct part parts[NODES] = {};
	u32 i;

	(void)state;
	play_all(parts);
	for (i = 0; i < NODES; i++)
		assert_true(!parts[i].met && !parts[i].finished && !parts[i].code);
	assert_int_equal(parts[0].result.ops, 303);
	assert_int_equal(parts[0].result.tasks, 3);
	assert_int_equal(parts[0].result.elapsed_ns, 7);
	assert_int_equal(parts[0].result.lateness.wakeups[0], 5);
	assert_int_equal(parts[0].result.lateness.wakeups[2], 5);
}

static void all_exit_with_the_same_code(void **state)
{
	struct part parts[NODES] = { [2] = { .diverged = 4 } };
	u32 i;

	(void)state;
	play_all(parts);
	assert_int_equal(parts[0].result.diverged, 4);
	for (i = 0; i < NODES; i++)
		assert_int_equal(parts[i].code, 3);
}

/* Any node fails at any time: node 0 reports it, the others print nothing. */
static void failure_of_one_node_ends_all(void **state)
{
	static const struct {
		const char *name;
		struct part parts[NODES];
		const char *why;
	} rows[] = {
		{ "node 0, first", { { .first_err = -ENOENT } }, "node 0's own sentence, a long one" },
		{ "node 2, first", { [2] = { .first_err = -ENOENT } },
		  "node 2: node 2's own sentence, a long one" },
		{ "node 1, second", { [1] = { .second_err = -EIO } },
		  "node 1: node 1's own sentence, a long one" },
		{ "nodes 1 and 2", { [1] = { .first_err = -EIO }, [2] = { .first_err = -EIO } }, NULL },
		{ "another program", { [1] = { .identity = 1 } },
		  "node 1: it has another program than node 0, or places tasks differently" },
		{ "a signal", { [1] = { .is_interrupted = true } }, NULL },
		{ "node 0, last", { { .last_err = -EIO } }, "node 0's own sentence, a long one" },
		{ "node 1, last", { [1] = { .last_err = -EIO } },
		  "node 1: node 1's own sentence, a long one" },
	};
	size_t i;
	u32 j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct part parts[NODES];

		memcpy(parts, rows[i].parts, sizeof(parts));
		play_all(parts);
		assert_row(rows[i].name, parts[0].finished < 0 && parts[0].why[0]);
		if (rows[i].why && strcmp(parts[0].why, rows[i].why))
			fail_msg("%s: %s", rows[i].name, parts[0].why);
		for (j = 1; j < NODES; j++)
			assert_row(rows[i].name, !parts[j].why[0]);
		for (j = 1; j < NODES && parts[0].met; j++)
			assert_row(rows[i].name, parts[j].met < 0);
		for (j = 0; j < NODES && !parts[0].met; j++)
			assert_row(rows[i].name, parts[j].code == 1);
	}
}

/* Messages that no node of this version sends. */
static void invalid_messages_are_refused(void **state)
{
	static const struct {
		const char *name;
		u32 from;
		size_t bytes;
		u32 news;
	} rows[] = {
		{ "half a note", 1, 8, NODES_GO },
		{ "no news", 1, 16, 0 },
		{ "other news", 1, 16, NODES_FILE + 1 },
		{ "a part of an unexpected file", 1, 16, NODES_FILE },
		{ "from nobody", NODES, 16, NODES_GO },
		{ "from itself", 0, 16, NODES_GO },
	};
	struct nodes nodes = {};
	size_t i;

	(void)state;
	self = 0;
	assert_int_equal(nodes_open(&nodes, &transport), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct nodes_note note = { .news = cpu_to_le32(rows[i].news) };

		memset(wire.taken, 0, sizeof(wire.taken));
		memset(wire.put, 0, sizeof(wire.put));
		self = rows[i].from;
		wire_send(0, &note, rows[i].bytes);
		self = 0;
		assert_row(rows[i].name, nodes_receive(&nodes) == -EPROTO);
	}
	nodes_close(&nodes);
}

SUITE("nodes",
      TEST(results_of_nodes_are_combined)
      TEST(all_exit_with_the_same_code)
      TEST(failure_of_one_node_ends_all)
      TEST(invalid_messages_are_refused))
