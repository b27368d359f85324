/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reach.h - which users can reach a target, for init and replay.
 */
#ifndef IOTAPE_REACH_H
#define IOTAPE_REACH_H

#include "core/port.h"

int target_is_private(int target_fd);
int target_check_private(int target_fd, const char *target, char *why, size_t room);

#endif
