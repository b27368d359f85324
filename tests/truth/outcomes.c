// SPDX-License-Identifier: GPL-2.0-only
/*
 * outcomes.c - outcomes of calls that the kernel answers itself if a file system lacks an operation.
 *
 *	outcomes DIRECTORY
 *
 * Prints a line for each, which must be the same on a bare directory and under tapefs: a stacked file system
 * must lack the operations that the file system below lacks.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SIZE_BYTES 65536
#define BLOCK_BYTES 4096
#define ROOM	   2 /* files compared with the first */
#define CHANGED_BYTES (1 << 20)
#define REWRITE_TRIES 5

static void outcome(const char *what, long result)
{
	printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "done");
}

static int make(const char *name, int byte)
{
	static char data[SIZE_BYTES];
	int fd = open(name, O_CREAT | O_EXCL | O_RDWR, 0600);

	memset(data, byte, sizeof(data));
	if (fd < 0 || write(fd, data, sizeof(data)) != sizeof(data) || fsync(fd)) {
		perror(name);
		exit(1);
	}
	return fd;
}

/* Each of the other files has an outcome of its own, if the call has any. */
static void deduplicate(int fd, int same, int other)
{
	struct file_dedupe_range *range = calloc(1, sizeof(*range) + ROOM * sizeof(range->info[0]));
	int err, i;

	if (!range)
		exit(1);
	range->src_length = SIZE_BYTES;
	range->dest_count = ROOM;
	range->info[0].dest_fd = same;
	range->info[1].dest_fd = other;
	err = ioctl(fd, FIDEDUPERANGE, range);
	outcome("FIDEDUPERANGE", err);
	for (i = 0; !err && i < ROOM; i++)
		printf("FIDEDUPERANGE, file %d: status %d, %llu bytes\n", i, range->info[i].status,
		       (unsigned long long)range->info[i].bytes_deduped);
	free(range);
}

static void map_block(int fd)
{
	int block = 0, hole = 1 << 20;

	outcome("FIBMAP", ioctl(fd, FIBMAP, &block));
	printf("FIBMAP: %s\n", block ? "has a block" : "has none");
	outcome("FIBMAP beyond the end", ioctl(fd, FIBMAP, &hole));
	printf("FIBMAP beyond the end: %s\n", hole ? "has a block" : "has none");
}

static int reopen(const char *name, int flags)
{
	int fd = open(name, flags);

	if (fd < 0) {
		perror(name);
		exit(1);
	}
	return fd;
}

/* Since 6.10, on XFS file systems that were created with this feature. */
static void exchange(const char *what, int with, int fd)
{
	struct { /* xfs_exchange_range, missing in some headers */
		__s32 file1_fd;
		__u32 pad;
		__u64 file1_offset, file2_offset, length, flags;
	} range = { .file1_fd = with };

	printf("%s: ", what);
	outcome("XFS_IOC_EXCHANGE_RANGE", ioctl(fd, _IOW('X', 129, range), &range));
}

/* The kernel checks the descriptors before it checks for support. */
static void exchange_all(int fd, int other, int dir)
{
	int reader = reopen("other", O_RDONLY), writer = reopen("other", O_WRONLY);
	int appender = reopen("other", O_RDWR | O_APPEND), outside = reopen("/dev/null", O_RDWR);

	exchange("with itself", fd, fd);
	exchange("with another file", other, fd);
	exchange("with a read-only handle", reader, fd);
	exchange("of a read-only handle", fd, reader);
	exchange("with a write-only handle", writer, fd);
	exchange("with an O_APPEND handle", appender, fd);
	exchange("with a directory", dir, fd);
	exchange("of a directory", fd, dir);
	exchange("with a device", outside, fd);
	exchange("with nothing", -1, fd);
}

/* Only files of memfd_create(2) have seals; other files are refused in two ways. */
static void seal(int fd)
{
	void *map = mmap(NULL, SIZE_BYTES, PROT_READ, MAP_SHARED, fd, 0);

	printf("F_ADD_SEALS: %s\n", fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0 ? "refused" : "done");
	outcome("mmap", map == MAP_FAILED ? -1 : 0);
	outcome("mprotect", mprotect(map, SIZE_BYTES, PROT_READ | PROT_WRITE));
	munmap(map, SIZE_BYTES);
}

/* Since 6.9. A property of the super block, not of the file. */
static void name_file_system(int fd)
{
	struct { /* fsuuid2, missing in some headers */
		__u8 length;
		__u8 bytes[16];
	} uuid = { 0 };
	size_t i;

	outcome("FS_IOC_GETFSUUID", ioctl(fd, _IOR(0x15, 0, uuid), &uuid));
	printf("FS_IOC_GETFSUUID: ");
	for (i = 0; i < uuid.length && i < sizeof(uuid.bytes); i++)
		printf("%02x", uuid.bytes[i]);
	printf("\n");
}

/* Writes and reads that need support of the file system, since 6.11 and 6.14; missing in some headers. */
static void ask_for(const char *what, int flag, int fd)
{
	static char data[BLOCK_BYTES] __attribute__((aligned(BLOCK_BYTES)));
	struct iovec block = { data, sizeof(data) };

	printf("pwritev2, %s: ", what);
	outcome("block", syscall(SYS_pwritev2, fd, &block, 1, 0, 0, flag));
	printf("preadv2, %s: ", what);
	outcome("block", syscall(SYS_preadv2, fd, &block, 1, 0, 0, flag));
}

static void ask_for_all(int fd)
{
	const int atomic = 0x40, dontcache = 0x80, unknown = 0x40000000;
	int direct = open("first", O_RDWR | O_DIRECT);

	ask_for("RWF_ATOMIC", atomic, fd);
	ask_for("RWF_ATOMIC and O_DIRECT", atomic, direct);
	ask_for("RWF_DONTCACHE", dontcache, fd);
	ask_for("RWF_DONTCACHE and O_DIRECT", dontcache, direct);
	ask_for("an invalid flag", unknown, fd);
	close(direct);
}

/* file_getattr(2) and file_setattr(2), since 6.17: some file systems have attributes of links. */
static void attributes(const char *name)
{
	struct { /* file_attr, missing in some headers */
		__u64 flags;
		__u32 extent_bytes, extents, project, cow_extent_bytes;
	} attr = { 0 };
	const int get = 468, set = 469;

	printf("%s: ", name);
	outcome("file_getattr",
		syscall(get, AT_FDCWD, name, &attr, sizeof(attr), AT_SYMLINK_NOFOLLOW));
	printf("%s: ", name);
	outcome("file_setattr",
		syscall(set, AT_FDCWD, name, &attr, sizeof(attr), AT_SYMLINK_NOFOLLOW));
}

static void attributes_all(void)
{
	if (symlink("first", "link") || mkfifo("fifo", 0600)) {
		perror("link, fifo");
		exit(1);
	}
	attributes("first");
	attributes("link");
	attributes("fifo");
	attributes(".");
}

#ifndef MAP_32BIT /* there are no x32 programs */
#define MAP_32BIT 0
#endif

/* Prints a checksum of the reproducible part of an ioctl's output. x32 programs have buffers at small addresses. */
static void ask_file_system(const char *what, int fd, unsigned long command, size_t bytes)
{
	static unsigned char *answer;
	unsigned long sum = 0;
	size_t i;
	int err;

	if (!answer)
		answer = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (answer == MAP_FAILED)
		exit(1);
	memset(answer, 0, BLOCK_BYTES);
	err = ioctl(fd, command, answer);
	for (i = 0; i < bytes; i++)
		sum = sum * 31 + answer[i];
	printf("%s: %s, %lx\n", what, err < 0 ? strerrorname_np(errno) : "done", err < 0 ? 0 : sum);
	printf("%s, without memory: ", what);
	outcome("ioctl", ioctl(fd, command, 16));
#ifdef __x86_64__
	printf("%s, of x32: ", what);
	outcome("ioctl", syscall(0x40000000 | 514, fd, command, answer));
#endif
}

/* ioctls of single file systems, of no file system, and of Lustre. */
static void ask_for_rare_ioctls(int fd, int dir)
{
	int each[] = { fd, dir };
	size_t i;

	for (i = 0; i < 2; i++) {
		printf("-- of a %s\n", i ? "directory" : "file");
		ask_file_system("XFS_IOC_FSGEOMETRY_V1", each[i], _IOC(_IOC_READ, 'X', 100, 112), 112);
		ask_file_system("XFS_IOC_DIOINFO", each[i], _IOC(_IOC_READ, 'X', 30, 12), 12);
		ask_file_system("XFS_IOC_GETBMAP", each[i], _IOC(_IOC_READ | _IOC_WRITE, 'X', 38, 32), 0);
		ask_file_system("EXT4_IOC_GETSTATE", each[i], _IOW('f', 41, __u32), 4);
		ask_file_system("EXT4_IOC_GETRSVSZ", each[i], _IOR('f', 5, long), 8);
		ask_file_system("BTRFS_IOC_FS_INFO", each[i], _IOC(_IOC_READ, 0x94, 31, 1024), 48);
		ask_file_system("FS_IOC_GETVERSION", each[i], _IOR('v', 1, long), 0);
		ask_file_system("FS_IOC_GET_ENCRYPTION_POLICY", each[i], _IOW('f', 21, char[12]), 0);
		ask_file_system("FS_IOC_MEASURE_VERITY", each[i], _IOC(_IOC_READ | _IOC_WRITE, 'f', 134, 4), 0);
		ask_file_system("FITRIM", each[i], _IOC(_IOC_READ | _IOC_WRITE, 'X', 121, 24), 0);
		ask_file_system("LL_IOC_LOV_GETSTRIPE", each[i], _IOW('f', 155, long), 0);
		ask_file_system("LL_IOC_GETVERSION", each[i], _IOR('f', 3, long), 0);
		ask_file_system("an unknown ioctl", each[i], _IOC(_IOC_READ | _IOC_WRITE, 0xe7, 99, 4000), 4000);
		ask_file_system("without a size", each[i], 0x12345678, 0);
		ask_file_system("zero", each[i], 0, 0);
	}
}

/* The access time is set to a year that no real access has. */
static void note_access(const char *what, int fd)
{
	const struct timespec old[] = { { .tv_sec = 1000000000 }, { .tv_nsec = UTIME_OMIT } };
	struct stat now;
	char byte;

	outcome("futimens", futimens(fd, old));
	outcome("pread", pread(fd, &byte, 1, 0));
	outcome("fstat", fstat(fd, &now));
	printf("%s: an access is %s\n", what, now.st_atime == old[0].tv_sec ? "not noted" : "noted");
}

static void note_accesses(void)
{
	int fd = reopen("first", O_RDWR);

	note_access("as opened", fd);
	outcome("F_SETFL", fcntl(fd, F_SETFL, O_NOATIME));
	note_access("O_NOATIME", fd);
	outcome("F_SETFL", fcntl(fd, F_SETFL, 0));
	note_access("as opened, again", fd);
	close(fd);
}

/* access_changes_time(): whether a read or a write of a mapped byte sets the file's time of change. */
static bool access_changes_time(int fd, volatile char *byte, bool is_write)
{
	const struct timespec old[] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1000000000 } };
	struct stat now;

	if (futimens(fd, old))
		perror("futimens");
	if (is_write)
		*byte = 1;
	else
		(void)*byte; /* volatile: a real read */
	if (fstat(fd, &now))
		perror("fstat");
	return now.st_mtime != old[1].tv_sec;
}

static void print_change(const char *what, bool is_new)
{
	printf("mapped, %s: the time of change is %s\n", what, is_new ? "new" : "as it was");
}

static void changes_time(int fd, const char *what, volatile char *byte, bool is_write)
{
	print_change(what, access_changes_time(fd, byte, is_write));
}

/*
 * Writes to a dirty, mapped page leave the time unchanged, unless the kernel has written the page back in
 * the meantime, which it may do at any time. Several tries; one success suffices.
 */
static void rewrite_changes_time(int fd, const char *what, char *page, bool with_mprotect)
{
	bool is_new = true;
	int i;

	for (i = 0; is_new && i < REWRITE_TRIES; i++) {
		if (with_mprotect && (mprotect(page, CHANGED_BYTES, PROT_READ) ||
				      mprotect(page, CHANGED_BYTES, PROT_READ | PROT_WRITE)))
			perror("mprotect");
		is_new = access_changes_time(fd, page, true);
	}
	print_change(what, is_new);
}

/*
 * Where pages are never written back, as on tmpfs, a write changes the time if the page was not mapped. The second
 * page is far from the first, because the kernel maps the neighbours of the first.
 */
static void note_changes(void)
{
	int fd = reopen("first", O_RDWR);
	char *map = mmap(NULL, CHANGED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED || ftruncate(fd, CHANGED_BYTES)) {
		perror("first");
		exit(1);
	}
	changes_time(fd, "written first", map, true);
	rewrite_changes_time(fd, "written again", map, false);
	changes_time(fd, "read first", map + CHANGED_BYTES / 2, false);
	changes_time(fd, "written after it was read", map + CHANGED_BYTES / 2, true);
	rewrite_changes_time(fd, "written after mprotect(2)", map, true);
	if (madvise(map, CHANGED_BYTES, MADV_DONTNEED))
		perror("madvise");
	changes_time(fd, "written after MADV_DONTNEED", map, true);
	munmap(map, CHANGED_BYTES);
	close(fd);
}

int main(int argc, char **argv)
{
	int fd, same, other, dir;

	if (argc != 2 || chdir(argv[1])) {
		fprintf(stderr, "usage: outcomes DIRECTORY\n");
		return 2;
	}
	fd = make("first", 'a');
	same = make("same", 'a');
	other = make("other", 'b');
	dir = open(".", O_RDONLY | O_DIRECTORY);
	deduplicate(fd, same, other);
	map_block(fd);
	exchange_all(fd, other, dir);
	seal(fd);
	name_file_system(fd);
	ask_for_all(fd);
	attributes_all();
	note_accesses();
	note_changes();
	ask_for_rare_ioctls(fd, dir);
	outcome("FICLONE", ioctl(same, FICLONE, fd));
	outcome("FICLONE of a directory", ioctl(same, FICLONE, dir));
	outcome("FIBMAP of a directory", ioctl(dir, FIBMAP, &fd));
	outcome("FIEMAP of a directory", ioctl(dir, FS_IOC_FIEMAP, &(struct fiemap){ .fm_length = 4096 }));
	return 0;
}
