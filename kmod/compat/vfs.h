/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vfs.h - functions of the VFS that changed their name or arguments, one wrapper each.
 */
#ifndef IOT_COMPAT_VFS_H
#define IOT_COMPAT_VFS_H

#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/sched/mm.h>
#include <linux/splice.h>
#include <linux/uio.h>
#include <linux/version.h>
#if __has_include(<linux/filelock.h>) /* 6.3: a header of its own. Remove with 6.1. */
#include <linux/filelock.h>
#endif

/* Until it was in this header, by 6.1, fs/fuse had it for itself. Remove with Enterprise Linux 9. */
#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

/* 6.3, see compat.h. Remove with 6.1. */
#ifndef IOT_HAVE_MNT_IDMAP
static inline struct user_namespace *user_namespace(const struct vfsmount *mnt)
{
	return mnt_user_ns(mnt);
}

#define nop_mnt_idmap init_user_ns /* a mount that is not idmapped */
#endif

/* 6.16: takes a qstr. Remove with 6.12. */
static inline struct dentry *iot_lookup_one_unlocked(struct mnt_idmap *idmap, struct qstr *name,
						     struct dentry *parent)
{
#ifdef IOT_HAVE_LOOKUP_ONE_QSTR
	return lookup_one_unlocked(idmap, name, parent);
#else
	return lookup_one_unlocked(idmap, name->name, parent, name->len);
#endif
}

/* 6.5: a file that overlayfs opens on its layer says so; until then, it has a path of overlayfs. Remove with 6.1. */
static inline bool iot_is_backing(const struct file *file)
{
#ifdef FMODE_BACKING
	return file->f_mode & FMODE_BACKING;
#else
	return file->f_path.dentry->d_sb != file_inode(file)->i_sb;
#endif
}

/* As allow_write_access(), which wants a file. All versions. */
static inline void iot_allow_write_access(struct inode *inode)
{
	atomic_inc(&inode->i_writecount);
}

/* Where the caller's memory begins, NULL if the memory is none of a user. 6.4: one of the two. Remove with 6.1. */
static inline void __user *iot_iter_address(const struct iov_iter *iter)
{
	if (iter_is_ubuf(iter))
		return iter->ubuf + iter->iov_offset;
	if (!iter_is_iovec(iter) || !iter->nr_segs)
		return NULL;
#ifdef iter_iov_addr
	return iter_iov_addr(iter);
#else
	return iov_iter_iovec(iter).iov_base;
#endif
}

/* 6.6: was vfs_tmpfile_open(). Remove with 6.1. */
#ifndef IOT_HAVE_KERNEL_TMPFILE_OPEN
#define kernel_tmpfile_open(idmap, parent, mode, flags, cred) \
	vfs_tmpfile_open(idmap, parent, mode, flags, cred)
#endif

/* Exported long before it was declared outside of fs/internal.h (6.12). Remove with 6.1. */
#ifndef IOT_HAVE_VFS_PATH_LOOKUP
int vfs_path_lookup(struct dentry *dentry, struct vfsmount *mnt, const char *name,
		    unsigned int flags, struct path *path);
#endif

/*
 * 6.6: a user thread that holds no locks may release a file at once, as close(2) does since then.
 * Before, this hits a BUG_ON(), and the file is released when the thread returns to user mode.
 * No header distinguishes the two, and no kernel has lost it again. Remove with 6.1.
 */
#define IOT_RELEASES_AT_ONCE (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0))

static inline void iot_fput_at_once(struct file *file)
{
	if (IOT_RELEASES_AT_ONCE)
		__fput_sync(file);
	else
		fput(file);
}

/* 6.14 made sb->s_d_op private; set_default_d_op() is 6.17. Remove with 6.12. */
static inline void iot_set_d_op(struct super_block *sb, const struct dentry_operations *ops)
{
#ifdef IOT_HAVE_SET_DEFAULT_D_OP
	set_default_d_op(sb, ops);
#else
	sb->s_d_op = ops;
#endif
}

/*
 * By 7.3: a dentry says whether its file system has a reference of it, because the name is nowhere else,
 * as in tmpfs. Before, the super block gave them up at its end. Remove with 6.12.
 */
static inline bool iot_is_pinned(const struct dentry *dentry)
{
#ifdef IOT_HAVE_DCACHE_PERSISTENT
	return dentry->d_flags & DCACHE_PERSISTENT;
#else
	return dentry->d_sb->s_type->kill_sb == kill_litter_super;
#endif
}

/*
 * 6.19: a caller of start_creating() does not set LOOKUP_EXCL, which system calls set; only open may
 * find an existing name. And LOOKUP_CREATE is set for the target of a rename, which it was not in
 * 6.12. Remove with 6.12.
 */
static inline unsigned int iot_lookup_flags(unsigned int flags)
{
#ifdef IOT_HAVE_START_CREATING
	if (flags & LOOKUP_RENAME_TARGET)
		return flags & ~LOOKUP_CREATE;
	if ((flags & (LOOKUP_CREATE | LOOKUP_OPEN)) == LOOKUP_CREATE)
		flags |= LOOKUP_EXCL;
#endif
	return flags;
}

/*
 * 6.14: d_revalidate takes the parent and the name, too. The operation is written for the
 * older form, whose arguments suffice. Remove with 6.12.
 */
#ifdef IOT_HAVE_D_REVALIDATE_NAME
#define IOT_D_REVALIDATE(function)                                                        \
	static int function##_by_name(struct inode *dir, const struct qstr *name,         \
				      struct dentry *dentry, unsigned int flags)          \
	{                                                                                 \
		return function(dentry, flags);                                           \
	}
#define IOT_D_REVALIDATE_OP(function) function##_by_name

static inline int iot_d_revalidate(struct dentry *dentry, unsigned int flags)
{
	struct dentry *parent = dget_parent(dentry);
	struct name_snapshot name;
	int valid;

	take_dentry_name_snapshot(&name, dentry);
	valid = dentry->d_op->d_revalidate(d_inode(parent), &name.name, dentry, flags);
	release_dentry_name_snapshot(&name);
	dput(parent);
	return valid;
}
#else
#define IOT_D_REVALIDATE(function)
#define IOT_D_REVALIDATE_OP(function) function

static inline int iot_d_revalidate(struct dentry *dentry, unsigned int flags)
{
	return dentry->d_op->d_revalidate(dentry, flags);
}
#endif

/*
 * 6.9: d_real takes the type of the wanted object; before, the inode that it looks for, or NULL. Remove with 6.1.
 */
#ifdef IOT_HAVE_D_REAL_TYPE
#define IOT_D_REAL_DECLARE(function) struct dentry *function(struct dentry *dentry, enum d_real_type what)
#define iot_is_real(dentry, what)    false
#else
#define IOT_D_REAL_DECLARE(function) struct dentry *function(struct dentry *dentry, const struct inode *what)
#define iot_is_real(dentry, what)    ((what) && (what) == d_inode(dentry))

/* The dentry of a file was asked of d_real then, also of ours, at each record. It is another one's under overlayfs only. */
static inline struct dentry *iot_file_dentry(const struct file *file)
{
	struct dentry *dentry = file->f_path.dentry;

	return likely(dentry->d_sb == file_inode(file)->i_sb) ? dentry : file_dentry(file);
}

#define file_dentry(file) iot_file_dentry(file)
#endif

/* 6.18: was generic_delete_inode(). Remove with 6.12. */
#ifndef IOT_HAVE_INODE_JUST_DROP
#define inode_just_drop generic_delete_inode
#endif

/* 6.19: i_state is read through an accessor. Remove with 6.12. */
static inline unsigned int iot_inode_state(struct inode *inode)
{
#ifdef IOT_HAVE_INODE_STATE_READ
	return inode_state_read_once(inode);
#else
	return READ_ONCE(inode->i_state);
#endif
}

/* 6.7 to 6.15: the flag says that the caller has passed LSM checks already. */
static inline int iot_vfs_getattr(const struct path *path, struct kstat *stat, u32 mask,
				  unsigned int flags)
{
#ifdef IOT_HAVE_GETATTR_NOSEC
	if (flags & AT_GETATTR_NOSEC)
		return vfs_getattr_nosec(path, stat, mask, flags);
#endif
	return vfs_getattr(path, stat, mask, flags);
}

/* 6.5: checks arguments, asks for permission, and knows files without a method. Remove with 6.1. */
#ifdef IOT_HAVE_VFS_SPLICE_READ
#define IOT_SPLICE_READ_ASKS true
#else
#define IOT_SPLICE_READ_ASKS false

static inline ssize_t vfs_splice_read(struct file *in, loff_t *offset,
				      struct pipe_inode_info *pipe, size_t length,
				      unsigned int flags)
{
	if (in->f_op->splice_read)
		return in->f_op->splice_read(in, offset, pipe, length, flags);
	return generic_file_splice_read(in, offset, pipe, length, flags);
}
#endif

/* 6.9: a part of the lock that leases have, too. Remove with 6.1. */
#ifdef IOT_HAVE_FILE_LOCK_CORE
#define iot_lock_file(lock)  ((lock)->c.flc_file)
#define iot_lock_owner(lock) ((lock)->c.flc_owner)
#define iot_lock_type(lock)  ((lock)->c.flc_type)
#define iot_lock_flags(lock) ((lock)->c.flc_flags)
#define iot_lock_pid(lock)   ((lock)->c.flc_pid)
#define iot_lock_entry	     file_lock_core /* a lock in the lists of an inode */
#define iot_lock_entry_list  flc_list
#define iot_lock_entry_owner flc_owner
#else
#define iot_lock_file(lock)  ((lock)->fl_file)
#define iot_lock_owner(lock) ((lock)->fl_owner)
#define iot_lock_type(lock)  ((lock)->fl_type)
#define iot_lock_flags(lock) ((lock)->fl_flags)
#define iot_lock_pid(lock)   ((lock)->fl_pid)
#define iot_lock_entry	     file_lock
#define iot_lock_entry_list  fl_list
#define iot_lock_entry_owner fl_owner
#endif

/* By 7.3: a delegation to be returned is described by a structure. Remove with 6.12. */
#ifdef IOT_HAVE_DELEGATED_INODE
#define iot_delegated(delegated) (delegated)
#else
struct delegated_inode {
	struct inode *di_inode;
};

static inline struct inode **iot_delegated(struct delegated_inode *delegated)
{
	return delegated ? &delegated->di_inode : NULL;
}

#define is_delegated(delegated)	    ((delegated)->di_inode != NULL)
#define break_deleg_wait(delegated) break_deleg_wait(iot_delegated(delegated))
#endif

/* By 7.3: a file without the operation refuses leases. Remove with 6.12. */
#ifndef IOT_HAVE_SIMPLE_NOSETLEASE
#define simple_nosetlease NULL
#endif

/* 6.6: O_DIRECT completions may be run by the submitter. Not here. */
#ifdef IOT_HAVE_IOCB_DIO_CALLER_COMP
#define IOT_IOCB_CALLER_COMP IOCB_DIO_CALLER_COMP
#else
#define IOT_IOCB_CALLER_COMP 0
#endif

/* For an open without fsnotify events and permission events; later a function of its own. See Documentation/compat.md. */
#ifdef __FMODE_NONOTIFY
#define IOT_O_NONOTIFY __FMODE_NONOTIFY
#else
#define IOT_O_NONOTIFY 0
#endif

/* 6.11: a file says whether it can write all of a block or nothing (RWF_ATOMIC). Remove with 6.1. */
#ifdef IOT_HAVE_ATOMIC_WRITE
#define IOT_FMODE_ATOMIC_WRITE FMODE_CAN_ATOMIC_WRITE
#else
#define IOT_FMODE_ATOMIC_WRITE ((__force fmode_t)0)
#endif

/* 6.4 to 6.9: the file says whether workers may write in parallel, see IOT_FOP_FLAGS. Remove with Enterprise Linux 9. */
#ifdef FMODE_DIO_PARALLEL_WRITE
#define IOT_FMODE_PARALLEL_WRITE FMODE_DIO_PARALLEL_WRITE
#else
#define IOT_FMODE_PARALLEL_WRITE ((__force fmode_t)0)
#endif

/*
 * 6.14: a table of operations says whether data that was read or written may leave the page cache at
 * once (RWF_DONTCACHE). Remove with 6.12.
 */
#ifdef IOT_HAVE_DONTCACHE
#define IOT_FOP_DONTCACHE FOP_DONTCACHE

static inline bool iot_can_rw(const struct kiocb *iocb, const struct file *lower)
{
	return !(iocb->ki_flags & IOCB_DONTCACHE) || (lower->f_op->fop_flags & FOP_DONTCACHE);
}
#else
#define IOT_FOP_DONTCACHE	0
#define iot_can_rw(iocb, lower) true
#endif

/*
 * 6.10: such flags say whether mappings can be synchronous, before, a member of its own; and whether io_uring may let
 * workers write to one file with O_DIRECT at the same time, which it never did before 6.4. Remove with 6.1.
 */
#ifdef FOP_MMAP_SYNC
#define IOT_FOP_FLAGS(is_sync, is_parallel)                                    \
	.fop_flags = IOT_FOP_DONTCACHE | ((is_sync) ? FOP_MMAP_SYNC : 0) |     \
		     ((is_parallel) ? FOP_DIO_PARALLEL_WRITE : 0)
#define iot_can_map_sync(table)	      ((table)->fop_flags & FOP_MMAP_SYNC)
#define iot_can_write_parallel(table) ((table)->fop_flags & FOP_DIO_PARALLEL_WRITE)
#else
#define IOT_FOP_FLAGS(is_sync, is_parallel) .mmap_supported_flags = (is_sync) ? MAP_SYNC : 0
#define iot_can_map_sync(table)		    ((table)->mmap_supported_flags & MAP_SYNC)
#define iot_can_write_parallel(table)	    false
#endif

/* 6.9: FS_IOC_GETFSUUID returns the UUID of the super block; before, it did not exist. Remove with 6.1. */
static inline void iot_copy_uuid(struct super_block *sb, const struct super_block *lower)
{
#ifdef IOT_HAVE_SUPER_SET_UUID
	super_set_uuid(sb, lower->s_uuid.b, lower->s_uuid_len);
#endif
}

/* 6.7: a file system that applies the umask itself; before, it said that it had ACLs. Remove with 6.1. */
#ifdef SB_I_NOUMASK
#define IOT_SB_I_NOUMASK SB_I_NOUMASK
#else
#define IOT_SB_I_NOUMASK 0
#endif

/* 6.6: the table of handlers is const throughout. Remove with 6.1. */
#ifdef IOT_HAVE_CONST_XATTR_HANDLERS
#define IOT_XATTR_HANDLERS(table) const struct xattr_handler *const table[]
#else
#define IOT_XATTR_HANDLERS(table) const struct xattr_handler *table[]
#endif

/* 6.17: a file system may have ->mmap_prepare only. Remove with 6.12. */
#ifdef IOT_HAVE_VFS_MMAP
#define iot_can_mmap(file) can_mmap_file(file)
#else
#define iot_can_mmap(file)  ((file)->f_op->mmap != NULL)
#define vfs_mmap(file, vma) call_mmap(file, vma)
#endif

/*
 * 6.10: was a member of the mm. Remove with 6.1. Between 6.12 and 7.2 it lost the parameter mm,
 * which always was the caller's. Remove with 6.12.
 */
static inline unsigned long iot_mm_get_unmapped_area(struct file *file, unsigned long address,
						     unsigned long length_bytes,
						     unsigned long page, unsigned long flags)
{
#if defined(IOT_HAVE_CURRENT_GET_UNMAPPED_AREA)
	return mm_get_unmapped_area(file, address, length_bytes, page, flags);
#elif defined(IOT_HAVE_MM_GET_UNMAPPED_AREA)
	return mm_get_unmapped_area(current->mm, file, address, length_bytes, page, flags);
#else
	return current->mm->get_unmapped_area(file, address, length_bytes, page, flags);
#endif
}

/* 6.3: vm_flags is not written directly. Remove with 6.1. */
#ifndef IOT_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/*
 * 6.15 can map one page of a folio from a fault. Since 6.18 at the latest, map_pages and the end
 * of a fault map all of a large folio, whatever they are asked for. Remove with 6.12.
 */
#ifdef IOT_HAVE_VMF_INSERT_PAGE
#define IOT_MAPS_WHOLE_FOLIOS true
#define iot_insert_page(vmf)  vmf_insert_page_mkwrite(vmf, (vmf)->page, false)
#else
#define IOT_MAPS_WHOLE_FOLIOS false
#define iot_insert_page(vmf)  VM_FAULT_SIGBUS
#endif

/* 6.6: a huge page fault takes the order of the page; before, the level of page tables. Remove with 6.1. */
#ifdef IOT_HAVE_HUGE_FAULT_ORDER
typedef unsigned int iot_huge_t;
#define iot_huge_pages(size) (1UL << (size))
#else
typedef enum page_entry_size iot_huge_t;
#define iot_huge_pages(size) (((size) == PE_SIZE_PUD ? PUD_SIZE : PMD_SIZE) >> PAGE_SHIFT)
#endif

/* By 7.2: an operation that only ->mmap_prepare may leave behind. Remove with 6.12. */
static inline void iot_vm_ops_copy(struct vm_operations_struct *to,
				   const struct vm_operations_struct *from)
{
	*to = *from;
#ifdef IOT_HAVE_VM_MAPPED
	to->mapped = NULL;
#endif
}

#endif
