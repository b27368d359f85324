// SPDX-License-Identifier: GPL-2.0-only
/*
 * lease.c - holds a lease on a file until another process wants to change the file; then prints the length of the file
 * and releases the lease.
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
