// SPDX-License-Identifier: GPL-2.0-only
/*
 * limits.c - threads whose waits have a time limit.
 *
 *	limits DIRECTORY
 *
 * One thread waits for a condition variable. It reaches the limit three times, creates a file each time, and is then woken and creates
 * another. A second thread reaches the limit of poll(2), and a third sleeps with nanosleep(2); each creates a file afterwards. A wait
 * whose time is over before the thread sleeps, on a busy machine, does not count and is repeated.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "workloads/workload.h"

#define THREADS	 3
#define LIMITS	 3
#define LIMIT_NS 50000000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static bool is_over;
static atomic_int last; /* the thread whose last wait, which is woken, is about to begin */

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

/* How often the calling thread has slept. */
static long count_sleeps(void)
{
	struct rusage usage;

	CHECK(!getrusage(RUSAGE_THREAD, &usage));
	return usage.ru_nvcsw;
}

/* The state of a thread of this process in /proc, such as S: asleep. */
static char state_of(pid_t tid)
{
	char path[64], line[256] = "";
	const char *end;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	in = fopen(path, "re");
	CHECK(in && fgets(line, sizeof(line), in) && !fclose(in));
	end = strrchr(line, ')');
	return end ? end[2] : '?';
}

static void *wait_for_condition(void *unused)
{
	static const char *const names[LIMITS] = { "condition/limit.1", "condition/limit.2", "condition/limit.3" };
	struct timespec until;
	long sleeps;
	int i;

	CHECK(!pthread_mutex_lock(&mutex));
	for (i = 0; i < LIMITS; i++) {
		do {
			sleeps = count_sleeps();
			until = in_ns(LIMIT_NS);
			while (pthread_cond_timedwait(&cond, &mutex, &until) != ETIMEDOUT)
				;
		} while (count_sleeps() == sleeps);
		create(names[i]);
	}
	atomic_store(&last, gettid());
	until = in_ns(LIMIT_NS);
	until.tv_sec += 3600;
	while (!is_over)
		CHECK(!pthread_cond_timedwait(&cond, &mutex, &until));
	CHECK(!pthread_mutex_unlock(&mutex));
	create("condition/woken");
	return unused;
}

static void *poll_nothing(void *unused)
{
	long sleeps;

	do {
		sleeps = count_sleeps();
		CHECK(!poll(NULL, 0, LIMIT_NS / 1000000));
	} while (count_sleeps() == sleeps);
	create("poll/polled");
	return unused;
}

static void *sleep_well(void *unused)
{
	const struct timespec time = { .tv_nsec = LIMIT_NS };

	CHECK(!nanosleep(&time, NULL));
	create("sleep/slept");
	return unused;
}

int main(int argc, char **argv)
{
	void *(*const functions[THREADS])(void *) = { wait_for_condition, poll_nothing, sleep_well };
	pthread_t threads[THREADS];
	size_t i;

	CHECK(argc == 2 && !chdir(argv[1]));
	/*
	 * A thread that sleeps between the end of its wait and its next operation has no record of that wait: in a page fault, or
	 * for the lock of a directory in which another thread creates a file.
	 */
	CHECK(!mkdir("condition", 0755) && !mkdir("poll", 0755) && !mkdir("sleep", 0755));
	create("first");
	(void)count_sleeps();
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, functions[i], NULL));
	while (!atomic_load(&last) || state_of(atomic_load(&last)) != 'S')
		usleep(1000);
	create("before"); /* news for the thread that is woken */
	CHECK(!pthread_mutex_lock(&mutex));
	is_over = true;
	CHECK(!pthread_cond_signal(&cond));
	CHECK(!pthread_mutex_unlock(&mutex));
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	return 0;
}
