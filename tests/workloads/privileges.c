// SPDX-License-Identifier: GPL-2.0-only
/*
 * privileges.c - a workload: creates objects that grant rights to every user with access: device nodes,
 * set-user-ID and set-group-ID files, capabilities, labels; in all possible ways. To be run by root.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "workload.h"

#define MEMORY makedev(1, 1)
#define DISK   makedev(8, 1)

static const struct workload_option options[] = { {} };

static int open_new(const char *path, mode_t mode)
{
	int fd = open(path, O_CREAT | O_EXCL | O_RDWR, mode);

	CHECK(fd >= 0);
	return fd;
}

static void make(const char *path, mode_t mode)
{
	CHECK(!close(open_new(path, mode)));
}

static void nodes(void)
{
	CHECK(!mknod("memory", S_IFCHR | 0666, MEMORY));
	CHECK(!mknod("disk", S_IFBLK | 0666, DISK));
	CHECK(!chmod("disk", 0644));
	CHECK(!mknod("removed", S_IFCHR | 0600, 0));
	CHECK(!mknod("pipe", S_IFIFO | 06622, 0));
	CHECK(!mknod("node", S_IFREG | 06755, 0));
}

static void modes(void)
{
	int fd;

	make("user", 04755);
	make("group", 02755);
	make("changed", 0644);
	CHECK(!chmod("changed", 06777));
	fd = open_new("handle", 0600);
	CHECK(!fchmod(fd, 04711));
	CHECK(!close(fd));
	fd = open(".", O_TMPFILE | O_RDWR, 06755);
	CHECK(fd >= 0);
	CHECK(!linkat(fd, "", AT_FDCWD, "nameless", AT_EMPTY_PATH));
	CHECK(!close(fd));
	CHECK(!mkdir("directory", 0755));
	CHECK(!chmod("directory", 02777));
	CHECK(!chmod("directory", 03775));
	CHECK(!symlink("/dev/null", "link"));
}

static void values(void)
{
	const struct vfs_cap_data caps = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data = { { .permitted = 1 << CAP_DAC_OVERRIDE | 1 << CAP_SETUID } },
	};
	char value[64];

	make("capable", 0755);
	CHECK(!setxattr("capable", "security.capability", &caps, XATTR_CAPS_SZ_2, 0));
	CHECK(getxattr("capable", "security.capability", value, sizeof(value)) == XATTR_CAPS_SZ_2);
	CHECK(!setxattr("capable", "security.iotape", "label", 5, XATTR_CREATE));
	CHECK(getxattr("capable", "security.iotape", value, sizeof(value)) == 5);
	printf("trusted: %s\n", workload_outcome(setxattr("capable", "trusted.iotape", "known", 5, 0)));
	make("emptied", 0755);
	CHECK(!setxattr("emptied", "security.capability", &caps, XATTR_CAPS_SZ_2, 0));
	CHECK(!removexattr("emptied", "security.capability"));
}

/* A change of owner clears privileges, and so does a write by a user without CAP_FSETID. */
static void taken_away(void)
{
	make("given", 06755);
	CHECK(!chown("given", 1000, 1000));
	CHECK(!chmod("given", 04755));
	CHECK(!truncate("given", 10));
}

int main(int argc, char **argv)
{
	CHECK(!chdir(workload_options(argc, argv, "Make what gives rights.", options)));
	umask(0);
	nodes();
	modes();
	values();
	taken_away();
	return 0;
}
