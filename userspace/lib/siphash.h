/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * siphash.h - a hash with a secret: nobody who does not know it can choose keys that meet.
 */
#ifndef IOTAPE_LIB_SIPHASH_H
#define IOTAPE_LIB_SIPHASH_H

#include "core/port.h"

u64 siphash(const u64 secret[2], const void *data, size_t bytes);

#endif
