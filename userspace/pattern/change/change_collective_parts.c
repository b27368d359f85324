// SPDX-License-Identifier: GPL-2.0-only
/*
 * change_collective_parts.c - which rank moves which bytes of one collective call on an MPI file.
 *
 * Aggregators divide the file as ROMIO does: the range from the first to the last byte of the call into equal parts, one for each
 * aggregator. Their requests are not larger than the largest one of the original call, which is the size of its buffer.
 *
 * The own data of a rank are those that it moves itself; otherwise those at the place that the call states, in the data of the view if
 * there is one. Where the place is unknown, such as that of an unknown view, the user may state that ranks have blocks in turn.
 */
#include "change_collective.h"

#include <stdio.h>

/* Ranges of bytes, ascending and apart from each other: begin and end of each. */
struct ranges {
	struct numbers ends;
};

/* One collective call: parts of all ranks. */
struct call {
	struct collective_part *parts;
	u64 count;
	struct ranges moved;
	u64 bytes;
	u64 largest;
	u64 requests;
	u64 think_ns;
	u64 duration_ns;
};

static int compare_begins(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return x[0] < y[0] ? -1 : x[0] > y[0];
}

/* Pairs of begin and end become ranges. Return: bytes that several pairs have. */
static u64 merge(struct ranges *ranges)
{
	u64 *ends = ranges->ends.values, common = 0;
	size_t count = ranges->ends.count / 2, made = 0, i;

	if (count)
		qsort(ends, count, 2 * sizeof(*ends), compare_begins);
	for (i = 0; i < count; i++) {
		u64 begin = ends[2 * i], end = ends[2 * i + 1];

		if (made && begin <= ends[2 * made - 1]) {
			common += (end < ends[2 * made - 1] ? end : ends[2 * made - 1]) - begin;
			ends[2 * made - 1] = end > ends[2 * made - 1] ? end : ends[2 * made - 1];
			continue;
		}
		ends[2 * made] = begin;
		ends[2 * made + 1] = end;
		made++;
	}
	ranges->ends.count = 2 * made;
	return common;
}

static void add_range(struct ranges *ranges, u64 begin, u64 bytes)
{
	numbers_add(&ranges->ends, begin);
	numbers_add(&ranges->ends, begin + bytes);
}

static void learn_call(const struct collectives *all, struct call *call)
{
	const struct collective_part *part;
	u64 i;

	for (part = call->parts; part < call->parts + call->count; part++) {
		for (i = part->first_moved; i < part->first_moved + part->moved_count; i++) {
			add_range(&call->moved, all->begins.values[i], all->lengths.values[i]);
			call->bytes += all->lengths.values[i];
			call->largest = all->lengths.values[i] > call->largest ? all->lengths.values[i] : call->largest;
		}
		call->requests += part->moved_count;
		call->think_ns += part->think_ns;
		call->duration_ns += part->duration_ns;
	}
}

/* Durations are divided by bytes; each request has the mean think time of those of the call. */
static int add_transfer(const struct call *call, struct collective_part *part, u64 begin, u64 bytes)
{
	struct step step = { .event = { .kind = part->data->is_write ? IOT_KIND_write : IOT_KIND_read, .depth = part->depth + 1,
					.path = part->on.path, .path2 = "" } };

	step.event.field_count = event_count_fields(step.event.kind);
	step.event.fields[0] = bytes;
	step.event.roles[EVENT_GENERATION] = part->on.generation;
	step.event.roles[EVENT_HANDLE] = part->handle;
	*change_field(&step.event, "offset_bytes") = begin;
	*change_field(&step.event, "length_bytes") = bytes;
	step.think_ns = call->think_ns / call->requests;
	step.duration_ns = (u64)((double)call->duration_ns * (double)bytes / (double)call->bytes + 0.5);
	return change_add_step(&part->made, &step);
}

/* A reason that names the file of a call. */
static int refuse_call(struct change *c, const struct collective_part *part, const char *why)
{
	return change_refuse(c, &(struct event){ .kind = IOT_KIND_mpi_file, .path = part->on.path }, why);
}

static int check_open(struct change *c, const struct collective_part *part)
{
	return part->handle ? 0 : refuse_call(c, part, "a rank that would move data has not opened the file");
}

/* -- own data ------------------------------------------------------------------------------------------------------ */

static bool are_own(const struct call *call)
{
	u64 i;

	for (i = 0; i < call->count; i++)
		if (!call->parts[i].is_own)
			return false;
	return true;
}

/* Return: NULL if all places are known. */
static const struct collective_part *part_without_place(const struct call *call)
{
	u64 i;

	for (i = 0; i < call->count; i++)
		if (call->parts[i].length_bytes && call->parts[i].place < 0)
			return &call->parts[i];
	return NULL;
}

/* A transfer that continues the last one of the rank is a part of it. */
static int deal_transfer(const struct call *call, struct collective_part *part, u64 begin, u64 bytes)
{
	struct step *last = part->made.count ? &part->made.steps[part->made.count - 1] : NULL;

	if (!last || *change_field(&last->event, "offset_bytes") + last->event.fields[0] != begin)
		return add_transfer(call, part, begin, bytes);
	last->event.fields[0] += bytes;
	*change_field(&last->event, "length_bytes") += bytes;
	last->duration_ns += (u64)((double)call->duration_ns * (double)bytes / (double)call->bytes + 0.5);
	return 0;
}

/* Of the data of one rank. */
struct own {
	const struct call *call;
	struct collective_part *part;
	struct ranges *ranges;
};

static int take_own(void *context, u64 begin, u64 bytes)
{
	struct own *own = context;

	add_range(own->ranges, begin, bytes);
	return deal_transfer(own->call, own->part, begin, bytes);
}

/* All transfers of one rank. */
static int move_part(struct change *c, const struct call *call, struct collective_part *part, struct ranges *ranges)
{
	struct own own = { .call = call, .part = part, .ranges = ranges };
	int err = check_open(c, part);

	if (!err && part->view)
		err = view_walk(part->view, (u64)part->place, part->length_bytes, take_own, &own);
	else if (!err)
		err = take_own(&own, (u64)part->place, part->length_bytes);
	return err == -ERANGE ? refuse_call(c, part, "the view of a rank has too many blocks, or some that are outside of a file") : err;
}

/* Each rank moves the range that its call states. */
static int move_stated(struct change *c, const struct call *call)
{
	struct collective_part *part;
	struct ranges own = {};
	bool is_same;
	int err = 0;

	for (part = call->parts; part < call->parts + call->count && !err; part++) {
		if (!part->length_bytes)
			continue;
		err = move_part(c, call, part, &own);
	}
	merge(&own);
	is_same = own.ends.count == call->moved.ends.count && !own.ends.is_failed &&
		  !memcmp(own.ends.values, call->moved.ends.values, own.ends.count * sizeof(u64));
	if (!err && !is_same)
		err = refuse_call(c, call->parts, "the data of the ranks are not those that a collective call moved");
	numbers_free(&own.ends);
	return err;
}

/* The next rank in turn that does not have all its data. Return: NULL if all have them. */
static struct collective_part *next_in_turn(const struct call *call, const u64 *left, u64 *turn)
{
	u64 tries;

	for (tries = 0; tries < call->count; tries++, *turn = (*turn + 1) % call->count)
		if (left[*turn])
			return &call->parts[*turn];
	return NULL;
}

/* Ranks have blocks in turn, in their order, until they have the bytes of their call. */
static int deal_ranges(const struct call *call, u64 *left, u64 block_bytes)
{
	const u64 *ends = call->moved.ends.values;
	u64 block = 0, turn = 0, begin, bytes, i;
	struct collective_part *part;
	int err = 0;

	for (i = 0; i < call->moved.ends.count / 2; i++)
		for (begin = ends[2 * i]; begin < ends[2 * i + 1] && !err; begin += bytes) {
			part = next_in_turn(call, left, &turn);
			if (!part)
				return 0;
			bytes = ends[2 * i + 1] - begin;
			bytes = bytes < block_bytes - block ? bytes : block_bytes - block;
			bytes = bytes < left[turn] ? bytes : left[turn];
			err = deal_transfer(call, part, begin, bytes);
			left[turn] -= bytes;
			block += bytes;
			if (block == block_bytes || !left[turn]) {
				block = 0;
				turn = (turn + 1) % call->count;
			}
		}
	return err;
}

static int move_in_turn(struct change *c, const struct call *call, u64 block_bytes)
{
	u64 *left = calloc(call->count + 1, sizeof(*left)), sum = 0, i;
	int err = left ? 0 : -ENOMEM;

	for (i = 0; i < call->count && !err; i++) {
		left[i] = call->parts[i].length_bytes;
		sum += left[i];
		if (left[i])
			err = check_open(c, &call->parts[i]);
	}
	if (!err && sum != call->bytes)
		err = refuse_call(c, call->parts, "the data of the ranks are not those that a collective call moved");
	if (!err)
		err = deal_ranges(call, left, block_bytes);
	free(left);
	return err;
}

static int move_own(struct change *c, const struct collectives *all, const struct call *call)
{
	const struct collective_part *part = part_without_place(call);
	char why[400];

	if (!part)
		return move_stated(c, call);
	if (all->block_bytes)
		return move_in_turn(c, call, all->block_bytes);
	snprintf(why, sizeof(why), "the place of the data of each rank is unknown: %s, and other ranks move its data; collective=no/SIZE states "
		 "that ranks have blocks in turn", part->place_flaw ? part->place_flaw : "the datatype of the view is not recorded");
	return refuse_call(c, part, why);
}

/* -- aggregators ----------------------------------------------------------------------------------------------------- */

/* All data of a call within one part of the file. */
static int move_domain(const struct call *call, struct collective_part *part, u64 from, u64 to)
{
	const u64 *ends = call->moved.ends.values;
	u64 begin, end, bytes;
	size_t i;
	int err = 0;

	for (i = 0; i < call->moved.ends.count / 2 && !err; i++) {
		begin = ends[2 * i] > from ? ends[2 * i] : from;
		end = ends[2 * i + 1] < to ? ends[2 * i + 1] : to;
		for (; begin < end && !err; begin += bytes) {
			bytes = end - begin < call->largest ? end - begin : call->largest;
			err = add_transfer(call, part, begin, bytes);
		}
	}
	return err;
}

static int move_by_aggregators(struct change *c, const struct collectives *all, const struct call *call)
{
	u64 count = all->is_share ? (call->count + all->aggregators - 1) / all->aggregators : all->aggregators;
	u64 first = call->moved.ends.values[0], last = call->moved.ends.values[call->moved.ends.count - 1], share, i;
	int err = 0;

	if (count > call->count)
		return refuse_call(c, call->parts, "a collective call has fewer ranks than the number of aggregators");
	share = (last - first + count - 1) / count;
	for (i = 0; i < count && !err; i++) {
		struct collective_part *part = &call->parts[i * call->count / count];

		err = check_open(c, part);
		if (!err)
			err = move_domain(call, part, first + i * share, first + (i + 1) * share);
	}
	return err;
}

/* Can the operations in the call be replaced? */
static int check_parts(struct change *c, const struct call *call)
{
	const struct collective_part *part;
	struct event event;

	for (part = call->parts; part < call->parts + call->count; part++) {
		if (part->is_outside)
			return refuse_call(c, part, "the transfers of a nonblocking call are not in it: nonblocking=no puts them there");
		if (!part->flaw)
			continue;
		event = c->actors[part->on.actor].steps[part->flaw_step].event;
		return change_refuse(c, &event, part->flaw);
	}
	return 0;
}

/**
 * collective_move() - replace the transfers in one collective call
 * @c: the change
 * @all: the calls
 * @first: index of the first part of the call
 * @next: index of the first part of the next call
 *
 * Return: 0, -EOPNOTSUPP if it makes no sense, -ENOMEM.
 */
int collective_move(struct change *c, struct collectives *all, u64 first, u64 next)
{
	struct call call = { .parts = all->parts + first, .count = next - first };
	int err = 0;
	u64 common, i;

	if (all->is_independent && are_own(&call)) {
		for (i = 0; i < call.count; i++)
			call.parts[i].is_kept = true;
		return 0;
	}
	err = check_parts(c, &call);
	if (err)
		return err;
	learn_call(all, &call);
	common = merge(&call.moved);
	if (call.moved.ends.is_failed)
		err = -ENOMEM;
	else if (common)
		err = refuse_call(c, call.parts, "several ranks move the same data in a collective call");
	else if (call.requests)
		err = all->is_independent ? move_own(c, all, &call) : move_by_aggregators(c, all, &call);
	numbers_free(&call.moved.ends);
	return err;
}
