// SPDX-License-Identifier: GPL-2.0-only
/*
 * lower_file.c - calls into the lower file system through an open file.
 *
 * Reads and writes are not here: rw.c makes their control blocks itself.
 */
#include <linux/compat.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/pipe_fs_i.h>
#include <linux/uaccess.h>

#include "lower.h"
#include "compat/vfs.h"

/* Flags that apply to the name, and are done by the time a file is opened. */
#define OPEN_ONCE_FLAGS (O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC)

/*
 * Access times depend on the mount of the lower file, not on the upper mount: so the noatime options of the
 * upper mount, perhaps a bind mount, become a flag of the lower file. A read-only mount updates none.
 */
static unsigned int noatime_of(const struct file *file)
{
	const int flags = READ_ONCE(file->f_path.mnt->mnt_flags);

	if ((flags & (MNT_NOATIME | MNT_READONLY)) || sb_rdonly(file_inode(file)->i_sb) ||
	    ((flags & MNT_NODIRATIME) && S_ISDIR(file_inode(file)->i_mode)))
		return O_NOATIME;
	return 0;
}

/**
 * tfs_do_open() - open the object below again
 * @file: upper file, perhaps just being opened
 * @flags: its flags, or those of them that matter
 *
 * Return: a new lower file, or an error.
 */
struct file *tfs_do_open(const struct file *file, int flags)
{
	struct path lower = tfs_lower_path(file_dentry(file));
	struct file *opened = dentry_open(&lower, flags & ~OPEN_ONCE_FLAGS, current_cred());

	/* Not with the open: the server of a FUSE file system would itself need permission for it. */
	if (!IS_ERR(opened))
		opened->f_flags |= noatime_of(file);
	return opened;
}

/**
 * tfs_lower_as_set() - the lower file, with the flags that the upper one has now
 * @file: upper file; fcntl(F_SETFL) changes only that, and the lower file system must see its flags, too
 *
 * Return: the lower file.
 */
struct file *tfs_lower_as_set(struct file *file)
{
	const unsigned int settable = O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME;
	unsigned int flags = (file->f_flags & settable) | noatime_of(file);
	struct file *lower = tfs_lower_file(file);

	if (unlikely((lower->f_flags ^ flags) & settable)) {
		spin_lock(&lower->f_lock);
		lower->f_flags = (lower->f_flags & ~settable) | flags;
		spin_unlock(&lower->f_lock);
	}
	return lower;
}

/**
 * tfs_notify_rw() - notify watchers of the lower file (inotify, fanotify) of a read or write
 * @file: upper file, whose own watchers the VFS notifies
 * @is_write: a write, not a read
 * @result: its result
 *
 * For operations that do not go through a function of the VFS, which would do it. Context: may sleep.
 */
void tfs_notify_rw(const struct file *file, bool is_write, ssize_t result)
{
	if (result <= 0)
		return;
	if (is_write)
		fsnotify_modify(tfs_lower_file(file));
	else
		fsnotify_access(tfs_lower_file(file));
}

/*
 * A process that closes a descriptor loses its locks of the object. These are locks of the lower inode; the VFS
 * releases only those of the upper one, which has none.
 */
int tfs_do_flush(struct file *file, fl_owner_t owner)
{
	struct file *lower = tfs_lower_as_set(file);
	int err = lower->f_op->flush ? lower->f_op->flush(lower, owner) : 0;

	locks_remove_posix(lower, owner);
	return err;
}

/* Move a lock from one file to another. A lock that the first one owns is then owned by the second. */
static void move_lock(struct file_lock *lock, struct file *from, struct file *to)
{
	if (iot_lock_file(lock) != from)
		return;
	iot_lock_file(lock) = to;
	if (iot_lock_owner(lock) == (fl_owner_t)from)
		iot_lock_owner(lock) = (fl_owner_t)to;
}

/**
 * tfs_do_lock() - fcntl(2) locks, which belong to the process or to the open file
 * @file: upper file
 * @command: F_GETLK, F_SETLK or F_SETLKW
 * @lock: the VFS's, on the upper file before and after the call; on the lower file in between.
 *	A lock found by F_GETLK is on no file
 *
 * So they conflict with locks taken through the lower file system, on other nodes, too. The wait
 * for a lock happens in here: the VFS could wait as well, and call again, but then one call would
 * be several operations.
 *
 * Return: as vfs_lock_file().
 */
int tfs_do_lock(struct file *file, int command, struct file_lock *lock)
{
	struct file *lower = tfs_lower_file(file);
	int err;

	move_lock(lock, file, lower);
	if (command == F_GETLK)
		err = vfs_test_lock(lower, lock);
	else if (lower->f_op->lock)
		err = lower->f_op->lock(lower, command, lock);
	else
		err = locks_lock_file_wait(lower, lock);
	move_lock(lock, lower, file);
	return err;
}

/* Release all locks of the process of current on the object, whatever the descriptor. */
void tfs_do_unlock_process(struct file *file)
{
	locks_remove_posix(tfs_lower_file(file), current->files);
}

/**
 * tfs_do_flock() - flock(2)
 * @file: upper file
 * @command: F_SETLK or F_SETLKW
 * @lock: as for tfs_do_lock(); the last reference of the lower file gives it up
 *
 * Return: 0 or a negative errno.
 */
int tfs_do_flock(struct file *file, int command, struct file_lock *lock)
{
	struct file *lower = tfs_lower_file(file);
	int err;

	move_lock(lock, file, lower);
	if (lower->f_op->flock)
		err = lower->f_op->flock(lower, command, lock);
	else
		err = locks_lock_file_wait(lower, lock);
	move_lock(lock, lower, file);
	return err;
}

/* The caller holds f_pos_lock where the position is shared, as for any file. */
loff_t tfs_do_llseek(struct file *file, loff_t offset, int whence)
{
	struct file *lower = tfs_lower_file(file);
	loff_t result;

	lower->f_pos = file->f_pos;
	result = vfs_llseek(lower, offset, whence);
	file->f_pos = lower->f_pos;
	return result;
}

/* A write-back error is reported once: sync_file_range(2), which checks the upper file, does not repeat it. */
int tfs_do_fsync(struct file *file, loff_t start, loff_t end, int datasync)
{
	struct file *lower = tfs_lower_as_set(file);
	struct tfs_call call;
	int err;

	tfs_call_begin(file, &call);
	err = vfs_fsync_range(lower, start, end, datasync);
	tfs_call_end(file, &call);
	if (unlikely(err) && file->f_mapping == lower->f_mapping) {
		spin_lock(&file->f_lock);
		file->f_wb_err = READ_ONCE(lower->f_wb_err);
		spin_unlock(&file->f_lock);
	}
	return err;
}

long tfs_do_fallocate(struct file *file, int mode, loff_t offset, loff_t length)
{
	struct tfs_call call;
	long err;

	tfs_call_begin(file, &call);
	err = vfs_fallocate(tfs_lower_as_set(file), mode, offset, length);
	tfs_call_end(file, &call);
	return err;
}

int tfs_do_fadvise(struct file *file, loff_t offset, loff_t length, int advice)
{
	struct tfs_call call;
	int err;

	tfs_call_begin(file, &call);
	err = vfs_fadvise(tfs_lower_file(file), offset, length, advice);
	tfs_call_end(file, &call);
	return err;
}

ssize_t tfs_do_splice_read(struct file *file, loff_t *offset, struct pipe_inode_info *pipe,
			   size_t length, unsigned int flags)
{
	ssize_t result = vfs_splice_read(tfs_lower_as_set(file), offset, pipe, length, flags);

	tfs_notify_rw(file, false, result);
	return result;
}

/* The VFS has asked the upper super block for leave to write; the lower one is asked here. */
ssize_t tfs_do_splice_write(struct pipe_inode_info *pipe, struct file *file, loff_t *offset,
			    size_t length, unsigned int flags)
{
	struct file *lower = tfs_lower_as_set(file);
	struct tfs_call call;
	ssize_t result;

	tfs_call_begin(file, &call);
	file_start_write(lower);
	result = lower->f_op->splice_write(pipe, lower, offset, length, flags);
	file_end_write(lower);
	tfs_call_end(file, &call);
	tfs_notify_rw(file, true, result);
	return result;
}

ssize_t tfs_do_copy_range(struct file *in, loff_t offset_in, struct file *out, loff_t offset_out,
			  size_t length, unsigned int flags)
{
	struct file *lower_in = tfs_lower_get_plain(in);
	struct tfs_call call;
	ssize_t result;

	tfs_call_begin(out, &call);
	result = vfs_copy_file_range(lower_in, offset_in, tfs_lower_as_set(out), offset_out, length, flags);
	tfs_call_end(out, &call);
	fput(lower_in);
	return result;
}

loff_t tfs_do_remap_range(struct file *in, loff_t offset_in, struct file *out, loff_t offset_out,
			  loff_t length, unsigned int flags)
{
	struct tfs_call call;
	loff_t result;

	tfs_call_begin(out, &call);
	if (flags & REMAP_FILE_DEDUP)
		result = vfs_dedupe_file_range_one(tfs_lower_as_set(in), offset_in, tfs_lower_as_set(out),
						   offset_out, length, flags);
	else
		result = vfs_clone_file_range(tfs_lower_as_set(in), offset_in, tfs_lower_as_set(out),
					      offset_out, length, flags);
	tfs_call_end(out, &call);
	return result;
}

/* XFS_IOC_EXCHANGE_RANGE and XFS_IOC_COMMIT_RANGE, of a header that only XFS has, take 40 and 88 bytes. */
#define EXCHANGE_RANGE _IOC(_IOC_WRITE, 'X', 129, 40)
#define COMMIT_RANGE   _IOC(_IOC_WRITE, 'X', 131, 88)

static bool is_open_to_exchange(const struct file *file)
{
	const fmode_t both = FMODE_READ | FMODE_WRITE;

	return (file->f_mode & both) == both && !(file->f_flags & O_APPEND);
}

/* The checks of XFS, from the one for the same mount to the one for its support of exchanges. */
static int exchange_error(const struct file *file, const struct file *other)
{
	umode_t mode = file_inode(file)->i_mode, other_mode = file_inode(other)->i_mode;

	if (other->f_path.mnt != file->f_path.mnt)
		return -EXDEV;
	if (S_ISDIR(mode) || S_ISDIR(other_mode))
		return -EISDIR;
	if (!S_ISREG(mode) || !S_ISREG(other_mode))
		return -EINVAL;
	return is_open_to_exchange(file) && is_open_to_exchange(other) ? -EOPNOTSUPP : -EBADF;
}

/*
 * The lower file system finds the other file by its descriptor, which refers to the upper file, and refuses it as a
 * file on another mount. So the ioctl is reported as unsupported, for which callers are prepared, because most XFS
 * do not support it either. The lower file cannot be passed on: it would need a descriptor in the caller's table,
 * and the number of the descriptor in the caller's memory.
 */
static int exchange_refuse(const struct file *file, const int __user *descriptor)
{
	struct file *other;
	int fd, err;

	if (get_user(fd, descriptor))
		return -EFAULT;
	other = fget(fd);
	if (!other)
		return -EBADF;
	err = exchange_error(file, other);
	fput(other);
	return err;
}

/* In both ioctls the descriptor comes first. */
static long ioctl_result(const struct file *file, unsigned int command, unsigned long argument,
			 long result)
{
	if (likely(result != -EXDEV) || (command != EXCHANGE_RANGE && command != COMMIT_RANGE))
		return result;
	return exchange_refuse(file, (const int __user *)argument);
}

/* Return: as f_op->unlocked_ioctl. */
long tfs_do_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct tfs_call call;
	struct file *lower;
	long result;

	if (!tfs_lower_file(file)->f_op->unlocked_ioctl)
		return -ENOTTY;
	lower = tfs_lower_get_for_ioctl(file, command);
	if (IS_ERR(lower))
		return PTR_ERR(lower);
	tfs_call_begin(file, &call);
	result = lower->f_op->unlocked_ioctl(lower, command, argument);
	tfs_call_end(file, &call);
	fput(lower);
	return ioctl_result(file, command, argument, result);
}

long tfs_do_compat_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct tfs_call call;
	struct file *lower;
	long result;

	if (!tfs_lower_file(file)->f_op->compat_ioctl)
		return -ENOIOCTLCMD;
	lower = tfs_lower_get_for_ioctl(file, command);
	if (IS_ERR(lower))
		return PTR_ERR(lower);
	tfs_call_begin(file, &call);
	result = lower->f_op->compat_ioctl(lower, command, argument);
	tfs_call_end(file, &call);
	fput(lower);
	return ioctl_result(file, command, (unsigned long)compat_ptr(argument), result);
}

int tfs_do_iterate(struct file *file, struct dir_context *context)
{
	struct file *lower = tfs_lower_as_set(file);
	int err;

	lower->f_pos = context->pos;
	err = iterate_dir(lower, context);
	context->pos = lower->f_pos;
	return err;
}
