// SPDX-License-Identifier: GPL-2.0-only
/*
 * gone.c - drops upper dentries of files that are removed below.
 *
 * An upper dentry holds a lower dentry and its inode, even when it is unused. So a file that is removed by its
 * lower name would keep its blocks, NFS would rename it (".nfs...") and could not remove its directory, and a
 * subvolume of btrfs would stay. tapefs therefore watches the lower super block by fsnotify for names that are
 * removed or replaced. The removing task holds locks of the lower file system when the event arrives. It drops the
 * upper dentry before it returns to user mode. Then the lower inode is evicted, and its blocks are free when the
 * system call ends, as they are without tapefs.
 *
 * A dentry in use stays until its last user releases it: see tfs_is_dropped() in lookup.c.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/fsnotify_backend.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "errand.h"
#include "tapefs.h"
#include "compat/notify.h"

/**
 * struct tfs_watch - of the lower super block, for one upper super block
 * @sb: the upper one
 * @group: refers to this
 * @mark: on the lower super block
 * @leftovers: inodes of this mount that wait for the return of their task to user mode
 * @busy: number of tasks that are dropping one
 * @idle: woken when none is
 */
struct tfs_watch {
	struct super_block *sb;
	struct fsnotify_group *group;
	struct fsnotify_mark mark;
	struct list_head leftovers;
	unsigned int busy;
	wait_queue_head_t idle;
};

/**
 * struct leftover - an upper inode with a name that was removed below
 * @errand: of the task that removed it
 * @list: member of @watch->leftovers
 * @watch: of its mount
 * @inode: with a reference; NULL if the file system was unmounted before the errand was run
 */
struct leftover {
	struct tfs_errand errand;
	struct list_head list;
	struct tfs_watch *watch;
	struct inode *inode;
};

/* Guards the lists and counts of all watches. An unmount frees its list itself: it never waits for a stopped task. */
static DEFINE_SPINLOCK(leftovers_lock);

static bool is_unused(const struct dentry *dentry)
{
	return !d_count(dentry) && tfs_is_dropped(dentry);
}

/* Was this directory removed below? It may still be in use, but only by dentries below it. */
static bool is_removed_dir(const struct dentry *dentry)
{
	return d_is_dir(dentry) && TFS_D(dentry) && d_unhashed(tfs_lower_dentry(dentry));
}

/* Return: a dentry of the inode for which @is_wanted holds, with a reference; NULL if there is none. */
static struct dentry *get_alias(struct inode *inode, bool (*is_wanted)(const struct dentry *dentry))
{
	struct dentry *dentry, *found = NULL;

	spin_lock(&inode->i_lock);
	iot_for_each_alias(dentry, inode) {
		spin_lock(&dentry->d_lock);
		if (is_wanted(dentry))
			found = dget_dlock(dentry);
		spin_unlock(&dentry->d_lock);
		if (found)
			break;
	}
	spin_unlock(&inode->i_lock);
	return found;
}

/* Drop all unused dentries below a removed directory. On btrfs, this can be a whole subvolume. */
static void drop_tree(struct inode *dir)
{
	struct dentry *dentry = get_alias(dir, is_removed_dir);
	struct dentry *lower;

	if (!dentry)
		return;
	lower = dget(tfs_lower_dentry(dentry));
	shrink_dcache_parent(dentry);
	shrink_dcache_parent(lower);
	dput(lower);
	dput(dentry);
}

static void drop_names(struct inode *inode)
{
	struct dentry *dentry;

	if (S_ISDIR(inode->i_mode))
		drop_tree(inode);
	while ((dentry = get_alias(inode, is_unused)))
		dput(dentry); /* the last reference: the dentry is freed */
}

static void leftover_drop(struct tfs_errand *errand)
{
	struct leftover *leftover = container_of(errand, struct leftover, errand);
	struct tfs_watch *watch = leftover->watch;

	spin_lock(&leftovers_lock);
	if (leftover->inode) {
		list_del(&leftover->list);
		watch->busy++;
	}
	spin_unlock(&leftovers_lock);
	if (leftover->inode) {
		drop_names(leftover->inode);
		iput(leftover->inode);
		spin_lock(&leftovers_lock);
		if (!--watch->busy)
			wake_up_all(&watch->idle);
		spin_unlock(&leftovers_lock);
	}
	kfree(leftover);
}

static void leftover_add(struct tfs_watch *watch, struct inode *inode)
{
	struct leftover *leftover = kmalloc(sizeof(*leftover), GFP_NOFS);

	if (!leftover) {
		iput(inode); /* its names are dropped at their next lookup, or when memory is short */
		return;
	}
	leftover->errand.run = leftover_drop;
	leftover->watch = watch;
	leftover->inode = inode;
	spin_lock(&leftovers_lock);
	list_add(&leftover->list, &watch->leftovers);
	spin_unlock(&leftovers_lock);
	tfs_run_at_return(&leftover->errand);
}

static bool has_leftover(struct inode *inode)
{
	struct dentry *dentry;
	bool is_found = false;

	spin_lock(&inode->i_lock);
	iot_for_each_alias(dentry, inode) {
		spin_lock(&dentry->d_lock);
		is_found = is_unused(dentry) || is_removed_dir(dentry);
		spin_unlock(&dentry->d_lock);
		if (is_found)
			break;
	}
	spin_unlock(&inode->i_lock);
	return is_found;
}

/* Most events are about inodes that were never looked up through this mount. */
static struct inode *get_leftover(struct super_block *sb, struct inode *lower)
{
	struct inode *inode;

	rcu_read_lock();
	inode = tfs_inode_find_rcu(sb, lower);
	if (inode && (READ_ONCE(TFS_I(inode)->remover) == current || !has_leftover(inode)))
		inode = NULL;
	if (inode)
		inode = igrab(inode);
	rcu_read_unlock();
	return inode;
}

/*
 * A name was removed; a file has one link less, as its name was removed or replaced; or a name was created in a
 * directory that may have been encrypted since it was looked up.
 */
static int handle_event(struct fsnotify_group *group, u32 mask, const void *data, int data_type,
			struct inode *dir, const struct qstr *name, u32 cookie,
			struct fsnotify_iter_info *info)
{
	struct tfs_watch *watch = group->private;
	struct inode *lower = fsnotify_data_inode(data, data_type), *inode;

	if (mask & FS_CREATE)
		lower = dir && IS_ENCRYPTED(dir) ? dir : NULL;
	inode = lower ? get_leftover(watch->sb, lower) : NULL;
	if (inode)
		leftover_add(watch, inode);
	return 0;
}

/* The mark is a part of the watch, which is freed after it. */
static void free_mark(struct fsnotify_mark *mark)
{
}

static const struct fsnotify_ops watch_ops = {
	.handle_event = handle_event,
	.free_mark = free_mark,
};

/**
 * tfs_watch_start() - watch for removals below, and drop the upper objects
 * @sb: upper super block, which has its root
 *
 * Return: 0 or a negative errno.
 */
int tfs_watch_start(struct super_block *sb)
{
	struct super_block *lower = tfs_lower_mnt(sb)->mnt_sb;
	struct tfs_watch *watch = kzalloc(sizeof(*watch), GFP_KERNEL);
	int err;

	if (!watch)
		return -ENOMEM;
	watch->group = iot_alloc_watch_group(&watch_ops);
	if (IS_ERR(watch->group)) {
		err = PTR_ERR(watch->group);
		goto err_group;
	}
	watch->sb = sb;
	INIT_LIST_HEAD(&watch->leftovers);
	init_waitqueue_head(&watch->idle);
	watch->group->private = watch;
	fsnotify_init_mark(&watch->mark, watch->group);
	watch->mark.mask = FS_DELETE | FS_ATTRIB | FS_CREATE;
	err = iot_add_sb_mark(&watch->mark, lower);
	if (err)
		goto err_mark;
	TFS_SB(sb)->watch = watch;
	return 0;

err_mark:
	fsnotify_put_mark(&watch->mark);
	fsnotify_put_group(watch->group);
	fsnotify_wait_marks_destroyed();
err_group:
	kfree(watch);
	return err;
}

/**
 * tfs_watch_stop() - drop the references of inodes before an unmount
 * @sb: upper super block
 *
 * Waits for tasks that are dropping something, not for those that have yet to return to user mode.
 */
void tfs_watch_stop(struct super_block *sb)
{
	struct tfs_watch *watch = TFS_SB(sb)->watch;
	struct leftover *leftover;
	struct inode *inode;

	if (!watch)
		return;
	fsnotify_destroy_mark(&watch->mark, watch->group);
	fsnotify_put_mark(&watch->mark);
	fsnotify_put_group(watch->group);
	fsnotify_wait_marks_destroyed(); /* also waits for events that are being handled */
	spin_lock(&leftovers_lock);
	while ((leftover = list_first_entry_or_null(&watch->leftovers, struct leftover, list))) {
		list_del(&leftover->list);
		inode = leftover->inode;
		leftover->inode = NULL;
		spin_unlock(&leftovers_lock);
		iput(inode);
		spin_lock(&leftovers_lock);
	}
	wait_event_cmd(watch->idle, !watch->busy, spin_unlock(&leftovers_lock), spin_lock(&leftovers_lock));
	spin_unlock(&leftovers_lock);
	kfree(watch);
}
