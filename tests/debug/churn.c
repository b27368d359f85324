// SPDX-License-Identifier: GPL-2.0-only
/*
 * churn.c - threads that create, rename, open, map and remove the same few names as fast as possible,
 * so that operations interfere. An error is wrong only if no order of
 * these operations explains it. For the debug kernel, which detects other faults.
 *
 *	churn [--no-memory] THREADS SECONDS DIRECTORY
 *
 * With --no-memory, allocations of the threads, which are named `churning`, may fail, and do if
 * fault injection of the kernel is enabled.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "churning.h"

#define THREADS_MAX 32
#define NAMES	    4 /* of each level: a, b, c, d */

static bool may_lack_memory;
static const char *directory;
static double end_s;
static atomic_ulong done, wrong;

/* Errors that can occur if other threads are faster. */
static bool is_expected(int error)
{
	switch (error) {
	case ENOENT:
	case EEXIST:
	case ENOTEMPTY:
	case ENOTDIR:
	case EISDIR:
	case EINVAL:
	case ENODATA:
	case ELOOP:
	case ENOSPC:
		return true;
	case EPERM: /* link of a directory */
		return true;
	case ENOMEM:
	case ENFILE:
	case EAGAIN:
	case EIO: /* fsync of a file whose write-back lacked memory */
		return may_lack_memory;
	default:
		return false;
	}
}

static long did(const char *what, long result)
{
	atomic_fetch_add(&done, 1);
	if (result < 0 && !is_expected(errno) && atomic_fetch_add(&wrong, 1) < 10)
		fprintf(stderr, "churn: %s: %s\n", what, strerror(errno));
	return result;
}

static const char *directory_name(unsigned int *seed, char *path)
{
	sprintf(path, "%s/%c", directory, 'a' + rand_r(seed) % NAMES);
	return path;
}

static const char *file_name(unsigned int *seed, char *path)
{
	sprintf(path, "%s/%c/%c", directory, 'a' + rand_r(seed) % NAMES,
		'a' + rand_r(seed) % NAMES);
	return path;
}

/* The file remains in use while its name, and the parent directory, are renamed and removed. */
static void use_file(unsigned int *seed, const char *path)
{
	int fd = (int)did("open", open(path, O_CREAT | O_RDWR, 0600));
	char data[4096] = "data";
	struct stat st;
	char *map;

	if (fd < 0)
		return;
	did("write", write(fd, data, sizeof(data)));
	did("fchmod", fchmod(fd, 0600 + rand_r(seed) % 8));
	did("fstat", fstat(fd, &st));
	did("ftruncate", ftruncate(fd, rand_r(seed) % 8192));
	map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (did("mmap", map == MAP_FAILED ? -1 : 0) == 0) {
		if (madvise(map, 4096, MADV_POPULATE_WRITE) && errno != EFAULT)
			did("touch", -1); /* EFAULT: the file was truncated meanwhile */
		munmap(map, 8192);
	}
	did("read", pread(fd, data, sizeof(data), 0));
	did("fsetxattr", fsetxattr(fd, "trusted.k", data, 4, 0));
	if (rand_r(seed) % 8 == 0)
		did("fsync", fsync(fd));
	close(fd);
}

static void read_directory(const char *path)
{
	DIR *dir = opendir(path);

	if (!dir) {
		did("opendir", -1);
		return;
	}
	while (readdir(dir))
		;
	closedir(dir);
	did("closedir", 0);
}

static void step(unsigned int *seed)
{
	char a[4096], b[4096];
	struct stat st;

	switch (rand_r(seed) % 12) {
	case 0:
		did("mkdir", mkdir(directory_name(seed, a), 0700));
		break;
	case 1:
		did("rmdir", rmdir(directory_name(seed, a)));
		break;
	case 2:
		did("rename of a directory", rename(directory_name(seed, a), directory_name(seed, b)));
		break;
	case 3:
	case 4:
		did("rename", rename(file_name(seed, a), file_name(seed, b)));
		break;
	case 5:
		did("exchange", syscall(SYS_renameat2, AT_FDCWD, file_name(seed, a), AT_FDCWD,
					file_name(seed, b), 2));
		break;
	case 6:
		did("unlink", unlink(file_name(seed, a)));
		break;
	case 7:
		did("link", link(file_name(seed, a), file_name(seed, b)));
		break;
	case 8:
		did("stat", stat(file_name(seed, a), &st));
		break;
	case 9:
		did("symlink", symlink(directory_name(seed, a), file_name(seed, b)));
		break;
	case 10:
		read_directory(directory_name(seed, a));
		break;
	default:
		use_file(seed, file_name(seed, a));
	}
}

static void *run(void *argument)
{
	unsigned int seed = (unsigned int)(unsigned long)argument;

	if (may_lack_memory)
		lack_memory();
	while (now_s() < end_s)
		step(&seed);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	unsigned long count, i;

	if (argc > 1 && !strcmp(argv[1], "--no-memory")) {
		may_lack_memory = true;
		argc--;
		argv++;
	}
	if (argc != 4 || atoi(argv[1]) < 1 || atoi(argv[1]) > THREADS_MAX) {
		fputs("usage: churn [--no-memory] THREADS SECONDS DIRECTORY\n", stderr);
		return 2;
	}
	count = (unsigned long)atoi(argv[1]);
	end_s = now_s() + atof(argv[2]);
	directory = argv[3];
	for (i = 0; i < count; i++) {
		while (pthread_create(&threads[i], NULL, run, (void *)(i + 1)))
			if (!may_lack_memory)
				return 1;
	}
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("%lu operations, %lu errors that cannot be\n", done, wrong);
	return wrong > 0;
}
