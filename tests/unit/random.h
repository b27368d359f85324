/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * random.h - random numbers of tests, the same in each run: xorshift64 of Marsaglia, "Xorshift RNGs", 2003.
 */
#ifndef IOTAPE_TESTS_RANDOM_H
#define IOTAPE_TESTS_RANDOM_H

#include "core/port.h"

/**
 * random_below() - the next number
 * @state: not 0
 * @limit: of the number; 0 for 0
 */
static inline u64 random_below(u64 *state, u64 limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return limit ? *state % limit : 0;
}

#endif
