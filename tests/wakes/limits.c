// SPDX-License-Identifier: GPL-2.0-only
/*
 * limits.c - threads whose waits have a time limit.
 *
 *	limits DIRECTORY
 *
 * One thread waits for a condition variable. It reaches the limit three times, creates a file each time, and is then woken and creates
 * another. A second thread reaches the limit of poll(2), and a third sleeps with nanosleep(2); each creates a file afterwards.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "workloads/workload.h"

#define THREADS	 3
#define LIMITS	 3
#define LIMIT_NS 50000000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static bool is_over;
static atomic_bool is_last; /* the last wait, which is woken, is about to begin */

static void create(const char *name)
{
	int fd = open(name, O_CREAT | O_WRONLY, 0644);

	CHECK(fd >= 0 && !close(fd));
}

static struct timespec in_ns(long ns)
{
	struct timespec time;

	CHECK(!clock_gettime(CLOCK_REALTIME, &time));
	time.tv_sec += (time.tv_nsec + ns) / 1000000000;
	time.tv_nsec = (time.tv_nsec + ns) % 1000000000;
	return time;
}

static void *wait_for_condition(void *unused)
{
	static const char *const names[LIMITS] = { "limit.1", "limit.2", "limit.3" };
	struct timespec until;
	int i;

	CHECK(!pthread_mutex_lock(&mutex));
	for (i = 0; i < LIMITS; i++) {
		until = in_ns(LIMIT_NS);
		while (pthread_cond_timedwait(&cond, &mutex, &until) != ETIMEDOUT)
			;
		create(names[i]);
	}
	atomic_store(&is_last, true);
	until = in_ns(LIMIT_NS);
	until.tv_sec += 3600;
	while (!is_over)
		CHECK(!pthread_cond_timedwait(&cond, &mutex, &until));
	CHECK(!pthread_mutex_unlock(&mutex));
	create("woken");
	return unused;
}

static void *poll_nothing(void *unused)
{
	CHECK(!poll(NULL, 0, LIMIT_NS / 1000000));
	create("polled");
	return unused;
}

static void *sleep_well(void *unused)
{
	const struct timespec time = { .tv_nsec = LIMIT_NS };

	CHECK(!nanosleep(&time, NULL));
	create("slept");
	return unused;
}

int main(int argc, char **argv)
{
	void *(*const functions[THREADS])(void *) = { wait_for_condition, poll_nothing, sleep_well };
	pthread_t threads[THREADS];
	size_t i;

	CHECK(argc == 2 && !chdir(argv[1]));
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, functions[i], NULL));
	while (!atomic_load(&is_last))
		usleep(1000);
	usleep(100000); /* it sleeps by now */
	create("before"); /* news for the thread that is woken */
	CHECK(!pthread_mutex_lock(&mutex));
	is_over = true;
	CHECK(!pthread_cond_signal(&cond));
	CHECK(!pthread_mutex_unlock(&mutex));
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	return 0;
}
