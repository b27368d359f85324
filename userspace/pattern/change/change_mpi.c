// SPDX-License-Identifier: GPL-2.0-only
/*
 * change_mpi.c - the files of MPI that a task has open, call by call.
 *
 * A task knows a file by the number of its communicator. The path is that of the descriptor that the operations in MPI_File_open leave
 * open.
 */
#include "change_mpi.h"

#define MPI_FILES_MAX 256 /* communicators and files of a task */

/* Each rank counts its calls. A file that a rank also opens alone, as rank 0 of IOR does, is not the one that all open together. */
struct opened {
	const char *path;
	u64 ranks;
};

/**
 * struct mpi_files - those of one task, by the number of the communicator
 * @opened: all calls that opened a file
 */
struct mpi_files {
	struct change *change;
	struct mpi_file files[MPI_FILES_MAX];
	struct opened *opened;
	u64 opened_count;
	u64 opened_room;
};

/* -- calls -------------------------------------------------------------------------------------------------------- */

#define DATA_CALLS(C, is_write, prefix)                                                                            \
	C(file_##prefix, file_##prefix##_all, file_##prefix, is_write, false, false, false)                        \
	C(file_##prefix##_all, file_##prefix, file_##prefix##_all, is_write, true, false, false)                   \
	C(file_##prefix##_at, file_##prefix##_at_all, file_##prefix##_at, is_write, false, true, false)            \
	C(file_##prefix##_at_all, file_##prefix##_at, file_##prefix##_at_all, is_write, true, true, false)         \
	C(file_i##prefix, file_i##prefix##_all, file_##prefix, is_write, false, false, true)                       \
	C(file_i##prefix##_all, file_i##prefix, file_##prefix##_all, is_write, true, false, true)                  \
	C(file_i##prefix##_at, file_i##prefix##_at_all, file_##prefix##_at, is_write, false, true, true)           \
	C(file_i##prefix##_at_all, file_i##prefix##_at, file_##prefix##_at_all, is_write, true, true, true)

static const struct data_call data_calls[] = {
#define DATA_CALL_ROW(name, other, blocking, is_write, is_all, is_at, is_nonblocking) \
	{ IOT_CALL_##name, IOT_CALL_##other, IOT_CALL_##blocking, is_write, is_all, is_at, is_nonblocking },
	DATA_CALLS(DATA_CALL_ROW, false, read) DATA_CALLS(DATA_CALL_ROW, true, write)
#undef DATA_CALL_ROW
};

/**
 * mpi_call_of() - the call of an event
 *
 * Return: an enum iot_call; 0 if it is no call on an MPI file.
 */
u32 mpi_call_of(const struct event *event)
{
	struct event copy = *event;

	return event->kind == IOT_KIND_mpi_file ? (u32)*change_field(&copy, "call") : 0;
}

/**
 * mpi_data_call() - what a call does
 *
 * Return: NULL if it moves no data, has two parts, or uses the shared file pointer.
 */
const struct data_call *mpi_data_call(u32 call)
{
	size_t i;

	for (i = 0; i < sizeof(data_calls) / sizeof(*data_calls); i++)
		if (data_calls[i].call == call)
			return &data_calls[i];
	return NULL;
}

/**
 * mpi_end_of_call() - where the operations in a call end
 *
 * Return: index of the first step behind them.
 */
u64 mpi_end_of_call(const struct actor *actor, u64 at)
{
	u64 end = at + 1;

	/* Information on communicators is not nested, and may stand between the operations of a call. */
	while (end < actor->count && (actor->steps[end].event.depth > actor->steps[at].event.depth ||
				      iot_kind_is_mpi_known(actor->steps[end].event.kind)))
		end++;
	return end;
}

/* -- files ------------------------------------------------------------------------------------------------------- */

/**
 * mpi_files_open() - a task that has no file open
 * @c: the change
 * @files: out: to be freed by mpi_files_close()
 *
 * Return: 0 or -ENOMEM.
 */
int mpi_files_open(struct change *c, struct mpi_files **files)
{
	*files = calloc(1, sizeof(**files));
	if (!*files)
		return -ENOMEM;
	(*files)->change = c;
	return 0;
}

/* The number of earlier calls that opened the path with as many ranks. Return: 0 or -ENOMEM. */
static int count_opening(struct mpi_files *files, struct mpi_file *file)
{
	struct opened *opened;
	u64 i, room;

	for (i = 0; i < files->opened_count; i++)
		file->opening += files->opened[i].ranks == file->ranks && !strcmp(files->opened[i].path, file->path);
	if (files->opened_count == files->opened_room) {
		room = files->opened_room ? 2 * files->opened_room : 16;
		opened = reallocarray(files->opened, room, sizeof(*opened));
		if (!opened)
			return -ENOMEM;
		files->opened = opened;
		files->opened_room = room;
	}
	files->opened[files->opened_count++] = (struct opened){ file->path, file->ranks };
	return 0;
}

/* The size of the file, for which MPI seeks its end in the call. Return: -1 if it does not. */
static s64 size_in_call(const struct mpi_file *file, const struct actor *actor, u64 at)
{
	u64 end = mpi_end_of_call(actor, at), i;
	s64 size = -1;

	for (i = at + 1; i < end && file->path; i++) {
		struct event event = actor->steps[i].event;

		if (event.kind == IOT_KIND_seek && *change_field(&event, "whence") == IOT_WHENCE_end && !strcmp(event.path, file->path) &&
		    (s64)event.fields[0] >= 0)
			size = (s64)(event.fields[0] - *change_field(&event, "offset_bytes"));
	}
	return size;
}

/* With MPI_MODE_APPEND, which is not recorded, the pointer begins at the end of the file, which MPI seeks. */
static void begin_pointer(struct mpi_file *file, const struct actor *actor, u64 at)
{
	s64 size = size_in_call(file, actor, at);

	file->has_pointer = size <= 0;
	if (size > 0)
		file->pointer_flaw = "the call that opens the file seeks its end, where the file pointer begins with MPI_MODE_APPEND";
}

static int open_file(struct mpi_files *files, const struct actor *actor, u64 at, struct mpi_file *file)
{
	u64 end = mpi_end_of_call(actor, at), i;

	*file = (struct mpi_file){ .given = actor->steps[at].event.path2, .ranks = file->ranks, .number = file->number };
	for (i = at + 1; i < end; i++) {
		struct event *event = &actor->steps[i].event;
		bool is_own = file->handle && event->roles[EVENT_HANDLE] == file->handle;

		if (event->kind == IOT_KIND_mpi_comm && event->roles[EVENT_COMM] == actor->steps[at].event.roles[EVENT_COMM])
			file->ranks = *change_field(event, "size");
		if (event->kind == IOT_KIND_release && is_own)
			file->handle = 0;
		if (event->kind == IOT_KIND_open && (s64)event->fields[0] >= 0 &&
		    !(*change_field(event, "flags") & IOT_OPEN_directory)) {
			file->path = event->path;
			file->generation = event->roles[EVENT_GENERATION];
			file->handle = event->roles[EVENT_HANDLE];
		}
	}
	begin_pointer(file, actor, at);
	return file->path ? count_opening(files, file) : 0;
}

static void lose_pointer(struct mpi_file *file, const char *flaw)
{
	file->has_pointer = false;
	file->pointer_flaw = flaw;
}

/* MPI_File_seek. A pointer in an unknown view stays unknown. */
static void seek_pointer(struct mpi_file *file, const struct actor *actor, u64 at)
{
	struct event event = actor->steps[at].event;
	u64 unit_bytes = file->view ? file->view->unit_bytes : 1, offset;
	u32 whence = (u32)*change_field(&event, "whence");
	s64 size;

	if ((s64)event.fields[0] < 0 || (file->has_view && !view_is_known(file->view)))
		return;
	switch (whence) {
	case IOT_MPI_WHENCE_set:
		file->pointer = 0;
		break;
	case IOT_MPI_WHENCE_cur:
		if (!file->has_pointer)
			return;
		break;
	case IOT_MPI_WHENCE_end:
		size = size_in_call(file, actor, at);
		if (size >= 0 && file->view)
			size = view_end_of_file(file->view, (u64)size);
		if (size < 0)
			return lose_pointer(file, "MPI_File_seek moves the file pointer to the end of the file, and no operation in the "
						  "call states where that is");
		file->pointer = (u64)size;
		break;
	default:
		return lose_pointer(file, "the trace does not state from where an MPI_File_seek counts its offset");
	}
	offset = *change_field(&event, "place") * unit_bytes;
	file->pointer += offset;
	file->has_pointer = true;
	if ((s64)file->pointer < 0)
		lose_pointer(file, "an MPI_File_seek moves the file pointer to before the begin of the file");
}

/* The place of a call that moves data; the file pointer moves. Return: -1 if it is not known. */
static s64 move_pointer(struct mpi_file *file, struct event *event, const struct data_call *data)
{
	s64 place = data->is_at ? (s64)*change_field(event, "place") : file->has_pointer ? (s64)file->pointer : -1;

	if (data->is_at && file->view && place >= 0)
		place = (s64)((u64)place * file->view->unit_bytes);
	if (!data->is_at)
		file->pointer += *change_field(event, "length_bytes");
	file->data_place = file->has_view && !view_is_known(file->view) ? -1 : place;
	return file->has_view ? -1 : place;
}

/* A part of the view that the last call has set, which has also moved the file pointer to its begin. */
static int take_view(struct mpi_files *files, struct mpi_file *file, const struct event *event)
{
	int err = file->has_view ? view_take_part(files->change, &file->view, event) : 0;

	file->has_pointer = view_is_known(file->view);
	file->pointer_flaw = NULL;
	file->pointer = 0;
	return err;
}

/**
 * mpi_files_take() - the next step of the task
 * @files: of the task
 * @actor: the task
 * @at: index of the step
 * @file: out: the file of the call, NULL if the step is no call on one
 * @place: out: where the call moves data in the file, -1 if it moves none or the place is not known
 *
 * Return: 0, -EOPNOTSUPP if there are too many files, -ENOMEM.
 */
int mpi_files_take(struct mpi_files *files, const struct actor *actor, u64 at, struct mpi_file **file, s64 *place)
{
	struct event *event = &actor->steps[at].event;
	u64 role = event->roles[EVENT_COMM];
	u32 call = mpi_call_of(event);
	const struct data_call *data = mpi_data_call(call);

	*file = NULL;
	*place = -1;
	if (!call && event->kind != IOT_KIND_mpi_comm && event->kind != IOT_KIND_mpi_view)
		return 0;
	if (role >= MPI_FILES_MAX)
		return change_refuse(files->change, NULL, "a task has too many communicators and MPI files");
	if (event->kind == IOT_KIND_mpi_comm) {
		files->files[role].ranks = *change_field(event, "size");
		return 0;
	}
	if (event->kind == IOT_KIND_mpi_view)
		return take_view(files, &files->files[role], event);
	*file = &files->files[role];
	if (*change_field(event, "number"))
		(*file)->number = *change_field(event, "number");
	if (call == IOT_CALL_file_open && (s64)event->fields[0] >= 0)
		return open_file(files, actor, at, *file);
	if (call == IOT_CALL_file_set_view) {
		(*file)->has_view = true;
		lose_pointer(*file, NULL);
		(*file)->view = NULL;
	} else if (call == IOT_CALL_file_seek) {
		seek_pointer(*file, actor, at);
	} else if (data) {
		*place = move_pointer(*file, event, data);
	}
	return 0;
}

/**
 * mpi_files_close() - free the files of a task; NULL is allowed
 */
void mpi_files_close(struct mpi_files *files)
{
	if (files)
		free(files->opened);
	free(files);
}

/**
 * mpi_is_same_file() - are two calls on the same opening of a file?
 */
bool mpi_is_same_file(const struct mpi_file_call *a, const struct mpi_file_call *b)
{
	return !strcmp(a->path, b->path) && a->generation == b->generation && a->ranks == b->ranks && a->opening == b->opening;
}

/**
 * mpi_compare_calls() - for qsort(3): openings of a file one after the other, the calls of each by number, and of each call the ranks
 * @a, @b: structures that begin with a struct mpi_file_call
 */
int mpi_compare_calls(const void *a, const void *b)
{
	const struct mpi_file_call *x = a, *y = b;
	int by_path = strcmp(x->path, y->path);

	if (by_path)
		return by_path;
	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	if (x->ranks != y->ranks)
		return x->ranks < y->ranks ? -1 : 1;
	if (x->opening != y->opening)
		return x->opening < y->opening ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->actor < y->actor ? -1 : x->actor > y->actor;
}
