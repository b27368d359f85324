// SPDX-License-Identifier: GPL-2.0-only
/*
 * verdicts.c - mutated programs to the kernel: its verdict on each must be that of the library.
 *
 *	verdicts PROGRAM...	prints TAP, and on stderr the names of accepted programs
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/iotape.h"
#include "mutate.h"

/* With the operations in memory, or in the file: the same program. */
static int kernel_says(const char *path, u64 resident_bytes, struct iot_reject *reject)
{
	int in = open(path, O_RDONLY | O_CLOEXEC), fd = open(IOT_REPLAY_PATH, O_RDWR | O_CLOEXEC), err;
	struct iot_replay_load load = { .program_fd = in, .resident_bytes = resident_bytes };

	if (in < 0 || fd < 0) {
		perror(path);
		exit(1);
	}
	err = ioctl(fd, IOT_RIOC_LOAD, &load) ? -errno : 0;
	*reject = (struct iot_reject){ .reason = load.reason, .offset_bytes = load.offset_bytes };
	close(in);
	close(fd);
	return err;
}

static int library_says(const char *path, struct iot_reject *reject)
{
	struct iot_program program;
	int err = iot_program_load(path, &program, reject);

	if (!err)
		iot_program_free(&program);
	return err;
}

/*
 * The exact position at which a short program is too short depends on how much of it was examined. Damage that one version of
 * zstd notices is for another one a block with other bytes, which have a wrong checksum.
 */
static bool is_same(const struct iot_reject *a, const struct iot_reject *b)
{
	if (a->reason == IOT_REJECT_packed_block || b->reason == IOT_REJECT_packed_block)
		return true;
	return a->reason == b->reason &&
	       (a->offset_bytes == b->offset_bytes || a->reason == IOT_REJECT_program_short);
}

static int differing, accepted;

static void compare(const char *path, u64 resident_bytes)
{
	struct iot_reject by_library = {}, by_kernel = {};
	int library = library_says(path, &by_library);
	int kernel = kernel_says(path, resident_bytes, &by_kernel);

	if (library != kernel || !is_same(&by_library, &by_kernel)) {
		printf("# %s: library %d, reason %u at %llu; kernel %d, reason %u at %llu\n", path, library,
		       by_library.reason, by_library.offset_bytes, kernel, by_kernel.reason,
		       by_kernel.offset_bytes);
		differing++;
	}
	accepted += !kernel;
	if (!kernel && resident_bytes)
		fprintf(stderr, "%s\n", path);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		compare(argv[i], ~0ull);
		compare(argv[i], 0);
	}
	printf("1..2\n%sok 1 - the kernel says of %d mutated programs what the library says, in memory and not\n",
	       differing ? "not " : "", argc - 1);
	printf("%sok 2 - of them it accepts %d, and refuses the others\n",
	       accepted && accepted / 2 < argc - 1 ? "" : "not ", accepted / 2);
	return 0;
}
