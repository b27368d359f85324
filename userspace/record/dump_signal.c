// SPDX-License-Identifier: GPL-2.0-only
/*
 * dump_signal.c - SIGUSR1 to the recorder: a dump of the flight recorder, as by `iotape ctl dump`.
 *
 * The request takes the way through the kernel, so that the dump has all operations that ended before it. A thread waits
 * for the signal, because the request returns only when the dump is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "record.h"

static sigset_t mask_before;

static void signal_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGUSR1);
}

/**
 * dump_signal_block() - from here on, SIGUSR1 waits until it is handled; child processes inherit that
 */
void dump_signal_block(void)
{
	sigset_t set;

	signal_set(&set);
	sigprocmask(SIG_BLOCK, &set, &mask_before);
}

/**
 * dump_signal_restore() - in the process that becomes the command: signals are as they were
 */
void dump_signal_restore(void)
{
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

/* The collector reports whether the dump was written. */
static void *wait_for_signals(void *argument)
{
	struct iot_ctl ctl = { .session = (uintptr_t)argument, .verb = IOT_CTL_DUMP };
	int fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC), signal;
	sigset_t set;

	signal_set(&set);
	while (fd >= 0 && !sigwait(&set, &signal))
		ioctl(fd, IOT_IOC_CTL, &ctl);
	return NULL;
}

/**
 * dump_signal_start() - handle SIGUSR1 until the process ends
 * @session: number of the session, which has a flight recorder
 *
 * Return: 0 or a negative errno.
 */
int dump_signal_start(uint64_t session)
{
	pthread_t thread;
	int err = record_thread_start(&thread, wait_for_signals, (void *)(uintptr_t)session);

	return err ? err : -pthread_detach(thread);
}
