/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * skip.h - the chunks of a trace that a reader does not need.
 */
#ifndef IOTAPE_LIB_SKIP_H
#define IOTAPE_LIB_SKIP_H

#include "iotape.h"

int skip_plan(int fd, u64 begin_bytes, u64 end_bytes, const struct iot_index_entry *entries,
	      const struct iot_need *need, bool *is_skipped, struct iot_trace_info *info);

#endif
