// SPDX-License-Identifier: GPL-2.0-only
/*
 * programs.c - programs built by hand for replays by engines.
 *
 *	programs NAME FILE [COUNT]
 *
 *   tokens   64 tasks of 4 ranks rename 16 files in turn, with barriers in between: each
 *            rename depends on the previous one, which another task runs; COUNT is a seed
 *   free     the same without waits
 *   shortened  truncations by name, one of which is refused to the user of the trace
 *   allowed  checks by system calls, some of which refuse an operation to the user of the trace
 *   users    COUNT processes of three users in turn, one after the other, which create a file each
 *   script   COUNT processes, two at a time, which create and remove a file each
 *   burst    COUNT tasks that start at the same time, and then wait for each other
 *   unable   operations that no file system supports with these arguments, and dependent operations
 *   kinds    operations whose results are the same on every file system
 *   beyond   accesses to a mapping beyond the end of its file, and to a read-only mapping
 *   cut      mappings of 65 pages, of which pieces are unmapped that end within a page
 *   names    names of attributes that are too long, and changes of the target by the name "."
 *   hopeless an asynchronous read that the target does not support, nor its emulation
 *   in-vain  locks that the trace waited for but did not get: of each kind one that is free, which
 *            diverges, and some that another owner has
 *   seeks    a seek beyond the limit of ext4, from a position that the trace cannot have had, and the resulting position
 *   splices  reads of pages into pipes: from the middle of a page, and into pipes with fewer free slots, and more,
 *            than an ordinary one has
 *   deep     a directory whose path is longer than three times PATH_MAX, and operations in it
 *   zeros    a long range of a file is zeroed
 *   node     a device node is in the tree, and is opened in all ways, like other files
 *   devices  device nodes are created and opened
 *   out      operations by paths that lead out of the target through symbolic links
 *   pipe     three tasks create a directory each; then one opens a pipe, which blocks forever, one
 *            waits for it, and one thinks for hours
 *   endless  three ranks: two create a directory each; then one thinks for hours, and each of the
 *            others waits for the one before it
 *   request_queues  asynchronous writes and reads of a file, four at a time, and operations that wait
 *            for some of them
 *   in-turn  COUNT asynchronous reads in one request queue, of a long file and of an empty one in turn, with
 *            no wait of the one for the other
 *   reads    2 tasks, each reads 4 KiB COUNT times
 *   paced    COUNT reads, each after 10 ms of think time
 *   busy     2 tasks, each makes COUNT directories, each after 10 ms for which it uses a CPU and 1 ms for which it does not
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <iotape/schema.h>

#include "programs.h"

u32 count = 1000;

static struct iot_program_op *op_on_handle(struct builder *b, u16 kind, u32 handle, u64 offset_bytes,
					   u64 length_bytes, s64 result)
{
	struct iot_program_op *op = builder_op(b, kind);

	op->handle = cpu_to_le32(handle);
	op->offset_bytes = cpu_to_le64(offset_bytes);
	op->length_bytes = cpu_to_le64(length_bytes);
	op->result = cpu_to_le64((u64)result);
	return op;
}

static struct iot_program_op *op_open(struct builder *b, const char *path, u32 handle, u32 flags)
{
	struct iot_program_op *op = op_on_path(b, IOT_KIND_open, path, 0);

	op->handle = cpu_to_le32(handle);
	op->flags = cpu_to_le32(flags);
	op->mode = cpu_to_le32(0600);
	return op;
}

/* -- unable ------------------------------------------------------------------------------------ */

/*
 * Sharing of blocks, and collapsing a range, at invalid positions: EINVAL if the file system supports these
 * operations, EOPNOTSUPP otherwise. A copy can emulate the first, nothing the second.
 */
static void make_unable(struct builder *b)
{
	struct iot_program_op *op;

	b->head.handles = cpu_to_le32(2);
	builder_task(b);
	op_open(b, "f", 1, IOT_OPEN_read | IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_excl);
	op_open(b, "g", 2, IOT_OPEN_read | IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_excl);
	op_on_handle(b, IOT_KIND_write, 1, 0, 6 << 20, 6 << 20);
	op = op_on_handle(b, IOT_KIND_remap_range, 1, 1, 5 << 20, 5 << 20);
	op->other = cpu_to_le32(2);
	op->extra = cpu_to_le64(3);
	op_on_handle(b, IOT_KIND_read, 2, (5 << 20) + 1, 10, 2);
	op_on_handle(b, IOT_KIND_fallocate, 1, 1, 1, 0)->flags = cpu_to_le32(IOT_FALLOC_collapse_range);
	op_on_handle(b, IOT_KIND_release, 1, 0, 0, 0);
	op_on_handle(b, IOT_KIND_release, 2, 0, 0, 0);
}

/* -- shortened --------------------------------------------------------------------------------- */

/* A user without privileges truncates two files by name, and may write to one of them. */
static void make_shortened(struct builder *b)
{
	struct iot_program_task *task;

	builder_entry(b, "closed", S_IFREG | 0644)->size_bytes = cpu_to_le64(10);
	builder_entry(b, "open", S_IFREG | 0666)->size_bytes = cpu_to_le64(10);
	task = builder_task(b);
	task->uid = cpu_to_le32(65534);
	task->gid = cpu_to_le32(65533);
	op_on_path(b, IOT_KIND_setattr, "closed", -EACCES)->flags = cpu_to_le32(IOT_ATTR_size);
	op_on_path(b, IOT_KIND_setattr, "open", 0)->flags = cpu_to_le32(IOT_ATTR_size);
}

/* -- deep --------------------------------------------------------------------------------------- */

#define DEEP_BYTES 14000

/* Nested directories of the initial tree, and one whose entries are created. */
static void make_deep(struct builder *b)
{
	char dir[DEEP_BYTES + 256], path[2][DEEP_BYTES + 320];
	size_t bytes = 0;

	while (bytes < DEEP_BYTES) {
		bytes += (size_t)sprintf(dir + bytes, "%s%0*zu", bytes ? "/" : "", bytes % 3 ? 200 : 15, bytes);
		builder_entry(b, dir, S_IFDIR | 0755);
	}
	b->head.handles = cpu_to_le32(1);
	builder_task(b);
	snprintf(path[0], sizeof(path[0]), "%s/made", dir);
	op_on_path(b, IOT_KIND_mkdir, path[0], 0)->mode = cpu_to_le32(0755);
	op_on_path(b, IOT_KIND_mkdir, path[0], -EEXIST)->mode = cpu_to_le32(0755);
	snprintf(path[0], sizeof(path[0]), "%s/made/file", dir);
	op_on_path(b, IOT_KIND_lookup, path[0], -ENOENT);
	op_open(b, path[0], 1, IOT_OPEN_read | IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_excl);
	op_on_handle(b, IOT_KIND_write, 1, 0, 100, 100);
	op_on_path(b, IOT_KIND_stat, path[0], 0);
	snprintf(path[1], sizeof(path[1]), "%s/made/moved", dir);
	op_on_paths(b, IOT_KIND_rename, path[0], path[1], 0);
	op_on_paths(b, IOT_KIND_link, path[1], path[0], 0);
	op_on_path(b, IOT_KIND_unlink, path[1], 0);
	op_on_paths(b, IOT_KIND_symlink, path[1], "file", 0);
	op_on_path(b, IOT_KIND_readlink, path[1], 4)->length_bytes = cpu_to_le64(100);
	op_on_handle(b, IOT_KIND_read, 1, 0, 200, 100);
	op_on_handle(b, IOT_KIND_release, 1, 0, 0, 0);
	snprintf(path[1], sizeof(path[1]), "%s/made", dir);
	op_on_path(b, IOT_KIND_rmdir, path[1], -ENOTEMPTY);
}

/* -- allowed ------------------------------------------------------------------------------------ */

/* A user without privileges may write to one of two files and owns neither. */
static void make_allowed(struct builder *b)
{
	const u32 now = IOT_ATTR_atime | IOT_ATTR_mtime;
	struct iot_program_task *task;
	struct iot_program_op *op;

	builder_entry(b, "closed", S_IFREG | 0644);
	builder_entry(b, "d", S_IFDIR | 0777);
	builder_entry(b, "open", S_IFREG | 0666);
	b->head.handles = cpu_to_le32(2);
	task = builder_task(b);
	task->uid = cpu_to_le32(65534);
	task->gid = cpu_to_le32(65533);
	op_on_path(b, IOT_KIND_setattr, "closed", -EACCES)->flags = cpu_to_le32(now);
	op_on_path(b, IOT_KIND_setattr, "open", 0)->flags = cpu_to_le32(now);
	op_on_path(b, IOT_KIND_setattr, "open", -EPERM)->flags = cpu_to_le32(now | IOT_ATTR_mtime_set);
	op_on_paths(b, IOT_KIND_link, "closed", "d/closed", -EPERM);
	op_on_paths(b, IOT_KIND_link, "open", "d/open", 0);
	op_open(b, "open", 1, IOT_OPEN_write);
	op_open(b, "closed", 2, IOT_OPEN_read);
	op = op_on_handle(b, IOT_KIND_remap_range, 1, 0, 0, -EINVAL); /* a source that is not open for reading */
	op->other = cpu_to_le32(2);
	op->flags = cpu_to_le32(1);
	op_on_handle(b, IOT_KIND_release, 1, 0, 0, 0);
	op_on_handle(b, IOT_KIND_release, 2, 0, 0, 0);
}

/* -- tasks that begin later --------------------------------------------------------------------- */

/* The first task: creates the directory, and forks the others, at most @at_once of them. */
static void add_maker(struct builder *b, u32 at_once, u32 ops)
{
	u32 task;

	builder_task(b);
	op_on_path(b, IOT_KIND_mkdir, "d", 0)->mode = cpu_to_le32(0777);
	for (task = 1; task <= count; task++) {
		builder_op(b, IOT_PLAY_nop);
		if (task > at_once)
			builder_wait(b, task - at_once, ops - 1);
	}
}

/* @after: the operation of the first task that forks it */
static struct iot_program_task *add_made(struct builder *b, u32 after)
{
	struct iot_program_task *task = builder_task(b);

	task->parent = 0;
	builder_op(b, IOT_PLAY_wait);
	builder_wait(b, 0, after);
	return task;
}

static void add_file(struct builder *b, u32 number)
{
	char path[32];

	snprintf(path, sizeof(path), "d/%u", number);
	op_on_path(b, IOT_KIND_mknod, path, 0)->mode = cpu_to_le32(S_IFREG | 0644);
}

static void make_users(struct builder *b)
{
	u32 task;

	add_maker(b, 1, 2);
	for (task = 1; task <= count; task++) {
		struct iot_program_task *made = add_made(b, task);

		made->uid = cpu_to_le32(task % 3 * 1000);
		made->gid = cpu_to_le32(task % 3 * 2000);
		add_file(b, task);
	}
}

static void make_script(struct builder *b)
{
	u32 task;
	char path[32];

	add_maker(b, 2, 3);
	for (task = 1; task <= count; task++) {
		add_made(b, task);
		add_file(b, task);
		snprintf(path, sizeof(path), "d/%u", task);
		op_on_path(b, IOT_KIND_unlink, path, 0);
	}
}

/* A task that makes a file after a wait with a time limit for the first task's third operation. */
static void add_timed(struct builder *b, u32 number, u64 limit_ns)
{
	add_made(b, 0);
	builder_op(b, IOT_PLAY_timed)->pause_ns = cpu_to_le64(limit_ns);
	builder_wait(b, 0, 2);
	add_file(b, number);
}

/* In the order 2, 3, 1: the second task waits for 10 ms, the first makes a file after a second, and the third waits for that. */
static void make_timed(struct builder *b)
{
	builder_task(b);
	op_on_path(b, IOT_KIND_mkdir, "d", 0)->mode = cpu_to_le32(0777);
	builder_op(b, IOT_PLAY_nop)->pause_ns = cpu_to_le64(1000000000);
	add_file(b, 3);
	add_timed(b, 1, 1000000000000);
	add_timed(b, 2, 10000000);
}

static void make_burst(struct builder *b)
{
	u32 task;

	builder_latch(b, count);
	add_maker(b, count, 0);
	for (task = 1; task <= count; task++) {
		add_made(b, 0);
		add_file(b, task);
		builder_op(b, IOT_PLAY_signal)->handle = cpu_to_le32(1);
		builder_op(b, IOT_PLAY_wait);
		builder_wait(b, IOT_WAIT_LATCH, 0);
		add_file(b, count + task);
	}
}

/* -- kinds ------------------------------------------------------------------------------------- */

static void op_splice(struct builder *b, u64 offset_bytes, u64 length_bytes, s64 result)
{
	op_on_handle(b, IOT_KIND_read, 1, offset_bytes, length_bytes, result)->flags =
		cpu_to_le32(IOT_RW_splice);
}

#define PAGE	   4096ull
#define PIPE_BYTES (16 * PAGE)

static void make_splices(struct builder *b)
{
	u64 file_bytes = 100 * PAGE + 1000;

	b->head.handles = cpu_to_le32(1);
	builder_entry(b, "f", S_IFREG | 0644)->size_bytes = cpu_to_le64(file_bytes);
	builder_task(b);
	op_open(b, "f", 1, IOT_OPEN_read)->mode = 0;
	op_splice(b, 0, PIPE_BYTES, PIPE_BYTES);
	op_splice(b, 100, PIPE_BYTES, PIPE_BYTES - 100); /* 16 slots, and a part of the first is empty */
	op_splice(b, PAGE - 1, PIPE_BYTES, PIPE_BYTES - (PAGE - 1));
	op_splice(b, 100, 1 << 20, PIPE_BYTES - 100); /* with the requested length, as in strace logs */
	op_splice(b, 100, 3 * PAGE, 3 * PAGE); /* four slots */
	op_splice(b, 100, 3 * PAGE, 3 * PAGE - 100); /* there were three */
	op_splice(b, 0, 10000, 10000);
	op_splice(b, 8 * PAGE, PIPE_BYTES, PAGE); /* one slot was free */
	op_splice(b, 100, 64 * PAGE, 64 * PAGE - 100); /* a pipe of 64 slots */
	op_splice(b, 4 * PAGE, 64 * PAGE, 64 * PAGE);
	op_splice(b, 99 * PAGE + 1, PIPE_BYTES, PAGE - 1 + 1000);
	op_splice(b, file_bytes, PIPE_BYTES, 0);
	op_on_handle(b, IOT_KIND_release, 1, 0, 0, 0);
}

static void add_data(struct builder *b)
{
	struct iot_program_op *op;

	op_open(b, "f", 1, IOT_OPEN_read | IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_excl);
	op_on_handle(b, IOT_KIND_write, 1, 0, 9 << 20, 9 << 20); /* larger than a buffer */
	op_on_handle(b, IOT_KIND_read, 1, 0, 10 << 20, 9 << 20);
	op_on_handle(b, IOT_KIND_write, 1, 0, 10, 10)->flags = cpu_to_le32(IOT_RW_dsync);
	op_on_handle(b, IOT_KIND_setattr, 1, 0, 100, 0)->flags = cpu_to_le32(IOT_ATTR_size);
	op_on_handle(b, IOT_KIND_read, 1, 50, 100, 50);
	op_on_handle(b, IOT_KIND_read, 1, 100, 100, 0);
	op_open(b, "f", 2, IOT_OPEN_write | IOT_OPEN_append);
	op_on_handle(b, IOT_KIND_write, 2, 0, 7, 7)->flags = cpu_to_le32(IOT_RW_append);
	op_on_handle(b, IOT_KIND_write, 2, 0, 7, 7); /* after F_SETFL took it away */
	op_on_handle(b, IOT_KIND_read, 2, 0, 7, -EBADF);
	op_on_handle(b, IOT_KIND_read, 1, 0, 200, 107)->flags = cpu_to_le32(IOT_RW_splice);
	op_on_handle(b, IOT_KIND_seek, 1, 0, 0, 107)->flags = cpu_to_le32(IOT_WHENCE_end);
	op_on_handle(b, IOT_KIND_seek, 1, 5, 0, 65)->flags = cpu_to_le32(IOT_WHENCE_cur);
	op_on_handle(b, IOT_KIND_seek, 1, 0, 0, 65)->flags = cpu_to_le32(IOT_WHENCE_cur);
	op_on_handle(b, IOT_KIND_fallocate, 1, 0, 4096, 0);
	op_on_handle(b, IOT_KIND_fadvise, 1, 0, 0, 0)->flags = cpu_to_le32(4);
	op_on_handle(b, IOT_KIND_fsync, 1, 0, 0, 0)->extra = cpu_to_le64(INT64_MAX);
	op_on_handle(b, IOT_KIND_ioctl, 1, 0, 0, -ENOTTY)->flags = cpu_to_le32(1); /* TCGETS */
	op = op_on_handle(b, IOT_KIND_copy_range, 1, 0, 4096, 4096);
	op->other = cpu_to_le32(2);
	op->extra = cpu_to_le64(8192);
	op_on_handle(b, IOT_KIND_stat, 1, 0, 0, 0);
	op_on_handle(b, IOT_KIND_flush, 2, 0, 0, 0);
	op_on_handle(b, IOT_KIND_release, 2, 0, 0, 0);
	op_on_handle(b, IOT_KIND_release, 2, 0, 0, -EBADF);
	op_on_path(b, IOT_KIND_unlink, "f", 0);
	op_on_handle(b, IOT_KIND_read, 1, 8192, 4096, 4096); /* without a name now */
	op_on_handle(b, IOT_KIND_release, 1, 0, 0, 0);
}

static void op_lock(struct builder *b, u32 handle, u32 owner, u32 flags, u64 begin, u64 end,
		    s64 result)
{
	struct iot_program_op *op = op_on_handle(b, IOT_KIND_lock, handle, begin, 0, result);

	op->mode = cpu_to_le32(owner);
	op->flags = cpu_to_le32(flags);
	op->extra = cpu_to_le64(end);
}

/* Two processes, which own locks, and two handles, one of them not for writing. */
static void add_locks(struct builder *b)
{
	op_open(b, "locked", 1, IOT_OPEN_read | IOT_OPEN_write | IOT_OPEN_create);
	op_open(b, "locked", 2, IOT_OPEN_read)->mode = 0;
	op_lock(b, 1, 1, IOT_LOCK_exclusive, 0, 9, 0);
	op_lock(b, 2, 2, IOT_LOCK_shared | IOT_LOCK_wait, 5, 5, -EAGAIN); /* is not waited for */
	op_lock(b, 2, 2, IOT_LOCK_shared, 10, INT64_MAX, 0);
	op_lock(b, 2, 2, IOT_LOCK_exclusive, 10, 10, -EBADF);
	op_lock(b, 2, 1, IOT_LOCK_shared, 0, 9, 0); /* its own, through another handle */
	op_lock(b, 2, 2, IOT_LOCK_shared, 0, 9, 0);
	op_lock(b, 1, 1, IOT_LOCK_exclusive, 0, 9, -EAGAIN);
	op_on_handle(b, IOT_KIND_flush, 1, 0, 0, 0)->mode = cpu_to_le32(2); /* any of the file */
	op_lock(b, 1, 1, IOT_LOCK_exclusive, 0, INT64_MAX, 0);
	op_lock(b, 1, 0, IOT_LOCK_exclusive | IOT_LOCK_ofd, 3, 3, -EAGAIN);
	op_lock(b, 1, 1, 0, 0, INT64_MAX, 0);
	op_lock(b, 1, 0, IOT_LOCK_exclusive | IOT_LOCK_ofd, 3, 3, 0);
	op_lock(b, 2, 1, IOT_LOCK_shared, 3, 3, -EAGAIN);
	op_lock(b, 1, 0, IOT_LOCK_exclusive | IOT_LOCK_flock, 0, INT64_MAX, 0);
	op_lock(b, 2, 0, IOT_LOCK_shared | IOT_LOCK_flock, 0, INT64_MAX, -EAGAIN);
	op_on_handle(b, IOT_KIND_release, 1, 0, 0, 0);
	op_lock(b, 2, 0, IOT_LOCK_shared | IOT_LOCK_flock, 0, INT64_MAX, 0);
	op_lock(b, 2, 1, IOT_LOCK_shared, 3, 3, 0);
	op_lock(b, 1, 1, IOT_LOCK_shared, 3, 3, -EBADF);
	op_on_handle(b, IOT_KIND_release, 2, 0, 0, 0);
}

static void add_names(struct builder *b)
{
	const u32 make = IOT_INTENT_create | IOT_INTENT_excl;
	struct iot_program_op *op;

	op_on_path(b, IOT_KIND_mkdir, "d", 0)->mode = cpu_to_le32(0755);
	op_on_path(b, IOT_KIND_lookup, "d", -EEXIST)->flags = cpu_to_le32(make);
	op_on_path(b, IOT_KIND_lookup, "e", 0)->flags = cpu_to_le32(make);
	op_on_path(b, IOT_KIND_lookup, "e", -ENOENT);
	op_on_path(b, IOT_KIND_mknod, "d/fifo", 0)->mode = cpu_to_le32(S_IFIFO | 0600);
	op_on_paths(b, IOT_KIND_symlink, "d/l", "fifo", 0);
	op_on_path(b, IOT_KIND_readlink, "d/l", 4)->length_bytes = cpu_to_le64(100);
	op_on_path(b, IOT_KIND_readlink, "d/l", 2)->length_bytes = cpu_to_le64(2);
	op_on_path(b, IOT_KIND_follow, "d/l", 0);
	op_on_path(b, IOT_KIND_follow, "d/fifo", -EINVAL);
	op_on_paths(b, IOT_KIND_link, "d/l", "d/m", 0);
	op_on_paths(b, IOT_KIND_rename, "d/l", "d/m", 0); /* the same link: both stay */
	op_on_paths(b, IOT_KIND_rename, "d/fifo", "d/m", -EEXIST)->flags =
		cpu_to_le32(IOT_RENAME_noreplace);
	op_on_paths(b, IOT_KIND_rename, "d/fifo", "d/m", 0)->flags = cpu_to_le32(IOT_RENAME_exchange);
	op_on_path(b, IOT_KIND_readlink, "d/fifo", 4)->length_bytes = cpu_to_le64(100);
	op = op_on_path(b, IOT_KIND_setattr, "d/m", 0);
	op->flags = cpu_to_le32(IOT_ATTR_mode);
	op->mode = cpu_to_le32(0644);
	op = op_on_path(b, IOT_KIND_setattr, "d/l", 0); /* of the link itself */
	op->flags = cpu_to_le32(IOT_ATTR_mtime | IOT_ATTR_mtime_set);
	op->extra = cpu_to_le64((u64)-1500000000);
	op_on_path(b, IOT_KIND_setattr, "d", -EISDIR)->flags = cpu_to_le32(IOT_ATTR_size);
	op_on_path(b, IOT_KIND_stat, "d/m", 0);
	op_on_path(b, IOT_KIND_statfs, ".", 0);
	op_on_path(b, IOT_KIND_unlink, "d", -EISDIR);
	op_on_path(b, IOT_KIND_rmdir, "d", -ENOTEMPTY);
	op_on_path(b, IOT_KIND_rmdir, "d/m", -ENOTDIR);
}

/* Entries of a directory, fewer than it has, then the rest. */
static void add_directory(struct builder *b)
{
	op_open(b, "d", 1, IOT_OPEN_read | IOT_OPEN_directory);
	op_on_handle(b, IOT_KIND_readdir, 1, 0, 0, 0)->flags = cpu_to_le32(3);
	op_on_handle(b, IOT_KIND_readdir, 1, 0, 0, 0)->flags = cpu_to_le32(2);
	op_on_handle(b, IOT_KIND_readdir, 1, 0, 0, 0);
	op_on_handle(b, IOT_KIND_seek, 1, 0, 0, 0);
	op_on_handle(b, IOT_KIND_readdir, 1, 0, 0, 0)->flags = cpu_to_le32(5);
	op_on_handle(b, IOT_KIND_release, 1, 0, 0, 0);
}

static void make_kinds(struct builder *b)
{
	b->head.handles = cpu_to_le32(2);
	builder_task(b);
	builder_task(b); /* no owner has a larger number than there are tasks */
	add_data(b);
	add_locks(b);
	add_names(b);
	add_directory(b);
}

/* -- in-vain, seeks ----------------------------------------------------------------------------- */

/* The first lock is free: it diverges, and is released again. The others are refused. */
static void add_in_vain(struct builder *b, u32 owner, u32 other, u32 flags)
{
	const u32 exclusive = IOT_LOCK_exclusive | flags;

	op_lock(b, 1, owner, exclusive | IOT_LOCK_wait, 0, INT64_MAX, -EINTR);
	op_lock(b, 2, other, exclusive, 0, INT64_MAX, 0);
	op_lock(b, 1, owner, exclusive | IOT_LOCK_wait, 0, INT64_MAX, -EINTR);
	op_lock(b, 1, owner, IOT_LOCK_shared | IOT_LOCK_wait | flags, 0, INT64_MAX, -EDEADLK);
	op_lock(b, 1, owner, exclusive, 0, INT64_MAX, -EAGAIN);
	op_lock(b, 2, other, flags, 0, INT64_MAX, 0);
	op_lock(b, 1, owner, exclusive, 0, INT64_MAX, 0);
	op_lock(b, 1, owner, flags, 0, INT64_MAX, 0);
}

/* The trace cannot have been at -10. The result of the next seek would be an errno if the replay were there. */
static void make_seeks(struct builder *b)
{
	b->head.handles = cpu_to_le32(1);
	builder_entry(b, "f", S_IFREG | 0644);
	builder_task(b);
	op_open(b, "f", 1, IOT_OPEN_read)->mode = 0;
	op_on_handle(b, IOT_KIND_seek, 1, (1ull << 62) + 10, 0, 1ll << 62)->flags = cpu_to_le32(IOT_WHENCE_cur);
	op_on_handle(b, IOT_KIND_seek, 1, 0, 0, -10)->flags = cpu_to_le32(IOT_WHENCE_cur);
	op_on_handle(b, IOT_KIND_release, 1, 0, 0, 0);
}

static void make_in_vain(struct builder *b)
{
	b->head.handles = cpu_to_le32(2);
	builder_entry(b, "f", S_IFREG | 0644);
	builder_task(b);
	op_open(b, "f", 1, IOT_OPEN_read | IOT_OPEN_write)->mode = 0;
	op_open(b, "f", 2, IOT_OPEN_read | IOT_OPEN_write)->mode = 0;
	add_in_vain(b, 0, 0, IOT_LOCK_flock);
	add_in_vain(b, 0, 0, IOT_LOCK_ofd);
	add_in_vain(b, 1, 2, 0);
	op_on_handle(b, IOT_KIND_flush, 1, 0, 0, 0)->mode = cpu_to_le32(1);
	op_on_handle(b, IOT_KIND_flush, 2, 0, 0, 0)->mode = cpu_to_le32(2);
	op_on_handle(b, IOT_KIND_release, 1, 0, 0, 0);
	op_on_handle(b, IOT_KIND_release, 2, 0, 0, 0);
	builder_task(b); /* another owner of locks */
	builder_op(b, IOT_PLAY_nop);
}

/* -- mappings ---------------------------------------------------------------------------------- */

static struct iot_program_op *op_on_map(struct builder *b, u16 kind, u64 offset_bytes,
					u64 length_bytes, s64 result)
{
	struct iot_program_op *op = op_on_handle(b, kind, 0, offset_bytes, length_bytes, result);

	op->other = cpu_to_le32(1);
	return op;
}

static void add_mapping(struct builder *b, u32 prot)
{
	struct iot_program_op *op = op_on_handle(b, IOT_KIND_map, 1, 0, 4 * 4096, 0);

	op->other = cpu_to_le32(1);
	op->mode = cpu_to_le32(prot);
	op->flags = cpu_to_le32(IOT_MAP_shared);
}

static void make_beyond(struct builder *b)
{
	b->head.handles = cpu_to_le32(1);
	b->head.maps = cpu_to_le32(1);
	builder_entry(b, "f", S_IFREG | 0644)->size_bytes = cpu_to_le64(5000);
	builder_task(b)->flags = cpu_to_le32(IOT_TASK_MAPS);
	op_open(b, "f", 1, IOT_OPEN_read | IOT_OPEN_write)->mode = 0;
	add_mapping(b, IOT_PROT_read | IOT_PROT_write);
	op_on_map(b, IOT_KIND_touch, 0, 0, 0);
	op_on_map(b, IOT_KIND_touch, 4096, 0, 0)->flags = cpu_to_le32(IOT_TOUCH_write);
	op_on_map(b, IOT_KIND_touch, 8192, 0, -EFAULT);
	op_on_map(b, IOT_KIND_touch, 12288, 0, -EFAULT)->flags = cpu_to_le32(IOT_TOUCH_write);
	op_on_map(b, IOT_KIND_msync, 0, 0, 0)->extra = cpu_to_le64(8191);
	op_on_map(b, IOT_KIND_madvise, 0, 4096, 0)->flags = cpu_to_le32(3);
	op_on_map(b, IOT_KIND_unmap, 0, 4096, 0);
	op_on_map(b, IOT_KIND_touch, 0, 0, -EFAULT);
	op_on_map(b, IOT_KIND_touch, 4096, 0, 0);
	op_on_map(b, IOT_KIND_unmap, 4096, 3 * 4096, 0);
	op_on_map(b, IOT_KIND_touch, 4096, 0, -EFAULT);
	add_mapping(b, IOT_PROT_read);
	op_on_map(b, IOT_KIND_touch, 0, 0, -EFAULT)->flags = cpu_to_le32(IOT_TOUCH_write);
	op_on_map(b, IOT_KIND_touch, 0, 0, 0);
	op_on_handle(b, IOT_KIND_read, 1, 0, 5000, 5000);
	op_on_map(b, IOT_KIND_unmap, 0, 4 * 4096, 0);
	op_on_handle(b, IOT_KIND_release, 1, 0, 0, 0);
}

/* -- cut --------------------------------------------------------------------------------------- */

#define CUT_PAGES 65

static void add_long_mapping(struct builder *b, u32 map, u64 length_bytes)
{
	struct iot_program_op *op = op_on_handle(b, IOT_KIND_map, 1, 0, length_bytes, 0);

	op->other = cpu_to_le32(map);
	op->flags = cpu_to_le32(IOT_MAP_shared);
	op->mode = cpu_to_le32(IOT_PROT_read | IOT_PROT_write);
}

/* Unmapping one byte unmaps the whole page; the next mapping may use its address. */
static void make_cut(struct builder *b)
{
	b->head.handles = cpu_to_le32(1);
	b->head.maps = cpu_to_le32(2);
	builder_entry(b, "f", S_IFREG | 0644)->size_bytes = cpu_to_le64(CUT_PAGES * PAGE);
	builder_task(b);
	op_open(b, "f", 1, IOT_OPEN_read | IOT_OPEN_write)->mode = 0;
	add_long_mapping(b, 1, CUT_PAGES * PAGE);
	op_on_map(b, IOT_KIND_unmap, 0, 64 * PAGE + 1, 0);
	add_long_mapping(b, 2, CUT_PAGES * PAGE);
	op_on_map(b, IOT_KIND_touch, 64 * PAGE + 1, 0, -EFAULT);
	op_on_map(b, IOT_KIND_touch, 65 * PAGE - 1, 0, -EFAULT);
	add_long_mapping(b, 1, CUT_PAGES * PAGE - 1); /* the slot is empty */
	op_on_map(b, IOT_KIND_touch, 65 * PAGE - 1, 0, 0); /* mapped, too */
	op_on_map(b, IOT_KIND_unmap, 64 * PAGE, 1, 0);
	op_on_map(b, IOT_KIND_touch, 64 * PAGE + 1, 0, -EFAULT);
	op_on_map(b, IOT_KIND_unmap, 1, 1, -EINVAL);
	op_on_map(b, IOT_KIND_unmap, 0, UINT64_MAX, -EFAULT);
	op_on_map(b, IOT_KIND_unmap, 0, 64 * PAGE - 1, 0);
	add_long_mapping(b, 1, 1);
	op_on_map(b, IOT_KIND_unmap, 0, PAGE, 0);
	add_long_mapping(b, 1, 1);
}

/* -- names ------------------------------------------------------------------------------------- */

static void make_names(struct builder *b)
{
	const u32 make = IOT_INTENT_create | IOT_INTENT_excl;

	builder_entry(b, "f", S_IFREG | 0644);
	builder_task(b);
	op_on_path(b, IOT_KIND_lookup, ".", -EEXIST)->flags = cpu_to_le32(make);
	op_on_path(b, IOT_KIND_mkdir, ".", -EEXIST)->mode = cpu_to_le32(0755);
	op_on_path(b, IOT_KIND_rmdir, ".", -EINVAL);
	op_on_path(b, IOT_KIND_unlink, ".", -EISDIR);
	op_on_path(b, IOT_KIND_mknod, ".", -EEXIST)->mode = cpu_to_le32(S_IFREG | 0644);
	op_on_paths(b, IOT_KIND_symlink, ".", "f", -EEXIST);
	op_on_paths(b, IOT_KIND_link, "f", ".", -EEXIST);
	op_on_paths(b, IOT_KIND_link, ".", "g", -EPERM);
	op_on_paths(b, IOT_KIND_rename, "f", ".", -EBUSY);
	op_on_paths(b, IOT_KIND_rename, ".", "g", -EBUSY);
	op_open(b, ".", 0, IOT_OPEN_write | IOT_OPEN_create)->result = cpu_to_le64((u64)-EISDIR);
	op_on_path(b, IOT_KIND_stat, "f", 0);
}

/* -- hopeless ---------------------------------------------------------------------------------- */

/* Switching direct I/O on is refused for a directory, and other direct I/O when it is requested. */
static void make_hopeless(struct builder *b)
{
	struct iot_program_task *queue;
	struct iot_program_op *op;

	b->head.handles = cpu_to_le32(1);
	builder_entry(b, "d", S_IFDIR | 0755);
	builder_task(b);
	op_open(b, "d", 1, IOT_OPEN_read | IOT_OPEN_directory)->mode = 0;
	op = op_on_handle(b, IOT_KIND_submit, 1, 0, 4096, 0);
	op->flags = cpu_to_le32(IOT_RW_direct);
	op->other = cpu_to_le32(2); /* the request queue is task 1 */
	op->origin_op = cpu_to_le32(2);
	queue = builder_task(b);
	queue->flags = cpu_to_le32(IOT_TASK_QUEUE);
	queue->origin = cpu_to_le32(1);
	queue->parent = 0;
	op = op_on_handle(b, IOT_KIND_complete, 1, 0, 4096, 4096);
	op->flags = cpu_to_le32(IOT_RW_direct);
	op->origin_op = cpu_to_le32(2);
	builder_wait(b, 0, 1);
}

/* -- zeros ------------------------------------------------------------------------------------- */

static void make_zeros(struct builder *b)
{
	b->head.handles = cpu_to_le32(1);
	builder_task(b);
	op_open(b, "f", 1, IOT_OPEN_write | IOT_OPEN_create);
	op_on_path(b, IOT_KIND_mkdir, "begun", 0)->mode = cpu_to_le32(0755);
	op_on_handle(b, IOT_KIND_fallocate, 1, 0, 1ull << 40, 0)->flags = cpu_to_le32(IOT_FALLOC_zero_range);
}

/* -- devices ----------------------------------------------------------------------------------- */

static void op_open_only(struct builder *b, const char *path, u32 flags, s64 result)
{
	struct iot_program_op *op = op_open(b, path, 0, flags);

	op->result = cpu_to_le64((u64)result);
	if (!(flags & IOT_OPEN_create))
		op->mode = 0;
}

/* All that opens a node by its path. */
static void add_opens_of(struct builder *b, const char *path)
{
	op_open_only(b, path, IOT_OPEN_read, -EACCES);
	op_open_only(b, path, IOT_OPEN_read | IOT_OPEN_nofollow | IOT_OPEN_nonblock, -EACCES);
	op_open_only(b, path, IOT_OPEN_read | IOT_OPEN_write, -EACCES);
	op_open_only(b, path, IOT_OPEN_write | IOT_OPEN_create, -EACCES);
	op_open_only(b, path, IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_excl, -EEXIST);
	op_open_only(b, path, IOT_OPEN_read | IOT_OPEN_directory, -ENOTDIR);
	op_on_path(b, IOT_KIND_getfileattr, path, -EACCES);
	op_on_path(b, IOT_KIND_setfileattr, path, -EACCES);
	op_on_path(b, IOT_KIND_setattr, path, -EINVAL)->flags = cpu_to_le32(IOT_ATTR_size);
	op_on_path(b, IOT_KIND_stat, path, 0);
}

/* Files that are not devices are opened as usual. */
static void add_other_opens(struct builder *b)
{
	op_open_only(b, "f", IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_trunc, 0);
	op_open_only(b, "f", IOT_OPEN_read | IOT_OPEN_create, 0);
	op_open_only(b, "f", IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_excl, -EEXIST);
	op_open_only(b, "f", IOT_OPEN_read | IOT_OPEN_directory, -ENOTDIR);
	op_open_only(b, "missing", IOT_OPEN_read, -ENOENT);
	op_on_path(b, IOT_KIND_mkdir, "d", 0)->mode = cpu_to_le32(0755);
	op_open_only(b, "d", IOT_OPEN_read | IOT_OPEN_directory, 0);
	op_open_only(b, "d", IOT_OPEN_read | IOT_OPEN_create, -EISDIR);
	op_open_only(b, "d/f", IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_excl, 0);
	op_on_paths(b, IOT_KIND_symlink, "link", "f", 0);
	op_open_only(b, "link", IOT_OPEN_read, 0);
	op_open_only(b, "link", IOT_OPEN_read | IOT_OPEN_nofollow, -ELOOP);
	op_open(b, "f", 1, IOT_OPEN_read | IOT_OPEN_write | IOT_OPEN_append)->mode = 0;
	op_on_handle(b, IOT_KIND_write, 1, 0, 10, 10)->flags = cpu_to_le32(IOT_RW_append);
	op_on_handle(b, IOT_KIND_read, 1, 0, 100, 10);
	op_on_handle(b, IOT_KIND_release, 1, 0, 0, 0);
}

/* The device 0:0 needs no capability, only write access to the directory. */
static void make_node(struct builder *b)
{
	b->head.handles = cpu_to_le32(1);
	builder_entry(b, "node", S_IFCHR | 0600);
	builder_task(b);
	add_opens_of(b, "node");
	op_on_paths(b, IOT_KIND_symlink, "soft", "node", 0);
	op_open_only(b, "soft", IOT_OPEN_read, -EACCES);
	add_other_opens(b);
}

static void add_node(struct builder *b, const char *path, u32 type, u32 rdev)
{
	struct iot_program_op *op = op_on_path(b, IOT_KIND_mknod, path, 0);

	op->mode = cpu_to_le32(type | 0600);
	op->extra = cpu_to_le64(rdev);
	add_opens_of(b, path);
}

static void make_devices(struct builder *b)
{
	b->head.handles = cpu_to_le32(1);
	builder_task(b);
	add_node(b, "zero", S_IFCHR, 0x105);
	add_node(b, "loop", S_IFBLK, 0x700);
	add_other_opens(b);
}

/* -- out --------------------------------------------------------------------------------------- */

/* `inside` is a directory in the tree of the program; a test puts a link out in its place. */
static void make_out(struct builder *b)
{
	b->head.handles = cpu_to_le32(1);
	builder_entry(b, "inside", S_IFDIR | 0755);
	builder_entry(b, "inside/file", S_IFREG | 0644)->size_bytes = cpu_to_le64(10);
	builder_task(b);
	op_open(b, "inside/file", 1, IOT_OPEN_write | IOT_OPEN_trunc)->mode = 0;
	op_on_handle(b, IOT_KIND_write, 1, 0, 10, 10);
	op_on_path(b, IOT_KIND_stat, "inside/file", 0);
	op_on_path(b, IOT_KIND_setattr, "inside/file", 0)->flags = cpu_to_le32(IOT_ATTR_size);
	op_on_path(b, IOT_KIND_mkdir, "inside/new", 0)->mode = cpu_to_le32(0755);
	op_on_paths(b, IOT_KIND_rename, "inside/file", "moved", 0);
	op_on_paths(b, IOT_KIND_rename, "moved", "inside/file", 0);
	op_on_paths(b, IOT_KIND_link, "inside/file", "hard", 0);
	op_on_paths(b, IOT_KIND_symlink, "inside/soft", "x", 0);
	op_on_path(b, IOT_KIND_unlink, "inside/file", 0);
	op_open(b, "inside/made", 0, IOT_OPEN_write | IOT_OPEN_create);
}

/* -- pipe -------------------------------------------------------------------------------------- */

static void make_pipe(struct builder *b)
{
	b->head.handles = cpu_to_le32(1);
	builder_entry(b, "fifo", S_IFIFO | 0600);
	builder_task(b);
	op_on_path(b, IOT_KIND_mkdir, "a", 0)->mode = cpu_to_le32(0755);
	op_open(b, "fifo", 1, IOT_OPEN_read)->mode = 0;
	builder_task(b);
	op_on_path(b, IOT_KIND_mkdir, "b", 0)->mode = cpu_to_le32(0755);
	op_on_path(b, IOT_KIND_mkdir, "never", 0);
	builder_wait(b, 0, 1);
	builder_task(b);
	op_on_path(b, IOT_KIND_mkdir, "c", 0)->mode = cpu_to_le32(0755);
	op_on_path(b, IOT_KIND_mkdir, "later", 0)->pause_ns = cpu_to_le64(1ull << 45);
}

/* -- endless ----------------------------------------------------------------------------------- */

static void make_endless(struct builder *b)
{
	builder_task(b)->rank = cpu_to_le32(1);
	op_on_path(b, IOT_KIND_mkdir, "a", 0)->mode = cpu_to_le32(0755);
	op_on_path(b, IOT_KIND_mkdir, "later", 0)->pause_ns = cpu_to_le64(1ull << 45);
	builder_task(b)->rank = cpu_to_le32(2);
	op_on_path(b, IOT_KIND_mkdir, "b", 0)->mode = cpu_to_le32(0755);
	op_on_path(b, IOT_KIND_mkdir, "never", 0);
	builder_wait(b, 0, 1);
	builder_task(b)->rank = cpu_to_le32(3);
	op_on_path(b, IOT_KIND_mkdir, "c", 0);
	builder_wait(b, 1, 1);
}

/* -- request queues ------------------------------------------------------------------------------------- */

#define QUEUES	 4
#define REQUESTS 256 /* first as many writes, then as many reads */

/* Sets the operands of a submit and of its complete, which repeats them. */
static struct iot_program_op *add_request(struct builder *b, u16 kind, u32 number, s64 result)
{
	struct iot_program_op *op =
		op_on_handle(b, kind, 1, number % REQUESTS * 4096ull, 4096, result);

	if (number < REQUESTS)
		op->flags = cpu_to_le32(IOT_RW_write);
	op->origin_op = cpu_to_le32(number + 2);
	return op;
}

/* The first operation of the task is an open, then requests go to the request queues in turn. */
static void make_queues(struct builder *b)
{
	u32 i, queue;

	b->head.handles = cpu_to_le32(1);
	builder_task(b);
	op_open(b, "f", 1, IOT_OPEN_read | IOT_OPEN_write | IOT_OPEN_create);
	for (i = 0; i < 2 * REQUESTS; i++) {
		queue = i % QUEUES + 1;
		add_request(b, IOT_KIND_submit, i, 0)->other = cpu_to_le32(queue + 1);
		if (i == REQUESTS) /* reads follow all writes */
			for (queue = 1; queue <= QUEUES; queue++)
				builder_wait(b, queue, REQUESTS / QUEUES - 1);
	}
	op_on_handle(b, IOT_KIND_release, 1, 0, 0, 0); /* while requests are under way */
	for (queue = 1; queue <= QUEUES; queue++) {
		struct iot_program_task *task = builder_task(b);

		task->flags = cpu_to_le32(IOT_TASK_QUEUE);
		task->origin = cpu_to_le32(1);
		task->parent = 0;
		for (i = queue - 1; i < 2 * REQUESTS; i += QUEUES) {
			add_request(b, IOT_KIND_complete, i, 4096);
			builder_wait(b, 0, i + 1);
		}
	}
}

/* -- in turn ----------------------------------------------------------------------------------- */

/* Both files are opened before, by operations 0 and 1; reads of the empty one return 0. */
static void add_turn(struct builder *b, u16 kind, u32 number)
{
	struct iot_program_op *op;
	u32 handle = number % 2 + 1;
	s64 result = handle == 1 ? 1 << 20 : 0;

	op = op_on_handle(b, kind, handle, 0, 1 << 20, kind == IOT_KIND_complete ? result : 0);
	op->origin_op = cpu_to_le32(number + 3);
	if (kind == IOT_KIND_submit)
		op->other = cpu_to_le32(2); /* the request queue is task 1 */
	else
		builder_wait(b, 0, number + 2);
}

static void make_in_turn(struct builder *b)
{
	struct iot_program_task *queue;
	u32 i;

	b->head.handles = cpu_to_le32(2);
	builder_entry(b, "long", S_IFREG | 0644)->size_bytes = cpu_to_le64(1 << 20);
	builder_entry(b, "empty", S_IFREG | 0644);
	builder_task(b);
	op_open(b, "long", 1, IOT_OPEN_read)->mode = 0;
	op_open(b, "empty", 2, IOT_OPEN_read)->mode = 0;
	for (i = 0; i < count; i++)
		add_turn(b, IOT_KIND_submit, i);
	queue = builder_task(b);
	queue->flags = cpu_to_le32(IOT_TASK_QUEUE);
	queue->origin = cpu_to_le32(1);
	queue->parent = 0;
	for (i = 0; i < count; i++)
		add_turn(b, IOT_KIND_complete, i);
}

/* -- paced ------------------------------------------------------------------------------------- */

static void make_paced(struct builder *b)
{
	u32 i;

	b->head.handles = cpu_to_le32(1);
	builder_entry(b, "f", S_IFREG | 0644)->size_bytes = cpu_to_le64(4096);
	builder_task(b);
	op_open(b, "f", 1, IOT_OPEN_read)->mode = 0;
	for (i = 0; i < count; i++)
		op_on_handle(b, IOT_KIND_read, 1, 0, 4096, 4096)->pause_ns = cpu_to_le64(10000000);
}

/* -- busy -------------------------------------------------------------------------------------- */

static void make_busy(struct builder *b)
{
	struct iot_program_op *op;
	char path[16];
	u32 task, i;

	b->head.features_incompat = cpu_to_le32(IOT_PROGRAM_COMPUTES);
	for (task = 0; task < 2; task++) {
		builder_task(b);
		for (i = 0; i < count; i++) {
			snprintf(path, sizeof(path), "d%u.%u", task, i);
			op = op_on_path(b, IOT_KIND_mkdir, path, 0);
			op->mode = cpu_to_le32(0755);
			op->compute_ns = cpu_to_le64(10000000);
			op->pause_ns = cpu_to_le64(1000000);
		}
	}
}

/* -- reads ------------------------------------------------------------------------------------- */

static void make_reads(struct builder *b)
{
	u32 task, i;
	char path[16];

	b->head.handles = cpu_to_le32(2);
	for (task = 0; task < 2; task++) {
		snprintf(path, sizeof(path), "f%u", task);
		builder_entry(b, path, S_IFREG | 0644)->size_bytes = cpu_to_le64(1 << 20);
		builder_task(b);
		op_open(b, path, task + 1, IOT_OPEN_read)->mode = 0;
		for (i = 0; i < count; i++)
			op_on_handle(b, IOT_KIND_read, task + 1, i % 256 * 4096, 4096, 4096);
		op_on_handle(b, IOT_KIND_release, task + 1, 0, 0, 0);
	}
}

/* ---------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*make)(struct builder *b);
} programs[] = {
	{ "tokens", make_ordered }, { "free", make_free }, { "kinds", make_kinds },
	{ "unable", make_unable },  { "shortened", make_shortened },
	{ "allowed", make_allowed },
	{ "node", make_node },	    { "devices", make_devices },
	{ "cut", make_cut },
	{ "hopeless", make_hopeless },
	{ "splices", make_splices },
	{ "in-vain", make_in_vain },
	{ "seeks", make_seeks },
	{ "zeros", make_zeros },
	{ "deep", make_deep },
	{ "names", make_names },
	{ "beyond", make_beyond },  { "out", make_out },   { "pipe", make_pipe },
	{ "request_queues", make_queues },    { "reads", make_reads }, { "in-turn", make_in_turn },
	{ "paced", make_paced },    { "busy", make_busy },      { "endless", make_endless },
	{ "timed", make_timed },
	{ "users", make_users },    { "script", make_script }, { "burst", make_burst },
};

static int save(const struct builder *b, const char *path)
{
	size_t byte_count;
	u8 *bytes = builder_bytes(b, &byte_count);
	FILE *out = fopen(path, "we");
	bool is_written = out && fwrite(bytes, byte_count, 1, out) == 1;

	is_written = out && !fclose(out) && is_written;
	if (!is_written)
		perror(path);
	free(bytes);
	return !is_written;
}

int main(int argc, char **argv)
{
	struct builder b;
	size_t i;
	int code = 2;

	if (argc == 4)
		count = (u32)strtoul(argv[3], NULL, 10);
	for (i = 0; argc >= 3 && i < ARRAY_SIZE(programs); i++) {
		if (strcmp(argv[1], programs[i].name))
			continue;
		builder_open(&b);
		programs[i].make(&b);
		code = save(&b, argv[2]);
		builder_close(&b);
	}
	if (code == 2)
		fprintf(stderr, "usage: programs NAME FILE [COUNT]\n");
	return code;
}
