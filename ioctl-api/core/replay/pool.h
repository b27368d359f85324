/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * pool.h - how many workers a pool needs, for every engine.
 *
 * A task needs a worker from the moment that the waits of its first operation hold until its end. An idle worker
 * takes the next task that may start. More workers are called whenever fewer are idle than may be needed soon, so hardly
 * a task waits until a thread has been created.
 */
#ifndef IOTAPE_CORE_POOL_H
#define IOTAPE_CORE_POOL_H

#include "core/port.h"

/*
 * Workers that are kept idle while there are tasks that have not begun. The creation of a worker takes CPU time that the traced
 * program did not need, so there are more of them before the replay starts, when nothing is measured.
 */
#define IOT_POOL_SPARES 2
#define IOT_POOL_SPARES_BEFORE 16

/**
 * struct iot_pool - the numbers of a pool, under its lock
 * @unstarted: tasks that no worker has taken
 * @ready: of them, those that may start
 * @coming: of them, those that are known to start soon
 * @idle: workers that wait for a task
 * @called: workers that were called and have not come yet
 * @spares: IOT_POOL_SPARES, or IOT_POOL_SPARES_BEFORE the start
 */
struct iot_pool {
	u32 unstarted;
	u32 ready;
	u32 coming;
	u32 idle;
	u32 called;
	u32 spares;
};

/* Are there too few workers for the tasks that may start, and for those that come? */
static inline bool iot_pool_is_short(const struct iot_pool *pool)
{
	u32 needed = pool->ready + pool->coming + pool->spares;

	return pool->idle + pool->called < (pool->unstarted < needed ? pool->unstarted : needed);
}

#endif
