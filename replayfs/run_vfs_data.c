// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_vfs_data.c - operations on open files.
 *
 * Reads and writes use the positions of the trace, so their places depend on nothing but the order of operations.
 * The position of a handle matters only to seeks and to reads of directories.
 */
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/pipe_fs_i.h>
#include <linux/slab.h>
#include <linux/splice.h>
#include <linux/uio.h>

#include "compat/readdir.h"
#include "compat/vfs.h"
#include "core/flags.h"
#include "core/replay/splice.h"
#include "handles.h"
#include "run_vfs.h"
#include "transfer.h"

s64 rfs_do_release(struct rfs_worker *worker, const struct iot_program_op *op)
{
	return rfs_handle_empty(worker->replay, op->handle);
}

/* Memory for a read. A direct read that is longer than the worker's memory would use that several times, see rfs_room_grow(). */
static int init_iter(struct rfs_worker *worker, struct iov_iter *iter, const struct kiocb *kiocb, size_t length_bytes)
{
	struct rfs_memory *memory = worker->task->memory;

	if (unlikely((kiocb->ki_flags & IOCB_DIRECT) && length_bytes > (memory->own_bytes ?: IOT_WORKER_BUFFER_BYTES)))
		return rfs_iter_room(&memory->room, iter, length_bytes);
	if (unlikely(memory->own_bytes))
		rfs_iter_own(worker, iter, length_bytes);
	else
		rfs_iter_init(worker, iter, kiocb, length_bytes);
	return 0;
}

static ssize_t read_file(struct rfs_worker *worker, const struct iot_program_op *op,
			 struct file *file)
{
	size_t length_bytes = le64_to_cpu(op->length_bytes);
	struct kiocb kiocb = rfs_iocb(worker, op, file);
	int err = rfs_iocb_check(&kiocb);
	struct iov_iter iter;

	if (!err)
		err = rw_verify_area(READ, file, &kiocb.ki_pos, length_bytes);
	if (!err)
		err = init_iter(worker, &iter, &kiocb, length_bytes);
	return err ?: file->f_op->read_iter(&kiocb, &iter);
}

static int pass_nothing(struct pipe_inode_info *pipe, struct splice_desc *desc)
{
	return 0;
}

/* The pipe that the kernel keeps for each thread that has called sendfile(). */
static struct pipe_inode_info *own_pipe(struct file *file)
{
	struct splice_desc nothing = {};
	ssize_t err = 0;

	if (!current->splice_pipe)
		err = splice_direct_to_actor(file, &nothing, pass_nothing);
	return err < 0 ? ERR_PTR(err) : current->splice_pipe;
}

static void empty_pipe(struct pipe_inode_info *pipe)
{
	for (; pipe->tail != pipe->head; pipe->tail++)
		pipe_buf_release(pipe, &pipe->bufs[pipe->tail & (pipe->ring_size - 1)]);
	pipe->tail = 0;
	pipe->head = 0;
}

/* Fills a pipe with as many slots as the traced one had free, and drops the pages. */
static ssize_t fill_and_empty(const struct iot_program_op *op, struct file *file,
			      struct pipe_inode_info *pipe)
{
	unsigned int ring_size = pipe->ring_size, max_usage = pipe->max_usage;
	u32 slots = iot_splice_slots(op, PAGE_SIZE);
	u64 room_bytes = (u64)slots << PAGE_SHIFT;
	loff_t offset = le64_to_cpu(op->offset_bytes);
	struct pipe_buffer *bufs = pipe->bufs;
	ssize_t result;

	if (slots > ring_size) { /* which is rare */
		pipe->ring_size = roundup_pow_of_two(slots);
		pipe->bufs = kvcalloc(pipe->ring_size, sizeof(*bufs), GFP_KERNEL_ACCOUNT);
	}
	pipe->max_usage = slots;
	result = -ENOMEM;
	if (pipe->bufs)
		result = vfs_splice_read(file, &offset, pipe,
					 min_t(u64, le64_to_cpu(op->length_bytes), room_bytes), 0);
	empty_pipe(pipe);
	if (pipe->bufs != bufs)
		kvfree(pipe->bufs);
	pipe->bufs = bufs;
	pipe->ring_size = ring_size;
	pipe->max_usage = max_usage;
	return result;
}

/* Moves pages to a pipe and drops them: sendfile() of the traced program did not read them either. */
static ssize_t splice_file(const struct iot_program_op *op, struct file *file)
{
	struct pipe_inode_info *pipe = own_pipe(file);
	loff_t offset = le64_to_cpu(op->offset_bytes);
	int err = 0;

	if (IS_ERR(pipe))
		return PTR_ERR(pipe);
	if (!IOT_SPLICE_READ_ASKS)
		err = rw_verify_area(READ, file, &offset, le64_to_cpu(op->length_bytes));
	return err ? err : fill_and_empty(op, file, pipe);
}

s64 rfs_do_read(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct file *file = rfs_handle_get(worker->replay, op->handle);
	ssize_t result;

	if (IS_ERR(file))
		return PTR_ERR(file);
	if (!(file->f_mode & FMODE_READ))
		result = -EBADF;
	else if (!file->f_op->read_iter)
		result = -EINVAL;
	else if (le32_to_cpu(op->flags) & IOT_RW_splice)
		result = splice_file(op, file);
	else
		result = read_file(worker, op, file);
	rfs_handle_put(worker->replay, op->handle);
	return result;
}

static ssize_t write_file(struct rfs_worker *worker, const struct iot_program_op *op,
			  struct file *file)
{
	size_t length_bytes = le64_to_cpu(op->length_bytes);
	struct kiocb kiocb = rfs_iocb(worker, op, file);
	struct iov_iter iter;
	ssize_t result;

	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (!file->f_op->write_iter)
		return -EINVAL;
	result = rfs_iocb_check(&kiocb);
	if (!result)
		result = rw_verify_area(WRITE, file, &kiocb.ki_pos, length_bytes);
	if (result)
		return result;
	kiocb.ki_flags |= IOCB_WRITE;
	rfs_iter_init(worker, &iter, &kiocb, length_bytes);
	file_start_write(file);
	result = file->f_op->write_iter(&kiocb, &iter);
	file_end_write(file);
	return result;
}

s64 rfs_do_write(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct file *file = rfs_handle_get(worker->replay, op->handle);
	ssize_t result;

	if (IS_ERR(file))
		return PTR_ERR(file);
	result = write_file(worker, op, file);
	rfs_handle_put(worker->replay, op->handle);
	return result;
}

/*
 * Reads and writes of a replay do not move the position of a handle. Before a seek relative to the current
 * position, the position is therefore set so that the seek ends where it did in the trace.
 */
s64 rfs_do_seek(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct file *file = rfs_handle_get(worker->replay, op->handle);
	loff_t offset = le64_to_cpu(op->offset_bytes), result = le64_to_cpu(op->result);
	int whence = le32_to_cpu(op->whence); /* IOT_WHENCES have the numbers of SEEK_* */
	loff_t before;

	if (IS_ERR(file))
		return PTR_ERR(file);
	mutex_lock(&file->f_pos_lock);
	if (whence == SEEK_CUR && result >= 0 && !check_sub_overflow(result, offset, &before) && before >= 0)
		file->f_pos = before;
	result = whence <= SEEK_MAX ? vfs_llseek(file, offset, whence) : -EINVAL;
	mutex_unlock(&file->f_pos_lock);
	rfs_handle_put(worker->replay, op->handle);
	return result;
}

s64 rfs_do_fsync(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct file *file = rfs_handle_get(worker->replay, op->handle);
	int err;

	if (IS_ERR(file))
		return PTR_ERR(file);
	err = vfs_fsync_range(file, le64_to_cpu(op->offset_bytes), le64_to_cpu(op->end_bytes),
			      !!(le32_to_cpu(op->flags) & IOT_RW_datasync));
	rfs_handle_put(worker->replay, op->handle);
	return err;
}

/**
 * struct counter - reads as many entries of a directory as the traced call did
 * @context: callback of the file system, for each entry
 * @worker: entries are recorded as read by it
 * @op: the operation
 * @left: entries that may still be taken
 */
struct counter {
	struct dir_context context;
	struct rfs_worker *worker;
	const struct iot_program_op *op;
	u32 left;
};

static bool count_entry(struct dir_context *context, const char *name, int length, loff_t offset,
			u64 ino, unsigned int type)
{
	struct counter *counter = container_of(context, struct counter, context);

	if (!counter->left)
		return false;
	counter->left--;
	rfs_outcome_dirent(counter->worker, counter->op, name, length, type);
	return true;
}

IOT_FILLDIR(count_entry)

s64 rfs_do_readdir(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct file *file = rfs_handle_get(worker->replay, op->handle);
	struct counter counter = {
		.context.actor = IOT_FILLDIR_OP(count_entry),
		.worker = worker,
		.op = op,
		.left = le32_to_cpu(op->entries),
	};
	int err;

	if (IS_ERR(file))
		return PTR_ERR(file);
	mutex_lock(&file->f_pos_lock);
	err = iterate_dir(file, &counter.context);
	mutex_unlock(&file->f_pos_lock);
	rfs_handle_put(worker->replay, op->handle);
	return err;
}

s64 rfs_do_fallocate(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct file *file = rfs_handle_get(worker->replay, op->handle);
	long err;

	if (IS_ERR(file))
		return PTR_ERR(file);
	err = vfs_fallocate(file, iot_falloc_flags_to(le32_to_cpu(op->flags)),
			    le64_to_cpu(op->offset_bytes), le64_to_cpu(op->length_bytes));
	rfs_handle_put(worker->replay, op->handle);
	return err;
}

s64 rfs_do_fadvise(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct file *file = rfs_handle_get(worker->replay, op->handle);
	int err;

	if (IS_ERR(file))
		return PTR_ERR(file);
	err = vfs_fadvise(file, le64_to_cpu(op->offset_bytes), le64_to_cpu(op->length_bytes),
			  le32_to_cpu(op->advice));
	rfs_handle_put(worker->replay, op->handle);
	return err;
}

/* A request for terminals, by which programs check whether a file is one. */
s64 rfs_do_ioctl(struct rfs_worker *worker, const struct iot_program_op *op)
{
	unsigned int request = IOT_PROGRAM_IOCTLS | le32_to_cpu(op->request);
	struct file *file = rfs_handle_get(worker->replay, op->handle);
	long result = -ENOTTY;

	if (IS_ERR(file))
		return PTR_ERR(file);
	if (file->f_op->unlocked_ioctl)
		result = file->f_op->unlocked_ioctl(file, request, (unsigned long)worker->sink);
	rfs_handle_put(worker->replay, op->handle);
	return result == -ENOIOCTLCMD ? -ENOTTY : result;
}

/* Two handles at once; @do_it gets both files. */
static s64 with_two_files(struct rfs_worker *worker, const struct iot_program_op *op,
			  s64 (*do_it)(struct file *in, struct file *out,
				       const struct iot_program_op *op))
{
	struct file *in = rfs_handle_get(worker->replay, op->handle);
	struct file *out;
	s64 result;

	if (IS_ERR(in))
		return PTR_ERR(in);
	out = rfs_handle_get(worker->replay, op->to_handle);
	if (IS_ERR(out)) {
		result = PTR_ERR(out);
	} else {
		result = do_it(in, out, op);
		rfs_handle_put(worker->replay, op->to_handle);
	}
	rfs_handle_put(worker->replay, op->handle);
	return result;
}

static s64 copy_range(struct file *in, struct file *out, const struct iot_program_op *op)
{
	return vfs_copy_file_range(in, le64_to_cpu(op->offset_bytes), out, le64_to_cpu(op->to_offset_bytes),
				   le64_to_cpu(op->length_bytes), 0);
}

s64 rfs_do_copy_range(struct rfs_worker *worker, const struct iot_program_op *op)
{
	return with_two_files(worker, op, copy_range);
}

/* As ioctl(FIDEDUPERANGE) does before it looks at the other range. */
static int may_dedupe(const struct file *in)
{
	if (!(in->f_mode & FMODE_READ))
		return -EINVAL;
	if (S_ISDIR(file_inode(in)->i_mode))
		return -EISDIR;
	if (!S_ISREG(file_inode(in)->i_mode))
		return -EINVAL;
	return in->f_op->remap_file_range ? 0 : -EOPNOTSUPP;
}

static s64 remap_range(struct file *in, struct file *out, const struct iot_program_op *op)
{
	loff_t from = le64_to_cpu(op->offset_bytes), to = le64_to_cpu(op->to_offset_bytes);
	loff_t length = le64_to_cpu(op->length_bytes);
	u32 flags = le32_to_cpu(op->flags); /* 1 deduplicate, 2 may be shortened */

	if (flags & 1)
		return may_dedupe(in) ?: vfs_dedupe_file_range_one(in, from, out, to, length,
						 flags & 2 ? REMAP_FILE_CAN_SHORTEN : 0);
	return vfs_clone_file_range(in, from, out, to, length,
				    flags & 2 ? REMAP_FILE_CAN_SHORTEN : 0);
}

s64 rfs_do_remap_range(struct rfs_worker *worker, const struct iot_program_op *op)
{
	return with_two_files(worker, op, remap_range);
}
