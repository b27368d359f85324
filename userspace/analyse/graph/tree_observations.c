// SPDX-License-Identifier: GPL-2.0-only
/*
 * tree_observations.c - finds the first of the overlapping operations on a name.
 *
 * The first operation on a name shows its initial state. The candidates are the operation that
 * ended first, and those that changed the name and began before that end. Their observations may
 * differ: then an object that never came to the name was there, and one that was elsewhere, or was
 * created, was not. Otherwise the candidate that took effect first decides, which linear.c
 * determines.
 */
#include <stdlib.h>

#include "tree_nodes.h"

/* Operations that may have been the first on a name, by operation; one may be in several. */
struct dispute {
	UT_hash_handle hh;
	struct observer by;
	struct claimant *claimants;
};

struct claimant {
	struct claimant *next;
	struct node *node;
	struct observation observation;
};

/* -- while the trace is read ------------------------------------------------------------------ */

static struct observer observer(const struct tree *tree)
{
	const struct iot_record *r = tree->observed;

	if (iot_kind_info(r->kind)->group != IOT_GROUP_op)
		return (struct observer){};
	return (struct observer){ r->op.task, r->op.parent ? r->op.parent : r->op.op };
}

static void add_rival(struct tree *tree, struct node *node, struct observer by,
		      enum node_state state, struct tree_object *object)
{
	struct observation *observation = tree_allocate(tree, sizeof(*observation));

	if (!observation)
		return;
	*observation = (struct observation){ .next = node->rivals, .by = by, .state = state, .object = object };
	node->rivals = observation;
}

/* Return: is it the first look? */
static bool saw(struct tree *tree, struct node *node, enum node_state state,
		struct tree_object *object, bool is_change)
{
	const struct observer by = observer(tree);

	if (node->state == NODE_UNKNOWN) {
		node->first_by = by;
		node->until_ns = iot_record_end_ns(tree->observed);
		node->state = state;
		return true;
	}
	if (is_change && by.op && tree->observed->op.enter_ns <= node->until_ns)
		add_rival(tree, node, by, state, object);
	return false;
}

/**
 * tree_found() - an operation found an object under a name
 * @tree: observations so far
 * @name: of the trace
 * @id: of the object
 * @is_change: something else is there afterwards, or nothing
 */
void tree_found(struct tree *tree, u64 name, u64 id, bool is_change)
{
	struct node *node = tree_node_of(tree, name);
	struct tree_object *object = tree_object_of(tree, id);

	if (!node || !object)
		return;
	saw(tree, node, NODE_PRESENT, object, is_change);
	if (node->state == NODE_PRESENT && !node->object) {
		node->object = object;
		if (!object->first)
			object->first = node;
	}
}

/**
 * tree_missed() - an operation found nothing under a name
 * @tree: observations so far
 * @name: of the trace
 * @is_change: something is there afterwards
 */
void tree_missed(struct tree *tree, u64 name, bool is_change)
{
	struct node *node = tree_node_of(tree, name);

	if (node)
		saw(tree, node, NODE_ABSENT, NULL, is_change);
}

/**
 * tree_note_arrival() - something that the trace did not make arrived at a name
 * @tree: observations so far
 * @name: of the trace
 * @id: of the object
 */
void tree_note_arrival(struct tree *tree, u64 name, u64 id)
{
	struct node *node = tree_node_of(tree, name);
	struct tree_object *object = tree_object_of(tree, id);
	struct arrival *arrival;

	if (!node || !object || object->is_created)
		return;
	arrival = tree_allocate(tree, sizeof(*arrival));
	if (!arrival)
		return;
	*arrival = (struct arrival){ .next = node->arrivals, .object = object };
	node->arrivals = arrival;
}

/**
 * tree_listed() - a directory had an entry
 * @tree: observations so far
 * @node: of the entry
 * @type: from the directory entry
 */
void tree_listed(struct tree *tree, struct node *node, u32 type)
{
	if (saw(tree, node, NODE_PRESENT, NULL, false))
		node->type = type;
}

/* -- when it has been read --------------------------------------------------------------------- */

/* An object that the trace creates did not exist before, so the operation that found it was not the first. */
static bool may_be_first(const struct observation *observation)
{
	return !observation->object || !observation->object->is_created;
}

static void dispute(struct tree *tree, struct node *node, const struct observation *observation)
{
	struct claimant *claimant = tree_allocate(tree, sizeof(*claimant));
	struct dispute *dispute;

	if (!claimant)
		return;
	claimant->node = node;
	claimant->observation = *observation;
	HASH_FIND(hh, tree->disputes, &observation->by, sizeof(observation->by), dispute);
	if (!dispute) {
		dispute = tree_allocate(tree, sizeof(*dispute));
		if (!dispute) {
			free(claimant);
			return;
		}
		dispute->by = observation->by;
		HASH_ADD(hh, tree->disputes, by, sizeof(dispute->by), dispute);
	}
	claimant->next = dispute->claimants;
	dispute->claimants = claimant;
}

static void settle(struct node *node, const struct observation *observation)
{
	node->state = observation->state;
	node->object = observation->object;
	node->is_disputed = false;
	while (node->rivals) {
		struct observation *rival = node->rivals;

		node->rivals = rival->next;
		free(rival);
	}
}

/* The operation that moved it there had observed it elsewhere. */
static bool has_come(const struct node *node, const struct tree_object *object)
{
	const struct arrival *arrival;

	for (arrival = node->arrivals; arrival; arrival = arrival->next)
		if (arrival->object == object)
			return true;
	return false;
}

/* An object that was found at a name and never came there was there at the beginning. */
static void judge_by_arrivals(struct node *node)
{
	const struct observation first = { .state = node->state, .object = node->object,
				     .next = node->rivals };
	const struct observation *observation;

	for (observation = &first; observation; observation = observation->next) {
		const struct observation certain = *observation;

		if (!observation->object || !may_be_first(observation) || has_come(node, observation->object))
			continue;
		settle(node, &certain);
		node->object->placed = node;
		return;
	}
}

/* Each operation that may have been the first observed it there. */
static void place(struct node *node)
{
	const struct observation first = { .state = node->state, .object = node->object,
				     .next = node->rivals };
	struct tree_object *object = NULL;
	const struct observation *observation;

	for (observation = &first; observation; observation = observation->next) {
		if (!may_be_first(observation))
			continue;
		if (!observation->object || (object && object != observation->object))
			return;
		object = observation->object;
	}
	if (object && !object->placed)
		object->placed = node;
}

/* An object that was elsewhere at the beginning came later. */
static bool may_be_first_at(const struct observation *observation, const struct node *node)
{
	return may_be_first(observation) &&
	       (!observation->object || !observation->object->placed || observation->object->placed == node);
}

static void judge(struct tree *tree, struct node *node)
{
	const struct observation first = { .by = node->first_by, .state = node->state,
				     .object = node->object, .next = node->rivals };
	const struct observation *observation, *one = NULL;

	for (observation = &first; observation; observation = observation->next) {
		if (!may_be_first_at(observation, node))
			continue;
		node->is_disputed |= one && (one->state != observation->state ||
					     one->object != observation->object);
		one = one ? one : observation;
	}
	if (one && !node->is_disputed) {
		const struct observation only = *one;

		settle(node, &only);
	}
	for (observation = &first; observation && node->is_disputed; observation = observation->next)
		if (may_be_first_at(observation, node))
			dispute(tree, node, observation);
}

/* The first name of an object that it is still thought to have had. */
static void find_first_names(struct tree *tree)
{
	struct tree_object *object;
	struct node *node;

	tree->has_placed = false;
	for (object = tree->objects; object; object = object->hh.next)
		if (object->first && object->first->object != object)
			object->first = NULL;
	for (node = tree->nodes; node; node = node->hh.next) {
		if (node->state == NODE_PRESENT && node->object && !node->object->first)
			node->object->first = node;
		free(node->path); /* directories may have been elsewhere */
		node->path = NULL;
	}
}

/**
 * tree_judge() - decide which operation was the first on each name; all records have been read
 * @tree: observations so far
 *
 * Return: 0 or -ENOMEM.
 */
int tree_judge(struct tree *tree)
{
	bool has_rivals = false;
	struct node *node;

	for (node = tree->nodes; node; node = node->hh.next) {
		has_rivals |= node->rivals != NULL;
		if (node->rivals)
			judge_by_arrivals(node);
	}
	for (node = tree->nodes; node; node = node->hh.next)
		place(node);
	for (node = tree->nodes; node; node = node->hh.next)
		if (node->rivals)
			judge(tree, node);
	if (has_rivals)
		find_first_names(tree);
	return tree->is_short_of_memory ? -ENOMEM : 0;
}

/**
 * tree_is_disputed() - check whether the first operation on some name is unknown
 * @tree: judged
 *
 * Then the caller passes the order in which operations took effect, by tree_happened().
 */
bool tree_is_disputed(const struct tree *tree)
{
	return tree->disputes;
}

/**
 * tree_happened() - an operation took effect, after all for which this was called before
 * @tree: disputed
 * @task: id of its task
 * @op: its number
 */
void tree_happened(struct tree *tree, u32 task, u32 op)
{
	const struct observer by = { task, op };
	const struct claimant *claimant;
	struct dispute *dispute;

	HASH_FIND(hh, tree->disputes, &by, sizeof(by), dispute);
	for (claimant = dispute ? dispute->claimants : NULL; claimant; claimant = claimant->next)
		if (claimant->node->is_disputed)
			settle(claimant->node, &claimant->observation);
}

/**
 * tree_begin_anew() - discard the order passed so far, which was wrong; the caller passes it again
 * @tree: disputed
 */
void tree_begin_anew(struct tree *tree)
{
	const struct claimant *claimant;
	struct dispute *dispute;

	for (dispute = tree->disputes; dispute; dispute = dispute->hh.next)
		for (claimant = dispute->claimants; claimant; claimant = claimant->next)
			claimant->node->is_disputed = true;
}

static void free_disputes(struct tree *tree)
{
	struct dispute *dispute, *next;
	struct claimant *claimant;

	HASH_ITER (hh, tree->disputes, dispute, next) {
		HASH_DEL(tree->disputes, dispute);
		while ((claimant = dispute->claimants)) {
			dispute->claimants = claimant->next;
			free(claimant);
		}
		free(dispute);
	}
}

/**
 * tree_settle() - conclude after the whole order has been passed
 * @tree: observations so far
 */
void tree_settle(struct tree *tree)
{
	if (!tree->disputes)
		return;
	free_disputes(tree);
	find_first_names(tree);
}

/**
 * tree_free_observations() - free the remaining observations
 * @tree: not to be used for anything else any more
 */
void tree_free_observations(struct tree *tree)
{
	struct node *node;
	struct arrival *arrival;
	struct observation *observation;

	free_disputes(tree);
	for (node = tree->nodes; node; node = node->hh.next) {
		while ((observation = node->rivals)) {
			node->rivals = observation->next;
			free(observation);
		}
		while ((arrival = node->arrivals)) {
			node->arrivals = arrival->next;
			free(arrival);
		}
	}
}
