// SPDX-License-Identifier: GPL-2.0-only
/*
 * lease.c - has a lease on a file until somebody wants to change the file; prints how long the file is then, and gives
 * the lease back.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1, number;
	struct stat now;
	sigset_t wanted;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGIO);
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	if (fd < 0 || fcntl(fd, F_SETLEASE, F_RDLCK)) {
		perror("lease");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	if (sigwait(&wanted, &number) || fstat(fd, &now))
		return 1;
	printf("%lld\n", (long long)now.st_size);
	fflush(stdout);
	return fcntl(fd, F_SETLEASE, F_UNLCK) ? 1 : 0;
}
