/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wakes.h - wake-ups out of voluntary waits.
 */
#ifndef IOT_WAKES_H
#define IOT_WAKES_H

#include <linux/types.h>

#define IOT_WAKES_NOTED 4

/**
 * struct iot_wake_note - a wake-up of a task that was recorded
 * @waker: id of the task that it came from
 * @waker_ops: operations that the waking task had entered by then
 * @waker_news: recorded wake-ups of the waking task by then
 * @own_ops: operations that the task itself had entered
 */
struct iot_wake_note {
	u32 waker;
	u32 waker_ops;
	u32 waker_news;
	u32 own_ops;
};

/**
 * struct iot_wakes - recent wake-ups of a task, stored so that few of them need a record
 * @epoch: session of all that follows
 * @news: recorded wake-ups of the task
 * @news_from: the task that the last of them came from
 * @news_since: number of those before the first of the last ones that all came from it
 * @next: place of the next note
 * @notes: the last ones, of different wakers; waker 0 is none
 *
 * Written by the waking thread, under the pi_lock of the task; read by the task itself when it wakes others.
 */
struct iot_wakes {
	u64 epoch;
	u32 news;
	u32 news_from;
	u32 news_since;
	u32 next;
	struct iot_wake_note notes[IOT_WAKES_NOTED];
};

void iot_wakes_init(void);
bool iot_wakes_can(void);
int iot_wakes_get(bool needs_all);
void iot_wakes_put(bool needs_all);

#endif
