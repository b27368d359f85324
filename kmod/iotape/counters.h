/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counters.h - the table of a session that counts operations instead of recording them, see counters.c.
 */
#ifndef IOT_COUNTERS_H
#define IOT_COUNTERS_H

#include <linux/types.h>

#include <iotape/control.h>

struct iot_counter_table;
struct iot_session;

struct iot_counter_table *iot_counters_new(u32 rows, u32 keys);
bool iot_counters_are_quiet(const struct iot_counter_table *table);
int iot_counters_turn(struct iot_session *session);
void iot_counters_free(struct iot_counter_table *table);
int iot_counters_read(const struct iot_session *own, struct iot_counters __user *arg);

#endif
