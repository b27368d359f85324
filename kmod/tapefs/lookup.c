// SPDX-License-Identifier: GPL-2.0-only
/*
 * lookup.c - from names to objects: lookup, revalidation, and opening of uncached names.
 *
 * The dentry of a name that is about to be created is not hashed before the creation: so no other task finds it
 * while it is negative, and no dentry that a task has found becomes positive. A task that finds a negative dentry
 * may drop it without a lock of the directory; an existing file would then look deleted.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/slab.h>

#include "emit.h"
#include "lower.h"
#include "tapefs.h"
#include "compat/vfs.h"

#define CREATE_TRIES 16 /* of a name that other tasks create and remove below at the same time */

/**
 * tfs_dentry_place() - note where the lower dentry of a name must be
 * @dentry: upper dentry with a lower one
 * @dir: upper dentry of the directory; NULL: anywhere, because it is about to move
 * @name: the component
 *
 * The caller holds the locks that keep the name in the directory. The hash is valid for the lower file system, too:
 * check_lower() refuses file systems with a hash function of their own.
 */
void tfs_dentry_place(struct dentry *dentry, const struct dentry *dir, const struct qstr *name)
{
	const struct dentry *lower_dir = dir ? tfs_lower_dentry(dir) : NULL;
	struct tfs_dentry *tfs = TFS_D(dentry);

	spin_lock(&dentry->d_lock);
	if (lower_dir)
		WRITE_ONCE(tfs->lower_hash_len,
			   hashlen_create(full_name_hash(lower_dir, name->name, name->len), name->len));
	WRITE_ONCE(tfs->lower_dir, lower_dir);
	spin_unlock(&dentry->d_lock);
}

/**
 * tfs_dentry_init() - give an upper dentry its lower one
 * @dentry: upper dentry, without one
 * @lower: lower dentry; its reference is consumed
 *
 * Return: 0 or -ENOMEM.
 */
int tfs_dentry_init(struct dentry *dentry, struct dentry *lower)
{
	struct tfs_dentry *tfs = kzalloc(sizeof(*tfs), GFP_KERNEL);

	if (!tfs) {
		dput(lower);
		return -ENOMEM;
	}
	tfs->lower = lower;
	dentry->d_fsdata = tfs;
	if (!IS_ROOT(dentry))
		tfs_dentry_place(dentry, dentry->d_parent, &dentry->d_name);
	return 0;
}

/**
 * tfs_dentry_replace() - the lower file system has another dentry for the name now
 * @dentry: upper dentry, being looked up or about to be positive; the VFS holds the lock
 *	of its parent
 * @lower: the lower dentry; its reference is consumed
 */
void tfs_dentry_replace(struct dentry *dentry, struct dentry *lower)
{
	struct dentry *old = tfs_lower_dentry(dentry);

	if (old == lower) {
		dput(lower);
		return;
	}
	WRITE_ONCE(TFS_D(dentry)->lower, lower);
	dput(old);
}

/**
 * tfs_dentry_hide() - unhash a dentry, unless another task has a reference
 * @dentry: upper or lower dentry
 * @refs: number of references if no other task has one
 *
 * Return: whether it is unhashed. A lockless lookup that was about to find it retries.
 */
bool tfs_dentry_hide(struct dentry *dentry, unsigned int refs)
{
	bool is_alone;

	spin_lock(&dentry->d_lock);
	is_alone = d_count(dentry) <= refs && !d_unhashed(dentry);
	if (is_alone)
		__d_drop(dentry);
	spin_unlock(&dentry->d_lock);
	return is_alone;
}

/* Before the lower dentry is put; see tfs_freed_begin(). A dentry with a reference stays positive. */
static u64 dentry_freed_begin(const struct dentry *lower)
{
	if (d_is_negative(lower) || d_count(lower) > 1)
		return 0;
	return tfs_freed_begin(d_inode(lower));
}

static void d_release(struct dentry *dentry)
{
	struct tfs_dentry *tfs = TFS_D(dentry);

	if (!tfs)
		return;
	if (tfs->lower) { /* there is none if the lookup below failed */
		u64 begin_ns = dentry_freed_begin(tfs->lower);

		dput(tfs->lower);
		tfs_freed_end(dentry->d_sb, begin_ns);
	}
	kfree_rcu(tfs, rcu); /* ident.c may be looking at it */
}

/**
 * tfs_instantiate() - make a negative dentry positive, after a creation
 * @dentry: upper dentry, negative; hashed only if the caller looked it up without stating its intent,
 *	which no system call does
 * @lower: dentry of the new lower object, positive; its reference is consumed
 *
 * Return: 0 or a negative errno.
 */
int tfs_instantiate(struct dentry *dentry, struct dentry *lower)
{
	struct inode *inode = tfs_inode_get(dentry->d_sb, d_inode(lower));

	tfs_dentry_replace(dentry, lower);
	if (IS_ERR(inode))
		return PTR_ERR(inode);
	tfs_real_show(dentry, inode);
	if (likely(d_unhashed(dentry)))
		d_add(dentry, inode);
	else
		d_instantiate(dentry, inode);
	return 0;
}

/*
 * Connect @dentry, which is not hashed, with the object of its lower dentry. If that is negative, and
 * @is_to_be_made, @dentry stays as it is. Return: as the lookup of a directory does.
 */
static struct dentry *splice(struct dentry *dentry, bool is_to_be_made, struct inode **found)
{
	struct dentry *lower = tfs_lower_dentry(dentry), *spliced;
	struct inode *inode = NULL;

	if (d_is_positive(lower)) {
		inode = tfs_inode_get(dentry->d_sb, d_inode(lower));
		if (IS_ERR(inode))
			return ERR_CAST(inode);
	} else if (is_to_be_made) {
		return NULL;
	}
	tfs_real_show(dentry, inode);
	spliced = d_splice_alias(inode, dentry);
	if (IS_ERR(spliced))
		return spliced;
	if (spliced) { /* a directory that others have moved here */
		tfs_dentry_replace(spliced, dget(lower));
		tfs_dentry_place(spliced, spliced->d_parent, &spliced->d_name);
	}
	*found = inode;
	return spliced;
}

/* Find the name below, and show it in the upper dcache. */
static struct dentry *lookup_and_splice(struct dentry *dentry, bool is_to_be_made,
					struct inode **found)
{
	struct dentry *lower = tfs_do_lookup(dentry);
	int err;

	*found = NULL;
	if (IS_ERR(lower)) {
		tfs_dentry_init(dentry, NULL); /* for the record: it goes by this name */
		return lower;
	}
	err = tfs_dentry_init(dentry, lower);
	return err ? ERR_PTR(err) : splice(dentry, is_to_be_made, found);
}

/* Will the caller of a lookup create the name if it does not exist? Not for opens. */
static bool is_to_be_made(unsigned int flags)
{
	return flags & (LOOKUP_CREATE | LOOKUP_RENAME_TARGET);
}

/*
 * Does the lookup need a record? If its caller is about to create the name, the creation has a record if the name
 * does not exist, and fails if it does.
 */
static bool is_worth_a_record(const struct inode *found, unsigned int flags, s64 *result)
{
	if (!found) {
		*result = -ENOENT;
		return !is_to_be_made(flags);
	}
	*result = (flags & LOOKUP_CREATE) && (flags & LOOKUP_EXCL) ? -EEXIST : 0;
	return true;
}

static void emit_lookup(struct iot_span *span, const struct dentry *dentry,
			const struct inode *found, unsigned int flags)
{
	s64 result;

	if (is_worth_a_record(found, flags, &result))
		tfs_emit_lookup(span, dentry, found, flags, result);
	else
		iot_span_cancel(span);
}

/* The lookup failed below: whether the name exists is not known. */
static void emit_failure(struct iot_span *span, const struct dentry *dentry, unsigned int flags,
			 int err)
{
	if (TFS_D(dentry))
		tfs_emit_lookup(span, dentry, NULL, flags, err);
	else
		iot_span_cancel(span); /* no memory */
}

/*
 * tfs_lookup() - a name that is not in the upper dcache
 */
struct dentry *tfs_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	struct dentry *spliced;
	struct iot_span span;
	struct inode *found;

	flags = iot_lookup_flags(flags);
	tfs_gate_open(dentry->d_sb, IOT_KIND_lookup, &span);
	spliced = lookup_and_splice(dentry, is_to_be_made(flags), &found);
	if (IS_ERR(spliced))
		emit_failure(&span, dentry, flags, PTR_ERR(spliced));
	else
		emit_lookup(&span, spliced ?: dentry, found, flags);
	return spliced;
}

static bool is_at_place(const struct tfs_dentry *tfs, const struct dentry *lower)
{
	const struct dentry *dir = READ_ONCE(tfs->lower_dir);

	return !dir || (READ_ONCE(lower->d_parent) == dir &&
			READ_ONCE(lower->d_name.hash_len) == READ_ONCE(tfs->lower_hash_len));
}

/*
 * Was the lower name moved by another task? Without the lock, this may run in the middle of
 * a rename by tapefs itself. Return: as d_revalidate().
 */
static int place_revalidate(struct dentry *dentry, struct dentry *lower, unsigned int flags)
{
	bool is_valid;

	if (likely(is_at_place(TFS_D(dentry), lower)))
		return 1;
	if (flags & LOOKUP_RCU)
		return -ECHILD;
	spin_lock(&dentry->d_lock);
	is_valid = is_at_place(TFS_D(dentry), lower);
	spin_unlock(&dentry->d_lock);
	return is_valid;
}

static bool is_lower_valid(const struct dentry *dentry, struct dentry *lower)
{
	struct inode *inode = d_inode_rcu(dentry);

	if (d_unhashed(lower) && !IS_ROOT(dentry))
		return false;
	return d_inode_rcu(lower) == (inode ? tfs_lower_inode(inode) : NULL);
}

static int lower_revalidate(struct dentry *dentry, struct dentry *lower, unsigned int flags)
{
	if (likely(!(lower->d_flags & DCACHE_OP_REVALIDATE)))
		return 1;
	if (flags & LOOKUP_RCU)
		return -ECHILD;
	return iot_d_revalidate(lower, flags);
}

/* Return: as d_revalidate(). In RCU walk the inode may be freed at any time. */
static int refresh(struct inode *inode, unsigned int flags)
{
	if (unlikely(!inode) || likely(tfs_refresh(inode)))
		return 1;
	if (flags & LOOKUP_RCU)
		return -ECHILD;
	tfs_refresh_setid(inode);
	return 1;
}

/*
 * A dentry without a name, of a file that was created without one (O_TMPFILE) or removed. It stays valid as long
 * as the lower dentry has the same inode.
 */
static int unnamed_revalidate(struct inode *inode, const struct dentry *lower, unsigned int flags)
{
	if (!inode || d_inode_rcu(lower) != tfs_lower_inode(inode))
		return 0;
	return refresh(inode, flags);
}

static int revalidate_positive(struct dentry *dentry, struct dentry *lower, unsigned int flags)
{
	const unsigned int make = LOOKUP_CREATE | LOOKUP_EXCL;
	struct inode *inode = d_inode_rcu(dentry);
	struct iot_span span;
	int valid;

	if (unlikely(d_unhashed(dentry))) /* as overlayfs may hold it */
		return unnamed_revalidate(inode, lower, flags);
	valid = lower_revalidate(dentry, lower, flags);
	if (valid <= 0)
		return valid;
	if (unlikely(!is_lower_valid(dentry, lower)))
		return 0;
	valid = place_revalidate(dentry, lower, flags);
	if (unlikely(valid <= 0))
		return valid;
	valid = refresh(inode, flags);
	if (unlikely(valid <= 0))
		return valid;
	if (unlikely(!flags && (dentry->d_flags & DCACHE_OP_REAL))) /* perhaps by overlayfs */
		tfs_real_hide(dentry);
	if (unlikely((flags & make) == make)) { /* never in RCU walk; will fail with EEXIST */
		tfs_gate_open(dentry->d_sb, IOT_KIND_lookup, &span);
		emit_lookup(&span, dentry, d_inode(dentry), flags);
	}
	return 1;
}

/*
 * A creation at a hashed dentry replaces its lower dentry, see tfs_instantiate(): RCU keeps the old one for
 * this moment. Return: the lower dentry, referenced; NULL if it is being freed.
 */
static struct dentry *lower_get(const struct dentry *dentry)
{
	struct dentry *lower;

	rcu_read_lock();
	lower = tfs_lower_dentry(dentry);
	if (!lockref_get_not_dead(&lower->d_lockref))
		lower = NULL;
	rcu_read_unlock();
	return lower;
}

/*
 * A name that is known not to exist. Looking it up again is an operation like the
 * first time, and is recorded. An open goes on to tfs_atomic_open(), a creation to a
 * new lookup.
 */
static int revalidate_negative(struct dentry *dentry, unsigned int flags)
{
	struct dentry *lower;
	struct iot_span span;
	int valid;

	if (flags & LOOKUP_RCU)
		return -ECHILD;
	if (flags & (LOOKUP_OPEN | LOOKUP_CREATE | LOOKUP_EXCL | LOOKUP_RENAME_TARGET))
		return 0;
	tfs_gate_open(dentry->d_sb, IOT_KIND_lookup, &span);
	lower = lower_get(dentry);
	valid = lower ? lower_revalidate(dentry, lower, flags) : 0;
	if (valid > 0)
		valid = is_lower_valid(dentry, lower);
	dput(lower);
	if (valid > 0)
		emit_lookup(&span, dentry, NULL, flags);
	else
		iot_span_cancel(&span);
	return valid;
}

/*
 * Does the upper dentry of a name still agree with the lower file system? Called for every component
 * of every path walk, mostly without references or locks (RCU walk). overlayfs calls it for dentries
 * that it holds, too: for a file that it has copied up, many kernels (Debian's 6.1.176, not 6.1.192) hold the dentry that
 * the file had before it got its name.
 */
static int d_revalidate(struct dentry *dentry, unsigned int flags)
{
	struct tfs_dentry *tfs = TFS_D(dentry);

	if (!tfs)
		return flags & LOOKUP_RCU ? -ECHILD : 0;
	flags = iot_lookup_flags(flags);
	if (d_inode_rcu(dentry))
		return revalidate_positive(dentry, READ_ONCE(tfs->lower), flags);
	return revalidate_negative(dentry, flags);
}

/* For objects that were reached without their name: "." and the target of a magic link. */
static int d_weak_revalidate(struct dentry *dentry, unsigned int flags)
{
	struct dentry *lower = tfs_lower_dentry(dentry);

	if (d_is_positive(dentry) && !tfs_refresh(d_inode(dentry)))
		tfs_refresh_setid(d_inode(dentry));
	if (lower->d_flags & DCACHE_OP_WEAK_REVALIDATE)
		return lower->d_op->d_weak_revalidate(lower, flags);
	return 1;
}

/*
 * The key of encrypted files can be removed only when their inodes, and those of their directories, are unused. In an
 * encrypted directory, every object that has contents is encrypted.
 */
static bool is_encrypted(const struct dentry *dentry)
{
	const struct inode *inode = d_inode(dentry);

	if (inode && (S_ISREG(inode->i_mode) || S_ISDIR(inode->i_mode) || S_ISLNK(inode->i_mode)))
		return IS_ENCRYPTED(tfs_lower_inode(inode));
	return IS_ENCRYPTED(tfs_lower_inode(d_inode(dentry->d_parent)));
}

/**
 * tfs_is_dropped() - is a dentry to be dropped when it is no longer in use?
 * @dentry: upper dentry; its d_lock is held
 *
 * It is if the name was removed below, if NFS keeps the lower dentry only while it is in use, or if the lower inode
 * must not be kept in memory.
 */
bool tfs_is_dropped(const struct dentry *dentry)
{
	const struct dentry *lower = TFS_D(dentry) ? tfs_lower_dentry(dentry) : NULL;

	if (!lower || IS_ROOT(dentry))
		return false;
	if (unlikely(d_unhashed(lower) || (lower->d_flags & DCACHE_NFSFS_RENAMED)))
		return true;
	if (unlikely(lower->d_flags & DCACHE_DONTCACHE) && !iot_is_pinned(lower))
		return true;
	return is_encrypted(dentry);
}

static int is_not_kept(const struct dentry *dentry)
{
	return tfs_is_dropped(dentry);
}

IOT_D_REVALIDATE(d_revalidate)

const struct dentry_operations tfs_dentry_operations = {
	.d_revalidate = IOT_D_REVALIDATE_OP(d_revalidate),
	.d_weak_revalidate = d_weak_revalidate,
	.d_delete = is_not_kept,
	.d_init = tfs_d_init,
	.d_real = tfs_d_real,
	.d_release = d_release,
};

/* The lower file of a handle that the same open has just created. */
static int open_created(struct inode *inode, struct file *file)
{
	return tfs_open_lower(file, NULL);
}

/* The lower file of a handle, opened by the creation of the object. */
static int open_made(struct inode *inode, struct file *file)
{
	struct file *lower = file->private_data;

	file->private_data = NULL;
	return tfs_open_lower(file, lower);
}

static int finish_open_made(struct dentry *dentry, struct file *file, struct file *lower)
{
	int err;

	file->private_data = lower;
	err = finish_open(file, dentry, open_made);
	if (err && file->private_data) { /* the open failed before open_made() */
		file->private_data = NULL;
		fput(lower);
	}
	return err;
}

static bool has_native_open(const struct dentry *dentry)
{
	return tfs_lower_inode(d_inode(dentry->d_parent))->i_op->atomic_open;
}

/* Create the object and, if that is one operation below, the open file @lower. Return: its lower dentry. */
static struct dentry *create_below(struct dentry *dentry, const struct file *file, umode_t mode,
				   struct file **lower)
{
	*lower = NULL;
	if (!has_native_open(dentry))
		return tfs_do_create(dentry, mode);
	*lower = tfs_do_create_open(dentry, file->f_flags, mode);
	return IS_ERR(*lower) ? ERR_CAST(*lower) : dget((*lower)->f_path.dentry);
}

/* @made and @lower are as create_below() left them; the latter's reference is consumed. */
static int open_below(struct dentry *dentry, struct file *file, struct dentry *made,
		      struct file *lower)
{
	int err = tfs_instantiate(dentry, dget(made));

	if (err) {
		if (lower)
			fput(lower);
		return err;
	}
	tfs_copy_attr(d_inode(dentry->d_parent));
	file->f_mode |= FMODE_CREATED;
	return lower ? finish_open_made(dentry, file, lower) :
		       finish_open(file, dentry, open_created);
}

/*
 * An open that cannot allocate its file creates nothing. With one file, that is known before the
 * creation; with two, the allocation of the second may fail after it: so the new name is removed.
 */
static bool is_to_be_unmade(int err)
{
	return err == -ENOMEM || err == -ENFILE;
}

static int create_and_open(struct dentry *dentry, struct file *file, umode_t mode)
{
	unsigned int refs = 2; /* of the new lower dentry: @made and that of the upper dentry; see below */
	struct file *lower;
	struct dentry *made = create_below(dentry, file, mode, &lower);
	int err;

	if (IS_ERR(made))
		return PTR_ERR(made);
	if (lower)
		refs++; /* dropped when this task returns to user mode */
	if (iot_is_pinned(made))
		refs++;
	err = open_below(dentry, file, made, lower);
	if (unlikely(is_to_be_unmade(err))) {
		tfs_do_uncreate(dentry, made, refs);
		if (d_is_positive(dentry))
			tfs_copy_attr(d_inode(dentry));
		tfs_copy_attr(d_inode(dentry->d_parent));
	}
	dput(made);
	return err;
}

/* The name did not exist, but its creation failed with EEXIST: another task has created it below. */
static struct dentry *find_again(struct dentry *dentry, struct inode **found)
{
	struct dentry *lower = tfs_do_lookup(dentry);

	if (IS_ERR(lower))
		return lower;
	d_drop(dentry); /* it is not hashed, unless the VFS changes: splice() depends on it */
	tfs_dentry_replace(dentry, lower);
	return splice(dentry, true, found);
}

/*
 * Return: 0 or an error. Either the file was created and is open, or @found is the existing object, and @spliced
 * the return value of splice().
 */
static int create_or_find(struct dentry *dentry, struct file *file, umode_t mode,
			  struct dentry **spliced, struct inode **found)
{
	int tries, err;

	for (tries = 0; tries < CREATE_TRIES; tries++) {
		err = create_and_open(dentry, file, mode);
		if (err != -EEXIST || (file->f_flags & O_EXCL))
			return err;
		*spliced = find_again(dentry, found);
		if (IS_ERR(*spliced))
			return PTR_ERR(*spliced);
		if (*found)
			return 0;
	}
	return -ESTALE;
}

/* How the VFS would look up the name if there were no atomic_open. */
static unsigned int lookup_flags_of(unsigned int open_flags)
{
	const unsigned int make = O_CREAT | O_EXCL;

	return LOOKUP_OPEN | ((open_flags & make) == make ? LOOKUP_CREATE | LOOKUP_EXCL : 0);
}

/*
 * tfs_atomic_open() - open a name that is not in the upper dcache, or negative there
 *
 * An open that creates its file is one record, and so is one that finds no file. A file that exists is found here
 * and opened by tfs_open(), like any other.
 */
int tfs_atomic_open(struct inode *dir, struct dentry *dentry, struct file *file,
		    unsigned int flags, umode_t mode)
{
	struct dentry *spliced = NULL;
	struct inode *found = NULL;
	struct iot_span span;
	int err = -ENOENT;

	tfs_gate_open(dentry->d_sb, IOT_KIND_open, &span);
	if (d_in_lookup(dentry))
		spliced = lookup_and_splice(dentry, flags & O_CREAT, &found);
	if (IS_ERR(spliced)) {
		emit_failure(&span, dentry, lookup_flags_of(flags), PTR_ERR(spliced));
		return PTR_ERR(spliced);
	}
	if (!found && (flags & O_CREAT))
		err = create_or_find(dentry, file, mode, &spliced, &found);
	if (found) {
		emit_lookup(&span, spliced ?: dentry, found, lookup_flags_of(flags));
		return finish_no_open(file, spliced);
	}
	tfs_emit_open(&span, dentry, err ? NULL : file, flags, mode, err);
	if (unlikely(err && d_is_positive(dentry))) /* it was made, but could not be opened */
		tfs_dentry_hide(dentry, 1);
	return err;
}

static int tmpfile_open(struct dentry *dentry, struct file *file, struct file *lower)
{
	struct inode *inode = tfs_inode_get(dentry->d_sb, file_inode(lower));

	if (IS_ERR(inode)) {
		fput(lower);
		return PTR_ERR(inode);
	}
	set_nlink(inode, 1); /* for d_tmpfile(), which decrements it */
	d_tmpfile(file, inode);
	return finish_open_made(dentry, file, lower);
}

/*
 * tfs_tmpfile() - O_TMPFILE: a file without a name
 */
int tfs_tmpfile(struct mnt_idmap *idmap, struct inode *dir, struct file *file, umode_t mode)
{
	unsigned int flags = file->f_flags | O_TMPFILE; /* the open clears O_EXCL */
	struct dentry *dentry = file->f_path.dentry;
	struct iot_span span;
	struct file *lower;
	int err;

	tfs_gate_open(dentry->d_sb, IOT_KIND_open, &span);
	lower = tfs_do_tmpfile(dentry->d_parent, mode, file->f_flags);
	err = PTR_ERR_OR_ZERO(lower);
	if (err)
		goto out;
	err = tfs_dentry_init(dentry, dget(lower->f_path.dentry));
	if (err)
		fput(lower);
	else
		err = tmpfile_open(dentry, file, lower);
	if (!err)
		file->f_mode |= FMODE_CREATED;
out:
	tfs_emit_open(&span, dentry, err ? NULL : file, flags, mode, err);
	return err;
}
