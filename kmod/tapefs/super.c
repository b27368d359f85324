// SPDX-License-Identifier: GPL-2.0-only
/*
 * super.c - the super block: from a lower directory to a mount.
 */
#include <linux/fs_context.h>
#include <linux/magic.h>
#include <linux/namei.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "emit.h"
#include "lower.h"
#include "tapefs.h"
#include "compat/vfs.h"

static struct kmem_cache *inode_cache;

static void inode_construct(void *memory)
{
	struct tfs_inode *inode = memory;

	inode_init_once(&inode->vfs_inode);
}

static struct inode *make_inode(struct super_block *sb)
{
	struct tfs_inode *inode = alloc_inode_sb(sb, inode_cache, GFP_KERNEL);

	if (!inode)
		return NULL;
	inode->lower = NULL;
	inode->object = 0;
	inode->epoch = 0;
	inode->retouched = 0;
	inode->execs = 0;
	INIT_LIST_HEAD(&inode->denied);
	inode->remover = NULL;
	return &inode->vfs_inode;
}

static void free_inode(struct inode *inode)
{
	kmem_cache_free(inode_cache, TFS_I(inode));
}

static void evict_inode(struct inode *inode)
{
	struct inode *lower = tfs_lower_inode(inode);
	u64 begin_ns;

	WARN_ON_ONCE(!list_empty(&TFS_I(inode)->denied));
	truncate_inode_pages_final(&inode->i_data); /* there are none */
	clear_inode(inode);
	begin_ns = tfs_freed_begin(lower);
	iput(lower);
	tfs_freed_end(inode->i_sb, begin_ns);
}

static int statfs(struct dentry *dentry, struct kstatfs *stat)
{
	struct iot_span span;
	int err;

	tfs_gate_open(dentry->d_sb, IOT_KIND_statfs, &span);
	err = tfs_do_statfs(dentry, stat);
	tfs_emit_statfs(&span, dentry, err);
	return err;
}

/* tapefs itself has no data to write back. */
static int sync_fs(struct super_block *sb, int wait)
{
	return wait ? tfs_do_sync_fs(sb) : 0;
}

IOT_FREEZE(tfs_do_freeze)
IOT_FREEZE(tfs_do_thaw)

static int show_options(struct seq_file *out, struct dentry *root)
{
	tfs_options_show(out, &TFS_SB(root->d_sb)->options);
	return 0;
}

const struct super_operations tfs_super_operations = {
	.alloc_inode = make_inode,
	.free_inode = free_inode,
	.evict_inode = evict_inode,
	.drop_inode = inode_just_drop, /* without a name it would only keep the lower inode */
	.statfs = statfs,
	.sync_fs = sync_fs,
	.freeze_super = IOT_FREEZE_OP(tfs_do_freeze),
	.thaw_super = IOT_FREEZE_OP(tfs_do_thaw),
	.show_options = show_options,
};

/* Unsupported lower file systems: each with the sentence that mount(8) shows. */
static int check_lower(struct fs_context *fc, const struct path *lower)
{
	const struct super_block *sb = lower->dentry->d_sb;

	if (sb->s_op == &tfs_super_operations)
		return invalfc(fc, "%s is tapefs itself", fc->source);
	if (sb->s_magic == HUGETLBFS_MAGIC || sb->s_magic == PROC_SUPER_MAGIC ||
	    sb->s_magic == SYSFS_MAGIC)
		return invalfc(fc, "%s is on %s, whose files are not storage", fc->source,
			       sb->s_type->name);
	if (sb->s_stack_depth >= FILESYSTEM_MAX_STACK_DEPTH)
		return invalfc(fc, "%s is on file systems stacked as deep as the kernel allows",
			       fc->source);
	if (IS_CASEFOLDED(d_inode(lower->dentry)) ||
	    (lower->dentry->d_flags & (DCACHE_OP_HASH | DCACHE_OP_COMPARE)))
		return invalfc(fc, "%s takes different names for the same", fc->source);
	return 0;
}

/* Copy what the VFS reads from the super block without calling the file system. */
static void inherit(struct super_block *sb, const struct path *lower_path)
{
	const struct super_block *lower = lower_path->dentry->d_sb;

	sb->s_flags |= lower->s_flags & (SB_POSIXACL | SB_SYNCHRONOUS | SB_DIRSYNC | SB_MANDLOCK);
	if (__mnt_is_readonly(lower_path->mnt))
		sb->s_flags |= SB_RDONLY;
	sb->s_iflags |= lower->s_iflags &
			(IOT_SB_I_NOUMASK | SB_I_UNTRUSTED_MOUNTER | SB_I_IMA_UNVERIFIABLE_SIGNATURE);
	tfs_mount_inherit(sb);
	sb->s_iflags |= SB_I_SKIP_SYNC; /* of sync(2), which reports no errors */
	iot_copy_uuid(sb, lower);
	sb->s_maxbytes = lower->s_maxbytes;
	sb->s_blocksize = lower->s_blocksize;
	sb->s_blocksize_bits = lower->s_blocksize_bits;
	sb->s_time_gran = lower->s_time_gran;
	sb->s_time_min = lower->s_time_min;
	sb->s_time_max = lower->s_time_max;
	sb->s_max_links = lower->s_max_links;
	sb->s_stack_depth = lower->s_stack_depth + 1;
}

static int make_root(struct super_block *sb, struct dentry *lower)
{
	struct inode *inode = tfs_inode_get(sb, d_inode(lower));

	if (IS_ERR(inode))
		return PTR_ERR(inode);
	sb->s_root = d_make_root(inode);
	if (!sb->s_root)
		return -ENOMEM;
	return tfs_dentry_init(sb->s_root, dget(lower));
}

/**
 * tfs_fill_super() - make a mount
 * @sb: empty
 * @fc: with source and options
 *
 * Return: 0 or a negative errno, with a sentence in @fc.
 */
int tfs_fill_super(struct super_block *sb, struct fs_context *fc)
{
	const struct tfs_options *options = fc->fs_private;
	struct tfs_sb *tsb = kzalloc(sizeof(*tsb), GFP_KERNEL);
	int err;

	if (!tsb)
		return -ENOMEM;
	sb->s_fs_info = tsb; /* from now on kill_sb frees it, with its contents */
	tsb->options = *options;
	err = kern_path(fc->source, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &tsb->lower);
	if (err)
		return errorf(fc, "tapefs: %s cannot be opened", fc->source), err;
	err = check_lower(fc, &tsb->lower);
	if (err)
		return err;

	tsb->read_only = tfs_mount_read_only(&tsb->lower);
	inherit(sb, &tsb->lower);
	sb->s_magic = TFS_MAGIC;
	sb->s_op = &tfs_super_operations;
	sb->s_xattr = tfs_xattr_handlers;
	tfs_quota_inherit(sb);
	iot_set_d_op(sb, &tfs_dentry_operations);
	err = make_root(sb, tsb->lower.dentry);
	if (!err)
		err = tfs_watch_start(sb);
	if (err) {
		pr_debug("mount of %s: no root or no watch of removed names (%d)\n", fc->source, err);
		return err;
	}
	tsb->source.sb = sb;
	tsb->source.ops = &tfs_source_ops;
	iot_source_add(&tsb->source);
	return 0;
}

/**
 * tfs_super_init() - make the cache of inodes
 *
 * Return: 0 or -ENOMEM.
 */
int tfs_super_init(void)
{
	inode_cache = kmem_cache_create("tapefs_inode", sizeof(struct tfs_inode), 0,
					SLAB_RECLAIM_ACCOUNT | SLAB_ACCOUNT, inode_construct);
	return inode_cache ? 0 : -ENOMEM;
}

/**
 * tfs_super_exit() - free the cache of inodes; no mount exists
 */
void tfs_super_exit(void)
{
	rcu_barrier(); /* inodes are freed by RCU */
	kmem_cache_destroy(inode_cache);
}
