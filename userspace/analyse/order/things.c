// SPDX-License-Identifier: GPL-2.0-only
/*
 * things.c - what a thing was from when on, who made it so, and who found it so.
 *
 * An operation that changes things happens now. Who only looks may have done so at any moment
 * since it began; the last at which all was as it says is taken. If there is none, one of those
 * that are under way must have happened, and does.
 */
#include <stdlib.h>

#include "effects.h"

#define VERSIONS_MAX 32 /* more than a search goes back */
#define DEPTH_MAX    4 /* of what must have happened for something to have happened */

/**
 * value_meets() - may a thing that is @value be what an operation found, @need?
 */
bool value_meets(u32 value, u32 need)
{
	switch (need) {
	case VALUE_ANY:
		return true;
	case VALUE_ABSENT:
		return value == VALUE_ABSENT || value == VALUE_UNKNOWN;
	case VALUE_PRESENT:
		return value != VALUE_ABSENT;
	default:
		return value == need || value == VALUE_PRESENT ||
		       (value == VALUE_UNKNOWN && !(need & VALUE_MADE));
	}
}

static u32 value_now(const struct thing *thing)
{
	return thing->versions[thing->version_count - 1].value;
}

/* Until when a version was there. */
static u64 until(const struct thing *thing, u32 at)
{
	return at + 1 < thing->version_count ? thing->versions[at + 1].count : (u64)-1;
}

/* The last version that is as it was to be, of those in the time from @low to before @high. */
static s64 find(const struct thing *thing, u32 need, u64 low, u64 high)
{
	s64 i;

	for (i = (s64)thing->version_count - 1; i >= 0; i--) {
		const struct version *v = &thing->versions[i];
		u64 end = until(thing, (u32)i);

		if (end <= low)
			break;
		if (v->count < high && value_meets(v->value, need))
			return i;
	}
	return -1;
}

/**
 * thing_value_at() - what a thing was at a moment; of a directory, how many names it has *now*
 */
s64 thing_value_at(const struct thing *thing, u64 count)
{
	u32 i;

	if (thing->is_directory)
		return thing->names;
	for (i = thing->version_count; i && thing->versions[i - 1].count > count; i--)
		;
	if (!i)
		return VALUE_UNKNOWN;
	return thing->versions[i - 1].told > count ? thing->versions[i - 1].first_value :
						     thing->versions[i - 1].value;
}

/**
 * thing_was() - was a thing what an operation found, at some time from @low to before @high?
 */
bool thing_was(const struct thing *thing, u32 need, u64 low, u64 high)
{
	return need == VALUE_ANY || find(thing, need, low, high) >= 0;
}

/* -- changes -------------------------------------------------------------------------------- */

/**
 * thing_forget() - what the thing was does not count any more
 * @value: what it is
 */
void thing_forget(struct effects *e, struct thing *thing, u32 value)
{
	thing->versions = effects_room(e, thing->versions, 0, &thing->version_room,
				       sizeof(*thing->versions));
	if (e->err)
		return;
	thing->versions[0] = (struct version){ .count = 0, .value = value,
					       .by = { .task = GRAPH_NONE } };
	thing->version_count = 1;
	thing->witness_count = 0;
}

static void set(struct effects *e, struct thing *thing, u32 value, struct deed_at by)
{
	u32 i, kept = 0;

	if (thing->version_count == VERSIONS_MAX)
		memmove(thing->versions, thing->versions + 1,
			--thing->version_count * sizeof(*thing->versions));
	thing->versions = effects_room(e, thing->versions, thing->version_count,
				       &thing->version_room, sizeof(*thing->versions));
	if (e->err)
		return;
	thing->versions[thing->version_count++] = (struct version){ .count = e->count, .value = value, .by = by };
	for (i = 0; i < thing->witness_count; i++) {
		const struct witness *w = &thing->witnesses[i];

		if (thing->is_directory || value_meets(value, w->need))
			thing->witnesses[kept++] = *w;
		else
			effects_order(e, w->who, by, thing->cause);
	}
	thing->witness_count = kept;
}

/**
 * thing_expect() - the operation that a task is in may change the thing
 */
void thing_expect(struct effects *e, struct thing *thing, u32 task)
{
	thing->pending = effects_room(e, thing->pending, thing->pending_count, &thing->pending_room,
				      sizeof(*thing->pending));
	if (!e->err)
		thing->pending[thing->pending_count++] = task;
}

static void expect_no_more(struct effects *e, struct thing *thing, u32 task)
{
	u32 i, kept = 0;

	for (i = 0; i < thing->pending_count; i++)
		if (thing->pending[i] != task)
			thing->pending[kept++] = thing->pending[i];
	thing->pending_count = kept;
	if (kept)
		return;
	for (i = 0; i < thing->witness_count; i++) /* who comes now began after all others */
		if (effects_is_under_way(e, thing->witnesses[i].who))
			thing->witnesses[kept++] = thing->witnesses[i];
	thing->witness_count = kept;
}

/* Keeps the changers that may overlap an operation under way or to come. */
static void add_changer(struct effects *e, struct thing *thing, const struct changer *changer)
{
	u32 i, kept = 0;

	for (i = 0; i < thing->changer_count && !thing->watchers; i++)
		if (effects_op(e, thing->changers[i].who)->end_ns >= e->now_ns)
			thing->changers[kept++] = thing->changers[i];
	if (!thing->watchers)
		thing->changer_count = kept;
	thing->changers = effects_room(e, thing->changers, thing->changer_count,
				       &thing->changer_room, sizeof(*thing->changers));
	if (!e->err)
		thing->changers[thing->changer_count++] = *changer;
}

/* A name more or less in a directory. Who found some in it did so before any of them went. */
static void change_entries(struct effects *e, const struct effect *x, const struct claim *claim)
{
	const struct changer changer = { e->count, claim->more, x->at };
	struct thing *thing = claim->thing;
	u32 value, i;

	if (!claim->more)
		return;
	add_changer(e, thing, &changer);
	thing->names += claim->more;
	value = thing->names > 0 ? VALUE_PRESENT : VALUE_ABSENT;
	if (value != value_now(thing))
		set(e, thing, value, x->at);
	for (i = 0; i < thing->witness_count && claim->more < 0; i++)
		effects_order(e, thing->witnesses[i].who, x->at, thing->cause);
}

static void change(struct effects *e, struct effect *x, const struct claim *claim)
{
	if (claim->thing->is_directory)
		change_entries(e, x, claim);
	else if (claim->after != VALUE_ANY)
		set(e, claim->thing, claim->after, x->at);
}

/* -- who must have happened ------------------------------------------------------------------- */

/* What an operation does to a thing makes it what it is to be. */
static bool would_meet(const struct effect *x, const struct thing *thing, u32 need)
{
	u32 i;

	for (i = 0; i < x->claim_count; i++) {
		const struct claim *c = &x->claims[i];

		if (c->thing != thing)
			continue;
		if (thing->is_directory && c->more)
			return (c->more > 0) == (need != VALUE_ABSENT);
		if (c->after != VALUE_ANY && value_meets(c->after, need) && !value_meets(c->need, need))
			return true;
	}
	return false;
}

static s64 find_now(const struct effects *e, const struct effect *x, const struct claim *claim)
{
	return find(claim->thing, claim->need, x->is_change ? e->count : x->begun, e->count + 1);
}

/* Is all as the operation says, or may that be so if others happen first? */
static bool can_happen(const struct effects *e, struct effect *x, int depth)
{
	bool can = true;
	u32 i, j;

	if (x->is_happening || x->has_happened || !depth)
		return false;
	x->is_happening = true;
	for (i = 0; i < x->claim_count && can; i++) {
		const struct claim *c = &x->claims[i];

		can = c->need == VALUE_ANY || find_now(e, x, c) >= 0;
		for (j = 0; j < c->thing->pending_count && !can; j++) {
			struct effect *other = e->of_task[c->thing->pending[j]];

			can = would_meet(other, c->thing, c->need) &&
			      can_happen(e, other, depth - 1);
		}
	}
	x->is_happening = false;
	return can;
}

/* One of those that are under way happens. Return: false if there is none that helps. */
static bool force(struct effects *e, struct thing *thing, u32 need, u32 self)
{
	u32 i;

	for (i = 0; i < thing->pending_count; i++) {
		struct effect *x = e->of_task[thing->pending[i]];

		if (thing->pending[i] == self || !would_meet(x, thing, need) ||
		    !can_happen(e, x, DEPTH_MAX))
			continue;
		effects_happen(e, x);
		return x->has_happened;
	}
	return false;
}

/* What was at the beginning is not known, so then rather what is under way has happened. */
static bool is_found(const struct effects *e, const struct effect *x, const struct claim *claim)
{
	s64 at = find_now(e, x, claim);

	return claim->need == VALUE_ANY ||
	       (at >= 0 && claim->thing->versions[at].value != VALUE_UNKNOWN);
}

/**
 * claim_is_emptiness() - a directory was empty: all that is under way in it has happened
 */
bool claim_is_emptiness(const struct claim *claim)
{
	return claim->thing->is_directory && claim->need == VALUE_ABSENT;
}

/**
 * claim_is_of_entries() - a directory was empty, or was not
 */
bool claim_is_of_entries(const struct claim *claim)
{
	return claim->thing->is_directory && claim->need != VALUE_ANY;
}

static u64 stays_ns(const struct effects *e, u32 value)
{
	u64 ns = e->stays_ns[value & ~VALUE_MADE];

	return ns ? ns : (u64)-1;
}

/*
 * A file comes to a name, and stays there for longer than another one's end: so if that removes
 * another file from the name, it has done so before.
 */
static bool force_others(struct effects *e, const struct effect *x, const struct claim *claim)
{
	struct thing *thing = claim->thing;
	u32 i, j;

	if (thing->is_directory || claim->after >= VALUE_ANY || claim->after == VALUE_ABSENT)
		return false;
	for (i = 0; i < thing->pending_count; i++) {
		struct effect *other = e->of_task[thing->pending[i]];

		if (other == x || effects_op(e, other->at)->end_ns >= stays_ns(e, claim->after))
			continue;
		for (j = 0; j < other->claim_count; j++) {
			const struct claim *c = &other->claims[j];

			if (c->thing != thing || c->need == VALUE_ABSENT || c->need >= VALUE_ANY ||
			    c->need == claim->after || !can_happen(e, other, DEPTH_MAX))
				continue;
			effects_happen(e, other);
			return other->has_happened;
		}
	}
	return false;
}

static void force_all(struct effects *e, const struct effect *x)
{
	bool has_changed = true;
	u32 i;

	while (has_changed && !e->err) {
		has_changed = false;
		for (i = 0; i < x->claim_count && !has_changed; i++) {
			const struct claim *c = &x->claims[i];

			if (claim_is_emptiness(c))
				has_changed = force(e, c->thing, VALUE_PRESENT, x->at.task) ||
					      force(e, c->thing, VALUE_ABSENT, x->at.task);
			else if (!is_found(e, x, c))
				has_changed = force(e, c->thing, c->need, x->at.task);
			if (!has_changed)
				has_changed = force_others(e, x, c);
		}
	}
}

/* -- edges ------------------------------------------------------------------------------------ */

/* After who made it so, and before who made it otherwise. */
static void order(struct effects *e, const struct effect *x, const struct claim *claim, u32 at)
{
	struct thing *thing = claim->thing;
	u32 from = at, to = at + 1;

	while (from && value_meets(thing->versions[from - 1].value, claim->need))
		from--;
	effects_order(e, thing->versions[from].by, x->at, thing->cause);
	while (to < thing->version_count && value_meets(thing->versions[to].value, claim->need))
		to++;
	if (to < thing->version_count)
		effects_order(e, x->at, thing->versions[to].by, thing->cause);
	else if (claim->after == VALUE_ANY && /* else it made a version */
		 (thing->pending_count || effects_is_under_way(e, x->at))) {
		thing->witnesses = effects_room(e, thing->witnesses, thing->witness_count,
						&thing->witness_room, sizeof(*thing->witnesses));
		if (!e->err)
			thing->witnesses[thing->witness_count++] =
				(struct witness){ claim->need, x->at };
	}
}

/*
 * Who found a directory empty did so after all that was made or removed in it; who found something
 * in it, after all that had been made, and before what was removed from then on.
 */
static void order_entries(struct effects *e, const struct effect *x, const struct claim *claim,
			  u64 moment)
{
	struct thing *thing = claim->thing;
	u32 i;

	for (i = 0; i < thing->changer_count; i++) {
		const struct changer *c = &thing->changers[i];
		bool is_before = c->count <= moment;

		if (is_before && (c->more > 0 || claim_is_emptiness(claim)))
			effects_order(e, c->who, x->at, thing->cause);
		else if (!is_before && c->more < 0)
			effects_order(e, x->at, c->who, thing->cause);
	}
	thing->watchers--;
}

static void take(struct effects *e, const struct effect *x, const struct claim *claim, u64 *low,
		 u64 *high)
{
	struct thing *thing = claim->thing;
	s64 at = find(thing, claim->need, *low, *high);
	struct version *v;

	if (at < 0 && searches_again(e, x, SOUGHT_NAME))
		return;
	if (at < 0) {
		e->unexplained++;
		if (*high > e->count && !thing->is_directory)
			thing_forget(e, thing, claim->need);
		return;
	}
	v = &thing->versions[at];
	if (!thing->is_directory && (v->value == VALUE_UNKNOWN || v->value == VALUE_PRESENT)) {
		if (!v->told)
			v->first_value = v->value;
		v->told = e->count + !x->is_change;
		v->value = claim->need;
	}
	if (v->count > *low)
		*low = v->count;
	if (until(thing, (u32)at) < *high)
		*high = until(thing, (u32)at);
	order(e, x, claim, (u32)at);
}

/**
 * things_happen() - an operation happens, after those that it shows to have happened
 * @e: the model
 * @x: has claims
 */
void things_happen(struct effects *e, struct effect *x)
{
	u64 low, high;
	u32 i;

	if (!script_happen(e, x)) {
		force_all(e, x);
		sizes_force(e, x);
	}
	e->count += x->is_change;
	low = x->is_change ? e->count : x->begun;
	high = e->count + 1;
	for (i = 0; i < x->claim_count && !e->err; i++)
		if (x->claims[i].need != VALUE_ANY && !claim_is_emptiness(&x->claims[i]))
			take(e, x, &x->claims[i], &low, &high);
	sizes_take(e, x, &low, &high);
	for (i = 0; i < x->claim_count && !e->err; i++)
		if (claim_is_of_entries(&x->claims[i]))
			order_entries(e, x, &x->claims[i], high - 1);
	for (i = 0; i < x->claim_count && !e->err && x->is_change; i++) {
		change(e, x, &x->claims[i]);
		expect_no_more(e, x->claims[i].thing, x->at.task);
	}
	sizes_change(e, x);
	searches_note(e, x);
}

/**
 * thing_exit() - free what it has
 */
void thing_exit(struct thing *thing)
{
	free(thing->versions);
	free(thing->pending);
	free(thing->witnesses);
	free(thing->changers);
}
