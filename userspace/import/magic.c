// SPDX-License-Identifier: GPL-2.0-only
/*
 * magic.c - links of procfs to the open files, directories and executable of a process:
 * /proc/PID/fd/N, cwd, root and exe; PID may be self, and threads are below task/. /dev/fd leads
 * there, too.
 */
#include <stdlib.h>

#include "model.h"

#define DEPTH_MAX 5 /* of a directory with such links: proc/PID/task/TID/fd */

static bool is_component(const struct entry *entry, const char *name)
{
	return strlen(name) == entry->bytes && !memcmp(entry->component, name, entry->bytes);
}

static bool is_word_at(const u8 *component, size_t bytes, const char *word)
{
	return strlen(word) == bytes && !memcmp(component, word, bytes);
}

/* Return: the number; -1 if it is none. */
static s64 number_of(const u8 *component, size_t bytes)
{
	s64 number = 0;
	size_t i;

	for (i = 0; i < bytes && bytes < 11; i++) {
		if (component[i] < '0' || component[i] > '9')
			return -1;
		number = number * 10 + (component[i] - '0');
	}
	return i && i == bytes ? number : -1;
}

/* The names that lead to a directory, from the top. Return: their number; 0 if there are too many, or none. */
static u32 names_of(const struct inode *dir, const struct entry *names[DEPTH_MAX])
{
	const struct entry *entry;
	u32 depth = 0, i;

	for (entry = dir->entry; entry; entry = entry->dir->entry)
		if (++depth > DEPTH_MAX)
			return 0;
	for (entry = dir->entry, i = depth; entry; entry = entry->dir->entry)
		names[--i] = entry;
	return depth;
}

/* A thread of a process, its first one if that is still there. */
static struct task *thread_of(const struct import *im, u32 tgid)
{
	struct task *task = task_find((struct import *)im, tgid);

	if (task)
		return task;
	for (task = im->tasks; task && task->tgid != tgid; task = task->hh.next)
		;
	return task;
}

/* The process, or thread, that a directory of procfs is of; NULL if it is none that is known. */
static struct task *task_at(const struct import *im, const struct entry *names[DEPTH_MAX], u32 depth)
{
	bool is_thread = depth > 3 && is_component(names[2], "task");
	const struct entry *entry = names[is_thread ? 3 : 1];
	s64 pid = number_of(entry->component, entry->bytes);

	if (pid < 0)
		return NULL;
	return is_thread ? task_find((struct import *)im, (u32)pid) : thread_of(im, (u32)pid);
}

static struct inode *make_dir(struct import *im, struct inode *dir, const char *name)
{
	struct entry *entry = dir ? entry_of(im, dir, (const u8 *)name, strlen(name)) : NULL;

	return entry ? entry_find(im, entry, IOT_TYPE_dir) : NULL;
}

/* The directory of a task in procfs goes by the number that strace has for it. */
static struct inode *task_dir(struct import *im, struct inode *proc, const struct task *task, bool is_thread)
{
	char name[16];
	struct inode *dir;

	snprintf(name, sizeof(name), "%u", task->tgid);
	dir = make_dir(im, proc, name);
	if (!is_thread)
		return dir;
	snprintf(name, sizeof(name), "%u", task->pid);
	return make_dir(im, make_dir(im, dir, "task"), name);
}

static enum magic found(struct place *place, struct inode *inode, struct file *file)
{
	if (!inode)
		return MAGIC_LOST;
	place->inode = inode;
	place->file = file;
	place->entry = file ? file->entry : inode->entry;
	return MAGIC_FOUND;
}

static enum magic step_descriptor(const struct task *task, s64 fd, struct place *place)
{
	struct descriptor *descriptor = fd_find(task->fds, fd);

	place->is_magic = true;
	return descriptor ? found(place, descriptor->file->inode, descriptor->file) : MAGIC_LOST;
}

static enum magic step_proc(struct import *im, struct inode *proc, const u8 *component, size_t bytes,
			    struct place *place)
{
	const struct task *task = im->task;
	bool is_thread = is_word_at(component, bytes, "thread-self");
	s64 pid = number_of(component, bytes);

	if (pid > 0)
		task = task_named(im, im->task, (u32)pid);
	else if (!is_thread && !is_word_at(component, bytes, "self"))
		return MAGIC_NONE;
	return task ? found(place, task_dir(im, proc, task, is_thread), NULL) : MAGIC_NONE;
}

static enum magic step_dev(struct import *im, const u8 *component, size_t bytes, struct place *place)
{
	static const char *const streams[] = { "stdin", "stdout", "stderr" };
	s64 fd;

	if (is_word_at(component, bytes, "fd"))
		return found(place,
			     make_dir(im, task_dir(im, make_dir(im, im->slash, "proc"), im->task, false), "fd"),
			     NULL);
	for (fd = 0; fd < (s64)ARRAY_SIZE(streams); fd++)
		if (is_word_at(component, bytes, streams[fd]))
			return step_descriptor(im->task, fd, place);
	return MAGIC_NONE;
}

static enum magic step_task(struct import *im, const struct task *task, const u8 *component, size_t bytes,
			    struct place *place)
{
	struct inode *inode;

	if (is_word_at(component, bytes, "cwd"))
		inode = task ? task->fs->cwd : NULL;
	else if (is_word_at(component, bytes, "exe"))
		inode = task ? task->program : NULL;
	else if (is_word_at(component, bytes, "root"))
		inode = im->slash;
	else
		return MAGIC_NONE;
	place->is_magic = true;
	return found(place, inode, NULL);
}

/**
 * magic_step() - resolve a component of a path if it is a link of procfs
 * @dir: the directory of the component
 * @place: out: the target, if the result is MAGIC_FOUND
 */
enum magic magic_step(struct import *im, const struct inode *dir, const u8 *component, size_t bytes,
		      struct place *place)
{
	const struct entry *names[DEPTH_MAX];
	u32 depth = im->task ? names_of(dir, names) : 0;
	s64 fd;

	if (!depth || !names[0] || (!is_component(names[0], "proc") && !is_component(names[0], "dev")))
		return MAGIC_NONE;
	if (is_component(names[0], "dev"))
		return depth == 1 ? step_dev(im, component, bytes, place) : MAGIC_NONE;
	if (depth == 1)
		return step_proc(im, (struct inode *)dir, component, bytes, place);
	if ((depth == 3 || depth == 5) && is_component(names[depth - 1], "fd")) {
		const struct task *task = task_at(im, names, depth);

		fd = number_of(component, bytes);
		if (fd < 0)
			return MAGIC_NONE;
		place->is_magic = true;
		return task ? step_descriptor(task, fd, place) : MAGIC_LOST;
	}
	if (depth == 2 || (depth == 4 && is_component(names[2], "task")))
		return step_task(im, task_at(im, names, depth), component, bytes, place);
	return MAGIC_NONE;
}
