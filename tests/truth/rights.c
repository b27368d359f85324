// SPDX-License-Identifier: GPL-2.0-only
/*
 * rights.c - the rights of programs and the results of ioctls, for tests/truth/rights.
 *
 *	rights rights				prints its ids and capabilities
 *	rights exec-descriptor FILE		executes a program by a descriptor, which prints the same
 *	rights read FILE			reads a byte
 *	rights read-descriptor FILE		reads a byte of a file opened through an O_PATH descriptor
 *	rights map FILE				maps a file for execution, and for reading before making it executable
 *	rights access FILE...			prints the results of access(2)
 *	rights mount-flags DIRECTORY [keep+]N	sets nosymfollow of its mount if N is not 0, otherwise clears it
 *	rights fill FILE			writes 64 KiB of different lines
 *	rights ioctls DIRECTORY			makes ioctls, most of which change something
 *	rights state DIRECTORY			prints the attributes that they change
 *	rights remounted DIRECTORY		makes one by a descriptor from before its mount becomes read-only
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/mount.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MOUNT_ATTR_NOSYMFOLLOW
#define MOUNT_ATTR_NOSYMFOLLOW 0x00200000
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

extern char **environ;

static int said(const char *what, long result)
{
	printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "done");
	return 0;
}

static int show_rights(void)
{
	char line[256];
	FILE *status = fopen("/proc/self/status", "r");

	printf("uid %u gid %u\n", geteuid(), getegid());
	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "CapEff", 6))
			fputs(line, stdout);
	return 0;
}

static int exec_descriptor(const char *path)
{
	char *const argv[] = { (char *)path, "rights", NULL };
	int fd = open(path, O_PATH);

	syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
	return said("execveat", -1);
}

static int read_byte(const char *path, bool is_by_place)
{
	char name[64], byte;
	int fd;

	if (is_by_place) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", open(path, O_PATH));
		path = name;
	}
	fd = open(path, O_RDONLY);
	said("open", fd);
	return said("read", fd < 0 ? -1 : read(fd, &byte, 1));
}

static int map(const char *path)
{
	int fd = open(path, O_RDONLY);
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	said("map to execute", p == MAP_FAILED ? -1 : 0);
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	said("map to read", p == MAP_FAILED ? -1 : 0);
	return said("make executable", mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int show_access(char **paths)
{
	for (; *paths; paths++) {
		printf("%s ", *paths);
		said("x", access(*paths, X_OK));
		said("w", access(*paths, W_OK));
		said("r", access(*paths, R_OK));
	}
	return 0;
}

static int set_flags(const char *dir, const char *wanted)
{
	struct mount_attr attr = { 0 };

	if (atoi(strncmp(wanted, "keep+", 5) ? wanted : wanted + 5))
		attr.attr_set = MOUNT_ATTR_NOSYMFOLLOW;
	else
		attr.attr_clr = MOUNT_ATTR_NOSYMFOLLOW;
	if (syscall(SYS_mount_setattr, AT_FDCWD, dir, 0, &attr, sizeof(attr))) {
		perror("mount_setattr");
		return 1;
	}
	return 0;
}

static int fill(const char *path)
{
	FILE *file = fopen(path, "w");
	int i;

	for (i = 0; file && i < 8192; i++)
		fprintf(file, "%7d\n", i);
	return !file || fclose(file);
}

/* -- ioctls --------------------------------------------------------------------------------- */

static int dir_fd, file_fd, other_fd;

static void try_ioctl(const char *what, int fd, unsigned long command, void *argument)
{
	said(what, ioctl(fd, command, argument));
}

/* ioctls of several file systems. */
static void try_generic(void)
{
	struct fsxattr xattr = { 0 };
	struct fstrim_range trim = { .len = -1ULL };
	struct fscrypt_policy_v1 policy = { .version = FSCRYPT_POLICY_V1,
					    .contents_encryption_mode = FSCRYPT_MODE_AES_256_XTS,
					    .filenames_encryption_mode = FSCRYPT_MODE_AES_256_CTS };
	struct fsverity_enable_arg verity = { .version = 1, .hash_algorithm = FS_VERITY_HASH_ALG_SHA256,
					      .block_size = 4096 };
	long flags = FS_NOATIME_FL, version = 4711, size = 0;
	char label[256] = "changed";
	union {
		struct file_dedupe_range range;
		char room[sizeof(struct file_dedupe_range) + sizeof(struct file_dedupe_range_info)];
	} dedupe = { .range = { .src_length = 65536, .dest_count = 1 } };

	try_ioctl("FS_IOC_GETFLAGS", file_fd, FS_IOC_GETFLAGS, &size);
	try_ioctl("FS_IOC_GETVERSION", file_fd, FS_IOC_GETVERSION, &size);
	try_ioctl("FIGETBSZ", file_fd, FIGETBSZ, &size);
	try_ioctl("TCGETS", file_fd, 0x5401, label + 64);
	try_ioctl("FS_IOC_SETFLAGS", file_fd, FS_IOC_SETFLAGS, &flags);
	xattr.fsx_xflags = FS_XFLAG_NODUMP;
	try_ioctl("FS_IOC_FSSETXATTR", file_fd, FS_IOC_FSSETXATTR, &xattr);
	try_ioctl("FS_IOC_SETVERSION", file_fd, FS_IOC_SETVERSION, &version);
	try_ioctl("FITRIM", dir_fd, FITRIM, &trim);
	try_ioctl("FICLONE", other_fd, FICLONE, (void *)(long)file_fd);
	dedupe.range.info[0].dest_fd = other_fd;
	try_ioctl("FIDEDUPERANGE", file_fd, FIDEDUPERANGE, &dedupe);
	printf("deduplicated: %d\n", dedupe.range.info[0].status);
	try_ioctl("FS_IOC_SETFSLABEL", dir_fd, FS_IOC_SETFSLABEL, label);
	try_ioctl("FS_IOC_SET_ENCRYPTION_POLICY", dir_fd, FS_IOC_SET_ENCRYPTION_POLICY, &policy);
	try_ioctl("FS_IOC_ENABLE_VERITY", other_fd, FS_IOC_ENABLE_VERITY, &verity);
}

/* ioctls of ext4, XFS and f2fs that no header defines, by number. */
static void try_own(void)
{
	static const struct {
		const char *what;
		unsigned long command;
	} with_number[] = {
		{ "EXT4_IOC_SETVERSION", _IOW('f', 4, long) },
		{ "EXT4_IOC_GROUP_EXTEND", _IOW('f', 7, unsigned long) },
		{ "EXT4_IOC_MIGRATE", _IO('f', 9) },
		{ "EXT4_IOC_ALLOC_DA_BLKS", _IO('f', 12) },
		{ "EXT4_IOC_RESIZE_FS", _IOW('f', 16, uint64_t) },
		{ "EXT4_IOC_SWAP_BOOT", _IO('f', 17) },
		{ "EXT4_IOC_PRECACHE_EXTENTS", _IO('f', 18) },
		{ "EXT4_IOC_CHECKPOINT", _IOW('f', 43, uint32_t) },
		{ "XFS_IOC_FREESP64", _IOW('X', 37, char[48]) },
		{ "XFS_IOC_UNRESVSP64", _IOW('X', 43, char[48]) },
		{ "XFS_IOC_FSGROWFSLOG", _IOW('X', 111, char[8]) },
		{ "XFS_IOC_FREE_EOFBLOCKS", _IOR('X', 58, char[128]) },
		{ "F2FS_IOC_START_ATOMIC_WRITE", _IO(0xf5, 1) },
		{ "F2FS_IOC_GARBAGE_COLLECT", _IOW(0xf5, 6, uint32_t) },
		{ "F2FS_IOC_WRITE_CHECKPOINT", _IO(0xf5, 7) },
		{ "F2FS_IOC_SET_PIN_FILE", _IOW(0xf5, 13, uint32_t) },
		{ "F2FS_IOC_DECOMPRESS_FILE", _IO(0xf5, 23) },
	};
	uint64_t number[16];
	size_t i;

	for (i = 0; i < sizeof(with_number) / sizeof(with_number[0]); i++) {
		memset(number, 0, sizeof(number));
		try_ioctl(with_number[i].what, file_fd, with_number[i].command, number);
	}
}

static void try_btrfs(const char *dir)
{
	struct btrfs_ioctl_vol_args args = { .fd = dir_fd };
	struct btrfs_ioctl_defrag_range_args range = { .len = -1ULL };
	uint64_t flags = BTRFS_SUBVOL_RDONLY;
	char path[4096];
	int volume_fd;

	snprintf(path, sizeof(path), "%s/volume", dir);
	volume_fd = open(path, O_RDONLY);
	if (volume_fd < 0)
		return;
	strcpy(args.name, "made");
	try_ioctl("BTRFS_IOC_SUBVOL_CREATE", dir_fd, BTRFS_IOC_SUBVOL_CREATE, &args);
	try_ioctl("BTRFS_IOC_SUBVOL_SETFLAGS", volume_fd, BTRFS_IOC_SUBVOL_SETFLAGS, &flags);
	try_ioctl("BTRFS_IOC_DEFRAG", file_fd, BTRFS_IOC_DEFRAG, NULL);
	try_ioctl("BTRFS_IOC_DEFRAG_RANGE", file_fd, BTRFS_IOC_DEFRAG_RANGE, &range);
	strcpy(args.name, "volume");
	try_ioctl("BTRFS_IOC_SNAP_DESTROY", dir_fd, BTRFS_IOC_SNAP_DESTROY, &args);
	strcpy(args.name, "max");
	try_ioctl("BTRFS_IOC_RESIZE", dir_fd, BTRFS_IOC_RESIZE, &args);
	try_ioctl("BTRFS_IOC_SYNC", dir_fd, BTRFS_IOC_SYNC, NULL);
	close(volume_fd);
}

static int open_below(const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return open(path, O_RDONLY);
}

static int try_ioctls(const char *dir)
{
	dir_fd = open(dir, O_RDONLY);
	file_fd = open_below(dir, "file");
	other_fd = open_below(dir, "same");
	try_generic();
	try_own();
	try_btrfs(dir);
	dir_fd = open_below(dir, "dir");
	try_generic();
	return 0;
}

static int show_state(const char *dir)
{
	long flags = 0, version = 0;
	char label[256] = "";

	file_fd = open_below(dir, "file");
	ioctl(file_fd, FS_IOC_GETFLAGS, &flags);
	ioctl(file_fd, FS_IOC_GETVERSION, &version);
	ioctl(file_fd, FS_IOC_GETFSLABEL, label);
	printf("flags %lx version is 4711: %d label %s\n", flags & FS_NOATIME_FL, version == 4711, label);
	return 0;
}

/* Remounts the file system of @dir read-only, permanently. */
static int remounted(const char *dir)
{
	struct btrfs_ioctl_vol_args args = { .name = "made" };
	long version = 1;

	dir_fd = open(dir, O_RDONLY);
	file_fd = open_below(dir, "file");
	if (mount(NULL, dir, NULL, MS_REMOUNT | MS_RDONLY, NULL)) {
		perror("remount");
		return 1;
	}
	try_ioctl("FS_IOC_SETVERSION", file_fd, FS_IOC_SETVERSION, &version);
	try_ioctl("BTRFS_IOC_SUBVOL_CREATE", dir_fd, BTRFS_IOC_SUBVOL_CREATE, &args);
	try_ioctl("F2FS_IOC_GARBAGE_COLLECT", file_fd, _IOW(0xf5, 6, uint32_t), &args);
	version = FS_NOATIME_FL;
	try_ioctl("FS_IOC_SETFLAGS", file_fd, FS_IOC_SETFLAGS, &version);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "rights"))
		return show_rights();
	if (argc < 3)
		return 2;
	if (!strcmp(what, "exec-descriptor"))
		return exec_descriptor(argv[2]);
	if (!strcmp(what, "read") || !strcmp(what, "read-descriptor"))
		return read_byte(argv[2], what[4] == '-');
	if (!strcmp(what, "map"))
		return map(argv[2]);
	if (!strcmp(what, "access"))
		return show_access(argv + 2);
	if (!strcmp(what, "mount-flags") && argc > 3)
		return set_flags(argv[2], argv[3]);
	if (!strcmp(what, "fill"))
		return fill(argv[2]);
	if (!strcmp(what, "ioctls"))
		return try_ioctls(argv[2]);
	if (!strcmp(what, "state"))
		return show_state(argv[2]);
	return strcmp(what, "remounted") ? 2 : remounted(argv[2]);
}
