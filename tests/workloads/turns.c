// SPDX-License-Identifier: GPL-2.0-only
/*
 * turns.c - a workload: two processes that take turns, synchronized by pipes that are not recorded.
 *
 * Each depends on operations of the other: a name exists or not, a directory has entries or
 * none, a file was extended or truncated, a shared position has moved. Nothing else orders the
 * two in a replay; each part has one kind of dependence.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "workload.h"

#define BLOCK 4096

static long rounds = 12;

static const struct workload_option options[] = {
	{ "rounds", &rounds, NULL, NULL, "rounds of each part" },
	{}
};

static int mine[2], yours[2]; /* pipes: the reader of a byte has the turn */
static int shared = -1;	      /* a handle shared by both */

static void pass(void)
{
	CHECK(write(yours[1], "", 1) == 1);
}

static void wait_turn(void)
{
	char byte;

	CHECK(read(mine[0], &byte, 1) == 1);
}

static off_t size_of(const char *name)
{
	struct stat stat;

	return lstat(name, &stat) ? -1 : stat.st_size;
}

/* -- the one ------------------------------------------------------------------------------- */

static void make_names(void)
{
	char name[32];
	long i;

	for (i = 0; i < rounds; i++) {
		snprintf(name, sizeof(name), "name.%ld", i);
		CHECK(!close(open(name, O_CREAT | O_EXCL | O_WRONLY, 0600)));
		pass();
		wait_turn();
		CHECK(size_of(name) < 0); /* the other one has removed it */
		CHECK(!symlink("no/where", name));
		pass();
		wait_turn();
	}
}

static void fill_directory(void)
{
	char name[32];
	long i;

	CHECK(!mkdir("directory", 0700));
	pass();
	wait_turn();
	for (i = 0; i < rounds; i++) {
		snprintf(name, sizeof(name), "directory/%ld", i);
		CHECK(!mkdir(name, 0700));
		pass();
		wait_turn();
	}
}

static void grow(void)
{
	static char block[BLOCK];
	int fd = open("file", O_CREAT | O_RDWR, 0600);
	long i;

	CHECK(fd >= 0);
	pass();
	wait_turn();
	for (i = 0; i < rounds; i++) {
		CHECK(pwrite(fd, block, BLOCK, i * BLOCK) == BLOCK);
		pass();
		wait_turn();
		CHECK(size_of("file") == i * BLOCK + 100); /* the other one has cut it */
	}
	CHECK(!close(fd));
}

static void move(void)
{
	long i;

	for (i = 0; i < rounds; i++) {
		CHECK(lseek(shared, i * 10, SEEK_SET) == i * 10);
		pass();
		wait_turn();
	}
}

static void one(void)
{
	make_names();
	fill_directory();
	grow();
	move();
}

/* -- the other ----------------------------------------------------------------------------- */

static void remove_names(void)
{
	char name[32];
	long i;

	for (i = 0; i < rounds; i++) {
		snprintf(name, sizeof(name), "name.%ld", i);
		wait_turn();
		CHECK(!size_of(name));
		CHECK(!unlink(name));
		pass();
		wait_turn();
		CHECK(size_of(name) == (off_t)strlen("no/where"));
		pass();
	}
}

static long count_entries(const char *name)
{
	DIR *dir = opendir(name);
	long count = 0;

	CHECK(dir);
	while (readdir(dir))
		count++;
	CHECK(!closedir(dir));
	return count;
}

static void count_directory(void)
{
	long i;

	wait_turn();
	CHECK(count_entries("directory") == 2);
	pass();
	for (i = 0; i < rounds; i++) {
		wait_turn();
		CHECK(count_entries("directory") == i + 3);
		pass();
	}
	CHECK_ERRNO(rmdir("directory"), ENOTEMPTY);
}

static void cut(void)
{
	char byte;
	int fd;
	long i;

	wait_turn();
	fd = open("file", O_RDWR);
	CHECK(fd >= 0);
	pass();
	for (i = 0; i < rounds; i++) {
		wait_turn();
		CHECK(pread(fd, &byte, 1, (i + 1) * BLOCK - 1) == 1);
		CHECK(!ftruncate(fd, i * BLOCK + 100));
		pass();
	}
	CHECK(!close(fd));
}

static void follow(void)
{
	char bytes[5];
	long i;

	for (i = 0; i < rounds; i++) {
		wait_turn();
		CHECK(read(shared, bytes, sizeof(bytes)) == sizeof(bytes));
		CHECK(lseek(shared, 0, SEEK_CUR) == i * 10 + (long)sizeof(bytes));
		pass();
	}
}

static void other(void)
{
	mine[0] = yours[0]; /* each process writes to the pipe that the other reads */
	yours[1] = mine[1];
	remove_names();
	count_directory();
	cut();
	follow();
}

static pid_t start(void (*role)(void))
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid)
		return pid;
	role();
	exit(0);
}

static void finish(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

int main(int argc, char **argv)
{
	const char *directory =
		workload_options(argc, argv, "Two processes that take turns.", options);
	pid_t pids[2];

	CHECK(!chdir(directory));
	shared = open("shared", O_CREAT | O_RDWR, 0600);
	CHECK(shared >= 0 && !ftruncate(shared, rounds * 10 + BLOCK));
	CHECK(!pipe(mine) && !pipe(yours));
	pids[0] = start(one);
	pids[1] = start(other);
	finish(pids[0]);
	finish(pids[1]);
	CHECK(!close(shared));
	printf("turns: %ld rounds of 4 parts\n", rounds);
	return 0;
}
