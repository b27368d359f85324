// SPDX-License-Identifier: GPL-2.0-only
/*
 * option_words.c - words of options that several commands have.
 */
#include "option_words.h"

#include <stddef.h>

#include "replay/replay.h"

const char *const option_words_data[] = { "random", "zero", "sparse", NULL };
const int option_values_data[] = { PREPARE_RANDOM, PREPARE_ZERO, PREPARE_SPARSE };
const char *const option_words_cache[] = { "match", "cold", "warm", "keep", NULL };
