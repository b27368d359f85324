/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * runs.h - runs side by side, as tables with a column for each.
 */
#ifndef IOTAPE_RUNS_H
#define IOTAPE_RUNS_H

#include "analyse/stats/comparison.h"
#include "table.h"

void runs_table(struct table *table, const struct comparison *c);
bool runs_have_nodes(const struct comparison *c);
void nodes_table(struct table *table, const struct comparison *c);
bool repeats_table(struct table *table, const struct comparison *c);
void latency_table(struct table *table, const struct comparison *c, bool is_all);

#endif
