// SPDX-License-Identifier: GPL-2.0-only
/*
 * program_load.c - loads a program: reads it, verifies it, and allocates memory to run it.
 */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "handles.h"
#include "replayfs.h"
#include "window.h"

static int verify_pause(void *context)
{
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

static int verify(struct rfs_replay *replay, struct iot_reject *reject)
{
	const struct iot_program *program = &replay->program;
	u32 *scratch = vmalloc(array_size(iot_program_scratch_count(program) + 1, sizeof(*scratch)));
	int err;

	if (!scratch)
		return -ENOMEM;
	err = iot_program_verify(program, scratch, verify_pause, NULL, reject);
	vfree(scratch);
	if (!program->reader || !program->reader->error)
		return err;
	*reject = (struct iot_reject){};
	err = program->reader->error;
	if (replay->source.packed.bad)
		err = rfs_source_refuse(&replay->source, err, reject);
	else if (err == -EBADMSG)
		err = iot_refuse(reject, IOT_REJECT_changed, 0);
	return err;
}

static int make_tasks(struct rfs_replay *replay, u64 room_bytes)
{
	const struct iot_program *program = &replay->program;
	u32 *progress, *pending;
	int err;

	replay->tasks = vzalloc(array_size(program->task_count + 1, sizeof(*replay->tasks)));
	replay->latches = vzalloc(array_size(program->latch_count + 1, sizeof(*replay->latches)));
	progress = vzalloc(array_size(program->task_count + 1, IOT_ORDER_STEP * sizeof(*progress)));
	pending = vzalloc(array_size(program->latch_count + 1, sizeof(*pending)));
	replay->order.progress = progress; /* freed with the replay, whatever happens */
	replay->order.pending = pending;
	if (!replay->tasks || !replay->latches || !progress || !pending)
		return -ENOMEM;
	iot_order_init(&replay->order, program, progress, IOT_ORDER_STEP, pending);
	err = rfs_waits_init(replay);
	if (!err)
		err = rfs_requests_init(replay);
	if (!err)
		err = rfs_windows_init(replay, room_bytes);
	if (!err)
		err = rfs_pools_init(replay);
	return err ? err : rfs_handles_init(replay);
}

/* Free the result of make_tasks(), or a part of it. */
static void free_tasks(struct rfs_replay *replay)
{
	u32 i;

	rfs_requests_exit(replay);
	rfs_windows_exit(replay);
	rfs_handles_exit(replay);
	for (i = 0; replay->tasks && i < replay->program.task_count; i++)
		rfs_task_forget(&replay->tasks[i]);
	vfree(replay->order.progress);
	vfree(replay->order.pending);
	rfs_partition_exit(replay);
	rfs_waits_exit(replay);
	vfree(replay->pools);
	vfree(replay->tasks);
	vfree(replay->latches);
	replay->order = (struct iot_order){};
	replay->pools = NULL;
	replay->pool_count = 0; /* the caller may try again */
	replay->tasks = NULL;
	replay->latches = NULL;
}

static int load_all(struct rfs_replay *replay, const struct iot_replay_load *load,
		    struct iot_reject *reject)
{
	int err = rfs_source_open(&replay->source, load, &replay->program, reject);

	if (!err)
		err = verify(replay, reject);
	if (err)
		return err;
	err = make_tasks(replay, load->resident_bytes);
	if (err)
		free_tasks(replay);
	return err;
}

/**
 * rfs_load() - take a program, and verify every byte of it
 * @replay: empty; after an error it is still, and it can be tried again
 * @load: from user space; out members are filled in
 *
 * Return: 0; -EBADMSG or another errno of reject.h, with the reason in @load; -EBADF or -EINVAL if
 * the descriptor is none of a file that can be read; -EFBIG; -ENOMEM; -EINTR; -EBUSY if a program
 * has been loaded.
 */
int rfs_load(struct rfs_replay *replay, struct iot_replay_load *load)
{
	struct iot_reject reject = {};
	int err;

	if (replay->state != RFS_EMPTY)
		return -EBUSY;
	if (load->is_streamed)
		return -EINVAL;
	err = load_all(replay, load, &reject);
	load->reason = reject.reason;
	load->offset_bytes = reject.offset_bytes;
	if (err) {
		rfs_source_close(&replay->source);
		replay->program = (struct iot_program){};
		return err;
	}
	load->tasks = replay->carried;
	load->ops = replay->program.op_count;
	load->is_streamed = replay->source.is_streamed;
	rfs_source_settle(&replay->source, &replay->program);
	smp_store_release(&replay->state, RFS_LOADED); /* after all of its memory */
	return 0;
}

/*
 * The target as a private mount: nothing is mounted in it, so no path in it leads to another file
 * system, and it cannot be unmounted during the replay. Nor do its device nodes lead out of it: the
 * mount is nodev, so none can be opened, regardless of its creator.
 */
static int take_root(struct rfs_replay *replay, int target_fd)
{
	struct file *dir = fget(target_fd);
	struct vfsmount *mnt;
	int err = 0;

	if (!dir)
		return -EBADF;
	if (!S_ISDIR(file_inode(dir)->i_mode)) {
		err = -ENOTDIR;
	} else {
		mnt = clone_private_mount(&dir->f_path);
		err = PTR_ERR_OR_ZERO(mnt);
	}
	if (!err) {
		mnt->mnt_flags |= MNT_NODEV;
		replay->root = (struct path){ .mnt = mnt, .dentry = dget(mnt->mnt_root) };
	}
	fput(dir);
	return err;
}

/**
 * rfs_setup() - where and how to run
 * @replay: loaded
 * @setup: from user space
 *
 * Return: 0; -EINVAL; -EBUSY if it is set up already; -EBADF or -ENOTDIR if the target
 * is no open directory; -EBADF or -ENOTTY if the session is none.
 */
int rfs_setup(struct rfs_replay *replay, const struct iot_replay_setup *setup)
{
	struct iot_session *session = NULL;
	int err;

	if (replay->state != RFS_LOADED)
		return replay->state == RFS_EMPTY ? -EINVAL : -EBUSY;
	if (setup->pace > IOT_PACE_SCALED || setup->data > IOT_DATA_DISCARD ||
	    setup->wait > IOT_WAIT_SPIN || setup->users > IOT_USERS_RECORDED ||
	    (setup->flags & ~IOT_REPLAY_FLAGS) || setup->reserved)
		return -EINVAL;
	if (setup->session_fd >= 0) {
		session = iot_session_get_fd(setup->session_fd);
		if (IS_ERR(session))
			return PTR_ERR(session);
	}
	err = take_root(replay, setup->target_fd);
	if (err) {
		if (session)
			iot_session_put(session);
		return err;
	}
	replay->session = session;
	replay->setup = *setup;
	replay->is_timed = session || setup->pace != IOT_PACE_FULL;
	rfs_pools_fill(replay);
	smp_store_release(&replay->state, RFS_READY);
	return 0;
}

/**
 * rfs_unload() - the descriptor was closed: free everything
 * @replay: no longer in use
 */
void rfs_unload(struct rfs_replay *replay)
{
	free_tasks(replay);
	if (replay->root.mnt) {
		dput(replay->root.dentry);
		kern_unmount(replay->root.mnt);
	}
	if (replay->session)
		iot_session_put(replay->session);
	rfs_source_close(&replay->source);
	kfree(replay);
}
