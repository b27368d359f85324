// SPDX-License-Identifier: GPL-2.0-only
/*
 * linear_search.c - searches for another order of the last operations, where the first guess does
 * not explain the result of an operation.
 *
 * The traversal takes operations as they come, and is rarely wrong. Where a result has no
 * explanation, the search tries the operations that took effect last and those under way in all
 * orders that time permits, from the state before them, until one explains them all; operations
 * that only observe take effect as soon as possible, which loses no solution. The order found is a
 * *script*: the traversal restarts, and an operation in a script takes effect after all that
 * precede it there.
 *
 * All of it is bounded: the number of operations, of tries, and of restarts. Results beyond these
 * bounds count as unexplained.
 */
#include <stdlib.h>
#include <uthash.h>

#include "linear.h"

#define PAST_MAX    128	      /* operations that are remembered */
#define ITEMS_MAX   60	      /* of a search; bits of a u64 */
#define THINGS_MAX  256	      /* they are about */
#define CHANGES_MAX 24	      /* of those that have happened: states remember more versions */
#define TRIES_MAX   50000     /* of one search */
#define TRIES_SAMPLE 5000      /* of one without a result to explain */
#define ALL_TRIES   2000000   /* of all of a trace */
#define WALKS_OPS   400000000 /* maximum number of operations that are walked again */
#define WALKS_MAX   200
#define SIGHTS_MAX  50	      /* of these searches */
#define SEEN_ROOM   8192      /* a power of 2 */

/* An operation that has happened: when it began, and when that was, as counts. */
struct past {
	struct op_at at;
	u64 begun;
	u64 count;
	bool is_change;
};

/* Where an operation is in a script. */
struct place {
	UT_hash_handle hh;
	struct op_at at;
	struct script *script;
	u32 position;
};

struct script {
	struct script *next;
	u32 count;
	struct op_at order[];
};

struct searches {
	struct past past[PAST_MAX];
	u64 past_count;
	struct place *places;
	struct script *scripts;
	u32 walks_left;
	u64 tries_left;
	u32 sights_left;
	bool may_not_guess;
};

/*
 * An operation of a search, with bits for those that had ended when it began. One that changes a
 * size has another item before it, with the size that it observed.
 */
struct item {
	struct linear_op x;
	u64 after;
	bool is_due; /* it has ended, so it must have happened */
	bool is_sight;
};

/* A state during the search; for a directory, its number of names; for a file, its size. */
struct standing {
	struct linear_state *state;
	struct file_size *size;
	s64 value;
};

struct search {
	struct linear *e;
	struct item items[ITEMS_MAX];
	u32 item_count;
	struct standing states[THINGS_MAX];
	u32 state_count;
	u64 due;
	u64 tries_left;
	u32 order[ITEMS_MAX];
	u64 seen[SEEN_ROOM]; /* hashes of states that led to no solution */
};

/* -- operations so far ------------------------------------------------------------------------- */

/**
 * searches_open() - nothing has happened, and there are no scripts
 *
 * Return: 0 or -ENOMEM.
 */
int searches_open(struct linear *e)
{
	u64 walks = WALKS_OPS / (e->graph->operations + 1);

	e->searches = calloc(1, sizeof(*e->searches));
	if (!e->searches)
		return -ENOMEM;
	e->searches->walks_left = walks < WALKS_MAX ? (u32)walks : WALKS_MAX;
	e->searches->tries_left = ALL_TRIES;
	e->searches->sights_left = SIGHTS_MAX;
	return 0;
}

/**
 * searches_close() - free them
 */
void searches_close(struct linear *e)
{
	struct place *place, *next;
	struct script *script;

	if (!e->searches)
		return;
	HASH_ITER (hh, e->searches->places, place, next) {
		HASH_DEL(e->searches->places, place);
		free(place);
	}
	while ((script = e->searches->scripts)) {
		e->searches->scripts = script->next;
		free(script);
	}
	free(e->searches);
}

/**
 * searches_begin() - a walk begins
 */
void searches_begin(struct linear *e)
{
	e->searches->past_count = 0;
}

/**
 * searches_may_guess() - may the model guess disputed initial objects of names?
 */
bool searches_may_guess(const struct linear *e)
{
	return !e->searches->may_not_guess;
}

/**
 * searches_note() - an operation has happened
 */
void searches_note(struct linear *e, const struct linear_op *x)
{
	struct searches *s = e->searches;

	s->past[s->past_count++ % PAST_MAX] =
		(struct past){ x->at, x->begun, e->count, x->is_change };
}

/* -- scripts -------------------------------------------------------------------------------------- */

static struct place *place_of(const struct linear *e, struct op_at at)
{
	struct place *place;

	HASH_FIND(hh, e->searches->places, &at, sizeof(at), place);
	return place;
}

/**
 * script_happen() - let the operations before an operation in its script happen
 *
 * Return: true if it is in a script; then nothing else has to happen for it.
 */
bool script_happen(struct linear *e, const struct linear_op *x)
{
	const struct place *place = e->searches->places ? place_of(e, x->at) : NULL;
	u32 i;

	for (i = 0; place && i < place->position; i++) {
		struct op_at at = place->script->order[i];
		struct linear_op *other = e->of_task[at.task];

		if (other && other->at.index == at.index && other->is_change &&
		    place_of(e, at)->script == place->script)
			linear_happen(e, other);
	}
	return place;
}

static void add_place(struct linear *e, struct script *script, u32 position)
{
	struct op_at at = script->order[position];
	struct place *place = place_of(e, at);

	if (!place) {
		place = calloc(1, sizeof(*place));
		if (!place) {
			e->err = -ENOMEM;
			return;
		}
		place->at = at;
		HASH_ADD(hh, e->searches->places, at, sizeof(place->at), place);
	}
	place->script = script;
	place->position = position;
}

static void add_script(struct search *s, u32 count)
{
	struct linear *e = s->e;
	struct script *script = malloc(sizeof(*script) + count * sizeof(script->order[0]));
	u32 i;

	if (!script) {
		e->err = -ENOMEM;
		return;
	}
	script->next = e->searches->scripts;
	script->count = 0;
	e->searches->scripts = script;
	for (i = 0; i < count; i++) {
		if (s->items[s->order[i]].is_sight)
			continue;
		script->order[script->count] = s->items[s->order[i]].x.at;
		add_place(e, script, script->count++);
	}
}

/* -- scope of a search ------------------------------------------------------------------------ */

/* Return: false if it has been there. */
static bool add_thing(struct search *s, struct linear_state *state)
{
	if (state->standing || s->state_count == THINGS_MAX)
		return false;
	s->states[s->state_count++].state = state;
	state->standing = s->state_count;
	return true;
}

static bool add_size(struct search *s, struct file_size *size)
{
	u32 *standing = size_standing(size);

	if (*standing || s->state_count == THINGS_MAX)
		return false;
	s->states[s->state_count++].size = size;
	*standing = s->state_count;
	return true;
}

static bool add_things(struct search *s, const struct linear_op *x)
{
	bool is_more = x->size && add_size(s, x->size);
	u32 i;

	for (i = 0; i < x->observation_count; i++)
		is_more |= add_thing(s, x->observations[i].state);
	return is_more;
}

static void forget_things(struct search *s)
{
	u32 i;

	for (i = 0; i < s->state_count; i++)
		*(s->states[i].state ? &s->states[i].state->standing : size_standing(s->states[i].size)) = 0;
	memset(s->states, 0, s->state_count * sizeof(s->states[0]));
	s->state_count = 0;
}

static bool has_to_do(const struct linear_op *x)
{
	u32 i;

	for (i = 0; i < x->observation_count; i++)
		if (x->observations[i].state->standing)
			return true;
	return x->size && *size_standing(x->size);
}

static void add_one(struct search *s, const struct linear_op *x, bool is_sight)
{
	struct item *item = &s->items[s->item_count];

	if (s->item_count == ITEMS_MAX)
		return;
	item->x = *x;
	item->is_due = linear_graph_op(s->e, x->at)->end_ns <= s->e->now_ns;
	item->is_sight = is_sight;
	s->item_count++;
}

static void add_item(struct search *s, const struct linear_op *x)
{
	struct linear_op sample = { .at = x->at, .begun = x->begun, .size = x->size };

	if (size_sample(s->e, x, &sample))
		add_one(s, &sample, true);
	add_one(s, x, false);
}

static void take_past(const struct search *s, const struct past *past, struct linear_op *x)
{
	*x = (struct linear_op){ .at = past->at, .begun = past->begun };
	names_observe(s->e, x);
	sizes_observe(s->e, x);
	x->is_change = past->is_change;
	x->has_happened = true;
}

/* All operations connected with the unexplained result, directly or through others. */
static void find_things(struct search *s, const struct linear_op *wrong, u64 from)
{
	const struct searches *past = s->e->searches;
	struct linear_op x;
	bool is_more = add_things(s, wrong);
	u64 i;

	while (is_more) {
		is_more = false;
		for (i = from; i < past->past_count; i++) {
			take_past(s, &past->past[i % PAST_MAX], &x);
			if (has_to_do(&x))
				is_more |= add_things(s, &x);
		}
		for (i = 0; i < s->e->graph->task_count; i++)
			if (s->e->of_task[i] && !s->e->of_task[i]->has_happened &&
			    has_to_do(s->e->of_task[i]))
				is_more |= add_things(s, s->e->of_task[i]);
	}
}

/* Operations that observed states before the changes whose order varies. */
static bool is_explained_before(const struct linear_op *x, u64 count)
{
	u32 i;

	for (i = 0; i < x->observation_count; i++)
		if (!state_was(x->observations[i].state, x->observations[i].need, x->begun, count + 1))
			return false;
	if (x->size && !size_was(x, x->begun, count + 1))
		return false;
	return !x->is_change && x->begun <= count;
}

static void find_items(struct search *s, u64 from, u64 count)
{
	const struct searches *past = s->e->searches;
	struct linear_op x;
	u64 i;

	s->item_count = 0;
	for (i = from; i < past->past_count; i++) {
		take_past(s, &past->past[i % PAST_MAX], &x);
		if (has_to_do(&x) && !is_explained_before(&x, count))
			add_item(s, &x);
	}
	for (i = 0; i < s->e->graph->task_count; i++) {
		const struct linear_op *under_way = s->e->of_task[i];

		if (under_way && !under_way->has_happened && has_to_do(under_way) &&
		    !is_explained_before(under_way, count))
			add_item(s, under_way);
	}
}

/* Each state as it was at that moment. */
static void set_back(struct search *s, u64 count)
{
	u32 i, j;

	for (i = 0; i < s->state_count; i++)
		s->states[i].value = s->states[i].state ? state_value_at(s->states[i].state, count) :
							  size_value_at(s->states[i].size, count);
	for (i = 0; i < s->item_count; i++)
		for (j = 0; j < s->items[i].x.observation_count && s->items[i].x.has_happened; j++) {
			const struct observation *c = &s->items[i].x.observations[j];

			if (c->state->is_directory)
				s->states[c->state->standing - 1].value -= c->more;
		}
}

static void find_order_of_time(struct search *s)
{
	u32 i, j;

	s->due = 0;
	for (i = 0; i < s->item_count; i++) {
		const u64 begun_ns = linear_begun_ns(s->e, s->items[i].x.at);

		s->items[i].after = 0;
		s->due |= (u64)s->items[i].is_due << i;
		for (j = 0; j < s->item_count; j++)
			if (linear_graph_op(s->e, s->items[j].x.at)->end_ns < begun_ns ||
			    (s->items[j].is_sight && j + 1 == i))
				s->items[i].after |= 1ull << j;
	}
}

/* -- the search ------------------------------------------------------------------------------------- */

static u32 value_of(const struct standing *standing)
{
	if (!standing->state->is_directory)
		return (u32)standing->value;
	return standing->value > 0 ? VALUE_PRESENT : VALUE_ABSENT;
}

/* It takes effect if the state is as observed. */
static bool happens(struct search *s, const struct linear_op *x)
{
	s64 *bytes = x->size ? &s->states[*size_standing(x->size) - 1].value : NULL;
	u32 i;

	if (bytes && !size_meets(x, (u64)*bytes))
		return false;
	for (i = 0; i < x->observation_count; i++)
		if (!value_meets(value_of(&s->states[x->observations[i].state->standing - 1]),
				 x->observations[i].need))
			return false;
	for (i = 0; i < x->observation_count; i++) {
		const struct observation *c = &x->observations[i];
		struct standing *standing = &s->states[c->state->standing - 1];

		if (c->state->is_directory)
			standing->value += c->more;
		else if (c->after != VALUE_ANY)
			standing->value = c->after;
		else if (c->need < VALUE_ANY &&
			 (standing->value == VALUE_UNKNOWN || standing->value == VALUE_PRESENT))
			standing->value = c->need;
	}
	if (bytes)
		*bytes = (s64)size_after(x, (u64)*bytes);
	return true;
}

static bool was_seen(struct search *s, u64 done)
{
	u64 hash = done * 0x9e3779b97f4a7c15ull;
	u32 i;

	for (i = 0; i < s->state_count; i++)
		hash = (hash ^ (u64)s->states[i].value) * 0x100000001b3ull + (hash >> 29);
	hash |= 1; /* 0 is none */
	if (s->seen[hash & (SEEN_ROOM - 1)] == hash)
		return true;
	s->seen[hash & (SEEN_ROOM - 1)] = hash;
	return false;
}

/* Operations that only observe take effect as early as possible. Return: their number. */
static u32 look(struct search *s, u64 *done, u32 count)
{
	u32 i;

	for (i = 0; i < s->item_count; i++) {
		const struct item *item = &s->items[i];

		if (item->x.is_change || (*done & 1ull << i) || (item->after & ~*done) ||
		    !happens(s, &item->x))
			continue;
		*done |= 1ull << i;
		s->order[count++] = i;
		i = (u32)-1; /* others may have waited for it */
	}
	return count;
}

/* Return: the number of operations of the order; 0 if none was found. */
static u32 try_all(struct search *s, u64 done, u32 count)
{
	struct standing before[THINGS_MAX];
	u32 i, found;

	count = look(s, &done, count);
	if (!(s->due & ~done))
		return count;
	if (was_seen(s, done))
		return 0;
	memcpy(before, s->states, s->state_count * sizeof(*before));
	for (i = 0; i < s->item_count; i++) {
		const struct item *item = &s->items[i];

		if (!item->x.is_change || (done & 1ull << i) || (item->after & ~done) ||
		    !s->tries_left)
			continue;
		s->tries_left--;
		if (!happens(s, &item->x))
			continue;
		s->order[count] = i;
		found = try_all(s, done | 1ull << i, count + 1);
		if (found)
			return found;
		memcpy(s->states, before, s->state_count * sizeof(*before));
	}
	return 0;
}

/* Return: of all that is remembered, the first after @changes changes from the end. */
static u64 go_back(const struct searches *s, u32 changes)
{
	u64 from = s->past_count;

	while (from && s->past_count - from < PAST_MAX) {
		if (s->past[(from - 1) % PAST_MAX].is_change && !changes--)
			break;
		from--;
	}
	return from;
}

static u32 search(struct search *s, const struct linear_op *wrong, u32 changes)
{
	const struct searches *past = s->e->searches;
	u64 from = go_back(past, changes), count = s->e->count;
	u32 found = 0;

	if (from < past->past_count) {
		count = past->past[from % PAST_MAX].count;
		count -= past->past[from % PAST_MAX].is_change;
	}
	find_things(s, wrong, from);
	find_items(s, from, count);
	if (s->item_count < ITEMS_MAX && s->state_count < THINGS_MAX) {
		set_back(s, count);
		find_order_of_time(s);
		memset(s->seen, 0, sizeof(s->seen));
		found = try_all(s, 0, 0);
	}
	forget_things(s);
	return found;
}

/* Return: the number of operations of the order; 0 if none was found. */
static u32 search_more_and_more(struct search *s, const struct linear_op *x, u64 tries_max)
{
	static const u32 changes[] = { 6, 12, CHANGES_MAX };
	struct searches *all = s->e->searches;
	u32 i, found = 0;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]) && !found; i++) {
		u64 tries = all->tries_left < tries_max ? all->tries_left : tries_max;

		s->tries_left = tries;
		found = search(s, x, changes[i]);
		all->tries_left -= tries - s->tries_left;
	}
	return found;
}

/**
 * searches_again() - the result of an operation has no explanation: search for an order that explains it
 * @e: the model
 * @x: the operation, which has not happened
 * @what: its observation
 *
 * Return: true if the walk is to begin anew, with a script or one guess less; e->err is set then.
 */
bool searches_again(struct linear *e, const struct linear_op *x, enum sought what)
{
	struct searches *all = e->searches;
	struct search *s;
	u32 found;

	if (e->err || !all->walks_left || !all->tries_left || place_of(e, x->at) ||
	    (what == SOUGHT_SAMPLE && !all->sights_left))
		return e->err;
	all->sights_left -= what == SOUGHT_SAMPLE;
	s = calloc(1, sizeof(*s));
	if (!s) {
		e->err = -ENOMEM;
		return true;
	}
	s->e = e;
	found = search_more_and_more(s, x, what == SOUGHT_SAMPLE ? TRIES_SAMPLE : TRIES_MAX);
	if (found)
		add_script(s, found);
	free(s);
	if (!found && (what != SOUGHT_NAME || !e->tree || all->may_not_guess))
		return e->err;
	all->may_not_guess |= !found; /* perhaps that was wrong */
	all->walks_left--;
	e->is_to_begin_anew = !e->err;
	e->err = e->err ? e->err : -EAGAIN;
	return true;
}
