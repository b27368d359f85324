// SPDX-License-Identifier: GPL-2.0-only
/*
 * verdicts.c - mutated programs to the kernel: it must say of each what the library says.
 *
 *	verdicts PROGRAM...	prints TAP, and on stderr the names of those that are accepted
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

/* In pieces, because a program may come in any. */
static int write_pieces(int fd, const u8 *bytes, size_t count, struct rng *rng)
{
	while (count) {
		size_t piece = rng_one_in(rng, 2) ? count : 1 + rng_below(rng, count);
		ssize_t n = write(fd, bytes, piece);

		if (n < 0)
			return -errno;
		bytes += n;
		count -= (size_t)n;
	}
	return 0;
}

static int kernel_says(const char *path, struct rng *rng, struct iot_reject *reject)
{
	static u8 bytes[1 << 20];
	struct iot_replay_load load = {};
	int in = open(path, O_RDONLY | O_CLOEXEC), fd = open(IOT_REPLAY_PATH, O_RDWR | O_CLOEXEC), err;
	ssize_t count = read(in, bytes, sizeof(bytes));

	if (in < 0 || fd < 0 || count < 0) {
		perror(path);
		exit(1);
	}
	err = write_pieces(fd, bytes, (size_t)count, rng);
	if (!err && ioctl(fd, IOT_RIOC_LOAD, &load))
		err = -errno;
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

/* Where exactly a short program is too short depends on how much of it was looked at. */
static bool is_same(const struct iot_reject *a, const struct iot_reject *b)
{
	return a->reason == b->reason &&
	       (a->offset_bytes == b->offset_bytes || a->reason == IOT_REJECT_program_short);
}

int main(int argc, char **argv)
{
	int differing = 0, accepted = 0, i;
	struct rng rng;

	rng_seed(&rng, 1);
	for (i = 1; i < argc; i++) {
		struct iot_reject by_library = {}, by_kernel = {};
		int library = library_says(argv[i], &by_library);
		int kernel = kernel_says(argv[i], &rng, &by_kernel);

		if (kernel == -EFBIG && by_library.reason == IOT_REJECT_program_short)
			continue; /* it says that it is longer than this machine could hold */
		if (library != kernel || !is_same(&by_library, &by_kernel)) {
			printf("# %s: library %d, reason %u at %llu; kernel %d, reason %u at %llu\n",
			       argv[i], library, by_library.reason, by_library.offset_bytes, kernel,
			       by_kernel.reason, by_kernel.offset_bytes);
			differing++;
		}
		if (!kernel) {
			fprintf(stderr, "%s\n", argv[i]);
			accepted++;
		}
	}
	printf("1..2\n%sok 1 - the kernel says of %d mutated programs what the library says\n",
	       differing ? "not " : "", argc - 1);
	printf("%sok 2 - of them it accepts %d, and refuses the others\n",
	       accepted && accepted < argc - 1 ? "" : "not ", accepted);
	return 0;
}
