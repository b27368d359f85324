/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * transfer.h - arguments of reads and writes: the control block and the memory.
 */
#ifndef RFS_TRANSFER_H
#define RFS_TRANSFER_H

#include <linux/fs.h>
#include <linux/uio.h>

#include "replayfs.h"
#include "compat/iocb.h"

/* Flags of the operation, not of its handle. */
#define RFS_IOCB_FLAGS \
	(IOCB_APPEND | IOCB_DIRECT | IOCB_DSYNC | IOCB_SYNC | IOCB_NOWAIT | IOCB_HIPRI)

int rfs_iocb_flags(u32 our);
int rfs_iocb_refusal(const struct kiocb *kiocb);
void rfs_iter_memory(struct rfs_worker *worker, struct iov_iter *iter, bool is_write,
		     size_t length_bytes);
int rfs_iter_room(struct rfs_room *room, struct iov_iter *iter, size_t length_bytes);
void rfs_iter_own(struct rfs_worker *worker, struct iov_iter *iter, size_t length_bytes);

/**
 * rfs_iocb() - a synchronous control block for an operation
 * @worker: runs it
 * @op: the operation
 * @file: of the operation
 *
 * The flags are those of the operation, not of its handle: flags of the call (RWF_*) and fcntl(F_SETFL) change them
 * from one operation to the next.
 */
static inline struct kiocb rfs_iocb(const struct rfs_worker *worker,
				    const struct iot_program_op *op, struct file *file)
{
	int flags = op->flags ? rfs_iocb_flags(le32_to_cpu(op->flags)) : 0;

	return (struct kiocb){
		.ki_filp = file,
		.ki_pos = le64_to_cpu(op->offset_bytes),
		.ki_flags = (iot_file_iocb_flags(file) & ~RFS_IOCB_FLAGS) | iot_forced_iocb_flags(file) | flags,
		.ki_ioprio = worker->ioprio,
	};
}

/* Return: 0; -EINVAL or -EOPNOTSUPP if the file does not support the flags. */
static inline int rfs_iocb_check(const struct kiocb *kiocb)
{
	return kiocb->ki_flags & (IOCB_DIRECT | IOCB_NOWAIT) ? rfs_iocb_refusal(kiocb) : 0;
}

bool rfs_may_discard(const struct file *file);

/**
 * rfs_iter_init() - memory for a transfer; a long transfer uses the same memory several times
 * @worker: whose memory it is, as in a system call
 * @iter: filled in; it refers to a table of the worker
 * @kiocb: of the transfer; a write has IOCB_WRITE
 * @length_bytes: as verified
 *
 * A read in mode `discard` gets no memory, except a read that bypasses the page cache: there the
 * device, or the server of the file system, writes to it.
 */
static inline void rfs_iter_init(struct rfs_worker *worker, struct iov_iter *iter,
				 const struct kiocb *kiocb, size_t length_bytes)
{
	if (!(kiocb->ki_flags & (IOCB_WRITE | IOCB_DIRECT)) &&
	    worker->replay->setup.data == IOT_DATA_DISCARD && rfs_may_discard(kiocb->ki_filp))
		iov_iter_discard(iter, ITER_DEST, length_bytes);
	else
		rfs_iter_memory(worker, iter, kiocb->ki_flags & IOCB_WRITE, length_bytes);
}

#endif
