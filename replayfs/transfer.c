// SPDX-License-Identifier: GPL-2.0-only
/*
 * transfer.c - arguments of reads and writes: the parts that are not inline in transfer.h.
 */
#include <linux/magic.h>

#include "core/flags.h"
#include "transfer.h"

/* @our: flags of an operation, IOT_RW_*. Return: of RFS_IOCB_FLAGS. */
int rfs_iocb_flags(u32 our)
{
	return (our & IOT_RW_append ? IOCB_APPEND : 0) | (our & IOT_RW_direct ? IOCB_DIRECT : 0) |
	       (our & IOT_RW_dsync ? IOCB_DSYNC : 0) |
	       (our & IOT_RW_sync ? IOCB_DSYNC | IOCB_SYNC : 0) |
	       (our & IOT_RW_nowait ? IOCB_NOWAIT : 0) | (our & IOT_RW_hipri ? IOCB_HIPRI : 0);
}

/* The slow path of rfs_iocb_check(), if there may be a reason to refuse. */
int rfs_iocb_refusal(const struct kiocb *kiocb)
{
	const struct file *file = kiocb->ki_filp;

	if ((kiocb->ki_flags & IOCB_DIRECT) && !(file->f_mode & FMODE_CAN_ODIRECT))
		return -EINVAL;
	if ((kiocb->ki_flags & IOCB_NOWAIT) && !(file->f_mode & FMODE_NOWAIT))
		return -EOPNOTSUPP;
	return 0;
}

/*
 * Do reads of a file come out of the page cache unless they ask for another way? Those of others may
 * want memory all the same: FUSE does if its server says so for a file, and tries for ever.
 */
bool rfs_may_discard(const struct file *file)
{
	const struct super_block *sb = file_inode(file)->i_sb;

	switch (sb->s_magic) {
	case TMPFS_MAGIC:
	case NFS_SUPER_MAGIC:
		return true;
	case FUSE_SUPER_MAGIC: /* which may be on a device */
		return false;
	default:
		return sb->s_type->fs_flags & FS_REQUIRES_DEV;
	}
}

/* The slow path of rfs_iter_init(), for a transfer that gets memory. */
void rfs_iter_memory(struct rfs_worker *worker, struct iov_iter *iter, bool is_write,
		     size_t length_bytes)
{
	void __user *memory = is_write ? worker->source : worker->sink;
	struct iovec *vectors = worker->task->memory->vectors;
	size_t left = length_bytes;
	unsigned long count = 0;

	if (length_bytes <= IOT_WORKER_BUFFER_BYTES) {
		iov_iter_ubuf(iter, is_write ? ITER_SOURCE : ITER_DEST, memory, length_bytes);
		return;
	}
	do {
		vectors[count].iov_base = memory;
		vectors[count].iov_len = min_t(size_t, left, IOT_WORKER_BUFFER_BYTES);
		left -= vectors[count++].iov_len;
	} while (left);
	iov_iter_init(iter, is_write ? ITER_SOURCE : ITER_DEST, vectors, count, length_bytes);
}
