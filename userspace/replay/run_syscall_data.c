// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_syscall_data.c - operations on open files.
 *
 * Positions are those of the trace, so that order alone determines the data of each access; a
 * handle's own position only matters to seeks and to reading directories.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "core/flags.h"
#include "core/replay/splice.h"
#include "core/replay/substitute.h"
#include "run_syscall.h"

s64 run_release(struct worker_task *task, const struct iot_program_op *op)
{
	return handle_empty(task, op->handle);
}

/* -- read and write ----------------------------------------------------------------------------------- */

/*
 * How an operation is done stands in it, not in its handle: fcntl(F_SETFL) may have come between
 * one operation and the next. Nothing is to be done for most.
 */
static int set_flags(struct handle *handle, int wanted, int which)
{
	int flags = __atomic_load_n(&handle->flags, __ATOMIC_RELAXED), all;

	if (((flags ^ wanted) & which) == 0)
		return 0;
	flags = (flags & ~which) | (wanted & which);
	all = fcntl(handle->fd, F_GETFL);
	if (all < 0 || fcntl(handle->fd, F_SETFL, (all & ~(O_APPEND | O_DIRECT)) | flags))
		return -errno;
	__atomic_store_n(&handle->flags, flags, __ATOMIC_RELAXED);
	return 0;
}

static int call_flags_of(u32 our)
{
	return (our & IOT_RW_dsync ? RWF_DSYNC : 0) | (our & IOT_RW_sync ? RWF_SYNC : 0) |
	       (our & IOT_RW_nowait ? RWF_NOWAIT : 0) | (our & IOT_RW_hipri ? RWF_HIPRI : 0);
}

/* The same memory as often as it takes. Return: number of vectors. */
static int fill_vectors(struct iovec *vectors, void *memory, u64 memory_bytes, u64 length_bytes)
{
	int count = 0;
	u64 part;

	do {
		part = length_bytes < memory_bytes ? length_bytes : memory_bytes;
		vectors[count++] = (struct iovec){ .iov_base = memory, .iov_len = part };
		length_bytes -= part;
	} while (length_bytes);
	return count;
}

static s64 read_file(struct worker_task *task, const struct iot_program_op *op, int fd, u32 our)
{
	struct task_memory *memory = memory_of(task);
	u64 length_bytes = le64_to_cpu(op->length_bytes);
	off_t offset = (off_t)le64_to_cpu(op->offset_bytes);
	u64 memory_bytes = memory->own_bytes ? memory->own_bytes : IOT_WORKER_BUFFER_BYTES;
	u8 *sink = memory->own_bytes ? memory->own : memory->sink;
	int count, flags = call_flags_of(our);

	if (our & IOT_RW_direct && length_bytes > memory_bytes) {
		memory_bytes = run_room_grow(memory, length_bytes);
		sink = memory->room;
	}
	if (!memory_bytes)
		return -ENOMEM;

	if (!flags && length_bytes <= memory_bytes)
		return RESULT(pread(fd, sink, length_bytes, offset));
	count = fill_vectors(memory->vectors, sink, memory_bytes, length_bytes);
	return RESULT(preadv2(fd, memory->vectors, count, offset, flags));
}

/* Pages go to a pipe and are dropped: the sendfile() of the program did not read them either. */
static s64 splice_file(struct worker_task *task, const struct iot_program_op *op, int fd)
{
	off_t offset = (off_t)le64_to_cpu(op->offset_bytes);

	return RESULT(sendfile(stage_of(task)->null_fd, fd, &offset,
			       iot_splice_bytes(op, (u64)sysconf(_SC_PAGESIZE))));
}

static s64 read_handle(struct worker_task *task, const struct iot_program_op *op,
		       struct handle *handle, u32 our)
{
	int err = set_flags(handle, our & IOT_RW_direct ? O_DIRECT : 0, O_DIRECT);

	if (err)
		return err;
	return our & IOT_RW_splice ? splice_file(task, op, handle->fd) :
				     read_file(task, op, handle->fd, our);
}

s64 run_read(struct worker_task *task, const struct iot_program_op *op)
{
	struct handle *handle;
	int fd = handle_get(task, op->handle, &handle);
	s64 result;

	if (fd < 0)
		return fd;
	result = read_handle(task, op, handle, le32_to_cpu(op->flags));
	handle_put(handle);
	return result;
}

static s64 write_file(struct worker_task *task, const struct iot_program_op *op, int fd, int flags)
{
	struct task_memory *memory = memory_of(task);
	u8 *source = stage_of(task)->source;
	u64 length_bytes = le64_to_cpu(op->length_bytes);
	off_t offset = (off_t)le64_to_cpu(op->offset_bytes);
	int count;

	if (!flags && length_bytes <= IOT_WORKER_BUFFER_BYTES)
		return RESULT(pwrite(fd, source, length_bytes, offset));
	count = fill_vectors(memory->vectors, source, IOT_WORKER_BUFFER_BYTES, length_bytes);
	return RESULT(pwritev2(fd, memory->vectors, count, offset, flags));
}

static s64 write_handle(struct worker_task *task, const struct iot_program_op *op,
			struct handle *handle, u32 our)
{
	int wanted = (our & IOT_RW_direct ? O_DIRECT : 0) | (our & IOT_RW_append ? O_APPEND : 0);
	int err = set_flags(handle, wanted, O_DIRECT | O_APPEND);

	return err ? err : write_file(task, op, handle->fd, call_flags_of(our));
}

s64 run_write(struct worker_task *task, const struct iot_program_op *op)
{
	struct handle *handle;
	int fd = handle_get(task, op->handle, &handle);
	s64 result;

	if (fd < 0)
		return fd;
	result = write_handle(task, op, handle, le32_to_cpu(op->flags));
	handle_put(handle);
	return result;
}

/* -- asynchronous requests -------------------------------------------------------------------------- */

/*
 * The thread of the request queue runs the request; the handle is held from here on, as by a system
 * call that has queued it.
 */
s64 run_submit(struct worker_task *task, const struct iot_program_op *op)
{
	const struct worker_task *queue = &task->local->tasks[le32_to_cpu(op->queue) - 1];
	struct request *request = request_of(queue);

	request->fd = handle_get(task, op->handle, &request->handle);
	return 0;
}

/* The program tried without waiting, so the request was queued. The replay does not poll for its end. */
static s64 move(struct worker_task *task, const struct iot_program_op *op, struct handle *handle)
{
	u32 our = le32_to_cpu(op->flags) & ~(u32)(IOT_RW_nowait | IOT_RW_hipri);

	return our & IOT_RW_write ? write_handle(task, op, handle, our) : read_handle(task, op, handle, our);
}

s64 run_complete(struct worker_task *task, const struct iot_program_op *op)
{
	struct request *request = request_of(task);
	struct iot_program_op plain;
	s64 result, plain_result;

	if (request->fd < 0)
		return request->fd;
	result = move(task, op, request->handle);
	if (result < 0 && task->local->options->is_emulated && iot_is_unsupported(op, result) &&
	    iot_substitute(op, 0, 0, &plain)) {
		plain_result = move(task, &plain, request->handle);
		task->step.refused = plain_result < 0 ? 0 : result;
		result = plain_result;
	}
	if (result != -EINTR) /* else it is tried again */
		handle_put(request->handle);
	return result;
}

/*
 * A seek from the current position comes out where it did in the trace: reads and writes
 * of the replay do not move that position, so it is put where it must come to.
 */
s64 run_seek(struct worker_task *task, const struct iot_program_op *op)
{
	off_t offset = (off_t)le64_to_cpu(op->offset_bytes), expected = (off_t)le64_to_cpu(op->result);
	int whence = (int)le32_to_cpu(op->whence); /* IOT_WHENCES have the numbers of SEEK_* */
	struct handle *handle;
	int fd = handle_get(task, op->handle, &handle);
	s64 result;

	if (fd < 0)
		return fd;
	if (whence == SEEK_CUR && expected >= 0)
		result = RESULT(lseek(fd, expected, SEEK_SET));
	else
		result = RESULT(lseek(fd, offset, whence));
	handle_put(handle);
	return result;
}

/* -- all else ------------------------------------------------------------------------------------------- */

s64 run_fsync(struct worker_task *task, const struct iot_program_op *op)
{
	struct handle *handle;
	int fd = handle_get(task, op->handle, &handle);
	s64 result;

	if (fd < 0)
		return fd;
	result = RESULT(le32_to_cpu(op->flags) & IOT_RW_datasync ? fdatasync(fd) : fsync(fd));
	handle_put(handle);
	return result;
}

s64 run_fallocate(struct worker_task *task, const struct iot_program_op *op)
{
	struct handle *handle;
	int fd = handle_get(task, op->handle, &handle);
	s64 result;

	if (fd < 0)
		return fd;
	result = RESULT(fallocate(fd, iot_falloc_flags_to(le32_to_cpu(op->flags)),
				  (off_t)le64_to_cpu(op->offset_bytes),
				  (off_t)le64_to_cpu(op->length_bytes)));
	handle_put(handle);
	return result;
}

s64 run_fadvise(struct worker_task *task, const struct iot_program_op *op)
{
	struct handle *handle;
	int fd = handle_get(task, op->handle, &handle), err;

	if (fd < 0)
		return fd;
	err = posix_fadvise(fd, (off_t)le64_to_cpu(op->offset_bytes),
			    (off_t)le64_to_cpu(op->length_bytes), (int)le32_to_cpu(op->advice));
	handle_put(handle);
	return -err;
}

/* A request for terminals, by which programs check whether a file is one. */
s64 run_ioctl(struct worker_task *task, const struct iot_program_op *op)
{
	struct handle *handle;
	int fd = handle_get(task, op->handle, &handle);
	s64 result;

	if (fd < 0)
		return fd;
	result = RESULT(ioctl(fd, IOT_PROGRAM_IOCTLS | le32_to_cpu(op->request),
			      memory_of(task)->sink));
	handle_put(handle);
	return result;
}
