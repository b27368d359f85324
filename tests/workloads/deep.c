// SPDX-License-Identifier: GPL-2.0-only
/*
 * deep.c - a workload: files whose paths are longer than PATH_MAX, reached component
 * by component.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "workload.h"

#define PAGE	   4096
#define NAME_BYTES 100

static long depth = 90;

static const struct workload_option options[] = {
	{ "depth", &depth, NULL, NULL, "directories below each other, with names of 100 bytes" },
	{}
};

static void name_of(long level, char name[NAME_BYTES + 1])
{
	memset(name, 'a' + (int)(level % 26), NAME_BYTES);
	name[NAME_BYTES] = 0;
}

/* Creates a directory and opens it. Return: its descriptor. */
static int go_down(int dir, long level)
{
	char name[NAME_BYTES + 1];
	int fd;

	name_of(level, name);
	CHECK(!mkdirat(dir, name, 0750));
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY);
	CHECK(fd >= 0);
	CHECK(!close(dir));
	return fd;
}

static void use_file(int dir)
{
	char text[64] = "";
	char *map;
	int fd = openat(dir, "file", O_RDWR | O_CREAT | O_EXCL, 0640);

	CHECK(fd >= 0);
	CHECK(write(fd, "deep", 4) == 4);
	CHECK(pread(fd, text, sizeof(text), 0) == 4 && !strcmp(text, "deep"));
	CHECK(!ftruncate(fd, 2 * PAGE));
	map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED);
	map[PAGE] = 'x';
	CHECK(!msync(map, 2 * PAGE, MS_SYNC) && !munmap(map, 2 * PAGE));
	printf("attribute: %s\n", workload_outcome(fsetxattr(fd, "user.deep", "yes", 3, 0)));
	CHECK(!fsync(fd) && !close(fd));
	fd = openat(dir, "file", O_RDONLY);
	CHECK(fd >= 0 && read(fd, text, 4) == 4 && !close(fd));
}

static void use_names(int dir)
{
	struct stat stat;
	char text[64];

	CHECK(!linkat(dir, "file", dir, "again", 0));
	CHECK(!symlinkat("file", dir, "link") && readlinkat(dir, "link", text, sizeof(text)) == 4);
	CHECK(!fstatat(dir, "again", &stat, 0) && stat.st_nlink == 2 && stat.st_size == 2 * PAGE);
	CHECK(!fchmodat(dir, "file", 0600, 0));
	CHECK(!renameat(dir, "again", dir, "renamed"));
	CHECK(!mkdirat(dir, "empty", 0700) && !unlinkat(dir, "empty", AT_REMOVEDIR));
	CHECK(!mknodat(dir, "pipe", S_IFIFO | 0600, 0));
	CHECK_ERRNO(openat(dir, "nothing", O_RDONLY), ENOENT);
	CHECK_ERRNO(mkdirat(dir, "file", 0700), EEXIST);
	CHECK(!unlinkat(dir, "renamed", 0));
}

static void list(int dir)
{
	int copy = dup(dir), count = 0;
	DIR *stream = fdopendir(copy);

	CHECK(stream);
	rewinddir(stream);
	while (readdir(stream))
		count++;
	printf("%d entries\n", count);
	CHECK(!closedir(stream));
}

int main(int argc, char **argv)
{
	const char *directory = workload_options(argc, argv, "Use files with very long paths.", options);
	int dir = open(directory, O_RDONLY | O_DIRECTORY);
	long level;

	CHECK(dir >= 0);
	for (level = 0; level < depth; level++) {
		dir = go_down(dir, level);
		if (level % 30 == 29 || level == depth - 1) {
			use_file(dir);
			use_names(dir);
			list(dir);
		}
	}
	CHECK(!close(dir));
	return 0;
}
