/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * siphash.h - a checksum with a secret key: without the key, other bytes with the same checksum
 * cannot be constructed.
 */
#ifndef IOTAPE_SIPHASH_H
#define IOTAPE_SIPHASH_H

#include "port.h"

struct iot_siphash_key {
	u64 words[2];
};

u64 iot_siphash(const struct iot_siphash_key *key, const void *data, size_t bytes);

#endif
