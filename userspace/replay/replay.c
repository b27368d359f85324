// SPDX-License-Identifier: GPL-2.0-only
/*
 * replay.c - one replay from beginning to end, whatever engine runs it.
 */
#include "agent.h"
#include "local_replay.h"
#include "reach.h"
#include "thread_users.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define POLL_MS	   50
#define FACT_BYTES 128

static const struct replay_engine *const engines[] = { &engine_kernel, &engine_thread, &engine_null };

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal)
{
	(void)signal;
	is_interrupted = 1;
}

/**
 * replay_has_signal() - did one come that is to end the replay?
 */
bool replay_has_signal(void)
{
	return is_interrupted;
}

/**
 * engine_find() - an engine by its name
 *
 * Return: NULL if there is none.
 */
const struct replay_engine *engine_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(engines); i++)
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	return NULL;
}

int replay_refuse(struct replay *replay, const char *what, int err)
{
	snprintf(replay->why, replay->room, "%s: %s", what, strerror(-err));
	return err;
}

/* -- the target ----------------------------------------------------------------------------------- */

static int check_mark(struct replay *replay)
{
	const char *target = replay->options->target;

	if (replay->options->is_forced)
		return 0;
	switch (mark_get(replay->target_fd, replay->options->program)) {
	case MARK_NONE:
		snprintf(replay->why, replay->room,
			 "%s: not prepared for this program (see iotape init)", target);
		return -EINVAL;
	case MARK_OTHER:
		snprintf(replay->why, replay->room,
			 "%s: prepared for another program (see iotape init)", target);
		return -EINVAL;
	case MARK_USED:
		snprintf(replay->why, replay->room,
			 "%s: already used by a replay: prepare it again (see iotape init --delta)",
			 target);
		return -EINVAL;
	default:
		return 0;
	}
}

static int open_target(struct replay *replay, struct mark *mark)
{
	int err;

	if (!replay->options->engine->uses_target)
		return 0;
	replay->target_fd = open(replay->options->target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (replay->target_fd < 0)
		return replay_refuse(replay, replay->options->target, -errno);
	mark_read(replay->target_fd, mark);
	err = check_mark(replay);
	if (!err && replay->options->is_privileged)
		err = target_check_private(replay->target_fd, replay->options->target, replay->why, replay->room);
	if (!err && replay->options->users == IOT_USERS_RECORDED)
		err = users_check(replay->options->program, replay->options->target, replay->why,
				  replay->room);
	return err;
}

/* Nodes may share the target: each has checked the mark before the first of them removes it. */
static bool take_mark(struct replay *replay)
{
	return replay->target_fd >= 0 &&
	       !mark_write(replay->target_fd, &(struct mark){ .state = MARK_NONE });
}

/* If no operation has run, the mark of the target is still valid. */
static void mark_again(const struct replay *replay, struct mark *mark, bool has_begun)
{
	int fd;

	if (!has_begun && replay->options->is_forced)
		return;
	fd = open(replay->options->target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	mark->state = has_begun ? MARK_USED : MARK_PREPARED;
	mark_id(replay->options->program, mark->id);
	mark_write(fd, mark);
	close(fd);
}

/* -- the run ----------------------------------------------------------------------------------------- */

/**
 * replay_take_signals() - from now on, a signal ends the replay that runs, or the next one
 */
void replay_take_signals(void)
{
	struct sigaction action = { .sa_handler = interrupt };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static void cancel(struct replay *replay)
{
	replay->options->engine->cancel(replay);
	replay->result->is_cancelled = true;
	if (replay->options->agent)
		agent_cancel(replay->options->agent);
}

/* Return: 0, also if a signal came first, and then it has not begun; or a negative errno. */
static int start(struct replay *replay, bool *has_begun)
{
	int state;

	while ((state = replay->options->engine->start(replay)) > 0) {
		if (is_interrupted) {
			cancel(replay);
			return 0;
		}
	}
	*has_begun = !state;
	return state;
}

static bool is_here(const struct replay *replay, u32 task)
{
	return !replay->partition || partition_has_task(replay->partition, task);
}

/* Without those that only keep order, and ends of requests, which their submissions count for. */
static u64 count_operations(const struct replay *replay)
{
	const struct iot_program *program = replay->options->program;
	struct iot_program_op room;
	u64 count = 0, first;
	u32 i, j;
	u16 kind;

	for (i = 0; i < program->task_count; i++) {
		first = le64_to_cpu(program->tasks[i].first_op);
		for (j = 0; is_here(replay, i) && j < le32_to_cpu(program->tasks[i].op_count); j++) {
			kind = le16_to_cpu(iot_program_op_at(program, first + j, &room)->kind);
			count += kind < IOT_PLAY_signal && kind != IOT_KIND_complete;
		}
	}
	return count;
}

/* Without request queues. */
static u32 count_tasks(const struct replay *replay)
{
	const struct iot_program *program = replay->options->program;
	u32 count = 0, i;

	for (i = 0; i < program->task_count; i++)
		count += is_here(replay, i) && !(le32_to_cpu(program->tasks[i].flags) & IOT_TASK_QUEUE);
	return count;
}

static int wait_for_tasks(struct replay *replay, u64 operations, replay_progress_fn progress)
{
	const struct replay_engine *engine = replay->options->engine;
	struct agent *agent = replay->options->agent;
	u32 tasks = count_tasks(replay);
	struct iot_replay_status status = {};
	int left;

	while ((left = engine->wait(replay, POLL_MS)) > 0) {
		if ((is_interrupted || (agent && agent_is_cancelled(agent))) &&
		    !replay->result->is_cancelled)
			cancel(replay);
		engine->status(replay, &status);
		if (progress)
			progress(&status, tasks, operations);
	}
	if (left < 0)
		cancel(replay);
	return left;
}

static void take_result(struct replay *replay)
{
	struct replay_result *result = replay->result;
	struct iot_replay_status status = {};

	replay->options->engine->status(replay, &status);
	result->finished = status.finished;
	result->tasks = count_tasks(replay);
	if (status.start_ns && result->finished < result->tasks) /* it ended before its last task did */
		status.end_ns = clock_now_ns();
	result->elapsed_ns = status.end_ns > status.start_ns ? status.end_ns - status.start_ns : 0;
	result->ops = status.ops;
	result->diverged = status.diverged;
	result->unsupported = status.unsupported;
	result->emulated = status.emulated;
	result->harmless = status.harmless;
	result->stalls = status.stalls;
	result->workers = status.workers;
	replay->options->engine->lateness(replay, &result->lateness);
}

/* -- facts of the outcomes --------------------------------------------------------- */

/* The collector of the kernel engine outlives this process: it writes this fact unless this process replaces it. */
static int open_last_fact(struct replay *replay)
{
	replay->last_fact = mmap(NULL, FACT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (replay->last_fact == MAP_FAILED) {
		replay->last_fact = NULL;
		return replay_refuse(replay, "the outcomes", -errno);
	}
	snprintf(replay->last_fact, FACT_BYTES, "partial=the replay was killed");
	return 0;
}

static void set_last_fact(const struct replay *replay, u64 operations)
{
	if (!replay->last_fact)
		return;
	*replay->last_fact = 0;
	if (replay->result->ops < operations)
		snprintf(replay->last_fact, FACT_BYTES, "partial=%llu of %llu operations were performed",
			 replay->result->ops, operations);
}

/* -- with other nodes ------------------------------------------------------------------------------- */

/* Alone, this is nothing. Return: @err, or that of another node. */
static int meet_nodes(struct replay *replay, int err)
{
	struct agent *agent = replay->options->agent;

	return agent ? nodes_rendezvous(&agent->nodes, err, replay->why, replay->room) : err;
}

/* Return: 0 when the tasks of this node, and those of all others, can go. */
static int get_ready(struct replay *replay)
{
	int state;

	if (!replay->options->agent)
		return 0;
	while ((state = replay->options->engine->ready(replay)) > 0)
		if (is_interrupted)
			return replay_refuse(replay, "not begun", -EINTR);
	agent_attach(replay->options->agent, replay);
	return state;
}

static int begin(struct replay *replay, bool *has_begun)
{
	struct agent *agent = replay->options->agent;
	int err = start(replay, has_begun);

	if (!err && agent)
		err = agent_start(agent);
	return err;
}

/* Return: 0; a negative errno if other nodes may wait for reports that do not come. */
static int end(struct replay *replay)
{
	struct agent *agent = replay->options->agent;
	int err = agent ? agent_stop(agent) : 0;

	return err ? replay_refuse(replay, "the agent of this node", err) : 0;
}

/**
 * replay_run() - replay a program
 * @options: of the replay
 * @progress: called several times a second, may be NULL
 * @result: filled in
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * A signal ends the replay early; the outcomes until then are complete.
 *
 * With other nodes, this runs the tasks that are placed here. All nodes start together, or none
 * does; then @why may be empty: another node prints the reason.
 *
 * Return: 0 or a negative errno.
 */
int replay_run(const struct replay_options *options, replay_progress_fn progress,
	       struct replay_result *result, char *why, size_t room)
{
	const struct replay_engine *engine = options->engine;
	struct replay replay = {
		.options = options,
		.result = result,
		.target_fd = -1,
		.partition = options->agent ? &options->agent->partition : NULL,
		.why = why,
		.room = room,
	};
	struct mark mark = {};
	u64 operations = count_operations(&replay); /* which reads the program: not while it runs */
	bool is_marked = false, has_begun = false;
	int err, closed;

	*result = (struct replay_result){};
	replay_take_signals();
	err = engine->open(&replay);
	if (!err)
		err = open_last_fact(&replay);
	if (!err)
		err = open_target(&replay, &mark);
	err = meet_nodes(&replay, err);
	if (!err) {
		is_marked = take_mark(&replay);
		err = engine->set_up(&replay);
		if (!err)
			err = get_ready(&replay);
		err = meet_nodes(&replay, err);
	}
	if (!err) {
		err = begin(&replay, &has_begun);
		if (!err) {
			err = wait_for_tasks(&replay, operations, progress);
			take_result(&replay); /* before others are waited for */
			closed = end(&replay);
			err = err ? err : closed;
		}
	}
	if (options->agent)
		agent_detach(options->agent);
	set_last_fact(&replay, operations);
	closed = engine->close(&replay);
	if (replay.last_fact)
		munmap(replay.last_fact, FACT_BYTES);
	if (is_marked)
		mark_again(&replay, &mark, has_begun);
	if (replay.target_fd >= 0)
		close(replay.target_fd);
	return err ? err : closed;
}
