/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gate.h - the filter of a session, see gate.c.
 */
#ifndef IOT_GATE_H
#define IOT_GATE_H

#include <linux/types.h>

#include "core/trace/record.h"

/**
 * struct iot_gate - which operations a session records
 * @is_filter: some kinds are not admitted; constant once the session has started, like @kinds
 * @kinds: of records of operations that are admitted
 * @program: an operation must pass it, too; NULL: there is none. Replaced by iot_gate_set_program()
 * @had_program: there was one
 * @is_paused: no operation is admitted; may change at any time, like @program
 */
struct iot_gate {
	bool is_filter;
	DECLARE_BITMAP(kinds, IOT_KIND_END);
	struct iot_gate_program __rcu *program;
	bool had_program;
	bool is_paused;
};

void iot_gate_init(struct iot_gate *gate);
void iot_gate_set(struct iot_gate *gate, const u64 kinds[IOT_KIND_END / 64]);
void iot_gate_pause(struct iot_gate *gate, bool is_paused);
void iot_gate_exit(struct iot_gate *gate);

#endif
