// SPDX-License-Identifier: GPL-2.0-only
/*
 * storm.c - a workload: small files that one process creates, appends to, reads and removes.
 *
 * Resembles Postmark, which simulates a mail server.
 *
 *	storm [--files=N] [--transactions=N] [--seed=N] DIRECTORY
 */
#include <fcntl.h>

#include "../../workloads/workload.h"

#define FILES_MAX 10000

static long files = 300, transactions = 2000, seed = 7;

static const struct workload_option options[] = {
	{ "files", &files, NULL, NULL, "names" },
	{ "transactions", &transactions, NULL, NULL, "operations on a file" },
	{ "seed", &seed, NULL, NULL, "another number, another order" },
	{}
};

static char buffer[16384];
static long size_bytes[FILES_MAX]; /* -1: the file does not exist */

static void append(const char *path, int flags, long file, long bytes)
{
	int fd = open(path, flags, 0644);

	CHECK(fd >= 0);
	CHECK(write(fd, buffer, (size_t)bytes) == bytes);
	CHECK(!close(fd));
	size_bytes[file] += bytes;
}

static void read_all(const char *path, long file)
{
	int fd = open(path, O_RDONLY);
	ssize_t got;
	long sum = 0;

	CHECK(fd >= 0);
	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		sum += got;
	CHECK(!got && sum == size_bytes[file]);
	CHECK(!close(fd));
}

static void transaction(uint64_t *state)
{
	long file = workload_below(state, files), choice = workload_below(state, 4);
	char path[32];

	snprintf(path, sizeof(path), "f%ld", file);
	if (size_bytes[file] < 0) {
		size_bytes[file] = 0;
		append(path, O_CREAT | O_EXCL | O_WRONLY, file, 512 + workload_below(state, 9000));
	} else if (!choice) {
		CHECK(!unlink(path));
		size_bytes[file] = -1;
	} else if (choice == 1) {
		append(path, O_WRONLY | O_APPEND, file, 1 + workload_below(state, 4000));
	} else {
		read_all(path, file);
	}
}

int main(int argc, char **argv)
{
	const char *directory = workload_options(argc, argv, "Small files, as a mail server has them.", options);
	uint64_t state;
	long i;

	CHECK(files > 0 && files <= FILES_MAX);
	CHECK(!chdir(directory));
	state = (uint64_t)seed;
	workload_fill(buffer, sizeof(buffer), seed, 0);
	for (i = 0; i < files; i++)
		size_bytes[i] = -1;
	for (i = 0; i < transactions; i++)
		transaction(&state);
	return 0;
}
