// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracker.c - from uses of a resource to edges.
 */
#include "tracker.h"

#include <stdlib.h>

/* -- waits so far ---------------------------------------------------------- */

/* The first @index operations of @from have ended when @to continues. */
struct known_pair {
	u32 from;
	u32 to;
	u32 index; /* 0: an empty place */
};

/* A hash table without deletion; no more than three quarters of it are used. */
struct known {
	struct known_pair *pairs;
	u64 count;
	u64 room; /* a power of two */
};

#define KNOWN_MIN_ROOM 1024

static struct known_pair *known_place(const struct known *known, u32 from, u32 to)
{
	u64 at = ((u64)from << 32 | to) * 0x9e3779b97f4a7c15ull >> 20;

	for (;; at++) {
		struct known_pair *pair = &known->pairs[at & (known->room - 1)];

		if (!pair->index || (pair->from == from && pair->to == to))
			return pair;
	}
}

static int known_grow(struct known *known)
{
	struct known larger = { .room = known->room ? 2 * known->room : KNOWN_MIN_ROOM };
	u64 i;

	if (4 * known->count < 3 * known->room)
		return 0;
	larger.pairs = calloc(larger.room, sizeof(*larger.pairs));
	if (!larger.pairs)
		return -ENOMEM;
	for (i = 0; i < known->room; i++)
		if (known->pairs[i].index)
			*known_place(&larger, known->pairs[i].from, known->pairs[i].to) =
				known->pairs[i];
	larger.count = known->count;
	free(known->pairs);
	*known = larger;
	return 0;
}

/**
 * waiter_open() - initialize a waiter without any waits
 * @waiter: filled in
 * @graph: gets edges
 *
 * Return: 0 or -ENOMEM.
 */
int waiter_open(struct waiter *waiter, struct graph *graph)
{
	*waiter = (struct waiter){ .graph = graph, .known = calloc(1, sizeof(*waiter->known)) };
	return waiter->known ? known_grow(waiter->known) : -ENOMEM;
}

/**
 * waiter_close() - free the result of waiter_open()
 */
void waiter_close(struct waiter *waiter)
{
	if (waiter->known)
		free(waiter->known->pairs);
	free(waiter->known);
}

/**
 * waiter_op() - the operation
 */
const struct graph_op *waiter_op(const struct waiter *waiter)
{
	return &waiter->graph->tasks[waiter->task].ops[waiter->index];
}

/**
 * waiter_begun_ns() - when the operation began; if it is the end of a request, when that was submitted
 */
u64 waiter_begun_ns(const struct waiter *waiter)
{
	const struct graph_op *op = waiter_op(waiter);
	const struct graph_edge *edge;

	if (op->kind != IOT_KIND_complete || op->edges == GRAPH_NONE)
		return op->enter_ns;
	edge = &waiter->graph->edges[op->edges];
	return waiter->graph->tasks[edge->task].ops[edge->index].enter_ns;
}

/**
 * waiter_wait() - the operation waits for another one, which precedes it in the walk
 * @waiter: the operation
 * @task, @index: the other one
 * @cause: why
 *
 * An edge that an earlier one between the same two tasks implies is counted, not made.
 *
 * Return: 0 or -ENOMEM.
 */
int waiter_wait(struct waiter *waiter, u32 task, u32 index, enum edge_cause cause)
{
	struct graph *graph = waiter->graph;
	struct known_pair *pair;
	int err;

	if (waiter_op(waiter)->kind == IOT_KIND_complete) /* it comes by itself */
		return 0;
	if (task == waiter->task || (graph->causes_left_out & (1u << cause)))
		return 0;
	err = known_grow(waiter->known);
	if (err)
		return err;
	pair = known_place(waiter->known, task, waiter->task);
	if (pair->index > index) {
		graph->edges_by_cause[cause]++;
		graph->pruned_by_cause[cause]++;
		return 0;
	}
	waiter->known->count += !pair->index;
	*pair = (struct known_pair){ task, waiter->task, index + 1 };
	return graph_edge_add(graph, task, index, &graph->tasks[waiter->task].ops[waiter->target],
			      cause);
}

/* -- lists of users ---------------------------------------------------------------------------- */

static int list_insert(struct use_list *list, u32 at, const struct tracker_use *user)
{
	if (list->count == list->room) {
		u32 room = list->room ? 2 * list->room : 1;
		struct tracker_use *users = reallocarray(list->uses, room, sizeof(*users));

		if (!users)
			return -ENOMEM;
		list->uses = users;
		list->room = room;
	}
	memmove(&list->uses[at + 1], &list->uses[at], (list->count++ - at) * sizeof(*user));
	list->uses[at] = *user;
	list->uses[at].version = ++list->version;
	return 0;
}

/* Where a task is in a list, or should be. */
static u32 list_place(const struct use_list *list, u32 task)
{
	u32 low = 0, high = list->count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (list->uses[middle].task < task)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A request has waited for operations that had ended before its submission, and for no later ones. */
static u64 waited_ns(const struct waiter *waiter)
{
	return waiter_op(waiter)->kind == IOT_KIND_complete ? waiter_begun_ns(waiter) : waiter->enter_ns;
}

static struct tracker_use user_of(const struct waiter *waiter)
{
	const struct graph_op *op = waiter_op(waiter);

	return (struct tracker_use){
		.enter_ns = waited_ns(waiter),
		.end_ns = op->end_ns,
		.previous = GRAPH_NONE,
		.task = waiter->task,
		.index = waiter->index,
	};
}

/**
 * use_list_seen() - the version up to which the last user of a task had waited
 *
 * Return: a version of the other list, 0 if there is none.
 */
u32 use_list_seen(const struct use_list *list, u32 task)
{
	u32 at = list_place(list, task);

	return at < list->count && list->uses[at].task == task ? list->uses[at].seen : 0;
}

/**
 * use_list_add() - an operation is the last user of its task
 * @list: has one user of each task
 * @waiter: the operation
 * @seen: the version of the other list up to which it has waited
 *
 * Return: 0 or -ENOMEM.
 */
int use_list_add(struct use_list *list, const struct waiter *waiter, u32 seen)
{
	struct tracker_use user = user_of(waiter), *last;
	u32 at = list_place(list, waiter->task);

	user.seen = seen;
	if (at == list->count || list->uses[at].task != waiter->task)
		return list_insert(list, at, &user);
	last = &list->uses[at];
	if (last->index == user.index)
		return 0;
	user.previous = last->index;
	user.previous_ns = last->end_ns;
	user.version = ++list->version;
	*last = user;
	return 0;
}

/* The end of a request comes by itself, and waits for nothing. */
static bool is_queue(const struct waiter *waiter, u32 task)
{
	return waiter->graph->tasks[task].queue_of != GRAPH_NONE;
}

/* -- many users, that many wait for: see fan_in.c ------------------------------------------------ */

/*
 * A signal takes as much room as a dozen edges, so the first operations that wait for a fan-in do so one by one: the
 * least number that is a fan-in, divided by this.
 */
#define CROWD_ASKS 8

/* The version up to which all users have ended. */
static u32 ended_up_to(const struct use_list *list, u64 now_ns)
{
	u32 up_to = list->version, i;

	for (i = 0; i < list->count; i++)
		if (list->uses[i].end_ns >= now_ns && list->uses[i].version <= up_to)
			up_to = list->uses[i].version - 1;
	return up_to;
}

static u32 count_users(const struct use_list *list, const struct waiter *waiter, u32 after, u32 up_to)
{
	u32 count = 0, i;

	for (i = 0; i < list->count; i++)
		count += list->uses[i].version > after && list->uses[i].version <= up_to &&
			 !is_queue(waiter, list->uses[i].task);
	return count;
}

/* All that were put up to a version, and have ended, signal a new latch. */
static int fan_in_make(struct use_list *list, const struct waiter *waiter, u32 up_to)
{
	u32 count = count_users(list, waiter, 0, up_to), latch, i;
	int err = graph_latch_add(waiter->graph, count, &latch);

	if (err)
		return err;
	list->fan_in = latch + 1;
	list->fan_in_version = up_to;
	list->fan_in_seen = 0;
	list->fan_in_ns = 0;
	list->asks = 0;
	for (i = 0; i < list->count && !err; i++) {
		const struct tracker_use *user = &list->uses[i];

		if (user->version > up_to || is_queue(waiter, user->task))
			continue;
		if (user->end_ns > list->fan_in_ns)
			list->fan_in_ns = user->end_ns;
		if (user->seen > list->fan_in_seen)
			list->fan_in_seen = user->seen;
		err = graph_signal_add(waiter->graph, user->task, user->index, latch);
	}
	return err;
}

/* A latch pays only for many new uses, also compared with those that have to signal again. */
static bool is_worth_a_fan_in(struct use_list *list, const struct waiter *waiter, u32 seen, u32 up_to)
{
	u32 arrived = list->fan_in && list->fan_in_version > seen ? list->fan_in_version : seen;
	u32 count = count_users(list, waiter, arrived, up_to), many = waiter->graph->fan_in_min;

	return count >= many && count >= list->count / 4 && ++list->asks > many / CROWD_ASKS;
}

/* Return: 0 or -ENOMEM; @arrived: the operation waits for all up to this version, but for request queues. */
static int fan_in_wait(struct use_list *list, struct waiter *waiter, u32 seen, enum edge_cause cause,
		      u32 *arrived)
{
	struct graph *graph = waiter->graph;
	u64 now_ns = waiter->enter_ns;
	u32 up_to;
	int err = 0;

	*arrived = 0;
	if (list->count < graph->fan_in_min || list->version - seen < graph->fan_in_min ||
	    waiter_op(waiter)->kind == IOT_KIND_complete || (graph->causes_left_out & (1u << cause)) ||
	    (list->fan_in && list->fan_in_ns >= now_ns))
		return 0;
	up_to = ended_up_to(list, now_ns);
	if (is_worth_a_fan_in(list, waiter, seen, up_to))
		err = fan_in_make(list, waiter, up_to);
	if (err || !list->fan_in || count_users(list, waiter, seen, list->fan_in_version) < graph->fan_in_min)
		return err;
	*arrived = list->fan_in_version;
	return graph_edge_add(graph, GRAPH_NONE, list->fan_in - 1,
			      &graph->tasks[waiter->task].ops[waiter->target], cause);
}

/**
 * use_list_wait() - an operation waits for those that had ended when it began
 * @list: of users
 * @waiter: the operation
 * @seen: in and out: the version of the list up to which its task has waited for all
 * @cause: of the edges
 * @follows: in and out: the version of another list up to which its task follows all, as implied by its waits;
 *	or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int use_list_wait(struct use_list *list, struct waiter *waiter, u32 *seen, enum edge_cause cause,
		   u32 *follows)
{
	u64 now_ns = waiter->enter_ns;
	u32 up_to = list->version, arrived, i;
	int err;

	if (*seen == list->version)
		return 0;
	err = fan_in_wait(list, waiter, *seen, cause, &arrived);
	if (arrived && follows && list->fan_in_seen > *follows)
		*follows = list->fan_in_seen;
	for (i = 0; i < list->count && !err; i++) {
		const struct tracker_use *user = &list->uses[i];

		if (user->version <= *seen || (user->version <= arrived && !is_queue(waiter, user->task)))
			continue;
		if (user->end_ns < now_ns) {
			err = waiter_wait(waiter, user->task, user->index, cause);
			if (follows && user->seen > *follows && !is_queue(waiter, user->task))
				*follows = user->seen;
			continue;
		}
		if (user->version <= up_to)
			up_to = user->version - 1;
		if (user->previous != GRAPH_NONE && user->previous_ns < now_ns)
			err = waiter_wait(waiter, user->task, user->previous, cause);
	}
	if (up_to > *seen)
		*seen = up_to;
	return err;
}

/**
 * use_list_forget() - drop those that had ended by a time
 */
void use_list_forget(struct use_list *list, u64 before_ns)
{
	u32 i, kept = 0;

	for (i = 0; i < list->count; i++)
		if (list->uses[i].end_ns >= before_ns)
			list->uses[kept++] = list->uses[i];
	list->count = kept;
}

/* -- resources --------------------------------------------------------------------------------- */

/* Start of the last exclusive use that has ended; uses that ended before it are settled. */
static void settle(struct tracker *tracker, u64 now_ns)
{
	u64 settled_ns = tracker->settled_ns;
	u32 i;

	for (i = 0; i < tracker->exclusive.count; i++) {
		const struct tracker_use *user = &tracker->exclusive.uses[i];

		if (user->end_ns < now_ns && user->enter_ns > settled_ns)
			settled_ns = user->enter_ns;
	}
	if (settled_ns == tracker->settled_ns)
		return;
	tracker->settled_ns = settled_ns;
	use_list_forget(&tracker->exclusive, settled_ns);
	use_list_forget(&tracker->changes, settled_ns);
	use_list_forget(&tracker->looks, settled_ns);
}

/* Users that precede another user that has ended by now: a wait for the latter includes a wait for them. */
static void drop_followed(struct use_list *list, u64 now_ns)
{
	u32 i, kept = 0;

	if (!list->followed || list->followed_ns >= now_ns)
		return;
	for (i = 0; i < list->count; i++)
		if (list->uses[i].version > list->followed)
			list->uses[kept++] = list->uses[i];
	list->count = kept;
	list->followed = 0;
}

/* The operation, which was put there last, follows all up to a version: of two such, the one that ends first counts. */
static void note_follower(struct use_list *list, const struct waiter *waiter, u32 follows)
{
	u64 end_ns = waiter_op(waiter)->end_ns;

	if (follows <= list->followed || is_queue(waiter, waiter->task) ||
	    (list->followed && end_ns > list->followed_ns))
		return;
	list->followed = follows;
	list->followed_ns = end_ns;
}

/* A change or a look. */
static int use_shared(struct waiter *waiter, struct use_list *own, struct use_list *other,
		      enum edge_cause cause)
{
	u32 seen = use_list_seen(own, waiter->task), follows = use_list_seen(other, waiter->task);
	int err;

	drop_followed(own, waiter_op(waiter)->enter_ns);
	drop_followed(other, waiter_op(waiter)->enter_ns);
	err = use_list_wait(other, waiter, &seen, cause, &follows);
	if (!err)
		err = use_list_add(own, waiter, seen);
	if (!err)
		note_follower(own, waiter, follows);
	return err;
}

/**
 * tracker_use() - an operation uses a resource
 * @waiter: the operation; they come in the order of a walk
 * @tracker: which
 * @use: how
 * @cause: of the edges that follow
 *
 * Return: 0 or -ENOMEM.
 */
int tracker_use(struct waiter *waiter, struct tracker *tracker, enum use use,
		 enum edge_cause cause)
{
	struct tracker_use user;
	u32 none = 0;
	int err;

	settle(tracker, waiter->enter_ns);
	err = use_list_wait(&tracker->exclusive, waiter, &none, cause, NULL);
	if (!err && use == USE_CHANGE)
		return use_shared(waiter, &tracker->changes, &tracker->looks, cause);
	if (!err && use == USE_LOOK)
		return use_shared(waiter, &tracker->looks, &tracker->changes, cause);
	none = 0;
	if (!err)
		err = use_list_wait(&tracker->changes, waiter, &none, cause, NULL);
	none = 0;
	if (!err)
		err = use_list_wait(&tracker->looks, waiter, &none, cause, NULL);
	user = user_of(waiter);
	return err ? err : list_insert(&tracker->exclusive, tracker->exclusive.count, &user);
}

static int list_copy(struct use_list *copy, const struct use_list *list)
{
	*copy = *list;
	copy->room = list->count;
	copy->uses = NULL;
	if (!list->count)
		return 0;
	copy->uses = malloc(list->count * sizeof(*list->uses));
	if (!copy->uses)
		return -ENOMEM;
	memcpy(copy->uses, list->uses, list->count * sizeof(*list->uses));
	return 0;
}

/**
 * tracker_copy() - a part of a resource that is used by itself from now on
 * @copy: filled in; to be freed by tracker_exit() on failure, too
 * @tracker: has been used by the same as the part
 *
 * Return: 0 or -ENOMEM.
 */
int tracker_copy(struct tracker *copy, const struct tracker *tracker)
{
	int err;

	*copy = (struct tracker){ .settled_ns = tracker->settled_ns };
	err = list_copy(&copy->exclusive, &tracker->exclusive);
	if (!err)
		err = list_copy(&copy->changes, &tracker->changes);
	return err ? err : list_copy(&copy->looks, &tracker->looks);
}

/* The only user that matters still; NULL if there are none, or several. */
static const struct tracker_use *only_user(const struct tracker *r)
{
	const struct use_list *list = r->exclusive.count ? &r->exclusive : &r->looks;

	if (r->exclusive.count + r->changes.count + r->looks.count != 1 || r->changes.count)
		return NULL;
	return list->uses;
}

/**
 * tracker_absorb() - merge two trackers, if waiting for both is correct wherever one is waited for
 * @tracker: of one use, gets the other's; unless it cannot
 * @other: of one use of the same kind, by the same task, whose last one counts for both
 *
 * Return: has it?
 */
bool tracker_absorb(struct tracker *tracker, const struct tracker *other)
{
	struct use_list *list = tracker->exclusive.count ? &tracker->exclusive : &tracker->looks;
	const struct tracker_use *a = only_user(tracker), *b = only_user(other);
	struct tracker_use first, last;

	if (!a || !b || a->task != b->task || !tracker->exclusive.count != !other->exclusive.count)
		return false;
	first = a->index < b->index ? *a : *b;
	last = a->index < b->index ? *b : *a;
	if (first.index < last.index && (last.previous == GRAPH_NONE || last.previous < first.index)) {
		last.previous = first.index;
		last.previous_ns = first.end_ns;
	}
	last.version = ++list->version;
	list->uses[0] = last;
	if (other->settled_ns < tracker->settled_ns)
		tracker->settled_ns = other->settled_ns;
	return true;
}

static u64 list_last_ns(const struct use_list *list, u64 last_ns)
{
	u32 i;

	for (i = 0; i < list->count; i++)
		if (list->uses[i].end_ns > last_ns)
			last_ns = list->uses[i].end_ns;
	return last_ns;
}

/**
 * tracker_last_ns() - when the last of its users ended
 */
u64 tracker_last_ns(const struct tracker *tracker)
{
	return list_last_ns(&tracker->looks,
			    list_last_ns(&tracker->changes, list_last_ns(&tracker->exclusive, 0)));
}

/**
 * tracker_exit() - forget the users of a resource
 */
void tracker_exit(struct tracker *tracker)
{
	free(tracker->exclusive.uses);
	free(tracker->changes.uses);
	free(tracker->looks.uses);
}
