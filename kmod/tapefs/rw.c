// SPDX-License-Identifier: GPL-2.0-only
/*
 * rw.c - reads and writes, synchronous and asynchronous, and splices from a pipe.
 *
 * The lower file system gets a control block of its own for the same buffers. It may
 * complete a queued request at any time, in any context. The submitting task is
 * therefore noted at submission; the completion cannot know it.
 */
#include <linux/bvec.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pipe_fs_i.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/splice.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include "emit.h"
#include "exec.h"
#include "lower.h"
#include "tapefs.h"
#include "compat/iocb.h"
#include "compat/vfs.h"

/* Only the caller waits for folios with its control block, or polls with it. */
#define IOCB_OF_THE_CALLER (IOCB_HIPRI | IOCB_WAITQ | IOCB_ALLOC_CACHE | IOT_IOCB_CALLER_COMP)

/**
 * struct request - a read or write that may be completed later
 * @lower: the control block below
 * @upper: the caller's; not to be touched once its completion has been called
 * @file: the upper file, with a reference, since the caller may drop its own at completion
 * @refs: one for the submitter, one for the completion
 * @source: the mount's
 * @number: its id in records
 * @epoch: session in which it was submitted, 0 if it is not recorded
 * @task: that submitted it
 * @op: number of that operation in its task
 * @counted: where its end is counted, if it is not recorded. Of the session @epoch
 */
struct request {
	struct kiocb lower;
	struct kiocb *upper;
	struct file *file;
	refcount_t refs;
	struct iot_source *source;
	u64 number;
	u64 epoch;
	u32 task;
	u32 op;
	struct tfs_counted counted;
};

static struct kmem_cache *request_cache;
static siphash_key_t memory_key __read_mostly;
static atomic64_t last_request = ATOMIC64_INIT(0);

static void request_put(struct request *request)
{
	if (!refcount_dec_and_test(&request->refs))
		return;
	fput(request->file);
	kmem_cache_free(request_cache, request);
}

static u32 rw_flags_of(const struct kiocb *iocb)
{
	int iocb_flags = iot_asked_iocb_flags(iocb);
	u32 flags = 0;

	if (iocb_flags & IOCB_APPEND)
		flags |= IOT_RW_append;
	if (iocb_flags & IOCB_DIRECT)
		flags |= IOT_RW_direct;
	if (iocb_flags & IOCB_DSYNC)
		flags |= iocb_flags & IOCB_SYNC ? IOT_RW_sync : IOT_RW_dsync;
	if (iocb_flags & IOCB_NOWAIT)
		flags |= IOT_RW_nowait;
	if (iocb_flags & IOCB_HIPRI)
		flags |= IOT_RW_hipri;
	if (iocb_flags & IOCB_WRITE)
		flags |= IOT_RW_write;
	return flags;
}

static void kiocb_init_lower(struct kiocb *lower, struct kiocb *upper)
{
	kiocb_clone(lower, upper, tfs_lower_as_set(upper->ki_filp));
	lower->ki_flags &= ~IOCB_OF_THE_CALLER;
	lower->ki_flags |= iot_forced_iocb_flags(lower->ki_filp);
}

/* The offset of an appending write is known only at its end. */
static void emit_write(struct iot_span *span, const struct kiocb *iocb, loff_t offset,
		       size_t length, u32 flags, u64 old_size_bytes, ssize_t result)
{
	if (result > 0 && (flags & IOT_RW_append))
		offset = iocb->ki_pos - result;
	tfs_emit_write(span, iocb->ki_filp, offset, length, flags & ~IOT_RW_write, old_size_bytes,
		       result);
}

static void emit_complete(const struct request *request, s64 result)
{
	if (request->counted.row)
		tfs_count_complete(request->source, request->epoch, &request->counted, result);
	else
		tfs_emit_complete(request->source, request->epoch, request->task, request->op, request->number, result);
}

/* Copy the outcome in the lower control block to the caller's. */
static void request_end(struct request *request, long result)
{
	struct kiocb *upper = request->upper;

	upper->ki_pos = request->lower.ki_pos;
	if (request->lower.ki_flags & IOCB_WRITE) {
		kiocb_end_write(&request->lower);
		tfs_copy_size(file_inode(request->file));
	}
	if (request->epoch)
		emit_complete(request, result);
	request_put(request);
}

static void request_complete(struct kiocb *lower, long result)
{
	struct request *request = container_of(lower, struct request, lower);
	struct kiocb *upper = request->upper;

	request_end(request, result);
	upper->ki_complete(upper, result);
}

/*
 * Let a filter decide on an asynchronous request before it is submitted, because it may end at any time afterwards.
 * The filter takes it for a success with duration 0.
 */
static void settle(const struct kiocb *iocb, size_t length, struct iot_span *span)
{
	enum iot_kind kind = iocb->ki_flags & IOCB_WRITE ? IOT_KIND_write : IOT_KIND_read;
	const struct file *file = iocb->ki_filp;
	struct iot_session *session;

	session = tfs_enter(span, file_inode(file)->i_sb);
	if (session &&
	    tfs_filter_keeps(session, span, file_inode(file)->i_sb, kind,
			     tfs_what_submit(tfs_what_range(tfs_what_file(file, 0), iocb->ki_pos, length))))
		iot_session_leave();
	else
		span->task = NULL;
}

static struct request *request_new(struct kiocb *upper, struct iot_span *span)
{
	struct request *request = kmem_cache_zalloc(request_cache, GFP_KERNEL);

	if (!request)
		return NULL;
	kiocb_init_lower(&request->lower, upper);
	request->lower.ki_complete = request_complete;
	request->upper = upper;
	request->file = get_file(upper->ki_filp);
	refcount_set(&request->refs, 2);
	request->source = &TFS_SB(file_inode(upper->ki_filp)->i_sb)->source;
	if (iot_span_is_on(span)) {
		request->number = atomic64_inc_return(&last_request);
		request->epoch = span->epoch;
		request->task = iot_span_task(span);
		request->op = span->op;
		request->counted.is_write = upper->ki_flags & IOCB_WRITE;
		if (span->is_counted)
			tfs_count_request(span, request->file, &request->counted);
	}
	return request;
}

/*
 * As the VFS does on the upper super block, which does not freeze. A caller that must not wait gets EAGAIN.
 * Return: whether the lower file system may be written to.
 */
static bool start_write(struct kiocb *lower)
{
	struct super_block *sb = file_inode(lower->ki_filp)->i_sb;

	if (!(lower->ki_flags & IOCB_NOWAIT)) {
		kiocb_start_write(lower);
		return true;
	}
	if (!sb_start_write_trylock(sb))
		return false;
	__sb_writers_release(sb, SB_FREEZE_WRITE); /* for lockdep: the completion releases it */
	return true;
}

/* At the end of a write with O_SYNC the lower file system calls its fsync: see mapped.c. */
static ssize_t write_below(struct file *file, struct kiocb *lower, struct iov_iter *iter)
{
	struct tfs_call call;
	ssize_t result;

	if (likely(!iocb_is_dsync(lower)))
		return lower->ki_filp->f_op->write_iter(lower, iter);
	tfs_call_begin(file, &call);
	result = lower->ki_filp->f_op->write_iter(lower, iter);
	tfs_call_end(file, &call);
	return result;
}

/* Pass the request to the lower file system. Return: -EIOCBQUEUED if that completes it later, else its result. */
static ssize_t request_begin(struct request *request, struct iov_iter *iter)
{
	struct kiocb *lower = &request->lower;

	if (lower->ki_flags & IOCB_WRITE)
		return write_below(request->file, lower, iter);
	return lower->ki_filp->f_op->read_iter(lower, iter);
}

/*
 * A number for the memory that a request uses: a program reuses the memory only after it has learnt of the end of the
 * request. A record must not disclose addresses. To be called before the lower file system advances the iterator.
 */
static u64 memory_of(const struct iov_iter *iter)
{
	const struct bio_vec *first = iter->bvec;
	const void __user *address;

	if (!iov_iter_is_bvec(iter)) {
		address = iot_iter_address(iter);
		return address ? siphash_1u64((uintptr_t)address, &memory_key) : 0;
	}
	return siphash_2u64(page_to_pfn(first->bv_page), first->bv_offset + iter->iov_offset, &memory_key);
}

/**
 * struct filling - page faults of a read that is recorded, in the memory that it fills
 * @address: where the memory begins; NULL if it is none of a user
 * @before: faults of current before the read
 */
struct filling {
	const void __user *address;
	unsigned long before;
};

static unsigned long faults_of_current(void)
{
	return current->min_flt + current->maj_flt;
}

/* To be called before the lower file system advances the iterator. */
static __always_inline void filling_begin(struct filling *filling, const struct iov_iter *iter)
{
	filling->address = iot_iter_address(iter);
	filling->before = faults_of_current();
}

/*
 * The faults of a mapped file are operations of their own, and not counted here. If another thread changes the address
 * space now, the memory is taken for anonymous: this does not wait.
 */
static noinline bool is_anonymous(const void __user *address)
{
	struct vm_area_struct *area;
	bool is_file;

	if (!address || !current->mm)
		return false;
	if (!mmap_read_trylock(current->mm))
		return true;
	area = find_vma(current->mm, (unsigned long)address);
	is_file = area && area->vm_file;
	mmap_read_unlock(current->mm);
	return !is_file;
}

/* Return: page faults in anonymous memory since filling_begin(). */
static u32 filling_faults(const struct filling *filling)
{
	unsigned long faults = faults_of_current() - filling->before;

	if (likely(!faults) || !is_anonymous(filling->address))
		return 0;
	return min_t(unsigned long, faults, U32_MAX);
}

/*
 * A request that the lower file system may complete later. If it completes at once, its record is an ordinary read
 * or write. Otherwise it has two: a submit here and a complete at its end, which may come before the submit is
 * written. Readers pair the two by the number of the request.
 */
static ssize_t rw_async(struct kiocb *iocb, struct iov_iter *iter, struct iot_span *span)
{
	bool is_write = iocb->ki_flags & IOCB_WRITE;
	u32 flags = rw_flags_of(iocb);
	size_t length = iov_iter_count(iter);
	u64 old_size_bytes = i_size_read(file_inode(tfs_lower_file(iocb->ki_filp)));
	loff_t offset = iocb->ki_pos;
	struct request *request;
	struct filling filling;
	ssize_t result;
	u64 memory;

	if (unlikely(iot_span_is_on(span) && span->is_pending))
		settle(iocb, length, span);
	filling_begin(&filling, iter);
	request = request_new(iocb, span);
	memory = iot_span_is_on(span) ? memory_of(iter) : 0;
	if (!request) {
		result = -ENOMEM;
		goto out;
	}
	if (is_write && !start_write(&request->lower)) {
		request_put(request);
		request_put(request);
		result = -EAGAIN;
		goto out;
	}
	result = request_begin(request, iter);
	if (result == -EIOCBQUEUED) {
		/*
		 * An append begins at the end of the file; its control block may already have the position after
		 * it.
		 */
		tfs_emit_submit(span, request->file, request->number,
				flags & IOT_RW_append ? (loff_t)old_size_bytes : offset, length, flags,
				old_size_bytes, memory);
		request_put(request);
		return result;
	}
	request->epoch = 0; /* it has ended: it gets one record */
	request_end(request, result);
	request_put(request); /* not the last reference of the file: the caller has one */
	tfs_notify_rw(iocb->ki_filp, is_write, result);
out:
	if (is_write)
		emit_write(span, iocb, offset, length, flags, old_size_bytes, result);
	else
		tfs_emit_read(span, iocb->ki_filp, offset, length, flags,
			      iot_span_is_on(span) ? filling_faults(&filling) : 0, result);
	return result;
}

static ssize_t read_sync(struct kiocb *iocb, struct iov_iter *iter, struct iot_span *span)
{
	struct file *lower = tfs_lower_file(iocb->ki_filp);
	size_t length = iov_iter_count(iter);
	loff_t offset = iocb->ki_pos;
	struct filling filling;
	struct kiocb kiocb;
	ssize_t result;

	kiocb_init_lower(&kiocb, iocb);
	filling_begin(&filling, iter);
	result = lower->f_op->read_iter(&kiocb, iter);
	iocb->ki_pos = kiocb.ki_pos;
	tfs_notify_rw(iocb->ki_filp, false, result);
	if (iot_span_is_on(span))
		tfs_emit_read(span, iocb->ki_filp, offset, length, rw_flags_of(iocb), filling_faults(&filling),
			      result);
	return result;
}

static ssize_t write_sync(struct kiocb *iocb, struct iov_iter *iter, struct iot_span *span)
{
	struct file *lower = tfs_lower_file(iocb->ki_filp);
	u64 old_size_bytes = i_size_read(file_inode(lower));
	size_t length = iov_iter_count(iter);
	loff_t offset = iocb->ki_pos;
	struct kiocb kiocb;
	ssize_t result;

	kiocb_init_lower(&kiocb, iocb);
	file_start_write(lower);
	result = write_below(iocb->ki_filp, &kiocb, iter);
	file_end_write(lower);
	iocb->ki_pos = kiocb.ki_pos;
	tfs_copy_size(file_inode(iocb->ki_filp));
	tfs_notify_rw(iocb->ki_filp, true, result);
	if (iot_span_is_on(span))
		emit_write(span, iocb, offset, length, rw_flags_of(iocb), old_size_bytes, result);
	return result;
}

/* An append begins at the end of the file: filters that test its offset decide when that is known. */
static noinline void gate_open_filtered(struct iot_source *source, struct kiocb *iocb, const struct iov_iter *iter,
					enum iot_kind kind, struct iot_span *span)
{
	const struct file *file = iocb->ki_filp;
	struct iot_what what = tfs_what_range(tfs_what_lookup(file_dentry(file), file_inode(file), 0), iocb->ki_pos,
					      iov_iter_count(iter));

	what.is_end = false;
	span->task = NULL;
	span->is_pending = false;
	if (!rcu_access_pointer(source->session))
		return;
	if (iocb->ki_flags & IOCB_APPEND)
		iot_gate_open(source, kind, span);
	else if (!iot_gate_refuses(source, kind, &what))
		iot_gate_open_on(source, kind, span, &what);
}

static __always_inline void gate_open(struct iot_source *source, struct kiocb *iocb, const struct iov_iter *iter,
				      enum iot_kind kind, struct iot_span *span)
{
	if (static_branch_unlikely(&iot_has_filters))
		gate_open_filtered(source, iocb, iter, kind, span);
	else
		iot_gate_open(source, kind, span);
}

ssize_t tfs_read_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	struct iot_source *source = &TFS_SB(file_inode(iocb->ki_filp)->i_sb)->source;
	const struct file *lower = tfs_lower_file(iocb->ki_filp);
	struct iot_span span;
	int err;

	if (!lower->f_op->read_iter)
		return -EINVAL;
	if (unlikely(!iot_can_rw(iocb, lower)))
		return -EOPNOTSUPP; /* as the VFS returns without tapefs */
	err = tfs_exec_read(iocb->ki_filp, iter);
	if (err)
		return err;
	iot_backpressure_here(source);
	gate_open(source, iocb, iter, IOT_KIND_read, &span);
	if (is_sync_kiocb(iocb))
		return read_sync(iocb, iter, &span);
	return rw_async(iocb, iter, &span);
}

ssize_t tfs_write_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	struct iot_source *source = &TFS_SB(file_inode(iocb->ki_filp)->i_sb)->source;
	const struct file *lower = tfs_lower_file(iocb->ki_filp);
	struct iot_span span;

	if (!lower->f_op->write_iter)
		return -EINVAL;
	if (unlikely(!iot_can_rw(iocb, lower)))
		return -EOPNOTSUPP;
	iot_backpressure_here(source);
	gate_open(source, iocb, iter, IOT_KIND_write, &span);
	if (is_sync_kiocb(iocb))
		return write_sync(iocb, iter, &span);
	iocb->ki_flags |= IOCB_WRITE;
	return rw_async(iocb, iter, &span);
}

/*
 * Bytes in the pipe of a splice. The wait for a writer of an empty pipe is not time of the file system, and must not
 * block a freeze of the lower one, so it happens here; the lower file system reports how the wait ended.
 */
static size_t wait_for_bytes(struct pipe_inode_info *pipe, unsigned int flags)
{
	typeof(pipe->tail) i;
	size_t bytes = 0;

	if (!(flags & SPLICE_F_NONBLOCK))
		(void)wait_event_interruptible(pipe->rd_wait,
					       !pipe_empty(READ_ONCE(pipe->head), READ_ONCE(pipe->tail)) ||
						       !READ_ONCE(pipe->writers));
	pipe_lock(pipe);
	for (i = pipe->tail; i != pipe->head; i++)
		bytes += pipe->bufs[i & (pipe->ring_size - 1)].len;
	pipe_unlock(pipe);
	return bytes;
}

/*
 * False if the pipe was empty or a signal came before the first byte: the lower file system was not called to
 * write.
 */
static bool is_write(ssize_t result, size_t bytes)
{
	return result > 0 || (result < 0 && result != -ERESTARTSYS && bytes);
}

/*
 * The lower file system takes the pages from the pipe itself. So write access to the lower super block is taken
 * before the lock of the pipe, as without tapefs; iter_file_splice_write() on the upper file would take them in the
 * opposite order.
 */
ssize_t tfs_splice_write(struct pipe_inode_info *pipe, struct file *file, loff_t *offset, size_t length,
			 unsigned int flags)
{
	struct inode *inode = file_inode(file);
	struct file *lower = tfs_lower_file(file);
	loff_t start = *offset;
	struct iot_span span;
	u64 old_size_bytes;
	struct kiocb kiocb;
	ssize_t result;
	size_t bytes;

	if (!lower->f_op->splice_write)
		return -EINVAL;
	iot_backpressure_here(&TFS_SB(inode->i_sb)->source);
	bytes = wait_for_bytes(pipe, flags);
	tfs_gate_open(inode->i_sb, IOT_KIND_write, &span);
	old_size_bytes = i_size_read(file_inode(lower));
	result = tfs_do_splice_write(pipe, file, offset, length, flags);
	tfs_copy_size(inode);
	if (!is_write(result, bytes)) {
		iot_span_cancel(&span);
		return result;
	}
	bytes = max_t(ssize_t, min(length, bytes), result); /* others use the pipe, too */
	init_sync_kiocb(&kiocb, file);                      /* for its flags */
	tfs_emit_write(&span, file, start, bytes, rw_flags_of(&kiocb), old_size_bytes, result);
	return result;
}

/**
 * tfs_rw_init() - make the cache of requests, and the key that hides addresses
 *
 * Return: 0 or -ENOMEM.
 */
int tfs_rw_init(void)
{
	get_random_bytes(&memory_key, sizeof(memory_key));
	request_cache = KMEM_CACHE(request, 0);
	return request_cache ? 0 : -ENOMEM;
}

/**
 * tfs_rw_exit() - undo tfs_rw_init(); no request is under way
 */
void tfs_rw_exit(void)
{
	kmem_cache_destroy(request_cache);
}
