// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_vfs_attr.c - operations on attributes.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/fileattr.h> /* needs fs.h */
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/statfs.h>
#include <linux/xattr.h>

#include "compat/vfs.h"
#include "compat/xattr.h"
#include "core/file_flags.h"
#include "handles.h"
#include "run_vfs.h"

/**
 * rfs_object_get() - find the object of an operation by path or by handle
 * @worker: runs the operation
 * @op: the operation
 * @object: out: to be given to rfs_object_put()
 *
 * Return: 0 or a negative errno.
 */
int rfs_object_get(struct rfs_worker *worker, const struct iot_program_op *op,
		   struct rfs_object *object)
{
	object->file = NULL;
	if (op->path)
		return rfs_path_get(worker, op->path, &object->path);
	object->file = rfs_handle_get(worker->replay, op->handle);
	if (IS_ERR(object->file))
		return PTR_ERR(object->file);
	object->path = object->file->f_path;
	return 0;
}

/**
 * rfs_object_put() - drop the references to the object of an operation
 * @worker: runs the operation
 * @op: the operation
 * @object: from rfs_object_get()
 */
void rfs_object_put(struct rfs_worker *worker, const struct iot_program_op *op,
		    struct rfs_object *object)
{
	if (object->file)
		rfs_handle_put(worker->replay, op->handle);
	else
		path_put(&object->path);
}

/* Change what an operation is about, on a mount that may be written to. */
static int change_object(struct rfs_worker *worker, const struct iot_program_op *op,
			 int (*change)(struct rfs_worker *worker, const struct rfs_object *object,
				       const struct iot_program_op *op))
{
	struct rfs_object object;
	int err = rfs_object_get(worker, op, &object);

	if (err)
		return err;
	err = mnt_want_write(object.path.mnt);
	if (!err) {
		err = change(worker, &object, op);
		mnt_drop_write(object.path.mnt);
	}
	rfs_object_put(worker, op, &object);
	return err;
}

s64 rfs_do_stat(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct rfs_object object;
	struct kstat stat;
	int err = rfs_object_get(worker, op, &object);

	if (err)
		return err;
	err = vfs_getattr(&object.path, &stat, STATX_BASIC_STATS, AT_STATX_SYNC_AS_STAT);
	worker->task->step.observed.size_bytes = !err && S_ISREG(stat.mode) ? stat.size : 0;
	rfs_object_put(worker, op, &object);
	return err;
}

static struct timespec64 stamp_of(__le64 ns)
{
	return ns_to_timespec64((s64)le64_to_cpu(ns));
}

/* The group's privilege went unless it is in the mode that was left. */
static unsigned int kill_of(const struct iot_program_op *op)
{
	bool has_mode = le32_to_cpu(op->attrs) & IOT_ATTR_mode;
	bool is_kept = has_mode && (le32_to_cpu(op->mode) & S_ISGID);

	return ATTR_KILL_PRIV | ATTR_KILL_SUID | (is_kept ? 0 : ATTR_KILL_SGID);
}

/*
 * What utimensat(2) says besides: with it the VFS asks whether the caller may write to the file, if both times become
 * those of now, or owns it. A new size brings times with it.
 */
static unsigned int times_of(u32 attrs)
{
	u32 both = IOT_ATTR_atime | IOT_ATTR_mtime, given = IOT_ATTR_atime_set | IOT_ATTR_mtime_set;

	if (!(attrs & both) || (attrs & (IOT_ATTR_size | IOT_ATTR_kill_priv)))
		return 0;
	return (attrs & both) == both && !(attrs & given) ? ATTR_TOUCH : ATTR_TIMES_SET;
}

static void attr_of(const struct iot_program_op *op, struct iattr *attr)
{
	u32 attrs = le32_to_cpu(op->attrs);
	unsigned int valid = 0;

	valid |= attrs & IOT_ATTR_mode ? ATTR_MODE : 0;
	valid |= attrs & IOT_ATTR_uid ? ATTR_UID : 0;
	valid |= attrs & IOT_ATTR_gid ? ATTR_GID : 0;
	valid |= attrs & IOT_ATTR_size ? ATTR_SIZE : 0;
	valid |= attrs & IOT_ATTR_atime ? ATTR_ATIME : 0;
	valid |= attrs & IOT_ATTR_mtime ? ATTR_MTIME : 0;
	valid |= attrs & IOT_ATTR_atime_set ? ATTR_ATIME_SET : 0;
	valid |= attrs & IOT_ATTR_mtime_set ? ATTR_MTIME_SET : 0;
	valid |= times_of(attrs);
	if (attrs & IOT_ATTR_kill_priv) /* a mode in the record is what came of it */
		valid = (valid & ~ATTR_MODE) | kill_of(op);
	*attr = (struct iattr){
		.ia_valid = valid | ATTR_CTIME,
		.ia_mode = le32_to_cpu(op->mode) & S_IALLUGO,
		.ia_uid = make_kuid(current_user_ns(), le32_to_cpu(op->uid)),
		.ia_gid = make_kgid(current_user_ns(), le32_to_cpu(op->gid)),
		.ia_size = le64_to_cpu(op->size_bytes),
		.ia_atime = stamp_of(op->atime_ns),
		.ia_mtime = stamp_of(op->mtime_ns),
	};
}

/* As truncate(2) and ftruncate(2) do before they call the file system. */
static int may_truncate(const struct rfs_object *object, struct inode *inode,
			const struct iattr *attr)
{
	int err = 0;

	if (S_ISDIR(inode->i_mode))
		return -EISDIR;
	if (!S_ISREG(inode->i_mode) || attr->ia_size < 0)
		return -EINVAL;
	if (!object->file)
		err = inode_permission(mnt_idmap(object->path.mnt), inode, MAY_WRITE);
	else if (!(object->file->f_mode & FMODE_WRITE))
		err = -EINVAL;
	if (!err && IS_APPEND(inode))
		err = -EPERM;
	return err;
}

/* Return: 0, and write access to @inode; by name, leases on it were broken, as by truncate(2). */
static int begin_truncate(const struct rfs_object *object, struct inode *inode, struct iattr *attr)
{
	int err = may_truncate(object, inode, attr) ?: get_write_access(inode);

	if (err)
		return err;
	if (object->file) {
		attr->ia_file = object->file;
		attr->ia_valid |= ATTR_FILE;
		return 0;
	}
	err = break_lease(inode, O_WRONLY); /* waits until the holder gives the lease back */
	if (err)
		put_write_access(inode);
	return err;
}

static int set_attr(struct rfs_worker *worker, const struct rfs_object *object,
		    const struct iot_program_op *op)
{
	struct inode *inode = d_inode(object->path.dentry);
	bool is_truncate = le32_to_cpu(op->attrs) & IOT_ATTR_size;
	struct iattr attr;
	int err = 0;

	attr_of(op, &attr);
	if (is_truncate)
		err = begin_truncate(object, inode, &attr);
	if (err)
		return err;
	inode_lock(inode);
	attr.ia_mode |= inode->i_mode & ~S_IALLUGO; /* file systems take it as a whole */
	if (attr.ia_valid & ATTR_MODE)
		attr.ia_mode = rfs_mode(worker, attr.ia_mode);
	err = notify_change(mnt_idmap(object->path.mnt), object->path.dentry, &attr,
			    iot_delegated(&worker->delegated));
	inode_unlock(inode);
	if (is_truncate)
		put_write_access(inode);
	return err;
}

s64 rfs_do_setattr(struct rfs_worker *worker, const struct iot_program_op *op)
{
	return change_object(worker, op, set_attr);
}

/* Permission was refused: ask for it again. */
s64 rfs_do_denied(struct rfs_worker *worker, const struct iot_program_op *op)
{
	u32 prot = le32_to_cpu(op->wanted);
	struct path path;
	int err = rfs_path_get(worker, op->path, &path);

	if (err)
		return err;
	err = inode_permission(mnt_idmap(path.mnt), d_inode(path.dentry),
			       (prot & IOT_PROT_read ? MAY_READ : 0) |
				       (prot & IOT_PROT_write ? MAY_WRITE : 0) |
				       (prot & IOT_PROT_exec ? MAY_EXEC : 0));
	path_put(&path);
	return err;
}

s64 rfs_do_statfs(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct rfs_object object;
	struct kstatfs stat;
	int err = rfs_object_get(worker, op, &object);

	if (err)
		return err;
	err = vfs_statfs(&object.path, &stat);
	rfs_object_put(worker, op, &object);
	return err;
}

/*
 * Of a security attribute a trace has each question that came to the file system, and those of the kernel
 * itself are among them. A program's own may be answered by others, or asked twice.
 */
static ssize_t ask_value(const struct rfs_object *object, const char *name, void *value, size_t room)
{
	struct dentry *dentry = object->path.dentry;

	if (!strncmp(name, XATTR_SECURITY_PREFIX, XATTR_SECURITY_PREFIX_LEN))
		return __vfs_getxattr(dentry, d_inode(dentry), name, value, room);
	return iot_vfs_getxattr(mnt_idmap(object->path.mnt), dentry, name, value, room);
}

/* Values are as large as the trace says, and rare: their memory is got when it is needed. */
static ssize_t get_value(const struct rfs_object *object, const char *name, size_t room)
{
	void *value = room ? kvmalloc(room, GFP_KERNEL) : NULL;
	ssize_t result = -ENOMEM;

	if (value || !room)
		result = ask_value(object, name, value, room);
	kvfree(value);
	return result;
}

s64 rfs_do_getxattr(struct rfs_worker *worker, const struct iot_program_op *op)
{
	size_t room = min_t(u64, le64_to_cpu(op->length_bytes), XATTR_SIZE_MAX);
	struct rfs_object object;
	ssize_t result = rfs_object_get(worker, op, &object);

	if (result)
		return result;
	result = get_value(&object, rfs_string(worker, op->xattr), room);
	rfs_object_put(worker, op, &object);
	return result;
}

/*
 * Of most attributes the trace has the length of the value, not the value: zeros take its place. It
 * is a copy in any case: the kernel may change it on its way.
 */
static void *copy_value(struct rfs_worker *worker, const struct iot_program_op *op, size_t bytes)
{
	const void *known = iot_program_value(&worker->replay->program, op);
	void *value = kvzalloc(bytes + 1, GFP_KERNEL);

	if (value && known)
		memcpy(value, known, bytes);
	if (value)
		rfs_value(worker, rfs_string(worker, op->xattr), value, bytes);
	return value;
}

/*
 * A security module may refuse a value without meaning. Then the attribute stays as the module created it,
 * which gives no rights either.
 */
static bool is_left_out(const struct rfs_worker *worker, const struct iot_program_op *op, int err)
{
	return err == -EINVAL && worker->task->step.observed.is_harmless && !op->result;
}

static int set_xattr(struct rfs_worker *worker, const struct rfs_object *object,
		     const struct iot_program_op *op)
{
	size_t bytes = min_t(u64, le64_to_cpu(op->length_bytes), XATTR_SIZE_MAX);
	void *value = copy_value(worker, op, bytes);
	int err = -ENOMEM;

	if (value)
		err = iot_vfs_setxattr(mnt_idmap(object->path.mnt), object->path.dentry,
				       rfs_string(worker, op->xattr), value, bytes, le32_to_cpu(op->flags));
	kvfree(value);
	return is_left_out(worker, op, err) ? 0 : err;
}

s64 rfs_do_setxattr(struct rfs_worker *worker, const struct iot_program_op *op)
{
	return change_object(worker, op, set_xattr);
}

static int remove_xattr(struct rfs_worker *worker, const struct rfs_object *object,
			const struct iot_program_op *op)
{
	return iot_vfs_removexattr(mnt_idmap(object->path.mnt), object->path.dentry,
				   rfs_string(worker, op->xattr));
}

s64 rfs_do_removexattr(struct rfs_worker *worker, const struct iot_program_op *op)
{
	return change_object(worker, op, remove_xattr);
}

s64 rfs_do_listxattr(struct rfs_worker *worker, const struct iot_program_op *op)
{
	size_t room = min_t(u64, le64_to_cpu(op->length_bytes), XATTR_LIST_MAX);
	struct rfs_object object;
	ssize_t result = rfs_object_get(worker, op, &object);
	char *list = NULL;

	if (result)
		return result;
	if (room)
		list = kvmalloc(room, GFP_KERNEL);
	result = list || !room ? vfs_listxattr(object.path.dentry, list, room) : -ENOMEM;
	kvfree(list);
	rfs_object_put(worker, op, &object);
	return result;
}

/* The result for a program that issues an unknown ioctl. */
static int errno_of(int err)
{
	return err == -ENOIOCTLCMD ? -ENOTTY : err;
}

s64 rfs_do_getfileattr(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct file_kattr attr = { .flags_valid = true };
	struct rfs_object object;
	int err = rfs_object_get(worker, op, &object);

	if (err)
		return err;
	err = vfs_fileattr_get(object.path.dentry, &attr);
	rfs_object_put(worker, op, &object);
	return errno_of(err);
}

/* Attributes that the trace does not have stay unchanged. */
static int set_flags(struct rfs_worker *worker, const struct rfs_object *object,
		     const struct iot_program_op *op)
{
	u32 flags = le32_to_cpu(op->flags);
	struct file_kattr attr = {};
	int err = vfs_fileattr_get(object->path.dentry, &attr);

	if (err)
		return err;
	if (op->has_numbers) {
		fileattr_fill_xflags(&attr, iot_fileattrs_to_x(flags, attr.fsx_xflags));
		attr.fsx_projid = le32_to_cpu(op->project);
		attr.fsx_extsize = le64_to_cpu(op->extsize_bytes);
		attr.fsx_cowextsize = le64_to_cpu(op->cowextsize_bytes);
	} else {
		fileattr_fill_flags(&attr, iot_fileattrs_to(flags, attr.flags));
	}
	return vfs_fileattr_set(mnt_idmap(object->path.mnt), object->path.dentry, &attr);
}

s64 rfs_do_setfileattr(struct rfs_worker *worker, const struct iot_program_op *op)
{
	return errno_of(change_object(worker, op, set_flags));
}
