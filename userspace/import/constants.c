// SPDX-License-Identifier: GPL-2.0-only
/*
 * constants.c - names of flags and values that strace prints for what the importer reads.
 */
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "core/file_flags.h"
#include "strace_line.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

struct constant {
	const char *name;
	s64 value;
};

#define C(name) { #name, (s64)(name) }

#define FLAG(ours, host) { #host, (s64)(host) },

/* Few enough to be searched from the beginning. */
static const struct constant constants[] = {
	{ "AT_FDCWD", FD_CWD },
	C(O_RDONLY), C(O_WRONLY), C(O_RDWR), C(O_APPEND), C(O_CREAT), C(O_EXCL), C(O_TRUNC),
	C(O_CLOEXEC), C(O_DIRECTORY), C(O_NOFOLLOW), C(O_NONBLOCK), C(O_NOATIME), C(O_DIRECT),
	C(O_PATH), C(O_SYNC), C(O_DSYNC), C(O_TMPFILE), C(O_NOCTTY), C(FD_CLOEXEC),
	{ "O_ACCMODE", 3 }, { "O_LARGEFILE", 0 },
	C(SEEK_SET), C(SEEK_CUR), C(SEEK_END), C(SEEK_DATA), C(SEEK_HOLE),
	C(S_IFREG), C(S_IFDIR), C(S_IFLNK), C(S_IFIFO), C(S_IFSOCK), C(S_IFCHR), C(S_IFBLK),
	C(S_ISUID), C(S_ISGID), C(S_ISVTX),
	C(AT_EMPTY_PATH), C(AT_REMOVEDIR), C(AT_SYMLINK_FOLLOW), C(AT_SYMLINK_NOFOLLOW),
	C(AT_EACCESS),
	C(F_DUPFD), C(F_DUPFD_CLOEXEC), C(F_GETFD), C(F_SETFD), C(F_GETFL), C(F_SETFL),
	C(F_GETLK), C(F_SETLK), C(F_SETLKW), C(F_OFD_GETLK), C(F_OFD_SETLK), C(F_OFD_SETLKW),
	C(F_RDLCK), C(F_WRLCK), C(F_UNLCK), C(LOCK_SH), C(LOCK_EX), C(LOCK_NB), C(LOCK_UN),
	C(PROT_READ), C(PROT_WRITE), C(PROT_EXEC), { "PROT_NONE", 0 },
	C(MAP_SHARED), C(MAP_PRIVATE), C(MAP_SHARED_VALIDATE), C(MAP_ANONYMOUS), C(MAP_FIXED),
	C(MAP_FIXED_NOREPLACE), C(MAP_LOCKED), C(MAP_SYNC), C(MREMAP_MAYMOVE), C(MREMAP_FIXED),
	C(MS_SYNC), C(MS_ASYNC), C(MS_INVALIDATE),
	C(MADV_NORMAL), C(MADV_RANDOM), C(MADV_SEQUENTIAL), C(MADV_WILLNEED), C(MADV_DONTNEED),
	C(MADV_REMOVE),
	C(POSIX_FADV_NORMAL), C(POSIX_FADV_RANDOM), C(POSIX_FADV_SEQUENTIAL),
	C(POSIX_FADV_WILLNEED), C(POSIX_FADV_DONTNEED), C(POSIX_FADV_NOREUSE),
	C(FALLOC_FL_KEEP_SIZE), C(FALLOC_FL_PUNCH_HOLE), C(FALLOC_FL_COLLAPSE_RANGE),
	C(FALLOC_FL_ZERO_RANGE), C(FALLOC_FL_INSERT_RANGE), C(FALLOC_FL_UNSHARE_RANGE),
	{ "RENAME_NOREPLACE", 1 }, { "RENAME_EXCHANGE", 2 }, { "RENAME_WHITEOUT", 4 },
	C(RWF_HIPRI), C(RWF_DSYNC), C(RWF_SYNC), C(RWF_NOWAIT), C(RWF_APPEND),
	C(XATTR_CREATE), C(XATTR_REPLACE),
	C(CLONE_VM), C(CLONE_FS), C(CLONE_FILES), C(CLONE_THREAD), C(CLONE_VFORK), C(CLONE_NEWNS),
	C(CLONE_PARENT), C(CLOSE_RANGE_UNSHARE), C(CLOSE_RANGE_CLOEXEC),
	C(FICLONE), C(FICLONERANGE), { "BTRFS_IOC_CLONE", (s64)FICLONE },
	{ "BTRFS_IOC_CLONE or FICLONE", (s64)FICLONE },
	C(FS_IOC_GETFLAGS), C(FS_IOC_SETFLAGS), C(FS_IOC_FSGETXATTR), C(FS_IOC_FSSETXATTR),
	C(FS_EXTENT_FL), C(FS_INDEX_FL), C(FS_HUGE_FILE_FL), C(FS_INLINE_DATA_FL), C(FS_ENCRYPT_FL),
	C(FS_VERITY_FL), C(FS_XFLAG_PREALLOC), C(FS_XFLAG_HASATTR),
	IOT_FILEATTR_PAIRS(FLAG) IOT_FILEATTR_XPAIRS(FLAG)
	{ "UTIME_NOW", UTIME_NOW }, { "UTIME_OMIT", UTIME_OMIT },
	{ "DT_UNKNOWN", 0 }, { "DT_FIFO", 1 }, { "DT_CHR", 2 }, { "DT_DIR", 4 }, { "DT_BLK", 6 },
	{ "DT_REG", 8 }, { "DT_LNK", 10 }, { "DT_SOCK", 12 },
	C(R_OK), C(W_OK), C(X_OK), { "F_OK", 0 },
	C(SIGHUP), C(SIGINT), C(SIGQUIT), C(SIGILL), C(SIGTRAP), C(SIGABRT), C(SIGBUS), C(SIGFPE),
	C(SIGKILL), C(SIGUSR1), C(SIGSEGV), C(SIGUSR2), C(SIGPIPE), C(SIGALRM), C(SIGTERM),
	C(SIGXCPU), C(SIGXFSZ), C(SIGSYS), C(SIGIO), C(SIGVTALRM), C(SIGPROF),
	{ "TCGETS", 0x5401 }, { "TIOCGWINSZ", 0x5413 }, { "TIOCGPGRP", 0x540f },
};

/**
 * constant_find() - the value of a name
 *
 * Return: is it known?
 */
bool constant_find(struct text name, s64 *value)
{
	size_t i;

	for (i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		if (!text_is(name, constants[i].name))
			continue;
		*value = constants[i].value;
		return true;
	}
	return false;
}
