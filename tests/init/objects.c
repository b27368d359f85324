// SPDX-License-Identifier: GPL-2.0-only
/*
 * objects.c - one object of each type, and operations that a shell does not have.
 *
 *	objects make DIR		creates one of each type, as far as this user may
 *	objects xattr FILE NAME VALUE	sets an extended attribute
 *	objects unxattr FILE NAME	removes one
 *	objects swap A B		exchanges two names repeatedly, until killed
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

static void fail(const char *what)
{
	fprintf(stderr, "objects: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Data of these lengths, with holes as long between; the file ends with one. */
static void make_file(const char *name, const size_t *lengths, size_t count, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	size_t i, done;

	if (fd < 0)
		fail(name);
	for (i = 0; i < count; i++) {
		char *data = malloc(lengths[i]);

		memset(data, 'a' + (int)i, lengths[i]);
		for (done = 0; done < lengths[i];) {
			ssize_t n = write(fd, data + done, lengths[i] - done);

			if (n <= 0)
				fail(name);
			done += (size_t)n;
		}
		free(data);
		if (count > 1 && lseek(fd, (off_t)lengths[i], SEEK_CUR) < 0)
			fail(name);
	}
	if (ftruncate(fd, lseek(fd, 0, SEEK_CUR)) || fchmod(fd, mode) || fsync(fd) || close(fd))
		fail(name);
}

static void check(int result, const char *what)
{
	if (result)
		fail(what);
}

static void make_files(void)
{
	static const size_t none[] = { 0 }, some[] = { 5 }, large[] = { 1500000 };
	static const size_t sparse[] = { 65536, 131072, 1 << 20 };

	make_file("empty", none, 1, 0644);
	make_file("small", some, 1, 0600);
	make_file("large", large, 1, 0644);
	make_file("sparse", sparse, 3, 0640);
	make_file("readonly", some, 1, 0444);
	make_file("setuid", some, 1, 04755);
	make_file("secret", some, 1, 0);
	make_file("with blank", some, 1, 0644);
	make_file("\377\001\\bytes\n", some, 1, 0644);
	check(truncate("empty", 0), "empty");
	make_file("hole", none, 1, 0644);
	check(truncate("hole", 3 << 20), "hole");
}

static void make_names(void)
{
	static const size_t some[] = { 7000 };
	int i;

	check(mkdir("dir", 0755), "dir");
	check(mkdir("dir/below", 0755), "dir/below");
	check(mkdir("dir/below/deep", 0755), "dir/below/deep");
	make_file("dir/below/file", some, 1, 0644);
	make_file("dir/below/deep/file", some, 1, 0644);
	check(link("dir/below/file", "dir/again"), "dir/again");
	check(link("dir/below/file", "zz"), "zz");
	check(link("small", "another"), "another");
	check(mkdir("sticky", 01777), "sticky");
	check(mkdir("closed", 0755), "closed");
	make_file("closed/file", some, 1, 0644);
	check(chmod("closed", 0555), "closed");
	check(mkdir("shut", 0755), "shut");
	make_file("shut/file", some, 1, 0644);
	check(mkdir("shut/dir", 0755), "shut/dir");
	check(chmod("shut", 0), "shut");
	check(symlink("dir/below", "link"), "link");
	check(symlink("/nowhere/at all", "dangling"), "dangling");
	check(link("dangling", "dangling too"), "dangling too");
	check(mkfifo("fifo", 0620), "fifo");
	check(mknod("socket", S_IFSOCK | 0755, 0), "socket");
	check(mkdir("many", 0755), "many");
	for (i = 0; i < 40; i++) {
		char name[32];

		snprintf(name, sizeof(name), "many/%d", i);
		make_file(name, some, 1, 0644);
	}
}

static void set(const char *file, const char *name, const void *value, size_t bytes)
{
	if (lsetxattr(file, name, value, bytes, 0))
		fail(name);
}

static void make_xattrs(void)
{
	static char long_value[1000];

	set("small", "user.one", "1", 1);
	set("small", "user.zeros", "a\0b\0", 4);
	set("small", "user.empty", "", 0);
	set("dir", "user.of a directory", "yes", 3);
	memset(long_value, 0xfe, sizeof(long_value));
	set("large", "user.long", long_value, sizeof(long_value));
	if (geteuid())
		return;
	set("dangling", "trusted.of a link", "yes", 3);
	set("fifo", "trusted.of a fifo", "yes", 3);
}

static void make_all(void)
{
	make_files();
	make_names();
	make_xattrs();
	if (geteuid())
		return;
	check(chown("small", 1, 2), "small");
	check(lchown("link", 3, 4), "link");
	check(chown("dir/below", 5, 6), "dir/below");
	check(chown("setuid", 7, 8) || chmod("setuid", 06755), "setuid");
	check(mknod("block", S_IFBLK | 0660, makedev(7, 300)), "block");
	check(mknod("character", S_IFCHR | 0666, makedev(1, 3)), "character");
}

int main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[1] : "";

	umask(022);
	if (!strcmp(verb, "make")) {
		check(chdir(argv[2]), argv[2]);
		make_all();
	} else if (!strcmp(verb, "xattr") && argc == 5) {
		set(argv[2], argv[3], argv[4], strlen(argv[4]));
	} else if (!strcmp(verb, "unxattr") && argc == 4) {
		check(lremovexattr(argv[2], argv[3]), argv[3]);
	} else if (!strcmp(verb, "swap") && argc == 4) {
		for (;;) /* a name may be missing temporarily */
			renameat2(AT_FDCWD, argv[2], AT_FDCWD, argv[3], RENAME_EXCHANGE);
	} else {
		fprintf(stderr, "usage: objects make|xattr|unxattr|swap ...\n");
		return 2;
	}
	return 0;
}
