/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * crc32c.h - the checksum of traces and programs: CRC-32C (Castagnoli), as in iSCSI.
 */
#ifndef IOTAPE_CRC32C_H
#define IOTAPE_CRC32C_H

#include "port.h"

u32 iot_crc32c(u32 crc, const void *data, size_t bytes);

#endif
