/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mutate.h - reproducible random mutations, and functions shared by the fuzzers.
 */
#ifndef IOTAPE_TEST_MUTATE_H
#define IOTAPE_TEST_MUTATE_H

#include <iotape/reject.h>

#include "core/port.h"

/* -- random numbers: xorshift, from a seed ------------------------------------------------ */

struct rng {
	u64 state;
};

void rng_seed(struct rng *rng, u64 seed);
u64 rng_next(struct rng *rng);
u64 rng_below(struct rng *rng, u64 limit); /* 0 if @limit is 0 */
bool rng_one_in(struct rng *rng, u64 n);

/* A number near the old one, a limit, a small number, or any. */
u64 mutate_number(struct rng *rng, u64 old);
/* The same for a little-endian number of 1, 2, 4 or 8 bytes in memory. */
void mutate_field(struct rng *rng, void *field, size_t bytes);
/* A bit, a byte, or a few of them. */
void mutate_bytes(struct rng *rng, u8 *bytes, size_t count);

/* -- the run -------------------------------------------------------------------------------- */

#define REASONS_MAX 256

struct tally {
	const char *what; /* "traces" */
	u64 count;
	u64 accepted;
	u64 unexplained; /* refused without a reason */
	u64 reasons[REASONS_MAX];
};

/*
 * --seed=N	seed of the first input; each further input has the next seed
 * --count=N	number of inputs
 * --keep=DIR	write each input to DIR/SEED
 */
struct fuzz_options {
	u64 seed;
	u64 count;
	const char *keep;
};

/* Return: index of the first argument after the options. */
int fuzz_options(int argc, char **argv, struct fuzz_options *options);

/* Write an input to a file, if requested. */
void fuzz_keep(const struct fuzz_options *options, u64 seed, const void *bytes, size_t count);

/* Called before each input: if it crashes or takes too long, its seed is printed. */
void fuzz_begin(u64 seed);

void tally_add(struct tally *tally, int err, const struct iot_reject *reject);

/* Print TAP: all inputs behaved well, and all reasons from @first to @last occurred. */
int tally_report(const struct tally *tally, u32 first, u32 last, const u32 *unreachable);

#endif
