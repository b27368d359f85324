// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - makes each system call once, on files of a directory.
 *
 *	calls DIRECTORY
 *
 * The directory has a subdirectory `old` with files that tests/truth/table creates.
 */
#include <limits.h>

#include "calls.h"

char directory[PATH_MAX];
int directory_fd;

int main(int argc, char **argv)
{
	if (argc != 2 || !realpath(argv[1], directory) || chdir(directory)) {
		fprintf(stderr, "usage: calls DIRECTORY\n");
		return 2;
	}
	directory_fd = open(".", O_PATH | O_CLOEXEC);
	umask(022);
	calls_of_names();
	calls_of_attributes();
	calls_of_files();
	calls_of_requests();
	calls_of_maps();
	calls_of_processes();
	return 0;
}
