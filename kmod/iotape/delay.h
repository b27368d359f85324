/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * delay.h - delays of threads, to find out which others wait for them, see delay.c.
 */
#ifndef IOT_DELAY_H
#define IOT_DELAY_H

#include <linux/atomic.h>
#include <linux/jump_label.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <iotape/control.h>

struct iot_session;
struct iot_task;

/**
 * struct iot_delays - the delays of one session
 * @how: as requested; @period is 0 if nothing is delayed. Constant once the session has started
 * @threads: number of threads that have a number, see iot_task_nth()
 * @delayed: the thread that is delayed, NULL if none; only compared
 * @spent_ns: in all delays so far; written by @delayed
 * @number: of the delay under way, 0 if none; written by @delayed
 * @watch: number of the looks of the recorder while there is no delay
 * @released: number of the last delay that the recorder ended
 * @is_abandoned: the recorder has ended all delays
 * @wait: where @delayed sleeps
 */
struct iot_delays {
	struct iot_delay how;
	atomic_t threads;
	struct iot_task *delayed;
	u64 spent_ns;
	u64 number;
	u64 watch;
	u64 released;
	bool is_abandoned;
	wait_queue_head_t wait;
};

/**
 * struct iot_look - what a delayed thread saw of another one when it looked last
 * @delay: the number of the delay, 0 if none
 * @moved_ns: when the other had last begun or ended an operation, or the first look
 * @switched_ns: when it had last been switched, or the first look
 * @switches: number of its context switches
 * @ops: operations that it had entered
 * @current_op: the operation under way
 */
struct iot_look {
	u64 delay;
	u64 moved_ns;
	u64 switched_ns;
	unsigned long switches;
	u32 ops;
	u32 current_op;
};

DECLARE_STATIC_KEY_FALSE(iot_has_delays); /* a session has delays */

static inline bool iot_delays_are_on(const struct iot_delays *delays)
{
	return READ_ONCE(delays->how.period);
}

bool iot_delays_can(void);
void iot_delays_init(struct iot_delays *delays);
int iot_delays_set(struct iot_delays *delays, const struct iot_delay *how);
void iot_delays_exit(struct iot_delays *delays);
void iot_delays_wake(struct iot_delays *delays);
int iot_delays_look(struct iot_session *session, struct iot_look_all *look);
int iot_delays_release(struct iot_delays *delays, const struct iot_release *release);
void iot_delay_arm(struct iot_session *session, struct iot_task *task);
void iot_delay_drain(void);

#endif
