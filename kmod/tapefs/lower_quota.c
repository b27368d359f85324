// SPDX-License-Identifier: GPL-2.0-only
/*
 * lower_quota.c - quotactl_fd(2): quotas are the lower file system's.
 *
 * quotactl(2) names a device, and finds the lower file system by itself; quotactl_fd(2) names a file. The VFS
 * has locked the upper super block, as it would the lower one, which is locked here. For changes it also has
 * write access to the upper mount. Nothing is recorded: quota calls are no I/O.
 */
#include <linux/fs.h>
#include <linux/quota.h>

#include "lower.h"

static struct super_block *lower_sb(struct super_block *sb)
{
	return tfs_lower_mnt(sb)->mnt_sb;
}

static struct super_block *begin_look(struct super_block *sb)
{
	struct super_block *lower = lower_sb(sb);

	down_read_nested(&lower->s_umount, TFS_BELOW);
	return lower;
}

static void end_look(struct super_block *lower)
{
	up_read(&lower->s_umount);
}

/* -- limits and usage ----------------------------------------------------------------- */

static int do_sync(struct super_block *sb, int type)
{
	struct super_block *lower = begin_look(sb);
	int err = lower->s_qcop->quota_sync(lower, type);

	end_look(lower);
	return err;
}

static int do_get_state(struct super_block *sb, struct qc_state *state)
{
	struct super_block *lower = begin_look(sb);
	int err = lower->s_qcop->get_state(lower, state);

	end_look(lower);
	return err;
}

static int do_get(struct super_block *sb, struct kqid id, struct qc_dqblk *quota)
{
	struct super_block *lower = begin_look(sb);
	int err = lower->s_qcop->get_dqblk(lower, id, quota);

	end_look(lower);
	return err;
}

static int do_get_next(struct super_block *sb, struct kqid *id, struct qc_dqblk *quota)
{
	struct super_block *lower = begin_look(sb);
	int err = lower->s_qcop->get_nextdqblk(lower, id, quota);

	end_look(lower);
	return err;
}

/* -- what changes them -------------------------------------------------------------------- */

static int begin_change(struct super_block *sb)
{
	int err = mnt_want_write(tfs_lower_mnt(sb));

	if (!err)
		down_read_nested(&lower_sb(sb)->s_umount, TFS_BELOW);
	return err;
}

static void end_change(struct super_block *sb)
{
	up_read(&lower_sb(sb)->s_umount);
	mnt_drop_write(tfs_lower_mnt(sb));
}

static int do_set(struct super_block *sb, struct kqid id, struct qc_dqblk *quota)
{
	struct super_block *lower = lower_sb(sb);
	int err = begin_change(sb);

	if (err)
		return err;
	err = lower->s_qcop->set_dqblk(lower, id, quota);
	end_change(sb);
	return err;
}

static int do_set_info(struct super_block *sb, int type, struct qc_info *info)
{
	struct super_block *lower = lower_sb(sb);
	int err = begin_change(sb);

	if (err)
		return err;
	err = lower->s_qcop->set_info(lower, type, info);
	end_change(sb);
	return err;
}

static int do_remove(struct super_block *sb, unsigned int types)
{
	struct super_block *lower = lower_sb(sb);
	int err = begin_change(sb);

	if (err)
		return err;
	err = lower->s_qcop->rm_xquota(lower, types);
	end_change(sb);
	return err;
}

/* -- whether there are any ------------------------------------------------------------------ */

static int begin_switch(struct super_block *sb)
{
	int err = mnt_want_write(tfs_lower_mnt(sb));

	if (!err)
		down_write_nested(&lower_sb(sb)->s_umount, TFS_BELOW);
	return err;
}

static void end_switch(struct super_block *sb)
{
	up_write(&lower_sb(sb)->s_umount);
	mnt_drop_write(tfs_lower_mnt(sb));
}

/* The operation needs the name of a quota file, which quotactl_fd(2) does not pass. */
static int do_on(struct super_block *sb, int type, int format, const struct path *path)
{
	return -EINVAL;
}

static int do_off(struct super_block *sb, int type)
{
	struct super_block *lower = lower_sb(sb);
	int err = begin_switch(sb);

	if (err)
		return err;
	err = lower->s_qcop->quota_off(lower, type);
	end_switch(sb);
	return err;
}

static int do_enable(struct super_block *sb, unsigned int flags)
{
	struct super_block *lower = lower_sb(sb);
	int err = begin_switch(sb);

	if (err)
		return err;
	err = lower->s_qcop->quota_enable(lower, flags);
	end_switch(sb);
	return err;
}

static int do_disable(struct super_block *sb, unsigned int flags)
{
	struct super_block *lower = lower_sb(sb);
	int err = begin_switch(sb);

	if (err)
		return err;
	err = lower->s_qcop->quota_disable(lower, flags);
	end_switch(sb);
	return err;
}

/**
 * tfs_quota_inherit() - give a mount the quota operations that the lower file system has
 * @sb: the upper super block, which is being made
 *
 * The VFS reacts itself if a file system lacks an operation, so the mount lacks the operations that the lower file
 * system lacks.
 */
void tfs_quota_inherit(struct super_block *sb)
{
	const struct super_block *lower = lower_sb(sb);
	const struct quotactl_ops *below = lower->s_qcop;
	struct quotactl_ops *ops = &TFS_SB(sb)->quota;

	if (!below)
		return;
	*ops = (struct quotactl_ops){
		.quota_on = below->quota_on ? do_on : NULL,
		.quota_off = below->quota_off ? do_off : NULL,
		.quota_enable = below->quota_enable ? do_enable : NULL,
		.quota_disable = below->quota_disable ? do_disable : NULL,
		.quota_sync = below->quota_sync ? do_sync : NULL,
		.set_info = below->set_info ? do_set_info : NULL,
		.get_dqblk = below->get_dqblk ? do_get : NULL,
		.get_nextdqblk = below->get_nextdqblk ? do_get_next : NULL,
		.set_dqblk = below->set_dqblk ? do_set : NULL,
		.get_state = below->get_state ? do_get_state : NULL,
		.rm_xquota = below->rm_xquota ? do_remove : NULL,
	};
	sb->s_qcop = ops;
	sb->s_quota_types = lower->s_quota_types;
}
