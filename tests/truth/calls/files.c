// SPDX-License-Identifier: GPL-2.0-only
/*
 * files.c - calls on descriptors: read, write, seek, copy, sync, lock, duplicate, close.
 */
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "calls.h"

static char buffer[16384] __attribute__((aligned(4096)));
static const struct iovec vector[] = { { buffer, 100 }, { buffer + 200, 300 } };

static void transferred(void)
{
	int fd = make_open("data"), readonly = open("data", O_RDONLY), direct;

	CALL("read", (void)!read(fd, buffer, 100));
	CALL("pread64", (void)!pread(fd, buffer, 100, 50));
	CALL("readv", (void)!readv(fd, vector, 2));
	CALL("preadv", (void)!preadv(fd, vector, 2, 0));
	CALL("read at the end", (void)!pread(fd, buffer, 100, 1 << 20));
	CALL("read of nothing", (void)!read(fd, buffer, 0));
	CALL("read to a bad address (EFAULT)", (void)!read(fd, (void *)-4096L, 100));
	CALL("read to an unmapped address", (void)!pread(fd, (void *)4096, 100, 0));
	CALL("pread64, negative offset (EINVAL)", (void)!pread(fd, buffer, 100, -1));
	CALL("write", (void)!write(fd, buffer, 100));
	CALL("pwrite64", (void)!pwrite(fd, buffer, 100, 50));
	CALL("writev", (void)!writev(fd, vector, 2));
	CALL("pwritev2, RWF_APPEND", (void)!pwritev2(fd, vector, 2, 0, RWF_APPEND));
	CALL("preadv2, RWF_NOWAIT, in the page cache", (void)!preadv2(fd, vector, 1, 0, RWF_NOWAIT));
	CALL("write of nothing", (void)!write(fd, buffer, 0));
	CALL("write to a read-only handle (EBADF)", (void)!write(readonly, buffer, 1));
	direct = open("data", O_RDWR | O_DIRECT);
	CALL("read, O_DIRECT", (void)!pread(direct, buffer, 4096, 0));
	CALL("read, O_DIRECT, misaligned", (void)!pread(direct, buffer + 1, 10, 1));
	CALL("write, O_DIRECT", (void)!pwrite(direct, buffer, 4096, 0));
	close(direct);
	close(readonly);
	close(fd);
}

static void positioned(void)
{
	int fd = make_open("positioned");

	CALL("lseek, SEEK_SET", lseek(fd, 10, SEEK_SET));
	CALL("lseek, SEEK_CUR", lseek(fd, 0, SEEK_CUR));
	CALL("lseek, SEEK_END", lseek(fd, 0, SEEK_END));
	CALL("lseek, SEEK_DATA", lseek(fd, 0, SEEK_DATA));
	CALL("lseek, SEEK_HOLE", lseek(fd, 0, SEEK_HOLE));
	CALL("lseek, SEEK_DATA beyond the end", lseek(fd, 1 << 20, SEEK_DATA));
	CALL("lseek before the start", lseek(fd, -1, SEEK_SET));
	CALL("lseek, invalid whence (EINVAL)", lseek(fd, 0, 77));
	close(fd);
}

static void copied(void)
{
	int in = make_open("in"), out = make_open("out"), ends[2];
	off_t from = 0, to = 0;

	MUST(!pipe(ends));
	CALL("copy_file_range", (void)!copy_file_range(in, &from, out, &to, 4096, 0));
	from = 0;
	CALL("sendfile", (void)!sendfile(out, in, &from, 4096));
	from = 0;
	CALL("splice from a file to a pipe", (void)!splice(in, &from, ends[1], NULL, 1000, 0));
	CALL("splice from a pipe to a file", (void)!splice(ends[0], NULL, out, &to, 1000, 0));
	CALL("posix_fadvise", posix_fadvise(in, 0, 0, POSIX_FADV_SEQUENTIAL));
	CALL("readahead", (void)!readahead(in, 0, 4096));
	close(in);
	close(out);
	close(ends[0]);
	close(ends[1]);
}

static void made_durable(void)
{
	int fd = make_open("durable");

	CALL("fsync", fsync(fd));
	CALL("fdatasync", fdatasync(fd));
	CALL("sync_file_range", sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
	CALL("syncfs", syncfs(fd));
	CALL("sync", sync());
	CALL("fallocate", (void)!fallocate(fd, 0, 0, 100000));
	CALL("fallocate, FALLOC_FL_PUNCH_HOLE",
	     (void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096));
	CALL("fallocate, incompatible flags (EOPNOTSUPP)",
	     (void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, 4096));
	CALL("fallocate, zero length (EINVAL)", (void)!fallocate(fd, 0, 0, 0));
	close(fd);
}

static void locked(void)
{
	struct flock lock = { .l_type = F_WRLCK };
	int fd = make_open("locked");

	CALL("flock", flock(fd, LOCK_EX));
	CALL("fcntl F_SETLK", fcntl(fd, F_SETLK, &lock));
	CALL("fcntl F_OFD_SETLK, locked by the process (EAGAIN)", fcntl(fd, F_OFD_SETLK, &lock));
	CALL("fcntl F_GETLK", fcntl(fd, F_GETLK, &lock));
	CALL("fcntl F_SETLEASE", fcntl(fd, F_SETLEASE, F_WRLCK));
	CALL("fcntl F_SETFL", fcntl(fd, F_SETFL, O_APPEND));
	CALL("close of a descriptor with locks", close(fd));
}

static void duplicated(void)
{
	int fd = make_open("duplicated"), other = make_open("replaced"), copy = -1;

	CALL("dup", copy = dup(fd));
	CALL("close, not the last descriptor", close(copy));
	CALL("dup2 over an open descriptor", dup2(fd, other));
	CALL("fcntl F_DUPFD", copy = fcntl(fd, F_DUPFD, 50));
	close(copy);
	close(other);
	CALL("close of an unused descriptor (EBADF)", close(999));
	CALL("close_range", close_range((unsigned int)fd, (unsigned int)fd, 0));
	fd = make_open("unlinked");
	CALL("unlink of an open file", unlink("unlinked"));
	CALL("close of an unlinked file", close(fd));
}

void calls_of_files(void)
{
	transferred();
	positioned();
	copied();
	made_durable();
	locked();
	duplicated();
}
