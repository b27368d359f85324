// SPDX-License-Identifier: GPL-2.0-only
/*
 * splices.c - writes splice(2) and sendfile(2) output to files.
 *
 *	splices [--late=MS] DIRECTORY
 *
 * Prints the outcome of each call and the contents of the files, which must be the same on a bare directory and under
 * tapefs. With --late, only makes one splice, which waits this time for its byte.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "workloads/workload.h"

#define PAGE_BYTES 4096
#define PIPE_BYTES 65536
#define ROOM_BYTES (16 * PIPE_BYTES)
#define BIG_BYTES  (4 << 20)

static char bytes[PIPE_BYTES];

static void say(const char *what, ssize_t result)
{
	printf("%s: ", what);
	if (result < 0)
		printf("%s\n", strerrorname_np(errno));
	else
		printf("%zd bytes\n", result);
}

static int make(const char *name)
{
	int fd = open(name, O_CREAT | O_RDWR, 0600);

	CHECK(fd >= 0);
	return fd;
}

/* Pieces of different sizes fill pipe buffers partially. */
static void fill(int pipe_end, size_t length)
{
	size_t done, piece = 1;

	for (done = 0; done < length; done += piece, piece = piece * 7 % 5000 + 1) {
		piece = piece < length - done ? piece : length - done;
		CHECK(write(pipe_end, bytes + done, piece) == (ssize_t)piece);
	}
}

static void show(const char *what, int fd)
{
	static char found[PIPE_BYTES];
	unsigned long sum = 0;
	off_t at = 0;
	ssize_t got, i;

	while ((got = pread(fd, found, sizeof(found), at)) > 0) {
		for (i = 0; i < got; i++)
			sum = sum * 31 + (unsigned char)found[i];
		at += got;
	}
	CHECK(!got);
	printf("%s: %lld bytes, sum %lx, position %lld\n", what, (long long)at, sum,
	       (long long)lseek(fd, 0, SEEK_CUR));
}

static void take_some(const int *ends)
{
	int fd = make("some"), reader = open("some", O_RDONLY), appender = open("some", O_WRONLY | O_APPEND);
	loff_t at = 10000;

	fill(ends[1], 30000);
	say("at the position", splice(ends[0], NULL, fd, NULL, 1000, 0));
	say("at an offset", splice(ends[0], NULL, fd, &at, 2000, SPLICE_F_MOVE));
	printf("the offset is %lld\n", (long long)at);
	say("nothing", splice(ends[0], NULL, fd, NULL, 0, 0));
	at = -1;
	say("at a negative offset", splice(ends[0], NULL, fd, &at, 1000, 0));
	at = INT64_MAX;
	say("at the largest offset", splice(ends[0], NULL, fd, &at, 1000, 0));
	say("appended", splice(ends[0], NULL, appender, NULL, 1000, 0));
	say("to a read-only handle", splice(ends[0], NULL, reader, NULL, 1000, 0));
	say("more than there is", splice(ends[0], NULL, fd, NULL, BIG_BYTES, SPLICE_F_MORE));
	say("without waiting", splice(ends[0], NULL, fd, NULL, 1000, SPLICE_F_NONBLOCK));
	show("some", fd);
	close(appender);
	close(reader);
	close(fd);
}

/* Whole pages, as file systems require for direct writes; not all support them. */
static void take_direct(const int *ends)
{
	int fd = open("direct", O_CREAT | O_RDWR | O_DIRECT | O_DSYNC, 0600), reader;

	say("O_DIRECT", fd < 0 ? -1 : 0);
	if (fd < 0)
		return;
	CHECK(write(ends[1], bytes, 4 * PAGE_BYTES) == 4 * PAGE_BYTES);
	say("whole pages", splice(ends[0], NULL, fd, NULL, 4 * PAGE_BYTES, 0));
	reader = open("direct", O_RDONLY);
	show("direct", reader);
	close(reader);
	close(fd);
}

static void fill_whole(const int *ends)
{
	int fd = make("whole"), i;
	ssize_t done, left;

	for (i = 0; i < 3; i++) {
		CHECK(write(ends[1], bytes, PIPE_BYTES) == PIPE_BYTES);
		for (left = PIPE_BYTES; left; left -= done) {
			done = splice(ends[0], NULL, fd, NULL, (size_t)left, 0);
			CHECK(done > 0);
		}
	}
	show("whole", fd);
	close(fd);
}

static void ignore(int number)
{
	(void)number;
}

static void be_interrupted(const int *ends)
{
	const struct itimerval soon = { .it_value.tv_usec = 50000 }, never = { 0 };
	const struct sigaction action = { .sa_handler = ignore };
	int fd = make("interrupted");

	CHECK(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &soon, NULL));
	say("interrupted", splice(ends[0], NULL, fd, NULL, 1000, 0));
	CHECK(!setitimer(ITIMER_REAL, &never, NULL));
	close(fd);
}

static void be_limited(const int *ends)
{
	const struct rlimit small = { .rlim_cur = 6000, .rlim_max = RLIM_INFINITY };
	const struct rlimit none = { .rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY };
	int fd = make("limited");

	signal(SIGXFSZ, SIG_IGN);
	fill(ends[1], 10000);
	CHECK(!setrlimit(RLIMIT_FSIZE, &small));
	say("to a limit", splice(ends[0], NULL, fd, NULL, 10000, 0));
	say("above it", splice(ends[0], NULL, fd, NULL, 10000, 0));
	CHECK(!setrlimit(RLIMIT_FSIZE, &none));
	say("without one", splice(ends[0], NULL, fd, NULL, 10000, 0));
	show("limited", fd);
	close(fd);
}

/* A child writes a byte after a delay, and exits. */
static void wait_for(long late_ms)
{
	const struct timespec late = { late_ms / 1000, late_ms % 1000 * 1000000 };
	int fd = make("late"), ends[2];
	pid_t child;

	CHECK(!pipe(ends));
	fflush(stdout);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		nanosleep(&late, NULL);
		_exit(write(ends[1], "x", 1) != 1);
	}
	close(ends[1]);
	say("what comes later", splice(ends[0], NULL, fd, NULL, 1000, 0));
	CHECK(waitpid(child, NULL, 0) == child);
	say("when the pipe has no writer", splice(ends[0], NULL, fd, NULL, 1000, 0));
	show("late", fd);
	close(ends[0]);
	close(fd);
}

static void send_all(void)
{
	int in = make("in"), out = make("out");
	off_t from = 100;

	CHECK(write(in, bytes, PIPE_BYTES) == PIPE_BYTES && write(in, bytes, PIPE_BYTES) == PIPE_BYTES);
	say("sendfile", sendfile(out, in, &from, BIG_BYTES));
	say("sendfile at the end", sendfile(out, in, &from, BIG_BYTES));
	show("out", out);
	close(in);
	close(out);
}

int main(int argc, char **argv)
{
	long late_ms = 0;
	const struct workload_option options[] = {
		{ "late", &late_ms, .sentence = "only make one splice, which waits this many milliseconds" },
		{ 0 },
	};
	int ends[2], i;

	for (i = 0; i < PIPE_BYTES; i++)
		bytes[i] = (char)(i / 7);
	CHECK(!chdir(workload_options(argc, argv, "Splices into files.", options)) && !pipe(ends));
	CHECK(fcntl(ends[1], F_SETPIPE_SZ, ROOM_BYTES) == ROOM_BYTES); /* partially filled pages need extra room */
	if (late_ms) {
		wait_for(late_ms);
		return 0;
	}
	take_some(ends);
	be_interrupted(ends);
	be_limited(ends);
	wait_for(50);
	send_all();
	fill_whole(ends);
	take_direct(ends);
	return 0;
}
