// SPDX-License-Identifier: GPL-2.0-only
/*
 * real.c - d_real: the inode that mappings of a file refer to, which is the lower one.
 *
 * uprobes find the mappings of a program by that inode, and IMA notices changes below by it. A flag of the dentry of a
 * regular file says that it has the operation. overlayfs takes such a dentry for one of another overlayfs and
 * refuses it in its upper layer. So directories do not have the flag, and a file in an upper layer loses it when
 * overlayfs looks it up.
 */
#include <linux/dcache.h>
#include <linux/fs.h>

#include "tapefs.h"
#include "compat/vfs.h"

/* Is a name in a directory that overlayfs uses as its upper layer, or to work in? */
static bool is_in_layer(const struct dentry *dentry)
{
	struct inode *inode;
	bool is_found = false;

	rcu_read_lock();
	while (!is_found && !IS_ROOT(dentry)) {
		dentry = READ_ONCE(dentry->d_parent);
		inode = d_inode_rcu(dentry);
		is_found = inode && (iot_inode_state(inode) & I_OVL_INUSE);
	}
	rcu_read_unlock();
	return is_found;
}

static void set_real(struct dentry *dentry, bool is_shown)
{
	spin_lock(&dentry->d_lock);
	if (is_shown)
		dentry->d_flags |= DCACHE_OP_REAL;
	else
		dentry->d_flags &= ~DCACHE_OP_REAL;
	spin_unlock(&dentry->d_lock);
}

/* A new dentry has the flags of all operations; no other task can see it yet. */
int tfs_d_init(struct dentry *dentry)
{
	dentry->d_flags &= ~DCACHE_OP_REAL;
	return 0;
}

/**
 * tfs_real_show() - a dentry is about to stand for an object
 * @dentry: upper dentry that other tasks cannot find yet
 * @inode: the object, or NULL
 */
void tfs_real_show(struct dentry *dentry, const struct inode *inode)
{
	bool is_shown = inode && S_ISREG(inode->i_mode) && !is_in_layer(dentry);

	if (is_shown != !!(dentry->d_flags & DCACHE_OP_REAL))
		set_real(dentry, is_shown);
}

/**
 * tfs_real_hide() - a name is looked up as overlayfs does it
 * @dentry: upper dentry
 */
void tfs_real_hide(struct dentry *dentry)
{
	if (is_in_layer(dentry))
		set_real(dentry, false);
}

IOT_D_REAL_DECLARE(tfs_d_real)
{
	if (!d_is_reg(dentry) || iot_is_real(dentry, what))
		return dentry;
	return d_real(tfs_lower_dentry(dentry), what);
}
