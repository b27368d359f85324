/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * backpressure.h - policy `block`: tasks wait for the collector when buffers run short.
 *
 * A CPU is *behind* while fewer than half of its buffers are empty. Backpressure is on while any CPU of the session is
 * behind: channel.c reports a shortage when it hands a buffer over, the sender reports its end when it returns one.
 */
#ifndef IOT_BACKPRESSURE_H
#define IOT_BACKPRESSURE_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/wait.h>

struct iot_channel;
struct iot_session;
struct iot_task;

/**
 * struct iot_backpressure - the state of one session
 * @low_water: a CPU with fewer empty buffers is behind
 * @behind: number of CPUs that are behind
 * @wait: tasks that wait until none is
 * @waits: times that a task was made to wait
 * @stuck_bytes: bytes sent when a kernel thread had waited in vain; U64_MAX at first
 */
struct iot_backpressure {
	u32 low_water;
	atomic_t behind;
	wait_queue_head_t wait;
	atomic64_t waits;
	u64 stuck_bytes;
};

/* The number may be negative for a moment: the end of a shortage may be seen before its beginning is counted. */
static inline bool iot_backpressure_is_on(const struct iot_backpressure *backpressure)
{
	return atomic_read(&backpressure->behind) > 0;
}

void iot_backpressure_init(struct iot_backpressure *backpressure, u32 buffers);
void iot_backpressure_check(struct iot_session *session, struct iot_channel *channel);
void iot_backpressure_relax(struct iot_session *session, struct iot_channel *channel);
void iot_backpressure_resize(struct iot_backpressure *backpressure, u32 buffers);
void iot_backpressure_wake(struct iot_session *session);
void iot_backpressure_arm(struct iot_session *session);
void iot_backpressure_arm_interrupted(struct iot_session *session);
int iot_backpressure_wait_mailbox(struct iot_session *session, struct iot_task *task);
int iot_backpressure_wait_dump(struct iot_session *session);
void iot_backpressure_drain(void);

#endif
