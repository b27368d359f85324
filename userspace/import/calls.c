// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls.c - which system calls do something to files, and where their arguments are.
 */
#include <stdlib.h>

#include "model.h"
#include "syscalls.h"

/* @args: so many arguments it has at least */
#define NAME(args, call, fn, dir, arg, variant) { #call, fn, dir, arg, VARIANT_##variant, args, NULL }
#define CALL(args, call, fn)			{ #call, fn, -1, 0, VARIANT_NONE, args, NULL }
#define WRITE(args, call, fn, variant) { #call, fn, -1, 0, VARIANT_##variant + VARIANT_WRITE, args, NULL }
#define ENTER(args, call, fn)	       { #call, NULL, -1, 0, VARIANT_NONE, args, fn }
#define LEFT(call, descriptors)	       { #call, call_left_out, -1, 0, descriptors, 0, NULL },

static const struct call_kind kinds[] = {
	/* descriptors */
	NAME(2, open, call_open, -1, 0, NONE),
	NAME(2, creat, call_open, -1, 0, NONE),
	NAME(3, openat, call_open, 0, 1, AT),
	NAME(4, openat2, call_open, 0, 1, AT),
	NAME(3, open_tree, call_open_tree, 0, 1, NONE),
	NAME(4, open_tree_attr, call_open_tree, 0, 1, NONE),
	CALL(3, open_by_handle_at, call_open_handle),
	ENTER(1, close, call_close),
	ENTER(3, close_range, call_close_range),
	CALL(1, dup, call_dup),
	CALL(2, dup2, call_dup),
	CALL(3, dup3, call_dup),
	CALL(2, fcntl, call_fcntl),
	CALL(2, fcntl64, call_fcntl),
	/* descriptors of something else than files */
	CALL(3, accept, call_no_file),
	CALL(4, accept4, call_no_file),
	CALL(1, epoll_create, call_no_file),
	CALL(1, epoll_create1, call_no_file),
	CALL(1, eventfd, call_no_file),
	CALL(2, eventfd2, call_no_file),
	CALL(2, fanotify_init, call_no_file),
	CALL(3, fsmount, call_no_file),
	CALL(2, fsopen, call_no_file),
	CALL(3, fspick, call_no_file),
	CALL(0, inotify_init, call_no_file),
	CALL(1, inotify_init1, call_no_file),
	CALL(3, landlock_create_ruleset, call_no_file),
	CALL(2, memfd_create, call_no_file),
	CALL(1, memfd_secret, call_no_file),
	CALL(2, mq_open, call_no_file),
	CALL(5, perf_event_open, call_no_file),
	CALL(2, pidfd_open, call_no_file),
	CALL(3, signalfd, call_no_file),
	CALL(3, signalfd4, call_no_file),
	CALL(3, socket, call_no_file),
	CALL(2, timerfd, call_no_file),
	CALL(2, timerfd_create, call_no_file),
	CALL(1, userfaultfd, call_no_file),
	CALL(1, pipe, call_no_files),
	CALL(2, pipe2, call_no_files),
	NAME(4, socketpair, call_no_files, -1, 3, NONE),
	CALL(3, pidfd_getfd, call_any_file),
	CALL(3, recvmsg, call_messages),
	CALL(4, recvmmsg, call_messages),
	CALL(4, recvmmsg_time64, call_messages),
	/* names */
	NAME(2, stat, call_stat, -1, 0, NONE),
	NAME(2, stat64, call_stat, -1, 0, NONE),
	NAME(2, oldstat, call_stat, -1, 0, NONE),
	NAME(2, lstat, call_stat, -1, 0, NOFOLLOW),
	NAME(2, lstat64, call_stat, -1, 0, NOFOLLOW),
	NAME(2, oldlstat, call_stat, -1, 0, NOFOLLOW),
	NAME(2, fstat, call_stat, -1, 0, FD),
	NAME(2, fstat64, call_stat, -1, 0, FD),
	NAME(2, oldfstat, call_stat, -1, 0, FD),
	NAME(4, newfstatat, call_stat, 0, 1, AT),
	NAME(4, fstatat, call_stat, 0, 1, AT),
	NAME(4, fstatat64, call_stat, 0, 1, AT),
	NAME(5, statx, call_stat, 0, 1, AT),
	NAME(2, access, call_access, -1, 0, NONE),
	NAME(3, faccessat, call_access, 0, 1, NONE),
	NAME(4, faccessat2, call_access, 0, 1, AT),
	NAME(2, mkdir, call_mkdir, -1, 0, NONE),
	NAME(3, mkdirat, call_mkdir, 0, 1, NONE),
	NAME(2, mknod, call_mknod, -1, 0, NONE),
	NAME(3, mknodat, call_mknod, 0, 1, NONE),
	NAME(3, bind, call_bind, -1, 1, NONE),
	NAME(2, symlink, call_symlink, -1, 1, NONE),
	NAME(3, symlinkat, call_symlink, 1, 2, NONE),
	NAME(3, readlink, call_readlink, -1, 0, NONE),
	NAME(4, readlinkat, call_readlink, 0, 1, NONE),
	NAME(2, link, call_link, -1, 0, NONE),
	NAME(5, linkat, call_link, 0, 1, AT),
	NAME(1, unlink, call_unlink, -1, 0, NONE),
	NAME(3, unlinkat, call_unlink, 0, 1, AT),
	NAME(1, rmdir, call_unlink, -1, 0, NOFOLLOW),
	NAME(2, rename, call_rename, -1, 0, NONE),
	NAME(4, renameat, call_rename, 0, 1, NOFOLLOW),
	NAME(5, renameat2, call_rename, 0, 1, AT),
	NAME(1, chdir, call_chdir, -1, 0, NONE),
	NAME(1, fchdir, call_chdir, -1, 0, FD),
	CALL(2, getcwd, call_getcwd),
	/* attributes */
	NAME(2, chmod, call_chmod, -1, 0, NONE),
	NAME(2, fchmod, call_chmod, -1, 0, FD),
	NAME(3, fchmodat, call_chmod, 0, 1, NONE),
	NAME(4, fchmodat2, call_chmod, 0, 1, AT),
	NAME(3, chown, call_chown, -1, 0, NONE),
	NAME(3, chown32, call_chown, -1, 0, NONE),
	NAME(3, lchown, call_chown, -1, 0, NOFOLLOW),
	NAME(3, lchown32, call_chown, -1, 0, NOFOLLOW),
	NAME(3, fchown, call_chown, -1, 0, FD),
	NAME(3, fchown32, call_chown, -1, 0, FD),
	NAME(5, fchownat, call_chown, 0, 1, AT),
	NAME(2, utime, call_utimes, -1, 0, NONE),
	NAME(2, utimes, call_utimes, -1, 0, NONE),
	NAME(3, futimesat, call_utimes, 0, 1, NONE),
	NAME(4, utimensat, call_utimes, 0, 1, AT),
	NAME(4, utimensat_time64, call_utimes, 0, 1, AT),
	NAME(2, truncate, call_truncate, -1, 0, NONE),
	NAME(2, truncate64, call_truncate, -1, 0, NONE),
	NAME(2, ftruncate, call_truncate, -1, 0, FD),
	NAME(2, ftruncate64, call_truncate, -1, 0, FD),
	NAME(2, statfs, call_statfs, -1, 0, NONE),
	NAME(2, statfs64, call_statfs, -1, 0, NONE),
	NAME(2, fstatfs, call_statfs, -1, 0, FD),
	NAME(2, fstatfs64, call_statfs, -1, 0, FD),
	NAME(4, getxattr, call_getxattr, -1, 0, NONE),
	NAME(4, lgetxattr, call_getxattr, -1, 0, NOFOLLOW),
	NAME(4, fgetxattr, call_getxattr, -1, 0, FD),
	NAME(6, getxattrat, call_getxattr, 0, 1, AT),
	NAME(5, setxattr, call_setxattr, -1, 0, NONE),
	NAME(5, lsetxattr, call_setxattr, -1, 0, NOFOLLOW),
	NAME(5, fsetxattr, call_setxattr, -1, 0, FD),
	NAME(6, setxattrat, call_setxattr, 0, 1, AT),
	NAME(3, listxattr, call_listxattr, -1, 0, NONE),
	NAME(3, llistxattr, call_listxattr, -1, 0, NOFOLLOW),
	NAME(3, flistxattr, call_listxattr, -1, 0, FD),
	NAME(5, listxattrat, call_listxattr, 0, 1, AT),
	NAME(2, removexattr, call_removexattr, -1, 0, NONE),
	NAME(2, lremovexattr, call_removexattr, -1, 0, NOFOLLOW),
	NAME(2, fremovexattr, call_removexattr, -1, 0, FD),
	NAME(4, removexattrat, call_removexattr, 0, 1, AT),
	NAME(5, file_getattr, call_file_attr, 0, 1, AT),
	NAME(5, file_setattr, call_file_attr, 0, 1, AT),
	/* data */
	CALL(3, read, call_read),
	NAME(4, pread, call_read, -1, 0, POSITION),
	NAME(4, pread64, call_read, -1, 0, POSITION),
	NAME(3, readv, call_read, -1, 0, VECTOR),
	NAME(4, preadv, call_read, -1, 0, POSITION_VECTOR),
	NAME(5, preadv2, call_read, -1, 0, POSITION_FLAGS),
	WRITE(3, write, call_write, NONE),
	WRITE(4, pwrite, call_write, POSITION),
	WRITE(4, pwrite64, call_write, POSITION),
	WRITE(3, writev, call_write, VECTOR),
	WRITE(4, pwritev, call_write, POSITION_VECTOR),
	WRITE(5, pwritev2, call_write, POSITION_FLAGS),
	CALL(3, lseek, call_seek),
	CALL(4, _llseek, call_seek),
	CALL(5, llseek, call_seek),
	CALL(1, fsync, call_fsync),
	NAME(1, fdatasync, call_fsync, -1, 0, FD),
	CALL(4, fallocate, call_fallocate),
	CALL(2, flock, call_flock),
	CALL(4, fadvise64, call_fadvise),
	CALL(4, fadvise64_64, call_fadvise),
	CALL(4, arm_fadvise64_64, call_fadvise),
	CALL(3, readahead, call_readahead),
	CALL(3, getdents, call_readdir),
	CALL(3, getdents64, call_readdir),
	CALL(4, sendfile, call_sendfile),
	CALL(4, sendfile64, call_sendfile),
	CALL(6, splice, call_splice),
	CALL(6, copy_file_range, call_copy_range),
	CALL(2, ioctl, call_ioctl),
	/* mappings */
	NAME(6, mmap, call_mmap, -1, 4, FD),
	NAME(6, mmap2, call_mmap, -1, 4, FD),
	NAME(6, old_mmap, call_mmap, -1, 4, FD),
	CALL(2, munmap, call_munmap),
	CALL(4, mremap, call_mremap),
	CALL(3, mprotect, call_mprotect),
	CALL(4, pkey_mprotect, call_mprotect),
	CALL(2, mlock, call_mlock),
	CALL(3, mlock2, call_mlock),
	CALL(2, munlock, call_mlock),
	CALL(1, mlockall, call_mlockall),
	CALL(0, munlockall, call_mlockall),
	CALL(3, msync, call_msync),
	CALL(3, madvise, call_madvise),
	CALL(5, process_madvise, call_on_memory),
	CALL(5, remap_file_pages, call_on_memory),
	/* tasks */
	CALL(2, clone, call_clone),
	CALL(2, clone3, call_clone),
	CALL(0, fork, call_clone),
	CALL(0, vfork, call_clone),
	NAME(3, execve, call_exec, -1, 0, NONE),
	NAME(5, execveat, call_exec, 0, 1, AT),
	ENTER(1, exit, call_exit),
	ENTER(1, _exit, call_exit),
	ENTER(1, exit_group, call_exit),
	NAME(4, wait4, call_wait, -1, 1, NONE),
	NAME(3, waitpid, call_wait, -1, 1, NONE),
	NAME(5, waitid, call_wait, -1, 2, AT),
	CALL(0, umask, call_umask),
	CALL(1, unshare, call_unshare),
	/* calls that cannot be modeled */
	CALL(2, io_uring_setup, call_io_uring),
	CALL(5, io_uring_enter, call_io_uring),
	CALL(3, io_submit, call_aio),
	CALL(1, chroot, call_unfollowed),
	CALL(1, fchroot, call_unfollowed),
	CALL(2, pivot_root, call_unfollowed),
	CALL(2, setns, call_unfollowed),
	CALL(3, mount, call_unfollowed),
	/* calls without a record */
	IMPORT_CALLS_LEFT_OUT(LEFT)
};

#define OTHER(reason, name) #name,
static const char *const others[] = { IMPORT_CALLS_OTHER(OTHER) };

/* A name in the table of all calls. */
struct call_name {
	UT_hash_handle hh;
	const struct call_kind *kind; /* NULL if the call is of no interest */
};

static int add_name(struct import *im, const char *name, const struct call_kind *kind)
{
	struct call_name *entry = import_allocate(im, sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	entry->kind = kind;
	HASH_ADD_KEYPTR(hh, im->call_names, name, strlen(name), entry);
	return 0;
}

/**
 * calls_init() - make the table of all calls
 *
 * Return: 0 or -ENOMEM.
 */
int calls_init(struct import *im)
{
	size_t i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(kinds) && !err; i++)
		err = add_name(im, kinds[i].name, &kinds[i]);
	for (i = 0; i < ARRAY_SIZE(others) && !err; i++)
		err = add_name(im, others[i], NULL);
	return err;
}

void calls_exit(struct import *im)
{
	struct call_name *entry, *next;

	HASH_ITER (hh, im->call_names, entry, next) {
		HASH_DEL(im->call_names, entry);
		free(entry);
	}
}

/* readv of x32 is `64:readv`, later `readv#64`. */
static struct text without_abi(struct text name)
{
	const char *mark = name.bytes ? memchr(name.p, '#', name.bytes) : NULL; /* a line may have no name */

	if (mark)
		name.bytes = (size_t)(mark - name.p);
	mark = name.bytes ? memchr(name.p, ':', name.bytes) : NULL;
	if (mark) {
		name.bytes -= (size_t)(mark + 1 - name.p);
		name.p = mark + 1;
	}
	return name;
}

/**
 * call_is_known() - is there something that is known of a call?
 * @kind: out: its handler; NULL if it does not affect files
 */
bool call_is_known(const struct import *im, struct text name, const struct call_kind **kind)
{
	struct call_name *entry;

	name = without_abi(name);
	HASH_FIND(hh, im->call_names, name.p, name.bytes, entry);
	*kind = entry ? entry->kind : NULL;
	return entry;
}

/**
 * call_kind() - the handler of a call
 *
 * Return: NULL if it does nothing to files, or is not known.
 */
const struct call_kind *call_kind(const struct import *im, struct text name)
{
	const struct call_kind *kind;

	call_is_known(im, name, &kind);
	return kind;
}

/* The treatment of a call, and the reason if it is ignored: for tests. */
#define REASON(reason, name) { #name, #reason },
static const struct {
	const char *name;
	const char *reason;
} reasons[] = { IMPORT_CALLS_OTHER(REASON) };

/**
 * import_call_class() - how the importer treats a system call
 * @name: as strace has it
 *
 * Return: "record"; "gap", if it is counted where it concerns the root; the reason why it does not matter;
 * or NULL if the call is not known.
 */
const char *import_call_class(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return kinds[i].leave == call_left_out || kinds[i].leave == call_on_memory ? "gap" :
												    "record";
	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		if (!strcmp(reasons[i].name, name))
			return reasons[i].reason;
	return NULL;
}

/**
 * import_call_at() - the name of a system call that affects files or tasks
 *
 * Return: as strace has it; NULL after the last.
 */
const char *import_call_at(size_t index)
{
	return index < ARRAY_SIZE(kinds) ? kinds[index].name : NULL;
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
 * A failure before the end of the path is handled by place_failed().
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
