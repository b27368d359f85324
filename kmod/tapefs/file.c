// SPDX-License-Identifier: GPL-2.0-only
/*
 * file.c - handles: open, close, and all operations on open files except reads, writes and
 * mappings.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <asm/syscall.h>
#include <asm/unistd.h>

#include "emit.h"
#include "errand.h"
#include "exec.h"
#include "lease.h"
#include "lower.h"
#include "tapefs.h"

static atomic64_t last_handle = ATOMIC64_INIT(0);

/*
 * An upper file has the page cache of the lower one, because sync_file_range(2) and others look for it there. Not
 * with tmpfs below: fcntl(2) and mmap(2) would take the upper inode for one of tmpfs, and look for seals in it.
 */
static bool is_cache_shared(const struct address_space *lower)
{
	return lower->host->i_sb->s_magic != TMPFS_MAGIC;
}

/**
 * tfs_open_lower() - make an upper file out of a lower one
 * @file: upper file that is being opened
 * @lower: lower file, whose reference is consumed; NULL: open one. A caller that must know that no lower file is
 *	left after a failure passes NULL, as a file that was put stays until its task returns to user mode
 *
 * Return: 0 or a negative errno.
 */
int tfs_open_lower(struct file *file, struct file *lower)
{
	const fmode_t kept = FMODE_LSEEK | FMODE_PREAD | FMODE_PWRITE;
	const fmode_t added = FMODE_NOWAIT | FMODE_CAN_ODIRECT | IOT_FMODE_ATOMIC_WRITE | IOT_FMODE_PARALLEL_WRITE;
	struct tfs_file *tfs = kzalloc(sizeof(*tfs), GFP_KERNEL);

	if (!tfs) {
		if (lower)
			fput(lower);
		return -ENOMEM;
	}
	if (!lower)
		lower = tfs_do_open(file, file->f_flags);
	if (IS_ERR(lower)) {
		kfree(tfs);
		return PTR_ERR(lower);
	}
	tfs->lower = lower;
	tfs->handle = atomic64_inc_return(&last_handle);
	spin_lock_init(&tfs->lock);
	INIT_LIST_HEAD(&tfs->calls);
	INIT_LIST_HEAD(&tfs->maps);
	file->private_data = tfs;
	/* This file has the capabilities of the lower one. */
	file->f_mode &= lower->f_mode | ~kept;
	file->f_mode |= lower->f_mode & added;
	if (is_cache_shared(lower->f_mapping)) {
		file->f_mapping = lower->f_mapping;
		file->f_wb_err = lower->f_wb_err;
	}
	file->f_sb_err = lower->f_sb_err;
	tfs_copy_size(file_inode(file));
	return 0;
}

#define SWAPON_32 87 /* for programs of 32 bits; x32 has the other number, with a bit set */
#ifdef __X32_SYSCALL_BIT
#define X32_BIT __X32_SYSCALL_BIT
#else
#define X32_BIT 0
#endif

/*
 * swapon(2) passes the file that it opens to the operations of the page cache that it finds there, and the lower
 * file system would take the upper inode for one of its own. So the file gets no page cache: no later operation
 * could refuse it.
 */
static bool is_for_swap(void)
{
	int number = syscall_get_nr(current, current_pt_regs());

	if (current->flags & PF_KTHREAD)
		return false;
	if (number & X32_BIT)
		return (number & ~X32_BIT) == __NR_swapon;
	return number == (in_compat_syscall() ? SWAPON_32 : __NR_swapon);
}

static int open_for_exec(struct file *file)
{
	int err = tfs_exec_open(file);

	if (err) {
		fput(tfs_lower_file(file));
		kfree(TFS_F(file));
		file->private_data = NULL;
	}
	return err;
}

int tfs_open(struct inode *inode, struct file *file)
{
	struct iot_span span;
	int err;

	tfs_gate_open(inode->i_sb, IOT_KIND_open, &span);
	if (unlikely(is_for_swap()))
		err = -EINVAL;
	else
		err = tfs_open_lower(file, NULL);
	if (!err && unlikely(file->f_flags & __FMODE_EXEC))
		err = open_for_exec(file);
	tfs_emit_open(&span, file_dentry(file), err ? NULL : file, file->f_flags, 0, err);
	return err;
}

/**
 * struct last_close - the close of a file without a name
 * @errand: of the task that closes it
 * @path: with a reference
 */
struct last_close {
	struct tfs_errand errand;
	struct path path;
};

static void last_close_end(struct tfs_errand *errand)
{
	struct last_close *last = container_of(errand, struct last_close, errand);

	path_put(&last->path);
	kfree(last);
}

/*
 * The space of a file that has no name any more is freed with the last reference to its lower inode: that of the lower file,
 * which is released after this one. With another reference until then, it is freed where its time is recorded, see
 * tfs_freed_begin(). The same task frees it, before the same system call ends.
 */
static noinline void free_later(const struct file *file)
{
	struct last_close *last = kmalloc(sizeof(*last), GFP_KERNEL);

	if (!last)
		return;
	last->errand.run = last_close_end;
	last->path = file->f_path;
	path_get(&last->path);
	if (!tfs_try_at_return(&last->errand))
		last_close_end(&last->errand);
}

static int release(struct inode *inode, struct file *file)
{
	struct tfs_file *tfs = TFS_F(file);
	struct file *lower = tfs->lower;
	struct iot_span span;

	tfs_gate_open(inode->i_sb, IOT_KIND_release, &span);
	tfs_exec_release(inode);
	if (unlikely(tfs->lease))
		tfs_lease_release(file);
	tfs_maps_forget(tfs);
	if (iot_span_is_recorded(&span) && !tfs_lower_inode(inode)->i_nlink)
		free_later(file);
	tfs_emit_release(&span, file);
	if (!tfs->mapped) /* else the release of the lower file frees it: msync(2) may be using that file */
		kfree(tfs);
	fput(lower);
	return 0;
}

static int flush(struct file *file, fl_owner_t owner)
{
	struct iot_span span;
	int err;

	tfs_gate_open(file_inode(file)->i_sb, IOT_KIND_flush, &span);
	err = tfs_do_flush(file, owner);
	tfs_emit_flush(&span, file, err);
	return err;
}

static loff_t llseek(struct file *file, loff_t offset, int whence)
{
	struct iot_span span;
	loff_t result;

	tfs_gate_open(file_inode(file)->i_sb, IOT_KIND_seek, &span);
	if (iot_span_is_recorded(&span))
		tfs_announce_handle(&span, file); /* with the position before the seek */
	result = tfs_do_llseek(file, offset, whence);
	tfs_emit_seek(&span, file, offset, whence, result);
	return result;
}

static int fsync(struct file *file, loff_t start, loff_t end, int datasync)
{
	struct iot_span span;
	int err;

	iot_backpressure_here(&TFS_SB(file_inode(file)->i_sb)->source);
	tfs_gate_open(file_inode(file)->i_sb, IOT_KIND_fsync, &span);
	err = tfs_do_fsync(file, start, end, datasync);
	tfs_emit_fsync(&span, file, start, end, datasync, err);
	return err;
}

static u64 lower_size(const struct file *file)
{
	return i_size_read(tfs_lower_inode(file_inode(file)));
}

static long fallocate(struct file *file, int mode, loff_t offset, loff_t length)
{
	struct inode *inode = file_inode(file);
	u64 old_size_bytes = lower_size(file);
	struct iot_span span;
	long err;

	tfs_gate_open(inode->i_sb, IOT_KIND_fallocate, &span);
	err = tfs_do_fallocate(file, mode, offset, length);
	if (!err)
		tfs_copy_size(inode);
	tfs_emit_fallocate(&span, file, mode, offset, length, old_size_bytes, err);
	return err;
}

static int fadvise(struct file *file, loff_t offset, loff_t length, int advice)
{
	struct iot_span span;
	int err;

	tfs_gate_open(file_inode(file)->i_sb, IOT_KIND_fadvise, &span);
	err = tfs_do_fadvise(file, offset, length, advice);
	tfs_emit_fadvise(&span, file, offset, length, advice, err);
	return err;
}

static ssize_t splice_read(struct file *file, loff_t *offset, struct pipe_inode_info *pipe,
			   size_t length, unsigned int flags)
{
	loff_t start = *offset;
	struct iot_span span;
	ssize_t result;

	tfs_gate_open(file_inode(file)->i_sb, IOT_KIND_read, &span);
	result = tfs_do_splice_read(file, offset, pipe, length, flags);
	tfs_emit_read(&span, file, start, length, IOT_RW_splice, 0, result);
	return result;
}

static ssize_t copy_file_range(struct file *in, loff_t offset_in, struct file *out,
			       loff_t offset_out, size_t length, unsigned int flags)
{
	struct inode *inode = file_inode(out);
	u64 old_size_bytes = lower_size(out);
	struct iot_span span;
	ssize_t result;

	tfs_gate_open(inode->i_sb, IOT_KIND_copy_range, &span);
	result = tfs_do_copy_range(in, offset_in, out, offset_out, length, flags);
	if (result > 0)
		tfs_copy_size(inode);
	tfs_emit_copy_range(&span, in, offset_in, out, offset_out, length, old_size_bytes, result);
	return result;
}

static loff_t remap_file_range(struct file *in, loff_t offset_in, struct file *out,
			       loff_t offset_out, loff_t length, unsigned int flags)
{
	struct inode *inode = file_inode(out);
	u64 old_size_bytes = lower_size(out);
	struct iot_span span;
	loff_t result;

	if (flags & ~(REMAP_FILE_DEDUP | REMAP_FILE_ADVISORY))
		return -EINVAL;
	tfs_gate_open(inode->i_sb, IOT_KIND_remap_range, &span);
	result = tfs_do_remap_range(in, offset_in, out, offset_out, length, flags);
	if (result > 0)
		tfs_copy_size(inode);
	tfs_emit_remap_range(&span, in, offset_in, out, offset_out, length, flags, old_size_bytes,
			     result);
	return result;
}

static long unlocked_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct iot_span span;
	long result;

	tfs_gate_open(file_inode(file)->i_sb, IOT_KIND_ioctl, &span);
	result = tfs_do_ioctl(file, command, argument);
	tfs_copy_attr(file_inode(file));
	tfs_emit_ioctl(&span, file, command, result);
	return result;
}

static long compat_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct iot_span span;
	long result;

	tfs_gate_open(file_inode(file)->i_sb, IOT_KIND_ioctl, &span);
	result = tfs_do_compat_ioctl(file, command, argument);
	tfs_copy_attr(file_inode(file));
	tfs_emit_ioctl(&span, file, command, result);
	return result;
}

#define FILE_FOPS                           \
	.owner = THIS_MODULE,               \
	.open = tfs_open,                   \
	.release = release,                 \
	.flush = flush,                     \
	.lock = tfs_lock,                   \
	.flock = tfs_flock,                 \
	.setlease = tfs_setlease,           \
	.llseek = llseek,                   \
	.read_iter = tfs_read_iter,         \
	.write_iter = tfs_write_iter,       \
	.splice_read = splice_read,         \
	.splice_write = tfs_splice_write,   \
	.fsync = fsync,                     \
	.fallocate = fallocate,             \
	.fadvise = fadvise,                 \
	.copy_file_range = copy_file_range, \
	.unlocked_ioctl = unlocked_ioctl,   \
	.compat_ioctl = compat_ioctl,       \
	.mmap = tfs_mmap,                   \
	.get_unmapped_area = tfs_get_unmapped_area

#define FILE_FOPS_OF(can)                                                                        \
	[can] = { FILE_FOPS, IOT_FOP_FLAGS((can) & TFS_FOPS_SYNC, (can) & TFS_FOPS_PARALLEL),   \
		  .remap_file_range = (can) & TFS_FOPS_REMAP ? remap_file_range : NULL }

const struct file_operations tfs_file_fops[] = {
	FILE_FOPS_OF(0),
	FILE_FOPS_OF(1),
	FILE_FOPS_OF(2),
	FILE_FOPS_OF(3),
	FILE_FOPS_OF(4),
	FILE_FOPS_OF(5),
	FILE_FOPS_OF(6),
	FILE_FOPS_OF(7),
};

/**
 * tfs_is_file() - is this a file of a tapefs mount, and no directory?
 * @file: any file of the kernel
 */
bool tfs_is_file(const struct file *file)
{
	return file->f_op >= tfs_file_fops && file->f_op < tfs_file_fops + ARRAY_SIZE(tfs_file_fops);
}

const struct file_operations tfs_dir_fops = {
	.owner = THIS_MODULE,
	.open = tfs_open,
	.release = release,
	.flush = flush,
	.lock = tfs_lock,
	.flock = tfs_flock,
	.setlease = simple_nosetlease,
	.llseek = llseek,
	.read = generic_read_dir,
	.iterate_shared = tfs_iterate_shared,
	.fsync = fsync,
	.unlocked_ioctl = unlocked_ioctl,
	.compat_ioctl = compat_ioctl,
};
