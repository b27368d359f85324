/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * initial.h - the initial state of a program, from the trace and a snapshot.
 */
#ifndef IOTAPE_COMPILE_INITIAL_H
#define IOTAPE_COMPILE_INITIAL_H

#include "compile.h"

int initial_put(struct iot_builder *builder, const struct analysis *analysis,
		const struct compile_options *options, struct compile_summary *summary);

#endif
