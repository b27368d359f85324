/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * histogram.h - how long operations took, in constant memory.
 *
 * Buckets are as wide as 1/64 of the power of two that they are in, so a percentile is
 * exact to 1.6 %, at any scale; smallest, largest and sum are exact.
 */
#ifndef IOTAPE_HISTOGRAM_H
#define IOTAPE_HISTOGRAM_H

#include "core/port.h"

#define HISTOGRAM_PARTS	  64 /* of each power of two */
#define HISTOGRAM_BUCKETS ((64 - 6 + 1) * HISTOGRAM_PARTS)

/**
 * struct histogram - a set of numbers; all zero is an empty one
 */
struct histogram {
	u64 count;
	u64 sum;
	u64 min;
	u64 max;
	u64 buckets[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, u64 value);
void histogram_add_bucket(struct histogram *histogram, u64 from, u64 count);
u64 histogram_percentile(const struct histogram *histogram, double percent);

#endif
