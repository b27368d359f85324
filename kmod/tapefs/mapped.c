// SPDX-License-Identifier: GPL-2.0-only
/*
 * mapped.c - mapped files: the lower file that mappings of a handle refer to, msync, madvise.
 *
 * What the kernel asks of a mapped file, it asks of the file of the mapping, which is a lower one (mmap.c). So
 * that we see it, mappings have a lower file of their own for each handle; its f_op is a copy in struct
 * mapped_ops. It holds the mount, not the upper file, which holds it.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/slab.h>

#include "emit.h"
#include "lower.h"
#include "tapefs.h"

/**
 * struct mapped_ops - the operations of a lower file that only mappings refer to
 * @ops: the wrapped operations, which the file points to
 * @lower_ops: those of the lower file system
 * @lower: another lower file, which has those; each mapping keeps it, by the upper file
 * @path: the upper name, with references: it keeps the mount
 * @handle: id of the upper file
 */
struct mapped_ops {
	struct file_operations ops;
	const struct file_operations *lower_ops;
	struct file *lower;
	struct path path;
	u64 handle;
};

static struct mapped_ops *mapped_ops_of(const struct file *mapped)
{
	return container_of(mapped->f_op, struct mapped_ops, ops);
}

static int mapped_fsync(struct file *mapped, loff_t start, loff_t end, int datasync)
{
	const struct mapped_ops *our = mapped_ops_of(mapped);
	struct iot_span span;
	int err;

	tfs_begin(our->path.dentry->d_sb, &span);
	err = our->lower_ops->fsync(mapped, start, end, datasync);
	tfs_emit_msync(&span, our->path.dentry, our->handle, start, end, datasync, err);
	return err;
}

static int mapped_fadvise(struct file *mapped, loff_t offset, loff_t length, int advice)
{
	const struct mapped_ops *our = mapped_ops_of(mapped);
	struct iot_span span;
	int err;

	tfs_begin(our->path.dentry->d_sb, &span);
	if (our->lower_ops->fadvise)
		err = our->lower_ops->fadvise(mapped, offset, length, advice);
	else
		err = generic_fadvise(mapped, offset, length, advice);
	tfs_emit_madvise(&span, our->path.dentry, our->handle, offset, length, advice, err);
	return err;
}

/* madvise(MADV_REMOVE), nobody else: a hole in the file. */
static long mapped_fallocate(struct file *mapped, int mode, loff_t offset, loff_t length)
{
	const struct mapped_ops *our = mapped_ops_of(mapped);
	u64 old_size_bytes = i_size_read(file_inode(mapped));
	struct iot_span span;
	long err;

	tfs_begin(our->path.dentry->d_sb, &span);
	err = our->lower_ops->fallocate(mapped, mode, offset, length);
	tfs_emit_punch(&span, our->path.dentry, our->handle, offset, length, old_size_bytes, err);
	return err;
}

/* mremap(2), which has a mapping. tmpfs insists on a file with operations of its own (CONFIG_DEBUG_VM). */
static unsigned long mapped_get_unmapped_area(struct file *mapped, unsigned long address,
					      unsigned long length_bytes, unsigned long page,
					      unsigned long flags)
{
	const struct mapped_ops *our = mapped_ops_of(mapped);

	return our->lower_ops->get_unmapped_area(our->lower, address, length_bytes, page, flags);
}

static int mapped_release(struct inode *inode, struct file *mapped)
{
	struct mapped_ops *our = mapped_ops_of(mapped);
	int err = 0;

	mapped->f_op = our->lower_ops; /* whose module the VFS is about to let go */
	if (our->lower_ops->release)
		err = our->lower_ops->release(inode, mapped);
	path_put(&our->path);
	kfree(our);
	return err;
}

/* Whoever maps a file need not be allowed to open it: a server that is asked is asked by whoever opened it. */
static struct file *open_as_opener(const struct file *upper, int flags)
{
	const struct cred *own = override_creds(upper->f_cred);
	struct file *mapped = tfs_do_open(upper, flags);

	revert_creds(own);
	return mapped;
}

static struct file *mapped_open(struct file *upper)
{
	/* A client of NFS asks whether a program may be executed, if it is opened for that, not whether it may be read. */
	const int kept = O_ACCMODE | O_LARGEFILE | O_NOATIME | __FMODE_EXEC;
	struct mapped_ops *our = kzalloc(sizeof(*our), GFP_KERNEL);
	struct file *mapped;

	if (!our)
		return ERR_PTR(-ENOMEM);
	/* Without mappings of ours nobody is told of an open, or asked: the lock of the address space is held. */
	mapped = open_as_opener(upper, (upper->f_flags & kept) | IOT_O_NONOTIFY);
	if (IS_ERR(mapped)) {
		kfree(our);
		return mapped;
	}
	mapped->f_wb_err = READ_ONCE(tfs_lower_file(upper)->f_wb_err); /* msync(2) tells of as much */
	our->lower_ops = mapped->f_op;
	our->lower = tfs_lower_file(upper);
	our->ops = *mapped->f_op;
	our->ops.release = mapped_release;
	our->ops.fadvise = mapped_fadvise;
	if (our->ops.fallocate)
		our->ops.fallocate = mapped_fallocate;
	if (our->ops.fsync)
		our->ops.fsync = mapped_fsync;
	if (our->ops.get_unmapped_area)
		our->ops.get_unmapped_area = mapped_get_unmapped_area;
	our->path = (struct path){ .mnt = upper->f_path.mnt, .dentry = file_dentry(upper) };
	path_get(&our->path);
	our->handle = TFS_F(upper)->handle;
	mapped->f_op = &our->ops;
	return mapped;
}

/**
 * tfs_mapped_of() - the lower file that mappings of a handle refer to
 * @upper: the handle, which keeps it
 *
 * It is opened for the first of them.
 *
 * Context: may sleep; takes the lock of the handle. Return: without a reference; or an ERR_PTR, -ENOMEM or what
 * opening the lower file returns.
 */
struct file *tfs_mapped_of(struct file *upper)
{
	struct tfs_file *tfs = TFS_F(upper);
	struct file *mapped;

	mutex_lock(&tfs->lock);
	mapped = tfs->mapped;
	if (!mapped) {
		mapped = mapped_open(upper);
		if (!IS_ERR(mapped))
			tfs->mapped = mapped;
	}
	mutex_unlock(&tfs->lock);
	return mapped;
}
