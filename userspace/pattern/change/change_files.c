// SPDX-License-Identifier: GPL-2.0-only
/*
 * change_files.c - a file for each rank becomes one file for all, and back.
 *
 * In a shared file the data of the ranks follow each other; in a file of its own, a rank has its data without gaps, in the
 * order of their places.
 */
#include "change_files.h"

#include <inttypes.h>
#include <stdio.h>

/**
 * change_file_at() - the file with a path
 *
 * Return: NULL if no open of it succeeded.
 */
struct file *change_file_at(const struct files *files, const char *path)
{
	struct file *file;

	HASH_FIND_STR(files->table, path, file);
	return file;
}

static void free_files(struct files *files)
{
	struct file *file, *next;

	HASH_ITER (hh, files->table, file, next) {
		HASH_DEL(files->table, file);
		free(file);
	}
}

static bool is_rank(const struct actor *actor)
{
	return actor->facts[TASK_FACT_what] == TASK_RANK;
}

static bool is_creation(struct event *event)
{
	return *change_field(event, "flags") & IOT_OPEN_created || *change_field(event, "mode");
}

/* An open of a file that data is moved with. */
static int take_open(struct files *files, u64 actor, struct event *event, u64 *count)
{
	struct file *file = change_file_at(files, event->path);

	if (*change_field(event, "flags") & IOT_OPEN_directory)
		return 0;
	if (!file) {
		file = calloc(1, sizeof(*file));
		if (!file)
			return -ENOMEM;
		file->path = event->path;
		file->actor = actor;
		file->nth = (*count)++;
		HASH_ADD_KEYPTR(hh, files->table, file->path, strlen(file->path), file);
	}
	file->is_mpi |= event->depth > 0;
	file->is_common |= file->actor != actor;
	file->is_other |= !is_rank(&files->c->actors[actor]) || event->roles[EVENT_GENERATION] != 1;
	if (is_creation(event)) {
		file->is_created = true;
		file->mode = (u32)*change_field(event, "mode");
	}
	return 0;
}

/* MPI libraries create files, for tests of locks, that they remove before the call ends. */
static void take_removal(struct files *files, const struct event *event)
{
	struct file *file = event->depth && !event->fields[0] ? change_file_at(files, event->path) : NULL;

	if (file)
		file->is_other = true;
}

static int find_files(struct files *files)
{
	struct change *c = files->c;
	struct extent extent;
	struct file *file;
	u64 actor, i, count;
	int err = 0;

	for (actor = 0; actor < c->actor_count; actor++) {
		count = 0;
		for (i = 0; i < c->actors[actor].count && !err; i++) {
			struct event *event = &c->actors[actor].steps[i].event;

			if (event->kind == IOT_KIND_open && (s64)event->fields[0] >= 0)
				err = take_open(files, actor, event, &count);
			if (event->kind == IOT_KIND_unlink)
				take_removal(files, event);
			file = extent_of(event, actor, &extent) ? change_file_at(files, event->path) : NULL;
			if (file && extent.end > file->end_bytes)
				file->end_bytes = extent.end;
		}
	}
	return err;
}

/* The names in calls of MPI. */
static int learn_given(struct files *files, u64 actor)
{
	const struct actor *of = &files->c->actors[actor];
	struct mpi_files *mpi;
	struct mpi_file *at;
	struct file *file;
	s64 place;
	u64 i;
	int err = mpi_files_open(files->c, &mpi);

	for (i = 0; i < of->count && !err; i++) {
		err = mpi_files_take(mpi, of, i, &at, &place);
		file = !err && at && at->path ? change_file_at(files, at->path) : NULL;
		if (file)
			file->given = at->given;
	}
	mpi_files_close(mpi);
	return err;
}

/* Names that look-ups found are not those of other files any more. */
static void forget_found(struct files *files, bool is_common)
{
	struct change *c = files->c;
	char path[IOT_PROGRAM_PATH_MAX];
	const struct file *file;
	u64 actor, i;

	for (actor = 0; actor < c->actor_count; actor++)
		for (i = 0; c->actors[actor].facts[TASK_FACT_what] == TASK_FOUND && i < c->actors[actor].count; i++) {
			struct step *step = &c->actors[actor].steps[i];
			const char *mark = strrchr(step->event.path, '#');

			if (!mark)
				continue;
			snprintf(path, sizeof(path), "%.*s", (int)(mark - step->event.path), step->event.path);
			file = change_file_at(files, path);
			step->is_dropped = file && file->is_common == is_common && !file->is_other;
		}
}

/* An operation that means the same wherever the data are. */
static bool is_placeless(struct event *event)
{
	const u64 *attrs = change_field(event, "attrs");

	switch (event->kind) {
	case IOT_KIND_flush:
	case IOT_KIND_release:
	case IOT_KIND_getxattr:
	case IOT_KIND_statfs:
		return true;
	case IOT_KIND_setattr:
		return *attrs & IOT_ATTR_by_open && (s64)event->fields[0] >= 0;
	case IOT_KIND_lookup:
		return (s64)event->fields[0] == -ENOENT;
	case IOT_KIND_fsync:
		return *change_field(event, "end_bytes") == INT64_MAX && !*change_field(event, "offset_bytes");
	default:
		return false;
	}
}

/* A file that has just been created has no data in any case. */
static bool is_empty(struct event *event, const struct file *file)
{
	return event->kind == IOT_KIND_stat && file->is_mpi && file->is_created && !event->fields[0] && !*change_field(event, "size_bytes");
}

/* A lock of data, as MPI libraries have around reads and writes, moves with them. */
static bool is_lock_of_data(struct event *event, const struct file *file)
{
	return event->kind == IOT_KIND_lock && *change_field(event, "offset_bytes") < file->end_bytes &&
	       *change_field(event, "end_bytes") < file->end_bytes;
}

static int check_event(struct files *files, struct event *event, const struct file *file)
{
	if (event->depth && !file->is_mpi)
		return change_refuse(files->c, event, "it is part of a call on an MPI file");
	if (event->roles[EVENT_GENERATION] > 1)
		return change_refuse(files->c, event, "its file was created again");
	if (event->kind == IOT_KIND_open && *change_field(event, "flags") & IOT_OPEN_append)
		return change_refuse(files->c, event, "it appends");
	if (event->kind != IOT_KIND_open && event->kind != IOT_KIND_read && event->kind != IOT_KIND_write && !is_placeless(event) &&
	    !is_empty(event, file) && !is_lock_of_data(event, file))
		return change_refuse(files->c, event, "its effect on the other file is unknown");
	return 0;
}

/* Threads of MPI libraries, and others that are no ranks, use files by handles that ranks have opened. */
static int check_others(struct files *files, bool is_joined)
{
	struct change *c = files->c;
	const struct file *file;
	u64 actor, i;

	for (actor = 0; actor < c->actor_count; actor++)
		for (i = 0; !is_rank(&c->actors[actor]) && c->actors[actor].facts[TASK_FACT_what] != TASK_FOUND &&
			    i < c->actors[actor].count; i++) {
			const struct event *event = &c->actors[actor].steps[i].event;

			file = iot_kind_info(event->kind)->group == IOT_GROUP_op ? change_file_at(files, event->path) : NULL;
			if (file && !file->is_other && file->is_common != is_joined)
				return change_refuse(c, event, file->is_mpi ? "a task that is no rank moves data of a nonblocking call: "
									      "nonblocking=no lets the rank move them" :
									      "a task that is no rank uses the file");
		}
	return 0;
}

/* -- to one file ------------------------------------------------------------------------------------------------ */

/* The name of a file of the first rank with "shared" for the numbers in which that of the second one differs. */
static const char *shared_name(struct change *c, const char *first, const char *second)
{
	char name[IOT_PROGRAM_PATH_MAX];
	size_t at = 0, digits1, digits2;
	bool is_changed = false;

	while (*first && at < sizeof(name) - 16) {
		digits1 = strspn(first, "0123456789");
		digits2 = strspn(second, "0123456789");
		if (!digits1 && *first != *second)
			return NULL;
		if (digits1 && (digits1 != digits2 || memcmp(first, second, digits1))) {
			if (!digits2 || strchr(first, '/'))
				return NULL;
			at += (size_t)snprintf(name + at, 16, "shared");
			is_changed = true;
		} else {
			digits1 = digits2 = digits1 ? digits1 : 1;
			memcpy(name + at, first, digits1);
			at += digits1;
		}
		first += digits1;
		second += digits2;
	}
	name[at] = 0;
	return is_changed && !*first && !*second ? change_text(c, name) : NULL;
}

static struct file *own_file(const struct files *files, u64 actor, u64 nth)
{
	struct file *file;

	for (file = files->table; file; file = (struct file *)file->hh.next)
		if (file->actor == actor && !file->is_common && !file->is_other && !nth--)
			return file;
	return NULL;
}

/* The nth files of all ranks: places and the name. */
static int join_files(struct files *files, const u64 *ranks, u64 count, u64 nth)
{
	struct file *first = own_file(files, ranks[0], nth), *second = own_file(files, ranks[1], nth), *file;
	const char *name = first && second ? shared_name(files->c, first->path, second->path) : NULL;
	const char *given = NULL;
	u64 i, base = 0;

	if (name && first->given && second->given)
		given = shared_name(files->c, first->given, second->given);
	if (!name || (first->given && !given))
		return change_refuse(files->c, NULL, "the names of the files of ranks differ in more than one number after the last slash");
	if (change_file_at(files, name))
		return change_refuse(files->c, NULL, "a file with the name of the shared file exists");
	for (i = 0; i < count; i++) {
		file = own_file(files, ranks[i], nth);
		if (!file || file->is_created != first->is_created || file->is_mpi != first->is_mpi)
			return change_refuse(files->c, NULL, "the ranks have different numbers of own files");
		file->new_path = name;
		file->new_given = given;
		file->base_bytes = base;
		base += file->end_bytes;
	}
	return 0;
}

static int join_event(struct files *files, struct step *step, const struct file *file, bool is_first)
{
	struct event *event = &step->event;
	int err = check_event(files, event, file);
	u64 *flags;

	if (err)
		return err;
	event->path = file->new_path;
	files->c->changed++;
	if (event->kind == IOT_KIND_read || event->kind == IOT_KIND_write || event->kind == IOT_KIND_lock)
		*change_field(event, "offset_bytes") += file->base_bytes;
	if (event->kind == IOT_KIND_lock)
		*change_field(event, "end_bytes") += file->base_bytes;
	if (is_first)
		return 0;
	if (event->kind == IOT_KIND_open) {
		flags = change_field(event, "flags");
		*flags &= ~(u64)(IOT_OPEN_created | IOT_OPEN_excl | IOT_OPEN_trunc);
		*change_field(event, "mode") = 0;
	}
	step->is_dropped = event->kind == IOT_KIND_lookup || event->kind == IOT_KIND_setattr;
	return 0;
}

static int join_all(struct files *files, const u64 *ranks, u64 count)
{
	struct change *c = files->c;
	struct file *file;
	u64 nth, i, j;
	int err = 0;

	for (nth = 0; own_file(files, ranks[0], nth) && !err; nth++)
		err = join_files(files, ranks, count, nth);
	if (!err && !nth)
		return change_refuse(c, NULL, "no rank has an own file");
	for (i = 1; i < count && !err; i++)
		if (own_file(files, ranks[i], nth))
			return change_refuse(c, NULL, "the ranks have different numbers of own files");
	if (!err)
		err = check_others(files, true);
	if (!err)
		err = change_files_of_mpi(files, ranks, count, NULL, true);
	if (!err)
		forget_found(files, false);
	for (i = 0; i < count; i++)
		for (j = 0; j < c->actors[ranks[i]].count && !err; j++) {
			struct step *step = &c->actors[ranks[i]].steps[j];

			file = iot_kind_info(step->event.kind)->group == IOT_GROUP_op ? change_file_at(files, step->event.path) : NULL;
			if (file && file->new_path)
				err = join_event(files, step, file, !i);
		}
	if (!err && c->has_more_waits)
		err = change_check_calls(c);
	return err;
}

/* -- to a file for each rank ---------------------------------------------------------------------------------------- */

/**
 * change_place() - where data of a shared file are in the file of a rank: behind all data of the rank that precede them
 * @extents: all data, sorted
 * @file: the shared file
 * @actor: the rank
 * @at: their place in the shared file
 */
u64 change_place(const struct extents *extents, const struct file *file, u64 actor, u64 at)
{
	u64 place = 0, end = 0, from, to;
	size_t i;

	for (i = 0; i < extents->count; i++) {
		const struct extent *extent = &extents->items[i];

		if (extent->actor != actor || strcmp(extent->path, file->path) || extent->begin >= at)
			continue;
		from = extent->begin > end ? extent->begin : end;
		to = extent->end < at ? extent->end : at;
		if (to > from)
			place += to - from;
		end = extent->end > end ? extent->end : end;
	}
	return place;
}

/* The end of a lock is its last byte. */
static int split_lock(struct files *files, struct event *event, const struct file *file, u64 actor, const struct extents *extents)
{
	u64 *begin = change_field(event, "offset_bytes"), *end = change_field(event, "end_bytes");
	u64 first = change_place(extents, file, actor, *begin), next = change_place(extents, file, actor, *end + 1);

	if (first == next)
		return change_refuse(files->c, event, "it locks no data of its rank");
	*begin = first;
	*end = next - 1;
	return 0;
}

/**
 * change_rank_path() - the path of a file becomes that of the file of one rank
 * @c: the change
 * @path: in, out
 * @rank: number of the rank
 *
 * Return: 0, -EOPNOTSUPP if it would be too long, -ENOMEM.
 */
int change_rank_path(struct change *c, const char **path, u64 rank)
{
	char name[IOT_PROGRAM_PATH_MAX];

	if ((size_t)snprintf(name, sizeof(name), "%s.%05" PRIu64, *path, (uint64_t)rank) >= sizeof(name))
		return change_refuse(c, NULL, "a path would be too long");
	*path = change_text(c, name);
	return *path ? 0 : -ENOMEM;
}

static int split_event(struct files *files, struct event *event, const struct file *file, u64 actor, u64 rank,
		       const struct extents *extents)
{
	u64 *offset;
	int err = check_event(files, event, file);

	if (err)
		return err;
	if (event->kind == IOT_KIND_read || event->kind == IOT_KIND_write) {
		offset = change_field(event, "offset_bytes");
		if ((s64)event->fields[0] <= 0)
			return change_refuse(files->c, event, "it moved no data");
		*offset = change_place(extents, file, actor, *offset);
	} else if (event->kind == IOT_KIND_lock) {
		err = split_lock(files, event, file, actor, extents);
	} else if (event->kind == IOT_KIND_open && file->is_created && (s64)event->fields[0] >= 0) {
		*change_field(event, "flags") |= IOT_OPEN_create | IOT_OPEN_created;
		*change_field(event, "mode") = file->mode;
	}
	files->c->changed++;
	return err ? err : change_rank_path(files->c, &event->path, rank);
}

static int split_all(struct files *files, const u64 *ranks, u64 count)
{
	struct change *c = files->c;
	struct extents extents;
	struct file *file;
	u64 i, j;
	int err = extents_of(c, &extents);

	if (!err && extents_overlap(&extents))
		err = change_refuse(c, NULL, "ranks write data that others access");
	if (!err)
		err = check_others(files, false);
	if (!err)
		err = change_files_of_mpi(files, ranks, count, &extents, false);
	if (!err)
		forget_found(files, true);
	for (i = 0; i < count; i++)
		for (j = 0; j < c->actors[ranks[i]].count && !err; j++) {
			struct event *event = &c->actors[ranks[i]].steps[j].event;

			file = iot_kind_info(event->kind)->group == IOT_GROUP_op ? change_file_at(files, event->path) : NULL;
			if (file && file->is_common && !file->is_other)
				err = split_event(files, event, file, ranks[i], c->actors[ranks[i]].facts[TASK_FACT_rank], &extents);
		}
	free(extents.items);
	if (!err && !c->changed)
		err = change_refuse(c, NULL, "no file is opened by several ranks");
	return err;
}

/* -- both --------------------------------------------------------------------------------------------------------- */

/**
 * change_files() - find the files of all tasks, and change them
 * @c: the change
 * @change: called with the files, and the actors that are ranks
 *
 * Return: that of @change; -EOPNOTSUPP with fewer than two ranks; -ENOMEM.
 */
int change_files(struct change *c, int (*change)(struct files *files, const u64 *ranks, u64 count))
{
	struct files files = { .c = c };
	struct numbers ranks = {};
	int err = find_files(&files);
	u64 i;

	c->is_moved = true;
	for (i = 0; i < c->actor_count && !err; i++)
		if (is_rank(&c->actors[i])) {
			numbers_add(&ranks, i);
			err = learn_given(&files, i);
		}
	if (!err && ranks.is_failed)
		err = -ENOMEM;
	if (!err && ranks.count < 2)
		err = change_refuse(c, NULL, "there are fewer than two ranks");
	if (!err)
		err = change(&files, ranks.values, ranks.count);
	numbers_free(&ranks);
	free_files(&files);
	return err;
}

/**
 * change_to_shared() - one file instead of one for each rank
 *
 * Return: 0, -EOPNOTSUPP if it makes no sense, -ENOMEM.
 */
int change_to_shared(struct change *c)
{
	return change_files(c, join_all);
}

/**
 * change_to_private() - a file for each rank instead of one
 *
 * Return: 0, -EOPNOTSUPP if it makes no sense, -ENOMEM.
 */
int change_to_private(struct change *c)
{
	return change_files(c, split_all);
}
