/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flight.h - a flight recorder: the last records of a session in memory, and dumps of them on request or for a cause.
 */
#ifndef IOTAPE_FLIGHT_H
#define IOTAPE_FLIGHT_H

#include "collectord.h"
#include "queue.h"

struct flight;

int flight_open(const struct collector_options *options, struct flight **flight);
void flight_close(struct flight *flight);
int flight_message(struct flight *flight, const struct message *message);
int flight_clock(struct flight *flight);
int flight_dump(struct flight *flight, const char *cause);
void flight_end(struct flight *flight, const struct iot_message_end *end, const char *reason);
void flight_result(const struct flight *flight, struct collector_result *result);

#endif
