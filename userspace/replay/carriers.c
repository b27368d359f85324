// SPDX-License-Identifier: GPL-2.0-only
/*
 * carriers.c - a thread for each task of a program, in processes by address space.
 *
 * Tasks that do something to mappings share memory with those that they shared it with
 * in the trace, and with no others; all other tasks are threads of one process. The
 * processes end with the one that started them, however that ends.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay.h"

#define THREAD_STACK_BYTES (64 << 10)
#define NO_SPACE	   0xffffffffu

struct carriers {
	pid_t *pids;
	u32 count;
	u32 left;
};

/* One process, as its threads see it. */
struct process {
	int replay_fd;
	u64 source;
};

struct thread {
	pthread_t thread;
	const struct process *process;
	u32 task;
	int err;
};

/* Lanes have no carrier: their operations end by themselves. */
static bool has_carrier(const struct iot_program *program, u32 task)
{
	return !(le32_to_cpu(program->tasks[task].flags) & IOT_TASK_LANE);
}

/* -- inside a carrier process --------------------------------------------------------------- */

static u64 map_buffer(bool is_filled)
{
	u8 *buffer = mmap(NULL, IOT_CARRIER_BUFFER_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	u64 state = 0x2545f4914f6cdd1dull;
	size_t i;

	if (buffer == MAP_FAILED)
		return 0;
	for (i = 0; is_filled && i < IOT_CARRIER_BUFFER_BYTES; i += sizeof(state)) { /* xorshift64 */
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		memcpy(buffer + i, &state, sizeof(state));
	}
	return (u64)(uintptr_t)buffer;
}

static void *carry(void *argument)
{
	struct thread *thread = argument;
	struct iot_replay_run run = {
		.task = thread->task,
		.sink = map_buffer(false),
		.source = thread->process->source,
	};
	int state;

	if (!run.sink) {
		thread->err = -ENOMEM;
		return NULL;
	}
	do
		state = ioctl(thread->process->replay_fd, IOT_RIOC_RUN, &run);
	while (state == 1 || (state < 0 && errno == EINTR));
	thread->err = state < 0 ? -errno : 0;
	munmap((void *)(uintptr_t)run.sink, IOT_CARRIER_BUFFER_BYTES);
	return NULL;
}

static u32 space_of(const struct iot_program *program, u32 task)
{
	return le32_to_cpu(program->tasks[task].flags) & IOT_TASK_MAPS ?
		       le32_to_cpu(program->tasks[task].space) : NO_SPACE;
}

static int start_threads(const struct iot_program *program, u32 space, struct thread *threads,
			 u32 count, const struct process *process)
{
	pthread_attr_t attr;
	u32 task, next = 0;
	int err = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
	for (task = 0; task < program->task_count && next < count && !err; task++) {
		if (!has_carrier(program, task) || space_of(program, task) != space)
			continue;
		threads[next].process = process;
		threads[next].task = task;
		err = pthread_create(&threads[next].thread, &attr, carry, &threads[next]);
		next++;
	}
	pthread_attr_destroy(&attr);
	return -err;
}

/* Exit code: 0 done, 1 cancelled, else the errno. */
static int process_main(const struct iot_program *program, u32 space, u32 count, int replay_fd)
{
	struct process process = { .replay_fd = replay_fd, .source = map_buffer(true) };
	struct thread *threads = calloc(count, sizeof(*threads));
	int err = threads && process.source ? 0 : -ENOMEM;
	u32 i;

	umask(0); /* the modes of a program have had the traced task's umask applied */
	if (!err)
		err = start_threads(program, space, threads, count, &process);
	for (i = 0; i < count && !err; i++) {
		pthread_join(threads[i].thread, NULL);
		err = threads[i].err;
	}
	return err == -ECANCELED ? 1 : -err;
}

/* -- outside -------------------------------------------------------------------------------------- */

static void become_process(const struct iot_program *program, u32 space, u32 count, int replay_fd,
			   pid_t parent)
{
	/* A Ctrl-C goes to all of us; who started us decides, and cancels the replay. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(ESRCH);
	_exit(process_main(program, space, count, replay_fd));
}

static int start_process(struct carriers *carriers, const struct iot_program *program, u32 space,
			 u32 count, int replay_fd)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid)
		become_process(program, space, count, replay_fd, parent);
	carriers->pids[carriers->count++] = pid;
	carriers->left++;
	return 0;
}

/* Tasks of each address space; the last number is for those that need none of their own. */
static u32 *count_tasks(const struct iot_program *program)
{
	u32 *counts = calloc(program->task_count + 1, sizeof(*counts)), i, space;

	for (i = 0; counts && i < program->task_count; i++) {
		if (!has_carrier(program, i))
			continue;
		space = space_of(program, i);
		counts[space == NO_SPACE ? program->task_count : space]++;
	}
	return counts;
}

/**
 * carriers_start() - start a carrier for each task
 * @carriers: out: to be given to carriers_kill()
 * @replay_fd: a replay that is set up
 * @program: its program
 *
 * Return: 0 or a negative errno.
 */
int carriers_start(struct carriers **carriers, int replay_fd, const struct iot_program *program)
{
	struct carriers *c = calloc(1, sizeof(*c));
	u32 *counts = count_tasks(program), space;
	int err = c && counts ? 0 : -ENOMEM;

	if (!err)
		c->pids = calloc(program->task_count + 1, sizeof(*c->pids));
	if (!err && !c->pids)
		err = -ENOMEM;
	for (space = 0; space <= program->task_count && !err; space++)
		if (counts[space])
			err = start_process(c, program,
					    space == program->task_count ? NO_SPACE : space,
					    counts[space], replay_fd);
	free(counts);
	if (err) {
		carriers_kill(c);
		return err;
	}
	*carriers = c;
	return 0;
}

static int describe(int status, char *why, size_t room)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) <= 1)
		return 0;
	if (WIFSIGNALED(status))
		snprintf(why, room, "a carrier was killed by signal %d", WTERMSIG(status));
	else
		snprintf(why, room, "a carrier failed: %s", strerror(WEXITSTATUS(status)));
	return -ECHILD;
}

/**
 * carriers_wait() - wait for carriers to end
 * @carriers: started
 * @timeout_ms: how long
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: number of processes that are left; -ECHILD if one failed or was killed: then
 * the others may wait for it for ever.
 */
int carriers_wait(struct carriers *carriers, int timeout_ms, char *why, size_t room)
{
	const struct timespec pause = { .tv_nsec = 1000000L * (timeout_ms < 100 ? timeout_ms : 100) };
	int status, err = 0;
	u32 i;

	for (i = 0; i < carriers->count && !err; i++) {
		if (!carriers->pids[i] || waitpid(carriers->pids[i], &status, WNOHANG) <= 0)
			continue;
		carriers->pids[i] = 0;
		carriers->left--;
		err = describe(status, why, room);
	}
	if (!err && carriers->left)
		nanosleep(&pause, NULL);
	return err ? err : (int)carriers->left;
}

/**
 * carriers_kill() - end what is left, and free; NULL is allowed
 */
void carriers_kill(struct carriers *carriers)
{
	u32 i;

	if (!carriers)
		return;
	for (i = 0; carriers->pids && i < carriers->count; i++) {
		if (!carriers->pids[i])
			continue;
		kill(carriers->pids[i], SIGKILL);
		waitpid(carriers->pids[i], NULL, 0);
	}
	free(carriers->pids);
	free(carriers);
}
