// SPDX-License-Identifier: GPL-2.0-only
/*
 * descendants.c - processes that the command has started and that run when it has ended.
 *
 * The kernel module knows them: including orphaned processes, and those with their own session or
 * namespaces. The recorder does not become their parent (PR_SET_CHILD_SUBREAPER): a
 * daemon can see whose child it is, and so would see that it is recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/iotape.h"
#include "record.h"

#define UNSEEN_MS 100 /* interval of polling for a process that cannot be waited for, because it has no number here */

/* The threads that are alive, in an array that the caller frees. */
struct alive {
	struct iot_alive_thread *threads;
	uint32_t count;
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int ask(int fd, uint64_t session, struct alive *alive)
{
	struct iot_alive_thread *threads;
	struct iot_alive query;
	uint32_t room = 64;

	for (;; room = query.count + query.count / 2) {
		if (room > IOT_ALIVE_MAX)
			room = IOT_ALIVE_MAX;
		threads = reallocarray(alive->threads, room, sizeof(*threads));
		if (!threads)
			return -ENOMEM;
		alive->threads = threads;
		query = (struct iot_alive){ .session = session, .threads = (uintptr_t)threads, .room = room };
		if (ioctl(fd, IOT_IOC_ALIVE, &query))
			return -errno;
		if (query.count <= room || room == IOT_ALIVE_MAX)
			break;
	}
	alive->count = query.count < room ? query.count : room;
	return 0;
}

/* By process, first the thread with the id of the process. */
static int compare_threads(const void *a, const void *b)
{
	const struct iot_alive_thread *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	if ((x->pid == x->tgid) != (y->pid == y->tgid))
		return x->pid == x->tgid ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Keep one thread of each process; each thread without a number here counts. */
static void keep_processes(struct alive *alive)
{
	uint32_t i, kept = 0;

	qsort(alive->threads, alive->count, sizeof(*alive->threads), compare_threads);
	for (i = 0; i < alive->count; i++)
		if (!kept || !alive->threads[i].tgid || alive->threads[i].tgid != alive->threads[kept - 1].tgid)
			alive->threads[kept++] = alive->threads[i];
	alive->count = kept;
}

static int find(uint64_t session, struct alive *alive)
{
	int fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC), err;

	*alive = (struct alive){};
	err = fd < 0 ? -errno : ask(fd, session, alive);
	if (fd >= 0)
		close(fd);
	if (!err)
		keep_processes(alive);
	return err;
}

/* -- waiting -------------------------------------------------------------------------------- */

/**
 * struct patience - the limits of a wait
 * @signal_fd: signals of the user, which are blocked meanwhile
 * @before: the signals that were blocked before
 * @end_fd: as for descendants_wait()
 * @until_ms: the deadline, UINT64_MAX for none
 * @is_over: one of them has ended it
 */
struct patience {
	int signal_fd;
	sigset_t before;
	int end_fd;
	uint64_t until_ms;
	bool is_over;
};

/* SIGINT was left to the command; a signal that is ignored is never pending. */
static void catch_signals(struct patience *patience)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, &patience->before);
	signal(SIGINT, SIG_DFL);
	patience->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The trace is still to be completed: signals that arrived are consumed and have no further effect. */
static void let_signals_go(const struct patience *patience)
{
	struct signalfd_siginfo info;

	signal(SIGINT, SIG_IGN);
	while (patience->signal_fd >= 0 && read(patience->signal_fd, &info, sizeof(info)) > 0)
		;
	if (patience->signal_fd >= 0)
		close(patience->signal_fd);
	sigprocmask(SIG_SETMASK, &patience->before, NULL);
}

static int left_ms(const struct patience *patience)
{
	uint64_t now = now_ms();

	if (patience->until_ms == UINT64_MAX)
		return -1;
	if (now >= patience->until_ms)
		return 0;
	return patience->until_ms - now < 1000000 ? (int)(patience->until_ms - now) : 1000000;
}

/* Until a process has ended, or patience has. */
static void wait_for(uint32_t pid, struct patience *patience)
{
	int fd = pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1, timeout_ms = left_ms(patience);
	struct pollfd polls[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = patience->signal_fd, .events = POLLIN },
		{ .fd = patience->end_fd, .events = POLLIN },
	};

	if (fd < 0 && (timeout_ms < 0 || timeout_ms > UNSEEN_MS))
		timeout_ms = UNSEEN_MS;
	poll(polls, sizeof(polls) / sizeof(polls[0]), timeout_ms);
	patience->is_over = polls[1].revents || polls[2].revents || !left_ms(patience);
	if (fd >= 0)
		close(fd);
}

/* -- reports about them ----------------------------------------------------------------------- */

static void list_names(const struct alive *alive, char *text, size_t room)
{
	size_t at = 0;
	uint32_t i;

	text[0] = 0;
	for (i = 0; i < alive->count && at + 64 < room; i++)
		at += (size_t)snprintf(text + at, room - at, "%s%s (%u)", i ? ", " : "",
				       alive->threads[i].command, alive->threads[i].tgid);
	if (i < alive->count)
		snprintf(text + at, room - at, ", ...");
}

static void report_waiting(const struct alive *alive, record_warn_fn say)
{
	char names[IOT_OMISSION_DETAIL_BYTES], text[IOT_OMISSION_DETAIL_BYTES + 64];

	list_names(alive, names, sizeof(names));
	snprintf(text, sizeof(text), "waiting for descendants of the command: %s", names);
	say(text);
}

static void state(const struct alive *alive, char *fact)
{
	struct iot_omissions omissions = {};
	char names[IOT_OMISSION_DETAIL_BYTES];

	list_names(alive, names, sizeof(names));
	iot_omissions_add(&omissions, IOT_OMISSION_descendants, alive->count, IOT_OMISSION_UNKNOWN,
			  IOT_OMISSION_UNKNOWN, names);
	iot_omission_fact(&omissions, IOT_OMISSION_descendants, fact);
}

/**
 * descendants_fact_open() - memory for the fact about descendants, shared with the collector
 *
 * Return: IOT_OMISSION_TEXT_BYTES, with nothing in them; NULL if out of memory.
 */
char *descendants_fact_open(void)
{
	char *fact = mmap(NULL, IOT_OMISSION_TEXT_BYTES, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return fact == MAP_FAILED ? NULL : fact;
}

/**
 * descendants_wait() - wait for descendants that outlive the command, and state those that still run afterwards
 * @session: number of the session, which still records
 * @wait_ms: longest wait; UINT64_MAX: until all have ended
 * @end_fd: becomes readable, or is closed by its peer, when the wait is pointless
 * @say: called once with a sentence, if it has to wait; NULL for no message
 * @fact: out: from descendants_fact_open(): the omission of those that still run, if there are any
 *
 * SIGINT, SIGTERM and SIGHUP end only the wait. Afterwards SIGINT is ignored.
 *
 * Return: 0; a negative errno if the kernel does not list them: -ENOTTY if the module is older.
 */
int descendants_wait(uint64_t session, uint64_t wait_ms, int end_fd, record_warn_fn say, char *fact)
{
	struct patience patience = {
		.end_fd = end_fd,
		.until_ms = wait_ms > UINT64_MAX - now_ms() ? UINT64_MAX : now_ms() + wait_ms,
	};
	struct alive alive;
	int err;

	catch_signals(&patience);
	for (;;) {
		err = find(session, &alive);
		if (err || !alive.count || patience.is_over)
			break;
		if (say)
			report_waiting(&alive, say);
		say = NULL;
		wait_for(alive.threads[0].tgid, &patience);
		free(alive.threads);
	}
	if (!err && alive.count)
		state(&alive, fact);
	free(alive.threads);
	let_signals_go(&patience);
	return err;
}
