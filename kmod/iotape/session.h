/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - one capture: its sources, its channels, its collector.
 *
 * Locking: iot_control_lock guards the list of sessions, the list of sources, which
 * session a source belongs to, and every change of a session's state. It is taken by
 * ioctls, mount, unmount and the sender, never on the traced path. The traced path
 * reaches a session through an RCU pointer in its source; a session stops being
 * written to by clearing those pointers and waiting for a grace period.
 *
 * Ownership: the descriptor of the session holds a reference, as do a replay that
 * emits into it, every descriptor and mailbox of a process that has joined, and every
 * task that waits for its collector. The sender thread lives from bind to close, and
 * so do the buffers of the CPUs and the session's part of mailboxes.
 */
#ifndef IOT_SESSION_H
#define IOT_SESSION_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/uidgid.h>
#include <linux/wait.h>

#include <iotape/control.h>
#include <iotape/netlink.h>

#include "admission.h"
#include "backpressure.h"
#include "channel.h"
#include "counters.h"
#include "ctl.h"
#include "delay.h"
#include "delivery.h"
#include "gate.h"
#include "iotape.h"
#include "mailbox.h"
#include "only.h"
#include "stacks.h"

/**
 * struct iot_session - a capture
 * @number: from 1, never reused while the module is loaded; the epoch in which
 *	tasks, objects and names are announced
 * @state: an enum iot_state; written under iot_control_lock
 * @is_running: records may be made; read on the traced path
 * @is_kicked: the sender has something to do
 * @policy: an enum iot_policy
 * @has_wakes: all wake-ups are recorded, not only those by threads that exit
 * @uses_wakes: iot_wakes_get() was called for it
 * @flush_ms: maximum time before a record is sent
 * @gate: decides which operations are recorded
 * @only: the user whose tasks it is restricted to, if it is
 * @counters: its operations are counted there instead of recorded; NULL: they are recorded. Once it has started, only a
 *	turn changes it
 * @counters_aside: the table before the last turn, without writers; NULL if there is none. Guarded by iot_control_lock
 * @is_quiet: see iot_counters_are_quiet(); constant once it has started
 * @stacks: call sites are recorded; NULL: they are not. Constant once it has started
 * @delays: which of its threads are delayed, and when
 * @backpressure: which CPUs are behind, and the tasks that wait for the collector
 * @sender_wait: where the sender sleeps
 * @channels: of each CPU, records that were emitted there and are not sent yet
 * @admission: processes that may join, besides those that the recorder adopted and their descendants
 * @mailboxes: of threads that write MPI records
 * @sender: the thread that sends, NULL before there is a collector
 * @delivery: the collector's socket
 * @collector: process id of the collector, whose own operations are not recorded
 * @collector_thread: the thread of it that was bound, with a reference; NULL before there is a collector
 * @sent_records: records handed to the collector
 * @sent_bytes: bytes of them
 * @created_ns: when it was created
 * @start_ns: when recording began, 0 before
 * @end_ns: when recording ended, 0 before
 * @user: that created it
 * @buffers: of each CPU; written by the sender once that runs
 * @control: changes at run time, see ctl.c
 * @refs: see above
 * @list: among all sessions
 */
struct iot_session {
	u64 number;
	enum iot_state state;
	bool is_running;
	bool is_kicked;
	u32 policy;
	bool has_wakes;
	bool uses_wakes;
	u32 flush_ms;
	struct iot_gate gate;
	struct iot_only only;
	struct iot_counter_table __rcu *counters;
	struct iot_counter_table *counters_aside;
	bool is_quiet;
	struct iot_stack_table *stacks;
	struct iot_delays delays;
	struct iot_backpressure backpressure;
	wait_queue_head_t sender_wait;
	struct iot_channel __percpu *channels;
	struct iot_admission admission;
	struct iot_mailboxes mailboxes;
	struct task_struct *sender;
	struct iot_delivery delivery;
	pid_t collector;
	struct task_struct *collector_thread;
	u64 sent_records;
	u64 sent_bytes;
	u64 created_ns;
	u64 start_ns;
	u64 end_ns;
	kuid_t user;
	u32 buffers;
	struct iot_ctl_state control;
	struct kref refs;
	struct list_head list;
};

extern struct mutex iot_control_lock;

/**
 * iot_only_admits() - may current appear in a session?
 * @session: any
 */
static inline bool iot_only_admits(const struct iot_session *session)
{
	return likely(!session->only.is_on) || __iot_only_admits(session);
}

struct iot_session *iot_session_new(const struct iot_create *create);
void iot_session_close(struct iot_session *session);
int iot_session_bind(struct iot_session *session, struct sock *collector);
int iot_session_attach(struct iot_session *session, struct vfsmount *mount);
int iot_session_start(struct iot_session *session);
int iot_session_stop(struct iot_session *session);
int iot_session_adopt(struct iot_session *session);
int iot_session_status(struct iot_status *status);
void iot_session_each(void (*show)(const struct iot_session *session, const struct iot_status *status, void *context),
		      void *context);
void iot_session_fail(struct iot_session *session);
void iot_sessions_wake_orphans(void);
struct iot_session *iot_session_find_locked(u64 number);
u32 iot_session_count_only(kuid_t user);
struct iot_session *iot_session_get(u64 number);
int iot_session_set_mmap(struct iot_session *session, enum iot_mmap mmap);
void iot_session_counts(const struct iot_session *session, struct iot_status *status);
size_t iot_session_paths(const struct iot_session *session, char *text, size_t room);
int iot_session_filter(struct iot_session *session, const struct iot_filter *filter);
int iot_session_count(struct iot_session *session, const struct iot_count *count);
int iot_session_stacks(struct iot_session *session, const struct iot_stacks *request);
int iot_session_delay(struct iot_session *session, const struct iot_delay *delay);
int iot_session_admit(struct iot_session *session, const struct iot_admit *admit);
struct iot_session *iot_session_join(struct super_block *sb);

void iot_session_kick(struct iot_session *session);
void iot_session_count_lost(struct iot_session *session);
struct iot_session *iot_session_find(u64 number);

/* control.c */
int iot_control_init(void);
void iot_control_exit(void);
struct iot_session *iot_control_session(struct file *file);

/* state.c */
void iot_state_dump(struct iot_session *session, struct iot_source *source);

/* netlink.c */
int iot_netlink_init(void);
void iot_netlink_exit(void);
int iot_message_new(struct iot_buffer *buffer, gfp_t gfp);
int iot_message_send_mark(struct iot_session *session, const struct iot_message_mark *mark);
int iot_message_send_end(struct iot_session *session, const struct iot_message_end *end);

/* sender.c */
int iot_sender_start(struct iot_session *session);
void iot_sender_stop(struct iot_session *session);

#endif
