// SPDX-License-Identifier: GPL-2.0-only
/*
 * counters.c - operations that are counted instead of recorded.
 *
 * A session that counts has a table of rows. A row is keyed by kind of operation, object, process, user and mount, and
 * has sums and histograms of the operations with that key. An operation that finds no row counts in the overflow row of
 * its kind, so the sum over all rows is the number of operations.
 *
 * A turn exchanges the table for an empty one. The old table then has no writers, except for ends of asynchronous
 * requests: these know the turn of their row, and count in the overflow row if another one has come.
 *
 * Locking: none on the traced path. A row is free, claimed or ready. The CPU that turns it from free to claimed, by
 * cmpxchg, writes the key and makes it ready; then the key is constant. A CPU that meets a claimed row goes on to the
 * next one and does not wait, because the claiming task may be preempted. It may so claim a second row with the same
 * key: readers add equal rows. Numbers of a ready row are atomic one by one, so a reader may see an operation in some
 * of them and not yet in others. The table of a session is an RCU pointer, so that a turn can wait for the writers of the
 * old one. Tables are freed with the session, after another grace period. iot_control_lock guards what is set aside.
 */
#include "counters.h"

#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "debug.h"
#include "session.h"
#include "task.h"

#define PROBES_MAX 32	/* rows that an operation looks at */
#define SCAN_MAX   4096 /* rows that one call looks at with iot_control_lock held */

enum row_state {
	ROW_FREE,
	ROW_CLAIMED,
	ROW_READY,
};

/* What operations of a row have in common. */
struct row_key {
	u64 object;
	u64 source;
	u32 kind;
	u32 process;
	u32 uid;
	u32 is_write; /* see iot_row_find() */
	u64 command[TASK_COMM_LEN / sizeof(u64)];
};

/**
 * struct iot_row - operations with one key
 * @state: an enum row_state
 * @key: constant once the row is ready
 * @is_overflow: the row has no key but the kind
 * @turn: of the table, when the row was claimed
 * @task: the first task that counted here, if tasks are part of the key
 * @mount: root directory of the source, if that is part of the key
 * @last_end: offset at which the last range ended, plus 1; 0: there was none
 * @errnos: errors that occurred, positive; 0: free
 * @errno_counts: operations that returned each of them
 * @count: operations
 * @errors: of them, those that returned an error
 * @bytes: that they moved
 * @duration_ns: time in them
 * @nested_ns: of that, time that is part of another operation
 * @longest_ns: the longest
 * @latencies: operations by duration, buckets as in struct iot_counter
 * @sizes: the same by bytes requested
 * @strides: the same by distance to the previous range
 */
struct iot_row {
	atomic_t state;
	struct row_key key;
	bool is_overflow;
	u32 turn;
	u32 task;
	u64 mount;
	atomic64_t count;
	atomic64_t errors;
	atomic64_t bytes;
	atomic64_t duration_ns;
	atomic64_t nested_ns;
	atomic64_t longest_ns;
	atomic64_t last_end;
	atomic_t errnos[IOT_COUNTER_ERRNOS];
	atomic64_t errno_counts[IOT_COUNTER_ERRNOS];
	atomic64_t latencies[IOT_COUNTER_LATENCIES];
	atomic64_t sizes[IOT_COUNTER_SIZES];
	atomic64_t strides[IOT_COUNTER_STRIDES];
};

/**
 * struct iot_counter_table - the rows of a session
 * @limit: rows for keys
 * @keys: bits IOT_COUNT_*
 * @turn: tables that the session had before
 * @rows: @limit of them, and two overflow rows for each kind from IOT_REFUSED_FIRST, the second one with @is_write
 */
struct iot_counter_table {
	u32 limit;
	u32 keys;
	u32 turn;
	struct iot_row rows[];
};

#define OVERFLOW_ROWS (2 * IOT_REFUSED_KINDS)

static u32 rows_in_all(const struct iot_counter_table *table)
{
	return table->limit + OVERFLOW_ROWS;
}

/* The table has no writers and no readers. */
static void table_clear(struct iot_counter_table *table, u32 turn)
{
	struct iot_row *row;
	u32 i;

	for (i = 0; i < rows_in_all(table); i++) {
		memset(&table->rows[i], 0, sizeof(table->rows[i]));
		cond_resched();
	}
	for (i = 0; i < OVERFLOW_ROWS; i++) {
		row = &table->rows[table->limit + i];
		row->key.kind = IOT_REFUSED_FIRST + i / 2;
		row->key.is_write = i % 2;
		row->key.uid = ~0u;
		row->is_overflow = true;
		row->turn = turn;
		atomic_set(&row->state, ROW_READY);
	}
	table->turn = turn;
}

static struct iot_counter_table *table_new(u32 rows, u32 keys, u32 turn)
{
	struct iot_counter_table *table;

	table = kvmalloc(struct_size(table, rows, (size_t)rows + OVERFLOW_ROWS), GFP_KERNEL_ACCOUNT);
	if (!table)
		return NULL;
	table->limit = rows;
	table->keys = keys;
	table_clear(table, turn);
	return table;
}

/**
 * iot_counters_new() - make an empty table
 * @rows: for keys, IOT_COUNTERS_ROWS_MIN to IOT_COUNTERS_ROWS_MAX
 * @keys: bits IOT_COUNT_*, see struct iot_count
 *
 * Context: sleeps. Return: the table, charged to the control group of current; NULL without memory.
 */
struct iot_counter_table *iot_counters_new(u32 rows, u32 keys)
{
	return table_new(rows, keys ?: IOT_COUNT_OBJECT | IOT_COUNT_PROCESS | IOT_COUNT_USER | IOT_COUNT_MOUNT, 0);
}

/**
 * iot_counters_are_quiet() - are tasks announced only where a row, or an MPI call, refers to them?
 * @table: of a session; NULL if it does not count
 */
bool iot_counters_are_quiet(const struct iot_counter_table *table)
{
	return table && !(table->keys & IOT_COUNT_PROCESS);
}

/* Return: an empty table, which is no one else's; NULL without memory. */
static struct iot_counter_table *table_spare(struct iot_session *session)
{
	struct iot_counter_table *table, *spare;
	u32 rows, keys, turn;

	mutex_lock(&iot_control_lock);
	table = rcu_dereference_protected(session->counters, lockdep_is_held(&iot_control_lock));
	rows = table->limit;
	keys = table->keys;
	turn = table->turn + 1;
	spare = session->counters_aside;
	session->counters_aside = NULL;
	mutex_unlock(&iot_control_lock);
	if (!spare)
		return table_new(rows, keys, turn);
	table_clear(spare, turn);
	return spare;
}

/**
 * iot_counters_turn() - IOT_IOC_TURN
 * @session: any; the caller excludes other turns
 *
 * Context: sleeps for a grace period, without iot_control_lock. Return: 0; -EINVAL if the session does not count;
 * -ENOMEM.
 */
int iot_counters_turn(struct iot_session *session)
{
	struct iot_counter_table *table;

	if (!rcu_access_pointer(session->counters)) /* constant once the session has started */
		return iot_refuse(-EINVAL, "turn: session %llu does not count", session->number);
	table = table_spare(session);
	if (!table)
		return -ENOMEM;
	mutex_lock(&iot_control_lock);
	table = rcu_replace_pointer(session->counters, table, lockdep_is_held(&iot_control_lock));
	mutex_unlock(&iot_control_lock);
	synchronize_rcu();
	mutex_lock(&iot_control_lock);
	session->counters_aside = table;
	mutex_unlock(&iot_control_lock);
	return 0;
}

/**
 * iot_counters_free() - free a table
 * @table: without writers; may be NULL
 */
void iot_counters_free(struct iot_counter_table *table)
{
	kvfree(table);
}

/* -- the traced path -------------------------------------------------------------------------- */

static bool key_equals(const struct row_key *a, const struct row_key *b)
{
	return a->object == b->object && a->kind == b->kind && a->process == b->process && a->uid == b->uid &&
	       a->source == b->source && a->is_write == b->is_write && a->command[0] == b->command[0] &&
	       a->command[1] == b->command[1];
}

static u32 key_hash(const struct row_key *key)
{
	return hash_64(key->object ^ ((u64)key->process << 32) ^ ((u64)key->kind << 20) ^ key->uid ^ key->command[0] ^
		       (key->command[1] << 3), 32);
}

/* Where to count: what row_find() and row_claim() have in common. */
struct place {
	struct iot_session *session;
	const struct iot_source *source;
	struct iot_counter_table *table;
	struct iot_task *task;
};

static u32 task_of_row(const struct place *place)
{
	if (place->table->keys & IOT_COUNT_PROCESS)
		return place->task->id;
	if (!(place->table->keys & IOT_COUNT_COMMAND))
		return 0;
	iot_task_represent(place->session, place->task);
	return place->task->id;
}

static bool row_claim(struct iot_row *row, const struct row_key *key, const struct place *place)
{
	if (atomic_cmpxchg(&row->state, ROW_FREE, ROW_CLAIMED) != ROW_FREE)
		return false;
	row->key = *key;
	row->turn = place->table->turn;
	row->task = task_of_row(place);
	if (place->table->keys & IOT_COUNT_MOUNT)
		row->mount = place->source->ops->root(place->session, place->source);
	atomic_set_release(&row->state, ROW_READY); /* pairs with row_find() and row_read() */
	return true;
}

static struct iot_row *overflow_row(struct iot_counter_table *table, u32 kind, u32 is_write)
{
	return &table->rows[table->limit + 2 * (kind - IOT_REFUSED_FIRST) + is_write];
}

static struct iot_row *row_find(const struct place *place, const struct row_key *key)
{
	struct iot_counter_table *table = place->table;
	u32 at = reciprocal_scale(key_hash(key), table->limit), i;
	struct iot_row *row;
	int state;

	for (i = 0; i < PROBES_MAX; i++) {
		row = &table->rows[at];
		state = atomic_read_acquire(&row->state);
		if (likely(state == ROW_READY && key_equals(&row->key, key)))
			return row;
		if (state == ROW_FREE && row_claim(row, key, place))
			return row;
		if (++at == table->limit)
			at = 0;
	}
	return overflow_row(table, key->kind, key->is_write);
}

/**
 * iot_row_find() - the row that an operation of current counts in
 * @session: entered; it counts
 * @source: of the operation
 * @span: the operation
 * @kind: of the group op
 * @object: its id; 0 if there is none
 * @is_write: it is the completion of an asynchronous write, or @object is the destination of a copy
 *
 * Return: the row, which is that of the overflow if no other is free; valid until iot_session_leave().
 */
struct iot_row *iot_row_find(struct iot_session *session, const struct iot_source *source, const struct iot_span *span,
			     enum iot_kind kind, u64 object, bool is_write)
{
	const struct place place = { session, source, rcu_dereference(session->counters), span->task };
	const u32 keys = place.table->keys;
	struct row_key key = {
		.object = keys & IOT_COUNT_OBJECT ? object : 0,
		.source = keys & IOT_COUNT_MOUNT ? source->number : 0,
		.kind = kind,
		.process = keys & IOT_COUNT_PROCESS ? span->task->process : 0,
		.uid = keys & IOT_COUNT_USER ? __kuid_val(current_euid()) : ~0u,
		.is_write = is_write,
	};

	BUILD_BUG_ON(sizeof(key.command) != TASK_COMM_LEN);
	if (keys & IOT_COUNT_COMMAND)
		strscpy_pad((char *)key.command, current->comm, sizeof(key.command));
	return row_find(&place, &key);
}
EXPORT_SYMBOL_GPL(iot_row_find);

/**
 * iot_row_has_object() - is it a row of one object?
 * @row: any
 */
bool iot_row_has_object(const struct iot_row *row)
{
	return row->key.object;
}
EXPORT_SYMBOL_GPL(iot_row_has_object);

/**
 * iot_row_turn() - the turn that a row belongs to
 * @row: from iot_row_find(), before iot_session_leave()
 */
u32 iot_row_turn(const struct iot_row *row)
{
	return row->turn;
}
EXPORT_SYMBOL_GPL(iot_row_turn);

/* Errors beyond the room for different ones are in the sum of all errors only. */
static noinline void count_error(struct iot_row *row, int number)
{
	int known, i;

	atomic64_inc(&row->errors);
	for (i = 0; i < IOT_COUNTER_ERRNOS; i++) {
		known = atomic_read(&row->errnos[i]);
		if (!known)
			known = atomic_cmpxchg(&row->errnos[i], 0, number) ?: number;
		if (known == number) {
			atomic64_inc(&row->errno_counts[i]);
			return;
		}
	}
}

static void raise_longest(struct iot_row *row, s64 duration_ns)
{
	s64 longest_ns = atomic64_read(&row->longest_ns);

	while (unlikely(duration_ns > longest_ns) &&
	       !atomic64_try_cmpxchg(&row->longest_ns, &longest_ns, duration_ns))
		;
}

/* Bucket 0 is for 0, bucket N for numbers from 2^(N-1); the last one has no upper end. */
static u32 bucket_of(u64 number, u32 buckets)
{
	return min_t(u32, fls64(number), buckets - 1);
}

/* The first half of the buckets is for distances forward, the second half for those backward. */
static void count_stride(struct iot_row *row, u64 from, u64 length_bytes)
{
	const u32 half = IOT_COUNTER_STRIDES / 2;
	u64 last = atomic64_xchg(&row->last_end, from + length_bytes + 1);

	if (!last)
		return;
	last--;
	if (from >= last)
		atomic64_inc(&row->strides[bucket_of(from - last, half)]);
	else
		atomic64_inc(&row->strides[half + bucket_of(last - from, half)]);
}

/**
 * iot_row_add_bytes() - add bytes, and no operation
 * @row: from iot_row_find()
 * @bytes: that an operation moved which counts in another row
 */
void iot_row_add_bytes(struct iot_row *row, u64 bytes)
{
	atomic64_add(bytes, &row->bytes);
}
EXPORT_SYMBOL_GPL(iot_row_add_bytes);

static u64 moved_bytes(enum iot_kind kind, s64 result, u64 length_bytes)
{
	switch (kind) {
	case IOT_KIND_read:
	case IOT_KIND_write:
	case IOT_KIND_complete:
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		return result > 0 ? result : 0;
	case IOT_KIND_touch:
		return result >= 0 ? length_bytes : 0;
	default:
		return 0;
	}
}

/**
 * iot_row_count() - count an operation that has ended
 * @row: from iot_row_find()
 * @duration_ns: of the operation
 * @is_nested: its time is part of that of another operation
 * @what: its range and result
 *
 * Context: any but NMI.
 */
void iot_row_count(struct iot_row *row, u64 duration_ns, bool is_nested, const struct iot_what *what)
{
	u64 bytes = moved_bytes(row->key.kind, what->result, what->length_bytes);

	atomic64_inc(&row->count);
	atomic64_add(duration_ns, &row->duration_ns);
	atomic64_inc(&row->latencies[bucket_of(duration_ns, IOT_COUNTER_LATENCIES)]);
	raise_longest(row, duration_ns);
	if (is_nested)
		atomic64_add(duration_ns, &row->nested_ns);
	if (bytes)
		atomic64_add(bytes, &row->bytes);
	if (what->has_length)
		atomic64_inc(&row->sizes[bucket_of(what->length_bytes, IOT_COUNTER_SIZES)]);
	if (what->has_offset && what->has_length && iot_row_has_object(row))
		count_stride(row, what->offset_bytes, what->length_bytes);
	if (unlikely(what->result < 0))
		count_error(row, what->result == -ERESTARTSYS ? EINTR : -what->result);
}
EXPORT_SYMBOL_GPL(iot_row_count);

/**
 * iot_row_count_late() - count the end of an asynchronous request
 * @session: entered; the one that the row is of
 * @row: of the request; of a turn that has passed, it may have become the row of another key
 * @turn: of the row, when the request was submitted
 * @is_write: the request writes
 * @duration_ns: of the request
 * @what: its result
 *
 * Context: any but NMI.
 */
void iot_row_count_late(struct iot_session *session, struct iot_row *row, u32 turn, bool is_write, u64 duration_ns,
			const struct iot_what *what)
{
	struct iot_counter_table *table = rcu_dereference(session->counters);

	if (unlikely(table->turn != turn))
		row = overflow_row(table, IOT_KIND_complete, is_write);
	iot_row_count(row, duration_ns, true, what);
}
EXPORT_SYMBOL_GPL(iot_row_count_late);

/**
 * iot_span_count() - count an operation of current that has ended
 * @session: entered; it counts
 * @source: of the operation
 * @span: the operation
 * @kind: of the group op
 * @object: its id; 0 if there is none
 * @what: its range and result
 *
 * Return: true if the row has the object, which then needs a name.
 */
bool iot_span_count(struct iot_session *session, const struct iot_source *source, const struct iot_span *span,
		    enum iot_kind kind, u64 object, const struct iot_what *what)
{
	struct iot_row *row = iot_row_find(session, source, span, kind, object, false);

	iot_row_count(row, ktime_get_mono_fast_ns() - span->meter.enter_ns, span->parent, what);
	return iot_row_has_object(row);
}
EXPORT_SYMBOL_GPL(iot_span_count);

/* -- readers ---------------------------------------------------------------------------------- */

static void copy_numbers(u64 *to, const atomic64_t *from, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		to[i] = atomic64_read(&from[i]);
}

/* Return: false if nothing was counted in the row. */
static bool row_read(const struct iot_row *row, struct iot_counter *to)
{
	u32 i;

	if (atomic_read_acquire(&row->state) != ROW_READY ||
	    (!atomic64_read(&row->count) && !atomic64_read(&row->bytes)))
		return false;
	*to = (struct iot_counter){
		.object = row->key.object,
		.mount = row->mount,
		.kind = row->key.kind,
		.task = row->task,
		.uid = row->key.uid,
		.flags = (row->is_overflow ? IOT_COUNTER_OVERFLOW : 0) | (row->key.is_write ? IOT_COUNTER_WRITE : 0),
		.count = atomic64_read(&row->count),
		.errors = atomic64_read(&row->errors),
		.bytes = atomic64_read(&row->bytes),
		.duration_ns = atomic64_read(&row->duration_ns),
		.nested_ns = atomic64_read(&row->nested_ns),
		.longest_ns = atomic64_read(&row->longest_ns),
	};
	for (i = 0; i < IOT_COUNTER_ERRNOS; i++)
		to->errnos[i] = atomic_read(&row->errnos[i]);
	copy_numbers(to->errno_counts, row->errno_counts, IOT_COUNTER_ERRNOS);
	copy_numbers(to->latencies, row->latencies, IOT_COUNTER_LATENCIES);
	copy_numbers(to->sizes, row->sizes, IOT_COUNTER_SIZES);
	copy_numbers(to->strides, row->strides, IOT_COUNTER_STRIDES);
	return true;
}

/* Takes @read->next, a row; sets it to the row to go on from, 0 after the last one. */
static int table_read(const struct iot_counter_table *table, struct iot_counters *read, struct iot_counter *to)
{
	u32 at = read->next, end;

	if (at >= rows_in_all(table))
		return -EINVAL;
	end = min(rows_in_all(table), at + SCAN_MAX);
	read->limit = table->limit;
	read->turns = table->turn;
	for (read->count = 0; at < end && read->count < read->room; at++)
		read->count += row_read(&table->rows[at], &to[read->count]);
	read->next = at < rows_in_all(table) ? at : 0;
	return 0;
}

static const struct iot_counter_table *table_to_read(const struct iot_session *session, u32 flags)
{
	if (flags & IOT_COUNTERS_ASIDE)
		return session->counters_aside;
	return rcu_dereference_protected(session->counters, lockdep_is_held(&iot_control_lock));
}

static int session_read(struct iot_counters *read, struct iot_counter *to)
{
	const struct iot_counter_table *table;
	const struct iot_session *session;
	int err = -ENOENT;

	mutex_lock(&iot_control_lock);
	session = iot_session_find_locked(read->session);
	if (session) {
		table = table_to_read(session, read->flags);
		err = table ? table_read(table, read, to) : -EINVAL;
	}
	mutex_unlock(&iot_control_lock);
	return err;
}

/* The lock is not held while memory of the caller is written, which may take as long as the caller likes. */
static int rows_give(struct iot_counters *read, struct iot_counters __user *arg)
{
	struct iot_counter *rows = kvcalloc(read->room, sizeof(*rows), GFP_KERNEL_ACCOUNT);
	int err;

	if (!rows)
		return -ENOMEM;
	err = session_read(read, rows);
	if (!err && (copy_to_user(u64_to_user_ptr(read->rows), rows, read->count * sizeof(*rows)) ||
		     copy_to_user(arg, read, sizeof(*read))))
		err = -EFAULT;
	kvfree(rows);
	return err;
}

static bool is_permitted(u64 number)
{
	bool is_it;

	mutex_lock(&iot_control_lock);
	is_it = iot_ctl_is_permitted(iot_session_find_locked(number));
	mutex_unlock(&iot_control_lock);
	return is_it;
}

/**
 * iot_counters_read() - IOT_IOC_COUNTERS
 * @own: the session that the descriptor is; NULL if it is none
 * @arg: of the ioctl
 *
 * Return: 0 or a negative errno, see struct iot_counters.
 */
int iot_counters_read(const struct iot_session *own, struct iot_counters __user *arg)
{
	struct iot_counters read;
	int err;

	if (copy_from_user(&read, arg, sizeof(read)))
		return -EFAULT;
	if (!read.session && own)
		read.session = own->number;
	if ((!own || read.session != own->number) && !is_permitted(read.session))
		return iot_refuse(-EPERM, "counters: without CAP_SYS_ADMIN");
	if (read.flags & ~IOT_COUNTERS_ASIDE || !read.room || read.room > IOT_COUNTERS_ROOM_MAX)
		return iot_refuse(-EINVAL, "counters: no room, too much of it, or unknown flags");
	err = rows_give(&read, arg);
	return err ? iot_refuse(err, "counters: session %llu, from row %u", read.session, read.next) : 0;
}
