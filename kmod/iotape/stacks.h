/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stacks.h - the function calls from which operations are made, see stacks.c.
 */
#ifndef IOT_STACKS_H
#define IOT_STACKS_H

#include <linux/jump_label.h>

#include <iotape/control.h>

#include "core/trace/record.h"

struct iot_session;
struct iot_span;
struct iot_stack_table;
struct iot_task;

DECLARE_STATIC_KEY_FALSE(iot_has_stacks); /* a session has them */

struct iot_stack_table *iot_stacks_new(const struct iot_stacks *request);
void iot_stacks_free(struct iot_stack_table *table);
u64 iot_stack_of_current(struct iot_session *session, const struct iot_task *task, enum iot_kind kind);

#endif
