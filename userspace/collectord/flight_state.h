/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flight_state.h - information from records that have left the flight recorder, which later records need.
 *
 * Records that leave are applied to the state. A dump begins with the state as far as the records in it refer to it: its
 * tasks, objects and names, and handles and mappings from before, announced as at the beginning of a recording
 * that is attached to running processes.
 */
#ifndef IOTAPE_FLIGHT_STATE_H
#define IOTAPE_FLIGHT_STATE_H

#include "lib/iotape.h"

struct flight_state;

int flight_state_open(u64 bytes, struct flight_state **state);
void flight_state_close(struct flight_state *state);
void flight_state_apply(struct flight_state *state, const struct iot_record *record);
u64 flight_state_forgotten(const struct flight_state *state);
u64 flight_state_real_ns(const struct flight_state *state, u64 mono_ns);

void flight_state_begin(struct flight_state *state);
int flight_state_mark(struct flight_state *state, const struct iot_record *record);
int flight_state_write(struct flight_state *state, struct iot_writer *writer, u64 time_ns, u64 *records);

/* A record that announces an entry. Return: 0 or a negative errno. */
typedef int (*flight_put_fn)(void *context, const struct iot_record *record);

void flight_state_follow(struct flight_state *state);
int flight_state_turn(struct flight_state *state, u64 time_ns, flight_put_fn put, void *context);
int flight_state_need(struct flight_state *state, const struct iot_record *record, u64 time_ns, flight_put_fn put, void *context);

#endif