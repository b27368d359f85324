// SPDX-License-Identifier: GPL-2.0-only
/*
 * lease.c - leases: fcntl(2) with F_SETLEASE.
 *
 * A lease belongs to an inode, and each file has two. So a lease of the upper inode has a shadow: a lease of the
 * lower inode, held by the lower file:
 *
 *	set		The shadow is set first: the lower inode counts all opens of the file, above and below.
 *	broken above	The VFS notifies the holder. The shadow is broken, too, so that both expire at the same time.
 *	broken below	The upper lease is broken, and the VFS notifies the holder.
 *	released	or downgraded, or lost with the last descriptor: the shadow, too.
 *
 * Leases are broken under a spin lock, and breaking one takes others. So each break starts the same work, which
 * reduces both of each pair to the weaker of the two. A holder that does not release its lease in time loses it, the
 * shadow perhaps before the upper one, by as much as the work was late.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "lease.h"

/**
 * struct tfs_lease - a file of which a lease has been set
 * @list: member of @leases
 * @upper: the file, without a reference: its release takes this out of the list
 */
struct tfs_lease {
	struct list_head list;
	struct file *upper;
};

/* The level of a lease that remains once the break has completed. */
enum level {
	FOR_WRITING,
	FOR_READING,
	NOTHING,
};

/**
 * struct state - of the lease of a file
 * @is_set: there is one
 * @is_breaking: its holder has to release or downgrade it
 * @left: the level that remains then
 */
struct state {
	bool is_set;
	bool is_breaking;
	enum level left;
};

static LIST_HEAD(leases);
static DEFINE_MUTEX(leases_lock); /* of the list */
static DEFINE_MUTEX(set_lock);	  /* serializes setting and release of leases, and the work that aligns all pairs */

/* Those of the VFS, which it does not export, with another lm_break. Written once, under set_lock. */
static struct iot_lease_operations upper_ops, shadow_ops;
static const struct iot_lease_operations *vfs_ops;

/* Any task may release the last reference of a file, and with it the shadow, without the right to set leases. */
static const struct cred *cred_of_kernel;

static struct iot_lease *lease_find(const struct file_lock_context *context, const struct file *file)
{
	struct iot_lease *lease;

	list_for_each_entry(lease, &context->flc_lease, iot_lease_list)
		if (iot_lease_file(lease) == file)
			return lease;
	return NULL;
}

static enum level level_left(const struct iot_lease *lease)
{
	if (iot_lease_flags(lease) & FL_UNLOCK_PENDING)
		return NOTHING;
	if ((iot_lease_flags(lease) & FL_DOWNGRADE_PENDING) || iot_lease_type_of(lease) == F_RDLCK)
		return FOR_READING;
	return FOR_WRITING;
}

static struct state state_of(const struct file *file)
{
	struct file_lock_context *context = smp_load_acquire(&file_inode(file)->i_flctx);
	struct state state = { .left = NOTHING };
	const struct iot_lease *lease;

	if (!context)
		return state;
	spin_lock(&context->flc_lock);
	lease = lease_find(context, file);
	if (lease) {
		state.is_set = true;
		state.is_breaking = iot_lease_flags(lease) & (FL_UNLOCK_PENDING | FL_DOWNGRADE_PENDING);
		state.left = level_left(lease);
	}
	spin_unlock(&context->flc_lock);
	return state;
}

/* The opener that broke the other one of the pair will break all others here, too. */
static void break_to(struct inode *inode, enum level left)
{
	break_lease(inode, (left == NOTHING ? O_WRONLY : O_RDONLY) | O_NONBLOCK);
}

static void shadow_drop(struct file *lower)
{
	const struct cred *own = override_creds(cred_of_kernel);
	void *owner = lower;

	vfs_setlease(lower, F_UNLCK, NULL, &owner);
	revert_creds(own);
}

static void make_same(struct file *upper)
{
	struct file *lower = tfs_lower_file(upper);
	struct state above = state_of(upper), below = state_of(lower);

	if (!above.is_set)
		shadow_drop(lower);
	else if (above.left > below.left)
		break_to(file_inode(lower), above.left);
	else if (above.left < below.left)
		break_to(file_inode(upper), below.left);
}

static void make_all_same(struct work_struct *work)
{
	struct tfs_lease *lease;

	mutex_lock(&set_lock);
	mutex_lock(&leases_lock);
	list_for_each_entry(lease, &leases, list)
		make_same(lease->upper);
	mutex_unlock(&leases_lock);
	mutex_unlock(&set_lock);
}

static DECLARE_WORK(pairs_work, make_all_same);

static bool upper_break(struct iot_lease *lease)
{
	schedule_work(&pairs_work);
	return vfs_ops->lm_break(lease);
}

static bool shadow_break(struct iot_lease *lease)
{
	schedule_work(&pairs_work);
	return false;
}

static void find_ops(const struct iot_lease *lease)
{
	if (vfs_ops)
		return;
	upper_ops = *lease->fl_lmops;
	upper_ops.lm_break = upper_break;
	shadow_ops = *lease->fl_lmops;
	shadow_ops.lm_break = shadow_break;
	shadow_ops.lm_setup = NULL; /* a shadow sends no signal */
	vfs_ops = lease->fl_lmops;
}

static int shadow_set(struct file *lower, iot_lease_type type)
{
	struct iot_lease *shadow = iot_lease_new();
	int err;

	if (!shadow)
		return -ENOMEM;
	iot_lease_init(shadow, lower, type, &shadow_ops);
	err = vfs_setlease(lower, type, &shadow, NULL);
	if (shadow) /* it has changed the one that there was, or failed */
		iot_lease_free(shadow);
	return err;
}

static void lease_reduce(const struct file *file)
{
	struct file_lock_context *context = smp_load_acquire(&file_inode(file)->i_flctx);
	struct iot_lease *lease;
	LIST_HEAD(none);

	spin_lock(&context->flc_lock);
	lease = lease_find(context, file);
	if (lease)
		lease->fl_lmops->lm_change(lease, F_RDLCK, &none);
	spin_unlock(&context->flc_lock);
}

/* If the holder has lost the shadow, or a write lease became a read lease, the same happens to the upper lease. */
static void lose_upper(struct file *upper)
{
	struct state above = state_of(upper), below = state_of(tfs_lower_file(upper));
	void *owner = upper;

	if (!above.is_breaking || below.is_breaking || above.left != below.left)
		return;
	if (above.left == NOTHING)
		generic_setlease(upper, F_UNLCK, NULL, &owner);
	else
		lease_reduce(upper);
}

static int lease_enlist(struct file *file)
{
	struct tfs_lease *lease;

	if (TFS_F(file)->lease)
		return 0;
	lease = kzalloc(sizeof(*lease), GFP_KERNEL);
	if (!lease)
		return -ENOMEM;
	lease->upper = file;
	mutex_lock(&leases_lock);
	list_add(&lease->list, &leases);
	mutex_unlock(&leases_lock);
	TFS_F(file)->lease = lease;
	return 0;
}

static int set_both(struct file *file, iot_lease_type type, struct iot_lease **lease, void **priv)
{
	struct file *lower = tfs_lower_file(file);
	int err = lease_enlist(file);

	if (err)
		return err;
	find_ops(*lease);
	lose_upper(file);
	err = shadow_set(lower, type);
	if (err)
		return err;
	(*lease)->fl_lmops = &upper_ops;
	err = generic_setlease(file, type, lease, priv);
	if (err && !state_of(file).is_set)
		shadow_drop(lower);
	schedule_work(&pairs_work); /* the shadow may be broken by now */
	return err;
}

static int drop_both(struct file *file, void **priv)
{
	int err = generic_setlease(file, F_UNLCK, NULL, priv);

	if (!err && TFS_F(file)->lease)
		shadow_drop(tfs_lower_file(file));
	return err;
}

/**
 * tfs_setlease() - set, change or release a lease
 * @file: upper file
 * @type: F_RDLCK, F_WRLCK or F_UNLCK
 * @lease: the new lease, for F_RDLCK and F_WRLCK; set to NULL if it is used
 * @priv: the VFS's
 *
 * Return: 0 or a negative errno, as the lower file system; -EINVAL for a delegation.
 */
int tfs_setlease(struct file *file, iot_lease_type type, struct iot_lease **lease, void **priv)
{
	int err;

	if (type != F_UNLCK && !(iot_lease_flags(*lease) & FL_LEASE))
		return -EINVAL;
	mutex_lock(&set_lock);
	err = type == F_UNLCK ? drop_both(file, priv) : set_both(file, type, lease, priv);
	mutex_unlock(&set_lock);
	return err;
}

/**
 * tfs_lease_release() - a file of which a lease has been set is released
 * @file: upper file
 *
 * The VFS has released the upper lease.
 */
void tfs_lease_release(struct file *file)
{
	struct tfs_lease *lease = TFS_F(file)->lease;

	shadow_drop(tfs_lower_file(file));
	mutex_lock(&leases_lock);
	list_del(&lease->list);
	mutex_unlock(&leases_lock);
	kfree(lease);
}

/**
 * tfs_lease_init() - prepare the credentials with which leases are taken below
 *
 * Return: 0 or -ENOMEM.
 */
int tfs_lease_init(void)
{
	cred_of_kernel = prepare_kernel_cred(&init_task);
	return cred_of_kernel ? 0 : -ENOMEM;
}

/**
 * tfs_lease_exit() - undo tfs_lease_init(); no file is open
 */
void tfs_lease_exit(void)
{
	cancel_work_sync(&pairs_work);
	put_cred(cred_of_kernel);
}
