/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * alive.h - lists the live threads of a recording.
 */
#ifndef IOT_ALIVE_H
#define IOT_ALIVE_H

#include <iotape/control.h>

int iot_alive_list(struct iot_alive __user *arg);

#endif
