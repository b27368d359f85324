/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iotape.h - the interface of iotape.ko for the modules that write records.
 *
 * tapefs and replayfs use nothing else of the core. A module that records
 *
 *   1. adds a source for each thing that can be recorded: iot_source_add();
 *   2. takes each operation through the gate, which decides whether it is recorded: iot_gate_open() opens its span,
 *      iot_span_end() ends it;
 *   3. between the two, when the operation has ended, announces ids that are new, and emits its record:
 *      iot_span_enter(), IOT_EMIT_SPAN(), iot_session_leave(). If the span is counted, iot_span_count() takes the
 *      place of the record, and only the object is announced.
 *
 * Locking: but for a task's very first record, which is allocated and put into a table, and for waking the
 * sender when a buffer is full, nothing here takes a lock that two CPUs share. Only the backpressure functions
 * sleep, and no function can fail its caller: a record without room is counted as lost. So all other functions
 * may be called in any context except NMI; the span functions only for current.
 */
#ifndef IOTAPE_KMOD_H
#define IOTAPE_KMOD_H

#include <linux/fs.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/rcupdate.h>

#include <iotape/control.h>

#include "core/trace/filter.h"
#include "core/trace/record.h"

struct iot_session;
struct iot_source;
struct iot_task;

struct vm_area_struct;

/* How a file or a mapping relates to a source. */
enum iot_view {
	IOT_VIEW_NONE,
	IOT_VIEW_OURS,	 /* operations on it are recorded */
	IOT_VIEW_UNSEEN, /* it is below the same directory, but bypasses the source */
};

/**
 * struct iot_source_ops - how a source announces itself and its state when a session begins to record it
 * @announce: the source; may sleep
 * @root: id of its root directory; the caller is inside iot_session_enter()
 * @view_file: how a file relates to the source. Like the next, called with spinlocks held: it may not sleep
 * @dump_file: announce a file of its own, which is descriptor @fd of a task. Returns false if it
 *	was opened in this session
 * @view_map: how a mapping relates to it. Like the next two, called with the mm locked for reading
 * @dump_map: announce a mapping of its own; the caller is inside iot_session_enter(). Returns
 *	false if it was mapped in this session
 * @retouch_map: let accesses to that mapping be first accesses again; may sleep
 * @set_mmap: how closely accesses to mappings are recorded that are made from now on
 * @paths: results of the tests of paths of a filter program with a number, bit N that of test N; -1 if the path is not
 *	known. Like the next, called in an RCU read-side section for operations of current
 * @ino: inode number of an object in records
 */
struct iot_source_ops {
	void (*announce)(struct iot_source *source);
	u64 (*root)(struct iot_session *session, const struct iot_source *source);
	enum iot_view (*view_file)(const struct iot_source *source, const struct file *file);
	bool (*dump_file)(struct iot_session *session, u32 task, s32 fd, const struct file *file);
	enum iot_view (*view_map)(const struct iot_source *source, const struct vm_area_struct *vma);
	bool (*dump_map)(struct iot_session *session, u32 task, const struct vm_area_struct *vma);
	void (*retouch_map)(struct iot_session *session, const struct vm_area_struct *vma);
	void (*set_mmap)(struct iot_source *source, enum iot_mmap mmap);
	s64 (*paths)(const struct iot_source *source, const struct dentry *dentry,
		     const struct iot_filter_head *program, u32 number);
	u64 (*ino)(const struct inode *inode);
};

/**
 * struct iot_source - something that can be recorded: a tapefs mount
 * @sb: its super block; an open directory of it names the source
 * @ops: its own
 * @is_dump_due: its state dump in @session is not complete (core's)
 * @is_dumping: the dump is under way (core's)
 * @owner: the session it is attached to, NULL if none (core's)
 * @session: @owner while that is recording, else NULL (core's)
 * @path: where it is mounted, in the namespace of the task that attached it; NULL if not known (core's)
 * @number: of sources since the module was loaded, from 1 (core's)
 * @list: among all sources (core's)
 */
struct iot_source {
	struct super_block *sb;
	const struct iot_source_ops *ops;
	bool is_dump_due;
	bool is_dumping;
	struct iot_session *owner;
	struct iot_session __rcu *session;
	const char *path;
	u64 number;
	struct list_head list;
};

void iot_source_add(struct iot_source *source);
void iot_source_remove(struct iot_source *source);

/**
 * struct iot_meter - what an operation costs its thread, from here on
 * @enter_ns: monotonic clock at the beginning
 * @runtime_ns: time on a CPU so far, as of the scheduler's last update of it
 * @exec_start_ns: the scheduler's clock at that update
 * @waits: voluntary context switches so far
 * @switches: all context switches so far
 *
 * All but the first are the scheduler's numbers for the thread at the beginning.
 */
struct iot_meter {
	u64 enter_ns;
	u64 runtime_ns;
	u64 exec_start_ns;
	unsigned long waits;
	unsigned long switches;
};

void iot_meter_begin(struct iot_meter *meter);
void iot_meter_fill(const struct iot_meter *meter, u64 now_ns, struct iot_rec_op *op);

/**
 * struct iot_span - one operation from its beginning to its end; lives on the stack
 * @task: its task; NULL if it is not recorded, and then nothing else is set
 * @is_pending: a filter decides at the end of the operation, see iot_gate_keeps()
 * @is_counted: it is counted instead of recorded, see iot_span_count()
 * @note: the caller's, 0 at first; it survives iot_span_keep()
 * @stack: id of the function calls from which it was made, 0 if not recorded
 */
struct iot_span {
	struct iot_task *task;
	bool is_pending;
	bool is_counted;
	u32 note;
	u64 stack;
	/* private: the rest is the core's */
	struct iot_meter meter;
	u64 epoch;
	u32 op;
	u32 parent;
	u32 nth;
};

/**
 * struct iot_what - what an operation is on, for filters
 * @dentry: a name; NULL if there is none
 * @inode: the object; NULL if there is none
 * @to: of a copy, the destination, for counters; else NULL
 * @offset_bytes: where the range begins
 * @length_bytes: length of the range, or bytes requested
 * @result: of the operation, if @is_end
 * @has_offset: @offset_bytes is used
 * @has_length: @length_bytes is used
 * @is_end: the operation has ended
 * @is_submit: it is an asynchronous request that has been, or will be, submitted
 */
struct iot_what {
	const struct dentry *dentry;
	const struct inode *inode;
	const struct dentry *to;
	s64 offset_bytes;
	u64 length_bytes;
	s64 result;
	bool has_offset;
	bool has_length;
	bool is_end;
	bool is_submit;
};

DECLARE_STATIC_KEY_FALSE(iot_has_filters); /* a session has a filter, or is paused */

void __iot_gate_open(struct iot_source *source, enum iot_kind kind, struct iot_span *span, u64 key,
		     const struct iot_what *what);
bool iot_gate_refuses(const struct iot_source *source, enum iot_kind kind, const struct iot_what *what);
bool iot_gate_keeps(struct iot_session *session, struct iot_source *source, struct iot_span *span, enum iot_kind kind,
		    const struct iot_what *what);
void __iot_span_end(struct iot_span *span);
void __iot_span_cancel(struct iot_span *span);
void iot_span_keep(struct iot_span *span, u64 key);

/**
 * iot_gate_open() - current enters an operation: decide whether it is recorded
 * @source: that the operation is on
 * @kind: kind of its record; of a request that may stay under way, that of a read or write
 * @span: out: on if the operation is recorded
 *
 * A filter that tests the object or the range decides at the end; see iot_gate_open_on().
 *
 * Before this has decided, nothing is announced. If no session records the source, this costs one load and one branch.
 * Spans of one task nest; the inner ones name the outer one as their parent.
 */
static __always_inline void iot_gate_open(struct iot_source *source, enum iot_kind kind, struct iot_span *span)
{
	span->task = NULL;
	span->is_pending = false;
	if (unlikely(rcu_access_pointer(source->session)))
		__iot_gate_open(source, kind, span, 0, NULL);
}

/**
 * iot_gate_open_on() - as iot_gate_open(), if it is known what the operation is on
 * @source: that the operation is on
 * @kind: kind of its record
 * @span: out: on if the operation is recorded
 * @what: the object and the range
 */
static __always_inline void iot_gate_open_on(struct iot_source *source, enum iot_kind kind, struct iot_span *span,
					     const struct iot_what *what)
{
	span->task = NULL;
	span->is_pending = false;
	if (unlikely(rcu_access_pointer(source->session)))
		__iot_gate_open(source, kind, span, 0, what);
}

/**
 * iot_gate_open_kept() - as iot_gate_open(), or continue a span that was kept
 * @source: that the operation is on
 * @kind: kind of its record
 * @span: out: on if the operation is recorded
 * @key: of the operation, not 0
 *
 * The kernel tries some operations again, page faults for example; to the program they are one. If current has kept a
 * span under the same key, and opened none since, that span continues; else this is a new one.
 */
static __always_inline void iot_gate_open_kept(struct iot_source *source, enum iot_kind kind,
					       struct iot_span *span, u64 key)
{
	span->task = NULL;
	span->is_pending = false;
	if (unlikely(rcu_access_pointer(source->session)))
		__iot_gate_open(source, kind, span, key, NULL);
}

/**
 * iot_span_is_on() - is this operation being recorded?
 * @span: between the gate and its end
 */
static __always_inline bool iot_span_is_on(const struct iot_span *span)
{
	return unlikely(span->task);
}

/**
 * iot_span_is_recorded() - is there to be a record of this operation?
 * @span: between the gate and its end
 */
static __always_inline bool iot_span_is_recorded(const struct iot_span *span)
{
	return iot_span_is_on(span) && !span->is_counted;
}

/**
 * iot_span_end() - note that current left the operation
 * @span: as filled in by iot_gate_open()
 *
 * Must be called for every operation that passed the gate, with or without a record.
 */
static __always_inline void iot_span_end(struct iot_span *span)
{
	if (iot_span_is_on(span))
		__iot_span_end(span);
}

/**
 * iot_span_cancel() - current left an operation that turned out not to be one
 * @span: as filled in by iot_gate_open()
 *
 * Instead of iot_span_end(), for a span without a record: its number is used again.
 */
static __always_inline void iot_span_cancel(struct iot_span *span)
{
	if (iot_span_is_on(span))
		__iot_span_cancel(span);
}

u32 iot_span_task(const struct iot_span *span);
u64 iot_span_epoch(const struct iot_span *span);

struct iot_session *iot_source_enter(struct iot_source *source);
struct iot_session *iot_span_enter(struct iot_source *source, const struct iot_span *span);
bool iot_session_enter(struct iot_session *session);

/**
 * iot_session_leave() - end what iot_span_enter(), iot_source_enter() or
 * iot_session_enter() began
 */
static inline void iot_session_leave(void)
{
	rcu_read_unlock();
}

u64 iot_session_epoch(const struct iot_session *session);
u64 iot_cached_pages(const struct iot_session *session, const struct inode *lower);
void iot_freed_record(struct iot_source *source, u64 begin_ns);

/**
 * struct iot_slot - room for one record in this CPU's buffer; interrupts are off
 * @p: where the record goes
 * @now_ns: the time that the record ends at
 */
struct iot_slot {
	u8 *p;
	u64 now_ns;
	/* private: the rest is the core's */
	struct iot_session *session;
	unsigned long flags;
};

bool iot_slot_open(struct iot_session *session, u32 bytes, struct iot_slot *slot);
void iot_stack_emit(struct iot_session *session, const struct iot_span *span);

/* Directly before the record of an operation. */
static __always_inline void iot_span_state_stack(struct iot_session *session, const struct iot_span *span)
{
	if (unlikely(span->stack))
		iot_stack_emit(session, span);
}

void iot_slot_close(struct iot_slot *slot);
void iot_span_fill(const struct iot_span *span, u64 now_ns, struct iot_rec_op *op);

/**
 * IOT_EMIT_SPAN() - write the record of an operation that has just ended
 * @session: from iot_span_enter() or one of its relatives
 * @span: the operation's
 * @name: kind of record, as a word
 * @r: pointer to its struct iot_rec_NAME; the common fields but the result are filled in
 * @tail_p: its tail, may be NULL
 * @tail_n: bytes of the tail, at most IOT_TAIL_MAX_BYTES
 *
 * Return: true if the record was written, false if it was lost (and counted).
 */
#define IOT_EMIT_SPAN(session, span, name, r, tail_p, tail_n)                             \
	({                                                                               \
		struct iot_slot __slot;                                                  \
		bool __written;                                                          \
		iot_span_state_stack(session, span);                                     \
		__written = iot_slot_open(session, IOT_WIRE_##name + (tail_n), &__slot); \
		if (likely(__written)) {                                                 \
			iot_span_fill(span, __slot.now_ns, (struct iot_rec_op *)(r));    \
			iot_put_##name(__slot.p, r, tail_p, tail_n);                     \
			iot_slot_close(&__slot);                                         \
		}                                                                        \
		__written;                                                               \
	})

/**
 * IOT_EMIT_EVENT() - write a record that has a moment, but no length
 * @session: from iot_source_enter() or one of its relatives
 * @name: kind of record, as a word
 * @r: pointer to its struct iot_rec_NAME; time_ns is filled in
 * @tail_p: its tail, may be NULL
 * @tail_n: bytes of the tail, at most IOT_TAIL_MAX_BYTES
 *
 * Return: true if the record was written, false if it was lost (and counted).
 */
#define IOT_EMIT_EVENT(session, name, r, tail_p, tail_n)                                  \
	({                                                                               \
		struct iot_slot __slot;                                                  \
		bool __written = iot_slot_open(session, IOT_WIRE_##name + (tail_n), &__slot); \
		if (likely(__written)) {                                                 \
			(r)->time_ns = __slot.now_ns;                                    \
			iot_put_##name(__slot.p, r, tail_p, tail_n);                     \
			iot_slot_close(&__slot);                                         \
		}                                                                        \
		__written;                                                               \
	})

/*
 * counters.c: in the place of a record, if the session counts. A row is in use as long as the session is entered; later it
 * may only be passed to iot_row_count_late().
 */
struct iot_row;
struct iot_row *iot_row_find(struct iot_session *session, const struct iot_source *source, const struct iot_span *span,
			     enum iot_kind kind, u64 object, bool is_write);
bool iot_row_has_object(const struct iot_row *row);
u32 iot_row_turn(const struct iot_row *row);
void iot_row_add_bytes(struct iot_row *row, u64 bytes);
void iot_row_count(struct iot_row *row, u64 duration_ns, bool is_nested, const struct iot_what *what);
void iot_row_count_late(struct iot_session *session, struct iot_row *row, u32 turn, bool is_write, u64 duration_ns,
			const struct iot_what *what);
bool iot_span_count(struct iot_session *session, const struct iot_source *source, const struct iot_span *span,
		    enum iot_kind kind, u64 object, const struct iot_what *what);

void iot_session_count_announced(struct iot_session *session);

/**
 * IOT_ANNOUNCE() - write the record that says what an id stands for
 * @session: as for IOT_EMIT_EVENT(), like the others
 * @name: kind of record
 * @r: its fields
 * @tail_p: its tail
 * @tail_n: bytes of the tail
 *
 * The record is counted as an announcement.
 *
 * Return: true if the record was written, false if it was lost (and counted).
 */
#define IOT_ANNOUNCE(session, name, r, tail_p, tail_n)                                    \
	({                                                                               \
		bool __announced = IOT_EMIT_EVENT(session, name, r, tail_p, tail_n);      \
		if (likely(__announced))                                                 \
			iot_session_count_announced(session);                            \
		__announced;                                                             \
	})

void __iot_backpressure_here(struct iot_source *source);

/**
 * iot_backpressure_here() - wait for the collector now, if current must
 * @source: that current is about to operate on; current may sleep and holds no lock of the recorder
 *
 * For kernel threads, and for system calls that make many records before they end: a task that is due to wait on its
 * return to user mode waits here already.
 */
static __always_inline void iot_backpressure_here(struct iot_source *source)
{
	if (unlikely(rcu_access_pointer(source->session)))
		__iot_backpressure_here(source);
}

/* For replayfs: records of its own in a session that the user named by its descriptor. */
struct iot_session *iot_session_get_fd(int fd);
void iot_session_put(struct iot_session *session);
int iot_session_backpressure(struct iot_session *session);
int iot_task_play(u32 task);

#endif
