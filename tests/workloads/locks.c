// SPDX-License-Identifier: GPL-2.0-only
/*
 * locks.c - a workload: processes that lock a file, wait for locks and are refused some.
 *
 * First they increment a counter under locks of each kind; the order varies, the sum does not.
 * Then two processes take turns, synchronized by pipes that are not recorded: a lock of one is
 * refused to the other, or reported to it, or waited for until a signal arrives; a close releases
 * the locks of its process. Finally each waits for a lock of the other, which is refused to one of them.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "workload.h"

#define COUNTERS 4

static long rounds = 25;

static const struct workload_option options[] = {
	{ "rounds", &rounds, NULL, NULL, "rounds of each process" },
	{}
};

/* -- together ------------------------------------------------------------------------------ */

static int lock_range(int fd, int command, short type, off_t begin, off_t length)
{
	struct flock range = { .l_type = type, .l_start = begin, .l_len = length };

	return fcntl(fd, command, &range);
}

static void by_process(int fd, short type)
{
	CHECK(!lock_range(fd, type == F_UNLCK ? F_SETLK : F_SETLKW, type, 0, 8));
}

static void by_handle(int fd, short type)
{
	CHECK(!lock_range(fd, type == F_UNLCK ? F_OFD_SETLK : F_OFD_SETLKW, type, 0, 0));
}

static void by_flock(int fd, short type)
{
	CHECK(!flock(fd, type == F_UNLCK ? LOCK_UN : LOCK_EX));
}

/* A counter that is correct only with the lock. */
static void count(void (*lock)(int, short))
{
	int fd = open("count", O_RDWR);
	uint64_t sum;
	long i;

	CHECK(fd >= 0);
	for (i = 0; i < rounds; i++) {
		lock(fd, F_WRLCK);
		CHECK(pread(fd, &sum, sizeof(sum), 0) == sizeof(sum));
		sum++;
		CHECK(pwrite(fd, &sum, sizeof(sum), 0) == sizeof(sum));
		if (i % 4 != 3) { /* otherwise released by the close */
			lock(fd, F_UNLCK);
			continue;
		}
		CHECK(!close(fd));
		fd = open("count", O_RDWR);
		CHECK(fd >= 0);
	}
	CHECK(!close(fd));
}

static uint64_t count_together(void (*lock)(int, short))
{
	uint64_t sum = 0;
	int fd = open("count", O_CREAT | O_TRUNC | O_RDWR, 0600), i, status;

	CHECK(fd >= 0 && pwrite(fd, &sum, sizeof(sum), 0) == sizeof(sum));
	for (i = 0; i < COUNTERS; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			count(lock);
			_exit(0);
		}
	}
	for (i = 0; i < COUNTERS; i++)
		CHECK(wait(&status) > 0 && !status);
	CHECK(pread(fd, &sum, sizeof(sum), 0) == sizeof(sum));
	CHECK(!close(fd));
	return sum;
}

/* -- in turns ------------------------------------------------------------------------------- */

static int told, tell; /* pipes: the reader of a byte has the turn */

static void pass(void)
{
	CHECK(write(tell, "", 1) == 1);
}

static void wait_turn(void)
{
	char byte;

	CHECK(read(told, &byte, 1) == 1);
}

static void turn(void)
{
	pass();
	wait_turn();
}

static void ignore(int signal)
{
	(void)signal;
}

/* Signals are repeated until the wait for a lock has ended, because the first may come before it begins. */
static void set_alarm(suseconds_t period_us)
{
	struct sigaction action = { .sa_handler = ignore }; /* without SA_RESTART */
	struct itimerval timer = { { 0, period_us }, { 0, period_us } };

	CHECK(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &timer, NULL));
}

/* The other process has shared locks from the same byte on. */
static void be_interrupted(int fd)
{
	set_alarm(50000);
	CHECK_ERRNO(lock_range(fd, F_SETLKW, F_WRLCK, 10, 2), EINTR);
	CHECK_ERRNO(lock_range(fd, F_OFD_SETLKW, F_WRLCK, 10, 2), EINTR);
	set_alarm(0);
}

static void be_interrupted_in_flock(int fd)
{
	set_alarm(50000);
	CHECK_ERRNO(flock(fd, LOCK_SH), EINTR);
	set_alarm(0);
}

/* Each has a lock, and waits for that of the other. Return: was it refused as a deadlock? */
static bool is_deadlock(int fd, off_t own)
{
	int err;

	CHECK(!lock_range(fd, F_SETLK, F_WRLCK, own, 1));
	pass();
	wait_turn();
	err = lock_range(fd, F_SETLKW, F_WRLCK, 1 - own, 1);
	CHECK(!err || errno == EDEADLK);
	CHECK(!lock_range(fd, F_SETLK, F_UNLCK, 0, 0));
	return err;
}

static bool hold(int inherited)
{
	int fd = open("turns", O_RDWR), other = open("turns", O_RDWR);
	bool is_refused;

	CHECK(fd >= 0 && other >= 0);
	CHECK(!lock_range(fd, F_SETLK, F_RDLCK, 10, 10));
	turn();
	CHECK(!lock_range(fd, F_SETLK, F_UNLCK, 10, 5)); /* a part of it */
	turn();
	CHECK(!lock_range(fd, F_SETLK, F_WRLCK, 100, 1));
	turn();
	CHECK(!close(other)); /* any descriptor of the file will do */
	turn();
	CHECK(!flock(inherited, LOCK_EX));
	turn();
	CHECK(!close(inherited)); /* the other process has it, too */
	turn();
	is_refused = is_deadlock(fd, 0);
	CHECK(!close(fd));
	return is_refused;
}

/* Return: of is_deadlock(). */
static bool refused(int inherited)
{
	struct flock range = { .l_type = F_WRLCK, .l_start = 12, .l_len = 1 };
	int fd = open("turns", O_RDWR), reader = open("turns", O_RDONLY);
	bool is_refused;

	CHECK(fd >= 0 && reader >= 0);
	wait_turn();
	CHECK_ERRNO(lock_range(fd, F_SETLK, F_WRLCK, 10, 2), EAGAIN);
	be_interrupted(fd);
	CHECK(!lock_range(fd, F_SETLK, F_RDLCK, 10, 2));
	CHECK_ERRNO(lock_range(reader, F_SETLK, F_WRLCK, 50, 2), EBADF);
	CHECK(!fcntl(fd, F_GETLK, &range) && range.l_type == F_RDLCK);
	turn();
	CHECK(!lock_range(fd, F_SETLK, F_WRLCK, 10, 2));
	turn();
	CHECK_ERRNO(lock_range(fd, F_SETLK, F_WRLCK, 0, 0), EAGAIN);
	turn();
	CHECK(!lock_range(fd, F_SETLK, F_WRLCK, 0, 0));
	turn();
	CHECK_ERRNO(flock(fd, LOCK_SH | LOCK_NB), EWOULDBLOCK);
	turn();
	be_interrupted_in_flock(fd);
	CHECK_ERRNO(flock(fd, LOCK_SH | LOCK_NB), EWOULDBLOCK);
	CHECK(!close(inherited));
	CHECK(!flock(fd, LOCK_SH | LOCK_NB));
	CHECK(!lock_range(fd, F_SETLK, F_UNLCK, 0, 0));
	pass();
	is_refused = is_deadlock(fd, 1);
	CHECK(!close(fd) && !close(reader));
	return is_refused;
}

static void take_turns(void)
{
	int there[2], back[2], inherited, status;
	bool is_refused;
	pid_t pid;

	CHECK(!pipe(there) && !pipe(back));
	inherited = open("turns", O_CREAT | O_RDWR, 0600);
	CHECK(inherited >= 0);
	pid = fork();
	CHECK(pid >= 0);
	told = pid ? back[0] : there[0];
	tell = pid ? there[1] : back[1];
	CHECK(!close(pid ? back[1] : there[1]) && !close(pid ? there[0] : back[0])); /* of the other */
	if (!pid)
		_exit(refused(inherited));
	is_refused = hold(inherited);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	CHECK(WEXITSTATUS(status) + is_refused == 1); /* the other got the lock in the end */
}

int main(int argc, char **argv)
{
	const char *directory =
		workload_options(argc, argv, "Processes that lock a file.", options);

	CHECK(!chdir(directory));
	printf("locks of processes: %llu\n", (unsigned long long)count_together(by_process));
	printf("locks of handles: %llu\n", (unsigned long long)count_together(by_handle));
	printf("flock: %llu\n", (unsigned long long)count_together(by_flock));
	take_turns();
	printf("in turns: done\n");
	return 0;
}
