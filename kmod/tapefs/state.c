// SPDX-License-Identifier: GPL-2.0-only
/*
 * state.c - announces handles and mappings from before a session, when it begins or at their first use.
 *
 * Like objects and names, handles are announced before the first record that refers to them. The record
 * of an open announces its handle. The state dump at the start of the session announces each handle that
 * was open before, once for each descriptor. If the handle was in no descriptor table, or if it is used
 * before the dump gets there, its first use announces it. Two CPUs may do so at once: the first record counts.
 */
#include <linux/dcache.h>
#include <linux/fs.h>

#include "emit.h"
#include "tapefs.h"

/**
 * __tfs_announce_handle() - announce a handle that was open before the session
 * @session: entered
 * @task: that has or uses it
 * @fd: its descriptor, or one of TFS_FD_*
 * @file: upper file
 */
void __tfs_announce_handle(struct iot_session *session, u32 task, s32 fd, const struct file *file)
{
	const struct dentry *dentry = file_dentry(file);
	const struct inode *inode = file_inode(file), *lower = tfs_lower_inode(inode);
	struct tfs_file *tfs = TFS_F(file);
	struct iot_rec_opened r;

	r.task = task;
	r.fd = fd;
	r.name = tfs_name_if_any(session, dentry);
	r.object = tfs_object_id(session, inode, r.name ? dentry : NULL);
	r.handle = tfs->handle;
	r.flags = tfs_open_flags(file->f_flags & ~__O_TMPFILE, 0);
	r.offset_bytes = READ_ONCE(file->f_pos);
	r.size_bytes = i_size_read(lower);
	r.cached_pages = iot_cached_pages(session, lower);
	if (IOT_ANNOUNCE(session, opened, &r, NULL, 0))
		smp_store_release(&tfs->epoch, iot_session_epoch(session));
}

/**
 * tfs_announce_handle() - announce a handle before an operation changes its state
 * @span: the operation's
 * @file: upper file
 */
void tfs_announce_handle(const struct iot_span *span, const struct file *file)
{
	struct iot_session *session = iot_span_enter(&TFS_SB(file_inode(file)->i_sb)->source, span);

	if (!session)
		return;
	tfs_handle_id(session, span, file);
	iot_session_leave();
}

/**
 * tfs_is_below() - is it a file of the lower file system, below the directory that is mounted?
 * @source: that of the mount
 * @file: any that is not ours
 */
bool tfs_is_below(const struct iot_source *source, const struct file *file)
{
	const struct path *lower = &TFS_SB(source->sb)->lower;

	return file_inode(file)->i_sb == lower->dentry->d_sb && !(file->f_mode & FMODE_PATH) &&
	       is_subdir(file->f_path.dentry, lower->dentry);
}

static enum iot_view view_file(const struct iot_source *source, const struct file *file)
{
	if (tfs_is_file(file) || file->f_op == &tfs_dir_fops)
		return file_inode(file)->i_sb == source->sb ? IOT_VIEW_OURS : IOT_VIEW_NONE;
	return tfs_is_below(source, file) ? IOT_VIEW_UNSEEN : IOT_VIEW_NONE;
}

static bool dump_file(struct iot_session *session, u32 task, s32 fd, const struct file *file)
{
	if (TFS_F(file)->opened == iot_session_epoch(session))
		return false;
	__tfs_announce_handle(session, task, fd, file);
	return true;
}

static u64 root_of(struct iot_session *session, const struct iot_source *source)
{
	return tfs_object_id(session, d_inode(source->sb->s_root), source->sb->s_root);
}

/* Existing mappings keep their mode. */
static void set_mmap(struct iot_source *source, enum iot_mmap mmap)
{
	WRITE_ONCE(TFS_SB(source->sb)->options.mmap, (enum tfs_mmap_mode)mmap);
}

const struct iot_source_ops tfs_source_ops = {
	.announce = tfs_announce_mount,
	.root = root_of,
	.view_file = view_file,
	.dump_file = dump_file,
	.view_map = tfs_view_map,
	.dump_map = tfs_announce_map,
	.retouch_map = tfs_retouch_map,
	.set_mmap = set_mmap,
	.paths = tfs_paths,
	.ino = tfs_ino,
};
