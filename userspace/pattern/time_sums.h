/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * time_sums.h - exact sums of lengths of time: mean and deviation do not depend on the order in which they were added.
 */
#ifndef IOTAPE_PATTERN_TIME_SUMS_H
#define IOTAPE_PATTERN_TIME_SUMS_H

#include "times.h"

/**
 * struct wide - a number of 192 bits, the lowest first: 2^40 squares of 2^62 ns fit
 */
struct wide {
	u64 limbs[3];
};

/**
 * struct time_sums - of lengths of time
 * @sum: of them, in ns
 * @squares: of their squares
 */
struct time_sums {
	struct wide sum;
	struct wide squares;
};

/**
 * struct run_sums - of a run of operations
 */
struct run_sums {
	struct time_sums think;
	struct time_sums duration;
};

void time_sums_add(struct time_sums *sums, u64 ns);
void time_sums_join(struct time_sums *sums, const struct time_sums *others);
bool time_sums_fit(const struct time_sums *sums, const struct times *times);
void time_sums_set(const struct time_sums *sums, struct times *times);
void time_sums_put(struct bytes *bytes, const struct time_sums *sums);
void time_sums_get(struct input *in, struct time_sums *sums);

#endif
