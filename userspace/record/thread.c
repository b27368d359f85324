// SPDX-License-Identifier: GPL-2.0-only
/*
 * thread.c - threads beside the main thread of a recorder.
 */
#include <pthread.h>
#include <signal.h>

#include "record.h"

/**
 * record_thread_start() - start a thread that gets no signals
 * @thread: out
 * @run: the function of the thread
 * @argument: of the function
 *
 * The main thread waits for signals by signalfd(2), or has handlers for them. A thread that does not block them would take them from it, and they
 * would be lost, or end the process.
 *
 * Return: 0 or a negative errno.
 */
int record_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(thread, NULL, run, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}
