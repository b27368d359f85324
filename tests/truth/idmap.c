// SPDX-License-Identifier: GPL-2.0-only
/*
 * idmap.c - creates an idmapped mount of a directory.
 *
 *	idmap FROM TO ID SEEN COUNT
 *
 * At TO, the COUNT users and groups from ID on appear as those from SEEN on; all others are unmapped.
 * The kernel takes the mapping from a user namespace, which needs no member.
 */
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "workloads/workload.h"

static void write_map(pid_t pid, const char *what, char **ids)
{
	char name[64], line[64];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/%s", pid, what);
	snprintf(line, sizeof(line), "%s %s %s", ids[0], ids[1], ids[2]);
	fd = open(name, O_WRONLY);
	CHECK(fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line) && !close(fd));
}

/* A process in a user namespace of its own, which lives until the namespace is open. */
static int namespace_of(char **ids)
{
	char name[64], byte;
	int ready[2], fd;
	pid_t pid;

	CHECK(!pipe(ready));
	pid = fork();
	if (!pid) {
		CHECK(!unshare(CLONE_NEWUSER) && write(ready[1], "", 1) == 1);
		pause();
		_exit(0);
	}
	CHECK(pid > 0 && read(ready[0], &byte, 1) == 1);
	write_map(pid, "uid_map", ids);
	write_map(pid, "gid_map", ids);
	snprintf(name, sizeof(name), "/proc/%d/ns/user", pid);
	fd = open(name, O_RDONLY);
	CHECK(fd >= 0 && !kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
	return fd;
}

int main(int argc, char **argv)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP };
	int fd;

	if (argc != 6) {
		fprintf(stderr, "usage: idmap FROM TO ID SEEN COUNT\n");
		return 2;
	}
	attr.userns_fd = (unsigned long long)namespace_of(argv + 3);
	fd = (int)syscall(SYS_open_tree, AT_FDCWD, argv[1], OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(!syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)));
	CHECK(!syscall(SYS_move_mount, fd, "", AT_FDCWD, argv[2], MOVE_MOUNT_F_EMPTY_PATH));
	return 0;
}
