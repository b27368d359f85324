// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_vfs_names.c - operations on names.
 *
 * Each function repeats the steps of its system call between copying the path and calling the
 * file system, with the same look-up flags, so that the file system sees the same calls.
 *
 * Confinement: paths are ".", which is the target itself, or names without dots alone
 * (core/replay/verify.c), and start at the root of a private mount of the target, in which nothing else
 * is mounted and no device can be opened. Walks do not follow symbolic links; an open does, within
 * that root.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/uaccess.h>
#include <linux/xattr.h>

#include "compat/dirop.h"
#include "core/flags.h"
#include "handles.h"
#include "run_vfs.h"

/* Walks a piece of a path, from @from. The piece is copied, because the text of a walk ends with a zero byte. */
static int walk_piece(const struct rfs_worker *worker, const struct path *from, const char *path,
		      size_t bytes, unsigned int flags, struct path *found)
{
	char *room = worker->task->memory->path;

	memcpy(room, path, bytes);
	room[bytes] = 0;
	return vfs_path_lookup(from->dentry, from->mnt, room,
			       flags | LOOKUP_NO_SYMLINKS | LOOKUP_NO_MAGICLINKS, found);
}

/*
 * Finds the object of a path. A link at the end of the path is not followed; a link before it is an error. A path
 * that is longer than the limit of a look-up is walked in pieces. @bytes: length of the path, which is valid, or a
 * part of a valid one.
 */
static int walk(const struct rfs_worker *worker, const char *path, size_t bytes, unsigned int flags,
		struct path *found)
{
	const struct path *from = &worker->replay->root;
	struct path before;
	size_t piece;
	int err;

	if (bytes == 1 && path[0] == '.') {
		*found = *from;
		path_get(found);
		return 0;
	}
	while ((piece = iot_path_piece(path, bytes)) < bytes) {
		err = walk_piece(worker, from, path, piece, LOOKUP_DIRECTORY, found);
		if (from == &before)
			path_put(&before);
		if (err)
			return err;
		before = *found;
		from = &before;
		path += piece + 1;
		bytes -= piece + 1;
	}
	err = walk_piece(worker, from, path, bytes, flags, found);
	if (from == &before)
		path_put(&before);
	return err;
}

/**
 * rfs_path_get() - find an object by its path in the target
 * @worker: runs the operation
 * @path: place of the path in the strings of the program
 * @found: out: with references. A symbolic link at the end of the path is not followed
 *
 * Almost all paths are short enough for one look-up, which copies and measures the text itself: the length is only
 * determined if the look-up says that it is too long.
 *
 * Return: 0 or a negative errno.
 */
int rfs_path_get(struct rfs_worker *worker, __le32 path, struct path *found)
{
	const struct path *root = &worker->replay->root;
	const char *text = rfs_string(worker, path);
	size_t bytes;
	int err;

	if (text[0] == '.' && !text[1])
		return walk(worker, text, 1, 0, found);
	err = vfs_path_lookup(root->dentry, root->mnt, text, LOOKUP_NO_SYMLINKS | LOOKUP_NO_MAGICLINKS, found);
	if (likely(err != -ENAMETOOLONG))
		return err;
	bytes = strlen(text);
	return bytes < PATH_MAX ? err : walk(worker, text, bytes, 0, found);
}

/**
 * struct place - a name in its directory, to be made or removed
 * @dir: the directory, with references
 * @name: the component, a part of the program
 * @idmap: of the mount
 */
struct place {
	struct path dir;
	struct qstr name;
	struct mnt_idmap *idmap;
};

/* The target has no name in itself. Return: the result of the system call for "." at the end of a path. */
static int refuse_dot(const struct iot_program_op *op)
{
	switch (le16_to_cpu(op->kind)) {
	case IOT_KIND_rmdir:
		return -EINVAL;
	case IOT_KIND_unlink:
		return -EISDIR;
	case IOT_KIND_rename:
		return -EBUSY;
	default: /* it is to be made */
		return -EEXIST;
	}
}

/* @path: of @op. Return: 0, and a reference of the directory. */
static int place_find(struct rfs_worker *worker, const struct iot_program_op *op, __le32 path,
		      struct place *place)
{
	const char *text = rfs_string(worker, path);
	const char *slash = strrchr(text, '/');
	const char *last = slash ? slash + 1 : text;
	int err;

	if (!strcmp(text, "."))
		return refuse_dot(op);
	err = slash ? walk(worker, text, slash - text, LOOKUP_DIRECTORY, &place->dir) :
		      walk(worker, ".", 1, LOOKUP_DIRECTORY, &place->dir);
	if (err)
		return err;
	place->name = (struct qstr)QSTR_INIT(last, strlen(last));
	place->idmap = mnt_idmap(place->dir.mnt);
	return 0;
}

/* Return: 0, and write access to the mount, until place_put(). */
static int place_get(struct rfs_worker *worker, const struct iot_program_op *op, __le32 path,
		     struct place *place)
{
	int err = place_find(worker, op, path, place);

	if (err)
		return err;
	err = mnt_want_write(place->dir.mnt);
	if (err)
		path_put(&place->dir);
	return err;
}

static void place_put(struct place *place)
{
	mnt_drop_write(place->dir.mnt);
	path_put(&place->dir);
}

static struct dentry *start_creating_at(struct place *place)
{
	return iot_start_creating(place->idmap, place->dir.dentry, &place->name);
}

static struct dentry *start_removing_at(struct place *place)
{
	return iot_start_removing(place->idmap, place->dir.dentry, &place->name);
}

/* A look-up as the first half of the creation of a name that exists already. */
static s64 lookup_to_create(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct dentry *child;
	struct place place;
	int err = place_get(worker, op, op->path, &place);

	if (err)
		return err;
	child = start_creating_at(&place);
	err = PTR_ERR_OR_ZERO(child);
	iot_end_dirop(child);
	place_put(&place);
	return err;
}

s64 rfs_do_lookup(struct rfs_worker *worker, const struct iot_program_op *op)
{
	const u32 make = IOT_INTENT_create | IOT_INTENT_excl;
	struct path found;
	int err;

	if ((le32_to_cpu(op->flags) & make) == make)
		return lookup_to_create(worker, op);
	err = rfs_path_get(worker, op->path, &found);
	if (!err)
		path_put(&found);
	return err;
}

/*
 * Opens a path that is longer than the limit of an open: the last name in its directory. A link is not followed,
 * because that directory would be the root that the link cannot leave.
 */
static struct file *open_long(struct rfs_worker *worker, const char *path, int flags, umode_t mode)
{
	const char *slash = strrchr(path, '/');
	struct file *file;
	struct path dir;
	int err = walk(worker, path, slash - path, LOOKUP_DIRECTORY, &dir);

	if (err)
		return ERR_PTR(err);
	file = file_open_root(&dir, slash + 1, flags | O_NOFOLLOW, mode);
	path_put(&dir);
	return file;
}

/* The mode of the new file, if the open may create one. */
static umode_t open_mode(struct rfs_worker *worker, const struct iot_program_op *op)
{
	if (!(le32_to_cpu(op->flags) & (IOT_OPEN_create | IOT_OPEN_tmpfile)))
		return 0;
	return rfs_mode(worker, S_IFREG | (le32_to_cpu(op->mode) & S_IALLUGO)) & S_IALLUGO;
}

s64 rfs_do_open(struct rfs_worker *worker, const struct iot_program_op *op)
{
	const char *path = rfs_string(worker, op->path);
	int flags = O_LARGEFILE | iot_open_flags_to(le32_to_cpu(op->flags));
	umode_t mode = open_mode(worker, op);
	struct file *file = strlen(path) < IOT_LOOKUP_MAX ?
				    file_open_root(&worker->replay->root, path, flags, mode) :
				    open_long(worker, path, flags, mode);

	if (IS_ERR(file))
		return PTR_ERR(file);
	worker->task->step.observed.size_bytes = i_size_read(file_inode(file));
	worker->task->step.observed.cached_pages = file->f_mapping->nrpages;
	if (!op->handle) { /* it failed in the trace, so nothing uses it */
		fput(file);
		return 0;
	}
	return rfs_handle_fill(worker->replay, op->handle, file);
}

s64 rfs_do_mkdir(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct dentry *child;
	struct place place;
	int err = place_get(worker, op, op->path, &place);

	if (err)
		return err;
	child = start_creating_at(&place);
	if (!IS_ERR(child))
		child = iot_vfs_mkdir(place.idmap, child, le32_to_cpu(op->mode) & S_IALLUGO,
				      &worker->delegated);
	err = PTR_ERR_OR_ZERO(child);
	iot_end_dirop(child);
	place_put(&place);
	return err;
}

/* As mknod(2) does before it looks at the path. */
static int may_mknod(umode_t mode)
{
	switch (mode & S_IFMT) {
	case 0:
	case S_IFREG:
	case S_IFCHR:
	case S_IFBLK:
	case S_IFIFO:
	case S_IFSOCK:
		return 0;
	case S_IFDIR:
		return -EPERM;
	default:
		return -EINVAL;
	}
}

/* A mode without a type is that of a regular file; only devices have a number. */
static int make_node(struct rfs_worker *worker, const struct iot_program_op *op,
		     const struct place *place, struct dentry *child)
{
	umode_t mode = rfs_mode(worker, le32_to_cpu(op->mode));
	bool is_device = S_ISCHR(mode) || S_ISBLK(mode);
	u64 rdev = rfs_rdev(worker, mode, le64_to_cpu(op->rdev));

	if (!(mode & S_IFMT) || S_ISREG(mode))
		return iot_vfs_create(place->idmap, child, mode, &worker->delegated);
	return iot_vfs_mknod(place->idmap, child, mode,
			     is_device ? new_decode_dev(rdev) : 0,
			     &worker->delegated);
}

s64 rfs_do_mknod(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct dentry *child;
	struct place place;
	int err = may_mknod(le32_to_cpu(op->mode)) ?: place_get(worker, op, op->path, &place);

	if (err)
		return err;
	child = start_creating_at(&place);
	err = PTR_ERR_OR_ZERO(child) ?: make_node(worker, op, &place, child);
	iot_end_dirop(child);
	place_put(&place);
	return err;
}

s64 rfs_do_symlink(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct dentry *child;
	struct place place;
	int err = place_get(worker, op, op->path, &place);

	if (err)
		return err;
	child = start_creating_at(&place);
	err = PTR_ERR_OR_ZERO(child);
	if (!err)
		err = iot_vfs_symlink(place.idmap, child, rfs_string(worker, op->target),
				      &worker->delegated);
	iot_end_dirop(child);
	place_put(&place);
	return err;
}

/* As linkat(2) decides whether any user may link a file: it gives no rights, and its user may read and write it. */
static bool is_safe_to_link(struct mnt_idmap *idmap, struct inode *inode)
{
	const umode_t group_program = S_ISGID | S_IXGRP;

	return S_ISREG(inode->i_mode) && !(inode->i_mode & S_ISUID) &&
	       (inode->i_mode & group_program) != group_program &&
	       !inode_permission(idmap, inode, MAY_READ | MAY_WRITE);
}

/* As linkat(2) does with fs.protected_hardlinks, which looks for the new name first. */
static int may_link(const struct rfs_worker *worker, const struct path *old)
{
	struct mnt_idmap *idmap = mnt_idmap(old->mnt);
	struct inode *inode = d_inode(old->dentry);

	if (worker->replay->setup.flags & IOT_REPLAY_ANY_LINKS)
		return 0;
	return is_safe_to_link(idmap, inode) || inode_owner_or_capable(idmap, inode) ? 0 : -EPERM;
}

s64 rfs_do_link(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct dentry *child;
	struct place place;
	struct rfs_object old;
	int err = rfs_object_get(worker, op, &old);

	if (err)
		return err;
	err = place_get(worker, op, op->new_path, &place);
	if (err) {
		rfs_object_put(worker, op, &old);
		return err;
	}
	child = start_creating_at(&place);
	err = PTR_ERR_OR_ZERO(child) ?: may_link(worker, &old.path);
	if (!err)
		err = vfs_link(old.path.dentry, place.idmap, d_inode(place.dir.dentry), child,
			       iot_delegated(&worker->delegated));
	iot_end_dirop(child);
	place_put(&place);
	rfs_object_put(worker, op, &old);
	return err;
}

s64 rfs_do_unlink(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct inode *inode = NULL;
	struct dentry *child;
	struct place place;
	int err = place_get(worker, op, op->path, &place);

	if (err)
		return err;
	child = start_removing_at(&place);
	err = PTR_ERR_OR_ZERO(child);
	if (!err) {
		inode = d_inode(child);
		ihold(inode); /* the file is truncated below, after the directory has been unlocked */
		err = vfs_unlink(place.idmap, d_inode(place.dir.dentry), child,
			       iot_delegated(&worker->delegated));
	}
	iot_end_dirop(child);
	iput(inode);
	place_put(&place);
	return err;
}

s64 rfs_do_rmdir(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct dentry *child;
	struct place place;
	int err = place_get(worker, op, op->path, &place);

	if (err)
		return err;
	child = start_removing_at(&place);
	err = PTR_ERR_OR_ZERO(child);
	if (!err)
		err = iot_vfs_rmdir(place.idmap, child, &worker->delegated);
	iot_end_dirop(child);
	place_put(&place);
	return err;
}

/* Write access is taken once: the second request would wait for a freeze, which waits for the end of the first. */
s64 rfs_do_rename(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct iot_renaming renaming;
	struct place old, new;
	int err = place_find(worker, op, op->path, &old);

	if (err)
		return err;
	err = place_get(worker, op, op->new_path, &new);
	if (err) {
		path_put(&old.dir);
		return err;
	}
	renaming = (struct iot_renaming){
		.idmap = old.idmap,
		.old_parent = old.dir.dentry,
		.old_name = &old.name,
		.new_parent = new.dir.dentry,
		.new_name = &new.name,
		.flags = iot_rename_flags_to(le32_to_cpu(op->flags)),
		.delegated = &worker->delegated,
	};
	err = iot_start_renaming(&renaming);
	if (!err) {
		err = iot_vfs_rename(&renaming);
		iot_end_renaming(&renaming);
	}
	place_put(&new);
	path_put(&old.dir);
	return err;
}

/* Room for the target of a link, which becomes a part of the record. */
static char *target_room(struct rfs_worker *worker, size_t bytes)
{
	struct rfs_memory *memory = worker->task->memory;

	worker->task->step.observed.target = memory->path;
	worker->task->step.observed.target_bytes = min(bytes, sizeof(memory->path));
	return memory->path;
}

static void keep_target(struct rfs_worker *worker, const char *target)
{
	char *room = target_room(worker, strlen(target));

	memcpy(room, target, worker->task->step.observed.target_bytes);
}

static int read_link(struct rfs_worker *worker, const struct path *path, u64 room_bytes)
{
	int result = vfs_readlink(path->dentry, worker->sink, min_t(u64, room_bytes, PATH_MAX));
	char *target;

	if (result <= 0)
		return result;
	target = target_room(worker, result);
	if (copy_from_user(target, worker->sink, worker->task->step.observed.target_bytes))
		return -EFAULT;
	return result;
}

s64 rfs_do_readlink(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct path path;
	int result = rfs_path_get(worker, op->path, &path);

	if (result)
		return result;
	touch_atime(&path);
	result = read_link(worker, &path, le64_to_cpu(op->length_bytes));
	path_put(&path);
	return result;
}

/* The step of a path walk at a link; operations that follow resolve its target. */
s64 rfs_do_follow(struct rfs_worker *worker, const struct iot_program_op *op)
{
	DEFINE_DELAYED_CALL(done);
	const char *target;
	struct path path;
	int err = rfs_path_get(worker, op->path, &path);

	if (err)
		return err;
	touch_atime(&path);
	target = vfs_get_link(path.dentry, &done);
	if (!IS_ERR_OR_NULL(target))
		keep_target(worker, target);
	do_delayed_call(&done);
	path_put(&path);
	return PTR_ERR_OR_ZERO(target);
}
