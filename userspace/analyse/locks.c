// SPDX-License-Identifier: GPL-2.0-only
/*
 * locks.c - file locks: what must not change its order so that each is free, or taken, as it
 * was in the trace.
 *
 * A replay asks for a lock when it is to be free, and never waits for one: the operation that
 * gave it up comes before. That is also close(2), which gives up all locks of the process, and
 * the end of a handle, which gives up those that the handle owns. Of the locks of one file
 *
 *	exclusive	what takes one that nobody else may have, gives such a one up, asks
 *			about one, or is refused
 *	looked at by	what takes a shared one, or gives it up
 *
 * whatever range of the file they are of: that orders a little more than it must. Who waited
 * for a lock had asked before it was given up, so one that was had counts from its end
 * (load.c), and one that is given up is free from the beginning on of what does that.
 */
#include <stdlib.h>
#include <uthash.h>

#include "uses.h"

/* Locks of one file that one owner has had since it last gave up all. */
struct hold_key {
	u64 owner; /* a handle, or a process */
	u32 file;
	u32 is_process;
};

struct hold {
	UT_hash_handle hh;
	struct hold_key key;
	u32 flags; /* IOT_LOCK_shared, IOT_LOCK_exclusive */
};

static struct hold_key key_of(const struct uses *u, bool is_process)
{
	struct hold_key key;

	memset(&key, 0, sizeof(key));
	key.owner = is_process ? u->waiter.graph->tasks[u->waiter.task].tgid : u->op->handle;
	key.file = u->op->file;
	key.is_process = is_process;
	return key;
}

static struct hold *hold_of(const struct uses *u, bool is_process)
{
	struct hold_key key = key_of(u, is_process);
	struct hold *hold;

	HASH_FIND(hh, u->holds, &key, sizeof(key), hold);
	return hold;
}

static void hold_drop(struct uses *u, struct hold *hold)
{
	HASH_DEL(u->holds, hold);
	free(hold);
}

static void hold_add(struct uses *u, bool is_process, u32 flags)
{
	struct hold *hold = hold_of(u, is_process);

	if (!hold) {
		hold = calloc(1, sizeof(*hold));
		if (!hold) {
			u->err = -ENOMEM;
			return;
		}
		hold->key = key_of(u, is_process);
		HASH_ADD(hh, u->holds, key, sizeof(hold->key), hold);
	}
	hold->flags |= flags;
}

static void give_up(struct uses *u, bool is_process, bool is_all)
{
	struct hold *hold = hold_of(u, is_process);

	if (!hold)
		return;
	u->waiter.is_early = true;
	uses_number(u, SLOT_LOCKS, u->op->file,
		    hold->flags & IOT_LOCK_exclusive ? USE_EXCLUSIVE : USE_LOOK, EDGE_lock);
	u->waiter.is_early = false;
	if (is_all)
		hold_drop(u, hold);
}

static bool is_whole(const struct graph_op *op)
{
	return !op->offset_bytes && (s64)op->extra == INT64_MAX;
}

static void use_lock(struct uses *u)
{
	const u32 types = IOT_LOCK_shared | IOT_LOCK_exclusive;
	const struct graph_op *op = u->op;
	bool is_process = graph_is_process_lock(op->flags);
	bool is_test = op->flags & IOT_LOCK_test, is_had = !op->result && !is_test;
	const struct hold *hold = hold_of(u, is_process);
	bool is_shared = (op->flags & types) == IOT_LOCK_shared &&
			 !(hold && hold->flags & IOT_LOCK_exclusive);

	if (!(op->flags & types)) {
		if (is_had)
			give_up(u, is_process, is_whole(op));
		return;
	}
	uses_number(u, SLOT_LOCKS, op->file, is_had && is_shared ? USE_LOOK : USE_EXCLUSIVE,
		    EDGE_lock);
	if (is_had && !u->err)
		hold_add(u, is_process, op->flags & types);
}

/**
 * uses_locks() - what an operation does to locks of its file
 * @uses: resources, and the operation
 */
void uses_locks(struct uses *uses)
{
	switch (uses->op->kind) {
	case IOT_KIND_lock:
		use_lock(uses);
		break;
	case IOT_KIND_flush:
		give_up(uses, true, true);
		break;
	case IOT_KIND_release:
		give_up(uses, false, true);
		break;
	}
}

/**
 * uses_locks_close() - nobody holds any
 */
void uses_locks_close(struct uses *uses)
{
	struct hold *hold, *next;

	HASH_ITER (hh, uses->holds, hold, next)
		hold_drop(uses, hold);
}
