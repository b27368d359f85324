// SPDX-License-Identifier: GPL-2.0-only
/*
 * attributes.c - calls on attributes, extended attributes and the file system.
 */
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

#include "calls.h"

static void changed(void)
{
	int fd = make_open("attributes"), place;

	CALL("chmod", chmod("attributes", 0640));
	CALL("fchmod", fchmod(fd, 0644));
	CALL("chown of a file", (void)!chown("attributes", 0, 0));
	CALL("chown of a directory", (void)!chown("old", 0, 0));
	CALL("fchown", (void)!fchown(fd, 0, 0));
	CALL("fchownat, empty path", (void)!fchownat(fd, "", 0, 0, AT_EMPTY_PATH));
	place = open("attributes", O_PATH);
	CALL("fchownat of O_PATH, empty path", (void)!fchownat(place, "", 0, 0, AT_EMPTY_PATH));
	close(place);
	CALL("utimensat", utimensat(AT_FDCWD, "attributes", NULL, 0));
	CALL("futimens", futimens(fd, NULL));
	CALL("truncate", (void)!truncate("attributes", 100));
	CALL("ftruncate", (void)!ftruncate(fd, 200));
	CALL("ftruncate, negative size (EINVAL)", (void)!ftruncate(fd, -1));
	CALL("umask", umask(022));
	close(fd);
	fd = open("attributes", O_RDONLY);
	CALL("ftruncate of a read-only handle (EINVAL)", (void)!ftruncate(fd, 200));
	close(fd);
}

static void asked(void)
{
	int fd = make_open("asked"), mount_id;
	struct statx statx_;
	struct statfs statfs_;
	struct stat stat;
	struct {
		struct file_handle handle;
		char room[128];
	} handle = { .handle.handle_bytes = 128 };

	CALL("fstat", fstat(fd, &stat));
	CALL("statx", statx(AT_FDCWD, "asked", 0, STATX_ALL, &statx_));
	CALL("statx, empty path", statx(fd, "", AT_EMPTY_PATH, STATX_ALL, &statx_));
	CALL("statfs", statfs("asked", &statfs_));
	CALL("fstatfs", fstatfs(fd, &statfs_));
	CALL("name_to_handle_at (EOPNOTSUPP)",
	     name_to_handle_at(AT_FDCWD, "asked", &handle.handle, &mount_id, 0));
	close(fd);
}

/* A file without a name, and a directory. */
static void asked_by_descriptor(void)
{
	int fd = make_open("removed"), dir = open("old", O_RDONLY | O_DIRECTORY);
	struct stat stat;

	MUST(!unlink("removed"));
	CALL("fstat of a removed file", fstat(fd, &stat));
	CALL("fchmod of a removed file", fchmod(fd, 0600));
	CALL("fstat of a directory", fstat(dir, &stat));
	close(fd);
	close(dir);
}

static void extended(void)
{
	/* user::rw- user:1000:r-- group::r-- mask::r-- other::--- */
	static const unsigned char acl[] = {
		2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 0xe8, 3, 0, 0, 4, 0, 4, 0,
		255, 255, 255, 255, 16, 0, 4, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255,
	};
	int fd = make_open("extended");
	char text[100];

	CALL("setxattr", setxattr("extended", "user.a", "value", 5, 0));
	CALL("fsetxattr", fsetxattr(fd, "user.b", "value", 5, 0));
	CALL("setxattr, XATTR_CREATE, there already", setxattr("extended", "user.a", "v", 1, XATTR_CREATE));
	CALL("setxattr, unknown namespace", setxattr("extended", "nowhere.a", "v", 1, 0));
	CALL("getxattr", getxattr("extended", "user.a", text, sizeof(text)));
	CALL("getxattr, not there", getxattr("extended", "user.c", text, sizeof(text)));
	CALL("getxattr, buffer too small", getxattr("extended", "user.a", text, 1));
	CALL("listxattr", listxattr("extended", text, sizeof(text)));
	CALL("removexattr", removexattr("extended", "user.a"));
	CALL("removexattr, not there", removexattr("extended", "user.a"));
	CALL("setxattr of an access control list",
	     setxattr("extended", "system.posix_acl_access", acl, sizeof(acl), 0));
	CALL("getxattr of an access control list",
	     getxattr("extended", "system.posix_acl_access", text, sizeof(text)));
	CALL("removexattr of an access control list", removexattr("extended", "system.posix_acl_access"));
	close(fd);
}

static void controlled(void)
{
	int fd = make_open("controlled"), other = make_open("other"), value;
	struct fsxattr numbers;
	long flags = 0;
	struct {
		unsigned long long start, length;
		unsigned int flags, mapped, count, reserved;
	} fiemap = { .length = 4096 };

	CALL("ioctl FIONREAD", ioctl(fd, FIONREAD, &value));
	CALL("ioctl FIGETBSZ", ioctl(fd, FIGETBSZ, &value));
	CALL("ioctl FS_IOC_GETFLAGS", ioctl(fd, FS_IOC_GETFLAGS, &flags));
	CALL("ioctl FS_IOC_SETFLAGS", ioctl(fd, FS_IOC_SETFLAGS, &flags));
	CALL("ioctl FS_IOC_FSGETXATTR", ioctl(fd, FS_IOC_FSGETXATTR, &numbers));
	CALL("ioctl FS_IOC_FSSETXATTR", ioctl(fd, FS_IOC_FSSETXATTR, &numbers));
	CALL("ioctl FS_IOC_FIEMAP", ioctl(fd, 0xc020660bUL, &fiemap));
	CALL("ioctl FICLONE, not supported", ioctl(other, FICLONE, fd));
	CALL("ioctl of the file system (FS_IOC_GETVERSION)", ioctl(fd, FS_IOC_GETVERSION, &flags));
	CALL("unknown ioctl (TCGETS)", ioctl(fd, 0x5401UL, fiemap));
	close(fd);
	close(other);
}

void calls_of_attributes(void)
{
	changed();
	asked();
	asked_by_descriptor();
	extended();
	controlled();
}
