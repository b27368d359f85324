/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task_walk.h - the operations of one task of a pattern, one after the other. Memory does not depend on their number.
 */
#ifndef IOTAPE_PATTERN_TASK_WALK_H
#define IOTAPE_PATTERN_TASK_WALK_H

#include "state.h"

struct events;

int events_open(const struct pattern *pattern, const struct group *group, u64 task, struct events **events);
int events_next(struct events *events, struct event *event, u32 *run);
void events_close(struct events *events);
int events_find_tasks(const struct pattern *pattern, u64 **tasks);

#endif
