/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory.h - the state of the machine's memory.
 */
#ifndef IOTAPE_MEMORY_H
#define IOTAPE_MEMORY_H

#include "lib/iotape.h"

int memory_read(struct iot_record *record);

#endif
