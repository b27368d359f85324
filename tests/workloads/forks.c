// SPDX-License-Identifier: GPL-2.0-only
/*
 * forks.c - a workload: processes and threads that share open files.
 *
 * A handle whose position parent and child share; duplicates of descriptors; a child that
 * outlives its parent's close; a mapping of which parts were unmapped, moved or protected
 * when a child inherits it; execution of a program (this one, with --role) with an inherited
 * handle, by fork, vfork and posix_spawn; four threads that write to one file
 * and create files. Pipes provide the necessary order.
 */
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "workload.h"

#define THREADS 4
#define PAGE	sysconf(_SC_PAGESIZE)
#define PAGES	16 /* of the mapping in pieces */

static long blocks = 16, files = 8;
static const char *role, *descriptor;

static const struct workload_option options[] = {
	{ "blocks", &blocks, NULL, NULL, "blocks of 4 KiB that each thread writes" },
	{ "files", &files, NULL, NULL, "files that each thread makes" },
	{ "role", NULL, &role, NULL, "be the program that is executed, FILE is its name" },
	{ "descriptor", NULL, &descriptor, NULL, "with this descriptor" },
	{}
};

static const char *directory;

static const char *path(const char *name)
{
	static __thread char text[PATH_MAX];

	snprintf(text, sizeof(text), "%s/%s", directory, name);
	return text;
}

static pid_t start(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	return pid;
}

static void finish(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(!status);
}

/* A token through a pipe: operations before tell() precede the return of hear(). */
static void tell(const int ends[2])
{
	CHECK(write(ends[1], "x", 1) == 1);
}

static void hear(const int ends[2])
{
	char token;

	CHECK(read(ends[0], &token, 1) == 1);
}

static void shared_position(void)
{
	int fd = open(path("position"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	char text[16] = "";
	int there[2], back[2];
	pid_t pid;

	CHECK(fd >= 0 && !pipe(there) && !pipe(back));
	CHECK(write(fd, "0123456789", 10) == 10 && lseek(fd, 0, SEEK_SET) == 0);
	pid = start();
	if (!pid) {
		hear(there);
		CHECK(read(fd, text, 3) == 3 && !strcmp(text, "234"));
		tell(back);
		hear(there);
		CHECK(write(fd, "ABC", 3) == 3);
		CHECK(!close(fd));
		_exit(0);
	}
	CHECK(read(fd, text, 2) == 2 && !strcmp(text, "01"));
	tell(there);
	hear(back);
	CHECK(read(fd, text, 2) == 2 && !strcmp(text, "56"));
	tell(there);
	finish(pid);
	CHECK(lseek(fd, 0, SEEK_CUR) == 10);
	CHECK(pread(fd, text, 10, 0) == 10 && !strcmp(text, "0123456ABC"));
	CHECK(!close(fd));
	printf("shared position: %s\n", text);
	CHECK(!close(there[0]) && !close(there[1]) && !close(back[0]) && !close(back[1]));
}

static void copies_of_descriptors(void)
{
	int fd = open(path("copies"), O_RDWR | O_CREAT | O_TRUNC, 0600), copy, other, third;
	char text[8] = "";

	copy = dup(fd);
	other = open(path("position"), O_RDONLY);
	CHECK(fd >= 0 && copy >= 0 && other >= 0);
	CHECK(write(fd, "one", 3) == 3 && write(copy, "two", 3) == 3);
	CHECK(dup2(copy, other) == other); /* closes the previous file */
	CHECK(!close(fd));
	CHECK(write(other, "six", 3) == 3 && !close(copy));
	third = fcntl(other, F_DUPFD_CLOEXEC, 20);
	CHECK(third >= 20 && dup3(third, 30, O_CLOEXEC) == 30);
	CHECK(pread(third, text, 7, 2) == 7 && !strcmp(text, "etwosix"));
	CHECK(!close(other) && !close(third));
	CHECK(lseek(30, 0, SEEK_CUR) == 9);
	CHECK(!close(30));
	printf("copies of descriptors: %s\n", text);
}

/* The child drops the last reference, after the parent has closed and removed the file. */
static void outliving(void)
{
	int fd = open(path("outlived"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct stat stat;
	int there[2];
	pid_t pid;

	CHECK(fd >= 0 && !pipe(there));
	pid = start();
	if (!pid) {
		hear(there);
		CHECK(write(fd, "still here", 10) == 10);
		CHECK(!fstat(fd, &stat) && stat.st_nlink == 0 && stat.st_size == 10);
		_exit(0); /* which closes */
	}
	CHECK(!close(fd) && !unlink(path("outlived")));
	tell(there);
	finish(pid);
	CHECK(!close(there[0]) && !close(there[1]));
	printf("outliving: written\n");
}

/* -- a mapping in pieces ---------------------------------------------------------------- */

/* Page 3 is unmapped, 6 and 7 are protected, 10 and 11 are moved. Return: their new address. */
static char *make_pieces(char *at)
{
	char *moved = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(moved != MAP_FAILED);
	CHECK(!munmap(at + 3 * PAGE, PAGE));
	CHECK(!mprotect(at + 6 * PAGE, 2 * PAGE, PROT_READ));
	CHECK(mremap(at + 10 * PAGE, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, moved) == moved);
	return moved;
}

/* Writes a byte to each piece, and to the last page of some; then the child unmaps its copies in several steps. */
static void write_pieces(char *at, char *moved, char byte, long page)
{
	at[page] = byte;
	at[4 * PAGE + page] = byte;
	at[9 * PAGE + page] = byte;
	moved[PAGE + page] = byte;
	at[(PAGES - 1) * PAGE + page] = byte;
	CHECK(at[6 * PAGE] == 'f' && at[7 * PAGE + page] == 'f');
	CHECK(!munmap(at, 2 * PAGE) && !munmap(moved + PAGE, PAGE));
	CHECK(at[2 * PAGE] == 'f' && moved[0] == 'f');
	CHECK(!munmap(at + 2 * PAGE, PAGE) && !munmap(moved, PAGE));
}

static void pieces(void)
{
	int fd = open(path("pieces"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	char bytes[PAGES * PAGE], *at, *moved;
	long i, changed = 0;
	pid_t pid;

	memset(bytes, 'f', sizeof(bytes));
	CHECK(fd >= 0 && write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes));
	at = mmap(NULL, sizeof(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(at != MAP_FAILED && !close(fd));
	at[3 * PAGE] = 'g';
	moved = make_pieces(at);
	pid = start();
	if (!pid) {
		write_pieces(at, moved, 'c', 1);
		_exit(0); /* which unmaps the others */
	}
	finish(pid);
	write_pieces(at, moved, 'p', 2);
	CHECK(!munmap(at + 4 * PAGE, 6 * PAGE) && !munmap(at + 12 * PAGE, 4 * PAGE));
	fd = open(path("pieces"), O_RDONLY);
	CHECK(fd >= 0 && read(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) && !close(fd));
	for (i = 0; i < (long)sizeof(bytes); i++)
		changed += bytes[i] != 'f';
	printf("pieces: %ld bytes changed\n", changed);
}

/* -- programs that are executed ------------------------------------------------------ */

/* The executed program: writes through its inherited handle, and creates a file. */
static int play_role(void)
{
	int fd = atoi(descriptor);
	char text[100];
	int own;

	snprintf(text, sizeof(text), "[%s]", role);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	CHECK_ERRNO(write(fd + 1, text, 1), EBADF); /* was closed by exec */
	own = open(path(role), O_WRONLY | O_CREAT | O_EXCL, 0600);
	CHECK(own >= 0 && write(own, role, strlen(role)) == (ssize_t)strlen(role) && !close(own));
	return 0;
}

static void run_role(const char *name, int fd, int way)
{
	char role_text[64], descriptor_text[64], directory_text[PATH_MAX];
	char *arguments[] = { (char *)"forks", role_text, descriptor_text, directory_text, NULL };
	pid_t pid = 0;

	snprintf(role_text, sizeof(role_text), "--role=%s", name);
	snprintf(descriptor_text, sizeof(descriptor_text), "--descriptor=%d", fd);
	snprintf(directory_text, sizeof(directory_text), "%s", directory);
	fflush(stdout);
	if (way == 2)
		CHECK(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, NULL));
	else
		pid = way ? vfork() : fork();
	CHECK(pid >= 0);
	if (!pid) {
		execv("/proc/self/exe", arguments);
		_exit(9);
	}
	finish(pid);
}

static void executed(void)
{
	int fd = open(path("inherited"), O_RDWR | O_CREAT | O_TRUNC, 0600), low;
	char text[64] = "";

	CHECK(fd >= 0);
	low = fcntl(fd, F_DUPFD, 40);
	CHECK(low == 40 && dup3(fd, 41, O_CLOEXEC) == 41 && !close(fd));
	run_role("forked", low, 0);
	run_role("vforked", low, 1);
	run_role("spawned", low, 2);
	CHECK(write(low, ".", 1) == 1);
	CHECK(pread(low, text, sizeof(text) - 1, 0) == 27);
	CHECK(!close(40) && !close(41));
	printf("executed: %s\n", text);
}

/* -- threads ------------------------------------------------------------------------- */

struct thread {
	pthread_t id;
	int fd;
	long number;
};

static void *thread_main(void *data)
{
	const struct thread *thread = data;
	char buffer[4096], name[64];
	int64_t offset;
	long i;
	int fd;

	for (i = 0; i < blocks; i++) {
		offset = (i * THREADS + thread->number) * (int64_t)sizeof(buffer);
		workload_fill(buffer, sizeof(buffer), thread->number, offset);
		CHECK(pwrite(thread->fd, buffer, sizeof(buffer), offset) == sizeof(buffer));
	}
	for (i = 0; i < files; i++) {
		snprintf(name, sizeof(name), "threads/t%ld.%ld", thread->number, i);
		fd = open(path(name), O_WRONLY | O_CREAT | O_EXCL, 0600);
		CHECK(fd >= 0 && write(fd, name, strlen(name)) > 0 && !close(fd));
		if (i & 1)
			CHECK(!unlink(path(name)));
	}
	return NULL;
}

static void threads(void)
{
	struct thread all[THREADS];
	char buffer[4096];
	long i, bad = 0;
	int fd;

	CHECK(!mkdir(path("threads"), 0700));
	fd = open(path("threads/file"), O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0);
	for (i = 0; i < THREADS; i++) {
		all[i].fd = fd;
		all[i].number = i;
		CHECK(!pthread_create(&all[i].id, NULL, thread_main, &all[i]));
	}
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(all[i].id, NULL));
	for (i = 0; i < blocks * THREADS; i++) {
		CHECK(pread(fd, buffer, sizeof(buffer), i * 4096) == sizeof(buffer));
		bad += !workload_is(buffer, sizeof(buffer), i % THREADS, i * 4096);
	}
	CHECK(!bad && !close(fd));
	printf("threads: %ld blocks\n", blocks * THREADS);
}

int main(int argc, char **argv)
{
	directory = workload_options(argc, argv, "Processes and threads that share what is open.",
				     options);
	if (role && descriptor)
		return play_role();
	shared_position();
	copies_of_descriptors();
	outliving();
	pieces();
	executed();
	threads();
	return 0;
}
