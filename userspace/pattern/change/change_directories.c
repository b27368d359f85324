// SPDX-License-Identifier: GPL-2.0-only
/*
 * change_directories.c - a directory for the files of each rank, instead of one for those of all.
 */
#include "change_files.h"

#include <inttypes.h>
#include <stdio.h>

#define DIRECTORY_MODE 0755

/* Length of the path of the directory of a file, with the slash; 0 if it is in the root. */
static size_t directory_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The directory of a rank beside its file. */
static void print_directory(char name[IOT_PROGRAM_PATH_MAX], const char *path, u64 rank)
{
	snprintf(name, IOT_PROGRAM_PATH_MAX, "%.*srank.%05" PRIu64, (int)directory_bytes(path), path, (uint64_t)rank);
}

static bool is_own(const struct file *file)
{
	return !file->is_common && !file->is_other;
}

static int move_file(struct files *files, struct file *file)
{
	char directory[IOT_PROGRAM_PATH_MAX], name[IOT_PROGRAM_PATH_MAX];
	struct change *c = files->c;
	const struct file *other;
	int bytes;

	if (!file->is_created)
		return change_refuse(c, NULL, "a file of a rank exists before: it cannot be in another directory");
	print_directory(directory, file->path, c->actors[file->actor].facts[TASK_FACT_rank]);
	other = change_file_at(files, directory);
	if (other && !is_own(other))
		return change_refuse(c, NULL, "a file has the name that the directory of a rank would have");
	bytes = snprintf(name, sizeof(name), "%s/%s", directory, file->path + directory_bytes(file->path));
	if ((size_t)bytes >= sizeof(name))
		return change_refuse(c, NULL, "a path would be too long");
	file->new_path = change_text(c, name);
	return file->new_path ? 0 : -ENOMEM;
}

static int move_files(struct files *files)
{
	struct file *file;
	int err = 0;

	for (file = files->table; file && !err; file = (struct file *)file->hh.next)
		if (is_own(file))
			err = move_file(files, file);
	return err;
}

/* The entries of a directory are others then. */
static bool is_in(const struct files *files, const char *directory)
{
	const struct file *file;
	size_t bytes = strcmp(directory, ".") ? strlen(directory) : 0;

	for (file = files->table; file; file = (const struct file *)file->hh.next)
		if (file->new_path && directory_bytes(file->path) == bytes + !!bytes && !strncmp(file->path, directory, bytes))
			return true;
	return false;
}

static int check_event(const struct files *files, const struct event *event, const struct file *file)
{
	if (event->kind == IOT_KIND_readdir && is_in(files, event->path))
		return change_refuse(files->c, event, "its directory would have other entries");
	if (!file)
		return event->path2[0] && change_file_at(files, event->path2) && change_file_at(files, event->path2)->new_path ?
			       change_refuse(files->c, event, "it gives a file of a rank its name") : 0;
	if (event->depth)
		return change_refuse(files->c, event, "it is part of a call on an MPI file");
	if (event->kind == IOT_KIND_rename || event->kind == IOT_KIND_link)
		return change_refuse(files->c, event, "it gives the file another name");
	return 0;
}

static int add_mkdir(struct change *c, struct actor *made, const char *directory)
{
	struct step step = { .event = { .kind = IOT_KIND_mkdir, .roles[EVENT_GENERATION] = 1, .path2 = "" } };

	step.event.path = change_text(c, directory);
	while (event_field(IOT_KIND_mkdir, step.event.field_count))
		step.event.field_count++;
	*change_field(&step.event, "mode") = DIRECTORY_MODE;
	c->changed++;
	return step.event.path ? change_add_step(made, &step) : -ENOMEM;
}

/* The directories that an actor has made; few, mostly one. */
static bool has_made(const struct actor *made, const char *directory)
{
	u64 i;

	for (i = made->count; i-- > 0;)
		if (made->steps[i].event.kind == IOT_KIND_mkdir && !strcmp(made->steps[i].event.path, directory))
			return true;
	return false;
}

static int move_step(struct files *files, u64 actor, struct actor *made, struct step step)
{
	struct change *c = files->c;
	struct file *file = iot_kind_info(step.event.kind)->group == IOT_GROUP_op ? change_file_at(files, step.event.path) : NULL;
	char directory[IOT_PROGRAM_PATH_MAX];
	int err;

	if (file && !file->new_path)
		file = NULL;
	err = iot_kind_info(step.event.kind)->group == IOT_GROUP_op ? check_event(files, &step.event, file) : 0;
	if (!err && file && file->actor == actor) {
		print_directory(directory, file->path, c->actors[actor].facts[TASK_FACT_rank]);
		if (!has_made(made, directory))
			err = add_mkdir(c, made, directory);
	}
	if (!err && file) {
		step.event.path = file->new_path;
		c->changed++;
	}
	return err ? err : change_add_step(made, &step);
}

static int move_actor(struct files *files, u64 number)
{
	struct actor *actor = &files->c->actors[number], made = {};
	u64 i;
	int err = 0;

	for (i = 0; i < actor->count && !err; i++)
		err = move_step(files, number, &made, actor->steps[i]);
	free(actor->steps);
	memcpy(made.facts, actor->facts, sizeof(made.facts));
	*actor = made;
	return err;
}

static int move_all(struct files *files, const u64 *ranks, u64 count)
{
	struct change *c = files->c;
	u64 i;
	int err = move_files(files);

	(void)ranks;
	(void)count;
	for (i = 0; i < c->actor_count && !err; i++)
		err = move_actor(files, i);
	if (!err && !c->changed)
		err = change_refuse(c, NULL, "no rank has an own file");
	return err;
}

/**
 * change_directories() - a directory for the files of each rank
 *
 * Each rank makes it before it first uses one of its files.
 *
 * Return: 0, -EOPNOTSUPP if it makes no sense, -ENOMEM.
 */
int change_directories(struct change *c)
{
	return change_files(c, move_all);
}
