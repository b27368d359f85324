/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pattern_trace.h - traces of patterns, for the commands that take either.
 */
#ifndef IOTAPE_TOOLS_PATTERN_TRACE_H
#define IOTAPE_TOOLS_PATTERN_TRACE_H

#include "pattern/pattern.h"

bool is_pattern(const char *path);
int write_pattern_trace(const char *input, const struct pattern *pattern, const char *output, bool is_quiet);

#endif
