/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * build_id.h - the build id of a program or shared library, from the beginning of its file.
 */
#ifndef IOTAPE_BUILD_ID_H
#define IOTAPE_BUILD_ID_H

#include "core/port.h"

#define IOT_BUILD_ID_MAX_BYTES 20

u32 iot_build_id_find(const void *image, size_t bytes, u8 id[IOT_BUILD_ID_MAX_BYTES]);

#endif
