// SPDX-License-Identifier: GPL-2.0-only
/*
 * engine_kernel.c - replay a program in the kernel, by replayfs.ko.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "collectord/collectord.h"
#include "replay.h"

#define POLL_MS 50

struct engine {
	const struct replay_options *options;
	replay_progress_fn progress;
	struct replay_result *result;
	int replay_fd;
	int target_fd;
	int session_fd;
	u64 operations;
	u32 tasks;
	struct collector collector;
	bool has_collector;
	bool is_marked;
	bool has_begun;
	struct carriers *carriers;
	char *why;
	size_t room;
};

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal)
{
	(void)signal;
	is_interrupted = 1;
}

static int refuse(struct engine *e, const char *what, int err)
{
	snprintf(e->why, e->room, "%s: %s", what, strerror(-err));
	return err;
}

/* -- the program ------------------------------------------------------------------------------- */

static int open_device(struct engine *e)
{
	e->replay_fd = open(IOT_REPLAY_PATH, O_RDWR | O_CLOEXEC);
	if (e->replay_fd >= 0)
		return 0;
	if (errno == ENOENT || errno == ENXIO || errno == ENODEV)
		iot_module_missing("replayfs", e->why, e->room);
	else if (errno == EPERM || errno == EACCES)
		snprintf(e->why, e->room, "only root may replay in the kernel (CAP_SYS_ADMIN is needed)");
	else
		snprintf(e->why, e->room, "%s: %s", IOT_REPLAY_PATH, strerror(errno));
	return -errno;
}

static int load(struct engine *e)
{
	const struct iot_program *program = e->options->program;
	struct iot_replay_load answer = {};
	u64 at = 0;

	while (at < program->byte_count) {
		ssize_t n = write(e->replay_fd, program->bytes + at, program->byte_count - at);

		if (n < 0)
			return refuse(e, "the program cannot be loaded", -errno);
		at += (u64)n;
	}
	if (ioctl(e->replay_fd, IOT_RIOC_LOAD, &answer)) {
		const struct iot_reject reject = { .reason = answer.reason };
		int err = -errno;

		if (!answer.reason)
			return refuse(e, "the program cannot be loaded", err);
		snprintf(e->why, e->room, "the program is refused at %#llx: %s",
			 (unsigned long long)answer.offset_bytes, iot_reject_sentence(&reject));
		return err;
	}
	e->tasks = answer.tasks;
	return 0;
}

/* -- the target ----------------------------------------------------------------------------------- */

static int check_mark(struct engine *e)
{
	const char *target = e->options->target;

	if (e->options->is_forced)
		return 0;
	switch (mark_get(e->target_fd, e->options->program)) {
	case MARK_NONE:
		snprintf(e->why, e->room, "%s: not prepared for this program (see iotape init)", target);
		return -EINVAL;
	case MARK_OTHER:
		snprintf(e->why, e->room, "%s: prepared for another program (see iotape init)", target);
		return -EINVAL;
	case MARK_USED:
		snprintf(e->why, e->room,
			 "%s: a replay was here already: prepare an empty directory (see iotape init)",
			 target);
		return -EINVAL;
	default:
		return 0;
	}
}

static int open_target(struct engine *e)
{
	int err;

	e->target_fd = open(e->options->target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (e->target_fd < 0)
		return refuse(e, e->options->target, -errno);
	err = check_mark(e);
	if (!err)
		e->is_marked = !mark_set(e->target_fd, e->options->program, MARK_USED);
	return err;
}

/* Nothing has been performed: the target is still what it was prepared for. */
static void take_mark_back(const struct engine *e)
{
	int fd;

	if (!e->is_marked || e->options->is_forced || e->has_begun)
		return;
	fd = open(e->options->target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	mark_set(fd, e->options->program, MARK_PREPARED);
	close(fd);
}

/* The kernel has it from here on. Processes that inherited it would flush it at their end. */
static int set_up(struct engine *e)
{
	struct iot_replay_setup setup = {
		.target_fd = e->target_fd,
		.session_fd = e->session_fd,
		.pace = e->options->pace,
		.data = e->options->data,
		.compute_scale = e->options->compute_scale,
		.pause_scale = e->options->pause_scale,
	};

	if (ioctl(e->replay_fd, IOT_RIOC_SETUP, &setup))
		return refuse(e, e->options->target, -errno);
	close(e->target_fd);
	e->target_fd = -1;
	return 0;
}

/* -- the outcomes ------------------------------------------------------------------------------------- */

static int create_session(struct engine *e)
{
	struct iot_create create = {
		.policy = IOT_POLICY_BLOCK,
		.buffers = e->options->buffers,
		.flush_ms = 200,
	};

	if (!e->options->output)
		return 0;
	e->session_fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC);
	if (e->session_fd < 0 || ioctl(e->session_fd, IOT_IOC_CREATE, &create))
		return refuse(e, IOT_CONTROL_PATH, -errno);
	return 0;
}

static int start_collector(struct engine *e)
{
	struct collector_options options = {
		.buffers = e->options->buffers,
		.path = e->options->output,
		.facts = e->options->facts,
		.program = e->options->program,
	};
	int err;

	if (!e->options->output)
		return 0;
	options.session_fd = e->session_fd;
	err = collector_start(&e->collector, &options);
	if (err)
		return refuse(e, e->options->output, err);
	e->has_collector = true;
	if (ioctl(e->session_fd, IOT_IOC_START))
		return refuse(e, IOT_CONTROL_PATH, -errno);
	return 0;
}

static int finish_collector(struct engine *e)
{
	struct collector_result result;

	if (e->session_fd >= 0)
		close(e->session_fd); /* the collector keeps it */
	e->session_fd = -1;
	if (!e->has_collector)
		return 0;
	e->has_collector = false;
	collector_finish(&e->collector, &result);
	e->result->lost = result.lost + result.missing;
	return result.err ? refuse(e, e->options->output, result.err) : 0;
}

/* -- the run --------------------------------------------------------------------------------------------- */

static void cancel(struct engine *e)
{
	ioctl(e->replay_fd, IOT_RIOC_CANCEL);
	e->result->is_cancelled = true;
}

/* All carriers wait inside the kernel before the first of them goes. */
static int start(struct engine *e)
{
	int left;

	while (ioctl(e->replay_fd, IOT_RIOC_START)) {
		if (errno != EAGAIN)
			return refuse(e, "the replay does not start", -errno);
		left = carriers_wait(e->carriers, 1, e->why, e->room);
		if (left < 0)
			return left;
		if (is_interrupted) {
			cancel(e);
			return 0;
		}
	}
	e->has_begun = true;
	return 0;
}

static void report(struct engine *e, struct iot_replay_status *status)
{
	if (ioctl(e->replay_fd, IOT_RIOC_STATUS, status))
		return;
	if (e->progress)
		e->progress(status, e->tasks, e->operations);
}

/* Without those that only keep order, and ends of requests, which their submissions count for. */
static u64 count_operations(const struct iot_program *program)
{
	u64 count = 0, i;

	for (i = 0; i < program->op_count; i++)
		count += le16_to_cpu(program->ops[i].kind) < IOT_PLAY_arrive &&
			 le16_to_cpu(program->ops[i].kind) != IOT_KIND_complete;
	return count;
}

static int wait_for_carriers(struct engine *e)
{
	struct iot_replay_status status;
	int left;

	for (;;) {
		left = carriers_wait(e->carriers, POLL_MS, e->why, e->room);
		if (left <= 0)
			break;
		if (is_interrupted && !e->result->is_cancelled)
			cancel(e);
		report(e, &status);
	}
	if (left < 0)
		cancel(e);
	return left;
}

static void take_result(struct engine *e)
{
	struct iot_replay_status status;

	if (ioctl(e->replay_fd, IOT_RIOC_STATUS, &status))
		return;
	e->result->elapsed_ns = status.end_ns > status.start_ns ? status.end_ns - status.start_ns : 0;
	e->result->ops = status.ops;
	e->result->diverged = status.diverged;
	e->result->stalls = status.stalls;
	e->result->finished = status.finished;
	e->result->tasks = e->tasks;
}

static int run(struct engine *e)
{
	int err = carriers_start(&e->carriers, e->replay_fd, e->options->program);

	if (err)
		return refuse(e, "no carriers", err);
	err = start(e);
	if (!err)
		err = wait_for_carriers(e);
	take_result(e);
	return err;
}

static void handle_signals(void)
{
	struct sigaction action = { .sa_handler = interrupt };

	is_interrupted = 0;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/**
 * replay_kernel() - replay a program in the kernel
 * @options: what, where and how
 * @progress: called several times a second, may be NULL
 * @result: filled in
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * A signal ends it before its time; what was recorded until then is complete.
 *
 * Return: 0 or a negative errno.
 */
int replay_kernel(const struct replay_options *options, replay_progress_fn progress,
		  struct replay_result *result, char *why, size_t room)
{
	struct engine e = {
		.options = options,
		.progress = progress,
		.result = result,
		.operations = count_operations(options->program),
		.replay_fd = -1,
		.target_fd = -1,
		.session_fd = -1,
		.why = why,
		.room = room,
	};
	int err, collected;

	*result = (struct replay_result){};
	handle_signals();
	err = open_device(&e);
	if (!err)
		err = load(&e);
	if (!err)
		err = open_target(&e);
	if (!err)
		err = create_session(&e);
	if (!err)
		err = set_up(&e);
	if (!err)
		err = start_collector(&e);
	if (!err)
		err = run(&e);
	take_mark_back(&e);
	carriers_kill(e.carriers);
	collected = finish_collector(&e);
	if (e.replay_fd >= 0)
		close(e.replay_fd);
	if (e.target_fd >= 0)
		close(e.target_fd);
	return err ? err : collected;
}
