// SPDX-License-Identifier: GPL-2.0-only
/*
 * packed.c - mutated compressed programs through the two readers of the library.
 *
 *	packed [OPTION]... PROGRAM...	see fuzz_options()
 *
 * A program that is as it was compressed must be accepted. Of all others, both readers say the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/crc32c.h"
#include "core/replay/packed.h"
#include "lib/iotape.h"
#include "lib/packer.h"
#include "mutate.h"

#define SEEDS_MAX 64

static struct iot_program seeds[SEEDS_MAX];
static size_t seed_count;

static int input_fd;
static char input_path[64];

static void check(bool is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "# a compressed program: %s\n", what);
	abort();
}

/* Return: the compressed bytes; with first_bytes of any kind. */
static u8 *pack(struct rng *rng, const struct iot_program *program, size_t *count)
{
	struct iot_part part = { .fd = input_fd };
	struct packer *packer;
	u8 *bytes;

	check(!ftruncate(input_fd, 0), "has a file");
	check(!packer_open(&part, program->byte_count, rng_below(rng, 10000), &packer), "is begun");
	check(!packer_add(packer, program->bytes, program->byte_count), "is made");
	check(!packer_end(packer), "is ended");
	packer_close(packer);
	*count = (size_t)lseek(input_fd, 0, SEEK_END);
	bytes = malloc(*count);
	check(pread(input_fd, bytes, *count, 0) == (ssize_t)*count, "is read");
	return bytes;
}

static void mutate_head(struct rng *rng, struct iot_packed_head *head)
{
	static const u8 places[][2] = { { 0, 8 }, { 8, 2 }, { 10, 2 }, { 12, 4 }, { 16, 4 }, { 20, 4 }, { 24, 8 }, { 32, 4 } };
	size_t i = rng_below(rng, ARRAY_SIZE(places));

	mutate_field(rng, (u8 *)head + places[i][0], places[i][1]);
	head->head_crc = cpu_to_le32(iot_crc32c(0, head, offsetof(struct iot_packed_head, head_crc)));
}

static u64 index_of(const u8 *bytes, size_t count)
{
	return iot_packed_index((const struct iot_packed_head *)bytes, count);
}

/* The length of a block, and sometimes that of the next one so that their sum stays. */
static void mutate_length(struct rng *rng, u8 *bytes, size_t count)
{
	u64 blocks = iot_packed_count((const struct iot_packed_head *)bytes);
	u64 block = rng_below(rng, blocks), index = index_of(bytes, count);
	__le32 *lengths = (__le32 *)(bytes + index), old[2] = {};

	if (index % sizeof(*lengths)) /* not aligned: a copy would be needed */
		return mutate_bytes(rng, bytes + index, count - (size_t)index);
	memcpy(old, &lengths[block], sizeof(*old));
	mutate_field(rng, &lengths[block], sizeof(*lengths));
	if (block + 1 < blocks && rng_one_in(rng, 2))
		lengths[block + 1] = cpu_to_le32(le32_to_cpu(lengths[block + 1]) + le32_to_cpu(old[0]) -
						 le32_to_cpu(lengths[block]));
}

/* Return: the new length. */
static size_t mutate(struct rng *rng, u8 *bytes, size_t count)
{
	size_t begin = sizeof(struct iot_packed_head), end = (size_t)index_of(bytes, count);

	switch (rng_below(rng, 8)) {
	case 0:
		mutate_head(rng, (struct iot_packed_head *)bytes);
		return count;
	case 1:
		mutate_length(rng, bytes, count);
		return count;
	case 2:
		mutate_bytes(rng, bytes, count);
		return count;
	case 3:
		return rng_below(rng, count);
	case 4:
		return count;
	default:
		mutate_bytes(rng, bytes + begin, end - begin);
		return count;
	}
}

/* Both readers, as they are used: all of it in memory, or operations and waits in the file. */
static int feed(const u8 *bytes, size_t count, struct iot_reject *reject)
{
	struct iot_reject streamed_reject = {};
	struct iot_program loaded, streamed;
	int err, streamed_err;

	check(!ftruncate(input_fd, 0) && pwrite(input_fd, bytes, count, 0) == (ssize_t)count, "is written");
	err = iot_program_load(input_path, &loaded, reject);
	streamed_err = iot_program_stream(input_path, 0, &streamed, &streamed_reject);
	check(err == streamed_err, "is refused by one reader only");
	if (!err) {
		iot_program_free(&loaded);
		iot_program_free(&streamed);
	}
	return err;
}

static int open_input(void)
{
	input_fd = memfd_create("input", 0);
	snprintf(input_path, sizeof(input_path), "/proc/self/fd/%d", input_fd);
	return input_fd < 0 ? -1 : 0;
}

static int add_seed(const char *path)
{
	struct iot_reject reject;

	return seed_count == SEEDS_MAX || iot_program_load(path, &seeds[seed_count++], &reject) ? -1 : 0;
}

/* Reasons that a compressed program can have by itself, in order; those in between are counted by programs.c. */
static bool has_reasons(const struct tally *tally)
{
	static const u32 wanted[] = { IOT_REJECT_program_magic, IOT_REJECT_program_short, IOT_REJECT_program_major,
				      IOT_REJECT_reserved,	IOT_REJECT_packed_head,	  IOT_REJECT_packed_index,
				      IOT_REJECT_packed_block };
	bool has = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (tally->reasons[wanted[i]])
			continue;
		printf("# reason %u did not occur\n", wanted[i]);
		has = false;
	}
	return has;
}

int main(int argc, char **argv)
{
	struct tally tally = { .what = "compressed programs" };
	struct fuzz_options options;
	struct rng rng;
	u64 seed;
	int i;

	for (i = fuzz_options(argc, argv, &options); i < argc; i++)
		if (add_seed(argv[i])) {
			fprintf(stderr, "packed: %s: cannot be read\n", argv[i]);
			return 1;
		}
	if (!seed_count || open_input())
		return 2;
	for (seed = options.seed; seed < options.seed + options.count; seed++) {
		struct iot_reject reject = {};
		size_t count;
		u8 *bytes;

		fuzz_begin(seed);
		rng_seed(&rng, seed);
		bytes = pack(&rng, &seeds[rng_below(&rng, seed_count)], &count);
		check(!feed(bytes, count, &reject), "is refused though it was not changed");
		count = mutate(&rng, bytes, count);
		fuzz_keep(&options, seed, bytes, count);
		reject = (struct iot_reject){};
		tally_add(&tally, feed(bytes, count, &reject), &reject);
		free(bytes);
	}
	while (seed_count)
		iot_program_free(&seeds[--seed_count]);
	printf("1..2\n%sok 1 - every refused compressed program has a reason, of %llu\n%sok 2 - each reason occurs\n",
	       tally.unexplained ? "not " : "", tally.count, has_reasons(&tally) ? "" : "not ");
	return tally.unexplained || !has_reasons(&tally);
}
