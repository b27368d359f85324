/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * times.h - how long the operations of a run took, and how long the task thought before each, in all iterations and on all
 * ranks.
 */
#ifndef IOTAPE_PATTERN_TIMES_H
#define IOTAPE_PATTERN_TIMES_H

#include "vector.h"

#define TIMES_BINS 65

/**
 * struct times - lengths of time
 * @count: of them
 * @min_ns, @max_ns: the shortest and the longest
 * @mean_ns: of all
 * @squares: sum of the squares of differences from the mean, in ns^2
 * @bins: how many have a highest bit of this number: bin 0 is 0, bin N is from 2^(N-1) to 2^N - 1
 */
struct times {
	u64 count;
	u64 min_ns;
	u64 max_ns;
	double mean_ns;
	double squares;
	u64 bins[TIMES_BINS];
};

/**
 * struct run_times - of a run of operations
 */
struct run_times {
	struct times think;
	struct times duration;
};

/**
 * struct distribution - lengths of time that are known by their histogram only
 * @times: the histogram, of at least one length
 * @step: distance between the lengths that are taken one after the other, in the order of the bins
 * @next: the one that is taken next
 */
struct distribution {
	struct times times;
	u64 step;
	u64 next;
};

void distribution_open(struct distribution *distribution);

void times_add(struct times *times, u64 ns);
void times_count(struct times *times, u64 ns);
void times_join_counts(struct times *times, const struct times *others);
void times_add_part(struct times *times, struct distribution *distribution);
bool times_is_sound(const struct times *times);
double times_deviation_ns(const struct times *times);
void times_put(struct bytes *bytes, const struct times *times);
bool times_get(struct input *in, struct times *times);

#endif
