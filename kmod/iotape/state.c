// SPDX-License-Identifier: GPL-2.0-only
/*
 * state.c - the state dump: handles and mappings that exist when a recording begins.
 *
 * The dump visits all threads, in passes, until a pass finds no new thread with a handle or mapping. Recorded programs
 * run meanwhile; nothing is stopped. Three rules make the dump complete and correct:
 *
 *   - the source is recorded before the first pass: an open, mmap or fork by a thread that the session
 *     knows makes records of its own, and its result is not part of the dump;
 *   - the task that uses or releases a handle or mapping before the dump has visited it announces it (tapefs);
 *   - a thread that was created, but has not yet run, is left to a later pass: then it is known whether
 *     its creation was recorded. If so, its handles and mappings follow from those of its parent.
 *
 * A table of descriptors is read under the locks that guard its changes, a few descriptors at a time, and the
 * records are made under these locks: if the dump held a reference of a file, it might have to do the last close.
 * For the same reason it holds only the struct of an mm; while that is locked for reading, its mappings stay, even
 * if its last user has exited.
 */
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "session.h"
#include "task.h"

#define PASSES_MAX    16
#define FILES_AT_ONCE 1024 /* visited under a spinlock */
#define RECORDS_AT_ONCE  64   /* records until there is a chance to wait for the collector */

/**
 * struct state_walk - progress of the state dump
 * @session: that records
 * @source: to be dumped
 * @result: the counts so far
 * @seen: threads, by their number, each with a reference, so that the number is not reused
 * @thread: the current one
 * @process: its leader; this and the next two are compared only
 * @dumped_files: the last table of this process that was dumped
 * @dumped_mm: the last address space
 * @is_held: the process has a handle or mapping of the source, or its root or working directory there
 * @is_unseen: it was counted among the processes whose handles or mappings bypass the source
 * @looked: descriptors visited since locks were taken
 * @records: written since then
 * @next_fd: where to continue
 */
struct state_walk {
	struct iot_session *session;
	struct iot_source *source;
	struct iot_rec_state result;
	struct xarray seen;
	struct task_struct *thread;
	const struct task_struct *process;
	const struct files_struct *dumped_files;
	const struct mm_struct *dumped_mm;
	bool is_held;
	bool is_unseen;
	unsigned int looked;
	unsigned int records;
	unsigned int next_fd;
};

static void count_unseen(struct state_walk *w, u64 *count)
{
	++*count;
	if (!w->is_unseen)
		w->result.unseen_tasks++;
	w->is_unseen = true;
}

/* -- descriptors ------------------------------------------------------------------------- */

/* Return: not 0 to pause the walk. */
static int dump_file(const void *context, struct file *file, unsigned int fd)
{
	struct state_walk *w = (void *)context;
	u32 task;

	switch (w->source->ops->view_file(w->source, file)) {
	case IOT_VIEW_OURS:
		task = iot_task_announce(w->session, w->thread);
		if (!task || !w->source->ops->dump_file(w->session, task, fd, file))
			break;
		w->result.opened++;
		w->is_held = true;
		w->records++;
		break;
	case IOT_VIEW_UNSEEN:
		count_unseen(w, &w->result.unseen_files);
		break;
	case IOT_VIEW_NONE:
		break;
	}
	w->next_fd = fd + 1;
	return ++w->looked == FILES_AT_ONCE || w->records == RECORDS_AT_ONCE;
}

/* Threads usually share the table and memory of their leader; if it has ended, those of the first thread. */
static bool is_dumped(const struct state_walk *w, const void *own, const void *leaders)
{
	return own == w->dumped_files || own == w->dumped_mm || own == leaders;
}

static const void *leader_files(struct task_struct *thread)
{
	return thread_group_leader(thread) ? NULL : READ_ONCE(thread->group_leader->files);
}

/* Return: 1 if there are more; 0; -EPIPE. */
static int dump_some_files(struct state_walk *w, unsigned int fd)
{
	struct task_struct *thread = w->thread;
	int more = 0;

	if (!iot_session_enter(w->session))
		return -EPIPE;
	w->looked = 0;
	w->records = 0;
	task_lock(thread);
	if (thread->files && (fd || !is_dumped(w, thread->files, leader_files(thread)))) {
		w->dumped_files = thread->files;
		more = iterate_fd(thread->files, fd, dump_file, w);
	}
	task_unlock(thread);
	iot_session_leave();
	return more;
}

static int dump_files(struct state_walk *w)
{
	int more, err;

	w->next_fd = 0;
	do {
		more = dump_some_files(w, w->next_fd);
		err = more < 0 ? more : iot_backpressure_wait_dump(w->session);
		cond_resched();
	} while (!err && more);
	return err;
}

/* -- mappings ------------------------------------------------------------------------------ */

/* The mm is locked for reading. */
static int dump_map(struct state_walk *w, const struct vm_area_struct *vma)
{
	bool is_announced;
	u32 task;

	switch (w->source->ops->view_map(w->source, vma)) {
	case IOT_VIEW_OURS:
		if (!iot_session_enter(w->session))
			return -EPIPE;
		task = iot_task_announce(w->session, w->thread);
		is_announced = task && w->source->ops->dump_map(w->session, task, vma);
		iot_session_leave();
		if (!is_announced)
			break;
		w->source->ops->retouch_map(w->session, vma);
		w->result.mapped++;
		w->is_held = true;
		w->records++;
		break;
	case IOT_VIEW_UNSEEN:
		count_unseen(w, &w->result.unseen_maps);
		break;
	case IOT_VIEW_NONE:
		break;
	}
	return 0;
}

/* Return: 1 if there are more, from *@address on; 0; or a negative errno. */
static int dump_some_maps(struct state_walk *w, struct mm_struct *mm, unsigned long *address)
{
	VMA_ITERATOR(place, mm, *address);
	struct vm_area_struct *vma;
	int err = mmap_read_lock_killable(mm);

	if (err)
		return err;
	w->records = 0;
	if (atomic_read(&mm->mm_users)) {
		for_each_vma(place, vma) {
			err = dump_map(w, vma);
			*address = vma->vm_end;
			if (!err && w->records == RECORDS_AT_ONCE)
				err = 1;
			if (err)
				break;
		}
	}
	mmap_read_unlock(mm);
	return err;
}

/* A child of vfork uses the memory of its parent until it calls exec. */
static const void *sharer_mm(struct task_struct *thread)
{
	const struct task_struct *sharer = thread_group_leader(thread) ?
						   rcu_dereference(thread->real_parent) :
						   thread->group_leader;

	return READ_ONCE(sharer->mm);
}

/* Return: the mm of the thread, with a reference of the struct; NULL if it has none of its own. */
static struct mm_struct *mm_of(struct state_walk *w)
{
	struct task_struct *thread = w->thread;
	struct mm_struct *mm = NULL;

	rcu_read_lock(); /* for the parent */
	task_lock(thread);
	if (thread->mm && !is_dumped(w, thread->mm, sharer_mm(thread))) {
		mm = thread->mm;
		mmgrab(mm);
	}
	task_unlock(thread);
	rcu_read_unlock();
	return mm;
}

static int dump_maps(struct state_walk *w)
{
	struct mm_struct *mm = mm_of(w);
	unsigned long address = 0;
	int more, err = 0;

	if (!mm)
		return 0;
	do {
		more = dump_some_maps(w, mm, &address);
		err = more < 0 ? more : iot_backpressure_wait_dump(w->session);
		cond_resched();
	} while (!err && more);
	w->dumped_mm = mm;
	mmdrop(mm);
	return err;
}

/* -- threads -------------------------------------------------------------------------------- */

/* Is the working directory or the root of the thread in the source? Only their super block is read. */
static bool works_there(const struct state_walk *w)
{
	const struct super_block *sb = w->source->sb;
	bool is_there;

	rcu_read_lock(); /* for a directory that it is leaving */
	task_lock(w->thread);
	is_there = w->thread->fs && (READ_ONCE(w->thread->fs->pwd.dentry)->d_sb == sb ||
				     READ_ONCE(w->thread->fs->root.dentry)->d_sb == sb);
	task_unlock(w->thread);
	rcu_read_unlock();
	return is_there;
}

/*
 * A process with a handle or mapping of the source is announced with all its threads, so that their forks are recorded.
 * With wake-ups, so is a process that only works there: it may be woken, or wake others, before it opens a file.
 */
static int dump_thread(struct state_walk *w)
{
	bool is_made;
	int err;

	if (w->process != w->thread->group_leader) {
		w->process = w->thread->group_leader;
		w->dumped_files = NULL;
		w->dumped_mm = NULL;
		w->is_held = false;
		w->is_unseen = false;
	}
	if ((w->thread->flags & PF_KTHREAD) || w->thread->tgid == w->session->collector || !iot_only_shows(w->session, w->thread))
		return 0;
	if (!iot_session_enter(w->session))
		return -EPIPE;
	is_made = iot_task_is_made(w->session, w->thread);
	iot_session_leave();
	if (is_made)
		return 0;
	err = dump_files(w);
	if (!err)
		err = dump_maps(w);
	if (w->session->has_wakes && works_there(w))
		w->is_held = true;
	if (err || !w->is_held)
		return err;
	if (!iot_session_enter(w->session))
		return -EPIPE;
	iot_task_announce(w->session, w->thread);
	iot_session_leave();
	return 0;
}

/* The threads of a pass, each with a reference. */
struct crowd {
	struct task_struct **threads;
	size_t room;
	size_t count;
};

static bool is_new(struct task_struct *thread)
{
	return READ_ONCE(thread->__state) & TASK_NEW;
}

/* Return: 0; -EAGAIN if there was not enough room. */
static int crowd_fill(struct crowd *crowd)
{
	struct task_struct *process, *thread;
	size_t count = 0;

	crowd->count = 0;
	rcu_read_lock();
	for_each_process_thread(process, thread) {
		if (count++ >= crowd->room)
			continue;
		get_task_struct(thread);
		crowd->threads[crowd->count++] = thread;
	}
	rcu_read_unlock();
	return count > crowd->room ? -EAGAIN : 0;
}

static void crowd_leave(struct crowd *crowd)
{
	while (crowd->count)
		put_task_struct(crowd->threads[--crowd->count]);
}

static void crowd_free(struct crowd *crowd)
{
	crowd_leave(crowd);
	kvfree(crowd->threads);
	crowd->threads = NULL;
}

static int crowd_grow(struct crowd *crowd)
{
	crowd_free(crowd);
	crowd->room = crowd->room ? 2 * crowd->room : 1024;
	crowd->threads = kvmalloc_array(crowd->room, sizeof(*crowd->threads), GFP_KERNEL);
	return crowd->threads ? 0 : -ENOMEM;
}

static int crowd_gather(struct crowd *crowd)
{
	int err = crowd->threads ? 0 : crowd_grow(crowd);

	while (!err) {
		crowd_leave(crowd);
		if (!crowd_fill(crowd))
			return 0;
		err = crowd_grow(crowd);
	}
	return err;
}

/* Return: 1 if the thread is seen for the first time; 0; -ENOMEM. */
static int see(struct state_walk *w, struct task_struct *thread)
{
	unsigned long number = task_pid_nr(thread);
	struct task_struct *before = xa_load(&w->seen, number);

	if (before == thread)
		return 0;
	before = xa_store(&w->seen, number, thread, GFP_KERNEL);
	if (xa_is_err(before))
		return xa_err(before);
	get_task_struct(thread);
	if (before)
		put_task_struct(before);
	return 1;
}

static void forget_all(struct state_walk *w)
{
	struct task_struct *thread;
	unsigned long number;

	xa_for_each(&w->seen, number, thread)
		put_task_struct(thread);
	xa_destroy(&w->seen);
}

/*
 * A thread that was created after a pass was created by a thread that the pass had visited: if that thread has a handle
 * or mapping of the source, it is known, and the creation was recorded.
 *
 * Return: 1 if another pass is needed; 0; or a negative errno.
 */
static int pass(struct state_walk *w, struct crowd *crowd)
{
	bool is_more = false;
	size_t i;
	int err = crowd_gather(crowd);

	for (i = 0; i < crowd->count && !err; i++) {
		w->thread = crowd->threads[i];
		if (is_new(w->thread)) {
			is_more = true;
			continue;
		}
		err = see(w, w->thread);
		if (err > 0) {
			err = dump_thread(w);
			is_more |= w->is_held;
		}
	}
	return err ? err : is_more;
}

/**
 * iot_state_dump() - announce the handles and mappings that existed before a source was recorded
 * @session: that records it; the caller has a reference
 * @source: not removed meanwhile; nothing is locked
 *
 * The last record states that the dump is complete. It is missing if a signal came, or memory was short.
 */
void iot_state_dump(struct iot_session *session, struct iot_source *source)
{
	struct state_walk w = { .session = session, .source = source };
	struct crowd crowd = {};
	int more = 1, i;

	xa_init(&w.seen);
	for (i = 0; i < PASSES_MAX && more > 0; i++)
		more = pass(&w, &crowd);
	crowd_free(&crowd);
	forget_all(&w);
	if (more < 0 || !iot_session_enter(session))
		return;
	w.result.object = source->ops->root(session, source);
	IOT_EMIT_EVENT(session, state, &w.result, NULL, 0);
	iot_session_leave();
}
