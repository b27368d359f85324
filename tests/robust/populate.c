// SPDX-License-Identifier: GPL-2.0-only
/*
 * populate.c - maps a file so that one system call touches all of its pages, after a child
 * has filled all buffers between the child and the trace by reads.
 *
 * The file must exist. Each line of the input is a step:
 *
 *	fill		a child reads in a loop
 *	stop		the child stops; prints the number of its reads
 *	populate	the child stops when it can; maps the file with MAP_POPULATE
 *
 * A line is printed after each step. Both end at the end of the input.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "workloads/workload.h"

/* Shared by parent and child. */
static struct shared {
	atomic_bool is_stopping;
	atomic_bool is_stopped;
	atomic_long reads;
} *shared;

static int fd;
static struct stat file;
static pid_t filler;

static void fill(void)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* tests may kill the parent */
	while (!atomic_load(&shared->is_stopping)) {
		CHECK(pread(fd, &byte, 1, 0) == 1);
		atomic_fetch_add(&shared->reads, 1);
	}
	atomic_store(&shared->is_stopped, true);
	for (;;)
		pause();
}

static void step_fill(void)
{
	filler = fork();
	CHECK(filler >= 0);
	if (!filler)
		fill();
	puts("filling");
}

static void step_stop(void)
{
	atomic_store(&shared->is_stopping, true);
	while (filler && !atomic_load(&shared->is_stopped))
		usleep(1000);
	printf("stopped after %ld\n", atomic_load(&shared->reads));
}

static void step_populate(void)
{
	void *map;

	atomic_store(&shared->is_stopping, true);
	puts("populating");
	map = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	CHECK(map != MAP_FAILED);
	puts("populated");
}

int main(int argc, char **argv)
{
	char line[64];

	if (argc != 2) {
		fprintf(stderr, "usage: populate FILE\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IONBF, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	fd = open(argv[1], O_RDONLY);
	CHECK(fd >= 0);
	CHECK(!fstat(fd, &file));
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "fill\n"))
			step_fill();
		else if (!strcmp(line, "stop\n"))
			step_stop();
		else
			step_populate();
	}
	if (filler) {
		CHECK(!kill(filler, SIGKILL));
		CHECK(waitpid(filler, NULL, 0) == filler);
	}
	puts("ended");
	return 0;
}
