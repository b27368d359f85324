// SPDX-License-Identifier: GPL-2.0-only
/*
 * replay_control.c - /dev/replayfs: a descriptor is a replay.
 */
#include <iotape/control.h>

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "replayfs.h"
#include "window.h"

/*
 * A worker runs operations with its own rights; but a replay can keep the machine busy
 * and hold much memory, so only an administrator may start one.
 */
static int replay_open(struct inode *inode, struct file *file)
{
	struct rfs_replay *replay;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	replay = kzalloc(sizeof(*replay), GFP_KERNEL);
	if (!replay)
		return -ENOMEM;
	mutex_init(&replay->lock);
	init_waitqueue_head(&replay->go);
	init_waitqueue_head(&replay->feeders);
	init_llist_head(&replay->hungry);
	file->private_data = replay;
	return 0;
}

static int replay_release(struct inode *inode, struct file *file)
{
	rfs_unload(file->private_data);
	return 0;
}

static int control_load(struct rfs_replay *replay, struct iot_replay_load __user *arg)
{
	struct iot_replay_load load;
	int err;

	if (copy_from_user(&load, arg, sizeof(load)))
		return -EFAULT;
	err = rfs_load(replay, &load);
	if (copy_to_user(arg, &load, sizeof(load)))
		return -EFAULT;
	return err;
}

static int control_setup(struct rfs_replay *replay, const void __user *arg)
{
	struct iot_replay_setup setup;

	if (copy_from_user(&setup, arg, sizeof(setup)))
		return -EFAULT;
	return rfs_setup(replay, &setup);
}

static int control_share(struct rfs_replay *replay, const void __user *arg)
{
	struct iot_replay_partition partition;

	if (copy_from_user(&partition, arg, sizeof(partition)))
		return -EFAULT;
	return rfs_partition_set(replay, &partition);
}

static long control_locked(struct rfs_replay *replay, unsigned int command, void __user *arg)
{
	switch (command) {
	case IOT_RIOC_LOAD:
		return control_load(replay, arg);
	case IOT_RIOC_PARTITION:
		return control_share(replay, arg);
	case IOT_RIOC_SETUP:
		return control_setup(replay, arg);
	default:
		return rfs_start(replay);
	}
}

static int control_run(struct rfs_replay *replay, struct iot_replay_run __user *arg)
{
	struct iot_replay_run run;
	int state;

	if (copy_from_user(&run, arg, sizeof(run)))
		return -EFAULT;
	state = rfs_worker_run(replay, &run);
	return put_user(run.task, &arg->task) ? -EFAULT : state;
}

static int control_keep(struct rfs_replay *replay, const void __user *arg)
{
	struct iot_replay_keep keep;

	if (copy_from_user(&keep, arg, sizeof(keep)))
		return -EFAULT;
	if (keep.reserved || smp_load_acquire(&replay->state) < RFS_READY)
		return -EINVAL;
	return rfs_pool_keep(replay, keep.space);
}

static int control_feed(struct rfs_replay *replay)
{
	if (smp_load_acquire(&replay->state) < RFS_READY)
		return -EINVAL;
	return rfs_windows_feed(replay);
}

static int control_status(struct rfs_replay *replay, void __user *arg)
{
	struct iot_replay_status status;

	rfs_status(replay, &status);
	return copy_to_user(arg, &status, sizeof(status)) ? -EFAULT : 0;
}

static int control_lateness(struct rfs_replay *replay, void __user *arg)
{
	struct iot_replay_lateness lateness;

	rfs_lateness(replay, &lateness);
	return copy_to_user(arg, &lateness, sizeof(lateness)) ? -EFAULT : 0;
}

/* Requests of the agent of a node. */
static int control_agent(struct rfs_replay *replay, unsigned int command, const void __user *arg)
{
	union {
		struct iot_replay_moved moved;
		struct iot_replay_move move;
		struct iot_replay_signal signal;
	} u;

	if (copy_from_user(&u, arg, _IOC_SIZE(command)))
		return -EFAULT;
	switch (command) {
	case IOT_RIOC_MOVED:
		return rfs_moved(replay, &u.moved);
	case IOT_RIOC_ADVANCE:
		return rfs_advance(replay, &u.move);
	default:
		return rfs_latch_signal_remote(replay, &u.signal);
	}
}

static long replay_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	struct rfs_replay *replay = file->private_data;
	void __user *user = (void __user *)arg;
	long err;

	switch (command) {
	case IOT_RIOC_LOAD:
	case IOT_RIOC_PARTITION:
	case IOT_RIOC_SETUP:
	case IOT_RIOC_START:
		if (mutex_lock_interruptible(&replay->lock))
			return -ERESTARTSYS;
		err = control_locked(replay, command, user);
		mutex_unlock(&replay->lock);
		return err;
	case IOT_RIOC_RUN:
		return control_run(replay, user);
	case IOT_RIOC_KEEP:
		return control_keep(replay, user);
	case IOT_RIOC_MOVED:
	case IOT_RIOC_ADVANCE:
	case IOT_RIOC_SIGNAL:
		return control_agent(replay, command, user);
	case IOT_RIOC_FEED:
		return control_feed(replay);
	case IOT_RIOC_STATUS:
		return control_status(replay, user);
	case IOT_RIOC_LATENESS:
		return control_lateness(replay, user);
	case IOT_RIOC_CANCEL:
		rfs_cancel(replay);
		return 0;
	default:
		return -ENOTTY;
	}
}

static const struct file_operations replay_fops = {
	.owner = THIS_MODULE,
	.open = replay_open,
	.release = replay_release,
	.unlocked_ioctl = replay_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice replay_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "replayfs",
	.fops = &replay_fops,
	.mode = 0600,
};

/**
 * rfs_control_init() - make the device /dev/replayfs
 *
 * Return: 0 or a negative errno.
 */
int rfs_control_init(void)
{
	return misc_register(&replay_device);
}

/**
 * rfs_control_exit() - remove the device; no descriptor of it is open
 */
void rfs_control_exit(void)
{
	misc_deregister(&replay_device);
}
