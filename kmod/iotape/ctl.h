/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ctl.h - changes of a session while it runs, and what others may learn of it: see ctl.c.
 */
#ifndef IOT_CTL_H
#define IOT_CTL_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <iotape/control.h>
#include <iotape/netlink.h>

struct iot_session;

/**
 * struct iot_ctl_state - of a session
 * @lock: one change at a time; it is taken before iot_control_lock, and held while the collector does its part
 * @wait: for the sender and the collector
 * @mark: the next mark for the sender; guarded, like the next three, by the lock of @wait
 * @is_due: the sender has not seen @mark yet
 * @is_waited_for: the answer to @mark has not arrived yet
 * @err: the answer
 * @pauses: number of pauses so far
 * @pause_ns: when the current pause began; guarded, like the rest, by iot_control_lock
 * @pause_left_out: operations that pauses had left out by then
 * @paused_ns: time in pauses that have ended
 * @text: the recorder's description of the session
 * @text_bytes: of it
 * @filter: filter=EXPRESSION of the last IOT_IOC_REFILTER; NULL if there was none
 * @filter_bytes: of @filter
 */
struct iot_ctl_state {
	struct mutex lock;
	wait_queue_head_t wait;
	struct iot_message_mark mark;
	bool is_due;
	bool is_waited_for;
	int err;
	u32 pauses;
	u64 pause_ns;
	u64 pause_left_out;
	u64 paused_ns;
	char *text;
	u32 text_bytes;
	char *filter;
	u32 filter_bytes;
};

bool iot_ctl_is_permitted(const struct iot_session *session);
struct iot_session *iot_ctl_get(u64 number);
int iot_ctl_change(const struct iot_ctl __user *arg);
int iot_ctl_refilter(const struct iot_refilter __user *arg);
int iot_ctl_answer(struct iot_session *session, u64 number, int err);
int iot_ctl_mark(struct iot_session *session, struct iot_mark *mark);
int iot_ctl_describe(struct iot_session *session, const void __user *text, u32 bytes);
int iot_ctl_info(struct iot_info __user *arg);

void iot_ctl_init(struct iot_session *session);
void iot_ctl_exit(struct iot_session *session);
void iot_ctl_ends(struct iot_session *session);
void iot_ctl_wake(struct iot_session *session);
bool iot_ctl_is_due(struct iot_session *session, struct iot_message_mark *mark);
void iot_ctl_done(struct iot_session *session, u64 number, int err);

#endif
