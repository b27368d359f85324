// SPDX-License-Identifier: GPL-2.0-only
/*
 * unnamed.c - creates unnamed files (O_TMPFILE), links each to a name, and closes it.
 *
 *	unnamed DIRECTORY COUNT
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int make(const char *directory, int number)
{
	char link[64], path[4096];
	int fd = open(directory, O_TMPFILE | O_WRONLY, 0600), err;

	if (fd < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	snprintf(path, sizeof(path), "%s/unnamed.%d", directory, number);
	err = linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
	close(fd);
	return err;
}

int main(int argc, char **argv)
{
	int number;

	if (argc != 3) {
		fprintf(stderr, "usage: unnamed DIRECTORY COUNT\n");
		return 2;
	}
	for (number = 0; number < atoi(argv[2]); number++)
		if (make(argv[1], number)) {
			perror("unnamed");
			return 1;
		}
	return 0;
}
