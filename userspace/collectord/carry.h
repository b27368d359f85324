/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * carry.h - what the files of a recording in several files carry over to the next: objects, names, tasks, handles and mappings.
 */
#ifndef IOTAPE_CARRY_H
#define IOTAPE_CARRY_H

#include "lib/iotape.h"
#include "queue.h"

struct carry;

int carry_open(u64 ring_bytes, u64 state_bytes, struct carry **carry);
void carry_close(struct carry *carry);
int carry_message(struct carry *carry, const struct message *message);
int carry_need(struct carry *carry, const struct iot_record *record);
int carry_turn(struct carry *carry, u64 time_ns);
u64 carry_begin_ns(struct carry *carry);
int carry_write(struct carry *carry, struct iot_writer *writer);
u64 carry_forgotten(struct carry *carry);

#endif
