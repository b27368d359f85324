/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * edges.h - orders between places of the run without delays: private to this directory.
 */
#ifndef IOTAPE_DISCOVER_EDGES_H
#define IOTAPE_DISCOVER_EDGES_H

#include "discover.h"
#include "run.h"

/**
 * struct order - a place begins after another one has ended
 * @task, @place: indices of the one that ends first, in the run without delays
 * @waiter, @waiter_place: indices of the other one
 * @delays: delays after @place that showed it
 */
struct order {
	u32 task;
	u32 place;
	u32 waiter;
	u32 waiter_place;
	u32 delays;
};

/**
 * struct orders - a set of them
 */
struct orders {
	struct order *list;
	u32 count;
	u32 room;
};

int orders_add(struct orders *orders, const struct order *order);
int orders_of_run(struct orders *orders, const struct run *base, const struct run *run, u32 *doubtful);
void orders_sort(struct orders *orders);
bool order_is_kept(const struct order *order, const struct run *run);
u32 orders_contradict(struct orders *orders, const struct run *run);
int orders_reduce(struct orders *orders, const struct run *base, u32 *redundant);
int orders_imply(const struct orders *orders, const struct run *base, const struct order *asked, u32 count, bool *is_implied);

#endif
