// SPDX-License-Identifier: GPL-2.0-only
/*
 * change_files_mpi.c - calls on MPI files that become one file for each rank, or one file for all.
 *
 * The data of a rank are the ranges that it moves itself in its calls: these are its view of the file. In a file of its own they
 * are without gaps, and the file has a communicator of one rank. In a shared file each rank sets a view that begins at its data.
 */
#include "change_files.h"

/* One task while its calls change. */
struct calls {
	struct files *files;
	const struct extents *extents; /* sorted; of all data before the change */
	struct mpi_files *mpi;
	u64 actor;
	u64 nth; /* among the ranks */
	u64 ranks;
	bool is_joined;
	struct actor made;
	struct numbers roles; /* communicators of the files that change */
};

static bool is_changed(const struct file *file, bool is_joined)
{
	return file && file->is_mpi && (is_joined ? file->new_path != NULL : file->is_common && !file->is_other);
}

static int refuse(struct calls *calls, const struct mpi_file *file, const char *why)
{
	return change_refuse(calls->files->c, &(struct event){ .kind = IOT_KIND_mpi_file, .path = file->path }, why);
}

/* Each rank moves the data of its calls in them. */
static int check_own(struct calls *calls, u64 at, const struct mpi_file *file, const struct data_call *data)
{
	const struct actor *actor = &calls->files->c->actors[calls->actor];
	u64 end = mpi_end_of_call(actor, at), sum = 0, i;
	struct event call = actor->steps[at].event;

	for (i = at + 1; i < end; i++) {
		const struct event *event = &actor->steps[i].event;

		if (event->kind == (data->is_write ? IOT_KIND_write : IOT_KIND_read) && !strcmp(event->path, file->path))
			sum += event->fields[0];
	}
	if (sum == *change_field(&call, "length_bytes"))
		return 0;
	return refuse(calls, file, data->is_nonblocking ? "the transfers of a nonblocking call are not in it: nonblocking=no puts them there" :
				   data->is_all ? "other ranks move the data of a collective call: collective=no gives each rank its own" :
						  "a call moves other bytes than those of the rank");
}

static int check_call(struct calls *calls, u64 at, const struct mpi_file *file)
{
	const struct step *step = &calls->files->c->actors[calls->actor].steps[at];
	struct event event = step->event;
	u32 call = mpi_call_of(&event);
	const struct data_call *data = mpi_data_call(call);

	if (data)
		return check_own(calls, at, file, data);
	if (*change_field(&event, "length_bytes"))
		return refuse(calls, file, "a call has two parts or uses the shared file pointer: its transfers are unknown");
	if (call == IOT_CALL_file_seek && !file->has_view && !calls->is_joined && !file->has_pointer)
		return refuse(calls, file, file->pointer_flaw);
	return 0;
}

/* -- a file for each rank ------------------------------------------------------------------------------------------- */

/* @place: where the call moves data, or -1. A seek goes to the data that follow its place in the shared file. */
static int split_call(struct calls *calls, struct event *event, const struct mpi_file *file, s64 place)
{
	const struct file *of = change_file_at(calls->files, file->path);
	u64 rank = calls->files->c->actors[calls->actor].facts[TASK_FACT_rank];

	if (place >= 0 && mpi_data_call(mpi_call_of(event))->is_at)
		*change_field(event, "place") = change_place(calls->extents, of, calls->actor, (u64)place);
	if (mpi_call_of(event) == IOT_CALL_file_seek && !file->has_view && (s64)event->fields[0] >= 0) {
		*change_field(event, "place") = change_place(calls->extents, of, calls->actor, file->pointer);
		*change_field(event, "whence") = IOT_MPI_WHENCE_set;
	}
	return *event->path2 ? change_rank_path(calls->files->c, &event->path2, rank) : 0;
}

/* -- one file -------------------------------------------------------------------------------------------------------- */

/* The view of a rank begins at its data. It is set by a collective call behind that which opens the file. */
static int put_view(struct calls *calls, const struct step *open, struct mpi_file *file)
{
	struct step view = { .event = { .kind = IOT_KIND_mpi_file, .depth = open->event.depth, .path = "", .path2 = "",
					.field_count = open->event.field_count } };

	view.event.roles[EVENT_COMM] = open->event.roles[EVENT_COMM];
	*change_field(&view.event, "call") = IOT_CALL_file_set_view;
	*change_field(&view.event, "place") = (u64)-1;
	*change_field(&view.event, "number") = file->number + 1;
	file->shift++;
	return change_add_step(&calls->made, &view);
}

static int join_call(struct calls *calls, struct event *event, const struct mpi_file *file)
{
	if (*event->path2)
		event->path2 = change_file_at(calls->files, file->path)->new_given;
	if (mpi_call_of(event) != IOT_CALL_file_open && *change_field(event, "number"))
		*change_field(event, "number") += (u64)file->shift;
	return 0;
}

/* -- both ------------------------------------------------------------------------------------------------------------ */

static int take_call(struct calls *calls, u64 at, struct mpi_file *file, s64 place)
{
	const struct actor *actor = &calls->files->c->actors[calls->actor];
	struct step step = actor->steps[at];
	u64 end = mpi_end_of_call(actor, at), i;
	int err = check_call(calls, at, file);

	numbers_add(&calls->roles, step.event.roles[EVENT_COMM]);
	if (!err)
		err = calls->is_joined ? join_call(calls, &step.event, file) : split_call(calls, &step.event, file, place);
	if (!err)
		err = change_add_step(&calls->made, &step);
	calls->files->c->changed++;
	calls->files->c->has_more_waits |= calls->is_joined;
	if (err || !calls->is_joined || mpi_call_of(&step.event) != IOT_CALL_file_open)
		return err;
	for (i = at + 1; i < end && !err; i++)
		err = change_add_step(&calls->made, &actor->steps[i]);
	return err ? err : put_view(calls, &step, file);
}

static bool has_role(const struct calls *calls, u64 role)
{
	size_t i;

	for (i = 0; i < calls->roles.count; i++)
		if (calls->roles.values[i] == role)
			return true;
	return false;
}

/* The communicators of the files. */
static void set_communicators(struct calls *calls)
{
	u64 i;

	for (i = 0; i < calls->made.count; i++) {
		struct event *event = &calls->made.steps[i].event;

		if (event->kind != IOT_KIND_mpi_comm || !has_role(calls, event->roles[EVENT_COMM]))
			continue;
		*change_field(event, "rank") = calls->is_joined ? calls->nth : 0;
		*change_field(event, "size") = calls->is_joined ? calls->ranks : 1;
	}
}

static int change_actor(struct calls *calls)
{
	struct actor *actor = &calls->files->c->actors[calls->actor];
	struct mpi_file *file;
	s64 place;
	u64 i;
	int err = mpi_files_open(calls->files->c, &calls->mpi);

	for (i = 0; i < actor->count && !err; i++) {
		err = mpi_files_take(calls->mpi, actor, i, &file, &place);
		if (err)
			break;
		if (actor->steps[i].event.kind == IOT_KIND_mpi_view && has_role(calls, actor->steps[i].event.roles[EVENT_COMM]))
			continue; /* the view is that of its data in the other file then */
		if (!file || !file->path || !is_changed(change_file_at(calls->files, file->path), calls->is_joined)) {
			err = change_add_step(&calls->made, &actor->steps[i]);
			continue;
		}
		err = take_call(calls, i, file, place);
		if (calls->is_joined && mpi_call_of(&actor->steps[i].event) == IOT_CALL_file_open)
			i = mpi_end_of_call(actor, i) - 1; /* they are before the view */
	}
	mpi_files_close(calls->mpi);
	set_communicators(calls);
	if (calls->roles.is_failed)
		err = -ENOMEM;
	memcpy(calls->made.facts, actor->facts, sizeof(actor->facts));
	free(actor->steps);
	*actor = calls->made;
	numbers_free(&calls->roles);
	return err;
}

/**
 * change_files_of_mpi() - change the calls of all ranks on the MPI files that become other ones
 * @files: all files; the operations in the calls are changed later
 * @ranks, @count: the actors that are ranks
 * @extents: all data before the change, sorted
 * @is_joined: the files become one file for all ranks; otherwise a file becomes one for each rank
 *
 * Return: 0, -EOPNOTSUPP if it makes no sense, -ENOMEM.
 */
int change_files_of_mpi(struct files *files, const u64 *ranks, u64 count, const struct extents *extents, bool is_joined)
{
	u64 i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		struct calls calls = { .files = files, .extents = extents, .actor = ranks[i], .nth = i, .ranks = count,
				       .is_joined = is_joined };

		err = change_actor(&calls);
	}
	return err;
}
