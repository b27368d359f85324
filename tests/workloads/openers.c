// SPDX-License-Identifier: GPL-2.0-only
/*
 * openers.c - a workload: processes that open the same names concurrently, with O_CREAT only.
 *
 * The first of them creates each file; all write to it, and all find it by its name.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "workload.h"

#define OPENERS 4

static long files = 200;

static const struct workload_option options[] = {
	{ .name = "files", .value = &files, .sentence = "how many files are made (default: 200)" },
	{}
};

/* An open file has the name by which it was opened, and is not deleted. */
static bool has_name(int fd, const char *name)
{
	char link[32], path[PATH_MAX];
	const char *last;
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	CHECK(length > 0);
	path[length] = 0;
	last = strrchr(path, '/');
	return last && !strcmp(last + 1, name);
}

static void open_all(int opener)
{
	char name[32];
	long i;
	int fd;

	for (i = 0; i < files; i++) {
		snprintf(name, sizeof(name), "file.%ld", i);
		fd = open(name, O_WRONLY | O_CREAT, 0600);
		CHECK(fd >= 0);
		CHECK(pwrite(fd, "x", 1, opener) == 1);
		CHECK(has_name(fd, name));
		CHECK(!close(fd));
	}
}

int main(int argc, char **argv)
{
	const char *directory = workload_options(argc, argv, "Names that several open at once.", options);
	int start[2], opener, status;
	char name[32];
	struct stat stat;
	pid_t pid;
	char c;

	CHECK(!chdir(directory));
	CHECK(!pipe(start));
	for (opener = 0; opener < OPENERS; opener++) {
		pid = fork();
		CHECK(pid >= 0);
		if (pid)
			continue;
		close(start[1]);
		CHECK(!read(start[0], &c, 1)); /* until all processes are ready */
		open_all(opener);
		_exit(0);
	}
	close(start[1]);
	while (wait(&status) > 0)
		CHECK(!status);
	snprintf(name, sizeof(name), "file.%ld", files - 1);
	CHECK(!lstat(name, &stat) && stat.st_size == OPENERS);
	printf("%ld files\n", files);
	return 0;
}
