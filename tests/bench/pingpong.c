// SPDX-License-Identifier: GPL-2.0-only
/*
 * pingpong.c - two processes pass a byte back and forth through pipes: prints the ns per turn of the fastest batch.
 *
 *	pingpong [--turns=N] [--batches=N] DIRECTORY
 *
 * In the batches `quiet` the processes access no file; in the batches `write` both write 16 bytes before
 * they pass the byte on.
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>

#include "workloads/workload.h"

static long turns = 2000, batches = 10;

static const struct workload_option options[] = {
	{ "turns", &turns, NULL, NULL, "turns of each batch" },
	{ "batches", &batches, NULL, NULL, "batches of each kind" },
	{}
};

static uint64_t now_ns(void)
{
	struct timespec now;

	CHECK(!clock_gettime(CLOCK_MONOTONIC, &now));
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void write_some(int fd)
{
	static const char text[] = "sixteen bytes...";

	CHECK(fd < 0 || pwrite(fd, text, 16, 0) == 16);
}

static void answer(int from, int to, int fd)
{
	char byte;

	while (read(from, &byte, 1) == 1) {
		write_some(byte ? fd : -1);
		CHECK(write(to, &byte, 1) == 1);
	}
	_exit(0);
}

static void measure(const char *name, int from, int to, int fd)
{
	uint64_t best_ns = UINT64_MAX, ns;
	char byte = fd >= 0;
	long i, j;

	for (i = 0; i < batches; i++) {
		ns = now_ns();
		for (j = 0; j < turns; j++) {
			write_some(fd);
			CHECK(write(to, &byte, 1) == 1 && read(from, &byte, 1) == 1);
		}
		ns = (now_ns() - ns) / (uint64_t)turns;
		best_ns = ns < best_ns ? ns : best_ns;
	}
	printf("%s %llu\n", name, (unsigned long long)best_ns);
}

int main(int argc, char **argv)
{
	const char *directory = workload_options(argc, argv, "hands a byte to and fro", options);
	int ping[2], pong[2], fd;
	pid_t child;

	CHECK(!chdir(directory) && !pipe2(ping, O_CLOEXEC) && !pipe2(pong, O_CLOEXEC));
	fd = open("file", O_CREAT | O_RDWR, 0600);
	CHECK(fd >= 0);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		close(ping[1]);
		close(pong[0]);
		answer(ping[0], pong[1], fd);
	}
	close(ping[0]);
	close(pong[1]);
	measure("quiet", pong[0], ping[1], -1);
	measure("write", pong[0], ping[1], fd);
	close(ping[1]);
	CHECK(waitpid(child, NULL, 0) == child);
	return 0;
}
