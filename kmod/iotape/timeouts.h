/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timeouts.h - waits that a timer ended, see timeouts.c.
 */
#ifndef IOT_TIMEOUTS_H
#define IOT_TIMEOUTS_H

#include <linux/sched.h>
#include <linux/types.h>

struct iot_session;
struct iot_task;

/**
 * struct iot_timeout - the last time that a timer ended a wait of a task
 * @fired_ns: when, 0 if never
 * @waits: times that the thread had slept by then
 * @call: iot_waits_in() of the thread then
 *
 * Written by the interrupt of the timer, under the pi_lock of the thread; read by the thread itself.
 */
struct iot_timeout {
	u64 fired_ns;
	u64 waits;
	u32 call;
};

/* Did a timer end the last sleep of current? */
static inline bool iot_timeout_is_last(const struct iot_timeout *timeout)
{
	return timeout->fired_ns && timeout->waits == current->nvcsw;
}

u32 iot_waits_in(struct task_struct *thread);
void iot_timeouts_init(void);
int iot_timeouts_get(void);
void iot_timeouts_put(void);
bool iot_timeout_is_under_way(void);
void iot_timeout_note(struct task_struct *thread);
void iot_timeout_record(struct iot_session *session, struct iot_task *task);

#endif
