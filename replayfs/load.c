// SPDX-License-Identifier: GPL-2.0-only
/*
 * load.c - a program comes in, is verified, and gets what it needs to run.
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

/* A program may take that part of the machine's memory at most. */
#define MEMORY_SHARE 4

static int take_head(struct rfs_replay *replay)
{
	struct iot_reject reject;
	s64 size = iot_program_size(&replay->head, &reject);

	if (size < 0)
		return 0; /* rfs_load() says why; there is no use for more bytes */
	if (size > (s64)(totalram_pages() << PAGE_SHIFT) / MEMORY_SHARE)
		return -EFBIG;
	replay->bytes = vmalloc(size);
	if (!replay->bytes)
		return -ENOMEM;
	memcpy(replay->bytes, &replay->head, sizeof(replay->head));
	replay->byte_count = size;
	return 0;
}

/**
 * rfs_load_write() - the next bytes of the program
 * @replay: empty
 * @data: the bytes
 * @bytes: their number
 *
 * Bytes that follow the end of the program, as its header has it, are ignored.
 *
 * Return: bytes taken, which is all; -EFBIG if the program is too large for this
 * machine; -ENOMEM; -EBUSY if a program has been loaded; -EFAULT.
 */
ssize_t rfs_load_write(struct rfs_replay *replay, const char __user *data, size_t bytes)
{
	size_t left = bytes, part;
	int err;

	if (replay->state != RFS_EMPTY)
		return -EBUSY;
	if (replay->written < sizeof(replay->head)) {
		part = min_t(size_t, left, sizeof(replay->head) - replay->written);
		if (copy_from_user((u8 *)&replay->head + replay->written, data, part))
			return -EFAULT;
		replay->written += part;
		data += part;
		left -= part;
		if (replay->written < sizeof(replay->head))
			return bytes;
		err = take_head(replay);
		if (err) {
			replay->written -= part; /* so that it can be tried again */
			return err;
		}
	}
	if (replay->written < replay->byte_count) {
		part = min_t(u64, left, replay->byte_count - replay->written);
		if (copy_from_user(replay->bytes + replay->written, data, part))
			return -EFAULT;
		replay->written += part;
	}
	return bytes;
}

static int verify_pause(void *context)
{
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

static int verify(struct rfs_replay *replay, struct iot_reject *reject)
{
	u32 *scratch;
	s64 size;
	int err;

	if (!replay->bytes && replay->written == sizeof(replay->head)) {
		size = iot_program_size(&replay->head, reject);
		if (size < 0)
			return (int)size;
	}
	if (!replay->bytes || replay->written < replay->byte_count)
		return iot_refuse(reject, IOT_REJECT_program_short, replay->written);
	err = iot_program_open(&replay->program, replay->bytes, replay->byte_count, reject);
	if (err)
		return err;
	scratch = vmalloc(array_size(iot_program_scratch_count(&replay->program) + 1,
				     sizeof(*scratch)));
	if (!scratch)
		return -ENOMEM;
	err = iot_program_verify(&replay->program, scratch, verify_pause, NULL, reject);
	vfree(scratch);
	return err;
}

static int make_tasks(struct rfs_replay *replay)
{
	const struct iot_program *program = &replay->program;
	u32 *progress, *pending;
	int err;

	replay->tasks = vzalloc(array_size(program->task_count + 1, sizeof(*replay->tasks)));
	replay->hubs = vzalloc(array_size(program->hub_count + 1, sizeof(*replay->hubs)));
	progress = vzalloc(array_size(program->task_count + 1, IOT_ORDER_STEP * sizeof(*progress)));
	pending = vzalloc(array_size(program->hub_count + 1, sizeof(*pending)));
	replay->order.progress = progress; /* freed with the replay, whatever happens */
	replay->order.pending = pending;
	if (!replay->tasks || !replay->hubs || !progress || !pending)
		return -ENOMEM;
	iot_order_init(&replay->order, program, progress, IOT_ORDER_STEP, pending);
	err = rfs_waits_init(replay);
	if (!err)
		err = rfs_requests_init(replay);
	if (!err)
		err = rfs_pools_init(replay);
	return err ? err : rfs_handles_init(replay);
}

/* What make_tasks() made, or a part of it. */
static void free_tasks(struct rfs_replay *replay)
{
	u32 i;

	rfs_requests_exit(replay);
	rfs_handles_exit(replay);
	for (i = 0; replay->tasks && i < replay->program.task_count; i++)
		kvfree(replay->tasks[i].memory);
	vfree(replay->order.progress);
	vfree(replay->order.pending);
	rfs_share_exit(replay);
	rfs_waits_exit(replay);
	vfree(replay->pools);
	vfree(replay->tasks);
	vfree(replay->hubs);
	replay->order = (struct iot_order){};
	replay->pools = NULL;
	replay->tasks = NULL;
	replay->hubs = NULL;
}

/**
 * rfs_load() - the program is complete: verify every byte of it
 * @replay: empty
 * @load: filled in
 *
 * Return: 0; -EBADMSG or another errno of reject.h, with the reason in @load; -ENOMEM;
 * -EINTR; -EBUSY if a program has been loaded.
 */
int rfs_load(struct rfs_replay *replay, struct iot_replay_load *load)
{
	struct iot_reject reject = {};
	int err;

	*load = (struct iot_replay_load){};
	if (replay->state != RFS_EMPTY)
		return -EBUSY;
	err = verify(replay, &reject);
	load->reason = reject.reason;
	load->offset_bytes = reject.offset_bytes;
	if (err)
		return err;
	err = make_tasks(replay);
	if (err) {
		free_tasks(replay); /* it can be tried again */
		return err;
	}
	load->tasks = replay->carried;
	load->ops = replay->program.op_count;
	smp_store_release(&replay->state, RFS_LOADED); /* what it needs is there */
	return 0;
}

/*
 * The target as a private mount: nothing is mounted in it, so no path in it leads to
 * another file system, and it cannot be unmounted under us.
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
		if (!err)
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
	    setup->wait > IOT_WAIT_SPIN || setup->reserved)
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
 * @replay: nobody uses it any more
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
	vfree(replay->bytes);
	kfree(replay);
}
