/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mailbox.h - memory into which a thread puts MPI records, without a system call.
 *
 * A mailbox is mapped into the process of its thread, and is charged to the control group of that thread.
 * The sender empties it, whether the thread is alive or not. The records of a mailbox are a part of a
 * *stream*, which belongs to the session, and which later mailboxes continue. The thread may write anything
 * to its mailbox at any time; the kernel reads each byte once, and then checks it.
 *
 *                   thread in user mode    thread in the kernel   sender
 *   ring, tail      writes                 -                      reads (acquire)
 *   head            reads (acquire)        -                      writes (release)
 *   op              reads and writes       reads and writes       -
 *   is_closed       reads                  -                      written at the end of the session
 *
 * Ownership: the stream, the task and each mapping hold a reference. When only that of the stream is left,
 * and the mailbox is empty, the sender drops it, and the memory is freed.
 *
 * Locking: the lock of all guards the list, and which streams have a mailbox; it is taken with a mmap lock
 * held. The list only grows until the session is closed, so that the sender walks it without a lock. The
 * lock of a stream nests inside it; it guards the reading of the mailbox, and the pointer to the mailbox.
 */
#ifndef IOT_MAILBOX_H
#define IOT_MAILBOX_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/uidgid.h>

#include <iotape/control.h>

#include "core/port.h"

struct iot_buffer;
struct iot_session;
struct vm_area_struct;

/**
 * struct iot_mailboxes - the mailboxes of a session
 * @lock: see above
 * @list: streams
 * @count: number of them
 * @is_closed: no new mailbox is made
 * @buffer: the message that the sender fills from them
 * @records: taken out of all
 * @lost: records that were lost for lack of room, and invalid ones
 */
struct iot_mailboxes {
	struct mutex lock;
	struct list_head list;
	u32 count;
	bool is_closed;
	struct iot_buffer *buffer;
	u64 records;
	u64 lost;
};

/**
 * struct iot_stream - records of mailboxes, one mailbox after the other
 * @list: of all of the session
 * @lock: see above
 * @mailbox: the present one, with a reference, or NULL
 * @number: among all of the session
 * @last_ns: end of the last record
 * @records: taken out since the session began
 * @lost: records lost since then
 */
struct iot_stream {
	struct list_head list;
	struct mutex lock;
	struct iot_mailbox *mailbox;
	u32 number;
	u64 last_ns;
	u64 records;
	u64 lost;
};

/**
 * struct iot_mailbox - the mailbox of one thread
 * @refs: see above
 * @head: the memory, shared with user space
 * @session: number of the session
 * @owner: real user of the thread when it got the mailbox
 * @task: task of the thread
 * @clock_ns: offset of the thread's clock from the kernel's
 * @taken: bytes taken out
 * @lost_seen: the thread's count of lost records, as of the last look
 * @rcu: to free it
 */
struct iot_mailbox {
	struct kref refs;
	struct iot_mailbox_head *head;
	u64 session;
	kuid_t owner;
	u32 task;
	u64 clock_ns;
	u32 taken;
	u32 lost_seen;
	struct rcu_head rcu;
};

#define IOT_MAILBOX_STEP_MAX (1 << 20) /* operations that a thread enters without the kernel, at most */

/* The number of the last operation of the thread, if it is plausible: it never decreases. */
static inline u32 iot_mailbox_op(const struct iot_mailbox *mailbox, u32 known)
{
	u32 op = READ_ONCE(mailbox->head->op);

	return op - known <= IOT_MAILBOX_STEP_MAX ? op : known;
}

static inline void iot_mailbox_op_set(struct iot_mailbox *mailbox, u32 op)
{
	WRITE_ONCE(mailbox->head->op, op);
}

int iot_mailboxes_init(struct iot_mailboxes *mailboxes);
void iot_mailboxes_exit(struct iot_mailboxes *mailboxes);
void iot_mailboxes_close(struct iot_mailboxes *mailboxes);
int iot_mailboxes_send(struct iot_session *session, u64 end_ns);

int iot_mailbox_map(struct iot_session *session, struct vm_area_struct *vma);
int iot_mailbox_sync(struct iot_session *session);
bool iot_mailbox_has_room(const struct iot_mailbox *mailbox);
void iot_mailbox_put(struct iot_mailbox *mailbox);

#endif
