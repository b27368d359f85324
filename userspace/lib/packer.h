/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * packer.h - compresses a program, as core/replay/packed.h reads it.
 */
#ifndef IOTAPE_LIB_PACKER_H
#define IOTAPE_LIB_PACKER_H

#include "iotape.h"

struct packer;

int packer_open(const struct iot_part *part, u64 program_bytes, u64 ops_bytes, struct packer **packer);
int packer_add(struct packer *packer, const void *bytes, size_t count);
int packer_end(struct packer *packer);
void packer_close(struct packer *packer);

#endif
