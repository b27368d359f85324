/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stat.h - parts of iotape stat: groups of operations, errors, and access patterns, as text and JSON.
 */
#ifndef IOTAPE_STAT_H
#define IOTAPE_STAT_H

#include "analyse/stats/breakdown.h"
#include "json.h"

#define STAT_COUNTED_NOTE "latencies are known to a power of two: percentiles are upper limits, up to twice too large"

enum stat_sort {
	STAT_SORT_TIME,
	STAT_SORT_OPERATIONS,
	STAT_SORT_BYTES,
	STAT_SORT_FAILED,
	STAT_SORT_MEAN,
	STAT_SORT_P99,
	STAT_SORT_MAX,
	STAT_SORT_NAME,
};

extern const char *const stat_by_words[];
extern const char *const stat_sort_words[];

/* stat_groups.c */
const struct breakdown_group **stat_groups_sort(const struct breakdown *b, enum stat_sort sort);
u64 stat_groups_time_ns(const struct breakdown *b);
int stat_groups_text(const struct breakdown *b, enum stat_sort sort, u32 top);
int stat_groups_json(struct json *json, const struct breakdown *b, enum stat_sort sort, u32 top);
void stat_errors_text(const struct breakdown *b, u32 top);

/* stat_waits.c */
int stat_waits(const char *path, const char *name, u32 top, bool is_json);

/* stat_bandwidth.c */
int stat_bandwidth(const char *path, const char *name, const struct selection *selection, u32 top, bool is_json);

/* stat_access.c */
void stat_access_text(const struct breakdown *b);
void stat_access_json(struct json *json, const struct breakdown *b);

#endif
