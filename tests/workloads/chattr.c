// SPDX-License-Identifier: GPL-2.0-only
/*
 * chattr.c - a workload: flags of files, as chattr(1) and lsattr(1) set and read them.
 *
 * The files that remain have flags, for comparison. With --leave they also have flags that forbid
 * changes; a clean-up has to clear these first.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "workload.h"

static bool leaves;

static const struct workload_option options[] = {
	{ .name = "leave", .flag = &leaves, .sentence = "leave files that may not be changed" },
	{}
};

static int open_to(const char *path, int flags)
{
	int fd = open(path, flags, 0640);

	CHECK(fd >= 0);
	return fd;
}

static void make_file(const char *path)
{
	int fd = open_to(path, O_CREAT | O_EXCL | O_WRONLY);

	CHECK(write(fd, "0123456789", 10) == 10);
	CHECK(!close(fd));
}

static int flags_of(int fd)
{
	int flags = 0;

	CHECK(!ioctl(fd, FS_IOC_GETFLAGS, &flags));
	return flags;
}

static void change(const char *path, int without, int with)
{
	int fd = open_to(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
	int flags = (flags_of(fd) & ~without) | with;

	CHECK(!ioctl(fd, FS_IOC_SETFLAGS, &flags));
	CHECK((flags_of(fd) & (without | with)) == with);
	CHECK(!close(fd));
}

static void on_files(void)
{
	int fd;

	make_file("file");
	change("file", 0, FS_NODUMP_FL | FS_NOATIME_FL | FS_SYNC_FL);
	change("file", FS_SYNC_FL, 0);

	make_file("log");
	change("log", 0, FS_APPEND_FL);
	CHECK_ERRNO(open("log", O_WRONLY), EPERM);
	CHECK_ERRNO(truncate("log", 3), EPERM);
	fd = open_to("log", O_WRONLY | O_APPEND);
	CHECK(write(fd, "more", 4) == 4);
	CHECK(!close(fd));
	change("log", FS_APPEND_FL, 0);
	CHECK(!truncate("log", 12));

	make_file("fixed");
	fd = open_to("fixed", O_WRONLY);
	change("fixed", 0, FS_IMMUTABLE_FL);
	CHECK_ERRNO(open("fixed", O_WRONLY), EPERM);
	CHECK_ERRNO(unlink("fixed"), EPERM);
	CHECK_ERRNO(link("fixed", "other"), EPERM);
	CHECK_ERRNO(chmod("fixed", 0600), EPERM);
	change("fixed", FS_IMMUTABLE_FL, 0);
	CHECK(write(fd, "again", 5) == 5);
	CHECK(!close(fd));
	CHECK(!rename("fixed", "free"));
}

/* An unnamed file, accessed by its handle. */
static void on_handles(void)
{
	int fd, flags;

	make_file("gone");
	fd = open_to("gone", O_RDWR);
	CHECK(!unlink("gone"));
	flags = flags_of(fd) | FS_NODUMP_FL;
	CHECK(!ioctl(fd, FS_IOC_SETFLAGS, &flags));
	CHECK(flags_of(fd) & FS_NODUMP_FL);
	CHECK(!close(fd));
}

static void on_directories(void)
{
	int fd;

	CHECK(!mkdir("dir", 0750));
	change("dir", 0, FS_DIRSYNC_FL | FS_NOATIME_FL);
	CHECK(!mkdir("dir/sub", 0750));
	fd = open_to("dir/sub", O_RDONLY);
	CHECK(flags_of(fd) & FS_NOATIME_FL);
	CHECK(!close(fd));
	make_file("dir/file");

	CHECK(!mkdir("closed", 0750));
	make_file("closed/file");
	change("closed", 0, FS_APPEND_FL);
	make_file("closed/more");
	CHECK_ERRNO(unlink("closed/file"), EPERM);
	change("closed", FS_APPEND_FL, FS_IMMUTABLE_FL);
	CHECK_ERRNO(open("closed/another", O_CREAT | O_WRONLY, 0600), EPERM);
	change("closed", FS_IMMUTABLE_FL, 0);
	CHECK(!unlink("closed/file"));
}

static void with_numbers(void)
{
	struct fsxattr attr;
	int fd;

	make_file("numbers");
	fd = open_to("numbers", O_RDWR);
	CHECK(!ioctl(fd, FS_IOC_FSGETXATTR, &attr));
	attr.fsx_xflags |= FS_XFLAG_NOATIME;
	CHECK(!ioctl(fd, FS_IOC_FSSETXATTR, &attr));
	CHECK(flags_of(fd) & FS_NOATIME_FL);
	attr.fsx_projid = 77;
	printf("a project: %s\n", workload_outcome(ioctl(fd, FS_IOC_FSSETXATTR, &attr)));
	CHECK(!close(fd));
}

static void leave(void)
{
	CHECK(!mkdir("left", 0750) && !mkdir("left/below", 0750));
	make_file("left/below/fixed");
	make_file("left/log");
	change("left/below/fixed", 0, FS_IMMUTABLE_FL);
	change("left/log", 0, FS_APPEND_FL);
	change("left/below", 0, FS_IMMUTABLE_FL);
	change("left", 0, FS_APPEND_FL);
	change(".", 0, FS_IMMUTABLE_FL);
}

int main(int argc, char **argv)
{
	const char *directory = workload_options(argc, argv, "Flags of files.", options);

	umask(027);
	CHECK(!chdir(directory));
	on_files();
	on_handles();
	on_directories();
	with_numbers();
	if (leaves)
		leave();
	printf("flags are right\n");
	return 0;
}
