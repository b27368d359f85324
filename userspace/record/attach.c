// SPDX-License-Identifier: GPL-2.0-only
/*
 * attach.c - record existing mounts, with the processes that use them.
 *
 * Nothing is mounted, and no process is started: at the end, the mounts are as they were before.
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collectord/collectord.h"
#include "record.h"

/* O_PATH: such an open does not reach the file system, so the recording does not list it as open. */
static int open_dir(const char *dir, pid_t pid)
{
	char path[PATH_MAX + 32] = "";

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/root", pid);
	strncat(path, dir, PATH_MAX);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int attach_dir(const char *dir, pid_t pid, int session_fd, char *why, size_t room)
{
	struct iot_attach attach = { .dir_fd = open_dir(dir, pid) };
	int err = 0;

	if (attach.dir_fd < 0) {
		err = -errno;
		snprintf(why, room, "%s: %s", dir, strerror(errno));
		return err;
	}
	if (ioctl(session_fd, IOT_IOC_ATTACH, &attach)) {
		err = -errno;
		if (errno == ENOTTY)
			snprintf(why, room, "%s: is not on a tapefs mount", dir);
		else if (errno == EBUSY)
			snprintf(why, room, "%s: its mount is already being recorded", dir);
		else
			snprintf(why, room, "%s: cannot be recorded: %s", dir, strerror(errno));
	}
	close(attach.dir_fd);
	return err;
}

/* From here on, these signals end the recording. */
static int catch_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		return -errno;
	return signalfd(-1, &signals, SFD_CLOEXEC);
}

static int open_ends(struct attachment *attachment, pid_t pid, char *why, size_t room)
{
	int err;

	attachment->signal_fd = catch_signals();
	if (attachment->signal_fd < 0) {
		err = -errno;
		snprintf(why, room, "signals cannot be waited for: %s", strerror(errno));
		return err;
	}
	if (!pid)
		return 0;
	attachment->process_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (attachment->process_fd >= 0)
		return 0;
	err = -errno;
	snprintf(why, room, "process %d: %s", pid, strerror(errno));
	return err;
}

/**
 * attach_start() - begin to record existing mounts
 * @attachment: filled in; to be freed by attach_close(), also after an error
 * @options: mounts are used
 * @pid: process that sees these mounts; the recording ends with it; 0: the caller sees them
 * @session_fd: a session with a collector
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * When it returns, all open handles and mappings have been announced.
 *
 * Return: 0 or a negative errno.
 */
int attach_start(struct attachment *attachment, const struct record_options *options, pid_t pid,
		 int session_fd, char *why, size_t room)
{
	int err, i;

	*attachment = (struct attachment){ .signal_fd = -1, .process_fd = -1 };
	err = open_ends(attachment, pid, why, room);
	for (i = 0; i < options->mount_count && !err; i++)
		err = attach_dir(options->mounts[i], pid, session_fd, why, room);
	if (!err && ioctl(session_fd, IOT_IOC_START)) {
		err = -errno;
		snprintf(why, room, "the recording cannot start: %s", strerror(errno));
	}
	return err;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/**
 * attach_wait() - wait until the recording is to end
 * @attachment: started
 * @collector: if that ends, there is nothing to wait for
 * @seconds: so long at most; 0 for ever
 */
void attach_wait(const struct attachment *attachment, const struct collector *collector,
		 unsigned int seconds)
{
	struct pollfd polls[] = {
		{ .fd = attachment->signal_fd, .events = POLLIN },
		{ .fd = attachment->process_fd, .events = POLLIN },
		{ .fd = collector->result_fd, .events = POLLIN },
	};
	int64_t end_ms = now_ms() + 1000 * (int64_t)seconds, left_ms;

	do {
		left_ms = seconds ? end_ms - now_ms() : INT_MAX;
		if (left_ms <= 0)
			return;
	} while (poll(polls, 3, left_ms < INT_MAX ? (int)left_ms : seconds ? INT_MAX : -1) <= 0);
}

/**
 * attach_close() - close the descriptors of attach_start()
 */
void attach_close(struct attachment *attachment)
{
	if (attachment->signal_fd >= 0)
		close(attachment->signal_fd);
	if (attachment->process_fd >= 0)
		close(attachment->process_fd);
}
