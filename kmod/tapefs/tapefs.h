/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tapefs.h - the private structures of the stackable file system.
 *
 * tapefs has super block, inodes, dentries and files of its own, one for each of the
 * lower file system's, and no page cache. An upper object holds a reference of its
 * lower one as long as it exists:
 *
 *	super block	path of the lower directory that is mounted
 *	inode		lower inode, from iget to evict
 *	dentry		lower dentry, positive or negative, from lookup to d_release
 *	file		a lower file of its own, from open to release
 *
 * Locking order: locks that the VFS holds of the upper object, then those that it takes
 * of the lower one. On reads and writes tapefs shares no data between two files or two
 * CPUs: in particular, it takes no upper i_rwsem.
 */
#ifndef TFS_TAPEFS_H
#define TFS_TAPEFS_H

#include <linux/fs.h>
#include <linux/fs_parser.h>
#include <linux/mount.h>
#include <linux/quota.h>

#include "iotape/iotape.h"
#include "compat/vfs.h"

#define TFS_NAME  "tapefs"
#define TFS_MAGIC 0x45504154 /* "TAPE"; programs see the lower file system's instead */

/* How closely accesses to mapped files are watched: see mmap.c. */
enum tfs_mmap_mode {
	TFS_MMAP_OFF = IOT_MMAP_OFF,		     /* mappings are recorded, accesses are not */
	TFS_MMAP_FAULTAROUND = IOT_MMAP_FAULTAROUND, /* as the kernel faults: up to 16 pages at a time */
	TFS_MMAP_PAGE = IOT_MMAP_PAGE,		     /* every first access to every page */
};

struct tfs_options {
	enum tfs_mmap_mode mmap;
};

/**
 * struct tfs_sb - a mount
 * @lower: the directory below, with the mount that it was reached through
 * @read_only: the same, by a mount of our own through which nothing is written; NULL if there can be none
 * @options: as mounted
 * @quota: operations of quotactl_fd(2) that the lower file system supports
 * @source: for sessions to attach to
 * @watch: of the lower super block, see gone.c
 */
struct tfs_sb {
	struct path lower;
	struct vfsmount *read_only;
	struct tfs_options options;
	struct quotactl_ops quota;
	struct iot_source source;
	struct tfs_watch *watch;
};

/**
 * struct tfs_inode - an object
 * @vfs_inode: the upper inode
 * @lower: the lower inode
 * @object: its id, unique until the module is unloaded
 * @epoch: session in which the object was announced last
 * @retouched: session that began when pages were mapped, and unmapped them, see mmap.c
 * @execs: opens for exec by tasks that have not returned to user mode since; see exec.c, as for the next
 * @denied: in a list if writing to the lower inode is denied
 * @remover: a task that removes or replaces a name of it above, under the upper i_rwsem; see gone.c
 */
struct tfs_inode {
	struct inode vfs_inode;
	struct inode *lower;
	u64 object;
	u64 epoch;
	u64 retouched;
	unsigned int execs;
	struct list_head denied;
	const struct task_struct *remover;
};

/**
 * struct tfs_dentry - a name
 * @lower: the lower dentry; replaced, under the lock of the parent, if the lower file
 *	system made another one for the same name
 * @lower_dir: where @lower must be, so that it is noticed when others move it; NULL while
 *	a rename of ours does
 * @lower_hash_len: hash and length of the component that it must have there
 * @epoch: session in which the name was announced last
 * @name: the id under which it was
 * @dir: the parent then
 * @hash_len: hash and length of the component then; a rename changes it or @dir
 * @paths: results of a filter, see paths.c
 * @rcu: frees it
 *
 * All but @lower and @paths are written under d_lock of the upper dentry.
 */
struct tfs_dentry {
	struct dentry *lower;
	const struct dentry *lower_dir;
	u64 lower_hash_len;
	u64 epoch;
	u64 name;
	const struct dentry *dir;
	u64 hash_len;
	u64 paths;
	struct rcu_head rcu;
};

/**
 * struct tfs_file - a handle
 * @lower: the lower file that reads and writes go to
 * @handle: its id
 * @epoch: session in which it was announced last, by its open or since
 * @opened: session in which its open was recorded
 * @lock: guards @calls, @maps and the making of @mapped
 * @calls: those by the handle that are under way below, see tfs_call_begin()
 * @maps: its mappings, see pieces.c
 * @mapped: made by the first mmap; the release of the lower file then frees it, and this
 * @lease: NULL if no lease of it was ever set
 */
struct tfs_file {
	struct file *lower;
	u64 handle;
	u64 epoch;
	u64 opened;
	spinlock_t lock;
	struct list_head calls;
	struct list_head maps;
	struct tfs_mapped *mapped;
	struct tfs_lease *lease;
};

/**
 * struct tfs_call - a call of the lower file system by a handle, on the stack of its task
 * @list: among those of the handle
 * @task: whose it is
 */
struct tfs_call {
	struct list_head list;
	const struct task_struct *task;
};

static inline struct tfs_sb *TFS_SB(const struct super_block *sb)
{
	return sb->s_fs_info;
}

static inline struct tfs_inode *TFS_I(const struct inode *inode)
{
	return container_of(inode, struct tfs_inode, vfs_inode);
}

static inline struct tfs_dentry *TFS_D(const struct dentry *dentry)
{
	return dentry->d_fsdata;
}

static inline struct tfs_file *TFS_F(const struct file *file)
{
	return file->private_data;
}

static inline struct inode *tfs_lower_inode(const struct inode *inode)
{
	return TFS_I(inode)->lower;
}

/* The caller holds a reference of the upper dentry, which keeps the lower one. */
static inline struct dentry *tfs_lower_dentry(const struct dentry *dentry)
{
	return READ_ONCE(TFS_D(dentry)->lower);
}

static inline struct vfsmount *tfs_lower_mnt(const struct super_block *sb)
{
	return TFS_SB(sb)->lower.mnt;
}

/*
 * The dentry of an upper file is file_dentry(), not f_path.dentry: up to 6.7 that is overlayfs's if overlayfs lies on
 * tapefs.
 */
static inline struct path tfs_lower_path(const struct dentry *dentry)
{
	return (struct path){ .mnt = tfs_lower_mnt(dentry->d_sb),
			      .dentry = tfs_lower_dentry(dentry) };
}

/*
 * The owner of an object as seen through the mount below, which may be idmapped; the overflow
 * id if the mount does not map it. So VFS and programs see the same owner.
 */
static inline kuid_t tfs_lower_uid(const struct inode *inode)
{
	return vfsuid_into_kuid(i_uid_into_vfsuid(mnt_idmap(tfs_lower_mnt(inode->i_sb)),
						  tfs_lower_inode(inode)));
}

static inline kgid_t tfs_lower_gid(const struct inode *inode)
{
	return vfsgid_into_kgid(i_gid_into_vfsgid(mnt_idmap(tfs_lower_mnt(inode->i_sb)),
						  tfs_lower_inode(inode)));
}

/* Does exec take the owner or group of a program of this mode? On directories the bits mean something else. */
static inline bool tfs_is_setid(umode_t mode)
{
	return S_ISREG(mode) && (mode & (S_ISUID | S_ISGID));
}

static inline struct file *tfs_lower_file(const struct file *file)
{
	return TFS_F(file)->lower;
}

/* mount.c */
void tfs_mount_inherit(struct super_block *sb);
bool tfs_mount_may_suid(const struct super_block *sb);
bool tfs_mount_is_noexec(const struct super_block *sb);
bool tfs_mount_is_nosymfollow(const struct super_block *sb);
int tfs_mount_permits(const struct inode *inode, int mask);
bool tfs_mount_hides_bits(const struct inode *inode);
bool tfs_mount_may_link(struct mnt_idmap *idmap, const struct inode *inode);
struct vfsmount *tfs_mount_read_only(const struct path *lower);
struct file *tfs_lower_get_plain(struct file *file);
struct file *tfs_lower_get_for_ioctl(struct file *file, unsigned int command);

/* The mode that the VFS sees: without the bits that a nosuid mount below takes from programs. */
static inline umode_t tfs_mode_of(const struct inode *inode)
{
	const umode_t mode = READ_ONCE(tfs_lower_inode(inode)->i_mode);

	if (likely(!(mode & (S_ISUID | S_ISGID))) || !S_ISREG(mode) || tfs_mount_may_suid(inode->i_sb))
		return mode;
	return mode & ~(S_ISUID | S_ISGID);
}

/* real.c */
int tfs_d_init(struct dentry *dentry);
void tfs_real_show(struct dentry *dentry, const struct inode *inode);
void tfs_real_hide(struct dentry *dentry);
IOT_D_REAL_DECLARE(tfs_d_real);

/* super.c */
extern const struct super_operations tfs_super_operations;
int tfs_super_init(void);
void tfs_super_exit(void);

/* params.c */
extern const struct fs_parameter_spec tfs_parameters[];
int tfs_init_fs_context(struct fs_context *fc);
void tfs_options_show(struct seq_file *out, const struct tfs_options *options);
int tfs_fill_super(struct super_block *sb, struct fs_context *fc);

/* state.c */
extern const struct iot_source_ops tfs_source_ops;
bool tfs_is_below(const struct iot_source *source, const struct file *file);

/* inode.c */
struct inode *tfs_inode_get(struct super_block *sb, struct inode *lower);
struct inode *tfs_inode_find_rcu(struct super_block *sb, struct inode *lower);
void tfs_copy_attr(struct inode *inode);
void tfs_copy_attr_locked(struct inode *inode);
void tfs_copy_size(struct inode *inode);
bool tfs_refresh(struct inode *inode);
void tfs_refresh_setid(struct inode *inode);
bool tfs_is_as_set(const struct inode *inode);

/* lookup.c */
extern const struct dentry_operations tfs_dentry_operations;
int tfs_dentry_init(struct dentry *dentry, struct dentry *lower);
void tfs_dentry_replace(struct dentry *dentry, struct dentry *lower);
void tfs_dentry_place(struct dentry *dentry, const struct dentry *dir, const struct qstr *name);
bool tfs_dentry_hide(struct dentry *dentry, unsigned int refs);
bool tfs_is_dropped(const struct dentry *dentry);
int tfs_instantiate(struct dentry *dentry, struct dentry *lower);
struct dentry *tfs_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags);
int tfs_atomic_open(struct inode *dir, struct dentry *dentry, struct file *file,
		    unsigned int flags, umode_t mode);
int tfs_tmpfile(struct mnt_idmap *idmap, struct inode *dir, struct file *file, umode_t mode);

/* names.c, attr.c, link.c: the inode operations */
extern const struct inode_operations tfs_dir_iops;
extern const struct inode_operations tfs_file_iops;
extern const struct inode_operations tfs_symlink_iops;
int tfs_create(struct mnt_idmap *idmap, struct inode *dir, struct dentry *dentry, umode_t mode);
int tfs_link(struct dentry *old, struct inode *dir, struct dentry *dentry);
int tfs_unlink(struct inode *dir, struct dentry *dentry);
int tfs_symlink(struct mnt_idmap *idmap, struct inode *dir, struct dentry *dentry,
		const char *target);
int tfs_mkdir(struct mnt_idmap *idmap, struct inode *dir, struct dentry *dentry, umode_t mode);
int tfs_rmdir(struct inode *dir, struct dentry *dentry);
int tfs_mknod(struct mnt_idmap *idmap, struct inode *dir, struct dentry *dentry, umode_t mode,
	      dev_t dev);
int tfs_rename(struct mnt_idmap *idmap, struct inode *old_dir, struct dentry *old,
	       struct inode *new_dir, struct dentry *new, unsigned int flags);
int tfs_setattr(struct mnt_idmap *idmap, struct dentry *dentry, struct iattr *attr);
int tfs_getattr(struct mnt_idmap *idmap, const struct path *path, struct kstat *stat, u32 mask,
		unsigned int flags);
int tfs_permission(struct mnt_idmap *idmap, struct inode *inode, int mask);
const char *tfs_get_link(struct dentry *dentry, struct inode *inode, struct delayed_call *done);
int tfs_readlink(struct dentry *dentry, char __user *buffer, int room);

/* xattr.c */
extern IOT_XATTR_HANDLERS(tfs_xattr_handlers);
ssize_t tfs_listxattr(struct dentry *dentry, char *list, size_t room);

/* file.c */
#define TFS_FOPS_REMAP	  1 /* below, files can share blocks */
#define TFS_FOPS_SYNC	  2 /* below, mappings can be synchronous (MAP_SYNC) */
#define TFS_FOPS_PARALLEL 4 /* below, io_uring's workers may write to one file at the same time */
extern const struct file_operations tfs_file_fops[];
extern const struct file_operations tfs_dir_fops;
bool tfs_is_file(const struct file *file);
int tfs_open(struct inode *inode, struct file *file);
int tfs_open_lower(struct file *file, struct file *lower);

/* lock.c */
int tfs_lock(struct file *file, int command, struct file_lock *lock);
int tfs_flock(struct file *file, int command, struct file_lock *lock);

/* rw.c */
ssize_t tfs_read_iter(struct kiocb *iocb, struct iov_iter *iter);
ssize_t tfs_write_iter(struct kiocb *iocb, struct iov_iter *iter);
ssize_t tfs_splice_write(struct pipe_inode_info *pipe, struct file *file, loff_t *offset, size_t length,
			 unsigned int flags);
int tfs_rw_init(void);
void tfs_rw_exit(void);

/* gone.c */
int tfs_watch_start(struct super_block *sb);
void tfs_watch_stop(struct super_block *sb);

/* dir.c */
int tfs_iterate_shared(struct file *file, struct dir_context *context);

/* mapped.c */
void tfs_call_begin(struct file *file, struct tfs_call *call);
void tfs_call_end(struct file *file, struct tfs_call *call);
struct file *tfs_mapped_of(struct file *upper);
unsigned long tfs_lower_unmapped_area(struct file *lower, unsigned long address, unsigned long length_bytes,
				      unsigned long page, unsigned long flags);

/* pieces.c */
void tfs_maps_forget(struct tfs_file *tfs);

/* mmap.c */
int tfs_mmap(struct file *file, struct vm_area_struct *vma);
enum iot_view tfs_view_map(const struct iot_source *source, const struct vm_area_struct *vma);
bool tfs_announce_map(struct iot_session *session, u32 task, const struct vm_area_struct *vma);
void tfs_retouch_map(struct iot_session *session, const struct vm_area_struct *vma);
unsigned long tfs_get_unmapped_area(struct file *file, unsigned long address,
				    unsigned long length_bytes, unsigned long page,
				    unsigned long flags);

#endif
