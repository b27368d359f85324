// SPDX-License-Identifier: GPL-2.0-only
/*
 * crowd.c - hundreds of tasks that wake each other as fast as possible, for some seconds.
 *
 *	crowd [--tasks=N] [--seconds=N] DIRECTORY
 *
 * A ring of processes passes bytes on through pipes until they are killed; threads wake all others by a lock in memory;
 * other processes are created continuously, execute a program, and end. Each writes to a file now and then.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "workloads/workload.h"

#define TOKENS 16
#define TURNS_PER_WRITE 16

static long tasks = 200, seconds = 5;

static const struct workload_option options[] = {
	{ "tasks", &tasks, NULL, NULL, "processes of the ring, and half as many threads" },
	{ "seconds", &seconds, NULL, NULL, "how long" },
	{}
};

static time_t end_s;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static unsigned long turn;

static bool is_over(void)
{
	struct timespec now;

	CHECK(!clock_gettime(CLOCK_MONOTONIC, &now));
	return now.tv_sec >= end_s;
}

static void write_some(int fd, unsigned long count)
{
	if (count % TURNS_PER_WRITE == 0)
		CHECK(pwrite(fd, &count, sizeof(count), 0) == sizeof(count));
}

/* Passes bytes from the left to the right, until it is killed. */
static void pass_on(int from, int to, int fd)
{
	unsigned long count = 0;
	char byte;

	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		write_some(fd, count++);
	_exit(1);
}

static pid_t *make_ring(int fd)
{
	pid_t *ring = calloc((size_t)tasks, sizeof(*ring));
	int first[2], left[2], right[2];
	long i;

	CHECK(ring && !pipe2(first, O_CLOEXEC) && write(first[1], "0123456789abcdef", TOKENS) == TOKENS);
	memcpy(left, first, sizeof(left));
	for (i = 0; i < tasks; i++) {
		if (i < tasks - 1)
			CHECK(!pipe2(right, O_CLOEXEC));
		else
			memcpy(right, first, sizeof(right));
		ring[i] = fork();
		CHECK(ring[i] >= 0);
		if (!ring[i])
			pass_on(left[0], right[1], fd);
		memcpy(left, right, sizeof(left));
	}
	return ring;
}

static void kill_ring(pid_t *ring)
{
	long i;

	for (i = 0; i < tasks; i++)
		CHECK(!kill(ring[i], SIGKILL));
	for (i = 0; i < tasks; i++)
		CHECK(waitpid(ring[i], NULL, 0) == ring[i]);
	free(ring);
}

static void *take_turns(void *context)
{
	int fd = *(int *)context;
	unsigned long seen = 0;

	while (!is_over()) {
		CHECK(!pthread_mutex_lock(&mutex));
		while (turn == seen && !is_over())
			CHECK(!pthread_cond_wait(&cond, &mutex));
		seen = turn;
		CHECK(!pthread_mutex_unlock(&mutex));
		write_some(fd, seen);
	}
	return NULL;
}

static void run_threads(int fd)
{
	long count = tasks / 2, i;
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));

	CHECK(threads);
	for (i = 0; i < count; i++)
		CHECK(!pthread_create(&threads[i], NULL, take_turns, &fd));
	while (!is_over()) {
		pid_t child;

		CHECK(!pthread_mutex_lock(&mutex));
		turn++;
		CHECK(!pthread_cond_broadcast(&cond) && !pthread_mutex_unlock(&mutex));
		child = vfork();
		if (!child) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		CHECK(child > 0 && waitpid(child, NULL, 0) == child);
	}
	CHECK(!pthread_mutex_lock(&mutex));
	turn++;
	CHECK(!pthread_cond_broadcast(&cond) && !pthread_mutex_unlock(&mutex));
	for (i = 0; i < count; i++)
		CHECK(!pthread_join(threads[i], NULL));
	free(threads);
}

int main(int argc, char **argv)
{
	const char *directory = workload_options(argc, argv, "wakes, and wakes", options);
	struct timespec now;
	pid_t *ring;
	int fd;

	CHECK(!chdir(directory));
	CHECK(!clock_gettime(CLOCK_MONOTONIC, &now));
	end_s = now.tv_sec + seconds;
	fd = open("file", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	ring = make_ring(fd);
	run_threads(fd);
	kill_ring(ring);
	puts("a crowd has woken each other");
	return 0;
}
