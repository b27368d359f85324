/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filter.h - filter programs of sessions, see filter.c.
 */
#ifndef IOT_FILTER_KMOD_H
#define IOT_FILTER_KMOD_H

#include <linux/rcupdate.h>
#include <linux/types.h>

#include "core/trace/filter.h"
#include "iotape.h"

/**
 * struct iot_gate_program - a verified filter program
 * @rcu: frees it when no operation is decided by it any more
 * @number: of programs since the module was loaded; results of path tests are cached under it
 * @uses: see iot_filter_uses()
 * @kinds: of operations for which it can be true
 * @graph: decides quickly
 * @head: the program
 */
struct iot_gate_program {
	struct rcu_head rcu;
	u32 number;
	u32 uses;
	DECLARE_BITMAP(kinds, IOT_KIND_END);
	struct iot_filter_graph graph;
	struct iot_filter_head head[];
};

struct iot_gate_program *iot_program_new(const void *bytes, size_t count);
void iot_program_free(struct iot_gate_program *program);
void iot_gate_set_program(struct iot_session *session, struct iot_gate_program *program);
void iot_program_drop(struct iot_session *session);
bool iot_program_admits(const struct iot_gate_program *program, struct iot_session *session, struct iot_source *source,
			enum iot_kind kind, const struct iot_what *what, struct iot_span *span);

#endif
