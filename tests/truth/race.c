// SPDX-License-Identifier: GPL-2.0-only
/*
 * race.c - creates a name in one directory while the same name is created and removed in another directory.
 *
 *	race ABOVE BELOW ROUNDS
 *
 * An open with O_CREAT and without O_EXCL must never fail with EEXIST or
 * ESTALE. Exit code: 0 if no open failed, 1 otherwise.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void make_and_remove(const char *dir)
{
	if (chdir(dir))
		_exit(1);
	for (;;) {
		close(open("name", O_CREAT | O_WRONLY, 0600));
		unlink("name");
	}
}

int main(int argc, char **argv)
{
	long rounds = argc == 4 ? atol(argv[3]) : 0, failed = 0, i;
	int err = 0, fd;
	pid_t pid;

	if (!rounds || chdir(argv[1])) {
		fprintf(stderr, "usage: race ABOVE BELOW ROUNDS\n");
		return 2;
	}
	pid = fork();
	if (!pid)
		make_and_remove(argv[2]);
	for (i = 0; i < rounds; i++) {
		fd = open("name", O_CREAT | O_RDWR, 0600);
		if (fd < 0) {
			err = errno;
			failed++;
		}
		close(fd);
		if (i % 3 == 0)
			unlink("name");
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (failed)
		printf("race: %ld of %ld failed, the last with %s\n", failed, rounds, strerrorname_np(err));
	return failed != 0;
}
