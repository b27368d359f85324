// SPDX-License-Identifier: GPL-2.0-only
/*
 * ident.c - ids of objects and names, and their announcement.
 *
 * An object keeps its id as long as its inode is in memory. A name is one component
 * in one directory; its id changes when the component or the directory does. Each is
 * announced in a record of its own before the first record that uses the id; if that
 * announcement is lost, the next use repeats it. Two CPUs may announce the same id at
 * once: the records are equal, and readers accept that.
 *
 * All of this runs inside iot_session_enter(), that is under rcu_read_lock(), which
 * keeps the dentries and inodes on the way up to the root.
 */
#include <linux/dcache.h>
#include <linux/fs.h>

#include "emit.h"
#include "tapefs.h"

static atomic64_t last_name = ATOMIC64_INIT(0);

/*
 * The inode of a directory on the way to the root. NULL if the directory was removed: another task may move the
 * name out of it and remove it at any time, and RCU keeps the dentry, but not its inode.
 */
static const struct tfs_inode *directory_of(const struct dentry *dentry)
{
	const struct inode *inode = d_inode_rcu(dentry);

	return inode ? TFS_I(inode) : NULL;
}

static bool name_is_known(const struct tfs_dentry *tfs, const struct dentry *dentry, u64 epoch)
{
	return READ_ONCE(tfs->epoch) == epoch && READ_ONCE(tfs->dir) == dentry->d_parent &&
	       READ_ONCE(tfs->hash_len) == dentry->d_name.hash_len;
}

static u64 name_announce(struct iot_session *session, const struct dentry *dentry)
{
	struct dentry *locked = (struct dentry *)dentry; /* for its lock only */
	struct tfs_dentry *tfs = TFS_D(dentry);
	u64 epoch = iot_session_epoch(session);
	const struct tfs_inode *dir;
	struct iot_rec_name r;

	spin_lock(&locked->d_lock); /* the name and the parent stay as they are */
	if (!name_is_known(tfs, dentry, epoch)) {
		r.name = atomic64_inc_return(&last_name);
		dir = IS_ROOT(dentry) ? NULL : directory_of(dentry->d_parent);
		r.dir = dir ? dir->object : 0;
		WRITE_ONCE(tfs->name, r.name);
		WRITE_ONCE(tfs->dir, dentry->d_parent);
		WRITE_ONCE(tfs->hash_len, dentry->d_name.hash_len);
		if (IOT_ANNOUNCE(session, name, &r, dentry->d_name.name,
				   IS_ROOT(dentry) ? 0 : dentry->d_name.len))
			smp_store_release(&tfs->epoch, epoch);
	}
	spin_unlock(&locked->d_lock);
	return tfs->name;
}

static u32 type_of(umode_t mode)
{
	return (mode & S_IFMT) >> 12; /* the same numbers as DT_* and IOT_TYPES */
}

static void object_announce(struct iot_session *session, const struct inode *inode,
			    const struct dentry *dentry)
{
	struct tfs_inode *tfs = TFS_I(inode);
	const struct inode *lower = tfs->lower;
	const char *target = S_ISLNK(lower->i_mode) ? READ_ONCE(lower->i_link) : NULL;
	struct iot_rec_object r = {
		.object = tfs->object,
		.name = dentry ? tfs_name_id(session, dentry) : 0,
		.type = type_of(lower->i_mode),
		.mode = lower->i_mode,
		.uid = from_kuid_munged(&init_user_ns, tfs_lower_uid(inode)),
		.gid = from_kgid_munged(&init_user_ns, tfs_lower_gid(inode)),
		.nlink = lower->i_nlink,
		.generation = lower->i_generation,
		.ino = lower->i_ino,
		.dev = new_encode_dev(lower->i_sb->s_dev),
		.rdev = new_encode_dev(lower->i_rdev),
		.size_bytes = i_size_read(lower),
		.cached_pages = iot_cached_pages(session, lower),
	};

	if (IOT_ANNOUNCE(session, object, &r, target, target ? strlen(target) : 0))
		smp_store_release(&tfs->epoch, iot_session_epoch(session));
}

/*
 * Announces the directories above a name, from the root down, so that a reader always knows the path of the name.
 * Usually the path walk has announced all of them. The search for each directory starts at the name again, so that
 * it needs no stack.
 */
static void parents_announce(struct iot_session *session, const struct dentry *dentry)
{
	u64 epoch = iot_session_epoch(session);
	const struct tfs_inode *dir, *top_dir;
	const struct dentry *top, *d;

	while (!IS_ROOT(dentry)) {
		top = NULL;
		top_dir = NULL;
		for (d = READ_ONCE(dentry->d_parent);; d = READ_ONCE(d->d_parent)) {
			dir = directory_of(d);
			if (!dir)
				return;
			if (READ_ONCE(dir->epoch) == epoch)
				break;
			top = d;
			top_dir = dir;
			if (IS_ROOT(d))
				break;
		}
		if (!top)
			return;
		object_announce(session, &top_dir->vfs_inode, top);
		if (READ_ONCE(top_dir->epoch) != epoch)
			return; /* lost: the next use tries again */
	}
}

/**
 * tfs_name_id() - id of a name
 * @session: entered
 * @dentry: upper dentry
 *
 * Return: the id. The root of the mount has one, too: the empty component in no directory.
 */
u64 tfs_name_id(struct iot_session *session, const struct dentry *dentry)
{
	const struct tfs_dentry *tfs = TFS_D(dentry);

	if (likely(name_is_known(tfs, dentry, iot_session_epoch(session))))
		return READ_ONCE(tfs->name);
	parents_announce(session, dentry);
	return name_announce(session, dentry);
}

/**
 * tfs_object_id() - id of an object
 * @session: entered
 * @inode: upper inode, NULL if there is no object
 * @dentry: a name of it, NULL if it has none; only used to announce it
 */
u64 tfs_object_id(struct iot_session *session, const struct inode *inode,
		  const struct dentry *dentry)
{
	if (!inode)
		return 0;
	if (unlikely(READ_ONCE(TFS_I(inode)->epoch) != iot_session_epoch(session))) {
		if (dentry)
			parents_announce(session, dentry);
		object_announce(session, inode, dentry);
	}
	return TFS_I(inode)->object;
}

/**
 * tfs_announce_mount() - announce the mount when a session begins to record it
 * @source: that of the mount
 */
void tfs_announce_mount(struct iot_source *source)
{
	struct tfs_sb *tsb = container_of(source, struct tfs_sb, source);
	struct iot_session *session = iot_source_enter(source);
	struct dentry *root = source->sb->s_root;
	struct iot_rec_mount r;

	if (!session)
		return;
	r.object = tfs_object_id(session, d_inode(root), root);
	r.dev = new_encode_dev(tsb->lower.mnt->mnt_sb->s_dev);
	r.magic = tsb->lower.mnt->mnt_sb->s_magic;
	IOT_EMIT_EVENT(session, mount, &r, source->path,
		       source->path ? strnlen(source->path, IOT_TAIL_MAX_BYTES) : 0);
	iot_session_leave();
}
