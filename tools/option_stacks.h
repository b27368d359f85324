/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * option_stacks.h - the value of record --stacks.
 */
#ifndef IOTAPE_OPTION_STACKS_H
#define IOTAPE_OPTION_STACKS_H

#include <stdint.h>

#include "option.h"

const char *option_stacks_at(size_t index);
void option_stacks(struct option_state *state, const char *list, uint64_t kinds[]);

#endif
