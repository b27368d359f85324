// SPDX-License-Identifier: GPL-2.0-only
/*
 * delegated.c - operations that wait for the holder of a directory delegation. Linux has these since 6.19.
 *
 *	delegated DIRECTORY HELD
 *
 * HELD is the same directory, perhaps by another path. A child takes a delegation of it and, when the kernel recalls
 * it, returns it after a delay. Prints the outcome of each operation on names in DIRECTORY and whether it waited; the
 * output must be the same on a bare directory and under tapefs. Exits with 77 if the kernel does not support
 * directory delegations.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/workload.h"

#define NOT_HERE 77

#ifndef F_SETDELEG
#define F_SETDELEG 1040
struct delegation {
	uint32_t d_flags;
	uint16_t d_type;
	uint16_t pad;
};
#endif

/* Shared by the holder and the caller. */
struct shared {
	atomic_bool is_held;
	atomic_bool is_over;
	atomic_bool has_waited;
};

static struct shared *shared;

static int delegate(int fd, uint16_t type)
{
	struct delegation delegation = { .d_type = type };

	return fcntl(fd, F_SETDELEG, &delegation);
}

/* A task that does not wait ends within this time. */
static void hold_until_asked(const char *held)
{
	const struct timespec patience = { .tv_sec = 5 };
	int fd = open(held, O_RDONLY | O_DIRECTORY);
	sigset_t asked;

	sigemptyset(&asked);
	sigaddset(&asked, SIGIO);
	CHECK(!sigprocmask(SIG_BLOCK, &asked, NULL));
	CHECK(fd >= 0 && !delegate(fd, F_RDLCK));
	shared->is_held = true;
	if (sigtimedwait(&asked, NULL, &patience) == SIGIO) {
		usleep(100000);
		shared->has_waited = !shared->is_over;
	}
	CHECK(!delegate(fd, F_UNLCK));
	_exit(0);
}

static int make_file(void)
{
	int fd = open("file", O_CREAT | O_EXCL | O_WRONLY, 0644);

	return fd < 0 ? fd : close(fd);
}

static int make_directory(void)
{
	return mkdir("directory", 0755);
}

static int make_fifo(void)
{
	return mkfifo("fifo", 0644);
}

static int make_symlink(void)
{
	return symlink("file", "symlink");
}

static int make_link(void)
{
	return link("file", "link");
}

static int rename_file(void)
{
	return rename("file", "renamed");
}

static int rename_over(void)
{
	return rename("renamed", "link");
}

static int remove_file(void)
{
	return unlink("link");
}

static int remove_directory(void)
{
	return rmdir("directory");
}

static int change_mode(void)
{
	return chmod(".", 0700);
}

static void ask(const char *held, const char *what, int (*operation)(void))
{
	pid_t holder;
	int status;
	long result;

	*shared = (struct shared){};
	holder = fork();
	if (!holder)
		hold_until_asked(held);
	while (!shared->is_held && !waitpid(holder, &status, WNOHANG))
		usleep(1000);
	CHECK(shared->is_held);
	result = operation();
	shared->is_over = true;
	printf("%s: %s", what, workload_outcome(result));
	CHECK(waitpid(holder, &status, 0) == holder && !status);
	puts(shared->has_waited ? ", after a while" : ", at once");
}

static bool is_known(const char *held)
{
	int fd = open(held, O_RDONLY | O_DIRECTORY);
	bool is = !delegate(fd, F_RDLCK);

	CHECK(is || errno == EINVAL);
	CHECK(!close(fd));
	return is;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*operation)(void);
	} operations[] = {
		{ "open, O_CREAT", make_file },	   { "mkdir", make_directory },
		{ "mknod", make_fifo },		   { "symlink", make_symlink },
		{ "link", make_link },		   { "rename", rename_file },
		{ "rename of a link", rename_over }, { "unlink", remove_file },
		{ "rmdir", remove_directory },	   { "chmod", change_mode },
	};
	size_t i;

	if (argc != 3) {
		fprintf(stderr, "usage: delegated DIRECTORY HELD\n");
		return 2;
	}
	if (!is_known(argv[2]))
		return NOT_HERE;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED && !chdir(argv[1]));
	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		ask(argv[2], operations[i].name, operations[i].operation);
	return 0;
}
