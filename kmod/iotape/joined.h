/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * joined.h - records that threads write themselves after they have joined a session.
 */
#ifndef IOT_JOINED_H
#define IOT_JOINED_H

#include "core/trace/record.h"

struct iot_session;

bool iot_joined_is_valid(const struct iot_record *record);
void iot_joined_emit(struct iot_session *session, struct iot_record *record);
u64 iot_joined_clock_ns(void);

#endif
