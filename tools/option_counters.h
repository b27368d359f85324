/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * option_counters.h - the argument of --counters-by.
 */
#ifndef IOTAPE_OPTION_COUNTERS_H
#define IOTAPE_OPTION_COUNTERS_H

#include "option.h"

#define COUNTERS_KEYS_TEXT_BYTES 64

void option_counters_by(struct option_state *state, const char *list, unsigned int *keys);
const char *counters_keys_text(unsigned int keys, char text[COUNTERS_KEYS_TEXT_BYTES]);

#endif
