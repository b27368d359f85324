/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * preempted.h - time for which a traced task waited for a CPU, see preempted.c.
 */
#ifndef IOT_PREEMPTED_H
#define IOT_PREEMPTED_H

#include <linux/types.h>

struct iot_session;
struct iot_task;

#define IOT_PREEMPTED_MIN_NS 50000 /* shorter waits are not worth a record */

void iot_preempted_check(struct iot_session *session, struct iot_task *task);

#endif
