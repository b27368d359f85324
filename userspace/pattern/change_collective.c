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

/* -- files of MPI ------------------------------------------------------------------------------------------ */

/* The file that a task has opened by MPI, by the number of its communicator. */
struct mpi_file {
	const char *path;
	u64 generation;
	u64 handle;
	u64 dropped; /* collective calls that are no longer collective */
	bool has_view;
};

#define MPI_FILES_MAX 256 /* communicators and files of a task */

static u32 call_of(struct event *event)
{
	return event->kind == IOT_KIND_mpi_file ? (u32)*change_field(event, "call") : 0;
}

/* The file descriptor that is left open by the operations in MPI_File_open. */
static void open_mpi_file(const struct actor *actor, u64 first, u64 end, struct mpi_file *file)
{
	u64 i;

	*file = (struct mpi_file){};
	for (i = first; i < end; i++) {
		struct event *event = &actor->steps[i].event;
		bool is_own = file->handle && event->roles[EVENT_HANDLE] == file->handle;

		if (event->kind == IOT_KIND_release && is_own)
			file->handle = 0;
		if (event->kind == IOT_KIND_open && (s64)event->fields[0] >= 0 &&
		    !(*change_field(event, "flags") & IOT_OPEN_directory)) {
			file->path = event->path;
			file->generation = event->roles[EVENT_GENERATION];
			file->handle = event->roles[EVENT_HANDLE];
		}
	}
}

static u64 end_of_call(const struct actor *actor, u64 at)
{
	u64 end = at + 1;

	/* Information on communicators is not nested, and may stand between the operations of a call. */
	while (end < actor->count && (actor->steps[end].event.depth > actor->steps[at].event.depth ||
				      iot_kind_is_mpi_known(actor->steps[end].event.kind)))
		end++;
	return end;
}

/* -- calls -------------------------------------------------------------------------------------------------- */

static bool is_blocking_collective(u32 call)
{
	return call == IOT_CALL_file_read_all || call == IOT_CALL_file_write_all || call == IOT_CALL_file_read_at_all ||
	       call == IOT_CALL_file_write_at_all;
}

static bool is_write(u32 call)
{
	return call == IOT_CALL_file_write_all || call == IOT_CALL_file_write_at_all;
}

static int check_nested(struct change *c, struct event *event, const struct collective_part *part)
{
	u16 kind = part->is_write ? IOT_KIND_write : IOT_KIND_read;

	if (iot_kind_is_mpi_known(event->kind))
		return 0;
	if (event->kind != kind)
		return change_refuse(c, event, "it is part of a collective call, and is not one of its transfers");
	if (strcmp(event->path, part->path) || event->roles[EVENT_GENERATION] != part->generation)
		return change_refuse(c, event, "it is part of a collective call on another file");
	if (!event->fields[0] || event->fields[0] != *change_field(event, "length_bytes"))
		return change_refuse(c, event, "it is part of a collective call, and did not move all its bytes");
	return 0;
}

static int take_nested(struct change *c, struct collectives *all, const struct actor *actor, struct collective_part *part)
{
	u64 i;
	int err = 0;

	for (i = part->call + 1; i < part->end && !err; i++) {
		const struct step *step = &actor->steps[i];
		struct event event = step->event;

		err = check_nested(c, &event, part);
		if (err || iot_kind_is_mpi_known(event.kind))
			continue;
		numbers_add(&all->begins, *change_field(&event, "offset_bytes"));
		numbers_add(&all->lengths, event.fields[0]);
		part->moved_count++;
		part->think_ns += step->think_ns;
		part->duration_ns += step->duration_ns;
	}
	return err;
}

static int take_call(struct change *c, struct collectives *all, u64 number, u64 at, struct mpi_file *file)
{
	const struct actor *actor = &c->actors[number];
	struct event event = actor->steps[at].event;
	struct collective_part part = { .actor = number, .call = at, .end = end_of_call(actor, at), .path = file->path,
					.generation = file->generation, .handle = file->handle, .depth = event.depth,
					.number = *change_field(&event, "number"), .length_bytes = *change_field(&event, "length_bytes"),
					.is_write = is_write(call_of(&event)), .first_moved = all->begins.count };
	struct collective_part *parts;
	int err;

	if (!file->path)
		return change_refuse(c, NULL, "the pattern does not contain the operations of a collective call on its file");
	part.place = (s64)*change_field(&event, "place");
	part.has_place = !file->has_view && part.place >= 0;
	if (all->count == all->room) {
		parts = reallocarray(all->parts, all->room ? 2 * all->room : 64, sizeof(*parts));
		if (!parts)
			return -ENOMEM;
		all->parts = parts;
		all->room = all->room ? 2 * all->room : 64;
	}
	err = take_nested(c, all, actor, &part);
	if (!err)
		all->parts[all->count++] = part;
	return err;
}

static bool is_other_collective(struct event *event, u32 call)
{
	return *change_field(event, "number") && *change_field(event, "length_bytes") && !is_blocking_collective(call);
}

static int take_step(struct change *c, struct collectives *all, u64 number, u64 at, struct mpi_file files[MPI_FILES_MAX])
{
	const struct actor *actor = &c->actors[number];
	struct event *event = &actor->steps[at].event;
	u64 role = event->roles[EVENT_COMM];
	struct mpi_file *file;
	u32 call = call_of(event);

	if (!call)
		return 0;
	if (role >= MPI_FILES_MAX)
		return change_refuse(c, NULL, "a task has too many communicators and MPI files");
	file = &files[role];
	if (call == IOT_CALL_file_open && (s64)event->fields[0] >= 0)
		open_mpi_file(actor, at + 1, end_of_call(actor, at), file);
	if (call == IOT_CALL_file_set_view)
		file->has_view = true;
	if (is_other_collective(event, call))
		return change_refuse(c, NULL, "a collective call does not block, has two parts or uses the shared file pointer: its transfers "
					      "are unknown");
	if (is_blocking_collective(call)) {
		file->dropped += all->is_independent;
		return take_call(c, all, number, at, file);
	}
	if (file->dropped && *change_field(event, "number"))
		*change_field(event, "number") -= file->dropped;
	if (call == IOT_CALL_file_close)
		*file = (struct mpi_file){};
	return 0;
}

static int take_actor(struct change *c, struct collectives *all, u64 number)
{
	struct mpi_file *files = calloc(MPI_FILES_MAX, sizeof(*files));
	u64 i;
	int err = files ? 0 : -ENOMEM;

	for (i = 0; i < c->actors[number].count && !err; i++)
		err = take_step(c, all, number, i, files);
	free(files);
	return err;
}

/* -- all parts of a call ------------------------------------------------------------------------------------------- */

static int compare_parts(const void *a, const void *b)
{
	const struct collective_part *x = a, *y = b;
	int by_path = strcmp(x->path, y->path);

	if (by_path)
		return by_path;
	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->actor < y->actor ? -1 : x->actor > y->actor;
}

static bool is_same_call(const struct collective_part *a, const struct collective_part *b)
{
	return !strcmp(a->path, b->path) && a->generation == b->generation && a->number == b->number;
}

static int change_calls(struct change *c, struct collectives *all)
{
	u64 first, next;
	int err = 0;

	qsort(all->parts, all->count, sizeof(*all->parts), compare_parts);
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
	step->duration_ns = 0;
	if (!all->is_independent)
		return;
	*change_field(&step->event, "call") = part->is_write ? IOT_CALL_file_write_at : IOT_CALL_file_read_at;
	*change_field(&step->event, "number") = 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct collective_part *x = a, *y = b;

	if (x->actor != y->actor)
		return x->actor < y->actor ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

static int rebuild_actor(struct change *c, const struct collectives *all, u64 number, u64 *at)
{
	struct actor *actor = &c->actors[number], made = {};
	u64 i, j;
	int err = 0;

	for (i = 0; i < actor->count && !err; i++) {
		const struct collective_part *part = &all->parts[*at];

		if (*at == all->count || part->actor != number || part->call != i) {
			err = change_add_step(&made, &actor->steps[i]);
			continue;
		}
		put_call(&actor->steps[i], all, part);
		err = change_add_step(&made, &actor->steps[i]);
		for (j = 0; j < part->made.count && !err; j++)
			err = change_add_step(&made, &part->made.steps[j]);
		for (j = i + 1; j < part->end && !err; j++)
			if (iot_kind_is_mpi_known(actor->steps[j].event.kind))
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
	int err = 0;

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
	numbers_free(&all->begins);
	numbers_free(&all->lengths);
	return err;
}

/**
 * change_to_independent() - each rank reads and writes its own data, instead of by collective calls
 *
 * Return: 0, -EOPNOTSUPP if it makes no sense, -ENOMEM.
 */
int change_to_independent(struct change *c)
{
	struct collectives all = { .is_independent = true };

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
