// SPDX-License-Identifier: GPL-2.0-only
/*
 * script.c - a script from a seed, and the consequences of a step by the rules of MPI.
 */
#include "script.h"

#include <stdlib.h>

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15ull + b + 0x2545f4914f6cdd1dull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

struct dice {
	uint64_t seed;
	uint64_t thrown;
};

static int below(struct dice *dice, int limit)
{
	return (int)(mix(dice->seed, ++dice->thrown) % (uint64_t)limit);
}

static bool one_in(struct dice *dice, int chances)
{
	return !below(dice, chances);
}

/* -- communicators ------------------------------------------------------------------------------- */

/**
 * script_group_of() - the group of a communicator that a rank is in
 */
int script_group_of(const struct script *script, enum comm comm, int rank)
{
	switch (comm) {
	case COMM_HALVES:
	case COMM_BRIDGE:
		return rank % 2;
	case COMM_PARTS:
		return (int)(mix(script->seed, 1000 + (uint64_t)rank) % GROUPS);
	default:
		return 0;
	}
}

/**
 * script_members() - the ranks of a group; may be empty
 */
void script_members(const struct script *script, enum comm comm, int group, struct members *members)
{
	bool is_reverse = comm == COMM_HALVES || comm == COMM_BRIDGE;
	int i;

	members->count = 0;
	for (i = 0; i < script->ranks; i++) {
		int rank = is_reverse ? script->ranks - 1 - i : i;

		if (script_group_of(script, comm, rank) == group)
			members->ranks[members->count++] = rank;
	}
}

/* In the graph each rank has at least one source and target: Open MPI 4.1 misbehaves for a rank without. */
static bool is_edge(const struct script *script, enum comm comm, int from, int to)
{
	if (comm == COMM_LINE)
		return from - to == 1 || to - from == 1;
	if (to == (from + 1) % script->ranks)
		return true;
	return mix(script->seed, 2000 + (uint64_t)(from * RANKS_MAX + to)) % 3 == 0;
}

/**
 * script_sources() - the neighbours from which a rank receives data; -1 at the ends of the line
 */
void script_sources(const struct script *script, enum comm comm, int rank, struct members *near)
{
	int i;

	near->count = 0;
	if (comm == COMM_LINE) {
		near->ranks[near->count++] = rank - 1;
		near->ranks[near->count++] = rank + 1 < script->ranks ? rank + 1 : -1;
		return;
	}
	for (i = 0; i < script->ranks; i++)
		if (is_edge(script, comm, i, rank))
			near->ranks[near->count++] = i;
}

/**
 * script_targets() - the neighbours to which a rank sends data
 */
void script_targets(const struct script *script, enum comm comm, int rank, struct members *near)
{
	int i;

	if (comm == COMM_LINE) {
		script_sources(script, comm, rank, near);
		return;
	}
	near->count = 0;
	for (i = script->ranks; i-- > 0;) /* in a different order than the sources */
		if (is_edge(script, comm, rank, i))
			near->ranks[near->count++] = i;
}

/* -- participants of a step ------------------------------------------------------------------------ */

/**
 * script_is_in() - does a rank participate in a collective?
 */
bool script_is_in(const struct script *script, const struct step *step, int rank)
{
	return step->comm == COMM_BRIDGE || script_group_of(script, step->comm, rank) == step->group;
}

/**
 * script_sends() - does a rank send to a receiver with MPI_ANY_SOURCE?
 */
bool script_sends(const struct script *script, const struct step *step, int rank)
{
	(void)script;
	return rank != step->to && mix(step->seed, (uint64_t)rank) % 16 >= (uint64_t)step->zeros;
}

/* -- collectives ---------------------------------------------------------------------------------- */

static int count_by(const struct step *step, uint64_t what)
{
	uint64_t x = mix(step->seed, what);

	return x % 16 < (uint64_t)step->zeros ? 0 : 1 + (int)(x / 16 % COUNT_MAX);
}

/* All ranks contribute the same count; in an inter-communicator the groups may differ. */
static int uniform(const struct script *script, const struct step *step, int from)
{
	bool is_one_way = step->call == CALL_ALLGATHER || step->call == CALL_ALLTOALL;

	return count_by(step, step->comm == COMM_BRIDGE && is_one_way ?
				      1 + (uint64_t)script_group_of(script, step->comm, from) : 0);
}

/**
 * script_elements() - number of elements that a rank contributes for another one, or itself, in a collective
 *
 * For a reduction, the number of elements of the result; for a barrier none. Does not consider
 * whether the call takes data from that rank at all.
 */
int script_elements(const struct script *script, const struct step *step, int from, int to)
{
	switch (step->call) {
	case CALL_GATHERV:
	case CALL_ALLGATHERV:
	case CALL_NEIGHBOR_ALLGATHERV:
		return count_by(step, 10 + (uint64_t)from);
	case CALL_SCATTERV:
	case CALL_REDUCE_SCATTER:
		return count_by(step, 10 + (uint64_t)to);
	case CALL_ALLTOALLV:
	case CALL_ALLTOALLW:
	case CALL_NEIGHBOR_ALLTOALLV:
	case CALL_NEIGHBOR_ALLTOALLW:
		if (step->is_in_place && from > to) /* symmetric */
			return count_by(step, 100 + (uint64_t)(to * RANKS_MAX + from));
		return count_by(step, 100 + (uint64_t)(from * RANKS_MAX + to));
	case CALL_BARRIER:
		return 0;
	default:
		return uniform(script, step, from);
	}
}

static int place_of(const struct members *members, int rank)
{
	int i;

	for (i = 0; i < members->count && members->ranks[i] != rank; i++)
		;
	return i;
}

/* Does this call take data from that rank, if there is any? */
static bool takes(const struct script *script, const struct step *step, int from, int to)
{
	struct members members;
	int root;

	script_members(script, step->comm, step->group, &members);
	root = members.count ? members.ranks[step->root % members.count] : -1;
	if (step->comm == COMM_BRIDGE && script_group_of(script, step->comm, from) ==
						 script_group_of(script, step->comm, to))
		return false;
	switch (step->call) {
	case CALL_BCAST:
	case CALL_SCATTER:
	case CALL_SCATTERV:
		return from == root;
	case CALL_REDUCE:
	case CALL_GATHER:
	case CALL_GATHERV:
		return to == root;
	case CALL_SCAN:
	case CALL_EXSCAN:
		return place_of(&members, from) < place_of(&members, to);
	default:
		return step->call < CALL_NEAR || is_edge(script, step->comm, from, to);
	}
}

/**
 * script_gives() - must a rank wait in a collective until another one has called it?
 */
bool script_gives(const struct script *script, const struct step *step, int from, int to)
{
	if (from == to || !script_is_in(script, step, from) || !script_is_in(script, step, to))
		return false;
	return takes(script, step, from, to) &&
	       (step->call == CALL_BARRIER || script_elements(script, step, from, to));
}

/* -- creating a script -------------------------------------------------------------------------------- */

static const int lengths[] = { 4, 4, 4, 8, 8, 12, 64, 1000, 6000, 70000 };

static void make_message(const struct script *script, struct step *step, struct dice *dice)
{
	step->comm = one_in(dice, 4) ? COMM_TWIN : COMM_WORLD;
	step->is_any_tag = step->comm == COMM_TWIN; /* so that all receives of this communicator are */
	step->from = below(dice, script->ranks);
	step->to = (step->from + 1 + below(dice, one_in(dice, 2) ? 1 : script->ranks - 1)) % script->ranks;
	step->call = below(dice, SENDINGS);
	step->how = below(dice, RECEIVINGS);
	step->tag = below(dice, 3);
	step->bytes = one_in(dice, 12) ? 0 : lengths[below(dice, sizeof(lengths) / sizeof(*lengths))];
}

static void make_any(const struct script *script, struct step *step, struct dice *dice)
{
	step->comm = COMM_WORLD;
	step->to = below(dice, script->ranks);
	step->call = below(dice, SENDINGS);
	step->how = below(dice, RECV_PERSISTENT);
	step->tag = 1000 + step->id; /* unique to the step */
	step->bytes = lengths[below(dice, sizeof(lengths) / sizeof(*lengths))];
}

static void make_call(const struct script *script, struct step *step, struct dice *dice)
{
	struct members members;

	step->comm = (enum comm)below(dice, COMM_COUNT);
	step->group = step->comm == COMM_HALVES || step->comm == COMM_BRIDGE ? below(dice, 2) :
		      step->comm == COMM_PARTS ? below(dice, GROUPS) : 0;
	if (step->comm == COMM_BRIDGE)
		step->call = below(dice, CALL_BETWEEN);
	else if (step->comm == COMM_GRAPH || step->comm == COMM_LINE)
		step->call = one_in(dice, 8) ? CALL_ALLTOALLV : CALL_NEAR + below(dice, CALLS - CALL_NEAR);
	else
		step->call = below(dice, CALL_NEAR);
	if (step->comm == COMM_GRAPH && step->call == CALL_NEIGHBOR_ALLTOALLW) /* MPICH 4.0 confuses its counts */
		step->comm = COMM_LINE;
	script_members(script, step->comm, step->group, &members);
	step->root = members.count ? below(dice, members.count) : 0;
	step->is_request = one_in(dice, 2);
	step->is_in_place = !step->is_request && step->comm != COMM_BRIDGE && step->call < CALL_NEAR &&
			    one_in(dice, 4);
	if (step->call == CALL_ALLTOALLW || step->call == CALL_BCAST || step->call == CALL_BARRIER ||
	    step->call == CALL_REDUCE_SCATTER || step->call == CALL_REDUCE_SCATTER_BLOCK)
		step->is_in_place = false;
}

static void make_step(const struct script *script, struct step *step, struct dice *dice)
{
	static const int zeros[] = { 2, 8, 13 };
	int kind = below(dice, 20);

	step->seed = mix(dice->seed, 5000 + (uint64_t)step->id);
	step->zeros = zeros[below(dice, 3)];
	step->rank = below(dice, script->ranks);
	if (kind < 6) {
		step->what = STEP_IO;
		step->count = 1 + below(dice, 2);
	} else if (kind < 7) {
		step->what = STEP_PAUSE;
		step->count = below(dice, 3000);
	} else if (kind < 11) {
		step->what = STEP_MESSAGE;
		make_message(script, step, dice);
	} else if (kind < 12) {
		step->what = STEP_ANY;
		make_any(script, step, dice);
	} else if (kind < 17) {
		step->what = STEP_CALL;
		make_call(script, step, dice);
	} else if (kind < 19 || !one_in(dice, 4)) {
		step->what = STEP_WAIT;
		step->how = below(dice, WAITINGS);
	} else {
		step->what = STEP_SPLIT;
		step->comm = one_in(dice, 2) ? COMM_WORLD : COMM_HALVES;
		step->group = step->comm == COMM_HALVES ? below(dice, 2) : 0;
	}
}

/**
 * script_make() - create a script, which depends on the arguments only
 * @script: out: to be released with script_free()
 * @ranks: at least 4, at most RANKS_MAX
 * @count: number of steps
 *
 * Return: 0, or -1 if memory is exhausted.
 */
int script_make(struct script *script, uint64_t seed, int ranks, int count)
{
	struct dice dice = { .seed = seed };
	int i;

	*script = (struct script){ .seed = seed, .ranks = ranks, .count = count };
	script->steps = calloc((size_t)count, sizeof(*script->steps));
	if (!script->steps)
		return -1;
	for (i = 0; i < count; i++) {
		script->steps[i].id = i + 1;
		make_step(script, &script->steps[i], &dice);
	}
	return 0;
}

/**
 * script_free() - free the steps
 */
void script_free(struct script *script)
{
	free(script->steps);
}
