// SPDX-License-Identifier: GPL-2.0-only
/*
 * change_collective.c - collective reads and writes of MPI files by other ranks: each by its own rank, or by a number of
 * aggregators.
 *
 * A collective call of all ranks moves the same bytes of its file as before; only the ranks and requests that move them differ.
 */
#include "change_collective.h"

#include <inttypes.h>
#include <stdio.h>

/* -- calls -------------------------------------------------------------------------------------------------- */

/* The reason why an operation in a call cannot be replaced; NULL if there is none. */
static const char *flaw_of(struct event *event, const struct collective_part *part)
{
	u16 kind = part->data->is_write ? IOT_KIND_write : IOT_KIND_read;

	if (event->kind != kind)
		return "it is part of a collective call, and is not one of its transfers";
	if (strcmp(event->path, part->on.path) || event->roles[EVENT_GENERATION] != part->on.generation)
		return "it is part of a collective call on another file";
	if (!event->fields[0] || event->fields[0] != *change_field(event, "length_bytes"))
		return "it is part of a collective call, and did not move all its bytes";
	return NULL;
}

static void take_nested(struct collectives *all, const struct actor *actor, struct collective_part *part)
{
	u64 bytes = 0, i;

	for (i = part->call + 1; i < part->end; i++) {
		const struct step *step = &actor->steps[i];
		struct event event = step->event;
		const char *flaw;

		if (iot_kind_is_mpi_known(event.kind))
			continue;
		flaw = flaw_of(&event, part);
		if (flaw && !part->flaw) {
			part->flaw = flaw;
			part->flaw_step = i;
		}
		if (flaw)
			continue;
		numbers_add(&all->begins, *change_field(&event, "offset_bytes"));
		numbers_add(&all->lengths, event.fields[0]);
		part->moved_count++;
		part->think_ns += step->think_ns;
		part->duration_ns += step->duration_ns;
		bytes += event.fields[0];
	}
	part->is_own = bytes == part->length_bytes;
	part->is_outside = part->data->is_nonblocking && !part->is_own;
}

static int take_call(struct change *c, struct collectives *all, u64 number, u64 at, const struct mpi_file *file)
{
	const struct actor *actor = &c->actors[number];
	struct event event = actor->steps[at].event;
	struct collective_part part = { .on = { file->path, file->generation, file->ranks, file->opening, *change_field(&event, "number"), number },
					.call = at, .end = mpi_end_of_call(actor, at), .data = mpi_data_call(mpi_call_of(&event)),
					.handle = file->handle, .depth = event.depth, .length_bytes = *change_field(&event, "length_bytes"),
					.view = file->view, .place = file->data_place, .place_flaw = file->pointer_flaw,
					.first_moved = all->begins.count };
	const struct file_request *request = requests_at(&all->requests, number, at);
	struct collective_part *parts;

	if (!file->path)
		return change_refuse(c, NULL, "the pattern does not contain the operations of a collective call on its file");
	if (all->count == all->room) {
		parts = reallocarray(all->parts, all->room ? 2 * all->room : 64, sizeof(*parts));
		if (!parts)
			return -ENOMEM;
		all->parts = parts;
		all->room = all->room ? 2 * all->room : 64;
	}
	take_nested(all, actor, &part);
	part.is_own |= request && request->is_known;
	all->parts[all->count++] = part;
	return 0;
}

static bool is_other_collective(struct event *event, const struct data_call *data)
{
	return *change_field(event, "number") && *change_field(event, "length_bytes") && !data;
}

static int take_step(struct change *c, struct collectives *all, u64 number, u64 at, struct mpi_files *files)
{
	const struct actor *actor = &c->actors[number];
	struct event *event = &actor->steps[at].event;
	const struct data_call *data = mpi_data_call(mpi_call_of(event));
	struct mpi_file *file;
	s64 place;
	int err = mpi_files_take(files, actor, at, &file, &place);

	if (err || !file)
		return err;
	if (is_other_collective(event, data))
		return change_refuse(c, NULL, "a collective call has two parts or uses the shared file pointer: its transfers are unknown");
	if (data && data->is_all) {
		file->shift -= all->is_independent;
		return take_call(c, all, number, at, file);
	}
	if (*change_field(event, "number"))
		*change_field(event, "number") += (u64)file->shift;
	return 0;
}

static int take_actor(struct change *c, struct collectives *all, u64 number)
{
	struct mpi_files *files;
	u64 i;
	int err = mpi_files_open(c, &files);

	for (i = 0; i < c->actors[number].count && !err; i++)
		err = take_step(c, all, number, i, files);
	mpi_files_close(files);
	return err;
}

/* -- all parts of a call ------------------------------------------------------------------------------------------- */

static bool is_same_call(const struct collective_part *a, const struct collective_part *b)
{
	return mpi_is_same_file(&a->on, &b->on) && a->on.number == b->on.number;
}

static int change_calls(struct change *c, struct collectives *all)
{
	u64 first, next;
	int err = 0;

	qsort(all->parts, all->count, sizeof(*all->parts), mpi_compare_calls);
	for (first = 0; first < all->count && !err; first = next) {
		for (next = first + 1; next < all->count && is_same_call(&all->parts[first], &all->parts[next]); next++)
			;
		err = collective_move(c, all, first, next);
		c->changed++;
	}
	return err;
}

/* -- back to the tasks ------------------------------------------------------------------------------------------------- */

/* The call itself: its duration follows from the operations in it. */
static void put_call(struct step *step, const struct collectives *all, const struct collective_part *part)
{
	if (!part->data->is_nonblocking)
		step->duration_ns = 0;
	if (!all->is_independent)
		return;
	*change_field(&step->event, "call") = part->data->other;
	*change_field(&step->event, "number") = 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct collective_part *x = a, *y = b;

	if (x->on.actor != y->on.actor)
		return x->on.actor < y->on.actor ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

static int rebuild_actor(struct change *c, const struct collectives *all, u64 number, u64 *at)
{
	struct actor *actor = &c->actors[number], made = {};
	u64 i, j;
	int err = 0;

	for (i = 0; i < actor->count && !err; i++) {
		const struct collective_part *part = &all->parts[*at];

		if (*at == all->count || part->on.actor != number || part->call != i) {
			err = change_add_step(&made, &actor->steps[i]);
			continue;
		}
		put_call(&actor->steps[i], all, part);
		err = change_add_step(&made, &actor->steps[i]);
		for (j = 0; j < part->made.count && !err; j++)
			err = change_add_step(&made, &part->made.steps[j]);
		for (j = i + 1; j < part->end && !err; j++)
			if (part->is_kept || iot_kind_is_mpi_known(actor->steps[j].event.kind))
				err = change_add_step(&made, &actor->steps[j]);
		i = part->end - 1;
		++*at;
	}
	free(actor->steps);
	memcpy(made.facts, actor->facts, sizeof(made.facts));
	*actor = made;
	return err;
}

static int change_all(struct change *c, struct collectives *all)
{
	u64 i, at = 0;
	int err = requests_find(c, &all->requests);

	for (i = 0; i < c->actor_count && !err; i++)
		err = take_actor(c, all, i);
	if (!err && (all->begins.is_failed || all->lengths.is_failed))
		err = -ENOMEM;
	if (!err && !all->count)
		err = change_refuse(c, NULL, "no collective call on an MPI file reads or writes data");
	if (!err)
		err = change_calls(c, all);
	if (all->count)
		qsort(all->parts, all->count, sizeof(*all->parts), compare_places);
	for (i = 0; i < c->actor_count && !err; i++)
		err = rebuild_actor(c, all, i, &at);
	for (i = 0; i < all->count; i++)
		free(all->parts[i].made.steps);
	free(all->parts);
	requests_free(&all->requests);
	numbers_free(&all->begins);
	numbers_free(&all->lengths);
	return err;
}

/**
 * change_to_independent() - each rank reads and writes its own data, instead of by collective calls
 * @c: the change
 * @block_bytes: where the places of the data of ranks are unknown, each rank in turn has a block of this size; 0: refuse these calls
 *
 * Return: 0, -EOPNOTSUPP if it makes no sense, -ENOMEM.
 */
int change_to_independent(struct change *c, u64 block_bytes)
{
	struct collectives all = { .is_independent = true, .block_bytes = block_bytes };

	return change_all(c, &all);
}

/**
 * change_aggregators() - other ranks move the data of collective calls
 * @c: the change
 * @value: their number, or N/n: one of n ranks
 *
 * Return: 0, -EOPNOTSUPP if it makes no sense, -ENOMEM.
 */
int change_aggregators(struct change *c, const char *value)
{
	struct collectives all = { .is_share = !strncmp(value, "N/", 2) };
	const char *digits = value + 2 * all.is_share;

	all.aggregators = strlen(digits) <= 7 && strspn(digits, "0123456789") == strlen(digits) ? strtoull(digits, NULL, 10) : 0;
	if (!all.aggregators)
		return change_refuse(c, NULL, "aggregators: neither a number nor N/n, such as 4 or N/8");
	c->is_regrouped = true;
	return change_all(c, &all);
}
