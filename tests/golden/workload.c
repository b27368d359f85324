// SPDX-License-Identifier: GPL-2.0-only
/*
 * workload.c - one of nearly every operation that can be recorded, in the working directory.
 *
 * What fails is recorded like what does not, so results are not looked at.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static long ignored;
#define DO(call) (ignored = (long)(call))

static char data[3 * 4096];

static void names(void)
{
	char target[100];

	DO(mkdir("d", 0750));
	DO(mkdir("d", 0750));
	DO(close(open("d/file", O_WRONLY | O_CREAT | O_EXCL, 0640)));
	DO(close(open("d/file", O_RDONLY | O_CREAT | O_EXCL, 0640)));
	DO(close(open("d/missing", O_RDONLY)));
	DO(close(open("two words\nand lines", O_WRONLY | O_CREAT, 0600)));
	DO(close(open("Gr\303\266\303\237e", O_WRONLY | O_CREAT, 0600)));
	DO(close(open("latin\351", O_WRONLY | O_CREAT, 0600)));
	DO(link("d/file", "hard"));
	DO(symlink("d/file", "soft"));
	DO(readlink("soft", target, sizeof(target)));
	DO(close(open("soft", O_RDONLY)));
	DO(mknod("fifo", S_IFIFO | 0600, 0));
	DO(access("d/file", R_OK));
	DO(rename("d/file", "d/moved"));
	DO(renameat2(AT_FDCWD, "hard", AT_FDCWD, "d/moved", RENAME_NOREPLACE));
	DO(renameat2(AT_FDCWD, "soft", AT_FDCWD, "d/moved", RENAME_EXCHANGE));
	DO(renameat2(AT_FDCWD, "soft", AT_FDCWD, "d/moved", RENAME_EXCHANGE));
	DO(rename("d", "e"));
	DO(rename("e", "d"));
	DO(unlink("hard"));
	DO(close(open("hard", O_WRONLY | O_CREAT, 0600)));
	DO(unlink("hard"));
	DO(unlink("d"));
	DO(rmdir("d"));
}

static void attributes(void)
{
	const struct timespec times[2] = { { 1000000000, 5 }, { 1000000001, 7 } };
	struct statvfs room;
	struct stat stat_;
	char value[16];

	DO(stat("d/moved", &stat_));
	DO(chmod("d/moved", 0600));
	DO(chown("d/moved", 7, 8));
	DO(truncate("d/moved", 10));
	DO(utimensat(AT_FDCWD, "d/moved", times, 0));
	DO(utimensat(AT_FDCWD, "d/moved", NULL, 0));
	DO(statvfs(".", &room));
	DO(setxattr("d/moved", "user.colour", "green", 5, 0));
	DO(setxattr("d/moved", "user.colour", "blue", 4, XATTR_CREATE));
	DO(getxattr("d/moved", "user.colour", value, sizeof(value)));
	DO(listxattr("d/moved", NULL, 0));
	DO(removexattr("d/moved", "user.colour"));
}

static void reads_and_writes(void)
{
	int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0644), copy, again;
	unsigned int flags;

	DO(write(fd, data, 100));
	DO(pwrite(fd, data, 4096, 8192));
	DO(lseek(fd, -6, SEEK_END));
	DO(lseek(fd, 0, SEEK_HOLE));
	DO(lseek(fd, 0, SEEK_DATA));
	DO(pread(fd, data, sizeof(data), 4096));
	DO(pread(fd, data, 10, 1 << 20));
	DO(pread(fd, data, 10, -1));
	DO(fsync(fd));
	DO(fdatasync(fd));
	DO(ftruncate(fd, 9000));
	DO(fchmod(fd, 0600));
	DO(fallocate(fd, FALLOC_FL_KEEP_SIZE, 9000, 4096));
	DO(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096));
	DO(posix_fadvise(fd, 0, 4096, POSIX_FADV_RANDOM));
	DO(ioctl(fd, FS_IOC_GETFLAGS, &flags));
	again = dup(fd);
	DO(close(again));
	copy = open("copy", O_WRONLY | O_CREAT | O_APPEND, 0644);
	DO(write(copy, data, 5));
	DO(write(copy, data, 5));
	DO(close(copy));
	copy = open("clone", O_WRONLY | O_CREAT, 0644);
	DO(copy_file_range(fd, NULL, copy, NULL, 4096, 0));
	DO(ioctl(copy, FICLONE, fd));
	DO(close(copy));
	DO(close(fd));
	DO(close(open(".", O_RDWR | O_TMPFILE, 0600)));
}

static void asynchronous(void)
{
	int fd = open("data", O_RDONLY | O_DIRECT);
	struct iocb request = {
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_fildes = (unsigned int)fd,
		.aio_buf = (unsigned long)aligned_alloc(4096, 4096),
		.aio_nbytes = 4096,
	};
	struct iocb *requests = &request;
	struct io_event event;
	aio_context_t context = 0;

	DO(syscall(SYS_io_setup, 1, &context));
	DO(syscall(SYS_io_submit, context, 1, &requests));
	DO(syscall(SYS_io_getevents, context, 1, 1, &event, NULL));
	DO(syscall(SYS_io_destroy, context));
	DO(close(fd));
}

static void mappings(void)
{
	int fd = open("data", O_RDWR);
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	DO(close(fd));
	if (p == MAP_FAILED)
		return;
	DO(p[4096]);
	p[0] = 1;
	p[4096] = 2;
	if (!fork()) {
		p[1] = 3;
		_exit(3);
	}
	wait(NULL);
	DO(msync(p, 8192, MS_SYNC));
	DO(madvise(p, 4096, MADV_WILLNEED));
	DO(munmap(p + 4096, 4096));
	DO(munmap(p, 4096));
}

static void directories(void)
{
	DIR *dir = opendir(".");

	while (readdir(dir))
		;
	rewinddir(dir);
	readdir(dir);
	closedir(dir);
}

static void processes(void)
{
	if (!fork()) {
		DO(setresuid(1000, 1000, 1000));
		DO(close(open("d/moved", O_RDONLY)));
		DO(access("d/moved", W_OK));
		execl("/bin/busybox", "cat", "copy", (char *)NULL);
		_exit(1);
	}
	wait(NULL);
}

int main(void)
{
	umask(022);
	names();
	attributes();
	reads_and_writes();
	asynchronous();
	mappings();
	directories();
	processes();
	return 0;
}
