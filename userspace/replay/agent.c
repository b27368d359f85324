// SPDX-License-Identifier: GPL-2.0-only
/*
 * agent.c - exchanges progress, which tasks of other nodes wait for, between its engine and the other nodes.
 *
 * MPI has nothing that a thread could sleep on together with something else. So the agent sleeps
 * where the engine wakes it as soon as a task here has passed a mark, for a short while, and then
 * looks whether a message has come: news of this node go out at once, those of others come in at
 * most that while later. After a message it polls again at once, several times, because an
 * answer often follows.
 */
#include "agent.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "connect.h"

#define MOVED_MAX	256
#define BUSY_TURNS	64
#define SLEEP_NS	50000
#define STACK_BYTES	(256 << 10)
#define CLOSE_SECONDS	10

/* An abort ends all other nodes: node 1, which prints the reason, gives them time to end, and they wait for it. */
#define SPEAKER_SECONDS	2
#define OTHERS_SECONDS	5

/* -- between engine and nodes ----------------------------------------------------------------- */

static int agent_send_note(void *context, u32 node, const struct partition_note *note)
{
	struct agent *agent = context;

	return nodes_queue_note(&agent->nodes, node, (enum nodes_news)note->news, note->what, note->value);
}

/* Tasks on other nodes have advanced. */
static int agent_take_note(void *context, u32 from, const struct partition_note *note)
{
	struct agent *agent = context;
	const struct replay_engine *engine;

	if (!agent->replay)
		return 0; /* nothing is left here that could wait for it */
	if (!partition_receive(&agent->partition, from, note))
		return -EPROTO;
	engine = agent->replay->options->engine;
	return note->news == PARTITION_PASSED ? engine->advance(agent->replay, note->what, note->value) :
					    engine->signal(agent->replay, note->what, note->value);
}

/* Report the progress of local tasks. Return: the number of tasks that advanced; a negative errno. */
static int agent_report(struct agent *agent, u64 timeout_ns)
{
	struct iot_replay_move moved[MOVED_MAX];
	int count = agent->replay->options->engine->moved(agent->replay, moved, MOVED_MAX, timeout_ns);
	int err = 0, i;

	for (i = 0; i < count && !err; i++)
		err = partition_report(&agent->partition, moved[i].task, moved[i].ended, agent_send_note, agent);
	return err ? err : count;
}

static void agent_check_cancel(struct agent *agent, bool *is_sent)
{
	if (__atomic_load_n(&agent->is_to_cancel, __ATOMIC_RELAXED) && !*is_sent) {
		*is_sent = true;
		if (!agent->nodes.is_cancelled)
			nodes_queue_for_all(&agent->nodes, NODES_CANCEL, 0, 0);
		agent->nodes.is_cancelled = true;
	}
	if (agent->nodes.is_cancelled)
		__atomic_store_n(&agent->is_cancelled, 1, __ATOMIC_RELAXED);
}

/* Return: the number of messages and of tasks that advanced; a negative errno. */
static int agent_turn(struct agent *agent, u64 timeout_ns, bool *is_sent)
{
	int messages = 0, state, moved;

	while ((state = nodes_receive(&agent->nodes)) > 0)
		messages++;
	if (state < 0)
		return state;
	nodes_detect_failures(&agent->nodes);
	moved = agent_report(agent, messages ? 0 : timeout_ns);
	if (moved < 0)
		return moved;
	agent_check_cancel(agent, is_sent);
	state = nodes_send(&agent->nodes);
	return state ? state : messages + moved;
}

static void *agent_main(void *argument)
{
	struct agent *agent = argument;
	bool is_sent = false, is_last = false;
	u32 idle = 0;
	int state = 0;

	prctl(PR_SET_TIMERSLACK, 1UL);
	while (state >= 0 && !(is_last && !state)) {
		is_last = __atomic_load_n(&agent->is_to_stop, __ATOMIC_ACQUIRE);
		state = agent_turn(agent, is_last || idle < BUSY_TURNS ? 0 : SLEEP_NS, &is_sent);
		idle = state ? 0 : idle + 1;
		if (!state && idle < BUSY_TURNS)
			sched_yield();
	}
	if (state < 0) {
		agent->err = state;
		__atomic_store_n(&agent->is_cancelled, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* -- for the replay ----------------------------------------------------------------------------- */

/**
 * agent_open() - join the other nodes
 * @agent: out: to be freed by agent_close(), also after an error
 * @mpi: openmpi, mpich, or the path of a library; NULL for that of the launcher
 * @limit_s: maximum silence of a node; 0 for no limit
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno.
 */
int agent_open(struct agent **agent, const char *mpi, u32 limit_s, char *why, size_t room)
{
	const struct transport *transport;
	struct agent *a = calloc(1, sizeof(*a));
	int err = a ? connect_load(mpi, &a->library, &transport, why, room) : -ENOMEM;

	*agent = a;
	if (err)
		return err;
	replay_take_signals(); /* it may take long until all have come */
	a->nodes.is_interrupted = replay_has_signal;
	err = nodes_open(&a->nodes, transport);
	if (!err)
		err = nodes_detector_start(&a->nodes, limit_s);
	if (err) {
		snprintf(why, room, "%s: %s", transport->name, strerror(-err));
		return err;
	}
	return connect_check(a->nodes.count, transport->name, why, room);
}

/**
 * agent_prepare() - place the tasks, and find the marks of this node
 * @agent: open
 * @program: verified; must stay
 * @rule: how to place tasks
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno.
 */
int agent_prepare(struct agent *agent, const struct iot_program *program, enum placement_rule rule,
		  char *why, size_t room)
{
	u32 nodes = agent->nodes.count;
	int err = nodes > PLACEMENT_NODES_MAX ? -E2BIG : 0;

	agent->node_of = calloc(program->task_count + 1ul, sizeof(*agent->node_of));
	if (!err && !agent->node_of)
		err = -ENOMEM;
	if (!err)
		err = placement_compute(program, nodes, rule, agent->node_of, &agent->placement);
	if (!err)
		err = partition_open(&agent->partition, program, agent->node_of, agent->nodes.node, nodes);
	agent->nodes.identity = le32_to_cpu(program->head->head_crc) + (u32)rule;
	if (err == -ENOENT)
		snprintf(why, room, "--place=trace: the trace is of one node, or its nodes are unknown");
	else if (err)
		snprintf(why, room, "the tasks cannot be placed: %s", strerror(-err));
	return err;
}

/**
 * agent_attach() - pass the reports of other nodes to a replay, from now on
 * @agent: prepared
 * @replay: set up
 */
void agent_attach(struct agent *agent, struct replay *replay)
{
	agent->replay = replay;
	agent->nodes.take = agent_take_note;
	agent->nodes.context = agent;
}

/**
 * agent_detach() - nothing is left that could wait for other nodes
 */
void agent_detach(struct agent *agent)
{
	agent->replay = NULL;
}

/**
 * agent_start() - start the thread that exchanges reports
 * @agent: has its replay
 *
 * Return: 0 or a negative errno.
 */
int agent_start(struct agent *agent)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int err;

	agent->nodes.awaited = "run its tasks";
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&agent->thread, &attr, agent_main, agent);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}

/**
 * agent_stop() - all local tasks have ended: send the last reports, and detach from the engine
 *
 * Return: 0; a negative errno if the agent has failed, and others may wait for ever.
 */
int agent_stop(struct agent *agent)
{
	__atomic_store_n(&agent->is_to_stop, 1, __ATOMIC_RELEASE);
	pthread_join(agent->thread, NULL);
	agent_detach(agent);
	if (!agent->err && !agent->nodes.is_cancelled && !partition_is_reported(&agent->partition))
		agent->err = -EPROTO;
	return agent->err;
}

/**
 * agent_view() - describe the nodes of the replay
 */
struct agent_view agent_view(const struct agent *agent)
{
	return (struct agent_view){
		.node = agent->nodes.node,
		.count = agent->nodes.count,
		.placement = agent->placement,
		.run = agent->nodes.run,
		.sample_ns = { agent->nodes.sample.sent_ns, agent->nodes.sample.seen_ns,
			       agent->nodes.sample.back_ns },
	};
}

/**
 * agent_ranks() - the ranks of this node
 * @agent: prepared
 * @text: out: "0-3,6", as many as there is room for
 * @room: room for it
 */
void agent_ranks(const struct agent *agent, char *text, size_t room)
{
	placement_list_ranks(agent->partition.program, agent->node_of, agent->nodes.node, text, room);
}

/**
 * agent_rendezvous() - nodes_rendezvous(), of an agent
 */
int agent_rendezvous(struct agent *agent, int err, char *why, size_t room)
{
	return nodes_rendezvous(&agent->nodes, err, why, room);
}

/**
 * agent_finish() - nodes_finish(), of an agent; and the code that all nodes are to exit with
 *
 * On node 0, agent_end() is to follow. The outcomes of another node are removed if node 0 has them.
 */
int agent_finish(struct agent *agent, struct replay_result *result, int err, int *code, char *why,
		 size_t room, agent_say_fn say)
{
	err = nodes_finish(&agent->nodes, result, err, why, room, say);
	*code = err ? 1 : agent->nodes.code;
	if (agent->nodes.is_gathered && agent->nodes.part)
		unlink(agent->nodes.part);
	return err;
}

/**
 * agent_outcomes() - this node writes its outcomes there; node 0 may request them at the end
 * @agent: open
 * @path: must stay
 */
void agent_outcomes(struct agent *agent, const char *path)
{
	agent->nodes.part = path;
}

/**
 * agent_gather() - nodes_gather(), of an agent, after agent_finish(). For node 0
 * @agent: of node 0
 * @output: as for nodes_gather()
 * @is_here: as for nodes_gather()
 * @why: as for nodes_gather()
 * @room: room for it
 *
 * Return: as nodes_gather(); -ENODATA if there is nothing: the replay did not begin, or the others do not
 * listen.
 */
int agent_gather(struct agent *agent, const char *output, bool *is_here, char *why, size_t room)
{
	struct nodes *nodes = &agent->nodes;

	if (nodes->is_stopped || !nodes->is_finished)
		return -ENODATA;
	if (!nodes->is_lost)
		nodes_ask_clocks(nodes, 1); /* if it fails, earlier samples remain in use */
	return nodes_gather(nodes, output, is_here, why, room);
}

/**
 * agent_sample() - a sample of the clock of another node after the last operation
 * @agent: of node 0, after agent_gather()
 * @node: the other one
 * @sample_ns: out: asked, seen there, heard
 *
 * Return: was there one?
 */
bool agent_sample(const struct agent *agent, u32 node, u64 sample_ns[3])
{
	const struct nodes_sample *sample = &agent->nodes.peers[node].samples[1];

	sample_ns[0] = sample->sent_ns;
	sample_ns[1] = sample->seen_ns;
	sample_ns[2] = sample->back_ns;
	return agent->nodes.peers[node].has_sample[1];
}

/**
 * agent_end() - nodes_end(), of an agent
 */
void agent_end(struct agent *agent, int code, bool is_gathered)
{
	if (!agent->nodes.is_stopped && agent->nodes.is_finished)
		nodes_end(&agent->nodes, code, is_gathered);
}

static void leave(int signal)
{
	(void)signal;
	_exit(1);
}

/**
 * agent_close() - leave the other nodes; NULL is allowed
 * @agent: not running
 *
 * Those that did not answer in the end are ended.
 */
void agent_close(struct agent *agent)
{
	if (!agent)
		return;
	if (agent->nodes.transport && agent->nodes.is_lost) {
		if (agent->nodes.node) /* node 0 was lost, and the state of the others is unknown */
			sleep(agent->nodes.node == 1 ? SPEAKER_SECONDS : OTHERS_SECONDS);
		agent->nodes.transport->abort(1);
	}
	signal(SIGALRM, leave); /* a node that has died meanwhile would be waited for */
	alarm(CLOSE_SECONDS);
	nodes_close(&agent->nodes);
	alarm(0);
	if (agent->partition.program)
		partition_close(&agent->partition);
	free(agent->node_of);
	free(agent); /* its library stays loaded, as its registrations with the process do */
}
