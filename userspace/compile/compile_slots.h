/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compile_slots.h - ids of a trace, which are large and sparse, as slots, which are small and dense.
 */
#ifndef IOTAPE_SLOTS_H
#define IOTAPE_SLOTS_H

#include "lib/iotape.h"

struct slots;

int slots_open(struct slots **slots);
void slots_close(struct slots *slots);
u32 slots_find(const struct slots *slots, u64 id);
int slots_make(struct slots *slots, u64 id, u32 *slot);
u32 slots_count(const struct slots *slots);

#endif
