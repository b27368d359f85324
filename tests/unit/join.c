// SPDX-License-Identifier: GPL-2.0-only
/*
 * join.c - processes that record together find one session, in any order of arrival, even if one of them dies.
 *
 * Fakes replace the kernel: the session is a file in memory, and the collector counts
 * its starts and ends.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectord/collectord.h"
#include "record/record.h"
#include "suite.h"

#define PROCESSES 8

/* Shared by all processes. */
static struct seen {
	int begun;
	int ended;
	int last;
	int welcome;
	int failed;
	int told; /* members that noticed the death of the holder */
	int holder;
	int is_refused; /* sessions are refused */
	int entered;
	unsigned int order[PROCESSES]; /* ranks, as they entered */
} *seen;

static char directory[] = "/tmp/iotape-join-XXXXXX";
static char host[65];

/* -- fakes of kernel and collector --------------------------------------------------------------- */

char *descendants_fact_open(void)
{
	static char fact[IOT_OMISSION_TEXT_BYTES];

	return fact;
}

/* No process remains. */
int descendants_wait(uint64_t session, uint64_t wait_ms, int end_fd, record_warn_fn say, char *fact)
{
	(void)session;
	(void)wait_ms;
	(void)end_fd;
	(void)say;
	(void)fact;
	return 0;
}

int control_open(const struct record_options *options, uint64_t *session, char *why, size_t room)
{
	(void)options;
	*session = 1;
	if (!seen->is_refused)
		return memfd_create("session", MFD_CLOEXEC);
	snprintf(why, room, "there is no session today");
	return -EPERM;
}

int mounts_enter(const struct record_options *options, int *dir_fds, char *why, size_t room)
{
	(void)options, (void)dir_fds, (void)why, (void)room;
	return 0;
}

int collector_start(struct collector *collector, struct collector_options *options)
{
	(void)options;
	__atomic_fetch_add(&seen->begun, 1, __ATOMIC_SEQ_CST);
	*collector = (struct collector){ .pid = 1 };
	seen->holder = getpid();
	return 0;
}

void collector_finish(struct collector *collector, struct collector_result *result)
{
	(void)collector;
	usleep(50000); /* the last process has to wait for this */
	__atomic_fetch_add(&seen->ended, 1, __ATOMIC_SEQ_CST);
	*result = (struct collector_result){ .operations = 7, .is_complete = true };
}

/* Starts sessions. */
int ioctl(int fd, unsigned long request, ...)
{
	(void)fd, (void)request;
	return 0;
}

/* -- processes ----------------------------------------------------------------------------------- */

static int begin(void **state)
{
	struct utsname uts;

	(void)state;
	strcpy(directory + sizeof(directory) - 7, "XXXXXX");
	assert_non_null(mkdtemp(directory));
	uname(&uts);
	snprintf(host, sizeof(host), "%.64s", uts.nodename);
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(seen != MAP_FAILED);
	return 0;
}

static int end(void **state)
{
	char command[64];

	(void)state;
	munmap(seen, sizeof(*seen));
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

static void count(int *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
}

/* A process that joins, works for some time, and leaves. */
static pid_t ranked_member(unsigned int expected, unsigned int rank, unsigned int work_ms)
{
	const struct record_options options = { .output = directory, .facts = (const char *[]){ NULL } };
	struct collector_result result;
	struct joined joined;
	char why[256] = "", path[256];
	pid_t pid = fork();
	int left;

	assert_true(pid >= 0);
	if (pid)
		return pid;
	alarm(30);
	if (join_session(&joined, &options, "job", expected, rank, why, sizeof(why))) {
		if (!strcmp(why, "there is no session today"))
			count(&seen->failed);
		_exit(1);
	}
	if (fcntl(joined.session_fd, F_GETFD) >= 0 && fcntl(joined.namespace_fd, F_GETFD) >= 0)
		count(&seen->welcome);
	seen->order[__atomic_fetch_add(&seen->entered, 1, __ATOMIC_SEQ_CST) % PROCESSES] = rank;
	if (join_enter(joined.fd))
		_exit(1);
	usleep(work_ms * 1000);
	left = join_leave(&joined, &result, path, sizeof(path));
	if (left > 0 && result.operations == 7 && strstr(path, host))
		count(&seen->last);
	if (left < 0)
		count(&seen->told);
	_exit(0);
}

static pid_t member(unsigned int expected, unsigned int work_ms)
{
	return ranked_member(expected, 0, work_ms);
}

static void wait_for(const pid_t *pids, int number)
{
	int i;

	for (i = 0; i < number; i++)
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
}

/* A holder whose members have all ended ends by itself. */
static void wait_for_end(int times)
{
	int i;

	for (i = 0; i < 1000 && __atomic_load_n(&seen->ended, __ATOMIC_SEQ_CST) < times; i++)
		usleep(10000);
	assert_int_equal(seen->ended, times);
}

static int traces(void)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	int number = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		number += strstr(entry->d_name, ".iot") != NULL;
	closedir(dir);
	return number;
}

static void all_processes_join_one_session(void **state)
{
	pid_t pids[PROCESSES];
	int i;

	(void)state;
	for (i = 0; i < PROCESSES; i++)
		pids[i] = member(PROCESSES, (unsigned int)i * 7);
	wait_for(pids, PROCESSES);
	assert_int_equal(seen->welcome, PROCESSES);
	assert_int_equal(seen->begun, 1);
	assert_int_equal(seen->ended, 1); /* when the last member left */
	assert_int_equal(seen->last, 1);
	assert_int_equal(traces(), 1);
}

/* The holder waits for an expected process, even if all others have ended. */
static void late_process_joins_the_session(void **state)
{
	pid_t pids[2];

	(void)state;
	pids[0] = member(2, 0);
	usleep(300000);
	pids[1] = member(2, 0);
	wait_for(pids, 2);
	assert_int_equal(seen->welcome, 2);
	assert_int_equal(seen->begun, 1);
	assert_int_equal(seen->ended, 1);
}

static void next_job_has_its_own_trace(void **state)
{
	pid_t pid = member(1, 0);

	(void)state;
	wait_for(&pid, 1);
	pid = member(1, 0);
	wait_for(&pid, 1);
	assert_int_equal(seen->begun, 2);
	assert_int_equal(seen->last, 2);
	assert_int_equal(traces(), 2);
}

/* They come in the reverse order. */
static void processes_enter_the_session_by_rank(void **state)
{
	pid_t pids[4];
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		pids[i] = ranked_member(4, 3 - i, 0);
		usleep(50000);
	}
	wait_for(pids, 4);
	for (i = 0; i < 4; i++)
		assert_int_equal(seen->order[i], i);
}

/* Rank 0 is not recorded. */
static void process_without_lower_ranks_enters_soon(void **state)
{
	pid_t pid = ranked_member(2, 1, 0);

	(void)state;
	wait_for(&pid, 1);
	assert_int_equal(seen->welcome, 1);
}

static void killed_process_leaves_the_session(void **state)
{
	pid_t pids[2];
	int i;

	(void)state;
	pids[0] = member(2, 20000);
	pids[1] = member(2, 20000);
	for (i = 0; i < 1000 && seen->welcome < 2; i++)
		usleep(10000);
	for (i = 0; i < 2; i++)
		kill(pids[i], SIGKILL);
	wait_for(pids, 2);
	wait_for_end(1);
	assert_int_equal(seen->last, 0);
	assert_int_equal(traces(), 1);
}

static void end_of_the_holder_is_reported_to_all(void **state)
{
	pid_t pids[3];
	int i;

	(void)state;
	for (i = 0; i < 3; i++)
		pids[i] = member(3, 500);
	for (i = 0; i < 1000 && __atomic_load_n(&seen->welcome, __ATOMIC_SEQ_CST) < 3; i++)
		usleep(10000);
	assert_int_equal(kill(seen->holder, SIGKILL), 0);
	wait_for(pids, 3);
	assert_int_equal(seen->told, 3);
	assert_int_equal(seen->last, 0);
}

static void missing_session_is_reported_to_all(void **state)
{
	pid_t pids[3];
	int i;

	(void)state;
	seen->is_refused = 1;
	for (i = 0; i < 3; i++)
		pids[i] = member(3, 0);
	wait_for(pids, 3);
	assert_int_equal(seen->failed, 3);
	assert_int_equal(seen->welcome, 0);
	assert_int_equal(traces(), 0);
}

#undef TEST
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end),

SUITE("join",
      TEST(all_processes_join_one_session)
      TEST(late_process_joins_the_session)
      TEST(next_job_has_its_own_trace)
      TEST(processes_enter_the_session_by_rank)
      TEST(process_without_lower_ranks_enters_soon)
      TEST(killed_process_leaves_the_session)
      TEST(end_of_the_holder_is_reported_to_all)
      TEST(missing_session_is_reported_to_all))
