/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * condition.h - the condition of a trace in words.
 */
#ifndef IOTAPE_CONDITION_H
#define IOTAPE_CONDITION_H

#include <stddef.h>

struct iot_condition;

#define CONDITION_TEXT_BYTES 512

void condition_text(const struct iot_condition *condition, char text[CONDITION_TEXT_BYTES]);

#endif
