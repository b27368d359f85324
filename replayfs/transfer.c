// SPDX-License-Identifier: GPL-2.0-only
/*
 * transfer.c - arguments of reads and writes: the parts that are not inline in transfer.h.
 */
#include <linux/magic.h>

#include "core/flags.h"
#include "transfer.h"

/**
 * rfs_iocb_flags() - flags of a control block
 * @our: flags of an operation, IOT_RW_*
 *
 * Return: flags among RFS_IOCB_FLAGS.
 */
int rfs_iocb_flags(u32 our)
{
	return (our & IOT_RW_append ? IOCB_APPEND : 0) | (our & IOT_RW_direct ? IOCB_DIRECT : 0) |
	       (our & IOT_RW_dsync ? IOCB_DSYNC : 0) |
	       (our & IOT_RW_sync ? IOCB_DSYNC | IOCB_SYNC : 0) |
	       (our & IOT_RW_nowait ? IOCB_NOWAIT : 0) | (our & IOT_RW_hipri ? IOCB_HIPRI : 0);
}

/**
 * rfs_iocb_refusal() - the part of rfs_iocb_check() that is not inline
 * @kiocb: with IOCB_DIRECT or IOCB_NOWAIT
 *
 * Return: 0; -EINVAL or -EOPNOTSUPP if the file does not support that.
 */
int rfs_iocb_refusal(const struct kiocb *kiocb)
{
	const struct file *file = kiocb->ki_filp;

	if ((kiocb->ki_flags & IOCB_DIRECT) && !(file->f_mode & FMODE_CAN_ODIRECT))
		return -EINVAL;
	if ((kiocb->ki_flags & IOCB_NOWAIT) && !(file->f_mode & FMODE_NOWAIT))
		return -EOPNOTSUPP;
	return 0;
}

/**
 * rfs_may_discard() - do reads of a file that do not bypass the page cache work without memory?
 * @file: open in the target
 *
 * Only file systems that read through the page cache are known to. FUSE may bypass it, if its server says so for a
 * file, and then retries for ever without memory.
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

/* The same memory as often as it takes. */
static void fill_iter(struct rfs_worker *worker, struct iov_iter *iter, unsigned int direction, void __user *memory,
		      size_t memory_bytes, size_t length_bytes)
{
	struct iovec *vectors = worker->task->memory->vectors;
	size_t left = length_bytes;
	unsigned long count = 0;

	if (length_bytes <= memory_bytes) {
		iov_iter_ubuf(iter, direction, memory, length_bytes);
		return;
	}
	do {
		vectors[count].iov_base = memory;
		vectors[count].iov_len = min(left, memory_bytes);
		left -= vectors[count++].iov_len;
	} while (left);
	iov_iter_init(iter, direction, vectors, count, length_bytes);
}

/**
 * rfs_iter_memory() - the part of rfs_iter_init() that is not inline: a transfer with memory
 * @worker: its memory is used, several times for a long transfer
 * @iter: filled in; refers to a table of the worker
 * @is_write: the memory is the source of the data
 * @length_bytes: as verified
 */
void rfs_iter_memory(struct rfs_worker *worker, struct iov_iter *iter, bool is_write,
		     size_t length_bytes)
{
	fill_iter(worker, iter, is_write ? ITER_SOURCE : ITER_DEST, is_write ? worker->source : worker->sink,
		  IOT_WORKER_BUFFER_BYTES, length_bytes);
}

/**
 * rfs_iter_own() - memory for a read that has a mapping of its own, see fresh.c
 * @worker: of the read
 * @iter: filled in; refers to a table of the worker
 * @length_bytes: as verified
 */
void rfs_iter_own(struct rfs_worker *worker, struct iov_iter *iter, size_t length_bytes)
{
	const struct rfs_memory *memory = worker->task->memory;

	fill_iter(worker, iter, ITER_DEST, (void __user *)memory->own, memory->own_bytes, length_bytes);
}

/**
 * rfs_iter_room() - memory for a direct read that shares it with no other read
 * @room: of reads of which one is under way at a time
 * @iter: filled in
 * @length_bytes: as verified
 *
 * Return: as rfs_room_grow().
 */
int rfs_iter_room(struct rfs_room *room, struct iov_iter *iter, size_t length_bytes)
{
	int err = rfs_room_grow(room, length_bytes);

	if (!err)
		iov_iter_ubuf(iter, ITER_DEST, (void __user *)room->address, length_bytes);
	return err;
}
