// SPDX-License-Identifier: GPL-2.0-only
/*
 * mailbox.c - creates and frees mailboxes, and takes records out of them.
 */
#include "mailbox.h"

#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "compat/vfs.h"
#include "debug.h"
#include "joined.h"
#include "session.h"
#include "task.h"

#define MAPPED_BYTES PAGE_ALIGN(IOT_MAILBOX_BYTES)
#define ROOM_BYTES 1024 /* with less room, a thread has to wait */

/* -- lives ---------------------------------------------------------------------------------- */

/**
 * iot_mailboxes_init() - there are no mailboxes yet
 * @mailboxes: zeroed
 *
 * Return: 0 or -ENOMEM; iot_mailboxes_exit() is right in both cases.
 */
int iot_mailboxes_init(struct iot_mailboxes *mailboxes)
{
	mutex_init(&mailboxes->lock);
	INIT_LIST_HEAD(&mailboxes->list);
	mailboxes->buffer = iot_buffer_new(0);
	return mailboxes->buffer ? 0 : -ENOMEM;
}

static void mailbox_free(struct rcu_head *rcu)
{
	struct iot_mailbox *mailbox = container_of(rcu, struct iot_mailbox, rcu);

	vfree(mailbox->head);
	kfree(mailbox);
}

/* Later, because memory of this kind is not freed where a task may not sleep. */
static void mailbox_release(struct kref *refs)
{
	call_rcu(&container_of(refs, struct iot_mailbox, refs)->rcu, mailbox_free);
}

/**
 * iot_mailbox_put() - drop a reference
 * @mailbox: freed with the last one; may be NULL
 */
void iot_mailbox_put(struct iot_mailbox *mailbox)
{
	if (mailbox)
		kref_put(&mailbox->refs, mailbox_release);
}

/**
 * iot_mailboxes_exit() - drop the references of all mailboxes
 * @mailboxes: of a session whose sender has ended; threads may still hold references
 *
 * May be called again.
 */
void iot_mailboxes_exit(struct iot_mailboxes *mailboxes)
{
	struct iot_stream *stream, *next;

	mutex_lock(&mailboxes->lock);
	mailboxes->is_closed = true;
	list_for_each_entry_safe(stream, next, &mailboxes->list, list) {
		list_del(&stream->list);
		iot_mailbox_put(stream->mailbox);
		kfree(stream);
	}
	mutex_unlock(&mailboxes->lock);
	iot_buffer_free(mailboxes->buffer);
	mailboxes->buffer = NULL;
}

/**
 * iot_mailboxes_close() - refuse further records of the threads
 * @mailboxes: of a session that is quiescent
 */
void iot_mailboxes_close(struct iot_mailboxes *mailboxes)
{
	struct iot_stream *stream;

	mutex_lock(&mailboxes->lock);
	mailboxes->is_closed = true;
	list_for_each_entry(stream, &mailboxes->list, list) {
		mutex_lock(&stream->lock);
		if (stream->mailbox)
			WRITE_ONCE(stream->mailbox->head->is_closed, 1);
		mutex_unlock(&stream->lock);
	}
	mutex_unlock(&mailboxes->lock);
}

/*
 * Free the mailbox if no thread uses it any more and all records were taken out of it. The two are checked in
 * this order, since a thread writes its records before it drops its references.
 */
static void stream_drop_left(struct iot_stream *stream)
{
	struct iot_mailbox *mailbox = stream->mailbox;

	lockdep_assert_held(&stream->lock);
	if (!mailbox || kref_read(&mailbox->refs) > 1)
		return;
	smp_rmb(); /* pairs with the release of a reference */
	if (READ_ONCE(mailbox->head->tail) != mailbox->taken ||
	    READ_ONCE(mailbox->head->lost) != mailbox->lost_seen)
		return;
	stream->mailbox = NULL;
	iot_mailbox_put(mailbox);
}

static struct iot_stream *stream_new(struct iot_mailboxes *mailboxes)
{
	struct iot_stream *stream;

	if (mailboxes->count == IOT_MAILBOXES_MAX)
		return NULL;
	stream = kzalloc(sizeof(*stream), GFP_KERNEL);
	if (!stream)
		return NULL;
	mutex_init(&stream->lock);
	stream->number = mailboxes->count++;
	list_add_tail_rcu(&stream->list, &mailboxes->list);
	return stream;
}

/*
 * Return: a stream that a new mailbox may continue; NULL if the user or the session has too many, or without
 * memory.
 */
static struct iot_stream *stream_get(struct iot_mailboxes *mailboxes, kuid_t owner)
{
	struct iot_stream *stream, *found = NULL;
	u32 count = 0;

	lockdep_assert_held(&mailboxes->lock);
	list_for_each_entry(stream, &mailboxes->list, list) {
		mutex_lock(&stream->lock);
		stream_drop_left(stream);
		if (!stream->mailbox)
			found = found ?: stream;
		else if (uid_eq(stream->mailbox->owner, owner))
			count++;
		mutex_unlock(&stream->lock);
	}
	if (count >= IOT_MAILBOXES_USER_MAX)
		return NULL;
	return found ?: stream_new(mailboxes);
}

/*
 * Makes a mailbox for current, which has none, charged to its control group, with the references of stream, task
 * and mapping.
 */
static struct iot_mailbox *mailbox_new(struct iot_session *session, struct iot_task *task)
{
	struct iot_mailbox *mailbox = kzalloc(sizeof(*mailbox), GFP_KERNEL_ACCOUNT);

	if (!mailbox)
		return NULL;
	mailbox->head = __vmalloc(MAPPED_BYTES, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!mailbox->head) {
		kfree(mailbox);
		return NULL;
	}
	kref_init(&mailbox->refs);
	kref_get(&mailbox->refs);
	kref_get(&mailbox->refs);
	mailbox->session = session->number;
	mailbox->owner = current_uid();
	mailbox->task = task->id;
	mailbox->clock_ns = iot_joined_clock_ns();
	mailbox->head->op = task->ops;
	return mailbox;
}

/* Drops the references of task and mapping. */
static void mailbox_put_both(struct iot_mailbox *mailbox)
{
	iot_mailbox_put(mailbox);
	iot_mailbox_put(mailbox);
}

static struct iot_mailbox *mailbox_get(struct iot_session *session, struct iot_task *task)
{
	struct iot_mailboxes *mailboxes = &session->mailboxes;
	struct iot_mailbox *mailbox = mailbox_new(session, task);
	struct iot_stream *stream;

	if (!mailbox)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&mailboxes->lock);
	stream = mailboxes->is_closed ? ERR_PTR(-EPIPE) : stream_get(mailboxes, mailbox->owner) ?: ERR_PTR(-ENOMEM);
	if (!IS_ERR(stream)) {
		mutex_lock(&stream->lock);
		stream->mailbox = mailbox;
		mutex_unlock(&stream->lock);
	}
	mutex_unlock(&mailboxes->lock);
	if (!IS_ERR(stream))
		return mailbox;
	mailbox_put_both(mailbox);
	iot_mailbox_put(mailbox);
	return ERR_CAST(stream);
}

static void mailbox_vm_open(struct vm_area_struct *vma)
{
	struct iot_mailbox *mailbox = vma->vm_private_data;

	kref_get(&mailbox->refs);
}

/* A thread that drops its own mailbox continues without one; its numbers continue, too. */
static void mailbox_vm_close(struct vm_area_struct *vma)
{
	struct iot_mailbox *mailbox = vma->vm_private_data;
	struct iot_task *task = iot_task_find_current();

	if (task && task->mailbox == mailbox) {
		iot_task_sync(task);
		WRITE_ONCE(task->mailbox, NULL); /* pairs with iot_task_ops_asleep() */
		iot_mailbox_put(mailbox);
	}
	iot_mailbox_put(mailbox);
}

static const struct vm_operations_struct mailbox_vm_ops = {
	.open = mailbox_vm_open,
	.close = mailbox_vm_close,
};

/*
 * Maps page frames, not pages: so a task can neither pin them, as another thread may get them next, nor pass them
 * on to a child. The reference of the mapping keeps them.
 */
static int map_frames(struct vm_area_struct *vma, const struct iot_mailbox_head *head)
{
	unsigned long at;
	int err = 0;

	for (at = 0; at < MAPPED_BYTES && !err; at += PAGE_SIZE)
		err = remap_pfn_range(vma, vma->vm_start + at, vmalloc_to_pfn((const u8 *)head + at),
				      PAGE_SIZE, vma->vm_page_prot);
	return err;
}

static struct iot_task *task_without_mailbox(struct iot_session *session)
{
	struct iot_task *task;

	if (!iot_session_enter(session))
		return ERR_PTR(-EPIPE);
	task = iot_task_of_current(session) ?: ERR_PTR(-ENOMEM);
	iot_session_leave();
	return IS_ERR(task) || !task->mailbox ? task : ERR_PTR(-EBUSY);
}

/**
 * iot_mailbox_map() - make a mailbox for current, and map it
 * @session: that it has joined
 * @vma: the new mapping
 *
 * Return: 0; -EINVAL if the mapping is not as it must be; -EPIPE if the session does not record;
 * -EBUSY if current has one; -ENOMEM, also if its user, or the session, has too many.
 */
int iot_mailbox_map(struct iot_session *session, struct vm_area_struct *vma)
{
	struct iot_mailbox *mailbox;
	struct iot_task *task;
	int err;

	if (vma->vm_end - vma->vm_start != MAPPED_BYTES || vma->vm_pgoff ||
	    !(vma->vm_flags & VM_SHARED))
		return iot_refuse(-EINVAL, "mailbox: not a shared mapping of %d bytes at offset 0", IOT_MAILBOX_BYTES);
	task = task_without_mailbox(session);
	if (IS_ERR(task))
		return iot_refuse(PTR_ERR(task), "mailbox: %s", task == ERR_PTR(-EBUSY) ?
				  "the thread has one" : "the session does not record");
	mailbox = mailbox_get(session, task);
	if (IS_ERR(mailbox))
		return iot_refuse(PTR_ERR(mailbox), "mailbox: %s", mailbox == ERR_PTR(-EPIPE) ?
				  "the session has ended" : "no memory, or too many mailboxes of the user or the session");
	err = map_frames(vma, mailbox->head);
	if (err) {
		mailbox_put_both(mailbox);
		return err;
	}
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_private_data = mailbox;
	vma->vm_ops = &mailbox_vm_ops;
	smp_store_release(&task->mailbox, mailbox); /* pairs with iot_task_ops_asleep() */
	return 0;
}

/* -- taking records out ------------------------------------------------------------------------ */

/**
 * iot_mailbox_has_room() - is there room for another record?
 * @mailbox: any
 */
bool iot_mailbox_has_room(const struct iot_mailbox *mailbox)
{
	return READ_ONCE(mailbox->head->tail) - READ_ONCE(mailbox->taken) <=
		       IOT_MAILBOX_RING_BYTES - ROOM_BYTES ||
	       READ_ONCE(mailbox->head->is_closed);
}

/**
 * iot_mailbox_sync() - let the sender empty the mailbox of current, and wait for it if necessary
 * @session: that current has joined
 *
 * Return: 0; -EINVAL if current has no mailbox of the session; -EINTR if a signal came.
 */
int iot_mailbox_sync(struct iot_session *session)
{
	struct iot_task *task = iot_task_find_current();

	if (!task || !task->mailbox || task->mailbox->session != session->number)
		return -EINVAL;
	iot_session_kick(session);
	return iot_mailbox_has_room(task->mailbox) ? 0 : iot_backpressure_wait_mailbox(session, task);
}

/*
 * Copy the available bytes, at most as many as the message has room for. Each byte is read once. Return: bytes
 * copied, or -EBADMSG.
 */
static int copy_out(const struct iot_mailbox *mailbox, u8 *to, u32 *available_bytes)
{
	const u8 *ring = (const u8 *)mailbox->head + IOT_MAILBOX_HEAD_BYTES;
	u32 bytes = smp_load_acquire(&mailbox->head->tail) - mailbox->taken; /* the thread's release */
	u32 at = mailbox->taken % IOT_MAILBOX_RING_BYTES, first;

	*available_bytes = bytes;
	if (bytes > IOT_MAILBOX_RING_BYTES)
		return -EBADMSG;
	bytes = min_t(u32, bytes, IOT_BUFFER_BYTES);
	first = min_t(u32, bytes, IOT_MAILBOX_RING_BYTES - at);
	memcpy(to, ring + at, first);
	memcpy(to + first, ring, bytes - first);
	return bytes;
}

/* Set the fields that the thread does not know, and bring end times into order. Return: the end time. */
static u64 settle(struct iot_stream *stream, struct iot_record *record, u64 now_ns)
{
	const struct iot_mailbox *mailbox = stream->mailbox;
	struct iot_rec_op *op = &record->op;
	u64 end_ns;

	if (iot_kind_is_mpi_known(record->kind)) {
		end_ns = clamp(record->mpi_known.time_ns - mailbox->clock_ns, stream->last_ns, now_ns);
		record->mpi_known.time_ns = end_ns;
		record->mpi_known.task = mailbox->task;
		return end_ns;
	}
	op->enter_ns -= mailbox->clock_ns;
	end_ns = clamp(op->enter_ns + op->duration_ns, stream->last_ns, now_ns);
	op->enter_ns = min(op->enter_ns, end_ns);
	op->duration_ns = end_ns - op->enter_ns;
	op->oncpu_ns = min(op->oncpu_ns, op->duration_ns);
	op->task = mailbox->task;
	op->parent = 0;
	return end_ns;
}

/* Return: bytes of the record; 0 if it is incomplete; -EBADMSG. */
static int settle_one(struct iot_stream *stream, struct iot_buffer *buffer, u32 bytes, u64 now_ns)
{
	u8 *p = buffer->data + buffer->used_bytes;
	struct iot_record record;
	int length;

	if (bytes < IOT_RECORD_HEAD_BYTES || iot_get_u16(p) > bytes)
		return 0;
	length = iot_record_decode(p, bytes, &record);
	if (length < 0 || !iot_joined_is_valid(&record))
		return -EBADMSG;
	stream->last_ns = settle(stream, &record, now_ns);
	if (!buffer->count++)
		buffer->first_ns = stream->last_ns;
	buffer->last_ns = stream->last_ns;
	iot_record_encode(p, length, &record);
	buffer->used_bytes += length;
	return length;
}

/* Closes a mailbox with invalid contents: whatever follows cannot be decoded. */
static void close_broken(struct iot_stream *stream)
{
	struct iot_mailbox *mailbox = stream->mailbox;

	WRITE_ONCE(mailbox->head->is_closed, 1);
	stream->lost++;
	WRITE_ONCE(mailbox->taken, READ_ONCE(mailbox->head->tail));
}

/* Add the thread's count of lost records; a count that decreased is ignored. */
static void take_lost(struct iot_stream *stream)
{
	struct iot_mailbox *mailbox = stream->mailbox;
	u32 lost = READ_ONCE(mailbox->head->lost);

	if ((s32)(lost - mailbox->lost_seen) > 0)
		stream->lost += lost - mailbox->lost_seen;
	mailbox->lost_seen = lost;
}

/* Fill the message. */
static void take(struct iot_stream *stream, struct iot_buffer *buffer, u64 now_ns)
{
	struct iot_mailbox *mailbox = stream->mailbox;
	u32 available_bytes;
	int bytes = copy_out(mailbox, buffer->data, &available_bytes), length = 1;

	buffer->used_bytes = 0;
	buffer->count = 0;
	take_lost(stream);
	while (bytes > 0 && length > 0) {
		length = settle_one(stream, buffer, bytes, now_ns);
		if (length > 0)
			bytes -= length;
	}
	WRITE_ONCE(mailbox->taken, mailbox->taken + buffer->used_bytes);
	/* An incomplete record either had no room in the message, or is invalid. */
	if (bytes < 0 || length < 0 || (bytes && (!buffer->count || available_bytes <= IOT_BUFFER_BYTES)))
		close_broken(stream);
	smp_store_release(&mailbox->head->head, mailbox->taken);
	buffer->sequence = stream->records;
	buffer->lost = stream->lost;
	stream->records += buffer->count;
}

/* Fill the message from the mailbox, perhaps for the last time. Return: false if there is no mailbox. */
static bool stream_take(struct iot_stream *stream, struct iot_buffer *buffer, u64 end_ns)
{
	bool is_there;

	mutex_lock(&stream->lock);
	is_there = stream->mailbox;
	if (is_there) {
		take(stream, buffer, min(end_ns, ktime_get_mono_fast_ns()));
		stream_drop_left(stream);
	}
	mutex_unlock(&stream->lock);
	return is_there;
}

/* Empties a stream, in a limited number of rounds: a thread that fills it meanwhile does not delay the others. */
static int stream_send(struct iot_session *session, struct iot_stream *stream, u64 end_ns)
{
	struct iot_mailboxes *mailboxes = &session->mailboxes;
	struct iot_buffer *buffer = mailboxes->buffer;
	u64 lost_before;
	int rounds, err = 0;

	for (rounds = 0; rounds < 4 && !err; rounds++) {
		u32 count, used_bytes;
		bool is_news;

		if (!buffer->skb && iot_buffer_refill(buffer, GFP_KERNEL | __GFP_NOWARN))
			return -ENOMEM;
		lost_before = stream->lost;
		if (!stream_take(stream, buffer, end_ns))
			break;
		WRITE_ONCE(mailboxes->lost, mailboxes->lost + stream->lost - lost_before);
		is_news = buffer->count || stream->lost != lost_before;
		count = buffer->count;
		used_bytes = buffer->used_bytes;
		if (is_news) /* also if the mailbox was closed: no thread needs to wait for room then */
			iot_backpressure_wake(session);
		if (!count)
			break;
		buffer->cpu = nr_cpu_ids + stream->number;
		err = iot_delivery_put(&session->delivery, iot_buffer_seal(buffer));
		if (err)
			break;
		WRITE_ONCE(mailboxes->records, mailboxes->records + count);
		session->sent_records += count;
		WRITE_ONCE(session->sent_bytes, session->sent_bytes + used_bytes);
	}
	return err;
}

/**
 * iot_mailboxes_send() - pass their records to the sender
 * @session: whose sender calls
 * @end_ns: when recording ended, or U64_MAX
 *
 * Return: 0; -ENOMEM if there is no memory for a message, and nothing has been taken for it; another
 * negative errno if the collector has exited.
 */
int iot_mailboxes_send(struct iot_session *session, u64 end_ns)
{
	struct iot_stream *stream;
	int err = 0;

	list_for_each_entry_rcu(stream, &session->mailboxes.list, list, true) {
		err = stream_send(session, stream, end_ns);
		if (err)
			break;
	}
	return err;
}
