// SPDX-License-Identifier: GPL-2.0-only
/*
 * spill.c - a workload: temporary files without a name, as tmpfile(3) makes them, are written, read and closed.
 *
 * The close frees their space.
 *
 *	spill [--files=N] [--mib=N] DIRECTORY
 */
#include <fcntl.h>

#include "../../workloads/workload.h"

#define BLOCK (64L << 10)

static long files = 12, file_mib = 8;

static const struct workload_option options[] = {
	{ "files", &files, NULL, NULL, "number of files" },
	{ "mib", &file_mib, NULL, NULL, "size of each" },
	{}
};

static int open_nameless(const char *directory)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/spill", directory);
	fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	CHECK(fd >= 0);
	CHECK(!unlink(path));
	return fd;
}

static void use(const char *directory, long number)
{
	static char block[BLOCK];
	long count = (file_mib << 20) / BLOCK, i;
	int fd = open_nameless(directory);

	for (i = 0; i < count; i++) {
		workload_fill(block, BLOCK, number, i * BLOCK);
		CHECK(write(fd, block, BLOCK) == BLOCK);
	}
	for (i = 0; i < count; i++)
		CHECK(pread(fd, block, BLOCK, i * BLOCK) == BLOCK);
	CHECK(workload_is(block, 64, number, (count - 1) * BLOCK));
	CHECK(!close(fd));
}

int main(int argc, char **argv)
{
	const char *directory = workload_options(argc, argv, "Temporary files without a name.", options);
	long i;

	for (i = 0; i < files; i++)
		use(directory, i);
	return 0;
}
