// SPDX-License-Identifier: GPL-2.0-only
/*
 * handed.c - calls of a user on a descriptor that root opened, of a file that the user may not open.
 *
 *	handed FILE
 *
 * Run as root: creates and opens the file, then continues as nobody. Prints the outcome of each call, which must be
 * the same on a bare directory and under tapefs. A network file system sends the credentials of the open to its server.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/workload.h"

#define PAGE_BYTES 4096
#define FILE_BYTES (4 * PAGE_BYTES)
#define NOBODY	   65534

static void say(const char *what, long result)
{
	printf("%s: %s\n", what, workload_outcome(result));
}

static void map(const char *what, int fd, int prot, int flags)
{
	char *at = mmap(NULL, FILE_BYTES, prot, flags, fd, 0);

	say(what, at == MAP_FAILED ? -1 : 0);
	if (at == MAP_FAILED)
		return;
	printf("%s: finds %c\n", what, at[PAGE_BYTES]);
	if (prot & PROT_WRITE)
		at[PAGE_BYTES] = 'm';
	say("msync", msync(at, FILE_BYTES, MS_SYNC));
	CHECK(!munmap(at, FILE_BYTES));
}

static void use(int fd, int other)
{
	char bytes[PAGE_BYTES];
	loff_t from = 0, to = 0;
	off_t offset = 0;

	memset(bytes, 'w', sizeof(bytes));
	say("pread", pread(fd, bytes, sizeof(bytes), 0));
	memset(bytes, 'w', sizeof(bytes));
	say("pwrite", pwrite(fd, bytes, sizeof(bytes), PAGE_BYTES));
	say("fsync", fsync(fd));
	map("private mapping", fd, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	map("shared mapping", fd, PROT_READ | PROT_WRITE, MAP_SHARED);
	map("mapping that is read", fd, PROT_READ, MAP_SHARED);
	say("fallocate", fallocate(fd, 0, 0, FILE_BYTES));
	say("ftruncate", ftruncate(fd, FILE_BYTES - 1));
	say("copy_file_range", copy_file_range(fd, &from, other, &to, PAGE_BYTES, 0));
	say("sendfile", sendfile(other, fd, &offset, PAGE_BYTES));
	say("flock", flock(fd, LOCK_EX | LOCK_NB));
	say("lockf", lockf(fd, F_TLOCK, 100));
	say("fchmod", fchmod(fd, 0666));
	say("fchown", fchown(fd, NOBODY, NOBODY));
	say("lseek, SEEK_DATA", lseek(fd, 0, SEEK_DATA));
	say("by /proc/self/fd", open("/proc/self/fd/9", O_RDONLY));
}

static int make(const char *name)
{
	char bytes[FILE_BYTES];
	int fd = open(name, O_CREAT | O_EXCL | O_RDWR, 0600);

	memset(bytes, 'f', sizeof(bytes));
	CHECK(fd >= 0 && write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) && !fsync(fd));
	return fd;
}

int main(int argc, char **argv)
{
	char other[4096];
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: handed FILE\n");
		return 2;
	}
	snprintf(other, sizeof(other), "%s.other", argv[1]);
	fd = make(argv[1]);
	CHECK(dup2(fd, 9) == 9);
	CHECK(!setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY));
	CHECK_ERRNO(open(argv[1], O_RDONLY), EACCES);
	use(9, make(other));
	return 0;
}
