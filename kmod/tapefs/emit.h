/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * emit.h - makes records from the arguments and results of VFS operations.
 *
 * Every operation of tapefs has the same shape:
 *
 *	tfs_gate_open(sb, IOT_KIND_something, &span);		decide
 *	err = tfs_do_something(...);
 *	tfs_emit_something(&span, ..., err);			announce, write
 *
 * tfs_emit_*() announces ids that are new to the session and writes the record, if the gate has admitted the
 * operation, and always ends the span. It does not sleep, allocate or fail.
 */
#ifndef TFS_EMIT_H
#define TFS_EMIT_H

#include "tapefs.h"

struct file_kattr;
struct posix_acl;

static __always_inline void tfs_gate_open(const struct super_block *sb, enum iot_kind kind, struct iot_span *span)
{
	iot_gate_open(&TFS_SB(sb)->source, kind, span);
}

/*
 * Before and after a reference to a lower inode is put. If the file was removed, and this is the last reference, its space is freed.
 * A lower dentry can be the last one to refer to a file that was replaced.
 */
static inline u64 tfs_freed_begin(const struct inode *lower)
{
	return likely(lower->i_nlink || atomic_read(&lower->i_count) > 1) ? 0 : ktime_get_mono_fast_ns();
}

static inline void tfs_freed_end(const struct super_block *sb, u64 begin_ns)
{
	if (unlikely(begin_ns))
		iot_freed_record(&TFS_SB(sb)->source, begin_ns);
}

/* Return: the session that gets the record of a span; NULL if none does, and then the span has ended. */
static inline struct iot_session *tfs_enter(struct iot_span *span, const struct super_block *sb)
{
	struct iot_session *session = NULL;

	if (iot_span_is_on(span)) {
		session = iot_span_enter(&TFS_SB(sb)->source, span);
		if (!session)
			iot_span_end(span);
	}
	return session;
}

bool tfs_filter_keeps(struct iot_session *session, struct iot_span *span, const struct super_block *sb,
		      enum iot_kind kind, struct iot_what what);
bool tfs_keeps(struct iot_session *session, struct iot_span *span, const struct super_block *sb, enum iot_kind kind,
	       struct iot_what what);

/*
 * As tfs_enter(), for an operation whose arguments are known. A filter that tests the arguments or the result
 * decides here, before anything is announced, and an operation that is counted has no record. The expression @what,
 * a struct iot_what, is evaluated only in these cases.
 */
#define tfs_enter_on(span, sb, kind, what)                                                  \
	({                                                                                 \
		struct iot_session *__session = tfs_enter(span, sb);                       \
		if (unlikely(__session && ((span)->is_pending || (span)->is_counted)) &&   \
		    !tfs_keeps(__session, span, sb, kind, what))                           \
			__session = NULL;                                                  \
		__session;                                                                 \
	})

static inline struct iot_what tfs_what_lookup(const struct dentry *dentry, const struct inode *inode, s64 result)
{
	return (struct iot_what){ .dentry = dentry, .inode = inode, .result = result, .is_end = true };
}

static inline struct iot_what tfs_what_name(const struct dentry *dentry, s64 result)
{
	return tfs_what_lookup(dentry, d_inode_rcu(dentry), result);
}

static inline struct iot_what tfs_what_file(const struct file *file, s64 result)
{
	return tfs_what_lookup(file_dentry(file), file_inode(file), result);
}

static inline struct iot_what tfs_what_at(struct iot_what what, s64 offset_bytes)
{
	what.offset_bytes = offset_bytes;
	what.has_offset = true;
	return what;
}

static inline struct iot_what tfs_what_length(struct iot_what what, u64 length_bytes)
{
	what.length_bytes = length_bytes;
	what.has_length = true;
	return what;
}

static inline struct iot_what tfs_what_range(struct iot_what what, s64 offset_bytes, u64 length_bytes)
{
	return tfs_what_length(tfs_what_at(what, offset_bytes), length_bytes);
}

static inline struct iot_what tfs_what_copy(struct iot_what what, const struct file *to)
{
	what.to = file_dentry(to);
	return what;
}

static inline struct iot_what tfs_what_submit(struct iot_what what)
{
	what.is_submit = true;
	return what;
}

/* paths.c */
s64 tfs_paths(const struct iot_source *source, const struct dentry *dentry, const struct iot_filter_head *program,
	      u32 number);
u64 tfs_ino(const struct inode *inode);

static inline void tfs_leave(struct iot_span *span)
{
	iot_session_leave();
	iot_span_end(span);
}

/* ident.c: ids, announced when they are first used in a session */
u64 tfs_object_id(struct iot_session *session, const struct inode *inode,
		  const struct dentry *dentry);
u64 tfs_name_id(struct iot_session *session, const struct dentry *dentry);
void tfs_announce_mount(struct iot_source *source);

/* state.c: handles and mappings that existed before the session */
void __tfs_announce_handle(struct iot_session *session, u32 task, s32 fd, const struct file *file);

/* In place of a descriptor, if the handle was not found in a descriptor table. */
#define TFS_FD_USED   (-1)
#define TFS_FD_MAPPED (-2)

/* Id of a handle, announced if this is its first use in a session that began later. */
static inline u64 tfs_handle_id(struct iot_session *session, const struct iot_span *span,
				const struct file *file)
{
	const struct tfs_file *tfs = TFS_F(file);

	if (unlikely(READ_ONCE(tfs->epoch) != iot_session_epoch(session)))
		__tfs_announce_handle(session, iot_span_task(span), TFS_FD_USED, file);
	return tfs->handle;
}

/* descriptor.c */
u64 tfs_descriptor_handle(struct iot_session *session, const struct iot_span *span, const struct inode *inode);

void tfs_announce_handle(const struct iot_span *span, const struct file *file);
u32 tfs_open_flags(unsigned int flags, fmode_t mode);
u64 tfs_name_if_any(struct iot_session *session, const struct dentry *dentry);
u32 tfs_prot_of(const struct vm_area_struct *vma);
u32 tfs_map_flags_of(const struct vm_area_struct *vma);

/**
 * struct tfs_value - the new value of an extended attribute
 * @bytes: the value as programs know it, with ids of the initial user namespace; NULL if it is
 *	@acl
 * @acl: an access control list
 * @length_bytes: of the value as programs know it
 */
struct tfs_value {
	const void *bytes;
	const struct posix_acl *acl;
	size_t length_bytes;
};

/* emit_names.c */
void tfs_emit_lookup(struct iot_span *span, const struct dentry *dentry, const struct inode *found,
		     unsigned int flags, s64 result);
void tfs_emit_open(struct iot_span *span, const struct dentry *dentry, const struct file *file,
		   unsigned int flags, umode_t mode, s64 result);
void tfs_emit_stat(struct iot_span *span, const struct dentry *dentry, const struct kstat *stat,
		   s64 result);
void tfs_emit_setattr(struct iot_span *span, const struct dentry *dentry, const struct iattr *attr,
		      u64 old_size_bytes, s64 result);
void tfs_emit_mkdir(struct iot_span *span, const struct dentry *dentry, umode_t mode, s64 result);
void tfs_emit_mknod(struct iot_span *span, const struct dentry *dentry, umode_t mode, dev_t dev,
		    s64 result);
void tfs_emit_symlink(struct iot_span *span, const struct dentry *dentry, const char *target,
		      s64 result);
void tfs_emit_link(struct iot_span *span, const struct dentry *old, const struct dentry *dentry,
		   s64 result);
void tfs_emit_unlink(struct iot_span *span, const struct dentry *dentry, s64 result);
void tfs_emit_rmdir(struct iot_span *span, const struct dentry *dentry, s64 result);
void tfs_emit_rename(struct iot_span *span, const struct dentry *old, const struct dentry *new,
		     unsigned int flags, s64 result);
void tfs_emit_readlink(struct iot_span *span, const struct dentry *dentry, const char *target,
		       int room_bytes, s64 result);
void tfs_emit_follow(struct iot_span *span, const struct dentry *dentry, const char *target,
		     s64 result);
void tfs_emit_denied(struct iot_span *span, const struct inode *inode, int mask, s64 result);
void tfs_emit_statfs(struct iot_span *span, const struct dentry *dentry, s64 result);
void tfs_emit_getxattr(struct iot_span *span, const struct dentry *dentry, const char *name,
		       size_t room, s64 result);
void tfs_emit_setxattr(struct iot_span *span, const struct dentry *dentry, const char *name,
		       const struct tfs_value *value, int flags, s64 result);
void tfs_emit_removexattr(struct iot_span *span, const struct dentry *dentry, const char *name,
			  s64 result);
void tfs_emit_listxattr(struct iot_span *span, const struct dentry *dentry, size_t room,
			s64 result);
void tfs_emit_getfileattr(struct iot_span *span, const struct dentry *dentry, s64 result);
void tfs_emit_setfileattr(struct iot_span *span, const struct dentry *dentry,
			  const struct file_kattr *attr, s64 result);

/* emit_files.c */
void tfs_emit_flush(struct iot_span *span, const struct file *file, s64 result);
void tfs_emit_release(struct iot_span *span, const struct file *file);
void tfs_emit_read(struct iot_span *span, const struct file *file, loff_t offset, size_t length,
		   u32 flags, u32 faults, s64 result);
void tfs_emit_write(struct iot_span *span, const struct file *file, loff_t offset, size_t length,
		    u32 flags, u64 old_size_bytes, s64 result);
void tfs_emit_seek(struct iot_span *span, const struct file *file, loff_t offset, int whence,
		   s64 result);
void tfs_emit_fsync(struct iot_span *span, const struct file *file, loff_t start, loff_t end,
		    int datasync, s64 result);
void tfs_emit_dirent(struct iot_span *span, const struct super_block *sb, const char *name,
		     int length, unsigned int type);
void tfs_emit_readdir(struct iot_span *span, const struct file *file, loff_t offset, u32 entries,
		      s64 result);
void tfs_emit_fallocate(struct iot_span *span, const struct file *file, int mode, loff_t offset,
			loff_t length, u64 old_size_bytes, s64 result);
void tfs_emit_fadvise(struct iot_span *span, const struct file *file, loff_t offset, loff_t length,
		      int advice, s64 result);
void tfs_emit_copy_range(struct iot_span *span, const struct file *in, loff_t offset_in,
			 const struct file *out, loff_t offset_out, size_t length,
			 u64 old_size_bytes, s64 result);
void tfs_emit_remap_range(struct iot_span *span, const struct file *in, loff_t offset_in,
			  const struct file *out, loff_t offset_out, loff_t length,
			  unsigned int flags, u64 old_size_bytes, s64 result);
void tfs_emit_ioctl(struct iot_span *span, const struct file *file, unsigned int command,
		    s64 result);
void tfs_emit_lock(struct iot_span *span, const struct file *file, struct iot_rec_lock *r,
		   s64 result);
void tfs_emit_submit(struct iot_span *span, const struct file *file, u64 request, loff_t offset,
		     size_t length, u32 flags, u64 old_size_bytes, u64 memory);
void tfs_emit_complete(struct iot_source *source, u64 epoch, u32 task, u32 op, u64 request,
		       s64 result);

/**
 * struct tfs_counted - an asynchronous request that is counted
 * @row: where its end is counted; NULL if it is recorded, or the session has ended
 * @turn: of the row
 * @is_write: the request writes
 * @enter_ns: when it was submitted
 */
struct tfs_counted {
	struct iot_row *row;
	u32 turn;
	bool is_write;
	u64 enter_ns;
};

void tfs_count_request(const struct iot_span *span, const struct file *file, struct tfs_counted *counted);
void tfs_count_complete(struct iot_source *source, u64 epoch, const struct tfs_counted *counted, s64 result);

/* emit_maps.c */
struct tfs_piece;
void tfs_emit_map(struct iot_span *span, const struct file *file, const struct tfs_piece *piece,
		  const struct vm_area_struct *vma, u32 how, s64 result);
void tfs_emit_unmap(struct iot_span *span, const struct file *file, const struct tfs_piece *piece);
void tfs_emit_touch(struct iot_span *span, const struct file *file, u64 map, pgoff_t page,
		    unsigned long pages, u32 flags, bool is_major, s64 result);
void tfs_emit_msync(struct iot_span *span, const struct dentry *dentry, u64 handle, loff_t start,
		    loff_t end, int datasync, s64 result);
void tfs_emit_punch(struct iot_span *span, const struct dentry *dentry, u64 handle, loff_t offset,
		    loff_t length, u64 old_size_bytes, s64 result);
void tfs_emit_madvise(struct iot_span *span, const struct dentry *dentry, u64 handle, loff_t offset,
		      loff_t length, int advice, s64 result);

#endif
