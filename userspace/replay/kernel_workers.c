// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel_workers.c - threads that run tasks of a program in the kernel, in processes by address space.
 *
 * Tasks that do something to mappings share memory with those that they shared it with
 * in the trace, and with no others; all other tasks are run by threads of one process. In
 * each process one thread asks the kernel whether another one is needed, and creates it: their number is that of concurrent
 * tasks, not that of all tasks. The processes end with the one that started them, however that ends.
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
#include "partition.h"
#include "read_buffer.h"

#define THREAD_STACK_BYTES (64 << 10)
#define EXIT_CANCELLED	   200 /* of a process; no errno is that large */

struct workers {
	void *source;
	pid_t *pids;
	u32 count;
	u32 left;
	bool are_ended;
};

/* One process, as its threads see it. @touched_bytes: see read_buffer_touch() */
struct process {
	int replay_fd;
	u32 space;
	void *source;
	u64 touched_bytes;
};

struct thread {
	struct thread *next;
	pthread_t thread;
	const struct process *process;
};

/* Request queues have no worker: their operations end by themselves. */
static bool has_worker(const struct iot_program *program, const struct partition *partition, u32 task)
{
	return (!partition || partition_has_task(partition, task)) &&
	       !(le32_to_cpu(program->tasks[task].flags) & IOT_TASK_QUEUE);
}

static void *map_buffer(int flags)
{
	void *buffer = mmap(NULL, IOT_WORKER_BUFFER_BYTES, PROT_READ | PROT_WRITE,
			    flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return buffer == MAP_FAILED ? NULL : buffer;
}

/* Data that does not compress, once for all processes. */
static void *make_source(void)
{
	u8 *buffer = map_buffer(MAP_SHARED);
	u64 state = 0x2545f4914f6cdd1dull;
	size_t i;

	for (i = 0; buffer && i < IOT_WORKER_BUFFER_BYTES; i += sizeof(state)) { /* xorshift64 */
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		memcpy(buffer + i, &state, sizeof(state));
	}
	return buffer;
}

/* -- inside a worker process --------------------------------------------------------------- */

/* Without this worker the others might wait for ever: the process ends, and so the replay. */
static void give_up(int error)
{
	_exit(error);
}

static void *carry(void *argument)
{
	const struct thread *thread = argument;
	void *sink = map_buffer(MAP_PRIVATE);
	struct iot_replay_run run = {
		.task = IOT_WORKER_NEW,
		.space = thread->process->space,
		.sink = (u64)(uintptr_t)sink,
		.source = (u64)(uintptr_t)thread->process->source,
	};
	int state;

	if (!sink)
		give_up(ENOMEM);
	read_buffer_touch(sink, thread->process->touched_bytes);
	do
		state = ioctl(thread->process->replay_fd, IOT_RIOC_RUN, &run);
	while (state == 1 || (state < 0 && errno == EINTR));
	if (state < 0 && errno != ECANCELED)
		give_up(errno);
	munmap(sink, IOT_WORKER_BUFFER_BYTES);
	return NULL;
}

static struct thread *start_thread(const struct process *process, struct thread *others)
{
	struct thread *thread = calloc(1, sizeof(*thread));
	pthread_attr_t attr;
	int err;

	if (!thread)
		give_up(ENOMEM);
	thread->process = process;
	thread->next = others;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
	err = pthread_create(&thread->thread, &attr, carry, thread);
	if (err)
		give_up(err);
	pthread_attr_destroy(&attr);
	return thread;
}

/* Exit code: 0 done, EXIT_CANCELLED, else the errno. */
static int process_main(const struct process *process)
{
	struct iot_replay_keep keep = { .space = process->space };
	struct thread *threads = NULL;
	int state, code = 0;

	umask(0); /* the modes of a program have had the traced task's umask applied */
	do {
		state = ioctl(process->replay_fd, IOT_RIOC_KEEP, &keep);
		if (state == 1)
			threads = start_thread(process, threads);
	} while (state == 1 || (state < 0 && errno == EINTR));
	if (state < 0)
		code = errno == ECANCELED ? EXIT_CANCELLED : errno;
	for (; threads; threads = threads->next)
		pthread_join(threads->thread, NULL);
	return code;
}

/* -- outside -------------------------------------------------------------------------------------- */

static void become_process(const struct process *process, pid_t parent)
{
	/* A Ctrl-C goes to all of us; the parent decides, and cancels the replay. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(ESRCH);
	_exit(process_main(process));
}

static int start_process(struct workers *workers, const struct process *process)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid)
		become_process(process, parent);
	workers->pids[workers->count++] = pid;
	workers->left++;
	return 0;
}

/* For each address space, and last the common one: is it needed? */
static bool *list_spaces(const struct iot_program *program, const struct partition *partition)
{
	bool *is_needed = calloc(program->task_count + 1ul, sizeof(*is_needed));
	u32 i;

	for (i = 0; is_needed && i < program->task_count; i++) {
		if (!has_worker(program, partition, i))
			continue;
		if (le32_to_cpu(program->tasks[i].flags) & IOT_TASK_MAPS)
			is_needed[le32_to_cpu(program->tasks[i].space)] = true;
		else
			is_needed[program->task_count] = true;
	}
	return is_needed;
}

/**
 * workers_start() - start the processes that workers are made in
 * @workers: out: to be freed by workers_kill()
 * @replay_fd: a replay that is set up
 * @program: its program
 * @partition: the part of it that is run here, NULL for all
 *
 * Return: 0 or a negative errno.
 */
int workers_start(struct workers **workers, int replay_fd, const struct iot_program *program,
		   const struct partition *partition)
{
	struct workers *c = calloc(1, sizeof(*c));
	bool *is_needed = list_spaces(program, partition);
	struct process process = { .replay_fd = replay_fd, .touched_bytes = read_buffer_touched_bytes(program) };
	int err = c && is_needed ? 0 : -ENOMEM;
	u32 space;

	if (!err) {
		c->pids = calloc(program->task_count + 1ul, sizeof(*c->pids));
		c->source = make_source();
		process.source = c->source;
	}
	if (!err && (!c->pids || !c->source))
		err = -ENOMEM;
	for (space = 0; space <= program->task_count && !err; space++) {
		process.space = space == program->task_count ? IOT_SPACE_COMMON : space;
		if (is_needed[space])
			err = start_process(c, &process);
	}
	free(is_needed);
	if (err) {
		workers_kill(c);
		return err;
	}
	*workers = c;
	return 0;
}

static int describe(const struct workers *workers, int status, char *why, size_t room)
{
	if (WIFEXITED(status) && (!WEXITSTATUS(status) || WEXITSTATUS(status) == EXIT_CANCELLED))
		return 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && workers->are_ended)
		return 0;
	if (WIFSIGNALED(status))
		snprintf(why, room, "a worker was killed by signal %d", WTERMSIG(status));
	else
		snprintf(why, room, "a worker failed: %s", strerror(WEXITSTATUS(status)));
	return -ECHILD;
}

/**
 * workers_wait() - wait for workers to end
 * @workers: started
 * @timeout_ms: how long
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: number of processes that are left; -ECHILD if one failed or was killed: then
 * the others may wait for it for ever.
 */
int workers_wait(struct workers *workers, int timeout_ms, char *why, size_t room)
{
	const struct timespec pause = { .tv_nsec = 1000000L * (timeout_ms < 100 ? timeout_ms : 100) };
	int status, err = 0;
	u32 i;

	for (i = 0; i < workers->count && !err; i++) {
		if (!workers->pids[i] || waitpid(workers->pids[i], &status, WNOHANG) <= 0)
			continue;
		workers->pids[i] = 0;
		workers->left--;
		err = describe(workers, status, why, room);
	}
	if (!err && workers->left)
		nanosleep(&pause, NULL);
	return err ? err : (int)workers->left;
}

/**
 * workers_end() - end the remaining processes; workers_wait() waits for them
 */
void workers_end(struct workers *workers)
{
	u32 i;

	workers->are_ended = true;
	for (i = 0; workers->pids && i < workers->count; i++)
		if (workers->pids[i])
			kill(workers->pids[i], SIGKILL);
}

/**
 * workers_kill() - end the remaining processes, wait for them, and free; NULL is allowed
 */
void workers_kill(struct workers *workers)
{
	u32 i;

	if (!workers)
		return;
	workers_end(workers);
	for (i = 0; workers->pids && i < workers->count; i++)
		if (workers->pids[i])
			waitpid(workers->pids[i], NULL, 0);
	if (workers->source)
		munmap(workers->source, IOT_WORKER_BUFFER_BYTES);
	free(workers->pids);
	free(workers);
}
