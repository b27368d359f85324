// SPDX-License-Identifier: GPL-2.0-only
/*
 * linear_locks.c - file locks: the order that keeps each lock free, or locked, as in the trace.
 *
 * A replay requests a lock when it must be free, and never waits for one. So
 *
 *	a lock, or a test that finds none	comes after the release of all that was in its way
 *	a refusal, or a test that finds one	comes after the lock that is in the way, and
 *						before its release
 *	a release				comes after its lock
 *
 * whether they overlapped or not. A release is also close(2), which releases all locks of the
 * process on the file, and the end of a handle, which releases those that the handle owns.
 * Locks of fcntl and of flock do not conflict with each other.
 */
#include <stdlib.h>
#include <uthash.h>

#include "linear.h"

#define FREED_MAX  4096 /* released ranges of a file; with more, the order becomes coarser */
#define LOCK_TYPES (IOT_LOCK_shared | IOT_LOCK_exclusive)

enum lock_class {
	LOCK_PROCESS, /* fcntl, owned by a process */
	LOCK_HANDLE,  /* fcntl, owned by an open file description */
	LOCK_FLOCK,
};

/* A locked or requested range of a file; @to is its last byte. */
struct lock {
	u64 owner;
	u64 from;
	u64 to;
	u32 type; /* one of LOCK_TYPES */
	enum lock_class class;
};

/* A lock that is had; parts of one that was split have the same id. */
struct hold {
	struct lock lock;
	u64 id;
	struct op_at by;
};

/* A lock that was had, or a moment at which one was free. */
struct freed {
	struct lock lock;
	u64 count;
	struct op_at taken;
	struct op_at by;
	bool is_test;
};

/* An operation that a lock refused, or that observed a lock of type @found; 0: any type. */
struct refused {
	struct lock lock;
	u32 found;
	u64 id;
	struct op_at who;
};

struct file_locks {
	UT_hash_handle hh;
	u32 file;
	u32 hold_count;
	u32 hold_room;
	u32 freed_count;
	u32 freed_room;
	u32 freed_limit;
	u32 refused_count;
	u32 refused_room;
	u32 pending_count;
	u32 pending_room;
	struct hold *holds;
	struct freed *freed;
	struct refused *refused;
	u32 *pending; /* tasks */
	u64 last_id;
};

/* -- locks ----------------------------------------------------------------------------------- */

static bool is_same_owner(const struct lock *a, const struct lock *b)
{
	return a->class == b->class && a->owner == b->owner;
}

static bool is_touching(const struct lock *a, const struct lock *b)
{
	return (a->class == LOCK_FLOCK) == (b->class == LOCK_FLOCK) && a->from <= b->to &&
	       b->from <= a->to;
}

static bool is_in_way(const struct lock *a, const struct lock *b)
{
	return !is_same_owner(a, b) && is_touching(a, b) &&
	       ((a->type | b->type) & IOT_LOCK_exclusive);
}

static bool is_within(const struct lock *inner, const struct lock *outer)
{
	return is_touching(inner, outer) && inner->from >= outer->from && inner->to <= outer->to;
}

static struct lock lock_of(const struct linear *e, const struct linear_op *x)
{
	const struct graph_op *op = linear_graph_op(e, x->at);
	struct lock lock = { .to = (u64)INT64_MAX };

	if (op->kind == IOT_KIND_lock) {
		lock.type = op->flags & LOCK_TYPES;
		lock.from = op->offset_bytes;
		lock.to = op->extra;
		lock.class = op->flags & IOT_LOCK_flock ? LOCK_FLOCK :
			     op->flags & IOT_LOCK_ofd	? LOCK_HANDLE :
						       LOCK_PROCESS;
	} else {
		lock.class = op->kind == IOT_KIND_flush ? LOCK_PROCESS : LOCK_HANDLE;
	}
	lock.owner = lock.class == LOCK_PROCESS ? e->graph->tasks[x->at.task].tgid : op->handle;
	return lock;
}

/* Is it the lock that another operation found as a conflict? */
static bool is_found(const struct lock *lock, const struct lock *asked, u32 found)
{
	return is_in_way(lock, asked) && (!found || found == lock->type);
}

/* Does an operation release at least a part of a held lock? */
static bool gives_up(const struct linear *e, const struct linear_op *x, const struct lock *lock)
{
	const struct graph_op *op = linear_graph_op(e, x->at);
	struct lock own = lock_of(e, x);

	if (op->kind == IOT_KIND_release)
		return lock->class != LOCK_PROCESS && lock->owner == own.owner;
	if (op->kind == IOT_KIND_lock && (op->result || (op->flags & IOT_LOCK_test)))
		return false;
	return is_same_owner(lock, &own) && is_touching(lock, &own) && own.type < lock->type;
}

static void wait(struct linear *e, struct op_at before, struct op_at after)
{
	linear_wait(e, before, after, EDGE_lock);
}

/* -- lists ------------------------------------------------------------------------------------- */

static void hold_add(struct linear *e, struct file_locks *f, const struct hold *hold)
{
	f->holds = linear_room(e, f->holds, f->hold_count, &f->hold_room, sizeof(*f->holds));
	if (!e->err)
		f->holds[f->hold_count++] = *hold;
}

/* By one task in sequence: an operation that waits for the last waits for all. */
static bool is_after(const struct freed *a, const struct freed *b)
{
	return a->by.task == b->by.task && a->lock.type == b->lock.type &&
	       is_within(&b->lock, &a->lock);
}

/* Of very many ranges only one per task is retained; an operation that waits for it waits longer than necessary. */
static void coarsen(struct file_locks *f)
{
	u32 i, j, kept = 0;

	for (i = 0; i < f->freed_count; i++) {
		const struct freed *freed = &f->freed[i];
		bool is_flock = freed->lock.class == LOCK_FLOCK;

		for (j = 0; j < kept; j++)
			if (f->freed[j].by.task == freed->by.task &&
			    (f->freed[j].lock.class == LOCK_FLOCK) == is_flock)
				break;
		if (j == kept || freed->count > f->freed[j].count)
			f->freed[j] = *freed;
		f->freed[j].lock.from = 0;
		f->freed[j].lock.to = (u64)INT64_MAX;
		f->freed[j].lock.type = IOT_LOCK_exclusive;
		f->freed[j].is_test = true; /* causes no refusal */
		kept += j == kept;
	}
	f->freed_count = kept;
	f->freed_limit = 2 * kept + FREED_MAX;
}

static void freed_add(struct linear *e, struct file_locks *f, const struct freed *freed)
{
	u32 i;

	for (i = 0; i < f->freed_count; i++)
		if (is_after(freed, &f->freed[i])) {
			f->freed[i] = *freed;
			return;
		}
	if (f->freed_count >= FREED_MAX && f->freed_count >= f->freed_limit)
		coarsen(f);
	f->freed = linear_room(e, f->freed, f->freed_count, &f->freed_room, sizeof(*f->freed));
	if (!e->err)
		f->freed[f->freed_count++] = *freed;
}

static void refused_add(struct linear *e, struct file_locks *f, const struct refused *refused)
{
	f->refused = linear_room(e, f->refused, f->refused_count, &f->refused_room,
				  sizeof(*f->refused));
	if (!e->err)
		f->refused[f->refused_count++] = *refused;
}

/* The remainder of a hold without a range: at most a part before and a part after it. */
static void cut(struct linear *e, struct file_locks *f, u32 at, const struct lock *range)
{
	struct hold hold = f->holds[at], part = hold;

	f->holds[at] = f->holds[--f->hold_count];
	if (hold.lock.from < range->from) {
		part.lock.to = range->from - 1;
		hold_add(e, f, &part);
	}
	if (hold.lock.to > range->to) {
		part = hold;
		part.lock.from = range->to + 1;
		hold_add(e, f, &part);
	}
}

/* Operations that it refused took effect before; if it still conflicts, it is the reason. */
static void settle_refused(struct linear *e, struct file_locks *f, const struct hold *hold,
			   const struct lock *range, const struct hold *instead, struct op_at by)
{
	u32 i, kept = 0;

	for (i = 0; i < f->refused_count; i++) {
		struct refused *r = &f->refused[i];

		if (r->id == hold->id && is_touching(&r->lock, range)) {
			if (!instead || !is_found(&instead->lock, &r->lock, r->found)) {
				wait(e, r->who, by);
				continue;
			}
			r->id = instead->id;
		}
		f->refused[kept++] = *r;
	}
	f->refused_count = kept;
}

/* The operation of a task replaces the hold of its owner in a range by nothing or by another hold. */
static void replace(struct linear *e, struct file_locks *f, const struct lock *range,
		    const struct hold *instead, struct op_at by)
{
	u32 i;

	for (i = 0; i < f->hold_count && !e->err;) {
		const struct hold hold = f->holds[i];
		struct freed freed = { hold.lock, e->count, hold.by, by, false };

		if (!is_same_owner(&hold.lock, range) || !is_touching(&hold.lock, range)) {
			i++;
			continue;
		}
		wait(e, hold.by, by);
		settle_refused(e, f, &hold, range, instead, by);
		if (freed.lock.from < range->from)
			freed.lock.from = range->from;
		if (freed.lock.to > range->to)
			freed.lock.to = range->to;
		if (!instead || instead->lock.type < hold.lock.type)
			freed_add(e, f, &freed);
		cut(e, f, i, range);
		i = 0;
	}
	if (instead)
		hold_add(e, f, instead);
}

/* -- execution --------------------------------------------------------------------------------- */

static s64 in_way(const struct file_locks *f, const struct lock *lock, u32 found)
{
	u32 i;

	for (i = 0; i < f->hold_count; i++)
		if (is_found(&f->holds[i].lock, lock, found))
			return i;
	return -1;
}

static bool is_free_to_happen(const struct linear_op *x, const struct linear_op *other)
{
	return other != x && !other->has_happened && !other->is_happening;
}

/* The owner of a lock released it: an operation under way did, or none that is known. */
static void force_free(struct linear *e, struct file_locks *f, const struct linear_op *x, u32 at)
{
	const struct hold hold = f->holds[at];
	u32 i;

	for (i = 0; i < f->pending_count; i++) {
		struct linear_op *other = e->of_task[f->pending[i]];

		if (!is_free_to_happen(x, other) || !gives_up(e, other, &hold.lock))
			continue;
		linear_happen(e, other);
		if (other->has_happened)
			return;
	}
	e->unexplained++;
	f->holds[at] = f->holds[--f->hold_count];
}

/* After all releases of conflicting locks; later operations need not wait for these again. */
static void wait_for_freed(struct linear *e, struct file_locks *f, const struct lock *lock,
			   struct op_at who, bool is_taken)
{
	u32 i, kept = 0;

	for (i = 0; i < f->freed_count; i++) {
		const struct freed *freed = &f->freed[i];

		if (is_touching(&freed->lock, lock) &&
		    (is_in_way(&freed->lock, lock) || is_same_owner(&freed->lock, lock)))
			wait(e, freed->by, who);
		if (!is_taken || lock->type != IOT_LOCK_exclusive || !is_within(&freed->lock, lock))
			f->freed[kept++] = *freed;
	}
	f->freed_count = kept;
}

static void take(struct linear *e, struct linear_op *x, const struct lock *lock, bool is_test)
{
	struct file_locks *f = x->locks;
	struct freed free = { *lock, 0, x->at, x->at, true };
	struct hold hold = { *lock, ++f->last_id, x->at };
	s64 at;

	while ((at = in_way(f, lock, 0)) >= 0 && !e->err)
		force_free(e, f, x, (u32)at);
	free.count = ++e->count;
	wait_for_freed(e, f, lock, x->at, !is_test);
	if (is_test)
		freed_add(e, f, &free);
	else
		replace(e, f, lock, &hold, x->at);
}

/* It was given up since the one that was refused had begun. */
static bool was_in_way(struct linear *e, const struct file_locks *f, const struct linear_op *x,
		       const struct lock *lock, u32 found)
{
	u32 i;

	for (i = 0; i < f->freed_count; i++) {
		const struct freed *freed = &f->freed[i];

		if (freed->is_test || freed->count <= x->begun ||
		    !is_found(&freed->lock, lock, found))
			continue;
		wait(e, freed->taken, x->at);
		wait(e, x->at, freed->by);
		return true;
	}
	return false;
}

/* An operation under way takes the conflicting lock. */
static bool force_taken(struct linear *e, struct file_locks *f, const struct linear_op *x,
			const struct lock *lock, u32 found)
{
	u32 i;

	for (i = 0; i < f->pending_count; i++) {
		struct linear_op *other = e->of_task[f->pending[i]];
		const struct graph_op *op = linear_graph_op(e, other->at);
		struct lock taken = lock_of(e, other);

		if (!is_free_to_happen(x, other) || op->kind != IOT_KIND_lock || op->result ||
		    (op->flags & IOT_LOCK_test) || !taken.type || !is_found(&taken, lock, found))
			continue;
		linear_happen(e, other);
		return true;
	}
	return false;
}

static void be_refused(struct linear *e, struct linear_op *x, const struct lock *lock, u32 found)
{
	struct file_locks *f = x->locks;
	struct refused refused = { .lock = *lock, .found = found, .who = x->at };
	s64 at = in_way(f, lock, found);

	if (at < 0 && was_in_way(e, f, x, lock, found))
		return;
	if (at < 0 && force_taken(e, f, x, lock, found))
		at = in_way(f, lock, found);
	if (at < 0) {
		e->unexplained++;
		return;
	}
	refused.id = f->holds[at].id;
	wait(e, f->holds[at].by, x->at);
	refused_add(e, f, &refused);
}

static void give_up(struct linear *e, struct linear_op *x, struct lock lock)
{
	e->count++;
	replace(e, x->locks, &lock, NULL, x->at);
	if (linear_graph_op(e, x->at)->kind != IOT_KIND_release)
		return;
	lock.class = LOCK_FLOCK; /* the handle may own both */
	replace(e, x->locks, &lock, NULL, x->at);
}

static void use(struct linear *e, struct linear_op *x, const struct lock *lock)
{
	const struct graph_op *op = linear_graph_op(e, x->at);
	bool is_test = op->flags & IOT_LOCK_test;

	if (op->result == -EAGAIN || op->result == -EACCES || iot_is_wait_in_vain(op->flags, op->result) ||
	    (is_test && !op->result && (op->mode & LOCK_TYPES)))
		be_refused(e, x, lock, is_test ? op->mode & LOCK_TYPES : 0);
	else if (!op->result)
		take(e, x, lock, is_test);
}

/**
 * locks_happen() - an operation on locks happens
 */
void locks_happen(struct linear *e, struct linear_op *x)
{
	const struct graph_op *op = linear_graph_op(e, x->at);
	struct file_locks *f = x->locks;
	struct lock lock = lock_of(e, x);
	u32 i, kept = 0;

	if (op->kind != IOT_KIND_lock || (!lock.type && !op->result))
		give_up(e, x, lock);
	else if (lock.type)
		use(e, x, &lock);
	for (i = 0; i < f->pending_count; i++)
		if (f->pending[i] != x->at.task)
			f->pending[kept++] = f->pending[i];
	f->pending_count = kept;
}

/**
 * locks_begin() - which locks an operation is about, if any
 * @e: the model
 * @x: gets the locks of its file
 */
void locks_begin(struct linear *e, struct linear_op *x)
{
	const struct graph_op *op = linear_graph_op(e, x->at);
	struct file_locks *f;

	if (op->kind != IOT_KIND_lock && op->kind != IOT_KIND_flush && op->kind != IOT_KIND_release)
		return;
	HASH_FIND(hh, e->locks, &op->file, sizeof(op->file), f);
	if (!f && op->kind != IOT_KIND_lock)
		return;
	if (!f) {
		f = calloc(1, sizeof(*f));
		if (!f) {
			e->err = -ENOMEM;
			return;
		}
		f->file = op->file;
		HASH_ADD(hh, e->locks, file, sizeof(f->file), f);
	}
	f->pending = linear_room(e, f->pending, f->pending_count, &f->pending_room,
				  sizeof(*f->pending));
	if (e->err)
		return;
	f->pending[f->pending_count++] = x->at.task;
	x->locks = f;
}

/**
 * locks_close() - free the state of all locks
 */
void locks_close(struct linear *e)
{
	struct file_locks *f, *next;

	HASH_ITER (hh, e->locks, f, next) {
		HASH_DEL(e->locks, f);
		free(f->holds);
		free(f->freed);
		free(f->refused);
		free(f->pending);
		free(f);
	}
}
