// SPDX-License-Identifier: GPL-2.0-only
/*
 * linear_states.c - versions of a state: the operations that set them and the operations that observed them.
 *
 * An operation that changes states takes effect now. An operation that only observes may have done so at any moment
 * since its start; the last moment that agrees with all of its observations is taken. If there is none, an operation
 * under way must have taken effect before, and does so now.
 */
#include <stdlib.h>

#include "linear.h"

#define VERSIONS_MAX 32 /* more than a search goes back */
#define DEPTH_MAX    4 /* of prerequisites of operations */

/**
 * value_meets() - whether a state with value @value agrees with the observed value @need
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

static u32 value_now(const struct linear_state *state)
{
	return state->versions[state->version_count - 1].value;
}

/* Until when a version was there. */
static u64 until(const struct linear_state *state, u32 at)
{
	return at + 1 < state->version_count ? state->versions[at + 1].count : (u64)-1;
}

/* The last version that is as it was to be, of those in the time from @low to before @high. */
static s64 find(const struct linear_state *state, u32 need, u64 low, u64 high)
{
	s64 i;

	for (i = (s64)state->version_count - 1; i >= 0; i--) {
		const struct version *v = &state->versions[i];
		u64 end = until(state, (u32)i);

		if (end <= low)
			break;
		if (v->count < high && value_meets(v->value, need))
			return i;
	}
	return -1;
}

/**
 * state_value_at() - value of a state at a moment; for a directory, its number of names *now*
 */
s64 state_value_at(const struct linear_state *state, u64 count)
{
	u32 i;

	if (state->is_directory)
		return state->names;
	for (i = state->version_count; i && state->versions[i - 1].count > count; i--)
		;
	if (!i)
		return VALUE_UNKNOWN;
	return state->versions[i - 1].revealed > count ? state->versions[i - 1].first_value :
						     state->versions[i - 1].value;
}

/**
 * state_was() - whether a state had the observed value at some moment from @low to before @high
 */
bool state_was(const struct linear_state *state, u32 need, u64 low, u64 high)
{
	return need == VALUE_ANY || find(state, need, low, high) >= 0;
}

/* -- changes -------------------------------------------------------------------------------- */

/**
 * state_forget() - discard the versions of a state
 * @value: its value from now on
 */
void state_forget(struct linear *e, struct linear_state *state, u32 value)
{
	state->versions = linear_room(e, state->versions, 0, &state->version_room,
				       sizeof(*state->versions));
	if (e->err)
		return;
	state->versions[0] = (struct version){ .count = 0, .value = value,
					       .by = { .task = GRAPH_NONE } };
	state->version_count = 1;
	state->witness_count = 0;
}

static void set(struct linear *e, struct linear_state *state, u32 value, struct op_at by)
{
	u32 i, kept = 0;

	if (state->version_count == VERSIONS_MAX)
		memmove(state->versions, state->versions + 1,
			--state->version_count * sizeof(*state->versions));
	state->versions = linear_room(e, state->versions, state->version_count,
				       &state->version_room, sizeof(*state->versions));
	if (e->err)
		return;
	state->versions[state->version_count++] = (struct version){ .count = e->count, .value = value, .by = by };
	for (i = 0; i < state->witness_count; i++) {
		const struct witness *w = &state->witnesses[i];

		if (state->is_directory || value_meets(value, w->need))
			state->witnesses[kept++] = *w;
		else
			linear_order(e, w->who, by, state->cause);
	}
	state->witness_count = kept;
}

/**
 * state_expect() - the current operation of a task may change the state
 */
void state_expect(struct linear *e, struct linear_state *state, u32 task)
{
	state->pending = linear_room(e, state->pending, state->pending_count, &state->pending_room,
				      sizeof(*state->pending));
	if (!e->err)
		state->pending[state->pending_count++] = task;
}

static void expect_no_more(struct linear *e, struct linear_state *state, u32 task)
{
	u32 i, kept = 0;

	for (i = 0; i < state->pending_count; i++)
		if (state->pending[i] != task)
			state->pending[kept++] = state->pending[i];
	state->pending_count = kept;
	if (kept)
		return;
	for (i = 0; i < state->witness_count; i++) /* later operations start after all others */
		if (linear_is_under_way(e, state->witnesses[i].who))
			state->witnesses[kept++] = state->witnesses[i];
	state->witness_count = kept;
}

/* Keeps the changers that may overlap an operation under way or to come. */
static void add_changer(struct linear *e, struct linear_state *state, const struct changer *changer)
{
	u32 i, kept = 0;

	for (i = 0; i < state->changer_count && !state->watchers; i++)
		if (linear_graph_op(e, state->changers[i].who)->end_ns >= e->now_ns)
			state->changers[kept++] = state->changers[i];
	if (!state->watchers)
		state->changer_count = kept;
	state->changers = linear_room(e, state->changers, state->changer_count,
				       &state->changer_room, sizeof(*state->changers));
	if (!e->err)
		state->changers[state->changer_count++] = *changer;
}

/* A directory gains or loses a name. Operations that observed names in it did so before a removal. */
static void change_entries(struct linear *e, const struct linear_op *x, const struct observation *observation)
{
	const struct changer changer = { e->count, observation->more, x->at };
	struct linear_state *state = observation->state;
	u32 value, i;

	if (!observation->more)
		return;
	add_changer(e, state, &changer);
	state->names += observation->more;
	value = state->names > 0 ? VALUE_PRESENT : VALUE_ABSENT;
	if (value != value_now(state))
		set(e, state, value, x->at);
	for (i = 0; i < state->witness_count && observation->more < 0; i++)
		linear_order(e, state->witnesses[i].who, x->at, state->cause);
}

static void change(struct linear *e, struct linear_op *x, const struct observation *observation)
{
	if (observation->state->is_directory)
		change_entries(e, x, observation);
	else if (observation->after != VALUE_ANY)
		set(e, observation->state, observation->after, x->at);
}

/* -- operations that must have taken effect ------------------------------------------------------------------- */

/* Does an operation set the required value of a state? */
static bool would_meet(const struct linear_op *x, const struct linear_state *state, u32 need)
{
	u32 i;

	for (i = 0; i < x->observation_count; i++) {
		const struct observation *c = &x->observations[i];

		if (c->state != state)
			continue;
		if (state->is_directory && c->more)
			return (c->more > 0) == (need != VALUE_ABSENT);
		if (c->after != VALUE_ANY && value_meets(c->after, need) && !value_meets(c->need, need))
			return true;
	}
	return false;
}

static s64 find_now(const struct linear *e, const struct linear_op *x, const struct observation *observation)
{
	return find(observation->state, observation->need, x->is_change ? e->count : x->begun, e->count + 1);
}

/* Is the state as observed by the operation, or can it become so if other operations take effect first? */
static bool can_happen(const struct linear *e, struct linear_op *x, int depth)
{
	bool can = true;
	u32 i, j;

	if (x->is_happening || x->has_happened || !depth)
		return false;
	x->is_happening = true;
	for (i = 0; i < x->observation_count && can; i++) {
		const struct observation *c = &x->observations[i];

		can = c->need == VALUE_ANY || find_now(e, x, c) >= 0;
		for (j = 0; j < c->state->pending_count && !can; j++) {
			struct linear_op *other = e->of_task[c->state->pending[j]];

			can = would_meet(other, c->state, c->need) &&
			      can_happen(e, other, depth - 1);
		}
	}
	x->is_happening = false;
	return can;
}

/* One of those that are under way happens. Return: false if there is none that helps. */
static bool force(struct linear *e, struct linear_state *state, u32 need, u32 self)
{
	u32 i;

	for (i = 0; i < state->pending_count; i++) {
		struct linear_op *x = e->of_task[state->pending[i]];

		if (state->pending[i] == self || !would_meet(x, state, need) ||
		    !can_happen(e, x, DEPTH_MAX))
			continue;
		linear_happen(e, x);
		return x->has_happened;
	}
	return false;
}

/* The initial value is unknown, so an operation under way is the likelier explanation. */
static bool is_found(const struct linear *e, const struct linear_op *x, const struct observation *observation)
{
	s64 at = find_now(e, x, observation);

	return observation->need == VALUE_ANY ||
	       (at >= 0 && observation->state->versions[at].value != VALUE_UNKNOWN);
}

/**
 * observation_is_emptiness() - a directory was empty: all that is under way in it has happened
 */
bool observation_is_emptiness(const struct observation *observation)
{
	return observation->state->is_directory && observation->need == VALUE_ABSENT;
}

/**
 * observation_is_of_entries() - a directory was empty, or was not
 */
bool observation_is_of_entries(const struct observation *observation)
{
	return observation->state->is_directory && observation->need != VALUE_ANY;
}

static u64 stays_ns(const struct linear *e, u32 value)
{
	u64 ns = e->stays_ns[value & ~VALUE_MADE];

	return ns ? ns : (u64)-1;
}

/*
 * A file is moved to a name and stays there beyond the end of another operation: if that
 * operation removes another file from the name, it did so before.
 */
static bool force_others(struct linear *e, const struct linear_op *x, const struct observation *observation)
{
	struct linear_state *state = observation->state;
	u32 i, j;

	if (state->is_directory || observation->after >= VALUE_ANY || observation->after == VALUE_ABSENT)
		return false;
	for (i = 0; i < state->pending_count; i++) {
		struct linear_op *other = e->of_task[state->pending[i]];

		if (other == x || linear_graph_op(e, other->at)->end_ns >= stays_ns(e, observation->after))
			continue;
		for (j = 0; j < other->observation_count; j++) {
			const struct observation *c = &other->observations[j];

			if (c->state != state || c->need == VALUE_ABSENT || c->need >= VALUE_ANY ||
			    c->need == observation->after || !can_happen(e, other, DEPTH_MAX))
				continue;
			linear_happen(e, other);
			return other->has_happened;
		}
	}
	return false;
}

static void force_all(struct linear *e, const struct linear_op *x)
{
	bool has_changed = true;
	u32 i;

	while (has_changed && !e->err) {
		has_changed = false;
		for (i = 0; i < x->observation_count && !has_changed; i++) {
			const struct observation *c = &x->observations[i];

			if (observation_is_emptiness(c))
				has_changed = force(e, c->state, VALUE_PRESENT, x->at.task) ||
					      force(e, c->state, VALUE_ABSENT, x->at.task);
			else if (!is_found(e, x, c))
				has_changed = force(e, c->state, c->need, x->at.task);
			if (!has_changed)
				has_changed = force_others(e, x, c);
		}
	}
}

/* -- edges ------------------------------------------------------------------------------------ */

/* After the operation that set the value, and before the next that changed it. */
static void order(struct linear *e, const struct linear_op *x, const struct observation *observation, u32 at)
{
	struct linear_state *state = observation->state;
	u32 from = at, to = at + 1;

	while (from && value_meets(state->versions[from - 1].value, observation->need))
		from--;
	linear_order(e, state->versions[from].by, x->at, state->cause);
	while (to < state->version_count && value_meets(state->versions[to].value, observation->need))
		to++;
	if (to < state->version_count)
		linear_order(e, x->at, state->versions[to].by, state->cause);
	else if (observation->after == VALUE_ANY && /* else it made a version */
		 (state->pending_count || linear_is_under_way(e, x->at))) {
		state->witnesses = linear_room(e, state->witnesses, state->witness_count,
						&state->witness_room, sizeof(*state->witnesses));
		if (!e->err)
			state->witnesses[state->witness_count++] =
				(struct witness){ observation->need, x->at };
	}
}

/*
 * An operation that observed an empty directory took effect after all changes in it; an operation that observed names,
 * after all creations so far and before all later removals.
 */
static void order_entries(struct linear *e, const struct linear_op *x, const struct observation *observation,
			  u64 moment)
{
	struct linear_state *state = observation->state;
	u32 i;

	for (i = 0; i < state->changer_count; i++) {
		const struct changer *c = &state->changers[i];
		bool is_before = c->count <= moment;

		if (is_before && (c->more > 0 || observation_is_emptiness(observation)))
			linear_order(e, c->who, x->at, state->cause);
		else if (!is_before && c->more < 0)
			linear_order(e, x->at, c->who, state->cause);
	}
	state->watchers--;
}

static void take(struct linear *e, const struct linear_op *x, const struct observation *observation, u64 *low,
		 u64 *high)
{
	struct linear_state *state = observation->state;
	s64 at = find(state, observation->need, *low, *high);
	struct version *v;

	if (at < 0 && searches_again(e, x, SOUGHT_NAME))
		return;
	if (at < 0) {
		e->unexplained++;
		if (*high > e->count && !state->is_directory)
			state_forget(e, state, observation->need);
		return;
	}
	v = &state->versions[at];
	if (!state->is_directory && (v->value == VALUE_UNKNOWN || v->value == VALUE_PRESENT)) {
		if (!v->revealed)
			v->first_value = v->value;
		v->revealed = e->count + !x->is_change;
		v->value = observation->need;
	}
	if (v->count > *low)
		*low = v->count;
	if (until(state, (u32)at) < *high)
		*high = until(state, (u32)at);
	order(e, x, observation, (u32)at);
}

/**
 * states_happen() - let an operation take effect, after the operations that its observations require
 * @e: the model
 * @x: has observations
 */
void states_happen(struct linear *e, struct linear_op *x)
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
	for (i = 0; i < x->observation_count && !e->err; i++)
		if (x->observations[i].need != VALUE_ANY && !observation_is_emptiness(&x->observations[i]))
			take(e, x, &x->observations[i], &low, &high);
	sizes_take(e, x, &low, &high);
	for (i = 0; i < x->observation_count && !e->err; i++)
		if (observation_is_of_entries(&x->observations[i]))
			order_entries(e, x, &x->observations[i], high - 1);
	for (i = 0; i < x->observation_count && !e->err && x->is_change; i++) {
		change(e, x, &x->observations[i]);
		expect_no_more(e, x->observations[i].state, x->at.task);
	}
	sizes_change(e, x);
	searches_note(e, x);
}

/**
 * state_exit() - free the contents of a state
 */
void state_exit(struct linear_state *state)
{
	free(state->versions);
	free(state->pending);
	free(state->witnesses);
	free(state->changers);
}
