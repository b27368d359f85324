// SPDX-License-Identifier: GPL-2.0-only
/*
 * mapped.c - mapped files: msync(2) and madvise(2) of the mappings of a handle.
 *
 * Mappings of a handle refer to its lower file (mmap.c), as reads and writes do. So the two share one file, as without
 * tapefs, and no file is opened while the lock of the address space is held. The kernel calls msync and madvise through
 * operations of that file. The first mapping of a handle replaces the operations of its lower file by a copy
 * that records these calls and passes them on.
 *
 * The lower file system itself calls the same operations, for example at the end of a write with O_SYNC. Therefore calls
 * through the handle are noted (tfs_call_begin()). An operation that the same task calls meanwhile is no msync or
 * madvise, nor is one that a kernel thread calls to complete a request.
 */
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "emit.h"
#include "lower.h"
#include "tapefs.h"

/**
 * struct tfs_mapped - the operations of a lower file that mappings refer to
 * @ops: the wrapped operations, which the file points to
 * @lower_ops: those of the lower file system
 * @path: the upper name, with references: it keeps the mount. msync(2) may be in progress after the
 *	last mapping and the upper file are gone
 * @tfs: of the upper file; freed with this
 */
struct tfs_mapped {
	struct file_operations ops;
	const struct file_operations *lower_ops;
	struct path path;
	struct tfs_file *tfs;
};

static int mapped_release(struct inode *inode, struct file *lower);

static struct tfs_mapped *mapped_of(const struct file *lower)
{
	return container_of(READ_ONCE(lower->f_op), struct tfs_mapped, ops);
}

/* The operations of the lower file system, whether or not the file has been mapped. */
static const struct file_operations *lower_ops_of(const struct file *lower)
{
	const struct file_operations *ops = READ_ONCE(lower->f_op);

	return ops->release == mapped_release ? container_of(ops, struct tfs_mapped, ops)->lower_ops : ops;
}

/**
 * tfs_call_begin() - current calls the lower file system by a handle
 * @file: upper file
 * @call: on the stack of the caller, filled in; until tfs_call_end()
 *
 * For calls that may lead to operations of the lower file that mappings use, too.
 */
void tfs_call_begin(struct file *file, struct tfs_call *call)
{
	struct tfs_file *tfs = TFS_F(file);

	call->task = current;
	spin_lock(&tfs->lock);
	list_add(&call->list, &tfs->calls);
	spin_unlock(&tfs->lock);
}

/**
 * tfs_call_end() - the call has returned
 * @file: upper file
 * @call: as filled in by tfs_call_begin()
 */
void tfs_call_end(struct file *file, struct tfs_call *call)
{
	struct tfs_file *tfs = TFS_F(file);

	spin_lock(&tfs->lock);
	list_del(&call->list);
	spin_unlock(&tfs->lock);
}

static bool is_by_handle(const struct tfs_mapped *our)
{
	struct tfs_file *tfs = our->tfs;
	const struct tfs_call *call;
	bool is_found = false;

	if (current->flags & PF_KTHREAD)
		return true;
	spin_lock(&tfs->lock);
	list_for_each_entry(call, &tfs->calls, list)
		is_found |= call->task == current;
	spin_unlock(&tfs->lock);
	return is_found;
}

static int mapped_fsync(struct file *lower, loff_t start, loff_t end, int datasync)
{
	const struct tfs_mapped *our = mapped_of(lower);
	struct iot_span span;
	int err;

	if (is_by_handle(our))
		return our->lower_ops->fsync(lower, start, end, datasync);
	tfs_gate_open(our->path.dentry->d_sb, IOT_KIND_msync, &span);
	err = our->lower_ops->fsync(lower, start, end, datasync);
	tfs_emit_msync(&span, our->path.dentry, our->tfs->handle, start, end, datasync, err);
	return err;
}

static int do_fadvise(const struct tfs_mapped *our, struct file *lower, loff_t offset, loff_t length, int advice)
{
	if (our->lower_ops->fadvise)
		return our->lower_ops->fadvise(lower, offset, length, advice);
	return generic_fadvise(lower, offset, length, advice);
}

static int mapped_fadvise(struct file *lower, loff_t offset, loff_t length, int advice)
{
	const struct tfs_mapped *our = mapped_of(lower);
	struct iot_span span;
	int err;

	if (is_by_handle(our))
		return do_fadvise(our, lower, offset, length, advice);
	tfs_gate_open(our->path.dentry->d_sb, IOT_KIND_madvise, &span);
	err = do_fadvise(our, lower, offset, length, advice);
	tfs_emit_madvise(&span, our->path.dentry, our->tfs->handle, offset, length, advice, err);
	return err;
}

/* madvise(MADV_REMOVE) makes a hole in the file. */
static long mapped_fallocate(struct file *lower, int mode, loff_t offset, loff_t length)
{
	const struct tfs_mapped *our = mapped_of(lower);
	u64 old_size_bytes = i_size_read(file_inode(lower));
	struct iot_span span;
	long err;

	if (is_by_handle(our))
		return our->lower_ops->fallocate(lower, mode, offset, length);
	tfs_gate_open(our->path.dentry->d_sb, IOT_KIND_fallocate, &span);
	err = our->lower_ops->fallocate(lower, mode, offset, length);
	tfs_emit_punch(&span, our->path.dentry, our->tfs->handle, offset, length, old_size_bytes, err);
	return err;
}

/**
 * tfs_lower_unmapped_area() - the lower file system chooses where a mapping goes
 * @lower: lower file, mapped or not; it has the operation get_unmapped_area
 * @address: as for mmap(2), like the others
 * @length_bytes: of the mapping
 * @page: of the file
 * @flags: MAP_*
 *
 * tmpfs insists on a file with its own operations (CONFIG_DEBUG_VM), so it gets a copy that has all the members that
 * matter here.
 *
 * Return: an address, or a negative errno.
 */
unsigned long tfs_lower_unmapped_area(struct file *lower, unsigned long address, unsigned long length_bytes,
				      unsigned long page, unsigned long flags)
{
	const struct file_operations *ops = lower_ops_of(lower);
	struct file plain = {
		.f_op = ops,
		.f_path = lower->f_path,
		.f_inode = lower->f_inode,
		.f_mapping = lower->f_mapping,
		.f_mode = lower->f_mode,
		.f_flags = lower->f_flags,
		.private_data = lower->private_data,
	};

	return ops->get_unmapped_area(&plain, address, length_bytes, page, flags);
}

static int mapped_release(struct inode *inode, struct file *lower)
{
	struct tfs_mapped *our = mapped_of(lower);
	struct path path = our->path;
	int err = 0;

	lower->f_op = our->lower_ops; /* the VFS releases their module next */
	if (our->lower_ops->release)
		err = our->lower_ops->release(inode, lower);
	kfree(our->tfs);
	kfree(our);
	path_put(&path);
	return err;
}

static struct tfs_mapped *mapped_new(struct file *upper)
{
	const struct file_operations *lower_ops = tfs_lower_file(upper)->f_op;
	struct tfs_mapped *our = kzalloc(sizeof(*our), GFP_KERNEL);

	if (!our)
		return NULL;
	our->lower_ops = lower_ops;
	our->ops = *lower_ops;
	our->ops.release = mapped_release;
	our->ops.fadvise = mapped_fadvise;
	if (our->ops.fallocate)
		our->ops.fallocate = mapped_fallocate;
	if (our->ops.fsync)
		our->ops.fsync = mapped_fsync;
	if (our->ops.get_unmapped_area)
		our->ops.get_unmapped_area = tfs_lower_unmapped_area;
	our->path = (struct path){ .mnt = upper->f_path.mnt, .dentry = file_dentry(upper) };
	our->tfs = TFS_F(upper);
	return our;
}

/**
 * tfs_mapped_of() - the lower file that mappings of a handle refer to
 * @upper: the handle, which keeps it
 *
 * Context: the lock of the address space is held, so this must not call the lower file system. Other tasks may be using
 * the file by its former operations; both tables live as long as the file.
 *
 * Return: without a reference; or an ERR_PTR, -ENOMEM.
 */
struct file *tfs_mapped_of(struct file *upper)
{
	struct tfs_file *tfs = TFS_F(upper);
	struct tfs_mapped *our;

	if (READ_ONCE(tfs->mapped))
		return tfs->lower;
	our = mapped_new(upper);
	if (!our)
		return ERR_PTR(-ENOMEM);
	spin_lock(&tfs->lock);
	if (!tfs->mapped) { /* else another process has been faster */
		path_get(&our->path);
		smp_store_release(&tfs->lower->f_op, &our->ops);
		WRITE_ONCE(tfs->mapped, our);
		our = NULL;
	}
	spin_unlock(&tfs->lock);
	kfree(our);
	return tfs->lower;
}
