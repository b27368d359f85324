// SPDX-License-Identifier: GPL-2.0-only
/*
 * many.c - for tests/soak/scale: many tasks, names or mounts.
 *
 *	many tasks DIR COUNT	processes that create a file each, at most ALIVE at a time
 *	many names DIR COUNT	as many names are looked up, DIRECTORY_NAMES in each directory; none of these files exists
 *	many mounts DIR COUNT	as many directories get a mount of tapefs each, and a file
 *	many unmounts DIR COUNT	these mounts are removed
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALIVE		200
#define DIRECTORY_NAMES 10000

static void join(void)
{
	int status;

	if (wait(&status) < 0 || status)
		errx(1, "a child failed");
}

static void make_tasks(unsigned long count)
{
	unsigned long i;
	char path[32];
	pid_t child;

	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%lu", i % 1000);
		if (i >= ALIVE)
			join();
		child = fork();
		if (child < 0)
			err(1, "fork");
		if (!child) {
			int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);

			_exit(fd < 0 || write(fd, "x", 1) != 1);
		}
	}
	for (i = 0; i < (count < ALIVE ? count : ALIVE); i++)
		join();
}

static void look_up_names(unsigned long count)
{
	struct stat st;
	unsigned long i;
	char path[48];

	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%lu", i / DIRECTORY_NAMES);
		if (i % DIRECTORY_NAMES == 0 && mkdir(path, 0755))
			err(1, "%s", path);
		snprintf(path, sizeof(path), "%lu/%lu", i / DIRECTORY_NAMES, i);
		if (!stat(path, &st) || errno != ENOENT)
			err(1, "%s", path);
	}
}

static void make_mounts(unsigned long count)
{
	unsigned long i;
	char path[32];
	int fd;

	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%lu", i);
		if (mkdir(path, 0755) || mount(path, path, "tapefs", 0, NULL))
			err(1, "%s", path);
		snprintf(path, sizeof(path), "%lu/file", i);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (fd < 0)
			err(1, "%s", path);
		close(fd);
	}
}

static void remove_mounts(unsigned long count)
{
	char path[32];

	while (count--) {
		snprintf(path, sizeof(path), "%lu", count);
		if (umount(path))
			err(1, "%s", path);
	}
}

int main(int argc, char **argv)
{
	unsigned long count = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;

	if (!count || chdir(argv[2]))
		errx(2, "usage: many tasks|names|mounts|unmounts DIR COUNT");
	if (!strcmp(argv[1], "tasks"))
		make_tasks(count);
	else if (!strcmp(argv[1], "names"))
		look_up_names(count);
	else if (!strcmp(argv[1], "mounts"))
		make_mounts(count);
	else
		remove_mounts(count);
	return 0;
}
