// SPDX-License-Identifier: GPL-2.0-only
/*
 * tasks.c - creation and end of tasks, and their shared state.
 */
#include <sched.h>
#include <stdlib.h>

#include "model.h"

/* -- records ------------------------------------------------------------------------------ */

static void set_command(struct task *task, const char *command, size_t bytes)
{
	if (bytes > sizeof(task->command) - 1)
		bytes = sizeof(task->command) - 1;
	memcpy(task->command, command, bytes);
	task->command[bytes] = 0;
}

static void emit_task(struct import *im, const struct task *task, u32 parent, u32 why)
{
	struct iot_record record = {
		.kind = IOT_KIND_task,
		.tail = (const u8 *)task->command,
		.tail_bytes = (u16)strlen(task->command),
		.task = { .task = task->id,
			  .parent = parent,
			  .pid = task->pid,
			  .tgid = task->tgid,
			  .uid = UINT32_MAX, /* strace does not show it */
			  .gid = UINT32_MAX,
			  .why = why },
	};

	emit_event(im, &record);
}

/* An event without a call in the log: its records take no time. */
static void at_time(struct import *im, struct task *task, u64 time_ns)
{
	if (time_ns > im->last_ns)
		im->last_ns = time_ns;
	im->task = task;
	im->begin_ns = im->last_ns;
	im->end_ns = im->last_ns;
}

/* -- coming --------------------------------------------------------------------------------- */

static struct task *task_add(struct import *im, u32 pid, u32 tgid, u64 time_ns)
{
	struct task *task = import_allocate(im, sizeof(*task));

	if (!task)
		return NULL;
	task->pid = pid;
	task->tgid = tgid;
	task->id = ++im->last_task;
	task->idle_since_ns = time_ns;
	HASH_ADD(hh, im->tasks, pid, sizeof(task->pid), task);
	return task;
}

struct task *task_find(struct import *im, u32 pid)
{
	struct task *task;

	HASH_FIND(hh, im->tasks, &pid, sizeof(pid), task);
	return task;
}

static void task_free(struct import *im, struct task *task)
{
	HASH_DEL(im->tasks, task);
	if (im->task == task)
		im->task = NULL;
	free(task);
}

/* A task without a parent in the log: it existed when strace attached. */
static struct task *task_adopt(struct import *im, u32 pid, u64 time_ns)
{
	bool is_first = !im->last_task;
	struct task *task = task_add(im, pid, pid, time_ns);
	const char *command;
	struct place place;

	if (!task)
		return NULL;
	task->fds = fd_table_make(im);
	task->memory = memory_make(im);
	task->fs = import_allocate(im, sizeof(*task->fs));
	if (im->err)
		return NULL;
	task->fs->references = 1;
	task->fs->umask = im->has_initial_umask ? im->initial_umask : 022;
	task->fs->has_umask = im->has_initial_umask;
	at_time(im, task, time_ns);
	if (im->first_cwd && place_from_path(im, (const u8 *)im->first_cwd->path,
					     im->first_cwd->path_bytes, &place))
		task->fs->cwd = place.inode;
	command = im->foreign ? foreign_label(im->foreign, pid) : NULL;
	command = command ?: "strace";
	set_command(task, command, strlen(command));
	emit_task(im, task, 0, is_first ? IOT_REASON_adopt : IOT_REASON_seen);
	return task;
}

/**
 * task_release() - the parent of a child of vfork(2) continues: the child executes a program, or ends
 * @child: any task
 *
 * The record precedes that of the exec or the exit, so operations of the new program do not count.
 */
void task_release(struct import *im, struct task *child)
{
	struct task *parent = child->vfork_parent ? task_find(im, child->vfork_parent) : NULL;
	struct iot_record record = { .kind = IOT_KIND_wake };

	child->vfork_parent = 0;
	if (!parent)
		return;
	record.wake.task = child->id;
	record.wake.op = child->ops;
	record.wake.woken = parent->id;
	record.wake.woken_op = parent->ops;
	record.wake.woken_runtime_ns = parent->runtime_ns;
	emit_event(im, &record);
}

/* The last child of vfork(2) of a task, if it has neither executed a program nor ended yet. */
static struct task *vfork_child(struct import *im, u32 parent)
{
	struct task *task;

	for (task = im->tasks; task; task = task->hh.next)
		if (task->vfork_parent == parent)
			return task;
	return NULL;
}

/**
 * task_vforked() - a call of vfork(2) has returned to the parent, perhaps before the exec of the child returns
 */
void task_vforked(struct import *im, const struct task *parent)
{
	struct task *child = vfork_child(im, parent->pid);

	if (!child)
		return;
	if (im->end_ns > im->last_ns)
		im->last_ns = im->end_ns;
	task_release(im, child);
}

/**
 * task_fork() - a task makes another
 * @flags: CLONE_*
 *
 * Return: the child; NULL if out of memory.
 */
struct task *task_fork(struct import *im, struct task *parent, u32 pid, u64 flags, u64 time_ns)
{
	struct task *child = task_find(im, pid), *before = im->task;
	struct iot_record record = { .kind = IOT_KIND_fork };

	if (child)
		task_exit(im, child, 0, time_ns); /* the log does not show that it ended */
	at_time(im, parent, time_ns);
	child = task_add(im, pid, flags & CLONE_THREAD ? parent->tgid : pid, im->last_ns);
	if (!child)
		return NULL;
	memcpy(child->command, parent->command, sizeof(child->command));
	child->vfork_parent = flags & CLONE_VFORK ? parent->pid : 0;
	child->program = parent->program;
	child->memory = flags & CLONE_VM ? parent->memory : memory_copy(im, parent->memory);
	child->fds = flags & CLONE_FILES ? parent->fds : fd_table_copy(im, parent->fds);
	child->fs = flags & CLONE_FS ? parent->fs : import_allocate(im, sizeof(*child->fs));
	if (im->err)
		return NULL;
	if (flags & CLONE_FS)
		child->fs->references++;
	else
		*child->fs = (struct fs_place){ 1, parent->fs->cwd, parent->fs->umask,
						parent->fs->has_umask };
	if (flags & CLONE_FILES)
		child->fds->references++;
	if (flags & CLONE_VM)
		child->memory->references++;
	emit_task(im, child, parent->id, IOT_REASON_fork);
	record.fork.task = parent->id;
	record.fork.op = parent->ops;
	record.fork.child = child->id;
	emit_event(im, &record);
	im->task = before;
	return child;
}

/**
 * task_born() - a call made a task
 * @birth: the call, in the first pass
 *
 * Return: it; NULL if out of memory.
 */
struct task *task_born(struct import *im, struct task *parent, struct birth *birth, u64 time_ns)
{
	u32 pid = birth->child ? birth->child : birth->result;
	struct task *task = task_fork(im, parent, pid, birth->flags, time_ns);

	birth->is_used = true;
	if (task && pid != birth->result)
		task->inner_pid = birth->result;
	return task;
}

/**
 * task_named() - the process that a task calls by a number
 * @by: that task, which may be in another PID namespace than strace
 *
 * Return: it; NULL if it is not known.
 */
struct task *task_named(struct import *im, const struct task *by, u32 pid)
{
	struct task *task;

	if (!by->inner_pid)
		return task_find(im, pid);
	for (task = im->tasks; task; task = task->hh.next)
		if (task->inner_pid == pid)
			return task;
	return NULL;
}

/**
 * task_of() - the task that something happens to
 *
 * Return: it, made if need be; NULL if out of memory.
 */
struct task *task_of(struct import *im, u32 pid, u64 time_ns)
{
	struct task *task = task_find(im, pid), *parent;
	size_t i;

	if (task)
		return task;
	for (i = 0; i < im->birth_count; i++) {
		struct birth *birth = &im->births[i];

		if (birth->is_used || birth->child != pid)
			continue;
		parent = task_find(im, birth->parent);
		birth->is_used = true;
		if (parent)
			return task_born(im, parent, birth, time_ns);
	}
	return task_adopt(im, pid, time_ns);
}

/* -- exec ------------------------------------------------------------------------------------ */

/* The file that becomes the program: the kernel's reads of it are not in the log. */
static void open_program(struct import *im, struct task *task, const u8 *path, size_t bytes)
{
	struct iot_record record = { .kind = IOT_KIND_open };
	struct place place = {};
	struct file *file;

	task->program = NULL;
	if (!place_from_path(im, path, bytes, &place))
		return;
	task->program = place.inode;
	if (!place.entry || !inode_is_inside(im, place.inode) || inode_root(im, place.inode))
		return;
	inode_is(place.inode, IOT_TYPE_file);
	file = file_make(im, place.inode, place.entry, IOT_OPEN_read | IOT_OPEN_exec);
	if (!file)
		return;
	file->handle = ++im->last_handle;
	record.open.object = emit_object(im, place.inode);
	record.open.name = emit_name_of(im, place.inode, place.entry);
	record.open.handle = file->handle;
	record.open.flags = file->flags;
	record.open.size_bytes = place.inode->size_bytes;
	emit_op(im, &record);
	file_put(im, file);
}

/**
 * task_exec() - a task becomes another program
 * @name: absolute path of it; or the name as given, if that is all that is known
 * @file: path of the file: equal to @name, but for /proc/self/exe the target of the link
 */
void task_exec(struct import *im, struct task *task, struct text name, struct text file)
{
	const u8 *path = (const u8 *)name.p;
	size_t bytes = name.bytes;
	struct iot_record record = { .kind = IOT_KIND_exec, .tail = path, .tail_bytes = (u16)bytes };
	struct memory *memory = memory_make(im);
	struct fd_table *fds = task->fds;
	const u8 *base = memrchr(path, '/', bytes);
	u32 before = task->id;

	open_program(im, task, (const u8 *)file.p, file.bytes);
	if (fds->references > 1) {
		fds = fd_table_copy(im, fds);
		if (fds)
			task->fds->references--;
	}
	if (!memory || !fds)
		return;
	task->fds = fds;
	memory_put(im, task->memory);
	task->memory = memory;
	fd_table_exec(im, fds);
	if (im->end_ns > im->last_ns)
		im->last_ns = im->end_ns;
	task_release(im, task);
	task->id = ++im->last_task;
	record.exec.task = before;
	record.exec.op = task->ops;
	record.exec.into = task->id;
	emit_event(im, &record);
	task->ops = 0;
	base = base ? base + 1 : path;
	set_command(task, (const char *)base, (size_t)(path + bytes - base));
	emit_task(im, task, before, IOT_REASON_exec);
}

/**
 * task_supersede() - a thread called exec, and continues as the first of its process
 */
void task_supersede(struct import *im, u32 from_pid, u32 pid, u64 time_ns)
{
	struct task *from = task_find(im, from_pid), *to = task_find(im, pid);

	if (!from || from == to)
		return;
	if (to)
		task_exit(im, to, 0, time_ns);
	HASH_DEL(im->tasks, from);
	from->call = NULL; /* an exec, which has no look-up */
	from->pid = pid;
	HASH_ADD(hh, im->tasks, pid, sizeof(from->pid), from);
}

/* -- going --------------------------------------------------------------------------------------- */

/**
 * task_exit() - a task ends
 * @code: its wait status
 */
void task_exit(struct import *im, struct task *task, u32 code, u64 time_ns)
{
	struct iot_record record = { .kind = IOT_KIND_exit };

	at_time(im, task, time_ns);
	task_release(im, task);
	memory_put(im, task->memory);
	record.exit.task = task->id;
	record.exit.op = task->ops;
	record.exit.code = (s32)code;
	record.exit.oncpu_ns = task->runtime_ns;
	emit_event(im, &record);
	im->begin_ns = im->last_ns;
	fd_table_put(im, task->fds);
	if (!--task->fs->references)
		free(task->fs);
	task_free(im, task);
}

/**
 * group_exit() - all threads of a process end
 * @code: its wait status
 */
void group_exit(struct import *im, u32 tgid, u32 code, u64 time_ns)
{
	struct task *task, *next;

	HASH_ITER (hh, im->tasks, task, next)
		if (task->tgid == tgid)
			task_exit(im, task, code, time_ns);
}

/**
 * task_unshare() - unshare(2)
 */
void task_unshare(struct import *im, struct task *task, u64 flags)
{
	struct fs_place *fs;

	if ((flags & CLONE_FILES) && task->fds->references > 1) {
		struct fd_table *fds = fd_table_copy(im, task->fds);

		if (!fds)
			return;
		task->fds->references--;
		task->fds = fds;
	}
	if ((flags & (CLONE_FS | CLONE_NEWNS)) && task->fs->references > 1) {
		fs = import_allocate(im, sizeof(*fs));
		if (!fs)
			return;
		*fs = (struct fs_place){ 1, task->fs->cwd, task->fs->umask, task->fs->has_umask };
		task->fs->references--;
		task->fs = fs;
	}
}

/**
 * tasks_exit() - forget all tasks that the log leaves behind, without records
 */
void tasks_exit(struct import *im)
{
	struct iot_writer *writer = im->writer;
	struct task *task, *next;

	im->writer = NULL;
	HASH_ITER (hh, im->tasks, task, next) {
		im->task = task;
		if (task->memory)
			memory_put(im, task->memory);
		if (task->fds)
			fd_table_put(im, task->fds);
		if (task->fs && !--task->fs->references)
			free(task->fs);
		task_free(im, task);
	}
	im->writer = writer;
}
