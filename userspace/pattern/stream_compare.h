/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream_compare.h - is the canonical stream of a trace that of a pattern?
 */
#ifndef IOTAPE_PATTERN_STREAM_COMPARE_H
#define IOTAPE_PATTERN_STREAM_COMPARE_H

#include "state.h"

int stream_compare(const char *path, const struct pattern *pattern, const u32 *positions, u32 count, bool *is_same,
		   struct iot_reject *reject);

#endif
