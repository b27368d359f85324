// SPDX-License-Identifier: GPL-2.0-only
/*
 * resource.c - from uses of a resource to edges.
 */
#include "resource.h"

#include <stdlib.h>

/* -- what is known to be waited for ---------------------------------------------------------- */

/* The first @index operations of @from have ended when @to goes on. */
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
 * waiter_open() - nobody has waited for anything
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
 * waiter_close() - free what waiter_open() made
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
 * waiter_wait() - the operation waits for another one, which came before it in the walk
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

static int list_insert(struct user_list *list, u32 at, const struct user *user)
{
	if (list->count == list->room) {
		u32 room = list->room ? 2 * list->room : 1;
		struct user *users = reallocarray(list->users, room, sizeof(*users));

		if (!users)
			return -ENOMEM;
		list->users = users;
		list->room = room;
	}
	memmove(&list->users[at + 1], &list->users[at], (list->count++ - at) * sizeof(*user));
	list->users[at] = *user;
	list->users[at].version = ++list->version;
	return 0;
}

/* Where a task is in a list, or should be. */
static u32 list_place(const struct user_list *list, u32 task)
{
	u32 low = 0, high = list->count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (list->users[middle].task < task)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A request has waited for what had ended when it was submitted, and for nothing after that. */
static u64 waited_ns(const struct waiter *waiter)
{
	return waiter_op(waiter)->kind == IOT_KIND_complete ? waiter_begun_ns(waiter) : waiter->enter_ns;
}

static struct user user_of(const struct waiter *waiter)
{
	const struct graph_op *op = waiter_op(waiter);

	return (struct user){
		.enter_ns = waited_ns(waiter),
		.end_ns = op->end_ns,
		.previous = GRAPH_NONE,
		.task = waiter->task,
		.index = waiter->index,
	};
}

/**
 * user_list_seen() - what the last user of a task had waited for
 *
 * Return: a version of the other list, 0 if there is no such user.
 */
u32 user_list_seen(const struct user_list *list, u32 task)
{
	u32 at = list_place(list, task);

	return at < list->count && list->users[at].task == task ? list->users[at].seen : 0;
}

/**
 * user_list_add() - an operation is the last user of its task
 * @list: has one user of each task
 * @waiter: the operation
 * @seen: up to what version of the other list it has waited
 *
 * Return: 0 or -ENOMEM.
 */
int user_list_add(struct user_list *list, const struct waiter *waiter, u32 seen)
{
	struct user user = user_of(waiter), *last;
	u32 at = list_place(list, waiter->task);

	user.seen = seen;
	if (at == list->count || list->users[at].task != waiter->task)
		return list_insert(list, at, &user);
	last = &list->users[at];
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
 * An arrival takes as much room as a dozen edges, so the first operations that wait for a fan-in do so one by one: the
 * least number that is a fan-in, divided by this.
 */
#define CROWD_ASKS 8

/* Up to what version have all users ended by now? */
static u32 ended_up_to(const struct user_list *list, u64 now_ns)
{
	u32 up_to = list->version, i;

	for (i = 0; i < list->count; i++)
		if (list->users[i].end_ns >= now_ns && list->users[i].version <= up_to)
			up_to = list->users[i].version - 1;
	return up_to;
}

static u32 count_users(const struct user_list *list, const struct waiter *waiter, u32 after, u32 up_to)
{
	u32 count = 0, i;

	for (i = 0; i < list->count; i++)
		count += list->users[i].version > after && list->users[i].version <= up_to &&
			 !is_queue(waiter, list->users[i].task);
	return count;
}

/* All that were put up to a version, and have ended, arrive at a new latch. */
static int fan_in_make(struct user_list *list, const struct waiter *waiter, u32 up_to)
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
		const struct user *user = &list->users[i];

		if (user->version > up_to || is_queue(waiter, user->task))
			continue;
		if (user->end_ns > list->fan_in_ns)
			list->fan_in_ns = user->end_ns;
		if (user->seen > list->fan_in_seen)
			list->fan_in_seen = user->seen;
		err = graph_arrival_add(waiter->graph, user->task, user->index, latch);
	}
	return err;
}

/* What comes new for an operation must be many, also beside those that arrive again. */
static bool is_worth_a_fan_in(struct user_list *list, const struct waiter *waiter, u32 seen, u32 up_to)
{
	u32 arrived = list->fan_in && list->fan_in_version > seen ? list->fan_in_version : seen;
	u32 count = count_users(list, waiter, arrived, up_to), many = waiter->graph->fan_in_min;

	return count >= many && count >= list->count / 4 && ++list->asks > many / CROWD_ASKS;
}

/* Return: 0 or -ENOMEM; @arrived: the operation waits for all up to this version, but for request queues. */
static int fan_in_wait(struct user_list *list, struct waiter *waiter, u32 seen, enum edge_cause cause,
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
 * user_list_wait() - an operation waits for those that had ended when it began
 * @list: of users
 * @waiter: the operation
 * @seen: in and out: up to what version of the list its task has waited for all
 * @cause: of the edges
 * @follows: in and out: up to what version of another list its task follows all, as those do that it waits for
 *	here; or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int user_list_wait(struct user_list *list, struct waiter *waiter, u32 *seen, enum edge_cause cause,
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
		const struct user *user = &list->users[i];

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
 * user_list_forget() - drop those that had ended by a time
 */
void user_list_forget(struct user_list *list, u64 before_ns)
{
	u32 i, kept = 0;

	for (i = 0; i < list->count; i++)
		if (list->users[i].end_ns >= before_ns)
			list->users[kept++] = list->users[i];
	list->count = kept;
}

/* -- resources --------------------------------------------------------------------------------- */

/* When began the last exclusive user that has ended by now? Who had ended then is settled. */
static void settle(struct resource *resource, u64 now_ns)
{
	u64 settled_ns = resource->settled_ns;
	u32 i;

	for (i = 0; i < resource->exclusive.count; i++) {
		const struct user *user = &resource->exclusive.users[i];

		if (user->end_ns < now_ns && user->enter_ns > settled_ns)
			settled_ns = user->enter_ns;
	}
	if (settled_ns == resource->settled_ns)
		return;
	resource->settled_ns = settled_ns;
	user_list_forget(&resource->exclusive, settled_ns);
	user_list_forget(&resource->changes, settled_ns);
	user_list_forget(&resource->looks, settled_ns);
}

/* Users that precede another user that has ended by now: a wait for the latter includes a wait for them. */
static void drop_followed(struct user_list *list, u64 now_ns)
{
	u32 i, kept = 0;

	if (!list->followed || list->followed_ns >= now_ns)
		return;
	for (i = 0; i < list->count; i++)
		if (list->users[i].version > list->followed)
			list->users[kept++] = list->users[i];
	list->count = kept;
	list->followed = 0;
}

/* The operation, which was put there last, follows all up to a version: of two such, the one that ends first counts. */
static void note_follower(struct user_list *list, const struct waiter *waiter, u32 follows)
{
	u64 end_ns = waiter_op(waiter)->end_ns;

	if (follows <= list->followed || is_queue(waiter, waiter->task) ||
	    (list->followed && end_ns > list->followed_ns))
		return;
	list->followed = follows;
	list->followed_ns = end_ns;
}

/* A change or a look. */
static int use_shared(struct waiter *waiter, struct user_list *own, struct user_list *other,
		      enum edge_cause cause)
{
	u32 seen = user_list_seen(own, waiter->task), follows = user_list_seen(other, waiter->task);
	int err;

	drop_followed(own, waiter_op(waiter)->enter_ns);
	drop_followed(other, waiter_op(waiter)->enter_ns);
	err = user_list_wait(other, waiter, &seen, cause, &follows);
	if (!err)
		err = user_list_add(own, waiter, seen);
	if (!err)
		note_follower(own, waiter, follows);
	return err;
}

/**
 * resource_use() - an operation uses a resource
 * @waiter: the operation; they come in the order of a walk
 * @resource: which
 * @use: how
 * @cause: of the edges that follow
 *
 * Return: 0 or -ENOMEM.
 */
int resource_use(struct waiter *waiter, struct resource *resource, enum use use,
		 enum edge_cause cause)
{
	struct user user;
	u32 none = 0;
	int err;

	settle(resource, waiter->enter_ns);
	err = user_list_wait(&resource->exclusive, waiter, &none, cause, NULL);
	if (!err && use == USE_CHANGE)
		return use_shared(waiter, &resource->changes, &resource->looks, cause);
	if (!err && use == USE_LOOK)
		return use_shared(waiter, &resource->looks, &resource->changes, cause);
	none = 0;
	if (!err)
		err = user_list_wait(&resource->changes, waiter, &none, cause, NULL);
	none = 0;
	if (!err)
		err = user_list_wait(&resource->looks, waiter, &none, cause, NULL);
	user = user_of(waiter);
	return err ? err : list_insert(&resource->exclusive, resource->exclusive.count, &user);
}

static int list_copy(struct user_list *copy, const struct user_list *list)
{
	*copy = *list;
	copy->room = list->count;
	copy->users = NULL;
	if (!list->count)
		return 0;
	copy->users = malloc(list->count * sizeof(*list->users));
	if (!copy->users)
		return -ENOMEM;
	memcpy(copy->users, list->users, list->count * sizeof(*list->users));
	return 0;
}

/**
 * resource_copy() - a part of a resource that is used by itself from now on
 * @copy: filled in; to be freed by resource_exit() on failure, too
 * @resource: has been used by the same as the part
 *
 * Return: 0 or -ENOMEM.
 */
int resource_copy(struct resource *copy, const struct resource *resource)
{
	int err;

	*copy = (struct resource){ .settled_ns = resource->settled_ns };
	err = list_copy(&copy->exclusive, &resource->exclusive);
	if (!err)
		err = list_copy(&copy->changes, &resource->changes);
	return err ? err : list_copy(&copy->looks, &resource->looks);
}

/* The only user that matters still; NULL if there are none, or several. */
static const struct user *only_user(const struct resource *r)
{
	const struct user_list *list = r->exclusive.count ? &r->exclusive : &r->looks;

	if (r->exclusive.count + r->changes.count + r->looks.count != 1 || r->changes.count)
		return NULL;
	return list->users;
}

/**
 * resource_absorb() - two resources become one, if those who wait for the one may wait for both
 * @resource: of one use, gets the other's; unless it cannot
 * @other: of one use of the same kind, by the same task, whose last one counts for both
 *
 * Return: has it?
 */
bool resource_absorb(struct resource *resource, const struct resource *other)
{
	struct user_list *list = resource->exclusive.count ? &resource->exclusive : &resource->looks;
	const struct user *a = only_user(resource), *b = only_user(other);
	struct user first, last;

	if (!a || !b || a->task != b->task || !resource->exclusive.count != !other->exclusive.count)
		return false;
	first = a->index < b->index ? *a : *b;
	last = a->index < b->index ? *b : *a;
	if (first.index < last.index && (last.previous == GRAPH_NONE || last.previous < first.index)) {
		last.previous = first.index;
		last.previous_ns = first.end_ns;
	}
	last.version = ++list->version;
	list->users[0] = last;
	if (other->settled_ns < resource->settled_ns)
		resource->settled_ns = other->settled_ns;
	return true;
}

static u64 list_last_ns(const struct user_list *list, u64 last_ns)
{
	u32 i;

	for (i = 0; i < list->count; i++)
		if (list->users[i].end_ns > last_ns)
			last_ns = list->users[i].end_ns;
	return last_ns;
}

/**
 * resource_last_ns() - when the last of its users ended
 */
u64 resource_last_ns(const struct resource *resource)
{
	return list_last_ns(&resource->looks,
			    list_last_ns(&resource->changes, list_last_ns(&resource->exclusive, 0)));
}

/**
 * resource_exit() - forget the users of a resource
 */
void resource_exit(struct resource *resource)
{
	free(resource->exclusive.users);
	free(resource->changes.users);
	free(resource->looks.users);
}
