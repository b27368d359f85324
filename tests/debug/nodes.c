// SPDX-License-Identifier: GPL-2.0-only
/*
 * nodes.c - runs a program by two replays of one process, each of which acts as a node, and passes the
 * events of each to the other, like agents of nodes, but without MPI and without a network.
 *
 *	nodes PROGRAM DIRECTORY		a program without latches, request queues and mappings; a prepared directory
 *
 * Every second task belongs to the first node. Exit code 0 if each operation ran once.
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/iotape.h"

#define NODES	2
#define MOVED	256
#define WAIT_NS 100000000

static struct iot_program program;
static int fds[NODES];
static int program_fd, target_fd;
static u8 *is_here[NODES];
static volatile bool is_over;

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "nodes: %s: %s\n", what, strerror(errno));
	exit(1);
}

static u32 node_of(u32 task)
{
	return task % NODES;
}

static void open_program(const char *path)
{
	struct iot_reject reject;

	program_fd = open(path, O_RDONLY | O_CLOEXEC);
	must(program_fd >= 0, path);
	must(!iot_program_load(path, &program, &reject), "a sound program");
	must(!program.latch_count, "a program without latches");
}

/* Does a task of the other node wait for operation @index of @task? Searches all waits: there are few. */
static void mark_waits(u8 **marked)
{
	u64 i;
	u32 task;

	for (task = 0; task < program.task_count; task++) {
		const struct iot_program_task *t = &program.tasks[task];

		for (i = 0; i < le32_to_cpu(t->wait_count); i++) {
			const struct iot_program_wait *wait = &program.waits[le64_to_cpu(t->first_wait) + i];
			u32 other = le32_to_cpu(wait->task);

			if (node_of(other) != node_of(task))
				marked[other][le32_to_cpu(wait->index)] = 1;
		}
	}
}

static u32 list_marks(u32 node, u8 **marked, struct iot_program_wait *marks)
{
	u32 count = 0, task, i;

	for (task = 0; task < program.task_count; task++) {
		if (node_of(task) != node)
			continue;
		for (i = 0; i < le32_to_cpu(program.tasks[task].op_count); i++)
			if (marked[task][i])
				marks[count++] = (struct iot_program_wait){ cpu_to_le32(task),
									    cpu_to_le32(i) };
	}
	return count;
}

static void share(u32 node, u8 **marked)
{
	struct iot_program_wait *marks = calloc(program.op_count, sizeof(*marks));
	struct iot_replay_load load = { .program_fd = program_fd, .resident_bytes = ~0ull };
	struct iot_replay_setup setup = { .target_fd = target_fd, .session_fd = -1 };
	struct iot_replay_partition part = { .marks = (unsigned long)marks };
	u32 task;

	is_here[node] = calloc(program.task_count, 1);
	must(marks && is_here[node], "memory");
	for (task = 0; task < program.task_count; task++)
		is_here[node][task] = node_of(task) == node;
	part.is_here = (unsigned long)is_here[node];
	part.mark_count = list_marks(node, marked, marks);
	fds[node] = open(IOT_REPLAY_PATH, O_RDWR | O_CLOEXEC);
	must(fds[node] >= 0, IOT_REPLAY_PATH);
	must(!ioctl(fds[node], IOT_RIOC_LOAD, &load), "load");
	must(!ioctl(fds[node], IOT_RIOC_PARTITION, &part), "share");
	must(!ioctl(fds[node], IOT_RIOC_SETUP, &setup), "set up");
	free(marks);
}

static void *worker(void *fd)
{
	struct iot_replay_run run = { .task = IOT_WORKER_NEW, .space = IOT_SPACE_COMMON };
	void *memory = mmap(NULL, IOT_WORKER_BUFFER_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int result;

	must(memory != MAP_FAILED, "memory");
	run.sink = run.source = (unsigned long)memory;
	do
		result = ioctl(*(int *)fd, IOT_RIOC_RUN, &run);
	while (result == 1);
	must(!result, "run");
	return NULL;
}

/* Passes marks that tasks of one node have passed to the other node. */
static void *agent(void *from)
{
	int *fd = from, other = fds[fd == fds];
	struct iot_replay_move moved[MOVED];
	struct iot_replay_moved wait = { (unsigned long)moved, MOVED, WAIT_NS };
	int count, i;

	do {
		count = ioctl(*fd, IOT_RIOC_MOVED, &wait);
		must(count >= 0, "moved");
		for (i = 0; i < count; i++)
			must(!ioctl(other, IOT_RIOC_ADVANCE, &moved[i]), "advance");
	} while (count || !is_over);
	return NULL;
}

static void perform(void)
{
	pthread_t *threads = calloc(program.task_count, sizeof(*threads)), agents[NODES];
	u32 i;

	must(threads, "memory");
	for (i = 0; i < NODES; i++)
		must(!pthread_create(&agents[i], NULL, agent, &fds[i]), "a thread");
	for (i = 0; i < program.task_count; i++)
		must(!pthread_create(&threads[i], NULL, worker, &fds[node_of(i)]), "a thread");
	for (i = 0; i < NODES; i++)
		while (ioctl(fds[i], IOT_RIOC_START)) {
			must(errno == EAGAIN, "start");
			usleep(1000);
		}
	for (i = 0; i < program.task_count; i++)
		pthread_join(threads[i], NULL);
	is_over = true;
	for (i = 0; i < NODES; i++)
		pthread_join(agents[i], NULL);
	free(threads);
}

int main(int argc, char **argv)
{
	struct iot_replay_status status;
	u64 ops = 0, diverged = 0;
	u8 **marked;
	u32 i;

	if (argc != 3)
		return 2;
	open_program(argv[1]);
	target_fd = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(target_fd >= 0, argv[2]);
	marked = calloc(program.task_count, sizeof(*marked));
	must(marked, "memory");
	for (i = 0; i < program.task_count; i++)
		must((marked[i] = calloc(le32_to_cpu(program.tasks[i].op_count) + 1, 1)), "memory");
	mark_waits(marked);
	for (i = 0; i < NODES; i++)
		share(i, marked);
	perform();
	for (i = 0; i < NODES; i++) {
		must(!ioctl(fds[i], IOT_RIOC_STATUS, &status), "status");
		ops += status.ops;
		diverged += status.diverged;
		close(fds[i]);
	}
	printf("%llu of %llu operations, %llu diverged\n", (unsigned long long)ops,
	       (unsigned long long)program.op_count, (unsigned long long)diverged);
	return ops != program.op_count || diverged;
}
