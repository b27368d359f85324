// SPDX-License-Identifier: GPL-2.0-only
/*
 * engine_thread.c - replay a program by system calls of this process: without root, without
 * modules.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "read_buffer.h"
#include "run_syscall.h"
#include "thread_users.h"

struct engine {
	struct local_replay *local;
	struct stage stage;
};

/* Once for each thread, if possible before the start. */
static void touch_memory(struct worker_task *task)
{
	struct task_memory *memory = memory_of(task);

	if (memory->touched_bytes)
		return;
	read_buffer_touch(memory->sink, stage_of(task)->touched_bytes);
	memory->touched_bytes = stage_of(task)->touched_bytes;
}

static int begin(struct worker_task *task)
{
	touch_memory(task);
	if (task->local->options->users == IOT_USERS_SELF)
		return 0;
	return users_become(&task->local->program->tasks[task->number]);
}

static const struct op_runner runner = {
	.memory_bytes = sizeof(struct task_memory),
	.begin = begin,
	.prepare = run_prepare,
	.run = run_operation,
	.observe = run_observe,
	.end = run_end,
};

/* Data that does not compress. */
static u8 *make_source(void)
{
	u8 *source = mmap(NULL, IOT_WORKER_BUFFER_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u64 state = 0x2545f4914f6cdd1dull;
	size_t i;

	if (source == MAP_FAILED)
		return NULL;
	for (i = 0; i < IOT_WORKER_BUFFER_BYTES; i += sizeof(state)) { /* xorshift64 */
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		memcpy(source + i, &state, sizeof(state));
	}
	return source;
}

/* Each slot is on a line of its own. Return: NULL if out of memory. */
static void *make_slots(u32 count, size_t slot_bytes)
{
	size_t bytes = (count + 1ul) * slot_bytes;
	void *slots = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return slots == MAP_FAILED ? NULL : slots;
}

/*
 * The target on a private mount, invisible to other processes, on which the kernel opens no device:
 * so an open needs no extra check, and no other object can replace the file in between. Mounts
 * below the target are included, so that paths lead to the same objects.
 *
 * Return: a descriptor; a negative errno, for example if the caller may not mount.
 */
static int mount_without_devices(int target_fd)
{
	struct mount_attr nodev = { .attr_set = MOUNT_ATTR_NODEV };
	int fd, err;

	fd = (int)syscall(SYS_open_tree, target_fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
			  AT_EMPTY_PATH);
	if (fd < 0)
		return -errno;
	if (!syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &nodev, sizeof(nodev)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static bool has_devices(const struct iot_program *program)
{
	u32 i, mode;

	for (i = 0; i < program->entry_count; i++) {
		mode = le32_to_cpu(program->tree[i].mode);
		if (S_ISCHR(mode) || S_ISBLK(mode))
			return true;
	}
	return false;
}

/* Without this mount, the program creates no device; a device exists only if it existed before. */
static void confine(struct replay *replay, struct stage *stage)
{
	int fd = mount_without_devices(replay->target_fd);

	stage->is_mounted = fd >= 0;
	stage->root_fd = stage->is_mounted ? fd : replay->target_fd;
	stage->is_wary = !stage->is_mounted &&
			 (replay->options->is_forced || has_devices(replay->options->program));
}

static int thread_open(struct replay *replay)
{
	const struct iot_program *program = replay->options->program;
	struct engine *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return replay_refuse(replay, "the thread engine", -ENOMEM);
	replay->state = e;
	err = local_replay_open(replay, &runner, &e->stage, &e->local);
	if (err)
		return err;
	e->stage = (struct stage){
		.root_fd = -1,
		.null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC),
		.source = make_source(),
		.touched_bytes = read_buffer_touched_bytes(program),
		.handles = make_slots(program->handle_count, sizeof(struct handle)),
		.maps = make_slots(program->map_count, sizeof(struct map)),
		.lockers = lockers_open(),
		.requests = calloc(program->task_count + 1ul, sizeof(struct request)),
	};
	if (e->stage.null_fd < 0)
		return replay_refuse(replay, "/dev/null", -errno);
	if (!e->stage.source || !e->stage.handles || !e->stage.maps || !e->stage.lockers ||
	    !e->stage.requests)
		return replay_refuse(replay, "the slots of the program", -ENOMEM);
	if (access("/proc/self/fd", X_OK))
		return replay_refuse(replay, "/proc/self/fd", -errno);
	return 0;
}

static int thread_set_up(struct replay *replay)
{
	struct engine *e = replay->state;

	confine(replay, &e->stage);
	iot_file_limit_raise(); /* a handle is a descriptor here, and a program may have many */
	take_faults();
	return local_replay_set_up(e->local);
}

static int thread_ready(struct replay *replay)
{
	struct engine *e = replay->state;

	return local_replay_ready(e->local);
}

static int thread_start(struct replay *replay)
{
	struct engine *e = replay->state;

	return local_replay_start(e->local);
}

static int thread_wait(struct replay *replay, int timeout_ms)
{
	struct engine *e = replay->state;

	return local_replay_wait(e->local, timeout_ms);
}

static void thread_status(struct replay *replay, struct iot_replay_status *status)
{
	struct engine *e = replay->state;

	local_replay_status(e->local, status);
}

static void thread_lateness(struct replay *replay, struct iot_replay_lateness *lateness)
{
	struct engine *e = replay->state;

	local_replay_lateness(e->local, lateness);
}

static int thread_moved(struct replay *replay, struct iot_replay_move *moved, u32 room, u64 timeout_ns)
{
	struct engine *e = replay->state;

	return local_replay_moved(e->local, moved, room, timeout_ns);
}

static int thread_advance(struct replay *replay, u32 task, u32 ended)
{
	struct engine *e = replay->state;

	return local_replay_advance(e->local, task, ended);
}

static int thread_signal(struct replay *replay, u32 latch, u32 count)
{
	struct engine *e = replay->state;

	return local_replay_signal(e->local, latch, count);
}

static void thread_cancel(struct replay *replay)
{
	struct engine *e = replay->state;

	local_replay_cancel(e->local);
}

/* Mappings and open slots are released with the process. */
static int thread_close(struct replay *replay)
{
	const struct iot_program *program = replay->options->program;
	struct engine *e = replay->state;
	int err;

	if (!e)
		return 0;
	err = local_replay_close(e->local);
	if (e->stage.is_mounted)
		close(e->stage.root_fd);
	if (e->stage.null_fd > 0)
		close(e->stage.null_fd);
	if (e->stage.source)
		munmap(e->stage.source, IOT_WORKER_BUFFER_BYTES);
	if (e->stage.handles)
		munmap(e->stage.handles, (program->handle_count + 1ul) * sizeof(struct handle));
	if (e->stage.maps)
		munmap(e->stage.maps, (program->map_count + 1ul) * sizeof(struct map));
	lockers_close(e->stage.lockers);
	free(e->stage.requests);
	free(e);
	return err;
}

const struct replay_engine engine_thread = {
	.name = "thread",
	.sentence = "system calls of threads, without root and without modules",
	.data_modes = ENGINE_COPIES,
	.uses_target = true,
	.open = thread_open,
	.set_up = thread_set_up,
	.ready = thread_ready,
	.start = thread_start,
	.wait = thread_wait,
	.status = thread_status,
	.lateness = thread_lateness,
	.moved = thread_moved,
	.advance = thread_advance,
	.signal = thread_signal,
	.cancel = thread_cancel,
	.close = thread_close,
};
