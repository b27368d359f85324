// SPDX-License-Identifier: GPL-2.0-only
/*
 * file_operations.c - system calls on files and names, for failnth.c.
 */
#include "failnth.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define FILE_BYTES 8192

static int fd = -1, other = -1;
static char room[FILE_BYTES];

static void make_f(void)
{
	make_file("f", FILE_BYTES);
}

static void make_f_and_g(void)
{
	make_file("f", FILE_BYTES);
	make_file("g", 10);
}

static void make_directory(void)
{
	must(!mkdir(in(lower, "d"), 0755), "mkdir");
}

static void make_link(void)
{
	must(!symlink("where it leads", in(lower, "l")), "symlink");
}

static void make_attribute(void)
{
	make_file("f", 10);
	must(!setxattr(in(lower, "f"), "trusted.k", "value", 5, 0), "setxattr");
}

static void make_many(void)
{
	char name[8];
	int i;

	for (i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "e%d", i);
		make_file(name, 0);
	}
}

static void open_f(void)
{
	fd = open(in(upper, "f"), O_RDWR);
	must(fd >= 0, "open");
}

static void open_append(void)
{
	fd = open(in(upper, "f"), O_RDWR | O_APPEND);
	must(fd >= 0, "open");
}

static void open_f_and_g(void)
{
	open_f();
	other = open(in(upper, "g"), O_RDWR);
	must(other >= 0, "open");
}

static void open_directory(void)
{
	fd = open(upper, O_RDONLY | O_DIRECTORY);
	must(fd >= 0, "open");
}

static void close_all(void)
{
	if (fd >= 0)
		close(fd);
	if (other >= 0)
		close(other);
	fd = other = -1;
}

/* -- names ------------------------------------------------------------------------------------ */

static long open_with(const char *name, int flags)
{
	fd = open(in(upper, name), flags, 0640);
	return result_of(fd);
}

static long run_open(void) { return open_with("f", O_RDONLY); }
static long run_create(void) { return open_with("n", O_CREAT | O_EXCL | O_RDWR); }
static long run_truncating(void) { return open_with("f", O_TRUNC | O_RDWR); }
static long run_tmpfile(void) { return open_with(".", O_TMPFILE | O_RDWR); }
static long run_mkdir(void) { return result_of(mkdir(in(upper, "n"), 0750)); }
static long run_rmdir(void) { return result_of(rmdir(in(upper, "d"))); }
static long run_mknod(void) { return result_of(mknod(in(upper, "n"), S_IFIFO | 0600, 0)); }
static long run_mknod_file(void) { return result_of(mknod(in(upper, "n"), S_IFREG | 0600, 0)); }
static long run_symlink(void) { return result_of(symlink("where", in(upper, "n"))); }
static long run_link(void) { return result_of(link(in(upper, "f"), in(upper, "n"))); }
static long run_unlink(void) { return result_of(unlink(in(upper, "f"))); }
static long run_rename(void) { return result_of(rename(in(upper, "f"), in(upper, "n"))); }
static long run_rename_over(void) { return result_of(rename(in(upper, "f"), in(upper, "g"))); }

static long run_exchange(void)
{
	return result_of(syscall(SYS_renameat2, AT_FDCWD, in(upper, "f"), AT_FDCWD, in(upper, "g"),
				 RENAME_EXCHANGE));
}

static long run_readlink(void)
{
	return result_of(readlink(in(upper, "l"), room, sizeof(room)));
}

/* -- attributes ---------------------------------------------------------------------------------- */

static long run_stat(void)
{
	struct stat st;

	return result_of(stat(in(upper, "f"), &st));
}

static long run_statfs(void)
{
	struct statfs st;

	return result_of(statfs(upper, &st));
}

static long run_chmod(void) { return result_of(chmod(in(upper, "f"), 0600)); }
static long run_truncate(void) { return result_of(truncate(in(upper, "f"), 100)); }
static long run_ftruncate(void) { return result_of(ftruncate(fd, 5000)); }
static long run_fsync(void) { return result_of(fsync(fd)); }
static long run_fallocate(void) { return result_of(fallocate(fd, 0, 0, 4 * FILE_BYTES)); }

static long run_getxattr(void)
{
	return result_of(getxattr(in(upper, "f"), "trusted.k", room, sizeof(room)));
}

static long run_setxattr(void)
{
	return result_of(setxattr(in(upper, "f"), "trusted.k", "other value", 11, 0));
}

static long run_listxattr(void) { return result_of(listxattr(in(upper, "f"), room, sizeof(room))); }
static long run_removexattr(void) { return result_of(removexattr(in(upper, "f"), "trusted.k")); }

static long run_getflags(void)
{
	long flags, result = result_of(ioctl(fd, FS_IOC_GETFLAGS, &flags));

	return result == -ENOTTY ? -EOPNOTSUPP : result;
}

/* -- data ------------------------------------------------------------------------------------------ */

static long run_read(void) { return result_of(pread(fd, room, FILE_BYTES, 0)); }
static long run_write(void) { return result_of(pwrite(fd, "new data", 8, 4090)); }
static long run_extend(void) { return result_of(pwrite(fd, "new data", 8, 3 * FILE_BYTES)); }
static long run_append(void) { return result_of(write(fd, "new data", 8)); }
static long run_getdents(void) { return result_of(syscall(SYS_getdents64, fd, room, sizeof(room))); }
static long run_flock(void) { return result_of(flock(fd, LOCK_EX | LOCK_NB)); }

static long run_lock(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10 };

	return result_of(fcntl(fd, F_SETLK, &lock));
}

static long run_copy(void)
{
	loff_t from = 0, to = 0;

	return result_of(copy_file_range(fd, &from, other, &to, 4096, 0));
}

static long run_sendfile(void)
{
	off_t from = 0;

	return result_of(sendfile(other, fd, &from, 4096));
}

static long run_close(void)
{
	int closing = fd;

	fd = -1;
	return result_of(close(closing));
}

/* -- requests ---------------------------------------------------------------------------------------- */

static aio_context_t requests;

static void open_requests(void)
{
	open_f();
	requests = 0;
	must(!syscall(SYS_io_setup, 4, &requests), "io_setup");
}

static void close_requests(void)
{
	syscall(SYS_io_destroy, requests);
	close_all();
}

/* Return: the result of the request, or the error of its submission. */
static long request_run(int opcode)
{
	static const char data[] = "new data";
	struct iocb block = {
		.aio_lio_opcode = (unsigned short)opcode,
		.aio_fildes = (unsigned int)fd,
		.aio_buf = (unsigned long)(opcode == IOCB_CMD_PREAD ? room : data),
		.aio_nbytes = opcode == IOCB_CMD_PREAD ? FILE_BYTES : 8,
	}, *blocks[] = { &block };
	struct io_event event = {};
	long submitted = result_of(syscall(SYS_io_submit, requests, 1, blocks));

	if (submitted < 1)
		return submitted;
	if (syscall(SYS_io_getevents, requests, 1, 1, &event, NULL) != 1)
		return -errno;
	return event.res;
}

static long run_aio_read(void) { return request_run(IOCB_CMD_PREAD); }
static long run_aio_write(void) { return request_run(IOCB_CMD_PWRITE); }

const struct operation file_operations[] = {
	{ "open", "open", "f", make_f, NULL, run_open, close_all },
	{ "create", "open", "n", NULL, NULL, run_create, close_all },
	{ "open-truncating", "open", "f", make_f, NULL, run_truncating, close_all },
	{ "tmpfile", NULL, NULL, NULL, NULL, run_tmpfile, close_all },
	{ "mkdir", "mkdir", "n", NULL, NULL, run_mkdir, NULL },
	{ "rmdir", "rmdir", "d", make_directory, NULL, run_rmdir, NULL },
	{ "mknod-fifo", "mknod", "n", NULL, NULL, run_mknod, NULL },
	{ "mknod-file", "mknod", "n", NULL, NULL, run_mknod_file, NULL },
	{ "symlink", "symlink", "n", NULL, NULL, run_symlink, NULL },
	{ "link", "link", "f", make_f, NULL, run_link, NULL },
	{ "unlink", "unlink", "f", make_f, NULL, run_unlink, NULL },
	{ "rename", "rename", "f", make_f, NULL, run_rename, NULL },
	{ "rename-over", "rename", "f", make_f_and_g, NULL, run_rename_over, NULL },
	{ "exchange", "rename", "f", make_f_and_g, NULL, run_exchange, NULL },
	{ "readlink", "readlink", "l", make_link, NULL, run_readlink, NULL },
	{ "stat", "stat", "f", make_f, NULL, run_stat, NULL },
	{ "statfs", "statfs", NULL, NULL, NULL, run_statfs, NULL },
	{ "chmod", "setattr", "f", make_f, NULL, run_chmod, NULL },
	{ "truncate", "setattr", "f", make_f, NULL, run_truncate, NULL },
	{ "ftruncate", "setattr", "f", make_f, open_f, run_ftruncate, close_all },
	{ "getxattr", "getxattr", "f", make_attribute, NULL, run_getxattr, NULL },
	{ "setxattr", "setxattr", "f", make_attribute, NULL, run_setxattr, NULL },
	{ "listxattr", "listxattr", "f", make_attribute, NULL, run_listxattr, NULL },
	{ "removexattr", "removexattr", "f", make_attribute, NULL, run_removexattr, NULL },
	{ "getflags", NULL, NULL, make_f, open_f, run_getflags, close_all },
	{ "read", "read", "f", make_f, open_f, run_read, close_all },
	{ "write", "write", "f", make_f, open_f, run_write, close_all },
	{ "extend", "write", "f", make_f, open_f, run_extend, close_all },
	{ "append", "write", "f", make_f, open_append, run_append, close_all },
	{ "getdents", "readdir", NULL, make_many, open_directory, run_getdents, close_all },
	{ "fsync", "fsync", "f", make_f, open_f, run_fsync, close_all },
	{ "fallocate", "fallocate", "f", make_f, open_f, run_fallocate, close_all },
	{ "flock", NULL, NULL, make_f, open_f, run_flock, close_all },
	{ "lock", NULL, NULL, make_f, open_f, run_lock, close_all },
	{ "copy", "copy_range", "f", make_f_and_g, open_f_and_g, run_copy, close_all },
	{ "sendfile", NULL, NULL, make_f_and_g, open_f_and_g, run_sendfile, close_all },
	{ "close", "release", "f", make_f, open_f, run_close, close_all },
	{ "aio-read", NULL, NULL, make_f, open_requests, run_aio_read, close_requests },
	{ "aio-write", NULL, NULL, make_f, open_requests, run_aio_write, close_requests },
	{}
};

/* -- mappings ----------------------------------------------------------------------------------------- */

#define MAP_BYTES FILE_BYTES

static char *map;

static void map_make(int protection, int flags)
{
	open_f();
	map = mmap(NULL, MAP_BYTES, protection, flags, fd, 0);
	must(map != MAP_FAILED, "mmap");
}

static void open_map(void) { map_make(PROT_READ | PROT_WRITE, MAP_SHARED); }
static void open_private(void) { map_make(PROT_READ | PROT_WRITE, MAP_PRIVATE); }

static void close_map(void)
{
	if (map && map != MAP_FAILED)
		munmap(map, MAP_BYTES);
	map = NULL;
	close_all();
}

static long run_mmap(void)
{
	map = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return map == MAP_FAILED ? -errno : 0;
}

/* Faults in the kernel: an allocation that fails in a fault of user mode is retried forever. */
static long run_touch_read(void)
{
	return result_of(madvise(map, MAP_BYTES, MADV_POPULATE_READ));
}

static long run_touch_write(void)
{
	return result_of(madvise(map, MAP_BYTES, MADV_POPULATE_WRITE));
}

static long run_msync(void)
{
	return result_of(msync(map, MAP_BYTES, MS_SYNC));
}

static long run_punch(void)
{
	return result_of(madvise(map, 4096, MADV_REMOVE));
}

static long run_munmap(void)
{
	long result = result_of(munmap(map, MAP_BYTES));

	if (!result)
		map = NULL;
	return result;
}

/* Unmaps a part, which splits the mapping. */
static long run_split(void)
{
	return result_of(munmap(map, 4096));
}

static long run_mremap(void)
{
	char *moved = mremap(map, MAP_BYTES, 2 * MAP_BYTES, MREMAP_MAYMOVE);

	if (moved == MAP_FAILED)
		return -errno;
	munmap(moved + MAP_BYTES, MAP_BYTES);
	map = moved;
	return 0;
}

/* Mappings are copied; the parent waits for the child, which exits at once. */
static long run_fork(void)
{
	long pid = syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);

	if (!pid)
		syscall(SYS_exit, 0);
	return pid < 0 ? -errno : 0;
}

static int make_new(void *unused)
{
	(void)unused;
	return mkdir(in(upper, "n"), 0750) ? errno : 0;
}

/* The first operation of a process: if the recorder could not record the fork, it counts it here. */
static long run_fork_new(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int pid = clone(make_new, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	int status;

	if (pid < 0)
		return -errno;
	return waitpid(pid, &status, __WALL) == pid && WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

static void close_fork(void)
{
	syscall(SYS_wait4, -1, NULL, 0, NULL);
	close_map();
}

const struct operation map_operations[] = {
	{ "mmap", "map", "f", make_f, open_f, run_mmap, close_map },
	{ "touch-read", NULL, NULL, make_f, open_map, run_touch_read, close_map },
	{ "touch-write", NULL, NULL, make_f, open_map, run_touch_write, close_map },
	{ "touch-private", NULL, NULL, make_f, open_private, run_touch_write, close_map },
	{ "msync", NULL, NULL, make_f, open_map, run_msync, close_map },
	{ "punch", NULL, NULL, make_f, open_map, run_punch, close_map },
	{ "munmap", "unmap", "f", make_f, open_map, run_munmap, close_map },
	{ "split", NULL, NULL, make_f, open_map, run_split, close_map },
	{ "mremap", NULL, NULL, make_f, open_map, run_mremap, close_map },
	{ "fork", "fork", NULL, make_f, open_map, run_fork, close_fork },
	{ "fork-new", "mkdir", "n", NULL, NULL, run_fork_new, NULL },
	{}
};
