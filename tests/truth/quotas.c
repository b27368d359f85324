// SPDX-License-Identifier: GPL-2.0-only
/*
 * quotas.c - quotas of a file system: limits, usage, and behaviour at the limit.
 *
 *	quotas limit DEVICE user|project ID BLOCKS FILES   sets a limit (quotactl(2)), in KiB and files
 *	quotas use-files DIRECTORY                         reaches the limits of its caller there
 *	quotas use-blocks DIRECTORY
 *	quotas ask DIRECTORY USER PROJECT                  queries and changes quotas by the directory (quotactl_fd(2))
 *
 * All forms except the first print a line for each result, to be the same on a bare directory and under tapefs.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dqblk_xfs.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/quota.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workloads/workload.h"

#define BLOCK_BYTES 65536

/* Missing in some headers. */
#ifndef PRJQUOTA
#define PRJQUOTA 2
#endif
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif

static int limit(const char *device, const char *type, const char *id, const char *kib, const char *files)
{
	struct dqblk quota = {
		.dqb_bhardlimit = strtoul(kib, NULL, 10), /* in units of 1 KiB */
		.dqb_ihardlimit = strtoul(files, NULL, 10),
		.dqb_valid = QIF_LIMITS,
	};
	int command = QCMD(Q_SETQUOTA, strcmp(type, "project") ? USRQUOTA : PRJQUOTA);

	CHECK(!quotactl(command, device, atoi(id), (void *)&quota));
	return 0;
}

/* -- at the limit ---------------------------------------------------------------------- */

static void say(const char *what, long result)
{
	printf("%s: %s", what, workload_outcome(result));
	if (result > 0)
		printf(", %ld", result);
	printf("\n");
}

static int make(const char *name, int flags)
{
	int fd = open(name, O_CREAT | O_EXCL | O_RDWR | flags, 0600);

	CHECK(fd >= 0);
	return fd;
}

/* Writes until the limit is reached. */
static void fill(const char *what, int fd, int flags)
{
	static char data[BLOCK_BYTES] __attribute__((aligned(BLOCK_BYTES)));
	long written, all = 0;

	while ((written = write(fd, data, sizeof(data))) > 0)
		all += written;
	printf("%s: %s after %ld bytes%s\n", what, workload_outcome(written), all, flags & O_DIRECT ? ", direct" : "");
	say("fsync", fsync(fd));
}

static void fill_by(const char *what, int flags)
{
	int fd = make(what, flags);

	fill(what, fd, flags);
	CHECK(!close(fd) && !unlink(what));
}

static sigjmp_buf killed;

static void note_signal(int signal)
{
	(void)signal;
	siglongjmp(killed, 1);
}

/* A mapping of a file without blocks: a write to a page allocates one. */
static void fill_by_mapping(void)
{
	const long bytes = 4L << 20;
	volatile long at = 0;
	int fd = make("mapped", 0);
	char *map;

	CHECK(!ftruncate(fd, bytes));
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED);
	signal(SIGBUS, note_signal);
	if (!sigsetjmp(killed, 1))
		for (; at < bytes; at += 4096)
			map[at] = 'x';
	printf("a mapping: %s\n", at < bytes ? "SIGBUS before all data is written" : "all data is written");
	say("msync", msync(map, bytes, MS_SYNC));
	CHECK(!munmap(map, bytes) && !close(fd) && !unlink("mapped"));
}

static void fill_by_fallocate(void)
{
	int fd = make("reserved", 0);

	say("fallocate of much", fallocate(fd, 0, 0, 16L << 20));
	say("fallocate of little", fallocate(fd, 0, 0, BLOCK_BYTES));
	CHECK(!close(fd) && !unlink("reserved"));
}

static void fill_by_names(void)
{
	char name[32];
	int i, fd = 0, made;

	for (made = 0; made < 100 && fd >= 0; made++) {
		sprintf(name, "name%d", made);
		fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (fd >= 0)
			close(fd);
	}
	say("open", fd);
	printf("names: %d\n", made - 1);
	say("mkdir", mkdir("dir", 0700));
	say("symlink", symlink("x", "link"));
	say("mknod", mknod("pipe", S_IFIFO | 0600, 0));
	say("O_TMPFILE", open(".", O_TMPFILE | O_RDWR, 0600));
	say("link", link("name0", "linked"));
	say("rename", rename("name0", "renamed"));
	for (i = 1; i < made - 1; i++) {
		sprintf(name, "name%d", i);
		CHECK(!unlink(name));
	}
	CHECK(!unlink("renamed") && !unlink("linked"));
}

/* XFS may count a removed file for a while, so the two use different users. */
static int use_files(const char *directory)
{
	CHECK(!chdir(directory));
	fill_by_names();
	return 0;
}

static int use_blocks(const char *directory)
{
	CHECK(!chdir(directory));
	fill_by("written", 0);
	fill_by("written directly", O_DIRECT);
	fill_by("appended to", O_APPEND);
	fill_by_mapping();
	fill_by_fallocate();
	return 0;
}

/* -- queries by the directory -------------------------------------------------------------- */

static long ask_for(int fd, int command, int type, int id, void *data)
{
	return syscall(SYS_quotactl_fd, fd, QCMD(command, type), id, data);
}

static void ask_type(int fd, const char *what, int type, int id)
{
	struct dqblk quota = { 0 };
	struct dqinfo info = { 0 };
	struct fs_quota_statv state = { .qs_version = FS_QSTATV_VERSION1 };
	unsigned int types = 0;
	int next[32] = { 0 };

	printf("-- %s\n", what);
	say("Q_GETINFO", ask_for(fd, Q_GETINFO, type, 0, &info));
	printf("%lu s for blocks, %lu for files, flags %x\n", (long)info.dqi_bgrace, (long)info.dqi_igrace,
	       info.dqi_flags);
	say("Q_GETQUOTA", ask_for(fd, Q_GETQUOTA, type, id, &quota));
	printf("limits %lu, %lu, used %lu, %lu\n", (long)quota.dqb_bhardlimit, (long)quota.dqb_ihardlimit,
	       (long)quota.dqb_curspace, (long)quota.dqb_curinodes);
	say("Q_GETNEXTQUOTA", ask_for(fd, Q_GETNEXTQUOTA, type, id - 1, next));
	quota.dqb_ihardlimit++;
	quota.dqb_valid = QIF_ILIMITS;
	say("Q_SETQUOTA", ask_for(fd, Q_SETQUOTA, type, id, &quota));
	say("Q_GETQUOTA", ask_for(fd, Q_GETQUOTA, type, id, &quota));
	printf("limits %lu, %lu\n", (long)quota.dqb_bhardlimit, (long)quota.dqb_ihardlimit);
	quota.dqb_ihardlimit--;
	quota.dqb_valid = QIF_ILIMITS;
	say("Q_SETQUOTA, back", ask_for(fd, Q_SETQUOTA, type, id, &quota));
	info.dqi_bgrace++;
	info.dqi_valid = IIF_BGRACE;
	say("Q_SETINFO", ask_for(fd, Q_SETINFO, type, 0, &info));
	info.dqi_bgrace--;
	say("Q_SETINFO, back", ask_for(fd, Q_SETINFO, type, 0, &info));
	say("Q_SYNC", ask_for(fd, Q_SYNC, type, 0, NULL));
	say("Q_XGETQSTATV", ask_for(fd, Q_XGETQSTATV, type, 0, &state));
	printf("flags %x\n", state.qs_flags);
	say("Q_QUOTAON", ask_for(fd, Q_QUOTAON, type, QFMT_VFS_V1, NULL));
	say("Q_XQUOTARM", ask_for(fd, Q_XQUOTARM, type, 0, &types));
	say("to a bad address", ask_for(fd, Q_GETQUOTA, type, id, (void *)16));
}

/* Off and on again, if the file system supports it. */
static void switch_type(int fd, int type)
{
	unsigned int limits = type == USRQUOTA ? FS_QUOTA_UDQ_ENFD : FS_QUOTA_PDQ_ENFD;

	say("Q_QUOTAOFF", ask_for(fd, Q_QUOTAOFF, type, 0, NULL));
	say("Q_QUOTAOFF, once more", ask_for(fd, Q_QUOTAOFF, type, 0, NULL));
	say("Q_QUOTAON", ask_for(fd, Q_QUOTAON, type, QFMT_VFS_V1, NULL));
	say("Q_XQUOTAOFF", ask_for(fd, Q_XQUOTAOFF, type, 0, &limits));
	say("Q_XQUOTAON", ask_for(fd, Q_XQUOTAON, type, 0, &limits));
}

static int ask(const char *directory, const char *user, const char *project)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY);

	CHECK(fd >= 0);
	ask_type(fd, "users", USRQUOTA, atoi(user));
	ask_type(fd, "projects", PRJQUOTA, atoi(project));
	ask_type(fd, "an invalid type", 7, 0);
	switch_type(fd, USRQUOTA);
	switch_type(fd, PRJQUOTA);
	CHECK(!seteuid(1000));
	ask_type(fd, "not as root", USRQUOTA, 0);
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 7 && !strcmp(argv[1], "limit"))
		return limit(argv[2], argv[3], argv[4], argv[5], argv[6]);
	if (argc == 3 && !strcmp(argv[1], "use-files"))
		return use_files(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "use-blocks"))
		return use_blocks(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "ask"))
		return ask(argv[2], argv[3], argv[4]);
	fprintf(stderr, "usage: quotas limit DEVICE user|project ID BLOCKS FILES | "
			"use-files DIRECTORY | use-blocks DIRECTORY | ask DIRECTORY USER PROJECT\n");
	return 2;
}
