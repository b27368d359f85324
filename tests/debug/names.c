// SPDX-License-Identifier: GPL-2.0-only
/*
 * names.c - threads that create one name after the other, all of them the same name at once, while others
 * open it or look it up; the files that they get must have that name. In addition, a few
 * names are created, renamed and removed. For the debug kernel, which detects other faults.
 *
 *	names [--no-memory] THREADS SECONDS DIRECTORY [BELOW]
 *
 * BELOW is the same directory, without tapefs, in which names are created, too. --no-memory: as in churn.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "churning.h"

#define THREADS_MAX 32
#define MOVED	    3 /* names that are renamed and removed */

static bool may_lack_memory;
static unsigned long threads_count;
static const char *directories[2]; /* the second one is NULL without BELOW */
static double end_s;
static atomic_ulong turns, made, found, wrong;

static void complain(const char *what, const char *name, const char *why)
{
	if (atomic_fetch_add(&wrong, 1) < 10)
		fprintf(stderr, "names: %s %s: %s\n", what, name, why);
}

/* ENOENT and EEXIST can result from other threads. */
static bool did(const char *what, const char *name, long result)
{
	bool is_memory = errno == ENOMEM || errno == ENFILE;

	if (result >= 0)
		return true;
	if (errno != ENOENT && errno != EEXIST && !(is_memory && may_lack_memory))
		complain(what, name, strerror(errno));
	return false;
}

/*
 * A file opened by a name that is never removed must have that name: an open that created it, and then had no
 * memory to open it, removes it only if no other task has it open.
 */
static void check_name(const char *what, int fd, const char *name)
{
	char link[40], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0) {
		did("readlink", name, -1);
		return;
	}
	path[length] = 0;
	if (strcmp(strrchr(path, '/') + 1, strrchr(name, '/') + 1))
		complain(what, name, path);
}

static void open_name(const char *what, const char *name, int flags, bool is_to_stay)
{
	int fd = open(name, flags, 0600);

	if (!did(what, name, fd))
		return;
	atomic_fetch_add(flags & O_CREAT ? &made : &found, 1);
	if (is_to_stay)
		check_name(what, fd, name);
	close(fd);
}

/* A file that is created above or below, or only looked up, and never removed. */
static void use_file(unsigned int *seed, const char *name, const char *below)
{
	struct stat st;

	switch (rand_r(seed) % 6) {
	case 0:
		open_name("make", name, O_CREAT | O_RDWR, true);
		break;
	case 1:
		open_name("make anew", name, O_CREAT | O_EXCL | O_RDWR, true);
		break;
	case 2:
		if (below) {
			open_name("make below", below, O_CREAT | O_RDWR, true);
			break;
		} /* fall through */
	case 3:
		did("stat", name, stat(name, &st));
		break;
	default:
		open_name("open", name, O_RDONLY, true);
	}
}

static void use_directory(unsigned int *seed, const char *name, const char *below)
{
	switch (rand_r(seed) % 4) {
	case 0:
		did("mkdir", name, mkdir(name, 0700));
		break;
	case 1:
		if (below) {
			did("mkdir below", below, mkdir(below, 0700));
			break;
		} /* fall through */
	case 2:
		open_name("open any", name, O_RDONLY, true);
		break;
	default:
		open_name("open", name, O_RDONLY | O_DIRECTORY, true);
	}
}

static void move(unsigned int *seed)
{
	char a[PATH_MAX], b[PATH_MAX];

	snprintf(a, sizeof(a), "%s/moved.%d", directories[0], rand_r(seed) % MOVED);
	snprintf(b, sizeof(b), "%s/moved.%d", directories[0], rand_r(seed) % MOVED);
	switch (rand_r(seed) % 5) {
	case 0:
		did("rename", a, rename(a, b));
		break;
	case 1:
		did("exchange", a, syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 2));
		break;
	case 2:
		did("unlink", a, unlink(a));
		break;
	case 3:
		did("link", a, link(a, b));
		break;
	default:
		open_name("make moved", a, O_CREAT | O_RDWR, false);
	}
}

/* Each name is used once by each thread, so that it is new to all threads. */
static void step(unsigned int *seed)
{
	unsigned long round = atomic_fetch_add(&turns, 1) / (2 * threads_count);
	char names[2][PATH_MAX];
	int i;

	for (i = 0; i < 2; i++)
		snprintf(names[i], sizeof(names[i]), "%s/name.%lu", directories[i] ?: "", round);
	if (round % 4)
		use_file(seed, names[0], directories[1] ? names[1] : NULL);
	else
		use_directory(seed, names[0], directories[1] ? names[1] : NULL);
	if (rand_r(seed) % 4 == 0)
		move(seed);
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
	unsigned long i;

	if (argc > 1 && !strcmp(argv[1], "--no-memory")) {
		may_lack_memory = true;
		argc--;
		argv++;
	}
	if (argc < 4 || argc > 5 || atoi(argv[1]) < 1 || atoi(argv[1]) > THREADS_MAX) {
		fputs("usage: names [--no-memory] THREADS SECONDS DIRECTORY [BELOW]\n", stderr);
		return 2;
	}
	threads_count = (unsigned long)atoi(argv[1]);
	end_s = now_s() + atof(argv[2]);
	directories[0] = argv[3];
	directories[1] = argv[4];
	for (i = 0; i < threads_count; i++) {
		while (pthread_create(&threads[i], NULL, run, (void *)(i + 1)))
			if (!may_lack_memory)
				return 1;
	}
	for (i = 0; i < threads_count; i++)
		pthread_join(threads[i], NULL);
	printf("%lu names, %lu opens that make, %lu that find, %lu wrong\n",
	       turns / (2 * threads_count), made, found, wrong);
	return wrong > 0 || !made || !found;
}
