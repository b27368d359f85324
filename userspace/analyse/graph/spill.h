/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spill.h - arrays that may be larger than memory.
 */
#ifndef IOTAPE_SPILL_H
#define IOTAPE_SPILL_H

#include "lib/iotape.h"

#define SPILL_MEMORY_BYTES (16u << 20) /* arrays up to this sum are ordinary memory */
#define SPILL_ARRAY_BYTES  16384u      /* so are arrays that are smaller than this */

struct spill;

int spill_open(struct spill **spill, const char *beside);
void *spill_resize(struct spill *spill, void *array, size_t old_bytes, size_t bytes);
void spill_free(struct spill *spill, void *array, size_t bytes);
size_t spill_file_bytes(const struct spill *spill);
void spill_close(struct spill *spill);

#endif
