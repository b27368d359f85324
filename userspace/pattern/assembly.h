/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * assembly.h - a pattern while it is made, task by task. The operations of a task are needed only until it is added.
 */
#ifndef IOTAPE_PATTERN_ASSEMBLY_H
#define IOTAPE_PATTERN_ASSEMBLY_H

#include "state.h"

struct assembly;

struct assembly *assembly_open(u32 distribution_count);
int assembly_add_task(struct assembly *assembly, struct stream *stream, u32 task);
int assembly_finish(struct assembly *assembly, struct stream *stream, struct pattern **pattern);
void assembly_close(struct assembly *assembly);
void group_set_means(const struct nodes *nodes, struct group *group);

#endif
