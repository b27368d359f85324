// SPDX-License-Identifier: GPL-2.0-only
/*
 * engine_kernel.c - replay a program in the kernel, by replayfs.ko.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collectord/collectord.h"
#include "kernel_partition.h"
#include "local_replay.h"

#define FEEDER_NICE (-20)
/* Time for workers to end their operations after the replay was cancelled. */
#define GRACE_NS    2000000000ull

/**
 * struct feeder - the thread that reads a large program ahead of the workers
 * @thread: if @is_running
 * @replay_fd: of the replay
 * @error: out: the reason of its failure
 */
struct feeder {
	pthread_t thread;
	bool is_running;
	int replay_fd;
	int error;
};

struct engine {
	struct replay *replay;
	const struct replay_options *options;
	int replay_fd;
	int session_fd;
	struct collector collector;
	bool has_collector;
	struct workers *workers;
	u64 cancelled_ns; /* 0: not */
	bool is_streamed;
	struct feeder feeder;
};

static int refuse(struct engine *e, const char *what, int err)
{
	return replay_refuse(e->replay, what, err);
}

/* -- the program ------------------------------------------------------------------------------- */

/* Without the module, or the right to use it, another engine may do. */
#define WITHOUT "--engine=thread does not need it"

static int open_device(struct engine *e)
{
	char *why = e->replay->why;
	size_t room = e->replay->room;
	int err;

	e->replay_fd = open(IOT_REPLAY_PATH, O_RDWR | O_CLOEXEC);
	if (e->replay_fd >= 0)
		return 0;
	err = -errno;
	if (err == -ENOENT || err == -ENXIO || err == -ENODEV) {
		iot_module_missing("replayfs", why, room);
		snprintf(why + strlen(why), room - strlen(why), "; " WITHOUT);
	} else if (err == -EPERM || err == -EACCES) {
		iot_rights_missing("replay in the kernel", why, room);
		snprintf(why + strlen(why), room - strlen(why), "; " WITHOUT);
	} else {
		refuse(e, IOT_REPLAY_PATH, err);
	}
	return err;
}

/* replayfs has no version of its own: it needs the iotape that was built with it. */
static int check_version(struct engine *e)
{
	struct iot_query query;
	int fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC), err;

	if (fd < 0)
		return refuse(e, IOT_CONTROL_PATH, -errno);
	err = iot_module_query(fd, &query, e->replay->why, e->replay->room);
	close(fd);
	return err;
}

static int load(struct engine *e)
{
	struct iot_replay_load load = {
		.program_fd = iot_program_fd(e->options->program),
		.resident_bytes = e->options->window_bytes,
	};
	struct iot_reject reject;
	int err;

	if (!ioctl(e->replay_fd, IOT_RIOC_LOAD, &load)) {
		e->is_streamed = load.is_streamed;
		e->replay->result->is_streamed = load.is_streamed;
		return 0;
	}
	err = -errno;
	if (!load.reason)
		return refuse(e, "the program cannot be loaded", err);
	reject = (struct iot_reject){ .reason = load.reason };
	snprintf(e->replay->why, e->replay->room, "the program is refused at %#llx: %s",
		 (unsigned long long)load.offset_bytes, iot_reject_sentence(&reject));
	return err;
}

/*
 * It has little work, but must run in time: with the same priority as the workers, it would run
 * only when their windows are empty. Without the right to it, it stays one of them.
 */
static void *feed(void *argument)
{
	struct feeder *feeder = argument;
	int state;

	setpriority(PRIO_PROCESS, 0, FEEDER_NICE); /* of this thread */
	do
		state = ioctl(feeder->replay_fd, IOT_RIOC_FEED);
	while (state && errno == EINTR);
	feeder->error = state ? -errno : 0;
	return NULL;
}

/* Signals are for the thread that waits. */
static int start_feeder(struct engine *e)
{
	sigset_t all, before;
	int err;

	if (!e->is_streamed)
		return 0;
	e->feeder.replay_fd = e->replay_fd;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&e->feeder.thread, NULL, feed, &e->feeder);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	e->feeder.is_running = !err;
	return err ? refuse(e, "no thread to read the program", -err) : 0;
}

/* When no task is left, or the replay is cancelled. */
static int finish_feeder(struct engine *e)
{
	if (!e->feeder.is_running)
		return 0;
	pthread_join(e->feeder.thread, NULL);
	e->feeder.is_running = false;
	if (!e->feeder.error || e->feeder.error == -ECANCELED)
		return 0;
	if (e->feeder.error != -EBADMSG)
		return refuse(e, "the program can no longer be read", e->feeder.error);
	snprintf(e->replay->why, e->replay->room,
		 "the file of the program has changed since its verification");
	return e->feeder.error;
}

/* No module can read this setting. Return: false, which is stricter, if it is not known. */
static bool may_link_any(void)
{
	FILE *setting = fopen("/proc/sys/fs/protected_hardlinks", "re");
	bool is_zero = setting && fgetc(setting) == '0';

	if (setting)
		fclose(setting);
	return is_zero;
}

/* The kernel has it from here on. Processes that inherited it would flush it at their end. */
static int give_target(struct engine *e)
{
	struct iot_replay_setup setup = {
		.target_fd = e->replay->target_fd,
		.session_fd = e->session_fd,
		.pace = e->options->pace,
		.data = e->options->data,
		.compute_scale = e->options->compute_scale,
		.pause_scale = e->options->pause_scale,
		.wait = e->options->wait,
		.users = e->options->users,
		.flags = (e->options->is_emulated ? IOT_REPLAY_EMULATE : 0) |
			 (e->options->is_privileged ? IOT_REPLAY_PRIVILEGED : 0) |
			 (may_link_any() ? IOT_REPLAY_ANY_LINKS : 0),
	};

	if (ioctl(e->replay_fd, IOT_RIOC_SETUP, &setup))
		return refuse(e, e->options->target, -errno);
	close(e->replay->target_fd);
	e->replay->target_fd = -1;
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
		.last_fact = e->replay->last_fact,
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
	e->replay->result->lost = result.lost + result.missing;
	return result.err ? refuse(e, e->options->output, result.err) : 0;
}

/* -- as an engine ------------------------------------------------------------------------------------- */

static int kernel_open(struct replay *replay)
{
	struct engine *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return replay_refuse(replay, "the kernel engine", -ENOMEM);
	*e = (struct engine){
		.replay = replay,
		.options = replay->options,
		.replay_fd = -1,
		.session_fd = -1,
	};
	replay->state = e;
	err = open_device(e) ?: check_version(e);
	return err ? err : load(e);
}

static int kernel_set_up(struct replay *replay)
{
	struct engine *e = replay->state;
	int err = create_session(e);

	if (!err && replay->partition)
		err = kernel_partition(replay, e->replay_fd);
	if (!err)
		err = give_target(e);
	if (!err)
		err = start_collector(e);
	if (err)
		return err;
	err = workers_start(&e->workers, e->replay_fd, e->options->program, replay->partition);
	return err ? refuse(e, "no workers", err) : start_feeder(e);
}

/* One may sleep in an operation that only a fatal signal ends, as the open of a pipe. */
static void end_late_workers(struct engine *e)
{
	if (e->cancelled_ns && clock_now_ns() - e->cancelled_ns >= GRACE_NS)
		workers_end(e->workers);
}

static int kernel_wait(struct replay *replay, int timeout_ms)
{
	struct engine *e = replay->state;
	int left = workers_wait(e->workers, timeout_ms, replay->why, replay->room);

	end_late_workers(e);
	return left ? left : finish_feeder(e);
}

/* Return: 1 while there are workers; a negative errno. */
static int wait_before_start(struct replay *replay)
{
	int left = kernel_wait(replay, 1);

	if (left)
		return left < 0 ? left : 1;
	snprintf(replay->why, replay->room, "the workers ended before the replay began");
	return -ECHILD;
}

static int kernel_ready(struct replay *replay)
{
	struct engine *e = replay->state;
	struct iot_replay_status status = {};

	ioctl(e->replay_fd, IOT_RIOC_STATUS, &status);
	return status.waiting >= status.roots ? 0 : wait_before_start(replay);
}

/* All workers wait inside the kernel before the first of them runs. */
static int kernel_start(struct replay *replay)
{
	struct engine *e = replay->state;

	if (!ioctl(e->replay_fd, IOT_RIOC_START))
		return 0;
	if (errno != EAGAIN)
		return refuse(e, "the replay does not start", -errno);
	return wait_before_start(replay);
}

static void kernel_status(struct replay *replay, struct iot_replay_status *status)
{
	struct engine *e = replay->state;

	ioctl(e->replay_fd, IOT_RIOC_STATUS, status);
}

static void kernel_lateness(struct replay *replay, struct iot_replay_lateness *lateness)
{
	struct engine *e = replay->state;

	ioctl(e->replay_fd, IOT_RIOC_LATENESS, lateness);
}

static int kernel_moved(struct replay *replay, struct iot_replay_move *moved, u32 room, u64 timeout_ns)
{
	struct engine *e = replay->state;

	return kernel_partition_moved(e->replay_fd, moved, room, timeout_ns);
}

static int kernel_advance(struct replay *replay, u32 task, u32 ended)
{
	struct engine *e = replay->state;

	return kernel_partition_advance(e->replay_fd, task, ended);
}

static int kernel_signal(struct replay *replay, u32 latch, u32 count)
{
	struct engine *e = replay->state;

	return kernel_partition_signal(e->replay_fd, latch, count);
}

static void kernel_cancel(struct replay *replay)
{
	struct engine *e = replay->state;

	ioctl(e->replay_fd, IOT_RIOC_CANCEL);
	if (!e->cancelled_ns)
		e->cancelled_ns = clock_now_ns();
}

static int kernel_close(struct replay *replay)
{
	struct engine *e = replay->state;
	int err;

	if (!e)
		return 0;
	if (e->feeder.is_running)
		kernel_cancel(replay);
	workers_kill(e->workers);
	if (e->feeder.is_running)
		pthread_join(e->feeder.thread, NULL);
	err = finish_collector(e);
	if (e->replay_fd >= 0)
		close(e->replay_fd);
	free(e);
	return err;
}

const struct replay_engine engine_kernel = {
	.name = "kernel",
	.sentence = "the module replayfs",
	.data_modes = ENGINE_COPIES | ENGINE_DISCARDS,
	.uses_target = true,
	.streams = true,
	.open = kernel_open,
	.set_up = kernel_set_up,
	.ready = kernel_ready,
	.start = kernel_start,
	.wait = kernel_wait,
	.status = kernel_status,
	.lateness = kernel_lateness,
	.moved = kernel_moved,
	.advance = kernel_advance,
	.signal = kernel_signal,
	.cancel = kernel_cancel,
	.close = kernel_close,
};
