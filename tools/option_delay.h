/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * option_delay.h - the argument of --delay.
 */
#ifndef IOTAPE_OPTION_DELAY_H
#define IOTAPE_OPTION_DELAY_H

#include <iotape/control.h>

#include "option.h"

#define DELAY_TEXT_BYTES 256

void option_delay(struct option_state *state, char *argument, struct iot_delay *delay);
const char *delay_text(const struct iot_delay *delay, char text[DELAY_TEXT_BYTES]);

#endif
