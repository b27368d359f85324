// SPDX-License-Identifier: GPL-2.0-only
/*
 * syncs.c - writes a block that the device rejects, and prints which callers of syncfs(2), fsync(2),
 * sync_file_range(2) and msync(2) get the error.
 *
 *	syncs FILE OTHER BADBLOCKS SECTORS
 *
 * FILE has at least one block of SECTORS sectors, on a null_blk device; BADBLOCKS is the configfs
 * attribute of the device. OTHER is the same file by another name, perhaps on another mount.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *badblocks;
static unsigned long sectors;

static int open_file(const char *path)
{
	int fd = open(path, O_RDWR);

	if (fd < 0) {
		perror(path);
		exit(2);
	}
	return fd;
}

static void outcome(const char *what, int result)
{
	printf("%s: %s\n", what, result ? strerrorname_np(errno) : "0");
}

static void show(const char *what, int fd)
{
	outcome(what, syncfs(fd));
}

static void show_range(const char *what, int fd)
{
	outcome(what, sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE));
}

static void show_mapped(const char *what, int fd)
{
	void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	outcome(what, msync(map, 4096, MS_SYNC));
	munmap(map, 4096);
}

static unsigned long first_sector(int fd)
{
	int block = 0;

	if (ioctl(fd, FIBMAP, &block) || !block) {
		fprintf(stderr, "syncs: cannot locate the first block of the file\n");
		exit(2);
	}
	return block * sectors;
}

static void mark(char sign, unsigned long first)
{
	int fd = open_file(badblocks);

	if (dprintf(fd, "%c%lu-%lu", sign, first, first + sectors - 1) < 0) {
		perror(badblocks);
		exit(2);
	}
	close(fd);
}

static void fail_once(int fd, unsigned long first)
{
	mark('+', first);
	if (pwrite(fd, "lost", 4, 0) != 4)
		perror("pwrite");
	show("the writer", fd);
	mark('-', first);
}

int main(int argc, char **argv)
{
	int writer, idle, other, fd;
	unsigned long first;

	if (argc != 5) {
		fprintf(stderr, "usage: syncs FILE OTHER BADBLOCKS SECTORS\n");
		return 2;
	}
	badblocks = argv[3];
	sectors = strtoul(argv[4], NULL, 0);
	writer = open_file(argv[1]);
	idle = open_file(argv[1]);
	other = open_file(argv[2]);
	first = first_sector(writer); /* before the failure: later, FIBMAP may fail */
	show("nothing has failed", writer);
	fail_once(writer, first);
	show("the writer, again", writer);
	show("a second handle", idle);
	show("a second handle, again", idle);
	show("a handle of the other name", other);
	show("a handle of the other name, again", other);
	fd = open_file(argv[1]);
	show("a later open", fd);
	show("a later open of the other name", open_file(argv[2]));
	fail_once(writer, first);
	show("the writer, again", writer);
	show("a handle opened after the first failure", fd);

	/* The file has a separate error, which has not been reported yet. */
	outcome("fsync of the writer", fsync(writer));
	outcome("fsync of the writer, again", fsync(writer));
	show_range("sync_file_range of the writer", writer);
	show_mapped("msync of a second handle", idle);
	show_mapped("msync of a second handle, again", idle);
	show_range("sync_file_range of a later open", open_file(argv[1]));
	show_mapped("msync of a later open of the other name", open_file(argv[2]));
	return 0;
}
