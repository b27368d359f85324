// SPDX-License-Identifier: GPL-2.0-only
/*
 * change_coordination.c - collective reads and writes of MPI files instead of independent ones.
 *
 * The n-th independent call of each rank between two collective calls on a file becomes its part of one collective call. Each rank still
 * moves its own data.
 */
#include "change_mpi.h"

/* A collective call on a file, after the change, as one rank makes it. */
struct arrival {
	struct mpi_file_call on;
	u32 call;
};

struct arrivals {
	struct arrival *items;
	u64 count;
	u64 room;
};

static int add_arrival(struct arrivals *arrivals, const struct arrival *arrival)
{
	if (arrivals->count == arrivals->room) {
		u64 room = arrivals->room ? 2 * arrivals->room : 64;
		struct arrival *items = reallocarray(arrivals->items, room, sizeof(*items));

		if (!items)
			return -ENOMEM;
		arrivals->items = items;
		arrivals->room = room;
	}
	arrivals->items[arrivals->count++] = *arrival;
	return 0;
}

/* The calls of one rank after the change. */
static int take_arrivals(struct change *c, struct arrivals *arrivals, u64 number)
{
	const struct actor *actor = &c->actors[number];
	struct mpi_files *files;
	struct mpi_file *file;
	s64 place;
	u64 i;
	int err = mpi_files_open(c, &files);

	for (i = 0; i < actor->count && !err; i++) {
		struct event *event = &actor->steps[i].event;

		err = mpi_files_take(files, actor, i, &file, &place);
		if (err || !file || !file->path || !*change_field(event, "number"))
			continue;
		err = add_arrival(arrivals, &(struct arrival){ { file->path, file->generation, file->ranks, file->opening, file->number, number },
							       mpi_call_of(event) });
	}
	mpi_files_close(files);
	return err;
}

static bool is_same_call(const struct arrival *a, const struct arrival *b)
{
	return mpi_is_same_file(&a->on, &b->on) && a->on.number == b->on.number;
}

/* Each call is that of all ranks that have opened the file, with the same function of MPI. */
static int check_arrivals(struct change *c, const struct arrivals *arrivals)
{
	const struct arrival *first = arrivals->items, *end = arrivals->items + arrivals->count, *next;
	u64 ranks = 0;

	for (; first < end; first = next) {
		bool is_same = true;

		for (next = first + 1; next < end && is_same_call(first, next); next++)
			is_same &= next->call == first->call;
		if (first == arrivals->items || !mpi_is_same_file(&first[-1].on, &first->on))
			ranks = (u64)(next - first);
		if (!is_same || (u64)(next - first) != ranks)
			return change_refuse(c, &(struct event){ .kind = IOT_KIND_mpi_file, .path = first->on.path },
					     "its ranks do not make the same calls");
	}
	return 0;
}

/**
 * change_check_calls() - are the collective calls on MPI files those of all ranks of the files?
 *
 * Return: 0, -EOPNOTSUPP if not, -ENOMEM.
 */
int change_check_calls(struct change *c)
{
	struct arrivals arrivals = {};
	u64 i;
	int err = 0;

	for (i = 0; i < c->actor_count && !err; i++)
		err = take_arrivals(c, &arrivals, i);
	if (arrivals.count)
		qsort(arrivals.items, arrivals.count, sizeof(*arrivals.items), mpi_compare_calls);
	if (!err)
		err = check_arrivals(c, &arrivals);
	free(arrivals.items);
	return err;
}

/* -- the change ----------------------------------------------------------------------------------------------------- */

/* A file of one rank needs no coordination. The communicator may be stated behind the call that opens the file. */
static bool is_changed_call(const struct mpi_file *file, const struct data_call *data)
{
	return data && !data->is_all && file->path && file->ranks != 1;
}

static int change_step(struct change *c, u64 number, u64 at, struct mpi_files *files)
{
	struct event *event = &c->actors[number].steps[at].event;
	const struct data_call *data = mpi_data_call(mpi_call_of(event));
	struct mpi_file *file;
	s64 place;
	int err = mpi_files_take(files, &c->actors[number], at, &file, &place);

	if (err || !file)
		return err;
	if (is_changed_call(file, data)) {
		file->shift++;
		*change_field(event, "call") = data->other;
		*change_field(event, "number") = file->number + (u64)file->shift;
		c->changed++;
	} else if (*change_field(event, "number")) {
		*change_field(event, "number") += (u64)file->shift;
	}
	return 0;
}

static int change_actor(struct change *c, u64 number)
{
	struct mpi_files *files;
	u64 i;
	int err = mpi_files_open(c, &files);

	for (i = 0; i < c->actors[number].count && !err; i++)
		err = change_step(c, number, i, files);
	mpi_files_close(files);
	return err;
}

/**
 * change_to_collective() - collective reads and writes of MPI files instead of independent ones
 *
 * Return: 0, -EOPNOTSUPP if it makes no sense, -ENOMEM.
 */
int change_to_collective(struct change *c)
{
	u64 i;
	int err = 0;

	for (i = 0; i < c->actor_count && !err; i++)
		err = change_actor(c, i);
	if (!err && !c->changed)
		err = change_refuse(c, NULL, "no independent call reads or writes an MPI file of several ranks");
	c->has_more_waits = true;
	return err ? err : change_check_calls(c);
}
