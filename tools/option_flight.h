/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * option_flight.h - the options of a flight recorder.
 */
#ifndef IOTAPE_OPTION_FLIGHT_H
#define IOTAPE_OPTION_FLIGHT_H

#include "collectord/collectord.h"
#include "option.h"

#define FLIGHT_BYTES_DEFAULT (64ull << 20)
#define FLIGHT_DUMPS_DEFAULT 16

void option_flight(struct option_state *state, char *argument, struct flight_options *flight);
void option_flight_errors(struct option_state *state, char *argument, struct flight_options *flight);
const char *flight_text(const struct flight_options *flight, char text[64]);

#endif
