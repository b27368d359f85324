// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls.c - which system calls do something to files, and where their arguments are.
 */
#include "model.h"

#define NAME(call, fn, dir, arg, variant) { #call, fn, dir, arg, VARIANT_##variant, NULL }
#define CALL(call, fn)			  { #call, fn, -1, 0, VARIANT_NONE, NULL }
#define WRITE(call, fn, variant) { #call, fn, -1, 0, VARIANT_##variant + VARIANT_WRITE, NULL }

static const struct call_kind kinds[] = {
	/* descriptors */
	NAME(open, call_open, -1, 0, NONE),
	NAME(creat, call_open, -1, 0, NONE),
	NAME(openat, call_open, 0, 1, AT),
	NAME(openat2, call_open, 0, 1, AT),
	{ "close", NULL, -1, 0, VARIANT_NONE, call_close },
	{ "close_range", NULL, -1, 0, VARIANT_NONE, call_close_range },
	CALL(dup, call_dup),
	CALL(dup2, call_dup),
	CALL(dup3, call_dup),
	CALL(fcntl, call_fcntl),
	CALL(fcntl64, call_fcntl),
	/* names */
	NAME(stat, call_stat, -1, 0, NONE),
	NAME(stat64, call_stat, -1, 0, NONE),
	NAME(lstat, call_stat, -1, 0, NOFOLLOW),
	NAME(lstat64, call_stat, -1, 0, NOFOLLOW),
	NAME(fstat, call_stat, -1, 0, FD),
	NAME(fstat64, call_stat, -1, 0, FD),
	NAME(newfstatat, call_stat, 0, 1, AT),
	NAME(fstatat64, call_stat, 0, 1, AT),
	NAME(statx, call_stat, 0, 1, AT),
	NAME(access, call_access, -1, 0, NONE),
	NAME(faccessat, call_access, 0, 1, AT),
	NAME(faccessat2, call_access, 0, 1, AT),
	NAME(mkdir, call_mkdir, -1, 0, NONE),
	NAME(mkdirat, call_mkdir, 0, 1, NONE),
	NAME(mknod, call_mknod, -1, 0, NONE),
	NAME(mknodat, call_mknod, 0, 1, NONE),
	NAME(symlink, call_symlink, -1, 1, NONE),
	NAME(symlinkat, call_symlink, 1, 2, NONE),
	NAME(readlink, call_readlink, -1, 0, NONE),
	NAME(readlinkat, call_readlink, 0, 1, NONE),
	NAME(link, call_link, -1, 0, NONE),
	NAME(linkat, call_link, 0, 1, AT),
	NAME(unlink, call_unlink, -1, 0, NONE),
	NAME(unlinkat, call_unlink, 0, 1, AT),
	NAME(rmdir, call_unlink, -1, 0, NOFOLLOW),
	NAME(rename, call_rename, -1, 0, NONE),
	NAME(renameat, call_rename, 0, 1, AT),
	NAME(renameat2, call_rename, 0, 1, AT),
	NAME(chdir, call_chdir, -1, 0, NONE),
	NAME(fchdir, call_chdir, -1, 0, FD),
	CALL(getcwd, call_getcwd),
	/* attributes */
	NAME(chmod, call_chmod, -1, 0, NONE),
	NAME(fchmod, call_chmod, -1, 0, FD),
	NAME(fchmodat, call_chmod, 0, 1, NONE),
	NAME(fchmodat2, call_chmod, 0, 1, AT),
	NAME(chown, call_chown, -1, 0, NONE),
	NAME(lchown, call_chown, -1, 0, NOFOLLOW),
	NAME(fchown, call_chown, -1, 0, FD),
	NAME(fchownat, call_chown, 0, 1, AT),
	NAME(utime, call_utimes, -1, 0, NONE),
	NAME(utimes, call_utimes, -1, 0, NONE),
	NAME(futimesat, call_utimes, 0, 1, NONE),
	NAME(utimensat, call_utimes, 0, 1, AT),
	NAME(truncate, call_truncate, -1, 0, NONE),
	NAME(truncate64, call_truncate, -1, 0, NONE),
	NAME(ftruncate, call_truncate, -1, 0, FD),
	NAME(ftruncate64, call_truncate, -1, 0, FD),
	NAME(statfs, call_statfs, -1, 0, NONE),
	NAME(fstatfs, call_statfs, -1, 0, FD),
	NAME(getxattr, call_getxattr, -1, 0, NONE),
	NAME(lgetxattr, call_getxattr, -1, 0, NOFOLLOW),
	NAME(fgetxattr, call_getxattr, -1, 0, FD),
	NAME(setxattr, call_setxattr, -1, 0, NONE),
	NAME(lsetxattr, call_setxattr, -1, 0, NOFOLLOW),
	NAME(fsetxattr, call_setxattr, -1, 0, FD),
	NAME(listxattr, call_listxattr, -1, 0, NONE),
	NAME(llistxattr, call_listxattr, -1, 0, NOFOLLOW),
	NAME(flistxattr, call_listxattr, -1, 0, FD),
	NAME(removexattr, call_removexattr, -1, 0, NONE),
	NAME(lremovexattr, call_removexattr, -1, 0, NOFOLLOW),
	NAME(fremovexattr, call_removexattr, -1, 0, FD),
	/* data */
	CALL(read, call_read),
	NAME(pread64, call_read, -1, 0, POSITION),
	NAME(readv, call_read, -1, 0, VECTOR),
	NAME(preadv, call_read, -1, 0, POSITION_VECTOR),
	NAME(preadv2, call_read, -1, 0, POSITION_VECTOR),
	WRITE(write, call_write, NONE),
	WRITE(pwrite64, call_write, POSITION),
	WRITE(writev, call_write, VECTOR),
	WRITE(pwritev, call_write, POSITION_VECTOR),
	WRITE(pwritev2, call_write, POSITION_VECTOR),
	CALL(lseek, call_seek),
	CALL(_llseek, call_seek),
	CALL(fsync, call_fsync),
	NAME(fdatasync, call_fsync, -1, 0, FD),
	CALL(fallocate, call_fallocate),
	CALL(flock, call_flock),
	CALL(fadvise64, call_fadvise),
	CALL(fadvise64_64, call_fadvise),
	CALL(readahead, call_readahead),
	CALL(getdents, call_readdir),
	CALL(getdents64, call_readdir),
	CALL(sendfile, call_sendfile),
	CALL(sendfile64, call_sendfile),
	CALL(splice, call_splice),
	CALL(copy_file_range, call_copy_range),
	CALL(ioctl, call_ioctl),
	/* mappings */
	CALL(mmap, call_mmap),
	CALL(mmap2, call_mmap),
	CALL(munmap, call_munmap),
	CALL(mremap, call_mremap),
	CALL(mprotect, call_mprotect),
	CALL(pkey_mprotect, call_mprotect),
	CALL(mlock, call_mlock),
	CALL(mlock2, call_mlock),
	CALL(munlock, call_mlock),
	CALL(msync, call_msync),
	CALL(madvise, call_madvise),
	/* tasks */
	CALL(clone, call_clone),
	CALL(clone3, call_clone),
	CALL(fork, call_clone),
	CALL(vfork, call_clone),
	NAME(execve, call_exec, -1, 0, NONE),
	NAME(execveat, call_exec, 0, 1, AT),
	CALL(umask, call_umask),
	CALL(unshare, call_unshare),
	/* what cannot be followed */
	CALL(io_uring_setup, call_io_uring),
	CALL(io_uring_enter, call_io_uring),
	CALL(io_submit, call_aio),
	CALL(chroot, call_unfollowed),
	CALL(pivot_root, call_unfollowed),
	CALL(setns, call_unfollowed),
	CALL(mount, call_unfollowed),
};

/**
 * call_kind() - what to do for a call
 *
 * Return: NULL if it does nothing to files.
 */
const struct call_kind *call_kind(struct text name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (text_is(name, kinds[i].name))
			return &kinds[i];
	return NULL;
}

/* Errors that the kernel finds before it asks a file system, by kind of record. */
static const struct {
	u16 kind;
	int errors[10];
} unseen[] = {
	{ IOT_KIND_open, { EISDIR, ENOTDIR, ELOOP, EPERM, EROFS, ETXTBSY, ENXIO, EMFILE, ENFILE, EINVAL } },
	{ IOT_KIND_read, { EBADF, EISDIR, EFAULT, EINVAL } },
	{ IOT_KIND_write, { EBADF, EFAULT, EINVAL } },
	{ IOT_KIND_seek, { EBADF, EINVAL } },
	{ IOT_KIND_setattr, { EBADF, EINVAL, EROFS } },
	{ IOT_KIND_getfileattr, { EBADF, EFAULT, ENOTTY } },
	{ IOT_KIND_setfileattr, { EBADF, EFAULT, ENOTTY, EPERM, EROFS } },
	{ IOT_KIND_fallocate, { EBADF, EINVAL, EOPNOTSUPP } },
	{ IOT_KIND_copy_range, { EBADF, EINVAL, EXDEV, EISDIR } },
	{ IOT_KIND_map, { EACCES, EBADF, EINVAL, ENODEV, ENOMEM } },
	{ IOT_KIND_readdir, { ENOENT, ENOTDIR } },
	{ IOT_KIND_mkdir, { ENOENT, EEXIST, EROFS } },
	{ IOT_KIND_mknod, { ENOENT, EEXIST, EROFS, EPERM } },
	{ IOT_KIND_symlink, { ENOENT, ENAMETOOLONG, EROFS } },
	{ IOT_KIND_readlink, { EINVAL } },
	{ IOT_KIND_link, { EPERM, EXDEV, ENOENT, EROFS, EEXIST } },
	{ IOT_KIND_unlink, { EISDIR, ENOTDIR, EPERM, EROFS, EBUSY } },
	{ IOT_KIND_rmdir, { ENOTDIR, EINVAL, EPERM, EROFS, EBUSY } },
	{ IOT_KIND_rename, { EISDIR, ENOTDIR, EINVAL, EXDEV, EPERM, EROFS, EBUSY, EEXIST } },
};

/**
 * is_shown() - would the recorder see a call that ended so?
 * @kind: record that it would make
 * @result: 0 or more, or a negative errno
 *
 * What ends on the way to the object is for place_failed().
 */
bool is_shown(u16 kind, s64 result)
{
	size_t i, j;

	if (result >= 0)
		return true;
	if (result == -EACCES || result == -ENAMETOOLONG || result == -EINTR || result == -ENOSYS)
		return false;
	for (i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++)
		for (j = 0; unseen[i].kind == kind && j < 10 && unseen[i].errors[j]; j++)
			if (result == -unseen[i].errors[j])
				return false;
	return true;
}
