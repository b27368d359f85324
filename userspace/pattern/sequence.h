/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sequence.h - lists of numbers in the text of a pattern: {7, 12, 0 x 31, 8..24/8, (1, 2) x 5 + 100}.
 */
#ifndef IOTAPE_PATTERN_SEQUENCE_H
#define IOTAPE_PATTERN_SEQUENCE_H

#include <stdio.h>

#include "series.h"

#define SEQUENCE_DEPTH_MAX 16

void sequence_print(FILE *out, const struct series *series);

#endif
