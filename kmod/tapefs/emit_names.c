// SPDX-License-Identifier: GPL-2.0-only
/*
 * emit_names.c - records of operations on names and attributes.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/fileattr.h> /* needs fs.h */
#include <linux/namei.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <linux/xattr.h>

#include "core/file_flags.h"
#include "core/flags.h"
#include "emit.h"

static u64 object_of(struct iot_session *session, const struct dentry *dentry)
{
	return tfs_object_id(session, d_inode_rcu(dentry), dentry);
}

static u64 handle_of(struct iot_session *session, const struct iot_span *span, const struct dentry *dentry)
{
	return tfs_descriptor_handle(session, span, d_inode_rcu(dentry));
}

/**
 * tfs_name_if_any() - id of a name, announced if it is new
 * @session: entered
 * @dentry: upper
 *
 * Return: the id; 0 if the name was removed from its directory.
 */
u64 tfs_name_if_any(struct iot_session *session, const struct dentry *dentry)
{
	return d_unhashed(dentry) && !IS_ROOT(dentry) ? 0 : tfs_name_id(session, dentry);
}

static u32 tail_bytes(const char *text)
{
	return text ? min_t(size_t, strlen(text), IOT_TAIL_MAX_BYTES) : 0;
}

static u32 intents_of(unsigned int flags)
{
	u32 intents = 0;

	if (flags & LOOKUP_CREATE)
		intents |= IOT_INTENT_create;
	if (flags & LOOKUP_EXCL)
		intents |= IOT_INTENT_excl;
	if (flags & LOOKUP_OPEN)
		intents |= IOT_INTENT_open;
	if (flags & LOOKUP_RENAME_TARGET)
		intents |= IOT_INTENT_rename_target;
	return intents;
}

void tfs_emit_lookup(struct iot_span *span, const struct dentry *dentry, const struct inode *found,
		     unsigned int flags, s64 result)
{
	struct iot_session *session;
	struct iot_rec_lookup r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_lookup, tfs_what_lookup(dentry, found, result));
	if (!session)
		return;
	r.name = tfs_name_id(session, dentry);
	r.object = tfs_object_id(session, found, dentry);
	r.intents = intents_of(flags);
	r.result = result;
	IOT_EMIT_SPAN(session, span, lookup, &r, NULL, 0);
	tfs_leave(span);
}

/**
 * tfs_open_flags() - flags of an open in records
 * @flags: O_* and __FMODE_EXEC
 * @mode: of the file, FMODE_*
 *
 * Return: IOT_OPEN_*.
 */
u32 tfs_open_flags(unsigned int flags, fmode_t mode)
{
	u32 our = iot_open_flags_of(flags);

	if (flags & __FMODE_EXEC)
		our |= IOT_OPEN_exec;
	if (mode & FMODE_CREATED)
		our |= IOT_OPEN_created;
	return our;
}

/*
 * The name in the record of an open: with O_TMPFILE, that of the directory. If the object does not exist, the name
 * that was looked up, even if another task has dropped the dentry since.
 */
static u64 open_name(struct iot_session *session, const struct dentry *dentry, bool is_nameless)
{
	if (is_nameless)
		return tfs_name_if_any(session, dentry->d_parent);
	return d_is_negative(dentry) ? tfs_name_id(session, dentry) : tfs_name_if_any(session, dentry);
}

/* @file is open, or will be when the caller returns; NULL if @result says that it failed. */
void tfs_emit_open(struct iot_span *span, const struct dentry *dentry, const struct file *file,
		   unsigned int flags, umode_t mode, s64 result)
{
	struct iot_session *session;
	bool is_nameless = flags & __O_TMPFILE; /* the name of the dentry is invented */
	const struct inode *inode;
	struct iot_rec_open r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_open, tfs_what_lookup(is_nameless ? dentry->d_parent : dentry, d_inode_rcu(dentry), result));
	if (!session)
		return;
	inode = d_inode_rcu(dentry);
	r.flags = tfs_open_flags(flags, file ? file->f_mode : 0);
	r.name = open_name(session, dentry, is_nameless);
	r.object = tfs_object_id(session, inode, is_nameless ? NULL : dentry);
	r.handle = file ? TFS_F(file)->handle : 0;
	if (r.flags & IOT_OPEN_created)
		r.mode = tfs_lower_inode(inode)->i_mode & S_IALLUGO;
	else if (r.flags & (IOT_OPEN_create | IOT_OPEN_tmpfile))
		r.mode = mode & S_IALLUGO;
	else
		r.mode = 0; /* the VFS refused to create a file, and only looks for one */
	r.size_bytes = inode ? i_size_read(tfs_lower_inode(inode)) : 0;
	r.cached_pages = inode ? iot_cached_pages(session, tfs_lower_inode(inode)) : 0;
	r.result = result;
	if (file) { /* also if the record is lost: then the open of the handle is not known */
		TFS_F(file)->opened = iot_session_epoch(session);
		WRITE_ONCE(TFS_F(file)->epoch, iot_session_epoch(session));
	}
	IOT_EMIT_SPAN(session, span, open, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_stat(struct iot_span *span, const struct dentry *dentry, const struct kstat *stat,
		   s64 result)
{
	struct iot_session *session;
	struct iot_rec_stat r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_stat, tfs_what_name(dentry, result));
	if (!session)
		return;
	r.name = tfs_name_if_any(session, dentry);
	r.object = object_of(session, dentry);
	r.handle = handle_of(session, span, dentry);
	r.size_bytes = !result && S_ISREG(stat->mode) ? stat->size : 0;
	r.result = result;
	IOT_EMIT_SPAN(session, span, stat, &r, NULL, 0);
	tfs_leave(span);
}

static u32 attrs_of(unsigned int valid)
{
	u32 attrs = 0;

	if (valid & ATTR_MODE)
		attrs |= IOT_ATTR_mode;
	if (valid & ATTR_UID)
		attrs |= IOT_ATTR_uid;
	if (valid & ATTR_GID)
		attrs |= IOT_ATTR_gid;
	if (valid & ATTR_SIZE)
		attrs |= IOT_ATTR_size;
	if (valid & ATTR_ATIME)
		attrs |= IOT_ATTR_atime;
	if (valid & ATTR_MTIME)
		attrs |= IOT_ATTR_mtime;
	if (valid & ATTR_ATIME_SET)
		attrs |= IOT_ATTR_atime_set;
	if (valid & ATTR_MTIME_SET)
		attrs |= IOT_ATTR_mtime_set;
	if (valid & ATTR_OPEN)
		attrs |= IOT_ATTR_by_open;
	if (valid & (ATTR_KILL_SUID | ATTR_KILL_SGID | ATTR_KILL_PRIV))
		attrs |= IOT_ATTR_kill_priv;
	return attrs;
}

static u64 stamp_ns(const struct timespec64 *time)
{
	return (u64)timespec64_to_ns(time);
}

void tfs_emit_setattr(struct iot_span *span, const struct dentry *dentry, const struct iattr *attr,
		      u64 old_size_bytes, s64 result)
{
	struct iot_session *session;
	struct iot_rec_setattr r = {};

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_setattr, tfs_what_name(dentry, result));
	if (!session)
		return;
	r.name = tfs_name_if_any(session, dentry);
	r.object = object_of(session, dentry);
	r.attrs = attrs_of(attr->ia_valid);
	if (attr->ia_valid & ATTR_FILE)
		r.handle = tfs_handle_id(session, span, attr->ia_file);
	else
		r.handle = handle_of(session, span, dentry);
	if (r.handle)
		r.attrs |= IOT_ATTR_by_handle;
	if (attr->ia_valid & ATTR_MODE)
		r.mode = attr->ia_mode & S_IALLUGO;
	if (attr->ia_valid & ATTR_UID)
		r.uid = from_kuid_munged(&init_user_ns, attr->ia_uid);
	if (attr->ia_valid & ATTR_GID)
		r.gid = from_kgid_munged(&init_user_ns, attr->ia_gid);
	if (attr->ia_valid & ATTR_SIZE)
		r.size_bytes = attr->ia_size;
	if (attr->ia_valid & ATTR_ATIME_SET)
		r.atime_ns = stamp_ns(&attr->ia_atime);
	if (attr->ia_valid & ATTR_MTIME_SET)
		r.mtime_ns = stamp_ns(&attr->ia_mtime);
	r.old_size_bytes = old_size_bytes;
	r.result = result;
	IOT_EMIT_SPAN(session, span, setattr, &r, NULL, 0);
	tfs_leave(span);
}

/* Permissions of the new object; the requested ones if there is none. */
static u32 made_mode(const struct dentry *dentry, umode_t mode, s64 result)
{
	const struct inode *inode = d_inode_rcu(dentry);

	return result || !inode ? mode : tfs_lower_inode(inode)->i_mode;
}

void tfs_emit_mkdir(struct iot_span *span, const struct dentry *dentry, umode_t mode, s64 result)
{
	struct iot_session *session;
	struct iot_rec_mkdir r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_mkdir, tfs_what_name(dentry, result));
	if (!session)
		return;
	r.name = tfs_name_id(session, dentry);
	r.object = result ? 0 : object_of(session, dentry);
	r.mode = made_mode(dentry, mode, result) & S_IALLUGO;
	r.result = result;
	IOT_EMIT_SPAN(session, span, mkdir, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_mknod(struct iot_span *span, const struct dentry *dentry, umode_t mode, dev_t dev,
		    s64 result)
{
	struct iot_session *session;
	struct iot_rec_mknod r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_mknod, tfs_what_name(dentry, result));
	if (!session)
		return;
	r.name = tfs_name_id(session, dentry);
	r.object = result ? 0 : object_of(session, dentry);
	r.mode = made_mode(dentry, mode, result);
	r.rdev = new_encode_dev(dev);
	r.result = result;
	IOT_EMIT_SPAN(session, span, mknod, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_symlink(struct iot_span *span, const struct dentry *dentry, const char *target,
		      s64 result)
{
	struct iot_session *session;
	struct iot_rec_symlink r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_symlink, tfs_what_name(dentry, result));
	if (!session)
		return;
	r.name = tfs_name_id(session, dentry);
	r.object = result ? 0 : object_of(session, dentry);
	r.result = result;
	IOT_EMIT_SPAN(session, span, symlink, &r, target, tail_bytes(target));
	tfs_leave(span);
}

void tfs_emit_link(struct iot_span *span, const struct dentry *old, const struct dentry *dentry,
		   s64 result)
{
	struct iot_session *session;
	struct iot_rec_link r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_link, tfs_what_name(dentry, result));
	if (!session)
		return;
	r.old_name = tfs_name_if_any(session, old);
	r.name = tfs_name_id(session, dentry);
	r.object = object_of(session, old);
	r.result = result;
	IOT_EMIT_SPAN(session, span, link, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_unlink(struct iot_span *span, const struct dentry *dentry, s64 result)
{
	struct iot_session *session;
	struct iot_rec_unlink r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_unlink, tfs_what_name(dentry, result));
	if (!session)
		return;
	r.name = tfs_name_id(session, dentry);
	r.object = object_of(session, dentry);
	r.nlink = tfs_lower_inode(d_inode_rcu(dentry))->i_nlink;
	r.result = result;
	IOT_EMIT_SPAN(session, span, unlink, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_rmdir(struct iot_span *span, const struct dentry *dentry, s64 result)
{
	struct iot_session *session;
	struct iot_rec_rmdir r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_rmdir, tfs_what_name(dentry, result));
	if (!session)
		return;
	r.name = tfs_name_id(session, dentry);
	r.object = object_of(session, dentry);
	r.result = result;
	IOT_EMIT_SPAN(session, span, rmdir, &r, NULL, 0);
	tfs_leave(span);
}

/* The VFS moves the dentries after the operation: they still have their old names. */
void tfs_emit_rename(struct iot_span *span, const struct dentry *old, const struct dentry *new,
		     unsigned int flags, s64 result)
{
	struct iot_session *session;
	struct iot_rec_rename r;

	session = tfs_enter_on(span, old->d_sb, IOT_KIND_rename, tfs_what_name(old, result));
	if (!session)
		return;
	r.name = tfs_name_id(session, old);
	r.new_name = tfs_name_id(session, new);
	r.object = object_of(session, old);
	r.replaced = object_of(session, new);
	r.flags = iot_rename_flags_of(flags);
	r.result = result;
	IOT_EMIT_SPAN(session, span, rename, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_readlink(struct iot_span *span, const struct dentry *dentry, const char *target,
		       int room_bytes, s64 result)
{
	struct iot_session *session;
	struct iot_rec_readlink r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_readlink,
			       tfs_what_length(tfs_what_name(dentry, result), room_bytes));
	if (!session)
		return;
	r.name = tfs_name_if_any(session, dentry);
	r.object = object_of(session, dentry);
	r.length_bytes = room_bytes;
	r.result = result;
	IOT_EMIT_SPAN(session, span, readlink, &r, target,
		      clamp_t(s64, result, 0, IOT_TAIL_MAX_BYTES));
	tfs_leave(span);
}

void tfs_emit_follow(struct iot_span *span, const struct dentry *dentry, const char *target,
		     s64 result)
{
	struct iot_session *session;
	struct iot_rec_follow r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_follow, tfs_what_name(dentry, result));
	if (!session)
		return;
	r.name = tfs_name_if_any(session, dentry);
	r.object = object_of(session, dentry);
	r.result = result;
	IOT_EMIT_SPAN(session, span, follow, &r, target, tail_bytes(target));
	tfs_leave(span);
}

void tfs_emit_denied(struct iot_span *span, const struct inode *inode, int mask, s64 result)
{
	struct iot_session *session;
	struct iot_rec_denied r;

	session = tfs_enter_on(span, inode->i_sb, IOT_KIND_denied,
			       tfs_what_lookup(NULL, inode, result));
	if (!session)
		return;
	r.object = tfs_object_id(session, inode, NULL);
	r.prot = (mask & MAY_READ ? IOT_PROT_read : 0) | (mask & MAY_WRITE ? IOT_PROT_write : 0) |
		 (mask & MAY_EXEC ? IOT_PROT_exec : 0);
	r.result = result;
	IOT_EMIT_SPAN(session, span, denied, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_statfs(struct iot_span *span, const struct dentry *dentry, s64 result)
{
	struct iot_session *session;
	struct iot_rec_statfs r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_statfs, tfs_what_name(dentry, result));
	if (!session)
		return;
	r.object = object_of(session, dentry);
	r.handle = handle_of(session, span, dentry);
	r.result = result;
	IOT_EMIT_SPAN(session, span, statfs, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_getxattr(struct iot_span *span, const struct dentry *dentry, const char *name,
		       size_t room, s64 result)
{
	struct iot_session *session;
	struct iot_rec_getxattr r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_getxattr,
			       tfs_what_length(tfs_what_name(dentry, result), room));
	if (!session)
		return;
	r.name = tfs_name_if_any(session, dentry);
	r.object = object_of(session, dentry);
	r.handle = handle_of(session, span, dentry);
	r.length_bytes = room;
	r.result = result;
	IOT_EMIT_SPAN(session, span, getxattr, &r, name, tail_bytes(name));
	tfs_leave(span);
}

/*
 * A value is recorded if the file system acts on it, so that zeros cannot replace it in a replay. Other values are
 * data of programs, and are not recorded.
 */
static bool is_value_kept(const char *name, const struct tfs_value *value)
{
	return strlen(name) + 1 + value->length_bytes <= IOT_TAIL_MAX_BYTES &&
	       (strstarts(name, XATTR_SYSTEM_PREFIX) || strstarts(name, XATTR_SECURITY_PREFIX));
}

static u32 acl_id(const struct posix_acl_entry *entry)
{
	switch (entry->e_tag) {
	case ACL_USER:
		return from_kuid_munged(&init_user_ns, entry->e_uid);
	case ACL_GROUP:
		return from_kgid_munged(&init_user_ns, entry->e_gid);
	default:
		return ACL_UNDEFINED_ID;
	}
}

/* Writes the form of user space. The kernel has a function for this, which allocates memory in new versions. */
static void put_acl(u8 *p, const struct posix_acl *acl)
{
	unsigned int i;

	p = iot_put_u32(p, POSIX_ACL_XATTR_VERSION);
	for (i = 0; i < acl->a_count; i++) {
		p = iot_put_u16(p, acl->a_entries[i].e_tag);
		p = iot_put_u16(p, acl->a_entries[i].e_perm);
		p = iot_put_u32(p, acl_id(&acl->a_entries[i]));
	}
}

static void put_value(u8 *p, const char *name, const struct tfs_value *value)
{
	size_t name_bytes = strlen(name) + 1;

	memcpy(p, name, name_bytes);
	if (value->bytes)
		memcpy(p + name_bytes, value->bytes, value->length_bytes);
	else
		put_acl(p + name_bytes, value->acl);
}

/* The tail is assembled in the buffer of the record. */
static void emit_value(struct iot_session *session, struct iot_span *span,
		       struct iot_rec_setxattr *r, const char *name, const struct tfs_value *value)
{
	u32 tail_bytes = strlen(name) + 1 + value->length_bytes;
	struct iot_slot slot;

	iot_span_state_stack(session, span);
	if (!iot_slot_open(session, IOT_WIRE_setxattr + tail_bytes, &slot))
		return;
	iot_span_fill(span, slot.now_ns, (struct iot_rec_op *)r);
	iot_put_setxattr(slot.p, r, NULL, 0);
	iot_put_head(slot.p, IOT_KIND_setxattr, IOT_WIRE_setxattr, tail_bytes);
	put_value(slot.p + IOT_WIRE_setxattr, name, value);
	iot_slot_close(&slot);
}

void tfs_emit_setxattr(struct iot_span *span, const struct dentry *dentry, const char *name,
		       const struct tfs_value *value, int flags, s64 result)
{
	struct iot_session *session;
	struct iot_rec_setxattr r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_setxattr,
			       tfs_what_length(tfs_what_name(dentry, result), value->length_bytes));
	if (!session)
		return;
	r.name = tfs_name_if_any(session, dentry);
	r.object = object_of(session, dentry);
	r.handle = handle_of(session, span, dentry);
	r.length_bytes = value->length_bytes;
	r.flags = flags; /* XATTR_CREATE is 1, XATTR_REPLACE 2, as in the record */
	r.result = result;
	if (is_value_kept(name, value))
		emit_value(session, span, &r, name, value);
	else
		IOT_EMIT_SPAN(session, span, setxattr, &r, name, tail_bytes(name));
	tfs_leave(span);
}

void tfs_emit_removexattr(struct iot_span *span, const struct dentry *dentry, const char *name,
			  s64 result)
{
	struct iot_session *session;
	struct iot_rec_removexattr r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_removexattr, tfs_what_name(dentry, result));
	if (!session)
		return;
	r.name = tfs_name_if_any(session, dentry);
	r.object = object_of(session, dentry);
	r.handle = handle_of(session, span, dentry);
	r.result = result;
	IOT_EMIT_SPAN(session, span, removexattr, &r, name, tail_bytes(name));
	tfs_leave(span);
}

void tfs_emit_listxattr(struct iot_span *span, const struct dentry *dentry, size_t room, s64 result)
{
	struct iot_session *session;
	struct iot_rec_listxattr r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_listxattr,
			       tfs_what_length(tfs_what_name(dentry, result), room));
	if (!session)
		return;
	r.name = tfs_name_if_any(session, dentry);
	r.object = object_of(session, dentry);
	r.handle = handle_of(session, span, dentry);
	r.length_bytes = room;
	r.result = result;
	IOT_EMIT_SPAN(session, span, listxattr, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_getfileattr(struct iot_span *span, const struct dentry *dentry, s64 result)
{
	struct iot_session *session;
	struct iot_rec_getfileattr r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_getfileattr, tfs_what_name(dentry, result));
	if (!session)
		return;
	r.name = tfs_name_if_any(session, dentry);
	r.object = object_of(session, dentry);
	r.handle = handle_of(session, span, dentry);
	r.result = result;
	IOT_EMIT_SPAN(session, span, getfileattr, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_setfileattr(struct iot_span *span, const struct dentry *dentry,
			  const struct file_kattr *attr, s64 result)
{
	struct iot_session *session;
	struct iot_rec_setfileattr r = {};

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_setfileattr, tfs_what_name(dentry, result));
	if (!session)
		return;
	r.name = tfs_name_if_any(session, dentry);
	r.object = object_of(session, dentry);
	r.handle = handle_of(session, span, dentry);
	r.has_numbers = attr->fsx_valid;
	if (attr->fsx_valid) {
		r.flags = iot_fileattrs_of_x(attr->fsx_xflags);
		r.project = attr->fsx_projid;
		r.extsize_bytes = attr->fsx_extsize;
		r.cowextsize_bytes = attr->fsx_cowextsize;
	} else {
		r.flags = iot_fileattrs_of(attr->flags);
	}
	r.result = result;
	IOT_EMIT_SPAN(session, span, setfileattr, &r, NULL, 0);
	tfs_leave(span);
}
