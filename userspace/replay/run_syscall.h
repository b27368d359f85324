/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run_syscall.h - the operations as the thread engine runs them, one function each; each returns
 * the result of the system call. They are equivalent to those of replayfs.
 *
 * Confinement: paths have no dots in them (core/replay/verify.c), and every walk is an openat2() from
 * the target that does not leave it, crosses no mount and follows no magic link. Only an open
 * follows symbolic links, within the target. A name is made, changed or removed by a call that
 * takes a directory found like this and one component, and follows no link either. No device is
 * opened, regardless of the creator of its node: the open fails with EACCES, as on a nodev mount.
 */
#ifndef IOTAPE_RUN_SYSCALL_H
#define IOTAPE_RUN_SYSCALL_H

#include <sys/uio.h>

#include "slots.h"

/* A transfer larger than the buffer goes to the same memory several times. */
#define VECTORS_MAX (IOT_PROGRAM_LENGTH_MAX / IOT_WORKER_BUFFER_BYTES + 1)

struct lockers;

/**
 * struct request - the next request of a request queue; written by its task, before the request queue may continue
 * @handle: in use until the request has ended
 * @fd: its descriptor, or a negative errno
 */
struct request {
	struct handle *handle;
	int fd;
};

/**
 * struct stage - the state that all tasks share
 * @root_fd: the target
 * @is_mounted: it is a mount on which the kernel opens no device; if not, tasks make none
 * @is_wary: there may be one all the same, and each open has to check
 * @null_fd: /dev/null, where spliced data goes
 * @source: data that writes write, IOT_WORKER_BUFFER_BYTES
 * @touched_bytes: see read_buffer_touch()
 * @handles: slots of open files, see slots.h
 * @maps: slots of mappings, see slots.h
 * @lockers: owners of locks, see run_syscall_locks.c
 * @requests: of each task; those of request queues are used
 */
struct stage {
	int root_fd;
	bool is_mounted;
	bool is_wary;
	int null_fd;
	u8 *source;
	u64 touched_bytes;
	struct handle *handles;
	struct map *maps;
	struct lockers *lockers;
	struct request *requests;
};

/**
 * struct task_memory - memory of a thread for its tasks; all zero at first
 * @sink: where reads go
 * @touched_bytes: pages of @sink that are in memory, from its beginning
 * @own: memory of the present read, if that does not use @sink
 * @own_bytes: its length; 0: the read uses @sink
 * @room: of direct reads that are longer than @sink
 * @room_bytes: its length; 0: there is none
 * @vectors: for transfers
 * @path: for a path that is a part of one in the program
 */
struct task_memory {
	u8 sink[IOT_WORKER_BUFFER_BYTES];
	u64 touched_bytes;
	u8 *own;
	u64 own_bytes;
	u8 *room;
	u64 room_bytes;
	struct iovec vectors[VECTORS_MAX];
	char path[IOT_PROGRAM_PATH_MAX];
};

static inline struct stage *stage_of(const struct worker_task *task)
{
	return task->local->context;
}

static inline struct task_memory *memory_of(const struct worker_task *task)
{
	return task->memory;
}

static inline struct request *request_of(const struct worker_task *queue)
{
	return &stage_of(queue)->requests[queue->number];
}

static inline const char *string_of(const struct worker_task *task, __le32 text)
{
	return iot_program_string(task->local->program, text);
}

/* The return value of a system call, as an operation's result. */
#define RESULT(call)                             \
	({                                       \
		s64 result_ = (s64)(call);       \
		result_ < 0 ? -errno : result_;  \
	})

typedef s64 (*run_fn)(struct worker_task *task, const struct iot_program_op *op);

/* run_syscall.c */
u32 mode_to_make(struct worker_task *task, u32 mode);
u64 rdev_to_make(struct worker_task *task, u32 mode, u64 rdev);
void value_to_set(struct worker_task *task, const char *name, u8 *value, size_t value_bytes);
s64 run_operation(struct worker_task *task, const struct iot_program_op *op);
void run_observe(struct worker_task *task, const struct iot_program_op *op);

/* run_lookup() and so on: one for each kind, in run_syscall_*.c. */
#define DECLARE_RUN(kind, ...) s64 run_##kind(struct worker_task *task, const struct iot_program_op *op);
IOT_OPERATIONS(DECLARE_RUN)
#undef DECLARE_RUN

/* run_syscall_fresh.c */
u64 run_room_grow(struct task_memory *memory, u64 bytes);
int run_prepare(struct worker_task *task, const struct iot_program_op *op);
void run_end(struct worker_task *task);

/* run_names.c */
int walk(struct worker_task *task, __le32 path);
s64 run_open(struct worker_task *task, const struct iot_program_op *op);

/* run_syscall_locks.c */
struct lockers *lockers_open(void);
void lockers_close(struct lockers *lockers);

/* run_maps.c */
void take_faults(void);

#endif
