// SPDX-License-Identifier: GPL-2.0-only
/*
 * mutate.c - random mutations, and the framework of a fuzzer.
 */
#include "mutate.h"

#include <errno.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define INPUT_TIME_S 20 /* thousands of times the normal duration */

void rng_seed(struct rng *rng, u64 seed)
{
	rng->state = (seed + 1) * 0x9e3779b97f4a7c15ull;
	rng_next(rng);
	rng_next(rng);
}

u64 rng_next(struct rng *rng)
{
	rng->state ^= rng->state << 13;
	rng->state ^= rng->state >> 7;
	rng->state ^= rng->state << 17;
	return rng->state * 0x2545f4914f6cdd1dull;
}

u64 rng_below(struct rng *rng, u64 limit)
{
	return limit ? (rng_next(rng) >> 11) % limit : 0;
}

bool rng_one_in(struct rng *rng, u64 n)
{
	return rng_below(rng, n) == 0;
}

u64 mutate_number(struct rng *rng, u64 old)
{
	static const u64 limits[] = {
		0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000,
		0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
		0x8000000000000000, ~0ull, ~0ull - 7,
	};

	switch (rng_below(rng, 6)) {
	case 0:
		return old + rng_below(rng, 5) - 2;
	case 1:
		return limits[rng_below(rng, ARRAY_SIZE(limits))];
	case 2:
		return rng_below(rng, 12);
	case 3:
		return old ^ 1ull << rng_below(rng, 64);
	case 4:
		return rng_one_in(rng, 2) ? old * 2 : old / 2;
	default:
		return rng_next(rng) >> rng_below(rng, 64);
	}
}

void mutate_field(struct rng *rng, void *field, size_t bytes)
{
	__le64 raw = 0;
	u64 value;

	memcpy(&raw, field, bytes);
	value = mutate_number(rng, le64_to_cpu(raw));
	if (rng_one_in(rng, 8)) /* relative to the limits of its own width */
		value = ~0ull >> (64 - 8 * bytes) >> rng_below(rng, 2);
	raw = cpu_to_le64(value);
	memcpy(field, &raw, bytes);
}

void mutate_bytes(struct rng *rng, u8 *bytes, size_t count)
{
	size_t at = rng_below(rng, count), length = 1 + rng_below(rng, 8);

	if (!count)
		return;
	switch (rng_below(rng, 4)) {
	case 0:
		bytes[at] ^= (u8)(1u << rng_below(rng, 8));
		break;
	case 1:
		bytes[at] = (u8)rng_next(rng);
		break;
	case 2:
		while (length-- && at < count)
			bytes[at++] = (u8)rng_next(rng);
		break;
	default:
		if (length > count - at)
			length = count - at;
		memmove(bytes + at, bytes + rng_below(rng, count - length + 1), length);
	}
}

/* -- the run -------------------------------------------------------------------------------- */

int fuzz_options(int argc, char **argv, struct fuzz_options *options)
{
	int i;

	*options = (struct fuzz_options){ .seed = 1, .count = 1000 };
	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strncmp(argv[i], "--seed=", 7))
			options->seed = strtoull(argv[i] + 7, NULL, 10);
		else if (!strncmp(argv[i], "--count=", 8))
			options->count = strtoull(argv[i] + 8, NULL, 10);
		else if (!strncmp(argv[i], "--keep=", 7))
			options->keep = argv[i] + 7;
		else
			break;
	}
	return i;
}

void fuzz_keep(const struct fuzz_options *options, u64 seed, const void *bytes, size_t count)
{
	char path[4096];
	FILE *out;

	if (!options->keep)
		return;
	snprintf(path, sizeof(path), "%s/%llu", options->keep, (unsigned long long)seed);
	out = fopen(path, "we");
	if (!out || fwrite(bytes, 1, count, out) != count || fclose(out)) {
		perror(path);
		exit(1);
	}
}

static volatile u64 seed_now;

static void report_seed(void)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "# with --seed=%llu --count=1\n", (unsigned long long)seed_now);

	if (write(STDERR_FILENO, text, (size_t)n) != n)
		_exit(1);
}

static void on_alarm(int signal)
{
	static const char text[] = "# an input takes too long\n";

	(void)signal;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) > 0)
		report_seed();
	_exit(1);
}

void fuzz_begin(u64 seed)
{
	static bool is_ready;

	if (!is_ready) {
		__sanitizer_set_death_callback(report_seed);
		signal(SIGALRM, on_alarm);
		is_ready = true;
	}
	seed_now = seed;
	alarm(INPUT_TIME_S);
}

static const char *name_of(u32 reason)
{
	switch (reason) {
#define NAME_CASE(id, name, error, sentence) \
	case id:                             \
		return #name;
		IOT_REJECTS(NAME_CASE)
#undef NAME_CASE
	default:
		return NULL;
	}
}

void tally_add(struct tally *tally, int err, const struct iot_reject *reject)
{
	tally->count++;
	if (!err)
		tally->accepted++;
	else if (reject->reason < REASONS_MAX && name_of(reject->reason))
		tally->reasons[reject->reason]++;
	else
		tally->unexplained++;
}

int tally_report(const struct tally *tally, u32 first, u32 last, const u32 *unreachable)
{
	u32 missing = 0, reason;

	alarm(0);
	printf("1..3\nok 1 - %llu mutated %s are read or refused\n# %llu accepted\n",
	       (unsigned long long)tally->count, tally->what, (unsigned long long)tally->accepted);
	for (reason = 0; reason < REASONS_MAX; reason++) {
		const u32 *skip = unreachable;

		if (tally->reasons[reason])
			printf("# %llu refused: %s\n", (unsigned long long)tally->reasons[reason],
			       name_of(reason));
		while (skip && *skip && *skip != reason)
			skip++;
		if (reason < first || reason > last || !name_of(reason) || (skip && *skip) || tally->reasons[reason])
			continue;
		printf("# never: %s\n", name_of(reason));
		missing++;
	}
	if (!tally->accepted)
		missing++;
	printf("%sok 2 - mutated %s %s\n", missing ? "not " : "", tally->what,
	       last ? "reach every reason to refuse them, and some pass" : "pass sometimes");
	printf("# %llu without a reason\n%sok 3 - mutated %s are refused with a reason\n",
	       (unsigned long long)tally->unexplained, tally->unexplained ? "not " : "",
	       tally->what);
	return missing || tally->unexplained ? 1 : 0;
}
