// SPDX-License-Identifier: GPL-2.0-only
/*
 * calibrate.c - the time that recorded operations take outside of their records.
 *
 * A record covers an operation from its entry into tapefs to its result. The path walk before it and the creation of
 * the record after it fall between two records, where they look like compute time of the program. A replay makes the
 * walk itself, so it must not wait for that time again.
 *
 * Before a recording begins, this process therefore runs each kind of operation on a private tapefs over a private
 * tmpfs, with a cheap operation, the reference, before and after it, and reads the times between the records. With
 * nothing else between two system calls, these times are the cost. The mounts are not attached to the file tree, so
 * no other process sees them, and the directories of the user are not touched.
 *
 * Only sums are known: the time from one record to the next is the part after the first operation plus the part before
 * the second. Half of the time between two references is attributed to each part of the reference. Any other division
 * would give the same sums.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "collectord/collectord.h"
#include "lib/iotape.h"
#include "record.h"

#define ROUNDS	     32
#define SAMPLES_MAX  (4 * ROUNDS)
#define PAGE_BYTES   4096
#define REFERENCE    IOT_KIND_seek
#define PATH_BYTES   64

/* The files of the steps: @dir_fd is the root of the recorded mount, @file_fd the file of this round. */
struct bench {
	int dir_fd;
	int seek_fd;
	int file_fd;
	int list_fd;
	char *map;
	char buffer[PAGE_BYTES];
};

static void reference(const struct bench *b)
{
	lseek(b->seek_fd, 0, SEEK_SET);
}

/* Each step is one operation on the file of the round, or one call that makes several records. */
static void step_create(struct bench *b)
{
	b->file_fd = openat(b->dir_fd, "file", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
}

static void step_write(struct bench *b)
{
	if (pwrite(b->file_fd, b->buffer, sizeof(b->buffer), 0) < 0)
		b->buffer[0] = 0;
}

static void step_read(struct bench *b)
{
	if (pread(b->file_fd, b->buffer, sizeof(b->buffer), 0) < 0)
		b->buffer[0] = 0;
}

static void step_fsync(struct bench *b)
{
	fsync(b->file_fd);
}

static void step_fallocate(struct bench *b)
{
	fallocate(b->file_fd, 0, 0, PAGE_BYTES);
}

static void step_fadvise(struct bench *b)
{
	posix_fadvise(b->file_fd, 0, 0, POSIX_FADV_NORMAL);
}

static void step_flock(struct bench *b)
{
	struct flock lock = { .l_type = F_UNLCK };

	fcntl(b->file_fd, F_SETLK, &lock);
}

static void step_map(struct bench *b)
{
	b->map = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, b->file_fd, 0);
}

static void step_touch(struct bench *b)
{
	if (b->map != MAP_FAILED)
		b->buffer[0] = *(volatile char *)b->map;
}

static void step_unmap(struct bench *b)
{
	if (b->map != MAP_FAILED)
		munmap(b->map, PAGE_BYTES);
}

static void step_close(struct bench *b)
{
	close(b->file_fd);
}

static void step_stat(struct bench *b)
{
	struct stat stat;

	if (fstatat(b->dir_fd, "file", &stat, 0))
		b->buffer[0] = 0;
}

static void step_lookup(struct bench *b)
{
	struct stat stat;

	if (!fstatat(b->dir_fd, "absent", &stat, 0))
		b->buffer[0] = 0;
}

static void step_open(struct bench *b)
{
	b->file_fd = openat(b->dir_fd, "file", O_RDONLY | O_CLOEXEC);
}

static void step_chmod(struct bench *b)
{
	fchmodat(b->dir_fd, "file", 0640, 0);
}

static void step_open_list(struct bench *b)
{
	b->list_fd = openat(b->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void step_list(struct bench *b)
{
	getdents64(b->list_fd, b->buffer, sizeof(b->buffer));
}

static void step_close_list(struct bench *b)
{
	close(b->list_fd);
}

static void step_symlink(struct bench *b)
{
	if (symlinkat("file", b->dir_fd, "symlink"))
		b->buffer[0] = 0;
}

static void step_readlink(struct bench *b)
{
	if (readlinkat(b->dir_fd, "symlink", b->buffer, sizeof(b->buffer)) < 0)
		b->buffer[0] = 0;
}

static void step_unlink_symlink(struct bench *b)
{
	unlinkat(b->dir_fd, "symlink", 0);
}

static void step_link(struct bench *b)
{
	if (linkat(b->dir_fd, "file", b->dir_fd, "link", 0))
		b->buffer[0] = 0;
}

static void step_unlink_link(struct bench *b)
{
	unlinkat(b->dir_fd, "link", 0);
}

static void step_rename(struct bench *b)
{
	renameat(b->dir_fd, "file", b->dir_fd, "renamed");
}

static void step_unlink(struct bench *b)
{
	unlinkat(b->dir_fd, "renamed", 0);
}

static void step_mkdir(struct bench *b)
{
	mkdirat(b->dir_fd, "directory", 0700);
}

static void step_rmdir(struct bench *b)
{
	unlinkat(b->dir_fd, "directory", AT_REMOVEDIR);
}

static void step_reference(struct bench *b)
{
	reference(b);
}

static void (*const steps[])(struct bench *) = {
	step_reference, step_create,   step_write,    step_read,   step_fsync,	  step_fallocate, step_fadvise,
	step_flock,	step_map,      step_touch,    step_unmap,  step_close,	  step_stat,	  step_lookup,
	step_open,	step_close,    step_chmod,    step_open_list, step_list,  step_close_list, step_symlink,
	step_readlink,	step_unlink_symlink, step_link, step_unlink_link, step_rename, step_unlink, step_mkdir,
	step_rmdir,
};

static void perform(struct bench *b)
{
	size_t i, round;

	b->seek_fd = openat(b->dir_fd, "reference", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			reference(b);
			steps[i](b);
			reference(b);
		}
	close(b->seek_fd);
}

/* -- evaluation of the records ---------------------------------------------------------- */

/* Times between two records, of which one is the reference. */
struct samples {
	u32 ns[SAMPLES_MAX];
	u32 count;
};

struct measured {
	struct samples before[IOT_KIND_END];
	struct samples after[IOT_KIND_END];
	struct samples release; /* between the two records of a close */
};

static void add(struct samples *samples, u64 ns)
{
	if (samples->count < SAMPLES_MAX)
		samples->ns[samples->count++] = ns < UINT32_MAX ? (u32)ns : UINT32_MAX;
}

static int compare(const void *a, const void *b)
{
	const u32 *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* Return: the median, 0 if there is none. */
static u32 median_ns(struct samples *samples)
{
	if (!samples->count)
		return 0;
	qsort(samples->ns, samples->count, sizeof(samples->ns[0]), compare);
	return samples->ns[samples->count / 2];
}

static bool is_operation(const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);

	return info && info->group == IOT_GROUP_op && iot_kind_is_span(info) && !record->op.parent;
}

static int read_times(const char *path, struct measured *measured)
{
	struct iot_record record;
	struct iot_reject reject;
	struct iot_reader *reader;
	u64 end_ns = 0;
	u16 last = 0;
	int got = iot_reader_open(path, &reader, &reject);

	if (got)
		return got;
	while ((got = iot_reader_next(reader, &record, &reject)) > 0) {
		if (!is_operation(&record))
			continue;
		if (last && record.op.enter_ns >= end_ns) {
			u64 ns = record.op.enter_ns - end_ns;

			if (last == REFERENCE)
				add(&measured->before[record.kind], ns);
			else if (record.kind == REFERENCE)
				add(&measured->after[last], ns);
			else if (last == IOT_KIND_flush && record.kind == IOT_KIND_release)
				add(&measured->release, ns);
		}
		last = record.kind;
		end_ns = record.op.enter_ns + record.op.duration_ns;
	}
	iot_reader_close(reader);
	return got;
}

static u32 without(u32 ns, u32 part_ns)
{
	return ns > part_ns ? ns - part_ns : 0;
}

static int write_costs(struct measured *measured, char *costs, size_t room)
{
	u32 half_ns = median_ns(&measured->before[REFERENCE]) / 2, kind;
	size_t at = 0;

	costs[0] = 0;
	for (kind = 0; kind < IOT_KIND_END; kind++) {
		const struct iot_kind_info *info = iot_kind_info((u16)kind);
		u32 before_ns = without(median_ns(&measured->before[kind]), half_ns);
		u32 after_ns = without(median_ns(&measured->after[kind]), half_ns);

		if (kind == REFERENCE) {
			before_ns = half_ns;
			after_ns = half_ns;
		}
		if (kind == IOT_KIND_release)
			before_ns = median_ns(&measured->release);
		if (!before_ns && !after_ns)
			continue;
		at += (size_t)snprintf(costs + at, room - at, "%s%s:%u:%u", at ? " " : "", info->name, before_ns,
				       after_ns);
		if (at >= room)
			return -ENOSPC;
	}
	return at ? 0 : -ENODATA;
}

/* -- a recording of its own ----------------------------------------------------------------- */

static int make_tmpfs(void)
{
	int fs_fd = fsopen("tmpfs", FSOPEN_CLOEXEC), mount_fd = -1;

	if (fs_fd < 0)
		return -errno;
	if (!fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mount_fd = fsmount(fs_fd, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (mount_fd < 0)
		mount_fd = -errno;
	close(fs_fd);
	return mount_fd;
}

/* The recording ends with the session, which this closes. */
static int record_steps(int session_fd, int dir_fd)
{
	struct iot_attach attach = { .dir_fd = dir_fd };
	struct bench b = { .dir_fd = dir_fd };

	if (ioctl(session_fd, IOT_IOC_ATTACH, &attach) || ioctl(session_fd, IOT_IOC_START))
		return -errno;
	perform(&b);
	return 0;
}

static int record_bench(const struct record_options *options, int dir_fd, const char *trace)
{
	static const char *const no_facts[] = { NULL };
	const struct record_options own = { .buffers = 64, .flush_ms = 1000, .mmap_mode = options->mmap_mode };
	struct collector_options collect = { .path = trace, .facts = no_facts, .buffers = own.buffers };
	struct collector_result result;
	struct collector collector;
	char why[512];
	uint64_t session;
	int err;

	collect.session_fd = control_open(&own, &session, why, sizeof(why));
	if (collect.session_fd < 0)
		return collect.session_fd;
	err = collector_start(&collector, &collect);
	if (!err) {
		err = record_steps(collect.session_fd, dir_fd);
		close(collect.session_fd);
		collector_finish(&collector, &result);
		return err ? err : result.err;
	}
	close(collect.session_fd);
	return err;
}

static int calibrate_below(const struct record_options *options, int tmpfs_fd, char *costs, size_t room)
{
	struct measured *measured = calloc(1, sizeof(*measured));
	char trace[PATH_BYTES], source[PATH_BYTES], why[512];
	int dir_fd, err;

	if (!measured)
		return -ENOMEM;
	snprintf(trace, sizeof(trace), "/proc/self/fd/%d/costs.iot", tmpfs_fd);
	snprintf(source, sizeof(source), "/proc/self/fd/%d/bench", tmpfs_fd);
	err = mkdirat(tmpfs_fd, "bench", 0700) ? -errno : 0;
	dir_fd = err ? err : mounts_make(source, options->mmap_mode, why, sizeof(why));
	if (dir_fd >= 0) {
		err = record_bench(options, dir_fd, trace);
		close(dir_fd);
	} else {
		err = dir_fd;
	}
	if (!err)
		err = read_times(trace, measured);
	if (!err)
		err = write_costs(measured, costs, room);
	free(measured);
	return err;
}

/**
 * calibrate() - measure the time that operations take outside of their records
 * @options: mmap_mode is used
 * @costs: out: KIND:BEFORE:AFTER of each kind, in ns, separated by blanks: the time before the record begins
 *	and after it ends; "" after an error
 * @room: room for it
 *
 * Takes some ten milliseconds, unless an earlier recording has stored the costs (costs.c). Creates a separate session
 * and mounts, which are removed afterwards. Without the modules nothing is mounted, as a mount would load them.
 *
 * Return: 0 or a negative errno.
 */
int calibrate(const struct record_options *options, char *costs, size_t room)
{
	char why[256];
	int tmpfs_fd, err = control_check(why, sizeof(why));

	costs[0] = 0;
	if (err)
		return err;
	if (!costs_load(options->mmap_mode, costs, room))
		return 0;
	tmpfs_fd = make_tmpfs();
	if (tmpfs_fd < 0)
		return tmpfs_fd;
	err = calibrate_below(options, tmpfs_fd, costs, room);
	close(tmpfs_fd);
	if (err)
		costs[0] = 0;
	else
		costs_store(options->mmap_mode, costs);
	return err;
}
