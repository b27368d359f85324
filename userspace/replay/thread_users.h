/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thread_users.h - the users that tasks run as.
 */
#ifndef IOTAPE_THREAD_USERS_H
#define IOTAPE_THREAD_USERS_H

#include "lib/iotape.h"

int users_check(const struct iot_program *program, const char *target, char *why, size_t room);
int users_become(const struct iot_program_task *task);

#endif
