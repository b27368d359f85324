// SPDX-License-Identifier: GPL-2.0-only
/*
 * syncs.c - writes a block that the device does not take, and prints whom syncfs(2), fsync(2),
 * sync_file_range(2) and msync(2) tell of it.
 *
 *	syncs FILE OTHER BADBLOCKS SECTORS
 *
 * FILE has a block at least, on a null_blk device that BADBLOCKS, a file of configfs, belongs to, and
 * a block of SECTORS sectors. OTHER is the same file by another name, perhaps of another mount.
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
		fprintf(stderr, "syncs: where is the file?\n");
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
	show("who wrote", fd);
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
	first = first_sector(writer); /* who has lost something is not told where it was */
	show("nothing has failed", writer);
	fail_once(writer, first);
	show("who wrote, again", writer);
	show("who had it open", idle);
	show("who had it open, again", idle);
	show("who had the other open", other);
	show("who had the other open, again", other);
	fd = open_file(argv[1]);
	show("who opens it later", fd);
	show("who opens the other later", open_file(argv[2]));
	fail_once(writer, first);
	show("who wrote, again", writer);
	show("who had it open since the first", fd);

	/* The error of the file is another one, which has not been reported yet. */
	outcome("fsync of who wrote", fsync(writer));
	outcome("fsync of who wrote, again", fsync(writer));
	show_range("sync_file_range of who wrote", writer);
	show_mapped("msync of who had it open", idle);
	show_mapped("msync of who had it open, again", idle);
	show_range("sync_file_range of who opens it later", open_file(argv[1]));
	show_mapped("msync of who opens the other later", open_file(argv[2]));
	return 0;
}
